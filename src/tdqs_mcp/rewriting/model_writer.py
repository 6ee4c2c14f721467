"""Texts that a model writes: definitions, whose refused words go back to it, test requests, what parts tools."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import islice
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from tdqs_mcp.canonical import pretty_json, visible
from tdqs_mcp.errors import ContractError, fault_message
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.schema.arguments import redact
from tdqs_mcp.facts.schema.signals import estimate_tokens
from tdqs_mcp.facts.schema.walk import put_at, value_at
from tdqs_mcp.facts.spelling import words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.toolset.names import NameNeighbors, read_names
from tdqs_mcp.judges.asking import CheckedRequest, ask
from tdqs_mcp.judges.judge import Failure, Model, Request
from tdqs_mcp.model import Material, Tool
from tdqs_mcp.results.checks import PlannedCall, Query
from tdqs_mcp.results.improvements import Question as OpenQuestion
from tdqs_mcp.results.improvements import Rewrite
from tdqs_mcp.rewriting.definition_parts import CatalogContext, purpose, tokens_added
from tdqs_mcp.rewriting.draft_checks import CheckedDraft, DraftChecker
from tdqs_mcp.rewriting.rewrite_review import REFUSED
from tdqs_mcp.rubrics.answer import form_schema, parse_json
from tdqs_mcp.rubrics.prompt import Prompt, delimiter, fenced
from tdqs_mcp.rubrics.rubric import system_prompt, user_template

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class Stage(StrEnum):
    """The stages, in order; the folders of their prompts."""

    AUGMENT = "augment"
    TRACES = "traces"
    CONSOLIDATE = "consolidate"


class _DraftAnswer(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class Explained(_DraftAnswer):
    """A parameter's new description."""

    name: str
    description: str


class Augmented(_DraftAnswer):
    """Answer of the first stage."""

    description: str
    parameters: list[Explained] = []


class Notes(_DraftAnswer):
    """Notes on recorded calls."""

    examples: list[str] = []
    limitations: list[str] = []


class Consolidated(_DraftAnswer):
    """The five fields (the paper, "Final consolidation of all components")."""

    purpose: str
    guidelines: str = ""
    limitations: str = ""
    parameters: list[Explained] = []
    examples: str = ""


Answer = TypeVar("Answer", bound=BaseModel)


def render_stage(stage: str, *, foreign: Mapping[str, str], settings: Mapping[str, str]) -> Prompt:
    """A stage's prompt: `foreign` texts stand fenced, without hidden text; `settings` go into the system prompt."""
    texts = {name: visible(text) for name, text in foreign.items()}
    mark = delimiter("\n".join(texts.values()))
    fields = {name: fenced(text, mark=mark) if text else "none" for name, text in texts.items()}
    user = _PLACEHOLDER.sub(lambda match: fields[match[1]], user_template(stage))
    system = system_prompt(stage)
    for name, value in settings.items():
        system = system.replace(f"{{{name}}}", value)
    return Prompt(system=system, user=f"MARK: {mark}\n\n{user}")


def read_stage(kind: type[Answer], answer: str) -> Answer:
    """The answer of a stage. Raises ContractError, fit to be sent back."""
    try:
        return kind.model_validate(parse_json(answer))
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        where = ".".join(map(str, wrong["loc"])) or "the answer"
        raise ContractError(f"{where}: {fault_message(wrong)}") from error


MAX_DOCS = 12_000
"""Characters of documentation in a prompt."""

MAX_TRACES = 8
"""Recorded calls in a prompt."""

MAX_ANSWER = 600
"""Characters of one recorded answer in a prompt."""

MAX_SIBLING_TOKENS = 4_000
"""Tokens of what the other tools do."""

MAX_REASONS = 5
"""Refused claims that one correction names."""

_WISH = "Purpose and guidelines matter most; leave examples empty."
_FORMS: Mapping[Stage, type[_DraftAnswer]] = {
    Stage.AUGMENT: Augmented,
    Stage.TRACES: Notes,
    Stage.CONSOLIDATE: Consolidated,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingJob:
    """A tool to be written about."""

    subject: Subject
    draft: Mapping[str, Any]
    """The offline writer's definition, which the model starts from."""

    material: Material
    """What speaks of this tool."""

    siblings: str
    """The other tools in a line each, the nearest first."""

    questions: str
    """What only the author can answer, in a line each."""

    @property
    def facts(self) -> str:
        """Return what the author says in a line each, with its place in the material."""
        return "\n".join(f"{fact.source}: {fact.text}" for fact in self.material.facts)


def jobs(
    measured: Measured, drafts: Sequence[Rewrite], checker: DraftChecker, questions: Sequence[OpenQuestion]
) -> list[WritingJob]:
    """A job for each draft; a tool sees its siblings, with what they do in harmless words."""
    context = CatalogContext.of(measured)
    subjects = {subject.tool.index: subject for subject in measured.subjects}
    lines = {
        name: f"{name}: {purpose(subject, context.labels[name]) or context.labels[name].phrase}"
        for name, subject in context.subjects.items()
    }
    return [
        WritingJob(
            subject=subjects[draft.index],
            draft=draft.definition,
            material=checker.material(subjects[draft.index]),
            siblings=_siblings(draft.name, context.near(subjects[draft.index], len(lines)), lines),
            questions="\n".join(question.text for question in questions if draft.name in question.tools),
        )
        for draft in drafts
    ]


def _siblings(own: str, near: Sequence[str], lines: Mapping[str, str]) -> str:
    """Every other tool with its first sentence, the nearest first; by name alone where the budget is spent."""
    left, lines_shown, bare = MAX_SIBLING_TOKENS, list[str](), list[str]()
    for name in dict.fromkeys((*near, *lines)):
        cost = estimate_tokens(lines[name])
        if name != own and cost <= left:
            lines_shown.append(lines[name])
            left -= cost
        elif name != own:
            bare.append(name)
    return "\n".join([*lines_shown, *([f"and {', '.join(bare)}"[:MAX_DOCS]] if bare else [])])


async def write(
    work: Sequence[WritingJob], *, model: Model, checker: DraftChecker, growth: int
) -> list[CheckedDraft | Failure]:
    """A draft for each job, in order, without disproven words; a Failure where the model gave none.

    What is disproven goes back to the model with the reasons; what is disproven still is left out and reported.

    Each stage asks for all tools at once. Without recorded calls there is nothing to read from them, and that stage is
    left out.
    """
    ask_once_more = partial(ask, model, corrections=1)
    read, read_notes = partial(read_stage, Augmented), partial(read_stage, Notes)
    augmented = await ask_once_more([(_request(Stage.AUGMENT, _augment(job)), read) for job in work])
    traced = [place for place, job in enumerate(work) if job.material.traces]
    noted = await ask_once_more([(_request(Stage.TRACES, _traces(work[place])), read_notes) for place in traced])
    notes = dict(zip(traced, noted, strict=True))
    ready = {place: result for place, result in enumerate(augmented) if not isinstance(result, Failure)}
    settings = {"growth": str(growth), "wish": _WISH}

    last: dict[int, CheckedDraft] = {}

    def consolidate(place: int, text: str) -> CheckedRequest[CheckedDraft]:
        def read(answer: str) -> CheckedDraft:
            draft = last[place] = _draft(work[place], answer, checker=checker, growth=growth)
            return _without_refusals(draft)

        return _request(Stage.CONSOLIDATE, _consolidate(work[place], text, notes.get(place)), settings), read

    final = await ask_once_more([consolidate(place, result.model_dump_json()) for place, result in ready.items()])
    written: dict[int, CheckedDraft | Failure] = dict(zip(ready, final, strict=True))
    written |= {place: draft for place, draft in last.items() if draft.claims}
    return [result if isinstance(result, Failure) else written[place] for place, result in enumerate(augmented)]


class Refusal(ContractError):  # noqa: N818  # what happened to the words
    """An answer in form that may not stand as it is."""

    fault: ClassVar = REFUSED


def _draft(job: WritingJob, answer: str, *, checker: DraftChecker, growth: int) -> CheckedDraft:
    """The draft that an answer makes. Raises ContractError, and Refusal for one that is too long."""
    fields = read_stage(Consolidated, answer)
    parts = [fields.purpose, fields.guidelines, fields.limitations, fields.examples]
    definition = {**job.draft, "description": " ".join(part.strip() for part in parts if part.strip())}
    explained = {
        parameter.name: parameter.description for parameter in fields.parameters if parameter.description.strip()
    }
    definition = _explained(definition, explained) if explained else definition
    return _check(job.subject, definition, checker=checker, growth=growth)


def _check(subject: Subject, definition: Mapping[str, Any], *, checker: DraftChecker, growth: int) -> CheckedDraft:
    """The checked draft. Raises Refusal for one that is too long."""
    if (over := tokens_added(subject, definition) - growth) > 0:
        raise Refusal(f"the definition is {over} tokens too long: say less, the least useful first")
    return checker.check_draft(subject, definition, withholds_conflicts=True)


def _without_refusals(draft: CheckedDraft) -> CheckedDraft:
    """The draft itself. Raises Refusal with the reasons where words of it may not stand."""
    if draft.refused:
        raise Refusal("; ".join(f"{claim.text!r}: {claim.refusal}" for claim in draft.refused[:MAX_REASONS]))
    return draft


def _explained(definition: dict[str, Any], explained: Mapping[str, str]) -> dict[str, Any]:
    """The definition with descriptions for top-level parameters that have none; others are left out."""
    for name, text in explained.items():
        path = arguments.property_pointer(name)
        child = value_at(definition, path)
        if isinstance(child, Mapping) and not child.get("description"):
            definition = put_at(definition, f"{path}/description", text)
    return definition


def _request(stage: Stage, foreign: Mapping[str, str], settings: Mapping[str, str] | None = None) -> Request:
    prompt = render_stage(stage, foreign=foreign, settings=settings or {})
    return Request(prompt=prompt, name=stage, schema=form_schema(_FORMS[stage]))


def _augment(job: WritingJob) -> dict[str, str]:
    return {
        "tool": pretty_json(job.subject.tool.raw),
        "draft": str(job.draft.get("description") or ""),
        "siblings": job.siblings,
        "questions": job.questions,
        "facts": job.facts,
        "docs": job.material.docs[:MAX_DOCS],
    }


def _traces(job: WritingJob) -> dict[str, str]:
    calls = [
        f"call {trace.number}, {trace.outcome}: {pretty_json(dict(trace.arguments))}\n{trace.answer[:MAX_ANSWER]}"
        for trace in job.material.traces[:MAX_TRACES]
    ]
    return {"tool": job.subject.tool.name, "traces": redact("\n\n".join(calls))}


def _consolidate(job: WritingJob, augmented: str, notes: Notes | Failure | None) -> dict[str, str]:
    return {
        "tool": pretty_json(job.subject.tool.raw),
        "augmented": augmented,
        "notes": notes.model_dump_json() if isinstance(notes, Notes) else "",
        "siblings": job.siblings,
        "facts": job.facts,
    }


_Words = Annotated[str, Field(pattern=r"\S")]


def _parse_object(value: object) -> object:
    """The arguments, which a model writes as a text: its schema can leave no object open."""
    try:
        data = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise ValueError("must be the text of a JSON object")  # noqa: TRY004  # pydantic's way to refuse
    return data


MAX_NEIGHBORS = 12
"""Other tools that a prompt for requests shows: together, prompts grow with the tools, not their square."""

REQUESTS = "requests"
"""The folder of the prompts for requests that test which tools an agent chooses."""


class _PlannedStep(BaseModel):
    tool: str
    arguments: Annotated[dict[str, Any], BeforeValidator(_parse_object)]


class _TestRequest(BaseModel):
    kind: Literal["plain", "indirect", "sibling", "two", "none", "recorded"]
    query: _Words
    calls: list[_PlannedStep]
    also: list[str]


class _TestRequests(BaseModel):
    requests: list[_TestRequest]


async def write_requests(
    tools: Sequence[Tool], *, runs: Sequence[Sequence[str]] = (), model: Model
) -> list[list[Query] | Failure]:
    """Requests of several kinds for each tool, or one for each run of tools by name, with the plan that meets each.

    A request that names a tool or quotes three words of a description, and a plan of other tools, go back to the model.
    """
    by_name = {tool.name: tool for tool in tools}
    jobs = [(by_name[run[-1]], run) for run in runs] or [(tool, ()) for tool in tools]
    questions: list[CheckedRequest[list[Query]]] = []
    neighbors = NameNeighbors(read_names(by_name))
    for tool, run in jobs:
        siblings = [_outline(by_name[name]) for name in _neighbor_names(tool.name, run, by_name, neighbors)]
        material = {"tool": pretty_json(tool.raw), "siblings": "\n".join(siblings), "run": "\n".join(run)}
        read = partial(_read_requests, tool=tool, run=run, tools=by_name)
        prompt = render_stage(REQUESTS, foreign=material, settings={})
        questions.append((Request(prompt=prompt, name=REQUESTS, schema=form_schema(_TestRequests)), read))
    return await ask(model, questions)


def _neighbor_names(name: str, run: Sequence[str], names: Iterable[str], neighbors: NameNeighbors) -> list[str]:
    """The run's tools and as many others as a prompt shows, those with similar names first."""
    first = islice((other for other in names if other != name), MAX_NEIGHBORS)
    near = list(dict.fromkeys([*neighbors.nearest(name, MAX_NEIGHBORS), *first]))
    return list(dict.fromkeys([*run[:-1], *near[:MAX_NEIGHBORS]]))


def _outline(tool: Tool) -> str:
    """Name, parameters and description of another tool, enough to plan a call of it."""
    return f"{tool.name}({', '.join(arguments.properties(tool))}): {tool.description or ''}"[:MAX_ANSWER]


def _read_requests(answer: str, *, tool: Tool, run: Sequence[str], tools: Mapping[str, Tool]) -> list[Query]:
    """The requests in an answer. Raises ContractError, fit to be sent back."""
    requests = read_stage(_TestRequests, answer).requests
    kinds = {request.kind for request in requests}
    if (kinds != {"recorded"} or len(requests) > 1) if run else not {"plain", "none"} <= kinds:
        raise ContractError("requests must have the kinds that are asked for")
    texts = [other.description or "" for other in tools.values()]
    for place, request in enumerate(requests):
        names = [call.tool for call in request.calls]
        ends = [] if request.kind == "none" else [tool.name]
        if not {*names, *request.also} <= tools.keys() or names[-1:] != ends or (run and names != list(run)):
            raise ContractError(f"requests.{place}.calls must be calls of these tools, the last one of {ends}")
        if named := next((name for name in tools if name.lower() in request.query.lower().split()), None):
            raise ContractError(f"requests.{place}.query names the tool {named!r}")
        if quoted := _quotation(request.query, texts, 3):
            raise ContractError(f"requests.{place}.query quotes a description: {quoted!r}")
    return [
        Query(
            text=request.query,
            tool=request.calls[-1].tool if request.calls else "",
            calls=tuple(PlannedCall(tool=call.tool, arguments=call.arguments) for call in request.calls),
            also=tuple(request.also),
            kind=request.kind,
        )
        for request in requests
    ]


REFLECT = "reflect"
"""The folder of the prompts for descriptions that part confused tools."""

MAX_QUOTED = 4
"""Words in a row from which a description quotes a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusedTools:
    """Tools that an agent takes for each other, the right one first."""

    subjects: Sequence[Subject]
    tools: Sequence[Tool]
    """The same tools as they are worded now."""

    failing: Sequence[str]
    succeeding: Sequence[str]
    """Requests for one of them that go right."""


class _Reworded(BaseModel):
    tool: str
    description: _Words


async def reword_confused(
    confusions: Sequence[ConfusedTools], *, model: Model, checker: DraftChecker, growth: int
) -> list[tuple[str, Mapping[str, Any]] | Failure]:
    """A tool's name and new definition for each confusion, without disproven words and without words of a request."""
    questions: list[CheckedRequest[tuple[str, Mapping[str, Any]]]] = []
    for confused in confusions:
        read = partial(_read_reworded, confused=confused, checker=checker, growth=growth)
        foreign = {
            "tools": "\n".join(pretty_json(tool.raw) for tool in confused.tools),
            "failing": "\n".join(confused.failing),
            "succeeding": "\n".join(confused.succeeding),
        }
        prompt = render_stage(REFLECT, foreign=foreign, settings={"growth": str(growth)})
        questions.append((Request(prompt=prompt, name=REFLECT, schema=form_schema(_Reworded)), read))
    return await ask(model, questions)


def _read_reworded(
    answer: str, *, confused: ConfusedTools, checker: DraftChecker, growth: int
) -> tuple[str, Mapping[str, Any]]:
    """The tool and its definition in an answer. Raises ContractError, and Refusal for words that may not stand."""
    reworded = read_stage(_Reworded, answer)
    subject = next((own for own in confused.subjects if own.tool.name == reworded.tool), None)
    if subject is None:
        raise ContractError(f"tool: must be one of {[own.tool.name for own in confused.subjects]}")
    if quoted := _quotation(reworded.description, (*confused.failing, *confused.succeeding), MAX_QUOTED):
        raise Refusal(f"the description quotes a request: {quoted!r}")
    definition = {**subject.tool.raw, "description": reworded.description}
    draft = _without_refusals(_check(subject, definition, checker=checker, growth=growth))
    return subject.tool.name, draft.definition


def _quotation(text: str, sources: Sequence[str], length: int) -> str | None:
    """So many words in a row of a text that stand in one of the sources; None where there are none."""
    words, places = words_of(text), [f" {' '.join(words_of(source))} " for source in sources]
    runs = (" ".join(words[start : start + length]) for start in range(len(words) - length + 1))
    return next((run for run in runs if any(f" {run} " in place for place in places)), None)
