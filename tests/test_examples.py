"""The examples keep their promise: every defect is found, nothing is left in the repaired twin, and the server works."""

import json
import os
import shlex
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from processes import free_port, listening

from tdqs_mcp import sync
from tdqs_mcp.app import linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.results.scores import Flag
from tdqs_mcp.results.verdicts import Tier, tier_of
from tdqs_mcp.rules import registry

EXAMPLES = Path(__file__).parents[1] / "examples"
SERVER = [sys.executable, str(EXAMPLES / "server.py")]


def tools(name):
    return {tool["name"]: tool for tool in json.loads((EXAMPLES / name).read_text(encoding="utf-8"))["tools"]}


def without_words(schema):
    """A schema's types alone: no description, no title."""
    if isinstance(schema, list):
        return [without_words(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    is_word = {key for key in ("description", "title") if isinstance(schema.get(key), str)}
    return {key: without_words(value) for key, value in schema.items() if key not in is_word}


def score(locator):
    return sync.score(sync.load(str(locator)))


def assert_nothing_to_repair(result):
    assert [finding for finding in result.findings if finding.severity != "info"] == []
    assert [tool.tier for tool in result.tools] == [Tier.A] * 8
    assert tier_of(result.rollup.overall) is Tier.A


# The defective catalog


@pytest.mark.parametrize(
    ("tool", "rules"),
    [
        ("search_titles", {"TDQ105", "TDQ108", "TDQ109"}),
        ("list_loans", {"TDQ102", "TDQ106", "TDQ108", "TDQ109"}),
        ("list_requests", {"TDQ101", "TDQ105", "TDQ108", "TDQ109"}),
        ("create_loan", {"TDQ228", "TDQ105", "TDQ108", "TDQ109"}),
        ("close_loan", {"TDQ103", "TDQ105", "TDQ106", "TDQ108", "TDQ109"}),
        ("request_title", {"TDQ105", "TDQ108", "TDQ109"}),
        ("request_interlibrary_loan", {"TDQ301", "TDQ105", "TDQ108", "TDQ109"}),
        ("cancel_request", {"TDQ111", "TDQ105", "TDQ109"}),
    ],
)
def test_every_defect_of_the_defective_catalog_is_found(tool, rules):
    every = Policy(selection=registry.select(names=["ALL"]))
    report = linting.lint(sync.load(str(EXAMPLES / "defective.json")), every)
    assert {finding.rule for finding in report.findings if finding.subject.name == tool} >= rules


def test_the_defective_catalog_does_not_pass():
    result = score(EXAMPLES / "defective.json")
    assert tier_of(result.rollup.overall) is Tier.C
    assert {tool.name: tool.flags for tool in result.tools if tool.flags} == {
        "list_loans": (Flag.NO_DESCRIPTION,),
        "create_loan": (Flag.ANNOTATION_CONTRADICTION,),
    }


def test_two_tools_of_the_defective_catalog_can_be_taken_for_each_other():
    defective, repaired = (
        score(EXAMPLES / name).coherence.judgements["disambiguation"].justification
        for name in ("defective.json", "repaired.json")
    )
    assert "request_title / request_interlibrary_loan" in defective
    assert "request_" not in repaired


# The repaired twin


def test_the_repaired_catalog_has_nothing_left_to_repair():
    assert_nothing_to_repair(score(EXAMPLES / "repaired.json"))


def test_the_repair_changes_words_and_no_input():
    defective, repaired = tools("defective.json"), tools("repaired.json")
    assert list(defective) == list(repaired)
    for name, tool in repaired.items():
        assert without_words(tool["inputSchema"]) == without_words(defective[name]["inputSchema"])


# The suite


@pytest.mark.process
def test_the_suite_passes_and_fails_for_the_defective_twin(tdqs_mcp, tmp_path):
    suite = (EXAMPLES / "tool-quality.yml").read_text(encoding="utf-8")
    written = tmp_path / "suite.yml"
    environ = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for text, code, passed in ((suite, 0, 3), (suite.replace("repaired.json", "defective.json"), 1, 2)):
        written.write_text(text, encoding="utf-8")
        run = tdqs_mcp("gate", str(written), cwd=EXAMPLES.parent, env=environ)
        assert (run.returncode, run.stdout.count(b"PASS  ")) == (code, passed), run.stderr


# The server


@pytest.fixture(scope="module", params=["stdio", "http"])
def captured(request):
    """The catalog of the running server."""
    if request.param == "stdio":
        return sync.load(f"stdio:{shlex.join(SERVER)}")
    port = free_port()
    with listening([*SERVER, "--http", port], port) as (url, _):
        return sync.load(url)


@pytest.mark.process
def test_the_running_server_has_nothing_to_repair(captured):
    assert_nothing_to_repair(sync.score(captured))


@pytest.mark.process
def test_the_running_server_offers_the_repaired_definitions(captured):
    repaired = tools("repaired.json")
    assert [tool.name for tool in captured.tools] == list(repaired)
    for tool in captured.tools:
        twin = repaired[tool.name]
        assert (tool.title, tool.description, tool.annotations) == (
            twin["title"],
            twin["description"],
            twin["annotations"],
        )
        assert without_words(tool.input_schema) == without_words(twin["inputSchema"])
        assert without_words(tool.output_schema) == without_words(twin["outputSchema"])


@pytest.mark.process
def test_the_running_server_offers_a_resource_and_a_prompt(captured):
    assert [resource.uri for resource in captured.resources] == ["desk://rules"]
    assert [prompt.name for prompt in captured.prompts] == ["serve_member"]
    assert captured.problems == ()


def at_the_desk(story):
    """Run a story against a fresh server over stdio; it calls tools by name and gets their structured answers."""

    async def run():
        command, *arguments = SERVER
        async with Client(stdio_client(StdioServerParameters(command=command, args=arguments))) as client:

            async def call(name, **arguments):
                result = await client.call_tool(name, arguments)
                return result.content[0].text if result.is_error else result.structured_content

            await story(call)

    anyio.run(run)


@pytest.mark.process
def test_a_copy_is_lent_waited_for_and_taken_back_as_the_descriptions_say():
    async def story(call):
        found = await call("search_titles", query="BREAD veld")
        assert [title["free_copies"] for title in found["titles"]] == [["T-2/1"]]
        loan = await call("create_loan", copy_id="T-2/1", member_id="M-100")
        assert await call("list_loans", member_id="M-100") == {"loans": [loan]}
        assert await call("list_loans", member_id="M-100", overdue_only=True) == {"loans": []}
        assert await call("search_titles", query="bread", available_only=True) == {"titles": [], "total": 0}
        assert "is lent" in await call("create_loan", copy_id="T-2/1", member_id="M-200")
        wish = {"title_id": "T-2", "branch": "harbor"}
        first = await call("request_title", member_id="M-200", **wish)
        second = await call("request_title", member_id="M-300", **wish)
        assert [first["place"], second["place"]] == [1, 2]
        assert await call("request_title", member_id="M-200", **wish) == first
        receipt = await call("close_loan", loan_id=loan["loan_id"])
        assert receipt["keep_for"] == first["request_id"]
        assert "is kept" in await call("create_loan", copy_id="T-2/1", member_id="M-300")
        await call("create_loan", copy_id="T-2/1", member_id="M-200")
        assert (await call("list_requests", member_id="M-200")) == {"requests": []}
        assert (await call("list_requests", member_id="M-300"))["requests"][0]["place"] == 1

    at_the_desk(story)


@pytest.mark.process
def test_a_work_of_another_library_is_ordered_and_cancelled_but_not_refunded():
    deliveries = {
        "central": {"kind": "pickup", "branch": "central"},
        "Quay 1, 2100 Seaport": {"kind": "post", "street": "Quay 1", "city": "2100 Seaport"},
    }

    async def story(call):
        work = {"name": "Salt Roads", "author": "Mina Duarte"}
        for goes_to, delivery in deliveries.items():
            order = {"member_id": "M-100", "work": work, "delivery": delivery}
            request = await call("request_interlibrary_loan", order=order)
            assert (request["wanted"], request["goes_to"]) == ("Salt Roads by Mina Duarte", goes_to)
            assert await call("cancel_request", request_id=request["request_id"]) == request | {"fee_cents": 300}
            assert await call("list_requests", member_id="M-100") == {"requests": []}

    at_the_desk(story)


@pytest.mark.process
def test_the_limit_of_five_loans_holds():
    async def story(call):
        for copy_id in ("T-1/1", "T-1/2", "T-2/1", "T-3/1", "T-4/1"):
            await call("create_loan", copy_id=copy_id, member_id="M-100")
        assert "close a loan first" in await call("create_loan", copy_id="T-4/2", member_id="M-100")

    at_the_desk(story)


@pytest.mark.process
def test_a_mistaken_id_is_answered_with_the_next_step():
    async def story(call):
        assert "read the number on the card" in await call("list_loans", member_id="M-9")
        assert "search_titles" in await call("request_title", title_id="T-9", member_id="M-100", branch="central")
        assert "list_loans" in await call("close_loan", loan_id="L-9")
        assert "list_requests" in await call("cancel_request", request_id="R-9")

    at_the_desk(story)
