"""The stdio transport behind a bounded reader: what cannot be parsed is answered, and said on stderr."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from io import BufferedReader
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from tdqs_mcp.report.escape import printable

TOO_LONG = "\0"
"""Stands for a line that was not kept; it is no JSON, so it is refused as every other one."""

SHOWN = 200
"""Characters of a reason."""


async def _read_lines(file: BufferedReader, limit: int) -> AsyncIterator[str]:
    """The lines of a file: blank ones left out, those of more than `limit` bytes skipped unread.

    Reads in a thread, which nothing waits for when the server ends.
    """
    read = partial(anyio.to_thread.run_sync, file.readline, limit + 1, abandon_on_cancel=True)
    while line := await read():
        is_whole = len(line) <= limit
        while not is_whole and not line.endswith(b"\n") and (line := await read()):
            pass
        text = line.decode(errors="replace") if is_whole else TOO_LONG
        if text.strip():
            yield text


def _take_stdin() -> BufferedReader:
    """The standard input for the protocol alone: what a call starts reads an end of file instead."""
    wire = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return wire


@asynccontextmanager
async def bounded_stdio(
    limit: int,
) -> AsyncIterator[tuple[MemoryObjectReceiveStream[SessionMessage | Exception], Any]]:
    """The streams of the standard input and output; messages longer than `limit` bytes are refused."""
    sender: MemoryObjectSendStream[SessionMessage | Exception]
    sender, receiver = anyio.create_memory_object_stream()
    lines: Any = _read_lines(_take_stdin(), limit)
    async with stdio_server(stdin=lines) as (read, write), anyio.create_task_group() as tasks:

        async def forward() -> None:
            async with sender:
                async for item in read:
                    if isinstance(item, SessionMessage):
                        await sender.send(item)
                    else:
                        await write.send(SessionMessage(message=_refusal(item, limit)))

        tasks.start_soon(forward)
        async with receiver:
            yield receiver, write
        tasks.cancel_scope.cancel()


def _refusal(error: Exception, limit: int) -> JSONRPCError:
    """The answer to a line that is no message of the protocol, which also goes to stderr."""
    known = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    inputs = [each["input"] for each in known]
    given = next((each for each in inputs if isinstance(each, dict)), inputs[0] if inputs else None)
    is_json = not any(each["type"] == "json_invalid" for each in known)
    if given == TOO_LONG:
        reason = f"the message is longer than {limit} bytes"
    elif is_json:
        reason = "the message is JSON, but no JSON-RPC 2.0 request, notification or response"
    else:
        reason = f"the message is no JSON: {known[0]['msg'].removeprefix('Invalid JSON: ')}"
    code = INVALID_REQUEST if is_json else PARSE_ERROR
    told = printable(reason)[:SHOWN]
    sys.stderr.write(f"tdqs-mcp: refused a line of the standard input with {code}: {told}\n")
    return JSONRPCError(jsonrpc="2.0", id=_id_in(given), error=ErrorData(code=code, message=told))


def _id_in(given: object) -> str | int | None:
    """The id of a request that is wrong elsewhere, so that its sender does not wait; None where there is none."""
    found = given.get("id") if isinstance(given, dict) else None
    return found if isinstance(found, str) or (isinstance(found, int) and not isinstance(found, bool)) else None
