"""Checks another writer's draft: what it changes of the contract is refused, what is disproven is called a conflict."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from tdqs_mcp.facts.lexicon import MAX_EXPLANATION, PatternTable
from tdqs_mcp.facts.schema import arguments, compatibility
from tdqs_mcp.facts.schema.compatibility import Edit, EditKind
from tdqs_mcp.facts.schema.walk import accepted_values, all_texts, put_at, split_pointer
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.claims import find_clashes
from tdqs_mcp.facts.text.parameter_texts import MentionKind, ParameterMention, known_units, read_mentions
from tdqs_mcp.facts.text.prose import cues_of, plain_text, sentences_of
from tdqs_mcp.facts.text.statements import closed_value_lists, is_negation, stated_hints
from tdqs_mcp.facts.text.words import Cue, content_stems, has_word, identifiers_of, numbers_of
from tdqs_mcp.facts.threats import find_threats
from tdqs_mcp.facts.toolset.names import fold
from tdqs_mcp.facts.toolset.unknown_names import unknown_parameters, unknown_tools, unknown_words
from tdqs_mcp.model import ANNOTATIONS, NOTHING, PARAMETERS, Fact, Material
from tdqs_mcp.results.improvements import Claim, Component
from tdqs_mcp.rewriting.fact_conflicts import Conflict, find_conflicts

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
_WARNINGS = frozenset({Cue.DESTRUCTION, Cue.PERMISSION, Cue.ERROR, Cue.PREREQUISITE, Cue.LIMIT})


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
    """Sources by the sentences that they say, in plain words."""
    texts = [(path if path != "/description" else "description", text) for path, text in subject.texts]
    texts += [(fact.source, fact.text) for fact in material.facts if not fact.hint]
    proofs = {
        plain_text(sentence): source
        for source, text in reversed(texts)
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
    words, plain = sentence.split(), [word.rstrip(".") for word in sentence.lower().split()]
    begun = max((len(earlier) for text in old if plain[: len(earlier := text.split())] == earlier), default=0)
    return " ".join(words[begun:]) if begun > 1 and not words[begun][0].islower() else sentence


def _is_telling(sentence: str) -> bool:
    """A warning, a negation or a number, which no rewording may lose."""
    words = words_of(sentence)
    return bool(cues_of(words) & _WARNINGS or any(map(is_negation, words)) or numbers_of(sentence))


def _dropped_warnings(subject: Subject, definition: Mapping[str, Any], edits: Sequence[Edit]) -> Iterator[Claim]:
    """Warnings and negations of the old description that the new definition does not have."""
    if not any(edit.kind is EditKind.DESCRIPTION for edit in edits):
        return
    prose = subject.prose
    cued = {place for cue in _WARNINGS for place in prose.cue_places.get(cue, ())}
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
        if not (_has_most(stems, own) and cues_of(words) & _WARNINGS <= cues and is_denied):
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
