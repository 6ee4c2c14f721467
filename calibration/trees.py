"""Boosted regression trees in integers, monotone where the rubric is; every split rests on many servers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

UNIT = 1000
"""Points are thousandths of a score point."""

FEWEST_SERVERS = 30
"""Servers with a case on either side of a split, below which it is not evidence."""

MOST_BINS = 20
"""Steps into which a feature with many values is cut."""

Tree: TypeAlias = int | list[Any]
"""Points, or a feature's place, a threshold, the tree for values up to it, and the tree for values above."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Features of a dimension with their direction (1 never lowers, -1 never raises, 0 may do either), and settings."""

    directions: Mapping[str, int]
    rounds: int = 120
    rate: float = 0.08
    depth: int = 3
    fewest: int = 20
    """Cases in a leaf."""

    fewest_servers: int = FEWEST_SERVERS
    shrinkage: float = 5.0
    rows: float = 0.7
    """Share of the cases that each tree sees."""

    columns: float = 0.5
    """Share of the features that each tree sees."""

    on_changes: float = 0.5
    """Weight of the error of a change beside that of a level."""


@dataclass(frozen=True, kw_only=True)
class Forest:
    """Base and trees of one dimension, in thousandths."""

    features: tuple[str, ...]
    base: int
    trees: tuple[Tree, ...]

    def latent(self, table: Mapping[str, Ints]) -> Ints:
        """The unrounded scores of all cases, in thousandths."""
        matrix = np.stack([table[name] for name in self.features], axis=1)
        total = np.full(len(matrix), self.base, dtype=np.int64)
        for tree in self.trees:
            total += _points(tree, matrix)
        return total


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Cases that are one definition after and before a change: their places, and the change of the label."""

    after: Ints
    before: Ints
    changes: Floats


NO_PAIRS = Pairs(after=np.zeros(0, np.int64), before=np.zeros(0, np.int64), changes=np.zeros(0))


def fit(
    table: Mapping[str, Ints],
    labels: Floats,
    groups: NDArray[np.str_],
    plan: Plan,
    *,
    weights: Floats,
    pairs: Pairs = NO_PAIRS,
) -> Forest:
    """The forest of one dimension; the same data give the same trees.

    Squared errors of levels, by `weights`, and of the changes of `pairs` are minimized together.
    """
    features = tuple(plan.directions)
    matrix = np.stack([table[name] for name in features], axis=1)
    thresholds = [_thresholds(matrix[:, place]) for place in range(len(features))]
    bins = np.stack([np.searchsorted(cut, matrix[:, place]) for place, cut in enumerate(thresholds)], axis=1)
    _, servers = np.unique(groups, return_inverse=True)
    base = round(UNIT * float(np.average(labels, weights=weights)))
    latent = np.full(len(labels), base / UNIT)
    chance = np.random.default_rng(0)
    trees: list[Tree] = []
    curvature = weights.copy()
    np.add.at(curvature, pairs.after, plan.on_changes)
    np.add.at(curvature, pairs.before, plan.on_changes)
    for _ in range(plan.rounds):
        rows = np.flatnonzero(chance.random(len(labels)) < plan.rows)
        columns = np.sort(chance.choice(len(features), max(1, int(len(features) * plan.columns)), replace=False))
        gradients = (labels - latent) * weights
        missing = plan.on_changes * (pairs.changes - (latent[pairs.after] - latent[pairs.before]))
        np.add.at(gradients, pairs.after, missing)
        np.add.at(gradients, pairs.before, -missing)
        growth = _Growth(
            plan=plan,
            bins=bins,
            thresholds=thresholds,
            servers=servers,
            gradients=gradients,
            weights=curvature,
            columns=columns,
            signs=np.array(list(plan.directions.values())),
        )
        tree = growth.grow(rows, depth=0, low=-np.inf, high=np.inf)
        if isinstance(tree, int) and abs(tree) == 0:
            continue
        trees.append(tree)
        latent = latent + _points(tree, matrix) / UNIT
    return Forest(features=features, base=base, trees=tuple(trees))


@dataclass(frozen=True, kw_only=True)
class _Growth:
    plan: Plan
    bins: Ints
    thresholds: Sequence[Ints]
    servers: Ints
    gradients: Floats
    weights: Floats
    columns: Ints
    signs: Ints

    def grow(self, rows: Ints, *, depth: int, low: float, high: float) -> Tree:
        """The tree for some cases, its values within what splits above it allow."""
        plan = self.plan
        total, weight = self.gradients[rows].sum(), self.weights[rows].sum()
        value = float(np.clip(total / (weight + plan.shrinkage), low, high))
        leaf = round(UNIT * plan.rate * value)
        if depth == plan.depth or len(rows) < 2 * plan.fewest:
            return leaf
        found = [split for column in self.columns if (split := self._split(int(column), rows, low, high)) is not None]
        if not found:
            return leaf
        worth = 2 * total * value - (weight + plan.shrinkage) * value * value
        gain, column, place, left, right = max(found, key=lambda split: split[0])
        if gain - worth <= 1e-6:
            return leaf
        middle, sign = (left + right) / 2, self.signs[column]
        inside = self.bins[rows, column] <= place
        below = (low, min(high, middle)) if sign > 0 else (max(low, middle), high) if sign < 0 else (low, high)
        above = (max(low, middle), high) if sign > 0 else (low, min(high, middle)) if sign < 0 else (low, high)
        return [
            column,
            int(self.thresholds[column][place]),
            self.grow(rows[inside], depth=depth + 1, low=below[0], high=below[1]),
            self.grow(rows[~inside], depth=depth + 1, low=above[0], high=above[1]),
        ]

    def _split(self, column: int, rows: Ints, low: float, high: float) -> tuple[float, int, int, float, float] | None:
        """The best place to split at, with its worth and the values on either side."""
        plan, steps = self.plan, len(self.thresholds[column])
        if steps == 0:
            return None
        bins = self.bins[rows, column]
        gradients = np.bincount(bins, self.gradients[rows], steps + 1).cumsum()
        weights = np.bincount(bins, self.weights[rows], steps + 1).cumsum()
        counts = np.bincount(bins, minlength=steps + 1).cumsum()
        allowed = (counts[:-1] >= plan.fewest) & (len(rows) - counts[:-1] >= plan.fewest)
        allowed &= self._are_many_servers(bins, self.servers[rows], steps)
        left_sum, left_weight = gradients[:-1], weights[:-1] + plan.shrinkage
        right_sum, right_weight = gradients[-1] - left_sum, weights[-1] - weights[:-1] + plan.shrinkage
        left, right = np.clip(left_sum / left_weight, low, high), np.clip(right_sum / right_weight, low, high)
        allowed &= self.signs[column] * (right - left) >= 0
        if not allowed.any():
            return None
        worth = 2 * left_sum * left - left_weight * left**2 + 2 * right_sum * right - right_weight * right**2
        place = int(np.where(allowed, worth, -np.inf).argmax())
        return float(worth[place]), column, place, float(left[place]), float(right[place])

    def _are_many_servers(self, bins: Ints, servers: Ints, steps: int) -> NDArray[np.bool_]:
        """For each place, whether enough servers have a case up to it and above it."""
        lowest = np.full(self.servers.max() + 1, steps + 1)
        highest = np.full(self.servers.max() + 1, -1)
        np.minimum.at(lowest, servers, bins)
        np.maximum.at(highest, servers, bins)
        is_there = highest >= 0
        below = np.bincount(lowest[is_there], minlength=steps + 1).cumsum()[:-1]
        above = np.bincount(highest[is_there], minlength=steps + 1)[::-1].cumsum()[::-1][1:]
        enough: NDArray[np.bool_] = (below >= self.plan.fewest_servers) & (above >= self.plan.fewest_servers)
        return enough


def split_servers(groups: NDArray[np.str_], folds: int) -> list[NDArray[np.str_]]:
    """The servers of each fold; a server is in one fold."""
    servers = np.unique(groups)
    np.random.default_rng(0).shuffle(servers)
    return list(np.array_split(servers, folds))


def tabulate(rows: Sequence[Mapping[str, int]]) -> dict[str, Ints]:
    """Cases with features, as a column for each feature."""
    return {name: np.array([row[name] for row in rows], dtype=np.int64) for name in rows[0]} if rows else {}


def _points(tree: Tree, matrix: Ints) -> Ints:
    if isinstance(tree, int):
        return np.full(len(matrix), tree, dtype=np.int64)
    column, threshold, below, above = tree
    return np.where(matrix[:, column] <= threshold, _points(below, matrix), _points(above, matrix))


def _thresholds(values: Ints) -> Ints:
    different = np.unique(values)
    if len(different) <= MOST_BINS:
        return different[:-1]
    quantiles = np.quantile(values, np.linspace(0, 1, MOST_BINS + 1)[1:-1], method="lower")
    return np.unique(quantiles.astype(np.int64))
