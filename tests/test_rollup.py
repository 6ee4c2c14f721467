"""The arithmetic of scores by numbers that were worked out by hand; the oracle's tests try it on many more."""

import pytest

from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.results.labels import Label
from tdqs_mcp.results.scores import Rollup
from tdqs_mcp.results.verdicts import Ballot
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.rollup import (
    DEFAULT_SPEC,
    coherence_of,
    icc,
    jury_of,
    label,
    overall_of,
    percent,
    reliability,
    roll_up,
    tdqs,
)

COHERENCE = {"a": 4, "b": 4, "c": 5, "d": 3}


def scores(*given, rubric="tdqs"):
    return dict(zip(load(rubric).keys, given, strict=True))


def test_a_tie_rounds_upward_and_where_doubles_put_it_in_1_0():
    assert DEFAULT_SPEC == "1.2"
    assert tdqs(load("tdqs"), scores(5, 4, 3, 2, 1, 1), spec="1.2") == 32  # 315 hundredths
    assert [tdqs(load("tdqs"), scores(1, 1, 1, 2, 2, 2), spec=spec) for spec in ("1.2", "1.0")] == [14, 13]


def test_percents_leave_out_the_least_score_of_each_component():
    assert percent(scores(5, 4, 3, 2, 1, 3)) == 500
    assert percent(scores(5, 5, 5, 5, 5, 5)) == 1000


def test_a_label_is_bad_below_3():
    assert (label(scores(3, 3, 3, 3, 3, 3)), label(scores(5, 5, 5, 5, 5, 2))) == (Label.GOOD, Label.BAD)


@pytest.mark.parametrize("spec", ["1.2", "1.0"])
def test_a_server_is_the_mean_the_lowest_and_the_coherence_of_its_tools(spec):
    whole = Rollup(mean_tdqs=31, min_tdqs=18, description_quality=26, coherence=40, overall=30)
    assert roll_up([45, 30, 18], tool_count=3, coherence=coherence_of(COHERENCE), spec=spec) == whole
    assert overall_of(93, count=3, lowest=18, coherence=40) == 30


def test_1_0_adds_doubles_and_may_fall_short_of_a_tie():
    both = [roll_up([13, 28], tool_count=2, coherence=coherence_of(COHERENCE), spec=spec) for spec in ("1.2", "1.0")]
    assert [(each.description_quality, each.overall) for each in both] == [(18, 25), (17, 24)]  # 175 hundredths


def test_agreement_is_that_of_the_published_example():
    """Shrout and Fleiss 1979, table 2: ICC(2,1) is .29."""
    table = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    assert icc(table) == pytest.approx(0.28976, abs=1e-5)
    assert icc([]) is None


def test_four_of_five_tools_are_enough_for_a_server_and_three_of_four_are_not():
    four, three = (
        roll_up([30] * count, tool_count=count + 1, coherence=coherence_of(COHERENCE), spec="1.2") for count in (4, 3)
    )
    assert (four.description_quality, four.overall) == (30, 33)
    assert (three.mean_tdqs, three.description_quality, three.overall) == (30, None, None)


def test_without_coherence_there_is_no_overall_score_and_without_tools_nothing_else():
    assert roll_up([30], tool_count=1, coherence=None, spec="1.2").overall is None
    nothing = Rollup(mean_tdqs=None, min_tdqs=None, description_quality=None, coherence=40, overall=None)
    assert roll_up([], tool_count=0, coherence=coherence_of(COHERENCE), spec="1.2") == nothing


def test_mean_and_median_of_a_jury_may_disagree_on_a_smell():
    found = reliability([[5, 2, 2], [4, 4, 4]])
    assert (found.tools, found.mean, found.median) == (2, 350, 300)
    assert (found.smells_by_mean, found.smells_by_median) == (0, 1)
    assert reliability([]).mean is None


@pytest.mark.parametrize(
    ("rubric", "grades"), [("smells", ("Good", "Bad", "Bad")), ("tdqs", ("A", "A", "A"))], ids=["label", "tier"]
)
def test_a_jury_shows_its_means_its_spread_and_each_juror_s_grade(rubric, grades):
    votes = [scores(5, 5, third, 5, 5, 5, rubric=rubric) for third in (5, 2, 2)]
    votes.append({})
    ballots = [Ballot(juror=str(n), judge=Offline().stamp, scores=vote) for n, vote in enumerate(votes)]
    third = load(rubric).keys[2]
    found = jury_of(ballots, rubric=rubric, spec="1.2")
    assert (found.means[third], found.spread) == (300, {third: 3})
    assert (found.smells_by_mean, found.smells_by_median) == ((), (third,))
    assert (found.grades, len(found.ballots)) == (grades, 4)
    assert jury_of(ballots[3:], rubric=rubric, spec="1.2") is None
