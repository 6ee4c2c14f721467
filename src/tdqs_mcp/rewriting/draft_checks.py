"""Checks of another writer's words: changes of the contract are refused, what is disproven is called a conflict."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from tdqs_mcp.facts.lexicon import MAX_EXPLANATION, PatternTable, lazy_pattern
from tdqs_mcp.facts.schema import arguments, compatibility
from tdqs_mcp.facts.schema.compatibility import Edit, EditKind
from tdqs_mcp.facts.schema.walk import accepted_values, all_texts, put_at, split_pointer
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.claims import find_clashes
from tdqs_mcp.facts.text.parameter_texts import MentionKind, ParameterMention, known_units, read_mentions
from tdqs_mcp.facts.text.prose import cues_of, plain_text, sentences_of
from tdqs_mcp.facts.text.statements import (
    Bound,
    bound_keywords,
    closed_value_lists,
    closed_values,
    find_bounds,
    is_negation,
    read_polarity,
    said_deleting,
    stated_hints,
)
from tdqs_mcp.facts.text.words import EFFECTS, LEMMAS, Cue, content_stems, has_word, identifiers_of, numbers_of
from tdqs_mcp.facts.threats import find_threats
from tdqs_mcp.facts.toolset.names import fold, read_names
from tdqs_mcp.facts.toolset.unknown_names import unknown_parameters, unknown_tools, unknown_words
from tdqs_mcp.model import ANNOTATIONS, NOTHING, PARAMETERS, Fact, Material
from tdqs_mcp.results.improvements import Claim, Component

_ACTS = lazy_pattern(
    r"(?:it|this tool|the tool|a call|each call) (?:also |may |can |will )?(\w+)\b(?! (?:nothing|no)\b)"
    r"|(\w+s)(?= (?:the|an?|all|any|each|every|its|one)\b)",
    re.IGNORECASE,
)
"""A verb that says who does it; without a subject only before its object: "Orders are kept" has none."""
_OPTIONAL = lazy_pattern(r"\b(\w+)`? (?:is|are) optional\b", re.IGNORECASE)

_NAMED = lazy_pattern(r"`([\w.-]+)`|\b([\w-]+)(?::| (?:is|has|must|may|can|cannot|defaults)\b)", re.IGNORECASE)
"""A word that a text speaks of as of a parameter: in backticks, or before its verb."""

_Position = tuple[str, object]
"""What is spoken of, and what is said of it: two positions on one thing cannot both hold."""


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
        first, second = sorted((self.statement, self.other), key=lambda side: (not _GIVEN.match(side), side))
        return f"{first[:1].upper()}{first[1:]}, but {second}: which of them holds?"


_GIVEN = lazy_pattern(r"(?:fact|answer|parameters|annotations) ")
"""How the name of a statement of the material begins."""


def find_conflicts(subject: Subject, facts: Sequence[Fact]) -> tuple[Conflict, ...]:
    """Return a conflict for each fact that schema, hints, text or another fact contradict; linear in the facts."""
    sides: dict[str, dict[object, str]] = {}
    for side, position in _definition(subject):
        sides.setdefault(position[0], {}).setdefault(position[1], side)
    about = [fact for fact in facts if fact.tool is not None or not fact.place]
    stated = [(fact, _side(fact), tuple(_fact_positions(fact, subject))) for fact in about]
    for _, side, positions in stated:
        for thing, stance in positions:
            sides.setdefault(thing, {}).setdefault(stance, side)
    conflicts = []
    for fact, side, positions in stated:
        opponents = (
            speaker for thing, stance in positions for other, speaker in sides[thing].items() if other != stance
        )
        other = _beyond_schema(fact, subject) or next((speaker for speaker in opponents if speaker != side), None)
        if other:
            conflicts.append(Conflict(source=fact.source, place=fact.place, statement=side, other=other))
    return tuple(conflicts)


def is_ruled_out(hint: str, subject: Subject, *, value: bool) -> bool:
    """Return whether the definition contradicts a hint of this value."""
    fact = Fact(text=str(value).lower(), tool=subject.tool.name, place=f"{ANNOTATIONS}{hint}")
    return bool(find_conflicts(subject, [fact]))


def _side(fact: Fact) -> str:
    if fact.hint and fact.origin:
        return f"{fact.source} is {fact.text}"
    text = f"{fact.hint}: {fact.text}" if fact.hint else fact.text
    return f"{fact.source} says {text!r}"


def _text(fact: Fact) -> str:
    """Return what a fact says, with the parameter that it is about."""
    return f"`{fact.parameter}`: {fact.text}" if fact.parameter else fact.text


def _fact_positions(fact: Fact, subject: Subject) -> Iterator[_Position]:
    if fact.hint:
        yield from _hint(fact.hint, value=fact.text == "true")
    else:
        yield from _positions(_text(fact), subject)


def _hint(name: str, *, value: bool) -> Iterator[_Position]:
    """Yield what the value of a hint is, and what else it says."""
    yield name, value
    if (name, value) == ("destructiveHint", True):
        yield "readOnlyHint", False


def _definition(subject: Subject) -> Iterator[tuple[str, _Position]]:
    """Yield what hints, name and text say, each with the words that name it; the hints first."""
    hints = subject.tool.annotations or {}
    for name, value in hints.items():
        if isinstance(value, bool):
            yield f"`{name}` is {str(value).lower()}", (name, value)
    if hints.get("destructiveHint") is True:
        yield "`destructiveHint` is true", ("readOnlyHint", False)
    name = subject.tool.name
    label = read_names([name])[name]
    if label.verb and label.effect and label.effect.is_mutating and hints.get("readOnlyHint") is not True:
        yield f"the name says {name!r}", ("readOnlyHint", False)
    if (word := said_deleting(subject.tool, subject.prose)) and hints.get("destructiveHint") is not False:
        yield f"{name!r} says {word!r}", ("destructiveHint", True)
    for parameter in subject.signals.parameters:
        for thing, bound, number in _bounds(f"`{parameter.name}`: {parameter.description}", subject):
            yield f"the description of `{thing}` says {number}", (f"{bound} of `{thing}`", number)
    for sentence in subject.prose.sentences:
        for position in _positions(sentence, subject):
            yield f"the description says {sentence!r}", position


def _positions(text: str, subject: Subject) -> Iterator[_Position]:
    """The hints that a text states, what its sentences affirm or deny, and the bounds of parameters that it names."""
    for hint, value in stated_hints(text):
        yield from _hint(hint, value=value)
    for sentence in sentences_of(text):
        yield from _effect(sentence)
        stems = content_stems(words_of(sentence))
        for clause in sentence.split(";"):
            words = content_stems(words_of(clause))
            if len(words) > 1 or (words and words == stems):
                yield " ".join(sorted(words)), bool(read_polarity(clause).denied)
    for name, bound, number in _bounds(text, subject):
        yield f"{bound} of `{name}`", number


def _effect(sentence: str) -> Iterator[_Position]:
    """That the tool changes something: its verb in a form that says who does it."""
    match = _ACTS.match(sentence)
    word = (match[1] or match[2]).lower() if match else ""
    verb = LEMMAS.get(word)
    is_change = verb is not None and EFFECTS[verb].is_mutating and not word.endswith(("ed", "ing"))
    if is_change and verb in read_polarity(sentence).affirmed:
        yield "readOnlyHint", False


def _bounds(text: str, subject: Subject) -> Iterator[tuple[str, Bound, str]]:
    """The numbers that a text gives as bounds or defaults of the one parameter that it names."""
    spoken = {name.lower() for match in _NAMED.findall(text) for name in match if name}
    named = [name for word in spoken for name in subject.parameters_by_word.get(word, ())]
    for bound in find_bounds(text) if len(named) == 1 else ():
        if bound.value[-1].isdecimal():
            yield named[0], bound.bound, bound.value


def _beyond_schema(fact: Fact, subject: Subject) -> str | None:
    """Return what the schema has instead: a bound that the fact oversteps, another default, a requirement."""
    nodes = {node.name: node for node in subject.input_shape.nodes if node.is_top}
    for name, bound, value in _bounds(_text(fact), subject):
        schema = nodes[name].schema if name in nodes else {}
        for keyword, kind in bound_keywords().items():
            limit = schema.get(keyword)
            if isinstance(limit, int | float) and _oversteps(bound, value, kind, limit):
                return f"the schema gives `{name}` the {keyword} {limit}"
    node = nodes.get(fact.parameter or "")
    if node and (other := _beyond_values(fact.text, node.schema)):
        return f"the schema gives `{fact.parameter}` {other}"
    for match in _OPTIONAL.finditer(_text(fact)):
        if match[1] in nodes and nodes[match[1]].is_required:
            return f"the schema requires `{match[1]}`"
    return None


def _beyond_values(text: str, schema: Mapping[str, Any]) -> str | None:
    """The schema's values or its default, where a text closes another list or names another of them as the default."""
    values = schema.get("enum")
    if not isinstance(values, list):
        return None
    spelled, default = {str(value).lower() for value in values}, schema.get("default")
    listed = {value.lower() for value in closed_values(" ".join(text.split()), {})}
    if not listed <= spelled:
        return f"the values {', '.join(map(str, values))}"
    named = {bound.value for bound in find_bounds(text) if bound.bound is Bound.DEFAULT} & spelled
    return f"the default {default}" if named and default is not None and str(default).lower() not in named else None


_LOW = frozenset({Bound.MINIMUM, Bound.ABOVE})
_HIGH = frozenset({Bound.MAXIMUM, Bound.BELOW})


def _oversteps(bound: Bound, value: str, kind: Bound, limit: float) -> bool:
    """A default that is another one, or a bound outside the range that the schema allows."""
    try:
        number = float(value.replace(",", "_"))
    except ValueError:
        return False
    if Bound.DEFAULT in (bound, kind):
        return bound is kind and number != limit
    return number < limit if kind in _LOW else number > limit if kind in _HIGH else False


HOSTILE = "its text "
"""How the reason begins to refuse a draft as a whole: it tries to steer its reader."""

DROPPED = "the draft drops this; an agent needs it"
"""The conflict of a draft without a warning, a negation or a number of the old text."""

SHARE_KEPT = 50
"""Percent of a warning's words that must stand somewhere in the new definition."""

MAX_SHOWN = 80
"""Characters of a value that a claim quotes."""

MAX_DOCS = 2_000
"""Sentences of documentation that can prove a sentence of a draft."""

_PATTERNS = PatternTable("claims")
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


class DraftChecker:
    """Holds drafts against the original catalog and the author's material."""

    def __init__(self, measured: Measured, material: Material = NOTHING) -> None:
        self.subjects = {subject.tool.index: subject for subject in measured.subjects}
        self._measured = measured
        self._material = {
            index: _without_conflicts(subject, material.of(subject.tool.name))
            for index, subject in self.subjects.items()
        }

    def material(self, subject: Subject) -> Material:
        """Return the material about a tool, without facts that conflict with its definition or with each other."""
        return self._material[subject.tool.index][0]

    def conflicts(self, subject: Subject) -> tuple[Conflict, ...]:
        """Return the conflicts of the facts that were left out."""
        return self._material[subject.tool.index][1]

    def check_draft(self, subject: Subject, draft: Mapping[str, Any], *, withholds_conflicts: bool) -> CheckedDraft:
        """Check a draft, whose missing fields are taken from the definition; pure.

        An author's or agent's words stand whatever the checks say of them. Words of a model that nobody answers for
        are withheld where they are disproven (`withholds_conflicts`).
        """
        definition = {**subject.tool.raw, **draft}
        claims = self.claims(subject, definition)
        if withholds_conflicts:
            claims = tuple(replace(claim, refusal=claim.refusal or claim.conflict, conflict=None) for claim in claims)
        refused = tuple(claim for claim in claims if claim.refusal is not None)
        if any(claim.refusal and claim.refusal.startswith(HOSTILE) for claim in refused):
            return CheckedDraft(definition=subject.tool.raw, claims=(), refused=refused)
        return CheckedDraft(
            definition=_without(subject.tool.raw, definition, refused) if refused else definition,
            claims=tuple(claim for claim in claims if claim.refusal is None),
            refused=refused,
        )

    def claims(self, subject: Subject, definition: Mapping[str, Any]) -> tuple[Claim, ...]:
        """Return every statement that a draft adds to a definition, changes or drops; pure.

        Sources are named only where they say the sentence itself. Conflicts come from the schema, the hints, the
        catalog's names and the author's facts. A sentence with neither is unproven.
        """
        edits = compatibility.list_edits(subject.tool.raw, definition)
        proofs = _proofs(subject, self.material(subject))
        claims = [claim for edit in edits for claim in self._claims_of(edit, subject, proofs)]
        conflicts = self._conflicts_of(claims, subject)
        checked = [
            replace(claim, conflict=claim.conflict or reason) for claim, reason in zip(claims, conflicts, strict=True)
        ]
        return (*checked, *_dropped_warnings(subject, definition, edits), *_threats(subject, definition))

    def _claims_of(self, edit: Edit, subject: Subject, proofs: Mapping[str, str]) -> Iterator[Claim]:
        value = _shown(edit.after)
        if edit.kind is EditKind.HINT and isinstance(edit.after, bool):
            hint = edit.path.rpartition("/")[2]
            yield Claim(path=edit.path, text=f"{hint}: {value}", sources=self._hint_sources(hint, edit, subject))
        elif edit.kind is EditKind.ENUM:
            sources = self._list_sources(edit, subject)
            refusal = None if sources else "no fact and no sentence of the description closes this list"
            yield Claim(path=edit.path, text=f"one of {value}", sources=sources, refusal=refusal)
        elif edit.kind is EditKind.OTHER or not (isinstance(edit.after, str) or edit.after is compatibility.MISSING):
            yield Claim(path=edit.path, text=value, refusal="it changes the contract, which no rewrite may")
        elif not isinstance(edit.after, str) or not edit.after.strip():
            yield Claim(path=edit.path, text=value, conflict="it takes a text away")
        else:
            yield from self._sentences(edit.path, edit.before, edit.after, proofs)

    def _sentences(self, path: str, before: object, after: str, proofs: Mapping[str, str]) -> Iterator[Claim]:
        """Yield a claim for each sentence that the old text does not have."""
        old = sentences_of(before) if isinstance(before, str) else ()
        tools = self._measured.vocabulary.tools
        for sentence in sentences_of(after):
            text = _new_part(sentence, set(map(plain_text, old)))
            if text:
                is_pointer = not tools.isdisjoint(map(fold, identifiers_of(text)))
                about = Component.GUIDELINES if is_pointer else None
                component = Component.PARAMETERS if path.startswith("/inputSchema/") else about
                source = proofs.get(plain_text(text))
                yield Claim(path=path, text=text, sources=(source,) if source else (), component=component)
        if path != "/description":
            yield from _dropped(path, filter(_is_telling, old), [after])

    def _hint_sources(self, hint: str, edit: Edit, subject: Subject) -> tuple[str, ...]:
        """Return the sentences of the description and the facts that state the hint's new value."""
        texts = [("description", sentence) for sentence in subject.prose.sentences]
        facts = self.material(subject).facts
        texts += [(fact.source, fact.text) for fact in facts if not fact.hint]
        stated = [source for source, text in texts if (hint, edit.after) in stated_hints(text)]
        hint_facts = [fact.source for fact in facts if fact.hint == hint and fact.text == str(edit.after).lower()]
        return tuple(dict.fromkeys([*hint_facts, *stated]))

    def _list_sources(self, edit: Edit, subject: Subject) -> tuple[str, ...]:
        """Return the text that closes just this list of values."""
        values = sorted(map(str, edit.after)) if isinstance(edit.after, list) else []
        facts = {fact.source: fact.text for fact in self.material(subject).facts}
        return tuple(
            source
            for name, closed, source in closed_value_lists(subject.tool, facts)
            if edit.path == f"{arguments.property_pointer(name)}/enum" and sorted(closed) == values
        )[:1]

    def _conflicts_of(self, claims: Sequence[Claim], subject: Subject) -> list[str | None]:
        """Return what disproves each claim: another statement, the schema, or a name that does not exist."""
        name = subject.tool.name
        facts = [_fact(claim, name, origin=f"draft {place}") for place, claim in enumerate(claims)]
        author_facts = self.material(subject).facts
        counterparts = {
            conflict.source: conflict.other for conflict in find_conflicts(subject, [*author_facts, *facts])
        }
        return [
            counterparts.get(fact.source) or next(self._disproofs(claim, subject), None)
            for claim, fact in zip(claims, facts, strict=True)
        ]

    def _disproofs(self, claim: Claim, subject: Subject) -> Iterator[str]:
        if claim.path.startswith("/annotations/") or claim.refusal or claim.conflict:
            return
        yield from _schema_conflicts(claim, subject)
        texts, words = [("/description", claim.text)], self._measured.vocabulary
        strange = unknown_words(texts, subject.part_names)
        for mention in unknown_tools(strange, texts, subject.part_names, words):
            yield f"there is no tool {mention.name!r}"
        for mention in unknown_parameters(strange, texts, subject.part_names, words):
            yield f"there is no parameter {mention.name!r}"


def _without_conflicts(subject: Subject, material: Material) -> tuple[Material, tuple[Conflict, ...]]:
    """Return the material without the facts that cannot hold beside the definition or each other, and why."""
    conflicts = find_conflicts(subject, material.facts) if material.facts else ()
    refused = {conflict.source for conflict in conflicts}
    return replace(material, facts=tuple(fact for fact in material.facts if fact.source not in refused)), conflicts


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


def _fact(claim: Claim, tool: str, *, origin: str) -> Fact:
    """The claim as a fact, whose conflicts are found like those of the author's facts."""
    if claim.path.startswith("/annotations/"):
        hint, _, value = claim.text.partition(": ")
        return Fact(text=value, tool=tool, place=f"{ANNOTATIONS}{hint}", origin=origin)
    parameter = _explained(claim.path)
    return Fact(text=claim.text, tool=tool, place=f"{PARAMETERS}{parameter}" if parameter else "", origin=origin)


def _explained(path: str) -> str | None:
    """The top-level parameter whose description stands at a path."""
    steps = list(split_pointer(path))
    is_top = len(steps) == 4 and steps[:2] == ["inputSchema", "properties"]
    return steps[2] if is_top else None


def _schema_conflicts(claim: Claim, subject: Subject) -> Iterator[str]:
    """Types, values, defaults, ranges, requirements and units that the schema contradicts."""
    shape = subject.input_shape
    if claim.path.startswith("/inputSchema/"):
        own = (node for node in shape.nodes if f"{node.path}/description" == claim.path)
        mentions = [ParameterMention(node, claim.text, MentionKind.OWN) for node in own]
    else:
        mentions = [mention for mention in read_mentions(claim.text, shape) if mention.kind is not MentionKind.OWN]
    for clashes in find_clashes(mentions, shape.names | {subject.tool.name}, shape.root).values():
        for clash in clashes:
            yield f"the schema says {clash.constraint!r} of `{clash.mention.node.name}`, not {clash.claim!r}"
    nodes = {node.name: node for node in shape.nodes if node.name}
    for name, value in _PATTERNS.assigned.findall(claim.text):
        values = accepted_values(nodes[name].schema, shape.root).values if name in nodes else None
        if values and value.lower() not in {str(listed).lower() for listed in values} and value not in nodes:
            yield f"`{name}` takes no {value!r}"
    named = [name for name in nodes if name.lower() in identifiers_of(claim.text)] or [_explained(claim.path) or ""]
    if len(named) == 1:
        yield from _unit_conflicts(named[0], claim.text)


def _unit_conflicts(name: str, text: str) -> Iterator[str]:
    """A unit beside another of its kind in the parameter's name: "`wait_seconds` is given in minutes"."""
    units = known_units()
    named = {units[part] for part in name_parts(name) if len(part) > 1 and part in units}
    stated = {units[word] for word in words_of(text) if len(word) > 2 and word in units}
    for kind, unit in sorted(named - stated):
        other = next((word for same, word in sorted(stated) if same == kind), None)
        if other:
            yield f"the name `{name}` says {unit}, not {other}"


def _without(old: Mapping[str, Any], new: Mapping[str, Any], refused: Sequence[Claim]) -> Mapping[str, Any]:
    """Return the old definition with every change that is not refused; a description loses only refused sentences."""
    definition = old
    wrong = {claim.path for claim in refused}
    for edit in compatibility.list_edits(old, new):
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


def _is_telling(sentence: str) -> bool:
    """A warning, a negation or a number, which no rewording may lose."""
    words = words_of(sentence)
    return bool(cues_of(words) & WARNING_CUES or any(map(is_negation, words)) or numbers_of(sentence))


def _dropped_warnings(subject: Subject, definition: Mapping[str, Any], edits: Sequence[Edit]) -> Iterator[Claim]:
    """Warnings and negations of the old description that the new definition does not have."""
    if not any(edit.kind is EditKind.DESCRIPTION for edit in edits):
        return
    prose = subject.prose
    cued = {place for cue in WARNING_CUES for place in prose.cue_places.get(cue, ())}
    cued |= {place for place, words in enumerate(prose.spoken) if any(map(is_negation, words))}
    yield from _dropped("/description", [prose.sentences[place] for place in sorted(cued)], all_texts(definition))


def _dropped(path: str, sentences: Iterable[str], texts: Sequence[str]) -> Iterator[Claim]:
    """The sentences that the new texts no longer say, neither as they stood nor in most of their words."""
    present = {plain_text(sentence): sentence for text in texts for sentence in sentences_of(text)}
    missing = [sentence for sentence in sentences if plain_text(sentence) not in present]
    spoken = [words_of(sentence) for sentence in present] if missing else []
    stems = content_stems(word for words in spoken for word in words)
    cues = frozenset(cue for words in spoken for cue in cues_of(words))
    denials = [content_stems(words) for words in spoken if any(map(is_negation, words))]
    for sentence in missing:
        words = words_of(sentence)
        own = content_stems(words)
        is_denied = not any(map(is_negation, words)) or any(_has_most(denied, own) for denied in denials)
        if not (_has_most(stems, own) and cues_of(words) & WARNING_CUES <= cues and is_denied):
            yield Claim(path=path, text=sentence, conflict=DROPPED)


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
    text = "nothing" if value is compatibility.MISSING else str(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
