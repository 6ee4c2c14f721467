"""Two versions of a catalog: what became of each tool, what breaks callers, and whether it is worse."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.errors import UnmeasurableError
from tdqs_mcp.facts.schema import arguments, compatibility, signals, walk
from tdqs_mcp.facts.text.statements import closed_value_lists
from tdqs_mcp.model import TOOL_FIELDS, Catalog, Tool
from tdqs_mcp.results.comparisons import Comparison, Difference, Impact, ToolComparison
from tdqs_mcp.results.findings import Finding, Severity, fingerprint, unmatched
from tdqs_mcp.results.scores import ServerScore, ToolScore
from tdqs_mcp.results.verdicts import tier_of

MAX_SHOWN = 80
"""Characters of a new text that a difference shows."""

_Pair = tuple[Tool | None, Tool | None]
Result = TypeVar("Result")


def compare(
    old: Catalog, new: Catalog, scores: tuple[ServerScore, ServerScore], *, is_draft: bool = False
) -> Comparison:
    """Compare the new catalog with the old one, given the score of each; linear in their sizes.

    In a draft for the same code, a hint that rules out less is a correction and no danger.
    """
    before, after = scores
    pairs = _paired(old.tools, new.tools)
    names = {gone.index: come.name for gone, come in pairs if gone and come}
    added, fixed = _findings(old, new, scores, names)
    judged = ({tool.index: tool for tool in before.tools}, {tool.index: tool for tool in after.tools})
    proofs = {(finding.tool_index, finding.subject.path): finding for finding in fixed}
    tools = tuple(_with_corrections(_compared(gone, come, judged), proofs, is_draft=is_draft) for gone, come in pairs)
    whole = Comparison(old=before, new=after, tools=tools, findings_added=added, findings_fixed=fixed, regressions=())
    return replace(whole, regressions=tuple(_regressions(whole)))


def _paired(old: Sequence[Tool], new: Sequence[Tool]) -> list[_Pair]:
    """Each tool with its other version: by name, the first with the first where a name is there twice.

    Of those left over, two with the same input schema that no other has are one tool renamed; so are the only two.
    """
    waiting: dict[str, list[Tool]] = {}
    for tool in old:
        waiting.setdefault(tool.name, []).append(tool)
    matched = {tool.index: waiting[tool.name].pop(0) for tool in new if waiting.get(tool.name)}
    gone = [tool for tools in waiting.values() for tool in tools]
    come = [tool for tool in new if tool.index not in matched]
    matched |= {tool.index: gone[0] for tool in come if len(old) == len(new) == 1}
    before, after = _by_schema(gone), _by_schema(come)
    alone = (text for text in before if len(before[text]) == 1 == len(after.get(text, ())))
    matched |= {after[text][0].index: before[text][0] for text in alone}
    indices = {tool.index for tool in matched.values()}
    pairs: list[_Pair] = [(matched.get(tool.index), tool) for tool in new]
    return pairs + [(tool, None) for tool in old if tool.index not in indices]


def _by_schema(tools: Sequence[Tool]) -> dict[str, list[Tool]]:
    by_signature: dict[str, list[Tool]] = {}
    for tool in tools:
        if (signature := _signature(tool)) is not None:
            by_signature.setdefault(signature, []).append(tool)
    return by_signature


def _signature(tool: Tool) -> str | None:
    """Return what identifies a tool apart from its name: its parameters, else its text; None if it nests too deep."""
    signature = _unless_too_deep(compatibility.schema_signature, tool.input_schema or {})
    return None if signature is None else signature or f"says {tool.description}"


def _compared(
    old: Tool | None, new: Tool | None, judged: tuple[Mapping[int, ToolScore], Mapping[int, ToolScore]]
) -> ToolComparison:
    return ToolComparison(
        name=next(tool.name for tool in (new, old) if tool),
        index_before=old.index if old else None,
        index_after=new.index if new else None,
        before=judged[0].get(old.index) if old else None,
        after=judged[1].get(new.index) if new else None,
        tokens_before=_tokens(old),
        tokens_after=_tokens(new),
        differences=tuple(_differences(old, new)),
    )


def _with_corrections(
    tool: ToolComparison, proofs: Mapping[tuple[int | None, str], Finding], *, is_draft: bool
) -> ToolComparison:
    """Return hints that no longer rule something out as corrections where a finding proved the old ones false."""
    differences = []
    for difference in tool.differences:
        proof = proofs.get((tool.index_before, difference.path))
        is_corrected = difference.impact is Impact.DANGEROUS and (proof is not None or is_draft)
        message = f"corrected hint: {difference.message}{f', as {proof.message}' if proof else ''}"
        correction = replace(difference, impact=Impact.COMPATIBLE, change="corrected-hint", message=message)
        differences.append(correction if is_corrected else difference)
    return replace(tool, differences=tuple(differences))


def _unless_too_deep(measure: Callable[[Any], Result], value: Any) -> Result | None:  # noqa: ANN401  # foreign JSON
    """Return what a measure gives; None where the value nests too deep for it."""
    try:
        return measure(value)
    except UnmeasurableError:
        return None


def _tokens(tool: Tool | None) -> int | None:
    is_definition = tool and isinstance(tool.raw, Mapping)
    return _unless_too_deep(signals.definition_tokens, tool.raw) if tool and is_definition else None


def _differences(old: Tool | None, new: Tool | None) -> list[Difference]:
    """Breaking changes, then dangerous ones, then wording; equal definitions have none."""
    if old is None:
        return [whole_difference(Impact.COMPATIBLE, "added-tool", "the tool is new")]
    if new is None:
        return [whole_difference(Impact.BREAKING, "removed-tool", "the tool is gone")]
    before, after = (_unless_too_deep(canonical_json, tool.raw) for tool in (old, new))
    if before == after and (before is not None or _are_equal(old.raw, new.raw)):
        return []
    if before is None or after is None:
        message = "the definition is nested too deeply to be compared: nothing says that old calls still work"
        return [whole_difference(Impact.BREAKING, "unreadable", message)]
    differences = [*contract_differences(old, new), *_annotations(old, new), *_words(old, new)] or [_harmless(old, new)]
    # an output schema that the SDK makes is in a capture of the server and not in its code: unread, not removed
    return [entry for entry in differences if not (entry.path and any(tool.is_open(entry.path) for tool in (old, new)))]


def _harmless(old: Tool, new: Tool) -> Difference:
    """Return what differs where nothing else is to be said of it."""
    before, after = (tool.raw if isinstance(tool.raw, Mapping) else {} for tool in (old, new))
    names = [key for key in TOOL_FIELDS if canonical_json(before.get(key)) != canonical_json(after.get(key))]
    message = f"{', '.join(names) or 'other fields'} changed: nothing is taken from a caller"
    path = f"/{names[0]}" if len(names) == 1 else ""
    return Difference(impact=Impact.COMPATIBLE, change="changed", path=path, message=message)


def _are_equal(old: object, new: object) -> bool:
    """Return whether two definitions have the same JSON; what is too deep even for that is taken for different."""
    try:
        return json.dumps(old) == json.dumps(new)
    except RecursionError:
        return False


def contract_differences(old: Tool, new: Tool) -> list[Difference]:
    """Return what breaks callers, and hints that no longer rule something out."""
    dangers = differences_of(Impact.DANGEROUS, compatibility.dangerous_hints(old.annotations, new.annotations))
    return [*_breaks(old, new), *dangers]


def _breaks(old: Tool, new: Tool) -> Iterator[Difference]:
    """Differences of the name and the schemas; an unreadable old schema promised nothing.

    Equal parameters look like one tool renamed; the only tools of two catalogs may be any two.
    """
    if old.name != new.name:
        signature = _signature(old)
        guess = " with the same parameters: renamed?" if signature is not None and signature == _signature(new) else ""
        message = f"removed {old.name!r}, added {new.name!r}{guess}"
        yield Difference(impact=Impact.BREAKING, change="renamed-tool", path="/name", message=message)
    yield from _schema("/inputSchema", _as_stated(old, new), new.input_schema, compatibility.breaking_changes)
    yield from _schema("/outputSchema", old.output_schema, new.output_schema, compatibility.lost_outputs)


def _as_stated(old: Tool, new: Tool) -> Mapping[str, Any] | None:
    """The old input schema, with an enum where its text already lists all values and the new schema has the enum."""
    listed = {name: list(values) for name, values, _ in closed_value_lists(old)}
    schemas = arguments.properties(new).items()
    closed = {name for name, schema in schemas if isinstance(schema, Mapping) and "enum" in schema} & listed.keys()
    if old.input_schema is None or not closed:
        return old.input_schema
    before = arguments.properties(old).items()
    properties = {name: {**schema, "enum": listed[name]} if name in closed else schema for name, schema in before}
    return {**old.input_schema, "properties": properties}


def _schema(
    path: str,
    old: Mapping[str, Any] | None,
    new: Mapping[str, Any] | None,
    check: Callable[[Mapping[str, Any], Mapping[str, Any]], Sequence[walk.Deviation]],
) -> Iterator[Difference]:
    if old is not None and new is None:
        message = "there is no readable schema any more"
        yield Difference(impact=Impact.BREAKING, change="lost-schema", path=path, message=message)
    elif old is not None and new is not None:
        yield from differences_of(Impact.BREAKING, check(old, new), below=path)


def _annotations(old: Tool, new: Tool) -> Iterator[Difference]:
    """The annotations that came, changed or went, in one line, without those that are dangerous."""
    before, after = old.annotations or {}, new.annotations or {}
    dangers = {hint.path for hint in compatibility.dangerous_hints(before, after)}
    names = [name for name in {**before, **after} if f"/annotations/{name}" not in dangers]
    changed = [name for name in names if before.get(name) != after.get(name)]
    if changed:
        values = {name: json.dumps(after[name]) if name in after else "gone" for name in changed}
        listing = ", ".join(f"{name} is {_beginning(value)}" for name, value in values.items())
        yield Difference(impact=Impact.COMPATIBLE, change="changed", path="/annotations", message=listing)


def _words(old: Tool, new: Tool) -> Iterator[Difference]:
    """Changed texts of parts that both versions have."""
    before, after = _texts(old), _texts(new)
    for path in before:
        if path in after and before[path] != after[path]:
            verb = "new" if not before[path] else "gone" if not after[path] else "reworded"
            was, now = (str(texts[path] or "") for texts in (before, after))
            message = f"{verb}: {_beginning(now)}" if now else verb
            yield Difference(
                impact=Impact.WORDING, change=f"{verb}-text", path=path, message=message, before=was, after=now
            )


def _beginning(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN].rstrip()}…"


def _texts(tool: Tool) -> dict[str, object]:
    """The texts of a definition by JSON pointer; None where a part has none."""
    schemas = (("/inputSchema", tool.input_schema), ("/outputSchema", tool.output_schema))
    nodes = (node for path, schema in schemas for node in walk.walk_schema(schema, path).nodes)
    texts = {f"{node.path}/description": node.schema.get("description") for node in nodes}
    return {"/title": tool.title, "/description": tool.description, **texts}


def listing_change(first: Catalog, second: Catalog) -> str | None:
    """How the tools of a second listing differ from those of the first, one sentence; None if they do not.

    MCP 2026-07-28, Tools, Capabilities: the order should be the same each time, and the tools must not depend on the
    connection. A listing that was not read to its end says nothing.
    """
    before, after = ([tool.name for tool in catalog.tools] for catalog in (first, second))
    if before == after or first.incomplete or second.incomplete:
        return None
    odd = sorted((Counter(before) - Counter(after)) + (Counter(after) - Counter(before)))
    if odd:
        return f"Two listings have different tools, among them {odd[0]!r}; clients cannot keep the list."
    place, name = next((place, name) for place, name in enumerate(after) if name != before[place])
    return (
        f"Two listings have the tools in different orders: {name!r} is number {place + 1} now, {before[place]!r} was; "
        "each change invalidates what clients and models have cached."
    )


def differences_of(impact: Impact, deviations: Iterable[walk.Deviation], *, below: str = "") -> Iterator[Difference]:
    """Yield a difference of this impact for each deviation, at its place below a path."""
    for deviation in deviations:
        path = f"{below}{deviation.path}"
        yield Difference(impact=impact, change=deviation.change, path=path, message=deviation.message)


def whole_difference(impact: Impact, change: str, message: str) -> Difference:
    """Return a difference of a definition as a whole."""
    return Difference(impact=impact, change=change, path="", message=message)


def _findings(
    old: Catalog, new: Catalog, scores: tuple[ServerScore, ServerScore], names: Mapping[int, str]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Findings that only the new or only the old version has, about the kinds of things that both list.

    What is gone has no finding that was fixed. `names` are the new ones, by the index in the old catalog.
    """
    kinds = {"tool"} | ({"server"} if (old.server_info is None) == (new.server_info is None) else set())
    kinds |= {"resource"} if old.resources is not None and new.resources is not None else set()
    kinds |= {"prompt"} if old.prompts is not None and new.prompts is not None else set()
    before, after = ([finding for finding in score.findings if finding.subject.kind in kinds] for score in scores)
    before = [finding for finding in before if finding.tool_index is None or finding.tool_index in names]
    moved = [_renamed_subject(finding, names) for finding in before]
    digest = partial(fingerprint, server="")
    was, now = (Counter(map(digest, findings)) for findings in (moved, after))
    fixed = unmatched(zip(before, moved, strict=True), now, lambda pair: digest(pair[1]))
    return tuple(unmatched(after, was, digest)), tuple(finding for finding, _ in fixed)


def _renamed_subject(finding: Finding, names: Mapping[int, str]) -> Finding:
    """The finding with the tool's new name."""
    index = finding.tool_index
    if index is None or names.get(index, finding.subject.name) == finding.subject.name:
        return finding
    return replace(finding, subject=replace(finding.subject, name=names[index]))


TOKENS = "TDQ4"
"""How the ids of rules about tokens begin."""


def _regressions(comparison: Comparison) -> Iterator[str]:
    """A lower overall tier, a changed tool with a lower TDQS, breaking and dangerous changes, errors and warnings.

    A first text has findings that an empty one could not have: what is milder than what a first description mends is
    none, nor is a warning about a parameter's first text, such as a missing enum. What is found in a tool that was
    added was not better before. A budget of tokens is a notice: words that help cost some.
    """
    was, now = comparison.old.rollup.overall, comparison.new.rollup.overall
    if was is not None and now is not None and tier_of(now).floor < tier_of(was).floor:
        yield f"the overall tier falls from {tier_of(was)} to {tier_of(now)}"
    for tool in comparison.tools:
        if tool.differences and tool.before and tool.after and tool.after.tdqs < tool.before.tdqs:
            yield f"{tool.name!r}: TDQS falls from {tool.before.tdqs / 10} to {tool.after.tdqs / 10}"
        for difference in tool.differences:
            if difference.impact in (Impact.BREAKING, Impact.DANGEROUS):
                where = f"{difference.path}: " if difference.path else ""
                yield f"{tool.name!r}: {difference.impact}: {where}{difference.message}"
    mended: dict[tuple[str, str], int] = {}
    for finding in comparison.findings_fixed:
        part = (finding.subject.kind, finding.subject.name)
        mended[part] = max(mended.get(part, 0), finding.severity.rank)
    versions = {tool.index_after: tool for tool in comparison.tools if tool.index_before is not None}
    for finding in comparison.findings_added:
        is_new_tool = finding.tool_index is not None and finding.tool_index not in versions
        if is_new_tool or finding.rule.startswith(TOKENS):
            continue
        place, version = f"{finding.subject.path}/description", versions.get(finding.tool_index)
        is_first = version and any((part.change, part.path) == ("new-text", place) for part in version.differences)
        worst = mended.get((finding.subject.kind, finding.subject.name), 0)
        is_milder = finding.severity.rank < (Severity.ERROR.rank if finding.dimension and is_first else worst)
        if finding.severity is not Severity.INFO and not is_milder:
            yield f"{finding.subject.label!r}: new {finding.severity} {finding.rule}: {finding.message}"
