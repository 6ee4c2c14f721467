"""JavaScript and TypeScript files as nodes, by tree-sitter: sources and published bundles alike."""

import ast
import re
from collections.abc import Iterator
from functools import cache

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Parser
from tree_sitter import Node as Tree

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
    Export,
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

_OPERATORS = {"===": "==", "!==": "!="} | {
    sign: sign for sign in ("==", "!=", "<", "<=", ">", ">=", "in", "instanceof")
}
_FUNCTIONS = frozenset(
    "function_declaration function_expression arrow_function method_definition generator_function "
    "generator_function_declaration function".split()
)
_TRANSPARENT = frozenset(
    "await_expression parenthesized_expression as_expression satisfies_expression non_null_expression "
    "type_assertion expression_statement".split()
)
_ESCAPE = re.compile(r"\\(u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|\r?\n|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


@cache
def _parser(suffix: str) -> Parser:
    grammars = {"ts": tree_sitter_typescript.language_typescript, "tsx": tree_sitter_typescript.language_tsx}
    grammars |= {"mts": grammars["ts"], "cts": grammars["ts"]}
    return Parser(Language(grammars.get(suffix, tree_sitter_javascript.language)()))


def read_script(path: str, content: bytes) -> Module:
    """Return a JavaScript or TypeScript file's nodes; what does not parse is left out."""
    tree = _parser(path.rpartition(".")[2]).parse(content)
    body = Block(line=1, statements=list(_statements(tree.root_node.named_children)))
    return Module(path=path, body=body, language="script", text=content, bundled=_bundled(content))


def has_script_error(path: str, content: bytes) -> bool:
    """Return whether a part of a JavaScript or TypeScript file cannot be parsed."""
    return _parser(path.rpartition(".")[2]).parse(content).root_node.has_error


_ORIGIN = re.compile(
    r"^[ \t]*//(?:#region)? (?:\.{1,2}/)*((?:[\w@.+~-]+/)*[\w@.+-]+\.[cm]?[jt]sx?)[ \t]*$", re.MULTILINE
)


def _bundled(content: bytes) -> list[tuple[int, str]]:
    """Return where a bundle notes the file that its next lines come from: `// node_modules/axios/lib/axios.js`."""
    if b"// node_modules/" not in content and b"/node_modules/" not in content:
        return []
    text = content.decode("utf-8", "replace")
    origins: list[tuple[int, str]] = []
    line, position = 1, 0
    for match in _ORIGIN.finditer(text):
        line, position = line + text.count("\n", position, match.start()), match.start()
        _, is_library, inner = match[1].rpartition("node_modules/")
        origins.append((line, "/".join(inner.split("/")[: 2 if inner.startswith("@") else 1]) if is_library else ""))
    return origins


def _line(tree: Tree) -> int:
    return tree.start_point[0] + 1


def _end(tree: Tree) -> int:
    return tree.end_point[0] + 1


def _text(tree: Tree | None) -> str:
    return tree.text.decode("utf-8", "replace") if tree is not None and tree.text else ""


def _block(tree: Tree | None, line: int) -> Block:
    if tree is None:
        return Block(line=line, statements=[])
    parts = tree.named_children if tree.type in ("statement_block", "else_clause", "finally_clause") else [tree]
    return Block(line=_line(tree), statements=list(_statements(parts)))


def _statements(trees: list[Tree]) -> Iterator[SyntaxNode]:
    for tree in trees:
        for node in _statement(tree):
            node.line = node.line or _line(tree)
            yield node


def _statement(tree: Tree) -> Iterator[SyntaxNode]:
    line = _line(tree)
    match tree.type:
        case "comment" | "empty_statement" | "interface_declaration" | "type_alias_declaration" | "hash_bang_line":
            return
        case "lexical_declaration" | "variable_declaration":
            for declarator in tree.named_children:
                if declarator.type == "variable_declarator":
                    yield _declared(declarator)
        case "return_statement":
            yield Return(value=_first(tree, line))
        case "throw_statement":
            yield Raise(value=_first(tree, line))
        case "if_statement":
            yield If(
                test=_field(tree, "condition"),
                body=_block(tree.child_by_field_name("consequence"), line),
                otherwise=_block(tree.child_by_field_name("alternative"), line),
            )
        case "switch_statement":
            yield _switch(tree)
        case "for_statement" | "while_statement" | "do_statement":
            yield from _statements([part for part in _fields(tree, "initializer") if part.is_named])
            test = tree.child_by_field_name("condition")
            body = _block(tree.child_by_field_name("body"), line)
            if test is not None and test.is_named and test.type != "empty_statement":
                body.statements.insert(0, _expression(test))
            yield Loop(body=body)
        case "for_in_statement":
            element = Element(line=line, iterable=_field(tree, "right"))
            body = _block(tree.child_by_field_name("body"), line)
            body.statements.insert(0, Assign(line=line, target=_field(tree, "left"), value=element))
            yield Loop(body=body)
        case "try_statement":
            handler = tree.child_by_field_name("handler")
            handlers = [_block(handler.child_by_field_name("body"), line)] if handler else []
            error = handler.child_by_field_name("parameter") if handler else None
            if error is not None:
                handlers[0].statements.insert(0, Assign(line=line, target=_pattern(error), value=Other(line=line)))
            yield Try(body=_block(tree.child_by_field_name("body"), line), handlers=handlers)
            yield from _block(tree.child_by_field_name("finalizer"), line).statements
        case "statement_block" | "else_clause":
            yield from _statements(tree.named_children)
        case "labeled_statement":
            yield from _statements(tree.named_children[1:])
        case "import_statement":
            yield from _import(tree)
        case "export_statement":
            yield from _export(tree)
        case "ERROR" | "program":
            yield from _statements(tree.named_children)
        case _:
            yield _expression(tree)


def _declared(tree: Tree) -> Assign:
    name = tree.child_by_field_name("name")
    value = tree.child_by_field_name("value")
    annotation = tree.child_by_field_name("type")
    node = _expression(value) if value else Literal(line=_line(tree), value=None)
    if isinstance(node, Function) and not node.name:
        node.name = _text(name)
    return Assign(
        line=_line(tree),
        target=_pattern(name) if name else Other(line=_line(tree)),
        value=node,
        annotation=_annotation(annotation),
        is_declaration=True,
    )


def _switch(tree: Tree) -> SyntaxNode:
    """Return a chain of conditions; `case "a": case "b": …` is `a or b`, other falling through is ignored."""
    line = _line(tree)
    subject = _field(tree, "value")
    body = tree.child_by_field_name("body")
    arms: list[tuple[list[SyntaxNode], Block]] = []
    waiting: list[SyntaxNode] = []
    otherwise = Block(line=line, statements=[])
    for case in body.named_children if body else []:
        if case.type == "comment":
            continue
        parts = _fields(case, "body")
        if case.type == "switch_default":
            otherwise = Block(line=_line(case), statements=list(_statements(parts)))
            continue
        value = _field(case, "value")
        waiting.append(Compare(line=_line(case), left=subject, operator="==", right=value))
        if parts:
            arms.append((waiting, Block(line=_line(case), statements=list(_statements(parts)))))
            waiting = []
    for tests, block in reversed(arms):
        test = tests[0] if len(tests) == 1 else Logic(line=tests[0].line, operator="or", values=tests)
        otherwise = Block(line=block.line, statements=[If(line=block.line, test=test, body=block, otherwise=otherwise)])
    return otherwise


def _import(tree: Tree) -> Iterator[SyntaxNode]:
    module = _string(tree.child_by_field_name("source"))
    names: dict[str, tuple[str, str]] = {}
    for clause in (part for part in tree.named_children if part.type == "import_clause"):
        for part in clause.named_children:
            match part.type:
                case "identifier":
                    names[_text(part)] = (module, "default")
                case "namespace_import":
                    names[_text(part.named_children[0])] = (module, "")
                case "named_imports":
                    for specifier in (item for item in part.named_children if item.type == "import_specifier"):
                        name = _text(specifier.child_by_field_name("name")).strip("\"'")
                        names[_text(specifier.child_by_field_name("alias")) or name] = (module, name)
    yield Import(names=names)


def _export(tree: Tree) -> Iterator[SyntaxNode]:
    source = tree.child_by_field_name("source")
    module = _string(source) if source else ""
    declaration = tree.child_by_field_name("declaration")
    value = tree.child_by_field_name("value")
    if declaration is not None:
        nodes = list(_statements([declaration]))
        yield from nodes
        yield Export(names={name: name for node in nodes for name in _bound(node)})
    elif value is not None:
        yield Assign(target=Name(line=_line(tree), id="default"), value=_expression(value))
        yield Export(names={"default": "default"})
    else:
        names: dict[str, str | tuple[str, str]] = {}
        for clause in (part for part in tree.named_children if part.type == "export_clause"):
            for specifier in (item for item in clause.named_children if item.type == "export_specifier"):
                name = _text(specifier.child_by_field_name("name"))
                alias = _text(specifier.child_by_field_name("alias")) or name
                names[alias] = (module, name) if module else name
        if module and not names:
            names[f"*{module}"] = (module, "")
        yield Export(names=names)


def _bound(node: SyntaxNode) -> list[str]:
    match node:
        case Function(name=name) | Class(name=name):
            return [name]
        case Assign(target=Name(id=name)):
            return [name]
        case Assign(target=ObjectLiteral(items=items)):
            return [target.id for _, target in items if isinstance(target, Name)]
        case _:
            return []


def _field(tree: Tree, name: str) -> SyntaxNode:
    child = tree.child_by_field_name(name)
    return _expression(child) if child is not None else Literal(line=_line(tree), value=None)


def _fields(tree: Tree, name: str) -> list[Tree]:
    return [part for part in tree.children_by_field_name(name) if part.type != "comment"]


def _first(tree: Tree, line: int) -> SyntaxNode:
    parts = [part for part in tree.named_children if part.type != "comment"]
    return _expression(parts[0]) if parts else Literal(line=line, value=None)


def _arguments(tree: Tree | None) -> list[Tree]:
    return [part for part in tree.named_children if part.type != "comment"] if tree else []


def _expression(tree: Tree) -> SyntaxNode:
    node = _read(tree)
    node.line = node.line or _line(tree)
    if not node.span[1]:  # `(x as T)` is x, which has its own
        node.span = (tree.start_byte, tree.end_byte)
    return node


def _read(tree: Tree) -> SyntaxNode:
    line = _line(tree)
    kind = tree.type
    if kind in _TRANSPARENT:
        inner = _first(tree, line)
        if kind == "await_expression" and isinstance(inner, CallSite):
            inner.is_awaited = True
        return inner
    if kind in _FUNCTIONS:
        return _function(tree)
    match kind:
        case (
            "identifier"
            | "import"
            | "this"
            | "super"
            | "shorthand_property_identifier"
            | "type_identifier"
            | "property_identifier"
        ):
            return Name(id=_text(tree))
        case "string":
            return Literal(value=_string(tree))
        case "number":
            return Literal(value=_number(_text(tree)))
        case "true" | "false":
            return Literal(value=kind == "true")
        case "null" | "undefined":
            return Literal(value=None)
        case "regex":
            pattern = Literal(line=line, value=_text(tree.child_by_field_name("pattern")))
            return Other(parts=[pattern], operator="regex")
        case "template_string":
            return _template(tree)
        case "member_expression":
            prop = tree.child_by_field_name("property")
            return Attribute(line=_line(prop) if prop else line, value=_field(tree, "object"), key=_text(prop))
        case "subscript_expression":
            index = tree.child_by_field_name("index")
            if index is not None and index.type == "string":
                return Attribute(value=_field(tree, "object"), key=_string(index))
            return Subscript(value=_field(tree, "object"), key=_field(tree, "index"))
        case "call_expression":
            return _call(tree)
        case "new_expression":
            arguments = [_expression(part) for part in _arguments(tree.child_by_field_name("arguments"))]
            return CallSite(function=_field(tree, "constructor"), arguments=arguments, is_new=True, end=_end(tree))
        case "object":
            return _record(tree)
        case "array":
            return Collection(values=[_expression(part) for part in _arguments(tree)])
        case "spread_element":
            return Spread(value=_first(tree, line))
        case "assignment_expression" | "augmented_assignment_expression":
            left = tree.child_by_field_name("left")
            target = _pattern(left) if left else Other(line=line)
            return Assign(target=target, value=_updated(tree))
        case "binary_expression":
            return _binary(tree)
        case "unary_expression":
            argument = _field(tree, "argument")
            match _text(tree.child_by_field_name("operator")), argument:
                case "!", _:
                    return Logic(operator="not", values=[argument])
                case "delete", _:
                    return Other(parts=[argument], operator="del")
                case "void", Literal():  # void 0
                    return Literal(value=None)
                case "-", Literal(value=int() | float() as number):
                    return Literal(value=-number)
            return Other(parts=[argument])
        case "ternary_expression":
            return Choice(
                test=_field(tree, "condition"), body=_field(tree, "consequence"), otherwise=_field(tree, "alternative")
            )
        case "class_declaration" | "class" | "abstract_class_declaration":
            return _class(tree)
        case "sequence_expression":
            return Other(parts=[_expression(part) for part in _arguments(tree)], operator=",")
        case "yield_expression" if not _is_awaiting(tree):
            return Return(value=_first(tree, line))
        case "yield_expression":
            return _first(tree, line)
        case "object_pattern" | "array_pattern":
            return _pattern(tree)
        case _:
            return Other(parts=[_expression(part) for part in tree.named_children if part.type != "comment"])


def _is_awaiting(tree: Tree) -> bool:
    """Return whether a `yield` is TypeScript's `await` for older JavaScript: `__awaiter(…, function* () { … })`."""
    place = tree.parent
    while place is not None and place.type not in _FUNCTIONS:
        place = place.parent
    call = place.parent.parent if place is not None and place.parent is not None else None
    return call is not None and _text(call.child_by_field_name("function")).endswith("__awaiter")


def _updated(tree: Tree) -> SyntaxNode:
    """Return the value of an assignment; `text += line` is made of both sides."""
    right = _field(tree, "right")
    operator = _text(tree.child_by_field_name("operator"))
    if tree.type == "assignment_expression" or not operator:
        return right
    values = [_field(tree, "left"), right]
    if operator in ("||=", "??="):
        return Logic(line=right.line, operator="or", values=values)
    return _added(values, right.line, operator.removesuffix("="))


def _added(values: list[SyntaxNode], line: int, operator: str) -> SyntaxNode:
    """Return a text where one of the values is text, else something of unknown kind."""
    is_text = any(
        isinstance(part, Template) or (isinstance(part, Literal) and isinstance(part.value, str)) for part in values
    )
    return Template(line=line, parts=values) if operator == "+" and is_text else Other(line=line, parts=values)


def _binary(tree: Tree) -> SyntaxNode:
    left, right = tree.child_by_field_name("left"), tree.child_by_field_name("right")
    operator = _text(tree.child_by_field_name("operator"))
    # A sum of a hundred strings is a hundred levels deep on its left side.
    parts = [right] if right is not None else []
    while operator == "+" and left is not None and left.type == "binary_expression":
        if _text(left.child_by_field_name("operator")) != "+":
            break
        inner = left.child_by_field_name("right")
        parts += [inner] if inner is not None else []
        left = left.child_by_field_name("left")
    values = [_expression(part) for part in reversed([*parts, *([left] if left is not None else [])])]
    if operator in _OPERATORS:
        return Compare(left=values[0], operator=_OPERATORS[operator], right=values[-1])
    if operator in ("&&", "||", "??"):
        return Logic(operator="and" if operator == "&&" else "or", values=values)
    return _added(values, _line(tree), operator)


def _call(tree: Tree) -> SyntaxNode:
    function = tree.child_by_field_name("function")
    arguments = tree.child_by_field_name("arguments")
    if arguments is not None and arguments.type == "template_string":  # sql`SELECT …`
        values: list[SyntaxNode] = [_template(arguments)]
    else:
        values = [_expression(part) for part in _arguments(arguments)]
    if function is not None and function.type == "identifier" and _text(function) == "await":
        # `await (0, api.fetch)(url)` in what looks like no async function
        return Other(parts=values, operator=",")
    callee = _expression(function) if function is not None else Other(line=_line(tree))
    return CallSite(line=callee.line, function=callee, arguments=values, end=_end(tree))


def _template(tree: Tree) -> Template:
    parts: list[SyntaxNode] = []
    for part in tree.named_children:
        if part.type == "template_substitution":
            parts.append(_first(part, _line(part)))
        else:
            parts.append(Literal(line=_line(part), value=_unescaped(_text(part))))
    return Template(line=_line(tree), parts=parts, span=(tree.start_byte, tree.end_byte))


def _record(tree: Tree) -> ObjectLiteral:
    items: list[tuple[str, SyntaxNode]] = []
    keys: dict[int, SyntaxNode] = {}
    for part in _arguments(tree):
        span = (part.start_byte, part.end_byte)
        match part.type:
            case "pair":
                key = part.child_by_field_name("key")
                if key is not None and not _property(key):
                    keys[len(items)] = _first(key, _line(key))
                items.append((_property(key), _field(part, "value")))
            case "shorthand_property_identifier":
                items.append((_text(part), Name(line=_line(part), id=_text(part), span=span)))
            case "method_definition":
                function = _function(part)
                function.span = span
                items.append((function.name, function))
            case "spread_element":
                items.append(("...", _first(part, _line(part))))
    return ObjectLiteral(items=items, end=_end(tree), keys=keys)


def _property(tree: Tree | None) -> str:
    if tree is None or tree.type == "computed_property_name":
        inner = tree.named_children[0] if tree is not None and tree.named_children else None
        return _string(inner) if inner is not None and inner.type == "string" else ""
    return _string(tree) if tree.type == "string" else _text(tree)


def _function(tree: Tree) -> Function:
    line = _line(tree)
    single = tree.child_by_field_name("parameter")
    listed = tree.child_by_field_name("parameters")
    trees = [single] if single is not None else _arguments(listed)
    body = tree.child_by_field_name("body")
    if body is None:
        block = Block(line=line, statements=[])
    elif body.type == "statement_block":
        block = _block(body, line)
    else:
        block = Block(line=_line(body), statements=[Return(line=_line(body), value=_expression(body))])
    return Function(
        line=line,
        name=_property(tree.child_by_field_name("name")),
        parameters=[_parameter(part) for part in trees],
        body=block,
        end=_end(tree),
        returns=_annotation(tree.child_by_field_name("return_type")),
        is_static=any(part.type == "static" for part in tree.children),
    )


def _parameter(tree: Tree) -> FormalParameter:
    line = _line(tree)
    default: SyntaxNode | None = None
    annotation: SyntaxNode | None = None
    target: Tree | None = tree
    if tree.type in ("required_parameter", "optional_parameter"):
        annotation = _annotation(tree.child_by_field_name("type"))
        value = tree.child_by_field_name("value")
        default = _expression(value) if value is not None else None
        target = tree.child_by_field_name("pattern")
    elif tree.type == "assignment_pattern":
        target = tree.child_by_field_name("left")
        default = _field(tree, "right")
    if target is None:
        return FormalParameter(line=line, name="")
    if target.type == "rest_pattern":
        return FormalParameter(line=line, name=_text(target).removeprefix("..."), star="*")
    if target.type in ("object_pattern", "array_pattern"):
        pattern = _pattern(target)
        bound = pattern if isinstance(pattern, ObjectLiteral | Collection) else None
        return FormalParameter(line=line, name="", default=default, annotation=annotation, pattern=bound)
    return FormalParameter(line=line, name=_text(target), default=default, annotation=annotation)


def _pattern(tree: Tree) -> SyntaxNode:
    """Return what is bound: `{a, b: c = 1, ...rest}` is a record of targets; a default is dropped."""
    line = _line(tree)
    match tree.type:
        case "object_pattern":
            items: list[tuple[str, SyntaxNode]] = []
            for part in _arguments(tree):
                match part.type:
                    case "shorthand_property_identifier_pattern":
                        items.append((_text(part), Name(line=_line(part), id=_text(part))))
                    case "pair_pattern":
                        value = part.child_by_field_name("value")
                        items.append(
                            (_property(part.child_by_field_name("key")), _pattern(value) if value else Other(line=line))
                        )
                    case "object_assignment_pattern":
                        name = _text(part.child_by_field_name("left"))
                        default = _field(part, "right")
                        target = FormalParameter(line=_line(part), name=name, default=default)
                        items.append((name, target))
                    case "rest_pattern":
                        items.append(("...", Name(line=_line(part), id=_text(part).removeprefix("..."))))
            return ObjectLiteral(line=line, items=items, end=_end(tree))
        case "array_pattern":
            return Collection(line=line, values=[_pattern(part) for part in _arguments(tree)])
        case "assignment_pattern":
            left = tree.child_by_field_name("left")
            name = _text(left) if left is not None and left.type == "identifier" else ""
            if name:
                return FormalParameter(line=line, name=name, default=_field(tree, "right"))
            return _pattern(left) if left is not None else Other(line=line)
        case _:
            return _expression(tree)


def _annotation(tree: Tree | None) -> SyntaxNode | None:
    """Return a type's name: `: Client` is Client; a generic, union or literal type is a node of its parts."""
    if tree is None:
        return None
    inner = tree.named_children[0] if tree.type == "type_annotation" and tree.named_children else tree
    if inner.type in ("type_identifier", "identifier"):
        return Name(line=_line(inner), id=_text(inner))
    if inner.type == "generic_type" and inner.named_children:
        return Name(line=_line(inner), id=_text(inner.named_children[0]))
    return None


def _class(tree: Tree) -> Class:
    methods: dict[str, Function] = {}
    fields: dict[str, SyntaxNode] = {}
    annotations: dict[str, SyntaxNode] = {}
    bases: list[SyntaxNode] = []
    for part in tree.named_children:
        if part.type == "class_heritage":
            for base in part.named_children:
                extended = base.named_children[0] if base.type == "extends_clause" and base.named_children else base
                if extended.type != "implements_clause":
                    bases.append(_expression(extended))
    body = tree.child_by_field_name("body")
    for part in body.named_children if body else []:
        if part.type == "method_definition":
            method = _function(part)
            methods[method.name] = method
            for parameter in _arguments(part.child_by_field_name("parameters")):
                if any(item.type == "accessibility_modifier" for item in parameter.children):
                    field = _parameter(parameter)
                    if field.annotation is not None:
                        annotations[field.name] = field.annotation
        elif part.type in ("field_definition", "public_field_definition"):
            name = _property(part.child_by_field_name("property") or part.child_by_field_name("name"))
            value = part.child_by_field_name("value")
            if value is not None:
                fields[name] = _expression(value)
            annotation = _annotation(part.child_by_field_name("type"))
            if annotation is not None:
                annotations[name] = annotation
        elif part.type == "class_static_block":
            inner = part.child_by_field_name("body")
            for statement in _statements(inner.named_children if inner is not None else []):
                if isinstance(statement, Assign) and isinstance(statement.target, Attribute):
                    fields[statement.target.key] = statement.value
    return Class(
        name=_text(tree.child_by_field_name("name")),
        bases=bases,
        methods=methods,
        fields=fields,
        annotations=annotations,
        end=_end(tree),
    )


def _string(tree: Tree | None) -> str:
    return _unescaped(_text(tree)[1:-1]) if tree is not None else ""


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_escape, text) if "\\" in text else text


def _escape(match: re.Match[str]) -> str:
    digits = match[2] or match[3] or match[4]
    if digits:
        code = int(digits, 16)
        return chr(code) if code <= 0x10FFFF else ""
    return "" if match[1].strip("\r") == "\n" else _ESCAPED.get(match[1], match[1])


def _number(text: str) -> int | float | None:
    try:
        value = ast.literal_eval(text.replace("_", "").rstrip("n").lower())
    except (SyntaxError, ValueError):
        return None
    return value if isinstance(value, int | float) else None
