"""Questions that only the author can answer, about what definitions leave open, each with a stable id."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from tdqs_mcp.canonical import canonical_json
from tdqs_mcp.facts.lexicon import words_from
from tdqs_mcp.facts.schema.arguments import properties, required
from tdqs_mcp.facts.schema.walk import Node, accepted_values, alternatives
from tdqs_mcp.facts.spelling import joined, name_parts, words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text import parameter_texts
from tdqs_mcp.facts.text.effects import deleting_verbs
from tdqs_mcp.facts.text.parameter_texts import read_mentions
from tdqs_mcp.facts.text.words import LEMMAS, Cue, Effect, is_plural, stem
from tdqs_mcp.facts.toolset import names
from tdqs_mcp.facts.toolset.names import NameWords
from tdqs_mcp.model import ANNOTATIONS, PARAMETERS, SHARED, Tool
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.improvements import HINT_ASPECTS, Question, QuestionTopic
from tdqs_mcp.results.scores import ToolScore
from tdqs_mcp.results.tool_code import CodeEffect, EffectKind, ResultKind, ToolCode
from tdqs_mcp.rewriting.draft_checks import is_ruled_out
from tdqs_mcp.rewriting.value_sources import bare_schema
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.rules.code_rules import NETWORK, coded

MAX_NAMED = 3
"""Tools that one question names; the rest are counted."""

HINT_SHARE = 20
"""A hint brings one of so many parts of what behavioral_transparency lacks, as the offline judge scores hints."""

LOW = 3
"""A dimension with a higher score needs no question that no rule asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPoint:
    """A thing that one definition leaves open."""

    tool: str
    about: QuestionTopic
    parameter: Node | None = None
    wording: str
    """The question, with `{}` for the tools."""

    is_for_target: bool = False
    """Nothing but a target needs the answer."""

    gain: int = 0
    """In hundredths of TDQS: what its dimension lacks, divided among the gaps that are in it."""

    @property
    def place(self) -> str:
        """The id without the tool."""
        if self.parameter is not None:
            return f"{PARAMETERS}{self.parameter.name}"
        return f"{ANNOTATIONS}{self.about}" if self.about in HINT_ASPECTS else self.about


def find_questions(
    measured: Measured,
    findings: Iterable[Finding],
    scores: Mapping[int, ToolScore | None],
    *,
    answered: AbstractSet[tuple[str, str]] = frozenset(),
) -> tuple[Question, ...]:
    """Return what the definitions of a catalog leave open, the greatest gain first; shared gaps are asked once.

    Nothing is asked about a tool and a place that are `answered`, or that the code answers.
    """
    ids = {
        (tool, key.partition(f"{SHARED}.")[2]): key for key, tools in find_groups(measured).items() for tool in tools
    }
    evidence = _evidence(measured)
    closed = {(subject.tool.name, place) for subject, code in coded(measured) for place in _answers(subject, code)}
    gaps: dict[str, list[OpenPoint]] = {}
    for gap in _find_gaps(measured, findings, scores):
        if (gap.tool, gap.place) not in answered | closed:
            gaps.setdefault(ids.get((gap.tool, gap.place), f"{gap.tool}.{gap.place}"), []).append(gap)
    questions = [_question(key, points, evidence) for key, points in gaps.items()]
    order = list(QuestionTopic).index
    return tuple(sorted(questions, key=lambda question: (-question.gain, order(question.about))))


def find_groups(measured: Measured) -> dict[str, frozenset[str]]:
    """Return the tools of which one answer is true, by the id of the question that they share; the largest groups.

    One answer is true of parameters of one name and schema, of a hint where tools have one verb or their code shows the
    same, and of what comes back where their code gives back the same. What belongs together depends on names, types and
    code: a rewrite changes nothing of it.
    """
    labels = names.read_names(subject.tool.name for subject in measured.subjects)
    evidence = _evidence(measured)
    groups: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for subject in measured.subjects:
        name = subject.tool.name
        for key, group in _groups(subject, labels[name], evidence.get(name, ("", ""))[0]):
            groups.setdefault(key, {}).setdefault(group, []).append(name)
    for subject, code in coded(measured):
        if code.results:
            alike = groups.setdefault(f"{SHARED}.{QuestionTopic.RETURNS}", {})
            alike.setdefault((str(code.results),), []).append(subject.tool.name)
    largest = {key: max(by_group.values(), key=len) for key, by_group in groups.items()}
    rivals = {f"{tools[0]}{SHARED}.{QuestionTopic.USAGE}": tools for tools in _find_rivals(measured, labels)}
    return {key: frozenset(tools) for key, tools in (largest | rivals).items()}


def _find_rivals(measured: Measured, labels: Mapping[str, NameWords]) -> list[list[str]]:
    """Return the tools among which an agent has to choose: they do the same to the same thing, or to a kind of it.

    `delete_user` and `archive_user`; `get_invoice` and `get_sent_invoice`; neither `create_user` and `update_user`, nor
    `create_text_item` and `create_shape_item`, which their names tell apart, nor `list_runs` and `list_runs_in_batch`,
    of which one takes what the other has not.
    """
    tools = {subject.tool.name: subject.tool for subject in measured.subjects}
    by_kind: dict[tuple[object, ...], dict[str, list[str]]] = {}
    for name in dict.fromkeys(subject.tool.name for subject in measured.subjects if not subject.withdrawal):
        label = labels[name]
        is_looking = label.verb in words_from("names", "listing_verbs")
        words = label.thing.lower().split()
        if words:
            is_many = label.verb in ("list", "search") or is_plural(words[-1])
            # `copy_file`, `share_file`; `count_issues`, `get_issues`
            is_plain_act = label.effect in (None, Effect.ACT, Effect.CREATE) or (
                label.effect is Effect.READ and not is_looking
            )
            way = label.verb if is_plain_act else label.effect
            thing = " ".join(map(stem, words))
            by_kind.setdefault((way, is_many, stem(words[-1])), {}).setdefault(thing, []).append(name)
    rivals: list[list[str]] = []
    for (*_, last), by_thing in by_kind.items():
        groups = [*by_thing.values()]
        rivals += [[name for group in groups for name in group]] if last in by_thing else groups
    alike = [
        [name for name in group if any(takes_needs(tools[name], tools[other]) for other in group if other != name)]
        for group in rivals
    ]
    return [group for group in alike if len(group) > 1]


def takes_needs(first: Tool, second: Tool) -> bool:
    """Return whether each tool takes what the other one needs: one batch by its id is no list of batches."""
    return all(
        properties(other).keys() >= {name for name in required(tool) if isinstance(name, str)}
        for tool, other in ((first, second), (second, first))
    )


def _groups(subject: Subject, label: NameWords, effect: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the questions that a tool may share, each with that in which the others have to be equal."""
    for node in subject.input_shape.nodes:
        if node.is_top and node.name:
            is_bare = node.name.lower() in words_from("rewriting", "identifiers") - words_from("rewriting", "addresses")
            is_free = _kind(node.schema) == "object" and not node.schema.get(
                "properties"
            )  # each tool has its own fields
            own = (subject.tool.name,) if is_free else label.resource if is_bare else ()
            yield f"{SHARED}.{PARAMETERS}{node.name}", (canonical_json(bare_schema(node.schema)), *own)
    if label.verb and label.effect is not Effect.READ:  # what is found differs, what is done is answered alike
        yield f"{label.verb}{SHARED}.{QuestionTopic.RETURNS}", ()
    is_known = bool(effect) and not effect.startswith(_UNREAD)
    same = effect.replace(" ", "-") if is_known else "read" if effect and label.effect is Effect.READ else label.verb
    for hint in HINT_ASPECTS if same else ():
        yield f"{same}{SHARED}.{ANNOTATIONS}{hint}", (effect if is_known else _UNREAD if effect else "",)


def find_open_places(subject: Subject, *, is_changing: bool = False) -> frozenset[str]:
    """The usage, the result, the parameters and the hints that a definition leaves open, as questions name them.

    A tool of which the author says that it is changing something has the hints to answer that only such a tool has.
    """
    places = {gap.place for gap in (*_parameter_gaps(subject), *_hint_gaps(subject, is_changing=is_changing))}
    places |= {QuestionTopic.RETURNS} if subject.is_result_open else set()
    return frozenset(places if _is_guiding(subject) else places | {QuestionTopic.USAGE})


def _question(key: str, gaps: Sequence[OpenPoint], evidence: Mapping[str, tuple[str, str]]) -> Question:
    first = gaps[0]
    tools = tuple(dict.fromkeys(gap.tool for gap in gaps))
    wording = _CHOICE if first.about is QuestionTopic.USAGE and len(tools) > 1 else first.wording
    text = wording.format(_tools(tools))
    is_about_effect = first.about in (QuestionTopic.BEHAVIOR, *HINT_ASPECTS)
    effect, place = evidence.get(first.tool if is_about_effect else f"{first.tool}.{first.place}", ("", ""))
    if effect:
        text = f"By the code, `{first.tool}` {effect} ({place}). {text}"
    return Question(
        id=key if len(tools) > 1 else f"{first.tool}.{first.place}",
        text=text,
        about=first.about,
        tools=tools,
        parameter=first.parameter.name if first.parameter else None,
        is_for_target=first.is_for_target,
        # what several tools say alike of their results counts once
        gain=(max if first.about is QuestionTopic.RETURNS else sum)(gap.gain for gap in gaps),
    )


def _tools(tools: Sequence[str], *, word: str = "and") -> str:
    """The names as text: "`a`, `b` and 3 more tools"; braces as they are."""
    more = len(tools) - MAX_NAMED
    names = [f"`{name}`" for name in tools[: MAX_NAMED if more > 1 else None]]
    names += [f"{more} more tools"] if more > 1 else []
    return joined(names, word)


def _find_gaps(
    measured: Measured, findings: Iterable[Finding], scores: Mapping[int, ToolScore | None]
) -> Iterator[OpenPoint]:
    """The gaps of every tool, in catalog order."""
    rules: dict[int | None, set[str]] = {}
    for finding in findings:
        rules.setdefault(finding.tool_index, set()).add(finding.rule)
    labels = names.read_names(subject.tool.name for subject in measured.subjects)
    rivals = {name: tools for tools in _find_rivals(measured, labels) for name in tools}
    weights = {dimension.key: dimension.weight for dimension in load("tdqs").dimensions}
    for subject in measured.subjects:
        if subject.withdrawal:
            continue  # what is not to be called needs no words, but to leave the list
        name = subject.tool.name
        rule_ids = rules.get(subject.tool.index, set())
        near = [rival for rival in rivals.get(name, ()) if rival != name]
        score = scores.get(subject.tool.index)
        low = {key for key in weights if score is None or score.scores[key] <= LOW}
        gaps = [*_text_gaps(subject, near, rule_ids, low), *_parameter_gaps(subject), *_hint_gaps(subject)]
        dimensions = [gap.about.dimension for gap in gaps]
        for gap, dimension in zip(gaps, dimensions, strict=True):
            lacking = 5 - score.scores[dimension] if score else 1
            share = max(dimensions.count(dimension), HINT_SHARE if gap.about in HINT_ASPECTS else 1)
            yield replace(gap, gain=weights[dimension] * lacking // share)


def _text_gaps(
    subject: Subject, near: Sequence[str], rules: AbstractSet[str], low: AbstractSet[str]
) -> Iterator[OpenPoint]:
    """Yield what the description leaves open, as rules and the dimensions with a low score have it."""
    ask = partial(OpenPoint, tool=subject.tool.name)
    prose, is_silent = subject.prose, subject.signals.is_missing_description
    is_vague = prose.has_vague_verb and prose.opens_with_verb and "purpose_clarity" in low
    if is_silent or is_vague or rules & {"TDQ101", "TDQ103"}:
        is_told = is_vague and not (is_silent or rules & {"TDQ101", "TDQ103"})
        form = f"a more telling verb than `{prose.verb}`" if is_told else "a sentence that says more than its name"
        yield ask(about=QuestionTopic.PURPOSE, wording=f"What does {{}} do, in {form}?")
    is_low = is_silent or bool(rules & {"TDQ104", "TDQ105"}) or "usage_guidelines" in low
    if is_low and not _is_guiding(subject):
        rivals = _tools(near, word="or").replace("{", "{{").replace("}", "}}") if near else ""
        wording = f"When should an agent choose {{}} rather than {rivals}?" if near else _USAGE
        yield ask(about=QuestionTopic.USAGE, wording=wording, is_for_target=not near)
    is_low = "behavioral_transparency" in low and _DISCLOSING.isdisjoint(prose.cues)
    # `hover` and "Adds two numbers" leave nothing changed, whatever readOnlyHint says
    is_changing = not all(claim.is_weak for claim in subject.effect_claims)
    if (subject.is_effect_open or is_low) and is_changing and not _is_reading(subject) and not _tells_more(subject):
        yield ask(about=QuestionTopic.BEHAVIOR, wording=_about_behavior(subject))
    if subject.is_result_open:
        fields = "which fields, in which form?"
        form = fields if _is_reading(subject) else f"only a confirmation, or {fields}"
        yield ask(about=QuestionTopic.RETURNS, wording=f"What comes back from {{}}: {form}")


_USAGE = "What is {} needed for, and what has to be done or known before?"
_CHOICE = "When should an agent call which of {}?"


def _is_reading(subject: Subject) -> bool:
    return _effect(subject) is Effect.READ or bool(subject.signals.read_only)


def _effect(subject: Subject) -> Effect | None:
    prose = subject.prose
    return prose.name_effect if prose.effect is Effect.ACT and prose.name_effect else prose.effect


def _is_guiding(subject: Subject) -> bool:
    """Return whether the description says when to use the tool."""
    prose = subject.prose
    return not _GUIDING.isdisjoint(prose.cues) or any(words[:1] == ["use"] for words in prose.spoken)


_GUIDING = frozenset({Cue.WHEN, Cue.WHEN_NOT})
_DISCLOSING = frozenset({Cue.DESTRUCTION, Cue.SIDE_EFFECT, Cue.SAFETY, Cue.PERMISSION, Cue.ERROR})


def _tells_more(subject: Subject) -> bool:
    """A sentence behind the first is about neither results, usage nor parameters, so it is about what a call does."""
    prose, names = subject.prose, {parameter.name.lower() for parameter in subject.signals.parameters}
    other_places = {place for cue, places in prose.cue_places.items() if cue in _OTHER for place in places}
    sentences = zip(prose.sentences, prose.spoken, strict=True)
    whole = [(place, words) for place, (text, words) in enumerate(sentences) if words and not text.endswith(":")]
    return any(
        place not in other_places and words[0] not in _POINTING | names and _INPUT.isdisjoint(words)
        for place, words in whole[1:]
    )


_OTHER = frozenset({Cue.RETURN, Cue.WHEN, Cue.WHEN_NOT, Cue.ALTERNATIVE, Cue.EXAMPLE, Cue.FORMAT})
_POINTING = frozenset({"use", "find", "to", "example", "examples"})
_INPUT = frozenset({"argument", "arguments", "parameter", "parameters", "args", "input", "inputs"})


def _about_behavior(subject: Subject) -> str:
    """The question that fits what the tool is said to do: what is archived or stopped is still there."""
    verb = subject.prose.verb
    # "Drops files onto an element" deletes none
    is_placing = not {"onto", "into"}.isdisjoint(chain.from_iterable(subject.prose.spoken[:1]))
    if (
        not is_placing
        and _effect(subject) is Effect.DELETE
        and verb in deleting_verbs() - words_from("hints", "ending")
    ):
        form = next((word for word, lemma in LEMMAS.items() if lemma == verb != word and word.endswith("s")), "deletes")
        return f"Can what {{}} {form} be restored, and does anything else go with it?"
    return "What else does {} change, and is anything lost with it?"


def find_open_parameters(subject: Subject) -> dict[str, Node]:
    """The parameters that neither their own description nor the tool's explains, by name."""
    shape = subject.input_shape
    empty = {node.path for node in parameter_texts.undescribed(shape, is_nested=False)}
    empty |= {
        remark.node.path
        for remark in (*parameter_texts.restated(subject.remarks), *parameter_texts.placeholders(subject.remarks))
    }
    silent = {node.name: node for node in shape.nodes if node.is_top and node.name and node.path in empty}
    mentions = read_mentions(subject.tool.description, shape) if silent else ()
    explained = {mention.node.name for mention in mentions}
    return {name: node for name, node in silent.items() if name not in explained}


def _parameter_gaps(subject: Subject) -> Iterator[OpenPoint]:
    """A question for each parameter that nothing explains, neither a text nor the schema of its fields."""
    # "Requires a valid seller URL" says what `url` is
    demands = subject.prose.cue_places.get(Cue.PREREQUISITE, ())
    demanded = {word.lower() for place in demands for word in subject.prose.spoken[place]}
    # "Without `dry_run`, it deletes files" says what is different
    description = (subject.tool.description or "").replace("With", "with")
    for node in find_open_parameters(subject).values():
        is_told = f"with `{node.name}`" in description or f"without `{node.name}`" in description
        if (node.name or "").lower() in demanded or (is_told and _kind(node.schema) == "boolean"):
            continue
        branches = alternatives(node.schema, subject.input_shape.root)
        items = [branch["items"] for branch in branches if isinstance(branch.get("items"), dict)]
        branches += [inner for item in items for inner in alternatives(item, subject.input_shape.root)]
        if not any(branch.get("properties") for branch in branches):
            yield OpenPoint(
                tool=subject.tool.name, about=QuestionTopic.PARAMETER, parameter=node, wording=_about_parameter(node)
            )


def _about_parameter(node: Node) -> str:
    """The question that fits the parameter's type."""
    name, kind = f"`{node.name}`".replace("{", "{{").replace("}", "}}"), _kind(node.schema)
    parts = name_parts(node.name or "")
    if node.schema.get("enum"):
        return f"What does {name} of {{}} choose: what is different with each of its values?"
    if kind == "boolean":
        return f"What is different if {name} of {{}} is true?"
    if kind in ("integer", "number") and not words_from("rewriting", "identifiers").intersection(parts[-1:]):
        return f"What does {name} of {{}} set, and in which range?"
    if kind == "array":
        return f"What are the entries of {name} of {{}}, for example?"
    if kind == "object":
        return f"Which fields does {name} of {{}} take, for example?"
    return f"What is {name} of {{}}, for example, and what is refused?"


def _kind(schema: Mapping[str, Any]) -> str | None:
    """The one type that a value has, beside null."""
    kinds = accepted_values(schema, schema).types
    return next(iter(kinds)) if len(kinds) == 1 else None


def _hint_gaps(subject: Subject, *, is_changing: bool = False) -> Iterator[OpenPoint]:
    """The hints that matter for the effect and are not set; a tool that may only read is asked about that first."""
    hints: Mapping[str, Any] = subject.tool.annotations or {}
    is_read_only, effect = hints.get("readOnlyHint"), subject.prose.effect
    if not subject.tool.is_mcp or is_read_only is True:
        return
    is_changing = is_changing or (effect is not None and effect.is_mutating)
    may_read = is_read_only is None and not is_changing and not is_ruled_out("readOnlyHint", subject, value=True)
    for hint in [QuestionTopic.READ_ONLY] if may_read else HINT_ASPECTS[1:]:
        is_known = hint is QuestionTopic.DESTRUCTIVE and is_ruled_out(hint, subject, value=False)
        if not is_known and not isinstance(hints.get(hint), bool):
            yield OpenPoint(tool=subject.tool.name, about=hint, wording=_HINTS[hint])


_HINTS = {
    QuestionTopic.READ_ONLY: "Do calls of {} only read, without changing anything?",
    QuestionTopic.DESTRUCTIVE: "Can calls of {} delete or overwrite anything?",
    QuestionTopic.IDEMPOTENT: "Is an identical second call of {} without further effect?",
    QuestionTopic.OPEN_WORLD: "Do calls of {} reach outside their own system, for example to the web?",
}


READS = frozenset({EffectKind.LOCAL_READ, EffectKind.DB_READ, EffectKind.HTTP_READ})


def _answers(subject: Subject, code: ToolCode) -> Iterator[str]:
    """Yield the places that the code answers; what it destroys is left to ask about, as it may be restored."""
    yield from (f"{PARAMETERS}{name}" for name in code.unused_parameters)
    yield from (f"{PARAMETERS}{name}" for name, node in find_open_parameters(subject).items() if _takes_any(node, code))
    is_destroying = any(effect.is_destroying for effect in code.own_effects)
    if not is_destroying and (code.own_effects or not code.unresolved):
        yield str(QuestionTopic.BEHAVIOR)
    if code.is_result_whole and any(form.is_telling for form in code.results):
        yield str(QuestionTopic.RETURNS)
    verdicts = (code.read_only, code.destructive, code.idempotent, code.open_world)
    for topic, verdict in zip(HINT_ASPECTS, verdicts, strict=True):
        if isinstance(verdict, bool):
            yield f"{ANNOTATIONS}{topic}"
    changes = [effect for effect in code.own_effects if effect.kind not in READS]
    if code.read_only is False and (
        code.destructive is False
        or any(effect.is_given and effect.text.startswith(_ADDING) for effect in changes)
        or (changes and all(map(repeats, changes)))
    ):
        yield f"{ANNOTATIONS}{QuestionTopic.IDEMPOTENT}"  # it adds, and a second time again


_ADDING = ("POST", "INSERT INTO", "insert", "open a")


def _takes_any(node: Node, code: ToolCode) -> bool:
    """Return whether the code refuses no text for a parameter, or its name says what it refuses: a wrong path.

    A text that identifies a thing is one of those that there are.
    """
    name, kind = node.name or "", _kind(node.schema)
    last = next(iter(name_parts(name)[-1:]), "")
    checks = [part for error in code.errors for part in (error.condition, error.parameter)]
    checks += [limit.parameter for limit in code.limits]
    is_free = kind == "string" and not code.unresolved and name not in words_of(" ".join(checks))
    is_naming = bool(node.schema.get("enum")) or last in words_from("rewriting", "identifiers")
    is_address = kind in ("string", "array") and last.removesuffix("s") in words_from("rewriting", "addresses")
    return (is_free and not is_naming) or is_address


def _evidence(measured: Measured) -> dict[str, tuple[str, str]]:
    """Return the most telling effect of each tool's code with its line: `deletes files`, `sync.py:41`.

    Without any, that is the last call that could not be followed. What is refused of a parameter has the key
    `sync.parameters.path`.
    """
    evidence: dict[str, tuple[str, str]] = {}
    for subject, code in coded(measured):
        for error in code.errors:
            refusal = f'says "{error.text.replace("{}", "…")}"'
            evidence.setdefault(f"{subject.tool.name}.{PARAMETERS}{error.parameter}", (refusal, str(error)))
        for form in code.results if code.handler else ():
            if form.kind is ResultKind.ANSWER and form.text:
                answer = f"gives back the answer to `{form.text}`"
                evidence.setdefault(f"{subject.tool.name}.{QuestionTopic.RETURNS}", (answer, f"{code.handler}"))
        changes = [effect for effect in code.own_effects if effect.kind not in READS]
        if changes:
            effect = min(changes, key=lambda effect: (not effect.is_destroying, not effect.is_given, effect.depth))
            evidence[subject.tool.name] = _effect_words(effect), str(effect)
        elif code.unresolved and code.handler and code.read_only == "unknown":
            near = [call for call in code.unresolved if call.file == code.handler.file] or code.unresolved
            call = max(near, key=lambda call: call.line)
            evidence[subject.tool.name] = f"{_UNREAD} `{call.text}`", str(call)
    return evidence


_UNREAD = "calls code that is not in the folder:"


def _effect_words(effect: CodeEffect) -> str:
    is_method = effect.text.isupper() and effect.kind in NETWORK
    return f"sends {effect.text} requests{f' to {effect.host}' if effect.host else ''}" if is_method else effect.words


def repeats(effect: CodeEffect) -> bool:
    """Return whether a second run of the line changes nothing more: PUT and DELETE (RFC 9110), a file written anew."""
    if effect.kind is EffectKind.HTTP_WRITE:
        return effect.text in ("PUT", "DELETE")
    return effect.kind is EffectKind.FILE_WRITE and effect.is_destroying
