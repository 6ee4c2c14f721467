"""How fast a remote judge is: as a ratio against the oracle's client, on the same endpoint at the same time."""

import json
from time import perf_counter

import anyio
import httpx  # the oracle's HTTP library, not ours
import pytest
from definitions import flat, tool
from loopback import Loopback
from starlette.responses import JSONResponse
from starlette.routing import Route
from tdqs import score_server
from tdqs.create_llm_client import create_llm_client
from tdqs.parse_tool_definitions import parse_tool_definitions

from tdqs_mcp import app
from tdqs_mcp.judges.endpoint import Endpoint
from tdqs_mcp.judges.prompted import Prompted
from tdqs_mcp.judges.remote import OpenAI
from tdqs_mcp.reporters.usage import usage_line
from tdqs_mcp.rubrics.rubric import load

AT_ONCE = 16
LATENCY = 0.3
TOOLS = [tool(f"get_order_{number}", f"Gets order {number} of a customer.", flat(2)) for number in range(79)]
"""With the question about coherence, five rounds of 16."""


def completion(key, **more):
    scores = {name: {"score": 4, "justification": "So."} for name in load(key).keys}
    message = {"content": json.dumps({"scores": scores, **more, "summary": "All said."})}
    usage = {"prompt_tokens": 2300, "completion_tokens": 200, "prompt_tokens_details": {"cached_tokens": 2000}}
    return {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}


ANSWERS = {False: completion("tdqs", annotation_contradiction=False), True: completion("coherence")}


@pytest.fixture
def base_url():
    """An endpoint that always takes 0.3 s."""

    async def complete(request):
        body = await request.body()
        await anyio.sleep(LATENCY)
        return JSONResponse(ANSWERS[b"SERVER NAME" in body])

    loopback = Loopback([Route("/v1/chat/completions", complete, methods=["POST"])])
    yield f"{loopback.address}/v1"
    loopback.close()


def timed(work):
    begun = perf_counter()
    work()
    return perf_counter() - begun


def test_a_judgement_over_http_takes_no_longer_than_the_oracle_s_at_the_same_width(base_url, benchmark):
    catalog, definitions = app.read(TOOLS), parse_tool_definitions(TOOLS).tools
    judge = Prompted(id="openai", model=OpenAI(Endpoint(base_url=base_url, model="m", concurrency=AT_ONCE)))

    def ours():
        assert len(anyio.run(lambda: app.score(catalog, judge=judge)).tools) == len(TOOLS)

    def theirs():
        with httpx.Client() as http:
            oracle = create_llm_client(api_key="k", base_url=base_url, http_client=http, model="m")
            report = score_server(concurrency=AT_ONCE, llm=oracle, server_name="x", tools=definitions)
        assert len(report.tools) == len(TOOLS)

    benchmark.pedantic(ours, rounds=1)
    pairs = [(timed(ours), timed(theirs)) for _ in range(3)]
    ratio = min(mine for mine, _ in pairs) / min(peer for _, peer in pairs)
    ideal = min(mine for mine, _ in pairs) / (LATENCY * (len(TOOLS) + 1) / AT_ONCE)
    benchmark.extra_info.update(ratio=ratio, of_the_ideal=ideal, usage=usage_line(judge.usage))
    print(f"{ratio:.2f} of the oracle's time, {ideal:.2f} of the ideal; {usage_line(judge.usage)}")  # noqa: T201
    assert judge.usage.requests == 4 * (len(TOOLS) + 1)
    assert ratio <= 1.1
