"""What the texts of a new version bring that the old ones lack: orders to the agent, hosts, hidden characters."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cache
from typing import NamedTuple

from tdqs_mcp.facts.lexicon import lazy_pattern, read_table
from tdqs_mcp.facts.text.vocabulary import LEMMAS, STOPWORDS
from tdqs_mcp.facts.threats.detection import Kind, Threat, cut_quote, find_threats, list_strings

_CHANGES = {
    **dict.fromkeys((Kind.JUDGE, Kind.OVERRIDE, Kind.CONCEAL, Kind.LEAK, Kind.REDIRECT), "new-imperative"),
    **dict.fromkeys((Kind.UNSEEN, Kind.TERMINAL, Kind.LOOKALIKE), "hidden-characters"),
    **dict.fromkeys((Kind.TURN, Kind.ENCODED, Kind.MARKUP), "hidden-text"),
    Kind.SECRET: "new-secret",
}
_SENTENCE_END = lazy_pattern(r"(?<=[.!?。！？])\s+|\n+")
_HOST = lazy_pattern(r"(?i:[a-z][a-z0-9+.-]{1,15}://(?:[^\s/?#@\"'<>]{0,80}@)?|[\w.+-]@)([\w.-]{1,253}\w)")
_NAMES_ONLY = ("/$schema", "/$id")
"""Keywords whose URLs are names that nobody opens."""


class Addition(NamedTuple):
    """One thing that only the new version says."""

    change: str
    path: str
    """JSON pointer inside the new definition."""

    message: str


def find_hosts(raw: object) -> frozenset[str]:
    """The hosts of all addresses in a definition's strings, without example.com and its like (RFC 2606)."""
    return frozenset(host for path, text in list_strings(raw) for host in _hosts_in(path, text))


def find_additions(
    old: object, new: object, *, hosts: AbstractSet[str] = frozenset(), tools: AbstractSet[str] = frozenset()
) -> Iterator[Addition]:
    """What the strings of the new version say and those of the old one do not.

    `hosts` are known from elsewhere; `tools` are the other tools' names. Only new sentences count: what is moved, or
    joined in another order, is not new.
    """
    texts = {text for _, text in list_strings(old)}
    known = {sentence for text in texts for sentence in _sentences(text)}
    seen, quotes = hosts | find_hosts(old), {(each.kind, each.quote) for each in find_threats(old)}
    given = {_order(sentence, tools) for sentence in known}
    for path, text in list_strings(new):
        fresh = [] if text in texts else [each for each in _sentences(text) if each not in known]
        if not fresh:
            continue
        threats = [each for each in find_threats("\n".join(fresh)) if (each.kind, each.quote) not in quotes]
        yield from (Addition(_CHANGES[each.kind], path, _said(each)) for each in threats)
        if not any(_CHANGES[each.kind] == "new-imperative" for each in threats):
            first = next((each for each in fresh if (order := _order(each, tools)) and order not in given), None)
            if first:
                yield Addition("new-imperative", path, f"new order: {cut_quote(first)!r}")
        for host in sorted({*_hosts_in(path, text)} - seen):
            yield Addition("new-host", path, f"new host: {host!r}")


def _said(threat: Threat) -> str:
    return f"the text {threat.kind}: {threat.quote!r}"


def _sentences(text: str) -> Iterator[str]:
    return (joined for each in _SENTENCE_END.split(text) if (joined := " ".join(each.split())))


def _order(sentence: str, tools: AbstractSet[str]) -> tuple[str, str] | None:
    """What a sentence tells the agent to do beyond this call: the word that orders, and what it reaches."""
    patterns = _order_patterns()
    main = patterns["condition"].sub(" ", sentence)
    duty = patterns["duty"].search(main)
    word = _word(duty or patterns["reader"].search(main)) or next(_imperatives(sentence), "")
    found = _word(patterns["file"].search(sentence) or patterns["reach"].search(main))
    called = (each[1] for each in patterns["call"].finditer(main) if duty and each[1] in tools)
    reached = found or next(called, "")
    return (word, reached) if word and reached else None


def _word(found: re.Match[str] | None) -> str:
    return found[0].lower() if found else ""


def _imperatives(sentence: str) -> Iterator[str]:
    """Words that begin a clause as a bare verb does: a known one, or any before a determiner."""
    patterns = _order_patterns()
    yield from (word for each in patterns["clause"].finditer(sentence) if LEMMAS.get(word := each[1].lower()) == word)
    opening = patterns["opening"].match(sentence)
    if opening and opening[1].lower() not in STOPWORDS and not opening[1].endswith(("s", "ing", "ed", "lly")):
        yield opening[1].lower()


@cache
def _order_patterns() -> dict[str, re.Pattern[str]]:
    return {name: re.compile(source, re.IGNORECASE) for name, source in read_table("threats")["orders"].items()}


def _hosts_in(path: str, text: str) -> Iterator[str]:
    if ("://" not in text and "@" not in text) or path.endswith(_NAMES_ONLY):
        return
    for found in _HOST.finditer(text):
        host = found[1].lower()
        if "." in host and not _RESERVED.search(host):
            yield host


_RESERVED = lazy_pattern(r"(?:^|^www\.)example\.(?:com|net|org)$|^127\.|^0\.0\.0\.0$")
