"""Reading a project: its files, its tools, and what the code of each does. Nothing is run or imported."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tdqs_mcp.code.constants import plain
from tdqs_mcp.code.definitions import DefinitionReader, StaticDefinition
from tdqs_mcp.code.expressions import contrary_of
from tdqs_mcp.code.flow import Interpreter
from tdqs_mcp.code.hint_verdicts import is_change, judge
from tdqs_mcp.code.knowledge import ADDS, DESTROYS, NAMES, SET_UP
from tdqs_mcp.code.nodes import (
    Block,
    CallSite,
    Function,
    Literal,
    Name,
    ObjectLiteral,
    Return,
    SyntaxNode,
    walk,
)
from tdqs_mcp.code.project import Project, last_name
from tdqs_mcp.code.registrations import Registration
from tdqs_mcp.code.result_forms import ResultReader
from tdqs_mcp.code.tool_search import NO_OVERLAY, find_tools, folder_of, imports_beside, read_operations
from tdqs_mcp.code.trace import ALL, FORM, Arm, CallTrace, Sighting
from tdqs_mcp.code.values import CallFrame, Closure, Constant, Dictionary, text_of
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.results.tool_code import (
    CodeEffect,
    CodeError,
    CodeLimit,
    CodePlace,
    CodeReport,
    CodeSpan,
    CodeText,
    DeadValue,
    EffectKind,
    Handler,
    ToolCode,
    Unresolved,
)

MAX_NAMED = 3
"""Packages that a sentence names."""

MIN_SHARED = 4
"""Tools that reach an effect before it may be the server's own housekeeping."""

_SHARED_CHANGES = frozenset(
    "process state-in-memory file-write file-delete sql-write http-write sends-data-out".split()
)
_METHODS = frozenset("GET HEAD OPTIONS POST PUT PATCH DELETE".split())

_TOLD_APART = frozenset(["file-write", "http-write", "sql-write", "process"])
"""Kinds of changes of which a line may make several, by the agent's choice: of statements, of commands."""


_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def read_code(folder: str | Path, overlay: Mapping[str, bytes] = NO_OVERLAY) -> CodeReport:
    """Return what the code of each tool of a folder does, Python, JavaScript and TypeScript, as far as it is certain.

    A single file is read alone; `overlay` has contents by path in place of those on the disk. Raises InputError for
    what is not there, and for a folder without source files.
    """
    root = Path(folder)
    interpreter, registrations, unread = find_tools(root, overlay)
    problems = [sentence for sentence, _ in unread]
    computed = [registration for registration in registrations if registration.is_computed]
    problems += [f"{part.module.path}:{part.line}: the name of a tool is computed" for part in computed]
    if root.is_file() and (missing := imports_beside(root, interpreter.project)):
        problems.append(
            f"{root.name}: imports {first_of(missing, MAX_NAMED)}, which is not read: name the folder instead"
        )
    registrations = [registration for registration in registrations if not registration.is_computed]
    interpreter.records = {
        part.name: (part.node, interpreter.scope_of(part.module))
        for part in registrations
        if isinstance(part.node, ObjectLiteral) and part.dispatched
    }
    stated = [_stated(tool, interpreter) for tool in registrations]  # before a call, whose settings would count as its
    interpreter.log_file = next(_log_files(interpreter.project), "")
    traces = [
        interpreter.follow(tool.name, tool.handler, tool.arguments, tool.keywords) if tool.handler else None
        for tool in registrations
    ]
    _mark_unanswered(list(zip(registrations, traces, strict=True)))
    _mark_creating([trace for trace in traces if trace])
    _part_housekeeping([(tool, trace) for tool, trace in zip(registrations, traces, strict=True) if trace])
    reader = DefinitionReader(interpreter, registrations)
    tools = [
        replace(
            _tool(registration, trace, interpreter, definition),
            description=description,
            hints=hints,
            places=reader.places(registration, definition),
        )
        for registration, trace, definition, (description, hints) in zip(
            registrations, traces, map(reader.read, registrations), stated, strict=True
        )
    ]
    shared = {handler for handler, count in Counter(tool.handler for tool in tools).items() if count > 1}
    tools = [
        replace(tool, handler=_handler(registration, trace, is_worker=False))
        if trace and tool.handler in shared  # what several tools hand on to is a helper of theirs
        else tool
        for tool, registration, trace in zip(tools, registrations, traces, strict=True)
    ]
    names = {tool.name for tool in tools}
    operations = read_operations(root, interpreter.project)
    tools += [_generated(name, request) for name, request in operations if name not in names]
    lost = [
        f"{registration.name}: no handler was found ({registration.problem})"
        for registration in registrations
        if registration.handler is None
    ]
    if not tools and not computed:
        problems.append(_no_tools(interpreter.project))
    return CodeReport(folder=folder_of(root).as_posix(), tools=tuple(tools), problems=(*problems, *lost))


def _log_files(project: Project) -> Iterator[str]:
    """Yield the lines that make a logger write to a file."""
    for module in project.modules:
        for node in module.tree.nodes:
            match node:
                case CallSite(function=function, keywords=keywords, line=line):
                    name = last_name(function)
                    if name in NAMES["log_files"] or (name == "basicConfig" and "filename" in keywords):
                        yield f"{module.path}:{line}"


def _no_tools(project: Project) -> str:
    """Return the sentence about a project without tools, with the packages that may have them."""
    origins = {
        source
        for module in project.modules
        for source, _ in module.origins
        if not source.startswith((".", "mcp.", "fastmcp", "@modelcontextprotocol/"))
        and "mcp" in source.lower().removeprefix("mcp")
        and project.find(module, source) is None
    }
    elsewhere = f"; it imports {first_of(sorted(origins), MAX_NAMED)}, which may have them" if origins else ""
    return f"no tool was found in the code{elsewhere}"


def _mark_unanswered(tools: Sequence[tuple[Registration, CallTrace | None]]) -> None:
    """Leave open what is done for a name that has no branch in a function that has branches for others' names."""
    dispatched = [(tool, trace) for tool, trace in tools if tool.dispatched and trace is not None]
    branching = {tool.handler for tool, trace in dispatched if trace.arms}
    for tool, trace in dispatched:
        if tool.handler in branching and not (trace.arms or trace.has_record) and tool.handler:
            place = (tool.handler.module.path, tool.handler.function.line)
            text = f"no branch for {tool.name}"
            trace.unresolved.append(Sighting(kind="handler", path=place[0], line=place[1], depth=0, text=text))


def _mark_creating(traces: Sequence[CallTrace]) -> None:
    """Take a POST to an address that the same code reads by GET for the creation of something there.

    `POST /projects/{}/branches` makes a branch where `GET /projects/{}/branches` lists them.
    """
    read = {sighting.address for trace in traces for sighting in trace.effects if sighting.text == "GET"} - {""}
    for trace in traces:
        trace.effects = [
            replace(sighting, kind="http-write")
            if sighting.kind == "sends-data-out" and sighting.address in read
            else sighting
            for sighting in trace.effects
        ]


def _part_housekeeping(tools: Sequence[tuple[Registration, CallTrace]]) -> None:
    """Part the server's own housekeeping from the effects of its tools.

    That is what many tools do whatever they are asked, such as caches of tokens, and what every tool does beside its
    work, even with its arguments, such as logs; and lines that four tools, or all of fewer, append to a file that
    none of them names, or that hold nothing of what the agent says. Lines that nearly all tools append are a log,
    which is no change. What four tools reach by the very same call of a function is a connection or the like: nobody
    knows what is called there, but it is not what one of them is for. Nor is a schema that is created where it is
    missing, for a tool that asks the database anything else.
    """
    traces = [trace for _, trace in tools]
    plain = _count(traces, lambda sighting: None if sighting.parameters else _place(sighting))
    reached = _count(traces, _place)
    same = _count(traces, lambda sighting: (_place(sighting), sighting.origin) if sighting.origin else None)
    most = max(MIN_SHARED, len(traces) * 9 // 10)
    several = min(MIN_SHARED, max(2, len(traces)))

    def is_appended(sighting: Sighting) -> bool:
        return sighting.kind == "file-write" and sighting.harm == ADDS and sighting.depth > 0

    def is_log(sighting: Sighting) -> bool:
        return is_appended(sighting) and reached[_place(sighting)] >= most

    def is_housekeeping(sighting: Sighting, nearest: int) -> bool:
        is_fixed = sighting.kind != "process" or "{}" not in sighting.text
        is_same = sighting.depth > 1 and same[_place(sighting), sighting.origin] >= MIN_SHARED
        is_common = reached[_place(sighting)] >= several or (sighting.depth > 1 and not sighting.parameters)
        if is_same and is_fixed and sighting.kind in ("call", "unknown", "process"):
            return True
        if is_appended(sighting) and is_common:
            return True
        if sighting.kind not in _SHARED_CHANGES or sighting.depth < nearest:
            return False
        if sighting.kind in ("file-write", "file-delete", "state-in-memory") and reached[_place(sighting)] >= most:
            return True
        return is_fixed and not sighting.parameters and plain[_place(sighting)] >= most

    for tool, trace in tools:
        nearest = 1 if tool.dispatched else 2  # what stands in the dispatcher itself is done for all of them
        trace.unresolved = [replace(part, is_housekeeping=is_housekeeping(part, nearest)) for part in trace.unresolved]
        set_ups = [part for part in trace.effects if not part.parameters and SET_UP.match(part.text)]
        is_asking = any(part.kind.startswith(("db-", "sql-")) and part not in set_ups for part in trace.effects)
        effects = [
            replace(
                sighting,
                is_housekeeping=is_housekeeping(sighting, nearest) or (is_asking and sighting in set_ups),
                is_alone=len(traces) >= MIN_SHARED and reached[_place(sighting)] == 1,
                parameters=frozenset() if is_log(sighting) else sighting.parameters,
            )
            for sighting in trace.effects
        ]
        # A pool that the first call opens, a counter of calls: not even worth a line.
        bare = [part for part in effects if part.kind == "state-in-memory" and not part.parameters]
        trace.effects = [part for part in effects if not part.is_housekeeping or part not in bare]


def _count(traces: Iterable[CallTrace], key: Callable[[Sighting], object]) -> Counter[object]:
    """Return by how many tools something is reached."""
    return Counter(part for trace in traces for part in {key(line) for line in (*trace.effects, *trace.unresolved)})


def _place(sighting: Sighting) -> tuple[str, str, int]:
    return sighting.kind, sighting.path, sighting.line


def _generated(name: str, request: Sighting) -> ToolCode:
    """Return a tool that is made from an operation: its request is all that is known."""
    return ToolCode(
        name=name,
        handler=Handler(file=request.path, line=request.line, end=request.line),
        registration=CodePlace(file=request.path, line=request.line),
        effects=tuple(_effects([request])),
        **judge([request], ()),
    )


def _tool(
    registration: Registration, trace: CallTrace | None, interpreter: Interpreter, definition: StaticDefinition
) -> ToolCode:
    results, is_whole = ResultReader(interpreter, trace).read(registration) if trace else ((), False)
    trace = trace or CallTrace()
    place = CodePlace(file=registration.module.path, line=registration.line)
    lost = trace.unresolved if registration.handler else (_NOWHERE,)
    parameters = _parameters(definition)
    return ToolCode(
        name=registration.name,
        handler=_handler(registration, trace),
        registration=place,
        effects=tuple(_effects(trace.effects)),
        **judge(trace.effects, lost),
        unused_parameters=tuple(_unused(registration, trace, parameters)),
        dead_enum_values=tuple(_dead(trace, parameters)),
        limits=tuple(_limits(trace, registration)),
        errors=tuple(_errors(trace.errors)),
        returns=(", or ".join(dict.fromkeys(map(str, results))) or None) if is_whole else None,
        results=results,
        is_result_whole=is_whole,
        credentials=tuple(sorted(name for name in trace.environment if name.isupper())),
        unresolved=tuple(
            dict.fromkeys(Unresolved(text=call.text, file=call.path, line=call.line) for call in trace.unresolved)
        ),
        logs=tuple(f"it logs at {line.path}:{line.line} to the file of {line.text}" for line in trace.logs),
        texts=tuple(_texts(trace.texts)),
        functions=tuple(
            CodeSpan(file=file, line=line, end=end, depth=depth) for (file, line, end), depth in trace.functions.items()
        ),
    )


_NOWHERE = Sighting(kind="handler", path="", line=0, depth=0)


def _handler(registration: Registration, trace: CallTrace, *, is_worker: bool = True) -> Handler | None:
    closure = registration.handler
    if closure is None:
        return None
    if registration.is_shared:  # for (const tool of tools) register(tool.name, async (args) => wrap(tool.run(args)))
        whole = {part.closure for part in trace.handed if part.is_whole and part.depth == 0}
        closure = whole.pop() if len(whole) == 1 else closure
    if registration.dispatched and trace.arms:
        arm = trace.arms[0]
        inner = _answering(arm, trace)
        if inner is None:
            return Handler(file=arm.path, line=arm.node.line, end=arm.node.line)
        closure = inner
    followed = [closure]
    while isinstance(closure.scope, CallFrame):  # guarded(async (args) => …): the function that the wrapper is given
        around = closure.scope.names.values()
        near = [
            part
            for part in trace.handed
            if (part.is_whole or part.is_empty) and part.closure is not closure and part.closure in around
        ]
        # withNotice(handler, notice): the one that gets the arguments
        inside = {part.closure for part in near if part.is_whole} or {part.closure for part in near}
        if len(inside) != 1 or not inside.isdisjoint(followed):  # functions of one scope that call each other
            break
        closure = inside.pop()
        followed.append(closure)
    while is_worker and (worker := _worker(closure, registration, trace)) is not None and worker not in followed:
        closure = worker
        followed.append(closure)
    return Handler(file=closure.module.path, line=closure.function.line, end=closure.function.end)


def _answering(arm: Arm, trace: CallTrace) -> Closure | None:
    """Return the one function that a dispatch's arm hands the arguments to, above all the one whose answer it returns.

    `case "find": return this.find(args)`; None where the arm does the work itself.
    """
    handed = [part for part in trace.handed[arm.before :] if part.depth == arm.depth]
    call = _returned_call(arm.node)
    returned = {part.closure for part in handed if call is not None and part.line == call.line and not part.is_empty}
    whole = {part.closure for part in handed if part.is_whole or (part.is_empty and trace.used <= {ALL})}
    return next((closures.pop() for closures in (whole, returned) if len(closures) == 1), None)


def _worker(closure: Closure, registration: Registration, trace: CallTrace) -> Closure | None:
    """Return the function of the project that a function only hands its parameters on to; None for all others.

    `return find_boats(harbour=harbour)`; in a table of a dispatch also `find: (client, args) => find(client, args)`.
    One that adds something, as a connection or the context, does a part of the work.
    """
    body = [part for part in closure.function.body.statements if not isinstance(part, Literal)]
    call = _returned_call(closure.function.body) if len(body) == 1 else None
    parts = (*call.arguments, *call.keywords.values()) if call is not None else ()
    if any(isinstance(node, CallSite) for part in parts for node in walk(part)):
        return None
    is_entry = registration.dispatched and closure.function.name in ("", registration.name)
    inside = {
        part.closure
        for part in trace.handed
        if call is not None
        and part.line == call.line
        and part.closure is not closure
        and ((part.names and part.names >= registration.keywords.keys()) or (is_entry and part.is_whole))
    }
    return inside.pop() if len(inside) == 1 else None


def _returned_call(body: SyntaxNode) -> CallSite | None:
    """Return the call whose result the last statement gives back."""
    last = body.statements[-1:] if isinstance(body, Block) else ()
    value = last[0].value if last and isinstance(last[0], Return) else None
    return value if isinstance(value, CallSite) else None


def _effects(effects: Iterable[Sighting]) -> Iterator[CodeEffect]:
    """Yield the effects once each: of several ways to a line the shortest, on the conditions of all of them."""
    ways: dict[tuple[object, str], list[Sighting]] = {}
    for sighting in sorted(effects, key=lambda sighting: (len(sighting.conditions), sighting.depth)):
        ways.setdefault((_place(sighting), sighting.text if sighting.kind in _TOLD_APART else ""), []).append(sighting)
    best: dict[tuple[object, str], Sighting] = {}
    for (place, text), (shortest, *longer) in ways.items():
        conditions = _either([shortest.conditions, *(way.conditions for way in longer if way.harm == shortest.harm)])
        best.setdefault((place, text if conditions else ""), replace(shortest, conditions=conditions))
    for sighting in sorted(best.values(), key=lambda sighting: (sighting.depth, sighting.path, sighting.line)):
        yield CodeEffect(
            file=sighting.path,
            line=sighting.line,
            kind=EffectKind(sighting.kind),
            depth=sighting.depth,
            text=sighting.text,
            host=sighting.host,
            condition=" and ".join(sighting.conditions),
            method=next((word for word in sighting.text.split()[:1] if word in _METHODS), ""),
            is_given=bool(sighting.parameters),
            is_change=is_change(sighting),
            is_destroying=sighting.harm == DESTROYS,
            is_housekeeping=sighting.is_housekeeping,
            sparse=tuple(sorted(sighting.sparse)),
        )


def _either(ways: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return on what conditions any of several ways reaches a line: `mode == 'a' or mode == 'b'`."""
    cases = [case for way in ways for case in ([(word,) for word in way[0].split(" or ")] if len(way) == 1 else [way])]
    for place, case in enumerate(cases):  # beside `force`, `not force and all` is `all`
        for word in case:
            rest, contrary = tuple(part for part in cases[place] if part != word), contrary_of(word)
            if any(contrary in other and {*other} - {contrary} <= {*rest} for other in cases):
                cases[place] = rest
    least = [case for case in cases if not any({*other} < {*case} for other in cases)]
    common = [word for word in least[0] if all(word in case for case in least)]
    rests = dict.fromkeys(" and ".join(word for word in case if word not in common) for case in least)
    choice = " or ".join(f"({rest})" if " and " in rest else rest for rest in rests)
    return (*common, choice) if choice else tuple(common)


def _parameters(definition: StaticDefinition) -> dict[str, tuple[object, ...]]:
    """Return the tool's parameters with the values that each allows beside its default; none where any is allowed.

    One that has a single value, which a call must name, is left out: `confirm: z.literal(true)`.
    """
    properties = plain(definition.raw)["inputSchema"].get("properties", {})
    schemas = {name: schema if isinstance(schema, dict) else {} for name, schema in properties.items()}
    return {
        name: tuple(value for value in schema.get("enum", ()) if value != schema.get("default"))
        for name, schema in schemas.items()
        if "const" not in schema
    }


def _unused(
    registration: Registration, trace: CallTrace, parameters: Mapping[str, tuple[object, ...]]
) -> Iterator[str]:
    """Yield parameters on which nothing depends; none where a part of the code was not followed."""
    is_whole = (registration.handler is not None and not registration.is_overheard) and not any(
        sighting.kind in ("depth", "nesting") for sighting in trace.unresolved
    )
    if is_whole and ALL not in trace.used and trace.used | {sighting.kind for sighting in trace.effects}:
        handed = [part.closure for part in trace.handed if part.is_whole or part.is_empty]
        closures = [registration.handler, *handed]
        # A function that waits in a table uses what it names, though it was not followed.
        spoken = {
            part.id
            for closure in closures
            if closure is not None
            for inner in walk(closure.function.body)
            if isinstance(inner, Function)
            for part in walk(inner.body)
            if isinstance(part, Name)
        }
        yield from (name for name in parameters if name not in trace.used | spoken)


def _dead(trace: CallTrace, parameters: Mapping[str, tuple[object, ...]]) -> Iterator[DeadValue]:
    for name in sorted((trace.exhausted.keys() | trace.chained) - trace.passed):
        is_refused = name in trace.exhausted
        present = trace.exhausted[name] if is_refused else trace.compared.get(name, {})
        if present and (is_refused or name not in trace.answered):
            for value in (value for value in parameters.get(name, ()) if value not in present):
                yield DeadValue(parameter=name, value=str(value), is_refused=is_refused)


def _limits(trace: CallTrace, registration: Registration) -> Iterator[CodeLimit]:
    limits: dict[tuple[str, str], CodeLimit] = {}
    for sighting in sorted(trace.limits, key=lambda sighting: -len(sighting.conditions)):
        for parameter in filter(None, sighting.parameters):
            own = (parameter, f"not {parameter}", f"{parameter} != None", f"{parameter} == None")
            limits[parameter, sighting.text] = CodeLimit(
                parameter=parameter,
                text=sighting.text,
                file=sighting.path,
                line=sighting.line,
                depth=sighting.depth,
                condition=" and ".join(part for part in sighting.conditions if part not in own),
                is_form=sighting.kind == FORM,
            )
    yield from limits.values()
    closure = registration.handler
    for parameter, values in trace.exhausted.items():
        if closure is not None and len(values.keys() - {None}) > 1:  # None is what a call leaves out
            text = f"one of {', '.join(str(value) for value in values if value is not None)}"
            yield CodeLimit(parameter=parameter, text=text, file=closure.module.path, line=closure.function.line)


def _errors(errors: Sequence[Sighting]) -> Iterator[CodeError]:
    """Yield the errors, each text once: where it needs the fewest conditions."""
    order = sorted(errors, key=lambda error: (-len(error.conditions), -error.depth))
    nearest = {error.text: error for error in order}
    for text in dict.fromkeys(error.text for error in errors):
        error = nearest[text]
        yield CodeError(
            text=text,
            file=error.path,
            line=error.line,
            is_result=error.kind == "result",
            depth=error.depth,
            condition=" and ".join(error.conditions),
            parameter=next(iter(error.parameters), "") if len(error.parameters) == 1 else "",
        )


def _texts(texts: Iterable[Sighting]) -> Iterator[CodeText]:
    """Yield what functions document that a parameter is handed to, the nearest first."""
    for sighting in sorted(texts, key=lambda sighting: sighting.depth):
        (parameter,) = sighting.parameters
        yield CodeText(parameter=parameter, text=sighting.text, file=sighting.path, line=sighting.line)


def _stated(registration: Registration, interpreter: Interpreter) -> tuple[str | None, tuple[tuple[str, bool], ...]]:
    """Return the description at a registration, else its function's docstring, and the hints at the registration."""
    written = {key: part for key, part in registration.parts.items() if key in ("description", "annotations")}
    values = {key: interpreter.value_of(part.node, part.scope) for key, part in written.items()}
    annotations = values.get("annotations")
    hints = [(hint, annotations.get(hint)) for hint in _HINTS] if isinstance(annotations, Dictionary) else []
    function = registration.function.node if registration.function is not None else None
    documentation = function.documentation if isinstance(function, Function) else ""
    description = text_of(values["description"]) if "description" in values else documentation or None
    constants = [(hint, value.value) for hint, value in hints if isinstance(value, Constant)]
    return description, tuple((hint, value) for hint, value in constants if isinstance(value, bool))
