"""Python literals for new texts, in the spelling of the old ones."""

import ast
import json
import re
from dataclasses import dataclass

_START = re.compile(r"(?P<prefix>[rRuU]*)(?P<quote>'''|\"\"\"|'|\")")
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """How a string is written."""

    prefix: str = ""
    quote: str = '"'
    encoding: str = "utf-8"
    """What the file can hold; other characters are escaped."""

    @property
    def is_long(self) -> bool:
        """Whether the literal may have lines."""
        return len(self.quote) == 3

    @classmethod
    def of(cls, source: str, *, encoding: str) -> "Spelling":
        """The spelling of a literal, of its first piece where it has several."""
        found = _START.match(source)
        if found is None:
            return cls(encoding=encoding)
        return cls(prefix=found["prefix"], quote=found["quote"], encoding=encoding)


def string(value: str, spelling: Spelling) -> str:
    """A literal of exactly this value; raw where the old one was and the new one can be."""
    is_raw = "r" in spelling.prefix.lower()
    if is_raw and _is_plain(value, spelling):
        return f"{spelling.prefix}{spelling.quote}{value}{spelling.quote}"
    prefix = re.sub("[rR]", "", spelling.prefix)
    quote = spelling.quote
    body = "".join(_escaped(character, spelling) for character in value)
    body = body.replace(quote, "".join(f"\\{each}" for each in quote))
    if spelling.is_long and body.endswith(quote[0]) and not body.endswith(f"\\{quote[0]}"):
        body = f"{body[:-1]}\\{quote[0]}"
    return f"{prefix}{quote}{body}{quote}"


def literal(value: object, spelling: Spelling) -> str:
    """A JSON value as Python writes it."""
    match value:
        case str():
            return string(value, spelling)
        case list():
            return f"[{', '.join(literal(each, spelling) for each in value)}]"
        case dict():
            members = (f"{literal(key, spelling)}: {literal(each, spelling)}" for key, each in value.items())
            return f"{{{', '.join(members)}}}"
        case _:
            return repr(value)


def is_text(value: object) -> bool:
    """Whether every string of a JSON value can be encoded: a lone surrogate is no character."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def text_of(node: ast.expr | None) -> str | None:
    """The string that an expression is, and not one that it would compute."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _escaped(character: str, spelling: Spelling) -> str:
    if character == "\\":
        return r"\\"
    if spelling.is_long and character in "\n\t":
        return character
    if character in _NAMED:
        return _NAMED[character]
    if character.isprintable() and _fits(character, spelling.encoding):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _is_plain(value: str, spelling: Spelling) -> bool:
    """Whether the value can stand in a raw literal."""
    if spelling.quote in value or value.endswith(("\\", spelling.quote[0])):
        return False
    return all(each == "\\" or _escaped(each, spelling) == each for each in value)


def _fits(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
