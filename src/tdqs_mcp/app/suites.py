"""Servers held to what a suite asks of them."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tdqs_mcp.app.reading import load
from tdqs_mcp.app.scoring import DEFAULT_SPEC, all_cases, scored
from tdqs_mcp.errors import InputError, TdqsError
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.results.gate import GateRow
from tdqs_mcp.sources.live import LiveOptions

if TYPE_CHECKING:
    from tdqs_mcp.gate.suite import Server, Suite
    from tdqs_mcp.gate.targets import Evidence


def read_suite(path: Path) -> "Suite":
    """The suite in a YAML file. Raises InputError, which says line and key."""
    from tdqs_mcp.gate import suite  # noqa: PLC0415  # YAML and validation: imports that lint and score never need

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise InputError(f"{str(path)!r} cannot be read: {reason}") from error
    return suite.parse(text, origin=repr(str(path)))


async def run_suite(suite: "Suite", options: LiveOptions | None = None) -> list[GateRow]:
    """A row for each entry of the suite; every server is captured once, and one that cannot be stops no other."""
    from tdqs_mcp.gate.suite import check  # noqa: PLC0415

    found = {server.name: await _evidence(server, options or LiveOptions()) for server in suite.servers}
    return [check(entry, found[entry.server]) for entry in suite.entries]


async def _evidence(server: "Server", options: LiveOptions) -> "Evidence | str":
    """What a suite's server is held to, or why it could not be captured."""
    from tdqs_mcp.gate.suite import locate  # noqa: PLC0415
    from tdqs_mcp.gate.targets import Evidence  # noqa: PLC0415

    try:
        locator, headers, env = locate(server, os.environ)
        chosen = replace(
            options, headers=headers, env=env, cwd=server.cwd or options.cwd, timeout=server.timeout or options.timeout
        )
        catalog = await load(locator, chosen)
    except TdqsError as error:
        return str(error)
    measured, judge = measure(catalog), Offline()
    score = scored(measured, judge.verdicts(all_cases(measured)), stamp=judge.stamp, spec=DEFAULT_SPEC)
    return Evidence(measured=measured, score=score)
