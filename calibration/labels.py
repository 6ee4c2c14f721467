"""The labeled tools and servers with their definitions: what the fit reads, from labels or from a corpus folder."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tdqs_mcp.facts.subject import Measured, Subject, measure
from tdqs_mcp.facts.toolset.relations import ToolSet
from tdqs_mcp.model import Catalog, read_tools
from tdqs_mcp.rubrics.rubric import load

COMPONENTS = ("purpose", "guidelines", "limitations", "parameters", "examples", "length")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labeled:
    """Something with its labels; `group` is the server, which cross-validation never splits."""

    id: dict[str, str]
    group: str
    labels: tuple[int, ...]
    facts: Subject | ToolSet
    medians: tuple[int, ...] = ()
    """Of three judges, where there are three."""


class LabelFolder:
    """Labels in files beside the definitions that they are about."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._catalogs: dict[str, Measured] = {}

    def tools(self) -> list[Labeled]:
        """The tools with six TDQS dimension scores."""
        keys = load("tdqs").keys
        return [
            Labeled(
                id={
                    "source": row["source"],
                    "server": row["server"],
                    "tool": row["tool"],
                    "inputHash": row["inputHash"],
                },
                group=row["server"],
                labels=tuple(row["scores"][key] for key in keys),
                facts=self._subject(row),
            )
            for row in self.rows("tool_labels.jsonl")
        ]

    def servers(self) -> list[Labeled]:
        """The servers with four coherence scores."""
        keys = load("coherence").keys
        return [
            Labeled(
                id={"server": row["server"]},
                group=row["server"],
                labels=tuple(row["scores"][key] for key in keys),
                facts=self._set(row).tool_set(),
            )
            for row in self.rows("coherence_labels.jsonl")
        ]

    def components(self) -> list[Labeled]:
        """The tools with the paper's six components: three judges' mean, in thirds, 3-15."""
        by_server = defaultdict(list)
        for row in self.rows("sail_dev.jsonl.gz"):
            if row["description_class"] != "version-ambiguous":
                by_server[row["source"], row["server"]].append(row)
        return [each for rows in by_server.values() for each in _judged(rows)]

    def published(self) -> list[tuple[dict[str, Any], Subject]]:
        """Tools with scores that the registry has published, for validation only."""
        found = []
        for row in self.rows("published_scores.jsonl"):
            subject = self._subject(row)
            found.append((row, subject))
        return found

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        """The JSON lines of a file."""
        path = self._folder / name
        with gzip.open(path, "rt") if name.endswith(".gz") else path.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)

    def _subject(self, row: dict[str, Any]) -> Subject:
        if row.get("definition") is None:
            return next(each for each in self._catalog(row["server"]).subjects if each.tool.name == row["tool"])
        siblings = [{"name": name, "inputSchema": {"type": "object"}} for name in row.get("siblings") or []]
        return measure(Catalog(server="", tools=read_tools([row["definition"], *siblings]))).subjects[0]

    def _set(self, row: dict[str, Any]) -> Measured:
        if row["tools"] is None:
            return self._catalog(row["server"])
        return measure(Catalog(server=row["name"], tools=read_tools(row["tools"])))

    def _catalog(self, server: str) -> Measured:
        if server not in self._catalogs:
            self._catalogs[server] = _measure_file(self._folder / "catalogs" / f"{server}.json")
        return self._catalogs[server]


class CorpusFolder:
    """Captured catalogs, with the labels that the shipped evidence has for their definitions."""

    def __init__(self, folder: Path, evidence: Mapping[str, Any]) -> None:
        self._labels = {row["inputHash"]: row for row in evidence["tools"]}
        self._set_labels = {row["server"]: row["labels"] for row in evidence["servers"]}
        files = sorted((folder / "catalogs").glob("*.json"))
        self._catalogs = {file.stem: _measure_file(file) for file in files}

    def tools(self) -> list[Labeled]:
        """The captured tools whose `inputHash` has six TDQS dimension scores."""
        return [
            Labeled(
                id={key: row[key] for key in ("source", "server", "tool", "inputHash")},
                group=row["server"],
                labels=tuple(row["labels"]),
                facts=subject,
            )
            for measured in self._catalogs.values()
            for subject in measured.subjects
            if (row := self._labels.get(subject.signals.input_hash))
        ]

    def servers(self) -> list[Labeled]:
        """The captured servers with four coherence scores."""
        return [
            Labeled(id={"server": server}, group=server, labels=tuple(labels), facts=measured.tool_set())
            for server, measured in self._catalogs.items()
            if (labels := self._set_labels.get(server))
        ]


def _measure_file(file: Path) -> Measured:
    document = json.loads(file.read_text(encoding="utf-8"))
    return measure(Catalog(server=file.stem, tools=read_tools(document["tools"])))


def _judged(rows: list[dict[str, Any]]) -> Iterator[Labeled]:
    definitions = [
        {
            "name": row["tool"],
            "description": row["description"],
            "inputSchema": row["input_schema"] or {"type": "object"},
            "annotations": row["annotations"],
        }
        for row in rows
    ]
    for subject in measure(Catalog(server="", tools=read_tools(definitions))).subjects:
        row = rows[subject.tool.index]
        yield Labeled(
            id={"source": row["source"], "server": row["server"], "tool": row["tool"]},
            group=row["server"],
            labels=tuple(round(3 * row["mean3"][component]) for component in COMPONENTS),
            medians=tuple(int(row["median3"][component]) for component in COMPONENTS),
            facts=subject,
        )
