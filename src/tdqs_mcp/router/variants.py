"""Named variants of tool descriptions: how they are read, which one a client gets, and a definition with it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tdqs_mcp.errors import InputError, nearest
from tdqs_mcp.facts.schema.arguments import property_pointer
from tdqs_mcp.facts.schema.walk import put_at, value_at, walk_schema
from tdqs_mcp.model import Catalog
from tdqs_mcp.results.improvements import Component

ORIGINAL = "original"
"""The variant that every server has: its own descriptions."""

REWRITE = "rewrite"
"""The variant in the JSON that `rewrite` prints."""

LATEST = "latest"
"""Stands for the newest capture of a store."""

ANY = "*"
"""Stands for every tool that is not named."""

DESCRIPTION = "/description"
_TEXT = re.compile(r"/description|/inputSchema/(.*/)?description")
"""Pointers of the texts that a variant replaces."""

SHAPE = (
    "{variants: {NAME: {TOOL: description, or {description, parameters: {PARAMETER: text}, or a text for each of "
    "purpose, guidelines, limitations, parameter explanation, examples}}}, store: FILE or URL, server: its key there, "
    "serve: NAME or {TOOL or *: NAME}, clients: {CLIENT: NAME or {TOOL or *: NAME}}}, or what "
    "`rewrite --format json` prints"
)
"""The format in one line, for messages."""

KEYS = ("variants", "store", "server", "serve", "clients")

Wording = Mapping[str, str]
"""The texts of one tool by JSON pointer."""

Choice = Mapping[str, str]
"""A variant's name by tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants:
    """All variants for one server, and who gets which."""

    named: Mapping[str, Mapping[str, Wording]]
    """By variant and tool; a tool that is not there keeps its own description."""

    serve: Choice
    clients: Mapping[str, Choice] = field(default_factory=dict)
    """By the name that a client gives of itself; what is not chosen here is as in `serve`."""

    without_components: frozenset[str] = frozenset()
    """Tools that have a text, but none of the components that were asked for."""

    def choose(self, tool: str, client: str | None) -> tuple[str, Wording]:
        """The variant that a client gets of a tool, and its texts; the original has none."""
        own = self.clients.get(client or "", {})
        name = own.get(tool) or own.get(ANY) or self.serve.get(tool) or self.serve.get(ANY) or ORIGINAL
        wording = self.named.get(name, {}).get(tool, {})
        return (name, wording) if wording else (ORIGINAL, wording)

    @property
    def tools(self) -> frozenset[str]:
        """Every tool that a variant has a text for."""
        return frozenset(tool for wordings in self.named.values() for tool in wordings)


def reword(tool: Mapping[str, Any], wording: Wording) -> Mapping[str, Any]:
    """A raw definition with other texts; a text of a parameter that it does not have is left out."""
    for pointer, text in wording.items():
        if isinstance(value_at(tool, pointer.rpartition("/")[0]), dict):
            tool = put_at(tool, pointer, text)
    return tool


def read_components(text: str) -> tuple[Component, ...]:
    """The components in a list such as `purpose,guidelines`. Raises InputError."""
    return tuple(map(_component, text.split(",")))


def _component(word: str) -> Component:
    try:
        return Component(re.sub(r"[\s_-]+", " ", word.strip().lower()))
    except ValueError as error:
        known = list(Component)
        raise InputError(
            f"{word.strip()!r} is no component{nearest(word, known)}; there are {', '.join(known)}"
        ) from error


def read_variants(
    given: object,
    *,
    origin: str,
    components: Sequence[Component] = (),
    captures: Mapping[str, Callable[[], Catalog]] | None = None,
) -> Variants:
    """The variants in parsed JSON: a file of variants, or what `rewrite --format json` prints.

    With `components`, a description consists of their texts in that order. `captures` read those of the store that
    the file names, the newest first; only what somebody gets is read. Raises InputError, which says what is wrong
    where, and what the format is.
    """
    if isinstance(given, list) and given and all(isinstance(each, Mapping) and "rewrites" in each for each in given):
        raise InputError(f"{origin} holds the rewrites of {len(given)} servers; give those of one")
    if not isinstance(given, Mapping) or not given.keys() & {"variants", "rewrites", "store"}:
        raise InputError(f"{origin} holds no variants; its format is {SHAPE}")
    if "rewrites" in given:
        named = {REWRITE: dict(_rewrites(given["rewrites"], origin, components))}
    else:
        for key in (key for key in given if key not in KEYS):
            raise InputError(f"{origin} has an unknown key {key!r}{nearest(str(key), KEYS)}; its format is {SHAPE}")
        own = _members(given, "variants", origin)
        named = {name: dict(_texts(name, entries, origin, components)) for name, entries in own}
    captures = captures or {}
    names = {name: name for name in (*captures, *named, ORIGINAL)}
    if len(names) == 1 or ORIGINAL in named:
        what = f"names a variant {ORIGINAL!r}, which the server has" if named else "names no variant"
        raise InputError(f"{origin} {what}; its format is {SHAPE}")
    if captures:
        names.setdefault(LATEST, next(iter(captures)))
    serve = _choice(given.get("serve", next(iter(names))), names, f"{origin}: serve")
    clients = {
        client: _choice(choice, names, f"{origin}: client {client!r}")
        for client, choice in _members(given, "clients", origin)
    }
    chosen = {name for choice in (serve, *clients.values()) for name in choice.values()}
    named |= {name: dict(_captured(captures[name](), components)) for name in chosen & captures.keys() - named.keys()}
    lost = frozenset(tool for wordings in named.values() for tool, wording in wordings.items() if not wording)
    return Variants(named=named, serve=serve, clients=clients, without_components=lost if components else frozenset())


def _wording(fixed: Wording, said: Mapping[Component, str], components: Sequence[Component]) -> Wording:
    """The texts of one tool by pointer, its description from the components that are asked for."""
    texts = {pointer: text for pointer, text in fixed.items() if not components or pointer != DESCRIPTION}
    wanted = components or (() if DESCRIPTION in texts else tuple(Component))
    description = "\n".join(said[each] for each in wanted if said.get(each))
    return {DESCRIPTION: description, **texts} if description else texts


def _rewrites(given: object, origin: str, components: Sequence[Component]) -> Iterator[tuple[str, Wording]]:
    """What has changed in each definition, and where it is wanted all sentences by component."""
    if not isinstance(given, list):
        raise InputError(f"{origin}: rewrites must be a list, as `rewrite --format json` prints it")
    for number, each in enumerate(given, 1):
        try:
            changes = {change["path"]: change["after"] for change in each["changes"]}
            fixed = {path: str(after) for path, after in changes.items() if after and _TEXT.fullmatch(path)}
            said = (each.get("components") or {}) if components else {}
            yield each["name"], _wording(fixed, _components(said, origin), components)
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{origin}: rewrite {number} has not the form that `rewrite --format json` prints: {error!r}"
            ) from error


def _captured(catalog: Catalog, components: Sequence[Component]) -> Iterator[tuple[str, Wording]]:
    """The texts of every tool as it was captured."""
    for tool in catalog.tools:
        schemas = walk_schema(tool.input_schema, "/inputSchema").by_keyword.get("description", ())
        texts = {DESCRIPTION: tool.description} | {
            f"{each.path}{DESCRIPTION}": each.schema["description"] for each in schemas
        }
        fixed = {path: text for path, text in texts.items() if isinstance(text, str)}
        yield tool.name, _wording(fixed, {}, components)


def _texts(variant: str, given: object, origin: str, components: Sequence[Component]) -> Iterator[tuple[str, Wording]]:
    where = f"{origin}: variant {variant!r}"
    if not isinstance(given, Mapping):
        raise InputError(f"{where} must be an object; the format is {SHAPE}")
    for tool, text in given.items():
        place = f"{where}, tool {tool!r}"
        if isinstance(text, str) and text.strip():
            yield tool, _wording({DESCRIPTION: text}, {}, components)
        elif isinstance(text, Mapping) and text:
            words = {key: _words(value, f"{place}: {key}") for key, value in text.items() if key != "parameters"}
            fixed = {DESCRIPTION: words.pop("description")} if "description" in words else {}
            described = {
                f"{property_pointer(name)}/description": _words(value, f"{place}: parameter {name!r}")
                for name, value in _members(text, "parameters", place)
            }
            yield tool, _wording(fixed | described, _components(words, place), components)
        else:
            raise InputError(f"{place} has no text; the format is {SHAPE}")


def _components(given: Mapping[str, Any], origin: str) -> dict[Component, str]:
    try:
        return {_component(key): str(text) for key, text in given.items()}
    except InputError as error:
        raise InputError(f"{origin}: {error}") from error


def _words(value: object, origin: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{origin} must be a text that is not empty")
    return value


def _members(given: Mapping[str, Any], key: str, origin: str) -> list[tuple[str, Any]]:
    found = given.get(key, {})
    if not isinstance(found, Mapping):
        raise InputError(f"{origin}: {key} must be an object; the format is {SHAPE}")
    return list(found.items())


def _choice(given: object, names: Mapping[str, str], origin: str) -> dict[str, str]:
    """The variant by tool; `names` are those that may be given, with the variant that each stands for."""
    choice = {ANY: given} if isinstance(given, str) else given
    if not isinstance(choice, Mapping) or not all(isinstance(name, str) for name in choice.values()):
        raise InputError(f"{origin} must be a variant's name, or names by tool; the format is {SHAPE}")
    for name in choice.values():
        if name not in names:
            raise InputError(f"{origin} names {name!r}; the variants are {', '.join(names)}")
    return {tool: names[name] for tool, name in choice.items()}
