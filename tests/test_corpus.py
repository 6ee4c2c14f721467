"""The ledger of published servers, what is compared with it, and labels that are found again by inputHash."""

import json
import re
import sys

import published_error
import pytest
from capture_corpus import CaptureError, Server, capture, differences, hash_tools, read_hashes, read_ledger
from definitions import FINE, tool
from labels import Definitions, servers, tools

from tdqs_mcp.judges.offline import versions

NEWEST = versions()[0]
HASHES = {"get_order": "0123456789abcdef", "list_orders": "fedcba9876543210"}


def test_every_server_of_the_ledger_has_the_hashes_of_its_tools():
    servers, hashes = read_ledger(), read_hashes()
    assert len({server.name for server in servers}) == len(servers)
    assert len({server.source for server in servers}) == len(servers)
    assert hashes.keys() == {server.name for server in servers}
    for each in hashes.values():
        assert each
        assert [hash_ for hash_ in each.values() if not re.fullmatch("[0-9a-f]{16}", hash_)] == []


def test_what_was_labeled_never_measures():
    """A label is a look: its server is there for tuning."""
    labeled = {row["source"] for row in published_error.evidence(NEWEST)["tools"]}
    assert [server for server in read_ledger() if server.purpose == "measure" and server.source in labeled] == []


def test_the_ledger_has_every_labeled_definition_of_a_package():
    rows = [row for row in published_error.evidence(NEWEST)["tools"] if row["source"].startswith(("npm:", "pypi:"))]
    names = {server.source: server.name for server in read_ledger()}
    hashes = read_hashes()
    assert len(rows) > 800
    assert [row for row in rows if hashes[names[row["source"]]].get(row["tool"]) != row["inputHash"]] == []


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (HASHES, []),
        ({"get_order": HASHES["get_order"]}, ["tool 'list_orders' is gone"]),
        (HASHES | {"list_orders": "0" * 16}, ["tool 'list_orders' has changed"]),
        (HASHES | {"drop": "0" * 16}, ["tool 'drop' is new"]),
    ],
)
def test_what_no_longer_matches_is_named(found, expected):
    assert list(differences(found, HASHES)) == expected


def test_labels_are_found_by_hash_whatever_the_catalog_is_called(tmp_path):
    document = {"tools": [tool("list_orders", "Lists orders."), FINE]}
    (tmp_path / "catalogs").mkdir()
    (tmp_path / "catalogs" / "shop.json").write_text(json.dumps(document), encoding="utf-8")
    row = {"source": "npm:shop@1", "server": "store", "tool": "list_orders", "labels": [3, 2, 1, 4, 5, 3]}
    row["inputHash"] = hash_tools(document)["list_orders"]
    evidence = {"tools": [row], "servers": [{"server": "shop", "labels": [5, 4, 3, 2]}]}
    definitions = Definitions([tmp_path])
    [labeled] = tools(definitions, evidence)
    assert (labeled.labels, labeled.group, labeled.facts.tool.name) == ((3, 2, 1, 4, 5, 3), "store", "list_orders")
    assert [each.labels for each in servers(definitions, evidence)] == [(5, 4, 3, 2)]


@pytest.mark.process
def test_a_package_that_cannot_be_installed_is_a_reason_and_no_file(tmp_path, monkeypatch):
    """pip sees no index here, so nothing leaves this machine."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    server = Server(
        name="none", registry="pypi", package="no-such-server", version="1", purpose="tune", round=1,
        looked_at=None, python=f"{sys.version_info[0]}.{sys.version_info[1]}",
    )  # fmt: skip
    with pytest.raises(CaptureError, match="No matching distribution"):
        capture(server, tmp_path / "none.json")
    assert not (tmp_path / "none.json").exists()
