"""What a rewrite proposes, and what proves it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tdqs_mcp.results.scores import ToolScore

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
class Change:
    """One field of a definition, rewritten, and what the new words rest on."""

    path: str
    """JSON pointer inside the definition."""

    before: object
    after: object
    sources: tuple[str, ...]
    """Where each claim comes from: the old text, the schema, an annotation, a sibling's definition."""


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
class Unused:
    """Something of the author's material that a rewrite does not rest on."""

    source: str
    """fact N, trace N or docs."""

    reason: str


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

    unused: tuple[Unused, ...] = ()
    """What of the author's material about this tool it does not rest on, with the reason."""

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

    unjudged: str | None = None
    """Why the judge gave the definition, or a proposal for it, no score."""

    was_written: bool = True
    """False where the writer that was asked gave no answer in form."""

    @property
    def sources(self) -> frozenset[str]:
        """All that its changes and claims rest on."""
        told = [*(each.sources for each in self.changes), *(each.sources for each in self.claims)]
        return frozenset(source for sources in told for source in sources)
