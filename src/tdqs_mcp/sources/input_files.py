"""An author's material from a file or a call, in JSON or YAML."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import yaml

from tdqs_mcp.canonical import pretty_json
from tdqs_mcp.errors import InputError, UnmeasurableError
from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.model import CallOutcome, Fact, Material, Trace
from tdqs_mcp.results.checks import Query
from tdqs_mcp.sources.files import read_text

if TYPE_CHECKING:
    from numpy import ndarray

MAX_YAML = 2**20
"""Characters that are read as YAML, a few seconds' work; larger files come from programs, which write JSON."""


def parse_text(text: str, *, origin: str) -> object:
    """The value of JSON, else of YAML without anchors. Raises InputError that names line and column."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise InputError(f"{origin} nests too deep to be read") from error
    except ValueError as error:
        if len(text) > MAX_YAML:
            raise InputError(f"{origin} is not valid JSON, and too large to be read as YAML: {error}") from error
    try:
        return yaml.load(text, Loader=_Plain)  # noqa: S506  # a SafeLoader
    except RecursionError as error:
        raise InputError(f"{origin} nests too deep to be read") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = "" if mark is None else f" at line {mark.line + 1}, column {mark.column + 1}"
        reason = getattr(error, "problem", None) or "it holds a character that no text has"
        raise InputError(f"{origin} is neither JSON nor YAML: correct it{place}: {reason}") from error


class _Plain(yaml.SafeLoader):
    """YAML as JSON could say it: a few references to each other would make a file fill any memory."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # untyped in PyYAML's stubs
        if getattr(event, "anchor", None) is not None:
            raise yaml.composer.ComposerError(None, None, "anchors and aliases are not read", event.start_mark)
        return super().compose_node(parent, index)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:  # noqa: FBT001, FBT002  # PyYAML's own
        try:
            return super().construct_object(node, deep)
        except ValueError as error:  # an impossible date or number
            raise yaml.constructor.ConstructorError(None, None, str(error), node.start_mark) from error


MAX_ENTRIES = 10_000
"""Facts or traces of one file."""

MATERIAL_SHAPE = (
    "{answers: {question id: text}, annotations: {tool: {hint: true or false}}, parameters: {tool: {parameter: text}}, "
    "facts: [statement or {tool, fact}], traces: [{tool, arguments, result or error}], docs: text}, every key optional"
)
"""The format in one line, for messages."""


def read_material(path: Path) -> Material:
    """The material in a file, or in a router's log of calls. Raises InputError, which says where it is wrong."""
    origin, text = repr(str(path)), read_text(path)
    document = _lines(text) or parse_text(text, origin=origin)
    calls = [line for line in (document if isinstance(document, list) else [document]) if _is_call(line)]
    if calls:
        document = {"traces": [call for call in calls if "result" in call or "error" in call]}
    return parse_material(document, origin=origin)


CALL = "tools/call"
"""The event of a line in a router's log that tells how a call ended, as MCP names the method."""


def _is_call(line: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(line, Mapping) and line.get("event") == CALL


def parse_material(document: object, *, origin: str = "the material", tool: str | None = None) -> Material:
    """The material in parsed JSON or YAML, all of it about one tool where that is named.

    Raises InputError, which says where it is wrong and what the format is.
    """
    if not isinstance(document, Mapping):
        raise InputError(f"{origin} is not an object; its format is {MATERIAL_SHAPE}")
    unknown = [key for key in document if key not in _KEYS]
    if unknown:
        raise InputError(f"{origin} has an unknown key {unknown[0]!r}; its format is {MATERIAL_SHAPE}")
    docs = document.get("docs") or ""
    if not isinstance(docs, str):
        raise InputError(f"{origin}: docs must be a text")
    facts = _entries(document, "facts", origin)
    traces = _entries(document, "traces", origin)
    return Material(
        facts=tuple(_fact(number, entry, origin, tool) for number, entry in enumerate(facts, 1)),
        traces=tuple(_trace(number, entry, origin, tool) for number, entry in enumerate(traces, 1)),
        docs=docs,
        answers={
            key: _words(value, f"{origin}: answer {key!r}")
            for key, value in _members(document.get("answers"), f"{origin}: answers")
        },
        annotations={
            name: _hints(value, f"{origin}: annotations of {name!r}")
            for name, value in _members(document.get("annotations"), f"{origin}: annotations")
        },
        parameters={
            name: {
                key: _words(text, f"{origin}: parameter {key!r} of {name!r}")
                for key, text in _members(value, f"{origin}: parameters of {name!r}")
            }
            for name, value in _members(document.get("parameters"), f"{origin}: parameters")
        },
    )


_KEYS = ("answers", "annotations", "parameters", "facts", "traces", "docs")


def _members(document: object, origin: str) -> list[tuple[str, Any]]:
    """The members of an object; none where it is left out."""
    if document is None:
        return []
    if not isinstance(document, Mapping):
        raise InputError(f"{origin} must be an object; the format is {MATERIAL_SHAPE}")
    if len(document) > MAX_ENTRIES:
        raise InputError(f"{origin} has more than {MAX_ENTRIES} members")
    return [(str(name), value) for name, value in document.items()]


def _words(value: object, origin: str) -> str:
    """A text; YAML makes values of yes, no, numbers and dates."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = "" if value is None or isinstance(value, Mapping | list) else str(value).strip()
    if not text:
        raise InputError(f"{origin} must be a text that is not empty")
    return text


def _hints(document: object, origin: str) -> dict[str, bool]:
    hints = dict(_members(document, origin))
    for name, value in hints.items():
        if name not in HINTS or not isinstance(value, bool):
            raise InputError(f"{origin} must be true or false for {', '.join(HINTS)}")
    return hints


def _entries(document: Mapping[str, Any], key: str, origin: str) -> list[Any]:
    entries = document.get(key)
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise InputError(f"{origin}: {key} must be a list; the format is {MATERIAL_SHAPE}")
    if len(entries) > MAX_ENTRIES:
        raise InputError(f"{origin}: {len(entries)} {key} are more than {MAX_ENTRIES}")
    return entries


def _fact(number: int, entry: object, origin: str, tool: str | None) -> Fact:
    if isinstance(entry, str) and entry.strip():
        return Fact(number=number, text=entry.strip(), tool=tool)
    if tool is not None:
        raise InputError(f"{origin}: fact {number} must be a statement")
    if isinstance(entry, Mapping) and entry.keys() == {"tool", "fact"} and all(map(_is_text, entry.values())):
        return Fact(number=number, text=entry["fact"].strip(), tool=entry["tool"])
    raise InputError(f"{origin}: fact {number} must be a statement, or {{tool, fact}} for a statement about one tool")


def _trace(number: int, entry: object, origin: str, tool: str | None) -> Trace:
    about = entry.get("tool") if tool is None and isinstance(entry, Mapping) else tool
    if not isinstance(entry, Mapping) or not _is_text(about) or ("result" in entry) == ("error" in entry):
        named = "tool, " if tool is None else ""
        raise InputError(f"{origin}: trace {number} must have {named}arguments and either result or error")
    arguments = entry.get("arguments") or {}
    if not isinstance(arguments, Mapping):
        raise InputError(f"{origin}: the arguments of trace {number} must be an object")
    answer = entry["error"] if "error" in entry else entry["result"]
    try:
        text = answer if isinstance(answer, str) else pretty_json(_plain(answer))
    except (RecursionError, UnmeasurableError) as error:
        raise InputError(f"{origin}: the answer of trace {number} nests too deep; give a part of it") from error
    outcome = CallOutcome.SUCCESS if has_content(answer) else CallOutcome.EMPTY
    outcome = CallOutcome.ERROR if "error" in entry else outcome
    return Trace(number=number, tool=str(about), arguments=arguments, outcome=outcome, answer=text)


def add_answers(text: str, answers: Mapping[str, str], *, origin: str) -> str:
    """The text of a material file with more answers; comments of YAML stay. Raises InputError."""
    data = parse_text(text, origin=origin) if text.strip() else {}
    parse_material(data, origin=origin)
    document = dict(data) if isinstance(data, Mapping) else {}
    material = {**document, "answers": {**(document.get("answers") or {}), **answers}}
    try:
        json.loads(text)
    except ValueError:
        is_new = not answers.keys() & (document.get("answers") or {}).keys()
        new = _with_answers(text, answers)
        return new if is_new and parse_text(new, origin=origin) == material else _yaml(material)
    return json.dumps(material, indent=2, ensure_ascii=False) + "\n"


_ANSWERS = re.compile(r"^answers:[ \t]*(?:#.*)?\n(?P<entries>(?:[ \t]+\S.*\n|[ \t]*\n)*)", re.MULTILINE)


def _with_answers(text: str, answers: Mapping[str, str]) -> str:
    """YAML with more lines at the end of `answers`, or with that key at its end."""
    whole = f"{text.rstrip()}\n" if text.strip() else ""
    match = _ANSWERS.search(whole)
    entries = match["entries"].rstrip() if match else ""
    indent = entries[: len(entries) - len(entries.lstrip())] or "  "
    lines = "".join(f"{indent}{line}\n" for line in _yaml(answers).splitlines())
    if match is None:
        return f"{whole}answers:\n{lines}"
    end = match.start("entries") + len(entries)
    return whole[:end] + ("\n" if entries else "") + lines + whole[end:].removeprefix("\n")


def _yaml(value: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=MAX_YAML))


def has_content(answer: object) -> bool:
    """Return whether anything stands in a result: an empty list inside an object is an empty answer too."""
    if isinstance(answer, Mapping):
        return any(map(has_content, answer.values()))
    if isinstance(answer, list):
        return any(map(has_content, answer))
    return answer is not None and answer != ""


def _plain(value: object) -> Any:  # noqa: ANN401  # any JSON value
    """The value as JSON has it: YAML knows dates and keys that are not text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_plain(child) for child in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


QUERIES_SHAPE = "a list of {query, tool}, as JSON, JSON Lines or YAML"


def read_queries(path: Path) -> list[Query]:
    """The queries in a file, in its order. Raises InputError, which says which entry cannot be used."""
    origin = repr(str(path))
    text = read_text(path)
    data: object = _lines(text)
    data = parse_text(text, origin=origin) if data is None else data
    entries = data.get("queries") if isinstance(data, Mapping) and "queries" in data else data
    entries = [entries] if isinstance(entries, Mapping) else entries
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{origin} holds no queries; give {QUERIES_SHAPE}")
    return [_query(entry, f"query {number} in {origin}") for number, entry in enumerate(entries, start=1)]


def _lines(text: str) -> list[object] | None:
    """The values of a text that has one on each of several lines; None for any other."""
    lines = [line for line in text.splitlines() if line.strip()]
    try:
        return [json.loads(line) for line in lines] if len(lines) > 1 else None
    except (ValueError, RecursionError):
        return None


def _query(entry: object, origin: str) -> Query:
    if not isinstance(entry, Mapping):
        raise InputError(f"{origin} is not an object with query and tool")
    for key in ("query", "tool"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise InputError(f"{origin} has no {key}: give it as a text that is not empty")
    server, withheld = entry.get("server"), entry.get("withheld") or []
    if server is not None and not isinstance(server, str):
        raise InputError(f"{origin} has a server that is not text")
    if not isinstance(withheld, list):
        raise InputError(f"{origin} has withheld words that are not a list")
    return Query(text=entry["query"], tool=entry["tool"], server=server, withheld=tuple(map(str, withheld)))


def read_embeddings(folder: Path) -> "Callable[[Sequence[str]], ndarray[Any, Any]]":
    """Return a function from texts to vectors of length 1, by the model2vec model in a folder; nothing is downloaded.

    Raises InputError without that package and for a folder without such a model.
    """
    try:
        from model2vec import StaticModel  # noqa: PLC0415  # an extra that most installations go without
    except ImportError as error:
        raise InputError("embeddings need a package more: pip install 'tdqs-mcp[embeddings]'") from error
    if not (folder / "config.json").is_file():
        raise InputError(f"{str(folder)!r} holds no model2vec model: it has no config.json")
    try:
        model = StaticModel.from_pretrained(folder, normalize=True, force_download=False)
    except Exception as error:  # the package and those that it builds on raise whatever a broken file leads them to
        raise InputError(f"{str(folder)!r} holds no model2vec model that can be read: {error}") from error
    return lambda texts: model.encode(texts, use_multiprocessing=False)
