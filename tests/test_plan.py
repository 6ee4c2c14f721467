"""The cheapest way to a tier: optimal by brute force, and what is predicted is what is achieved."""

import itertools
import json
import re
from dataclasses import replace

import jsonschema
import pytest
from definitions import takes, tool
from hypothesis import given, settings
from hypothesis import strategies as st
from schemas import SCHEMAS

import tdqs_mcp
from tdqs_mcp.errors import InputError, UnknownIdError
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.results.verdicts import Judgement, JudgeStamp, Tier, Ungraded
from tdqs_mcp.rewriting.improvement_plan import Candidate, cheapest
from tdqs_mcp.rewriting.proposals import apply
from tdqs_mcp.rubrics.prompt import SetCase, ToolCase
from tdqs_mcp.scoring.rollup import overall_of
from tdqs_mcp.sources.files import read_file

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


def sets(count):
    """Every set of positions."""
    return itertools.chain.from_iterable(itertools.combinations(range(count), size) for size in range(count + 1))


@st.composite
def tool_lists(draw):
    tools = []
    for _ in range(draw(st.integers(1, 7))):
        before = draw(st.integers(10, 50))
        tools.append(
            Candidate(
                before=before, after=draw(st.integers(before, 50)), tokens=draw(st.sampled_from([0, 1, 2, 5, 40]))
            )
        )
    return tools


@settings(max_examples=500)
@given(tool_lists(), st.integers(10, 50), st.integers(10, 50))
def test_no_other_set_of_rewrites_is_cheaper(tools, target, coherence):
    """Every subset is tried: fewest tokens, then fewest tools, then the earliest tools."""
    reaching = []
    for chosen in sets(len(tools)):
        scores = [each.after if place in chosen else each.before for place, each in enumerate(tools)]
        if overall_of(sum(scores), count=len(scores), lowest=min(scores), coherence=coherence) >= target:
            reaching.append((sum(tools[place].tokens for place in chosen), len(chosen), chosen))
    assert cheapest(tools, target=target, coherence=coherence) == (min(reaching)[2] if reaching else None)


def test_on_real_catalogs_no_other_applied_set_of_rewrites_is_cheaper(whole_corpus):
    """The same through the whole program: every subset of the rewrites of small catalogs is applied and scored."""
    checked = 0
    for path in whole_corpus:
        catalog = read_file(path)
        if len(catalog.tools) > 25:
            continue
        better = [each for each in tdqs_mcp.rewrite(catalog) if each.before and each.after.tdqs > each.before.tdqs]
        if not 1 <= len(better) <= 5:
            continue
        tried = []
        for chosen in sets(len(better)):
            picked = [better[place] for place in chosen]
            cost = sum(max(0, each.tokens_after - each.tokens_before) for each in picked)
            overall = tdqs_mcp.score(apply(catalog, {each.index: each.definition for each in picked})).rollup.overall
            tried.append((overall, cost, len(chosen), tuple(each.index for each in picked)))
        for target in {overall for overall, *_ in tried}:
            plan = tdqs_mcp.plan(catalog, target=str(target / 10))
            best = min(each[1:] for each in tried if each[0] >= target)
            assert tuple(sorted(fix.rewrite.index for fix in plan.fixes)) == best[2], path.stem
            checked += 1
    assert checked > 8


def test_what_a_plan_predicts_is_achieved_when_exactly_its_rewrites_are_made(whole_corpus):
    reached = 0
    for path in whole_corpus[::2]:
        catalog = read_file(path)
        now = tdqs_mcp.score(catalog).rollup.overall
        plan = tdqs_mcp.plan(catalog, target=str((now + 1) / 10))
        indices = {fix.rewrite.index for fix in plan.fixes}
        made = tdqs_mcp.rewrite(catalog, tools=[fix.rewrite.name for fix in plan.fixes])
        improved = apply(catalog, {each.index: each.definition for each in made if each.index in indices})
        score = tdqs_mcp.score(improved)
        assert (score.rollup, plan.before.overall) == (plan.after, now), path.stem
        tdqs = {each.index: each.tdqs for each in score.tools}
        assert all(tdqs[fix.rewrite.index] == fix.after.tdqs for fix in plan.fixes), path.stem
        assert plan.is_reached == (score.rollup.overall > now) != bool(plan.advice), path.stem
        reached += plan.is_reached
    assert reached > 5


def test_a_plan_that_falls_short_goes_as_far_as_rewrites_go(whole_corpus):
    for path in whole_corpus[::4]:
        catalog = read_file(path)
        plan = tdqs_mcp.plan(catalog, target="5.0")
        whole = apply(catalog, {each.index: each.definition for each in tdqs_mcp.rewrite(catalog)})
        assert plan.after.overall == tdqs_mcp.score(whole).rollup.overall, path.stem


def test_no_tool_is_left_to_its_author_that_its_own_rewrite_gets_high_enough(whole_corpus):
    advised = 0
    for path in whole_corpus[::4]:
        catalog = read_file(path)
        plan = tdqs_mcp.plan(catalog, target="A")
        known = {each.index: each.after.tdqs for each in tdqs_mcp.rewrite(catalog) if each.after}
        assert all(known.get(each.tool.index, 0) < each.wanted for each in plan.advice), path.stem
        advised += len(plan.advice)
    assert advised > 50


def test_if_every_advised_tool_gets_as_high_as_wanted_the_target_is_reached_and_not_below():
    catalog = tdqs_mcp.read({"tools": [*ORDER_TOOLS, *HARD]})
    plan = tdqs_mcp.plan(catalog, target="A")
    improved = apply(catalog, {fix.rewrite.index: fix.rewrite.definition for fix in plan.fixes})
    score = tdqs_mcp.score(improved)
    low = {advice.tool.index: advice.wanted for advice in plan.advice}
    assert low
    assert low.keys() == {each.index for each in score.tools if each.tdqs < plan.advice[0].wanted}
    for less, is_reached in ((0, True), (1, False)):
        tdqs = [max(each.tdqs, low.get(each.index, 0) - less) for each in score.tools]
        overall = overall_of(sum(tdqs), count=len(tdqs), lowest=min(tdqs), coherence=score.rollup.coherence)
        assert (overall >= Tier.A.floor) == is_reached


def test_to_plan_for_200_tools_takes_at_most_twice_what_rewriting_them_takes(compare_work):
    things = [f"{first}{second}order" for first in "abcdefghij" for second in "klmnopqrst"]
    finds = [tool(f"find_{thing}s", f"Finds the open {thing}s of one customer.", takes("customer")) for thing in things]
    cancels = [tool(f"cancel_{thing}", f"Cancel {thing}", takes(f"{thing}_id", "reason")) for thing in things]
    catalog = tdqs_mcp.read([*finds, *cancels])
    assert tdqs_mcp.plan(catalog, target="A").fixes
    compare_work(lambda: tdqs_mcp.plan(catalog, target="A"), lambda: tdqs_mcp.rewrite(catalog), at_most=2, rounds=2)


def test_choosing_among_four_times_as_many_tools_takes_about_16_times_as_long(compare_work):
    """The number of pairs; comparing triples would make it 64."""

    def work(count):
        tools = [
            Candidate(before=20 + each % 15, after=25 + each % 15 + each % 7, tokens=each * 7 % 50)
            for each in range(count)
        ]
        assert cheapest(tools, target=31, coherence=40)

    compare_work(lambda: work(1600), lambda: work(400), at_most=24, rounds=3)


class Counted:
    """The offline judge under another name, which writes down whom it was asked about."""

    def __init__(self):
        self.stamp = JudgeStamp(id="counted", version="1")
        self.asked = []

    async def grade(self, cases):
        self.asked += [case.subject.tool.description for case in cases if isinstance(case, ToolCase)]
        return await Offline().grade(cases)


def test_a_judge_is_asked_but_once_about_a_definition():
    judge = Counted()
    plan = tdqs_mcp.plan(orders(), target="A", judge=judge)
    rewritten = {fix.rewrite.definition["description"] for fix in plan.fixes}
    old = {each["description"] for each in ORDER_TOOLS}
    assert rewritten
    assert sorted(judge.asked) == sorted(old | rewritten)


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


@pytest.mark.parametrize(
    ("scores", "reached", "count"), [((3, 4, 5), True, 1), ((5, 1, 1), False, 0), ((5, 1, 4), True, 2)]
)
def test_rewrites_that_move_the_coherence_are_judged_again_and_chosen_again(scores, reached, count):
    """What is chosen for the old coherence is enough, does harm, or does harm until the rest is rewritten too."""
    judge = Moved(scores)
    now = tdqs_mcp.score(orders(), judge=judge).rollup.overall
    plan = tdqs_mcp.plan(orders(), target=str((now + 1) / 10), judge=judge)
    improved = apply(orders(), {fix.rewrite.index: fix.rewrite.definition for fix in plan.fixes})
    assert tdqs_mcp.score(improved, judge=judge).rollup == plan.after
    assert (plan.is_reached, len(plan.fixes)) == (reached, count), (now, plan.after)


class Failing(Offline):
    """A judge without an answer for a tool set after the Nth, or for an invoice after the Nth question."""

    def __init__(self, *, sets=99, questions=99):
        super().__init__()
        self._sets, self._questions = sets, questions

    async def grade(self, cases):
        self._questions -= 1
        self._sets -= any(isinstance(case, SetCase) for case in cases)
        return [
            Ungraded(judge="failing", reason="no answer", was_asked=True)
            if (
                self._sets < 0
                if isinstance(case, SetCase)
                else self._questions < 0 and "invoice" in case.subject.tool.name
            )
            else each
            for case, each in zip(cases, await super().grade(cases), strict=True)
        ]


def test_a_plan_whose_proof_the_judge_does_not_score_keeps_what_it_had_and_says_so():
    plan = tdqs_mcp.plan(orders(), target="4.9", judge=Failing(sets=1))
    assert (plan.fixes, plan.after, plan.is_open) == ((), plan.before, True)
    assert "no overall score" in plan.problems[-1]


def test_what_if_for_a_tool_that_the_judge_gave_no_score_says_so():
    many = tdqs_mcp.read(
        [*ORDER_TOOLS, *(tool(f"find_{each}", f"Finds {each}.") for each in ("a", "b", "c", "d", "e"))]
    )
    with pytest.raises(InputError, match="the judge gave 'get_invoice' no score"):
        tdqs_mcp.what_if(many, "get_invoice", judge=Failing(questions=0))


@pytest.mark.parametrize("target", ["E", "", "0.9", "5.1", "3.55", "nan", "inf", "A+", "1e1"])
def test_what_is_no_target_is_refused(target):
    with pytest.raises(InputError, match=r"not a target; give a tier A-D or an overall score such as 3\.5"):
        tdqs_mcp.plan(orders(), target=target)


@pytest.mark.parametrize("tools", [[], [tool("ok"), {"description": "no name"}]])
def test_without_an_overall_score_there_is_no_plan(tools):
    with pytest.raises(InputError, match="without an overall score there is nothing to plan"):
        tdqs_mcp.plan(tdqs_mcp.read({"tools": tools}))


def test_the_command_exits_1_out_of_reach_and_asks_what_only_the_author_can_write(command, write):
    done = command("rewrite", write("orders.json", ORDER_TOOLS), "--target", "4.9")
    text = " ".join(done.stdout.decode().split())
    assert done.returncode == 1
    assert re.search(r"overall \d\.\d \w → \d\.\d \w, below the target 4\.9 A", text)
    assert "expected gain: the change of TDQS less 0." in text
    assert "--interview (on a terminal) or --material FILE" in text
    assert "? " in text


def test_rewrites_come_by_expected_gain_per_token_with_what_the_judge_s_error_leaves_open():
    plan = tdqs_mcp.plan(orders(), target="4.9")
    assert plan.is_estimated
    assert len(plan.fixes) > 1
    ranks = [fix.gain.expected / fix.tokens_added for fix in plan.fixes if fix.tokens_added > 0]
    assert ranks == sorted(ranks, reverse=True)
    for fix in plan.fixes:
        change = 10 * (fix.after.tdqs - fix.before.tdqs)
        assert fix.gain.low < fix.gain.expected < change, "blind readers see less than the judge predicts"
        assert fix.gain.high > change


def test_a_named_judge_estimates_nothing():
    plan = tdqs_mcp.plan(orders(), target="4.9", judge=Counted())
    assert not plan.is_estimated
    assert all(fix.gain is None for fix in plan.fixes)


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
    assert (there.returncode, b"the target 1.0 D is reached" in there.stdout) == (0, True)


def test_the_command_exits_2_where_there_is_nothing_to_plan(command, write):
    done = command("rewrite", write("none.json", []), "--target", "A")
    assert (done.returncode, done.stdout) == (2, b"")
    assert command("rewrite", write("orders.json", ORDER_TOOLS), "--target", "Z").returncode == 2
    assert command("rewrite", write("orders.json", ORDER_TOOLS), "--target", "A", "--tool", "nothing").returncode == 2


def test_what_if_one_tool_were_better():
    outcomes = tdqs_mcp.what_if(orders(), "cancel_order")[0].outcomes
    [rewrite] = tdqs_mcp.rewrite(orders(), tools=["cancel_order"])
    [reached] = [each for each in outcomes if each.is_rewrite]
    improved = apply(orders(), {rewrite.index: rewrite.definition})
    assert (reached.tdqs, reached.overall) == (rewrite.after.tdqs, tdqs_mcp.score(improved).rollup.overall)
    assert [each.tdqs for each in outcomes] == sorted({each.tdqs for each in outcomes})
    assert {30, 35, 50} <= {each.tdqs for each in outcomes}
    with pytest.raises(UnknownIdError):
        tdqs_mcp.what_if(orders(), "nothing")


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
    assert reached > 5


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
