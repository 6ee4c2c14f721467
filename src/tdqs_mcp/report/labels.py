"""Labels for eyes: a table of tools, a skill's scores, and the suggestions in their three bands."""

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tdqs_mcp.report.doubts import doubt_lines, doubts_markdown
from tdqs_mcp.report.escape import markdown, printable
from tdqs_mcp.report.text import MAX_ROWS
from tdqs_mcp.report.words import judge_words
from tdqs_mcp.results.labels import Band, Label, LabelledTool, LabelScore, SkillScore, Suggestion
from tdqs_mcp.results.verdicts import Ungraded
from tdqs_mcp.rubrics.rubric import load

MAX_SUGGESTIONS = 10
_STYLES = {Label.GOOD: "green", Label.BAD: "red", None: "dim"}
_BANDS = {Band.SERVER_SMELL: "server", Band.BUNDLE_DEFICIENCY: "skill", Band.TOOL_ISSUE: "tool"}


def label_view(score: LabelScore) -> RenderableType:
    """A server's labels: how many are Good, the lowest tools, what could not be graded, what to fix first."""
    bad = sum(tool.label is Label.BAD for tool in score.tools)
    title = f"{score.server} {score.version}" if score.version else score.server
    counts = f"{len(score.tools) - bad} Good, {bad} Bad" + (
        f", {len(score.ungraded)} ungraded" if score.ungraded else ""
    )
    parts: list[RenderableType] = [
        Text(f"{printable(title)} · {load(score.rubric).title} by {judge_words(score.judge)}", style="bold"),
        Text(counts, style="red" if bad else "green"),
    ]
    if score.tools:
        parts += [Text(), _table(score)]
    parts += doubt_lines(score)
    parts += [_ungraded(tool.name or f"tool {tool.index + 1}", tool.ungraded) for tool in score.ungraded]
    if score.skill is not None:
        parts += [Text(), skill_view(score.skill)]
    parts += [Text(f"! {printable(problem)}", style="yellow") for problem in score.problems]
    return Group(*parts, *_suggestions(score.suggestions))


def skill_view(skill: SkillScore) -> RenderableType:
    """A skill's scores with the reason for each."""
    parts: list[RenderableType] = [
        Text(f"skill of {printable(skill.server)} · {load('skill').title} by {judge_words(skill.judge)}", style="bold"),
        Text(_verdict(skill), style=_STYLES[skill.label]),
    ]
    if skill.credentials is not None:
        parts.append(Text(f"Bad by the credentials rule: {printable(skill.credentials)}", style="red"))
    if isinstance(skill.verdict, Ungraded):
        parts.append(_ungraded("skill", skill.verdict))
    else:
        parts.append(_skill_table(skill))
    return Group(*parts, *(Text(f"! {printable(problem)}", style="yellow") for problem in skill.problems))


def label_markdown(score: LabelScore) -> str:
    """All tools as a table, the lowest first, then the suggestions."""
    keys = load(score.rubric).keys
    bad = sum(tool.label is Label.BAD for tool in score.tools)
    lines = [
        f"## {markdown(score.server)}: {len(score.tools) - bad} Good, {bad} Bad",
        "",
        f"{load(score.rubric).title} by {markdown(judge_words(score.judge))}.",
        "",
        f"| tool | label | overall | {' | '.join(keys)} |",
        "| --- " * (3 + len(keys)) + "|",
    ]
    for tool in _lowest(score.tools):
        scores = " | ".join(str(tool.judgements[key].score) for key in keys)
        lines.append(f"| {markdown(tool.name)} | {tool.label} | {tool.overall / 10} | {scores} |")
    lines += ["", doubts_markdown(score)]
    lines += ["", *(f"- ungraded: {markdown(each.name)}: {markdown(each.ungraded.reason)}" for each in score.ungraded)]
    lines += [f"- problem: {markdown(problem)}" for problem in score.problems]
    lines += [
        "",
        *(f"{place}. {_BANDS[each.band]}: {markdown(each.message)}" for place, each in enumerate(score.suggestions, 1)),
    ]
    if score.skill is not None:
        lines += ["", skill_markdown(score.skill)]
    return "\n".join(lines).strip() + "\n"


def skill_markdown(skill: SkillScore) -> str:
    """A skill's scores as a table."""
    lines = [f"## skill of {markdown(skill.server)}: {_verdict(skill)}", ""]
    if skill.credentials is not None:
        lines += [f"Bad by the credentials rule: {markdown(skill.credentials)}", ""]
    if isinstance(skill.verdict, Ungraded):
        lines.append(f"Ungraded: {markdown(skill.verdict.reason)}")
    else:
        lines += ["| dimension | score | why |", "| --- | --- | --- |"]
        lines += [
            f"| {key} | {judgement.score} | {markdown(judgement.justification)} |"
            for key, judgement in skill.verdict.judgements.items()
        ]
    lines += ["", *(f"- problem: {markdown(problem)}" for problem in skill.problems)]
    return "\n".join(lines).strip() + "\n"


def _table(score: LabelScore) -> RenderableType:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("tool", overflow="fold")
    table.add_column("label")
    table.add_column("overall", justify="right")
    keys = load(score.rubric).keys
    for key in keys:
        table.add_column(key.replace("_", " "), justify="right")
    for tool in _lowest(score.tools)[:MAX_ROWS]:
        scores = [tool.judgements[key].score for key in keys]
        cells = [Text(str(each), style="red" if each < 3 else "") for each in scores]
        table.add_row(
            Text(printable(tool.name)), Text(tool.label, style=_STYLES[tool.label]), str(tool.overall / 10), *cells
        )
    hidden = len(score.tools) - MAX_ROWS
    more = Text(f"… and {hidden} more with higher scores; --format json lists all", style="dim")
    return table if hidden <= 0 else Group(table, more)


def _skill_table(skill: SkillScore) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    judgements = {} if isinstance(skill.verdict, Ungraded) else skill.verdict.judgements
    for key, judgement in judgements.items():
        style = "red" if judgement.score < 3 else ""
        table.add_row(
            key.replace("_", " "), Text(str(judgement.score), style=style), Text(printable(judgement.justification))
        )
    return table


def _verdict(skill: SkillScore) -> str:
    overall = "" if skill.overall is None else f", overall {skill.overall / 10}"
    return f"{skill.label or 'no label'}{overall}"


def _lowest(tools: Iterable[LabelledTool]) -> list[LabelledTool]:
    return sorted(tools, key=lambda tool: (tool.overall, tool.index))


def _ungraded(name: str, why: Ungraded) -> Text:
    return Text(f"ungraded: {printable(name)}: {printable(why.reason)}", style="yellow")


def _suggestions(suggestions: tuple[Suggestion, ...]) -> list[RenderableType]:
    if not suggestions:
        return []
    shown = [
        Text(f"{place}. {_BANDS[each.band]}: {printable(each.message)}")
        for place, each in enumerate(suggestions[:MAX_SUGGESTIONS], start=1)
    ]
    hidden = len(suggestions) - MAX_SUGGESTIONS
    more = [Text(f"… and {hidden} more; --format json lists all", style="dim")] if hidden > 0 else []
    return [Text(), Text("Fix first", style="bold"), *shown, *more]
