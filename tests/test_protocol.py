"""What a server announces under revision 2026-07-28 arrives over a real connection, and the rules about it look there."""

import json
import os
import sys

import announcing_server
import pytest

from tdqs_mcp.app import linting
from tdqs_mcp.app.catalogs import capture_document, list_again, load
from tdqs_mcp.rewriting.catalog_diff import listing_change
from tdqs_mcp.rules import registry
from tdqs_mcp.sources.files import read_catalog
from tdqs_mcp.sources.locator import LiveOptions

pytestmark = [pytest.mark.anyio, pytest.mark.process]

SERVERS = os.environ.get("TDQS_TEST_SERVERS")


def announcing(habit, marker=""):
    return f"stdio:{sys.executable} {announcing_server.__file__} {habit} {marker}".strip()


def found(catalog):
    policy = linting.Policy(selection=registry.select(names=["TDQ26", "TDQ220"]))
    return {(finding.rule, finding.subject.path) for finding in linting.lint(catalog, policy).findings}


async def test_the_caching_hints_of_each_list_are_kept_and_read_back():
    catalog = await load(announcing("well"))
    assert catalog.protocol_version == "2026-07-28"
    assert catalog.caching["tools/list"] == {"ttlMs": 300_000, "cacheScope": "public"}
    assert catalog.caching["server/discover"] == {"ttlMs": 0, "cacheScope": "private"}
    assert read_catalog(capture_document(catalog), name="x").caching == catalog.caching


def test_a_list_of_tools_keeps_its_own_hints():
    page = {"tools": [], "ttlMs": 5, "cacheScope": "private"}
    assert read_catalog(page, name="x").caching == {"tools/list": {"ttlMs": 5, "cacheScope": "private"}}
    assert read_catalog({"tools": []}, name="x").caching is None


async def test_what_is_announced_well_is_not_reported():
    assert found(await load(announcing("well"))) == set()


async def test_what_is_announced_badly_is_reported_where_it_stands():
    assert found(await load(announcing("badly"))) == {
        ("TDQ260", "/inputSchema/properties/harbor/x-mcp-header"),
        ("TDQ262", "/icons/0/src"),
        ("TDQ263", "/_meta/_harbor"),
        ("TDQ264", "/_meta/ui/resourceUri"),
        ("TDQ220", "/inputSchema/properties/harbor/$schema"),
    }


@pytest.mark.parametrize(
    ("part", "place"),
    [
        ({"icons": 1}, "/icons"),
        ({"icons": ["x.png"]}, "/icons/0"),
        ({"icons": [{"src": 1}]}, "/icons/0/src"),
        ({"icons": [{"src": "data:,", "mimeType": 1}]}, "/icons/0/mimeType"),
        ({"icons": [{"src": "data:,", "sizes": "48x48"}]}, "/icons/0/sizes"),
        ({"icons": [{"src": "data:,", "theme": "blue"}]}, "/icons/0/theme"),
        ({"_meta": 1}, "/_meta"),
        ({"execution": 1}, "/execution"),
    ],
)
def test_a_part_of_another_type_than_mcp_s_is_an_error_where_it_stands(command, write, part, place):
    definition = {"name": "list_ships", "description": "Lists all ships.", "inputSchema": {"type": "object"}, **part}
    run = command("lint", write("tools.json", [definition]), "--format", "json")
    errors = [each for each in json.loads(run.stdout)["findings"] if each["severity"] == "error"]
    assert (run.returncode, [each["path"] for each in errors]) == (1, [place])


@pytest.mark.skipif(not SERVERS, reason="TDQS_TEST_SERVERS is unset: run tests/real_servers.sh DIR and set it to DIR")
@pytest.mark.parametrize("name", ["time", "git", "fetch"])
async def test_a_server_of_an_older_revision_needs_no_hints(name):
    catalog = await load(f"stdio:{SERVERS}/mcp-server-{name}/bin/mcp-server-{name}", LiveOptions(timeout=120))
    assert found(catalog) == set()


# Order


async def listed_twice(locator):
    """The catalog, and how a second listing differs from it."""
    first, second = await load(locator), await list_again(locator)
    return first, second and listing_change(first, second)


async def test_a_second_listing_in_another_order_is_told(tmp_path):
    catalog, change = await listed_twice(announcing("reversed", tmp_path / "marker"))
    assert [tool.name for tool in catalog.tools] == ["find_berths", "wind", "tides"]
    assert "'tides' is number 1 now, 'find_berths' was" in change


async def test_a_second_listing_with_other_tools_is_told(tmp_path):
    _, change = await listed_twice(announcing("fewer", tmp_path / "marker"))
    assert "different tools, among them 'tides'" in change


async def test_equal_listings_and_files_have_nothing_to_tell(tmp_path):
    file = tmp_path / "tools.json"
    file.write_text('{"tools": []}')
    assert (await listed_twice(announcing("well")))[1] is None
    assert (await listed_twice(str(file)))[1] is None
