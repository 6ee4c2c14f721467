"""Published prompts are specification data: their bytes never change."""

from hashlib import sha256

import pytest
from definitions import tool

from tdqs_mcp.app import judging
from tdqs_mcp.rubrics.rubric import system_prompt

PINNED = {
    "tdqs": "bf676689fc19c699b1021fa6da65b8a274f0204d136729c12ff6ac9cc7993a33",
    "coherence": "fd324c05a2db437e87adc7d871409095c572e4b6d07fc23bb4043deca2eb92be",
}


@pytest.mark.parametrize("key", PINNED)
def test_the_published_system_prompts_are_carried_verbatim(key):
    assert sha256(system_prompt(key).encode()).hexdigest() == PINNED[key]


def test_the_coherence_prompt_is_the_published_template(catalog):
    prompt = judging.prompts(catalog(tool("a", "First\nline."), tool("b", None), name="shop"))["coherence"]
    assert prompt["user"] == (
        "SERVER NAME: shop\nTOOL COUNT: 2\n\n<tools>\n- a: First\nline.\n- b: (no description)\n</tools>\n\nRespond with JSON only."
    )


def test_a_description_cannot_fill_in_the_template_s_placeholders(catalog):
    prompt = judging.prompts(catalog(tool("a", "Shows {siblings} and {name} and {0}.")))["tools"][0]
    assert '"Shows {siblings} and {name} and {0}."' in prompt["user"]


def test_the_same_case_renders_the_same_bytes_and_another_one_another_hash(catalog):
    first, again, other = (judging.prompts(catalog(tool("a", text)))["tools"][0] for text in ("One.", "One.", "Two."))
    assert first == again
    assert first["promptHash"] != other["promptHash"]
