"""Reads tools' names: verb, resource and similar names. Linear in the number of tools."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from tdqs_mcp.facts.lexicon import MAX_EXPLANATION, MAX_TEXT, lazy_pattern, words_from
from tdqs_mcp.facts.schema.walk import Shape
from tdqs_mcp.facts.spelling import MAX_PLAIN_NAME, is_plain, name_parts
from tdqs_mcp.facts.text.words import PREPOSITIONS, STOPWORDS, Effect, effect_of, shared_prefix, stem

_words = partial(words_from, "names")

MAX_CROWD = 12
"""Tools that may share a word; a word that more tools share is ignored."""

HALF, THIRD = 50, 33
"""Percent of their words that two similar names share: with different verbs, and with the same verb."""

BY_VERB = 25
"""Percentage points for the same verb."""

_AGAIN = lazy_pattern(r"^(?:re|un)(?=\w{3})")
_WORDS = lazy_pattern(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+(?:\d+(?:[a-z]{1,2}(?![a-z]))?)?|\d+[a-z]*")
_VERSION = lazy_pattern(r"v?\d+")

_WRITES = (Effect.CREATE, Effect.UPDATE, Effect.ACT)


class NameWords(NamedTuple):
    """A tool's name, read as words; a prefix that most names share, such as a product's, is not part of it."""

    tool: str
    verb: str | None
    """The verb at the name's start, at its end (`worker_delete`) or behind a product's name (`r2_create_bucket`);
    None where it could as well be a noun."""

    nouns: tuple[str, ...]
    """The other words, in order."""

    effect: Effect | None
    """Effect of the verb; without one, of the first verb anywhere in the name."""

    @property
    def phrase(self) -> str:
        """The words with the verb first, versions left out: `worker_v2_delete` -> delete worker."""
        words = (self.verb, *self.nouns) if self.verb else self.nouns
        return " ".join(word for word in words if not _VERSION.fullmatch(word))

    @property
    def thing(self) -> str:
        """The nouns up to a preposition: `add_tag_to_task` -> tag."""
        end = next((place for place, word in enumerate(self.nouns) if word in PREPOSITIONS), len(self.nouns))
        return " ".join(self.nouns[:end])

    @property
    def resource(self) -> tuple[str, ...]:
        """The specific nouns, singular."""
        words = [word for word in map(str.lower, self.nouns) if not word.isdigit()]
        silent = STOPWORDS | _words("quantities")
        return tuple(dict.fromkeys(stem(word) for word in words if word not in silent))


def read_names(names: Iterable[str], openings: Mapping[str, str | None] | None = None) -> dict[str, NameWords]:
    """The labels of a catalog's names; `openings` are the verbs that the tools' descriptions open with, by name.

    Such a verb at the start of the name is one, whatever else the word can be: `merge_table_cells`, "Merges cells".
    """
    parts = {name: _split_name(name) for name in names}
    prefix = shared_prefix(list(parts.values()))
    return {name: _label(name, words, prefix, (openings or {}).get(name)) for name, words in parts.items()}


def _split_name(name: str) -> tuple[str, ...]:
    """The words of a name as people write them: an acronym keeps its capitals, a number its letters: `mp3s`, `i18n`."""
    words = _WORDS.findall(name[:MAX_PLAIN_NAME])
    is_shouted = name.isupper()
    return tuple(word if len(word) > 1 and word.isupper() and not is_shouted else word.lower() for word in words)


def _label(name: str, words: Sequence[str], prefix: str, opening: str | None) -> NameWords:
    own = tuple(words[1:] if prefix and len(words) > 1 and words[0] == prefix else words)
    effect = next((effect for word in own if (effect := effect_of(word))), None)
    # `recreate_index`: create is a verb, so recreate is one
    plain = _AGAIN.sub("", own[0]) if own else ""
    is_verb = bool(own) and (own[0] == opening or not _words("plain_verbs").isdisjoint((own[0], plain)))
    # Two nouns of which the first is a verb elsewhere: `search_results`.
    is_compound = len(own) > 1 and own[0] == "search" and own[1] in _words("after_search")
    if is_verb and not is_compound:
        return NameWords(tool=name, verb=own[0], nouns=own[1:], effect=effect or effect_of(plain))
    # `worker_delete`, but not `files_to_delete`
    is_at_end = len(own) > 1 and _is_verb(own[-1], except_for="final_nouns") and own[-2] not in PREPOSITIONS
    if is_at_end and _words("plain_verbs").isdisjoint(own[:-1]):
        return NameWords(tool=name, verb=own[-1], nouns=own[:-1], effect=effect_of(own[-1]) or effect)
    # `r2_create_bucket`
    if len(own) > 2 and _is_verb(own[1], except_for="inner_nouns"):
        return NameWords(tool=name, verb=own[1], nouns=(own[0], *own[2:]), effect=effect_of(own[1]) or effect)
    return NameWords(tool=name, verb=None, nouns=own, effect=effect)


def _is_verb(word: str, *, except_for: str) -> bool:
    return word in _words("plain_verbs") and word not in _words(except_for)


def part_of_speech(word: str) -> str | None:
    """Return "noun" or "verb" for a name's word that is nothing else; None for one that can be both, or is unknown.

    `screen_stocks` may screen stocks, and `rebase` stands in no dictionary.
    """
    if word in _words("plain_verbs") or word in words_from("parts_of_speech", "verbs"):
        return "verb"
    nouns = words_from("parts_of_speech", "nouns")
    return "noun" if effect_of(word) is None and (word in nouns or stem(word) in nouns) else None


def nearest_names(names: Iterable[str]) -> Callable[[str], str | None]:
    """Return a function that finds the most similar other name; None for a name that several tools have."""
    unique = {name for name, count in Counter(names).items() if count == 1}
    neighbors = NameNeighbors(read_names(sorted(unique)))
    return lambda name: next(iter(neighbors.nearest(name, 1)), None) if name in unique else None


class NameNeighbors:
    """Finds similar names. Indexed by resource and by word, so that asking for every name stays linear."""

    def __init__(self, labels: Mapping[str, NameWords]) -> None:
        self._labels = labels
        self._names = tuple(labels)
        self._places = {name: place for place, name in enumerate(labels)}
        self._crowds: dict[tuple[str, ...], list[str]] = {}
        for name, label in labels.items():
            if is_plain(name):
                for key in _keys(label):
                    self._crowds.setdefault(key, []).append(name)

    def nearest(self, name: str, count: int) -> tuple[str, ...]:
        """Names with the same kind of effect and most of the same resource; the nearest first."""
        own = self._labels[name]
        crowds = [self._crowds.get(key, ()) for key in _keys(own)]
        siblings = {other for crowd in crowds if len(crowd) <= MAX_CROWD for other in crowd if other != name}
        ranked = sorted(
            (-nearness, self._places[other]) for other in siblings if (nearness := self._nearness(own, other))
        )
        return tuple(self._names[place] for _, place in ranked[:count])

    def _nearness(self, own: NameWords, name: str) -> int:
        """Percent of their resource words that two names share, and BY_VERB for the same verb; 0 if too few.

        Another verb must be about the same thing: `add_task_to_section` is not an alternative to `create_section`. The
        same verb needs less where it tells much, or where it changes a thing of the same kind.
        """
        other = self._labels[name]
        if _kind(own.effect) != _kind(other.effect):
            return 0
        own_words, other_words = set(own.resource), set(other.resource)
        shared = 100 * len(own_words & other_words) // max(1, len(own_words | other_words))
        things = sorted((label.thing.lower().split() for label in (own, other)), key=len)
        if own.verb != other.verb:
            is_about_same = not set(map(stem, things[0])).isdisjoint(map(stem, things[1]))
            return shared if shared >= HALF and is_about_same else 0
        # `list_orders` and `list_orders_archive`: one thing begins with the other
        is_variant = bool(things[0]) and things[1][: len(things[0])] == things[0]
        is_of_kind = own.effect is not Effect.READ and things[0][-1:] == things[1][-1:]
        is_telling = own.verb is not None and (own.verb not in _words("common_verbs") or is_of_kind)
        is_near = is_variant or shared >= (THIRD if is_telling else HALF)
        return shared + BY_VERB if is_near else 0


def _keys(label: NameWords) -> set[tuple[str, ...]]:
    resource = label.resource
    return {tuple(sorted(resource)), *((word,) for word in resource)} if resource else set()


def _kind(effect: Effect | None) -> Effect | None:
    """Creating, updating and running count as one kind; an agent often chooses among them."""
    return Effect.CREATE if effect in _WRITES else effect


class Mention(NamedTuple):
    """A name in a text that does not exist in the catalog."""

    name: str
    path: str
    """JSON pointer of the text inside the definition."""

    words: str
    """The name with the words around it."""


class KnownNames(NamedTuple):
    """All names that exist in a catalog."""

    tools: frozenset[str]
    """Names of tools, folded."""

    words: frozenset[str]
    """Names of parameters and results, members of enumerations, the server's own names; folded."""

    shapes: frozenset[tuple[str, str]]
    """How the tools' names are spelled and how they begin."""

    nouns: frozenset[str]
    """Words of the tools' names that are not verbs."""

    styles: frozenset[str]
    server: str
    """The server's name, folded."""

    prefix: str
    """The word that most names begin with, folded: texts often leave it out."""


def fold(name: str) -> str:
    """A name in lower case without `_` and `-`, so that spellings compare equal."""
    return name.lower().replace("_", "").replace("-", "")


def style(name: str) -> str:
    """How a name is spelled: with `_`, with `-`, or in camel case."""
    if "_" in name:
        return "_"
    return "-" if "-" in name else "Aa" if name[:1].isupper() else "a"


def known_names(names: Sequence[str], shapes: Sequence[Shape], server: str) -> KnownNames:
    """The names of a catalog, collected once."""
    words: set[str] = set()
    for shape in shapes:
        words |= shape.names
        listed = [node.schema["enum"] for node in shape.by_keyword.get("enum", ())]
        values = [value for enum in listed if isinstance(enum, list) for value in enum]
        values += [node.schema["const"] for node in shape.by_keyword.get("const", ())]
        words.update(value for value in values if isinstance(value, str))
    parts = [name_parts(name) for name in names]
    shapes_ = frozenset((style(name), part[0]) for name, part in zip(names, parts, strict=True) if len(part) > 1)
    return KnownNames(
        tools=frozenset(map(fold, names)),
        words=frozenset(map(fold, words)) | {fold(server)},
        shapes=shapes_,
        styles=frozenset(style for style, _ in shapes_),
        nouns=frozenset(word for part in parts for word in part[1:]),
        server=fold(server),
        prefix=shared_prefix(parts),
    )


def texts_of(description: str | None, shape: Shape) -> tuple[tuple[str, str], ...]:
    """The texts of a definition, each with its JSON pointer."""
    own = [("/description", description[:MAX_TEXT])] if description else []
    inner = ((node.path, node.schema["description"]) for node in shape.by_keyword.get("description", ()))
    texts = [(f"{path}/description", text[:MAX_EXPLANATION]) for path, text in inner if isinstance(text, str) and text]
    return (*own, *texts)
