"""Labels for people: a table of tools, a skill's scores, and the suggestions in their three bands."""

from tdqs_mcp.report.blocks import Block, Gap, Items, Line, Section, Span, Table, Title, Words, columns
from tdqs_mcp.report.score_report import MAX_ROWS, uncertainty
from tdqs_mcp.report.words import judge_words, named, problem_items, ungraded_items
from tdqs_mcp.results.labels import Band, Label, LabelScore, SkillScore
from tdqs_mcp.results.verdicts import Ungraded
from tdqs_mcp.rubrics.rubric import load

MAX_SUGGESTIONS = 10
_STYLES = {Label.GOOD: "green", Label.BAD: "red", None: "dim"}
_BANDS = {Band.SERVER_SMELL: "server", Band.BUNDLE_DEFICIENCY: "skill", Band.TOOL_ISSUE: "tool"}


def label_blocks(score: LabelScore) -> list[Block]:
    """A server's labels: how many are Good, the lowest tools, what could not be graded, what to fix first."""
    counts = f"{score.good_tool_count} Good, {score.bad_tool_count} Bad"
    if score.ungraded:
        counts += f", {len(score.ungraded)} ungraded"
    head = f"{named(score.server, score.version)} · {load(score.rubric).title} by {judge_words(score.judge)}"
    blocks: list[Block] = [Title(head), Line(counts, "red" if score.bad_tool_count else "green")]
    if score.tools:
        blocks += [Gap(), _table(score)]
    blocks += [*uncertainty(score), ungraded_items(score.ungraded)]
    if score.skill is not None:
        blocks += [Gap(), *skill_blocks(score.skill)]
    blocks.append(problem_items(score.problems))
    if score.suggestions:
        told = [(f"{_BANDS[each.band]}: {each.message}", "") for each in score.suggestions]
        blocks += [Section("Fix first"), Items(told, shown=MAX_SUGGESTIONS, is_numbered=True)]
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
        rows = [
            (key.replace("_", " "), Span(str(each.score), "red" if each.score < 3 else ""), each.justification)
            for key, each in skill.verdict.judgements.items()
        ]
        blocks.append(Table(columns("dimension", "score", "why", left=3), rows, has_head=False))
    return [*blocks, problem_items(skill.problems)]


def _table(score: LabelScore) -> Table:
    keys = load(score.rubric).keys
    rows: list[tuple[Words, ...]] = [
        (
            tool.name,
            Span(tool.label, _STYLES[tool.label]),
            str(tool.overall / 10),
            *(Span(str(tool.scores[key]), "red" if tool.scores[key] < 3 else "") for key in keys),
        )
        for tool in sorted(score.tools, key=lambda tool: (tool.overall, tool.index))
    ]
    heads = columns("tool", "label", "overall", *(key.replace("_", " ") for key in keys), left=2)
    return Table(heads, rows, shown=MAX_ROWS, more="more with higher scores")
