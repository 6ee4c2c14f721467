"""Two versions of a catalog for eyes: what breaks callers first, wording last."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from tdqs_mcp.report.escape import markdown, printable
from tdqs_mcp.report.markdown import fitting
from tdqs_mcp.report.words import score_words, unjudged_lines
from tdqs_mcp.results.comparison import Comparison, Impact, ToolComparison
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.scoring.score import unjudged

COMPARE_MARKER = "<!-- tdqs-mcp compare -->"

MAX_SHOWN = 40
"""Lines below one heading; JSON has them all."""

_STYLES = {Impact.BREAKING: "red", Impact.DANGEROUS: "magenta", Impact.COMPATIBLE: "green", Impact.WORDING: "cyan"}
_TITLES = {
    Impact.BREAKING: "Breaking",
    Impact.DANGEROUS: "More dangerous",
    Impact.COMPATIBLE: "Compatible",
    Impact.WORDING: "Wording",
}


def compare_view(comparison: Comparison) -> RenderableType:
    """Numbers, then differences by what they mean for a caller, then findings."""
    parts: list[RenderableType] = [Text(printable(summary(comparison)), style="bold")]
    for title, style, lines in _sections(comparison):
        parts += [Text(), Text(title, style=style)]
        parts += [Text(f"  {printable(line)}") for line in lines[:MAX_SHOWN]]
        if len(lines) > MAX_SHOWN:
            parts.append(Text(f"  … and {len(lines) - MAX_SHOWN} more; --format json has all"))
    return Group(*parts, Text(), Text(verdict(comparison), style="dim"))


def compare_markdown(comparison: Comparison) -> str:
    """The same as a comment on a pull request."""
    return fitting(lambda rows: _markdown(comparison, rows), COMPARE_MARKER)


def summary(comparison: Comparison) -> str:
    """Overall score and tokens of both versions."""
    old, new = comparison.old, comparison.new
    name = new.server if old.server == new.server else f"{old.server} → {new.server}"
    overall = f"overall {score_words(old.rollup.overall)} → {score_words(new.rollup.overall)}"
    cost = f"about {comparison.tokens_before} → {comparison.tokens_after} tokens"
    return f"{name}: {overall}, {old.tool_count} → {new.tool_count} tools, {cost}"


def verdict(comparison: Comparison) -> str:
    """Whether the new version is worse, and what to do about it."""
    count = len(comparison.regressions)
    if count:
        said = "1 regression" if count == 1 else f"{count} regressions"
        return f"{said}. Next: take these changes back, or tell the people who call these tools"
    if not any(tool.differences for tool in comparison.tools):
        return "The definitions are the same"
    if unjudged(comparison.old) or unjudged(comparison.new):
        return (
            "No regression in what was judged, which is not all. Next: see that the judge answers, then compare again"
        )
    return "No regression: the new version can be used"


def score_change(tool: ToolComparison) -> str | None:
    """The TDQS of both versions of a tool that is in both and has another one."""
    if not (tool.before and tool.after) or tool.before.tdqs == tool.after.tdqs:
        return None
    return f"TDQS {score_words(tool.before.tdqs)} → {score_words(tool.after.tdqs)}"


def _sections(comparison: Comparison) -> Iterator[tuple[str, str, list[str]]]:
    """Title, style and lines of everything that is not empty."""
    sections = [
        ("Not judged", "yellow", unjudged_lines(unjudged(comparison.old), unjudged(comparison.new))),
        ("Regressions", "bold red", list(comparison.regressions)),
    ]
    sections += [(_TITLES[impact], _STYLES[impact], _differences(comparison, impact)) for impact in Impact]
    sections += [
        ("Scores", "bold", list(_scores(comparison.tools))),
        ("New findings", "red", [_finding(finding) for finding in comparison.findings_added]),
        ("Fixed findings", "green", [_finding(finding) for finding in comparison.findings_fixed]),
    ]
    return (section for section in sections if section[2])


def _differences(comparison: Comparison, impact: Impact) -> list[str]:
    return [
        ": ".join(part for part in (tool.name or "a tool without a name", each.path, each.message) if part)
        for tool in comparison.tools
        for each in tool.differences
        if each.impact is impact
    ]


def _scores(tools: Sequence[ToolComparison]) -> Iterator[str]:
    for tool in tools:
        change = score_change(tool)
        if change:
            yield f"{tool.name}: {change}, about {tool.tokens_before} → {tool.tokens_after} tokens"


def _finding(finding: Finding) -> str:
    return f"{finding.subject.label}: {finding.severity} {finding.rule}: {finding.message}"


def _markdown(comparison: Comparison, rows: int) -> str:
    lines = [f"## {markdown(summary(comparison))}", "", f"{markdown(verdict(comparison))}.", ""]
    for title, _, found in _sections(comparison):
        lines += [f"### {title} ({len(found)})", "", *(f"- {markdown(line)}" for line in found[:rows])]
        lines += [*([f"- and {len(found) - rows} more"] if len(found) > rows else []), ""]
    return "\n".join([*lines, COMPARE_MARKER, ""])
