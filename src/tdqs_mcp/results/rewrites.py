"""What a rewrite proposes, and the sources of its statements."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from enum import StrEnum
from typing import Annotated, Any

from tdqs_mcp.results.contract import Document, Internal, Key, Max, Name, Only, Percentage, Pointer, Trait, published
from tdqs_mcp.results.findings import OfServer
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
        """Tokens that a definition may grow by, by default."""
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

    path: Pointer
    """JSON pointer inside the definition."""

    before: Annotated[Any, Trait.AS_JSON]
    after: Annotated[Any, Trait.AS_JSON]
    sources: tuple[str, ...]
    """What the new words rest on: the old text, the schema, an annotation, a sibling's definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One new statement; every one has a source, for a rewrite with another one is not proposed."""

    path: Pointer
    """JSON pointer inside the definition."""

    text: str
    sources: tuple[str, ...] = ()
    """What it rests on: description, a schema path, an annotation, tool NAME, fact N, trace N, docs."""

    refusal: Internal[str | None] = None
    """Why the claim is refused; None for a claim with sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unused:
    """Something of the author's material that a rewrite does not rest on."""

    source: str
    """fact N, trace N or docs."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """The sibling that an agent is most likely to take for a tool."""

    sibling: Name | None
    """Null where no sibling shares a telling word."""

    percent: Percentage
    """Words that both say of themselves, of all that either says."""


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

    questions: tuple[str, ...]
    """What only the author can know."""

    before: Annotated[ToolScore | None, _NUMBERS]
    """Null where there was no score to compare with."""

    after: Annotated[ToolScore | None, _NUMBERS]
    tokens_before: int
    """An estimate."""

    tokens_after: int
    findings_removed: tuple[str, ...] = ()
    """Rule ids."""

    findings_added: tuple[str, ...] = ()
    """Rule ids, each milder than one that was removed."""

    claims: tuple[Claim, ...] = ()
    """Every new statement."""

    unused: tuple[Unused, ...] = ()
    """What of the author's material about this tool it does not rest on."""

    components: Mapping[Component, str] = field(default_factory=dict)
    """The sentences of the new definition by what they are about."""

    likeness_before: Likeness | None = None
    likeness_after: Likeness | None = None
    growth: int = Mode.COMPACT.growth
    """Tokens that the definition was allowed to grow by."""

    writer: Annotated[str, Max(100)] = OFFLINE
    """Whose words these are: offline, or the model's name."""

    setback: str | None = None
    """Why the requested writer's text was not used."""

    unjudged: Annotated[str | None, Key("ungraded")] = None
    """Why the judge gave the definition, or a proposal for it, no score."""

    was_written: Internal[bool] = True
    """False where the writer that was asked gave no answer in form."""

    @published(after="findings_added")
    def diff(self) -> str:
        """Unified diff of the definition's JSON; empty where nothing changes."""
        sides = (json.dumps(each, indent=2, ensure_ascii=False) for each in (self.original, self.definition))
        before, after = (side.encode(errors="replace").decode().split("\n") for side in sides)
        lines = unified_diff(before, after, lineterm="")
        return "\n".join(line for line in lines if line not in ("--- ", "+++ "))

    @property
    def sources(self) -> frozenset[str]:
        """All that its changes and claims rest on."""
        told = [*(each.sources for each in self.changes), *(each.sources for each in self.claims)]
        return frozenset(source for sources in told for source in sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class RewriteReport(OfServer, Document):
    """Every tool that can be measured, changed or not."""

    rewrites: tuple[Rewrite, ...]
    spec_version: str
