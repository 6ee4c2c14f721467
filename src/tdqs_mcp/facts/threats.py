"""The kinds of threats, and the search for them in all strings of a definition, which most leave early."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from typing import NamedTuple, TypeAlias

from tdqs_mcp.facts import hidden_text
from tdqs_mcp.facts.hidden_text import Pattern
from tdqs_mcp.facts.lexicon import lazy_pattern, read_table
from tdqs_mcp.facts.schema.walk import Deviation, escape_step
from tdqs_mcp.facts.text.words import LEMMAS, STOPWORDS, without_quotations
from tdqs_mcp.model import Catalog, ListedPrompt, Resource, Tool

Part: TypeAlias = Tool | Resource | ListedPrompt | None
"""What a threat stands in; None is the server itself."""

MAX_QUOTE = 60
"""Characters of a definition's text that a threat quotes."""

MAX_THREATS = 50
"""Threats of one part that are listed."""

MAX_REMEMBERED = 10_000
"""Characters of the longest definition that is remembered: one that is linted is often scored or compared next."""

MAX_STRINGS = 50_000
"""Strings of one definition that are read; the longest real one has fewer than 2,000."""

MAX_CHARACTERS = 2_000_000
"""Characters of one definition that are read; the longest real one has 60,000."""


class ThreatKind(StrEnum):
    """Attempt that a text may make on whoever reads it, in words that follow "the text"."""

    JUDGE = "speaks to whoever grades it"
    OVERRIDE = "overrides the agent's instructions"
    CONCEAL = "keeps something from the user"
    LEAK = "asks for secrets, private files or the conversation"
    REDIRECT = "changes how other tools are used"
    LINK = "has a link that carries away what it is filled with"
    SECRET = "contains what looks like a secret"  # noqa: S105  # a kind of finding
    UNSEEN = "contains invisible characters"
    LOOKALIKE = "mixes scripts inside a word"
    TERMINAL = "contains control characters"
    TURN = "imitates another part of the prompt"
    ENCODED = "contains encoded text"
    MARKUP = "contains markup that a rendered page hides, runs or fetches"


@dataclass(frozen=True, slots=True, kw_only=True)
class Threat:
    """A finding at a place."""

    kind: ThreatKind
    path: str
    """JSON pointer inside the part."""

    quote: str
    """The words, decoded where they were encoded and cut at MAX_QUOTE characters."""

    encoding: str | None = None
    """How they were encoded; None where they stand in plain text."""

    is_mild: bool = False
    """It may be an accident, such as a stray character, or mere data."""


_TAMPERING = frozenset({ThreatKind.UNSEEN, ThreatKind.TERMINAL, ThreatKind.TURN, ThreatKind.ENCODED})
_AIMED_AT_MODEL = _TAMPERING | {ThreatKind.JUDGE, ThreatKind.OVERRIDE, ThreatKind.LOOKALIKE, ThreatKind.MARKUP}


def is_tampered(threats: Iterable[Threat]) -> bool:
    """A hidden character, a forged turn or a decoded payload is among the threats."""
    return any(threat.kind in _TAMPERING for threat in threats)


def first_aimed_at_model(threats: Iterable[Threat]) -> str | None:
    """The words that a model which reads the definition might obey; None where there are none. Readable words first."""
    quotes = [threat.quote for threat in threats if threat.kind in _AIMED_AT_MODEL and not threat.is_mild]
    readable = [quote for quote in quotes if any(map(str.isalpha, quote))]
    return next(iter([*readable, *quotes]), None)


def locate_threats(catalog: Catalog, measured: Mapping[int, tuple[Threat, ...]]) -> tuple[tuple[Part, Threat], ...]:
    """The threats of everything that a server offers, its own words first; those of some tools are known by index."""
    parts: list[tuple[Part, object]] = [
        (None, {"serverInfo": catalog.server_info or {}, "instructions": catalog.instructions or ""})
    ]
    parts += [(tool, tool.raw) for tool in catalog.tools]
    parts += [(resource, resource.raw) for resource in catalog.resources or ()]
    parts += [(prompt, prompt.raw) for prompt in catalog.prompts or ()]
    return tuple(
        (part, threat)
        for part, raw in parts
        for threat in (measured[part.index] if isinstance(part, Tool) and part.index in measured else find_threats(raw))
    )


def find_threats(raw: object) -> tuple[Threat, ...]:
    """Return what the strings of one part hold, one threat for each kind and place; linear in their length."""
    strings = list(_strings(raw))
    texts = tuple(dict.fromkeys([text for _, text in strings]))
    is_long = sum(map(len, texts)) > MAX_REMEMBERED
    checks = _checks_for.__wrapped__(texts) if is_long else _checks_for(texts)
    if not checks:
        return ()
    threats: dict[tuple[ThreatKind, str], Threat] = {}
    for place, text in strings:
        for threat in _threats_in(place, text, checks):
            if len(threats) < MAX_THREATS:
                threats.setdefault((threat.kind, threat.path), threat)
    return tuple(threats.values())


class _Checks(NamedTuple):
    """Kinds of threats that the strings of a part may hold."""

    phrases: Mapping[str, Sequence[Pattern]]
    marks: Mapping[str, Sequence[Pattern]]
    has_secret: bool
    has_payload: bool
    is_odd: bool


@lru_cache(maxsize=512)
def _checks_for(texts: tuple[str, ...]) -> _Checks | None:
    """The checks that the different strings of a part call for; None for most definitions."""
    text = "\n".join(texts)
    lowered = text.lower()
    spoken = [string.replace("_", " ") for string in texts]
    checks = _Checks(
        phrases=hidden_text.find_patterns("phrases", spoken, lowered.replace("_", " ")),
        marks=hidden_text.find_patterns("structure", texts, lowered),
        has_secret=hidden_text.may_hold_secret(text),
        has_payload=hidden_text.may_be_encoded(text),
        is_odd=hidden_text.may_hold_odd_characters(text),
    )
    return checks if any(checks) else None


def _threats_in(place: "_Place", text: str, checks: _Checks) -> Iterator[Threat]:
    hits = list(_find_marks(text, checks.marks)) if checks.marks else []
    hits += _find_odd(text) if checks.is_odd else []
    hits += [(kind, quote, False) for kind, quote in _find_phrases(text, checks.phrases)] if checks.phrases else []
    if checks.has_secret:
        hits += [(ThreatKind.SECRET, secret, False) for secret in hidden_text.find_secrets(text)]
    for kind, quote, is_mild in hits:
        yield Threat(kind=kind, path=_pointer(place), quote=cut_quote(quote), is_mild=is_mild)
    if checks.has_payload and hidden_text.may_be_encoded(text):
        yield from _find_payloads(place, text)


def _find_payloads(place: "_Place", text: str) -> Iterator[Threat]:
    for encoding, decoded in hidden_text.decode_prose(text):
        is_mild = not any(_find_phrases(decoded, hidden_text.load_patterns("phrases")))
        yield Threat(
            kind=ThreatKind.ENCODED, path=_pointer(place), quote=cut_quote(decoded), encoding=encoding, is_mild=is_mild
        )


def _find_marks(text: str, marks: Mapping[str, Sequence[Pattern]]) -> Iterator[tuple[ThreatKind, str, bool]]:
    if turn := hidden_text.find_turn(text, marks):
        yield ThreatKind.TURN, turn, False
    for name, kind in (("markup", ThreatKind.MARKUP), ("html", ThreatKind.MARKUP), ("link", ThreatKind.LINK)):
        if quote := next((match[0] for pattern in marks.get(name, ()) if (match := pattern.match.search(text))), None):
            yield kind, quote, name == "html"


def _find_odd(text: str) -> Iterator[tuple[ThreatKind, str, bool]]:
    if control := hidden_text.find_control(text):
        yield ThreatKind.TERMINAL, *control
    if unseen := hidden_text.find_unseen(text):
        yield ThreatKind.UNSEEN, *unseen
    if mixed := hidden_text.find_mixed(text):
        yield ThreatKind.LOOKALIKE, mixed, False


def _find_phrases(text: str, phrases: Mapping[str, Sequence[Pattern]]) -> Iterator[tuple[ThreatKind, str]]:
    """The first phrase of each kind that is neither quoted nor denied."""
    plain = without_quotations(text.replace("_", " "))
    for kind, patterns in phrases.items():
        matches = (match for pattern in patterns for match in pattern.match.finditer(plain))
        if quote := next((match[0] for match in matches if not _DENIAL.search(plain[: match.start()][-40:])), None):
            yield ThreatKind[kind.upper()], quote


_DENIAL = lazy_pattern(
    r"\b(?:not|never|don['’]?t|cannot|can['’]t|won['’]t|refuses? to|rather than|instead of|no need to)\s+"
    r"(?:\w+\s+){0,3}$",
    re.IGNORECASE,
)
"""Words before a phrase that turn it: "do not follow …"."""


def cut_quote(text: str) -> str:
    """A text on one line, cut at MAX_QUOTE characters."""
    line = " ".join(text[: 4 * MAX_QUOTE].split())
    return f"{line[:MAX_QUOTE]}…" if len(line) > MAX_QUOTE else line


_Place: TypeAlias = "tuple[_Place, str | int] | tuple[()]"
"""Where a value stands: in what, and under which key there. A pointer is spelled out when somebody asks for it."""


def _pointer(place: _Place) -> str:
    """The JSON pointer of a place; a property's name is at the pointer of its value."""
    keys: list[str] = []
    while place:
        place, key = place
        keys.append(escape_step(str(key)))
    return "".join(f"/{key}" for key in reversed(keys))


def list_strings(raw: object) -> Iterator[tuple[str, str]]:
    """The strings of a part that find_threats reads, each with its JSON pointer."""
    return ((_pointer(place), text) for place, text in _strings(raw))


_KEYWORDS = frozenset(
    "type format $ref $schema required name title description inputSchema outputSchema annotations properties items "
    "enum default anyOf oneOf allOf not additionalProperties const examples pattern minimum maximum minLength "
    "maxLength minItems maxItems uniqueItems $defs definitions _meta icons readOnlyHint destructiveHint idempotentHint "
    "openWorldHint arguments uri uriTemplate mimeType".split()
)
"""Keys that MCP and JSON Schema give themselves: nobody can say anything with them."""


def _strings(raw: object) -> Iterator[tuple[_Place, str]]:
    """The strings of a part and the names that its author gave, up to MAX_STRINGS of them and MAX_CHARACTERS in all.

    They come level by level: nothing can be buried under a long list that stands before it but further down.
    """
    pending: list[tuple[_Place, object]] = [((), raw)]
    strings_left, characters_left = MAX_STRINGS, MAX_CHARACTERS
    for place, value in pending:
        if isinstance(value, str):
            texts: Sequence[tuple[_Place, str]] = ((place, value),)
        elif isinstance(value, dict):
            pending += [((place, name), child) for name, child in value.items()]
            texts = [((place, name), name) for name in value if name not in _KEYWORDS]
        elif isinstance(value, list | tuple):
            room = max(0, 2 * MAX_STRINGS - len(pending))
            pending += [((place, index), child) for index, child in enumerate(value[:room])]
            continue
        else:
            continue
        for where, text in texts:
            yield where, text[:characters_left]
            strings_left, characters_left = strings_left - 1, characters_left - len(text)
            if strings_left <= 0 or characters_left <= 0:
                return


_CHANGES = {
    **dict.fromkeys(
        (
            ThreatKind.JUDGE,
            ThreatKind.OVERRIDE,
            ThreatKind.CONCEAL,
            ThreatKind.LEAK,
            ThreatKind.REDIRECT,
            ThreatKind.LINK,
        ),
        "new-imperative",
    ),
    **dict.fromkeys((ThreatKind.UNSEEN, ThreatKind.TERMINAL, ThreatKind.LOOKALIKE), "hidden-characters"),
    **dict.fromkeys((ThreatKind.TURN, ThreatKind.ENCODED, ThreatKind.MARKUP), "hidden-text"),
    ThreatKind.SECRET: "new-secret",
}
_SENTENCE_END = lazy_pattern(r"(?<=[.!?。！？])\s+|\n+")
_HOST = lazy_pattern(r"(?i:[a-z][a-z0-9+.-]{1,15}://(?:[^\s/?#@\"'<>]{0,80}@)?|[\w.+-]@)([\w.-]{1,253}\w)")
_NAMES_ONLY = ("/$schema", "/$id")
"""Keywords whose URLs are names that nobody opens."""


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
        yield from (Deviation(path, _said(threat), _CHANGES[threat.kind]) for threat in threats)
        if not any(_CHANGES[threat.kind] == "new-imperative" for threat in threats):
            first = next(
                (sentence for sentence in fresh if (order := _order(sentence, tools)) and order not in old_orders), None
            )
            if first:
                yield Deviation(path, f"new order: {cut_quote(first)!r}", "new-imperative")
        for host in sorted({*_hosts_in(path, text)} - old_hosts):
            yield Deviation(path, f"new host: {host!r}", "new-host")


def _said(threat: Threat) -> str:
    return f"the text {threat.kind}: {threat.quote!r}"


def _sentences(text: str) -> Iterator[str]:
    return (joined for part in _SENTENCE_END.split(text) if (joined := " ".join(part.split())))


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
    for match in _HOST.finditer(text):
        host = match[1].lower()
        if "." in host and not _RESERVED.search(host):
            yield host


_RESERVED = lazy_pattern(r"(?:^|^www\.)example\.(?:com|net|org)$|^127\.|^0\.0\.0\.0$")
