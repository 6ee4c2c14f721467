"""What a person types first, and mistypes: it works, or the error comes with the right hint."""

import json
import os
import shlex
import sys

import pytest
from definitions import FINE, LOOKUP, tool

import tdqs_mcp


@pytest.fixture
def at(command, tmp_path, write):
    """The command in a folder with a catalog, programs of two languages and a client's configuration."""
    write("tools.json", [FINE, LOOKUP])
    write("srv.py", "print()")
    write("srv.mjs", "0")
    write(".mcp.json", {"mcpServers": {"shop": {"command": "x"}}})
    (tmp_path / "other").mkdir()
    write("other/.mcp.json", {"mcpServers": {"elsewhere": {"command": "x"}}})
    program = tmp_path / "bin" / "start-shop"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    return lambda words: command(*shlex.split(words), cwd=tmp_path, env={"PATH": path})


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ('score "npx -y X"', "to start it as a server: tdqs-mcp score -- npx -y X"),
        ("score srv.py", "to start it as a server: tdqs-mcp score -- python srv.py"),
        ("score srv.mjs", "to start it as a server: tdqs-mcp score -- node srv.mjs"),
        ("score start-shop x", "tdqs-mcp score -- start-shop x"),
        ("score other/.mcp.json", "it configures servers: config:project/NAME, in the folder of its project"),
        ("score localhost:8000/mcp", "did you mean http://localhost:8000/mcp ?"),
        ("score mcp.example.org:8443/mcp", "did you mean https://mcp.example.org:8443/mcp ?"),
        ("score tool.json", "did you mean tools.json?"),
        (
            "score nothing",
            "to score a live server, give its URL, or its command last: tdqs-mcp score -- COMMAND ARG...",
        ),
        ("portability other", "it configures servers: config:project/NAME, in the folder of its project"),
    ],
)
def test_a_locator_that_cannot_be_read_comes_with_a_hint(at, words, hint):
    run = at(words)
    assert run.returncode == 2
    hints = [line for line in run.stderr.decode().splitlines() if line.startswith("hint: ")]
    assert len(hints) == 1
    assert hints[0].endswith(hint)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("score npx -y X", "put its command last, after --: tdqs-mcp score -- npx -y X"),
        (
            "score --spec 1.0 start-shop -y",
            "put its command last, after --: tdqs-mcp score --spec 1.0 -- start-shop -y",
        ),
        ("tools.json", "Did you mean: tdqs-mcp score tools.json"),
        ("https://mcp.example.org/mcp", "Did you mean: tdqs-mcp score https://mcp.example.org/mcp"),
        ("scor tools.json", "Did you mean 'score'?"),
        ("score tools.json --fail-undr B", "'--fail-under'"),
    ],
)
def test_a_word_that_click_does_not_know_comes_with_a_hint(at, words, hint):
    run = at(words)
    assert run.returncode == 2
    assert hint in " ".join(run.stderr.decode().split())


def test_the_version_has_a_short_option(at):
    assert at("-V").stdout == at("--version").stdout != b""


@pytest.mark.process
def test_a_command_after_two_dashes_is_started(command, tmp_path):
    run = command("score", "--format", "json", "--", sys.executable, "-c", "import sys; sys.exit('gone -y')")
    assert run.returncode == 2
    assert b"Its stderr ends: gone -y" in run.stderr
    assert b"'none-such' was not found" in command("score", "--", "none-such", "-y").stderr


def test_other_locators_after_two_dashes_stay_what_they_are(at):
    assert at("score -- tools.json").returncode == 0
    assert b"config:none" not in at("score -- tools.json config:none").stdout
    assert b"no MCP client has a server" in at("score -- config:none").stderr


def test_a_folder_means_its_json_files(at, write, tmp_path):
    (tmp_path / "catalogs").mkdir()
    write("catalogs/a.json", [FINE])
    write("catalogs/b.json", [LOOKUP])
    (tmp_path / "empty").mkdir()
    run = at("score catalogs --format json")
    assert [each["server"]["name"] for each in json.loads(run.stdout)] == ["a", "b"]
    assert b"reading catalogs/a.json, catalogs/b.json" in run.stderr
    assert at("score ''").returncode == 2
    for words in ("lint empty", "lint catalogs empty"):
        assert b"there is neither code nor a JSON file in the folder 'empty'" in at(words).stderr


def test_a_tier_may_be_a_small_letter(at):
    assert at("score tools.json --fail-under d").returncode == 0
    assert at("score --rubric playground tools.json --fail-under f").returncode == 0


SERVER = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("shop")


@server.tool()
def find_orders(customer: str) -> str:
    \"\"\"Find the open orders of one customer.\"\"\"
    return customer


if __name__ == "__main__":
    server.run("stdio")
"""


@pytest.mark.parametrize("words", ["score", "lint", "compare tools.json", "rewrite", "select", "portability"])
@pytest.mark.parametrize("other", [[LOOKUP], {"tools": [LOOKUP]}, {"name": "agent", "tools": [{"name": "Bash"}]}])
def test_a_folder_with_code_is_its_code_whatever_json_lies_beside_it(at, write, tmp_path, words, other):
    (tmp_path / "project" / "src").mkdir(parents=True)
    write("project/src/main.py", SERVER)
    write("project/other.json", other)
    run = at(f"{words} project --format json")
    assert b"find_orders" in run.stdout, run.stderr
    assert LOOKUP["name"].encode() not in run.stdout or words == "compare tools.json"
    assert b"Bash" not in run.stdout
    is_passed_over = words in ("score", "lint", "select") and isinstance(other, dict)
    assert (b"reading the code in 'project', not project/other.json" in run.stderr) == is_passed_over


@pytest.mark.parametrize("locator", ["server.py", "project"])
def test_code_that_lies_there_is_read_and_not_started(at, write, tmp_path, locator):
    (tmp_path / "project").mkdir()
    write("server.py", SERVER)
    write("project/main.py", SERVER)
    write("project/package.json", {"name": "x"})
    run = at(f"score {locator} --format json")
    assert [tool["name"] for tool in json.loads(run.stdout)["tools"]] == ["find_orders"]


BROKEN = "from main import server\n\n\n@server.tool(\ndef close_order(order: int) -> str:\n    return ''\n"
GATES = ["lint", "lint --fail-on warning", "score --fail-under D", "lock", "gate"]


@pytest.mark.parametrize("words", GATES)
@pytest.mark.parametrize(
    ("name", "text", "is_partial"),
    [
        ("more.py", BROKEN, True),
        ("test_more.py", BROKEN, False),
        ("more.py", BROKEN.replace("@server.tool(", "@server.tool()").replace("close_order", "{{ name }}"), False),
        ("setup_data.py", "ROWS = [(1, 2\n", False),
        ("old.py", "import setuptools\nprint 'the tool is old'\n", False),
    ],
)
def test_a_file_that_cannot_be_parsed_and_may_register_tools_leaves_a_gate_open(
    at, write, tmp_path, words, name, text, is_partial
):
    (tmp_path / "project").mkdir()
    write("project/main.py", SERVER)
    write(f"project/{name}", text)
    expectation = {"target": "critical_count", "matcher": {"schema": {"maximum": 5}}}
    entry = {"name": "no errors", "server": "shop", "expect": [expectation]}
    write("suite.yml", json.dumps({"servers": {"shop": {"locator": "project"}}, "tool_quality": [entry]}))
    run = at(f"{words} {'suite.yml' if words == 'gate' else 'project'}")
    assert run.returncode == (2 if is_partial else 0), run.stderr
    assert (b"incomplete" in run.stdout + run.stderr) == is_partial
    assert words in ("lock", "gate") or b"1 tool" in run.stdout


HINTED = """
from pathlib import Path

from fastmcp import FastMCP

server = FastMCP("harbour")


@server.tool(annotations={"openWorldHint": False})
def get_berth(berth: str) -> str:
    \"\"\"Get the note of a berth.\"\"\"
    return Path(f"/srv/{berth}.txt").read_text()


@server.tool(annotations={"readOnlyHint": True})
def read_berth(berth: str, depth: int) -> str:
    \"\"\"Read the note of a berth.\"\"\"
    Path(f"/srv/{berth}.txt").write_text("x")
    return "x"
"""


def test_findings_stand_by_severity_and_after_a_false_hint_the_next_step_is_a_rewrite(at, write):
    write("harbour.py", HINTED)
    severities = [line.split()[0] for line in at("lint harbour.py").stdout.decode().splitlines() if " TDQ" in line[:20]]
    assert severities == sorted(severities, key=["error", "warning", "info"].index)
    assert {"error", "warning", "info"} == set(severities)
    text = at("score harbour.py").stdout.decode()
    assert text.index("[TDQ801]") < text.index("Next: tdqs-mcp rewrite harbour.py --tool ")


def test_a_client_s_file_with_one_server_means_that_server_and_with_several_asks_for_one(at, write):
    run = at("score .mcp.json")
    assert b".mcp.json configures one server: config:project/shop" in run.stderr
    assert b"read that file, then give --yes" in run.stderr
    write(".mcp.json", {"mcpServers": {"shop": {"command": "x"}, "bank": {"command": "y"}}})
    assert (
        b"configures 2 servers; name one of them: config:project/shop, config:project/bank"
        in at("score .mcp.json").stderr
    )


@pytest.mark.process
def test_a_project_whose_code_shows_no_tool_is_started_after_consent(at, write, tmp_path):
    (tmp_path / "project" / "bin").mkdir(parents=True)
    write("project/package.json", {"name": "x", "bin": {"x": "bin/x.js"}})
    write("project/bin/x.js", "process.exit(3)")
    assert b"to start it as a server: tdqs-mcp score -- node project/bin/x.js" in at("score project").stderr
    assert b"stdio:node project/bin/x.js exited with code 3" in at("score project --yes").stderr


def test_the_example_needs_no_file(at):
    assert at("score --example").stdout.startswith(b"lending-desk ")
    assert b"--example is a catalog of its own" in at("score --example tools.json").stderr


def test_the_configuration_is_that_of_the_linted_file_s_folder_and_a_line_names_it(at, write, tmp_path):
    (tmp_path / "sub").mkdir()
    write("sub/tools.json", [tool("a", "A.")])
    write("tdqs.toml", 'select = ["TDQ109"]')
    write("sub/tdqs.toml", 'select = ["TDQ103"]')
    rules = {
        words: {each["rule"] for each in json.loads(run.stdout)["findings"]}
        for words in ("lint sub/tools.json", "lint sub/tools.json --config tdqs.toml")
        if (run := at(f"{words} --format json"))
    }
    assert [found <= {expected} for found, expected in zip(rules.values(), ("TDQ103", "TDQ109"), strict=True)] == [
        True
    ] * 2
    assert f"settings: {tmp_path / 'sub' / 'tdqs.toml'}".encode() in at("lint sub/tools.json").stderr


def test_a_bare_lint_takes_the_locator_of_the_configuration(at, write):
    assert b"or name it in tdqs.toml" in at("lint").stderr
    write("tdqs.toml", 'locator = ["tools.json"]')
    assert b"tools \xc2\xb7 2 tools" in at("lint").stdout
    write("tdqs.toml", 'locator = "stdio:none-such"')
    assert b"names stdio:none-such; read that file, then give --yes" in at("lint").stderr


@pytest.mark.parametrize("words", ["score tools.json --tool", "rewrite tools.json --tool", "lint tools.json --tool"])
def test_tools_are_named_by_lists_and_wildcards(at, words):
    both = at(f"{words} find_orders,find_cust* --format json")
    assert both.returncode == 0, both.stderr
    assert b"find_orders" in both.stdout
    assert b"find_customer" in both.stdout or "lint" in words
    assert b"did you mean find_orders" in at(f"{words} find_order").stderr


def test_a_pipe_is_as_wide_as_columns_says(command, write):
    file = write("tools.json", [FINE, LOOKUP])
    narrow = command("score", file, env={"COLUMNS": "60"}).stdout.decode()
    assert max(map(len, narrow.splitlines())) <= 60


def test_shells_complete_rules_and_tools(command, write):
    file = write("tools.json", [FINE, LOOKUP])
    for words, count, expected in (("rules TDQ10", 2, "TDQ101"), (f"score {file} --tool find_o", 4, "find_orders")):
        environment = {
            "_TDQS_MCP_COMPLETE": "bash_complete",
            "COMP_WORDS": f"tdqs-mcp {words}",
            "COMP_CWORD": str(count),
        }
        assert expected in command(env=environment).stdout.decode()


def test_the_library_lists_its_names():
    assert set(dir(tdqs_mcp)) == set(tdqs_mcp.__all__)


@pytest.mark.parametrize("short", ["purpose", "usage", "behavior", "params", "concise", "complete"])
def test_explain_takes_the_headings_of_the_table(short):
    assert "of Tool Definition Quality Score" in tdqs_mcp.explain(short)


def test_explain_takes_the_word_of_a_reason_and_the_name_of_a_rubric():
    assert "of Tool Definition Quality Score" in tdqs_mcp.explain("conciseness")
    assert "of MCPBundles skill quality" in tdqs_mcp.explain("skill conciseness")
    assert "Disambiguation" in tdqs_mcp.explain("coherence")


def test_explain_takes_a_component_of_another_rubric_by_both_names():
    assert "of Tool description smells" in tdqs_mcp.explain("smells purpose")


@pytest.mark.parametrize("words", ["score --rubric bundles tools.json", "score tools.json --skill srv.py"])
def test_a_rubric_that_needs_a_model_says_so_once(at, words):
    run = at(words)
    assert run.returncode == 2
    assert " ".join((run.stdout + run.stderr).decode().split()).count("need a model") == 1
    assert run.stderr.decode().count("\n") == 1
    assert b"name a model with --judge" in run.stderr


def test_a_dead_endpoint_is_named_once(command, write):
    catalog = write("c.json", [tool(f"t{place}") for place in range(4)])
    run = command("score", catalog, "--judge", "openai:x", env={"TDQS_BASE_URL": "http://127.0.0.1:9/v1"})
    assert run.returncode == 2
    assert run.stdout.decode().count("cannot be reached") == 1


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("verify tools.json", "No such command 'verify'"),
        ("score", "or name it in tdqs.toml"),
        ("lint tols.json", "did you mean tools.json"),
        ("score nothing.json", "give a tools/list result"),
        ("score broken.json", "at line 2, column 1"),
        ("score empty", "there is neither code nor a JSON file"),
        ("score plain.py", "tdqs-mcp score -- python plain.py"),
        ("score https:/example.org", "give it as https://host/path"),
        ("score stdio:", "needs a command, as in"),
        ("score config:", "as in config:github"),
        ("score py:nothing", "give the server object too"),
        ("score py:no.such:server", "check the name, --cwd and what it needs"),
        ("score tools.json --rubric tqds", "Did you mean tdqs?"),
        ("score tools.json --fail-under E", "is not one of 'a', 'b'"),
        ("score tools.json --tool find_order", "did you mean find_orders"),
        ("score tools.json --format html -o page.json", "rename it, or choose one of"),
        ("score tools.json --judge opnai:m", "did you mean openai?"),
        ("score tools.json --judge openai", "set TDQS_BASE_URL or --base-url"),
        ("score tools.json --budget 20", "write calls=20, tokens=50000 or cost=0.50"),
        ("score tools.json --config bad.toml", 'write locator = "tools.json"'),
        ("score tools.json --config worse.toml", "is not valid TOML"),
        ("score tools.json --config ext.toml", "give the path of a TOML file"),
        ("score --example tools.json", "leave the locators out"),
        ("score tools.json --answers tools.json", 'answers must be an object like {"tools"'),
        ("lint tools.json --select TDQ999", "tdqs-mcp rules lists them"),
        ("lint tools.json --show everything", "is not one of 'all', 'source', 'statistics'"),
        ("lint tools.json --profile strct", "Did you mean strict?"),
        ("lint - --watch", "--watch needs a file or a folder"),
        ("lint tools.json --write-baseline", "needs --baseline FILE"),
        ("lint tools.json --client claud-code", "did you mean claude-code?"),
        ("lock --check tools.json", "write one with tdqs-mcp lock"),
        ("lock --check tools.json --accept *", "--check changes nothing"),
        ("rewrite tools.json --target AA", "give a tier A-D or an overall score"),
        ("rewrite tools.json --interview", "--material FILE takes the answers"),
        ("rewrite tools.json --writer gpt", "set --writer to offline"),
        ("rules usage_guideline", "did you mean usage_guidelines"),
        ("rules 'No Descripton'", "did you mean No Description"),
        ("code empty", "has no Python, JavaScript or TypeScript file"),
        ("select tools.json --against none.json", "did you mean"),
        ("install cursr", "Did you mean cursor?"),
        ("score zero.json", "is empty: save the JSON there first"),
        ("score ''", "the locator is empty"),
        ("score latin.json", "save it as UTF-8"),
        ("score null.json", "holds no object or array; give a tools/list result"),
        ("score nums.json", "is an array without a single tool definition"),
        ("score toolsobj.json", "tools in toolsobj.json is not an array"),
        ("score answer.json", "give the answer of a tools/list that worked"),
        ("score loop.json", "cannot be read: Too many levels of symbolic links"),
        ("score deep.json", "nests too deep to be read as JSON"),
        ("score clients.json", "holds no tool definitions; give a tools/list result"),
        ("score broken.py", "not read: invalid syntax"),
        ("score tools.json -o empty", "File 'empty' is a directory"),
        ("score tools.json -o none/x.json", "cannot be written: No such file or directory"),
        pytest.param("score stdio:none-such-command", "install it or give its full path", marks=pytest.mark.process),
        ("score http://127.0.0.1:9/mcp", "check host and port, and that the server is running"),
        ("score http://", "give it as https://host/path"),
        ("score ftp://x/y", "give an http or https URL, or download the file"),
        ("score config:none", "no MCP client has a server 'none'"),
        ("score tools.json --timeout 0", "is not in the range x>=0.1"),
        ("score tools.json --header x", "give NAME:VALUE"),
        ("score tools.json --env x", "give NAME=VALUE"),
        ("score tools.json --judge jury:a,b", "add [judges.a]"),
        ("score tools.json --accept *", "name another --judge"),
        ("lint tools.json --config never.toml", "give one of error, warning, info, never"),
        ("lint tools.json --baseline tools.json", "is not a baseline; write one with --write-baseline"),
        ("lint tools.json --baseline none.json", "add --write-baseline to write it"),
        ("lint tools.json --fix --diff", "leave --fix and --write-baseline out"),
        ("lint tools.json other.json --source .", "--source is the code of one server"),
        ("lint tools.json --rules none.py", "give a module or a .py file"),
        ("compare tools.json", "Missing argument 'NEW'"),
        ("lock tools.json --lock none/x.lock", "cannot be written"),
        ("lock --check tools.json --lock tools.json", "restore it, or delete it and run tdqs-mcp lock"),
        ("lock tools.json --accept tool:a", "add it without --accept"),
        ("lock tools.json --attest a.json --key tools.json", "give PEM without a password"),
        ("gate tools.json", "is not a suite"),
        ("rewrite tools.json --material bad.yml", "correct it at line 2, column 1"),
        ("rewrite tools.json --tool nope", "the catalog has"),
        ("select tools.json --queries tools.json", "give it as a text that is not empty"),
        ("portability tools.json --client x", "there are anthropic-api"),
        ("stats --store tools.json", "the file is no SQLite database: name another"),
        ("stats --store none.sqlite", "fill one with tdqs-mcp sweep"),
        ("lint tools.jsn", "did you mean tools.json"),
        ("score plian.py", "did you mean plain.py?"),
        ("score othr", "or its command last"),
        ("code tools.json", "is no code: give a folder"),
        ("code none", "is no code: give a folder"),
        ("code py:nothing", "give the server object too"),
        ("lint tools.json --source plain.py", "no tool is registered in 'plain.py'"),
        ("lint tools.json --source tools.json", "has no Python, JavaScript or TypeScript file"),
        ("lint broken.py", "(broken.py, line 1: not read: invalid syntax)"),
        ("lint tools.json --select TDQ1O4", "did you mean TDQ104,"),
        ("lint tools.json --ignore usage", "did you mean missing-usage,"),
        ("score tools.json --tool order", "did you mean find_orders?"),
        ("score tools.json --spec 2.0", "is not one of '1.2', '1.0'"),
        ("score tools.json --judge gpt-4o", "offline[:CALIBRATION], anthropic[:MODEL], openai[:MODEL]"),
        ("score tools.json --rubric skill", "give a SKILL.md of the server"),
        ("score tools.json --rubric code", "name its folder with --source"),
        ("score tools.json --rubric playground --judge offline", "asks no judge; leave --judge"),
        ("score tools.json other.json --format html", "give one locator"),
        ("select tools.json --queries empty.jsonl", "holds no queries; give a list of {query, tool}"),
        ("rewrite tools.json --write x.patch --target Z", "give a tier A-D or an overall score"),
        ("rewrite tools.json --source tools.json", "has no Python, JavaScript or TypeScript file"),
        ("lock tools.json --allow everything", "is not one of 'breaking', 'dangerous'"),
        ("route tools.json --variants tools.json", "holds no variants; its format is"),
        ("serve --http x", "give HOST:PORT, as in 127.0.0.1:8000"),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(at, write, tmp_path, words, advice):
    write("nothing.json", {"a": 1})
    write("broken.json", "[1\n")
    write("plain.py", "print(1)")
    write("bad.toml", "locator = 3")
    write("worse.toml", "[a")
    write("ext.toml", 'extend = "none.toml"')
    write("never.toml", 'fail-on = "bad"')
    write("zero.json", "")
    write("latin.json", '[{"name": "caf\u00e9"}]'.encode("latin-1"))
    write("null.json", "null")
    write("nums.json", [1, 2])
    write("toolsobj.json", {"tools": {}})
    write("answer.json", {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}})
    write("deep.json", "[" * 100_000)
    write("clients.json", {"mcpServers": {}})
    write("broken.py", "def f(:")
    write("empty.jsonl", "")
    write("bad.yml", "a: [\n")
    write("other.json", [tool("a", "A.")])
    (tmp_path / "loop.json").symlink_to("loop.json")
    (tmp_path / "empty").mkdir()
    run = at(words)
    error = " ".join(run.stderr.decode().split())
    assert (run.returncode, advice in error, "Traceback" in error) == (2, True, False), error


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ('selct = ["TDQ1"]', "did you mean select?"),
        ("select = [1]", 'write select = ["TDQ105"]'),
        ('profile = "strickt"', "did you mean strict?"),
        ("profile = 3", 'write profile = "strict"'),
        ('fail_on = "error"', "did you mean fail-on?"),
        ("fail-on = 1", 'write fail-on = "error"'),
        ('client = "cursor"', 'write client = ["claude-code"]'),
        ('client = ["cursr"]', "did you mean cursor?"),
        ('locator = ["a", 3]', 'write locator = "tools.json"'),
        ('severity = "error"', "write [severity]"),
        ('[severity]\nTDQ104 = "bad"', "give one of error, warning, info, off"),
        ("[severity]\nTDQ1O4 = 'error'", "did you mean TDQ104,"),
        ("[limits]\nTDQ104 = 5", "has no limit; these have one: TDQ113"),
        ('[limits]\nTDQ401 = "x"', "give a whole number"),
        ('[[suppress]]\nrule = "TDQ104"', "say why the finding may stay"),
        ('[[suppress]]\nrule = "TDQ104"\nreason = "x"\ntol = "y"', "did you mean tool?"),
        ('[suppress]\nrule = "TDQ104"', "write each as [[suppress]]"),
        ('extend = "never.toml"', "leads back to"),
        ('[tool.tdqs]\nselect = ["TDQ1"]', "which is for pyproject.toml"),
        ('[judges.a]\njudge = "openai"', "move it to your own configuration"),
    ],
)
def test_a_mistake_in_the_configuration_is_named_with_its_file(at, write, text, advice):
    write("never.toml", text)
    run = at("lint tools.json --config never.toml")
    error = " ".join(run.stderr.decode().split())
    assert (run.returncode, advice in error, "never.toml" in error) == (2, True, True), error
