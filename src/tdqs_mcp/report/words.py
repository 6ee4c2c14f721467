"""Who judged, what came out and what did not, in words."""

from collections.abc import Iterable, Sequence

from tdqs_mcp.facts.text.words import first_of
from tdqs_mcp.report.doubts import MAX_NAMED
from tdqs_mcp.report.escape import printable
from tdqs_mcp.results.tiers import tier_of
from tdqs_mcp.results.verdicts import JudgeStamp


def judge_words(judge: JudgeStamp) -> str:
    """Who judged, so that a number can be compared: calibration, model and prompt."""
    words = [
        printable(judge.model) if judge.model else "",
        f"calibration {judge.calibration}" if judge.calibration else "",
        f"{judge.prompt} prompt" if judge.prompt else "",
    ]
    return ", ".join([judge.id, *(word for word in words if word)])


def score_words(tenths: int | None) -> str:
    """A score with its tier: `3.4 B`."""
    return "no score" if tenths is None else f"{tenths / 10} {tier_of(tenths)}"


def unjudged_words(failed: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each reason why something was not judged, said once: how many, and the first of them by name."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in failed:
        by_reason.setdefault(reason, []).append(name)
    return [f"{len(names)} not judged ({first_of(names, MAX_NAMED)}): {reason}" for reason, names in by_reason.items()]


def unjudged_lines(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> list[str]:
    """What the judge failed on: once where it was so in both versions for the same reason, else with the version."""
    failed = [(name if (name, reason) in new else f"{name} (old)", reason) for name, reason in dict.fromkeys(old)]
    failed += [(f"{name} (new)", reason) for name, reason in dict.fromkeys(new) if (name, reason) not in old]
    return unjudged_words(failed)
