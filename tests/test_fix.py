"""`lint --fix`: what needs nobody's words is written back, and nothing else is touched."""

import json

import pytest
from definitions import FINE, tool

from tdqs_mcp.facts.subject import measure
from tdqs_mcp.rewriting.rewrite_review import review
from tdqs_mcp.rewriting.text_patches import find_fixes
from tdqs_mcp.rules import registry
from tdqs_mcp.sources.files import read_catalog

OPENING = "This tool allows you to list the open loans of one member. Use it before close_loan."


def enum(text, values, **more):
    return {"type": "object", "properties": {"state": {"type": "string", "description": text, "enum": values, **more}}}


def listing(text="List the loans in one state.", schema=None):
    return tool("list_loans", text, schema or {"type": "object", "properties": {}})


def fixes(definition, *rules):
    chosen = registry.select(names=rules or ["ALL"])
    measured = measure(read_catalog({"tools": [definition]}, name="x"))
    return {
        change.path: change.after
        for proposal in find_fixes(measured, lambda each: registry.check(each, chosen))
        for change in review(proposal).changes
    }


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        (OPENING, "List the open loans of one member. Use it before close_loan."),
        ("\n  This tool will create a loan. It fails at 5.", "\n  Create a loan. It fails at 5."),
        ("This tool is used to list loans.", "List loans."),
        ("Tool that retrieves the loans of a member.", "Retrieves the loans of a member."),
        ("This tool is great. Lists loans.", None),
        ("List the loans that this tool allows you to see.", None),
    ],
)
def test_an_opening_that_says_nothing_is_taken_out(text, fixed):
    assert fixes(listing(text), "empty-opening") == ({} if fixed is None else {"/description": fixed})


@pytest.mark.parametrize(
    ("text", "values", "fixed"),
    [
        ("One of 'OPEN', 'CLOSED', 'LOST'.", ["open", "closed", "lost"], "One of 'open', 'closed', 'lost'."),
        ("Order of the loans: ASC or DESC", ["asc", "desc"], "Order of the loans: asc or desc"),
        ("One of `Open`, `Closed`.", ["OPEN", "CLOSED"], "One of `OPEN`, `CLOSED`."),
        ("One of 'open', 'gone'.", ["open", "closed"], None),
        ("Open or Closed loans", ["open", "closed"], None),
        ("One of 'Open', 'CLOSED'.", ["open", "OPEN", "closed"], None),
    ],
)
def test_listed_values_get_the_case_of_the_enum(text, values, fixed):
    expected = {} if fixed is None else {"/inputSchema/properties/state/description": fixed}
    assert fixes(listing(schema=enum(text, values)), "TDQ236") == expected


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("create_app_v2", "Create app v2"),
        ("top_10_posts", "Top 10 posts"),
        ("get_2fa_code", "Get 2fa code"),
        ("list_s3_buckets", "List s3 buckets"),
        ("top10_mp3s", "Top10 mp3s"),
        ("list_i18n_keys", "List i18n keys"),
    ],
)
def test_a_title_keeps_the_digits_of_the_name(name, title):
    assert fixes(tool(name, "Does it."), "untitled-tools") == {"/title": title}


def test_a_diff_shows_what_a_fix_would_write_and_writes_nothing(command, write, tmp_path):
    file = write("x.json", [listing(OPENING)])
    before = (tmp_path / "x.json").read_bytes()
    run = command("lint", file, "--diff", "--select", "empty-opening")
    assert run.returncode == 1
    assert b"--- " in run.stdout
    assert b"+" in run.stdout
    assert (tmp_path / "x.json").read_bytes() == before
    assert command("lint", file, "--fix", "--select", "empty-opening").returncode == 0
    run = command("lint", file, "--diff", "--select", "empty-opening")
    assert (run.returncode, run.stdout) == (0, b"")
    assert run.stderr.decode() == f"nothing to fix in {file}\n"
    assert command("lint", file, "--diff", "--fix").returncode == 2


def test_a_title_is_made_of_the_name_where_titles_are_asked_for():
    assert fixes(listing()) == {"/title": "List loans"}
    assert fixes(listing(), "untitled-tools") == {"/title": "List loans"}
    assert fixes(listing(), "TDQ1", "missing-usage").get("/title") == "List loans"
    assert fixes(listing(), "missing-usage") == {}
    assert fixes(listing() | {"annotations": {"title": "Loans"}}) == {}


def test_what_is_unclear_is_only_reported():
    schema = {"type": "object", "properties": {}, "required": ["loan_id"]}
    assert fixes(listing(schema=schema), "TDQ215", "TDQ222") == {}


def test_a_json_file_keeps_its_layout_and_the_rest_of_the_findings(command, write, tmp_path):
    text = json.dumps({"tools": [FINE, listing(OPENING)], "x": 1.0}, indent=3)
    write("x.json", text)
    run = command("lint", "x.json", "--fix", "--select", "TDQ160,TDQ106", cwd=tmp_path)
    assert (tmp_path / "x.json").read_text(encoding="utf-8") == text.replace("This tool allows you to list", "List")
    assert run.stderr == b"fixed 1 in x.json: list_loans /description; for what needs words: tdqs-mcp rewrite x.json\n"
    lines = run.stdout.decode()
    assert "TDQ106" in lines
    assert "TDQ160 " not in lines  # a finding; the next command repeats the option
    run = command("lint", "x.json", "--fix", "--select", "TDQ160", cwd=tmp_path)
    assert run.stderr.startswith(b"nothing to fix in x.json")


def test_where_nothing_is_fixed_only_the_total_is_printed(command, write):
    words = ("lint", write("x.json", [listing()]), "--fix", "--select", "TDQ106")
    run = command(*words)
    assert b"TDQ106 missing" not in run.stdout
    assert b"1 finding: 1 info" in run.stdout
    assert b"TDQ106 missing" in command(*words, "--show", "all").stdout


def test_what_is_suppressed_or_of_another_tool_stays(command, write, tmp_path):
    file = write("x.json", [listing(OPENING)])
    before = file.read_bytes()
    write("tdqs.toml", '[[suppress]]\nrule = "TDQ160"\nreason = "house style"')
    command("lint", "x.json", "--fix", cwd=tmp_path)
    assert file.read_bytes() == before
    write("tdqs.toml", "")
    write("y.json", [listing(OPENING), FINE])
    command("lint", "y.json", "--fix", "--tool", FINE["name"], cwd=tmp_path)
    assert OPENING in (tmp_path / "y.json").read_text(encoding="utf-8")


SERVER = '''from typing import Annotated, Literal

from mcp.server.mcpserver import MCPServer
from pydantic import Field

server = MCPServer("loans")


@server.tool(title="List loans")
def list_loans(state: Annotated[Literal["open", "closed"], Field(description="One of 'OPEN', 'CLOSED'.")]) -> str:
    """This tool allows you to list the loans in one state."""
    return state
'''


@pytest.mark.process
def test_python_code_is_fixed_where_it_declares_the_tools(tdqs_mcp, tmp_path):
    (tmp_path / "loans.py").write_text(SERVER, encoding="utf-8")
    run = tdqs_mcp(
        *("lint", "py:loans:server", "--fix", "--source", "loans.py", "--select", "TDQ160,TDQ236", "--format", "json"),
        cwd=tmp_path,
    )
    fixed = SERVER.replace("'OPEN', 'CLOSED'", "'open', 'closed'").replace("This tool allows you to list", "List")
    assert (tmp_path / "loans.py").read_text(encoding="utf-8") == fixed
    assert run.stderr.decode().startswith("fixed 2 in loans.py: list_loans ")
    assert not {"TDQ160", "TDQ236"} & {each["rule"] for each in json.loads(run.stdout)["findings"]}


def test_code_as_the_locator_is_what_is_fixed(command, tmp_path):
    (tmp_path / "loans.py").write_text(SERVER, encoding="utf-8")
    run = command("lint", ".", "--fix", "--select", "TDQ160,TDQ236", cwd=tmp_path)
    assert "This tool allows you to list" not in (tmp_path / "loans.py").read_text(encoding="utf-8")
    assert run.stderr.decode().startswith("fixed 2 in .: list_loans ")


def test_code_is_fixed_with_all_rules_though_its_output_schema_was_not_read(command, tmp_path):
    """No rule takes the unread schema for missing after the fix, which would look like a new finding."""
    (tmp_path / "loans.py").write_text(SERVER, encoding="utf-8")
    command("lint", "loans.py", "--fix", cwd=tmp_path)
    assert "This tool allows you to list" not in (tmp_path / "loans.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-", "--fix"], b"--fix writes to a JSON file; for '-', name the Python code with --source"),
        (["x.json", "x.json", "--fix", "--source", "x.json"], b"--source is the code of one server"),
    ],
)
def test_where_nothing_can_be_written_it_says_so(command, write, tmp_path, words, said):
    write("x.json", [FINE])
    run = command("lint", *words, stdin=json.dumps([FINE]).encode(), cwd=tmp_path)
    assert (run.returncode, said in run.stderr) == (2, True)
