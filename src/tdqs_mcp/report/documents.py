"""Other output: a judge's prompts, captured catalogs, pages that explain, and what a run costs."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from importlib.resources import files
from itertools import chain, repeat
from types import NoneType, UnionType
from typing import Any, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.judges.budget import Ledger
from tdqs_mcp.judges.judge import Usage
from tdqs_mcp.model import Catalog
from tdqs_mcp.report.escape import MAX_FENCED, fence, fence_advice, fence_exact, fence_json, visible, well_formed
from tdqs_mcp.results.contract import ABSENT, Absent, Max, Only, Own, Trait, Unit, members, options, strip_none, unwrap
from tdqs_mcp.results.findings import Persona
from tdqs_mcp.rubrics.prompt import Case, ShadowCase, SkillCase, render, render_hardened
from tdqs_mcp.rubrics.rubric import Dimension, Rubric, Term
from tdqs_mcp.rules.registry import ALL
from tdqs_mcp.rules.rule import AnyRule, Rule
from tdqs_mcp.rules.rule_profiles import lane_of
from tdqs_mcp.scoring.score import set_case, skill_cases, tool_cases

ANSWERS = "answers.json"
"""The file with the schemas of all answers; it is in the folder of the document schemas."""

Text: TypeAlias = Callable[[str, int], str]
"""What happens to a foreign text of which an agent gets so many characters."""

Result = TypeVar("Result")

Convert: TypeAlias = Callable[[Any, Text], Any]


def document(result: Any) -> dict[str, Any]:  # noqa: ANN401  # any result
    """The result's contract: every text whole and valid Unicode."""
    cls: Any = type(result)
    return _object(cls, None, 0)(result, _whole)  # type: ignore[no-any-return]  # of an object, an object


def answer(result: Any, *, only: str | None = None, limit: int = MAX_FENCED) -> dict[str, Any]:  # noqa: ANN401  # any result
    """The same for an agent: every text that is not ours fenced as data, and cut after `limit` characters."""
    cls: Any = type(result)
    return _object(cls, only, limit)(result, fence)  # type: ignore[no-any-return]  # as above


def read_document(cls: type[Result], written: Mapping[str, Any]) -> Result:
    """The result that `document` has written down, of a class without inlined members."""
    return cast("Result", _read(cls, written))


def published_schema(cls: type) -> dict[str, Any]:
    """The schema of an agent's answer; the tests hold it to the class."""
    text = files("tdqs_mcp.report").joinpath(f"schemas/{ANSWERS}").read_text(encoding="utf-8")
    return json.loads(text)[cls.__name__]  # type: ignore[no-any-return]  # our own file


def json_text(document: object) -> str:
    """Indented JSON as valid UTF-8 without raw control characters, for any definition."""
    return _printable(json.dumps(document, indent=2, ensure_ascii=False))


def json_line(result: Any) -> str:  # noqa: ANN401  # any result
    """The result's contract on one line."""
    return _printable(json.dumps(document(result), ensure_ascii=False))


def _printable(text: str) -> str:
    if text.isascii() and "\x7f" not in text:
        return text
    return _UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], text)


_UNSAFE = re.compile(
    "[\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Control and format characters and lone surrogates; JSON has an escape for each, so the value stays the same."""


def clean(value: Any, text: Callable[[str], str]) -> Any:  # noqa: ANN401  # foreign JSON, any shape
    """The same JSON with every text, keys included, changed by `text`."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Mapping):
        return {text(key): clean(child, text) for key, child in value.items()}
    return [clean(child, text) for child in value] if isinstance(value, list | tuple) else value


def _whole(text: str, limit: int) -> str:  # noqa: ARG001  # programs get all of it
    return well_formed(text)


@cache
def _object(cls: Any, only: str | None, limit: int) -> Convert:  # noqa: ANN401  # a class
    """A class, or only some of its members."""
    shown = members(cls, only)
    converters = list(map(_converter, [each.kind for each in shown], repeat(limit)))
    plan = [(each.key, each.path, inner) for each, inner in zip(shown, converters, strict=True)]

    def convert(value: Any, text: Text) -> dict[str, Any]:  # noqa: ANN401  # an instance of the class
        written = {}
        for key, path, inner in plan:
            found = value
            for name in path:
                found = found if found is None or found is ABSENT else getattr(found, name)
            if found is not ABSENT:
                written[key] = inner(found, text)
        return written

    return convert


def _converter(annotation: Any, limit: int) -> Convert:  # noqa: ANN401  # any type
    """What makes JSON of a value of the type; an agent gets `limit` characters of its texts, unless the type says."""
    kind, marks = unwrap(annotation)
    limit = next((mark.characters for mark in marks if isinstance(mark, Max)), limit)
    only = next((mark.names for mark in marks if isinstance(mark, Only)), None)
    if Trait.AS_JSON in marks:
        return lambda value, text: fence_json(value) if text is fence else clean(value, well_formed)
    if Trait.EXACT in marks:
        return lambda value, _: fence_exact(value)
    if Trait.ADVICE in marks:
        return _nullable(lambda value, text: fence_advice(value, limit) if text is fence else text(value, limit))
    if Trait.ENCODED in marks:
        return lambda value, _: value
    unit = next((mark for mark in marks if isinstance(mark, Unit)), None)
    if unit:
        return _nullable(_number(unit))
    inner = [option for option in options(kind) if option not in (NoneType, Absent)]
    return _nullable(_plain(inner[0], only, limit) if len(inner) == 1 else _any(limit))


def _plain(kind: Any, only: str | None, limit: int) -> Convert:  # noqa: ANN401  # one return for each type
    """A type without metadata that is not a union."""
    if unwrap(kind)[1]:
        return _converter(kind, limit)
    if kind is str:
        return lambda value, text: text(value, limit)
    if kind in (int, float, bool) or kind is Own:
        return lambda value, _: value
    if isinstance(kind, type) and issubclass(kind, Enum):
        return lambda value, _: value.value
    if is_dataclass(kind) and isinstance(kind, type):
        return _object(kind, only, limit)
    return _container(get_origin(kind), get_args(kind), only, limit)


def _container(origin: Any, args: tuple[Any, ...], only: str | None, limit: int) -> Convert:  # noqa: ANN401  # any type
    if origin is tuple:
        each = _plain(args[0], only, limit)
        return lambda value, text: [each(child, text) for child in value]
    if origin in (dict, Mapping):
        key, child = _plain(args[0], None, limit), _converter(args[1], limit)
        return lambda value, text: {key(name, text): child(inner, text) for name, inner in value.items()}
    return _any(limit)


def _nullable(convert: Convert) -> Convert:
    return lambda value, text: None if value is None else convert(value, text)


def _number(unit: Unit) -> Convert:
    if unit.digits is not None:
        return lambda value, _: round(value, unit.digits)
    if unit.divisor == 1:
        return lambda value, _: value if isinstance(value, int | float) else float(value)
    return lambda value, _: value / unit.divisor


def _any(limit: int) -> Convert:
    """Any JSON value."""
    return lambda value, text: clean(value, lambda each: text(each, limit))


def _read(annotation: Any, value: Any) -> Any:  # noqa: ANN401  # any type and its JSON
    kind, marks = unwrap(annotation)
    if value is None or marks:
        unit = next((mark for mark in marks if isinstance(mark, Unit)), None)
        return value and (round(value * unit.divisor) if unit else _read(kind, value))
    if get_origin(kind) in (Union, UnionType):
        return _read(strip_none(kind), value)
    if get_origin(kind) is tuple:
        return tuple(_read(get_args(kind)[0], each) for each in value)
    if isinstance(value, Mapping) and not isinstance(kind, type):
        name, child = get_args(kind)
        return {_read(name, key): _read(child, each) for key, each in value.items()}
    if is_dataclass(kind) and isinstance(kind, type):
        names = {field.name for field in fields(kind)}
        stored = [member for member in members(kind) if member.path[0] in names]
        return kind(**{each.path[0]: _read(each.kind, value[each.key]) for each in stored})
    return kind(value) if isinstance(kind, type) and issubclass(kind, Enum) else value


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
    seen: set[str] = set()
    lines = []
    for title, entry in chain.from_iterable(forms):
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
        f"{each.name}{odd.path}: {odd.message}." for each in catalog.tools for odd in each.defects if odd.is_of_text
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
        *([f"also known as {', '.join(rule.aliases)}"] if rule.aliases else []),
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
    """What a rubric scores, and in which dimensions."""
    dimensions = "\n".join(f"- {dimension.title}: {dimension.question}" for dimension in rubric.dimensions)
    return f"# {rubric.key}: {rubric.title}\n\n{dimensions}\n\nSource: {rubric.source}.\n"


def dimension_page(rubric: Rubric, dimension: Dimension, rules: Sequence[Rule[Subject] | Rule[Measured]]) -> str:
    """What a dimension asks, what its scores mean, and the rules that speak of it."""
    anchors = "\n".join(f"{score}. {anchor}" for score, anchor in enumerate(dimension.anchors, start=1))
    related = f"\nRules: {', '.join(f'{rule.id} {rule.name}' for rule in rules)}\n" if rules else ""
    share = f"{dimension.weight}%" if dimension.weight else f"One of {len(rubric.dimensions)} equal parts"
    return (
        f"# {dimension.key}: {dimension.title}\n\n{dimension.question} {share} of {rubric.title}.\n\n"
        f"## Scores\n\n{anchors}\n\n## Bad\n\n> {dimension.bad}\n\n## Good\n\n> {dimension.good}\n{related}"
    )


def term_page(term: Term) -> str:
    """What a flag or a tier means."""
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
    """What a run would ask for, in one line for people."""
    usage = ledger.usage
    return (
        f"{usage.requests} requests would be sent, with about {usage.input_tokens} input and {usage.output_tokens} "
        f"output tokens, {price(usage.cost)}; what is cached already costs nothing\n"
    )


def ledger_document(ledger: Ledger) -> dict[str, Any]:
    """The same as JSON; the cost in dollars is null where a price is not known."""
    usage = ledger.usage
    cost = None if usage.cost is None else usage.cost / DOLLAR
    return {
        "calls": usage.requests,
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cost": cost,
    }
