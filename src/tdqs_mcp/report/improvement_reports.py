"""Comparisons, rewrites, and changes since a lock, for people."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.report.blocks import (
    NEXT,
    Block,
    Code,
    Diff,
    Fold,
    Gap,
    Heading,
    Items,
    Line,
    Marker,
    OnlyIn,
    Span,
    Table,
    Title,
    Words,
    columns,
    count_words,
    diff_runs,
    named,
    next_lines,
    number,
    price,
    problem_items,
    score_words,
    unjudged_lines,
    unjudged_words,
)
from tdqs_mcp.results.checks import UNUSABLE, Proof, ProofTrial, TrialKind
from tdqs_mcp.results.comparisons import Comparison, Impact, LockedChange, LockReport, LockState
from tdqs_mcp.results.findings import Finding
from tdqs_mcp.results.improvements import (
    OFFLINE,
    QUESTIONS_AT_ONCE,
    Change,
    Gain,
    Goal,
    Question,
    Rewrite,
    RewriteReport,
    Route,
    most_useful,
    questions_of,
    unused_by_all,
)
from tdqs_mcp.results.scores import UNREAD, ToolScore, unjudged

COMPARE_MARKER = "<!-- tdqs-mcp compare -->"


MAX_ROWS = 20
"""Tools that a terminal shows; JSON has them all."""

MAX_DIFFERENCES = 40
"""Lines below one heading in a terminal."""

MAX_SOURCES = 4
"""Sources that the line of reasons names."""

SECONDS_TO_ANSWER = 25
"""Assumed for one question."""

_WORDING = "Wording"
_IMPACTS = {
    Impact.BREAKING: ("Breaking", "red"),
    Impact.DANGEROUS: ("More dangerous", "magenta"),
    Impact.COMPATIBLE: ("Compatible", "green"),
    Impact.WORDING: (_WORDING, "cyan"),
}
_SCORES = "Scores"
_KINDS = ("answer", "annotations", "parameters", "fact", "trace", "docs")


LINES, COLUMNS = 34, 70
"""Lines of a terminal for the changes of tools, and the columns that their words have there."""


def compare_blocks(comparison: Comparison) -> list[Block]:
    """Numbers, then differences by what they mean for a caller, then scores and findings."""
    verdict = _verdict(comparison)
    numbers = Table(columns("", "before", "after", "change"), list(_compare_numbers(comparison)))
    blocks: list[Block] = [
        Title(_compare_summary(comparison)),
        OnlyIn("markdown", [Line(f"{verdict}."), *([numbers] if comparison.changed else [])]),
    ]
    for title, style, entries in _compare_sections(comparison):
        blocks += [
            OnlyIn("text", [Heading(title, style)]),
            OnlyIn("markdown", [Heading(f"{title} ({len(entries)})", style)]),
        ]
        listed = Items(entries, indent=2, limit=MAX_DIFFERENCES)
        if title == _SCORES:
            heads = columns("tool", "before", "after", "change", "tokens, about")
            blocks.append(Table(heads, entries, limit=MAX_DIFFERENCES))
        elif title == _WORDING:
            blocks += [OnlyIn("text", [listed]), OnlyIn("markdown", [Fold("Before and after", _reworded(comparison))])]
        else:
            blocks.append(listed)
    return [*blocks, Gap(), OnlyIn("text", [Line(verdict, "dim")]), Marker(COMPARE_MARKER)]


def rewrite_blocks(
    report: RewriteReport,
    *,
    locator: str = "LOCATOR",
    is_saved: bool = False,
    is_verbose: bool = False,
    is_terminal: bool = True,
) -> list[Block]:
    """The changed tools with diff and numbers, as many as fit a terminal, then the questions, each once.

    The questions are asked on a terminal (`is_terminal`); elsewhere a file takes the answers.
    """
    rewrites, open_questions = report.rewrites, most_useful(report.questions)
    blocks: list[Block] = [Title(f"{report.server} · {_rewrite_summary(rewrites)}")]
    blocks += [Line(_goal_words(report.goal, rewrites))] if report.goal else []
    blocks += _proof_blocks(report.proof) if report.proof else []
    changed = [rewrite for rewrite in rewrites if rewrite.changes or rewrite.setback or rewrite.refused]
    changed.sort(key=lambda rewrite: (not rewrite.changes, -rewrite.tdqs_change, rewrite.index))
    sections = [_rewrite_tool(rewrite, is_verbose=is_verbose) for rewrite in changed]
    count = len(sections) if is_verbose else _fitting(changed, LINES - 2 * min(len(open_questions), QUESTIONS_AT_ONCE))
    blocks += [block for section in sections[:count] for block in section]
    if len(changed) > count:
        more = f"… and {len(changed) - count} more; --tool NAME shows one, --verbose and --format json all"
        rest = [block for section in sections[count:] for block in section]
        blocks += [OnlyIn("text", [Gap(), Line(more)]), OnlyIn("markdown", rest)]
    blocks += _gain_note((rewrite.before, rewrite.after, rewrite.gain) for rewrite in changed)
    if open_questions:
        questions = [f"? {question.text}   {question.id}" for question in open_questions]
        left = len(questions) - QUESTIONS_AT_ONCE
        head = left_words(open_questions)
        head = head if changed else f"Nothing is proven beyond what the definitions say; {head}"
        blocks += [Heading(head), Items(questions[:QUESTIONS_AT_ONCE], "yellow", indent=2)]
        blocks += [Line(f"  {count_words(left, 'more question')} when these are answered", "dim")] if left > 0 else []
    if report.for_instructions:
        blocks += [Gap(), Line(f"Say once in the server's instructions: {report.for_instructions}")]
    failed = unjudged_words((rewrite.name, rewrite.unjudged) for rewrite in rewrites if rewrite.unjudged)
    noted = [Span(line, "yellow") for line in failed[:MAX_ROWS]] + [Span(line, "dim") for line in _unused(rewrites)]
    blocks += [Gap(), Items(noted), *([Gap()] if noted else [])]
    following = _rewrite_next(
        report, locator, is_saved=is_saved, is_asking=bool(open_questions), is_terminal=is_terminal
    )
    return [*blocks, *following]


_TRIED = {
    TrialKind.ADD: "plus",
    TrialKind.CUT: "without",
    TrialKind.REWRITE: "the rewrite",
    TrialKind.REWORD: "reworded",
}


def _trial_words(trial: ProofTrial) -> str:
    sentence = f" {trial.sentence!r}" if trial.sentence else ""
    return f"{trial.tool}: {_TRIED[trial.kind]}{sentence} ({trial.tokens:+} tokens)"


def _proof_blocks(proof: Proof) -> list[Block]:
    """Return what was tried and what it cost, how the held requests do with what is kept, and what was taken back."""
    lost = [trial for trial in proof.trials if trial.lost is not None]
    remaining, late = [trial for trial in proof.trials if trial.is_kept], sum(trial.on_held for trial in lost)
    useless = len(proof.trials) - len(remaining) - len(lost)
    changes = count_words(len(proof.trials), "change")
    counts = f"{len(remaining)} of {changes} kept, {len(lost)} taken back ({late} at the end)"
    counts += f", {useless} without use" if useless else ""
    outcome = f"+{proof.gained} / -{proof.lost} (at most {proof.high / 10:.0f} % do worse, 95 %)"
    spent = "tokens not known"
    if proof.tokens_read is not None:
        spent = f"{proof.tokens_read:,} tokens read, {proof.tokens_written:,} written, {price(proof.cost)}"
    unusable = f"{proof.unusable} of {proof.choices} answers are unusable, {UNUSABLE}"
    blocks: list[Block] = [
        problem_items([unusable] if proof.unusable else []),
        Line(
            f"{proof.requests} requests to {proof.selector} chose: {counts}, after {proof.choices} choices ({spent}); "
            f"+{proof.leading_gained} / -0"
        ),
        Line(f"{proof.held} other requests: {outcome if remaining or late else 'not asked, nothing was left to try'}"),
        Line(f"{proof.tokens:+,} tokens in each list, {proof.tokens / 1000:+,.1f} million in a thousand requests"),
    ]
    rows = list(map(_trial_words, remaining))
    blocks += [Heading("Kept"), Items(rows, indent=2, limit=MAX_ROWS)] if rows else []
    rows = [f"{_trial_words(trial)}: {trial.lost!r}" for trial in lost]
    heading = Heading("Taken back, with a request that does worse")
    return [*blocks, heading, Items(rows, indent=2, limit=MAX_ROWS)] if rows else blocks


def left_words(questions: Sequence[Question]) -> str:
    """Return what is left to the author: "9 tools need you: 12 questions, about 5 minutes"."""
    tools = len({tool for question in questions for tool in question.tools})
    minutes = -(-SECONDS_TO_ANSWER * len(questions) // 60)
    needing = f"{count_words(tools, 'tool')} {'needs' if tools == 1 else 'need'} you"
    return f"{needing}: {count_words(len(questions), 'question')}, about {count_words(minutes, 'minute')}"


def _goal_words(goal: Goal, rewrites: Sequence[Rewrite]) -> str:
    """Return how far the server is from its target, and what is left out because it is reached."""
    now, then, target = (score_words(value) for value in (goal.before.overall, goal.after.overall, goal.target))
    if goal.is_reached:
        way = f"{now} → {then}" if any(rewrite.changes for rewrite in rewrites) else now
        spare = [count_words(goal.spare, "more rewrite")] if goal.spare else []
        spare += (
            [count_words(open_count, "question")] if (open_count := len(most_useful(questions_of(rewrites)))) else []
        )
        more = f"; without --target: {' and '.join(spare)}" if spare else ""
        return f"overall {way}: the target {target} is reached{more}"
    short = f"overall {now} → {then}, below the target {target}"
    count = count_words(len(goal.questions), "question")
    most = score_words(goal.with_answers)
    if goal.is_reachable:
        return f"{short}: answer {count} → {most} at most, an estimate"
    return f"{short}; all answers bring {most} at most, an estimate: the tool set itself has to become more coherent"


def _gain_note(changes: Iterable[tuple[ToolScore | None, ToolScore | None, Gain | None]]) -> list[Block]:
    """Why an expected gain is not the difference of its two scores; nothing where none is known."""
    for before, after, gain in changes:
        if before and after and gain:
            error = (10 * (after.tdqs - before.tdqs) - gain.expected) / 100
            words = f"the change of TDQS less {error:.1f}, by which the offline judge overrates gains on average"
            return [Gap(), Line(f"expected gain: {words}, and the middle 80% of what readers see", "dim")]
    return []


def _compare_summary(comparison: Comparison) -> str:
    old, new = comparison.old, comparison.new
    name = new.server if old.server == new.server else f"{old.server} → {new.server}"
    overall = f"overall {score_words(old.rollup.overall)} → {score_words(new.rollup.overall)}"
    cost = f"about {comparison.tokens_before} → {comparison.tokens_after} tokens"
    return f"{name}: {overall}, {old.tool_count} → {new.tool_count} tools, {cost}"


def _verdict(comparison: Comparison) -> str:
    """Return whether the new version is worse, and what to do about it."""
    if comparison.regressions:
        count = count_words(len(comparison.regressions), "regression")
        return f"{count}. Next: take these changes back, or tell the people who call these tools"
    if not comparison.changed:
        return "The definitions are the same"
    if unjudged(comparison.old) or unjudged(comparison.new):
        judged = "No regression in what was judged, which is not all"
        return f"{judged}. Next: see that the judge answers, then compare again"
    return "No regression: the new version can be used"


def _compare_numbers(comparison: Comparison) -> Iterator[tuple[Words, ...]]:
    """The server's numbers in both versions."""
    before, after = comparison.standing_before, comparison.standing_after
    scores = (
        ("overall", before.overall, after.overall),
        ("descriptions", before.description_quality, after.description_quality),
        ("lowest tool", before.min_tdqs, after.min_tdqs),
        ("coherence", before.coherence, after.coherence),
    )
    for name, lower, upper in scores:
        yield name, number(lower), number(upper), _difference(lower, upper)
    yield "tools", str(comparison.old.tool_count), str(comparison.new.tool_count), ""
    old, new = comparison.tokens_before, comparison.tokens_after
    yield "tokens, about", f"{old:,}", f"{new:,}", f"{new - old:+,}" if new != old else ""


def _difference(before: int | None, after: int | None) -> Span:
    """Return what became of a score; nothing where it is the same."""
    change = 0 if before is None or after is None else after - before
    return Span(f"{change / 10:+.1f}" if change else "", "green" if change > 0 else "red")


def _compare_sections(comparison: Comparison) -> list[tuple[str, str, list[Any]]]:
    """Title, style and entries of what is not empty: lines, but rows for the scores, the worst change first."""
    differences: dict[Impact, list[str]] = {impact: [] for impact in Impact}
    for tool in comparison.tools:
        for difference in tool.differences:
            place = filter(None, (tool.name or "a tool without a name", difference.path, difference.message))
            differences[difference.impact].append(": ".join(place))
    scores = []
    for tool in sorted(comparison.tools, key=lambda tool: tool.tdqs_change):
        if tool.before and tool.after and tool.tdqs_change:
            old, new = tool.before.tdqs, tool.after.tdqs
            tokens = f"{tool.tokens_before:,} → {tool.tokens_after:,}"
            scores.append((tool.name, number(old), number(new), _difference(old, new), tokens))
    sections: list[tuple[str, str, list[Any]]] = [
        ("Not judged", "yellow", unjudged_lines(unjudged(comparison.old), unjudged(comparison.new))),
        ("Regressions", "bold red", list(comparison.regressions)),
        *((*_IMPACTS[impact], lines) for impact, lines in differences.items()),
        (_SCORES, "bold", scores),
        ("New findings", "red", list(map(_finding, comparison.findings_added))),
        ("Fixed findings", "green", list(map(_finding, comparison.findings_fixed))),
    ]
    return [section for section in sections if section[2]]


def _reworded(comparison: Comparison) -> list[Diff]:
    """The texts that both versions have in other words."""
    return [
        Diff(f"{tool.name} {difference.path}", difference.before or "", difference.after or "")
        for tool in comparison.tools
        for difference in tool.differences
        if difference.impact is Impact.WORDING
    ]


def _finding(finding: Finding) -> str:
    return f"{finding.subject.label}: {finding.severity} {finding.rule}: {finding.message}"


def _rewrite_tool(rewrite: Rewrite, *, is_verbose: bool) -> list[Block]:
    """Return one tool's new words, why, and what the checks say of another writer's; the evidence on request."""
    return [
        OnlyIn("text", [Heading(f"{rewrite.name}   {_rewrite_numbers(rewrite)}")]),
        OnlyIn("markdown", [Heading(rewrite.name), Line(_rewrite_numbers(rewrite))]),
        *changed_words(rewrite),
        *(_whole_text(rewrite) if is_verbose else ()),
        Items(list(_evidence(rewrite)) if is_verbose else [], "dim", indent=2),
        Items(list(_doubts(rewrite)), "yellow", indent=2),
    ]


def _whole_text(rewrite: Rewrite) -> Iterator[Block]:
    """Yield the new description as a whole, to copy."""
    text = rewrite.definition.get("description")
    if isinstance(text, str) and any(change.path == "/description" for change in rewrite.changes):
        yield OnlyIn("text", [Line("  the whole new description:", "dim"), *map(Line, text.split("\n"))])


def changed_words(rewrite: Rewrite) -> list[Block]:
    """Return what goes and comes, and what the new words rest on."""
    return [*map(change_diff, rewrite.changes), Items(list(_why(rewrite)), "dim", indent=2)]


def change_diff(change: Change) -> Diff:
    """Return one field before and after; what is no text as JSON, and nothing where it is absent."""
    return Diff(change.path[1:], value_text(change.before), value_text(change.after))


def value_text(value: Any) -> str:  # noqa: ANN401  # any JSON value
    """Return a text as it is, any other value as JSON, and nothing for None."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _why(rewrite: Rewrite) -> Iterator[str]:
    """Yield what the new words rest on, in one line, and why another writer's were not used."""
    if rewrite.changes:
        by = "" if rewrite.writer == OFFLINE else f"in the words of {rewrite.writer}; "
        own = (Route.FACT, Route.ANSWER)  # their sources say as much
        routes = dict.fromkeys(str(claim.route) for claim in rewrite.claims if claim.route and claim.route not in own)
        sources = dict.fromkeys(source for claim in rewrite.claims for source in claim.sources)
        prefix = f"{', '.join(routes)}: " if routes else ""
        yield f"why: {by}{prefix}{first_of(list(sources), MAX_SOURCES, separator='; ') or 'nothing proves them'}"
    if rewrite.setback:
        yield f"the writer's text was not used: {rewrite.setback}"


def _doubts(rewrite: Rewrite) -> Iterator[str]:
    """Yield what of another writer's words was refused, conflicts with something, is unproven or is gone."""
    yield from (f"refused: {claim.text!r}: {claim.refusal}" for claim in rewrite.refused)
    if rewrite.writer != OFFLINE:
        conflicts = [claim for claim in rewrite.claims if claim.conflict]
        yield from (f"conflict: {claim.text!r}: {claim.conflict}" for claim in conflicts)
        yield from (f"dropped: {sentence!r}: the new text does not say it" for sentence in rewrite.dropped)
        yield from (f"unproven: {claim.text!r}" for claim in rewrite.claims if not (claim.is_proven or claim.conflict))


def _rewrite_summary(rewrites: Sequence[Rewrite]) -> str:
    changed = sum(bool(rewrite.changes) for rewrite in rewrites)
    before = sum(rewrite.tokens_before for rewrite in rewrites)
    after = sum(rewrite.tokens_after for rewrite in rewrites)
    return f"{changed} of {count_words(len(rewrites), 'tool')} rewritten · about {before} → {after} tokens"


def _rewrite_numbers(rewrite: Rewrite) -> str:
    """Return TDQS before and after, and the expected gain with the middle 80% of what the judge's error leaves open."""
    old, new = (score_words(score.tdqs if score else None) for score in (rewrite.before, rewrite.after))
    if not rewrite.changes:
        return f"TDQS {old}, unchanged"
    gain, claim = rewrite.gain, ""
    if gain:
        claim = f" · expected gain {gain.expected / 100:+.1f} ({gain.low / 100:+.1f} to {gain.high / 100:+.1f})"
    return f"TDQS {old} → {new}{claim} · about {rewrite.tokens_added:+d} tokens"


def _evidence(rewrite: Rewrite) -> Iterator[str]:
    """Each statement with what it rests on, the components and the findings."""
    for claim in rewrite.claims:
        yield f"{claim.path[1:]}: {claim.text!r} from {'; '.join(claim.sources) or 'nothing that proves it'}"
    if rewrite.changes:
        yield f"tells: {', '.join(rewrite.components)}"
    for words, rules in (("removes", rewrite.findings_removed), ("adds", rewrite.findings_added)):
        if rules:
            yield f"{words} {', '.join(rules)}"


def _unused(rewrites: Sequence[Rewrite]) -> list[str]:
    """Return what of the material no rewrite rests on, in a line each."""
    reasons = {unused.source: unused.reason for unused in unused_by_all(rewrites)}
    ordered = sorted(reasons, key=lambda source: (_KINDS.index(source.split()[0]), len(source), source))
    more = len(ordered) - MAX_ROWS
    lines = [f"not used: {source}: {reasons[source]}" for source in ordered[:MAX_ROWS]]
    return [*lines, f"not used: {more} more; --format json has all"] if more > 0 else lines


def _fitting(rewrites: Sequence[Rewrite], room: int) -> int:
    """Return how many rewrites have so many lines together, at least one."""
    count = 0
    for rewrite in rewrites:
        texts = [runs_text(diff_runs(change_diff(change))) for change in rewrite.changes]
        texts += [*_why(rewrite), *_doubts(rewrite)]
        room -= 3 + sum(1 + len(text) // COLUMNS for text in texts)
        if room < 0 and count:
            break
        count += 1
    return count


def runs_text(runs: Iterable[tuple[str, str]]) -> str:
    """Return the words of a diff with room for their marks."""
    return " ".join(f"[+{text}+]" if kind else text for kind, text in runs)


def _rewrite_next(
    report: RewriteReport, locator: str, *, is_saved: bool, is_asking: bool, is_terminal: bool
) -> list[Block]:
    """Return what is left to do; the caller says where the changes were saved."""
    reasons = [rewrite.unjudged for rewrite in report.rewrites if rewrite.unjudged]
    if reasons and all(reason.startswith(UNREAD) for reason in reasons):
        words = (
            "What the code computes has no rewrite. Next: run tdqs-mcp rewrite on the running server, or on its capture"
        )
        return [Line(words, "dim")]
    if reasons:
        words = "What was not judged is not checked. Next: see that the judge answers, then rewrite again"
        return [Line(words, "dim")]
    is_changed = any(rewrite.changes for rewrite in report.rewrites)
    head: list[Block] = []
    commands = [f"tdqs-mcp rewrite {locator} --interview"] if is_asking and is_terminal else []
    if is_asking and not is_terminal:
        again = locator if "--material" in locator else f"{locator} --material FILE"
        answers = (
            NEXT,
            "write ",
            Code("answers: {ID: text}"),
            " to the file, then ",
            Code(f"tdqs-mcp rewrite {again}"),
        )
        head.append(Line(answers, "dim"))
    commands += [f"tdqs-mcp rewrite {locator} --write FILE"] if is_changed and not is_saved else []
    if not (is_changed or is_asking):
        needs = "The target needs no rewrite and no answer" if report.goal else "Nothing to rewrite and nothing to ask"
        return [Line(needs, "dim")]
    return [*head, *(next_lines(*commands) or ([] if is_asking else [Line("Next: read the changes", "dim")]))]


_LOCK_STYLES = {
    Impact.BREAKING: "bold red",
    Impact.DANGEROUS: "bold red",
    Impact.COMPATIBLE: "cyan",
    Impact.WORDING: "dim",
}

MAX_CHANGES = 20
"""Changes of one impact in a terminal."""


def lock_blocks(report: LockReport, *, is_lock: bool = False) -> list[Block]:
    """Changes by what they mean, what could not be compared, and how to accept; `is_lock` for the command `lock`."""
    tools = count_words(report.tool_count, "tool")
    blocks: list[Block] = [Title(f"{named(report.server, report.version)} · {tools} · {_lock_summary(report)}")]
    for impact in Impact:
        changes = [change for change in report.changes if change.difference.impact is impact]
        if changes:
            allowed = ", allowed by the lock" if all(item.is_allowed for item in changes) else ""
            blocks += [Heading(f"{impact.capitalize()} ({len(changes)}){allowed}", _LOCK_STYLES[impact])]
            blocks.append(Items([_lock_line(item, report) for item in changes], indent=2, limit=MAX_CHANGES))
    unverified = [f"not verified: {part}" for part in report.unverified]
    blocks += [Items(unverified, "yellow"), problem_items(report.problems)]
    following = _lock_next(report, is_lock=is_lock)
    return [*blocks, Line(following, "dim")] if following else blocks


def _lock_summary(report: LockReport) -> str:
    if report.state is LockState.NEW:
        return "locked"
    if not report.changes:
        return "nothing has changed since it was locked"
    count = count_words(len(report.changes), "change")
    since = f" since {report.locked_version}" if report.locked_version not in (None, report.version) else ""
    if report.accepted:
        return f"{count}{since}, {count_words(len(report.accepted), 'part')} accepted"
    return f"{count}{since}" + ("" if report.refused else ", all allowed by the lock")


def _lock_line(change: LockedChange, report: LockReport) -> str:
    difference = change.difference
    accepted = ", accepted" if change.part in report.accepted else ""
    message = f"{difference.message} [{difference.change}{accepted}]"
    return ": ".join(filter(None, (change.part, difference.path, message)))


def _lock_next(report: LockReport, *, is_lock: bool) -> Words:
    if report.has_open_changes:
        again = "" if is_lock else " with tdqs-mcp lock LOCATOR"
        head = f"Next: read the changes, then accept them{again}: "
        return (head, Code("--accept PART"), " or ", Code("--accept '*'"))
    if report.unverified:
        return "Next: verify the live server, or a capture of it"
    return ""
