"""A case and the prompt it renders to; the same case renders the same bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tdqs_mcp.canonical import pretty_json, short_hash
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.model.results import ShadowCandidate
from tdqs_mcp.rubrics.rubric import system_prompt, user_template


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a judge gets, to the byte."""

    system: str
    user: str

    @property
    def hash(self) -> str:
        """16 hex digits over both messages."""
        return short_hash(f"{self.system}\0{self.user}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCase:
    """One tool to be judged among the tools of its catalog."""

    subject: Subject
    names: tuple[str, ...]
    """Every tool's name in catalog order, shared by all cases of the catalog."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCase:
    """A whole tool set to be judged for coherence."""

    measured: Measured


def render_tool(case: ToolCase) -> Prompt:
    """The published tool-scoring prompt (TDQS, Appendix A), equal in 1.0, 1.1 and 1.2."""
    tool, signals = case.subject.tool, case.subject.signals
    fields = {
        "name": tool.name,
        "title": "null" if tool.title is None else tool.title,
        "description": tool.description or "",
        "input_schema": pretty_json(_without_nul(tool.input_schema or {})),
        "annotations": "None provided" if tool.annotations is None else pretty_json(_without_nul(tool.annotations)),
        "param_count": str(signals.param_count),
        "required_param_count": str(signals.required_param_count),
        "coverage": str(signals.coverage),
        "params_with_enums": str(signals.params_with_enums),
        "has_output_schema": _boolean(signals.has_output_schema),
        "has_nested_objects": _boolean(signals.has_nested_objects),
        "siblings": "\n".join(_siblings(case)) or "None",
    }
    return _render("tdqs", fields)


def render_set(case: SetCase) -> Prompt:
    """The published coherence prompt (TDQS, Appendix B) of version 1.0, used for every version."""
    catalog = case.measured.catalog
    tools = "\n".join(f"- {tool.name}: {tool.description or '(no description)'}" for tool in catalog.tools)
    return _render("coherence", {"server": catalog.server, "tool_count": str(len(catalog.tools)), "tools": tools})


def render_shadowing(measured: Measured) -> Prompt:
    """The question whether the shadow candidates' purposes overlap, in our own words."""
    descriptions = {tool.name: tool.description or "(no description)" for tool in measured.catalog.tools}
    pairs = "\n".join(_pair(candidate, descriptions) for candidate in measured.shadow_candidates)
    return _render("shadowing", {"server": measured.catalog.server, "pairs": pairs})


def _pair(candidate: ShadowCandidate, descriptions: Mapping[str, str]) -> str:
    sides = (
        ("laborious", candidate.tool, candidate.invocation_cost),
        ("cheap", candidate.cheaper_sibling, candidate.cheaper_sibling_invocation_cost),
    )
    return "\n".join(
        ["<pair>", *(f"- {side} (cost {cost}) {name}: {descriptions[name]}" for side, name, cost in sides), "</pair>"]
    )


def _render(key: str, fields: Mapping[str, str]) -> Prompt:
    return Prompt(system=system_prompt(key), user=user_template(key).format_map(fields).replace("\0", ""))


def _siblings(case: ToolCase) -> Sequence[str]:
    """The other tools' names; a tool that shares this one's name is no alternative to it."""
    return [name for name in case.names if name != case.subject.tool.name]


def _without_nul(value: object) -> object:
    """NUL leaves every string value before it is escaped; keys keep it, as the reference package has it."""
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, Mapping):
        return {key: _without_nul(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nul(child) for child in value]
    return value


def _boolean(value: bool) -> str:  # noqa: FBT001  # it is the value
    return "true" if value else "false"
