"""What callers may have read, started or opened: every refusal, and the option that lifts it."""

import json
import os
import shutil
import threading
from pathlib import Path

import agent_session
import pytest
from mcp import Client
from test_live_http import answering, own_server, serving

from tdqs_mcp.app.settings import Settings
from tdqs_mcp.errors import CaptureError, InputError
from tdqs_mcp.server.permissions import Permissions, is_public, read_command, read_pattern
from tdqs_mcp.server.serve import make_server
from tdqs_mcp.sources.connection import capture
from tdqs_mcp.sources.locator import File, LiveOptions, Url, parse_locator

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path):
    """A root with a catalog in it, a catalog outside, and ways from the one to the other."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "deep").mkdir(parents=True)
    outside.mkdir()
    for place in (root, outside):
        (place / "tools.json").write_text(json.dumps([agent_session.BAD]), encoding="utf-8")
    (root / "link.json").symlink_to(outside / "tools.json")
    (root / "way").symlink_to(outside)
    (root / "inner.json").symlink_to(root / "tools.json")
    os.mkfifo(root / "pipe")
    return root


async def answer(permissions, **arguments):
    """The text of a refusal, or the structured answer."""
    async with Client(make_server(permissions=permissions, settings=Settings())) as client:
        result = await client.call_tool("score_server", arguments)
    return result.content[0].text if result.is_error else result.structured_content


def permitted(*patterns):
    return Permissions(urls=tuple(map(read_pattern, patterns)))


# Nothing by default, and the option is named


@pytest.mark.parametrize(
    ("locator", "option"),
    [
        ("tools.json", "--root FOLDER"),
        ("/etc/passwd", "--root FOLDER"),
        ("config:shop", "--allow-config shop"),
        ("stdio:node server.js --token=hunter2-hunter2", "--allow-command 'node server.js --token=***'"),
        ("py:package:server", "--allow-py"),
        ("https://example.org/mcp", "--allow-url https://example.org"),
        ("http://127.0.0.1:8000/mcp", "--allow-url http://127.0.0.1:8000"),
    ],
)
async def test_without_the_operator_only_inline_definitions_are_read(locator, option):
    refused = await answer(Permissions(), catalog=locator)
    assert refused.endswith(f"send the definitions themselves, or have the server started with {option}")
    assert "hunter2" not in refused
    assert (await answer(Permissions(), catalog=[agent_session.BAD]))["toolCount"] == 1


def test_a_refusal_names_all_that_is_allowed():
    permissions = Permissions(
        roots=(Path("catalogs"),),
        configs=("shop",),
        urls=(read_pattern("https://*.example.org"),),
        commands=(read_command("stdio:node server.js"),),
        may_start=True,
        may_import=True,
    )
    assert permissions.describe() == (
        "definitions in the call, files and code below 'catalogs', config:shop, URLs like https://*.example.org, "
        "stdio:node server.js, any stdio: command, any py: module"
    )
    assert read_command("node server.js") == read_command("stdio:node server.js")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://ann:s3cret-word@example.org/mcp", "--allow-url https://example.org"),
        ("https://ann:s3cret-word@example.org/../mcp", "https://example.org/../mcp is not plain"),
        ("https://ann:s3cret-word@exämple.org/mcp", "the URL is not plain"),
    ],
)
def test_a_refused_url_is_shown_without_its_credentials(url, told):
    with pytest.raises(InputError) as refused:
        Permissions().check_url(url)
    assert told in str(refused.value)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    "path",
    [
        "/mcp/..;/admin",
        "/mcp/..%5cadmin",
        "/mcp/%2e%2e/admin",
        "/mcp/%252e%252e/admin",
        "/mcp/..%2fadmin",
        "/mcp/.%2e;x/a",
        "/mcp/%5c..%5ca",
    ],
)
def test_a_path_that_a_server_may_read_otherwise_fits_no_pattern(path):
    with pytest.raises(InputError, match="is not plain"):
        permitted("https://h/mcp/*").check_url(f"https://h{path}")


@pytest.mark.parametrize("path", ["/mcp/a", "/mcp/a%20b", "/mcp/v1.2/x;y=1", "/mcp/~me"])
def test_ordinary_paths_fit(path):
    assert permitted("https://h/mcp/*").check_url(f"https://h{path}")


@pytest.mark.parametrize(("name", "is_allowed"), [("shop", True), ("shops", False), ("cursor/shop", False)])
def test_a_configured_server_is_allowed_by_its_exact_name(name, is_allowed):
    permissions = Permissions(configs=("shop",))
    if is_allowed:
        assert permissions.admit(parse_locator(f"config:{name}")) == parse_locator(f"config:{name}")
    else:
        with pytest.raises(InputError, match="--allow-config"):
            permissions.admit(parse_locator(f"config:{name}"))


def test_the_bare_name_of_the_only_allowed_server_that_has_it_is_enough():
    permissions = Permissions(configs=("cursor/shop", "zed/time", "codex/time"))
    assert permissions.admit(parse_locator("config:shop")) == parse_locator("config:cursor/shop")
    for name in ("time", "cursor/time", "project/shop"):
        with pytest.raises(InputError, match=r"not allowed|have started"):
            permissions.admit(parse_locator(f"config:{name}"))


def test_commands_and_modules_are_allowed_as_a_whole():
    permissions = Permissions(may_start=True, may_import=True)
    for locator in ("stdio:node server.js", "py:package:server"):
        assert permissions.admit(parse_locator(locator)) == parse_locator(locator)


# Files


@pytest.mark.parametrize("path", ["tools.json", "deep/../tools.json", "inner.json"])
async def test_files_below_the_root_are_read(folder, path):
    assert (await answer(Permissions(roots=(folder,)), catalog=path))["toolCount"] == 1
    assert (await answer(Permissions(roots=(folder,)), catalog=str(folder / path)))["toolCount"] == 1


@pytest.mark.parametrize(
    "path", ["../outside/tools.json", "link.json", "way/tools.json", "../outside/nothing.json", "/etc/hosts"]
)
async def test_files_outside_are_refused_also_through_links_and_whether_or_not_they_exist(folder, path):
    refused = await answer(Permissions(roots=(folder,)), catalog=path)
    assert f"has not allowed '{path}'" in refused
    assert refused.endswith("--root FOLDER")


async def test_a_hard_link_to_a_file_outside_is_refused(folder):
    (folder / "hard.json").hardlink_to(folder.parent / "outside" / "tools.json")
    assert "is a hard link" in await answer(Permissions(roots=(folder,)), catalog="hard.json")


@pytest.mark.parametrize("moved", ["folder", "file"])
def test_what_is_exchanged_for_a_link_after_the_check_is_not_read(folder, moved):
    """Between the check and the opening, a folder or a file becomes a link that leads out."""
    (folder / "deep" / "tools.json").write_text("[]")
    permissions = Permissions(roots=(folder,))
    admitted = permissions.admit(parse_locator("deep/tools.json"))
    if moved == "folder":
        shutil.rmtree(folder / "deep")
        (folder / "deep").symlink_to(folder.parent / "outside")
    else:
        (folder / "deep" / "tools.json").unlink()
        (folder / "deep" / "tools.json").symlink_to(folder.parent / "outside" / "tools.json")
    with pytest.raises(InputError, match="cannot be read"):
        permissions.read(admitted)


async def test_nothing_outside_is_read_while_folders_and_links_change_places(folder):
    """A thread exchanges a folder and a link as fast as it can; the definitions outside have another name."""
    (folder.parent / "outside" / "tools.json").write_text(json.dumps([{**agent_session.BAD, "name": "stolen"}]))
    (folder / "deep" / "tools.json").write_text(json.dumps([agent_session.BAD]))
    permissions, ended = Permissions(roots=(folder,)), threading.Event()
    link, deep, aside = folder / "swap", folder / "deep", folder / "aside"
    link.symlink_to(folder.parent / "outside")

    def exchange():
        while not ended.is_set():
            for first, second in ((deep, aside), (link, deep), (deep, link), (aside, deep)):
                first.rename(second)

    thread = threading.Thread(target=exchange)
    thread.start()
    outcomes = []
    try:
        for _ in range(3_000):
            try:
                outcomes.append(permissions.read(permissions.admit(parse_locator("deep/tools.json"))))
            except InputError:
                outcomes.append(b"")
    finally:
        ended.set()
        thread.join()
    assert any(outcomes)
    assert [each for each in outcomes if b"stolen" in each] == []


@pytest.mark.parametrize("path", ["deep", "pipe", "nothing.json", "way/../tools.jsonx"])
async def test_what_is_no_regular_file_is_not_opened(folder, path):
    refused = await answer(Permissions(roots=(folder,)), catalog=path)
    assert any(reason in refused for reason in ("is not a regular file", "has not allowed", "file that can be read"))


async def test_paths_that_lead_nowhere_are_refused(folder):
    (folder / "loop").symlink_to(folder / "loop")
    for path in ("loop", "loop/x", "x" * 5000):
        refused = await answer(Permissions(roots=(folder,)), catalog=path)
        assert "check it" in refused or "is not a regular file" in refused


async def test_a_second_root_is_looked_through_as_well(folder):
    permissions = Permissions(roots=(folder / "deep", folder))
    assert permissions.admit(File(path="tools.json")) == File(path=str(folder / "tools.json"))


def test_a_file_may_be_64_megabytes_large_and_no_larger(tmp_path):
    permissions = Permissions(roots=(tmp_path,))
    with (tmp_path / "large.json").open("wb") as stream:
        stream.truncate(67_108_864)
        assert permissions.admit(File(path="large.json")) == File(path=str(tmp_path / "large.json"))
        stream.truncate(67_108_865)
        with pytest.raises(InputError, match="larger than 67108864 bytes"):
            permissions.admit(File(path="large.json"))


async def test_standard_input_belongs_to_the_protocol(folder):
    assert "standard input belongs to the protocol" in await answer(Permissions(roots=(folder,)), catalog="-")


# URLs


@pytest.mark.parametrize(
    ("pattern", "fitting", "foreign"),
    [
        ("https://example.org", ["https://example.org/", "https://EXAMPLE.org/mcp", "https://example.org:443/x", "https://example.org./mcp"],
         ["http://example.org/", "https://example.org:8443/", "https://example.org.evil.example/", "https://a.example.org/"]),
        ("https://*.example.org/mcp/*", ["https://a.example.org/mcp/x", "https://a.b.example.org/mcp/"],
         ["https://example.org/mcp/x", "https://a.example.org/other", "https://aexample.org/mcp/x", "https://a.example.org/MCP/x"]),
        ("http://127.0.0.1:*", ["http://127.0.0.1:8000/mcp", "http://127.0.0.1/"], ["http://127.0.0.2:8000/", "http://localhost:8000/"]),
        ("http://[::1]:8000", ["http://[::1]:8000/mcp"], ["http://[::1]/", "http://[::2]:8000/"]),
        ("https://example.org/", ["https://example.org", "https://example.org/"], ["https://example.org/x"]),
        ("http://X.example", ["http://x.example:80/", "http://X.example/"], ["http://x.example:81/", "http://example/"]),
        ("https://*", ["https://example.org/x", "https://10.0.0.1/"], ["http://example.org/"]),
    ],
)  # fmt: skip
def test_a_pattern_means_scheme_host_port_and_path(pattern, fitting, foreign):
    permissions = permitted(pattern)
    for url in fitting:
        permissions.check_url(url)
    for url in foreign:
        with pytest.raises(InputError, match="--allow-url"):
            permissions.check_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org\\@evil.example/",
        "https://example.org/a/../b",
        "https://example.org/./b",
        "https://example.org/%2e%2e/b",
        "https://ex\u00e4mple.org/",
        "https://example.org/ x",
        "https://example.org@evil.example/",
    ],
)
def test_a_url_that_readers_understand_differently_is_refused(url):
    with pytest.raises(InputError):
        permitted("https://example.org").check_url(url)


@pytest.mark.parametrize(
    "pattern", ["example.org", "ftp://example.org", "https://", "https://a b", "https://x.*.org", "https://x?y=*"]
)
def test_a_pattern_that_is_none_is_refused(pattern):
    with pytest.raises(InputError, match="not a URL pattern"):
        read_pattern(pattern)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.1", "224.0.0.1", "255.255.255.255",
     "::1", "::", "fe80::1%eth0", "fc00::1", "fec0::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
     "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:3fff:fdd2"],
)  # fmt: skip
def test_addresses_that_are_not_for_everybody(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "2606:4700::1111%eth0", "::ffff:8.8.8.8"])
def test_addresses_that_are(address):
    assert is_public(address)


@pytest.mark.parametrize("found", [["127.0.0.1"], ["93.184.215.14", "10.0.0.1"], ["::1"], ["169.254.169.254"]])
async def test_a_name_that_leads_to_a_private_address_is_refused_unless_it_is_allowed_by_name(found):
    async def lookup(host, port):
        assert (host, port) == ("shop.example", 443)
        return found

    url = "https://ann:s3cret-word@shop.example/mcp"
    for pattern in ("https://*", "https://*.example"):
        with pytest.raises(
            InputError, match=r"^shop\.example is not at a public address; .* with --allow-url https://shop\.example$"
        ):
            await permitted(pattern).check_and_resolve(url, lookup=lookup)
    assert await permitted("https://*", "https://shop.example").check_and_resolve(url, lookup=lookup) == found


async def test_the_tool_itself_refuses_a_private_address():
    with serving(own_server().streamable_http_app()) as address:
        url = f"{address}/mcp"
        assert "is not at a public address" in await answer(permitted("http://*:*"), catalog=url)
        assert (await answer(permitted("http://127.0.0.1:*"), catalog=url))["toolCount"] >= 1


@pytest.mark.parametrize(
    "spelled",
    [
        "http://localhost:9/",
        "http://2130706433:9/",
        "http://0x7f.1:9/",
        "http://127.1:9/",
        "http://[::ffff:127.0.0.1]:9/",
    ],
)
async def test_other_spellings_of_the_loopback_are_seen_through(spelled):
    with pytest.raises(InputError, match=r"not at a public address|cannot be resolved"):
        await permitted("http://*:*").check_and_resolve(spelled)


async def test_a_name_that_cannot_be_resolved_is_told():
    with pytest.raises(InputError, match="cannot be resolved; check the URL"):
        await permitted("https://*").check_and_resolve(f"https://{64 * 'a'}.example/mcp")


# At the connection


def options(admit):
    return LiveOptions(timeout=10, admit=admit)


async def test_only_the_checked_address_is_connected_to_whatever_the_name_resolves_to():
    asked = []

    async def admit(url):
        asked.append(url)
        return ["127.0.0.1"]

    with serving(own_server().streamable_http_app()) as address:
        port = address.rpartition(":")[2]
        with pytest.raises(CaptureError, match="421"):  # reached, and turned away for its Host header
            await capture(Url(url=f"http://no-such-name.invalid:{port}/mcp"), options(admit))
    assert set(asked) == {f"http://no-such-name.invalid:{port}/mcp"}


async def test_a_name_that_turns_private_between_two_requests_is_not_followed():
    asked = []

    async def admit(url):
        asked.append(url)
        if len(asked) > 1:
            raise InputError("10.0.0.1 is not a public address")
        return ["127.0.0.1"]

    with serving(own_server().streamable_http_app()) as address:
        url = f"{address}/mcp"
        with pytest.raises(CaptureError, match="not a public address"):
            await capture(Url(url=url), options(admit))
    assert len(asked) > 1


async def test_a_redirect_is_asked_about_or_not_followed():
    hits, asked = [], []

    async def secret(scope, receive, send):
        hits.append(scope["path"])
        await answering(200)(scope, receive, send)

    async def admit(url):
        asked.append(url)
        return ["127.0.0.1"]

    with serving(secret) as inner:
        target = f"{inner}/secret"
        for status in (302, 307, 308):
            with serving(answering(status, [("location", target)])) as outer, pytest.raises(CaptureError):
                await capture(Url(url=f"{outer}/mcp"), options(admit))
    assert hits == []
    assert not any("secret" in url for url in asked)


async def test_the_environment_s_proxy_is_not_used_for_a_checked_url(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    async def admit(url):
        return ["127.0.0.1"]

    with serving(own_server().streamable_http_app()) as address:
        url = f"{address}/mcp"
        assert (await capture(Url(url=url), options(admit))).tools


def test_a_project_s_server_is_never_allowed():
    permissions = Permissions(configs=("shop", "project/shop"), may_start=True)
    with pytest.raises(InputError, match="a project's file names"):
        permissions.admit(parse_locator("config:project/shop"))


# The code of a server


CODE = """
from mcp.server import MCPServer

server = MCPServer("shop")


@server.tool()
def cancel_order(order_id: str, reason: str = "") -> str:
    with open(order_id, "w") as file:
        file.write("cancelled")
"""


@pytest.fixture
def sources(folder):
    """The root with a folder of code in it, and a link to one outside."""
    (folder / "src").mkdir()
    for place in (folder / "src", folder.parent / "outside"):
        (place / "server.py").write_text(CODE, encoding="utf-8")
    return folder


async def use(permissions, name, **arguments):
    async with Client(make_server(permissions=permissions, settings=Settings())) as client:
        result = await client.call_tool(name, {"catalog": [agent_session.BAD], **arguments})
    return result.content[0].text if result.is_error else result.structured_content


@pytest.mark.parametrize("tool", ["lint_descriptions", "suggest_rewrite"])
@pytest.mark.parametrize("source", ["src", "way", "../outside", "/etc", "tools.json", "none", "src\0", "x" * 5000])
async def test_code_is_read_below_a_root_alone(sources, tool, source):
    text = json.dumps(await use(Permissions(), tool, source=source))
    assert "--root FOLDER" in text or "can be followed" in text
    below = json.dumps(await use(Permissions(roots=(sources,)), tool, source=source, detail="full"))
    if source == "src":
        assert "server.py:" in below
    else:
        assert "server.py:" not in below
        assert any(
            part in below for part in ("--root FOLDER", "is not a folder", "is not a regular file", "can be followed")
        )


async def test_what_the_code_gives_is_named(sources):
    permissions = Permissions(roots=(sources,))
    linted = await use(permissions, "lint_descriptions", source="src", select=["TDQ8"])
    assert [(finding["rule"], finding["path"]) for finding in linted["findings"]] == [
        ("TDQ805", "/inputSchema/properties/reason")
    ]
    draft = await use(permissions, "suggest_rewrite", source="src", tool="cancel_order", detail="full")
    assert "code server.py:9" in json.dumps(draft)
