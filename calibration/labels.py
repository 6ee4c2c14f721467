"""Labels beside the definitions that they are about: what the fit reads.

Labels are facts of this repository (LABELS, and the evidence of the newest calibration); definitions are third-party
text and come from folders outside it, found by inputHash.
"""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tdqs_mcp.facts.subject import Measured, Subject, measure
from tdqs_mcp.facts.toolset.coherence import ToolSet
from tdqs_mcp.judges.sentence_model import Aspect
from tdqs_mcp.model import Catalog, read_tools
from tdqs_mcp.rubrics.rubric import load

LABELS = Path(__file__).parent
COMPONENTS = ("purpose", "guidelines", "limitations", "parameters", "examples", "length")
CODES = dict(zip("PUBRA", Aspect, strict=True))
"""The readers' letters for what a sentence tells."""

MOST_READ = 25
"""Sentences of a definition that the readers were shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Labeled:
    """Something with its labels; `group` is the server, which cross-validation never splits."""

    id: dict[str, str]
    group: str
    labels: tuple[int, ...]
    facts: Subject | ToolSet
    medians: tuple[int, ...] = ()
    """Of three judges, where there are three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A definition before and after one change, and the labels of both."""

    kind: str
    group: str
    tool: str
    before: Subject
    after: Subject
    labels_before: tuple[int, ...]
    labels: tuple[int, ...]


class Definitions:
    """The definitions of some folders: captured `catalogs/*.json`, and `tool_labels.jsonl` with definitions inside."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = folders

    @cached_property
    def catalogs(self) -> dict[str, Measured]:
        """The captured catalogs by server."""
        files = [file for folder in self.folders for file in sorted((folder / "catalogs").glob("*.json"))]
        return {file.stem: _measure_file(file) for file in files}

    @cached_property
    def measured(self) -> list[Measured]:
        """The tool sets of the captured catalogs and of public data sets."""
        sets = [row["tools"] for row in self.rows("coherence_labels.jsonl") if row["tools"]]
        sets += [part["tools"] for row in self.rows("livemcpbench/tools.json.gz") for part in row["tools"].values()]
        sets += [row["tools"] for row in self.rows("agentgauge/tool_definitions.json.gz")]
        return [*(measure(Catalog(server="", tools=read_tools(tools))) for tools in sets), *self.catalogs.values()]

    @cached_property
    def subjects(self) -> dict[str, Subject]:
        """Every definition by its inputHash."""
        found = {subject.signals.input_hash: subject for each in self.measured for subject in each.subjects}
        return found | {
            subject.signals.input_hash: subject
            for row in self.rows("tool_labels.jsonl")
            if row.get("definition") and (subject := alone(row["definition"], row.get("siblings") or ()))
        }

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        """The JSON lines of a file, or the members of its list, from each folder that has it."""
        for folder in self.folders:
            path = folder / name
            if path.exists():
                with gzip.open(path, "rt") if name.endswith(".gz") else path.open(encoding="utf-8") as lines:
                    yield from json.load(lines) if ".json." in name else map(json.loads, lines)


def alone(definition: Mapping[str, Any], siblings: Iterable[str]) -> Subject:
    """Return a definition among siblings of which only the names are known."""
    others = [{"name": name, "inputSchema": {"type": "object"}} for name in siblings]
    return measure(Catalog(server="", tools=read_tools([definition, *others]))).subjects[0]


def with_description(subject: Subject, description: str) -> Subject:
    """Return the tool with another description."""
    names = [name for name in subject.siblings.values() if name != subject.tool.name]
    return alone({**subject.tool.raw, "description": description}, names)


def tools(definitions: Definitions, evidence: Mapping[str, Any]) -> list[Labeled]:
    """The tools with six TDQS dimension scores whose definition is there."""
    rows = {row["inputHash"]: row for row in [*evidence["tools"], *_lines("tool_labels.jsonl")]}
    return [
        Labeled(
            id={key: row[key] for key in ("source", "server", "tool", "inputHash")},
            group=row["server"],
            labels=tuple(row["labels"]),
            facts=definitions.subjects[key],
        )
        for key, row in rows.items()
        if key in definitions.subjects
    ]


def unseen(definitions: Definitions) -> list[Labeled]:
    """Tools that nothing was made on, for figures only."""
    return [
        Labeled(
            id={key: row[key] for key in ("server", "tool", "inputHash")},
            group=row["server"],
            labels=tuple(row["labels"]),
            facts=definitions.subjects[row["inputHash"]],
        )
        for row in _lines("unseen_labels.jsonl")
        if row["inputHash"] in definitions.subjects
    ]


def edits(definitions: Definitions) -> list[Edit]:
    """Changed definitions to fit with: those of `edited_definitions.jsonl` in the folders, and ours."""
    keys = load("tdqs").keys
    by_id = {row["id"]: row for row in definitions.rows("tool_labels.jsonl")}
    found = []
    for row in definitions.rows("edited_definitions.jsonl"):
        before = definitions.subjects[by_id[row["of"]]["inputHash"]]
        labels = [tuple(row[when][key] for key in keys) for when in ("before", "after")]
        found.append(_edit(row["edit"], row["server"], before, row["description"], *labels))
    return [*found, *_our_edits("edits.jsonl", definitions)]


def unseen_edits(definitions: Definitions) -> list[Edit]:
    """Changed definitions of servers that nothing was made on, by writers who knew no kind that is fitted with."""
    return list(_our_edits("unseen_edits.jsonl", definitions))


def _our_edits(name: str, definitions: Definitions) -> Iterator[Edit]:
    for row in _lines(name):
        if row["inputHash"] in definitions.subjects:
            before = definitions.subjects[row["inputHash"]]
            text = before.tool.description or ""
            inserted = _inserted(row, definitions)
            if inserted is not None:
                description = f"{text[: row['at']]}{inserted}{text[row['at'] + row.get('cut', 0) :]}"
                yield _edit(row["edit"], row["server"], before, description, tuple(row["before"]), tuple(row["after"]))


def sentences(definitions: Definitions, edited: Sequence[Edit]) -> list[tuple[str, Subject, list[tuple[int, ...]]]]:
    """The server, the definition, and for each of its first sentences 0-2 for every aspect."""
    changed = {each.after.signals.input_hash: each.after for each in edited}
    found = []
    for row in _lines("sentence_labels.jsonl"):
        subject = definitions.subjects.get(row["inputHash"]) or changed.get(row["inputHash"])
        if subject is not None:
            found.append((row["server"], subject, [_codes(each) for each in row["labels"]]))
    return found


def written(definitions: Definitions) -> list[tuple[str, Subject, str, bool]]:
    """The server, the definition, a sentence that was written for it, and whether it is empty."""
    return [
        (row["server"], definitions.subjects[row["inputHash"]], row["text"], row["empty"])
        for row in _lines("written_sentences.jsonl")
        if row["inputHash"] in definitions.subjects
    ]


def servers(definitions: Definitions, evidence: Mapping[str, Any]) -> list[Labeled]:
    """The servers with four coherence scores, and the tool sets made of them."""
    inside = {row["server"]: row["tools"] for row in definitions.rows("coherence_labels.jsonl") if row["tools"]}
    found = []
    for row in (row for row in evidence["servers"] if "/set/" not in row["server"]):
        server = row["server"]
        if server in inside:
            measured = measure(Catalog(server=server, tools=read_tools(inside[server])))
        elif server in definitions.catalogs:
            measured = definitions.catalogs[server]
        else:
            continue
        labels = tuple(row["labels"])
        found.append(Labeled(id={"server": server}, group=server, labels=labels, facts=measured.tool_set()))
    return [*found, *(each for each, row in sets(definitions) if row["purpose"] == "tune")]


def sets(definitions: Definitions) -> Iterator[tuple[Labeled, dict[str, Any]]]:
    """The labeled tool sets whose definitions are there, some with tools renamed, copied, paraphrased or left out."""
    for row in _lines("set_labels.jsonl"):
        if all(tool["inputHash"] in definitions.subjects for tool in row["tools"]):
            tools = [_changed(definitions.subjects[tool["inputHash"]].tool.raw, tool) for tool in row["tools"]]
            facts = measure(Catalog(server=row["server"], tools=read_tools(tools))).tool_set()
            labels = tuple(row["scores"])
            yield Labeled(id={"server": row["set"]}, group=row["server"], labels=labels, facts=facts), row


def _changed(definition: Mapping[str, Any], tool: Mapping[str, Any]) -> dict[str, Any]:
    description = definition.get("description")
    if "changes" in tool:
        description = patched(description or "", tool["changes"])
    return {**definition, "name": tool.get("name", definition["name"]), "description": description}


def patched(text: str, changes: Sequence[tuple[int, int, str]]) -> str:
    """Return a text with other words in some places: the first and the last character of each, ascending."""
    for start, end, words in reversed(changes):
        text = f"{text[:start]}{words}{text[end:]}"
    return text


def components(definitions: Definitions) -> list[Labeled]:
    """The tools with the paper's six components: three judges' mean, in thirds, 3-15."""
    by_server = defaultdict(list)
    for row in definitions.rows("sail_dev.jsonl.gz"):
        if row["description_class"] != "version-ambiguous":
            by_server[row["source"], row["server"]].append(row)
    return [each for rows in by_server.values() for each in _judged(rows)]


def published(definitions: Definitions) -> list[tuple[dict[str, Any], Subject]]:
    """Tools with scores that the registry has published, for validation only."""
    return [
        (row, subject)
        for row in definitions.rows("published_scores.jsonl")
        if (subject := _published_subject(row, definitions))
    ]


def _published_subject(row: Mapping[str, Any], definitions: Definitions) -> Subject | None:
    if row.get("definition"):
        return alone(row["definition"], row.get("siblings") or ())
    subjects = definitions.catalogs[row["server"]].subjects if row["server"] in definitions.catalogs else ()
    return next((each for each in subjects if each.tool.name == row["tool"]), None)


def _lines(name: str) -> list[dict[str, Any]]:
    path = LABELS / name
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def _edit(
    kind: str, server: str, before: Subject, description: str, labels: tuple[int, ...], after: tuple[int, ...]
) -> Edit:
    return Edit(
        kind=kind,
        group=server,
        tool=before.tool.name,
        before=before,
        after=with_description(before, description),
        labels_before=labels,
        labels=after,
    )


def _inserted(row: Mapping[str, Any], definitions: Definitions) -> str | None:
    """The inserted words; those of a definition are named by its inputHash and a sentence's place or the characters."""
    if "from" not in row:
        return str(row["insert"])
    parts = []
    for source in row["from"]:
        if source["inputHash"] not in definitions.subjects:
            return None
        subject = definitions.subjects[source["inputHash"]]
        if "at" in source:
            parts.append((subject.tool.description or "")[slice(*source["at"])])
        else:
            parts.append(subject.prose.sentences[source["sentence"]])
    return str(row["insert"]).format(*parts)


def _codes(text: str) -> tuple[int, ...]:
    said = {code[0]: int(code[1]) for code in text.split() if code[0] in CODES}
    return tuple(said.get(letter, 0) for letter in CODES)


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
