"""Which language a text is in, and how one in another than English is read: its verb, its cues, its new words."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from tdqs_mcp.facts.lexicon import PatternTable, lazy_pattern, read_table, words_from
from tdqs_mcp.facts.spelling import words_of
from tdqs_mcp.facts.text.words import (
    CJK,
    IDEOGRAPHS,
    LEMMAS,
    PHRASES,
    SPACED,
    STOPWORDS,
    Cue,
    Effect,
    Lexicon,
    Phrase,
    fold,
    ideograph_count,
    lexicon_of,
)

MAX_LEAD = 8
"""Words of the first sentence among which the verb is sought, as in English; lead-ins count."""

MAX_SENTENCE = 400
"""Characters of the first sentence that are read for its verb."""

MAX_SUFFIX = 4
"""Letters that a noun's ending or particle may have beyond its stem."""

MAX_WORD = 24
"""Letters of a word that are compared with stems."""

_JOINT = lazy_pattern(rf"(?<={IDEOGRAPHS})(?=[A-Za-z0-9_])|(?<=[A-Za-z0-9_])(?={IDEOGRAPHS})")
_RUN = lazy_pattern(r"[\u3400-\u9fff]+|[\u30a0-\u30ff]+|[\uac00-\ud7af]+")
_KATAKANA = lazy_pattern(r"[\u30a0-\u30ff]")
_PREDICATE = lazy_pattern(
    r"[\u3041-\u309f]{0,12}(?=[、。，．,.!！?？:：;；)）\n]|\s*$)|して(?!いる|いない|おく|あり|ある|ください)"
)
"""Text behind a Japanese stem that is a predicate: its ending and the end of the clause, or "and then"."""

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
FOREIGN = frozenset().union(*_PROFILES.values()) - _ENGLISH_WORDS

_PATTERNS = PatternTable("languages")
_SLAVIC = ("bulgarian", "russian")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """The verb that says what a tool does."""

    lemma: str
    effect: Effect
    word: str
    """As it stands in the text, in lower case."""

    opens: bool
    """It stands where the language puts it: before all else, or at the clause's end where verbs are last."""


def split_words(text: str, lexicon: Lexicon) -> list[str]:
    """The lower-case words; an identifier inside a Chinese sentence is a word of its own."""
    plain = text.replace("İ", "i").replace("’", "'")
    if lexicon.is_spaced:
        words = words_of(plain)
        return [part for word in words for part in word.split("'")] if lexicon.splits_apostrophes else words
    return words_of(_JOINT.sub(" ", plain))


def count_words(text: str, spoken: Sequence[str]) -> int:
    """Words; two CJK characters count as one word, as no space tells."""
    return sum(CJK.match(word) is None for word in spoken) + ideograph_count(text) // 2


def find_verb(sentence: str, spoken: Sequence[str], lexicon: Lexicon) -> Verb | None:
    """The verb of a first sentence."""
    if lexicon.language == "zh":
        return _chinese(sentence[:MAX_SENTENCE], lexicon)
    if lexicon.language == "ja":
        return _japanese(sentence[:MAX_SENTENCE], lexicon)
    return _last(spoken, lexicon) if lexicon.is_verb_last else _first(spoken, lexicon)


def _verb(lemma: str, word: str, lexicon: Lexicon, *, opens: bool) -> Verb:
    return Verb(lemma=lemma, effect=lexicon.effects[lemma], word=word, opens=opens)


def _first(spoken: Sequence[str], lexicon: Lexicon) -> Verb | None:
    """The first verb among the first words; an infinitive at the very end opens as well: "Benutzer löschen"."""
    folded = [fold(word) for word in spoken[:60]]
    skipped = 0
    for position, word in enumerate(folded[:MAX_LEAD]):
        lemma = _lemma(word, folded, lexicon)
        if word in lexicon.lead_in:
            skipped += 1
        elif lemma:
            # "Benutzer löschen"
            is_infinitive = word == lemma and position == len(spoken) - 1
            return _verb(lemma, spoken[position], lexicon, opens=position == skipped or is_infinitive)
    lemma = lexicon.forms.get(folded[-1]) if folded else None
    return _verb(lemma, spoken[len(folded) - 1], lexicon, opens=True) if lemma and lemma == folded[-1] else None


def _lemma(word: str, sentence: Sequence[str], lexicon: Lexicon) -> str | None:
    # "lädt … hoch" is hochladen, "lädt … herunter" is herunterladen
    separated = (lemma for particle, lemma in lexicon.particles.get(word, {}).items() if particle in sentence)
    return next(separated, None) or lexicon.forms.get(word) or _stemmed(word, lexicon)[0]


def _stemmed(word: str, lexicon: Lexicon) -> tuple[str | None, str]:
    """The lemma whose stem begins the word, the longest, and what follows it."""
    for end in range(min(len(word), MAX_WORD), 0, -1):
        lemma = lexicon.stems.get(word[:end])
        if lemma:
            return lemma, word[end:]
    return None, ""


def _last(spoken: Sequence[str], lexicon: Lexicon) -> Verb | None:
    """The first predicate, else the last verb that is mentioned, as in "dosya silme"."""
    mentioned = None
    end = len(spoken)
    while end and fold(spoken[end - 1]) in lexicon.lead_in:
        end -= 1
    for position, word in enumerate(spoken[: max(end, 1)]):
        folded = fold(word)
        lemma = lexicon.forms.get(folded)
        stemmed, tail = _stemmed(folded, lexicon)
        if (lemma and lemma != folded) or (stemmed and tail in lexicon.endings):
            return _verb(lemma or stemmed or "", word, lexicon, opens=True)
        if lemma or stemmed:
            mentioned = _verb(lemma or stemmed or "", word, lexicon, opens=position == end - 1)
    return mentioned


def _chinese(sentence: str, lexicon: Lexicon) -> Verb | None:
    """The first verb that is neither an attribute nor part of a noun."""
    text = fold(sentence)
    while lead := next((prefix for prefix in lexicon.lead_in if text.startswith(prefix)), None):
        text = text[len(lead) :].lstrip()
    for start, form in _verbs_in(text, lexicon):
        before, after = text[:start], text[start + len(form) :]
        if not before.endswith(lexicon.not_after) and not after.startswith(lexicon.not_before):
            opens = not before or before.startswith(lexicon.prepositions)
            return _verb(lexicon.forms[form], form, lexicon, opens=opens)
    return None


def _japanese(sentence: str, lexicon: Lexicon) -> Verb | None:
    """The first predicate, else the last verb that is mentioned."""
    text = fold(sentence)
    for opening in lexicon.lead_in:
        text = text.replace(opening, "")
    mentioned = None
    for start, form in _verbs_in(text, lexicon):
        rest = _PREDICATE.match(text, start + len(form))
        if rest:
            return _verb(lexicon.forms[form], form, lexicon, opens=True)
        mentioned = _verb(lexicon.forms[form], form, lexicon, opens=False)
    return mentioned


def _verbs_in(text: str, lexicon: Lexicon) -> Iterator[tuple[int, str]]:
    """Verbs and their places, from left to right, the longest where several begin."""
    place = 0
    while place < len(text):
        form = next((text[place:end] for end in range(place + 10, place, -1) if text[place:end] in lexicon.forms), "")
        if form:
            yield place, form
        place += len(form) or 1


def find_cues(sentences: Sequence[str], spoken: Sequence[Sequence[str]], lexicon: Lexicon) -> dict[Cue, list[int]]:
    """The positions of the sentences that give each cue, once for each time, in order; linear in the text."""
    if lexicon.is_spaced:
        texts = ["".join(f" {fold(word)} " for word in words).replace(_END, " ") for words in spoken]
    else:
        texts = [fold(sentence).replace(_END, " ") for sentence in sentences]
    whole = _END.join(texts)
    starts = [0, *accumulate(len(text) + len(_END) for text in texts)]
    positions: dict[Cue, list[int]] = {}
    for cue, phrases in lexicon.phrases.items():
        places = sorted(place for phrase in phrases if phrase[0] in whole for place in _places(phrase, whole))
        if places:
            positions[cue] = [bisect_right(starts, place) - 1 for place in places]
    return positions


_END = "\0"
"""Separator of sentences: a character that folding leaves in none."""


def _places(phrase: Phrase, text: str) -> Iterator[int]:
    """Where a phrase begins; one with a gap counts once in a sentence."""
    head, *rest = phrase
    place = text.find(head)
    while place >= 0:
        following = place + len(head)
        if not rest:
            yield place
        else:
            end = text.find(_END, place)
            sentence = text[following : end if end >= 0 else len(text)]
            if _follow(rest, sentence):
                yield place
            following += len(sentence)
        place = text.find(head, following)


def _follow(parts: Sequence[str], text: str) -> bool:
    """The parts occur in this order."""
    place = 0
    for part in parts:
        position = text.find(part, place)
        if position < 0:
            return False
        place = position + len(part)
    return True


def content_words(spoken: Iterable[str], silent: Sequence[str], lexicon: Lexicon) -> list[str]:
    """The words that say something: neither function words nor `silent`; two CJK characters make a word.

    `silent` are words in Latin letters, or stems in the text's language.
    """
    whole, stems = frozenset(silent) | STOPWORDS, tuple(fold(word) for word in silent if word)
    words: list[str] = []
    for word in map(fold, spoken):
        if CJK.match(word) and lexicon.language != "ko":
            words += _pieces(word, stems, lexicon)
        elif word not in lexicon.stopwords and word not in whole and not _continues(word, stems, lexicon):
            words.append(word)
    return words


def _pieces(text: str, silent: Sequence[str], lexicon: Lexicon) -> Iterator[str]:
    for word in sorted((*silent, *lexicon.stopwords), key=len, reverse=True):
        text = text.replace(word, " ")
    for run in _RUN.findall(text):
        size = 3 if _KATAKANA.match(run) else 2
        yield from (run[start : start + size] for start in range(0, len(run), size))


def _continues(word: str, stems: Sequence[str], lexicon: Lexicon) -> bool:
    """The word is one of these stems with an ending; short Latin ones begin too many words."""
    longest = MAX_SUFFIX if lexicon.is_spaced else MAX_SUFFIX - 1
    fit = (stem for stem in stems if not stem.isascii() or len(stem) > 3)
    return any(word.startswith(stem) and len(word) - len(stem) <= longest for stem in fit)


def forms_of(own: Verb | None, lexicon: Lexicon) -> list[str]:
    """Every form and stem of the verb."""
    entries = (*lexicon.forms.items(), *lexicon.stems.items()) if own else ()
    return [form for form, lemma in entries if own and lemma == own.lemma]


def detect_language(text: str, vocabulary: AbstractSet[str]) -> str | None:
    """The ISO 639-1 code of a text's dominant language; `vocabulary` holds its lower-case words.

    None where it cannot be told: no letters, too few words, or a language that is not told from others here.
    """
    if not text.isascii() and _PATTERNS.beyond_latin.search(text):
        return _by_script(text) or _by_words(vocabulary)
    # English words and hardly any others: a fast check that nearly every description passes.
    if text.isascii() and FOREIGN.isdisjoint(vocabulary):
        is_plainly_english = not _ENGLISH_WORDS.isdisjoint(vocabulary)
    else:
        is_plainly_english = len(vocabulary & _ENGLISH_WORDS) > FEW * (len(vocabulary & FOREIGN) + 1)
    return "en" if is_plainly_english else _by_words(vocabulary)


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
    # an English text with one Chinese example stays English
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
    close = [leader for leader in leaders if len(leaders) == 1 or leader in SPACED]
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
    votes = set(_voters().get(word, ()))
    if not word.isascii():
        spoken = (languages for letters, languages in _TABLE["letters"].items() if not set(letters).isdisjoint(word))
        votes.update(*map(str.split, spoken))
    votes.update(language for ending, language in _TABLE["endings"].items() if word.endswith(ending))
    return votes - {"en"}


@cache
def _voters() -> Mapping[str, tuple[str, ...]]:
    voters: dict[str, tuple[str, ...]] = {}
    for language, words in _PROFILES.items():
        for word in words:
            voters[word] = (*voters.get(word, ()), language)
    return voters


@cache
def _english_vocabulary() -> frozenset[str]:
    phrases = (phrase.split() for phrases in PHRASES.values() for phrase in phrases)
    return _ENGLISH_WORDS.union(STOPWORDS, words_from("languages", "common_english"), *phrases)


def _with_lexicons(votes: Mapping[str, int], vocabulary: AbstractSet[str]) -> dict[str, int]:
    """A text of a few words is told by all its words: "Eliminar usuario"."""
    folded = set(map(fold, vocabulary)) - _english_vocabulary()
    counts = dict(votes)
    for language in SPACED:
        counts[language] = counts.get(language, 0) + len(folded & _lexicon_words(language))
    return counts


@cache
def _lexicon_words(language: str) -> frozenset[str]:
    """The words of a language's lexicon that do not vote for it by themselves."""
    lexicon = lexicon_of(language)
    return lexicon.words.difference(map(fold, _PROFILES.get(language, ()))) if lexicon else frozenset()
