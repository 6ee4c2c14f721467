"""Plans for eyes: the rewrites that are proven, apart from what only the author can write."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tdqs_mcp.report.escape import markdown, printable
from tdqs_mcp.report.markdown import fitting
from tdqs_mcp.report.words import score_words
from tdqs_mcp.results.plan import Advice, Fix, Outcome, Plan, WhatIf, WhatIfReport
from tdqs_mcp.results.verdicts import Outlook

PLAN_MARKER = "<!-- tdqs-mcp plan -->"

MAX_ROWS = 20
"""Tools in a table for eyes; JSON has them all."""

MAX_ROOMS = 2
"""Dimensions named for one tool."""

MAX_QUESTIONS = 2


def plan_view(plan: Plan) -> RenderableType:
    """What is proven, what the author has to write, and what to do next."""
    parts: list[RenderableType] = [Text(f"{printable(plan.server)} · {summary(plan)}", style="bold")]
    if plan.fixes:
        heads = ("tool", "TDQS", "likely", "tokens")
        rows = [(printable(each.rewrite.name), *_numbers(each)) for each in plan.fixes]
        parts += [Text(), Text("Proven: apply these rewrites", style="bold"), _table(heads, rows)]
    if plan.advice:
        parts += [Text(), Text(_heading(plan.advice), style="bold")]
        for advice in plan.advice[:MAX_ROWS]:
            parts += [Text(f"  {line}", style=style) for line, style in _told(advice)]
        parts += _more(len(plan.advice))
    return Group(*parts, Text(), Text(next_step(plan), style="dim"))


def plan_markdown(plan: Plan) -> str:
    """The same for a pull request."""
    return fitting(lambda rows: _plan_markdown(plan, rows), PLAN_MARKER)


def what_if_view(report: WhatIfReport) -> RenderableType:
    """The server's score for every height that a tool may get to."""
    parts: list[RenderableType] = []
    for each in report.tools:
        rows = [
            (_what(outcome, each), score_words(outcome.tdqs), score_words(outcome.overall)) for outcome in each.outcomes
        ]
        parts += [Text(printable(_subject(each)), style="bold"), _table(("if", "TDQS", "overall"), rows)]
    return Group(*parts)


def what_if_markdown(report: WhatIfReport) -> str:
    """The same as tables of Markdown."""
    lines = []
    for each in report.tools:
        lines += [f"## {markdown(_subject(each))}", "", "| if | TDQS | overall |", "| --- | --- | --- |"]
        lines += [
            f"| {_what(one, each)} | {score_words(one.tdqs)} | {score_words(one.overall)} |" for one in each.outcomes
        ]
        lines.append("")
    return "\n".join(lines)


def summary(plan: Plan) -> str:
    """The plan in a line."""
    now, then, target = score_words(plan.before.overall), score_words(plan.after.overall), score_words(plan.target)
    count = f"{len(plan.fixes)} rewrite{'s' * (len(plan.fixes) != 1)}"
    cost = f"about {plan.tokens_added:+d} tokens"
    if plan.is_reached and not plan.fixes:
        return f"overall {now} is at the target {target} already"
    if plan.is_reached:
        return f"overall {now} → {then} with {count}, {cost}: the target {target} is reached"
    done = f"{now} → {then} with {count}, {cost}" if plan.fixes else f"stays {now}, no rewrite moves it"
    return f"overall {done}: the target {target} is out of reach{' without the author' * bool(plan.advice)}"


def next_step(plan: Plan) -> str:
    """What to do about the plan."""
    if plan.advice:
        return "Next: answer the questions in the definitions, then plan again"
    if not plan.is_reached:
        return "Even with every tool at 5.0 the target is missed: the tool set itself has to become more coherent"
    if not plan.fixes:
        return "Nothing to do"
    return "Next: tdqs-mcp rewrite LOCATOR, with --tool NAME for each of these and --write FILE"


def _plan_markdown(plan: Plan, rows: int) -> str:
    lines = [f"## {markdown(plan.server)}: {markdown(summary(plan))}", ""]
    if plan.fixes and rows:
        lines += ["Proven:", "", "| tool | TDQS | likely | tokens |", "| --- | --- | --- | --- |"]
        lines += [f"| {markdown(each.rewrite.name)} | {' | '.join(_numbers(each))} |" for each in plan.fixes[:rows]]
        lines.append("")
    if plan.advice and rows:
        lines += [f"{_heading(plan.advice)}:", ""]
        for advice in plan.advice[:rows]:
            head, *told = (markdown(line) for line, _ in _told(advice))
            lines += [f"- {head}", *(f"  - {line}" for line in told)]
        lines.append("")
    return "\n".join([*lines, markdown(next_step(plan)), "", PLAN_MARKER, ""])


def _heading(advice: Sequence[Advice]) -> str:
    wanted = advice[0].wanted / 10
    return f"Not proven: the author has to bring {len(advice)} tool{'s' * (len(advice) > 1)} to TDQS {wanted}"


def _told(advice: Advice) -> Iterator[tuple[str, str]]:
    """Lines and their styles: the tool, its best dimensions, what to answer."""
    yield f"{printable(advice.tool.name)}   {score_words(advice.tool.tdqs)}{_likely(advice.tool.outlook)}", "bold"
    for room in advice.rooms[:MAX_ROOMS]:
        yield f"  {room.dimension} {room.score} (each point +{room.gain / 100:.2f}): {printable(room.advice)}", ""
    for question in advice.questions[:MAX_QUESTIONS]:
        yield f"  ? {printable(question)}", "yellow"


def _numbers(fix: Fix) -> tuple[str, str, str]:
    scores = f"{score_words(fix.before.tdqs)} → {score_words(fix.after.tdqs)}"
    return scores, _likely(fix.after.outlook).strip(" ()"), f"{fix.tokens_added:+d}"


def _likely(outlook: Outlook | None) -> str:
    """The middle 80% of what the judge's own error leaves open."""
    return f" ({outlook.low / 10}-{outlook.high / 10})" if outlook else ""


def _subject(each: WhatIf) -> str:
    return f"{each.tool.name} of {each.server}: TDQS {score_words(each.tool.tdqs)}, overall {score_words(each.overall)}"


def _what(outcome: Outcome, each: WhatIf) -> str:
    if outcome.is_rewrite:
        return f"its rewrite is applied ({each.tokens_added:+d} tokens)"
    return "it is perfect" if outcome.tdqs == 50 else f"it reaches {outcome.tier}"


def _more(count: int) -> list[Text]:
    return [Text(f"  … and {count - MAX_ROWS} more; --format json has all")] if count > MAX_ROWS else []


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for place, head in enumerate(heads):
        table.add_column(head, overflow="fold", justify="left" if place == 0 else "right")
    for row in rows[:MAX_ROWS]:
        table.add_row(*map(Text, row))
    if len(rows) > MAX_ROWS:
        table.add_row(Text(f"… and {len(rows) - MAX_ROWS} more"))
    return table
