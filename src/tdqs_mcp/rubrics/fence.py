"""The fence around a definition's texts in a hardened prompt: a mark that they do not hold, no control character."""

import re
from collections.abc import Callable

from tdqs_mcp.canonical import short_hash

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\U000e0000-\U000e007f]")
"""Control characters but tab and line feed, and Unicode's invisible tag characters, which spell out hidden ASCII."""


def delimiter(text: str, digest: Callable[[str], str] = short_hash) -> str:
    """A mark made of the text's own hash, longer until the text does not hold it; equal texts have equal marks."""
    mark = digest(text)
    while mark in text:
        mark += digest(mark + text)
    return mark


def cleaned(text: str) -> str:
    """The text without what a reader cannot see and a model may obey."""
    return _CONTROLS.sub("", text)


def fenced(text: str, *, mark: str) -> str:
    """The text between tags that carry the mark."""
    return f"<data-{mark}>{text}</data-{mark}>"
