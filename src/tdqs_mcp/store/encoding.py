"""Catalogs, tools and verdicts as the compressed JSON of the store, and back without loss."""

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from tdqs_mcp.canonical import replace_surrogates
from tdqs_mcp.errors import InputError
from tdqs_mcp.model import TOOL_FIELDS, Catalog, Tool, read_prompts, read_resources, read_tool
from tdqs_mcp.results.verdicts import Verdict
from tdqs_mcp.sources.locator import File, parse_locator, public, read_stdio, secrets

Given = TypeVar("Given")
Result = TypeVar("Result")

LEVEL = 1
"""Level 6 takes a fifth longer for documents that are 4% smaller."""

_VALUES = (
    *("server", "version", "instructions", "protocol_version", "server_info", "capabilities", "caching"),
    *("problems", "incomplete"),
)
"""The fields of a catalog that are JSON values."""

_VERDICT = TypeAdapter(Verdict)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def pack(value: object) -> bytes:
    """A JSON value, compressed."""
    return compress(encode(value))


def encode(value: object) -> bytes:
    """A JSON value."""
    return _with_room(_encode, value).encode("utf-8", "surrogatepass")


def compress(content: bytes) -> bytes:
    """The encoded value as it is stored."""
    return zlib.compress(content, LEVEL)


def unpack(document: bytes) -> Any:  # noqa: ANN401  # the JSON value
    """The value that was packed."""
    return _with_room(json.loads, zlib.decompress(document).decode("utf-8", "surrogatepass"))


def pack_verdict(verdict: Verdict) -> bytes:
    """A verdict with all that its judge said."""
    try:
        return zlib.compress(_VERDICT.dump_json(verdict, exclude_defaults=True), LEVEL)
    except PydanticSerializationError:  # a lone surrogate
        return pack(_VERDICT.dump_python(verdict, exclude_defaults=True))


def unpack_verdict(document: bytes) -> Verdict:
    """The verdict that was packed."""
    try:
        return _VERDICT.validate_json(zlib.decompress(document))
    except ValidationError:
        return _VERDICT.validate_python(unpack(document))


def pack_catalog(catalog: Catalog) -> bytes:
    """A catalog without its tools, and its source without credentials."""
    listed = {"resources": catalog.resources, "prompts": catalog.prompts}
    foreign = [tool.index for tool in catalog.tools if not tool.is_mcp]
    document = {name: getattr(catalog, name) for name in _VALUES}
    document |= {name: entries and [each.raw for each in entries] for name, entries in listed.items()}
    document |= {"templates": sum(each.is_template for each in catalog.resources or ())}
    document |= {"source": public_source(catalog.source), "foreign_tools": foreign}
    return pack({name: value for name, value in document.items() if value is not None and value != []})


def unpack_catalog(document: bytes, raw_tools: Sequence[object]) -> Catalog:
    """The catalog that was packed, with its tools."""
    given = unpack(document)
    foreign, resources = given.get("foreign_tools", ()), given.get("resources")
    first = len(resources or ()) - given["templates"]
    return Catalog(
        tools=tuple(read_tool(raw, index, is_mcp=index not in foreign) for index, raw in enumerate(raw_tools)),
        resources=None if resources is None else read_resources(resources[:first], resources[first:]),
        prompts=read_prompts(given.get("prompts")),
        source=given.get("source"),
        **{name: given[name] for name in _VALUES if name in given and name != "problems"},
        problems=tuple(given.get("problems", ())),
    )


def encode_definition(tool: Tool) -> bytes:
    """The six fields that are hashed, as the author wrote them."""
    return encode({key: tool.raw[key] for key in TOOL_FIELDS if key in tool.raw})


def pack_tool(tool: Tool, definition: bytes | None, *, stored: bytes | None) -> bytes | None:
    """What a tool's JSON has besides its stored definition; None where that is all of it.

    Tools of one inputHash may order their keys in different ways, and only the first one's definition is stored.
    """
    if definition is None or stored is None or definition != zlib.decompress(stored):
        return pack(tool.raw)
    known = [key for key in TOOL_FIELDS if key in tool.raw]
    if list(tool.raw) == known:
        return None
    return pack({key: None if key in TOOL_FIELDS else value for key, value in tool.raw.items()})


def unpack_tool(document: bytes | None, definition: bytes | None) -> Any:  # noqa: ANN401  # foreign JSON, any shape
    """The tool's JSON; of a tool that has a definition, a document without a name holds what the definition lacks."""
    if definition is None or document is None:
        return unpack(document or definition or b"")
    given = unpack(document)
    if given["name"] is not None:
        return given
    fields: Mapping[str, Any] = unpack(definition)
    return {key: fields[key] if key in TOOL_FIELDS else value for key, value in given.items()}


def clean_text(text: str) -> str:
    """A text that every database holds: without NUL and lone surrogates. The exact one is in the document."""
    return replace_surrogates(text.replace("\0", "\ufffd"))


def public_source(source: str | None) -> str | None:
    """Where a server was captured, without credentials; None where that cannot be told."""
    if source is None:
        return None
    try:
        locator = parse_locator(source.strip())
        command = read_stdio(source) if isinstance(locator, File) and " " in source else None
    except InputError:
        return None
    return public(command if command and secrets(command) else locator)


def _with_room(convert: Callable[[Given], Result], value: Given) -> Result:
    """What `convert` gives; where the stack is too full for a value that nests deep, on the stack of a new thread."""
    try:
        return convert(value)
    except RecursionError:
        with ThreadPoolExecutor(max_workers=1) as pool:
            return pool.submit(convert, value).result()
