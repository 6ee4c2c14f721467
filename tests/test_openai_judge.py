"""The openai judge against a real HTTP endpoint on loopback that behaves and misbehaves by the tool's name.

HTTP answers that are of no use to anybody are in test_misbehaving.py.
"""

import asyncio
import json
import logging
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from urllib.parse import quote

import anyio
import httpx2
import pytest
from anyio.lowlevel import checkpoint
from definitions import flat, tool
from loopback import ACCEPT_ALL, KEY, USUAL, Behaving, justified, one_of_three, tdqs, tool_name
from pydantic import BaseModel
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from tdqs_mcp.app import judging
from tdqs_mcp.app.judge_factory import make_judge
from tdqs_mcp.app.settings import Settings, read_settings
from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.judges.asking import complete_all
from tdqs_mcp.judges.budget import Budget, Ledger
from tdqs_mcp.judges.endpoint import Endpoint
from tdqs_mcp.judges.judge import SILENT, Request, Usage
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.judges.openai import OpenAI
from tdqs_mcp.judges.prompted import Prompted
from tdqs_mcp.judges.verdict_guard import VerdictGuard
from tdqs_mcp.results.verdicts import JudgeStamp, Tier, Ungraded, Verdict
from tdqs_mcp.rubrics.prompt import Prompt, PromptForm, render
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.score import set_case, tool_cases
from tdqs_mcp.store.judgements import Judgements

PATIENT = 3600.0
"""Seconds of back-off that no test could wait: whoever finishes did not use it."""


def numbered(number):
    """A vector of its own for each early tool."""
    return [1 + (number >> bit & 1) for bit in range(6)]


GOOD = USUAL["tdqs"]
WRONG = tdqs(9, 4, 4, 4, 4, 4)
COHERENT = justified("coherence", 5, 4, 4, 4)
PUBLISHED = {"get_calls": (5, 5, 3, 3, 5, 5), "update_drive": (4, 2, 2, 3, 4, 2), "process_all": (1, 1, 1, 1, 2, 1)}


def says(content, *, finish="stop", **message):
    return JSONResponse({"choices": [{"finish_reason": finish, "message": {"content": content, **message}}]})


def counted(content, usage):
    return JSONResponse({"choices": [{"message": {"content": content}}], "usage": usage})


def error(status, message="no", **headers):
    return JSONResponse(
        {"error": {"message": message}}, status, {name.replace("_", "-"): value for name, value in headers.items()}
    )


def by_form(form, *, status, message="unknown field"):
    """An endpoint that knows no json_schema, only json_object."""
    return error(status, message) if form == "json_schema" else says(GOOD)


def odd_text(charset):
    """What a codec that is none for text makes of it is an error of any kind."""
    return Response(b"\xff" * 70, 400, {"content-type": f"text/plain; charset={charset}"})


DATE = "Sat, 21 Nov 2026 05:00:00 GMT"
BEHAVIOUR = {
    "fenced": lambda n, form: says(f"```json\n{GOOD}\n```"),
    "thinking": lambda n, form: says(f"<think>\nA draft: {WRONG}\n</think>\n\n{GOOD}"),
    "thinking_for_ever": lambda n, form: says(f"<think>A draft: {GOOD}"),
    "talkative": lambda n, form: says(f"Here is my judgement:\n```json\n{GOOD}\n```\nAsk if you need more."),
    "two_objects": lambda n, form: says(f"Either {GOOD} or {GOOD}"),
    "html_first": lambda n, form: HTMLResponse("<h1>Bad gateway</h1>") if n == 1 else says(GOOD),
    "cut_first": lambda n, form: HTMLResponse('{"choices": [', media_type="application/json") if n == 1 else says(GOOD),
    "overloaded": lambda n, form: error(529, "overloaded") if n == 1 else says(GOOD),
    "counted": lambda n, form: counted(
        GOOD, {"prompt_tokens": 900, "completion_tokens": 70, "prompt_tokens_details": {"cached_tokens": 800}}
    ),
    "priced": lambda n, form: counted(
        GOOD, {"prompt_tokens": 900, "cost": 0.25, "prompt_tokens_details": {"cache_write_tokens": 7}}
    ),
    "oddly_priced": lambda n, form: counted(GOOD, {"prompt_tokens": 900, "cost": {"total": 1}}),
    "miscounted": lambda n, form: counted(GOOD, {"prompt_tokens": "many"}),
    "overcounted": lambda n, form: counted(GOOD, {"prompt_tokens": 10**30, "completion_tokens": 7}),
    "counted_by_truth": lambda n, form: counted(GOOD, {"prompt_tokens": True, "cost": True}),
    "in_parts": lambda n, form: counted(
        [{"type": "text", "text": GOOD[:40]}, {"type": "text", "text": GOOD[40:]}, {"type": "image"}],
        {"prompt_tokens": 900, "completion_tokens": 70},
    ),
    "useless": lambda n, form: JSONResponse({"choices": [], "usage": {"prompt_tokens": 900, "cost": 0.5}}),
    **{f"in_{name}": lambda n, form, v=name: odd_text(v) for name in ("rot13", "undefined", "idna", "hex")},
    **{
        f"dated_{number}": lambda n, form, v=dates: error(429, **v)
        for number, dates in enumerate(
            [
                {"retry_after": "Sat, 21 Nov 2026 05:00:00 +99999999999999", "date": DATE},
                {"retry_after": DATE, "date": "Sat, 21 Nov 2026 05:00:00 +99999999999999"},
                {"retry_after": "Fri, 31 Dec 9999 23:59:59 GMT", "date": DATE},
                {"retry_after": "999999999"},
                {"retry_after": "9" * 400},
                {"retry_after": "-5"},
            ]
        )
    },
    "limited_once": lambda n, form: error(429, retry_after="1") if n == 1 else says(GOOD),
    "limited_always": lambda n, form: error(429, retry_after="1"),
    "limited_in_a_hurry": lambda n, form: error(429, retry_after="0.1"),
    "mended": lambda n, form: says(WRONG if n == 1 else GOOD),
    "stubborn": lambda n, form: says(WRONG),
    "prose": lambda n, form: says("I would give it a four."),
    "limited": lambda n, form: error(429, retry_after="0") if n == 1 else says(GOOD),
    "limited_until": lambda n, form: error(429, date=DATE, retry_after=DATE) if n == 1 else says(GOOD),
    "limited_for_long": lambda n, form: error(429, "slow down", retry_after="3600"),
    "shaky": lambda n, form: error(500) if n == 1 else says(GOOD),
    "down": lambda n, form: error(503, "maintenance"),
    "html": lambda n, form: HTMLResponse("<h1>Sign in</h1>"),
    "error_with_200": lambda n, form: JSONResponse({"error": {"message": "upstream is out of credit"}}),
    "truncated": lambda n, form: says(GOOD[:40], finish="length"),
    "refused": lambda n, form: says(None, refusal="I cannot judge this."),
    "filtered": lambda n, form: says(None, finish="content_filter"),
    "empty": lambda n, form: says("  "),
    "unauthorized": lambda n, form: error(401, f"bad key {KEY}"),
    "too_long": lambda n, form: error(400, "the prompt exceeds the context size"),
    "form_400": lambda n, form: by_form(form, status=400),
    "form_422": lambda n, form: by_form(form, status=422),
    "form_500": lambda n, form: by_form(form, status=500, message="response_format.type: 'text' or 'json_object'"),
    "form_500_mute": lambda n, form: by_form(form, status=500),
    "formless": lambda n, form: error(400) if form else says(GOOD),
    **{name: lambda n, form, v=vector: says(tdqs(*v)) for name, vector in PUBLISHED.items()},
}


class Fake(Behaving):
    """An OpenAI-compatible endpoint."""

    def __init__(self):
        self.arrived = []
        self.most_at_once = 0
        self._at_once = 0
        self._full = None
        self._last = None
        super().__init__([Route("/v1/chat/completions", self._complete, methods=["POST"])])
        self.base_url = f"{self.address}/v1"

    def forms(self, name):
        return [body.get("response_format", {}).get("type") for body in self.bodies(name)]

    async def _complete(self, request):
        body = json.loads(await request.body())
        name = tool_name(body) or "(set)"
        self.requests.append((name, dict(request.headers), body))
        if name == "(set)":
            return says(COHERENT)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            return await self._behave(name, body, request)
        finally:
            self._at_once -= 1

    async def _behave(self, name, body, request):
        if self.is_repaired:
            return says(GOOD)
        asked, name = name, name.partition("__")[0]
        if name == "hanging":
            while (await request.receive())["type"] != "http.disconnect":
                pass
        if name.startswith("paired"):
            await self.meet()
        if name.startswith("early") or name == "late":
            await self._answer_backwards(is_last=name == "late")
        if name.startswith("early_"):
            return says(tdqs(*numbered(int(name.removeprefix("early_")))))
        if name == "busy":
            return await self._refuse_first()
        behave = BEHAVIOUR.get(name, lambda n, form: says(GOOD))
        return behave(len(self.bodies(asked)), body.get("response_format", {}).get("type"))

    async def _refuse_first(self):
        """What is asked beside the first request is answered long after the refusal, so that it is read after it."""
        self.arrived.append(time.monotonic())
        if len(self.arrived) == 1:
            return error(429, retry_after="1")
        await anyio.sleep(0.2)
        return says(GOOD)

    async def _answer_backwards(self, *, is_last):
        """Early requests are answered after the late one, and that one once all sixteen are here."""
        self._full = self._full or anyio.Event()
        self._last = self._last or anyio.Event()
        if self._at_once == 16:
            self._full.set()
        if is_last:
            await self._full.wait()
            self._last.set()
        await self._last.wait()


@pytest.fixture
def fake():
    endpoint = Fake()
    yield endpoint
    endpoint.close()


def endpoint_of(fake, **changes):
    standard = Endpoint(base_url=fake.base_url, model="m-1", api_key=KEY, timeout=30, backoff=0)
    return replace(standard, **changes)


def judge_of(fake, **changes):
    return Prompted(id="openai", model=OpenAI(endpoint_of(fake, **changes)))


def grade(judge, catalog):
    return anyio.run(judge.grade, tool_cases(measure(catalog)))


@pytest.fixture
def outcome(fake, catalog):
    return lambda name, **changes: one_of_three(judge_of(fake, **changes), catalog, name)


RECOVERING = [
    *("good", "fenced", "talkative", "thinking", "miscounted", "in_parts"),
    *("shaky", "overloaded", "html_first", "cut_first"),
    *("form_400", "form_422", "form_500", "form_500_mute", "formless"),
]
HOPELESS = [
    *("stubborn", "prose", "down", "html", "error_with_200", "thinking_for_ever", "two_objects"),
    *("truncated", "refused", "filtered", "empty", "unauthorized", "too_long", "limited_for_long"),
]


@pytest.mark.parametrize("name", RECOVERING)
def test_a_usable_answer_becomes_a_verdict(outcome, name):
    result = outcome(name)
    assert isinstance(result, Verdict)
    assert [judgement.score for judgement in result.judgements.values()] == [2, 2, 3, 4, 3, 3]
    assert result.summary == "All said."


@pytest.mark.parametrize(
    ("name", "requests", "words"),
    [
        (
            "stubborn",
            3,
            "3 answers of 'm-1' broke the output format, the last one because scores.purpose_clarity.score",
        ),
        ("prose", 3, "the answer is not JSON"),
        ("down", 3, "HTTP 503 (maintenance): the endpoint is at fault"),
        ("html", 3, "no chat completion (an HTML page): check TDQS_BASE_URL"),
        ("error_with_200", 3, "upstream is out of credit"),
        ("thinking_for_ever", 1, "answered with no text: turn its reasoning off"),
        ("two_objects", 3, "the answer is not JSON"),
        ("truncated", 1, "cut off after 40 characters: raise its token limit"),
        ("refused", 1, "refused to answer (I cannot judge this.)"),
        ("filtered", 1, "refused to answer (content filter)"),
        ("empty", 1, "answered with no text"),
        ("unauthorized", 1, "HTTP 401 (bad key [key]): check TDQS_API_KEY"),
        ("too_long", 3, "HTTP 400 (the prompt exceeds the context size): check the model and TDQS_REQUEST_OVERRIDES"),
        ("limited_for_long", 1, "asked to wait 3600 s (slow down): wait, or use an endpoint with a higher limit"),
        ("limited_in_a_hurry", 3, "asked to wait 0.1 s (no): wait, or use an endpoint with a higher limit"),
        *((f"in_{charset}", 3, "answered HTTP 400 (\ufffd") for charset in ("rot13", "undefined", "idna", "hex")),
        *((f"dated_{number}", 3, "answered HTTP 429 (no): wait, or use") for number in range(6)),
    ],
)
def test_without_an_answer_one_tool_is_ungraded_and_the_reason_says_what_to_change(
    outcome, fake, name, requests, words
):
    result = outcome(name)
    assert isinstance(result, Ungraded)
    assert result.judge == "openai"
    assert words in result.reason
    assert len(fake.bodies(name)) == requests


@pytest.mark.process
def test_of_200_tools_each_that_ever_got_a_good_answer_is_scored_and_a_resume_asks_for_the_rest_alone(
    fake, catalog, tmp_path
):
    behaviours = [*RECOVERING, "mended", "limited", "limited_until", *HOPELESS]
    names = [f"{behaviours[number % len(behaviours)]}__{number}" for number in range(199)] + ["hanging__199"]
    good = {name for name in names if name.partition("__")[0] not in (*HOPELESS, "hanging")}

    def run(timeout):
        cache = Judgements(tmp_path, warn=pytest.fail)
        model = OpenAI(endpoint_of(fake, timeout=timeout))
        judge = Prompted(id="openai", model=model, cache=cache, parameters=model.parameters)
        guard = VerdictGuard(judge=judge, accepted=ACCEPT_ALL)
        return anyio.run(lambda: judging.score(catalog(*map(tool, names)), judge=guard))

    first = run(8.0)
    assert {each.name for each in first.tools} == good
    assert {each.name for each in first.ungraded} == set(names) - good
    assert all(each.ungraded.reason for each in first.ungraded)
    fake.requests.clear()
    fake.is_repaired = True
    assert len(run(30).tools) == 200
    assert sorted(name for name, _, _ in fake.requests) == sorted(set(names) - good)


def test_a_wrong_answer_goes_back_with_the_reason(outcome, fake):
    assert isinstance(outcome("mended"), Verdict)
    first, second = fake.bodies("mended")
    assert second["messages"][:2] == first["messages"]
    answer, objection = second["messages"][2:]
    assert answer == {"role": "assistant", "content": WRONG}
    assert objection["role"] == "user"
    assert "scores.purpose_clarity.score: must be" in objection["content"]


@pytest.mark.parametrize("name", ["limited", "limited_until"])
def test_retry_after_counts_more_than_the_back_off(outcome, fake, name):
    assert isinstance(outcome(name, backoff=PATIENT), Verdict)
    assert len(fake.bodies(name)) == 2


def test_a_wait_that_the_endpoint_asks_for_is_no_failed_try(outcome, fake):
    assert isinstance(outcome("limited_once", backoff=PATIENT, attempts=1), Verdict)
    assert len(fake.bodies("limited_once")) == 2


def test_waits_end_with_the_time_of_the_request(outcome, fake):
    result = outcome("limited_always", timeout=1.5)
    assert "HTTP 429, and asked to wait 1 s" in result.reason
    assert len(fake.bodies("limited_always")) == 2


def test_while_the_endpoint_wants_to_be_left_alone_nobody_asks_it(fake, catalog):
    results = grade(judge_of(fake, concurrency=2), catalog(*(tool(f"busy__{number}") for number in range(6))))
    assert [type(each) for each in results] == [Verdict] * 6
    at_once = [each for each in fake.arrived if each < fake.arrived[0] + 0.9]
    assert (len(fake.arrived), len(at_once) <= 2) == (7, True), "one asked, and one that was on its way"


def test_whatever_one_answer_does_to_what_reads_it_the_others_are_read():
    class Odd(OpenAI):
        async def ask(self, client, request):
            if request.name == "odd":
                raise AssertionError("of a library")
            return "good"

    requests = [replace(SILENT, name=name) for name in ("a", "odd", "b")]
    model = Odd(Endpoint(base_url="http://127.0.0.1:9/v1", model="m"))
    before, odd, after = anyio.run(complete_all, model, requests)
    assert (before, after) == ("good", "good")
    assert "gave an answer that cannot be read (AssertionError: of a library)" in odd.reason


def test_a_hanging_answer_ends_at_the_limit(outcome, fake):
    result = outcome("hanging", timeout=0.5)
    assert result == Ungraded(
        judge="openai",
        reason=f"{fake.base_url}/chat/completions gave no answer within 0.5 s: set TDQS_CONCURRENCY to how many requests "
        "it answers at once, raise TDQS_TIMEOUT, or use a faster one",
    )


def test_a_connection_that_breaks_is_tried_again(catalog):
    connections = []

    def hang_up(listener):
        for _ in range(3):
            connection, _ = listener.accept()
            connections.append(connection.recv(1))
            connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=hang_up, args=[listener])
        thread.start()
        endpoint = Endpoint(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", model="m", backoff=0)
        (result,) = grade(Prompted(id="openai", model=OpenAI(endpoint)), catalog(tool("a")))
        thread.join()
    assert "cannot be reached" in result.reason
    assert connections == [b"P"] * 3


def test_the_answer_format_that_worked_is_remembered(fake, catalog):
    judge = judge_of(fake)
    assert isinstance(grade(judge, catalog(tool("form_400")))[0], Verdict)
    assert isinstance(grade(judge, catalog(tool("form_400")))[0], Verdict)
    assert fake.forms("form_400") == ["json_schema", "json_object", "json_object"]
    assert (
        fake.bodies("form_400")[1]["response_format"]["schema"]
        == fake.bodies("form_400")[0]["response_format"]["json_schema"]["schema"]
    )


def test_a_request_that_fails_in_every_format_changes_no_other(fake, catalog):
    judge = judge_of(fake)
    grade(judge, catalog(tool("too_long")))
    grade(judge, catalog(tool("good")))
    assert fake.forms("too_long") == ["json_schema", "json_object", None]
    assert fake.forms("good") == ["json_schema"]


def test_verdicts_keep_the_order_of_the_tools_whoever_answers_first(fake, catalog):
    early = [tool(f"early_{number}") for number in range(15)]
    tools = catalog(tool("good"), *early, tool("late"), tool("stubborn"))
    _, *verdicts, late, stubborn = grade(judge_of(fake), tools)
    for number, verdict in enumerate(verdicts):
        assert [judgement.score for judgement in verdict.judgements.values()] == numbered(number)
    assert isinstance(late, Verdict)
    assert isinstance(stubborn, Ungraded)
    assert fake.most_at_once == 16


class Mute(OpenAI):
    """Answers nobody before `told` is set, and then that the key is wrong."""

    def __init__(self, ledger):
        super().__init__(Endpoint(base_url="http://127.0.0.1:9/v1", model="m-1", timeout=86_400), ledger=ledger)
        self.requests, self.told = 0, anyio.Event()

    async def ask(self, client, request):
        self.requests += 1
        await self.told.wait()
        return self.parsed(httpx2.Response(401), BaseModel, called="message")


def test_however_long_the_first_answers_take_a_wrong_key_is_told_by_four():
    """The clock jumps half a day while they are awaited: no wait of ours may let others go out."""

    async def ask_fifty():
        model = Mute(Ledger(Budget(), lambda *_: None, may_resume=False))
        loop, failures = asyncio.get_running_loop(), []
        request = Request(prompt=Prompt(system="", user=""), name="verdict", schema={})

        async def ask():
            failures.append(await model.complete(request))

        async with anyio.create_task_group() as tasks:
            for _ in range(50):
                tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            clock = loop.time
            loop.time = lambda: clock() + 43_200
            loop.call_soon(int)  # wakes the loop, which looks at its clock
            for _ in range(3):
                await checkpoint()
            await anyio.wait_all_tasks_blocked()
            model.told.set()
        return model.requests, failures

    requests, failures = anyio.run(ask_fifty)
    assert requests == 4
    assert all("HTTP 401" in failure.reason for failure in failures)
    assert len(failures) == 50


def test_no_more_requests_are_under_way_than_allowed(fake, catalog):
    outcomes = grade(judge_of(fake, concurrency=2), catalog(*(tool(f"paired_{number}") for number in range(6))))
    assert all(isinstance(each, Verdict) for each in outcomes)
    assert fake.most_at_once == 2


def test_a_request_carries_the_published_prompt_and_the_schema_of_its_answer(fake, catalog):
    measured = measure(catalog(tool("good", schema=flat(2))))
    judge = replace(judge_of(fake, overrides={"max_tokens": 900, "temperature": None}), form=PromptForm.EXACT)
    anyio.run(judge.grade, [*tool_cases(measured), set_case(measured)])
    ((_, headers, body),) = [asked for asked in fake.requests if asked[0] == "good"]
    prompt = render(tool_cases(measured)[0])
    assert body["messages"] == [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
    assert (body["model"], body["max_tokens"], "temperature" in body) == ("m-1", 900, False)
    assert headers["authorization"] == f"Bearer {KEY}"
    (coherence,) = fake.bodies("(set)")
    for key, sent, dimensions in (("tdqs", body, 6), ("coherence", coherence, 4)):
        form = sent["response_format"]
        assert (form["json_schema"]["name"], form["json_schema"]["strict"]) == (key, True)
        _assert_strict(form["json_schema"]["schema"])
        scores = form["json_schema"]["schema"]["properties"]["scores"]
        assert tuple(scores["required"]) == load(key).keys
        assert [each["properties"]["score"]["enum"] for each in scores["properties"].values()] == [
            [1, 2, 3, 4, 5]
        ] * dimensions
    assert "annotation_contradiction" not in coherence["response_format"]["json_schema"]["schema"]["properties"]


def _assert_strict(schema):
    if schema["type"] == "object":
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
        for child in schema["properties"].values():
            _assert_strict(child)


def test_temperature_is_0_unless_overridden_and_a_set_format_is_left_alone(fake, catalog):
    grade(judge_of(fake), catalog(tool("good")))
    grade(judge_of(fake, overrides={"response_format": {"type": "mine"}}), catalog(tool("too_long")))
    assert fake.bodies("good")[0]["temperature"] == 0
    assert fake.forms("too_long") == ["mine"]


def test_a_lone_surrogate_in_a_definition_reaches_the_model(fake, catalog):
    (result,) = grade(judge_of(fake), catalog(tool("good", "Odd \ud800 text.")))
    assert isinstance(result, Verdict)
    assert "Odd \ud800 text." in fake.bodies("good")[0]["messages"][1]["content"]


@pytest.mark.parametrize("name", ["good", "unauthorized", "down"])
def test_the_key_travels_in_one_header_and_is_told_nobody(fake, catalog, caplog, name):
    caplog.set_level(logging.DEBUG)
    judge = judge_of(fake)
    results = grade(judge, catalog(tool(name)))
    settings = read_settings({}, judge="openai:m", base_url=fake.base_url, api_key=KEY)
    for _, headers, body in fake.requests:
        assert [header for header, value in headers.items() if KEY in value] == ["authorization"]
        assert KEY not in json.dumps(body)
    told = [repr(results), repr(judge), repr(judge.stamp), repr(settings), repr(make_judge(settings))]
    logged = [record.getMessage() + repr(vars(record)) for record in caplog.records]
    assert logged
    assert not [text for text in told + logged if KEY in text]


@pytest.mark.parametrize(
    "echoed", ["{key}", "{upper}", "%22{quoted}%22", '{{"error": {{"message": "key {key}"}}}}', "Bearer {key} {gate}"]
)
def test_an_endpoint_that_echoes_a_secret_does_not_bring_it_to_light(fake, catalog, echoed):
    key, gate = 'sk-a+b/c="d"-0123456789', "gate-0123456789abcdef"
    words = echoed.format(key=key, upper=key.upper(), quoted=quote(key, safe=""), gate=gate)
    BEHAVIOUR["echoing"] = lambda n, form: PlainTextResponse(words, 401)
    judge = judge_of(fake, api_key=key, overrides={"extra": [{"gateway": gate}]})
    (result,) = grade(judge, catalog(tool("echoing")))
    assert "[key]" in result.reason
    assert not [part for part in ("0123456789", quote("sk-a+b/c", safe="")) if part in result.reason]


def test_a_password_in_an_address_is_told_nobody(command, write):
    environ = {"TDQS_BASE_URL": "https://me:hunter2@host/v1"}
    settings = read_settings(environ, judge="openai:m")
    with pytest.raises(InputError) as caught:
        make_judge(settings)
    done = command(
        "score", write("c.json", [tool()]), "--judge", "openai:m", "--base-url", "https://me:hunter2@host/v1"
    )
    assert done.returncode == 2
    assert "hunter2" not in f"{settings!r}{caught.value}{done.stderr.decode()}{done.stdout.decode()}"


def test_requests_and_tokens_are_counted_where_the_endpoint_tells_them(fake, catalog):
    judge = judge_of(fake)
    grade(judge, catalog(tool("counted"), tool("shaky"), tool("miscounted")))
    assert judge.usage == Usage(requests=4, input_tokens=900, cache_read_tokens=800, output_tokens=70, cost=None)


def test_an_answer_in_parts_counts_and_so_does_one_of_no_use(fake, catalog):
    judge = judge_of(fake)
    grade(judge, catalog(tool("in_parts")))
    assert judge.usage == Usage(requests=1, input_tokens=900, output_tokens=70, cost=None)
    judge = judge_of(fake)
    grade(judge, catalog(tool("useless")))
    assert judge.usage == Usage(requests=3, input_tokens=2700, cost=1_500_000_000)


def test_a_count_beyond_reason_is_none(fake, catalog):
    judge = judge_of(fake)
    grade(judge, catalog(tool("overcounted"), tool("counted_by_truth")))
    assert judge.usage == Usage(requests=2, cost=None)


def test_a_cost_is_known_where_every_answer_tells_it(fake, catalog):
    judge = judge_of(fake)
    grade(judge, catalog(tool("priced"), tool("priced", "Twice."), tool("down")))
    assert judge.usage == Usage(requests=5, input_tokens=1800, cache_write_tokens=14, cost=500_000_000)
    grade(judge, catalog(tool("oddly_priced")))
    assert (judge.usage.input_tokens, judge.usage.cost) == (2700, None)


def test_the_command_says_on_standard_error_what_was_asked(fake, write, command):
    file = write("shop.json", [tool("counted")])
    run = command(
        "score", file, "--judge", "openai:m", "--base-url", fake.base_url, "--format", "json", "--accept", "*"
    )
    assert run.returncode == 0
    said = "judge: 2 requests, 900 input tokens (800 cached), 70 output tokens, at an unknown price\n"
    assert run.stderr.decode() == said
    assert "judge: " not in command("score", file).stderr.decode()


def test_without_a_key_there_is_no_authorization(fake, catalog):
    assert isinstance(grade(judge_of(fake, api_key=None), catalog(tool("good")))[0], Verdict)
    assert "authorization" not in fake.requests[0][1]


def test_the_published_examples_score_as_published(fake, catalog):
    examples = catalog(*map(tool, PUBLISHED), tool("stubborn"), tool("silent", None))
    judge = VerdictGuard(judge=judge_of(fake), accepted=ACCEPT_ALL)
    score = anyio.run(lambda: judging.score(examples, judge=judge))
    assert [(each.name, each.tdqs, each.tier) for each in score.tools] == [
        ("get_calls", 43, Tier.A),
        ("update_drive", 29, Tier.C),
        ("process_all", 11, Tier.D),
        ("silent", 10, Tier.D),
    ]
    assert [each.name for each in score.ungraded] == ["stubborn"]
    assert score.judge == JudgeStamp(id="openai", version="1", model="m-1", prompt="hardened")
    assert score.rollup.coherence == 43
    assert fake.bodies("silent") == []


def test_a_server_without_tools_asks_nobody(fake, catalog):
    score = anyio.run(lambda: judging.score(catalog(), judge=judge_of(fake)))
    assert isinstance(score.coherence, Ungraded)
    assert fake.requests == []


@pytest.mark.process
def test_importing_the_judge_loads_no_network_stack():
    code = "import sys, tdqs_mcp.judges.openai, tdqs_mcp.app.settings; print({'httpx2', 'anyio', 'tenacity'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


FULL = {
    "TDQS_JUDGE": "openai",
    "TDQS_BASE_URL": "http://127.0.0.1:1/v1",
    "TDQS_API_KEY": f" {KEY}\n",
    "TDQS_MODEL": "from-environment",
    "TDQS_REQUEST_OVERRIDES": '{"max_tokens": 5}',
}


def test_the_environment_configures_a_judge_that_it_names():
    settings = read_settings(FULL)
    assert (settings.judge, settings.base_url, settings.model) == (
        "openai",
        "http://127.0.0.1:1/v1",
        "from-environment",
    )
    assert (settings.api_key, settings.request_overrides) == (KEY, {"max_tokens": 5})
    assert make_judge(settings).stamp == JudgeStamp(
        id="openai", version="1", model="from-environment", prompt="hardened"
    )


def test_an_endpoint_that_answers_one_at_a_time_is_asked_so_and_given_the_time_it_needs(fake, catalog):
    environ = {"TDQS_CONCURRENCY": "2", "TDQS_TIMEOUT": "0.5", "TDQS_CACHE": "off"}
    judge = make_judge(read_settings(environ, judge="openai:m", base_url=fake.base_url))
    *paired, hanging = grade(judge, catalog(*(tool(f"paired_{number}") for number in range(6)), tool("hanging")))
    assert [type(each) for each in paired] == [Verdict] * 6
    assert fake.most_at_once == 2
    assert "no answer within 0.5 s: set TDQS_CONCURRENCY to how many requests it answers at once" in hanging.reason


def test_a_stray_key_does_not_name_a_judge():
    stray = FULL | {"TDQS_JUDGE": " ", "TDQS_REQUEST_OVERRIDES": "broken", "TDQS_CONCURRENCY": "x"}
    for environ in ({}, stray):
        assert read_settings(environ) == Settings()
        assert isinstance(make_judge(read_settings(environ)), Offline)
    assert read_settings(FULL, judge="offline") == Settings()


@pytest.mark.parametrize(
    ("explicit", "model"),
    [
        ({"model": "flag"}, "flag"),
        ({"judge": "openai:named"}, "named"),
        ({"judge": "openai:llama3:8b"}, "llama3:8b"),
        ({"judge": "openai:named", "model": "flag"}, "flag"),
        ({"judge": "openai"}, "from-environment"),
    ],
)
def test_explicit_values_win_over_the_environment(explicit, model):
    assert read_settings(FULL, **explicit).model == model


def test_every_explicit_value_wins():
    settings = read_settings(FULL, base_url="http://b/v1", api_key="other", request_overrides={})
    assert (settings.base_url, settings.api_key, settings.request_overrides) == ("http://b/v1", "other", {})


def test_a_model_in_the_judges_name_comes_before_tdqs_model():
    assert read_settings(FULL | {"TDQS_JUDGE": "openai:named"}).model == "named"


@pytest.mark.parametrize(
    ("environ", "explicit", "words"),
    [
        (
            {},
            {"judge": "gpt"},
            "there is no judge 'gpt'; set --judge or TDQS_JUDGE to offline[:CALIBRATION], anthropic[:MODEL], openai[:MODEL] or jury:",
        ),
        ({}, {"judge": "offline:x"}, "there is no calibration 'x' of the offline judge"),
        ({}, {"judge": "openai:"}, "openai: names no model"),
        (
            {},
            {"model": "m"},
            "the offline judge takes no model: leave it out, or name another --judge: offline[:CALIBRATION], anthropic",
        ),
        ({}, {"judge": "openai:m"}, "set TDQS_BASE_URL or --base-url"),
        ({}, {"judge": "openai", "base_url": "http://h"}, "say --judge openai:MODEL, or set TDQS_MODEL"),
        (FULL | {"TDQS_REQUEST_OVERRIDES": "[1]"}, {}, "TDQS_REQUEST_OVERRIDES must be a JSON object"),
        (FULL | {"TDQS_REQUEST_OVERRIDES": "{"}, {}, "TDQS_REQUEST_OVERRIDES must be a JSON object"),
        (FULL | {"TDQS_REQUEST_OVERRIDES": '{"a": NaN}'}, {}, "correct TDQS_REQUEST_OVERRIDES"),
        (FULL | {"TDQS_REQUEST_OVERRIDES": '{"stream": true}'}, {}, "cannot set 'stream'"),
        (FULL | {"TDQS_API_KEY": f"{KEY}\u2026"}, {}, "set TDQS_API_KEY again"),
        (FULL | {"TDQS_API_KEY": f"{KEY}\nX: y"}, {}, "set TDQS_API_KEY again"),
        (FULL | {"TDQS_BASE_URL": f"https://u:{KEY}@h/v1"}, {}, "put a key into TDQS_API_KEY"),
        (FULL | {"TDQS_BASE_URL": f"https://h/v1?key={KEY}"}, {}, "put a key into TDQS_API_KEY"),
        (FULL | {"TDQS_BASE_URL": "localhost:11434"}, {}, "must look like https://host/v1"),
        (FULL | {"TDQS_CONCURRENCY": "two"}, {}, "TDQS_CONCURRENCY must be a whole number"),
        (FULL | {"TDQS_CONCURRENCY": "65"}, {}, "1 to 64 requests under way and up to 86400 s for each"),
        (FULL | {"TDQS_TIMEOUT": "0"}, {}, "set TDQS_CONCURRENCY and TDQS_TIMEOUT"),
        (FULL | {"TDQS_TIMEOUT": "nan"}, {}, "set TDQS_CONCURRENCY and TDQS_TIMEOUT"),
    ],
)
def test_what_cannot_work_is_refused_and_says_what_to_set(environ, explicit, words):
    with pytest.raises(InputError) as caught:
        make_judge(read_settings(environ, **explicit))
    assert words in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_base_url_may_be_the_whole_address(fake, catalog):
    judge = judge_of(fake, base_url=f"{fake.base_url}/chat/completions/")
    assert isinstance(grade(judge, catalog(tool("good")))[0], Verdict)
