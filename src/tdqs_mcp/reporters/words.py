"""Who judged and what came out, in words."""

from tdqs_mcp.model.tiers import tier_of
from tdqs_mcp.model.verdicts import JudgeStamp
from tdqs_mcp.reporters.escape import printable


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
