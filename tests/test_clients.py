"""Servers out of the configuration files of installed MCP clients, as their documentation shows them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdqs_mcp.errors import InputError
from tdqs_mcp.sources.clients import Machine, find_server, read_servers
from tdqs_mcp.sources.locator import Stdio, Url

HOME_FILES = {
    ".config/Claude/claude_desktop_config.json": '{"mcpServers": {"desktop": {"command": "npx", "args": ["fs"]}}}',
    ".claude.json": json.dumps(
        {
            "mcpServers": {
                "user": {"type": "http", "url": "https://x/mcp", "headers": {"Authorization": "Bearer ${TOKEN:-none}"}},
                "shadowed": {"command": "from-home"},
            },
            "projects": {"PROJECT": {"mcpServers": {"local": {"command": "uvx", "args": ["tdqs-mcp"]}}}},
        }
    ),
    ".cursor/mcp.json": '{"mcpServers": {"cursor-url": {"url": "https://y/mcp", "headers": {"K": "${env:KEY}"}}}}',
    ".config/Code/User/mcp.json": '{"servers": {"code-user": {"type": "http", "url": "https://z/mcp"}}}',
    ".config/Code/User/settings.json": '{/* old */ "mcp": {"servers": {"code-settings": {"command": "c"}}},}',
    ".codeium/windsurf/mcp_config.json": (
        '{"mcpServers": {"surf": {"serverUrl": "https://w/mcp"}, "off": {"command": "x", "disabled": true}}}'
    ),
    ".config/zed/settings.json": """{
        // the newer and the older way
        "context_servers": {
            "zed": {"source": "custom", "command": "node", "args": ["a.js"], "env": {}},
            "zed-old": {"command": {"path": "deno", "args": ["run", "http://x//y"], "env": {"A": "1"}}},
        },
    }""",
    ".codex/config.toml": """
        [mcp_servers.codex]
        command = "npx"
        args = ["-y", "x"]
        cwd = "/srv"
        [mcp_servers.codex.env]
        A = "b"
        [mcp_servers.codex-url]
        url = "https://r/mcp"
        bearer_token_env_var = "TOKEN"
        http_headers = { X = "1" }
        env_http_headers = { Y = "KEY" }
    """,
    ".gemini/settings.json": (
        '{"mcpServers": {"gemini": {"httpUrl": "https://g/mcp"}, "gemini-sse": {"url": "https://g/sse"}}}'
    ),
}
PROJECT_FILES = {
    ".mcp.json": '{"mcpServers": {"shadowed": {"command": "from-project"}, "project": {"url": "${BASE}/sse"}}}',
    ".cursor/mcp.json": '{"mcpServers": {"folder": {"command": "python", "args": ["${workspaceFolder}/s.py", 7]}}}',
    ".vscode/mcp.json": """{
        // "servers" here is only a comment
        "inputs": [{"type": "promptString", "id": "k", "password": true}],
        "servers": {
            "asks": {"command": "npx", "args": ["a//b", "c,]"], "envFile": ".env",
                     "env": {"K": "${input:k}", "L": "1"}},
            "asks-in-args": {"command": "npx", "args": ["--key", "${input:k}"]},
            "nothing": {"type": "stdio"},
        },
    }""",
}
ENVIRON = {"TOKEN": "t0ken", "KEY": "k3y", "BASE": "https://base"}


@pytest.fixture
def machine(tmp_path):
    """A home and a project with one configuration file of every client."""
    home, project = tmp_path / "home", tmp_path / "project"
    for root, files in ((home, HOME_FILES), (project, PROJECT_FILES)):
        for name, text in files.items():
            write(root / name, text.replace("PROJECT", json.dumps(str(project))[1:-1]))
    return Machine(home=home, cwd=project, environ=ENVIRON, platform="linux")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "client", "locator"),
    [
        ("desktop", "claude-desktop", Stdio(command="npx", args=("fs",))),
        ("user", "claude-code", Url(url="https://x/mcp")),
        ("local", "claude-code", Stdio(command="uvx", args=("tdqs-mcp",))),
        ("project", "claude-code", Url(url="https://base/sse")),
        ("cursor-url", "cursor", Url(url="https://y/mcp")),
        ("code-user", "vscode", Url(url="https://z/mcp")),
        ("code-settings", "vscode", Stdio(command="c")),
        ("asks", "vscode", Stdio(command="npx", args=("a//b", "c,]"))),
        ("surf", "windsurf", Url(url="https://w/mcp")),
        ("zed", "zed", Stdio(command="node", args=("a.js",))),
        ("zed-old", "zed", Stdio(command="deno", args=("run", "http://x//y"))),
        ("codex", "codex", Stdio(command="npx", args=("-y", "x"))),
        ("gemini", "gemini-cli", Url(url="https://g/mcp")),
        ("gemini-sse", "gemini-cli", Url(url="https://g/sse")),
    ],
)
def test_a_server_of_every_client_is_found(machine, name, client, locator):
    server = find_server(name, is_project=name in ("project", "asks"), machine=machine)
    assert (server.client, server.name, server.locator) == (client, name, locator)
    assert server.file.is_file()


def test_variables_are_filled_in_as_each_client_spells_them(machine):
    assert find_server("user", machine=machine).headers == {"Authorization": "Bearer t0ken"}
    assert find_server("user", machine=replace(machine, environ={})).headers == {"Authorization": "Bearer none"}
    assert find_server("cursor-url", machine=machine).headers == {"K": "k3y"}
    assert find_server("folder", is_project=True, machine=machine).args == (f"{machine.cwd}/s.py", "7")
    codex = find_server("codex-url", machine=machine)
    assert codex.headers == {"X": "1", "Y": "k3y", "Authorization": "Bearer t0ken"}
    assert (find_server("codex", machine=machine).env, find_server("codex", machine=machine).cwd) == (
        {"A": "b"},
        "/srv",
    )


def test_what_only_the_client_can_ask_for_is_reported_and_left_out(machine):
    server = find_server("asks", is_project=True, machine=machine)
    assert server.env == {"L": "1"}
    assert server.unresolved == (
        "K needs ${input:k}; give it with --env K=VALUE",
        "its envFile is not read; give the variables with --env NAME=VALUE",
    )
    assert "args needs ${input:k}" in find_server("asks-in-args", is_project=True, machine=machine).unresolved[0]


def test_a_header_whose_variable_is_unset_is_reported_without_its_text(machine):
    server = find_server("codex-url", machine=replace(machine, environ={"KEY": "k3y"}))
    assert server.headers == {"X": "1", "Y": "k3y"}
    assert server.unresolved == ("Authorization needs ${TOKEN}; give it with --header 'Authorization: VALUE'",)


def test_a_disabled_server_is_found_and_says_so(machine):
    assert find_server("off", machine=machine).is_disabled
    assert not find_server("surf", machine=machine).is_disabled


def test_a_client_shows_the_project_s_server_and_the_user_s_keeps_its_name(machine):
    servers, _ = read_servers(machine)
    assert [each.command for each in servers if each.name == "shadowed"] == ["from-project"]
    assert find_server("shadowed", machine=machine).command == "from-home"
    assert find_server("claude-code/shadowed", machine=machine).command == "from-home"
    assert find_server("shadowed", is_project=True, machine=machine).command == "from-project"


def test_an_unknown_name_gets_the_names_that_there_are(machine):
    with pytest.raises(InputError, match=r"no MCP client has a server 'git'.*'codex'.*'zed-old'"):
        find_server("git", machine=machine)
    with pytest.raises(InputError, match=r"no file of this folder names a server 'git'.*'asks'.*'shadowed'"):
        find_server("git", is_project=True, machine=machine)
    with pytest.raises(InputError, match="there is config:project/vscode/asks"):
        find_server("asks", machine=machine)


def test_a_machine_without_clients_says_so(tmp_path):
    with pytest.raises(InputError, match="no client here has any server"):
        find_server("git", machine=Machine(home=tmp_path, cwd=tmp_path, environ={}))


def test_a_broken_file_is_named_and_does_not_hide_the_others(machine):
    write(machine.home / ".gemini/settings.json", '{"mcpServers": ')
    assert find_server("zed", machine=machine).client == "zed"
    with pytest.raises(InputError, match=r"settings\.json cannot be read"):
        find_server("gemini", machine=machine)


def test_clients_that_agree_need_no_choice_and_those_that_differ_do(machine):
    write(machine.home / ".gemini/settings.json", HOME_FILES[".config/Claude/claude_desktop_config.json"])
    assert find_server("desktop", machine=machine).client == "claude-desktop"
    write(machine.home / ".gemini/settings.json", '{"mcpServers": {"desktop": {"command": "other"}}}')
    with pytest.raises(InputError, match=r"config:claude-desktop/desktop .*, config:gemini-cli/desktop"):
        find_server("desktop", machine=machine)
    assert find_server("gemini-cli/desktop", machine=machine).command == "other"


def test_an_entry_without_command_and_url_cannot_be_reached(machine):
    with pytest.raises(InputError, match="neither a command nor a URL"):
        find_server("nothing", is_project=True, machine=machine).locator  # noqa: B018  # the property raises


def test_credentials_are_not_in_the_repr(machine):
    assert "t0ken" not in repr(find_server("codex-url", machine=machine))


@pytest.mark.parametrize(
    ("platform", "path"),
    [
        ("darwin", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("linux", ".config/Claude/claude_desktop_config.json"),
    ],
)
def test_claude_desktop_keeps_its_file_where_the_platform_wants_it(tmp_path, platform, path):
    write(tmp_path / path, '\ufeff{"mcpServers": {"fs": {"command": "npx"}}}')
    server = find_server(
        "fs", machine=Machine(home=tmp_path, cwd=tmp_path / "elsewhere", environ={}, platform=platform)
    )
    assert server.file == tmp_path / path


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["${A}", "${input:k}", "http://[", "$B"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KEYS = ("command", "args", "env", "url", "httpUrl", "headers", "cwd", "type", "disabled", "enabled", "includeTools")


@given(entry=st.dictionaries(st.sampled_from(KEYS), JSON) | JSON, off=JSON)
def test_no_entry_is_so_odd_that_it_hides_the_others(tmp_path_factory, entry, off):
    home = tmp_path_factory.getbasetemp() / "odd"
    content = {"mcpServers": {"odd": entry, "fine": {"command": "x"}}, "mcp": {"excluded": off}}
    write(home / ".gemini/settings.json", json.dumps(content))
    found, _ = read_servers(Machine(home=home, cwd=home / "project", environ={}))
    assert "fine" in [each.name for each in found]
    for each in found:
        try:
            _ = each.locator
        except InputError as error:
            assert str(error)  # noqa: PT017  # most entries can be reached
