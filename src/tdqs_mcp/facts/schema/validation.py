"""JSON Schema by a library: jsonschema-rs for speed, jsonschema where none of its wheels fits the machine."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn


class Fault(NamedTuple):
    """Where a value breaks a schema."""

    path: tuple[str | int, ...]
    """Keys and indices that lead to the value."""

    message: str


def check_schema(schema: Mapping[str, Any]) -> Fault | None:
    """Return where a schema breaks the meta-schema of its `$schema`, by default that of 2020-12."""
    try:
        from jsonschema_rs import ValidationError, meta  # noqa: PLC0415  # only unusual schemas need a library
    except ImportError:
        from jsonschema.validators import validator_for  # noqa: PLC0415

        validator = _default(validator_for, schema)
        return _first(validator(validator.META_SCHEMA).iter_errors(schema))
    try:
        meta.validate(dict(schema))
    except ValidationError as error:
        return Fault(tuple(error.instance_path), error.message)
    return None


def find_fault(schema: Mapping[str, Any], value: object) -> Fault | None:
    """Return where a value breaks a schema. Raises ValueError for a broken schema, and for one that lies elsewhere."""
    try:
        from jsonschema_rs import validator_for  # noqa: PLC0415
    except ImportError:
        return _find_in_python(schema, value)
    error = next(validator_for(dict(schema), retriever=_refuse).iter_errors(value), None)
    return None if error is None else Fault(tuple(error.instance_path), error.message)


def is_expression(pattern: str) -> bool:
    """Return true for a regular expression as ECMA-262 has them, as far as the library knows them."""
    try:
        from jsonschema_rs import validator_for  # noqa: PLC0415
    except ImportError:
        return _is_python_expression(pattern)
    try:
        validator_for({"pattern": pattern})
    except ValueError:
        return False
    return True


def _find_in_python(schema: Mapping[str, Any], value: object) -> Fault | None:
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415
    from jsonschema.validators import validator_for  # noqa: PLC0415
    from referencing import Registry  # noqa: PLC0415
    from referencing.exceptions import Unresolvable  # noqa: PLC0415

    validator = _default(validator_for, schema)
    try:
        validator.check_schema(schema)
        return _first(validator(schema, registry=Registry()).iter_errors(value))
    except (SchemaError, Unresolvable) as error:
        raise ValueError(str(error)) from error


def _default(validator_for: Any, schema: Mapping[str, Any]) -> Any:  # noqa: ANN401  # jsonschema types its classes so
    from jsonschema import Draft202012Validator  # noqa: PLC0415

    return validator_for(schema, default=Draft202012Validator)


def _first(errors: Any) -> Fault | None:  # noqa: ANN401  # jsonschema's iterator
    error = next(errors, None)
    return None if error is None else Fault(tuple(error.absolute_path), error.message)


def _refuse(uri: str) -> NoReturn:
    """A definition must not make this program read files or addresses."""
    raise ValueError(uri)


_ECMA_ALONE = re.compile(r"\\[pP]\{\w+(?:=\w+)?\}|\\u\{[0-9a-fA-F]{1,6}\}|\\c[A-Za-z]")
"""Escapes that Python's expressions do not have, such as `\\p{Letter}`; each stands for one character."""

_NAMED_GROUP = re.compile(r"\(\?<(?![=!])")


def _is_python_expression(pattern: str) -> bool:
    try:
        re.compile(_NAMED_GROUP.sub("(?P<", _ECMA_ALONE.sub("x", pattern)))
    except re.error:
        return False
    return True
