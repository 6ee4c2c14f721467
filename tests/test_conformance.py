"""Definitions against JSON Schema, MCP and their own text; references against the catalog."""

import json
import random
import re

import mutations
import pytest
from definitions import tool

from tdqs_mcp.app import catalogs, linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.rules import registry
from tdqs_mcp.sources.files import read_catalog

SAMPLE = 5
"""Changed definitions of each catalog and kind that are linted."""

OURS = re.compile(r"TDQ2[234]\d|TDQ32\d")


def found(definition, *rules):
    return said_of(catalogs.read(definition), *rules)


def said_of(catalog, *rules):
    """The findings of some rules, which need not run by default."""
    return list(linting.lint(catalog, Policy(selection=registry.select(names=rules))).findings)


def documents(whole_corpus):
    return [json.loads(path.read_bytes()) for path in whole_corpus]


def drawn(changed):
    cases = list(changed)
    random.Random(7).shuffle(cases)
    return cases[:SAMPLE]


def distinct(changed):
    """One case for each text: generated tools repeat the same one hundreds of times."""
    return list({label.partition(":")[0] + label.rpartition("|")[2]: (label, each) for label, each in changed}.values())


def share(seen):
    assert len(seen) >= 20
    return sum(seen) / len(seen)


FLOORS = {mutations.types_in_schema: 0.45, mutations.choices_in_schema: 0.4, mutations.ranges_in_schema: 0.85}
"""Where the schema changes and only the wording of the old text shows it, openings and rows of values are read."""


@pytest.mark.parametrize("mutate", mutations.CONTRADICTIONS, ids=lambda mutate: mutate.__name__)
def test_a_contradiction_put_into_a_real_definition_is_found(mutate, whole_corpus):
    rule = mutations.CONTRADICTIONS[mutate]
    seen = [
        bool(found({"tools": [changed]}, rule))
        for document in documents(whole_corpus)
        for _, changed in drawn(distinct(each for definition in document["tools"] for each in mutate(definition)))
    ]
    assert share(seen) >= FLOORS.get(mutate, 0.9)


@pytest.mark.parametrize("mutate", mutations.DEFECTS, ids=lambda mutate: mutate.__name__)
def test_a_defect_put_into_a_real_definition_is_found(mutate, whole_corpus):
    chosen = Policy(selection=registry.select(names=[mutations.DEFECTS[mutate]]))
    seen = [
        bool(linting.lint(catalogs.read({"tools": [changed]}), chosen).findings)
        for document in documents(whole_corpus)
        for _, changed in drawn(distinct(each for definition in document["tools"] for each in mutate(definition)))
    ]
    assert share(seen) >= DEFECT_FLOORS.get(mutate, 0.9)


DEFECT_FLOORS = {mutations.idempotent_addition: 0.85}


@pytest.mark.parametrize("mutate", mutations.LOST, ids=lambda mutate: mutate.__name__)
def test_a_lost_reference_put_into_a_real_catalog_is_found(mutate, whole_corpus):
    rule = mutations.LOST[mutate]
    seen = [
        any(finding.subject.index == guilty for finding in found({"tools": changed["tools"]}, rule))
        for document in documents(whole_corpus)
        for _, changed, guilty in drawn(mutate({**document, "tools": document["tools"][:60]}))[:3]
    ]
    assert share(seen) >= LOST_FLOORS.get(mutate, 0.9)


LOST_FLOORS = {
    mutations.renamed_sibling: 0.6,
    mutations.removed_sibling: 0.6,
    mutations.missing_tool: 0.85,
    mutations.renamed_parameter: 0.55,
}
"""A name counts where the text tells the agent to use it, or calls it a tool or parameter; mentions in passing do not."""

MOST_FINDINGS = {
    "TDQ235": 6,
    "TDQ236": 1,
    "TDQ237": 4,
    "TDQ238": 0,
    "TDQ239": 3,
    "TDQ320": 22,
    "TDQ321": 82,
}
"""No more findings on the 1,649 real tools, which have all been read: five are wrong, and 79 of TDQ321 are one server's
`ctx` in its lists of arguments."""


def test_real_definitions_have_hardly_a_finding_and_those_have_been_read(whole_corpus):
    counts = dict.fromkeys(MOST_FINDINGS, 0)
    for document in documents(whole_corpus):
        for finding in found(document, *MOST_FINDINGS):
            # an info of TDQ239 contradicts nothing: the text alone has a condition
            counts[finding.rule] += finding.rule != "TDQ239" or finding.severity == "warning"
    assert all(counts[rule] <= MOST_FINDINGS[rule] for rule in counts), counts


# One defect each, in forms that no real catalog has


def one(schema, description="Lists the open orders of one customer."):
    return tool("list_orders", description, {"type": "object", "properties": {"value": schema}})


@pytest.mark.parametrize(
    ("schema", "rule", "message"),
    [
        ({"type": "strin"}, "TDQ220", "is not valid JSON Schema"),
        ({"minimum": "1"}, "TDQ220", "is not valid JSON Schema"),
        ({"$ref": "#/$defs/Gone"}, "TDQ229", "leads nowhere"),
        ({"$ref": "#/properties/value"}, "TDQ229", "leads back to itself"),
        ({"$ref": "other.json#/Value"}, "TDQ230", "lies outside"),
        ({"type": "integer", "minimum": 5, "maximum": 4}, "TDQ231", "minimum 5 and maximum 4"),
        ({"type": "number", "exclusiveMinimum": 4, "maximum": 4}, "TDQ231", "exclusiveMinimum 4"),
        ({"enum": []}, "TDQ231", "an empty enum"),
        ({"type": "string", "default": 5}, "TDQ223", "5 is not of type string"),
        ({"type": "boolean", "default": "true"}, "TDQ223", "'true' is not of type boolean"),
        ({"enum": ["a", "b"], "default": "c"}, "TDQ223", "'c' is not a member"),
        (
            {"type": "array", "items": {"type": "integer"}, "default": ["x"]},
            "TDQ223",
            "has an item that is not of type integer",
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "string"}], "default": True},
            "TDQ223",
            "is not of type integer or string",
        ),
        ({"type": "integer", "const": "x"}, "TDQ224", "'x' is not of type integer"),
        ({"type": "string", "maxLength": 2, "examples": ["ab", "abc"]}, "TDQ224", "'abc' is above maxLength 2"),
    ],
)
def test_a_schema_that_breaks_itself_is_found(schema, rule, message):
    (finding,) = found(one(schema), rule)
    assert message in finding.message
    assert finding.subject.path.startswith("/inputSchema/properties/value")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "default": 5, "minimum": 5, "maximum": 5},
        {"type": "number", "default": 5, "examples": [1, 2.5], "enum": [1, 2.5, 5]},
        {"type": ["string", "null"], "default": None},
        {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        {"type": "integer", "default": 2.0},
        {"default": {"any": "thing"}},
        {"type": "array", "items": {"enum": ["a", "b"]}, "default": ["a"]},
        {"$ref": "#"},
    ],
)
def test_a_sound_schema_has_no_finding(schema):
    findings = linting.lint(catalogs.read(one(schema)), Policy(selection=registry.select(profile="strict"))).findings
    assert [finding.rule for finding in findings if OURS.fullmatch(finding.rule)] == []


@pytest.mark.parametrize(
    "draft", ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
)
def test_a_schema_is_checked_against_the_draft_that_it_declares(draft):
    definition = tool(
        "t", "Lists orders.", {"$schema": draft, "type": "object", "properties": {"a": {"items": [{"type": "string"}]}}}
    )
    assert bool(found(definition, "TDQ220")) is ("2020" in draft)


def test_a_draft_that_nobody_knows_is_found_and_never_fetched():
    definition = tool("t", "Lists orders.", {"$schema": "http://127.0.0.1:9/schema", "type": "object"})
    (finding,) = found(definition, "TDQ220")
    assert finding.subject.path == "/inputSchema/$schema"


def test_a_reference_to_a_tool_of_another_server_is_not_judged():
    pair = [
        tool("get_order", "Gets one order. See mcp__github__create_issue and github:create_issue."),
        tool("list_orders"),
    ]
    assert found({"tools": pair}, "TDQ320") == []


def test_a_reference_in_a_single_definition_is_not_judged():
    assert found(tool("get_order", "Gets one order. Call list_orders first."), "TDQ320") == []


@pytest.mark.parametrize(
    "form", ["list_orders", "`list_orders`", "listOrders", "mcp__shop__list_orders", "shop:list_orders"]
)
def test_a_tool_of_the_catalog_may_be_named_in_any_form(form):
    pair = [tool("get_order", f"Gets one order. Call {form} first."), tool("list_orders")]
    assert said_of(read_catalog({"tools": pair}, name="shop"), "TDQ320") == []


@pytest.mark.parametrize("form", ["mcp__shop__close_orders", "shop:close_orders"])
def test_a_missing_tool_is_found_in_its_prefixed_form(form):
    pair = [tool("get_order", f"Gets one order. Call {form} first."), tool("list_orders")]
    assert len(said_of(read_catalog({"tools": pair}, name="shop"), "TDQ320")) == 1


# Hostile input


PLAIN = "Lists the open orders of one customer, newest first. " * 20_000
HOSTILE = [
    "a" * 1_000_000,
    "`" * 1_000_000,
    "must be a " * 100_000,
    "'a', " * 200_000,
    "a|" * 500_000,
    "(a, " * 250_000,
    "one of: " + "a, " * 300_000,
    "between 1 and " * 70_000,
    "value_" * 160_000,
    "value: (" * 120_000,
    " " * 1_000_000,
    "use a_b " * 120_000,
    "always call this " * 60_000,
    "- value\n" * 120_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_a_megabyte_of_any_text_costs_at_most_ten_times_as_much_as_one_of_plain_text(compare_work, text):
    schema = {"type": "string", "enum": ["a", "b"], "default": "a", "maxLength": 5, "description": text}
    pair = [one(schema, text), tool("close_orders", text)]
    plain = [one({**schema, "description": PLAIN}, PLAIN), tool("close_orders", PLAIN)]
    hostile, ordinary = (catalogs.read({"tools": tools}) for tools in (pair, plain))
    strict = Policy(selection=registry.select(profile="strict"))
    compare_work(lambda: linting.lint(hostile, strict), lambda: linting.lint(ordinary, strict), at_most=10, rounds=1)


def test_references_in_circles_cost_no_more_than_straight_ones(compare_work):
    circle = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{(n + 1) % 40}"}] * 2, "default": 1} for n in range(40)}
    properties = {
        f"p{n}": {"$ref": "#/$defs/d0", "default": n, "description": "must be a string"} for n in range(15_000)
    }
    definition = tool("t", "Lists orders.", {"type": "object", "properties": properties, "$defs": circle})
    flat = {name: {**schema, "$ref": "#/$defs/plain"} for name, schema in properties.items()}
    plain = tool("t", "Lists orders.", {"type": "object", "properties": flat, "$defs": {"plain": {"default": 1}}})
    circles, straight = catalogs.read(definition), catalogs.read(plain)
    assert linting.lint(circles).findings
    compare_work(lambda: linting.lint(circles), lambda: linting.lint(straight), at_most=3, rounds=1)
