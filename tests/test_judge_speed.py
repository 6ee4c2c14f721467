"""How fast a remote judge is: as a ratio to the oracle's client and to bare sockets, on one endpoint, in one run."""

import asyncio
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import anyio
import httpx  # the oracle's HTTP library, not ours
import pytest
from definitions import flat, tool
from tdqs import score_server
from tdqs.create_llm_client import create_llm_client
from tdqs.parse_tool_definitions import parse_tool_definitions

from tdqs_mcp.app import catalogs, judging
from tdqs_mcp.app.judge_factory import make_judge
from tdqs_mcp.app.settings import read_settings

AT_ONCE = 16
ROUNDS = 2
TOOLS = [tool(f"get_order_{number}", f"Gets order {number} of a customer.", flat(2)) for number in range(200)]


@pytest.fixture
def port():
    """An endpoint in a process of its own, so that its work is nobody's."""
    script = Path(__file__).with_name("slow_endpoint.py")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE) as process:
        yield int(process.stdout.readline())
        process.terminate()


async def bare(port):
    """The same requests over sockets, with nothing read or understood: what the endpoint and the machine allow."""
    left = [b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 9000\r\n\r\n" + b"a" * 9000] * (len(TOOLS) + 1)

    async def connection():
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while left:
            writer.write(left.pop())
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.partition(b"content-length:")[2].partition(b"\r")[0]))
        writer.close()

    await asyncio.gather(*(connection() for _ in range(AT_ONCE)))


def timed(work):
    begun = perf_counter()
    work()
    return perf_counter() - begun


def test_a_judgement_over_http_takes_no_longer_than_the_oracle_s_and_keeping_it_costs_little(
    port, check_ratio, tmp_path
):
    catalog, definitions = catalogs.read(TOOLS), parse_tool_definitions(TOOLS).tools
    base_url = f"http://127.0.0.1:{port}/v1"

    def judge(cache="off"):
        environ = {"TDQS_CACHE": str(cache)}
        return make_judge(read_settings(environ, judge="openai:m", base_url=base_url, accept=("*",)))

    def ours(judge):
        assert len(anyio.run(lambda: judging.score(catalog, judge=judge)).tools) == len(TOOLS)

    def theirs():
        with httpx.Client() as http:
            oracle = create_llm_client(api_key="k", base_url=base_url, http_client=http, model="m")
            report = score_server(concurrency=AT_ONCE, llm=oracle, server_name="x", tools=definitions)
        assert len(report.tools) == len(TOOLS)

    plain = judge()
    ours(plain)  # imports and what else is done once
    runs = [
        (
            timed(lambda: asyncio.run(bare(port))),
            timed(lambda: ours(plain)),
            timed(lambda number=number: ours(judge(tmp_path / str(number)))),
            timed(theirs),
        )
        for number in range(ROUNDS)
    ]
    floor, mine, kept, peer = (min(times) for times in zip(*runs, strict=True))
    assert plain.usage.requests == (1 + ROUNDS) * (len(TOOLS) + 1)
    assert plain.usage.cache_read_tokens == 2000 * plain.usage.requests
    check_ratio(mine / floor, at_most=1.3)
    check_ratio(mine / peer, at_most=1.1)
    check_ratio(kept / mine, at_most=1.4)
