"""Checks one sentence of a rewrite: the sources that it rests on, or the first reason to refuse it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.facts.text.prose import cues_of
from tdqs_mcp.facts.text.statements import BoundedValue, find_bounds, is_negation, read_polarity
from tdqs_mcp.facts.text.support import Statement, ToolStatements
from tdqs_mcp.facts.text.vocabulary import EFFECTS, LEMMAS, Cue, words_from
from tdqs_mcp.facts.text.wording import find_praise, find_reader_address
from tdqs_mcp.facts.text.words import content_stems, has_word, identifiers_of, name_parts, numbers_of, stem, words_of
from tdqs_mcp.results.improvements import Claim

MAX_SOURCES = 4
"""Sources that one sentence of a description may need; one that needs more is made up from fragments."""

_WEIGHTY = frozenset({Cue.DESTRUCTION, Cue.SAFETY, Cue.PERMISSION, Cue.LIMIT, Cue.ERROR, Cue.TIMING})
"""Cues that an agent acts upon: each needs a source that gives the same cue about the same thing."""

_BOUNDS = ("only", "always", "must")
"""Families of words that bound a statement; a claim that has one needs a source that has one of the same family."""

_LOSS = re.compile(
    r"\b(?:be|is|are|was|were|gets?|being)\s(?:\w+ly\s)?"
    r"(delet|remov|overwrit|eras|destroy|wip|purg|discard|drop|los|replac|revok|cancel)(?:e[dn]|ten|p?ed|led|t)\b"
)
"""Losses in the passive ("is deleted"): each needs a source that says so in this form."""

_SCHEMAS = ("/inputSchema", "/outputSchema")
"""Sources about parameters and results, not about the tool: `isReadOnly` says nothing about the call."""

_COUNT = re.compile(r"\b(\d{1,4}) more (tool|field)s?\b")
"""A count of siblings, or of fields of the answer, that are not named one by one."""

_OPENING = 3
"""Words within which a sentence says what the tool does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceCheck:
    """Checks the sentences of one text in turn."""

    path: str
    ground: ToolStatements
    sentences: tuple[frozenset[str], ...] = ()
    """Stems and names of each earlier sentence."""

    own: frozenset[str] = frozenset()
    """What a parameter's name and type say without a description."""

    may_restate: bool
    """A first sentence and a title may say what the name says."""

    def claim(self, text: str) -> Claim:
        """The sentence with its sources, or with the first reason to refuse it."""
        sentence = _Sentence(text, self)
        checks = (*_CHECKS, self._check_novelty)
        reason = next((each for check in checks for each in check(sentence)), None)
        if reason:
            return Claim(path=self.path, text=text, refusal=reason)
        # the fewest statements, taken greedily, that cover what the sentence says
        found, _ = _cover(sentence.support, sentence.words | numbers_of(sentence.text), limit=MAX_SOURCES)
        return Claim(
            path=self.path, text=text, sources=tuple(dict.fromkeys(each.source for each in found)) or ("name",)
        )

    def _check_novelty(self, sentence: "_Sentence") -> Iterator[str]:
        """Refuses a sentence of which the name, the schema or earlier sentences already say every word.

        A sentence that names a sibling, or that denies something, is new unless one earlier sentence says the same.
        """
        words = sentence.words
        named = content_stems(name_parts(self.ground.tool))
        if _names_result_fields(sentence) or (self.may_restate and 2 * len(named & words) >= max(1, len(named))):
            return
        is_text = self.path == "/description"
        shown = [each for each in self.ground.own if each.is_contract or each.source == "name"] if is_text else []
        known = self.own.union(*self.sentences, *(each.words for each in shown))
        whole = words | identifiers_of(sentence.text)
        is_said = any(whole <= each for each in self.sentences) or not (sentence.others or sentence.is_negated)
        if is_said and all(has_word(known, word) for word in words) and not _states_requirement(sentence):
            yield "it only says again what the name, the schema or the text before it says"


class _Sentence:
    """A sentence with the statements that may support it."""

    def __init__(self, text: str, check: SentenceCheck) -> None:
        self.path, self.ground = check.path, check.ground
        named, meant = self.ground.named(text), self.ground.meant.get(self.path, ())
        lent = tuple(each for statements in named.values() for each in statements)
        # without the counts that were checked
        self.text = _COUNT.sub(lambda found: _without_true_count(found, text, self.ground, named), text)
        self.spoken, self.said = words_of(self.text), read_polarity(self.text)
        self.words = content_stems(self.spoken) - (words_from("support", "routing") if named else frozenset())
        # statements about this very tool or parameter: only these support effects, limits and negations
        self.plain = (*meant, *self.ground.plain)
        self.extra = (*meant, *lent)  # what is not among the tool's own statements
        self.support = (*meant, *self.ground.own, *lent)
        self.others = [first for first, *_ in named.values()]  # the names of the siblings that it names

    @property
    def is_negated(self) -> bool:
        """Whether it has a negation."""
        return any(map(is_negation, self.spoken))


def _without_true_count(
    found: re.Match[str], text: str, ground: ToolStatements, lent: Mapping[str, Sequence[Statement]]
) -> str:
    """The count removed if it is true: so many fields are left, or so many siblings take the named parameter."""
    named = identifiers_of(text)
    if found[2] == "field":
        return "" if int(found[1]) == len(set(ground.fields) - named) else found[0]
    asked = {stem(name) for name in named - lent.keys() - {ground.tool.lower()}}
    takers = [name for name, (first, *_) in ground.lent.items() if asked <= first.words and name not in lent]
    left = len(takers) - (ground.tool.lower() in takers)
    return "" if asked and lent and int(found[1]) <= left else found[0]


def _check_style(sentence: _Sentence) -> Iterator[str]:
    found = find_praise(sentence.text)
    if found and not any(found.lower() in name_parts(name) for name in identifiers_of(sentence.text)):
        yield f"{found!r} praises and tells nothing"
    found = find_reader_address(sentence.text)
    if found and not any(sentence.text.lower() in each.text for each in sentence.support):
        yield f"{found!r} speaks to the reader; say it of the tool"
    if not sentence.words and not numbers_of(sentence.text):
        yield "it says nothing"


def _check_words(sentence: _Sentence) -> Iterator[str]:
    """Names, numbers and words that no source has."""
    words, support = sentence.words, sentence.support
    known = sentence.ground.words.union(*(each.words for each in sentence.extra))
    for name in sorted(identifiers_of(sentence.text)):
        if not has_word(known, stem(name)) and not any(name in each.text for each in support):
            yield f"there is no {name!r}"
    for number in sorted(numbers_of(sentence.text)):
        if not any(number in each.numbers and _is_about(each, words - {number}) for each in support):
            yield f"no source gives the number {number}"
    missing = sorted(word for word in words if not has_word(known, word) and not word.isdecimal())
    if missing:
        yield f"no source says {', '.join(map(repr, missing[:3]))}"


def _check_cues(sentence: _Sentence) -> Iterator[str]:
    """An effect, a limit or a bounding word without a source about the same thing."""
    words, plain = sentence.words, sentence.plain
    named = [words_of(first.text) for first in sentence.others]
    for cue in sorted((cues_of(sentence.spoken) & _WEIGHTY).difference(*map(cues_of, named))):
        relevant = [each for each in plain if cue is not Cue.SAFETY or not each.source.startswith(_SCHEMAS)]
        if not any(cue in each.cues and _is_about(each, words) for each in relevant):
            yield f"no source tells this {cue}"
    for family in (words_from("rewriting", name) for name in _BOUNDS):
        used = sorted(family.intersection(sentence.spoken).difference(*named))
        if used and not any(family & each.words and _is_about(each, words - family) for each in plain):
            yield f"no source says {used[0]!r} of this"


def _check_bounds(sentence: _Sentence) -> Iterator[str]:
    """A value given as a bound or default that no source gives as this bound of the same parameter."""
    values = sentence.ground.values
    for said in find_bounds(sentence.text):
        if said.value in values or said.value[-1].isdecimal():
            parameter = _bounded(sentence, said)
            rest = sentence.words - {said.value}
            relevant = [each for each in sentence.support if (said.bound, said.value) in each.bounds]
            if not any(each.is_of(parameter) if parameter else _is_about(each, rest) for each in relevant):
                yield f"no source gives {said.value} as the {said.bound} of {f'`{parameter}`' if parameter else 'this'}"


def _bounded(sentence: _Sentence, said: BoundedValue) -> str:
    """The parameter that a bound belongs to: the last named before it, else the first after it, else the text's own.

    A plain word names one only where the schema bounds the parameter of this name.
    """
    ground = sentence.ground
    named = identifiers_of(sentence.text) & ground.parameters or ground.bounded.intersection(sentence.spoken)
    places = {name: len(sentence.text) for name in named}
    for name in named:
        if found := re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", sentence.text.lower()):
            places[name] = found.start()
    before = [name for name in places if places[name] < said.place]
    own = split_pointer(sentence.path)[-2] if sentence.path.startswith("/inputSchema/") else ""
    if before:
        return max(before, key=places.__getitem__)
    return min(places, key=places.__getitem__, default=own.lower())


def _check_effects(sentence: _Sentence) -> Iterator[str]:
    """A loss, or a change that the tool makes, without a source that says so in this form."""
    fates = set(_LOSS.findall(sentence.text.lower()))
    if fates and not any(fates <= set(_LOSS.findall(each.text.lower())) for each in sentence.plain):
        yield "no source tells this loss"
    verb = next((LEMMAS[word] for word in sentence.spoken[:_OPENING] if _is_active(word)), "")
    is_told = sentence.path in ("/description", "/title") and verb in sentence.said.affirmed
    doers = sentence.support if sentence.others and sentence.spoken[0] == "to" else sentence.plain
    if is_told and EFFECTS[verb].is_mutating and not any(_does(each, verb) for each in doers):
        yield f"no source says that it does {verb!r}"


def _is_active(word: str) -> bool:
    """A known verb in a form that says who does it: "deletes", not "deleted" or "deleting"."""
    return word in LEMMAS and not word.endswith(("ed", "ing"))


def _does(statement: Statement, verb: str) -> bool:
    """The statement has the verb, or one that may stand for it, in an active form and of the tool."""
    if statement.is_contract or not has_word(statement.affirmed, verb):
        return False
    return has_word(frozenset(LEMMAS[word] for word in words_of(statement.text) if _is_active(word)), verb)


def _check_negations(sentence: _Sentence) -> Iterator[str]:
    """What the sources deny and the sentence affirms, or the reverse."""
    ground = sentence.ground
    said = (each & sentence.words for each in sentence.said)
    affirmed, denied = (frozenset(word for word in each if not word.isdecimal()) for each in said)
    stated = ground.affirmed.union(*(each.affirmed for each in sentence.extra))
    only = sorted(word for word in affirmed if has_word(ground.denied, word) and not has_word(stated, word))
    if only:
        yield f"the sources only deny {only[0]!r}"
    is_denied = any(_is_denied_by(each, affirmed) for each in sentence.plain)
    if is_denied and not any(all(has_word(each.affirmed, word) for word in affirmed) for each in sentence.support):
        yield "a source denies this"
    things = frozenset(stem(part) for part in name_parts(ground.tool)) - EFFECTS.keys()
    bare = sorted(word for word in denied if not has_word(ground.denied, word) and word not in things)
    if bare or (denied and not any(has_word(ground.denied, word) for word in denied)):
        yield f"no source denies {(bare or sorted(denied))[0]!r}"
    is_bare = sentence.is_negated and not denied
    if is_bare and not any(each.denied and _is_about(each, sentence.words) for each in sentence.plain):
        yield "no source says 'not' of this"


def _is_denied_by(statement: Statement, words: frozenset[str]) -> bool:
    """The statement has all these words, and some of them under a negation alone."""
    under = statement.denied - statement.affirmed
    return not words.isdisjoint(under) and all(has_word(statement.words, word) for word in words)


def _check_common_source(sentence: _Sentence) -> Iterator[str]:
    """A sentence made up from so many sources that it may say what none of them says.

    A title rests on one statement, the description of a parameter on one beside what is said of the parameter itself.
    """
    limit = MAX_SOURCES if sentence.path == "/description" else 1
    free = _free(sentence)
    wanted = frozenset(word for word in sentence.words if not word.isdecimal() and not has_word(free, word))
    if _cover(sentence.support, wanted, limit=limit)[1]:
        yield f"no {'one source says' if limit == 1 else f'{limit} sources say'} all of it"


def _free(sentence: _Sentence) -> frozenset[str]:
    """Words that need no common source with the rest: names, and what is said about a parameter itself."""
    if sentence.path == "/title":
        return frozenset()
    if sentence.path == "/description":
        named = [*identifiers_of(sentence.text), sentence.ground.tool]
        return content_stems([*named, *(part for name in named for part in name_parts(name))])
    parameter = sentence.path.removesuffix("/description")
    said = [each for each in sentence.support if each.source == parameter or each.source.startswith(f"{parameter}/")]
    return frozenset[str]().union(*(each.words for each in said))


def _cover(
    support: Sequence[Statement], words: frozenset[str], *, limit: int
) -> tuple[list[Statement], frozenset[str]]:
    """The fewest statements, taken greedily, that have these words, and the words that none of them has."""
    covers = [
        (each, {word for word in words if word in each.numbers or has_word(each.words, word)}) for each in support
    ]
    found: list[Statement] = []
    rest = set(words)
    while rest and len(found) < limit:
        statement, covered = max(covers, key=lambda each: len(each[1] & rest))
        if rest.isdisjoint(covered):
            break
        rest -= covered
        found.append(statement)
    return found, frozenset(rest)


def _names_result_fields(sentence: _Sentence) -> bool:
    """Whether it names fields of the result, which no client shows beside the description."""
    parts = identifiers_of(sentence.text)
    results = [each.text for each in sentence.support if each.source.startswith("/outputSchema")]
    is_result = Cue.RETURN in cues_of(sentence.spoken)
    return is_result and bool(parts) and all(any(name in result for result in results) for name in parts)


def _states_requirement(sentence: _Sentence) -> bool:
    """Whether it states a requirement that `required` does not show, or a bound that no description gives."""
    for each in sentence.plain:
        if each.source.startswith("/inputSchema") and not each.is_contract and each.text:
            values = content_stems(words_of(each.text)) | each.numbers  # the bound's own value, not only the name
            if not sentence.words.isdisjoint(values) or each.words >= sentence.words:
                return True
    return False


def _is_about(statement: Statement, words: frozenset[str]) -> bool:
    """A statement shares a word with a claim; a claim without any is about the tool as a whole."""
    return not words or any(has_word(statement.words, word) for word in words)


_CHECKS: tuple[Callable[[_Sentence], Iterator[str]], ...] = (
    _check_style,
    _check_words,
    _check_cues,
    _check_bounds,
    _check_negations,
    _check_effects,
    _check_common_source,
)
