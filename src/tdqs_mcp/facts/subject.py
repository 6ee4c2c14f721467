"""A tool with its facts, and a catalog of them: what rules, judges and scoring read. Each fact is measured once."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import chain
from typing import NamedTuple

from tdqs_mcp.errors import UnmeasurableError
from tdqs_mcp.facts.lexicon import MAX_EXPLANATION, lazy_pattern, words_from
from tdqs_mcp.facts.schema import signals, walk
from tdqs_mcp.facts.schema.signals import Signals, estimate_tokens
from tdqs_mcp.facts.schema.walk import Shape
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.text import parameter_texts
from tdqs_mcp.facts.text.claims import Topic, find_clashes
from tdqs_mcp.facts.text.effects import EffectClaim, effect_claims
from tdqs_mcp.facts.text.parameter_texts import Clash, ParameterMention, read_mentions, read_remarks
from tdqs_mcp.facts.text.prose import Prose, copied_sentences, cues_of, read
from tdqs_mcp.facts.text.steering import Steering, find_steering, find_withdrawal
from tdqs_mcp.facts.text.words import LEAD_IN, PHRASES, STOPWORDS, Cue, empty_stems, stem
from tdqs_mcp.facts.threats import Part, Threat, find_threats, locate_threats, parts_of
from tdqs_mcp.facts.toolset import names, relations, unknown_names
from tdqs_mcp.facts.toolset.coherence import ToolSet, find_pairs, read_tool_set
from tdqs_mcp.facts.toolset.names import KnownNames
from tdqs_mcp.facts.toolset.relations import Described, Overlap, Purpose
from tdqs_mcp.facts.toolset.unknown_names import UnknownWord
from tdqs_mcp.facts.toolset.value_origins import OpenOrigin, find_open_origins
from tdqs_mcp.model import Catalog, Tool
from tdqs_mcp.results.tool_code import CodeReport
from tdqs_mcp.results.verdicts import ShadowCandidate


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A tool and its facts; each fact is measured when it is first read, and kept."""

    tool: Tool
    siblings: Mapping[str, str]
    """The names of all tools of the catalog, its own among them, by their lower-cased form."""

    sibling_count: int
    is_duplicate: bool
    """Another tool of the catalog has the same name."""

    sibling_words: frozenset[str] = frozenset()
    """The words of the names of all tools of the server, without the s of a plural."""

    @cached_property
    def signals(self) -> Signals:
        """Counts and hashes of the definition. Raises UnmeasurableError where its JSON exceeds a limit."""
        return signals.measure_signals(self.tool)

    @cached_property
    def _plain_prose(self) -> Prose:
        return read(self.tool, self.signals)

    @cached_property
    def prose(self) -> Prose:
        """Return what the description says."""
        steered = frozenset(steering.place for steering in self.steering if steering.is_choice)
        return replace(self._plain_prose, steered=steered) if steered else self._plain_prose

    @cached_property
    def steering(self) -> tuple[Steering, ...]:
        """Return the sentences that tell the agent what to choose or to ask for."""
        prose = self._plain_prose
        return tuple(find_steering(prose.sentences, prose.spoken, self.mentions))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its name and first sentence, and of the names and descriptions of its parameters."""
        parameters = self.signals.parameters
        named = chain.from_iterable(map(name_parts, (self.tool.name, *(parameter.name for parameter in parameters))))
        described = chain.from_iterable(words_of(parameter.description[:MAX_EXPLANATION]) for parameter in parameters)
        return frozenset(map(stem, chain(*self._plain_prose.spoken[:1], named, described)))

    @property
    def copied_words(self) -> int:
        """Words of description sentences that stand in a parameter's description already."""
        return sum(words for _, words in self.copied)

    @cached_property
    def copied(self) -> tuple[tuple[str, int], ...]:
        """Return the sentences that stand in a parameter's description already, with their copied words."""
        return tuple(copied_sentences(self.prose.sentences, self.signals.parameters))

    @cached_property
    def mentions(self) -> tuple[str, ...]:
        """Siblings that the description names."""
        return relations.mentioned_siblings(self.tool, self._plain_prose.words, self.siblings)

    def mask_sentences(self, lengths: Container[int]) -> dict[int, tuple[str, ...]]:
        """By position, the stems of the sentences of so many words, with a blank for each word of own names.

        They are those of the tool and its parameters. Another form of such a word is blank too: histories for history.
        A sibling is named as it is: which one tells something.
        """
        spoken = {place: words for place, words in enumerate(self.prose.spoken) if len(words) in lengths}
        if not spoken:
            return {}
        own = [self.tool.name, *(parameter.name for parameter in self.signals.parameters)]
        parts = {part for name in own for part in name_parts(name)} - STOPWORDS
        names = {*map(str.lower, own), *parts, *map(stem, parts)}
        roots = {name[: max(MIN_ROOT, len(name) - MAX_ENDING)]: len(name) for name in names if len(name) >= MIN_ROOT}

        def is_form(part: str) -> bool:
            ends = range(MIN_ROOT, len(part) + 1)
            return part in names or any(len(part) <= roots.get(part[:end], 0) + MAX_ENDING for end in ends)

        sibling_names = self.siblings.keys() - {self.tool.name.lower()}

        @cache
        def mask(word: str) -> str:
            parts = (word,) if word.isalpha() else (word, *name_parts(word))  # the scope `read_orders` of list_orders
            is_own = word not in sibling_names and any(is_form(stem(part)) for part in parts)
            return "" if is_own else stem(word)

        return {place: tuple(map(mask, words)) for place, words in spoken.items()}

    @cached_property
    def own_places(self) -> tuple[int, ...]:
        """The positions of the sentences that name no sibling: "Find `id` with `list_orders`." is about that one."""
        siblings = set(map(str.lower, self.mentions))
        return tuple(place for place, words in enumerate(self.prose.spoken) if siblings.isdisjoint(words))

    @cached_property
    def alternatives(self) -> tuple[str, ...]:
        """Siblings that the description tells the tool apart from.

        Where a sentence names a parameter too and has no cue of usage, "Find `id` with `list_orders`.", it says where a
        value comes from.
        """
        if not self.mentions:
            return ()
        parameters, usage = {name.lower() for name in self.part_names}, self._usage_places
        spoken = enumerate(self.prose.spoken)
        words = {word for place, words in spoken if place in usage or parameters.isdisjoint(words) for word in words}
        return tuple(name for name in self.mentions if name.lower() in words)

    @property
    def _usage_places(self) -> set[int]:
        return {place for cue in _USAGE for place in self.prose.cue_places.get(cue, ())}

    def tells_usage(self, siblings: Iterable[str]) -> bool:
        """Return whether one of these siblings is an alternative, or a statement with a cue of usage fits not any tool.

        "Call it whenever possible." fits any, and so do "It should be called first and is well maintained.", whose
        second half is no usage, and "When in doubt, use it."; "Use when:" is read with the line below it.
        "Only works within allowed directories." says nothing of a choice.
        """
        prose, places = self.prose, self._usage_places
        if not set(siblings).isdisjoint(self.alternatives) or (places and prose.language != "en"):
            return True
        below = {place + 1 for place in places if prose.sentences[place].rstrip("*_ ").endswith(":")}
        about = (place for place in places if not words_from("wording", "using").isdisjoint(prose.spoken[place]))
        parts = (part for place in about for part in _PREDICATE.split(prose.sentences[place]))
        spoken = [words_of(_STATE.sub(" ", part)) for part in parts if not cues_of(words_of(part)).isdisjoint(_USAGE)]
        spoken += [[*prose.spoken[place]] for place in below if place < len(prose.sentences)]
        stems = {stem(word) for words in spoken for word in words}
        return bool(stems - fitting_stems() - {stem(part) for part in name_parts(self.tool.name)})

    @property
    def usage_sentences(self) -> tuple[str, ...]:
        """The sentences that say when to use the tool; for a heading, "When to use:", the one below it.

        "Versions are used to plan releases" has a subject in the plural, which is not the tool.
        """
        sentences = self.prose.sentences
        places = self.prose.cue_places.get(Cue.WHEN, ())
        below = (place + 1 if sentences[place].rstrip("*_ ").endswith(":") else place for place in places)
        usage = (sentences[place] for place in below if place < len(sentences))
        return tuple(dict.fromkeys(" ".join(text.split()) for text in usage if "are used " not in text))

    @property
    def is_effect_open(self) -> bool:
        """It changes something, and no cue of its description tells what happens to what is there."""
        effect = self.prose.effect
        is_change = effect is not None and effect.is_mutating and not self.signals.read_only
        return is_change and _DISCLOSING.isdisjoint(self.prose.cues)

    @property
    def is_result_open(self) -> bool:
        """Neither an output schema nor a cue of the description tells what comes back."""
        return not self.has_telling_output and Cue.RETURN not in self.prose.cues

    @cached_property
    def has_telling_output(self) -> bool:
        """The output schema says more than that something comes back.

        `{"result": {"type": "string"}}` and `{"type": "object", "additionalProperties": true}` do not.
        """
        return parameter_texts.tells_result(self.output_shape)

    @cached_property
    def tokens(self) -> int:
        """Estimated tokens of the fields that a client sends to a model."""
        return estimate_tokens(self.signals.sent_json)

    @cached_property
    def input_shape(self) -> Shape:
        """The input schema, walked."""
        return walk.walk_schema(self.tool.input_schema, "/inputSchema")

    @cached_property
    def output_shape(self) -> Shape:
        """The output schema, walked; an empty one where there is none."""
        return walk.walk_schema(self.tool.output_schema, "/outputSchema")

    @cached_property
    def remarks(self) -> tuple[ParameterMention, ...]:
        """Each described property of the input schema with its text."""
        return read_remarks(self.input_shape)

    @cached_property
    def explanations(self) -> tuple[ParameterMention, ...]:
        """The description of each property, and for a top-level one without any the entry of a list in the text."""
        return (*self.remarks, *parameter_texts.read_entries(self.tool.description, self.input_shape))

    @property
    def open_origins(self) -> Iterator[OpenOrigin]:
        """Yield the parameters of which no text says where their value comes from."""
        return find_open_origins(self.tool, self.input_shape, self.explanations, self.siblings, self.sibling_words)

    @cached_property
    def part_names(self) -> frozenset[str]:
        """The names of all properties of both schemas, at any depth."""
        return self.input_shape.names | self.output_shape.names

    @cached_property
    def effect_claims(self) -> tuple[EffectClaim, ...]:
        """Return what name, text and parameters claim that a call changes."""
        return tuple(effect_claims(self.tool, self.prose, self.input_shape, self.mentions))

    @cached_property
    def clashes(self) -> Mapping[Topic, Sequence[Clash]]:
        """Return what the texts say of parameters and the input schema contradicts."""
        names = frozenset(parameter.name for parameter in self.signals.parameters) | {self.tool.name}
        mentions = (*self.remarks, *read_mentions(self.tool.description, self.input_shape))
        return find_clashes(mentions, names, self.input_shape.root)

    @cached_property
    def threats(self) -> tuple[Threat, ...]:
        """Return what the definition's strings try to do to their reader."""
        return find_threats(self.tool.raw)

    @cached_property
    def texts(self) -> tuple[tuple[str, str], ...]:
        """Every text about input, with its JSON pointer."""
        return names.texts_of(self.tool.description, self.input_shape)

    @cached_property
    def withdrawal(self) -> tuple[str, str] | None:
        """Return where it says that nobody shall call it any more, or no agent, and the words."""
        return find_withdrawal(self.tool, self.mentions)

    @property
    def is_quotable(self) -> bool:
        """Other definitions may mention it: its name is unique, and it does not try to steer the reader."""
        return not self.is_duplicate and all(threat.is_mild for threat in self.threats)

    @cached_property
    def strangers(self) -> tuple[UnknownWord, ...]:
        """Words of the texts that look like names and are not parts of the tool."""
        return unknown_names.unknown_words(self.texts, self.part_names)


_words = partial(words_from, "names")
MIN_ROOT, MAX_ENDING = 4, 2
"""Letters that two forms of a word share at least, and letters by which one of them may be longer than that."""

MIN_SHARING = 3
"""Tools from which a common sentence tells nothing of one of them; two may well be variants of one tool."""


def fewest_sharing(count: int) -> int:
    """Return how many of `count` tools have to say a sentence, with their own nouns, for it to be a template."""
    return max(MIN_SHARING + 1, (count + 1) // 2)


_USAGE = (Cue.WHEN, Cue.WHEN_NOT, Cue.ALTERNATIVE, Cue.PREREQUISITE)


@cache
def fitting_stems() -> frozenset[str]:
    """Stems that fit any tool, those of the phrases that speak of usage among them."""
    cued = {word for cue in _USAGE for phrase in PHRASES[cue] for word in phrase.split()}
    return empty_stems().union(map(stem, cued | words_from("wording", "generic")))


_PREDICATE = lazy_pattern(r";|\band (?=(?:is|are|has|have|was|were|should|must|can|will)\b)")
"""Where another statement about the tool begins."""

_STATE = lazy_pattern(r"(?i)\b(?:if|when|whenever)\s(?:in|at|of|on)\s\w+(?=\W*[,;.]|\W*$)")
"""A condition without a verb or an object, which is the agent's: "when in doubt"."""


_DISCLOSING = frozenset({Cue.DESTRUCTION, Cue.SIDE_EFFECT, Cue.SAFETY, Cue.PERMISSION})


class Unmeasured(NamedTuple):
    """A tool that cannot be measured: it gets findings, never a score."""

    tool: Tool
    reason: str


class Neighbor(NamedTuple):
    """Another server that the same agent sees, and what both have."""

    server: str
    tokens: int
    """Estimated tokens of all its tools."""

    shared_names: tuple[str, ...]
    """Names of tools that both have."""

    overlaps: tuple[Overlap, ...]
    """Own tools that say the same as one of the neighbor's, and do not name their product."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A catalog with the facts of its tools; what only rules read is measured when the first of them asks."""

    catalog: Catalog
    subjects: tuple[Subject, ...]
    unmeasured: tuple[Unmeasured, ...]
    shadow_candidates: tuple[ShadowCandidate, ...]
    neighbors: tuple[Neighbor, ...] = ()
    """The other servers that the same agent sees; empty where the server stands alone."""

    code: CodeReport | None = None
    """The code of the tools, where their source is at hand."""

    @cached_property
    def vocabulary(self) -> KnownNames:
        """Return what a word in a text may stand for."""
        shapes = [shape for subject in self.subjects for shape in (subject.input_shape, subject.output_shape)]
        return names.known_names(self.names, shapes, self.catalog.server)

    @cached_property
    def threats(self) -> tuple[tuple[Part, Threat], ...]:
        """Return what the strings of every part try to do to their reader, also of tools that cannot be measured."""
        return locate_threats(parts_of(self.catalog), self.strings)

    @cached_property
    def strings(self) -> tuple[str, ...]:
        """The different strings and keys in the JSON of all parts."""
        return tuple(dict.fromkeys(text for _, raw in parts_of(self.catalog) for text in walk.all_texts(raw)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all tools that have one, in catalog order."""
        return tuple(tool.name for tool in self.catalog.tools if tool.name)

    @cached_property
    def described(self) -> tuple[Described, ...]:
        """Return what is compared of each measured tool."""
        return tuple(
            Described(
                tool=subject.tool.name,
                prose=subject.prose,
                telling=relations.telling_words(subject.prose),
                parameters=frozenset(parameter.name for parameter in subject.signals.parameters),
                alternatives=subject.alternatives,
            )
            for subject in self.subjects
        )

    @cached_property
    def purposes(self) -> tuple[Purpose, ...]:
        """Return what each measured tool is for."""
        return relations.read_purposes(self.described)

    @cached_property
    def copies(self) -> tuple[Overlap, ...]:
        """Pairs of tools with one description."""
        return tuple(pair for pair in self.overlaps if pair.kind.is_copy)

    @cached_property
    def shared_usages(self) -> Sequence[Sequence[Subject]]:
        """Three or more tools each that say in the same sentences when to use them, and name no sibling."""
        alike: dict[frozenset[str], list[Subject]] = {}
        for subject in self.subjects:
            if (sentences := subject.usage_sentences) and not subject.alternatives:
                alike.setdefault(frozenset(sentences), []).append(subject)
        return [subjects for subjects in alike.values() if len(subjects) >= MIN_SHARING]

    @cached_property
    def template_places(self) -> Mapping[int, AbstractSet[int]]:
        """By a tool's index, the positions of sentences that half of the tools have with their own nouns.

        "Requires the order scope." and "Requires the customer scope." are one template.
        """
        fewest = fewest_sharing(len(self.subjects))
        lengths = Counter(chain.from_iterable({*map(len, subject.prose.spoken)} for subject in self.subjects))
        usual = {length for length, count in lengths.items() if count >= fewest}
        masked = [(subject.tool.index, subject.mask_sentences(usual)) for subject in (self.subjects if usual else ())]
        owners = Counter(chain.from_iterable(set(sentences.values()) for _, sentences in masked))
        shared = {sentence for sentence, count in owners.items() if count >= fewest}
        return {
            index: {place for place, sentence in sentences.items() if sentence in shared}
            for index, sentences in (masked if shared else ())
        }

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of what its tools are about."""
        return frozenset[str]().union(*(subject.stems for subject in self.subjects))

    @cached_property
    def overlaps(self) -> tuple[Overlap, ...]:
        """Pairs of tools that say the same, or nearly."""
        return relations.find_overlaps(self.purposes)

    @cached_property
    def rivals(self) -> Mapping[str, Sequence[str]]:
        """By tool, those that do the same to the same kind of thing, and that no text or argument tells apart."""
        rivals: dict[str, list[str]] = {}
        for pair in (pair for pair in self.overlaps if not pair.is_told_apart):
            rivals.setdefault(pair.first, []).append(pair.second)
            rivals.setdefault(pair.second, []).append(pair.first)
        return rivals

    @cached_property
    def tokens(self) -> int:
        """Estimated tokens of all tools."""
        return sum(subject.tokens for subject in self.subjects)

    @cached_property
    def pairs(self) -> tuple[Overlap, ...]:
        """Pairs of tools that an agent may confuse: what the score and the rules name."""
        return find_pairs(self.purposes, self.overlaps)

    def tool_set(self) -> ToolSet:
        """How consistent and complete the tools are; measured for coherence only."""
        return read_tool_set(self.purposes, self.pairs)


def measure(catalog: Catalog, *, earlier: Measured | None = None) -> Measured:
    """The tools of a catalog with their facts; a tool that cannot be measured stays apart and disturbs no other.

    Tools that an `earlier` version of the catalog shares are taken from there, where no name differs.
    """
    shared = _shared_subjects(earlier, catalog) if earlier else {}
    names = {tool.name.lower(): tool.name for tool in catalog.tools if tool.name}
    duplicates = relations.duplicate_names(catalog.tools)
    words = frozenset(part.removesuffix("s") for name in names.values() for part in name_parts(name))
    subjects: list[Subject] = []
    unmeasured: list[Unmeasured] = []
    for tool in catalog.tools:
        subject = shared.get(tool.index) or Subject(
            tool=tool,
            siblings=names,
            sibling_count=len(catalog.tools) - 1,
            is_duplicate=tool.name in duplicates,
            sibling_words=words,
        )
        reason = _why_unmeasurable(subject)
        if reason is None:
            subjects.append(subject)
        else:
            unmeasured.append(Unmeasured(tool=tool, reason=reason))
    return Measured(
        catalog=catalog,
        subjects=tuple(subjects),
        unmeasured=tuple(unmeasured),
        shadow_candidates=relations.shadow_candidates([(subject.tool, subject.signals) for subject in subjects]),
        code=earlier.code if earlier else None,
    )


def measure_together(catalogs: Sequence[Catalog]) -> tuple[Measured, ...]:
    """Return the same of servers that one agent sees together, each with the others as its neighbors."""
    alone = [measure(catalog) for catalog in catalogs]
    shared = overlaps_between(alone) if len(alone) > 1 else {}
    return tuple(
        replace(
            own,
            neighbors=tuple(
                Neighbor(
                    server=other.catalog.server,
                    tokens=other.tokens,
                    shared_names=tuple(sorted({*own.names} & {*other.names})),
                    overlaps=tuple(shared.get((place, rival), ())),
                )
                for rival, other in enumerate(alone)
                if rival != place
            ),
        )
        for place, own in enumerate(alone)
    )


def overlaps_between(measured: Sequence[Measured]) -> dict[tuple[int, int], list[Overlap]]:
    """By the places of two servers, the tools of the first that say the same as a tool of the second.

    Tools of one name are left out, and so is a tool that names its product where the other does not.
    """
    placed = {
        f"{place}/{purpose.source.tool}": (place, purpose)
        for place, server in enumerate(measured)
        for purpose in server.purposes
    }
    tagged = [purpose._replace(source=purpose.source._replace(tool=tag)) for tag, (_, purpose) in placed.items()]
    shared: dict[tuple[int, int], list[Overlap]] = {}
    overlaps = relations.find_overlaps(tagged)
    for overlap in (overlap for overlap in overlaps if not overlap.kind.is_near):
        pair = placed[overlap.first], placed[overlap.second]
        for (place, own), (rival, other) in (pair, pair[::-1]):
            first, second = own.source, other.source
            is_apart = place == rival or first.tool == second.tool
            if not is_apart and not _names_product(first, measured[place].catalog.server, second):
                own_overlap = Overlap(first=first.tool, second=second.tool, kind=overlap.kind)
                shared.setdefault((place, rival), []).append(own_overlap)
    return shared


def _names_product(tool: Described, server: str, other: Described) -> bool:
    """Its name or description has a word of its server's name that the other tool does not have."""
    own_words, other_words = ({*name_parts(definition.tool), *definition.prose.words} for definition in (tool, other))
    return bool(({*name_parts(server)} - STOPWORDS - LEAD_IN) & (own_words - other_words))


def _shared_subjects(earlier: Measured, catalog: Catalog) -> dict[int, Subject]:
    """By index, the earlier subjects whose tool is the very same and whose siblings have the same names."""
    if [tool.name for tool in earlier.catalog.tools] != [tool.name for tool in catalog.tools]:
        return {}
    tools = {tool.index: tool for tool in catalog.tools}
    return {
        subject.tool.index: subject for subject in earlier.subjects if tools.get(subject.tool.index) is subject.tool
    }


def _why_unmeasurable(subject: Subject) -> str | None:
    """Why a tool has no facts: it has no name, or its JSON exceeds a measuring limit."""
    if not subject.tool.name:
        return next(defect.message for defect in subject.tool.defects)
    try:
        _ = subject.signals
    except UnmeasurableError as error:
        return str(error)
    return None
