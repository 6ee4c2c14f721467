"""Word lists, verbs and cue phrases of each language, from data files; words compared by their stems; quotations."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache, partial
from typing import Any, TypeVar

from tdqs_mcp.facts.lexicon import lazy_pattern, read_table, words_from
from tdqs_mcp.facts.spelling import words_of

SPACED = ("es", "pt", "fr", "it", "de", "tr", "ru")
"""Languages that put spaces between words and inflect them at the end: phrases are sought between words."""

JOINED = ("zh", "ja", "ko")
"""Languages without spaces, or whose words carry their particles: phrases are sought anywhere."""

KNOWN = frozenset(("en", *SPACED, *JOINED))
"""Languages whose cues can be read."""

Phrase = tuple[str, ...]
"""Words that a sentence must have in this order."""


class Effect(StrEnum):
    """Effect on the world that a verb promises."""

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
    """Kind of hint that a phrase gives the agent, by the rubric's dimension: usage, behavior, parameters, form."""

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
    """Vocabulary of descriptions in a language other than English; every word folded as `fold` does."""

    language: str
    is_spaced: bool
    is_verb_last: bool
    """The predicate ends the clause: Turkish, Japanese, Korean."""

    splits_apostrophes: bool
    """An apostrophe joins two words: `l'utilisateur`, `user_id'yi`."""

    lead_in: tuple[str, ...]
    """Words before the verb, or behind it where the verb is last, that only say that it is a tool."""

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
    """Endings that make a stem a predicate; Korean."""

    not_after: tuple[str, ...]
    """Words that make the following verb an attribute: `已删除的文件`."""

    not_before: tuple[str, ...]
    """Words that make the preceding verb a noun: `创建时间`."""

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
"""Effect of each known English verb, by its lemma."""

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

IDEOGRAPHS = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
CJK = lazy_pattern(IDEOGRAPHS)
"""Chinese, Japanese and Korean characters, which no spaces part into words."""


def ideograph_count(text: str) -> int:
    """Return how many Chinese, Japanese and Korean characters a text has."""
    return 0 if text.isascii() else len(CJK.findall(text))  # most texts are ASCII, and the pattern is slow to compile


@lru_cache(8192)
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
    return frozenset(form for form in stems if form and form not in empty_stems())


def parts_of(word: str) -> Sequence[str]:
    """A word, or those that a hyphen, a slash or the like has joined."""
    return [part for part in _JOINT.split(word) if part] if _JOINT.search(word) else (word,)


def numbers_of(text: str) -> frozenset[str]:
    """Every number as it is written."""
    return frozenset(_NUMBER.findall(text))


def identifiers_of(text: str) -> frozenset[str]:
    """Return what is written as a name: one word in backticks, or with an underscore inside; in lower case."""
    quoted = {name.lower() for name in _IDENTIFIER.findall(text)}
    return frozenset(quoted | {word for word in words_of(text) if "_" in word.strip("_")})


def has_word(stems: frozenset[str], word: str) -> bool:
    """Return whether the stems contain the word, or one that may stand for it: fetch for get, folder for directory."""
    return word in stems or not _synonyms().get(word, frozenset()).isdisjoint(stems)


@cache
def _synonyms() -> Mapping[str, frozenset[str]]:
    groups = [frozenset(line.split()) for line in read_table("wording")["synonyms"].splitlines()]
    return {
        word: frozenset().union(*(related for related in groups if word in related))
        for group in groups
        for word in group
    }


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
    """Return what follows a verb, with an article before a single thing that has none; empty if it may be many.

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
    quotations = (next(group for group in match.groups() if group) for match in _QUOTATION.finditer(text))
    return tuple(dict.fromkeys(quotations))


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
    spans = (_span(patterns, text) for text in texts) if patterns else iter(())
    return next((span for span in spans if span is not None), None)


def is_verbatim(quotation: str) -> bool:
    """Return whether these are somebody's words: a single quoted word may be a term of the speaker's own."""
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
