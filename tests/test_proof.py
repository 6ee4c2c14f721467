"""The proof of a rewrite: honest words pass with their sources, and nothing else does, on real definitions."""

import json
import re
from pathlib import Path

import pytest
from definitions import tool

import tdqs_mcp
from tdqs_mcp.app import catalogs
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.facts.text.prose import find_praise
from tdqs_mcp.model import Fact, Material
from tdqs_mcp.rewriting.draft_checks import DraftChecker
from tdqs_mcp.sources.input_files import parse_material, read_material

FIND = tool(
    "find_orders",
    "Finds the open orders of one customer. Fails with an error when the customer does not exist.",
    {
        "type": "object",
        "properties": {
            "customer": {"type": "string"},
            "limit": {"type": "integer", "maximum": 50},
            "state": {"type": "string", "description": "One of: `open`, `closed`"},
        },
        "required": ["customer"],
    },
)
OTHER = tool("find_customer", "Finds customers by name.")


def refused(claims):
    return [claim for claim in claims if claim.refusal]


def claims_of(catalog, definition, *, material=None):
    measured = measure(catalog(FIND, OTHER))
    return DraftChecker(measured, material or Material()).claims(measured.subjects[0], definition)


def described(text):
    return {**FIND, "description": f"{FIND['description']} {text}"}


def with_property(name, **changes):
    schema = FIND["inputSchema"]
    properties = {**schema["properties"], name: {**schema["properties"][name], **changes}}
    return {**FIND, "inputSchema": {**schema, "properties": properties}}


@pytest.mark.parametrize(
    ("fact", "hints"),
    [
        ("It is read-only.", {"readOnlyHint": True}),
        ("read-only and does not modify any data", {"readOnlyHint": True}),
        ("It deletes nothing.", {}),
        ("It never deletes anything.", {"destructiveHint": False}),
        ("It no longer deletes anything.", {}),
        ("Nothing is read-only here.", {}),
        ("It is read-only unless `force` is set.", {}),
        ("It does not overwrite the newest draft.", {}),
        ("Only adds rows and deletes old ones.", {}),
        ("Permanently deletes the old drafts.", {"destructiveHint": True}),
        ("Deletes drafts that were never sent.", {}),
        ("Each call is rate-limited.", {}),
        ("Each call creates one more draft.", {"idempotentHint": False}),
        ("A repeated call has no further effect.", {"idempotentHint": True}),
        ("It may not be idempotent.", {}),
        ("An order from outside the country is left out.", {}),
        ("Calls a third-party service.", {"openWorldHint": True}),
        ("It never calls a third-party service.", {}),
    ],
)
def test_a_fact_proves_a_hint_only_where_it_states_it_of_the_whole_tool_without_reservation(fact, hints):
    given = parse_material({"facts": [{"tool": "find_orders", "fact": fact}]})
    [rewrite, _] = rewritten(FIND, OTHER, material=given, growth=200)
    assert rewrite.definition.get("annotations", {}) == hints
    [of_all, _] = rewritten(FIND, OTHER, material=parse_material({"facts": [fact]}), growth=200)
    assert "annotations" not in of_all.definition


def test_a_fact_that_names_a_parameter_closes_its_list_of_values(catalog):
    facts = Material(facts=(Fact(number=1, text="`customer` is one of: alpha, beta, gamma.", tool="find_orders"),))
    [claim] = claims_of(catalog, with_property("customer", enum=["alpha", "beta", "gamma"]), material=facts)
    assert claim.sources == ("fact 1",)
    for name, values in (("customer", ["alpha", "beta"]), ("state", ["alpha", "beta", "gamma"])):
        assert refused(claims_of(catalog, with_property(name, enum=values), material=facts))


def test_facts_that_contradict_each_other_prove_no_hint(catalog):
    texts = ("It is idempotent.", "Each call creates one more draft.", "It is read-only.", "Deletes old drafts.")
    facts = tuple(Fact(number=place, text=text, tool="find_orders") for place, text in enumerate(texts, 1))
    for hint in ({"idempotentHint": True}, {"idempotentHint": False}, {"readOnlyHint": True}):
        [claim] = claims_of(catalog, {**FIND, "annotations": hint}, material=Material(facts=facts))
        assert claim.sources == ()
    destructive = {**FIND, "annotations": {"destructiveHint": True}}
    [claim] = claims_of(catalog, destructive, material=Material(facts=facts[3:]))
    assert claim.sources == ("fact 4",)


@pytest.mark.parametrize(
    ("changes", "facts", "sides"),
    [
        ({"annotations": {"readOnlyHint": True}}, ["It deletes old orders."], "Fact 1 says 'It deletes old orders.', but `readOnlyHint` is true"),
        ({"annotations": {"readOnlyHint": False}}, ["It is read-only."], "Fact 1 says 'It is read-only.', but `readOnlyHint` is false"),
        ({"annotations": {"readOnlyHint": True}}, ["It changes the order's status."], "`readOnlyHint` is true"),
        ({"annotations": {"idempotentHint": True}}, ["Each call creates one more draft."], "`idempotentHint` is true"),
        ({"name": "cancel_orders"}, ["It is read-only."], "the name says 'cancel_orders'"),
        ({}, ["The limit is at most 500."], "the schema gives `limit` the maximum 50"),
        ({}, ["`limit` is at least 51."], "the schema gives `limit` the maximum 50"),
        ({}, ["`customer` is optional."], "the schema requires `customer`"),
        ({}, ["It is read-only.", "It changes the order's status."], "fact 2 says \"It changes the order's status.\""),
    ],
)  # fmt: skip
def test_facts_that_cannot_hold_stand_with_the_remark_and_are_asked_back_with_both_sides(changes, facts, sides):
    given = [{"tool": changes.get("name", "find_orders"), "fact": fact} for fact in facts]
    [rewrite, _] = rewritten({**FIND, **changes}, OTHER, material=parse_material({"facts": given}), growth=200)
    told = [claim for claim in rewrite.claims if claim.route == "fact"]
    assert told
    assert all(claim.conflict for claim in told)
    assert rewrite.definition.get("annotations") == changes.get("annotations")
    [question] = [each for each in rewrite.questions if sides in each.text]
    assert question.text.endswith("which of them holds?")
    assert [each.about for each in rewrite.questions].count("conflict") == 1


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"annotations": {"readOnlyHint": True}}, ["It changes nothing.", "It never deletes anything."]),
        ({"annotations": {"readOnlyHint": False}}, ["It marks the orders as seen."]),
        ({}, ["The limit is at most 20.", "Returns at most 25 orders a call."]),
        ({}, ["Paid orders can be cancelled.", "Shipped orders cannot be cancelled."]),
        ({}, ["It can be undone if the order is paid.", "It cannot be undone if the order is shipped."]),
    ],
)
def test_facts_that_can_hold_together_ask_nothing(changes, facts):
    given = parse_material({"facts": [{"tool": "find_orders", "fact": fact} for fact in facts]})
    [rewrite, _] = rewritten({**FIND, **changes}, OTHER, material=given, growth=200)
    assert not any(each.about == "conflict" for each in rewrite.questions)


def rewritten(*definitions, **options):
    return tdqs_mcp.rewrite(catalogs.read({"tools": list(definitions)}), **options)


PRAISES = (
    "This tool is great.",
    "Very reliable and fast.",
    "Users love it.",
    "Everyone prefers this tool.",
    "Nothing beats it.",
    "The recommended tool for orders.",
    "It is the best.",
    "Great for orders.",
    "A good choice.",
    "This tool is the one to use in all cases.",
)


@pytest.mark.parametrize("text", PRAISES)
@pytest.mark.parametrize("tool_of_fact", ["find_orders", None])
def test_praise_given_as_a_fact_is_not_taken(text, tool_of_fact):
    facts = (Fact(number=1, text=text, tool=tool_of_fact),)
    [rewrite, _] = rewritten(FIND, OTHER, material=Material(facts=facts))
    assert text not in rewrite.definition["description"]


@pytest.mark.parametrize(
    "text",
    [
        "Finds the fastest route.",
        "Lists users who like a post.",
        "Returns recommended prices.",
        "It is essential that the order is paid.",
        "The best match comes first.",
        "It is useful for audits.",
        "In all cases a receipt is sent.",
        "Best for questions about orders.",
    ],
)
def test_words_of_praise_about_what_a_tool_handles_are_none(text):
    assert find_praise(text) is None


def test_the_offline_writer_says_the_author_s_facts_and_sets_the_hints_that_they_prove():
    fact = "it is read-only and requires the permission orders.read"
    material = parse_material({"facts": [{"tool": "find_orders", "fact": fact}, "Unlike any other."]})
    first, second = rewritten(FIND, OTHER, material=material)
    assert "It is read-only and requires the permission orders.read." in first.definition["description"]
    assert first.definition["annotations"] == {"readOnlyHint": True}
    assert {source for claim in first.claims for source in claim.sources} >= {"fact 1"}
    assert "annotations" not in second.definition
    assert "Unlike" not in json.dumps([first.definition, second.definition])


def test_a_real_call_becomes_an_example_unless_it_holds_a_secret():
    calls = [
        {"tool": "find_orders", "arguments": {"customer": "C-1042"}, "result": [{"id": 1}]},
        {"tool": "find_orders", "arguments": {"token": "x"}, "result": [1]},
        {"tool": "find_orders", "arguments": {"c": "9"}, "error": "no such customer"},
    ]
    material = parse_material({"traces": calls})
    [full] = rewritten(FIND, material=material)
    assert 'Example: `{"customer": "C-1042"}`.' in full.definition["description"]
    assert "trace 1" in {source for claim in full.claims for source in claim.sources}


@pytest.mark.parametrize(
    ("ending", "sentence"),
    [
        ({"error": "order is shipped"}, "Can fail with `order is shipped`."),
        ({"error": "No order O-17."}, None),
        ({"error": "Connection to db-7f3a9c21e4 as root:hunter2 was refused after 30 seconds"}, None),
        ({"result": []}, "May return an empty list."),
        ({"result": {"orders": []}}, "May return an empty result."),
        ({"result": [1]}, 'Example: `{"order": "O-17"}`.'),
    ],
)
def test_a_recorded_call_says_of_failures_and_empty_answers_what_it_proves_and_no_more(ending, sentence):
    call = {"tool": "ship_order", "arguments": {"order": "O-17"}} | ending
    ship = tool("ship_order", "Ships an order.", {"type": "object", "properties": {"order": {"type": "string"}}})
    [rewrite] = rewritten(ship, material=parse_material({"traces": [call, call]}))
    said = rewrite.definition["description"]
    assert (sentence in said) if sentence else not re.search("fail|empty", said)
    assert ("trace 1" in rewrite.sources) is (sentence is not None)
    [again] = rewritten(rewrite.definition, material=parse_material({"traces": [call]}))
    assert again.definition["description"] == said


def unused(*facts, definition=FIND, **material):
    given = [{"tool": definition["name"], "fact": fact} if isinstance(fact, str) else fact for fact in facts]
    return {
        each.source: each.reason
        for each in rewritten(definition, material=parse_material({"facts": given} | material))[0].unused
    }


def test_what_of_the_material_is_not_used_is_listed_with_the_reason():
    reasons = unused("Users love it.", "Finds orders.", "The limit is at most 500.", "Kept for 90 days.", docs="Old.")
    assert list(reasons) == ["fact 1", "fact 2", "docs"]
    assert "praises" in reasons["fact 1"]
    assert "says it already" in reasons["fact 2"]
    assert "model's writer" in reasons["docs"]
    calls = [{"tool": "find_orders", "arguments": {"customer": "x"}, **end} for end in ({"error": "x"}, {"result": 1})]
    assert ["short" in unused(traces=calls)["trace 1"], "trace 2" in unused(traces=calls)] == [True, False]
    assert unused() == {}


FACTS = [{"tool": "find_orders", "fact": "Orders are kept for 90 days."}]


def test_what_is_not_used_has_a_reason():
    [rewrite] = rewritten(FIND, material=parse_material({"docs": "Old.", "facts": FACTS}))
    [line] = rewrite.unused
    assert (line.source, "model's writer" in line.reason) == ("docs", True)


def test_what_is_not_used_is_shown_once_for_the_whole_catalog(command, write):
    material = write("material.json", {"facts": ["Ours.", {"tool": "find_orders", "fact": "Users love it."}]})
    shop = write("shop.json", [FIND, OTHER])
    for form in ("text", "markdown"):
        text = command("rewrite", shop, "--material", material, "--format", form).stdout.decode()
        assert text.count("not used: fact 1: ") == 1
        assert text.count("not used: fact 2: ") == 1
        assert "praises and tells nothing" in text
    shown = json.loads(command("rewrite", shop, "--material", material, "--format", "json").stdout)
    assert [[each["source"] for each in one["unused"]] for one in shown["rewrites"]] == [
        ["fact 1", "fact 2"],
        ["fact 1"],
    ]


CALLED = {
    "type": "object",
    "properties": {
        "state": {"type": "string", "enum": ["open-and-paid-2026", "closed"]},
        "customer": {"type": "string", "examples": ["c0ffee-1042-2026"]},
    },
}


@pytest.mark.parametrize(
    ("arguments", "is_shown"),
    [
        ({"customer": "C-1042", "limit": 5, "since": "2026-11-21", "is_open": True}, True),
        ({"customer": "c0ffee-1042-2026", "state": "open-and-paid-2026"}, True),
        ({"text": "late orders", "tags": ["red", "blue"], "within": {"town": "Zwolle"}}, True),
        ({"customer": "sk-live-51H8xQ2eZvKYlo2C"}, False),
        ({"customer": "eyJhbGciOiJIUzI1NiJ9"}, False),
        ({"customer": "jan@example.org"}, False),
        ({"customer": "4111 1111 1111 1111"}, False),
        ({"customer": 4111111111111111}, False),
        ({"customer": "https://example.org/?sig=ab"}, False),
        ({"apiKey": "red"}, False),
        ({"access_token": "red"}, False),
        ({"headers": {"Authorization": "red"}}, False),
        ({"logins": [{"password": "red"}]}, False),
        ({"text": "a text that somebody wrote and that is nobody's business"}, False),
    ],
)
def test_only_plain_values_and_those_that_the_schema_knows_become_an_example(arguments, is_shown):
    material = parse_material({"traces": [{"tool": "find_orders", "arguments": arguments, "result": "done"}]})
    [rewrite] = rewritten({**FIND, "inputSchema": CALLED}, material=material, growth=200)
    assert ("Example:" in rewrite.definition["description"]) is is_shown


def test_many_facts_cost_no_more_than_their_number(compare_work):
    """Eight times the facts; comparing each with each would cost 64 times as much."""

    def cost(count):
        facts = [{"tool": "find_orders", "fact": f"Kind{n}x is held by depot{n}y."} for n in range(count)]
        rewritten(FIND, material=parse_material({"facts": facts}))

    compare_work(lambda: cost(1600), lambda: cost(200), at_most=12, rounds=3)


def test_no_definition_grows_beyond_what_is_allowed():
    listed = tool("list_customers", "Lists the customers of the shop.")
    schema = {"type": "object", "properties": {"customer_id": {"type": "string"}}, "required": ["customer_id"]}
    pair = (tool("find_orders", "Find orders.", schema), listed)
    free, bound, none = (rewritten(*pair, growth=growth)[0] for growth in (60, 3, 0))
    assert free.tokens_after - free.tokens_before > 3
    assert bound.tokens_after - bound.tokens_before <= 3
    assert none.tokens_after <= none.tokens_before


def test_a_sentence_that_tells_two_siblings_apart_does_not_make_them_more_alike():
    twin = tool("find_open_orders", "Finds the unpaid orders of a shop for a reminder.")
    [rewrite, _] = rewritten(tool("find_orders", "Finds the orders of a shop."), twin)
    assert "find_open_orders" in rewrite.definition["description"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "is not an object; its format is {answers"),
        ({"fact": ["x"]}, "unknown key 'fact'"),
        ({"facts": "x"}, "facts must be a list"),
        ({"facts": ["x", 3]}, "fact 2 must be a statement"),
        ({"facts": [{"tool": "x"}]}, "fact 1 must be a statement"),
        ({"traces": [{"tool": "x"}]}, "trace 1 must have tool, arguments and either result or error"),
        ({"traces": [{"tool": "x", "result": 1, "error": 2}]}, "trace 1 must have"),
        ({"traces": [{"tool": "x", "arguments": [], "result": 1}, {"tool": "x", "arguments": [1], "result": 1}]}, "arguments of trace 2 must be an object"),
        ({"docs": ["x"]}, "docs must be a text"),
    ],
)  # fmt: skip
def test_material_that_cannot_be_read_ends_the_command_with_the_reason(command, write, given, words):
    done = command("rewrite", write("shop.json", [FIND]), "--material", write("material.json", given))
    assert done.returncode == 2
    assert words in done.stderr.decode()


LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)) + "docs: x"
DEEP_ANSWER = f'{{"traces": [{{"tool": "find_orders", "result": {"[" * 800}{"]" * 800}}}]}}'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("facts: [", "line 1, column 9"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
        ("facts: [1, *x]", "anchors and aliases are not read"),
        (LAUGHS, "line 1, column 5: anchors and aliases are not read"),
        ("facts:\n- 2024-13-45", "line 2, column 3: month must be in 1..12"),
        ("[" * 5000, "nests too deep"),
        (DEEP_ANSWER, "the answer of trace 1 nests too deep"),
        ('{"docs": "' + "x" * 2**21, "too large to be read as YAML"),
        ('{"docs": "' + "x" * 2**23 + '"}', "more than 8388608 bytes"),
    ],
)
def test_a_file_that_cannot_be_read_ends_the_command_with_the_place(command, write, content, words):
    done = command("rewrite", write("shop.json", [FIND]), "--material", write("material.yml", content))
    assert done.returncode == 2
    assert "material.yml" in done.stderr.decode()
    assert words in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()


def test_json_is_read_as_json_whatever_yaml_would_make_of_it(write):
    facts = ["\U0001f600 in two halves", "a\ttab"]
    content = json.dumps({"facts": facts, "docs": "x" * 2**22}, indent="\t")
    assert [fact.text for fact in read_material(Path(write("material.json", content))).facts] == facts


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"facts": ["x", {"tool": "find_order", "fact": "x"}]}, "fact 2 of the material is about a tool 'find_order'"),
        ({"traces": [{"tool": "gone", "result": 1}]}, "trace 1 of the material is about a tool 'gone'"),
    ],
)
def test_material_about_a_tool_that_is_not_there_ends_the_command(command, write, given, words):
    done = command("rewrite", write("shop.json", [FIND]), "--material", write("material.json", given))
    assert done.returncode == 2
    assert words in done.stderr.decode()
    assert "find_orders" in done.stderr.decode()


def test_the_command_takes_material_in_yaml_and_shows_the_proof(command, write):
    material = write("material.yml", "facts:\n  - tool: find_orders\n    fact: Returns at most 25 orders a call.\n")
    shop = write("shop.json", [FIND, OTHER])
    text = command("rewrite", shop, "--tool", "find_orders", "--material", material).stdout.decode()
    text = " ".join(text.split())
    assert "Returns at most 25 orders a call." in text
    shown = command("rewrite", shop, "--material", material, "--format", "json").stdout
    first, _ = json.loads(shown)["rewrites"]
    assert ("Returns at most 25 orders a call.", ["fact 1"]) in [
        (each["text"], each["sources"]) for each in first["claims"]
    ]
    assert first["components"]["purpose"].startswith("Finds the open orders")
    assert (first["writer"], first["setback"]) == ("offline", None)
