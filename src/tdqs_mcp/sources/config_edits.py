"""Edits of one entry in a client's configuration, JSON with comments or TOML, that leave every other byte as it is."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n\r]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[}\]])')
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    key: int
    start: int
    end: int
    """Offsets of its key and value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Object:
    start: int
    end: int
    """Offsets of its braces."""

    members: Mapping[str, _Member]


class JsonText:
    """A JSON text with comments and trailing commas."""

    def __init__(self, text: str) -> None:
        """Raises ValueError for what is not JSON even without comments."""
        self.text = text if text.strip() else "{}\n"
        self._commas = _COMMENT.sub(_blank, self.text)
        """The text without comments, of the same length."""

        self._plain = _LAST_COMMA.sub(_blank, self._commas)
        self.content: Any = json.loads(self._plain)

    def with_entry(self, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
        """The text with an object under some keys; what else an object there has stays. Raises ValueError."""
        found = self._object(self._skip(0))
        value: Any = entry
        for place, key in enumerate(keys):
            if key not in found.members:
                for outer in reversed(keys[place + 1 :]):
                    value = {outer: value}
                return self._inserted(found, key, value)
            found = self._object(found.members[key].start)
        text = self
        for key, part in entry.items():
            text = JsonText(text._with_member(keys, key, part))  # of this class
        return text.text

    def without_entry(self, keys: Sequence[str]) -> str:
        """The text without the member that the keys lead to. Raises ValueError where there is none."""
        *parents, last = keys
        found = self._reach(parents)
        member = found.members[last]
        start, end = member.key, member.end
        follows = self._skip(end, self._commas)
        if self._commas[follows] == ",":
            if not self.text[end:follows].strip():
                return _cut(self.text, start, follows + 1)
            return _cut(self.text[:follows] + self.text[follows + 1 :], start, end)
        if before := [each.end for each in found.members.values() if each.end < start]:
            comma = self._commas.index(",", max(before))
            rest = _cut(self.text, start, end)
            return rest[:comma] + rest[comma + 1 :]
        if not self.text[found.start + 1 : start].strip() and not self.text[end : found.end].strip():
            return self.text[: found.start + 1] + self.text[found.end :]
        return _cut(self.text, start, end)

    def _with_member(self, keys: Sequence[str], key: str, value: object) -> str:
        found = self._reach(keys)
        if key not in found.members:
            return self._inserted(found, key, value)
        member = found.members[key]
        if _DECODER.raw_decode(self._plain, member.start)[0] == value:
            return self.text
        return self.text[: member.start] + json.dumps(value, ensure_ascii=False) + self.text[member.end :]

    def _reach(self, keys: Sequence[str]) -> _Object:
        found = self._object(self._skip(0))
        for key in keys:
            if key not in found.members:
                raise ValueError(f"there is no {key!r}")
            found = self._object(found.members[key].start)
        return found

    def _inserted(self, found: _Object, key: str, value: object) -> str:
        newline = "\r\n" if "\r\n" in self.text else "\n"
        members = list(found.members.values())
        outer, unit = self._indent(found.start), self._unit()
        if members and self.text.find("\n", found.start, members[-1].key) < 0:
            end = members[-1].end
            return f"{self.text[:end]}, {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}{self.text[end:]}"
        inner = self._indent(members[-1].key) if members else f"{outer}{unit}"
        shown = json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", f"{newline}{inner}")
        member = f"{newline}{inner}{json.dumps(key)}: {shown}"
        if not members:
            at = found.start + 1
            rest = self.text[at : found.end]
            last = "" if "\n" in rest else f"{newline}{outer}"
            return self.text[:at] + member + last + (rest if rest.strip() or not last else "") + self.text[found.end :]
        end = members[-1].end
        comma = self._commas.find(",", end, found.end)
        at = self._line_end(end if comma < 0 else comma + 1, found.end)
        if comma < 0:
            return f"{self.text[:end]},{self.text[end:at]}{member}{self.text[at:]}"
        return f"{self.text[:at]}{member},{self.text[at:]}"

    def _line_end(self, at: int, limit: int) -> int:
        """The end of the line, behind the comments on it; the offset itself where something else follows."""
        found = re.compile(r"[ \t]*(?=\r?\n)").match(self._commas, at, limit)
        if found is None:
            return at
        spans = (each.span() for each in _COMMENT.finditer(self.text) if each[0][0] == "/")
        return next((end for start, end in spans if start < found.end() < end), found.end())

    def _indent(self, at: int) -> str:
        """The white space that the line of an offset begins with."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip())]

    def _unit(self) -> str:
        """One level of indentation."""
        lines = [line for line in self._plain.splitlines() if line.strip()]
        steps = (
            deep[: len(deep) - len(deep.lstrip())]
            for flat, deep in pairwise(lines)
            if not flat[:1].isspace() and deep[:1].isspace()
        )
        return next(steps, "  ")

    def _object(self, at: int) -> _Object:
        if self._plain[at] != "{":
            raise ValueError("a list or a value stands where an object belongs")
        members: dict[str, _Member] = {}
        start, at = at, self._skip(at + 1)
        while self._plain[at] != "}":
            key, behind = _DECODER.raw_decode(self._plain, at)
            begin = self._skip(self._skip(behind) + 1)
            end = _DECODER.raw_decode(self._plain, begin)[1]
            if key in members:
                raise ValueError(f"{key!r} stands twice in one object")
            members[key] = _Member(key=at, start=begin, end=end)
            at = self._skip(end)
            at = self._skip(at + 1) if self._plain[at] == "," else at
        return _Object(start=start, end=at, members=members)

    def _skip(self, at: int, text: str | None = None) -> int:
        found = _SPACE.match(self._plain if text is None else text, at)
        return found.end() if found else at


def _cut(text: str, start: int, end: int) -> str:
    """The text without a range, and without its lines where nothing else is on them."""
    lead = len(text[:start].rstrip(" \t"))
    is_first = lead == 0 or text[lead - 1] == "\n"
    if is_first and re.compile(r"[ \t]*(\r?\n|\Z)").match(text, end):
        return text[:lead].removesuffix("\n").removesuffix("\r") + text[end:]
    return text[: start if is_first else lead] + text[end:]


def _blank(found: re.Match[str]) -> str:
    """A string as it is, anything else as white space of its length."""
    return found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0])


class TomlText:
    """A TOML text; tomlkit keeps its layout and its comments."""

    def __init__(self, text: str) -> None:
        """Raises ValueError for what is not TOML."""
        import tomlkit  # noqa: PLC0415  # only Codex has TOML

        self.text = text
        self._document = tomlkit.parse(text)
        self.content: Any = self._document.unwrap()

    def with_entry(self, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
        """The text with a table under some keys; what else a table there has stays. Raises ValueError."""
        import tomlkit  # noqa: PLC0415

        table: Any = self._document
        for place, key in enumerate(keys):
            if key not in table:
                table[key] = tomlkit.table(is_super_table=place < len(keys) - 1)
            table = table[key]
            if not isinstance(table, Mapping):
                raise ValueError("a list or a value stands where a table belongs")  # noqa: TRY004  # the file is wrong
        for key, part in entry.items():
            if table.get(key) != part:
                table[key] = part
        return tomlkit.dumps(self._document)

    def without_entry(self, keys: Sequence[str]) -> str:
        """The text without the table that the keys lead to. Raises ValueError where there is none."""
        import tomlkit  # noqa: PLC0415

        *parents, last = keys
        table: Any = self._document
        for key in parents:
            table = table[key]
        del table[last]
        return tomlkit.dumps(self._document)
