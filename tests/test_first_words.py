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
        ("score .mcp.json", "it configures servers; score one of them by name: config:project/shop"),
        ("score other/.mcp.json", "score one of them by name: config:project/NAME, in the folder of its project"),
        ("score localhost:8000/mcp", "did you mean http://localhost:8000/mcp ?"),
        ("score mcp.example.org:8443/mcp", "did you mean https://mcp.example.org:8443/mcp ?"),
        ("score tool.json", "did you mean tools.json?"),
        (
            "score nothing",
            "to score a live server, give its URL, or its command last: tdqs-mcp score -- COMMAND ARG...",
        ),
        ("portability other", "this command takes one file: other/.mcp.json"),
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
    assert at("score ''").returncode == 2
    for words in ("lint empty", "lint catalogs empty"):
        assert b"there is neither code nor a JSON file in the folder 'empty'" in at(words).stderr


def test_a_tier_may_be_a_small_letter(at):
    assert at("score tools.json --fail-under d").returncode == 0
    assert at("score --rubric playground tools.json --fail-under f").returncode == 0


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
