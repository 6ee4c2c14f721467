"""What the strings of a definition try to do to the agent, the judge or the client that reads them."""

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tdqs_mcp.facts.disguise import ATBASH, LEETS, disguises, latin, plain
from tdqs_mcp.facts.marks import is_marked, marks
from tdqs_mcp.facts.ploys import CLUES, CONCEPTS, HINTS, PHRASES, SAYINGS, Ploy
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

    To be asked before a definition is sent to an LLM judge. A stray unseen character alone does not count, a text
    smuggled in such characters does.
    """
    return any(threat.ploy in AIMED_AT_A_MODEL for threat in threats(part.raw))


def located(catalog: Catalog) -> tuple[tuple[Part, Threat], ...]:
    """The threats of everything that a server offers, its own words first."""
    parts: list[tuple[Part, object]] = [
        (None, {"serverInfo": catalog.server_info or {}, "instructions": catalog.instructions or ""})
    ]
    parts += [(tool, tool.raw) for tool in catalog.tools]
    parts += [(resource, resource.raw) for resource in catalog.resources or ()]
    parts += [(prompt, prompt.raw) for prompt in catalog.prompts or ()]
    return tuple((part, threat) for part, raw in parts for threat in threats(raw))


def threats(raw: object) -> tuple[Threat, ...]:
    """What the strings of one part try, in one linear pass that most parts leave early."""
    blob = "\n".join(strings(raw))
    read = plain(_typewritten(blob))
    words = _words(read)
    sayings = _possible(read, words)
    is_odd = _is_odd(blob, words)
    has_marks = is_marked(blob, words)
    if not (sayings or is_odd or has_marks):
        return ()
    read_surfaces = tuple(surfaces(raw))
    found: list[Threat] = []
    if has_marks:
        found += _marked(read_surfaces)
    if sayings:
        found += _said(read_surfaces, sayings)
    if is_odd:
        found += _disguised(read_surfaces)
    return tuple(_distinct(found))


_UNTYPED = re.compile(
    "[^\x00-\x7f\u2010-\u2027\u2190-\u22ff\u2500-\u25ff\u00a0\u00a7\u00b0\u00b7\u00d7\u2600-\u27bf\ufe0f\U0001f300-\U0001faff]"
)


def _typewritten(text: str) -> str:
    """The text in ASCII where nothing but dashes, quotation marks, bullets and arrows is lost."""
    if text.isascii() or _UNTYPED.search(text):
        return text
    return text.encode("ascii", "replace").decode()


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
    if len(word) > 2 or not word.isascii():
        for size in range(2, min(len(word), 24) + 1):
            bits |= _PREFIXES.get(word[:size], 0)
        if not bits and word[:1] in _ELIDED and len(word) > 6:
            return _concepts(word[1:])
        if not bits and not word.isascii() and word[:2] in _ARTICLES:
            return _concepts(word[2:])
        if not bits and not word.isascii() and word[:1] in _CLITICS and len(word) > 3:
            return _concepts(word[1:])
    return bits


_ELIDED = frozenset("ld")
"""What is left of an article before a vowel in French and Italian."""

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
_PHRASES = {
    _BIT[concept]: (
        f" {concept.upper()} ",
        tuple(frozenset(plain(line).split()) for line in HINTS[concept]),
        re.compile(pattern),
    )
    for concept, pattern in PHRASES.items()
}
_EXACT.update({name.strip(): bit for bit, (name, _, _) in _PHRASES.items()})


def _possible(read: str, words: AbstractSet[str]) -> tuple[_Saying, ...]:
    """The sayings all of whose concepts may occur in a plain text with these words."""
    bits = _either_of(set(map(_concepts, words)))
    for concept, (name, hints, _) in _PHRASES.items():
        if any(hint.isdisjoint(words) for hint in hints):
            continue
        clues = CLUES.get(name.strip().lower(), ("",))
        if any(map(read.__contains__, clues)):
            bits |= concept
    return _sayable(bits)


@lru_cache(maxsize=10_000)
def _sayable(bits: int) -> tuple[_Saying, ...]:
    return tuple(saying for saying in _SAYINGS if all(bits & element for element in saying.elements))


class _Spoken(NamedTuple):
    """A word that carries a concept; a tuple, for a long text makes thousands of them."""

    place: int
    """In words; the end of a sentence or a string counts as three."""

    bits: int


_UNSTOPPED = str.maketrans(dict.fromkeys('"#%&()+,-/:<=>@[\\]^_{|}$', " ") | dict.fromkeys("!?;\n", "."))


_STOPPED = re.compile(r"[^\W_]+|[.!?;\n\0\u3002\uff01\uff1f]")


def _tokens(read: str, phrases: int) -> list[str]:
    """The words of a plain text, a stop for every sentence's end, and a mark before each phrase."""
    for bit, (name, _, pattern) in _PHRASES.items():
        if phrases & bit:
            read = pattern.sub(rf"{name}\g<0> ", read)
    if not read.isascii():
        return _STOPPED.findall(_PHRASE.sub(r" \g<0> ", read).replace("\0", "\0. . "))
    return read.translate(_UNSTOPPED).replace(".", " . . . ").replace("\0", " \0 . . ").split()


def _heard(read: str, sayings: Sequence[_Saying]) -> Iterator[tuple[Ploy, int, str]]:
    """The ploys of a plain text, in which string of it each begins, and its words; one for each saying."""
    if not sayings:
        return
    wanted = _either_of(element for saying in sayings for element in saying.elements)
    tokens = _tokens(read, wanted)
    spoken = [_Spoken(place, bits) for place, bits in enumerate(map(_concepts, tokens)) if bits & wanted]
    for saying in sayings:
        relevant = _either_of(saying.elements)
        if match := _first([word for word in spoken if word[1] & relevant], saying):
            first, last = min(word.place for word in match), max(word.place for word in match)
            end = last + (PHRASE_WORDS if tokens[last] in _SILENT else 1)
            words = [word for word in tokens[first:end] if word not in _SILENT]
            yield saying.ploy, tokens[:first].count("\0"), " ".join(words)


PHRASE_WORDS = 4
"""Words of a phrase that are quoted when a saying ends with it."""

_SILENT = frozenset({*".!?;\n\u3002\uff01\uff1f", "\0", *(name.strip() for name, _, _ in _PHRASES.values())})


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
        is_full = min(last.values()) >= words[oldest].place and index - oldest + 1 >= len(saying.elements)
        if is_full and (match := _assigned(words[oldest : index + 1], saying.elements, len(saying.chain))):
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
        fits = word.bits & elements[number] and word.place > after and word not in taken
        if fits and (match := _assigned(window, elements, chained, (*taken, word))):
            return match
    return None


def _said(read: Sequence[Surface], sayings: Sequence[_Saying]) -> Iterator[Threat]:
    """What the texts of a part say together: an order may be spread over several of them."""
    speakers = [surface for surface in read if _is_speech(surface)]
    blob = "\0".join(plain(surface.text.replace("\0", " ")) for surface in speakers)
    for ploy, number, words in _heard(blob, sayings):
        yield Threat(ploy=ploy, path=speakers[number].path, quote=_quote(words))


def _is_speech(surface: Surface) -> bool:
    return surface.is_prose or len(surface.text) >= MIN_SENTENCE


MIN_SENTENCE = 16
"""Characters from which a property's name can be a sentence; shorter ones are names."""


# Disguises.


def _words(read: str) -> set[str]:
    """The words of a plain text, with the phrases that its unspaced runs hold."""
    if not read.isascii():
        return set(_LETTERED.findall(_PHRASE.sub(r" \g<0> ", read) if _RUN.search(read) else read))
    return set(read.translate(_SPACED).split())


_LETTERED = re.compile(r"[^\W_]+")


_SPACED = str.maketrans(dict.fromkeys('"#%&()+,-./:;<=>?@[\\]^_{|}!$', " "))

_TELLING = (
    "ignore previous instruction instructions highest maximum perfect rating evaluator grader evaluating evaluate "
    "definition assign dimension dimensions scores reviewer system secret conversation password mention disregard "
    "judge score award excellent prompt"
).split()
_CIPHERS = frozenset(
    cipher for word in _TELLING for cipher in (word[::-1], codecs.encode(word, "rot13"), word.translate(ATBASH))
)
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_BYTES = frozenset(f"{code:02x}" for code in range(32, 127)) | frozenset(str(code) for code in range(97, 123))
"""Printable ASCII as two hexadecimal digits, and small letters as decimal numbers."""

_PERCENT = re.compile(r"%[0-9a-fA-F]{2}%[0-9a-fA-F]{2}")
_ENTITY = re.compile(r"&#?\w{2,7};")
_ESCAPE = re.compile(r"\\[xu][0-9a-fA-F]{2}")
_EXOTIC = re.compile(
    "[\u00ad\u0250-\u02af\u034f-\u052f\u0531-\u0587\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1d00-\u1d7f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2460-\u24ff\u3164\ufe00-\ufe0e\ufeff\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uffa0"
    "\U0001d400-\U0001d7ff\U0001f130-\U0001f1ff\U000e0000-\U000e01ef]"
)
"""Letters that look like others, and characters that show nothing."""


def _is_odd(text: str, words: AbstractSet[str]) -> bool:
    """Something may stand there in disguise."""
    return (
        not _CIPHERS.isdisjoint(words)
        or len(_LETTERS & words) >= 6
        or len(_BYTES & words) >= 8
        or any(map(_is_coded, words))
        or ("%" in text and _PERCENT.search(text) is not None)
        or ("&" in text and _ENTITY.search(text) is not None)
        or ("\\" in text and _ESCAPE.search(text) is not None)
        or (not text.isascii() and _EXOTIC.search(text) is not None)
    )


@lru_cache(maxsize=50_000)
def _is_coded(word: str) -> bool:
    """A word that may be base64, hexadecimal, bits, or letters with digits among them."""
    if word.isalpha():
        return len(word) >= MIN_RUN_TOGETHER and len(_VOCABULARY.findall(word)) >= MIN_KNOWN
    if word.isdigit():
        return len(word) == 8 and set(word) <= {"0", "1"}
    return (len(word) >= 16 and word.isascii()) or any(word.translate(letters) in _LEETED for letters in LEETS)


_LEETED = frozenset(_TELLING) | {"top", "give", "rate", "tool", "best", "all", "this", "the", "user", "tell"}


def _disguised(read: Iterable[Surface]) -> Iterator[Threat]:
    """What a string says when its disguise is off and does not say with it on."""
    for surface in read:
        text = plain(surface.text)
        if len(surface.text) < MIN_DISGUISED or not _is_odd(surface.text, words := _words(text)):
            continue
        openly = {ploy for ploy, _, _ in _heard(text, _possible(text, words))}
        for name, disguised in disguises(surface.text):
            folded = _parted(latin(disguised))
            for ploy, _, said in _heard(folded, _possible(folded, _words(folded))):
                if ploy not in openly:
                    yield Threat(ploy=ploy, path=surface.path, quote=_quote(said), disguise=name)
                    yield Threat(ploy=Ploy.ENCODED, path=surface.path, quote=_quote(said), disguise=name)


MIN_RUN_TOGETHER = 16
"""Letters from which a word is taken for several that stand there without spaces."""

MIN_KNOWN = 3
"""Known words in such a run; an identifier seldom holds more than one."""

_RUN_TOGETHER = re.compile(rf"[a-z]{{{MIN_RUN_TOGETHER},}}")
_VOCABULARY = re.compile(
    "|".join(
        sorted(
            {
                *_TELLING,
                *"give this tool the top best full marks rate all rules user tell not never every five out of".split(),
            },
            key=len,
            reverse=True,
        )
    )
)


def _parted(read: str) -> str:
    """The text with the known words of a long run of letters set apart."""
    return _RUN_TOGETHER.sub(lambda run: " ".join(_VOCABULARY.findall(run[0])), read)


MIN_DISGUISED = 12
"""Characters from which a string can hold an order in disguise."""


def _marked(read: Iterable[Surface]) -> Iterator[Threat]:
    for surface in read:
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
