"""Forms of what comes back from a tool: keys, words of texts, answers of requests, as far as the code proves them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tdqs_mcp.code.flow import Interpreter
from tdqs_mcp.code.nodes import Collection, Literal, Name, Other, Subscript, SyntaxNode
from tdqs_mcp.code.project import last_name
from tdqs_mcp.code.registrations import Registration
from tdqs_mcp.code.resolution import PLAIN_LISTS
from tdqs_mcp.code.trace import CallTrace
from tdqs_mcp.code.values import (
    ANSWER,
    Alternatives,
    Argument,
    CallFrame,
    ClassValue,
    Constant,
    Dictionary,
    External,
    Instance,
    Listing,
    PartialText,
    Value,
    alternatives,
    text_of,
)
from tdqs_mcp.results.tool_code import CodeResult, ResultKind

Forms = tuple[CodeResult, ...] | None
"""Each form that a value may have, none for nothing at all; null where one of them is not known."""

MIN_WORDS = 2
"""Words of a text that are known, for it to tell something."""

MIN_LABELS = 2
"""Labels before computed parts, for a text to be a record."""

_LABEL = re.compile(r"(?:^|\n[ \t]*|[-*•(|,] ?)\**([A-Z][A-Za-z][\w /-]{0,28}?)\**:\**[ \t]*[\"'`$]?\{\}")
_SERIALIZED = re.compile(r"(?:^|\.)(?:encode|stringify|(?:safe_)?dumps?)\(\)$")
"""A library's function that writes a value as text, as `yaml.dump`."""

_BODY = re.compile(
    r"(?:\.(?:json\(\)|data|text\(\)|text|read\(\)|content|body))?(?:\.(?:decode|strip|catch|replace)\(\))*"
)
_INNER = re.compile(r"(?:\.[A-Za-z_]\w*){0,2}")
_FAILING = re.compile(
    r"\W*(?!no\b)(?:[a-z]+ ){0,3}?(?:errors?|failed|failure|unable|could not|couldn't|cannot|invalid|exception)\b",
    re.IGNORECASE,
)
"""Beginning of a text that says that something went wrong."""

_IMAGES = frozenset({"image", "audio"})
_SOME_TEXT: Forms = (CodeResult(kind=ResultKind.TEXT),)
"""A text of which nothing is known."""


class ResultReader:
    """Reads the forms of results from what the interpreter knows of them."""

    def __init__(self, interpreter: Interpreter, trace: CallTrace) -> None:
        self._interpreter = interpreter
        self._trace = trace

    def read(self, registration: Registration) -> tuple[tuple[CodeResult, ...], bool]:
        """Return the forms of a tool's results, errors aside, and whether these are all."""
        forms, is_whole = self._ways(self._trace.results)
        is_whole &= bool(forms)
        closure = registration.handler
        if not is_whole and closure is not None and not registration.dispatched and closure.module.is_python:
            annotation = closure.function.returns
            scope = closure.scope if isinstance(closure.scope, CallFrame) else None
            place = scope or CallFrame(parent=self._interpreter.scope_of(closure.module))
            if typed := self._annotated(annotation, place):
                return typed, True
            if isinstance(annotation, Name) and annotation.id == "str" and _are_texts(forms):
                return tuple(_merged([*forms, *(_SOME_TEXT or ())])), True
        return forms, is_whole

    def _ways(self, values: Iterable[Value], *, unknown: Forms = None) -> tuple[tuple[CodeResult, ...], bool]:
        """Return the forms of values of which one comes back without an error, and whether all of them are known."""
        forms: list[CodeResult] = []
        is_whole = True
        for inner in dict.fromkeys(part for value in values for part in alternatives(value)):
            if not self._is_failure(inner):
                own = self._forms(inner)
                own = unknown if own is None else own
                is_whole &= own is not None
                forms += own or ()
        if not _are_texts(forms) and any(form.is_bare for form in forms):
            forms, is_whole = [form for form in forms if not form.is_bare], False
        return tuple(_merged(forms)), is_whole

    def _all(self, values: Iterable[Value], *, unknown: Forms = None) -> Forms:
        """Return the forms of values of which one comes back; null where one is not known."""
        forms, is_whole = self._ways(values, unknown=unknown)
        return forms if is_whole else None

    def _is_failure(self, value: Value) -> bool:
        if value in self._trace.failures or (isinstance(value, External) and value.name.endswith("Promise.reject()")):
            return True
        if isinstance(value, Dictionary):
            flags = {key: _own(value, key) for key in ("isError", "success", "ok")}
            is_error = flags.pop("isError")
            if is_error is not None and is_error != Constant(value=False):
                return True
            return _own(value, "error") not in (None, Constant(value=None)) or Constant(value=False) in flags.values()
        text = text_of(value)
        return text is not None and _FAILING.match(text) is not None

    def _forms(self, value: Value) -> Forms:
        forms: Forms = None
        match value:
            case Alternatives():
                forms = self._all([value])
            case Constant(value=None):
                forms = ()
            case Constant(value=str()) | PartialText():
                forms = _text_forms(text_of(value) or "", value.rows if isinstance(value, PartialText) else ())
            case Listing(values=values):
                forms = self._listed(values)
            case Dictionary():
                forms = self._object(value)
            case Instance(of=owner):
                forms = self._model(owner)
            case External(name=name, arguments=arguments) if name.startswith(ANSWER):
                forms = _answer(name.removeprefix(ANSWER), arguments)
            case External(name=name) if name.endswith(".Image()"):
                forms = (CodeResult(kind=ResultKind.IMAGE),)
            case External(name=name, arguments=arguments) if _SERIALIZED.search(name):
                forms = self._all(arguments[:1]) if arguments else None
        return forms

    def _listed(self, values: Sequence[Value]) -> Forms:
        kinds = [
            text_of(kind) if isinstance(value, Dictionary) and (kind := value.get("type")) else None for value in values
        ]
        if kinds and all(kind in ("text", "resource", "resource_link", *_IMAGES) for kind in kinds):
            return self._blocks([value for value in values if isinstance(value, Dictionary)], kinds)
        return _as_items(self._all(values)) or (CodeResult(kind=ResultKind.LIST, is_empty=not values),)

    def _blocks(self, blocks: Sequence[Dictionary], kinds: Sequence[str | None]) -> Forms:
        """Return the form of content blocks: of its text where there is one, or of the image."""
        if not _IMAGES.isdisjoint(kinds):
            return (CodeResult(kind=ResultKind.IMAGE),)
        texts = [text for block in blocks if (text := block.get("text")) is not None]
        forms = self._all(texts[:1], unknown=_SOME_TEXT) if texts and kinds[0] == "text" else None
        if len(blocks) == 1 or not forms or any(form.kind is not ResultKind.TEXT or form.keys for form in forms):
            return None if len(blocks) > 1 else forms if forms is not None or kinds[0] != "text" else _SOME_TEXT
        return tuple(replace(form, text=f"{form.text}\n") for form in forms)  # further texts follow

    def _object(self, value: Dictionary) -> Forms:
        if text_of(_own(value, "type") or Value()) in _IMAGES and value.get("data"):
            return (CodeResult(kind=ResultKind.IMAGE),)
        content = _own(value, "content")
        inner = alternatives(content) if content is not None else ()
        if inner and all(isinstance(part, Listing) for part in inner) and not value.get("role"):
            forms = self._all([part for part in inner if part != Listing(values=())])
            structured = value.get("structuredContent")
            own = self._all([structured]) if structured is not None else None
            is_plain = forms is None or all(form.kind is ResultKind.TEXT for form in forms)
            return own if own and is_plain else forms
        keys, rare, is_open = self._keys(value)
        if is_open and not keys:
            return None
        inner_forms = {key: self._items(item) for key, item in value.items if isinstance(item, Listing)}
        lists = tuple((key, form.keys) for key, form in inner_forms.items() if form and key in keys)
        form = CodeResult(kind=ResultKind.OBJECT, keys=keys, rare=rare, is_open=is_open, lists=lists)
        return (form,) if keys or rare else ()

    def _items(self, listing: Listing) -> CodeResult | None:
        """Return the form of a list's objects, where they all have the same."""
        forms = [form for form in _as_items(self._all(listing.values)) or () if form.keys]
        return forms[0] if len(forms) == 1 else None

    def _keys(self, value: Dictionary) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
        """Return the keys that an object always has, those that it may have, and whether there may be others."""
        keys: dict[str, None] = {}
        rare: dict[str, None] = {}
        is_open = value.items in self._trace.changed
        for key, item in value.items:
            if key == "...":
                parts = alternatives(item)
                objects = [self._keys(part) for part in parts if isinstance(part, Dictionary)]
                nothing = [part for part in parts if isinstance(part, Constant) and not part.value]
                is_open |= len(objects) + len(nothing) < len(parts) or any(part[2] for part in objects)
                always = (
                    set.intersection(*(set(part[0]) for part in objects)) if objects and not nothing else set[str]()
                )
                for names, further, _ in objects:
                    keys |= {name: None for name in names if name in always}
                    rare |= {name: None for name in (*names, *further) if name not in always}
            elif key and key not in value.optional:
                keys[key] = None
            elif key:
                rare[key] = None
            is_open |= not key
        return tuple(keys), tuple(name for name in rare if name not in keys), is_open

    def _model(self, owner: ClassValue) -> Forms:
        """Return the fields of a dataclass, a pydantic model or a typed dictionary."""
        fields = self._interpreter.data_fields(owner)
        return (CodeResult(kind=ResultKind.OBJECT, keys=tuple(fields)),) if fields else None

    def _annotated(self, annotation: SyntaxNode | None, place: CallFrame) -> Forms:
        """Return the forms of an annotated return type: a model, `list[Model]`, `Model | None`."""
        match annotation:
            case None:
                return None
            case Literal(value=None):
                return ()
            case Subscript(value=outer, key=key) if last_name(outer) in ("Optional", "Annotated"):
                return self._annotated(key.values[0] if isinstance(key, Collection) else key, place)
            case Subscript(value=outer, key=key) if last_name(outer) in PLAIN_LISTS and not isinstance(key, Collection):
                return _as_items(self._annotated(key, place))
            case Other(operator="|", parts=parts):
                inner = [self._annotated(part, place) for part in parts]
                return tuple(_merged([form for forms in inner for form in forms or ()])) if None not in inner else None
            case _:
                value = self._interpreter.typed(annotation, place)
                is_whole = all(isinstance(part, Instance | External) for part in alternatives(value))
                return self._all([value]) if is_whole else None


def _own(value: Dictionary, key: str) -> Value | None:
    """Return the value of a key that the code names: all that an argument may have is in `{"depth": 3, **berth}`."""
    inner = value.get(key)
    return None if isinstance(inner, Argument) else inner


def _as_items(forms: Forms) -> Forms:
    """Return lists of objects; null where one of the items is no object."""
    if not forms or any(form.kind is not ResultKind.OBJECT for form in forms):
        return None
    return tuple(replace(form, kind=ResultKind.OBJECTS) for form in forms)


def _merged(forms: Sequence[CodeResult]) -> Iterator[CodeResult]:
    """Yield the forms once each; of objects one, with the keys that all have, and those that some have."""
    kinds = dict.fromkeys(form.kind for form in forms if not form.is_empty)
    for kind in kinds or dict.fromkeys(form.kind for form in forms):
        same = [form for form in forms if form.kind is kind]
        if kind not in (ResultKind.OBJECT, ResultKind.OBJECTS) or len(same) == 1:
            yield from dict.fromkeys(same)
            continue
        always = set.intersection(*(set(form.keys) for form in same))
        names = dict.fromkeys(name for form in same for name in (*form.keys, *form.rare))
        keys = tuple(name for name in names if name in always)
        rare = tuple(name for name in names if name not in always)
        lists = tuple(dict(item for form in same for item in form.lists if item[0] in always).items())
        yield CodeResult(kind=kind, keys=keys, rare=rare, is_open=any(form.is_open for form in same), lists=lists)


def _are_texts(forms: Iterable[CodeResult]) -> bool:
    return all(form.kind is ResultKind.TEXT for form in forms)


def _text_forms(text: str, rows: Sequence[str] = ()) -> Forms:
    """Return a text with its labels or words; null for one of which too little is known."""
    labels = _labels(text)
    described = {_labels(row) for row in rows if "{}" in row}
    lines = [line for row in rows for line in row.split("\n") if "{}" in line]
    is_labeled = len(described) == 1 and all(map(_labels, lines))  # another part of an item may have no label
    row = next(iter(described)) if is_labeled else ()
    row = row if len(row) >= MIN_LABELS else ()
    labels = labels if len(labels) >= MIN_LABELS else ()
    words = re.findall(r"[^\W\d_]{2,}", text)
    is_known = labels or row or len(words) >= MIN_WORDS or (words and text.lstrip().startswith(words[0]))
    if not is_known:
        return _SOME_TEXT if text else ()
    is_single = len(rows) == 1 and "\n" not in rows[0].strip()
    return (CodeResult(kind=ResultKind.TEXT, keys=labels, row=row, is_line=is_single, text=text),)


def _labels(text: str) -> tuple[str, ...]:
    """Return the labels before the computed parts of a text: `Depth` of "Depth: {}"."""
    return tuple(dict.fromkeys(label.strip() for label in _LABEL.findall(text)))


def _answer(path: str, arguments: Sequence[Value]) -> Forms:
    """Return the answer of a request, or the part of it that a path of keys names."""
    request = text_of(arguments[0]) if arguments else None
    inner = path[match.end() :] if (match := _BODY.match(path)) else path
    if (path and not match) or not _INNER.fullmatch(inner) or (match and not match[0] and inner):
        return None
    return (CodeResult(kind=ResultKind.ANSWER, text=request or "", keys=(inner[1:],) if inner and request else ()),)
