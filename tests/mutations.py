"""Defects put into sound definitions: type and choice contradictions, and references that lead nowhere."""

import copy
import re

OTHER_TYPES = {
    "string": ["integer", "boolean", "array", "object"],
    "integer": ["string", "boolean", "array"],
    "number": ["string", "boolean", "array"],
    "boolean": ["string", "integer", "array"],
    "array": ["string", "integer", "object"],
    "object": ["string", "integer", "array"],
}

STATES_TYPE = {
    "string": r"\bstring\b|\bURL\b|\bname of\b|\bpath to\b|\bISO 8601\b|YYYY-MM-DD|\bcomma-separated\b|\bemail address\b",
    "integer": r"\binteger\b|\bnumber of\b|\b(?:max|maximum) (?:number|results|items)\b|default:? \d+|\(\d+-\d+",
    "number": r"\binteger\b|\bnumber of\b|\b(?:max|maximum) (?:number|results|items)\b|default:? \d+|\(\d+-\d+",
    "boolean": r"\btrue\b|\bwhether\b|\bboolean\b",
    "array": r"\barray of\b|\blist of\b",
    "object": r"\bobject\b|\bdictionary\b|\bkey-value\b",
}
"""What a person reads as a statement of the type."""

FREE = ["quantum", "zebra", "ultraviolet"]


def properties(tool):
    found = tool.get("inputSchema", {}).get("properties")
    return {name: each for name, each in (found or {}).items() if isinstance(each, dict)}


def kind_of(schema):
    """The one type of a property, and where it stands; None for several."""
    if isinstance(schema.get("type"), str):
        return schema["type"], schema
    branches = [each for each in schema.get("anyOf", []) if isinstance(each, dict) and each.get("type") != "null"]
    if len(branches) == 1 and isinstance(branches[0].get("type"), str):
        return branches[0]["type"], branches[0]
    return None, schema


def described(tool):
    for name, schema in properties(tool).items():
        text = schema.get("description")
        if isinstance(text, str) and len(text) > 5:
            yield name, schema, text


def changed(tool, name, change):
    """A copy of the tool with one property changed in place."""
    copied = copy.deepcopy(tool)
    change(copied["inputSchema"]["properties"][name])
    return copied


def explained(tool, name, phrase):
    """A copy of the tool whose property is described by one phrase more."""

    def change(schema):
        schema["description"] = f"{(schema.get('description') or '').rstrip('. ')}. {phrase}"

    return changed(tool, name, change)


def said(tool, sentence):
    return {**copy.deepcopy(tool), "description": f"{tool.get('description') or ''} {sentence}".strip()}


def retyped(kind):
    def change(schema):
        _, place = kind_of(schema)
        for key in ("enum", "items", "properties", "minimum", "maximum", "default", "required", "additionalProperties"):
            place.pop(key, None)
            schema.pop(key, None)
        place["type"] = kind

    return change


def types_in_schema(tool):
    """The schema's type changes, the text still states the old one."""
    for name, schema, text in described(tool):
        kind, place = kind_of(schema)
        if kind in STATES_TYPE and "enum" not in place and re.search(STATES_TYPE[kind], text, re.IGNORECASE):
            for other in OTHER_TYPES[kind]:
                if kind == "boolean" and other == "string" and "'" in text:
                    continue
                yield f"{name}: {kind} -> {other} | {text[:90]}", changed(tool, name, retyped(other))


def other_type(kind, place, *, of_a_string):
    """What to say in place of a type; never that a string is an array or object."""
    other = OTHER_TYPES[kind][place % len(OTHER_TYPES[kind])]
    return of_a_string if kind == "string" and other in ("array", "object") else other


ARTICLES = {"integer": "an integer", "array": "an array", "object": "an object"}


def types_in_parameter_text(tool):
    """The parameter's own description demands another type."""
    phrases = [
        "Must be {a}.",
        "Pass {a}.",
        "Expects {a}.",
        "Should be provided as {a}.",
        "This must be {a} value.",
        "Accepts {a}.",
        "Type: {t}.",
    ]
    for place, (name, schema, text) in enumerate(described(tool)):
        kind, _ = kind_of(schema)
        if kind not in OTHER_TYPES:
            continue
        other = other_type(kind, place, of_a_string="integer")
        phrase = phrases[place % len(phrases)].format(a=ARTICLES.get(other, f"a {other}"), t=other)
        whole = text.rstrip(". ") + ". " + phrase if place % 2 else phrase
        yield (
            f"{name} ({kind}): {whole[-70:]}",
            changed(tool, name, lambda each, whole=whole: each.update(description=whole)),
        )


def types_in_tool_text(tool):
    """A sentence or list of the tool's description gives a parameter another type."""
    phrases = [
        "`{n}` must be {a}.",
        "The `{n}` parameter must be {a}.",
        "The {n} parameter is {a}.",
        "The {n} argument expects {a}.",
        "Pass `{n}` as {a}.",
        "Provide {n} as {a}.",
        "`{n}` should be {a}.",
        "Set `{n}` to {a}.",
        "`{n}` ({t}): the value to use.",
        "Parameter `{n}` accepts {a}.",
        "\n\nArgs:\n    {n} ({t}): the value to use.",
        "\n\nArgs:\n    {n}: {t} value",
        "\nParameters:\n- {n} ({t}, required): the value",
        "Note that {n} takes {a}.",
    ]
    for place, (name, schema) in enumerate(properties(tool).items()):
        kind, _ = kind_of(schema)
        if kind not in OTHER_TYPES:
            continue
        other = other_type(kind, place, of_a_string="boolean")
        sentence = phrases[(place + len(tool["name"])) % len(phrases)].format(
            n=name, a=ARTICLES.get(other, f"a {other}"), t=other
        )
        yield f"({kind}) {sentence}", said(tool, sentence)


def enums(tool):
    for name, schema in properties(tool).items():
        _, place = kind_of(schema)
        members = place.get("enum")
        if isinstance(members, list) and len(members) > 1 and all(isinstance(each, str) and each for each in members):
            yield name, schema, members


def choices_in_schema(tool):
    """Members are renamed, dropped or replaced, the text still lists the old ones."""
    for name, schema, members in enums(tool):
        text = schema.get("description") or ""
        listed = [each for each in members if re.search(rf"(?<!\w){re.escape(each)}(?!\w)", text)]
        if len(listed) < 2:
            continue
        for label, new in (
            ("renamed", [f"{each}_v2" if each == listed[0] else each for each in members]),
            ("dropped", [each for each in members if each != listed[-1]]),
            ("replaced one", [FREE[0] if each == listed[0] else each for each in members]),
            ("replaced all", FREE[: max(2, min(3, len(members)))]),
            ("case", [each.swapcase() for each in members]),
        ):
            if new and new != members:
                yield (
                    f"{name} {label} {members[:5]} | {text[:120]}",
                    changed(
                        tool, name, lambda each, new=new: (kind_of(each)[1].update(enum=new), each.pop("default", None))
                    ),
                )


def choices_in_text(tool):
    """A text lists values that no enum has."""
    phrases = [
        "One of 'alpha', 'beta'.",
        "One of: alpha, beta, gamma.",
        "Allowed values: alpha, beta.",
        "Must be one of `alpha`, `beta` or `gamma`.",
        'Possible values are "alpha" and "beta".',
        "Either 'alpha' or 'beta'.",
        "Options: alpha | beta | gamma",
        "Valid values: alpha, {m}.",
        "Can be 'alpha', 'beta' or '{m}'.",
    ]
    for place, (name, _, members) in enumerate(enums(tool)):
        phrase = phrases[(place + len(tool["name"])) % len(phrases)].format(m=members[0])
        yield f"{name}: {phrase}", changed(tool, name, lambda each, phrase=phrase: each.update(description=phrase))
        yield f"{name}: … {phrase}", explained(tool, name, phrase)


def choices_in_tool_text(tool):
    """The tool's description lists values that a parameter's enum does not have."""
    phrases = [
        "The `{n}` parameter accepts: alpha, beta.",
        "`{n}` must be one of 'alpha', 'beta'.",
        "Valid values for `{n}`: alpha, beta, gamma.",
        "Set `{n}` to 'alpha' or 'beta'.",
        "{n} can be 'alpha' or 'beta'.",
        "\n\nArgs:\n    {n}: One of 'alpha', 'beta'.",
        "The {n} parameter must be either alpha or beta.",
        "`{n}` supports the values `alpha` and `beta`.",
    ]
    for place, (name, _, _) in enumerate(enums(tool)):
        sentence = phrases[(place + len(tool["name"])) % len(phrases)].format(n=name)
        yield sentence, said(tool, sentence)


def other_value(value, schema):
    members = kind_of(schema)[1].get("enum")
    if isinstance(members, list) and value in members and len(members) > 1:
        return next(each for each in members if each != value)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 7
    return f"{value}_other" if value else None


def defaults_in_schema(tool):
    """The schema's default changes, the text still names the old one."""
    for name, schema, text in described(tool):
        value = schema.get("default")
        if value is None or isinstance(value, list | dict) or value == "":
            continue
        spelled = str(value).lower() if isinstance(value, bool) else str(value)
        new = other_value(value, schema)
        if re.search(rf"default[^.]{{0,20}}(?<!\w){re.escape(spelled)}(?!\w)", text, re.IGNORECASE):
            yield (
                f"{name}={value} | {text[:120]}",
                changed(tool, name, lambda each, new=new: each.update(default=new)),
            )


def defaults_in_text(tool):
    """The text names a default that is not the schema's."""
    phrases = [
        "Defaults to {v}.",
        "Default: {v}.",
        "(default: {v})",
        "The default is {v}.",
        "Default value is {v}.",
        "default={v}",
    ]
    for place, (name, schema, text) in enumerate(described(tool)):
        value = schema.get("default")
        if value is None or isinstance(value, list | dict) or value == "" or "default" in text.lower():
            continue
        other = other_value(value, schema)
        spelled = str(other).lower() if isinstance(other, bool) else repr(other)
        phrase = phrases[place % len(phrases)].format(v=spelled)
        yield f"{name}={value}: {phrase}", explained(tool, name, phrase)


def ranges_in_text(tool):
    """The text names limits that are not the schema's."""
    phrases = [
        "Must be between {a} and {b}.",
        "Range: {a}-{b}.",
        "({a}-{b})",
        "Maximum {b}.",
        "Max: {b}.",
        "Up to {b}.",
        "At most {b}.",
        "From {a} to {b}.",
    ]
    for place, (name, schema, text) in enumerate(described(tool)):
        _, where = kind_of(schema)
        low, high = where.get("minimum"), where.get("maximum")
        if not isinstance(high, int) or high > 10**8 or re.search(r"\d", text):
            continue
        phrase = phrases[place % len(phrases)].format(a=low if isinstance(low, int) else 1, b=high + 13)
        yield f"{name} <= {high}: {phrase}", explained(tool, name, phrase)


def ranges_in_schema(tool):
    """The schema's limit changes, the text still names the old one."""
    for name, schema, text in described(tool):
        _, where = kind_of(schema)
        high = where.get("maximum")
        if isinstance(high, int) and re.search(
            rf"(?:max\w*|-|to|and|up to|at most)\D{{0,12}}(?<!\d){high:,}(?!\d)|(?:max\w*|-|to|and|up to|at most)\D{{0,12}}(?<!\d){high}(?!\d)",
            text,
            re.IGNORECASE,
        ):
            yield (
                f"{name} <= {high} | {text[:100]}",
                changed(tool, name, lambda each, high=high: kind_of(each)[1].update(maximum=high * 2 + 5)),
            )


CONTRADICTIONS = {
    types_in_schema: "TDQ235",
    types_in_parameter_text: "TDQ235",
    types_in_tool_text: "TDQ235",
    choices_in_schema: "TDQ236",
    choices_in_text: "TDQ236",
    choices_in_tool_text: "TDQ236",
    defaults_in_schema: "TDQ237",
    defaults_in_text: "TDQ237",
    ranges_in_text: "TDQ238",
    ranges_in_schema: "TDQ238",
}
"""Each way to contradict a schema, and the rule that has to see it."""


# References. Each mutator takes a whole catalog and yields a label, the changed catalog and the index of the guilty tool.


def with_tools(document, tools):
    return {**document, "tools": tools}


def mentions_of(tool, name):
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", tool.get("description") or "") is not None


def is_compound(name):
    return re.fullmatch(r"[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+", name) is not None


NEW_NAMES = ["{n}_v2", "fetch_everything", "{n}Renamed", "do_{n}", "zz_{n}"]


def named_siblings(tools):
    """The place and name of each tool that others name, the place of the first that does, and what it says."""
    for place, target in enumerate(tools):
        name = target["name"]
        guilty = next((i for i, each in enumerate(tools) if i != place and mentions_of(each, name)), None)
        if guilty is not None and is_compound(name):
            yield place, name, guilty, around(tools[guilty]["description"], name)


def renamed_sibling(document):
    """A tool that others name gets a new name."""
    tools = document["tools"]
    for place, name, guilty, words in named_siblings(tools):
        new = NEW_NAMES[place % len(NEW_NAMES)].format(n=name)
        changed = [{**each, "name": new} if i == place else each for i, each in enumerate(tools)]
        yield f"{name} -> {new}: {words}", with_tools(document, changed), guilty


def removed_sibling(document):
    """A tool that others name is taken away."""
    tools = document["tools"]
    for place, name, guilty, words in named_siblings(tools) if len(tools) > 2 else ():
        kept = [each for i, each in enumerate(tools) if i != place]
        yield f"-{name}: {words}", with_tools(document, kept), guilty - (guilty > place)


def around(text, word):
    place = text.find(word)
    return " ".join(text[max(0, place - 60) : place + len(word) + 30].split())


TOOL_PHRASES = [
    "Use {n} instead.",
    "Use `{n}` instead if you only need a summary.",
    "Call {n} first to get the id.",
    "Call `{n}` first.",
    "See the {n} tool for details.",
    "The `{n}` tool lists them all.",
    "For bulk changes, use {n}.",
    "Prefer `{n}` for large inputs.",
    "Requires an id from {n}.",
    "IDs are returned by `{n}`.",
    "See also: {n}.",
    "You must call {n}() before this.",
    "Unlike {n}, this returns only open items.",
    "Do not use for archived items; use `{n}` for that.",
    "Get the id via {n}.",
    "Run {n} before calling this tool.",
    "After this, call `{n}` to confirm.",
    "Works together with the `{n}` tool.",
]


def spelled(names, words):
    """A name of new words in the catalog's own spelling."""
    sample = next((name for name in names if is_compound(name)), "a_b")
    if "_" in sample:
        return "_".join(words)
    if "-" in sample:
        return "-".join(words)
    return words[0] + "".join(map(str.title, words[1:]))


def with_sentence(document, place, sentence):
    """The document in which the description of one tool ends with the sentence."""
    tools = list(document["tools"])
    text = (tools[place].get("description") or "").rstrip()
    tools[place] = {**tools[place], "description": f"{text} {sentence}"}
    return with_tools(document, tools)


def missing_tool(document):
    """A sentence sends the agent to a tool that never was."""
    tools = document["tools"]
    names = [tool["name"] for tool in tools]
    fresh = [
        ["get", "archived", "widgets"],
        ["list", "all", "gadgets"],
        ["bulk", "frobnicate"],
        ["search", "everything"],
        ["create", "snapshot"],
    ]
    for place, tool in enumerate(tools):
        name = spelled(names, fresh[place % len(fresh)])
        sentence = TOOL_PHRASES[(place + len(tool["name"])) % len(TOOL_PHRASES)].format(n=name)
        if len(tools) > 1:
            yield sentence, with_sentence(document, place, sentence), place


PARAMETER_PHRASES = [
    "The `{n}` parameter limits the result.",
    "The {n} parameter is required.",
    "Set `{n}` to true to include archived items.",
    "Use the {n} argument to choose the page.",
    "Pass `{n}` to narrow the search.",
    "`{n}` must be a positive integer.",
    "Provide `{n}` as an ISO 8601 date.",
    "If `{n}` is omitted, everything is returned.",
    "Results can be limited with the `{n}` parameter.",
    "\n\nArgs:\n    {n}: The number of things.",
    "\n\nArgs:\n    {n} (int, optional): The number of things.",
    "\n\nParameters:\n- {n}: The number of things",
    "\n\nParameters:\n- `{n}` (string): The kind of things",
    "Specify {n}=true to see more.",
    "Combine with the `{n}` argument for speed.",
    "Parameter `{n}` defaults to 10.",
]


def missing_parameter(document):
    """A sentence or list speaks of a parameter that never was."""
    tools = document["tools"]
    fresh = ["include_archived", "max_depth_limit", "sinceWhen", "output_style", "frobnicate"]
    for place, tool in enumerate(tools):
        name = fresh[place % len(fresh)]
        phrase = PARAMETER_PHRASES[(place + len(tool["name"])) % len(PARAMETER_PHRASES)]
        if (
            name.isalpha()
            and name.islower()
            and "`" not in phrase
            and "Args" not in phrase
            and "Parameters" not in phrase
        ):
            name = "frobnicate_level"
        sentence = phrase.format(n=name)
        yield sentence, with_sentence(document, place, sentence), place


NAMES_PARAMETER = (
    r"`{n}`|\b(?:the\s+)?['\"]?{n}['\"]?\s+(?:parameter|argument|param)\b|^\s*(?:[-*]\s+)?`?{n}`?\s*(?:\([^)]*\))?:"
)


def renamed_parameter(document):
    """A parameter that the description names gets a new name in the schema."""
    tools = document["tools"]
    for place, tool in enumerate(tools):
        text = tool.get("description") or ""
        for name in properties(tool):
            pattern = NAMES_PARAMETER.replace("{n}", re.escape(name))
            if len(name) > 2 and re.search(pattern, text, re.MULTILINE):
                copied = copy.deepcopy(tool)
                old = copied["inputSchema"]["properties"]
                new = f"{name}_value" if place % 2 else f"new{name.title()}"
                copied["inputSchema"]["properties"] = {new if key == name else key: value for key, value in old.items()}
                copied["inputSchema"]["required"] = [
                    new if key == name else key for key in copied["inputSchema"].get("required", [])
                ]
                changed = [copied if i == place else each for i, each in enumerate(tools)]
                yield f"{name} -> {new} | {around(text, name)}", with_tools(document, changed), place


LOST = {
    renamed_sibling: "TDQ320",
    removed_sibling: "TDQ320",
    missing_tool: "TDQ320",
    missing_parameter: "TDQ321",
    renamed_parameter: "TDQ321",
}
"""Each way to refer to nothing, and the rule that has to see it."""


# Defects of hints, texts and schemas. Each mutator takes a definition and yields a label and the changed definition.


def hinted(tool, **hints):
    return {**copy.deepcopy(tool), "annotations": {**(tool.get("annotations") or {}), **hints}}


def has_verb(tool, *verbs):
    return re.search(
        rf"(?i)(?<![a-z])(?:{'|'.join(verbs)})(?![a-z])", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool["name"])
    )


def harmless_deletion(tool):
    """A tool that deletes says that it only adds."""
    if has_verb(tool, "delete", "remove"):
        yield tool["name"], hinted(tool, readOnlyHint=False, destructiveHint=False)


def idempotent_addition(tool):
    """A tool that creates or sends says that a second call changes nothing."""
    if has_verb(tool, "create", "send") and not has_verb(tool, "or"):
        yield tool["name"], hinted(tool, readOnlyHint=False, idempotentHint=True)


def writing_reader(tool):
    """A tool that says that it only reads gets a later sentence that writes."""
    sentences = [
        "It also deletes the stale entries.",
        "Deletes the matching records afterwards.",
        "The tool then updates the record.",
        "It writes the result to the database.",
        "Also removes old entries.",
        "Overwrites any existing file.",
        "This will delete all data that was found.",
        "Updates the index if it is out of date.",
    ]
    if tool.get("description"):
        sentence = sentences[len(tool["name"]) % len(sentences)]
        yield sentence, hinted(said(tool, f". {sentence}"), readOnlyHint=True)


PLACEHOLDERS = [
    "TODO",
    "TBD",
    "No description available",
    "No description provided.",
    "TODO: describe this",
    "N/A",
    "...",
]


def placeholder_description(tool):
    """The description, or that of a parameter, is a placeholder."""
    text = PLACEHOLDERS[len(tool["name"]) % len(PLACEHOLDERS)]
    yield f"tool {text}", {**tool, "description": text}
    for name in list(properties(tool))[:1]:
        yield f"{name} {text}", changed(tool, name, lambda each: each.update(description=text))


def restated_parameter(tool):
    """A parameter's description is its name in words, and its schema tells only a type."""
    telling = {"enum", "const", "default", "format", "pattern", "examples", "minimum", "maximum"}
    forms = ["The {n}", "{n}", "The {n}.", "{n} (optional)", "The {n} parameter", "The {n} to use", "{n} value"]
    for place, name in enumerate(properties(tool)):
        plain = " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)).lower()
        if plain and not re.search(r"\d", name) and telling.isdisjoint(properties(tool)[name]):
            text = forms[place % len(forms)].format(n=plain)
            yield f"{name}: {text}", changed(tool, name, lambda each, text=text: each.update(description=text))


def restated_tool(tool):
    """The description is a lead-in and the name in words."""
    forms = [
        "This tool is used to {n}.",
        "Tool to {n}",
        "Use this tool to {n}.",
        "Allows you to {n}",
        "A tool for {n}",
        "{n}",
    ]
    plain = " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", tool["name"])).lower()
    if plain.isascii() and " " in plain:
        yield plain, {**tool, "description": forms[len(plain) % (len(forms) - 1)].format(n=plain)}


def invalid_pattern(tool):
    """A text parameter gets a pattern that does not compile."""
    patterns = ["(?i)[a-z]+", "[a-z", "(abc", "(?P<id>[0-9]+)", "*abc", r"\Afoo\Z", "a{2,1}", "[z-a]"]
    for place, (name, schema) in enumerate(properties(tool).items()):
        if kind_of(schema)[0] == "string":
            pattern = patterns[place % len(patterns)]
            yield f"{name}: {pattern}", changed(tool, name, lambda each, p=pattern: kind_of(each)[1].update(pattern=p))


def repeated_choice(tool):
    for name, _, members in enums(tool):
        yield name, changed(tool, name, lambda each, m=members: kind_of(each)[1].update(enum=[*m, m[0]]))


def array_without_items(tool):
    for name, schema in properties(tool).items():
        if kind_of(schema)[0] == "array":
            yield name, changed(tool, name, lambda each: kind_of(each)[1].pop("items", None))


def undescribed_nested(tool):
    for name, schema in properties(tool).items():
        inner = schema.get("properties") or (schema.get("items") or {}).get("properties")
        if isinstance(inner, dict) and inner:
            copied = copy.deepcopy(tool)
            place = copied["inputSchema"]["properties"][name]
            inner = place.get("properties") or place["items"]["properties"]
            first = next(iter(inner))
            if isinstance(inner[first], dict) and "const" not in inner[first] and "$ref" not in inner[first]:
                inner[first].pop("description", None)
                yield f"{name}.{first}", copied


def undescribed_result(tool):
    fields = (tool.get("outputSchema") or {}).get("properties") or {}
    for name in fields:
        if name != "result" and isinstance(fields[name], dict) and not {"const", "$ref"} & fields[name].keys():
            copied = copy.deepcopy(tool)
            copied["outputSchema"]["properties"][name].pop("description", None)
            yield name, copied
            return


def range_in_prose(tool):
    phrases = ["Must be between 1 and 100.", "(1-50)", "Maximum 200.", "At most 500.", "Range: 1-10."]
    for place, (name, schema) in enumerate(properties(tool).items()):
        if schema.get("type") in ("integer", "number"):
            text = phrases[place % len(phrases)]
            copied = changed(tool, name, lambda each, text=text: each.update(description=f"The amount. {text}"))
            for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum"):
                copied["inputSchema"]["properties"][name].pop(key, None)
            yield f"{name}: {text}", copied


def unhinted_reader(tool):
    if has_verb(tool, "^get", "^list", "^search") and re.match(
        r"(?i)(get|list|search|fetch|retrieve)", tool.get("description") or ""
    ):
        copied = copy.deepcopy(tool)
        copied["annotations"] = {"openWorldHint": True}
        yield tool["name"], copied


def untitled(tool):
    yield tool["name"], {key: value for key, value in tool.items() if key not in ("title", "annotations")}


DEFECTS = {
    harmless_deletion: "TDQ240",
    idempotent_addition: "TDQ241",
    writing_reader: "TDQ228",
    placeholder_description: "TDQ131",
    restated_parameter: "TDQ132",
    restated_tool: "TDQ103",
    invalid_pattern: "TDQ233",
    repeated_choice: "TDQ224",
    array_without_items: "TDQ706",
    undescribed_nested: "TDQ133",
    undescribed_result: "TDQ134",
    range_in_prose: "TDQ135",
    unhinted_reader: "TDQ242",
    untitled: "TDQ137",
}
"""Each defect put into a single definition, and the rule that has to see it."""
