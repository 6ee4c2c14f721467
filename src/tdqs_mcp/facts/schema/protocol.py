"""Parts of a definition that are valid JSON Schema, and that MCP 2026-07-28 or some readers refuse."""

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from tdqs_mcp.facts.lexicon import PatternTable, words_from
from tdqs_mcp.facts.schema.walk import (
    Deviation,
    Node,
    Shape,
    escape_step,
    keyword_members,
    required_names,
    split_pointer,
    type_of,
)
from tdqs_mcp.facts.spelling import name_parts
from tdqs_mcp.model import CACHING_HINTS, Catalog, Resource, Tool

MODERN = "2026-07-28"
"""The first revision with caching hints."""

APP_TYPE = "text/html;profile=mcp-app"
"""The only type that MCP Apps 2026-01-26 shows."""

_HEADER = "x-mcp-header"
_PATTERNS = PatternTable("protocol")
_words = partial(words_from, "protocol")


def unfit_headers(shape: Shape) -> Iterator[Deviation]:
    """Annotations for which a client over HTTP must leave the tool out, each with the first reason."""
    used_names: set[str] = set()
    for node in shape.by_keyword.get(_HEADER, ()):
        reason = _why_unfit_header(node, used_names)
        if reason:
            yield Deviation(f"{node.path}/{_HEADER}", reason)
        used_names.add(str(node.schema[_HEADER]).lower())


def _why_unfit_header(node: Node, used_names: set[str]) -> str | None:
    name, kind = node.schema[_HEADER], node.schema.get("type")
    if not _is_reachable(node):
        return "cannot be reached from the root by properties alone"
    if not isinstance(name, str) or not _PATTERNS.field_name.fullmatch(name):
        return f"{_quoted(name)} cannot be part of an HTTP header's name"
    if not isinstance(kind, str) or kind not in _words("mirrored_types"):
        return f"is on type {_quoted(kind)}, and only string, integer and boolean can be mirrored"
    return f"{name!r} names the same header as another one" if name.lower() in used_names else None


def _is_reachable(node: Node) -> bool:
    """Every second step is `properties`, the others are names."""
    steps = node.path.split("/")[2:]
    return bool(steps) and len(steps) % 2 == 0 and set(steps[::2]) == {"properties"}


def mirrored_secrets(shape: Shape) -> Iterator[Deviation]:
    """Parameters that are mirrored into a header and whose names say that their values are sensitive."""
    for node in shape.by_keyword.get(_HEADER, ()):
        name = node.name or ""
        if node.schema.get("format") == "password" or _PATTERNS.secret.search(" ".join(name_parts(name))):
            yield Deviation(f"{node.path}/{_HEADER}", name)


def nested_dialects(shape: Shape) -> Iterator[Deviation]:
    """Subschemas with a `$schema` and no `$id`: they are no resources of their own, so none may stand there."""
    for node in shape.by_keyword.get("$schema", ()):
        if node is not shape.nodes[0] and "$id" not in node.schema:
            yield Deviation(f"{node.path}/$schema", _quoted(node.schema["$schema"]))


def takes_anything(tool: Tool) -> bool:
    """The tool has no parameters, and its schema does not say that it takes none."""
    schema = tool.input_schema
    if schema is None or schema.get("type") != "object" or schema.get("properties") or schema.get("required"):
        return False
    return _words("open_keywords").issuperset(schema)


def refused_icons(raw: object) -> Iterator[tuple[Deviation, bool]]:
    """Yield what clients refuse of the icons of a tool, a resource, a prompt or a server; and whether only some do."""
    icons = raw.get("icons") if isinstance(raw, Mapping) else None
    if icons is None:
        return
    if not isinstance(icons, Sequence) or isinstance(icons, str):
        yield Deviation("/icons", "icons is not an array"), False
        return
    for place, icon in enumerate(icons):
        path = f"/icons/{place}"
        if not isinstance(icon, Mapping):
            yield Deviation(path, "the icon is not an object"), False
            continue
        yield from ((Deviation(f"{path}/{key}", problem), False) for key, problem in _malformed_fields(icon))
        source = icon.get("src")
        scheme = source.partition(":")[0].lower() if isinstance(source, str) else None
        if isinstance(source, str) and (":" not in source or scheme not in _words("safe_schemes")):
            problem = f"clients show icons from https: and data: only, not {_quoted(source)}"
            yield Deviation(f"{path}/src", problem), scheme == "http"


def _malformed_fields(icon: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not isinstance(icon.get("src"), str):
        yield "src", "the icon has no src" if icon.get("src") is None else "src is not a string"
    if not isinstance(icon.get("mimeType", ""), str | None):
        yield "mimeType", "mimeType is not a string"
    sizes, theme = icon.get("sizes"), icon.get("theme")
    if sizes is not None and not (isinstance(sizes, list) and all(isinstance(size, str) for size in sizes)):
        yield "sizes", 'sizes is not an array of strings such as "48x48"'
    if theme is not None and (not isinstance(theme, str) or theme not in _words("themes")):
        yield "theme", f"theme is {_quoted(theme)}, not light or dark"


def malformed_meta(raw: object) -> Iterator[tuple[Deviation, bool]]:
    """A `_meta` that is not an object, and keys of one that are not in the form that MCP asks for; true for those."""
    meta = raw.get("_meta") if isinstance(raw, Mapping) else None
    if isinstance(meta, Mapping):
        for key in meta:
            if not _PATTERNS.meta_key.fullmatch(key):
                yield (
                    Deviation(
                        f"/_meta/{escape_step(key)}", f"the key {_quoted(key)} does not have the form prefix/name"
                    ),
                    True,
                )
    elif meta is not None:
        yield Deviation("/_meta", "_meta is not an object"), False


def broken_app_links(tool: Tool, catalog: Catalog) -> Iterator[tuple[Deviation, bool]]:
    """Yield what keeps a host from showing the tool's app (MCP Apps 2026-01-26); true for what only some hosts mind."""
    meta = tool.raw.get("_meta") if isinstance(tool.raw, Mapping) else None
    if not isinstance(meta, Mapping):
        return
    app = meta.get("ui")
    if not isinstance(app, Mapping):
        if "ui/resourceUri" in meta:
            yield Deviation("/_meta/ui~1resourceUri", "ui/resourceUri is the deprecated form of ui.resourceUri"), True
        return
    path, uri, sees = "/_meta/ui/resourceUri", app.get("resourceUri"), app.get("visibility")
    if uri is not None and not (isinstance(uri, str) and uri.startswith("ui://")):
        yield Deviation(path, f"resourceUri is {_quoted(uri)}, but an app's URI starts with ui://"), False
    elif uri is not None and catalog.capabilities is not None and "resources" not in catalog.capabilities:
        yield Deviation(path, f"{_quoted(uri)} cannot be read: the server does not declare resources"), False
    elif uri is not None and (listed := _other_type(uri, catalog.resources or ())):
        yield Deviation(path, f"{_quoted(uri)} is listed with type {_quoted(listed)}, but hosts show {APP_TYPE}"), True
    if sees is not None and (not isinstance(sees, list) or not _words("app_visibility").issuperset(map(str, sees))):
        yield Deviation("/_meta/ui/visibility", 'visibility is not a list of "model" and "app"'), False


def _other_type(uri: str, resources: Sequence[Resource]) -> str | None:
    types = (resource.mime_type for resource in resources if resource.uri == uri and not resource.is_template)
    return next((kind for kind in types if kind and kind.replace(" ", "").lower() != APP_TYPE), None)


def unusable_task_support(tool: Tool, catalog: Catalog) -> Iterator[Deviation]:
    """Yield what clients refuse of `execution`, and a task that is required of a server that has no tasks."""
    execution = tool.raw.get("execution") if isinstance(tool.raw, Mapping) else None
    if execution is None:
        return
    if not isinstance(execution, Mapping):
        yield Deviation("/execution", "execution is not an object")
        return
    support = execution.get("taskSupport")
    if support is not None and (not isinstance(support, str) or support not in _words("task_support")):
        yield Deviation(
            "/execution/taskSupport", f"taskSupport is {_quoted(support)}, not forbidden, optional or required"
        )
    elif support == "required" and catalog.protocol_version == "2025-11-25" and not _has_tasks(catalog):
        yield Deviation(
            "/execution/taskSupport", "taskSupport is required, and the server declares no tasks for tools/call"
        )


def _has_tasks(catalog: Catalog) -> bool:
    value: object = catalog.capabilities
    for key in ("tasks", "requests", "tools", "call"):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value is not None


def unfit_caching(catalog: Catalog) -> Iterator[Deviation]:
    """Answers whose caching hints are absent, where the revision requires them, or are not what it allows."""
    is_modern = (catalog.protocol_version or "") >= MODERN
    for method, hints in (catalog.caching or {}).items():
        missing = [key for key in CACHING_HINTS if key not in hints]
        path = f"/caching/{escape_step(method)}"
        if is_modern and missing:
            yield Deviation(path, f"the answer to {method} has no {' and no '.join(missing)}")
        lifetime, scope = hints.get("ttlMs", 0), hints.get("cacheScope", "private")
        if type_of(lifetime) != "integer" or lifetime < 0:
            yield Deviation(
                f"{path}/ttlMs", f"ttlMs of {method} is {_quoted(lifetime)}, not a whole number of at least 0"
            )
        if not isinstance(scope, str) or scope not in _words("cache_scopes"):
            yield Deviation(f"{path}/cacheScope", f"cacheScope of {method} is {_quoted(scope)}, not public or private")


def _quoted(value: object) -> str:
    text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"


def unfit_keys(shape: Shape, pattern: str) -> Iterator[Deviation]:
    """Parameters whose name does not match."""
    fits = re.compile(pattern).fullmatch
    for name in keyword_members(shape.root):
        if not fits(name):
            yield Deviation(
                f"{shape.nodes[0].path}/properties/{escape_step(name)}", f"the parameter name {name[:80]!r}"
            )


def root_keywords(shape: Shape, words: Container[str]) -> Iterator[Deviation]:
    """Keywords of the schema itself, not of its parameters."""
    for word in shape.root:
        if word in words:
            yield Deviation(f"{shape.nodes[0].path}/{word}", f"{word} at the root")


def used_keywords(shape: Shape, words: Container[str]) -> Iterator[Deviation]:
    """Keywords at any depth."""
    for word, nodes in shape.by_keyword.items():
        if word in words:
            yield from (Deviation(f"{node.path}/{word}", f"{word} {_owner(node.path)}") for node in nodes)


def arrays_without_items(shape: Shape) -> Iterator[Deviation]:
    """Arrays that do not say what is in them."""
    for node in shape.by_keyword.get("type", ()):
        if node.schema["type"] == "array" and "items" not in node.schema:
            yield Deviation(node.path, f"the array {_name(node.path)} without items")


def listed_arrays_without_items(shape: Shape) -> Iterator[Deviation]:
    """Lists of types with an array that does not say what is in it."""
    for node in shape.by_keyword.get("type", ()):
        if _is_list(node.schema["type"]) and "array" in node.schema["type"] and "items" not in node.schema:
            yield Deviation(node.path, f"the array {_owner(node.path)} without items")


def type_lists(shape: Shape) -> Iterator[Deviation]:
    """Types that are a list."""
    for node in shape.by_keyword.get("type", ()):
        if isinstance(node.schema["type"], list):
            yield Deviation(f"{node.path}/type", f"the list of types {_owner(node.path)}")


def enums_beyond_text(shape: Shape) -> Iterator[Deviation]:
    """Enums with a number or a Boolean."""
    for node in shape.by_keyword.get("enum", ()):
        members = node.schema["enum"]
        other = (
            next((member for member in members if isinstance(member, int | float)), None) if _is_list(members) else None
        )
        if other is not None:
            yield Deviation(f"{node.path}/enum", f"the member {other!r} in the enum {_owner(node.path)}")


def empty_choices(shape: Shape) -> Iterator[Deviation]:
    """Enums with an empty string."""
    for node in shape.by_keyword.get("enum", ()):
        if _is_list(node.schema["enum"]) and "" in node.schema["enum"]:
            yield Deviation(f"{node.path}/enum", f"the empty string in the enum {_owner(node.path)}")


def boolean_schemas(shape: Shape) -> Iterator[Deviation]:
    """Properties whose schema is true or false."""
    for node in shape.by_keyword.get("properties", ()):
        for name, schema in keyword_members(node.schema).items():
            if isinstance(schema, bool):
                path = f"{node.path}/properties/{escape_step(name)}"
                yield Deviation(path, f"the schema {str(schema).lower()} {_owner(path)}")


def open_objects(shape: Shape) -> Iterator[Deviation]:
    """Objects that allow further properties."""
    for node in shape.nodes:
        is_object = node.schema.get("type") == "object" or "properties" in node.schema
        if is_object and node.schema.get("additionalProperties") is not False:
            yield Deviation(node.path, f"the open object {_name(node.path)}")


def optional_properties(shape: Shape) -> Iterator[Deviation]:
    """Properties that `required` does not name."""
    for node in shape.by_keyword.get("properties", ()):
        needed = frozenset(required_names(node.schema))
        for name in keyword_members(node.schema):
            if name not in needed:
                path = f"{node.path}/properties/{escape_step(name)}"
                yield Deviation(path, f"the optional property {_name(path)}")


def deep_properties(shape: Shape, levels: int) -> Iterator[Deviation]:
    """Objects below so many others."""
    for node in shape.by_keyword.get("properties", ()):
        depth = 1 + node.path.count("/properties/")
        if depth > levels:
            yield Deviation(node.path, f"the {depth} levels {_owner(node.path)}")


def _owner(path: str) -> str:
    name = _name(path)
    return name if name == _ROOT else f"of {name}"


def _name(path: str) -> str:
    """The parameter that a pointer leads into, with the properties below it."""
    steps = iter(split_pointer(path))
    names = ".".join(next(steps, "") for step in steps if step in ("properties", "$defs", "definitions"))
    return repr(names[:80]) if names else _ROOT


_ROOT = "at the root"


def _is_list(value: object) -> bool:
    return isinstance(value, list)
