"""The writer that prompts a model: three stages for each tool; refused words go back to the model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from tdqs_mcp.canonical import pretty_json
from tdqs_mcp.errors import ContractError
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.support import redact
from tdqs_mcp.facts.text.wording import purpose
from tdqs_mcp.judges.judge import Failure, Model, Request
from tdqs_mcp.judges.prompted import Question, ask
from tdqs_mcp.model.material import Material
from tdqs_mcp.results.rewrites import Mode, Rewrite
from tdqs_mcp.rewriting import provenance
from tdqs_mcp.rewriting.definition_parts import CatalogContext
from tdqs_mcp.rewriting.provenance import KnownSources
from tdqs_mcp.rewriting.rewrite_review import REFUSED, ReviewBasis, grown
from tdqs_mcp.rubrics.writing import (
    Augmented,
    Consolidated,
    Notes,
    Stage,
    answer_schema,
    read_stage,
    render_stage,
)

MAX_DOCS = 12_000
"""Characters of documentation in a prompt."""

MAX_TRACES = 8
"""Recorded calls in a prompt."""

MAX_ANSWER = 600
"""Characters of one recorded answer in a prompt."""

MAX_REASONS = 5
"""Refused claims that one correction names."""

_WISHES = {
    Mode.COMPACT: "Purpose and guidelines matter most; leave examples empty.",
    Mode.FULL: "Fill every field that the material supports.",
}
_FORMS: Mapping[Stage, Callable[[str], object]] = {
    Stage.AUGMENT: partial(read_stage, Augmented),
    Stage.TRACES: partial(read_stage, Notes),
    Stage.CONSOLIDATE: partial(read_stage, Consolidated),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One tool to be written about."""

    subject: Subject
    draft: Mapping[str, Any]
    """The offline writer's definition, which the model starts from."""

    material: Material
    """What speaks of this tool."""

    siblings: str
    """The other tools in a line each."""


def jobs(measured: Measured, drafts: Sequence[Rewrite], sources: KnownSources) -> list[Job]:
    """A job for each draft; a tool sees the siblings that lie near it, with what they do in harmless words."""
    context = CatalogContext.of(measured)
    subjects = {subject.tool.index: subject for subject in measured.subjects}
    return [_job(subjects[draft.index], draft, sources=sources, context=context) for draft in drafts]


def _job(subject: Subject, draft: Rewrite, *, sources: KnownSources, context: CatalogContext) -> Job:
    return Job(
        subject=subject,
        draft=draft.definition,
        material=sources.material(subject),
        siblings="\n".join(_line(context, name) for name in context.near(subject)),
    )


async def write(
    work: Sequence[Job], *, model: Model, basis: ReviewBasis, mode: Mode
) -> list[Mapping[str, Any] | Failure]:
    """A definition for each job, in order, without refused words; a Failure where the model gave none.

    Each stage asks for all tools at once. Without recorded calls there is nothing to read from them, and that stage is
    left out.
    """
    augmented = await ask(
        model, [(_request(Stage.AUGMENT, _augment(job)), partial(read_stage, Augmented)) for job in work]
    )
    traced = [place for place, job in enumerate(work) if job.material.traces]
    noted = await ask(
        model, [(_request(Stage.TRACES, _traces(work[place])), partial(read_stage, Notes)) for place in traced]
    )
    notes = dict(zip(traced, noted, strict=True))
    ready = {place: each for place, each in enumerate(augmented) if not isinstance(each, Failure)}
    ours = {"growth": str(basis.growth), "wish": _WISHES[mode]}

    def consolidate(place: int, text: str) -> Question[Mapping[str, Any]]:
        request = _request(Stage.CONSOLIDATE, _consolidate(work[place], text, notes.get(place)), ours)
        return request, partial(_definition, work[place], basis=basis, mode=mode)

    final = await ask(model, [consolidate(place, each.model_dump_json()) for place, each in ready.items()])
    written = dict(zip(ready, final, strict=True))
    return [each if isinstance(each, Failure) else written[place] for place, each in enumerate(augmented)]


class Refusal(ContractError):  # noqa: N818  # what happened to the words
    """An answer in form whose claims may not stand."""

    fault: ClassVar = REFUSED


def _definition(job: Job, answer: str, *, basis: ReviewBasis, mode: Mode) -> Mapping[str, Any]:
    """The definition that an answer makes. Raises Refusal, which names the claims, and ContractError."""
    fields = read_stage(Consolidated, answer)
    made = _composed(job, fields, mode)
    found = provenance.refused(provenance.claims(job.subject, made, basis.sources))
    if found:
        raise Refusal("; ".join(f"{claim.text!r}: {claim.refusal}" for claim in found[:MAX_REASONS]))
    over = grown(job.subject, made) - basis.growth
    if over > 0:
        raise Refusal(f"the definition is {over} tokens too long: say less, the least useful first")
    return made


def _composed(job: Job, fields: Consolidated, mode: Mode) -> Mapping[str, Any]:
    """The draft with the fields in the description's place and with parameters that nobody has described."""
    said = [fields.purpose, fields.guidelines, fields.limitations, fields.examples if mode is Mode.FULL else ""]
    text = " ".join(each.strip() for each in said if each.strip())
    made = {**job.draft, "description": text}
    explained = {each.name: each.description for each in fields.parameters if each.description.strip()}
    return _explained(made, explained) if explained else made


def _explained(definition: Mapping[str, Any], explained: Mapping[str, str]) -> Mapping[str, Any]:
    """The definition with descriptions for top-level parameters that have none; others are left out."""
    schema = definition.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(schema, Mapping) or not isinstance(properties, Mapping):
        return definition
    told = {
        name: {**child, "description": explained[name]}
        if name in explained and isinstance(child, Mapping) and not child.get("description")
        else child
        for name, child in properties.items()
    }
    return {**definition, "inputSchema": {**schema, "properties": told}}


def _request(stage: Stage, theirs: Mapping[str, str], ours: Mapping[str, str] | None = None) -> Request:
    prompt = render_stage(stage, theirs=theirs, ours=ours or {})
    return Request(prompt=prompt, name=stage, schema=answer_schema(stage), check=_FORMS[stage])


def _augment(job: Job) -> dict[str, str]:
    return {
        "tool": pretty_json(job.subject.tool.raw),
        "draft": str(job.draft.get("description") or ""),
        "siblings": job.siblings,
        "facts": _facts(job.material),
        "docs": job.material.docs[:MAX_DOCS],
    }


def _traces(job: Job) -> dict[str, str]:
    calls = [
        f"call {trace.number}, {trace.outcome}: {pretty_json(dict(trace.arguments))}\n{trace.answer[:MAX_ANSWER]}"
        for trace in job.material.traces[:MAX_TRACES]
    ]
    return {"tool": job.subject.tool.name, "traces": redact("\n\n".join(calls))}


def _consolidate(job: Job, augmented: str, notes: Notes | Failure | None) -> dict[str, str]:
    return {
        "tool": pretty_json(job.subject.tool.raw),
        "augmented": augmented,
        "notes": notes.model_dump_json() if isinstance(notes, Notes) else "",
        "siblings": job.siblings,
        "facts": _facts(job.material),
    }


def _facts(material: Material) -> str:
    return "\n".join(f"{fact.number}. {fact.text}" for fact in material.facts)


def _line(context: CatalogContext, name: str) -> str:
    """A sibling with what it does, in the words that may stand in another definition."""
    label = context.labels[name]
    return f"{name}: {purpose(context.subjects[name], label) or label.phrase}"
