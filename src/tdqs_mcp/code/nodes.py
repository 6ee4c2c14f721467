"""Source code in one form for all languages: what it takes to follow a value from a tool's handler to its effects.

Both front ends (`python_nodes`, `script_nodes`) write these nodes, without what has no effect on the flow of values:
`await x` is `x`, `(x as T)` is `x`, a loop is its body with the loop variable bound to an element.
"""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields


@dataclass(slots=True, kw_only=True, eq=False)
class SyntaxNode:
    """An expression or a statement."""

    line: int = 0
    """From 1; a reader sets it with the span, unless it is not the first line: that of a method's name in a chain."""

    span: tuple[int, int] = (0, 0)
    """Offset of the first byte and behind the last one in the file's UTF-8 text; zeros of what stands nowhere."""


@dataclass(slots=True, kw_only=True, eq=False)
class Literal(SyntaxNode):
    """A string, number, boolean or null."""

    value: str | int | float | bool | None


@dataclass(slots=True, kw_only=True, eq=False)
class Template(SyntaxNode):
    """A string made of parts: an f-string, a template literal, or a sum with a string in it."""

    parts: Sequence[SyntaxNode]
    is_filled: bool = False
    """The first part is a pattern that the others are put into: `"%d rows" % count`."""


@dataclass(slots=True, kw_only=True, eq=False)
class Name(SyntaxNode):
    """A variable."""

    id: str


@dataclass(slots=True, kw_only=True, eq=False)
class Attribute(SyntaxNode):
    """`value.key`, and `value["key"]`."""

    value: SyntaxNode
    key: str


@dataclass(slots=True, kw_only=True, eq=False)
class Subscript(SyntaxNode):
    """`value[key]` with a computed key; `value[a:b]` where `is_slice`."""

    value: SyntaxNode
    key: SyntaxNode
    is_slice: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class Spread(SyntaxNode):
    """`*value`, `**value`, `...value`."""

    value: SyntaxNode


@dataclass(slots=True, kw_only=True, eq=False)
class CallSite(SyntaxNode):
    """A call, or `new` of a class."""

    function: SyntaxNode
    arguments: Sequence[SyntaxNode] = ()
    keywords: dict[str, SyntaxNode] = field(default_factory=dict)
    is_new: bool = False
    is_awaited: bool = False
    end: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class ObjectLiteral(SyntaxNode):
    """A dictionary or an object; a computed key is empty, a spread has the key `...`."""

    items: Sequence[tuple[str, SyntaxNode]]
    end: int = 0
    keys: dict[int, SyntaxNode] = field(default_factory=dict)
    """Computed keys, by the position of their items: `{ [findTool.name]: find }`."""

    def get(self, *keys: str) -> SyntaxNode | None:
        """Return the value of the first of the keys that is there."""
        return next((value for name in keys for key, value in self.items if key == name), None)


@dataclass(slots=True, kw_only=True, eq=False)
class Collection(SyntaxNode):
    """A list, tuple, set or array."""

    values: Sequence[SyntaxNode]


@dataclass(slots=True, kw_only=True, eq=False)
class Compare(SyntaxNode):
    """`left == right`; other operators are `!=`, `in`, `not in`, `<`, `<=`, `>`, `>=`, `instanceof`."""

    left: SyntaxNode
    operator: str
    right: SyntaxNode


@dataclass(slots=True, kw_only=True, eq=False)
class Logic(SyntaxNode):
    """`a and b`, `a or b` (`a ?? b` too), `not a`."""

    operator: str
    values: Sequence[SyntaxNode]


@dataclass(slots=True, kw_only=True, eq=False)
class Choice(SyntaxNode):
    """`a if test else b`."""

    test: SyntaxNode
    body: SyntaxNode
    otherwise: SyntaxNode


@dataclass(slots=True, kw_only=True, eq=False)
class Other(SyntaxNode):
    """Anything else, such as arithmetic: a value of unknown kind made of its parts; a `regex` with its text; `...`."""

    parts: Sequence[SyntaxNode] = ()
    operator: str = ""


@dataclass(slots=True, kw_only=True, eq=False)
class FormalParameter(SyntaxNode):
    """A parameter; a destructured one has an empty name and a pattern."""

    name: str
    default: SyntaxNode | None = None
    annotation: SyntaxNode | None = None
    pattern: "ObjectLiteral | Collection | None" = None
    star: str = ""
    """`*` or `**` for the rest of the positional or named arguments."""


@dataclass(slots=True, kw_only=True, eq=False)
class Declaration(SyntaxNode):
    """A function or a class; `end` is its last line."""

    name: str
    end: int
    decorators: Sequence[SyntaxNode] = ()
    docstring: Literal | None = None

    @property
    def documentation(self) -> str:
        """Return the docstring without its margin; empty without one."""
        return inspect.cleandoc(str(self.docstring.value)) if self.docstring is not None else ""


@dataclass(slots=True, kw_only=True, eq=False)
class Function(Declaration):
    """A function, method, lambda or arrow."""

    parameters: Sequence[FormalParameter]
    body: "Block"
    returns: SyntaxNode | None = None
    is_static: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class Class(Declaration):
    """A class with its methods and the values of its fields."""

    bases: Sequence[SyntaxNode]
    methods: dict[str, Function]
    fields: dict[str, SyntaxNode]
    annotations: dict[str, SyntaxNode]
    has_keywords: bool = False
    """Something stands beside its bases: `class Part(TypedDict, total=False)`."""


@dataclass(slots=True, kw_only=True, eq=False)
class Block(SyntaxNode):
    """Statements in their order."""

    statements: list[SyntaxNode]


@dataclass(slots=True, kw_only=True, eq=False)
class Assign(SyntaxNode):
    """`target = value`; a target is a Name, Attribute, Subscript or pattern: ObjectLiteral or Collection of targets."""

    target: SyntaxNode
    value: SyntaxNode
    annotation: SyntaxNode | None = None
    is_declaration: bool = False
    """It makes the variable, as `const` does: one of the same name around it stays as it is."""


@dataclass(slots=True, kw_only=True, eq=False)
class Element(SyntaxNode):
    """An element of an iterable: what a loop binds."""

    iterable: SyntaxNode


@dataclass(slots=True, kw_only=True, eq=False)
class Return(SyntaxNode):
    """`return value`; `yield` too."""

    value: SyntaxNode


@dataclass(slots=True, kw_only=True, eq=False)
class Raise(SyntaxNode):
    """`raise value`, `throw value`."""

    value: SyntaxNode


@dataclass(slots=True, kw_only=True, eq=False)
class If(SyntaxNode):
    """A condition; a `switch` or `match` is a chain of them with `==`."""

    test: SyntaxNode
    body: Block
    otherwise: Block


@dataclass(slots=True, kw_only=True, eq=False)
class Loop(SyntaxNode):
    """A loop or a comprehension."""

    body: Block


@dataclass(slots=True, kw_only=True, eq=False)
class Try(SyntaxNode):
    """A `try`: its body, and what is done about errors."""

    body: Block
    handlers: Sequence[Block]


@dataclass(slots=True, kw_only=True, eq=False)
class Import(SyntaxNode):
    """Names that an import binds: local name to module and name there, which is empty for the module itself."""

    names: dict[str, tuple[str, str]]


@dataclass(slots=True, kw_only=True, eq=False)
class Export(SyntaxNode):
    """Names that a module gives away: exported name to local name, or to (module, name) of a re-export."""

    names: dict[str, str | tuple[str, str]]


@dataclass(slots=True, kw_only=True, eq=False)
class Module:
    """A parsed file."""

    path: str
    """Relative to the folder, with `/`."""

    body: Block
    language: str
    """`python` or `script`."""

    text: bytes
    """The file as UTF-8, without a byte order mark where the file is Python."""

    _nodes: "list[SyntaxNode] | None" = None

    @property
    def nodes(self) -> "list[SyntaxNode]":
        """Return every node of the file, parents first."""
        if self._nodes is None:
            self._nodes = list(walk(self.body))
        return self._nodes

    bundled: Sequence[tuple[int, str]] = ()
    """Lines from which on a bundle has the code of a package, as bundlers note it; an empty name for its own."""


def children(node: SyntaxNode) -> list[SyntaxNode]:
    """Return the nodes directly below a node."""
    if isinstance(node, Function):
        return [*node.decorators, *node.parameters, node.body]
    if isinstance(node, Class):
        return [*node.decorators, *node.bases, *node.fields.values(), *node.methods.values()]
    inner: list[SyntaxNode] = []
    for name in _INNER_FIELDS[type(node)]:
        _collect(getattr(node, name), inner)
    return inner


_INNER_FIELDS = {
    kind: tuple(part.name for part in fields(kind) if __name__ in str(part.type) or isinstance(part.type, str))
    for kind in SyntaxNode.__subclasses__()
}
"""Fields of each kind of nodes that hold nodes: none of a literal's."""


def _collect(value: object, nodes: list[SyntaxNode]) -> None:
    """Add the nodes in a field's value to a list."""
    if isinstance(value, SyntaxNode):
        nodes.append(value)
    elif isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            _collect(item, nodes)


def walk(node: SyntaxNode) -> Iterator[SyntaxNode]:
    """Yield the node and all below it, parents first."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending += reversed(children(current))
