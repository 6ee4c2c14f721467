"""How distinct, consistent and complete the tools of a catalog are, by their names and what they say."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from tdqs_mcp.facts.lexicon import words_from
from tdqs_mcp.facts.spelling import name_parts
from tdqs_mcp.facts.text.words import LEMMAS, VAGUE_VERBS, Effect, stem
from tdqs_mcp.facts.toolset.names import NameWords, part_of_speech
from tdqs_mcp.facts.toolset.relations import (
    Overlap,
    OverlapKind,
    Purpose,
    action_of,
    overlap_of,
    stems_of,
    words_of_all,
)

_CHANGES = (Effect.UPDATE, Effect.DELETE)
MIN_PATTERN = 3
"""Names of which the first word is known, from which they can have a pattern."""

MIN_CONTRASTS = 2
"""Copies with other arguments whose names differ in the same two words, from which these tell them apart:
`solidity-erc20`, `cairo-erc20` beside `solidity-erc721`, `cairo-erc721`."""

_LIFECYCLE = (Effect.CREATE, Effect.READ, *_CHANGES)


class ToolSet(NamedTuple):
    """How distinct, consistent and complete the tools of a catalog are."""

    tool_count: int
    off_style: tuple[str, ...]
    """Names outside the most frequent spelling (snake_case, kebab-case, camelCase, PascalCase)."""

    off_pattern: tuple[str, ...]
    """Names that lead with a noun where as many or more lead with a verb, or the reverse; a word that can be both, or
    that no dictionary has, counts as neither."""

    vague: tuple[str, ...]
    """Tools whose name has neither a resource nor a specific verb: `process`, `do_thing`, `helper`."""

    with_verb: tuple[str, ...]
    """Tools whose name has a word that is known as a verb."""

    noun_first: tuple[str, ...]
    """Tools whose name surely begins with a noun: not `sell_lemonade`, as a sell is a noun as well."""

    same: tuple[Overlap, ...]
    """Pairs that do the same job, as far as their definitions say; both names are one where two tools share it."""

    variants: tuple[Overlap, ...]
    """Pairs that share half of their words and of their parameters and do not differ on both sides (`get_range`,
    `get_used_range`), or whose names say the same. Neither description names the other tool."""

    one_word: tuple[str, ...]
    """Tools whose name is one word, a product's not counted."""

    uneven: int
    """Words of the longest name more than of the shortest."""

    actions: int
    """Different verbs among the tools; synonyms count once."""

    verbs: tuple[str, ...]
    """Those of the names, as they stand there."""

    unread: tuple[str, ...]
    """Tools that create something of which no tool that reads speaks."""

    unchanged: tuple[str, ...]
    """Tools that create something which is read, and of which no tool that updates or deletes speaks."""

    complete: tuple[str, ...]
    """Tools that create something of a kind that other tools read, update and delete."""

    whole: tuple[str, ...]
    """Tools that create something which other names, with all of its nouns, read, update and delete."""

    shared: frozenset[str]
    """Words that the name or the first sentence of every tool has, as stems: what all of them are about."""

    @property
    def is_one_job(self) -> bool:
        """All are about one thing, each says what it does, no two do the same, and no thing is left without care."""
        return bool(self.shared) and not (self.alike or self.vague or self.unread or self.unchanged)

    @property
    def alike(self) -> int:
        """Tools that do the same job as another one."""
        names = {name for pair in self.same for name in (pair.first, pair.second)}
        return len(names) + sum(pair.kind is OverlapKind.NAME for pair in self.same)


def find_pairs(purposes: Sequence[Purpose], overlaps: Sequence[Overlap]) -> tuple[Overlap, ...]:
    """Return every pair that an agent may confuse: tools of one name, overlaps, and tools that say nothing."""
    by_name = {purpose.source.tool: purpose for purpose in purposes}
    counts = Counter(purpose.source.tool for purpose in purposes)
    shared = (Overlap(name, name, OverlapKind.NAME) for name, count in counts.items() if count > 1)
    empty = (overlap_of(by_name[first], by_name[second], OverlapKind.NOTHING) for first, second in _empty(purposes))
    copies = [pair for pair in overlaps if pair.kind is OverlapKind.DESCRIPTION]
    words = {pair: _contrast(by_name[pair.first], by_name[pair.second]) for pair in copies}
    contrasts = Counter(words.values())
    alike = (pair for pair in overlaps if contrasts[words.get(pair)] < MIN_CONTRASTS)
    pairs = {(pair.first, pair.second): pair for pair in reversed([*shared, *alike, *empty])}
    return tuple(reversed(pairs.values()))


def _contrast(own: Purpose, other: Purpose) -> object:
    """Return the two words in which two names differ if nothing else sets them apart; else the names themselves."""
    words, rival = own.name.nouns, other.name.nouns
    differing = [pair for pair in zip(words, rival, strict=False) if pair[0] != pair[1]]
    return frozenset(differing[0]) if len(words) == len(rival) and len(differing) == 1 else (words, rival)


def read_tool_set(purposes: Sequence[Purpose], pairs: Sequence[Overlap]) -> ToolSet:
    """The facts of a tool set with the pairs that an agent may confuse; linear in its size."""
    names = [purpose.source.tool for purpose in purposes]
    styles = [(name, style) for name in names if (style := _style(name))]
    usual_style = next((style for style, _ in Counter(style for _, style in styles).most_common(1)), "")
    lengths = [purpose.parts for purpose in purposes] or [0]
    unread, unchanged, complete, whole = _lifecycles(purposes)
    openings = Counter(name_parts(name)[0] for name in names if name_parts(name))

    def is_bare(purpose: Purpose) -> bool:
        """Return whether its first word is the only one, or most names begin so: `item` stays in `item_lookup`."""
        parts = name_parts(purpose.source.tool)
        return len(parts) < 2 or 2 * openings[parts[0]] > len(names)

    return ToolSet(
        tool_count=len(purposes),
        off_style=tuple(name for name, style in styles if style != usual_style),
        off_pattern=_off_pattern(purposes),
        vague=tuple(purpose.source.tool for purpose in purposes if _is_vague(purpose.name)),
        with_verb=tuple(purpose.source.tool for purpose in purposes if _has_verb(purpose.name)),
        noun_first=tuple(purpose.source.tool for purpose in purposes if _lead(purpose) == "noun"),
        same=tuple(pair for pair in pairs if not pair.kind.is_near),
        variants=tuple(pair for pair in pairs if pair.kind.is_near),
        one_word=tuple(purpose.source.tool for purpose in purposes if purpose.parts == 1 and is_bare(purpose)),
        uneven=max(lengths) - min(lengths),
        actions=len({purpose.action for purpose in purposes}),
        verbs=tuple(dict.fromkeys(purpose.name.verb for purpose in purposes if purpose.name.verb)),
        unread=unread,
        unchanged=unchanged,
        complete=complete,
        whole=whole,
        shared=frozenset.intersection(*(purpose.words for purpose in purposes)) if purposes else frozenset(),
    )


def _has_verb(name: NameWords) -> bool:
    return any(part in LEMMAS or part_of_speech(part) == "verb" for part in name_parts(name.tool))


def _is_vague(name: NameWords) -> bool:
    """Return whether a name has no thing and no verb of its own: `run` executes, which leaves open what happens."""
    parts = name_parts(name.tool)
    verb = next((LEMMAS[part] for part in parts if part in LEMMAS), "")
    is_open = not verb or action_of(verb, is_many=False) in _vague_actions()
    return is_open and words_from("names", "vague").issuperset(part for part in parts if LEMMAS.get(part, part) != verb)


@cache
def _vague_actions() -> frozenset[str]:
    return frozenset(action_of(verb, is_many=False) for verb in VAGUE_VERBS)


def _lead(purpose: Purpose) -> str | None:
    """Part of speech that a name begins with: "noun" or "verb"; None where that cannot be told."""
    name, parts = purpose.name, name_parts(purpose.name.tool)
    if name.verb is None:
        # `search_engine` was found to begin with no verb
        is_open = not parts or parts[0] in words_from("names", "plain_verbs") or _is_said_apart(purpose.sentence, parts)
        return None if is_open else part_of_speech(parts[0])
    if name.verb == parts[0]:
        return "verb"
    # `worker_delete`; `r2_create_bucket` has its verb in the middle, and in `pass_validate` pass may be one
    is_noun = len(parts) == 2 or part_of_speech(parts[0]) == "noun"
    return "noun" if is_noun and name.verb == parts[-1] else None


def _is_said_apart(sentence: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether the text begins with a name's first word, or has the second one some words behind it.

    "Auto-fit the columns", "Takes a snapshot of a volume": in `auto_fit_columns`, `snapshot_volume` it may be a verb.
    """
    words = [stem(word) for word in sentence]
    first, *second = map(stem, parts[:2])
    behind = words[words.index(first) + 1 :] if first in words else []
    return words[:1] == [first] or (second != behind[:1] and not set(second).isdisjoint(behind))


def _off_pattern(purposes: Sequence[Purpose]) -> tuple[str, ...]:
    leads = [(purpose.source.tool, lead) for purpose in purposes if (lead := _lead(purpose))]
    counts = Counter(lead for _, lead in leads)
    if len(leads) < MIN_PATTERN or len(counts) < 2:
        return ()
    # as many begin with a noun as with a verb: the published prompt asks for the verb
    usual = "noun" if counts["noun"] > counts["verb"] else "verb"
    return tuple(tool for tool, lead in leads if lead != usual)


def _empty(purposes: Sequence[Purpose]) -> Iterator[tuple[str, str]]:
    """Tools of which neither name nor description tells what they do, each with the next one."""
    empty = [
        purpose.source.tool for purpose in purposes if _is_vague(purpose.name) and purpose.lead <= _known_of(purpose)
    ]
    return pairwise(dict.fromkeys(empty))


def _known_of(purpose: Purpose) -> frozenset[str]:
    """The words that tell nothing about a tool beyond its name and its parameters: "Processes the input."."""
    parameters = (part for name in purpose.source.parameters for part in name_parts(name))
    idle = words_from("names", "vague") | VAGUE_VERBS
    return stems_of((*name_parts(purpose.name.tool), *parameters, *idle), but=frozenset())


def _style(name: str) -> str:
    """The spelling of a name; a single lower-case word fits every spelling and says nothing."""
    if "_" in name:
        return "snake_case" if name == name.lower() else "mixed"
    if "-" in name:
        return "kebab-case" if name == name.lower() else "mixed"
    if name == name.lower():
        return ""
    return "PascalCase" if name[:1].isupper() else "camelCase"


def _lifecycles(purposes: Sequence[Purpose]) -> tuple[tuple[str, ...], ...]:
    """The tools that create something: which nobody reads, which stays as it is, with a life of its kind, or its own.

    A tool may be about a thing if name or description have its noun, and is if its name's last noun is that one:
    `delete_checklist_item` deletes no checklist. One without a thing of its own, such as `kubectl_get`, may be for all.
    """
    touched: dict[Effect | None, set[str]] = {effect: set() for effect in _LIFECYCLE}
    named: dict[Effect | None, set[str]] = {effect: set() for effect in _LIFECYCLE}
    own_names: dict[Effect | None, set[frozenset[str]]] = {effect: set() for effect in _LIFECYCLE}
    open_words: set[str] = set()
    for purpose in purposes:
        kinds = {purpose.source.prose.name_effect, purpose.source.prose.effect} & touched.keys()
        kinds |= {Effect.READ} if purpose.is_reading else set()
        is_open = not purpose.nouns or not words_of_all().isdisjoint(purpose.nouns)
        words = purpose.words | stems_of(purpose.source.prose.words, but=frozenset())
        for kind in kinds - {Effect.CREATE} if purpose.creates else kinds:
            touched[kind] |= words | ({""} if is_open else set())
            named[kind].add(purpose.head)
        by_name = Effect.READ if purpose.is_reading else purpose.source.prose.name_effect
        own_names.setdefault(by_name, set()).add(purpose.nouns)
        # where an unknown verb speaks of the thing, nothing is known to be missing
        open_words |= words if purpose.effect in (None, Effect.ACT) else set()
    creating = [
        own
        for own in purposes
        # `create_or_update_file` changes as well
        if own.creates and "or" not in own.name.nouns and not own.scope | (own.thing & words_of_all())
    ]

    def is_touched(purpose: Purpose, *effects: Effect) -> bool:
        return any(not {purpose.head, ""}.isdisjoint(touched[effect]) for effect in effects)

    unread = [own for own in creating if not is_touched(own, Effect.READ) and own.head not in open_words]
    fixed = [own for own in creating if not is_touched(own, *_CHANGES) and own.head not in open_words]
    complete = [own for own in creating if all(own.head in named[effect] for effect in (Effect.READ, *_CHANGES))]
    whole = [own for own in complete if all(own.nouns in own_names[effect] for effect in (Effect.READ, *_CHANGES))]
    unchanged = [own for own in fixed if is_touched(own, Effect.READ)]
    return tuple(tuple(own.source.tool for own in group) for group in (unread, unchanged, complete, whole))
