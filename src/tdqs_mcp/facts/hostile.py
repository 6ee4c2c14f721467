"""What the strings of a definition try to do to the agent, the judge or the client that reads them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from operator import or_

from tdqs_mcp.facts import speech, trade, vocabulary
from tdqs_mcp.facts.disguise import disguises, is_disguised, odd_bits, parted, plain
from tdqs_mcp.facts.marks import is_marked, marks, may_be_mark
from tdqs_mcp.facts.ploys import Ploy
from tdqs_mcp.facts.surfaces import Surface, strings, surfaces
from tdqs_mcp.facts.text.words import without_quotations
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


AIMED_AT_A_MODEL = frozenset(
    {Ploy.JUDGE, Ploy.SUSPECT, Ploy.OVERRIDE, Ploy.TURN, Ploy.ENCODED, Ploy.COMMENT, Ploy.UNSEEN, Ploy.LOOKALIKE}
)
"""What an LLM judge that reads the definition could obey, or what hides such a thing."""


def addresses_judge(part: Tool | Resource | Prompt) -> bool:
    """Some string of the definition speaks to whoever judges it, or could make a model that reads it obey.

    To be asked before a definition is sent to an LLM judge. A stray unseen character alone does not count, a text
    smuggled in such characters does.
    """
    return spoken(part.raw) is not None


def spoken(raw: object) -> str | None:
    """The words with which the strings of a part, or texts that stand together, do so; None where none does."""
    return first_spoken(threats(raw))


def first_spoken(found: Iterable[Threat]) -> str | None:
    """The same of threats that are known; words that can be read come before marks."""
    quotes = [threat.quote for threat in found if threat.ploy in AIMED_AT_A_MODEL and not threat.is_mild]
    readable = [quote for quote in quotes if any(map(str.isalpha, quote))]
    return next(iter([*readable, *quotes]), None)


def located(catalog: Catalog, known: Mapping[int, tuple[Threat, ...]]) -> tuple[tuple[Part, Threat], ...]:
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
        for threat in (known[part.index] if isinstance(part, Tool) and part.index in known else threats(raw))
    )


def threats(raw: object) -> tuple[Threat, ...]:
    """What the strings of one part try, in one linear pass that most parts leave early."""
    looks = [*map(_look, strings(raw))]
    bits = reduce(or_, looks, 0)
    spread = _spreadable(looks, bits)
    if not (bits & (_SAYS | _ODD | _MARKED) or spread):
        return ()
    read = tuple(surfaces(raw))
    found: list[Threat] = []
    if bits & _MARKED:
        found += _marked(read)
    if bits & _SAYS:
        found += _said(read, trade.deeds(raw))
    if found and trade.shows_specimens(raw):
        found = [replace(each, ploy=Ploy.SUSPECT) if _is_specimen(each, read) else each for each in found]
    if spread:
        found += _spread(read, spread, bits)
    if bits & _ODD:
        found += _disguised(read)
    return tuple(_distinct(found))


# The first look at a string, which for most is the last: what its words may be a sign of.

_ODD_WORDS = vocabulary.BITS
_MARK_WORD, _SAYS, _ODD, _MARKED = (1 << (vocabulary.BITS + place) for place in range(8, 12))


def _look(text: str) -> int:
    """Concepts, and whether the string says something itself, may be in disguise, or may hold a mark."""
    if len(text) <= MAX_SHORT:
        return _looked(text)
    return _looked_long(text) if len(text) <= MAX_LONG else _read(text)


MAX_SHORT, MAX_LONG = 1_000, 20_000
"""Characters of strings that are remembered, thousands of the short ones: the tools of a catalog repeat each other."""


def _read(text: str) -> int:
    typed = vocabulary.typewritten(text)
    bare = vocabulary.bare(typed)
    words = set(bare.split())
    bits = reduce(or_, map(_WORDS.__getitem__, words), 0)
    if bits & vocabulary.EXPRESSION:
        bits |= vocabulary.expression_bits(bare, words)
    bits = vocabulary.with_phrases(typed, bits)
    if (len(text) >= MIN_SAID or not text.isascii()) and (sayings := speech.possible(bits)):
        bits |= _SAYS if any(speech.heard([text], bits, sayings)) else 0
    if is_disguised(typed, words, bits >> _ODD_WORDS):
        bits |= _ODD
    if is_marked(typed, has_word=bool(bits & _MARK_WORD)):
        bits |= _MARKED
    return bits


_looked = lru_cache(maxsize=20_000)(_read)
_looked_long = lru_cache(maxsize=500)(_read)

MIN_SAID = 12
"""ASCII characters from which a string by itself can say something; shorter ones are values."""


class _Words(dict[str, int]):
    """What each word met so far may be a sign of: the definitions of a catalog repeat their words."""

    def __missing__(self, word: str) -> int:
        bits = vocabulary.word_bits(word) | odd_bits(word) << _ODD_WORDS
        if may_be_mark(word):
            bits |= _MARK_WORD
        if len(self) < MAX_WORDS:
            self[word] = bits
        return bits


MAX_WORDS = 100_000
"""Words that are remembered; all catalogs at hand together have 20,000."""

_WORDS = _Words()


def _said(read: Sequence[Surface], does: Sequence[tuple[str, ...]]) -> Iterator[Threat]:
    for surface in read:
        if not _look(surface.text) & _SAYS:
            continue
        heard = _heard(surface.text)
        if any(_is_innocent(each, does) for each in heard):
            heard += [each for sentence in _STOP.split(surface.text) for each in _heard(sentence)]
        for each in heard:
            ploy = Ploy.SUSPECT if _is_innocent(each, does) else each.ploy
            yield Threat(ploy=ploy, path=surface.path, quote=_quote(each.words))


_STOP = re.compile(r"[.!?\n\u3002\uff01\uff1f]+")
"""Where a sentence may end: an innocent one shields no other that says the same."""


def _is_innocent(heard: speech.Heard, does: Sequence[tuple[str, ...]]) -> bool:
    """Grammar tells that it is said of other things: enough to doubt a finding, not to let a model believe it."""
    if heard.ploy is Ploy.JUDGE:
        return trade.is_business(heard.sentence, does)
    return heard.ploy is Ploy.OVERRIDE and trade.is_general(heard.sentence, does)


def _is_specimen(threat: Threat, read: Iterable[Surface]) -> bool:
    """It stands between quotation marks or in a sample value, or only names a thing of the trade."""
    if threat.ploy not in _SPOKEN:
        return False
    if _SAMPLE.search(threat.path):
        return True
    rest = without_quotations("\n".join(surface.text for surface in read if surface.path == threat.path))
    if threat.ploy is Ploy.TURN:
        return not any(mark.ploy is Ploy.TURN for mark in marks(rest))
    return all(trade.is_specimen(heard.sentence) for heard in _heard(rest) if heard.ploy is threat.ploy)


_SPOKEN = frozenset({Ploy.JUDGE, Ploy.OVERRIDE, Ploy.TURN, Ploy.CONCEAL, Ploy.LEAK, Ploy.REDIRECT})
_SAMPLE = re.compile(r"/(?:examples?|enum|default|const)(?:/|$)")


def _spreadable(looks: Sequence[int], bits: int) -> tuple[speech.Saying, ...]:
    """What neighbouring texts may say together although none of them has the words for it alone."""
    sayings = [saying for saying in speech.possible(bits) if saying.is_spreadable]
    if not sayings:
        return ()
    telling = [look for look in looks if look & vocabulary.CONCEPT_BITS]
    near = {reduce(or_, telling[start : start + MAX_SPREAD]) for start in range(len(telling))}
    return tuple(
        saying
        for saying in sayings
        if any(all(map(each.__and__, saying.elements)) for each in near)
        and not any(all(map(each.__and__, saying.elements)) for each in telling)
    )


MAX_SPREAD = 5
"""Neighbouring texts with telling words over which an order may be spread; the end of each counts as three words."""


def _spread(read: Sequence[Surface], sayings: Sequence[speech.Saying], bits: int) -> Iterator[Threat]:
    speakers = [surface for surface in read if surface.is_prose or len(surface.text) >= MIN_SENTENCE]
    for heard in speech.heard(map(_in_context, speakers), bits, sayings):
        yield Threat(ploy=heard.ploy, path=speakers[heard.number].path, quote=_quote(heard.words))


def _in_context(surface: Surface) -> str:
    """A short value says something only together with the author's name for it: `tier: A`."""
    name = "" if surface.is_key or len(surface.text) >= MIN_SENTENCE else surface.name
    return f"{name}: {surface.text}" if name else surface.text


MIN_SENTENCE = 16
"""Characters from which a property's name can be a sentence; shorter ones are names."""


def _disguised(read: Iterable[Surface]) -> Iterator[Threat]:
    """What a string says when its disguise is off and does not say with it on."""
    for surface in read:
        if len(surface.text) < MIN_DISGUISED or not _look(surface.text) & _ODD:
            continue
        openly = {heard.ploy for heard in _heard(surface.text)}
        for reading in disguises(surface.text):
            folded = parted(plain(reading.text))
            said = [(heard.ploy, heard.words) for heard in _heard(folded) if heard.ploy not in openly]
            if reading.is_deliberate:
                said.append((Ploy.ENCODED, folded))
            for ploy, words in said:
                for each in (Ploy.SUSPECT,) if reading.is_data else (ploy, Ploy.ENCODED):
                    yield Threat(ploy=each, path=surface.path, quote=_quote(words), disguise=reading.disguise)


MIN_DISGUISED = 12
"""Characters from which a string can hold an order in disguise."""


def _heard(text: str) -> list[speech.Heard]:
    """What a single text says."""
    bits = _look(text)
    return list(speech.heard([text], bits, speech.possible(bits)))


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
