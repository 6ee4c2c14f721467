"""Findings in a terminal: by rule within a screen, all of them by tool, or counted."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.report.blocks import (
    Block,
    Code,
    Column,
    Gap,
    Heading,
    Line,
    Span,
    Table,
    Title,
    Words,
    columns,
    count_words,
    named,
    plain_words,
)
from tdqs_mcp.report.escape import printable
from tdqs_mcp.report.lint_report import SEVERITY_STYLES, LocatedReport, Verdict, by_rule, notes, tally_words
from tdqs_mcp.results.findings import Finding, LintReport, Severity

MAX_LINES = 40
"""Lines of a server in a terminal, unless every finding is asked for."""

LINE_WIDTH = 100
"""Characters of a line beside the severity where output does not go to a terminal."""

MAX_EXAMPLES = 3
"""Findings of a rule that are shown before any other rule shows more."""

MAX_FORMS = 5
"""Lengths in which the findings of a rule can be shown."""

MAX_NAMED = 5
"""Tools that a line names."""

MAX_WORST = 3
"""Tools with the most findings that a line names."""

MAX_SOURCE = 8
"""Lines of a definition that one finding shows."""

_Row = tuple[Words, Words]
"""The severity, and the text beside it."""


def lint_blocks(located: LocatedReport, *, verdict: Verdict) -> list[Block]:
    """The findings of a server by rule, the worst first, as much of them as a screen holds."""
    report = located.report
    summary = _summary(located, verdict, "; --all lists every finding")
    room = MAX_LINES - 2 - sum(_height(block.words) if isinstance(block, Line) else 1 for block in summary)
    rows = _fit(by_rule(report.findings), report, room)
    return [*_head(report), *_below_gap(_table(rows)), *summary]


def summary_blocks(located: LocatedReport, *, verdict: Verdict) -> list[Block]:
    """The total and the verdict, without findings."""
    return [*_head(located.report), *_summary(located, verdict, "; lint without --fix lists the findings")]


def full_blocks(located: LocatedReport, *, verdict: Verdict, has_source: bool = False) -> list[Block]:
    """Every finding by tool; what is the same on every tool is said once for the server."""
    report = located.report
    common = {} if has_source else _common(report)
    blocks: list[Block] = []
    if common:
        rows = [row for finding in common.values() for row in _whole(finding, None)]
        blocks += [Heading(_all(len(report.tools))), _table(rows)]
    for name, findings in _by_subject(each for each in report.findings if _wording(each) not in common):
        rows = [row for each in findings for row in _whole(each, located, has_source=has_source)]
        blocks += [Heading(name), _table(rows)]
    return [*_head(report), *blocks, *_summary(located, verdict)]


def statistics_blocks(located: LocatedReport, *, verdict: Verdict) -> list[Block]:
    """How often each rule fires, and on how many tools."""
    report = located.report
    heads = (*columns("findings", "tools", left=0), *columns("severity", "rule", "name", left=3))
    rows = [
        (
            str(len(group)),
            str(len({each.tool_index for each in group} - {None})),
            _severity(group[0]),
            group[0].rule,
            group[0].name,
        )
        for group in by_rule(report.findings)
    ]
    return [*_head(report), *_below_gap(Table(heads, rows)), *_summary(located, verdict)]


def _head(report: LintReport) -> list[Block]:
    return [Title(f"{named(report.server, report.version)} · {count_words(len(report.tools), 'tool')}")]


def _summary(located: LocatedReport, verdict: Verdict, more: str = "") -> list[Block]:
    """The total, the tools that it is about and the clean ones, what does not count, the verdict; a line each."""
    report = located.report
    words = [Span(each, "dim") for each in (*_tool_words(report), *notes(report))]
    if not report.findings:
        return [Gap(), *map(Line, words), Line(verdict.words(located))]
    ours = [group[0].rule for group in by_rule(report.findings) if group[0].rule.startswith("TDQ")]
    following = ("Next: ", Code(f"tdqs-mcp explain {ours[0]}" if ours else "tdqs-mcp rules --rules MODULE"), more)
    return [Gap(), Line(tally_words(report)), *map(Line, words), Line(verdict.words(located)), Line(following, "dim")]


def _tool_words(report: LintReport) -> Iterator[str]:
    """The tools with the most findings, and mcptest's Pass line for the others."""
    counts = Counter(each.tool_index for each in report.findings if each.tool_index is not None)
    names = {index: name or f"tool {index + 1}" for index, name in report.tools.items()}
    worst = counts.most_common(MAX_WORST)
    if len(names) > 1 and worst and worst[0][1] > 1:
        yield f"most findings: {', '.join(f'{names[index]} {count}' for index, count in worst)}"
    clean = [name for index, name in names.items() if index not in counts]
    if clean and report.findings:
        yield f"{count_words(len(clean), 'clean tool')}: {first_of(clean, MAX_NAMED)}"


def _by_subject(findings: Iterable[Finding]) -> list[tuple[str, list[Finding]]]:
    groups: dict[tuple[str, int | None], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.subject.kind, finding.subject.index), []).append(finding)
    return [(group[0].subject.label, group) for group in groups.values()]


_Wording = tuple[str, Severity, str, str, str | None]


def _wording(finding: Finding) -> _Wording:
    return finding.rule, finding.severity, finding.subject.path, finding.message, finding.suggestion


def _common(report: LintReport) -> dict[_Wording, Finding]:
    """What is found on every tool in the same words, each once."""
    about_tools = {_wording(each): each for each in report.findings if each.tool_index is not None}
    counts = Counter(_wording(each) for each in report.findings if each.tool_index is not None)
    several = len(report.tools) > 1
    return {key: each for key, each in about_tools.items() if several and counts[key] == len(report.tools)}


def _fit(groups: Sequence[Sequence[Finding]], report: LintReport, room: int) -> list[_Row]:
    """The rules in so many lines: one for each, then more of the first ones; rules without a line are counted."""
    forms = [_forms(group, report) for group in groups]
    heights = [[sum(_height(row[1]) for row in rows) for rows in each] for each in forms]
    kept = len(groups)
    while kept and sum(each[0] for each in heights[:kept]) > room - (kept < len(groups)):
        kept -= 1
    left = room - sum(each[0] for each in heights[:kept]) - (kept < len(groups))
    level = [0] * kept
    errors = [place for place in range(kept) if groups[place][0].severity is Severity.ERROR]
    for places in (errors, range(len(errors), kept)):
        for step, place in product(range(1, MAX_FORMS), places):
            if level[place] == step - 1 and step < len(forms[place]):
                cost = heights[place][step] - heights[place][step - 1]
                level[place] += cost <= left
                left -= cost if cost <= left else 0
    rows = [row for place in range(kept) for row in forms[place][level[place]]]
    if kept < len(groups):
        findings = count_words(sum(map(len, groups[kept:])), "finding")
        rows.append(("", Span(f"… {count_words(len(groups) - kept, 'more rule')} with {findings}: --all", "dim")))
    return rows


def _forms(group: Sequence[Finding], report: LintReport) -> list[list[_Row]]:
    """What a rule found: on one line, with the fix, with examples, with all."""
    first = group[0]
    head = (Span(f"{first.rule} {first.name}", "bold"), Span(_where(group, report), "dim"))
    if len({finding.message for finding in group}) == 1:
        title: _Row = (_severity(first), (*head, f": {first.message}"))
        names = list(dict.fromkeys(finding.subject.label for finding in group))
        is_named = 1 < len(names) < len(report.tools)
        named_: list[_Row] = [("", Span(first_of(names, MAX_NAMED), "dim"))] if is_named else []
        return [[title], [title, *_fix(first)], [title, *named_, *_fix(first)]]
    is_same = len({finding.suggestion for finding in group}) == 1
    fix = _fix(first) if is_same else []
    examples = [[_example(finding), *([] if is_same else _fix(finding))] for finding in group]
    forms: list[list[_Row]] = [[(_severity(first), head)], [(_severity(first), head), *fix]]
    for count in (1, min(MAX_EXAMPLES, len(group)), len(group)):
        title = (_severity(first), (*head, ", such as" if count < len(group) else ""))
        forms.append([title, *(row for each in examples[:count] for row in each), *fix])
    return forms


def _where(group: Sequence[Finding], report: LintReport) -> str:
    """Where a rule fires, and how often if that is more often; nothing for the server itself."""
    labels = {finding.subject.label for finding in group}
    tools = {finding.tool_index for finding in group}
    times = f" ({len(group)} times)" if len(group) > max(len(tools), len(labels)) else ""
    if len(labels) == len(tools) == 1:
        return times if group[0].subject.kind == "server" else f" in {group[0].subject.label}{times}"
    if None in tools:
        return f" in {len(labels)} places{times}"
    if len(tools) == len(report.tools):
        return f" in {_all(len(tools))}{times}"
    return f" in {len(tools)} of {len(report.tools)} tools{times}"


def _all(count: int) -> str:
    return "both tools" if count == 2 else f"all {count} tools"


def _example(finding: Finding) -> _Row:
    return "", (Span(finding.subject.label, "dim"), f": {finding.message}")


def _fix(finding: Finding) -> list[_Row]:
    return [("", (Span("fix: ", "green"), finding.suggestion))] if finding.suggestion else []


def _whole(finding: Finding, located: LocatedReport | None, *, has_source: bool = False) -> list[_Row]:
    """All about one finding: its message, its place, the value there and its fix; no place without a report."""
    head = (Span(f"{finding.rule} {finding.name}", "bold"), f": {finding.message}")
    rows: list[_Row] = [(_severity(finding), head)]
    if located and finding.subject.index is not None:
        position = located.find(finding.subject)
        line = f"{located.file}:{position.line}:{position.column} " if position else ""
        rows.append(("", Span(f"at {line}{finding.subject.path}", "dim")))
        shown = _source_lines(located.source(finding)) if has_source else []
        rows += [("", Span(f"| {line}", "dim")) for line in shown]
    return [*rows, *_fix(finding)]


def _source_lines(value: Any) -> list[str]:  # noqa: ANN401  # any JSON value
    """The value as the definition has it, as far as it tells something; nothing where there is none."""
    if value is None:
        return []
    text = json.dumps(value, ensure_ascii=False)
    lines = textwrap.wrap(text, LINE_WIDTH - 2, break_on_hyphens=False)
    return lines if len(lines) <= MAX_SOURCE else [*lines[: MAX_SOURCE - 1], "…"]


def _severity(finding: Finding) -> Span:
    return Span(finding.severity, SEVERITY_STYLES[finding.severity])


def _below_gap(table: Table) -> list[Block]:
    return [Gap(), table] if table.rows else []


def _table(rows: Sequence[_Row]) -> Table:
    heads = (Column(head="severity", is_whole=True, min_width=len(Severity.WARNING)), Column(head="finding"))
    return Table(heads, rows, has_head=False)


def _height(words: Words) -> int:
    """Lines of some words, where a line is as wide as in a file."""
    return max(1, len(textwrap.wrap(printable(plain_words(words)), LINE_WIDTH, break_on_hyphens=False)))
