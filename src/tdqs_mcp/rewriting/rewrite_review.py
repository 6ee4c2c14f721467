"""The review of a rewrite: which parts may stand, whether they improve the definition, and what remains unused."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from tdqs_mcp.facts.lexicon import words_from
from tdqs_mcp.facts.schema import arguments, signals
from tdqs_mcp.facts.schema.compatibility import list_edits
from tdqs_mcp.facts.schema.walk import split_pointer, value_at
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.prose import plain_text
from tdqs_mcp.facts.text.words import Cue, identifiers_of
from tdqs_mcp.judges.judge import Failure
from tdqs_mcp.model import ANNOTATIONS, PARAMETERS
from tdqs_mcp.results.findings import Finding, Severity, by_tool
from tdqs_mcp.results.improvements import (
    AUTHOR,
    DRAFT,
    OFFLINE,
    Change,
    Component,
    Gain,
    Question,
    QuestionTopic,
    Rewrite,
    Unused,
)
from tdqs_mcp.results.scores import ToolScore
from tdqs_mcp.results.tool_code import ToolCode
from tdqs_mcp.rewriting import author_material
from tdqs_mcp.rewriting.author_material import TOLD, WHOLE_SERVER, find_objection
from tdqs_mcp.rewriting.definition_parts import CatalogContext, shared_lookup
from tdqs_mcp.rewriting.draft_checks import CheckedDraft, DraftChecker
from tdqs_mcp.rewriting.proposals import Proposal
from tdqs_mcp.rewriting.questions import find_questions
from tdqs_mcp.rewriting.result_statements import find_other_fields
from tdqs_mcp.rewriting.value_sources import documented_parameters, type_of
from tdqs_mcp.rules.code_rules import coded, says_only_reading

REFUSED = "said what may not stand in a definition"
"""The fault of words that were refused: an answer all the same."""

_COMMON_FIELDS = ("description", "inputSchema")
"""Fields that every format of tool definitions has."""

MIN_GAIN = 3
"""Tenths of TDQS that new words must be worth to the judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """Score and findings of one version of a definition."""

    score: ToolScore | None
    findings: tuple[Finding, ...]
    unjudged: str | None = None
    """Why there is no score."""


def assess(
    measured: Measured,
    scores: Mapping[int, ToolScore],
    findings: Iterable[Finding],
    *,
    unjudged: Mapping[int, str] | None = None,
) -> dict[int, Assessment]:
    """Score and findings of every measured tool by its index; `unjudged` says why some have no score."""
    by_index, reasons = by_tool(findings), unjudged or {}
    return {
        index: Assessment(score=scores.get(index), findings=tuple(by_index.get(index, ())), unjudged=reasons.get(index))
        for index in (subject.tool.index for subject in measured.subjects)
    }


def is_improvement(before: Assessment, after: Assessment) -> bool:
    """Return whether a proposal is acceptable: TDQS no lower, and no new finding unless a worse one is gone.

    A tool without any description has few findings; its first description may have more, all of them milder.
    """
    if before.score and (after.score is None or after.score.tdqs < before.score.tdqs):
        return False
    return _worst(_beyond(after, before)) < max(_worst(_beyond(before, after)), 0)


def holds(proposal: Proposal, before: Assessment, after: Assessment) -> bool:
    """Return whether the judge finds the statements worth their words."""
    least = MIN_GAIN if any(part.has_words for part in proposal.parts) else 0
    is_higher = not (before.score and after.score) or after.score.tdqs - before.score.tdqs >= least
    return is_higher and is_improvement(before, after)


def without_lowering(proposal: Proposal, before: Assessment, after: Assessment) -> Proposal:
    """Return the proposal without its last words that are not the author's, where the tool scores lower with it."""
    own = [part for part in proposal.parts if part.has_words and part.route not in AUTHOR]
    is_lower = before.score and after.score and after.score.tdqs < before.score.tdqs
    return (
        proposal.only(tuple(part for part in proposal.parts if part is not own[-1])) if own and is_lower else proposal
    )


def admit(proposal: Proposal) -> Proposal:
    """The proposal without what the format of the definition has no field for."""
    is_mcp = proposal.subject.tool.is_mcp
    parts = (part for part in proposal.parts if is_mcp or split_pointer(part.path)[0] in _COMMON_FIELDS)
    return proposal.only(tuple(parts))


def with_proposal(rewrite: Rewrite, proposal: Proposal, before: Assessment, checker: DraftChecker) -> Rewrite:
    """A rewrite of the definition that has the author's words already, as one of the definition without them."""
    conflicts = {conflict.source: conflict.other for conflict in checker.conflicts(proposal.subject)}
    own = (
        replace(
            part.claim(), conflict=next((conflicts[source] for source in part.sources if source in conflicts), None)
        )
        for part in proposal.parts
    )
    raw, by_path = proposal.subject.tool.raw, _sources_by_path(proposal)
    for change in rewrite.changes:
        by_path.setdefault(change.path, []).extend(change.sources)
    return replace(
        rewrite,
        original=raw,
        before=before.score,
        tokens_before=signals.definition_tokens(raw),
        claims=(*own, *rewrite.claims),
        changes=_changes(raw, rewrite.definition, by_path),
    )


def _sources_by_path(proposal: Proposal) -> dict[str, list[str]]:
    """Return what the new values rest on, by path; the description first, which rests on the old one too."""
    by_path: dict[str, list[str]] = {}
    if proposal.subject.tool.description and any(part.path == "/description" for part in proposal.parts):
        by_path["/description"] = ["description"]
    for part in proposal.parts:
        by_path.setdefault(part.path, []).extend(part.sources)
    return by_path


UNASSESSED = Assessment(score=None, findings=())


def review(proposal: Proposal, *, before: Assessment = UNASSESSED, after: Assessment = UNASSESSED) -> Rewrite:
    """An offline rewrite with its claims and scores.

    What it does to findings, only the catalog that has all rewrites can show.
    """
    tool = proposal.subject.tool
    definition = proposal.definition
    return Rewrite(
        index=tool.index,
        name=tool.name,
        original=tool.raw,
        definition=definition,
        changes=_changes(tool.raw, definition, _sources_by_path(proposal)),
        questions=(),
        before=before.score,
        after=after.score,
        tokens_before=signals.definition_tokens(tool.raw),
        tokens_after=signals.definition_tokens(definition),
        claims=tuple(part.claim() for part in proposal.parts),
    )


def reworded(draft: Rewrite, subject: Subject, outcome: CheckedDraft | Failure, *, writer: str) -> Rewrite:
    """The rewrite with another writer's words, not scored yet; the offline draft with the reason if there are none.

    A sentence that the offline draft has too keeps its sources.
    """
    if isinstance(outcome, Failure):
        return replace(draft, setback=outcome.reason, was_written=outcome.fault == REFUSED)
    definition = outcome.definition
    offline = {plain_text(claim.text): claim for claim in draft.claims}
    claims = [claim if claim.sources else offline.get(plain_text(claim.text), claim) for claim in outcome.claims]
    by_path: dict[str, list[str]] = {edit.path: [] for edit in list_edits(subject.tool.raw, definition)}
    for claim in claims:
        by_path.get(claim.path, []).extend(claim.sources)
    return replace(
        draft,
        definition=definition,
        tokens_after=signals.definition_tokens(definition),
        writer=writer,
        claims=tuple(claims),
        refused=outcome.refused,
        dropped=outcome.dropped,
        changes=_changes(subject.tool.raw, definition, by_path),
    )


def better(rewrite: Rewrite, draft: Rewrite, before: Assessment, after: Assessment, *, is_judged: bool) -> Rewrite:
    """Another writer's rewrite; the offline draft where a named judge prefers it.

    A text that was handed in is never exchanged, and no text is for the offline judge's score.
    """
    if rewrite.writer == draft.writer:
        return rewrite
    scored = replace(rewrite, after=after.score, unjudged=draft.unjudged or after.unjudged)
    setback = _objection(scored, draft, before, after) if is_judged and rewrite.writer != DRAFT else None
    best = scored if setback is None else replace(draft, setback=setback)
    return replace(best, refused=rewrite.refused, unjudged=scored.unjudged)


def _objection(rewrite: Rewrite, draft: Rewrite, before: Assessment, after: Assessment) -> str | None:
    """Why the named judge prefers the offline draft."""
    if rewrite.after is None or draft.after is None:
        return "the judge gave it no score to compare with"
    if not is_improvement(before, after):
        return "it scores lower than the definition that it would replace, or brings a finding as bad as any it removes"
    if rewrite.after.tdqs < draft.after.tdqs:
        return f"it scores {rewrite.after.tdqs / 10}, the offline draft {draft.after.tdqs / 10}"
    return None


def conclude(
    rewrites: Sequence[Rewrite],
    improved: Measured,
    findings: Sequence[Finding],
    checker: DraftChecker,
    *,
    before: Mapping[int, Assessment],
) -> list[Rewrite]:
    """The rewrites with what only the catalog with all of them shows, and the material that they do not use."""
    scores = {rewrite.index: rewrite.after for rewrite in rewrites if rewrite.after}
    after = assess(improved, scores, findings)
    rewrites = [_held_against_code(item, _beyond(after[item.index], before[item.index])) for item in rewrites]
    subjects = {subject.tool.index: subject for subject in improved.subjects}
    answered = {place for subject in checker.subjects.values() for place in _answered(subject, checker)}
    questions: dict[str, list[Question]] = {}
    context = CatalogContext.of(checker.measured)
    listed_parameters = {source.parameter for sources in context.sources.values() for source in sources}
    answered |= set(_sibling_answers(improved, listed_parameters))
    lookup = shared_lookup(checker.measured, context)
    versions = {rewrite.index: (before[rewrite.index], after[rewrite.index]) for rewrite in rewrites}
    codes = {subject.tool.index: code for subject, code in coded(checker.measured)}
    for question in find_questions(improved, findings, scores, answered=answered):
        for name in dict.fromkeys(question.tools):
            questions.setdefault(name, []).append(question)
    return [
        replace(
            rewrite,
            questions=(
                *_conflict_questions(checker.subjects[rewrite.index], checker),
                *_code_questions(subjects[rewrite.index], codes.get(rewrite.index), versions[rewrite.index], answered),
                *questions.get(rewrite.name, ()),
            ),
            for_instructions=lookup,
            components=describe_components(subjects[rewrite.index]),
            findings_removed=tuple(finding.rule for finding in _beyond(before[rewrite.index], after[rewrite.index])),
            findings_added=tuple(finding.rule for finding in _beyond(after[rewrite.index], before[rewrite.index])),
            unused=tuple(
                unused
                for unused in _reasons(checker.subjects[rewrite.index], rewrite, checker)
                if unused.source not in rewrite.sources
            ),
        )
        for rewrite in rewrites
    ]


AGAINST_CODE = frozenset({"TDQ801", "TDQ802", "TDQ803", "TDQ808", "TDQ809"})
"""Rules whose findings hold words of a definition against its code."""


def _held_against_code(rewrite: Rewrite, added: Iterable[Finding]) -> Rewrite:
    """The rewrite with what the code proves against another writer's new words, as findings that it adds have it."""
    claims = rewrite.claims
    for finding in added:
        near = [claim for claim in claims if claim.path.startswith(finding.subject.path)]
        disproven = [claim for claim in near if repr(claim.text) in finding.message] or near
        if finding.rule in AGAINST_CODE and rewrite.writer != OFFLINE:
            claims = tuple(
                replace(claim, conflict=finding.message) if claim in disproven else claim for claim in claims
            )
    return replace(rewrite, claims=claims)


def _sibling_answers(measured: Measured, listed: AbstractSet[str]) -> Iterator[tuple[str, str]]:
    """The tool with each parameter that a sibling of its name and type describes, written or not, or that one lists.

    An `id` alone is of another thing in each tool.
    """
    namesakes = documented_parameters(subject.tool for subject in measured.subjects if subject.is_quotable)
    bare = words_from("rewriting", "identifiers")
    for subject in measured.subjects:
        for name, schema in arguments.properties(subject.tool).items():
            if ((name, type_of(schema)) in namesakes or name in listed) and name.lower() not in bare:
                yield subject.tool.name, f"{PARAMETERS}{name}"


def _answered(subject: Subject, checker: DraftChecker) -> Iterator[tuple[str, str]]:
    """The tool with each of its places that the author has answered, or that another question names with two sides."""
    yield from ((subject.tool.name, conflict.place) for conflict in checker.conflicts(subject) if conflict.place)
    for fact in checker.material(subject).facts:
        objection = find_objection(fact, subject) if fact.place else TOLD
        if fact.place and objection in (None, TOLD, WHOLE_SERVER):
            yield subject.tool.name, fact.place


def with_gain(rewrite: Rewrite, error: tuple[int, int, int]) -> Rewrite:
    """The rewrite with the change of its TDQS, corrected by the judge's error in changes.

    `error` is the mean, the lower and the upper end of how far the judge's gains are off, in hundredths of TDQS.
    Where the judge sees no gain, none is claimed.
    """
    if not rewrite.changes or rewrite.before is None or rewrite.after is None:
        return rewrite
    change = 10 * (rewrite.after.tdqs - rewrite.before.tdqs)
    if change <= 0:
        return rewrite
    gain = Gain(expected=change + error[0], low=change + error[1], high=change + error[2])
    return replace(rewrite, gain=gain)


def _conflict_questions(subject: Subject, checker: DraftChecker) -> list[Question]:
    """A question for each pair of statements of which only one can hold."""
    name = subject.tool.name
    by_question = {conflict.question: conflict.source for conflict in reversed(checker.conflicts(subject))}
    return [_conflict_question(name, source.replace(" ", "-"), text) for text, source in reversed(by_question.items())]


def _code_questions(
    subject: Subject,
    code: ToolCode | None,
    versions: tuple[Assessment, Assessment],
    answered: AbstractSet[tuple[str, str]],
) -> Iterator[Question]:
    """Yield a question for what the code disproves, though not so surely that the rewrite corrects it.

    A sentence stays as it is where the hint that said the same has been corrected: its author decides.
    """
    name = subject.tool.name
    fields = find_other_fields(subject, code) if code else ""
    contradictions: dict[str, str] = {QuestionTopic.RETURNS: fields} if fields else {}
    before, after = versions
    for finding in after.findings:
        place = finding.subject.path.rpartition("/")[2]
        is_disproof = finding.rule in _DISPROOFS and (finding.rule, finding.severity) not in _INSIDE
        if is_disproof and (name, f"{ANNOTATIONS}{place}") not in answered:
            contradictions.setdefault(place, finding.message)
    corrected = [finding for finding in _beyond(before, after) if finding.rule == "TDQ801"]
    denials = [sentence for sentence in subject.prose.sentences if says_only_reading(sentence)]
    if corrected and denials:
        proof = corrected[0].message.partition(", but ")[2]
        contradictions.setdefault("description", f"{denials[0]!r}, but {proof}")
    for place, contradiction in contradictions.items():
        yield _conflict_question(name, place, f"`{name}`: {contradiction}: which of them holds?")


def _conflict_question(name: str, place: str, text: str) -> Question:
    return Question(
        id=f"{name}.{QuestionTopic.CONFLICT}.{place}",
        text=text,
        about=QuestionTopic.CONFLICT,
        tools=(name,),
        parameter=None,
        gain=0,
    )


_DISPROOFS = AGAINST_CODE | {"TDQ804"}
_INSIDE = frozenset({("TDQ801", Severity.INFO)})
"""Findings about what changes in the server's memory alone."""


def _beyond(own: Assessment, other: Assessment) -> list[Finding]:
    """The findings that the other does not have at this severity."""
    rules = {(finding.rule, finding.severity) for finding in other.findings}
    return [finding for finding in own.findings if (finding.rule, finding.severity) not in rules]


def _worst(findings: Sequence[Finding]) -> int:
    return max((finding.severity.rank for finding in findings), default=-1)


def _changes(
    raw: Mapping[str, Any], definition: Mapping[str, Any], sources: Mapping[str, Sequence[str]]
) -> tuple[Change, ...]:
    """The changed fields with what the new values rest on."""
    return tuple(
        Change(
            path=path,
            before=value_at(raw, path),
            after=value_at(definition, path),
            sources=tuple(dict.fromkeys(sources[path])),
        )
        for path in sources
    )


_GUIDING = frozenset({Cue.WHEN, Cue.WHEN_NOT, Cue.ALTERNATIVE, Cue.PREREQUISITE})
_LIMITING = frozenset({Cue.DESTRUCTION, Cue.SAFETY, Cue.SIDE_EFFECT, Cue.PERMISSION, Cue.LIMIT, Cue.ERROR, Cue.TIMING})


def describe_components(subject: Subject) -> dict[Component, str]:
    """The sentences of a definition by what they are about, in their order; a sentence belongs to one component."""
    texts: dict[Component, list[str]] = {}
    explained = {
        parameter.name: parameter.description
        for parameter in subject.signals.parameters
        if parameter.description.strip()
    }
    siblings = set(map(str.lower, subject.mentions))
    for place, text in enumerate(subject.prose.sentences):
        texts.setdefault(_component(subject, place, siblings), []).append(text)
    if explained:
        texts.setdefault(Component.PARAMETERS, []).extend(f"{name}: {text}" for name, text in explained.items())
    return {component: "\n".join(texts[component]) for component in Component if component in texts}


def _component(subject: Subject, place: int, siblings: set[str]) -> Component:  # noqa: PLR0911  # one line a component
    prose = subject.prose
    words, cues = prose.spoken[place], {cue for cue, places in prose.cue_places.items() if place in places}
    if words[:1] and words[0].startswith("example"):
        return Component.EXAMPLES
    if place == 0:
        return Component.PURPOSE
    if not siblings.isdisjoint(words) or cues & _GUIDING:
        return Component.GUIDELINES
    named = identifiers_of(prose.sentences[place]) & {
        parameter.name.lower() for parameter in subject.signals.parameters
    }
    if named or Cue.FORMAT in cues:
        return Component.PARAMETERS
    if Cue.EXAMPLE in cues:
        return Component.EXAMPLES
    if cues & _LIMITING:
        return Component.LIMITATIONS
    return Component.PURPOSE


def _reasons(subject: Subject, rewrite: Rewrite, checker: DraftChecker) -> Iterator[Unused]:
    """Why a rewrite would not name it, for every fact, trace and text about its tool."""
    material, conflicts = checker.material(subject), {item.source: item.other for item in checker.conflicts(subject)}
    for fact in material.facts:
        other = conflicts.get(fact.source)
        reason = f"it cannot stand beside this: {other}" if other else find_objection(fact, subject)
        yield Unused(source=fact.source, reason=reason or _left_out(rewrite))
    for trace in material.traces:
        statement = author_material.trace_statement(trace)
        is_told = statement is not None and author_material.is_told(statement.sentence, subject)
        yield Unused(source=f"trace {trace.number}", reason=TOLD if is_told else UNTOLD)
    if material.docs.strip():
        is_shown = rewrite.writer != OFFLINE
        yield Unused(source="docs", reason=_left_out(rewrite) if is_shown else "only a model's writer draws on them")


UNTOLD = "of recorded calls the shortest that succeed, and short plain errors, are shown, without private values"
"""Why a recorded call is in no definition."""


def _left_out(rewrite: Rewrite) -> str:
    if rewrite.writer != OFFLINE:
        return "the writer's words do not rest on it"
    return "it does not fit into the tokens to grow by, or the judge finds the definition worse with it"
