"""The way to a target: the rewrites that it needs, and the questions whose answers are enough."""

import json
import re
from dataclasses import replace

import jsonschema
import pytest
from definitions import takes, tool
from schemas import SCHEMAS

import tdqs_mcp
from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.results.verdicts import Judgement, JudgeStamp
from tdqs_mcp.rewriting.proposals import apply
from tdqs_mcp.rubrics.prompt import SetCase
from tdqs_mcp.sources.files import read_file
from tdqs_mcp.sources.input_files import parse_material

ORDER_TOOLS = [
    tool("cancel_order", "Cancel order", takes("order_id", "reason")),
    tool("find_orders", "Finds the open orders of one customer, newest first, at most 50.", takes("customer")),
    tool("get_invoice", "Get invoice", takes("order_id")),
]
"""Two of three take what the third one finds."""

HARD = [tool("do_it", "Does it."), tool("run", "Runs.")]
"""Nothing is known of them, so there is nothing to rewrite."""


def orders():
    return tdqs_mcp.read({"tools": ORDER_TOOLS}, server="orders")


class Moved:
    """A judge to whom only tools that name something are good, and a tool set coheres as their number says."""

    def __init__(self, scores):
        self.stamp = JudgeStamp(id="moved", version="1")
        self._scores = scores

    async def grade(self, cases):
        return [self._verdict(case, each) for case, each in zip(cases, await Offline().grade(cases), strict=True)]

    def _verdict(self, case, verdict):
        if isinstance(case, SetCase):
            score = self._scores[sum(map(self._is_good, case.measured.subjects))]
        else:
            score = 3 if self._is_good(case.subject) else 1
        judgements = {key: Judgement(score=score, justification="x") for key in verdict.judgements}
        return replace(verdict, judgements=judgements)

    def _is_good(self, subject):
        return "Find `" in subject.tool.description


@pytest.mark.parametrize(("scores", "reached"), [((3, 4, 5), True), ((5, 1, 1), False), ((5, 1, 4), True)])
def test_rewrites_that_move_the_coherence_are_judged_again(scores, reached):
    """Fewer rewrites are kept only where the server with these and no others is judged to reach the target."""
    judge = Moved(scores)
    now = tdqs_mcp.score(orders(), judge=judge).rollup.overall
    rewrites = tdqs_mcp.rewrite(orders(), judge=judge)
    report = tdqs_mcp.reach_target(orders(), rewrites, target=str((now + 1) / 10), judge=judge)
    improved = apply(orders(), {rewrite.index: rewrite.definition for rewrite in report.rewrites})
    assert tdqs_mcp.score(improved, judge=judge).rollup == report.goal.after
    assert report.goal.is_reached is reached, (now, report.goal.after)


@pytest.mark.parametrize("target", ["E", "", "0.9", "5.1", "3.55", "nan", "inf", "A+", "1e1"])
def test_what_is_no_target_is_refused(target):
    with pytest.raises(InputError, match=r"not a target; give a tier A-D or an overall score such as 3\.5"):
        tdqs_mcp.reach_target(orders(), [], target=target)


@pytest.mark.parametrize("tools", [[], [tool("ok"), {"description": "no name"}]])
def test_without_an_overall_score_no_target_is_reached(tools):
    with pytest.raises(InputError, match="without an overall score no target can be reached"):
        tdqs_mcp.reach_target(tdqs_mcp.read({"tools": tools}), [], target="A")


def test_the_command_exits_1_out_of_reach_and_asks_what_only_the_author_can_write(command, write):
    done = command("rewrite", write("orders.json", ORDER_TOOLS), "--target", "4.9")
    text = " ".join(done.stdout.decode().split())
    assert done.returncode == 1
    assert re.search(r"overall \d\.\d \w → \d\.\d \w, below the target 4\.9 A", text)
    assert "expected gain: the change of TDQS less 0." in text
    assert "--target 4.9 --material FILE" in text
    assert "? " in text


def test_a_tool_set_that_no_definition_can_save_is_said_to_be_one(command, write):
    done = command("rewrite", write("orders.json", HARD), "--target", "5.0")
    assert done.returncode == 1
    assert "the tool set itself has to become more coherent" in " ".join(done.stdout.decode().split())


def test_the_command_exits_0_at_the_target_and_writes_what_reaches_it(command, write, tmp_path):
    file = write("orders.json", ORDER_TOOLS)
    now = tdqs_mcp.score(orders()).rollup.overall
    done = command("rewrite", file, "--target", str((now + 1) / 10), "--write", tmp_path / "better.json")
    assert done.returncode == 0
    assert "is reached" in done.stdout.decode()
    assert tdqs_mcp.score(tdqs_mcp.load(str(tmp_path / "better.json"))).rollup.overall > now
    there = command("rewrite", file, "--target", "D")
    text = " ".join(there.stdout.decode().split())
    count = sum(bool(rewrite.changes) for rewrite in tdqs_mcp.rewrite(orders()))
    assert there.returncode == 0
    assert f"the target 1.0 D is reached; without --target: {count} more rewrites and " in text
    assert text.endswith("The target needs no rewrite and no answer")


def test_a_rewrite_that_costs_no_tokens_stays_only_if_the_target_needs_it(command, tmp_path):
    """Hints alone cost nothing."""
    tools = "".join(
        f'@server.tool()\ndef {name}(boat: str) -> str:\n    """{text}"""\n    return httpx.{method}(boat).text\n\n\n'
        for name, text, method in (("get_berth", "Get the berth of a boat.", "get"), ("moor", "Moor a boat.", "put"))
    )
    head = 'import httpx\nfrom mcp.server import MCPServer\n\nserver = MCPServer("harbour")\n\n\n'
    (tmp_path / "server.py").write_text(head + tools, encoding="utf-8")
    everything = json.loads(command("rewrite", tmp_path, "--format", "json").stdout)["rewrites"]
    assert any(rewrite["changes"] and rewrite["tokensAfter"] == rewrite["tokensBefore"] for rewrite in everything)
    document = json.loads(command("rewrite", tmp_path, "--target", "D", "--format", "json").stdout)
    assert [rewrite["changes"] for rewrite in document["rewrites"]] == [[], []]


def test_the_command_exits_2_where_there_is_nothing_to_plan(command, write):
    done = command("rewrite", write("none.json", []), "--target", "A")
    assert (done.returncode, done.stdout) == (2, b"")
    assert command("rewrite", write("orders.json", ORDER_TOOLS), "--target", "Z").returncode == 2
    assert command("rewrite", write("orders.json", ORDER_TOOLS), "--target", "A", "--tool", "nothing").returncode == 2


def test_the_json_of_a_target_fits_its_schema_and_foreign_text_stays_text(command, write):
    order = "@everyone <script> | `code`\x1b[31m"
    file = write("orders.json", [*ORDER_TOOLS, tool(order, order, takes(order))])
    for target in ("D", "2.5", "5.0"):
        document = json.loads(command("rewrite", file, "--target", target, "--format", "json").stdout)
        jsonschema.validate(document, SCHEMAS["rewrite"])
        goal = document["goal"]
        assert goal["reached"] == (goal["after"]["overallScore"] >= goal["target"])
        text = command("rewrite", file, "--target", target, "--format", "markdown").stdout.decode()
        assert "<script>" not in text
        assert "\x1b" not in text


def test_a_target_keeps_the_rewrites_that_it_needs_and_no_other(whole_corpus):
    """Each rewrite that is kept is needed: without it the same judge finds the server below its target."""
    reached = 0
    for path in whole_corpus:
        catalog = read_file(path)
        if len(catalog.tools) > 25:
            continue
        rewrites = tdqs_mcp.rewrite(catalog)
        overall = tdqs_mcp.score(apply(catalog, {each.index: each.definition for each in rewrites})).rollup.overall
        if overall is None:
            continue
        report = tdqs_mcp.reach_target(catalog, rewrites, target=f"{overall / 10}")
        assert report.goal.is_reached
        assert not report.questions
        kept = [rewrite for rewrite in report.rewrites if rewrite.changes and rewrite.tokens_added > 0]
        for left_out in kept:
            others = {each.index: each.definition for each in report.rewrites if each is not left_out}
            score = tdqs_mcp.score(apply(catalog, others))
            assert score.rollup.overall < overall or score.rollup.coherence != report.goal.after.coherence
        reached += bool(kept)
    assert reached >= 5


def test_the_questions_of_a_target_are_those_whose_answers_are_enough_the_lowest_tool_first():
    report = tdqs_mcp.reach_target(orders(), tdqs_mcp.rewrite(orders()), target="4.5")
    everything = tdqs_mcp.rewrite(orders())
    lowest = min(everything, key=lambda rewrite: rewrite.after.tdqs)
    assert lowest.name in report.questions[0].tools
    assert 0 < len(report.questions) <= len({question.id for each in everything for question in each.questions})
    easier = tdqs_mcp.reach_target(orders(), everything, target="3.0")
    assert len(easier.questions) < len(report.questions)
    assert easier.goal.with_answers >= 30


def test_a_target_out_of_reach_asks_everything_and_says_how_far_answers_go():
    catalog = tdqs_mcp.read({"tools": HARD})
    report = tdqs_mcp.reach_target(catalog, tdqs_mcp.rewrite(catalog), target="5.0")
    assert not report.goal.is_reachable
    assert report.goal.with_answers < 50
    with pytest.raises(InputError, match="is not a target"):
        tdqs_mcp.reach_target(catalog, [], target="E")


def test_a_sentence_of_half_of_the_tools_with_only_the_nouns_swapped_counts_nowhere(command, write):
    verbs = ("pin", "fold", "sort", "mark")
    tools = [tool(f"{verb}_page", f"{verb.title()} a page.", takes("page_id")) for verb in verbs]
    catalog = tdqs_mcp.read({"tools": tools}, server="wiki")
    same = {
        f"{verb}_page.behavior": f"Only admins may {verb} a page; the page's author gets an e-mail within the hour, and a second {verb} fails."
        for verb in verbs
    }
    other = {
        "pin_page.behavior": "The page stays above all others until somebody pins another one.",
        "fold_page.behavior": "Readers see only its title; search still finds the text.",
        "sort_page.behavior": "Headings are ordered by the alphabet, and links to them keep working.",
        "mark_page.behavior": "A second call takes the mark off; watchers get an e-mail.",
    }  # fmt: skip

    def gains(answers):
        material = parse_material({"answers": {key: f"!{text}" for key, text in answers.items()}})
        rewrites = tdqs_mcp.rewrite(catalog, material=material)
        assert all(len(rewrite.changes) == 1 for rewrite in rewrites), "whatever it counts, it is written"
        return [rewrite.tdqs_change for rewrite in rewrites], rewrites

    counted, rewrites = gains(same)
    assert max(counted) <= 0, "half of the tools say it"
    told, _ = gains(other)
    assert sum(told) > sum(counted)
    improved = apply(catalog, {rewrite.index: rewrite.definition for rewrite in rewrites})
    alone = tdqs_mcp.score(improved)
    assert [each.tdqs for each in tdqs_mcp.compare(catalog, improved).new.tools] == [each.tdqs for each in alone.tools]
    assert tdqs_mcp.reach_target(catalog, rewrites, target="5.0").goal.after.overall == alone.rollup.overall


def test_tools_of_one_kind_keep_the_sentence_that_says_what_each_is_for():
    things = ("card", "frame", "image", "shape")
    catalog = tdqs_mcp.read({"tools": [tool(f"get_{thing}", f"Gets {thing}.", takes("board_id")) for thing in things]})
    drafts = {f"get_{thing}": {"description": f"Returns one {thing} of a board by the board's id."} for thing in things}
    rewrites = tdqs_mcp.rewrite(catalog, drafts=drafts)
    improved = apply(catalog, {rewrite.index: rewrite.definition for rewrite in rewrites})
    alone = [tool_score.tdqs for tool_score in tdqs_mcp.score(improved).tools]
    assert [rewrite.after.tdqs for rewrite in rewrites] == alone
    assert min(alone) > 10
