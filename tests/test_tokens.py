"""What definitions cost: the estimate against real vocabularies, the cost by field, what could be shared."""

import json

import pytest
from definitions import flat, tool

import tdqs_mcp
from tdqs_mcp.app import catalogs, linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.facts.schema import signals
from tdqs_mcp.model import SENT_FIELDS
from tdqs_mcp.rules import registry


def findings(rule, *definitions):
    policy = Policy(selection=registry.select(names=[rule]))
    return [each for each in linting.lint(catalogs.read(list(definitions)), policy).findings if each.rule == rule]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:bpe_openai")
@pytest.mark.parametrize(("vocabulary", "mean", "tenth"), [("o200k_base", 36, 80), ("cl100k_base", 52, 100)])
def test_the_estimate_is_as_close_to_real_vocabularies_as_it_says(whole_corpus, vocabulary, mean, tenth):
    from bpe_openai import get_encoding  # noqa: PLC0415  # its import warns, which is allowed only here

    count = get_encoding(vocabulary).encode
    raws = [raw for path in whole_corpus for raw in json.loads(path.read_bytes())["tools"]]
    errors = []
    for raw in raws:
        sent = {key: raw[key] for key in SENT_FIELDS if key in raw}
        real = len(count(json.dumps(sent, separators=(",", ":"), ensure_ascii=False)))
        errors.append(1000 * abs(signals.definition_tokens(raw) - real) // real)
    assert sum(errors) / len(errors) < mean
    assert sorted(errors)[9 * len(errors) // 10] < tenth


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a" * 10, 1),
        ("a" * 11, 2),
        ("1234567", 2),
        ("a  b\tc", 3),
        ("a\n\nb", 3),
        ("__init__", 3),
        ("— a → b", 4),
        ("Наименование", 4),
        ("获取，车次", 5),
        ("\ud800", 1),
    ],
)
def test_the_estimate_counts_runs_of_any_script(text, count):
    assert signals.estimate_tokens(text) == count


def test_the_cost_by_field_counts_what_is_there_and_nothing_else():
    user = tool("get_user", "Gets a user.", flat(1), annotations={"readOnlyHint": True}, title=None)
    [(name, cost)] = tdqs_mcp.costs(catalogs.read([user]))
    assert name == "get_user"
    assert cost.size["annotations"] == len('{"readOnlyHint":true}')
    assert (cost.tokens["title"], cost.tokens["outputSchema"]) == (0, 0)
    sent = sum(cost.tokens[field] for field in SENT_FIELDS)
    assert sent <= signals.definition_tokens(user) <= sent + 12
    [broken] = catalogs.read({"tools": [7]}).tools
    assert set(signals.field_costs(broken).tokens.values()) == {0}


def test_the_parts_that_a_finding_names_add_up_to_its_total():
    [found] = findings("TDQ401", tool("read_manual", "Read the whole manual before. " * 200, flat(2)))
    assert found.message == (
        "the definition costs about 1,243 tokens, more than 800: description 1,200, inputSchema 40, name 3"
    )
    assert found.subject.path == "/description"
    assert "the manual to a resource" in found.suggestion


def test_only_what_a_model_gets_counts_for_the_budgets():
    heavy = tool("get_user", "Gets a user.", outputSchema=flat(400), annotations={"note": "x " * 2000})
    assert findings("TDQ401", heavy) == []


@pytest.mark.parametrize(("count", "is_found"), [(60, False), (90, True)])
def test_a_catalog_is_dear_from_eight_thousand_tokens(count, is_found):
    tools = [tool(f"get_{number}", "Gets one thing of many. " * 16, flat(1)) for number in range(count)]
    assert bool(findings("TDQ402", *tools)) is is_found


ADDRESS = {"type": "object", "properties": {f"line {n}": {"description": "A line of text. " * 9} for n in range(9)}}


def test_a_repeated_subschema_is_told_once_without_its_parts_and_with_an_exact_pointer():
    pair = {"type": "object", "properties": {"a/b": ADDRESS, "c~d": ADDRESS}}
    schema = {"type": "object", "properties": {"first": pair, "second": {"type": "array", "items": pair}}}
    [found] = findings("TDQ403", tool(schema=schema))
    assert found.subject.path == "/inputSchema/properties/first"
    assert " occurs 2 times; " in found.message
    inner = {"type": "object", "properties": {"x": pair}}
    [found] = findings("TDQ403", tool(schema=inner))
    assert found.subject.path == "/inputSchema/properties/x/properties/a~1b"


def test_what_is_no_schema_or_stands_once_is_not_repeated():
    default = {"enum": ["word " * 300]}
    schema = {"type": "object", "properties": {"a": {"default": default}, "b": {"default": default}, "c": ADDRESS}}
    assert findings("TDQ403", tool(schema=schema)) == []
    assert findings("TDQ403", tool(schema={"properties": [ADDRESS, ADDRESS], "items": "x", "anyOf": {"a": 1}})) == []
