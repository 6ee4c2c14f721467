"""Splits texts and names into words, and compares words by their stems."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, partial
from typing import TypeVar

from tdqs_mcp.facts.lexicon import cached_by_text, lazy_pattern, read_table, words_from
from tdqs_mcp.facts.spelling import words_of
from tdqs_mcp.facts.text.vocabulary import EFFECTS, LEMMAS, STOPWORDS, Effect

K = TypeVar("K")


MAX_QUOTATION = 400
"""Characters of a quotation; what is longer is not a quotation."""

_QUOTATION = lazy_pattern(
    rf"\"([^\"\n]{{2,{MAX_QUOTATION}}})\"|“([^“”\n]{{2,{MAX_QUOTATION}}})”|`([^`\n]{{2,{MAX_QUOTATION}}})`"
    rf"|(?<!\w)['\u2018]([^'\u2018\u2019\n]{{2,{MAX_QUOTATION}}})['\u2019](?!\w)"
)
_ELLIPSIS = lazy_pattern(r"…|\.{3}")
_EDGE = " \t\n.,;:!?"

_VOWEL = lazy_pattern(r"[AEFHILMNORSX](?![a-z])|[AEI][a-z]|[fhlmnrsx][^aeiouy]*$|hour|(?!one|uni|us|ur|util|eu)[aeiou]")
"""How a word begins that is spoken with a vowel: `item`, and `SQL` and `r2` by their letters."""

PREPOSITIONS = frozenset("to for from in into by of on with at and as after before".split())
_words = partial(words_from, "wording")
_NUMBER = lazy_pattern(r"\d+(?:[.,:]\d+)*")
_IDENTIFIER = lazy_pattern(r"`([\w.\-/]{1,128})`")
_JOINT = lazy_pattern(r"[-/'’.]")


@cached_by_text(5_000)
def stem(word: str) -> str:
    """The lemma of a known verb, else the word without a plural s: enough to see that two words are one."""
    return LEMMAS.get(word) or (word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word)


def effect_of(verb: str) -> Effect | None:
    """Return what a verb, in any inflection, does."""
    lemma = LEMMAS.get(verb.lower())
    return EFFECTS[lemma] if lemma else None


PhraseIndex = Mapping[str, Sequence[tuple[tuple[str, ...], K]]]
"""Phrases as tuples of words, each with its kind, by their first word."""


def index_phrases(phrases: Iterable[tuple[K, Iterable[str]]]) -> PhraseIndex[K]:
    """Phrases by kind, made ready to be found; words stand between single spaces."""
    index: dict[str, list[tuple[tuple[str, ...], K]]] = {}
    for kind, texts in phrases:
        for words in map(str.split, texts):
            index.setdefault(words[0], []).append((tuple(words), kind))
    return index


def phrases_in(words: Sequence[str], index: PhraseIndex[K]) -> list[tuple[str, K]]:
    """The first word and the kind of each phrase that a sentence has, in order."""
    if index.keys().isdisjoint(words):
        return []
    return [
        (word, kind)
        for position, word in enumerate(words)
        if word in index
        for phrase, kind in index[word]
        if len(phrase) == 1 or tuple(words[position : position + len(phrase)]) == phrase
    ]


@cache
def empty_stems() -> frozenset[str]:
    """Stems that claim nothing of their own; what limits (only, must, not) is weighed apart."""
    return frozenset(map(stem, STOPWORDS | _words("empty")))


def content_stems(words: Iterable[str]) -> frozenset[str]:
    """The stems of the words that claim something."""
    stems = {stem(part) for word in words for part in parts_of(word)}
    return frozenset(each for each in stems if each and each not in empty_stems())


def parts_of(word: str) -> Sequence[str]:
    """A word, or those that a hyphen, a slash or the like has joined."""
    return [part for part in _JOINT.split(word) if part] if _JOINT.search(word) else (word,)


def numbers_of(text: str) -> frozenset[str]:
    """Every number as it is written."""
    return frozenset(_NUMBER.findall(text))


def identifiers_of(text: str) -> frozenset[str]:
    """Return what is written as a name: one word in backticks, or with an underscore inside; in lower case."""
    quoted = {found.lower() for found in _IDENTIFIER.findall(text)}
    return frozenset(quoted | {word for word in words_of(text) if "_" in word.strip("_")})


def has_word(stems: frozenset[str], word: str) -> bool:
    """Return whether the stems contain the word, or one that may stand for it: fetch for get, folder for directory."""
    return word in stems or not _synonyms().get(word, frozenset()).isdisjoint(stems)


@cache
def _synonyms() -> Mapping[str, frozenset[str]]:
    groups = [frozenset(line.split()) for line in read_table("wording")["synonyms"].splitlines()]
    return {word: frozenset().union(*(each for each in groups if word in each)) for group in groups for word in group}


def shared_prefix(names: Sequence[Sequence[str]]) -> str:
    """The first part that over half of at least three names share and that is not a verb, such as a product's name."""
    firsts = Counter(parts[0] for parts in names if len(parts) > 1)
    word, count = firsts.most_common(1)[0] if firsts else ("", 0)
    return word if len(names) > 2 and 2 * count > len(names) and word not in LEMMAS else ""


def spell_acronyms(phrase: str) -> str:
    """A name's words with the acronyms in capitals."""
    acronyms = {word.lower(): word for word in _words("acronyms")}
    return " ".join(acronyms.get(word, word) for word in phrase.split())


def is_plural(noun: str) -> bool:
    """It looks like more than one."""
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is"))


def plurals_in(words: Iterable[str]) -> frozenset[str]:
    """The nouns, as one of them, of which a text has the plural: these can be counted."""
    many = [word for word in words if is_plural(word)]
    return frozenset(
        form for word in many for form in (word[:-1], word.removesuffix("es"), f"{word.removesuffix('ies')}y")
    )


def add_article(rest: str, countable: AbstractSet[str]) -> str:
    """What follows a verb, with an article before a single thing that has none; empty where it is not known to be one.

    `order by ID` -> an order by ID, where orders are spoken of elsewhere.
    """
    words = rest.split()
    articles, ends = _words("articles"), PREPOSITIONS | _words("clause_ends")
    places = (place for place, word in enumerate(words) if word.lower() in (ends | articles if place else ends))
    end = next(places, len(words))
    thing, noun = words[:end], words[end - 1] if end else ""
    if not thing:
        return rest if words and words[0].lower() in PREPOSITIONS else ""
    is_determined = thing[0].lower() in _words("determiners") | articles or not thing[0].isalpha()
    is_mass = noun.lower() in _words("uncounted") or noun[:1].isupper() or noun.endswith("ing")
    if is_determined or is_plural(noun.lower()) or is_mass:
        return rest
    if noun.lower() not in countable:
        return ""
    return f"{'an' if _VOWEL.match(thing[0]) else 'a'} {rest}"


def quotations_in(text: str) -> tuple[str, ...]:
    """Return what stands between quotation marks or backticks, in order, each once."""
    found = (next(group for group in match.groups() if group) for match in _QUOTATION.finditer(text))
    return tuple(dict.fromkeys(found))


def without_quotations(text: str) -> str:
    """The text without what it quotes."""
    return _QUOTATION.sub(" ", text)


def find_quotation(quotation: str, texts: Sequence[str]) -> str | None:
    """The place that is quoted, in the text's own spelling; None where no text holds it.

    The very characters are looked for first; then white space, case and the punctuation around a quotation may differ,
    and an ellipsis may leave words out.
    """
    if any(quotation in text for text in texts):
        return quotation
    parts = [part.strip(_EDGE).split() for part in _ELLIPSIS.split(quotation)]
    patterns = [re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE) for words in parts if words]
    found = (_span(patterns, text) for text in texts) if patterns else iter(())
    return next((span for span in found if span is not None), None)


def is_verbatim(quotation: str) -> bool:
    """Whether it must be somebody's words: a single word between quotation marks may be a term of the speaker's own."""
    return len(quotation.split()) > 1


def _span(patterns: Sequence[re.Pattern[str]], text: str) -> str | None:
    """From the first pattern's match to the last one's, each behind the one before."""
    begin = end = None
    for pattern in patterns:
        match = pattern.search(text, end or 0)
        if match is None:
            return None
        begin, end = match.start() if begin is None else begin, match.end()
    return text[begin:end]
