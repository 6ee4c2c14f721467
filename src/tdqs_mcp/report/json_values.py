"""A result as JSON values: the only place where its text is made fit for programs, or fenced for an agent."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from tdqs_mcp.report.escape import MAX_FENCED, fence, fence_advice, fence_json, well_formed
from tdqs_mcp.results.contract import ABSENT, Absent, Max, Only, Own, Trait, Unit, members, options, strip_none, unwrap

Text: TypeAlias = Callable[[str, int], str]
"""Treatment of a foreign text of which an agent gets so many characters."""


Result = TypeVar("Result")


Convert: TypeAlias = Callable[[Any, Text], Any]


def document(result: Any) -> dict[str, Any]:  # noqa: ANN401  # any result
    """The result's contract: every text whole and valid Unicode."""
    cls: Any = type(result)
    return _object(cls, None, 0)(result, _whole)  # type: ignore[no-any-return]  # of an object, an object


def answer(result: Any, *, only: str | None = None, limit: int = MAX_FENCED) -> dict[str, Any]:  # noqa: ANN401  # any result
    """Return the result for an agent: every text that is not ours fenced as data, and cut after `limit` characters."""
    cls: Any = type(result)
    return _object(cls, only, limit)(result, fence)  # type: ignore[no-any-return]  # as above


def read_document(cls: type[Result], written: Mapping[str, Any]) -> Result:
    """The result that `document` has written down, of a class without inlined members."""
    return cast("Result", _read(cls, written))


def json_text(document: object) -> str:
    """Indented JSON as valid UTF-8 without raw control characters, for any definition."""
    return _printable(json.dumps(document, indent=2, ensure_ascii=False))


def json_line(result: Any) -> str:  # noqa: ANN401  # any result
    """The result's contract on one line."""
    return _printable(json.dumps(document(result), ensure_ascii=False))


def _printable(text: str) -> str:
    if text.isascii() and "\x7f" not in text:
        return text
    return _UNSAFE.sub(lambda match: json.dumps(match[0])[1:-1], text)


_UNSAFE = re.compile(
    "[\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Control and format characters and lone surrogates; JSON has an escape for each, so the value stays the same."""


def clean(value: Any, text: Callable[[str], str]) -> Any:  # noqa: ANN401  # foreign JSON, any shape
    """Return the same JSON with every text, keys included, changed by `text`."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Mapping):
        return {text(key): clean(child, text) for key, child in value.items()}
    return [clean(child, text) for child in value] if isinstance(value, list | tuple) else value


def _whole(text: str, limit: int) -> str:  # noqa: ARG001  # programs get all of it
    return well_formed(text)


@cache
def _object(cls: Any, only: str | None, limit: int) -> Convert:  # noqa: ANN401  # a class
    """A class, or only some of its members."""
    plan = [(member, _converter(member.kind, limit)) for member in members(cls, only)]

    def convert(value: Any, text: Text) -> dict[str, Any]:  # noqa: ANN401  # an instance of the class
        written = {}
        for member, inner in plan:
            part = value
            for name in member.path:
                part = part if part is None or part is ABSENT else getattr(part, name)
            if part is not ABSENT and (part or not member.is_sparse):
                written[member.key] = inner(part, text)
        return written

    return convert


def _converter(annotation: Any, limit: int) -> Convert:  # noqa: ANN401  # any type
    """Return how values of the type become JSON; an agent gets `limit` characters of a text, unless the type says."""
    kind, marks = unwrap(annotation)
    limit = next((mark.characters for mark in marks if isinstance(mark, Max)), limit)
    only = next((mark.names for mark in reversed(marks) if isinstance(mark, Only)), None)  # the outer projection
    if Trait.AS_JSON in marks:
        return lambda value, text: fence_json(value) if text is fence else clean(value, well_formed)
    if Trait.ADVICE in marks:
        return _nullable(lambda value, text: fence_advice(value, limit) if text is fence else text(value, limit))
    unit = next((mark for mark in marks if isinstance(mark, Unit)), None)
    if unit:
        return _nullable(_number(unit))
    inner = [option for option in options(kind) if option not in (NoneType, Absent)]
    return _nullable(_plain(inner[0], only, limit) if len(inner) == 1 else _any(limit))


def _plain(kind: Any, only: str | None, limit: int) -> Convert:  # noqa: ANN401  # one return for each type
    """A type without metadata that is not a union."""
    if unwrap(kind)[1]:
        return _converter(kind, limit)
    if kind is str:
        return lambda value, text: text(value, limit)
    if kind in (int, float, bool) or kind is Own:
        return lambda value, _: value
    if isinstance(kind, type) and issubclass(kind, Enum):
        return lambda value, _: value.value
    if is_dataclass(kind) and isinstance(kind, type):
        return _object(kind, only, limit)
    return _container(get_origin(kind), get_args(kind), only, limit)


def _container(origin: Any, args: tuple[Any, ...], only: str | None, limit: int) -> Convert:  # noqa: ANN401  # any type
    if origin is tuple:
        item = _plain(args[0], only, limit)
        return lambda value, text: [item(child, text) for child in value]
    if origin in (dict, Mapping):
        key, child = _plain(args[0], None, limit), _converter(args[1], limit)
        return lambda value, text: {key(name, text): child(inner, text) for name, inner in value.items()}
    return _any(limit)


def _nullable(convert: Convert) -> Convert:
    return lambda value, text: None if value is None else convert(value, text)


def _number(unit: Unit) -> Convert:
    if unit.digits is not None:
        return lambda value, _: round(value, unit.digits)
    if unit.divisor == 1:
        return lambda value, _: value if isinstance(value, int | float) else float(value)
    return lambda value, _: value / unit.divisor


def _any(limit: int) -> Convert:
    """Any JSON value."""
    return lambda value, text: clean(value, lambda part: text(part, limit))


def _read(annotation: Any, value: Any) -> Any:  # noqa: ANN401  # any type and its JSON
    kind, marks = unwrap(annotation)
    if value is None or marks:
        unit = next((mark for mark in marks if isinstance(mark, Unit)), None)
        return value and (round(value * unit.divisor) if unit else _read(kind, value))
    if get_origin(kind) in (Union, UnionType):
        return _read(strip_none(kind), value)
    if get_origin(kind) is tuple:
        return tuple(_read(get_args(kind)[0], item) for item in value)
    if isinstance(value, Mapping) and not isinstance(kind, type):
        name, child = get_args(kind)
        return {_read(name, key): _read(child, item) for key, item in value.items()}
    if is_dataclass(kind) and isinstance(kind, type):
        names = {field.name for field in fields(kind)}
        stored = [member for member in members(kind) if member.path[0] in names]
        return kind(
            **{member.path[0]: _read(member.kind, value[member.key]) for member in stored if member.key in value}
        )
    return kind(value) if isinstance(kind, type) and issubclass(kind, Enum) else value
