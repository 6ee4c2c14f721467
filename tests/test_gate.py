"""Suites: what mcptest's `tool_quality` block asks for, and what else a server can be held to."""

import json
import os
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import SimpleNamespace as Fields
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from definitions import flat, tool
from schemas import SCHEMAS

import tdqs_mcp
from tdqs_mcp.errors import InputError
from tdqs_mcp.gate import policy
from tdqs_mcp.gate.suite import parse
from tdqs_mcp.results.checks import Check, GateResult, GateRow
from tdqs_mcp.results.findings import Outcome
from tdqs_mcp.results.labels import Label, Letter, SkillScore
from tdqs_mcp.results.verdicts import Tier, Ungraded
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.rollup import roll_up

EXAMPLE = Path(__file__).parents[1] / "examples"
SERVERS = os.environ.get("TDQS_TEST_SERVERS", "")

FILESYSTEM = '''
import os, sys
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
from pydantic import Field
from typing import Annotated

if "STARTS" in os.environ:
    with open(os.environ["STARTS"], "a") as file:
        file.write(" ".join(sys.argv[1:]) + os.environ.get("TOKEN", "") + "\\n")
server = MCPServer("files")
READS = ToolAnnotations(read_only_hint=True)
Path = Annotated[str, Field(description="Path below the allowed folder.")]

@server.tool(annotations=READS)
def read_file(path: Path) -> str:
    """Read the whole text of one file below the allowed folder. Returns the text; fails when there is no such file."""

@server.tool(annotations=READS)
def list_directory(path: Path) -> list[str]:
    """List the names of the files in one folder below the allowed one. Returns them in order, folders with a slash."""

server.run("stdio")
'''

SUITE = """
servers:
  filesystem:
    command: {command}

tool_quality:
  - name: "tool descriptions meet the quality bar"
    server: filesystem
    expect: # optional; defaults apply if omitted
      - target: min_score
        matcher: {{ schema: {{ minimum: 0.50 }} }}
      - target: mean_score
        matcher: {{ schema: {{ minimum: 0.70 }} }}
      # fail on any research-backed critical finding
      - target: critical_count
        matcher: {{ schema: {{ maximum: 0 }} }}
      # power user: gate one tool by name
      - target: tool["read_file"].score
        matcher: {{ schema: {{ minimum: 0.60 }} }}
"""
"""mcptest's documented suite, whose command alone is filled in."""

GOOD = tool(
    "find_orders",
    "Finds the open orders of one customer, newest first. Use it when you know the customer. Returns at most 50 orders.",
    {"type": "object", "properties": {"customer": {"type": "string", "description": "Customer ID"}}},
    annotations={"readOnlyHint": True},
)
POOR = tool("process", "Process", flat(3))


@pytest.fixture
def gate(command, write, tmp_path):
    """Write a suite and run the gate on it."""

    def run(suite, *arguments, **options):
        return command("gate", write("suite.yml", suite), *arguments, cwd=tmp_path, **options)

    return run


@pytest.fixture
def held(gate, write):
    """The checks of one entry about definitions, by target."""

    def run(definitions, **expect):
        write("shop.json", {"tools": definitions})
        expectations = [{"target": name, "matcher": {"schema": bar}} for name, bar in expect.items()]
        suite = {
            "servers": {"shop": {"locator": "shop.json"}},
            "tool_quality": [{"name": "holds", "server": "shop"} | ({"expect": expectations} if expect else {})],
        }
        done = gate(json.dumps(suite), "--format", "json")
        document = json.loads(done.stdout)
        jsonschema.validate(document, SCHEMAS["gate"])
        [row] = document["rows"]
        return done.returncode, {check["target"]: check for check in row["checks"]}

    return run


# mcptest's block


@pytest.mark.process
def test_the_documented_suite_runs_as_it_stands_on_a_real_server(gate, write):
    command = json.dumps([sys.executable, str(write("files.py", FILESYSTEM)), "/tmp"])  # noqa: S108  # its own argument
    done = gate(SUITE.format(command=command))
    assert done.stdout.decode().splitlines() == [
        "PASS  tool descriptions meet the quality bar (filesystem)",
        "      min_score is 1, wanted >= 0.5",
        "      mean_score is 1, wanted >= 0.7",
        "      critical_count is 0, wanted <= 0",
        '      tool["read_file"].score is 1, wanted >= 0.6',
        "1 passed",
    ]
    assert done.returncode == 0, done.stderr.decode()


def test_a_failed_row_says_what_was_missed_and_not_what_was_met(gate, write):
    write("tools.json", [tool("list_orders", "Lists orders.")])
    expect = [
        {"target": "mean_tdqs", "matcher": {"schema": {"minimum": 1}}},
        {"target": "mean_tdqs", "matcher": {"schema": {"minimum": 5}}},
    ]
    servers = {"shop": {"locator": "tools.json"}}
    block = [{"name": "holds", "server": "shop", "expect": expect}]
    done = gate(json.dumps({"servers": servers, "tool_quality": block}))
    [head, missed, summary] = done.stdout.decode().splitlines()
    assert (head, summary) == ("FAIL  holds (shop)", "1 failed")
    assert missed.endswith("wanted >= 5")


@pytest.mark.skipif(not SERVERS, reason="TDQS_TEST_SERVERS is unset: run tests/real_servers.sh DIR and set it to DIR")
@pytest.mark.process
def test_the_documented_suite_decides_about_the_published_filesystem_server(gate):
    command = ["node", f"{SERVERS}/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", "."]
    done = gate(SUITE.format(command=json.dumps(command)), "--format", "json")
    [row] = json.loads(done.stdout)["rows"]
    assert [check["target"] for check in row["checks"]] == [
        "min_score",
        "mean_score",
        "critical_count",
        'tool["read_file"].score',
    ]
    assert "ERROR" not in {check["result"] for check in row["checks"]}
    assert done.returncode == (row["result"] == "FAIL")


def test_an_entry_without_expect_has_the_published_defaults(held):
    code, checks = held([GOOD])
    assert {target: check["wanted"] for target, check in checks.items()} == {
        "min_score": ">= 0.5",
        "mean_score": ">= 0.7",
        "critical_count": "<= 0",
    }
    assert code == 0


def test_one_bad_tool_fails_the_defaults_by_its_score_and_by_its_severity(held):
    code, checks = held([*[GOOD | {"name": f"find_{number}"} for number in range(9)], POOR])
    assert {target: check["result"] for target, check in checks.items()} == {
        "min_score": "FAIL",
        "mean_score": "PASS",
        "critical_count": "FAIL",
    }
    assert checks["min_score"]["reason"] == "lowest: 'process'"
    assert checks["critical_count"]["reason"].startswith("first: 'process', ")
    assert code == 1


SCHEMA_OF_TWO = {"type": "object", "properties": {"a": {"description": "Described."}, "b": {}}}


@pytest.mark.parametrize(
    ("definition", "score"),
    [
        (GOOD, "1"),
        (tool(description=None), "0.166"),  # no parameters to document, and nothing else
        (tool(description="x" * 19), "0.5"),  # present, concise, no parameters
        (tool(description="x" * 20), "0.533"),  # and a fifth of an ample length
        (tool(description="x" * 100), "0.666"),
        (tool(description="x" * 500), "0.666"),
        (tool(description="x" * 1000), "0.583"),  # half as concise
        (tool(description="x" * 100, schema=SCHEMA_OF_TWO), "0.583"),  # half of the parameters
        (tool(description="x" * 100, outputSchema={"type": "object"}), "0.833"),
        (tool(description="x" * 100, annotations={"idempotentHint": False}), "0.833"),
        (tool(description="x" * 100, annotations={"idempotentHint": "no"}), "0.666"),
    ],
)
def test_a_score_is_the_mean_of_six_heuristics(held, definition, score):
    _, checks = held([definition], **{f'tool["{definition["name"]}"].score': {"minimum": 0}})
    [check] = checks.values()
    assert check["actual"] == score


def test_a_bar_is_exact(held):
    two_thirds = tool(description="x" * 100)
    definitions = [two_thirds, two_thirds | {"name": "u", "annotations": {"readOnlyHint": True}}]
    assert held(definitions, mean_score={"minimum": 0.75, "maximum": 0.75})[0] == 0
    assert held(definitions, mean_score={"minimum": 0.7500001})[0] == 1
    assert held([two_thirds], min_score={"minimum": 0.667})[0] == 1
    assert held([tool(description="x" * 500)], min_score={"minimum": 0.6666})[0] == 0
    assert held([tool(description="x" * 501)], min_score={"minimum": 0.6666})[0] == 1


def test_a_bar_is_told_with_both_of_its_ends(held):
    bars = {"tokens": {"minimum": 1, "maximum": 99.5}, "overall_tier": {"minimum": "D", "enum": ["A", "D"]}}
    checks = held([GOOD, POOR], **bars)[1]
    assert [each["wanted"] for each in checks.values()] == [">= 1 and <= 99.5", ">= D and one of A, D"]


# Ours


def test_tiers_tokens_coherence_and_findings_are_targets_as_well(held):
    code, checks = held(
        [GOOD, POOR],
        **{
            "min_tdqs": {"minimum": 1, "maximum": 2},
            "mean_tdqs": {"minimum": 2},
            "overall_tier": {"minimum": "D"},
            "coherence": {"minimum": 1, "maximum": 5},
            "tokens": {"maximum": 200},
            "warning_count": {"maximum": 40},
            'findings["restated-name"]': {"minimum": 1, "maximum": 1},
            "findings['TDQ101']": {"maximum": 1},
            'findings["DESC-001"]': {"maximum": 0},
            'tool["find_orders"].tdqs': {"minimum": 3},
            'tool["process"].tokens': {"maximum": 10},
        },
    )
    missed = {target for target, check in checks.items() if check["result"] != "PASS"}
    assert missed == {'findings["DESC-001"]', 'tool["process"].tokens'}
    assert checks["tokens"]["actual"].isdigit()
    assert code == 1


@pytest.mark.parametrize(
    ("bar", "code"),
    [({"minimum": "D"}, 0), ({"minimum": "A"}, 1), ({"enum": ["C", "D"]}, 0), ({"enum": ["A", "F"]}, 1)],
)
def test_a_tier_is_held_to_the_lowest_letter_or_to_a_choice(held, bar, code):
    assert held([GOOD, POOR], overall_tier=bar)[0] == code


# What cannot be known

NAMELESS = {"description": "Has no name.", "inputSchema": {"type": "object"}}


def test_what_cannot_be_measured_is_never_a_number(held):
    code, checks = held([GOOD, NAMELESS])
    assert {check["result"] for check in checks.values()} == {"ERROR"}
    assert checks["min_score"]["actual"] == "0 to 1"
    assert checks["critical_count"]["actual"] == "at least 0"
    assert "1 of 2 tools cannot be measured, such as 'tool 2'" in checks["mean_score"]["reason"]
    assert code == 2


def test_what_cannot_be_measured_leaves_open_only_what_it_could_change(held):
    code, checks = held(
        [POOR, NAMELESS], min_score={"minimum": 0.9}, mean_score={"minimum": 0.1}, tokens={"minimum": 5}
    )
    assert [check["result"] for check in checks.values()] == ["FAIL", "PASS", "PASS"]
    assert code == 1
    nine = [GOOD | {"name": f"find_{number}"} for number in range(9)]
    assert held([*nine, NAMELESS], mean_tdqs={"minimum": 1})[0] == 0
    assert held([*nine, NAMELESS], min_tdqs={"minimum": 2})[0] == 2


NAMED = "1 of 3 tools cannot be measured, such as 'tool 3'"


@pytest.mark.parametrize(
    ("target", "bar", "actual", "result", "reason"),
    [
        ("min_score", {"minimum": 0.4}, "0 to 0.333", "FAIL", "lowest: 'process'"),
        ("min_score", {"minimum": 0.1, "maximum": 0.2}, "0 to 0.333", "ERROR", NAMED),
        ("min_score", {"maximum": 0.4}, "0 to 0.333", "PASS", None),
        ("mean_score", {"minimum": 0.5}, "0.444 to 0.777", "ERROR", NAMED),
        ("mean_score", {"minimum": 0.8}, "0.444 to 0.777", "FAIL", None),
        ("critical_count", {"maximum": 0}, "at least 1", "FAIL", "first: 'process', the description has 7 characters, fewer than 20"),
        ("critical_count", {"minimum": 2, "maximum": 3}, "at least 1", "ERROR", NAMED),
        ("warning_count", {"minimum": 6}, "at least 6", "PASS", None),
        ("warning_count", {"minimum": 7}, "at least 6", "ERROR", NAMED),
        ("tokens", {"maximum": 109}, "at least 109", "ERROR", NAMED),
        ("tokens", {"maximum": 108}, "at least 109", "FAIL", "most expensive: 'find_orders', 57"),
        ('findings["TDQ101"]', {"maximum": 1}, "at least 1", "ERROR", NAMED),
        ('tool["process"].score', {"minimum": 0.3}, "0.333", "PASS", None),
        ('tool["find_orders"].tokens', {"minimum": 57, "maximum": 57}, "57", "PASS", None),
        ("overall_tier", {"minimum": "A"}, "D", "FAIL", None),
        ("overall_tier", {"enum": ["A", "D"]}, None, "ERROR", "what is ungraded leaves the tier open"),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_between_bounds_that_the_bar_decides_by(held, target, bar, actual, result, reason):
    [check] = held([GOOD, POOR, NAMELESS], **{target: bar})[1].values()
    assert (check["actual"], check["result"], check.get("reason")) == (actual, result, reason)


def test_a_tool_without_a_score_may_have_the_lowest_or_the_highest(held):
    tools = {f'tool["{name}"].tdqs': {"minimum": 1} for name in ("find_orders", "process")}
    catalog = [*[GOOD | {"name": f"find_orders_{number}"} for number in range(3)], GOOD, POOR]
    bars = tools | {"min_tdqs": {"minimum": 5}, "mean_tdqs": {"minimum": 5}}
    good, poor, least, mean = (float(check["actual"]) for check in held(catalog, **bars)[1].values())
    assert (least, mean) == (poor, round((4 * good + poor) / 5 + 0.001, 1))
    checks = held([*catalog, NAMELESS, NAMELESS], **bars)[1]
    assert checks["min_tdqs"]["actual"] == f"1 to {poor}"
    low, high = map(float, checks["mean_tdqs"]["actual"].split(" to "))
    assert [low, high] == pytest.approx([(4 * good + poor + 2 * bound) / 7 for bound in (1, 5)], abs=0.001)
    assert checks["min_tdqs"]["reason"] == "lowest: 'process'"


@pytest.mark.parametrize("field", ["score", "tdqs", "tokens"])
def test_a_name_that_two_tools_have_is_none_of_them(held, field):
    [check] = held([GOOD, GOOD], **{f"tool['find_orders'].{field}": {"minimum": 0}})[1].values()
    assert (check["actual"], check["reason"]) == (None, "the tool 'find_orders' is listed 2 times")


def test_a_named_tool_that_cannot_be_measured_is_told(held):
    deep = "x"
    for _ in range(101):
        deep = {"a": deep}
    code, checks = held([GOOD, tool("deep", schema=deep)], **{'tool["deep"].score': {"minimum": 0}})
    assert [check["reason"] for check in checks.values()] == ["the tool 'deep' cannot be measured"]
    assert code == 2


def test_a_server_without_tools_has_no_score(held):
    code, checks = held([])
    assert [checks[target]["actual"] for target in ("min_score", "mean_score")] == [None, None]
    assert checks["min_score"]["reason"] == "the server lists no tool"
    assert code == 2
    assert held([], overall_tier={"minimum": "D"})[1]["overall_tier"]["result"] == "ERROR"


@pytest.mark.parametrize("field", ["score", "tdqs", "tokens"])
def test_a_tool_that_is_not_there_is_not_known(held, field):
    code, checks = held([GOOD], **{f'tool["gone"].{field}': {"minimum": 0}})
    assert [check["reason"] for check in checks.values()] == ["the tool 'gone' is not listed"]
    assert code == 2


# What a result means for an exit code


PASSED, FAILED, UNKNOWN = Outcome.PASSED, Outcome.FAILED, Outcome.UNKNOWN
ASKED, UNASKED = (Ungraded(judge="m", reason="away", was_asked=was_asked) for was_asked in (True, False))


def skill(label, verdict=None, status=None):
    """The score of a skill text, as far as a gate reads it."""
    own = {"server": "s", "tool_count": 1, "scored_at": "", "judgements": {}, "average": None, "smells": ()}
    return SkillScore(**own, verdict=verdict, label=label, discovery_status=status, credentials=None, judge=None)


def labels(*given, ungraded=(), skill=None, status=None):
    """The labels of a server's tools, and of what has none, the judge's name."""
    tools = [Fields(label=label) for label in given]
    left = [Fields(ungraded=Ungraded(judge=judge, reason="away")) for judge in ungraded]
    return Fields(tools=tools, ungraded=left, skill=skill, discovery_status=status)


def rewrite(before, unjudged, *, was_written):
    return Fields(before=before, unjudged=unjudged, was_written=was_written)


def goal(overall, *, is_reached):
    return Fields(goal=Fields(is_reached=is_reached, after=Fields(overall=overall)))


def selection(*found, failed=0, against=None):
    choices = [Fields(found=Fraction(each), failure=None) for each in found]
    return Fields(choices=[*choices, *[Fields(found=Fraction(0), failure="away")] * failed], against=against)


def row(*results, reason=None):
    checks = tuple(Check(target="t", wanted="", actual="", result=result, reason=None) for result in results)
    return GateRow(name="n", server="s", checks=checks, reason=reason)


def grade(score, *unmeasured):
    return Fields(score=score, unmeasured=unmeasured)


PASS, FAIL, ERROR = GateResult.PASS, GateResult.FAIL, GateResult.ERROR
GOOD_ONE, WEAK, BAD = Label.GOOD, Label.ACCEPTABLE, Label.BAD


@pytest.mark.parametrize(
    ("gate", "result", "expected"),
    [
        (policy.is_locked, Fields(refused=(), unverified=()), PASSED),
        (policy.is_locked, Fields(refused=(), unverified=(1,)), UNKNOWN),
        (policy.is_locked, Fields(refused=(1,), unverified=(1,)), FAILED),
        (policy.arrives, goal(30, is_reached=True), PASSED),
        (policy.arrives, goal(None, is_reached=False), UNKNOWN),
        (policy.arrives, goal(30, is_reached=False), FAILED),
        (policy.calibrated, Fields(faults=(), problems=(), unjudged=()), PASSED),
        (policy.calibrated, Fields(faults=(), problems=(1,), unjudged=()), UNKNOWN),
        (policy.calibrated, Fields(faults=(), problems=(), unjudged=(1,)), UNKNOWN),
        (policy.calibrated, Fields(faults=(1,), problems=(1,), unjudged=(1,)), FAILED),
        (policy.rewritten, Fields(rewrites=[]), PASSED),
        (policy.rewritten, Fields(rewrites=[rewrite(30, None, was_written=True)]), PASSED),
        (policy.rewritten, Fields(rewrites=[rewrite(30, None, was_written=False)]), UNKNOWN),
        (policy.rewritten, Fields(rewrites=[rewrite(30, "away", was_written=True)]), UNKNOWN),
        (policy.rewritten, Fields(rewrites=[rewrite(None, None, was_written=True)]), UNKNOWN),
        (policy.rewritten, Fields(rewrites=[rewrite(None, "away", was_written=True), rewrite(30, None, was_written=False)]), PASSED),
        (policy.is_good, labels(GOOD_ONE, WEAK), PASSED),
        (policy.is_good, labels(GOOD_ONE, BAD, ungraded=["m"]), FAILED),
        (policy.is_good, labels(GOOD_ONE, ungraded=["none"]), UNKNOWN),
        (policy.is_good, labels(), UNKNOWN),
        (policy.is_good, labels(GOOD_ONE, skill=skill(BAD)), FAILED),
        (policy.is_good, labels(GOOD_ONE, skill=skill(WEAK)), PASSED),
        (policy.is_good, labels(GOOD_ONE, skill=skill(None)), UNKNOWN),
        (policy.labeled, labels(BAD), PASSED),
        (policy.labeled, labels(BAD, ungraded=["none"]), PASSED),
        (policy.labeled, labels(BAD, ungraded=["none", "m"]), UNKNOWN),
        (policy.labeled, labels(status="no_tools_discovered"), UNKNOWN),
        (policy.labeled, labels(BAD, skill=skill(None, ASKED)), UNKNOWN),
        (policy.labeled, skill(None, ASKED), UNKNOWN),
        (policy.labeled, skill(None, UNASKED), PASSED),
        (policy.labeled, skill(BAD, ASKED), PASSED),
        (policy.labeled, skill(BAD, status="no_tools_discovered"), UNKNOWN),
        (partial(policy.finds, percent=0), selection(), UNKNOWN),
        (partial(policy.finds, percent=50), selection(1, 0), PASSED),
        (partial(policy.finds, percent=51), selection(1, 0), FAILED),
        (partial(policy.finds, percent=75), selection(1, 0, failed=2), UNKNOWN),
        (partial(policy.finds, percent=76), selection(1, 0, failed=2), FAILED),
        (partial(policy.finds, percent=51), selection(1, 1, against=selection(1, 0)), FAILED),
        (policy.decide, [row(PASS), row(PASS)], PASSED),
        (policy.decide, [row(PASS), row(ERROR)], UNKNOWN),
        (policy.decide, [row(ERROR), row(FAIL)], FAILED),
        (policy.decide, [row(FAIL), row(reason="away")], UNKNOWN),
        (partial(policy.earns, letter=Letter.F), grade(None), UNKNOWN),
        (partial(policy.earns, letter=Letter.B), grade(75), PASSED),
        (partial(policy.earns, letter=Letter.B), grade(74), FAILED),
        (partial(policy.earns, letter=Letter.B), grade(75, "tool"), UNKNOWN),
        (partial(policy.earns, letter=Letter.F), grade(0, "tool"), PASSED),
    ],
)  # fmt: skip
def test_a_result_passes_fails_or_is_open(gate, result, expected):
    assert gate(result) is expected


@pytest.mark.parametrize("judged", [1, 2, 3, 4, 5, None])
def test_a_tier_is_open_exactly_where_what_is_ungraded_decides_it(judged):
    """One tool of five has no score; and the coherence, where it is None."""

    def rolled(tools, coherence):
        return roll_up(tools, tool_count=5, coherence=10 * coherence, spec="1.2")

    for known in range(10, 51):
        tools, scores = 4 * [known], range(1, 6) if judged is None else [judged]
        possible = {rolled([*tools, score], each).overall for score in range(10, 51) for each in scores}
        score = Fields(
            tools=[Fields(tdqs=each) for each in tools],
            ungraded=[Fields(ungraded=ASKED)],
            coherence=ASKED if judged is None else Fields(scores=dict.fromkeys(load("coherence").keys, judged)),
            rollup=Fields(overall=None) if judged is None else rolled(tools, judged),
            tool_count=5,
            spec_version="1.2",
        )
        for tier in Tier:
            expected = FAILED if max(possible) < tier.floor else PASSED if min(possible) >= tier.floor else UNKNOWN
            assert policy.reaches(score, tier) is expected


# Servers


@pytest.mark.process
def test_an_unreachable_server_is_a_run_error_and_the_others_are_decided(gate, write):
    write("shop.json", [GOOD])
    done = gate(
        """
        servers:
          gone: {command: no-such-program-here --now}
          shop: {locator: shop.json}
        tool_quality:
          - {name: first, server: gone}
          - {name: second, server: shop}
        """
    )
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "ERROR first (gone)"
    assert "no-such-program-here" in lines[1]
    assert "PASS  second (shop)" in lines
    assert lines[-1] == "1 passed, 1 could not be decided"
    assert done.returncode == 2


@pytest.mark.process
def test_a_server_is_captured_once_and_only_when_it_is_asked_for(gate, write, tmp_path):
    suite = {
        "servers": {
            name: {
                "command": sys.executable,
                "args": [str(write("files.py", FILESYSTEM)), name],
                "env": {"STARTS": str(tmp_path / "starts"), "TOKEN": "-${SHOP_TOKEN}"},
                "transport": "stdio",
            }
            for name in ("asked", "unasked")
        },
        "tool_quality": [{"name": name, "server": "asked"} for name in ("one", "two")],
        "tools": [{"name": "a check of another kind"}],
    }
    done = gate(json.dumps(suite), env={**os.environ, "SHOP_TOKEN": "s3cret"})
    assert done.returncode == 0, done.stdout.decode()
    assert (tmp_path / "starts").read_text() == "asked-s3cret\n"
    assert b"s3cret" not in done.stdout + done.stderr


def test_a_variable_that_is_not_set_is_told_and_nothing_is_started(gate):
    done = gate(
        """
        servers: {far: {url: "http://127.0.0.1:9/mcp", headers: {Authorization: "Bearer ${NO_SUCH_TOKEN}"}}}
        tool_quality: [{name: far, server: far}]
        """
    )
    assert "server 'far' needs the environment variable NO_SUCH_TOKEN; set it" in done.stdout.decode()
    assert done.returncode == 2


# Files


@pytest.mark.parametrize(
    ("suite", "place", "message"),
    [
        ("servers: {", "", "is not YAML"),
        ("", "suite.yml' is empty", "has the keys servers and tool_quality"),
        ("- a\n- b", "line 1", "must be an object (keys with values)"),
        ("servers: {}\n", "tool_quality", "is missing: add it"),
        ("servers: {}\ntool_quality: []", "line 2, tool_quality", "must have 1 or more entries"),
        ("servers: {}\ntool_quality:\n- {name: a, server: b}", "line 3, tool_quality[0].server", "servers has no 'b', it has none"),
        ("servers:\n  b: {}\ntool_quality:\n- {name: a, server: b}", "line 2, servers.b", ": give one of command, url and locator, not none"),
        ("servers:\n  b: {url: u, command: c}\ntool_quality:\n- {name: a, server: b}", "line 2", "not command and url"),
        ("servers:\n  b: {command: \"a 'b\"}\ntool_quality:\n- {name: a, server: b}", "servers.b.command", "quotation"),
        ("servers: {b: {url: u}}\ntool_quality:\n- name: a\n  server: b\n  expects: []", "line 5", "expects: is no key; did you mean expect?"),
        ("servers: {b: {url: u}, b: {url: v}}\ntool_quality: []", "line 1, b", "appears twice"),
        ("servers: {b: {url: u}}\ntool_quality:\n- {name: a, server: b, server: c}", "line 3, server", "appears twice"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_suite_is_refused_with_the_place(gate, suite, place, message):
    done = gate(suite)
    assert (done.returncode, done.stdout) == (2, b"")
    said = done.stderr.decode()
    assert said.startswith("error: '")
    assert said.count("\n") == 1
    assert place in said
    assert message in said


def test_five_faults_are_told_at_once(gate):
    entries = "".join(f"- {{name: {number}, server: b}}\n" for number in range(6))
    done = gate(f"servers: {{b: {{url: u}}}}\ntool_quality:\n{entries}")
    assert done.stderr.decode().count("must be text") == 5


def test_aliases_that_multiply_are_read_once(gate, write):
    write("shop.json", [GOOD])
    lines = ["a0: &a0 [x]", *(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 30))]
    suite = "servers: {shop: {locator: shop.json}}\ntool_quality: [{name: a, server: shop}]\n"
    assert gate(suite + "\n".join(lines)).returncode == 0


def test_numbers_flags_and_variables_of_a_server_become_text():
    servers = """
    servers:
      a: {command: "run 'two words'", args: [8080, true, 1.5, "${HOST}"], env: {PORT: 80, DEBUG: no, KEY: "${KEY}-${HOST}"}}
      b: {url: "http://${HOST}/mcp", headers: {X-Count: 3, Authorization: "Bearer ${KEY}"}}
      c: {locator: "${HOST}.json"}
    tool_quality: [{name: n, server: b}]
    """
    found = parse(servers, origin="suite")
    environ = {"HOST": "h", "KEY": "k"}
    assert [server.locate(name, environ) for name, server in found.servers.items()] == [
        ("stdio:run 'two words' 8080 true 1.5 h", {}, {"PORT": "80", "DEBUG": "false", "KEY": "k-h"}),
        ("http://h/mcp", {"X-Count": "3", "Authorization": "Bearer k"}, {}),
        ("h.json", {}, {}),
    ]
    assert list(found.used_servers) == ["b"]


EXPECTING = """servers: {shop: {locator: shop.json}}
tool_quality:
- name: a
  server: shop
  expect:
  - target: %s
    matcher: {schema: %s}
"""


@pytest.mark.parametrize(
    ("target", "bar", "place", "message"),
    [
        ("max_score", "{minimum: 1}", "line 6, tool_quality[0].expect[0].target", "there is no target 'max_score'; there are min_score"),
        ('tool["a"].charm', "{minimum: 1}", "line 6", "there is no target"),
        ('findings["TDQ999"]', "{minimum: 1}", "line 6", "there is no rule 'TDQ999'"),
        ("min_score", "{}", "line 7, tool_quality[0].expect[0].matcher.schema", "give minimum, maximum or enum"),
        ("min_score", "{minimum: B}", "line 6", "min_score is a number"),
        ("min_score", "{minimum: yes}", "line 7", "must be a number or one of 'A', 'B', 'C' or 'D'"),
        ("min_score", "{minimum: .nan}", "line 7", "finite"),
        ("min_score", "{const: 1}", "line 7, tool_quality[0].expect[0].matcher.schema.const", "is no key that is read here: remove it"),
        ("overall_tier", "{minimum: 3}", "line 6", "overall_tier is a letter: give minimum: B"),
        ("overall_tier", "{maximum: 3}", "line 6", "overall_tier is a letter"),
        ("tokens", "{enum: [A]}", "line 6", "tokens is a number"),
        ("overall_tier", "{minimum: E}", "line 7", "'A', 'B', 'C' or 'D'"),
    ],
)  # fmt: skip
def test_a_bar_that_cannot_be_held_is_refused_with_the_place(gate, target, bar, place, message):
    done = gate(EXPECTING % (target, bar))
    assert done.returncode == 2
    assert place in done.stderr.decode()
    assert message in done.stderr.decode()


def test_a_suite_that_is_not_there_is_refused_by_the_library_too(tmp_path):
    with pytest.raises(InputError, match=r"no\.yml' cannot be read"):
        tdqs_mcp.run_suite(tmp_path / "no.yml")


# Formats


def test_junit_has_a_test_case_for_each_entry(gate, write):
    write("shop.json", [GOOD | {"name": "a\x1b[31m<b>"}, POOR | {"name": "\x00<]]>"}])
    suite = """
    servers: {shop: {locator: shop.json}, gone: {locator: gone.json}}
    tool_quality:
    - {name: "a <bad> name", server: shop}
    - {name: gone, server: gone}
    - {name: fine, server: shop, expect: [{target: tokens, matcher: {schema: {maximum: 1000}}}]}
    """
    root = ET.fromstring(gate(suite, "--format", "junit").stdout)  # noqa: S314  # our own output
    assert root.attrib | {"name": ""} == {"name": "", "tests": "3", "failures": "1", "errors": "1"}
    failed, missing, fine = root.iter("testcase")
    assert failed.attrib == {"classname": "shop", "name": "a <bad> name"}
    assert failed.find("failure").get("message").startswith("min_score is 0.333 (lowest: ")
    assert "gone.json" in missing.find("error").get("message")
    assert [child.tag for child in fine] == ["system-out"]


def test_markdown_has_a_line_for_each_check(gate, write, tmp_path):
    write("shop.json", [POOR])
    done = gate("servers: {s: {locator: shop.json}}\ntool_quality: [{name: 'a | b', server: s}]", "--format", "markdown",
                "-o", tmp_path / "out.md")  # fmt: skip
    text = (tmp_path / "out.md").read_text(encoding="utf-8")
    assert text.startswith("## 1 failed\n")
    assert text.count("| a \\| b | s |") == 3
    assert done.returncode == 1


FALSE_HINT = """
from pathlib import Path

from fastmcp import FastMCP

server = FastMCP("harbour")


@server.tool(annotations={"readOnlyHint": True})
def read_berth(berth: str) -> str:
    \"\"\"Read the note of a berth.\"\"\"
    Path(f"/srv/{berth}.txt").write_text("x")
    return "x"
"""


@pytest.mark.parametrize(
    ("locator", "result", "words"),
    [
        ("harbour", "FAIL", "readOnlyHint is true, but the code"),
        ("harbour/server.py", "FAIL", "readOnlyHint is true, but the code"),
        ("listed.json", "ERROR", "not measured, as the rule reads code"),
    ],
)
def test_a_rule_about_code_runs_where_lint_runs_it_and_is_else_not_measured(
    gate, command, write, tmp_path, locator, result, words
):
    (tmp_path / "harbour").mkdir()
    write("harbour/server.py", FALSE_HINT)
    write("listed.json", [tool("read_berth", "Read the note of a berth.", annotations={"readOnlyHint": True})])
    expect = [{"target": 'findings["TDQ801"]', "matcher": {"schema": {"maximum": 0}}}]
    entry = {"name": "true hints", "server": "harbour", "expect": expect}
    done = gate(json.dumps({"servers": {"harbour": {"locator": locator}}, "tool_quality": [entry]}))
    assert done.returncode == {"FAIL": 1, "ERROR": 2}[result], done.stderr
    text = " ".join(done.stdout.decode().split())
    assert text.startswith(result)
    assert words in text
    linted = command("lint", locator, cwd=tmp_path).stdout
    assert (b"TDQ801" in linted) == (result == "FAIL")
