"""What else is handed on: the prompts of a judge, captured catalogs."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from tdqs_mcp.facts.subject import Measured
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.report.escape import visible
from tdqs_mcp.rubrics.prompt import Case, Prompt, ShadowCase, SkillCase, render, render_hardened
from tdqs_mcp.scoring.score import set_case, tool_cases


def prompts_document(
    measured: Measured, *, tool: str | None, spec: str, rubric: str = "tdqs", skill: str | None = None
) -> dict[str, Any]:
    """Every prompt that a judge would get; with a tool's name, that tool's alone.

    Each entry has the published bytes, which any judge may be given, and below `hardened` those that our own LLM judges
    get unless `--exact-prompt` says otherwise.
    """
    cases = [case for case in tool_cases(measured, rubric=rubric) if tool is None or case.subject.tool.name == tool]
    document: dict[str, Any] = {
        "tools": [
            {"name": case.subject.tool.name, "inputHash": case.subject.signals.input_hash, **_both(case)}
            for case in cases
        ]
    }
    if skill is not None:
        document["skill"] = _both(SkillCase(text=skill, measured=measured))
    if rubric != "tdqs":
        return document
    coherence = set_case(measured)
    if tool is None and coherence is not None:
        document["coherence"] = _both(coherence)
    if tool is None and measured.shadow_candidates and spec != "1.0":
        document["shadowing"] = _both(ShadowCase(measured=measured))
    return document


def prompts_text(document: Mapping[str, Any]) -> str:
    """The prompts for eyes: the system prompts once, control characters visible; JSON has the exact bytes."""
    entries = [(f"tool {entry['name']}", entry) for entry in document["tools"]]
    entries += [(key, document[key]) for key in ("coherence", "shadowing", "skill") if key in document]
    entries = [
        pair
        for title, entry in entries
        for pair in ((title, entry), (f"{title}, hardened", entry.get("hardened")))
        if pair[1] is not None
    ]
    seen: set[str] = set()
    lines = []
    for title, entry in entries:
        if entry["system"] and entry["system"] not in seen:
            lines += ["===== system", *entry["system"].split("\n"), ""]
            seen.add(entry["system"])
        lines += [f"===== user: {title} ({entry['promptHash']})", *entry["user"].split("\n"), ""]
    return "\n".join(visible(line) for line in lines)


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
        "tools": [_finite(tool.raw) for tool in catalog.tools],
    }
    if resources is not None:
        document["resources"] = [_finite(resource.raw) for resource in resources if not resource.is_template]
        document["resourceTemplates"] = [_finite(resource.raw) for resource in resources if resource.is_template]
    if catalog.prompts is not None:
        document["prompts"] = [_finite(prompt.raw) for prompt in catalog.prompts]
    if catalog.problems:
        document["problems"] = list(catalog.problems)
    if catalog.incomplete:
        document["incomplete"] = catalog.incomplete
    return document


def _both(case: Case) -> dict[str, Any]:
    return {**_prompt(render(case)), "hardened": _prompt(render_hardened(case))}


def _prompt(prompt: Prompt) -> dict[str, str]:
    return {"system": prompt.system, "user": prompt.user, "promptHash": prompt.hash}


def _finite(value: Any) -> Any:  # noqa: ANN401  # any JSON value
    """Numbers beyond a double, which Python reads as infinity, are null as in the canonical serialization."""
    if isinstance(value, dict):
        return {key: _finite(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_finite(child) for child in value]
    return None if isinstance(value, float) and not isfinite(value) else value
