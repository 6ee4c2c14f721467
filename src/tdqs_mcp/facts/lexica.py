"""The words of languages other than English: one data file each, read when a text in that language is met."""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from tdqs_mcp.facts.lexicon import Cue, Effect

SPACED = ("es", "pt", "fr", "it", "de", "tr", "ru")
"""Languages that put spaces between words and inflect them at the end: phrases are sought between words."""

JOINED = ("zh", "ja", "ko")
"""Languages without spaces, or whose words carry their particles: phrases are sought anywhere."""

KNOWN = frozenset(("en", *SPACED, *JOINED))
"""Languages whose cues can be read."""

Phrase = tuple[str, ...]
"""What must occur in a sentence, in this order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lexicon:
    """What descriptions in one language are made of; every word folded as `fold` does."""

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
    """Verbs that part with their prefix: `lädt` with `hoch` is another verb than with `herunter`."""

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
        said = (part.split() for phrases in self.phrases.values() for phrase in phrases for part in phrase)
        return frozenset((*self.forms, *self.stopwords, *self.lead_in, *(word for words in said for word in words)))


@cache
def of(language: str | None) -> Lexicon | None:
    """The lexicon of a language; None for English, which needs none of this, and for languages that we do not know."""
    if language not in (*SPACED, *JOINED):
        return None
    return _lexicon(language, tomllib.loads(_data(language)))


def fold(text: str) -> str:
    """Lower-case without accents, which hasty authors leave out: `Créé` -> cree, `İptal` -> iptal."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.replace("ı", "i").replace("ß", "ss"))
    return unicodedata.normalize("NFC", _ACCENT.sub("", plain)).lower()


_ACCENT = re.compile(r"[\u0300-\u036f]")


def _data(language: str) -> str:
    return files("tdqs_mcp.facts").joinpath("data", f"{language}.toml").read_text(encoding="utf-8")


def _lexicon(language: str, data: Mapping[str, Any]) -> Lexicon:
    is_spaced = language in SPACED
    lines = [
        (Effect(effect), fold(line).split()) for effect, text in data["verbs"].items() for line in text.splitlines()
    ]
    verbs = [(effect, words[0], words) for effect, words in lines if words]
    whole = [(form, lemma) for _, lemma, words in verbs for form in words if not set(form) & {"*", "+"}]
    cut = [(form.rstrip("*"), lemma) for _, lemma, words in verbs for form in words if form.endswith("*")]
    parted: dict[str, dict[str, str]] = {}
    for _, lemma, words in verbs:
        for word, _, particle in (form.partition("+") for form in words if "+" in form):
            parted.setdefault(word, {})[particle] = lemma
    return Lexicon(
        language=language,
        is_spaced=is_spaced,
        is_verb_last=data["verb_last"],
        splits_apostrophes=data.get("splits_apostrophes", False),
        lead_in=_longest_first(data["lead_in"]),
        prepositions=tuple(data.get("prepositions", "").split()),
        stopwords=frozenset(fold(data["stopwords"]).split()),
        effects={lemma: effect for effect, lemma, _ in reversed(verbs)},
        spelling={
            fold(word): word
            for text in data["verbs"].values()
            for line in text.splitlines()
            for word in line.split()[:1]
        },
        forms=dict(reversed(whole)),
        particles=parted,
        stems=dict(reversed(cut)),
        endings=frozenset(fold(data.get("endings", "")).split()),
        not_after=tuple(data.get("not_after", "").split()),
        not_before=tuple(data.get("not_before", "").split()),
        vague=frozenset(fold(data["vague"]).split()),
        overt=frozenset(fold(data["overt"]).split()),
        phrases={cue: _phrases(data["cues"][cue.name.lower()], is_spaced=is_spaced) for cue in Cue},
        nouns={noun: tuple(stem.rstrip("*") for stem in fold(stems).split()) for noun, stems in data["nouns"].items()},
    )


def _longest_first(words: str) -> tuple[str, ...]:
    return tuple(sorted(fold(words).split(), key=len, reverse=True))


def _phrases(text: str, *, is_spaced: bool) -> tuple[Phrase, ...]:
    entries = [[fold(part).strip() for part in entry.split("…")] for entry in text.split(";")]
    filled = [[part for part in entry if part] for entry in entries]
    return tuple(tuple(map(_padded, entry) if is_spaced else entry) for entry in filled if entry)


def _padded(phrase: str) -> str:
    """Between spaces, two of them between words: " solo lectura " cannot begin inside a word, `permis*` may go on."""
    words = [word.strip(",.:") for word in phrase.split()]
    start = "" if words[0].startswith("*") else " "
    end = "" if words[-1].endswith("*") else " "
    return start + "  ".join(words).strip("*") + end
