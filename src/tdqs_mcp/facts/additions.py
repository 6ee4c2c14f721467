"""New statements in the strings of a definition's next version: orders, hosts, threats."""

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache

from tdqs_mcp.facts.lexicon import PatternTable, read_table
from tdqs_mcp.facts.schema.walk import Deviation
from tdqs_mcp.facts.text.words import LEMMAS, STOPWORDS
from tdqs_mcp.facts.threats import ThreatKind, cut_quote, find_threats, list_strings

_PATTERNS = PatternTable("threats")

_NAMES_ONLY = ("/$schema", "/$id")
"""Keywords whose URLs are names that nobody opens."""


@cache
def _changes() -> Mapping[ThreatKind, str]:
    """The change that a threat of each kind is."""
    table = read_table("threats")["changes"]
    return {ThreatKind[kind.upper()]: change for change, kinds in table.items() for kind in kinds.split()}


def find_hosts(raw: object) -> frozenset[str]:
    """The hosts of all addresses in a definition's strings, without example.com and its like (RFC 2606)."""
    return frozenset(host for path, text in list_strings(raw) for host in _hosts_in(path, text))


def find_additions(
    old: object, new: object, *, hosts: AbstractSet[str] = frozenset(), tools: AbstractSet[str] = frozenset()
) -> Iterator[Deviation]:
    """Yield what the strings of the new version say and those of the old one do not.

    `hosts` are known from elsewhere; `tools` are the other tools' names. Only new sentences count: what is moved, or
    joined in another order, is not new.
    """
    texts = {text for _, text in list_strings(old)}
    old_sentences = {sentence for text in texts for sentence in _sentences(text)}
    old_hosts, quotes = hosts | find_hosts(old), {(threat.kind, threat.quote) for threat in find_threats(old)}
    old_orders = {_order(sentence, tools) for sentence in old_sentences}
    for path, text in list_strings(new):
        fresh = [] if text in texts else [sentence for sentence in _sentences(text) if sentence not in old_sentences]
        if not fresh:
            continue
        threats = [threat for threat in find_threats("\n".join(fresh)) if (threat.kind, threat.quote) not in quotes]
        for threat in threats:
            yield Deviation(path, f"the text {threat.kind}: {threat.quote!r}", _changes()[threat.kind])
        if not any(_changes()[threat.kind] == "new-imperative" for threat in threats):
            first = next(
                (sentence for sentence in fresh if (order := _order(sentence, tools)) and order not in old_orders), None
            )
            if first:
                yield Deviation(path, f"new order: {cut_quote(first)!r}", "new-imperative")
        for host in sorted({*_hosts_in(path, text)} - old_hosts):
            yield Deviation(path, f"new host: {host!r}", "new-host")


def _sentences(text: str) -> Iterator[str]:
    return (joined for part in _PATTERNS.sentence_end.split(text) if (joined := " ".join(part.split())))


def _order(sentence: str, tools: AbstractSet[str]) -> tuple[str, str] | None:
    """Return what a sentence tells the agent to do beyond this call: the word that orders, and what it reaches."""
    patterns = _order_patterns()
    main = patterns["condition"].sub(" ", sentence)
    duty = patterns["duty"].search(main)
    word = _word(duty or patterns["reader"].search(main)) or next(_imperatives(sentence), "")
    target = _word(patterns["file"].search(sentence) or patterns["reach"].search(main))
    called = (call[1] for call in patterns["call"].finditer(main) if duty and call[1] in tools)
    reached = target or next(called, "")
    return (word, reached) if word and reached else None


def _word(match: re.Match[str] | None) -> str:
    return match[0].lower() if match else ""


def _imperatives(sentence: str) -> Iterator[str]:
    """Words that begin a clause as a bare verb does: a known one, or any before a determiner."""
    patterns = _order_patterns()
    yield from (
        word for clause in patterns["clause"].finditer(sentence) if LEMMAS.get(word := clause[1].lower()) == word
    )
    opening = patterns["opening"].match(sentence)
    if opening and opening[1].lower() not in STOPWORDS and not opening[1].endswith(("s", "ing", "ed", "lly")):
        yield opening[1].lower()


@cache
def _order_patterns() -> dict[str, re.Pattern[str]]:
    return {name: re.compile(source, re.IGNORECASE) for name, source in read_table("threats")["orders"].items()}


def _hosts_in(path: str, text: str) -> Iterator[str]:
    if ("://" not in text and "@" not in text) or path.endswith(_NAMES_ONLY):
        return
    for match in _PATTERNS.host.finditer(text):
        host = match[1].lower()
        if "." in host and not _PATTERNS.reserved.search(host):
            yield host
