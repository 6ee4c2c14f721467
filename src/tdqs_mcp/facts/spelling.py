"""Splits names and texts into words, and writes lists of names."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice, takewhile

from tdqs_mcp.facts.lexicon import MAX_NAME, lazy_pattern

MAX_PLAIN_NAME = 64
"""Characters of a name that other texts may carry; clients and models cut longer ones."""
_PLAIN_NAME = lazy_pattern(r"[A-Za-z]\w*(?:[.\-/]\w+)*", re.ASCII)
_WORD = re.compile(r"\w+(?:['’.\-/]\w+)*")
_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")


def words_of(text: str) -> list[str]:
    """The lower-case words of a text; `read-only`, `don't`, `e.g` and `list_files` are one word each."""
    return _WORD.findall(text.lower())


def start_of_second_word(text: str) -> int | None:
    """Where the second word of a text begins, or None where it has no second one."""
    second = next(islice(_WORD.finditer(text), 1, None), None)
    return second.start() if second else None


def common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many words two texts begin with together, and how many of the rest they end with."""
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    ends = zip(reversed(old[start:]), reversed(new[start:]), strict=False)
    return start, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))


def name_parts(name: str) -> tuple[str, ...]:
    """The lower-case words of an identifier or title: `listOpenIssues`, `list-open_issues` -> list, open, issues."""
    return _split_name(name[:MAX_NAME])


@lru_cache(8192)
def _split_name(name: str) -> tuple[str, ...]:
    return tuple(map(str.lower, _NAME_PART.findall(name)))


def first_of(items: Sequence[str], most: int, *, separator: str = ", ") -> str:
    """The first of some items, and how many more there are."""
    text = separator.join(items[:most])
    return text if len(items) <= most else f"{text} and {len(items) - most} more"


def joined(parts: Sequence[str], joint: str = "and") -> str:
    """Parts of a sentence: "a, b and c"."""
    return f" {joint} ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)


def some_names(names: Iterable[str]) -> str:
    """The first names of a catalog, for a message about one that it does not have."""
    return first_of([repr(name) for name in names if name], 8) or "no named tool"


def is_plain(name: str) -> bool:
    """Fit to be quoted in another text: ASCII letters, digits and MCP's joints, at most MAX_PLAIN_NAME characters."""
    return len(name) <= MAX_PLAIN_NAME and _PLAIN_NAME.fullmatch(name) is not None
