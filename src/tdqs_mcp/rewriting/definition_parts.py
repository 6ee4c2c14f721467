"""The parts of a better definition, and what the whole catalog says about each tool."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from tdqs_mcp.facts.schema import arguments, tokens
from tdqs_mcp.facts.schema.arguments import Choice, Demand
from tdqs_mcp.facts.schema.signals import Parameter
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.statements import closed_value_lists
from tdqs_mcp.facts.text.vocabulary import LEMMAS, STOPWORDS, Cue, Effect, read_table, words_from
from tdqs_mcp.facts.text.wording import (
    copied_spans,
    is_in_other_language,
    lead_in_length,
    purpose,
    repeated_spans,
    says_read_only,
)
from tdqs_mcp.facts.text.words import is_natural, is_plain, name_parts, spell_acronyms, stem, to_clause
from tdqs_mcp.facts.toolset import names
from tdqs_mcp.facts.toolset.names import Label, NameNeighbors
from tdqs_mcp.facts.toolset.parameter_meanings import Agreed, agreed_descriptions, infer_meanings
from tdqs_mcp.facts.toolset.value_sources import ValueSource, ValueSources, unstated_sources
from tdqs_mcp.results.improvements import Route
from tdqs_mcp.rewriting.statements import COMPONENTS, Splice, Statement, add_sentence, set_value

MAX_SIBLINGS = 2
"""Siblings that one description points to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogContext:
    """What the parts of one tool need to know about the others."""

    subjects: Mapping[str, Subject]
    """By name, without those that others must not point to: a name that two tools carry points nowhere, and a
    definition that tries to steer its reader gets no readers from here."""

    labels: Mapping[str, Label]
    neighbours: NameNeighbors
    origins: Mapping[str, Sequence[ValueSource]]
    """By tool: which siblings give the values of its parameters, but for what its own texts say."""

    takers: Mapping[str, Sequence[tuple[str, str]]]
    """By tool: the parameters whose values it gives, each with the tool that takes it."""

    agreed: Agreed
    """What all siblings say alike about a parameter."""

    is_third_person: bool
    """Most first sentences say "Lists", not "List"."""

    is_foreign: bool
    """Most descriptions are in another language than English."""

    @classmethod
    def of(cls, measured: Measured) -> "CatalogContext":
        """The context of a catalog, read once for all its tools."""
        openings = {each.tool.name: each.prose.verb for each in measured.subjects if each.prose.opens_with_verb}
        labels = names.read_names((subject.tool.name for subject in measured.subjects), openings)
        unique = {subject.tool.name: subject for subject in measured.subjects if subject.is_quotable}
        foreign = sum(map(is_in_other_language, measured.subjects))
        described = sum(not subject.signals.is_missing_description for subject in measured.subjects)
        plain = [subject for subject in measured.subjects if not is_in_other_language(subject)]
        proses = [subject.prose for subject in plain if subject.prose.opens_with_verb]
        leads = [next(word for word in prose.words if LEMMAS.get(word) == prose.verb) for prose in proses]
        known = ValueSources(unique.values(), labels)
        origins = {name: known.of(subject) for name, subject in unique.items()}
        takers: dict[str, list[tuple[str, str]]] = {}
        for name, found in origins.items():
            for origin in found:
                for tool in origin.tools:
                    takers.setdefault(tool, []).append((origin.parameter, name))
        return cls(
            subjects=unique,
            labels=labels,
            neighbours=NameNeighbors({name: labels[name] for name in unique}),
            origins={name: unstated_sources(unique[name], found) for name, found in origins.items()},
            takers=takers,
            agreed=agreed_descriptions(each.tool for each in unique.values()),
            is_third_person=2 * sum(word.endswith("s") and LEMMAS.get(word) != word for word in leads) > len(leads),
            is_foreign=2 * foreign > described,
        )

    def knows(self, subject: Subject) -> bool:
        """Whether other definitions may point to this tool, and it to others."""
        return self.subjects.get(subject.tool.name) is subject

    def near(self, subject: Subject) -> tuple[str, ...]:
        """The siblings that an agent could take for this tool."""
        return self.neighbours.nearest(subject.tool.name, MAX_SIBLINGS) if self.knows(subject) else ()

    def twins(self, subject: Subject) -> tuple[str, ...]:
        """The siblings that do something else with just the same resource."""
        return self.neighbours.twins(subject.tool.name) if self.knows(subject) else ()


def tokens_added(subject: Subject, definition: Mapping[str, Any]) -> int:
    """Tokens that a definition has more than the tool's own."""
    return tokens.definition_tokens(definition) - tokens.definition_tokens(subject.tool.raw)


def listed(names: Sequence[str], joint: str = "and") -> str:
    """Backticked names: "`a`, `b` and `c`"."""
    marked = [f"`{name}`" for name in names]
    return f" {joint} ".join(part for part in (", ".join(marked[:-1]), marked[-1]) if part)


MAX_GIVEN = 4
"""Parameters that a first sentence can carry."""


def first_sentence(subject: Subject, label: Label, *, is_third_person: bool) -> Statement | None:
    """The first sentence: composed where there is none, completed where it only restates the name, else kept.

    A lead-in such as "This tool allows you to" goes in any case.
    """
    given, parameters = _given(subject, label)
    if subject.signals.is_missing_description:
        return _first_purpose(label, given, parameters, is_third_person=is_third_person)
    prose = subject.prose
    old = prose.sentences[0]
    skipped = lead_in_length(old)
    new = old[skipped:][:1].upper() + old[skipped + 1 :] if skipped else old
    is_empty = prose.restates_loosely or prose.is_only_name or subject.signals.restates_name
    sources = ["description: its first sentence"]
    if is_empty and given and new.split(" ", 1)[0].lower() in LEMMAS:
        new = f"{new.rstrip('.! ')} {given}."
        sources += parameters
    if new == old:
        return None
    start = (subject.tool.description or "").index(old)
    splice = Splice(start=start, end=start + len(old), text=new)
    return _respliced(Route.PURPOSE, sources, [splice])


def _first_purpose(label: Label, given: str, parameters: Sequence[str], *, is_third_person: bool) -> Statement | None:
    """None where the schema says no more than the name: a tautology would only hide the gap."""
    if not (label.verb and label.nouns and given and is_plain(label.tool)):
        return None
    verb = _third_person(label.verb) if is_third_person else label.verb
    return add_sentence(f"{verb.capitalize()} {' '.join(label.nouns)} {given}.", Route.PURPOSE, ["name", *parameters])


def _given(subject: Subject, label: Label) -> tuple[str, list[str]]:
    """What identifies or makes the resource, from the required parameters: "by `issue_id` for the given `repo`"."""
    required = [each for each in subject.signals.parameters if each.is_required and is_plain(each.name)]
    if not 0 < len(required) <= MAX_GIVEN or any(each.name in subject.prose.mentioned_parameters for each in required):
        return "", []
    own = [each.name for each in required if _identifies(each, label)]
    others = [each.name for each in required if each.name not in own]
    scopes = [name for name in others if words_from("rewriting", "identifiers") & set(name_parts(name)[1:][-1:])]
    rest = [name for name in others if name not in scopes]
    said = {stem(word) for words in subject.prose.spoken[:1] for word in words}
    foreign = [name for name in scopes if not said.issuperset(map(stem, name_parts(name)[:-1]))]
    groups = (("by", own), ("with", rest), ("for the given", foreign))
    used = [f"/inputSchema/required: {name}" for _, group in groups for name in group]
    return " ".join(f"{word} {listed(group)}" for word, group in groups if group), used


def _identifies(parameter: Parameter, label: Label) -> bool:
    """`issue_id`, or plain `id`, of an issue that is there already."""
    *thing, kind = name_parts(parameter.name) or ("",)
    if label.effect in (Effect.CREATE, Effect.PRODUCE) or kind not in words_from("rewriting", "identifiers"):
        return False
    return set(map(stem, thing)) <= set(map(stem, label.thing.lower().split()[-1:]))


def title(subject: Subject, label: Label) -> Statement | None:
    """The name's words, for people; clients fall back to the annotations' title and then to the bare name."""
    raw = subject.tool.raw
    annotations = raw.get("annotations")
    is_titled = raw.get("title") is not None or (isinstance(annotations, Mapping) and annotations.get("title"))
    is_clear = is_plain(label.tool) and (label.verb or words_from("names", "plain_verbs").isdisjoint(label.nouns))
    if is_titled or not is_clear or len(label.phrase.split()) < 2:
        return None
    words = spell_acronyms(label.phrase)
    return set_value("/title", words[:1].upper() + words[1:], Route.TITLE, ["name"])


def cut(subject: Subject) -> Statement | None:
    """Cuts what is said twice, or word for word in the schema."""
    spans = [(*span, "description: said twice") for span in repeated_spans(subject)]
    spans += [(*span, "/inputSchema/properties: said there") for span in copied_spans(subject)]
    if not spans:
        return None
    text, splices = subject.tool.description or "", []
    for start, end, _ in sorted(spans):
        before = text[:start].rstrip(" \t")
        is_line = before.endswith("\n") and text[end : end + 1] in ("", "\n")  # a whole line goes with its line break
        splices.append(Splice(start=len(before) - is_line, end=end))
    sources = tuple(dict.fromkeys(source for _, _, source in spans))
    return _respliced(Route.CUT, sources, splices)


def _third_person(verb: str) -> str:
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2] not in "aeiou" else f"{verb}s"


MAX_FIELDS = 6
"""Fields of an answer that one sentence names; the others are counted."""


def read_only(subject: Subject) -> Statement | None:
    """The only hint that text supports: the author's own plain statement, where there is no hint.

    A verb is not enough; `get_token` may well issue a new one.
    """
    annotations = subject.tool.raw.get("annotations")
    is_open = not subject.signals.has_hints and (annotations is None or isinstance(annotations, Mapping))
    if not is_open or not says_read_only(subject):
        return None
    value = {**(annotations or {}), "readOnlyHint": True}
    return set_value("/annotations", value, Route.HINT, ["description: it says that the tool is read-only"])


def hinted(subject: Subject) -> Statement | None:
    """What hints declare and neither verb nor text says; clients do not show hints to the model."""
    said = subject.tool.description or ""
    found = [(text, f"/annotations/{hint}") for text, hint in _hinted(subject) if text not in said]
    if not found:
        return None
    return add_sentence(" ".join(text for text, _ in found), Route.HINT, [source for _, source in found])


def _hinted(subject: Subject) -> Iterator[tuple[str, str]]:
    """Says nothing for destructive tools: the hint does not say what is destroyed."""
    signals, prose = subject.signals, subject.prose
    cues, effect = prose.cues.keys(), prose.effect
    if signals.read_only is True:
        if prose.verb in words_from("rewriting", "opaque") and Cue.SAFETY not in cues:
            yield "Read-only: it changes nothing.", "readOnlyHint"
        return
    if {Cue.DESTRUCTION, Cue.SAFETY} & cues:
        return
    if signals.destructive is False and effect is Effect.CREATE and Cue.SIDE_EFFECT not in cues:
        yield "It only adds; nothing that is there is overwritten or deleted.", "destructiveHint"
    if signals.idempotent is True and signals.destructive is not None:
        yield "Repeating a call changes nothing more.", "idempotentHint"
    if signals.idempotent is False and effect in (Effect.CREATE, Effect.ACT, Effect.UPDATE):
        yield "Repeating a call takes effect again.", "idempotentHint"


def returned(subject: Subject) -> Statement | None:
    """The fields of the result, if the text does not mention them; clients do not show output schemas to the model."""
    name, fields = arguments.result_fields(subject.tool)
    if not fields or Cue.RETURN in subject.prose.cues:
        return None
    more = len(fields) - MAX_FIELDS
    some = ", ".join(f"`{field}`" for field in fields[:MAX_FIELDS])
    said = f"{some} and {more} more field{'s' if more > 1 else ''}" if more > 0 else listed(fields)
    sentence = f"Returns {name} with {said}." if name else f"Returns {said}."
    return add_sentence(sentence, Route.RETURNS, ["/outputSchema/properties"])


def explained(subject: Subject, context: CatalogContext) -> tuple[Statement, ...]:
    """Descriptions of parameters that have none."""
    return tuple(
        set_value(f"{arguments.property_pointer(each.parameter)}/description", each.text, Route.NAMESAKE, each.sources)
        for each in infer_meanings(subject.tool, context.agreed)
    )


def enumerated(subject: Subject) -> tuple[Statement, ...]:
    """An enum for each parameter whose text lists all its values while the schema allows any."""
    return tuple(
        set_value(f"{arguments.property_pointer(name)}/enum", list(listed_values), Route.VALUES, [source])
        for name, listed_values, source in closed_value_lists(subject.tool)
    )


MAX_SOURCES = 2
"""Parameters of which one description says where their values come from."""

MAX_TAKERS = 2
"""Tools that one description names as the use of its answer; the others are counted."""


def guidance_parts(
    subject: Subject, label: Label, near: Sequence[str], context: CatalogContext
) -> tuple[Statement, ...]:
    """What else to use and when, for a description that names no sibling yet; then the schema's demands."""
    found: list[Statement | None] = []
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


def _alternatives(subject: Subject, label: Label, near: Sequence[str], context: CatalogContext) -> Statement | None:
    """Where to go instead; a twin that does the same is nowhere to go, and a deletion may be one change too many."""
    if label.effect is Effect.DELETE and not near:
        near = [name for name in context.twins(subject) if context.labels[name].effect is Effect.UPDATE][:1]
    known = ((name, _route(context.subjects[name], context.labels[name], subject, label)) for name in near)
    routes = [(name, *route) for name, route in known if route]
    said = [f"to {words}{'' if place else ' instead'}, use `{name}`" for place, (name, words, _) in enumerate(routes)]
    if not said:
        return None
    return add_sentence(f"T{'; '.join(said)[1:]}.", Route.ALTERNATIVE, [source for _, _, source in routes])


def _sources(origins: Sequence[ValueSource]) -> Statement | None:
    """Where the values of identifying parameters come from: "Look up `board_id` with `list_boards`."."""
    by_tools: dict[tuple[str, ...], list[str]] = {}
    for origin in origins:
        by_tools.setdefault(origin.tools, []).append(origin.parameter)
    said = [f"{listed(names)} with {listed(tools, 'or')}" for tools, names in by_tools.items()]
    if not said:
        return None
    return add_sentence(
        f"Look up {' and '.join(said)}.", Route.LOOKUP, [source for origin in origins for source in origin.sources]
    )


def _uses(subject: Subject, context: CatalogContext) -> Statement | None:
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
    return add_sentence(f"Use it to find the `{parameter}` that {others} {verb}.", Route.LOOKUP, sources)


def _look(subject: Subject, label: Label, named: AbstractSet[str], context: CatalogContext) -> Statement | None:
    """What shows the thing before it is changed or deleted, called with what this tool is called with."""
    if label.effect not in (Effect.UPDATE, Effect.DELETE) or not label.thing:
        return None
    own = {each.name for each in subject.signals.parameters}
    for name in context.twins(subject):
        required = {each.name for each in context.subjects[name].signals.parameters if each.is_required}
        is_showing = context.labels[name].verb in words_from("rewriting", "showing")
        is_callable = required and required <= own and name not in named
        if is_showing and is_callable and _is_same_thing(context.labels[name], label):
            source = f"tool {name}: its name and its required parameters"
            return add_sentence(f"To see the {label.thing} first, use `{name}`.", Route.BEFORE, [source])
    return None


def _undo(subject: Subject, label: Label, near: Sequence[str], context: CatalogContext) -> Statement | None:
    """What takes back the thing that this tool makes or turns on: said only where there is nothing to choose."""
    opposites_of: Mapping[str, str] = read_table("rewriting")["opposites"]
    opposites = (f"un{label.verb}", *opposites_of.get(label.verb or "", "").split())
    for name in context.twins(subject):
        verb = context.labels[name].verb
        if verb in opposites and name not in near and _is_same_thing(context.labels[name], label):
            return add_sentence(f"To {verb} it later, use `{name}`.", Route.AFTER, [f"tool {name}: its name"])
    return None


def _is_same_thing(one: Label, other: Label) -> bool:
    """The tag of a task and the tasks of a tag share their words, and are two things."""
    return [stem(word) for word in one.thing.split()] == [stem(word) for word in other.thing.split()]


def _respliced(route: Route, sources: Sequence[str], splices: Sequence[Splice]) -> Statement:
    return Statement(
        path="/description",
        component=COMPONENTS[route],
        route=route,
        sources=tuple(sources),
        splices=tuple(splices),
    )


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


def _demands(subject: Subject) -> Statement | None:
    """Demands of the schema that its list of required parameters does not show."""
    said = set(subject.prose.mentioned_parameters)
    choices = arguments.required_choices(subject.tool.input_schema or {})
    found = [choice for choice in choices if not choice.names <= said]
    if not found:
        return None
    return add_sentence(" ".join(map(_demand, found)), Route.DEMAND, [choice.path for choice in found])


def _demand(choice: Choice) -> str:
    groups = [listed(group) for group in choice.groups]
    if choice.demand is Demand.TOGETHER:
        return f"With {groups[0]}, also give {groups[1]}."
    if all(len(group) == 1 for group in choice.groups):
        return f"Give {choice.demand} of {listed([group[0] for group in choice.groups])}."
    return f"Give {choice.demand} of these: {', or '.join(groups)}."
