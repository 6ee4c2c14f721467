"""How far the offline judge is off on labeled tool sets: python calibration/set_error.py PURPOSE FOLDER...

PURPOSE is `tune` or `measure`. Prints the error of each dimension beside that of the best constant, and how many of
the pairs that the judge calls hard to tell apart a reader named, and the reverse.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from labels import Definitions, sets
from plans import COHERENCE

from tdqs_mcp.judges.offline import calibration, score_set, versions


def main(purpose: str, folders: Sequence[Path]) -> None:
    """Print the figures of the newest calibration."""
    forests = calibration(versions()[0]).rubrics["coherence"]
    labeled = [(case, row) for case, row in sets(Definitions(folders)) if row["purpose"] == purpose]
    for place, key in enumerate(COHERENCE):
        labels = [case.labels[place] for case, _ in labeled]
        scores = [score_set(forests, case.facts)[key] for case, _ in labeled]
        constant = min(range(1, 6), key=lambda score: error(labels, [score] * len(labels)))
        print(
            f"{key}: MAE {error(labels, scores):.2f}, always {constant} {error(labels, [constant] * len(labels)):.2f}"
        )
    count = right = named = 0
    for case, row in labeled:
        judged = {frozenset((pair.first, pair.second)) for pair in (*case.facts.same, *case.facts.variants)}
        read = {frozenset(pair) for pair in row["pairs"]}
        count, right, named = count + len(judged), right + len(judged & read), named + len(read)
    print(f"{len(labeled)} sets; of {count} pairs the reader named {right}; of the reader's {named} are found {right}")


def error(labels: Sequence[int], scores: Sequence[int]) -> float:
    """The mean absolute error."""
    return mean(abs(label - score) for label, score in zip(labels, scores, strict=True))


if __name__ == "__main__":
    main(sys.argv[1], [Path(folder) for folder in sys.argv[2:]])
