"""Fit a calibration of the offline judge: python calibration/fit.py FOLDER VERSION.

FOLDER has labels beside their definitions, or only the captured catalogs that capture_corpus.py writes: then the labels
come from the shipped evidence, by inputHash, and what the catalogs cannot give stays as it was. Writes the scorecards,
and the evidence, which is what their predictions of unseen servers were, below src/tdqs_mcp/judges/data.
"""

import datetime as dt
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from labels import COMPONENTS, CorpusFolder, Labeled, LabelFolder
from numpy.typing import NDArray
from plans import COHERENCE, SMELLS, TOOL
from scorecards import UNIT, Plan, Scorecard, Table, cross_validate, cuts, fit, scores, split, tabulate

from tdqs_mcp.canonical import round_half_up
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.toolset.relations import ToolSet
from tdqs_mcp.judges.features import of_set, of_tool, read_content
from tdqs_mcp.results.verdicts import Tier
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.judge_error import evidence as read_evidence

TARGET = Path(__file__).parent.parent / "src" / "tdqs_mcp" / "judges" / "data"
BANDS = 5
"""Ranges of latent TDQS whose errors are kept apart, with equally many labeled tools."""

QUANTILES = [(2 * step + 1) / 40 for step in range(20)]
"""Where an error distribution is read: every point stands for 5% of the tools."""

FOLDS = 10
MAX_LINE = 400
"""Characters after which a line of the evidence ends with the server."""

GUARD_SOURCE = (
    "label minus prediction on unseen servers (10-fold): above tdqs 3 of 1,401 tools, above coherence 1 of 136 servers "
    "(99th percentile), above smells 1% of 1,768 judgements of 509 tools by single judges; tampered is half a point"
)

LABEL_FILES = ("tool_labels.jsonl", "coherence_labels.jsonl", "sail_dev.jsonl.gz")

Fitted = tuple[dict[str, Any], list[dict[str, Any]], float, dict[str, Any]]
"""Scorecards by rubric, error bands, mean error, and the lists of the evidence."""


def main(folder: Path, version: str) -> None:
    """Fit everything that the folder has labels and definitions for, and write both files."""
    if (folder / LABEL_FILES[0]).exists():
        cards, bands, error, evidence = _fit_labels(LabelFolder(folder))
        labels = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest()[:16] for name in LABEL_FILES}
    else:
        base = _best_labeled()
        cards, bands, error, evidence = _fit_corpus(folder, base)
        labels = {f"evidence/{base}.json": hashlib.sha256(_path("evidence", base).read_bytes()).hexdigest()[:16]}
    written = {
        "calibration": version,
        "provenance": {
            "labels": labels,
            "script": "calibration/fit.py",
            "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
            "error": f"mean |delta TDQS| {error:.3f} before rounding, on unseen servers",
        },
        "unit": "thousandths of a score point; [threshold, points]: earned above the threshold",
        "guard": {"unit": "tenths above the estimate", "bound": _guard(evidence), "source": GUARD_SOURCE},
        "rubrics": cards,
        "bands": bands,
    }
    _write(_path("calibrations", version), written)
    _write_evidence(_path("evidence", version), version, evidence)


def _fit_labels(data: LabelFolder) -> Fitted:
    tools, components = data.tools(), data.components()
    cards, bands, error, evidence = _fit_both(tools, data.servers())
    component_rows, component_cards = _components(components, tabulate([_tool_facts(each) for each in components]))
    table = tabulate([_tool_facts(each) for each in tools])
    evidence |= {"components": component_rows, "published": _published(data, tools, table)}
    return {**cards, "smells": component_cards}, bands, error, evidence


def _fit_corpus(folder: Path, base: str) -> Fitted:
    """From captured definitions: smells and the comparison with published scores stay those of the base version."""
    shipped, evidence = json.loads(_path("calibrations", base).read_text("utf-8")), read_evidence(base)
    data = CorpusFolder(folder, evidence)
    tools, servers = data.tools(), data.servers()
    print(f"definitions for {len(tools)} of {len(evidence['tools'])} labeled tools, {len(servers)} labeled servers")
    cards, bands, error, fitted = _fit_both(tools, servers)
    kept = {key: evidence[key] for key in ("components", "published")}
    return {**cards, "smells": shipped["rubrics"]["smells"]}, bands, error, fitted | kept


def _fit_both(tools: Sequence[Labeled], servers: Sequence[Labeled]) -> Fitted:
    tool_rows, tool_cards, bands, latent = _tools(tools, tabulate([_tool_facts(each) for each in tools]))
    server_rows, server_cards = _rubric(servers, tabulate([_set_facts(each) for each in servers]), COHERENCE)
    error = float(np.abs(latent).mean() / UNIT)
    return {"tdqs": tool_cards, "coherence": server_cards}, bands, error, {"tools": tool_rows, "servers": server_rows}


def _best_labeled() -> str:
    """The shipped version whose evidence has the most labels."""
    files = (TARGET / "evidence").glob("*.json")
    return max(files, key=lambda file: len(json.loads(file.read_text("utf-8"))["tools"])).stem


def _path(kind: str, version: str) -> Path:
    return TARGET / kind / f"{version}.json"


def _tool_facts(labeled: Labeled) -> dict[str, int]:
    assert isinstance(labeled.facts, Subject)  # what tools() gives
    return of_tool(labeled.facts, read_content(labeled.facts))


def _set_facts(labeled: Labeled) -> dict[str, int]:
    assert isinstance(labeled.facts, ToolSet)
    return of_set(labeled.facts)


def _tools(
    tools: Sequence[Labeled], table: Table
) -> tuple[list[dict[str, Any]], dict[str, Any], list[dict[str, Any]], NDArray[np.float64]]:
    """Evidence, scorecards, error bands and the errors of the latent TDQS."""
    rows, cards = _rubric(tools, table, TOOL)
    weights = np.array([dimension.weight for dimension in load("tdqs").dimensions])
    latent = np.array([row.pop("latents") for row in rows]).clip(UNIT, 5 * UNIT) @ weights // 100
    labels = np.array([each.labels for each in tools]) @ weights * UNIT // 100
    errors = labels - latent
    bands = []
    edges = [int(np.quantile(latent, (band + 1) / BANDS)) for band in range(BANDS - 1)]
    held_out = np.zeros(len(tools), dtype=object)
    groups = np.array([each.group for each in tools])
    for lower, upper in zip([0, *edges], [*edges, 9 * UNIT], strict=True):
        inside = (lower <= latent) & (latent < upper)
        bands.append({"below": upper, "errors": [int(each) for each in np.quantile(errors[inside], QUANTILES)]})
        for fold in split(groups, FOLDS):
            seen = np.quantile(errors[inside & ~fold], QUANTILES)
            for position in np.flatnonzero(inside & fold):
                held_out[position] = [int(latent[position] + each) for each in seen]
    for row, each, likely, tool in zip(rows, latent, held_out, tools, strict=True):
        assert isinstance(tool.facts, Subject)
        row |= {
            "latent": int(each),
            **_odds(likely),
            "bytes": tool.facts.signals.definition_bytes,
            "language": tool.facts.prose.language,
            "hints": tool.facts.signals.has_hints,
        }
    return rows, cards, bands, errors


def _odds(likely: Sequence[int]) -> dict[str, list[int]]:
    """The middle 80% in tenths and the percent of every tier, from errors of other servers."""
    tenths = [max(10, min(50, (value + 50) // 100)) for value in likely]
    edges = [51, *(tier.floor for tier in Tier if tier is not Tier.F)]
    shares = [5 * sum(lower <= value < upper for value in tenths) for upper, lower in pairwise(edges)]
    return {"range": [tenths[2], tenths[-3]], "tiers": shares}


def _rubric(
    labeled: Sequence[Labeled], table: Table, plans: Mapping[str, Plan], *, scale: int = 1
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What unseen servers' cases were predicted to score, and the scorecards from all of them."""
    labels = np.array([each.labels for each in labeled])
    groups = np.array([each.group for each in labeled])
    latent = cross_validate(table, labels, groups, list(plans.values()), folds=FOLDS, scale=scale)
    predicted = np.zeros_like(labels)
    for fold in split(groups, FOLDS):
        for position in range(len(plans)):
            limits = cuts(latent[~fold, position], _scores(labels[~fold, position], scale))
            predicted[fold, position] = scores(latent[fold, position], limits)
    cards = {}
    for position, (key, plan) in enumerate(plans.items()):
        card = fit(table, labels[:, position] / scale, plan)
        card.cuts = cuts(latent[:, position], _scores(labels[:, position], scale))
        cards[key] = _card(card, table)
    rows = [
        {
            **each.id,
            "labels": [int(label) for label in each.labels],
            "predicted": [int(score) for score in predicted[position]],
            "latents": [int(value) for value in latent[position]],
        }
        for position, each in enumerate(labeled)
    ]
    return rows, cards


def _components(labeled: Sequence[Labeled], table: Table) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The paper's components; a score below 3 is a smell, so that cut is where F1 is best on other servers."""
    rows, cards = _rubric(labeled, table, SMELLS, scale=3)
    latent = np.array([row.pop("latents") for row in rows])
    smells = np.array([[median < 3 for median in each.medians] for each in labeled])
    groups = np.array([each.group for each in labeled])
    for position, key in enumerate(COMPONENTS):
        cards[key]["cuts"][1] = _smell_cut(latent[:, position], smells[:, position])
        cards[key]["cuts"] = sorted(cards[key]["cuts"])
        predicted = np.zeros(len(labeled), dtype=bool)
        for fold in split(groups, FOLDS):
            predicted[fold] = latent[fold, position] < _smell_cut(latent[~fold, position], smells[~fold, position])
        for row, each, is_smell in zip(rows, latent[:, position], predicted, strict=True):
            row.setdefault("latents", []).append(int(each))
            row.setdefault("smells", []).append(bool(is_smell))
    for row, each in zip(rows, labeled, strict=True):
        assert isinstance(each.facts, Subject)
        row |= {"medians": list(each.medians), "words": len((each.facts.tool.description or "").split())}
        del row["predicted"]
    return rows, cards


def _smell_cut(latent: NDArray[np.int64], smells: NDArray[np.bool_]) -> int:
    def f1(cut: int) -> float:
        hits = ((latent < cut) & smells).sum()
        return float(2 * hits / ((latent < cut).sum() + smells.sum()))

    return max((int(cut) for cut in np.quantile(latent, np.linspace(0.3, 1, 141))), key=f1)


def _published(data: LabelFolder, tools: Sequence[Labeled], table: Table) -> list[dict[str, Any]]:
    """The registry's own numbers beside predictions from fits that never saw the server."""
    labels = np.array([each.labels for each in tools])
    groups = np.array([each.group for each in tools])
    weights = np.array([dimension.weight for dimension in load("tdqs").dimensions])
    fits: dict[bytes, list[Scorecard]] = {}
    found = []
    for row, subject in data.published():
        held_out = next((fold for fold in split(groups, FOLDS) if row["server"] in groups[fold]), groups == "")
        if held_out.tobytes() not in fits:
            seen = {name: values[~held_out] for name, values in table.items()}
            latent = cross_validate(seen, labels[~held_out], groups[~held_out], list(TOOL.values()), folds=FOLDS)
            cards = [fit(seen, labels[~held_out, position], plan) for position, plan in enumerate(TOOL.values())]
            for position, card in enumerate(cards):
                card.cuts = cuts(latent[:, position], labels[~held_out, position])
            fits[held_out.tobytes()] = cards
        facts = tabulate([of_tool(subject, read_content(subject))])
        given = [int(scores(card.latent(facts), card.cuts)[0]) for card in fits[held_out.tobytes()]]
        published = [scoring["tdqs"] for scoring in row["scorings"] if scoring.get("tdqs") is not None]
        if published:
            found.append(
                {
                    "server": row["server"],
                    "tool": row["tool"],
                    "inputHash": subject.signals.input_hash,
                    "published": round(1000 * sum(published) / len(published)),
                    "predicted": int((20 * int(np.array(given) @ weights) + 100) // 200) * 100,
                }
            )
    return found


def _scores(labels: NDArray[np.int64], scale: int) -> NDArray[np.int64]:
    return (2 * labels + scale) // (2 * scale)


def _card(card: Scorecard, table: Table) -> dict[str, Any]:
    facts = list(dict.fromkeys(name.partition("|")[0] for name in card.steps))
    usual = {}
    for fact in facts:
        own = Scorecard(
            base=0, steps={name: each for name, each in card.steps.items() if name.partition("|")[0] == fact}
        )
        usual[fact] = round(float(own.latent(table).mean()))
    return {
        "base": card.base,
        "cuts": card.cuts,
        "usual": usual,
        "typical": {fact: int(np.median(table[fact])) for fact in facts},
        "steps": card.steps,
    }


def _guard(evidence: Mapping[str, Any]) -> dict[str, int]:
    """Tenths that a model's score may lie above the estimate; only the labels of tool sets say it by themselves."""
    sets = sorted(_mean_in_tenths(row["labels"]) - _mean_in_tenths(row["predicted"]) for row in evidence["servers"])
    return {"tdqs": 10, "tampered": 5, "coherence": sets[99 * len(sets) // 100], "smells": 10}


def _mean_in_tenths(scores: Sequence[int]) -> int:
    return round_half_up(sum(scores), len(scores))


def _write_evidence(path: Path, version: str, tables: Mapping[str, Any]) -> None:
    """Columns and rows by table; once a line is long, a new server begins another, so that a diff stays readable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [f'"calibration":"{version}"', *(f'"{name}":{_table_text(rows)}' for name, rows in tables.items())]
    path.write_text("{" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def _table_text(rows: Sequence[Mapping[str, Any]]) -> str:
    columns, lines, server = list(rows[0]), [""], None
    for row in rows:
        if row["server"] != server and len(lines[-1]) > MAX_LINE:
            lines.append("")
        server = row["server"]
        text = json.dumps([row[column] for column in columns], ensure_ascii=False, separators=(",", ":"))
        lines[-1] += f",{text}" if lines[-1] else text
    return '{"columns":' + json.dumps(columns, separators=(",", ":")) + ',"rows":[\n' + ",\n".join(lines) + "\n]}"


def _write(path: Path, document: Mapping[str, Any]) -> None:
    """JSON with a line for every scorecard, so that a refit is a readable diff."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    for mark in ('"guard":', '"rubrics":', '"bands":', '{"below"'):
        text = text.replace(mark, f"\n{mark}")
    for key in [*TOOL, *COHERENCE, *SMELLS]:
        text = text.replace(f'"{key}":{{', f'\n"{key}":{{')
    path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
