"""The author's material for a rewrite: facts, traces of real calls, documentation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


class CallOutcome(StrEnum):
    """How a real call ended."""

    SUCCESS = "success"
    EMPTY = "empty"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A statement that its author answers for."""

    number: int
    """Its place in the material, from 1: how a claim refers to it."""

    text: str
    tool: str | None = None
    """The only tool that it is true of; None for every tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One real call and what came back."""

    number: int
    tool: str
    arguments: Mapping[str, Any]
    outcome: CallOutcome
    answer: str
    """The result or the error as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Sources outside the definitions; a rewrite names each one that it uses."""

    facts: tuple[Fact, ...] = ()
    traces: tuple[Trace, ...] = ()
    docs: str = ""

    def of(self, tool: str) -> "Material":
        """What speaks of one tool: facts of all tools and its own, its traces, and the documentation."""
        return replace(
            self,
            facts=tuple(fact for fact in self.facts if fact.tool in (None, tool)),
            traces=tuple(trace for trace in self.traces if trace.tool == tool),
        )


NOTHING = Material()
"""An author who has given nothing."""
