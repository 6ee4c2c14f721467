"""The grammar of what to score."""

from urllib.parse import quote

import pytest

from tdqs_mcp.errors import InputError
from tdqs_mcp.json_text import hide
from tdqs_mcp.sources.locator import (
    Config,
    File,
    InProcess,
    LiveOptions,
    Stdio,
    Url,
    parse_locator,
    public,
    repeatable_secrets,
    secrets,
)


@pytest.mark.parametrize(
    ("text", "locator"),
    [
        ("tools.json", File(path="tools.json")),
        ("-", File(path="-")),
        ("C:\\x.json", File(path="C:\\x.json")),
        ("c:/x.json", File(path="c:/x.json")),
        ("notes:old.json", File(path="notes:old.json")),
        ("https://host/mcp", Url(url="https://host/mcp")),
        ("HTTP://127.0.0.1:8000/mcp", Url(url="HTTP://127.0.0.1:8000/mcp")),
        ("stdio:npx -y 'a b' .", Stdio(command="npx", args=("-y", "a b", "."))),
        ("config:github", Config(name="github")),
        ("config:cursor/github", Config(name="cursor/github")),
        ("py:package.module:server", InProcess(module="package.module", attribute="server")),
        ("py:module:app.server", InProcess(module="module", attribute="app.server")),
    ],
)
def test_a_locator_reads_as_the_table_says(text, locator):
    assert parse_locator(text) == locator


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("", "the locator is empty"),
        ("  ", "the locator is empty"),
        ("stdio:", "stdio: needs a command"),
        ("stdio:''", "stdio: needs a command"),
        ("stdio:npx 'a", "unbalanced quotes"),
        ("config:", "config: needs the name"),
        ("py:package.module", "names no attribute"),
        ("py:server.py/x:mcp", "give dotted names"),
        ("ftp://host/x", "'ftp' URLs cannot be read"),
        ("https:///mcp", "the URL has no host"),
        ("http://[::1/mcp", "no readable host"),
        ("http://user:pa/ss@host/mcp", "no readable host"),
    ],
)
def test_a_bad_locator_is_refused_with_what_to_change(text, advice):
    with pytest.raises(InputError, match=r"^[^\n]+$") as caught:
        parse_locator(text)
    assert advice in str(caught.value)


def test_a_refusal_never_repeats_a_password():
    with pytest.raises(InputError) as caught:
        parse_locator("http://user:hunter2/x@host:port/mcp")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tools.json", "tools.json"),
        ("config:github", "config:github"),
        ("py:a.b:c", "py:a.b:c"),
        ("https://me:hunter2@host:8/mcp?key=hunter2#hunter2", "https://host:8/mcp"),
        ("http://[::1]:8/mcp", "http://[::1]:8/mcp"),
        ("stdio:srv --api-key hunter2 --port 3", "stdio:srv --api-key *** --port 3"),
        ("stdio:srv --token=hunter2 .", "stdio:srv --token=*** ."),
        ("stdio:env API_KEY=hunter2 srv 'a b'", "stdio:env API_KEY=*** srv ***"),
        ("stdio:docker run -e DB_PASSWORD=hunter2 img", "stdio:docker run -e DB_PASSWORD=*** ***"),
        ("stdio:srv --header 'Authorization: hunter2'", "stdio:srv --header Authorization: ***"),
        ("stdio:srv postgresql://me:hunter2@host/db", "stdio:srv postgresql://***@host/db"),
        ("stdio:srv --db=pg://me:hunter2@host/db?x=hunter2", "stdio:srv --db=pg://***@host/db?***"),
        ("stdio:srv --no-auth --verbose", "stdio:srv --no-auth --verbose"),
    ],
)
def test_the_public_form_keeps_what_names_the_server_and_drops_credentials(text, shown):
    assert public(parse_locator(text)) == shown


def test_what_the_public_form_hides_is_known_so_that_it_can_be_cut_out_elsewhere():
    locator = parse_locator("stdio:srv --api-key hunter2 TOKEN=abc pg://me:p%20w@host/db")
    assert {"hunter2", "abc", "me:p%20w", "me", "p%20w", "p w"} <= set(secrets(locator))
    locator = parse_locator("https://me:pw@host/s3cr3t-path/mcp?key=a%2Bb#part")
    assert {"me", "pw", "s3cr3t-path", "key=a%2Bb", "a%2Bb", "a+b", "part"} <= set(secrets(locator))
    assert secrets(parse_locator("tools.json")) == ()
    assert secrets(parse_locator("stdio:npx -y @scope/server-files@1.2 . --port 8080 --verbose")) == ()


TYPED = "hunter2-p%w"


@pytest.mark.parametrize(
    "text",
    [
        "stdio:srv -p {}",
        "stdio:srv -p{}",
        "stdio:srv --pat={}",
        "stdio:srv --pat {}",
        "stdio:srv {}",
        "stdio:srv run {}",
        "stdio:npx -y some-server {}",
        "stdio:docker run -e NAME={} img",
        "stdio:srv https://ann:{}@h/db",
        "https://{}@h/mcp",
        "https://{}:x@h/mcp",
        "https://h/{}/mcp",
        "https://h/mcp?x={}",
        "https://h/mcp#{}",
    ],
)
def test_a_credential_is_hidden_wherever_it_was_typed_and_however_it_is_repeated(text):
    is_url = text.startswith("https") or "://" in text
    locator = parse_locator(text.format(quote(TYPED, safe="") if is_url else TYPED))
    assert "hunter2" not in public(locator)
    hidden = repeatable_secrets(locator, LiveOptions())
    for spelling in (TYPED, quote(TYPED, safe="")):
        said = {"description": f"Connected as {spelling}."}
        assert "hunter2" not in str(hide(said, hidden, "***"))


@pytest.mark.parametrize("word", ["production", "8080", "eu-west", ".", "read-only"])
def test_ordinary_arguments_stay_in_definitions(word):
    locator = parse_locator(f"stdio:npx -y some-server --mode {word}")
    assert repeatable_secrets(locator, LiveOptions()) == []
