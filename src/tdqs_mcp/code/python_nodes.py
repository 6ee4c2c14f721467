"""Python files as nodes."""

import ast
import io
import re
import tokenize
import warnings

from tdqs_mcp.code.nodes import (
    Assign,
    Attribute,
    Block,
    CallSite,
    Choice,
    Class,
    Collection,
    Compare,
    Element,
    FormalParameter,
    Function,
    If,
    Import,
    Literal,
    Logic,
    Loop,
    Module,
    Name,
    ObjectLiteral,
    Other,
    Raise,
    Return,
    Spread,
    Subscript,
    SyntaxNode,
    Template,
    Try,
)

_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.Is: "==",
    ast.NotEq: "!=",
    ast.IsNot: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}

_FunctionDef = ast.FunctionDef | ast.AsyncFunctionDef


def read_python(path: str, content: bytes) -> Module:
    """Return a Python file's nodes. Raises what `ast.parse` raises, RecursionError for deep nesting among it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the author has seen them already
        tree = ast.parse(content)
    text = content.decode(python_encoding(content)).encode("utf-8", "surrogatepass")
    package = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    is_package = path.endswith("__init__.py")
    reader = _Reader(package, text, is_package=is_package)
    return Module(path=path, body=reader.block(tree.body, 1), language="python", text=text)


def python_encoding(content: bytes) -> str:
    """Return the encoding of a Python file, which its first lines may name."""
    return tokenize.detect_encoding(io.BytesIO(content).readline)[0]


class _Reader:
    def __init__(self, package: str, text: bytes, *, is_package: bool) -> None:
        self._package = package if is_package else package.rpartition(".")[0]
        self._starts = [0, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", text))]

    def span(self, node: ast.stmt | ast.expr | ast.arg) -> tuple[int, int]:
        """Return the first byte of a node and the one behind it."""
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)

    def block(self, statements: list[ast.stmt], line: int) -> Block:
        first = [*getattr(statements[0], "decorator_list", ()), *statements][0] if statements else None
        span = (self.span(first)[0], self.span(statements[-1])[1]) if first else (0, 0)
        nodes = [node for statement in statements for node in self.statement(statement)]
        return Block(line=line, statements=nodes, span=span)

    def statement(self, statement: ast.stmt) -> list[SyntaxNode]:
        nodes = self._statement(statement)
        for node in nodes:
            node.line = node.line or statement.lineno
            if not node.span[1]:
                node.span = self.span(statement)
        return nodes

    def _statement(self, statement: ast.stmt) -> list[SyntaxNode]:
        line = statement.lineno
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return [self.function(statement)]
            case ast.ClassDef():
                return [self.class_(statement)]
            case ast.Return(value=value):
                return [Return(value=self.expression(value, line))]
            case ast.Assign(targets=targets, value=value):
                node = self.expression(value)
                return [Assign(target=self.expression(target), value=node) for target in targets]
            case ast.AnnAssign(target=target, value=value, annotation=annotation):
                node, kind = self.expression(value, line), self.expression(annotation)
                return [Assign(target=self.expression(target), value=node, annotation=kind)]
            case ast.AugAssign(target=target, value=value):
                both = [self.expression(target), self.expression(value)]
                return [Assign(target=both[0], value=_sum(both, line))]
            case ast.For() | ast.AsyncFor():
                element = Element(line=line, iterable=self.expression(statement.iter))
                bound = Assign(line=line, target=self.expression(statement.target), value=element)
                body = self.block(statement.body, line)
                body.statements.insert(0, bound)
                return [Loop(body=body), *self.block(statement.orelse, line).statements]
            case ast.While(test=test, body=body, orelse=orelse):
                return [Loop(body=Block(line=line, statements=[self.condition(test, body, orelse, line)]))]
            case ast.If(test=test, body=body, orelse=orelse):
                return [self.condition(test, body, orelse, line)]
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                return [node for item in items for node in self.entered(item, line)] + self.block(body, line).statements
            case ast.Raise(exc=error):
                return [Raise(value=self.expression(error, line))]
            case ast.Try() | ast.TryStar():
                handlers = [self.block(handler.body, handler.lineno) for handler in statement.handlers]
                rest = [*statement.orelse, *statement.finalbody]
                attempt = Try(body=self.block(statement.body, line), handlers=handlers)
                return [attempt, *self.block(rest, line).statements]
            case ast.Import(names=names):
                tops = {alias: alias.name.partition(".")[0] for alias in names if not alias.asname}
                return [
                    Import(names={alias.asname or tops[alias]: (tops.get(alias, alias.name), "") for alias in names})
                ]
            case ast.ImportFrom(names=names):
                module = self.origin(statement)
                return [Import(names={alias.asname or alias.name: (module, alias.name) for alias in names})]
            case ast.Match(subject=subject, cases=cases):
                return [self.match(self.expression(subject), cases, line)]
            case ast.Expr(value=value):
                return [self.expression(value)]
            case ast.Assert(test=test):
                return [self.expression(test)]
            case ast.Global(names=names):
                return [Other(parts=[Name(line=line, id=name) for name in names], operator="global")]
            case ast.Delete(targets=targets):
                return [Other(parts=[self.expression(target) for target in targets], operator="del")]
            case _:
                return []

    def origin(self, statement: ast.ImportFrom) -> str:
        """Return the full name of the module of a `from` import: `from .a import b` in `p.q` gives `p.a`."""
        module = statement.module or ""
        if not statement.level:
            return module
        parents = self._package.split(".")
        ancestors = parents[: len(parents) - statement.level + 1]
        return ".".join([*ancestors, module] if module else ancestors)

    def condition(self, test: ast.expr, body: list[ast.stmt], otherwise: list[ast.stmt], line: int) -> If:
        return If(
            line=line, test=self.expression(test), body=self.block(body, line), otherwise=self.block(otherwise, line)
        )

    def match(self, subject: SyntaxNode, cases: list[ast.match_case], line: int) -> SyntaxNode:
        """Return a chain of conditions; a pattern that is no value matches anything of it."""
        rest = Block(line=line, statements=[])
        for case in reversed(cases):
            body = self.block(case.body, case.pattern.lineno)
            values = _pattern_values(case.pattern)
            if values is None:
                rest = body if isinstance(case.pattern, ast.MatchAs) and case.guard is None else _either(body, rest)
                continue
            tests = [
                Compare(line=value.lineno, left=subject, operator="==", right=self.expression(value))
                for value in values
            ]
            test = tests[0] if len(tests) == 1 else Logic(line=line, operator="or", values=tests)
            rest = Block(
                line=line,
                statements=[
                    If(line=body.statements[0].line if body.statements else line, test=test, body=body, otherwise=rest)
                ],
            )
        return rest

    def entered(self, item: ast.withitem, line: int) -> list[SyntaxNode]:
        value = self.expression(item.context_expr)
        if item.optional_vars is None:
            return [value]
        return [Assign(line=line, target=self.expression(item.optional_vars), value=value)]

    def function(self, node: _FunctionDef | ast.Lambda) -> Function:
        arguments = node.args
        plain = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
        pairs = [*zip(plain, defaults, strict=True), *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
        parameters = [self.parameter(argument, default) for argument, default in pairs]
        if arguments.vararg:
            parameters.append(self.parameter(arguments.vararg, None, "*"))
        if arguments.kwarg:
            parameters.append(self.parameter(arguments.kwarg, None, "**"))
        if isinstance(node, ast.Lambda):
            body = Block(line=node.lineno, statements=[Return(line=node.lineno, value=self.expression(node.body))])
            return Function(name="", parameters=parameters, body=body, end=node.end_lineno or node.lineno)
        decorators = [self.expression(decorator) for decorator in node.decorator_list]
        return Function(
            line=node.lineno,
            name=node.name,
            parameters=parameters,
            body=self.block(node.body, node.lineno),
            end=node.end_lineno or node.lineno,
            decorators=decorators,
            returns=self.expression(node.returns) if node.returns else None,
            docstring=self.docstring(node),
            is_static=any(isinstance(part, Name) and part.id == "staticmethod" for part in decorators),
        )

    def parameter(self, argument: ast.arg, default: ast.expr | None, star: str = "") -> FormalParameter:
        return FormalParameter(
            line=argument.lineno,
            name=argument.arg,
            default=self.expression(default) if default else None,
            annotation=self.annotation(argument.annotation),
            star=star,
            span=self.span(argument),
        )

    def annotation(self, annotation: ast.expr | None) -> SyntaxNode | None:
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                quoted = ast.parse(annotation.value, mode="eval").body
            except SyntaxError:
                return None
            inner = _Reader("", annotation.value.encode("utf-8", "surrogatepass"), is_package=True).expression(quoted)
            inner.span = self.span(annotation)
            return inner
        return self.expression(annotation) if annotation else None

    def docstring(self, node: _FunctionDef | ast.ClassDef) -> Literal | None:
        first = node.body[0]
        if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
            return None
        value = first.value.value
        return Literal(line=first.lineno, value=value, span=self.span(first.value)) if isinstance(value, str) else None

    def class_(self, node: ast.ClassDef) -> Class:
        methods: dict[str, Function] = {}
        fields: dict[str, SyntaxNode] = {}
        annotations: dict[str, SyntaxNode] = {}
        for statement in node.body:
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    methods[statement.name] = self.function(statement)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    fields[name] = self.expression(value)
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                    annotations[name] = self.annotation(annotation) or Other(line=statement.lineno)
                    if value is not None:
                        fields[name] = self.expression(value)
        return Class(
            line=node.lineno,
            name=node.name,
            bases=[self.expression(base) for base in node.bases],
            methods=methods,
            fields=fields,
            annotations=annotations,
            end=node.end_lineno or node.lineno,
            decorators=[self.expression(decorator) for decorator in node.decorator_list],
            docstring=self.docstring(node),
            has_keywords=bool(node.keywords),
        )

    def expression(self, node: ast.expr | None, line: int = 1) -> SyntaxNode:
        if node is None:
            return Literal(line=line, value=None)
        read = self._expression(node)
        read.line = read.line or node.lineno
        if not read.span[1]:  # `await x` is x, which has its own
            read.span = self.span(node)
        return read

    def _expression(self, node: ast.expr) -> SyntaxNode:
        line = node.lineno
        match node:
            case ast.Constant(value=value) if value is ...:
                return Other(operator="...")
            case ast.Constant(value=value):
                return Literal(value=value if isinstance(value, str | int | float | bool) else None)
            case ast.Name(id=name):
                return Name(id=name)
            case ast.Attribute(value=value, attr=key):
                return Attribute(line=node.end_lineno or line, value=self.expression(value), key=key)
            case ast.Subscript(value=value, slice=ast.Constant(value=str() as key)):
                return Attribute(value=self.expression(value), key=key)
            case ast.Subscript(value=value, slice=key):
                return Subscript(
                    value=self.expression(value), key=self.expression(key), is_slice=isinstance(key, ast.Slice)
                )
            case ast.Slice(lower=lower, upper=upper):
                return Collection(values=[self.expression(bound, line) for bound in (lower, upper)])
            case ast.Starred(value=value):
                return Spread(value=self.expression(value))
            case ast.Await(value=value) | ast.NamedExpr(value=value) as inner:
                if isinstance(inner, ast.NamedExpr):
                    return Assign(target=self.expression(inner.target), value=self.expression(value))
                awaited = self.expression(value)
                if isinstance(awaited, CallSite):
                    awaited.is_awaited = True
                return awaited
            case ast.Yield(value=value) | ast.YieldFrom(value=value):
                return Return(value=self.expression(value, line))
            case ast.Call():
                return self.call(node)
            case ast.JoinedStr(values=values):
                return Template(parts=[self.expression(value) for value in values])
            case ast.FormattedValue(value=value):
                return self.expression(value)
            case ast.Dict(keys=keys, values=values):
                items = [(_key(key), self.expression(value)) for key, value in zip(keys, values, strict=True)]
                computed = {place: self.expression(key) for place, key in enumerate(keys) if not _key(key)}
                return ObjectLiteral(items=items, end=node.end_lineno or line, keys=computed)
            case ast.List(elts=values) | ast.Tuple(elts=values) | ast.Set(elts=values):
                return Collection(values=[self.expression(value) for value in values])
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                return Compare(
                    left=self.expression(left), operator=_OPERATORS[type(operator)], right=self.expression(right)
                )
            case ast.Compare(left=left, ops=operators, comparators=rights) if len(operators) > 1:  # `1 <= depth <= 9`
                pairs = zip([left, *rights], operators, rights, strict=False)
                chain = [ast.Compare(left=first, ops=[sign], comparators=[right]) for first, sign, right in pairs]
                tests = [self.expression(ast.copy_location(part, node)) for part in chain]
                return Logic(operator="and", values=tests)
            case ast.BoolOp(op=operator, values=values):
                name = "and" if isinstance(operator, ast.And) else "or"
                return Logic(operator=name, values=[self.expression(value) for value in values])
            case ast.UnaryOp(op=ast.Not(), operand=value):
                return Logic(operator="not", values=[self.expression(value)])
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return Literal(value=-value)
            case ast.BinOp(left=left, op=ast.Add() | ast.Mod() as operator, right=right):
                both = [self.expression(left), self.expression(right)]
                return _sum(both, line, "+" if isinstance(operator, ast.Add) else "%")
            case ast.BinOp(left=left, op=operator, right=right):
                sign = "/" if isinstance(operator, ast.Div) else "|" if isinstance(operator, ast.BitOr) else ""
                return Other(parts=[self.expression(left), self.expression(right)], operator=sign)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return Choice(test=self.expression(test), body=self.expression(body), otherwise=self.expression(orelse))
            case ast.Lambda():
                return self.function(node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                element = Collection(line=line, values=[self.expression(node.elt)])
                return self.comprehension(node.generators, element, line)
            case ast.DictComp(key=key, value=value):
                entry = ObjectLiteral(line=line, items=[("", self.expression(value))])
                return self.comprehension(node.generators, entry, line, self.expression(key))
            case _:
                parts = [self.expression(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
                return Other(parts=parts)

    def comprehension(
        self, generators: list[ast.comprehension], result: SyntaxNode, line: int, *keys: SyntaxNode
    ) -> SyntaxNode:
        parts: list[SyntaxNode] = []
        for generator in generators:
            element = Element(line=line, iterable=self.expression(generator.iter))
            parts.append(Assign(line=line, target=self.expression(generator.target), value=element))
            parts += [self.expression(test) for test in generator.ifs]
        return Other(parts=[*parts, *keys, result], operator="comprehension")

    def call(self, node: ast.Call) -> CallSite:
        keywords = {keyword.arg: self.expression(keyword.value) for keyword in node.keywords if keyword.arg}
        spreads = [
            Spread(line=node.lineno, value=self.expression(keyword.value))
            for keyword in node.keywords
            if not keyword.arg
        ]
        if spreads:
            keywords["**"] = spreads[0]
        return CallSite(
            line=node.func.end_lineno or node.lineno,
            function=self.expression(node.func),
            arguments=[self.expression(argument) for argument in node.args],
            keywords=keywords,
            end=node.end_lineno or node.lineno,
        )


def _key(key: ast.expr | None) -> str:
    if key is None:
        return "..."
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def _sum(parts: list[SyntaxNode], line: int, operator: str = "+") -> SyntaxNode:
    """Return a text where one of the parts is text, else a sum of unknown kind."""
    is_text = any(
        isinstance(part, Template) or (isinstance(part, Literal) and isinstance(part.value, str)) for part in parts
    )
    if is_text:
        return Template(line=line, parts=parts, is_filled=operator == "%")
    return Other(line=line, parts=parts, operator=operator)


def _pattern_values(pattern: ast.pattern) -> list[ast.expr] | None:
    match pattern:
        case ast.MatchValue(value=value):
            return [value]
        case ast.MatchOr(patterns=patterns):
            values = [_pattern_values(part) for part in patterns]
            return None if None in values else [value for part in values if part for value in part]
        case _:
            return None


def _either(body: Block, rest: Block) -> Block:
    """Return a condition that nothing is known of."""
    return Block(line=body.line, statements=[If(line=body.line, test=Other(line=body.line), body=body, otherwise=rest)])
