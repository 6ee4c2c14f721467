"""A score for people, by TDQS or in labels: the numbers, the lowest tools, what is uncertain, what to fix first."""

from collections.abc import Mapping, Sequence

from tdqs_mcp.facts.text.words import first_of
from tdqs_mcp.report.blocks import (
    MAX_NAMED,
    Block,
    Code,
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
    number,
    problem_items,
    score_words,
    ungraded_items,
)
from tdqs_mcp.report.escape import printable
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.labels import Label, LabelScore, SkillScore, Urgency
from tdqs_mcp.results.scores import ServerScore, ToolScore
from tdqs_mcp.results.verdicts import Judgement, Ungraded, Verdict
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.rollup import SMELL_BELOW
from tdqs_mcp.scoring.score import Fix, first_fixes

SCORE_MARKER = "<!-- tdqs-mcp score -->"

MAX_ROWS = 20
"""Tools in a terminal's table; the lowest scores come first."""

MAX_NAME = 40
"""Columns that a tool's name gets before it is folded."""

MAX_QUOTE = 60
"""Characters of a quotation."""

MAX_FIXES = {"text": 3, "markdown": 5}
MAX_ASSERTED_TOOLS = 5
MAX_ASSERTED_FINDINGS = 3
"""Findings of each tool in an assertion's message, the worst first."""

WIDE_SPREAD = 2
"""Points between two jurors that are worth a word: one point is what one model's own samples differ by."""

_SHORT = {
    "purpose_clarity": "purpose",
    "usage_guidelines": "usage",
    "behavioral_transparency": "behavior",
    "parameter_semantics": "params",
    "conciseness_structure": "concise",
    "contextual_completeness": "complete",
}


def score_blocks(score: ServerScore) -> list[Block]:
    """A server's score; a terminal gets the lowest tools, a pull request as many as fit."""
    rollup, judge = score.rollup, judge_words(score.judge)
    head = f"{named(score.server, score.version)} · {count_words(score.tool_count, 'tool')}"
    numbers = f"Descriptions {score_words(rollup.description_quality)}, coherence {score_words(rollup.coherence)}."
    blocks: list[Block] = [
        OnlyIn("text", [Title(f"{head} · TDQS {score.spec_version} by {judge}"), _rollup(score)]),
        OnlyIn("markdown", [Title(f"{score.server}: {score_words(rollup.overall)}")]),
        OnlyIn("markdown", [Line(f"{score.tool_count} tools, TDQS {score.spec_version} by {judge}. {numbers}")]),
    ]
    if score.tools:
        blocks += [Gap(), _table(score)]
    unjudged = score.coherence.reason if isinstance(score.coherence, Ungraded) and score.tools else None
    blocks += [*uncertainty(score), ungraded_items(score.ungraded, unjudged)]
    # A dead endpoint is the reason of all.
    blocks.append(problem_items([each.removesuffix(f": {unjudged}") for each in score.problems]))
    close = sum(tool.outlook is not None and tool.outlook.is_close for tool in score.tools)
    if close:
        words = f"{count_words(close, 'tool')} too close to call between two tiers (tdqs-mcp calibrate)"
        blocks.append(OnlyIn("text", [Line(words, "dim")]))
    return [*blocks, *_fixes(score), Marker(SCORE_MARKER)]


def assertion_text(score: ServerScore, missed: Sequence[str]) -> str:
    """Why a test about tool quality fails: what was missed, then the lowest tools with their worst findings."""
    overall = "no overall score" if score.rollup.overall is None else f"overall {score_words(score.rollup.overall)}"
    calibration = f", calibration {score.judge.calibration}" if score.judge.calibration else ""
    lines = [
        f"{score.server}: {'; '.join(missed)}",
        f"{overall}; TDQS {score.spec_version} by {score.judge.id}{calibration}",
    ]
    found = {finding.tool_index for finding in score.findings}
    worst = sorted((tool for tool in score.tools if tool.index in found), key=lambda tool: tool.tdqs)
    lines += [line for tool in worst[:MAX_ASSERTED_TOOLS] for line in _asserted(tool, score.findings)]
    lines += [f"  {each.name}: {each.ungraded.reason}" for each in score.ungraded[:MAX_ASSERTED_TOOLS]]
    return "\n".join(f"{line[: len(line) - len(line.lstrip())]}{printable(line)}" for line in lines)


def uncertainty(score: ServerScore | LabelScore) -> list[Block]:
    """Why a score is less certain than it looks: jurors disagree, or a quotation is not in the definition."""
    blocks: list[Block] = []
    if score.agreement:
        ballots = [tool.ballots for tool in score.tools if tool.ballots]
        complete = sum(all(ballot.scores for ballot in each) for each in ballots)
        rows = [
            (
                key.replace("_", " "),
                "none" if each.icc is None else f"{each.icc:.2f}".replace("-0.00", "0.00"),
                *("none" if value is None else f"{value / 100:.2f}" for value in (each.mean, each.median)),
                *map(str, (each.smells_by_mean, each.smells_by_median)),
            )
            for key, each in score.agreement.items()
        ]
        blocks = [
            Gap(),
            Line(f"jurors: {', '.join(ballot.juror for ballot in ballots[0])}", "dim"),
            Line(f"jury agreement over {count_words(complete, 'tool')} that every juror scored", "dim"),
            Table(columns("dimension", "ICC(2,1)", "mean", "median", "smells by mean", "by median"), rows),
        ]
    doubts = [*_disputed(score), *_misquoted(score)]
    return [*blocks, Items([(doubt, "yellow") for doubt in doubts])]


def _rollup(score: ServerScore) -> Line:
    rollup = score.rollup
    if rollup.mean_tdqs is None or rollup.min_tdqs is None:
        return Line("nothing could be scored", "red")
    lowest = f" (mean {rollup.mean_tdqs / 10}, lowest {rollup.min_tdqs / 10})   coherence "
    head: tuple[Part, ...] = ("overall ", number(rollup.overall), "   descriptions ")
    return Line((*head, number(rollup.description_quality), lowest, number(rollup.coherence)))


def _table(score: ServerScore) -> Table:
    longest = max(len(printable(tool.name)) for tool in score.tools)
    keys = load("tdqs").keys
    heads = (
        Column(head="tool", min_width=min(longest, MAX_NAME)),
        Column(head="TDQS", is_right=True),
        *(Column(head=_SHORT[key], is_right=True) for key in keys),
        Column(head="flags"),
    )
    lowest = sorted(score.tools, key=lambda tool: (tool.tdqs, tool.index))
    return Table(heads, [_row(tool, keys) for tool in lowest], shown=MAX_ROWS, more="more with higher scores")


def _row(tool: ToolScore, keys: Sequence[str]) -> tuple[Words, ...]:
    flags = [flag.value for flag in (*tool.flags, *tool.server_flags)]
    if tool.enforced:
        flags.append(f"enforced {score_words(tool.enforced.tdqs)}")
    remarks: tuple[Part, ...] = (Span(", ".join(flags), "red"),)
    if tool.outlook and tool.outlook.is_close:
        odds = " or ".join(f"{tier} {tool.outlook.tiers[tier]}%" for tier in tool.outlook.likeliest)
        remarks += (Span(f"{', ' if flags else ''}close: {odds}", "dim"),)
    return (tool.name, _standing(tool), *_points(tool.scores, keys), remarks)


def _standing(tool: ToolScore) -> Span:
    """The score with its tier, and with the neighboring tier where that is likelier: `3.0 B/C`."""
    span = number(tool.tdqs)
    likeliest = tool.outlook.likeliest[0] if tool.outlook else tool.tier
    return span if likeliest is tool.tier else Span(f"{span.text}/{likeliest}", span.style)


def _points(scores: Mapping[str, int], keys: Sequence[str]) -> list[Span]:
    """The scores 1-5, smells in red."""
    return [Span(str(scores[key]), "red" if scores[key] < SMELL_BELOW else "") for key in keys]


def _fixes(score: ServerScore) -> list[Block]:
    fixes = first_fixes(score, MAX_FIXES["markdown"])
    if not fixes:
        return []
    told: list[Block] = []
    for place, fix in enumerate(fixes[: MAX_FIXES["text"]], start=1):
        told.append(Line(f"{place}. {_fix(fix)}"))
        if fix.finding.suggestion:
            told.append(Line(f"{fix.finding.suggestion} [{fix.finding.rule}]", "dim", indent=3))
    whole = [
        (f"{'; '.join(filter(None, (_fix(fix), fix.finding.suggestion)))} ({fix.finding.rule})", "") for fix in fixes
    ]
    return [
        Heading("Fix first"),
        OnlyIn("text", told),
        OnlyIn("markdown", [Items(whole, is_numbered=True)]),
        Line(("Next: ", Code(f"tdqs-mcp explain {fixes[0].finding.rule}")), "dim"),
    ]


def _fix(fix: Fix) -> str:
    return f"{fix.tool.name} ({score_words(fix.tool.tdqs)}): {fix.finding.message}"


def _asserted(tool: ToolScore, findings: Sequence[Finding]) -> list[str]:
    own = [finding for finding in findings if finding.tool_index == tool.index]
    lines = [f"  {tool.name} {score_words(tool.tdqs)}"]
    for finding in own[:MAX_ASSERTED_FINDINGS]:
        lines.append(f"    {finding.severity} {finding.rule} {finding.message}")
        if finding.suggestion:
            lines.append(f"      -> {finding.suggestion}")
    hidden = len(own) - MAX_ASSERTED_FINDINGS
    return [*lines, f"    and {hidden} more"] if hidden > 0 else lines


def _disputed(score: ServerScore | LabelScore) -> list[str]:
    found = [(tool.name, tool.jury) for tool in score.tools if tool.jury]
    close = [f"{name} ({', '.join(each.grades)})" for name, each in found if each.too_close]
    apart = [
        f"{name} ({', '.join(f'{key} by {points}' for key, points in wide.items())})"
        for name, each in found
        if (wide := {key: points for key, points in each.spread.items() if points >= WIDE_SPREAD})
    ]
    return _listed("too close to call", close) + _listed("jurors far apart", apart)


def _misquoted(score: ServerScore | LabelScore) -> list[str]:
    parts: list[tuple[str, Mapping[str, Judgement]]] = [(tool.name, tool.judgements) for tool in score.tools]
    if isinstance(score, ServerScore) and isinstance(score.coherence, Verdict):
        parts.append(("coherence", score.coherence.judgements))
    quoted = []
    for name, judgements in parts:
        quotes = list(dict.fromkeys(quote for each in judgements.values() for quote in each.unverified))
        if quotes:
            first = quotes[0] if len(quotes[0]) <= MAX_QUOTE else f"{quotes[0][:MAX_QUOTE]}…"
            quoted.append(f'{name} ("{first}"' + (f" and {len(quotes) - 1} more)" if len(quotes) > 1 else ")"))
    return _listed("quoted, but not in the definition", quoted)


def _listed(title: str, entries: Sequence[str]) -> list[str]:
    return [f"{title}: {first_of(entries, MAX_NAMED, separator='; ')}"] if entries else []


MAX_SUGGESTIONS = 10


_STYLES = {Label.GOOD: "green", Label.BAD: "red", None: "dim"}


_BANDS = {Urgency.SERVER_SMELL: "server", Urgency.BUNDLE_DEFICIENCY: "skill", Urgency.TOOL_ISSUE: "tool"}


def label_blocks(score: LabelScore) -> list[Block]:
    """A server's labels: how many are Good, the lowest tools, what could not be graded, what to fix first."""
    counts = f"{score.good_tool_count} Good, {score.bad_tool_count} Bad"
    if score.ungraded:
        counts += f", {len(score.ungraded)} ungraded"
    head = f"{named(score.server, score.version)} · {load(score.rubric).title} by {judge_words(score.judge)}"
    blocks: list[Block] = [Title(head), Line(counts, "red" if score.bad_tool_count else "green")]
    if score.tools:
        blocks += [Gap(), _labels_table(score)]
    blocks += [*uncertainty(score), ungraded_items(score.ungraded)]
    if score.skill is not None:
        blocks += [Gap(), *skill_blocks(score.skill)]
    blocks.append(problem_items(score.problems))
    if score.suggestions:
        told = [(f"{_BANDS[each.band]}: {each.message}", "") for each in score.suggestions]
        blocks += [Heading("Fix first"), Items(told, shown=MAX_SUGGESTIONS, is_numbered=True)]
    return blocks


def skill_blocks(skill: SkillScore) -> list[Block]:
    """A skill's scores with the reason for each."""
    overall = "" if skill.overall is None else f", overall {skill.overall / 10}"
    blocks: list[Block] = [
        Title(f"skill of {skill.server} · {load('skill').title} by {judge_words(skill.judge)}"),
        Line(f"{skill.label or 'no label'}{overall}", _STYLES[skill.label]),
    ]
    if skill.credentials is not None:
        blocks.append(Line(f"Bad by the credentials rule: {skill.credentials}", "red"))
    if isinstance(skill.verdict, Ungraded):
        blocks.append(Items([(f"ungraded: skill: {skill.verdict.reason}", "yellow")]))
    else:
        judgements = skill.verdict.judgements
        shown = zip(judgements.items(), _points(skill.verdict.scores, list(judgements)), strict=True)
        rows = [(key.replace("_", " "), points, each.justification) for (key, each), points in shown]
        blocks.append(Table(columns("dimension", "score", "why", left=3), rows, has_head=False))
    return [*blocks, problem_items(skill.problems)]


def _labels_table(score: LabelScore) -> Table:
    keys = load(score.rubric).keys
    rows: list[tuple[Words, ...]] = [
        (tool.name, Span(tool.label, _STYLES[tool.label]), str(tool.overall / 10), *_points(tool.scores, keys))
        for tool in sorted(score.tools, key=lambda tool: (tool.overall, tool.index))
    ]
    heads = columns("tool", "label", "overall", *(key.replace("_", " ") for key in keys), left=2)
    return Table(heads, rows, shown=MAX_ROWS, more="more with higher scores")
