"""The behaviour hints, as far as the code proves them: true, false or unknown."""

from collections.abc import Sequence
from typing import TypedDict

from tdqs_mcp.code.knowledge import ADDS, DESTROYS
from tdqs_mcp.code.programs import CHANGING, UNKNOWN_PROGRAM
from tdqs_mcp.code.trace import Sighting
from tdqs_mcp.results.tool_code import EffectKind, Proof, is_local

_EFFECTS = frozenset(EffectKind)
_CHANGES = frozenset("file-write file-delete sql-write http-write runs-code state-in-memory".split())
_NETWORK = frozenset("http-read http-write sends-data-out http-unknown".split())
_OPEN = frozenset("sends-data-out http-unknown sql-unknown".split())
"""Effects that may be a read or a change: a POST is no write by itself."""

_STATES = frozenset({"state-in-memory", "state-unknown"})
_NEAR = frozenset("file-unknown file-write file-delete".split()) | _STATES
"""Kinds of what was left open that reach no other machine, whatever else they do."""

MAX_STATE_DEPTH = 3
"""Calls between the handler and a change in memory that is the tool's own work; deeper ones are a library's."""


class Verdicts(TypedDict):
    """The four hints of a tool, the worst case over its arguments."""

    read_only: Proof
    destructive: Proof
    idempotent: Proof
    open_world: Proof


def judge(effects: Sequence[Sighting], unresolved: Sequence[Sighting]) -> Verdicts:
    """Return the verdicts for the effects that a tool reaches, the worst case over its arguments.

    What could not be followed makes a verdict unknown, never clean.
    """
    changes = [effect for effect in effects if is_change(effect)]
    is_doubtful = bool(unresolved) or any(map(_is_open, effects))
    # `self.data.append(task); self.save()`: what is saved was made from the agent's words
    is_saving = any(effect.kind in _STATES and _is_remembered(effect) for effect in effects)
    is_changing = any(_is_own(effect) or (is_saving and effect.kind == "file-write") for effect in changes)
    read_only = False if is_changing else None if is_doubtful or changes else True
    destructive = False if read_only else None
    if any(effect.harm == DESTROYS for effect in changes if _is_own(effect)):
        destructive = True
    elif not any(_may_take(effect) for effect in (*effects, *unresolved)):
        destructive = False
    return Verdicts(
        read_only=_proof(read_only),
        destructive=_proof(destructive),
        idempotent=True if read_only else "unknown",
        open_world=_proof(_open_world(effects, unresolved)),
    )


def _proof(verdict: bool | None) -> Proof:  # noqa: FBT001  # a verdict
    return "unknown" if verdict is None else verdict


def is_change(effect: Sighting) -> bool:
    """Return whether an effect changes something: a file, a database, what the server remembers."""
    if effect.kind == "process":
        return not CHANGING.isdisjoint(effect.program)
    return _is_remembered(effect) if effect.kind == "state-in-memory" else effect.kind in _CHANGES


def _is_remembered(state: Sighting) -> bool:
    """Return whether a change in memory keeps the agent's words, and is no entry of a map that may be a cache."""
    return state.depth <= MAX_STATE_DEPTH and bool(state.parameters) and not state.is_entry


def _is_open(effect: Sighting) -> bool:
    """Return whether an effect may be a change or none: a POST; an entry of a map that may be a cache."""
    if effect.kind in _STATES:
        return (bool(effect.parameters) or effect.depth <= MAX_STATE_DEPTH) and not is_change(effect)
    return effect.kind in _OPEN or _is_doubtful(effect)


def _is_doubtful(effect: Sighting) -> bool:
    """Return whether a program is started of which not all is known."""
    return effect.kind == "process" and (not effect.program or effect.program >= UNKNOWN_PROGRAM)


def _may_take(effect: Sighting) -> bool:
    """Return whether an effect may take or overwrite something; what is kept or counted in memory takes nothing."""
    is_followed = effect.kind in _EFFECTS
    return effect.harm != ADDS and (not is_followed or is_change(effect) or _is_open(effect))


def _is_own(effect: Sighting) -> bool:
    """Return whether a change is the tool's own work: with the agent's words, near the handler, or of no other tool.

    Deeper ones without them may be caches and set-up.
    """
    return bool(effect.parameters) or effect.depth <= 1 or effect.kind == "runs-code" or effect.is_alone


def _open_world(effects: Sequence[Sighting], unresolved: Sequence[Sighting]) -> bool | None:
    is_remote = any(effect.kind in _NETWORK and not is_local(effect.host) for effect in effects)
    # What the agent writes and the tool runs may reach anything.
    is_any_code = any(effect.kind == "runs-code" and effect.parameters for effect in effects)
    if is_remote or is_any_code or any("remote" in effect.program for effect in effects):
        return True
    is_lost = any(sighting.kind not in _NEAR for sighting in unresolved)
    return None if is_lost or any(effect.kind == "runs-code" or _is_doubtful(effect) for effect in effects) else False
