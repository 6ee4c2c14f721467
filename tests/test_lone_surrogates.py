"""Half a UTF-16 pair in one definition is a finding about that tool, and every other tool is answered as before."""

import json
from xml.etree import ElementTree as ET

import pytest
from definitions import flat, tool

from tdqs_mcp.app import catalogs, linting

HALF = "\ud800"


def properties(**schemas):
    return {"type": "object", "properties": schemas}


PLACES = {
    "name": {"name": f"get{HALF}"},
    "description": {"description": f"Gets {HALF} one order."},
    "title": {"title": f"Order {HALF}"},
    "property": {"inputSchema": properties(**{f"id{HALF}": {"type": "string"}})},
    "unusual keyword": {"inputSchema": {"x-order": HALF, **properties(id={"type": "string"})}},
    "type": {"inputSchema": properties(id={"type": f"strin{HALF}"})},
    "enum": {"inputSchema": properties(id={"type": "string", "enum": [f"a{HALF}"]})},
    "default": {"inputSchema": properties(id={"type": "string", "enum": ["a"], "default": f"b{HALF}"})},
    "pattern": {"inputSchema": properties(id={"type": "string", "pattern": f"[{HALF}"})},
    "reference": {"inputSchema": properties(id={"$ref": f"#/$defs/{HALF}"})},
    "output schema": {"outputSchema": properties(**{f"id{HALF}": {"multipleOf": "x"}})},
    "annotation": {"annotations": {"readOnlyHint": True, f"hint{HALF}": HALF}},
    "other member": {"_meta": {"version": HALF}},
}
OTHERS = (
    tool("list_orders", "Lists the open orders of one customer.", flat(1)),
    tool("delete_order", "Deletes one order for good; use list_orders to find it.", flat(1)),
)


def definitions(place):
    return {"tools": [tool("get_order", "Gets one order by its id.", flat(1)) | PLACES[place], *OTHERS]}


COMMANDS = [
    *[("score", "--format", form) for form in ("text", "json", "markdown")],
    *[("lint", "--profile", "strict", "--format", form) for form in ("text", "json", "markdown", "sarif", "junit")],
    *[("rewrite", "--format", form) for form in ("text", "json", "markdown")],
    *[("score", "--prompts", "--format", form) for form in ("text", "json")],
    *[("score", "--rubric", "playground", "--format", form) for form in ("text", "json")],
    ("compare", "--format", "json"),
    ("compare", "--format", "markdown"),
    ("rewrite", "--target", "A"),
    ("capture",),
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_every_command_and_format_answers(command, write, tmp_path, args, place):
    file = write("orders.json", json.dumps(definitions(place)))
    name, *options = args
    other = [write("before.json", json.dumps({"tools": list(OTHERS)}))] if name == "compare" else []
    to_file = ["-o", tmp_path / "copy.json"] if name == "capture" else []
    answer = command(name, *other, file, *options, *to_file)
    assert answer.returncode in (0, 1), answer.stderr
    printed = (tmp_path / "copy.json").read_bytes() if to_file else answer.stdout
    text = printed.decode() if isinstance(printed, bytes) else printed
    if "json" in options or "sarif" in options or to_file:
        json.loads(text)
    if "junit" in options:
        ET.fromstring(text)  # noqa: S314  # our own output


@pytest.mark.parametrize("place", PLACES)
def test_the_half_pair_is_a_finding_about_its_tool_alone(place):
    findings = [each for each in linting.lint(catalogs.read(definitions(place))).findings if each.rule == "TDQ232"]
    assert [each.subject.index for each in findings] == [0]
    assert findings[0].severity == "error"


@pytest.mark.parametrize("place", PLACES)
def test_the_other_tools_are_linted_as_beside_a_whole_definition(place):
    def others(catalog):
        return [each for each in linting.lint(catalogs.read(catalog)).findings if each.subject.index in (1, 2)]

    whole = tool("get_order", "Gets one order by its id.", flat(1))
    if place == "annotation":  # a tool with hints, too, is none of those that declare no hint
        whole["annotations"] = {"readOnlyHint": True}
    assert others(definitions(place)) == others({"tools": [whole, *OTHERS]})


def test_a_whole_pair_is_no_finding():
    catalog = catalogs.read({"tools": [tool("get_order", "Gets one order \U0001f4e6 by its id.", flat(1))]})
    assert not [each for each in linting.lint(catalog).findings if each.rule == "TDQ232"]
