"""The labels that the offline judge was fitted to, with what it predicted for servers that it had not seen."""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from tdqs_mcp.results.calibration import Section
from tdqs_mcp.results.tiers import Tier, tier_of
from tdqs_mcp.results.verdicts import Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import ToolCase
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.calibrate import agree, agree_in_total, best_constant, f1, rank_correlation, reliability
from tdqs_mcp.scoring.rollup import SPECS, tdqs

COMPONENTS = ("purpose", "guidelines", "limitations", "parameters", "examples", "length")
UNSEEN = "10-fold cross-validation by server: no prediction saw its server"
SIZES = (0, 400, 800, 1600)
"""Lower ends of the ranges of definitionBytes, near the quartiles of the labelled tools."""

STATED = (0, 20, 40, 60, 80, 101)

Row = tuple[str | int | float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A labelled tool with a judge's scores for it."""

    labels: tuple[int, ...]
    scores: tuple[int, ...]
    size: int
    """Bytes of the definition."""

    language: str
    has_hints: bool

    @property
    def label(self) -> int:
        """The labels' TDQS in tenths."""
        return _total(self.labels)

    @property
    def total(self) -> int:
        """The judge's TDQS in tenths."""
        return _total(self.scores)


@cache
def evidence(version: str) -> Mapping[str, Any]:
    """What a calibration rests on."""
    path = files("tdqs_mcp.judges").joinpath("data", "evidence", f"{version}.json")
    document: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def labels(version: str) -> dict[str, tuple[int, ...]]:
    """The six labels of every labelled definition, by its inputHash."""
    return {row["inputHash"]: tuple(row["labels"]) for row in evidence(version)["tools"]}


def predicted(version: str) -> list[Scored]:
    """The labelled tools with the predictions of fits that had not seen their servers."""
    return [
        Scored(
            labels=tuple(row["labels"]),
            scores=tuple(row["predicted"]),
            size=row["bytes"],
            language=row["language"] or "unknown",
            has_hints=row["hints"],
        )
        for row in evidence(version)["tools"]
    ]


def sections(version: str) -> tuple[Section, ...]:
    """Everything that is published about a calibration's error."""
    found = evidence(version)
    return (
        *tool_sections(predicted(version), remark=f"labels of an LLM judge with the published prompt; {UNSEEN}"),
        _odds(found["tools"]),
        _published(found["published"]),
        _coherence(found["servers"]),
        _smells(found["components"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A judge held against labelled tools."""

    sections: tuple[Section, ...]
    faults: tuple[str, ...]
    problems: tuple[str, ...] = ()
    unjudged: tuple[tuple[str, str], ...] = ()
    """Name and reason of what the judge failed on."""


TOLERANCE = 34
"""Hundredths of TDQS: the registry's repeated scorings of one definition differ by 0.34 on average."""

ENOUGH = 10
"""Labelled tools from which their mean error says something about the judge."""


_UNLABELLED = (
    "no labelled tool is among these definitions; the calibration's evidence names the packages that have some"
)


def held_against(
    cases: Sequence[ToolCase], outcomes: Sequence[Verdict | Ungraded], known: Mapping[str, tuple[int, ...]]
) -> Comparison:
    """A judge's scores beside the labels of the same definitions.

    It is out of tolerance where it would be so with the labels' own scores for all that it failed on.
    """
    tools, failed = [], []
    for case, outcome in zip(cases, outcomes, strict=True):
        if isinstance(outcome, Ungraded):
            failed.append((case.subject.tool.name, outcome.reason))
            continue
        tools.append(
            Scored(
                labels=known[case.subject.signals.input_hash],
                scores=tuple(outcome.judgements[key].score for key in load("tdqs").keys),
                size=case.subject.signals.definition_bytes,
                language=case.subject.prose.language or "unknown",
                has_hints=case.subject.signals.has_hints,
            )
        )
    if not tools:
        return Comparison(sections=(), faults=(), problems=() if cases else (_UNLABELLED,), unjudged=tuple(failed))
    total = sum(abs(tool.label - tool.total) for tool in tools) * 10
    error, is_off = total / len(tools), len(tools) >= ENOUGH and total > TOLERANCE * len(cases)
    fault = f"mean |delta TDQS| over {len(tools)} labelled tools is {error / 100:.2f}, above {TOLERANCE / 100}"
    return Comparison(
        sections=tool_sections(tools, remark="labels of an LLM judge with the published prompt, judged now"),
        faults=(fault,) if is_off else (),
        unjudged=tuple(failed),
    )


def tool_sections(tools: Sequence[Scored], *, remark: str) -> tuple[Section, Section]:
    """Agreement by dimension, then where the bias is."""
    total = agree_in_total([each.label for each in tools], [each.total for each in tools])
    rows: list[Row] = [
        ("TDQS", total.count, total.error, total.correlation, None, None, None, total.same_tier, total.bias)
    ]
    for position, key in enumerate(load("tdqs").keys):
        each = agree([tool.labels[position] for tool in tools], [tool.scores[position] for tool in tools])
        rows.append(
            (key, each.count, each.error, each.correlation, each.kappa, each.exact, each.within_one, None, each.bias)
        )
    return (
        Section(title="Tools", remark=remark, columns=_COLUMNS, rows=tuple(rows)),
        Section(
            title="Bias of TDQS",
            remark="mean of score minus label",
            columns=("tools", "count", "MAE", "bias"),
            rows=tuple(_biases(tools)),
        ),
    )


_COLUMNS = ("", "count", "MAE", "Spearman", "kappa", "exact", "within 1", "same tier", "bias")


def _biases(tools: Sequence[Scored]) -> list[Row]:
    groups: dict[str, list[Scored]] = {name: [] for name in _SIZE_NAMES}
    for tool in sorted(tools, key=lambda tool: (tool.language, not tool.has_hints)):
        groups[_SIZE_NAMES[bisect_right(SIZES, tool.size) - 1]].append(tool)
        groups.setdefault(f"language {tool.language}", []).append(tool)
    for tool in sorted(tools, key=lambda tool: not tool.has_hints):
        groups.setdefault("with hints" if tool.has_hints else "without hints", []).append(tool)
    rows: list[Row] = []
    for name, chosen in groups.items():
        if chosen:
            total = agree_in_total([each.label for each in chosen], [each.total for each in chosen])
            rows.append((name, total.count, total.error, total.bias))
    return rows


_SIZE_NAMES = [f"{lower}-{upper - 1} bytes" for lower, upper in pairwise(SIZES)] + [f"{SIZES[-1]} bytes and more"]


def _odds(rows: Sequence[Mapping[str, Any]]) -> Section:
    tiers = [tier for tier in Tier if tier is not Tier.F]
    odds = [dict(zip(tiers, row["tiers"], strict=True)) for row in rows]
    truths = [tier_of(_total(row["labels"])) for row in rows]
    inside = sum(row["range"][0] <= _total(row["labels"]) <= row["range"][1] for row in rows)
    share = round(100 * inside / len(rows))
    return Section(
        title="Probabilities of tiers",
        remark=f"how often a tier that was given so many percent was right; {share}% of labels lie in the 80% range",
        columns=("percent stated", "count", "right"),
        rows=tuple((f"{low}-{high}", count, so) for low, high, count, so in reliability(odds, truths, STATED)),
    )


def _published(rows: Sequence[Mapping[str, Any]]) -> Section:
    """The registry's own scores of the same definitions; one server is far larger than all others."""
    largest = max({row["server"] for row in rows}, key=lambda name: sum(row["server"] == name for row in rows))
    found: list[Row] = []
    for name, chosen in (
        ("all", rows),
        (largest, [row for row in rows if row["server"] == largest]),
        ("other servers", [row for row in rows if row["server"] != largest]),
    ):
        wanted = [row["published"] / 1000 for row in chosen]
        given = [row["predicted"] / 1000 for row in chosen]
        error = sum(abs(one - other) for one, other in zip(wanted, given, strict=True)) / len(chosen)
        constant = best_constant(wanted, lambda one, other: abs(one - other))
        found.append((name, len(chosen), error, constant, rank_correlation(wanted, given)))
    return Section(
        title="Scores published by the registry",
        remark="mean of its scorings of the same definition, never used for fitting; predicted without the server",
        columns=("servers", "count", "MAE", "MAE of best constant", "Spearman"),
        rows=tuple(found),
    )


def _coherence(rows: Sequence[Mapping[str, Any]]) -> Section:
    found: list[Row] = []
    for position, key in enumerate(load("coherence").keys):
        wanted = [row["labels"][position] for row in rows]
        each = agree(wanted, [row["predicted"][position] for row in rows])
        constant = 1 - best_constant(wanted, lambda one, other: float(one != other))
        found.append((key, each.count, each.error, each.correlation, each.kappa, each.exact, constant))
    return Section(
        title="Coherence",
        remark=f"labels of an LLM judge with the published prompt; {UNSEEN}",
        columns=("", "count", "MAE", "Spearman", "kappa", "exact", "exact of best constant"),
        rows=tuple(found),
    )


def _smells(rows: Sequence[Mapping[str, Any]]) -> Section:
    found: list[Row] = []
    words = [row["words"] for row in rows]
    for position, key in enumerate(COMPONENTS):
        wanted = [row["labels"][position] for row in rows]
        smells = [row["medians"][position] < 3 for row in rows]
        found.append(
            (
                key,
                len(rows),
                rank_correlation(wanted, [row["latents"][position] for row in rows]),
                rank_correlation(wanted, words),
                f1(smells, [row["smells"][position] for row in rows]),
                f1(smells, [True] * len(rows)),
            )
        )
    return Section(
        title="Components of the paper",
        remark=f"mean and median of its three judges (smell: median below 3); {UNSEEN}",
        columns=("", "count", "Spearman", "Spearman of word count", "F1 of smell", "F1 of always yes"),
        rows=tuple(found),
    )


def _total(scores: Sequence[int]) -> int:
    rubric = load("tdqs")
    return tdqs(rubric, dict(zip(rubric.keys, scores, strict=True)), spec=SPECS[0])
