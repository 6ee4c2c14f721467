"""The use cases for callers without an event loop; inside one, await those of `app`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tdqs_mcp import app
from tdqs_mcp.judges.judge import Judge, Model
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.model.material import NOTHING, Material
from tdqs_mcp.results.calibration import CalibrationReport
from tdqs_mcp.results.comparison import Comparison
from tdqs_mcp.results.gate import GateRow
from tdqs_mcp.results.labels import LabelScore, SkillScore
from tdqs_mcp.results.plan import Plan, WhatIf
from tdqs_mcp.results.rewrites import Mode, Rewrite
from tdqs_mcp.results.scores import ServerScore
from tdqs_mcp.sources.live import LiveOptions

if TYPE_CHECKING:
    from tdqs_mcp.model.mutation import Mutation
    from tdqs_mcp.results.selection import Query, Selection
    from tdqs_mcp.rewriting.selectors import Selector


def load(locator: str, options: LiveOptions | None = None) -> Catalog:
    """The catalog that a locator names. Raises InputError and CaptureError."""
    catalog = app.load_still(locator)
    if catalog is not None:
        return catalog
    from anyio import run  # noqa: PLC0415  # importing the library, or reading a file, costs no event loop

    return run(app.load, locator, options)


def run_suite(path: Path, options: LiveOptions | None = None) -> list[GateRow]:
    """A row for each entry of a suite file. Raises InputError for a file that is no suite."""
    from anyio import run  # noqa: PLC0415

    return run(app.run_suite, app.read_suite(path), options)


def score(catalog: Catalog, *, judge: Judge | None = None, spec: str = app.DEFAULT_SPEC) -> ServerScore:
    """A catalog's score, by the offline judge unless another is named, with its findings."""
    if judge is None:
        return app.score_offline(catalog, spec=spec)
    from anyio import run  # noqa: PLC0415

    return run(lambda: app.score(catalog, judge=judge, spec=spec))


def submit_batch(catalogs: Catalog | Sequence[Catalog], *, judge: Judge, rubric: str = "tdqs") -> str:
    """Submits all that these catalogs have to ask; gives back JSON to write down. Raises InputError, EndpointError."""
    from anyio import run  # noqa: PLC0415

    return run(lambda: app.submit_batch(catalogs, judge=judge, rubric=rubric))


def collect_batch(batch: str, catalogs: Catalog | Sequence[Catalog], *, judge: Judge) -> list[str] | None:
    """Keeps a batch's answers, which scoring then finds; why some have none, and None while it is under way."""
    from anyio import run  # noqa: PLC0415

    return run(lambda: app.collect_batch(batch, catalogs, judge=judge))


def score_labels(
    catalog: Catalog,
    *,
    rubric: str,
    judge: Judge | None = None,
    skill: str | None = None,
    spec: str = app.DEFAULT_SPEC,
) -> LabelScore:
    """A catalog under a rubric that ends in labels, "smells" or "bundles"."""
    from anyio import run  # noqa: PLC0415

    return run(lambda: app.score_labels(catalog, rubric=rubric, judge=judge, skill=skill, spec=spec))


def score_skill(catalog: Catalog, text: str, *, judge: Judge | None = None) -> SkillScore:
    """A server's skill text beside its tools."""
    from anyio import run  # noqa: PLC0415

    return run(lambda: app.score_skill(catalog, text, judge=judge))


def rewrite(
    catalog: Catalog,
    *,
    tools: Sequence[str] | None = None,
    mode: Mode = Mode.COMPACT,
    growth: int | None = None,
    material: Material = NOTHING,
    writer: Model | None = None,
    judge: Judge | None = None,
    spec: str = app.DEFAULT_SPEC,
) -> list[Rewrite]:
    """A better definition for every tool, or for the named ones, each with its proof. Raises UnknownIdError."""
    from anyio import run  # noqa: PLC0415

    return run(
        lambda: app.rewrite(
            catalog, tools=tools, mode=mode, growth=growth, material=material, writer=writer, judge=judge, spec=spec
        )
    )


def plan(catalog: Catalog, *, target: str = "A", judge: Judge | None = None) -> Plan:
    """The cheapest rewrites that bring the overall score to a tier or a number. Raises InputError."""
    from anyio import run  # noqa: PLC0415

    return run(lambda: app.plan(catalog, target=target, judge=judge))


def what_if(catalog: Catalog, tool: str, *, judge: Judge | None = None) -> list[WhatIf]:
    """What the overall score becomes when one tool gets better. Raises UnknownIdError and InputError."""
    from anyio import run  # noqa: PLC0415

    return run(lambda: app.what_if(catalog, tool, judge=judge))


def compare(old: Catalog, new: Catalog, *, judge: Judge | None = None, spec: str = app.DEFAULT_SPEC) -> Comparison:
    """Two versions of a catalog: scores, findings, tokens, and what breaks callers."""
    from anyio import run  # noqa: PLC0415

    return run(lambda: app.compare(old, new, judge=judge, spec=spec))


def select(
    catalogs: Sequence[Catalog],
    *,
    queries: "Sequence[Query] | None" = None,
    against: Sequence[Catalog] | None = None,
    mutation: "Mutation | None" = None,
    selector: "Selector | None" = None,
    k: int = 5,
) -> "Selection":
    """How often the right tool is found for a query, by BM25 unless another selector is named. Raises InputError."""
    from anyio import run  # noqa: PLC0415

    return run(
        lambda: app.select(catalogs, queries=queries, against=against, mutation=mutation, selector=selector, k=k)
    )


def calibrate(catalogs: Sequence[Catalog] = (), *, judge: Judge | None = None) -> CalibrationReport:
    """How far a judge lies off the prompt's own examples and the labelled tools of some catalogs."""
    from anyio import run  # noqa: PLC0415

    return run(lambda: app.calibrate(catalogs, judge=judge))
