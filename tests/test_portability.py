"""What clients take: dated limits with their sources, `lint --client` and `portability`."""

import json
import re

import pytest
from definitions import FINE, tool
from schemas import VALIDATORS

import tdqs_mcp
from tdqs_mcp.rules.client_rules import CLIENTS, SCHEMA_CHECKS, all_limits

TEXT = {"type": "string", "description": "Customer number, such as C-1042"}


def schema(properties, **root):
    return {"type": "object", "properties": properties, **root}


BRACKETS = tool("find_orders", "Finds orders.", schema({"filter[id]": TEXT}))
LISTS = tool("find_orders", "Finds orders.", schema({"customers": {"type": "array"}}))
LONG = tool("find_orders", "x" * 2049, schema({"customer": TEXT}))


@pytest.fixture
def findings(command, write):
    """The findings of lane 7 about clients as rule and severity, and the exit code."""

    def run(definition, *flags, **options):
        done = command(
            *("lint", write("shop.json", [definition])),
            *("--select", "TDQ7", "--ignore", "TDQ72", "--format", "json"),
            *flags,
            **options,
        )
        return [(each["rule"], each["severity"]) for each in json.loads(done.stdout)["findings"]], done.returncode

    return run


@pytest.fixture
def view(command, write):
    """One client's view of a definition, and the exit code."""

    def run(definition, client):
        done = command("portability", write("shop.json", [definition]), "--client", client, "--format", "json")
        document = json.loads(done.stdout)
        VALIDATORS["portability"].validate(document)
        [shown] = document["clients"]
        return shown, done.returncode

    return run


@pytest.mark.parametrize("limit", all_limits(), ids=lambda limit: f"{limit.clients[0]}-{limit.check}")
def test_a_limit_states_where_and_when_it_is_said_and_only_such_that_are_said_can_be_errors(limit):
    assert limit.url.startswith("https://")
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", limit.date)
    assert limit.quote
    assert CLIENTS.keys() >= set(limit.clients)
    assert limit.check in {"tool-name", "description", "tools", "instructions", *SCHEMA_CHECKS}
    assert limit.kind in ("documented", "quoted") or "error" not in (limit.severity, limit.default)


def test_without_a_client_only_what_ends_a_whole_session_is_an_error(findings):
    assert findings(BRACKETS) == ([("TDQ701", "error")], 1)
    assert findings(LISTS) == ([("TDQ706", "info")], 0)
    assert findings(LONG) == ([("TDQ704", "info")], 0)


def test_a_named_client_counts_by_its_own_limits_alone(findings):
    assert findings(LISTS, "--client", "openai-api") == ([("TDQ706", "error")], 1)
    assert findings(LISTS, "--client", "claude-code") == ([], 0)
    assert findings(LONG, "--client", "claude-code,cursor") == ([("TDQ704", "warning")], 0)
    assert findings(LISTS, env={"TDQS_CLIENT": "openai-api"}) == ([("TDQ706", "error")], 1)


def test_a_configuration_names_clients_and_a_flag_goes_before_it(findings, tmp_path):
    (tmp_path / "tdqs.toml").write_text('client = ["openai-api"]\n')
    assert findings(LISTS, cwd=tmp_path) == ([("TDQ706", "error")], 1)
    assert findings(LISTS, "--client", "cursor", cwd=tmp_path) == ([], 0)


def test_an_unknown_client_is_refused_with_the_nearest(command, write):
    run = command("portability", write("shop.json", [FINE]), "--client", "claude-cod")
    assert run.returncode == 2
    assert run.stderr.decode().startswith("error: there is no client 'claude-cod'; did you mean claude-code")


def test_a_finding_names_the_source_of_its_own_limit(command, write):
    run = command("lint", write("shop.json", [LONG]), "--select", "TDQ704", "--format", "json")
    [finding] = json.loads(run.stdout)["findings"]
    assert finding["source"] == "https://code.claude.com/docs/en/mcp (documented, 2026-09-15)"


def test_a_name_that_only_the_server_s_name_makes_too_long_is_a_warning(findings):
    assert findings(tool("a" * 58, "Finds orders."), "--client", "cursor") == ([("TDQ703", "warning")], 0)
    assert findings(tool("a" * 59, "Finds orders."), "--client", "cursor") == ([("TDQ703", "error")], 1)


def test_a_finding_says_what_each_client_takes(command, write):
    run = command(
        "lint", write("shop.json", [tool("orders.find", "Finds orders.")]), "--select", "TDQ703", "--format", "json"
    )
    [found] = [each["message"] for each in json.loads(run.stdout)["findings"]]
    assert "the Anthropic API takes 1 to 128 letters" in found
    assert "Amazon Bedrock and the OpenAI API take 1 to 64 letters" in found


def test_the_address_of_a_source_is_not_wrapped(command, write):
    lines = command("portability", write("shop.json", [BRACKETS])).stdout.decode().splitlines()
    addresses = [line for line in lines if "https://" in line]
    assert max(map(len, addresses)) > 110
    assert all(line.endswith(")") for line in addresses)


def test_portability_shows_what_is_kept_and_under_which_name(view):
    shown, code = view(FINE, "claude-code")
    assert (shown["handling"], shown["losesAll"], code) == ("kept", False, 0)
    assert [(each["seenAs"], each["changes"]) for each in shown["tools"]] == [("mcp__shop__find_orders", [])]


def test_portability_shows_what_is_cut_and_renamed_without_failing(view):
    shown, code = view(LONG, "claude-code")
    assert (shown["tools"][0]["handling"], code) == ("cut", 0)
    shown, code = view(tool("find/" + "a" * 70, "Finds orders.", schema({})), "gemini-cli")
    assert (shown["tools"][0]["seenAs"], code) == (f"find_{'a' * 23}___{'a' * 32}", 0)


def test_portability_fails_for_what_is_refused_and_quotes_the_error(view):
    shown, code = view(BRACKETS, "anthropic-api")
    assert (shown["handling"], shown["losesAll"], code) == ("refused", True, 1)
    assert shown["tools"][0]["seenAs"] is None
    [change] = shown["tools"][0]["changes"]
    assert "Property keys should match pattern" in change["limit"]["quote"]


def test_long_instructions_and_many_tools_are_cut(command, write):
    many = {"instructions": "x" * 2049, "tools": [FINE | {"name": f"find_{number}"} for number in range(101)]}
    file = write("shop.json", many | {"serverInfo": {"name": "shop", "version": "1"}, "capabilities": {}})
    run = command("portability", file, "--client", "claude-code,windsurf", "--format", "json")
    changes = [view["changes"] for view in json.loads(run.stdout)["clients"]]
    assert [[each["what"] for each in found] for found in changes] == [
        ["the instructions of 2,049 UTF-16 code units"],
        ["the 101 tools of the server"],
    ]


def test_portability_of_text_has_a_line_for_each_client_and_the_sources(command, write):
    lines = command("portability", write("shop.json", [BRACKETS])).stdout.decode().splitlines()
    rows = [line.split()[:2] for line in lines if line.split() and line.split()[0] in CLIENTS]
    assert rows == [
        [name, "refused" if name in ("anthropic-api", "bedrock", "claude-code") else "kept"]
        for name, client in CLIENTS.items()
        if not client.is_strict
    ]
    assert "  https://github.com/anthropics/claude-code/issues/79418 (quoted, 2026-08-17)" in lines


def test_a_client_that_takes_few_tools_and_refuses_some_says_both(command, write):
    tools = [{"name": f"tool_{'long_' * 12 if i < 3 else ''}{i}", "inputSchema": {"type": "object"}} for i in range(90)]
    output = command("portability", write("shop.json", tools), "--client", "cursor").stdout.decode()
    assert "87 kept, 3 refused; not all of 90 at once: it takes 80 tools" in " ".join(output.split())


def test_the_library_has_the_same_view():
    report = tdqs_mcp.portability(tdqs_mcp.read([LISTS]), ["openai-api"])
    assert [(view.client, view.handling) for view in report.clients] == [("openai-api", "refused")]
