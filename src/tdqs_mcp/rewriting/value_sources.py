"""Meaning of a parameter's value, by siblings' words, and which tool gives it."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

from tdqs_mcp.canonical import trim
from tdqs_mcp.facts.lexicon import MAX_TEXT, PatternTable, words_from
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.schema.signals import Parameter
from tdqs_mcp.facts.schema.walk import schema_of
from tdqs_mcp.facts.spelling import is_plain, name_parts, words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.parameter_texts import list_entries
from tdqs_mcp.facts.text.words import (
    LEMMAS,
    PREPOSITIONS,
    STOPWORDS,
    Effect,
    content_stems,
    identifiers_of,
    parts_of,
    stem,
)
from tdqs_mcp.facts.toolset.names import NameWords
from tdqs_mcp.model import Tool
from tdqs_mcp.results.improvements import Route
from tdqs_mcp.rewriting.proposals import Statement, set_value

MAX_BORROWED = 160
"""Characters of a description that may be reused."""

MAX_SHOWN = 2
"""Siblings that a meaning names as its sources."""

_PATTERNS = PatternTable("names")


class Namesake(NamedTuple):
    """A documented parameter."""

    tool: str
    text: str
    schema: Mapping[str, Any]
    """Without its texts."""

    title: object

    is_required: bool

    def is_like(self, schema: Mapping[str, Any], *, is_required: bool) -> bool:
        """Return whether another parameter accepts the same values and may be left out as well."""
        return (self.schema, self.is_required) == (bare_schema(schema), is_required)


Namesakes = Mapping[tuple[str, str], Sequence[Namesake]]
"""By name and type of a parameter: where it is documented."""


def documented_parameters(tools: Iterable[Tool]) -> Namesakes:
    """The parameters whose descriptions may be reused elsewhere."""
    namesakes: dict[tuple[str, str], list[Namesake]] = {}
    for tool in tools:
        required = arguments.required(tool)
        for name, schema in arguments.properties(tool).items():
            description = schema.get("description") if isinstance(schema, dict) else None
            text = trim(description) if isinstance(description, str) else ""
            if text and is_plain(name):
                namesake = Namesake(
                    tool=tool.name,
                    text=text,
                    schema=bare_schema(schema),
                    title=schema.get("title"),
                    is_required=name in required,
                )
                namesakes.setdefault((name, type_of(schema)), []).append(namesake)
    return namesakes


def borrowed_statements(measured: Measured) -> dict[str, list[Statement]]:
    """Return, by tool, siblings' words for parameters that nothing describes.

    The words stand in all tools that leave a parameter of this name and type open, or in none: where one of them
    cannot take them, they may not hold for the others either.
    """
    subjects = [subject for subject in measured.subjects if not subject.is_duplicate and subject.withdrawal is None]
    namesakes = documented_parameters(subject.tool for subject in subjects if subject.is_quotable)
    borrowed = {subject.tool.name: _borrow(subject.tool, namesakes) for subject in subjects}
    texts: dict[tuple[str, str], set[object]] = {}
    for subject in subjects:
        for name, schema in arguments.properties(subject.tool).items():
            if isinstance(schema, dict) and not schema.get("description"):
                statement = borrowed[subject.tool.name].get(name)
                texts.setdefault((name, type_of(schema)), set()).add(statement and statement.value)
    return {
        subject.tool.name: [
            statement
            for name, statement in borrowed[subject.tool.name].items()
            if len(texts[name, type_of(arguments.properties(subject.tool)[name])]) == 1
        ]
        for subject in subjects
    }


def _borrow(tool: Tool, namesakes: Namesakes) -> dict[str, Statement]:
    """A text for each parameter, by its name, that is described neither in the schema nor in the description."""
    text = tool.description or ""
    if len(text) > MAX_TEXT:
        return {}
    entries = {entry.name for entry in list_entries(text)}
    open_ones = (
        (name, schema)
        for name, schema in arguments.properties(tool).items()
        if isinstance(schema, dict) and name not in entries and is_plain(name) and not schema.get("description")
    )
    return {name: meaning for name, schema in open_ones if (meaning := _namesake(tool, name, schema, namesakes))}


def _namesake(tool: Tool, name: str, schema: Mapping[str, Any], namesake_index: Namesakes) -> Statement | None:
    """Return what most siblings say of the parameter, where nothing in it is about them alone."""
    title = schema.get("title")  # two titles are two meanings: a station's id and its name
    namesakes = [
        group
        for group in namesake_index.get((name, type_of(schema)), ())
        if group.tool != tool.name and title in (None, group.title)
    ]
    by_text: dict[str, list[Namesake]] = {}
    for namesake in namesakes:
        by_text.setdefault(namesake.text, []).append(namesake)
    is_word = len(name_parts(name)) == 1  # `name` and `path` differ from tool to tool
    if is_word and [len(group) > 1 for group in by_text.values()] != [True]:
        return None
    is_required = name in arguments.required(tool)
    fit = [
        text
        for text, group in by_text.items()
        if 2 * len(group) > len(namesakes)
        and len(text) <= MAX_BORROWED
        and text.isprintable()
        and text.isascii() >= (tool.description or "").isascii()
        and not content_stems(words_of(text)) <= content_stems((*name_parts(tool.name), *name_parts(name)))
        and not any(str(value).lower() in map(str.lower, words_of(text)) for value in schema.get("enum") or ())
        and not _is_about_others(text, group, tool, name)
        and (
            not _PATTERNS.bound.search(text)
            or (
                len(by_text) == 1 < len(group)
                and all(member.is_like(schema, is_required=is_required) for member in group)
            )
        )
    ]
    if not fit:
        return None
    (text,) = fit
    sources = [f"tool {group.tool}: its parameter {name}" for group in by_text[text][:MAX_SHOWN]]
    return set_value(f"{arguments.property_pointer(name)}/description", text, Route.NAMESAKE, sources)


def _is_about_others(text: str, namesakes: Sequence[Namesake], tool: Tool, name: str) -> bool:
    """It has a word of their names that this tool's name has not, tells what they do, or names what this one lacks."""
    own = {stem(part) for part in (*name_parts(tool.name), *name_parts(name))}
    stems = {stem(part) for word in words_of(text) for part in parts_of(word)}
    namesake_words = [{stem(part) for part in name_parts(namesake.tool)} for namesake in namesakes]
    actions = {stem(word) for word in (*words_of(text)[:1], *_PATTERNS.purpose.findall(text.lower())) if word in LEMMAS}
    names = {label.lower() for label in (*arguments.properties(tool), tool.name)}
    named = identifiers_of(text) | {word.lower() for word in _PATTERNS.mixed_case.findall(text)}
    is_phrase = words_of(text)[:1] and words_of(text)[0] not in PREPOSITIONS
    return bool((set.intersection(*namesake_words) & stems | actions) - own) or not (named <= names and is_phrase)


def bare_schema(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema without its texts."""
    return {key: value for key, value in schema.items() if key not in ("description", "title", "examples")}


def type_of(schema: object) -> str:
    """The type of a parameter, without null."""
    if not isinstance(schema, dict):
        return ""
    branches = schema.get("anyOf") if isinstance(schema.get("anyOf"), list) else [schema]
    kinds = [
        branch.get("type") for branch in branches or () if isinstance(branch, dict) and branch.get("type") != "null"
    ]
    return kinds[0] if len(kinds) == 1 and isinstance(kinds[0], str) else ""


_words = partial(words_from, "names")

MAX_LISTERS = 40
"""Tools that list things with the same last word; the first of them are enough."""


class ValueSource(NamedTuple):
    """Which sibling returns the value of a parameter."""

    parameter: str
    tools: tuple[str, ...]
    """One or two tools: a list and a search, or two scopes."""


class _Lister(NamedTuple):
    """A tool that lists things."""

    things: frozenset[str]
    verb: str
    is_scoped: bool
    needs: int
    """Parameters that each call gives."""

    subject: Subject


class ValueSources:
    """Finds the tool that returns a value. Indexed by thing and by field, so all tools take linear time."""

    def __init__(self, subjects: Iterable[Subject], labels: Mapping[str, NameWords]) -> None:
        self._labels = labels
        self._names = {name for name in labels if not (name.isalpha() and name.islower())}  # `search` is a word
        self._listers: dict[str, list[_Lister]] = {}
        for subject in subjects:
            if not is_plain(subject.tool.name) or subject.is_duplicate:
                continue
            label = labels[subject.tool.name]
            listed = _listed(label) or _listed_by_text(subject, label)
            if listed:
                # It lists the things of something else: `get_tags_for_task`.
                is_scoped = any(word.lower() in _words("scopes") for word in label.nouns)
                needs = subject.signals.required_param_count
                lister = _Lister(frozenset(listed), label.verb or "list", is_scoped, needs, subject)
                self._listers.setdefault(listed[-1], []).append(lister)

    def of(self, subject: Subject) -> tuple[ValueSource, ...]:
        """Return where each parameter's value comes from, required ones first.

        Of a `run_id` and a `run_uuid` that one tool might give, it is the first.
        """
        ordered = sorted(subject.signals.parameters, key=lambda parameter: not parameter.is_required)
        needed = (item for item in ordered if is_plain(item.name) and self._is_needed(subject, item))
        sources = [ValueSource(item.name, tools) for item in needed if (tools := self._listing(subject, item))]
        first = {(origin.tools, name_parts(origin.parameter)[:-1]): origin for origin in reversed(sources)}
        return tuple(origin for origin in sources if origin in first.values())

    def is_whole(self, subject: Subject, origins: Iterable[ValueSource]) -> bool:
        """Return whether origins explain every identifier that a call needs: half a lookup leaves the caller stuck."""
        explained = {origin.parameter for origin in origins}
        return not any(
            self._is_needed(subject, parameter) and self._is_found_elsewhere(subject, parameter)
            for parameter in subject.signals.parameters
            if parameter.name not in explained
        )

    def _is_needed(self, subject: Subject, parameter: Parameter) -> bool:
        """Return whether a call needs the parameter, and no text says where its value comes from.

        The caller chooses it, or a sentence of the definition speaks of it: "Requires a user-provided `run_id`."
        """
        named = _PATTERNS.spelled_name.findall(parameter.description)
        if _PATTERNS.chosen.search(parameter.description) or not self._names.isdisjoint(named):
            return False
        schema = schema_of(arguments.properties(subject.tool).get(parameter.name))
        if not parameter.is_required or "enum" in schema or schema.get("default") is not None:
            return False
        if parameter.name.isalpha() and parameter.name.islower():
            return True  # `customer` is a word of the sentence
        spoken = [sentence for sentence in subject.prose.sentences if not _PATTERNS.entry.match(sentence)]
        in_sentences = (set(_PATTERNS.spelled_name.findall(sentence)) for sentence in spoken)
        return not any(parameter.name in names and names.isdisjoint(self._names) for names in in_sentences)

    def _is_found_elsewhere(self, subject: Subject, parameter: Parameter) -> bool:
        """Return whether the parameter identifies what is there already: a `thread_ts`, the `member_id` of a card."""
        label, words = self._labels[subject.tool.name], name_parts(parameter.name)
        if words[-1:] == () or words[-1] not in _words("identifiers") | _words("positions"):
            return False
        is_made = _is_making(label) and _keys(words[:-1]) <= _keys(label.thing.lower().split())
        return bool(_thing(parameter, label)) or not (is_made or words[-1] in _words("weak_identifiers"))

    def _listing(self, subject: Subject, parameter: Parameter) -> tuple[str, ...]:
        """The tool that lists just this thing with the least input, and one that searches it or has another scope.

        None where both a project's milestones and a group's are listed, and the tool is about a group's: a name does
        not tell whose are whose.
        """
        label = self._labels[subject.tool.name]
        thing, own = _thing(parameter, label), _keys(label.resource)
        last = name_parts(parameter.name)[-1:]
        # it does not identify a thing by its name's last word alone
        is_weak = not last or last[0] not in _words("identifiers") - _words("weak_identifiers")
        if is_weak and last == ("url",) and label.verb in _words("setting_verbs"):
            return ()  # the address is what is set
        words = label.thing.lower().split()
        if words[-1:] and words[-1] in _words("identifiers") and _keys(words[:-1]) == thing:
            return ()  # `get_queue_url` turns one identifier into another: the list that gives one gives both
        is_loose = label.effect in (Effect.READ, Effect.UPDATE, Effect.DELETE)
        # Of a `session_id`, "the search session": another one than that which is listed.
        foreign = (_said_thing(parameter) - thing) & own if thing < _said_thing(parameter) else frozenset[str]()
        # What is listed after the action: `download_paper` does not need a downloaded paper.
        participles = {f"{label.verb}ed", f"{label.verb}d"} if label.verb else frozenset()
        ranked = sorted(
            # `get_price_list` has one list of prices, `list_prices` all of them.
            (
                len(lister.things - thing),
                lister.is_scoped,
                lister.verb not in _BOTH_WAYS,
                lister.needs,
                lister.subject.tool.index,
                lister,
            )
            for word in sorted(thing)
            for lister in self._listers.get(word, ())[:MAX_LISTERS]
            if thing <= lister.things
            and lister.things - thing <= (frozenset() if label.verb == "add" else own)  # not what is in there already
            and (is_loose or not lister.is_scoped)
            and (not is_weak or lister.verb == "list" or (lister.verb != "search" and not lister.needs))
            and foreign <= lister.things
            and participles.isdisjoint(lister.subject.prose.spoken[0] if lister.subject.prose.spoken else ())
            and lister.subject is not subject
            and not _takes(lister.subject, parameter)
        )
        if ranked and ranked[-1][0] and not ranked[0][0]:
            return ()
        fit = [lister for *rank, lister in ranked if rank[:2] == list(ranked[0][:2])]
        first = (
            fit[:1] + [lister for lister in fit[1:] if lister.is_scoped or {lister.verb, fit[0].verb} == _BOTH_WAYS][:1]
        )
        return tuple(lister.subject.tool.name for lister in first)


_BOTH_WAYS = frozenset({"list", "search"})


def is_identifier(name: str) -> bool:
    """Return whether a parameter's name says that it identifies a thing: `board_id`, not `board`."""
    return not _words("identifiers").isdisjoint(name_parts(name)[-1:])


def singular(word: str) -> str:
    """A noun without its ending, so that one and many are equal: category and categories, branch and branches."""
    is_many = len(word) > 3 and word.endswith("s") and not word.endswith("ss")
    bare = (word[:-1] if is_many else word).removesuffix("e")
    return f"{bare[:-1]}i" if bare.endswith("y") else bare


def _keys(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(singular, words))


def _listed_by_text(subject: Subject, label: NameWords) -> tuple[str, ...]:
    """The things that the first sentence lists, where the name has none: `airbnb_search`, "Search Airbnb listings"."""
    spoken = subject.prose.spoken[0] if subject.prose.spoken else ()
    verb = LEMMAS.get(spoken[0], "") if spoken else ""
    if verb not in ("list", "search") or (label.verb and label.resource):
        return ()
    behind = spoken[2:] if spoken[1:2] == ["for"] else spoken[1:]
    thing = list(takewhile(lambda word: word not in PREPOSITIONS, behind))
    if not thing or not thing[-1].endswith("s") or not all(map(is_plain, thing)):
        return ()
    return tuple(dict.fromkeys(singular(word) for word in thing if word not in STOPWORDS | _words("everything")))


def _listed(label: NameWords) -> tuple[str, ...]:
    """The words, in stems, of the things that a tool lists: `list_open_issues`, `issue_list`, `get_users`."""
    words = [word.lower() for word in label.nouns]
    if "list" in words and label.effect is Effect.READ and (label.verb is None or words[-1] == "list"):
        place = words.index("list")
        words = [*words[:place], *words[place + 1 :]]
    elif label.verb not in _words("listing_verbs") or not (label.verb in ("list", "search") or _is_plural(label)):
        return ()
    end = next((place for place, word in enumerate(words) if word in _words("scopes")), len(words))
    return tuple(
        dict.fromkeys(
            singular(word) for word in words[:end] if word not in STOPWORDS and word not in _words("everything")
        )
    )


def _is_plural(label: NameWords) -> bool:
    last = label.thing.lower().split()[-1:]
    return bool(last) and last[0].endswith("s") and stem(last[0]) != last[0]


def _thing(parameter: Parameter, label: NameWords) -> frozenset[str]:
    """The stems of what a parameter identifies; of the tool's own thing where it says no more than `id`.

    Nothing where it is new: the `event_id` that `create_event` may be given, the `connection_name` of `connect`.
    """
    words = name_parts(parameter.name)
    *rest, kind = words or ("",)
    if kind not in _words("identifiers"):
        return _described_thing(words, parameter, label)
    if kind in _words("weak_identifiers") and _words("no_resources") & set(rest):
        return frozenset()
    own = _keys(label.thing.lower().split())
    rest = [word for word in rest if word not in _words("roles")]
    if not rest:
        is_there = label.effect in (Effect.READ, Effect.UPDATE, Effect.DELETE) and not _listed(label)
        return (
            (own if kind not in _words("weak_identifiers") else _described_thing((), parameter, label))
            if is_there
            else frozenset()
        )
    thing = _keys(rest)
    if kind in _words("weak_identifiers") and thing <= _keys(_words("generic_things")):
        return frozenset()
    is_joined = label.verb == "add" and not _words("scopes").isdisjoint(map(str.lower, label.nouns))
    is_made = _is_making(label) and thing <= own and not is_joined
    is_named = (
        kind in _words("weak_identifiers")
        and label.verb is not None
        and any(word.startswith(label.verb) for word in rest)
    )
    return frozenset() if is_made or is_named else thing


def _said_thing(parameter: Parameter) -> frozenset[str]:
    match = _PATTERNS.identifies.match(parameter.description)
    words = [word.lower() for word in (match[1] or match[2] or "").split()] if match else []
    is_made = not _words("no_resources").isdisjoint(words)
    return frozenset() if is_made else _keys(word for word in words if word not in STOPWORDS)


def _is_making(label: NameWords) -> bool:
    return label.effect in (Effect.CREATE, Effect.PRODUCE) or label.verb in _words("opening_verbs")


def _described_thing(words: Sequence[str], parameter: Parameter, label: NameWords) -> frozenset[str]:
    """Return what a parameter identifies by its own text: `database`, "Database name"; `name`, "Name of the index".

    Nothing where the tool makes it, or where the text speaks of another thing than the parameter's name.
    """
    thing = _said_thing(parameter)
    own = _keys(label.thing.lower().split())
    is_same = not words or thing == _keys(words)
    is_made = _is_making(label) and thing <= own
    is_silent = (
        not thing or thing <= _keys(_words("generic_things")) or not _keys(_words("no_resources")).isdisjoint(thing)
    )
    return thing if is_same and not is_made and not is_silent else frozenset()


def _takes(subject: Subject, parameter: Parameter) -> bool:
    """Return whether a tool has such a parameter or needs a list of such values: `get_genes` takes `gene_ids`."""
    name = singular(parameter.name)
    return any(
        own.name == parameter.name or (own.is_required and singular(own.name) == name)
        for own in subject.signals.parameters
    )
