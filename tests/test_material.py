"""What the author says stands where it belongs, in his words; what is answered is not asked again."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest
from definitions import tool

import tdqs_mcp
from tdqs_mcp.errors import InputError
from tdqs_mcp.results.verdicts import Judgement, JudgeStamp, Verdict
from tdqs_mcp.rewriting.proposals import apply
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.sources.input_files import add_answers, parse_material, parse_text

TEXT, NUMBER = {"type": "string"}, {"type": "integer", "maximum": 50}


def takes(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)[:1]}


GIT = (
    tool("git_show", "Shows a commit.", takes(repo_path=TEXT, max_lines=NUMBER)),
    tool("git_list", "Lists the branches of a repository.", takes(repo_path=TEXT)),
    tool("delete_branch", "Deletes a branch.", takes(repo_path=TEXT, branch=TEXT, force={"type": "boolean"})),
    tool("update_branch", "Updates a branch.", takes(repo_path=TEXT, branch=TEXT)),
)
READING = (
    tool("get_commit", "Shows a commit.", takes(repo_path=TEXT)),
    tool("get_branches", "Lists the branches of a repository.", takes(repo_path=TEXT)),
)


def read(*tools):
    return tdqs_mcp.read({"tools": list(tools)})


def rewritten(material, *, tools=GIT, **options):
    """The rewrites by the name of their tool."""
    found = tdqs_mcp.rewrite(read(*tools), material=parse_material(material), **options)
    return {rewrite.name: rewrite for rewrite in found}


def meaning(rewrite, name):
    return rewrite.definition["inputSchema"]["properties"][name].get("description")


def asked(rewrites):
    return {question.id for rewrite in rewrites.values() for question in rewrite.questions}


@pytest.mark.parametrize(
    "fact", ["`repo_path` is the checkout", "If repo_path is missing, the working directory is used"]
)
def test_a_fact_stands_whole_in_its_tool_and_of_no_tool_only_supports(fact):
    found = rewritten({"facts": [{"tool": "git_show", "fact": fact}]})
    assert found["git_show"].definition["description"] == f"Shows a commit. {fact}."
    assert (found["git_show"].sources, found["git_list"].sources) == ({"description", "fact 1"}, frozenset())
    assert meaning(found["git_show"], "repo_path") is None
    general = rewritten({"facts": [fact]})["git_show"]
    assert not general.changes
    assert [each.source for each in general.unused] == ["fact 1"]


def test_a_fact_that_names_two_parameters_or_none_stands_in_the_description_with_names_in_their_own_case():
    facts = ["repo_path and max_lines go together", "renames are followed"]
    found = rewritten({"facts": [{"tool": "git_show", "fact": fact} for fact in facts]})["git_show"]
    said = "Shows a commit. `repo_path` and max_lines go together. Renames are followed."
    assert found.definition["description"] == said
    assert [(claim.sources, claim.route) for claim in found.claims] == [(("fact 1",), "fact"), (("fact 2",), "fact")]


def test_what_a_parameter_says_already_stays_and_goes_before():
    old = tool("git_show", "Shows a commit.", takes(max_lines={**NUMBER, "description": "Lines of the difference"}))
    found = rewritten({"parameters": {"git_show": {"max_lines": "the rest is cut"}}}, tools=[old])["git_show"]
    assert meaning(found, "max_lines") == "Lines of the difference. The rest is cut."
    assert found.sources >= {"parameters git_show.max_lines"}


@pytest.mark.parametrize(
    ("place", "answer", "sentence"),
    [
        ("returns", "the commit with its author", "Returns the commit with its author."),
        ("returns", "The commit; an unknown one gives an error.", "Returns the commit; an unknown one gives an error."),
        ("returns", "JSON", "Returns JSON."),
        ("returns", "orders sorted by date", "Returns orders sorted by date."),
        ("returns", "returns the commit", "Returns the commit."),
        ("returns", "prints the commit", "Prints the commit."),
        ("returns", "the commit is returned", "The commit is returned."),
        ("limit", "up to 20 lines", "Up to 20 lines."),
        ("usage", "when a hash is known", "Use it when a hash is known."),
        ("usage", "to read one; for all, use git_list", "Use it to read one; for all, use git_list."),
        ("usage", "When a hash is known, use this", "When a hash is known, use this."),
        ("usage", "Use git_list for branches!", "Use git_list for branches!"),
        ("behavior", "no, notes are left out", "Notes are left out."),
        ("behavior", "No note is shown", "No note is shown."),
        ("behavior", "max_lines cuts it", "`max_lines` cuts it."),
    ],
)
def test_an_answer_is_a_sentence_of_the_description_in_the_author_s_words(place, answer, sentence):
    found = rewritten({"answers": {f"git_show.{place}": answer}})["git_show"]
    assert found.definition["description"] == f"Shows a commit. {sentence}"
    assert f"git_show.{place}" not in {question.id for question in found.questions}
    [claim] = [claim for claim in found.claims if claim.route == "answer"]
    assert (claim.text, claim.sources) == (sentence, (f"answer git_show.{place}",))


def test_an_answer_about_the_purpose_replaces_a_sentence_that_says_nothing_and_no_warning():
    told = {"answers": {"run.purpose": "this tool runs the tests of a folder"}}
    silent = rewritten(told, tools=[{"name": "run", "inputSchema": takes(folder=TEXT)}])["run"]
    assert silent.definition["description"] == "Runs the tests of a folder."
    empty = rewritten(told, tools=[tool("run", "Run. Needs a shell.", takes(folder=TEXT))])["run"]
    assert empty.definition["description"] == "Runs the tests of a folder. Needs a shell."
    warned = rewritten(told, tools=[tool("run", "Never run it twice.", takes(folder=TEXT))])["run"]
    assert warned.definition["description"] == "Runs the tests of a folder. Never run it twice."


def test_other_languages_keep_their_answers_as_they_are():
    chinese = tool("get_train", "获取指定车次的信息。", takes(number=TEXT))
    found = rewritten({"answers": {"get_train.returns": "车次的信息"}}, tools=[chinese])["get_train"]
    assert found.definition["description"].endswith("车次的信息。")
    assert "Returns" not in found.definition["description"]


def test_an_answer_that_stands_as_it_was_given_is_not_added_again():
    french = tool("list_tables", "Liste toutes les tables dans un document.", takes(document=TEXT))
    material = {
        "answers": {"list_tables.limit": "250 entries", "list_tables.usage": "Use it once the document is known."}
    }
    first = rewritten(material, tools=[french])["list_tables"]
    assert "250 entries." in first.definition["description"]
    assert not rewritten(material, tools=[first.definition])["list_tables"].changes
    listed = {"answers": {"list_tables.parameters.document": "- its id\n- or its name"}}
    first = rewritten(listed, tools=[french])["list_tables"]
    assert meaning(first, "document") == "Its id\n- or its name."
    assert not rewritten(listed, tools=[first.definition])["list_tables"].changes


@pytest.mark.parametrize(
    "material",
    [
        {"answers": {"update_branch.annotations.idempotentHint": "yes"}},
        {"answers": {"update_branch.annotations.idempotentHint": True}},
        {"answers": {"update_branch.annotations.idempotentHint": "It is idempotent."}},
        {"annotations": {"update_branch": {"idempotentHint": True}}},
        {"facts": [{"tool": "update_branch", "fact": "idempotentHint: true"}]},
        {"facts": [{"tool": "update_branch", "fact": "`idempotentHint` is true."}]},
    ],
)
def test_what_is_said_of_a_hint_sets_it_and_is_no_sentence(material):
    found = rewritten(material)["update_branch"]
    assert found.definition["annotations"] == {"idempotentHint": True}
    said = found.definition["description"].removeprefix("Updates a branch.").strip()
    assert said in ("", "It is idempotent.")
    assert not any("idempotentHint" in question.id for question in found.questions)


def test_what_is_added_to_a_yes_or_a_no_is_said():
    told = {"answers": {"update_branch.annotations.idempotentHint": "no, each call adds a commit"}}
    found = rewritten(told)["update_branch"].definition
    assert found["annotations"] == {"idempotentHint": False}
    assert found["description"] == "Updates a branch. Each call adds a commit."


def test_an_answer_to_a_shared_question_goes_to_its_tools_and_one_of_a_tool_before_it():
    material = {"answers": {"*.parameters.repo_path": "the checkout", "git_list.parameters.repo_path": "a bare clone"}}
    found = rewritten(material)
    assert [meaning(each, "repo_path") for each in found.values()] == [
        "The checkout.", "A bare clone.", "The checkout.", "The checkout.",
    ]  # fmt: skip
    assert not any("repo_path" in each for each in asked(found))


def test_a_parameter_that_a_sibling_describes_is_asked_of_nobody():
    path = {"repo_path": {**TEXT, "description": "Absolute path of the checkout"}}
    assert "*.parameters.repo_path" in asked(rewritten({}))
    described = tool("git_log", "Shows the commits of a branch.", takes(**path))
    left = asked(rewritten({}, tools=[described, *GIT]))
    assert not [each for each in left if each.endswith("parameters.repo_path")]
    assert "delete_branch.parameters.force" in left


def test_a_shared_answer_means_the_same_tools_in_a_second_run():
    tools = [
        *GIT,
        *(tool(f"create_{noun}", f"Creates a {noun}.", takes(name=TEXT)) for noun in ("tag", "note", "hook")),
    ]
    material = {"answers": {"create*.annotations.destructiveHint": "no", "create*.annotations.openWorldHint": "no"}}
    first = rewritten(material, tools=tools)
    assert {name for name, each in first.items() if "destructiveHint" in each.definition.get("annotations", {})} == {
        "create_tag", "create_note", "create_hook",
    }  # fmt: skip
    again = rewritten(material, tools=[each.definition for each in first.values()])
    assert not [name for name, each in again.items() if each.changes]


@pytest.mark.parametrize("text", ["yes, they only read.", "yes"])
def test_an_answer_about_several_tools_is_in_no_description(text):
    found = rewritten({"answers": {"get*.annotations.readOnlyHint": text}}, tools=READING)
    assert [each.definition["annotations"] for each in found.values()] == [{"readOnlyHint": True}] * 2
    assert [each.definition["description"] for each in found.values()] == [each["description"] for each in READING]


@pytest.mark.parametrize(
    ("tools", "shared"),
    [
        (("get_tag", "get_note", "list_notes"), {"get_tag", "get_note"}),  # a list and one thing may differ
        (("create_tag", "create_note", "update_tag"), {"create_tag", "create_note"}),
        (("send_tag", "update_tag"), set()),
    ],
)
def test_a_yes_or_no_is_asked_together_only_of_tools_that_do_the_same(tools, shared):
    found = rewritten({}, tools=[tool(name, f"{name.replace('_', ' ').capitalize()}.", takes()) for name in tools])
    questions = [question for rewrite in found.values() for question in rewrite.questions if "Hint" in question.id]
    assert {frozenset(question.tools) for question in questions if len(question.tools) > 1} == {frozenset(shared)} - {
        frozenset()
    }


def test_parameters_of_one_name_are_asked_about_together_only_with_one_schema():
    form, free = {"type": "object", "properties": {"a": TEXT}}, {"type": "object"}
    tools = [
        tool("get_tag", "Gets a tag.", takes(mode={"enum": ["a", "b"]}, form=form, data=free)),
        tool("get_note", "Gets a note.", takes(mode={"enum": ["a", "b"]}, form=form, data=free)),
        tool("get_hook", "Gets a hook.", takes(mode={"enum": ["c", "d"]}, form=form, data=free)),
    ]
    questions = {
        each: found
        for rewrite in rewritten({}, tools=tools).values()
        for found in rewrite.questions
        for each in [found.id]
    }
    assert questions["*.parameters.mode"].tools == ("get_tag", "get_note")
    assert questions["get_hook.parameters.mode"].tools == ("get_hook",)
    assert {f"get_{name}.parameters.data" for name in ("tag", "note", "hook")} <= questions.keys()
    assert not [each for each in questions if each.endswith("parameters.form")]  # the schema has its fields


def test_to_change_nothing_agrees_with_only_reading():
    log = tool("git_log", "Shows the commits of a branch.", takes())
    told = {
        "answers": {"git_log.behavior": "It changes nothing in the repository."},
        "annotations": {"git_log": {"readOnlyHint": True}},
    }
    found = rewritten(told, tools=[log])["git_log"].definition
    assert found["annotations"] == {"readOnlyHint": True}
    assert "It changes nothing in the repository." in found["description"]


def test_a_tool_that_does_not_only_read_gets_the_shared_answers_in_the_first_run():
    material = {
        "answers": {"get_commit.annotations.readOnlyHint": "no, it does not", "get*.annotations.openWorldHint": "no"}
    }
    first = rewritten(material, tools=READING)
    assert first["get_commit"].definition["annotations"] == {"readOnlyHint": False, "openWorldHint": False}
    assert first["get_commit"].definition["description"] == "Shows a commit."
    assert "annotations" not in first["get_branches"].definition
    again = rewritten(material, tools=[each.definition for each in first.values()])
    assert not [name for name, each in again.items() if each.changes]


ANSWERS = {
    "git_show.usage": "when a hash is known",
    "git_show.behavior": "An unknown commit is an error.",
    "git_show.returns": "the commit with its difference",
    "*.parameters.repo_path": "absolute path of the checkout",
    "git_show.parameters.max_lines": "lines of the difference, at most",
    "git_show.annotations.readOnlyHint": "yes",
    "delete_branch.behavior": "Commits that no other branch has are lost after a month.",
    "*.parameters.branch": "name without refs/heads",
    "delete_branch.parameters.force": "deletes a branch that is not merged",
    "delete_branch.annotations.idempotentHint": "no",
}


def test_what_is_answered_is_closed_now_and_in_the_next_run_without_the_material():
    first = rewritten({"answers": ANSWERS})
    again = rewritten({}, tools=[each.definition for each in first.values()])
    places = {f"{name}.{each.split('.', 1)[1]}" for each in ANSWERS for name in ("*", "git_show", "delete_branch")}
    for found in (first, again):
        shown = {name: found[name] for name in ("git_show", "delete_branch")}
        assert not asked(shown) & (ANSWERS.keys() | places - {"delete_branch.usage", "delete_branch.returns"})
    assert all(each.tokens_after >= each.tokens_before for each in first.values())
    assert not [name for name, each in again.items() if each.claims]


class Averse:
    """A judge that likes a definition less, the longer it is."""

    stamp = JudgeStamp(id="averse", version="1")

    async def grade(self, cases):
        return [self._verdict(case.subject.tool.description or "") for case in cases]

    def _verdict(self, text):
        score, keys = max(1, 2 - len(text) // 40), load("tdqs").keys
        return Verdict(judgements={key: Judgement(score=score, justification="x") for key in keys}, summary="x")


def test_the_author_s_words_stay_whatever_they_score_and_however_long_they_are():
    fact = "Hooks of the repository run before anything is shown, and a hook that fails ends the call with its own message."
    found = rewritten({"facts": [{"tool": "git_show", "fact": fact}]}, judge=Averse(), growth=0)["git_show"]
    assert found.after.tdqs < found.before.tdqs
    assert found.definition["description"].endswith(fact)


@pytest.mark.parametrize(
    ("material", "sides"),
    [
        (
            {"annotations": {"delete_branch": {"readOnlyHint": True}}},
            "Annotations delete_branch.readOnlyHint is true, but the name says 'delete_branch'",
        ),
        (
            {"answers": {"delete_branch.annotations.destructiveHint": "no"}},
            "Answer delete_branch.annotations.destructiveHint is false, but 'delete_branch' says 'delete'",
        ),
        (
            {"answers": {"git_show.parameters.max_lines": "at most 500"}},
            "Answer git_show.parameters.max_lines says 'at most 500', but the schema gives `max_lines` the maximum 50",
        ),
        (
            {"parameters": {"git_show": {"repo_path": "`repo_path` is optional"}}},
            "but the schema requires `repo_path`",
        ),
        (
            {"facts": [{"tool": "update_branch", "fact": "It is idempotent."}], "annotations": {"update_branch": {"idempotentHint": False}}},
            "Annotations update_branch.idempotentHint is false, but fact 1 says 'It is idempotent.'",
        ),
    ],
)  # fmt: skip
def test_what_contradicts_schema_name_or_other_material_stands_with_the_remark_and_is_asked_back(material, sides):
    found = rewritten(material)
    conflicts = [each for rewrite in found.values() for each in rewrite.questions if each.about == "conflict"]
    assert [each for each in conflicts if sides in each.text], [each.text for each in conflicts]
    claims = [claim for rewrite in found.values() for claim in rewrite.claims if claim.route in ("fact", "answer")]
    assert claims
    assert all(claim.conflict for claim in claims)


KEPT = tool("remove_plant", "Marks a plant as dead; its history stays available.", takes(plant={"type": "string"}))


@pytest.mark.parametrize(
    ("answer", "is_conflict"),
    [
        ("The history is deleted too and cannot be restored.", True),
        ("The history is kept, the label is deleted.", False),
        ("With `force` the history is deleted too, but only then.", False),
    ],
)
def test_an_answer_that_a_thing_is_lost_is_shown_beside_the_sentence_that_keeps_it(answer, is_conflict):
    found = rewritten({"answers": {"remove_plant.behavior": answer}}, tools=[KEPT])["remove_plant"]
    conflicts = [question.text for question in found.questions if question.about == "conflict"]
    sides = f"says {answer!r}, but the description says {KEPT['description']!r}"
    assert [sides in text for text in conflicts] == [True] * is_conflict


SORTED = tool(
    "list_files",
    "Lists files.",
    takes(
        sort={"type": "string", "enum": ["asc", "desc"], "default": "asc"},
        limit={"type": "integer", "description": "At most 100 entries"},
    ),
)


@pytest.mark.parametrize(
    ("parameter", "text", "side"),
    [
        ("sort", "One of: `up`, `down`.", "the schema says 'asc, desc' of `sort`, not 'up, down'"),
        ("sort", "order; desc by default", "the schema gives `sort` the default asc"),
        ("limit", "at most 50 entries", "the description of `limit` says 100"),
        ("sort", "One of: `asc`, `desc`.", None),
        ("sort", "order; asc by default", None),
    ],
)
def test_what_contradicts_values_a_default_or_a_description_of_the_parameter_is_asked_back(parameter, text, side):
    found = rewritten({"parameters": {"list_files": {parameter: text}}}, tools=[SORTED])["list_files"]
    conflicts = [each.text for each in found.questions if each.about == "conflict"]
    assert [side in each for each in conflicts] == ([True] if side else [])
    assert [claim.conflict for claim in found.claims if claim.route == "fact"] == [side]
    assert meaning(found, parameter).lower().endswith(text.lower().rstrip(".") + ".")


def test_a_description_that_a_text_repeats_with_more_is_replaced_and_answered_routes_stand_back():
    longer = {"parameters": {"list_files": {"limit": "at most 100 entries of a page"}}}
    assert meaning(rewritten(longer, tools=[SORTED])["list_files"], "limit") == "At most 100 entries of a page."
    titled = {"name": "list_files", "title": "List the files of a folder tree", "inputSchema": takes(folder=TEXT)}
    told = {"answers": {"list_files.purpose": "lists files of a folder and below"}}
    found = rewritten(told, tools=[titled])["list_files"]
    assert found.definition["description"] == "Lists files of a folder and below."


def test_a_name_that_only_holds_a_verb_contradicts_nothing():
    log = tool("git_log", "Shows the log.", takes(repo_path=TEXT))
    found = rewritten({"annotations": {"git_log": {"readOnlyHint": True}}}, tools=[log])["git_log"]
    assert found.definition["annotations"] == {"readOnlyHint": True}


@pytest.mark.parametrize(
    ("material", "words"),
    [
        ({"answers": {"git_shwo.returns": "x"}}, "about a tool 'git_shwo' that is not there; did you mean 'git_show'"),
        ({"answers": {"git_show.retruns": "x"}}, "answers no question: 'retruns'; did you mean 'returns'?"),
        ({"answers": {"git_show": "x"}}, "names a tool and nothing of it"),
        ({"answers": {"git_show.conflict.fact-1": "x"}}, "correct the entry or the definition instead"),
        ({"answers": {"git_show.parameters.max_line": "x"}}, "that 'git_show' lacks: 'max_line'; did you mean 'max_lines'?"),
        ({"answers": {"*.parameters.zip": "x"}}, "that no tool has: 'zip'"),
        ({"parameters": {"git_show": {"repo": "x"}}}, "did you mean 'repo_path'?"),
        ({"annotations": {"gitlist": {"readOnlyHint": True}}}, "did you mean 'git_list'?"),
        ({"facts": [{"tool": "git_shows", "fact": "x"}]}, "fact 1 of the material is about a tool 'git_shows'"),
    ],
)  # fmt: skip
def test_material_about_what_is_not_there_names_what_is_like_it(material, words):
    with pytest.raises(InputError) as caught:
        rewritten(material)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("material", "words"),
    [
        ({"answers": ["x"]}, "answers must be an object"),
        ({"answers": {"a.returns": {}}}, "answer 'a.returns' must be a text that is not empty"),
        ({"annotations": {"a": {"readOnlyHint": "yes"}}}, "annotations of 'a' must be true or false"),
        ({"annotations": {"a": {"title": True}}}, "for readOnlyHint, destructiveHint"),
        ({"parameters": {"a": "x"}}, "parameters of 'a' must be an object"),
        ({"parameters": {"a": {"b": ""}}}, "parameter 'b' of 'a' must be a text"),
    ],
)
def test_material_out_of_form_says_where(material, words):
    with pytest.raises(InputError) as caught:
        parse_material(material)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"update_branch.behavior": "no"}, "answer in a sentence"),
        ({"git_show.usage": "rarely"}, "answer in a sentence"),
        ({"update_branch.annotations.idempotentHint": "perhaps"}, "answer with yes or no"),
        ({"git_show.returns": "The best output of all tools."}, "it says nothing about `git_show`"),
        ({"git_show.returns": "The commit with the best score first."}, None),
        ({"update_branch.behavior": "An amazing tool."}, "praises and tells nothing"),
        ({"*.parameters.max_lines": "lines"}, None),
    ],
)
def test_an_answer_that_cannot_be_used_is_listed_once_and_its_question_stays_open(answers, reason, command, write):
    [(key, text)] = answers.items()
    found = rewritten({"answers": answers})
    unused = {each.source: each.reason for rewrite in found.values() for each in rewrite.unused}
    if reason is None:
        assert unused == {}
        return
    assert reason in unused[f"answer {key}"]
    assert key in asked(found)
    material = write("material.json", {"answers": {key: text}})
    shown = " ".join(
        command("rewrite", write("git.json", {"tools": list(GIT)}), "--material", material).stdout.decode().split()
    )
    assert shown.count(f"not used: answer {key}") == 1


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("No idea, ask the backend team.", "it says nothing about `delete_branch`"),
        ("Works as expected.", "it says nothing about `delete_branch`"),
        ("Please check with Maria.", "it says nothing about `delete_branch`"),
        ("Set the parameter `include_notes` to true for notes.", "`delete_branch` has no parameter 'include_notes'"),
        ("Pass `note_id` of the note.", "`delete_branch` has no parameter 'note_id'"),
        ("It posts a note at `branch_ts`.", "`delete_branch` has no parameter 'branch_ts'"),
        ("An unknown branch ends the call with an error.", None),
        ("The commits of the branch stay.", None),
        ("`force` deletes an unmerged branch too.", None),
    ],
)
def test_an_answer_that_is_none_is_asked_again_with_the_reason_and_taken_when_confirmed(answer, reason):
    found = rewritten({"answers": {"delete_branch.behavior": answer}})["delete_branch"]
    unused = {each.source: each.reason for each in found.unused}
    if reason is None:
        assert answer in found.definition["description"]
        return
    assert unused["answer delete_branch.behavior"].startswith(reason)
    assert not found.changes
    assert "delete_branch.behavior" in {question.id for question in found.questions}
    for confirmed in (f"!{answer}", {"text": answer, "confirm": True}):
        sure = rewritten({"answers": {"delete_branch.behavior": confirmed}})["delete_branch"]
        assert answer in sure.definition["description"]


def test_words_that_answer_for_several_tools_are_offered_for_the_instructions_once():
    canned = "Requires a valid API token with the scope repo."
    names = ("git_show", "git_list", "update_branch")
    found = rewritten({"answers": {f"{name}.behavior": canned for name in names}})
    assert not any(rewrite.changes for rewrite in found.values())
    for name in names:
        [unused] = found[name].unused
        assert unused.reason.startswith("the same words answer 3 questions: say what is true of all once")
    two = rewritten({"answers": {f"{name}.behavior": canned for name in names[:2]}})
    assert all(canned in two[name].definition["description"] for name in names[:2])


@pytest.mark.parametrize(
    ("place", "answer"),
    [
        ("returns", "See above."),
        ("returns", "No idea, ask the backend team."),
        ("returns", "TBD"),
        ("purpose", "Does what it says."),
        ("returns", "Not documented yet."),
        ("parameters.max_lines", "TBD"),
        ("parameters.max_lines", "It depends."),
        ("parameters.max_lines", "No idea, ask the backend team."),
        ("parameters.max_lines", "Works as expected."),
    ],
)
def test_an_answer_that_tells_nothing_is_written_nowhere_whatever_it_was_asked_about(place, answer):
    found = rewritten({"answers": {f"git_show.{place}": answer}})["git_show"]
    assert not found.changes
    assert [unused.reason.partition(" about ")[0] for unused in found.unused] == ["it says nothing"]


COMMENTED = "# what we know\nanswers:\n    # of Monday\n    a.usage: when it rains\n\nfacts: [x]  # the rest\n"


@pytest.mark.parametrize(
    "text", ["", "# mine\nfacts:\n  - x # why\n", COMMENTED, "answers: {a.usage: x}\n", '{"facts": ["x"]}', "answers:\nfacts: [x]"]
)  # fmt: skip
def test_answers_are_added_to_a_file_that_keeps_the_rest(text):
    old = parse_text(text, origin="x") if text else {}
    new = add_answers(text, {"b.returns": 'yes: "it"', "*.parameters.c": "no"}, origin="x")
    kept = {**(old.get("answers") or {}), "b.returns": 'yes: "it"', "*.parameters.c": "no"}
    assert parse_text(new, origin="x") == {**old, "answers": kept}
    comments = [line.strip() for line in text.splitlines() if line.strip().startswith("#")]
    assert [line for line in comments if line not in new] == []
    assert add_answers(new, {"b.returns": "z"}, origin="x").count("b.returns") == 1


def answer_on_a_terminal(arguments, answers, folder):
    """What the command shows on a terminal of its own while it is given these answers, and its exit code."""
    ours, theirs = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-m", "tdqs_mcp", *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder
    )
    os.close(theirs)
    shown, given, prompts = b"", iter(answers), 0
    while True:
        try:
            shown += os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if shown.endswith(b"> ") and shown.count(b"> ") > prompts:
            prompts = shown.count(b"> ")
            os.write(ours, f"{next(given)}\n".encode())
    os.close(ours)
    return shown.decode(), run.wait(60)


@pytest.mark.process
def test_an_interview_asks_one_by_one_and_writes_the_material(write, tmp_path):
    write("git.json", {"tools": list(GIT)})
    questions = [question for each in rewritten({}).values() for question in each.questions]
    first = next(iter(sorted({each.id: each for each in questions}.values(), key=lambda each: -each.gain)))
    shown, code = answer_on_a_terminal(
        ["rewrite", "git.json", "--interview"],
        ["No idea, ask the backend team.", "absolute path", "", "no", "quit"],
        tmp_path,
    )
    assert code == 0
    assert "Not used: it says nothing about" in shown
    assert "1 of 8 questions answered" in shown
    assert " ".join(first.text.split()) in " ".join(shown.split())
    assert "Answer in a sentence; Enter skips." in shown
    assert "1 of " in shown
    assert re.search(r"^\d tools need you: \d+ questions, about \d+ minutes\. Now 8 questions", shown)
    assert parse_text((tmp_path / "material.yml").read_text(), origin="x") == {"answers": {first.id: "absolute path"}}
    assert "Absolute path." in shown
    assert "quit ends" in shown
    assert "tdqs-mcp rewrite git.json --material material.yml --write FILE" in " ".join(shown.split())
    shown, _ = answer_on_a_terminal(
        ["rewrite", "git.json", "--interview", "--material", "material.yml"], ["when a hash is known", "\x04"], tmp_path
    )
    kept = parse_text((tmp_path / "material.yml").read_text(), origin="x")["answers"]
    assert len(kept) == 2
    assert kept[first.id] == "absolute path"


@pytest.mark.process
def test_an_interview_asks_again_where_the_code_joins_tools_in_a_question(tmp_path):
    tools = "\n".join(
        f'@server.tool()\ndef {name}_flag(boat: str):\n    """{name.title()} the flag of a boat."""\n'
        "    return httpx.patch(f'https://api.boats.example/flags/{boat}').json()\n"
        for name in ("raise", "lower")
    )
    start = "import httpx\nfrom mcp.server.fastmcp import FastMCP\nserver = FastMCP('flags')\n"
    (tmp_path / "server.py").write_text(start + tools)
    shown, _ = answer_on_a_terminal(["rewrite", "server.py", "--interview"], ["no idea", "quit"], tmp_path)
    assert "*.returns" in shown.partition("> ")[0]
    assert "Not used: it says nothing about" in shown
    assert "0 of " in shown


@pytest.mark.process
def test_with_a_target_an_interview_asks_just_the_questions_that_are_announced(write, tmp_path, command):
    file = write("git.json", {"tools": list(GIT)})
    shown = json.loads(command("rewrite", file, "--target", "3.4", "--format", "json").stdout)
    ids = [question["id"] for question in shown["questions"]]
    assert 0 < len(ids) < 8
    heard, _ = answer_on_a_terminal(["rewrite", "git.json", "--target", "3.4", "--interview"], ["quit"], tmp_path)
    assert f"{len(ids)} question" in heard
    assert f"1 of {len(ids)} {ids[0]}" in " ".join(heard.split())


def test_an_interview_without_a_terminal_says_what_to_do(command, write):
    done = command("rewrite", write("git.json", {"tools": list(GIT)}), "--interview")
    assert done.returncode == 2
    assert "--material FILE takes the answers" in done.stderr.decode()


def test_an_answer_that_begins_with_no_goes_on_behind_the_words_of_its_question():
    found = rewritten({"answers": {"delete_branch.returns": "No content but the hash of the last commit."}})[
        "delete_branch"
    ]
    assert "Returns no content but the hash of the last commit." in found.definition["description"]


def test_a_report_lists_each_question_once(command, write):
    shown = json.loads(command("rewrite", write("git.json", {"tools": list(GIT)}), "--format", "json").stdout)
    ids = [question["id"] for question in shown["questions"]]
    assert len(ids) == len(set(ids))
    own = {question["id"] for rewrite in shown["rewrites"] for question in rewrite["questions"]}
    assert set(ids) <= own
    assert {question.rpartition(".")[2] for question in own - set(ids)} == {"usage"}  # only a target needs these
    shared = next(question for question in shown["questions"] if question["id"] == "*.parameters.repo_path")
    assert shared["tools"] == [each["name"] for each in GIT]
    assert shared["parameter"] == "repo_path"


def test_the_definition_with_answers_is_what_the_rewrites_apply():
    catalog = read(*GIT)
    rewrites = tdqs_mcp.rewrite(catalog, material=parse_material({"answers": ANSWERS}))
    improved = apply(catalog, {each.index: each.definition for each in rewrites})
    assert [each.tdqs for each in tdqs_mcp.score(improved).tools] == [each.after.tdqs for each in rewrites]
