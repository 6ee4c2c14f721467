"""Every rule of mcptest, MCP Playground and the paper in both directions, under its own id; its source's word is law."""

import json
import re
from contextlib import suppress

import pytest
from any_json import TOOLS
from definitions import flat, tool
from hypothesis import given, settings
from hypothesis import strategies as st

from tdqs_mcp import sync
from tdqs_mcp.app import catalogs, judging
from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.rules import registry
from tdqs_mcp.rules.rule import MCPTEST, PLAYGROUND

SMELLS = {
    "smell:unclear-purpose",
    "smell:missing-usage-guidelines",
    "smell:unstated-limitation",
    "smell:opaque-parameters",
    "smell:underspecified-or-incomplete",
    "smell:exemplar-issues",
    "smell:repeated-display-name",
}
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def fires(alias, catalog):
    """The pointers at which the rule with this alias fires, with its parts."""
    found = registry.check(measure(catalogs.read(catalog)), registry.select(names=[alias]))
    assert all(alias in finding.aliases for finding in found)
    return [(finding.subject.kind, finding.subject.name, finding.subject.path) for finding in found]


def check_of(alias):
    """The rule or the variant of a rule that has this alias."""
    [check] = [check for rule in registry.RULES for check in (rule, *rule.variants) if alias in check.aliases]
    return check


def about(description, **fields):
    return tool("find_berth", description, **fields)


def taking(entry=None, *, required=(), description="Find a free berth for a ship.", **fields):
    """A tool whose argument `x` has this schema."""
    schema = {"type": "object", "properties": {"x": entry}, "required": list(required)}
    return tool("find_berth", description, schema, **fields)


def prose(text, **schema):
    return taking({"type": "string", "description": text, **schema})


def with_schema(schema):
    return tool("find_berth", "Find a free berth for a ship.", schema)


def offering(**listings):
    return {"tools": [], **listings}


def greeted(**info):
    return {"tools": [tool()], "serverInfo": info}


TEXT = {"type": "string"}
SAID = {"type": "string", "description": "IMO number"}
CHART = {"uri": "harbour://chart", "name": "chart", "description": "Depths of today.", "mimeType": "text/plain"}
REPORT = {"name": "report", "description": "Write it.", "arguments": [{"name": "week", "description": "1 to 53"}]}
TWO = {"type": "object", "properties": {"x": TEXT, "y": TEXT}}


def without(entry, *keys):
    return {key: value for key, value in entry.items() if key not in keys}


MANIFEST = {
    "DESC-001": (
        [about("x" * 19), about(""), about(None), about(f"  {'x' * 19}\n")],
        [about("x" * 20), about("😀" * 20)],
    ),
    "DESC-002": (
        [about("x" * 501)],
        [about("x" * 500), about(f"{'x' * 500}{' ' * 9}"), about("😀" * 500), about(None)],
    ),
    "DESC-003": (
        [about("find_berth"), about(" find_berth\n")],
        [about("find berth"), about("Find_berth"), about("find_berth."), about(None)],
    ),
    "DESC-004": (
        [about("The weather at the quay."), about("Customer data for the harbour.")],
        [about("Finds a berth."), about("Berth-finding."), about("The upgraded quay."), about(None), about("天气预报")],
    ),
    "DESC-005": (
        [
            about("Confirms what the previous tool found."),
            about("Same arguments; see above."),
            about("Works like the tool listed below."),
            about("Confirms it as described above."),
            about("Call the following\nfunction."),
        ],
        [
            about("Confirms what find_berth found."),
            about("Finds ships above 100 m."),
            about("Reads the previous report."),
        ],
    ),
    "DESC-006": (
        [
            taking(TEXT, required=["x"]),
            taking({"description": " "}, required=["x"]),
            taking(entry=True, required=["x"]),
        ],
        [taking(SAID, required=["x"]), taking(TEXT), taking(TEXT, required=["y"])],
    ),
    "DESC-007": (
        [
            prose("How the lines are set", enum=["soft", "hard"]),
            prose("Hardly ever needed", enum=["hard"]),
            prose("Which number", enum=[1, 2]),
        ],
        [
            prose("soft gives with the tide", enum=["soft", "hard"]),
            prose("In stock or not", enum=["in_stock", "sold-out"]),
            prose("Number 2 is the default", enum=[1, 2]),
            prose("Compare by >=", enum=[">=", "<="]),
            taking({"enum": ["soft"]}),
            prose("How the lines are set", enum=[]),
            prose("How the lines are set"),
            prose("Switch", enum=[True, None, ""]),
        ],
    ),
    "DESC-008": (
        [
            taking({"description": "x" * 21}, description="y" * 20),
            taking({"description": "x"}, description=None),
        ],
        [
            taking({"description": "x" * 20}, description="y" * 20),
            taking({"description": f" {'x' * 20} "}, description="y" * 20),
            taking({}, description=None),
        ],
    ),
    "DESC-009": (
        [
            with_schema(TWO),
            taking(TEXT, required=["x"]),
            taking({"type": "integer"}),
            taking({"type": ["string", "null"]}),
            taking({}),
            taking({"type": "object", "properties": {"y": {"default": 1}}}),
            with_schema(TWO) | {"examples": "one"},
        ],
        [
            taking(TEXT),
            with_schema({"type": "object"}),
            with_schema(TWO) | {"examples": [{"x": "a"}]},
            with_schema({"type": "object", "properties": {"x": TEXT, "y": {"examples": ["a"]}}}),
            with_schema({"type": "object", "properties": {"x": TEXT, "y": {"example": "a"}}}),
            with_schema({"type": "object", "properties": {"x": TEXT, "y": {"default": None}}}),
        ],
    ),
    "DESC-010": (
        [
            about("Execute order query"),
            about("Run the search", outputSchema=None),
            about("Run the search", outputSchema=7),
        ],
        [
            about("Returns a list of orders."),
            about("Its OUTPUT is a number."),
            about("Gives the result."),
            about("Execute order query", outputSchema={"type": "object"}),
            about("Execute order query", outputSchema={}),
            about(""),
            about(None),
        ],
    ),
    "DESC-011": (
        [about("It.", annotations={hint: value}) for hint in HINTS for value in ("yes", 1, 0, None, [], {})],
        [
            *(about("It.", annotations={hint: value}) for hint in HINTS for value in (True, False)),
            about("It."),
            about("It.", annotations={}),
            about("It.", annotations={"title": 7, "otherHint": "yes"}),
            about("It.", annotations="readOnlyHint"),
        ],
    ),
    "DESC-012": (
        [about("It."), about("It.", annotations=None), about("It.", annotations=[True])],
        [about("It.", annotations={}), about("It.", annotations={"readOnlyHint": "yes"})],
    ),
    "DESC-013": (
        [
            prose("The new status, one of open, closed, or pending"),
            prose("Allowed values: open, closed"),
            prose("Valid values are open, closed and pending"),
            prose("Options are open or closed"),
            prose("Either open or closed"),
            prose("open | closed"),
            prose("Allowed values are open and closed"),
            prose("Options: open, closed"),
            prose("Can be one of 'open' or 'closed'."),
            taking({"description": "one of: open, closed"}),
            taking({"type": ["string", "null"], "description": "one of open, closed"}),
            taking({"anyOf": [TEXT, {"type": "null"}], "description": "one of open, closed"}),
        ],
        [
            prose("one of open, closed", enum=["open", "closed"]),
            taking({"type": "integer", "description": "one of 1, 2"}),
            taking({"anyOf": [{"enum": ["open"]}, {"type": "null"}], "description": "one of open, closed"}),
            taking({"$ref": "#/$defs/status", "description": "one of open, closed"}),
            prose("The name of one of the users"),
            prose("A label such as open"),
            prose("Provide either x or the id"),
            prose("JSON with a status, one of open, closed"),
            prose("Valid values are up to the project."),
            taking(TEXT),
        ],
    ),
    "tool-no-description": ([about(None), about(""), about(" \t\n\ufeff")], [about("x")]),
    "tool-short-description": ([about("x" * 9), about("  x ")], [about("x" * 10), about(""), about("😀" * 5)]),
    "tool-long-description": (
        [about("x" * 501), about("😀" * 251)],
        [about("x" * 500), about(f" {'x' * 500} "), about("")],
    ),
    "tool-description-is-name": (
        [about("find_berth"), about(" Find Berth "), about("find-berth")],
        [about("Find berth."), about("findBerth"), about("find  berth"), tool("", ""), about(None)],
    ),
    "tool-no-schema": ([without(tool(), "inputSchema"), with_schema(None) | {"inputSchema": []}], [tool()]),
    "tool-schema-not-object": (
        [with_schema({"properties": {}}), with_schema({"type": "string"}), with_schema({"type": ["object"]})],
        [with_schema({"type": "object"}), without(tool(), "inputSchema")],
    ),
    "prop-no-description": (
        [taking(TEXT), taking({"description": ""}), taking({"description": " "}), taking(entry=True), taking("text")],
        [taking(SAID), taking(None), taking(entry=False), taking({"description": 7})],
    ),
    "prop-no-type": (
        [taking({}), taking({"const": 1}), taking({"type": ""}), taking({"type": None, "description": "x"})],
        [
            taking({key: value})
            for key, value in {"type": "a", "enum": [], "oneOf": [], "anyOf": [], "allOf": []}.items()
        ]
        + [taking({"$ref": "#"}), taking(None), taking({"type": ["string"]})],
    ),
    "tool-no-required": (
        [taking(SAID), with_schema({"properties": {"x": SAID}}), with_schema({**TWO, "required": "x"})],
        [taking(SAID, required=["x"]), with_schema({"type": "object"}), with_schema({"properties": {}})],
    ),
    "required-not-in-properties": (
        [
            taking(SAID, required=["x", "y"]),
            taking(SAID, required=[7]),
            with_schema({"properties": {}, "required": ["x"]}),
        ],
        [taking(SAID, required=["x"]), with_schema({"type": "object", "required": ["x"]}), taking(SAID)],
    ),
    "tool-empty-schema": (
        [with_schema({"type": "object"}), with_schema({"type": "object", "properties": None})],
        [with_schema({"type": "object", "properties": {}}), with_schema({"description": "any"}), taking(SAID)],
    ),
    "tool-name-convention": (
        [
            tool(name)
            for name in ("find.berth", "find/berth", "_find", "9find", "find berth", "naïve", "K\u212a", "x\n")
        ],
        [tool(name) for name in ("find_berth", "find-berth", "findBerth", "F", "a9")],
    ),
    "resource-no-name": (
        [offering(resources=[without(CHART, "name")]), offering(resources=[CHART | {"name": ""}])],
        [offering(resources=[CHART]), offering(resources=[]), offering(), offering(resourceTemplates=[{}])],
    ),
    "resource-no-description": (
        [offering(resources=[without(CHART, "description")]), offering(resources=[CHART | {"description": " "}])],
        [offering(resources=[CHART]), offering(), offering(resourceTemplates=[without(CHART, "description")])],
    ),
    "resource-no-mimetype": (
        [offering(resources=[without(CHART, "mimeType")]), offering(resources=[CHART | {"mimeType": ""}])],
        [offering(resources=[CHART]), offering(), offering(resourceTemplates=[without(CHART, "mimeType")])],
    ),
    "prompt-no-description": (
        [offering(prompts=[without(REPORT, "description")]), offering(prompts=[REPORT | {"description": "\n"}])],
        [offering(prompts=[REPORT]), offering(prompts=[]), offering()],
    ),
    "prompt-arg-no-description": (
        [
            offering(prompts=[REPORT | {"arguments": [{"name": "week"}]}]),
            offering(prompts=[REPORT | {"arguments": [{"name": "week", "description": " "}]}]),
            offering(prompts=[REPORT | {"arguments": [{}]}]),
        ],
        [
            offering(prompts=[REPORT]),
            offering(prompts=[without(REPORT, "arguments")]),
            offering(prompts=[REPORT | {"arguments": "week"}]),
        ],
    ),
    "server-empty": (
        [offering(), offering(resources=[], prompts=[]), offering(resourceTemplates=[CHART])],
        [
            {"tools": [tool()]},
            offering(resources=[CHART]),
            offering(prompts=[REPORT]),
            offering(capabilities={"resources": {}}),
        ],
    ),
    "server-no-name": (
        [greeted(version="1"), greeted(name="", version="1"), greeted(name="Unknown Server")],
        [greeted(name="harbour"), {"tools": [tool()]}],
    ),
    "server-no-version": (
        [greeted(name="harbour"), greeted(name="harbour", version=""), greeted(name="harbour", version="unknown")],
        [greeted(name="harbour", version="0"), {"tools": [tool()]}],
    ),
    "server-duplicate-tools": (
        [{"tools": [tool("a"), tool("b"), tool("a"), tool("b")]}],
        [{"tools": [tool("a"), tool("A")]}, {"tools": [tool("a")]}],
    ),
    "smell:unclear-purpose": ([tool("handle_ship", "Handle the ship.")], [about("Find a free berth for a ship.")]),
    "smell:missing-usage-guidelines": (
        [about("Find a free berth for a ship.")],
        [about("Find a free berth. Use it before a ship arrives.")],
    ),
    "smell:unstated-limitation": (
        [about("List the ships in the harbour.")],
        [about("List the ships in the harbour, at most 50."), about(None), about("列出港口中的船舶。")],
    ),
    "smell:opaque-parameters": ([with_schema(flat(2))], [taking(SAID)]),
    "smell:underspecified-or-incomplete": (
        [about("One."), about("One thing. Two things.")],
        [about("One thing. Two things. Three things."), about(None)],
    ),
    "smell:exemplar-issues": ([about("Find a ship.")], [about("Find a ship, e.g. DKBX2."), about(None)]),
    "smell:repeated-display-name": (
        [{"tools": [tool("a", title="Berth"), tool("b", annotations={"title": " Berth "}), tool("c", title="Quay")]}],
        [
            {"tools": [tool("a", title="Berth"), tool("b", title="berth")]},
            {"tools": [tool("a"), tool("b")]},
            {"tools": [tool("a", title="Berth"), tool("a", title="Berth")]},
            {"tools": [tool("a", title=""), tool("b", annotations={"title": 7})]},
        ],
    ),
}


def cases(place):
    return [
        pytest.param(alias, definition, id=f"{alias}-{number}")
        for alias, both in MANIFEST.items()
        for number, definition in enumerate(both[place])
    ]


# The manifest


def test_every_rule_of_every_system_stands_in_the_manifest():
    assert set(MANIFEST) == {*MCPTEST, *PLAYGROUND, *SMELLS}


@pytest.mark.parametrize(("alias", "definition"), cases(0))
def test_a_rule_fires_where_its_source_says_so(alias, definition):
    assert fires(alias, definition)


@pytest.mark.parametrize(("alias", "definition"), cases(1))
def test_a_rule_is_silent_where_its_source_is(alias, definition):
    assert fires(alias, definition) == []


def test_every_foreign_id_leads_to_a_rule_and_to_its_page(command):
    for alias in MANIFEST:
        assert alias in judging.explain(alias)
    assert command("rules", "DESC-009").stdout.startswith(b"# TDQ121 missing-examples")


def test_a_rule_belongs_to_each_system_at_most_once():
    for table in (MCPTEST, PLAYGROUND):
        assert len({check_of(alias).id for alias in table}) == len(table)


def test_no_rule_of_a_system_takes_a_finding_away_from_another_of_the_same_system():
    for table in (MCPTEST, PLAYGROUND):
        own = {check_of(alias).id for alias in table}
        assert [rule.id for alias in table if own & set((rule := check_of(alias)).entails)] == []


def test_what_a_rule_entails_is_a_rule():
    ids = {rule.id for rule in registry.RULES}
    assert {target for rule in registry.RULES for target in rule.entails} <= ids | {registry.ALL}


# Where and how often


def test_each_argument_is_a_finding_of_its_own_at_its_own_place():
    schema = {"type": "object", "properties": {"a/b": TEXT, "c~d": {}}, "required": ["c~d", "a/b", "a/b"]}
    places = [("tool", "find_berth", f"/inputSchema/properties/{name}") for name in ("c~0d", "a~1b")]
    assert fires("DESC-006", with_schema(schema)) == places
    assert sorted(fires("prop-no-description", with_schema(schema))) == sorted(places)
    assert fires("prop-no-type", with_schema(schema)) == places[:1]


def test_each_unknown_name_counts_as_often_as_it_is_required():
    assert len(fires("required-not-in-properties", taking(SAID, required=["y", "y", "z"]))) == 3


def test_repeated_tool_names_are_one_finding_about_the_server():
    catalog = {"tools": [tool("a"), tool("b"), tool("a"), tool("b")]}
    assert fires("server-duplicate-tools", catalog) == [("server", "", "")]


def test_every_tool_under_a_repeated_title_is_named():
    tools = [tool("a", title="Berth"), tool("b", annotations={"title": "Berth"}), tool("c", title="Quay")]
    assert fires("smell:repeated-display-name", {"tools": tools}) == [
        ("tool", "a", "/title"),
        ("tool", "b", "/annotations/title"),
    ]


def test_resources_and_prompts_are_told_by_name_and_templates_are_left_alone():
    bare = {"uri": "harbour://chart"}
    catalog = offering(resources=[bare, CHART], resourceTemplates=[{"uriTemplate": "x"}], prompts=[{"name": "report"}])
    assert fires("resource-no-name", catalog) == [("resource", "harbour://chart", "/name")]
    assert fires("resource-no-mimetype", catalog) == [("resource", "harbour://chart", "/mimeType")]
    assert fires("prompt-no-description", catalog) == [("prompt", "report", "/description")]


def test_rules_of_a_foreign_convention_alone_are_shown_to_auditors_only():
    shown = {alias for finding in registry.check(measure(catalogs.read(about("x" * 501)))) for alias in finding.aliases}
    assert "DESC-002" not in shown
    assert "tool-long-description" not in shown
    assert fires("DESC-002", about("x" * 501))


# Equal to independent calculations over real catalogs


def trimmed(text):
    return (text or "").strip()


def described(entry):
    return trimmed(entry.get("description")) if isinstance(entry, dict) else ""


def parts(definition):
    schema = definition.get("inputSchema") or {}
    return schema.get("properties") or {}, schema.get("required") or []


def lacks_examples(definition):
    properties, required = parts(definition)
    if len(properties) < 2 and all(
        name not in required and each.get("type") == "string" for name, each in properties.items()
    ):
        return False
    shown = any(
        {"default", "example"} & each.keys() or isinstance(each.get("examples"), list) for each in properties.values()
    )
    return not shown and not isinstance(definition.get("examples"), list)


DETERMINED = {
    "DESC-001": lambda each: len(trimmed(each.get("description"))) < 20,
    "DESC-002": lambda each: len(trimmed(each.get("description"))) > 500,
    "DESC-003": lambda each: trimmed(each.get("description")) == each["name"],
    "DESC-006": lambda each: any(
        name in parts(each)[0] and not described(parts(each)[0][name]) for name in parts(each)[1]
    ),
    "DESC-008": lambda each: any(
        len(described(entry)) > len(trimmed(each.get("description"))) for entry in parts(each)[0].values()
    ),
    "DESC-009": lacks_examples,
    "DESC-011": lambda each: any(
        not isinstance((each.get("annotations") or {}).get(hint, True), bool) for hint in HINTS
    ),
    "DESC-012": lambda each: not isinstance(each.get("annotations"), dict),
}


@pytest.mark.parametrize("alias", DETERMINED)
def test_a_determined_rule_finds_what_an_independent_reading_finds_in_real_catalogs(catalog_files, alias):
    for path in catalog_files:
        catalog = sync.load(str(path))
        found = registry.check(measure(catalog), registry.select(names=[alias]))
        assert {finding.subject.index for finding in found} == {
            tool.index for tool in catalog.tools if DETERMINED[alias](tool.raw)
        }


def test_the_keywords_that_mcptest_names_silence_its_rule_in_real_catalogs(catalog_files):
    for path in catalog_files:
        catalog = sync.load(str(path))
        for finding in registry.check(measure(catalog), registry.select(names=["DESC-010"])):
            definition = catalog.tools[finding.subject.index].raw
            assert not re.search("return|output|result", definition["description"], re.IGNORECASE)
            assert "outputSchema" not in definition


# Bad input


@settings(max_examples=100)
@given(st.lists(TOOLS, max_size=3))
def test_any_definition_is_judged_by_every_rule(tools):
    with suppress(InputError):
        found = registry.check(measure(catalogs.read({"tools": tools})), registry.select(names=list(MANIFEST)))
        assert {finding.subject.index for finding in found} <= {None, *range(len(tools))}


@pytest.mark.parametrize("junk", [None, 7, "text", [], {}, [None], {"a": None}, True, 1e400])
def test_no_json_in_any_place_breaks_a_rule(junk):
    everything = registry.select(names=list(MANIFEST))
    definition = {"name": "t", "description": junk, "inputSchema": junk, "outputSchema": junk, "annotations": junk}
    deep = tool(
        "u",
        "Finds.",
        {
            "type": junk,
            "properties": {"x": junk, "y": {"enum": junk, "description": junk, "anyOf": junk}},
            "required": junk,
        },
    )
    nested = tool(
        "v", schema={"properties": {"x": {"description": "x", "enum": [junk], "type": junk}}, "required": [junk]}
    )
    catalog = {
        "tools": [
            junk,
            definition,
            deep,
            nested,
            tool("w", title=junk, annotations={"title": junk, "readOnlyHint": junk}),
        ],
        "resources": [junk, {"uri": junk, "name": junk, "description": junk, "mimeType": junk}],
        "resourceTemplates": [junk],
        "prompts": [junk, {"name": junk, "description": junk, "arguments": junk}, {"name": "p", "arguments": [junk]}],
        "serverInfo": {"name": junk, "version": junk},
        "capabilities": junk,
    }
    found = registry.check(measure(catalogs.read(catalog)), everything)
    json.dumps([finding.message for finding in found])
    assert found
    assert judging.grade(catalogs.read(catalog)).score is not None
