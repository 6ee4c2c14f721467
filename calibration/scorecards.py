"""A scorecard fitted to labels: an elastic net over steps of facts, with signs where the rubric is monotone."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import ElasticNet

from tdqs_mcp.judges.features import CONTEXT

UNIT = 1000
"""Points are thousandths of a score point."""

QUANTILES = (0.08, 0.18, 0.3, 0.42, 0.54, 0.66, 0.78, 0.88, 0.95)
"""Where a fact with many values is cut into steps."""

FEWEST = 8
"""Labeled cases on either side of a step, below which it is not evidence."""

NEGLIGIBLE = 5
"""Points below which a step is dropped."""

Table = Mapping[str, NDArray[np.int64]]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a dimension may rest on, and which way: 1 never lowers, -1 never raises, 0 may do either."""

    directions: Mapping[str, int]
    contexts: Sequence[str] = ()
    """Facts in whose presence some others are fitted once more."""

    dependent: Sequence[str] = ()
    """Those others."""

    penalty: float = 0.02
    quantiles: Sequence[float] = QUANTILES


@dataclass(kw_only=True)
class Scorecard:
    """Base and steps, in thousandths, and the cuts between the scores 1 to 5."""

    base: int
    steps: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    cuts: list[int] = field(default_factory=list)

    def latent(self, table: Table) -> NDArray[np.int64]:
        """The unrounded scores of all cases, in thousandths."""
        total = np.full(len(next(iter(table.values()))), self.base, dtype=np.int64)
        for name, steps in self.steps.items():
            fact, _, context = name.partition(CONTEXT)
            for threshold, points in steps:
                total += points * _holds(table, fact, context, threshold)
        return total


def fit(table: Table, labels: NDArray[np.float64], plan: Plan) -> Scorecard:
    """The scorecard of one dimension; its cuts are set later, from predictions of unseen servers.

    With too few cases for any step it is their mean.
    """
    names, columns = _columns(table, plan)
    if not columns:
        return Scorecard(base=round(UNIT * float(labels.mean())))
    values = np.stack(columns, axis=1).astype(float)
    spread = values.std(axis=0) + 1e-3
    scaled = (values - values.mean(axis=0)) / spread
    signs = np.array([plan.directions[name.partition(CONTEXT)[0]] for name, _ in names])
    plus, minus = np.flatnonzero(signs >= 0), np.flatnonzero(signs <= 0)
    net = ElasticNet(alpha=plan.penalty, l1_ratio=0.5, positive=True, max_iter=3000, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net.fit(np.hstack([scaled[:, plus], -scaled[:, minus]]), labels)
    weights = np.zeros(len(names))
    weights[plus] += net.coef_[: len(plus)]
    weights[minus] -= net.coef_[len(plus) :]
    points = np.round(UNIT * weights / spread).astype(int)
    points[abs(points) < NEGLIGIBLE] = 0
    card = Scorecard(base=0)
    for (name, threshold), value in zip(names, points, strict=True):
        if value:
            card.steps.setdefault(name, []).append((threshold, int(value)))
    card.base = round(UNIT * float(labels.mean()) - float(card.latent(table).mean()))
    return card


def cuts(latent: NDArray[np.int64], labels: NDArray[np.int64]) -> list[int]:
    """Four cuts, each halfway between the rounding point and the one that gives every score its share of the cases.

    Rounding alone predicts the frequent scores too often, matching shares alone costs absolute error.
    """
    ordered = np.sort(latent)
    found = []
    for score in (1, 2, 3, 4):
        below = int((labels <= score).sum())
        share = int(ordered[min(below, len(ordered) - 1)]) if below else UNIT * score - UNIT // 2
        found.append((share + UNIT * score + UNIT // 2) // 2)
    return found


def cross_validate(
    table: Table,
    labels: NDArray[np.int64],
    groups: NDArray[np.str_],
    plans: Sequence[Plan],
    *,
    folds: int = 10,
    scale: int = 1,
) -> NDArray[np.int64]:
    """The latent of every case from a fit without its server; `scale` divides labels that are sums."""
    latent = np.zeros(labels.shape, dtype=np.int64)
    for held_out in split(groups, folds):
        seen = {name: values[~held_out] for name, values in table.items()}
        unseen = {name: values[held_out] for name, values in table.items()}
        for dimension, plan in enumerate(plans):
            card = fit(seen, labels[~held_out, dimension] / scale, plan)
            latent[held_out, dimension] = card.latent(unseen)
    return latent


def split(groups: NDArray[np.str_], folds: int) -> list[NDArray[np.bool_]]:
    """Masks of the held-out cases; a server is never on both sides."""
    servers = np.unique(groups)
    np.random.default_rng(0).shuffle(servers)
    return [np.isin(groups, part) for part in np.array_split(servers, folds)]


def scores(latent: NDArray[np.int64], cuts_: Sequence[int]) -> NDArray[np.int64]:
    """The integer scores, 1-5."""
    return 1 + sum((latent >= cut).astype(np.int64) for cut in cuts_)


def tabulate(rows: Sequence[Mapping[str, int]]) -> Table:
    """Cases with facts, as a column for each fact."""
    return {name: np.array([row[name] for row in rows], dtype=np.int64) for name in rows[0]}


def _columns(table: Table, plan: Plan) -> tuple[list[tuple[str, int]], list[NDArray[np.bool_]]]:
    names: list[tuple[str, int]] = []
    columns: list[NDArray[np.bool_]] = []
    seen: set[bytes] = set()
    for context in ("", *plan.contexts):
        for fact in plan.dependent if context else plan.directions:
            if fact == context:
                continue
            for threshold in _thresholds(table[fact], plan.quantiles):
                column = _holds(table, fact, context, threshold)
                if FEWEST <= column.sum() <= len(column) - FEWEST and column.tobytes() not in seen:
                    seen.add(column.tobytes())
                    names.append((f"{fact}{CONTEXT}{context}" if context else fact, threshold))
                    columns.append(column)
    return names, columns


def _thresholds(values: NDArray[np.int64], quantiles: Sequence[float]) -> list[int]:
    """A step holds above its threshold."""
    different = np.unique(values)
    if len(different) <= 7:
        return [int(value) for value in different[:-1]]
    return sorted({int(np.quantile(values, quantile)) for quantile in quantiles})


def _holds(table: Table, fact: str, context: str, threshold: int) -> NDArray[np.bool_]:
    holds: NDArray[np.bool_] = table[fact] > threshold
    return holds & (table[context] > 0) if context else holds


Predict = Callable[[Table], NDArray[np.int64]]
