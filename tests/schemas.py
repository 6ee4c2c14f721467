"""The published JSON Schemas, as the results define them; tests/generated_files.py writes them."""

from pathlib import Path

from json_schema import schema
from jsonschema import Draft202012Validator

import tdqs_mcp.report
from tdqs_mcp.results.checks import GateReport, Selection
from tdqs_mcp.results.clients import InstalledReport, PortabilityReport, ServerList
from tdqs_mcp.results.comparisons import Comparison, DefinitionLock, LockReport
from tdqs_mcp.results.findings import LintReport, RuleList
from tdqs_mcp.results.improvements import RewriteReport
from tdqs_mcp.results.labels import LabelScore, ServerGrade, SkillScore
from tdqs_mcp.results.plans import Plan, WhatIfReport
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.statistics import Standing, Statistics, StoredTool, ToolSearch
from tdqs_mcp.results.stored_servers import Leaderboard, StoredServer, StoredToolHistory, SweepReport
from tdqs_mcp.results.studies import BenchmarkStudy, OutcomeStudy, TaskSet

FOLDER = Path(tdqs_mcp.report.__file__).parent / "schemas"
CONTRACTS = {
    "score": ServerScore,
    "labels": LabelScore,
    "skill": SkillScore,
    "lint": LintReport,
    "rules": RuleList,
    "rewrite": RewriteReport,
    "plan": Plan,
    "what-if": WhatIfReport,
    "compare": Comparison,
    "select": Selection,
    "gate": GateReport,
    "grade": ServerGrade,
    "portability": PortabilityReport,
    "lock": DefinitionLock,
    "verify": LockReport,
    "sweep": SweepReport,
    "stats": Statistics,
    "stats-server": Standing,
    "stats-query": ToolSearch,
    "stats-line": StoredTool,
    "dashboard-servers": Leaderboard,
    "dashboard-server": StoredServer,
    "dashboard-tool": StoredToolHistory,
    "study": OutcomeStudy,
    "study-benchmark": BenchmarkStudy,
    "study-tasks": TaskSet,
    "servers": ServerList,
    "installed": InstalledReport,
}
SCHEMAS = {name: schema(result) for name, result in CONTRACTS.items()}

VALIDATORS = {name: Draft202012Validator(schema) for name, schema in SCHEMAS.items()}


def published(name):
    """The file that a schema belongs into."""
    return FOLDER / f"{name}.schema.json"
