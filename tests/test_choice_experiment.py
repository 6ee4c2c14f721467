"""The experiment's script against its figures computed a second time, from made-up plans whose merits are known."""

import json
import random
from collections import defaultdict
from statistics import fmean

import choice_experiment
import numpy as np
import pytest
from scipy.stats import binomtest
from scipy.stats import t as student

VERSIONS = ("captured", "first", "names", "rewritten", "source")
DEMANDS = ("right end", "needed lookups", "nothing needless", "arguments fit the schema", "right arguments")
SERVERS = [f"s{number:02}" for number in range(12)]
TOOLS = ("find", "show", "change", "drop")

# The calls that an agent makes of find(name) then show(id), whether they fit, and which demands they meet.
FIND, SHOW = ["find", {"name": "Ada"}], ["show", {"id": "$1.id", "size": 3}]
PLANS = {
    "right": ([FIND, SHOW], True, (True, True, True, True, True)),
    "no lookup": ([["show", {"id": "7", "size": 3}]], True, (True, False, True, True, False)),
    "wrong end": ([FIND, ["change", {"id": "$1.id"}]], True, (False, True, True, True, None)),
    "other end": ([FIND, ["drop", {"id": "$1.id"}]], True, (True, True, True, True, None)),
    "needless": ([FIND, ["change", {}], SHOW], True, (True, True, False, True, True)),
    "wrong value": ([FIND, ["show", {"id": "$1.id", "size": 4}]], False, (True, True, True, False, False)),
    "nothing": ([], None, (False, False, True, None, None)),
    "no form": (None, None, (False, False, False, False, False)),
}


@pytest.fixture(scope="module")
def data():
    """Requests, definitions and plans, and by server, request and version what is met."""
    chance = random.Random(7)
    requests, definitions, plans, met = [], [], [], {}
    for server in SERVERS:
        definitions.append({"server": server, "shown": {version: version for version in VERSIONS}})
        for version in VERSIONS:
            for name in TOOLS:
                scores = [chance.choice([2.5, 3.0, 3.5, 4.0]) for _ in range(7)]
                row = {"tool": name, "inputHash": "0" * 16, "log2": chance.uniform(1, 9), "scores": scores, "rules": []}
                definitions.append({"server": server, "versions": version, **row})
        for number in range(12):
            identity = f"{server}-{number}"
            calls = [{"tool": name, "arguments": dict(values)} for name, values in (FIND, SHOW)]
            requests.append(
                {"id": identity, "server": server, "query": f"show {number}", "kind": ("two", "argument")[number % 2]}
                | {"calls": calls, "also": ["drop"], "optional": []}
            )
            rows = []
            for version in VERSIONS:
                likely = 20 if version == "first" else 3
                merit = chance.choices(list(PLANS), [likely, *[1] * (len(PLANS) - 1)])[0]
                made, fits, demands = PLANS[merit]
                rows.append({"versions": version, "calls": made, "fits": fits})
                met[server, identity, version] = dict(zip(DEMANDS, demands, strict=True))
            plans.append({"id": identity, "list": "alone", "agent": "claude", "plans": rows})
    return requests, definitions, plans, met


@pytest.fixture(scope="module")
def figures(data):
    [(title, report)] = choice_experiment.figures(*data[:3]).items()
    assert (title, report["requests"], report["servers"]) == ("claude, alone", 144, 12)
    return report


def shares_of(met, demand):
    """Percent by version, then server."""
    values = defaultdict(list)
    for (server, _, version), row in met.items():
        if row[demand] is not None:
            values[version, server].append(row[demand])
    return {version: [100 * fmean(values[version, server]) for server in SERVERS] for version in VERSIONS}


def interval(values):
    """Another bootstrap of the mean, with other lots."""
    chance = random.Random(1)
    means = sorted(fmean(chance.choices(values, k=len(values))) for _ in range(2000))
    return means[50], means[-51]


@pytest.mark.parametrize("demand", DEMANDS)
def test_shares_and_differences_are_means_over_servers_with_a_bootstrap_over_them(data, figures, demand):
    shares, reported = shares_of(data[3], demand), figures["demands"][demand]
    for version in VERSIONS:
        share = reported["shares"][version]
        assert share["value"] == pytest.approx(fmean(shares[version]), abs=1e-9)
        assert (share["low"], share["high"]) == pytest.approx(interval(shares[version]), abs=2)
    for row in reported["differences"]:
        differences = [after - before for before, after in zip(shares["captured"], shares[row["version"]], strict=True)]
        assert row["value"] == pytest.approx(fmean(differences), abs=1e-9)
        assert (row["low"], row["high"]) == pytest.approx(interval(differences), abs=2)


def test_gains_and_losses_are_tested_exactly_and_corrected_over_all_twenty(data, figures):
    raw = {}
    for demand in DEMANDS:
        for version in VERSIONS[1:]:
            pairs = [
                (data[3][server, identity, "captured"][demand], row[demand])
                for (server, identity, own), row in data[3].items()
                if own == version
            ]
            raw[demand, version] = pairs.count((False, True)), pairs.count((True, False))
    p_values = {key: binomtest(gained, gained + lost).pvalue for key, (gained, lost) in raw.items()}
    order, highest, corrected = sorted(p_values, key=p_values.get), 0.0, {}
    for rank, key in enumerate(order):
        corrected[key] = highest = max(highest, min(1.0, (20 - rank) * p_values[key]))
    assert min(corrected.values()) < 0.05 < max(corrected.values())
    for demand in DEMANDS:
        for row in figures["demands"][demand]["differences"]:
            key = demand, row["version"]
            assert ((row["gained"], row["lost"]), row["p"]) == (raw[key], pytest.approx(p_values[key]))
            assert row["holm"] == pytest.approx(corrected[key])


@pytest.mark.parametrize(("place", "score"), [(0, "tdqs"), (3, "behavioral_transparency")])
def test_a_score_s_slope_is_that_of_a_regression_with_a_column_for_each_tool(data, figures, place, score):
    values = {
        (row["server"], row["versions"]): (row["scores"][place], row["log2"])
        for row in data[1]
        if row.get("tool") == "show"
    }
    rows = [(server, *values[server, version], met["right end"]) for (server, _, version), met in data[3].items()]
    servers, scores, lengths, right = (np.array(column) for column in zip(*rows, strict=True))
    dummies = np.column_stack([servers == server for server in SERVERS]).astype(float)
    design = np.column_stack([scores, lengths, dummies])
    coefficients, *_ = np.linalg.lstsq(design, 100 * right, rcond=None)
    rest = 100 * right - design @ coefficients
    inverse = np.linalg.inv(design.T @ design)
    sums = [design[servers == server].T @ rest[servers == server] for server in SERVERS]
    # As for a design of three columns: the means of the tools are taken off before.
    correction = 12 / 11 * (len(rows) - 1) / (len(rows) - 3)
    error = np.sqrt(correction * (inverse @ sum(np.outer(own, own) for own in sums) @ inverse)[0, 0])
    slope = figures["demands"]["right end"]["predictions"][score]
    assert slope["value"] == pytest.approx(coefficients[0], abs=1e-6)
    assert slope["high"] - slope["low"] == pytest.approx(2 * student.ppf(0.975, 11) * error, rel=1e-6)


def test_kinds_forms_and_the_noise_of_readers_are_counted(data, figures):
    for version in VERSIONS:
        made = [plan for row in data[2] for plan in row["plans"] if plan["versions"] == version]
        assert figures["outOfForm"][version] == sum(plan["calls"] is None for plan in made)
    kinds = {row["id"]: row["kind"] for row in data[0]}
    ends = [row["right end"] for (_, key, own), row in data[3].items() if (own, kinds[key]) == ("first", "two")]
    assert figures["kinds"]["two"]["right end"]["first"] == pytest.approx(100 * fmean(ends))
    assert figures["equalLists"] == {"pairs": 0, "differing": dict.fromkeys(DEMANDS, 0)}
    definitions = [{**row, "shown": dict.fromkeys(VERSIONS, "a")} if "shown" in row else row for row in data[1]]
    same = choice_experiment.figures(data[0], definitions, data[2])["claude, alone"]["equalLists"]
    others = [key for key in data[3] if key[2] != "captured"]
    differing = sum(data[3][key]["right end"] != data[3][(*key[:2], "captured")]["right end"] for key in others)
    assert (same["pairs"], same["differing"]["right end"]) == (576, differing)


def test_the_published_figures_are_those_of_the_published_data():
    """Shares of the arguments and of BM25 once more from the rows themselves, and all else that figures.json holds."""
    requests, definitions, plans, places = (
        choice_experiment.load(choice_experiment.DATA / f"{name}.jsonl")
        for name in ("requests", "definitions", "plans", "places")
    )
    published = json.loads((choice_experiment.DATA / "figures.json").read_text())
    assert sum(len(plan["versions"].split()) for row in plans for plan in row["plans"]) == 600 * 5 + 40 * 5
    ends = {row["id"]: {"" if not row["calls"] else row["calls"][-1]["tool"], *row["also"]} for row in requests}
    for row in plans:
        for plan in row["plans"]:
            assert (plan["calls"][-1][0].split("/")[-1] if plan["calls"] else "") in ends[row["id"]]
    servers = sorted({row["server"] for row in places})
    for place, title in enumerate(("first", "among the first 5")):
        for version in VERSIONS:
            own = [fmean(row["places"][version][place] for row in places if row["server"] == name) for name in servers]
            assert published["bm25, alone"][title]["shares"][version]["value"] == pytest.approx(100 * fmean(own))
    computed = choice_experiment.figures(requests, definitions, plans)
    for title, report in computed.items():
        for demand in DEMANDS:
            assert published[title]["demands"][demand]["shares"] == {
                version: pytest.approx(share, abs=1e-6)
                for version, share in report["demands"][demand]["shares"].items()
            }
