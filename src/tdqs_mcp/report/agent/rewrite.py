"""What an agent gets of a rewrite: the new definition and its proof."""

from pydantic import Field

from tdqs_mcp.report.contract.document import Document
from tdqs_mcp.report.fence import NOTICE, fence, fence_json, fence_name
from tdqs_mcp.results import rewrites
from tdqs_mcp.results.rewrites import OFFLINE, Component, Rewrite
from tdqs_mcp.results.scores import ToolScore
from tdqs_mcp.results.tiers import Tier


class Numbers(Document):
    """A definition's score before or after a rewrite."""

    tdqs: float
    tier: Tier


class ChangeLine(Document):
    """One rewritten field."""

    path: str = Field(description="JSON pointer inside the definition")
    before: str = Field(description="JSON between the marks")
    after: str = Field(description="JSON between the marks")
    sources: list[str] = Field(description="What the new words rest on")


class ClaimLine(Document):
    """One new statement."""

    text: str
    sources: list[str] = Field(description="Where it comes from")


class UnusedLine(Document):
    """Something of the material that the definition does not rest on."""

    source: str = Field(description="fact N, trace N or docs")
    reason: str


class Likeness(Document):
    """How much of what tool and nearest sibling say of themselves both say, in percent."""

    sibling: str | None
    before: int
    after: int


class RewriteAnswer(Document):
    """A better definition with its proof."""

    notice: str
    name: str
    definition: str = Field(description="The proposed definition: parse the JSON between the marks; name, schema kept")
    changes: list[ChangeLine]
    claims: list[ClaimLine] = Field(description="Every new statement; none is without a source")
    components: list[Component] = Field(description="What the new definition tells of")
    questions: list[str] = Field(description="What only the author can know")
    unused: list[UnusedLine] = Field(description="Material that was not used")
    before: Numbers | None
    after: Numbers | None
    tokens_before: int
    tokens_after: int
    findings_removed: list[str] = Field(description="Rule ids")
    findings_added: list[str]
    likeness: Likeness | None = Field(description="Null for a tool without siblings")
    writer: str = Field(description="offline, or the model whose words these are")
    setback: str | None = Field(description="Why the writer's words do not stand")
    ungraded: str | None = Field(description="Why the judge gave no score; null where it did")
    next: str = Field(description="What to do next")


def rewrite_answer(rewrite: Rewrite, *, next_step: str) -> RewriteAnswer:
    """A proposed definition; its JSON stands between the marks."""
    return RewriteAnswer(
        notice=NOTICE,
        name=fence_name(rewrite.name),
        definition=fence_json(rewrite.definition),
        changes=[
            ChangeLine(
                path=fence(change.path),
                before=fence_json(change.before),
                after=fence_json(change.after),
                sources=[fence(source) for source in change.sources],
            )
            for change in rewrite.changes
        ],
        claims=[
            ClaimLine(text=fence(claim.text), sources=[fence(source) for source in claim.sources])
            for claim in rewrite.claims
        ],
        components=list(rewrite.components),
        questions=[fence(question) for question in rewrite.questions],
        unused=[UnusedLine(source=each.source, reason=fence(each.reason)) for each in rewrite.unused],
        before=_numbers(rewrite.before),
        after=_numbers(rewrite.after),
        tokens_before=rewrite.tokens_before,
        tokens_after=rewrite.tokens_after,
        findings_removed=list(rewrite.findings_removed),
        findings_added=list(rewrite.findings_added),
        likeness=_likeness(rewrite.likeness_before, rewrite.likeness_after),
        writer=rewrite.writer if rewrite.writer == OFFLINE else fence(rewrite.writer, limit=100),
        setback=None if rewrite.setback is None else fence(rewrite.setback),
        ungraded=None if rewrite.unjudged is None else fence(rewrite.unjudged),
        next=next_step,
    )


def _numbers(tool: ToolScore | None) -> Numbers | None:
    return None if tool is None else Numbers(tdqs=tool.tdqs / 10, tier=tool.tier)


def _likeness(before: rewrites.Likeness | None, after: rewrites.Likeness | None) -> Likeness | None:
    if before is None or after is None or after.sibling is None:
        return None
    return Likeness(sibling=fence_name(after.sibling), before=before.percent, after=after.percent)
