"""Names of tools on servers that are mounted on others: `root.mount(harbour, namespace="harbour")` (FastMCP)."""

from collections.abc import Iterator, Sequence

from tdqs_mcp.code.constants import ConstantReader, Expression, UnreadError
from tdqs_mcp.code.nodes import Attribute, CallSite, Literal, Name, Subscript, SyntaxNode
from tdqs_mcp.code.project import NameScope, last_name

_MOUNTING = frozenset({"mount", "import_server"})
_NAMESPACES = ("namespace", "prefix")


class Mounts:
    """Servers that stand in another one, each by the call that makes it, with what comes before its tools' names."""

    def __init__(self, reader: ConstantReader) -> None:
        self._reader = reader
        self._prefixes: dict[SyntaxNode, list[tuple[str, SyntaxNode]]] = {}

    def read(self, call: CallSite, scope: NameScope) -> None:
        """Remember the servers that a call mounts; any other call is none of them."""
        if last_name(call.function) not in _MOUNTING or not isinstance(call.function, Attribute) or not call.arguments:
            return
        outer = self._creation(Expression(node=call.function.value, scope=scope))
        parts = list(call.arguments[:2])
        named = [call.keywords[name] for name in _NAMESPACES if name in call.keywords]
        if isinstance(parts[0], Literal):  # mount("harbour", server), as it was before FastMCP 2.9
            parts.reverse()
        namespace = named[0] if named else next(iter(parts[1:]), None)
        if namespace is not None and not isinstance(parts[0], Literal):
            for server, prefix in self._pairs(parts[0], namespace, scope):
                if creation := self._creation(server):
                    self._prefixes.setdefault(creation, []).append((prefix, outer or call))

    def names(self, name: str, server: Expression | None) -> Sequence[str]:
        """Return the names that agents see for a tool of a server: itself, unless the server is mounted."""
        creation = self._creation(server) if server else None
        return self._qualified(name, creation, frozenset()) if creation else [name]

    def _qualified(self, name: str, server: SyntaxNode, inside: frozenset[SyntaxNode]) -> list[str]:
        mounts = [] if server in inside else self._prefixes.get(server, [])
        nested = [self._qualified(f"{prefix}_{name}", outer, inside | {server}) for prefix, outer in mounts]
        return list(dict.fromkeys(text for names in nested for text in names)) or [name]

    def _pairs(self, server: SyntaxNode, namespace: SyntaxNode, scope: NameScope) -> Iterator[tuple[Expression, str]]:
        """Yield servers with their prefixes, one for each entry of a table: `mount(SERVERS[name], namespace=name)`."""
        match server, namespace:
            case Subscript(value=table, key=Name(id=key)), Name(id=name) if key == name:
                try:
                    members = self._reader.members(Expression(node=table, scope=scope))
                except UnreadError:
                    return
                yield from ((entry, prefix) for prefix, entry in members.items())
            case _:
                try:
                    prefix = self._reader.json(Expression(node=namespace, scope=scope))
                except UnreadError:
                    return
                if isinstance(prefix, str) and prefix:
                    yield Expression(node=server, scope=scope), str(prefix)

    def _creation(self, server: Expression) -> SyntaxNode | None:
        node = self._reader.locate(server).node
        return node if isinstance(node, CallSite) else None
