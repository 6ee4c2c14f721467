"""Fits the weights that tell an author's answer from a non-answer: a sparse logistic regression over word stems.

`answer_fit.py SERVERS` reads `answer_labels.jsonl`, the informative sentences of `written_sentences.jsonl` and short
sentences of the captured definitions in the folder SERVERS; writes `facts/data/answers.toml` and prints the error on
the answers of the part `check`, which the fit does not see.
"""

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from tdqs_mcp.facts.spelling import words_of
from tdqs_mcp.facts.text.prose import sentences_of
from tdqs_mcp.rewriting.author_material import traits
from tdqs_mcp.sources.files import read_file

HERE = Path(__file__).parent
TABLE = HERE.parent / "src" / "tdqs_mcp" / "facts" / "data" / "answers.toml"
STRENGTH, FOREIGN_WEIGHT, MOST_FOREIGN = 20, 0.2, 600
MISSED = 0.18
"""Share of the non-answers that cross-validation may leave written.

With fewer, true answers of whole sentences are asked again.
"""


def definition_sentences(folder: Path) -> Iterator[str]:
    """Yield short sentences of captured descriptions, 60 of a server at most."""
    for file in sorted(folder.glob("*.json")):
        texts = [tool.description or "" for tool in read_file(file).tools]
        sentences = dict.fromkeys(sentence for text in texts for sentence in sentences_of(text))
        yield from [text for text in sentences if text.isascii() and 2 <= len(words_of(text)) <= 14][:60]


def matrix(texts: Sequence[str], places: dict[str, int]) -> csr_matrix:
    """Return a row of traits for each text."""
    entries = [(row, places[trait]) for row, text in enumerate(texts) for trait in traits(text) if trait in places]
    rows, columns = zip(*entries, strict=True)
    return csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(texts), len(places)))


def fit(empty: Sequence[str], telling: Sequence[str], foreign: Sequence[str]) -> tuple[dict[str, int], int]:
    """Return the weights of the traits that a non-answer has, and the base, in hundredths."""
    counts = Counter(trait for text in (*telling, *foreign) for trait in traits(text))
    known = sorted({trait for text in empty for trait in traits(text)} | {trait for trait in counts if trait[0] == "*"})
    places = {trait: place for place, trait in enumerate(known)}
    texts = (*empty, *telling, *foreign)
    labels = [1] * len(empty) + [0] * (len(telling) + len(foreign))
    weights = [1.0] * (len(empty) + len(telling)) + [FOREIGN_WEIGHT] * len(foreign)
    model = LogisticRegression(C=STRENGTH, max_iter=5000).fit(matrix(texts, places), labels, sample_weight=weights)
    table = {trait: round(100 * model.coef_[0][place]) for trait, place in places.items()}
    return {trait: weight for trait, weight in table.items() if abs(weight) >= 20}, round(100 * model.intercept_[0])


def sums(texts: Sequence[str], weights: dict[str, int], base: int) -> list[int]:
    """Return what each text reaches."""
    return [base + sum(weights.get(trait, 0) for trait in traits(text)) for text in texts]


def find_bound(empty: list[str], telling: list[str], foreign: Sequence[str]) -> int:
    """Return the sum that all but MISSED of the non-answers reach in ten-fold cross-validation; print the error."""
    held: dict[bool, list[int]] = {True: [], False: []}
    chance = random.Random(1)  # noqa: S311  # a fixed order
    for texts in (empty, telling):
        chance.shuffle(texts)
    pairs = zip(KFold(10).split(empty), KFold(10).split(telling), strict=True)
    for (train, test), (train_telling, test_telling) in pairs:
        weights, base = fit([empty[place] for place in train], [telling[place] for place in train_telling], foreign)
        held[True] += sums([empty[place] for place in test], weights, base)
        held[False] += sums([telling[place] for place in test_telling], weights, base)
    bound = int(np.quantile(held[True], MISSED))
    again = (np.mean(np.array(held[kind]) >= bound) for kind in (True, False))
    print("cross-validation: shares of non-answers and of answers asked again", *map(float, again))
    return bound


def main(folder: Path) -> None:
    """Fit, choose the bound by cross-validation, print the error, fit again to all labels and write the table."""
    labels = [json.loads(line) for line in (HERE / "answer_labels.jsonl").read_text().splitlines()]
    parts = {
        (part, is_empty): [label["text"] for label in labels if (label["part"], label["empty"]) == (part, is_empty)]
        for part in ("fit", "check")
        for is_empty in (True, False)
    }
    chance = random.Random(31)  # noqa: S311  # a fixed draw
    written = [json.loads(line) for line in (HERE / "written_sentences.jsonl").read_text().splitlines()]
    informative = sorted({entry["text"] for entry in written if not entry["empty"] and entry["text"].isascii()})
    foreign = chance.sample(informative, MOST_FOREIGN)
    listed = sorted(set(definition_sentences(folder)))
    foreign += chance.sample(listed, MOST_FOREIGN)
    empty, telling = parts["fit", True], parts["fit", False]
    weights, base = fit(empty, telling, foreign)
    bound = find_bound(empty, telling, foreign)
    for kind in (True, False):
        reached = sums(parts["check", kind], weights, base)
        again = sum(value >= bound for value in reached)
        print("check:", "non-answers" if kind else "answers", "asked again:", again, "of", len(reached))
    empty, telling = [*empty, *parts["check", True]], [*telling, *parts["check", False]]
    weights, base = fit(empty, telling, foreign)
    bound = find_bound(empty, telling, foreign)
    rest = [text for text in listed if text not in foreign]
    print(
        "other sentences of definitions", float(np.mean(np.array(sums(rest, weights, base)) >= bound)), "of", len(rest)
    )
    lines = [f"{json.dumps(trait)} = {weight}" for trait, weight in sorted(weights.items())]
    head = "# Weights, in hundredths, by which an answer is a non-answer; made by calibration/answer_fit.py."
    TABLE.write_text("\n".join([head, f"base = {base - bound}", "", "[weights]", *lines, ""]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
