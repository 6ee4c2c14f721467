"""Files that people give beside definitions: an author's material, queries, and what studies are about."""

import csv
import gzip
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeGuard

import yaml
from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from tdqs_mcp.canonical import pretty_json
from tdqs_mcp.errors import InputError, UnmeasurableError, fault_message
from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.json_text import parse_json
from tdqs_mcp.model import CallOutcome, Catalog, Fact, Material, Trace
from tdqs_mcp.results.checks import PlannedCall, Query
from tdqs_mcp.sources.files import read_bytes, read_catalog, read_text

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
            key: _answer(value, f"{origin}: answer {key!r}")
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


def _answer(value: object, where: str) -> str:
    """An answer's text, with a leading `!` for `{text: …, confirm: true}`."""
    if isinstance(value, Mapping) and value.keys() <= {"text", "confirm"} and "text" in value:
        return f"{'!' * (value.get('confirm') is True)}{_words(value['text'], where)}"
    return _words(value, where)


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


QUERIES_SHAPE = "a list of {query, tool} or {query, calls}, as JSON, JSON Lines or YAML"


def read_queries(path: Path) -> list[Query]:
    """The queries in a file, in its order. Raises InputError, which says which entry cannot be used."""
    origin = repr(str(path))
    text = read_text(path)
    data: object = _lines(text)
    data = parse_text(text, origin=origin) if data is None else data
    return parse_queries(
        data.get("queries") if isinstance(data, Mapping) and "queries" in data else data, origin=origin
    )


def parse_queries(data: object, *, origin: str) -> list[Query]:
    """The queries of JSON. Raises InputError, which says which entry cannot be used."""
    entries = [data] if isinstance(data, Mapping) else data
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
    calls = entry.get("calls")
    if calls == [] and entry.get("tool"):  # of a report: only the end of the plan is known
        calls = None
    if calls is not None:
        if not isinstance(calls, list) or not all(map(_is_planned, calls)):
            raise InputError(f"{origin} has calls that are not a list of {{tool, arguments}}")
        entry = {**entry, "tool": calls[-1]["tool"] if calls else "-"}
    for key in ("query", "tool"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise InputError(f"{origin} has no {key}: give it as a text that is not empty")
    server, withheld = entry.get("server"), entry.get("withheld") or []
    if server is not None and not isinstance(server, str):
        raise InputError(f"{origin} has a server that is not text")
    if not isinstance(withheld, list):
        raise InputError(f"{origin} has withheld words that are not a list")
    also, optional, kind = entry.get("also") or [], entry.get("optional") or [], entry.get("kind")
    if not isinstance(also, list) or not isinstance(optional, list):
        raise InputError(f"{origin} has also or optional tools that are not a list")
    return Query(
        text=entry["query"],
        tool="" if calls == [] else entry["tool"],
        server=server,
        withheld=tuple(map(str, withheld)),
        calls=tuple(PlannedCall(tool=call["tool"], arguments=call.get("arguments") or {}) for call in calls or ()),
        also=tuple(map(str, also)),
        optional=tuple(map(str, optional)),
        kind=kind if isinstance(kind, str) else None,
    )


def _is_planned(call: object) -> bool:
    return (
        isinstance(call, Mapping)
        and isinstance(call.get("tool"), str)
        and bool(call["tool"].strip())
        and isinstance(call.get("arguments") or {}, Mapping)
    )


def read_calls(path: Path) -> list[Mapping[str, Any]]:
    """The calls in a router's log, in order; none of another file of JSON Lines. Raises InputError."""
    return [row for _, row in _objects(read_text(path), path) if row.get("event") == CALL]


def read_runs(path: Path) -> list[list[str]]:
    """The tools whose calls succeeded in each session of a router's log, in order. Raises InputError."""
    sessions: dict[str, list[str]] = {}
    for row in read_calls(path):
        if row.get("success") is True:
            sessions.setdefault(str(row.get("session")), []).append(str(row.get("tool")))
    if not sessions:
        raise InputError(f"{str(path)!r} has no call that succeeded; record some with route --log-calls")
    return list(sessions.values())


def read_plan_answers(path: Path) -> dict[str, Mapping[str, Any]]:
    """The plans of an agent elsewhere by the ids of its prompts, of JSON Lines {id, calls}. Raises InputError."""
    answers = {}
    for place, row in read_json_rows(read_text(path), path):
        if not isinstance(row.get("id"), str):
            raise InputError(f"{place} of {str(path)!r} has no id: give it as --prompts wrote it")
        answers[row["id"]] = row
    return answers


COLUMNS = "task, model, variant and success, and where known domain, evaluators_passed, evaluators_total, steps"
"""The columns of outcomes, for messages."""

MAX_NAMED = 5
"""Reasons in one message."""

Text = Annotated[str, Field(min_length=1)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class TaskRun(BaseModel):
    """A task as a model did it with a variant of the descriptions."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True, str_strip_whitespace=True)

    task: Text
    model: Text
    variant: Text = Field(validation_alias=AliasChoices("variant", "condition"))
    success: Annotated[
        bool, BeforeValidator(lambda value: value.removesuffix(".0") if isinstance(value, str) else value)
    ]
    """Whether all evaluators pass; a column with gaps may have been written as 1.0 and 0.0."""

    domain: str = ""
    passed: int | None = Field(None, ge=0, validation_alias="evaluators_passed")
    total: int | None = Field(None, ge=1, validation_alias=AliasChoices("evaluators_total", "evaluator_count"))
    steps: Amount | None = None
    experiment: str = Field("", validation_alias=AliasChoices("experiment", "from"))
    """Only variants of one experiment are compared."""

    @model_validator(mode="after")
    def _check_counts(self) -> "TaskRun":
        if (self.passed is None) != (self.total is None) or (self.passed or 0) > (self.total or 0):
            raise ValueError("evaluators_passed must come with evaluators_total, and be at most as many")
        return self

    @property
    def score(self) -> float | None:
        """Share of the evaluators that pass."""
        return None if self.passed is None or not self.total else self.passed / self.total


def read_outcomes(path: Path) -> list[TaskRun]:
    """The rows of a CSV, JSON Lines or Parquet file. Raises InputError that names the lines that cannot be used."""
    origin = repr(str(path))
    runs: list[TaskRun] = []
    wrong: dict[str, list[str]] = {}
    places: dict[tuple[str, ...], str] = {}
    for place, row in _rows(path):
        try:
            run = TaskRun.model_validate(row)
        except ValidationError as error:
            wrong.setdefault(_reason(error), []).append(place)
            continue
        first_place = places.setdefault((run.experiment, run.variant, run.model, run.domain, run.task), place)
        if first_place == place:
            runs.append(run)
        else:
            wrong.setdefault(f"the same task, model, domain and variant as {first_place}", []).append(place)
    if wrong:
        sentences = [
            f"{first}{f' and {len(repeats)} more' if repeats else ''}: {reason}"
            for reason, (first, *repeats) in list(wrong.items())[:MAX_NAMED]
        ]
        raise InputError(f"{origin} has rows that cannot be used: {'; '.join(sentences)}. A row has {COLUMNS}")
    if not runs:
        raise InputError(f"{origin} has no rows; give {COLUMNS}")
    return runs


def _reason(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    column, message = "".join(map(str, first["loc"][:1])), fault_message(first)
    if first["type"] == "missing":
        return f"no {column}"
    return f"{column}: {message}" if column else message


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each row with its place; what is empty is left out."""
    if path.suffix == ".parquet":
        return _parquet_rows(path)
    text = read_text(path)
    return read_json_rows(text, path) if text.lstrip()[:1] in ("{", "[") else _csv_rows(text, path)


def read_json_rows(text: str, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each object of JSON Lines with its place; of a router's log, its calls. Raises InputError."""
    for number, row in _objects(text, path):
        if "event" not in row:
            yield f"line {number}", row
        elif row["event"] == CALL:
            yield f"line {number}", _as_run(row, number)


def _objects(text: str, path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The object on each line with the line's number, without members that say nothing. Raises InputError."""
    for number, line in enumerate(text.split("\n"), start=1):  # U+2028 may stand in a text of JSON
        if line.strip():
            origin = f"line {number} of {str(path)!r}"
            data = parse_json(line.encode(), origin=origin)
            if not isinstance(data, Mapping):
                raise InputError(f"{origin} is not an object; a row has {COLUMNS}")
            yield number, {name: value for name, value in data.items() if value is not None and value != ""}


def _csv_rows(text: str, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text), strict=True)
    try:
        if len(set(names := reader.fieldnames or ())) < len(names):
            raise InputError(f"{str(path)!r} has a column twice; leave one of them out")
        for row in reader:
            if None in row or None in row.values():
                raise InputError(
                    f"line {reader.line_num} of {str(path)!r} has more or fewer values than the first line"
                )
            yield f"line {reader.line_num}", {name: value for name, value in row.items() if value.strip()}
    except csv.Error as error:
        raise InputError(f"line {reader.line_num} of {str(path)!r} is not CSV: {error}") from error


def _parquet_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415  # an extra that most installations go without
    except ImportError as error:
        raise InputError(
            "Parquet needs pyarrow: pip install '.[study]' in a checkout of tdqs-mcp, or give CSV or JSON Lines"
        ) from error
    try:
        rows = parquet.read_table(io.BytesIO(read_bytes(path))).to_pylist()
    except ArrowException as error:
        raise InputError(f"{str(path)!r} is not Parquet that can be read: {error}") from error
    for number, row in enumerate(rows, start=1):
        yield f"row {number}", {name: value for name, value in row.items() if value is not None}


def _as_run(call: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    """A call in the router's log: each is a task of its own, its tool the domain, its client the model."""
    run = {"task": f"call {number}", "model": call.get("client") or "unnamed client", "domain": call.get("tool")}
    return {**run, **{name: call[name] for name in ("variant", "success") if name in call}}


class Call(NamedTuple):
    """A recorded call of a benchmark's agent."""

    task: str
    server: str
    tool: str
    is_failed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """The files of LiveMCPBench: what its servers offer, whom humans would ask, and how an agent's calls went."""

    catalogs: tuple[Catalog, ...]
    queries: tuple[Query, ...]
    calls: tuple[Call, ...]


_FAILED = re.compile(r'\ATool call timed out|"isError": true|isError=True\Z')
"""An answer of the benchmark's proxy: it timed out, or its own or the server's result is an error.

Quotes inside the server's text are escaped there."""


class RecordedChoice(NamedTuple):
    """A recorded choice of an agent that saw one variant of a server's definitions."""

    server: str
    variant: str
    tool: str
    """The tool that is right."""

    is_right: bool
    satisfied: float
    """Share of the constraints on its arguments that are met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceBenchmark:
    """The files of AgentGauge: variants of servers' definitions, and which tools agents chose with each."""

    catalogs: tuple[Catalog, ...]
    """The variants with definitions, named as such."""

    choices: tuple[RecordedChoice, ...]
    """Choices with these variants."""

    paired: tuple[RecordedChoice, ...]
    """Choices for equal tasks with two variants, whose definitions need not be among the catalogs."""


def read_benchmark(folder: Path) -> Benchmark | ChoiceBenchmark:
    """The benchmark in a folder, told by its files, each of them plain or as .gz. Raises InputError."""
    is_agentgauge = any((folder / f"{PAIRED}{ending}").is_file() for ending in ("", ".gz"))
    return _read_agentgauge(folder) if is_agentgauge else _read_livemcpbench(folder)


PAIRED = "live_calls.jsonl"
"""The raw calls of AgentGauge's paired experiment."""


def _read_agentgauge(folder: Path) -> ChoiceBenchmark:
    """live_calls.jsonl, outcomes.ndjson and tool_definitions.json. Variants of a server have tools of equal names."""
    try:
        definitions = {entry["name"]: entry["tools"] for entry in _load(folder, "tool_definitions.json")}
        homes: dict[frozenset[str], str] = {}
        servers = {
            name: homes.setdefault(frozenset(tool["name"] for tool in tools), name)
            for name, tools in definitions.items()
        }
        runs = [run for run in _load_lines(folder, "outcomes.ndjson") if not run.get("error")]
        return ChoiceBenchmark(
            catalogs=tuple(read_catalog({"tools": tools}, name=name) for name, tools in definitions.items()),
            choices=tuple(
                _choice(servers[run["name"]], run["name"], call["task_tool_name"], call)
                for run in runs
                for call in run["run_results"]
            ),
            paired=tuple(
                _choice(call["fixture"], call["variant"], call["tool_name"], call)
                for call in _load_lines(folder, PAIRED)
            ),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{str(folder)!r} does not have the format of AgentGauge's files: {error!r}") from error


def _choice(server: str, variant: str, tool: str, call: Mapping[str, Any]) -> RecordedChoice:
    return RecordedChoice(server, variant, tool, call["selected_tool"] == tool, float(call["constraint_satisfaction"]))


def _read_livemcpbench(folder: Path) -> Benchmark:
    """tools.json, steps.jsonl and trajectories.json."""
    try:
        catalogs = tuple(
            read_catalog({"tools": tool["tools"]}, name=name)
            for entry in _load(folder, "tools.json")
            for name, tool in entry["tools"].items()
        )
        calls = tuple(call for run in _load(folder, "trajectories.json") for call in _calls(run))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{str(folder)!r} does not have the format of LiveMCPBench's tools.json and trajectories.json: {error!r}"
        ) from error
    return Benchmark(catalogs=catalogs, queries=tuple(read_queries(folder / "steps.jsonl")), calls=calls)


def _load(folder: Path, name: str) -> Any:  # noqa: ANN401  # foreign JSON
    return parse_json(_content(folder, name), origin=repr(str(folder / name)))


def _load_lines(folder: Path, name: str) -> list[Mapping[str, Any]]:
    return [row for _, row in _objects(_content(folder, name).decode(), folder / name)]


def _content(folder: Path, name: str) -> bytes:
    path = next((candidate for candidate in (folder / name, folder / f"{name}.gz") if candidate.is_file()), None)
    if path is None:
        raise InputError(f"{str(folder)!r} has neither {name} nor {name}.gz, as LiveMCPBench or AgentGauge have")
    content = read_bytes(path)
    try:
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except (OSError, EOFError) as error:
        raise InputError(f"{str(path)!r} is not gzip that can be read: {error}") from error


def _calls(run: Mapping[str, Any]) -> Iterator[Call]:
    """The calls of tools in one task's messages, each with its answer."""
    answers = {
        message["tool_call_id"]: str(message["content"]) for message in run["messages"] if message["role"] == "tool"
    }
    for message in run["messages"]:
        for call in message.get("tool_calls") or ():
            function = call["function"]
            if function["name"] != "execute-tool" or call["id"] not in answers:
                continue
            try:
                arguments = json.loads(function["arguments"])
            except ValueError:
                continue
            failed = bool(_FAILED.search(answers[call["id"]]))
            yield Call(run["task_id"], str(arguments.get("server_name")), str(arguments.get("tool_name")), failed)
