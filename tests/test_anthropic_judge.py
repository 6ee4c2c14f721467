"""The anthropic judge against a Messages API on loopback that behaves and misbehaves by the tool's name.

What all endpoints have in common, such as waits and limits, is tested with the openai judge.
"""

import json
import logging
import os
import subprocess
import sys
import tomllib
import traceback
from dataclasses import replace
from importlib.resources import files

import anyio
import pytest
from definitions import tool
from loopback import USUAL, Behaving, one_of_three, tdqs, tool_name, unfenced, user
from mcp import Client, StdioServerParameters
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

import tdqs_mcp
from tdqs_mcp.app import judging
from tdqs_mcp.app.judge_factory import make_judge, make_preview
from tdqs_mcp.app.settings import read_settings
from tdqs_mcp.errors import EndpointError, InputError, TdqsError
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.judges.anthropic import DEFAULT_MODEL, Anthropic
from tdqs_mcp.judges.asking import Answered, Sample
from tdqs_mcp.judges.budget import Budget, cost
from tdqs_mcp.judges.endpoint import Endpoint
from tdqs_mcp.judges.judge import AnswersNeeded, Failure, Usage
from tdqs_mcp.judges.prompted import Prompted
from tdqs_mcp.results.verdicts import JudgeStamp, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import PromptForm, render_hardened
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.score import tool_cases
from tdqs_mcp.store.judgements import Judgements

KEY = "sk-ant-loopback-0123456789abcdef"
PATIENT = 3600.0
"""Seconds that no test could wait: whoever finishes did not need them."""

GOOD = USUAL["tdqs"]
WRONG = tdqs(9, 9, 9, 9, 9, 9)
COHERENT = USUAL["coherence"]
USED = {"input_tokens": 300, "cache_read_input_tokens": 2000, "cache_creation_input_tokens": 0, "output_tokens": 700}


def message(text, *, stop="end_turn", usage=USED, **more):
    content = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": text}] if text is not None else []
    return {"type": "message", "role": "assistant", "content": content, "stop_reason": stop, "usage": usage, **more}


def says(text, **more):
    return JSONResponse(message(text, **more))


def error(status, kind, words="no", **headers):
    body = {"type": "error", "error": {"type": kind, "message": words}}
    return JSONResponse(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


REFUSED = {"type": "refusal", "category": "cyber", "explanation": "I will not."}
BEHAVIOUR = {
    "talkative": lambda n: says(f"Sure!\n{GOOD}\nAnything else?"),
    "mended": lambda n: says(WRONG if n == 1 else GOOD),
    "incomplete": lambda n: says('{"scores": {}}' if n == 1 else GOOD),
    "miscounted": lambda n: says(GOOD, usage={"input_tokens": "many"}),
    "limited": lambda n: error(429, "rate_limit_error", retry_after="0") if n == 1 else says(GOOD),
    "shaky": lambda n: error(500, "api_error") if n == 1 else says(GOOD),
    "stubborn": lambda n: says(WRONG),
    "prose": lambda n: says("I would give it a four."),
    "down": lambda n: error(529, "overloaded_error", "Overloaded"),
    "html": lambda n: HTMLResponse("<h1>Sign in</h1>"),
    "refused": lambda n: says(None, stop="refusal", stop_details=REFUSED),
    "truncated": lambda n: says(GOOD[:40], stop="max_tokens"),
    "empty": lambda n: says(None),
    "unauthorized": lambda n: error(401, "authentication_error", f"bad key {KEY}"),
    "unknown": lambda n: error(404, "not_found_error", "model: m"),
    "bare": lambda n: Response(b"", 400),
    "overcounted": lambda n: says(GOOD, usage={"input_tokens": 10**30, "output_tokens": True}),
    "useless": lambda n: JSONResponse({"type": "error", "usage": USED}),
}
ROWS = {
    "errored": {"type": "errored", "error": {"type": "error", "error": {"type": "x", "message": "too long"}}},
    "vaguely_errored": {"type": "errored", "error": None},
    "canceled": {"type": "canceled"},
    "expired": {"type": "expired"},
    "refused": {"type": "succeeded", "message": message(None, stop="refusal", stop_details=REFUSED)},
    "wrong": {"type": "succeeded", "message": message(WRONG)},
    "messageless": {"type": "succeeded"},
}


class Fake(Behaving):
    """The Messages API."""

    def __init__(self):
        self.batches = {}
        self.polls = 0
        super().__init__(
            [
                Route("/v1/messages", self._message, methods=["POST"]),
                Route("/v1/messages/batches", self._submit, methods=["POST"]),
                Route("/v1/messages/batches/{id}", self._retrieve),
                Route("/v1/messages/batches/{id}/results", self._results),
            ]
        )

    async def _message(self, request):
        body = json.loads(await request.body())
        name = _asked(body)
        self.requests.append((name, dict(request.headers), body))
        kind = "effortless" if "SERVER NAME: effortless" in unfenced(user(body)) else name.partition("__")[0]
        if self.is_repaired:
            return says(COHERENT if name == "(set)" else GOOD)
        if kind == "hanging":
            while (await request.receive())["type"] != "http.disconnect":
                pass
            return Response()
        if kind == "effortless" and "effort" in body["output_config"]:
            return error(400, "invalid_request_error", "This model does not support the effort parameter.")
        if kind == "paired":
            await self.meet()
            return says(USUAL["smells"])
        behave = BEHAVIOUR.get(kind, lambda n: says(COHERENT if name == "(set)" else GOOD))
        return behave(len(self.bodies(name)))

    async def _submit(self, request):
        body = json.loads(await request.body())
        self.requests.append(("(batch)", dict(request.headers), body))
        if any(_asked(each["params"]) == "unauthorized" for each in body["requests"]):
            return error(401, "authentication_error", f"bad key {KEY}")
        self.batches["msgbatch_1"] = body["requests"]
        return JSONResponse(self._batch("in_progress"))

    async def _retrieve(self, request):
        if request.path_params["id"] not in self.batches:
            return error(404, "not_found_error", "no such batch")
        self.polls += 1
        return JSONResponse(self._batch("ended" if self.polls > 1 else "in_progress"))

    async def _results(self, request):
        entries = reversed(self.batches[request.path_params["id"]])
        lines = ["not JSON", '{"custom_id": "of another batch", "result": {"type": "expired"}}', "{}"]
        for entry in entries:
            name = _asked(entry["params"])
            good = COHERENT if name == "(set)" else GOOD
            result = ROWS.get(name, {"type": "succeeded", "message": message(good)})
            lines += [] if name == "lost" else [json.dumps({"custom_id": entry["custom_id"], "result": result})]
        return PlainTextResponse("\n".join(lines))

    def _batch(self, status):
        return {
            "id": "msgbatch_1",
            "type": "message_batch",
            "processing_status": status,
            "results_url": "http://127.0.0.1:9/",
        }


def _asked(body):
    return tool_name(body) or "(set)"


@pytest.fixture
def fake():
    api = Fake()
    yield api
    api.close()


def model_of(fake, **changes):
    standard = Endpoint(base_url=fake.address, model=DEFAULT_MODEL, api_key=KEY, timeout=30, backoff=0)
    return Anthropic(replace(standard, **changes))


def judge_of(fake, **changes):
    return Prompted(id="anthropic", model=model_of(fake, **changes))


def grade(judge, catalog):
    return anyio.run(judge.grade, tool_cases(measure(catalog)))


@pytest.fixture
def outcome(fake, catalog):
    return lambda name: one_of_three(judge_of(fake), catalog, name)


RECOVERING = ["good", "talkative", "mended", "incomplete", "miscounted", "limited", "shaky"]
HOPELESS = {
    "stubborn": (3, "3 answers of 'claude-haiku-5-5' broke the output format, the last one because scores.purpose"),
    "prose": (3, "the answer is not JSON"),
    "down": (3, "HTTP 529 (Overloaded): the endpoint is at fault"),
    "html": (3, "answered with no message (an HTML page): check the base URL"),
    "refused": (1, "refused to answer (I will not.): use another model"),
    "truncated": (1, "cut off after 40 characters: raise max_tokens with TDQS_REQUEST_OVERRIDES"),
    "empty": (1, "answered with no text"),
    "unauthorized": (1, "HTTP 401 (bad key [key]): check TDQS_API_KEY"),
    "unknown": (1, "HTTP 404 (model: m): check the base URL and the model"),
    "bare": (1, "HTTP 400 (nothing more): check the model and TDQS_REQUEST_OVERRIDES"),
}


@pytest.mark.parametrize("name", RECOVERING)
def test_a_usable_answer_becomes_a_verdict_in_the_end(outcome, name):
    result = outcome(name)
    assert isinstance(result, Verdict)
    assert [judgement.score for judgement in result.judgements.values()] == [2, 2, 3, 4, 3, 3]


@pytest.mark.parametrize("name", HOPELESS)
def test_without_an_answer_one_tool_is_ungraded_and_the_reason_says_what_to_change(outcome, fake, name):
    requests, words = HOPELESS[name]
    result = outcome(name)
    assert isinstance(result, Ungraded)
    assert result.judge == "anthropic"
    assert words in result.reason
    assert len(fake.bodies(name)) == requests


def test_what_an_answer_took_counts_be_it_of_any_use_or_not_unless_it_is_beyond_reason(fake, catalog):
    judge = judge_of(fake)
    grade(judge, catalog(tool("useless")))
    assert (judge.usage.requests, judge.usage.input_tokens, judge.usage.output_tokens) == (3, 6900, 2100)
    judge = judge_of(fake)
    grade(judge, catalog(tool("overcounted")))
    assert judge.usage == Usage(requests=1, cost=None)


def test_a_request_carries_the_rubric_as_cached_system_prompt_the_schema_and_no_temperature(fake, catalog):
    shop = catalog(tool("good", "Odd \ud800 text."))
    grade(judge_of(fake), shop)
    ((_, headers, body),) = fake.requests
    prompt = render_hardened(tool_cases(measure(shop))[0])
    assert body["system"] == [
        {"type": "text", "text": prompt.system, "cache_control": {"type": "ephemeral", "ttl": "5m"}}
    ]
    assert body["messages"] == [{"role": "user", "content": prompt.user.replace("\ud800", "\\ud800")}]
    assert (body["model"], body["max_tokens"], body["output_config"]["effort"]) == ("claude-haiku-5-5", 8000, "low")
    schema = body["output_config"]["format"]["schema"]
    assert tuple(schema["properties"]["scores"]["required"]) == load("tdqs").keys
    assert schema["properties"]["scores"]["properties"]["purpose_clarity"]["properties"]["score"]["enum"] == [
        1,
        2,
        3,
        4,
        5,
    ]
    assert not {"temperature", "top_p", "top_k", "stream"} & set(body)
    assert headers["authorization"] == f"Bearer {KEY}"


def test_a_wrong_answer_goes_back_with_the_reason(outcome, fake):
    outcome("mended")
    first, second = fake.bodies("mended")
    assert second["messages"][0] == first["messages"][0]
    assert [each["role"] for each in second["messages"]] == ["user", "assistant", "user"]
    assert "scores.purpose_clarity.score: must be" in second["messages"][2]["content"]


def test_overrides_replace_merge_and_remove_members(fake, catalog):
    overrides = {
        "max_tokens": 900,
        "service_tier": "standard_only",
        "output_config": {"effort": "high"},
        "system": None,
    }
    assert isinstance(grade(judge_of(fake, overrides=overrides), catalog(tool("good")))[0], Verdict)
    (body,) = fake.bodies("good")
    assert (body["max_tokens"], body["service_tier"], "system" in body) == (900, "standard_only", False)
    assert (body["output_config"]["effort"], body["output_config"]["format"]["type"]) == ("high", "json_schema")


def test_a_model_that_takes_no_effort_is_asked_without(fake, catalog):
    judge = judge_of(fake)
    for _ in range(2):
        assert isinstance(grade(judge, catalog(tool("effortless")))[0], Verdict)
    assert ["effort" in body["output_config"] for body in fake.bodies("effortless")] == [True, False, False]


def test_two_rubrics_may_find_out_at_once_that_a_model_takes_no_effort(fake, catalog):
    score = anyio.run(lambda: judging.score(catalog(tool("effortless"), name="effortless"), judge=judge_of(fake)))
    assert (len(score.tools), score.rollup.coherence) == (1, 40)


def test_the_first_tool_goes_ahead_so_that_the_others_find_the_rubric_in_the_cache(fake, catalog):
    judge = judge_of(fake)
    grade(judge, catalog(tool("down"), tool("good"), tool("fine")))
    assert [name for name, _, _ in fake.requests][:3] == ["down"] * 3
    assert sorted(name for name, _, _ in fake.requests[3:]) == ["fine", "good"]


@pytest.mark.process
def test_a_first_tool_that_hangs_holds_up_nobody(fake, catalog):
    _, *others = grade(judge_of(fake, timeout=4.0), catalog(tool("hanging"), tool("good"), tool("fine")))
    assert [type(each) for each in others] == [Verdict, Verdict]


@pytest.mark.parametrize("name", ["good", "unauthorized", "down"])
def test_the_key_travels_in_one_header_and_is_told_nobody(fake, catalog, caplog, name):
    caplog.set_level(logging.DEBUG)
    judge = judge_of(fake)
    results = grade(judge, catalog(tool(name)))
    with pytest.raises(EndpointError) as caught:
        anyio.run(model_of(fake).submit, requests_of(catalog(tool("unauthorized"))))
    settings = read_settings({"ANTHROPIC_API_KEY": KEY}, judge="anthropic", base_url=fake.address)
    for _, headers, body in fake.requests:
        assert [header for header, value in headers.items() if KEY in value] == ["authorization"]
        assert KEY not in json.dumps(body)
    shown = "".join(traceback.format_exception(caught.value))
    told = [repr(results), repr(judge), shown, repr(settings), repr(make_judge(settings))]
    logged = [record.getMessage() + repr(vars(record)) for record in caplog.records]
    assert logged
    assert not [text for text in told + logged if KEY in text]


# What it cost


def test_tokens_and_cost_are_counted_over_all_answers(fake, catalog):
    judge = judge_of(fake)
    grade(judge, catalog(tool("good"), tool("mended"), tool("refused"), tool("down")))
    answers, dollars = 4, 4 * (300 * 0.10 + 2000 * 0.01 + 700 * 0.50) / 1e6
    assert judge.usage == Usage(
        requests=7,
        input_tokens=answers * 2300,
        cache_read_tokens=answers * 2000,
        output_tokens=answers * 700,
        cost=round(dollars * 1e9),
    )


def test_what_is_not_told_or_not_listed_has_no_price(fake, catalog):
    for judge, name in ((judge_of(fake), "miscounted"), (judge_of(fake, model="claude-next"), "good")):
        grade(judge, catalog(tool(name)))
        assert judge.usage.cost is None


def test_prices_follow_the_published_table():
    million = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
    assert cost("claude-opus-5-5", million) == 24 * 10**9
    assert cost("claude-haiku-4-5-20251001", million) == cost("claude-haiku-4-5", million) == 6 * 10**9
    assert cost("claude-haiku-5-5", million) == 3 * 10**9, "a prompt over 100,000 tokens has a price of its own"
    short = Usage(input_tokens=100_000, cache_write_tokens=100_000, output_tokens=1)
    assert cost("claude-haiku-5-5", short) == 12_500_500
    assert cost("claude-haiku-5-5", short, is_batch=True) == 10_000_250, "half, for entries that last an hour"
    table = tomllib.loads(files("tdqs_mcp.judges").joinpath("data", "prices.toml").read_text(encoding="utf-8"))
    assert table["as_of"] == "2026-10-24"
    assert DEFAULT_MODEL in table["models"]


def test_the_command_says_what_a_judgement_cost(fake, write, command):
    file = write("shop.json", [tool("good"), tool("silent", None)])
    environment, address = os.environ | {"ANTHROPIC_API_KEY": KEY}, f"{fake.address}/v1/"
    run = command("score", file, "--judge", "anthropic", "--base-url", address, "--format", "json", env=environment)
    assert run.returncode == 0, run.stderr.decode()
    assert json.loads(run.stdout)["tools"][0]["judge"]["model"] == DEFAULT_MODEL
    assert run.stderr.decode() == "judge: 2 requests, 4,600 input tokens (4,000 cached), 1,400 output tokens, $0.0008\n"


def test_a_prompt_of_one_message_has_no_system_prompt_and_nobody_waits_for_one(fake, catalog):
    """Each of the two is answered when the other is there, which with a head start would be twenty seconds later."""
    judge = Prompted(id="anthropic", model=model_of(fake, timeout=PATIENT), form=PromptForm.EXACT)
    cases = tool_cases(measure(catalog(tool("paired__1"), tool("paired__2"))), rubric="smells")

    async def run():
        with anyio.fail_after(10):
            return await judge.grade(cases)

    assert [type(each) for each in anyio.run(run)] == [Verdict, Verdict]
    assert ["system" in body for _, _, body in fake.requests] == [False, False]


@pytest.fixture
def command_of(fake, write, command, tmp_path, monkeypatch):
    """`score` of two tools by the configured judge; gives back the finished process and what was asked."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    file = write("shop.json", [tool("good"), tool("fine")])

    def run(*options, judge="anthropic", base_url=None):
        address = ["--base-url", base_url or fake.address] if judge == "anthropic" else []
        done = command("score", file, "--judge", judge, *address, "--format", "json", *options, cwd=tmp_path)
        return done, [name for name, _, _ in fake.requests]

    return run


def test_a_dry_run_says_what_it_would_cost_and_a_bound_below_is_kept(command_of):
    planned, asked = command_of("--dry-run")
    assert asked == []
    cost = json.loads(planned.stdout)["cost"]
    assert 0.0005 < cost < 0.01
    bounded, asked = command_of("--budget", f"cost={cost * 0.7}")
    assert len(asked) == 2
    assert b"raise --budget cost" in bounded.stdout
    enough, _ = command_of("--budget", f"cost={cost * 1.1}")
    assert json.loads(enough.stdout)["scoredToolCount"] == 2


def test_the_second_run_finds_the_answers_of_the_first(command_of):
    first, asked = command_of()
    second, asked_again = command_of()
    assert (first.stdout, len(asked)) == (second.stdout, 3)
    assert asked_again == asked
    assert second.stderr == b""


def test_a_model_that_takes_no_effort_finds_its_judgements_again(fake, catalog, tmp_path):
    environ = {"TDQS_CACHE": str(tmp_path), "ANTHROPIC_API_KEY": KEY}
    for _ in range(2):
        judge = make_judge(read_settings(environ, judge="anthropic", base_url=fake.address))
        score = anyio.run(
            lambda judge=judge: judging.score(catalog(tool("effortless"), name="effortless"), judge=judge)
        )
        assert (len(score.tools), len(fake.requests)) == (1, 4)


def test_it_sits_on_a_jury_with_a_key_and_an_address_of_its_own(command_of, fake, write, monkeypatch, configure):
    members = (
        f'[judges.a]\nkind = "anthropic"\nbase-url = "{fake.address}"\nsamples = 2\n[judges.b]\nkind = "offline"\n'
    )
    configure(members)
    monkeypatch.setenv("TDQS_API_KEY_A", "sk-own")
    done, asked = command_of(judge="jury:a,b")
    assert (done.returncode, len(asked)) == (0, 6), done.stderr.decode()
    assert {headers["authorization"] for _, headers, _ in fake.requests} == {"Bearer sk-own"}
    assert done.stderr.decode().startswith("judge: 6 requests, 13,800 input tokens (12,000 cached)")


def test_as_a_juror_without_an_address_it_asks_its_vendor_with_its_vendor_s_key(write, tmp_path, configure):
    file = configure('[judges.a]\nkind = "anthropic"\n[judges.b]\nmodel = "m"\n')
    environ = {
        "TDQS_CONFIG": str(file),
        "ANTHROPIC_API_KEY": "a",
        "TDQS_API_KEY": "t",
        "TDQS_BASE_URL": "http://127.0.0.1:9/v1",
    }
    ours, other = read_settings(environ, judge="jury:a,b").members
    assert (ours.base_url, ours.api_key, ours.key_name) == (None, "a", "ANTHROPIC_API_KEY")
    assert (other.base_url, other.api_key, other.key_name) == ("http://127.0.0.1:9/v1", "t", "TDQS_API_KEY")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.process
def test_the_server_lets_it_judge_when_it_is_configured_and_reports_progress(fake, mode):
    heard = []

    async def hear(progress, total, words):
        heard.append((progress, total))

    async def run():
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "tdqs_mcp", "serve", "--judge", "anthropic", "--base-url", fake.address],
            env={"ANTHROPIC_API_KEY": KEY, "TDQS_CACHE": "off"},
        )
        async with Client(server, mode=mode) as client:
            tools = [tool(f"t{number}") for number in range(39)] + [tool("refused")]
            return await client.call_tool("score_server", {"catalog": tools}, progress_callback=hear)

    answer = anyio.run(run).structured_content
    assert (answer["judge"]["id"], answer["judge"]["model"]) == ("anthropic", DEFAULT_MODEL)
    assert answer["scoredToolCount"] == 39
    assert "refused to answer (I will not.)" in answer["tools"][0]["ungraded"]
    assert heard == [(32, 41), (41, 41)]


# Batches


def requests_of(catalog):
    """What a sweep would submit: the requests that a judge without answers asks for."""
    with pytest.raises(AnswersNeeded) as needed:
        grade(Prompted(id="anthropic", model=Answered(answers={})), catalog)
    return needed.value.requests


def test_a_batch_is_submitted_outlives_the_process_and_is_collected_at_half_the_price(fake, catalog):
    shop = catalog(*map(tool, ["good", *ROWS, "lost", "fine"]))
    batch = anyio.run(model_of(fake).submit, requests_of(shop))
    ((_, _, body),) = [each for each in fake.requests if each[0] == "(batch)"]
    assert body["requests"][0]["params"]["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    later, requests = model_of(fake), requests_of(shop)
    assert anyio.run(later.collect, batch, requests) is None
    answers = anyio.run(later.collect, batch, requests)
    named = dict(zip(["good", *ROWS, "lost", "fine"], answers, strict=True))
    assert (named["good"], named["fine"], named["wrong"]) == (GOOD, GOOD, WRONG)
    words = {
        "errored": "could not ask 'claude-haiku-5-5' (too long)",
        "vaguely_errored": "could not ask 'claude-haiku-5-5' (errored)",
        "messageless": "could not ask",
        "canceled": "the batch was canceled before this request's turn; submit it again",
        "expired": "the batch expired before this request's turn; submit it again",
        "refused": "refused to answer (I will not.)",
        "lost": "holds no answer to this request; submit it again",
    }
    assert {name for name, answer in named.items() if isinstance(answer, Failure)} == set(words)
    assert all(said in named[name].reason for name, said in words.items())
    assert later.usage.cost == 4 * (300 * 100 + 2000 * 10 + 700 * 500) // 2


def test_a_batch_s_answers_become_verdicts_and_what_broke_the_format_is_asked_again(fake, catalog):
    shop = catalog(tool("good"), tool("wrong"))
    first = requests_of(shop)
    model = model_of(fake)
    batch = anyio.run(model.submit, first)
    anyio.run(model.collect, batch, first)
    texts = anyio.run(model.collect, batch, first)
    known = {each.key: Sample(text=text, model=model.name) for each, text in zip(first, texts, strict=True)}
    judge = Prompted(id="anthropic", model=Answered(answers=known))
    with pytest.raises(AnswersNeeded) as needed:
        grade(judge, shop)
    (again,) = needed.value.requests
    assert "scores.purpose_clarity.score" in again.conversation[-1][1]
    known[again.key] = Sample(text=GOOD, model=model.name)
    assert [type(each) for each in grade(judge, shop)] == [Verdict, Verdict]
    assert judge.stamp == JudgeStamp(id="anthropic", version="1", model=DEFAULT_MODEL, prompt="hardened")


def test_what_a_batch_brought_is_kept_and_only_the_rest_is_asked_for(fake, catalog, tmp_path):
    names = ["good", *ROWS, "lost", "fine"]
    shop = catalog(*map(tool, names))

    def new_judge():
        model = model_of(fake)
        cache = Judgements(tmp_path, warn=pytest.fail)
        return Prompted(id="anthropic", model=model, cache=cache, parameters=model.parameters)

    note = tdqs_mcp.submit_batch(shop, judge=new_judge())
    assert tdqs_mcp.collect_batch(note, shop, judge=new_judge()) is None
    assert len(tdqs_mcp.collect_batch(note, shop, judge=new_judge())) == 1 + len(ROWS)
    fake.requests.clear()
    fake.is_repaired = True
    assert [type(each) for each in grade(new_judge(), shop)] == [Verdict] * len(names)
    assert sorted(name for name, _, _ in fake.requests) == sorted([*ROWS, "lost"])


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda model, requests: model.submit([]), "a batch has 1 to 100000 requests, not 0"),
        (lambda model, requests: model.submit(requests), "takes no batch (bad key [key])"),
        (lambda model, requests: model.collect("msgbatch_2", requests), "'msgbatch_2' (no such batch)"),
        (lambda model, requests: model.collect("../x", requests), "'../x' is not a batch id"),
    ],
)
def test_a_batch_that_cannot_be_had_says_why(fake, catalog, act, words):
    requests = requests_of(catalog(tool("unauthorized")))
    with pytest.raises(TdqsError) as caught:
        anyio.run(act, model_of(fake), requests)
    assert words in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.fixture
def restarted(fake, tmp_path):
    """The judge of a process that has just started, as a library makes it."""

    def judge(**options):
        environ = {"TDQS_CACHE": str(tmp_path), "ANTHROPIC_API_KEY": KEY}
        return make_judge(read_settings(environ, judge="anthropic", base_url=fake.address, **options))

    return judge


def test_a_sweep_submits_its_catalogs_restarts_collects_and_scores_what_is_kept(fake, catalog, restarted):
    shops = [catalog(*map(tool, ["good", "expired", "wrong"]), name="one"), catalog(tool("fine"), name="two")]
    note = tdqs_mcp.submit_batch(shops, judge=restarted())
    assert len(fake.bodies("(batch)")[0]["requests"]) == 6
    assert KEY not in note
    assert tdqs_mcp.collect_batch(note, shops, judge=restarted()) is None
    judge = restarted()
    expired, wrong = tdqs_mcp.collect_batch(note, shops, judge=judge)
    assert expired == "the batch expired before this request's turn; submit it again"
    assert "the answer broke the output format: scores.purpose_clarity" in wrong
    assert judge.usage.cost == 5 * (300 * 100 + 2000 * 10 + 700 * 500) // 2
    fake.requests.clear()
    fake.is_repaired = True
    scores = [tdqs_mcp.score(shop, judge=restarted()) for shop in shops]
    assert [len(each.tools) for each in scores] == [3, 1]
    assert sorted(name for name, _, _ in fake.requests) == ["expired", "wrong"]
    assert tdqs_mcp.collect_batch(note, shops, judge=restarted()) == []
    with pytest.raises(InputError, match="nothing to submit: every answer is kept"):
        tdqs_mcp.submit_batch(shops, judge=restarted())


def test_a_batch_of_what_is_missing_asks_for_nothing_else(fake, catalog, restarted):
    shop = catalog(tool("good"), tool("expired"))
    note = tdqs_mcp.submit_batch(shop, judge=restarted())
    fake.polls = 1
    tdqs_mcp.collect_batch(note, shop, judge=restarted())
    tdqs_mcp.submit_batch(shop, judge=restarted())
    (entry,) = fake.bodies("(batch)")[1]["requests"]
    assert tool_name(entry["params"]) == "expired"


def test_a_budget_bounds_a_batch_at_half_the_price(fake, catalog, restarted):
    shop = catalog(*(tool(f"t{number}") for number in range(10)))
    preview, ledger = make_preview(
        read_settings({"TDQS_CACHE": "off", "ANTHROPIC_API_KEY": KEY}, judge="anthropic", base_url=fake.address)
    )
    tdqs_mcp.score(shop, judge=preview)
    for budget, words in (
        (Budget(cost=ledger.usage.cost // 2 - 11), "it would exceed the budget in money; raise --budget cost"),
        (Budget(calls=10), "the budget of 10 calls is used up"),
    ):
        with pytest.raises(InputError, match=f"a batch of 11 requests was not submitted: {words}"):
            tdqs_mcp.submit_batch(shop, judge=restarted(budget=budget))
    assert fake.requests == []
    judge = restarted(budget=Budget(cost=ledger.usage.cost // 2 + 11, calls=11))
    assert tdqs_mcp.submit_batch(shop, judge=judge)
    with pytest.raises(InputError, match="was not submitted"):
        tdqs_mcp.submit_batch(shop, judge=judge)
    with pytest.raises(InputError, match="a dry run sends nothing"):
        anyio.run(preview.judge.model.submit, requests_of(shop))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "offline", "base_url": None}, "give the anthropic judge, alone and with one sample"),
        ({"kind": "openai:m"}, "'m' takes no batches here: name the anthropic judge"),
        ({"cache": "off"}, "set TDQS_CACHE to a folder"),
    ],
)
def test_a_judge_that_can_take_no_batch_is_refused(catalog, fake, options, words):
    settings = {"TDQS_CACHE": options.get("cache", ""), "ANTHROPIC_API_KEY": KEY}
    address = options.get("base_url", fake.address)
    judge = make_judge(read_settings(settings, judge=options.get("kind", "anthropic"), base_url=address))
    with pytest.raises(InputError, match=words):
        tdqs_mcp.submit_batch(catalog(tool("good")), judge=judge)
    assert fake.requests == []


@pytest.mark.parametrize(
    ("note", "words"),
    [
        (lambda note: "msgbatch_1", "this is not a batch: give the JSON that submit_batch gave"),
        (
            lambda note: note.replace(DEFAULT_MODEL, "claude-opus-5-5"),
            "this batch asks 'claude-opus-5-5' with its hard",
        ),
    ],
)
def test_a_batch_is_collected_by_the_judge_that_submitted_it_alone(catalog, restarted, note, words):
    shop = catalog(tool("good"))
    written = tdqs_mcp.submit_batch(shop, judge=restarted())
    with pytest.raises(InputError, match=words):
        tdqs_mcp.collect_batch(note(written), shop, judge=restarted())


# Settings

COMMON = {"TDQS_BASE_URL": "http://127.0.0.1:9/v1", "TDQS_MODEL": "m", "TDQS_API_KEY": "t"}
"""The endpoint of the openai judge."""


@pytest.mark.parametrize(
    ("environ", "explicit", "model", "key"),
    [
        ({"ANTHROPIC_API_KEY": "a"}, {"judge": "anthropic"}, DEFAULT_MODEL, "a"),
        (
            {"ANTHROPIC_API_KEY": "a", "TDQS_API_KEY": "t"},
            {"judge": "anthropic:claude-opus-5-5"},
            "claude-opus-5-5",
            "t",
        ),
        ({"TDQS_API_KEY": "t", "TDQS_JUDGE": "anthropic:m"}, {}, "m", "t"),
        (COMMON | {"TDQS_JUDGE": "anthropic", "ANTHROPIC_API_KEY": "a"}, {}, DEFAULT_MODEL, "a"),
        ({"ANTHROPIC_API_KEY": "a"}, {"judge": "anthropic:x", "model": "y", "api_key": "e"}, "y", "e"),
    ],
)
def test_model_and_key_come_from_the_flag_then_from_the_environment(environ, explicit, model, key):
    settings = read_settings(environ, **explicit)
    assert settings.api_key == key
    assert make_judge(settings).stamp == JudgeStamp(id="anthropic", version="1", model=model, prompt="hardened")


@pytest.mark.parametrize(
    ("environ", "explicit", "address", "key"),
    [
        (COMMON | {"ANTHROPIC_API_KEY": "a"}, {}, None, "a"),
        ({**COMMON, "TDQS_BASE_URL": "", "ANTHROPIC_API_KEY": "a"}, {}, None, "t"),
        (COMMON | {"ANTHROPIC_API_KEY": "a"}, {"base_url": "http://b"}, "http://b", "t"),
        ({"ANTHROPIC_API_KEY": "a"}, {"base_url": "http://b"}, "http://b", "a"),
    ],
)
def test_a_key_goes_where_it_was_meant_for(environ, explicit, address, key):
    settings = read_settings(environ, judge="anthropic", **explicit)
    assert (settings.base_url, settings.api_key) == (address, key)


def test_the_key_of_the_common_endpoint_is_not_the_vendor_s():
    with pytest.raises(InputError, match=r"needs a key: set ANTHROPIC_API_KEY$"):
        make_judge(read_settings(COMMON, judge="anthropic"))


def test_the_sdk_s_own_environment_adds_and_replaces_nothing(fake, catalog, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "Authorization: Bearer other\nX-Gate: other")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "other")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "other")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    assert isinstance(grade(judge_of(fake), catalog(tool("good")))[0], Verdict)
    ((_, headers, _),) = fake.requests
    assert headers["authorization"] == f"Bearer {KEY}"
    assert not [header for header, value in headers.items() if "other" in value]


def test_the_vendor_s_key_goes_to_nobody_else():
    settings = read_settings({"ANTHROPIC_API_KEY": KEY}, judge="openai:m", base_url="http://127.0.0.1:1/v1")
    assert settings.api_key is None
    assert read_settings({"ANTHROPIC_API_KEY": KEY}).api_key is None


@pytest.mark.parametrize(
    ("environ", "base_url", "words"),
    [
        ({}, None, "set ANTHROPIC_API_KEY or TDQS_API_KEY"),
        ({"ANTHROPIC_API_KEY": f"{KEY}\nX: y"}, None, "set ANTHROPIC_API_KEY again"),
        ({"ANTHROPIC_API_KEY": KEY}, "x", "must look like https://host"),
    ],
)
def test_what_cannot_work_is_refused_and_says_what_to_set(environ, base_url, words):
    with pytest.raises(InputError) as caught:
        make_judge(read_settings(environ, judge="anthropic", base_url=base_url))
    assert words in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.process
def test_the_sdk_is_imported_only_when_it_is_asked(write):
    code = (
        "import sys, tdqs_mcp.cli; from tdqs_mcp.app.judge_factory import make_judge; from tdqs_mcp.app.settings import read_settings;"
        "make_judge(read_settings({'ANTHROPIC_API_KEY': 'k'}, judge='anthropic'));"
        "print({'anthropic', 'httpx2'} & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"
