"""The use cases, wired from the parts: what the command line, the MCP server and the library call."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tdqs_mcp.app.catalogs import load, load_object, load_still, read
    from tdqs_mcp.app.checking import costs, explain, grade, prompts, run_suite
    from tdqs_mcp.app.improving import compare, patch_file, patch_sources, plan, rewrite, select, what_if, write_file
    from tdqs_mcp.app.judging import (
        DEFAULT_SPEC,
        calibrate,
        collect_batch,
        score,
        score_answers,
        score_label_answers,
        score_labels,
        score_offline,
        score_skill,
        score_skill_answer,
        submit_batch,
        to_be_judged,
    )
    from tdqs_mcp.app.linting import DEFAULT_POLICY, lint, locate_report

_MODULES = {
    "catalogs": "load load_object load_still read",
    "checking": "costs explain grade prompts run_suite",
    "linting": "DEFAULT_POLICY lint locate_report",
    "improving": "compare patch_file patch_sources plan rewrite select what_if write_file",
    "judging": "DEFAULT_SPEC calibrate collect_batch score score_answers score_label_answers score_labels "
    "score_offline score_skill score_skill_answer submit_batch to_be_judged",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever is exported
    """A use case, imported with what it needs when it is first used: linting a file needs no rewriting."""
    for module, names in _MODULES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
