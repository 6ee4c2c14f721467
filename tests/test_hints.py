"""The rules about hints on 200 real tools, whose hints are replaced by wrong ones and by right ones."""

import json
import tomllib
from pathlib import Path

import pytest

from tdqs_mcp.app import catalogs, linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.rules import registry

PLANTED = {
    "TDQ107": {},
    "TDQ228": {"readOnlyHint": True},
    "TDQ240": {"destructiveHint": False},
    "TDQ241": {"idempotentHint": True, "readOnlyHint": False},
}
CASES = tomllib.loads(Path(__file__).with_name("hints.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("rule", PLANTED)
@pytest.mark.parametrize("verdict", ["right", "wrong"])
def test_a_rule_about_hints_tells_right_findings_from_wrong_ones(shared, rule, verdict):
    """25 of each; TDQ112 is part of TDQ228."""
    cases = CASES[rule][verdict]
    assert sum(len(names.split()) for names in cases.values()) == 25
    reported = {server: _reported(shared, server, names.split(), rule) for server, names in cases.items()}
    assert reported == {server: set(names.split()) if verdict == "right" else set() for server, names in cases.items()}


def test_what_a_get_reads_is_no_addition():
    """`get_post`: the post is a thing."""
    tool = {"inputSchema": {"type": "object"}}
    policy = Policy(selection=registry.select(names=["TDQ241"]))
    for name, text, count in (("get_post", "Get a post by its number.", 0), ("create_post", "Create a post.", 1)):
        catalog = catalogs.read([{**tool, "name": name, "description": text, "annotations": PLANTED["TDQ241"]}])
        assert len(linting.lint(catalog, policy).findings) == count


def _reported(folder, server, names, rule):
    content = json.loads((folder / "data" / "catalogs" / f"{server}.json").read_bytes())
    tools = [{**tool, "annotations": PLANTED[rule]} for tool in content["tools"]]
    policy = Policy(selection=registry.select(names=[rule]))
    findings = linting.lint(catalogs.read({**content, "tools": tools}), policy).findings
    return {finding.subject.name for finding in findings} & set(names)
