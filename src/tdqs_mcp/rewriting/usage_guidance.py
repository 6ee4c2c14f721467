"""When to use a tool: where to go instead, where its values come from, what its answer is for, what it demands."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.schema.arguments import Choice, Demand
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.vocabulary import LEMMAS, STOPWORDS, Effect, read_table, words_from
from tdqs_mcp.facts.text.wording import purpose
from tdqs_mcp.facts.text.words import is_natural, stem, to_clause
from tdqs_mcp.facts.toolset.names import Label
from tdqs_mcp.facts.toolset.parameter_facts import ValueSource
from tdqs_mcp.rewriting.definition_parts import CatalogContext, Part, listed

MAX_SOURCES = 2
"""Parameters of which one description says where their values come from."""

MAX_TAKERS = 2
"""Tools that one description names as the use of its answer; the others are counted."""


def guidance_parts(subject: Subject, label: Label, near: Sequence[str], context: CatalogContext) -> tuple[Part, ...]:
    """What else to use and when, for a description that names no sibling yet; then the schema's demands."""
    found: list[Part | None] = []
    if not subject.mentions and not any(name in (subject.tool.description or "") for name in near):
        sources = context.origins.get(subject.tool.name, ())[:MAX_SOURCES]
        named = {tool for origin in sources for tool in origin.tools}
        found = [
            _uses(subject, context),
            _alternatives(subject, label, [name for name in near if name not in named], context),
            _sources(sources),
            _look(subject, label, named, context),
        ]
        if not any(found):
            found.append(_undo(subject, label, near, context))
    return tuple(part for part in (*found, _demands(subject)) if part)


def _alternatives(subject: Subject, label: Label, near: Sequence[str], context: CatalogContext) -> Part | None:
    """Where to go instead; a twin that does the same is nowhere to go, and a deletion may be one change too many."""
    if label.effect is Effect.DELETE and not near:
        near = [name for name in context.twins(subject) if context.labels[name].effect is Effect.UPDATE][:1]
    known = ((name, _route(context.subjects[name], context.labels[name], subject, label)) for name in near)
    routes = [(name, *route) for name, route in known if route]
    said = [f"to {words}{'' if place else ' instead'}, use `{name}`" for place, (name, words, _) in enumerate(routes)]
    if not said:
        return None
    return _sentence(f"T{'; '.join(said)[1:]}.", [source for _, _, source in routes])


def _sources(origins: Sequence[ValueSource]) -> Part | None:
    """Where the values of identifying parameters come from: "Look up `board_id` with `list_boards`."."""
    by_tools: dict[tuple[str, ...], list[str]] = {}
    for origin in origins:
        by_tools.setdefault(origin.tools, []).append(origin.parameter)
    said = [f"{listed(names)} with {listed(tools, 'or')}" for tools, names in by_tools.items()]
    if not said:
        return None
    return _sentence(f"Look up {' and '.join(said)}.", [source for origin in origins for source in origin.sources])


def _uses(subject: Subject, context: CatalogContext) -> Part | None:
    """What the answer of a listing is for: the parameter that most siblings take from it, and which they are."""
    takers: dict[str, list[str]] = {}
    for parameter, name in context.takers.get(subject.tool.name, ()):
        takers.setdefault(parameter, []).append(name)
    if not takers:
        return None
    parameter = max(takers, key=lambda each: len(takers[each]))
    names, more = takers[parameter][:MAX_TAKERS], len(takers[parameter]) - MAX_TAKERS
    rest = f" and {more} more tool{'s' if more > 1 else ''}"
    others = f"{', '.join(f'`{name}`' for name in names)}{rest}" if more > 0 else listed(names)
    verb = "takes" if len(names) == 1 else "take"
    sources = ["name", *(f"tool {name}: its parameter {parameter}" for name in names)]
    return _sentence(f"Use it to find the `{parameter}` that {others} {verb}.", sources)


def _look(subject: Subject, label: Label, named: AbstractSet[str], context: CatalogContext) -> Part | None:
    """What shows the thing before it is changed or deleted, called with what this tool is called with."""
    if label.effect not in (Effect.UPDATE, Effect.DELETE) or not label.thing:
        return None
    own = {each.name for each in subject.signals.parameters}
    for name in context.twins(subject):
        required = {each.name for each in context.subjects[name].signals.parameters if each.is_required}
        is_showing = context.labels[name].verb in words_from("rewriting", "showing") and _is_same_thing(
            context.labels[name], label
        )
        if is_showing and required and required <= own and name not in named:
            source = f"tool {name}: its name and its required parameters"
            return _sentence(f"To see the {label.thing} first, use `{name}`.", [source])
    return None


def _undo(subject: Subject, label: Label, near: Sequence[str], context: CatalogContext) -> Part | None:
    """What takes back the thing that this tool makes or turns on: said only where there is nothing to choose."""
    opposites_of: Mapping[str, str] = read_table("rewriting")["opposites"]
    for name in context.twins(subject):
        verb, opposites = (
            context.labels[name].verb,
            (f"un{label.verb}", *opposites_of.get(label.verb or "", "").split()),
        )
        if verb in opposites and name not in near and _is_same_thing(context.labels[name], label):
            return _sentence(f"To {verb} it later, use `{name}`.", [f"tool {name}: its name"])
    return None


def _is_same_thing(one: Label, other: Label) -> bool:
    """The tag of a task and the tasks of a tag share their words, and are two things."""
    return [stem(word) for word in one.thing.split()] == [stem(word) for word in other.thing.split()]


def _sentence(text: str, sources: Sequence[str], *, is_pointer: bool = True) -> Part:
    return Part(path="/description", sources=tuple(dict.fromkeys(sources)), sentence=text, is_pointer=is_pointer)


def _route(sibling: Subject, label: Label, subject: Subject, own: Label) -> tuple[str, str] | None:
    """What a sibling does, in the imperative, and where that comes from; None where that tells the two not apart.

    The words of its name come first: every further word of a sibling makes a search find this tool for that one's sake.
    They come last where the two names differ in number alone, and where they make no phrase.
    """
    said, first = purpose(sibling, label), subject.prose.spoken[0] if subject.prose.spoken else ()
    if said and said == purpose(subject, own):
        return None
    known = {*first, *(LEMMAS.get(word, word) for word in first), *own.phrase.lower().split()} | STOPWORDS
    ways = [(_by_name(label, own), "its name"), (said, "its first sentence")]
    is_same = label.verb == own.verb and label.resource == own.resource
    for words, source in ways if is_natural(label.phrase) and not is_same else reversed(ways):
        if not known.issuperset(words.lower().split()):
            return words, f"tool {label.tool}: {source}"
    return None


def _by_name(label: Label, own: Label) -> str:
    """What a sibling's name says; its verb alone where both names have the same resource and different verbs."""
    if not (label.verb and label.nouns):
        return ""
    is_same = label.nouns == own.nouns and label.verb != own.verb
    is_of_many = not {"list", "search"}.isdisjoint((label.verb, own.verb))
    if is_same and not is_of_many and not label.nouns[-1].endswith("s"):
        is_new = Effect.CREATE in (label.effect, own.effect)
        return f"{label.verb} {'one' if is_new else 'it'}"
    return to_clause(label.phrase)


def _demands(subject: Subject) -> Part | None:
    """Demands of the schema that its list of required parameters does not show."""
    said = set(subject.prose.mentioned_parameters)
    found = [
        choice for choice in arguments.required_choices(subject.tool.input_schema or {}) if not choice.names <= said
    ]
    if not found:
        return None
    return _sentence(" ".join(map(_demand, found)), [choice.path for choice in found], is_pointer=False)


def _demand(choice: Choice) -> str:
    groups = [listed(group) for group in choice.groups]
    if choice.demand is Demand.TOGETHER:
        return f"With {groups[0]}, also give {groups[1]}."
    is_simple = all(len(group) == 1 for group in choice.groups)
    options = listed([group[0] for group in choice.groups]) if is_simple else ", or ".join(groups)
    return f"Give {choice.demand} of {options}." if is_simple else f"Give {choice.demand} of these: {options}."
