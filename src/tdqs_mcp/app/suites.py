"""Runs the `tool_quality:` entries of a suite against the servers that it names."""

import os
from dataclasses import replace
from pathlib import Path

from tdqs_mcp.app.catalogs import load
from tdqs_mcp.app.judging import score_measured
from tdqs_mcp.errors import TdqsError
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.gate import suite
from tdqs_mcp.gate.targets import Evidence
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.results.checks import GateRow
from tdqs_mcp.sources.files import read_text
from tdqs_mcp.sources.locator import LiveOptions


async def run_suite(path: Path, options: LiveOptions | None = None) -> list[GateRow]:
    """A row for each entry of the suite in a YAML file.

    Every server is captured once; if that fails, its rows say why and the others are checked all the same. Raises
    InputError, which says line and key, for a file that is not a suite.
    """
    read = suite.parse(read_text(path), origin=repr(str(path)))
    servers = read.used_servers.items()
    found = {name: await _evidence(name, server, options or LiveOptions()) for name, server in servers}
    return [suite.check(entry, found[entry.server]) for entry in read.tool_quality]


async def _evidence(name: str, server: suite.Server, options: LiveOptions) -> Evidence | str:
    """The facts and score of a suite's server, or why it could not be captured."""
    try:
        locator, headers, env = server.locate(name, os.environ)
        chosen = replace(
            options, headers=headers, env=env, cwd=server.cwd or options.cwd, timeout=server.timeout or options.timeout
        )
        catalog = await load(locator, chosen)
    except TdqsError as error:
        return str(error)
    if catalog.incomplete:
        return f"the list of tools is incomplete: {catalog.incomplete}"
    measured = measure(catalog)
    return Evidence(measured=measured, score=await score_measured(measured, judge=Offline()))
