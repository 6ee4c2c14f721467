"""Examples in texts are parsed and held against the schema, whatever notation they are in."""

import pytest

from tdqs_mcp.app import catalogs, linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.rules import registry

ORDERS = {
    "query": {"type": "string"},
    "status": {"type": "string", "enum": ["open", "closed"]},
    "limit": {"type": "integer", "minimum": 1, "maximum": 50},
    "since": {"type": "string", "format": "date"},
    "ids": {"type": "array", "items": {"type": "integer"}},
    "sort": {
        "type": "object",
        "properties": {"field": {"type": "string"}, "descending": {"type": "boolean"}},
        "required": ["field"],
    },
}


def problems(description="Searches orders of the harbor.", **texts):
    properties = {name: {**schema, "description": texts.get(name, "A filter.")} for name, schema in ORDERS.items()}
    tool = {
        "name": "search_orders",
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": ["query"]},
    }
    policy = Policy(selection=registry.select(names=["TDQ224"]))
    return [finding.message for finding in linting.lint(catalogs.read({"tools": [tool]}), policy).findings]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('Example: {"query": "crab", "max": 5}', "has 'max', which is no parameter"),
        ("Example:\n```json\n{'query': 'crab', 'limit': '5'}\n```", "'limit' is not of type integer"),
        ("Usage: {query: 'crab', limit: 500}", "'limit' is above maximum 50"),
        ('Example: {"status": "open", "limit": 5}', "lacks 'query', which is required"),
        ('search_orders(query="crab", state="open")', "has 'state', which is no parameter"),
        ("Call search_orders(query='crab', limit=0) first.", "'limit' is below minimum 1"),
        ("E.g. search_orders(status='open')", "lacks 'query', which is required"),
        ("search_orders({query: 'crab', ids: ['a']})", "'ids' has an item that is not of type integer"),
        ('Examples:\n- {"query": "crab", "sort": {"field": "age", "desc": true}}', "has 'desc', which is not one of"),
        ('Example: {"query": "crab", "sort": {"descending": true}}', "'sort' lacks 'field', which is required"),
        ('Set `status="done"` to get old ones.', "is not a member of the enum"),
        ("With status=pending it waits.", "is not a member of the enum"),
        ("Use limit=100 for all of them.", "is above maximum 50"),
        ('Pass since: "yesterday" for new ones.', "is not of format date"),
        ("Args:\n    query: text\n    status: state (e.g. 'done')", "is not a member of the enum"),
        ('{"name": "search_orders", "arguments": {"limit": 5}}', "lacks 'query', which is required"),
        ('result = search_orders(query="crab", state="open")', "has 'state', which is no parameter"),
        ('"old crabs" -> search_orders(query="crab", state="open")', "has 'state', which is no parameter"),
        ('client.call_tool("search_orders", {"status": "open"})', "lacks 'query', which is required"),
        ("Example: search_orders()", "lacks 'query', which is required"),
        ("In a program:\n```\nsearch_orders()\n```", "lacks 'query', which is required"),
    ],
)
def test_an_example_call_that_the_schema_refuses_is_found(text, reason):
    [message] = problems(f"Searches orders of the harbor. {text}")
    assert reason in message


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("status", "State, e.g. 'done'.", "is not a member of the enum"),
        ("status", "State (e.g. pending).", "is not a member of the enum"),
        ("since", "First day, for example '28.11.2024'", "is not of format date"),
        ("since", "First day (DD/MM/YYYY or YYYYMMDD)", "is not of format date"),
        ("since", "First day as YYYYY-MM-DD", "has a letter too many or too few"),
        ("ids", "Numbers, e.g. ['a', 'b']", "has an item that is not of type integer"),
        ("sort", 'Order, such as {"by": "age"}', "has 'by', which is not one of its properties"),
        ("limit", "At most this many, e.g. 200", "is above maximum 50"),
    ],
)
def test_an_example_in_a_parameter_s_text_that_its_schema_refuses_is_found(name, text, reason):
    assert any(reason in message for message in problems(**{name: text}))


@pytest.mark.parametrize(
    "text",
    [
        'Example: {"query": "crab", "limit": 5, "sort": {"field": "age"}}',
        'search_orders(query="crab", since="2024-11-28")',
        'Returns: {"query": "crab", "total": 5}',
        'Response:\n```json\n{"status": "done", "limit": 500}\n```',
        "get_order(id=5) takes the number.",
        'Example: {"query": "<text>", "status": "<status>"}',
        "Example: {query: ..., max: 5}",
        "Do not send status='done'.",
        "Matches when a=b or limit = rest.",
        "Write {name} where the name belongs, and {query: 5 items}.",
        'In the answer, {"id": 1, "status": "done"} is one order.',
        'status = \'open\' -> {"status": "done"}',
        "Never call search_orders(state='open').",
        '\n- since: For status: "done", the day of its end.',
        'client.call_tool("get_order", {"id": 5})',
        "After search_orders() returns, the harbor is quiet.",
        "Same as calling `search_orders()` in the shop.",
    ],
)
def test_what_is_no_wrong_example_of_a_call_is_left_alone(text):
    assert problems(f"Searches orders of the harbor. {text}") == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("query", 'JSON to match, e.g. {"name": "crab"}, or a number such as 5'),
        ("status", "State, for example the one of the last call"),
        ("ids", "Numbers, e.g. [1, 2], or one of them, e.g. 5"),
        ("since", "First day as YYYY-MM-DD, e.g. '2024-11-28'"),
        ("sort", "Order, e.g. {'field': 'age', 'descending': True}"),
        ("limit", "At most this many, e.g. 20 (default 10)"),
        (
            "status",
            f"State of the order. {'It may change at any time. ' * 8}Some harbors (e.g. Bergen, Oslo) close late.",
        ),
    ],
)
def test_examples_that_fit_are_left_alone(name, text):
    assert problems(**{name: text}) == []


@pytest.mark.parametrize(
    "text",
    [
        "limit=500 is refused.",
        "The server rejects `limit=500`.",
        "A call with limit=500 returns an error.",
        'search_orders(query="a", limit=500) fails, and {"query": "a", "limit": 500} is not allowed.',
    ],
)
def test_an_example_in_a_sentence_that_says_that_it_fails_is_none(text):
    assert problems(f"Searches orders. {text}") == []
    assert problems(f"Searches orders. {text} Use limit=100 for all.") != []


def test_a_parameter_s_text_may_name_a_value_that_is_refused():
    assert problems(limit="How many. Values over 50 are rejected (e.g. 500).") == []
    assert problems(limit="How many, e.g. 500. Zero is rejected.") != []


def test_calls_in_instructions_and_in_other_tools_texts_are_held_against_the_tool_that_they_name():
    """ "Find it with search_orders()." names the tool; a call with arguments is copied."""
    orders = {"type": "object", "properties": ORDERS, "required": ["query"]}
    tools = [
        {"name": "search_orders", "description": "Searches orders of the harbor.", "inputSchema": orders},
        {"name": "get_order", "description": "Gets one.", "inputSchema": {"type": "object"}},
    ]
    tools[1]["description"] = "Gets one. Find it with search_orders() or search_orders(query='crab', state='open')."
    instructions = "Begin with search_orders(status='open')."
    policy = Policy(selection=registry.select(names=["TDQ224"]))
    found = linting.lint(catalogs.read({"tools": tools, "instructions": instructions}), policy).findings
    assert [(each.subject.name, each.message) for each in found] == [
        ("", "the call search_orders(status='open') lacks 'query', which is required"),
        ("get_order", "the call search_orders(query='crab', state='open') has 'state', which is no parameter"),
    ]


def test_a_call_in_the_text_about_a_parameter_is_an_example():
    [message] = problems(query="What is sought, as in search_orders(query='crab', state='open').")
    assert "has 'state', which is no parameter" in message
