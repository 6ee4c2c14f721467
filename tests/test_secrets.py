"""No credential, wherever it was planted, is in any output, message, log, store, cache, page or prompt."""

import json
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from loopback import USUAL, Chat, rubric_of, tdqs
from own_server import serving
from planted import SECRETS, EchoServer, plant, write
from test_route import wire
from test_server_http import connect

from tdqs_mcp.cli import cli

pytestmark = pytest.mark.process

SAID = {
    **USUAL,
    "tdqs": tdqs(3, 3, 3, 3, 3, 3, words="It was asked with KEY."),
    "requests": "No requests, but KEY.",
}
"""What the model says: it repeats the KEY that it was asked with."""

VARIANTS = {"variants": {"short": {"good": "Says hello to everybody."}}}
HEADERS = ("--header", f"Authorization: Bearer {SECRETS['header']}", "--header", f"X-Key: {SECRETS['header']}")
STARTED = ("--env", f"TENANT={SECRETS['tenant']}", "--env", f"API_KEY={SECRETS['environment']}")
JUDGED = ("--judge", "openai:m")
SUITE = """
servers:
  echo: {url: "URL", headers: {X-Key: "${HIDDEN}", Authorization: "Bearer HEADER"}}
  local: {locator: "config:echo", env: {TENANT: "${HIDDEN}"}}
  refuses: {url: "REFUSES", headers: {Authorization: "Bearer HEADER"}}
tool_quality:
  - {name: remote, server: echo}
  - {name: local, server: local}
  - {name: refused, server: refuses}
"""
SKILL = "First good, then odd: ids are stable. Data older than 60 seconds is stale."
PROFILES = """
[judges.one]
base-url = "CHAT"
model = "m"
[judges.two]
base-url = "CHAT"
model = "n"
"""


@pytest.fixture
def machine(tmp_path):
    """What `plant` has, a model and an MCP server that repeat what they get, and every variable that holds a key."""
    chat, server = Chat(), EchoServer()
    chat.answer = lambda body: SAID[rubric_of(body) if "response_format" in body else "tdqs"].replace(
        "KEY", key_of(chat.headers[-1])
    )
    found = plant(tmp_path)
    project = found["cwd"]
    suite = SUITE.replace("URL", server.url("/mcp")).replace("REFUSES", server.url("/refuses"))
    write(project / "suite.yml", suite.replace("HEADER", SECRETS["header"]))
    write(project / "variants.json", VARIANTS)
    write(project / "skill.md", SKILL)
    write(project / "requests.json", json.dumps({"query": "hello", "calls": [{"tool": "good"}]}))
    write(project / "judges.toml", PROFILES.replace("CHAT", chat.base_url))
    write(project / "bearer.txt", SECRETS["bearer token"])
    found["env"] |= {
        "TDQS_CONFIG": str(project / "judges.toml"),
        "TDQS_BASE_URL": chat.base_url,
        "TDQS_API_KEY": SECRETS["key of the judge"],
        "TDQS_API_KEY_ONE": SECRETS["key of a profile"],
        "TDQS_API_KEY_TWO": SECRETS["key of a profile"],
        "ANTHROPIC_API_KEY": SECRETS["key of the other judge"],
        "TDQS_REQUEST_OVERRIDES": json.dumps({"gateway": {"key": SECRETS["override"]}}),
        "TDQS_SERVE_TOKEN": SECRETS["bearer token"],
    }
    yield found | {"chat": chat, "server": server, "given": files(tmp_path)}
    chat.close()
    server.close()


def key_of(headers):
    return headers.get("x-api-key") or headers["authorization"].removeprefix("Bearer ")


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def check_that_nothing_leaked(machine, *texts):
    """Searches the texts, each file that was written outside of the clients' own, and what the model was sent."""
    home = Path(machine["env"]["HOME"])
    written = {
        path: content
        for path, content in files(home.parent).items()
        if machine["given"].get(path) != content and (not path.is_relative_to(home) or ".cache" in path.parts)
    }
    sent = {f"prompt {n}": json.dumps(body["messages"]).encode() for n, body in enumerate(machine["chat"].bodies)}
    headers = {
        f"header {name} of request {n}": value.encode()
        for n, each in enumerate(machine["chat"].headers)
        for name, value in each.items()
        if name not in ("authorization", "x-api-key")
    }
    searched = dict(enumerate(texts)) | written | sent | headers
    leaks = {
        f"{place} in {where}"
        for place, secret in SECRETS.items()
        for part in (secret, *secret.split(":"))
        for form in {part, quote(part, safe="")}
        for where, text in searched.items()
        if form.encode() in text
    }
    assert leaks == set()
    assert not any(b"Traceback (" in text for text in texts)


# "{echo}" and "{refuses}" are the addresses of an MCP server over HTTP, with userinfo and query.
COMMANDS = [
    *("servers --format " + form for form in ("text", "json", "markdown")),
    *("score --installed --yes --format " + form for form in ("text", "json", "markdown")),
    *("score --installed --output report.txt --format " + form for form in ("text", "json")),
    *("score config:echo --format " + form for form in ("html", "badge")),
    *("score {echo} HEADERS --format " + form for form in ("text", "json", "markdown", "html")),
    "score config:dies",
    "score config:remote",
    "score config:unknown",
    "score {refuses} HEADERS",
    "score config:echo JUDGED --format json",
    "score {echo} HEADERS JUDGED --format html -o page.html",
    "score config:echo --judge openai:m --dry-run",
    "score config:echo --judge jury:one,two --format json",
    "score config:echo --judge anthropic:m --base-url http://127.0.0.1:9",
    "score config:echo --judge openai:m --base-url PASSWORD",
    "score config:echo --rubric smells JUDGED",
    "score config:echo --rubric bundles --skill skill.md JUDGED --format json",
    *("lint config:echo --show all --format " + form for form in ("text", "json", "sarif", "junit")),
    "lint {echo} HEADERS --show all --format json",
    "score --rubric playground config:echo --format json",
    "gate suite.yml --format json",
    "gate suite.yml --format junit",
    "capture config:echo -o captured.json",
    "capture config:bare",
    "capture {echo} HEADERS",
    "capture {refuses} HEADERS",
    "capture STDIO STARTED",
    "lock config:echo && lock --check config:echo",
    "score --prompts config:echo",
    "score --prompts {echo} HEADERS --format json",
    "rewrite config:echo --format json",
    "rewrite config:echo --format html --write better.json",
    "rewrite config:echo --writer openai:m JUDGED --format json",
    "rewrite config:echo --target A --format json",
    "compare config:echo {echo} --format json",
    "select config:echo config:bare --format json",
    "select config:echo JUDGED",
    "portability config:echo --format json",
    "score config:echo --skill skill.md JUDGED --format json",
    "select config:echo JUDGED --write-requests requests.jsonl",
    "study requests.json --run config:echo --log calls.jsonl",
    "sweep config:echo {echo} {refuses} HEADERS JUDGED --store store.sqlite --format json",
    "sweep config:echo --store STORE",
    "stats --store STORE",
    "calibrate config:echo JUDGED",
    "install claude-desktop",
    "install claude-desktop --dry-run",
    "uninstall claude-desktop --dry-run",
    "install claude-desktop -- --token-file bearer.txt",
    "rules",
    "rules TDQ101",
]
ELSEWHERE = {"serve", "route", "dashboard", "code", "lsp"}
"""`code` and `lsp`, which ask no server, and commands that stay: `serve` and `route` have tests of their own below, and the store that `dashboard` shows is searched."""


def test_every_command_is_searched():
    assert {part.split()[0] for line in COMMANDS for part in line.split(" && ")} | ELSEWHERE == set(
        cli.list_commands(None)
    )


def words_of(line, machine):
    stdio = (
        f"stdio:{sys.executable} {Path(__file__).with_name('misbehaving_server.py')} repeats --key {SECRETS['option']}"
    )
    longer = {"HEADERS": HEADERS, "STARTED": STARTED, "JUDGED": JUDGED}
    shorter = {
        "{echo}": machine["server"].url("/mcp"),
        "{refuses}": machine["server"].url("/refuses"),
        "STDIO": stdio,
        "PASSWORD": f"https://me:{SECRETS['judge address']}@127.0.0.1:9/v1",
        "STORE": f"postgresql://me:{SECRETS['store address']}@127.0.0.1:9/scores",
    }
    return [each for word in line.split() for each in longer.get(word, [shorter.get(word, word)])]


@pytest.mark.parametrize("line", COMMANDS)
def test_no_command_shows_writes_or_sends_a_credential(command, machine, line):
    for part in line.split(" && "):
        run = command(*words_of(part, machine), cwd=machine["cwd"], env=machine["env"])
        assert run.stdout + run.stderr
        check_that_nothing_leaked(machine, run.stdout, run.stderr)


CALLS = {
    "score_server": {"catalog": "LOCATOR", "detail": "full"},
    "lint_descriptions": {"catalog": "LOCATOR"},
    "suggest_rewrite": {"catalog": "LOCATOR", "detail": "full"},
    "compare_definitions": {"old": "LOCATOR", "new": "LOCATOR"},
    "judge_definitions": {"catalog": "LOCATOR"},
    "score_tool_definition": {"definition": "LOCATOR"},
}
"""What takes a locator; a definition may be one by mistake."""


@pytest.mark.parametrize("judge", ["openai:m", "jury:one,two", "anthropic:m"])
def test_no_answer_or_log_of_the_mcp_server_shows_a_credential(machine, judge):
    remote, refusing = (machine["server"].url(path) for path in ("/mcp", "/refuses"))
    allowed = [f"--allow-config={name}" for name in ("echo", "dies", "remote")] + [
        f"--allow-url={machine['server'].address}/*"
    ]
    vendor = ["--base-url", machine["chat"].address] if judge == "anthropic:m" else []
    serve = [sys.executable, "-m", "tdqs_mcp", "serve", "--log-level", "debug", "--judge", judge, *vendor, *allowed]
    with wire(*serve, "--timeout", "10", cwd=machine["cwd"], **machine["env"]) as client:
        client.shake_hands()
        others = ("config:dies", "config:remote", "config:unknown", remote, refusing) if judge == "openai:m" else ()
        for locator in ("config:echo", *others):
            for name, arguments in CALLS.items():
                client.call(name, **{key: locator if value == "LOCATOR" else value for key, value in arguments.items()})
        told = client.lines + [line.encode() for line in client.errors]
    assert any(b"It was asked with ***" in line for line in told)
    check_that_nothing_leaked(machine, *told)


@pytest.mark.anyio
async def test_the_mcp_server_over_http_shows_nobody_the_token(machine):
    with serving("--log-level", "debug", "--allow-config", "echo", **machine["env"]) as (url, written):
        refused = httpx2.post(url, json={}, headers={"authorization": "Bearer wrong"})
        assert refused.status_code == 401
        async with connect(url, token=SECRETS["bearer token"]) as client:
            answer = await client.call_tool("score_server", {"catalog": "config:echo", "detail": "full"})
    assert not answer.is_error
    told = [repr(refused.headers), refused.text, answer.model_dump_json(), *written]
    check_that_nothing_leaked(machine, *(text.encode() for text in told))


@pytest.mark.parametrize("locator", ["config:echo", "config:dies", "{echo}", "{refuses}"])
def test_the_router_logs_no_credential(machine, locator):
    """What the server itself says goes to its client as it is: the router changes descriptions alone."""
    words = f"route {locator} HEADERS --variants variants.json --log lists.jsonl --log-calls calls.jsonl"
    words = words if "{" in words else words.replace(" HEADERS", "")
    command = [sys.executable, "-m", "tdqs_mcp", *words_of(words, machine)]
    with wire(*command, cwd=machine["cwd"], **machine["env"]) as client:
        with suppress(BrokenPipeError):  # the server is dead
            client.shake_hands()
            client.ask("tools/list")
            client.call("good", token=SECRETS["option"])
        errors = [line.encode() for line in client.errors if line.startswith(("error:", "warning:"))]
    check_that_nothing_leaked(machine, *errors)
