"""The blocks of reports for people with the words that all reports share, rendered for a terminal and as Markdown.

Every text of a block is escaped where it is shown, ours and foreign text alike, so that no report can forget to. OnlyIn
`Code`, which holds words of ours, is markup.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.report.escape import markdown, printable, visible
from tdqs_mcp.results.verdicts import JudgeStamp, Tier, tier_of

if TYPE_CHECKING:
    from rich import table as rich_table
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.text import Text

    from tdqs_mcp.judges.budget import Ledger
    from tdqs_mcp.judges.judge import Usage
    from tdqs_mcp.results.scores import Percentiles, UngradedTool  # linting goes without scores

MAX_COMMENT = 65_536
"""Characters that GitHub takes in a comment."""

_ROWS = (1_000_000, 500, 200, 100, 50, 20, 5, 0)
"""Rows of each table and list, fewer until the comment fits."""

_ADDRESSES = ("https://", "http://")

NEXT = "Next: "
"""How a line with a command to be copied begins."""

_MARKS = {"-": ("red strike", "[-{}-]"), "+": ("green", "[+{}+]")}
"""Style on a terminal with colors, and marks everywhere else, of removed and of inserted words."""

MAX_BRIDGE = 2
"""Words that stay between two changes and are shown as a part of one."""

AROUND = 8
"""Unchanged words that are shown on either side of a change."""


@dataclass(frozen=True, slots=True)
class Span:
    """Text with a style for a terminal."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Code:
    """A command or option of ours."""

    text: str


Part: TypeAlias = str | Span | Code
Words: TypeAlias = Part | tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of what follows."""

    words: Words
    style: str = "bold"


class Title(Heading):
    """Subject of a report, and its result."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph."""

    words: Words
    style: str = ""
    indent: int = 0
    """In a terminal."""


@dataclass(frozen=True, slots=True)
class Items:
    """A list; a terminal shows each entry on a line of its own."""

    entries: Sequence[Words]
    style: str = ""
    """Of every entry."""

    indent: int = 0
    limit: int = 1_000_000
    """So many of them in a terminal."""

    is_numbered: bool = False
    below: Sequence["Items"] = ()
    """A list below each entry, where there is one for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The heading of a column and how a terminal sets it."""

    head: str
    is_right: bool = False
    is_whole: bool = False
    """Never wrapped."""

    min_width: int | None = None
    short: str | None = None
    """The heading in a terminal that is too narrow for the headings of all columns."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings; the first `limit` of them in a terminal."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Words]]
    limit: int = 1_000_000
    more: str = "more"
    """Words about the rows that are left out, after their number."""

    has_head: bool = True
    """A terminal shows the headings."""


@dataclass(frozen=True, slots=True)
class Diff:
    """A text before and after; only the words that went and came are marked."""

    label: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Gap:
    """An empty line in a terminal."""


@dataclass(frozen=True, slots=True)
class Marker:
    """An invisible line of Markdown by which a workflow finds the comment to update."""

    text: str


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that Markdown shows folded."""

    summary: str
    blocks: Sequence["Block"] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class OnlyIn:
    """Blocks of one form of the report."""

    form: Literal["text", "markdown"]
    blocks: Sequence["Block"]


Block: TypeAlias = Heading | Line | Items | Table | Diff | Gap | Marker | Fold | OnlyIn


def columns(*heads: str, left: int = 1, is_whole: bool = False) -> tuple[Column, ...]:
    """Columns with these headings, the first `left` of them for words and the others for numbers."""
    return tuple(
        Column(head=head, is_right=place >= left, is_whole=is_whole and place >= left)
        for place, head in enumerate(heads)
    )


def as_text(blocks: Sequence[Block]) -> "RenderableType":
    """The report for a terminal."""
    from rich.console import Group  # noqa: PLC0415  # Markdown goes without

    return Group(*(part for block in blocks for part in _text(block)))


def as_markdown(blocks: Sequence[Block]) -> str:
    """The report for a pull request; with a marker it has as many rows as fit a comment."""
    marker = next((block.text for block in blocks if isinstance(block, Marker)), None)
    if marker is None:
        return _markdown(blocks, _ROWS[0])
    texts = (_markdown(blocks, rows) for rows in _ROWS)
    text = next((text for text in texts if len(text) <= MAX_COMMENT), None)
    if text is not None:
        return text
    end = f"\n\nThe rest is too long for a comment; `--format json` has all.\n\n{marker}\n"
    lines = _markdown(blocks, 0)[: MAX_COMMENT - len(end)]
    return lines[: lines.rfind("\n")] + end


def _text(block: Block) -> "Iterator[RenderableType]":
    from rich.padding import Padding  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    match block:
        case Heading():
            if not isinstance(block, Title):
                yield Text()
            yield _styled(block.words, block.style)
        case Line():
            yield _indented(block.words, block.style, block.indent)
        case Items():
            yield from _text_items(block)
        case Table():
            yield from _text_table(block)
        case Diff():
            yield Padding(_Marked(block), (0, 0, 0, 2))
        case Gap():
            yield Text()
        case OnlyIn(form="text"):
            yield from (part for inner in block.blocks for part in _text(inner))
        case _:
            pass


class _Marked:
    """A diff in colors where the terminal has them, else with marks."""

    def __init__(self, diff: Diff) -> None:
        self._diff = diff

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[RenderableType]":
        from rich.text import Text  # noqa: PLC0415

        if console.color_system is None or console.no_color:
            yield Text(_plain_diff(self._diff))
            return
        runs = ((visible(text), _MARKS[kind][0] if kind else "") for kind, text in diff_runs(self._diff))
        yield Text(" ").join([Text(f"{self._diff.label}:"), *(Text(text, style=style) for text, style in runs)])


def _plain_diff(diff: Diff) -> str:
    """The diff with marks around what went and what came."""
    runs = (_MARKS[kind][1].format(text) if kind else text for kind, text in diff_runs(diff))
    return visible(" ".join([f"{diff.label}:", *runs]))


def diff_runs(diff: Diff) -> Iterator[tuple[str, str]]:
    """The words of a diff by what became of them: nothing, `-` or `+`; of a long stretch that stays only its ends."""
    old, new = diff.before.split(), diff.after.split()
    for operation, start, end, first, last in _merged_opcodes(old, new):
        stays, gone, come = new[first:last], old[start:end], new[first:last]
        if operation == "equal":
            head, tail = stays[: AROUND if first else 0], stays[len(stays) - (AROUND if last < len(new) else 0) :]
            yield "", " ".join(stays if len(stays) <= len(head) + len(tail) else [*head, "…", *tail])
        else:
            yield from ((kind, " ".join(words)) for kind, words in (("-", gone), ("+", come)) if words)


def _merged_opcodes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield the operations of a diff; a word or two that stay between two changes belong to the change."""
    operations = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    pending: tuple[str, int, int, int, int] | None = None
    for place, (operation, start, end, first, last) in enumerate(operations):
        is_short = operation == "equal" and end - start <= MAX_BRIDGE and 0 < place < len(operations) - 1
        if operation == "equal" and not is_short:
            yield from filter(None, (pending, (operation, start, end, first, last)))
            pending = None
        else:
            pending = ("replace", pending[1] if pending else start, end, pending[3] if pending else first, last)
    yield from filter(None, (pending,))


def _text_items(items: Items) -> "Iterator[RenderableType]":
    limit = rows_shown(len(items.entries), items.limit)
    for place, words in enumerate(items.entries[:limit]):
        numbered = (f"{place + 1}. ", *word_parts(words)) if items.is_numbered else words
        yield _indented(numbered, items.style, items.indent)
        if items.below:
            yield from _text_items(items.below[place])
    if more := len(items.entries) - limit:
        yield _indented(f"… and {more} more; --format json has all", "", items.indent)


def rows_shown(count: int, limit: int) -> int:
    """Return how many of so many rows are shown: all where the line about the rest would take the last one's place."""
    return count if count <= limit + 1 else limit


def _text_table(table: Table) -> "Iterator[RenderableType]":
    wide = _rich_table(table)
    yield _Fitting(wide, _rich_table(table, is_dense=True)) if any(column.short for column in table.columns) else wide
    if more := len(table.rows) - rows_shown(len(table.rows), table.limit):
        yield _styled(f"… and {more} {table.more}; --format json has all", "dim")


def _rich_table(table: Table, *, is_dense: bool = False) -> "rich_table.Table":
    from rich import table as rich_table  # noqa: PLC0415

    padding = (0, 1, 0, 0) if is_dense else (0, 1)
    grid = rich_table.Table(box=None, pad_edge=False, padding=padding, header_style="dim", show_header=table.has_head)
    for column in table.columns:
        grid.add_column(
            _styled((is_dense and column.short) or column.head, ""),
            justify="right" if column.is_right else "left",
            no_wrap=column.is_right if is_dense else column.is_whole,
            overflow="ellipsis" if column.is_right else "fold",
            min_width=column.min_width,
        )
    for row in table.rows[: rows_shown(len(table.rows), table.limit)]:
        grid.add_row(*(_styled(cell, "") for cell in row))
    return grid


@dataclass(frozen=True, slots=True)
class _Fitting:
    """The wide table where it fits the terminal, else the dense one."""

    wide: "rich_table.Table"
    dense: "rich_table.Table"

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "Iterator[RenderableType]":
        needed = console.measure(self.wide, options=options.update(max_width=_ROWS[0])).minimum
        yield self.wide if needed <= options.max_width else self.dense


def _indented(words: Words, style: str, indent: int) -> "RenderableType":
    from rich.padding import Padding  # noqa: PLC0415

    text = _styled(words, style)
    # A wrapped address cannot be opened, nor a wrapped command copied.
    is_command = text.plain.startswith(NEXT) and any(isinstance(part, Code) for part in word_parts(words))
    if text.plain.startswith(_ADDRESSES) or is_command:
        text.no_wrap, text.overflow = True, "ignore"
        text.pad_left(indent)
        return text
    return Padding(text, (0, 0, 0, indent)) if indent else text


def _styled(words: Words, style: str) -> "Text":
    from rich.text import Text  # noqa: PLC0415

    text = Text(style=style)
    for part in word_parts(words):
        text.append(printable(part.text, is_part=True), style=part.style if isinstance(part, Span) else None)
    text.rstrip()
    return text


def _markdown(blocks: Sequence[Block], rows: int) -> str:
    return "\n\n".join(text for block in blocks if (text := _markdown_block(block, rows))).strip() + "\n"


def _markdown_block(block: Block, rows: int) -> str:  # noqa: PLR0911  # one return for each block
    match block:
        case Heading():
            return f"{'##' if isinstance(block, Title) else '###'} {_escaped(block.words)}"
        case Line():
            return _escaped(block.words)
        case Items():
            return "\n".join(_markdown_items(block, rows))
        case Table():
            return _markdown_table(block, rows)
        case Diff():
            return _code_block(_plain_diff(block).split("\n"))
        case Marker():
            return block.text
        case Fold():
            rows_shown = block.blocks[: max(rows, 1)]
            more = Line(f"and {len(block.blocks) - len(rows_shown)} more; --format html has all")
            inner = _markdown([*rows_shown, *([more] if len(rows_shown) < len(block.blocks) else [])], rows).strip()
            return f"<details>\n<summary>{block.summary}</summary>\n\n{inner}\n\n</details>"
        case OnlyIn(form="markdown"):
            return _markdown(block.blocks, rows).strip()
        case _:
            return ""


def _markdown_items(items: Items, rows: int) -> Iterator[str]:
    for place, words in enumerate(items.entries[:rows]):
        yield f"{place + 1}. {_escaped(words)}" if items.is_numbered else f"- {_escaped(words)}"
        if items.below:
            yield from (f"  {line}" for line in _markdown_items(items.below[place], rows))
    if len(items.entries) > rows:
        yield f"- and {len(items.entries) - rows} more; `--format json` has all"


def _markdown_table(table: Table, rows: int) -> str:
    head = " | ".join(_escaped(column.head) for column in table.columns)
    rule = " | ".join("---:" if column.is_right else "---" for column in table.columns)
    body = [" | ".join(map(_escaped, row)) for row in table.rows[:rows]]
    text = "\n".join(f"| {line} |" for line in (head, rule, *body))
    more = len(table.rows) - rows
    return f"{text}\n\n{more} {table.more} are too long for a comment; `--format json` has all." if more > 0 else text


def _escaped(words: Words) -> str:
    return "".join(
        f"`{part.text}`" if isinstance(part, Code) else markdown(part.text, is_part=True) for part in word_parts(words)
    ).strip()


def plain_words(words: Words) -> str:
    """The words without their styles."""
    return "".join(part.text for part in word_parts(words))


def word_parts(words: Words) -> tuple[Span | Code, ...]:
    """The words with a style each; a command of ours is apart."""
    parts = words if isinstance(words, tuple) else (words,)
    return tuple(Span(part) if isinstance(part, str) else part for part in parts)


def _code_block(lines: Sequence[str]) -> str:
    """A code block that no line can close."""
    ticks = (len(ticks) for line in lines for ticks in re.findall("`+", line))
    fence = "`" * max(3, 1 + max(ticks, default=0))
    return "\n".join([f"{fence}diff", *lines, fence])


MAX_NAMED = 20
"""Tools that a line names; JSON has them all."""

TIER_STYLES = {Tier.A: "green", Tier.B: "cyan", Tier.C: "yellow", Tier.D: "red", Tier.F: "red"}


def judge_words(judge: JudgeStamp) -> str:
    """Who judged, so that a number can be compared: calibration, model and prompt."""
    calibration = judge.calibration and f"calibration {judge.calibration}"
    prompt = judge.prompt and f"{judge.prompt} prompt"
    return ", ".join(filter(None, (judge.id, judge.model, calibration, prompt)))


def score_words(tenths: int | None) -> str:
    """A score with its tier: `3.4 B`."""
    return "no score" if tenths is None else f"{tenths / 10} {tier_of(tenths)}"


def range_words(likely: "Sequence[int] | None") -> str:
    """` (80%: 2.9 to 3.5)`, the middle 80% of the likely scores, to stand after a score; empty where none is known."""
    return f" (80%: {likely[0] / 10} to {likely[1] / 10})" if likely else ""


def percentile_words(percentiles: "Percentiles", peers: str = "known servers") -> str:
    """`better than 71% of 87 known servers`."""
    descriptions = percentiles.description_quality
    quality = "" if descriptions is None else f", descriptions than {descriptions}%"
    return f"better than {percentiles.overall}% of {percentiles.servers:,} {peers}{quality}"


def next_lines(*commands: str) -> list[Block]:
    """Return a line for each command that helps next."""
    return [Line((NEXT, Code(command)), "dim") for command in commands]


def named(server: str, version: str | None) -> str:
    """The server with its version."""
    return f"{server} {version}" if version else server


def count_words(count: int, singular: str, more: str | None = None) -> str:
    """`1 tool`, `2,000 tools`."""
    return f"1 {singular}" if count == 1 else f"{count:,} {more or f'{singular}s'}"


def unjudged_words(failed: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each reason why something was not judged: how many, and the first of them by name."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in failed:
        by_reason.setdefault(reason, []).append(name)
    return [f"{len(names)} not judged ({first_of(names, MAX_NAMED)}): {reason}" for reason, names in by_reason.items()]


def unjudged_lines(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> list[str]:
    """Return the failures of the judge: once if both versions had it for the same reason, else with the version."""
    failed = [(name if (name, reason) in new else f"{name} (old)", reason) for name, reason in dict.fromkeys(old)]
    failed += [(f"{name} (new)", reason) for name, reason in dict.fromkeys(new) if (name, reason) not in old]
    return unjudged_words(failed)


def number(tenths: int | None) -> Span:
    """A score in its tier's color."""
    return Span("none", "dim") if tenths is None else Span(score_words(tenths), f"bold {TIER_STYLES[tier_of(tenths)]}")


def ungraded_items(tools: "Sequence[UngradedTool]", coherence: str | None = None) -> Items:
    """A line for each reason why tools, and the coherence of all, have no score."""
    failed = [(tool.label, tool.ungraded.reason) for tool in tools]
    failed += [("coherence", coherence)] if coherence else []
    return Items(unjudged_words(failed), "yellow")


def problem_items(problems: Sequence[str]) -> Items:
    """Return what went wrong on the way."""
    return Items([f"! {problem}" for problem in problems], "yellow")


DOLLAR = 10**9
"""Nanodollars."""


def usage_line(usage: "Usage", *, by: str = "judge") -> str:
    """Who asked: requests, tokens and, where the prices are known, the cost, rounded up to a hundredth of a cent."""
    cached = f" ({usage.cache_read_tokens:,} cached)" if usage.cache_read_tokens else ""
    return (
        f"{by}: {usage.requests:,} requests, {usage.input_tokens:,} input tokens{cached}, "
        f"{usage.output_tokens:,} output tokens, {price(usage.cost)}"
    )


def price(cost: int | None) -> str:
    """Nanodollars in dollars, rounded up to a hundredth of a cent; None is an unknown price."""
    if cost is None:
        return "at an unknown price"
    parts = -(-cost * 10_000 // DOLLAR)
    return f"${parts // 10_000}.{parts % 10_000:04d}"


def ledger_line(ledger: "Ledger") -> str:
    """Return what a run would ask for, in one line for people."""
    usage = ledger.usage
    return (
        f"{usage.requests} requests would be sent, with about {usage.input_tokens} input and {usage.output_tokens} "
        f"output tokens, {price(usage.cost)}; what is cached already costs nothing\n"
    )


def ledger_document(ledger: "Ledger") -> dict[str, Any]:
    """Return the preview as JSON; the cost in dollars is null where a price is not known."""
    usage = ledger.usage
    cost = None if usage.cost is None else usage.cost / DOLLAR
    tokens = {"inputTokens": usage.input_tokens, "outputTokens": usage.output_tokens}
    return {"calls": usage.requests, **tokens, "cost": cost}
