"""Studies: variants over outcomes, by hand-checked and published figures, and the calls of requests at a server."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from schemas import VALIDATORS

from tdqs_mcp.app import studying
from tdqs_mcp.report.blocks import as_markdown
from tdqs_mcp.report.study_reports import outcome_blocks
from tdqs_mcp.sources.input_files import read_material, read_outcomes

SERVERS = os.environ.get("TDQS_TEST_SERVERS", "")
FRAIL = Path(__file__).parent / "frail_server.py"

HEAD = "task,model,domain,variant,success,evaluators_passed,evaluators_total,steps\n"


@pytest.fixture
def outcomes(tmp_path):
    def write(text, name="outcomes.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="module")
def published(shared):
    return studying.study_outcomes(shared / "data" / "paired_outcomes.csv")


def pair(study, before, after, model, domain):
    return next(
        each
        for each in study.pairs
        if (each.before, each.after, each.model, each.domain) == (before, after, model, domain)
    )


# The paper's data


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("model", "domain", "phi"),
    [
        ("Qwen3-Coder", "3d_design", 0.864),
        ("GPT-4.1", "financial_analysis", 0.591),
        ("GPT-4.1", "location_navigation", 0.572),
        ("Qwen3-Coder", "repository_management", 0.909),
        ("GLM-4.5", "web_search", 0.511),
    ],
)
def test_phi_is_that_of_table_8(published, model, domain, phi):
    found = pair(published, "FR", "BC", model, domain).agreement
    assert round(found.phi, 3) == phi
    assert found.p_value < 0.01


@pytest.mark.corpus
def test_near_misses_are_those_of_table_6(published):
    found = {
        row.model: row.near_misses
        for row in published.summaries
        if row.experiment == "AE-AS-Pareto.csv" and row.domain is None and row.model
    }
    assert found == {"GPT-4.1": 19, "Qwen3-Coder": 16, "GLM-4.5": 18, "Qwen3-Next-80B-A3B": 16}


@pytest.mark.corpus
def test_the_confusion_of_all_domains_is_that_of_table_8(published):
    found = pair(published, "FR", "BC", None, None).agreement
    assert (found.both, found.only_after, found.only_before, found.neither) == (46, 15, 11, 120)


@pytest.mark.corpus
def test_cochrans_q_finds_no_difference_between_three_configurations(published):
    assert len(published.cochrans_q) == 8
    assert all(each.variants == ("FR", "BC", "P+G+L+PEx") and each.p_value > 0.05 for each in published.cochrans_q)


@pytest.mark.corpus
def test_qwen3_next_gains_as_published(published):
    found = pair(published, "original", "P+G+L (augmented)", "Qwen3-Next-80B-A3B", None)
    success, score, steps = found.tests
    assert (round(success.before, 2), round(success.after, 2), round(success.p_value, 3)) == (15.58, 21.21, 0.015)
    assert (round(score.before, 2), round(score.after, 2)) == (0.33, 0.39)
    assert round(steps.before, 2) == 9.46
    assert score.p_value < 0.05
    assert steps.p_value < 0.05


@pytest.mark.corpus
def test_the_published_data_fit_a_screen_and_their_json_its_schema(shared, command):
    file = str(shared / "data" / "paired_outcomes.csv")
    text = command("study", file).stdout.decode()
    assert len(text.splitlines()) < 60
    assert "+5.6 (+1.4 to +9.8)  0.015" in text
    assert "statistical.csv · Qwen3-Next-80B-A3B" in text
    assert "#2 · Qwen3" not in text
    # The first pairs of this file have no steps.
    assert "68 of 231 tasks take more steps, 16 of them score better, 8 of these succeed" in " ".join(text.split())
    assert "original → P\\+G\\+L (augmented)" in command("study", file, "--format", "markdown").stdout.decode()
    VALIDATORS["study"].validate(json.loads(command("study", file, "--format", "json").stdout))


# Small experiments whose figures are known


def test_without_domains_each_model_is_one_scope_and_runs_without_a_partner_are_counted(outcomes, command):
    rows = [f"t{n},m,,{v},1,,,{n}\n" for n in range(6) for v in "ab"]
    path = outcomes(HEAD + "".join(rows) + "t9,m,,a,0,,,3\n")
    found = studying.study_outcomes(path)
    assert [(each.model, each.domain, each.units, each.without_partner) for each in found.pairs] == [("m", None, 6, 1)]
    assert "1 run of a pair have no run of the same task" in command("study", path).stdout.decode()


def test_means_are_those_of_the_papers_example(outcomes):
    """Section 4.5.3: one task passes three of three in four steps, another two of four in six."""
    [summary] = studying.study_outcomes(outcomes(HEAD + "a,m,,x,1,3,3,4\nb,m,,x,0,2,4,6\n")).summaries
    assert (summary.success, summary.score, summary.steps) == (50, 0.75, 5)


def test_discordant_pairs_decide_mcnemars_exact_test(outcomes):
    rows = [f"t{n},m,d,{variant},{int(variant == 'new' or n < 3)},,,\n" for n in range(9) for variant in ("old", "new")]
    [found] = studying.study_outcomes(outcomes(HEAD + "".join(rows))).pairs
    assert (found.agreement.both, found.agreement.only_after, found.agreement.only_before) == (3, 6, 0)
    assert found.tests[0].p_value == pytest.approx(2 / 2**6)
    assert found.tests[0].difference.value == pytest.approx(100 * 6 / 9)
    assert found.agreement.phi is None


def test_steps_of_pairs_are_ranked_and_equal_ones_dropped(outcomes):
    rows = [f"t{n},m,d,{variant},1,,,{5 + n * (variant == 'new')}\n" for n in range(6) for variant in ("old", "new")]
    [found] = studying.study_outcomes(outcomes(HEAD + "".join(rows))).pairs
    steps = found.tests[1]
    assert (steps.metric, steps.size, steps.p_value) == ("steps", 1, pytest.approx(2 / 2**5))


def test_variants_with_other_tasks_are_compared_as_independent_groups_and_corrected(outcomes):
    rows = [f"{v}{n},m,d,{v},{n % 2},,,{n + 10 * (v == 'c')}\n" for n in range(6) for v in "abc"]
    pairs = studying.study_outcomes(outcomes(HEAD + "".join(rows))).pairs
    assert not any(each.agreement for each in pairs)
    tests = [test for each in pairs for test in each.tests]
    assert {test.test for test in tests} == {"Mann-Whitney U"}
    assert all(test.adjusted == pytest.approx(min(1, test.p_value * len(tests))) for test in tests)
    assert next(test.size for test in pairs[1].tests if test.metric == "steps") == 1


def test_a_task_of_several_models_counts_as_one_cluster_and_has_no_test_of_independent_tasks(outcomes):
    rows = [
        f"t{n},{model},d,{variant},{int(variant == 'new' and n < 4)},,,\n"
        for n in range(8)
        for model in "mn"
        for variant in ("old", "new")
    ]
    whole = studying.study_outcomes(outcomes(HEAD + "".join(rows))).pairs[0]
    assert whole.model is None
    assert (whole.tests[0].units, whole.tests[0].difference.clusters) == (16, 8)
    assert whole.tests[0].p_value is None


def test_the_front_leaves_out_what_another_point_dominates(outcomes):
    path = outcomes(HEAD + "a,best,,x,1,4,4,5\na,slow,,x,1,4,4,9\na,other,,x,0,1,4,2\n")
    assert {each.model for each in studying.study_outcomes(path).front if each.is_on_front} == {"best", "other"}


def test_groups_without_any_spread_have_a_difference_but_no_interval(outcomes):
    rows = [f"{v}{n},m,d,{v},{int(v == 'b')},,,\n" for n in range(6) for v in "ab"]
    [test] = studying.study_outcomes(outcomes(HEAD + "".join(rows))).pairs[0].tests
    assert (test.before, test.after, test.difference) == (0, 100, None)


def test_there_is_no_front_without_steps_and_evaluators(outcomes):
    assert studying.study_outcomes(outcomes(HEAD + "a,m,d,x,1,,,4\n")).front == ()


# Files


def test_all_formats_are_read_alike(outcomes, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    from pyarrow import Table  # noqa: PLC0415

    csv = outcomes(HEAD + "a,m,d,x,1.0,2,3,4.0\nb,m,d,x,0.0,,,\n")
    rows = [
        {"task": "a", "model": "m", "domain": "d", "variant": "x", "success": True, "evaluators_passed": 2, "evaluators_total": 3, "steps": 4},
        {"task": "b", "model": "m", "domain": "d", "variant": "x", "success": False},
    ]  # fmt: skip
    lines = outcomes("\n".join(map(json.dumps, rows)), "outcomes.jsonl")
    parquet.write_table(Table.from_pylist(rows), tmp_path / "outcomes.parquet")
    assert read_outcomes(csv) == read_outcomes(lines) == read_outcomes(tmp_path / "outcomes.parquet")


def test_a_log_of_calls_is_read_as_runs_and_its_other_events_are_none(outcomes):
    lines = [
        {"event": "tools/list", "variant": "own"},
        {"event": "tools/call", "client": None, "variant": "own", "tool": "find", "success": True, "arguments": {}},
        {
            "event": "tools/call",
            "client": "c",
            "variant": "new",
            "tool": "find",
            "success": False,
            "error": "<text of 3>",
        },
    ]
    runs = read_outcomes(outcomes("\n".join(map(json.dumps, lines)), "calls.jsonl"))
    assert [(run.model, run.domain, run.variant, run.success) for run in runs] == [
        ("unnamed client", "find", "own", True),
        ("c", "find", "new", False),
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a,m,d,x,1,,,\nb,m,d,x,maybe,,,\n", "line 3: success: "),
        ("a,m,d,,1,,,\n", "line 2: no variant"),
        ("a,m,d,x,1,5,3,\n", "line 2: evaluators_passed must come with evaluators_total"),
        ("a,m,d,x,1,,,-2\n", "line 2: steps: "),
        ("a,m,d,x,1,,,4\na,m,d,x,0,,,4\n", "line 3: the same task, model, domain and variant as line 2"),
        ("a,m,d,x,1,,\n", "line 2 of"),
        ("a,m,d,x,1,,,4,5\n", "line 2 of"),
        ("", "has no rows"),
        ("task,task\na,b\n", "a column twice"),
        ('a,m,d,"x,1,,,\n', "is not CSV"),
    ],
)
def test_a_bad_row_is_named_by_its_line_and_nothing_is_computed(outcomes, command, rows, said):
    run = command("study", outcomes(rows if rows.startswith("task") else HEAD + rows))
    assert run.returncode == 2
    assert said in run.stderr.decode()
    assert not run.stdout


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("rows.parquet", b"PAR1", "is not Parquet that can be read"),
        ("rows.jsonl", "[]\n", "is not an object; a row has"),
    ],
)
def test_a_file_without_rows_of_outcomes_is_refused_with_its_name(write, command, name, content, said):
    run = command("study", write(name, content))
    assert (run.returncode, run.stdout) == (2, b"")
    assert name in run.stderr.decode()
    assert said in run.stderr.decode()


def test_a_missing_extra_is_named(outcomes, command, monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.api", None)
    run = command("study", outcomes(HEAD + "a,m,d,x,1,,,\n"))
    assert run.returncode == 2
    assert "pip install '.[study]'" in run.stderr.decode()


def test_one_variant_alone_is_counted_and_compared_to_nothing(outcomes, command):
    run = command("study", outcomes(HEAD + "a,m,d,x,1,,,\n"))
    assert run.returncode == 0
    assert b"Only one variant was run. Next: run the same tasks" in run.stdout


@pytest.mark.parametrize(
    "arguments", [(), ("--benchmark", ".", "--run", "x.json"), ("--log", "x"), ("--benchmark", ".", "--format", "svg")]
)
def test_one_thing_is_studied_at_a_time_in_a_form_that_it_has(command, arguments):
    run = command("study", *arguments)
    assert run.returncode == 2
    assert b"Usage:" in run.stderr


def test_a_folder_that_is_no_benchmark_says_what_is_missing(command, tmp_path):
    run = command("study", "--benchmark", str(tmp_path))
    assert run.returncode == 2
    assert b"neither tools.json nor tools.json.gz" in run.stderr


# Requests whose calls are made


def task(tool, **arguments):
    return {"query": f"Call {tool}.", "calls": [{"tool": tool, "arguments": arguments}]}


@pytest.fixture
def run(command, write, tmp_path):
    """Makes calls at the frail server: how it ended, and the log of calls."""

    def call(*tasks, options=()):
        log = tmp_path / "calls.jsonl"
        file = write("requests.json", list(tasks))
        server = f"stdio:{sys.executable} {FRAIL} {tmp_path}"
        done = command("study", file, "--run", server, "--log", log, "--timeout", "3", *options)
        return done, [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else None

    return call


@pytest.mark.process
def test_a_server_that_dies_or_hangs_leaves_the_other_calls_and_no_process(run, tmp_path):
    done, log = run(*(task(each, text="hunter2") for each in ("read", "die", "read", "hang", "read")))
    assert done.returncode == 2
    assert [each["outcome"] for each in log] == ["success", "lost", "success", "cancelled", "success"]
    assert {each["variant"] for each in log} == {"original"}
    assert "hunter2" not in json.dumps(log)
    assert b"5 calls: 3 success, 1 lost, 1 cancelled" in done.stderr
    assert [each["tokens"] > 0 for each in log] == [True, False, True, False, True]
    lines = done.stderr.decode().splitlines()
    longest = max(each["tokens"] for each in log)
    assert f"read: 3 calls, 0 errors; answers of {longest} tokens, the longest {longest}" in lines
    assert "die: 1 call, 1 error; answers of 0 tokens, the longest 0" in lines
    assert b"exited with code 3" in done.stderr
    processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in processes


@pytest.mark.process
def test_only_what_is_declared_read_only_is_called_without_consent(run):
    done, log = run(task("read", text="a"), task("act", text="b"))
    assert [each["tool"] for each in log] == ["read"]
    assert done.returncode == 0
    assert b"2 calls to stdio:" in done.stderr
    assert b"left out: 1 call of tools not declared readOnlyHint: true (act)" in done.stderr
    done, log = run(task("act", text="b"), options=["--yes"])
    assert [each["tool"] for each in log] == ["read", "act"]


@pytest.mark.process
@pytest.mark.parametrize(
    ("tasks", "reason"),
    [
        ([task("act", text="a")], b"give --yes"),
        ([task("read", text="a"), task("reed", text="a")], b"'frail' has no tool reed"),
        ([task("read", text="$1.text")], b"left out: 1 call with values that an earlier call would give"),
        ([{"query": "Call read.", "tool": "read"}], b"no request has a plan that can be called as it is"),
        ([], b"holds no queries"),
    ],
)
def test_nothing_is_called_without_consent_or_when_a_call_cannot_be_made(run, tasks, reason):
    done, log = run(*tasks)
    assert done.returncode == 2
    assert reason in done.stderr
    assert log is None


@pytest.mark.process
@pytest.mark.skipif(not SERVERS, reason="TDQS_TEST_SERVERS is unset: run tests/real_servers.sh DIR and set it to DIR")
def test_the_calls_of_a_real_server_are_material_and_outcomes(tdqs_mcp, write, tmp_path):
    log = tmp_path / "calls.jsonl"
    script = f"{SERVERS}/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    file = write("requests.json", [task("echo", message="hunter2"), task("echo"), task("get-sum", a=1, b=2)])
    done = tdqs_mcp("study", file, "--run", f"stdio:node {script} stdio", "--log", log, "--yes")
    assert done.returncode == 0
    assert [trace.outcome for trace in read_material(log).traces] == ["success", "error", "success"]
    assert [run.success for run in read_outcomes(log)] == [True, False, True]
    assert "hunter2" not in log.read_text()


# Shares, medians, the funnel and what confounds

CASES = """task,model,domain,variant,success,evaluators_passed,evaluators_total,steps
a,m,x,old,0,1,10,4
a,m,x,new,1,10,10,8
b,m,x,old,0,2,10,4
b,m,x,new,0,9,10,6
c,m,x,old,1,10,10,2
c,m,x,new,1,10,10,3
a,n,x,old,1,10,10,5
a,n,x,new,0,0,10,5
"""


def test_cases_funnel_union_and_relative_changes_are_counted(outcomes):
    found = studying.study_outcomes(outcomes(CASES))
    (case,) = found.cases
    assert (case.cases, case.improved, case.regressed) == (2, 50, 50)
    assert case.median == pytest.approx((100 / 3 - 100) / 2)
    first = pair(found, "old", "new", "m", "x")
    assert (first.funnel.pairs, first.funnel.more_steps, first.funnel.better_score, first.funnel.success) == (
        3,
        3,
        2,
        1,
    )
    assert first.agreement.union == pytest.approx(200 / 3)
    success, score, steps = first.tests
    assert (success.relative, score.median_before, score.median_after) == (pytest.approx(100), 0.2, 1.0)
    assert (steps.median_before, steps.median_after, steps.relative) == (4, 6, pytest.approx(70))
    (new,) = [row for row in found.summaries if (row.model, row.variant) == ("m", "new")]
    assert new.near_misses == 1
    assert found.confounded == ()
    text = outcome_text(found)
    for words in ("better in 50.0 %, worse in 50.0 %", "take more steps", "either succeeds in"):
        assert words in text


def outcome_text(study):
    return as_markdown(outcome_blocks(study))


@pytest.mark.parametrize(("second", "names"), [("m,y", ["domain"]), ("n,x", ["model"]), ("m,x", [])])
def test_variants_of_other_models_or_domains_are_told_as_confounded(outcomes, second, names):
    rows = [f"{place},m,x,old,{place % 2}" for place in range(6)]
    rows += [f"{place + 9},{second},new,{place % 2}" for place in range(6)]
    found = studying.study_outcomes(outcomes("\n".join(["task,model,domain,variant,success", *rows])))
    assert [
        words.partition("so a difference may be one of ")[2].partition("s:")[0] for words in found.confounded
    ] == names
    assert ("so a difference" in outcome_text(found)) is bool(names)


def test_a_recorded_log_shows_what_the_answers_of_each_tool_cost_and_what_was_called_again(command, write):
    """Two sessions: `read` fails and is called again in one; in the other something else comes after the error."""
    calls = [
        ("a", "read", "error", 12),
        ("a", "read", "success", 43_036),
        ("b", "read", "error", 10),
        ("b", "list", "success", 30),
        ("b", "read", "success", 20),
    ]
    log = "\n".join(
        json.dumps(
            {
                "session": session,
                "event": "tools/call",
                "client": "reader",
                "variant": "original",
                "tool": name,
                "success": outcome == "success",
                "outcome": outcome,
                "tokens": tokens,
            }
        )
        for session, name, outcome, tokens in calls
    )
    lines = command("study", write("calls.jsonl", log)).stderr.decode().splitlines()
    assert "read: 4 calls, 2 errors, 1 again after an error; answers of 16 tokens, the longest 43,036" in lines
    assert "list: 1 call, 0 errors; answers of 30 tokens, the longest 30" in lines
