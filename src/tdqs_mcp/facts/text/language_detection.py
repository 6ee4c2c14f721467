"""Detects the language of a text by scripts and function words: no model, no network, linear."""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import cache

from tdqs_mcp.facts.text.languages import LEMMAS, PHRASES, SPACED, STOPWORDS, fold, lexicon_of
from tdqs_mcp.facts.text.patterns import PatternTable, read_table, words_from

HAN_WEIGHT = 3
"""Latin letters that weigh as much as one Han character or Kana: a word has five letters here, two there."""

HANGUL_WEIGHT = 2
"""Latin letters that weigh as much as one Hangul syllable."""

KANA_SHARE = 10
"""Of so many characters Japanese has at least one Kana; Chinese has hardly any, in names and as decoration."""

MIN_DENSITY = 16
"""Of so many different words at least one is a function word of the language, or it is none of those we know."""

FEW = 3
"""Votes from which function words decide alone; with fewer, all words of the lexicons are asked too."""

_TABLE = read_table("languages")
LANGUAGE_NAMES: Mapping[str, str] = dict(entry.split(":") for entry in _TABLE["names"].split())
"""Every language that is told from others, by its ISO 639-1 code."""

_PROFILES: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split()) for language, words in _TABLE["profiles"].items()
}
_ENGLISH = _PROFILES["en"] | LEMMAS.keys()
_FOREIGN = frozenset().union(*_PROFILES.values()) - _ENGLISH

_PATTERNS = PatternTable("languages")
_SLAVIC = ("bulgarian", "russian")


def detect_language(text: str, vocabulary: AbstractSet[str]) -> str | None:
    """The ISO 639-1 code of a text's dominant language; `vocabulary` holds its lower-case words.

    None where it cannot be told: no letters, too few words, or a language that is not told from others here.
    """
    is_latin = text.isascii() or _PATTERNS.beyond_latin.search(text) is None
    if is_latin and _is_plainly_english(vocabulary, is_ascii=text.isascii()):
        return "en"
    return (None if is_latin else _by_script(text)) or _by_words(vocabulary)


def _is_plainly_english(vocabulary: AbstractSet[str], *, is_ascii: bool) -> bool:
    """English words and hardly any others: a fast check that nearly every description passes."""
    if is_ascii and _FOREIGN.isdisjoint(vocabulary):
        return not _ENGLISH.isdisjoint(vocabulary)
    return len(vocabulary & _ENGLISH) > FEW * (len(vocabulary & _FOREIGN) + 1)


def _by_script(text: str) -> str | None:
    """The language of a text that is mostly in a script beside Latin; identifiers and addresses do not count."""
    plain = _PATTERNS.identifier.sub(" ", text)
    counts = {script: len(re.findall(f"[{letters}]", plain)) for script, letters in _TABLE["scripts"].items()}
    latin, kana, han = (counts.pop(script) for script in ("latin", "kana", "han"))
    weights = {
        "ja" if KANA_SHARE * kana >= kana + han else "zh": HAN_WEIGHT * (kana + han),
        **counts,
        "ko": HANGUL_WEIGHT * counts["ko"],
    }
    language, weight = max(weights.items(), key=lambda entry: entry[1])
    if weight <= latin or not weight:
        return None
    if language == "ru":
        return _cyrillic(plain)
    return "fa" if language == "ar" and _PATTERNS.persian.search(plain) else language


def _cyrillic(text: str) -> str:
    for language, letters in _TABLE["not_russian"].items():
        if not set(letters).isdisjoint(text):
            return str(language)
    lowered = text.lower()
    bulgarian, russian = (sum(map(words_from("languages", key).__contains__, lowered.split())) for key in _SLAVIC)
    is_bulgarian = bulgarian + lowered.count("ъ") > russian + len(_PATTERNS.russian_letters.findall(text))
    return "bg" if is_bulgarian else "ru"


def _by_words(vocabulary: AbstractSet[str]) -> str | None:
    """The language with the most votes, English where nothing but its words are known."""
    english = len(vocabulary & _ENGLISH)
    votes = _count(vocabulary)
    leaders = _leaders(votes)
    if votes.get(leaders[0], 0) >= english and (votes.get(leaders[0], 0) < FEW or len(leaders) > 1):
        english = len(vocabulary & _english_vocabulary())
        votes = _with_lexicons(votes, vocabulary)
        leaders = _leaders(votes)
    best = votes.get(leaders[0], 0)
    if english >= best:
        parts = {part for word in vocabulary for part in _PATTERNS.separator.split(word)}
        return "en" if english or not _english_vocabulary().isdisjoint(parts) else None
    count = sum(map(str.isalpha, vocabulary))
    is_sure = MIN_DENSITY * best >= count and (best > 1 or count <= FEW)
    close = [each for each in leaders if len(leaders) == 1 or each in SPACED]
    return close[0] if close and is_sure else None


def _leaders(votes: Mapping[str, int]) -> list[str]:
    """The languages with the most votes, in the order of the profiles; [""] without a vote."""
    best = max(votes.values(), default=0)
    return [language for language in _PROFILES if votes.get(language) == best] or [""]


def _count(vocabulary: AbstractSet[str]) -> dict[str, int]:
    votes: dict[str, int] = {}
    words = {part for word in vocabulary for part in word.replace("’", "'").split("'")}
    is_ascii = not any("'" in word or not word.isascii() for word in vocabulary)
    for word in vocabulary & _voters().keys() if is_ascii else words:
        for language in _voters_for(word):
            votes[language] = votes.get(language, 0) + 1
    return votes


def _voters_for(word: str) -> set[str]:
    """The languages, English apart, that a word speaks for: by itself, by its letters, by its ending."""
    found = set(_voters().get(word, ()))
    if not word.isascii():
        spoken = (languages for letters, languages in _TABLE["letters"].items() if not set(letters).isdisjoint(word))
        found.update(*map(str.split, spoken))
    found.update(language for ending, language in _TABLE["endings"].items() if word.endswith(ending))
    return found - {"en"}


@cache
def _voters() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for language, words in _PROFILES.items():
        for word in words:
            found[word] = (*found.get(word, ()), language)
    return found


@cache
def _english_vocabulary() -> frozenset[str]:
    phrases = (phrase.split() for phrases in PHRASES.values() for phrase in phrases)
    return _ENGLISH.union(STOPWORDS, words_from("languages", "common_english"), *phrases)


def _with_lexicons(votes: Mapping[str, int], vocabulary: AbstractSet[str]) -> dict[str, int]:
    """A text of a few words is told by all its words: "Eliminar usuario"."""
    folded = set(map(fold, vocabulary)) - _english_vocabulary()
    known = {language: len((folded & _words_of(language)) - _profile(language)) for language in SPACED}
    return {language: votes.get(language, 0) + known.get(language, 0) for language in known.keys() | votes.keys()}


@cache
def _profile(language: str) -> frozenset[str]:
    return frozenset(map(fold, _PROFILES.get(language, ())))


@cache
def _words_of(language: str) -> frozenset[str]:
    lexicon = lexicon_of(language)
    return lexicon.words if lexicon else frozenset()
