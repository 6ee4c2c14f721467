"""What several documents are made of."""

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from pydantic import Field

from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.report.contract.document import Document, Point
from tdqs_mcp.report.escape import well_formed
from tdqs_mcp.results import findings, verdicts
from tdqs_mcp.results.findings import Confidence, LintReport, Persona, Severity
from tdqs_mcp.results.grades import ServerGrade
from tdqs_mcp.results.labels import LabelScore
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.tiers import Tier, tier_of
from tdqs_mcp.results.verdicts import JudgeStamp, Ungraded
from tdqs_mcp.scoring.agreement import dispute, reliabilities


class Judgement(Document):
    """One dimension's score and why."""

    score: Point
    justification: str
    evidence: list[str] = Field(description="Text of the definition that the justification rests on")
    unverified: list[str] = Field(description="What the judge quotes although the definition does not hold it")


class Judge(Document):
    """Who judged; compare only numbers with equal stamps."""

    id: str
    version: str
    model: str | None
    calibration: str | None
    prompt: str | None = Field(description="What a model got: hardened or exact (as published); null without a prompt")


class Ballot(Document):
    """One juror's scores of one tool."""

    juror: str = Field(description="What the juror is called: by its profile, else by its model")
    judge: Judge
    scores: dict[str, Point] = Field(description="Empty where this juror gave no verdict")
    reason: str | None = Field(description="Why there is no verdict")


class Jury(Document):
    """How the jurors voted on one tool; `scores` beside it are their medians, halves upward."""

    ballots: list[Ballot]
    means: dict[str, float] = Field(description="Per dimension, with two decimals")
    spread: dict[str, int] = Field(description="Highest less lowest score, where they differ")
    smells_by_mean: list[str] = Field(description="Dimensions whose mean is below 3")
    smells_by_median: list[str] = Field(description="Dimensions whose median is below 3")
    grades: list[str] = Field(description="The tier or label by each juror's scores alone")
    too_close: bool = Field(description="The jurors' own tiers or labels differ: too close to call")


class Reliability(Document):
    """Agreement of the jurors on one dimension."""

    icc: float | None = Field(description="ICC(2,1), absolute agreement of single raters; null where undefined")
    tools: int = Field(description="Tools that every juror scored")
    mean: float | None = Field(description="Mean of all their scores; null without such a tool")
    median: float | None = Field(description="Mean of the tools' medians")
    smells_by_mean: int = Field(description="Tools whose mean is below 3")
    smells_by_median: int = Field(description="Tools whose median is below 3")


class UngradedTool(Document):
    """A tool without a score. Never a low grade."""

    name: str
    input_hash: str | None
    judge: str
    reason: str


class Subject(Document):
    """What a finding is about."""

    kind: str
    name: str


class Finding(Document):
    """One defect at one place."""

    rule: str
    name: str
    aliases: list[str]
    severity: Severity
    confidence: Confidence
    persona: Persona
    dimension: str | None
    subject: Subject
    path: str
    message: str
    suggestion: str | None
    source: str


class Server(Document):
    """The server and where its definitions came from."""

    name: str
    version: str | None
    source: str | None


def tally_of(severities: Sequence[Severity]) -> dict[str, Any]:
    """Findings by severity."""
    counts = Counter(severities)
    return {severity.value: counts[severity] for severity in Severity} | {"clean": not severities}


def generated_by() -> str:
    """This program and its version."""
    return f"tdqs-mcp {version('tdqs-mcp')}"


def clean(value: Any) -> Any:  # noqa: ANN401  # foreign JSON, any shape
    """The same JSON with every text fit for UTF-8."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, Mapping):
        return {well_formed(key): clean(child) for key, child in value.items()}
    return [clean(child) for child in value] if isinstance(value, list) else value


def server_of(
    result: ServerScore | LabelScore | LintReport | ServerGrade | Catalog,
) -> Server:
    """The server that a result is about."""
    return Server(
        name=well_formed(result.server),
        version=text_of(result.version),
        source=text_of(result.source),
    )


def jury_of(ballots: Sequence[verdicts.Ballot], *, rubric: str, spec: str) -> Jury | None:
    """How one tool's jurors voted; None without a jury."""
    found = dispute(ballots, rubric=rubric, spec=spec)
    if found is None:
        return None
    return Jury(
        ballots=[
            Ballot(
                juror=ballot.juror,
                judge=judge_of(ballot.judge),
                scores=dict(ballot.scores),
                reason=text_of(ballot.reason),
            )
            for ballot in ballots
        ],
        means={key: mean / 100 for key, mean in found.means.items()},
        spread=dict(found.spread),
        smells_by_mean=list(found.smells_by_mean),
        smells_by_median=list(found.smells_by_median),
        grades=list(found.grades),
        too_close=found.is_too_close,
    )


def agreement_of(score: ServerScore | LabelScore) -> dict[str, Reliability]:
    """How far the jurors agree, by dimension."""
    return {
        key: Reliability(
            icc=each.icc,
            tools=each.tools,
            mean=None if each.mean is None else each.mean / 100,
            median=None if each.median is None else each.median / 100,
            smells_by_mean=each.smells_by_mean,
            smells_by_median=each.smells_by_median,
        )
        for key, each in reliabilities(score).items()
    }


def judgements_of(judgements: Mapping[str, verdicts.Judgement]) -> dict[str, Judgement]:
    """Each dimension with its reason."""
    return {
        key: Judgement(
            score=judgement.score,
            justification=well_formed(judgement.justification),
            evidence=[well_formed(quote) for quote in judgement.evidence],
            unverified=[well_formed(quote) for quote in judgement.unverified],
        )
        for key, judgement in judgements.items()
    }


def ungraded_of(score: ServerScore) -> list[UngradedTool]:
    """Tools without a verdict, then the coherence case under an empty name where it has none."""
    listed = [(tool.name, tool.input_hash, tool.ungraded) for tool in score.ungraded]
    if isinstance(score.coherence, Ungraded):
        listed.append(("", None, score.coherence))
    return [ungraded_tool(*entry) for entry in listed]


def ungraded_tool(name: str, digest: str | None, why: Ungraded) -> UngradedTool:
    """One tool without a score, and why."""
    return UngradedTool(name=well_formed(name), input_hash=digest, judge=why.judge, reason=well_formed(why.reason))


def finding_of(finding: findings.Finding) -> Finding:
    """One finding."""
    return Finding(
        rule=finding.rule,
        name=finding.name,
        aliases=list(finding.aliases),
        severity=finding.severity,
        confidence=finding.confidence,
        persona=finding.persona,
        dimension=finding.dimension,
        subject=Subject(kind=finding.subject.kind, name=well_formed(finding.subject.name)),
        path=well_formed(finding.subject.path),
        message=well_formed(finding.message),
        suggestion=text_of(finding.suggestion),
        source=finding.source,
    )


def judge_of(stamp: JudgeStamp) -> Judge:
    """Who judged."""
    return Judge(
        id=stamp.id, version=stamp.version, model=stamp.model, calibration=stamp.calibration, prompt=stamp.prompt
    )


def number_of(tenths: int | None) -> float | None:
    """Tenths as a number with one decimal."""
    return None if tenths is None else tenths / 10


def tier_or_none(tenths: int | None) -> Tier | None:
    """The tier of tenths."""
    return None if tenths is None else tier_of(tenths)


def text_of(text: str | None) -> str | None:
    """A foreign text that is valid Unicode."""
    return None if text is None else well_formed(text)
