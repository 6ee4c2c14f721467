"""`grade` is MCP Playground's arithmetic: equal to an independent calculation, whatever the server offers."""

import json
import os
import sys
from contextlib import suppress

import jsonschema
import misbehaving_server
import playground_grade
import pytest
from any_json import ANYTHING
from any_json import TOOLS as ANY_TOOL
from definitions import tool
from hypothesis import given, settings
from hypothesis import strategies as st
from schemas import SCHEMAS, VALIDATORS

from tdqs_mcp import LiveOptions, sync
from tdqs_mcp.app import catalogs, judging
from tdqs_mcp.errors import InputError
from tdqs_mcp.report.blocks import as_markdown
from tdqs_mcp.report.json_values import document, json_text
from tdqs_mcp.report.score_report import grade_blocks

SERVERS = os.environ.get("TDQS_TEST_SERVERS", "")
FINE = tool(
    "find_berth",
    "Find a free berth for a ship.",
    {"type": "object", "properties": {"ship": {"type": "string", "description": "IMO number"}}, "required": ["ship"]},
)


def listed(catalog):
    """The raw parts of a catalog as the independent calculation takes them."""
    resources = [each.raw for each in catalog.resources or () if not each.is_template]
    prompts = [each.raw for each in catalog.prompts or ()]
    greeted = catalog.protocol_version is not None or catalog.server_info is not None
    info = (catalog.server_info or {}) if greeted else None
    return [each.raw for each in catalog.tools], resources, prompts, info


def earned(catalog):
    result = judging.grade(catalog)
    return result.score, result.letter


def score(*tools, **listings):
    return judging.grade(catalogs.read({"tools": list(tools), **listings})).score


# Equal to the methodology


def test_every_real_catalog_gets_the_score_of_an_independent_calculation(catalog_files):
    catalogs = [sync.load(str(path)) for path in catalog_files]
    assert [earned(each) for each in catalogs] == [playground_grade.expected(*listed(each)) for each in catalogs]
    assert {judging.grade(each).letter for each in catalogs} == set("ABCDF")


LENGTHS = [None, "", " \t", "Bell.", "123456789", "1234567890", "x" * 19, f" {'x' * 20} ", "x" * 500, "x" * 501]
TEXTS = st.sampled_from([*LENGTHS, "😀" * 251, "find berth", "Find-Berth", "findBerth", "find berth."])
PROPERTIES = st.dictionaries(
    st.sampled_from(["ship", "day", "a/b~c", ""]),
    st.none()
    | st.booleans()
    | st.just(0)
    | st.just(7)
    | st.just("")
    | st.just("text")
    | st.fixed_dictionaries(
        {},
        optional={
            "description": TEXTS | st.just(5),
            "type": st.sampled_from(["string", "", None, ["string", "null"]]),
            "enum": st.sampled_from([[], ["a"], None]),
            "anyOf": st.just([]),
            "oneOf": st.just([{}]),
            "allOf": st.just([]),
            "$ref": st.sampled_from(["#/$defs/x", ""]),
            "const": st.just("a"),
        },
    ),
)
INPUTS = st.sampled_from([None, [], "text"]) | st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "string", None, ["object"]]),
        "properties": PROPERTIES | st.none() | st.just([]),
        "required": st.lists(st.sampled_from(["ship", "day", "berth", 7, None])) | st.none() | st.just("ship"),
    },
)
NAMES = st.sampled_from(
    ["find_berth", "find-berth", "findBerth", "find.berth", "_find", "9", "naïve", "K\u212a", "x\n"]
)
TOOLS = st.fixed_dictionaries({"name": NAMES, "description": TEXTS, "inputSchema": INPUTS})
RESOURCES = st.fixed_dictionaries(
    {"uri": st.just("harbour://chart")},
    optional={"name": TEXTS, "description": TEXTS, "mimeType": st.sampled_from(["", "text/plain", None])},
)
ARGUMENTS = st.fixed_dictionaries({"name": st.just("week")}, optional={"description": TEXTS})
PROMPTS = st.fixed_dictionaries(
    {"name": st.just("report")}, optional={"description": TEXTS, "arguments": st.lists(ARGUMENTS) | st.none()}
)
INFO = st.fixed_dictionaries(
    {"title": st.just("Harbour")},
    optional={
        "name": st.sampled_from(["", "Unknown Server", "harbour", None]),
        "version": st.sampled_from(["", "unknown", "1", None]),
    },
)


@given(st.lists(TOOLS, max_size=3), st.lists(RESOURCES, max_size=2), st.lists(PROMPTS, max_size=2), INFO)
def test_whatever_is_listed_gets_the_score_of_an_independent_calculation(tools, resources, prompts, info):
    catalog = catalogs.read({"tools": tools, "resources": resources, "prompts": prompts, "serverInfo": info})
    assert earned(catalog) == playground_grade.expected(tools, resources, prompts, info)


@given(st.lists(TOOLS, max_size=3))
def test_every_point_that_is_lost_is_accounted_for(tools):
    result = judging.grade(catalogs.read({"tools": tools}))
    lost = sum(deduction.points for deduction in result.deductions)
    assert result.score == (max(0, min(100, 100 - lost + result.bonus)) if tools else 0)


@pytest.mark.parametrize(
    ("score", "letter"),
    [(100, "A"), (90, "A"), (89, "B"), (75, "B"), (74, "C"), (60, "C"), (59, "D"), (40, "D"), (39, "F"), (0, "F")],
)
def test_a_letter_begins_at_its_threshold(score, letter):
    names = dict.fromkeys(f"p{number}" for number in range(105 - score))
    schema = {"type": "object", "properties": {}, "required": []} | {"allOf": []}
    tools = [FINE | {"name": f"{name}.x", "inputSchema": schema} for name in names]
    result = judging.grade(catalogs.read({"tools": tools}))
    assert (result.score, result.letter) == (score, letter)


def test_the_bonus_comes_before_the_limit():
    undocumented = {
        "type": "object",
        "properties": {f"p{n}": {"type": "string"} for n in range(20)},
        "required": ["p0"],
    }
    assert score(FINE | {"inputSchema": undocumented}) == 5
    assert score(FINE) == 100


def test_one_description_of_nineteen_characters_costs_the_whole_server_its_bonus():
    dotted = FINE | {"name": "find.berth"}
    assert score(FINE, dotted) == 100
    assert score(dotted, FINE | {"name": "ring", "description": "x" * 20}) == 100
    assert score(dotted, FINE | {"name": "ring", "description": "x" * 19}) == 99


def test_the_source_s_severity_counts_even_where_our_rule_is_milder():
    (deduction,) = judging.grade(catalogs.read({"tools": [FINE], "prompts": [{"name": "report"}]})).deductions
    assert (deduction.alias, deduction.severity, deduction.points) == ("prompt-no-description", "error", 15)


# What is not known


def test_a_listing_that_nobody_asked_for_costs_nothing():
    result = judging.grade(catalogs.read({"tools": [FINE]}))
    assert (result.score, result.judged.resources, result.judged.prompts, result.deductions) == (100, None, None, ())


def test_a_server_that_offers_nothing_has_score_0():
    result = judging.grade(catalogs.read({"tools": [], "resources": [], "prompts": []}))
    assert (result.score, result.letter) == (0, "F")
    assert [deduction.alias for deduction in result.deductions] == ["server-empty"]


def test_a_declared_listing_that_failed_leaves_a_server_without_tools_ungraded():
    greeting = {"serverInfo": {"name": "harbour", "version": "1"}, "capabilities": {"resources": {}}}
    result = judging.grade(catalogs.read({"tools": [], "prompts": [], **greeting}))
    assert (result.score, result.letter, result.deductions) == (None, None, ())


@settings(max_examples=100)
@given(st.lists(ANY_TOOL, max_size=3), st.lists(ANYTHING, max_size=2), st.lists(ANYTHING, max_size=2), ANYTHING)
def test_any_json_is_graded_and_shown(tools, resources, prompts, info):
    listed = {"tools": tools, "resources": resources, "prompts": prompts, "serverInfo": info}
    with suppress(InputError):
        result = judging.grade(catalogs.read(listed, server="any"))
        assert len(result.unmeasured) <= result.judged.tools == len(tools)
        VALIDATORS["grade"].validate(json.loads(json_text(document(result)).encode("utf-8")))
        as_markdown(grade_blocks(result)).encode("utf-8")


# The command


def test_the_grade_is_told_with_what_costs_most(command, write):
    ring = FINE | {
        "name": "ring",
        "description": "Rings it.",
        "inputSchema": {"type": "object", "properties": {"a": {}}},
    }
    run = command("score", "--rubric", "playground", write("quay.json", [FINE, ring]))
    assert run.returncode == 0
    assert run.stdout.decode().splitlines() == [
        "quay · MCP Playground B (84 of 100)",
        "2 tools, resources not listed, prompts not listed · 100 - 16",
        "",
        "points  rule                    times  first",
        "    -5  tool-short-description      1  ring: the description has 9 characters, fewer than 10",
        "    -5  prop-no-description         1  ring: the property 'a' has no description",
        "    -5  prop-no-type                1  ring: the property 'a' has no type",
        "    -1  tool-no-required            1  ring: no property is required",
        "",
        "Next: tdqs-mcp rules tool-short-description",
    ]


def test_a_perfect_server_has_nothing_to_explain(command, write):
    run = command("score", "--rubric", "playground", write("quay.json", [FINE]))
    assert run.stdout.decode().splitlines() == [
        "quay · MCP Playground A (100 of 100)",
        "1 tool, resources not listed, prompts not listed · 100 - 0 + 5 (every tool is described)",
    ]


@pytest.mark.parametrize(("letter", "code"), [("A", 1), ("B", 0), ("C", 0), ("D", 0), ("F", 0), (None, 0)], ids=str)
def test_fail_under_is_exit_1_below_its_letter(command, write, letter, code):
    poor = FINE | {"name": "ring", "description": None, "inputSchema": None}
    gate = ["--fail-under", letter] if letter else []
    run = command(
        "score",
        "--rubric",
        "playground",
        write("quay.json", [FINE, poor, FINE | {"name": "a.b"}, FINE | {"name": "c.d"}]),
        *gate,
    )
    assert run.returncode == code
    assert run.stdout.decode().startswith("quay · MCP Playground B (78 of 100)")


def test_json_is_the_published_contract(command, write):
    run = command(
        "score",
        "--rubric",
        "playground",
        write("quay.json", {"tools": [FINE | {"name": "a.b"}], "prompts": []}),
        "--format",
        "json",
    )
    document = json.loads(run.stdout)
    jsonschema.validate(document, SCHEMAS["grade"])
    assert document | {"generatedBy": ""} == {
        "server": {"name": "quay", "version": None, "source": "quay.json"},
        "methodology": "mcp-playground",
        "score": 100,
        "letter": "A",
        "bonus": 5,
        "deductions": [
            {
                "rule": "TDQ217",
                "alias": "tool-name-convention",
                "severity": "info",
                "points": 1,
                "subject": {"kind": "tool", "name": "a.b"},
                "path": "/name",
                "message": "the name 'a.b' is unusual",
                "suggestion": "prefer snake_case or kebab-case",
            }
        ],
        "judged": {"tools": 1, "resources": None, "prompts": 0},
        "unread": [],
        "problems": [],
        "generatedBy": "",
    }


def test_a_tool_that_cannot_be_read_leaves_a_passing_verdict_open(command, write):
    file = write("quay.json", [FINE, {"description": "It has no name.", "inputSchema": {"type": "object"}}])
    open_verdict = command("score", "--rubric", "playground", file, "--fail-under", "B")
    assert open_verdict.returncode == 2
    assert b"not judged: tool 2: the definition has no name" in open_verdict.stdout
    assert command("score", "--rubric", "playground", file).returncode == 0
    assert json.loads(command("score", "--rubric", "playground", file, "--format", "json").stdout)["unread"] == [
        {"name": "", "reason": "the definition has no name, so no client can call it"}
    ]


def test_nothing_to_judge_is_exit_2_and_never_a_letter(command, write):
    run = command("score", "--rubric", "playground", write("quay.json", {"tools": [], "capabilities": {"prompts": {}}}))
    assert run.returncode == 2
    assert run.stdout.decode().startswith("quay · MCP Playground no grade")


@pytest.mark.parametrize("content", [b"", b"{", b"[1, 2]", b'{"tools": 7}'])
def test_what_cannot_be_read_is_one_line_and_exit_2(command, write, content):
    run = command("score", "--rubric", "playground", write("quay.json", content))
    assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (2, b"", 1)


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_text_of_a_definition_cannot_act_where_it_is_shown(command, write, form):
    evil = "a\x1b[31m|<b>@all\u202e\ud800"
    hostile = tool(evil, "x", {"type": "object", "properties": {evil: {"type": "string"}}, "required": [f"{evil}2"]})
    listings = {"resources": [{"uri": evil}], "prompts": [{"name": evil, "arguments": [{"name": evil}]}]}
    run = command(
        "score",
        "--rubric",
        "playground",
        write("quay.json", json.dumps({"tools": [hostile], **listings})),
        "--format",
        form,
    )
    assert run.returncode == 0, run.stderr
    text = run.stdout.decode()
    assert "\x1b" not in text
    assert "\u202e" not in text
    if form == "markdown":
        assert "<b>" not in text
        assert {line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("|")} == {5}


# Live servers


SERVER = '''
from mcp.server.mcpserver import MCPServer

server = MCPServer("harbour", version="1.0")


@server.tool()
def ring(bell: str) -> None:
    """Ring."""


@server.resource("harbour://chart", mime_type="")
def chart() -> str:
    return ""


@server.resource("harbour://{quay}/chart")
def part(quay: str) -> str:
    return ""


@server.prompt()
def report(week: str) -> str:
    return week
'''


def test_resources_and_prompts_of_a_server_in_this_process_are_judged(command, write, tmp_path):
    write("harbour_server.py", SERVER)
    run = command("score", "--rubric", "playground", "py:harbour_server:server", "--cwd", tmp_path, "--format", "json")
    assert run.returncode == 0, run.stderr
    document = json.loads(run.stdout)
    found = {(each["alias"], each["subject"]["kind"], each["subject"]["name"]) for each in document["deductions"]}
    assert found >= {
        ("tool-short-description", "tool", "ring"),
        ("prop-no-description", "tool", "ring"),
        ("resource-no-description", "resource", "chart"),
        ("prompt-no-description", "prompt", "report"),
        ("prompt-arg-no-description", "prompt", "report"),
    }
    assert document["judged"] == {"tools": 1, "resources": 1, "prompts": 1}
    catalog = sync.load("py:harbour_server:server", LiveOptions(cwd=str(tmp_path)))
    assert earned(catalog) == playground_grade.expected(*listed(catalog)) == (document["score"], document["letter"])


@pytest.mark.process
def test_a_server_that_does_not_name_itself_is_charged_for_name_and_version():
    catalog = sync.load(f"stdio:{sys.executable} {misbehaving_server.__file__} no-server-info")
    aliases = [deduction.alias for deduction in judging.grade(catalog).deductions]
    assert {"server-no-name", "server-no-version"} <= set(aliases)
    assert earned(catalog) == playground_grade.expected(*listed(catalog))


@pytest.mark.skipif(not SERVERS, reason="TDQS_TEST_SERVERS is unset: run tests/real_servers.sh DIR and set it to DIR")
@pytest.mark.process
def test_a_published_server_with_resources_and_prompts_gets_the_score_of_an_independent_calculation():
    path = f"{SERVERS}/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    catalog = sync.load(f"stdio:node {path}")
    result = judging.grade(catalog)
    assert result.judged.resources
    assert result.judged.prompts
    assert (result.score, result.letter) == playground_grade.expected(*listed(catalog))
    kinds = {deduction.subject.kind for deduction in result.deductions}
    assert "prompt" in kinds
