"""What each sentence of a description tells an agent: weights of terms and traits, fitted to readers' labels."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from tdqs_mcp.judges.sentences import FULL, Sentence, Text

MOST = 200
"""Hundredths that a sentence tells of one aspect at most: it would be missed. 100 is a hint (the readers' 2 and 1)."""


class Aspect(StrEnum):
    """What a sentence may tell."""

    PURPOSE = "purpose"
    USAGE = "usage"
    BEHAVIOR = "behavior"
    RESULT = "result"
    ARGUMENTS = "arguments"


UNRELATED, NOTHING = "unrelated", "nothing"
"""The last columns of weights: that the sentence is about something else, and that it tells nothing."""


class Reading(NamedTuple):
    """One sentence and what it tells."""

    sentence: Sentence
    tells: Mapping[Aspect, int]
    """Hundredths, 0-200, of what an agent learns, after what is probably about something else."""

    unrelated: int
    """Percent of probability that it is about something else than the tool."""

    nothing: int
    """Percent of probability that it tells nothing."""

    most: int
    """Hundredths of the aspect that it tells most about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceModel:
    """Logistic regressions, an ordinal one for each aspect, in thousandths."""

    bases: Sequence[int]
    seconds: Sequence[int]
    """What is added to the sum for the label 2 instead of 1; a negative number for each aspect."""

    weights: Mapping[str, Sequence[tuple[int, int]]]
    """By term or trait: the columns in which it counts, each with its weight."""

    logistic: Sequence[int]
    """The sums at which the probability rounds to 1%, 2%, … 100%."""

    def read(self, text: Text) -> tuple[Reading, ...]:
        """What each sentence tells; the first one is always about the tool, and what repeats tells nothing."""
        return tuple(self._read(sentence, is_first=place == 0) for place, sentence in enumerate(text.sentences))

    def _read(self, sentence: Sentence, *, is_first: bool) -> Reading:
        if not is_first and sentence.traits.get("said before") == FULL:
            return Reading(sentence=sentence, tells=dict.fromkeys(Aspect, 0), unrelated=0, nothing=100, most=0)
        sums = list(self.bases)
        for columns in filter(None, map(self.weights.get, sentence.terms)):
            for column, weight in columns:
                sums[column] += weight
        for trait, value in sentence.traits.items():
            for column, weight in self.weights.get(f"*{trait}", ()):
                sums[column] += weight * value // FULL
        unrelated = 0 if is_first else bisect_right(self.logistic, sums[-2])
        nothing = max(unrelated, bisect_right(self.logistic, sums[-1]))
        tells = {}
        for column, aspect in enumerate(Aspect):
            some = bisect_right(self.logistic, sums[column])
            much = bisect_right(self.logistic, sums[column] + self.seconds[column])
            tells[aspect] = (some + much) * (100 - unrelated) // 100
        return Reading(sentence=sentence, tells=tells, unrelated=unrelated, nothing=nothing, most=max(tells.values()))


def read_model(table: Mapping[str, Any], logistic: Sequence[int]) -> SentenceModel:
    """The model as a calibration file has it: base, second and weights by column."""
    columns = [table[name] for name in (*Aspect, UNRELATED, NOTHING)]
    weights: dict[str, list[tuple[int, int]]] = {}
    for place, column in enumerate(columns):
        for term, weight in column["weights"].items():
            weights.setdefault(term, []).append((place, weight))
    return SentenceModel(
        bases=[column["base"] for column in columns],
        seconds=[column.get("second", 0) for column in columns],
        weights=weights,
        logistic=logistic,
    )
