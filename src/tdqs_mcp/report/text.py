"""Results for eyes: short tables that end in what to do next."""

from collections import Counter
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tdqs_mcp.report.doubts import doubt_lines
from tdqs_mcp.report.escape import printable
from tdqs_mcp.report.sited import tally, uncounted
from tdqs_mcp.report.words import judge_words
from tdqs_mcp.results.findings import Finding, LintReport, Severity
from tdqs_mcp.results.scores import ServerScore, ToolScore
from tdqs_mcp.results.tiers import Tier, tier_of
from tdqs_mcp.results.verdicts import Ungraded
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.score import first_fixes

MAX_ROWS = 20
"""Tools in a table; the lowest scores come first and JSON has them all."""

MAX_NAME = 40
"""Columns that a tool's name gets before it is folded."""

MAX_FINDINGS = 30
"""Findings printed one by one."""

MAX_FIXES = 3
_TIER_STYLES = {Tier.A: "green", Tier.B: "cyan", Tier.C: "yellow", Tier.D: "red", Tier.F: "red"}
_SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_SHORT = {
    "purpose_clarity": "purpose",
    "usage_guidelines": "usage",
    "behavioral_transparency": "behaviour",
    "parameter_semantics": "params",
    "conciseness_structure": "concise",
    "contextual_completeness": "complete",
}


def score_view(score: ServerScore) -> RenderableType:
    """A server's score: the roll-up, the lowest tools, what could not be graded, what to fix first."""
    judge, heading = score.judge, f"{_heading(score.server, score.version)} · {_tools(score.tool_count)}"
    parts: list[RenderableType] = [
        Text(f"{heading} · TDQS {score.spec_version} by {judge_words(judge)}", style="bold"),
        _rollup(score),
    ]
    if score.tools:
        parts += [Text(), _table(score)]
    parts += doubt_lines(score)
    parts += [_ungraded(tool.name or f"tool {tool.index + 1}", tool.ungraded) for tool in score.ungraded]
    if isinstance(score.coherence, Ungraded) and score.tools:
        parts.append(_ungraded("coherence", score.coherence))
    parts += [Text(f"! {printable(problem)}", style="yellow") for problem in score.problems]
    close = sum(tool.outlook is not None and tool.outlook.is_close for tool in score.tools)
    if close:
        parts.append(Text(f"{_tools(close)} too close to call between two tiers (tdqs-mcp calibrate)", style="dim"))
    return Group(*parts, *_fixes(score))


def lint_view(report: LintReport) -> RenderableType:
    """The findings of a server by tool; of very many the worst, and how often each rule fires."""
    worst = sorted(report.findings, key=lambda finding: -finding.severity.rank)[:MAX_FINDINGS]
    parts: list[RenderableType] = [
        Text(f"{_heading(report.server, report.version)} · {_tools(len(report.tools))}", style="bold")
    ]
    for name, findings in _by_subject(worst):
        parts += [Text(), Text(printable(name), style="bold"), _findings(findings)]
    if len(report.findings) > MAX_FINDINGS:
        parts += [
            Text(),
            Text("all findings by rule (--format json lists each)", style="bold"),
            _by_rule(report.findings),
        ]
    parts += [Text(), Text(_counts(report)), *(Text(line, style="dim") for line in uncounted(report))]
    if worst:
        parts.append(Text(f"Next: tdqs-mcp explain {worst[0].rule}", style="dim"))
    return Group(*parts)


def _heading(server: str, version: str | None) -> str:
    return printable(f"{server} {version}" if version else server)


def _tools(count: int) -> str:
    return "1 tool" if count == 1 else f"{count} tools"


def _rollup(score: ServerScore) -> Text:
    rollup = score.rollup
    if rollup.mean_tdqs is None or rollup.min_tdqs is None:
        return Text("nothing could be scored", style="red")
    line = Text.assemble("overall ", _number(rollup.overall), "   descriptions ", _number(rollup.description_quality))
    line.append(f" (mean {rollup.mean_tdqs / 10}, lowest {rollup.min_tdqs / 10})   coherence ")
    return line.append_text(_number(rollup.coherence))


def _number(tenths: int | None) -> Text:
    if tenths is None:
        return Text("none", style="dim")
    tier = tier_of(tenths)
    return Text(f"{tenths / 10} {tier}", style=f"bold {_TIER_STYLES[tier]}")


def _table(score: ServerScore) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="dim")
    longest = max(len(printable(tool.name)) for tool in score.tools)
    table.add_column("tool", overflow="fold", min_width=min(longest, MAX_NAME))
    table.add_column("TDQS", justify="right")
    for key in load("tdqs").keys:
        table.add_column(_SHORT[key], justify="right")
    table.add_column("flags", overflow="fold")
    lowest = sorted(score.tools, key=lambda tool: (tool.tdqs, tool.index))
    for tool in lowest[:MAX_ROWS]:
        table.add_row(*_row(tool))
    hidden = len(lowest) - MAX_ROWS
    if hidden <= 0:
        return table
    return Group(table, Text(f"… and {hidden} more with higher scores; --format json lists all", style="dim"))


def _row(tool: ToolScore) -> list[RenderableType]:
    scores = [tool.judgements[key].score for key in load("tdqs").keys]
    cells: list[RenderableType] = [Text(str(score), style="red" if score < 3 else "") for score in scores]
    flags = [flag.value for flag in (*tool.flags, *tool.server_flags)]
    if tool.enforced:
        flags.append(f"enforced {tool.enforced.tdqs / 10} {tool.enforced.tier}")
    remarks = Text(", ".join(flags), style="red")
    if tool.outlook and tool.outlook.is_close:
        odds = " or ".join(f"{tier} {tool.outlook.tiers[tier]}%" for tier in tool.outlook.likeliest)
        remarks.append(f"{', ' if flags else ''}close: {odds}", style="dim")
    return [Text(printable(tool.name)), _number(tool.tdqs), *cells, remarks]


def _ungraded(name: str, why: Ungraded) -> Text:
    return Text(f"ungraded: {printable(name)}: {printable(why.reason)}", style="yellow")


def _fixes(score: ServerScore) -> list[RenderableType]:
    fixes = first_fixes(score, MAX_FIXES)
    if not fixes:
        return []
    parts: list[RenderableType] = [Text(), Text("Fix first", style="bold")]
    for number, fix in enumerate(fixes, start=1):
        name = printable(fix.tool.name)
        parts.append(Text(f"{number}. {name} ({fix.tool.tdqs / 10} {fix.tool.tier}): {printable(fix.finding.message)}"))
        if fix.finding.suggestion:
            parts.append(Text(f"   {printable(fix.finding.suggestion)} [{fix.finding.rule}]", style="dim"))
    return [*parts, Text(f"Next: tdqs-mcp explain {fixes[0].finding.rule}", style="dim")]


def _by_subject(findings: Sequence[Finding]) -> list[tuple[str, list[Finding]]]:
    groups: dict[tuple[str, int | None], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.subject.kind, finding.subject.index), []).append(finding)
    return [(group[0].subject.label, group) for group in groups.values()]


def _findings(findings: Sequence[Finding]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        style = _SEVERITY_STYLES[finding.severity]
        table.add_row(
            Text(f"  {finding.severity}", style=style),
            Text(finding.rule, style="dim"),
            Text(printable(finding.message)),
        )
    return table


def _by_rule(findings: Sequence[Finding]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    for (rule, name), count in Counter((finding.rule, finding.name) for finding in findings).most_common():
        table.add_row(Text(f"  {count}"), Text(rule, style="dim"), Text(name))
    return table


def _counts(report: LintReport) -> str:
    if not report.findings:
        return tally(report)
    counts = [(severity, sum(finding.severity is severity for finding in report.findings)) for severity in Severity]
    return ", ".join(
        f"{count} {severity}{'s' if count != 1 and severity is not Severity.INFO else ''}" for severity, count in counts
    )
