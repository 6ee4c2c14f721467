"""Scores how well the tool definitions of MCP servers communicate to an AI agent: exact TDQS, offline by default."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tdqs_mcp.app.catalogs import read
    from tdqs_mcp.app.gating import read_lock, verify
    from tdqs_mcp.app.improving import patch_file, patch_sources
    from tdqs_mcp.app.installed_clients import servers
    from tdqs_mcp.app.judging import answers_judge, costs, explain, grade, prompts
    from tdqs_mcp.app.linting import lint, portability
    from tdqs_mcp.app.stored_scores import search_tools, server_standing, store_statistics, stored_tools
    from tdqs_mcp.app.studying import study_outcomes
    from tdqs_mcp.app.sweeping import SweepRequest, sweep_registry
    from tdqs_mcp.code.reading import read_code
    from tdqs_mcp.model import Fact, Material, Trace
    from tdqs_mcp.results.checks import Query
    from tdqs_mcp.sources.locator import LiveOptions
    from tdqs_mcp.sync import (
        calibrate,
        collect_batch,
        compare,
        list_again,
        load,
        lock,
        prove_rewrites,
        reach_target,
        rewrite,
        run_suite,
        score,
        score_installed,
        score_labels,
        score_skill,
        select,
        shorten,
        study_benchmark,
        submit_batch,
        write_requests,
    )

__all__ = [
    "Fact",
    "LiveOptions",
    "Material",
    "Query",
    "SweepRequest",
    "Trace",
    "answers_judge",
    "calibrate",
    "collect_batch",
    "compare",
    "costs",
    "explain",
    "grade",
    "lint",
    "list_again",
    "load",
    "lock",
    "patch_file",
    "patch_sources",
    "portability",
    "prompts",
    "prove_rewrites",
    "reach_target",
    "read",
    "read_code",
    "read_lock",
    "rewrite",
    "run_suite",
    "score",
    "score_installed",
    "score_labels",
    "score_skill",
    "search_tools",
    "select",
    "server_standing",
    "servers",
    "shorten",
    "store_statistics",
    "stored_tools",
    "study_benchmark",
    "study_outcomes",
    "submit_batch",
    "sweep_registry",
    "verify",
    "write_requests",
]


_MODULES = {
    "app.catalogs": "read",
    "app.gating": "read_lock verify",
    "app.improving": "patch_file patch_sources",
    "app.installed_clients": "servers",
    "app.judging": "answers_judge costs explain grade prompts",
    "app.linting": "lint portability",
    "app.stored_scores": "search_tools server_standing store_statistics stored_tools",
    "app.studying": "study_outcomes",
    "app.sweeping": "SweepRequest sweep_registry",
    "code.reading": "read_code",
    "model": "Fact Material Trace",
    "results.checks": "Query",
    "sources.locator": "LiveOptions",
    "sync": "calibrate collect_batch compare list_again load lock prove_rewrites reach_target rewrite run_suite "
    "score score_installed score_labels score_skill select shorten study_benchmark submit_batch write_requests",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  # any public name
    """A public name, imported when it is used: pytest loads our plugin, and so this file, in every run."""
    for module, names in _MODULES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return __all__
