"""The behaviour hints, as far as the code proves them: true, false or unknown."""

from collections.abc import Mapping, Sequence
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

MAX_EVIDENCE = 5
"""Lines that a verdict names."""

MAX_STATE_DEPTH = 3
"""Calls between the handler and a change in memory that is the tool's own work; deeper ones are a library's."""


class Verdicts(TypedDict):
    """The four hints of a tool, the worst case over its arguments."""

    read_only: Proof
    destructive: Proof
    idempotent: Proof
    open_world: Proof
    evidence: Mapping[str, tuple[str, ...]]


def judge(effects: Sequence[Sighting], unresolved: Sequence[Sighting]) -> Verdicts:
    """Return the verdicts for the effects that a tool reaches, the worst case over its arguments.

    What could not be followed makes a verdict unknown, never clean.
    """
    doubtful = [part for part in unresolved if not part.is_housekeeping]
    doubtful += [effect for effect in effects if effect.is_housekeeping and effect.parameters]
    effects = [effect for effect in effects if not effect.is_housekeeping]
    changes = [effect for effect in effects if is_change(effect)]
    # `self.data.append(task); self.save()`: what is saved was made from the agent's words
    is_saving = any(effect.kind in _STATES and _is_remembered(effect) for effect in effects)
    own = [effect for effect in changes if _is_own(effect) or (is_saving and effect.kind == "file-write")]
    doubts = [*doubtful, *filter(_is_open, effects), *changes]
    read_only: Proof = False if own else "unknown" if doubts else True
    taking = [effect for effect in changes if effect.harm == DESTROYS and _is_own(effect)]
    perhaps = [sighting for sighting in (*doubtful, *effects) if _may_take(sighting)]
    remote = [effect for effect in effects if _is_remote(effect)]
    lost = [sighting for sighting in (*unresolved, *doubtful) if sighting.kind not in _NEAR]
    lost += [effect for effect in effects if effect.kind == "runs-code" or _is_doubtful(effect)]
    decisive = {"readOnly": own or doubts, "destructive": taking or perhaps, "openWorld": remote or lost}
    return Verdicts(
        read_only=read_only,
        destructive=True if taking else False if read_only is True or not perhaps else "unknown",
        idempotent=True if read_only is True else "unknown",
        open_world=True if remote else "unknown" if lost else False,
        evidence={
            hint: tuple(dict.fromkeys(map(_words, several)))[:MAX_EVIDENCE] for hint, several in decisive.items()
        },
    )


def _words(sighting: Sighting) -> str:
    kind = f"{sighting.kind} " if sighting.kind in _EFFECTS else ""
    when = f" if {' and '.join(sighting.conditions)}" if sighting.conditions else ""
    return f"{kind}{sighting.text or ''} at {sighting.path}:{sighting.line}{when}".replace("  ", " ")


def is_change(effect: Sighting) -> bool:
    """Return whether an effect changes something: a file, a database, what the server remembers."""
    if effect.kind == "process":
        return not CHANGING.isdisjoint(effect.program)
    return _is_remembered(effect) if effect.kind == "state-in-memory" else effect.kind in _CHANGES


def _is_remembered(state: Sighting) -> bool:
    """Return whether a change in memory keeps the agent's words, and is no entry of a map that may be a cache."""
    return state.depth <= MAX_STATE_DEPTH and bool(state.parameters) and not (state.entry and state.harm == ADDS)


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


def _is_remote(effect: Sighting) -> bool:
    """Return whether an effect reaches another machine, as what the agent writes and the tool runs may."""
    if effect.kind in _NETWORK:
        return not is_local(effect.host)
    return (effect.kind == "runs-code" and bool(effect.parameters)) or "remote" in effect.program
