"""Several judges of one definition: their median, their agreement, and what they cannot agree on."""

import gzip
import json
import re
import warnings

import anyio
import jsonschema
import pytest
from definitions import tool
from hypothesis import given
from hypothesis import strategies as st
from loopback import ACCEPT_ALL, KEY, USUAL, plain, rubric_of, tdqs, tool_name
from schemas import SCHEMAS

from tdqs_mcp.app import judging
from tdqs_mcp.app.judge_factory import make_judge
from tdqs_mcp.app.settings import read_settings
from tdqs_mcp.canonical import round_half_up
from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.judge import AnswersNeeded
from tdqs_mcp.judges.jury import Jury
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.judges.openai import Endpoint, OpenAI
from tdqs_mcp.judges.prompted import Prompted
from tdqs_mcp.judges.verdict_guard import VerdictGuard
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.rollup import icc, reliability

JURORS = ("gpt-4.1-mini", "claude-3.5-haiku", "qwen3-30b-a3b")


@pytest.fixture
def votes(loopback):
    """Answers by tool and model; a vector of its own for each juror."""

    def set_votes(table, *, make=tdqs):
        def answer(body):
            vote = table.get(tool_name(body), {}).get(body["model"])
            return USUAL[rubric_of(body)] if vote is None else vote if isinstance(vote, str) else make(*vote)

        loopback.answer = answer

    return set_votes


def juror(loopback, model):
    return Prompted(id="openai", model=OpenAI(Endpoint(base_url=loopback.base_url, model=model, backoff=0)))


@pytest.fixture
def score_with_jury(loopback, catalog):
    def score(*definitions, models=("a", "b", "c"), judge=None, **options):
        jury = judge or Jury(members=tuple(juror(loopback, model) for model in models))
        return anyio.run(
            lambda: judging.score(catalog(*definitions), judge=VerdictGuard(judge=jury, accepted=ACCEPT_ALL), **options)
        )

    return score


def test_a_dimension_s_score_is_the_median_of_the_jurors(score_with_jury, votes):
    votes({"t": {"a": (1, 2, 3, 4, 5, 1), "b": (1, 4, 3, 5, 5, 3), "c": (5, 3, 3, 1, 4, 5)}})
    (scored,) = score_with_jury(tool()).tools
    assert [judgement.score for judgement in scored.judgements.values()] == [1, 3, 3, 4, 5, 3]


def test_half_points_of_an_even_jury_go_up(score_with_jury, votes):
    votes({"t": {"a": (1, 2, 3, 4, 1, 2), "b": (2, 3, 4, 5, 5, 2)}})
    (scored,) = score_with_jury(tool(), models=("a", "b")).tools
    assert [judgement.score for judgement in scored.judgements.values()] == [2, 3, 4, 5, 3, 2]


def test_a_score_s_reason_is_that_of_a_juror_who_gave_it(score_with_jury, votes):
    reasons = {
        model: tdqs(score, 4, 4, 4, 4, 4, words=f"Says {model}.") for model, score in (("a", 1), ("b", 3), ("c", 5))
    }
    votes({"t": reasons})
    (scored,) = score_with_jury(tool()).tools
    assert scored.judgements["purpose_clarity"].justification == "Says b."


def test_a_juror_who_fails_is_left_out_while_most_have_a_verdict(score_with_jury, votes):
    votes({"t": {"a": "no", "b": (2, 2, 2, 2, 2, 2), "c": (4, 4, 4, 4, 4, 4)}, "u": {"a": "no", "b": "no"}})
    result = score_with_jury(tool("t"), tool("u"))
    (scored,) = result.tools
    assert {judgement.score for judgement in scored.judgements.values()} == {3}
    assert [bool(ballot.scores) for ballot in scored.ballots] == [False, True, True]
    assert "not JSON" in scored.ballots[0].reason
    (ungraded,) = result.ungraded
    assert "1 of 3 jurors gave a verdict, which is not a majority" in ungraded.ungraded.reason


def test_a_juror_who_never_answers_is_named_with_the_reason(judged, loopback, votes, write, configure):
    configure(PROFILES + f'[judges.dead]\nmodel = "d"\nbase-url = "{loopback.address}/nowhere"\n')
    file = write("c.json", [tool("t"), tool("u")])
    for rubric in ("tdqs", "smells"):
        done = judged("score", file, "--format", "json", "--rubric", rubric, names="mini,qwen,dead")
        (problem,) = json.loads(done.stdout)["problems"]
        assert problem.startswith("juror 'dead' gave no verdict on 2 of 2 tools that the others scored: http")
        assert "answered HTTP 404" in problem
        shown = judged("score", file, "--rubric", rubric, names="mini,qwen,dead").stdout.decode()
        assert shown.count("juror 'dead'") == 1
        assert "\njurors: mini, qwen, dead\n" in shown
    ballots = json.loads(judged("score", file, "--format", "json").stdout)["tools"][0]["jury"]["ballots"]
    assert [ballot["juror"] for ballot in ballots] == ["mini", "haiku", "qwen"]


def test_without_a_majority_jurors_are_named_by_their_profiles(judged, votes, write):
    votes({"t": {"a": "no", "b": "no"}})
    shown = judged("score", write("c.json", [tool()]), "--format", "json").stdout.decode()
    assert re.search(r"which is not a majority \(mini: 3 answers of 'a'.*; haiku: 3 answers of 'b'", shown)


def test_a_contradiction_needs_a_majority(score_with_jury, votes):
    def vote(flags):
        return {model: tdqs(4, 4, 4, 4, 4, 4, contradiction=model in flags) for model in "abc"}

    votes({"two": vote("ab"), "one": vote("a")})
    assert {each.name: bool(each.flags) for each in score_with_jury(tool("two"), tool("one")).tools} == {
        "two": True,
        "one": False,
    }


PROFILES = """
[judges.mini]
model = "a"
[judges.haiku]
kind = "openai"
model = "b"
samples = 1
[judges.qwen]
model = "c"
"""


@pytest.fixture
def judged(command, loopback, write, tmp_path, monkeypatch, configure):
    configure(PROFILES)
    monkeypatch.setenv("TDQS_BASE_URL", loopback.base_url)

    def run(*args, names="mini,haiku,qwen"):
        return command(*args, "--judge", f"jury:{names}", "--accept", "*", cwd=tmp_path)

    return run


def test_the_page_for_a_browser_shows_how_far_the_jurors_agree(judged, votes, write):
    apart = {"a": (2, 4, 4, 4, 4, 4), "b": (5, 4, 4, 4, 4, 4), "c": (3, 4, 4, 4, 4, 4)}
    votes({"one": apart, "two": apart})
    page = judged("score", write("shop.json", [tool("one"), tool("two")]), "--format", "html").stdout.decode()
    assert "jurors: mini, haiku, qwen" in page
    assert "jurors far apart: one (purpose_clarity by 3); two (purpose_clarity by 3)" in page


def test_a_jury_of_profiles_shows_ballots_means_both_smell_rules_and_what_is_too_close(judged, votes, write):
    sharp = {"a": (2, 4, 4, 4, 4, 4), "b": (3, 4, 4, 4, 4, 4), "c": (3, 4, 4, 4, 4, 4)}
    split = {"a": (1, 1, 1, 1, 1, 1), "b": (3, 3, 3, 3, 3, 3), "c": (5, 5, 5, 5, 5, 5)}
    votes({"sharp": sharp, "split": split})
    done = judged("score", write("c.json", [tool("sharp"), tool("split")]), "--format", "json")
    assert done.returncode == 0
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMAS["score"])
    assert document["judge"] | {"id": "jury", "model": "a, b, c", "prompt": "hardened"} == document["judge"]
    juries = {each["name"]: each["jury"] for each in document["tools"]}
    assert [(each["judge"]["model"], each["scores"]["purpose_clarity"]) for each in juries["sharp"]["ballots"]] == [
        ("a", 2),
        ("b", 3),
        ("c", 3),
    ]
    assert juries["sharp"]["means"]["purpose_clarity"] == 2.67
    assert juries["sharp"]["spread"] == {"purpose_clarity": 1}
    assert (juries["sharp"]["smellsByMean"], juries["sharp"]["smellsByMedian"]) == (["purpose_clarity"], [])
    assert [(name, each["grades"], each["tooClose"]) for name, each in juries.items()] == [
        ("sharp", ["A", "A", "A"], False),
        ("split", ["D", "B", "A"], True),
    ]
    assert document["agreement"]["purpose_clarity"] == {
        "icc": pytest.approx(0.25, abs=0.5),
        "tools": 2,
        "mean": 2.83,
        "median": 3.0,
        "smellsByMean": 1,
        "smellsByMedian": 0,
    }


def test_people_see_the_agreement_and_the_tools_too_close_to_call(judged, votes, write):
    fours = dict.fromkeys("abc", (4, 4, 4, 4, 4, 4))
    votes({"clear": fours, "split": fours | {"a": (1, 1, 1, 1, 1, 1)}})
    shown = judged("score", write("c.json", [tool("clear"), tool("split")])).stdout.decode()
    assert "by jury, a, b, c, hardened prompt" in shown
    assert "jury agreement over 2 tools that every juror scored\n" in shown
    assert re.search(
        r"dimension +ICC\(2,1\) +mean +median +smells by mean +by median\npurpose clarity +0\.\d\d ", shown
    )
    assert "too close to call: split (D, A, A)\njurors far apart: split (purpose_clarity by 3" in shown
    page = judged("score", write("c.json", [tool("clear"), tool("split")]), "--format", "markdown").stdout.decode()
    assert re.search(
        r"\| dimension \| ICC.*\n\| --- .*\n\| purpose clarity \| 0\.\d\d \| 3\.50 \| 4\.00 \| 0 \| 0 \|", page
    )
    assert "- too close to call: split (D, A, A)" in page.replace("\\", "")
    assert "by jury, a, b, c, hardened prompt. Desc" in page


@pytest.mark.parametrize(
    ("judge", "options", "profile", "said"),
    [
        ("jury:mini", (), "", "a jury has at least two members"),
        ("jury:mini,host", (), "", "sits only on a jury of the MCP server"),
        (
            "jury:mini,haiku",
            ("--base-url", "http://127.0.0.1:1"),
            "",
            "the members of a jury have addresses and models of their own",
        ),
        ("jury:mini,none", (), "", "there is no judge profile 'none'"),
        ("jury:mini,b", (), '[judges.b]\napi-key = "k"', "[judges.b] holds a key; take it out and set TDQS_API_KEY_B"),
        ("jury:mini,b", (), '[judges.b]\nkind = "host"', "`kind` cannot be 'host'"),
        ("jury:mini,haiku", (), '[judges.host]\nkind = "openai"', "takes the name of the caller's own model"),
    ],
)
def test_a_jury_that_cannot_sit_is_refused(command, write, tmp_path, judge, options, profile, said, configure):
    configure(f"{PROFILES}\n{profile}")
    run = command("score", write("shop.json", []), "--judge", judge, *options, cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, b"")
    assert said in run.stderr.decode()


def test_a_jury_of_one_mind_leaves_nothing_in_doubt(judged, write):
    shown = judged("score", write("c.json", [tool("clear")])).stdout.decode()
    assert "too close" not in shown
    assert "far apart" not in shown
    assert re.search(r"behavioral transparency +none +3\.00 +3\.00 +0 +0\n", shown)


def test_a_jury_labels_by_the_mean_and_shows_the_median_beside_it(judged, votes, write):
    votes({"t": {"a": (5, 5, 5, 5, 5, 1), "b": (5, 5, 5, 5, 5, 3), "c": (5, 5, 5, 5, 5, 3)}}, make=plain)
    done = judged("score", write("c.json", [tool()]), "--rubric", "smells", "--format", "json")
    jsonschema.validate(json.loads(done.stdout), SCHEMAS["labels"])
    (only,) = json.loads(done.stdout)["tools"]
    assert (only["label"], only["jury"]["smellsByMean"], only["jury"]["smellsByMedian"]) == ("Bad", ["length"], [])
    assert (only["jury"]["grades"], only["jury"]["tooClose"]) == (["Bad", "Good", "Good"], True)


def test_without_a_jury_there_are_no_ballots(command, write):
    document = json.loads(command("score", write("c.json", [tool()]), "--format", "json").stdout)
    assert (document["tools"][0]["jury"], document["agreement"]) == (None, {})


def test_samples_of_one_model_are_asked_and_kept_one_by_one(judged, loopback, write, configure):
    configure('[judges.mini]\nmodel = "a"\nsamples = 3\n[judges.rules]\nkind = "offline"\n')
    file = write("c.json", [tool()])
    done = judged("score", file, "--format", "json", names="mini,rules")
    assert done.returncode == 0
    assert len(loopback.bodies) == 6  # three for the tool, three for the set
    assert [each["judge"]["id"] for each in json.loads(done.stdout)["tools"][0]["jury"]["ballots"]] == [
        "openai",
        "offline",
    ]
    judged("score", file, names="mini,rules")
    assert len(loopback.bodies) == 6


@pytest.mark.parametrize("names", ["mini,same,qwen", "mini,mini,qwen", "mini,twice,qwen"])
def test_jurors_who_ask_one_model_are_heard_and_read_back_one_by_one(judged, loopback, write, names, configure):
    configure(PROFILES + '[judges.same]\nmodel = "a"\n[judges.twice]\nmodel = "a"\nsamples = 2\n')
    file = write("c.json", [tool("t"), tool("u")])
    loopback.answer = lambda body: (
        tdqs(*[1 + len(loopback.bodies) % 5] * 6) if rubric_of(body) == "tdqs" else USUAL[rubric_of(body)]
    )
    first = json.loads(judged("score", file, "--format", "json", names=names).stdout)
    asked = len(loopback.bodies)
    again = json.loads(judged("score", file, "--format", "json", names=names).stdout)
    assert len(loopback.bodies) == asked == (12 if "twice" in names else 9)
    assert again == first


@pytest.mark.parametrize(
    ("text", "names", "words"),
    [
        (PROFILES, "mini", "at least two members"),
        (PROFILES, "mini,gpt", "there is no judge profile 'gpt' in"),
        (None, "mini,gpt", "config.toml (profiles: none); add [judges.mini]"),
        ("[judges.mini]\napi-key = 'x'", "mini,gpt", "take it out and set TDQS_API_KEY_MINI"),
        ("[judges.mini]\nurl = 'x'", "mini,gpt", "there is no key 'url'; did you mean base-url?"),
        ("[judges.mini]\nkind = 'magic'", "mini,gpt", "`kind` must be one of offline, anthropic, openai"),
        ("[judges.mini]\nsamples = 0", "mini,gpt", "must be 1 to 9"),
        ("[judges.mini]\nsamples = true", "mini,gpt", "must be 1 to 9"),
        ("[judges.mini]\nconcurrency = 65", "mini,gpt", "[judges.mini]: `concurrency` must be 1 to 64"),
        ("[judges.mini]\nconcurrency = true", "mini,gpt", "must be 1 to 64"),
        ("[judges.mini]\nconcurrency = 1.5", "mini,gpt", "must be 1 to 64"),
        ("[judges.mini]\ntimeout = nan", "mini,gpt", "must be more than 0 to 86400"),
        ("[judges.mini]\ntimeout = '9'", "mini,gpt", "must be more than 0 to 86400"),
        ("[judges.mini]\nmodel = 4", "mini,gpt", "[judges.mini]: `model` must be a string"),
        ("[judges]\nmini = 4", "mini,gpt", "must be tables"),
        ("judges = 4", "mini,gpt", "`judges` must be tables; write [judges.NAME]"),
        ("[judges", "mini,gpt", "is not valid TOML"),
        ("selct = []", "mini,gpt", "there is no key 'selct'"),
        ("[judges.mini]\nkind = 'sampling'", "mini,gpt", "the caller's own model judges alone"),
        ("[judges.a]\nkind = 'anthropic'\n[judges.b]\n", "a,b", "set ANTHROPIC_API_KEY"),
        ("[judges.a]\nkind = 'anthropic'\nbase-url = 'http://h'\n[judges.b]\n", "a,b", "set TDQS_API_KEY_A"),
        ("[judges.a]\nbase-url = 'http://h/v1'\n[judges.b]\n", "a,b", "needs a model"),
    ],
)
def test_a_jury_that_cannot_sit_says_what_to_change(write, tmp_path, text, names, words, configure):
    environ = {"TDQS_CONFIG": str(configure(text or ""))}
    with pytest.raises(InputError) as caught:
        make_judge(read_settings(environ, judge=f"jury:{names}"))
    assert words in str(caught.value)


def test_a_profile_says_how_many_requests_its_endpoint_answers_at_once_and_how_long_one_may_take(
    write, tmp_path, configure
):
    file = configure("[judges.a]\nconcurrency = 1\ntimeout = 1800\n[judges.b]\n")
    environ = {"TDQS_CONFIG": str(file), "TDQS_CONCURRENCY": "4", "TDQS_TIMEOUT": "60.5"}
    own, common = read_settings(environ, judge="jury:a,b").members
    assert [(each.concurrency, each.timeout) for each in (own, common)] == [(1, 1800), (4, 60.5)]


@pytest.mark.parametrize("name", ["tdqs.toml", "pyproject.toml"])
@pytest.mark.parametrize(
    "text", ['[judges.haiku]\nmodel = "m"\nbase-url = "http://127.0.0.1:9"', '[[accept]]\npart = "tool:poor"']
)
def test_a_project_s_file_decides_neither_where_a_key_goes_nor_what_is_believed(
    command, write, tmp_path, monkeypatch, name, text
):
    write(
        name,
        text if name == "tdqs.toml" else text.replace("[judges", "[tool.tdqs.judges").replace("[[", "[[tool.tdqs."),
    )
    monkeypatch.setenv("TDQS_API_KEY_HAIKU", KEY)
    for asked in (("lint",), ("score",), ("score", "--judge", "openai:m", "--base-url", "http://127.0.0.1:9")):
        run = command(*asked, write("c.json", [tool()]), cwd=tmp_path)
        assert (run.returncode, run.stdout) == (2, b"")
        assert "move it to your own configuration" in run.stderr.decode()


class OnlyItsClientCanAsk:
    """A model such as the one that an MCP client lends between two calls."""

    name = "the client's model"

    async def complete(self, request):
        raise AnswersNeeded([request])


def test_a_model_that_its_client_must_ask_gets_no_seat_and_stops_nobody(loopback, catalog):
    lent = Prompted(id="sampling", model=OnlyItsClientCanAsk())
    jury = Jury(members=(juror(loopback, "a"), lent, Offline()))
    result = anyio.run(lambda: judging.score(catalog(tool()), judge=jury))
    (_, ballot, _) = result.tools[0].ballots
    assert "the client's own model cannot sit on a jury" in ballot.reason


def test_a_jury_has_used_what_its_members_have(loopback, catalog):
    jury = Jury(members=(juror(loopback, "a"), juror(loopback, "b"), Offline()))
    anyio.run(lambda: judging.score(catalog(tool()), judge=jury))
    assert jury.usage.requests == len(loopback.bodies) == 4
    assert Jury(members=(Offline(), Offline())).usage is None


def test_no_key_goes_to_an_address_that_a_file_names_but_the_profile_s_own(
    judged, loopback, write, monkeypatch, configure
):
    configure(
        f'[judges.own]\nmodel = "own"\nbase-url = "{loopback.base_url}"\n[judges.mine-2]\nmodel = "mine"\nbase-url = "{loopback.base_url}"\n[judges.common]\nmodel = "common"\n',
    )
    monkeypatch.setenv("TDQS_API_KEY", KEY)
    monkeypatch.setenv("TDQS_API_KEY_MINE_2", "sk-mine")
    judged("score", write("c.json", [tool()]), names="own,mine-2,common")
    sent = {
        body["model"]: headers.get("authorization")
        for body, headers in zip(loopback.bodies, loopback.headers, strict=True)
    }
    assert sent == {"own": None, "mine": "Bearer sk-mine", "common": f"Bearer {KEY}"}


def released(shared):
    with gzip.open(shared / "data" / "sail_dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        row["scores"]
        for row in rows
        if row["description_class"] != "version-ambiguous" and set(JURORS) <= set(row["scores"])
    ]


def reference(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what pingouin's own libraries find in it is not ours
        import pingouin  # noqa: PLC0415
        from pandas import DataFrame  # noqa: PLC0415

        rows = [(row, rater, value) for row, values in enumerate(table) for rater, value in enumerate(values)]
        frame = DataFrame(rows, columns=["row", "rater", "value"])
        found = pingouin.intraclass_corr(data=frame, targets="row", raters="rater", ratings="value")
    return float(found.set_index("Type").loc["ICC(A,1)" if "ICC(A,1)" in set(found["Type"]) else "ICC2", "ICC"])


@pytest.mark.process
@pytest.mark.parametrize("key", load("smells").keys)
def test_agreement_on_the_released_scores_equals_an_independent_library_s(shared, key):
    table = [[row[judge][key] for judge in JURORS] for row in released(shared)]
    assert len(table) > 500
    assert icc(table) == pytest.approx(reference(table), abs=5e-7)


def test_the_released_scores_side_by_side(shared):
    """The shared half of the paper's tools: ICC(2,1), mean, median, percent smelly by mean and by median."""
    rows = released(shared)
    found = {key: reliability([[row[judge][key] for judge in JURORS] for row in rows]) for key in load("smells").keys}
    assert {
        key: (
            round(each.icc, 2),
            each.mean / 100,
            each.median / 100,
            round_half_up(10 * each.smells_by_mean, each.tools),
            round_half_up(10 * each.smells_by_median, each.tools),
        )
        for key, each in found.items()
    } == {
        "purpose": (0.81, 2.62, 2.63, 71, 57),
        "guidelines": (0.88, 1.54, 1.52, 91, 89),
        "limitations": (0.84, 1.43, 1.41, 92, 92),
        "parameters": (0.88, 1.36, 1.35, 90, 89),
        "examples": (0.57, 1.56, 1.45, 87, 83),
        "length": (0.73, 1.93, 1.8, 85, 81),
    }


def test_the_median_of_three_reproduces_the_paper_s_prevalence_of_unclear_purpose_and_the_mean_does_not(shared):
    votes = [[row[judge]["purpose"] for judge in JURORS] for row in released(shared)]
    by_median = sum(sorted(vote)[1] < 3 for vote in votes) / len(votes)
    by_mean = sum(sum(vote) < 9 for vote in votes) / len(votes)
    assert abs(by_median - 0.56) < 0.02
    assert abs(by_mean - 0.56) > 0.10


SCORE = st.integers(1, 5)


@given(
    st.integers(2, 4).flatmap(
        lambda raters: st.lists(st.lists(SCORE, min_size=raters, max_size=raters), min_size=2, max_size=12)
    )
)
def test_agreement_is_at_most_1_and_1_when_all_agree_on_different_tools(table):
    value = icc(table)
    assert value is None or value <= 1 + 1e-9
    agreed = [[row[0]] * len(row) for row in table]
    assert icc(agreed) == (None if len({row[0] for row in table}) == 1 else pytest.approx(1))


@pytest.mark.parametrize("table", [[], [[1, 2]], [[1], [2]], [[3, 3], [3, 3]], [[1, 2], [2, 1]]])
def test_agreement_is_undefined_rather_than_guessed(table):
    assert icc(table) is None


def test_the_offline_judge_may_sit_on_a_jury(score_with_jury, votes, loopback):
    votes({"t": {"a": (5, 5, 5, 5, 5, 5)}})
    jury = Jury(members=(juror(loopback, "a"), juror(loopback, "a"), Offline()))
    (scored,) = score_with_jury(tool(), judge=jury).tools
    assert scored.tdqs == 50
    assert [ballot.judge.id for ballot in scored.ballots] == ["openai", "openai", "offline"]
