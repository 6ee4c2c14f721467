"""A server object of this process as a transport: imported as `python -m` would, spoken to over streams in memory."""

import importlib
import logging
import os
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, redirect_stdout
from functools import reduce
from pathlib import Path
from typing import Any

from mcp.client._memory import (
    InMemoryTransport,
)  # the transport of Client(server, mode="legacy"); public only inside it
from mcp.server import Server
from mcp.server.mcpserver import MCPServer

from tdqs_mcp.errors import InputError
from tdqs_mcp.sources.locator import InProcess


@contextmanager
def workplace(*, cwd: str | None, env: Mapping[str, str]) -> Generator[None]:
    """The import path and environment that the module expects; both as before on leaving."""
    folder = str(Path(cwd or ".").resolve())
    before = {name: os.environ.get(name) for name in env}
    sys.path.insert(0, folder)
    os.environ.update(env)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def load(locator: InProcess) -> InMemoryTransport:
    """Imports the module and gives a transport to its server; what the module prints goes to stderr.

    The attribute is an MCPServer, a low-level Server, a FastMCP or a function without parameters that makes one. Raises
    InputError when the import fails or the attribute is none of them.
    """
    spelled = f"py:{locator.module}:{locator.attribute}"
    with redirect_stdout(sys.stderr), _kept_logging():
        return transport(_import(locator, spelled), spelled)


def transport(found: object, spelled: str) -> InMemoryTransport:
    """A transport to a server object, or to the one that a function without parameters makes. Raises InputError."""
    server = _server(found)
    if server is None and callable(found):
        server = _server(_call(found, spelled))
    if server is None:
        kind = type(found).__name__
        raise InputError(f"{spelled} is {kind!r}; name an MCPServer, Server or FastMCP, or a function that makes one")
    return InMemoryTransport(server)


@contextmanager
def _kept_logging() -> Generator[None]:
    """An MCPServer configures the root logger when it is made; ours stays as it was."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def _import(locator: InProcess, spelled: str) -> Any:  # noqa: ANN401  # whatever the module holds
    try:
        module = importlib.import_module(locator.module)
    except (Exception, SystemExit) as error:  # a foreign module may raise anything
        what = f"{type(error).__name__}: {error}"
        raise InputError(f"{spelled} cannot be imported ({what}); check the name, --cwd and what it needs") from error
    try:
        return reduce(getattr, locator.attribute.split("."), module)
    except AttributeError as error:
        names = [name for name, value in vars(module).items() if _server(value) is not None]
        hint = f"; it has {', '.join(map(repr, names))}" if names else ""
        raise InputError(f"module {locator.module!r} has no attribute {locator.attribute!r}{hint}") from error


def _call(factory: Any, spelled: str) -> Any:  # noqa: ANN401
    try:
        return factory()
    except (Exception, SystemExit) as error:  # a foreign function may raise anything
        raise InputError(
            f"{spelled}() failed ({type(error).__name__}: {error}); it must work without arguments"
        ) from error


def _server(found: object) -> Server[Any] | MCPServer | None:
    """The server itself, or the SDK's server inside a FastMCP 4."""
    if isinstance(found, MCPServer | Server):
        return found
    inner = getattr(found, "_mcp_server", None)
    return inner if isinstance(inner, Server) else None
