"""Better definitions: rewrite, fix, compare, and write files and patches."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tdqs_mcp.app.judging import guarded, score, score_measured
from tdqs_mcp.app.linting import DEFAULT_POLICY, Policy, find
from tdqs_mcp.errors import InputError, UnknownIdError, UnmeasurableError
from tdqs_mcp.facts.spelling import some_names
from tdqs_mcp.facts.subject import Measured, measure
from tdqs_mcp.facts.threats import first_aimed_at_model
from tdqs_mcp.judges.judge import Failure, Judge, Model, VerdictCache
from tdqs_mcp.judges.offline import Offline, calibration
from tdqs_mcp.model import NOTHING, Catalog, Material
from tdqs_mcp.results.comparisons import Comparison
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.improvements import (
    DRAFT,
    GROWTH,
    OFFLINE,
    Patch,
    Question,
    Rewrite,
    RewriteReport,
)
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.tool_code import CodeReport
from tdqs_mcp.results.verdicts import Ungraded
from tdqs_mcp.rewriting import catalog_diff, rewrite_review
from tdqs_mcp.rewriting.author_material import WHOLE_SERVER, assign_places, find_objection, material_statements
from tdqs_mcp.rewriting.code_statements import code_statements
from tdqs_mcp.rewriting.definition_parts import propose
from tdqs_mcp.rewriting.draft_checks import DraftChecker
from tdqs_mcp.rewriting.proposals import Proposal, apply
from tdqs_mcp.rewriting.questions import find_questions
from tdqs_mcp.rewriting.repetition import credited, describe, describe_common, find_repetitions
from tdqs_mcp.rewriting.rewrite_review import Assessment
from tdqs_mcp.rewriting.targets import drop_unneeded, find_goal, read_target
from tdqs_mcp.rewriting.text_patches import apply_changes, find_fixes, patch_json, write_json
from tdqs_mcp.rewriting.value_sources import borrowed_statements
from tdqs_mcp.rules import registry
from tdqs_mcp.scoring.rollup import DEFAULT_SPEC
from tdqs_mcp.scoring.score import finish, tool_cases
from tdqs_mcp.sources.files import read_bytes, write_bytes
from tdqs_mcp.sources.locator import File, parse_locator

_NO_DRAFTS: Mapping[str, Mapping[str, Any]] = {}

UNSHOWN = "the definition addresses the model that reads it ({!r}), so no model was asked; remove these words"


async def rewrite(
    catalog: Catalog | Measured,
    *,
    tools: Sequence[str] | None = None,
    growth: int = GROWTH,
    material: Material = NOTHING,
    writer: Model | None = None,
    drafts: Mapping[str, Mapping[str, Any]] = _NO_DRAFTS,
    code: CodeReport | None = None,
    judge: Judge | None = None,
    spec: str = DEFAULT_SPEC,
) -> list[Rewrite]:
    """A better definition for every tool that can be measured, or for the named ones, checked.

    A proposal that scores lower or adds a finding as bad as those it removes loses parts, the least certain first,
    until it holds. A `writer` then words each of them anew, without what the checks refuse; a judge other than the
    offline one may prefer the proposal. `drafts` are definitions, or changed fields of them, that somebody has written
    for the tools of these names: they get the same checks and are the rewrites. No definition grows by more than
    `growth` tokens, but for those, and by as many for what `code` shows, which comes first as the author's words do.
    The judge sees the chosen tools, then those of their new definitions that differ.
    Raises UnknownIdError, UnmeasurableError for a named tool that has no facts, and InputError for material about a
    tool that is not there.
    """
    measured, judge = catalog if isinstance(catalog, Measured) else measure(catalog), judge or Offline()
    measured = replace(measured, code=code) if code else measured
    drafts = _changed_drafts(drafts, measured.catalog, tools) if drafts else drafts
    named, findings = _chosen_indices(measured, tools or (tuple(drafts) or None)), registry.check(measured)
    # What a rewrite may say depends on the other rewrites, so the offline judge, which costs nothing, reads them all.
    chosen = named | _chosen_indices(measured, None) if judge.stamp.is_offline else named
    material = assign_places(material, measured) if material != NOTHING else NOTHING
    checker = DraftChecker(measured, material)
    before = await _assess(measured, chosen, findings, judge=judge, spec=spec)
    fixes = _fix_proposals(
        measured,
        findings,
        chosen - {subject.tool.index for subject in measured.subjects if subject.tool.name in drafts},
    )
    grade = partial(_grade_proposed, judge=judge, spec=spec)
    fixed, fixed_findings, own = await grade(measured, fixes, findings, before)
    settled = _settled_proposals(fixed, chosen, checker, growth=growth)
    start, latest_findings, base = await grade(fixed, settled, fixed_findings, own)
    shorten = rewrite_review.without_lowering
    while settled != (shorter := {i: shorten(part, own[i], base[i]) for i, part in settled.items()}):
        settled = shorter
        start, latest_findings, base = await grade(fixed, settled, fixed_findings, own)
    proposals = [rewrite_review.admit(item) for item in propose(start, growth=growth)]
    rewrites, tried = await _accept_proposals(start, proposals, base, findings=latest_findings, judge=judge, spec=spec)
    for stage in (settled, fixes):
        rewrites = [
            rewrite_review.with_proposal(item, stage[item.index], before[item.index], checker)
            if item.index in stage
            else item
            for item in rewrites
        ]
    if writer is not None or drafts:
        rewrites = [rewrite for rewrite in rewrites if rewrite.index in named]
        worded = [_with_draft(item, drafts, checker) for item in rewrites]
        if writer is not None:
            questions = find_questions(measured, findings, {index: item.score for index, item in before.items()})
            worded = await _reword(measured, worded, checker, growth=growth, writer=writer, questions=questions)
        rewrites, tried = await _choose_better(measured, worded, rewrites, before, judge=judge, spec=spec), None
    if tried is None:
        improved = _measure_proposed(measured, rewrites)
        tried = improved, registry.check(improved)
    rewrites = await _credit(measured, rewrites, judge=judge, spec=spec)
    concluded = rewrite_review.conclude(rewrites, *tried, checker, before=before)
    concluded = [rewrite for rewrite in concluded if rewrite.index in named]
    stamp = judge.stamp
    is_known = stamp.is_offline and stamp.calibration is not None and any(item.changes for item in concluded)
    if not is_known:
        return concluded
    error = calibration(stamp.calibration or "").change_error
    return [rewrite_review.with_gain(rewrite, error) for rewrite in concluded]


async def _credit(measured: Measured, rewrites: Sequence[Rewrite], *, judge: Judge, spec: str) -> list[Rewrite]:
    """Score definitions with a sentence that stands in several tools again, without it but for the first of them."""
    improved = with_rewrites(measured.catalog, rewrites)
    repetitions = find_repetitions(measured.catalog, improved)
    if not repetitions:
        return list(rewrites)
    repeating, counted = {item.index for item in repetitions}, credited(improved, repetitions)
    scores = await _assess(measure(counted, earlier=measured), repeating, (), judge=judge, spec=spec)
    return [
        replace(rewrite, after=scores[rewrite.index].score)
        if rewrite.after and rewrite.index in scores and scores[rewrite.index].score
        else rewrite
        for rewrite in rewrites
    ]


def find_objections(measured: Measured, material: Material) -> dict[str, str]:
    """Return why an entry of the material is in no definition, by its origin. Raises InputError, as `rewrite`."""
    subjects = {subject.tool.name: subject for subject in measured.subjects}
    facts = (fact for fact in assign_places(material, measured).facts if fact.tool in subjects)
    reasons = {fact.source: find_objection(fact, subjects[fact.tool or ""]) for fact in facts}
    return {source: reason for source, reason in reasons.items() if reason and reason != WHOLE_SERVER}


def _fix_proposals(measured: Measured, findings: list[Finding], indices: AbstractSet[int]) -> dict[int, Proposal]:
    """Return the certain fixes for some tools, as `lint --fix` makes them, by their tool's index."""
    fixes = find_fixes(measured, lambda version: findings if version is measured else registry.check(version))
    proposals = [rewrite_review.admit(proposal) for proposal in fixes if proposal.index in indices]
    return {proposal.index: proposal for proposal in proposals if proposal.parts}


def with_rewrites(catalog: Catalog, rewrites: Sequence[Rewrite]) -> Catalog:
    """The catalog with its tools' new definitions."""
    return apply(catalog, {rewrite.index: rewrite.definition for rewrite in rewrites})


async def _grade_proposed(
    measured: Measured,
    proposals: Mapping[int, Proposal],
    findings: list[Finding],
    assessed: Mapping[int, Assessment],
    *,
    judge: Judge,
    spec: str,
) -> tuple[Measured, list[Finding], Mapping[int, Assessment]]:
    """Return the catalog with proposals that stand, its findings and its scores; all as they are without any."""
    if not proposals:
        return measured, findings, assessed
    proposed = _measure_proposed(measured, list(proposals.values()))
    findings = registry.check(proposed)
    return (
        proposed,
        findings,
        {**assessed, **await _assess(proposed, proposals.keys(), findings, judge=judge, spec=spec)},
    )


def _settled_proposals(
    measured: Measured, chosen: AbstractSet[int], checker: DraftChecker, *, growth: int
) -> dict[int, Proposal]:
    """Return the author's words, then what code and siblings say, by the tool's index."""
    proven = code_statements(measured, growth=growth)
    borrowed = borrowed_statements(measured)
    proposals = []
    for subject in measured.subjects:
        if subject.tool.index in chosen:
            disproven = checker.conflicting(subject)
            parts = material_statements(subject, checker.material(subject), disproven=disproven)
            paths = {part.path for part in parts} - {"/description"}
            more = [part for part in proven.get(subject.tool.index, ()) if part.path not in paths]
            paths |= {part.path for part in more}
            more += [part for part in borrowed.get(subject.tool.name, ()) if part.path not in paths]
            proposals.append(rewrite_review.admit(Proposal(subject=subject, parts=(*parts, *more))))
    return {proposal.index: proposal for proposal in proposals if proposal.parts}


async def _accept_proposals(
    measured: Measured,
    proposals: list[Proposal],
    before: Mapping[int, Assessment],
    *,
    findings: list[Finding],
    judge: Judge,
    spec: str,
) -> tuple[list[Rewrite], tuple[Measured, list[Finding]] | None]:
    """The proposals for the tools in `before`, without the parts with which a tool would do worse, as rewrites.

    Beside them the catalog that has just these rewrites, and its findings, where it has been measured already.
    """
    after, improved = dict(before), measured
    unjudged = {index: draft.unjudged for index, draft in before.items() if draft.unjudged}
    accepted = [proposal if proposal.index in before else proposal.only(()) for proposal in proposals]
    doubtful = [proposal for proposal in accepted if proposal.parts]
    is_measured = not doubtful
    while doubtful:
        improved = _measure_proposed(improved, accepted)
        findings, tried = registry.check(improved), {draft.index for draft in doubtful}
        after |= await _assess(improved, tried, findings, judge=judge, spec=spec)
        unjudged = {index: why for index in tried if (why := after[index].unjudged)} | unjudged
        failed = {
            draft.index
            for draft in doubtful
            if not rewrite_review.holds(draft, before[draft.index], after[draft.index])
        }
        accepted = [draft.only(draft.parts[:-1]) if draft.index in failed else draft for draft in accepted]
        gone = {draft.index for draft in accepted if draft.index in failed and not draft.parts}
        after |= {index: before[index] for index in gone}
        doubtful = [draft for draft in accepted if draft.index in failed - gone]
        is_measured = not failed
    rewrites = [
        replace(
            rewrite_review.review(draft, before=before[draft.index], after=after[draft.index]),
            unjudged=unjudged.get(draft.index),
        )
        for draft in accepted
        if draft.index in before
    ]
    return rewrites, (improved, findings) if is_measured else None


async def _choose_better(
    measured: Measured,
    worded: Sequence[Rewrite],
    drafts: Sequence[Rewrite],
    before: Mapping[int, Assessment],
    *,
    judge: Judge,
    spec: str,
) -> list[Rewrite]:
    """The better of each draft and a model's wording of it, as the judge scores them."""
    improved, tried = (
        _measure_proposed(measured, worded),
        {candidate.index for candidate in worded if candidate.writer != OFFLINE},
    )
    after = {**before, **await _assess(improved, tried, registry.check(improved), judge=judge, spec=spec)}
    pairs = zip(worded, drafts, strict=True)
    is_judged = not judge.stamp.is_offline
    return [
        rewrite_review.better(new, old, before[new.index], after[new.index], is_judged=is_judged) for new, old in pairs
    ]


def _changed_drafts(
    drafts: Mapping[str, Mapping[str, Any]], catalog: Catalog, tools: Sequence[str] | None
) -> dict[str, Mapping[str, Any]]:
    """The drafts for the named tools that differ from their definitions. Raises InputError where none does."""
    definitions = {tool.name: tool.raw for tool in catalog.tools}
    changed = {
        name: draft for name, draft in drafts.items() if definitions.get(name) != {**definitions.get(name, {}), **draft}
    }
    if not changed:
        raise InputError("the drafts are the definitions as they are: change their texts, then hand them in again")
    chosen = {name: draft for name, draft in changed.items() if not tools or name in tools}
    if not chosen:
        raise InputError(f"no draft changes {some_names(tools or ())}; they are for {some_names(changed)}")
    return chosen


def _with_draft(draft: Rewrite, drafts: Mapping[str, Mapping[str, Any]], checker: DraftChecker) -> Rewrite:
    """The rewrite with the definition that was handed in for its tool, checked; as it is where there is none."""
    if draft.name not in drafts:
        return draft
    subject = checker.subjects[draft.index]
    checked = checker.check_draft(subject, drafts[draft.name], withholds_conflicts=False)
    return rewrite_review.reworded(draft, subject, checked, writer=DRAFT)


def _measure_proposed(measured: Measured, proposed: Sequence[Proposal] | Sequence[Rewrite]) -> Measured:
    """The catalog with the proposed definitions; what they leave as it was is not measured again."""
    definitions = {proposal.index: proposal.definition for proposal in proposed}
    return measure(apply(measured.catalog, definitions), earlier=measured)


async def _reword(
    measured: Measured,
    drafts: Sequence[Rewrite],
    checker: DraftChecker,
    *,
    growth: int,
    writer: Model,
    questions: Sequence[Question],
) -> list[Rewrite]:
    """The offline drafts in a model's words, unscored; one that the model gave no words for stays, with the reason.

    What speaks to the model that reads it is not shown to one.
    """
    from tdqs_mcp.rewriting import model_writer as writing  # noqa: PLC0415  # validation, which the offline writer goes without

    subjects = {subject.tool.index: subject for subject in measured.subjects}
    offline = [draft for draft in drafts if draft.writer == OFFLINE]
    addressed = {
        candidate.index: words
        for candidate in offline
        if (words := first_aimed_at_model(subjects[candidate.index].threats))
    }
    safe = [candidate for candidate in offline if candidate.index not in addressed]
    work = writing.jobs(measured, safe, checker, questions)
    written = await writing.write(work, model=writer, checker=checker, growth=growth)
    outcomes = {candidate.index: outcome for candidate, outcome in zip(safe, written, strict=True)}
    outcomes |= {index: Failure(reason=UNSHOWN.format(words)) for index, words in addressed.items()}
    return [
        rewrite_review.reworded(draft, subjects[draft.index], outcomes[draft.index], writer=writer.name)
        if draft.index in outcomes
        else draft
        for draft in drafts
    ]


def _chosen_indices(measured: Measured, tools: Sequence[str] | None) -> set[int]:
    """The indices of the named tools; if none is named, of all that can be measured and may be called."""
    names = {tool.name for tool in measured.catalog.tools}
    for name in tools or ():
        if name not in names:
            raise UnknownIdError(f"there is no tool {name!r}; the catalog has {some_names(measured.names)}")
    for unmeasured in measured.unmeasured:
        if unmeasured.tool.name in (tools or ()):
            raise UnmeasurableError(f"{unmeasured.tool.name!r} cannot be rewritten: {unmeasured.reason}")
    return {
        subject.tool.index
        for subject in measured.subjects
        if (subject.withdrawal is None if tools is None else subject.tool.name in tools)
    }


async def _assess(
    measured: Measured, indices: AbstractSet[int], findings: Sequence[Finding], *, judge: Judge, spec: str
) -> dict[int, Assessment]:
    """Scores and findings of some tools of a catalog; the judge sees the others only as context."""
    part = replace(measured, subjects=tuple(subject for subject in measured.subjects if subject.tool.index in indices))
    unjudged = Ungraded(judge=judge.stamp.id, reason="a rewrite has no coherence")
    # which sentences are templates only the whole catalog tells
    verdicts = await guarded(judge).grade([replace(case, measured=measured) for case in tool_cases(part)])
    finished = finish(part, verdicts=verdicts, coherence=unjudged, judge=judge.stamp, spec=spec)
    scores = {tool.index: tool for tool in finished.tools}
    reasons = {tool.index: tool.ungraded.reason for tool in finished.ungraded}
    return rewrite_review.assess(part, scores, findings, unjudged=reasons)


async def reach_target(
    catalog: Catalog | Measured,
    rewrites: Sequence[Rewrite],
    *,
    target: str,
    origin: Catalog | None = None,
    judge: Judge | None = None,
    spec: str = DEFAULT_SPEC,
) -> RewriteReport:
    """Keep the rewrites that a tier or an overall score needs, and choose the questions whose answers it needs.

    `origin` is the catalog before all drafts, where this one has some: what they repeat counts once.
    What the target can do without goes, the most tokens per gain first, if the server's score with the rest still
    reaches it; where all rewrites do not, all stay. Raises InputError for an unknown target, and without an overall
    score.
    """
    goal, judge = read_target(target), VerdictCache(judge=judge or Offline())
    measured = catalog if isinstance(catalog, Measured) else measure(catalog)
    before = await score_measured(measured, judge=judge, spec=spec)
    if before.rollup.overall is None:
        ungraded = before.coherence.reason if isinstance(before.coherence, Ungraded) else "too few tools have a score"
        raise InputError(
            f"without an overall score no target can be reached: {measured.catalog.incomplete or ungraded}"
        )
    after = await score_measured(_measure_credited(measured, rewrites, origin), judge=judge, spec=spec)
    remaining = list(rewrites)
    if (after.rollup.overall or 0) >= goal:
        fewer = drop_unneeded(after, rewrites, target=goal)
        trial = await score_measured(_measure_credited(measured, fewer, origin), judge=judge, spec=spec)
        if (trial.rollup.overall or 0) >= goal:
            remaining, after = fewer, trial
    spare = sum(bool(rewrite.changes) for rewrite in rewrites) - sum(bool(rewrite.changes) for rewrite in remaining)
    reached = replace(find_goal(before, after, remaining, target=goal), spare=spare)
    return RewriteReport(**measured.catalog.origin, rewrites=tuple(remaining), goal=reached, spec_version=spec)


def _measure_credited(measured: Measured, rewrites: Sequence[Rewrite], origin: Catalog | None) -> Measured:
    """Return the catalog with the rewrites as it is scored: a sentence that several tools get counts once."""
    improved = with_rewrites(measured.catalog, rewrites)
    return measure(credited(improved, find_repetitions(origin or measured.catalog, improved)), earlier=measured)


async def score_drafted(
    origin: Catalog, catalog: Catalog, *, judge: Judge | None = None, policy: Policy = DEFAULT_POLICY
) -> ServerScore:
    """Return a catalog's score, in which a sentence that is new since `origin` counts for one tool.

    Where this lowers a tool, a sentence among the problems says so.
    """
    judge = VerdictCache(judge=judge or Offline())
    whole = await score(catalog, judge=judge, policy=policy)
    if common := describe_common(origin, catalog):
        whole = replace(whole, problems=(*whole.problems, common))
    repetitions = find_repetitions(origin, catalog)
    if not repetitions:
        return whole
    counted = await score(credited(catalog, repetitions), judge=judge, policy=policy)
    heights = {tool.index: tool.tdqs for tool in counted.tools}
    changes = {tool.index: tool.tdqs - heights.get(tool.index, tool.tdqs) for tool in whole.tools}
    costly = [repetition for repetition in repetitions if changes.get(repetition.index, 0) > 0]
    falls = {repetition.tool: changes[repetition.index] for repetition in costly}
    problems = (*whole.problems, describe(costly, falls)) if costly else whole.problems
    return replace(whole, tools=counted.tools, rollup=counted.rollup, problems=problems)


async def compare(
    old: Catalog, new: Catalog, *, is_draft: bool = False, code: CodeReport | None = None, judge: Judge | None = None
) -> Comparison:
    """Two versions of a catalog, or two definitions of one tool: scores, findings, tokens, and what breaks callers.

    With `code`, both are held against it. A sentence that several tools have, and that is new since the old version,
    raises the score of the first. In a draft for the same code, a hint that rules out less is a correction.
    """
    score_version = partial(score_drafted, old, judge=judge, policy=replace(DEFAULT_POLICY, code=code))
    return catalog_diff.compare(old, new, (await score_version(old), await score_version(new)), is_draft=is_draft)


def patch_file(path: Path, rewrites: Sequence[Rewrite]) -> tuple[Patch, Path]:
    """The patch of a JSON file that holds the definitions, and the folder to apply it in. Raises InputError."""
    content = read_bytes(path)
    whole, root = path.resolve(), Path.cwd().resolve()
    root = root if whole.is_relative_to(root) else whole.parent
    return patch_json(content, rewrites, name=whole.relative_to(root).as_posix()), root


def patch_sources(path: Path, rewrites: Sequence[Rewrite]) -> tuple[Patch, Path]:
    """Return the same for the source file or folder that declares the tools, which is read and never run.

    Raises InputError.
    """
    from tdqs_mcp.code.source_patches import patch_source  # noqa: PLC0415  # most runs read no code

    whole, here = path.resolve(), Path.cwd().resolve()
    folder = whole if whole.is_dir() else whole.parent
    root = here if folder.is_relative_to(here) else folder
    name = folder.relative_to(root).as_posix()
    return patch_source(whole, rewrites, prefix="" if name == "." else f"{name}/"), root


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """Definitions and changes that were written."""

    catalog: Catalog
    """The definitions with it."""

    place: Path
    changes: tuple[str, ...]
    """Each change that was written: the tool and the place in its definition."""

    patch: Patch


def fix(
    catalog: Catalog, locator: str, policy: Policy, *, source: Path | None = None, is_written: bool = True
) -> Fixed:
    """Fix what is certain among the findings, in the code at `source` or else in the locator's file or code.

    Raises InputError where there is no such file, or it cannot be written.
    """
    fixes = find_fixes(measure(catalog), lambda measured: find(measured, policy).findings)
    rewrites = list(map(rewrite_review.review, fixes))
    parsed = parse_locator(locator)
    if source is None and isinstance(parsed, File) and catalog.content is None:  # a folder or a file of code
        source = Path(parsed.path)
    if source is not None:
        patch, root = patch_sources(source, rewrites)
        files = {root / name: content for name, content in patch.files.items()}
        place = source
    else:
        if not isinstance(parsed, File) or parsed.path == "-" or catalog.content is None:
            raise InputError(f"--fix writes to a JSON file; for {locator!r}, name the Python code with --source")
        place = Path(parsed.path)
        content, left_out = write_json(catalog.content, rewrites)
        files, patch = {place: content}, patch_json(catalog.content, rewrites, name=parsed.path)
        patch = replace(patch, left_out=left_out, problems=())
    left = {(item.tool, item.path) for item in patch.left_out}
    applied = [
        (rewrite, [change for change in rewrite.changes if (rewrite.name, change.path) not in left])
        for rewrite in rewrites
    ]
    definitions = {rewrite.index: apply_changes(rewrite.original, changes) for rewrite, changes in applied}
    changes = tuple(f"{rewrite.name} {change.path}" for rewrite, changes in applied for change in changes)
    for path, content in files.items() if is_written and (source is not None or changes) else ():
        write_bytes(path, content)
    return Fixed(catalog=apply(catalog, definitions), place=place, changes=changes, patch=patch)
