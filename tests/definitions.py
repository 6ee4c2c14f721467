"""Definitions written for the tests: every corner of the specification that a catalog may never show, and two that are fine."""

STRING = {"type": "string"}


def tool(name="t", description="Does it.", schema=None, **fields):
    """A definition with the usual parts."""
    return {"name": name, "description": description, "inputSchema": schema or {"type": "object"}, **fields}


def flat(count, **extra):
    """An object schema of required strings."""
    names = [f"p{number}" for number in range(count)]
    return {"type": "object", "properties": dict.fromkeys(names, STRING), "required": names, **extra}


def takes(*required, **properties):
    """An object schema of required strings and other properties; one that is named twice is required as it is given."""
    return {"type": "object", "properties": dict.fromkeys(required, STRING) | properties, "required": list(required)}


WRAPPED = {"type": "object", "properties": {"request": flat(8)}, "required": ["request"]}
BRANCHES = [flat(1), {"type": "object", "properties": {"q": STRING}}, {"type": "string"}]
NESTED_UNION = {
    "type": "object",
    "properties": {
        "query": {
            "type": "object",
            "properties": {"a": STRING, "b": STRING, "filter": {"oneOf": BRANCHES}},
            "required": ["a", "b", "filter"],
        }
    },
    "required": ["query"],
}
RECURSIVE = {
    "type": "object",
    "properties": {"node": {"$ref": "#/$defs/Node"}},
    "required": ["node"],
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {"value": STRING, "next": {"$ref": "#/$defs/Node"}},
            "required": ["value", "next"],
        }
    },
}
KEYWORDS = {
    "type": "object",
    "properties": {
        "all": {"allOf": [flat(2), {"$ref": "#/definitions/D"}]},
        "none": {
            "not": {
                "type": "object",
                "properties": {"x": {"type": "object", "properties": {"y": STRING}}},
                "required": ["x"],
            }
        },
        "list": {"type": "array", "items": {"type": "object", "properties": {"k": STRING}, "required": ["k"]}},
        "maybe": {"anyOf": [STRING, {"type": "null"}]},
        "either": {"anyOf": [STRING, {"type": ["null"]}, {"type": "integer"}, flat(3)]},
        "far": {"$ref": "https://example.org/schema.json"},
        "escaped": {"$ref": "#/definitions/a%20b"},
        "deep": {"$ref": "#/properties/all"},
        "boolean": True,
    },
    "required": ["all", "none", "list", "maybe", "either", "far", "escaped", "deep", "boolean", "absent", 7],
    "definitions": {"D": flat(1), "a b": flat(2)},
}

NESTED = STRING
for _ in range(12):
    NESTED = {"type": "object", "properties": {"a": NESTED}, "required": ["a"]}
"""Objects on more levels than invocation costs count."""

CORNERS = [
    tool("four_flat", schema=flat(4)),
    tool("eight_flat", schema=flat(8)),
    tool("wrapped", schema=WRAPPED),
    tool("nested_union", schema=NESTED_UNION),
    tool("recursive", schema=RECURSIVE),
    tool("keywords", schema=KEYWORDS),
    tool("nested", schema=NESTED),
    tool("root_all_of", schema={"type": "object", "allOf": [flat(3)]}),
    tool("numbers", schema={"type": "object", "properties": {"n": {"type": "number", "minimum": 1.0, "maximum": 1e21, "default": 1e-7, "multipleOf": 0.1}}}),
    tool("large", schema={"type": "object", "properties": {"n": {"maximum": 9007199254740991, "minimum": -9007199254740992}}}),
    tool("keys", schema={"type": "object", "properties": {"10": STRING, "9": STRING, "b": STRING, "a": STRING, "01": STRING, "-1": STRING}}),
    tool("astral", "𝒳 and 😀 \u2028 é \x7f", {"type": "object", "properties": {"\ue000": STRING, "😀": STRING, "z": STRING}}),
    tool("escapes", 'a "quote", a \\ and \b\f\n\r\t\x01\x1f'),
    tool("nul", "a\x00b", {"type": "object", "properties": {"a\x00": {"type": "string", "description": "x\x00y"}}}),
    tool("blank_parameter", schema={"type": "object", "properties": {"a": {"description": "  "}, "b": {"description": ""}, "c": 3}}),
    tool("enums", schema={"type": "object", "properties": {"a": {"enum": ["x"]}, "b": {"enum": "x"}, "o": {"type": "object"}}}),
    tool("hints", annotations={"readOnlyHint": True, "destructiveHint": "no", "title": "T", "extra": 1}),
    tool("all_hints", annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False}),
    tool("only_title", annotations={"title": "T"}),
    tool("no_hints", annotations={}),
    tool("outputs", outputSchema={"type": "object", "properties": {}}),
    tool("empty_output", outputSchema={}),
    tool("titled", title="A longer title than the name"),
    tool("titled_short", title="T"),
    tool("same", title="same"),
    tool("same_length", title="Same length"),
    tool("emoji", title="😀😀😀"),
    tool("extras", _meta={"a": 1}, icons=[], execution={}),
    tool("nulls", title=None, outputSchema=None, annotations=None),
    tool("Tautology", "  TAUTOLOGY "),
    tool("by_title", "The Title", title="the title"),
    tool("not_quite", "Not quite."),
    tool("bom", "\ufeffbom\u00a0"),
    tool("missing", None),
    tool("blank", " \n\t\u3000"),
    tool("thirds", schema={"type": "object", "properties": {"a": {"description": "x"}, "b": {}, "c": {}}}),
    tool("eighths", schema={"type": "object", "properties": {**{str(n): {} for n in range(7)}, "d": {"description": "x"}}}),
]  # fmt: skip

FINE = tool(
    "find_orders",
    "Finds the open orders of one customer, newest first. Use it when you know the customer; to look one up, use "
    "find_customer instead. Returns at most 50 orders; an unknown customer gives an empty list.",
    {
        "type": "object",
        "properties": {"customer": {"type": "string", "description": "Customer ID such as C-1042"}},
        "required": ["customer"],
    },
    outputSchema={"type": "object", "properties": {"orders": {"type": "array", "description": "Newest first"}}},
    annotations={"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
)
LOOKUP = FINE | {
    "name": "find_customer",
    "description": "Finds customers by name or e-mail address. Use it when the customer's ID is unknown; with the ID, use "
    "find_orders instead. Returns at most 20 customers; no match gives an empty list.",
}  # fmt: skip

HOSTILE = (
    "<script>document.title = 'taken'</script><img src=x onerror=alert(1)> **bold** [link](https://evil.example) "
    "\x1b[31mred\x1b[0m \u202ereversed {{ 7 * 7 }} </style></script> &amp; \ud800"
)
EVIL = tool(
    "<b>evil</b>",
    HOSTILE,
    {"type": "object", "properties": {"<i>x</i>": {"type": "string", "description": HOSTILE, "enum": [HOSTILE]}}},
)
"""A tool whose every text a page, a terminal or a template could obey."""
