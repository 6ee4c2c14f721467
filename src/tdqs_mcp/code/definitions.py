"""Tool definitions as a server would list them, read from its code; parts that only running it can tell are gaps."""

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from tdqs_mcp.code.constants import Expression, SourceText, UnreadError, place, places_of, plain
from tdqs_mcp.code.flow import Interpreter
from tdqs_mcp.code.nodes import (
    Assign,
    Attribute,
    CallSite,
    Class,
    Function,
    Literal,
    Logic,
    Module,
    Name,
    ObjectLiteral,
    Other,
    Subscript,
    SyntaxNode,
    walk,
)
from tdqs_mcp.code.project import NameScope, ProjectModule, last_name
from tdqs_mcp.code.python_types import PythonSchemas
from tdqs_mcp.code.registrations import Registration
from tdqs_mcp.code.tool_search import NO_OVERLAY, find_tools
from tdqs_mcp.code.values import Instance
from tdqs_mcp.code.zod_types import CONVERTERS, ZodSchemas
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.model import Catalog, read_tool
from tdqs_mcp.results.tool_code import SourcePlace

DOCSTRING = "docstring"
"""The operator of a part of a docstring."""

MADE_BY_SDK = "the SDK's version decides it"
"""The reason why an output schema that the SDK makes of a return type is not read."""

MAX_NAMED = 3
"""Tools or places that a sentence names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticDefinition:
    """A tool as far as the code tells it."""

    raw: Mapping[str, Any]
    gaps: Mapping[str, str]
    """Why parts could not be read, by their JSON pointers."""


def read_definitions(folder: Path) -> Catalog:
    """Return a catalog of the tools that a folder's code registers; see `read_tools`. Raises InputError."""
    return read_tools(folder)[0]


def read_tools(
    folder: Path, overlay: Mapping[str, bytes] = NO_OVERLAY, parsed: MutableMapping[str, Module] | None = None
) -> tuple[Catalog, dict[str, dict[str, SourcePlace]]]:
    """Return a catalog of the tools that a folder's code registers, as far as the code tells it, and their places.

    Nothing is run. Left out are tools with a computed name or of a file that is not read. Raises as `read_code`.
    """
    interpreter, registrations, unread = find_tools(folder, overlay, parsed)
    reader = DefinitionReader(interpreter, registrations)
    named = [registration for registration in registrations if not registration.is_computed]
    computed = [registration for registration in registrations if registration.is_computed]
    definitions = [reader.read(registration) for registration in named]
    tools = [
        replace(read_tool(plain(definition.raw), index), unread=tuple(definition.gaps))
        for index, definition in enumerate(definitions)
    ]
    places = [f"{registration.module.path}:{registration.line}" for registration in computed]
    lost = (
        f"The names of tools are computed at {first_of(places, MAX_NAMED)}, so these are left out." if places else None
    )
    if not tools and not lost:
        lost = "No tool was found in the code; if another package has them, give that one's folder."
    catalog = Catalog(
        server=folder.resolve().stem if folder.is_file() else folder.resolve().name,
        tools=tuple(tools),
        instructions=interpreter.server_instructions(),
        source=folder.name or ".",
        unread=(*(sentence for sentence, _ in unread), *([lost] if lost else []), *_sentences(definitions)),
        incomplete=lost or next((sentence for sentence, may_register in unread if may_register), None),
    )
    pairs = zip(named, definitions, strict=True)
    return catalog, {registration.name: reader.places(registration, definition) for registration, definition in pairs}


def _sentences(definitions: Sequence[StaticDefinition]) -> Iterator[str]:
    """Yield a sentence for each part that could not be read, with the tools that it is about.

    None about schemas that no code has: there is nothing to do about them, and no rule speaks of them.
    """
    lost: dict[str, dict[str, str]] = {}
    for definition in definitions:
        for path, reason in definition.gaps.items():
            if reason != MADE_BY_SDK:
                part = path.removeprefix("/").partition("/")[0]
                lost.setdefault(part, {}).setdefault(definition.raw["name"], reason)
    for part, tools in lost.items():
        reason = next(iter(tools.values()))
        names = first_of(list(tools), MAX_NAMED)
        yield (
            f"{part} could not be read from the code, or not all of it, of {len(tools)} of {len(definitions)} tools "
            f"({names}): {reason}."
        )


class DefinitionReader:
    """Reads the definitions of a project's registrations."""

    def __init__(self, interpreter: Interpreter, registrations: Iterable[Registration]) -> None:
        self._interpreter = interpreter
        self._python = PythonSchemas(interpreter)
        self._script = ZodSchemas(interpreter)
        listed = [rival for registration in registrations for rival in registration.rivals]
        modules = [module for module in interpreter.project.modules if module.is_python]
        origins = [source for module in modules for source, _ in module.origins]
        self._is_fastmcp = any(source.partition(".")[0] == "fastmcp" for source in origins)
        self._changes_schemas = any(
            _is_change_of_schema(node) for module in interpreter.project.modules for node in module.tree.nodes
        )
        self._adds_annotations = self._are_annotations_added(listed)

    def places(self, registration: Registration, definition: StaticDefinition) -> dict[str, SourcePlace]:
        """Return where the parts of a tool's definition stand, by JSON pointer."""
        node = registration.node
        if isinstance(node, CallSite):
            node = node.keywords.get("name") or next(iter(node.arguments), node)
        elif isinstance(node, ObjectLiteral):
            node = node.get("name") or node
        # a name that a function above makes has no place of its own, or one of another file
        start = Expression(node=node if node.span[1] else registration.node, scope=self.scope_of(registration.module))
        return {"": place(start), **places_of(definition.raw)}

    def read(self, registration: Registration) -> StaticDefinition:
        """Return what all registrations of the tool's name say, where they agree."""
        readings = [self._read(rival) for rival in registration.rivals or (registration,)]
        raw: dict[str, Any] = {"name": registration.name}
        gaps: dict[str, str] = {}
        parts = registration.parts
        for part in ("title", "description", "inputSchema", "outputSchema", "annotations"):
            values = [reading.raw[part] for reading in readings if part in reading.raw]
            lost: dict[str, str] = {}
            for path, reason in (pair for reading in readings for pair in reading.gaps.items()):
                if path.startswith(f"/{part}"):
                    lost.setdefault(path, reason)
            if values and all(value == values[0] for value in values):
                raw[SourceText(part, parts[part]) if part in parts else part] = values[0]
                gaps |= {path: reason for path, reason in lost.items() if len(readings) == 1 or path != f"/{part}"}
            elif values:
                gaps[f"/{part}"] = "several registrations of the name differ in it"
            else:
                gaps |= dict([*lost.items()][:1])
        if any(not rival.is_direct or rival.dispatched for rival in registration.rivals):
            for part in [part for part in raw if part != "name" and self._is_changed(part, registration)]:
                raw.pop(part)
                gaps[f"/{part}"] = "it is put together where the tools are registered"
        raw.setdefault("inputSchema", {"type": "object"})
        return StaticDefinition(raw=raw, gaps=gaps)

    def _is_changed(self, part: str, registration: Registration) -> bool:
        """Return whether a registration in a loop hands on something else than a part as it stands."""
        if part == "inputSchema" and self._changes_schemas:
            return True
        templates = [
            template
            for template in registration.templates
            if template
            and all(
                expression.scope.module.is_python == registration.module.is_python for expression in template.values()
            )
        ]
        return any(
            part not in template or not _is_handed_on(self._python.locate(template[part]).node)
            for template in templates
        )

    def _read(self, registration: Registration) -> StaticDefinition:
        raw: dict[str, Any] = {}
        gaps: dict[str, str] = {}
        for part in ("title", "description"):
            text = self._part(registration, part, self._python.json, gaps)
            if isinstance(text, str):
                raw[part] = text
            elif text is not None:
                gaps[f"/{part}"] = f"no text at {registration.parts[part].place}"
        function = self.wrapped(registration)
        if "description" not in raw and "/description" not in gaps:
            if function is not None and isinstance(function.node, Function):
                self._documentation(function, function.node, raw, gaps)
            elif not registration.is_direct and "description" not in registration.parts:
                gaps["/description"] = "no text stands at the registration"
        self._annotations(registration, raw, gaps)
        self._input(registration, function, raw, gaps)
        output = self._part(registration, "outputSchema", self._schema, gaps)
        declared = registration.function.node if registration.function else None
        if output is not None:
            raw["outputSchema"] = output
        elif "outputSchema" not in registration.parts and isinstance(declared, Function) and declared.returns:
            gaps["/outputSchema"] = MADE_BY_SDK
        return StaticDefinition(raw=raw, gaps=gaps)

    def _part(
        self, registration: Registration, part: str, read: Callable[[Expression], Any], gaps: dict[str, str]
    ) -> Any:  # noqa: ANN401  # JSON
        """Return a part of a definition; None where it is left out, and with a gap where it is computed."""
        try:
            return read(registration.parts[part]) if part in registration.parts else None
        except UnreadError as error:
            gaps[f"/{part}"] = str(error)
            return None

    def locate(self, origin: Expression) -> Expression:
        """Return what an expression's names lead to."""
        return self._python.locate(origin)

    def scope_of(self, module: ProjectModule) -> NameScope:
        """Return the names at the top of a module."""
        return self._interpreter.scope_of(module)

    def wrapped(self, registration: Registration) -> Expression | None:
        """Return the function whose signature and docstring count: of a wrapper by `functools.wraps`, the inner."""
        function = registration.function
        if function is None or not isinstance(function.node, Function):
            return function
        for decorator in function.node.decorators:
            if isinstance(decorator, CallSite) and last_name(decorator) == "wraps" and decorator.arguments:
                word = last_name(decorator.arguments[0])
                receiver = registration.handler.receiver if registration.handler else None
                if isinstance(receiver, Instance) and word in receiver.of.node.methods:
                    return function.part(receiver.of.node.methods[word])
                inner = self._python.locate(function.part(decorator.arguments[0]))
                return inner if isinstance(inner.node, Function) else function
        return function

    def _documentation(self, function: Expression, node: Function, raw: dict[str, Any], gaps: dict[str, str]) -> None:
        """Read a docstring as the description, unless a decorator of the project changes it."""
        for decorator in node.decorators:
            outer = self._python.locate(
                function.part(decorator.function if isinstance(decorator, CallSite) else decorator)
            )
            if isinstance(outer.node, Function) and any(
                isinstance(part, Assign) and isinstance(part.target, Attribute) and part.target.key == "__doc__"
                for part in walk(outer.node.body)
            ):
                gaps["/description"] = f"{outer.node.name} changes the docstring at {outer.place}"
                return
        if node.docstring and node.documentation:
            raw["description"] = SourceText(node.documentation, function.part(node.docstring))

    def _annotations(self, registration: Registration, raw: dict[str, Any], gaps: dict[str, str]) -> None:
        members = self._part(registration, "annotations", self._python.json, gaps)
        if isinstance(members, dict):
            raw["annotations"] = {camel(key): value for key, value in members.items() if value is not None}
        elif members is not None:
            gaps["/annotations"] = f"they are no object at {registration.parts['annotations'].place}"
        elif self._adds_annotations and not registration.is_direct and "annotations" not in registration.parts:
            gaps["/annotations"] = "they are added elsewhere"

    def _input(
        self, registration: Registration, function: Expression | None, raw: dict[str, Any], gaps: dict[str, str]
    ) -> None:
        part = registration.parts.get("inputSchema")
        try:
            if part is not None:
                raw["inputSchema"] = self._schema(part)
            elif function is not None and isinstance(function.node, Function):
                schema, lost = self._python.of_function(function.node, function.scope)
                raw["inputSchema"] = schema
                self._split_documentation(function, function.node, raw)
                gaps.update(lost)
            elif registration.is_direct and not registration.module.is_python:
                raw["inputSchema"] = {"type": "object", "properties": {}}
            else:
                gaps["/inputSchema"] = "no schema stands at the registration"
        except UnreadError as error:
            gaps["/inputSchema"] = str(error)

    def _split_documentation(self, here: Expression, function: Function, raw: dict[str, Any]) -> None:
        """Move what a docstring says of parameters to them, as FastMCP does where it stands alone."""
        docstring = function.docstring
        split = split_docstring(function.documentation) if self._is_fastmcp else None
        if split is None or docstring is None:
            return
        if raw.get("description") == function.documentation:
            raw.pop("description")
            raw |= {"description": SourceText(split[0], here.part(docstring))} if split[0] else {}
        for name, text in split[1].items():
            schema = raw["inputSchema"]["properties"].get(name)
            if schema is not None:
                schema.setdefault("description", SourceText(text, here.part(_entry(here, docstring, name))))

    def _schema(self, part: Expression) -> dict[str, Any]:
        if not part.scope.module.is_python:
            return self._script.input_schema(part)
        node = self._python.locate(part).node
        if isinstance(node, CallSite) and isinstance(node.function, Attribute):
            if node.function.key in ("model_json_schema", "schema"):
                return self._python.of_model(part.part(node.function.value))
            if node.function.key == "json_schema" and node.arguments:
                return self._python.schema(part.part(node.arguments[0]))
        if isinstance(node, Class):
            return self._python.of_model(part)
        schema = self._python.json(part)
        if not isinstance(schema, dict):
            raise UnreadError(f"no schema stands at {part.place}")
        return schema

    def _are_annotations_added(self, registrations: Iterable[Registration]) -> bool:
        """Return whether annotations are put together anywhere but at a registration."""
        places = [
            part for registration in registrations for key, part in registration.parts.items() if key == "annotations"
        ]
        registered = {id(part.node) for part in places}
        for module in self._interpreter.project.modules:
            for node in module.tree.nodes:
                match node:
                    case ObjectLiteral(items=items):
                        values = [value for key, value in items if key == "annotations"]
                    case CallSite(keywords=keywords):
                        values = [keywords["annotations"]] if "annotations" in keywords else []
                    case Assign(target=Attribute(key="annotations"), value=value):
                        values = [value]
                    case _:
                        continue
                if any(id(value) not in registered and not _is_handed_on(value) for value in values):
                    return True
        return False


def _is_change_of_schema(node: SyntaxNode) -> bool:
    """Return whether a line changes the properties of a schema: `schema["properties"].pop("page")`."""
    match node:
        case Assign(target=Attribute(value=owner) | Subscript(value=owner)):
            return isinstance(owner, Attribute) and owner.key == "properties"
        case Other(operator="del", parts=parts):
            owners = [part.value for part in parts if isinstance(part, Attribute | Subscript)]
            return any(isinstance(owner, Attribute) and owner.key == "properties" for owner in owners)
        case CallSite(function=Attribute(value=Attribute(key="properties"), key=key)):
            return key in ("pop", "update", "clear", "setdefault")
        case _:
            return False


def _is_handed_on(node: SyntaxNode) -> bool:
    """Return whether an expression is a part as it stands: `tool.description`, `tool.text ?? ""`."""
    match node:
        case Name() | Attribute():
            return True
        case Logic(operator="or", values=[first, *_]):
            return _is_handed_on(first)
        case CallSite(function=function, arguments=[inner, *_]):
            return last_name(function) in CONVERTERS and _is_handed_on(inner)
        case _:
            return False


def camel(word: str) -> str:
    """Return a keyword of Python as MCP spells it: `read_only_hint` is `readOnlyHint`."""
    first, *rest = word.split("_")
    text = first + "".join(part.capitalize() for part in rest)
    return SourceText(text, word.origin) if isinstance(word, SourceText) else text


def _entry(here: Expression, docstring: Literal, name: str) -> SyntaxNode:
    """Return the text of a docstring that describes a parameter, with its further lines, as a node."""
    source = here.scope.module.tree.text
    pattern = rb"\n([ \t]*)\*{0,2}" + re.escape(name.encode()) + rb"(?:\s*\([^)\n]*\))?:[ \t]*(?:\r?\n[ \t]+)?"
    match = re.compile(pattern).search(source, *docstring.span)
    if match is None:
        return docstring
    further = re.compile(rb"[^\r\n]*(?:\r?\n" + match[1] + rb"[ \t]+\S[^\r\n]*)*").match(
        source, match.end(), docstring.span[1]
    )
    line = docstring.line + source.count(b"\n", docstring.span[0], match.end())
    return Other(line=line, span=further.span() if further else match.span(), operator=DOCSTRING)


_SECTION = re.compile(r"(?P<type>\w[\w \t-]*):(?:[ \t]+\S.*)?\s*")
"""`Args:`, `Returns:`, `Note: title`; a section if the next line is indented."""

_PARAMETER = re.compile(r"\*{0,2}(?P<name>\w+)(?:\s*\([^)]*\))?:\s*(?P<text>.*)")
_PARAMETER_SECTIONS = frozenset("args arguments params parameters".split())


def split_docstring(text: str) -> tuple[str, dict[str, str]] | None:
    """Return the text before the first section of a docstring, and what it says of each parameter; None without one."""
    lines = text.split("\n")
    starts = [
        number
        for number, line in enumerate(lines[:-1])
        if _SECTION.fullmatch(line) and lines[number + 1][:1] in (" ", "\t") and lines[number + 1].strip()
    ]
    if not starts:
        return None
    parameters: dict[str, str] = {}
    for start in starts:
        if lines[start].partition(":")[0].strip().lower() not in _PARAMETER_SECTIONS:
            continue
        block = list(takewhile(lambda line: not line.strip() or line[:1].isspace(), lines[start + 1 :]))
        current = ""
        for line in textwrap.dedent("\n".join(block)).strip("\n").split("\n"):
            match = None if line[:1].isspace() else _PARAMETER.fullmatch(line)
            if match is not None:
                current = match["name"]
                parameters[current] = match["text"]
            elif current:
                parameters[current] = f"{parameters[current]}\n{line.strip()}".strip()
    return "\n".join(lines[: starts[0]]).strip(), parameters
