"""Write what is published about the error of a calibration: python calibration/published_error.py VERSION.

Reads the evidence: labels, and predictions for definitions whose server the fit had not seen. The tables, and the
labels by inputHash, go to src/tdqs_mcp/scoring/data.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

from tdqs_mcp.canonical import round_half_up
from tdqs_mcp.results.checks import CalibrationTable
from tdqs_mcp.results.verdicts import Tier, tier_of
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.judge_error import ENOUGH, Labeled, Row, agreement, rank_correlation, tool_tables, total_of
from tdqs_mcp.scoring.rollup import overall_of

EVIDENCE = Path(__file__).parent / "evidence"
DATA = Path(__file__).parent.parent / "src" / "tdqs_mcp"

STATED = (0, 20, 40, 60, 80, 101)
"""Percent of probability between which stated tiers are counted."""

RAISED = 0.3
"""TDQS by which a change without content must not raise a definition."""

COMPONENTS = ("purpose", "guidelines", "limitations", "parameters", "examples", "length")
SENTENCES = {
    "purpose_clarity": ("purpose",),
    "usage_guidelines": ("usage", "usage_added"),
    "behavioral_transparency": ("behavior", "behaviour_added", "limits and errors"),
    "parameter_semantics": ("arguments",),
    "contextual_completeness": ("returns", "returns_added"),
}
"""Kinds of edits that write a sentence for a dimension."""

FEWEST_EDITS = 2
"""Edits at a score, below which those at the nearest score count."""

VERSIONS = (("before", "after"), ("predictedBefore", "predictedAfter"))
"""The columns with the labels and with the predictions."""

FOLDS = "10-fold cross-validation by server: no prediction saw its server, but the features were made with it in view"
UNBOUND = "measured with calibration 5, before the bound by particulars"
UNSEEN = f"servers that no fit has seen; labels by blind LLM readers; {UNBOUND}"

Evidence = Mapping[str, Sequence[Mapping[str, Any]]]
"""Rows of labels and predictions by table."""


@cache
def evidence(version: str) -> Evidence:
    """Return what a calibration rests on."""
    document = json.loads((EVIDENCE / f"{version}.json").read_text(encoding="utf-8"))
    return {
        name: [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        for name, table in document.items()
        if name != "calibration"
    }


def write(version: str) -> None:
    """Write the tables, the labels and the figures of a calibration from its evidence."""
    labels = {row["inputHash"]: "".join(map(str, row["labels"])) for row in evidence(version)["tools"]}
    document = {"calibration": version, "tables": list(map(asdict, tables(version))), "labels": labels}
    target = DATA / "scoring" / "data" / "published_error" / f"{version}.json"
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    target.write_text(text.replace('{"title"', '\n{"title"').replace('"labels":{', '\n"labels":{') + "\n", "utf-8")


def figures(tables: Evidence) -> dict[str, Any]:
    """Return the figures of the error that the calibration itself carries, because every score shows them."""
    return {"changes": change_error(tables), "servers": server_error(tables)}


def _changes(rows: Sequence[Mapping[str, Any]], *, title: str, remark: str) -> CalibrationTable:
    """For each kind of change of a definition: the change of TDQS by labels and by predictions."""
    kinds: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        judged, ours = ((total_of(row[after]) - total_of(row[before])) / 10 for before, after in VERSIONS)
        kinds.setdefault(row["edit"], []).append((judged, ours))
    found: list[Row] = []
    for name, pairs in (("all", [pair for each in kinds.values() for pair in each]), *sorted(kinds.items())):
        error = mean(abs(one - other) for one, other in pairs)
        order = rank_correlation([one for one, _ in pairs], [other for _, other in pairs]) if name == "all" else None
        raised = mean(ours > RAISED for _, ours in pairs)
        found.append(
            (name, len(pairs), mean(one for one, _ in pairs), mean(two for _, two in pairs), error, order, raised)
        )
    columns = ("change", "count", "judged", "predicted", "MAE", "Spearman", "raised by over 0.3")
    return CalibrationTable(title=title, remark=f"change of TDQS; {remark}", columns=columns, rows=tuple(found))


def change_error(tables: Evidence) -> tuple[int, int, int]:
    """Return how far predicted gains are off, in hundredths of TDQS: what blind readers saw less what was predicted.

    The mean, and the lower and upper end of the middle 80%.
    """
    pairs = [
        [(total_of(row[after]) - total_of(row[before])) * 10 for before, after in VERSIONS]
        for name in ("edits", "unseenEdits")
        for row in tables.get(name, ())
    ]
    errors = sorted(judged - ours for judged, ours in pairs if ours > 0)
    if len(errors) < ENOUGH:
        return 0, 0, 0
    return round(mean(errors)), errors[len(errors) // 10], errors[-1 - len(errors) // 10]


def gains(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Return by dimension, for its scores 1 to 5, by how many hundredths of TDQS a sentence for it raised the score.

    No kind is written for conciseness: a point of it is its weight.
    """
    won = {}
    for place, dimension in enumerate(load("tdqs").dimensions):
        changes: dict[int, list[int]] = {}
        for row in (row for row in rows if row["edit"] in SENTENCES.get(dimension.key, ())):
            change = 10 * (total_of(row["predictedAfter"]) - total_of(row["predictedBefore"]))
            changes.setdefault(row["predictedBefore"][place], []).append(change)
        known = [score for score, found in changes.items() if len(found) >= FEWEST_EDITS]
        nearest = [min(known, key=lambda other: (abs(other - score), -other)) if known else 0 for score in range(1, 6)]
        won[dimension.key] = [
            round(mean(changes[near])) if near else dimension.weight * (5 - score)
            for score, near in enumerate(nearest, start=1)
        ]
    return won


def server_error(tables: Evidence) -> tuple[int, int, int]:
    """Return how far overall scores are off on labeled servers, in tenths: the labels' score less the predicted one.

    The number of servers, and the lower and upper end of the middle 80%.
    """
    tools: dict[str, list[Labeled]] = {}
    for row in tables["tools"]:
        tools.setdefault(row["server"], []).append(row)

    def overall(server: Mapping[str, Any], by: str) -> int:
        totals = [total_of(row[by]) for row in tools[server["server"]]]
        coherence = round_half_up(sum(server[by]), len(server[by]))
        return overall_of(sum(totals), count=len(totals), lowest=min(totals), coherence=coherence)

    servers = [row for row in tables["servers"] if row["server"] in tools]
    errors = sorted(overall(row, "labels") - overall(row, "predicted") for row in servers)
    return len(errors), errors[len(errors) // 10], errors[-1 - len(errors) // 10]


def _odds(rows: Sequence[Mapping[str, Any]], *, title: str) -> CalibrationTable:
    """For ranges of stated percent: how often a tier was given so much, and how often it was right."""
    tiers = [tier for tier in Tier if tier is not Tier.F]
    labels = [(row, total_of(row["labels"])) for row in rows]
    said = [
        (share, tier is tier_of(label))
        for row, label in labels
        for tier, share in zip(tiers, row["tiers"], strict=True)
    ]
    groups = {
        f"{lower}-{min(upper, 100)}": [is_right for share, is_right in said if lower <= share < upper]
        for lower, upper in pairwise(STATED)
    }
    share = round(100 * mean(row["range"][0] <= label <= row["range"][1] for row, label in labels))
    return CalibrationTable(
        title=title,
        remark=f"how often a tier that was given so many percent was right; {share}% of labels lie in the 80% range",
        columns=("percent stated", "count", "right"),
        rows=tuple((name, len(inside), mean(inside)) for name, inside in groups.items() if inside),
    )


def _published(rows: Sequence[Mapping[str, Any]]) -> CalibrationTable:
    """The registry's own scores of the same definitions; one server is far larger than all others."""
    largest = Counter(row["server"] for row in rows).most_common(1)[0][0]
    inside, outside = ([row for row in rows if (row["server"] == largest) is is_it] for is_it in (True, False))
    found: list[Row] = []
    for name, chosen in (("all", rows), (largest, inside), ("other servers", outside)):
        wanted = [row["published"] / 1000 for row in chosen]
        given = [row["predicted"] / 1000 for row in chosen]
        error = sum(abs(one - other) for one, other in zip(wanted, given, strict=True)) / len(chosen)
        constant = _best_constant(wanted, lambda one, other: abs(one - other))
        found.append((name, len(chosen), error, constant, rank_correlation(wanted, given)))
    return CalibrationTable(
        title="Scores published by the registry",
        remark="mean of its scorings of the same definition, never used for fitting; predicted without the server",
        columns=("servers", "count", "MAE", "MAE of best constant", "Spearman"),
        rows=tuple(found),
    )


def _coherence(rows: Sequence[Mapping[str, Any]]) -> CalibrationTable:
    found: list[Row] = []
    for position, key in enumerate(load("coherence").keys):
        wanted = [row["labels"][position] for row in rows]
        constant = 1 - _best_constant(wanted, lambda one, other: float(one != other))
        found.append((key, *agreement(wanted, [row["predicted"][position] for row in rows]), constant))
    return CalibrationTable(
        title="Coherence",
        remark=f"labels of an LLM judge with the published prompt; {FOLDS}",
        columns=("", "count", "MAE", "Spearman", "kappa", "exact", "exact of best constant"),
        rows=tuple(found),
    )


def _smells(rows: Sequence[Mapping[str, Any]]) -> CalibrationTable:
    found: list[Row] = []
    for position, key in enumerate(COMPONENTS):
        wanted = [row["labels"][position] for row in rows]
        smells = [row["medians"][position] < 3 for row in rows]
        order = rank_correlation(wanted, [row["latents"][position] for row in rows])
        by_words = rank_correlation(wanted, [row["words"] for row in rows])
        f1, always = _f1(smells, [row["smells"][position] for row in rows]), _f1(smells, [True] * len(rows))
        found.append((key, len(rows), order, by_words, f1, always))
    return CalibrationTable(
        title="Components of the paper",
        remark=f"mean and median of its three judges (smell: median below 3); {FOLDS}",
        columns=("", "count", "Spearman", "Spearman of word count", "F1 of smell", "F1 of always yes"),
        rows=tuple(found),
    )


def _best_constant(values: Sequence[float], error: Callable[[float, float], float]) -> float:
    """The lowest mean error of one answer for all cases."""
    return min(mean(error(value, answer) for value in values) for answer in set(values))


def _f1(smells: Sequence[bool], predicted: Sequence[bool]) -> float:
    """The harmonic mean of precision and recall; 0 where nothing is found."""
    hits = sum(smell and guess for smell, guess in zip(smells, predicted, strict=True))
    return 2 * hits / max(1, sum(smells) + sum(predicted))


def tables(version: str) -> tuple[CalibrationTable, ...]:
    """All tables that are published about the error of a calibration, unseen servers first."""
    rows = evidence(version)
    unseen, _ = tool_tables(rows["unseen"], title="Tools of unseen servers", remark=UNSEEN)
    return (
        unseen,
        _changes(rows["unseenEdits"], title="Changes on unseen servers", remark=UNSEEN),
        _odds(rows["unseen"], title="Probabilities of tiers on unseen servers"),
        *tool_tables(rows["tools"], remark=f"labels of an LLM judge with the published prompt; {FOLDS}; {UNBOUND}"),
        _changes(rows["edits"], title="Changes", remark=f"{FOLDS}; {UNBOUND}"),
        _odds(rows["tools"], title="Probabilities of tiers"),
        _published(rows["published"]),
        _coherence(rows["servers"]),
        _smells(rows["components"]),
    )


if __name__ == "__main__":
    write(sys.argv[1])
