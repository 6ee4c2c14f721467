"""Input schemas of Python functions: annotations, `Field` and models, as pydantic writes them, without its titles."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from tdqs_mcp.code.constants import ConstantReader, Expression, SourceText, UnreadError, kinds_of
from tdqs_mcp.code.nodes import (
    Attribute,
    CallSite,
    Class,
    Collection,
    FormalParameter,
    Function,
    Literal,
    Name,
    Other,
    Subscript,
    SyntaxNode,
    walk,
)
from tdqs_mcp.code.project import NameScope, last_name
from tdqs_mcp.code.registrations import GIVEN, is_context
from tdqs_mcp.code.resolution import MODELS
from tdqs_mcp.facts.lexicon import read_table

Schema = dict[str, Any]

_TYPES = read_table("types", package="code")["python"]
_PLAIN: Mapping[str, Schema] = _TYPES["plain"]
_CONTAINERS = {name: kind for kind, names in _TYPES["containers"].items() for name in names.split()}
_CONSTRAINTS: Mapping[str, str] = _TYPES["constraints"]
_NUMBERS = frozenset("minimum exclusiveMinimum maximum exclusiveMaximum multipleOf".split())
_MISSING = object()
_ENUMS = frozenset("Enum StrEnum IntEnum".split())


class PythonSchemas(ConstantReader):
    """Reads schemas of functions and models."""

    def of_function(self, function: Function, scope: NameScope) -> tuple[Schema, list[tuple[str, str]]]:
        """Return the input schema of a tool's function, and (pointer, reason) of what of it could not be read."""
        parameters = list(function.parameters)
        if parameters and parameters[0].name in ("self", "cls"):
            parameters = parameters[1:]
        slots = []
        for parameter in parameters:
            if parameter.star:
                raise UnreadError(f"its function takes {parameter.star}{parameter.name}")
            if not self._is_given(parameter, Expression(node=parameter, scope=scope)):
                slots.append(parameter)
        return self._of_slots(slots, scope)

    def of_model(self, model: Expression) -> Schema:
        """Return the schema of a pydantic model, a TypedDict or a dataclass. Raises UnreadError."""
        schema, gaps = self._model(self.locate(model))
        if gaps:
            raise UnreadError(gaps[0][1])
        return schema

    def _is_given(self, parameter: FormalParameter, here: Expression) -> bool:
        """Return whether the server, not the agent, gives a parameter."""
        default = parameter.default
        if isinstance(default, CallSite) and last_name(default) in GIVEN:
            return True
        if is_context(parameter):
            return True
        if isinstance(parameter.annotation, Name | Attribute):  # Current = Annotated[Client, Depends(get_client)]
            target = self.locate(here.part(parameter.annotation)).node
            return not isinstance(target, Class) and any(
                isinstance(part, Name | Attribute) and last_name(part) in GIVEN for part in walk(target)
            )
        return False

    def _of_slots(self, slots: Sequence[FormalParameter], scope: NameScope) -> tuple[Schema, list[tuple[str, str]]]:
        properties: Schema = {}
        required: list[str] = []
        gaps: list[tuple[str, str]] = []
        for slot in slots:
            try:
                key, schema, is_required = self._property(slot.name, slot.annotation, slot.default, scope)
            except UnreadError as error:
                gaps.append((f"/inputSchema/properties/{slot.name}", str(error)))
                key, schema, is_required = slot.name, {}, slot.default is None
            if key:
                properties[SourceText(key, Expression(node=slot, scope=scope))] = schema
                required += [key] * is_required
        result: Schema = {"type": "object", "properties": properties}
        return result | ({"required": required} if required else {}), gaps

    def _property(
        self, name: str, annotation: SyntaxNode | None, default: SyntaxNode | None, scope: NameScope
    ) -> tuple[str, Schema, bool]:
        node = annotation or Name(line=1, id="Any")
        schema, fields = self._annotated(Expression(node=node, scope=scope))
        value: Any = _MISSING
        if default is not None:
            here = Expression(node=default, scope=scope)
            located = self.locate(here)
            if isinstance(located.node, CallSite) and last_name(located.node.function) in (
                "Field",
                "field",
                "Query",
                "Body",
                "Param",
            ):
                fields = [*fields, located]
            else:
                value = self.json(here)
        key = name
        for field in fields:
            call = field.node
            assert isinstance(call, CallSite)  # noqa: S101
            schema = _constrained(schema, self._field(field, call))
            preset = call.keywords.get("default") or (call.arguments[0] if call.arguments else None)
            if preset is not None and not _is_ellipsis(preset):
                value = self.json(field.part(preset))
            elif "default_factory" in call.keywords:
                value = None if value is _MISSING else value
                alias = call.keywords.get("alias")
                key = self.json(field.part(alias)) if alias else key
                return key, schema, False
            alias = call.keywords.get("alias") or call.keywords.get("validation_alias")
            key = self.json(field.part(alias)) if alias else key
            if "exclude" in call.keywords and "init" in call.keywords:
                key = ""
        return (key, schema, True) if value is _MISSING else (key, schema | {"default": value}, False)

    def _field(self, field: Expression, call: CallSite) -> Schema:
        members: Schema = {}
        for name, node in call.keywords.items():
            if name in _CONSTRAINTS:
                part = field.part(node)
                members[SourceText(_CONSTRAINTS[name], part)] = self.json(part)
            elif name in ("min_length", "max_length"):
                members[name] = self.json(field.part(node))
            elif name == "json_schema_extra":
                members |= self.json(field.part(node))
            elif name == "**":
                raise UnreadError(f"a Field is filled in at {field.place}")
        return {key: value for key, value in members.items() if value is not None}

    def _annotated(self, here: Expression) -> tuple[Schema, list[Expression]]:
        """Return the schema of an annotation, and the Field calls beside its type."""
        node = here.node
        if isinstance(node, Name) and node.id not in _PLAIN:
            target = self.locate(here)
            if isinstance(target.node, Subscript):
                return self._annotated(target)
        if isinstance(node, Subscript) and last_name(node.value) == "Annotated" and isinstance(node.key, Collection):
            inner, *rest = node.key.values
            schema, fields = self._annotated(here.part(inner))
            for part in rest:
                located = self.locate(here.part(part))
                if isinstance(located.node, CallSite) and last_name(located.node.function) == "Field":
                    fields = [*fields, located]
                elif isinstance(located.node, Literal) and isinstance(located.node.value, str):
                    schema = schema | {"description": SourceText(located.node.value, located)}
            return schema, fields
        return self.schema(here), []

    def schema(self, here: Expression) -> Schema:
        """Return the schema of a type. Raises UnreadError."""
        with self._step(here):
            return self._schema(here)

    def _schema(self, here: Expression) -> Schema:
        match here.node:
            case Literal(value=None):
                return {"type": "null"}
            case Literal(value=str(text)):  # a forward reference
                return self._schema(here.part(Name(line=here.node.line, id=text)))
            case Other(operator="|", parts=parts):
                return self._union([here.part(part) for part in parts])
            case Subscript(value=outer, key=key):
                parts = list(key.values) if isinstance(key, Collection) else [key]
                return self._generic(last_name(outer), parts, here)
            case Attribute(value=outer, key=text) if last_name(outer) in ("Literal", "Optional", "Union", *_CONTAINERS):
                return self._generic(last_name(outer), [Literal(line=here.node.line, value=text)], here)
            case Name() | Attribute():
                word = last_name(here.node)
                located = self.locate(here)
                if located.node is here.node:
                    if word in _CONTAINERS:
                        return dict(_PLAIN[_CONTAINERS[word]])
                    if word in _PLAIN:
                        return dict(_PLAIN[word])
                elif isinstance(located.node, Class):
                    return self.of_model(located)
                else:
                    schema, fields = self._annotated(located)
                    for field in fields:
                        if isinstance(field.node, CallSite):
                            schema = _constrained(schema, self._field(field, field.node))
                    return schema
            case CallSite(function=function, arguments=[_, inner]) if last_name(function) == "NewType":
                return self.schema(here.part(inner))
        raise UnreadError(f"a type cannot be read at {here.place}")

    def _generic(self, word: str, parts: list[SyntaxNode], here: Expression) -> Schema:
        inner = [here.part(part) for part in parts]
        if word == "Literal":
            values = [self.json(part) for part in inner]
            kinds = kinds_of(values)
            names = {str: "string", int: "integer", bool: "boolean"}
            typed = {"type": names[next(iter(kinds))]} if len(kinds) == 1 and kinds <= names.keys() else {}
            return ({"const": values[0]} if len(values) == 1 else {"enum": values}) | typed
        if word == "Optional":
            return self._union([*inner, here.part(Literal(line=here.node.line, value=None))])
        if word == "Union":
            return self._union(inner)
        if word in ("Annotated", "Required", "NotRequired", "ReadOnly", "Final", "ClassVar"):
            schema, fields = self._annotated(here) if word == "Annotated" else (self.schema(inner[0]), [])
            for field in fields:
                if isinstance(field.node, CallSite):
                    schema = _constrained(schema, self._field(field, field.node))
            return schema
        kind = _CONTAINERS.get(word)
        if kind == "dict" and len(inner) == 2:
            values_schema = self.schema(inner[1])
            return {"type": "object", "additionalProperties": values_schema or True}
        if kind in ("list", "set") and len(inner) == 1:
            return {**_PLAIN[kind], "items": self.schema(inner[0])}
        if kind == "tuple":
            if len(inner) == 2 and _is_ellipsis(parts[1]):
                return {"type": "array", "items": self.schema(inner[0])}
            items = [self.schema(part) for part in inner]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        raise UnreadError(f"a type cannot be read at {here.place}")

    def _union(self, parts: list[Expression]) -> Schema:
        branches: list[Schema] = []
        for part in parts:
            schema = self.schema(part)
            inner = schema["anyOf"] if set(schema) == {"anyOf"} else [schema]
            branches += [branch for branch in inner if branch not in branches]
        return {"anyOf": branches} if len(branches) > 1 else branches[0]

    def _model(self, here: Expression) -> tuple[Schema, list[tuple[str, str]]]:
        if not isinstance(here.node, Class):
            raise UnreadError(f"a model is made at {here.place}")
        node: Class = here.node
        lineage = list(self._lineage(here))
        names = {last_name(base) for part in lineage for base in getattr(part.node, "bases", ())}
        if names & _ENUMS:
            values = [
                self.json(part.part(value))
                for part in lineage
                if isinstance(part.node, Class)
                for value in part.node.fields.values()
            ]
            kinds = kinds_of(values)
            typed = {"type": "string"} if kinds == {str} else {"type": "integer"} if kinds == {int} else {}
            return {"enum": values} | typed | _documented(here, node), []
        is_data = any(last_name(decorator) in ("dataclass", "define") for decorator in node.decorators)
        if not names & MODELS and not is_data:
            raise UnreadError(f"{node.name} is no model that can be read ({here.place})")
        slots: dict[str, tuple[SyntaxNode | None, SyntaxNode | None, NameScope]] = {}
        for part in reversed(lineage):
            if isinstance(part.node, Class):
                if part.node.has_keywords:  # class Part(TypedDict, total=False)
                    raise UnreadError(f"{part.node.name} is made with keywords ({part.place})")
                for name, annotation in part.node.annotations.items():
                    is_class_variable = isinstance(annotation, Subscript) and last_name(annotation.value) == "ClassVar"
                    if not name.startswith("_") and not is_class_variable and name != "model_config":
                        slots[name] = (annotation, part.node.fields.get(name), part.scope)
        properties: Schema = {}
        required: list[str] = []
        gaps: list[tuple[str, str]] = []
        for name, (kind, default, scope) in slots.items():
            place = kind or default
            slot = FormalParameter(line=place.line if place else 1, name=name, annotation=kind, default=default)
            slot.span = place.span if place else (0, 0)
            schema, inner_gaps = self._of_slots([slot], scope)
            gaps += inner_gaps
            properties |= schema["properties"]
            is_optional = isinstance(kind, Subscript) and last_name(kind.value) == "NotRequired"
            required += schema.get("required", []) if not is_optional else []
        result: Schema = {"type": "object", "properties": properties} | ({"required": required} if required else {})
        return result | _documented(here, node), gaps

    def _lineage(self, here: Expression) -> Iterator[Expression]:
        """Yield a class and its bases that the project has."""
        pending, visited = [here], set[int]()
        while pending:
            current = pending.pop(0)
            if isinstance(current.node, Class) and id(current.node) not in visited:
                visited.add(id(current.node))
                yield current
                with suppress(UnreadError):
                    pending += [self.locate(current.part(base)) for base in current.node.bases]


def _documented(here: Expression, node: Class) -> Schema:
    text = node.documentation
    return {"description": SourceText(text, here.part(node.docstring))} if text and node.docstring else {}


def _is_ellipsis(node: SyntaxNode) -> bool:
    return isinstance(node, Other) and node.operator == "..."


def _constrained(schema: Schema, members: Schema) -> Schema:
    """Return a schema with what a Field says; bounds go to the branch of a union that they fit."""
    rest = {
        key: value for key, value in members.items() if key not in (*_NUMBERS, "pattern", "min_length", "max_length")
    }
    return _bounded(schema, {key: value for key, value in members.items() if key not in rest}) | rest


def _bounded(schema: Schema, bounds: Schema) -> Schema:
    if not bounds:
        return schema
    if "anyOf" in schema:
        return schema | {"anyOf": [_bounded(branch, bounds) for branch in schema["anyOf"]]}
    kind = schema.get("type")
    own: Schema = {}
    for key, value in bounds.items():
        if key in ("min_length", "max_length"):
            suffix = {"string": "Length", "array": "Items", "object": "Properties"}.get(str(kind))
            own |= {f"{key[:3]}{suffix}": value} if suffix else {}
        elif (kind in ("integer", "number")) == (key in _NUMBERS) and kind != "null":
            own[key] = value
    return schema | own
