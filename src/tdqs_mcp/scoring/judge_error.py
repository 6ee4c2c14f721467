"""How far a judge is off: held against the published examples and against labeled tools.

The error of the offline judge is that of predictions for servers that the fit had not seen. All figures are floats.
"""

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from statistics import correlation, mean
from typing import Any

from tdqs_mcp.facts.subject import measure
from tdqs_mcp.judges.offline import calibration, versions
from tdqs_mcp.model import Catalog, read_tools
from tdqs_mcp.results.checks import CalibrationTable, Cell, Unjudged
from tdqs_mcp.results.verdicts import JudgeStamp, Ungraded, Verdict, tier_of
from tdqs_mcp.rubrics.prompt import SetCase, ToolCase
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.rollup import SPECS, coherence_of, tdqs

NEAR = 2
"""Score points that a dimension may lie off; two LLM judges on the same tools never differed by more than one."""

MEAN_NEAR = 75
"""Hundredths of a point that the dimensions of the published tools may lie off on average; always 3 lies 137 off."""

SET_NEAR = 4
"""Tenths that the coherence of a published tool set may lie off."""

TOLERANCE = 34
"""Hundredths of TDQS: the registry's repeated scorings of one definition differ by 0.34 on average."""

ENOUGH = 10
"""Labeled tools from which their mean error says something about the judge."""

FEWEST = 3
"""Cases below which a correlation says nothing."""

SIZES = (0, 400, 800, 1600)
"""Lower ends of the ranges of definitionBytes, near the quartiles of the labeled tools."""

_UNLABELED = "no labeled tool is among these definitions; the calibration's evidence names the packages that have some"

Row = tuple[Cell, ...]
Labeled = Mapping[str, Any]
"""A labeled tool as the evidence has it: `labels`, a judge's scores as `predicted`, `bytes`, `language`, `hints`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeComparison:
    """A judge held against known scores."""

    sections: tuple[CalibrationTable, ...]
    faults: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()


@cache
def _read_data(path: str) -> Any:  # noqa: ANN401  # our own files
    """Return a file of this package: published examples, or what calibration/published_error.py wrote for a version."""
    return json.loads(files("tdqs_mcp.scoring").joinpath("data", path).read_text(encoding="utf-8"))


def _examples(kind: str) -> list[Mapping[str, Any]]:
    """The definitions, or the sets of names, of the published prompts with their scores; null where there is none."""
    return list(_read_data("published_examples.json")[kind])


def labels(version: str) -> dict[str, tuple[int, ...]]:
    """Return the six labels of every labeled definition by its inputHash."""
    labeled = _read_data(f"published_error/{version}.json")["labels"]
    return {key: tuple(map(int, scores)) for key, scores in labeled.items()}


def published_tables(version: str) -> tuple[CalibrationTable, ...]:
    """Return the tables that are published about the error of a calibration of the offline judge."""
    return tuple(
        CalibrationTable(
            title=table["title"],
            remark=table["remark"],
            columns=tuple(table["columns"]),
            rows=tuple(map(tuple, table["rows"])),
        )
        for table in _read_data(f"published_error/{version}.json")["tables"]
    )


def example_cases() -> list[ToolCase | SetCase]:
    """A case for each published example, tools first; the sibling that the first one names is there."""
    rows: list[ToolCase | SetCase] = []
    for example in _examples("examples"):
        siblings = [{"name": "search_calls_extensive", "inputSchema": {"type": "object"}}]
        measured = measure(Catalog(server="examples", tools=read_tools([example["definition"], *siblings])))
        rows.append(ToolCase(subject=measured.subjects[0], names=measured.names))
    for example in _examples("sets"):
        tools = read_tools([{"name": name, "inputSchema": {"type": "object"}} for name in example["tools"]])
        rows.append(SetCase(measured=measure(Catalog(server=example["server"], tools=tools))))
    return rows


def compare_to_examples(verdicts: Sequence[Verdict | Ungraded]) -> JudgeComparison:
    """The judge's scores beside the published ones, where it is out of tolerance, and where it has failed."""
    tools = [(str(example["definition"]["name"]), example) for example in _examples("examples")]
    sets = [(str(example["server"]), example) for example in _examples("sets")]
    remark = (
        f"definitions of the published prompt; every dimension may lie {NEAR} off, and all {MEAN_NEAR / 100} on average"
    )
    table, judged, failed = _hold(
        "tdqs", tools, verdicts[: len(tools)], titles=("Calibration examples", "tool"), remark=remark
    )
    faults, errors = [], list[int]()
    for name, example, verdict, scores in judged:
        triples = zip(load("tdqs").keys, example["scores"], scores, strict=True)
        off = [(key, published, score) for key, published, score in triples if published is not None]
        errors += [100 * abs(score - published) for _, published, score in off]
        faults += [
            f"{name}: {key} is {score}, published {published}"
            for key, published, score in off
            if abs(score - published) > NEAR
        ]
        if example["contradiction"] and not verdict.contradiction:
            faults.append(f"{name}: the contradiction with readOnlyHint was not seen")
    if not failed and mean(errors) > MEAN_NEAR:
        faults.append(f"the published tools' dimensions are {mean(errors) / 100:.2f} off on average")
    remark = f"tool sets of the published prompt; coherence may lie {SET_NEAR / 10} off"
    sets_table, judged, failed_sets = _hold(
        "coherence", sets, verdicts[len(tools) :], titles=("Coherence examples", "tool set"), remark=remark
    )
    for name, example, verdict, _ in judged:
        total = coherence_of(verdict.scores)
        if abs(total - example["coherence"]) > SET_NEAR:
            faults.append(f"{name}: coherence is {total / 10}, published {example['coherence'] / 10}")
    return JudgeComparison(sections=(table, sets_table), faults=tuple(faults), unjudged=(*failed, *failed_sets))


def _hold(
    rubric: str,
    examples: Sequence[tuple[str, Mapping[str, Any]]],
    verdicts: Sequence[Verdict | Ungraded],
    *,
    titles: tuple[str, str],
    remark: str,
) -> tuple[CalibrationTable, list[tuple[str, Mapping[str, Any], Verdict, list[int]]], list[Unjudged]]:
    """The published and the judged scores of each example, those that were judged, and those that were not."""
    keys, rows, judged, failed = load(rubric).keys, list[Row](), [], []
    heads, is_set = [dimension.short for dimension in load(rubric).dimensions], rubric == "coherence"
    for (name, example), verdict in zip(examples, verdicts, strict=True):
        rows.append((name, "published", *([example["coherence"] / 10] if is_set else []), *example["scores"]))
        if isinstance(verdict, Ungraded):
            rows.append((name, "judged", *[None] * (len(keys) + is_set)))
            failed.append(Unjudged(name=name, reason=verdict.reason))
            continue
        scores = [verdict.judgements[key].score for key in keys]
        rows.append((name, "judged", *([coherence_of(verdict.scores) / 10] if is_set else []), *scores))
        judged.append((name, example, verdict, scores))
    columns = (titles[1], "scores", *(["coherence"] if is_set else []), *heads)
    return CalibrationTable(title=titles[0], remark=remark, columns=columns, rows=tuple(rows)), judged, failed


def compare_to_labels(
    cases: Sequence[ToolCase], outcomes: Sequence[Verdict | Ungraded], labels: Mapping[str, tuple[int, ...]]
) -> JudgeComparison:
    """A judge's scores beside the labels of the same definitions.

    It is out of tolerance where it would be so with the labels' own scores for all that it failed on.
    """
    tools: list[Labeled] = []
    failed: list[Unjudged] = []
    for case, outcome in zip(cases, outcomes, strict=True):
        if isinstance(outcome, Ungraded):
            failed.append(Unjudged(name=case.subject.tool.name, reason=outcome.reason))
            continue
        signals, predicted = case.subject.signals, [outcome.scores[key] for key in load("tdqs").keys]
        traits = {
            "bytes": signals.definition_bytes,
            "language": case.subject.prose.language,
            "hints": signals.has_hints,
        }
        tools.append({"labels": labels[signals.input_hash], "predicted": predicted, **traits})
    if not tools:
        return JudgeComparison(sections=(), problems=() if cases else (_UNLABELED,), unjudged=tuple(failed))
    total = sum(abs(total_of(tool["labels"]) - total_of(tool["predicted"])) for tool in tools) * 10
    error, is_off = total / len(tools), len(tools) >= ENOUGH and total > TOLERANCE * len(cases)
    fault = f"mean |delta TDQS| over {len(tools)} labeled tools is {error / 100:.2f}, above {TOLERANCE / 100}"
    return JudgeComparison(
        sections=tool_tables(tools, remark="labels of an LLM judge with the published prompt, judged now"),
        faults=(fault,) if is_off else (),
        unjudged=tuple(failed),
    )


def tool_tables(
    tools: Sequence[Labeled], *, remark: str, title: str = "Tools"
) -> tuple[CalibrationTable, CalibrationTable]:
    """Agreement by dimension, then where the bias is."""
    columns: tuple[str, ...] = ("", "count", "MAE", "Spearman", "kappa", "exact", "within 1", "same tier", "bias")
    count, error, bias, order, same_tier = _total_error(tools)
    rows: list[Row] = [("TDQS", count, error, order, None, None, None, same_tier, bias)]
    for position, key in enumerate(load("tdqs").keys):
        labels, predictions = (
            [tool["labels"][position] for tool in tools],
            [tool["predicted"][position] for tool in tools],
        )
        within = mean(abs(label - score) <= 1 for label, score in zip(labels, predictions, strict=True))
        bias = mean(score - label for label, score in zip(labels, predictions, strict=True))
        rows.append((key, *agreement(labels, predictions), within, None, bias))
    if all("words" in tool for tool in tools):
        order = rank_correlation([total_of(tool["labels"]) for tool in tools], [tool["words"] for tool in tools])
        rows.append(("word count alone", count, None, order, None, None, None, None, None))
    whole = CalibrationTable(title=title, remark=remark, columns=columns, rows=tuple(rows))
    remark, columns = "mean of score minus label", ("tools", "count", "MAE", "bias")
    return whole, CalibrationTable(title="Bias of TDQS", remark=remark, columns=columns, rows=tuple(_biases(tools)))


def _total_error(tools: Sequence[Labeled]) -> tuple[int, float, float, float | None, float]:
    """Of TDQS: count, mean absolute difference and bias in points, Spearman's correlation, share of equal tiers."""
    labels, predictions = [total_of(tool["labels"]) for tool in tools], [total_of(tool["predicted"]) for tool in tools]
    pairs = list(zip(labels, predictions, strict=True))
    return (
        len(pairs),
        mean(abs(label - score) for label, score in pairs) / 10,
        mean(score - label for label, score in pairs) / 10,
        rank_correlation(labels, predictions),
        mean(tier_of(label) is tier_of(score) for label, score in pairs),
    )


def agreement(labels: Sequence[int], scores: Sequence[int]) -> tuple[int, float, float | None, float | None, float]:
    """Return of scores 1-5: count, mean absolute difference, Spearman's correlation, Cohen's kappa, share of equals."""
    pairs = list(zip(labels, scores, strict=True))
    return (
        len(pairs),
        mean(abs(label - score) for label, score in pairs),
        rank_correlation(labels, scores),
        weighted_kappa(labels, scores),
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


def likely_overall(overall: int | None, judge: JudgeStamp) -> tuple[int, int] | None:
    """The ends of an overall score's 80% range, in tenths; None by a judge whose error on servers is not known."""
    if overall is None or not judge.is_offline or judge.calibration not in versions():
        return None
    _, low, high = calibration(judge.calibration).server_error
    return max(10, overall + low), min(50, overall + high)


def rank_correlation(first: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's, ties at their mean rank; None where it is not defined."""
    if len(first) < FEWEST or len(set(first)) == 1 or len(set(other)) == 1:
        return None
    return correlation(_ranks(first), _ranks(other))


def weighted_kappa(labels: Sequence[int], scores: Sequence[int]) -> float | None:
    """Cohen's kappa with quadratic weights; None where chance alone leaves no disagreement."""
    count = len(labels)
    error = sum((label - score) ** 2 for label, score in zip(labels, scores, strict=True)) / count
    of_labels, of_scores = Counter(labels), Counter(scores)
    by_chance = sum(
        of_labels[label] * of_scores[score] * (label - score) ** 2 for label in of_labels for score in of_scores
    ) / (count * count)
    return None if by_chance == 0 else 1 - error / by_chance


def _ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value from 0; equal values share the middle of their places."""
    ordered = sorted(values)
    ranks = {value: (bisect_left(ordered, value) + bisect_right(ordered, value) - 1) / 2 for value in set(values)}
    return [ranks[value] for value in values]


def total_of(scores: Sequence[int]) -> int:
    """TDQS in tenths."""
    rubric = load("tdqs")
    return tdqs(rubric, dict(zip(rubric.keys, scores, strict=True)), spec=SPECS[0])
