"""Claims that a parameter is required or optional, and that a tool writes."""

import re
from collections.abc import Collection

from tdqs_mcp.facts.claims.claim import Claim, Clash
from tdqs_mcp.facts.sayings import Origin
from tdqs_mcp.facts.text.languages import LEMMAS
from tdqs_mcp.facts.text.patterns import lazy_pattern
from tdqs_mcp.facts.text.prose import MAX_TEXT
from tdqs_mcp.facts.text.words import name_parts
from tdqs_mcp.model.catalog import Tool

_OPTIONAL = lazy_pattern(
    r"^\W{0,3}optional\b(?!\s+(?:if|when|for|unless|chain))|\(\s*(?:[\w\s\[\]"
    r"|]{1,40},\s*)?optional\s*(?:,[^)]{0,80})?\)|\[optional\]|\bthis\s+(?:parameter|field"
    r"|argument)\s+is\s+optional\b(?!\s+(?:if|when|for|unless))",
    re.IGNORECASE,
)
_REQUIRED = lazy_pattern(
    r"^\W{0,3}required\s*(?:[.:,)\]]|$|-\s|–|—)"
    r"|\(\s*(?:[\w\s\[\]|]{1,40},\s*)?required\s*\)|\[required\]"
    r"|"
    r"\bthis\s+(?:parameter|field|argument)\s+is\s+(?:required|mandatory)\s*(?:[.;,)]|$)",
    re.IGNORECASE,
)


def requirement(claim: Claim) -> Clash | None:
    """The text calls the parameter optional and the schema requires it, or the reverse."""
    saying = claim.saying
    node = saying.node
    if not node.is_top:
        return None
    optional, required = (
        (_OPTIONAL, _REQUIRED) if saying.origin is not Origin.SENTENCE else (_IS_OPTIONAL, _IS_REQUIRED)
    )
    is_optional = optional.search(saying.text) is not None
    if node.is_required and "default" not in node.schema and is_optional:
        return Clash(saying=saying, said="optional", held="required", is_plain=True)
    if not node.is_required and not is_optional and required.search(saying.text):
        return Clash(saying=saying, said="required", held="optional", is_plain=True)
    return None


_IS_OPTIONAL = lazy_pattern(
    r"^\W{0,3}(?:the\s+)?[`'\"]?[\w-]+[`'\"]?(?:\s+(?:parameter|argument|field))?\s+is\s+optional\s*(?:[.;,]|$|and\b)",
    re.IGNORECASE,
)
_IS_REQUIRED = lazy_pattern(
    r"^\W{0,3}(?:the\s+)?[`'\"]?[\w-]+[`'\"]?(?:\s+(?:parameter|argument|field))?\s+is\s+(?:required"
    r"|mandatory)\s*(?:[.;]|$)",
    re.IGNORECASE,
)


_PROVEN_MUTATIONS = frozenset(
    "create delete update write upload destroy drop purge erase rename move publish install uninstall".split()
)
_WRITES_LATER = lazy_pattern(
    r"\b(?:permanently|irreversibly)\s+(?:deletes?|removes?|erases?|destroys?|drops?|overwrites?)\b"
    r"|\bthis\s+(?:tool|action|operation|call)?\s*(?:will\s+)?(?:also\s+)?(?:deletes?|overwrites?|modif(?:y|ies)"
    r"|removes?|updates?|creates?|writes?)\s+(?:the|any|all|existing|a|an|your)\b"
    r"|\b(?:this\s+(?:action|operation)\s+)?(?:cannot|can't|can\s+not)\s+be\s+(?:undone|reversed)\b|\b(?:is"
    r"|are)\s+irreversible\b",
    re.IGNORECASE,
)


def mutation(tool: Tool, words: Collection[str]) -> str | None:
    """How the name or a sentence says outright that the tool writes; `words` are those of its description."""
    parts = name_parts(tool.name)
    verb = next((LEMMAS[part] for part in parts[:2] if part in LEMMAS), None)
    if verb in _PROVEN_MUTATIONS and LEMMAS.get(parts[0]) == verb:
        return f"the name says {verb!r}"
    found = None if _WRITERS.isdisjoint(words) else _WRITES_LATER.search((tool.description or "")[:MAX_TEXT])
    return f"the description says {' '.join(found[0].split())!r}" if found else None


_WRITERS = frozenset("permanently irreversibly this undone reversed irreversible".split())
