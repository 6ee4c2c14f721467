"""Input of scoring: a catalog with its raw JSON, and its author's material for rewrites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import isfinite
from types import NoneType
from typing import Any

from tdqs_mcp.canonical import MAX_NESTING

TOOL_FIELDS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""The six fields that TDQS scores and hashes, in the order of the specification's table."""

SENT_FIELDS = ("name", "description", "inputSchema")
"""Fields in the tool formats of Anthropic and OpenAI; title, annotations and output schema stay with the client."""


CACHING_HINTS = ("ttlMs", "cacheScope")
"""For how long, and for whom, a client may keep an answer (MCP 2026-07-28, Caching)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """A part that a client would refuse or ignore: kept in `raw`, absent from the typed view."""

    path: str
    """JSON pointer below the tool, resource or prompt; empty for the whole of it."""

    message: str
    advice: str = "use the type that the MCP specification requires"

    is_of_text: bool = False
    """It stood in the JSON text, and the value has lost it."""


MAX_DEPTH = 400
"""Levels of JSON that are kept: every interpreter can walk them, and beyond MAX_NESTING nothing is measured."""


class DuplicateKeys(dict[str, Any]):
    """An object whose text gives some of its keys more than once; the last value counts, as for most readers."""

    repeated: tuple[str, ...] = ()


def sanitize(value: Any, path: str = "") -> tuple[Any, list[Defect]]:  # noqa: ANN401  # foreign JSON, any shape
    """The value as any reader of JSON can take it, and what of it not every one can; never raises.

    Numbers that no JSON can hold become null, and so does what nests deeper than MAX_DEPTH.
    """
    if not needs_sanitizing(value):
        return value, []
    defects: list[Defect] = []
    return _sanitized(value, path, defects, 0), defects


def needs_sanitizing(value: object) -> bool:
    """Return whether some reader of JSON refuses the value; not recursive: it may nest deeper than the stack."""
    level, depth = [value], 0
    while level:
        below: list[object] = []
        for item in level:
            if isinstance(item, str):
                continue
            if isinstance(item, dict):
                if isinstance(item, DuplicateKeys):
                    return True
                below += item.values()
            elif isinstance(item, list):
                below += item
            elif isinstance(item, float) and not isfinite(item):
                return True
        level, depth = below, depth + 1
        if depth > MAX_NESTING + 1:
            return True
    return False


def _sanitized(value: Any, path: str, defects: list[Defect], depth: int) -> Any:  # noqa: ANN401
    if isinstance(value, float) and not isfinite(value):
        number = str(value).replace("inf", "Infinity").replace("nan", "NaN")
        message = f"{number} is not a number that JSON can hold"
        defects.append(Defect(path=path, message=message, advice=_PLAIN_NUMBER, is_of_text=True))
        return None
    if not isinstance(value, dict | list):
        return value
    if depth == MAX_NESTING:
        key = path.split("/")[1]
        message = f"{key} nests deeper than {MAX_NESTING} levels, more than some clients can read"
        defects.append(Defect(path=f"/{key}", message=message, advice=_FLAT))
    if depth >= MAX_DEPTH:
        return None
    if isinstance(value, list):
        return [_sanitized(item, f"{path}/{index}", defects, depth + 1) for index, item in enumerate(value)]
    for key in value.repeated if isinstance(value, DuplicateKeys) else ():
        message = f"{key!r} is given more than once, and only the last value counts for most clients"
        defects.append(Defect(path=_below(path, key), message=message, advice=_ONCE, is_of_text=True))
    return {key: _sanitized(item, _below(path, key), defects, depth + 1) for key, item in value.items()}


_PLAIN_NUMBER = "write a finite number or leave it out; most clients refuse the whole list"
_FLAT = "make it flatter; a client that cannot read it gets no tool of the server"
_ONCE = "give each key of an object once"


def sanitize_page(page: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """An answer of a server whose tools are as they were, and a sentence about everything else that is odd in it."""
    rest, defects = sanitize({key: value for key, value in page.items() if key != "tools"})
    repeated = page.repeated if isinstance(page, DuplicateKeys) else ()
    sentences = [f"{key!r} is given more than once in an answer; only the last value was read." for key in repeated]
    sentences += [f"{defect.path}: {defect.message}." for defect in dict.fromkeys(defects)]
    return rest | ({"tools": page["tools"]} if "tools" in page else {}), sentences


def _below(path: str, key: str) -> str:
    return f"{path}/{key.replace('~', '~0').replace('/', '~1')}"


_LESSER = ("/title", "/outputSchema")
"""Parts that little depends on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """An entry of `tools/list`. A field of the wrong type is None here, a defect, and unchanged in `raw`."""

    index: int
    """Position in the catalog, from 0: the only identity that duplicate names leave."""

    name: str
    """Empty when the definition has no usable name."""

    title: str | None
    description: str | None
    input_schema: Mapping[str, Any] | None
    output_schema: Mapping[str, Any] | None
    annotations: Mapping[str, Any] | None
    defects: tuple[Defect, ...]
    raw: Any
    is_mcp: bool = True
    """It came in MCP's own format: OpenAI's and Anthropic's have neither titles nor annotations."""

    unread: tuple[str, ...] = ()
    """JSON pointers of the parts that could not be read from code: they may say anything."""

    @property
    def is_whole(self) -> bool:
        """Return whether every part was read that a score depends on."""
        return all(pointer in _LESSER for pointer in self.unread)

    def is_open(self, path: str) -> bool:
        """Return whether a part could not be read that lies at a path, around it or, but for lesser parts, below it."""
        return any(
            f"{path}/".startswith(f"{pointer}/") or (pointer.startswith(f"{path}/") and pointer not in _LESSER)
            for pointer in self.unread
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """An entry of `resources/list` or `resources/templates/list`."""

    index: int
    uri: str
    """The URI, or the URI template of a template; empty when there is none."""

    name: str
    description: str | None
    mime_type: str | None
    is_template: bool
    raw: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPrompt:
    """An entry of `prompts/list`."""

    index: int
    name: str
    description: str | None
    raw: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Everything one server offers to an agent, from a file, a live server or an object in this process."""

    server: str
    """The server's name: what it calls itself, or the file's stem."""

    tools: tuple[Tool, ...]
    resources: tuple[Resource, ...] | None = None
    """None when they were never listed, which is not a statement about the server."""

    prompts: tuple[ListedPrompt, ...] | None = None
    version: str | None = None
    instructions: str | None = None
    source: str | None = None
    """Where it came from, without credentials."""

    protocol_version: str | None = None
    server_info: Mapping[str, Any] | None = None
    """`serverInfo` of the initialize answer; None for a bare file, which has none."""

    capabilities: Mapping[str, Any] | None = None
    caching: Mapping[str, Mapping[str, Any]] | None = None
    """By method, the caching hints of its first answer; None where the answers had none and did not need any."""

    problems: tuple[str, ...] = ()
    """Problems while the server listed its parts, one sentence each."""

    unread: tuple[str, ...] = ()
    """Parts that could not be read of a server that is known from its code alone, one sentence each."""

    incomplete: str | None = None
    """Why `tools` may lack some of the server's tools, one sentence; None when `tools/list` was read to its end."""

    content: bytes | None = field(default=None, repr=False, compare=False)
    """The JSON that it was read from, byte by byte; None for what no file holds."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return the problems and what could not be read."""
        return (*self.problems, *self.unread)

    @property
    def origin(self) -> dict[str, Any]:
        """The fields by which every result about a server begins."""
        return {"server": self.server, "version": self.version, "source": self.source}


def read_tool(raw: Any, index: int, *, is_mcp: bool = True) -> Tool:  # noqa: ANN401  # foreign JSON, any shape
    """The typed view of one definition; never raises."""
    raw, oddities = sanitize(raw)
    defects = _defects(raw)
    bad = {defect.path for defect in defects}
    # What TDQS hashes and nests too deep is not measured, for that reason.
    measured_paths = {f"/{key}" for key in TOOL_FIELDS}
    defects += dict.fromkeys(oddity for oddity in oddities if oddity.is_of_text or oddity.path not in measured_paths)
    members = raw if isinstance(raw, Mapping) else {}

    def value(key: str) -> Any:  # noqa: ANN401
        return None if f"/{key}" in bad else members.get(key)

    return Tool(
        index=index,
        name=value("name") or "",
        title=value("title"),
        description=value("description"),
        input_schema=value("inputSchema"),
        output_schema=value("outputSchema"),
        annotations=value("annotations"),
        defects=tuple(defects),
        raw=raw,
        is_mcp=is_mcp,
    )


def read_tools(entries: Sequence[Any]) -> tuple[Tool, ...]:
    """The typed views of a `tools/list` array, in its order."""
    return tuple(read_tool(raw, index) for index, raw in enumerate(entries))


def read_resources(entries: Sequence[Any] | None, templates: Sequence[Any] | None) -> tuple[Resource, ...] | None:
    """The typed views of a `resources/list` array followed by those of the resource templates; None without both."""
    if entries is None and templates is None:
        return None
    listed = [(raw, False) for raw in entries or ()] + [(raw, True) for raw in templates or ()]
    return tuple(
        Resource(
            index=index,
            uri=_text(raw, "uriTemplate" if is_template else "uri") or "",
            name=_text(raw, "name") or "",
            description=_text(raw, "description"),
            mime_type=_text(raw, "mimeType"),
            is_template=is_template,
            raw=raw,
        )
        for index, (raw, is_template) in enumerate(listed)
    )


def read_prompts(entries: Sequence[Any] | None) -> tuple[ListedPrompt, ...] | None:
    """The typed views of a `prompts/list` array; None without one."""
    return (
        None
        if entries is None
        else tuple(
            ListedPrompt(index=index, name=_text(raw, "name") or "", description=_text(raw, "description"), raw=raw)
            for index, raw in enumerate(entries)
        )
    )


def _text(raw: Any, key: str) -> str | None:  # noqa: ANN401
    value = raw.get(key) if isinstance(raw, Mapping) else None
    return value if isinstance(value, str) else None


def _defects(raw: Any) -> list[Defect]:  # noqa: ANN401
    if not isinstance(raw, Mapping):
        return [Defect(path="", message=f"the definition is {_kind(raw)}, not an object")]
    defects = []
    if raw.get("name") in (None, ""):
        defects.append(Defect(path="/name", message="the definition has no name, so no client can call it"))
    if raw.get("inputSchema") is None:
        defects.append(Defect(path="/inputSchema", message="the definition has no inputSchema, which MCP requires"))
    elif isinstance(raw["inputSchema"], Mapping) and raw["inputSchema"].get("type") != "object":
        message = 'the type of inputSchema is not "object", as MCP requires'
        defects.append(Defect(path="/inputSchema/type", message=message))
    for key in TOOL_FIELDS:
        value, expected = raw.get(key), "a string" if key in ("name", "title", "description") else "an object"
        if value is not None and _kind(value) != expected:
            defects.append(Defect(path=f"/{key}", message=f"{key} is {_kind(value)}, not {expected}"))
    return defects


_KINDS = {NoneType: "null", bool: "a boolean", int | float: "a number", str: "a string", list | tuple: "an array"}


def _kind(value: object) -> str:
    return next((word for kind, word in _KINDS.items() if isinstance(value, kind)), "an object")


class CallOutcome(StrEnum):
    """How a real call ended."""

    SUCCESS = "success"
    EMPTY = "empty"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A statement that its author answers for."""

    number: int = 0
    """Its place among the facts of the material, from 1; 0 for what stands under another key."""

    text: str
    tool: str | None = None
    """The only tool that it is true of; None for every tool."""

    place: str = ""
    """Part of the tool that it is about, as in the id of a question; empty where its own words say that."""

    origin: str = ""
    """The key of the material and the entry below it, for what is not among the facts."""

    is_confirmed: bool = False
    """Its author was asked about it and wants it as it is."""

    doubt: str = ""
    """Why an answer is asked again instead of written; empty for a fact and for what is confirmed."""

    @property
    def source(self) -> str:
        """How a claim refers to it."""
        return self.origin or f"fact {self.number}"

    @property
    def is_shared(self) -> bool:
        """Return whether it answers a question about several tools."""
        return f"{SHARED}." in self.origin

    @property
    def parameter(self) -> str | None:
        """The parameter that it is about."""
        return self.place.removeprefix(PARAMETERS) if self.place.startswith(PARAMETERS) else None

    @property
    def hint(self) -> str | None:
        """The hint whose value its text is, `true` or `false`."""
        return self.place.removeprefix(ANNOTATIONS) if self.place.startswith(ANNOTATIONS) else None


SHARED = "*"
"""Ends what stands for the tool in the id of a question about several: `*`, or `create*` for all that create."""

PARAMETERS, ANNOTATIONS = "parameters.", "annotations."
"""How the places of parameters and of hints begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A real call and what came back."""

    number: int
    tool: str
    arguments: Mapping[str, Any]
    outcome: CallOutcome
    answer: str
    """The result or the error as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Sources outside the definitions; a rewrite names each one that it uses."""

    facts: tuple[Fact, ...] = ()
    traces: tuple[Trace, ...] = ()
    docs: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    """By the id of a question."""

    annotations: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """By tool, the values of hints."""

    parameters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By tool, what its parameters mean."""

    def of(self, tool: str) -> "Material":
        """Return what speaks of one tool: facts of all tools and its own, its traces, and the documentation."""
        return replace(
            self,
            facts=tuple(fact for fact in self.facts if fact.tool in (None, tool)),
            traces=tuple(trace for trace in self.traces if trace.tool == tool),
        )


NOTHING = Material()
"""An author who has given nothing."""
