"""What a tool does to the world, where hints and text prove it of each other."""

from collections.abc import Mapping

from tdqs_mcp.facts import statements
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.pipeline.parts import Part


def read_only(subject: Subject) -> Part | None:
    """The only hint that text proves: the author's own plain statement, where no hint speaks.

    A verb proves nothing; `get_token` may well issue a new one.
    """
    annotations = subject.tool.raw.get("annotations")
    is_open = not subject.signals.has_hints and (annotations is None or isinstance(annotations, Mapping))
    if not is_open or not statements.is_read_only(subject):
        return None
    value = {**(annotations or {}), "readOnlyHint": True}
    return Part(path="/annotations", sources=("description: it says that the tool is read-only",), value=value)
