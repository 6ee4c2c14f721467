"""A score for people, by TDQS, in labels or as a grade, and how wrong a judge is.

The numbers, the lowest tools, what is uncertain and what to fix first.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.facts.toolset.names import nearest_names
from tdqs_mcp.report.blocks import (
    MAX_NAMED,
    TIER_STYLES,
    Block,
    Column,
    Gap,
    Heading,
    Items,
    Line,
    Marker,
    OnlyIn,
    Part,
    Span,
    Table,
    Title,
    Words,
    columns,
    count_words,
    judge_words,
    named,
    next_lines,
    number,
    percentile_words,
    problem_items,
    range_words,
    rows_shown,
    score_words,
    ungraded_items,
    unjudged_words,
)
from tdqs_mcp.report.escape import printable, visible
from tdqs_mcp.report.lint_report import SEVERITY_STYLES, CodePlaces, place_in_code, sentence
from tdqs_mcp.results.checks import CalibrationReport, Cell
from tdqs_mcp.results.findings import Finding, by_tool
from tdqs_mcp.results.labels import Label, LabelScore, QualityScore, ServerGrade, SkillScore, Urgency
from tdqs_mcp.results.scores import ServerScore, ToolScore, lowest_servers
from tdqs_mcp.results.verdicts import CLOSE, Judgement, Tier, Ungraded, Verdict, tier_of
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.rollup import SMELL_BELOW
from tdqs_mcp.scoring.score import Fix, fixes_by_rule, fixes_by_tool

NearestName: TypeAlias = Callable[[str], str | None]

NO_PLACES: CodePlaces = MappingProxyType({})

SCORE_MARKER = "<!-- tdqs-mcp score -->"

MAX_ROWS = 20
"""Tools in a terminal's table; the lowest scores come first."""

MAX_QUOTE = 60
"""Characters of a quotation."""

MAX_GROUPS: Mapping[Literal["text", "markdown"], int] = {"text": 3, "markdown": 5}
"""Rules to fix first."""

MAX_TOOLS = 3
"""Tools that are named for each of them."""

MAX_TOOL_FIXES = 2
"""Fixes of one tool."""

MAX_ASSERTED_TOOLS = 5
MAX_ASSERTED_FINDINGS = 3
"""Findings of each tool in an assertion's message, the worst first."""

WIDE_SPREAD = 2
"""Points between two jurors that are worth a word: one point is what one model's own samples differ by."""


def score_blocks(score: ServerScore, locator: str = "LOCATOR", places: CodePlaces = NO_PLACES) -> list[Block]:
    """A server's score; a terminal gets the lowest tools, a pull request as many as fit.

    `locator` is what commands that help name; what to fix stands at its line of the source where `places` has it.
    """
    rollup, judge = score.rollup, judge_words(score.judge)
    head = f"{named(score.server, score.version)} · {count_words(score.tool_count, 'tool')}"
    numbers = f"Descriptions {score_words(rollup.description_quality)}, coherence {score_words(rollup.coherence)}."
    place = percentile_words(score.percentiles) if score.percentiles else ""
    numbers += f" {place.capitalize()}." if place else ""
    blocks: list[Block] = [
        OnlyIn("text", [Title(f"{head} · TDQS {score.spec_version} by {judge}"), _rollup(score)]),
        *([OnlyIn("text", [Line(place, "dim")])] if place else []),
        OnlyIn("markdown", [Title(f"{score.server}: {score_words(rollup.overall)}{range_words(score.likely)}")]),
        OnlyIn("markdown", [Line(f"{score.tool_count} tools, TDQS {score.spec_version} by {judge}. {numbers}")]),
    ]
    if score.tools:
        blocks += [Gap(), _table(score)]
    unjudged = score.coherence.reason if isinstance(score.coherence, Ungraded) and score.tools else None
    blocks += [*_coherence(score), *uncertainty(score), ungraded_items(score.ungraded, unjudged)]
    # A dead endpoint is the reason of all.
    blocks.append(problem_items([problem.removesuffix(f": {unjudged}") for problem in score.problems]))
    if score.close_tools:
        close = count_words(len(score.close_tools), "tool")
        words = f"{close}: no tier is {CLOSE}% likely (tdqs-mcp calibrate)"
        blocks.append(OnlyIn("text", [Line(words, "dim")]))
    return [*blocks, *_fixes(score, locator, places), OnlyIn("text", _legend(score)), Marker(SCORE_MARKER)]


def _coherence(score: ServerScore) -> list[Block]:
    """The scores of the tool set with their reasons, among them the pairs of tools that are hard to tell apart."""
    reasons = score.coherence_justifications
    return [Heading(("Coherence ", number(score.rollup.coherence))), _reasons(reasons)] if reasons else []


def _legend(score: ServerScore) -> list[Block]:
    """Return what the marks of a score mean, as far as it has them."""
    closest = next(filter(_likelier, score.tools), None)
    words = []
    if closest:
        tiers = f"{closest.tier}/{_likelier(closest)}"
        words.append(f"{tiers}: {tiers[0]} by its number, {tiers[-1]} the likelier tier")
    if score.likely:
        words.append("80%: where a reader's score lies in 8 of 10 cases")
    if score.percentiles:
        words.append(f"better than: {score.percentiles.servers:,} servers scored by the same judge")
    return [Line("; ".join(words), "dim")] if words else []


def ranking_blocks(scores: Sequence[ServerScore]) -> list[Block]:
    """Several servers, ranked from the lowest."""
    rows = [
        (
            score.server,
            str(score.tool_count),
            Span(score.discovery_status, "red") if score.discovery_status else number(score.rollup.overall),
            number(score.rollup.min_tdqs),
        )
        for score in lowest_servers(scores)
    ]
    heads = columns("server", "tools", "overall", "lowest", is_whole=True)
    table = Table(heads, rows, MAX_ROWS, "more with higher scores")
    return [Heading(f"{len(scores)} servers, the lowest first"), table]


def missed_words(score: ServerScore, tier: Tier) -> str:
    """The score that is below a tier: the overall, or the lowest tool's where there is no overall."""
    overall, lowest = score.rollup.overall, score.rollup.min_tdqs
    subject = f"lowest tool {score_words(lowest)}" if overall is None else f"overall {score_words(overall)}"
    return f"{score.server}: {subject}, below {tier}"


def assertion_text(score: ServerScore, missed: Sequence[str]) -> str:
    """Why a test about tool quality fails: what was missed, then the lowest tools with their worst findings."""
    overall = "no overall score" if score.rollup.overall is None else f"overall {score_words(score.rollup.overall)}"
    calibration = f", calibration {score.judge.calibration}" if score.judge.calibration else ""
    lines = [
        f"{score.server}: {'; '.join(missed)}",
        f"{overall}; TDQS {score.spec_version} by {score.judge.id}{calibration}",
    ]
    findings = by_tool(score.findings)
    worst = [tool for tool in score.lowest_tools if tool.index in findings]
    lines += [line for tool in worst[:MAX_ASSERTED_TOOLS] for line in _asserted(tool, findings[tool.index])]
    lines += [f"  {ungraded.name}: {ungraded.ungraded.reason}" for ungraded in score.ungraded[:MAX_ASSERTED_TOOLS]]
    return "\n".join(f"{line[: len(line) - len(line.lstrip())]}{printable(line)}" for line in lines)


def uncertainty(score: ServerScore | LabelScore) -> list[Block]:
    """Why a score is less certain than it looks: jurors disagree, or a quotation is not in the definition."""
    blocks: list[Block] = []
    if score.agreement:
        jurors = next(tool.ballots for tool in score.tools if tool.ballots)
        complete = max(reliability.tools for reliability in score.agreement.values())
        rows = [
            (
                key.replace("_", " "),
                "none" if votes.icc is None else f"{votes.icc:.2f}".replace("-0.00", "0.00"),
                *("none" if value is None else f"{value / 100:.2f}" for value in (votes.mean, votes.median)),
                *map(str, (votes.smells_by_mean, votes.smells_by_median)),
            )
            for key, votes in score.agreement.items()
        ]
        blocks = [
            Gap(),
            Line(f"jurors: {', '.join(ballot.juror for ballot in jurors)}", "dim"),
            Line(f"jury agreement over {count_words(complete, 'tool')} that every juror scored", "dim"),
            Table(columns("dimension", "ICC(2,1)", "mean", "median", "smells by mean", "by median"), rows),
        ]
    return [*blocks, Items([*_disputed(score), *_misquoted(score)], "yellow")]


def _rollup(score: ServerScore) -> Line:
    rollup = score.rollup
    if rollup.mean_tdqs is None or rollup.min_tdqs is None:
        return Line("nothing could be scored", "red")
    lowest = f" (mean {rollup.mean_tdqs / 10}, lowest {rollup.min_tdqs / 10})   coherence "
    overall = (number(rollup.overall), Span(range_words(score.likely), "dim"))
    head: tuple[Part, ...] = ("overall ", *overall, "   descriptions ")
    return Line((*head, number(rollup.description_quality), lowest, number(rollup.coherence)))


def _table(score: ServerScore) -> Table:
    keys = load("tdqs").keys
    numbers = [(dimension.short, dimension.short[:3]) for dimension in load("tdqs").dimensions]
    heads = (
        Column(head="tool", is_whole=True),
        Column(head="TDQS", is_right=True, is_whole=True),
        *(Column(head=head, is_right=True, is_whole=True, short=short) for head, short in numbers),
        Column(head="flags"),
    )
    rows: list[tuple[Words, ...]] = [
        (tool.name, _standing(tool), *_points(tool.scores, keys), _remarks(tool)) for tool in score.lowest_tools
    ]
    return Table(heads, rows, limit=MAX_ROWS, more="more with higher scores")


def _remarks(tool: ToolScore) -> tuple[Part, ...]:
    """The flags, the enforced score and the odds of a close one."""
    flags = [flag.value for flag in (*tool.flags, *tool.server_flags)]
    if tool.enforced:
        flags.append(f"enforced {score_words(tool.enforced.tdqs)}")
    if tool.outlook is None or not tool.outlook.is_close:
        return (Span(", ".join(flags), "red"),)
    odds = ", ".join(f"{tier} {tool.outlook.tiers[tier]}%" for tier in tool.outlook.likeliest)
    return Span(", ".join(flags), "red"), Span(f"{', ' if flags else ''}unsure: {odds}", "dim")


def _standing(tool: ToolScore) -> Span:
    """The score with its tier, and with the neighboring tier where that is likelier: `3.0 B/C`."""
    span, other = number(tool.tdqs), _likelier(tool)
    return Span(f"{span.text}/{other}", span.style) if other else span


def _likelier(tool: ToolScore) -> Tier | None:
    """Return the tier that is likelier than the one of the number; None where none is, at equal odds too."""
    if tool.outlook is None:
        return None
    likeliest, odds = tool.outlook.likeliest[0], tool.outlook.tiers
    return likeliest if odds[likeliest] > odds[tool.tier] else None


def _point(score: int) -> Span:
    """A score 1-5, a smell in red."""
    return Span(str(score), "red" if score < SMELL_BELOW else "")


def _points(scores: Mapping[str, int], keys: Sequence[str]) -> list[Span]:
    return [_point(scores[key]) for key in keys]


def _reasons(judgements: Mapping[str, Judgement]) -> Table:
    rows = [
        (key.replace("_", " "), _point(judgement.score), judgement.justification)
        for key, judgement in judgements.items()
    ]
    return Table(columns("dimension", "score", "why", left=3), rows, has_head=False)


def _fixes(score: ServerScore, locator: str, places: CodePlaces) -> list[Block]:
    """The fixes by rule, the rule of the lowest tool first."""
    groups = fixes_by_rule(score)
    if not groups:
        return []
    blocks = [OnlyIn(form, _groups(groups[:most], _nearest(score), places)) for form, most in MAX_GROUPS.items()]
    reworded = next((group[0] for group in groups if group[0].finding.dimension), groups[0][0])
    return [Heading("Fix first"), *blocks, *_next(score, reworded, locator)]


def _retired(score: ServerScore) -> set[str | None]:
    return {finding.subject.name for finding in score.findings if finding.rule == "TDQ304"}


def _nearest(score: ServerScore) -> NearestName:
    """Return what finds the nearest sibling of a tool, among those that agents shall call."""
    retired = _retired(score)
    return nearest_names(tool.name for tool in score.tools if tool.name not in retired)


def _groups(groups: Sequence[Sequence[Fix]], nearest: NearestName, places: CodePlaces) -> list[Block]:
    heads = []
    below = []
    for fixes in groups:
        first = fixes[0].finding
        is_common = len(fixes) > 1 and all(fix.finding.message == first.message for fix in fixes)
        head = first.message if is_common else ""
        if len(fixes) == 1:
            head = _with_tool(fixes[0], _about(fixes[0], nearest), places)
        heads.append(f"{'; '.join(filter(None, (head, first.suggestion))) or first.name} [{first.rule}]")
        count = rows_shown(len(fixes), MAX_TOOLS)
        tools = [_with_tool(fix, _about(fix, nearest, has_message=not is_common), places) for fix in fixes[:count]]
        more = [f"and {len(fixes) - count} more tools"] if len(fixes) > count else []
        below.append(Items([*tools, *more] if len(fixes) > 1 else [], "dim", indent=3))
    return [Items(heads, is_numbered=True, below=below)]


def _with_tool(fix: Fix, about: str, places: CodePlaces) -> str:
    place = place_in_code(places, fix.finding.subject)
    tool = f"{f'{place} ' if place else ''}{fix.tool.name} ({score_words(fix.tool.tdqs)})"
    return f"{tool}: {about}" if about else tool


def _about(fix: Fix, nearest: NearestName, *, has_message: bool = True) -> str:
    """The message of a fix, unless it stands above, with the sibling or the parameter that it is about."""
    finding = fix.finding
    sibling = nearest(fix.tool.name) if finding.dimension == "usage_guidelines" else None
    parameter = finding.path.rpartition("/properties/")[2].partition("/")[0]
    parts = [
        finding.message if has_message else None,
        f"the nearest sibling is {sibling}" if sibling else None,
        f"parameter {parameter}" if parameter and parameter not in finding.message else None,
    ]
    return ", ".join(filter(None, parts))


_PLAIN_NAME = re.compile(r"[\w./-]+")
"""Names that a shell and a page take as they are."""


def _next(score: ServerScore, fix: Fix, locator: str) -> list[Block]:
    """The commands that help: a rewrite with what the author knows where the finding is about words, else its page."""
    if fix.finding.dimension is None or not _PLAIN_NAME.fullmatch(fix.tool.name):
        return next_lines(f"tdqs-mcp rules {fix.finding.rule}")
    commands = [f"tdqs-mcp rewrite {locator} --tool {fix.tool.name}"]
    if score.rollup.overall is not None and tier_of(score.rollup.overall) is not Tier.A and len(score.tools) > 1:
        commands.append(f"tdqs-mcp rewrite {locator} --target A")
    return next_lines(*commands)


def tool_blocks(
    score: ServerScore, tools: Sequence[str], locator: str = "LOCATOR", places: CodePlaces = NO_PLACES
) -> list[Block]:
    """The tools of these names: why each dimension has its score, and the best fixes."""
    nearest = _nearest(score)
    fixes = {group[0].tool.index: group for group in fixes_by_tool(score)}
    named = [entry for entry in score.tools if entry.name in tools]
    blocks: list[Block] = []
    for entry in named:
        rest = f"{range_words(entry.likely)} · TDQS by {judge_words(score.judge)}"
        blocks += [Title((f"{entry.name} of {score.server} · ", _standing(entry), rest)), Line(_remarks(entry))]
        if entry.name not in _retired(score):  # nobody needs advice on its text
            blocks.append(_reasons(entry.judgements))
        if group := fixes.get(entry.index):
            blocks += _best_fixes(score, group, nearest, locator, places)
    return [*blocks, ungraded_items([entry for entry in score.ungraded if entry.name in tools])]


def _best_fixes(
    score: ServerScore, fixes: Sequence[Fix], nearest: NearestName, locator: str, places: CodePlaces
) -> list[Block]:
    best = []
    for fix in fixes[:MAX_TOOL_FIXES]:
        place = place_in_code(places, fix.finding.subject)
        words = "; ".join(filter(None, (_about(fix, nearest), fix.finding.suggestion)))
        best.append(f"{f'{place} ' if place else ''}{words} [{fix.finding.rule}]")
    return [Heading("Best fixes"), Items(best, is_numbered=True), *_next(score, fixes[0], locator)]


def _asserted(tool: ToolScore, findings: Sequence[Finding]) -> list[str]:
    lines = [f"  {tool.name} {score_words(tool.tdqs)}"]
    for finding in findings[:MAX_ASSERTED_FINDINGS]:
        lines.append(f"    {finding.severity} {finding.rule} {finding.message}")
        if finding.suggestion:
            lines.append(f"      -> {finding.suggestion}")
    hidden = len(findings) - MAX_ASSERTED_FINDINGS
    return [*lines, f"    and {hidden} more"] if hidden > 0 else lines


def _disputed(score: ServerScore | LabelScore) -> list[str]:
    juries = [(tool.name, tool.jury) for tool in score.tools if tool.jury]
    close = [f"{name} ({', '.join(jury.grades)})" for name, jury in juries if jury.too_close]
    apart = [
        f"{name} ({', '.join(f'{key} by {points}' for key, points in wide.items())})"
        for name, jury in juries
        if (wide := {key: points for key, points in jury.spread.items() if points >= WIDE_SPREAD})
    ]
    return _listed("too close to call", close) + _listed("jurors far apart", apart)


def _misquoted(score: ServerScore | LabelScore) -> list[str]:
    parts: list[tuple[str, Mapping[str, Judgement]]] = [(tool.name, tool.judgements) for tool in score.tools]
    if isinstance(score, ServerScore) and isinstance(score.coherence, Verdict):
        parts.append(("coherence", score.coherence.judgements))
    quoted = []
    for name, judgements in parts:
        quotes = list(dict.fromkeys(quote for judgement in judgements.values() for quote in judgement.unverified))
        if quotes:
            first = quotes[0] if len(quotes[0]) <= MAX_QUOTE else f"{quotes[0][:MAX_QUOTE]}…"
            quoted.append(f'{name} ("{first}"' + (f" and {len(quotes) - 1} more)" if len(quotes) > 1 else ")"))
    return _listed("quoted, but not in the definition", quoted)


def _listed(title: str, entries: Sequence[str]) -> list[str]:
    return [f"{title}: {first_of(entries, MAX_NAMED, separator='; ')}"] if entries else []


MAX_SUGGESTIONS = 10
_STYLES = {Label.GOOD: "green", Label.ACCEPTABLE: "yellow", Label.BAD: "red", None: "dim"}
_BANDS = {Urgency.SERVER_SMELL: "server", Urgency.BUNDLE_DEFICIENCY: "skill", Urgency.TOOL_ISSUE: "tool"}


def label_blocks(score: LabelScore) -> list[Block]:
    """A server's labels: what is public, then the lowest tools, what could not be graded and what to fix first."""
    head = f"{named(score.server, score.version)} · {load(score.rubric).title} by {judge_words(score.judge)}"
    blocks: list[Block] = [Title(head)]
    if score.discovery_status:
        return [*blocks, Line(f"nothing was scored: {score.discovery_status}", "red"), problem_items(score.problems)]
    public, ungraded = score.quality_score, f", {len(score.ungraded)} ungraded" if score.ungraded else ""
    style = "red" if score.bad_tool_count else "green"
    counts = Line(f"{score.good_tool_count} Good, {score.bad_tool_count} Bad{ungraded}", style)
    if public:  # the summary that a listing shows
        tools = f"{public.tools.good} Good, {public.tools.acceptable} Acceptable, {public.tools.bad} Bad{ungraded}"
        summary = Line((*_label(public), f" · tools: {tools} · {public.scored_at}"))
        blocks += [summary, Gap(), Line("For the maintainers:", "dim")]
    else:
        blocks.append(counts)
    if score.tools:
        blocks += [Gap(), _labels_table(score)]
    blocks += [*uncertainty(score), _unlabeled(score)]
    if score.skill is not None and (score.skill.label or score.skill.judgements):
        blocks += [Gap(), *_skill(score.skill, when="")]
    blocks.append(problem_items(score.problems))
    if score.suggestions:
        lines = [f"{_BANDS[suggestion.band]}: {suggestion.message}" for suggestion in score.suggestions]
        blocks += [Heading("Fix first"), Items(lines, limit=MAX_SUGGESTIONS, is_numbered=True)]
    return blocks


def _label(score: QualityScore | SkillScore) -> tuple[Span, str]:
    average = "" if score.average is None else f", average {score.average / 100:.2f} of 2"
    return Span(score.label or "no label", _STYLES[score.label]), average


def _unlabeled(score: LabelScore) -> Items:
    """The tools and the skill without a verdict, once for each reason."""
    failed = [(tool.label, tool.ungraded.reason) for tool in score.ungraded]
    if score.skill is not None and isinstance(score.skill.verdict, Ungraded):
        failed.append(("the skill", score.skill.verdict.reason))
    decided = next((ungraded.decided for ungraded in score.ungraded if isinstance(ungraded.decided, Mapping)), {})
    lines = [f"decided without a judge, as there is one tool: {key} {points}" for key, points in decided.items()]
    return Items([*unjudged_words(failed), *lines], "yellow")


def skill_blocks(skill: SkillScore) -> list[Block]:
    """A skill's scores with the reason for each, and why there are none."""
    reasons = [f"ungraded: {skill.verdict.reason}"] if isinstance(skill.verdict, Ungraded) else []
    return [*_skill(skill, when=f" · {skill.scored_at}"), Items(reasons, "yellow")]


def _skill(skill: SkillScore, *, when: str) -> list[Block]:
    blocks: list[Block] = [
        Title(f"skill of {skill.server} · {load('skill').title} by {judge_words(skill.judge)}"),
        Line((*_label(skill), when)),
    ]
    if skill.credentials is not None:
        blocks.append(Line(f"Bad by the credentials rule: {skill.credentials}", "red"))
    return [*blocks, *([_reasons(skill.judgements)] if skill.judgements else []), problem_items(skill.problems)]


def _labels_table(score: LabelScore) -> Table:
    keys = load(score.rubric).keys
    rows: list[tuple[Words, ...]] = [
        (
            tool.name,
            Span(tool.label, _STYLES[tool.label]),
            str(tool.overall / 10),
            *_points(tool.scores, keys),
        )
        for tool in score.lowest_tools
    ]
    heads = columns("tool", "label", "overall", *(key.replace("_", " ") for key in keys), left=2)
    return Table(heads, rows, limit=MAX_ROWS, more="more with higher scores")


MAX_REASONS = 20
"""Reasons why something was not judged; JSON has them all."""


def grade_blocks(grade: ServerGrade) -> list[Block]:
    """The letter, how it came about, every broken rule with its first place, and the costliest one to fix first."""
    no_grade = "no grade: nothing that could be judged is known"
    result = f"{grade.letter} ({grade.score} of 100)" if grade.letter else no_grade
    style = f"bold {TIER_STYLES[Tier(grade.letter)]}" if grade.letter else "dim"
    bonus = f" + {grade.bonus} (every tool is described)" if grade.bonus else ""
    listed = {"tool": grade.judged.tools, "resource": grade.judged.resources, "prompt": grade.judged.prompts}
    counts = (f"{noun}s not listed" if count is None else count_words(count, noun) for noun, count in listed.items())
    blocks: list[Block] = [
        Title((f"{named(grade.server, grade.version)} · MCP Playground ", Span(result, style))),
        Line(f"{', '.join(counts)} · 100 - {grade.lost}{bonus}", "dim"),
    ]
    if grade.deductions:
        rows = [
            (deduction.subject.label, deduction.alias, f"-{deduction.points}", sentence(deduction))
            for deduction in grade.deductions
        ]
        whole = Table(columns("where", "rule", "points", "finding", left=4), rows)
        blocks += [Gap(), OnlyIn("text", [_by_rule_table(grade)]), OnlyIn("markdown", [whole])]
    unread = [f"not judged: {tool.label}: {tool.ungraded.reason}" for tool in grade.unmeasured]
    blocks += [Items(unread, "yellow"), problem_items(grade.problems)]
    if grade.deductions:
        blocks += [Gap(), *next_lines(f"tdqs-mcp rules {grade.by_rule[0][0].alias}")]
    return blocks


def calibration_blocks(report: CalibrationReport) -> list[Block]:
    """Every table, what is out of tolerance, and what to do next."""
    judge = f"{report.judge.id} {report.judge.model}" if report.judge.model else report.judge.id
    calibration = f", calibration {report.judge.calibration}" if report.judge.calibration else ""
    blocks: list[Block] = [Title(f"{judge}{calibration} · how wrong it is")]
    for section in report.sections:
        heads = columns(*(column.replace("_", " ") for column in section.columns), is_whole=True)
        table = Table(heads, [tuple(map(_cell_words, row)) for row in section.rows])
        blocks += [Heading(section.title), Line(section.remark, "dim"), table]
    failed = unjudged_words((failure.name, failure.reason) for failure in report.unjudged)
    return [
        *blocks,
        Gap(),
        Items([f"out of tolerance: {fault}" for fault in report.faults], "red"),
        Items([*failed[:MAX_REASONS], *report.problems], "yellow"),
        Line(f"Next: {_next_calibration(report)}", "dim"),
    ]


def _by_rule_table(grade: ServerGrade) -> Table:
    """Return one line for each rule, the costliest first."""
    points, times = Column(head="points", is_right=True), Column(head="times", is_right=True)
    heads = (points, Column(head="rule", is_whole=True), times, Column(head="first"))
    rows = [
        (
            f"-{sum(finding.points for finding in group)}",
            Span(group[0].alias, SEVERITY_STYLES[group[0].severity]),
            str(len(group)),
            f"{group[0].subject.label}: {group[0].message}",
        )
        for group in grade.by_rule
    ]
    return Table(heads, rows)


def _next_calibration(report: CalibrationReport) -> str:
    if report.faults:
        return "use a stronger model, or the offline judge, whose error tdqs-mcp calibrate prints"
    if report.unjudged:
        return "see that the judge answers, then calibrate again; it was not compared with what it has not judged"
    return "tdqs-mcp calibrate LOCATOR --judge JUDGE compares another judge"


def _cell_words(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell).replace("_", " ")


def prompts_text(document: Mapping[str, Any]) -> str:
    """The prompts for eyes: the system prompts once, control characters visible; JSON has the exact bytes."""
    entries = [(f"tool {entry['name']}", entry) for entry in document["tools"]]
    entries += [(key, document[key]) for key in ("coherence", "shadowing", "skill") if key in document]
    forms = [((title, entry), (f"{title}, hardened", entry["hardened"])) for title, entry in entries]
    systems: set[str] = set()
    lines = []
    for title, entry in chain.from_iterable(forms):
        if entry["system"] and entry["system"] not in systems:
            lines += ["===== system", *entry["system"].split("\n"), ""]
            systems.add(entry["system"])
        lines += [f"===== user: {title} ({entry['promptHash']})", *entry["user"].split("\n"), ""]
    return "\n".join(visible(line) for line in lines)
