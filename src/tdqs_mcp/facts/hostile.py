"""What the strings of a definition try to do to the agent, the judge or the client that reads them."""

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache

from tdqs_mcp.facts.disguise import ATBASH, LEET, UNSEEN, disguises, latin, plain
from tdqs_mcp.facts.marks import is_marked, marks
from tdqs_mcp.facts.ploys import CONCEPTS, HINTS, PHRASES, SAYINGS, Ploy
from tdqs_mcp.facts.surfaces import Surface, strings, surfaces
from tdqs_mcp.model.catalog import Catalog, Prompt, Resource, Tool

Part = Tool | Resource | Prompt | None
"""What a threat stands in; None is the server itself."""

MAX_QUOTE = 60
"""Characters of a definition's text that a threat quotes."""

MAX_THREATS = 50
"""Threats of one part that are listed; a text made of nothing else needs no longer list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threat:
    """One attempt at one place."""

    ploy: Ploy
    path: str
    """JSON pointer inside the part."""

    quote: str
    """The words, without their disguise and cut at MAX_QUOTE characters."""

    disguise: str | None = None
    """How they were made hard to see; None where they stand in plain text."""

    is_mild: bool = False
    """It may be an accident: a stray character that came along when a text was copied."""


AIMED_AT_A_MODEL = frozenset({Ploy.JUDGE, Ploy.OVERRIDE, Ploy.TURN, Ploy.ENCODED})
"""What an LLM judge that reads the definition could obey."""


def addresses_judge(part: Tool | Resource | Prompt) -> bool:
    """Some string of the definition speaks to whoever judges it, or could make a model that reads it obey.

    To be asked before a definition is sent to an LLM judge. A stray unseen character alone does not count, text smuggled
    in such characters does.
    """
    return any(threat.ploy in AIMED_AT_A_MODEL for threat in threats(part.raw))


def located(catalog: Catalog) -> tuple[tuple[Part, Threat], ...]:
    """The threats of everything that a server offers, its own words first."""
    parts: list[tuple[Part, object]] = [
        (None, {"serverInfo": catalog.server_info or {}, "instructions": catalog.instructions or ""})
    ]
    parts += [(part, part.raw) for part in (*catalog.tools, *(catalog.resources or ()), *(catalog.prompts or ()))]
    return tuple((part, threat) for part, raw in parts for threat in threats(raw))


def threats(raw: object) -> tuple[Threat, ...]:
    """What the strings of one part try, in one linear pass that most parts leave early."""
    texts = strings(raw)
    blob = "\n".join(texts)
    words = set(blob.lower().translate(_SPACED).split()) if blob.isascii() else _words(blob)
    sayings = _possible(words)
    is_odd = _is_odd(blob, words)
    has_marks = is_marked(blob)
    if not (sayings or is_odd or has_marks):
        return ()
    read = tuple(surfaces(raw))
    found: list[Threat] = []
    if has_marks:
        found += _marked(read)
    if sayings:
        found += _said(read, sayings)
    if is_odd:
        found += _disguised(read)
    return tuple(_distinct(found))


# Concepts: a word is a set of bits.

_BIT = {concept: 1 << place for place, concept in enumerate(CONCEPTS)}
_EXACT: dict[str, int] = {}
_PREFIXES: dict[str, int] = {}
for _concept, _entries in CONCEPTS.items():
    for _entry in plain(_entries.replace("*", "\0")).split():
        _table = _PREFIXES if _entry.endswith("\0") else _EXACT
        _table[_entry.rstrip("\0")] = _table.get(_entry.rstrip("\0"), 0) | _BIT[_concept]

_RUN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_PHRASE = re.compile(
    "|".join(sorted((word for word in {*_EXACT, *_PREFIXES} if _RUN.fullmatch(word)), key=len, reverse=True))
)
"""What is looked for inside the runs of scripts that write without spaces."""


@lru_cache(maxsize=50_000)
def _concepts(word: str) -> int:
    """The bits of a plain word, whatever prefix or article it carries."""
    bits = _EXACT.get(word, 0)
    if len(word) > 2:
        for size in range(2, min(len(word), 24) + 1):
            bits |= _PREFIXES.get(word[:size], 0)
        if not bits and not word.isascii() and word[:2] in _ARTICLES:
            return _concepts(word[2:])
        if not bits and not word.isascii() and word[:1] in _CLITICS and len(word) > 3:
            return _concepts(word[1:])
    return bits


_ARTICLES = frozenset({"ال", "لل", "وا", "با", "كا", "فا"})
_CLITICS = frozenset("وفبلك")


# Sayings: concepts near each other.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saying:
    ploy: Ploy
    chain: tuple[int, ...]
    """Concepts in this order."""

    free: tuple[int, ...]
    """Concepts anywhere near them."""

    span: int
    """Words from the first to the last."""

    @property
    def elements(self) -> tuple[int, ...]:
        return self.chain + self.free


def _parse(ploy: Ploy, line: str) -> _Saying:
    """`a > b + c|d @9`: a before b, and c or d near them, within nine words."""
    words, _, span = line.partition("@")
    elements = [_either(element) for element in re.split("[>+]", words)]
    ordered = 1 + words.partition("+")[0].count(">")
    chain = 0 if ordered == 1 else ordered
    return _Saying(ploy=ploy, chain=tuple(elements[:chain]), free=tuple(elements[chain:]), span=int(span))


def _either(element: str) -> int:
    bits = 0
    for concept in element.split("|"):
        bits |= _BIT[concept.strip()]
    return bits


_SAYINGS = tuple(_parse(ploy, line) for ploy, text in SAYINGS.items() for line in text.split("\n") if line.strip())
_PHRASES = re.compile("|".join(f"(?P<{concept}>{pattern})" for concept, pattern in PHRASES.items()))
_HINTS = {_BIT[concept]: frozenset(words.split()) for concept, words in HINTS.items()}


def _possible(words: AbstractSet[str]) -> tuple[_Saying, ...]:
    """The sayings all of whose concepts occur."""
    bits = 0
    for mask in set(map(_concepts, words)):
        bits |= mask
    for concept, hints in _HINTS.items():
        if not hints.isdisjoint(words):
            bits |= concept
    return _sayable(bits)


@lru_cache(maxsize=10_000)
def _sayable(bits: int) -> tuple[_Saying, ...]:
    return tuple(saying for saying in _SAYINGS if all(bits & element for element in saying.elements))


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A word that carries a concept."""

    place: int
    """In words; the end of a sentence counts as two, the end of a string as four."""

    bits: int
    start: int
    end: int


_TOKEN = re.compile(r"[^\W_]+|[.!?;。！？\n]|\x00")
_PAUSES = {"\0": 4, "\n": 1}


def _spoken(text: str) -> list[_Spoken]:
    """The words of a plain text that carry a concept, phrases first."""
    found = []
    place = 0
    begin = 0
    for phrase in [*_PHRASES.finditer(text), None]:
        stop = phrase.start() if phrase else len(text)
        for token in _TOKEN.finditer(text, begin, stop):
            word = token[0]
            if not word[0].isalnum():
                place += _PAUSES.get(word, 2)
            elif word.isascii() or not _RUN.search(word):
                place += 1
                if bits := _concepts(word):
                    found.append(_Spoken(place, bits, token.start(), token.end()))
            else:
                for run in _PHRASE.finditer(word):
                    place += 1
                    bits = _EXACT.get(run[0], 0) | _PREFIXES.get(run[0], 0)
                    found.append(_Spoken(place, bits, token.start() + run.start(), token.start() + run.end()))
                place += 1
        if phrase:
            place += 1
            found.append(_Spoken(place, _BIT[phrase.lastgroup or ""], phrase.start(), phrase.end()))
            begin = phrase.end()
    return found


def _heard(text: str, sayings: Iterable[_Saying]) -> Iterator[tuple[Ploy, int, int]]:
    """The ploys of a plain text and where each first stands, one for each saying."""
    spoken = _spoken(text)
    for saying in sayings:
        relevant = _either_of(saying.elements)
        words = [word for word in spoken if word.bits & relevant]
        if match := _first(words, saying):
            yield saying.ploy, min(word.start for word in match), max(word.end for word in match)


def _either_of(elements: Iterable[int]) -> int:
    bits = 0
    for element in elements:
        bits |= element
    return bits


def _first(words: Sequence[_Spoken], saying: _Saying) -> tuple[_Spoken, ...] | None:
    """The first words that say it."""
    oldest = 0
    last = dict.fromkeys(saying.elements, -1)
    for index, word in enumerate(words):
        for element in last:
            if word.bits & element:
                last[element] = word.place
        while words[oldest].place < word.place - saying.span:
            oldest += 1
        if min(last.values()) >= words[oldest].place and index - oldest + 1 >= len(saying.elements):
            if match := _assigned(words[oldest : index + 1], saying.elements, len(saying.chain)):
                return match
    return None


def _assigned(
    window: Sequence[_Spoken], elements: Sequence[int], chained: int, taken: tuple[_Spoken, ...] = ()
) -> tuple[_Spoken, ...] | None:
    """A different word for each concept, those of the chain in order."""
    number = len(taken)
    if number == len(elements):
        return taken
    after = taken[-1].place if 0 < number < chained else -1
    for word in window:
        if word.bits & elements[number] and word.place > after and word not in taken:
            if match := _assigned(window, elements, chained, (*taken, word)):
                return match
    return None


def _said(read: Sequence[Surface], sayings: Iterable[_Saying]) -> Iterator[Threat]:
    """What the texts of a part say together: an order may be spread over several of them."""
    texts = [plain(surface.text) for surface in read if _is_speech(surface)]
    speakers = [surface for surface in read if _is_speech(surface)]
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text) + 1)
    blob = "\0".join(texts)
    for ploy, start, end in _heard(blob, sayings):
        speaker = speakers[bisect_right(starts, start) - 1]
        yield Threat(ploy=ploy, path=speaker.path, quote=_quote(blob[start:end].replace("\0", " … ")))


def _is_speech(surface: Surface) -> bool:
    return surface.is_prose or len(surface.text) >= MIN_SENTENCE


MIN_SENTENCE = 16
"""Characters from which a property's name can be a sentence; shorter ones are names."""


# Disguises.


def _words(blob: str) -> set[str]:
    """The plain words of a text that is not all ASCII, with the phrases that its unspaced runs hold."""
    read = plain(blob)
    words = set(read.translate(_SPACED).split())
    unspaced = {word for word in words if not word.isascii() and _RUN.search(word)}
    for word in unspaced:
        words.update(_PHRASE.findall(word))
    return words


_SPACED = str.maketrans(
    {char: " " for char in "\"#%&()+,-./:;<=>?@[\\]^_{|}!$\u2014\u2013\u201c\u201d\u3001\u3002\uff0c\uff1a\u00bf\u00a1"}
    | dict.fromkeys("'`*~")
)

_TELLING = (
    "ignore previous instruction instructions highest maximum perfect rating evaluator grader evaluating evaluate "
    "definition assign dimension dimensions scores reviewer system secret conversation password mention disregard "
    "judge score award excellent prompt"
).split()
_CIPHERS = frozenset(
    cipher
    for word in _TELLING
    for cipher in (word[::-1], codecs.encode(word, "rot13"), word.translate(ATBASH))
)
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_ODD_SIGNS = re.compile(r"%[0-9a-f]{2}%[0-9a-f]{2}|&#|&\w{2,6};|\\[xu][0-9a-f]{2}", re.IGNORECASE)
_STYLED = re.compile("[\uff01-\uff5e\u2460-\u24ff\u1d00-\u1d7f\u0250-\u02af\U0001d400-\U0001d7ff\U0001f130-\U0001f1ff]")
_MIXED = re.compile("[a-z][\u0370-\u052f\u0531-\u0587]|[\u0370-\u052f\u0531-\u0587][a-z]", re.IGNORECASE)


def _is_odd(blob: str, words: AbstractSet[str]) -> bool:
    """Something may stand there in disguise."""
    if not _CIPHERS.isdisjoint(words) or len(_LETTERS & words) >= 6:
        return True
    if any(_is_coded(word) for word in words if not word.isalpha() or len(word) >= 20):
        return True
    if ("%" in blob or "&" in blob or "\\" in blob) and _ODD_SIGNS.search(blob):
        return True
    return not blob.isascii() and bool(UNSEEN.search(blob) or _STYLED.search(blob) or _MIXED.search(blob) or _CYRILLIC.search(blob))


_CYRILLIC = re.compile("[\u0370-\u052f]")


@lru_cache(maxsize=20_000)
def _is_coded(word: str) -> bool:
    """A word that may be base64, hexadecimal, bits, or letters with digits among them."""
    if len(word) >= 20:
        return True
    if word.isdigit():
        return len(word) == 8 and set(word) <= {"0", "1"}
    return word.translate(LEET) in _LEETED


_LEETED = frozenset(_TELLING) | {"scores", "top", "give", "rate", "tool", "best", "instructions", "all"}


def _disguised(read: Iterable[Surface]) -> Iterator[Threat]:
    """What a string says when its disguise is off and does not say with it on."""
    for surface in read:
        if len(surface.text) < MIN_DISGUISED:
            continue
        openly: set[Ploy] | None = None
        for name, text in disguises(surface.text):
            folded = latin(text)
            for ploy, start, end in _heard(folded, _possible(_words(folded))):
                openly = _openly(surface.text) if openly is None else openly
                if ploy not in openly:
                    quote = _quote(folded[start:end])
                    yield Threat(ploy=ploy, path=surface.path, quote=quote, disguise=name)
                    yield Threat(ploy=Ploy.ENCODED, path=surface.path, quote=quote, disguise=name)


def _openly(text: str) -> set[Ploy]:
    read = plain(text)
    return {ploy for ploy, _, _ in _heard(read, _possible(_words(read)))}


MIN_DISGUISED = 12
"""Characters from which a string can hold an order in disguise."""


def _marked(read: Iterable[Surface]) -> Iterator[Threat]:
    for surface in read:
        if is_marked(surface.text):
            for mark in marks(surface.text):
                yield Threat(ploy=mark.ploy, path=surface.path, quote=_quote(mark.quote), is_mild=mark.is_mild)


def _quote(text: str) -> str:
    line = " ".join(text[: 4 * MAX_QUOTE].split())
    return f"{line[:MAX_QUOTE]}…" if len(line) > MAX_QUOTE else line


def _distinct(found: Iterable[Threat]) -> Iterator[Threat]:
    """One threat for each ploy and place, plain words before disguised ones, at most MAX_THREATS."""
    seen: dict[tuple[Ploy, str], Threat] = {}
    for threat in found:
        if len(seen) < MAX_THREATS:
            seen.setdefault((threat.ploy, threat.path), threat)
    yield from seen.values()
