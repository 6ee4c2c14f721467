"""Results as Markdown, for pull requests and pages."""

from collections.abc import Callable, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from tdqs_mcp.report.doubts import doubts_markdown
from tdqs_mcp.report.escape import markdown
from tdqs_mcp.report.sited import tally, uncounted
from tdqs_mcp.report.words import judge_words, score_words
from tdqs_mcp.results.findings import Finding, LintReport
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.results.verdicts import Ungraded
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.scoring.score import first_fixes

LINT_MARKER = "<!-- tdqs-mcp lint -->"
SCORE_MARKER = "<!-- tdqs-mcp score -->"
"""By such a line a workflow finds the comment to update."""

MAX_COMMENT = 65_536
"""Characters that GitHub takes in a comment."""

_ROWS = (1_000_000, 500, 200, 100, 50, 20, 5, 0)
"""Findings or tools of each server, fewer until the comment fits."""


def score_markdown(score: ServerScore) -> str:
    """A server's score as a pull-request comment: a table of its tools, the lowest first, and what to fix first."""
    return fitting(lambda rows: _score(score, rows=rows), SCORE_MARKER)


def _score(score: ServerScore, *, rows: int) -> str:
    return _render(
        "score.md.jinja",
        marker=SCORE_MARKER,
        score=score,
        overall=score_words(score.rollup.overall),
        unjudged=score.coherence.reason if isinstance(score.coherence, Ungraded) and score.tools else None,
        keys=load("tdqs").keys,
        tools=sorted(score.tools, key=lambda tool: (tool.tdqs, tool.index))[:rows],
        judge=judge_words(score.judge),
        doubts=doubts_markdown(score),
        fixes=first_fixes(score, 5),
    )


def lint_markdown(reports: Sequence[LintReport]) -> str:
    """One pull-request comment on all servers: the rules that fire, and every finding that fits below a fold."""
    return fitting(lambda rows: _lint(reports, rows=rows), LINT_MARKER)


def _lint(reports: Sequence[LintReport], *, rows: int) -> str:
    """At most so many findings for each server, the worst."""
    shown = [
        {
            "report": report,
            "tally": tally(report),
            "rules": _by_rule(report),
            "findings": sorted(report.findings, key=lambda finding: -finding.severity.rank)[:rows],
            "notes": uncounted(report),
        }
        for report in reports
    ]
    return _render("lint.md.jinja", shown=shown, marker=LINT_MARKER)


def _by_rule(report: LintReport) -> list[tuple[Finding, int]]:
    """The worst finding of each rule and how many there are, the worst and most frequent first."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    worst = [(max(each, key=lambda finding: finding.severity.rank), len(each)) for each in by_rule.values()]
    return sorted(worst, key=lambda each: (-each[0].severity.rank, -each[1], each[0].rule))


def fitting(render: Callable[[int], str], marker: str) -> str:
    """The text with as many rows as fit a comment; whole lines of it where none is few enough."""
    texts = (render(rows) for rows in _ROWS)
    text = next((text for text in texts if len(text) <= MAX_COMMENT), None)
    if text is not None:
        return text
    end = f"\n\nThe rest is too long for a comment; `--format json` has all.\n\n{marker}\n"
    kept = render(0)[: MAX_COMMENT - len(end)]
    return kept[: kept.rfind("\n")] + end


def _render(name: str, **values: object) -> str:
    # Autoescaping is for HTML; every text of a definition goes through `md`, which escapes HTML as well.
    environment = Environment(  # noqa: S701
        loader=PackageLoader("tdqs_mcp.report"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"md": markdown, "tenths": score_words}
    return environment.get_template(name).render(**values).strip() + "\n"
