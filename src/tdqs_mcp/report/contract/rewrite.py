"""The document of rewrites."""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from typing import Any

from pydantic import Field

from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.report.contract.document import Document, Point, Tenths
from tdqs_mcp.report.contract.parts import Judge, Server, clean, generated_by, judge_of, server_of, text_of
from tdqs_mcp.report.escape import well_formed
from tdqs_mcp.results import rewrites
from tdqs_mcp.results.rewrites import Component, Rewrite
from tdqs_mcp.results.scores import ToolScore
from tdqs_mcp.results.tiers import Tier


class Numbers(Document):
    """A definition's score before or after a rewrite; compare only numbers with equal stamps."""

    tdqs: Tenths
    tier: Tier
    scores: dict[str, Point]
    judge: Judge


class Change(Document):
    """One rewritten field."""

    path: str = Field(description="JSON pointer inside the definition")
    before: Any
    after: Any
    sources: list[str] = Field(description="What the new words rest on")


class Claim(Document):
    """One new statement; every one has a source, for a rewrite with another one is not proposed."""

    path: str = Field(description="JSON pointer inside the definition")
    text: str
    sources: list[str] = Field(
        description="description, a schema path, an annotation, tool NAME, fact N, trace N, docs"
    )


class Unused(Document):
    """Something of the author's material that the rewrite does not rest on."""

    source: str = Field(description="fact N, trace N or docs")
    reason: str


class Likeness(Document):
    """The sibling that an agent is most likely to take for the tool."""

    sibling: str | None
    percent: int = Field(ge=0, le=100, description="Words that both say of themselves, of all that either says")


class ToolRewrite(Document):
    """A proposed definition with its proof; name, types and requirements are what they were."""

    index: int = Field(description="Position in the catalog, from 0")
    name: str
    definition: dict[str, Any]
    changes: list[Change] = Field(description="Empty where nothing was found to change")
    questions: list[str] = Field(description="What only the author can know")
    before: Numbers | None
    after: Numbers | None
    tokens_before: int = Field(description="An estimate")
    tokens_after: int
    findings_removed: list[str] = Field(description="Rule ids")
    findings_added: list[str] = Field(description="Rule ids, each milder than one that was removed")
    diff: str = Field(description="Unified diff of the definition's JSON; empty where nothing changes")
    claims: list[Claim] = Field(description="Every new statement")
    unused: list[Unused] = Field(description="What of the material about this tool was not used")
    components: dict[Component, str] = Field(description="The new definition's sentences by what they are about")
    likeness_before: Likeness | None
    likeness_after: Likeness | None
    growth: int = Field(description="Tokens that the definition was allowed to grow by")
    writer: str = Field(description="offline, or the model whose words these are")
    setback: str | None = Field(description="Why the words of the writer that was asked do not stand")
    ungraded: str | None = Field(description="Why the judge gave the definition, or a proposal for it, no score")


class RewriteDocument(Document):
    """Every tool that can be measured, changed or not."""

    server: Server
    rewrites: list[ToolRewrite]
    spec_version: str
    generated_by: str


def rewrite_document(catalog: Catalog, rewrites: Sequence[Rewrite], *, spec: str) -> dict[str, Any]:
    """Rewritten definitions as JSON values, checked against the published schema."""
    document = RewriteDocument(
        server=server_of(catalog),
        rewrites=[_rewrite(rewrite, catalog.tools[rewrite.index].raw) for rewrite in rewrites],
        spec_version=spec,
        generated_by=generated_by(),
    )
    return document.model_dump(mode="json", by_alias=True)


def _rewrite(rewrite: Rewrite, old: Mapping[str, Any]) -> ToolRewrite:
    return ToolRewrite(
        index=rewrite.index,
        name=well_formed(rewrite.name),
        definition=clean(rewrite.definition),
        changes=[
            Change(
                path=change.path,
                before=clean(change.before),
                after=clean(change.after),
                sources=[well_formed(source) for source in change.sources],
            )
            for change in rewrite.changes
        ],
        questions=[well_formed(question) for question in rewrite.questions],
        before=_numbers(rewrite.before),
        after=_numbers(rewrite.after),
        tokens_before=rewrite.tokens_before,
        tokens_after=rewrite.tokens_after,
        findings_removed=list(rewrite.findings_removed),
        findings_added=list(rewrite.findings_added),
        diff="\n".join(_diff(clean(old), clean(rewrite.definition))),
        claims=[
            Claim(
                path=well_formed(claim.path),
                text=well_formed(claim.text),
                sources=[well_formed(source) for source in claim.sources],
            )
            for claim in rewrite.claims
        ],
        unused=[Unused(source=each.source, reason=well_formed(each.reason)) for each in rewrite.unused],
        components={component: well_formed(text) for component, text in rewrite.components.items()},
        likeness_before=_likeness(rewrite.likeness_before),
        likeness_after=_likeness(rewrite.likeness_after),
        growth=rewrite.growth,
        writer=well_formed(rewrite.writer),
        setback=text_of(rewrite.setback),
        ungraded=text_of(rewrite.unjudged),
    )


def _likeness(likeness: rewrites.Likeness | None) -> Likeness | None:
    return None if likeness is None else Likeness(sibling=text_of(likeness.sibling), percent=likeness.percent)


def _diff(old: object, new: object) -> Iterator[str]:
    """A unified diff of two JSON values, pretty-printed, without the lines that would name files."""
    before, after = (json.dumps(value, indent=2, ensure_ascii=False).split("\n") for value in (old, new))
    lines = unified_diff(before, after, lineterm="")
    return (line for line in lines if line not in ("--- ", "+++ "))


def _numbers(score: ToolScore | None) -> Numbers | None:
    if score is None:
        return None
    scores = score.scores
    return Numbers(tdqs=score.tdqs / 10, tier=score.tier, scores=scores, judge=judge_of(score.judge))
