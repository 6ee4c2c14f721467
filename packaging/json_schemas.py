"""The published JSON Schemas, written from the result classes.

Building the wheel puts them into tdqs_mcp/report/schemas; `python packaging/json_schemas.py` writes build/schemas.
"""

import json
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parents[1]
# In an isolated build nothing but hatchling is installed; the result classes need only the standard library.
sys.path.insert(0, str(ROOT / "src"))

from tdqs_mcp.results.checks import GateReport, Selection
from tdqs_mcp.results.comparisons import Comparison, DefinitionLock, LockReport
from tdqs_mcp.results.contract import schema
from tdqs_mcp.results.findings import LintReport, RuleList
from tdqs_mcp.results.improvements import RewriteReport
from tdqs_mcp.results.installed_servers import InstalledReport, ServerList
from tdqs_mcp.results.labels import CodeReview, LabelScore, ServerGrade, SkillScore
from tdqs_mcp.results.portability import PortabilityReport
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.statistics import (
    LabelStatistics,
    Leaderboard,
    MethodComparison,
    Statistics,
    StoreChanges,
    StoredServer,
    StoredTool,
    StoredToolHistory,
    SweepReport,
    ToolSearch,
    Trend,
)
from tdqs_mcp.results.studies import BenchmarkStudy, ChoiceStudy, OutcomeStudy
from tdqs_mcp.results.tool_code import CodeReport

CONTRACTS = {
    "score": ServerScore,
    "labels": LabelScore,
    "skill": SkillScore,
    "lint": LintReport,
    "rules": RuleList,
    "rewrite": RewriteReport,
    "compare": Comparison,
    "select": Selection,
    "gate": GateReport,
    "grade": ServerGrade,
    "portability": PortabilityReport,
    "code": CodeReport,
    "code-review": CodeReview,
    "lock": DefinitionLock,
    "verify": LockReport,
    "sweep": SweepReport,
    "stats": Statistics,
    "stats-labels": LabelStatistics,
    "stats-server": StoredServer,
    "stats-query": ToolSearch,
    "stats-line": StoredTool,
    "stats-compare": MethodComparison,
    "stats-trend": Trend,
    "stats-since": StoreChanges,
    "dashboard-servers": Leaderboard,
    "dashboard-server": StoredServer,
    "dashboard-tool": StoredToolHistory,
    "study": OutcomeStudy,
    "study-benchmark": BenchmarkStudy,
    "study-choices": ChoiceStudy,
    "servers": ServerList,
    "installed": InstalledReport,
}
"""Results that commands hand out, by the name of their schema."""


def write_schemas(folder: Path) -> None:
    """Write NAME.schema.json for each result."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, result in CONTRACTS.items():
        text = json.dumps(schema(result), indent=2, ensure_ascii=False)
        (folder / f"{name}.schema.json").write_text(f"{text}\n", encoding="utf-8")


class SchemaHook(BuildHookInterface):
    """Puts the schemas into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  # hatchling's signature
        """Write the schemas and name their folder to hatchling."""
        folder = Path(self.root, "build", "schemas")
        write_schemas(folder)
        build_data["force_include"][str(folder)] = "tdqs_mcp/report/schemas"


if __name__ == "__main__":
    write_schemas(ROOT / "build" / "schemas")
