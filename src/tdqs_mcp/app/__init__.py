"""The use cases, wired from the parts: what the command line, the MCP server and the library call."""

from tdqs_mcp.app.batches import collect_batch, submit_batch
from tdqs_mcp.app.checking import DEFAULT_POLICY, costs, explain, grade, lint, prompts, under
from tdqs_mcp.app.improving import compare, patch_file, patch_sources, plan, rewrite, select, what_if, write_file
from tdqs_mcp.app.reading import load, load_object, load_still, read, sited
from tdqs_mcp.app.scoring import (
    DEFAULT_SPEC,
    addresses_judge,
    calibrate,
    score,
    score_answers,
    score_label_answers,
    score_labels,
    score_offline,
    score_skill,
    score_skill_answer,
    to_be_judged,
)
from tdqs_mcp.app.suites import read_suite, run_suite

__all__ = [
    "DEFAULT_POLICY",
    "DEFAULT_SPEC",
    "addresses_judge",
    "calibrate",
    "collect_batch",
    "compare",
    "costs",
    "explain",
    "grade",
    "lint",
    "load",
    "load_object",
    "load_still",
    "patch_file",
    "patch_sources",
    "plan",
    "prompts",
    "read",
    "read_suite",
    "rewrite",
    "run_suite",
    "score",
    "score_answers",
    "score_label_answers",
    "score_labels",
    "score_offline",
    "score_skill",
    "score_skill_answer",
    "select",
    "sited",
    "submit_batch",
    "to_be_judged",
    "under",
    "what_if",
    "write_file",
]
