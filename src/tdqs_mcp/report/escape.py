"""Text of a definition, made harmless for the place where it is shown."""

import re
import unicodedata

_MARKDOWN = re.compile(r"[\\`*_{}\[\]()#+!|<>~&$@]|:(?=//)|(?<=www)\.", re.IGNORECASE)
_SPACES = re.compile(r"\s+")


def printable(text: str) -> str:
    """One line without anything that a terminal obeys or a reader cannot see; such characters show as escapes."""
    return visible(_SPACES.sub(" ", text).strip())


def visible(line: str) -> str:
    """A line with its spaces, but without anything that a terminal obeys or a reader cannot see."""
    return line if line.isascii() and line.isprintable() else "".join(map(_visible, line))


def markdown(text: str) -> str:
    """One line that Markdown and HTML show as it is: no markup, no link, nobody mentioned."""
    return _MARKDOWN.sub(_entity, printable(text))


def well_formed(text: str) -> str:
    """The text with lone surrogates replaced, fit for UTF-8."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _visible(char: str) -> str:
    if unicodedata.category(char)[0] != "C":
        return char
    return f"\\x{ord(char):02x}" if ord(char) < 0x100 else f"\\u{ord(char):04x}"


def _entity(found: re.Match[str]) -> str:
    return _ENTITIES.get(found[0]) or f"\\{found[0]}"


_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", ":": "&#58;", ".": "&#46;", "@": "@<!-- -->"}
