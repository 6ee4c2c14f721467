"""The use cases of `app` for callers without an event loop; inside one, await those of `app`."""

from collections.abc import Awaitable, Callable
from functools import partial, wraps
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from tdqs_mcp import app
from tdqs_mcp.model.catalog import Catalog
from tdqs_mcp.sources.locator import LiveOptions

if TYPE_CHECKING:
    from tdqs_mcp.judges.judge import Judge
    from tdqs_mcp.results.scores import ServerScore

P = ParamSpec("P")
Result = TypeVar("Result")


def load(locator: str, options: LiveOptions | None = None) -> Catalog:
    """The catalog that a locator names. Raises InputError and CaptureError."""
    return app.load_still(locator) or _blocking(app.load)(locator, options)


def score(catalog: Catalog, *, judge: "Judge | None" = None, **options: Any) -> "ServerScore":  # noqa: ANN401
    """A catalog's score with its findings, by the offline judge unless another is named; options as for `app.score`."""
    if judge is None:
        return app.score_offline(catalog, **options)
    return _blocking(app.score)(catalog, judge=judge, **options)


def _blocking(use: Callable[P, Awaitable[Result]]) -> Callable[P, Result]:
    """The use case in an event loop of its own."""

    @wraps(use)
    def run(*args: P.args, **options: P.kwargs) -> Result:
        import anyio  # noqa: PLC0415  # importing the library, or reading a file, costs no event loop

        return anyio.run(partial(use, *args, **options))

    return run


if TYPE_CHECKING:
    calibrate = _blocking(app.calibrate)
    collect_batch = _blocking(app.collect_batch)
    compare = _blocking(app.compare)
    plan = _blocking(app.plan)
    rewrite = _blocking(app.rewrite)
    run_suite = _blocking(app.run_suite)
    score_labels = _blocking(app.score_labels)
    score_skill = _blocking(app.score_skill)
    select = _blocking(app.select)
    submit_batch = _blocking(app.submit_batch)
    what_if = _blocking(app.what_if)
else:

    def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever is exported
        """A use case, imported when it is first used."""
        use = getattr(app, name)
        return _blocking(use) if iscoroutinefunction(use) else use
