"""Speed as ratios against a peer in the same run: the oracle's lint, or our own work on half the input."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from definitions import flat, tool
from measurement import least_child_work
from tdqs import lint_server
from tdqs.parse_tool_definitions import parse_tool_definitions

from tdqs_mcp import sync
from tdqs_mcp.app import linting
from tdqs_mcp.facts.subject import Measured, Subject, measure
from tdqs_mcp.rules import registry
from tdqs_mcp.sources.files import read_catalog


def orders(count):
    return [
        tool(f"get_order_{number}", f"Gets order {number}; use list_orders to find one.", flat(3))
        for number in range(count)
    ]


def run(*command):
    """A command as it is installed: with its bytecode on disk."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, capture_output=True, check=False, env=env)


def child_work(command):
    return least_child_work(lambda: run(*command))


PEAK = "import resource as r, subprocess as s, sys; s.run(sys.argv[1:], capture_output=True); print(r.getrusage(r.RUSAGE_CHILDREN).ru_maxrss)"


def peak_memory(command):
    """The largest resident size; started by a small process, whose size the command would else inherit from this one."""
    return int(subprocess.run([sys.executable, "-c", PEAK, *command], capture_output=True, check=True).stdout)


@pytest.mark.parametrize(
    ("measure", "ours", "theirs", "at_most"),
    [
        (child_work, "--version", "--help", 0.2),
        (child_work, "lint FILE", "lint --file FILE", 0.28),
        (child_work, "score FILE", "lint --file FILE", 0.4),
        (peak_memory, "--version", "--help", 0.3),
        (peak_memory, "lint FILE", "lint --file FILE", 0.5),
        (peak_memory, "score FILE", "lint --file FILE", 0.6),
    ],
    ids=["work-start", "work-lint", "work-score", "memory-start", "memory-lint", "memory-score"],
)
def test_a_command_costs_a_fraction_of_the_oracle_s(check_ratio, write, measure, ours, theirs, at_most):
    """The oracle scores only with a model, so that its lint stands for it."""
    file = str(write("orders.json", orders(12)))
    oracle = shutil.which("tdqs", path=Path(sys.executable).parent)
    mine = [sys.executable, "-m", "tdqs_mcp", *ours.replace("FILE", file).split()]
    check_ratio(measure(mine) / measure([oracle, *theirs.replace("FILE", file).split()]), at_most=at_most)


BARE = "import click; click.command()(click.version_option('1')(lambda: None))(['--version'])"


def test_the_version_takes_a_twentieth_of_a_second_more_than_a_bare_click_program(check_ratio):
    ours = least_child_work(lambda: run(sys.executable, "-m", "tdqs_mcp", "--version"))
    bare = least_child_work(lambda: run(sys.executable, "-c", BARE))
    check_ratio((ours - bare) / 0.05, at_most=1)


@pytest.mark.parametrize(("use", "at_most"), [(linting.lint, 2), (sync.score, 5)])
def test_the_default_rules_cost_at_most_two_of_the_oracle_s_lints_and_a_score_five(
    compare_work, catalog_files, use, at_most
):
    contents = [json.loads(path.read_bytes()) for path in catalog_files]

    def ours():
        for content in contents:
            use(read_catalog(content, name="x"))

    def theirs():
        for content in contents:
            lint_server(server_name="x", tools=parse_tool_definitions(content).tools)

    compare_work(ours, theirs, at_most=at_most)


def test_the_rules_about_tokens_cost_a_fifth_of_a_lint_at_most(compare_work, catalog_files):
    catalogs = [read_catalog(json.loads(path.read_bytes()), name="x") for path in catalog_files]
    measured = [measure(catalog) for catalog in catalogs]

    def lane():
        for each in measured:
            for subject in each.subjects:
                for rule in (rule for rule in registry.RULES if rule.id.startswith("TDQ4") and rule.reads is Subject):
                    list(rule.check(subject))
            for rule in (rule for rule in registry.RULES if rule.id.startswith("TDQ4") and rule.reads is Measured):
                list(rule.check(each))

    compare_work(lane, lambda: [linting.lint(catalog) for catalog in catalogs], at_most=0.2)


@pytest.mark.parametrize("use", [linting.lint, sync.score])
def test_cost_grows_linearly_with_the_tools(compare_work, use):
    part, whole = (read_catalog(orders(count), name="x") for count in (250, 2000))
    compare_work(lambda: use(whole), lambda: use(part), at_most=10, rounds=3)


def test_a_long_description_costs_no_more_than_its_first_part(compare_work):
    long, longer = (
        read_catalog([tool("t", "Lists things of every kind. " * count)], name="x") for count in (10_000, 100_000)
    )
    compare_work(lambda: linting.lint(longer), lambda: linting.lint(long), at_most=11)


def test_names_and_required_lists_cost_no_more_than_their_length(compare_work):
    def catalog(size):
        names = [
            f"n{chr(97 + number // 676 % 26)}{chr(97 + number // 26 % 26)}{chr(97 + number % 26)}"
            for number in range(size)
        ]
        properties = {f"p{number}": {"type": "string"} for number in range(size)}
        schema = {"type": "object", "properties": properties, "required": [f"q{number}" for number in range(20 * size)]}
        talk = tool("talk", " ".join(names), schema)
        return read_catalog([talk, *(tool(name) for name in names)], name="x")

    part, whole = catalog(250), catalog(2000)
    compare_work(lambda: linting.lint(whole), lambda: linting.lint(part), at_most=12)


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
def test_no_text_is_read_in_more_than_linear_time(compare_work, piece):
    def described(text):
        schema = {"type": "object", "properties": {"a": {"description": text}}}
        return read_catalog([tool("t", text, schema)], name="x")

    ordinary = described("Lists the open orders of one customer, newest first. " * 400)
    hostile = described(f"a{piece * (20_000 // len(piece))}b")
    compare_work(lambda: sync.score(hostile), lambda: sync.score(ordinary), at_most=20)
