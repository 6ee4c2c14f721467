"""The servers of all installed clients: listed and scored together."""

import json
import os
import subprocess
import sys
from pathlib import Path

import misbehaving_server
import pytest
from planted import SECRETS, entry, plant, write
from schemas import VALIDATORS

import tdqs_mcp
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.report.blocks import as_markdown
from tdqs_mcp.report.registry_reports import installed_blocks
from tdqs_mcp.results.installed_servers import InstalledOutcome, InstalledReport, Place
from tdqs_mcp.scoring.rollup import view_set
from tdqs_mcp.sources.clients import Machine
from tdqs_mcp.sources.files import read_catalog

REAL = os.environ.get("TDQS_TEST_SERVERS", "")


@pytest.fixture
def machine(tmp_path):
    return plant(tmp_path)


def installed(run):
    report = json.loads(run.stdout)
    VALIDATORS["installed"].validate(report)
    return {f"{each['client']}/{each['name']}": each for each in report["servers"]}, report


@pytest.mark.process
def test_the_servers_of_all_clients_are_listed_without_what_starts_them(command, machine):
    run = command("servers", "--format", "json", **machine)
    assert run.returncode == 0
    listed = json.loads(run.stdout)
    VALIDATORS["servers"].validate(listed)
    rows = {each["name"]: each for each in listed["servers"]}
    assert list(rows) == ["echo", "dies", "foreign", "plain", "remote", "same", "off", "asks", "bad", "bare"]
    assert set(rows["echo"]) == {"client", "name", "transport", "file", "fromProject", "disabled", "unresolved"}
    assert [rows[name]["transport"] for name in ("echo", "remote", "bad")] == ["stdio", "sse", "http"]
    assert [name for name, row in rows.items() if row["disabled"]] == ["off"]
    assert [name for name, row in rows.items() if row["fromProject"]] == ["foreign"]
    assert "${input:key}" in rows["asks"]["unresolved"][0]
    assert sorted(problem.rpartition("/")[2] for problem in listed["problems"]) == [
        "mcp.json is not an object; correct it",
        "mcp_config.json cannot be read (JSONDecodeError); correct it",
    ]


def test_each_server_is_a_row_and_a_broken_one_stops_no_other(tdqs_mcp, machine):
    run = tdqs_mcp("score", "--installed", "--timeout", "20", "--format", "json", **machine)
    rows, report = installed(run)
    assert run.returncode == 2
    assert run.stderr == b"error: without a score: claude-desktop/dies, claude-code/remote, vscode/bad\n"
    assert {name: row["standing"] for name, row in rows.items()} == {
        "claude-desktop/echo": "scored",
        "claude-desktop/dies": "failed",
        "claude-code/foreign": "not started",
        "claude-code/plain": "scored",
        "claude-code/remote": "failed",
        "cursor/same": "scored",
        "cursor/off": "disabled",
        "vscode/asks": "not started",
        "vscode/bad": "failed",
        "gemini-cli/bare": "scored",
    }
    assert not (machine["cwd"] / "started-by-asks").exists()
    assert rows["claude-code/plain"]["score"]["server"]["source"] == "config:claude-code/plain"
    assert (rows["cursor/same"]["score"], rows["cursor/same"]["sameAs"]) == (None, "claude-code/plain")
    assert [(each["client"], each["servers"]) for each in report["clients"]] == [
        ("claude-desktop", ["echo"]),
        ("claude-code", ["plain"]),
        ("cursor", ["same"]),
        ("gemini-cli", ["bare"]),
    ]
    assert len(report["problems"]) == 2


@pytest.mark.process
def test_a_server_that_repeats_what_it_was_given_says_so_and_is_scored(command, machine):
    run = command("capture", "config:echo", **machine)
    captured = json.loads(run.stdout)
    assert captured["tools"][1]["name"] == "repeat_***"
    assert "***" in captured["tools"][1]["description"]
    assert captured["tools"][0] == misbehaving_server.GOOD
    found = json.loads(command("lint", "config:echo", "--format", "json", **machine).stdout)
    assert any("repeat a value" in problem for problem in found["problems"])


@pytest.mark.process
def test_ordinary_values_stay_in_definitions(command, tmp_path):
    words = {"LOG_LEVEL": "information", "MAX_TOKENS": "4096", "ACCEPT": "application/json", "AUTH_TYPE": "basic"}
    options = [part for name, value in words.items() for part in ("--env", f"{name}={value}")]
    locator = f"stdio:{sys.executable} {misbehaving_server.__file__} repeats"
    tool = json.loads(command("capture", locator, *options, cwd=tmp_path).stdout)["tools"][1]
    assert all(value in tool["description"] for value in words.values())


def test_what_a_project_names_starts_with_consent_alone(tdqs_mcp, machine):
    rows, _ = installed(tdqs_mcp("score", "--installed", "--yes", "--format", "json", **machine))
    assert rows["claude-code/foreign"]["standing"] == "scored"
    refused = tdqs_mcp("score", "--installed", "--format", "json", stdin=b"y\n", **machine)
    assert "--yes" in installed(refused)[0]["claude-code/foreign"]["reason"]


@pytest.mark.process
def test_a_terminal_is_asked_before_a_project_s_server_starts(machine):
    for answer, standing in ((b"n\n", "not started"), (b"y\n", "scored")):
        ours, theirs = os.openpty()
        os.write(ours, answer)
        words = [sys.executable, "-m", "tdqs_mcp", "score", "--installed", "--format", "json"]
        run = subprocess.run(
            words, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, timeout=120, check=False, **machine
        )
        asked = os.read(ours, 100_000).decode()
        os.close(ours)
        os.close(theirs)
        assert installed(run)[0]["claude-code/foreign"]["standing"] == standing
        assert "name these servers: claude-code/foreign" in asked


def test_servers_that_a_client_has_switched_off_elsewhere_are_not_started(tmp_path):
    off = {"projects": {str(tmp_path / "project"): {"disabledMcpServers": ["two"]}}}
    write(tmp_path / ".claude.json", {"mcpServers": {"one": entry("plain"), "two": entry("plain")}, **off})
    write(tmp_path / ".claude/settings.json", {"disabledMcpjsonServers": ["three"]})
    write(tmp_path / "project/.mcp.json", {"mcpServers": {"three": entry("plain")}})
    write(tmp_path / ".gemini/settings.json", {"mcpServers": {"four": entry("plain")}, "mcp": {"excluded": ["four"]}})
    found = tdqs_mcp.servers(Machine(home=tmp_path, cwd=tmp_path / "project", environ={})).servers
    assert {each.name: each.is_disabled for each in found} == {"three": True, "one": False, "two": True, "four": True}


@pytest.mark.process
def test_tools_that_a_client_does_not_hand_on_do_not_count_for_it(tmp_path):
    codex = f"""[mcp_servers.all]\ncommand = {sys.executable!r}\nargs = [{misbehaving_server.__file__!r}, "plain"]
        [mcp_servers.some]\ncommand = {sys.executable!r}\nargs = [{misbehaving_server.__file__!r}, "plain"]
        disabled_tools = ["odd"]"""
    write(tmp_path / ".codex/config.toml", codex)
    write(tmp_path / ".gemini/settings.json", {"mcpServers": {"one": {**entry("plain"), "includeTools": ["good"]}}})
    report = tdqs_mcp.score_installed(machine=Machine(home=tmp_path, cwd=tmp_path, environ={}))
    assert [(each.client, each.tool_count) for each in report.clients] == [("codex", 3), ("gemini-cli", 1)]
    assert [each.tool_count for each in report.servers] == [2, 2, 2]
    assert [(each.score is None, each.same_as) for each in report.servers] == [
        (False, None),
        (True, "codex/all"),
        (True, "codex/all"),
    ]


@pytest.mark.process
def test_a_file_of_the_home_is_the_user_s_own_in_the_home_too(command, machine):
    home = Path(machine["env"]["HOME"])
    listed = json.loads(command("servers", "--format", "json", **machine | {"cwd": home}).stdout)
    assert not any(each["fromProject"] for each in listed["servers"])


@pytest.mark.process
def test_a_gate_stays_open_for_what_was_not_looked_at(command, tmp_path):
    write(tmp_path / ".cursor/mcp.json", {"mcpServers": {"plain": entry("plain")}})
    write(tmp_path / "project/.cursor/mcp.json", {"mcpServers": {"foreign": entry("plain", "FOREIGN")}})
    machine = {"cwd": tmp_path, "env": {**os.environ, "HOME": str(tmp_path)}}
    assert command("score", "--installed", **machine).returncode == 0
    assert command("score", "--installed", "--fail-under", "D", **machine).returncode == 0
    assert command("score", "--installed", "--fail-under", "A", **machine).returncode == 1
    run = command("score", "--installed", "--fail-under", "D", **machine | {"cwd": tmp_path / "project"})
    assert run.returncode == 2
    assert b"'cursor/foreign'" in run.stderr


@pytest.mark.process
def test_a_gate_is_not_met_by_nothing(command, tmp_path):
    write(tmp_path / ".cursor/mcp.json", {"mcpServers": {"off": {**entry("plain"), "disabled": True}}})
    machine = {"cwd": tmp_path, "env": {**os.environ, "HOME": str(tmp_path)}}
    assert command("score", "--installed", **machine).returncode == 0
    assert command("score", "--installed", "--fail-under", "D", **machine).returncode == 2


@pytest.mark.process
def test_without_any_server_there_is_nothing_to_score(command, tmp_path):
    machine = {"cwd": tmp_path, "env": {**os.environ, "HOME": str(tmp_path)}}
    assert command("servers", **machine).returncode == 0
    run = command("score", "--installed", **machine)
    assert (run.returncode, run.stderr) == (2, b"error: no client here has any server\n")


@pytest.mark.parametrize("words", [("--installed", "x.json"), ("--installed", "--env", "A=b"), ()])
def test_options_that_do_not_go_together_are_refused(command, words):
    assert command("score", *words).returncode == 2


def servers(**named):
    tools = {
        name: [{"name": tool, "description": text, "inputSchema": {"type": "object"}} for tool, text in listed.items()]
        for name, listed in named.items()
    }
    return {name: measure(read_catalog({"tools": each}, name=name)) for name, each in tools.items()}


def test_names_collide_as_the_client_makes_them():
    pair = servers(one={"search": "Searches mail."}, two={"search": "Searches the web."})
    plain = (Place(server="one", tool="search"), Place(server="two", tool="search"))
    assert [each.tools for each in view_set("claude-desktop", "", pair).collisions] == [plain]
    for client in ("claude-code", "codex", "cursor", "vscode", "gemini-cli"):
        seen = view_set(client, "", pair)
        assert (seen.collisions, [each.tools for each in seen.same_names]) == ((), [plain])
    spelled = {"my server": pair["one"], "my.server": pair["two"]}
    (collision,) = view_set("claude-code", "", spelled).collisions
    assert collision.name == "mcp__my_server__search"
    assert view_set("vscode", "", spelled).collisions == ()


def test_a_client_with_too_many_tools_says_so():
    many = servers(one={f"get_{place}": f"Gets part {place}." for place in range(101)})
    assert (view_set("windsurf", "", many).tool_limit, view_set("zed", "", many).tool_limit) == (100, None)
    report = InstalledReport(servers=(), clients=(view_set("windsurf", "Windsurf", many),), problems=())
    assert "more tools than the 100 that it takes" in as_markdown(installed_blocks(report))


@pytest.mark.skipif(not REAL, reason="TDQS_TEST_SERVERS is unset: run tests/real_servers.sh DIR and set it to DIR")
def test_published_servers_of_three_clients_are_scored_together(tdqs_mcp, tmp_path):
    modules = f"{REAL}/node_modules/@modelcontextprotocol"
    files = {"command": "node", "args": [f"{modules}/server-filesystem/dist/index.js", "."]}
    memory = {"command": "node", "args": [f"{modules}/server-memory/dist/index.js"]}
    git = {"command": f"{REAL}/mcp-server-git/bin/mcp-server-git", "env": {"GITHUB_TOKEN": SECRETS["environment"]}}
    write(tmp_path / ".config/Claude/claude_desktop_config.json", {"mcpServers": {"a": files, "b": files, "git": git}})
    write(tmp_path / ".claude.json", {"mcpServers": {"files": files, "git": git, "memory": memory}})
    write(tmp_path / ".cursor/mcp.json", {"mcpServers": {"memory": memory}})
    machine = {"cwd": tmp_path, "env": {**os.environ, "HOME": str(tmp_path)}}
    words = ("score", "--installed", "--format", "json")
    run = tdqs_mcp(*words, **machine)
    rows, report = installed(run)
    assert (run.returncode, run.stderr) == (0, b"")
    assert [name for name, row in rows.items() if row["score"]] == [
        "claude-desktop/a",
        "claude-desktop/git",
        "claude-code/memory",
    ]
    desktop, code, cursor = report["clients"]
    assert (desktop["toolCount"], len(desktop["collisions"]), desktop["sameNames"]) == (40, 14, [])
    assert (code["toolCount"], code["collisions"], code["sameNames"]) == (35, [], [])
    assert code["tokens"] == sum(rows[f"claude-code/{name}"]["tokens"] for name in ("files", "git", "memory"))
    assert cursor["tokens"] == rows["claude-code/memory"]["tokens"]


def test_tools_of_different_servers_that_say_the_same_are_shown_once():
    pair = servers(
        one={"send_mail": "Sends an email message to a recipient."},
        two={"mail_send": "Sends an email message to a recipient.", "list_rooms": "Lists all meeting rooms."},
    )
    (overlap,) = view_set("cursor", "", pair).overlaps
    assert (overlap.first.tool, overlap.second.tool, overlap.kind) == ("send_mail", "mail_send", "definition")


@pytest.mark.bench
def test_the_view_of_a_client_takes_linear_work(compare_work):
    def many(count):
        return servers(
            **{
                f"server{place}": {
                    f"get_{place}_{each}": f"Gets record {each} of the archive number {place}." for each in range(25)
                }
                for place in range(count)
            }
        )

    few, more = many(20), many(80)
    for each in (*few.values(), *more.values()):
        _ = each.purposes, each.tokens
    compare_work(lambda: view_set("cursor", "", more), lambda: view_set("cursor", "", few), at_most=5)


def test_the_library_scores_installed_servers(machine):
    where = Machine(home=Path(machine["env"]["HOME"]), cwd=machine["cwd"], environ=machine["env"])
    assert len(tdqs_mcp.servers(where).servers) == 10


def test_a_folder_ends_in_its_servers_the_lowest_first(command, tmp_path):
    good = {"name": "a", "description": "Lists the open invoices of a customer, newest first.", "inputSchema": {}}
    for name, tool in (("fine", good), ("poor", {"name": "x", "inputSchema": {"type": "object"}})):
        write(tmp_path / f"{name}.json", {"tools": [tool]})
    lines = command("score", tmp_path).stdout.decode().splitlines()
    assert "2 servers, the lowest first" in lines
    assert [line.split()[0] for line in lines[-2:]] == ["poor", "fine"]
    assert b"lowest first" not in command("score", tmp_path / "fine.json").stdout


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("install", "curser"), "cursor"),
        (("lint", "--profile", "strikt", "x"), "strict"),
        (("serve", "--log-level", "warnig"), "warning"),
    ],
)
def test_a_misspelled_choice_gets_what_was_probably_meant(command, words, meant):
    run = command(*words)
    assert run.returncode == 2
    assert f"Did you mean {meant}" in run.stderr.decode()


def test_standings_are_words_of_the_contract():
    assert [each.value for each in InstalledOutcome] == ["scored", "disabled", "not started", "failed"]


@pytest.fixture
def clone(tmp_path):
    """A user with a server `shop`, in a clone whose files name another `shop` and `only`; both leave a mark when started."""
    home, folder = tmp_path / "home", tmp_path / "clone"
    script = "import pathlib, sys; pathlib.Path(sys.argv[1]).touch()"

    def entry(name):
        return {"command": sys.executable, "args": ["-c", script, str(tmp_path / name)]}

    for base, servers in (
        (home, {"shop": entry("own")}),
        (folder, {"shop": entry("foreign"), "only": entry("foreign")}),
    ):
        (base / ".cursor").mkdir(parents=True)
        (base / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    environment = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config")}
    return {"cwd": folder, "env": environment}, tmp_path


@pytest.mark.process
@pytest.mark.parametrize(
    "locator", ["config:shop", "config:cursor/shop", "config:only", "config:project/shop", "config:project/cursor/only"]
)
@pytest.mark.parametrize("name", ["score", "lint", "capture", "rewrite", "lock", "select", "route", "suite"])
def test_a_locator_starts_no_server_that_a_project_names(request, clone, name, locator):
    """`route` has a process of its own, because its protocol is on its standard input and output."""
    (machine, marks), run_command = clone, request.getfixturevalue("tdqs_mcp" if name == "route" else "command")
    if name == "suite":
        suite = {"servers": {"s": {"locator": locator}}, "tool_quality": [{"name": "n", "server": "s"}]}
        (machine["cwd"] / "suite.yml").write_text(json.dumps(suite), encoding="utf-8")
        run = run_command("gate", "suite.yml", **machine)
    else:
        variants = machine["cwd"] / "variants.json"
        variants.write_text(
            json.dumps({"variants": {"plain": {"get": "Gets it."}}, "serve": "plain"}), encoding="utf-8"
        )
        run = run_command(name, locator, *(["--variants", variants] if name == "route" else []), **machine)
    assert not (marks / "foreign").exists()
    assert run.returncode in ({0, 1, 2} if name == "route" else {2})
    told = " ".join((run.stdout + run.stderr).decode().split())
    if "project" in locator:
        assert "a file of this folder and not one of yours" in told
        assert "--yes" in told
    elif locator == "config:only":
        assert "config:project/cursor/only" in told
    elif name != "route":  # which starts its server with the first message
        assert (marks / "own").exists()


@pytest.mark.process
def test_a_project_s_server_starts_with_consent(command, clone):
    machine, marks = clone
    command("score", "config:project/only", "--yes", **machine)
    assert (marks / "foreign").exists()
    assert not (marks / "own").exists()


def test_no_caller_can_have_a_project_s_server_started(command, clone):
    machine, _ = clone
    run = command("serve", "--allow-config", "project/shop", **machine)
    assert run.returncode == 2
    assert b"allow servers of your own" in run.stderr
