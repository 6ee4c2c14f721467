"""The pytest plugin: an assertion about tool quality and a fixture that scores. Imports wait until they are used."""

from collections.abc import Awaitable, Callable, Mapping
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tdqs_mcp.app.linting import Policy
    from tdqs_mcp.model import Catalog
    from tdqs_mcp.results.scores import ServerScore
    from tdqs_mcp.sources.locator import LiveOptions

TIMEOUT = 60.0
"""Seconds for capturing a live server."""


def assert_tool_quality(
    server: Any,  # noqa: ANN401  # a server object of any of three classes, a catalog, definitions, a path or a locator
    min_tier: str | None = "B",
    *,
    min_tool_tier: str | None = None,
    fail_on: str | None = None,
    max_tokens: int | None = None,
    timeout: float = TIMEOUT,
) -> "ServerScore":
    """The score of a server that reaches `min_tier` overall; else an AssertionError that says what to fix.

    `server` is an MCPServer, Server or FastMCP (or a function that makes one), a Catalog, parsed definitions, a path
    or a locator. `min_tool_tier` holds for every tool, `fail_on` is the mildest severity that fails of what `lint`
    finds, also about code that is named, and `max_tokens` bounds what all definitions cost together. Works in a
    running event loop as well. Raises InputError and CaptureError.
    """
    __tracebackhide__ = True
    from tdqs_mcp.app.judging import score_offline  # noqa: PLC0415  # pytest imports this file in every run
    from tdqs_mcp.report.score_report import assertion_text  # noqa: PLC0415

    catalog, policy = _read(server, timeout)
    score = score_offline(catalog, policy=policy)
    missed = [
        *([f"the list of tools is incomplete: {catalog.incomplete}"] if catalog.incomplete else []),
        *_below(score, min_tier),
        *_tools_below(score, min_tool_tier),
        *_found(catalog, policy, fail_on),
        *_too_dear(catalog, max_tokens),
    ]
    if missed:
        raise AssertionError(assertion_text(score, missed))
    return score


@pytest.fixture
def tool_quality() -> "Callable[..., ServerScore]":
    """Scores what `assert_tool_quality` takes, for assertions of your own: `tool_quality(server).rollup.overall`."""
    from tdqs_mcp.app.judging import score_offline  # noqa: PLC0415

    def score(server: Any, *, timeout: float = TIMEOUT) -> "ServerScore":  # noqa: ANN401
        catalog, policy = _read(server, timeout)
        return score_offline(catalog, policy=policy)

    return score


def _read(server: Any, timeout: float) -> "tuple[Catalog, Policy]":  # noqa: ANN401
    """The catalog of anything that `assert_tool_quality` takes, and the policy of `lint` with its code."""
    from tdqs_mcp.app.catalogs import load, load_object, read  # noqa: PLC0415
    from tdqs_mcp.app.linting import DEFAULT_POLICY, Policy, read_own_code  # noqa: PLC0415
    from tdqs_mcp.model import Catalog  # noqa: PLC0415
    from tdqs_mcp.sources.locator import LiveOptions  # noqa: PLC0415

    if isinstance(server, Catalog):
        return server, DEFAULT_POLICY
    if isinstance(server, Mapping | list):
        return read(server), DEFAULT_POLICY
    if isinstance(server, str | PathLike):
        catalog = _apart(load, fspath(server), LiveOptions(timeout=timeout))
        return catalog, Policy(code=read_own_code(fspath(server)))
    return _apart(load_object, server, LiveOptions(timeout=timeout)), DEFAULT_POLICY


def _apart(use: "Callable[[Any, LiveOptions], Awaitable[Catalog]]", *arguments: Any) -> "Catalog":  # noqa: ANN401
    """Runs a capture in a thread of its own: a test may run in an event loop, which cannot be entered again."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    from anyio import run  # noqa: PLC0415

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(run, use, *arguments).result()


def _below(score: "ServerScore", tier: str | None) -> list[str]:
    from tdqs_mcp.gate.policy import reaches  # noqa: PLC0415
    from tdqs_mcp.results.findings import Outcome  # noqa: PLC0415
    from tdqs_mcp.results.verdicts import Tier  # noqa: PLC0415

    if tier is None:
        return []
    unknown = f"what is ungraded leaves open whether it is {tier}"
    words = {Outcome.FAILED: [f"does not reach {tier}"], Outcome.UNKNOWN: [unknown]}
    return words.get(reaches(score, Tier(tier)), [])


def _tools_below(score: "ServerScore", tier: str | None) -> list[str]:
    from tdqs_mcp.results.verdicts import Tier  # noqa: PLC0415

    if tier is None:
        return []
    low = [tool.name for tool in score.tools if tool.tdqs < Tier(tier).floor]
    missed = [f"{len(low)} of {score.tool_count} tools are below {tier}"] if low else []
    return missed + ([f"{len(score.ungraded)} tools are ungraded"] if score.ungraded else [])


def _found(catalog: "Catalog", policy: "Policy", severity: str | None) -> list[str]:
    from tdqs_mcp.app.linting import lint  # noqa: PLC0415
    from tdqs_mcp.results.findings import Severity  # noqa: PLC0415

    if severity is None:
        return []
    findings = lint(catalog, policy).findings
    bad = [finding for finding in findings if finding.severity.rank >= Severity(severity).rank]
    rules = ", ".join(dict.fromkeys(finding.rule for finding in bad))
    return [f"{len(bad)} findings at {severity} or worse: {rules}"] if bad else []


def _too_dear(catalog: "Catalog", budget: int | None) -> list[str]:
    from tdqs_mcp.facts.subject import measure  # noqa: PLC0415

    if budget is None:
        return []
    total = sum(subject.tokens for subject in measure(catalog).subjects)
    return [f"the definitions cost about {total:,} tokens, more than {budget:,}"] if total > budget else []
