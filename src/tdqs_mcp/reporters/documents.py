"""JSON text of what is handed on to programs: scores, findings, prompts and captured catalogs."""

import json
from typing import Any

from tdqs_mcp.facts.subject import Measured
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.pipeline.score import set_case, tool_cases
from tdqs_mcp.rubrics.prompt import Prompt, render_set, render_shadowing, render_tool


def json_text(document: object) -> str:
    """Indented JSON that is valid UTF-8 whatever the definitions hold."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def prompts_document(measured: Measured, *, tool: str | None, spec: str) -> dict[str, Any]:
    """Every prompt that a judge would get; with a tool's name, that tool's alone."""
    cases = [case for case in tool_cases(measured) if tool is None or case.subject.tool.name == tool]
    document: dict[str, Any] = {
        "tools": [
            {"name": case.subject.tool.name, "inputHash": case.subject.signals.input_hash, **_prompt(render_tool(case))}
            for case in cases
        ]
    }
    coherence = set_case(measured)
    if tool is None and coherence is not None:
        document["coherence"] = _prompt(render_set(coherence))
    if tool is None and measured.shadow_candidates and spec != "1.0":
        document["shadowing"] = _prompt(render_shadowing(measured))
    return document


def capture_document(catalog: Catalog) -> dict[str, Any]:
    """A catalog as a file that `load` reads back: everything raw, nothing but what the server said and where it was."""
    resources = catalog.resources
    document: dict[str, Any] = {
        "server": catalog.server,
        "version": catalog.version,
        "source": catalog.source,
        "protocolVersion": catalog.protocol_version,
        "serverInfo": catalog.server_info,
        "capabilities": catalog.capabilities,
        "instructions": catalog.instructions,
        "tools": [tool.raw for tool in catalog.tools],
    }
    if resources is not None:
        document["resources"] = [resource.raw for resource in resources if not resource.is_template]
        document["resourceTemplates"] = [resource.raw for resource in resources if resource.is_template]
    if catalog.prompts is not None:
        document["prompts"] = [prompt.raw for prompt in catalog.prompts]
    if catalog.problems:
        document["problems"] = list(catalog.problems)
    return document


def _prompt(prompt: Prompt) -> dict[str, str]:
    return {"system": prompt.system, "user": prompt.user, "promptHash": prompt.hash}
