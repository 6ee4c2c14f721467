"""Checks another writer's draft: each new statement is refused with a reason, supported with sources, or unchecked."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from tdqs_mcp.facts.schema import arguments, compatibility
from tdqs_mcp.facts.schema.compatibility import Edit, EditKind
from tdqs_mcp.facts.schema.walk import all_texts, put_at
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text import fact_conflicts
from tdqs_mcp.facts.text.fact_conflicts import Conflict
from tdqs_mcp.facts.text.prose import cues_of, plain_text, sentences_of
from tdqs_mcp.facts.text.statements import closed_value_lists, is_negation, read_polarity, stated_hints
from tdqs_mcp.facts.text.vocabulary import Cue
from tdqs_mcp.facts.text.words import content_stems, has_word, words_of
from tdqs_mcp.facts.threats import find_threats
from tdqs_mcp.model import NOTHING, Material
from tdqs_mcp.results.improvements import Claim, Component
from tdqs_mcp.rewriting.draft_sources import Source, ToolSources, plain_numbers, read_sources
from tdqs_mcp.rewriting.pointer_checks import Siblings
from tdqs_mcp.rewriting.sentence_checks import Sentence, check_sentence

HOSTILE = "its text "
"""How the reason begins to refuse a draft as a whole: it tries to steer its reader."""

DROPPED = "the rewrite drops this; an agent needs it"
"""Why a definition without a sentence of the old one is refused."""

KEPT = 50
"""Percent of a warning's words that must stand somewhere in the new definition."""

MAX_SHOWN = 80
"""Characters of a value that a claim quotes."""

_WARNINGS = frozenset({Cue.DESTRUCTION, Cue.PERMISSION, Cue.ERROR, Cue.PREREQUISITE, Cue.LIMIT})


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDraft:
    """What of another writer's draft may stand."""

    definition: Mapping[str, Any]
    """The draft without what is refused, and with what it must not lose."""

    claims: tuple[Claim, ...]
    """The statements that stand; one without a source could not be checked."""

    refused: tuple[Claim, ...]


class KnownSources:
    """What the original catalog and the author's material say; a definition is read when its first draft is checked."""

    def __init__(self, measured: Measured, material: Material = NOTHING) -> None:
        self.subjects = {subject.tool.index: subject for subject in measured.subjects}
        self._siblings = Siblings.of(measured.subjects)
        self._known = {index: _split(each, material.of(each.tool.name)) for index, each in self.subjects.items()}
        self._sources: dict[int, ToolSources] = {}

    def material(self, subject: Subject) -> Material:
        """The material about a tool, without facts that conflict with its definition or with each other."""
        return self._known[subject.tool.index][0]

    def conflicts(self, subject: Subject) -> tuple[Conflict, ...]:
        """The facts that were left out, with what they conflict with."""
        return self._known[subject.tool.index][1]

    def claims(self, subject: Subject, definition: Mapping[str, Any]) -> tuple[Claim, ...]:
        """Every statement that a draft adds to a tool's definition, and every one that it must not lose; pure.

        Identifiers, values, numbers, limits, pointers, hints and the contract are checked; other words are free. A
        claim without a source and without a refusal could not be checked.
        """
        found = compatibility.list_edits(subject.tool.raw, definition)
        weighed = [claim for edit in found for claim in self._weigh(edit, subject)]
        return (*weighed, *_lost(subject, definition, found), *_threats(subject, definition))

    def check_draft(self, subject: Subject, draft: Mapping[str, Any]) -> CheckedDraft:
        """A draft with the fields that it leaves out taken from the definition; pure."""
        definition = {**subject.tool.raw, **draft}
        claims = self.claims(subject, definition)
        refused = tuple(claim for claim in claims if claim.refusal is not None)
        if any(claim.refusal and claim.refusal.startswith(HOSTILE) for claim in refused):
            return CheckedDraft(definition=subject.tool.raw, claims=(), refused=refused)
        return CheckedDraft(
            definition=_without(subject.tool.raw, definition, refused) if refused else definition,
            claims=tuple(claim for claim in claims if claim.refusal is None),
            refused=refused,
        )

    def check(self, text: str, path: str, subject: Subject) -> Claim:
        """One sentence for the text at a path."""
        sentence = Sentence(text=text, path=path, sources=self._of(subject), siblings=self._siblings)
        reason, sources = check_sentence(sentence)
        about = Component.PARAMETERS if sentence.explained else Component.GUIDELINES if sentence.others else None
        return Claim(path=path, text=text, sources=sources, component=about, refusal=reason)

    def _of(self, subject: Subject) -> ToolSources:
        index = subject.tool.index
        if index not in self._sources:
            self._sources[index] = read_sources(subject, self.material(subject))
        return self._sources[index]

    def _weigh(self, edit: Edit, subject: Subject) -> Iterator[Claim]:
        said = _shown(edit.after)
        if edit.kind is EditKind.HINT:
            name = edit.path.rpartition("/")[2]
            yield _evident(edit, f"{name}: {said}", _hint_source(name, edit, self._of(subject)))
        elif edit.kind is EditKind.ENUM:
            yield _evident(edit, f"one of {said}", _list_source(edit, self._of(subject)))
        elif edit.kind is EditKind.OTHER:
            yield Claim(path=edit.path, text=said, refusal="it changes the contract, which no rewrite may")
        elif not isinstance(edit.after, str) or not edit.after.strip():
            yield Claim(path=edit.path, text=said, refusal="it takes a text away")
        else:
            old = sentences_of(edit.before) if isinstance(edit.before, str) else ()
            known = set(map(plain_text, old))
            new = (_beyond(sentence, known) for sentence in sentences_of(edit.after))
            yield from (self.check(sentence, edit.path, subject) for sentence in new if sentence)
            if edit.kind is EditKind.EXPLANATION:
                yield from _dropped(edit.path, filter(_is_telling, old), [edit.after])


def _split(subject: Subject, given: Material) -> tuple[Material, tuple[Conflict, ...]]:
    """The material without the facts that conflict with the definition or with each other, and these."""
    found = fact_conflicts.find_conflicts(subject, given.facts) if given.facts else ()
    refused = {each.source for each in found}
    return replace(given, facts=tuple(fact for fact in given.facts if fact.source not in refused)), found


def _without(old: Mapping[str, Any], new: Mapping[str, Any], refused: Sequence[Claim]) -> Mapping[str, Any]:
    """The old definition with every change that is not refused; of a description only the refused sentences go."""
    made = old
    wrong = {claim.path for claim in refused}
    for edit in compatibility.list_edits(old, new):
        value, is_kept = edit.after, edit.path not in wrong
        if edit.path == "/description" and isinstance(value, str):
            value = _mended(value, [claim for claim in refused if claim.path == edit.path])
            is_kept = bool(value)
        if is_kept:
            made = put_at(made, edit.path, value)
    return made


def _mended(text: str, refused: Sequence[Claim]) -> str:
    """A description without refused sentences, and with those that it must keep."""
    for claim in refused:
        if claim.refusal == DROPPED:
            text = f"{text.rstrip()} {claim.text}"
        else:
            words = r"\s+".join(map(re.escape, claim.text.split()))
            text = re.sub(rf"(?m)(^[ \t]*)?[ \t]*{words}(?(1)[ \t]*)", r"\1", text, count=1)
    return text.strip()


def _beyond(sentence: str, old: AbstractSet[str]) -> str:
    """The new part of a sentence: all, nothing, or what follows an old sentence whose end does not show."""
    if plain_text(sentence) in old:
        return ""
    words, plain = sentence.split(), [word.rstrip(".") for word in sentence.lower().split()]
    begun = max((len(known) for each in old if plain[: len(known := each.split())] == known), default=0)
    return " ".join(words[begun:]) if begun > 1 and not words[begun][0].islower() else sentence


def _evident(edit: Edit, text: str, source: str | None) -> Claim:
    """A change of a structured field, which needs a source that says so plainly."""
    if source is None:
        return Claim(path=edit.path, text=text, refusal="no fact and no sentence of the description says so plainly")
    return Claim(path=edit.path, text=text, sources=(source,))


def _hint_source(name: str, edit: Edit, sources: ToolSources) -> str | None:
    """Where a hint is stated and nowhere denied; a hint that is set changes only by the author's word."""
    said = {hint: each for each in reversed(sources.own) for hint in (*stated_hints(each.text), *_given_hint(each))}
    source = said.get((name, edit.after is True))
    is_free = edit.before is compatibility.MISSING or (source is not None and source.is_given)
    return source.name if source and is_free and (name, edit.after is not True) not in said else None


def _given_hint(source: Source) -> Iterator[tuple[str, bool]]:
    """The value of a hint that the author gives as such."""
    name, _, value = source.text.partition(" ")
    if source.is_given and value in ("true", "false"):
        yield name, value == "true"


def _list_source(edit: Edit, sources: ToolSources) -> str | None:
    """The text that closes just this list of values."""
    listed = sorted(map(str, edit.after)) if isinstance(edit.after, list) else []
    facts = {each.name: each.text for each in sources.own if each.is_given}
    for name, closed, source in closed_value_lists(sources.subject.tool, facts):
        if edit.path == f"{arguments.property_pointer(name)}/enum" and sorted(closed) == listed:
            return source
    return None


def _is_telling(sentence: str) -> bool:
    """A warning, a negation or a number, which no rewording may lose."""
    words = words_of(sentence)
    return bool(cues_of(words) & _WARNINGS or any(map(is_negation, words)) or plain_numbers(sentence))


def _lost(subject: Subject, definition: Mapping[str, Any], found: Sequence[Edit]) -> Iterator[Claim]:
    """Warnings and negations of the old description that the new definition does not have."""
    if not any(edit.kind is EditKind.DESCRIPTION for edit in found):
        return
    prose = subject.prose
    cued = {place for cue in _WARNINGS for place in prose.cue_places.get(cue, ())}
    cued |= {place for place, words in enumerate(prose.spoken) if any(map(is_negation, words))}
    yield from _dropped("/description", [prose.sentences[place] for place in sorted(cued)], all_texts(definition))


def _dropped(path: str, sentences: Iterable[str], texts: Sequence[str]) -> Iterator[Claim]:
    """The sentences that the new texts no longer say, neither as they stood nor in most of their words."""
    told = {plain_text(sentence): sentence for text in texts for sentence in sentences_of(text)}
    missing = [sentence for sentence in sentences if plain_text(sentence) not in told]
    spoken = [words_of(sentence) for sentence in told] if missing else []
    stems = content_stems(word for words in spoken for word in words)
    cues = frozenset(cue for words in spoken for cue in cues_of(words))
    turned = [words for words in spoken if any(map(is_negation, words))]
    for sentence in missing:
        own = words_of(sentence)
        is_denied = not any(map(is_negation, own)) or any(_denies_too(sentence, " ".join(words)) for words in turned)
        if not (_has_most(stems, content_stems(own)) and cues_of(own) & _WARNINGS <= cues and is_denied):
            yield Claim(path=path, text=sentence, refusal=DROPPED)


def _denies_too(old: str, new: str) -> bool:
    """A negated sentence that denies some of what the old one does; where either denies no word, one about the same."""
    held, said = read_polarity(old), read_polarity(new)
    if held.denied and said.denied:
        return any(has_word(said.denied, word) for word in held.denied)
    return _has_most(said.affirmed | said.denied, held.affirmed | held.denied)


def _has_most(stems: frozenset[str], words: AbstractSet[str]) -> bool:
    return bool(words) and 100 * sum(has_word(stems, word) for word in words) >= KEPT * len(words)


def _threats(subject: Subject, new: Mapping[str, Any]) -> Iterator[Claim]:
    """What the new strings try to make their reader do and the old ones did not."""
    left = Counter((threat.path, threat.kind) for threat in subject.threats)
    for threat in find_threats(new):
        left[threat.path, threat.kind] -= 1
        if left[threat.path, threat.kind] < 0:
            yield Claim(path=threat.path, text=threat.quote, refusal=f"{HOSTILE}{threat.kind}")


def _shown(value: object) -> str:
    text = "nothing" if value is compatibility.MISSING else str(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
