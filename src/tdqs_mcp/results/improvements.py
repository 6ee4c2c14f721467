"""Rewrites with their sources, questions that only authors can answer, and how far both bring a server."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from enum import StrEnum
from heapq import heapify, heappop, heapreplace
from typing import Annotated, Any, Literal

from tdqs_mcp.results.checks import Proof
from tdqs_mcp.results.contract import (
    Document,
    Hundredths,
    Internal,
    Key,
    Max,
    Name,
    Only,
    Pointer,
    Tenths,
    Trait,
    published,
)
from tdqs_mcp.results.findings import OfServer
from tdqs_mcp.results.scores import STANDING, Rollup, ToolScore

DRAFT = "draft"
"""The writer of a text that was handed in."""

OFFLINE = "offline"
"""The writer that composes from facts and asks no model."""


GROWTH = 60
"""Tokens that a definition may grow by, by default."""


class Component(StrEnum):
    """Subject of a definition's sentence (the paper's five fields)."""

    PURPOSE = "purpose"
    GUIDELINES = "guidelines"
    LIMITATIONS = "limitations"
    PARAMETERS = "parameter explanation"
    EXAMPLES = "examples"
    LENGTH = "length"
    """What is said without need."""


class Route(StrEnum):
    """How a statement follows from its evidence."""

    ALTERNATIVE = "alternative"
    """A sibling's own words say what it is for instead."""

    LOOKUP = "lookup"
    """A sibling returns what a parameter takes."""

    NAMESAKE = "namesake"
    """A sibling describes the parameter of this name and type."""

    CUT = "cut"
    """Words that stand twice."""

    FIX = "fix"
    """A certain fix of a finding, the one that `lint --fix` makes."""

    FACT = "fact"
    ANSWER = "answer"
    FAILURE = "failure"
    """A recorded call that failed or returned nothing."""

    EXAMPLE = "example"
    """A recorded call that succeeded."""

    CODE = "code"
    """A line of the tool's code."""


AUTHOR = frozenset((Route.FACT, Route.ANSWER, Route.FAILURE, Route.EXAMPLE))
"""Statements that rest on the author's material."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A field of a definition, rewritten, and what the new words rest on."""

    path: Pointer
    """JSON pointer inside the definition."""

    before: Annotated[Any, Trait.AS_JSON]
    after: Annotated[Any, Trait.AS_JSON]
    sources: tuple[str, ...]
    """What the new words rest on: the old text, the schema, an annotation, a sibling's definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A new statement; without a source it is unproven and rests on its writer's word."""

    path: Pointer
    """JSON pointer inside the definition."""

    text: str
    sources: tuple[str, ...] = ()
    """What it rests on: description, a schema path, an annotation, tool NAME, fact N, trace N, docs."""

    route: Route | None = None
    """How it follows from its sources; null for another writer's words."""

    refusal: str | None = None
    """Why it is refused; null for one that may stand."""

    conflict: str | None = None
    """Proof against a statement that stands because its author wrote it; null where there is none."""

    @published(after="sources", key="proven")
    def is_proven(self) -> bool:
        """True if a source says it: the definition, its schema, a fact, a call, or the documentation."""
        return bool(self.sources)


class QuestionTopic(StrEnum):
    """Topic of a question; those that matter more first."""

    PURPOSE = "purpose"
    USAGE = "usage"
    BEHAVIOR = "behavior"
    PARAMETER = "parameter"
    RETURNS = "returns"
    LIMIT = "limit"
    READ_ONLY = "readOnlyHint"
    DESTRUCTIVE = "destructiveHint"
    IDEMPOTENT = "idempotentHint"
    OPEN_WORLD = "openWorldHint"
    CONFLICT = "conflict"
    """Two statements of which only one can hold."""

    @property
    def dimension(self) -> str:
        """The dimension that an answer raises."""
        return _DIMENSIONS.get(self, "behavioral_transparency")


_DIMENSIONS = {
    QuestionTopic.PURPOSE: "purpose_clarity",
    QuestionTopic.USAGE: "usage_guidelines",
    QuestionTopic.PARAMETER: "parameter_semantics",
    QuestionTopic.RETURNS: "contextual_completeness",
}

HINT_ASPECTS = (QuestionTopic.READ_ONLY, QuestionTopic.DESTRUCTIVE, QuestionTopic.IDEMPOTENT, QuestionTopic.OPEN_WORLD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that only the author can answer, about one tool or about several that share it."""

    id: Annotated[str, Max(200)]
    """TOOL.aspect, TOOL.parameters.NAME or TOOL.annotations.HINT, with `*` for several tools: a key of `answers`.

    It stays what it is whatever the wording of the question.
    """

    text: Annotated[str, Trait.ADVICE]
    about: QuestionTopic
    tools: tuple[Name, ...]
    """Those that the answer is about."""

    parameter: Name | None
    """The parameter that a question about one names."""

    gain: Hundredths
    """TDQS that an answer can bring at most, over its tools: the weight of what the judge misses."""

    is_for_target: Internal[bool] = False
    """Nothing but a target needs the answer: when to use a tool that no other one can be taken for."""

    @property
    def is_naming_all(self) -> bool:
        """Return whether id or text name every tool that the answer is about."""
        return len(self.tools) == 1 or all(f"`{tool}`" in self.text for tool in self.tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unused:
    """Something of the author's material that a rewrite does not rest on."""

    source: str
    """fact N, trace N or docs."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """Expected gain of a rewrite, in TDQS: the judge's figure less its mean error where it sees a gain."""

    expected: Hundredths
    low: Hundredths
    """With `high` the middle 80% of what the judge's error leaves open."""

    high: Hundredths


_NUMBERS = Only("tdqs tier scores judge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A proposed definition and how it was checked; name, types and requirements are what they were."""

    index: int
    """Position in the catalog, from 0."""

    name: Name
    original: Internal[Mapping[str, Any]] = field(default_factory=dict)
    """The raw definition as it is."""

    definition: Annotated[Mapping[str, Any], Trait.AS_JSON]
    """The raw definition with the changes made; the old one where nothing was found to change."""

    changes: tuple[Change, ...]
    """Empty where nothing was found to change."""

    questions: tuple[Question, ...]
    """What only the author can know, the greatest gain first."""

    before: Annotated[ToolScore | None, _NUMBERS]
    """Null where there was no score to compare with."""

    after: Annotated[ToolScore | None, _NUMBERS]
    gain: Gain | None = None
    """What is claimed: an estimate; null where nothing changes, and for a judge whose error in changes is not known."""

    tokens_before: int
    """An estimate."""

    tokens_after: int
    findings_removed: tuple[str, ...] = ()
    """Rule ids."""

    findings_added: tuple[str, ...] = ()
    """Rule ids, each milder than one that was removed."""

    claims: tuple[Claim, ...] = ()
    """Every new statement."""

    refused: tuple[Claim, ...] = ()
    """Disproven statements of a model and changes of the contract; the definition does not have them."""

    dropped: tuple[str, ...] = ()
    """Sentences of the old text with a warning, a negation or a number that the words of an author do not say."""

    unused: tuple[Unused, ...] = ()
    """What of the author's material about this tool it does not rest on."""

    components: Mapping[Component, str] = field(default_factory=dict)
    """The sentences of the new definition by what they are about."""

    writer: Annotated[str, Max(100)] = OFFLINE
    """Whose words these are: offline, the model's name, or draft for a text that was handed in."""

    setback: str | None = None
    """Why the requested writer's text was not used."""

    unjudged: Annotated[str | None, Key("ungraded")] = None
    """Why the judge gave the definition, or a proposal for it, no score."""

    for_instructions: Internal[str] = ""
    """A sentence about more tools of the server than may have it each."""

    was_written: Internal[bool] = True
    """False where the writer that was asked gave no answer in form."""

    @property
    def conflicts(self) -> tuple[Claim, ...]:
        """Statements that stand because their author wrote them, and what disproves them."""
        return tuple(claim for claim in self.claims if claim.conflict)

    @property
    def unproven(self) -> tuple[str, ...]:
        """Statements that nothing but the writer's word bears out."""
        return tuple(claim.text for claim in self.claims if not claim.sources and not claim.conflict)

    @property
    def is_told(self) -> bool:
        """Return whether anything in it rests on the author's material."""
        return any(claim.route in AUTHOR for claim in self.claims)

    @property
    def tdqs_change(self) -> int:
        """New less old TDQS, in tenths; 0 without one of them."""
        return self.after.tdqs - self.before.tdqs if self.before and self.after else 0

    @property
    def tokens_added(self) -> int:
        """An estimate; below 0 where the rewrite saves."""
        return self.tokens_after - self.tokens_before

    @property
    def sources(self) -> frozenset[str]:
        """All that its changes and claims rest on."""
        parts = [*(change.sources for change in self.changes), *(claim.sources for claim in self.claims)]
        return frozenset(source for sources in parts for source in sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """How far rewrites and answers bring a server."""

    target: Tenths
    """An overall score."""

    before: Annotated[Rollup, Only(STANDING)]
    after: Annotated[Rollup, Only(STANDING)]
    """Judged again with the rewrites."""

    with_answers: Tenths | None
    """Overall score with the report's questions answered too: an estimate of the most; null without a score."""

    questions: Internal[tuple[Question, ...]]
    """Those that are enough for the target, in the order in which they are asked; all where none are."""

    spare: Internal[int] = 0
    """Rewrites that the target can do without."""

    @published(after="with_answers")
    def answers_needed(self) -> int:
        """Questions to answer for that score."""
        return len(self.questions)

    @published(after="target", key="reached")
    def is_reached(self) -> bool:
        """True if the rewrites alone reach the target."""
        return (self.after.overall or 0) >= self.target

    @published(after="answers_needed", key="reachable")
    def is_reachable(self) -> bool:
        """True if the answers can reach the target."""
        return (self.with_answers or 0) >= self.target


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteReport(OfServer, Document):
    """Every tool that can be measured, changed or not."""

    rewrites: tuple[Rewrite, ...]
    goal: Goal | None = None
    """Null where no target is given."""

    proof: Proof | None = None
    """Null where no requests had to prove the rewrites."""

    spec_version: str

    @published(after="rewrites")
    def for_instructions(self) -> str:
        """Sentence to say once, in the server's instructions: where values that many tools take come from."""
        return next((rewrite.for_instructions for rewrite in self.rewrites), "")

    @published(after="for_instructions")
    def questions(self) -> tuple[Question, ...]:
        """Questions that only the author can answer, each once, those of the lowest tool first.

        With a target, those that are enough for it.
        """
        return self.goal.questions if self.goal else questions_of(self.rewrites)


def unused_by_all(rewrites: Sequence[Rewrite]) -> tuple[Unused, ...]:
    """Return what of the author's material none of the rewrites rests on."""
    used = {source for rewrite in rewrites for source in rewrite.sources}
    entries = (entry for rewrite in rewrites for entry in rewrite.unused)
    return tuple({entry.source: entry for entry in entries if entry.source not in used}.values())


MIN_GAIN = 10
"""Hundredths of TDQS: an answer that brings less than a tenth moves no score."""


def is_worth_asking(question: Question) -> bool:
    """Return whether the answer can move a score, or decides between two statements.

    A hint alone moves no tool by a tenth, however many tools share it. When to use a tool that no other one can be
    taken for moves the score and helps no agent choose, so it is asked only to reach a target.
    """
    is_moving = question.gain >= MIN_GAIN and question.about not in HINT_ASPECTS and not question.is_for_target
    return is_moving or question.about is QuestionTopic.CONFLICT


def most_useful(questions: Sequence[Question]) -> Sequence[Question]:
    """Return the questions that are worth asking; where none is, all."""
    return [question for question in questions if is_worth_asking(question)] or questions


QUESTIONS_AT_ONCE = 8
"""Questions that are asked together; more are put off until these are answered."""


def questions_of(
    rewrites: Iterable[Rewrite],
    *,
    heights: dict[int, int] | None = None,
    is_enough: Callable[[], bool] | None = None,
) -> tuple[Question, ...]:
    """Return what only the author can know, each question once: conflicts first, then those of the lowest tool.

    The lowest tool counts for 40% of a server's score (TDQS 1.2), so an answer is worth most there. `heights` has the
    tools' TDQS in hundredths by index; each question that is asked raises those of its tools by what an answer can
    bring at most, until it `is_enough`.
    """
    rewrites = tuple(rewrites)
    scores = ((rewrite.index, rewrite.after or rewrite.before) for rewrite in rewrites)
    heights = {index: 10 * score.tdqs for index, score in scores if score} if heights is None else heights
    indices: dict[str, list[int]] = {}
    for rewrite in rewrites:
        indices.setdefault(rewrite.name, []).append(rewrite.index)
    questions = list({question.id: question for rewrite in rewrites for question in rewrite.questions}.values())
    if is_enough is None:
        is_enough = lambda: False  # noqa: E731  # no target, so every question is asked
    else:
        questions = [replace(question, is_for_target=False) for question in questions]

    def rank(place: int) -> tuple[int, int, int]:
        question = questions[place]
        own = [heights[index] for tool in question.tools for index in indices.get(tool, ()) if index in heights]
        return min(own, default=0), -question.gain, place

    conflicts = [question for question in questions if question.about is QuestionTopic.CONFLICT]
    waiting = [
        rank(place)
        for place, question in enumerate(questions)
        if is_worth_asking(question) and question not in conflicts
    ]
    heapify(waiting)
    asked: list[Question] = []
    while waiting and not is_enough():
        current = rank(place := waiting[0][-1])
        if current != waiting[0]:
            heapreplace(waiting, current)  # another answer has raised its tools
            continue
        heappop(waiting)
        question = questions[place]
        asked.append(question)
        for index in (index for tool in question.tools for index in indices.get(tool, ()) if index in heights):
            heights[index] = min(MAX_TDQS, heights[index] + question.gain // len(question.tools))
    idle = (question for question in questions if not is_worth_asking(question) and not question.is_for_target)
    return (*conflicts, *asked, *(() if is_enough() else idle))


MAX_TDQS = 500
"""Hundredths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A change that the author has to make."""

    tool: str
    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A unified diff for `patch -p1` and `git apply`, and what is not in it."""

    diff: bytes
    """In each file's own encoding; empty where nothing changes."""

    count: int
    """Changes of definitions in the diff."""

    left_out: tuple[LeftOut, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The source files with the changes made, by their names in the diff."""

    problems: tuple[str, ...] = ()
    """Files that could not be searched, one sentence each."""


class _LineMatcher(SequenceMatcher[str]):
    """Compares lines; one that occurs often in a file, such as `)`, counts within what has changed."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        super().__init__(None, before, after)
        self.before, self.after = before, after

    def get_opcodes(self) -> list[tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]]:
        """Return the steps from one text to the other."""
        steps = []
        for step, first, last, start, end in super().get_opcodes():
            inner = SequenceMatcher(None, self.before[first:last], self.after[start:end], autojunk=False).get_opcodes()
            refined = inner if step == "replace" else [(step, 0, last - first, 0, end - start)]
            steps += [(word, first + i, first + j, start + k, start + m) for word, i, j, k, m in refined]
        return steps


def unified(old: str, new: str, *, name: str) -> str:
    """Return the diff of two texts, below `a/` and `b/`; lines end at line feeds alone, as they do for `patch`."""
    before, after = _lines(old), _lines(new)
    lines = [f"--- {_spelled(f'a/{name}')}\n", f"+++ {_spelled(f'b/{name}')}\n"] if old != new else []
    for group in _LineMatcher(before, after).get_grouped_opcodes():
        old_range, new_range = _range(group[0][1], group[-1][2]), _range(group[0][3], group[-1][4])
        lines.append(f"@@ -{old_range} +{new_range} @@\n")
        for step, first, last, start, end in group:
            lines += [f" {line}" for line in before[first:last]] if step == "equal" else []
            lines += [f"-{line}" for line in before[first:last]] if step in ("replace", "delete") else []
            lines += [f"+{line}" for line in after[start:end]] if step in ("replace", "insert") else []
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _range(start: int, end: int) -> str:
    """Return first line and count as a hunk's header has them; an empty range names the line before it."""
    return str(start + 1) if end - start == 1 else f"{start + (end > start)},{end - start}"


def _lines(text: str) -> list[str]:
    """The lines, each with the line feed that ends it."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _spelled(name: str) -> str:
    """A file's name in a header: quoted as in C where it holds what would end it, and ended by a tab after a space."""
    if any(not character.isprintable() or character in '"\\' for character in name):
        return json.dumps(name, ensure_ascii=False)
    return f"{name}\t" if " " in name else name
