"""Input files of studies: outcomes of tasks, and a benchmark with its tools, human steps and recorded calls."""

import csv
import gzip
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from tdqs_mcp.errors import InputError, fault_message
from tdqs_mcp.json_text import parse_json
from tdqs_mcp.model import Catalog
from tdqs_mcp.results.checks import Query
from tdqs_mcp.sources.files import read_bytes, read_catalog, read_text
from tdqs_mcp.sources.input_files import CALL, read_queries

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
    column, message = "".join(map(str, first["loc"][:1])), fault_message(first["msg"])
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
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        row = _object(line, f"line {number} of {str(path)!r}")
        if "event" not in row:
            yield f"line {number}", row
        elif row["event"] == CALL:
            yield f"line {number}", _as_run(row, number)


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
            "Parquet needs one more package: pip install 'tdqs-mcp[study]', or give CSV or JSON Lines"
        ) from error
    try:
        rows = parquet.read_table(io.BytesIO(read_bytes(path))).to_pylist()
    except ArrowException as error:
        raise InputError(f"{str(path)!r} is not Parquet that can be read: {error}") from error
    for number, row in enumerate(rows, start=1):
        yield f"row {number}", {name: value for name, value in row.items() if value is not None}


def _object(line: str, origin: str) -> Mapping[str, Any]:
    data = parse_json(line.encode(), origin=origin)
    if not isinstance(data, Mapping):
        raise InputError(f"{origin} is not an object; a row has {COLUMNS}")
    return {name: value for name, value in data.items() if value is not None and value != ""}


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


def read_benchmark(folder: Path) -> Benchmark:
    """tools.json, steps.jsonl and trajectories.json of a folder, each of them plain or as .gz. Raises InputError."""
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
    path = next((candidate for candidate in (folder / name, folder / f"{name}.gz") if candidate.is_file()), None)
    if path is None:
        raise InputError(f"{str(folder)!r} has neither {name} nor {name}.gz; it must be a folder of LiveMCPBench")
    content = read_bytes(path)
    try:
        return parse_json(gzip.decompress(content) if path.suffix == ".gz" else content, origin=repr(str(path)))
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
