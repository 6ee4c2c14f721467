"""The languages of descriptions: lexicons of verbs and cue phrases, read from data files, and their detection."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from tdqs_mcp.facts.text.patterns import PatternTable, read_table, words_from

SPACED = ("es", "pt", "fr", "it", "de", "tr", "ru")
"""Languages that put spaces between words and inflect them at the end: phrases are sought between words."""

JOINED = ("zh", "ja", "ko")
"""Languages without spaces, or whose words carry their particles: phrases are sought anywhere."""

KNOWN = frozenset(("en", *SPACED, *JOINED))
"""Languages whose cues can be read."""

Phrase = tuple[str, ...]
"""What must occur in a sentence, in this order."""


class Effect(StrEnum):
    """What a verb promises to do to the world."""

    READ = "read"
    PRODUCE = "produce"
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    ACT = "act"

    @property
    def is_mutating(self) -> bool:
        """Something outside the answer changes."""
        return self in (Effect.CREATE, Effect.UPDATE, Effect.DELETE)


class Cue(StrEnum):
    """What a phrase tells the agent, by the rubric's dimension: usage, behavior, parameters, form."""

    WHEN = "when"
    WHEN_NOT = "when not"
    ALTERNATIVE = "alternative"
    PREREQUISITE = "prerequisite"
    DESTRUCTION = "destruction"
    SIDE_EFFECT = "side effect"
    SAFETY = "safety"
    PERMISSION = "permission"
    LIMIT = "limit"
    ERROR = "error"
    TIMING = "timing"
    RETURN = "return"
    FORMAT = "format"
    EXAMPLE = "example"
    PARAMETER_LIST = "parameter list"
    FILLER = "filler"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """What descriptions in one language other than English are made of; every word folded as `fold` does."""

    language: str
    is_spaced: bool
    is_verb_last: bool
    """The predicate ends the clause: Turkish, Japanese, Korean."""

    splits_apostrophes: bool
    """An apostrophe joins two words: `l'utilisateur`, `user_id'yi`."""

    lead_in: tuple[str, ...]
    """What stands before the verb, or behind it where the verb is last, and only says that it is a tool."""

    prepositions: tuple[str, ...]
    """Openings of a phrase that belongs before the verb: Chinese says "by number fetch order"."""

    stopwords: frozenset[str]
    effects: Mapping[str, Effect]
    """By lemma."""

    spelling: Mapping[str, str]
    """Lemmas as people write them, with their accents."""

    forms: Mapping[str, str]
    """Whole words to lemmas; in a verb-last language the finite ones, which are predicates."""

    particles: Mapping[str, Mapping[str, str]]
    """Separable verbs: German `lädt` is another verb with `hoch` than with `herunter`."""

    stems: Mapping[str, str]
    """Beginnings of words to lemmas."""

    endings: frozenset[str]
    """What makes a stem a predicate; Korean."""

    not_after: tuple[str, ...]
    """What makes the following verb an attribute: `已删除的文件`."""

    not_before: tuple[str, ...]
    """What makes the preceding verb a noun: `创建时间`."""

    vague: frozenset[str]
    overt: frozenset[str]
    phrases: Mapping[Cue, tuple[Phrase, ...]]
    nouns: Mapping[str, tuple[str, ...]]
    """English nouns of tool names to the stems of their translations."""

    @property
    def words(self) -> frozenset[str]:
        """Every whole word that occurs in it."""
        parts = (part.split() for phrases in self.phrases.values() for phrase in phrases for part in phrase)
        return frozenset((*self.forms, *self.stopwords, *self.lead_in, *(word for words in parts for word in words)))


@cache
def lexicon_of(language: str | None) -> Lexicon | None:
    """The lexicon of a language; None for English and for languages that we do not know."""
    return _lexicon(language, read_table(language)) if language in (*SPACED, *JOINED) else None


def fold(text: str) -> str:
    """Lower-case without accents, which hasty authors leave out: `Créé` -> cree, `İptal` -> iptal."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.replace("ı", "i").replace("ß", "ss"))
    return unicodedata.normalize("NFC", _ACCENT.sub("", plain)).lower()


_ACCENT = re.compile(r"[\u0300-\u036f]")


def _lexicon(language: str, data: Mapping[str, Any]) -> Lexicon:
    is_spaced = language in SPACED
    lines = [(Effect(effect), line.split()) for effect, text in data["verbs"].items() for line in text.splitlines()]
    verbs = [(effect, words[0], [fold(word) for word in words]) for effect, words in lines if words]
    whole = [(form, forms[0]) for _, _, forms in verbs for form in forms if not set(form) & {"*", "+"}]
    cut = [(form.rstrip("*"), forms[0]) for _, _, forms in verbs for form in forms if form.endswith("*")]
    particles: dict[str, dict[str, str]] = {}
    for _, _, forms in verbs:
        for word, _, particle in (form.partition("+") for form in forms if "+" in form):
            particles.setdefault(word, {})[particle] = forms[0]
    return Lexicon(
        language=language,
        is_spaced=is_spaced,
        is_verb_last=data["verb_last"],
        splits_apostrophes=data.get("splits_apostrophes", False),
        lead_in=tuple(sorted(fold(data["lead_in"]).split(), key=len, reverse=True)),
        prepositions=tuple(data.get("prepositions", "").split()),
        stopwords=frozenset(fold(data["stopwords"]).split()),
        effects={forms[0]: effect for effect, _, forms in reversed(verbs)},
        spelling={forms[0]: lemma for _, lemma, forms in verbs},
        forms=dict(reversed(whole)),
        particles=particles,
        stems=dict(reversed(cut)),
        endings=frozenset(fold(data.get("endings", "")).split()),
        not_after=tuple(data.get("not_after", "").split()),
        not_before=tuple(data.get("not_before", "").split()),
        vague=frozenset(fold(data["vague"]).split()),
        overt=frozenset(fold(data["overt"]).split()),
        phrases={cue: tuple(_phrases(_entries(data, cue), is_spaced=is_spaced)) for cue in Cue},
        nouns={noun: tuple(stem.rstrip("*") for stem in fold(stems).split()) for noun, stems in data["nouns"].items()},
    )


def _entries(data: Mapping[str, Any], cue: Cue) -> list[str]:
    return [entry.strip() for entry in data["cues"][cue.name.lower()].split(";")]


def _phrases(entries: Iterable[str], *, is_spaced: bool) -> Iterator[Phrase]:
    for entry in entries:
        parts = [part for each in entry.split("…") if (part := fold(each).strip())]
        if parts:
            yield tuple(map(_padded, parts) if is_spaced else parts)


def _padded(phrase: str) -> str:
    """Between spaces, two of them between words: " solo lectura " cannot begin inside a word, `permis*` may go on."""
    words = [word.strip(",.:") for word in phrase.split()]
    start = "" if words[0].startswith("*") else " "
    end = "" if words[-1].endswith("*") else " "
    return start + "  ".join(words).strip("*") + end


def _inflections(lemma: str) -> Iterator[str]:
    base, doubled = lemma.removesuffix("e"), lemma + lemma[-1]
    yield from (lemma, f"{lemma}s", f"{lemma}es", f"{base}ing", f"{base}ed", f"{doubled}ing", f"{doubled}ed")
    if lemma.endswith("y"):
        yield from (f"{lemma[:-1]}ies", f"{lemma[:-1]}ied")


_ENGLISH = read_table("en")

EFFECTS: Mapping[str, Effect] = {
    lemma: Effect(effect) for effect, verbs in reversed(_ENGLISH["verbs"].items()) for lemma in verbs.split()
}
"""What each known English verb does, by its lemma."""

LEMMAS: Mapping[str, str] = {form: lemma for lemma in EFFECTS for form in _inflections(lemma)} | {
    lemma: lemma for lemma in EFFECTS
}
"""Every inflected form of a known English verb, to its lemma."""

STOPWORDS: frozenset[str] = frozenset(_ENGLISH["stopwords"].split())
LEAD_IN: frozenset[str] = frozenset(_ENGLISH["lead_in"].split())
"""English words before the verb that only say that it is a tool."""

VAGUE_VERBS: frozenset[str] = frozenset(_ENGLISH["vague"].split())
"""Verbs that leave open what happens."""

OVERT_MUTATIONS: frozenset[str] = frozenset(_ENGLISH["overt"].split())
"""Verbs that contradict `readOnlyHint: true` when a description opens with them.

Verbs that a pure function shares, such as add, insert, remove or replace, prove nothing.
"""

PHRASES: Mapping[Cue, tuple[str, ...]] = {cue: tuple(_entries(_ENGLISH, cue)) for cue in Cue}
"""English cue phrases, words separated by single spaces."""


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
_ENGLISH_WORDS = _PROFILES["en"] | LEMMAS.keys()
_FOREIGN = frozenset().union(*_PROFILES.values()) - _ENGLISH_WORDS

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
        return not _ENGLISH_WORDS.isdisjoint(vocabulary)
    return len(vocabulary & _ENGLISH_WORDS) > FEW * (len(vocabulary & _FOREIGN) + 1)


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
    english = len(vocabulary & _ENGLISH_WORDS)
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
    return _ENGLISH_WORDS.union(STOPWORDS, words_from("languages", "common_english"), *phrases)


def _with_lexicons(votes: Mapping[str, int], vocabulary: AbstractSet[str]) -> dict[str, int]:
    """A text of a few words is told by all its words: "Eliminar usuario"."""
    folded = set(map(fold, vocabulary)) - _english_vocabulary()
    known = {language: len((folded & _lexicon_words(language)) - _profile(language)) for language in SPACED}
    return {language: votes.get(language, 0) + known.get(language, 0) for language in known.keys() | votes.keys()}


@cache
def _profile(language: str) -> frozenset[str]:
    return frozenset(map(fold, _PROFILES.get(language, ())))


@cache
def _lexicon_words(language: str) -> frozenset[str]:
    lexicon = lexicon_of(language)
    return lexicon.words if lexicon else frozenset()
