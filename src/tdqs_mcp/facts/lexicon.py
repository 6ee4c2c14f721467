"""Loads the data files that texts are read with: words, patterns and tables; caches what is read out of texts."""

import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache, lru_cache, wraps
from importlib.resources import files
from typing import Any, TypeVar, TypeVarTuple, cast

MAX_TEXT = 20_000
"""Characters of a description that are read, five times the longest useful one; the rest cannot help an agent."""

MAX_EXPLANATION = 2_000
"""Characters of a parameter's description that are read."""

MAX_NAME = 200
"""Characters of a name or title that are read; the longest real name has 64."""


class _LazyPattern:
    """Stands for a pattern: the first use of a method compiles it and keeps the method."""

    def __init__(self, source: str, flags: int) -> None:
        self._arguments = (source, flags)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever a pattern has
        method = getattr(re.compile(*self._arguments), name)
        setattr(self, name, method)
        return method


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, to be used like a compiled one; compiling those of all rules takes longer than linting a file."""
    return cast("re.Pattern[str]", _LazyPattern(source, flags))


def expand(table: str, source: str) -> str:
    """A pattern of a data file in full: its lines joined, each `{name}` replaced by that entry of `parts`."""
    joined = "".join(map(str.strip, source.splitlines()))
    return _PART.sub(lambda part: expand(table, read_table(table)["parts"][part[1]]), joined)


_PART = re.compile(r"\{([a-z_]+)\}")


@cache
def read_table(name: str, package: str = "facts") -> Mapping[str, Any]:
    """A data file of a package, such as `en` or `wording`."""
    return tomllib.loads(files(f"tdqs_mcp.{package}").joinpath("data", f"{name}.toml").read_text(encoding="utf-8"))


@cache
def words_from(table: str, key: str) -> frozenset[str]:
    """The words that a data file has under a key of `words`."""
    return frozenset(read_table(table)["words"][key].split())


@cache
def endings_from(table: str, key: str) -> tuple[str, ...]:
    """Return the words of a data file in order, for `str.endswith`."""
    return tuple(read_table(table)["words"][key].split())


class PatternTable:
    """The patterns of one data file by key, such as `TABLE.header`; each is compiled on first use."""

    def __init__(self, table: str) -> None:
        self._table = table

    def __getattr__(self, key: str) -> re.Pattern[str]:
        pattern = re.compile(expand(self._table, read_table(self._table)["patterns"][key]))
        setattr(self, key, pattern)
        return pattern


Others = TypeVarTuple("Others")
Result = TypeVar("Result")

MAX_SHORT = 2_000
"""Characters. A server that lives long is sent many texts, some of them a megabyte long."""

LONG_TEXTS = 32
"""How many results for longer texts are kept."""


def cached_by_text(size: int) -> Callable[[Callable[[str, *Others], Result]], Callable[[str, *Others], Result]]:
    """Caches a function whose first parameter is a text: `size` results for short texts, a few for long ones."""

    def decorate(function: Callable[[str, *Others], Result]) -> Callable[[str, *Others], Result]:
        short, long = lru_cache(size)(function), lru_cache(LONG_TEXTS)(function)

        @wraps(function)
        def cached(text: str, *arguments: *Others) -> Result:
            return (short if len(text) <= MAX_SHORT else long)(text, *arguments)

        return cached

    return decorate
