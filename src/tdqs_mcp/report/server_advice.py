"""Advice to an agent about a whole server: contradictions, facts to say once, merges and renames; and a tool's gaps."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.facts.schema.arguments import properties
from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.facts.spelling import first_of, name_parts, words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.prose import cues_of
from tdqs_mcp.facts.text.words import EFFECTS, STOPWORDS, Cue, Effect
from tdqs_mcp.facts.toolset.names import read_names
from tdqs_mcp.report.escape import fence, fence_advice, fence_name
from tdqs_mcp.report.json_values import answer
from tdqs_mcp.results.contract import camel
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.verdicts import Judgement
from tdqs_mcp.rewriting.definition_parts import CatalogContext, listed, shared_lookup
from tdqs_mcp.rewriting.questions import find_open_parameters, takes_needs
from tdqs_mcp.rewriting.value_sources import bare_schema

CONTRADICTIONS = frozenset(
    "TDQ222 TDQ223 TDQ224 TDQ227 TDQ228 TDQ231 TDQ235 TDQ236 TDQ237 TDQ238 TDQ240 TDQ320 TDQ321 "
    "TDQ801 TDQ802 TDQ803 TDQ805 TDQ806 TDQ808 TDQ809".split()
)
"""Rules whose findings hold two statements of which one must be wrong: texts, schema, hints and code.

Not as info: the default null that generators write for "none" contradicts nobody.
"""

GOOD = 4
"""The score from which on a dimension of the tool set needs no reason."""

MAX_LINE = 600
"""Characters of a sentence of advice."""

MAX_TEXT = 500
"""Characters of a description beside its score."""

_INNER = re.compile(r"/inputSchema(?:(?:/items)?/properties/[^/]+){2,}")
"""The place of a property inside objects and their lists, which a draft names `a.b`."""

_STEP = re.compile(r"/properties(/[^/]+)")

_SPELLED = re.compile(r"(?:[A-Z]+(?![a-z])|[A-Z]?[a-z]+)\d*|\d+")
"""The words of a name as a spelling joins them: `v1` is one."""

MIN_WORDS = 4
"""Words from which on a sentence can be said for a whole server."""

MAX_SHARED = 3
"""Errors and variables of the code that advice names."""

MAX_QUOTE = 200
"""Characters of a sentence or message that advice quotes."""

MAX_PAIRS = 6
"""Pairs of tools in one line."""

MIN_VIEWS = 3
"""Tools for views of one thing from which on advice proposes to make them one."""

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
    count = coherence.get("tool_count_appropriateness")
    has_too_many = count is not None and count.score < GOOD
    return {
        "contradictions": contradictions(findings),
        "shared": [fence_advice(line, MAX_LINE) for line in _shared_facts(measured)],
        "toolSet": [
            fence_advice(line, MAX_LINE) for line in (*low, *_set_advice(measured, low, has_too_many=has_too_many))
        ],
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
    if lookup := shared_lookup(measured, CatalogContext.of(measured)):
        yield f"Many tools take what others give: say it once in the server's instructions. {lookup}"
    counts: Counter[str] = Counter()
    uses: Counter[tuple[str, str]] = Counter()
    described: set[str] = set()
    for subject in measured.subjects:
        counts.update(dict.fromkeys(" ".join(sentence.split()) for sentence in subject.prose.sentences).keys())
        schemas, open_nodes = properties(subject.tool), find_open_parameters(subject)
        uses.update((name, canonical_json(bare_schema(node.schema))) for name, node in open_nodes.items())
        described |= schemas.keys() - open_nodes.keys()
    for sentence, count in counts.most_common():
        if count >= MANY and _is_fact(sentence):
            scope = "" if 2 * count >= len(measured.subjects) else ", and of which tools it is true"
            yield f"{count} tools say {_quote(sentence)}: say it once in the server's instructions{scope}."
    for (name, _), count in uses.most_common():
        if count >= MANY and name not in described:
            yield (
                f"{count} tools take `{name}`, and none says more of it than its name: find out once what it is, and "
                "say it in all."
            )


_USAGE = frozenset({Cue.WHEN, Cue.WHEN_NOT, Cue.ALTERNATIVE})

_ENTRY = re.compile(r"[\s*•-]*`?[a-z]\w*`?(?: \([^()]*\))?:")
"""The beginning of a parameter's line, which belongs into that parameter's description."""

_PROSE = re.compile(r"[\s*•-]*[A-Z]")


def _is_fact(sentence: str) -> bool:
    """Return whether a sentence tells something: no heading, mark, or line about a parameter.

    When to use a tool is true of no other one.
    """
    words = words_of(sentence)
    if len(words) < MIN_WORDS or sentence.endswith(":") or not _PROSE.match(sentence) or _ENTRY.match(sentence):
        return False
    return not STOPWORDS.isdisjoint(map(str.lower, words)) and _USAGE.isdisjoint(cues_of(words))


def _quote(text: str) -> str:
    return repr(text if len(text) <= MAX_QUOTE else f"{text[:MAX_QUOTE]}…")


def _shared_by_code(measured: Measured) -> Iterator[str]:
    """Yield errors and variables of the environment that the code of half of the tools has."""
    tools = [tool for tool in measured.code.tools if tool.handler] if measured.code else []
    errors = Counter(
        text for tool in tools for text in dict.fromkeys(error.text for error in tool.errors) if "{}" not in text
    )
    variables = Counter(name for tool in tools for name in dict.fromkeys(tool.credentials))
    least = max(MANY, len(tools) // 2)
    for text, count in errors.most_common(MAX_SHARED):
        if count >= least:
            yield f"By the code, {count} tools can fail with {_quote(text)}: say it once in the server's instructions."
    if names := [name for name, count in variables.most_common(MAX_SHARED) if count >= least]:
        reading = f"most tools read {', '.join(f'`{name}`' for name in names)} from the environment"
        yield f"By the code, {reading}: say once in the server's instructions which are needed."


def _set_advice(measured: Measured, reasons: Sequence[str], *, has_too_many: bool) -> Iterator[str]:
    """Yield a merge or a rename that raises coherence, the surest first, without pairs that the reasons name."""
    facts = measured.tool_set()
    by_name = {subject.tool.name: subject for subject in measured.subjects}
    same = [(pair.first, pair.second) for pair in facts.same if pair.first != pair.second]
    merged = [(first, second) for first, second in same if takes_needs(by_name[first].tool, by_name[second].tool)]
    named = " ".join(reasons)
    if pairs := [f"`{first}` / `{second}`" for first, second in merged if f"{first} / {second}" not in named]:
        yield f"Merge each pair that says the same, or say in both what sets them apart: {first_of(pairs, MAX_PAIRS)}."
    for names in _views(measured) if has_too_many else ():
        yield f"{listed(names)} read and take the same: they could be one tool with a parameter for the part."
    spelled = [name for name in measured.names if name not in facts.off_style]
    joint = next((mark for name in spelled for mark in "_-" if mark in name), "")
    labels = read_names(measured.names)
    for name in dict.fromkeys((*facts.off_style, *facts.off_pattern)):
        label = labels[name]
        is_turned = name in facts.off_pattern
        if is_turned and name not in facts.off_style and by_name[name].prose.verb != label.verb:
            continue  # `reddit_explain` explains the words of Reddit, `apply_write` applies what is written
        words = tuple(part.lower() for part in _SPELLED.findall(name))
        if is_turned and label.verb:
            prefix = measured.vocabulary.prefix
            words = (*([prefix] if words[0] == prefix else []), label.verb, *label.nouns)
        new = joint.join(words).lower() if joint else camel("_".join(words))
        if new not in measured.names:
            reason = "begin" if is_turned else "are spelled"
            yield f"Rename `{name}` to `{new}`, as the other names {reason}."
    for name in facts.vague:
        yield f"Rename `{name}`: it has neither a specific verb nor a thing."
    # `create_or_update_file` changes what it creates
    changed = {word for word, effect in EFFECTS.items() if effect in (Effect.UPDATE, Effect.DELETE)}
    unchanged = [name for name in facts.unchanged if changed.isdisjoint(name_parts(name))]
    for name in (*facts.unread, *unchanged):
        missing = "reads" if name in facts.unread else "changes or deletes"
        yield f"`{name}` creates what no tool {missing}: add that tool, or say that it is meant so."


def _views(measured: Measured) -> Iterator[list[str]]:
    """Yield reading tools of equal input of which the others' names go on behind the first's: `get_health_detailed`."""
    labels = read_names(measured.names)
    by_input: dict[str, list[str]] = {}
    for subject in measured.subjects:
        if labels[subject.tool.name].effect is Effect.READ:
            members = properties(subject.tool).items()
            schemas = {name: bare_schema(schema) if isinstance(schema, dict) else schema for name, schema in members}
            by_input.setdefault(canonical_json(schemas), []).append(subject.tool.name)
    for names in by_input.values():
        for name in names if len(names) >= MIN_VIEWS else ():
            parts = name_parts(name)
            views = [other for other in names if name_parts(other)[: len(parts)] == parts]
            if len(parts) > 1 and len(views) >= MIN_VIEWS:
                yield views
