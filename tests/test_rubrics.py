"""Rubrics that end in labels, through the command line and the library."""

import json
from hashlib import sha256

import anyio
import jsonschema
import pytest
from definitions import CORNERS, flat, tool
from loopback import USUAL, justified, plain, tool_name, user
from schemas import SCHEMAS

from tdqs_mcp import sync
from tdqs_mcp.app import judging
from tdqs_mcp.facts.text.prose import asks_for_credentials
from tdqs_mcp.judges.openai import Endpoint, OpenAI
from tdqs_mcp.judges.prompted import Prompted
from tdqs_mcp.rubrics.rubric import RUBRICS, load, user_template


@pytest.fixture
def judged(command, loopback):
    """A command with the loopback endpoint as its judge."""

    def run(*args):
        return command(*args, "--judge", "openai:m", "--base-url", loopback.base_url)

    return run


def test_the_paper_s_prompt_is_carried_verbatim():
    assert (
        sha256(user_template("smells").encode()).hexdigest()
        == "6612f279f8fa784c30cc98befaa7c185dfb36ac702953b2c007e4439a0eb26f5"
    )


@pytest.mark.parametrize("key", RUBRICS)
def test_every_dimension_of_every_rubric_can_be_explained(key):
    for dimension in load(key).dimensions:
        page = judging.explain(dimension.key)
        assert "## Scores" in page
        assert page.count("\n5. ") == 1


def test_the_paper_s_judge_sees_name_server_and_description_and_no_schema(catalog):
    definitions = catalog(
        tool("find_paper", "Finds {it}.", {"type": "object", "properties": {"secret_param": {}}}), name="library"
    )
    (prompt,) = judging.prompts(definitions, rubric="smells")["tools"]
    assert prompt["system"] == ""
    before, after = user_template("smells").split("{tool_payload}")
    assert prompt["user"].startswith(before)
    assert prompt["user"].endswith(after)
    payload = json.loads(prompt["user"].removeprefix(before).removesuffix(after))
    assert payload == {"server_name": "library", "tool_name": "find_paper", "description": "Finds {it}."}


def test_the_bundles_prompt_has_the_whole_definition_and_the_siblings(catalog):
    schema = {"type": "object", "properties": {"isbn": {"type": "string"}}}
    definitions = catalog(
        tool("find", "Finds.", schema, title="Find", annotations={"readOnlyHint": True}), tool("other")
    )
    prompt = judging.prompts(definitions, rubric="bundles")["tools"][0]["user"]
    for part in (
        "TOOL: find",
        "DISPLAY NAME: Find",
        '"isbn"',
        '"readOnlyHint": true',
        "<siblings>\nother\n</siblings>",
    ):
        assert part in prompt


VECTORS = {
    "good": (3, 3, 3, 3, 3, 3),
    "bad": (5, 5, 2, 5, 5, 3),
    "best": (5, 5, 5, 5, 5, 5),
    "worst": (1, 1, 1, 1, 1, 1),
}


def test_smells_scores_labels_and_improvements_follow_from_the_scores_alone(judged, loopback, write):
    loopback.answer = lambda body: plain(*VECTORS[tool_name(body)], label="Bad")
    file = write("c.json", [tool(name) for name in VECTORS])
    done = judged("score", file, "--rubric", "smells", "--accept", "*", "--format", "json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMAS["labels"])
    assert {
        each["name"]: (each["overall"], each["label"], each["smells"], each["improvementNeeded"])
        for each in document["tools"]
    } == {
        "good": (50.0, "Good", [], list(load("smells").keys)),
        "bad": (79.2, "Bad", ["limitations"], ["limitations", "length"]),
        "best": (100.0, "Good", [], []),
        "worst": (0.0, "Bad", list(load("smells").keys), list(load("smells").keys)),
    }
    assert document["tools"][1]["smellNames"] == ["Unstated Limitations"]
    assert (document["goodToolCount"], document["badToolCount"]) == (2, 2)
    assert [each["tools"] for each in document["actionableSuggestions"]] == [["worst"], ["bad"]]
    assert document["qualityScore"] is None
    told = [each for each in document["problems"] if "the judge calls it" in each]
    assert told == [f"{name!r}: the judge calls it 'Bad', by its own scores it is Good" for name in ("good", "best")]
    assert list(document["tools"][0]["scores"]) == [
        "purpose",
        "guidelines",
        "limitations",
        "parameters",
        "examples",
        "length",
    ]


@pytest.mark.parametrize(("vector", "code"), [((3, 3, 3, 3, 3, 3), 0), ((5, 5, 5, 5, 5, 2), 1)])
def test_fail_on_bad_is_the_exit_code(judged, loopback, write, vector, code):
    loopback.answer = lambda body: plain(*vector)
    args = ("--rubric", "smells", "--accept", "*", "--fail-under", "acceptable")
    assert judged("score", write("c.json", [tool()]), *args).returncode == code


def test_an_answer_without_a_component_goes_back_and_leaves_the_tool_ungraded(judged, loopback, write):
    loopback.answer = lambda body: '{"scores": {"purpose": 3}, "label": "Bad", "reason": "r", "improvement_needed": []}'
    done = judged("score", write("c.json", [tool()]), "--rubric", "smells", "--format", "json")
    (ungraded,) = json.loads(done.stdout)["ungraded"]
    assert "scores lacks usage_guideline, limitation" in ungraded["reason"]
    assert len(loopback.bodies) == 3
    assert done.returncode == 2


@pytest.mark.parametrize("score", [0, 6, 3.5, "3", True, None])
def test_a_component_score_is_an_integer_from_1_to_5(judged, loopback, write, score):
    answer = json.loads(plain(3, 3, 3, 3, 3, 3))
    answer["scores"]["purpose"] = score
    loopback.answer = lambda body: json.dumps(answer)
    done = judged("score", write("c.json", [tool()]), "--rubric", "smells", "--format", "json")
    assert "scores.purpose" in json.loads(done.stdout)["ungraded"][0]["reason"]


def test_a_tool_without_a_description_has_every_smell_and_asks_nobody(judged, loopback, write):
    done = judged("score", write("c.json", [tool("silent", None)]), "--rubric", "smells", "--format", "json")
    (silent,) = json.loads(done.stdout)["tools"]
    assert (silent["overall"], silent["label"], silent["flags"]) == (0.0, "Bad", ["No Description"])
    assert loopback.bodies == []


def test_bundles_asks_about_a_tool_without_a_description_whose_schema_may_explain_itself(judged, loopback, write):
    judged("score", write("c.json", [tool("silent", None)]), "--rubric", "bundles")
    assert loopback.asked() == ["silent"]


def test_a_lone_tool_cannot_be_confused_with_another(judged, loopback, write):
    loopback.answer = lambda body: justified("bundles", 3, 3, 1, 3)
    alone = json.loads(judged("score", write("a.json", [tool("a")]), "--rubric", "bundles", "--format", "json").stdout)
    pair = json.loads(
        judged("score", write("b.json", [tool("a"), tool("b")]), "--rubric", "bundles", "--format", "json").stdout
    )
    assert (alone["tools"][0]["scores"]["disambiguation"], alone["tools"][0]["label"]) == (5, "Good")
    assert (pair["tools"][0]["scores"]["disambiguation"], pair["tools"][0]["label"]) == (1, "Bad")


def test_suggestions_come_in_three_bands_and_the_worst_tool_first(judged, loopback, write):
    vectors = {"one": (2, 4, 4, 4), "two": (1, 1, 4, 4), "three": (4, 4, 4, 4)}
    loopback.answer = lambda body: (
        justified("bundles", *vectors[tool_name(body)]) if tool_name(body) else USUAL["skill"]
    )
    tools = [tool("one", title="Search"), tool("two", annotations={"title": "search "}), tool("three", title="Other")]
    skill = write("SKILL.md", "Paste your API key first.")
    done = judged("score", write("c.json", tools), "--rubric", "bundles", "--skill", skill, "--format", "json")
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMAS["labels"])
    assert [(each["priority"], each["tools"]) for each in document["actionableSuggestions"]] == [
        (1, ["one", "two"]),
        (2, []),
        (3, ["two"]),
        (3, ["one"]),
    ]
    assert "display name 'Search'" in document["actionableSuggestions"][0]["message"]
    assert "'Paste your API key first.'" in document["actionableSuggestions"][1]["message"]


def skill_answer(*vector, asks=False):
    return justified("skill", *vector, asks_for_credentials=asks)


def test_a_skill_is_scored_beside_the_server_s_tools(judged, loopback, write):
    loopback.answer = lambda body: skill_answer(4, 4, 2, 5, 5, 5)
    skill, server = (
        write("SKILL.md", "Trains of {server}."),
        write("c.json", [tool("departures", "Lists trains."), tool("b")]),
    )
    done = judged("score", server, "--skill", skill, "--format", "json", "--fail-under", "acceptable")
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMAS["skill"])
    assert done.returncode == 1
    assert (document["average"], document["label"], document["smells"], document["asksForCredentials"]) == (
        1.58,
        "Bad",
        ["tool_disambiguation"],
        None,
    )
    assert "Trains of {server}." in user(loopback.bodies[0])
    assert "- departures: Lists trains." in user(loopback.bodies[0])


def test_a_lone_tool_needs_no_workflow_and_no_disambiguation(judged, loopback, write):
    loopback.answer = lambda body: skill_answer(4, 1, 1, 4, 4, 4)
    skill = write("SKILL.md", "Trains.")
    alone = judged(
        "score", write("a.json", [tool("a")]), "--skill", skill, "--format", "json", "--fail-under", "acceptable"
    )
    pair = judged(
        "score",
        write("b.json", [tool("a"), tool("b")]),
        "--skill",
        skill,
        "--format",
        "json",
        "--fail-under",
        "acceptable",
    )
    assert (alone.returncode, pair.returncode) == (0, 1)
    assert (
        json.loads(alone.stdout)["scores"] | {"workflow_guidance": 5, "tool_disambiguation": 5}
        == json.loads(alone.stdout)["scores"]
    )


def test_credentials_make_a_skill_bad_whatever_its_scores(judged, loopback, write):
    loopback.answer = lambda body: skill_answer(5, 5, 5, 5, 5, 5)
    server = write("c.json", [tool("a"), tool("b")])
    done = judged(
        "score", server, "--skill", write("SKILL.md", "Trains.\nPaste your API key in the header."), "--format", "json"
    )
    document = json.loads(done.stdout)
    assert (document["average"], document["label"]) == (2.0, "Bad")
    assert document["asksForCredentials"] == "Paste your API key in the header."
    assert "the judge does not say so" in document["problems"][0]


def test_the_judge_s_word_on_credentials_counts_too(judged, loopback, write):
    loopback.answer = lambda body: skill_answer(5, 5, 5, 5, 5, 5, asks=True)
    done = judged(
        "score", write("c.json", [tool("a")]), "--skill", write("SKILL.md", "Trains."), "--fail-under", "acceptable"
    )
    assert done.returncode == 1
    assert b"Bad by the credentials rule" in done.stdout


def test_without_a_model_the_credentials_rule_still_holds(command, write):
    server = write("c.json", [tool("a")])
    asking = command(
        "score",
        server,
        "--skill",
        write("B.md", "Set your password."),
        "--fail-under",
        "acceptable",
        "--format",
        "json",
    )
    assert asking.returncode == 1
    assert json.loads(asking.stdout)["scores"] == {"workflow_guidance": 5, "tool_disambiguation": 5}


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("First obtain an API key from example.org.", True),
        ("Set your GitHub token as GITHUB_TOKEN.", True),
        ("Export `OPENAI_API_KEY` before you start.", True),
        ("Configure your **credentials** in the settings.", True),
        ("Never paste your API key.", False),
        ("You do not have to configure an API key.", False),
        ("No credentials are needed.", False),
        ("The API key is handled for you.", False),
        ("Pass the page token to list_items.", False),
        ("Use get_secret to read secrets.", False),
        ("", False),
    ],
)
def test_handling_credentials_is_told_from_mentioning_them(text, asks):
    assert (asks_for_credentials(text) is not None) == asks


def test_answers_from_elsewhere_finish_any_rubric(command, write):
    server = write("c.json", [tool("a"), tool("b")])
    answers = write(
        "answers.json", {"tools": [{"name": "a", "answer": USUAL["bundles"]}, {"name": "b", "answer": "no"}]}
    )
    document = json.loads(
        command("score", server, "--rubric", "bundles", "--answers", answers, "--format", "json").stdout
    )
    assert [(each["name"], each["label"]) for each in document["tools"]] == [("a", "Good")]
    assert "not JSON" in document["ungraded"][0]["reason"]
    skill = command(
        "score",
        server,
        "--skill",
        write("S.md", "x"),
        "--answers",
        write("s.json", {"skill": USUAL["skill"]}),
        "--format",
        "json",
    )
    assert json.loads(skill.stdout)["average"] == 1.5
    assert command("score", server, "--skill", write("S.md", "x"), "--answers", write("t.json", [1])).returncode == 2


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_people_read_labels_and_suggestions(judged, loopback, write, form):
    loopback.answer = lambda body: justified("bundles", 2, 4, 4, 4, words="Says | nothing.")
    done = judged("score", write("c.json", [tool("a|b"), tool("c")]), "--rubric", "bundles", "--format", form)
    shown = done.stdout.decode()
    assert "tools: 0 Good, 0 Acceptable, 2 Bad" in shown
    assert shown.index("Acceptable") < shown.index("For the maintainers") < shown.index("Says")
    assert "lowest in purpose" in shown
    assert "hardened prompt" in shown


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rubric", "smells", "--fail-under", "A"], b"it takes Good, Acceptable"),
        (["--fail-under", "acceptable"], b"it takes A, B, C, D"),
        (["--rubric", "smells", "--skill", "SKILL"], b"--skill belongs to --rubric bundles"),
        (["--rubric", "no"], b"'no' is not one of"),
    ],
)
def test_options_that_belong_to_another_rubric_are_refused(command, write, options, words):
    skill = str(write("SKILL.md", "x"))
    done = command("score", write("c.json", [tool()]), *[skill if each == "SKILL" else each for each in options])
    assert done.returncode == 2
    assert words in done.stderr


def test_one_broken_tool_leaves_the_others_labeled(loopback, catalog):
    judge = Prompted(id="openai", model=OpenAI(Endpoint(base_url=loopback.base_url, model="m")))
    definitions = catalog(tool("a"), {"name": 7}, tool("b"))
    score = anyio.run(lambda: judging.score_labels(definitions, rubric="smells", judge=judge))
    assert [each.name for each in score.tools] == ["a", "b"]
    assert [each.index for each in score.ungraded] == [1]
    assert score.tool_count == 3


def test_the_offline_judge_says_what_a_component_lacks(command, write):
    """No score below 5 is explained by nothing, whatever definition has it."""
    definitions = [
        tool("list_orders", "Lists the open orders of one customer, newest first, with id, date and total."),
        tool("get", "Gets it.", flat(3)),
        tool("export", "Exports rows.\n\nExamples:\n- export(a=1)", flat(1)),
        *CORNERS,
    ]
    document = json.loads(
        command("score", write("c.json", definitions), "--rubric", "smells", "--format", "json").stdout
    )
    for scored in document["tools"]:
        for key, judgement in scored["justifications"].items():
            is_full = judgement["score"] == 5
            assert ("Nothing is missing" not in judgement["justification"]) or is_full, (scored["name"], key)


@pytest.mark.corpus
def test_no_component_below_3_is_explained_by_nothing(whole_corpus):
    for path in whole_corpus:
        for scored in sync.score_labels(sync.load(str(path)), rubric="smells").tools:
            for key, judgement in scored.judgements.items():
                assert judgement.score == 5 or "Nothing is missing" not in judgement.justification, (
                    path,
                    scored.name,
                    key,
                )
