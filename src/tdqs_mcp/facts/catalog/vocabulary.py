"""The names of a catalog, and names in its texts that stand for nothing there."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from tdqs_mcp.facts.catalog.relations import shared_prefix
from tdqs_mcp.facts.schema.walk import Shape
from tdqs_mcp.facts.text.prose import MAX_EXPLANATION, MAX_TEXT
from tdqs_mcp.facts.text.words import name_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A name in a text that stands for nothing in the catalog."""

    name: str
    path: str
    """JSON pointer of the text inside the definition."""

    words: str
    """The name with the words around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNames:
    """All names of a catalog: what a word in a text may stand for."""

    tools: frozenset[str]
    """Names of tools, folded."""

    words: frozenset[str]
    """Names of parameters and results, members of enumerations, the server's own names; folded."""

    shapes: frozenset[tuple[str, str]]
    """How the tools' names are spelled and how they begin."""

    nouns: frozenset[str]
    """Words of the tools' names that are no verbs."""

    styles: frozenset[str]
    server: str
    """The server's name, folded."""

    prefix: str
    """The word that most names begin with, folded: texts often leave it out."""


@lru_cache(maxsize=20_000)
def fold(name: str) -> str:
    """A name without case and joints, so that spelling alone never makes two of it."""
    return name.lower().replace("_", "").replace("-", "")


def style(name: str) -> str:
    """How a name joins its words."""
    if "_" in name:
        return "_"
    return "-" if "-" in name else "Aa" if name[:1].isupper() else "a"


def known_names(names: Sequence[str], shapes: Sequence[Shape], server: str) -> KnownNames:
    """The names of a catalog, collected once."""
    words: set[str] = set()
    for shape in shapes:
        words |= shape.names
        for node in shape.by_keyword.get("enum", ()):
            values = node.schema["enum"]
            words.update(value for value in values if isinstance(value, str)) if isinstance(values, list) else None
        for node in shape.by_keyword.get("const", ()):
            const = node.schema["const"]
            words.update([const]) if isinstance(const, str) else None
    parts = [name_parts(name) for name in names]
    shapes_ = frozenset((style(name), part[0]) for name, part in zip(names, parts, strict=True) if len(part) > 1)
    return KnownNames(
        tools=frozenset(map(fold, names)),
        words=frozenset(map(fold, words)) | {fold(server)},
        shapes=shapes_,
        styles=frozenset(style for style, _ in shapes_),
        nouns=frozenset(word for part in parts for word in part[1:]),
        server=fold(server),
        prefix=shared_prefix(parts),
    )


def texts_of(description: str | None, shape: Shape) -> tuple[tuple[str, str], ...]:
    """The texts of a definition, each with its JSON pointer."""
    found = [("/description", description[:MAX_TEXT])] if description else []
    for node in shape.by_keyword.get("description", ()):
        text = node.schema["description"]
        if isinstance(text, str) and text:
            found.append((f"{node.path}/description", text[:MAX_EXPLANATION]))
    return tuple(found)
