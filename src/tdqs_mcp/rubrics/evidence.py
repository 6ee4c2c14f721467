"""What a judge quotes, looked up in the definition that it judged."""

from collections.abc import Sequence
from dataclasses import replace

from tdqs_mcp.facts.quotes import find, is_claim, quotations
from tdqs_mcp.results.verdicts import Judgement, Verdict
from tdqs_mcp.rubrics.prompt import Case, texts


def verify(case: Case, verdict: Verdict) -> Verdict:
    """The verdict with its quotations sorted: those that the definition holds, and those that it does not."""
    seen = texts(case)
    judgements = {key: _verified(judgement, seen) for key, judgement in verdict.judgements.items()}
    return replace(verdict, judgements=judgements)


def _verified(judgement: Judgement, seen: Sequence[str]) -> Judgement:
    """What is offered as evidence counts in any case; a quotation in a reason, where it must be a quotation."""
    offered = dict.fromkeys((*judgement.evidence, *quotations(judgement.justification)))
    found = {quotation: find(quotation, seen) for quotation in offered}
    missing = [
        quotation
        for quotation, place in found.items()
        if place is None and (quotation in judgement.evidence or is_claim(quotation))
    ]
    places = dict.fromkeys(place for place in found.values() if place)
    return replace(judgement, evidence=tuple(places), unverified=tuple(missing))
