"""Advice to an agent about a whole server: contradictions, facts to say once, merges and renames; and a tool's gaps."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.toolset.names import read_names
from tdqs_mcp.report.escape import fence, fence_advice, fence_name
from tdqs_mcp.report.json_values import answer
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.verdicts import Judgement
from tdqs_mcp.rewriting.definition_parts import CatalogContext, shared_lookup

CONTRADICTIONS = frozenset(
    "TDQ222 TDQ223 TDQ224 TDQ227 TDQ228 TDQ231 TDQ235 TDQ236 TDQ237 TDQ238 TDQ240 TDQ320 TDQ321 "
    "TDQ801 TDQ802 TDQ803 TDQ805 TDQ806 TDQ808 TDQ809".split()
)
"""Rules whose findings hold two statements of which one must be wrong: texts, schema, hints and code.

Not as info: the default null that generators write for "none" contradicts nobody.
"""

GOOD = 4
"""The score from which on a dimension of the tool set needs no reason."""

MAX_LINE = 320
"""Characters of a sentence of advice."""

MAX_TEXT = 500
"""Characters of a description beside its score."""

_INNER = re.compile(r"/inputSchema(?:(?:/items)?/properties/[^/]+){2,}")
"""The place of a property inside objects and their lists, which a draft names `a.b`."""

_STEP = re.compile(r"/properties(/[^/]+)")

_SPELLED = re.compile(r"(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+)\d*|\d+")
"""The words of a name as a spelling joins them: `v1` is one."""

MAX_SHARED = 3
"""Errors and variables of the code that advice names."""

MANY = 4
"""Tools from which on a fact is said once for the server."""


def text_and_gaps(subject: Subject, *, common: Sequence[str]) -> dict[str, Any]:
    """Return a tool's description and what its schema leaves open, without what all tools have in common."""
    bare = [parameter.name for parameter in subject.signals.parameters if not parameter.description]
    inner = (node.path for node in subject.input_shape.nodes if not (node.is_top or node.schema.get("description")))
    bare += [".".join(split_pointer("".join(_STEP.findall(path)))) for path in inner if _INNER.fullmatch(path)]
    missing = [name for name in _missing(subject) if name not in common]
    says = fence(subject.tool.description or "", MAX_TEXT)
    return {
        "says": says,
        "gaps": {
            **({"undescribed": list(map(fence_name, bare))} if bare else {}),
            **({"no": missing} if missing else {}),
        },
    }


def common_gaps(measured: Measured) -> list[str]:
    """Return the parts that no tool of a server has: hints, an output schema."""
    counts = Counter(name for subject in measured.subjects for name in _missing(subject))
    return [name for name, count in counts.items() if count == len(measured.subjects)]


def _missing(subject: Subject) -> list[str]:
    tool = subject.tool
    hints = tool.annotations or {}
    absent = [hint for hint in HINTS if not isinstance(hints.get(hint), bool) and not tool.is_open("/annotations")]
    is_without = tool.output_schema is None and not tool.is_open("/outputSchema")
    return absent + (["outputSchema"] if is_without else [])


def server_advice(
    findings: Sequence[Finding], measured: Measured, coherence: Mapping[str, Judgement]
) -> dict[str, Any]:
    """Return certain contradictions, facts about many tools, and reasons, merges and renames of a low tool set."""
    low = [
        f"{key} is {reason.score}: {reason.justification}" for key, reason in coherence.items() if reason.score < GOOD
    ]
    return {
        "contradictions": contradictions(findings),
        "shared": [fence_advice(line, MAX_LINE) for line in _shared_facts(measured)],
        "toolSet": [fence_advice(line, MAX_LINE) for line in (*low, *_set_advice(measured))],
    }


def contradictions(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Return the findings of which one side must be wrong, the worst first, the first of each rule and tool."""
    certain = [finding for finding in findings if finding.rule in CONTRADICTIONS and finding.severity.rank]
    first = {(finding.rule, finding.tool_index): finding for finding in reversed(certain)}
    certain = sorted(first.values(), key=lambda finding: (-finding.severity.rank, finding.tool_index or 0))
    return [answer(finding, only="tool rule path message suggestion", limit=MAX_LINE) for finding in certain]


def _shared_facts(measured: Measured) -> Iterator[str]:
    """Yield what no tool has, sentences that stand in many tools, and parameters that none of many describes."""
    if common := common_gaps(measured):
        yield f"No tool has {', '.join(common)}."
    yield from _shared_by_code(measured)
    if lookup := shared_lookup(measured, CatalogContext.of(measured).sources):
        yield f"Many tools take what others give: say it once in the server's instructions. {lookup}"
    counts: dict[str, int] = {}
    bare: dict[str, int] = {}
    described: set[str] = set()
    for subject in measured.subjects:
        for sentence in {" ".join(sentence.split()) for sentence in subject.prose.sentences}:
            counts[sentence] = counts.get(sentence, 0) + 1
        for parameter in subject.signals.parameters:
            bare[parameter.name] = bare.get(parameter.name, 0) + 1
            described |= {parameter.name} if parameter.description else set()
    for sentence, count in sorted(counts.items(), key=lambda item: -item[1]):
        if count >= MANY and not sentence.endswith(":"):  # "Args:" heads a list and says nothing
            yield f"{count} tools say {sentence!r}: say it once in the server's instructions."
    for name, count in sorted(bare.items(), key=lambda item: -item[1]):
        if count >= MANY and name not in described:
            yield f"{count} tools take `{name}`, and none describes it: find out once what it is, and say it in all."


def _shared_by_code(measured: Measured) -> Iterator[str]:
    """Yield errors and variables of the environment that the code of half of the tools has."""
    tools = [tool for tool in measured.code.tools if tool.handler] if measured.code else []
    errors = Counter(text for tool in tools for text in {error.text for error in tool.errors} if "{}" not in text)
    variables = Counter(name for tool in tools for name in set(tool.credentials))
    least = max(MANY, len(tools) // 2)
    for text, count in errors.most_common(MAX_SHARED):
        if count >= least:
            yield f"By the code, {count} tools can fail with {text!r}: say it once in the server's instructions."
    if names := [name for name, count in variables.most_common(MAX_SHARED) if count >= least]:
        reading = f"most tools read {', '.join(f'`{name}`' for name in names)} from the environment"
        yield f"By the code, {reading}: say once in the server's instructions which are needed."


def _set_advice(measured: Measured) -> Iterator[str]:
    """Yield a merge or a rename that raises coherence, the surest first."""
    facts = measured.tool_set()
    for first, second in facts.same:
        if first != second:
            yield f"Merge `{first}` and `{second}`, which say the same, or say in both what sets them apart."
    spelled = [name for name in measured.names if name not in facts.off_style]
    joint = next((mark for name in spelled for mark in "_-" if mark in name), "")
    labels = read_names(measured.names)
    for name in dict.fromkeys((*facts.off_style, *facts.off_pattern)):
        label = labels[name]
        is_turned = name in facts.off_pattern
        words = tuple(part.lower() for part in _SPELLED.findall(name))
        if is_turned and label.verb:
            prefix = measured.vocabulary.prefix
            words = (*([prefix] if words[0] == prefix else []), label.verb, *label.nouns)
        new = joint.join(words).lower() if joint else _camel(words)
        if new not in measured.names:
            reason = "begin" if is_turned else "are spelled"
            yield f"Rename `{name}` to `{new}`, as the other names {reason}."
    for name in facts.vague:
        yield f"Rename `{name}`: it has neither a specific verb nor a thing."
    for name in (*facts.unread, *facts.unchanged):
        missing = "reads" if name in facts.unread else "changes or deletes"
        yield f"`{name}` creates what no tool {missing}: add that tool, or say that it is meant so."


def _camel(words: Sequence[str]) -> str:
    """The words in camelCase."""
    first, *rest = words
    return first.lower() + "".join(word.capitalize() for word in rest)
