"""Files: catalogs in every shape in which tool definitions travel, where their parts stand, and safe writing."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from errno import EACCES
from pathlib import Path
from stat import S_IMODE
from typing import Any

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.json_text import JsonNode, JsonText, Position, parse_json
from tdqs_mcp.model import (
    CACHING_HINTS,
    Catalog,
    Tool,
    read_prompts,
    read_resources,
    read_tool,
    sanitize_page,
)
from tdqs_mcp.results.findings import Location

SHAPES = (
    "a tools/list result, a JSON-RPC envelope, a list of pages, an array of tools, one tool, a captured catalog, "
    "or tools in OpenAI's or Anthropic's format"
)

MAX_INPUT_BYTES = 8 * 2**20
"""The largest text file that is read; no single server needs more."""


def read_bytes(path: Path, most: int = -1) -> bytes:
    """The bytes of a file, at most so many if that is not negative. Raises InputError."""
    try:
        with path.open("rb") as stream:
            return stream.read(most)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}") from error


def read_text(path: Path) -> str:
    """The text of a file. Raises InputError."""
    raw = read_bytes(path, MAX_INPUT_BYTES + 1)
    if len(raw) > MAX_INPUT_BYTES:
        raise InputError(f"{str(path)!r} has more than {MAX_INPUT_BYTES} bytes; give a smaller file")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{str(path)!r} is not UTF-8 text") from error


def write_bytes(path: Path, content: bytes) -> None:
    """The content as a file, written beside its place and then moved there: it is whole or as it was before.

    A link is followed, and a file that is replaced keeps its mode and its owner as far as we may set them. Anything
    but a regular file, such as /dev/stdout, is written to directly. Raises InputError.
    """
    target = path.resolve()
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(content)
        else:
            _replace(target, content)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror}") from error


def _replace(path: Path, content: bytes) -> None:
    before = path.stat() if path.exists() else None
    if before and not os.access(path, os.W_OK):
        raise PermissionError(EACCES, os.strerror(EACCES))
    beside = path.with_name(f".tdqs-{os.urandom(8).hex()}")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if before:
            with suppress(OSError, AttributeError):  # only root may give a file away, and Windows has no owners
                os.chown(beside, before.st_uid, before.st_gid)
            beside.chmod(S_IMODE(before.st_mode))
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def read_file(path: Path) -> Catalog:
    """The catalog in a file; its name is the file's stem where the content names no server. Raises InputError.

    A device could have no end, and a pipe no beginning: they are refused.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(f"{str(path)!r} is not a regular file; save it first, or pipe it in and give - as the locator")
    return read_content(read_bytes(path), origin=repr(str(path)), name=path.stem, source=path.name)


def read_content(content: bytes, *, origin: str, name: str, source: str | None = None) -> Catalog:
    """The catalog in the bytes of a file, which it keeps. Raises InputError, which names the origin."""
    return replace(read_catalog(parse_json(content, origin=origin), name=name, source=source), content=content)


def read_catalog(data: object, *, name: str, source: str | None = None) -> Catalog:
    """The catalog in parsed JSON. Raises InputError where no definitions can be found at all."""
    sanitized = [sanitize_page(page) for page in read_pages(data, source or name)]
    pages = [page for page, _ in sanitized]
    first = pages[0]
    info = _mapping(first.get("serverInfo"))
    incomplete = next(filter(None, (_text(page, "incomplete") for page in pages)), None)
    problems = [str(problem) for problem in _entries(pages, "problems") or []]
    problems += [sentence for _, sentences in sanitized for sentence in sentences]
    if incomplete is None and pages[-1].get("nextCursor") not in (None, ""):
        incomplete = "The last page of tools/list has a nextCursor; the pages after it are missing."
        problems.append(incomplete)
    return Catalog(
        server=_text(first, "server") or _text(first, "serverName") or _text(info, "name") or name,
        tools=tuple(_read_tool(entry, index) for index, entry in enumerate(_entries(pages, "tools") or [])),
        resources=read_resources(_entries(pages, "resources"), _entries(pages, "resourceTemplates")),
        prompts=read_prompts(_entries(pages, "prompts")),
        version=_text(first, "version") or _text(info, "version"),
        instructions=_text(first, "instructions"),
        source=_text(first, "source") or source,
        protocol_version=_text(first, "protocolVersion"),
        server_info=info or None,
        capabilities=_mapping(first.get("capabilities")) or None,
        caching=_caching(first),
        problems=tuple(problems),
        incomplete=incomplete,
    )


def read_pages(data: object, origin: str) -> list[Mapping[str, Any]]:
    """The data as one or more `tools/list` results, each with an array of tools. Raises InputError for other data."""
    if isinstance(data, list):
        if any(_is_page(entry) for entry in data):
            return [page for entry in data for page in read_pages(entry, origin)]
        if data and not any(isinstance(entry, Mapping) for entry in data):
            raise InputError(f"{origin} is an array without a single tool definition; give {SHAPES}")
        return [{"tools": data}]
    if not isinstance(data, Mapping):
        raise InputError(f"{origin} holds no object or array; give {SHAPES}")
    if "jsonrpc" in data or _is_page(data.get("result")):
        return _unwrapped(data, origin)
    if isinstance(data.get("tools"), list):
        return [data]
    if "tools" in data:
        raise InputError(f"tools in {origin} is not an array; give {SHAPES}")
    if "name" in data or "function" in data:
        return [{"tools": [data]}]
    raise InputError(f"{origin} holds no tool definitions; give {SHAPES}")


def _caching(page: Mapping[str, Any]) -> dict[str, Mapping[str, Any]] | None:
    """The hints of a captured catalog, or those of the `tools/list` answer itself."""
    captured = {method: _mapping(hints) for method, hints in _mapping(page.get("caching")).items()}
    own = {key: page[key] for key in CACHING_HINTS if key in page}
    return captured or ({"tools/list": own} if own else None)


def _unwrapped(envelope: Mapping[str, Any], origin: str) -> list[Mapping[str, Any]]:
    error = envelope.get("error")
    if isinstance(error, Mapping):
        raise InputError(
            f"{origin} is an error answer: {error.get('message')!r}; give the answer of a tools/list that worked"
        )
    if "result" not in envelope:
        raise InputError(f"{origin} is a JSON-RPC message without a result; give the answer to tools/list")
    return read_pages(envelope["result"], origin)


def _is_page(entry: object) -> bool:
    return isinstance(entry, Mapping) and (isinstance(entry.get("tools"), list) or "jsonrpc" in entry)


def _entries(pages: Sequence[Mapping[str, Any]], key: str) -> list[Any] | None:
    lists = [page[key] for page in pages if isinstance(page.get(key), list)]
    return [entry for entries in lists for entry in entries] if lists else None


def _read_tool(entry: object, index: int) -> Tool:
    translated = _as_mcp(entry)
    return read_tool(translated, index, is_mcp=translated is entry)


def _as_mcp(entry: object) -> object:
    """OpenAI's and Anthropic's formats say the same under other keys; everything else stays as it is."""
    if not isinstance(entry, Mapping):
        return entry
    function = entry.get("function")
    if entry.get("type") == "function" and isinstance(function, Mapping):
        return _renamed(function, "parameters")
    if entry.get("type") == "function" and "parameters" in entry:
        return _renamed(entry, "parameters")
    if "input_schema" in entry and "inputSchema" not in entry:
        return _renamed(entry, "input_schema")
    return entry


def _renamed(entry: Mapping[str, Any], schema: str) -> dict[str, Any]:
    """The entry with its schema under MCP's key; whatever else it says stays."""
    members = {key: value for key, value in entry.items() if key not in (schema, "output_schema")}
    if members.get("type") == "function":
        del members["type"]
    spelled = {"inputSchema": schema, "outputSchema": "output_schema"}
    return members | {
        key: entry[spelling] for key, spelling in spelled.items() if spelling in entry and key not in entry
    }


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(mapping: Mapping[str, Any], key: str) -> str | None:
    value = mapping.get(key)
    return value.strip() or None if isinstance(value, str) else None


_SPELLINGS = {"inputSchema": ("parameters", "input_schema"), "outputSchema": ("output_schema",)}
"""What OpenAI's and Anthropic's formats call a field."""


class DefinitionText(JsonText):
    """The text of a file of definitions, whose parts are those of a catalog."""

    def __init__(self, text: str) -> None:
        """Raises what reading a text that is no catalog leads to."""
        super().__init__(text)
        self.catalog = read_catalog(self.value, name="")
        """Its values are known by identity."""

    def find(self, place: Location) -> Position | None:
        """Return where the value stands, or the nearest one around it if it is missing; None for the server's own."""
        parts = {"tool": self.catalog.tools, "resource": self.catalog.resources, "prompt": self.catalog.prompts}
        listed: Sequence[Any] = parts.get(place.kind) or ()
        if place.index is None or place.index >= len(listed):
            return None
        node = self.node(listed[place.index].raw)
        if node is None:
            return None
        offset = node.start
        for key in split_pointer(place.path):
            if node is None or key not in node.members:
                break
            offset, node = node.members[key].start, super().node(node.members[key].value)
        return self.position(offset)

    def node(self, value: Any) -> JsonNode | None:  # noqa: ANN401  # any JSON value
        """Return where an object or an array of the catalog stands, a tool in another format under MCP's keys."""
        if node := super().node(value):
            return node
        values = value.values() if isinstance(value, Mapping) else ()
        parents = [node.parent for node in map(super().node, values) if node]
        if not parents or parents[0] is None:
            return None
        node = parents[0]
        members = {
            name: node.members[spelling]
            for name, spellings in _SPELLINGS.items()
            for spelling in spellings
            if spelling in node.members
        }
        return replace(node, parent=None, members={**members, **node.members})


def locate(content: bytes) -> DefinitionText | None:
    """Return the positions in a JSON file of definitions; None for one that is nested too deep to be scanned."""
    try:
        return DefinitionText(content.decode(json.detect_encoding(content), "surrogatepass"))
    except (RecursionError, InputError, ValueError, IndexError):
        return None
