"""An author's material from a file or a call: facts, traces of real calls, documentation, in JSON or YAML."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tdqs_mcp.canonical import pretty_json
from tdqs_mcp.errors import InputError, UnmeasurableError
from tdqs_mcp.model.material import Fact, Material, Outcome, Trace
from tdqs_mcp.sources.written import parse_text, read_text

MAX_ENTRIES = 10_000
"""Facts or traces of one file."""

SHAPE = (
    "{facts: [statement or {tool, fact}], traces: [{tool, arguments, result or error}], docs: text}, every key optional"
)
"""The format in one line, for messages."""


def read_material(path: Path) -> Material:
    """The material in a file. Raises InputError, which says where it is wrong."""
    origin = repr(str(path))
    return parse_material(parse_text(read_text(path), origin=origin), origin=origin)


def parse_material(given: object, *, origin: str = "the material", tool: str | None = None) -> Material:
    """The material in parsed JSON or YAML, all of it about one tool where that is named.

    Raises InputError, which says where it is wrong and what the format is.
    """
    if not isinstance(given, Mapping):
        raise InputError(f"{origin} is no object; its format is {SHAPE}")
    unknown = [key for key in given if key not in ("facts", "traces", "docs")]
    if unknown:
        raise InputError(f"{origin} has an unknown key {unknown[0]!r}; its format is {SHAPE}")
    docs = given.get("docs") or ""
    if not isinstance(docs, str):
        raise InputError(f"{origin}: docs must be a text")
    facts = _entries(given, "facts", origin)
    traces = _entries(given, "traces", origin)
    return Material(
        facts=tuple(_fact(number, each, origin, tool) for number, each in enumerate(facts, 1)),
        traces=tuple(_trace(number, each, origin, tool) for number, each in enumerate(traces, 1)),
        docs=docs,
    )


def _entries(given: Mapping[str, Any], key: str, origin: str) -> list[Any]:
    entries = given.get(key)
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise InputError(f"{origin}: {key} must be a list; the format is {SHAPE}")
    if len(entries) > MAX_ENTRIES:
        raise InputError(f"{origin}: {len(entries)} {key} are more than {MAX_ENTRIES}")
    return entries


def _fact(number: int, given: object, origin: str, tool: str | None) -> Fact:
    if isinstance(given, str) and given.strip():
        return Fact(number=number, text=given.strip(), tool=tool)
    if tool is not None:
        raise InputError(f"{origin}: fact {number} must be a statement")
    if isinstance(given, Mapping) and given.keys() == {"tool", "fact"} and all(map(_is_text, given.values())):
        return Fact(number=number, text=given["fact"].strip(), tool=given["tool"])
    raise InputError(f"{origin}: fact {number} must be a statement, or {{tool, fact}} for a statement about one tool")


def _trace(number: int, given: object, origin: str, tool: str | None) -> Trace:
    about = given.get("tool") if tool is None and isinstance(given, Mapping) else tool
    if not isinstance(given, Mapping) or not _is_text(about) or ("result" in given) == ("error" in given):
        named = "tool, " if tool is None else ""
        raise InputError(f"{origin}: trace {number} must have {named}arguments and either result or error")
    arguments = given.get("arguments") or {}
    if not isinstance(arguments, Mapping):
        raise InputError(f"{origin}: the arguments of trace {number} must be an object")
    answer = given["error"] if "error" in given else given["result"]
    try:
        text = answer if isinstance(answer, str) else pretty_json(_plain(answer))
    except (RecursionError, UnmeasurableError) as error:
        raise InputError(f"{origin}: the answer of trace {number} nests too deep; give a part of it") from error
    return Trace(
        number=number,
        tool=str(about),
        arguments=arguments,
        outcome=Outcome.ERROR if "error" in given else Outcome.SUCCESS if _has_content(answer) else Outcome.EMPTY,
        answer=text,
    )


def _has_content(answer: object) -> bool:
    """Whether anything stands in a result: an empty list inside an object is an empty answer too."""
    if isinstance(answer, Mapping):
        return any(map(_has_content, answer.values()))
    if isinstance(answer, list):
        return any(map(_has_content, answer))
    return answer is not None and answer != ""


def _plain(value: object) -> Any:  # noqa: ANN401  # any JSON value
    """The value as JSON has it: YAML knows dates and keys that are no text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_plain(child) for child in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
