"""Places of an author's material: a parameter, a hint or another aspect of one tool."""

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.facts.spelling import some_names
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.statements import stated_hints
from tdqs_mcp.model import ANNOTATIONS, PARAMETERS, Fact, Material
from tdqs_mcp.results.improvements import QuestionTopic
from tdqs_mcp.rewriting.questions import SHARED, find_groups, find_open_places

_TEXT_PLACES = frozenset(
    {QuestionTopic.PURPOSE, QuestionTopic.USAGE, QuestionTopic.BEHAVIOR, QuestionTopic.RETURNS, QuestionTopic.LIMIT}
)

_HINT = re.compile(rf"\W*({'|'.join(HINTS)})`?\s*(?:[:=]|is)\s*`?(true|false)\W*", re.IGNORECASE)
"""A hint with its value and nothing else."""

_YES_NO = re.compile(r"(yes|true|no|false)(?:\s*[,.;:!\u2013-]+\s*|\s*$)", re.IGNORECASE)

_SUBJECT = re.compile(
    r"(?:(?:the )?(?:parameter|argument|field) )?(?:`(?P<marked>[^`]+)`|(?P<plain>[\w.-]*\w))", re.IGNORECASE
)
"""What a sentence speaks of, where it begins with a name."""

_LINK = re.compile(r"\s*[:=]|\s+(?:is|are|has|must|may|can|cannot|defaults|takes|accepts)\b", re.IGNORECASE)
"""What joins a plain word to what is said of it, so that it is a name."""

_WORD = re.compile(r"`[^`]+`|[\w.-]*\w")

_OPENING = 3
"""Words within which a sentence names the parameter that it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Catalog:
    """The names that material can refer to."""

    tools: Mapping[str, Subject]
    parameters: Mapping[str, Sequence[str]]
    """The tools that have each parameter."""

    groups: Mapping[str, Collection[str]]
    """The tools of which one answer can be true, by parameter and by hint."""

    open_places: Mapping[str, frozenset[str]]
    """The parameters and hints that each tool leaves open."""


def assign_places(material: Material, measured: Measured) -> Material:
    """The material with all that is said of one place of one tool among its facts.

    Raises InputError for an entry about a tool, a parameter or a question that is not there.
    """
    tools = {subject.tool.name: subject for subject in measured.subjects}
    owners: dict[str, list[str]] = {}
    for name, subject in tools.items():
        for parameter in subject.signals.parameters:
            owners.setdefault(parameter.name, []).append(name)
    open_places = {name: find_open_places(subject) for name, subject in tools.items()}
    catalog = _Catalog(tools=tools, parameters=owners, groups=find_groups(measured), open_places=open_places)
    tool_names = {tool.name for tool in measured.catalog.tools}
    for trace in material.traces:
        _check_tool(trace.tool, tool_names, f"trace {trace.number}")
    for fact in material.facts:
        if fact.tool is not None:
            _check_tool(fact.tool, tool_names, fact.source)
    entries = list(_entries(material))
    stated = [statements for fact in material.facts for statements in _told(fact, catalog)]
    placed = [fact for entry in entries for fact in _facts(*entry, catalog)]
    changing = {
        fact.tool for fact in (*placed, *stated) if fact.hint == QuestionTopic.READ_ONLY and fact.text == "false"
    }
    if changing:
        more = {name: find_open_places(tools[name], is_changing=True) for name in changing if name in tools}
        wider = {name: places | more.get(name, frozenset()) for name, places in open_places.items()}
        catalog = replace(catalog, open_places=wider)
        placed = [fact for entry in entries for fact in _facts(*entry, catalog)]
    own = {(fact.tool, fact.place) for fact in placed if not _is_shared(fact)}
    placed = [fact for fact in placed if not _is_shared(fact) or (fact.tool, fact.place) not in own]
    return replace(material, facts=(*placed, *stated), answers={}, parameters={}, annotations={})


def _entries(material: Material) -> Iterator[tuple[str, str, str]]:
    """Yield what stands under other keys than the facts: its origin, its question's id, and its text."""
    yield from ((f"answer {key}", key, text) for key, text in material.answers.items())
    for tool, texts in material.parameters.items():
        yield from ((f"parameters {tool}.{name}", f"{tool}.{PARAMETERS}{name}", text) for name, text in texts.items())
    for tool, hints in material.annotations.items():
        for hint, value in hints.items():
            yield f"annotations {tool}.{hint}", f"{tool}.{ANNOTATIONS}{hint}", str(value).lower()


def _is_shared(fact: Fact) -> bool:
    return fact.origin.split(" ", 1)[-1].startswith(f"{SHARED}.")


def _facts(origin: str, key: str, text: str, catalog: _Catalog) -> Iterator[Fact]:
    """An answer as facts about each tool that its question is about; of no tool where none leaves this open."""
    tool, place = _split(key, catalog, origin)
    tools: Sequence[str | None] = [tool] if tool != SHARED else _sharing(place, catalog)
    for name in tools or [None]:
        fact = Fact(text=text, tool=name, place=place, origin=origin)
        yield from _read_hint(fact) if fact.hint else [fact]


def _read_hint(fact: Fact) -> Iterator[Fact]:
    """The value of a hint, and what its author adds to it; an answer that gives no value stays as it is.

    What is said of several tools together is in no tool's description: "They only read" is no sentence there.
    """
    match = _YES_NO.match(fact.text)
    value = match[1].lower() in ("yes", "true") if match else dict(stated_hints(fact.text)).get(str(fact.hint))
    if value is None:
        yield fact
        return
    if match or _is_shared(fact):
        yield replace(fact, text=str(value).lower())
    rest = fact.text[match.end() :] if match else fact.text
    if rest and not _is_shared(fact):
        yield replace(fact, text=rest, place="")


def _split(key: str, catalog: _Catalog, origin: str) -> tuple[str, str]:
    """The tool and the place of a question's id. Raises InputError with the ids that are like it."""
    dots = [match.start() for match in re.finditer(r"\.", key)]
    ways = ((key[:dot], key[dot + 1 :]) for dot in reversed(dots))
    way = next(((tool, place) for tool, place in ways if tool == SHARED or tool in catalog.tools), None)
    if way is None:
        tool = key[: dots[0]] if dots else key
        _check_tool(tool, catalog.tools, origin)
        raise InputError(f"{origin} of the material names a tool and nothing of it; give {tool}.purpose, for example")
    tool, place = way
    if place.startswith(f"{QuestionTopic.CONFLICT}."):
        raise InputError(f"{origin} of the material cannot choose a side: correct the entry or the definition instead")
    if place.startswith(f"{QuestionTopic.CLAIM}."):
        return tool, ""
    parameter = place.removeprefix(PARAMETERS)
    if place.startswith(PARAMETERS):
        have = list(catalog.parameters) if tool == SHARED else _parameters(catalog.tools[tool])
        if parameter not in have:
            owner = "no tool has" if tool == SHARED else f"{tool!r} lacks"
            near = _near(parameter, have)
            raise InputError(f"{origin} of the material is about a parameter that {owner}: {parameter!r}{near}")
    elif place not in _TEXT_PLACES and place.removeprefix(ANNOTATIONS) not in HINTS:
        places = [*sorted(map(str, _TEXT_PLACES)), "parameters.NAME", *(f"{ANNOTATIONS}{hint}" for hint in HINTS)]
        raise InputError(f"{origin} of the material answers no question: {place!r}{_near(place, places)}")
    return tool, place


def _sharing(place: str, catalog: _Catalog) -> Sequence[str]:
    """The tools of the group that leave a parameter or a hint open."""
    group = catalog.groups.get(place, ())
    return [name for name, places in catalog.open_places.items() if name in group and place in places]


def _check_tool(name: str, names: Collection[str], origin: str) -> None:
    """Raises InputError for an unknown tool, whose material would be dropped silently."""
    if name not in names:
        near = _near(name, list(names))
        raise InputError(f"{origin} of the material is about a tool {name!r} that is not there{near}")


def _near(name: str, names: Sequence[str]) -> str:
    """The names most like one that is not there; some of them where none is like it."""
    close = get_close_matches(name, names, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else f"; the catalog has {some_names(names)}"


def _parameters(subject: Subject) -> list[str]:
    return [parameter.name for parameter in subject.signals.parameters]


def _told(fact: Fact, catalog: _Catalog) -> Iterator[Fact]:
    """A fact at its place: a hint that it sets, or a parameter that it begins with; else as it is."""
    hint = _HINT.fullmatch(fact.text)
    if hint and fact.tool is not None:
        hint_name = next(hint_key for hint_key in HINTS if hint_key.lower() == hint[1].lower())
        yield replace(fact, place=f"{ANNOTATIONS}{hint_name}", text=hint[2].lower())
        return
    if fact.tool is not None:
        subject = catalog.tools.get(fact.tool)
        name = _find_parameter(fact.text, set(_parameters(subject))) if subject else None
        yield replace(fact, place=f"{PARAMETERS}{name}") if name else fact
        return
    name = _find_parameter(fact.text, catalog.parameters)
    place = f"{PARAMETERS}{name}"
    tools = [tool for tool in catalog.parameters.get(name or "", ()) if place in catalog.open_places[tool]]
    yield from (replace(fact, tool=tool, place=place) for tool in tools) if tools else [fact]


def _find_parameter(text: str, names: Container[str]) -> str | None:
    """The one parameter that a sentence is about; plain words name one only before a verb."""
    words = [(word.strip("`"), word[0] == "`") for word in _WORD.findall(text)]
    named = {word for word, is_marked in words if word in names and (is_marked or not word.isalpha())}
    begun = _SUBJECT.match(text)
    first = (begun["marked"] or begun["plain"]) if begun else ""
    if begun and first in names and (first in named or _LINK.match(text, begun.end())) and not named - {first}:
        return first
    opening = [word for word, _ in words[:_OPENING] if word in named]
    return opening[0] if len(named) == len(opening) == 1 else None
