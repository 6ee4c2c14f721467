"""What makes a score less certain than it looks: jurors who disagree, quotations that nobody wrote."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tdqs_mcp.facts.text.words import first_of
from tdqs_mcp.report.escape import markdown, printable
from tdqs_mcp.results.labels import LabelScore
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.verdicts import Judgement, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

MAX_NAMED = 20
"""Tools that a line names; JSON has them all."""

MAX_QUOTE = 60
"""Characters of a quotation."""

APART = 2
"""Points between two jurors that are worth a word: one point is what one model's own samples differ by."""

_HEADINGS = ("dimension", "ICC(2,1)", "mean", "median", "smells by mean", "by median")


def doubt_lines(score: ServerScore | LabelScore) -> "list[RenderableType]":
    """For a terminal; nothing where nothing is in doubt."""
    from rich.table import Table  # noqa: PLC0415  # Markdown goes without
    from rich.text import Text  # noqa: PLC0415

    lines: list[RenderableType] = []
    if rows := _agreement(score):
        table = Table(box=None, pad_edge=False, header_style="dim")
        for place, heading in enumerate(_HEADINGS):
            table.add_column(heading, justify="right" if place else "left")
        for row in rows:
            table.add_row(*row)
        lines += [Text(), Text(_over(score, printable), style="dim"), table]
    return [*lines, *(Text(printable(doubt), style="yellow") for doubt in _doubts(score))]


def doubts_markdown(score: ServerScore | LabelScore) -> str:
    """The same as a table and a list; empty where nothing is in doubt."""
    lines = []
    if rows := _agreement(score):
        lines = [_over(score, markdown), "", f"| {' | '.join(_HEADINGS)} |", "| --- " * len(_HEADINGS) + "|"]
        lines += [f"| {' | '.join(row)} |" for row in rows] + [""]
    return "\n".join([*lines, *(f"- {markdown(doubt)}" for doubt in _doubts(score))]).strip()


def _agreement(score: ServerScore | LabelScore) -> list[tuple[str, ...]]:
    """A row for each dimension; none without a jury."""
    return [
        (
            key.replace("_", " "),
            "none" if each.icc is None else f"{each.icc:.2f}",
            _points(each.mean),
            _points(each.median),
            str(each.smells_by_mean),
            str(each.smells_by_median),
        )
        for key, each in score.agreement.items()
    ]


def _over(score: ServerScore | LabelScore, escape: Callable[[str], str]) -> str:
    count = sum(bool(tool.ballots) and all(ballot.scores for ballot in tool.ballots) for tool in score.tools)
    names = ", ".join(escape(ballot.juror) for ballot in next(tool.ballots for tool in score.tools if tool.ballots))
    return f"jurors: {names}\njury agreement over {count} tool{'s' if count != 1 else ''} that every juror scored"


def _points(hundredths: int | None) -> str:
    return "none" if hundredths is None else f"{hundredths / 100:.2f}"


def _doubts(score: ServerScore | LabelScore) -> list[str]:
    return [*_disputed(score), *_misquoted(score)]


def _disputed(score: ServerScore | LabelScore) -> list[str]:
    found = [(tool.name, tool.jury) for tool in score.tools if tool.jury]
    close = [f"{name} ({', '.join(each.grades)})" for name, each in found if each.too_close]
    apart = [
        f"{name} ({', '.join(f'{key} by {points}' for key, points in wide.items())})"
        for name, each in found
        if (wide := {key: points for key, points in each.spread.items() if points >= APART})
    ]
    return _listed("too close to call", close) + _listed("jurors far apart", apart)


def _misquoted(score: ServerScore | LabelScore) -> list[str]:
    parts: list[tuple[str, Mapping[str, Judgement]]] = [(tool.name, tool.judgements) for tool in score.tools]
    if isinstance(score, ServerScore) and isinstance(score.coherence, Verdict):
        parts.append(("coherence", score.coherence.judgements))
    found = [(name, tuple(_unverified(judgements.values()))) for name, judgements in parts]
    return _listed(
        "quoted, but not in the definition", [f"{name} ({_some(quotes)})" for name, quotes in found if quotes]
    )


def _unverified(judgements: Iterable[Judgement]) -> dict[str, None]:
    return dict.fromkeys(quote for judgement in judgements for quote in judgement.unverified)


def _some(quotes: Sequence[str]) -> str:
    first = quotes[0] if len(quotes[0]) <= MAX_QUOTE else f"{quotes[0][:MAX_QUOTE]}…"
    return f'"{first}"' + (f" and {len(quotes) - 1} more" if len(quotes) > 1 else "")


def _listed(title: str, entries: Sequence[str]) -> list[str]:
    if not entries:
        return []
    return [f"{title}: {first_of(entries, MAX_NAMED, separator='; ')}"]
