"""Whether a schema is one, by the meta-schema of the draft that it declares; costs more than other facts."""

from collections.abc import Mapping
from typing import Any

from tdqs_mcp.canonical import canonical_json

DRAFTS = frozenset(
    f"{scheme}://json-schema.org/{draft}"
    for scheme in ("http", "https")
    for draft in (
        "draft-04/schema",
        "draft-06/schema",
        "draft-07/schema",
        "draft/2019-09/schema",
        "draft/2020-12/schema",
    )
)
"""Drafts that can be checked; MCP takes 2020-12 where `$schema` is absent (MCP 2025-11-25, JSON Schema usage)."""


class Validity:
    """Answers about schemas, remembered for one catalog: generated tools repeat the same schema."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, str] | None] = {}

    def flaw(self, schema: Mapping[str, Any]) -> tuple[str, str] | None:
        """Where the first flaw lies, as a JSON pointer inside the schema, and what it is; None for a valid schema."""
        key = canonical_json(schema)
        if key not in self._known:
            self._known[key] = _flaw(schema)
        return self._known[key]


def _flaw(schema: Mapping[str, Any]) -> tuple[str, str] | None:
    declared = schema.get("$schema")
    if declared is not None and (not isinstance(declared, str) or declared.rstrip("#") not in DRAFTS):
        return "/$schema", "it is no draft of JSON Schema that MCP names"
    from jsonschema_rs import ValidationError, meta  # noqa: PLC0415  # a library of its own, and only this fact needs it

    try:
        meta.validate(dict(schema))
    except ValidationError as error:
        pointer = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in error.instance_path)
        return pointer, " ".join(error.message.split())[:200]
    return None
