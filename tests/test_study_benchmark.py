"""LiveMCPBench's and AgentGauge's figures computed a second time, from the files alone: no reader or statistics of ours.

Only what is measured of a definition is ours: which words it is indexed by, its scores, and which rules fire.
"""

import gzip
import json
import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from rule_predictions import TARGET, rule_predictions
from schemas import VALIDATORS

import tdqs_mcp
from tdqs_mcp.app.catalogs import blocking
from tdqs_mcp.app.studying import study_benchmark
from tdqs_mcp.facts.subject import measure
from tdqs_mcp.facts.toolset.search import indexed_text, search_terms
from tdqs_mcp.report.blocks import as_markdown
from tdqs_mcp.report.json_values import document
from tdqs_mcp.report.study_reports import choice_blocks
from tdqs_mcp.results.studies import Reading
from tdqs_mcp.rules import registry

pytestmark = pytest.mark.corpus

DIMENSIONS = ("purpose_clarity", "usage_guidelines", "conciseness_structure", "contextual_completeness")


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "data" / "livemcpbench"


@pytest.fixture(scope="module")
def study(folder):
    return blocking(study_benchmark)(folder)


@pytest.fixture(scope="module")
def servers(folder):
    with gzip.open(folder / "tools.json.gz") as file:
        return {name: each["tools"] for entry in json.load(file) for name, each in entry["tools"].items()}


@pytest.fixture(scope="module")
def calls(folder, servers):
    """Task, server, tool and 1 for a failure, for every call whose tool is known and whose answer was recorded."""
    found = []
    with gzip.open(folder / "trajectories.json.gz") as file:
        runs = json.load(file)
    for run in runs:
        asked = {}
        for message in run["messages"]:
            for call in message.get("tool_calls") or []:
                asked[call["id"]] = call["function"]
            function = asked.get(message.get("tool_call_id"))
            if message["role"] != "tool" or function["name"] != "execute-tool":
                continue
            call = json.loads(function["arguments"])
            key = call["server_name"], call["tool_name"]
            if any(tool["name"] == key[1] for tool in servers.get(key[0], [])):
                found.append((run["task_id"], *key, failure(message["content"])))
    return found


def failure(answer):
    if answer.startswith("Tool call timed out"):
        return 1
    if answer.rstrip().endswith("isError=True"):
        return 1
    return int('\\n  "isError": true' in answer)


@pytest.fixture(scope="module")
def searches(folder, servers):
    """Server, tool and the chance to be among the first five, for every distinct human step; BM25 from its formula."""
    homes = defaultdict(list)
    for server, tools in servers.items():
        for each in tools:
            homes[each["name"]].append(server)
    loaded = [(server, tool) for server, tools in servers.items() for tool in tdqs_mcp.read(tools).tools]
    keys = [(server, tool.name) for server, tool in loaded]
    documents = [Counter(search_terms(indexed_text(tool))) for _, tool in loaded]
    lengths = np.array([sum(each.values()) for each in documents])
    lines = (folder / "steps.jsonl").read_text(encoding="utf-8").splitlines()
    steps = dict.fromkeys((each["query"], each["tool"]) for each in map(json.loads, lines))
    found = []
    for query, name in steps:
        scores = np.zeros(len(documents))
        for term in search_terms(query):
            counts = np.array([each[term] for each in documents])
            having = int((counts > 0).sum())
            rarity = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
            scores += rarity * counts / (counts + 1.5 * (0.25 + 0.75 * lengths / lengths.mean()))
        key = homes[name][0], name
        own = scores[keys.index(key)]
        ahead, tied = int((scores > own + 1e-8).sum()), int((abs(scores - own) <= 1e-8).sum())
        found.append((*key, min(1, max(0, 5 - ahead) / tied) if own > 0 else 0))
    return found


@pytest.fixture(scope="module")
def facts(servers):
    """What is measured of each tool: characters, some dimensions, and the rules that fire."""
    found = {}
    every = registry.select(names=["ALL"])._replace(entailed={})
    for server, tools in servers.items():
        catalog = tdqs_mcp.read(tools)
        fired = defaultdict(set)
        for each in registry.check(measure(catalog), every):
            if each.subject.kind == "tool":
                fired[each.subject.index].add(each.rule)
        scores = {each.index: each for each in tdqs_mcp.score(catalog).tools}
        for tool in catalog.tools:
            points = {key: scores[tool.index].judgements[key].score for key in DIMENSIONS}
            points["tdqs"] = scores[tool.index].tdqs / 10
            length = math.log2(1 + len(tool.description or ""))
            found[server, tool.name] = {"length": length, **points, "rules": fired[tool.index]}
    return found


def regression(outcomes, predictor, held, *groupings):
    """Slope and 95 % interval by normal equations and the sandwich of Cameron, Gelbach and Miller."""
    from scipy.stats import t as student  # noqa: PLC0415  # slow to import: every worker reads every test module

    design = np.column_stack([predictor, *held, np.ones(len(outcomes))])
    bread = np.linalg.inv(design.T @ design)
    slopes = bread @ design.T @ outcomes
    pulls = design * (outcomes - design @ slopes)[:, None]
    cut = [np.unique(np.array(each), return_inverse=True)[1] for each in groupings]

    def meat(labels):
        sums = np.array([pulls[labels == label].sum(axis=0) for label in np.unique(labels)])
        count, (rows, width) = len(sums), design.shape
        return sums.T @ sums * count / (count - 1) * (rows - 1) / (rows - width)

    middle = sum(map(meat, cut))
    if len(cut) == 2:
        middle = middle - meat(cut[0] * 10_000 + cut[1])
    error = math.sqrt((bread @ middle @ bread)[0, 0])
    reach = student.ppf(0.975, min(len(np.unique(each)) for each in cut) - 1) * error
    return slopes[0], slopes[0] - reach, slopes[0] + reach


def test_the_counts_are_those_of_the_files(study, servers, calls, searches):
    assert (study.servers, study.tools) == (70, 527) == (len(servers), sum(map(len, servers.values())))
    assert (study.queries, study.calls) == (len(searches), len(calls)) == (86, 528)
    assert study.failed == pytest.approx(100 * np.mean([each[-1] for each in calls]))
    assert study.found == pytest.approx(100 * np.mean([float(each[-1]) for each in searches]))


@pytest.mark.parametrize(("outcome", "least"), [("fails", 16), ("found", 1)])
def test_every_interval_is_that_of_the_second_computation(study, calls, searches, facts, outcome, least):
    compared = [each for each in study.predictors if getattr(each, outcome).estimate]
    assert len(compared) >= least
    rows = [row[-3:] for row in (calls if outcome == "fails" else searches)]
    tools = [facts[server, tool] for server, tool, _ in rows]
    groupings = [[server for server, _, _ in rows], *([[call[0] for call in calls]] if outcome == "fails" else [])]
    for each in compared:
        predictor, held = values(each.name, tools, [each["length"] for each in tools])
        if predictor is not None:
            one = getattr(each, outcome).estimate
            expected = regression(np.array([100.0 * value for *_, value in rows]), predictor, held, *groupings)
            assert (one.value, one.low, one.high) == pytest.approx(expected, rel=1e-6), each.name


def values(name, tools, length):
    """The predictor for each row and what is held constant beside it; None for what is not measured here."""
    if name.startswith("description"):
        return length, []
    if name.isupper():
        return [float(name in each["rules"]) for each in tools], [length]
    return ([each[name] for each in tools] if name in tools[0] else None), [length]


def test_readings_follow_from_the_intervals(study):
    for each in study.predictors:
        for found in (each.found, each.fails):
            one = found.estimate
            if one is None:
                assert found.reading is Reading.OPEN
            elif one.low > -5 and one.high < 5:
                assert found.reading is Reading.NOTHING
            elif found.reading is Reading.SOMETHING:
                assert not one.low <= 0 <= one.high


def test_the_pages_say_what_the_benchmarks_say(study, choices, command):
    predictions = rule_predictions(study, choices)
    assert json.loads(TARGET.read_text(encoding="utf-8")) == predictions
    page = command("rules", "TDQ105").stdout.decode()
    assert f"right tool, {predictions['TDQ105']['right']}" in page
    assert f"right tool, {predictions['usage_guidelines']['right']}" in page
    assert "findings that readers judged" not in page
    assert "of 38 findings that readers judged, 32 are true, 10 useful" in command("rules", "TDQ104").stdout.decode()


def test_the_json_has_its_schema_and_the_text_a_next_step(study, folder, command):
    VALIDATORS["study-benchmark"].validate(document(study))
    text = command("study", "--benchmark", str(folder)).stdout.decode()
    assert len(text.splitlines()) < 50
    assert "Next:" in text


@pytest.fixture(scope="module")
def gauge(shared):
    return shared / "data" / "agentgauge"


@pytest.fixture(scope="module")
def choices(gauge):
    return blocking(study_benchmark)(gauge)


def rows_of(path):
    with gzip.open(path) as file:
        return [json.loads(line) for line in file]


def test_the_shares_of_every_variant_are_those_of_the_raw_calls(gauge, choices):
    tallies = defaultdict(list)
    for call in rows_of(gauge / "live_calls.jsonl.gz"):
        for server in (call["fixture"], None):
            tallies[server, call["variant"]].append(
                (call["selected_tool"] == call["tool_name"], call["constraint_satisfaction"])
            )
    for run in rows_of(gauge / "outcomes.ndjson.gz"):
        for call in run.get("run_results", []):
            tallies[run["name"]].append(
                (call["selected_tool"] == call["task_tool_name"], call["constraint_satisfaction"])
            )
    shares = [*choices.totals, *choices.shares]
    assert len(shares) == len(tallies) == 2 + 24 + 44
    for share in shares:
        tally = tallies[(share.server, share.variant) if share.variant in ("bad", "fixed") else share.variant]
        assert share.calls == len(tally)
        assert (share.right, share.satisfied) == pytest.approx(100 * np.mean(tally, axis=0), rel=1e-6)
    assert [round(share.right, 1) for share in choices.totals] == [92.0, 98.2]


def test_a_bootstrap_of_servers_agrees_that_written_descriptions_help(gauge, choices):
    sums = defaultdict(lambda: np.zeros(4))
    for call in rows_of(gauge / "live_calls.jsonl.gz"):
        is_written = call["variant"] == "fixed"
        right = call["selected_tool"] == call["tool_name"]
        sums[call["fixture"]] += [not is_written, right and not is_written, is_written, right and is_written]
    servers, random = np.array(list(sums.values())), np.random.default_rng(35)
    drawn = servers[random.integers(0, len(servers), (10_000, len(servers)))].sum(axis=1)
    low, high = np.percentile(100 * (drawn[:, 3] / drawn[:, 2] - drawn[:, 1] / drawn[:, 0]), [2.5, 97.5])
    change = choices.change.right
    assert change.value == pytest.approx(100 * (servers[:, 3] - servers[:, 1]).sum() / servers[:, 0].sum(), rel=1e-6)
    assert change.clusters == 12
    assert 0 < change.low < low < change.value < high < change.high + 1


def test_what_predicts_a_choice_is_that_of_the_second_computation(gauge, choices):
    with gzip.open(gauge / "tool_definitions.json.gz") as file:
        definitions = {each["name"]: each["tools"] for each in json.load(file)}
    scored, names = {}, {}
    for variant, tools in definitions.items():
        names[variant] = " ".join(sorted(each["name"] for each in tools))
        for tool, described in zip(tdqs_mcp.score(tdqs_mcp.read(tools)).tools, tools, strict=True):
            points = {key: tool.judgements[key].score for key in DIMENSIONS}
            length = math.log2(1 + len(described["description"]))
            scored[variant, described["name"]] = {"tdqs": tool.tdqs / 10, "length": length, **points}
    rows = [
        (names[run["name"]], call["task_tool_name"], scored[run["name"], call["task_tool_name"]], call)
        for run in rows_of(gauge / "outcomes.ndjson.gz")
        for call in run.get("run_results", [])
    ]
    assert (choices.calls, choices.servers) == (len(rows), len({server for server, *_ in rows})) == (5535, 16)
    _, tools = np.unique([f"{server} {tool}" for server, tool, *_ in rows], return_inverse=True)
    dummies = np.eye(tools.max() + 1)[tools]

    def within(values):
        values = np.array(values, dtype=float)
        return values - dummies @ (dummies.T @ values / dummies.sum(axis=0))

    length = within([points["length"] for *_, points, _ in rows])
    outcomes = {
        "right": within([100.0 * (call["selected_tool"] == call["task_tool_name"]) for *_, call in rows]),
        "satisfied": within([100 * call["constraint_satisfaction"] for *_, call in rows]),
    }
    predictors = {each.name: each for each in choices.predictors}
    for name in ("tdqs", *DIMENSIONS):
        for outcome, values in outcomes.items():
            expected = regression(
                values, within([points[name] for *_, points, _ in rows]), [length], [row[0] for row in rows]
            )
            one = getattr(predictors[name], outcome).estimate
            assert (one.value, one.low, one.high) == pytest.approx(expected, rel=1e-6), (name, outcome)


def test_the_choices_have_their_schema_and_a_next_step(choices):
    VALIDATORS["study-choices"].validate(document(choices))
    text = as_markdown(choice_blocks(choices))
    assert "92.0 → 98.2 %" in text
    assert "Next:" in text


def test_a_folder_that_is_no_benchmark_names_what_is_missing(tmp_path, command):
    (tmp_path / "live_calls.jsonl").write_text("{}\n", encoding="utf-8")
    result = command("study", "--benchmark", str(tmp_path))
    assert result.returncode == 2
    assert "tool_definitions.json" in result.stderr.decode()
