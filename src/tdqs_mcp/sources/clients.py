"""The MCP servers that installed clients are configured with: where each client keeps them, and in which shape."""

import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import json5

from tdqs_mcp.errors import InputError
from tdqs_mcp.sources.locator import Stdio, Url

_VARIABLE = re.compile(r"\$\{([^}]+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredServer:
    """One server of one client, the client's variables filled in; values of `env` and `headers` are credentials."""

    client: str
    name: str
    file: Path
    command: str | None = None
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    is_disabled: bool = False
    unresolved: tuple[str, ...] = ()
    """What only the client could fill in, one sentence each; such variables and headers are left out."""

    @property
    def locator(self) -> Stdio | Url:
        """How to reach it. Raises InputError for an entry with neither command nor URL."""
        if self.command:
            return Stdio(command=self.command, args=self.args)
        if self.url:
            return Url(url=self.url)
        raise InputError(f"{self.name!r} in {self.file} has neither a command nor a URL; complete the entry")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A file in which a client may keep servers, and the keys that lead to them."""

    client: str
    path: Path
    keys: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """What the variables in a configuration are filled in from."""

    home: Path
    cwd: Path
    environ: Mapping[str, str]


def find(
    name: str, *, home: Path, cwd: Path, environ: Mapping[str, str], platform: str = sys.platform
) -> ConfiguredServer:
    """The server that `config:NAME` or `config:CLIENT/NAME` means, read from the clients' files below `home` and `cwd`.

    Within one client the file that the client itself prefers wins (project before user). Raises InputError when there
    is no such server, naming those that there are, and when clients disagree about it.
    """
    setting = _Setting(home=home, cwd=cwd, environ=environ)
    servers, unreadable = _discover(setting, platform)
    client, _, rest = name.partition("/")
    found = [server for server in servers if server.name == name]
    found = found or [server for server in servers if (server.client, server.name) == (client, rest)]
    found = [server for server in found if not server.is_disabled] or found
    if not found:
        raise InputError(_nothing(name, servers, unreadable))
    if any(_essence(server) != _essence(found[0]) for server in found):
        choices = ", ".join(f"config:{server.client}/{server.name} ({server.file})" for server in found)
        raise InputError(f"{name!r} is configured differently in several clients; choose one: {choices}")
    return found[0]


def _nothing(name: str, servers: Sequence[ConfiguredServer], unreadable: Sequence[str]) -> str:
    names = sorted({server.name for server in servers})
    known = f"the names found are {', '.join(map(repr, names))}" if names else "no client here has any server"
    return "; ".join([f"no MCP client has a server {name!r}", known, *unreadable])


def _essence(server: ConfiguredServer) -> tuple[object, ...]:
    return (server.command, server.args, dict(server.env), server.cwd, server.url, dict(server.headers))


def _discover(setting: _Setting, platform: str) -> tuple[list[ConfiguredServer], list[str]]:
    """Every server, once per client and name, and what is wrong with the files that cannot be read."""
    servers: dict[tuple[str, str], ConfiguredServer] = {}
    unreadable = []
    for place in _places(setting, platform):
        try:
            content = _load(place.path)
        except (OSError, ValueError) as error:
            unreadable.append(f"{place.path} cannot be read ({type(error).__name__}); correct it")
            continue
        for name, entry in _entries(content, place.keys):
            servers.setdefault((place.client, name), _read(name, entry, place, setting))
    return list(servers.values()), unreadable


def _places(setting: _Setting, platform: str) -> Iterator[_Place]:
    """The files of each client, the one that it prefers first (paths: the clients' own documentation, 2026-11)."""
    home, cwd, environ = setting.home, setting.cwd, setting.environ
    config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    roaming = Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
    support = {"darwin": home / "Library" / "Application Support", "win32": roaming}.get(platform, config)
    zed = roaming / "Zed" if platform == "win32" else config / "zed"
    codex = Path(environ.get("CODEX_HOME") or home / ".codex")
    plain, nested = (("mcpServers",),), (("mcp", "servers"), ("mcp.servers",))
    yield _Place(client="claude-desktop", path=support / "Claude" / "claude_desktop_config.json", keys=plain)
    yield _Place(client="claude-code", path=home / ".claude.json", keys=(("projects", str(cwd), "mcpServers"),))
    yield _Place(client="claude-code", path=cwd / ".mcp.json", keys=plain)
    yield _Place(client="claude-code", path=home / ".claude.json", keys=plain)
    yield _Place(client="cursor", path=cwd / ".cursor" / "mcp.json", keys=plain)
    yield _Place(client="cursor", path=home / ".cursor" / "mcp.json", keys=plain)
    yield _Place(client="vscode", path=cwd / ".vscode" / "mcp.json", keys=(("servers",), ("mcpServers",)))
    for product in ("Code", "Code - Insiders", "VSCodium"):
        user = support / product / "User"
        yield _Place(client="vscode", path=user / "mcp.json", keys=(("servers",), ("mcpServers",)))
        yield _Place(client="vscode", path=user / "settings.json", keys=nested)
    yield _Place(client="windsurf", path=home / ".codeium" / "windsurf" / "mcp_config.json", keys=plain)
    yield _Place(client="zed", path=cwd / ".zed" / "settings.json", keys=(("context_servers",),))
    yield _Place(client="zed", path=zed / "settings.json", keys=(("context_servers",),))
    yield _Place(client="codex", path=cwd / ".codex" / "config.toml", keys=(("mcp_servers",),))
    yield _Place(client="codex", path=codex / "config.toml", keys=(("mcp_servers",),))
    yield _Place(client="gemini-cli", path=cwd / ".gemini" / "settings.json", keys=plain)
    yield _Place(client="gemini-cli", path=home / ".gemini" / "settings.json", keys=plain)


def _load(path: Path) -> Any:  # noqa: ANN401  # foreign JSON or TOML
    """The content of the file; empty for a file that is not there. Raises OSError, or ValueError for bad syntax."""
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".toml":
        return tomllib.loads(text)
    try:
        return json.loads(text or "{}")
    except json.JSONDecodeError:
        return json5.loads(text)  # comments and trailing commas; a hundred times slower, hence second


def _entries(content: Any, keys: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, Mapping[str, Any]]]:  # noqa: ANN401
    for path in keys:
        group = content
        for key in path:
            group = group.get(key) if isinstance(group, Mapping) else None
        if isinstance(group, Mapping):
            yield from ((name, entry) for name, entry in group.items() if isinstance(entry, Mapping))


def _read(name: str, entry: Mapping[str, Any], place: _Place, setting: _Setting) -> ConfiguredServer:
    entry = _uniform(entry)
    open_questions: list[str] = []
    filled = {key: _fill(entry.get(key), setting, open_questions, key) for key in ("command", "cwd", "url")}
    args = entry.get("args")
    words = [_fill(word, setting, open_questions, "args") or "" for word in (args if isinstance(args, list) else [])]
    return ConfiguredServer(
        client=place.client,
        name=name,
        file=place.path,
        command=filled["command"],
        args=tuple(words),
        env=_fill_all(entry.get("env"), setting, open_questions, "--env {0}=VALUE"),
        cwd=filled["cwd"],
        url=filled["url"],
        headers=_headers(entry, setting, open_questions),
        is_disabled=entry.get("disabled") is True or entry.get("enabled") is False,
        unresolved=(*open_questions, *_unread(entry)),
    )


def _uniform(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The clients' spellings as one: Windsurf's serverUrl, Gemini's httpUrl, older Zed's command, Codex's headers."""
    same = dict(entry)
    same["url"] = next((entry[key] for key in ("httpUrl", "serverUrl", "url") if entry.get(key)), None)
    if isinstance(same.get("command"), Mapping):
        inner = same["command"]
        same |= {"command": inner.get("path"), "args": inner.get("args"), "env": inner.get("env")}
    same.setdefault("headers", entry.get("http_headers"))
    return same


def _headers(entry: Mapping[str, Any], setting: _Setting, open_questions: list[str]) -> dict[str, str]:
    """The headers as written, and those that Codex takes from environment variables."""
    named = entry.get("env_http_headers")
    written = dict(entry["headers"]) if isinstance(entry.get("headers"), Mapping) else {}
    written |= {key: f"${{{value}}}" for key, value in (named if isinstance(named, Mapping) else {}).items()}
    if isinstance(token := entry.get("bearer_token_env_var"), str):
        written["Authorization"] = f"Bearer ${{{token}}}"
    return _fill_all(written, setting, open_questions, "--header '{0}: VALUE'")


def _unread(entry: Mapping[str, Any]) -> Iterator[str]:
    if entry.get("envFile"):
        yield "its envFile is not read; give the variables with --env NAME=VALUE"
    if entry.get("headersHelper"):
        yield "its headersHelper is not run; give the headers with --header 'NAME: VALUE'"


def _fill_all(raw: Any, setting: _Setting, open_questions: list[str], remedy: str) -> dict[str, str]:  # noqa: ANN401
    """Variables or headers with their values filled in, without those that cannot be."""
    filled: dict[str, str] = {}
    for key, value in (raw if isinstance(raw, Mapping) else {}).items():
        missing: list[str] = []
        text = _expand(_text(value), setting, missing)
        if missing:
            open_questions.append(f"{key} needs {', '.join(missing)}; give it with {remedy.format(key)}")
        elif value is not None:
            filled[key] = text
    return filled


def _fill(value: Any, setting: _Setting, open_questions: list[str], key: str) -> str | None:  # noqa: ANN401
    if value is None or isinstance(value, Mapping | list):
        return None
    missing: list[str] = []
    text = _expand(_text(value), setting, missing)
    if missing:
        open_questions.append(f"{key} needs {', '.join(missing)}; set it, or give the whole command or URL yourself")
    return text


def _text(value: Any) -> str:  # noqa: ANN401
    return value if isinstance(value, str) else json.dumps(value)


def _expand(text: str, setting: _Setting, missing: list[str]) -> str:
    """The text with `${…}` filled in; what cannot be stays as it is and is noted in `missing`."""

    def value(found: re.Match[str]) -> str:
        known = _value_of(found[1], setting)
        if known is None:
            missing.append(found[0])
        return found[0] if known is None else known

    return _VARIABLE.sub(value, text)


def _value_of(variable: str, setting: _Setting) -> str | None:
    """`${NAME}`, `${NAME:-default}` (Claude Code), `${env:NAME}`, `${workspaceFolder}` … (Cursor, VS Code)."""
    places = {
        "workspaceFolder": str(setting.cwd),
        "workspaceRoot": str(setting.cwd),
        "projectRoot": str(setting.cwd),
        "workspaceFolderBasename": setting.cwd.name,
        "userHome": str(setting.home),
        "pathSeparator": os.sep,
        "/": os.sep,
    }
    if variable in places:
        return places[variable]
    name, has_default, default = variable.removeprefix("env:").partition(":-")
    value = setting.environ.get(name)
    return default if has_default and not value else value
