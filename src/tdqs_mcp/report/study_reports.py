"""Studies for people: variants, the Pareto front, what scores predict, and how well tools are found."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from tdqs_mcp.model import CallOutcome
from tdqs_mcp.report.blocks import (
    Block,
    Gap,
    Heading,
    Items,
    Line,
    OnlyIn,
    Span,
    Table,
    Title,
    Words,
    columns,
    count_words,
    problem_items,
)
from tdqs_mcp.results.checks import Confusion, Figures, Paired, QueryChoice, Selection
from tdqs_mcp.results.contract import Own
from tdqs_mcp.results.studies import (
    LEVEL,
    BenchmarkStudy,
    ChoiceStudy,
    CochransQ,
    Estimate,
    FrontPoint,
    MetricTest,
    OutcomeStudy,
    Prediction,
    Reading,
    Scope,
    Summary,
    VariantPair,
)
from tdqs_mcp.rules import registry

SHOWN = 5
"""Rows of a table in a terminal, and half of those of the pairs."""


def outcome_blocks(study: OutcomeStudy) -> list[Block]:
    """Return what each variant achieves, the pairs with their tests, the front, and what to do next."""
    experiments = list(dict.fromkeys(summary.experiment for summary in study.summaries))
    models = {name: {row.model for row in study.summaries if row.experiment == name} for name in experiments}
    # Said once where it is the only one of several experiments: a name breaks in a table that is full.
    only = {name: next(iter(own)) for name, own in models.items() if len(own) == 1 < len(experiments)}

    def place(row: Scope) -> str:
        number = f"#{experiments.index(row.experiment) + 1}" if len(experiments) > 1 else ""
        model = None if isinstance(row, FrontPoint) or row.experiment in only else row.model
        return " · ".join(entry for entry in (number, model, row.domain) if entry) or "all"

    named = [
        " · ".join(filter(None, (f"#{number} {name}", only.get(name))))
        for number, name in enumerate(experiments, start=1)
    ]
    blocks: list[Block] = [
        Title(f"{count_words(study.runs, 'run')} of {count_words(len(experiments), 'experiment')}"),
        Items(named if len(named) > 1 else [], "dim"),
    ]
    for title, heads, left, rows in (
        ("Variants", _VARIANTS, 2, [(place(summary), *_summary(summary)) for summary in study.summaries]),
        ("Pairs", _PAIRS, 2, [(place(entry), *_pair(entry)) for entry in study.pairs]),
        ("Cochran's Q", _COCHRANS_Q, 1, [(place(entry), *_cochrans_q(entry)) for entry in study.cochrans_q]),
        ("Pareto front", _FRONT, 3, [(place(entry), *_point(entry)) for entry in study.front if entry.is_on_front]),
    ):
        if rows:
            most_rows = 2 * SHOWN if heads is _PAIRS else SHOWN
            blocks += [Heading(title), Table(columns(*heads, left=left, is_whole=True), rows, limit=most_rows)]
    most = max((pair.without_partner for pair in study.pairs), default=0)
    notes = (f"up to {count_words(most, 'run')} of a pair have no run of the same task to compare with",)
    return [
        *blocks,
        Items(list(_remarks(study))),
        problem_items((*(notes if most else ()), *study.confounded)),
        Line(_next_step(study)),
    ]


_VARIANTS = ("where", "variant", "runs", "success (95 %)", "score", "steps")
_PAIRS = ("where", "before → after", "n", "success, points (95 %)", "p", "phi", "score", "p", "steps", "p")
_COCHRANS_Q = ("where", "variants", "tasks", "Q", "p")
_FRONT = ("where", "model", "variant", "tasks", "score", "steps")


def _summary(row: Summary) -> tuple[str, ...]:
    interval = "" if row.low is None or row.high is None else f" ({row.low:.0f} to {row.high:.0f})"
    figures = (_number(row.score, 2), _number(row.steps, 1))
    return row.variant, str(row.runs), f"{row.success:.1f} %{interval}", *figures


def _remarks(study: OutcomeStudy) -> Iterator[str]:
    """Yield what the paper's Tables 5 and 6 and Figure 10 say, in words: of the first cases and the widest pair."""
    for case in study.cases[:2]:
        shares = f"better in {case.improved:.1f} %, worse in {case.regressed:.1f} % of {case.cases} models with domains"
        yield f"{case.before} → {case.after}: {shares}, median {case.median:+.1f} points"
    for pair in study.pairs:
        if (funnel := pair.funnel) and pair.agreement:
            better = f"{funnel.better_score} of them score better"
            steps = f"{funnel.more_steps} of {funnel.pairs} tasks take more steps, {better}"
            union = f"either succeeds in {pair.agreement.union:.1f} %"
            yield f"{pair.before} → {pair.after}: {steps}, {funnel.success} of these succeed; {union}"
            break


def _cochrans_q(row: CochransQ) -> tuple[str, ...]:
    return str(len(row.variants)), str(row.tasks), f"{row.q:.2f}", _probability(row.p_value)


def _point(row: FrontPoint) -> tuple[str, ...]:
    return row.model, row.variant, str(row.tasks), f"{row.score:.2f}", f"{row.steps:.1f}"


def _pair(pair: VariantPair) -> tuple[str, ...]:
    """Success, score and steps with their p values, and phi."""
    tests = {str(test.metric): test for test in pair.tests}
    success, score, steps = (tests.get(metric) for metric in ("success", "score", "steps"))
    return (
        f"{pair.before} → {pair.after}",
        str(pair.units),
        _interval(success.difference if success else None),
        _test_probability(success),
        _number(pair.agreement.phi if pair.agreement else None, 3),
        f"{score.after - score.before:+.2f}" if score else "",
        _test_probability(score),
        f"{steps.after - steps.before:+.1f}" if steps else "",
        _test_probability(steps),
    )


def _test_probability(test: MetricTest | None) -> str:
    return "" if test is None else _probability(test.p_value if test.adjusted is None else test.adjusted)


def _probability(p_value: float | None) -> str:
    if p_value is None:
        return "-"
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _interval(estimate: Estimate | None) -> str:
    return "-" if estimate is None else f"{estimate.value:+.1f} ({estimate.low:+.1f} to {estimate.high:+.1f})"


def _next_step(study: OutcomeStudy) -> str:
    """Return what the pairs allow to decide."""
    if not study.pairs:
        return "Only one variant was run. Next: run the same tasks with the other descriptions, as another variant"
    p_values = [test.p_value for pair in study.pairs for test in pair.tests if test.metric == "success"]
    sure = sum(p_value is not None and p_value < LEVEL for p_value in p_values)
    return (
        f"{sure} of {count_words(len(study.pairs), 'pair')} differ in success (p < {LEVEL}, uncorrected). Next: where "
        "no gain is shown keep the shorter descriptions"
    )


def benchmark_blocks(study: BenchmarkStudy) -> list[Block]:
    """Return what was searched and called, a row for each predictor that could be measured, and what that means."""
    predictions = {predictor.name: (predictor.found, predictor.fails) for predictor in study.predictors}
    return [
        Title(f"{count_words(study.servers, 'server')} · {count_words(study.tools, 'tool')}"),
        Items(list(_measured_lines(study))),
        *_predictor_table(predictions, ("tool is found", "calls fail")),
        problem_items(study.problems),
        Line(f"{_count_readings(predictions)} {_PROOF}"),
    ]


def choice_blocks(study: ChoiceStudy) -> list[Block]:
    """Return the shares of the paired variants, a row for each predictor, what TDQS rests on, and what that means."""
    before, after = study.totals[0], study.totals[-1]
    of_server = {(share.server, share.variant): share for share in study.shares}
    servers = [share.server for share in study.shares if share.variant == before.variant]
    rows = []
    for server in (*servers, None):
        old, new = (of_server.get((server, total.variant), total) for total in (before, after))
        shares = (f"{old.right:.1f} → {new.right:.1f} %", f"{old.satisfied:.1f} → {new.satisfied:.1f} %")
        rows.append((server or "all", str(old.calls), *shares))
    right, satisfied = map(_interval, (study.change.right, study.change.satisfied))
    predictions = {predictor.name: (predictor.right, predictor.satisfied) for predictor in study.predictors}
    checks = [f"TDQS {check.name}: {_interval(check.right)} and {_interval(check.satisfied)}" for check in study.checks]
    return [
        Title(f"{count_words(len(servers), 'server')} · {before.variant} against {after.variant} descriptions"),
        Table(columns("server", "calls of each", "right tool", "constraints met", is_whole=True), rows),
        Line(f"{right} points of right tools, {satisfied} of constraints (95 %, by server)"),
        Heading(f"{study.servers} servers with variants · {study.calls} calls"),
        Items(["a tool compared with itself in other variants, the length of its description held constant"]),
        *_predictor_table(predictions, ("right tool", "constraints met")),
        Items(checks),
        Line(f"{_count_readings(predictions)} {_PROOF}"),
    ]


def _predictor_table(predictions: Mapping[Own, tuple[Prediction, Prediction]], heads: tuple[str, str]) -> list[Block]:
    """Return a row for each predictor that has an interval, and how many have none."""
    names = {rule.id: f"{rule.id} {rule.name}" for rule in registry.RULES}
    rows = [
        (names.get(name, name.replace("_", " ")), *map(_predicted, pair))
        for name, pair in predictions.items()
        if any(prediction.estimate for prediction in pair)
    ]
    left_out = count_words(len(predictions) - len(rows), "rule")
    return [
        Table(columns("predictor", *(f"{head}, points (95 %)" for head in heads), is_whole=True), rows),
        Line(f"- and {left_out} that are not listed: not measurable, they differ between too few servers", "dim"),
    ]


def _measured_lines(study: BenchmarkStudy) -> Iterator[str]:
    """Yield what was measured, and in which units."""
    requests = f"{study.queries} human requests for {study.queried_tools} tools"
    yield f"{requests}: {study.found:.1f} % find their tool among the first five (BM25)"
    yield f"{study.calls} recorded calls of {study.called_tools} tools: {study.failed:.1f} % fail"
    paired = study.rewritten
    if paired:
        change = f"{paired.difference:+.1f} points ({paired.low:+.1f} to {paired.high:+.1f})"
        yield f"after offline rewrites {paired.gained} requests do better and {paired.lost} worse: {change}"
    yield "for a rule that fires or one point of a score, by linear regression with the logarithm of the length of the"
    yield "description held constant; errors are clustered by server, for calls also by task"


def _predicted(prediction: Prediction) -> str:
    is_open = prediction.reading in (Reading.OPEN, Reading.UNSEEN)
    reading = "" if is_open else f" {prediction.reading}"
    return f"{_interval(prediction.estimate)}{reading}"


def _count_readings(predictions: Mapping[Own, tuple[Prediction, Prediction]]) -> str:
    readings = Counter(prediction.reading for pair in predictions.values() for prediction in pair)
    counts = f"{readings[Reading.SOMETHING]} predict after Holm's correction"
    return f"{counts}, {readings[Reading.NOTHING]} predict nothing, {readings[Reading.UNSEEN]} are not certain."


_PROOF = (
    "Next: take none of this as proof that agents do better; run your own tasks with both descriptions and compare "
    "them with tdqs-mcp study OUTCOMES.csv"
)


MAX_MEASURED = 20
"""Tools that the lines after a run name."""


def answer_lines(calls: Sequence[Mapping[str, Any]]) -> list[str]:
    """For each tool of a log of calls how they ended and the tokens of its answers, the longest answer first.

    A call again is one of a tool that has just failed in the same session.
    """
    by_tool: dict[str, list[Mapping[str, Any]]] = {}
    repeats, failed = Counter[str](), dict[str, str]()
    for call in calls:
        tool, session = str(call.get("tool")), str(call.get("session"))
        by_tool.setdefault(tool, []).append(call)
        repeats[tool] += failed.get(session) == tool
        failed[session] = "" if call.get("outcome") in (CallOutcome.SUCCESS, CallOutcome.EMPTY) else tool
    tokens = {tool: [call.get("tokens") or 0 for call in own] for tool, own in by_tool.items()}
    lines = []
    for tool in sorted(tokens, key=lambda tool: (-max(tokens[tool]), tool))[:MAX_MEASURED]:
        errors = sum(call.get("outcome") not in (CallOutcome.SUCCESS, CallOutcome.EMPTY) for call in by_tool[tool])
        again = f", {repeats[tool]} again after an error" if repeats[tool] else ""
        ended = f"{count_words(len(by_tool[tool]), 'call')}, {count_words(errors, 'error')}{again}"
        size = f"answers of {median(tokens[tool]):,.0f} tokens, the longest {max(tokens[tool]):,}"
        lines.append(f"{tool}: {ended}; {size}")
    return lines


MAX_SHOWN = 10
"""Rows of each list; JSON has them all."""


def selection_blocks(selection: Selection) -> list[Block]:
    """The figures, the most frequent confusions, the queries that lost."""
    servers = selection.servers[0] if len(selection.servers) == 1 else f"{len(selection.servers)} servers"
    queries = count_words(len(selection.choices), "query", "queries")
    counts = f"{count_words(selection.tool_count, 'tool')} · {queries}"
    confusions = _confusion_rows(selection.confusions)
    confusion_heads = columns("wanted", "picked", "queries", "its words in them", "what parts them", left=5)
    later = _confusion_rows(selection.against.confusions if selection.against else ())
    lost = [(choice.query.tool, choice.query.text, _rank(choice), _rank(after)) for choice, after in selection.lost]
    sections = (
        ("How often the right tool is found", _figures(selection)),
        ("Plans", _plans(selection)),
        ("By kind of request", _kinds(selection)),
        ("Plans that miss something", _faulty_plans(selection)),
        ("Picked instead", Table(confusion_heads, confusions[:MAX_SHOWN])),
        ("Picked instead since the change", Table(confusion_heads, later[:MAX_SHOWN])),
        ("Queries that lost", Table(columns("tool", "query", "rank", "then", left=4), lost[:MAX_SHOWN])),
    )
    blocks: list[Block] = [block for title, table in sections if table.rows for block in (Heading(title), table)]
    if confusions:
        pairs = [_parting_line(pair) for pair in selection.confusions if pair.tool][:MAX_SHOWN]
        blocks += [Heading("The sentence that parts them"), Items(pairs, indent=2)]
        blocks.append(OnlyIn("markdown", [Heading("Wanted by row, picked by column"), _confusion_matrix(selection)]))
    title = Title(f"{servers} · {counts} · selected by {selection.selector}")
    return [title, *blocks, Gap(), Line(f"Next: {_next_selection_report(selection)}", "dim")]


def _confusion_rows(confusions: Sequence[Confusion]) -> list[tuple[str, ...]]:
    return [
        (pair.tool or NO_TOOL, pair.picked, str(pair.count), ", ".join(pair.clashing), ", ".join(pair.parting))
        for pair in confusions
    ]


def _parting_line(pair: Confusion) -> str:
    """Return a sentence of the wanted tool, or what else sets it apart from the picked one."""
    sentence = repr(pair.sentence) if pair.sentence else "no sentence"
    nothing = "" if pair.sentence else ", and no difference of schema or hint either"
    return f"{pair.tool}, not {pair.picked}: {'; '.join((sentence, *pair.differences))}" + (
        "" if pair.differences else nothing
    )


def _figures(selection: Selection) -> Table:
    names, against = ("first", f"among the first {selection.k}", "mean reciprocal rank"), selection.against
    before = _shares_found(selection.figures)
    if against is None:
        return Table(columns("", "share", left=2), list(zip(names, before, strict=True)))
    after, changes = _shares_found(against.figures), (_change(against.top1), _change(against.recall), "")
    heads = columns("", "before", against.label, "gained / lost, difference, 95 % interval, McNemar's p", left=4)
    return Table(heads, list(zip(names, before, after, changes, strict=True)))


def _plans(selection: Selection) -> Table:
    changes = {change.demand: change for change in (selection.against.plans if selection.against else ())}
    rows = []
    for share in selection.plans:
        row = (share.demand, f"{share.met} of {share.plans}", f"{_percent(share.low)} to {_percent(share.high)}")
        change = changes.get(share.demand)
        after = f"+{change.gained} / -{change.lost}, {change.verdict}" if change else ""
        rows.append((*row, after) if changes else row)
    heads = ("plans with", "before" if changes else "met", "95 % interval", "gained / lost")
    return Table(columns(*heads[: 4 if changes else 3], left=1), rows)


def _kinds(selection: Selection) -> Table:
    demands = [plan.demand for plan in selection.plans]
    rows = []
    for share in selection.kinds:
        met = {plan.demand: f"{plan.met} of {plan.plans}" for plan in share.plans}
        counts = (share.kind, str(share.figures.queries), _percent(share.figures.top1))
        rows.append((*counts, *(met.get(demand, "-") for demand in demands)))
    return Table(columns("kind", "requests", "first", *demands), rows)


def _faulty_plans(selection: Selection) -> Table:
    """The requests whose plan misses something, with the calls, after the change if there is one."""
    choices = selection.against.choices if selection.against else selection.choices
    rows = [
        (
            choice.query.text,
            ", ".join(choice.unmet),
            "; ".join(f"{call.tool} {json.dumps(call.arguments, ensure_ascii=False)}" for call in choice.planned),
        )
        for choice in choices
        if choice.unmet
    ]
    return Table(columns("request", "misses", "planned", left=3), rows[:MAX_SHOWN])


def _confusion_matrix(selection: Selection) -> Table:
    """Requests for the most confused tools by what was picked; what is right stands on the diagonal."""
    counts = Counter({(pair.tool or NO_TOOL, pair.picked): pair.count for pair in selection.confusions})
    names = list(dict.fromkeys(name for pair in counts for name in pair))[:MAX_CONFUSED]
    for choice in selection.choices:
        name = choice.query.label(selection.servers) or NO_TOOL
        if choice.first == 1:
            counts[name, name] += 1
        elif choice.rank is None and not (choice.instead or choice.failure):
            counts[name, NO_TOOL] += 1
    names += [NO_TOOL] if any(picked == NO_TOOL for _, picked in counts) and NO_TOOL not in names else []
    rows: list[Sequence[Words]] = []
    for place, name in enumerate(names, start=1):
        cells = (Span(str(counts[name, other] or ""), HIT if name == other else MISS) for other in names)
        rows.append((f"{place} {name}", *cells))
    return Table(columns("", *map(str, range(1, 1 + len(names)))), rows)


NO_TOOL = "no tool"

HIT, MISS = "hit", "miss"
"""Styles of the cells on and off the diagonal, on a page."""

MAX_CONFUSED = 30
"""Tools in the picture of the confusions."""


def _shares_found(figures: Figures) -> tuple[str, str, str]:
    rank = "-" if figures.mrr is None else f"{figures.mrr / 1000:.3f}"
    return _percent(figures.top1), _percent(figures.recall), rank


def _change(paired: Paired | None) -> str:
    if paired is None:
        return ""
    p = "< 0.001" if paired.p_value < 0.001 else f"= {paired.p_value:.3f}"  # three decimals are shown
    points = f"{paired.difference:+.1f} points ({paired.low:+.1f} to {paired.high:+.1f}), p {p}"
    return f"+{paired.gained} / -{paired.lost}, {points}"


def _rank(choice: QueryChoice) -> str:
    return "not found" if choice.rank is None else f"{float(choice.rank):g}"


def _next_selection_report(selection: Selection) -> str:
    if not selection.figures.queries:
        return "nothing was answered; see the problems"
    against = selection.against
    if against:
        if against.top1 and against.top1.lost:
            return "read the definitions of the tools that lost"
        return "keep the change: no query lost its first place"
    wrong = [confusion.tool for confusion in selection.confusions]
    if not wrong:
        if any(choice.unmet for choice in selection.choices):
            return "read the plans that miss something, and say in the definitions what they lack"
        is_made = any(choice.query.withheld for choice in selection.choices)
        return "try the words of real users with --queries FILE" if is_made else "nothing, every query finds its tool"
    return f"say what sets {wrong[0]} apart (tdqs-mcp rewrite), then check it with --against"


def _percent(tenths: int | None) -> str:
    return "-" if tenths is None else f"{tenths // 10}.{tenths % 10} %"
