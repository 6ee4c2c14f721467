"""Checks of another writer's words: changes of the contract are refused, what is disproven is called a conflict."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.facts.lexicon import MAX_EXPLANATION, PatternTable
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.schema.compatibility import MISSING, Edit, EditKind, list_edits
from tdqs_mcp.facts.schema.walk import all_texts, put_at, split_pointer
from tdqs_mcp.facts.spelling import words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.effects import sentence_claims
from tdqs_mcp.facts.text.prose import cues_of, plain_text, sentences_of
from tdqs_mcp.facts.text.statements import (
    closed_value_lists,
    is_negation,
    read_polarity,
    said_deleting,
    stated_fates,
    stated_hints,
)
from tdqs_mcp.facts.text.words import EFFECTS, LEMMAS, PREPOSITIONS, Cue, content_stems, has_word, numbers_of
from tdqs_mcp.facts.threats import find_threats
from tdqs_mcp.facts.toolset.names import read_names
from tdqs_mcp.facts.toolset.relations import mentioned_siblings
from tdqs_mcp.facts.toolset.unknown_names import unknown_parameters, unknown_tools, unknown_words
from tdqs_mcp.model import ANNOTATIONS, NOTHING, PARAMETERS, Fact, Material
from tdqs_mcp.results.improvements import Claim
from tdqs_mcp.results.tool_code import ToolCode
from tdqs_mcp.rewriting.schema_conflicts import schema_conflicts
from tdqs_mcp.rules.code_rules import find_disproof, misstated_limits

_PATTERNS = PatternTable("rewriting")

_Position = tuple[str, bool]
"""A hint, or what becomes of a thing, and its value: two positions on one of them cannot both hold."""

_Sides = Mapping[str, Mapping[bool, str]]
"""By what the positions are about and value, who says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A statement of the author's and what it cannot stand beside."""

    source: str
    place: str
    """What the statement is about; empty where only its words say."""

    statement: str
    """The statement as a question names it."""

    other: str

    @property
    def question(self) -> str:
        """Return what only the author can answer; the same for either of two statements."""
        is_own = _PATTERNS.material_name.match
        first, second = sorted((self.statement, self.other), key=lambda side: (not is_own(side), side))
        return f"{first[:1].upper()}{first[1:]}, but {second}: which of them holds?"


def find_conflicts(subject: Subject, facts: Sequence[Fact]) -> tuple[Conflict, ...]:
    """Return a conflict for each fact that schema, hints, text or another fact contradict; linear in the facts."""
    stated = [fact for fact in facts if fact.tool is not None or not fact.place]
    sides = _sides(subject, stated, hints=subject.tool.annotations) if stated else {}
    return tuple(
        Conflict(source=fact.source, place=fact.place, statement=_side(fact), other=other)
        for fact in stated
        if (other := _beyond_schema(fact, subject) or _opponent(fact, sides))
    )


def is_ruled_out(hint: str, subject: Subject, *, value: bool) -> bool:
    """Return whether the definition contradicts a hint of this value."""
    fact = Fact(text=str(value).lower(), tool=subject.tool.name, place=f"{ANNOTATIONS}{hint}")
    return bool(find_conflicts(subject, [fact]))


def _sides(
    subject: Subject, facts: Sequence[Fact], *, hints: Mapping[str, Any] | None, code: ToolCode | None = None
) -> _Sides:
    """The positions of code that was read whole, of the definition with these hints, and of its author's facts.

    Of several that say the same the first is named.
    """
    sides: dict[str, dict[bool, str]] = {}
    if code and code.handler and code.read_only is True and not code.unresolved:
        sides["readOnlyHint"] = {True: f"the code that starts at {code.handler} only reads"}
    stated = ((_side(fact), position) for fact in facts for position in _fact_positions(fact))
    for side, (thing, stance) in (*_definition(subject, hints or {}), *stated):
        sides.setdefault(thing, {}).setdefault(stance, side)
    return sides


def _beyond_schema(fact: Fact, subject: Subject) -> str | None:
    """Return what of the schema contradicts a fact, which may narrow what it takes."""
    if fact.hint:
        return None
    path = fact.parameter and f"{arguments.property_pointer(fact.parameter)}/description"
    return next(schema_conflicts(fact.text, subject, path=path or "/description", may_narrow=True), None)


def _opponent(fact: Fact, sides: _Sides) -> str | None:
    """Return the position of the definition, or of another fact, that contradicts a statement."""
    opponents = (
        speaker
        for thing, stance in _fact_positions(fact)
        for other, speaker in sides.get(thing, {}).items()
        if other != stance
    )
    return next((speaker for speaker in opponents if speaker != _side(fact)), None)


def _side(fact: Fact) -> str:
    if fact.hint and fact.origin:
        return f"{fact.source} is {fact.text}"
    text = f"{fact.hint}: {fact.text}" if fact.hint else fact.text
    return f"{fact.source} says {text!r}"


def _fact_positions(fact: Fact) -> Iterator[_Position]:
    if fact.hint:
        yield from _hint(fact.hint, value=fact.text == "true")
    else:
        yield from _positions(f"`{fact.parameter}`: {fact.text}" if fact.parameter else fact.text)


def _hint(name: str, *, value: bool) -> Iterator[_Position]:
    """Yield what the value of a hint is, and what else it says."""
    yield name, value
    if (name, value) == ("destructiveHint", True):
        yield "readOnlyHint", False


def _definition(subject: Subject, hints: Mapping[str, Any]) -> Iterator[tuple[str, _Position]]:
    """Yield what hints, name and text say, each with the words that name it; the hints first.

    An old hint that says what it means silences the name, a new one does not.
    """
    for name, value in hints.items():
        if isinstance(value, bool):
            yield f"`{name}` is {str(value).lower()}", (name, value)
    if hints.get("destructiveHint") is True:
        yield "`destructiveHint` is true", ("readOnlyHint", False)
    hints = subject.tool.annotations or {}
    name = subject.tool.name
    label = read_names([name])[name]
    if label.verb and label.effect and label.effect.is_mutating and hints.get("readOnlyHint") is not True:
        yield f"the name says {name!r}", ("readOnlyHint", False)
    if (word := said_deleting(subject.tool, subject.prose)) and hints.get("destructiveHint") is not False:
        yield f"{name!r} says {word!r}", ("destructiveHint", True)
    for sentence in subject.prose.sentences:
        for position in _positions(sentence):
            yield f"the description says {sentence!r}", position


def _positions(text: str) -> Iterator[_Position]:
    """The hints that a text states, those that its verbs rule out, and what it says is kept or lost."""
    for hint, value in stated_hints(text):
        yield from _hint(hint, value=value)
    for sentence in sentences_of(text):
        yield from _effect(sentence)
        yield from ((f"fate of {thing}", is_kept) for thing, is_kept in stated_fates(sentence))


def _effect(sentence: str) -> Iterator[_Position]:
    """That the tool changes something: as rules read it, or its verb in a form that says who does it."""
    if any(sentence_claims(sentence)):
        yield "readOnlyHint", False
    match = _PATTERNS.acts.match(sentence)
    word = (match[1] or match[2]).lower() if match else ""
    following = words_of(sentence[match.end() :])[:1] if match else []
    is_of_result = match is not None and match[2] and _PATTERNS.result_part.search(sentence) is not None
    # "It stops at the names" stops nothing; "Adds the owner to the summary fields" is about what comes back
    verb = LEMMAS.get(word) if PREPOSITIONS.isdisjoint(following) and not is_of_result else None
    is_change = verb is not None and EFFECTS[verb].is_mutating and not word.endswith(("ed", "ing"))
    polarity = read_polarity(sentence)
    if is_change and verb in polarity.affirmed - polarity.denied:
        yield "readOnlyHint", False


HOSTILE = "its text "
"""How the reason begins to refuse a draft as a whole: it tries to steer its reader."""

DROPPED = "the draft drops this; an agent needs it"
"""Why a model's draft goes back that has lost a warning, a negation or a number of the old text."""

SHARE_KEPT = 50
"""Percent of a warning's words that must stand somewhere in the new definition."""

MAX_SHOWN = 80
"""Characters of a value that a claim quotes."""

MAX_DOCS = 2_000
"""Sentences of documentation that can prove a sentence of a draft."""

WARNING_CUES = frozenset({Cue.DESTRUCTION, Cue.PERMISSION, Cue.ERROR, Cue.PREREQUISITE, Cue.LIMIT})
"""Cues of a sentence that no rewording may lose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDraft:
    """Another writer's draft with its checks."""

    definition: Mapping[str, Any]
    """The draft without what is refused."""

    claims: tuple[Claim, ...]
    """The statements that stand, with their sources and conflicts."""

    refused: tuple[Claim, ...]
    dropped: tuple[str, ...] = ()
    """Sentences of the old text with a warning, a negation or a number that an author's new text does not say."""


class DraftChecker:
    """Holds drafts against the original catalog and the author's material."""

    def __init__(self, measured: Measured, material: Material = NOTHING) -> None:
        self.subjects = {subject.tool.index: subject for subject in measured.subjects}
        self.measured = measured
        self._by_name = {subject.tool.name: subject for subject in measured.subjects}
        self._code = {tool.name: tool for tool in measured.code.tools} if measured.code else {}
        self._material = {index: material.of(subject.tool.name) for index, subject in self.subjects.items()}
        self._conflicts = {
            index: find_conflicts(subject, self._material[index].facts) for index, subject in self.subjects.items()
        }

    def material(self, subject: Subject) -> Material:
        """Return the material about a tool."""
        return self._material[subject.tool.index]

    def conflicts(self, subject: Subject) -> tuple[Conflict, ...]:
        """Return the facts that the definition or each other contradict; they stand with the remark."""
        return self._conflicts[subject.tool.index]

    def consistent(self, subject: Subject) -> tuple[Fact, ...]:
        """Return the facts that nothing contradicts, which alone prove anything."""
        sources = self.conflicting(subject)
        return tuple(fact for fact in self.material(subject).facts if fact.source not in sources)

    def conflicting(self, subject: Subject) -> frozenset[str]:
        """Return the sources of the facts that something contradicts."""
        return frozenset(conflict.source for conflict in self.conflicts(subject))

    def check_draft(self, subject: Subject, draft: Mapping[str, Any], *, withholds_conflicts: bool) -> CheckedDraft:
        """Check a draft, whose missing fields are taken from the definition; pure.

        An author's or agent's words stand whatever the checks say of them, and what they leave out is left out. Those
        of a model that nobody answers for are withheld where they are disproven (`withholds_conflicts`).
        """
        definition = {**subject.tool.raw, **draft}
        claims, dropped = self.claims(subject, definition), list(_dropped_sentences(subject, definition))
        if withholds_conflicts:
            lost = (Claim(path=path, text=sentence, conflict=DROPPED) for path, sentence in dropped)
            claims = tuple(
                replace(claim, refusal=claim.refusal or claim.conflict, conflict=None) for claim in (*claims, *lost)
            )
        refused = tuple(claim for claim in claims if claim.refusal is not None)
        if any(claim.refusal and claim.refusal.startswith(HOSTILE) for claim in refused):
            return CheckedDraft(definition=subject.tool.raw, claims=(), refused=refused)
        return CheckedDraft(
            definition=_without(subject.tool.raw, definition, refused) if refused else definition,
            claims=tuple(claim for claim in claims if claim.refusal is None),
            refused=refused,
            dropped=() if withholds_conflicts else tuple(sentence for _, sentence in dropped),
        )

    def claims(self, subject: Subject, definition: Mapping[str, Any]) -> tuple[Claim, ...]:
        """Return every statement that a draft adds to a definition or changes; pure.

        Sources are named only where they say the sentence itself. Conflicts come from the schema, the hints, the
        catalog's names and the author's facts. A sentence with neither is unproven.
        """
        edits = list_edits(subject.tool.raw, definition)
        proofs = _proofs(subject, replace(self.material(subject), facts=self.consistent(subject)))
        claims = [claim for edit in edits for claim in self._claims_of(edit, subject, proofs)]
        facts, code = self.material(subject).facts, self._code.get(subject.tool.name)
        sides = _sides(subject, facts, hints=definition.get("annotations"), code=code) if claims else {}
        checked = [replace(claim, conflict=self._conflict_of(claim, subject, sides)) for claim in claims]
        return (*checked, *_threats(subject, definition))

    def _claims_of(self, edit: Edit, subject: Subject, proofs: Mapping[str, str]) -> Iterator[Claim]:
        value = _shown(edit.after)
        if edit.kind is EditKind.HINT and isinstance(edit.after, bool):
            hint = edit.path.rpartition("/")[2]
            yield Claim(
                path=edit.path, text=f"{hint}: {value.lower()}", sources=self._hint_sources(hint, edit, subject)
            )
        elif edit.kind is EditKind.ENUM:
            sources = self._list_sources(edit, subject)
            refusal = None if sources else "no fact and no sentence of the description closes this list"
            yield Claim(path=edit.path, text=f"one of {value}", sources=sources, refusal=refusal)
        elif edit.kind is EditKind.OTHER or not (isinstance(edit.after, str) or edit.after is MISSING):
            yield Claim(path=edit.path, text=value, refusal="it changes the contract, which no rewrite may")
        elif not isinstance(edit.after, str) or not edit.after.strip():
            if isinstance(edit.before, str) and edit.before.strip():
                yield Claim(path=edit.path, text=value, conflict="it takes a text away")
        else:
            yield from self._sentences(edit.path, edit.before, edit.after, proofs)

    def _sentences(self, path: str, before: object, after: str, proofs: Mapping[str, str]) -> Iterator[Claim]:
        """Yield a claim for each sentence that the old text does not have."""
        old = sentences_of(before) if isinstance(before, str) else ()
        for sentence in sentences_of(after):
            text = _new_part(sentence, set(map(plain_text, old)))
            if text:
                source = proofs.get(plain_text(text))
                yield Claim(path=path, text=text, sources=(source,) if source else ())

    def _hint_sources(self, hint: str, edit: Edit, subject: Subject) -> tuple[str, ...]:
        """Return the sentences of the description and the facts that state the hint's new value."""
        texts = [("description", sentence) for sentence in subject.prose.sentences]
        facts = self.consistent(subject)
        texts += [(fact.source, fact.text) for fact in facts if not fact.hint]
        stated = [source for source, text in texts if (hint, edit.after) in stated_hints(text)]
        hint_facts = [fact.source for fact in facts if fact.hint == hint and fact.text == str(edit.after).lower()]
        return tuple(dict.fromkeys([*hint_facts, *stated]))

    def _list_sources(self, edit: Edit, subject: Subject) -> tuple[str, ...]:
        """Return the text that closes just this list of values."""
        values = sorted(map(str, edit.after)) if isinstance(edit.after, list) else []
        facts = {fact.source: fact.text for fact in self.consistent(subject)}
        return tuple(
            source
            for name, closed, source in closed_value_lists(subject.tool, facts)
            if edit.path == f"{arguments.property_pointer(name)}/enum" and sorted(closed) == values
        )[:1]

    def _conflict_of(self, claim: Claim, subject: Subject, sides: _Sides) -> str | None:
        """Return what disproves a claim: another statement, the schema, or a name that does not exist."""
        if claim.conflict or claim.refusal:
            return claim.conflict
        fact = _fact(claim, subject.tool.name)
        if fact.hint:
            return _opponent(fact, sides)
        reasons = schema_conflicts(claim.text, subject, path=claim.path)
        disproof = next(reasons, None) or _opponent(fact, sides) or next(self._disproofs(fact, subject), None)
        return disproof or next(self._strangers(claim.text, subject), None)

    def _disproofs(self, fact: Fact, subject: Subject) -> Iterator[str]:
        """Yield what the code does instead of what a statement says, as rules of code read it."""
        code = self._code.get(subject.tool.name)
        if code is None or code.handler is None:
            return
        schema = arguments.properties(subject.tool).get(fact.parameter or "")
        for limit, _ in misstated_limits(fact.parameter or "", schema, fact.text, code) if schema else ():
            yield f"the code gives {limit.parameter} {limit.text} ({limit.file}:{limit.line})"
        proof = None if fact.parameter else find_disproof(fact.text, subject, code)
        if proof:
            yield proof[0]

    def _strangers(self, text: str, subject: Subject) -> Iterator[str]:
        """Yield the tools and parameters that a text names and that do not exist."""
        texts, words = [("/description", text)], self.measured.vocabulary
        strange = unknown_words(texts, subject.part_names)
        for mention in unknown_tools(strange, texts, subject.part_names, words):
            yield f"there is no tool {mention.name!r}"
        named = mentioned_siblings(subject.tool, words_of(text), subject.siblings)
        for mention in unknown_parameters(strange, texts, subject.part_names, words):
            if not any(mention.name in self._by_name[name].part_names for name in named):  # it may be that tool's
                yield f"there is no parameter {mention.name!r}"


def _proofs(subject: Subject, material: Material) -> Mapping[str, str]:
    """Sources by the sentences that they say, in plain words.

    A sentence that stands in several texts gets the source that its reader can check first: the definition, then the
    author's facts, then the documentation; of two texts of a kind the first.
    """
    texts = [(path if path != "/description" else "description", text) for path, text in subject.texts]
    texts += [(fact.source, fact.text) for fact in material.facts if not fact.hint]
    proofs = {
        plain_text(sentence): source
        for source, text in reversed(texts)  # the first text comes last and wins: "description" over "fact 1"
        for sentence in sentences_of(text[:MAX_EXPLANATION])
    }
    docs = {plain_text(sentence): "docs" for sentence in sentences_of(material.docs)[:MAX_DOCS]}
    return docs | proofs


def _fact(claim: Claim, tool: str) -> Fact:
    """The claim as a fact, whose conflicts are found like those of the author's facts."""
    hint, _, value = claim.text.partition(": ")
    if claim.path == f"/annotations/{hint}":
        return Fact(text=value, tool=tool, place=f"{ANNOTATIONS}{hint}", origin="draft")
    steps = list(split_pointer(claim.path))
    is_top = len(steps) == 4 and steps[:2] == ["inputSchema", "properties"]
    return Fact(text=claim.text, tool=tool, place=f"{PARAMETERS}{steps[2]}" if is_top else "", origin="draft")


def _without(old: Mapping[str, Any], new: Mapping[str, Any], refused: Sequence[Claim]) -> Mapping[str, Any]:
    """Return the old definition with every change that is not refused; a description loses only refused sentences."""
    definition = old
    wrong = {claim.path for claim in refused}
    for edit in list_edits(old, new):
        value, is_accepted = edit.after, edit.path not in wrong
        if edit.path == "/description" and isinstance(value, str):
            value = _mended(value, [claim for claim in refused if claim.path == edit.path])
            is_accepted = bool(value)
        if is_accepted:
            definition = put_at(definition, edit.path, value)
    return definition


def _mended(text: str, refused: Sequence[Claim]) -> str:
    """Return a description without refused sentences, and with those that it must keep."""
    for claim in refused:
        if claim.refusal == DROPPED:
            text = f"{text.rstrip()} {claim.text}"
        else:
            words = r"\s+".join(map(re.escape, claim.text.split()))
            text = re.sub(rf"(?m)(^[ \t]*)?[ \t]*{words}(?(1)[ \t]*)", r"\1", text, count=1)
    return text.strip()


def _new_part(sentence: str, old: AbstractSet[str]) -> str:
    """Return the new part of a sentence: all, nothing, or what follows an old sentence whose end does not show."""
    if plain_text(sentence) in old:
        return ""
    # "Lists orders Newest first.": the old text "Lists orders" has no full stop, so both are one sentence.
    words, plain = sentence.split(), [word.rstrip(".") for word in sentence.lower().split()]
    begun = max((len(earlier) for text in old if plain[: len(earlier := text.split())] == earlier), default=0)
    return " ".join(words[begun:]) if begun > 1 and not words[begun][0].islower() else sentence


def _dropped_sentences(subject: Subject, definition: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield old sentences, each with its path, with a warning, a negation or a number that the new definition lacks.

    A warning counts as said where the new texts have most of its words, a number wherever it stands.
    """
    edits = [edit for edit in list_edits(subject.tool.raw, definition) if isinstance(edit.before, str)]
    if not edits:
        return
    present = {plain_text(sentence): sentence for text in all_texts(definition) for sentence in sentences_of(text)}
    spoken = [words_of(sentence) for sentence in present]
    stems = content_stems(word for words in spoken for word in words)
    cues = frozenset(cue for words in spoken for cue in cues_of(words))
    denials = [content_stems(words) for words in spoken if any(map(is_negation, words))]
    numbers = numbers_of(canonical_json(definition))
    for edit in edits:
        for sentence in sentences_of(str(edit.before)):
            words = words_of(sentence)
            own, warnings = content_stems(words), cues_of(words) & WARNING_CUES
            is_denying = any(map(is_negation, words))
            is_denied = not is_denying or any(_has_most(denied, own) for denied in denials)
            is_said = _has_most(stems, own) and warnings <= cues and is_denied
            is_lost = (bool(warnings or is_denying) and not is_said) or not numbers_of(sentence) <= numbers
            if is_lost and plain_text(sentence) not in present:
                yield edit.path, sentence


def _has_most(stems: frozenset[str], words: AbstractSet[str]) -> bool:
    return bool(words) and 100 * sum(has_word(stems, word) for word in words) >= SHARE_KEPT * len(words)


def _threats(subject: Subject, new: Mapping[str, Any]) -> Iterator[Claim]:
    """Yield what the new strings try to make their reader do and the old ones did not."""
    left = Counter((threat.path, threat.kind) for threat in subject.threats)
    for threat in find_threats(new):
        left[threat.path, threat.kind] -= 1
        if left[threat.path, threat.kind] < 0:
            yield Claim(path=threat.path, text=threat.quote, refusal=f"{HOSTILE}{threat.kind}")


def _shown(value: object) -> str:
    text = "nothing" if value is MISSING else str(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
