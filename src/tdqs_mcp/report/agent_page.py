"""The notice and page that every answer to an agent begins with; pages of findings and of prompts to be judged."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar

from tdqs_mcp.report.escape import MAX_FENCED, NOTICE, fence_exact, fence_name, unseen
from tdqs_mcp.results.contract import Encoded, Internal, Max, Name, Only, Own
from tdqs_mcp.results.findings import Finding, LintReport, Severity, Tally, tally
from tdqs_mcp.results.verdicts import JudgeStamp

MAX_MESSAGE = 160
"""Characters of a message or suggestion in a summary; the whole of it is in the details."""

MAX_PROBLEMS = 5
MAX_NAMES = 20
"""Names in a list that only says which tools are meant."""

JUDGE = "id version model calibration"
SEVERITIES = "error warning info"
Judge = Annotated[JudgeStamp, Only(JUDGE)]
SeverityCounts = Annotated[Tally, Only(SEVERITIES)]
Problems = Annotated[tuple[str, ...], Max(MAX_MESSAGE)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Which part of a long answer is wanted."""

    offset: int = 0
    limit: int = 10
    is_full: bool = False
    """With details for the entries of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentAnswer:
    """The beginning of every answer."""

    LISTED: ClassVar[str]
    """The members that an agent acts on: the output schema tells of them, and leaves the rest open."""

    notice: Own = NOTICE
    card: Internal[Mapping[str, Any] | None] = None
    """Data for a card in the chat alone; None where the client shows no cards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPage(AgentAnswer):
    """The position of a page among all pages."""

    offset: int
    """Where this page starts."""

    total: int
    """Entries on all pages."""

    next_offset: int | None
    """Null on the last page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogPage(AnswerPage):
    """A page about a catalog that later calls can name."""

    server: Name
    catalog: str
    """Names this catalog in later calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintAnswer(CatalogPage):
    """Findings, the worst first."""

    LISTED: ClassVar = "catalog findings next_offset next"

    tool_count: int
    clean_tool_count: int
    counts: SeverityCounts
    """Findings of the chosen rules for all tools and severities."""

    rules: Mapping[str, int]
    """Findings by rule id, after filtering."""

    hidden_count: int
    """Low-confidence findings, which profile strict shows."""

    findings: Annotated[tuple[Finding, ...], Only("tool index rule severity dimension path message suggestion")]
    """By place: tool, rule, severity, path, message, suggestion."""

    problems: Problems
    limit: Internal[int]
    """Characters of each message."""

    next: Own
    """The next call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A page of ours: why, a bad and a good example."""

    LISTED: ClassVar = "page"

    id: str
    page: Own
    """Markdown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which findings are listed."""

    worst_from: Severity = Severity.INFO
    """The mildest severity."""

    tool: str | None = None

    def has(self, finding: Finding) -> bool:
        """Return whether the finding is listed."""
        return finding.severity.rank >= self.worst_from.rank and self.tool in (None, finding.subject.name)


def lint_answer(report: LintReport, wanted: Wanted, *, catalog: str, window: Window, next_step: str) -> LintAnswer:
    """Return one page of the findings that were asked for, the worst first; counts are of all."""
    worst = sorted(filter(wanted.has, report.findings), key=lambda finding: -finding.severity.rank)
    touched = {finding.tool_index for finding in report.findings}
    return LintAnswer(
        server=report.server,
        catalog=catalog,
        tool_count=len(report.tools),
        clean_tool_count=sum(index not in touched for index in report.tools),
        counts=tally(report.findings),
        rules=dict(sorted(Counter(finding.rule for finding in worst).items())),
        hidden_count=report.hidden,
        findings=tuple(worst[window.offset : window.offset + window.limit]),
        problems=first_problems(report.problems),
        limit=MAX_FENCED if window.is_full else MAX_MESSAGE,
        next=Own(next_step),
        **page_of(window, len(worst)),
    )


def page_of(window: Window, total: int) -> dict[str, Any]:
    """Return the fields of a page."""
    end = window.offset + window.limit
    return {"offset": window.offset, "total": total, "next_offset": end if end < total else None}


def first_problems(problems: Sequence[str]) -> tuple[str, ...]:
    """Return the first problems, and how many more there are."""
    more = len(problems) - MAX_PROBLEMS
    return (*problems[:MAX_PROBLEMS], *((f"and {more} more",) if more > 0 else ()))


Part: TypeAlias = Literal["tools", "coherence", "shadowing", "skill"]


PAGE_BUDGET = 24_000
"""Characters of the entries in one answer, so that an agent's context can hold it."""

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptsAnswer(CatalogPage):
    """Prompts to be judged by the agent that called."""

    LISTED: ClassVar = "catalog system prompts answer_schema next_offset next"

    part: Part
    rubric: str
    answered_count: int
    """Prompts of this part that have an answer already."""

    system: Own
    """The exact system prompt of every prompt here."""

    prompts: tuple[Encoded, ...]
    """By tool: name, inputHash, and the exact user message."""

    answer_schema: Encoded
    """JSON Schema of one answer."""

    next: Own
    """The next call."""


def prompts_answer(
    prompts: Mapping[str, Any],
    part: Part,
    *,
    server: str,
    catalog: str,
    rubric: str,
    is_answered: Callable[[Mapping[str, Any]], bool],
    schema: Mapping[str, Any],
    window: Window,
    next_step: str,
) -> PromptsAnswer:
    """Return a page of the prompts of `prompts --format json` that have no answer, cut where it grows too long."""
    entries = prompts["tools"] if part == "tools" else [prompts[part]]
    open_places = [place for place, entry in enumerate(entries) if not is_answered(entry)]
    ahead = [place for place in open_places if place >= window.offset]
    page = within_budget(ahead[: window.limit], lambda place: len(entries[place]["user"]))
    return PromptsAnswer(
        server=server,
        catalog=catalog,
        part=part,
        rubric=rubric,
        answered_count=len(entries) - len(open_places),
        system=Own(entries[page[0]]["system"] if page else ""),
        prompts=tuple(_prompt_line(entries[place]) for place in page),
        answer_schema=dict(schema),
        next=Own(next_step),
        offset=window.offset,
        total=len(entries),
        next_offset=ahead[len(page)] if len(page) < len(ahead) else None,
    )


def _prompt_line(entry: Mapping[str, str]) -> Encoded:
    """Return one exact prompt between two lines that carry its hash, and the invisible characters in it."""
    return {
        **({"name": fence_name(entry["name"])} if "name" in entry else {}),
        **{key: entry[key] for key in ("inputHash", "promptHash") if key in entry},
        "user": fence_exact(entry["user"]),
        "unseen": unseen(entry["user"]),
    }


def within_budget(
    entries: Iterable[Entry],
    size: Callable[[Entry], int] = lambda entry: len(json.dumps(entry, ensure_ascii=False)),
) -> tuple[Entry, ...]:
    """Return the first of the entries up to the budget, and at least one; by default they are JSON."""
    room = PAGE_BUDGET
    page: list[Entry] = []
    for entry in entries:
        room -= size(entry)
        if page and room < 0:
            break
        page.append(entry)
    return tuple(page)
