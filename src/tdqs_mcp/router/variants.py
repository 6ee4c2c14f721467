"""Named variants of tool descriptions: how they are read, which one a client gets, and a definition with it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from tdqs_mcp.errors import InputError
from tdqs_mcp.model import Catalog
from tdqs_mcp.results.improvements import Component
from tdqs_mcp.sources.files import read_text
from tdqs_mcp.sources.input_files import parse_text

if TYPE_CHECKING:
    from sqlalchemy import Engine
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from tdqs_mcp.errors import fault_message, nearest
from tdqs_mcp.facts.schema.arguments import property_pointer
from tdqs_mcp.facts.schema.walk import put_at, value_at, walk_schema

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

RANDOM = "random"
"""Stands in a choice for any variant of the file, drawn for each connection."""

SHAPE = (
    "{variants: {NAME: {TOOL: description, or {description, parameters: {PARAMETER: text}, or a text for each of "
    "purpose, guidelines, limitations, parameter explanation, examples}}}, store: FILE or URL, server: its key there, "
    "serve: NAME or {TOOL or *: NAME}, clients: {CLIENT: NAME or {TOOL or *: NAME}}}, or what "
    "`rewrite --format json` prints"
)
"""The format in one line, for messages."""

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

    def choose(self, tool: str, client: str | None, *, chance: float = 0) -> tuple[str, Wording]:
        """The variant that a client gets of a tool, and its texts; the original has none.

        `chance`, from 0 to below 1, draws among all variants where RANDOM is chosen: one number for a whole connection.
        """
        own = self.clients.get(client or "", {})
        name = own.get(tool) or own.get(ANY) or self.serve.get(tool) or self.serve.get(ANY) or ORIGINAL
        if name == RANDOM:
            drawn = (ORIGINAL, *sorted(self.named.keys() - {ORIGINAL}))
            name = drawn[int(chance * len(drawn))]
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
        components = list(Component)
        raise InputError(
            f"{word.strip()!r} is no component{nearest(word, components)}; there are {', '.join(components)}"
        ) from error


Text = Annotated[str, Field(pattern=r"\S")]
NamedChoice = Annotated[
    dict[str, Text], BeforeValidator(lambda value: {ANY: value} if isinstance(value, str) else value)
]
Components = dict[Annotated[Component, BeforeValidator(lambda key: _component(str(key)))], str]


Model = TypeVar("Model", bound=BaseModel)


class _Tool(BaseModel):
    """Texts of a tool in a file: its description, or a text for each component, and its parameters."""

    description: Text | None = None
    parameters: dict[str, Text] = {}
    components: Components = {}

    @model_validator(mode="before")
    @classmethod
    def _sort(cls, document: object) -> object:
        if not isinstance(document, Mapping):
            return {"description": document}
        own = {key: document[key] for key in ("description", "parameters") if key in document}
        return own | {"components": {key: text for key, text in document.items() if key not in own}}

    def wording(self, components: Sequence[Component]) -> Wording:
        texts = {f"{property_pointer(name)}{DESCRIPTION}": text for name, text in self.parameters.items()}
        own = {DESCRIPTION: self.description} if self.description else {}
        return _wording(own | texts, self.components, components)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    variants: dict[str, dict[str, _Tool]] = {}
    store: Text | None = None
    server: Text | None = None
    serve: NamedChoice | None = None
    clients: dict[str, NamedChoice] = {}


class _Change(BaseModel):
    path: str
    after: Any = None


class _Rewrite(BaseModel):
    name: str
    changes: list[_Change]
    components: Components | None = None

    def wording(self, components: Sequence[Component]) -> Wording:
        texts = {
            change.path: str(change.after) for change in self.changes if change.after and _TEXT.fullmatch(change.path)
        }
        return _wording(texts, self.components or {} if components else {}, components)


class _Rewrites(BaseModel):
    rewrites: list[_Rewrite]


def read_variants(
    document: object,
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
    if (
        isinstance(document, list)
        and document
        and all(isinstance(entry, Mapping) and "rewrites" in entry for entry in document)
    ):
        raise InputError(f"{origin} holds the rewrites of {len(document)} servers; give those of one")
    if not isinstance(document, Mapping) or not document.keys() & {"variants", "rewrites", "store"}:
        raise InputError(f"{origin} holds no variants; its format is {SHAPE}")
    if "rewrites" in document:
        file, rewrites = _File(), _validated(_Rewrites, document, origin).rewrites
        read = {REWRITE: {rewrite.name: rewrite.wording(components) for rewrite in rewrites}}
    else:
        file = _validated(_File, document, origin)
        read = {
            name: {tool: text.wording(components) for tool, text in variant.items()}
            for name, variant in file.variants.items()
        }
    captures = captures or {}
    names = {name: name for name in (*captures, *read, ORIGINAL)}
    if len(names) == 1 or ORIGINAL in read:
        problem = f"names a variant {ORIGINAL!r}, which the server has" if read else "names no variant"
        raise InputError(f"{origin} {problem}; its format is {SHAPE}")
    if captures:
        names.setdefault(LATEST, next(iter(captures)))
    serve = _choice(file.serve or {ANY: next(iter(names))}, names, f"{origin}: serve")
    clients = {name: _choice(choice, names, f"{origin}: client {name!r}") for name, choice in file.clients.items()}
    if RANDOM in read:
        raise InputError(f"{origin} names a variant {RANDOM!r}, which means any of them; give it another name")
    served = {name for choice in (serve, *clients.values()) for name in choice.values()}
    for name in served & captures.keys() - read.keys():
        read[name] = dict(_captured(captures[name](), components))
    texts = {name: {tool: wording for tool, wording in entry.items() if wording} for name, entry in read.items()}
    lost = frozenset(tool for name in read for tool in read[name].keys() - texts[name].keys() if components)
    return Variants(named=texts, serve=serve, clients=clients, without_components=lost)


def _validated(kind: type[Model], document: object, origin: str) -> Model:
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        where = ".".join(map(str, wrong["loc"]))
        raise InputError(f"{origin}: {where}: {fault_message(wrong)}; its format is {SHAPE}") from error


def _wording(texts: Wording, by_component: Mapping[Component, str], components: Sequence[Component]) -> Wording:
    """The texts of one tool by pointer, its description from the components that are asked for."""
    wording = {pointer: text for pointer, text in texts.items() if not components or pointer != DESCRIPTION}
    chosen = components or (() if DESCRIPTION in wording else tuple(Component))
    description = "\n".join(by_component[component] for component in chosen if by_component.get(component))
    return {DESCRIPTION: description, **wording} if description else wording


def _captured(catalog: Catalog, components: Sequence[Component]) -> Iterator[tuple[str, Wording]]:
    """The texts of every tool as it was captured."""
    for tool in catalog.tools:
        schemas = walk_schema(tool.input_schema, "/inputSchema").by_keyword.get("description", ())
        texts = {DESCRIPTION: tool.description} | {
            f"{schema.path}{DESCRIPTION}": schema.schema["description"] for schema in schemas
        }
        wording = {path: text for path, text in texts.items() if isinstance(text, str)}
        yield tool.name, _wording(wording, {}, components)


def _choice(choice: Choice, names: Mapping[str, str], origin: str) -> dict[str, str]:
    """The variant by tool; `names` are those that may be given, with the variant that each stands for."""
    for name in choice.values():
        if name not in (*names, RANDOM):
            raise InputError(f"{origin} names {name!r}; the variants are {', '.join(names)}")
    return {tool: names.get(name, RANDOM) for tool, name in choice.items()}


FRESH_SECONDS = 0.5
"""Seconds in which the variants are not read again."""

MAX_CAPTURES = 1_000
"""Captures of one server that can be named, the newest."""


class VariantSource:
    """Where the variants come from, and what all clients of a router get at the moment."""

    def __init__(self, named: str | None, components: Sequence[Component], *, tell: Callable[[str], None]) -> None:
        """`named` is a file or a store, which a file may also name; None changes nothing. `tell` gets warnings.

        Raises InputError.
        """
        is_store = named is None or "://" in named or _is_sqlite(Path(named))
        self._path = None if is_store else Path(named or "")
        self._origin = "the store" if is_store else repr(named)
        self._given: object = {"store": named} if named else {}
        self._components, self._tell = components, tell
        self._state: object = ()  # of the file when it was last parsed
        self._seen: object = None  # the same, and what the store had of the server; None before the first reading
        self._reading = anyio.Lock()
        self._missing: frozenset[str] = frozenset()
        self._problem = ""
        self._fresh_until = 0.0
        self.current = Variants(named={}, serve={})
        self.server: str | None = None
        """What the server calls itself, once it has said so."""

        if named:
            self._take(self._read())

    async def refresh(self, server: str | None = None) -> None:
        """Reads what has changed, in a thread, because a database may be slow.

        If it has become unreadable, the variants stay as they were. Many connections ask; one reads for all.
        """
        async with self._reading:
            if self._seen is None or (server is None and anyio.current_time() < self._fresh_until):
                return
            self._fresh_until = anyio.current_time() + FRESH_SECONDS
            self.server = self.server or server
            try:
                self._take(await anyio.to_thread.run_sync(self._read, abandon_on_cancel=True))
            except InputError as error:
                if str(error) != self._problem:
                    self._tell(f"the variants stay as they were: {error}")
                self._problem = str(error)

    def note_tools(self, names: frozenset[str]) -> None:
        """Warns once of variants for tools that the server does not list."""
        missing = self.current.tools - names - self._missing
        if missing:
            self._missing |= missing
            self._tell(f"there are variants for tools that the server does not list: {', '.join(sorted(missing))}")

    def _take(self, variants: Variants | None) -> None:
        if variants is None:
            return
        self.current = variants
        self._missing, self._problem = frozenset(), ""
        if lost := sorted(variants.without_components):
            self._tell(f"these tools have none of the components and keep their descriptions: {', '.join(lost)}")

    def _read(self) -> Variants | None:
        """The variants; None where nothing has changed. Raises InputError."""
        if self._path and (state := _file_state(self._path)) != self._state:
            self._state = state
            self._given = parse_text(read_text(self._path), origin=self._origin)
        texts = self._given if isinstance(self._given, Mapping) else {}
        store = str(texts["store"]) if texts.get("store") else None
        key = (texts.get("server") or self.server) if store else None
        captures = _list_captures(store, str(key)) if store and key else {}
        previous, self._seen = self._seen, (self._state, key, list(captures))
        if self._seen == previous:
            return None
        if store and not key:  # the server says it in its first answer
            return Variants(named={}, serve={})
        if store and not captures:
            raise InputError(f"the store has no captures of {key!r}; a file of variants names another key as `server`")
        return read_variants(self._given, origin=self._origin, components=self._components, captures=captures)


def _list_captures(store: str, server: str) -> dict[str, Callable[[], Catalog]]:
    """Return a reader of each capture of a server, by date and digest, the newest first. Raises InputError."""
    from tdqs_mcp.store.captures import read_capture, select_captures  # noqa: PLC0415  # SQLAlchemy takes half a second
    from tdqs_mcp.store.database import read  # noqa: PLC0415

    engine = _opened(store)
    query = select_captures(server, limit=MAX_CAPTURES)
    listed = read(engine, lambda connection: connection.execute(query).all(), recovery=0)
    return {
        f"{row.captured_at:%Y-%m-%d}-{row.capture[:8]}": partial(
            read, engine, partial(read_capture, capture=row.capture), recovery=0
        )
        for row in listed
    }


@cache
def _opened(store: str) -> "Engine":
    from tdqs_mcp.store.database import open_filled_store  # noqa: PLC0415

    return open_filled_store(store)


def _is_sqlite(path: Path) -> bool:
    with suppress(OSError), path.open("rb") as stream:
        return stream.read(16) == b"SQLite format 3\0"
    return False


def _file_state(path: Path) -> object:
    with suppress(OSError):
        state = path.stat()
        return (state.st_mtime_ns, state.st_size, state.st_ino)
    return None
