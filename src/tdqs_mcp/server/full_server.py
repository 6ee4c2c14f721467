"""The whole server: its tools, its resources (rubrics, rules, last reports), two prompts to start from, completions."""

import json
from collections.abc import Iterable
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from mcp.types import Completion, CompletionArgument, PromptReference, ResourceTemplateReference
from pydantic import Field

from tdqs_mcp.app import checking
from tdqs_mcp.errors import UnknownIdError
from tdqs_mcp.report.agent_scores import report_document
from tdqs_mcp.report.escape import fence
from tdqs_mcp.rubrics.rubric import RUBRICS, system_prompt, user_template
from tdqs_mcp.rubrics.rubric import load as load_rubric
from tdqs_mcp.rules import registry
from tdqs_mcp.server.context import ServerContext
from tdqs_mcp.server.judge_tools import JudgeTools
from tdqs_mcp.server.rewrite_tools import RewriteTools
from tdqs_mcp.server.score_tools import ScoreTools
from tdqs_mcp.server.tool_schemas import TEXTS, tools_of

MAX_COMPLETIONS = 100
"""The protocol's own limit."""


class FullServer(MCPServer[Any]):
    """A server of the SDK with everything that we offer; tools in the order in which an agent should read them."""

    def __init__(self, context: ServerContext) -> None:
        """Builds the schemas of all tools, which takes a while."""
        groups = (ScoreTools(context), RewriteTools(context), JudgeTools(context))
        tools = [tool for group in groups for tool in tools_of(group)]
        super().__init__("tdqs-mcp", tools=tools, log_level="WARNING")
        _add_resources(self, context)
        _add_prompts(self)

    def complete(
        self, ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument
    ) -> Completion | None:
        """Rule ids and rubric keys that begin with what is there."""
        if not isinstance(ref, ResourceTemplateReference):
            return None
        if argument.name == "rule_id":
            return _matching((each.id for each in registry.RULES), argument.value.upper())
        return _matching(RUBRICS, argument.value.lower()) if argument.name == "key" else None


def _add_resources(server: MCPServer[Any], context: ServerContext) -> None:

    @server.resource(
        "tdqs://rules",
        title="Rules",
        description="Every rule with id, name, severity and summary",
        mime_type="application/json",
    )
    def rules() -> str:
        return _json(
            [{key: getattr(each, key) for key in ("id", "name", "severity", "summary")} for each in registry.RULES]
        )

    @server.resource(
        "tdqs://rules/{rule_id}",
        title="One rule",
        description="Why a rule matters, with examples",
        mime_type="text/markdown",
    )
    def rule(rule_id: str) -> str:
        try:
            return checking.explain(registry.find(rule_id).id)
        except UnknownIdError as error:
            raise ResourceNotFoundError(str(error)) from error

    @server.resource(
        "tdqs://rubrics/{key}",
        title="One rubric",
        description=f"Dimensions, weights and prompts: {', '.join(RUBRICS)}",
        mime_type="application/json",
    )
    def rubric(key: str) -> str:
        if key not in RUBRICS:
            raise ResourceNotFoundError(f"there is no rubric {key!r}; there are {', '.join(RUBRICS)}")
        return _json(_rubric(key))

    @server.resource(
        "tdqs://reports",
        title="Last reports",
        description="URIs of the reports in memory",
        mime_type="application/json",
    )
    def reports() -> str:
        return _json([f"tdqs://reports/{key}" for key in reversed(list(context.reports))])  # newest first

    @server.resource(
        "tdqs://reports/{report_id}",
        title="One report",
        description="The whole result of score_server or submit_judgement",
        mime_type="application/json",
    )
    def report(report_id: str) -> str:
        score = context.reports.get(report_id)
        if score is None:
            raise ResourceNotFoundError(f"there is no report {report_id!r} (any more); call score_server again")
        return _json(report_document(score))


def _add_prompts(server: MCPServer[Any]) -> None:

    @server.prompt(title="Review my server")
    def review_my_server(
        locator: Annotated[str, Field(description="A file, URL, config:NAME or stdio: command of the server")],
    ) -> str:
        """Score a whole MCP server and say what to fix first."""
        return str(TEXTS["prompts"]["review_my_server"].format(locator=fence(locator)))

    @server.prompt(title="Fix this tool")
    def fix_this_tool(
        tool: Annotated[str, Field(description="The tool's name")],
        locator: Annotated[str, Field(description="Where its definitions are; empty if they are at hand")] = "",
    ) -> str:
        """Rewrite one tool's definition until it scores A."""
        where = f" of the server at {fence(locator)}" if locator else ""
        return str(TEXTS["prompts"]["fix_this_tool"].format(tool=fence(tool), where=where))


def _matching(values: Iterable[str], start: str) -> Completion:
    found = [value for value in values if value.startswith(start)]
    return Completion(values=found[:MAX_COMPLETIONS], total=len(found), has_more=len(found) > MAX_COMPLETIONS)


def _rubric(key: str) -> dict[str, Any]:
    rubric = load_rubric(key)
    return {
        "key": rubric.key,
        "title": rubric.title,
        "source": rubric.source,
        "dimensions": [
            {key: getattr(each, key) for key in ("key", "title", "weight", "question", "anchors")}
            for each in rubric.dimensions
        ],
        "grade": rubric.grade,
        "systemPrompt": system_prompt(key),
        "userTemplate": user_template(key),
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
