"""Serving the tools of a live server with other descriptions."""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from tdqs_mcp.errors import InputError
from tdqs_mcp.router.call_log import CallLog
from tdqs_mcp.router.frames import Peer, Server
from tdqs_mcp.router.relay import Relay, relay_frames
from tdqs_mcp.router.variants import Variants, Wordings, read_components, read_variants
from tdqs_mcp.sources import clients
from tdqs_mcp.sources.files import read_text
from tdqs_mcp.sources.input_files import parse_text
from tdqs_mcp.sources.locator import Config, LiveOptions, Stdio, Url, parse_locator


@dataclass(frozen=True, slots=True, kw_only=True)
class Router:
    """What serves any number of clients, each through a connection to the server of its own."""

    locator: Stdio | Url
    options: LiveOptions
    wordings: Wordings
    log: Callable[[Mapping[str, Any]], None]
    """Gets which variants were served."""

    log_call: Callable[[Mapping[str, Any]], None] | None = None

    def open(self) -> Relay:
        """What a new connection has to remember."""
        session = uuid4().hex[:8]
        calls = CallLog(_stamped(self.log_call, session)) if self.log_call else None
        return Relay(self.wordings, log=_stamped(self.log, session), calls=calls)

    async def serve(self, client: Peer, relay: Relay | None = None) -> None:
        """Serves one client until it leaves. Raises CaptureError when the server fails it."""
        await relay_frames(relay or self.open(), client, Server(locator=self.locator, options=self.options))


def make_router(
    locator: str,
    options: LiveOptions,
    *,
    wordings: Wordings,
    log: Callable[[Mapping[str, Any]], None],
    log_call: Callable[[Mapping[str, Any]], None] | None = None,
) -> Router:
    """A router to the live server that a locator names. Raises InputError."""
    parsed = parse_locator(locator)
    if isinstance(parsed, Config):
        found = clients.find_server(parsed.name, home=Path.home(), cwd=Path.cwd(), environ=os.environ)
        headers, env = {**found.headers, **options.headers}, {**found.env, **options.env}
        parsed, options = found.locator, replace(options, headers=headers, env=env, cwd=options.cwd or found.cwd)
    if not isinstance(parsed, Stdio | Url):
        raise InputError("route needs a server that runs: give a URL, stdio:COMMAND, config:NAME, or last -- COMMAND")
    return Router(locator=parsed, options=options, wordings=wordings, log=log, log_call=log_call)


def file_wordings(path: Path, *, components: str | None, tell: Callable[[str], None]) -> Wordings:
    """The variants in a file, which is read again when it changes. Raises InputError."""
    wanted = read_components(components) if components else ()

    def read() -> Variants:
        origin = repr(str(path))
        return read_variants(parse_text(read_text(path), origin=origin), origin=origin, components=wanted)

    def stamp() -> object:
        with suppress(OSError):
            state = path.stat()
            return (state.st_mtime_ns, state.st_size, state.st_ino)
        return None

    return Wordings(read, stamp, tell=tell)


def line_writer(path: Path, *, tell: Callable[[str], None]) -> Callable[[Mapping[str, Any]], None]:
    """What appends lines of JSON to a file, and tells of each that could not be written. Raises InputError."""
    try:
        stream = path.open("a", encoding="utf-8", buffering=1)
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror}") from error

    def write(line: Mapping[str, Any]) -> None:
        try:
            print(json.dumps(line), file=stream)
        except OSError as error:
            tell(f"a line of {str(path)!r} is lost: {error.strerror}")

    return write


def _stamped(write: Callable[[Mapping[str, Any]], None], session: str) -> Callable[[Mapping[str, Any]], None]:
    """Lines with their time and the connection that they are about."""
    return lambda line: write(
        {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "session": session, **line}
    )
