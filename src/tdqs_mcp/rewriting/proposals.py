"""A better definition from what is known of it, with its proof; what is not known is asked."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from tdqs_mcp.facts.catalog.names import Label
from tdqs_mcp.facts.schema import tokens
from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.language_detection import LANGUAGE_NAMES
from tdqs_mcp.facts.text.languages import Effect
from tdqs_mcp.facts.text.wording import can_continue_in_english, is_in_other_language
from tdqs_mcp.model.catalog import Catalog, read_tool
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.rewrites import Change, Claim, Mode, Rewrite
from tdqs_mcp.results.scores import ToolScore
from tdqs_mcp.rewriting import definition_parts, usage_guidance
from tdqs_mcp.rewriting.definition_parts import Part, Scene, cut, purpose, title


def _nothing(**_: object) -> tuple[str, ...]:
    """A proposal on trial asks nothing."""
    return ()


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A tool with the parts that would make its definition better, the least certain last."""

    subject: Subject
    parts: tuple[Part, ...]
    ask: Callable[..., tuple[str, ...]] = _nothing
    """The questions that only the author can answer, but for those about hints that are `settled`."""

    questions: tuple[str, ...] = ()
    """What comes before these: which side of a contradiction holds."""

    next: tuple[tuple[Part, ...], ...] = ()
    """What to try where these parts do not hold: any one left out, the least certain first; then ever fewer."""

    claims: tuple[Claim, ...] | None = None
    """The proof of these very parts, where there has been one."""

    @property
    def index(self) -> int:
        """The tool's position in its catalog."""
        return self.subject.tool.index

    @cached_property
    def definition(self) -> Mapping[str, Any]:
        """The raw definition with the parts applied; what no part names is what it was."""
        raw: Mapping[str, Any] = self.subject.tool.raw
        for part in self.parts:
            if part.path != "/description":
                raw = _put(raw, split_pointer(part.path), part.value)
        spoken = [part for part in self.parts if part.path == "/description"]
        text = _description(self.subject.tool.description or "", spoken)
        return _put(raw, ["description"], text) if spoken else raw

    def reduced(self) -> "Proposal":
        """The next fewer parts, without a title that would be left alone; none at last.

        A part that fails takes no other with it, so a second run finds nothing that this one has missed.
        """
        left = self.next or _fewer(self.parts)
        parts = left[0] if left else ()
        return self.only(() if all(part.path == "/title" for part in parts) else parts, left[1:])

    def only(self, parts: tuple[Part, ...], left: tuple[tuple[Part, ...], ...] = ()) -> "Proposal":
        """Other parts, unproven, and what to try after them."""
        return replace(self, parts=parts, next=left, claims=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one definition does."""

    score: ToolScore | None
    findings: tuple[Finding, ...]
    unjudged: str | None = None
    """Why there is no score."""


def propose(measured: Measured, findings: Iterable[Finding], *, mode: Mode = Mode.COMPACT) -> list[Proposal]:
    """A proposal for every measured tool, in catalog order; pure, and linear in the size of the catalog."""
    scene = Scene.of(measured)
    rules: dict[int | None, set[str]] = {}
    for finding in findings:
        rules.setdefault(finding.tool_index, set()).add(finding.rule)
    return [_proposal(subject, scene, rules.get(subject.tool.index, set()), mode) for subject in measured.subjects]


def apply(catalog: Catalog, definitions: Mapping[int, Mapping[str, Any]]) -> Catalog:
    """The catalog with other definitions at some indices; a tool whose definition is its own stays the very same."""
    changed = {
        index: definition for index, definition in definitions.items() if definition is not catalog.tools[index].raw
    }
    tools = (
        read_tool(changed[tool.index], tool.index, is_mcp=tool.is_mcp) if tool.index in changed else tool
        for tool in catalog.tools
    )
    return replace(catalog, tools=tuple(tools))


def stand(
    measured: Measured,
    scores: Mapping[int, ToolScore],
    findings: Iterable[Finding],
    *,
    unjudged: Mapping[int, str] | None = None,
) -> dict[int, Standing]:
    """How every measured tool does, by its index; `unjudged` says why some have no score."""
    by_index: dict[int | None, list[Finding]] = {}
    for finding in findings:
        by_index.setdefault(finding.tool_index, []).append(finding)
    indices = [subject.tool.index for subject in measured.subjects]
    return {
        index: Standing(
            score=scores.get(index),
            findings=tuple(by_index.get(index, ())),
            unjudged=(unjudged or {}).get(index),
        )
        for index in indices
    }


ALL_HINTS = frozenset({"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"})
"""Nothing is asked about any of them where the format has no annotations."""

MENDED_ELSEWHERE = frozenset({"TDQ322"})
"""Rules whose findings name another definition's gap: a boundary that only one side draws is still one."""


def holds(before: Standing, after: Standing) -> bool:
    """Whether a proposal may stand: a TDQS if there was one, no lower, and no new finding unless a worse one is gone.

    A tool without any description has few findings; its first description may have more, all of them milder.
    """
    if before.score and (after.score is None or after.score.tdqs < before.score.tdqs):
        return False
    added = [finding for finding in _beyond(after, before) if finding.rule not in MENDED_ELSEWHERE]
    return _worst(added) < max(_worst(_beyond(before, after)), 0)


def compare(proposal: Proposal, before: Standing, after: Standing) -> Rewrite:
    """The rewrite with its scores; what it does to findings, only the catalog that has all rewrites can show."""
    tool = proposal.subject.tool
    definition = proposal.definition
    by_path: dict[str, list[str]] = {}
    if tool.description and any(part.path == "/description" for part in proposal.parts):
        by_path["/description"] = ["description"]
    for part in proposal.parts:
        by_path.setdefault(part.path, []).extend(part.sources)
    return Rewrite(
        index=tool.index,
        name=tool.name,
        original=tool.raw,
        definition=definition,
        changes=tuple(
            Change(
                path=path,
                before=_at(tool.raw, path),
                after=_at(definition, path),
                sources=tuple(dict.fromkeys(sources)),
            )
            for path, sources in by_path.items()
        ),
        questions=(*proposal.questions, *proposal.ask(settled=_hints(definition) if tool.is_mcp else ALL_HINTS)),
        before=before.score,
        after=after.score,
        tokens_before=tokens.definition_tokens(tool.raw),
        tokens_after=tokens.definition_tokens(definition),
    )


def findings(before: Standing, after: Standing) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids of the rules whose findings are gone, and of those whose findings are new."""
    gone, new = _beyond(before, after), _beyond(after, before)
    return tuple(finding.rule for finding in gone), tuple(finding.rule for finding in new)


def _beyond(standing: Standing, other: Standing) -> list[Finding]:
    """The findings that the other does not have at this severity."""
    known = {(finding.rule, finding.severity) for finding in other.findings}
    return [finding for finding in standing.findings if (finding.rule, finding.severity) not in known]


def _worst(findings: Sequence[Finding]) -> int:
    return max((finding.severity.rank for finding in findings), default=-1)


def _proposal(subject: Subject, scene: Scene, rules: set[str], mode: Mode) -> Proposal:
    label, near = scene.labels[subject.tool.name], scene.near(subject)
    found = compose_parts(subject, label=label, near=near, scene=scene, mode=mode)
    unsaid = untranslated(subject, label=label, near=near, scene=scene)
    asking = partial(ask_author, subject, label=label, near=near, rules=rules, unsaid=unsaid)
    return Proposal(subject=subject, parts=found, ask=asking)


def _hints(definition: Mapping[str, Any]) -> set[str]:
    """The names of the annotations that say yes or no."""
    annotations = definition.get("annotations")
    known = annotations.items() if isinstance(annotations, Mapping) else ()
    return {name for name, value in known if isinstance(value, bool)}


def _fewer(parts: tuple[Part, ...]) -> tuple[tuple[Part, ...], ...]:
    """Every selection that lacks one part, then those that lack the last two, three and so on: linear in the parts."""
    places = range(len(parts) - 1, -1, -1)
    return (*(parts[:place] + parts[place + 1 :] for place in places), *(parts[:place] for place in places[1:]))


def _at(value: Any, path: str) -> Any:  # noqa: ANN401  # any JSON value
    """What stands at a JSON pointer; None where there is nothing."""
    for step in split_pointer(path):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _put(value: Mapping[str, Any], steps: Sequence[str], new: object) -> Mapping[str, Any]:
    """A copy with something else at one place; all else is what it was, in its order."""
    first, *rest = steps
    return {**value, first: _put(value[first], rest, new) if rest else new}


def _description(old: str, parts: Sequence[Part]) -> str:
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


def compose_parts(subject: Subject, *, label: Label, near: Sequence[str], scene: Scene, mode: Mode) -> tuple[Part, ...]:
    """Every part that facts support, the least certain last: cuts take words away that a judge may have liked.

    Parts with words of their own are English, so a definition in another language gets none of them.
    """
    is_foreign = is_in_other_language(subject) or (subject.signals.is_missing_description and scene.is_foreign)
    first = None if is_foreign else purpose(subject, label, is_third_person=scene.is_third_person)
    has_text = first is not None or not subject.signals.is_missing_description
    is_fit = has_text and can_continue_in_english(subject)
    said = usage_guidance.guidance_parts(subject, label, near, scene) if is_fit else ()
    more = _more(subject, scene) if mode is Mode.FULL and is_fit else ()
    found = [
        part
        for part in (first, *said, definition_parts.read_only(subject), *definition_parts.enumerated(subject), *more)
        if part
    ]
    less = cut(subject)
    named = title(subject, label) if (found or less) and not is_foreign else None
    return (*found, *(part for part in (named, less) if part))


def _more(subject: Subject, scene: Scene) -> tuple[Part | None, ...]:
    return (
        definition_parts.hinted(subject),
        definition_parts.returned(subject),
        *definition_parts.explained(subject, scene),
    )


def untranslated(subject: Subject, *, label: Label, near: Sequence[str], scene: Scene) -> tuple[str, ...]:
    """The English sentences that facts support and that a description in another language cannot take as they are."""
    if not is_in_other_language(subject):
        return ()
    return tuple(part.sentence for part in usage_guidance.guidance_parts(subject, label, near, scene))


MAX_NAMED = 5
"""Parameters that one question names; the rest are counted."""


def ask_author(
    subject: Subject,
    *,
    label: Label,
    near: Sequence[str],
    rules: AbstractSet[str],
    unsaid: Sequence[str] = (),
    settled: AbstractSet[str] = frozenset(),
) -> tuple[str, ...]:
    """At most six questions, one for each thing that is missing, in the order of the dimensions' weights.

    `rules` are the ids of the findings about the tool; `near` its nearest siblings; `unsaid` sentences in English that
    only the author can say in the description's own language, one more question each; `settled` the hints that need no
    answer any more.
    """
    language = LANGUAGE_NAMES.get(subject.prose.language or "", "the description's language")
    translations = (f"How does `{subject.tool.name}` say in {language}: {sentence}" for sentence in unsaid)
    return (*_questions(subject, label, near, rules, settled), *translations)


def _questions(
    subject: Subject, label: Label, near: Sequence[str], rules: AbstractSet[str], settled: AbstractSet[str]
) -> Iterator[str]:
    name = f"`{subject.tool.name}`"
    is_silent = subject.signals.is_missing_description
    if is_silent or rules & {"TDQ101", "TDQ103"}:
        yield _about_purpose(name, label)
    if "TDQ107" in rules or (is_silent and subject.prose.effect and subject.prose.effect.is_mutating):
        yield _about_effect(name, label, subject.prose.effect)
    if is_silent or rules & {"TDQ104", "TDQ105"}:
        yield _about_usage(name, near)
    if "TDQ108" in rules:
        yield _about_parameters(name, subject)
    if "TDQ106" in rules:
        yield from _about_hints(name, subject.prose.effect, settled)
    if "TDQ110" in rules or (is_silent and not subject.signals.has_output_schema):
        yield f"What does {name} return, and what when there is nothing to return?"


def _about_purpose(name: str, label: Label) -> str:
    nouns = " ".join(label.nouns)
    if label.verb and nouns:
        return f"What does {name} do beyond its name: which {nouns}, from where, under which condition?"
    return f"What does {name} do: which verb, to which resource, within which scope?"


def _about_effect(name: str, label: Label, effect: Effect | None) -> str:
    thing = label.thing if label.verb else ""
    if effect is Effect.DELETE:
        besides = f" besides the {thing}" if thing else ""
        return f"What does {name} destroy{besides}, can it be undone, and which permission does it need?"
    if effect is Effect.UPDATE:
        return f"What becomes of values that {name} is not given, who sees it, and which permission does it need?"
    if thing:
        return f"What does {name} do if the {thing} is there already, who sees it, and which permission does it need?"
    return f"Can what {name} does be taken back, who sees it, and which permission does it need?"


def _about_usage(name: str, near: Sequence[str]) -> str:
    if near:
        others = " or ".join(f"`{each}`" for each in near)
        return f"When should an agent choose {name} rather than {others}, and when not?"
    return f"When should an agent use {name}, and when not?"


def _about_parameters(name: str, subject: Subject) -> str:
    named = set(subject.prose.mentioned_parameters)
    silent = [
        each.name for each in subject.signals.parameters if not each.description.strip() and each.name not in named
    ]
    if len(silent) == 1:
        return f"What does `{silent[0]}` of {name} mean: which format, which default?"
    more = len(silent) - MAX_NAMED
    shown = [f"`{each}`" for each in silent[:MAX_NAMED]] + ([f"{more} more"] if more > 0 else [])
    return f"What do {', '.join(shown[:-1])} and {shown[-1]} of {name} mean: which formats, which defaults?"


def _about_hints(name: str, effect: Effect | None, settled: AbstractSet[str]) -> Iterator[str]:
    """The hints that matter for the effect and that nobody has settled; what only reads has no others."""
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
