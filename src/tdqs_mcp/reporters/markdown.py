"""Results as Markdown, for pull requests and pages."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from tdqs_mcp.model.results import LintReport, ServerScore, Ungraded, tier_of
from tdqs_mcp.pipeline.priority import first_fixes
from tdqs_mcp.reporters.escape import markdown
from tdqs_mcp.rubrics.rubric import load


def score_markdown(score: ServerScore) -> str:
    """A server's score as a table of all its tools, the lowest first, and what to fix first."""
    return _render(
        "score.md.jinja",
        score=score,
        overall=_tenths(score.rollup.overall),
        unjudged=score.coherence.reason if isinstance(score.coherence, Ungraded) and score.tools else None,
        keys=load("tdqs").keys,
        tools=sorted(score.tools, key=lambda tool: (tool.tdqs, tool.index)),
        fixes=first_fixes(score, 5),
    )


def lint_markdown(report: LintReport) -> str:
    """All findings as one table."""
    return _render("lint.md.jinja", report=report)


def _render(name: str, **values: object) -> str:
    # Autoescaping is for HTML; every text of a definition goes through `md`, which escapes HTML as well.
    environment = Environment(  # noqa: S701
        loader=PackageLoader("tdqs_mcp.reporters"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"md": markdown, "tenths": _tenths}
    return environment.get_template(name).render(**values).strip() + "\n"


def _tenths(tenths: int | None) -> str:
    return "no score" if tenths is None else f"{tenths / 10} {tier_of(tenths)}"
