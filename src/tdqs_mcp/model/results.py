"""What scoring and linting say: findings, verdicts, scores and reports, in exact integers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any


class Severity(StrEnum):
    """How bad a finding is; `error > warning > info`."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """2 for an error, 1 for a warning, 0 for an info."""
        return {"error": 2, "warning": 1, "info": 0}[self]


class Confidence(StrEnum):
    """How sure a rule is of its findings."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Persona(StrEnum):
    """Who wants to see a finding by default: every author, or only somebody who audits."""

    AUTHOR = "author"
    AUDITOR = "auditor"


class Flag(StrEnum):
    """A categorical defect (TDQS, "Flags and smells"); `Shadowing Risk` is a flag of the pair, kept in serverFlags."""

    NO_DESCRIPTION = "No Description"
    TAUTOLOGICAL_DESCRIPTION = "Tautological Description"
    ANNOTATION_CONTRADICTION = "Annotation Contradiction"
    SHADOWING_RISK = "Shadowing Risk"


class Tier(StrEnum):
    """The letter of a score: A from 3.5, B from 3.0 (passing), C from 2.0, D from 1.0 (TDQS, "Tiers")."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    F = "F"

    @property
    def floor(self) -> int:
        """The lowest score of the tier, in tenths."""
        return _FLOORS[self]


class Label(StrEnum):
    """What a rubric without tiers ends in: Bad where a dimension is below 3 (arXiv 2602.14878; MCPBundles)."""

    GOOD = "Good"
    BAD = "Bad"


_FLOORS = {Tier.A: 35, Tier.B: 30, Tier.C: 20, Tier.D: 10, Tier.F: 0}


def tier_of(tenths: int) -> Tier:
    """The tier of a score in tenths."""
    return next(tier for tier in Tier if tenths >= tier.floor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """What a finding is about: a tool, resource, prompt or the server, and the JSON pointer inside it."""

    kind: str
    name: str
    index: int | None
    path: str

    @property
    def label(self) -> str:
        """A tool's name, or what stands for it: parts without a name are counted from 1, other kinds are named."""
        if self.index is None:
            return self.kind
        if not self.name:
            return f"{self.kind} {self.index + 1}, without a name"
        return self.name if self.kind == "tool" else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One defect at one place, with what to do about it."""

    rule: str
    name: str
    aliases: tuple[str, ...]
    severity: Severity
    confidence: Confidence
    persona: Persona
    dimension: str | None
    subject: Location
    message: str
    suggestion: str | None
    source: str

    @property
    def tool_index(self) -> int | None:
        """The catalog position of the tool it is about; None for the server, a resource or a prompt."""
        return self.subject.index if self.subject.kind == "tool" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One dimension's integer score, 1-5, and why."""

    score: int
    justification: str
    evidence: tuple[str, ...] = ()
    """Substrings of the definition that the justification rests on."""

    unverified: tuple[str, ...] = ()
    """What the judge quotes although the definition does not hold it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeStamp:
    """Who judged, so that two numbers are compared only when they are comparable."""

    id: str
    version: str
    model: str | None = None
    calibration: str | None = None
    prompt: str | None = None
    """Which bytes a model got, "hardened" or "exact"; None for a judge that reads no prompt, or somebody else's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """One juror's scores for one case, or why there are none."""

    judge: JudgeStamp
    scores: Mapping[str, int]
    """Empty where the juror gave no verdict."""

    contradiction: bool = False
    reason: str | None = None
    """Why there is no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What a judge's own error leaves open: where the score would lie if the labels' judge had given it."""

    low: int
    high: int
    """The middle 80% of the likely scores, in tenths."""

    tiers: Mapping[Tier, int]
    """Percent for each tier that a score can have."""

    @property
    def is_close(self) -> bool:
        """Too close to call: no tier is likely enough."""
        return max(self.tiers.values()) < CLOSE

    @property
    def likeliest(self) -> tuple[Tier, Tier]:
        """The two likeliest tiers, the likelier first."""
        first, second, *_ = sorted(self.tiers, key=lambda tier: (-self.tiers[tier], tier))
        return first, second


CLOSE = 60
"""Percent below which the likeliest tier is too close to call."""


class Judged:
    """What has a judgement of every dimension of its rubric."""

    __slots__ = ()
    judgements: Mapping[str, Judgement]

    @property
    def scores(self) -> dict[str, int]:
        """1-5 by dimension, in the rubric's order."""
        return {key: judgement.score for key, judgement in self.judgements.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Judged):
    """A judge's answer that satisfied its rubric's contract."""

    judgements: Mapping[str, Judgement]
    summary: str
    contradiction: bool = False
    """The judge holds that the description contradicts the annotations; only tools can."""

    outlook: Outlook | None = None
    """None where the judge does not know its error."""

    asks_for_credentials: bool = False
    """The judge holds that the text has its reader handle credentials; only skills are asked about."""

    risks: tuple["ShadowingRisk", ...] = ()
    """The confirmed pairs, where the question was about shadow candidates: there are no scores then."""

    ballots: tuple["Ballot", ...] = ()
    """What each juror gave, where a jury judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungraded:
    """The judge gave no verdict. Never a low grade: a broken judge says nothing about the tool."""

    judge: str
    reason: str
    was_asked: bool = True
    """False where no answer was ever wanted or handed in: nothing has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Enforced:
    """The score with the specification's own rules enforced from facts, published beside it, never in it."""

    scores: Mapping[str, int]
    tdqs: int
    """In tenths."""

    tier: Tier
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolScore(Judged):
    """The specification's per-tool result."""

    index: int
    name: str
    input_hash: str
    judgements: Mapping[str, Judgement]
    tdqs: int
    """In tenths, 10-50."""

    tier: Tier
    smells: tuple[str, ...]
    flags: tuple[Flag, ...]
    server_flags: tuple[Flag, ...]
    summary: str
    signals: Mapping[str, object]
    """The context signals under their published names."""

    judge: JudgeStamp
    enforced: Enforced | None = None
    outlook: Outlook | None = None
    """None where the judge does not know its error, or nothing was judged."""

    ballots: tuple[Ballot, ...] = ()
    """What each juror gave, where a jury judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UngradedTool:
    """A tool without a score, and why."""

    index: int
    name: str
    input_hash: str | None
    ungraded: Ungraded


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowCandidate:
    """A tool and the dearest sibling that is much cheaper to call (TDQS 1.1, shadow prefilter)."""

    index: int
    """The dearer tool's position in the catalog."""

    tool: str
    invocation_cost: int
    cheaper_sibling: str
    cheaper_sibling_invocation_cost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowingRisk:
    """A candidate pair whose purposes a judge found to overlap."""

    candidate: ShadowCandidate
    justification: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollup:
    """A server's arithmetic, all in tenths; None where a part is missing, never guessed."""

    mean_tdqs: int | None
    min_tdqs: int | None
    description_quality: int | None
    """None below 80% of the tools scored."""

    coherence: int | None
    overall: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerScore:
    """The specification's per-server result with everything it was made from."""

    server: str
    version: str | None
    source: str | None
    spec_version: str
    judge: JudgeStamp
    tool_count: int
    tools: tuple[ToolScore, ...]
    ungraded: tuple[UngradedTool, ...]
    coherence: Verdict | Ungraded
    rollup: Rollup
    shadow_candidates: tuple[ShadowCandidate, ...]
    shadowing_risks: tuple[ShadowingRisk, ...]
    problems: tuple[str, ...]
    """What went wrong on the way and changed no score, one sentence each."""

    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """Findings that a project has decided to live with, and why."""

    rule: str
    """The rule's id."""

    reason: str
    tool: str | None = None
    """A pattern with * and ? that the tool's name matches; None for every part of the server."""

    server: str | None = None
    """The same for the server's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed:
    """A finding that somebody has decided to live with."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFinding:
    """A finding of an earlier run, as a baseline keeps it."""

    fingerprint: str
    """16 hexadecimal digits of rule and place; of a security finding also of what it says."""

    rule: str
    server: str
    part: str
    path: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """How a run stands to an earlier one."""

    known: int
    """Findings that were there before."""

    fixed: tuple[KnownFinding, ...]
    """What was there before and is gone: nothing that this run could not see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledTool(Judged):
    """One tool under a rubric that ends in a label."""

    index: int
    name: str
    input_hash: str
    judgements: Mapping[str, Judgement]
    overall: int
    """In tenths of a percent, 0-1000: where the sum of the scores lies between all 1 and all 5."""

    label: Label
    smells: tuple[str, ...]
    """Dimensions below 3."""

    improvements: tuple[str, ...]
    """Dimensions of at most 3, the lowest first (arXiv 2602.14878, Appendix A.1)."""

    flags: tuple[Flag, ...]
    summary: str
    signals: Mapping[str, object]
    judge: JudgeStamp
    ballots: tuple[Ballot, ...] = ()


class Band(IntEnum):
    """How urgent a suggestion is; the lowest number comes first (MCPBundles, "How The Verdict Surfaces")."""

    SERVER_SMELL = 1
    BUNDLE_DEFICIENCY = 2
    TOOL_ISSUE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What to fix, in which order of urgency."""

    band: Band
    tools: tuple[str, ...]
    """The names of the tools concerned; empty for the skill."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillScore:
    """A server's skill text under the skill rubric."""

    server: str
    tool_count: int
    judge: JudgeStamp
    verdict: Verdict | Ungraded
    """With the one-tool rule applied."""

    overall: int | None
    """In tenths of a percent; None without a verdict."""

    label: Label | None
    """Bad already by the credentials rule, whoever judges; None where nothing decides it."""

    smells: tuple[str, ...]
    credentials: str | None
    """The words that have the reader handle credentials, or that the judge holds so."""

    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelScore:
    """All tools of a server under a rubric that ends in labels, none of which has a number for the server."""

    rubric: str
    server: str
    version: str | None
    source: str | None
    spec_version: str
    """Of the context signals; no label depends on it."""

    judge: JudgeStamp
    tool_count: int
    tools: tuple[LabelledTool, ...]
    ungraded: tuple[UngradedTool, ...]
    suggestions: tuple[Suggestion, ...]
    problems: tuple[str, ...]
    skill: SkillScore | None = None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """The findings about one server that count, and how many do not."""

    server: str
    version: str | None
    source: str | None
    tools: tuple[str, ...]
    """Every tool's name in catalog order, empty where it has none."""

    findings: tuple[Finding, ...]
    problems: tuple[str, ...]
    hidden: int = 0
    """Uncertain findings, which the profile `strict` shows."""

    suppressed: tuple[Suppressed, ...] = ()
    unused_suppressions: tuple[Suppression, ...] = ()
    """Those about this server and a rule that ran which matched nothing."""

    baseline: Baseline | None = None
    """None where the run was compared with no earlier one."""


class Letter(StrEnum):
    """MCP Playground's grade: A from 90 of 100, B from 75, C from 60, D from 40 (grading methodology)."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    F = "F"

    @property
    def floor(self) -> int:
        """The lowest score with this letter, 0-100."""
        return {"A": 90, "B": 75, "C": 60, "D": 40, "F": 0}[self]


def letter_of(score: int) -> Letter:
    """The letter of a score, 0-100."""
    return next(letter for letter in Letter if score >= letter.floor)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deduction:
    """One violation of MCP Playground's rules and what it costs."""

    rule: str
    """Our rule's id."""

    alias: str
    """The source's id."""

    severity: Severity
    """The source's, whatever our rule thinks."""

    points: int
    subject: Location
    message: str
    suggestion: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerGrade:
    """A server's grade by MCP Playground's methodology."""

    server: str
    version: str | None
    source: str | None
    score: int | None
    """0-100; None where nothing that could be graded is known."""

    letter: Letter | None
    bonus: int
    """Points for descriptions of every tool; given before the score is limited to 0-100."""

    deductions: tuple[Deduction, ...]
    tool_count: int
    resource_count: int | None
    """Entries of `resources/list`; None when it was never asked, so that none was judged."""

    prompt_count: int | None
    unmeasured: tuple[UngradedTool, ...]
    """Tools that could not be read; whatever they cost is missing from the score."""

    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One field of a definition, rewritten, and what the new words rest on."""

    path: str
    """JSON pointer inside the definition."""

    before: object
    after: object
    sources: tuple[str, ...]
    """Where each claim comes from: the old text, the schema, an annotation, a sibling's definition."""


HOST = "host"
"""The judge that is the calling agent itself."""

OFFLINE = "offline"
"""The writer that composes from facts and asks no model."""


class Mode(StrEnum):
    """How much a rewrite may say."""

    COMPACT = "compact"
    """Purpose and guidelines first: what the paper found to be enough."""

    FULL = "full"
    """All components."""

    @property
    def growth(self) -> int:
        """Tokens that a definition may grow by, unless somebody says otherwise."""
        return 60 if self is Mode.COMPACT else 150


class Component(StrEnum):
    """What a sentence of a definition is about (the paper's five fields)."""

    PURPOSE = "purpose"
    GUIDELINES = "guidelines"
    LIMITATIONS = "limitations"
    PARAMETERS = "parameter explanation"
    EXAMPLES = "examples"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One new statement of a rewritten definition and where it comes from."""

    path: str
    """JSON pointer inside the definition."""

    text: str
    sources: tuple[str, ...] = ()
    """What it rests on: description, a schema path, an annotation, tool NAME, fact N, trace N, docs."""

    refusal: str | None = None
    """Why it may not stand; None for a claim with sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """The sibling that an agent is most likely to take for a tool."""

    sibling: str | None
    """None where no sibling shares a telling word."""

    percent: int
    """0-100: words that both say of themselves, of all that either says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A proposed definition with its proof; schema and name are what they were."""

    index: int
    name: str
    definition: Mapping[str, Any]
    """The raw definition with the changes made; the old one where nothing was found to change."""

    changes: tuple[Change, ...]
    questions: tuple[str, ...]
    """What only the author can know."""

    before: ToolScore | None
    """None where there was no score to compare with."""

    after: ToolScore | None
    tokens_before: int
    tokens_after: int
    findings_removed: tuple[str, ...] = ()
    """Rule ids."""

    findings_added: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    """One for every new statement; none of them refused."""

    components: Mapping[Component, str] = field(default_factory=dict)
    """The sentences of the new definition by what they are about."""

    likeness_before: Likeness | None = None
    likeness_after: Likeness | None = None
    growth: int = Mode.COMPACT.growth
    """Tokens that the definition was allowed to grow by."""

    writer: str = OFFLINE
    """Whose words these are: offline, or the model's name."""

    setback: str | None = None
    """Why the words of the writer that was asked are not the ones that stand."""

    was_written: bool = True
    """False where the writer that was asked gave no answer in form."""


class GateResult(StrEnum):
    """Whether a gate's bar is met; ERROR where that cannot be known."""

    PASS = "PASS"  # noqa: S105  # a word, no password
    FAIL = "FAIL"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One target of a suite's entry, held against its bar."""

    target: str
    wanted: str
    actual: str | None
    """None where it cannot be known."""

    result: GateResult
    reason: str | None = None
    """Why it cannot be known; where the bar is missed, what to look at first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """One entry of a suite with its checks."""

    name: str
    server: str
    checks: tuple[Check, ...]
    """Empty where the server could not be captured."""

    reason: str | None = None
    """Why the server could not be captured."""

    @property
    def result(self) -> GateResult:
        """PASS when every check passes; a check that fails decides, whatever else is unknown."""
        results = {check.result for check in self.checks}
        if GateResult.FAIL in results:
            return GateResult.FAIL
        return GateResult.PASS if results == {GateResult.PASS} else GateResult.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One table of a calibration report."""

    title: str
    remark: str
    """What the numbers are and on what they rest."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationReport:
    """How far a judge's scores lie from those that it is held against."""

    judge: JudgeStamp
    sections: tuple[Section, ...]
    faults: tuple[str, ...]
    """Where it is out of tolerance, one sentence each."""

    problems: tuple[str, ...] = ()
    """What could not be judged."""
