"""Findings for people, with the verdict on them; lists of rules, and what clients take."""

import json
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.toolset.search import MAX_FOUND, ListDetail, unfindable_tools
from tdqs_mcp.json_text import Position
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.blocks import (
    Block,
    Column,
    Fold,
    Gap,
    Heading,
    Items,
    Line,
    Marker,
    OnlyIn,
    Span,
    Table,
    Title,
    Words,
    columns,
    count_words,
    named,
    next_lines,
    plain_words,
    problem_items,
)
from tdqs_mcp.report.escape import printable
from tdqs_mcp.results.findings import (
    Finding,
    LintReport,
    Location,
    Persona,
    RuleList,
    Severity,
    Suppression,
    rank_of,
)
from tdqs_mcp.results.portability import SERVER, ClientView, Handling, PortabilityReport
from tdqs_mcp.results.tool_code import SourcePlace
from tdqs_mcp.rules.registry import ALL
from tdqs_mcp.rules.rule import MAX_NAMED, AnyRule, Rule, lane_of
from tdqs_mcp.sources.files import DefinitionText

if TYPE_CHECKING:
    from tdqs_mcp.results.labels import Deduction  # most findings are of no other rubric
    from tdqs_mcp.rubrics.rubric import Dimension, Rubric, Term  # linting goes without rubrics

LINT_MARKER = "<!-- tdqs-mcp lint -->"

CodePlaces: TypeAlias = Mapping[str, Mapping[str, SourcePlace]]
"""Where parts of definitions stand in the source, by the tool's name and JSON pointer."""

SEVERITY_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedReport:
    """A server's findings and the files with its definitions."""

    report: LintReport
    catalog: Catalog
    arguments: str = "LOCATOR"
    """The locator and the options of a command that shows more."""

    file: str | None = None
    """The path of the file of definitions, with forward slashes; None for a live server, code or standard input."""

    positions: Callable[[], DefinitionText | None] = lambda: None
    places: CodePlaces = field(default_factory=dict)

    named_file: str = "tdqs.toml"
    """The file that stands for a server of which no file is known."""

    fail_on: Severity | None = Severity.ERROR
    """The mildest severity that fails; None if no finding fails."""

    rule_count: int = 0
    """Rules that ran."""

    @property
    def verdict(self) -> Span:
        """PASS or FAIL and why; neither for a list of tools that was read only in part."""
        report, limit = self.report, self.fail_on
        if limit is None:
            return Span("PASS: with --fail-on never, no finding fails", "bold green")
        if self.catalog.incomplete:
            return Span(f"no verdict: the list of tools is incomplete: {self.catalog.incomplete}", "bold yellow")
        singular, several = _FAILING[limit]
        count = sum(finding.severity.rank >= limit.rank for finding in report.findings)
        if count:
            return Span(f"FAIL: {count_words(count, singular, several)} (--fail-on {limit})", "bold red")
        if report.findings:
            return Span(f"PASS: no {singular} (--fail-on {limit})", "bold green")
        if not report.tools and self.catalog.tools:
            return Span("PASS: --tool names no tool of this server", "bold green")
        new = "nothing new" if report.baseline else "nothing"
        tools = count_words(len(report.tools), "tool")
        return Span(f"PASS: {count_words(self.rule_count, 'rule')} found {new} in {tools}", "bold green")

    @property
    def counted(self) -> LintReport:
        """The report with the tools that no search by name finds."""
        return replace(self.report, not_found_by_name=unfindable_tools(self.catalog)[ListDetail.NAMES])

    def find(self, place: Location) -> SourcePlace | None:
        """Return where a place is in the source, else in the file; its start for the server's own; None without one."""
        if in_code := place_in_code(self.places, place):
            return in_code
        if self.file is None:
            return None
        text = self.positions()
        position = text.find(place) if text else None
        position = position or Position(line=1, column=1)
        return SourcePlace(file=self.file, line=position.line, column=position.column)

    def label(self, finding: Finding) -> str:
        """Return what a finding is about, with its line where that is one of code: `src/server.py:41:9 find_orders`."""
        is_code = finding.subject.name in self.places
        return f"{self.find(finding.subject)} {finding.subject.label}" if is_code else finding.subject.label

    def name(self, place: Location) -> SourcePlace:
        """Return the same, and for what stands in no known file the start of the file that stands for the server."""
        return self.find(place) or SourcePlace(file=self.named_file, line=1, column=1)

    def source(self, finding: Finding) -> Any:  # noqa: ANN401  # any JSON value
        """The value in the definition at the finding's place; None where there is none."""
        catalog = self.catalog
        parts: dict[str, Sequence[Any]]
        parts = {"tool": catalog.tools, "resource": catalog.resources or (), "prompt": catalog.prompts or ()}
        if finding.subject.index is None:
            return None
        value: Any = parts[finding.subject.kind][finding.subject.index].raw
        for step in split_pointer(finding.subject.path):
            try:
                value = value[int(step) if isinstance(value, list) else step]
            except (LookupError, TypeError, ValueError):
                return None
        return value


def place_in_code(places: CodePlaces, place: Location) -> SourcePlace | None:
    """Return where the smallest known part around a place stands in the source; None where no part is known."""
    parts = places.get(place.name) if place.kind == "tool" else None
    if not parts:
        return None
    path = place.path
    while path not in parts:
        path = path.rpartition("/")[0]
    return parts[path]


_FAILING = {
    Severity.ERROR: ("error", "errors"),
    Severity.WARNING: ("error or warning", "errors and warnings"),
    Severity.INFO: ("finding", "findings"),
}
"""Names of the findings that fail from a severity on, in the singular and the plural."""


def rules_blocks(rules: RuleList) -> list[Block]:
    """The rules of each lane: in a terminal their names, else a table of what they report."""
    blocks: list[Block] = [Title(count_words(len(rules.rules), "rule"))]
    for lane, group in groupby(rules.rules, key=lambda entry: entry.lane):
        entries = list(group)
        names = ", ".join(f"{entry.id[3:]} {entry.name}{'' if entry.default else '°'}" for entry in entries)
        rows = []
        for entry in entries:
            severity = Span(entry.severity, SEVERITY_STYLES[entry.severity])
            limit = "" if entry.limit is None else f" [{entry.limit}]"
            summary = f"{entry.name}: {entry.summary}{limit}"
            rows.append((entry.id, severity, entry.confidence, "on" if entry.default else "off", summary))
        table = Table(columns("rule", "severity", "confidence", "default", "name", left=5), rows)
        blocks += [
            OnlyIn("text", [Line((Span(f"{lane}: ", "bold"), names))]),
            OnlyIn("markdown", [Heading(lane), table]),
        ]
    own = next((entry.id for entry in rules.rules if entry.default), "ID")
    legend = "The numbers follow TDQ. °: runs only if selected."
    return [
        *blocks,
        Gap(),
        OnlyIn("text", [Line(legend, "dim")]),
        *next_lines(f"tdqs-mcp rules {own}", f"tdqs-mcp rules {own[:4]}"),
    ]


def comment_blocks(reports: Sequence[LocatedReport]) -> list[Block]:
    """Return one pull-request comment on all servers: the rules that fire, and every finding that fits below a fold."""
    return [*(block for report in reports for block in _comment(report)), Marker(LINT_MARKER)]


def sentence(finding: "Finding | Deduction") -> str:
    """Message and suggestion on one line."""
    return f"{finding.message}; {finding.suggestion}" if finding.suggestion else finding.message


def tally_words(report: LintReport) -> str:
    """The counts in words, the worst first: `3 findings: 2 errors, 1 warning`."""
    counts = Counter(finding.severity for finding in report.findings)
    singular = {severity for severity in Severity if counts[severity] == 1 or severity is Severity.INFO}
    totals = [f"{counts[word]} {word}{'' if word in singular else 's'}" for word in Severity if counts[word]]
    new = "new finding" if report.baseline else "finding"
    return f"{count_words(len(report.findings), new)}: {', '.join(totals)}" if totals else f"no {new}"


def notes(report: LintReport) -> list[str]:
    """Return what was found and does not count, each with what to do about it."""
    lines = []
    if report.hidden:
        hidden = count_words(report.hidden, "low-confidence finding")
        lines.append(f"not counted: {hidden}, and rules for auditors, which did not run; --profile strict shows all")
    if report.suppressed:
        lines.append(f"{count_words(len(report.suppressed), 'finding')} suppressed by the configuration")
    lines += [unused_line(unused) for unused in report.unused_suppressions]
    if report.baseline and report.baseline.known:
        lines.append(f"{count_words(report.baseline.known, 'finding')} known from the baseline")
    if report.baseline and report.baseline.fixed:
        fixed = count_words(len(report.baseline.fixed), "finding")
        lines.append(f"{fixed} of the baseline fixed: --write-baseline prunes the file")
    return lines


def unused_line(suppression: Suppression) -> str:
    """Return what to do about an entry of the configuration that matches nothing."""
    place = " ".join(part for part in (suppression.tool, suppression.path) if part)
    return f"the suppression of {suppression.rule}{f' for {place}' if place else ''} matches nothing: remove it"


def _comment(located: LocatedReport) -> list[Block]:
    report = located.report
    blocks: list[Block] = [Title(f"{report.server}: {tally_words(report)}"), Line(located.verdict)]
    if report.findings:
        groups = report.by_harm
        counts = [(f"{group[0].rule} {group[0].name}", group[0].severity, str(len(group))) for group in groups]
        table = Table(columns("rule", "severity", "findings", left=2), counts)
        rows = [
            (finding.subject.label, finding.severity, finding.rule, sentence(finding)) for finding in report.worst_first
        ]
        whole = Table(columns("tool", "severity", "rule", "finding", left=4), rows)
        blocks += [table, Fold("Findings, the worst first", [whole])]
    return [*blocks, *(Line(note) for note in notes(report))]


MAX_LINES = 40
"""Lines of a server in a terminal, unless every finding is asked for."""

LINE_WIDTH = 100
"""Characters of a line beside the severity where output does not go to a terminal."""

MAX_EXAMPLES = 3
"""Findings of a rule that are shown before any other rule shows more."""

FIXED = 1
"""The form of a rule's findings that has the fix."""

CLOSING_LINES = 2
"""Lines that name the rules without room."""

MAX_GROUPS = 12
"""Rules whose findings a screen shows; the others are counted."""

MAX_WORST = 3
"""Tools with the most findings that a line names."""

MAX_SOURCE = 8
"""Lines of a definition that one finding shows."""

_Row = tuple[Words, Words]
"""The severity, and the text beside it."""


def lint_blocks(located: LocatedReport) -> list[Block]:
    """The findings of a server by rule, the worst first, as much of them as a screen holds."""
    report = located.report
    summary = _summary(located, is_cut=True)
    room = MAX_LINES - 2 - sum(_height(block.words) if isinstance(block, Line) else 1 for block in summary)
    rows = _fit(report.by_harm, located, room)
    return [*_head(report), *_below_gap(_table(rows)), *summary]


def summary_blocks(located: LocatedReport) -> list[Block]:
    """The total and the verdict, without findings."""
    return [*_head(located.report), *_summary(located, is_cut=True)]


def full_blocks(located: LocatedReport, *, has_source: bool = False) -> list[Block]:
    """Every finding by tool; what is the same on every tool is said once for the server."""
    report = located.report
    common = {} if has_source else report.common
    blocks: list[Block] = []
    if common:
        rows = []
        for wording, finding in common.items():
            group = [member for member in report.findings if member.wording == wording]
            rows += [*_whole(finding, None), *_lines_in_code(group, located, len(group))]
        blocks += [Heading(_all(len(report.tools))), _table(rows)]
    for place, findings in report.by_part:
        own = [finding for finding in findings if finding.wording not in common]
        rows = [row for finding in own for row in _whole(finding, located, has_source=has_source)]
        blocks += [Heading(place.label), _table(rows)] if rows else []
    return [*_head(report), *blocks, *_summary(located)]


def statistics_blocks(located: LocatedReport) -> list[Block]:
    """How often each rule fires, and on how many tools; how findable the tools are."""
    report = located.report
    heads = (*columns("findings", "tools", left=0), *columns("severity", "rule", "name", left=3))
    rows: list[tuple[Words, ...]] = []
    for group in report.by_rule:
        tools = {finding.tool_index for finding in group} - {None}
        rows.append((str(len(group)), str(len(tools)), _severity(group[0]), group[0].rule, group[0].name))
    return [
        *_head(report),
        *_below_gap(Table(heads, rows)),
        *_search_line(located.catalog),
        *_summary(located),
    ]


MAX_MISSED = 10
"""Tools that statistics name of those that no search by name finds."""


def _search_line(catalog: Catalog) -> list[Block]:
    """Tools that clients find which load tools on demand; nothing where they can take all at once."""
    count = len(catalog.tools)
    if count <= MAX_FOUND:
        return []
    missed = unfindable_tools(catalog)
    by_name, by_text, by_all = (count - len(names) for names in missed.values())
    opening = f"a search for a tool's first sentence has it among the first {MAX_FOUND}"
    numbers = f"{by_name} of {count} by name only, {by_text} by name and other text, {by_all} with the instructions"
    names = first_of(missed[ListDetail.NAMES], MAX_MISSED)
    return [Gap(), Line(f"{opening}: {numbers}"), *([Line(f"not by name: {names}")] if names else [])]


def _head(report: LintReport) -> list[Block]:
    return [Title(f"{named(report.server, report.version)} · {count_words(len(report.tools), 'tool')}")]


def _summary(located: LocatedReport, *, is_cut: bool = False) -> list[Block]:
    """The total, the tools that it is about and the clean ones, what does not count, the verdict; a line each."""
    report = located.report
    words = [Span(f"! {sentence}", "yellow") for sentence in located.catalog.unread]
    words += [Span(note, "dim") for note in (*_tool_words(report), *notes(report))]
    if not report.findings:
        return [Gap(), *map(Line, words), Line(located.verdict)]
    own_rules = [group[0].rule for group in report.by_harm if group[0].rule.startswith("TDQ")]
    command = f"tdqs-mcp rules {own_rules[0]}" if own_rules else "tdqs-mcp rules --rules MODULE"
    commands = [command, *([f"tdqs-mcp lint {located.arguments} --show all"] if is_cut else [])]
    return [Gap(), Line(tally_words(report)), *map(Line, words), Line(located.verdict), *next_lines(*commands)]


def _tool_words(report: LintReport) -> Iterator[str]:
    """The tools with the most findings, and mcptest's Pass line for the others."""
    counts = Counter(finding.tool_index for finding in report.findings if finding.tool_index is not None)
    names = {index: name or f"tool {index + 1}" for index, name in report.tools.items()}
    worst = counts.most_common(MAX_WORST)
    if len(names) > 1 and worst and worst[0][1] > 1:
        yield f"most findings: {', '.join(f'{names[index]} {count}' for index, count in worst)}"
    clean = [names[index] for index in report.clean_tools]
    if clean and report.findings:
        yield f"{count_words(len(clean), 'clean tool')}: {first_of(clean, MAX_NAMED)}"


def _fit(groups: Sequence[Sequence[Finding]], located: LocatedReport, room: int) -> list[_Row]:
    """The rules in so many lines, the worst first; rules without a line are only named.

    Each severity has its names and fixes before the next one has a line, and every rule has them before any has more.
    """
    forms = [_forms(group, located) for group in groups[:MAX_GROUPS]]
    heights = [[sum(_height(row[1]) for row in rows) for rows in form] for form in forms]
    steps = [(place, step) for place, form in enumerate(forms) for step in range(len(form))]
    steps.sort(key=lambda step: (step[1] > FIXED, -rank_of(groups[step[0]][0]), step[1], step[0]))
    rows, hidden = _choose_forms(forms, heights, steps, room), len(groups) > MAX_GROUPS
    if hidden or None in rows:
        rows = _choose_forms(forms, heights, steps, room - CLOSING_LINES)
    unseen = [group for group, form in zip_longest(groups, rows) if form is None]
    lines = [row for form in rows for row in form or ()]
    if not unseen:
        return lines
    rules = first_of([f"{group[0].rule} {group[0].name}" for group in unseen], MAX_EXAMPLES)
    findings = count_words(sum(map(len, unseen)), "finding")
    closing = f"… {count_words(len(unseen), 'more rule')} with {findings}: {rules}; --show all"
    return [*lines, ("", Span(closing, "dim"))]


def _choose_forms(
    forms: Sequence[Sequence[list[_Row]]], heights: Sequence[Sequence[int]], steps: Sequence[tuple[int, int]], room: int
) -> list[list[_Row] | None]:
    """Lengthen the forms step by step while there is room; None for a rule without room."""
    chosen = [-1] * len(forms)
    for place, step in steps:
        cost = heights[place][step] - (heights[place][step - 1] if step else 0)
        if chosen[place] == step - 1 and cost <= room:
            chosen[place] = step
            room -= cost
    return [form[step] if step >= 0 else None for form, step in zip(forms, chosen, strict=True)]


def _forms(group: Sequence[Finding], located: LocatedReport) -> list[list[_Row]]:
    """Return what a rule found: with the names of some tools, with the fix, with more examples, with all."""
    usual = Counter(finding.suggestion for finding in group)
    group = sorted(group, key=lambda finding: -usual[finding.suggestion])  # an example of what most of them are about
    first, report = group[0], located.report
    folded_fix = _fix(first) if first.shared and first.tool_index is None else []  # the line stands for many tools
    is_single = len(group) == 1 and first.subject.kind != "server"
    where = f" in {located.label(first)}" if is_single else _where(group, report)
    head = (Span(f"{first.rule} {first.name}", "bold"), Span(where, "dim"))
    in_code = _lines_in_code(group, located, MAX_EXAMPLES)
    names = list(dict.fromkeys(finding.subject.label for finding in group))
    tool_names = first_of(names, MAX_EXAMPLES) if 1 < len(names) < len(report.tools) else ""
    if len({finding.message for finding in group}) == 1:
        named_: list[_Row] = [("", Span(tool_names, "dim"))] if tool_names else []
        named_ = in_code if in_code and not is_single else named_
        rows: list[_Row] = [(_severity(first), (*head, f": {first.brief or first.message}")), *named_]
        return [[*rows, *folded_fix], [*rows, *_fix(first)]]
    is_same = len({finding.suggestion for finding in group}) == 1
    labels = [(Span(located.label(finding), "dim"), f": {finding.brief or finding.message}") for finding in group]
    examples = [
        [("", label), *([] if is_same else _fix(finding))] for label, finding in zip(labels, group, strict=True)
    ]
    forms: list[list[_Row]] = [
        [(_severity(first), (*head, f": {tool_names or first.brief or first.message}")), *folded_fix]
    ]
    for count in (1, min(MAX_EXAMPLES, len(group)), len(group)):
        names_shown = f": {tool_names}" if tool_names and count < len(group) else ""
        title = (_severity(first), (*head, f"{names_shown}, such as" if count < len(group) else ""))
        fix = _fix(first) if is_same else []
        forms.append([title, *(row for example in examples[:count] for row in example), *fix])
    return forms


def _lines_in_code(group: Sequence[Finding], located: LocatedReport, limit: int) -> list[_Row]:
    """The first tools of a group with their lines; nothing where no code was read."""
    is_read = any(finding.subject.name in located.places for finding in group)
    return [("", Span(first_of(list(map(located.label, group)), limit), "dim"))] if is_read else []


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


def _fix(finding: Finding) -> list[_Row]:
    return [("", (Span("fix: ", "green"), finding.suggestion))] if finding.suggestion else []


def _whole(finding: Finding, located: LocatedReport | None, *, has_source: bool = False) -> list[_Row]:
    """All about one finding: its message, its place, the value there and its fix; no place without a report."""
    position = located.find(finding.subject) if located else None
    is_code = located is not None and finding.subject.name in located.places
    start = (Span(f"{position} ", "dim"),) if position and is_code else ()
    rows: list[_Row] = [
        (_severity(finding), (*start, Span(f"{finding.rule} {finding.name}", "bold"), f": {finding.message}"))
    ]
    if located and finding.subject.index is not None:
        line = f"{position} " if position and not is_code else ""
        rows.append(("", Span(f"at {line}{finding.subject.path}", "dim")))
        excerpt = _source_lines(located.source(finding)) if has_source else []
        rows += [("", Span(f"| {line}", "dim")) for line in excerpt]
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


HANDLING_STYLES = {Handling.KEPT: "green", Handling.RENAMED: "cyan", Handling.CUT: "yellow", Handling.REFUSED: "red"}


MAX_LIMIT_TOOLS = 3
"""Tools named for a limit; JSON has all."""


def portability_blocks(report: PortabilityReport) -> list[Block]:
    """A line for each client, then what it changes or refuses, and the sources of the limits."""
    count = len(report.clients[0].tools) if report.clients else 0
    head = f"{named(report.server, report.version)} · {count_words(count, 'tool')}"
    rows = [(view.client, _handling(view.handling), _handling_words(view)) for view in report.clients]
    blocks: list[Block] = [Title(head), Table(columns("client", "worst", "tools", left=3), rows)]
    for view in report.clients:
        if view.handling is not Handling.KEPT:
            heading = Heading(f"{view.title[:1].upper()}{view.title[1:]}:")
            blocks += [heading, _limit_table(view), Items(view.sources, "dim", indent=2)]
    unread = [f"not looked at: {name or 'a tool without a name'} cannot be read" for name in report.unmeasured]
    return [*blocks, Items(unread, "yellow"), problem_items(report.problems)]


def _handling(handling: Handling) -> Span:
    return Span(handling, HANDLING_STYLES[handling])


def _handling_words(view: ClientView) -> str:
    """The one verdict on the tools: what of the whole list is lost outweighs what becomes of each."""
    count = len(view.tools)
    whole = next((limit for limit, excesses in view.excesses if view.is_whole(limit, excesses)), None)
    if view.loses_all and whole is not None:
        culprits = [name for name, _ in dict(view.excesses)[whole] if name != SERVER]
        cause = f", because of {first_of(culprits, MAX_LIMIT_TOOLS)}" if culprits else ""
        return f"{'all ' * (count > 1)}{count} refused{cause}: it takes {whole.says}"
    words = ", ".join(f"{number} {handling}" for handling, number in view.counts.items())
    stripped = sum(tool.is_only_stripped for tool in view.tools)
    parts = [f"{words} ({stripped} only of schema keywords)" if stripped else words]
    if view.changes:
        crowd = f"not all of {count} at once: it takes {view.changes[0].limit.says}"
        parts = [*parts, crowd] if any(tool.changes for tool in view.tools) else [crowd]
    return "; ".join(parts)


def _limit_table(view: ClientView) -> Table:
    """A row for each limit, the worst first, with the first of its tools."""
    rows = []
    for limit, excesses in view.excesses:
        names = first_of([name for name, _ in excesses], MAX_LIMIT_TOOLS)
        rows.append((_handling(limit.outcome), f"{names}: {excesses[0][1].what}; it takes {limit.says}"))
    return Table(columns("outcome", "what", left=2), rows, has_head=False)


_READERS = {Persona.AUDITOR: "for auditors", Persona.REVIEWER: "for directories"}


def rule_page(rule: Rule[Subject] | Rule[Measured]) -> str:
    """The rule's page below its metadata, which comes from the code."""
    title, _, body = rule.page.partition("\n")
    facts = [
        f"severity {rule.severity}",
        f"confidence {rule.confidence}",
        *([_READERS[rule.persona]] if rule.persona is not Persona.AUTHOR else []),
        *([f"dimension {rule.dimension}"] if rule.dimension else []),
        *(["of {} findings that readers judged, {} are true, {} useful".format(*rule.reading)] if rule.reading else []),
        f"source {rule.source}",
        f"page {rule.url}",
        *([f"also known as {', '.join(rule.all_aliases)}"] if rule.all_aliases else []),
    ]
    prediction = f"\n\n{rule.prediction}" if rule.prediction else ""
    return f"{title}\n\n{rule.summary}\n\n{'; '.join(facts)}{prediction}\n{body}"


def lane_page(word: str, rules: Sequence[AnyRule]) -> str:
    """The rules that a lane, or another word for several, means."""
    lanes = " and ".join(dict.fromkeys(lane_of(rule.id) for rule in rules)) if word.upper() != ALL else "all rules"
    rows = "\n".join(f"- {rule.id} {rule.name} ({rule.severity}): {rule.summary}" for rule in rules)
    return (
        f"# {word.upper()}: {lanes}\n\n{rows}\n\n`tdqs-mcp rules {rules[0].id}` shows a rule's reason and examples.\n"
    )


def rubric_page(rubric: "Rubric") -> str:
    """Return what a rubric scores, and in which dimensions."""
    dimensions = "\n".join(f"- {dimension.title}: {dimension.question}" for dimension in rubric.dimensions)
    return f"# {rubric.key}: {rubric.title}\n\n{dimensions}\n\nSource: {rubric.source}.\n"


def dimension_page(rubric: "Rubric", dimension: "Dimension", rules: Sequence[Rule[Subject] | Rule[Measured]]) -> str:
    """Return what a dimension asks, what its scores mean, and the rules that speak of it."""
    anchors = "\n".join(f"{score}. {anchor}" for score, anchor in enumerate(dimension.anchors, start=1))
    related = f"\nRules: {', '.join(f'{rule.id} {rule.name}' for rule in rules)}\n" if rules else ""
    share = f"{dimension.weight}%" if dimension.weight else f"One of {len(rubric.dimensions)} equal parts"
    return (
        f"# {dimension.key}: {dimension.title}\n\n{dimension.question} {share} of {rubric.title}.\n\n"
        f"## Scores\n\n{anchors}\n\n## Bad\n\n> {dimension.bad}\n\n## Good\n\n> {dimension.good}\n{related}"
    )


def term_page(term: "Term") -> str:
    """Return what a flag or a tier means."""
    return f"# {term.title}\n\n{term.meaning}\n\n## Bad\n\n> {term.bad or '(nothing)'}\n\n## Good\n\n> {term.good}\n"
