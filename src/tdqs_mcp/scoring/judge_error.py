"""How far a judge is off: held against the published examples and against labeled tools.

The error of the offline judge is that of predictions for servers that the fit had not seen. All figures are floats.
"""

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from statistics import correlation, mean
from typing import Any

from tdqs_mcp.canonical import round_half_up
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.model import Catalog, read_tools
from tdqs_mcp.results.checks import CalibrationTable, Cell
from tdqs_mcp.results.verdicts import JudgeStamp, Tier, Ungraded, Verdict, tier_of
from tdqs_mcp.rubrics.prompt import ToolCase
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.rollup import SPECS, overall_of, tdqs

NEAR = 2
"""Score points that a dimension may lie off; two LLM judges on the same tools never differed by more than one."""

TOLERANCE = 34
"""Hundredths of TDQS: the registry's repeated scorings of one definition differ by 0.34 on average."""

ENOUGH = 10
"""Labeled tools from which their mean error says something about the judge."""

FEWEST = 3
"""Cases below which a correlation says nothing."""

SIZES = (0, 400, 800, 1600)
"""Lower ends of the ranges of definitionBytes, near the quartiles of the labeled tools."""

STATED = (0, 20, 40, 60, 80, 101)
"""Percent of probability between which stated tiers are counted."""

RAISED = 0.3
"""TDQS by which a change without content must not raise a definition."""

COMPONENTS = ("purpose", "guidelines", "limitations", "parameters", "examples", "length")

_FOLDS = "10-fold cross-validation by server: no prediction saw its server, but the features were made with it in view"
_UNSEEN = "servers captured after the features and weights were made; labels by blind LLM readers"
_UNLABELED = "no labeled tool is among these definitions; the calibration's evidence names the packages that have some"

Row = tuple[Cell, ...]
Labeled = Mapping[str, Any]
"""A labeled tool as the evidence has it: `labels`, a judge's scores as `predicted`, `bytes`, `language`, `hints`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A judge held against known scores."""

    sections: tuple[CalibrationTable, ...]
    faults: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    unjudged: tuple[tuple[str, str], ...] = ()
    """Name and reason of what the judge failed on."""


@cache
def evidence(version: str) -> Mapping[str, Any]:
    """What a calibration rests on: rows of labels and predictions by table."""
    document = _read("judges", f"evidence/{version}.json")
    return {
        name: [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        for name, table in document.items()
        if name != "calibration"
    }


@cache
def _read(package: str, path: str) -> Any:  # noqa: ANN401  # our own files
    return json.loads(files("tdqs_mcp").joinpath(package, "data", path).read_text(encoding="utf-8"))


def _examples() -> list[Mapping[str, Any]]:
    """The definitions of the published prompt with the scores that it gives them; null where it gives none."""
    return list(_read("scoring", "published_examples.json")["examples"])


def labels(version: str) -> dict[str, tuple[int, ...]]:
    """The six labels of every labeled definition, by its inputHash."""
    return {row["inputHash"]: tuple(row["labels"]) for row in evidence(version)["tools"]}


def example_cases() -> list[ToolCase]:
    """A case for each published example; the sibling that the first one names is there."""
    found = []
    for example in _examples():
        siblings = [{"name": "search_calls_extensive", "inputSchema": {"type": "object"}}]
        measured = measure(Catalog(server="examples", tools=read_tools([example["definition"], *siblings])))
        found.append(ToolCase(subject=measured.subjects[0], names=measured.names))
    return found


def compare_to_examples(verdicts: Sequence[Verdict | Ungraded]) -> Comparison:
    """The judge's scores beside the published ones, where it is out of tolerance, and where it has failed."""
    keys = load("tdqs").keys
    rows: list[Row] = []
    faults, failed = [], []
    for example, verdict in zip(_examples(), verdicts, strict=True):
        name = str(example["definition"]["name"])
        rows.append((name, "published", *example["scores"]))
        if isinstance(verdict, Ungraded):
            rows.append((name, "judged", *[None] * len(keys)))
            failed.append((name, verdict.reason))
            continue
        scores = tuple(verdict.judgements[key].score for key in keys)
        rows.append((name, "judged", *scores))
        faults += [
            f"{name}: {key} is {score}, published {wanted}"
            for key, wanted, score in zip(keys, example["scores"], scores, strict=True)
            if wanted is not None and abs(score - wanted) > NEAR
        ]
        if example["contradiction"] and not verdict.contradiction:
            faults.append(f"{name}: the contradiction with readOnlyHint was not seen")
    heads = (dimension.short for dimension in load("tdqs").dimensions)
    remark = f"definitions of the published prompt; every dimension may lie {NEAR} off"
    table = CalibrationTable(
        title="Calibration examples", remark=remark, columns=("tool", "scores", *heads), rows=tuple(rows)
    )
    return Comparison(sections=(table,), faults=tuple(faults), unjudged=tuple(failed))


def compare_to_labels(
    cases: Sequence[ToolCase], outcomes: Sequence[Verdict | Ungraded], known: Mapping[str, tuple[int, ...]]
) -> Comparison:
    """A judge's scores beside the labels of the same definitions.

    It is out of tolerance where it would be so with the labels' own scores for all that it failed on.
    """
    tools: list[Labeled] = []
    failed: list[tuple[str, str]] = []
    for case, outcome in zip(cases, outcomes, strict=True):
        if isinstance(outcome, Ungraded):
            failed.append((case.subject.tool.name, outcome.reason))
            continue
        signals, predicted = case.subject.signals, [outcome.scores[key] for key in load("tdqs").keys]
        told = {"bytes": signals.definition_bytes, "language": case.subject.prose.language, "hints": signals.has_hints}
        tools.append({"labels": known[signals.input_hash], "predicted": predicted, **told})
    if not tools:
        return Comparison(sections=(), problems=() if cases else (_UNLABELED,), unjudged=tuple(failed))
    total = sum(abs(_total(tool["labels"]) - _total(tool["predicted"])) for tool in tools) * 10
    error, is_off = total / len(tools), len(tools) >= ENOUGH and total > TOLERANCE * len(cases)
    fault = f"mean |delta TDQS| over {len(tools)} labeled tools is {error / 100:.2f}, above {TOLERANCE / 100}"
    return Comparison(
        sections=_tool_sections(tools, remark="labels of an LLM judge with the published prompt, judged now"),
        faults=(fault,) if is_off else (),
        unjudged=tuple(failed),
    )


def published_error(version: str) -> Comparison:
    """Everything that is published about the error of a calibration of the offline judge."""
    found = evidence(version)
    unseen = _tool_sections(found["unseen"], title="Tools of unseen servers", remark=_UNSEEN)[0]
    tools = _tool_sections(found["tools"], remark=f"labels of an LLM judge with the published prompt; {_FOLDS}")
    changes = (
        _changes(found["unseenEdits"], title="Changes on unseen servers", remark=_UNSEEN),
        _changes(found["edits"], title="Changes", remark=_FOLDS),
    )
    others = _published(found["published"]), _coherence(found["servers"]), _smells(found["components"])
    odds = (
        _odds(found["unseen"], title="Probabilities of tiers on unseen servers"),
        _odds(found["tools"], title="Probabilities of tiers"),
    )
    return Comparison(sections=(unseen, changes[0], odds[0], *tools, *changes[1:], *odds[1:], *others))


def _tool_sections(
    tools: Sequence[Labeled], *, remark: str, title: str = "Tools"
) -> tuple[CalibrationTable, CalibrationTable]:
    """Agreement by dimension, then where the bias is."""
    columns: tuple[str, ...] = ("", "count", "MAE", "Spearman", "kappa", "exact", "within 1", "same tier", "bias")
    count, error, bias, order, same_tier = _total_error(tools)
    rows: list[Row] = [("TDQS", count, error, order, None, None, None, same_tier, bias)]
    for position, key in enumerate(load("tdqs").keys):
        wanted, given = [tool["labels"][position] for tool in tools], [tool["predicted"][position] for tool in tools]
        within = mean(abs(label - score) <= 1 for label, score in zip(wanted, given, strict=True))
        bias = mean(score - label for label, score in zip(wanted, given, strict=True))
        rows.append((key, *_agreement(wanted, given), within, None, bias))
    if all("words" in tool for tool in tools):
        order = rank_correlation([_total(tool["labels"]) for tool in tools], [tool["words"] for tool in tools])
        rows.append(("word count alone", count, None, order, None, None, None, None, None))
    whole = CalibrationTable(title=title, remark=remark, columns=columns, rows=tuple(rows))
    remark, columns = "mean of score minus label", ("tools", "count", "MAE", "bias")
    return whole, CalibrationTable(title="Bias of TDQS", remark=remark, columns=columns, rows=tuple(_biases(tools)))


def _total_error(tools: Sequence[Labeled]) -> tuple[int, float, float, float | None, float]:
    """Of TDQS: count, mean absolute difference and bias in points, Spearman's correlation, share of equal tiers."""
    wanted, given = [_total(tool["labels"]) for tool in tools], [_total(tool["predicted"]) for tool in tools]
    pairs = list(zip(wanted, given, strict=True))
    return (
        len(pairs),
        mean(abs(label - score) for label, score in pairs) / 10,
        mean(score - label for label, score in pairs) / 10,
        rank_correlation(wanted, given),
        mean(tier_of(label) is tier_of(score) for label, score in pairs),
    )


def _agreement(wanted: Sequence[int], given: Sequence[int]) -> tuple[int, float, float | None, float | None, float]:
    """Of scores 1-5: count, mean absolute difference, Spearman's correlation, Cohen's kappa, share of equal ones."""
    pairs = list(zip(wanted, given, strict=True))
    return (
        len(pairs),
        mean(abs(label - score) for label, score in pairs),
        rank_correlation(wanted, given),
        weighted_kappa(wanted, given),
        mean(label == score for label, score in pairs),
    )


def _biases(tools: Sequence[Labeled]) -> list[Row]:
    names = [f"{lower}-{upper - 1} bytes" for lower, upper in pairwise(SIZES)] + [f"{SIZES[-1]} bytes and more"]
    groups: dict[str, list[Labeled]] = {name: [] for name in names}
    for tool in sorted(tools, key=lambda tool: (tool["language"] or "unknown", not tool["hints"])):
        groups[names[bisect_right(SIZES, tool["bytes"]) - 1]].append(tool)
        groups.setdefault(f"language {tool['language'] or 'unknown'}", []).append(tool)
    for tool in sorted(tools, key=lambda tool: not tool["hints"]):
        groups.setdefault("with hints" if tool["hints"] else "without hints", []).append(tool)
    return [(name, *_total_error(chosen)[:3]) for name, chosen in groups.items() if chosen]


def _changes(rows: Sequence[Mapping[str, Any]], *, title: str, remark: str) -> CalibrationTable:
    """For each kind of change of a definition: the change of TDQS by labels and by predictions."""
    kinds: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        judged, ours = ((_total(row[after]) - _total(row[before])) / 10 for before, after in _VERSIONS)
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


def change_error(version: str) -> tuple[int, int, int]:
    """How far the change that a calibration predicts is off where it predicts a gain, in hundredths of TDQS.

    The mean, and the lower and upper end of the middle 80%: what blind readers saw less what was predicted.
    """
    pairs = [
        [(_total(row[after]) - _total(row[before])) * 10 for before, after in _VERSIONS]
        for name in ("edits", "unseenEdits")
        for row in evidence(version).get(name, ())
    ]
    errors = sorted(judged - ours for judged, ours in pairs if ours > 0)
    if len(errors) < ENOUGH:
        return 0, 0, 0
    return round(mean(errors)), errors[len(errors) // 10], errors[-1 - len(errors) // 10]


@cache
def server_error(version: str) -> tuple[int, int, int]:
    """How far the overall scores of a calibration are off on labeled servers, in tenths.

    The number of servers, and the lower and upper end of the middle 80%: the labels' score less the predicted one.
    """
    tools: dict[str, list[Labeled]] = {}
    for row in evidence(version)["tools"]:
        tools.setdefault(row["server"], []).append(row)

    def overall(server: Mapping[str, Any], by: str) -> int:
        totals = [_total(row[by]) for row in tools[server["server"]]]
        coherence = round_half_up(sum(server[by]), len(server[by]))
        return overall_of(sum(totals), count=len(totals), lowest=min(totals), coherence=coherence)

    known = [row for row in evidence(version)["servers"] if row["server"] in tools]
    errors = sorted(overall(row, "labels") - overall(row, "predicted") for row in known)
    return len(errors), errors[len(errors) // 10], errors[-1 - len(errors) // 10]


def likely_overall(overall: int | None, judge: JudgeStamp) -> tuple[int, int] | None:
    """The ends of an overall score's 80% range, in tenths; None by a judge whose error on servers is not known."""
    if overall is None or not judge.is_offline or judge.calibration is None:
        return None
    _, low, high = server_error(judge.calibration)
    return max(10, overall + low), min(50, overall + high)


_VERSIONS = (("before", "after"), ("predictedBefore", "predictedAfter"))
"""The columns with the labels and with the predictions."""


def _odds(rows: Sequence[Mapping[str, Any]], *, title: str) -> CalibrationTable:
    """For ranges of stated percent: how often a tier was given so much, and how often it was right."""
    tiers = [tier for tier in Tier if tier is not Tier.F]
    labels = [(row, _total(row["labels"])) for row in rows]
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
        found.append((key, *_agreement(wanted, [row["predicted"][position] for row in rows]), constant))
    return CalibrationTable(
        title="Coherence",
        remark=f"labels of an LLM judge with the published prompt; {_FOLDS}",
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
        remark=f"mean and median of its three judges (smell: median below 3); {_FOLDS}",
        columns=("", "count", "Spearman", "Spearman of word count", "F1 of smell", "F1 of always yes"),
        rows=tuple(found),
    )


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's, ties at their mean rank; None where it is not defined."""
    if len(one) < FEWEST or len(set(one)) == 1 or len(set(other)) == 1:
        return None
    return correlation(_ranks(one), _ranks(other))


def weighted_kappa(labels: Sequence[int], scores: Sequence[int]) -> float | None:
    """Cohen's kappa with quadratic weights; None where chance alone leaves no disagreement."""
    count = len(labels)
    seen = sum((label - score) ** 2 for label, score in zip(labels, scores, strict=True)) / count
    of_labels, of_scores = Counter(labels), Counter(scores)
    by_chance = sum(
        of_labels[label] * of_scores[score] * (label - score) ** 2 for label in of_labels for score in of_scores
    ) / (count * count)
    return None if by_chance == 0 else 1 - seen / by_chance


def _best_constant(values: Sequence[float], error: Callable[[float, float], float]) -> float:
    """The lowest mean error of one answer for all cases."""
    return min(mean(error(value, answer) for value in values) for answer in set(values))


def _f1(smells: Sequence[bool], predicted: Sequence[bool]) -> float:
    """The harmonic mean of precision and recall; 0 where nothing is found."""
    hits = sum(smell and guess for smell, guess in zip(smells, predicted, strict=True))
    return 2 * hits / max(1, sum(smells) + sum(predicted))


def _ranks(values: Sequence[float]) -> list[float]:
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values)):
        places.setdefault(value, []).append(place)
    return [mean(places[value]) for value in values]


def _total(scores: Sequence[int]) -> int:
    """TDQS in tenths."""
    rubric = load("tdqs")
    return tdqs(rubric, dict(zip(rubric.keys, scores, strict=True)), spec=SPECS[0])
