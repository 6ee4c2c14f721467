"""Patches of rewrites: they apply, the server then says what the rewrite says, and nothing else has changed."""

import ast
import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from definitions import tool
from hypothesis import given
from hypothesis import strategies as st

import tdqs_mcp
from tdqs_mcp import app
from tdqs_mcp.errors import InputError
from tdqs_mcp.model.results import Change, Rewrite
from tdqs_mcp.pipeline.rewrite import apply
from tdqs_mcp.sources.load import read_file

MCP_SERVER = '''\
#!/usr/bin/env python
"""A shop."""

from __future__ import annotations

import functools
from typing import Annotated, Literal

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from pydantic import Field

server = MCPServer("shop")
LONG = """Finds orders.

Slowly."""


def reported(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapper


@server.tool()
def list_orders(customer: str, limit: Annotated[int, Field(ge=1)] = 10, text: str = Field("x", description="Text.")) -> str:
    """List orders.

    Args:
        customer: a customer
    """
    return customer


@server.tool(
    name="get_order",
    title="Order",
    description="Get order.",  # short
    annotations=ToolAnnotations(read_only_hint=True),
)
@reported
async def order(number: Annotated[int, "The number"], kind: Annotated[Literal["a", "b"], Field(description='Kind "a"')] = "a") -> str:
    return "…"


@server.tool(description=LONG)
def find_orders(
    query: Annotated[
        str,
        Field(
            min_length=1,  # never empty
        ),
    ],
    flags: list[str] | None = None,
) -> str:
    return query


@server.tool()
def undescribed(a: int) -> int:
    # adds one
    return a + 1


class Desk:
    def close(self, hour: int) -> str:
        'Close the desk.'
        return "closed"


def plain(value: str) -> str:
    r"""Match \\d+ in a value."""
    return value


server.add_tool(plain, name="match")
server.add_tool(Desk().close, name="close_desk")
'''

LOW_LEVEL = '''\
from enum import Enum

from mcp import types
from mcp.server import Server
from pydantic import BaseModel, Field


class Names(str, Enum):
    PUT = "put_item"


class Item(BaseModel):
    key: str = Field(description="Key")
    value: int = 3


async def listed(ctx, params) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(
                name=Names.PUT,
                description=(
                    "Put an "
                    "item."
                ),
                input_schema=Item.model_json_schema(),
            ),
            types.Tool(name="drop_item", description="Drop.", annotations=types.ToolAnnotations(), input_schema={
                "type": "object",
                "properties": {"key": {"type": "string"}, "mode": {"type": "string", "description": "Mode"}},
            }),
        ]
    )


server = Server("items", on_list_tools=listed)
'''

NASTY = 'Say "x", \'y\', """z""" and \'\'\'w\'\'\' for C:\\new\\table — naïve ✓ "'


def rewrites(catalog, wanted):
    """Rewrites of a catalog from new values by tool and path."""
    made = []
    for each in catalog.tools:
        definition, changes = json.loads(json.dumps(each.raw)), []
        for path, after in wanted.get(each.name, {}).items():
            *parents, key = path.split("/")[1:]
            place = definition
            for parent in parents:
                place = place[parent]
            changes.append(Change(path=path, before=place.get(key), after=after, sources=("given",)))
            place[key] = after
        made.append(
            Rewrite(
                index=each.index, name=each.name, definition=definition, changes=tuple(changes), questions=(),
                before=None, after=None, tokens_before=0, tokens_after=0, findings_removed=(), findings_added=(),
            )
        )  # fmt: skip
    return made


def applied(patch, folder):
    """Both programs that people have take the patch as it is; the files are as the first one leaves them."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    results = []
    for command in (["patch", "-p1", "--fuzz=0", "--binary"], ["git", "apply", "--verbose", "-"]):
        for path, content in before.items():
            path.write_bytes(content)
        run = subprocess.run(command, input=patch.diff, cwd=folder, capture_output=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr
        assert b"offset" not in run.stdout + run.stderr
        results.append({path: path.read_bytes() for path in before})
    assert results[0] == results[1]


def captured(module, folder):
    """What the server says, asked in a process of its own."""
    command = [sys.executable, "-m", "tdqs_mcp", "capture", f"py:{module}:server", "--cwd", folder, "-o", folder / "c.json"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    catalog = read_file(folder / "c.json")
    (folder / "c.json").unlink()
    return catalog


def left(patch):
    return [(each.tool, each.path, each.reason) for each in patch.left_out]


def cleaned(definition):
    """Without the margin that a docstring has in its source, which the SDK sends along."""
    return {**definition, "description": inspect.cleandoc(definition["description"])}


def schema(name, key="description"):
    return f"/inputSchema/properties/{name}/{key}"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_patched_server_says_what_the_rewrite_says(tmp_path, newline):
    (tmp_path / "shop.py").write_bytes(MCP_SERVER.replace("\n", newline).encode())
    catalog = captured("shop", tmp_path)
    described = {each.name: each.description for each in catalog.tools}
    wanted = {
        "list_orders": {
            "/description": described["list_orders"].strip() + "\n\n    " + NASTY,
            schema("customer"): NASTY,
            schema("limit"): "At most this many.",
            schema("text"): "Text to find.",
        },
        "get_order": {
            "/title": "One order",
            "/description": NASTY,
            "/annotations": {"readOnlyHint": False, "openWorldHint": False},
            schema("number"): "Number of the order.",  # beside a bare text, which the SDK gives no meaning
            schema("kind"): 'Kind "b".',
        },
        "find_orders": {
            "/description": "Finds orders.\n\nFast.",
            schema("query"): "What to find.",
            schema("flags"): "Flags.",
        },
        "undescribed": {"/description": f"Adds one.\n\n{NASTY}", schema("a"): "A number."},
        "match": {"/description": r"Match \d+ or \w in a value.", schema("value"): "A value."},
        "close_desk": {"/description": "Close the desk.\n        Today.", schema("hour"): "Hour of the day."},
    }
    made = rewrites(catalog, wanted)
    patch, root = app.patch_sources(tmp_path, made)
    assert (left(patch), patch.problems, root) == ([], (), tmp_path)
    applied(patch, tmp_path)
    now = captured("shop", tmp_path)
    for rewrite, each in zip(made, now.tools, strict=True):
        assert cleaned(each.raw) == cleaned(rewrite.definition)
    text = (tmp_path / "shop.py").read_bytes().decode()
    assert text.count(newline) == text.count("\n")
    assert f"    {newline}" not in text
    assert 'description="Get order."' not in text
    assert "# short" in text
    assert "# never empty" in text
    assert 'r"""Match \\\\d+ or \\\\w' in text or 'r"""Match \\d+' in text


def test_a_patched_low_level_server_says_what_the_rewrite_says(tmp_path):
    (tmp_path / "items.py").write_text(LOW_LEVEL)
    catalog = captured("items", tmp_path)
    wanted = {
        "put_item": {"/description": NASTY, schema("key"): "Key of the item.", schema("value"): "Its value."},
        "drop_item": {
            "/description": "Drop an item.\nFor ever.",
            "/annotations": {"destructiveHint": True},
            schema("key"): NASTY,
            schema("mode"): "How to drop it.",
            schema("mode", "enum"): ["soft", "hard"],
        },
    }
    made = rewrites(catalog, wanted)
    patch, _ = app.patch_sources(tmp_path / "items.py", made)
    assert left(patch) == []
    applied(patch, tmp_path)
    now = captured("items", tmp_path)
    assert [each.raw for each in now.tools] == [each.definition for each in made]
