"""Pairs of tools that an agent cannot tell apart by name and description; near-linear in the number of tools."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from functools import cache, partial
from itertools import chain, dropwhile
from typing import NamedTuple

from tdqs_mcp.facts.lexicon import lazy_pattern, read_table, words_from
from tdqs_mcp.facts.spelling import name_parts
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.words import LEAD_IN, LEMMAS, PREPOSITIONS, Effect, is_plural, parts_of, stem
from tdqs_mcp.facts.toolset.names import MAX_CROWD, NameWords, read_names

_words = partial(words_from, "overlaps")
_READING = ("get", "list", "search")
_VERSION = lazy_pattern(r"v\d*|\d")

MIN_COPIED = 3
"""Words of a description from which two equal ones are a copy."""

MAX_RIVALS = 8
"""Siblings that are compared for the rare words they share: those that share the most."""

MIN_PRODUCT = 3
"""Names that begin with one word, from which it may be a product's; it must also be a third of all."""

MIN_USUAL = 3
"""Tools from which a sentence that they share, and that has no word of the name, is a banner."""

SAME_NAME, SAME_NAME_AND_MORE, OTHER_NAME = 50, 33, 60
"""Percent of their words, by rarity, that two purposes share: where the names say the same, where one sentence besides
says nothing that the other does not, and where the names differ.

Chosen on pairs of the tuning servers and on labeled definitions beside their rewrites.
"""


class OverlapKind(StrEnum):
    """Part that two tools have in common."""

    DEFINITION = "definition"
    """Description and parameters: one tool under two names, or a forgotten copy."""

    DESCRIPTION = "description"
    """The whole description."""

    PURPOSE = "purpose"
    """Verb, thing and scope, in the same or in other words."""


class Overlap(NamedTuple):
    """Two tools of a catalog that say the same."""

    first: str
    second: str
    """The later one."""

    kind: OverlapKind


class Described(NamedTuple):
    """Parts of a tool that are compared."""

    tool: str
    prose: Prose
    telling: tuple[str, ...]
    """Words of the sentences that can tell it from another; compared in pairs, so they are gathered once."""

    parameters: frozenset[str]
    mentions: Sequence[str]
    """Siblings that the description names: it tells the tool apart from them."""


class Purpose(NamedTuple):
    """Purpose that a name and the first telling sentence state, in stems that stand for all their synonyms."""

    source: Described
    parts: int
    """Words of the name, without a product's."""

    action: str
    """The name's verb, else the sentence's; getting many things is listing them."""

    verb: str
    """The sentence's."""

    is_many: bool
    """The name's thing is many."""

    spans_many: bool
    """So does its scope."""

    thing: frozenset[str]
    """The name's nouns up to a preposition."""

    scope: frozenset[str]
    """Those behind it."""

    lead: frozenset[str]
    """The sentence's words."""

    lead_thing: frozenset[str]
    """The sentence's words between its verb and a preposition."""

    lead_scope: frozenset[str]
    """Those behind it."""

    @property
    def is_reading(self) -> bool:
        """It gets, lists or searches."""
        return self.action in _READING

    @property
    def effect(self) -> Effect | None:
        """Return what it does: what the name's verb does, else the description's."""
        return self.source.prose.name_effect or self.source.prose.effect

    @property
    def phrase(self) -> tuple[str, bool, bool, frozenset[str], frozenset[str]]:
        """The name; equal ones say the same."""
        return self.action, self.is_many, self.spans_many, self.thing, self.scope

    @property
    def nouns(self) -> frozenset[str]:
        """Thing and scope of the name."""
        return self.thing | self.scope

    @property
    def roles(self) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
        """Thing and scope, of the sentence alone and of name and sentence."""
        return (self.lead_thing, self.lead_scope), (self.thing | self.lead_thing, self.scope | self.lead_scope)

    @property
    def words(self) -> frozenset[str]:
        """All of them but the verbs."""
        return self.nouns | self.lead


def read_purposes(tools: Sequence[Described]) -> tuple[Purpose, ...]:
    """Return what each tool is for, in order; linear in their number."""
    usual = Counter(chain.from_iterable(set(tool.prose.sentences) for tool in tools))
    labels = _labels([tool.tool for tool in tools])
    return tuple(_read(tool, label, usual) for tool, label in zip(tools, labels, strict=True))


def find_copies(tools: Sequence[Described]) -> tuple[Overlap, ...]:
    """The pairs of one description, by their later tool, which meets the MAX_CROWD before it."""
    alike: dict[tuple[str, ...], list[Described]] = {}
    for tool in tools:
        alike.setdefault(tool.telling, []).append(tool)
    pairs = (
        (other, own)
        for crowd in alike.values()
        for place, own in enumerate(crowd)
        for other in crowd[max(0, place - MAX_CROWD) : place]
    )
    copies = ((other, own, _copied(other, own)) for other, own in pairs)
    return tuple(Overlap(first=other.tool, second=own.tool, kind=kind) for other, own, kind in copies if kind)


def find_overlaps(purposes: Sequence[Purpose]) -> tuple[Overlap, ...]:
    """The pairs, by their later tool. A tool meets MAX_CROWD siblings of its text or name, and MAX_RIVALS others.

    Tools that point to each other do not overlap, nor do those whose sentences differ in one word on each side
    ("the graph's image", "the graph's data") or trade thing and scope ("the tags of a task", "the tasks of a tag").
    """
    counts = Counter(chain.from_iterable(purpose.words for purpose in purposes))
    weights = {word: (1 + len(purposes) // count).bit_length() for word, count in counts.items()}
    pairs = ((purposes[rival], own) for own, rivals in _rivals(purposes, counts) for rival in rivals)
    rated = ((earlier, other, _kind(earlier, other, weights)) for earlier, other in pairs)
    return tuple(
        Overlap(first=earlier.source.tool, second=other.source.tool, kind=kind)
        for earlier, other, kind in rated
        if kind
    )


def _labels(names: Sequence[str]) -> list[NameWords]:
    """The names as words, without a product's name: a word that a third of them begin with and that is no verb."""
    parts = [name_parts(name) for name in names]
    openings = Counter(part[0] for part in parts if len(part) > 1)
    products = {
        word
        for word, count in openings.items()
        if count >= MIN_PRODUCT and 3 * count >= len(names) and word not in LEMMAS
    }
    bare = [
        name[len(words[0]) :].lstrip("_-./") if len(words) > 1 and words[0] in products else name
        for words, name in zip(parts, names, strict=True)
    ]
    labels = read_names(dict.fromkeys(bare))
    return [labels[name] for name in bare]


def _read(tool: Described, label: NameWords, usual: Mapping[str, int]) -> Purpose:
    nouns = [word for word in map(str.lower, label.nouns) if not _VERSION.fullmatch(word)]
    plain = label.verb or next((word for word in nouns if LEMMAS.get(word) == word and word != "list"), None)
    thing, scope = _split([word for word in nouns if word != plain])
    sentence = _telling_sentence(tool.prose, usual, nouns)
    own = next((word for word in sentence[:8] if word in LEMMAS and word not in LEAD_IN), "")
    behind = sentence[sentence.index(own) + 1 :] if own else sentence
    is_listing = "list" in behind[:2]
    idle = _words("bare") | _words("quantities")
    lead_thing, lead_scope = _split(list(dropwhile(lambda word: word in idle, behind)))
    says_many = is_listing or _is_many(lead_thing)
    is_many = _is_many(thing) or (not plain and says_many)
    verb = _action(own, is_many=says_many)
    action = _action(plain, is_many=is_many) if plain else verb
    silent = _words("articles") | _words("quantities") | (_words("silent") if action in _READING else frozenset())
    return Purpose(
        source=tool,
        parts=len(nouns) + bool(label.verb),
        action=action,
        verb=verb,
        is_many=is_many or action == "list",
        spans_many=_is_many(scope),
        thing=_stems(thing, but=silent) or _stems(thing, but=_words("articles")),
        scope=_stems(scope, but=_words("articles")),
        lead=_stems(sentence, but=_words("bare") | {own}),
        lead_thing=_stems(lead_thing, but=_words("bare")),
        lead_scope=_stems(lead_scope, but=_words("bare")),
    )


def _telling_sentence(prose: Prose, usual: Mapping[str, int], nouns: Sequence[str]) -> list[str]:
    """The words of the first sentence that is neither a banner nor a heading; else of the first."""
    telling = (
        words
        for text, words in zip(prose.sentences, prose.spoken, strict=True)
        if len(words) > 1
        and not text.endswith(":")
        and (usual[text] < MIN_USUAL or not set(map(stem, words)).isdisjoint(map(stem, nouns)))
    )
    words = next(telling, prose.spoken[0] if prose.spoken else ())
    return [part for word in words for piece in parts_of(word) for part in (name_parts(piece) or (piece,))]


def _split(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Thing and scope: what stands before the first preposition or relative pronoun, and the rest."""
    ends = PREPOSITIONS | _words("joints")
    end = next((place for place, word in enumerate(words) if word in ends), len(words))
    return words[:end], words[end:]


def _is_many(thing: Sequence[str]) -> bool:
    idle = _words("silent") | _words("bare")
    last = next((word for word in reversed(thing) if word not in idle), "")
    return not _words("quantities").isdisjoint(thing) or is_plural(last)


def _action(verb: str, *, is_many: bool) -> str:
    form = stem(verb)
    action = _synonyms().get(form, form)
    return "list" if action == "get" and is_many else action


def _stems(words: Iterable[str], *, but: AbstractSet[str]) -> frozenset[str]:
    synonyms = _synonyms()
    return frozenset(synonyms.get(form := stem(word), form) for word in words if word not in but)


@cache
def _synonyms() -> Mapping[str, str]:
    groups = [line.split() for line in reversed(read_table("overlaps")["synonyms"].splitlines())]
    return {stem(word): stem(group[0]) for group in groups for word in group}


def _rivals(purposes: Sequence[Purpose], counts: Mapping[str, int]) -> Iterator[tuple[Purpose, list[int]]]:
    """Each purpose with the positions of earlier ones that may say the same."""
    alike: dict[object, list[int]] = {}
    crowds: dict[str, list[int]] = {}
    for place, own in enumerate(purposes):
        rivals: set[int] = set()
        for key in (own.source.prose.words, own.phrase):
            crowd = alike.setdefault(key, [])
            rivals.update(crowd[-MAX_CROWD:])
            crowd.append(place)
        shared: Counter[int] = Counter()
        for word in own.words:
            if counts[word] <= MAX_CROWD:
                crowd = crowds.setdefault(word, [])
                shared.update(crowd)
                crowd.append(place)
        rivals.update(sorted(shared, key=lambda rival: (-shared[rival], rival))[:MAX_RIVALS])
        yield own, sorted(rivals)


def _kind(own: Purpose, other: Purpose, weights: Mapping[str, int]) -> OverlapKind | None:
    first, second = own.source, other.source
    if first.tool == second.tool:
        return None
    if copied := _copied(first, second):
        return copied
    if first.tool in second.mentions or second.tool in first.mentions:
        return None
    return OverlapKind.PURPOSE if _is_one_purpose(own, other, weights) else None


def _copied(first: Described, second: Described) -> OverlapKind | None:
    if first.tool == second.tool or len(first.telling) < MIN_COPIED or first.telling != second.telling:
        return None
    return OverlapKind.DEFINITION if first.parameters == second.parameters else OverlapKind.DESCRIPTION


def telling_words(prose: Prose) -> tuple[str, ...]:
    """The words of the sentences that can tell a tool from another; all words where each sentence is too short."""
    long = [words for words in prose.spoken if len(words) >= MIN_COPIED]
    return tuple(chain.from_iterable(long)) if long else prose.words


def _is_one_purpose(first: Purpose, other: Purpose, weights: Mapping[str, int]) -> bool:
    own, rival = first.lead - other.words, other.lead - first.words
    is_contrast = len(own) == len(rival) == 1 or {first.verb, other.verb} == {"get", "list"}
    if is_contrast or _trade_things(first, other):
        return False
    if first.phrase == other.phrase:
        is_one_call = bool(first.source.parameters) and first.source.parameters == other.source.parameters
        least = SAME_NAME if own and rival else SAME_NAME_AND_MORE
        is_near = not first.lead or not other.lead or _share(first.lead, other.lead, weights) >= least
        return bool(first.nouns) and (is_one_call or is_near)
    return (
        bool(first.lead and other.lead)
        and {first.action, other.action} <= {first.action, first.verb} & {other.action, other.verb}
        and first.is_many == other.is_many
        and first.nouns <= other.words
        and other.nouns <= first.words
        and _words("quantities").isdisjoint(own | rival)
        and _share(first.words, other.words, weights) >= OTHER_NAME
    )


def _trade_things(first: Purpose, other: Purpose) -> bool:
    """Return whether the thing of one is the scope of the other alone."""
    pairs = zip(first.roles, other.roles, strict=True)
    return any((thing & scope) - rival or (rival & own) - thing for (thing, own), (rival, scope) in pairs)


def _share(words: frozenset[str], rival: frozenset[str], weights: Mapping[str, int]) -> int:
    """Percent of the richer one's words, by weight, that the other has."""
    both, *sizes = (sum(weights[word] for word in part) for part in (words & rival, words, rival))
    return 100 * both // max(1, *sizes)
