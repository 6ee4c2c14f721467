"""The use cases, wired from the parts: what the command line, the MCP server and the library call."""

import os
import sys
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tdqs_mcp.configuration import Policy
from tdqs_mcp.errors import InputError, TdqsError, UnknownIdError, UnmeasurableError
from tdqs_mcp.facts import hostile, tokens
from tdqs_mcp.facts.subject import Measured, Subject, measure
from tdqs_mcp.facts.tokens import Cost
from tdqs_mcp.gate import suppress
from tdqs_mcp.judges import canary
from tdqs_mcp.judges.canary import Detector, Guarded
from tdqs_mcp.judges.judge import Judge, Model
from tdqs_mcp.judges.offline import Offline
from tdqs_mcp.judges.scorecard import versions
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.model.material import NOTHING, Material
from tdqs_mcp.model.results import (
    OFFLINE,
    CalibrationReport,
    GateRow,
    JudgeStamp,
    LabelScore,
    LintReport,
    Mode,
    Rewrite,
    Section,
    ServerGrade,
    ServerScore,
    SkillScore,
    Ungraded,
    Verdict,
)
from tdqs_mcp.pipeline import rewrite as rewriting
from tdqs_mcp.pipeline.rewrite import Standing
from tdqs_mcp.pipeline.rollup import SPECS
from tdqs_mcp.pipeline.score import finish, set_case, shadow_case, tool_cases
from tdqs_mcp.reporters.documents import prompts_document
from tdqs_mcp.reporters.explanation import dimension_page, rule_page, term_page
from tdqs_mcp.reporters.sited import Sited
from tdqs_mcp.rubrics.prompt import Case, SkillCase
from tdqs_mcp.rubrics.rubric import RUBRICS
from tdqs_mcp.rubrics.rubric import load as load_rubric
from tdqs_mcp.rules import registry
from tdqs_mcp.sources.load import parse as parse_json
from tdqs_mcp.sources.load import read_catalog, read_file
from tdqs_mcp.sources.locator import Config, File
from tdqs_mcp.sources.locator import parse as parse_locator
from tdqs_mcp.sources.options import LiveOptions
from tdqs_mcp.sources.positions import locate

if TYPE_CHECKING:
    from tdqs_mcp.gate.suite import Server, Suite
    from tdqs_mcp.gate.targets import Evidence
    from tdqs_mcp.model.comparison import Comparison
    from tdqs_mcp.model.mutation import Mutation
    from tdqs_mcp.model.plan import Plan, WhatIf
    from tdqs_mcp.model.selection import Query, Selection
    from tdqs_mcp.pipeline.patch import Patch
    from tdqs_mcp.pipeline.selectors import Selector
    from tdqs_mcp.pipeline.trial import Court

DEFAULT_SPEC = SPECS[0]
DEFAULT_POLICY = Policy()

Score = TypeVar("Score", ServerScore, LabelScore)


def addresses_judge(subject: Subject) -> str | None:
    """The words with which a definition speaks to its judge, or could make one obey; None where it does not."""
    if not hostile.addresses_judge(subject.tool):
        return None
    aimed = (threat for threat in hostile.threats(subject.tool.raw) if threat.ploy in hostile.AIMED_AT_A_MODEL)
    spoken = (threat.quote for threat in aimed if not threat.is_mild and any(map(str.isalpha, threat.quote)))
    return next(spoken, None)


async def load(locator: str, options: LiveOptions | None = None) -> Catalog:
    """The catalog that a locator names: a file, standard input, a live server or an object in this process.

    Raises InputError for what cannot be read and CaptureError for a server that does not list its tools in time.
    """
    parsed = parse_locator(locator)
    options = options or LiveOptions()
    if isinstance(parsed, File):
        if parsed.path == "-":
            return read_catalog(parse_json(sys.stdin.buffer.read(), origin="standard input"), name="stdin")
        return read_file(Path(parsed.path))
    from tdqs_mcp.sources import live  # noqa: PLC0415  # only a live server costs what a live server needs

    if isinstance(parsed, Config):
        from tdqs_mcp.sources import clients  # noqa: PLC0415

        found = clients.find(parsed.name, home=Path.home(), cwd=Path.cwd(), environ=os.environ)
        catalog = await live.capture(
            found.locator,
            replace(
                options,
                headers={**found.headers, **options.headers},
                env={**found.env, **options.env},
                cwd=options.cwd or found.cwd,
            ),
        )
        disabled = ("the client has this server disabled",) if found.is_disabled else ()
        return replace(catalog, source=locator, problems=(*disabled, *found.unresolved, *catalog.problems))
    return await live.capture(parsed, options)


async def load_object(server: object, options: LiveOptions | None = None) -> Catalog:
    """The catalog of a server object of this process. Raises InputError for any other object, and CaptureError."""
    from tdqs_mcp.sources import live  # noqa: PLC0415

    return await live.capture_object(server, options or LiveOptions())


def read(definitions: object, *, server: str = "inline") -> Catalog:
    """The catalog in parsed JSON of any shape that a file may have. Raises InputError."""
    return read_catalog(definitions, name=server)


def lint(catalog: Catalog, policy: Policy = DEFAULT_POLICY) -> LintReport:
    """The findings about a catalog that a policy asks for, and how many it hides and suppresses."""
    measured, selection = measure(catalog), policy.selection
    findings = tuple(registry.check(measured, selection))
    report = LintReport(
        server=catalog.server,
        version=catalog.version,
        source=catalog.source,
        tools=tuple(tool.name for tool in catalog.tools),
        findings=findings,
        problems=catalog.problems,
        hidden=registry.count_hidden(measured, selection, findings),
    )
    return suppress(report, policy.suppressions, rules=selection.rules)


def sited(report: LintReport, locator: str) -> Sited:
    """The report with the file that its locator names, for formats that show a finding where it was made."""
    parsed = parse_locator(locator)
    if not isinstance(parsed, File) or parsed.path == "-":
        return Sited(report=report)
    path = Path(parsed.path)
    try:
        positions = locate(path.read_bytes())
    except OSError:  # it was there a moment ago; the findings hold all the same
        positions = None
    return Sited(report=report, file=_below_cwd(path).as_posix(), positions=positions)


def under(policy: Policy, score: Score, catalog: Catalog) -> Score:
    """A catalog's score with the findings that a policy asks for; no number depends on them."""
    return score if policy == DEFAULT_POLICY else replace(score, findings=lint(catalog, policy).findings)


def costs(catalog: Catalog) -> list[tuple[str, Cost]]:
    """Each tool's name with its tokens and bytes by field; tools nested too deeply to be measured are left out."""
    return [(subject.tool.name, tokens.cost(subject.tool)) for subject in measure(catalog).subjects]


def grade(catalog: Catalog) -> ServerGrade:
    """A catalog's score of 100 and letter by MCP Playground's methodology."""
    from tdqs_mcp.pipeline import grade as grading  # noqa: PLC0415  # nothing but this needs it

    return grading.grade(measure(catalog))


def score_offline(catalog: Catalog, *, spec: str = DEFAULT_SPEC) -> ServerScore:
    """A catalog's score by the offline judge, with its findings; nothing is awaited."""
    measured, judge = measure(catalog), Offline()
    return _scored(measured, judge.verdicts(_cases(measured)), stamp=judge.stamp, spec=spec)


async def score(
    catalog: Catalog,
    *,
    judge: Judge | None = None,
    spec: str = DEFAULT_SPEC,
    addresses: Detector = addresses_judge,
) -> ServerScore:
    """A catalog's score, by the offline judge unless another is named, with its findings.

    `addresses` finds definitions
    that speak to their judge: they are named in the problems, and a verdict that facts do not support is withheld.
    """
    if judge is None:
        return score_offline(catalog, spec=spec)
    measured = measure(catalog)
    cases = _cases(measured)
    shadow = None if _is_offline(judge) else shadow_case(measured, spec=spec)
    graded = await _guarded(judge, addresses).grade([*cases, *([shadow] if shadow else [])])
    confirmed = graded[-1] if shadow else None
    whole = _scored(measured, graded[: len(cases)], stamp=judge.stamp, spec=spec, confirmed=confirmed)
    return whole if _is_offline(judge) else _flagged(whole, cases, addresses)


def score_answers(
    catalog: Catalog,
    answers: object,
    *,
    judge: JudgeStamp | None = None,
    spec: str = DEFAULT_SPEC,
    addresses: Detector = addresses_judge,
) -> ServerScore:
    """A catalog's score from answers to the published prompts that came from elsewhere. Raises InputError."""
    from tdqs_mcp.pipeline.answers import ANYBODY, match  # noqa: PLC0415  # validation: an import that lint never needs

    measured, stamp = measure(catalog), judge or ANYBODY
    answered = match(measured, answers, judge=stamp.id)
    cases = tool_cases(measured)
    finished = finish(
        measured,
        verdicts=canary.review(cases, answered.verdicts, addresses=addresses, judge=stamp.id),
        coherence=answered.coherence,
        judge=stamp,
        spec=spec,
        risks=() if spec == "1.0" else answered.risks,
    )
    whole = _with_findings(replace(finished, problems=finished.problems + answered.problems), measured)
    return _flagged(whole, cases, addresses)


async def score_labels(
    catalog: Catalog,
    *,
    rubric: str,
    judge: Judge | None = None,
    skill: str | None = None,
    spec: str = DEFAULT_SPEC,
    addresses: Detector = addresses_judge,
) -> LabelScore:
    """A catalog under a rubric that ends in labels, "smells" or "bundles", with its skill where the text is given."""
    from tdqs_mcp.pipeline import labels  # noqa: PLC0415  # what scoring by TDQS goes without

    judge, measured = judge or Offline(), measure(catalog)
    cases = tool_cases(measured, rubric=rubric)
    verdicts = await _guarded(judge, addresses).grade(cases)
    text = None if skill is None else await _skill(measured, skill, judge=judge)
    finished = labels.finish(measured, rubric=rubric, verdicts=verdicts, judge=judge.stamp, spec=spec, skill=text)
    whole = replace(finished, findings=tuple(registry.check(measured)))
    return whole if _is_offline(judge) else _flagged(whole, cases, addresses)


def score_label_answers(
    catalog: Catalog,
    answers: object,
    *,
    rubric: str,
    judge: JudgeStamp | None = None,
    spec: str = DEFAULT_SPEC,
    addresses: Detector = addresses_judge,
) -> LabelScore:
    """The same from answers that came from elsewhere. Raises InputError."""
    from tdqs_mcp.pipeline import labels  # noqa: PLC0415
    from tdqs_mcp.pipeline.answers import ANYBODY, match  # noqa: PLC0415

    measured, stamp = measure(catalog), judge or ANYBODY
    answered = match(measured, answers, judge=stamp.id, rubric=rubric)
    cases = tool_cases(measured, rubric=rubric)
    verdicts = canary.review(cases, answered.verdicts, addresses=addresses, judge=stamp.id)
    finished = labels.finish(measured, rubric=rubric, verdicts=verdicts, judge=stamp, spec=spec)
    whole = replace(finished, problems=finished.problems + answered.problems, findings=tuple(registry.check(measured)))
    return _flagged(whole, cases, addresses)


async def score_skill(catalog: Catalog, text: str, *, judge: Judge | None = None) -> SkillScore:
    """A server's skill text beside its tools."""
    return await _skill(measure(catalog), text, judge=judge or Offline())


def score_skill_answer(catalog: Catalog, text: str, answers: object, *, judge: JudgeStamp | None = None) -> SkillScore:
    """The same from an answer that came from elsewhere. Raises InputError."""
    from tdqs_mcp.pipeline import labels  # noqa: PLC0415
    from tdqs_mcp.pipeline.answers import ANYBODY, match_skill  # noqa: PLC0415

    measured, stamp = measure(catalog), judge or ANYBODY
    verdict = match_skill(SkillCase(text=text, measured=measured), answers, judge=stamp.id)
    return labels.finish_skill(measured, text, verdict, judge=stamp)


def to_be_judged(catalog: Catalog, *, rubric: str = "tdqs") -> list[Case]:
    """What a judge has to see: the tools that need one, and under "tdqs" the tool set and its shadow candidates."""
    measured = measure(catalog)
    if rubric != "tdqs":
        return [*tool_cases(measured, rubric=rubric)]
    shadow = shadow_case(measured, spec=DEFAULT_SPEC)
    return [*_cases(measured), *([shadow] if shadow else [])]


def read_suite(path: Path) -> "Suite":
    """The suite in a YAML file. Raises InputError, which says line and key."""
    from tdqs_mcp.gate import suite  # noqa: PLC0415  # YAML and validation: imports that lint and score never need

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise InputError(f"{str(path)!r} cannot be read: {reason}") from error
    return suite.parse(text, origin=repr(str(path)))


async def run_suite(suite: "Suite", options: LiveOptions | None = None) -> list[GateRow]:
    """A row for each entry of the suite; every server is captured once, and one that cannot be stops no other."""
    from tdqs_mcp.gate.suite import check  # noqa: PLC0415

    found = {server.name: await _evidence(server, options or LiveOptions()) for server in suite.servers}
    return [check(entry, found[entry.server]) for entry in suite.entries]


async def _evidence(server: "Server", options: LiveOptions) -> "Evidence | str":
    """What a suite's server is held to, or why it could not be captured."""
    from tdqs_mcp.gate.suite import locate  # noqa: PLC0415
    from tdqs_mcp.gate.targets import Evidence  # noqa: PLC0415

    try:
        locator, headers, env = locate(server, os.environ)
        chosen = replace(
            options, headers=headers, env=env, cwd=server.cwd or options.cwd, timeout=server.timeout or options.timeout
        )
        catalog = await load(locator, chosen)
    except TdqsError as error:
        return str(error)
    measured, judge = measure(catalog), Offline()
    score = _scored(measured, judge.verdicts(_cases(measured)), stamp=judge.stamp, spec=DEFAULT_SPEC)
    return Evidence(measured=measured, score=score)


async def rewrite(
    catalog: Catalog,
    *,
    tools: Sequence[str] | None = None,
    mode: Mode = Mode.COMPACT,
    growth: int | None = None,
    material: Material = NOTHING,
    writer: Model | None = None,
    judge: Judge | None = None,
    spec: str = DEFAULT_SPEC,
) -> list[Rewrite]:
    """A better definition for every tool that can be measured, or for the named ones, each with its proof.

    A proposal that scores lower or adds a finding as bad as those it removes loses parts, the least certain first,
    until it holds; a part with a claim that has no source never stands. A `writer` then words each of them anew, and
    its words stand where the proof refuses none of them and the judge finds them better. No definition grows by more
    than `growth` tokens. The judge sees the chosen tools, then those of their new definitions that differ. Raises
    UnknownIdError, and UnmeasurableError for a named tool that has no facts.
    """
    from tdqs_mcp.pipeline import trial  # noqa: PLC0415  # lint and score go without a proof

    judge, measured = judge or Offline(), measure(catalog)
    chosen = _chosen(measured, tools)
    court = trial.Court.of(measured, material, growth=mode.growth if growth is None else growth)
    proposed = rewriting.propose(measured, registry.check(measured), mode=mode)
    proposals = [trial.admit(each, court, mode) for each in proposed if each.index in chosen]
    before = await _standings(measured, chosen, judge=judge, spec=spec)
    after = dict(before)
    doubtful = [each for each in proposals if each.parts]
    while doubtful:
        improved = rewriting.apply(catalog, {each.index: each.definition for each in proposals})
        after |= await _standings(measure(improved), {each.index for each in doubtful}, judge=judge, spec=spec)
        failed = {each.index for each in doubtful if not rewriting.holds(before[each.index], after[each.index])}
        proposals = [each.reduced() if each.index in failed else each for each in proposals]
        after |= {each.index: before[each.index] for each in proposals if not each.parts}
        doubtful = [each for each in proposals if each.index in failed and each.parts]
    drafts = [trial.prove(each, court, before=before[each.index], after=after[each.index]) for each in proposals]
    rewrites = drafts
    if writer is not None:
        tried = await _worded(measured, drafts, court=court, mode=mode, writer=writer)
        improved = rewriting.apply(catalog, {each.index: each.definition for each in tried})
        worded = {each.index for each in tried if each.writer != OFFLINE}
        after |= await _standings(measure(improved), worded, judge=judge, spec=spec)
        pairs = zip(tried, drafts, strict=True)
        rewrites = [trial.better(new, old, before[new.index], after[new.index]) for new, old in pairs]
    improved = rewriting.apply(catalog, {each.index: each.definition for each in rewrites})
    return trial.conclude(rewrites, measure(improved))


async def _worded(
    measured: Measured, drafts: Sequence[Rewrite], *, court: "Court", mode: Mode, writer: Model
) -> list[Rewrite]:
    """The drafts in a model's words, unscored; a draft that the model gave no words for stays, with the reason."""
    from tdqs_mcp.pipeline import trial  # noqa: PLC0415
    from tdqs_mcp.pipeline import writer as writing  # noqa: PLC0415  # validation, which the offline writer goes without

    work = writing.jobs(measured, drafts, court.witnesses.material)
    written = await writing.write(work, model=writer, court=court, mode=mode)
    outcomes = {job.subject.tool.index: (job.subject, each) for job, each in zip(work, written, strict=True)}
    return [trial.reworded(draft, *outcomes[draft.index], court=court, writer=writer.name) for draft in drafts]


async def plan(catalog: Catalog, *, target: str = "A", judge: Judge | None = None) -> "Plan":
    """The cheapest rewrites that bring the overall score to a tier or a number, with what only the author can write.

    They are chosen for the coherence that the tool set has, applied, and judged again; where that moves the coherence,
    they are chosen once more. Raises InputError for a target that is none, and where there is no overall score.
    """
    from tdqs_mcp.pipeline import plan as planning  # noqa: PLC0415  # nothing but this needs it

    goal, judge = planning.read_target(target), judge or Offline()
    before = after = await score(catalog, judge=judge)
    rewrites = await rewrite(catalog, judge=judge)
    tried: dict[int, planning.Attempt] = {}
    while (coherence := _planned(after)) not in tried:
        chosen = planning.choose(before, rewrites, target=goal, coherence=coherence)
        improved = rewriting.apply(catalog, {each.index: each.definition for each in chosen})
        after = await score(improved, judge=judge) if chosen else before
        tried[coherence] = planning.Attempt(rewrites=chosen, score=after)
    nothing = planning.Attempt(rewrites=(), score=before)
    return planning.plan([nothing, *tried.values()], target=goal, rewrites=rewrites)


async def what_if(catalog: Catalog, tool: str, *, judge: Judge | None = None) -> "list[WhatIf]":
    """What the overall score becomes when one tool gets better, for each tool of this name.

    Raises UnknownIdError, UnmeasurableError, and InputError where there is no overall score.
    """
    from tdqs_mcp.pipeline import plan as planning  # noqa: PLC0415

    judge = judge or Offline()
    rewrites = await rewrite(catalog, tools=[tool], judge=judge)
    now = await score(catalog, judge=judge)
    _planned(now)
    return [planning.what_if(now, each) for each in rewrites if each.before]


def _planned(score: ServerScore) -> int:
    """The coherence of a server that has an overall score, in tenths. Raises InputError for another."""
    if score.rollup.overall is None or score.rollup.coherence is None:
        reason = score.coherence.reason if isinstance(score.coherence, Ungraded) else "too few tools have a score"
        raise InputError(f"without an overall score there is nothing to plan: {reason}")
    return score.rollup.coherence


async def compare(old: Catalog, new: Catalog, *, judge: Judge | None = None, spec: str = DEFAULT_SPEC) -> "Comparison":
    """Two versions of a catalog, or two definitions of one tool: scores, findings, tokens, and what breaks callers."""
    from tdqs_mcp.pipeline.compare import compare as hold_against  # noqa: PLC0415  # nothing but this needs it

    scores = await score(old, judge=judge, spec=spec), await score(new, judge=judge, spec=spec)
    return hold_against(old, new, scores)


def patch_file(path: Path, rewrites: Sequence[Rewrite]) -> "tuple[Patch, Path]":
    """The patch of a JSON file that holds the definitions, and the folder to apply it in. Raises InputError."""
    from tdqs_mcp.pipeline.patch import patch_json  # noqa: PLC0415  # nothing but this needs it

    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}") from error
    whole, root = path.resolve(), Path.cwd().resolve()
    root = root if whole.is_relative_to(root) else whole.parent
    return patch_json(content, rewrites, name=whole.relative_to(root).as_posix()), root


def patch_sources(path: Path, rewrites: Sequence[Rewrite]) -> "tuple[Patch, Path]":
    """The same of the Python file or folder that declares the tools, which is read and never run."""
    from tdqs_mcp.pipeline.code import patch_code  # noqa: PLC0415
    from tdqs_mcp.sources.code import read_sources  # noqa: PLC0415

    sources = read_sources(path)
    patch = patch_code(sources.files, rewrites)
    return replace(patch, problems=sources.problems + patch.problems), sources.root


def prompts(
    catalog: Catalog,
    *,
    tool: str | None = None,
    spec: str = DEFAULT_SPEC,
    rubric: str = "tdqs",
    skill: str | None = None,
) -> dict[str, Any]:
    """The exact prompts that a judge would get, in the shape of `prompts --format json`. Raises UnknownIdError."""
    if tool is not None and tool not in {each.name for each in catalog.tools}:
        raise UnknownIdError(f"there is no tool {tool!r}; the catalog has {_some(each.name for each in catalog.tools)}")
    return prompts_document(measure(catalog), tool=tool, spec=spec, rubric=rubric, skill=skill)


async def calibrate(catalogs: Sequence[Catalog] = (), *, judge: Judge | None = None) -> CalibrationReport:
    """How far a judge lies off the prompt's own examples and the labelled tools.

    The offline judge is held against its labels as it predicted servers that it had not seen. Any judge is held against
    the labelled tools that the catalogs hold, found by inputHash.
    """
    from tdqs_mcp.pipeline import evidence, examples  # noqa: PLC0415  # nothing but this needs half a megabyte of labels

    judge = judge or Offline()
    table, faults = examples.compare(await judge.grade(examples.cases()))
    sections: tuple[Section, ...] = (table,)
    problems: tuple[str, ...] = ()
    if isinstance(judge, Offline) and not catalogs:
        sections += evidence.sections(judge.stamp.calibration or "")
    if catalogs:
        labels = evidence.labels(versions()[0])
        cases = [case for catalog in catalogs for case in tool_cases(measure(catalog))]
        labelled = [case for case in cases if case.subject.signals.input_hash in labels]
        found = evidence.held_against(labelled, await judge.grade(labelled), labels)
        sections, problems = sections + found.sections, found.problems
        faults += found.faults
    return CalibrationReport(judge=judge.stamp, sections=sections, faults=faults, problems=problems)


def explain(name: str) -> str:
    """The Markdown page of a rule, a dimension, a flag or a tier. Raises UnknownIdError, which lists what there is."""
    wanted = name.strip().lower().replace("-", " ").replace("_", " ")
    for key in RUBRICS:
        rubric = load_rubric(key)
        for dimension in rubric.dimensions:
            if wanted in (dimension.key.replace("_", " "), dimension.title.lower()):
                return dimension_page(
                    rubric, dimension, [rule for rule in registry.RULES if rule.dimension == dimension.key]
                )
        for term in rubric.flags + rubric.tiers:
            if name.strip().lower() == term.title.lower():
                return term_page(term)
    try:
        return rule_page(registry.find(name.strip()))
    except UnknownIdError as error:
        dimensions = dict.fromkeys(key for each in RUBRICS for key in load_rubric(each).keys)
        known = [*(rule.id for rule in registry.RULES), *dimensions]
        raise UnknownIdError(
            f"there is nothing to explain under {name!r}; try one of {', '.join(known)}, a flag or a tier"
        ) from error


def _chosen(measured: Measured, tools: Sequence[str] | None) -> set[int]:
    """The indices of the named tools; of all that can be measured where none is named."""
    known = {each.name for each in measured.catalog.tools}
    for name in tools or ():
        if name not in known:
            raise UnknownIdError(f"there is no tool {name!r}; the catalog has {_some(measured.names)}")
    for unmeasured in measured.unmeasured:
        if unmeasured.tool.name in (tools or ()):
            raise UnmeasurableError(f"{unmeasured.tool.name!r} cannot be rewritten: {unmeasured.reason}")
    return {each.tool.index for each in measured.subjects if tools is None or each.tool.name in tools}


async def select(
    catalogs: Sequence[Catalog],
    *,
    queries: "Sequence[Query] | None" = None,
    against: Sequence[Catalog] | None = None,
    mutation: "Mutation | None" = None,
    selector: "Selector | None" = None,
    k: int = 5,
) -> "Selection":
    """How often the right tool is found for a query, by BM25 unless another selector is named.

    Without queries they are made from the catalogs, never from `against`: other versions of the same catalogs in their
    order, or what a mutation makes of them, to which the same queries are put. Raises InputError.
    """
    from tdqs_mcp.pipeline import select as selecting  # noqa: PLC0415  # what scoring goes without
    from tdqs_mcp.pipeline.mutate import mutate  # noqa: PLC0415
    from tdqs_mcp.pipeline.selectors import Lexical  # noqa: PLC0415

    if against is not None and mutation is not None:
        raise InputError("a test compares with other catalogs or with a mutation, not with both")
    if mutation is not None:
        against = [mutate(catalog, mutation) for catalog in catalogs]
    selector, index = selector or Lexical(), selecting.Index.of(catalogs)
    other = None if against is None else index.like(against)
    asked, problems = selecting.ask(index) if queries is None else selecting.check(queries, index)
    texts = [query.text for query in asked]
    before = selecting.choose(asked, await selector.rank(index.tools, texts, k=k), index, k=k)
    told = tuple(problem for catalog in (*catalogs, *(against or ())) for problem in catalog.problems)
    report = selecting.report(
        index, before, selector=selector.name, k=k, problems=tuple(dict.fromkeys(told)) + problems
    )
    if other is None:
        return report
    after = selecting.choose(asked, await selector.rank(other.tools, texts, k=k), other, k=k)
    return selecting.compare(report, after, label=mutation or "after")


async def _standings(measured: Measured, indices: AbstractSet[int], *, judge: Judge, spec: str) -> dict[int, Standing]:
    """How some tools of a catalog do; the others are context, never work for the judge."""
    part = replace(measured, subjects=tuple(each for each in measured.subjects if each.tool.index in indices))
    unjudged = Ungraded(judge=judge.stamp.id, reason="a rewrite has no coherence")
    verdicts = await _guarded(judge, addresses_judge).grade(tool_cases(part))
    finished = finish(part, verdicts=verdicts, coherence=unjudged, judge=judge.stamp, spec=spec)
    return rewriting.stand(part, {tool.index: tool for tool in finished.tools}, registry.check(part))


async def _skill(measured: Measured, text: str, *, judge: Judge) -> SkillScore:
    from tdqs_mcp.pipeline import labels  # noqa: PLC0415

    (verdict,) = await judge.grade([SkillCase(text=text, measured=measured)])
    return labels.finish_skill(measured, text, verdict, judge=judge.stamp)


def _guarded(judge: Judge, addresses: Detector) -> Judge:
    """The judge behind the canary; nobody talks the offline judge into anything."""
    return judge if _is_offline(judge) else Guarded(judge=judge, addresses=addresses)


def _is_offline(judge: Judge) -> bool:
    """Whether no model reads the definitions, whoever else watches the judge."""
    return judge.stamp.id == "offline"


def _flagged(score: Score, cases: Sequence[Case], addresses: Detector) -> Score:
    return replace(score, problems=score.problems + canary.flagged(cases, addresses))


def _cases(measured: Measured) -> list[Case]:
    """Every tool case, then the coherence case where there is one."""
    coherence = set_case(measured)
    return [*tool_cases(measured), *([coherence] if coherence else [])]


def _scored(
    measured: Measured,
    graded: Sequence[Verdict | Ungraded],
    *,
    stamp: JudgeStamp,
    spec: str,
    confirmed: Verdict | Ungraded | None = None,
) -> ServerScore:
    """The score from one outcome for each of `_cases`, and one on the shadow candidates where a judge was asked."""
    nothing = Ungraded(judge=stamp.id, reason="the catalog has no tool that could be measured", was_asked=False)
    verdicts, coherence = (graded[:-1], graded[-1]) if graded else ((), nothing)
    risks = confirmed.risks if isinstance(confirmed, Verdict) else ()
    whole = finish(measured, verdicts=verdicts, coherence=coherence, judge=stamp, spec=spec, risks=risks)
    if isinstance(confirmed, Ungraded) and confirmed.was_asked:
        problem = f"shadow candidates were not judged, so none is flagged: {confirmed.reason}"
        whole = replace(whole, problems=(*whole.problems, problem))
    return _with_findings(whole, measured)


def _with_findings(score: ServerScore, measured: Measured) -> ServerScore:
    return replace(score, findings=tuple(registry.check(measured)))


def _below_cwd(path: Path) -> Path:
    """The path relative to the working directory where it is below it, else absolute."""
    if not path.is_absolute() and ".." not in path.parts:
        return path
    whole, here = path.resolve(), Path.cwd().resolve()
    return whole.relative_to(here) if whole.is_relative_to(here) else whole


def _some(names: Iterable[str]) -> str:
    listed = [repr(name) for name in names if name]
    return (
        ", ".join(listed[:8]) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "")
        if listed
        else "no named tool"
    )
