"""Fit a calibration of the offline judge: python calibration/fit.py VERSION FOLDER...

Each FOLDER has definitions: `catalogs/*.json` as capture_corpus.py writes them, and public data sets beside them.
Labels stand in this repository, by inputHash. Writes the calibration and its published error below
src/tdqs_mcp, and its evidence below calibration/evidence.
"""

import datetime as dt
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import labels as source
import numpy as np
import published_error
import sentence_fit
from labels import COMPONENTS, Definitions, Edit, Labeled
from numpy.typing import NDArray
from plans import COHERENCE, SMELLS, TOOL
from trees import UNIT, Forest, Pairs, Plan, fit, split_servers, tabulate

from tdqs_mcp.canonical import round_half_up
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.toolset.coherence import ToolSet
from tdqs_mcp.judges.features import of_set, of_tool
from tdqs_mcp.judges.offline import Rounding, versions
from tdqs_mcp.judges.sentence_model import SentenceModel, read_model, read_text
from tdqs_mcp.judges.verdict_guard import BRIEF, LOW
from tdqs_mcp.results.verdicts import Tier
from tdqs_mcp.rubrics.rubric import load

TARGET = Path(__file__).parent.parent / "src" / "tdqs_mcp" / "judges" / "data"
FOLDS = 10
BANDS = 4
"""Ranges of latent TDQS whose errors are kept apart, with equally many labeled tools."""

QUANTILES = [(2 * step + 1) / 40 for step in range(20)]
"""Where an error distribution is read: every point stands for 5% of the tools."""

HELD = 50
"""Of so many honest labels, one may be held."""

HALF = 5
"""Half a point in tenths."""

MAX_LINE = 400
"""Characters after which a line of the evidence ends with the server."""

CAPTURED = ("npm:", "pypi:")
"""How the source of a captured tool begins: the servers of today, for which ranges are meant."""

WEIGHTS = np.array([dimension.weight for dimension in load("tdqs").dimensions])
ROUNDING = Rounding(
    weights=[int(weight) for weight in WEIGHTS],
    means=[3900, 2600, 2800, 3100, 4000, 2900],
    stretch=[30, 10, 10, 10, 30, 10],
    total_stretch=5,
)
"""Means of the labels; predictions lie nearer to them than labels do, most so in purpose and conciseness."""

HALVES = [UNIT * score + UNIT // 2 for score in (1, 2, 3, 4)]

Sentences = tuple[str, Subject, list[tuple[int, ...]]]
Rows = list[dict[str, Any]]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Folds:
    """The servers of each fold, with the sentence model that was fitted without them, and one fitted on all."""

    servers: Sequence[NDArray[np.str_]]
    models: Sequence[SentenceModel]
    table: Mapping[str, Any]
    model: SentenceModel

    def features(self, subject: Subject, server: str) -> dict[str, int]:
        """The features of a definition, read by a model that has not seen its server."""
        place = next((place for place, part in enumerate(self.servers) if server in part), None)
        return features(subject, self.model if place is None else self.models[place])

    def masks(self, groups: NDArray[np.str_]) -> list[NDArray[np.bool_]]:
        """The cases of each fold."""
        return [np.isin(groups, part) for part in self.servers]


def features(subject: Subject, model: SentenceModel) -> dict[str, int]:
    """Return what the trees see of a definition."""
    text = read_text(subject)
    return of_tool(subject, text, model.read(text))


def main(version: str, folders: Sequence[Path]) -> None:
    """Fit everything that the folders have definitions for, and write all files."""
    definitions, known = Definitions(folders), published_error.evidence(versions()[0])
    tools, edits = source.tools(definitions, known), source.edits(definitions)
    folds = _read_sentences(definitions, tools, edits)
    cases = _cases(tools, edits, folds)
    rows, edited, forests, bands = _fit_tools(tools, edits, cases, folds)
    unseen = _predict(source.unseen(definitions), folds, forests, bands)
    set_rows, set_forests = _fit_sets(source.servers(definitions, known))
    component_rows, component_forests = _fit_components(source.components(definitions), folds)
    published = _published(definitions, folds, cases)
    evidence = {
        "tools": rows,
        "unseen": unseen,
        "edits": edited,
        "unseenEdits": _predict_edits(source.unseen_edits(definitions), folds, forests),
        "servers": set_rows,
        "components": component_rows,
        "published": published,
    }
    error = np.mean([abs(_total(row["labels"]) - sum(row["latents"] * WEIGHTS) / 100 / 100) for row in rows]) / 10
    names = ("tool_labels.jsonl", "sentence_labels.jsonl", "written_sentences.jsonl", "edits.jsonl")
    written = {
        "calibration": version,
        "provenance": {
            "labels": {name: hashlib.sha256((source.LABELS / name).read_bytes()).hexdigest()[:16] for name in names},
            "script": "calibration/fit.py",
            "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
            "error": f"mean |delta TDQS| {error:.3f} before rounding, in cross-validation by server",
        },
        "unit": "thousandths; a tree is points, or [feature, threshold, tree up to it, tree above it]",
        "guard": {"unit": "tenths above the estimate", "bound": guard(evidence)},
        "error": published_error.figures(evidence),
        "gains": published_error.gains(evidence["edits"]),
        "logistic": sentence_fit.LOGISTIC,
        "sentences": folds.table,
        "rubrics": {"tdqs": forests, "coherence": set_forests, "smells": component_forests},
        "rounding": {
            "means": ROUNDING.means,
            "stretch": ROUNDING.stretch,
            "total_stretch": ROUNDING.total_stretch,
        },
        "bands": bands,
    }
    write(TARGET / "calibrations" / f"{version}.json", written)
    write_evidence(published_error.EVIDENCE / f"{version}.json", version, evidence)
    published_error.write(version)


def _read_sentences(definitions: Definitions, tools: Sequence[Labeled], edits: Sequence[Edit]) -> Folds:
    labeled = source.sentences(definitions, edits)
    examples = sentence_fit.examples(labeled, edits)
    particular = particular_fit(definitions, labeled, edits, [(each.group, each.facts) for each in tools])
    groups = np.array([*(each.group for each in tools), *(each.group for each in examples)])
    servers = split_servers(groups, FOLDS)
    models = []
    for part in servers:
        held_out = set(part)
        table = sentence_fit.fit([each for each in examples if each.group not in held_out])
        models.append(read_model(table | particular(held_out), sentence_fit.LOGISTIC))
    table = sentence_fit.fit(examples) | particular(frozenset())
    print(f"{len(examples)} sentences of {len(labeled)} definitions")
    return Folds(servers=servers, models=models, table=table, model=read_model(table, sentence_fit.LOGISTIC))


def particular_fit(
    definitions: Definitions,
    labeled: Sequence[Sentences],
    edits: Sequence[Edit],
    subjects: Sequence[tuple[str, Any]],
) -> Callable[[AbstractSet[str]], dict[str, Any]]:
    """Return what fits the part of the sentence model about particular sentences without some servers."""
    examples = sentence_fit.labeled_examples(labeled)
    written = [
        *sentence_fit.written_examples(source.written(definitions)),
        *sentence_fit.edited_examples(edits),
    ]
    found = [
        *subjects,
        *((server, subject) for server, each in definitions.catalogs.items() for subject in each.subjects),
    ]

    def fit_without(servers: AbstractSet[str]) -> dict[str, Any]:
        parts = ([each for each in part if each.group not in servers] for part in (examples, written))
        return sentence_fit.particular_table(*parts, found)

    return fit_without


@dataclass(frozen=True, kw_only=True)
class Cases:
    """Tools, then changed definitions after and before the change, with their features and labels."""

    table: Mapping[str, Ints]
    labels: Ints
    groups: NDArray[np.str_]
    tools: int
    edits: int

    @property
    def after(self) -> slice:
        """The changed definitions."""
        return slice(self.tools, self.tools + self.edits)

    def forest(self, place: int, plan: Plan, seen: NDArray[np.bool_]) -> Forest:
        """The forest of one dimension from some of the cases; definitions of a change have no weight of their own."""
        weights = np.ones(len(self.groups))
        weights[self.tools :] = 0
        position = np.cumsum(seen) - 1
        after = np.arange(self.tools, self.tools + self.edits)[seen[self.after]]
        before = after + self.edits
        labels = self.labels[:, place].astype(float)
        return fit(
            _rows(self.table, seen),
            labels[seen],
            self.groups[seen],
            plan,
            weights=weights[seen],
            pairs=Pairs(after=position[after], before=position[before], changes=labels[after] - labels[before]),
        )


def _cases(tools: Sequence[Labeled], edits: Sequence[Edit], folds: Folds) -> Cases:
    subjects = [each.facts for each in tools if isinstance(each.facts, Subject)]
    groups = [each.group for each in tools], [each.group for each in edits]
    return Cases(
        table=tabulate(
            [
                folds.features(subject, group)
                for subject, group in zip(
                    [*subjects, *(each.after for each in edits), *(each.before for each in edits)],
                    [*groups[0], *groups[1], *groups[1]],
                    strict=True,
                )
            ]
        ),
        labels=np.array(
            [
                *(each.labels for each in tools),
                *(each.labels for each in edits),
                *(each.labels_before for each in edits),
            ]
        ),
        groups=np.array([*groups[0], *groups[1], *groups[1]]),
        tools=len(tools),
        edits=len(edits),
    )


def _fit_tools(
    tools: Sequence[Labeled], edits: Sequence[Edit], cases: Cases, folds: Folds
) -> tuple[Rows, Rows, dict[str, Any], list[dict[str, Any]]]:
    """Predictions for tools and edits of servers that the fit had not seen, the trees from all, and error bands."""
    latents = np.zeros(cases.labels.shape, dtype=np.int64)
    for part in folds.servers:
        held_out = np.isin(cases.groups, part)
        for place, plan in enumerate(TOOL.values()):
            forest = cases.forest(place, plan, ~held_out)
            latents[held_out, place] = forest.latent(_rows(cases.table, held_out))
    everything = np.ones(len(cases.groups), dtype=bool)
    forests = {
        key: _written(cases.forest(place, plan, everything), HALVES) for place, (key, plan) in enumerate(TOOL.items())
    }
    labels, groups = cases.labels, cases.groups
    latents_before = latents[len(tools) + len(edits) :]
    count = len(tools)
    sums = totals(latents[:count])
    errors = 100 * np.array([_total(row) for row in labels[:count]]) - sums
    is_captured = np.array([each.id["source"].startswith(CAPTURED) for each in tools])
    bands = _bands(sums[is_captured], errors[is_captured])
    rows = []
    for place, each in enumerate(tools):
        assert isinstance(each.facts, Subject)
        others = is_captured & (groups[:count] != each.group)
        rows.append(
            {
                **each.id,
                "labels": [int(label) for label in each.labels],
                "predicted": rounded(latents[place]),
                "latents": [int(value) for value in latents[place]],
                **odds(int(sums[place]), _bands(sums[others], errors[others])),
                **_circumstances(each.facts),
            }
        )
    edited = [_changed(each, latents_before[place], latents[count + place]) for place, each in enumerate(edits)]
    return rows, edited, forests, bands


def _predict(
    labeled: Sequence[Labeled], folds: Folds, forests: Mapping[str, Any], bands: Sequence[Mapping[str, Any]]
) -> Rows:
    """Return what the shipped calibration predicts for tools that nothing was made on."""
    subjects = [each.facts for each in labeled if isinstance(each.facts, Subject)]
    return [
        {
            **each.id,
            "labels": [int(label) for label in each.labels],
            "predicted": rounded(latents),
            **odds(int(totals(latents[None])[0]), bands),
            **_circumstances(subject),
        }
        for each, subject, latents in zip(labeled, subjects, _latents(subjects, folds, forests), strict=True)
    ]


def _predict_edits(edits: Sequence[Edit], folds: Folds, forests: Mapping[str, Any]) -> Rows:
    """Return what the shipped calibration predicts for changed definitions."""
    before = _latents([each.before for each in edits], folds, forests)
    after = _latents([each.after for each in edits], folds, forests)
    return [_changed(each, before[place], after[place]) for place, each in enumerate(edits)]


def _latents(subjects: Sequence[Subject], folds: Folds, forests: Mapping[str, Any]) -> Ints:
    table = tabulate([features(subject, folds.model) for subject in subjects])
    return np.stack([_read(forest).latent(table) for forest in forests.values()], axis=1)


def _changed(edit: Edit, before: Ints, after: Ints) -> dict[str, Any]:
    return {
        "server": edit.group,
        "tool": edit.tool,
        "edit": edit.kind,
        "before": list(edit.labels_before),
        "after": list(edit.labels),
        "predictedBefore": rounded(before),
        "predictedAfter": rounded(after),
    }


def _circumstances(subject: Subject) -> dict[str, Any]:
    signals, prose = subject.signals, subject.prose
    return {
        "bytes": signals.definition_bytes,
        "words": prose.word_count,
        "language": prose.language,
        "hints": signals.has_hints,
    }


def _fit_sets(servers: Sequence[Labeled]) -> tuple[Rows, dict[str, Any]]:
    table = tabulate([of_set(each.facts) for each in servers if isinstance(each.facts, ToolSet)])
    rows, forests = fit_plainly(servers, table, COHERENCE)
    for row in rows:
        del row["latents"]
    return rows, forests


def fit_plainly(
    labeled: Sequence[Labeled], table: Mapping[str, Ints], plans: Mapping[str, Plan], *, scale: int = 1
) -> tuple[Rows, dict[str, Any]]:
    """Predictions of unseen servers, and the trees from all; `scale` divides labels that are sums."""
    labels, groups = np.array([each.labels for each in labeled]), np.array([each.group for each in labeled])
    latents = np.zeros(labels.shape, dtype=np.int64)
    forests = {}
    for place, (key, plan) in enumerate(plans.items()):
        wanted = labels[:, place] / scale
        for part in split_servers(groups, FOLDS):
            held_out = np.isin(groups, part)
            latents[held_out, place] = _forest(table, wanted, groups, plan, ~held_out).latent(_rows(table, held_out))
        forests[key] = _written(_forest(table, wanted, groups, plan, None), HALVES)
    rows = [
        {
            **each.id,
            "labels": [int(label) for label in each.labels],
            "predicted": [int(_plain(value)) for value in latents[place]],
            "latents": [int(value) for value in latents[place]],
        }
        for place, each in enumerate(labeled)
    ]
    return rows, forests


def _fit_components(labeled: Sequence[Labeled], folds: Folds) -> tuple[Rows, dict[str, Any]]:
    """The paper's components; a score below 3 is a smell, so that cut is where F1 is best on other servers."""
    subjects = [each.facts for each in labeled if isinstance(each.facts, Subject)]
    table = tabulate([features(subject, folds.model) for subject in subjects])
    rows, forests = fit_plainly(labeled, table, SMELLS, scale=3)
    latents = np.array([row["latents"] for row in rows])
    smells = np.array([[median < 3 for median in each.medians] for each in labeled])
    groups = np.array([each.group for each in labeled])
    for row, each, subject in zip(rows, labeled, subjects, strict=True):
        row |= {"medians": list(each.medians), "smells": [], "words": subject.prose.word_count}
        del row["predicted"]
    for place, key in enumerate(COMPONENTS):
        cuts = [*HALVES]
        cuts[1] = _smell_cut(latents[:, place], smells[:, place])
        forests[key]["cuts"] = sorted(cuts)
        predicted = np.zeros(len(labeled), dtype=bool)
        for part in split_servers(groups, FOLDS):
            fold = np.isin(groups, part)
            predicted[fold] = latents[fold, place] < _smell_cut(latents[~fold, place], smells[~fold, place])
        for row, is_smell in zip(rows, predicted, strict=True):
            row["smells"].append(bool(is_smell))
    return rows, forests


def _smell_cut(latent: Ints, smells: NDArray[np.bool_]) -> int:
    def f1(cut: int) -> float:
        hits = ((latent < cut) & smells).sum()
        return float(2 * hits / ((latent < cut).sum() + smells.sum()))

    return max((int(cut) for cut in np.quantile(latent, np.linspace(0.3, 1, 141))), key=f1)


def _published(definitions: Definitions, folds: Folds, cases: Cases) -> Rows:
    """The registry's own numbers beside predictions from fits that never saw the server."""
    fitted: dict[int, list[Forest]] = {}
    found = []
    for row, subject in source.published(definitions):
        scores = [scoring["tdqs"] for scoring in row["scorings"] if scoring.get("tdqs") is not None]
        if not scores:
            continue
        fold = next((place for place, part in enumerate(folds.servers) if row["server"] in part), -1)
        if fold not in fitted:
            unseen = np.isin(cases.groups, folds.servers[fold]) if fold >= 0 else np.zeros(len(cases.groups), bool)
            fitted[fold] = [cases.forest(place, plan, ~unseen) for place, plan in enumerate(TOOL.values())]
        given = tabulate([folds.features(subject, row["server"])])
        latents = np.array([forest.latent(given)[0] for forest in fitted[fold]])
        found.append(
            {
                "server": row["server"],
                "tool": row["tool"],
                "inputHash": subject.signals.input_hash,
                "published": round(1000 * sum(scores) / len(scores)),
                "predicted": 100 * _total(rounded(latents)),
            }
        )
    return found


def _forest(
    table: Mapping[str, Ints],
    labels: NDArray[Any],
    groups: NDArray[np.str_],
    plan: Plan,
    chosen: NDArray[np.bool_] | None,
) -> Forest:
    mask = np.ones(len(labels), dtype=bool) if chosen is None else chosen
    weights = np.ones(int(mask.sum()))
    return fit(_rows(table, mask), labels[mask].astype(float), groups[mask], plan, weights=weights)


def _rows(table: Mapping[str, Ints], mask: NDArray[np.bool_]) -> dict[str, Ints]:
    return {name: values[mask] for name, values in table.items()}


def _written(forest: Forest, cuts: Sequence[int]) -> dict[str, Any]:
    return {"features": forest.features, "base": forest.base, "cuts": list(cuts), "trees": forest.trees}


def _read(written: Mapping[str, Any]) -> Forest:
    return Forest(features=written["features"], base=written["base"], trees=written["trees"])


def rounded(latents: Ints) -> list[int]:
    """Return the scores for some latents."""
    return ROUNDING.round([int(each) for each in np.clip(latents, UNIT, 5 * UNIT)])


def _plain(latent: int) -> int:
    return max(1, min(5, (int(latent) + UNIT // 2) // UNIT))


def totals(latents: Ints) -> Ints:
    """The weighted latents in thousandths."""
    totals: Ints = (np.clip(latents, UNIT, 5 * UNIT) @ WEIGHTS) // 100
    return totals


def _total(scores: Iterable[int]) -> int:
    """TDQS in tenths."""
    return int((20 * int(np.array(list(scores)) @ WEIGHTS) + 100) // 200)


def _bands(totals: Ints, errors: Ints) -> list[dict[str, Any]]:
    """Errors by range of the prediction, at evenly spaced quantiles."""
    edges = [int(edge) for edge in np.quantile(totals, np.linspace(0, 1, BANDS + 1)[1:-1])]
    bands = []
    for low, high in pairwise([0, *edges, 10 * UNIT]):
        inside = errors[(totals >= low) & (totals < high)]
        bands.append({"below": high, "errors": [int(each) for each in np.quantile(inside, QUANTILES)]})
    return bands


def odds(total: int, bands: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    """The middle 80% in tenths and the percent of every tier."""
    errors = next(band["errors"] for band in bands if total < band["below"])
    tenths = [max(10, min(50, (total + error + 50) // 100)) for error in errors]
    edges = [51, *(tier.floor for tier in Tier if tier is not Tier.F)]
    shares = [5 * sum(lower <= value < upper for value in tenths) for upper, lower in pairwise(edges)]
    return {"range": [tenths[2], tenths[-3]], "tiers": shares}


def guard(evidence: Mapping[str, Rows]) -> dict[str, int]:
    """Tenths that a model's score may lie above the estimate: what at most 2 in 100 honest labels exceed.

    Half a point for what is tampered with or brief, and a point for the smells, are policy.
    """
    rows = [(_total(row["labels"]), _total(row["predicted"]), row["words"]) for row in evidence["tools"]]
    above = sorted(label - estimate for label, estimate, words in rows if estimate >= LOW or words >= BRIEF)
    held = sum(label - estimate > HALF for label, estimate, words in rows if estimate < LOW and words < BRIEF)
    sets = sorted(_mean_in_tenths(row["labels"]) - _mean_in_tenths(row["predicted"]) for row in evidence["servers"])
    return {
        "tdqs": above[-1 - max(0, len(rows) // HELD - held)],
        "brief": HALF,
        "tampered": HALF,
        "coherence": sets[99 * len(sets) // 100],
        "smells": 10,
    }


def _mean_in_tenths(scores: Sequence[int]) -> int:
    return round_half_up(sum(scores), len(scores))


def write_evidence(path: Path, version: str, tables: Mapping[str, Any]) -> None:
    """Columns and rows by table; once a line is long, a new server begins another, so that a diff stays readable."""
    parts = [f'"calibration":"{version}"', *(f'"{name}":{_table_text(rows)}' for name, rows in tables.items())]
    path.write_text("{" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def _table_text(rows: Sequence[Mapping[str, Any]]) -> str:
    columns, lines, server = list(rows[0]), [""], None
    for row in rows:
        if row["server"] != server and len(lines[-1]) > MAX_LINE:
            lines.append("")
        server = row["server"]
        text = json.dumps([row[column] for column in columns], ensure_ascii=False, separators=(",", ":"))
        lines[-1] += f",{text}" if lines[-1] else text
    return '{"columns":' + json.dumps(columns, separators=(",", ":")) + ',"rows":[\n' + ",\n".join(lines) + "\n]}"


def write(path: Path, document: Mapping[str, Any]) -> None:
    """JSON with a line for every forest and every column of weights, so that a refit is a readable diff."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    keys = ("guard", "gains", "logistic", "sentences", "rubrics", "rounding", "bands")
    for mark in (*(f'"{key}":' for key in keys), '"error":{', '{"below"'):  # the provenance has an "error" too
        text = text.replace(mark, f"\n{mark}")
    for key in [*TOOL, *COHERENCE, *SMELLS]:
        text = text.replace(f'"{key}":{{', f'\n"{key}":{{')
    path.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], [Path(folder) for folder in sys.argv[2:]])
