"""Speed as ratios against a peer in the same run: the oracle's lint, or our own work on half the input."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from timeit import repeat

import pytest
from definitions import flat, tool
from pace import least
from tdqs import lint_server
from tdqs.parse_tool_definitions import parse_tool_definitions

from tdqs_mcp import app, sync
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.rules import token_rules
from tdqs_mcp.sources.files import read_catalog

ROUNDS = 5


def apart(work):
    """The least of some rounds of work that is done in other processes, in seconds of theirs."""
    return min(
        repeat(work, number=1, repeat=ROUNDS, timer=lambda: os.times().children_user + os.times().children_system)
    )


@pytest.fixture
def ratio(benchmark):
    """Benchmark our work, measure the peer's, and keep the ratio with the benchmark."""

    def compare(ours, peer, *, measure=least):
        benchmark.pedantic(ours, rounds=1)
        benchmark.extra_info["ratio"] = measure(ours) / measure(peer)
        return benchmark.extra_info["ratio"]

    return compare


def orders(count):
    return [
        tool(f"get_order_{number}", f"Gets order {number}; use list_orders to find one.", flat(3))
        for number in range(count)
    ]


def test_linting_a_file_takes_at_most_half_of_the_oracle_s_command(ratio, write):
    file = write("orders.json", orders(12))
    scripts = Path(sys.executable).parent
    oracle = shutil.which("tdqs", path=scripts)

    def run(*command):
        subprocess.run(command, capture_output=True, check=False)

    ours = [sys.executable, "-m", "tdqs_mcp", "lint", str(file)]
    theirs = [oracle, "lint", "--file", str(file)]
    assert ratio(lambda: run(*ours), lambda: run(*theirs), measure=apart) <= 0.5


def test_all_rules_and_an_offline_score_cost_at_most_five_of_the_oracle_s_lints(ratio, catalog_files):
    contents = [json.loads(path.read_bytes()) for path in catalog_files]

    def ours():
        for content in contents:
            sync.score(read_catalog(content, name="x"))

    def theirs():
        for content in contents:
            lint_server(server_name="x", tools=parse_tool_definitions(content).tools)

    assert ratio(ours, theirs) <= 5


def test_the_rules_about_tokens_cost_a_fifth_of_a_lint_at_most(ratio, catalog_files):
    catalogs = [read_catalog(json.loads(path.read_bytes()), name="x") for path in catalog_files]
    measured = [measure(catalog) for catalog in catalogs]

    def lane():
        for each in measured:
            for subject in each.subjects:
                for rule in token_rules.TOOL_RULES:
                    list(rule.check(subject))
            for rule in token_rules.SERVER_RULES:
                list(rule.check(each))

    assert ratio(lane, lambda: [app.lint(catalog) for catalog in catalogs]) <= 0.2


@pytest.mark.parametrize("use", [app.lint, sync.score])
def test_cost_grows_linearly_with_the_tools(ratio, use):
    half, whole = (read_catalog(orders(count), name="x") for count in (1000, 2000))
    assert ratio(lambda: use(whole), lambda: use(half)) <= 2.6


def test_a_long_description_costs_no_more_than_its_first_part(ratio):
    long, longer = (
        read_catalog([tool("t", "Lists things of every kind. " * count)], name="x") for count in (10_000, 100_000)
    )
    assert ratio(lambda: app.lint(longer), lambda: app.lint(long)) <= 11


def test_names_and_required_lists_cost_no_more_than_their_length(ratio):
    def catalog(size):
        names = [
            f"n{chr(97 + number // 676 % 26)}{chr(97 + number // 26 % 26)}{chr(97 + number % 26)}"
            for number in range(size)
        ]
        properties = {f"p{number}": {"type": "string"} for number in range(size)}
        schema = {"type": "object", "properties": properties, "required": [f"q{number}" for number in range(20 * size)]}
        talk = tool("talk", " ".join(names), schema)
        return read_catalog([talk, *(tool(name) for name in names)], name="x")

    half, whole = catalog(1000), catalog(2000)
    assert ratio(lambda: app.lint(whole), lambda: app.lint(half)) <= 3.5


PATHOLOGICAL = [
    " ",
    "\n",
    " \n",
    "\t",
    "a (",
    "`a",
    "a: ",
    ". ",
    "*",
    "- ",
    "a'",
    ", ",
    "use this when ",
    "args: ",
    "\r",
    "#",
]


@pytest.mark.parametrize("piece", PATHOLOGICAL, ids=repr)
def test_no_text_is_read_in_more_than_linear_time(ratio, piece):
    def described(text):
        schema = {"type": "object", "properties": {"a": {"description": text}}}
        return read_catalog([tool("t", text, schema)], name="x")

    ordinary = described("Lists the open orders of one customer, newest first. " * 400)
    hostile = described(f"a{piece * (20_000 // len(piece))}b")
    assert ratio(lambda: sync.score(hostile), lambda: sync.score(ordinary)) <= 20
