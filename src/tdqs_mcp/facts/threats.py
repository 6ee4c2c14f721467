"""Threats in the strings of a definition: hidden, forged and hostile text, and what a next version says newly."""

import binascii
import re
import unicodedata
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote_to_bytes

from tdqs_mcp.canonical import is_shaped
from tdqs_mcp.facts.lexicon import PatternTable, lazy_pattern, read_table, words_from
from tdqs_mcp.facts.schema.walk import Deviation, all_texts, escape_step
from tdqs_mcp.facts.text.words import LEMMAS, STOPWORDS, without_quotations
from tdqs_mcp.model import Catalog, ListedPrompt, Resource, Tool

_PATTERNS = PatternTable("threats")

MAX_STRAY = 3
"""Stray zero-width or private characters of one string that may be an accident; a hidden message needs more."""

MIN_DISTINCT = 9
"""Different characters of a random key of 20; fewer stand in strings such as `sk-aaaaaaaaaaaaaaaaaaaa`."""


class Pattern(NamedTuple):
    """A pattern with groups of texts; one of each group stands in whatever it matches."""

    clues: tuple[tuple[str, ...], ...]
    match: re.Pattern[str]

    def may_match(self, lowered: str) -> bool:
        """It may match a text, given in lower case; the fast answer for most is no."""
        return all(any(map(lowered.__contains__, group)) for group in self.clues)


@cache
def load_patterns(table: str) -> Mapping[str, tuple[Pattern, ...]]:
    """The patterns of `phrases` or `structure` in the data file, by kind."""
    data = read_table("threats")

    def compile_later(pattern: str) -> re.Pattern[str]:
        return lazy_pattern(re.sub(r"\{([a-z_]+)\}", lambda name: data["words"][name[1]], pattern), re.IGNORECASE)

    return {
        kind: tuple(Pattern(tuple(map(tuple, entry["clues"])), compile_later(entry["match"])) for entry in entries)
        for kind, entries in data[table].items()
    }


def find_patterns(table: str, texts: Sequence[str], together: str) -> dict[str, tuple[Pattern, ...]]:
    """The patterns of a table that match one of some texts, by kind; `together` holds all texts in lower case."""
    matching: dict[str, list[Pattern]] = {}
    lowered: list[tuple[str, str]] = []
    for clues, patterns in _by_clues(table).items():  # many patterns share "<", which few texts have
        present = [clue for clue in clues if clue in together]
        if present:
            lowered = lowered or [(text, text.lower()) for text in texts]
            near = dict.fromkeys(pair for clue in present for pair in lowered if clue in pair[1])
            for kind, pattern in patterns:
                if any(pattern.may_match(lower) and pattern.match.search(text) for text, lower in near):
                    matching.setdefault(kind, []).append(pattern)
    return {kind: tuple(patterns) for kind, patterns in matching.items()}


@cache
def _by_clues(table: str) -> Mapping[tuple[str, ...], Sequence[tuple[str, Pattern]]]:
    """The patterns of a table with their kinds, by the first of their groups of clues."""
    alike: dict[tuple[str, ...], list[tuple[str, Pattern]]] = {}
    for kind, patterns in load_patterns(table).items():
        for pattern in patterns:
            alike.setdefault(pattern.clues[0], []).append((kind, pattern))
    return alike


# Secrets


@cache
def _secret_formats() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    formats = read_table("threats")["secrets"]["formats"]
    return tuple((sign, issuer, lazy_pattern(pattern)) for sign, issuer, pattern in formats)


@cache
def _placeholder() -> re.Pattern[str]:
    return re.compile(read_table("threats")["secrets"]["placeholder"], re.IGNORECASE)


def _keyed(texts: Sequence[str]) -> Iterator[str]:
    """The texts in which something in the format of a key stands, be it a placeholder; most catalogs have none."""
    together = "\n".join(texts)
    formats = [(sign, pattern) for sign, _, pattern in _secret_formats() if sign in together]
    return (text for text in texts if any(sign in text and pattern.search(text) for sign, pattern in formats))


def find_secrets(text: str) -> Iterator[str]:
    """Issuer and first letters of everything in the format of a key that is not a placeholder."""
    for sign, issuer, pattern in _secret_formats():
        if sign not in text:
            continue
        for match in pattern.finditer(text):
            secret = match.groupdict().get("secret")
            body = secret or match[0].partition("KEY-----")[2] or match[0][len(sign) :]
            if len(set(body)) >= MIN_DISTINCT and not _placeholder().search(body):
                yield f"{issuer} {match[0][: len(sign)]}…"
                break


_KEY_REST = re.compile(r"[\w+/=~-]*")
"""The end of a key of which a format describes the beginning."""


def hide_secrets(text: str) -> str:
    """Return the text with `***` for keys, placeholders too, and for values beside names such as `api_key`.

    Line breaks stay, so that line numbers do.
    """
    formats = [(sign, pattern) for sign, _, pattern in _secret_formats()]
    for sign, pattern in (*_hidden_formats(), *formats):
        text = _hide(pattern, text) if sign in text else text
    return text


@cache
def _hidden_formats() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((sign, lazy_pattern(pattern)) for sign, pattern in read_table("threats")["secrets"]["hidden"])


def _hide(pattern: re.Pattern[str], text: str) -> str:
    parts, end = [], 0
    for match in pattern.finditer(text):
        begin, stop = match.span("secret") if match.groupdict().get("secret") else match.span()
        rest = _KEY_REST.match(text, stop)
        stop = rest.end() if rest else stop
        if begin >= end:
            parts += [text[end:begin], "***", "\n" * text.count("\n", begin, stop)]
            end = stop
    return "".join([*parts, text[end:]])


# Forged turns


def find_turn(text: str, marks: Mapping[str, Sequence[Pattern]]) -> str | None:
    """The first mark that separates the parts of a prompt, or that ends a part which the text has not begun."""
    used = _PATTERNS.template_marker.sub("", text)
    for mark in marks.get("turn", ()):
        if match := mark.match.search(used):
            return match[0].strip()
    opened: dict[str, int] = {}
    for opening in _PATTERNS.opening.finditer(text) if "closing" in marks else ():
        opened.setdefault(opening[1].lower(), opening.start())
    for closing in (end for mark in marks.get("closing", ()) for end in mark.match.finditer(text)):
        if closing.start() < opened.get(closing[1].lower(), len(text)):
            return str(closing[0])
    return None


# Characters


def may_hold_odd_characters(text: str) -> bool:
    """Control, unseen or mixed letters may stand in a text; printable ASCII has none."""
    if text.isascii():
        return not (text.isprintable() or text.translate(_WITHOUT_BREAKS).isprintable())
    return _PATTERNS.control.search(text) is not None or _PATTERNS.strange.search(text) is not None


_WITHOUT_BREAKS = dict.fromkeys(map(ord, "\n\t\r"))


def find_control(text: str) -> tuple[str, bool] | None:
    """The first characters that a terminal obeys, and False; else of another control character, and True."""
    for pattern, is_mild in ((_PATTERNS.obeyed, False), (_PATTERNS.control, True)):
        if match := pattern.search(text):
            return text[match.start() : match.start() + 12], is_mild
    return None


def find_unseen(text: str) -> tuple[str, bool] | None:
    """The first unseen character with what stands around it, and whether all of them may be an accident."""
    if text.isascii():
        return None
    places = [match.start() for match in _PATTERNS.unseen.finditer(text) if not _has_purpose(text, match.start())]
    places += [match.start() for match in _PATTERNS.private.finditer(text)]
    if not places:
        return None
    is_mild = len(places) <= MAX_STRAY and all(
        text[place] in _STRAY or _PATTERNS.private.match(text[place]) for place in places
    )
    return text[max(0, places[0] - 10) : places[0] + 10], is_mild


def find_mixed(text: str) -> str | None:
    """The first word of Latin letters and such of another script that look like them."""
    if text.isascii() or not _PATTERNS.border.search(text):
        return None
    for word in _PATTERNS.letters.finditer(text):
        if (
            len(_PATTERNS.latin.findall(word[0])) > 1
            and _PATTERNS.lookalike.search(word[0])
            and _PATTERNS.border.search(word[0])
        ):
            return str(word[0])
    return None


def _has_purpose(text: str, place: int) -> bool:
    """It joins an emoji, shapes a letter of a script that needs it, or begins the text as a byte order mark."""
    char = text[place]
    before = text[place - 1] if place else ""
    if char in "\ufe0e\ufe0f":
        # a variation selector behind a letter shapes nothing
        is_letter = before.isalpha() and before not in _SIGNS
        return bool(before) and not is_letter and before not in " \n" and not _PATTERNS.unseen.match(before)
    if char in "\u200c\u200d":
        return bool(before) and (unicodedata.category(before)[0] == "S" or before == "\ufe0f" or is_shaped(before))
    if char in "\u200e\u200f\u061c":
        nearby = text[max(0, place - 20) : place + 20]
        return any(
            unicodedata.bidirectional(neighbor) in ("R", "AL")
            for neighbor in nearby
            if not _PATTERNS.unseen.match(neighbor)
        )
    # tags behind a black flag spell a region: the flag of Scotland
    if "\U000e0020" <= char <= "\U000e007f":
        return "\U0001f3f4" in text[max(0, place - 7) : place]
    return char == "\ufeff" and place == 0


_SIGNS = frozenset("\u2139\u24c2\u3030\u303d")
"""Letters by their category that are shown as emoji."""

_STRAY = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0e\ufe0f")
MIN_RUN = 24
"""Characters of an encoded run that can hold a sentence."""

MIN_ENCODED = 13
"""Characters of the shortest encoded run, `a%20b%20c%20d`; no run holds white space."""

MAX_RUNS = 40
"""Runs of one text that are decoded: an instruction needs one, a screenful of hashes has hundreds."""

MAX_RUN = 20_000
"""Characters of a run that are decoded."""

MIN_WORDS = 3
"""Words of a decoded text that make it prose and no value."""

MIN_LETTERS = 80
"""Percent of letters and spaces in prose; JSON, addresses and identifiers have fewer."""


_LONG_WORD = lazy_pattern(rf"\S{{{MIN_RUN},}}")
_DENSE = lazy_pattern(rf"\S{{{MIN_ENCODED}}}")


def may_be_encoded(text: str) -> bool:
    """Some run of a text may be encoded; the fast answer for most is no."""
    return (
        ("\\x" in text and _PATTERNS.escapes.search(text) is not None)
        or ("&#" in text and _PATTERNS.references.search(text) is not None)
        or ("%" in text and (_PATTERNS.percent.search(text) or _PATTERNS.percent_words.search(text)) is not None)
        or any(_PATTERNS.run.search(word) for word in _LONG_WORD.findall(text))
    )


def decode_prose(text: str) -> Iterator[tuple[str, str]]:
    """The encoding and the text of every run that decodes to readable prose."""
    left = MAX_RUNS
    words = [word for word in text.split() if len(word) >= MIN_ENCODED]
    for encoding, pattern, decode in _ENCODINGS:
        for run in (run for word in words for run in getattr(_PATTERNS, pattern).finditer(word)):
            left -= 1
            if left < 0:
                return
            read = _as_text(decode, run[0][:MAX_RUN])
            if _is_prose(read):
                yield encoding, read


def _as_text(decode: Callable[[str], bytes], run: str) -> str:
    try:
        return decode(run).decode()
    except (ValueError, OverflowError):
        return ""


def _is_prose(text: str) -> bool:
    """Words between spaces, nearly all of it letters; of a script without spaces, letters alone."""
    letters = sum(char.isalpha() or char.isspace() for char in text)
    is_spaced = len(text.split()) >= MIN_WORDS or (not text.isascii() and len(text) >= 2 * MIN_WORDS)
    return is_spaced and 100 * letters >= MIN_LETTERS * len(text) and text.replace("\n", " ").isprintable()


def _from_base64(run: str) -> bytes:
    if run.islower() or run.isupper():
        return b""  # an identifier
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    return b64decode(body[: len(body) - (len(body) % 4 == 1)] + "=" * (-len(body) % 4))


def _from_hex(run: str) -> bytes:
    return binascii.unhexlify(run.replace("\\x", ""))


def _from_references(run: str) -> bytes:
    numbers = re.findall(r"&#(x?)([0-9a-fA-F]+);", run)
    return "".join(chr(int(digits, 16 if is_hex else 10)) for is_hex, digits in numbers).encode()


_ENCODINGS: tuple[tuple[str, str, Callable[[str], bytes]], ...] = (
    ("hexadecimal", "hexadecimal", _from_hex),
    ("hexadecimal", "escapes", _from_hex),
    ("base64", "base64", _from_base64),
    ("percent-encoding", "percent_words", unquote_to_bytes),
    ("percent-encoding", "percent", unquote_to_bytes),
    ("character references", "references", _from_references),
)
"""Each encoding, its pattern in the data file, and how a run is decoded."""

Part: TypeAlias = Tool | Resource | ListedPrompt | None
"""Part of the catalog that a threat stands in; None is the server itself."""

MAX_QUOTE = 60
"""Characters of a definition's text that a threat quotes."""

MAX_THREATS = 50
"""Threats of one part that are listed."""

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


def parts_of(catalog: Catalog) -> list[tuple[Part, object]]:
    """Everything that a server offers, its own words first, each with its JSON."""
    server = {"serverInfo": catalog.server_info or {}, "instructions": catalog.instructions or ""}
    listed: list[Tool | Resource | ListedPrompt]
    listed = [*catalog.tools, *(catalog.resources or ()), *(catalog.prompts or ())]
    return [(None, server), *((part, part.raw) for part in listed)]


def locate_threats(parts: Sequence[tuple[Part, object]], texts: Sequence[str]) -> tuple[tuple[Part, Threat], ...]:
    """The threats of some parts but those in plain phrases, which inform judges alone.

    `texts` are all their different strings: what parts share is read once.
    """
    hostile = _hostile_texts(texts, {})
    return tuple((part, threat) for part, raw in parts for threat in _threats_of(raw, hostile)) if hostile else ()


def find_threats(raw: object) -> tuple[Threat, ...]:
    """Return what the strings of one part hold, one threat for each kind and place; linear in their length."""
    texts = tuple(dict.fromkeys(all_texts(raw)))
    spoken = [text.replace("_", " ") for text in texts]
    hostile = _hostile_texts(texts, find_patterns("phrases", spoken, "\n".join(spoken).lower()))
    return _threats_of(raw, hostile) if hostile else ()


def _threats_of(raw: object, hostile: Mapping[str, Sequence["_Attempt"]]) -> tuple[Threat, ...]:
    threats: dict[tuple[ThreatKind, str], Threat] = {}
    for place, text in _strings(raw):
        for attempt in hostile.get(text, ()):
            if len(threats) < MAX_THREATS:
                path = _pointer(place)
                threats.setdefault((attempt.kind, path), Threat(path=path, **attempt._asdict()))
    return tuple(threats.values())


class _Attempt(NamedTuple):
    """A threat without its place."""

    kind: ThreatKind
    quote: str
    is_mild: bool
    encoding: str | None = None


def _hostile_texts(texts: Sequence[str], phrases: Mapping[str, Sequence[Pattern]]) -> dict[str, list[_Attempt]]:
    """The texts with a threat, each with what it attempts; most definitions have none, which is told fast."""
    keywords = words_from("threats", "keywords")
    distinct = [text[:MAX_CHARACTERS] for text in texts if text not in keywords]
    checks = _checks_for(distinct, phrases)
    alone = checks.secrets | checks.payloads | checks.odd
    suspects = distinct if checks.phrases or checks.marks else filter(alone.__contains__, distinct)
    attempts = ((text, list(_attempts_in(text, checks))) for text in suspects)
    return {text: own for text, own in attempts if own}


class _Checks(NamedTuple):
    """Kinds of threats that the strings of a part may hold."""

    phrases: Mapping[str, Sequence[Pattern]]
    marks: Mapping[str, Sequence[Pattern]]
    secrets: frozenset[str]
    """Texts that may hold one; so for the two below."""

    payloads: frozenset[str]
    odd: frozenset[str]


def _checks_for(texts: Sequence[str], phrases: Mapping[str, Sequence[Pattern]]) -> _Checks:
    """The checks that some texts call for."""
    dense = [text for text in texts if len(text) >= MIN_ENCODED and _DENSE.search(text)]
    return _Checks(
        phrases=phrases,
        marks=find_patterns("structure", texts, "\n".join(texts).lower()),
        secrets=frozenset(_keyed(dense)),
        payloads=frozenset(filter(may_be_encoded, dense)),
        odd=frozenset(filter(may_hold_odd_characters, texts)),
    )


def _attempts_in(text: str, checks: _Checks) -> Iterator[_Attempt]:
    hits = list(_find_marks(text, checks.marks)) if checks.marks else []
    hits += _find_odd(text) if text in checks.odd else []
    hits += [(kind, quote, False) for kind, quote in _find_phrases(text, checks.phrases)] if checks.phrases else []
    if text in checks.secrets:
        hits += [(ThreatKind.SECRET, secret, False) for secret in find_secrets(text)]
    for kind, quote, is_mild in hits:
        yield _Attempt(kind, cut_quote(quote), is_mild)
    if text in checks.payloads:
        for encoding, decoded in decode_prose(text):
            is_mild = not any(_find_phrases(decoded, load_patterns("phrases")))
            yield _Attempt(ThreatKind.ENCODED, cut_quote(decoded), is_mild, encoding)


def _find_marks(text: str, marks: Mapping[str, Sequence[Pattern]]) -> Iterator[tuple[ThreatKind, str, bool]]:
    if turn := find_turn(text, marks):
        yield ThreatKind.TURN, turn, False
    for name, kind in (("markup", ThreatKind.MARKUP), ("html", ThreatKind.MARKUP), ("link", ThreatKind.LINK)):
        if quote := next((match[0] for pattern in marks.get(name, ()) if (match := pattern.match.search(text))), None):
            yield kind, quote, name == "html"


def _find_odd(text: str) -> Iterator[tuple[ThreatKind, str, bool]]:
    if control := find_control(text):
        yield ThreatKind.TERMINAL, *control
    if unseen := find_unseen(text):
        yield ThreatKind.UNSEEN, *unseen
    if mixed := find_mixed(text):
        yield ThreatKind.LOOKALIKE, mixed, False


def _find_phrases(text: str, phrases: Mapping[str, Sequence[Pattern]]) -> Iterator[tuple[ThreatKind, str]]:
    """The first phrase of each kind that is neither quoted nor denied."""
    plain = without_quotations(text.replace("_", " "))
    for kind, patterns in phrases.items():
        matches = (match for pattern in patterns for match in pattern.match.finditer(plain))
        if quote := next(
            (match[0] for match in matches if not _PATTERNS.denial.search(plain[: match.start()][-40:])), None
        ):
            yield ThreatKind[kind.upper()], quote


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


def _strings(raw: object) -> Iterator[tuple[_Place, str]]:
    """The strings of a part and the names that its author gave, up to MAX_STRINGS of them and MAX_CHARACTERS in all.

    They come level by level: nothing can be buried under a long list that stands before it but further down.
    """
    pending: list[tuple[_Place, object]] = [((), raw)]
    keywords = words_from("threats", "keywords")
    strings_left, characters_left = MAX_STRINGS, MAX_CHARACTERS
    for place, value in pending:
        if isinstance(value, str):
            texts: Sequence[tuple[_Place, str]] = ((place, value),)
        elif isinstance(value, dict):
            pending += [((place, name), child) for name, child in value.items()]
            texts = [((place, name), name) for name in value if name not in keywords]
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
    main = _PATTERNS.order_condition.sub(" ", sentence)
    duty = _PATTERNS.order_duty.search(main)
    word = _word(duty or _PATTERNS.order_reader.search(main)) or next(_imperatives(sentence), "")
    target = _word(_PATTERNS.order_file.search(sentence) or _PATTERNS.order_reach.search(main))
    called = (call[1] for call in _PATTERNS.order_call.finditer(main) if duty and call[1] in tools)
    reached = target or next(called, "")
    return (word, reached) if word and reached else None


def _word(match: re.Match[str] | None) -> str:
    return match[0].lower() if match else ""


def _imperatives(sentence: str) -> Iterator[str]:
    """Words that begin a clause as a bare verb does: a known one, or any before a determiner."""
    yield from (
        word for clause in _PATTERNS.order_clause.finditer(sentence) if LEMMAS.get(word := clause[1].lower()) == word
    )
    opening = _PATTERNS.order_opening.match(sentence)
    if opening and opening[1].lower() not in STOPWORDS and not opening[1].endswith(("s", "ing", "ed", "lly")):
        yield opening[1].lower()


def _hosts_in(path: str, text: str) -> Iterator[str]:
    if ("://" not in text and "@" not in text) or path.endswith(_NAMES_ONLY):
        return
    for match in _PATTERNS.host.finditer(text):
        host = match[1].lower()
        if "." in host and not _PATTERNS.reserved.search(host):
            yield host
