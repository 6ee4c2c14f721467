"""The labelled tools and servers with their definitions, as subjects: what the fit reads."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tdqs_mcp.facts.catalog.relations import ToolSet
from tdqs_mcp.facts.subject import Measured, Subject, measure
from tdqs_mcp.model.catalog import Catalog, read_tools
from tdqs_mcp.rubrics.rubric import load

COMPONENTS = ("purpose", "guidelines", "limitations", "parameters", "examples", "length")


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """Something with its labels; `group` is the server, which cross-validation never splits."""

    id: dict[str, str]
    group: str
    labels: tuple[int, ...]
    facts: Subject | ToolSet
    medians: tuple[int, ...] = ()
    """Of three judges, where there are three."""


class Data:
    """The shared data, read where it lies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._catalogs: dict[str, Measured] = {}

    def tools(self) -> list[Labelled]:
        """The tools with six TDQS dimension scores."""
        keys = load("tdqs").keys
        return [
            Labelled(
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

    def servers(self) -> list[Labelled]:
        """The servers with four coherence scores."""
        keys = load("coherence").keys
        return [
            Labelled(
                id={"server": row["server"]},
                group=row["server"],
                labels=tuple(row["scores"][key] for key in keys),
                facts=self._set(row).tool_set(),
            )
            for row in self.rows("coherence_labels.jsonl")
        ]

    def components(self) -> list[Labelled]:
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
            document = json.loads((self._folder / "catalogs" / f"{server}.json").read_text(encoding="utf-8"))
            self._catalogs[server] = measure(Catalog(server=server, tools=read_tools(document["tools"])))
        return self._catalogs[server]


def _judged(rows: list[dict[str, Any]]) -> Iterator[Labelled]:
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
        yield Labelled(
            id={"source": row["source"], "server": row["server"], "tool": row["tool"]},
            group=row["server"],
            labels=tuple(round(3 * row["mean3"][component]) for component in COMPONENTS),
            medians=tuple(int(row["median3"][component]) for component in COMPONENTS),
            facts=subject,
        )
