"""Our entry in the configurations of eight clients: it comes, stays alone, and goes, and nothing else moves."""

import json
import sys
import tomllib
from pathlib import Path

import json5
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdqs_mcp.app.installed_clients import SERVER_NAME, client_names, own_entry, plan_install, plan_uninstall
from tdqs_mcp.errors import InputError
from tdqs_mcp.json_text import JsonText
from tdqs_mcp.sources.clients import Machine, client_file, find_server

OTHER = {"command": "npx", "args": ["-y", "server-github"], "env": {"GITHUB_TOKEN": "ghp_secret"}}

JSONC = """\
// settings of this editor
{
\t"theme": "dark", // not too bright
\t/* two servers:
\t   one of them is off */
\t"KEY": {
\t\t"github": { "command": "npx", "env": { "TOKEN": "a//b, }" } }, // the one
\t\t// "old": {},
\t\t"files": { "command": "uvx", "args": ["mcp-files"], }, // the other
\t},
}
"""

TOML = """\
# my Codex
model = "o5"

[mcp_servers.github] # the one
command = "npx"
args = ["-y", "server-github"]

[profiles.fast]
model = "o5-mini"  # cheap
"""


@pytest.fixture
def client(tmp_path):
    """Where a client keeps its servers below a made home, and the two changes there."""

    class Client:
        def __init__(self, name):
            machine = Machine(home=tmp_path, environ={}, platform="linux")
            self.known = client_file(name, machine)
            self.file, self.keys, self.name = self.known.file, self.known.keys, name
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.install = lambda *arguments: plan_install(name, arguments, machine=machine)
            self.uninstall = lambda: plan_uninstall(name, machine)

        @property
        def usual(self):
            """A configuration as its users have it."""
            if self.file.suffix == ".toml":
                return TOML
            if self.name in ("vscode", "zed"):
                return JSONC.replace("KEY", self.keys[0])
            return json.dumps({"theme": "dark", self.keys[0]: {"github": OTHER}}, indent=2)

        def read(self):
            text = self.file.read_text("utf-8")
            return tomllib.loads(text) if self.file.suffix == ".toml" else json5.loads(text)

    return Client


def test_each_of_the_eight_clients_is_documented_with_its_source():
    root = Path(__file__).parents[1]
    clients = tomllib.loads((root / "src/tdqs_mcp/sources/clients.toml").read_text("utf-8"))["clients"]
    assert [*clients] == client_names()
    assert len(clients) == 8
    documented = (root / "docs/agents.md").read_text("utf-8")
    assert all(facts["title"] in documented and facts["source"] in documented for facts in clients.values())


@pytest.mark.parametrize("name", client_names())
def test_our_entry_comes_and_goes_and_every_other_byte_stays(client, name):
    made = client(name)
    made.file.write_text(made.usual, "utf-8")
    before = made.read()
    backup = made.install("--root", "/srv").write()
    assert backup.read_text("utf-8") == made.usual
    after = made.read()
    assert after[made.keys[0]].pop(SERVER_NAME) == {**made.known.entry, **own_entry(["--root", "/srv"])}
    assert after == before
    assert [line for line in made.usual.split("\n") if line not in made.file.read_text("utf-8")] in ([], ["    }"])
    assert not made.install("--root", "/srv").difference
    made.uninstall().write()
    assert made.file.read_text("utf-8") == made.usual
    assert not made.uninstall().difference


@pytest.mark.parametrize("name", client_names())
@pytest.mark.parametrize("start", [None, "", "{}", "{}\n"])
def test_a_file_that_is_not_there_or_empty_is_made(client, name, start):
    made = client(name)
    if start is not None:
        made.file.write_text("" if made.file.suffix == ".toml" else start, "utf-8")
    assert (made.install().write() is None) == (start is None)
    assert made.read()[made.keys[0]][SERVER_NAME]["args"][-1] == "serve"
    made.uninstall().write()
    assert not made.read().get(made.keys[0])


@pytest.mark.parametrize("name", client_names())
def test_what_is_installed_is_found_as_a_server_of_the_client(client, name, tmp_path):
    client(name).install().write()
    found = find_server(
        f"{name}/{SERVER_NAME}", machine=Machine(home=tmp_path, cwd=tmp_path / "x", environ={}, platform="linux")
    )
    assert [found.command, *found.args] == [own_entry()["command"], *own_entry()["args"]]


@pytest.mark.parametrize("name", client_names())
def test_what_the_user_has_added_to_our_entry_stays(client, name):
    made = client(name)
    made.file.write_text(made.usual, "utf-8")
    made.install().write()
    text = made.file.read_text("utf-8")
    added = 'env = { TDQS_MODEL = "m" }\n' if made.file.suffix == ".toml" else '"env": {"TDQS_API_KEY": "sk-1"},'
    mark = f"[{made.keys[0]}.{SERVER_NAME}]\n" if made.file.suffix == ".toml" else f'"{SERVER_NAME}": {{'
    made.file.write_text(text.replace(mark, mark + added), "utf-8")
    change = made.install("--allow-py")
    assert "sk-1" not in "\n".join(change.difference)
    change.write()
    assert made.read()[made.keys[0]][SERVER_NAME]["args"][-1] == "--allow-py"
    assert "env" in made.read()[made.keys[0]][SERVER_NAME]


@pytest.mark.parametrize("name", client_names())
@pytest.mark.parametrize(
    "broken",
    [
        '{"mcpServers": ',
        "= x [",
        '{"KEY": []}',
        "KEY = 3",
        "[1",
        '{"KEY": {}, "KEY": {}}',
        '{"KEY": {"tdqs": 3}}',
        b"\xff\xfe{",
    ],
)
def test_a_malformed_file_stays_untouched(client, name, broken):
    made = client(name)
    content = broken if isinstance(broken, bytes) else broken.replace("KEY", made.keys[0]).encode()
    made.file.write_bytes(content)
    with pytest.raises(InputError, match="cannot be edited, and was left as it is"):
        made.install()
    assert made.file.read_bytes() == content
    assert list(made.file.parent.glob("*.bak*")) == []


def test_a_folder_that_cannot_be_made_is_named(client):
    made = client("windsurf")
    made.file.parent.rmdir()
    made.file.parent.write_text("a file")
    with pytest.raises(InputError, match=r"the folder of '.*' cannot be made"):
        made.install().write()


def test_no_backup_replaces_another(client):
    made = client("cursor")
    made.file.write_text(made.usual, "utf-8")
    kept = [made.install().write(), made.uninstall().write(), made.install().write()]
    assert [each.name for each in kept] == ["mcp.json.bak", "mcp.json.bak1", "mcp.json.bak2"]


def test_a_byte_order_mark_and_other_line_ends_stay(client):
    made = client("windsurf")
    content = b"\xef\xbb\xbf" + made.usual.replace("\n", "\r\n").encode()
    made.file.write_bytes(content)
    made.install().write()
    assert made.file.read_bytes().startswith(b"\xef\xbb\xbf{\r\n")
    assert b"\n" not in made.file.read_bytes().replace(b"\r\n", b"")
    made.uninstall().write()
    assert made.file.read_bytes() == content


NAMES = st.text("ab/*\"', {}:\\", max_size=6).filter(lambda name: name != SERVER_NAME)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
)
SPACES = st.sampled_from(["", " ", "\n", "\n\t", " // {,\n", " /* , } \n */ ", "\r\n  "])


@st.composite
def spelled(draw, value):
    """A value as JSON with white space, comments and trailing commas wherever they may be."""

    def space():
        return draw(SPACES)

    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}{space()}:{space()}{draw(spelled(part))}" for key, part in value.items()]
    elif isinstance(value, list):
        parts = [draw(spelled(part)) for part in value]
    else:
        return json.dumps(value)
    inner = f"{space()},{space()}".join(parts) + (f"{space()}," if parts and draw(st.booleans()) else "")
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}{space()}{inner}{space()}{last}"


@given(st.dictionaries(NAMES, VALUES, max_size=3), st.dictionaries(NAMES, VALUES, max_size=3) | st.none(), st.data())
def test_any_json_with_comments_anywhere_gets_our_entry_and_gives_it_back(around, servers, data):
    content = around if servers is None else {**around, "servers": servers}
    known = JsonText(data.draw(SPACES) + data.draw(spelled(content)) + data.draw(SPACES), has_comments=True)
    assert known.value == content
    entry = {"command": "tdqs-mcp", "args": ["serve"]}
    installed = JsonText(known.with_entry(["servers", SERVER_NAME], entry), has_comments=True)
    assert installed.value == {**content, "servers": {**(servers or {}), SERVER_NAME: entry}}
    assert JsonText(installed.with_entry(["servers", SERVER_NAME], entry), has_comments=True).text == installed.text
    left = JsonText(installed.without_entry(["servers", SERVER_NAME]), has_comments=True)
    assert left.value == {**content, "servers": servers or {}}
    comments = [word for word in ("// {,", "/* , } \n */") for _ in range(known.text.count(word))]
    assert all(left.text.count(word) == known.text.count(word) for word in comments)


def test_what_is_added_to_an_object_in_one_line_is_not_in_the_comment_behind_its_last_member():
    text = JsonText('{"a":{"b":1} // {,\n}', has_comments=True).with_entry(["servers", "tdqs"], {"command": "x"})
    assert text == '{"a":{"b":1},"servers":{"tdqs":{"command":"x"}} // {,\n}'


def test_the_commands_show_the_difference_and_write_only_without_dry_run(command, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / ".cursor" / "mcp.json"
    run = command("install", "cursor", "--dry-run", "--", "--root", tmp_path)
    assert (run.returncode, file.exists()) == (0, False)
    assert b"nothing was written" in run.stdout
    run = command("install", "cursor", "--", "--root", tmp_path)
    assert b"+mcpServers.tdqs: {" in run.stdout
    assert json.loads(file.read_text())["mcpServers"]["tdqs"]["args"][-2:] == ["--root", str(tmp_path)]
    assert b"nothing to change" in command("install", "cursor", "--", "--root", tmp_path).stdout
    run = command("uninstall", "Cursor")
    assert b"-mcpServers.tdqs: {" in run.stdout
    assert b"mcp.json.bak" in run.stdout
    assert json.loads(file.read_text()) == {"mcpServers": {}}


@pytest.mark.parametrize("name", client_names())
def test_a_second_install_keeps_the_options_and_a_project_gets_what_a_first_call_needs(client, name, tmp_path):
    made = client(name)
    made.file.write_text(made.usual, "utf-8")
    made.install("--timeout", "9").write()
    assert not made.install().difference
    project = tmp_path / "shop"
    (project / ".git").mkdir(parents=True)
    machine = Machine(home=tmp_path, environ={}, platform="linux")
    plan_install(name, project=project, machine=machine).write()
    options = made.read()[made.keys[0]][SERVER_NAME]["args"]
    added = ["--root", str(project), "--allow-config", f"{name}/github"]
    assert options[options.index("serve") + 1 :][:6] == ["--timeout", "9", *added]
    assert not plan_install(name, project=project, machine=machine).difference
    assert plan_install(name, ["--allow-py"], project=project, machine=machine).after.count("--root") == 0


def test_a_project_s_own_files_and_what_is_no_project_are_never_proposed(client, tmp_path, command, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "shop"
    (project / ".cursor").mkdir(parents=True)
    (project / ".cursor" / "mcp.json").write_text(json.dumps({"mcpServers": {"theirs": OTHER}}), "utf-8")
    monkeypatch.chdir(project)
    shown = command("install", "cursor", "--dry-run").stdout
    assert b"theirs" not in shown
    assert b"--root" not in shown
    assert f"no folder is proposed, as {project} holds neither code nor definitions".encode() in shown
    (project / "package.json").write_text("{}", "utf-8")
    assert b"--root" in command("install", "cursor", "--dry-run").stdout
    told = command("install", "cursor").stdout
    assert b"--root" not in told
    assert b"with --yes" in told
    assert b"--root" in command("install", "cursor", "--yes").stdout
    assert b"nothing to change" in command("install", "cursor").stdout


@pytest.mark.parametrize(
    ("file", "text"), [("server.py", "x = 1"), ("tools.json", '{"tools": []}'), ("mcp_shop/server.py", "x = 1")]
)
def test_a_folder_of_code_or_definitions_is_proposed_and_named(command, tmp_path, monkeypatch, file, text):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "shop"
    folder.mkdir()
    for place in (folder, tmp_path):
        (place / file).parent.mkdir(exist_ok=True)
        (place / file).write_text(text, "utf-8")
    monkeypatch.chdir(folder)
    shown = command("install", "cursor", "--dry-run").stdout.decode()
    assert f"proposed: an agent may read files in {folder}," in shown
    assert f'"{folder}"' in shown
    passing = tmp_path / "passing"
    (passing / file).parent.mkdir(parents=True)
    (passing / file).write_text(text, "utf-8")
    monkeypatch.setattr("tempfile.tempdir", str(passing))
    for place in (passing, tmp_path, tmp_path.parent):  # temporary files, a home and what is around it
        monkeypatch.chdir(place)
        assert "--root" not in command("install", "cursor", "--dry-run").stdout.decode()


def test_what_serve_would_refuse_is_not_installed(command, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    run = command("install", "cursor", "--", "--rot", "/srv")
    assert run.returncode == 2
    assert b"--root" in run.stderr
    for option in ("--http", "--http=127.0.0.1:8001", "--allowed-host=a.example"):
        assert b"over stdio" in command("install", "cursor", "--", option).stderr
    assert list(tmp_path.rglob("mcp.json")) == []
    assert b"'cursor'" in command("install", "nobody").stderr


def test_a_folder_is_the_same_wherever_the_client_starts_the_server(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    arguments = ["--root", "a", "--allow-config", "a", "--root=b/c", "--root", "/srv"]
    roots = ["--root", str(tmp_path / "a"), "--allow-config", "a", "--root", str(tmp_path / "b/c"), "--root", "/srv"]
    assert own_entry(arguments)["args"][-8:] == roots


def test_a_program_in_uvx_s_cache_is_started_by_uvx(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/home/x/.cache/uv/archive-v0/abc/bin/python")
    assert own_entry()["args"] == ["tdqs-mcp", "serve"]
