"""The MCP servers that installed clients are configured with, read from the files that `clients.toml` names."""

import json
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from tdqs_mcp.errors import InputError, nearest
from tdqs_mcp.json_text import read_with_comments
from tdqs_mcp.results.installed_servers import InstalledServer
from tdqs_mcp.sources.locator import LiveOptions, Stdio, Url, read_url

_VARIABLE = re.compile(r"\$\{([^}]+)\}")
_BARE_VARIABLE = re.compile(r"\$([A-Za-z_]\w*)")
"""Gemini CLI's other spelling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredServer(InstalledServer):
    """An installed server with the client's variables filled in; values of `env` and `headers` are credentials."""

    command: str | None = None
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    shown_tools: frozenset[str] | None = None
    """The only tools that a model gets; None for all."""

    hidden_tools: frozenset[str] = frozenset()

    def shows(self, tool: str) -> bool:
        """Return whether the client hands a tool on to a model."""
        return (self.shown_tools is None or tool in self.shown_tools) and tool not in self.hidden_tools

    @property
    def locator(self) -> Stdio | Url:
        """How to reach it. Raises InputError for an entry with neither command nor URL, or with an unreadable URL."""
        if self.command:
            return Stdio(command=self.command, args=self.args)
        if self.url:
            return read_url(self.url)
        raise InputError(f"{self.name!r} in {self.file} has neither a command nor a URL; complete the entry")

    def fill(self, options: LiveOptions) -> LiveOptions:
        """The options with what the entry gives and they do not."""
        headers, env = {**self.headers, **options.headers}, {**self.env, **options.env}
        return replace(options, headers=headers, env=env, cwd=options.cwd or self.cwd)

    @property
    def connection(self) -> tuple[object, ...]:
        """Return what two entries have in common that mean the same server."""
        return (
            self.command,
            self.args,
            frozenset(self.env.items()),
            self.cwd,
            self.url,
            frozenset(self.headers.items()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where clients run, by default this process: what the variables in a configuration are filled in from."""

    home: Path = field(default_factory=Path.home)
    cwd: Path = field(default_factory=Path.cwd)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    platform: str = sys.platform

    @property
    def folders(self) -> Mapping[str, object]:
        """The folders by their name in `clients.toml`."""
        home, is_windows = self.home, self.platform == "win32"
        config = Path(self.environ.get("XDG_CONFIG_HOME") or home / ".config")
        roaming = Path(self.environ.get("APPDATA") or home / "AppData" / "Roaming")
        library = home / "Library" / "Application Support"
        return {
            "home": home,
            "cwd": self.cwd,
            "support": roaming if is_windows else library if self.platform == "darwin" else config,
            "zed": roaming / "Zed" if is_windows else config / "zed",
            "codex": self.environ.get("CODEX_HOME") or home / ".codex",
        }


def find_server(name: str, *, is_project: bool = False, machine: Machine | None = None) -> ConfiguredServer:
    """Return the server that `config:NAME` or `config:CLIENT/NAME` means, by default among the user's own entries.

    With `is_project` those of this folder's files (`config:project/NAME`). Raises InputError when there is no such
    server, naming those that there are, and when clients disagree about it.
    """
    everything, unreadable = _read_all(machine or Machine())
    servers = [server for server in everything if server.is_project is is_project]
    client, _, rest = name.partition("/")
    matches = [server for server in servers if server.name == name]
    matches = matches or [server for server in servers if (server.client, server.name) == (client, rest)]
    matches = [server for server in matches if not server.is_disabled] or matches
    if not matches:
        names = sorted({server.name for server in servers})
        hint = f"the names found are {', '.join(map(repr, names))}" if names else "no client here has any server"
        meant = nearest(name, names)
        where = "no file of this folder names" if is_project else "no MCP client has"
        elsewhere = sorted({server.locator_name for server in everything if name in (server.name, server.id)})
        hints = [f"there is {' and '.join(elsewhere)}"] if elsewhere else []
        raise InputError("; ".join([f"{where} a server {name!r}{meant}", hint, *hints, *unreadable]))
    if any(server.connection != matches[0].connection for server in matches):
        choices = ", ".join(f"{server.locator_name} ({server.file})" for server in matches)
        raise InputError(f"{name!r} is configured differently in several clients; choose one: {choices}")
    return matches[0]


def read_servers(machine: Machine | None = None) -> tuple[tuple[ConfiguredServer, ...], tuple[str, ...]]:
    """The servers of all clients with files of the user or this folder, and a sentence about all that cannot be read.

    A server is there once per client and name, as the client prefers it: a project's before the user's.
    """
    servers, problems = _read_all(machine or Machine())
    firsts = {server.id: server for server in reversed(servers)}
    return tuple(server for server in servers if firsts[server.id] is server), problems


def _read_all(machine: Machine) -> tuple[tuple[ConfiguredServer, ...], tuple[str, ...]]:
    """The servers of all clients: one per client and name in the user's files, and one in the folder's."""
    table, folders = _table(), machine.folders
    places = {place: Path(place.format_map(folders)) for _, place, *_ in (*table["files"], *table["switched_off"])}
    own = {os.path.realpath(file) for place, file in places.items() if "{cwd}" not in place}
    contents, problems = _load_all(places.values())
    off = {
        (client, name)
        for client, place, keys in table["switched_off"]
        for name in _listed(contents[places[place]], [key.format_map(folders) for key in keys])
    }
    servers: dict[tuple[str, str, bool], ConfiguredServer] = {}
    for client, place, *groups in table["files"]:
        file = places[place]
        is_project = os.path.realpath(file) not in own
        for keys in groups:
            for name, entry in _entries(contents[file], [key.format_map(folders) for key in keys]):
                if not isinstance(entry, Mapping):
                    problems.append(f"{name!r} in {file} is not an object; correct it")
                    continue
                server = _read_entry(entry, client, name, file=file, machine=machine)
                is_disabled = server.is_disabled or (client, name) in off
                server = replace(server, is_project=is_project, is_disabled=is_disabled)
                servers.setdefault((client, name, is_project), server)
    return tuple(servers.values()), tuple(dict.fromkeys(problems))


def _load_all(files: Iterable[Path]) -> tuple[dict[Path, Any], list[str]]:
    """The content of each file, empty where it cannot be read, and a sentence about each of those."""
    contents: dict[Path, Any] = {}
    problems = []
    for file in dict.fromkeys(files):
        try:
            contents[file] = _load(file)
        except (OSError, ValueError) as error:
            contents[file] = {}
            problems.append(f"{file} cannot be read ({type(error).__name__}); correct it")
    return contents, problems


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFile:
    """Where a client keeps the servers of its user, and what an entry needs there."""

    name: str
    title: str
    file: Path
    keys: tuple[str, ...]
    """The keys that lead to the servers."""

    entry: Mapping[str, Any]
    """What stands in an entry beside command and args."""

    then: str
    """What makes the client read it."""


def client_files(machine: Machine | None = None) -> list[ClientFile]:
    """The user's file of each client."""
    folders = (machine or Machine()).folders
    own: dict[str, tuple[str, list[str]]] = {}
    for client, place, *groups in _table()["files"]:
        if "{cwd}" not in place and "{cwd}" not in groups[0]:
            own.setdefault(client, (place, groups[0]))
    return [
        ClientFile(
            name=client,
            title=facts["title"],
            file=Path(own[client][0].format_map(folders)),
            keys=tuple(own[client][1]),
            entry=facts.get("entry", {}),
            then=facts["then"],
        )
        for client, facts in _table()["clients"].items()
    ]


def client_titles() -> dict[str, str]:
    """Return what each client is called, by its name here."""
    return {name: facts["title"] for name, facts in _table()["clients"].items()}


def client_file(name: str, machine: Machine | None = None) -> ClientFile:
    """The user's file of one client. Raises InputError for an unknown one."""
    clients = {file.name: file for file in client_files(machine)}
    if name not in clients:
        raise InputError(f"there is no client {name!r}{nearest(name, clients)}; give one of {', '.join(clients)}")
    return clients[name]


def configured_names(file: Path) -> list[str]:
    """The servers that a file configures if it is one of a client. Raises OSError, and ValueError for bad syntax."""
    content = _load(file)
    groups = [group for _, _, *groups in _table()["files"] for group in groups]
    entries = (entry for keys in groups for entry in _entries(content, keys))
    return list(dict.fromkeys(name for name, entry in entries if isinstance(entry, Mapping)))


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _load(file: Path) -> Any:  # noqa: ANN401  # foreign JSON or TOML
    """The content of a file; empty for a file that is not there. Raises OSError, or ValueError for other content."""
    if not file.is_file():
        return {}
    text = file.read_text(encoding="utf-8-sig")
    try:
        return tomllib.loads(text) if file.suffix == ".toml" else read_with_comments(text)
    except RecursionError as error:
        raise ValueError("it nests too deep to be read") from error


def _entries(content: Any, keys: Sequence[str]) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    table = _below(content, keys)
    if isinstance(table, Mapping):
        yield from table.items()


def _listed(content: Any, keys: Sequence[str]) -> list[str]:  # noqa: ANN401
    """The names in a list."""
    value = _below(content, keys)
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _below(content: Any, keys: Sequence[str]) -> Any:  # noqa: ANN401
    for key in keys:
        content = content.get(key) if isinstance(content, Mapping) else None
    return content


def _read_entry(entry: Mapping[str, Any], client: str, name: str, *, file: Path, machine: Machine) -> ConfiguredServer:
    entry, unresolved, incomplete = _uniform(entry, client), list[str](), list[str]()

    def fill(key: str, value: Any) -> str | None:  # noqa: ANN401
        if value is None or isinstance(value, Mapping | list):
            return None
        text, missing = _expand(value, machine)
        if missing:
            incomplete.append(f"{key} needs {missing}; set it, or give the whole command or URL yourself")
        return text

    def fill_all(values: Any, option: str) -> dict[str, str]:  # noqa: ANN401
        """Variables or headers, without those that cannot be filled in."""
        filled = {}
        for key, value in (values if isinstance(values, Mapping) else {}).items():
            text, missing = _expand(value, machine)
            if missing:
                unresolved.append(f"{key} needs {missing}; give it with {option.format(key)}")
            elif value is not None:
                filled[key] = text
        return filled

    args = entry.get("args")
    command, cwd, url = (fill(key, entry.get(key)) for key in ("command", "cwd", "url"))
    words = [fill("args", word) or "" for word in (args if isinstance(args, list) else [])]
    env = fill_all(entry.get("env"), "--env {0}=VALUE")
    headers = fill_all(_headers(entry), "--header '{0}: VALUE'")
    shown_tools, hidden = (
        [key for key in _table()[kind] if entry.get(key)] for kind in ("shown_tools", "hidden_tools")
    )
    if entry.get("envFile"):
        unresolved.append("its envFile is not read; give the variables with --env NAME=VALUE")
    if entry.get("headersHelper"):
        unresolved.append("its headersHelper is not run; give the headers with --header 'NAME: VALUE'")
    return ConfiguredServer(
        client=client,
        name=name,
        file=file,
        command=command,
        args=tuple(words),
        env=env,
        cwd=cwd,
        url=url,
        headers=headers,
        transport="stdio" if command else None if not url else "sse" if entry.get("type") == "sse" else "http",
        shown_tools=frozenset(name for key in shown_tools for name in _listed(entry, [key])) if shown_tools else None,
        hidden_tools=frozenset(name for key in hidden for name in _listed(entry, [key])),
        is_disabled=entry.get("disabled") is True or entry.get("enabled") is False,
        is_startable=not incomplete,
        unresolved=(*incomplete, *unresolved),
    )


def _uniform(entry: Mapping[str, Any], client: str) -> dict[str, Any]:
    """The clients' spellings as one: serverUrl (Windsurf), httpUrl and $NAME (Gemini), older Zed's command and Codex's.

    Codex calls its headers http_headers.
    """
    same = _braced(entry) if client == "gemini-cli" else dict(entry)
    same["url"] = next((entry[key] for key in ("httpUrl", "serverUrl", "url") if entry.get(key)), None)
    if isinstance(same.get("command"), Mapping):
        inner = same["command"]
        same |= {"command": inner.get("path"), "args": inner.get("args"), "env": inner.get("env")}
    same.setdefault("headers", entry.get("http_headers"))
    return same


def _braced(value: Any) -> Any:  # noqa: ANN401  # an entry or a part of it
    if isinstance(value, str):
        return _BARE_VARIABLE.sub(r"${\1}", value)
    if isinstance(value, Mapping):
        return {key: _braced(item) for key, item in value.items()}
    return list(map(_braced, value)) if isinstance(value, list) else value


def _headers(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The headers as written, and those that Codex takes from environment variables."""
    named = entry.get("env_http_headers")
    written = dict(entry["headers"]) if isinstance(entry.get("headers"), Mapping) else {}
    written |= {key: f"${{{value}}}" for key, value in (named if isinstance(named, Mapping) else {}).items()}
    if isinstance(token := entry.get("bearer_token_env_var"), str):
        written["Authorization"] = f"Bearer ${{{token}}}"
    return written


def _expand(value: Any, machine: Machine) -> tuple[str, str]:  # noqa: ANN401
    """The text with `${…}` filled in, and the variables that cannot be, which stay as they are."""
    text = value if isinstance(value, str) else json.dumps(value)
    values = {variable: _value_of(variable, machine) for variable in _VARIABLE.findall(text)}
    missing = ", ".join(f"${{{variable}}}" for variable, setting in values.items() if setting is None)
    filled = {variable: setting for variable, setting in values.items() if setting is not None}
    return _VARIABLE.sub(lambda match: filled.get(match[1], match[0]), text), missing


def _value_of(variable: str, machine: Machine) -> str | None:
    """`${NAME}`, `${NAME:-default}` (Claude Code), `${env:NAME}`, `${workspaceFolder}` … (Cursor, VS Code)."""
    places = {
        **dict.fromkeys(("workspaceFolder", "workspaceRoot", "projectRoot"), str(machine.cwd)),
        "workspaceFolderBasename": machine.cwd.name,
        "userHome": str(machine.home),
        "pathSeparator": os.sep,
        "/": os.sep,
    }
    if variable in places:
        return places[variable]
    name, has_default, default = variable.removeprefix("env:").partition(":-")
    value = machine.environ.get(name)
    return default if has_default and not value else value
