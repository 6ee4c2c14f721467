"""The judge that needs no key: a linear model over facts, in integers, that can say what moved each score."""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

from tdqs_mcp.facts.relations import ToolSet
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.judges import features
from tdqs_mcp.model.results import Judgement, JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Case, SetCase, ToolCase

UNIT = 100
"""Weights are hundredths of a score point."""

MAX_QUOTE = 160
"""Characters of a quotation; longer sentences are cut at a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One dimension's model: base and weights, in hundredths of a score point."""

    base: int
    weights: Mapping[str, int]
    missable: tuple[str, ...]
    """Features whose absence is a reason to name, the heaviest first."""

    def latent(self, values: Mapping[str, int]) -> int:
        """The score before rounding, in hundredths."""
        return self.base + sum([weight * values[name] for name, weight in self.weights.items()])


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The shipped model: which numbers, under which version."""

    version: str
    tool: Mapping[str, Line]
    set: Mapping[str, Line]


class Offline:
    """Grades from facts alone: same input, same output, no network."""

    @property
    def stamp(self) -> JudgeStamp:
        """The offline judge and its calibration version."""
        return JudgeStamp(id="offline", version="0", calibration=calibration().version)

    async def grade(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """The port's form of `verdicts`."""
        return self.verdicts(cases)

    def verdicts(self, cases: Sequence[Case]) -> list[Verdict | Ungraded]:
        """A verdict for every case of a rubric that there are weights for; facts are always there."""
        return [_grade(case) for case in cases]


@cache
def calibration() -> Calibration:
    """The numbers in `data/offline.json`."""
    table = json.loads(_data("offline.json"))
    return Calibration(
        version=table["calibration"],
        tool={key: _line("tool", entry) for key, entry in table["tool"].items()},
        set={key: _line("set", entry) for key, entry in table["set"].items()},
    )


@cache
def _words() -> dict[str, dict[str, dict[str, str]]]:
    return tomllib.loads(_data("reasons.toml"))


def _data(name: str) -> str:
    return files("tdqs_mcp.judges").joinpath("data", name).read_text(encoding="utf-8")


def _line(kind: str, entry: Mapping[str, Any]) -> Line:
    weights: dict[str, int] = entry["weights"]
    missable = [name for name in weights if "absent" in _words()[kind][name]]
    return Line(
        base=entry["base"],
        weights=weights,
        missable=tuple(sorted(missable, key=lambda name: (-abs(weights[name]), name))),
    )


def _grade(case: Case) -> Verdict | Ungraded:
    if isinstance(case, ToolCase) and case.rubric == "tdqs":
        return _grade_tool(case.subject)
    if isinstance(case, SetCase):
        return _grade_set(case)
    return Ungraded(
        judge="offline",
        reason=f"the offline judge is not calibrated for the {case.rubric} rubric; name another with --judge",
    )


def _grade_tool(subject: Subject) -> Verdict:
    values = features.of_tool(subject)
    judgements = {key: _judge_tool(line, values, subject) for key, line in calibration().tool.items()}
    contradiction = subject.prose.contradiction
    if contradiction is not None:
        judgements["behavioral_transparency"] = Judgement(
            score=1,
            justification=f"readOnlyHint is true, yet the description says {contradiction!r}.",
            evidence=(contradiction,),
        )
    return Verdict(judgements=judgements, summary=_summary(judgements), contradiction=contradiction is not None)


def _judge_tool(line: Line, values: Mapping[str, int], subject: Subject) -> Judgement:
    reasons, evidence = [], []
    for name, is_there in _movers(line, values, lambda name: features.is_relevant(name, subject)):
        words = features.quote(name, subject) if is_there else None
        quotation = _cut(words) if words else None
        reasons.append(_say("tool", name, is_there=is_there, quote=quotation))
        if quotation:
            evidence.append(quotation)
    return Judgement(
        score=_score(line, values), justification=_sentence(reasons), evidence=tuple(dict.fromkeys(evidence))
    )


def _grade_set(case: SetCase) -> Verdict:
    tools = case.measured.tool_set()
    values = features.of_set(tools)
    judgements = {key: _judge_set(line, values, tools) for key, line in calibration().set.items()}
    return Verdict(judgements=judgements, summary=_summary(judgements))


def _judge_set(line: Line, values: Mapping[str, int], tools: ToolSet) -> Judgement:
    reasons: list[str] = []
    evidence: list[str] = []
    for name, is_there in _movers(line, values, lambda _: True):
        names = features.names_behind(name, tools)[:3] if is_there else ()
        reasons.append(_say("set", name, is_there=is_there, quote=", ".join(names) or None))
        evidence += names
    count = "there is 1 tool" if tools.tool_count == 1 else f"there are {tools.tool_count} tools"
    justification = _sentence(reasons or [count])
    return Judgement(score=_score(line, values), justification=justification, evidence=tuple(dict.fromkeys(evidence)))


def _score(line: Line, values: Mapping[str, int]) -> int:
    return max(1, min(5, (line.latent(values) + UNIT // 2) // UNIT))


def _movers(line: Line, values: Mapping[str, int], is_relevant: Callable[[str], bool]) -> list[tuple[str, bool]]:
    """The two features that moved the score most, then the heaviest absent one (two, where nothing moved it)."""
    moves = [(-abs(weight * values[name]), name) for name, weight in line.weights.items() if values[name]]
    there = [name for _, name in sorted(moves)[:2]]
    absent = (name for name in line.missable if not values[name] and is_relevant(name))
    return [(name, True) for name in there] + [(name, False) for name in islice(absent, 1 if there else 2)]


def _say(kind: str, name: str, *, is_there: bool, quote: str | None) -> str:
    template = _words()[kind][name]["present" if is_there else "absent"]
    marked = f'"{quote}"' if kind == "tool" else quote
    return template.format(quote=marked) if quote else template.replace(" ({quote})", "")


def _cut(text: str) -> str:
    return text if len(text) <= MAX_QUOTE else text[:MAX_QUOTE].rsplit(" ", 1)[0]


def _sentence(reasons: Sequence[str]) -> str:
    text = "; ".join(reasons)
    return f"{text[:1].upper()}{text[1:]}."


def _summary(judgements: Mapping[str, Judgement]) -> str:
    """The strongest and the weakest dimension."""
    ranked = sorted(judgements, key=lambda key: -judgements[key].score)
    best, worst = ranked[0], ranked[-1]
    best_score, worst_score = judgements[best].score, judgements[worst].score
    return f"Strongest in {_plain(best)} ({best_score}), weakest in {_plain(worst)} ({worst_score})."


def _plain(key: str) -> str:
    return key.replace("_", " ")
