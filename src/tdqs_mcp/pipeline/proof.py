"""The proof of a rewrite: every new statement with what it rests on, or refused with the reason."""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from tdqs_mcp.facts import edits, hostile, praise, statements, support
from tdqs_mcp.facts.edits import Edit, Kind
from tdqs_mcp.facts.lexicon import Cue
from tdqs_mcp.facts.prose import cues_of, name_parts, sentences_of, stem
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.support import Ground, Statement
from tdqs_mcp.facts.words import words_of
from tdqs_mcp.model.material import NOTHING, Material
from tdqs_mcp.model.results import Claim, Component

MAX_SOURCES = 4
"""Sources that one claim names; a sentence that needs more is pieced together."""

KEPT = 60
"""Percent of a warning's words that must stand somewhere in the new definition."""

MAX_SHOWN = 80
"""Characters of a value that a claim quotes."""

_WEIGHTY = frozenset({Cue.DESTRUCTION, Cue.SAFETY, Cue.PERMISSION, Cue.LIMIT, Cue.ERROR, Cue.TIMING})
"""What an agent acts upon: each needs a statement that gives the same cue of the same thing."""

_WARNINGS = frozenset({Cue.DESTRUCTION, Cue.PERMISSION, Cue.ERROR, Cue.PREREQUISITE, Cue.LIMIT})
_GUIDING = frozenset({Cue.WHEN, Cue.WHEN_NOT, Cue.ALTERNATIVE, Cue.PREREQUISITE})
_FAMILIES = tuple(
    frozenset(family.split())
    for family in (
        "not no never cannot can't don't doesn't won't isn't aren't without nothing none neither",
        "only except unless solely exclusively",
        "always must every all required",
    )
)
"""Words that turn or bound a statement; a claim that has one needs a source that has one of the same kind."""

_SCHEMAS = ("/inputSchema", "/outputSchema")
"""What a parameter is, no tool is: `isReadOnly` proves nothing of the call."""

_MORE = re.compile(r"\b(\d{1,4}) more (tool|field)s?\b")
"""A count of siblings, or of fields of the answer, that are not named one by one."""


class Witnesses(dict[int, Ground]):
    """What a catalog as it came and its author have said: the ground of each tool by its index, read when asked for."""

    def __init__(self, measured: Measured, material: Material = NOTHING) -> None:
        super().__init__()
        self.material = material
        self._subjects = {subject.tool.index: subject for subject in measured.subjects}
        self._commons = support.commons(measured.subjects)

    def __missing__(self, index: int) -> Ground:
        """The ground of a tool that nobody has asked about yet."""
        self[index] = support.ground(self._subjects[index], self._commons, self.material)
        return self[index]


def claims(subject: Subject, definition: Mapping[str, Any], witnesses: Witnesses) -> tuple[Claim, ...]:
    """Every statement that a new definition adds to a tool's, and every one that it must not lose; pure.

    A claim without a source, one that only repeats what stands there, praise, words to the reader or a judge, and any
    change of the contract are refused.
    """
    raw: Mapping[str, Any] = subject.tool.raw
    found = edits.between(raw, definition)
    if not found:
        return ()
    ground = witnesses[subject.tool.index]
    weighed = [claim for edit in found for claim in _weigh(edit, subject, ground, witnesses.material)]
    return (*weighed, *_lost(subject, definition, found), *_threats(subject, definition))


def refused(found: Iterable[Claim]) -> list[Claim]:
    """The claims that may not stand."""
    return [claim for claim in found if claim.refusal is not None]


def components(subject: Subject) -> dict[Component, str]:
    """The sentences of a definition by what they are about, in their order; a sentence belongs to one component."""
    said: dict[Component, list[str]] = {}
    explained = {each.name: each.description for each in subject.signals.parameters if each.description.strip()}
    siblings = set(map(str.lower, subject.mentions))
    for place, (text, words) in enumerate(zip(subject.prose.sentences, subject.prose.spoken, strict=True)):
        cues = frozenset(cue for cue, places in subject.prose.cue_places.items() if place in places)
        component = _component(text, words, cues, place=place, subject=subject, siblings=siblings)
        said.setdefault(component, []).append(text)
    listed = [f"{name}: {text}" for name, text in explained.items()]
    if listed:
        said.setdefault(Component.PARAMETERS, []).extend(listed)
    return {component: "\n".join(said[component]) for component in Component if component in said}


def _component(  # noqa: PLR0911  # one line a component
    text: str,
    words: Sequence[str],
    cues: frozenset[Cue],
    *,
    place: int,
    subject: Subject,
    siblings: set[str],
) -> Component:
    if words[:1] and words[0].startswith("example"):
        return Component.EXAMPLES
    if place == 0:
        return Component.PURPOSE
    if not siblings.isdisjoint(words) or cues & _GUIDING:
        return Component.GUIDELINES
    named = support.identifiers_of(text) & {each.name.lower() for each in subject.signals.parameters}
    if named or Cue.FORMAT in cues:
        return Component.PARAMETERS
    if Cue.EXAMPLE in cues:
        return Component.EXAMPLES
    if cues & (_WEIGHTY | {Cue.SIDE_EFFECT}):
        return Component.LIMITATIONS
    return Component.PURPOSE


def _weigh(edit: Edit, subject: Subject, ground: Ground, material: Material) -> Iterator[Claim]:
    if edit.kind is Kind.HINT:
        yield _hint(edit, subject, material)
    elif edit.kind is Kind.ENUM:
        yield _enum(edit, ground)
    elif edit.kind is Kind.OTHER:
        yield Claim(path=edit.path, text=_shown(edit.after), refusal="it changes the contract, which no rewrite may")
    elif not isinstance(edit.after, str) or not edit.after.strip():
        yield Claim(path=edit.path, text=_shown(edit.after), refusal="it takes a text away")
    elif edit.kind is Kind.TITLE:
        yield _Hearing(path="/title", ground=ground, spoken=frozenset(), may_restate=True).claim(edit.after)
    else:
        yield from _sentences(edit, ground)
        yield from _shortened(edit)


def _sentences(edit: Edit, ground: Ground) -> Iterator[Claim]:
    """A claim for each sentence that did not stand there, told apart from what the text has said before it."""
    old = {_plain(sentence) for sentence in sentences_of(edit.before)} if isinstance(edit.before, str) else set()
    is_text = edit.kind is Kind.DESCRIPTION
    own = _own_words(edit.path.removesuffix("/description"), ground) if not is_text else frozenset()
    hearing = _Hearing(path=edit.path, ground=ground, spoken=own, may_restate=is_text)
    for sentence in sentences_of(str(edit.after)):
        if new := _beyond(sentence, old):
            yield replace(hearing, may_restate=hearing.may_restate and new == sentence).claim(new)
        spoken = hearing.spoken | support.content(words_of(sentence))
        hearing = replace(hearing, spoken=spoken, may_restate=False)


def _beyond(sentence: str, old: AbstractSet[str]) -> str:
    """What of a sentence did not stand there: all, nothing, or what follows an old sentence that nobody ended."""
    plain = _plain(sentence)
    if plain in old:
        return ""
    words = sentence.split()
    begun = max((len(each.split()) for each in old if each and plain.startswith(f"{each} ")), default=0)
    return " ".join(words[begun:]) if begun > 1 and not words[begun][0].islower() else sentence


def _own_words(path: str, ground: Ground) -> frozenset[str]:
    """What a parameter's name and type say without a description."""
    said = [each.words for each in ground.own if each.source == path and each.is_contract]
    return frozenset().union(*said)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hearing:
    """One text, heard sentence by sentence."""

    path: str
    ground: Ground
    spoken: frozenset[str]
    """Stems that the text has said already."""

    may_restate: bool
    """A first sentence and a title may say what the name says."""

    def claim(self, text: str) -> Claim:
        """The sentence with its sources, or with the first reason to refuse it."""
        lent = self.ground.named(text)
        witnesses = (*self.ground.meant.get(self.path, ()), *self.ground.own, *lent)
        told = self._uncounted(text, is_routing=bool(lent))
        words = support.content(words_of(told)) - (support.ROUTING if lent else frozenset())
        reason = self._refusal(told, words, witnesses, is_routing=bool(lent))
        sources = () if reason else _sources(told, words, witnesses)
        return Claim(path=self.path, text=text, sources=sources, refusal=reason)

    def _uncounted(self, text: str, *, is_routing: bool) -> str:
        """The sentence without the counts that may be true: there are as many siblings, or fields of the answer."""
        fields = sum(each.source.startswith("/outputSchema") for each in self.ground.own)
        limits = {"tool": len(self.ground.lent) - 1 if is_routing else 0, "field": fields}
        return _MORE.sub(lambda found: "" if int(found[1]) <= limits[found[2]] else found[0], text)

    def _refusal(
        self, text: str, words: frozenset[str], witnesses: Sequence[Statement], *, is_routing: bool
    ) -> str | None:
        found = praise.praise(text)
        if found and not any(found.lower() in name_parts(name) for name in support.identifiers_of(text)):
            return f"{found!r} praises and tells nothing"
        if (found := praise.addressed(text)) and not any(text.lower() in each.text for each in witnesses):
            return f"{found!r} speaks to the reader; say it of the tool"
        if not words and not support.numbers_of(text):
            return "it says nothing"
        reason = _unsourced(text, words, witnesses, is_routing=is_routing)
        return reason or (None if is_routing else self._padding(text, words, witnesses))

    def _padding(self, text: str, words: frozenset[str], witnesses: Sequence[Statement]) -> str | None:
        """A sentence of which name, schema and the sentences before it say every word."""
        if _tells_result(text, witnesses):
            return None
        own = support.content(name_parts(self.ground.tool))
        if self.may_restate and 2 * len(own & words) >= max(1, len(own)):
            return None
        shown = [each for each in witnesses if each.is_contract or each.source == "name"] if self._is_text else []
        known = self.spoken.union(*(each.words for each in shown))
        if not any(not support.supports(known, word) for word in words) and not self._demands(words, witnesses):
            return "it only says again what the name, the schema or the text before it says"
        return None

    @property
    def _is_text(self) -> bool:
        return self.path == "/description"

    def _demands(self, words: frozenset[str], witnesses: Sequence[Statement]) -> bool:
        """A demand that the list of required parameters does not show, or a bound that no description tells."""
        told = [each for each in witnesses if each.source.startswith("/inputSchema") and not each.is_contract]
        return any(_bounds(each, words) or each.words >= words for each in told if each.text)


def _unsourced(text: str, words: frozenset[str], witnesses: Sequence[Statement], *, is_routing: bool) -> str | None:
    """The first thing in a sentence that nobody has said."""
    known = frozenset().union(*(each.words for each in witnesses))
    for name in sorted(support.identifiers_of(text)):
        if not support.supports(known, stem(name)) and not any(name in each.text for each in witnesses):
            return f"there is no {name!r}"
    for number in sorted(support.numbers_of(text)):
        if not any(number in each.numbers and _is_about(each, words - {number}) for each in witnesses):
            return f"no source gives the number {number}"
    missing = sorted(word for word in words if not support.supports(known, word) and not word.isdecimal())
    if missing:
        return f"no source says {', '.join(map(repr, missing[:3]))}"
    return None if is_routing else _unmatched(text, words, witnesses)


def _unmatched(text: str, words: frozenset[str], witnesses: Sequence[Statement]) -> str | None:
    """An effect, a limit or a negation that no source has of the same thing."""
    spoken = words_of(text)
    for cue in sorted(cues_of(spoken) & _WEIGHTY):
        is_turned = _is_turned(spoken)
        heard = [each for each in witnesses if cue is not Cue.SAFETY or not each.source.startswith(_SCHEMAS)]
        matching = [each for each in heard if cue in each.cues and _is_turned(each.words) is is_turned]
        if not any(_is_about(each, words) for each in matching):
            return f"no source tells this {cue}"
    for family in _FAMILIES:
        used = sorted(family.intersection(spoken))
        if used and not any(family & each.words and _is_about(each, words - family) for each in witnesses):
            return f"no source says {used[0]!r} of this"
    return None


def _tells_result(text: str, witnesses: Sequence[Statement]) -> bool:
    """It names parts of what comes back, which no client shows beside the description."""
    parts = support.identifiers_of(text)
    results = [each.text for each in witnesses if each.source.startswith("/outputSchema")]
    is_result = Cue.RETURN in cues_of(words_of(text))
    return is_result and bool(parts) and all(any(name in result for result in results) for name in parts)


def _bounds(statement: Statement, words: frozenset[str]) -> bool:
    """The claim has the bound's own value, not only the parameter's name."""
    values = support.content(words_of(statement.text)) | statement.numbers
    return not words.isdisjoint(values)


def _is_turned(words: Iterable[str]) -> bool:
    return not _FAMILIES[0].isdisjoint(words)


def _is_about(statement: Statement, words: frozenset[str]) -> bool:
    """A statement shares a word with a claim; a claim without any is about the tool as a whole."""
    return not words or any(support.supports(statement.words, word) for word in words)


def _sources(text: str, words: frozenset[str], witnesses: Sequence[Statement]) -> tuple[str, ...]:
    """The fewest statements, taken greedily, that cover what the sentence says."""
    wanted = set(words | support.numbers_of(text))
    covers = [(each.source, {word for word in wanted if _covers(each, word)}) for each in witnesses]
    found: list[str] = []
    while wanted and len(found) < MAX_SOURCES:
        source, covered = max(covers, key=lambda each: len(each[1] & wanted))
        if wanted.isdisjoint(covered):
            break
        wanted -= covered
        found.append(source)
    return tuple(dict.fromkeys(found)) or ("name",)


def _covers(statement: Statement, word: str) -> bool:
    return word in statement.numbers or support.supports(statement.words, word)


def hints(subject: Subject, material: Material) -> dict[str, tuple[bool, str]]:
    """The hints that facts about this very tool prove, with value and fact; none that another of them gainsays."""
    own = [fact for fact in material.facts if fact.tool == subject.tool.name]
    stated = {hint: f"fact {fact.number}" for fact in reversed(own) for hint in statements.hints(fact.text)}
    return {
        name: (value, source)
        for (name, value), source in stated.items()
        if (name, not value) not in stated and not _is_gainsaid(name, subject, stated)
    }


def _is_gainsaid(hint: str, subject: Subject, stated: Container[tuple[str, bool]]) -> bool:
    """A verb that changes things, or a stated destruction, makes nothing read-only."""
    effect = subject.prose.name_effect
    is_changing = ("destructiveHint", True) in stated or (effect is not None and effect.is_mutating)
    return hint == "readOnlyHint" and is_changing


def _hint(edit: Edit, subject: Subject, material: Material) -> Claim:
    """A hint needs the author's plain words; one that stands there already changes only by a given fact."""
    name = edit.path.rpartition("/")[2]
    text = f"{name}: {_shown(edit.after)}"
    value, source = hints(subject, material).get(name, (None, ""))
    if value is not None and value is edit.after:
        return Claim(path=edit.path, text=text, sources=(source,))
    said = {hint for sentence in subject.prose.sentences for hint in statements.hints(sentence)}
    is_new = edit.before is edits.MISSING and value is None and not _is_gainsaid(name, subject, said)
    if is_new and (name, edit.after) in said and (name, not edit.after) not in said:
        return Claim(path=edit.path, text=text, sources=("description",))
    return Claim(path=edit.path, text=text, refusal="no fact and no sentence of the description proves this hint")


def _enum(edit: Edit, ground: Ground) -> Claim:
    """Every value must stand in one sentence about the parameter."""
    path = edit.path.removesuffix("/enum")
    values = edit.after if isinstance(edit.after, list) else []
    told = [
        each for each in ground.own if each.source in (f"{path}/description", "description") or "fact" in each.source
    ]
    source = next((each.source for each in told if values and all(_says(each, value) for value in values)), None)
    text = f"one of {_shown(values)}"
    if source is None:
        return Claim(path=edit.path, text=text, refusal="no sentence lists these values")
    return Claim(path=edit.path, text=text, sources=(source,))


def _says(statement: Statement, value: object) -> bool:
    return isinstance(value, str) and bool(value) and value.lower() in statement.text


def _lost(subject: Subject, definition: Mapping[str, Any], found: Sequence[Edit]) -> Iterator[Claim]:
    """Warnings of the old description that the new definition does not have."""
    if not any(edit.kind is Kind.DESCRIPTION for edit in found):
        return
    kept = support.content(words_of(" ".join(_texts(definition))))
    cued = {place for cue in _WARNINGS for place in subject.prose.cue_places.get(cue, ())}
    for place in sorted(cued):
        sentence = subject.prose.sentences[place]
        if not _is_kept(sentence, kept):
            yield Claim(path="/description", text=sentence, refusal="the rewrite drops this; an agent needs it")


def _shortened(edit: Edit) -> Iterator[Claim]:
    """What a parameter's new description no longer says."""
    if edit.kind is not Kind.EXPLANATION or not isinstance(edit.before, str):
        return
    kept = support.content(words_of(str(edit.after)))
    for sentence in sentences_of(edit.before):
        if not _is_kept(sentence, kept):
            yield Claim(path=edit.path, text=sentence, refusal="the rewrite drops this; an agent needs it")


def _is_kept(sentence: str, kept: frozenset[str]) -> bool:
    words = support.content(words_of(sentence))
    return 100 * sum(support.supports(kept, word) for word in words) >= KEPT * len(words)


def _threats(subject: Subject, new: Mapping[str, Any]) -> Iterator[Claim]:
    """What the new strings try to do to their reader and the old ones did not."""
    left = Counter((threat.path, threat.ploy) for threat in subject.threats)
    for threat in hostile.threats(new):
        left[threat.path, threat.ploy] -= 1
        if left[threat.path, threat.ploy] < 0:
            yield Claim(path=threat.path, text=threat.quote, refusal=f"it works on whoever reads it: {threat.ploy}")


def _texts(value: object) -> list[str]:
    """Every string inside a JSON value."""
    pending, found = [value], []
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            found.append(each)
        elif isinstance(each, Mapping):
            pending += [*each.keys(), *each.values()]
        elif isinstance(each, list):
            pending += each
    return found


def _plain(sentence: str) -> str:
    return " ".join(sentence.lower().split()).rstrip(".")


def _shown(value: object) -> str:
    text = "nothing" if value is edits.MISSING else str(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
