"""What texts are read with, from data files: word lists, patterns, and the verbs and cue phrases of each language."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from tdqs_mcp.facts.lexicon import read_table

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
        if parts := list(filter(None, map(str.strip, map(fold, entry.split("…"))))):
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

CARRIERS: frozenset[str] = frozenset(_ENGLISH["carriers"].split())
"""English words for a tool and for what it lets an agent do, as stems."""

VAGUE_VERBS: frozenset[str] = frozenset(_ENGLISH["vague"].split())
"""Verbs that leave open what happens."""

OVERT_MUTATIONS: frozenset[str] = frozenset(_ENGLISH["overt"].split())
"""Verbs that contradict `readOnlyHint: true` when a description opens with them.

Verbs that a pure function shares, such as add, insert, remove or replace, prove nothing.
"""

PHRASES: Mapping[Cue, tuple[str, ...]] = {cue: tuple(_entries(_ENGLISH, cue)) for cue in Cue}
"""English cue phrases, words separated by single spaces."""
