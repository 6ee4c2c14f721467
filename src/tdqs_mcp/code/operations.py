"""Operations of OpenAPI documents: servers that make a tool of each have no other code for it."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tdqs_mcp.code.knowledge import DESTROYS
from tdqs_mcp.code.nodes import CallSite, Import, SyntaxNode
from tdqs_mcp.code.project import Project, last_name
from tdqs_mcp.code.trace import Sighting

METHODS = ("get", "put", "post", "delete", "patch")
_KINDS = {"get": "http-read", "put": "http-write", "patch": "http-write", "delete": "http-write"}
_WORDS = ("openapi", "swagger")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A method of a path."""

    name: str
    file: str
    line: int
    effect: Sighting


def makes_tools_of_operations(project: Project) -> bool:
    """Return whether the code imports or calls something that is named after OpenAPI."""
    return any(
        word in name.lower()
        for module in project.modules
        for node in module.tree.nodes
        for name in _named(node)
        for word in _WORDS
    )


def _named(node: SyntaxNode) -> Iterator[str]:
    match node:
        case Import(names=names):
            yield from (part for origin in names.values() for part in origin)
        case CallSite(function=function):
            yield last_name(function)


def read_operations(folder: Path, paths: Iterable[Path], limit: int) -> Iterator[Operation]:
    """Yield the operations of the OpenAPI documents among some files; a document that is no JSON is left out."""
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8") if path.stat().st_size <= limit else ""
            document = json.loads(text) if "paths" in text else None
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(document, dict) and any(word in document for word in _WORDS):
            yield from _operations(document, text.split("\n"), path.relative_to(folder).as_posix())


def _operations(document: dict[str, Any], lines: list[str], file: str) -> Iterator[Operation]:
    servers = document.get("servers")
    first = servers[0] if isinstance(servers, list) and servers and isinstance(servers[0], dict) else {}
    host = urlsplit(str(first.get("url", ""))).hostname or str(document.get("host", ""))
    paths = document.get("paths")
    for path, item in paths.items() if isinstance(paths, dict) else ():
        for method in METHODS:
            operation = item.get(method) if isinstance(item, dict) else None
            name = operation.get("operationId") if isinstance(operation, dict) else None
            if isinstance(name, str) and name:
                quoted = json.dumps(name, ensure_ascii=False)
                line = next(
                    (number for number, text in enumerate(lines, 1) if quoted in text and "operationId" in text), 1
                )
                effect = Sighting(
                    kind=_KINDS.get(method, "sends-data-out"),
                    path=file,
                    line=line,
                    depth=0,
                    text=f"{method.upper()} {path}",
                    host=host,
                    harm=DESTROYS if method in ("delete", "put") else "",
                )
                yield Operation(name=name, file=file, line=line, effect=effect)
