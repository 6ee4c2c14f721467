"""Applications on loopback, each in a thread of its own; one of them is an OpenAI-compatible endpoint."""

import json
import re
import socket
import threading

import anyio
import uvicorn
from definitions import tool
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tdqs_mcp.facts.subject import measure
from tdqs_mcp.results.verdicts import Acceptance, Verdict
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.score import tool_cases

KEY = "sk-loopback-0123456789abcdef"
"""What its tests call with; it takes any."""


def says(content, usage=None):
    choice = {"finish_reason": "stop", "message": {"content": content}}
    return JSONResponse({"choices": [choice]} | ({"usage": usage} if usage else {}))


def justified(key, *vector, words="So.", **more):
    scores = {name: {"score": n, "justification": words} for name, n in zip(load(key).keys, vector, strict=True)}
    return json.dumps({"scores": scores, **more, "summary": "All said."})


def tdqs(*vector, words="So.", contradiction=False):
    return justified("tdqs", *vector, words=words, annotation_contradiction=contradiction)


def plain(*vector, label="Good"):
    scores = dict(zip((each.asked_as for each in load("smells").dimensions), vector, strict=True))
    return json.dumps({"scores": scores, "label": label, "reason": "So.", "improvement_needed": []})


USUAL = {
    "tdqs": tdqs(2, 2, 3, 4, 3, 3),
    "coherence": justified("coherence", 4, 4, 4, 4),
    "smells": plain(2, 2, 2, 2, 2, 2),
    "bundles": justified("bundles", 4, 4, 4, 4),
    "shadowing": '{"shadowing": []}',
    "skill": justified("skill", 4, 4, 4, 4, 4, 4, asks_for_credentials=False),
}
"""What a model may say of a poor definition: more than this above the offline estimate would be held as suspicious."""


ACCEPT_ALL = (Acceptance(),)
"""For tests of what happens to scores, whatever the offline estimate is."""


def rubric_of(body):
    return body["response_format"]["json_schema"]["name"]


def user(body):
    return next(message["content"] for message in body["messages"] if message["role"] == "user")


def unfenced(text):
    """A hardened prompt as it would be without its fences."""
    return re.sub(r"</?data-[0-9a-f]+>", "", text)


def tool_of(text):
    """The tool that a hardened or exact prompt asks about; nothing for a set or a skill."""
    found = re.search(r'^TOOL(?: NAME)?: (.*)$|"tool_name": "(.*)"', unfenced(text), re.MULTILINE)
    return (found[1] or found[2]) if found else ""


def tool_name(body):
    """The tool that a request's first message asks about."""
    return tool_of(user(body))


class Loopback:
    """Serves the routes until it is closed."""

    def __init__(self, routes):
        config = uvicorn.Config(Starlette(routes=routes), lifespan="off", ws="none", log_config=None, date_header=False)
        self._server = uvicorn.Server(config)
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],))
        self._thread.start()

    def close(self):
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


class Behaving(Loopback):
    """An endpoint of a model that behaves by the tool it is asked about; what it was asked stands in `requests`."""

    def __init__(self, routes):
        self.requests = []
        self.is_repaired = False
        self._pair = None
        super().__init__(routes)

    def bodies(self, name):
        return [body for asked, _, body in self.requests if asked == name]

    async def meet(self):
        """Goes on when two requests are here, or when a test has long given up."""
        if self._pair is None:
            self._pair = anyio.Event()
            with anyio.move_on_after(15):
                await self._pair.wait()
        else:
            self._pair.set()
            self._pair = None


def one_of_three(judge, catalog, name):
    """What happens to one tool between two good ones, which nothing may touch."""
    cases = tool_cases(measure(catalog(tool("good"), tool(name), tool("also_good"))))
    before, result, after = anyio.run(judge.grade, cases)
    assert isinstance(before, Verdict)
    assert isinstance(after, Verdict)
    return result


class Chat(Loopback):
    """Chat completions, or messages as Anthropic has them, by a function of the request; `bodies` has what was asked, `answer` may change while it runs and be a whole response."""

    def __init__(self):
        self.bodies = []
        self.headers = []
        self.answer = lambda body: USUAL[rubric_of(body)]
        self.hang_on = lambda body: False
        self.usage = None
        self._arrived = threading.Condition()
        chat = Route("/v1/chat/completions", self._complete, methods=["POST"])
        super().__init__([chat, Route("/v1/messages", self._message, methods=["POST"])])
        self.base_url = f"{self.address}/v1"

    def wait_for(self, count):
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.bodies) >= count, timeout=300)

    def asked(self):
        return sorted(tool_name(body) for body in self.bodies)

    async def _complete(self, request):
        answer = await self._answered(request)
        return answer if isinstance(answer, Response) else says(answer, self.usage)

    async def _message(self, request):
        content = [{"type": "text", "text": await self._answered(request)}]
        return JSONResponse({"type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn"})

    async def _answered(self, request):
        body = json.loads(await request.body())
        with self._arrived:
            self.bodies.append(body)
            self.headers.append(dict(request.headers))
            self._arrived.notify_all()
        if self.hang_on(body):
            while (await request.receive())["type"] != "http.disconnect":
                pass
        return self.answer(body)
