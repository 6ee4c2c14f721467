"""Parts of a schema that JSON Schema allows and some readers refuse: keys, keywords, arrays, enums, open objects."""

import re
from collections.abc import Container, Iterator

from tdqs_mcp.facts.schema.conformance import Breach
from tdqs_mcp.facts.schema.walk import Shape, escape_step, keyword_members, required_names, split_pointer


def unfit_keys(shape: Shape, pattern: str) -> Iterator[Breach]:
    """Parameters whose name does not match."""
    fits = re.compile(pattern).fullmatch
    for name in keyword_members(shape.root):
        if not fits(name):
            yield Breach(f"{shape.nodes[0].path}/properties/{escape_step(name)}", f"the parameter name {name[:80]!r}")


def root_keywords(shape: Shape, words: Container[str]) -> Iterator[Breach]:
    """Keywords of the schema itself, not of its parameters."""
    for word in shape.root:
        if word in words:
            yield Breach(f"{shape.nodes[0].path}/{word}", f"{word} at the root")


def used_keywords(shape: Shape, words: Container[str]) -> Iterator[Breach]:
    """Keywords at any depth."""
    for word, nodes in shape.by_keyword.items():
        if word in words:
            yield from (Breach(f"{node.path}/{word}", f"{word} {_owner(node.path)}") for node in nodes)


def arrays_without_items(shape: Shape) -> Iterator[Breach]:
    """Arrays that do not say what is in them."""
    for node in shape.by_keyword.get("type", ()):
        if node.schema["type"] == "array" and "items" not in node.schema:
            yield Breach(node.path, f"the array {_name(node.path)} without items")


def listed_arrays_without_items(shape: Shape) -> Iterator[Breach]:
    """Lists of types with an array that does not say what is in it."""
    for node in shape.by_keyword.get("type", ()):
        if _is_list(node.schema["type"]) and "array" in node.schema["type"] and "items" not in node.schema:
            yield Breach(node.path, f"the array {_owner(node.path)} without items")


def type_lists(shape: Shape) -> Iterator[Breach]:
    """Types that are a list."""
    for node in shape.by_keyword.get("type", ()):
        if isinstance(node.schema["type"], list):
            yield Breach(f"{node.path}/type", f"the list of types {_owner(node.path)}")


def enums_beyond_text(shape: Shape) -> Iterator[Breach]:
    """Enums with a number or a Boolean."""
    for node in shape.by_keyword.get("enum", ()):
        members = node.schema["enum"]
        other = (
            next((member for member in members if isinstance(member, int | float)), None) if _is_list(members) else None
        )
        if other is not None:
            yield Breach(f"{node.path}/enum", f"the member {other!r} in the enum {_owner(node.path)}")


def empty_choices(shape: Shape) -> Iterator[Breach]:
    """Enums with an empty string."""
    for node in shape.by_keyword.get("enum", ()):
        if _is_list(node.schema["enum"]) and "" in node.schema["enum"]:
            yield Breach(f"{node.path}/enum", f"the empty string in the enum {_owner(node.path)}")


def boolean_schemas(shape: Shape) -> Iterator[Breach]:
    """Properties whose schema is true or false."""
    for node in shape.by_keyword.get("properties", ()):
        for name, schema in keyword_members(node.schema).items():
            if isinstance(schema, bool):
                path = f"{node.path}/properties/{escape_step(name)}"
                yield Breach(path, f"the schema {str(schema).lower()} {_owner(path)}")


def open_objects(shape: Shape) -> Iterator[Breach]:
    """Objects that allow further properties."""
    for node in shape.nodes:
        is_object = node.schema.get("type") == "object" or "properties" in node.schema
        if is_object and node.schema.get("additionalProperties") is not False:
            yield Breach(node.path, f"the open object {_name(node.path)}")


def optional_properties(shape: Shape) -> Iterator[Breach]:
    """Properties that `required` does not name."""
    for node in shape.by_keyword.get("properties", ()):
        needed = frozenset(required_names(node.schema))
        for name in keyword_members(node.schema):
            if name not in needed:
                path = f"{node.path}/properties/{escape_step(name)}"
                yield Breach(path, f"the optional property {_name(path)}")


def deep_properties(shape: Shape, levels: int) -> Iterator[Breach]:
    """Objects below so many others."""
    for node in shape.by_keyword.get("properties", ()):
        depth = 1 + node.path.count("/properties/")
        if depth > levels:
            yield Breach(node.path, f"the {depth} levels {_owner(node.path)}")


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
