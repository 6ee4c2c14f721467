"""Relations of tools: pairs that an agent cannot tell apart, mentions, shadow pairs, shared names and titles."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from functools import cache, lru_cache, partial
from itertools import chain, dropwhile, islice
from typing import NamedTuple

from tdqs_mcp.canonical import trim, utf16_order
from tdqs_mcp.facts.lexicon import MAX_TEXT, lazy_pattern, read_table, words_from
from tdqs_mcp.facts.schema.signals import Signals
from tdqs_mcp.facts.spelling import name_parts
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.words import (
    LEAD_IN,
    LEMMAS,
    PREPOSITIONS,
    Effect,
    effect_of,
    is_plural,
    parts_of,
    stem,
)
from tdqs_mcp.facts.toolset.names import MAX_CROWD, NameWords, part_of_speech, read_names
from tdqs_mcp.model import Catalog, Resource, Tool
from tdqs_mcp.results.verdicts import ShadowCandidate

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

    VARIANT = "variant"
    """Half of the words and of the parameters, and one says nothing that the other does not."""

    WORDING = "wording"
    """The words of the name, but for how many: `get_tasks`, `get_tasks_list`."""

    NAME = "name"
    """The name."""

    NOTHING = "nothing"
    """Neither says what it does."""

    @property
    def is_copy(self) -> bool:
        """Return whether one description is the other's."""
        return self in (OverlapKind.DEFINITION, OverlapKind.DESCRIPTION)

    @property
    def is_near(self) -> bool:
        """Return whether there may be a difference that neither text states."""
        return self in (OverlapKind.VARIANT, OverlapKind.WORDING)


class Overlap(NamedTuple):
    """Two tools of a catalog that say the same, or nearly."""

    first: str
    second: str
    """The later one."""

    kind: OverlapKind
    shared: tuple[str, ...] = ()
    """Words of both, a synonym beside its like: `remove/delete`, `user`."""

    alone: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    """Words of the names and parameters that the first and that the second has alone."""

    is_told_apart: bool = False
    """A word that only one name has stands in its description, or is what only that tool takes."""

    @property
    def words(self) -> str:
        """Return what they share, and what tells them apart: "both list, branches; only list_tags: tags"."""
        parts = [f"both {', '.join(self.shared)}"] if self.shared else []
        pairs = zip((self.first, self.second), self.alone, strict=True)
        return "; ".join((*parts, *(f"only {name}: {', '.join(words)}" for name, words in pairs if words)))


MAX_SHARED_WORDS = 4
"""Words that are shown of what two tools share, and of what each has alone."""


class Described(NamedTuple):
    """Parts of a tool that are compared."""

    tool: str
    prose: Prose
    telling: tuple[str, ...]
    """Words of the sentences that can tell it from another; compared in pairs, so they are gathered once."""

    parameters: frozenset[str]
    alternatives: Sequence[str]
    """Siblings that the description tells the tool apart from."""


class Purpose(NamedTuple):
    """Purpose that a name and the first telling sentence state, in stems that stand for all their synonyms."""

    source: Described
    name: NameWords
    """The name, without a product's."""

    parts: int
    """Its words, without versions."""

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

    head: str
    """The thing's last noun, which says of what kind it is: `list_queue_tags` is about tags."""

    sentence: tuple[str, ...]
    """The first telling sentence, as it is spelled."""

    lead: frozenset[str]
    """Its words."""

    lead_thing: frozenset[str]
    """The sentence's words between its verb and a preposition."""

    lead_scope: frozenset[str]
    """Those behind it."""

    @property
    def is_reading(self) -> bool:
        """It gets, lists or searches."""
        return self.action in _READING

    @property
    def call(self) -> str:
        """The action as the name has it: `zones_get` gets, whatever the number of zones."""
        return action_of(self.name.verb or self.action, is_many=False)

    @property
    def creates(self) -> bool:
        """Its name says that it makes a new thing."""
        # what is added may become part of something: `add_snapshot_commands`
        return self.name.verb in ("create", "make")

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
    labels = read_labels([tool.tool for tool in tools])
    return tuple(_read(tool, label, usual) for tool, label in zip(tools, labels, strict=True))


def are_told_apart(first: Described, other: Described) -> bool:
    """A word that only one name has stands in this tool's description, or is what only this tool takes.

    `list_boards_in_workspace` takes a workspace, and "Sets multiple notes" tells `set_multiple_notes` from `set_note`.
    """
    names = [set(map(stem, name_parts(tool.tool))) for tool in (first, other)]
    words = [{stem(part) for name in tool.parameters for part in name_parts(name)} for tool in (first, other)]
    return not (
        (names[0] - names[1]).isdisjoint({*(words[0] - words[1]), *map(stem, first.prose.words)})
        and (names[1] - names[0]).isdisjoint({*(words[1] - words[0]), *map(stem, other.prose.words)})
    )


def _argument_stems(purpose: Purpose) -> frozenset[str]:
    """The words of the parameters' names: "matching the `text`" and "by a `query`" say what a tool takes."""
    return stems_of(chain.from_iterable(map(name_parts, purpose.source.parameters)), but=purpose.nouns)


def find_overlaps(purposes: Sequence[Purpose]) -> tuple[Overlap, ...]:
    """The pairs that say the same, by their later tool.

    A tool meets MAX_CROWD siblings of its text or name, and MAX_RIVALS others. Tools that point to each other do not
    overlap, nor do those whose sentences differ in one word on each side ("the graph's image", "the graph's data") or
    trade thing and scope ("the tags of a task", "the tasks of a tag").
    """
    counts = Counter(chain.from_iterable(purpose.words for purpose in purposes))
    weights = {word: (1 + len(purposes) // count).bit_length() for word, count in counts.items()}
    pairs = ((purposes[rival], own) for own, rivals in _rivals(purposes, counts) for rival in rivals)
    rated = ((earlier, other, _kind(earlier, other, weights)) for earlier, other in pairs)
    return tuple(overlap_of(earlier, other, kind) for earlier, other, kind in rated if kind)


def overlap_of(first: Purpose, other: Purpose, kind: OverlapKind) -> Overlap:
    """Return two tools as a pair, with the words that they share and those that one has alone."""
    if kind is OverlapKind.NOTHING:
        return Overlap(first.source.tool, other.source.tool, kind)
    own, rival = _spelled(first, first.sentence), _spelled(other, other.sentence)
    shared = [
        word if stem(word) == stem(rival[key]) else f"{word}/{rival[key]}" for key, word in own.items() if key in rival
    ]
    names = _spelled(first, sorted(first.source.parameters)), _spelled(other, sorted(other.source.parameters))
    alone = [
        tuple(word for key, word in words.items() if key not in rivals and key not in names[1 - place])
        for place, (words, rivals) in enumerate(zip(names, (rival, own), strict=True))
    ]
    return Overlap(
        first=first.source.tool,
        second=other.source.tool,
        kind=kind,
        shared=tuple(shared[:MAX_SHARED_WORDS]),
        alone=(alone[0][:MAX_SHARED_WORDS], alone[1][:MAX_SHARED_WORDS]),
        # `fetch_page`, `fetch_pages`; other words of one name are no difference where both names say the same
        is_told_apart=(first.is_many, first.spans_many) != (other.is_many, other.spans_many)
        if kind is OverlapKind.WORDING
        else are_told_apart(first.source, other.source),
    )


def _spelled(purpose: Purpose, more: Iterable[str]) -> dict[str, str]:
    """The words of a name, and more, by the stem that stands for their synonyms."""
    words: dict[str, str] = {}
    for word in (*name_parts(purpose.name.tool), *more):
        if word not in _words("bare") and word not in LEAD_IN and not _VERSION.fullmatch(word):
            [key] = stems_of((word,), but=frozenset())
            words.setdefault("get" if key in _READING else key, word)
    return words


def read_labels(names: Sequence[str]) -> list[NameWords]:
    """The names as words, without a product's name: a word that a third of them begin with and that is no verb."""
    parts = [name_parts(name) for name in names]
    openings = Counter(part[0] for part in parts if len(part) > 1)
    # `user_list` beside `order_list`: a thing, no product
    endings = Counter(tuple(part[1:]) for part in parts if len(part) > 1)
    things = {part[0] for part in parts if endings[tuple(part[1:])] > 1}
    products = {
        word
        for word, count in openings.items()
        if count >= MIN_PRODUCT and 3 * count >= len(names) and word not in LEMMAS and word not in things
    }
    bare = [
        # `acme_create_order` in a server where a third of the names begin with acme
        name[len(words[0]) :].lstrip("_-./") if len(words) > 1 and words[0] in products else name
        for words, name in zip(parts, names, strict=True)
    ]
    labels = read_names(dict.fromkeys(bare))
    return [labels[name] for name in bare]


def _read(tool: Described, label: NameWords, usual: Mapping[str, int]) -> Purpose:
    nouns = [word for word in map(str.lower, label.nouns) if not _VERSION.fullmatch(word)]
    sentence = _telling_sentence(tool.prose, usual, nouns)
    # "Dispatches an email": what stands before an article at the beginning is a verb, whatever else it can be
    opening = sentence[0] if sentence[1:2] in (["a"], ["an"], ["the"]) else ""
    is_opening = bool(nouns) and opening in (nouns[0], f"{nouns[0]}s", f"{nouns[0]}es")
    plain = label.verb or (nouns[0] if is_opening else next((word for word in nouns if _is_verb(word)), None))
    thing, scope = _split(nouns if label.verb else [word for word in nouns if word != plain])
    own = next((word for word in sentence[:8] if word in LEMMAS and word not in LEAD_IN), opening)
    own = opening if is_opening else own
    behind = sentence[sentence.index(own) + 1 :] if own else sentence
    # "Get a list of orders" lists, whatever its verb
    is_listing = "list" in behind[:2]
    lead_thing, lead_scope = _split(list(dropwhile(_either("bare", "quantities").__contains__, behind)))
    says_many = is_listing or _is_many(lead_thing)
    is_many = _is_many(thing) or (not plain and says_many)
    verb = action_of(nouns[0] if is_opening else own, is_many=says_many)
    action = action_of(plain, is_many=is_many) if plain else verb
    silent = _either("articles", "quantities", "silent") if action in _READING else _either("articles", "quantities")
    heads = [word for word in thing if word not in silent and word not in _words("silent")] or thing
    return Purpose(
        source=tool,
        name=label,
        parts=len(nouns) + bool(label.verb),
        action=action,
        verb=verb,
        is_many=is_many or action == "list",
        spans_many=_is_many(scope),
        thing=stems_of(thing, but=silent) or stems_of(thing, but=_words("articles")),
        scope=stems_of(scope, but=_words("articles")),
        head=next(iter(stems_of(heads[-1:], but=frozenset())), ""),
        sentence=tuple(sentence),
        lead=stems_of(sentence, but=_words("bare") | {own}),
        lead_thing=stems_of(lead_thing, but=_words("bare")),
        lead_scope=stems_of(lead_scope, but=_words("bare")),
    )


def _is_verb(word: str) -> bool:
    """Return whether a word of a name stands for its verb: `weather_lookup` looks up the weather, `new_order`."""
    stands_for = _synonyms().get(base_of(word)) in (*_READING, "create")
    return word != "list" and (LEMMAS.get(word) == word or stands_for or part_of_speech(word) == "verb")


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
    return [
        part
        for word in words
        for piece in ((word,) if word.isalpha() and word.isascii() else parts_of(word))
        for part in (name_parts(piece) or (piece,))
    ]


def _split(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Thing and scope: what stands before the first preposition or relative pronoun, and the rest."""
    ends = PREPOSITIONS | _words("joints")
    end = next((place for place, word in enumerate(words) if word in ends), len(words))
    return words[:end], words[end:]


@cache
def words_of_all() -> frozenset[str]:
    """Things that a name does not tell the kind of."""
    return stems_of(words_from("names", "generic_things"), but=frozenset())


@cache
def _either(*keys: str) -> frozenset[str]:
    return frozenset().union(*map(_words, keys))


def _is_many(thing: Sequence[str]) -> bool:
    idle = _either("silent", "bare")
    last = next((word for word in reversed(thing) if word not in idle), "")
    return not _words("quantities").isdisjoint(thing) or is_plural(last)


def action_of(verb: str, *, is_many: bool) -> str:
    """The verb that stands for all of its synonyms; getting many things is listing them."""
    action = _stem_of_all(verb)
    return "list" if action == "get" and is_many else action


def stems_of(words: Iterable[str], *, but: AbstractSet[str]) -> frozenset[str]:
    """Stems that stand for all their synonyms."""
    return frozenset([_stem_of_all(word) for word in words if word not in but])


@lru_cache(8192)
def _stem_of_all(word: str) -> str:
    form = base_of(word)
    return _synonyms().get(form, form)


def base_of(word: str) -> str:
    """Return a stem that is one for "story" and "stories", "box" and "boxes", "status" and "statuses"."""
    form = word if word.endswith("us") else stem(word)
    if form.endswith("ie"):
        return f"{form[:-2]}y"
    return form[:-1] if form.endswith(("se", "xe", "ze", "che", "she")) else form


@cache
def _synonyms() -> Mapping[str, str]:
    groups = [line.split() for line in reversed(read_table("overlaps")["synonyms"].splitlines())]
    return {base_of(word): base_of(group[0]) for group in groups for word in group}


def _rivals(purposes: Sequence[Purpose], counts: Mapping[str, int]) -> Iterator[tuple[Purpose, list[int]]]:
    """Each purpose with the positions of earlier ones that may say the same."""
    alike: dict[object, list[int]] = {}
    crowds: dict[str, list[int]] = {}
    for place, own in enumerate(purposes):
        rivals: set[int] = set()
        for key in (own.source.telling, own.phrase):
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
    if first.tool in second.alternatives or second.tool in first.alternatives:
        return None
    if _is_one_purpose(own, other, weights):
        return OverlapKind.PURPOSE
    if _is_variant(own, other, weights):
        return OverlapKind.VARIANT
    return OverlapKind.WORDING if _are_one_wording(own, other) else None


def _copied(first: Described, second: Described) -> OverlapKind | None:
    if first.tool == second.tool or len(first.telling) < MIN_COPIED or first.telling != second.telling:
        return None
    return OverlapKind.DEFINITION if first.parameters == second.parameters else OverlapKind.DESCRIPTION


def telling_words(prose: Prose) -> tuple[str, ...]:
    """The words of the sentences that can tell a tool from another; all words where each sentence is too short."""
    long = [words for words in prose.spoken if len(words) >= MIN_COPIED]
    return tuple(chain.from_iterable(long)) if long else prose.words


def _is_one_purpose(first: Purpose, other: Purpose, weights: Mapping[str, int]) -> bool:
    if not _verbs_agree(first, other) or trade_things(first, other):
        return False
    own, rival = first.lead - other.words, other.lead - first.words
    is_one_call = _are_one_call(first, other)
    if is_one_call and first.verb == other.verb and first.lead and not own | rival:
        return True
    is_named_alike = _are_named_alike(first, other, is_one_call=is_one_call)
    # "current weather conditions" are as little many as "the current weather" where both names get the weather
    if {first.verb, other.verb} == {"get", "list"} and not is_one_call and first.call != other.call:
        return False
    # "Get the image of a graph" and "Get the data of a graph" differ in one word on each side
    is_swapped = len(own) == len(rival) == 1
    if is_named_alike:
        named = stems_of((*first.name.nouns, *other.name.nouns), but=frozenset())
        if is_swapped and not named.isdisjoint(own | rival):
            return False
        least = SAME_NAME if own and rival else SAME_NAME_AND_MORE
        words, other_words = (purpose.lead - _argument_stems(purpose) for purpose in (first, other))
        is_near = not words or not other_words or _share(words, other_words, weights) >= least
        # `get_build_id` and `list_build_id` may both take a name: what they say decides
        return bool(first.nouns) and (is_near or (is_one_call and first.call == other.call))
    return (
        bool(first.lead and other.lead)
        and not is_swapped
        and (first.action == other.action or not (first.is_reading or other.is_reading))
        and first.is_many == other.is_many
        and not _differ_in_number(first, other)
        and first.nouns <= other.words
        and other.nouns <= first.words
        and _share(first.words, other.words, weights) >= OTHER_NAME
    )


def _are_one_wording(first: Purpose, other: Purpose) -> bool:
    """Return whether two names say the same, in any order and for one thing or many: `search_code`, `find_in_code`.

    Of two that read, one that lists or gives many and one that gets are not one: `zones_list`, `zones_get`.
    """
    if first.action != other.action or first.head != other.head or trade_things(first, other):
        return False
    is_one_call = first.call == other.call or _are_one_call(first, other)
    is_one_number = first.is_many == other.is_many and is_one_call
    # a list that is updated is a thing: `update_task`, `update_task_list`
    idle = _either("articles", "quantities") if first.is_reading else _either("articles", "quantities") - {"list"}
    words = [sorted(_stem_of_all(word) for word in tool.name.nouns if word not in idle) for tool in (first, other)]
    return words[0] == words[1] != [] and (is_one_number or not first.is_reading)


def _is_variant(first: Purpose, other: Purpose, weights: Mapping[str, int]) -> bool:
    parameters, other_parameters = first.source.parameters, other.source.parameters
    shared, either = parameters & other_parameters, parameters | other_parameters
    takes_other = not shared or 2 * len(shared) < len(either)
    if takes_other or not _verbs_agree(first, other) or trade_things(first, other):
        return False
    texts = [stems_of(purpose.source.prose.words, but=_words("bare")) for purpose in (first, other)]
    added = first.nouns ^ other.nouns
    # `get_note`, `get_raw_note`: no text has the word; what else one of them says may tell what it means
    is_unexplained = len(added) == 1 and added.isdisjoint(texts[0] | texts[1]) and len(texts[0] ^ texts[1]) <= 1
    if is_unexplained and parameters == other_parameters:
        return True
    both = first.words & other.words
    arguments = (_argument_stems(first) & _argument_stems(other)) - first.nouns - other.nouns
    if not (first.lead - arguments <= other.words or other.lead - arguments <= first.words):
        return False
    # "by ID" tells nothing where both take an id
    either_word = (first.words | other.words) - (arguments - both)
    return 2 * sum(weights[word] for word in both) >= sum(weights[word] for word in either_word)


def _verbs_agree(first: Purpose, other: Purpose) -> bool:
    """Return whether no known effect is another, and the verb of one name is a verb of the other tool, as far as known.

    "Get", "list" and "search" agree where both tools give many things, or take the same.
    """
    # a name and a text may say opposite things: `get_order`, "Deletes an order."
    effects = {effect_of(first.verb), effect_of(other.verb)}
    if Effect.READ in effects and any(effect and effect.is_mutating for effect in effects):
        return False
    if first.action == other.action:
        return True
    if first.effect != other.effect and None not in (first.effect, other.effect):
        return False
    verbs = [first.action, first.verb, other.action, other.verb]
    if (first.is_many and other.is_many) or (_are_one_call(first, other) and _are_one_number(first, other)):
        verbs = ["get" if verb in _READING else verb for verb in verbs]
    own, stated, rival, also_stated = verbs
    # `inspect_results`, "Examines the results.", and `analyze_results`
    is_open = not (own or rival) or own in (rival, also_stated) or rival == stated
    return is_open or _may_be_one_action(first, other)


def _may_be_one_action(first: Purpose, other: Purpose) -> bool:
    """Return whether both take the same, and authors say one verb for the other: `fetch_file`, `download_file`."""
    return _are_one_call(first, other) and frozenset((first.action, other.action)) in _paraphrases()


@cache
def _paraphrases() -> frozenset[frozenset[str]]:
    lines = map(str.split, read_table("overlaps")["paraphrases"].strip().splitlines())
    return frozenset(frozenset((base_of(verb), base_of(other))) for verb, *synonyms in lines for other in synonyms)


def _are_one_call(first: Purpose, other: Purpose) -> bool:
    return bool(first.source.parameters) and first.source.parameters == other.source.parameters


def _are_one_number(first: Purpose, other: Purpose) -> bool:
    """Return whether both are about one thing or many: "list" says no more than "get" in `list_build_id`."""
    return first.is_many == other.is_many or first.name.nouns == other.name.nouns


def _differ_in_number(first: Purpose, other: Purpose) -> bool:
    """Return whether the last noun of one name is the plural of the other's: `get_batch`, `list_batches`."""
    own, rival = (purpose.name.nouns[-1:] for purpose in (first, other))
    return own != rival and list(map(base_of, own)) == list(map(base_of, rival))


def _are_named_alike(first: Purpose, other: Purpose, *, is_one_call: bool) -> bool:
    """Return whether two names say the same; of two calls that take the same, "list" and "get" may do the same."""
    # `save_record` and `store_item`: what is saved is left open
    are_open = is_one_call and words_of_all() >= first.nouns | other.nouns
    # where a server has `get_task` and `get_task_details`, details are something else
    silent = _words("silent") - _words("quantities")
    bare = [silent.isdisjoint(tool.name.nouns) for tool in (first, other)]
    if not are_open and (bare[0] != bare[1] or first.head != other.head):
        return False
    if first.phrase == other.phrase:
        return True
    is_read_alike = first.is_reading and other.is_reading and (is_one_call or _take_alike(first, other))
    things = are_open or (first.thing, first.scope) == (other.thing, other.scope)
    is_one_action = first.action == other.action or is_read_alike or _may_be_one_action(first, other)
    return is_one_action and _are_one_number(first, other) and things


def _take_alike(first: Purpose, other: Purpose) -> bool:
    """Return whether two tools take as many parameters, and share half of them."""
    own, rival = first.source.parameters, other.source.parameters
    return bool(own) and len(own) == len(rival) and 2 * len(own & rival) >= len(own)


def trade_things(first: Purpose, other: Purpose) -> bool:
    """Return whether the thing of one is the scope of the other alone.

    Where the names have one thing, "the content of a page" is part of it, and a page no scope.
    """
    is_one_thing = bool(first.thing) and (first.thing, first.scope) == (other.thing, other.scope)
    pairs = islice(zip(first.roles, other.roles, strict=True), int(is_one_thing), None)
    return any((thing & scope) - rival or (rival & own) - thing for (thing, own), (rival, scope) in pairs)


def _share(words: frozenset[str], rival: frozenset[str], weights: Mapping[str, int]) -> int:
    """Percent of the richer one's words, by weight, that the other has."""
    both, *sizes = (sum(weights[word] for word in part) for part in (words & rival, words, rival))
    return 100 * both // max(1, *sizes)


_MARK = lazy_pattern(r"[`'\"]([^`'\"\s]{1,128})[`'\"]|\b(\w{1,128})(?:\(\)| tool\b)")
"""A word that a text marks as a name: quoted, called with (), or followed by "tool"."""

SHADOW_RATIO = 2
"""The dearer tool costs at least this many times the cheaper one (TDQS 1.1, shadow prefilter)."""

SHADOW_GAP = 4
"""... and at least this much more, so that a free tool does not qualify against everything (TDQS 1.1)."""


def mentioned_siblings(tool: Tool, words: Iterable[str], names: Mapping[str, str]) -> tuple[str, ...]:
    """Other tools that a description of these words names; `names` maps each lower-cased name to the real one.

    A one-word name such as `search` counts only in backticks, in quotes or before "tool": else it is a plain word.
    """
    own = tool.name.lower()
    named = {names[word]: None for word in words if word in names and word != own}
    # "search the archive" does not name the tool `search`, "the search tool" and "`search`" do
    plain = {name for name in named if name.isalpha() and name in (name.lower(), name.title())}
    marks = _MARK.findall((tool.description or "")[:MAX_TEXT].lower()) if plain else ()
    marked = {word for groups in marks for word in groups}
    return tuple(name for name in named if name not in plain or name.lower() in marked)


def shadow_candidates(tools: Sequence[tuple[Tool, Signals]]) -> tuple[ShadowCandidate, ...]:
    """For each tool its dearest much cheaper sibling, in catalog order; ties by UTF-16 order of the name (TDQS 1.1)."""
    cheapest_names: dict[int, list[str]] = {}
    for tool, signals in tools:
        cheapest_names.setdefault(signals.subtree.invocation_cost, []).append(tool.name)
    costs = sorted(cheapest_names)
    ordered = {cost: sorted(set(names), key=utf16_order) for cost, names in cheapest_names.items()}
    candidates = []
    for tool, signals in tools:
        own = signals.subtree.invocation_cost
        # a tool of 10 points has a much cheaper sibling from 5 points down, one of 4 points from 0
        cheap = reversed(costs[: bisect_right(costs, min(own // SHADOW_RATIO, own - SHADOW_GAP))])
        siblings = ((cost, name) for cost in cheap for name in ordered[cost][:2] if name != tool.name)
        for cost, cheaper in islice(siblings, 1):
            candidates.append(
                ShadowCandidate(
                    index=tool.index,
                    tool=tool.name,
                    invocation_cost=own,
                    cheaper_sibling=cheaper,
                    cheaper_sibling_invocation_cost=cost,
                )
            )
    return tuple(candidates)


def duplicate_names(tools: Sequence[Tool]) -> frozenset[str]:
    """Names that more than one tool carries."""
    counts = Counter(tool.name for tool in tools if tool.name)
    return frozenset(name for name, count in counts.items() if count > 1)


def listed_resources(catalog: Catalog) -> list[Resource]:
    """The entries of `resources/list`; templates are another listing."""
    return [resource for resource in catalog.resources or () if not resource.is_template]


def is_empty(catalog: Catalog) -> bool:
    """There is no tool, resource or prompt; false where a listing that the server declares has failed."""
    declared = catalog.capabilities or {}
    has_failed = ("resources" in declared and catalog.resources is None) or (
        "prompts" in declared and catalog.prompts is None
    )
    return not (has_failed or catalog.tools or listed_resources(catalog) or catalog.prompts)


def display_name(tool: Tool) -> str | None:
    """Return what a client shows for a tool: its title, else the one in its annotations; None where both are blank."""
    titles = (tool.title, (tool.annotations or {}).get("title"))
    return next((trim(title) for title in titles if isinstance(title, str) and trim(title)), None)


def shared_display_names(tools: Iterable[Tool], *, alike: Callable[[str], str] = str) -> dict[str, list[Tool]]:
    """Tools with different names that are shown under one title, by the title of the first.

    Titles are one if `alike` gives the same for them: rubrics ignore case, foreign linters do not.
    """
    groups: dict[str, list[Tool]] = {}
    for tool in tools:
        if title := display_name(tool):
            groups.setdefault(alike(title), []).append(tool)
    return {display_name(group[0]) or "": group for group in groups.values() if len({tool.name for tool in group}) > 1}
