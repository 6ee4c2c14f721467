"""MCP Playground's grade, calculated from its methodology and from nothing of ours: what `grade` must equal."""

import re

ERROR, WARNING, INFO = 15, 5, 1
USUAL = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]*\Z")


def units(text):
    return len((text or "").strip().encode("utf-16-le")) // 2


def is_nothing(value):
    """What JavaScript takes for false."""
    return value is None or value is False or value == "" or (isinstance(value, int | float) and value == 0)


def is_blank(value):
    return is_nothing(value) or (isinstance(value, str) and not value.strip())


def spelled(text):
    return re.sub("[_-]", " ", text.lower())


def tool_points(tool):
    text = tool.get("description")
    if is_blank(text):
        yield ERROR
    else:
        if units(text) < 10:
            yield WARNING
        if units(text) > 500:
            yield WARNING
        if spelled(text.strip()) == spelled(tool["name"]):
            yield WARNING
    schema = tool.get("inputSchema")
    if isinstance(schema, dict):
        yield from schema_points(schema)
    else:
        yield WARNING
    if not USUAL.match(tool["name"]):
        yield INFO


def schema_points(schema):
    if schema.get("type") != "object":
        yield INFO
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        if schema.get("type") == "object":
            yield INFO
        return
    for entry in properties.values():
        if is_nothing(entry):
            continue
        yield from property_points(entry if isinstance(entry, dict) else {})
    names = required if isinstance(required, list) else []
    if properties and not names:
        yield INFO
    yield from (ERROR for name in names if not isinstance(name, str) or name not in properties)


def property_points(entry):
    if is_blank(entry.get("description")):
        yield WARNING
    if all(is_nothing(entry.get(key)) for key in ("type", "enum", "oneOf", "anyOf", "allOf", "$ref")):
        yield WARNING


def resource_points(resource):
    if is_nothing(resource.get("name")):
        yield WARNING
    if is_blank(resource.get("description")):
        yield WARNING
    if is_nothing(resource.get("mimeType")):
        yield INFO


def prompt_points(prompt):
    if is_blank(prompt.get("description")):
        yield ERROR
    for argument in prompt.get("arguments") or []:
        if is_blank(argument.get("description")):
            yield WARNING


def server_points(info, tools):
    """`info` is None where nobody has seen the initialize answer."""
    if info is not None:
        if info.get("name") in (None, "", "Unknown Server"):
            yield WARNING
        if info.get("version") in (None, "", "unknown"):
            yield WARNING
    names = [tool["name"] for tool in tools]
    if len(set(names)) < len(names):
        yield ERROR


def expected(tools, resources=(), prompts=(), info=None):
    """Score and letter of raw definitions."""
    if not (tools or resources or prompts):
        return 0, "F"
    lost = sum(server_points(info, tools))
    for entries, points in ((tools, tool_points), (resources, resource_points), (prompts, prompt_points)):
        lost += sum(sum(points(entry)) for entry in entries)
    bonus = 5 if tools and all(units(tool.get("description")) >= 20 for tool in tools) else 0
    score = max(0, min(100, 100 - lost + bonus))
    return score, next(letter for letter, floor in zip("ABCDF", (90, 75, 60, 40, 0), strict=True) if score >= floor)
