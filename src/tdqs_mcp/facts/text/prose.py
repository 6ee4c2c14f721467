"""Facts of the text of a definition: sentences, verb, cues, contradictions, repetition, length, praise, lead-ins."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain
from typing import NamedTuple

from tdqs_mcp.canonical import trim, utf16_length
from tdqs_mcp.facts.lexicon import MAX_TEXT, PatternTable, lazy_pattern, words_from
from tdqs_mcp.facts.schema.signals import Parameter, Signals
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.text import foreign_prose
from tdqs_mcp.facts.text.foreign_prose import detect_language
from tdqs_mcp.facts.text.words import (
    CARRIERS,
    CJK,
    EFFECTS,
    IDEOGRAPHS,
    KNOWN,
    LEAD_IN,
    LEMMAS,
    OVERT_MUTATIONS,
    PHRASES,
    PREPOSITIONS,
    STOPWORDS,
    VAGUE_VERBS,
    Cue,
    Effect,
    Lexicon,
    ideograph_count,
    index_phrases,
    lexicon_of,
    phrases_in,
    stem,
)
from tdqs_mcp.model import Tool

MIN_LETTERS = 12
"""Letters below which a description says nothing beyond its purpose, whatever its language."""

MAX_ONLY_NAME = 400
"""Characters from which a description is more than a name."""

MIN_REPEATED = 5
"""Words of a sentence that counts as repeated."""

MIN_TOLD = 4
"""Words, or characters of Chinese, Japanese or Korean, of a sentence whose language is asked."""

MAX_START = 60
"""Characters of a sentence by which it is found in its text again."""

_SENTENCE_END = re.compile(
    r"\s(?:(?<=[.!?。！？]\s)(?<!e\.g\.\s)(?<!i\.e\.\s)(?<!etc\.\s)\s*|"
    r"(?<=[a-z0-9)\]]\s)\s*(?=(?:This (?:tool|function|is)|It (?:is|was|will|can|offers|provides|helps|allows|does)|"
    r"The tool|Use (?:this|it|when)|Please|You (?:can|will)|(?:Parameters?|Args|Arguments|Returns|Note)(?=:))\b))"
)
"""White space after punctuation, or before the opening of a sentence after one that nobody ended."""

_FULL_STOPS = "。！？"
_FULL_STOP = re.compile(rf"(?<=[{_FULL_STOPS}])(?!\s)")
"""Where a sentence ends without white space."""

_CAPITAL = re.compile(r"(?<=[\w)\]]) ([A-Z][a-z]*)(?= ([a-z]{1,40}))")

_OTHER_SCRIPT = lazy_pattern(
    rf"(\A[\x00-\x7f]{{12,}}[\w)\]])\s+(?={IDEOGRAPHS}{{3}})|({IDEOGRAPHS})\s+(?=[A-Z][a-z]* [a-z]+ [a-z]+ )"
)
"""Where a line of Latin words goes on in Chinese, Japanese or Korean, or the reverse: "Lists orders 列出客户的订单"."""

_NEW_BLOCK = re.compile(r"[^\w\s]|\d{1,3}[.)]|\w{1,80}(?: \([^)]{0,60}\))?:")
"""How a line begins that continues nothing: a list item or other mark, or a label such as `name (string): …`."""

_FENCED = lazy_pattern(r"(?ms)^[ \t]*```[^\n`]*\n.*?^[ \t]*```(?!\S)(?:[ \t]+(?=\S))?")
"""A block of code, with the blanks before what stands behind it on its last line."""

_BACKTICKED = re.compile(r"`([^`\s]{2,80})`")


@dataclass(frozen=True, kw_only=True)
class Prose:
    """Facts of the text of a definition; its cues are found when they are first read: coherence reads none."""

    language: str | None
    """ISO 639-1 code of the description's language; None where it cannot be told, or where there is no description."""

    is_readable: bool
    """Its cues and its verb are known: a known language, or too few letters to say anything in any."""

    sentences: tuple[str, ...]
    """Verbatim, in order; a line break ends a sentence where a list item, a label or an empty line follows."""

    spoken: Sequence[Sequence[str]]
    """The lower-case words of each sentence."""

    words: tuple[str, ...]
    """All of them, in order."""

    word_count: int
    """Words; two CJK characters count as one word."""

    verb: str | None
    """The lemma of the first verb of the first sentence."""

    effect: Effect | None
    """Effect of that verb, or of the name's verb where the text has none."""

    name_effect: Effect | None
    opens_with_verb: bool
    has_vague_verb: bool
    is_only_name: bool
    """Spelled out, the description is the name, or a title without a word more: `update_drive` as "Update drive."."""

    restates_loosely: bool
    """There are words, and the name has all of them: `delete_issue` described as "Deletes an issue."."""

    silent: AbstractSet[int]
    """The positions of sentences that an agent may not see, or reads twice: in a comment or a hidden element, or in a
    second language and without a number or identifier that no sentence before it has."""

    repeated_sentences: int
    """Those of MIN_REPEATED words that stand there more than once; short lines may well recur in a list."""

    contradiction: str | None
    """The word by which the description contradicts a hint; None when facts prove no contradiction."""

    steered: AbstractSet[int] = frozenset()
    """The positions of sentences that tell the agent to choose the tool; they give no cue."""

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The different words."""
        return frozenset(self.words)

    @cached_property
    def cues(self) -> Mapping[Cue, str]:
        """The first sentence that gives each cue; a silent one and one that steers the choice give none."""
        return {cue: self.sentences[places[0]] for cue, places in self.cue_places.items()}

    @cached_property
    def cue_places(self) -> Mapping[Cue, Sequence[int]]:
        """The positions of the sentences that give each cue, once for each time, in order."""
        by_cue, lexicon = _cues(self.spoken), lexicon_of(self.language)
        if lexicon:
            foreign = foreign_prose.find_cues(self.sentences, self.spoken, lexicon)
            by_cue |= {cue: max(places, by_cue.get(cue, []), key=len) for cue, places in foreign.items()}
        mute = self.silent | self.steered
        audible = {cue: [place for place in places if place not in mute] for cue, places in by_cue.items()}
        return {cue: places for cue, places in audible.items() if places}


def read(tool: Tool, signals: Signals) -> Prose:
    """The facts of a tool's text; linear in its length."""
    text = trim(tool.description or "")[:MAX_TEXT]
    sentences = sentences_of(text)
    spoken = [words_of(sentence) for sentence in sentences]
    silent = _silent_places(text, sentences, spoken)
    audible = [place for place in range(len(sentences)) if place not in silent]
    all_words = tuple(chain.from_iterable(spoken))
    vocabulary = {word for place in audible for word in spoken[place]}
    language = detect_language("\n".join(sentences[place] for place in audible) if silent else text, vocabulary)
    lexicon = lexicon_of(language)
    if lexicon:
        spoken = [foreign_prose.split_words(sentence, lexicon) for sentence in sentences]
        all_words = tuple(chain.from_iterable(spoken))
    parts = name_parts(tool.name)
    name_words = {*parts, *map(stem, (*parts, *words_of(tool.name)))}
    long = [sentence for sentence, words in zip(sentences, spoken, strict=True) if len(words) >= MIN_REPEATED]
    name_effect = next((EFFECTS[lemma] for part in parts if (lemma := LEMMAS.get(part))), None)
    reading = (
        _foreign(text, sentences, spoken, lexicon, name_words, name_effect)
        if lexicon
        else _english(text, spoken, vocabulary, name_words)
    )
    return Prose(
        language=language,
        is_readable=language in KNOWN or sum(map(str.isalpha, text)) < MIN_LETTERS,
        sentences=sentences,
        spoken=spoken,
        words=all_words,
        word_count=reading.word_count,
        verb=reading.verb,
        effect=reading.effect or name_effect,
        name_effect=name_effect,
        opens_with_verb=reading.opens_with_verb,
        has_vague_verb=reading.has_vague_verb,
        is_only_name=_is_only_name(text, tool),
        restates_loosely=bool(all_words and not reading.says_more and (lexicon or not ideograph_count(text))),
        silent=silent,
        repeated_sentences=len(long) - len(set(long)),
        contradiction=reading.mutation if signals.read_only is True else None,
    )


def _is_only_name(text: str, tool: Tool) -> bool:
    """A title counts where the name has each of its words: one that says more makes a description of its own."""
    if len(text) >= MAX_ONLY_NAME:
        return False
    spelled, name = name_parts(text), name_parts(tool.name)
    # `update_drive` with the title and description "Update drive"
    is_title = spelled == name_parts(tool.title or "") and set(spelled) <= set(name)
    is_same = spelled == name or is_title or text.lower() == trim(tool.name.lower())
    return bool(spelled) and is_same


class _Reading(NamedTuple):
    """Facts that depend on the language of a text; a named tuple, because a dataclass would be slower to make."""

    word_count: int
    verb: str | None
    effect: Effect | None
    opens_with_verb: bool
    has_vague_verb: bool
    says_more: bool
    """A word that the name does not have says something."""

    mutation: str | None
    """The word of an overt mutation with which the description opens (TDQS, calibration)."""


def _english(
    text: str, spoken: Sequence[Sequence[str]], vocabulary: Iterable[str], name_words: AbstractSet[str]
) -> _Reading:
    lead = spoken[0] if spoken else []
    verb, position = _lead_verb(lead, name_words)
    is_overt = verb in OVERT_MUTATIONS and position == 0
    return _Reading(
        word_count=sum(map(len, spoken)) + ideograph_count(text) // 2,
        verb=verb,
        effect=EFFECTS[verb] if verb else None,
        opens_with_verb=verb is not None and position == 0,
        has_vague_verb=verb in VAGUE_VERBS,
        says_more=any(form not in _SILENT and form not in name_words for form in map(stem, vocabulary)),
        mutation=next(word for word in lead if LEMMAS.get(word) == verb) if is_overt else None,
    )


def _foreign(
    text: str,
    sentences: Sequence[str],
    spoken: Sequence[Sequence[str]],
    lexicon: Lexicon,
    name_words: AbstractSet[str],
    name_effect: Effect | None,
) -> _Reading:
    lead = spoken[0] if spoken else []
    verb = foreign_prose.find_verb(sentences[0], lead, lexicon) if sentences else None
    own = foreign_prose.forms_of(verb, lexicon)
    again = own if verb and verb.effect is name_effect else ()
    familiar = (*name_words, *(noun for word in name_words for noun in lexicon.nouns.get(word, ())), *again)
    return _Reading(
        word_count=foreign_prose.count_words(text, [word for sentence in spoken for word in sentence]),
        verb=lexicon.spelling[verb.lemma] if verb else None,
        effect=verb.effect if verb else None,
        opens_with_verb=verb is not None and verb.opens,
        has_vague_verb=verb is not None and verb.lemma in lexicon.vague,
        says_more=bool(foreign_prose.content_words([word for words in spoken for word in words], familiar, lexicon)),
        mutation=verb.word if verb and verb.opens and verb.lemma in lexicon.overt else None,
    )


def sentences_of(text: str) -> tuple[str, ...]:
    """The sentences as they stand; a line that continues the one before it stays with it."""
    text = trim(text)[:MAX_TEXT]
    if "``` " in text:
        text = _FENCED.sub(lambda block: block[0] if block[0].endswith("`") else f"{block[0]}\n\n", text)
    blocks: list[str] = []
    is_open = False
    for line in text.split("\n"):
        # "Lists orders\nof a customer" is one sentence
        begins_anew = not is_open or _NEW_BLOCK.match(line.lstrip()) is not None
        if line.strip():
            blocks[len(blocks) - (not begins_anew) :] = [line if begins_anew else f"{blocks[-1]}\n{line}"]
        is_open = bool(line.strip()) and not line.rstrip().endswith(":")
    if not text.isascii() and CJK.search(text):
        blocks = [half for block in blocks for half in _OTHER_SCRIPT.sub("\\1\\2\0", block).split("\0")]
    if any(map(text.__contains__, _FULL_STOPS)):
        blocks = [_FULL_STOP.sub(" ", block) for block in blocks]
    ended = (part for block in blocks for part in _SENTENCE_END.split(block))
    parts = (part.strip() for sentence in ended for part in _CAPITAL.sub(_end_sentence, sentence).split("\0"))
    return tuple(part for part in parts if part)


def _end_sentence(match: re.Match[str]) -> str:
    """An end between a word that ends no phrase's beginning and a capital: "Lists orders Returns up to 20"."""
    word, after = match.group(1, 2)
    opens = word.lower() in _joining() or (word[-1] == "s" and word.lower() in LEMMAS)
    before = match.string[: match.start()].rsplit(None, 1)[-1].rstrip(")]")
    is_capitalized = before[:1].isupper()
    is_verb = before in LEMMAS and before[-1] != "s"  # orders is a noun as well
    is_inside = before in _joining() or is_verb or (is_capitalized and not before.isupper())
    return match[0] if is_inside or not (opens or (after in _joining() and not is_capitalized)) else f"\0{word}"


@cache
def _joining() -> AbstractSet[str]:
    """Words that stand inside a sentence or begin one, whatever it is about."""
    return STOPWORDS | PREPOSITIONS | words_from("wording", "empty")


def _silent_places(text: str, sentences: Sequence[str], spoken: Sequence[Sequence[str]]) -> frozenset[int]:
    """The positions of sentences that stand in what a page hides, or repeat the text in a second language."""
    may_hide = "<" in text or "](" in text or "]:" in text
    hidden = [match.span() for match in _PATTERNS.hidden.finditer(text)] if may_hide else []
    silent = set()
    if hidden:
        end = 0
        for place, sentence in enumerate(sentences):
            start = max(text.find(sentence[:MAX_START], end), end)
            end = start + len(sentence)
            if any(opening < end and start < closing for opening, closing in hidden):
                silent.add(place)
    return frozenset(silent.union(_repeated_abroad(sentences, spoken)))


def _repeated_abroad(sentences: Sequence[str], spoken: Sequence[Sequence[str]]) -> Iterator[int]:
    if all(map(str.isascii, sentences)) and all(map(foreign_prose.FOREIGN.isdisjoint, spoken)):
        return
    first = None
    for place, (sentence, words) in enumerate(zip(sentences, spoken, strict=True)):
        is_english = sentence.isascii() and foreign_prose.FOREIGN.isdisjoint(words)
        is_long = len(words) >= MIN_TOLD or ideograph_count(sentence) >= MIN_TOLD
        if is_english and first in (None, "en"):
            language: str | None = "en" if words else None
        else:
            language = detect_language(sentence, set(words)) if is_long else first
        # One sentence does not tell Italian from Spanish or English; it tells a script, and what is not English.
        has_other_script = bool(ideograph_count(sentence)) != bool(ideograph_count(sentences[0]))
        is_other = language not in (None, first) and (first == "en" or has_other_script)
        if is_other and first is not None and _marks([sentence]) <= _marks(sentences[:place]):
            yield place
        first = first or language


def _marks(sentences: Sequence[str]) -> set[str]:
    """The numbers and identifiers."""
    return {mark.strip("`") for sentence in sentences for mark in _PATTERNS.mark.findall(sentence)}


def cues_of(words: Sequence[str]) -> frozenset[Cue]:
    """Return what one English sentence, given as its lower-case words, tells an agent."""
    return frozenset(_cues([words]))


def _lead_verb(words: Sequence[str], name_words: AbstractSet[str]) -> tuple[str | None, int]:
    """The first verb within eight words and its position, not counting a lead-in such as "This tool"."""
    skipped = 0
    for position, word in enumerate(words[:8]):
        # "Use this tool to search": the verb is search
        if word in LEAD_IN and (word != "use" or position == 0):
            skipped += 1
        elif lemma := LEMMAS.get(word):
            # "Commits of a branch"; `package_updates`, "Updates to a package"
            prepositions = PREPOSITIONS if word in name_words else {"of"}
            if word == lemma or word[-1] != "s" or prepositions.isdisjoint(words[position + 1 : position + 2]):
                return lemma, position - skipped
    return None, 0


_SILENT = STOPWORDS.union(LEAD_IN, map(stem, LEAD_IN), VAGUE_VERBS, CARRIERS)
"""Words that say nothing about what a tool does."""

_CUES = index_phrases(PHRASES.items())


def _cues(spoken: Sequence[Sequence[str]]) -> dict[Cue, list[int]]:
    """The positions of the sentences that give each cue, once for each time, in order."""
    places: dict[Cue, list[int]] = {}
    for place, words in enumerate(spoken):
        for _, cue in phrases_in(words, _CUES):
            places.setdefault(cue, []).append(place)
    return places


def find_parameters(description: str | None, words: Sequence[str], parameters: Sequence[Parameter]) -> tuple[str, ...]:
    """Parameters that the description, given with its words, names: in backticks, or by all words of their name."""
    if not parameters or not words:
        return ()
    spoken = {*words, *map(stem, words)}
    text = trim(description or "")[:MAX_TEXT]
    quoted = set(_BACKTICKED.findall(text)) if "`" in text else frozenset()
    names = [parameter.name for parameter in parameters]
    return tuple(
        name
        for name in names
        if name.lower() in spoken or name in quoted or spoken >= set(map(stem, name_parts(name) or (name,)))
    )


def copied_sentences(sentences: Sequence[str], parameters: Sequence[Parameter]) -> Iterator[tuple[str, int]]:
    """Yield the sentences that are a parameter's description already, maybe behind a label, with their copied words."""
    texts = {plain_text(parameter.description) for parameter in parameters if parameter.description}
    for sentence in sentences if texts else ():
        line = plain_text(sentence)
        part = line if line in texts else line.partition(":")[2].strip()
        if part in texts:
            yield sentence, len(part.split())


def plain_text(text: str) -> str:
    """A text for comparison: in lower case, with single blanks and without its last full stop."""
    return " ".join(trim(text).rstrip(".").lower().split())


_PATTERNS = PatternTable("wording")
_words = partial(words_from, "wording")
MAX_BEYOND_LATIN = 10
"""Percent of letters beyond Latin from which English word lists say nothing about a text."""

_LETTERS_BEYOND_LATIN = lazy_pattern(r"[^\W\d_a-zA-Z\u00aa-\u024f\u1e00-\u1eff]")
_FIRST_WORD = lazy_pattern(r"[A-Za-z]+")


def count_code_units(tool: Tool) -> int:
    """UTF-16 code units of the trimmed description, as JavaScript counts; 0 without one."""
    return utf16_length(trim(tool.description or ""))


def is_latin(tool: Tool) -> bool:
    """Nearly all letters of the description are Latin, so that English word lists may be asked at all."""
    text = (tool.description or "")[:MAX_TEXT]
    return text.isascii() or 100 * len(_LETTERS_BEYOND_LATIN.findall(text)) < MAX_BEYOND_LATIN * len(text)


def find_praise(text: str) -> str | None:
    """The first words that praise."""
    match = _PATTERNS.praise.search(text) or _PATTERNS.judgment.search(text.strip())
    return match[0] if match else None


def lead_in_length(text: str) -> int:
    """Characters of a sentence before its verb that only say that it is a tool: "This tool allows you to "."""
    match = _PATTERNS.lead_in.match(text)
    word = match and _FIRST_WORD.match(text, match.end())
    return match.end() if match and word and word[0].lower() in LEMMAS else 0


def asks_for_credentials(text: str) -> str | None:
    """The first sentence that tells the reader to; None where there is none, or where the sentence denies it."""
    for sentence in _PATTERNS.credential_sentence.findall(text.replace("`", "").replace("*", "")):
        match = _PATTERNS.credential_request.search(sentence)
        if match and not _PATTERNS.credential_denial.search(sentence[: match.end()]):
            return " ".join(sentence.split())
    return None


def credential_variables(text: str) -> list[str]:
    """The names of environment variables in the text that hold a credential by their last word."""
    return _PATTERNS.credential_name.findall(text)
