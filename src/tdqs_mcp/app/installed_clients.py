"""MCP clients on this machine: their servers, listed and scored together, and our entry in their configuration."""

import json
import shutil
import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from tdqs_mcp.app.catalogs import has_code, load_all, load_configured
from tdqs_mcp.app.judging import discovery_status, score_measured
from tdqs_mcp.app.linting import DEFAULT_POLICY, Policy
from tdqs_mcp.errors import CaptureError, InputError, TdqsError
from tdqs_mcp.facts.subject import Measured, measure
from tdqs_mcp.json_text import JsonText
from tdqs_mcp.judges.judge import Judge
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.model import Catalog
from tdqs_mcp.results.installed_servers import (
    InstalledOutcome,
    InstalledReport,
    InstalledScore,
    InstalledServer,
    ServerList,
)
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.scoring.rollup import DEFAULT_SPEC, view_set
from tdqs_mcp.sources.clients import (
    ClientFile,
    ConfiguredServer,
    Machine,
    client_file,
    client_files,
    client_titles,
    read_servers,
)
from tdqs_mcp.sources.files import read_bytes, write_bytes
from tdqs_mcp.sources.locator import HIDDEN, LiveOptions

Consent = Callable[[Sequence[InstalledServer]], bool]
"""Whether servers that a project's files name may be started and reached."""

_NO_CONSENT = "a file of this folder names it, not one of yours: read that file, then give --yes"


def servers(machine: Machine | None = None) -> ServerList:
    """The servers of all installed clients, never what they are started with."""
    configured, problems = read_servers(machine)
    return ServerList(servers=configured, problems=problems)


async def score_installed(
    *,
    judge: Judge | None = None,
    spec: str = DEFAULT_SPEC,
    policy: Policy = DEFAULT_POLICY,
    consent: Consent = lambda _: False,
    options: LiveOptions | None = None,
    machine: Machine | None = None,
) -> InstalledReport:
    """The servers of all installed clients scored, and what an agent sees of them together, client by client.

    A server that fails is a row, and what two clients start alike is captured once. What is disabled or lacks a value
    is not started, nor is what a project's file names unless `consent`, asked once, agrees. Raises
    InputError if no client has a server.
    """
    entries, problems = read_servers(machine)
    if not entries:
        raise InputError("; ".join(["no client here has any server", *problems]))
    blocked = {entry.id: never for entry in entries if (never := _unstarted_row(entry))}
    foreign = [entry for entry in entries if entry.is_project and entry.id not in blocked]
    if foreign and not consent(foreign):
        blocked |= {server.id: _row(server, InstalledOutcome.NOT_STARTED, _NO_CONSENT) for server in foreign}
    firsts = {entry.connection: entry for entry in reversed(entries) if entry.id not in blocked}
    chosen, options = list(firsts.values())[::-1], options or LiveOptions()
    outcomes = await load_all(
        [partial(load_configured, server, options, called=server.locator_name) for server in chosen]
    )
    captured = {server.id: outcome for server, outcome in zip(chosen, outcomes, strict=True)}
    measured = {name: measure(item) for name, item in captured.items() if isinstance(item, Catalog)}
    judge = judge or Offline()
    scores = {
        name: await score_measured(item, judge=judge, spec=spec, policy=policy) for name, item in measured.items()
    }

    def row(server: ConfiguredServer) -> InstalledScore:
        first = firsts[server.connection].id
        error = captured[first]
        if not isinstance(error, TdqsError):
            return _score_row(server, measured[first], scores[first], first=first)
        status = discovery_status(error) if isinstance(error, CaptureError) else None
        return replace(_row(server, InstalledOutcome.FAILED, str(error)), discovery_status=status)

    rows = [blocked.get(entry.id) or row(entry) for entry in entries]
    servers_by_client: dict[str, dict[str, Measured]] = {}
    for item in entries:
        if item.id not in blocked and (measured_server := measured.get(firsts[item.connection].id)):
            servers_by_client.setdefault(item.client, {})[item.name] = _visible_part(item, measured_server)
    titles = client_titles()
    sets = [view_set(name, titles[name], together) for name, together in servers_by_client.items()]
    return InstalledReport(servers=tuple(rows), clients=tuple(sets), problems=problems)


def _unstarted_row(server: InstalledServer) -> InstalledScore | None:
    """The row of a server that is never started; None for any other."""
    if server.is_disabled:
        return _row(server, InstalledOutcome.DISABLED, "the client has it disabled")
    if server.transport is None:
        return _row(server, InstalledOutcome.NOT_STARTED, "the entry has neither a command nor a URL; complete it")
    return None if server.is_startable else _row(server, InstalledOutcome.NOT_STARTED, server.unresolved[0])


def _row(server: InstalledServer, standing: InstalledOutcome, reason: str) -> InstalledScore:
    return InstalledScore(server=server, standing=standing, reason=reason)


def _score_row(server: InstalledServer, measured: Measured, score: ServerScore, *, first: str) -> InstalledScore:
    is_first = server.id == first
    return InstalledScore(
        server=server,
        standing=InstalledOutcome.SCORED,
        same_as=None if is_first else first,
        incomplete=measured.catalog.incomplete,
        discovery_status=score.discovery_status,
        tool_count=score.tool_count,
        tokens=measured.tokens,
        score=score if is_first else None,
    )


def _visible_part(server: ConfiguredServer, measured: Measured) -> Measured:
    """Return what the client hands on to a model."""
    tools = tuple(tool for tool in measured.catalog.tools if server.shows(tool.name))
    return measured if tools == measured.catalog.tools else measure(replace(measured.catalog, tools=tools))


SERVER_NAME = "tdqs"
"""The name of our entry."""

_SECRET = ("env", "headers")
"""Parts of an entry whose values may be credentials."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """Change that installing or uninstalling makes to a client's file."""

    client: ClientFile
    before: str | None
    """None for a file that is not there."""

    after: str | None

    @property
    def difference(self) -> list[str]:
        """The lines of our entry that go and come, as in a diff; empty where nothing changes."""
        old, new = (_entry_lines(self.client, text) for text in (self.before, self.after))
        return [line for line in list(unified_diff(old, new, n=20, lineterm=""))[2:] if not line.startswith("@@")]

    def write(self) -> Path | None:
        """Writes the file; gives back where the old one is kept, None if there was none. Raises InputError."""
        file, after = self.client.file, str(self.after).encode()
        if self.before is None:
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"the folder of {str(file)!r} cannot be made: {error.strerror}") from error
            write_bytes(file, after)
            return None
        old = read_bytes(file)
        places = (file.with_name(f"{file.name}.bak{number or ''}") for number in count())
        backup = next(place for place in places if not place.exists())
        write_bytes(backup, old)
        backup.chmod(file.stat().st_mode & 0o777)
        write_bytes(file, (BOM_UTF8 if old.startswith(BOM_UTF8) else b"") + after)
        return backup


class TomlText:
    """A TOML text; tomlkit keeps its layout and its comments."""

    def __init__(self, text: str) -> None:
        """Raises ValueError for what is not TOML."""
        import tomlkit  # noqa: PLC0415  # only Codex has TOML

        self.text = text
        self._document = tomlkit.parse(text)
        self.value: Any = self._document.unwrap()

    def with_entry(self, keys: Sequence[str], entry: Mapping[str, Any]) -> str:
        """Return the text with a table under some keys; what else a table there has stays. Raises ValueError."""
        import tomlkit  # noqa: PLC0415

        table: Any = self._document
        for place, key in enumerate(keys):
            if key not in table:
                table[key] = tomlkit.table(is_super_table=place < len(keys) - 1)
            table = table[key]
            if not isinstance(table, Mapping):
                raise ValueError("a list or a value stands where a table belongs")  # noqa: TRY004  # the file is wrong
        for key, part in entry.items():
            if table.get(key) != part:
                table[key] = part
        return tomlkit.dumps(self._document)

    def without_entry(self, keys: Sequence[str]) -> str:
        """Return the text without the table that the keys lead to. Raises ValueError where there is none."""
        import tomlkit  # noqa: PLC0415

        *parents, last = keys
        table: Any = self._document
        for key in parents:
            table = table[key]
        del table[last]
        return tomlkit.dumps(self._document)


def client_names() -> list[str]:
    """The clients that we can be installed in."""
    return [client.name for client in client_files()]


def own_entry(arguments: Sequence[str] = ()) -> dict[str, Any]:
    """How a client starts this server, wherever it is started from: with the absolute path of this program."""
    program = Path(sys.executable).with_name("tdqs-mcp.exe" if sys.platform == "win32" else "tdqs-mcp")
    if any(part.startswith("archive-v") for part in program.parts):  # uvx: the folder may be gone tomorrow
        command = [shutil.which("uvx") or "uvx", "tdqs-mcp"]
    else:
        command = [str(program)] if program.exists() else [sys.executable, "-m", "tdqs_mcp"]
    return {"command": command[0], "args": [*command[1:], "serve", *_with_absolute_roots(arguments)]}


def _with_absolute_roots(arguments: Sequence[str]) -> list[str]:
    """Options of serve that mean the same in the folder in which a client starts it."""
    # `--root=servers` becomes `--root servers`, so that both spellings are made absolute
    words = [part for word in arguments for part in (word.split("=", 1) if word.startswith("--root=") else [word])]
    pairs = zip(["", *words], words, strict=False)
    return [str(Path(word).absolute()) if before == "--root" else word for before, word in pairs]


def plan_install(
    name: str, arguments: Sequence[str] = (), *, project: Path | None = None, machine: Machine | None = None
) -> Installation:
    """Our entry in a client's file, its other parts kept. Raises InputError for a file that cannot be edited.

    Without arguments, those of an entry that is there already stay. For a project, they get what makes a first call
    work: its folder, and the servers that the user has configured in this client.
    """
    client = client_file(name, machine)

    def edit(text: str | None) -> str:
        kept_arguments = arguments or _present_arguments(client, text)
        added = _proposed_arguments(client, project, machine) if project and not arguments else []
        pairs = set(zip(["", *kept_arguments], kept_arguments, strict=False))
        missing = [pair for pair in added if pair not in pairs]
        entry = {**client.entry, **own_entry([*kept_arguments, *(word for pair in missing for word in pair)])}
        return _parse_config(client, text or "").with_entry([*client.keys, SERVER_NAME], entry)

    return _plan(client, edit)


PROJECT_FILES = (".git", "pyproject.toml", "package.json")
"""Entries of a folder that is one project, not a home or a place for downloads."""


def is_project(folder: Path) -> bool:
    """Return whether a folder is a project, or has code or definitions; a home is none, nor one for temporary files."""
    if any((folder / name).exists() for name in PROJECT_FILES):
        return True
    if any(Path(place).resolve().is_relative_to(folder.resolve()) for place in (Path.home(), gettempdir())):
        return False
    return has_code(folder) or any(b'"tools"' in read_bytes(path) for path in folder.glob("*.json") if path.is_file())


def _proposed_arguments(client: ClientFile, project: Path, machine: Machine | None) -> list[tuple[str, str]]:
    """Options of serve for a project's folder and for the servers of the user's own entries in a client."""
    entries, _ = read_servers(machine)
    own = [
        entry for entry in entries if entry.client == client.name and not entry.is_project and entry.name != SERVER_NAME
    ]
    names = [f"{client.name}/{entry.name}" for entry in own if _unstarted_row(entry) is None]
    roots = [("--root", str(project.absolute()))] if is_project(project) else []
    return [*roots, *(("--allow-config", name) for name in names)]


def _present_arguments(client: ClientFile, text: str | None) -> list[str]:
    """The options of serve in our entry of a file; none where there is no entry. Raises ValueError."""
    entry = _own_entry_in(client, text) if text else None
    words = entry.get("args") if isinstance(entry, Mapping) else None
    is_ours = isinstance(words, list) and "serve" in words and all(isinstance(word, str) for word in words)
    return words[words.index("serve") + 1 :] if is_ours and words else []


def plan_uninstall(name: str, machine: Machine | None = None) -> Installation:
    """A client's file without our entry. Raises InputError for a file that cannot be edited."""
    client = client_file(name, machine)

    def edit(text: str | None) -> str | None:
        if text is None or _own_entry_in(client, text) is None:
            return text
        return _parse_config(client, text).without_entry([*client.keys, SERVER_NAME])

    return _plan(client, edit)


def _plan(client: ClientFile, edit: Callable[[str | None], str | None]) -> Installation:
    try:
        before = read_bytes(client.file).decode("utf-8-sig") if client.file.exists() else None
        return Installation(client=client, before=before, after=edit(before))
    except (ValueError, RecursionError) as error:  # neither JSON nor TOML, or it nests too deep
        reason = f"{str(client.file)!r} cannot be edited, and was left as it is: {error}; correct it first"
        raise InputError(reason) from error


def _parse_config(client: ClientFile, text: str) -> JsonText | TomlText:
    return TomlText(text) if client.file.suffix == ".toml" else JsonText(text, has_comments=True)


def _own_entry_in(client: ClientFile, text: str) -> Any:  # noqa: ANN401  # foreign JSON or TOML
    """Our entry as it stands in a text; None without one. Raises ValueError."""
    value = _parse_config(client, text).value
    for key in (*client.keys, SERVER_NAME):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _entry_lines(client: ClientFile, text: str | None) -> list[str]:
    """The lines of our entry, without credentials."""
    entry = None if text is None else _own_entry_in(client, text)
    if not isinstance(entry, Mapping):
        return []
    hidden = {key: dict.fromkeys(entry[key], HIDDEN) for key in _SECRET if isinstance(entry.get(key), Mapping)}
    name = ".".join((*client.keys, SERVER_NAME))
    return f"{name}: {json.dumps({**entry, **hidden}, indent=2, ensure_ascii=False)}".split("\n")
