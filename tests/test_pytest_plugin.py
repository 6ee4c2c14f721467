"""The pytest plugin in a sample project, run as its author runs it."""

import json
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[1]
IS_INSTALLED = any(each.name == "tdqs-mcp" for each in entry_points(group="pytest11"))

SHOP = '''
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from pydantic import Field

good = MCPServer("good shop")
bad = MCPServer("bad shop")
READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


@good.tool(annotations=READS)
def find_orders(customer: Annotated[str, Field(description="Customer ID such as C-1042.")]) -> list[str]:
    """Finds the open orders of one customer, newest first. Use it when you know the customer; to look one up, use
    find_customer instead. Returns at most 50 orders; an unknown customer gives an empty list."""


@good.tool(annotations=READS)
def find_customer(text: Annotated[str, Field(description="Part of a name or e-mail address.")]) -> list[str]:
    """Finds customers by name or e-mail address. Use it when the customer's ID is unknown; with the ID, use
    find_orders instead. Returns at most 20 customers; no match gives an empty list."""


@bad.tool()
def process(data: str, mode: str) -> str:
    """Process"""
'''


@pytest.fixture
def project(pytester):
    """A project with a module `shop` and the tests that are given."""

    def run(tests, *arguments):
        pytester.makepyfile(shop=SHOP, test_shop=tests)
        load = [] if IS_INSTALLED else ["-p", "tdqs_mcp.pytest_plugin"]
        return pytester.runpytest_subprocess(*load, "-p", "no:cacheprovider", *arguments)

    return run


def test_a_server_object_passes_in_a_plain_test_and_in_an_event_loop(project):
    done = project(
        """
        import anyio, pytest
        from shop import good
        from tdqs_mcp.pytest_plugin import assert_tool_quality

        def test_plain():
            assert assert_tool_quality(good, min_tier="A", min_tool_tier="B", max_tokens=1000).server == "good shop"

        @pytest.mark.anyio
        @pytest.mark.parametrize("anyio_backend", ["asyncio"])
        async def test_in_a_loop(anyio_backend):
            assert_tool_quality(good)
            await anyio.sleep(0)

        def test_what_makes_a_server():
            assert_tool_quality(lambda: good)
        """
    )
    done.assert_outcomes(passed=3)


def test_the_fixture_scores_for_assertions_of_ones_own(project):
    done = project(
        """
        from shop import bad, good

        def test_numbers(tool_quality):
            assert [tool.tier for tool in tool_quality(bad).tools] == ["D"]
            assert tool_quality(good).rollup.overall >= 35

        def test_definitions(tool_quality):
            assert tool_quality([{"name": "process"}]).findings
        """
    )
    done.assert_outcomes(passed=2)


def test_a_failure_names_the_tools_the_findings_and_what_to_do(project):
    done = project(
        """
        from shop import bad
        from tdqs_mcp.pytest_plugin import assert_tool_quality

        def test_bad():
            assert_tool_quality(bad, "B", min_tool_tier="C", fail_on="error", max_tokens=10)
        """
    )
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "E *AssertionError: bad shop: does not reach B; 1 of 1 tools are below C; * at error or worse: *TDQ101*; the definitions cost about * tokens, more than 10",
            "E *TDQS 1.2 by offline, calibration *",
            "E *process 1.* D",
            "E *error TDQ101 the description only restates the name 'process'",
            "E *-> say verb, resource and scope in one sentence*",
        ]
    )
    assert "_below(score" not in done.stdout.str()


def test_paths_locators_and_catalogs_are_taken_as_well(project, pytester):
    pytester.makefile(".json", tools=json.dumps([{"name": "process", "description": "Process"}]))
    done = project(
        """
        from pathlib import Path
        import pytest, tdqs_mcp
        from tdqs_mcp.errors import CaptureError, InputError
        from tdqs_mcp.pytest_plugin import assert_tool_quality

        @pytest.mark.parametrize("server", ["tools.json", Path("tools.json"), "py:shop:bad"])
        def test_bad(server):
            with pytest.raises(AssertionError, match="does not reach B"):
                assert_tool_quality(server)

        def test_catalog():
            assert assert_tool_quality(tdqs_mcp.load("tools.json"), None).tools[0].name == "process"

        def test_no_server():
            with pytest.raises(InputError, match="the object is 'int'"):
                assert_tool_quality(7)
            with pytest.raises(InputError, match="none.json"):
                assert_tool_quality("none.json")
            with pytest.raises(CaptureError):
                assert_tool_quality("stdio:no-such-program-here")
        """
    )
    done.assert_outcomes(passed=5)


def test_what_is_ungraded_fails_only_where_it_could_change_the_verdict(project):
    done = project(
        """
        import pytest
        from tdqs_mcp.pytest_plugin import assert_tool_quality

        POOR, NAMELESS = {"name": "process", "description": "Process"}, {"description": "Without a name."}

        def test_open():
            with pytest.raises(AssertionError, match="leaves open whether it is D"):
                assert_tool_quality([NAMELESS], "D")

        def test_decided():
            with pytest.raises(AssertionError, match="does not reach B"):
                assert_tool_quality([POOR, NAMELESS])

        def test_every_tool():
            with pytest.raises(AssertionError, match="1 tools are ungraded"):
                assert_tool_quality([POOR, NAMELESS], None, min_tool_tier="D")
        """
    )
    done.assert_outcomes(passed=3)


def test_loading_the_plugin_imports_nothing_of_ours_and_nothing_slow():
    code = (
        "import sys, pytest; before = set(sys.modules); import tdqs_mcp.pytest_plugin; "
        "print(*sorted(name for name in set(sys.modules) - before if not name.startswith('_')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["tdqs_mcp", "tdqs_mcp.pytest_plugin"]


def test_installing_the_package_makes_pytest_load_the_plugin():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"tdqs-mcp": "tdqs_mcp.pytest_plugin"}


def test_a_fastmcp_object_is_taken_as_it_is(project):
    pytest.importorskip("fastmcp", reason="fastmcp is not installed")
    done = project(
        """
        from fastmcp import FastMCP
        from tdqs_mcp.pytest_plugin import assert_tool_quality

        server = FastMCP("fast")

        @server.tool
        def process(data: str) -> str:
            "Process"

        def test_fast():
            assert [tool.name for tool in assert_tool_quality(server, None).tools] == ["process"]
        """
    )
    done.assert_outcomes(passed=1)


HARBOUR = """
from pathlib import Path
from fastmcp import FastMCP

server = FastMCP("harbour")


@server.tool(annotations={"readOnlyHint": True})
def read_berth(berth: str) -> str:
    \"Read the note of a berth.\"
    Path(f"/srv/{berth}.txt").write_text("x")
    return "x"
"""


def test_fail_on_fails_what_lint_fails_also_what_the_code_disproves_and_nothing_milder(project, pytester):
    pytester.makepyfile(harbour=HARBOUR)
    user = {"type": "object", "properties": {"user": {"type": "string", "description": "Number of the user."}}}
    reads = {"readOnlyHint": True, "openWorldHint": False}
    texts = {"get_user": "Gets the record of one user.", "list_orders": "Lists the dates of all orders of one user."}
    usage = [
        {"name": name, "description": text, "inputSchema": user, "annotations": reads} for name, text in texts.items()
    ]
    pytester.makefile(".json", usage=json.dumps(usage))
    done = project(
        """
        import pytest
        from tdqs_mcp.pytest_plugin import assert_tool_quality

        def test_code():
            assert_tool_quality("harbour.py", None)
            with pytest.raises(AssertionError, match="1 findings at error or worse: TDQ801"):
                assert_tool_quality("harbour.py", None, fail_on="error")

        def test_advice_of_a_score():
            assert_tool_quality("usage.json", None, fail_on="warning")
        """
    )
    done.assert_outcomes(passed=2)
