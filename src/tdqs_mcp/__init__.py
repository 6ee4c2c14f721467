"""Scores how well the tool definitions of MCP servers communicate to an AI agent: exact TDQS, offline by default."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tdqs_mcp.app import (
        costs,
        explain,
        grade,
        lint,
        patch_file,
        patch_sources,
        prompts,
        read,
        score_answers,
        score_label_answers,
        score_skill_answer,
    )
    from tdqs_mcp.model.material import Fact, Material, Trace
    from tdqs_mcp.results.rewrites import Mode
    from tdqs_mcp.results.selection import Mutation, Query
    from tdqs_mcp.sources.locator import LiveOptions
    from tdqs_mcp.sync import (
        calibrate,
        collect_batch,
        compare,
        load,
        plan,
        rewrite,
        run_suite,
        score,
        score_labels,
        score_skill,
        select,
        submit_batch,
        what_if,
    )

__all__ = [
    "Fact",
    "LiveOptions",
    "Material",
    "Mode",
    "Mutation",
    "Query",
    "Trace",
    "calibrate",
    "collect_batch",
    "compare",
    "costs",
    "explain",
    "grade",
    "lint",
    "load",
    "patch_file",
    "patch_sources",
    "plan",
    "prompts",
    "read",
    "rewrite",
    "run_suite",
    "score",
    "score_answers",
    "score_label_answers",
    "score_labels",
    "score_skill",
    "score_skill_answer",
    "select",
    "submit_batch",
    "what_if",
]


_TYPES = {
    "Fact": "model.material",
    "LiveOptions": "sources.locator",
    "Material": "model.material",
    "Mode": "results.rewrites",
    "Mutation": "results.selection",
    "Query": "results.selection",
    "Trace": "model.material",
}
"""The module of each type that the functions take."""


def __getattr__(name: str) -> Any:  # noqa: ANN401  # any public name
    """A public name, imported when it is used: pytest loads our plugin, and so this file, in every run."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _TYPES:
        return getattr(import_module(f"tdqs_mcp.{_TYPES[name]}"), name)
    return getattr(import_module("tdqs_mcp.sync"), name)
