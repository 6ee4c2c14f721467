"""Derive what the calls of libraries do from the libraries' own code; nothing is run.

    library_effects.py FOLDER > src/tdqs_mcp/code/data/libraries.json

FOLDER has unpacked packages: `py/NAME` from `pip download --no-deps NAME`, `js/NAME` from `npm pack NAME`. Packages
that `python.toml` and `script.toml` name are left out, unless they say no more than that all of it is a client. Each
public function and method is followed as a tool's handler is, with all of its parameters unknown. A name goes to the
effects that all functions of that name in the package have; that nothing was found proves nothing, but for functions
at the top of a Python module that could be followed whole. Objects of a package whose code opens network connections
are clients: their methods reach the network, and change something by their verb. A package whose code refers to
nothing of files, programs, networks or databases, and imports nothing that might, is `harmless`. Google's discovery
documents (`google-api-python-client`) give the methods of its resources.
"""

import json
import re
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from tdqs_mcp.code.flow import Interpreter
from tdqs_mcp.code.knowledge import read_knowledge, verb_kind
from tdqs_mcp.code.nodes import Attribute, CallSite, Class, Function, Name, walk
from tdqs_mcp.code.project import Project, ProjectModule, dotted_name
from tdqs_mcp.code.tool_search import _parse
from tdqs_mcp.code.trace import Sighting
from tdqs_mcp.code.values import Argument, ClassValue, Closure, Instance

MAX_SECONDS = 20
"""Time for a package; functions that are not reached in it stay unknown."""

_CHANGES = frozenset("runs-code file-delete file-write process sql-write http-write".split())
_NETWORK = frozenset("http-write sends-data-out http-unknown http-read".split())
_EFFECTFUL_PYTHON = frozenset(
    "subprocess socket http.client urllib.request ftplib smtplib imaplib poplib telnetlib xmlrpc socketserver "
    "asyncio ctypes cffi shutil sqlite3 requests httpx aiohttp urllib3 pathlib tempfile glob pickle "
    "multiprocessing webbrowser pty signal importlib code runpy".split()
)
_EFFECTFUL_SCRIPT = frozenset(
    "fs fs/promises fs-extra graceful-fs child_process cluster dgram dns http http2 https net tls vm "
    "worker_threads repl inspector module undici node-fetch axios got ws".split()
)
_EFFECTFUL_NAMES = frozenset(
    "open eval __import__ Function fetch XMLHttpRequest WebSocket EventSource Deno Bun importScripts Worker "
    "sendBeacon request open_connection create_connection create_subprocess_exec create_subprocess_shell "
    "write_text write_bytes unlink urlopen popen getattr binding".split()
)


def public_functions(project: Project) -> Iterator[tuple[ProjectModule, Class | None, Function]]:
    """Yield functions at the top of modules, and methods of classes, without private ones."""
    for module in project.modules:
        if "/test" in f"/{module.path}" or module.path.endswith(".d.ts"):
            continue
        for node in module.tree.body.statements:
            if isinstance(node, Function) and not node.name.startswith("_"):
                yield module, None, node
    for module, owner in project.classes:
        for name, method in owner.methods.items():
            if not name.startswith(("_", "#")) and name != "constructor" and "/test" not in f"/{module.path}":
                yield module, owner, method


def follow(
    interpreter: Interpreter, module: ProjectModule, owner: Class | None, function: Function
) -> tuple[list[Sighting], bool]:
    """Return the effects of a function that has unknown arguments, and whether all of its calls could be followed."""
    scope = interpreter.scope_of(module)
    receiver = Instance(of=ClassValue(node=owner, scope=scope)) if owner else None
    decorated = interpreter.closure(function, scope, receiver)
    plain = Closure(function=function, scope=scope, receiver=receiver)
    plain = replace(decorated, receiver=receiver) if isinstance(decorated, Closure) else plain
    names = [parameter.name for parameter in function.parameters if parameter.name and not parameter.star]
    own = names[1:] if owner and module.is_python and not function.is_static else names
    arguments = tuple(Argument(name=name, parameters=frozenset({name})) for name in own)
    trace = interpreter.follow(function.name, plain, arguments, {})
    # Of what it does without its arguments, deep ones are caches and set-up.
    effects = [effect for effect in trace.effects if effect.parameters or effect.depth <= 1 or effect.kind in _NETWORK]
    return effects, not trace.unresolved


def specs_of(name: str, effects: list[Sighting], *, is_connected: bool) -> set[str]:
    """Return the entries of the data for what a function surely does, without those that its verb tells anyway."""
    kinds = {effect.kind for effect in effects}
    specs: set[str] = set()
    if "process" in kinds:
        specs.add("process")  # files beside a program are its input and output, mostly temporary
    elif any(effect.parameters for effect in effects if effect.kind == "file-write"):
        if not is_connected or _SAVING.search(name):
            specs.add("file-write")
    elif any(effect.parameters for effect in effects if effect.kind == "file-delete") and not is_connected:
        specs.add("file-delete")
    if "sql-write" in kinds and not is_connected:  # a client of a service keeps its session there
        specs.add("sql-write")
    methods = {effect.text.split()[0] for effect in effects if effect.kind in _NETWORK and effect.text.split()}
    writing = sorted(methods & {"DELETE", "PUT", "PATCH"})
    verb = verb_kind(name)
    if writing and verb not in ("delete", "write"):
        specs.add(f"http-write {writing[0]}")
    elif methods == {"GET"} and not writing and not verb and kinds.isdisjoint(_CHANGES):
        specs.add("http-read GET")
    elif "POST" in methods and not verb:
        specs.add("sends-data-out POST")
    return specs


_SAVING = re.compile("download|save|export|write|dump", re.IGNORECASE)


def read_library(folder: Path) -> dict[str, dict[str, str]]:
    """Return the entries of a library's packages by the names under which they are imported."""
    modules, _ = _parse(folder, {}, {})
    interpreter = Interpreter(Project(modules))
    start = time.process_time()
    by_name: dict[str, dict[str, list[set[str]]]] = defaultdict(lambda: defaultdict(list))
    pure: dict[str, dict[str, bool]] = defaultdict(dict)
    connected = {
        package_of(module) for module in interpreter.project.modules if opens_connections(interpreter.project, module)
    }
    for module, owner, function in public_functions(interpreter.project):
        if time.process_time() - start > MAX_SECONDS:
            break
        package = package_of(module)
        effects, is_whole = follow(interpreter, module, owner, function)
        by_name[package][function.name].append(specs_of(function.name, effects, is_connected=package in connected))
        # A name that means a function and nothing else, in a module that users import.
        is_pure = owner is None and is_whole and not effects and module.is_python and module.path.count("/") <= 1
        pure[package][function.name] = is_pure and pure[package].get(function.name, True)
    entries: dict[str, dict[str, str]] = {}
    for package in sorted(by_name.keys() | connected):
        calls: dict[str, list[str]] = defaultdict(list)
        for name, specs in by_name[package].items():
            for spec in set.intersection(*specs):
                calls[spec].append(name)
            if pure[package].get(name):
                calls["none"].append(name)
        entries[package] = {spec: " ".join(sorted(found)) for spec, found in sorted(calls.items())}
        if package in connected:
            entries[package]["client http"] = "*"
    return entries


def package_of(module: ProjectModule) -> str:
    """Return the name under which a module's package is imported; empty for a script's, which is that of its folder."""
    return module.path.split("/")[0].removesuffix(".py") if module.is_python else ""


def opens_connections(project: Project, module: ProjectModule) -> bool:
    """Return whether a module is made on an HTTP library or opens streams; `socket` alone may only name addresses."""
    outside = {source.removeprefix("node:") for source in _sources(module) if project.find(module, source) is None}
    if not _CONNECTING.isdisjoint({name.split(".")[0] for name in outside} | outside):
        return True
    opened = (node for node in walk(module.tree.body) if isinstance(node, Attribute))
    return module.is_python and any(node.key in ("open_connection", "create_connection") for node in opened)


_CONNECTING = frozenset(
    "urllib3 requests httpx aiohttp websockets grpc httplib2 niquests net tls http2 undici axios node-fetch got ws "
    "superagent cross-fetch ky gaxios @grpc/grpc-js".split()
)


def delivered(project: Project, folder: Path) -> list[ProjectModule]:
    """Return the modules that an import of the package can reach; of Python all that are no tests."""
    scripts = [module for module in project.modules if not module.is_python]
    if not scripts:
        return [
            module
            for module in project.modules
            if not re.search(r"(^|/)(tests?|conftest|setup|__main__)\b", module.path)
        ]
    by_path = {module.path: module for module in scripts}
    pending: list[ProjectModule] = []
    for manifest in folder.glob("*/package.json"):
        entries = re.findall(
            r'"(?:main|module|default|require|import|browser|\.)"\s*:\s*"([^"]+)"', manifest.read_text(encoding="utf-8")
        )
        for entry in [*entries, "index.js"]:
            path = f"{manifest.parent.name}/{entry.removeprefix('./')}"
            pending += [by_path[name] for name in (path, f"{path}.js", f"{path}/index.js") if name in by_path]
    reached: dict[ProjectModule, None] = {}
    while pending:
        module = pending.pop()
        if module not in reached:
            reached[module] = None
            homes = (project.find(module, source) for source in _sources(module))
            pending += [home for home in homes if home is not None]
    return list(reached)


def _sources(module: ProjectModule) -> list[str]:
    """Return the names of modules that a module imports or requires; an empty one where it is computed."""
    required = [
        str(getattr(node.arguments[0], "value", ""))
        for node in walk(module.tree.body)
        if isinstance(node, CallSite) and dotted_name(node.function) in ("require", "import") and node.arguments
    ]
    passed_on = [origin[0] for origin in module.exports.values() if isinstance(origin, tuple)]
    return [*(source for source, _ in module.origins), *required, *passed_on]


def is_harmless(folder: Path, harmless: frozenset[str]) -> bool:
    """Return whether a package's code, imports included, can touch no files, programs, networks or databases."""
    if any(path.suffix in (".so", ".node", ".wasm", ".pyd", ".dll") for path in folder.rglob("*")):
        return False
    modules, problems = _parse(folder, {}, {})
    project = Project(modules)
    reached = delivered(project, folder)
    if problems or not reached:
        return False
    for module in reached:
        for source in _sources(module):
            if project.find(module, source) is None and not _may_import(source, module, harmless):
                return False
        for node in walk(module.tree.body):
            match node:
                case Name(id=name) | Attribute(key=name) if name in _EFFECTFUL_NAMES:
                    return False
                case Attribute(value=Name(id="os"), key=key) if key not in (
                    "path",
                    "environ",
                    "sep",
                    "linesep",
                    "name",
                ):
                    return False
    return True


def _may_import(source: str, module: ProjectModule, harmless: frozenset[str]) -> bool:
    top = source.removeprefix("node:")
    if module.is_python:
        if top in _EFFECTFUL_PYTHON or top in ("http", "urllib"):
            return False
        top = top.split(".")[0]
        return top not in _EFFECTFUL_PYTHON and (top in sys.stdlib_module_names or top in harmless)
    return top not in _EFFECTFUL_SCRIPT and top in harmless


def google_resources(folder: Path) -> dict[str, str]:
    """Return the entry of Google's client: methods by what their HTTP methods do, accessors of resources as none."""
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    resources: Counter[str] = Counter()

    def visit(node: dict[str, object]) -> None:
        for name, method in dict(node.get("methods", {})).items():  # type: ignore[call-overload]
            kinds[name][method["httpMethod"]] += 1
        for name, inner in dict(node.get("resources", {})).items():  # type: ignore[call-overload]
            resources[name] += 1
            visit(inner)

    for path in folder.rglob("discovery_cache/documents/*.json"):
        visit(json.loads(path.read_text(encoding="utf-8")))
    accessors = {name for name, count in resources.items() if 4 * count >= kinds.get(name, Counter()).total()}
    calls: dict[str, list[str]] = {"none": sorted(accessors)}
    for name, methods in sorted(kinds.items()):
        most, _ = methods.most_common(1)[0]
        if name in accessors or (most == "POST" and verb_kind(name) not in ("write", "delete")):
            continue
        if set(methods) == {"GET"} or (most == "GET" and verb_kind(name) == "read"):
            calls.setdefault("http-read GET", []).append(name)
        elif "GET" not in methods:
            calls.setdefault(f"http-write {most}", []).append(name)
    return {spec: " ".join(names) for spec, names in calls.items()}


def _by_hand(language: str) -> set[str]:
    """Return the packages of whose calls the file kept by hand says more than that all are a client's."""
    name = {"py": "python.toml", "js": "script.toml"}[language]
    data = tomllib.loads(files("tdqs_mcp.code").joinpath("data", name).read_text(encoding="utf-8"))
    named = [
        (entry["names"].split(), {word for key, words in entry.items() if key != "names" for word in words.split()})
        for entry in data["package"]
    ]
    return set(data["harmless"].split()) | {name for names, calls in named if calls != {"*"} for name in names}


def main(folder: Path) -> None:
    """Print the data for all packages of a folder that the files kept by hand do not name."""
    data: dict[str, object] = {}
    for language in ("py", "js"):
        known, by_hand = read_knowledge("python" if language == "py" else "script"), _by_hand(language)
        packages: dict[str, dict[str, str]] = {}
        pure: list[str] = []
        for library in sorted((folder / language).iterdir()):
            name = f"@{library.name.replace('__', '/')}" if "__" in library.name else library.name
            if name == "google-api-python-client":
                packages["googleapiclient"] = google_resources(library)
                continue
            tops = [name] if language == "js" else _top_packages(library)
            if not by_hand.isdisjoint([*tops, name.partition("/")[0]]):
                continue
            if is_harmless(library, known.harmless | frozenset(tops)):
                pure += tops
            else:
                entries = read_library(library)
                packages |= {top or name: entry for top, entry in entries.items() if entry and top not in _NAMESPACES}
            print(language, name, file=sys.stderr)
        data[language] = {"harmless": " ".join(pure), "packages": packages}
    print(json.dumps(data, indent=1, ensure_ascii=False))


_NAMESPACES = frozenset(["google", "azure", "dateparser_scripts", "dateparser_cli"])
"""Names that packages of many libraries begin with, and programs beside a library."""


def _top_packages(library: Path) -> list[str]:
    return [
        path.stem
        for path in library.iterdir()
        if (path.is_dir() and not path.name.endswith(("-info", ".data"))) or path.suffix == ".py"
    ]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
