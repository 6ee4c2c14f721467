"""Who judged, what came out and what did not, in words; light enough for every report."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tdqs_mcp.report.blocks import Items, Span
from tdqs_mcp.results.verdicts import JudgeStamp, Tier, tier_of

if TYPE_CHECKING:  # linting goes without scores
    from tdqs_mcp.results.scores import UngradedTool

MAX_NAMED = 20
"""Tools that a line names; JSON has them all."""

TIER_STYLES = {Tier.A: "green", Tier.B: "cyan", Tier.C: "yellow", Tier.D: "red", Tier.F: "red"}


def judge_words(judge: JudgeStamp) -> str:
    """Who judged, so that a number can be compared: calibration, model and prompt."""
    words = [
        judge.model or "",
        f"calibration {judge.calibration}" if judge.calibration else "",
        f"{judge.prompt} prompt" if judge.prompt else "",
    ]
    return ", ".join([judge.id, *(word for word in words if word)])


def score_words(tenths: int | None) -> str:
    """A score with its tier: `3.4 B`."""
    return "no score" if tenths is None else f"{tenths / 10} {tier_of(tenths)}"


def named(server: str, version: str | None) -> str:
    """The server with its version."""
    return f"{server} {version}" if version else server


def count_words(count: int, one: str, more: str | None = None) -> str:
    """`1 tool`, `2 tools`."""
    return f"1 {one}" if count == 1 else f"{count} {more or f'{one}s'}"


def unjudged_words(failed: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each reason why something was not judged: how many, and the first of them by name."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in failed:
        by_reason.setdefault(reason, []).append(name)
    return [f"{len(names)} not judged ({_first_of(names)}): {reason}" for reason, names in by_reason.items()]


def unjudged_lines(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> list[str]:
    """What the judge failed on: once where it was so in both versions for the same reason, else with the version."""
    failed = [(name if (name, reason) in new else f"{name} (old)", reason) for name, reason in dict.fromkeys(old)]
    failed += [(f"{name} (new)", reason) for name, reason in dict.fromkeys(new) if (name, reason) not in old]
    return unjudged_words(failed)


def number(tenths: int | None) -> Span:
    """A score in its tier's color."""
    return Span("none", "dim") if tenths is None else Span(score_words(tenths), f"bold {TIER_STYLES[tier_of(tenths)]}")


def ungraded_items(tools: "Sequence[UngradedTool]") -> Items:
    """A line for each tool without a score."""
    names = [(each.name or f"tool {each.index + 1}", each.ungraded.reason) for each in tools]
    return Items([(f"ungraded: {name}: {reason}", "yellow") for name, reason in names])


def problem_items(problems: Sequence[str]) -> Items:
    """What went wrong on the way."""
    return Items([(f"! {problem}", "yellow") for problem in problems])


def _first_of(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
