"""Examples that texts give of calls and values, parsed and held against the input schema.

JSON, Python and JavaScript spell a value nearly alike, so that one reader takes all: `{"limit": 5}`, `{limit: 5}`,
`search(limit=5)`, `limit=5`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from tdqs_mcp.facts.lexicon import (
    MAX_EXPLANATION,
    MAX_TEXT,
    PatternTable,
    cached_by_text,
    endings_from,
    lazy_pattern,
    words_from,
)
from tdqs_mcp.facts.schema.conformance import refusal
from tdqs_mcp.facts.schema.walk import Shape, accepted_values, alternatives, keyword_members, required_names
from tdqs_mcp.facts.spelling import first_of, name_parts
from tdqs_mcp.facts.text.parameter_texts import list_entries
from tdqs_mcp.model import Tool

MAX_NESTING = 16
"""Levels of a value that are read."""

MAX_EXAMPLES = 40
"""Examples of one text that are read."""

NEAR = 160
"""Characters at the beginning of a parameter's text in which "e.g." speaks of the parameter itself."""

MAX_NAMED = 3
"""Names that a message lists."""

MAX_QUOTE = 60
"""Characters of an example that a message quotes."""

_PATTERNS = PatternTable("examples")

_ASSIGNING = (': "', ": '", ": `", ": [", ": {", ' to "', " to '", " to `")
"""Signs that stand between a name and its value, unless it is an equals sign."""


class UnfitExample(NamedTuple):
    """An example that the schema refuses."""

    path: str
    """JSON pointer of the text."""

    parameter: str
    """The parameter that it is about; empty for a whole call."""

    quote: str
    reason: str


class _Literal(NamedTuple):
    value: Any
    start: int
    end: int


class _Call(NamedTuple):
    arguments: Mapping[str, Any]
    is_whole: bool
    """No argument stands there without its name."""

    is_named: bool
    """The tool's name stands before the arguments."""

    start: int
    end: int


class _Unreadable(Exception):  # noqa: N818  # no failure of ours
    """The text is no literal: prose in braces, a template, an ellipsis."""


def find_unfit_examples(tool: Tool, shape: Shape) -> Iterator[UnfitExample]:
    """Yield the examples in a tool's texts that its input schema refuses."""
    text = (tool.description or "")[:MAX_TEXT]
    properties = keyword_members(shape.root)
    if text and properties:
        yield from _in_description(tool.name, text, shape.root)
    for node in shape.by_keyword.get("description", ()):
        own = node.schema["description"]
        if isinstance(own, str) and node.is_top and ("{" in own or f"{tool.name}(" in own):
            yield from find_unfit_calls(tool.name, own[:MAX_EXPLANATION], shape.root, f"{node.path}/description")
        if isinstance(own, str) and _may_show(own):
            for quote, reason in _in_own_text(own[:MAX_EXPLANATION], node.schema, shape.root, is_top=node.is_top):
                yield UnfitExample(f"{node.path}/description", node.name or "", quote, reason)


def find_unfit_calls(name: str, text: str, root: Mapping[str, Any], path: str) -> Iterator[UnfitExample]:
    """Yield unfit calls in a text about something else: named ones with arguments, and objects with parameters alone.

    "Find it with get_order()." names a tool; an object has at least two members.
    """
    properties = keyword_members(root)
    for call in _calls(name, text, properties):
        if (call.is_named and call.arguments) or (
            len(call.arguments) > 1 and call.arguments.keys() <= properties.keys()
        ):
            yield from _call_faults(call, text, root, path)


def called_names(text: str) -> frozenset[str]:
    """Return the names that stand before a parenthesis."""
    return frozenset(_CALLED.findall(text)) if "(" in text else frozenset()


_CALLED = lazy_pattern(r"(?<![\w.$])[A-Za-z][\w-]*(?=\()")


def _may_show(text: str) -> bool:
    """Without one of these no text about a parameter gives an example."""
    return "xample" in text or ".g" in text or "uch as" in text or "YY" in text


def misspelled_formats(texts: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield date templates with a letter too many or too few, such as `YYYYY-MM-DD`, each behind its pointer."""
    for path, text in texts:
        if "YYY" not in text:
            continue
        templates = (match[0] for match in _PATTERNS.date_template.finditer(text))
        yield from ((path, template) for template in templates if _PATTERNS.misspelled.search(template))


def _in_description(name: str, text: str, root: Mapping[str, Any]) -> Iterator[UnfitExample]:
    """Yield unfit calls first, then values of parameters outside them."""
    properties, covered = keyword_members(root), list[tuple[int, int]]()
    for call in _calls(name, text, properties):
        covered.append((call.start, call.end))
        yield from _call_faults(call, text, root, "/description")
    for parameter, literal in _assignments(text, properties):
        is_inside = any(start < literal.end and literal.start < end for start, end in covered)
        is_member = text.count("{", 0, literal.start) > text.count("}", 0, literal.start)
        if not is_inside and not is_member:
            schema = properties[parameter]
            reason = refusal(literal.value, schema, root)
            is_part = isinstance(literal.value, dict) and _may_be_part(literal.value, schema, root, is_top=True)
            is_example = not is_part and not _is_template(literal.value)
            is_fit = _is_returned(text, literal.start) or _is_refused(text, literal.start, literal.end)
            if reason and is_example and not is_fit:
                yield UnfitExample("/description", parameter, _quoted(text[literal.start : literal.end]), reason)
    for entry in list_entries(text) if ":" in text else ():
        schema, own = properties.get(entry.name), entry.text[:MAX_EXPLANATION]
        if isinstance(schema, dict) and _may_show(own):
            for quote, fault in _in_own_text(own, schema, root, is_top=True):
                yield UnfitExample("/description", entry.name, quote, fault)


def _calls(name: str, text: str, properties: Mapping[str, Any]) -> Iterator[_Call]:
    """Yield `name(limit=5)` and objects whose members are arguments."""
    reached = 0
    # `search_orders(limit=5)`, but not `other(limit=5)`
    calls = {start for start in _places(f"{name}(", text) if not _is_glued(text, start, "$.")}
    braces = {match.start() for match in _PATTERNS.object_opening.finditer(text)} if "{" in text else set[int]()
    for start in sorted(calls | braces):
        if start < reached:
            continue
        is_call = start in calls
        try:
            if is_call:
                arguments, is_whole, end = _read_arguments(text, start + len(name) + 1, properties)
            else:
                (arguments, end), is_whole = _read_object(text, start), True
                # {"name": "search_orders", "arguments": {…}} or call_tool("search_orders", {…})
                inner = arguments.get("arguments") if arguments.get("name") == name else None
                before = _PATTERNS.name_before.search(text, max(0, start - len(name) - 5), start)
                is_call = isinstance(inner, dict) or (before is not None and before[1] == name)
                arguments = inner if isinstance(inner, dict) else arguments
        except _Unreadable:
            continue
        reached = end
        if start in calls and not arguments and is_whole and not _is_shown(text, start):
            continue
        if is_call or _is_call(arguments, properties, is_announced=_is_announced(text, start)):
            yield _Call(arguments, is_whole, is_call, start, end)


def _places(part: str, text: str) -> Iterator[int]:
    """Yield where a part stands in a text."""
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + len(part))


def _is_glued(text: str, start: int, joints: str) -> bool:
    """Return whether what begins there belongs to the word before it."""
    before = text[start - 1 : start]
    return bool(before) and (before.isalnum() or before == "_" or before in joints)


def _is_call(arguments: Mapping[str, Any], properties: Mapping[str, Any], *, is_announced: bool) -> bool:
    """All of an object's members are parameters, or at least half of them and, unless it is called a call, two."""
    shared = len(arguments.keys() & properties.keys())
    least = 1 if is_announced else 2
    return bool(arguments) and (shared == len(arguments) or (shared >= least and 2 * shared >= len(arguments)))


def _is_announced(text: str, start: int) -> bool:
    """The words before it call it an example or a call."""
    return _PATTERNS.announced.search(text, max(0, start - 40), start) is not None


def _is_shown(text: str, start: int) -> bool:
    """Return whether `name()` is a call to copy: "After name() returns" only names the tool."""
    return text.count("```", 0, start) % 2 == 1 or _PATTERNS.shown_call.search(text, 0, start) is not None


def _call_faults(call: _Call, text: str, root: Mapping[str, Any], path: str) -> Iterator[UnfitExample]:
    """Yield the faults of a call in the text at a place, unless the text speaks of what comes back there."""
    faults = list(_why_unfit_call(call, text, root))
    is_shown = call.is_named or not _is_returned(text, call.start)
    if faults and is_shown and not _is_refused(text, call.start, call.end):
        yield from (UnfitExample(path, "", _quoted(text[call.start : call.end]), fault) for fault in faults)


def _why_unfit_call(call: _Call, text: str, root: Mapping[str, Any]) -> Iterator[str]:
    properties = keyword_members(root)
    is_closed = root.get("additionalProperties", False) is False and _OPENING.isdisjoint(root)
    unknown = [name for name in call.arguments if name not in properties] if is_closed else []
    if unknown:
        names = first_of(list(map(repr, unknown)), MAX_NAMED)
        yield f"has {names}, which {'are no parameters' if unknown[1:] else 'is no parameter'}"
    for name, value in call.arguments.items():
        reason = refusal(value, properties[name], root) if name in properties and not _is_template(value) else None
        if reason:
            yield f"{name!r} {reason}"
    missing = [name for name in required_names(root) if name in properties and name not in call.arguments]
    # "Example: {…}" and a block of code are whole calls; an object in a sentence, or of a single member, may be a part
    is_block = text.count("```", 0, call.start) % 2 == 1
    is_shown_whole = call.is_named or is_block or (len(call.arguments) > 1 and _is_announced(text, call.start))
    if missing and not unknown and call.is_whole and is_shown_whole:
        yield f"lacks {missing[0]!r}, which is required"


_OPENING = frozenset(("patternProperties", "anyOf", "oneOf", "allOf"))
"""Keywords that may add parameters."""


def _assignments(text: str, properties: Mapping[str, Any]) -> Iterator[tuple[str, _Literal]]:
    """Yield `limit=5`, `status="open"` and `sort: 'asc'` with the name of the parameter."""
    may_assign = "=" in text or any(map(text.__contains__, _ASSIGNING))
    names = [name for name, schema in properties.items() if name and name in text and isinstance(schema, dict)]
    places = ((start, name) for name in names for start in _places(name, text)) if may_assign else ()
    for start, name in sorted(place for place in places if not _is_glued(text, place[0], ".$/?&%-")):
        match = _PATTERNS.assignment.match(text, start + len(name))
        # "- view: For frames: "camera"": a value of `view`
        entry = _PATTERNS.entry_opening.match(text, text.rfind("\n", 0, start) + 1, start) if match else None
        if match is None or (entry and entry["name"] in properties and not match["sign"]):
            continue
        is_quoted = text[start - 1 : start] in _QUOTES and not _is_glued(text, start - 1, ".$/?&%-")
        try:
            value, end = _read_value(text, match.end())
        except _Unreadable:
            word = _PATTERNS.bare_value.match(text, match.end()) if match["sign"] == "=" else None
            if word is None or accepted_values(properties[name], {}).values is None:
                continue
            value, end = word[0], word.end()
        # `ids=1017,672` is one string
        if _PATTERNS.value_end.match(text, end) and not _PATTERNS.packed_list.match(text, end):
            yield name, _Literal(value, start - is_quoted, end)


def _in_own_text(
    text: str, schema: Mapping[str, Any], root: Mapping[str, Any], *, is_top: bool
) -> Iterator[tuple[str, str]]:
    """Yield the examples of a parameter's own text that its schema refuses, each with the reason."""
    literals, bare = _own_examples(text), _bare_examples(text)
    if not (literals or bare):
        return
    takes = accepted_values(schema, root)
    is_closed = takes.values is not None or not {"pattern", "format"}.isdisjoint(schema)
    for literal in (*literals, *(bare if is_closed else ())):
        value = literal.value
        # an object of which all members are parameters is a whole call
        is_call = isinstance(value, dict) and len(value) > 1 and value.keys() <= keyword_members(root).keys()
        reason = None if is_call or _is_template(value) else refusal(value, schema, root)
        # further behind, "(e.g. FLUX, Recraft)" may be about anything
        is_far = literal.start > NEAR and not isinstance(value, dict | list)
        # a text may show JSON that stands in a string, or a number that does
        is_encoded = takes.types == {"string"} and not isinstance(value, str)
        is_fit = reason is None or is_encoded or is_far or _is_refused(text, literal.start, literal.end)
        if reason and not is_fit and not _may_be_part(value, schema, root, is_top=is_top):
            yield _quoted(text[literal.start : literal.end]), reason


@cached_by_text(1024)
def _own_examples(text: str) -> Sequence[_Literal]:
    """Return the values that stand behind "e.g." or "Example:", and what a date template amounts to."""
    literals: list[_Literal] = []
    has_cue = "xample" in text or "e.g" in text or "E.g" in text or "uch as" in text
    for match in [] if not has_cue else list(_PATTERNS.example.finditer(text))[:MAX_EXAMPLES]:
        place = match.end()
        while len(literals) < MAX_EXAMPLES:
            try:
                value, end = _read_value(text, place)
            except _Unreadable:
                break
            if not _PATTERNS.value_end.match(text, end):
                break
            literals.append(_Literal(value, place, end))
            separator = _PATTERNS.separator.match(text, end)
            if separator is None:
                break
            place = separator.end()
    templates = _PATTERNS.date_template.finditer(text) if "YY" in text else ()
    dates = (_Literal(_instance(match[0]), *match.span()) for match in templates)
    return [*literals, *dates]


@cached_by_text(1024)
def _bare_examples(text: str) -> Sequence[_Literal]:
    """Return the single words behind "e.g.", which are values only where the schema closes them: "(e.g. asc, desc)"."""
    matches = list(_PATTERNS.bare_example.finditer(text))[:MAX_EXAMPLES] if "(" in text else []
    words = (
        word
        for match in matches
        for word in _PATTERNS.bare_word.finditer(text, match.start("words"), match.end("words"))
    )
    return [_Literal(word[0], word.start(), word.end()) for word in words]


def _instance(template: str) -> str:
    """Return a date of a template: `YYYY-MM-DD` -> 2024-11-28."""
    for letters, digits in (("YYYY", "2024"), ("MM", "11"), ("DD", "28"), ("HH", "13"), ("mm", "45"), ("ss", "59")):
        template = template.replace(letters, digits)
    return template


def _may_be_part(
    value: Any,  # noqa: ANN401  # any JSON value
    schema: Mapping[str, Any],
    root: Mapping[str, Any],
    *,
    is_top: bool,
) -> bool:
    """A value may be a part of what is sent: an item of a list, a member of an object, a word for what is meant.

    Below the top, where texts explain members together, an object is a part if less than half of its members are the
    schema's own; a scalar is one wherever an object is taken.
    """
    takes = accepted_values(schema, root)
    branches = alternatives(schema, root)
    if isinstance(value, dict):
        inner = [*branches, *(part for item in map(_items_of, branches) for part in alternatives(item, root))]
        shared = max((len(value.keys() & keyword_members(part).keys()) for part in inner), default=0)
        return (not is_top and 2 * shared < len(value)) or not _are_refused(value, map(_items_of, branches), root)
    if isinstance(value, list):
        return False
    if takes.types and takes.types <= {"array", "object"}:
        return bool({"array", "object"} & (takes.item_types | (takes.types - {"array"}))) or not _are_refused(
            value, map(_items_of, branches), root
        )
    # "Show display names (e.g. 'Story Points')" beside a parameter that is true or false
    return isinstance(value, str) and bool(takes.types) and "string" not in takes.types


def _items_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    items = schema.get("items")
    return items if isinstance(items, dict) else {}


def _are_refused(value: object, schemas: Iterable[Mapping[str, Any]], root: Mapping[str, Any]) -> bool:
    """Each of some schemas that say anything refuses the value."""
    return all(refusal(value, schema, root) for schema in schemas if schema)


def _is_template(value: Any) -> bool:  # noqa: ANN401  # any JSON value
    """A value has a place for another: `<id>`, `{id}`, `YOUR_KEY`, `...`."""
    if isinstance(value, str):
        return _PATTERNS.template.search(value) is not None
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(map(_is_template, members))


def _is_returned(text: str, start: int) -> bool:
    """The text speaks of what comes back there."""
    before = text[max(0, start - 400) : start]
    labels = list(_PATTERNS.label.finditer(before))
    is_output = bool(labels) and labels[-1]["output"] is not None
    return is_output or _PATTERNS.returned.search(before[-60:]) is not None


def _is_refused(text: str, start: int, end: int) -> bool:
    """The sentence says that such a call fails: "`limit=500` is refused", "Fails with limit=500"."""
    if _PATTERNS.misused.search(text[max(0, start - 60) : start]):
        return True
    before = text[max(0, start - NEAR) : start].replace("e.g. ", "e.g, ")
    opening = max(before.rfind(sign) for sign in (". ", "\n", "; ", "! "))
    after = _PATTERNS.sentence_end.split(text[end : end + NEAR], maxsplit=1)[0]
    return any(_PATTERNS.failing.search(part) for part in (before[opening + 1 :], after))


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_QUOTE else f"{text[: MAX_QUOTE - 1]}…"


def closed_list(text: str, name: str, foreign_names: AbstractSet[str] = frozenset()) -> tuple[str, ...]:
    """Return the values that a text about a parameter lists as all of them; none where the list may be open.

    Read by structure, so that any language will do: quoted values in a row, words between bars, and words behind a
    colon, a dash or in parentheses where the text or the parameter's name says that these are its values.
    `foreign_names` are names of other things. What identifies or locates one thing (an id, a name, a path), and a
    number with its unit ("30m, 2h"), have more values than a text lists.
    """
    text = text.replace("``", "`")
    is_kind = name.lower().endswith(endings_from("examples", "kinds_of_value"))
    is_own = not _IDENTIFYING.isdisjoint(name_parts(name)[-1:])
    for row in _rows(text, is_kind) if not is_own else ():
        if not is_kind and all(map(_QUANTITY.fullmatch, row.values)):
            continue
        is_whole = foreign_names.isdisjoint(row.values) and row.words_behind <= foreign_names
        if is_whole and (not row.is_conditional or is_kind):
            return () if _PATTERNS.several_values.search(text.replace(row.quote, "")) else row.values
    # "- open: not done" on a line of its own
    lines = [entry.name for entry in list_entries(text) if entry.indent == 0] if is_kind and "\n" in text else []
    is_list = len(lines) > 1 and not any(map(_PATTERNS.no_value.search, lines)) and not is_own
    return tuple(lines) if is_list and foreign_names.isdisjoint(lines) else ()


def assigned_values(text: str, properties: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
    """Return the texts that a description gives a choosing parameter, where there are several.

    "Use action='describe' to list endpoints, or action='call' to run one."
    """
    values: dict[str, dict[str, None]] = {}
    for name, literal in _assignments(text, properties):
        if isinstance(literal.value, str) and name.lower().endswith(tuple(words_from("hints", "choosing"))):
            values.setdefault(name, {})[literal.value] = None
    return {name: tuple(own) for name, own in values.items() if len(own) > 1}


def shown_choices(text: str, name: str) -> tuple[str, ...]:
    """Return the examples that a text gives of a parameter which can have only a few values: "(e.g. open, closed)"."""
    is_choice = name.lower().endswith(endings_from("examples", "closed_kinds"))
    match = _PATTERNS.shown_row.search(text) if is_choice and not _PATTERNS.several_values.search(text) else None
    return tuple(_PATTERNS.row_value.findall(match["row"])) if match else ()


_IDENTIFYING = words_from("parameters", "identifying") | {"path", "file", "url", "uri"}
_QUANTITY = re.compile(r"\d+[A-Za-z]{1,3}")


class _ValueRow(NamedTuple):
    quote: str
    values: tuple[str, ...]
    is_conditional: bool
    """Unquoted words that are values only of a parameter whose name says so."""

    words_behind: frozenset[str]
    """Quoted words behind the row that are none of its values: "'name' or 'size'; append 'desc' to turn it around"."""


@cached_by_text(1024)
def _rows(text: str, is_kind: bool) -> Sequence[_ValueRow]:  # noqa: FBT001  # the cache takes arguments by place
    """Return the rows of values that a text closes; without a sign, words are read only for a parameter of values."""
    patterns = [pattern for signs, pattern in _ROWS if any(map(text.__contains__, signs))]
    if _BARE in patterns and not (is_kind or _PATTERNS.list_sign.search(text)):
        patterns.remove(_BARE)
    rows: list[_ValueRow] = []
    for pattern in patterns:
        for match in getattr(_PATTERNS, pattern).finditer(text):
            words = _PATTERNS.row_value.findall(_PATTERNS.row_gloss.sub("", match[0]))
            values = tuple(dict.fromkeys(word.strip("`'\"“”「」") for word in words))
            before, after = text[max(0, match.start() - 60) : match.start()], text[match.end() : match.end() + 60]
            is_inside = text.count("{", 0, match.start()) > text.count("}", 0, match.start())
            # "Yo" and "me" mean this member: the words are what a sentence is about
            is_inside = is_inside or (
                before.rstrip()[-1:] in (".", "!", "?") and after[:1] == " " and after[1:2].isalpha()
            )
            is_open = is_inside or _PATTERNS.row_example.search(before) or _PATTERNS.row_open.search(after)
            # unquoted words are values in the first sentence, if they look like some or the parameter is for some
            is_sure = pattern != _BARE or _PATTERNS.announced_row.search(before) is not None
            is_first = ". " not in text[: match.start()]
            is_likely = is_first and all(value.isupper() and len(value) > 2 for value in values)
            # "owner/name or name" and "Format: width/height" are templates
            is_template = len(words) > len(values) or (not is_sure and _PATTERNS.pair.fullmatch(match[0]) is not None)
            is_list = len(values) > 1 and not is_open and not any(map(_PATTERNS.no_value.search, values))
            if is_list and not is_template and (is_sure or is_first):
                behind = {quoted.strip("`'\"“”「」") for quoted in _PATTERNS.quoted_value.findall(text, match.end())}
                is_conditional = not (is_sure or is_likely)
                rows.append(_ValueRow(match[0], values, is_conditional, frozenset(behind.difference(values))))
    return rows


_BARE = "bare_row"
_ROWS = (
    ("\"'`“「", "quoted_row"),
    ("|", "bar_row"),
    ((", ", " or ", " and ", "/", "、", "或", "または", "또는"), _BARE),
)
"""Signs without which a text has no row of a kind, and the pattern of its rows."""


_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w%°]|[.\-/:]\w)")
_WORD = re.compile(r"[A-Za-z_$][\w$.-]*")
_CONSTANTS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”"}


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def _read_value(text: str, place: int, depth: int = 0) -> tuple[Any, int]:
    """Return the literal that begins at a place, and where it ends. Raises _Unreadable."""
    sign = text[place : place + 1]
    if depth > MAX_NESTING:
        raise _Unreadable
    if sign == "`" and text[place + 1 : place + 2] in ("{", "["):  # `{"limit": 5}` is code, not a string
        value, end = _read_value(text, place + 1, depth + 1)
        return value, end + (text[end : end + 1] == "`")
    if sign in _QUOTES and sign:
        return _read_string(text, place)
    if sign == "{":
        return _read_object(text, place, depth)
    if sign == "[":
        return _read_array(text, place, depth)
    if match := _NUMBER.match(text, place):
        digits = match[0]
        return (float(digits) if {".", "e", "E"} & set(digits) else int(digits)), match.end()
    word = _WORD.match(text, place)
    if word and word[0].rstrip(".") in _CONSTANTS:
        name = word[0].rstrip(".")
        return _CONSTANTS[name], place + len(name)
    raise _Unreadable


def _read_string(text: str, place: int) -> tuple[str, int]:
    closing, end = _QUOTES[text[place]], place + 1
    while end < len(text) and text[end] != closing and text[end] != "\n":
        end += 1 + (text[end] == "\\")
    if text[end : end + 1] != closing:
        raise _Unreadable
    return text[place + 1 : end].replace("\\", ""), end + 1


def _read_object(text: str, place: int, depth: int = 0) -> tuple[dict[str, Any], int]:
    members: dict[str, Any] = {}
    place = _skip(text, place + 1)
    while text[place : place + 1] != "}":
        if text[place : place + 1] in _QUOTES and place < len(text):
            name, place = _read_string(text, place)
        elif match := _WORD.match(text, place):
            name, place = match[0], match.end()
        else:
            raise _Unreadable
        place = _skip(text, place)
        if text[place : place + 1] != ":":
            raise _Unreadable
        members[name], place = _read_value(text, _skip(text, place + 1), depth + 1)
        place = _next_member(text, place, "}")
    return members, place + 1


def _read_array(text: str, place: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    place = _skip(text, place + 1)
    while text[place : place + 1] != "]":
        item, place = _read_value(text, place, depth + 1)
        items.append(item)
        place = _next_member(text, place, "]")
    return items, place + 1


def _read_arguments(text: str, place: int, properties: Mapping[str, Any]) -> tuple[dict[str, Any], bool, int]:
    """Return the named arguments of a call, whether it has no others, and where it ends."""
    arguments: dict[str, Any] = {}
    is_whole, place = True, _skip(text, place)
    if text[place : place + 1] == "{":  # search({limit: 5})
        members, place = _read_object(text, place)
        is_whole = _is_call(members, properties, is_announced=True)
        arguments = members if is_whole else {}
        place = _next_member(text, place, ")")
    while text[place : place + 1] != ")":
        match = _PATTERNS.argument.match(text, place)
        value, end = _read_value(text, match.end() if match else place)
        if match:
            arguments[match["name"]] = value
        is_whole = is_whole and match is not None
        place = _next_member(text, end, ")")
    return arguments, is_whole, place + 1


def _next_member(text: str, place: int, closing: str) -> int:
    """Return where the next member or the closing sign stands."""
    place = _skip(text, place)
    if text[place : place + 1] == ",":
        return _skip(text, place + 1)
    if text[place : place + 1] != closing:
        raise _Unreadable
    return place
