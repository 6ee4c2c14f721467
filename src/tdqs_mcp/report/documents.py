"""Other output: a judge's prompts, captured catalogs, pages that explain, and what a run costs."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.judges.budget import Ledger
from tdqs_mcp.judges.judge import Usage
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.escape import visible
from tdqs_mcp.results.findings import Persona
from tdqs_mcp.rubrics.prompt import Case, ShadowCase, SkillCase, render, render_hardened
from tdqs_mcp.rubrics.rubric import Dimension, Rubric, Term
from tdqs_mcp.rules.registry import ALL
from tdqs_mcp.rules.rule import AnyRule, Rule, lane_of
from tdqs_mcp.scoring.score import set_case, skill_cases, tool_cases


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
    skills = [SkillCase(text=skill, measured=measured)] if skill else skill_cases(measured, rubric=rubric)
    if skills and (skill or tool is None):
        document["skill"] = _both(skills[0])
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
    forms = [((title, entry), (f"{title}, hardened", entry["hardened"])) for title, entry in entries]
    systems: set[str] = set()
    lines = []
    for title, entry in chain.from_iterable(forms):
        if entry["system"] and entry["system"] not in systems:
            lines += ["===== system", *entry["system"].split("\n"), ""]
            systems.add(entry["system"])
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
        "tools": [tool.raw for tool in catalog.tools],
    }
    if resources is not None:
        document["resources"] = [resource.raw for resource in resources if not resource.is_template]
        document["resourceTemplates"] = [resource.raw for resource in resources if resource.is_template]
    if catalog.prompts is not None:
        document["prompts"] = [prompt.raw for prompt in catalog.prompts]
    if catalog.caching is not None:
        document["caching"] = catalog.caching
    lost = [
        f"{tool.name}{odd.path}: {odd.message}." for tool in catalog.tools for odd in tool.defects if odd.is_of_text
    ]
    if catalog.problems or lost:
        document["problems"] = [*catalog.problems, *lost]
    if catalog.incomplete:
        document["incomplete"] = catalog.incomplete
    return document


def _both(case: Case) -> dict[str, Any]:
    published, hardened = (
        {"system": prompt.system, "user": prompt.user, "promptHash": prompt.hash}
        for prompt in (render(case), render_hardened(case))
    )
    return {**published, "hardened": hardened}


def rule_page(rule: Rule[Subject] | Rule[Measured]) -> str:
    """The rule's page below its metadata, which comes from the code."""
    title, _, body = rule.page.partition("\n")
    facts = [
        f"severity {rule.severity}",
        f"confidence {rule.confidence}",
        *(["for auditors"] if rule.persona is Persona.AUDITOR else []),
        *([f"dimension {rule.dimension}"] if rule.dimension else []),
        f"source {rule.source}",
        *([f"also known as {', '.join(rule.all_aliases)}"] if rule.all_aliases else []),
    ]
    prediction = f"\n\n{rule.prediction}" if rule.prediction else ""
    return f"{title}\n\n{rule.summary}\n\n{'; '.join(facts)}{prediction}\n{body}"


def lane_page(word: str, rules: Sequence[AnyRule]) -> str:
    """The rules that a lane, or another word for several, means."""
    lanes = " and ".join(dict.fromkeys(lane_of(rule.id) for rule in rules)) if word.upper() != ALL else "all rules"
    rows = "\n".join(f"- {rule.id} {rule.name} ({rule.severity}): {rule.summary}" for rule in rules)
    return (
        f"# {word.upper()}: {lanes}\n\n{rows}\n\n`tdqs-mcp explain {rules[0].id}` shows a rule's reason and examples.\n"
    )


def rubric_page(rubric: Rubric) -> str:
    """Return what a rubric scores, and in which dimensions."""
    dimensions = "\n".join(f"- {dimension.title}: {dimension.question}" for dimension in rubric.dimensions)
    return f"# {rubric.key}: {rubric.title}\n\n{dimensions}\n\nSource: {rubric.source}.\n"


def dimension_page(rubric: Rubric, dimension: Dimension, rules: Sequence[Rule[Subject] | Rule[Measured]]) -> str:
    """Return what a dimension asks, what its scores mean, and the rules that speak of it."""
    anchors = "\n".join(f"{score}. {anchor}" for score, anchor in enumerate(dimension.anchors, start=1))
    related = f"\nRules: {', '.join(f'{rule.id} {rule.name}' for rule in rules)}\n" if rules else ""
    share = f"{dimension.weight}%" if dimension.weight else f"One of {len(rubric.dimensions)} equal parts"
    return (
        f"# {dimension.key}: {dimension.title}\n\n{dimension.question} {share} of {rubric.title}.\n\n"
        f"## Scores\n\n{anchors}\n\n## Bad\n\n> {dimension.bad}\n\n## Good\n\n> {dimension.good}\n{related}"
    )


def term_page(term: Term) -> str:
    """Return what a flag or a tier means."""
    return f"# {term.title}\n\n{term.meaning}\n\n## Bad\n\n> {term.bad or '(nothing)'}\n\n## Good\n\n> {term.good}\n"


DOLLAR = 10**9
"""Nanodollars."""


def usage_line(usage: Usage, *, by: str = "judge") -> str:
    """Who asked: requests, tokens and, where the prices are known, the cost, rounded up to a hundredth of a cent."""
    cached = f" ({usage.cache_read_tokens:,} cached)" if usage.cache_read_tokens else ""
    return (
        f"{by}: {usage.requests:,} requests, {usage.input_tokens:,} input tokens{cached}, "
        f"{usage.output_tokens:,} output tokens, {price(usage.cost)}"
    )


def price(cost: int | None) -> str:
    """Nanodollars in dollars, rounded up to a hundredth of a cent; None is an unknown price."""
    if cost is None:
        return "at an unknown price"
    parts = -(-cost * 10_000 // DOLLAR)
    return f"${parts // 10_000}.{parts % 10_000:04d}"


def ledger_line(ledger: Ledger) -> str:
    """Return what a run would ask for, in one line for people."""
    usage = ledger.usage
    return (
        f"{usage.requests} requests would be sent, with about {usage.input_tokens} input and {usage.output_tokens} "
        f"output tokens, {price(usage.cost)}; what is cached already costs nothing\n"
    )


def ledger_document(ledger: Ledger) -> dict[str, Any]:
    """Return the preview as JSON; the cost in dollars is null where a price is not known."""
    usage = ledger.usage
    cost = None if usage.cost is None else usage.cost / DOLLAR
    return {
        "calls": usage.requests,
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cost": cost,
    }
