"""Claims about the least and the most."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tdqs_mcp.facts.claims.claim import Claim, Clash
from tdqs_mcp.facts.sayings import DIGITS
from tdqs_mcp.facts.schema.walk import Accepted
from tdqs_mcp.facts.text.patterns import lazy_pattern

_NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
_BETWEEN = lazy_pattern(
    rf"(?:\bbetween\s+(?P<a>{_NUMBER})\s+and\s+(?P<b>{_NUMBER})|\bfrom\s+(?P<c>{_NUMBER})\s+to\s+(?P<d>{_NUMBER})"
    rf"|\b(?:range|valid|allowed|values?|must be|limit|default|ranges?)\s*(?:is|of|from"
    rf"|:)?\s*[\[(]?\s*(?P<e>{_NUMBER})\s*(?:-|–|to|,|\.\.+)\s*(?P<f>{_NUMBER})\s*[\])]?"
    rf"|[(\[]\s*(?P<g>{_NUMBER})\s*(?:-|–|to|\.\.+)\s*(?P<h>{_NUMBER})\s*[,;)\]])"
    rf"(?P<unit>\s*[A-Za-z%]+)?",
    re.IGNORECASE,
)
_UPPER = lazy_pattern(
    rf"(?:\b(?:max(?:imum)?(?:\s+(?:is|of|value|allowed|allowed\s+value|limit|length|value\s+is"
    rf"|allowed\s+value\s+is|length\s+is))?|at\s+most|up\s+to|no\s+more\s+than|"
    rf"not\s+(?:exceed|more\s+than)|cannot\s+exceed|must\s+not\s+exceed|less\s+than\s+or\s+equal\s+to|limited\s+to"
    rf"|upper\s+limit\s+(?:is|of))\s*[:=]?\s*|<=\s*|≤\s*)(?P<value>{_NUMBER})(?P<unit>\s*[A-Za-z%]+)?",
    re.IGNORECASE,
)
_LOWER = lazy_pattern(
    rf"(?:\b(?:min(?:imum)?(?:\s+(?:is|of|value|allowed|length|value\s+is|length\s+is))?|at\s+least|no\s+(?:less"
    rf"|fewer)\s+than|greater\s+than\s+or\s+equal\s+to|not\s+less\s+than|"
    rf"lower\s+limit\s+(?:is|of))\s*[:=]?\s*|>=\s*|≥\s*)(?P<value>{_NUMBER})(?P<unit>\s*[A-Za-z%]+)?",
    re.IGNORECASE,
)
_LENGTH_UNITS = frozenset("character characters char chars letter letters symbols".split())


_SENTENCES = lazy_pattern(r"(?<=[.!?])\s+|\n")
_IF = lazy_pattern(r"\s*(?:if|when)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limit:
    is_upper: bool
    value: float
    unit: str
    text: str


def ranges(claim: Claim) -> Clash | None:
    """A limit that the text names and the schema's own limit of the same kind contradicts."""
    saying, accepted = claim.saying, claim.accepted
    if not accepted.bounds or saying.words.isdisjoint(DIGITS):
        return None
    limits = _all_limits(saying.text)
    for is_upper in (False, True):
        said = [limit for limit in limits if limit.is_upper is is_upper]
        bound = _bound(accepted, is_upper=is_upper, units={limit.unit for limit in said})
        if bound is None or not said or any(limit.value == each for limit in said for each in bound):
            continue
        return Clash(
            saying=saying,
            said=said[0].text,
            held=f"{'maximum' if is_upper else 'minimum'} {bound[0]:g}",
            is_plain=True,
        )
    return None


@lru_cache(maxsize=4096)
def _all_limits(text: str) -> Sequence[_Limit]:
    """The limits that a text names without a condition."""
    return [limit for sentence in _SENTENCES.split(text) for limit in _limits(sentence) if not _IF.match(sentence)]


def _limits(text: str) -> Iterator[_Limit]:
    for match in _BETWEEN.finditer(text):
        low, high = [value for key in "abcdefgh" if (value := match[key])]
        unit = (match["unit"] or "").strip().lower()
        if _float(low) < _float(high):
            yield _Limit(is_upper=False, value=_float(low), unit=unit, text=match[0].strip(" ([)],;"))
            yield _Limit(is_upper=True, value=_float(high), unit=unit, text=match[0].strip(" ([)],;"))
    for pattern, is_upper in ((_UPPER, True), (_LOWER, False)):
        for match in pattern.finditer(text):
            unit = (match["unit"] or "").strip().lower()
            yield _Limit(is_upper=is_upper, value=_float(match["value"]), unit=unit, text=match[0].strip())


def _float(text: str) -> float:
    return float(text.replace(",", "") or 0)


def _bound(accepted: Accepted, *, is_upper: bool, units: set[str]) -> tuple[float, ...] | None:
    """The schema's limit as the texts may put it: an exclusive limit is also the next whole number."""
    bounds, side = accepted.bounds, "max" if is_upper else "min"
    if accepted.types <= {"integer", "number"}:
        exclusive = bounds.get(f"exclusive{side.title()}imum")
        if exclusive is not None:
            return (exclusive, exclusive - 1 if is_upper else exclusive + 1)
        limit = None if units & _LENGTH_UNITS else bounds.get(f"{side}imum")
    elif accepted.types == {"string"}:
        limit = bounds.get(f"{side}Length") if units <= _LENGTH_UNITS | {""} else None
    elif accepted.types == {"array"}:
        limit = None if units & _LENGTH_UNITS else bounds.get(f"{side}Items")
    else:
        return None
    return None if limit is None or abs(limit) >= 2**31 - 1 else (limit,)
