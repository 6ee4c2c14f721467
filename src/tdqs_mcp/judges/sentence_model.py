"""Information in each sentence of a description: weights of terms and traits, fitted to readers' labels."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import chain, count, pairwise
from typing import Any, NamedTuple

from tdqs_mcp.facts.lexicon import MAX_EXPLANATION, words_from
from tdqs_mcp.facts.spelling import name_parts, start_of_second_word, words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.prose import Prose, lead_in_length
from tdqs_mcp.facts.text.words import CJK, PHRASES, STOPWORDS, Cue, content_stems, empty_stems, has_word, stem

MAX_WORDS = 60
"""Words of a sentence that are read; hardly a sentence has more."""

MAX_PROPERTIES = 200
"""Properties, nested ones included, whose names are known; the largest real schema has fewer."""

MAX_DEPTH = 4
"""Levels of nested objects whose properties are read."""

FULL = 100
"""A trait that holds, and the whole of a share."""

LONG, MANY, SEVERAL = 40, 10, 6
"""Words of a sentence, new words, and new words beside a reference, that count as 100 percent."""

PARAMETER, TOOL, SELF, NUMBER = "<parameter>", "<tool>", "<self>", "<number>"
"""Terms for a parameter, a sibling, the tool itself and whatever has a digit."""


class Sentence(NamedTuple):
    """A sentence and what is measured of it."""

    text: str
    """Verbatim; an opening that only says that it is a tool is not measured."""

    terms: frozenset[str]
    """Stems of its words, each two in a row, and those of the heading that it stands under."""

    traits: Mapping[str, int]
    """Shares of its content words and other properties, in percent."""

    stems: frozenset[str]
    """Of its words."""

    fresh: frozenset[str]
    """Content words that no sentence before it has."""

    particulars: frozenset[str]
    """Those that neither the schema nor words that fit any tool have."""

    telling: frozenset[str]
    """Fresh words that neither announce the kind of statement nor are said twice in it; none where it is circular."""

    tied: frozenset[str]
    """Content words, besides those of the name, that a name, a parameter or a first sentence of the server has."""

    loose: frozenset[str]
    """Content words that none of them has."""

    word_count: int
    distinct: int
    """Different words: what is said twice counts once."""

    entry: str | None
    """The parameter whose entry it is, in lower case."""

    is_silent: bool
    """An agent may not see it, reads it twice or in other tools too, or is told by it what to choose."""

    is_prose: bool
    """Neither a heading, an entry of a list of parameters nor a mere word or two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A definition's sentences, and the words that it has besides."""

    sentences: Sequence[Sentence]
    clauses: Sequence[Sentence]
    """Of the first sentence, where more than a word or two follows its first clause: that clause, and the rest."""

    repeated: int
    """Words that stand there once more."""

    own: frozenset[str]
    """Words of the name and the title."""

    names: Mapping[str, frozenset[str]]
    """Words of the name of each top-level parameter."""

    described: Mapping[str, frozenset[str]]
    """Words of its description in the schema."""


CUE_TRAITS: Mapping[Cue, str] = {cue: f"cue {cue}" for cue in Cue}
FUNCTION_STEMS = frozenset(map(stem, STOPWORDS))
"""Stems of the words of every sentence."""

_ENTRY = re.compile(
    r"\W{0,8}(\w[\w.\-]{0,60})[`\"'*]{0,4}\s{0,4}(?:\([^)\n]{0,80}\)|\[[^\]\n]{0,80}\])?\s{0,4}(?:[:：=–]|- )"  # noqa: RUF001
)
_ITEM = re.compile(r"\W{0,3}(?:[-*•·–]|\d{1,3}[.)]|#)\s|[-*•]")  # noqa: RUF001
_LABEL = re.compile(r"\W{0,8}[\w. -]{1,40}\W{0,4}\s{0,4}(?:[:：=–]|- )")  # noqa: RUF001
_DIGIT = re.compile(r"\d")
_IDENTIFIER = re.compile(r"[\d_]")
"""A name is particular by its form: not_in_channel."""

_QUOTE = re.compile(r"[\"'`]")
_PROPER = re.compile(r"(?<=[a-z,] )[A-Z]\w")
"""A capital inside a sentence: "in Markdown"."""

_BRIEF = 4
"""Words below which a line is no prose."""

_CLAUSE_END = re.compile(r"\s[-–—]+\s|[;:(,—；：（，]\s?|\n|(?<=[a-z0-9)])\s(?=[A-Z][a-z]* [a-z])")  # noqa: RUF001
"""Where a clause ends: a mark or a line's end, or before what looks like a sentence behind one that nobody ended."""

_CONDITIONAL = frozenset("if once unless when whenever".split())
_CONDITION = re.compile(r"(?i)\b(?:if|once|unless|when|whenever)\b[^,;.:()]*")
"""A condition, to the end of its clause."""

MIN_KIN, MAX_ENDING = 4, 2
"""Letters that two forms of a word share at least, and letters in which the shorter one may end otherwise."""

_ANNOUNCING = (Cue.WHEN, Cue.WHEN_NOT, Cue.ALTERNATIVE, Cue.PREREQUISITE, Cue.ERROR, Cue.RETURN)

_HEADING_WORDS = 6
"""Last words of a heading that count for what stands under it."""


@cache
def generic_stems() -> frozenset[str]:
    """Stems of words that fit any tool and so tell nothing about this one."""
    return frozenset(map(stem, words_from("wording", "generic")))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """Knowledge that an agent has of a tool without its description."""

    subject: Subject
    own: frozenset[str]
    names: frozenset[str]
    """Words of the parameters' names."""

    described: frozenset[str]
    """Words of their descriptions."""

    about: frozenset[str]
    """All of these."""

    properties: AbstractSet[str]
    server: AbstractSet[str]
    """Words of what all tools of the server are about."""

    mute: AbstractSet[int]
    """The positions of sentences that tell nothing behind the first one: they steer, or stand in other tools too."""


def read_text(subject: Subject, measured: Measured | None = None) -> Text:
    """The text of a definition, beside those of its siblings where the catalog is known; linear in its length."""
    index = subject.tool.index
    templates = measured.template_places.get(index, frozenset()) if measured else frozenset()
    tool, parameters = subject.tool, subject.signals.parameters
    own = _stems(part for label in (tool.name, tool.title or "") for part in name_parts(label)) | {tool.name.lower()}
    names = {parameter.name: _stems(name_parts(parameter.name)) for parameter in parameters}
    described = {parameter.name: _stems(words_of(parameter.description[:MAX_EXPLANATION])) for parameter in parameters}
    context = _Context(
        subject=subject,
        own=own,
        names=frozenset().union(*names.values()),
        described=frozenset().union(*described.values()),
        about=own.union(*names.values(), *described.values()),
        properties=frozenset(name.lower() for name in _property_names(tool.input_schema)),
        server=measured.stems if measured else subject.stems,
        mute=subject.prose.steered | templates,
    )
    prose = subject.prose
    sentences = tuple(_sentences(context, zip(count(), prose.sentences, prose.spoken, _headings(prose))))
    words = prose.words
    return Text(
        sentences=sentences,
        clauses=tuple(_sentences(context, _clauses(prose.sentences[0]))) if prose.sentences else (),
        repeated=len(words) - len(_stems(words)),
        own=own,
        names=names,
        described=described,
    )


Line = tuple[int, str, Sequence[str], Sequence[str]]
"""The position of a sentence, its text or a clause of it, the words, and the last words of its heading."""


def _clauses(text: str) -> Iterator[Line]:
    """The first clause of the first sentence, and the rest; nothing where one of them is short."""
    second_word = start_of_second_word(text)
    end = _CLAUSE_END.search(text, second_word + 1) if second_word is not None else None
    if end and sum(len(_parts(word)) for word in words_of(text[end.end() :])) >= _BRIEF:
        for clause in (text[: end.start()], text[end.end() :].strip()):
            yield 0, clause, words_of(clause), ()


def _sentences(context: _Context, lines: Iterable[Line]) -> Iterator[Sentence]:
    prose = context.subject.prose
    cues: dict[int, list[str]] = {}
    for cue, places in prose.cue_places.items():
        for place in places:
            cues.setdefault(place, []).append(CUE_TRAITS[cue])
    fresh_before: set[str] = set()
    earlier: set[str] = set()
    for number, (place, verbatim, sentence, heading) in enumerate(lines):
        skipped = lead_in_length(verbatim) if number == 0 else 0
        text, spoken = (verbatim[skipped:], words_of(verbatim[skipped:])) if skipped else (verbatim, sentence)
        words = spoken if text.isascii() else [part for word in spoken for part in _parts(word)]
        stems = list(map(stem, words))
        telling = set() if place in prose.silent else {form for form in stems if len(form) > 1} - FUNCTION_STEMS
        fresh = frozenset(telling - generic_stems() - context.own - fresh_before)
        content = telling.intersection(stems[:MAX_WORDS])
        match = _ENTRY.match(text)
        name = match[1].lower() if match else ""
        entry = name if name in context.properties and place not in prose.silent else None
        is_heading, is_item, is_label = _is_heading(text), bool(_ITEM.match(text)), bool(_LABEL.match(text))
        traits = {
            "first": FULL * (number == 0),
            "heading": FULL * is_heading,
            "item": FULL * is_item,
            "label": FULL * is_label,
            "label of no parameter": FULL * (is_label and entry is None),
            "under heading": FULL * bool(heading),
            "item under heading": FULL * (is_item and bool(heading)),
            "length": FULL * min(len(set(words[:MAX_WORDS])), LONG) // LONG,
            **_share(context, content, fresh=fresh, earlier=earlier, is_first=number == 0, is_entry=bool(entry)),
            **_reference(context, words[:MAX_WORDS], content=content, earlier=earlier),
            "repeats itself": FULL * (len(stems) - len(set(stems))) // max(1, len(stems)),
            "proper name": FULL * (_PROPER.search(text) is not None),
            **dict.fromkeys(cues.get(place, ()), FULL),
            "parenthesis": FULL * ("(" in text),
            "quotation": FULL * (_QUOTE.search(text) is not None),
            "number": FULL * (_DIGIT.search(text) is not None),
            "translated": FULL * (prose.language not in ("en", None)),
        }
        yield Sentence(
            text=verbatim,
            terms=_terms(context, text, words[:MAX_WORDS], stems, heading=heading, is_first=number == 0),
            traits={trait: value for trait, value in traits.items() if value},
            stems=frozenset(stems),
            fresh=fresh,
            particulars=frozenset(form for form in fresh - context.names - context.described if form.isalpha()),
            telling=_telling_words(fresh, text, words, label=is_label and entry is None),
            tied=frozenset(content.intersection(context.server) - generic_stems() - context.own),
            loose=frozenset(content.difference(context.server, generic_stems(), context.own)),
            word_count=len(spoken),
            distinct=len(set(spoken)),
            entry=entry,
            is_silent=place in prose.silent
            or (number > 0 and (place in context.mute or traits["said before"] == FULL)),
            is_prose=not is_heading and entry is None and len(spoken) >= _BRIEF,
        )
        fresh_before |= fresh
        earlier |= content


def _telling_words(fresh: AbstractSet[str], text: str, words: Sequence[str], *, label: bool) -> frozenset[str]:
    """Return the fresh words that are particular to what the sentence states.

    A label such as "Warning:" announces, a word that stands there twice repeats, and a condition that has all of its
    consequence repeats it: "fails if an error occurs", "returns the matching ones, or nothing if nothing matches".
    """
    telling = {form for form in fresh - _announcing_stems() if not form.isnumeric()}
    if not telling:
        return frozenset()
    if label and (match := _LABEL.match(text)):
        telling -= _stems(words_of(match[0]))
    twice = {form for form, number in Counter(map(stem, words)).items() if number > 1}
    if _CONDITIONAL.isdisjoint(words):
        return frozenset(telling - twice)
    conditions = frozenset(chain.from_iterable(map(content_stems, map(words_of, _CONDITION.findall(text)))))
    consequence = content_stems(words_of(_CONDITION.sub(" ", text)))
    repeated = {form for form in consequence if has_word(conditions, form) or _has_kin(conditions, form)}
    if repeated and telling.isdisjoint(consequence - repeated):
        return frozenset()
    return frozenset(telling - twice)


def _has_kin(stems: AbstractSet[str], word: str) -> bool:
    """Return whether another form of the word is there: failure for fail, success for succeed."""
    shared = (max(MIN_KIN, min(len(word), len(form)) - MAX_ENDING) for form in stems)
    return any(word[:length] == form[:length] for form, length in zip(stems, shared, strict=True))


@cache
def _announcing_stems() -> frozenset[str]:
    """Stems that claim nothing, or only announce what follows: an occasion, a failure, a result."""
    cues = (phrase for cue in _ANNOUNCING for phrase in PHRASES[cue] if " " not in phrase)
    return empty_stems() | generic_stems() | _stems(cues)


def _is_heading(text: str) -> bool:
    line = text.strip()
    return line.endswith((":", "：")) or line.startswith("#") or (line.startswith("**") and line.endswith("**"))  # noqa: RUF001


def _headings(prose: Prose) -> list[tuple[str, ...]]:
    """For each sentence the last words of the heading that it stands under, as stems."""
    headings: list[tuple[str, ...]] = []
    heading: tuple[str, ...] = ()
    since = 0
    for text, spoken in zip(prose.sentences, prose.spoken, strict=True):
        is_listed = bool(heading and (_ITEM.match(text) or _LABEL.match(text)))
        headings.append(heading if is_listed or since == 0 else ())
        since += 1
        if _is_heading(text):
            heading, since = tuple(map(stem, spoken[-_HEADING_WORDS:])), 0
        elif not is_listed and since > 1:
            heading = ()
    return headings


def _share(
    context: _Context,
    content: AbstractSet[str],
    *,
    fresh: AbstractSet[str],
    earlier: AbstractSet[str],
    is_first: bool,
    is_entry: bool,
) -> dict[str, int]:
    """Return what a sentence's content words are shared with, and how many are new."""
    added = fresh - context.names - context.described
    alone = content - context.about - earlier

    def share(words: AbstractSet[str]) -> int:
        return FULL * len(content & words) // max(1, len(content))

    new, more = FULL * min(len(fresh), MANY) // MANY, FULL * min(len(added), MANY) // MANY
    of_name = share(context.own)
    is_apart = not is_first and bool(content) and len(alone) == len(content)
    return {
        "new": new,
        "nothing new": FULL * (not fresh),
        "hardly new": FULL * (len(fresh) <= 1),
        "added": more,
        "nothing added": FULL * (not added),
        "hardly added": FULL * (len(added) <= 1),
        "of name": of_name,
        "said before": share(earlier),
        "of parameters": share(context.names),
        "of schema": share(context.described),
        "generic": share(generic_stems()),
        "unrelated": FULL - share(content - (alone - generic_stems())) if content else 0,
        "apart": FULL * is_apart,
        "long apart": FULL * is_apart * min(len(content), 8) // 8,
        "entry": FULL * is_entry,
        "added by entry": more * is_entry,
        "new at first": new * is_first,
        "of name at first": of_name * is_first,
    }


def _reference(
    context: _Context, words: Sequence[str], *, content: AbstractSet[str], earlier: AbstractSet[str]
) -> dict[str, int]:
    """Return the traits of a sentence that names siblings: how it is related to them, what it adds to their names."""
    siblings, own = context.subject.siblings, context.subject.tool.name.lower()
    named = [word for word in words if word != own and word in siblings]
    if not named:
        return {}
    sibling_stems = frozenset(stem(part) for name in named for part in name_parts(siblings[name]))
    beside = content - sibling_stems - frozenset(map(stem, named)) - generic_stems()
    return {
        "reference": FULL,
        "related reference": FULL * (not sibling_stems.isdisjoint(context.own)),
        "words beside reference": FULL * min(len(beside), SEVERAL) // SEVERAL,
        "bare reference": FULL * (not beside),
        "new beside reference": FULL * min(len(beside - context.about - earlier), SEVERAL) // SEVERAL,
    }


def _terms(
    context: _Context,
    text: str,
    words: Sequence[str],
    stems: Sequence[str],
    *,
    heading: Sequence[str],
    is_first: bool,
) -> frozenset[str]:
    own, siblings, parameters = context.subject.tool.name.lower(), context.subject.siblings, context.properties
    is_spaced = text.isascii() or not CJK.search(text)

    def term(word: str, form: str) -> str:
        if word in parameters:
            return PARAMETER
        if word == own:
            return SELF
        if word in siblings:
            return TOOL
        return form if word.isalpha() or not _DIGIT.search(word) else NUMBER

    terms = list(map(term, words, stems)) if is_spaced else words
    pairs = map(" ".join, pairwise(["<start>", *terms, "<end>"])) if is_spaced else ()
    opening = [f"first {form}" for form in terms] if is_first else ()
    return frozenset([*terms, *pairs, *opening, *(f"under {word}" for word in heading)])


def _stems(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(stem, words))


def _parts(word: str) -> Sequence[str]:
    """A run of Chinese or Japanese, which has no spaces, counts as a word for every two characters."""
    return [word[start : start + 2] for start in range(0, len(word), 2)] if CJK.search(word) else (word,)


def _property_names(schema: Mapping[str, Any] | None) -> Iterator[str]:
    """Names of properties at every level, breadth first, MAX_PROPERTIES at most."""
    level: list[Any] = [schema]
    left = MAX_PROPERTIES
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for node in level:
            if not isinstance(node, Mapping):
                continue
            properties = node.get("properties")
            for name, child in (properties if isinstance(properties, Mapping) else {}).items():
                if left == 0:
                    return
                left -= 1
                yield name
                below.append(child)
            below.append(node.get("items"))
            for keyword in ("anyOf", "oneOf", "allOf"):
                branches = node.get(keyword)
                below += branches[:MAX_PROPERTIES] if isinstance(branches, list) else []
        level = [node for node in below[:MAX_PROPERTIES] if node is not None]


MOST = 200
"""Hundredths that a sentence tells of one aspect at most: it would be missed. 100 is a hint (the readers' 2 and 1)."""


class Aspect(StrEnum):
    """Kind of information that a sentence may give."""

    PURPOSE = "purpose"
    USAGE = "usage"
    BEHAVIOR = "behavior"
    RESULT = "result"
    ARGUMENTS = "arguments"


_ASPECTS = tuple(Aspect)  # an enum is slow to iterate
UNRELATED, NOTHING, PARTICULAR = "unrelated", "nothing", "particular"
"""The last columns of weights: that the sentence is about something else, that it tells nothing, and that it would not
fit any tool."""

BITS = 30
"""Bits of rarity that count as 100 percent, and the number of particular words that are counted."""

COUNTED = 5


class SentenceReading(NamedTuple):
    """A sentence and what it tells."""

    sentence: Sentence
    tells: Mapping[Aspect, int]
    """Hundredths, 0-200, of what an agent learns, after what is probably about something else."""

    unrelated: int
    """Percent of probability that it is about something else than the tool."""

    nothing: int
    """Percent of probability that it tells nothing."""

    share: int
    """Percent of what it tells that counts: its probability to be about the tool, and to fit no other."""

    most: int
    """Hundredths of the aspect that it tells most about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceModel:
    """Logistic regressions, an ordinal one for each aspect, in thousandths."""

    bases: Sequence[int]
    seconds: Sequence[int]
    """Number added to the sum for the label 2 instead of 1, by aspect; negative."""

    terms: Mapping[str, Sequence[int]]
    """By term, its weight in each column."""

    traits: Mapping[str, Sequence[int]]
    """By trait, the same for the whole of it."""

    rarity: Mapping[str, int]
    """Tenths of the bits that a word tells by the servers whose definitions have it; "" stands for all others."""

    gate: tuple[int, int]
    """Percent of PARTICULAR up to which a sentence earns nothing, and from which it earns all."""

    bound: "SpecificityBound | None"
    """None in a calibration without one."""

    logistic: Sequence[int]
    """The sums at which the probability rounds to 1%, 2%, … 100%."""

    def read(self, text: Text) -> tuple[SentenceReading, ...]:
        """Return what each sentence tells; the first one is always about the tool, and what repeats tells nothing.

        What follows the first clause of the first sentence is a sentence of its own where it would fit any tool.
        """
        sentences = text.sentences
        if text.clauses and self._read(text.clauses[1], is_first=False).share == 0:
            sentences = (*text.clauses, *sentences[1:])
        return tuple(self._read(sentence, is_first=place == 0) for place, sentence in enumerate(sentences))

    def _read(self, sentence: Sentence, *, is_first: bool) -> SentenceReading:
        if sentence.is_silent:
            return SentenceReading(
                sentence=sentence, tells=dict.fromkeys(Aspect, 0), unrelated=0, nothing=100, share=0, most=0
            )
        traits = chain(sentence.traits.items(), particularity(sentence, self.rarity).items())
        parts = [(self.traits[trait], value) for trait, value in traits if trait in self.traits]
        shares = [row if value == FULL else [weight * value // FULL for weight in row] for row, value in parts]
        rows = filter(None, map(self.terms.get, sentence.terms))
        sums = list(map(sum, zip(self.bases, *rows, *shares, strict=True)))
        unrelated = 0 if is_first else bisect_right(self.logistic, sums[-3])
        nothing = max(unrelated, bisect_right(self.logistic, sums[-2]))
        low, high = self.gate
        particular = FULL * (bisect_right(self.logistic, sums[-1]) - low) // (high - low)
        is_pointer = "words beside reference" in sentence.traits  # "To give it up, use cancel_request instead."
        is_exempt = is_first or is_pointer or sentence.entry is not None or sentence.word_count < _BRIEF
        is_bound = not (is_first or sentence.entry or "reference" in sentence.traits)
        most, proven = self.bound.shares(sentence, self.rarity) if self.bound and is_bound else (FULL, FULL)
        share = (FULL - unrelated) * min(most, FULL if is_exempt else max(0, min(FULL, particular))) // FULL
        earned = share * min(proven, most) // max(1, most)
        tells, strongest = {}, 0
        for aspect, total, second in zip(_ASPECTS, sums, self.seconds, strict=False):
            degree = bisect_right(self.logistic, total) + bisect_right(self.logistic, total + second)
            tells[aspect] = degree * earned // FULL
            strongest = max(strongest, degree * share // FULL)
        return SentenceReading(
            sentence=sentence,
            tells=tells,
            unrelated=unrelated,
            nothing=nothing,
            share=earned,
            most=strongest,
        )


MAX_RARITY = 200
"""Tenths of bits that no word has: a million servers would have to lack it."""


class SpecificityBound(NamedTuple):
    """How much a sentence may earn by its telling words, however it is worded; in tenths of bits."""

    common: int
    """Rarity up to which a word counts nothing."""

    rare: int
    """Rarity above which it counts no more: jargon is rarer than what an agent needs."""

    unknown: int
    """Rarity that a word has which hardly a server uses, and how many of them count."""

    unknown_words: int
    full: int
    """What the words of a sentence that may earn all count together."""

    familiar: int = MAX_RARITY
    """Rarity above which loose words count at most what the tied ones of their sentence count."""

    def shares(self, sentence: Sentence, rarity: Mapping[str, int]) -> tuple[int, int]:
        """Percent of what the sentence tells that may count, and that counts; all where words have no rarity."""
        if "translated" in sentence.traits:
            return FULL, FULL
        loose = [form for form in sentence.telling & sentence.loose if not _IDENTIFIER.search(form)]
        jargon = {form for form in loose if rarity.get(form, MAX_RARITY) > self.familiar}
        bits = self._bits(sentence.telling, rarity)
        proven = self._bits(sentence.telling - jargon, rarity)
        if jargon:
            proven += min(self._bits(jargon, rarity), self._bits(sentence.tied, rarity))
        return min(FULL, FULL * bits // self.full), min(FULL, FULL * proven // self.full)

    def _bits(self, words: AbstractSet[str], rarity: Mapping[str, int]) -> int:
        """Return what the words count, in tenths of bits."""
        values = [min(rarity[form], self.rare) for form in words if form in rarity]
        unknown = min(len(words) - len(values), self.unknown_words)
        return sum(max(0, value - self.common) for value in (*values, *[self.unknown] * unknown))


def particularity(sentence: Sentence, rarity: Mapping[str, int]) -> dict[str, int]:
    """Traits of the words that only this sentence has: how many they are, and how rare among all definitions."""
    rarest = rarity.get("", 0)
    bits = sum(rarity.get(form, rarest) for form in sentence.particulars)
    counted = range(1, min(COUNTED, len(sentence.particulars)) + 1)
    return {"rarity": min(FULL, FULL * bits // (10 * BITS))} | {f"particulars {count}": FULL for count in counted}


def read_model(table: Mapping[str, Any], logistic: Sequence[int]) -> SentenceModel:
    """The model as a calibration file has it: base, second and weights by column."""
    columns = [table[name] for name in (*Aspect, UNRELATED, NOTHING, PARTICULAR)]
    rows: dict[str, list[int]] = {}
    for place, column in enumerate(columns):
        for term, weight in column["weights"].items():
            rows.setdefault(term, [0] * len(columns))[place] = weight
    return SentenceModel(
        bases=[column["base"] for column in columns],
        seconds=[column.get("second", 0) for column in columns],
        terms={term: row for term, row in rows.items() if not term.startswith("*")},
        traits={term[1:]: row for term, row in rows.items() if term.startswith("*")},
        rarity=table["rarity"],
        gate=tuple(table["gate"]),
        bound=SpecificityBound(**table["bound"]) if "bound" in table else None,
        logistic=logistic,
    )
