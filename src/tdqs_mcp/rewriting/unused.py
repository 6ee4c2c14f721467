"""What of an author's material a rewrite does not rest on, and why."""

from collections.abc import Iterator
from itertools import count

from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.model.material import Outcome, Trace
from tdqs_mcp.results.rewrites import OFFLINE, Rewrite, Unused
from tdqs_mcp.rewriting import given, proof
from tdqs_mcp.rewriting.parts import Part
from tdqs_mcp.rewriting.proof import Witnesses
from tdqs_mcp.rewriting.rewrite import Proposal


def of(subject: Subject, rewrite: Rewrite, witnesses: Witnesses) -> tuple[Unused, ...]:
    """Every fact, trace and text about the tool that no change and no claim of its rewrite names."""
    return tuple(each for each in _reasons(subject, rewrite, witnesses) if each.source not in rewrite.sources)


def _reasons(subject: Subject, rewrite: Rewrite, witnesses: Witnesses) -> Iterator[Unused]:
    """A reason for everything that is not named; the proof is asked of no more than could have been said."""
    material, tried = witnesses.material(subject), count()
    for conflict in witnesses.conflicts(subject):
        yield Unused(source=f"fact {conflict.fact}", reason=f"it cannot stand beside this: {conflict.other}")
    told: list[tuple[str, Part | None, str | None]]
    told = [(f"fact {each.number}", given.spoken(each), given.objection(each, subject)) for each in material.facts]
    told += [
        (f"trace {each.number}", given.limitation(each), _objection(each, subject, rewrite)) for each in material.traces
    ]
    for source, part, objection in told:
        reason = objection
        if reason is None and source not in rewrite.sources and part and next(tried) < rewrite.growth:
            reason = _refusal(part, subject, witnesses)
        yield Unused(source=source, reason=reason or _left_out(rewrite))
    if material.docs.strip():
        is_shown = rewrite.writer != OFFLINE
        yield Unused(source="docs", reason=_left_out(rewrite) if is_shown else "only a model's writer draws on them")


def _objection(trace: Trace, subject: Subject, rewrite: Rewrite) -> str | None:
    """Why a recorded call is not told."""
    if trace.outcome is Outcome.SUCCESS:
        return "of the calls that succeed only the shortest one without private values is shown, in full mode"
    part = given.limitation(trace)
    if part is None:
        return "its message is not plain and short, or holds a value of the call"
    if part.sentence in str(rewrite.definition.get("description")) or given.is_told(part.sentence, subject):
        return "the description says it already"
    return None


def _refusal(part: Part, subject: Subject, witnesses: Witnesses) -> str | None:
    proposed = Proposal(subject=subject, parts=(part,))
    refused = proof.refused(proof.claims(subject, proposed.definition, witnesses))
    return refused[0].refusal if refused else None


def _left_out(rewrite: Rewrite) -> str:
    if rewrite.writer != OFFLINE:
        return "the writer's words do not rest on it"
    return (
        f"it does not fit into the {rewrite.growth} tokens to grow by, or the judge finds the definition worse with it"
    )
