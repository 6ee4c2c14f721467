"""What people write by hand for a command, in JSON or YAML: read within bounds, refused with the place."""

import json
from pathlib import Path

import yaml

from tdqs_mcp.errors import InputError

MAX_BYTES = 8 * 2**20
"""Bytes of one file; what is larger belongs to no single server."""

MAX_YAML = 2**20
"""Characters that are read as YAML, a few seconds' work; larger files come from programs, which write JSON."""


def read_text(path: Path) -> str:
    """The text of a file. Raises InputError."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}") from error
    if len(raw) > MAX_BYTES:
        raise InputError(f"{str(path)!r} has more than {MAX_BYTES} bytes; give a smaller file")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{str(path)!r} is no UTF-8 text") from error


def parse_text(text: str, *, origin: str) -> object:
    """The value of JSON, else of YAML without anchors. Raises InputError that names line and column."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise InputError(f"{origin} nests too deep to be read") from error
    except ValueError as error:
        if len(text) > MAX_YAML:
            raise InputError(f"{origin} is not valid JSON, and too large to be read as YAML: {error}") from error
    try:
        return yaml.load(text, Loader=_Plain)  # noqa: S506  # a SafeLoader
    except RecursionError as error:
        raise InputError(f"{origin} nests too deep to be read") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = "" if mark is None else f" at line {mark.line + 1}, column {mark.column + 1}"
        reason = getattr(error, "problem", None) or "it holds a character that no text has"
        raise InputError(f"{origin} is neither JSON nor YAML: correct it{place}: {reason}") from error


class _Plain(yaml.SafeLoader):
    """YAML as JSON could say it: a few references to each other would make a file fill any memory."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # untyped in PyYAML's stubs
        if getattr(event, "anchor", None) is not None:
            raise yaml.composer.ComposerError(None, None, "anchors and aliases are not read", event.start_mark)
        return super().compose_node(parent, index)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:  # noqa: FBT001, FBT002  # PyYAML's own
        try:
            return super().construct_object(node, deep)
        except ValueError as error:  # a date or a number that is none
            raise yaml.constructor.ConstructorError(None, None, str(error), node.start_mark) from error
