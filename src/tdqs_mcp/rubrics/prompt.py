"""A case and the prompt it renders to; the same case renders the same bytes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tdqs_mcp.canonical import pretty_json, short_hash, visible
from tdqs_mcp.results.tool_code import CodeSlice
from tdqs_mcp.results.verdicts import ShadowCandidate
from tdqs_mcp.rubrics.rubric import system_prompt, user_template

if TYPE_CHECKING:  # settings know prompts, and a server that starts has nothing to measure yet
    from tdqs_mcp.facts.subject import Measured, Subject


def delimiter(text: str, digest: Callable[[str], str] = short_hash) -> str:
    """A mark made of the text's own hash, longer until the text does not hold it; equal texts have equal marks."""
    mark = digest(text)
    while mark in text:
        mark += digest(mark + text)
    return mark


def fenced(text: str, *, mark: str) -> str:
    """The text between tags that carry the mark."""
    return f"<data-{mark}>{text}</data-{mark}>"


_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class PromptForm(StrEnum):
    """Which bytes a model gets."""

    HARDENED = "hardened"
    """The definition's texts stand in a fence, without hidden characters."""

    EXACT = "exact"
    """As published, for numbers that are to compare with published ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Text that a judge gets, to the byte."""

    system: str
    """Empty where the published prompt is one message."""

    user: str

    @property
    def hash(self) -> str:
        """16 hex digits over both messages."""
        return short_hash(f"{self.system}\0{self.user}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCase:
    """A tool to be judged among the tools of its catalog."""

    subject: "Subject"
    names: tuple[str, ...]
    """Every tool's name in catalog order, shared by all cases of the catalog."""

    rubric: str = "tdqs"
    measured: "Measured | None" = None
    """The catalog with its server's name; None for a tool that stands alone."""

    code: CodeSlice | None = None
    """The tool's code; only under the code rubric."""

    @property
    def server(self) -> str:
        """Return what the server calls itself."""
        return self.measured.catalog.server if self.measured else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCase:
    """A whole tool set to be judged for coherence."""

    measured: "Measured"
    rubric: str = "coherence"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillCase:
    """A server's skill text to be judged beside the tools that it speaks of."""

    text: str
    measured: "Measured"
    rubric: str = "skill"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowCase:
    """The question which shadow candidates' purposes overlap, in our own words (TDQS 1.1, shadowing)."""

    measured: "Measured"
    rubric: str = "shadowing"


Case: TypeAlias = ToolCase | SetCase | SkillCase | ShadowCase


class Fields(NamedTuple):
    """Values for a template: our own words and numbers, and the definition's."""

    settings: Mapping[str, str]
    foreign: Mapping[str, str]


def render(case: Case) -> Prompt:
    """The prompt to the published byte; TDQS 1.0, 1.1 and 1.2 share theirs."""
    fields = _fields(case)
    return _render(case.rubric, {**fields.settings, **fields.foreign})


def render_values(case: Case) -> str:
    """Return what fills the rubric's template, in its order, each value on lines of its own; the siblings left out."""
    fields = _fields(case)
    values = {**fields.settings, **fields.foreign}
    slots = dict.fromkeys(_PLACEHOLDER.findall(user_template(case.rubric)))
    return "\n".join(values[slot] for slot in slots if slot != "siblings")


def render_hardened(case: Case) -> Prompt:
    """Return the prompt with every text of the definition fenced, so that it cannot speak to the judge.

    The fence carries a mark that the definition does not hold. The system message is the same for all cases of a
    rubric, so that an endpoint can keep it.
    """
    fields = _fields(case)
    foreign = {name: visible(text) for name, text in fields.foreign.items()}
    mark = delimiter("\0".join(foreign.values()))
    prompt = _render(
        case.rubric, {**fields.settings, **{name: fenced(text, mark=mark) for name, text in foreign.items()}}
    )
    system = "\n\n".join(part for part in (prompt.system, system_prompt("guard")) if part)
    return Prompt(system=system, user=f"MARK: {mark}\n\n{prompt.user}")


def texts(case: Case) -> tuple[str, ...]:
    """Everything of the definition that a judge gets to see, and can quote."""
    return tuple(_fields(case).foreign.values())


def definition_texts(case: ToolCase) -> tuple[str, ...]:
    """The definition itself, as a judge gets to see it."""
    fields = _fields(case).foreign
    names = ("name", "title", "description", "input_schema", "output_schema", "annotations")
    return tuple(fields[name] for name in names if name in fields)


def _fields(case: Case) -> Fields:
    if isinstance(case, ToolCase):
        return _tool_fields(case)
    if isinstance(case, SetCase):
        return _set_fields(case.measured)
    if isinstance(case, ShadowCase):
        return _shadow_fields(case.measured)
    fields = _set_fields(case.measured)
    return Fields(settings=fields.settings, foreign={**fields.foreign, "skill": case.text})


def _tool_fields(case: ToolCase) -> Fields:
    tool, signals = case.subject.tool, case.subject.signals
    code = {}
    if case.code is not None:
        schema = "None provided" if tool.output_schema is None else pretty_json(_without_nul(tool.output_schema))
        code = {"output_schema": schema, "code": case.code.text}
    payload = {"server_name": case.server, "tool_name": tool.name, "description": tool.description or ""}
    return Fields(
        settings={
            "param_count": str(signals.param_count),
            "required_param_count": str(signals.required_param_count),
            "coverage": str(signals.coverage),
            "params_with_enums": str(signals.params_with_enums),
            "has_output_schema": str(signals.has_output_schema).lower(),
            "has_nested_objects": str(signals.has_nested_objects).lower(),
        },
        foreign={
            "server": case.server,
            "name": tool.name,
            "title": "null" if tool.title is None else tool.title,
            "description": tool.description or "",
            "input_schema": pretty_json(_without_nul(tool.input_schema or {})),
            "annotations": "None provided" if tool.annotations is None else pretty_json(_without_nul(tool.annotations)),
            # A tool that shares this one's name is not an alternative to it.
            "siblings": "\n".join(name for name in case.names if name != tool.name) or "None",
            # The paper's scanner shows its jury these three and no schema; the published answers rest on that.
            "tool_payload": pretty_json(_without_nul(payload)),
            **code,
        },
    )


def _set_fields(measured: "Measured") -> Fields:
    catalog = measured.catalog
    tools = "\n".join(f"- {tool.name}: {tool.description or '(no description)'}" for tool in catalog.tools)
    return Fields(settings={"tool_count": str(len(catalog.tools))}, foreign={"server": catalog.server, "tools": tools})


def _shadow_fields(measured: "Measured") -> Fields:
    descriptions = {tool.name: tool.description or "(no description)" for tool in measured.catalog.tools}
    pairs = "\n".join(_pair(candidate, descriptions) for candidate in measured.shadow_candidates)
    return Fields(settings={}, foreign={"server": measured.catalog.server, "pairs": pairs})


def _pair(candidate: ShadowCandidate, descriptions: Mapping[str, str]) -> str:
    sides = (
        ("laborious", candidate.tool, candidate.invocation_cost),
        ("cheap", candidate.cheaper_sibling, candidate.cheaper_sibling_invocation_cost),
    )
    return "\n".join(
        ["<pair>", *(f"- {side} (cost {cost}) {name}: {descriptions[name]}" for side, name, cost in sides), "</pair>"]
    )


def _render(key: str, fields: Mapping[str, str]) -> Prompt:
    user = _PLACEHOLDER.sub(lambda match: fields[match[1]], user_template(key))
    return Prompt(system=system_prompt(key), user=user.replace("\0", ""))


def _without_nul(value: object) -> object:
    """NUL leaves every string value before it is escaped; keys keep it, as the reference package has it."""
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, Mapping):
        return {key: _without_nul(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nul(child) for child in value]
    return value
