"""Computes which definitions agents choose and call right, by the design in choice_experiment.md.

`choice_experiment.py` writes choices/figures.json from the data beside it: requests, plans, places of the word
search, and definitions by hash only, with their length, offline scores and the rules that fire.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from statsmodels.stats.multitest import multipletests

from tdqs_mcp.app.studying import TDQS
from tdqs_mcp.model import Catalog, read_tools
from tdqs_mcp.results.checks import DEMANDS, PlannedCall, Query
from tdqs_mcp.results.studies import Prediction
from tdqs_mcp.rewriting.tool_selection import (
    Index,
    Plan,
    choose,
    exact_p_value,
)
from tdqs_mcp.rubrics.rubric import load as load_rubric
from tdqs_mcp.study import TWICE, Observation, ToolKey, predict

DATA = Path(__file__).parent / "choices"
VERSIONS = ("captured", "first", "names", "rewritten", "source")
DRAWS, SEED = 10_000, 35
ALONE, TOGETHER = "alone", "together"
"""Requests with the list of their own server, and with the ten largest lists in one."""

SCORES = (TDQS, *load_rubric("tdqs").keys)

K = 5

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A request that an agent planned with one version of the definitions."""

    id: str
    server: str
    kind: str
    tool: str
    version: str
    is_formed: bool
    met: Mapping[str, bool | None]
    """By demand; None where there is nothing to hold the plan against."""


def load(path: Path) -> list[Row]:
    """The rows of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def end(row: Row) -> str:
    """The last tool of a plan; empty where nothing is called."""
    return str(row["calls"][-1]["tool"]) if row["calls"] else ""


def outcomes(requests: Sequence[Row], definitions: Sequence[Row], plans: Sequence[Row]) -> dict[str, list[Outcome]]:
    """By agent and list the outcome of every plan."""
    tools: dict[str, dict[str, None]] = defaultdict(dict)
    for row in definitions:
        if "tool" in row:
            tools[row["server"]][row["tool"]] = None
    by_id = {row["id"]: row for row in requests}
    members: dict[str, set[str]] = defaultdict(set)
    for row in plans:
        members[row["list"]].add(by_id[row["id"]]["server"])
    results: dict[str, list[Outcome]] = defaultdict(list)
    for row in plans:
        request, is_alone = by_id[row["id"]], row["list"] == ALONE
        servers = [request["server"]] if is_alone else sorted(members[row["list"]])
        index = Index.of(
            [Catalog(server=name, tools=read_tools([{"name": tool} for tool in tools[name]])) for name in servers]
        )
        query = Query(
            text=request["query"],
            tool=end(request),
            calls=tuple(
                PlannedCall(tool=call["tool"], arguments=call.get("arguments", {})) for call in request["calls"]
            ),
            also=tuple(request["also"]),
            optional=tuple(request["optional"]),
            server=None if is_alone else request["server"],
        )
        for plan in row["plans"]:
            results[f"{row['agent']}, {row['list']}"] += [
                Outcome(
                    id=row["id"],
                    server=request["server"],
                    kind=request["kind"],
                    tool=query.tool,
                    version=version,
                    is_formed=plan["calls"] is not None,
                    met=demands_met(query, plan, index),
                )
                for version in plan["versions"].split()
            ]
    return results


def demands_met(query: Query, plan: Row, index: Index) -> dict[str, bool | None]:
    """The demands on a plan; one out of form fails all that its request makes."""
    if plan["calls"] is None:
        return {
            "right end": False,
            "needed lookups": False if query.calls[:-1] else None,
            "nothing needless": False,
            "arguments fit the schema": False if query.calls else None,
            "right arguments": False if any(call.arguments for call in query.calls) else None,
        }
    places = {index.label(place): place for place in range(len(index.entries))}
    calls = Plan(calls=tuple((places[tool], values) for tool, values in plan["calls"]))
    [choice] = choose([query], [calls], index)
    assert choice.plan
    met = {demand: read(choice.plan) for demand, read in DEMANDS.items()}
    return {**met, "arguments fit the schema": plan["fits"]}


def server_shares(results: Sequence[Outcome], demand: str) -> np.ndarray[Any, Any]:
    """Percent of the plans that meet a demand, by server and version; without servers that have none in a version."""
    met: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for result in results:
        if (value := result.met[demand]) is not None:
            met[result.server, result.version].append(value)
    servers = sorted({result.server for result in results})
    return np.array(
        [
            [100 * fmean(met[server, version]) for version in VERSIONS]
            for server in servers
            if all(met[server, version] for version in VERSIONS)
        ]
    )


def by_version(shares: np.ndarray[Any, Any]) -> tuple[list[Row], list[Row]]:
    """The mean over servers of each version, and of its difference from the captured one, with 95% intervals."""
    lots = np.random.default_rng(SEED).integers(0, len(shares), (DRAWS, len(shares)))
    listed = []
    for values in (shares, (shares - shares[:, :1])[:, 1:]):
        draws = values[lots].mean(axis=1)
        low, high = np.quantile(draws, [0.025, 0.975], axis=0)
        whole = zip(values.mean(axis=0), low, high, strict=True)
        listed.append([{"value": float(mean), "low": float(start), "high": float(stop)} for mean, start, stop in whole])
    return listed[0], listed[1]


def changes(results: Sequence[Outcome], demand: str) -> Iterator[Row]:
    """The requests that each version gains and loses against the captured one, with McNemar's exact test."""
    met = {(result.id, result.version): result.met[demand] for result in results}
    for version in VERSIONS[1:]:
        pairs = [(met.get((key, "captured")), value) for (key, own), value in met.items() if own == version]
        gained, lost = pairs.count((False, True)), pairs.count((True, False))
        yield {"version": version, "gained": gained, "lost": lost, "p": exact_p_value(gained, lost)}


def predictions(results: Sequence[Outcome], definitions: Sequence[Row], demand: str) -> dict[str, Row | None]:
    """Points of a demand for a point of each score: a tool compared with itself, the length held constant."""
    tools: dict[ToolKey, dict[str, float]] = {}
    rules = sorted({rule for row in definitions for rule in row.get("rules", ())})
    for row in definitions:
        for version in row.get("versions", "").split():
            fired = {rule: float(rule in row["rules"]) for rule in rules}
            scores = dict(zip(SCORES, row["scores"], strict=False))  # none of a tool that cannot be measured
            tools[f"{row['server']} {version}", row["tool"]] = {TWICE: row["log2"], **scores, **fired}
    observed = [
        Observation(
            tool=(f"{result.server} {result.version}", result.tool), outcome=float(value), variant_of=result.server
        )
        for result in results
        if result.tool and (value := result.met[demand]) is not None
    ]
    observed = [sample for sample in observed if sample.tool in tools]
    return {str(name): prediction_row(prediction) for name, prediction in predict(tools, observed).items()}


def prediction_row(prediction: Prediction) -> Row | None:
    """A slope with its interval; its reading rests on Holm's correction over all predictors."""
    estimate = prediction.estimate
    if estimate is None:
        return None
    interval = {"value": estimate.value, "low": estimate.low, "high": estimate.high, "p": estimate.p_value}
    return {**interval, "reading": str(prediction.reading)}


def search_figures(places: Sequence[Row]) -> Row:
    """How often a client's word search puts the right tool first, and among the first five, by version."""
    servers = sorted({row["server"] for row in places})
    report: Row = {}
    for place, title in enumerate(("first", f"among the first {K}")):
        shares = np.array(
            [
                [
                    100 * fmean(row["places"][version][place] for row in places if row["server"] == server)
                    for version in VERSIONS
                ]
                for server in servers
            ]
        )
        values, differences = by_version(shares)
        report[title] = {
            "shares": dict(zip(VERSIONS, values, strict=True)),
            "differences": dict(zip(VERSIONS[1:], differences, strict=True)),
        }
    return report


def figures(requests: Sequence[Row], definitions: Sequence[Row], plans: Sequence[Row]) -> Row:
    """Everything that the design asks for, by agent and list."""
    report: Row = {}
    for title, results in sorted(outcomes(requests, definitions, plans).items()):
        demands: Row = {}
        for demand in DEMANDS:
            shares, differences = by_version(server_shares(results, demand))
            demands[demand] = {
                "shares": dict(zip(VERSIONS, shares, strict=True)),
                "differences": [
                    {**change, **difference}
                    for change, difference in zip(changes(results, demand), differences, strict=True)
                ],
                "predictions": predictions(results, definitions, demand),
            }
        tested = [change for demand in demands.values() for change in demand["differences"]]
        for change, p_value in zip(
            tested, multipletests([change["p"] for change in tested], method="holm")[1], strict=True
        ):
            change["holm"] = float(p_value)
        report[title] = {
            "requests": len({result.id for result in results}),
            "servers": len({result.server for result in results}),
            "outOfForm": {
                version: sum(not result.is_formed for result in results if result.version == version)
                for version in VERSIONS
            },
            "demands": demands,
            "kinds": kind_shares(results),
            "equalLists": equal_lists(results, definitions),
        }
    return report


def kind_shares(results: Sequence[Outcome]) -> Row:
    """Percent of the plans that meet each demand, by kind and version, without tests."""
    met: dict[str, dict[str, dict[str, list[bool]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for result in results:
        for demand, value in result.met.items():
            if value is not None:
                met[result.kind][demand][result.version].append(value)
    return {
        kind: {
            demand: {version: 100 * fmean(own[version]) for version in VERSIONS if version in own}
            for demand, own in sorted(demands.items())
        }
        for kind, demands in sorted(met.items())
    }


def equal_lists(results: Sequence[Outcome], definitions: Sequence[Row]) -> Row:
    """How often plans of two readers differ in a demand where both saw the same list: the noise of a reader."""
    shown = {row["server"]: row["shown"] for row in definitions if "shown" in row}
    met = {(result.id, result.version): result for result in results}
    pairs = [
        (met[result.id, "captured"], result)
        for result in results
        if result.version != "captured"
        and shown[result.server][result.version] == shown[result.server]["captured"]
        and (result.id, "captured") in met
    ]
    counts = {demand: sum(first.met[demand] != second.met[demand] for first, second in pairs) for demand in DEMANDS}
    return {"pairs": len(pairs), "differing": counts}


def main() -> None:
    """Compute the figures and write them."""
    report = figures(*(load(DATA / f"{name}.jsonl") for name in ("requests", "definitions", "plans")))
    report["bm25, alone"] = search_figures(load(DATA / "places.jsonl"))
    (DATA / "figures.json").write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
