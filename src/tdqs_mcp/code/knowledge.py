"""Effects of libraries' calls as data: `data/python.toml`, `data/script.toml`; their heads explain the entries."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from tdqs_mcp.code.programs import program_effects, read_command, runs_text, spelled
from tdqs_mcp.code.values import (
    Argument,
    Constant,
    Dictionary,
    External,
    Listing,
    Value,
    alternatives,
    join,
    text_of,
)
from tdqs_mcp.facts.lexicon import read_table
from tdqs_mcp.results.tool_code import is_local

NAMES: Mapping[str, frozenset[str]] = {
    kind: frozenset(names.split()) for kind, names in read_table("names", package="code").items()
}
"""Names in the code of servers by what they tell, as `data/names.toml` has them."""

DESTROYS, ADDS = "destroys", "adds"

PEER = "{}"
"""Host of a message over a connection, until it is known which connections the tool opens."""


@dataclass(frozen=True, slots=True)
class LibraryEffect:
    """The effect of a call of a library."""

    kind: str
    text: str
    """Method of a request, words of a command, beginning of a statement: as far as it is known."""

    host: str = ""
    harm: str = ""
    """DESTROYS for what takes or overwrites something, ADDS for what takes nothing; empty where it is not known."""

    address: str = ""
    """Host and path of a request, `{}` for computed parts, as far as a part of the path is known."""

    is_code: bool = False
    """The agent writes the program that is started."""

    program: frozenset[str] = frozenset()
    """What a program does that is started, in the words of `commands.toml`."""

    is_script: bool = False
    """The text may hold several statements: its beginning proves nothing of the rest."""


_READS = re.compile(
    r"^\s*(?:--[^\n]*\n\s*|/\*.*?\*/\s*|EXPLAIN\s+)*(SELECT|WITH|PRAGMA|SHOW|DESCRIBE|DESC|EXPLAIN|MATCH|CALL|USE|VALUES|SET|ATTACH|LOAD|INSTALL|BEGIN|COMMIT|ROLLBACK|START|EXISTS)\b",
    re.IGNORECASE | re.DOTALL,
)
_WRITES = re.compile(
    r"\b(INSERT\s+INTO|INSERT\s+OR|INSERT\s+IGNORE|UPDATE\s+[\w\"`.{}\[\]]+\s+SET|DELETE\s+FROM|DETACH\s+DELETE|CREATE\s+(?:OR\s+REPLACE\s+)?(?:TEMP\w*\s+|UNIQUE\s+|VIRTUAL\s+)?(?:TABLE|VIEW|INDEX|DATABASE|SCHEMA|TRIGGER|EXTENSION)|ALTER\s+\w+|DROP\s+\w+|TRUNCATE|REPLACE\s+INTO|MERGE|COPY|GRANT|REVOKE|VACUUM)\b",
    re.IGNORECASE,
)


SET_UP = re.compile(r"CREATE (?:\w+ ){1,2}IF NOT EXISTS\b(?:(?!\bAS SELECT\b)[^;])*(?:; ?|$)", re.IGNORECASE)
"""A statement that creates a part of a schema where it is missing, as servers do when they connect; no copy of data."""


@dataclass(frozen=True, slots=True)
class Spec:
    """An entry of the data: what a call does, and which of its arguments say more."""

    words: tuple[str, ...]

    @property
    def gives_answer(self) -> bool:
        """A request, which gives back an answer: `client.get(url).json().get("id")` asks once."""
        return self.words == ("answer",) or (self.words[0] == "http" and self.words[1] != "connect")

    def effect(
        self, target: External, arguments: Sequence[Value], keywords: Mapping[str, Value]
    ) -> LibraryEffect | None:
        """Return what a call with these arguments does; None for nothing that counts."""
        kind, *details = self.words
        match kind:
            case "none" | "answer" | "hands" | "prepares":
                return None
            case "process" if details == ["kill"]:
                is_asked = list(arguments[1:2]) == [Constant(value=0)]  # os.kill(pid, 0) asks whether a program runs
                if is_asked or any(map(_is_started, arguments[:1])):
                    return None  # the tool's own program, which took too long
                is_told = any(value.parameters for value in (target, *arguments[:1]))
                return _process("kill", program_effects(["kill"] if is_told else []))
            case "runs-code" if details and not any(
                isinstance(value, External) and last_name(value.name) in details
                for value in (*arguments, *keywords.values())
            ):
                return None
            case "http":
                return _request(details, target, arguments, keywords)
            case "message":
                host = next((host for host in map(_host, target.arguments) if host), "") or _endpoint(target.arguments)
                return LibraryEffect(
                    "sends-data-out" if details[0] == "POST" else "http-read", details[0], host or PEER
                )
            case "sql" | "sql-script":
                text = _argument(arguments, keywords, details[0] if details else "0", "sql", "query", "statement")
                return replace(_statement(text), is_script=kind == "sql-script")
            case "prepared":
                return _statement(target.arguments[0] if target.arguments else None)
            case "open":
                return _opened(_argument(arguments, keywords, details[0], "mode", "flag", "flags"))
            case "command":
                return _process(*read_command(arguments, keywords), is_code=runs_text(arguments))
            case "written":  # frame.to_json() gives the text back, frame.to_json(path) writes a file
                path = _argument(arguments, keywords, "0", *_PATHS)
                return (
                    _plain("file-write", last_name(target.name)) if path not in (None, Constant(value=None)) else None
                )
            case "file-move" if details:
                is_move = len(arguments) + len(keywords) == int(details[0])
                return _plain(kind, last_name(target.name)) if is_move else None
            case "verb":
                return _by_client(target, details[0] if details else "http", arguments, keywords)
            case "named":
                effect = _by_client(target, details[0], arguments, keywords, is_known=False)
                is_vague = effect is not None and not _SENDING.isdisjoint(_words(last_name(target.name))[:1])
                return replace(effect, kind="http-unknown") if effect is not None and is_vague else effect  # run_texts
            case "client":
                if "()" in target.name.rpartition(".")[0]:
                    return _by_client(target, details[0], arguments, keywords)
                return LibraryEffect("unknown", f"{target.name}()")
            case _:
                word = last_name(target.name)
                words = " ".join(word.replace("_", "-") if detail == "*" else detail for detail in details)
                words = "" if kind == "runs-code" else words
                if kind == "process":
                    plain = [*words.split(), *spelled(arguments, keywords)] if details else []
                    return _process(words or word, program_effects(plain))
                effect = _plain(kind, words or word)
                # `{flag: "a"}` of writeFileSync, `{flags: "a"}` of the stream that is written to: appends; "wx" creates
                records = [value for value in (*arguments, *target.arguments) if isinstance(value, Dictionary)]
                options = [value.get("flag") or value.get("flags") for value in records]
                flags = "".join(text_of(option) or "" for option in options if option)
                return replace(effect, harm=ADDS) if kind == "file-write" and not {*"ax"}.isdisjoint(flags) else effect


def _is_started(process: Value) -> bool:
    """Return whether a process is one that the same code has started: `Popen(…).pid`, `os.getpgid(process.pid)`."""
    return isinstance(process, External) and (
        process.name.startswith(("subprocess.", "asyncio.create_subprocess", "child_process."))
        or any(map(_is_started, process.arguments))
    )


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """The effects of a language's libraries."""

    harmless: frozenset[str]
    containers: frozenset[str]
    fleeting: frozenset[str]
    plain: frozenset[str]
    packages: Mapping[str, Mapping[str, Sequence[Spec]]]
    methods: Mapping[str, Sequence[Spec]]
    forms: Mapping[tuple[str, int | str], str]
    """What a call takes at a place."""

    def lookup(self, name: str) -> Sequence[Spec] | None:
        """Return what a call of a library's function does; None where the library is not known.

        `name` is as the code spells it, imports resolved: `requests.Session().post`, `fs/promises.writeFile`.
        """
        last = last_name(name)
        plain = name.replace("()", "").replace("[]", "")
        bare = plain.removeprefix("globalThis.").removeprefix("global.")
        if bare != plain:
            specs = self.lookup(bare)
            return () if specs is None else specs
        parts = plain.split(".")
        if name.endswith("[]"):  # db[method](): whichever it is; of console[level]() all are harmless
            return () if parts[0] in self.harmless else None
        scope = parts[0].partition("/")[0]  # @aws-sdk of @aws-sdk/client-s3
        owners = [(".".join(parts[:length]), length) for length in range(len(parts), 0, -1)]
        for owner, length in [*owners, *([(scope, 1)] if scope != parts[0] else [])]:
            package = self.packages.get(owner)
            if package is not None and length == len(parts) > 1 and package.keys().isdisjoint((last, "*")):
                continue
            if package is not None and owner in self.plain and "(" in name.rpartition(".")[0]:
                return self.methods.get(last)  # os.getcwd().replace("/", "-")
            if package is not None:
                specs = package.get(last, package.get("*"))
                if specs is None:  # repo.commit().message.strip(), an object of a class
                    own = self.methods.get(last) if len(parts) - length > 1 else None
                    is_made = length == len(parts) or makes_object(name)  # a package's default export is a class too
                    return () if own is None and is_made else own
                # client.session.headers.items(): of a part of the client, by a name that lists and maps have too
                is_part = len(parts) - length > 1
                is_plain = (
                    is_part and specs is not None and specs[0].words[0] in ("verb", "client") and not _has_verb(last)
                )
                return self.methods.get(last, specs) if is_plain else specs
        if not self.harmless.isdisjoint((parts[0], scope, plain)):
            return ()
        specs = self.methods.get(last) if "." in name else None
        if specs is not None and all(map(_is_none, specs)) and name.count("()") > 1 and not _has_verb(last):
            return specs  # api.listBoats().map(…)
        # a class that says so, `IncidentsApi().listIncidents`; a package's name, `acme_sdk.get`, proves nothing
        classes = re.findall(r"\.(\w+)\(\)", f"{name}()" if makes_object(name) else name)
        if any(map(CLIENT.search, classes)):
            return () if makes_object(name) else (Spec(("named", "http")),)
        # `pymongo.MongoClient().boats.get`, `boatlib.get`: what a library that is not known calls so may be a request
        is_made = re.search(rf"(^|[./])[A-Z]\w*\(\)(\.\w+)*\.{last}$", name) is not None
        is_open = specs is not None and is_made and _has_verb(last) and all(map(_is_none, specs))
        return None if is_open or "(" not in name else specs

    def is_library(self, package: str) -> bool:
        """Return whether anything is known of a package of scripts."""
        scope = package.partition("/")[0]
        return not self.harmless.isdisjoint({package, scope}) or package in self.packages or scope in self.packages

    def is_content(self, name: str) -> bool:
        """Return whether a call gives back what was put into a container: `tools.get(name)` of a Map."""
        owner, _, last = name.rpartition(".")
        containers = self.containers
        parts = owner.replace("()", "").split(".")
        return last in NAMES["taking"] and any(".".join(parts[:length]) in containers for length in (1, 2))

    def is_container(self, name: str) -> bool:
        """Return whether something was made by a container's own constructor and keeps what is put into it."""
        maker = name.removesuffix("()")
        names = {maker, maker.rpartition(".")[0]}
        return name != maker and not names.isdisjoint(self.containers) and names.isdisjoint(self.fleeting)

    def form(self, name: str, place: int | str) -> str:
        """Return what a call's argument at a place must be: `JSON` of `json.loads`; empty where it may be anything."""
        return self.forms.get((name, place), "")

    def method(self, name: str) -> Sequence[Spec] | None:
        """Return what a method of this name does whatever its object is; None where the name does not tell."""
        return self.methods.get(name)


@cache
def read_knowledge(language: str) -> Knowledge:
    """Return what is known of the libraries of `python` or `script`."""
    data = read_table(language, package="code")
    packages: dict[str, dict[str, Sequence[Spec]]] = {}
    for entry in data["package"]:
        calls = _calls({key: value for key, value in entry.items() if key != "names"})
        for package in entry["names"].split():
            packages.setdefault(package, {}).update(calls)
    # What `calibration/library_effects.py` read in the libraries' own code.
    libraries: dict[str, Any] = json.loads(files("tdqs_mcp.code").joinpath("data", "libraries.json").read_text("utf-8"))
    derived = libraries["py" if language == "python" else "js"]
    for package, entry in derived["packages"].items():
        packages[package] = _calls(entry) | packages.get(package, {})
    words = {key: frozenset(data[key].split()) for key in ("harmless", "containers", "fleeting", "plain")}
    words["harmless"] |= frozenset(derived["harmless"].split()) - packages.keys()
    return Knowledge(
        **words,
        packages=packages,
        methods=_calls(data["methods"]),
        forms={
            (name, int(place) if place.isdigit() else place): form
            for form, calls in data["forms"].items()
            for name, place in zip(calls.split()[::2], calls.split()[1::2], strict=True)
        },
    )


def _calls(entry: Mapping[str, str]) -> dict[str, Sequence[Spec]]:
    """Return specs by the names of calls: `"http GET" = "get fetch"`."""
    specs: dict[str, Sequence[Spec]] = {}
    for spec, names in entry.items():
        for name in names.split():
            specs[name] = (*specs.get(name, ()), Spec(tuple(spec.split())))
    return specs


CLIENT = re.compile(r"(^|[_/-])(api|client|sdk)s?$|(^|[a-z0-9_])(Api|API|Client|SDK)s?$")
"""The name of a class or variable that asks a service: `IncidentsApi`, `client`."""


def _is_none(spec: Spec) -> bool:
    return spec.words in (("none",), ("hands",))


def last_name(name: str) -> str:
    """Return `post` of `requests.Session().post`, and `get` of `requests.get`."""
    return name.rpartition(".")[2].replace("()", "").replace("[]", "")


def _argument(arguments: Sequence[Value], keywords: Mapping[str, Value], position: str, *names: str) -> Value | None:
    for name in names:
        if name in keywords:
            return keywords[name]
    index = int(position)
    return arguments[index] if index < len(arguments) else None


def _request(
    details: Sequence[str], target: External, arguments: Sequence[Value], keywords: Mapping[str, Value]
) -> LibraryEffect | None:
    """Return a request's effect: `http GET 0` has its URL as the first argument, `http ? 0 1` its method there."""
    method, *positions = details
    if method == "connect":
        host = _host(arguments[0] if arguments else None) or _endpoint(arguments)
        return LibraryEffect("http-read", "connect", host)
    url = _argument(arguments, keywords, positions[-1] if positions else "0", "url", "uri", "endpoint")
    passed = [inner for value in (*arguments, *keywords.values()) for inner in alternatives(value)]
    options = [value for value in passed if isinstance(value, Dictionary)]
    if isinstance(url, Dictionary):
        url = url.get("url") or url.get("uri")
    if method == "?":
        method_value = _argument(arguments, keywords, positions[0], "method")
        method = _method(method_value)
    elif method == "options":
        methods = [value for value in (option.get("method") for option in options) if value is not None]
        is_open = any(
            key == "..." and any(not isinstance(part, Dictionary | Constant) for part in alternatives(value))
            for option in options
            for key, value in option.items
        )
        later = [inner for value in arguments[1:] for inner in alternatives(value)]
        is_open |= any(not isinstance(value, Dictionary | Constant) for value in later)
        is_always = len(methods) == len(options)
        method = _method(join(methods if is_always else [*methods, Constant(value="GET")])) if methods else "GET"
        method = "?" if is_open and not (methods and is_always) else method
        if isinstance(url, External) and url.name == "Request()":
            method = "?"
    if method == "POST":
        method = _graphql((*arguments, *keywords.values())) or method
        method = "POST token" if _asks_token((*arguments, *keywords.values())) else method
    host = _host(url) or next((host for host in map(_host, target.arguments) if host), "")
    made_with = [value for value in target.arguments if isinstance(value, Dictionary)]  # axios.create({ baseURL: … })
    for option in (*options, *made_with):
        host = host or _host(option.get("baseURL") or option.get("url"))
    is_read = method in ("GET", "HEAD", "OPTIONS", "POST query", "POST token")
    path = _path(url)
    address = f"{host}{path}" if path.strip("/{}") else ""
    if method == "POST":
        return _posted(path, host, address)
    if is_read:
        return LibraryEffect("http-read", method, host, address=address)
    harm = "" if method == "?" else DESTROYS  # DELETE, PUT and PATCH act on what is there
    return LibraryEffect("http-unknown" if method == "?" else "http-write", method, host, harm, address)


def _posted(path: str, host: str, address: str) -> LibraryEffect:
    """Return the effect of a POST: by the verb that its path ends in, as do `/search` and `/chat.postMessage`.

    Without one it proves no write.
    """
    last = path.rstrip("/").rpartition("/")[2].rpartition(".")[2].replace("-", "_")
    verb = "" if _is_noun(last) else verb_kind(last)
    kind = {"read": "http-read", "": "sends-data-out"}.get(verb, "http-write")
    return LibraryEffect(kind, f"POST {last}" if verb else "POST", host, _harm(last) if verb else "", address)


def purpose_of_post(names: Sequence[str]) -> LibraryEffect | None:
    """Return what a POST does by the functions that it is sent from, the outermost first; None where they do not tell.

    `create_issue` that calls `client.add_issue` adds something, `search_notes` reads. The nearest and the farthest
    function whose name has a verb must agree: `get_token` on the way of `create_issue` leaves it open.
    """
    verbs = [(verb, name) for name in names if (verb := _purpose(name))]
    if not verbs or {verbs[0][0], verbs[-1][0]} in ({"read", "write"}, {"read", "delete"}):
        return None
    verb, name = verbs[-1]
    words = "_".join(_words(name))
    return LibraryEffect("http-read" if verb == "read" else "http-write", f"POST in {name}()", harm=_harm(words))


def agreed_post(request: LibraryEffect, purpose: LibraryEffect | None) -> LibraryEffect:
    """Return what a POST does by the verb of its path and the functions around it, where they do not contradict.

    A verb of the path alone proves nothing: `/acknowledge` may change as much, or as little, as `/resolve`.
    """
    if purpose is not None and purpose.kind == "http-read" and _adds_thing(request.address, purpose.text):
        purpose = None
    if purpose is not None and request.kind in ("sends-data-out", purpose.kind):
        return replace(purpose, host=request.host, address=request.address, harm=request.harm or purpose.harm)
    return replace(request, kind="sends-data-out", harm="")


def _adds_thing(address: str, caller: str) -> bool:
    """Return whether a POST adds to things by its address: to those of an item, or those that the function names.

    `/search/{}/feedback`, and `/feedback` in `search_feedback`: by custom a POST to things adds one.
    """
    before, _, thing = address.rpartition("/")
    is_thing = thing.isalpha() and _SENDING.isdisjoint(_words(thing)) and not verb_kind(thing)
    return is_thing and (before.endswith("/{}") or thing.lower() in _words(caller))


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def _purpose(name: str) -> str:
    """Return the verb of a function's name; empty for a way of sending, such as `send_request`, and for two verbs."""
    words = _words(name)
    if len(words) < 2 or not _SENDING.isdisjoint(words):
        return ""
    # `refuse_pipeline_validate`: a verb that is not known stands before what may be a noun
    telling = {*_plain_verbs(), *(word for word in words if verb_kind(word) in ("write", "delete"))}
    plain = [word for position, word in enumerate(words) if not position or word in telling]
    kinds = [kind for word in plain if (kind := "" if _is_noun(word) else verb_kind(word))]
    return "" if not kinds or (kinds[0] == "read" and set(kinds) != {"read"}) else kinds[0]


_PATHS = "path_or_buf path buf excel_writer path_or_buffer file".split()

_SENDING = NAMES["sending"]


def _endpoint(arguments: Sequence[Value]) -> str:
    """Return the host that a connection is opened to: `connect((host, port))`, `connect({host, port})`."""
    first = arguments[0] if arguments else None
    if isinstance(first, Dictionary):
        host = first.get("host")
        is_here = host is None and first.is_whole and not {"port", "path"}.isdisjoint(dict(first.items))
        return "localhost" if is_here else (text_of(host) if host is not None else None) or ""
    first = first.values[0] if isinstance(first, Listing) and first.values else first
    hosts = [text for value in (first, *arguments[1:2]) if value is not None and (text := text_of(value))]
    return next((host for host in hosts if re.fullmatch(r"[\w.-]+", host)), "")


def _path(url: Value | None) -> str:
    """Return the path of a URL, `{}` for computed parts: `/v0/{}/records`."""
    text = text_of(next(iter(alternatives(url)))) if url is not None else None
    if isinstance(url, External) and url.arguments:  # new URL("/records", base)
        text = text_of(url.arguments[0])
    return re.sub(r"^(\w+://)?[^/]*", "", (text or "").partition("?")[0])


def _asks_token(values: Iterable[Value]) -> bool:
    """Return whether a request is one for an access token: RFC 6749 names its parameter `grant_type`."""
    return any(
        (isinstance(part, Dictionary) and ("grant_type" in dict(part.items) or _asks_token(dict(part.items).values())))
        or (isinstance(part, External) and _asks_token(part.arguments))
        for value in values
        for part in alternatives(value)
    )


def _graphql(values: Sequence[Value]) -> str:
    """Return `POST query` or `POST mutation` for a GraphQL request whose document is known, else nothing."""
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, Dictionary):
            document = text_of(value.get("query") or value) or ""
            word = document.split("(")[0].split("{")[0].split()[:1]
            if document.lstrip().startswith("{") or word == ["query"]:
                return "POST query"
            if word == ["mutation"]:
                return "POST mutation"
            pending += [inner for _, inner in value.items if isinstance(inner, Dictionary)]
        elif isinstance(value, External) and value.name == "JSON.stringify()":
            pending += value.arguments
    return ""


def _method(value: Value | None) -> str:
    if value is None:
        return "GET"
    words = [
        inner.value.upper()
        for inner in alternatives(value)
        if isinstance(inner, Constant) and isinstance(inner.value, str)
    ]
    for worst in ("DELETE", "PUT", "PATCH", "POST", "GET", "HEAD", "OPTIONS"):
        if worst in words and len(words) == len(alternatives(value)):
            return worst
    return "?"


def _host(value: Value | None) -> str:
    """Return the host of a URL as far as it is known; this machine only where no setting may name another."""
    parts = alternatives(value) if value is not None else ()
    for inner in parts:
        text = text_of(inner)
        if isinstance(inner, External) and inner.arguments:  # new URL("https://…")
            text = text_of(inner.arguments[0]) or (text_of(inner.arguments[1]) if len(inner.arguments) > 1 else None)
        if text and "://" in text:
            try:
                host = urlsplit(text).hostname or ""
            except ValueError:
                continue
            is_whole = "{}" not in host.rpartition(".")[0].rpartition(".")[2] + host.rpartition(".")[2]
            if host and is_whole and not (len(parts) > 1 and is_local(host)):
                return host
    return ""


def _statement(value: Value | None) -> LibraryEffect:
    texts = [text_of(inner) for inner in alternatives(value)] if value is not None else [None]
    if isinstance(value, External) and value.arguments:  # sqlalchemy.text("SELECT …")
        texts = [text_of(value.arguments[0])]
    outcomes = [_statement_text(text) for text in texts]
    return min(outcomes, key=_certainty)


def _certainty(statement: LibraryEffect) -> int:
    """Order statements of which one is run: what takes something first, then changes, then what is not known."""
    order = [("sql-write", DESTROYS), ("sql-write", ""), ("sql-write", ADDS), ("sql-unknown", "")]
    place = (statement.kind, statement.harm)
    return order.index(place) if place in order else len(order)


def _statement_text(text: str | None) -> LibraryEffect:
    if not text:
        return LibraryEffect("sql-unknown" if text is None else "db-read", "")
    words = " ".join(text.split())
    beginning = (SET_UP.sub("", words) or words)[:80]
    if _WRITES.search(text):
        return LibraryEffect("sql-write", beginning, harm=statement_harm(beginning))
    if _READS.match(text) and "{}" not in text[:12]:
        return LibraryEffect("db-read", beginning)
    return LibraryEffect("sql-unknown", beginning)


def is_sql(text: str) -> bool:
    """Return whether a text is a statement of SQL, and no sentence that begins like one: "Select a boat from all"."""
    words = text.split(maxsplit=3)
    return len(words) > 1 and words[0].isupper() and bool(_WRITES.match(text.lstrip()) or _SELECTS.match(text))


_SELECTS = re.compile(r"\s*(SELECT\b.*\bFROM\b|SELECT \d|PRAGMA \w|SHOW \w|WITH \w+ AS\b)", re.DOTALL)


def statement_harm(text: str) -> str:
    """Return what a statement that changes a database does to what is there."""
    words = text.upper().split()
    if any(word in words for word in ("DELETE", "DROP", "TRUNCATE", "UPDATE", "REPLACE", "SELECT")):
        return DESTROYS
    return ADDS if " ".join(words).startswith(("INSERT INTO", "CREATE TABLE")) else ""


def _opened(mode: Value | None) -> LibraryEffect | None:
    modes = [text_of(inner) for inner in alternatives(mode)] if mode is not None else ["r"]
    if isinstance(mode, Argument):
        return LibraryEffect("file-write", "open in the mode that the agent chooses")
    writing = sorted({text for text in modes if text and any(letter in text for letter in "wax+")})
    if writing:
        harm = ADDS if all("a" in text or "x" in text for text in writing) else ""
        return LibraryEffect("file-write", f"open {' or '.join(writing)}", harm=harm)
    if None in modes:
        return LibraryEffect("file-unknown", "open() with a computed mode")
    return LibraryEffect("local-read", "open")


def _has_verb(name: str) -> bool:
    return name in _HTTP_METHODS or bool(verb_kind(name))


@cache
def _verbs() -> Mapping[str, re.Pattern[str]]:
    data = {kind: words for kind, words in read_table("verbs", package="code").items() if isinstance(words, str)}
    return {kind: re.compile(f"({'|'.join(words.split())})(?=_|[A-Z]|$)") for kind, words in data.items()}


@cache
def _plain_verbs() -> Mapping[str, str]:
    """The kinds of verbs that are no nouns too."""
    kinds = read_table("verbs", package="code")["plain"]
    return {word: kind for kind, words in kinds.items() for word in words.split()}


def verb_kind(name: str) -> str:
    """Return `read`, `delete` or `write` by the verb that a method's name begins with, else nothing."""
    several = re.match(r"(?:batch|bulk|)_?(\w)", name)  # batchUpdate, bulk_delete, and Add of other languages
    plain = f"{several[1].lower()}{name[several.end() :]}" if several else name
    kind = next((kind for kind, verbs in _verbs().items() if verbs.match(plain)), "")
    if kind in ("", "noun"):  # user_playlist_create, messageFlagsAdd, enterpriseGetAuditLogs
        later = _words(plain)[1:]
        kinds = {_plain_verbs()[word] for word in later if word in _plain_verbs()}
        changing = [verbs for other, verbs in _verbs().items() if other not in ("read", "noun")]
        if kind and not kinds and any(verbs.fullmatch(word) for word in later for verbs in changing):
            return ""
        return kinds.pop() if len(kinds) == 1 else "" if kinds or not kind else "read"
    return "write" if kind in ("add", "replace") else kind


def makes_object(name: str) -> bool:
    """Return whether a call makes an object of a class: `Fuse`, not `Dispatch().calendar.Add`, a method of one."""
    owner, _, last = name.rpartition(".")
    return last[:1].isupper() and "(" not in owner


def _is_noun(name: str) -> bool:
    return bool(_verbs()["noun"].match(name))


def _harm(name: str) -> str:
    """Return what a method does to what is there, by the verb that its name begins with."""
    verb = verb_kind(name)
    if verb == "delete" or _verbs()["replace"].match(name):
        return DESTROYS
    return ADDS if verb == "write" and _verbs()["add"].match(name) else ""


def _process(text: str, program: frozenset[str], *, is_code: bool = False) -> LibraryEffect:
    harm = DESTROYS if "deletes" in program else "" if {"writes", "unknown"} & program else ADDS
    return LibraryEffect("process", text, harm=harm, program=program, is_code=is_code)


def _plain(kind: str, text: str) -> LibraryEffect:
    """Return the effect of a call that the data names."""
    match kind:
        case "file-delete" | "runs-code":
            harm = DESTROYS
        case "file-write":
            harm = ADDS if text in _ADDING else ""
        case "sql-write" | "http-write":  # deleteOne, `sql-write DELETE`; insert_one
            harm = DESTROYS if text in ("PUT", "PATCH") else statement_harm(text) or _harm(text)
        case _:
            harm = ADDS if kind == "state-in-memory" else ""
    return LibraryEffect(kind, text, harm=harm)


MAKING = NAMES["making_places"]

_ADDING = MAKING | {"appendFile", "appendFileSync"}
"""Writes to files that take nothing away."""


_HTTP_METHODS = {
    "get": "http-read",
    "head": "http-read",
    "post": "sends-data-out",
    "put": "http-write",
    "patch": "http-write",
}


_KINDS = {
    "http": {"read": "http-read", "write": "http-write", "delete": "http-write", "": "http-unknown"},
    "db": {"read": "db-read", "write": "sql-write", "delete": "sql-write", "": "sql-unknown"},
    "file": {"read": "local-read", "write": "file-write", "delete": "file-delete", "": "unknown"},
}
"""Effects of a client's method by its channel and its verb."""


def _by_client(
    target: External,
    channel: str,
    arguments: Sequence[Value],
    keywords: Mapping[str, Value],
    *,
    is_known: bool = True,
) -> LibraryEffect | None:
    """Return the effect of a client's method by its verb, else by the HTTP method that it is given."""
    if _CLOSING.search(target.name) and not arguments and not keywords:
        return None
    effect = _by_verb(target.name, channel)
    if effect is None or effect.kind != "http-unknown":
        return effect
    is_chosen = any(value.parameters for value in (*arguments, *keywords.values()))
    is_part = "()" not in target.name  # google.docs({ version: "v1" }): a client's part is made, nothing is asked
    if not is_chosen and (is_part or last_name(target.name) in NAMES["session"]):
        return None if is_known else LibraryEffect("unknown", f"{target.name}()")
    named = [value.get("method") for value in (*arguments, *keywords.values()) if isinstance(value, Dictionary)]
    method = next((text_of(value) for value in (*named, *arguments[:1]) if value and text_of(value) in _REQUESTS), None)
    return (_request([method], target, arguments[1:], keywords) if method else None) or effect


_CLOSING = re.compile(r"(^|\.)[A-Z]\w*\(\)\.(close|quit)$")
"""The end of a client: `ImapFlow().close`, but not `repo.get_issue().close`."""

_REQUESTS = frozenset("GET HEAD POST PUT PATCH DELETE".split())


def _by_verb(path: str, channel: str) -> LibraryEffect | None:
    """Return the effect of a method of a service's client by its verb: known for the packages that the data names.

    `client.list().push(x)` changes the list, not the service: what is called on a result by a list's method is none.
    """
    name = last_name(path)
    is_result = path.count("()") > 1 or "[]" in path
    if (
        name == path.replace("()", "")
        or makes_object(path)
        or "._" in path  # client._session.hooks.append: its own insides
        or (name in NAMES["data_methods"] and is_result)
    ):
        return None
    if (
        name in ("update", "insert") and is_result
    ):  # of a dictionary that came back, or of `base("boats")` in the service
        return LibraryEffect(_KINDS[channel][""], f"{name}()")
    if name in _HTTP_METHODS and channel == "http":
        return LibraryEffect(_HTTP_METHODS[name], name.upper(), harm=DESTROYS if name in ("put", "patch") else "")
    verb = verb_kind(name)
    return LibraryEffect(_KINDS[channel][verb], f"{name}()", harm=_harm(name))
