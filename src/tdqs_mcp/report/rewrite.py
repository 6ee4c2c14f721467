"""Rewritten definitions for eyes: what changes, what it proves, what only the author can answer."""

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff

from rich.console import Group, RenderableType
from rich.text import Text

from tdqs_mcp.report.escape import markdown, printable, visible
from tdqs_mcp.report.words import unjudged_words
from tdqs_mcp.results.rewrites import OFFLINE, Change, Rewrite, RewriteReport
from tdqs_mcp.results.scores import ToolScore

MAX_SHOWN = 20
"""Tools shown one by one, the greatest gains first; JSON has them all."""

_KINDS = ("fact", "trace", "docs")
_STYLES = {"-": "red", "+": "green", "@": "cyan"}
_TICKS = re.compile("`+")


def rewrite_view(report: RewriteReport, *, is_saved: bool = False) -> RenderableType:
    """Every changed tool with its diff and numbers, then the questions of those that stay as they are."""
    rewrites = report.rewrites
    parts: list[RenderableType] = [Text(f"{printable(report.server)} · {_summary(rewrites)}", style="bold")]
    told = _told(rewrites)
    for rewrite in told[:MAX_SHOWN]:
        parts += [Text(), Text(f"{printable(rewrite.name)}   {_numbers(rewrite)}", style="bold")]
        parts += [Text(f"  {visible(line)}", style=_STYLES.get(line[:1], "")) for line in _lines(rewrite.changes)]
        parts += [Text(f"  {printable(line)}", style="dim") for line in _proof(rewrite)]
        parts += [Text(f"  ? {printable(question)}", style="yellow") for question in rewrite.questions]
    if len(told) > MAX_SHOWN:
        parts += [Text(), Text(f"… and {len(told) - MAX_SHOWN} more; --tool NAME shows one, --format json all")]
    unjudged = [Text(printable(line), style="yellow") for line in _unjudged(rewrites)]
    unused = [Text(printable(line), style="dim") for line in _unused(rewrites)]
    noted = [*unjudged, *unused, Text()] if unjudged or unused else []
    return Group(*parts, Text(), *noted, Text(_next(rewrites, is_saved=is_saved), style="dim"))


def rewrite_markdown(report: RewriteReport, *, is_saved: bool = False) -> str:
    """The same for a pull request: a diff and a list of questions for each tool."""
    rewrites = report.rewrites
    lines = [f"## {markdown(report.server)}: {_summary(rewrites)}", ""]
    for rewrite in _told(rewrites):
        lines += [f"### {markdown(rewrite.name)}", "", _numbers(rewrite), ""]
        lines += [*_fenced([visible(line) for line in _lines(rewrite.changes)]), ""] if rewrite.changes else []
        lines += (
            [*(f"- {markdown(line)}" for line in _proof(rewrite)), ""] if rewrite.changes or rewrite.setback else []
        )
        lines += [f"- {markdown(question)}" for question in rewrite.questions] + ([""] if rewrite.questions else [])
    noted = [f"- {markdown(line)}" for line in (*_unjudged(rewrites), *_unused(rewrites))]
    return "\n".join([*lines, *noted, *([""] if noted else []), _next(rewrites, is_saved=is_saved), ""])


def _told(rewrites: Sequence[Rewrite]) -> list[Rewrite]:
    told = [rewrite for rewrite in rewrites if rewrite.changes or rewrite.questions or rewrite.setback]
    return sorted(told, key=lambda rewrite: (not rewrite.changes, -_gain(rewrite), rewrite.index))


def _gain(rewrite: Rewrite) -> int:
    return rewrite.after.tdqs - rewrite.before.tdqs if rewrite.before and rewrite.after else 0


def _summary(rewrites: Sequence[Rewrite]) -> str:
    changed = sum(bool(rewrite.changes) for rewrite in rewrites)
    before, after = (sum(counts) for counts in zip(*_tokens(rewrites), strict=True)) if rewrites else (0, 0)
    count = "1 tool" if len(rewrites) == 1 else f"{len(rewrites)} tools"
    return f"{changed} of {count} rewritten · about {before} → {after} tokens"


def _tokens(rewrites: Sequence[Rewrite]) -> Iterator[tuple[int, int]]:
    return ((rewrite.tokens_before, rewrite.tokens_after) for rewrite in rewrites)


def _numbers(rewrite: Rewrite) -> str:
    if not rewrite.changes:
        return f"TDQS {_score(rewrite.before)}, unchanged"
    tokens = f"about {rewrite.tokens_before} → {rewrite.tokens_after} tokens"
    return f"TDQS {_score(rewrite.before)} → {_score(rewrite.after)} · {tokens}"


def _proof(rewrite: Rewrite) -> Iterator[str]:
    """What stands behind a rewrite, in a line each; of one that changes nothing only why a writer was set back."""
    if rewrite.changes:
        count = len(rewrite.claims)
        by = "" if rewrite.writer == OFFLINE else f" in the words of {rewrite.writer}"
        yield f"proof: {count} new {'statement' if count == 1 else 'statements'}{by}, each with a source"
        yield f"tells: {', '.join(rewrite.components)}"
    before, after = rewrite.likeness_before, rewrite.likeness_after
    if rewrite.changes and before and after and after.sibling:
        yield f"nearest sibling: {after.sibling}, {before.percent} % → {after.percent} % of the words"
    if rewrite.setback:
        yield f"the writer's words do not stand: {rewrite.setback}"


def _unused(rewrites: Sequence[Rewrite]) -> list[str]:
    """What of the material no rewrite rests on, in a line each."""
    used = frozenset[str]().union(*(rewrite.sources for rewrite in rewrites))
    reasons = {each.source: each.reason for rewrite in rewrites for each in rewrite.unused if each.source not in used}
    ordered = sorted(reasons, key=lambda source: (_KINDS.index(source.split()[0]), len(source), source))
    more = len(ordered) - MAX_SHOWN
    shown = [f"not used: {source}: {reasons[source]}" for source in ordered[:MAX_SHOWN]]
    return [*shown, f"not used: {more} more; --format json has all"] if more > 0 else shown


def _score(score: ToolScore | None) -> str:
    return "no score" if score is None else f"{score.tdqs / 10} {score.tier}"


def _lines(changes: Sequence[Change]) -> Iterator[str]:
    """A unified diff of the description, one line for any other field, and what the new words rest on."""
    for change in changes:
        if change.path == "/description":
            yield from _diff(str(change.before or ""), str(change.after))
        else:
            yield from _value(change)
        yield f"  from {'; '.join(change.sources)}"


def _value(change: Change) -> Iterator[str]:
    """A field other than the description, by its pointer without the slash in front."""
    if change.before is not None:
        yield f"- {change.path[1:]}: {change.before}"
    yield f"+ {change.path[1:]}: {change.after}"


def _diff(before: str, after: str) -> Iterator[str]:
    old = before.split("\n") if before else []
    lines = unified_diff(old, after.split("\n"), lineterm="", n=1)
    return (line for line in lines if line not in ("--- ", "+++ "))


def _fenced(lines: Sequence[str]) -> list[str]:
    """A code block that no line can close."""
    longest = max((len(ticks) for line in lines for ticks in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}diff", *lines, fence]


def _unjudged(rewrites: Sequence[Rewrite]) -> list[str]:
    """What the judge failed on; of very many reasons the first."""
    lines = unjudged_words((rewrite.name, rewrite.unjudged) for rewrite in rewrites if rewrite.unjudged)
    return lines[:MAX_SHOWN]


def _next(rewrites: Sequence[Rewrite], *, is_saved: bool) -> str:
    """What is left to do; where the changes went, whoever has saved them says."""
    if any(rewrite.unjudged for rewrite in rewrites):
        return "What was not judged is not proven. Next: see that the judge answers, then rewrite again"
    is_changed = any(rewrite.changes for rewrite in rewrites)
    asked = ["answer the questions in the definitions"] if any(rewrite.questions for rewrite in rewrites) else []
    steps = [*asked, *(["--write FILE saves the catalog with these changes"] if is_changed and not is_saved else [])]
    if not is_changed and not steps:
        return "Nothing to rewrite and nothing to ask"
    nothing = "" if is_changed else "Nothing can be improved from what is known. "
    return f"{nothing}Next: {'; '.join(steps or ['read the changes'])}"
