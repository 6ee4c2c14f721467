"""Input schemas of JavaScript tools: zod chains, as zod writes them in JSON Schema, and plain objects."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from tdqs_mcp.code.constants import ConstantReader, Expression, SourceText, UnreadError, kinds_of
from tdqs_mcp.code.nodes import Attribute, CallSite, Collection, Function, Literal, Name, ObjectLiteral, Other, Return
from tdqs_mcp.code.project import last_name
from tdqs_mcp.facts.lexicon import read_table

Schema = dict[str, Any]

_TYPES = read_table("types", package="code")["zod"]
_PLAIN: Mapping[str, Schema] = _TYPES["plain"]
_KEEPING = frozenset(_TYPES["keeping"].split())
_SIZES = {"string": "Length", "array": "Items"}
CONVERTERS = frozenset("zodToJsonSchema toJSONSchema toJsonSchema".split())


class ZodSchemas(ConstantReader):
    """Reads schemas of zod and plain JSON Schema."""

    def input_schema(self, here: Expression) -> Schema:
        """Return the schema of a tool's input, made of zod types or written as JSON Schema. Raises UnreadError."""
        located = self.locate(here)
        match located.node:
            case ObjectLiteral(items=items):
                members = self.members(located)
                if "type" in members and isinstance(self.locate(members["type"]).node, Literal):
                    if not isinstance(schema := self.json(located), dict):
                        raise UnreadError(f"no schema stands at {located.place}")
                    return schema
                if not items:
                    return {"type": "object", "properties": {}}
                return self._shape(located)
            case CallSite(function=function, arguments=[inner, *_]) if last_name(function) in CONVERTERS:
                return self.input_schema(located.part(inner))
            case _:
                return self._plain(located)

    def _plain(self, here: Expression) -> Schema:
        schema, _ = self._zod(here)
        return schema

    def _shape(self, here: Expression) -> Schema:
        located = self.locate(here)
        if not isinstance(located.node, ObjectLiteral):
            return self._plain(located)
        result: Schema = {"type": "object", "properties": {}}
        for name, member in located.node.items:
            if name == "...":
                result = _merged(result, self._shape(located.part(member)))
            elif name:
                schema, is_optional = self._zod(located.part(member))
                key = SourceText(name, located.part(member))
                single: Schema = {"properties": {key: schema}, "required": [] if is_optional else [name]}
                result = _merged(result, single)
            else:
                raise UnreadError(f"a key is computed at {located.place}")
        return result

    def _zod(self, here: Expression) -> tuple[Schema, bool]:
        """Return the schema of a chain such as `z.string().min(1).optional()`, and whether it may be missing."""
        with self._step(here):
            located = self.locate(here)
            call = located.node
            if isinstance(call, Attribute) and call.key == "shape":
                return self._zod(located.part(call.value))
            if isinstance(call, ObjectLiteral):
                return self._shape(located), False
            if not isinstance(call, CallSite):
                raise UnreadError(f"a type cannot be read at {located.place}")
            if not isinstance(call.function, Attribute):
                return self._helper(located, call)
            owner, word = call.function.value, call.function.key
            arguments = [located.part(argument) for argument in call.arguments]
            if self._is_library(located.part(owner)):
                return self._base(located, word, arguments)
            schema, is_optional = self._zod(located.part(owner))
            try:
                return self._modified(located, schema, word, arguments, is_optional=is_optional)
            except (IndexError, TypeError) as error:  # z.string().describe(), z.string().meta("x")
                raise UnreadError(f"{word}() of a type cannot be read at {located.place}") from error

    def _is_library(self, owner: Expression) -> bool:
        """Return whether an expression is zod itself: `z`, `z.coerce`, a bundle's `external_exports`."""
        if isinstance(owner.node, Attribute):
            return owner.node.key in ("coerce", "z", "iso") and isinstance(owner.node.value, Name)
        if not isinstance(owner.node, Name):
            return False
        located = self.locate(owner)
        return located.node is owner.node or not isinstance(located.node, CallSite)

    def _helper(self, here: Expression, call: CallSite) -> tuple[Schema, bool]:
        """Read the type that a function without parameters gives back, or a parser's own: `optionalString()`."""
        target = self.locate(here.part(call.function))
        if isinstance(target.node, Function) and not call.arguments:
            results = [part for part in target.node.body.statements if isinstance(part, Return)]
            if len(results) == 1:
                return self._zod(target.part(results[0].value))
        raise UnreadError(f"a type is made at {here.place}")

    def _base(self, here: Expression, word: str, arguments: list[Expression]) -> tuple[Schema, bool]:
        match word, arguments:
            case _, [] if word in _PLAIN:
                return dict(_PLAIN[word]), word in ("any", "unknown")
            case "array", [inner, *_]:
                return {"type": "array", "items": self._plain(inner)}, False
            case "object" | "strictObject" | "looseObject", [shape, *_]:
                return self._shape(shape) | ({"additionalProperties": {}} if word == "looseObject" else {}), False
            case "object", []:
                return {"type": "object", "properties": {}}, False
            case "enum" | "nativeEnum", [values, *_]:
                return self._enum(values), False
            case "literal", [value, *_]:
                constant = self.json(value)
                several = constant if isinstance(constant, list) else [constant]
                names = {str: "string", bool: "boolean", int: "number", float: "number"}
                kinds = {names.get(kind) for kind in kinds_of(several)}
                typed = {"type": kind} if (kind := kinds.pop()) and not kinds else {}
                return typed | ({"const": several[0]} if len(several) == 1 else {"enum": several}), False
            case "union", [options, *_]:
                return self._union(options)
            case "discriminatedUnion", [_, options, *_]:
                return self._union(options)
            case "record", [*_, values]:
                schema: Schema = {"type": "object", "additionalProperties": self._plain(values)}
                return schema, False
            case "optional", [inner]:
                return self._plain(inner), True
            case "nullable", [inner]:
                return _nullable(self._plain(inner)), False
            case "lazy", [inner] if isinstance(inner.node, Function):
                raise UnreadError(f"a type refers to itself at {here.place}")
            case _:
                raise UnreadError(f"z.{word} cannot be read at {here.place}")

    def _enum(self, values: Expression) -> Schema:
        constant = self.json(values)
        listed = list(constant.values()) if isinstance(constant, dict) else constant
        if not isinstance(listed, list) or not listed:  # of a compiled enum, values come later
            raise UnreadError(f"the values of an enum are computed at {values.place}")
        return {"type": "string" if all(isinstance(value, str) for value in listed) else "number", "enum": listed}

    def _union(self, options: Expression) -> tuple[Schema, bool]:
        located = self.locate(options)
        if not isinstance(located.node, Collection):
            raise UnreadError(f"the options of a union are computed at {options.place}")
        branches = [self._zod(located.part(value)) for value in located.node.values]
        return {"anyOf": [schema for schema, _ in branches]}, any(is_optional for _, is_optional in branches)

    def _modified(  # one arm for each word of zod
        self, here: Expression, schema: Schema, word: str, arguments: list[Expression], *, is_optional: bool
    ) -> tuple[Schema, bool]:
        constants: Callable[[], Any] = lambda: self.json(arguments[0])  # noqa: E731
        match word:
            case "optional" | "exactOptional":
                return schema, True
            case "nullable":
                return _nullable(schema), is_optional
            case "nullish":
                return _nullable(schema), True
            case "default" | "prefault" | "catch":
                return schema | {"default": constants()}, True
            case "describe":
                return schema | {"description": constants()}, is_optional
            case "meta":
                return schema | constants(), is_optional
            case "array":
                return {"type": "array", "items": schema}, False
            case "min" | "max" | "length" | "nonempty":
                return schema | _size(schema, word, 1 if word == "nonempty" else constants()), is_optional
            case "regex":
                return schema | {"pattern": self._pattern(arguments[0])}, is_optional
            case "startsWith":
                return schema | {"pattern": f"^{re.escape(constants())}"}, is_optional
            case "or":
                return {"anyOf": [schema, self._plain(arguments[0])]}, is_optional
            case "extend" | "merge" | "safeExtend":
                return _merged(schema, self._plain(arguments[0])), is_optional
            case "omit" | "pick":
                names = set(self.members(arguments[0]))
                chosen = {key for key in schema.get("properties", {}) if (key in names) == (word == "pick")}
                properties = {key: value for key, value in schema.get("properties", {}).items() if key in chosen}
                required = [key for key in schema.get("required", []) if key in chosen]
                return {**schema, "properties": properties, "required": required}, is_optional
            case "partial":
                names = set(self.members(arguments[0])) if arguments else set(schema.get("properties", {}))
                required = [name for name in schema.get("required", []) if name not in names]
                return schema | {"required": required}, is_optional
            case _ if word in _KEEPING:
                return schema, is_optional
            case _ if word in _TYPES["fixed"]:
                return schema | _TYPES["fixed"][word], is_optional
            case _ if word in _TYPES["bounds"]:
                return schema | {_TYPES["bounds"][word]: constants()}, is_optional
            case _:
                raise UnreadError(f"{word}() of a type cannot be read at {here.place}")

    def _pattern(self, here: Expression) -> str:
        match self.locate(here).node:
            case Other(operator="regex", parts=[Literal(value=str(text))]):
                return text
        raise UnreadError(f"a pattern is computed at {here.place}")


def _nullable(schema: Schema) -> Schema:
    branches = schema["anyOf"] if set(schema) == {"anyOf"} else [schema]
    return {"anyOf": [*branches, {"type": "null"}]}


def _size(schema: Schema, word: str, value: object) -> Schema:
    kind = str(schema.get("type"))
    if kind in ("number", "integer"):
        return {"minimum" if word == "min" else "maximum": value}
    suffix = _SIZES.get(kind, "Length")
    if word == "length":
        return {f"min{suffix}": value, f"max{suffix}": value}
    return {f"{'max' if word == 'max' else 'min'}{suffix}": value}


def _merged(first: Schema, second: Schema) -> Schema:
    properties = first.get("properties", {}) | second.get("properties", {})
    required = [name for name in first.get("required", []) if name not in second.get("properties", {})]
    required += second.get("required", [])
    return {**first, "properties": properties} | {"required": required}
