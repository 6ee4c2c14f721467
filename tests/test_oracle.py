"""Everything that TDQS defines as bytes or numbers equals Glama's package `tdqs`, the oracle."""

import itertools
import json
import random

import pytest
from definitions import CORNERS, tool
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback import ACCEPT_ALL
from tdqs import (
    TOOL_SCORING_SYSTEM_PROMPT,
    CostedTool,
    Justification,
    ServerCoherence,
    ToolDefinition,
    build_tool_scoring_prompt,
    compute_context_signals,
    compute_tdqs,
    compute_tier,
    evaluate_hard_gates,
    find_shadow_candidates,
    rollup_server_score,
    score_tool_definition,
)

from tdqs_mcp.app.catalogs import read
from tdqs_mcp.app.judging import answers_judge, score_blocking
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.results.verdicts import tier_of
from tdqs_mcp.rubrics.prompt import ToolCase, render
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.rollup import coherence_of, roll_up, tdqs
from tdqs_mcp.scoring.score import context_signals

TDQS = load("tdqs")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8) | st.floats(-1e15, 1e15),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=6), children, max_size=3),
    max_leaves=12,
)
KEYWORDS = st.sampled_from(
    ["type", "properties", "required", "items", "allOf", "anyOf", "oneOf", "not", "enum", "description"]
)
SCHEMAS = st.recursive(
    st.fixed_dictionaries({}, optional={"type": st.sampled_from(["object", "string", "null"]), "description": st.text(max_size=5), "$ref": st.sampled_from(["#/$defs/A", "#/$defs/B", "#/nowhere"])}),
    lambda children: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array"]),
            "properties": st.dictionaries(st.sampled_from("abc"), children, max_size=3),
            "required": st.lists(st.sampled_from("abcd"), max_size=3),
            "items": children,
            "not": children,
            **{key: st.lists(children, max_size=3) for key in ("allOf", "anyOf", "oneOf")},
            "$defs": st.fixed_dictionaries({"A": children, "B": children}),
        },
    ),
    max_leaves=14,
)  # fmt: skip


def assert_equal_to_the_oracle(definitions):
    """Signals, hashes, gates, prompts and shadow candidates of a whole catalog."""
    measured = measure(read({"tools": definitions}))
    assert len(measured.subjects) == len(definitions)
    theirs = [ToolDefinition.model_validate(definition) for definition in definitions]
    signals = [compute_context_signals(each) for each in theirs]
    for subject, their_tool, expected in zip(measured.subjects, theirs, signals, strict=True):
        assert context_signals(subject.signals, spec="1.2") == expected.model_dump(by_alias=True)
        gates = evaluate_hard_gates(their_tool)
        assert subject.signals.is_missing_description == gates.short_circuit
        assert subject.signals.restates_name == ("Tautological Description" in gates.flags)
        siblings = [name for name in measured.names if name != their_tool.name]
        prompt = render(ToolCase(subject=subject, names=measured.names))
        assert prompt.system == TOOL_SCORING_SYSTEM_PROMPT
        assert prompt.user == build_tool_scoring_prompt(
            context_signals=expected, sibling_tool_names=siblings, tool=their_tool
        )
    costed = [
        CostedTool(name=each.name, invocation_cost=facts.invocation_cost)
        for each, facts in zip(theirs, signals, strict=True)
    ]
    ours = [
        (pair.tool, pair.invocation_cost, pair.cheaper_sibling, pair.cheaper_sibling_invocation_cost)
        for pair in measured.shadow_candidates
    ]
    assert ours == [
        (pair.tool, pair.invocation_cost, pair.cheaper_sibling, pair.cheaper_sibling_invocation_cost)
        for pair in find_shadow_candidates(costed)
    ]


def test_definitions_written_for_the_corners_measure_like_the_oracle():
    assert_equal_to_the_oracle(CORNERS)


def test_the_specification_s_invocation_costs_come_out():
    costs = {subject.tool.name: subject.signals.subtree.invocation_cost for subject in measure(read(CORNERS)).subjects}
    assert [costs[name] for name in ("four_flat", "eight_flat", "wrapped", "nested_union", "root_all_of")] == [
        4,
        8,
        11,
        13,
        0,
    ]


def test_every_real_definition_measures_like_the_oracle(whole_corpus):
    count = 0
    for path in whole_corpus:
        tools = json.loads(path.read_bytes())["tools"]
        assert_equal_to_the_oracle(tools)
        count += len(tools)
    assert count == 1649


@settings(max_examples=150)
@given(st.lists(SCHEMAS, min_size=1, max_size=4), JSON)
def test_any_schema_measures_like_the_oracle(schemas, value):
    definitions = [tool(f"t{number}", schema=schema, annotations={"x": value}) for number, schema in enumerate(schemas)]
    assert_equal_to_the_oracle(definitions)


def test_all_15625_score_vectors_give_the_oracle_s_number_and_tier():
    for vector in itertools.product(range(1, 6), repeat=6):
        scores = dict(zip(TDQS.keys, vector, strict=True))
        ours, theirs = tdqs(TDQS, scores, spec="1.2"), compute_tdqs(scores)
        assert (ours / 10, tier_of(ours)) == (theirs, compute_tier(theirs))


class Answering:
    """The oracle's port for a model: answers what it is told, in the order of the tools."""

    model = "test"

    def __init__(self, answers):
        self.answers = iter(answers)

    def complete_json(self, *, system, user, response_type):
        return response_type.model_validate(next(self.answers))


def answer(vector, *, contradiction=False):
    """A judge's answer in the published output format."""
    scores = {key: {"score": score, "justification": "Because."} for key, score in zip(TDQS.keys, vector, strict=True)}
    return {"scores": scores, "annotation_contradiction": contradiction, "summary": "So."}


COHERENCE = dict(zip(load("coherence").keys, (5, 4, 3, 4), strict=True))


@pytest.mark.parametrize("seed", range(40))
def test_the_same_answers_finish_into_the_oracle_s_scores_and_roll_up(seed):
    rng = random.Random(seed)
    definitions = rng.sample(CORNERS, rng.randint(1, 12))
    answers = [answer([rng.randint(1, 5) for _ in TDQS.keys], contradiction=rng.random() < 0.2) for _ in definitions]
    theirs = [ToolDefinition.model_validate(definition) for definition in definitions]
    expected = [
        score_tool_definition(llm=Answering([each]), sibling_tool_names=[], tool=definition)
        for each, definition in zip(answers, theirs, strict=True)
    ]
    coherence = ServerCoherence(
        scores=COHERENCE,
        justifications={key: Justification(score=score, justification="x") for key, score in COHERENCE.items()},
        shadowing_risks=[],
        summary="x",
    )
    rollup = rollup_server_score(coherence=coherence, tool_count=len(theirs), tool_scores=expected)
    given = {
        "tools": [{"name": each["name"], "answer": said} for each, said in zip(definitions, answers, strict=True)],
        "coherence": {
            "scores": {key: {"score": score, "justification": "x"} for key, score in COHERENCE.items()},
            "summary": "x",
        },
    }
    ours = score_blocking(read({"tools": definitions}), judge=answers_judge(given, accepted=ACCEPT_ALL))
    for mine, their_score in zip(ours.tools, expected, strict=True):
        assert {key: judgement.score for key, judgement in mine.judgements.items()} == their_score.scores
        assert (mine.tdqs / 10, mine.tier) == (their_score.tdqs, their_score.tier)
        assert (set(mine.smells), list(mine.flags)) == (set(their_score.smells), their_score.flags)
    numbers = ours.rollup
    assert [numbers.mean_tdqs, numbers.min_tdqs, numbers.description_quality, numbers.coherence, numbers.overall] == [
        round(each * 10)
        for each in (
            rollup.mean_tdqs,
            rollup.min_tdqs,
            rollup.description_quality_score,
            rollup.coherence_score,
            rollup.overall_score,
        )
    ]


@given(st.lists(st.integers(10, 50), min_size=1, max_size=60), st.lists(st.integers(1, 5), min_size=4, max_size=4))
def test_version_1_0_and_1_2_roll_ups_differ_by_a_rounding_at_most(tools, coherence):
    mean = coherence_of(dict(zip(COHERENCE, coherence, strict=True)))
    old, new = (roll_up(tools, tool_count=len(tools), coherence=mean, spec=spec) for spec in ("1.0", "1.2"))
    assert abs(old.description_quality - new.description_quality) <= 1
    assert abs(old.overall - new.overall) <= 2
    assert old.min_tdqs == new.min_tdqs
