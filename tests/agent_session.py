"""What an agent does with our server: score, lint, rewrite, score again, and judge for itself. Needs no package."""

import json

TOOLS = [
    "score_server",
    "score_tool_definition",
    "lint_descriptions",
    "suggest_rewrite",
    "compare_definitions",
    "judge_definitions",
]

BAD = {
    "name": "cancel_order",
    "description": "Cancel order",
    "inputSchema": {
        "type": "object",
        "properties": {
            "order_id": {"type": "string", "description": "Order ID such as O-1042"},
            "reason": {"type": "string"},
        },
        "required": ["order_id"],
    },
    "annotations": {"readOnlyHint": False, "destructiveHint": True},
}
SIBLING = {
    "name": "find_orders",
    "description": "Finds the open orders of one customer. Use it when the order's ID is unknown. Returns at most 50 orders.",
    "inputSchema": {"type": "object", "properties": {"customer": {"type": "string", "description": "Customer ID"}}},
}


async def improve(list_tools, call):
    """List, score a bad definition, lint, explain, rewrite, score again; `call(name, **arguments)` gives the JSON."""
    assert await list_tools() == TOOLS
    before = await call("score_tool_definition", definition=BAD, siblings=[SIBLING])
    assert before["tier"] in ("C", "D"), before
    linted = await call("lint_descriptions", catalog=[BAD, SIBLING], severity="error")
    assert linted["findings"][0]["rule"] == before["findings"][0]["rule"] == "TDQ101", linted
    page = await call("lint_descriptions", catalog=linted["catalog"], explain=linted["findings"][0]["rule"])
    assert page["page"].startswith("# TDQ101"), page
    draft = await call("suggest_rewrite", catalog=linted["catalog"], tool="cancel_order", detail="full")
    [line] = draft["rewrites"]
    proposed = json.loads(line["full"]["definition"][1:-1])
    assert (proposed["name"], list(proposed["inputSchema"]["properties"])) == ("cancel_order", ["order_id", "reason"])
    after = await call("score_tool_definition", definition=line["full"]["definition"], siblings=[SIBLING])
    assert after["tdqs"] > before["tdqs"], (before, draft, after)
    whole = await call("score_server", catalog=draft["newCatalog"])
    assert [each["tdqs"] for each in whole["tools"] if each["name"] == "cancel_order"] == [after["tdqs"]]


async def judge(call, catalog, batch=7, model="a model"):
    """A whole host judgement in pieces, each answer read off its prompt; gives back the finished score."""
    answers, offset, schema = [], 0, None
    while offset is not None:
        page = await call("judge_definitions", catalog=catalog, limit=batch, offset=offset, model=model)
        catalog, offset = page["catalog"], page["nextOffset"]
        schema = schema or page["answerSchema"]
        assert ("system" in page) == (not answers), "the system prompt comes once"
        assert ("template" in page) == (not answers and len(page["prompts"]) > 1), "what prompts share comes once"
        for prompt in page["prompts"]:
            assert f"{prompt['name']}\n" in prompt["user"], prompt["user"][:300]
            answers.append({"name": prompt["name"], "inputHash": prompt["inputHash"], "answer": tool_answer(schema)})
    for start in range(0, len(answers), batch):
        part = answers[start : start + batch]
        result = await call("judge_definitions", catalog=catalog, answers=part, model=model)
        assert result["overallScore"] is None
        assert result["refused"] == []
    assert result["missingCount"] == 0, result
    page = await call("judge_definitions", catalog=catalog, part="coherence", model=model)
    return await call("judge_definitions", catalog=catalog, coherence=set_answer(page["answerSchema"]), model=model)


def set_answer(schema, score=4):
    """An answer to a coherence prompt."""
    keys = schema["properties"]["scores"]["required"]
    return {"scores": {key: {"score": score, "justification": "So it is."} for key in keys}, "summary": "So it is."}


def tool_answer(schema, score=3):
    """An answer to a tool's prompt."""
    return set_answer(schema, score) | {"annotation_contradiction": False}
