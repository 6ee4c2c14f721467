"""Changes since definitions were locked, for people."""

from tdqs_mcp.report.blocks import (
    Block,
    Code,
    Heading,
    Items,
    Line,
    Title,
    Words,
    count_words,
    named,
    problem_items,
)
from tdqs_mcp.results.comparisons import Impact, LockedChange, LockReport, LockState

STYLES = {Impact.BREAKING: "bold red", Impact.DANGEROUS: "bold red", Impact.COMPATIBLE: "cyan", Impact.WORDING: "dim"}

MAX_CHANGES = 20
"""Changes of one impact in a terminal."""


def lock_blocks(report: LockReport, *, is_lock: bool = False) -> list[Block]:
    """Changes by what they mean, what could not be compared, and how to accept; `is_lock` for the command `lock`."""
    tools = count_words(report.tool_count, "tool")
    blocks: list[Block] = [Title(f"{named(report.server, report.version)} · {tools} · {_summary(report)}")]
    for impact in Impact:
        changes = [change for change in report.changes if change.difference.impact is impact]
        if changes:
            allowed = ", allowed by the lock" if all(item.is_allowed for item in changes) else ""
            blocks += [Heading(f"{impact.capitalize()} ({len(changes)}){allowed}", STYLES[impact])]
            blocks.append(Items([(_line(item, report), "") for item in changes], indent=2, shown=MAX_CHANGES))
    blocks += [
        Items([(f"not verified: {item}", "yellow") for item in report.unverified]),
        problem_items(report.problems),
    ]
    following = _next(report, is_lock=is_lock)
    return [*blocks, Line(following, "dim")] if following else blocks


def _summary(report: LockReport) -> str:
    if report.state is LockState.NEW:
        return "locked"
    if not report.changes:
        return "nothing has changed since it was locked"
    count = count_words(len(report.changes), "change")
    since = f" since {report.locked_version}" if report.locked_version not in (None, report.version) else ""
    if report.accepted:
        return f"{count}{since}, {count_words(len(report.accepted), 'part')} accepted"
    return f"{count}{since}" + ("" if report.refused else ", all allowed by the lock")


def _line(change: LockedChange, report: LockReport) -> str:
    difference = change.difference
    accepted = ", accepted" if change.part in report.accepted else ""
    return ": ".join(
        filter(None, (change.part, difference.path, f"{difference.message} [{difference.change}{accepted}]"))
    )


def _next(report: LockReport, *, is_lock: bool) -> Words:
    left = [change.part for change in report.changes if not change.is_allowed and change.part not in report.accepted]
    if left:
        again = "" if is_lock else " with tdqs-mcp lock LOCATOR"
        return (
            f"Next: read the changes, then accept them{again}: ",
            Code("--accept PART"),
            " or ",
            Code("--accept-all"),
        )
    if report.unverified:
        return "Next: verify the live server, or a capture of it"
    return ""
