"""Fill a corpus folder with definitions of published servers: python calibration/capture_corpus.py FOLDER [NAME...].

Installs the package versions that corpus.toml lists from npm and PyPI, without running their install scripts. Starts
each server with an empty home and no credentials, and saves its catalog as FOLDER/catalogs/NAME.json. Then compares
every tool with the inputHash in corpus_hashes.json. Servers that are in the folder already are only compared. Exits 1
if a server could not be captured or differs. `--record` adds the hashes of servers that have none yet.
"""

import argparse
import configparser
import json
import os
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, Literal

from tdqs_mcp.facts.subject import measure
from tdqs_mcp.model import Catalog, read_tools

LEDGER = Path(__file__).with_name("corpus.toml")
HASHES = Path(__file__).with_name("corpus_hashes.json")

INSTALL_SECONDS = 600
START_SECONDS = 90

SERVER_VARIABLES = ("PATH", "LANG", "TERM")
INSTALL_VARIABLES = (*SERVER_VARIABLES, "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS")
INSTALL_PREFIXES = ("PIP_", "NPM_CONFIG_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""Where a machine says how it reaches its registries; servers do not see these."""

Outcome = Literal["matches", "differs", "failed", "new"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Entry of the ledger."""

    name: str
    registry: Literal["npm", "pypi"]
    package: str
    version: str
    purpose: Literal["tune", "measure"]
    """`tune`: rules, facts and weights may be made on it. `measure`: nobody has looked at it."""

    round: int
    looked_at: date
    """The day from which it can no longer measure anything: it was captured, labeled or looked at."""

    python: str = "3.11"
    """The Python for a package from PyPI: from 3.13 on docstrings lose their indentation, so definitions differ."""

    command: str = ""
    """The program to start, if the package's name does not tell."""

    args: Sequence[str] = ()
    requires: Sequence[str] = ()
    """Versions of dependencies that the package leaves open and that its definitions depend on, for pip."""

    env: Mapping[str, str] = field(default_factory=dict)
    """Placeholders for servers that refuse to start without a setting; never a credential."""

    files: Mapping[str, str] = field(default_factory=dict)
    """Files that a server reads in its home: the text by the path there; never a credential."""

    @property
    def source(self) -> str:
        """The exact package, as catalogs and evidence name it."""
        return f"{self.registry}:{self.package}@{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Outcome of the capture of a server."""

    server: Server
    outcome: Outcome
    details: list[str] = field(default_factory=list)
    hashes: Mapping[str, str] = field(default_factory=dict)
    """The inputHash of every captured tool, by name."""


class CaptureError(Exception):
    """A server could not be installed or did not list its tools."""


def read_ledger() -> list[Server]:
    """All servers of the ledger, in its order."""
    rows = tomllib.loads(LEDGER.read_text(encoding="utf-8"))["servers"]
    return [Server(**row) for row in rows]


def read_hashes() -> dict[str, dict[str, str]]:
    """The inputHash of every tool, by server and tool name."""
    if not HASHES.exists():
        return {}
    hashes: dict[str, dict[str, str]] = json.loads(HASHES.read_text(encoding="utf-8"))
    return hashes


def hash_tools(document: Mapping[str, Any]) -> dict[str, str]:
    """The inputHash of every tool of a captured catalog, by name."""
    measured = measure(Catalog(server="", tools=read_tools(document["tools"])))
    return {subject.tool.name: subject.signals.input_hash for subject in measured.subjects}


def differences(found: Mapping[str, str], expected: Mapping[str, str]) -> Iterator[str]:
    """Yield what is not as the ledger says, one line for each tool."""
    for tool in sorted(found.keys() | expected.keys()):
        if tool not in found:
            yield f"tool {tool!r} is gone"
        elif tool not in expected:
            yield f"tool {tool!r} is new"
        elif found[tool] != expected[tool]:
            yield f"tool {tool!r} has changed"


def capture(server: Server, file: Path) -> None:
    """Installs the server into a throwaway folder and saves its catalog. Raises CaptureError."""
    with tempfile.TemporaryDirectory(prefix="corpus-", ignore_cleanup_errors=True) as scratch:
        folder = Path(scratch)
        for name in ("home", "work", "install"):
            (folder / name).mkdir()
        for path, text in server.files.items():
            (folder / "home" / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / "home" / path).write_text(text, encoding="utf-8")
        command = _install(server, folder / "install", home=folder / "home")
        draft = folder / "catalog.json"
        _run(
            [
                *(sys.executable, "-m", "tdqs_mcp", "capture", f"stdio:{shlex.join([*command, *server.args])}"),
                *("--cwd", str(folder / "work"), "--timeout", str(START_SECONDS), "--output", str(draft)),
                *(part for name, value in server.env.items() for part in ("--env", f"{name}={value}")),
            ],
            env=_environment(folder / "home", SERVER_VARIABLES),
            seconds=START_SECONDS + 30,
        )
        document = json.loads(draft.read_text(encoding="utf-8"))
    document |= {"server": server.name, "version": server.version, "source": server.source}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{json.dumps(document, ensure_ascii=False)}\n", encoding="utf-8")


def _install(server: Server, folder: Path, *, home: Path) -> list[str]:
    """Installs the package without running any of its code; the command that starts the server."""
    run = partial(_run, env=_environment(home, INSTALL_VARIABLES, INSTALL_PREFIXES), seconds=INSTALL_SECONDS)
    if server.registry == "npm":
        quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--loglevel=error")
        run(["npm", "install", "--prefix", str(folder), *quiet, f"{server.package}@{server.version}"])
        return ["node", str(_npm_program(server, folder))]
    run([f"python{server.python}", "-m", "venv", str(folder)])
    pip = (str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run([*pip, "--only-binary", ":all:", f"{server.package}=={server.version}", *server.requires])
    return [str(folder / "bin" / _pypi_program(server, folder))]


def _npm_program(server: Server, folder: Path) -> Path:
    package = folder / "node_modules" / server.package
    programs: str | dict[str, str] = json.loads((package / "package.json").read_text(encoding="utf-8")).get("bin", {})
    return package / (programs if isinstance(programs, str) else programs[_choose(server, programs)])


def _pypi_program(server: Server, folder: Path) -> str:
    normal = server.package.replace("-", "_").replace(".", "_").lower()
    for file in folder.glob("lib/python*/site-packages/*.dist-info/entry_points.txt"):
        if file.parent.name.lower().replace("-", "_").replace(".", "_").startswith(f"{normal}_{server.version[:1]}"):
            parser = configparser.ConfigParser(delimiters=("=",))
            parser.read_string(file.read_text(encoding="utf-8"))
            return _choose(server, dict(parser["console_scripts"]) if "console_scripts" in parser else {})
    raise CaptureError("the package has no program")


def _choose(server: Server, programs: Iterable[str]) -> str:
    names = list(programs)
    for name in (server.command, server.package.rpartition("/")[2]):
        if name in names:
            return name
    if len(names) == 1 and not server.command:
        return names[0]
    raise CaptureError(f"set `command` to one of the package's programs: {', '.join(names) or 'it has none'}")


def _environment(home: Path, names: Iterable[str], prefixes: tuple[str, ...] = ()) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in names or (prefixes and name.upper().startswith(prefixes))
    }
    return {**kept, "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "npm_config_cache": str(home / "npm")}


def _run(command: list[str], *, env: Mapping[str, str], seconds: float) -> None:
    try:
        done = subprocess.run(  # noqa: S603  # npm, pip and the server to capture
            command, env=dict(env), stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except FileNotFoundError:
        raise CaptureError(f"there is no {command[0]} on PATH") from None
    except subprocess.TimeoutExpired:
        raise CaptureError(f"{command[0]} took more than {seconds:g} s") from None
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip() or done.stdout.decode(errors="replace").strip()
        raise CaptureError(words[-600:])


def check(server: Server, folder: Path, hashes: Mapping[str, Mapping[str, str]]) -> Result:
    """Captures the server unless the folder has it, and compares it with the ledger."""
    file = folder / "catalogs" / f"{server.name}.json"
    try:
        if not file.exists():
            capture(server, file)
    except CaptureError as error:
        return Result(server=server, outcome="failed", details=[str(error)])
    found = hash_tools(json.loads(file.read_text(encoding="utf-8")))
    if server.name not in hashes:
        return Result(server=server, outcome="new", hashes=found)
    changed = list(differences(found, hashes[server.name]))
    return Result(server=server, outcome="differs" if changed else "matches", details=changed, hashes=found)


def main() -> int:
    """Fills the folder and prints what became of each server."""
    options = _options()
    hashes = read_hashes()
    servers = [
        server
        for server in read_ledger()
        if server.name in (options.names or [server.name]) and server.purpose in (options.purpose or server.purpose)
    ]
    counts: Counter[Outcome] = Counter()
    with ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(partial(check, folder=options.folder, hashes=hashes), servers):
            counts[result.outcome] += 1
            print(f"{result.outcome:8} {result.server.name} ({result.server.source}), {len(result.hashes)} tools")
            for line in result.details:
                print(f"         {line}", flush=True)
            if options.record and result.outcome == "new":
                _write_hashes({**read_hashes(), result.server.name: result.hashes})
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["differs"] or counts["failed"] else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="only these servers")
    parser.add_argument("--purpose", choices=("tune", "measure"), help="only servers of this purpose")
    parser.add_argument("--jobs", type=int, default=1, help="servers at a time")
    parser.add_argument("--record", action="store_true", help="write the hashes of servers that have none yet")
    return parser.parse_args()


def _write_hashes(hashes: Mapping[str, Mapping[str, str]]) -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(tools, ensure_ascii=False)}" for name, tools in sorted(hashes.items())]
    HASHES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
