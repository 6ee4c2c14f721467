"""The whole loop of an agent with a real client: score, plan, rewrite, answer questions, compare, score; what it costs."""

import json
import os
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client
from own_server import caller, over_stdio
from test_server_http import serving

from tdqs_mcp.facts.schema.tokens import estimate_tokens

pytestmark = [pytest.mark.anyio, pytest.mark.process]

SHARED = os.environ.get("TDQS_SHARED")
needs_catalogs = pytest.mark.skipif(not SHARED, reason="TDQS_SHARED is unset: the folder with the captured catalogs")
CATALOGS = {40: ("asana-roychri",), 117: ("cloudflare", "playwright", "clickhouse")}
"""Captured servers that have so many tools together."""


class Agent:
    """An agent that reads every answer and does what it says, and counts what it sends and reads."""

    def __init__(self, call):
        self._call = call
        self.calls = self.tokens = 0
        self.asked = set()

    async def call(self, name, **arguments):
        answer = await self._call(name, **arguments)
        self.calls += 1
        self.tokens += sum(
            estimate_tokens(json.dumps(each, ensure_ascii=False, separators=(",", ":"))) for each in (arguments, answer)
        )
        return answer

    async def improve(self, file):
        """From the first score to the last; gives back both."""
        before = await self.call("score_server", catalog=file)
        plan = await self.call("plan_improvements", catalog=before["catalog"], limit=100)
        assert "suggest_rewrite" in plan["next"]
        catalog, material, left = before["catalog"], {}, True
        while left:
            draft = await self.call("suggest_rewrite", catalog=catalog, **material)
            catalog, questions, material = draft["newCatalog"], draft["questions"], {}
            if not draft["remaining"]:
                texts = {each["text"] for each in questions}
                assert not texts & self.asked, "a question that was answered comes back"
                self.asked |= texts
                material = {"material": {"answers": {each["id"]: told(each["id"]) for each in questions}}}
            left = draft["remaining"] or questions
        compared = await self.call("compare_definitions", old=before["catalog"], new=catalog)
        assert compared["newCatalog"] == catalog
        assert "breaking" not in compared["impacts"]
        return before, await self.call("score_server", catalog=catalog)


TOLD = {
    "purpose": "Keeps the {0} of one workspace, with their names and dates.",
    "usage": "Use it when the workspace of the {0} is known; to find one, search first.",
    "behavior": "Nothing outside the {0} changes, and a second person sees it at once.",
    "returns": "Returns the {0} with ID, name and time of the last change.",
    "limit": "At most 100 of the {0} come in one answer.",
}
"""What an author says, of the length that authors write."""


def told(question):
    """The answer to a question by its id."""
    tool, _, about = question.partition(".")
    thing = tool.replace("_", " ").strip("*") or "entries"
    if about.endswith("Hint"):
        return "no"
    return TOLD.get(about, "ID of the {0}, as its address ends, such as 120455.").format(thing)


@pytest.fixture
def file(request, tmp_path):
    raw = [
        tool
        for name in CATALOGS[request.param]
        for tool in json.loads(Path(SHARED, "data", "catalogs", f"{name}.json").read_text(encoding="utf-8"))["tools"]
    ]
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(raw[: request.param]), encoding="utf-8")
    return path


@asynccontextmanager
async def connected(transport, mode, root):
    if transport == "stdio":
        async with over_stdio("--root", root, mode=mode) as client:
            yield caller(client)
    else:
        with serving("--root", str(root)) as (url, _):
            async with Client(url, mode=mode) as client:
                yield caller(client)


@needs_catalogs
@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize(
    ("file", "calls", "tokens"), [(40, 10, 25_000), (117, 15, 60_000)], indirect=["file"], ids=["40", "117"]
)
async def test_the_whole_loop_takes_few_calls_and_short_answers(file, calls, tokens, transport, mode):
    async with connected(transport, mode, file.parent) as call:
        agent = Agent(call)
        before, after = await agent.improve(file.name)
    scores = before["overallScore"], after["overallScore"]
    print(f"{transport} {mode}: {agent.calls} calls, {agent.tokens} tokens, {scores}, {len(agent.asked)} questions")  # noqa: T201  # the cost, for who runs with -rP
    assert after["overallScore"] > before["overallScore"]
    assert agent.calls <= calls
    assert agent.tokens <= tokens
