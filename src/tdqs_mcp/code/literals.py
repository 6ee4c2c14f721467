"""Texts and values as Python, JavaScript and TypeScript write them, in lines as long as a project's."""

import ast
import configparser
import io
import json
import re
import textwrap
import tokenize
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from tdqs_mcp.json_text import read_with_comments

MIN_WIDTH, MAX_WIDTH = 80, 120
"""Bounds of a line where the project names no length: its own longest line, within them."""

_RUFF_WIDTH, _PRETTIER_WIDTH = 88, 80
"""The defaults of ruff (and black) and of prettier, where a project has their configuration without a length."""

OPENING = re.compile(r"(?P<prefix>[A-Za-z]*)(?P<quote>\"\"\"|'''|\"|'|`)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a file writes its texts."""

    is_python: bool
    encoding: str
    newline: str
    quote: str
    """The usual quotation mark."""

    width: int
    unit: str
    """One level of indentation."""

    def value(self, value: object) -> str:
        """Return a JSON value as the language writes it, on one line."""
        match value:
            case str():
                return self.text(value)
            case list():
                return f"[{', '.join(map(self.value, value))}]"
            case dict():
                spelled = ", ".join(f"{self.key(key)}: {self.value(item)}" for key, item in value.items())
                return f"{{{spelled}}}" if self.is_python or not value else f"{{ {spelled} }}"
            case _:
                return repr(value) if self.is_python else json.dumps(value)

    def key(self, name: str) -> str:
        """Return a key of an object as the language writes it."""
        return name if name.isidentifier() and not self.is_python else self.text(name)

    def text(self, value: str, like: str = "", *, may_grow: bool = False) -> str:
        """Return a literal of exactly this value in the spelling of an old one; raw where both can be.

        `may_grow` makes a short literal of Python a long one for a text that has lines.
        """
        old = OPENING.match(like)
        prefix, quote = (old["prefix"], old["quote"]) if old else ("", self.quote)
        if may_grow and "\n" in value and len(quote) == 1:
            quote *= 3
        is_long = len(quote) == 3 or quote == "`"
        characters = [self._escaped(character, is_long=is_long) for character in value]
        if "r" in prefix.lower():
            is_plain = all(character in ("\\\\", plain) for character, plain in zip(characters, value, strict=True))
            if is_plain and quote not in value and not value.endswith(("\\", quote[0])):
                return f"{prefix}{quote}{value}{quote}".replace("\n", self.newline)
        body = "".join(characters).replace(quote, "".join(f"\\{character}" for character in quote))
        body = body.replace("${", "\\${") if quote == "`" else body
        stem = body[:-1].rstrip("\\")  # an even number of backslashes escape each other, not the mark behind them
        if len(quote) == 3 and body.endswith(quote[0]) and (len(body) - len(stem)) % 2:
            body = f"{body[:-1]}\\{quote[0]}"
        prefix = re.sub("r", "", prefix, flags=re.IGNORECASE)
        return f"{prefix}{quote}{body}{quote}".replace("\n", self.newline)

    def _escaped(self, character: str, *, is_long: bool) -> str:
        if is_long and character in "\n\t":
            return character
        if character.isprintable() and character != "\\" and _can_hold(self.encoding, character):
            return character
        if self.is_python or character == "\\":
            return character.encode("unicode_escape").decode()
        return json.dumps(character)[1:-1] if ord(character) < 0x10000 else f"\\u{{{ord(character):x}}}"

    def wrapped(self, value: str, like: str, *, column: int, indent: str, is_enclosed: bool) -> str:
        """Return a literal in pieces where it would end behind the width: `"List "` above `"orders."`.

        `column` is what stands before it on its line, from 0; `is_enclosed` says that a bracket of its own is there.
        """
        whole = self.text(value, like)
        quote = OPENING.match(whole)
        if quote is None or len(quote["quote"]) == 3 or (quote["quote"] == "`" and "\n" in value):
            return whole
        if column + len(whole) + 2 <= self.width or " " not in value.strip():
            return whole
        has_bracket = self.is_python and not is_enclosed
        deep = indent + self.unit if has_bracket or not self.is_python else " " * column
        marks = len(quote[0]) + (1 if self.is_python else 3)
        first = len(deep.expandtabs(4)) if has_bracket else column
        rooms = [max(self.width - start - marks, MIN_WIDTH // 4) for start in (first, len(deep.expandtabs(4)))]
        pieces = [self.text(piece, like) for piece in _pieces(value, *rooms)]
        if not self.is_python:
            return f" +{self.newline}{deep}".join(pieces)
        lines = f"{self.newline}{deep}".join(pieces)
        return f"({self.newline}{deep}{lines}{self.newline}{indent})" if has_bracket else lines

    def docstring(self, text: str, old: str, *, margin: str, column: int) -> str:
        """Return a text in lines with a margin; lines that the old one has stay, longer new ones are wrapped."""
        before, after = old.split("\n"), text.split("\n")
        lines: list[str] = []
        steps = SequenceMatcher(
            None, [line.strip() for line in before], [line.strip() for line in after], autojunk=False
        )
        for step, first, last, start, end in steps.get_opcodes():
            if step == "equal" and (first == 0) == (start == 0):
                lines += before[first:last]
                continue
            for number in range(start, end):
                line = after[number]
                lead, room = (margin, self.width - len(margin.expandtabs(4))) if number else ("", self.width - column)
                hanging = line[: len(line) - len(line.lstrip())] + "  " * (line.lstrip()[:2] in ("- ", "* "))
                parts = textwrap.wrap(
                    line,
                    max(room, MIN_WIDTH // 4),
                    subsequent_indent=hanging,
                    break_long_words=False,
                    break_on_hyphens=False,
                    replace_whitespace=False,
                )
                lines += [f"{margin if place else lead}{part}" for place, part in enumerate(parts)] or [""]
        return "\n".join(lines)


def _can_hold(encoding: str, character: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _pieces(text: str, room: int, later: int) -> Iterator[str]:
    """Yield the parts of a text that fit, each with the space at its end."""
    piece = ""
    for word in re.findall(r"\S*\s*", text):
        if piece and len(piece) + len(word) > room:
            yield piece
            piece, room = "", later
        piece += word
    yield piece


def has_comment(code: str) -> bool:
    """Return whether a comment stands between the pieces of a Python text."""
    with suppress(tokenize.TokenError, SyntaxError):
        return any(
            token.type == tokenize.COMMENT for token in tokenize.generate_tokens(io.StringIO(f"({code}\n)").readline)
        )
    return False


def style_of(path: Path, text: str, encoding: str) -> Style:
    """Return how a file writes; the length of its lines is that of its project, else of its own longest line."""
    is_python = path.suffix == ".py"
    indents = re.findall(r"^([ \t]+)\S", text, re.MULTILINE)
    unit = min(indents, key=len, default="    ")
    own = max(map(len, text.splitlines()), default=0)
    return Style(
        is_python=is_python,
        encoding=encoding.removesuffix("-sig"),
        newline="\r\n" if "\r\n" in text else "\n",
        quote='"' if is_python or text.count('"') >= text.count("'") else "'",
        width=_configured_width(path) or min(max(own, MIN_WIDTH), MAX_WIDTH),
        unit="\t" if unit[0] == "\t" else " " * max(2, min(len(unit), 4)),
    )


def _configured_width(path: Path) -> int | None:
    """Return the length of lines that the nearest configuration above a file names."""
    for folder in path.resolve().parents:
        for read in (_python_width, _editor_width) if path.suffix == ".py" else (_prettier_width, _editor_width):
            with suppress(OSError, ValueError, LookupError, TypeError, AttributeError, configparser.Error):
                if width := read(folder):
                    return int(width)
        if (folder / ".git").exists():
            break
    return None


def _python_width(folder: Path) -> Any:  # noqa: ANN401  # what the file says
    for name in ("ruff.toml", ".ruff.toml"):
        if (folder / name).exists():
            return tomllib.loads((folder / name).read_text("utf-8")).get("line-length", _RUFF_WIDTH)
    tools = tomllib.loads((folder / "pyproject.toml").read_text("utf-8")).get("tool", {})
    tables = [tools[name] for name in ("ruff", "black") if name in tools]
    return next((table["line-length"] for table in tables if "line-length" in table), _RUFF_WIDTH if tables else None)


def _prettier_width(folder: Path) -> Any:  # noqa: ANN401
    for name in (".prettierrc", ".prettierrc.json"):
        if (folder / name).exists():
            text = (folder / name).read_text("utf-8")
            match = re.search(r"printWidth[\"']?\s*:\s*(\d+)", text)  # JSON or YAML
            return match[1] if match else _PRETTIER_WIDTH
    settings = read_with_comments((folder / "package.json").read_text("utf-8")).get("prettier")
    return settings.get("printWidth", _PRETTIER_WIDTH) if isinstance(settings, dict) else None


def _editor_width(folder: Path) -> Any:  # noqa: ANN401
    parser = configparser.ConfigParser(strict=False)
    parser.read_string("[top]\n" + (folder / ".editorconfig").read_text("utf-8"))
    widths = [parser[name].get("max_line_length") for name in parser.sections()]
    return next((width for width in widths if width and width.isdecimal()), None)


def is_python_text(code: str) -> bool:
    """Return whether code is text literals alone, neither an f-string nor computed."""
    try:
        return isinstance(ast.parse(f"({code}\n)", mode="eval").body, ast.Constant)
    except (SyntaxError, ValueError):
        return False
