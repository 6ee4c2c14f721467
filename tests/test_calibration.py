"""The offline judge's published error is true, its scorecards are monotone, its reasons hold, padding earns nothing."""

import json
import random
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from definitions import flat, tool
from loopback import tdqs as answer_of
from loopback import tool_name
from scipy.stats import spearmanr
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from tdqs_mcp import sync
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.judges import features
from tdqs_mcp.judges.features import read_content
from tdqs_mcp.judges.offline import UNIT, Offline, calibration, versions
from tdqs_mcp.model import Catalog, read_tools
from tdqs_mcp.report.blocks import as_markdown
from tdqs_mcp.report.check_reports import calibration_blocks
from tdqs_mcp.results.verdicts import Judgement, Tier, Ungraded, Verdict, tier_of
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring import judge_error
from tdqs_mcp.scoring.rollup import tdqs
from tdqs_mcp.scoring.score import tool_cases
from tdqs_mcp.sources.files import read_file

NEWEST = versions()[0]
CARDS = calibration(NEWEST).rubrics
README = Path(__file__).parents[1] / "README.md"
PADDING = (
    "This tool is very useful and easy to use.",
    "It is a powerful and flexible solution for your needs.",
    "Designed to help you work more efficiently and effectively.",
    "This function provides comprehensive functionality for many situations.",
    "It offers a seamless and intuitive experience.",
    "You will find this tool helpful every day.",
    "Please note that this is an important tool.",
)


SECTIONS = cache(lambda version: judge_error.published_error(version).sections)


def table(title):
    return next(each for each in SECTIONS(NEWEST) if each.title == title)


def unseen():
    lines = (README.parent / "calibration" / "unseen_labels.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def column(section, name):
    return {row[0]: row[section.columns.index(name)] for row in section.rows}


# The published error


def test_the_readme_carries_the_table_that_calibrate_prints():
    printed = as_markdown(calibration_blocks(sync.calibrate()))
    tools = printed[printed.index("### Tools") :].split("\n\n")[2]
    assert tools in README.read_text(encoding="utf-8")


def test_the_readme_states_the_error_on_servers_that_nobody_had_looked_at():
    rows = unseen()
    labels = [tdqs(load("tdqs"), dict(zip(load("tdqs").keys, row["labels"], strict=True)), spec="1.2") for row in rows]
    scores = [
        tdqs(load("tdqs"), dict(zip(load("tdqs").keys, row["predicted"], strict=True)), spec="1.2") for row in rows
    ]
    pairs = list(zip(labels, scores, strict=True))
    same = sum(tier_of(label) == tier_of(score) for label, score in pairs) / len(rows)
    within = sum(row["range"][0] <= label <= row["range"][1] for row, label in zip(rows, labels, strict=True)) / len(
        rows
    )
    figures = (
        f"On {len(rows)} tools of {len({row['server'] for row in rows})} servers",
        f"Spearman {spearmanr(labels, scores).statistic:.2f}",
        f"MAE {sum(abs(label - score) for label, score in pairs) / len(rows) / 10:.2f}",
        f"the same tier in {same:.0%} of cases",
        f"contain {within:.0%} of the labels",
        f"almost as well ({spearmanr(labels, [row['words'] for row in rows]).statistic:.2f})",
    )
    readme = " ".join(README.read_text(encoding="utf-8").split())
    assert [figure for figure in figures if figure not in readme] == []


def test_no_honest_score_of_an_unseen_server_is_held():
    rubric, bound = load("tdqs"), calibration(NEWEST).guard["tdqs"]
    above = [
        tdqs(rubric, dict(zip(rubric.keys, row["labels"], strict=True)), spec="1.2")
        - tdqs(rubric, dict(zip(rubric.keys, row["predicted"], strict=True)), spec="1.2")
        for row in unseen()
    ]
    assert [each for each in above if each > bound] == []


def test_rank_correlation_and_kappa_are_those_of_independent_libraries():
    rows = judge_error.evidence(NEWEST)["tools"]
    for position in range(6):
        labels = [row["labels"][position] for row in rows]
        scores = [row["predicted"][position] for row in rows]
        assert judge_error.rank_correlation(labels, scores) == pytest.approx(spearmanr(labels, scores).statistic)
        pairs, _ = to_table(
            [[label - 1, score - 1] for label, score in zip(labels, scores, strict=True)], bins=range(6)
        )
        assert judge_error.weighted_kappa(labels, scores) == pytest.approx(cohens_kappa(pairs, wt="quadratic").kappa)


def test_the_evidence_rests_on_the_labels_as_they_are(shared):
    rows = {row["inputHash"]: row["labels"] for row in judge_error.evidence(NEWEST)["tools"]}
    keys = load("tdqs").keys
    lines = (shared / "data" / "tool_labels.jsonl").read_text(encoding="utf-8").splitlines()
    labeled = [json.loads(line) for line in lines]
    assert len(judge_error.evidence(NEWEST)["tools"]) == len(labeled)
    last = {row["inputHash"]: [row["scores"][key] for key in keys] for row in labeled}
    assert rows == last


def test_no_prediction_is_worse_than_what_is_claimed(shared, whole_corpus):
    """The shipped scorecards, which have seen all labels, come nearer to them than predictions of unseen servers."""
    labels = judge_error.labels(NEWEST)
    errors = []
    for path in whole_corpus:
        score = sync.score(sync.load(str(path)))
        errors += [
            abs(each.tdqs - _total(labels[each.input_hash])) for each in score.tools if each.input_hash in labels
        ]
    assert len(errors) > 300
    assert sum(errors) / len(errors) / 10 <= column(table("Tools"), "MAE")["TDQS"] + 0.02


def _total(scores):
    return tdqs(load("tdqs"), dict(zip(load("tdqs").keys, scores, strict=True)), spec="1.2")


@pytest.mark.parametrize(
    ("key", "floor"),
    [
        ("purpose_clarity", 0.56),
        ("parameter_semantics", 0.76),
        ("usage_guidelines", 0.80),
        ("behavioral_transparency", 0.70),
        ("conciseness_structure", 0.50),
        ("contextual_completeness", 0.74),
    ],
)
def test_a_dimension_agrees_with_its_labels_on_unseen_servers(key, floor):
    assert column(table("Tools"), "kappa")[key] >= floor


def test_the_total_lies_near_its_labels_on_unseen_servers():
    tools = table("Tools")
    assert column(tools, "MAE")["TDQS"] <= 0.26
    assert column(tools, "Spearman")["TDQS"] >= 0.80
    assert column(tools, "same tier")["TDQS"] >= 0.65


def test_published_scores_are_predicted_better_than_by_one_number():
    published = table("Scores published by the registry")
    assert column(published, "MAE")["all"] < 0.9 * column(published, "MAE of best constant")["all"]


def test_coherence_is_predicted_better_than_by_one_number():
    coherence = table("Coherence")
    kappa = column(coherence, "kappa")
    assert kappa["tool_count_appropriateness"] >= 0.6
    assert min(kappa.values()) >= 0.35
    exact, constant = column(coherence, "exact"), column(coherence, "exact of best constant")
    assert exact["tool_count_appropriateness"] >= constant["tool_count_appropriateness"] + 0.1


def test_every_smell_is_found_better_than_by_always_saying_yes():
    components = table("Components of the paper")
    found, always = column(components, "F1 of smell"), column(components, "F1 of always yes")
    words = column(components, "Spearman of word count")
    assert all(found[key] > always[key] for key in found)
    assert all(rank > words[key] for key, rank in column(components, "Spearman").items())


def test_a_tier_said_to_be_likely_is_right_about_that_often():
    odds = table("Probabilities of tiers")
    for stated, _, right in odds.rows:
        low, high = (int(part) for part in stated.split("-"))
        assert low - 8 <= 100 * right <= high + 8


# Confidence


def test_a_score_states_its_range_and_its_odds(catalog):
    score = sync.score(catalog(tool("list_orders", "Lists the orders of one customer.", flat(1)))).tools[0]
    assert score.outlook.low <= score.outlook.high
    assert sum(score.outlook.tiers.values()) == 100
    assert set(score.outlook.tiers) == set(Tier) - {Tier.F}


def test_what_no_judge_decides_has_no_odds(catalog):
    assert sync.score(catalog(tool("list_orders", "", flat(1)))).tools[0].outlook is None


# Scorecards


@pytest.mark.parametrize("key", [key for key in load("tdqs").keys if key != "conciseness_structure"])
def test_a_fact_that_an_agent_gains_by_never_lowers_a_score(key):
    gained = ("told", "beyond", "lead", "usage", "behaviour", "returned", "explained", "mentions", "when", "limit")
    lost = ("generic", "said_again", "vague_verb", "untold", "filler", "only_name")
    for fact, steps in CARDS["tdqs"][key].steps.items():
        points = [later - earlier for _, _, sums in steps for earlier, later in pairwise(sums)]
        assert fact not in gained or min(points) >= 0
        assert fact not in lost or max(points) <= 0


def test_scorecards_are_integers_and_their_cuts_ascend():
    for cards in CARDS.values():
        for card in cards.values():
            assert list(card.cuts) == sorted(card.cuts)
            assert all(
                isinstance(point, int) for steps in card.steps.values() for _, _, points in steps for point in points
            )


@pytest.mark.process
def test_the_same_definition_gets_the_same_bytes_in_every_process(write):
    file = write("shop.json", [tool("list_orders", "Lists orders; use get_order for one.", flat(2))])
    runs = {
        subprocess.run(
            [sys.executable, "-m", "tdqs_mcp", "score", file, "--format", "json"],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2", "3")
    }
    assert len(runs) == 1


# Reasons and padding, on real definitions


def _sample(files, each=5):
    """A few described tools of every catalog, each as a subject among its siblings' names."""
    chance = random.Random(7)
    for path in files:
        tools = json.loads(path.read_text(encoding="utf-8"))["tools"]
        described = [index for index, raw in enumerate(tools) if (raw.get("description") or "").strip()]
        for index in chance.sample(described, min(each, len(described))):
            yield tools, _case(tools, index, tools[index]["description"]), chance


def _case(tools, index, description):
    """The tool with another description; of its siblings only the names matter to the judge."""
    siblings = [{"name": raw["name"], "inputSchema": {"type": "object"}} for raw in tools[:index] + tools[index + 1 :]]
    changed = tools[index] | {"description": description}
    return next(iter(tool_cases(measure(Catalog(server="x", tools=read_tools([changed, *siblings]))))), None)


def _score(case):
    [verdict] = Offline().verdicts([case])
    return _total([verdict.judgements[key].score for key in load("tdqs").keys])


def _variants(files, change):
    """Pairs of TDQS before and after a change of the description."""
    pairs = []
    for tools, case, chance in _sample(files):
        index = next(index for index, raw in enumerate(tools) if raw["name"] == case.subject.tool.name)
        text = change(case.subject, chance)
        after = _case(tools, index, text) if text else None
        if after is not None and after.subject.tool.name == case.subject.tool.name:
            pairs.append((_score(case), _score(after)))
    return pairs


def _raised(pairs):
    return sum(after > before for before, after in pairs) / len(pairs)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda subject, _: f"{subject.tool.description} {subject.tool.description}", id="repeated"),
        pytest.param(lambda subject, _: f"{subject.tool.description} {subject.prose.sentences[0]}", id="restated"),
        pytest.param(
            lambda subject, _: (
                f"{subject.tool.description} This tool is called {subject.tool.name} and does what it says."
            ),
            id="name",
        ),
        pytest.param(
            lambda subject, chance: " ".join([subject.tool.description, *chance.sample(PADDING, 3)]), id="filler"
        ),
    ],
)
def test_padding_earns_nothing_in_nineteen_of_twenty_definitions(whole_corpus, change):
    pairs = _variants(whole_corpus, change)
    assert len(pairs) > 200
    assert _raised(pairs) <= 0.05


def test_a_definition_that_loses_a_sentence_rarely_scores_higher(whole_corpus):
    """Conciseness alone can rise by it; the aim of one in twenty is not reached."""

    def lose(subject, chance):
        sentences = subject.prose.sentences
        if len(sentences) < 2:
            return ""
        return subject.tool.description.replace(chance.choice(sentences[1:]), "", 1)

    pairs = _variants(whole_corpus, lose)
    assert len(pairs) > 100
    assert _raised(pairs) <= 0.15


def test_a_quotation_is_text_of_the_definition_and_without_it_the_score_moves(whole_corpus):
    moved, count = 0, 0
    for tools, case, _ in _sample(whole_corpus, each=3):
        text, before = case.subject.tool.description, _latents(case.subject)
        index = next(index for index, raw in enumerate(tools) if raw["name"] == case.subject.tool.name)
        [verdict] = Offline().verdicts([case])
        for key, judgement in verdict.judgements.items():
            for quotation in judgement.evidence:
                assert quotation in text
                without = _case(tools, index, text.replace(quotation, "", 1))
                count += 1
                moved += without is None or _latents(without.subject)[key] != before[key]
    assert count > 100
    assert moved / count >= 0.9


def _latents(subject):
    values = features.of_tool(subject, read_content(subject))
    return {key: card.base + sum(card.earned(values).values()) for key, card in CARDS["tdqs"].items()}


# The command


def test_calibrate_shows_every_table_and_what_to_do_next(command):
    run = command("calibrate")
    text = run.stdout.decode()
    assert run.returncode == 0
    for section in judge_error.published_error(NEWEST).sections:
        assert section.title in text
    assert text.rstrip().splitlines()[-1].startswith("Next: tdqs-mcp calibrate LOCATOR")


def test_calibrate_holds_a_judge_against_the_labeled_tools_of_a_catalog(command, whole_corpus):
    path = next(path for path in whole_corpus if path.stem == "chrome-devtools")
    run = command("calibrate", path, "--format", "json")
    tables = {each["title"]: each for each in json.loads(run.stdout)["tables"]}
    assert tables["Tools"]["rows"][0]["count"] > 5
    assert "judged now" in tables["Tools"]["remark"]


def test_a_catalog_without_labeled_tools_says_so_and_proves_nothing(command, write):
    run = command("calibrate", write("shop.json", [tool("list_orders", "Lists orders.", flat(1))]))
    assert run.returncode == 2
    assert "no labeled tool is among these definitions" in run.stdout.decode()


def asked_to_calibrate(command, loopback, *args):
    return command("calibrate", *args, "--judge", "openai:m", "--base-url", loopback.base_url)


def test_a_judge_that_fails_is_not_out_of_tolerance_but_could_not_be_calibrated(command, loopback, whole_corpus):
    loopback.answer = lambda body: "No."
    path = next(path for path in whole_corpus if path.stem == "chrome-devtools")
    text = asked_to_calibrate(command, loopback, path)
    assert text.returncode == 2
    assert "out of tolerance" not in text.stdout.decode()
    assert "no labeled tool" not in text.stdout.decode()
    assert text.stdout.decode().count("broke the output format") == 1
    assert "not judged (get_calls, update_drive, process, create_record, " in text.stdout.decode()
    assert "Next: see that the judge answers" in text.stdout.decode()
    page = asked_to_calibrate(command, loopback, "--format", "markdown").stdout.decode()
    assert "not judged (get_calls, " in page.replace("\\", "")
    document = json.loads(asked_to_calibrate(command, loopback, "--format", "json").stdout)
    assert [each["name"] for each in document["unjudged"]] == ["get_calls", "update_drive", "process", "create_record"]
    assert (document["outOfTolerance"], document["problems"]) == ([], [])


def test_what_was_judged_out_of_tolerance_stays_so_whatever_else_was_not_judged(command, loopback):
    fives = answer_of(5, 5, 5, 5, 5, 5)
    loopback.answer = lambda body: fives if tool_name(body) == "process" else "No."
    done = asked_to_calibrate(command, loopback)
    assert done.returncode == 1
    assert "out of tolerance: process: purpose_clarity is 5, published 1" in done.stdout.decode()
    assert "3 not judged (get_calls, update_drive, create_record): 3 answers of 'm' broke" in done.stdout.decode()


def test_a_mean_error_is_out_of_tolerance_only_where_the_rest_could_not_mend_it(whole_corpus):
    labels = judge_error.labels(NEWEST)
    measured = [measure(read_file(path)) for path in whole_corpus]
    cases = [case for each in measured for case in tool_cases(each) if case.subject.signals.input_hash in labels][:100]
    worst = Verdict(judgements={key: Judgement(score=1, justification="x") for key in CARDS["tdqs"]}, summary="")
    silent = Ungraded(judge="m", reason="away")
    assert judge_error.compare_to_labels(cases, [*[worst] * 80, *[silent] * 20], labels).faults
    partly = judge_error.compare_to_labels(cases, [*[worst] * 10, *[silent] * 90], labels)
    assert (partly.faults, len(partly.unjudged), len(partly.sections)) == ((), 90, 2)


def test_a_calibration_can_be_pinned_and_an_unknown_one_is_refused(command, write):
    file = write("shop.json", [tool("list_orders", "Lists orders.", flat(1))])
    run = command("score", file, "--judge", f"offline:{NEWEST}", "--format", "json")
    assert json.loads(run.stdout)["judge"]["calibration"] == NEWEST
    run = command("score", file, "--judge", "offline:99")
    assert run.returncode == 2
    assert f"there is no calibration '99' of the offline judge: it has {', '.join(versions())}" in run.stderr.decode()


def test_a_latent_beyond_the_scale_is_still_a_score():
    card = CARDS["tdqs"]["purpose_clarity"]
    assert [card.score(latent) for latent in (-9 * UNIT, 9 * UNIT)] == [1, 5]


def test_the_library_calibrates_too():
    report = sync.calibrate()
    assert report.judge.calibration == NEWEST
    assert report.faults == ()
