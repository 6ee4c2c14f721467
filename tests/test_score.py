"""The published numbers: calibration examples, version 1.0, coverage, enforcement, answers from elsewhere."""

import itertools
import json
import re
import shutil
import subprocess

import pytest
from definitions import CORNERS, flat, takes, tool
from loopback import ACCEPT_ALL

from tdqs_mcp import sync
from tdqs_mcp.app import judging, linting
from tdqs_mcp.app.linting import Policy
from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.gate.policy import answered, reaches
from tdqs_mcp.judges.offline import calibration, versions
from tdqs_mcp.judges.reasons import explain_tool
from tdqs_mcp.judges.sentence_model import read_text
from tdqs_mcp.report.blocks import as_markdown
from tdqs_mcp.report.score_report import score_blocks, tool_blocks
from tdqs_mcp.results.findings import Outcome
from tdqs_mcp.results.scores import Flag
from tdqs_mcp.results.verdicts import Tier, Verdict
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.rules import registry
from tdqs_mcp.scoring.rollup import coherence_of, roll_up, tdqs
from tdqs_mcp.scoring.score import fixes_by_tool
from tdqs_mcp.sources.files import read_catalog


def finish(definitions, answers, **options):
    judge = judging.answers_judge(answers, accepted=ACCEPT_ALL)
    return judging.score_blocking(definitions, judge=judge, **options)


TDQS = load("tdqs")
DESCRIBED = {"type": "string", "description": "An ISO 8601 date, inclusive"}

# Names, descriptions and annotations are the published prompt's calibration examples; it shows no schemas, so those are ours.
GET_CALLS = tool(
    "get_calls",
    "List ALL calls in date range – no user/workspace filtering. "
    "To filter by user/workspace, use search_calls_extensive instead.",
    {"type": "object", "properties": {"fromDateTime": DESCRIBED, "toDateTime": DESCRIBED}},
    annotations={"readOnlyHint": True, "destructiveHint": False},
)
UPDATE_DRIVE = tool(
    "update_drive",
    "Update shared drive settings including name, color, and restrictions.",
    {
        "type": "object",
        "properties": {
            "driveId": {"type": "string", "description": "The drive's ID"},
            "name": {"type": "string", "description": "The new name"},
            "color": {"type": "string"},
            "restrictions": {"type": "object"},
        },
        "required": ["driveId"],
    },
)
PROCESS = tool("process", "Process", flat(3))
CREATE_RECORD = tool(
    "create_record", "Creates a new record in the database", flat(1), annotations={"readOnlyHint": True}
)
EXAMPLES = [
    (GET_CALLS, (5, 5, 3, 3, 5, 5), 43, Tier.A),
    (UPDATE_DRIVE, (4, 2, 2, 3, 4, 2), 29, Tier.C),
    (PROCESS, (1, 1, 1, 1, 2, 1), 11, Tier.D),
]


def answer(vector, *, contradiction=False):
    scores = {key: {"score": score, "justification": "Because."} for key, score in zip(TDQS.keys, vector, strict=True)}
    return {"scores": scores, "annotation_contradiction": contradiction, "summary": "So."}


def coherent(*vector):
    keys = load("coherence").keys
    return {
        "scores": {key: {"score": score, "justification": "x"} for key, score in zip(keys, vector, strict=True)},
        "summary": "x",
    }


@pytest.mark.parametrize(("definition", "vector", "tenths", "tier"), EXAMPLES)
def test_the_published_answers_finish_into_the_published_scores(catalog, definition, vector, tenths, tier):
    finished = finish(catalog(definition), {"tools": [{"name": definition["name"], "answer": answer(vector)}]})
    assert (finished.tools[0].tdqs, finished.tools[0].tier) == (tenths, tier)


def test_the_published_contradiction_gets_its_flag_and_behaviour_1(catalog):
    said = answer((4, 2, 1, 3, 4, 2), contradiction=True)
    finished = finish(catalog(CREATE_RECORD), {"tools": [{"name": "create_record", "answer": said}]})
    offline = sync.score(catalog(CREATE_RECORD))
    for score in (finished.tools[0], offline.tools[0]):
        assert score.flags == (Flag.ANNOTATION_CONTRADICTION,)
        assert score.judgements["behavioral_transparency"].score == 1
    assert "'creates'" in offline.tools[0].judgements["behavioral_transparency"].justification


@pytest.mark.parametrize(("definition", "vector", "tenths", "tier"), EXAMPLES)
def test_the_offline_judge_is_within_eight_tenths_of_the_published_examples(catalog, definition, vector, tenths, tier):
    siblings = (
        [tool("search_calls_extensive", "Searches calls by user or workspace.")] if definition is GET_CALLS else []
    )
    assert abs(sync.score(catalog(definition, *siblings)).tools[0].tdqs - tenths) <= 8


@pytest.mark.parametrize(
    ("names", "tenths"),
    [
        (
            (
                "list_repos get_repo create_repo search_code list_issues create_issue update_issue get_pull_request "
                "create_pull_request merge_pull_request"
            ),
            48,
        ),
        ("process run execute do_thing helper transform_data processV2 handleRequest", 20),
    ],
)
def test_the_offline_judge_is_within_four_tenths_of_the_published_tool_sets(names, tenths):
    schema = {"type": "object", "properties": {"input": {"type": "string"}}}
    for description in ("", None, "{} the input."):
        definitions = [
            {"name": name, "description": description and description.format(name), "inputSchema": schema}
            for name in names.split()
        ]
        score = sync.score(read_catalog(definitions, name="examples"))
        assert abs(score.rollup.coherence - tenths) <= 4


@pytest.mark.parametrize(
    ("definitions", "count"),
    [
        ("create_note:Writes a note. get_note:Reads a note. delete_note:Deletes a note.", 5),
        ("calculate:Adds numbers. get_weather:Gets the weather. list_rates:Lists exchange rates.", 4),
        ("create_note:Writes a note. get_note:Reads a note. list_note_tags:Lists the tags of a note.", 4),
    ],
    ids=["one job", "three jobs", "what is created stays"],
)
def test_three_tools_are_well_scoped_where_they_are_the_whole_of_one_job(definitions, count):
    tools = [tool(*part.strip().split(":")) for part in definitions.split(".") if part]
    judgements = sync.score(read_catalog(tools, name="small")).coherence.judgements
    assert judgements["tool_count_appropriateness"].score == count


def test_two_tools_of_one_name_are_named_as_a_pair_and_cannot_be_told_apart():
    definitions = [tool("get_user", "Gets a user."), tool("get_user", "Reads a profile."), tool("list_bills", "Lists.")]
    judgements = sync.score(read_catalog(definitions, name="twins")).coherence.judgements
    assert judgements["disambiguation"].score <= 2
    assert "get_user / get_user" in judgements["disambiguation"].justification
    assert judgements["tool_count_appropriateness"].score > 3  # a copy makes a set confusing, not too large


def test_score_and_lint_name_the_same_pairs_of_variants(catalog):
    """A word of its name stands in what `list_protected_branches` says alone."""
    branches, cells = takes("project", "page"), ("table", "width")
    tools = catalog(
        tool("list_branches", "Lists the branches of a project.", branches),
        tool("list_protected_branches", "Lists the protected branches of a project.", branches),
        tool("set_column_width", "Sets the width of a column of a table.", takes(*cells, "column")),
        tool("set_column_widths", "Sets the widths of columns of a table.", takes(*cells)),
    )
    named = " ".join(finding.message for finding in linting.lint(tools, Policy()).findings if finding.rule == "TDQ303")
    reason = sync.score(tools).coherence.judgements["disambiguation"].justification
    assert "'set_column_width'" in named
    assert "set_column_width / set_column_widths" in reason
    assert "list_branches" not in named + reason


@pytest.mark.parametrize(
    ("names", "is_named"),
    [
        ("create_folder get_folder rename_folder delete_folder", True),
        ("create_drive_folder list_mail_folders update_mail_folder delete_mail_folder", False),
    ],
)
def test_only_what_other_tools_do_to_the_same_noun_is_said_of_what_is_created(catalog, names, is_named):
    tools = catalog(*(tool(name, f"{name.replace('_', 's a ', 1).capitalize()}.") for name in names.split()))
    reason = sync.score(tools).coherence.judgements["completeness"].justification
    assert (names.split()[0] in reason) is is_named


def test_tools_that_do_different_things_are_not_named_as_doing_the_same(catalog):
    names = ("list_objects", "list_open_objects", "get_object", "get_old_object", "delete_object")
    tools = catalog(*(tool(name, f"{name.replace('_', ' ').capitalize()} of a bucket.") for name in names))
    assert sync.score(tools).coherence.judgements["disambiguation"].evidence == ()


def test_no_advice_drops_the_sentence_for_which_behavior_stopped_asking(catalog):
    needs = "Requires the chat:write scope."
    plain, told = (
        sync.score(catalog(tool("post_message", f"Posts a message to a channel. {text}", flat(2)))).tools[0].judgements
        for text in ("", needs)
    )
    assert "rights" in plain["behavioral_transparency"].justification
    assert "rights" not in told["behavioral_transparency"].justification
    assert needs.rstrip(".") not in told["conciseness_structure"].justification


def test_a_contradiction_that_the_judge_scored_high_is_enforced_beside_the_published_number(catalog):
    said = answer((5, 5, 5, 5, 5, 5), contradiction=True)
    score = finish(catalog(CREATE_RECORD), {"tools": [{"name": "create_record", "answer": said}]}).tools[0]
    assert (score.tdqs, score.enforced.tdqs) == (50, 42)
    assert score.enforced.scores["behavioral_transparency"] == 1
    assert "'creates'" in score.enforced.why


@pytest.mark.parametrize(("name", "description"), [("process", "Process."), ("update_drive", "Update drive")])
def test_a_tautology_that_escapes_the_exact_gate_is_enforced_and_found(catalog, name, description):
    definitions = catalog(tool(name, description))
    said = {"tools": [{"name": name, "answer": answer((5, 3, 3, 3, 3, 3))}]}
    score = finish(definitions, said).tools[0]
    assert score.flags == ()
    assert score.judgements["purpose_clarity"].score == 5
    assert score.enforced.scores["purpose_clarity"] == 2
    assert "TDQ101" in {finding.rule for finding in linting.lint(definitions).findings}


def test_the_tautology_gate_caps_purpose_at_2_and_leaves_a_lower_score(catalog):
    for given, expected in ((5, 2), (1, 1)):
        said = {"tools": [{"name": "process", "answer": answer((given, 3, 3, 3, 3, 3))}]}
        score = finish(catalog(PROCESS), said).tools[0]
        assert score.judgements["purpose_clarity"].score == expected
        assert score.flags == (Flag.TAUTOLOGICAL_DESCRIPTION,)


@pytest.mark.parametrize("description", [None, "", " \n\t\ufeff"])
def test_a_missing_description_needs_no_judge(catalog, description):
    definitions = catalog(tool("silent", description))
    assert judging.prompts(definitions)["tools"] == []
    score = finish(definitions, {"tools": []}).tools[0]
    assert (score.tdqs, score.tier, score.flags) == (10, Tier.D, (Flag.NO_DESCRIPTION,))


@pytest.mark.process
def test_version_1_0_adds_in_doubles_as_javascript_does():
    node = shutil.which("node")
    if not node:
        pytest.skip("Node is not on PATH")
    program = """
    const weights = [0.25, 0.2, 0.2, 0.15, 0.1, 0.1], out = [];
    const walk = v => v.length < 6 ? [1, 2, 3, 4, 5].forEach(s => walk([...v, s]))
      : out.push(Math.round(v.reduce((sum, s, i) => sum + s * weights[i], 0) * 10));
    walk([]); console.log(JSON.stringify(out))
    """
    expected = json.loads(subprocess.run([node, "-e", program], capture_output=True, check=True).stdout)
    vectors = list(itertools.product(range(1, 6), repeat=6))
    ours = [tdqs(TDQS, dict(zip(TDQS.keys, vector, strict=True)), spec="1.0") for vector in vectors]
    assert ours == expected
    exact = [tdqs(TDQS, dict(zip(TDQS.keys, vector, strict=True)), spec="1.2") for vector in vectors]
    assert sum(old < new for old, new in zip(ours, exact, strict=True)) == 612


def test_version_1_0_has_no_later_signal_and_no_shadow_pair(catalog):
    definitions = catalog(tool("dear", schema=flat(8)), tool("cheap"))
    old, new = (sync.score(definitions, spec=spec) for spec in ("1.0", "1.2"))
    later = {"requiredFieldCount", "schemaDepth", "unionChoiceCount", "invocationCost", "definitionBytes"}
    assert set(new.tools[0].signals) - set(old.tools[0].signals) == later
    assert (len(old.shadow_candidates), len(new.shadow_candidates)) == (0, 1)


def test_a_server_is_scored_from_80_percent_of_its_tools_on():
    coherence = 40
    assert roll_up([30] * 3, tool_count=4, coherence=coherence, spec="1.2").overall is None
    assert roll_up([30] * 4, tool_count=5, coherence=coherence, spec="1.2").overall == 33
    assert roll_up([30] * 4, tool_count=5, coherence=None, spec="1.2").overall is None


def test_a_tie_that_doubles_get_wrong_is_rounded_up_in_1_2():
    coherence = coherence_of(dict(zip(load("coherence").keys, (5, 5, 4, 4), strict=True)))
    assert roll_up([30], tool_count=1, coherence=coherence, spec="1.2").overall == 35


def test_answers_are_matched_by_hash_then_by_name_and_order(catalog):
    twins = [tool("twin", "First."), tool("twin", "Second."), tool("other", "Other.")]
    definitions = catalog(*twins)
    hashes = [entry["inputHash"] for entry in judging.prompts(definitions)["tools"]]
    given = {
        "tools": [
            {"name": "whatever", "inputHash": hashes[2], "answer": answer((5,) * 6)},
            {"name": "twin", "answer": answer((1,) * 6)},
            {"name": "twin", "answer": "```json\n" + json.dumps(answer((2,) * 6)) + "\n```"},
            {"name": "ghost", "answer": answer((2,) * 6)},
            {"name": "other", "inputHash": "0" * 16, "answer": answer((2,) * 6)},
        ]
    }
    finished = finish(definitions, given)
    assert [score.tdqs for score in finished.tools] == [10, 20, 50]
    unused = [problem for problem in finished.problems if problem.endswith("was not used")]
    assert ["'ghost'" in problem or "'other'" in problem for problem in unused] == [True, True]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("{", "not JSON"),
        ("no", "not JSON"),
        (answer((0, 1, 1, 1, 1, 1)), "purpose_clarity.score: must be at least 1"),
        (answer((1, 1.5, 1, 1, 1, 1)), "usage_guidelines.score: must be a whole number"),
        (answer((True, 1, 1, 1, 1, 1)), "must be a whole number"),
        ({"scores": {}, "annotation_contradiction": False, "summary": ""}, "scores lacks purpose_clarity"),
        ({"scores": answer((1,) * 6)["scores"], "summary": ""}, "annotation_contradiction: is missing: add it"),
        (None, "must be an object"),
    ],
)
def test_one_bad_answer_leaves_one_tool_ungraded_with_the_reason(catalog, broken, reason):
    definitions = catalog(*(tool(f"t{number}", f"Does {number}.") for number in range(5)))
    good = [{"name": f"t{number}", "answer": answer((4.0,) + (4,) * 5)} for number in range(1, 5)]
    given = {"tools": [{"name": "t0", "answer": broken}, *good], "coherence": coherent(5, 5, 5, 5)}
    finished = finish(definitions, given)
    assert [score.name for score in finished.tools] == ["t1", "t2", "t3", "t4"]
    assert reason in finished.ungraded[0].ungraded.reason
    assert finished.rollup.overall == 43


def test_shadowing_is_confirmed_only_for_a_pair_that_was_asked_about(catalog):
    definitions = catalog(tool("dear", "Finds sales.", flat(8)), tool("cheap", "Gets sales."))
    prompt = judging.prompts(definitions)["shadowing"]
    assert "cost 8" in prompt["user"]
    given = {
        "tools": [{"name": name, "answer": answer((4,) * 6)} for name in ("dear", "cheap")],
        "coherence": coherent(4, 4, 4, 4),
        "shadowing": [
            {"tool": "cheap", "cheaperSibling": "dear", "justification": "wrong way round"},
            {"tool": "dear", "cheaperSibling": "cheap", "justification": "both report sales"},
            {"tool": "dear", "cheaperSibling": "cheap", "justification": "again"},
            "nonsense",
        ],
    }
    finished = finish(definitions, given)
    assert [risk.justification for risk in finished.shadowing_risks] == ["both report sales"]
    assert finished.tools[0].server_flags == (Flag.SHADOWING_RISK,)
    assert len(finished.problems) == 4
    assert sync.score(definitions).shadowing_risks == ()


def test_answers_of_another_shape_are_refused_with_the_right_one(catalog):
    with pytest.raises(InputError, match='"tools"'):
        finish(catalog(PROCESS), [1])


def test_the_same_catalog_gives_the_same_score_every_time(catalog):
    assert sync.score(catalog(*CORNERS)) == sync.score(catalog(*CORNERS))


def test_every_offline_justification_quotes_the_definition_or_names_what_is_absent(catalog):
    score = sync.score(catalog(GET_CALLS, UPDATE_DRIVE, PROCESS))
    for definition, result in zip((GET_CALLS, UPDATE_DRIVE, PROCESS), score.tools, strict=True):
        for judgement in result.judgements.values():
            assert judgement.justification
            assert all(quote in definition["description"] for quote in judgement.evidence)
    assert isinstance(score.coherence, Verdict)


@pytest.mark.parametrize("definition", [GET_CALLS, UPDATE_DRIVE, PROCESS], ids=["get_calls", "update_drive", "process"])
def test_each_reason_says_first_what_is_there_and_only_then_what_is_missing(definition):
    [subject] = measure(read_catalog([definition], name="x")).subjects
    for key, score in itertools.product(TDQS.keys, range(1, 6)):
        reason = explain_tool("tdqs", {key: score}, subject, ())[key].justification
        assert not reason.startswith("For a "), (key, score)


def test_the_first_fix_is_a_sentence_of_usage_that_gains_more_than_one_parameter_of_three(catalog):
    """A sentence about a limit says nothing of when to use the tool."""
    parameters = {name: {"type": "string", "description": "The text"} for name in ("old", "new")}
    schema = {"type": "object", "properties": {"path": {"type": "string"}, **parameters}}
    edit = tool("edit_file", "Makes line-based edits to a text file. Only works within allowed directories.", schema)
    score = sync.score(catalog(edit, tool("write_file", "Replaces a whole file.")))
    rules = [fix.finding.rule for fix in fixes_by_tool(score)[0]]
    assert rules[0] == "TDQ104"
    assert "TDQ108" in rules


def test_a_recognised_fact_raises_its_dimension_and_its_absence_is_named(catalog):
    bare = tool("list_orders", "Lists the orders of one customer.", flat(1))
    told = tool(
        "list_orders",
        "Lists the orders of one customer. Use this when you know the customer; to look one up, use find_customer instead.",
        flat(1),
    )
    other = tool("find_customer", "Finds customers by name.", flat(1))
    before, after = (sync.score(catalog(each, other)).tools[0].judgements["usage_guidelines"] for each in (bare, told))
    assert after.score - before.score >= 2
    assert "to look one up, use find_customer instead." in after.justification
    assert 'no "Use this when …" or the like, and names no other tool' in before.justification


def judged_with(coherence, *, tools=3):
    definitions = read_catalog([tool(f"t{number}", f"Does {number}.") for number in range(tools)], name="x")
    answers = {"tools": [{"name": f"t{number}", "answer": answer((3,) * 6)} for number in range(tools)]}
    return finish(definitions, answers | coherence)


def test_a_failed_coherence_judgement_leaves_open_only_what_it_could_change():
    failed, absent, good = (
        judged_with({"coherence": {}}),
        judged_with({}),
        judged_with({"coherence": coherent(3, 3, 3, 3)}),
    )
    assert [reaches(failed, tier) for tier in (Tier.A, Tier.B, Tier.C)] == [
        Outcome.UNKNOWN,
        Outcome.UNKNOWN,
        Outcome.PASSED,
    ]
    assert [answered(each) for each in (failed, absent, good)] == [Outcome.UNKNOWN, Outcome.PASSED, Outcome.PASSED]
    assert [reaches(each, Tier.B) for each in (absent, good)] == [Outcome.PASSED, Outcome.PASSED]


def test_coherence_that_was_judged_has_its_number_even_without_a_single_tool_score():
    score = finish(read_catalog([tool("t", "Does.")], name="x"), {"coherence": coherent(4, 4, 4, 4)})
    assert (score.rollup.coherence, score.rollup.overall) == (40, None)


def test_each_of_two_tools_of_one_name_has_its_own_shadow_cost(catalog):
    shadows = Policy(selection=registry.select(names=["TDQ301"]))
    report = linting.lint(catalog(tool("a"), tool("a", schema=flat(4)), tool("b")), shadows)
    assert [finding.subject.index for finding in report.findings] == [1]


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("Rename old to new.", "For a 3, say more of each parameter than its name does"),
        ("Rename old.", "For a 3, describe new, in the schema or in the text."),
    ],
)
def test_only_parameters_that_nothing_explains_are_asked_to_be_described(text, advice):
    properties = {name: {"type": "string"} for name in ("old", "new")}
    raw = tool("rename_sheet", text, {"type": "object", "properties": properties})
    [subject] = measure(read_catalog({"tools": [raw]}, name="sheets")).subjects
    assert advice in explain_tool("tdqs", {"parameter_semantics": 2}, subject, ())["parameter_semantics"].justification


def test_a_sentence_about_another_tool_is_no_reason_for_this_one():
    text = "Answers a question from the web. For several sources, use research_web instead. For sums, use work_out instead."
    definitions = [
        tool("ask_web", text, flat(1)),
        tool("research_web", "Researches."),
        tool("work_out", "Adds numbers."),
    ]
    score = sync.score(read_catalog(definitions, name="web"))
    assert (
        score.tools[0].judgements["usage_guidelines"].justification.startswith("Beside this tool it names another one:")
    )


@pytest.mark.parametrize(
    ("result", "is_told"),
    [
        ({"result": {"type": "string"}}, False),
        ({"links": {"type": "array", "items": {"type": "object", "properties": {"href": {"type": "string"}}}}}, True),
    ],
    ids=["a bare string", "links"],
)
def test_what_comes_back_is_told_by_an_output_schema_that_tells_it(result, is_told):
    raw = tool(
        "read_links", "Reads the links of a page.", flat(0), outputSchema={"type": "object", "properties": result}
    )
    [subject] = measure(read_catalog([raw], name="pages")).subjects
    key = "contextual_completeness"
    told, untold = (explain_tool("tdqs", {key: score}, subject, ())[key].justification for score in (4, 3))
    assert ("An output schema says what comes back: links, href." in told) is is_told
    assert "no output schema" not in untold


NOTHING = [
    {"type": "object", "additionalProperties": True},
    {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]},
]


@pytest.mark.parametrize("schema", NOTHING)
def test_an_output_schema_that_says_nothing_raises_no_score(schema):
    plain, wrapped = (
        sync.score(read_catalog([tool("read_links", "Reads the links of a page.", flat(1), **more)], name="pages"))
        for more in ({}, {"outputSchema": schema})
    )
    assert plain.tools[0].scores == wrapped.tools[0].scores


def test_a_retired_tool_is_no_sibling_to_turn_to_and_gets_no_advice_on_its_text():
    tools = [tool("get_note", "Return a note."), tool("fetch_note", "DEPRECATED: Use get_note instead.")]
    score = sync.score(read_catalog([*tools, tool("list_notes", "Return all notes.")], name="notes"))
    assert "sibling is fetch_note" not in as_markdown(score_blocks(score))
    assert "For a " not in as_markdown(tool_blocks(score, ["fetch_note"]))
    assert "For a " in as_markdown(tool_blocks(score, ["get_note"]))


def reason_for(key, score, raw, *siblings):
    """Return the reason that a tool has for a score, with the sentences read by the shipped model."""
    subject = measure(read_catalog([raw, *siblings], name="any")).subjects[0]
    readings = calibration(versions()[0]).sentences.read(read_text(subject))
    return explain_tool("tdqs", {key: score}, subject, readings)[key].justification


@pytest.mark.parametrize("score", range(1, 6))
@pytest.mark.parametrize(
    "text", ["Lists trains.", "Lists trains of a station. Lists trains of a station.", "Lists it. pace: Slow or fast."]
)
def test_a_reason_for_conciseness_quotes_the_text_once(score, text):
    raw = tool("list_trains", text, takes(pace={"type": "string", "description": "Slow or fast."}))
    reason = reason_for("conciseness_structure", score, raw)
    [quotation] = re.findall('"([^"]*)"', reason) if score > 1 else [text]
    assert quotation.rstrip(".") in text


@pytest.mark.parametrize(
    ("key", "score", "text", "claims"),
    [
        # A model takes these for a use, a result or empty; their words do not say so.
        ("usage_guidelines", 3, "Scores a day. If not specified, uses the current date.", "is given|says when"),
        (
            "usage_guidelines",
            4,
            "Rates text. Not suitable for production without human review.",
            "says when to use|say when not",
        ),
        ("conciseness_structure", 3, "Scores text. Authentication: none is required for basic usage.", "nothing|else"),
        ("purpose_clarity", 3, "Perform a click on a web page.", "leaves open|roughly"),
        ("purpose_clarity", 3, "Cleanup all managed resources.", "fits any tool"),
        ("purpose_clarity", 5, "Purpose:\nLists trains of a station.", '"Purpose:"'),
        ("parameter_semantics", 1, "列出指定车站的车次和余票。", "station_code"),
        ("contextual_completeness", 1, "Gets the log of one job of a release.", "cannot be called|too much"),
    ],
)
def test_a_reason_states_nothing_that_a_look_at_the_definition_does_not_prove(key, score, text, claims):
    reason = reason_for(key, score, tool("run_it", text, takes("station_code")), tool("list_days"))
    assert not re.search(claims, reason)
    assert len(reason) < 200


@pytest.mark.parametrize(
    ("key", "score", "text", "advice"),
    [
        ("purpose_clarity", 3, "The weather of a city, read from the nearest station.", "begin with the verb"),
        (
            "purpose_clarity",
            3,
            "Performs the request of the agent on the site of the station.",
            "name the action itself",
        ),
        ("purpose_clarity", 3, "Run the days.", "what the name leaves open"),
        ("usage_guidelines", 3, "Lists trains. Use this when a trip is planned.", "name the sibling"),
        ("usage_guidelines", 2, "Lists trains. Use this when a trip is planned.", "for this tool and for no sibling"),
        ("behavioral_transparency", 3, "Lists trains. Requires a paid account.", "how it fails"),
        ("parameter_semantics", 3, "Lists trains.", "what the schema leaves open about pace"),
        ("parameter_semantics", 3, "Lists trains of a station, by its code.", "depend on each other"),
        ("conciseness_structure", 3, "Lists all the trains of this week.", "neither name nor schema says"),
    ],
)
def test_the_advice_for_the_next_point_asks_for_nothing_that_stands_there(key, score, text, advice):
    pace = {"pace": {"type": "string", "description": "Slow or fast."}} if "pace" in advice else {}
    raw = tool("run_it", text, takes(**pace) if pace else takes("station_code"))
    reason = reason_for(key, score, raw, tool("list_days"))
    assert f"For a {score + 1}, " in reason
    assert advice in reason


def test_a_reason_for_length_counts_words_and_quotes_what_stands_there_twice():
    twice = "Always check the calendar for holidays first. Always check the calendar for holidays first."
    raw = tool("plan_day", f"Plans a day. {twice}", flat(0))
    assert 'more than once: "Always check the calendar for holidays first."' in reason_for(
        "conciseness_structure", 3, raw
    )
    assert "one sentence of 3 words" in reason_for("conciseness_structure", 5, tool("plan_day", "Plans a day."))


def test_a_parameter_whose_words_the_description_has_is_not_called_unexplained():
    schema = {"type": "object", "properties": {"work_item_id": {"type": "integer"}, "depth": {"type": "integer"}}}
    raw = tool("get_item", "Gets a single work item by its numeric ID.", schema)
    score = sync.score(read_catalog([raw], name="items")).tools[0]
    reason = score.judgements["parameter_semantics"].justification
    assert "depth" in reason
    assert "work_item_id" not in reason


def test_a_finding_has_one_severity_in_a_score_and_in_lint(command, write):
    """Two tools that compete, neither of which says when it is right."""
    reads = {"readOnlyHint": True, "openWorldHint": False}
    file = {"type": "object", "properties": {"file": {"type": "string", "description": "The file's id"}}}
    texts = {"update_file": "Update the content of a file.", "update_text_file": "Update the content of a text file."}
    tools = write("files.json", [tool(name, text, file, annotations=reads) for name, text in texts.items()])

    def severities(name):
        findings = json.loads(command(name, tools, "--format", "json").stdout)["findings"]
        return {finding["rule"]: finding["severity"] for finding in findings}

    scored, linted = severities("score"), severities("lint")
    assert scored["TDQ104"] == "info"
    assert {rule: scored[rule] for rule in linted} == linted
    write("tdqs.toml", '[severity]\nTDQ104 = "error"')
    assert severities("score")["TDQ104"] == "error"
