"""Checks what a draft says of other tools: what they are for, what they return, which of them comes first."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.vocabulary import EFFECTS, LEMMAS, VAGUE_VERBS, Cue, Effect, PatternTable, words_from
from tdqs_mcp.facts.text.words import content_stems, has_word, name_parts, stem, words_of
from tdqs_mcp.facts.text_cache import cached_by_text
from tdqs_mcp.facts.toolset.search import said_for
from tdqs_mcp.rewriting.draft_sources import Source, ToolSources, parts_in, plain_numbers

_PATTERNS = PatternTable("drafts")


@dataclass(frozen=True, kw_only=True)
class Sibling:
    """What a tool says of itself."""

    subject: Subject

    @property
    def name(self) -> str:
        """Its name as it stands."""
        return self.subject.tool.name

    @cached_property
    def narrow(self) -> frozenset[str]:
        """What its name, its first sentence and its allowed values say: what it is for beyond doubt."""
        return frozenset(map(stem, name_parts(self.name))) | content_stems(self._leading)

    @cached_property
    def wide(self) -> frozenset[str]:
        """All that its definition says, but for the sentences that are about other tools."""
        others = set(map(str.lower, self.subject.mentions))
        texts = [text for path, text in self.subject.texts if path != "/description"]
        texts += [each for each in self.subject.prose.sentences if others.isdisjoint(words_of(each))]
        return self.narrow | content_stems(parts_in(" ".join([*texts, *self.subject.part_names])))

    @cached_property
    def given(self) -> frozenset[str]:
        """What it says that it is about or returns: no verb at the start, and no name of what it takes."""
        spoken = [words[words[:1] != [] and words[0] in LEMMAS :] for words in self.subject.prose.spoken[:1]]
        returned = parts_in(" ".join([self.subject.prose.cues.get(Cue.RETURN, ""), *self.subject.output_shape.names]))
        return frozenset(self.nouns) | content_stems([*(word for words in spoken for word in words), *returned])

    @cached_property
    def nouns(self) -> list[str]:
        """The stems of its name without the first verb."""
        parts = name_parts(self.name)
        verb = next((part for part in parts if part in LEMMAS), None)
        return [stem(part) for place, part in enumerate(parts) if part != verb or place != parts.index(verb)]

    @cached_property
    def tokens(self) -> frozenset[str]:
        """The words and names of its texts and schemas, in lower case."""
        told = words_of(" ".join([*(text for _, text in self.subject.texts), *self._values]))
        return frozenset(told) | frozenset(map(str.lower, self.subject.part_names))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers of its texts."""
        return plain_numbers(" ".join(text for _, text in self.subject.texts))

    @cached_property
    def effects(self) -> frozenset[Effect]:
        """What the verbs of its name, its first sentence and its allowed values do."""
        words = [*name_parts(self.name), *self._leading]
        return frozenset(EFFECTS[LEMMAS[word]] for word in words if word in LEMMAS)

    @cached_property
    def verb(self) -> str | None:
        """The first verb of its name, as a lemma."""
        return next((LEMMAS[part] for part in name_parts(self.name) if part in LEMMAS), None)

    @property
    def effect(self) -> frozenset[Effect]:
        """What its first verb does."""
        effect = self.subject.prose.effect
        return frozenset([effect] if effect else [])

    @cached_property
    def required(self) -> frozenset[str]:
        """The parameters that it cannot be called without, in lower case."""
        return frozenset(each.name.lower() for each in self.subject.signals.parameters if each.is_required)

    @cached_property
    def _leading(self) -> list[str]:
        """The words of its first sentence and of its allowed values."""
        spoken = (word for words in self.subject.prose.spoken[:1] for word in words)
        return [*spoken, *(part for value in self._values for part in name_parts(value))]

    @cached_property
    def _values(self) -> list[str]:
        listed = (node.schema["enum"] for node in self.subject.input_shape.by_keyword.get("enum", ()))
        return [str(value) for values in listed if isinstance(values, list) for value in values]


class Siblings(dict[str, Sibling]):
    """Every tool of a catalog by its lower-case name."""

    @classmethod
    def of(cls, subjects: Sequence[Subject]) -> "Siblings":
        """All tools that can be measured."""
        return cls((subject.tool.name.lower(), Sibling(subject=subject)) for subject in subjects)

    @cached_property
    def common(self) -> frozenset[str]:
        """What over a third of the tools say: words of their common subject, and of texts that they share."""
        counts = Counter(word for sibling in self.values() for word in sibling.wide)
        return frozenset(word for word, count in counts.items() if count > 3 and 3 * count > len(self))


class Pointer(NamedTuple):
    """One tool in one statement of a sentence."""

    sibling: Sibling
    before: str
    """The statement up to its name."""

    after: str
    """The statement behind it."""


def find_pointers(sentence: str, siblings: Mapping[str, Sibling], own: str = "") -> list[Pointer]:
    """The tools that a sentence names, each with its statement; a statement that names two makes no pointer.

    A name stands in backticks, or is spelled as no plain word is.
    """
    found = []
    for statement in _PATTERNS.segment.split(sentence):
        named = [(match, siblings.get((match[1] or match[0]).lower())) for match in _PATTERNS.tool.finditer(statement)]
        known = [(match, each) for match, each in named if each and (match[1] or not each.name.isalpha())]
        others = [(match, each) for match, each in known if each.name != own]
        if len(others) == 1:
            [(match, sibling)] = others
            found.append(Pointer(sibling, statement[: match.start()], statement[match.end() :]))
    return found


def check_pointers(sentence: str, sources: ToolSources, siblings: Siblings) -> Iterator[str]:
    """Why what a sentence says of other tools is false."""
    for pointer in find_pointers(sentence, siblings, sources.subject.tool.name):
        is_lookup = _PATTERNS.lookup.search(pointer.before) or _PATTERNS.looked_up_by.match(pointer.after)
        if is_lookup and not _PATTERNS.purpose.match(pointer.before):
            found = _check_lookup(pointer, sources)
        else:
            found = _check_purpose(pointer, sources, siblings)
        yield from (f"`{pointer.sibling.name}` {reason}" for reason in found)
        yield from _check_order(pointer, sources)


def _check_lookup(pointer: Pointer, sources: ToolSources) -> Iterator[str]:
    """The other tool needs the value itself, or says nothing of the thing that the parameter identifies."""
    other = pointer.sibling
    for parameter in sources.spoken_of(f"{pointer.before} {pointer.after}"):
        name = sources.parameters[parameter].name or ""
        if parameter in sources.choices:
            yield f"gives no `{name}`: the schema lists its values"
        elif not any(_is_told(other, each) for each in sources.about(parameter)):
            yield from _check_giver(other, name, sources.subject)


def _is_told(other: Sibling, source: Source) -> bool:
    """What is said of a parameter names the other tool, or says that it comes from its thing."""
    origin = source.text.partition(" from ")[2] if source.parameter else ""
    return other.name.lower() in source.tokens or not content_stems(words_of(origin)).isdisjoint(other.nouns)


def _check_giver(other: Sibling, name: str, subject: Subject) -> Iterator[str]:
    """What a parameter is the value of, else the tool's own thing, must be what the other tool is about."""
    is_identifier = not words_from("names", "identifiers").isdisjoint(name_parts(name)[-1:])
    is_search = not words_from("drafts", "searching").isdisjoint(name_parts(other.name))
    if name.lower() in other.required and (is_identifier or not is_search):
        yield f"itself needs `{name}`"
        return
    own = _thing(name)
    thing = own or [stem(part) for part in name_parts(subject.tool.name) if part not in LEMMAS]
    told = [_says(other.given, word) for word in thing]
    if name in other.subject.output_shape.names or not thing:
        return
    if not (any(told) if not own else told[-1] if is_identifier else all(told)):
        yield f"says nothing of {' '.join(thing)}, so it does not give `{name}`"
    elif other.effects and other.effects <= {Effect.UPDATE, Effect.DELETE}:
        yield f"gives no `{name}`: it changes what is there"


def _thing(name: str) -> list[str]:
    """The stems of what a parameter identifies; nothing for one that says no more than `id`."""
    silent = words_from("names", "identifiers") | words_from("names", "roles")
    return [stem(part) for part in name_parts(name) if part not in silent and len(part) > 1]


def _check_purpose(pointer: Pointer, sources: ToolSources, siblings: Siblings) -> Iterator[str]:
    """A third tool says what this one is said to be for, or this one does the opposite."""
    if _PATTERNS.turning_point.search(pointer.before):
        return
    other, before = pointer.sibling, _PATTERNS.subordinate.split(pointer.before)[-1]
    statement = _PATTERNS.contrast.sub(" ", f"{before} {pointer.after}").replace("`", " ")
    silent = words_from("drafts", "sending") | words_from("drafts", "loose")
    said = content_stems(word for word in words_of(statement) if word not in silent)
    if Effect.READ in other.effects:
        said = frozenset(word for word in said if not has_word(_READING, word))
    aim = _PATTERNS.aim.search(pointer.before) or _PATTERNS.aim.search(pointer.after)
    verb = LEMMAS.get(aim[1].lower()) if aim else None
    effect = EFFECTS[verb] if verb and verb not in words_from("drafts", "light") | VAGUE_VERBS else None
    rivals = [each for each in siblings.values() if effect is None or not _is_opposite(effect, each.effect)]
    doer = next(
        (each for each in siblings.values() if effect and verb and _does_instead(each, other, verb, said)), None
    )
    strangers = [each for each in rivals if each.name != sources.subject.tool.name]
    better = doer or _better(said, other, strangers, siblings.common)
    if better is not None:
        yield f"is not for that: `{better.name}` is"
    elif said and verb and effect and _is_opposite(effect, other.effects) and not _says(other.narrow, verb):
        yield f"does not {verb}"


_READING = frozenset({"get"})
"""What every tool that reads does."""


def _better(
    said: AbstractSet[str], other: Sibling, rivals: Sequence[Sibling], common: AbstractSet[str]
) -> Sibling | None:
    """A tool whose name and first sentence say all that the other one's definition says of this, and more."""
    known = {word for word in said if _says(other.narrow | (other.wide - common), word)}
    for rival in rivals:
        covered = {word for word in said if has_word(rival.narrow, word) or _has_root(rival.narrow, word)}
        if rival is not other and known < covered and (len(covered) > 1 or 2 * len(covered) >= len(said)):
            return rival
    return None


def _does_instead(rival: Sibling, other: Sibling, verb: str, said: AbstractSet[str]) -> bool:
    """Its name's verb is the one that is asked for, and the other's is not, of a thing that both speak of."""
    if EFFECTS[verb] is Effect.READ or rival.verb != verb or other.verb is None or _says(frozenset([other.verb]), verb):
        return False
    covered = {word for word in said if has_word(rival.narrow, word) or _has_root(rival.narrow, word)}
    return (
        rival is not other
        and verb not in said - covered
        and {word for word in said if _says(other.narrow, word)} <= covered
    )


def _is_opposite(effect: Effect, effects: AbstractSet[Effect]) -> bool:
    """A tool whose verbs are known, and none of which does this: it only reads, or changes things in another way."""
    if effect is Effect.READ:
        return bool(effects) and all(each.is_mutating for each in effects)
    return effect.is_mutating and bool(effects) and not effects & {effect, Effect.ACT, Effect.PRODUCE}


def _says(stems: frozenset[str], word: str) -> bool:
    """The word, one that people use for it, or another form of it."""
    return has_word(stems, word) or not said_for(word).isdisjoint(stems) or _has_root(stems, word)


def _has_root(stems: frozenset[str], word: str) -> bool:
    root = _root(word)
    return len(root) >= MIN_ROOT and any(_root(each) == root for each in stems)


@cached_by_text(5_000)
def _root(word: str) -> str:
    """What the forms of a word share: category and categories, index and indices, follow and follower."""
    return _ENDING.sub("", word.removesuffix("ice") + "ex" if word.endswith("ice") else word).removesuffix("e")


_ENDING = re.compile(r"(?:ers?|ed|ing|i[sz]e|ions?|ments?|ly|als?|ity|ie|y)$")

MIN_ROOT = 3
"""A root of fewer letters stands for too many words."""


def _check_order(pointer: Pointer, sources: ToolSources) -> Iterator[str]:
    """The sentence puts the other tool before this one, and the definition behind it, or the reverse."""
    said, name = _order(pointer), pointer.sibling.name
    first = next((each for each in sources.texts if said and _PATTERNS.starts.search(each.text)), None)
    if first is not None:
        yield f"{first.name} says that this tool comes first"
    texts = [each for each in sources.texts if name.lower() in each.tokens] if said is not None else []
    for each in texts:
        for known in find_pointers(each.text, {name.lower(): pointer.sibling}):
            if _order(known) is not None and _order(known) is not said:
                yield f"{each.name} says that `{name}` comes {'after' if said else 'before'} this tool"


def _order(pointer: Pointer) -> bool | None:
    """Whether the named tool comes before this one; None where the words do not say."""
    if _PATTERNS.follows.search(pointer.before) or _PATTERNS.is_first.match(pointer.after):
        return True
    is_later = _PATTERNS.precedes.search(pointer.before) or _PATTERNS.is_later.match(pointer.after)
    return False if is_later else None
