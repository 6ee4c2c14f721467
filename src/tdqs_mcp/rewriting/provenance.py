"""Where each statement of a rewrite comes from: its sources, or the reason why it is refused."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cached_property
from typing import Any

from tdqs_mcp.facts.schema import arguments, compatibility
from tdqs_mcp.facts.schema.compatibility import Edit, EditKind
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text import fact_conflicts
from tdqs_mcp.facts.text.fact_conflicts import Conflict
from tdqs_mcp.facts.text.prose import cues_of, sentences_of
from tdqs_mcp.facts.text.statements import closed_value_lists, is_negation, read_polarity, stated_hints
from tdqs_mcp.facts.text.support import ToolStatements, read_catalog_statements, read_tool_statements
from tdqs_mcp.facts.text.vocabulary import Cue
from tdqs_mcp.facts.text.words import content_stems, has_word, identifiers_of, words_of
from tdqs_mcp.facts.threats import find_threats
from tdqs_mcp.model import NOTHING, Material
from tdqs_mcp.results.improvements import Claim
from tdqs_mcp.rewriting.claim_checks import SentenceCheck
from tdqs_mcp.rewriting.material_statements import hints_of_facts, is_contradicted_hint

REFUSED = "said what may not stand in a definition"
"""The fault of words that were refused: an answer all the same."""

KEPT = 60
"""Percent of a warning's words that must stand somewhere in the new definition."""

MAX_SHOWN = 80
"""Characters of a value that a claim quotes."""

_WARNINGS = frozenset({Cue.DESTRUCTION, Cue.PERMISSION, Cue.ERROR, Cue.PREREQUISITE, Cue.LIMIT})


class KnownSources(dict[int, ToolStatements]):
    """What the original catalog and the author's material say: statements by tool index, read on demand."""

    def __init__(self, measured: Measured, material: Material = NOTHING) -> None:
        super().__init__()
        self._material = material
        self._known: dict[int, tuple[Material, tuple[Conflict, ...]]] = {}
        self.subjects = {subject.tool.index: subject for subject in measured.subjects}
        self._commons = read_catalog_statements(measured.subjects, material.docs)

    def __missing__(self, index: int) -> ToolStatements:
        """Reads the statements about a tool on first use."""
        subject = self.subjects[index]
        self[index] = read_tool_statements(subject, self._commons, self.material(subject))
        return self[index]

    def material(self, subject: Subject) -> Material:
        """The material about a tool, without facts that conflict with its definition or with each other."""
        return self._split(subject.tool.index)[0]

    def conflicts(self, subject: Subject) -> tuple[Conflict, ...]:
        """The facts that were left out, with what they conflict with."""
        return self._split(subject.tool.index)[1]

    def _split(self, index: int) -> tuple[Material, tuple[Conflict, ...]]:
        if index not in self._known:
            subject = self.subjects[index]
            given = self._material.of(subject.tool.name)
            found = fact_conflicts.find_conflicts(subject, given.facts) if given.facts else ()
            refused = {each.source for each in found}
            facts = tuple(fact for fact in given.facts if fact.source not in refused)
            self._known[index] = (replace(given, facts=facts), found)
        return self._known[index]


def claims(subject: Subject, definition: Mapping[str, Any], sources: KnownSources) -> tuple[Claim, ...]:
    """Every statement that a new definition adds to a tool's, and every one that it must not lose; pure.

    A claim without a source, one that only repeats what stands there, praise, words to the reader or a judge, and any
    change of the contract are refused.
    """
    raw: Mapping[str, Any] = subject.tool.raw
    found = compatibility.list_edits(raw, definition)
    if not found:
        return ()
    ground = sources[subject.tool.index]
    weighed = [claim for edit in found for claim in _weigh(edit, subject, ground, sources.material(subject))]
    return (*weighed, *_lost(subject, definition, found), *_threats(subject, definition))


def refused(found: Iterable[Claim]) -> list[Claim]:
    """The claims that were refused."""
    return [claim for claim in found if claim.refusal is not None]


def _weigh(edit: Edit, subject: Subject, ground: ToolStatements, material: Material) -> Iterator[Claim]:
    if edit.kind is EditKind.HINT:
        yield _hint(edit, subject, material)
    elif edit.kind is EditKind.ENUM:
        yield _enum(edit, subject, material)
    elif edit.kind is EditKind.OTHER:
        yield Claim(path=edit.path, text=_shown(edit.after), refusal="it changes the contract, which no rewrite may")
    elif not isinstance(edit.after, str) or not edit.after.strip():
        yield Claim(path=edit.path, text=_shown(edit.after), refusal="it takes a text away")
    elif edit.kind is EditKind.TITLE:
        yield SentenceCheck(path="/title", ground=ground, may_restate=True).claim(edit.after)
    else:
        yield from _sentences(edit, ground)
        if edit.kind is EditKind.EXPLANATION and isinstance(edit.before, str):
            yield from _dropped(edit.path, sentences_of(edit.before), [edit.after])


def _sentences(edit: Edit, ground: ToolStatements) -> Iterator[Claim]:
    """A claim for each new sentence, checked against the sentences before it."""
    old = {_plain(sentence) for sentence in sentences_of(edit.before)} if isinstance(edit.before, str) else set()
    is_text = edit.kind is EditKind.DESCRIPTION
    named = [each for each in ground.own if each.is_contract and f"{each.source}/description" == edit.path]
    own = frozenset[str]().union(*(each.words for each in named)) if not is_text else frozenset[str]()
    check = SentenceCheck(path=edit.path, ground=ground, own=own, may_restate=is_text)
    for sentence in sentences_of(str(edit.after)):
        if new := _beyond(sentence, old):
            yield replace(check, may_restate=check.may_restate and new == sentence).claim(new)
        said = content_stems(words_of(sentence)) | identifiers_of(sentence)
        check = replace(check, sentences=(*check.sentences, said), may_restate=False)


def _beyond(sentence: str, old: AbstractSet[str]) -> str:
    """The new part of a sentence: all, nothing, or what follows an old sentence that had no full stop."""
    plain = _plain(sentence)
    if plain in old:
        return ""
    words = sentence.split()
    begun = max((len(each.split()) for each in old if each and plain.startswith(f"{each} ")), default=0)
    return " ".join(words[begun:]) if begun > 1 and not words[begun][0].islower() else sentence


def _hint(edit: Edit, subject: Subject, material: Material) -> Claim:
    """A new hint needs the author's plain words; a hint that is set changes only by a given fact."""
    name = edit.path.rpartition("/")[2]
    text = f"{name}: {_shown(edit.after)}"
    value, source = hints_of_facts(subject, material).get(name, (None, ""))
    if value is not None and value is edit.after:
        return Claim(path=edit.path, text=text, sources=(source,))
    said = {hint for sentence in subject.prose.sentences for hint in stated_hints(sentence)}
    is_new = edit.before is compatibility.MISSING and value is None and not is_contradicted_hint(name, subject, said)
    if is_new and (name, edit.after) in said and (name, not edit.after) not in said:
        return Claim(path=edit.path, text=text, sources=("description",))
    return Claim(path=edit.path, text=text, refusal="no fact and no sentence of the description proves this hint")


def _enum(edit: Edit, subject: Subject, material: Material) -> Claim:
    """The values must be the whole list that the parameter's own text, or a fact that names it, closes."""
    listed = edit.after if isinstance(edit.after, list) else []
    facts = {fact.source: fact.text for fact in material.of(subject.tool.name).facts}
    for name, closed, source in closed_value_lists(subject.tool, facts):
        if edit.path == f"{arguments.property_pointer(name)}/enum" and sorted(closed) == sorted(map(str, listed)):
            return Claim(path=edit.path, text=f"one of {_shown(listed)}", sources=(source,))
    return Claim(path=edit.path, text=f"one of {_shown(listed)}", refusal="no sentence lists these values")


def _lost(subject: Subject, definition: Mapping[str, Any], found: Sequence[Edit]) -> Iterator[Claim]:
    """Warnings and negations of the old description that the new definition does not have."""
    if not any(edit.kind is EditKind.DESCRIPTION for edit in found):
        return
    prose = subject.prose
    cued = {place for cue in _WARNINGS for place in prose.cue_places.get(cue, ())}
    cued |= {place for place, words in enumerate(prose.spoken) if any(map(is_negation, words))}
    yield from _dropped("/description", [prose.sentences[place] for place in sorted(cued)], _texts(definition))


def _dropped(path: str, sentences: Iterable[str], texts: Sequence[str]) -> Iterator[Claim]:
    """The sentences that the new texts no longer say."""
    kept = _Kept(texts)
    for sentence in sentences:
        if not kept.has(sentence):
            yield Claim(path=path, text=sentence, refusal="the rewrite drops this; an agent needs it")


class _Kept:
    """What the texts of a new definition say; compared word by word only if a sentence is not there unchanged."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._told = {_plain(sentence): sentence for text in texts for sentence in sentences_of(text)}

    @cached_property
    def _words(self) -> frozenset[str]:
        return content_stems(word for sentence in self._told for word in words_of(sentence))

    @cached_property
    def _cues(self) -> frozenset[Cue]:
        return frozenset(cue for sentence in self._told for cue in cues_of(words_of(sentence)))

    @cached_property
    def _denied(self) -> list[frozenset[str]]:
        return [read_polarity(sentence).denied for sentence in self._told.values()]

    def has(self, sentence: str) -> bool:
        """The sentence itself; or most of its words, all that it denies, and a warning of the same kind."""
        if _plain(sentence) in self._told:
            return True
        spoken, denied = words_of(sentence), read_polarity(sentence).denied
        words = content_stems(spoken)
        is_told = 100 * sum(has_word(self._words, word) for word in words) >= KEPT * len(words)
        if not words or not is_told or not cues_of(spoken) & _WARNINGS <= self._cues:
            return False
        is_denied = any(denied and all(has_word(each, word) for word in denied) for each in self._denied)
        return is_denied or not any(map(is_negation, spoken))


def _threats(subject: Subject, new: Mapping[str, Any]) -> Iterator[Claim]:
    """What the new strings try to make their reader do and the old ones did not."""
    left = Counter((threat.path, threat.kind) for threat in subject.threats)
    for threat in find_threats(new):
        left[threat.path, threat.kind] -= 1
        if left[threat.path, threat.kind] < 0:
            yield Claim(path=threat.path, text=threat.quote, refusal=f"its text {threat.kind}")


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
    text = "nothing" if value is compatibility.MISSING else str(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
