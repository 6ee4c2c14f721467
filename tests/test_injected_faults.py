"""Faults injected into servers of our own, and into the packages of TDQS_PACKAGES, and how many lane 8 finds."""

import os
from collections import Counter
from pathlib import Path

import pytest
from conftest import CI_CANNOT_RUN
from injected_faults import DEPTHS, inject, measure

PYTHON_HEAD = """\
from mcp.server import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("harbor")
"""
PYTHON_TOOL = """
@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def read_{number}(berth: str, day: str = "today") -> str:
    \"\"\"Read a berth.\"\"\"
    return describe(berth, day)

"""
PYTHON_END = """
def describe(berth, day):
    return f"{berth} on {day}"


@server.tool(annotations=ToolAnnotations(readOnlyHint=False, destructiveHint=True))
def close_berth(berth: str) -> str:
    import os
    os.remove(berth)
    return "closed"


@server.tool(annotations=ToolAnnotations(readOnlyHint=False, destructiveHint=True))
def clear_berth(berth: str) -> str:
    import shutil
    shutil.rmtree(berth)
    return "cleared"
"""
SCRIPT_HEAD = """\
import { unlink } from "node:fs/promises";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

const server = new McpServer({ name: "harbor", version: "1.0.0" });
"""
SCRIPT_TOOL = """
server.registerTool(
  "read_{number}",
  {{
    description: "Read a berth.",
    inputSchema: {{
      berth: z.string(),
    }},
    annotations: {{ readOnlyHint: true }},
  }},
  async ({{ berth }}) => {{
    return {{ content: [{{ type: "text", text: berth }}] }};
  }},
);
"""
SCRIPT_END = """
server.registerTool(
  "close_berth",
  { description: "Close.", inputSchema: { berth: z.string() }, annotations: { readOnlyHint: false, destructiveHint: true } },
  async ({ berth }) => {
    await unlink(berth);
    return { content: [{ type: "text", text: "closed" }] };
  },
);
"""
SERVERS = {
    "server.py": (PYTHON_HEAD, PYTHON_TOOL, PYTHON_END),
    "server.ts": (SCRIPT_HEAD, SCRIPT_TOOL, SCRIPT_END),
    "server.js": (SCRIPT_HEAD, SCRIPT_TOOL, SCRIPT_END),
}


@pytest.fixture(params=SERVERS)
def server(request, tmp_path):
    """The folder of a server with 14 or 15 tools."""
    head, tool, end = SERVERS[request.param]
    folder = tmp_path / "harbor"
    folder.mkdir()
    tools = "".join(tool.format(number=number) for number in range(13))
    (folder / request.param).write_text(head + tools + end)
    return folder


def test_every_fault_in_a_server_of_our_own_is_found_and_at_its_line(server, tmp_path):
    outcomes = measure(server, tmp_path / "copy")
    counts = Counter(outcome.fault.kind for outcome in outcomes)
    assert {kind: counts[kind] for kind in counts if kind.startswith("write")} == {
        f"write of an argument, depth {depth}": 2 for depth in DEPTHS
    }
    assert counts["unused parameter"] == 2
    assert counts["readOnlyHint turned round"] + counts["destructiveHint turned round"] >= 1
    assert [outcome.fault for outcome in outcomes if not (outcome.is_found and outcome.is_placed)] == []


def test_without_its_faults_the_same_server_is_clean(server, tmp_path, monkeypatch):
    monkeypatch.setattr("injected_faults.Edits.apply", lambda edits: None)
    monkeypatch.setattr("injected_faults._python_parameter", lambda edits, tool: True)
    outcomes = [outcome for outcome in measure(server, tmp_path / "copy") if "turned round" not in outcome.fault.kind]
    assert len(outcomes) == 10
    assert [outcome.fault for outcome in outcomes if outcome.is_found] == []


def test_the_same_package_gets_the_same_faults(server, tmp_path):
    assert inject(server, tmp_path / "one") == inject(server, tmp_path / "two")


def test_most_faults_in_published_packages_are_found(tmp_path):
    packages = os.environ.get("TDQS_PACKAGES")
    if not packages:
        pytest.skip(f"{CI_CANNOT_RUN}: TDQS_PACKAGES names a folder of unpacked packages, which are other people's")
    outcomes = [
        outcome
        for folder in sorted(path for path in Path(packages).iterdir() if path.is_dir())
        for outcome in measure(folder, tmp_path / folder.name)
    ]
    assert len(outcomes) >= 50
    assert sum(outcome.is_found for outcome in outcomes) / len(outcomes) >= 0.85
