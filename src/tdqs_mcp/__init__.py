"""Scores how well the tool definitions of MCP servers communicate to an AI agent: exact TDQS, offline by default."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tdqs_mcp.app import costs, explain, lint, prompts, read, score_answers
    from tdqs_mcp.sync import calibrate, compare, load, plan, rewrite, run_suite, score, select, what_if

__all__ = [
    "calibrate",
    "compare",
    "costs",
    "explain",
    "lint",
    "load",
    "plan",
    "prompts",
    "read",
    "rewrite",
    "run_suite",
    "score",
    "score_answers",
    "select",
    "what_if",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever is handed on
    """What is handed on, imported when it is asked for: pytest loads our plugin, and so this file, in every run."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("tdqs_mcp.sync"), name, None) or getattr(import_module("tdqs_mcp.app"), name)
