"""What the texts of a new version bring that the old ones lack: orders to the agent, hosts, hidden characters."""

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import islice
from typing import NamedTuple

from tdqs_mcp.facts.text.vocabulary import lazy_pattern, read_table
from tdqs_mcp.facts.threats.detection import MAX_QUOTE, Kind, Threat, find_threats, list_strings

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


def find_additions(old: object, new: object, *, hosts: AbstractSet[str] = frozenset()) -> Iterator[Addition]:
    """What the strings of the new version say and those of the old one do not; `hosts` are known from elsewhere.

    Only new sentences count: what is moved, or joined in another order, is not new.
    """
    texts = {text for _, text in list_strings(old)}
    known = {sentence for text in texts for sentence in _sentences(text)}
    seen, quotes = hosts | find_hosts(old), {(each.kind, each.quote) for each in find_threats(old)}
    given = {order for sentence in known for order, _ in _orders(sentence)}
    for path, text in list_strings(new):
        fresh = [] if text in texts else [each for each in _sentences(text) if each not in known]
        if not fresh:
            continue
        threats = [each for each in find_threats("\n".join(fresh)) if (each.kind, each.quote) not in quotes]
        yield from (Addition(_CHANGES[each.kind], path, _said(each)) for each in threats)
        if not any(_CHANGES[each.kind] == "new-imperative" for each in threats):
            found = (said for sentence in fresh for order, said in _orders(sentence) if order not in given)
            yield from (Addition("new-imperative", path, f"it orders: {said!r}") for said in islice(found, 1))
        for host in sorted({*_hosts_in(path, text)} - seen):
            yield Addition("new-host", path, f"{host!r} was in no text before")


def _said(threat: Threat) -> str:
    return f"the text {threat.kind}: {threat.quote!r}"


def _sentences(text: str) -> Iterator[str]:
    return (joined for each in _SENTENCE_END.split(text) if (joined := " ".join(each.split())))


def _orders(sentence: str) -> Iterator[tuple[str, str]]:
    """What a sentence tells the agent to do, beside filling a parameter: the words of the order, and the sentence."""
    said = f"{sentence[:MAX_QUOTE]}…" if len(sentence) > MAX_QUOTE else sentence
    return ((found[0], said) for order in _order_patterns() if (found := order.search(sentence)))


@cache
def _order_patterns() -> tuple[re.Pattern[str], ...]:
    table = read_table("threats")["orders"]
    words = {name: source for name, source in table.items() if name != "patterns"}
    return tuple(re.compile(source.format(**words), re.IGNORECASE) for source in table["patterns"])


def _hosts_in(path: str, text: str) -> Iterator[str]:
    if ("://" not in text and "@" not in text) or path.endswith(_NAMES_ONLY):
        return
    for found in _HOST.finditer(text):
        host = found[1].lower()
        if "." in host and not _RESERVED.search(host):
            yield host


_RESERVED = lazy_pattern(r"(?:^|^www\.)example\.(?:com|net|org)$|^127\.|^0\.0\.0\.0$")
