"""What could make a definition better: parts that facts and the author's material support, and questions."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import Any

from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.facts.schema import tokens
from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.foreign_prose import LANGUAGE_NAMES
from tdqs_mcp.facts.text.support import is_plain_value, is_showable, redact
from tdqs_mcp.facts.text.vocabulary import Effect
from tdqs_mcp.facts.text.wording import can_continue_in_english, find_praise, is_in_other_language
from tdqs_mcp.facts.text.words import content_stems, has_word, words_of
from tdqs_mcp.facts.threats import find_threats
from tdqs_mcp.facts.toolset.names import Label
from tdqs_mcp.model import CallOutcome, Catalog, Fact, Material, Tool, Trace, read_tool
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.improvements import Claim, Component, Mode, Route
from tdqs_mcp.rewriting import definition_parts
from tdqs_mcp.rewriting.definition_parts import CatalogContext, cut, first_sentence, read_only, title
from tdqs_mcp.rewriting.statements import Statement, add_sentence, set_value


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A tool with the parts that would make its definition better, the least certain last."""

    subject: Subject
    parts: tuple[Statement, ...]
    ask: Callable[..., Iterator[str]]
    """Asks what only the author can answer, except about hints that are `settled`."""

    questions: tuple[str, ...] = ()
    """What comes before these: which side of a contradiction holds."""

    next: tuple[tuple[Statement, ...], ...] = ()
    """What to try if these parts are not accepted: any one left out, the least certain first; then ever fewer."""

    claims: tuple[Claim, ...] | None = None
    """Where these very parts were checked already: their statements."""

    @property
    def index(self) -> int:
        """The tool's position in its catalog."""
        return self.subject.tool.index

    @cached_property
    def definition(self) -> Mapping[str, Any]:
        """The raw definition with the parts applied."""
        return apply_parts(self.subject.tool, self.parts)

    def reduced(self) -> "Proposal":
        """The next fewer parts, without a title that would be left alone; none at last.

        A part that fails takes no other with it, so a second run finds nothing that this one has missed.
        """
        own, places = self.parts, range(len(self.parts) - 1, -1, -1)
        without_one = [own[:place] + own[place + 1 :] for place in places]
        left = self.next or (*without_one, *(own[:place] for place in places[1:]))
        parts = left[0] if left else ()
        return self.only(() if all(part.path == "/title" for part in parts) else parts, left[1:])

    def only(self, parts: tuple[Statement, ...], left: tuple[tuple[Statement, ...], ...] = ()) -> "Proposal":
        """Other parts, not yet checked, and what to try after them."""
        return replace(self, parts=parts, next=left, claims=None)


def propose(measured: Measured, findings: Iterable[Finding], *, mode: Mode = Mode.COMPACT) -> list[Proposal]:
    """A proposal for every measured tool, in catalog order; pure, and linear in the size of the catalog."""
    context = CatalogContext.of(measured)
    rules: dict[int | None, set[str]] = {}
    for finding in findings:
        rules.setdefault(finding.tool_index, set()).add(finding.rule)
    return [_proposal(subject, context, rules.get(subject.tool.index, set()), mode) for subject in measured.subjects]


def apply(catalog: Catalog, definitions: Mapping[int, Mapping[str, Any]]) -> Catalog:
    """The catalog with other definitions at some indices; a tool with its own definition stays the same object."""
    tools = list(catalog.tools)
    for index, definition in definitions.items():
        if definition is not tools[index].raw:
            tools[index] = read_tool(definition, index, is_mcp=tools[index].is_mcp)
    return replace(catalog, tools=tuple(tools))


def _proposal(subject: Subject, context: CatalogContext, rules: set[str], mode: Mode) -> Proposal:
    label, near = context.labels[subject.tool.name], context.near(subject)
    guidance = definition_parts.guidance_parts(subject, label, near, context)
    found = _compose(subject, label, context, guidance=guidance, mode=mode)
    unsaid = [part.sentence for part in guidance] if is_in_other_language(subject) else []
    asking = partial(_ask_author, subject, label, near, rules=rules, unsaid=unsaid)
    return Proposal(subject=subject, parts=found, ask=asking)


def apply_parts(tool: Tool, parts: Sequence[Statement]) -> Mapping[str, Any]:
    """A tool's raw definition with parts applied; what no part names is what it was."""
    raw: Mapping[str, Any] = tool.raw
    for part in parts:
        if part.path != "/description":
            raw = put(raw, split_pointer(part.path), part.value)
    spoken = [part for part in parts if part.path == "/description"]
    return put(raw, ["description"], _description(tool.description or "", spoken)) if spoken else raw


def put(value: Mapping[str, Any], steps: Sequence[str], new: object) -> Mapping[str, Any]:
    """A copy with something else at one place; all else is what it was, in its order."""
    first, *rest = steps
    return {**value, first: put(value[first], rest, new) if rest else new}


def _description(old: str, parts: Sequence[Statement]) -> str:
    splices = sorted((splice for part in parts for splice in part.splices), key=lambda splice: splice.start)
    text, position = "", 0
    for splice in splices:
        if splice.start >= position:
            text = _joined(text, old[position : splice.start]) + splice.text
            position = splice.end
    text = _joined(text, old[position:]).strip()
    said = " ".join(part.sentence for part in parts if part.sentence)
    return _with(text, said) if said else text


def _joined(text: str, rest: str) -> str:
    """What stood before a cut and what stood behind it, with one empty line where there were two."""
    return text + (rest[1:] if text.endswith("\n") and rest.startswith("\n\n") else rest)


def _with(text: str, said: str) -> str:
    """The text and more sentences: in line with running text, below anything that has lines."""
    if not text:
        return said
    if "\n" in text:
        return f"{text}\n\n{said}"
    return f"{text}{'' if text[-1] in '.!?…:;' else '.'} {said}"


def _compose(
    subject: Subject, label: Label, context: CatalogContext, *, guidance: Sequence[Statement], mode: Mode
) -> tuple[Statement, ...]:
    """Every part that facts support, the least certain last: cuts take words away that a judge may have liked.

    Parts with words of their own are English, so a definition in another language gets none of them.
    """
    is_foreign = is_in_other_language(subject) or (subject.signals.is_missing_description and context.is_foreign)
    first = None if is_foreign else first_sentence(subject, label, is_third_person=context.is_third_person)
    has_text = first is not None or not subject.signals.is_missing_description
    is_fit = has_text and can_continue_in_english(subject)
    found = [first, *(guidance if is_fit else ()), read_only(subject), *definition_parts.enumerated(subject)]
    if mode is Mode.FULL and is_fit:
        found += [definition_parts.hinted(subject), definition_parts.returned(subject)]
        found += definition_parts.explained(subject, context)
    less = cut(subject)
    named = title(subject, label) if (any(found) or less) and not is_foreign else None
    return tuple(part for part in (*found, named, less) if part)


MAX_NAMED = 5
"""Parameters that one question names; the rest are counted."""


def _ask_author(
    subject: Subject,
    label: Label,
    near: Sequence[str],
    *,
    rules: AbstractSet[str],
    unsaid: Sequence[str],
    settled: AbstractSet[str],
) -> Iterator[str]:
    """At most six questions, one for each thing that is missing, in the order of the dimensions' weights.

    `rules` are the ids of the findings about the tool; `near` its nearest siblings; `unsaid` sentences in English that
    only the author can say in the description's own language, one more question each; `settled` the hints that need no
    answer any more.
    """
    name = f"`{subject.tool.name}`"
    is_silent = subject.signals.is_missing_description
    is_vague = subject.prose.has_vague_verb and subject.prose.opens_with_verb
    if is_silent or is_vague or rules & {"TDQ101", "TDQ103"}:
        nouns = " ".join(label.nouns) if label.verb else ""
        beyond = f"beyond its name: which {nouns}, from where, under which condition"
        yield f"What does {name} do{f' {beyond}' if nouns else ': which verb, to which resource, within which scope'}?"
    if subject.is_effect_open:
        yield _about_effect(name, label, subject.prose.effect)
    if is_silent or rules & {"TDQ104", "TDQ105"}:
        rivals = " or ".join(f"`{each}`" for each in near)
        choice = f"choose {name} rather than {rivals}" if near else f"use {name}"
        yield f"When should an agent {choice}, and when not?"
    if "TDQ108" in rules:
        yield _about_parameters(name, subject)
    if "TDQ106" in rules:
        yield from _about_hints(name, subject.prose.effect, settled)
    if subject.is_result_open:
        yield f"What does {name} return, and what when there is nothing to return?"
    language = LANGUAGE_NAMES.get(subject.prose.language or "", "the description's language")
    yield from (f"How does {name} say in {language}: {sentence}" for sentence in unsaid)


def _about_effect(name: str, label: Label, effect: Effect | None) -> str:
    thing = label.thing if label.verb else ""
    if effect is Effect.DELETE:
        besides = f" besides the {thing}" if thing else ""
        return f"What does {name} destroy{besides}, can it be undone, and which permission does it need?"
    if effect is Effect.UPDATE:
        return f"What happens to values that {name} is not given, who sees it, and which permission does it need?"
    if thing:
        return f"What does {name} do if the {thing} is there already, who sees it, and which permission does it need?"
    return f"Can what {name} does be taken back, who sees it, and which permission does it need?"


def _about_parameters(name: str, subject: Subject) -> str:
    named = set(subject.prose.mentioned_parameters)
    unexplained = (each.name for each in subject.signals.parameters if not each.description.strip())
    silent = [each for each in unexplained if each not in named]
    if len(silent) == 1:
        return f"What does `{silent[0]}` of {name} mean: which format, which default?"
    more = len(silent) - MAX_NAMED
    shown = [f"`{each}`" for each in silent[:MAX_NAMED]] + ([f"{more} more"] if more > 0 else [])
    return f"What do {', '.join(shown[:-1])} and {shown[-1]} of {name} mean: which formats, which defaults?"


def _about_hints(name: str, effect: Effect | None, settled: AbstractSet[str]) -> Iterator[str]:
    """Asks for the hints that matter for the effect and are not settled; a tool that only reads needs no others."""
    if "readOnlyHint" in settled:
        return
    if effect is Effect.READ:
        yield f"Does {name} change anything at all, or may it declare readOnlyHint: true?"
        return
    is_known = effect is not None and effect.is_mutating
    passed = {"readOnlyHint"} if is_known or "destructiveHint" in settled else set()
    passed |= {"destructiveHint"} if effect is Effect.DELETE else set()
    hints = [hint for hint in _HINTS if hint not in settled | passed]
    if hints:
        first, *others = (_HINTS[hint] for hint in hints)
        yield f"{', '.join((first[0].format(name), *(other for _, other in others)))} ({', '.join(hints)})?"


_HINTS = {
    "readOnlyHint": ("Does {} only read", "does it only read"),
    "destructiveHint": ("Can {} destroy anything", "can it destroy anything"),
    "idempotentHint": ("Does a second call of {} change more", "does a second call change more"),
    "openWorldHint": ("Does {} reach outside", "does it reach outside"),
}
"""What each hint asks, of a tool by its name and then of the same one."""


MAX_CALL = 120
"""Characters of a call that a description carries as its example."""

MAX_LIMITATIONS = 3
"""Sentences that recorded calls add to a description."""


def material_parts(subject: Subject, material: Material, mode: Mode, *, growth: int) -> tuple[Statement, ...]:
    """The parts, the most certain first; a fact of every tool is said where a model weighs it, not on each of them.

    No more facts than the definition may grow by.
    """
    said = (fact_part(fact) for fact in _within(subject, material, growth) if not find_objection(fact, subject))
    example = _example(subject, material) if mode is Mode.FULL else None
    return (*said, *_hints(subject, material), *_limitations(subject, material), *([example] if example else []))


def count_told(subject: Subject, material: Material, *, growth: int) -> int:
    """Tokens of the growth that are spent already, on facts that an earlier run may have said."""
    return sum(_weight(fact) for fact in _within(subject, material, growth) if is_told(fact.text, subject))


def _within(subject: Subject, material: Material, growth: int) -> Iterator[Fact]:
    """The tool's own facts in their order, as long as they fit, told already or not."""
    for fact in material.facts:
        if fact.tool == subject.tool.name and _weight(fact) <= growth:
            growth -= _weight(fact)
            yield fact


def _weight(fact: Fact) -> int:
    """Tokens of a fact in a definition, its quotes and full stop for what joins it to other words."""
    return tokens.estimate_tokens(canonical_json(f"{fact.text}."))


def find_objection(fact: Fact, subject: Subject) -> str | None:
    """Why a fact is not said of a tool, whatever it may support."""
    if fact.tool != subject.tool.name:
        return "a fact of every tool is said of none; it only supports other words"
    if praised := find_praise(fact.text):
        return f"{praised!r} praises and tells nothing"
    if threats := find_threats({"description": fact.text}):
        return f"its text {threats[0].kind}"
    return "the description says it already" if is_told(fact.text, subject) else None


def fact_part(fact: Fact) -> Statement:
    """A fact as a sentence of its own."""
    sentence = fact.text[:1].upper() + fact.text[1:]
    whole = sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."
    return add_sentence(whole, Route.FACT, [f"fact {fact.number}"], component=Component.LIMITATIONS)


def is_told(text: str, subject: Subject) -> bool:
    """The description has every word that the text claims something with."""
    known = content_stems(subject.prose.words)
    return all(has_word(known, word) for word in content_stems(words_of(text)))


def trace_part(trace: Trace) -> Statement | None:
    """What a recorded call shows: that a call can fail so, or give nothing; None where it shows no such thing."""
    sentence = _failure(trace) if trace.outcome is CallOutcome.ERROR else None
    if trace.outcome is CallOutcome.EMPTY:
        sentence = f"May return an empty {'list' if trace.answer.strip() == '[]' else 'result'}."
    return add_sentence(sentence, Route.FAILURE, [f"trace {trace.number}"]) if sentence else None


def _limitations(subject: Subject, material: Material) -> tuple[Statement, ...]:
    """No more than a few, and each of them once."""
    if not can_continue_in_english(subject):
        return ()
    found = {part.sentence: part for trace in reversed(material.traces) if (part := trace_part(trace))}
    new = (part for sentence, part in reversed(found.items()) if not is_told(sentence, subject))
    return tuple(islice(new, MAX_LIMITATIONS))


def _failure(trace: Trace) -> str | None:
    """The error in its own words, where they are few, plain, and none of them is a value of this very call."""
    message = " ".join(trace.answer.split()).rstrip(".")
    told = set(words_of(message))
    is_private = any(told.intersection(words_of(str(value))) for value in trace.arguments.values())
    is_shown = is_plain_value(message) and redact(message) == message
    return f"Can fail with `{message}`." if message and is_shown and not is_private else None


def _hints(subject: Subject, material: Material) -> tuple[Statement, ...]:
    """The hints that facts state and that nobody has set."""
    annotations = subject.tool.raw.get("annotations")
    present: Mapping[str, object] = annotations if isinstance(annotations, Mapping) else {}
    stated = definition_parts.hints_of_facts(subject, material)
    new = {name: value for name, (value, _) in stated.items() if name not in present}
    if not new or not (annotations is None or isinstance(annotations, Mapping)):
        return ()
    sources = tuple(dict.fromkeys(stated[name][1] for name in new))
    return (set_value("/annotations", {**present, **new}, Route.HINT, sources),)


def _example(subject: Subject, material: Material) -> Statement | None:
    """The shortest real call that succeeded, where the description has no example and the call may be shown."""
    if "example" in subject.prose.words or not can_continue_in_english(subject):
        return None
    calls = [trace for trace in material.traces if trace.outcome is CallOutcome.SUCCESS and trace.arguments]
    showable = [trace for trace in calls if is_showable(trace.arguments, subject)]
    shown = [(json.dumps(trace.arguments, ensure_ascii=False), trace.number) for trace in showable]
    _, call, number = min(((len(call), call, number) for call, number in shown), default=(0, "", 0))
    if not 0 < len(call) <= MAX_CALL:
        return None
    return add_sentence(f"Example: `{call}`.", Route.EXAMPLE, [f"trace {number}"])
