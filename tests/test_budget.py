"""What asking a model may take: said beforehand, and never exceeded."""

import json
import sys
from dataclasses import replace

import anyio
import pytest
from definitions import tool
from loopback import USUAL, Loopback, rubric_of, tool_name
from mcp import Client, StdioServerParameters
from starlette.responses import Response
from starlette.routing import Route

from tdqs_mcp.app import judging
from tdqs_mcp.app.judge_factory import make_judge, make_preview
from tdqs_mcp.app.settings import read_settings
from tdqs_mcp.judges.budget import Budget
from tdqs_mcp.judges.endpoint import FIRST_REQUESTS
from tdqs_mcp.judges.judge import Usage
from tdqs_mcp.judges.verdict_guard import VerdictGuard

TOOLS = [tool(f"t{number}") for number in range(6)]


@pytest.fixture
def run(command, loopback, write):
    file = write("c.json", TOOLS)

    def score(*options, judge="openai:m"):
        return command("score", file, "--judge", judge, "--base-url", loopback.base_url, "--format", "json", *options)

    return score


def test_a_dry_run_sends_nothing_and_counts_what_would_be_sent(run, loopback):
    done = run("--dry-run")
    assert done.returncode == 0
    planned = json.loads(done.stdout)
    assert (planned["calls"], planned["cost"], loopback.bodies) == (7, None, [])
    assert planned["inputTokens"] > 7 * 500
    run()
    assert len(loopback.bodies) == 7
    assert json.loads(run("--dry-run").stdout)["calls"] == 0


def test_a_dry_run_of_another_rubric_counts_its_own_prompts(run, loopback):
    assert json.loads(run("--dry-run", "--rubric", "smells").stdout)["calls"] == 6
    assert loopback.bodies == []


def test_a_dry_run_counts_the_skill_s_prompt_too(run, loopback, write):
    done = run("--dry-run", "--rubric", "bundles", "--skill", str(write("SKILL.md", "Use t0.")))
    assert (json.loads(done.stdout)["calls"], loopback.bodies) == (7, [])


def test_no_more_calls_are_made_than_allowed_and_the_rest_stays_ungraded(run, loopback):
    done = run("--budget", "calls=4")
    document = json.loads(done.stdout)
    assert len(loopback.bodies) == 4
    assert (len(document["tools"]), len(document["ungraded"])) == (4, 3)
    assert document["ungraded"][0]["reason"] == "the budget of 4 calls is used up; raise --budget calls"
    assert done.returncode == 2
    assert len(json.loads(run("--budget", "calls=3").stdout)["tools"]) == 6


def test_corrections_count_as_calls(run, loopback):
    loopback.answer = lambda body: "no" if tool_name(body) == "t0" else USUAL[rubric_of(body)]
    document = json.loads(run("--budget", "calls=8").stdout)
    assert len(loopback.bodies) == 8
    assert [each["name"] for each in document["ungraded"] if "held" not in each] == ["t0"]


def test_every_try_counts_as_a_call(catalog):
    def busy(request):
        asked.append(request)
        return Response(status_code=503, headers={"retry-after": "0"})

    asked = []
    api = Loopback([Route("/v1/chat/completions", busy, methods=["POST"])])
    settings = read_settings(
        {"TDQS_CACHE": "off"}, judge="openai:m", base_url=f"{api.address}/v1", budget=Budget(calls=5)
    )
    result = anyio.run(lambda: judging.score(catalog(*TOOLS), judge=make_judge(settings)))
    api.close()
    assert len(asked) == 5
    assert "the budget of 5 calls is used up" in result.ungraded[-1].ungraded.reason


def test_a_model_that_fails_five_times_in_a_row_is_asked_no_more_in_this_run_and_again_in_the_next(catalog):
    asked = []

    def broken(request):
        asked.append(request)
        return Response(status_code=400)

    api = Loopback([Route("/v1/chat/completions", broken, methods=["POST"])])
    settings = read_settings(
        {"TDQS_CACHE": "off", "TDQS_CONCURRENCY": "1"}, judge="openai:m", base_url=f"{api.address}/v1"
    )
    judge = make_judge(settings)
    many = catalog(*(tool(f"list_{number}", "Lists.") for number in range(30)))
    for _ in range(2):
        asked.clear()
        result = anyio.run(lambda: judging.score(many, judge=judge))
        assert {each.ungraded.reason for each in result.ungraded if each.name} == {result.ungraded[0].ungraded.reason}
        assert 5 <= len(asked) <= 3 * 5  # three formats of an answer are tried for each
    api.close()


def test_what_answers_report_stops_the_next_request(loopback, catalog):
    """Each takes 10,000 tokens, ten times as many as are set aside: only those on their way may exceed the budget."""
    loopback.usage = {"prompt_tokens": 1_000, "completion_tokens": 9_000}
    settings = read_settings(
        {"TDQS_CACHE": "off", "TDQS_CONCURRENCY": "1"},
        judge="openai:m",
        base_url=loopback.base_url,
        budget=Budget(tokens=25_000),
    )
    result = anyio.run(lambda: judging.score(catalog(*TOOLS), judge=make_judge(settings)))
    assert (len(loopback.bodies), len(result.tools)) == (3, 3)
    loopback.bodies.clear()
    settings = replace(settings, prices=CENTS)
    settings = replace(
        settings, budget=Budget(cost=settings.price("m", Usage(input_tokens=2_500, output_tokens=22_500)))
    )
    anyio.run(lambda: judging.score(catalog(*TOOLS), judge=make_judge(settings)))
    assert len(loopback.bodies) == 3


@pytest.mark.process
def test_an_operator_bounds_what_all_callers_of_the_server_spend(loopback):
    async def run():
        options = ["--judge", "openai:m", "--base-url", loopback.base_url, "--budget", "calls=4"]
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "tdqs_mcp", "serve", *options], env={"TDQS_CACHE": "off"}
        )
        async with Client(server) as client:
            return [await client.call_tool("score_server", {"catalog": part}) for part in (TOOLS[:2], TOOLS[2:4])]

    first, second = anyio.run(run)
    assert len(loopback.bodies) == 4
    assert "the budget of 4 calls is used up" not in str(first)
    assert "the budget of 4 calls is used up" in str(second)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--budget", "calls=4"], b"the offline judge takes no budget"),
        (["--judge", "openai:m", "--budget", "cost=nan"], b"amount of dollars"),
    ],
)
def test_a_budget_of_the_server_that_bounds_nothing_is_refused(command, options, words):
    done = command("serve", *options)
    assert done.returncode == 2
    assert words in done.stderr


def test_no_calls_at_all_is_a_budget_too(run, loopback):
    assert json.loads(run("--budget", "calls=0").stdout)["scoredToolCount"] == 0
    assert loopback.bodies == []


def test_tokens_are_estimated_before_they_are_spent(run, loopback):
    document = json.loads(run("--budget", "tokens=1000").stdout)
    assert loopback.bodies == []
    assert "exceed the budget of 1000 tokens; raise --budget tokens" in document["ungraded"][0]["reason"]


INPUT = dict.fromkeys(("input", "cache_read", "cache_write_5m", "cache_write_1h"), 10_000)
CENTS = {"m": {**INPUT, "output": 50_000}}
"""A thousand input tokens for a cent, a thousand output tokens for five; nobody knows what others cost."""


def score(loopback, catalog, *, model="m", **budget):
    settings = read_settings(
        {"TDQS_CACHE": "off"}, judge=f"openai:{model}", base_url=loopback.base_url, budget=Budget(**budget)
    )
    judge = make_judge(replace(settings, prices=CENTS))
    return anyio.run(lambda: judging.score(catalog(*TOOLS), judge=judge))


def test_money_is_counted_where_prices_are_known(loopback, catalog):
    settings = read_settings({"TDQS_CACHE": "off"}, judge="openai:m", base_url=loopback.base_url)
    settings = replace(settings, prices=CENTS)
    judge, ledger = make_preview(settings)
    anyio.run(lambda: judging.score(catalog(*TOOLS), judge=judge))
    booked = Usage(input_tokens=ledger.usage.input_tokens, output_tokens=ledger.usage.output_tokens)
    assert ledger.usage.cost == settings.price("m", booked) > 0
    half = score(loopback, catalog, cost=ledger.usage.cost // 2)
    assert 0 < len(half.tools) < 6
    assert "raise --budget cost" in half.ungraded[-1].ungraded.reason
    assert len(score(loopback, catalog, cost=ledger.usage.cost).tools) == 6


NO_PRICE = "no price is known for 'm', so --budget cost cannot be kept; give [prices.'m'] or --budget tokens"


@pytest.mark.parametrize("options", [["--dry-run"], ["--judge", "anthropic:m"]])
def test_a_bound_on_money_that_nobody_will_say_a_price_for_is_refused_before_anybody_is_asked(
    run, loopback, options, monkeypatch
):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-tests")
    done = run("--budget", "cost=5", *options)
    assert (done.returncode, loopback.bodies) == (2, [])
    assert done.stderr.decode() == f"error: {NO_PRICE}\n"


def test_a_bound_on_money_is_kept_by_what_the_endpoint_says_its_answers_cost(run, loopback):
    loopback.usage = {"prompt_tokens": 1000, "completion_tokens": 100, "cost": 0.25}
    assert b"$1.7500" in run("--budget", "cost=5").stderr
    loopback.bodies.clear()
    done = run("--budget", "cost=0.3", "--exact-prompt")
    assert 1 <= len(loopback.bodies) <= FIRST_REQUESTS
    assert b"raise --budget cost" in done.stdout


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": 1000, "completion_tokens": 100}])
def test_an_endpoint_that_says_no_price_is_asked_no_more(run, loopback, usage):
    loopback.usage = usage
    assert NO_PRICE.encode() in run("--budget", "cost=5").stdout
    assert len(loopback.bodies) <= FIRST_REQUESTS


def test_the_user_s_own_prices_count(run, loopback, configure):
    configure("[prices.m]\ninput = 100\noutput = 500.5\n")
    assert json.loads(run("--dry-run").stdout)["cost"] > 0
    assert run("--budget", "cost=0.1").returncode == 2
    assert loopback.bodies == []
    configure("[prices.m]\ninput = -1\n")
    assert b"`input` must be dollars per million tokens" in run("--dry-run").stderr


def test_what_a_budgeted_and_guarded_judge_has_used_is_told(loopback, catalog):
    settings = read_settings(
        {"TDQS_CACHE": "off"}, judge="openai:m", base_url=loopback.base_url, budget=Budget(calls=4)
    )
    judge = VerdictGuard(judge=make_judge(settings))
    anyio.run(lambda: judging.score(catalog(*TOOLS), judge=judge))
    assert judge.usage == Usage(requests=4, cost=None)


@pytest.mark.parametrize("amount", ["x", "-1", "nan", "inf"])
def test_an_amount_of_money_is_a_number(run, loopback, amount):
    done = run("--budget", f"cost={amount}")
    assert done.returncode == 2
    assert b"amount of dollars" in done.stderr
    assert loopback.bodies == []


def test_a_budget_without_a_model_is_refused(command, write):
    done = command("score", write("c.json", TOOLS), "--budget", "calls=1")
    assert done.returncode == 2
    assert b"the offline judge takes no budget" in done.stderr


def test_all_jurors_share_one_budget(run, loopback, command, write, tmp_path, monkeypatch, configure):
    configure('[judges.a]\nmodel = "a"\n[judges.b]\nmodel = "b"\n')
    monkeypatch.setenv("TDQS_BASE_URL", loopback.base_url)
    done = command(
        "score", write("c.json", TOOLS), "--judge", "jury:a,b", "--budget", "calls=9", "--format", "json", cwd=tmp_path
    )
    assert len(loopback.bodies) == 9
    assert done.returncode == 2
