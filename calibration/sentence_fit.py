"""Fits the sentence model: sparse ordinal logistic regressions over terms and traits."""

import random
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, log2
from typing import Any

import numpy as np
from labels import Edit, with_description
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, vstack
from sklearn.linear_model import LogisticRegression

from tdqs_mcp.facts.spelling import name_parts
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.words import stem
from tdqs_mcp.judges.sentence_model import (
    FULL,
    NOTHING,
    PARTICULAR,
    UNRELATED,
    Aspect,
    Sentence,
    particularity,
    read_text,
)

UNIT = 1000
STRENGTH = 0.25
"""The inverse of the penalty: about 1,200 weights are left of 4,000 terms and traits."""

FEWEST_WORDS, FEWEST_PAIRS = 4, 8
"""Sentences that have a word, or two words in a row, below which they are no evidence."""

FEWEST_OWNERS = 4
"""Servers that have a word, below which it is rare."""

WRITTEN_WEIGHT = 6
"""Weight of a written sentence where a labeled one weighs 1: those are many, and few of them are empty prose."""

BOUND = {"common": 20, "rare": 60, "unknown": 40, "unknown_words": 2, "full": 40}
"""Tenths of bits by which telling words bound what a sentence earns; README.md says how they were chosen."""

EMPTY_STEP = 20
"""Of so many labeled sentences that tell nothing, one is used."""

GATE = (25, 60)
"""Percent of probability that a sentence is particular to its tool.

Up to the first it earns nothing, from the second on all that it tells, and between them a share. README.md says how
this was chosen over (50, 80).
"""

NEGLIGIBLE = 20
"""Thousandths below which a weight is dropped."""

STRANGERS = 800
"""Informative sentences of one server that are put behind the description of another, where they tell nothing."""

TRANSPLANTS = 1000
"""Insertions that tell nothing, put behind other descriptions with the names of those tools."""

EMPTY_KINDS = "pointer see_also source boilerplate empty praise restate salad cancel".split()
"""Edits whose insertions tell nothing wherever they stand."""

FLUENT_KINDS = "fluent background audience tautology origin vague".split()
"""Edits by writers who were asked for fluent text about the subject that tells nothing."""

FOREIGN, PARTICULAR_KIND = "foreign", "particular"
"""Edits that bring in a sentence about another server's tool, and those that say something particular of the tool."""

LOGISTIC = [round(UNIT * log((share - 0.005) / (1.005 - share))) for share in (step / 100 for step in range(1, 101))]
"""The sums at which a probability, rounded, becomes 1%, 2%, … 100%."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A sentence with its labels, 0-2 for each aspect; `group` is the server of the definition."""

    group: str
    sentence: Sentence
    labels: tuple[int, ...]
    is_unrelated: bool = False
    is_first: bool = False


def examples(labeled: Sequence[tuple[str, Subject, list[tuple[int, ...]]]], edits: Sequence[Edit]) -> list[Example]:
    """The labeled sentences, and sentences behind the description of another tool, where they tell nothing."""
    empty = (0,) * len(Aspect)
    changed = [
        example
        for kind in (*FLUENT_KINDS, FOREIGN)
        for example in _inserted(edits, kind, empty, is_unrelated=kind == FOREIGN)
    ]
    return [*labeled_examples(labeled), *changed, *_strangers(labeled), *_transplants(labeled, edits)]


def edited_examples(edits: Sequence[Edit]) -> list[Example]:
    """Sentences of changes that would fit any tool, and of those that say something particular of theirs."""
    empty, telling = ((flag, *[0] * (len(Aspect) - 1)) for flag in (0, 1))
    return [
        *(example for kind in FLUENT_KINDS for example in _inserted(edits, kind, empty)),
        *_inserted(edits, PARTICULAR_KIND, telling),
    ]


def _inserted(
    edits: Sequence[Edit], kind: str, labels: tuple[int, ...], *, is_unrelated: bool = False
) -> Iterator[Example]:
    for edit in (edit for edit in edits if edit.kind == kind):
        before = set(edit.before.prose.sentences)
        for place, sentence in enumerate(read_text(edit.after).sentences):
            if sentence.text not in before and place:
                yield Example(group=edit.group, sentence=sentence, labels=labels, is_unrelated=is_unrelated)


def _strangers(labeled: Sequence[tuple[str, Subject, list[tuple[int, ...]]]]) -> Iterator[Example]:
    chance = random.Random(3)  # noqa: S311  # a reproducible choice
    informative = [
        (server, subject.prose.sentences[place])
        for server, subject, rows in labeled
        if subject.prose.language in ("en", None)
        for place, labels in enumerate(rows)
        if place and sum(labels) >= 2
    ]
    left = STRANGERS
    while left and informative:
        server, subject, _ = chance.choice(labeled)
        origin, sentence = chance.choice(informative)
        if origin == server or not (subject.tool.description or "").strip():
            continue
        changed = with_description(subject, f"{(subject.tool.description or '').rstrip()}\n\n{sentence}")
        last = read_text(changed).sentences[-1]
        if last.text.strip() == sentence.strip():
            left -= 1
            yield Example(group=server, sentence=last, labels=(0,) * len(Aspect), is_unrelated=True)


def _transplants(
    labeled: Sequence[tuple[str, Subject, list[tuple[int, ...]]]], edits: Sequence[Edit]
) -> Iterator[Example]:
    chance = random.Random(5)  # noqa: S311  # a reproducible choice
    empty = [each for each in edits if each.kind in EMPTY_KINDS]
    hosts = [(server, subject) for server, subject, _ in labeled if subject.sibling_count and subject.prose.sentences]
    left = TRANSPLANTS
    while left and empty and hosts:
        edit = chance.choice(empty)
        server, subject = chance.choice(hosts)
        before = edit.before.tool.description or ""
        inserted = (edit.after.tool.description or "").removeprefix(before.rstrip()).strip(" .\n")
        names = {name.lower(): name for name in subject.siblings.values() if name != subject.tool.name}
        for name in edit.before.siblings.values():
            other = subject.tool.name if name == edit.before.tool.name else chance.choice(list(names.values()))
            for old, new in ((name, other), (" ".join(name_parts(name)), " ".join(name_parts(other)))):
                inserted = inserted.replace(old, new) if len(old) >= 4 else inserted
        changed = with_description(subject, f"{(subject.tool.description or '').rstrip()}\n\n{inserted}.")
        first = len(subject.prose.sentences)
        left -= 1
        for sentence in read_text(changed).sentences[first:]:
            yield Example(group=server, sentence=sentence, labels=(0,) * len(Aspect))


def particular_table(
    labeled: Sequence[Example], written: Sequence[Example], subjects: Iterable[tuple[str, Subject]]
) -> dict[str, Any]:
    """Return what a sentence model needs to tell particular sentences from those that fit any tool.

    Labeled sentences that tell nothing are mostly headings and entries, which the trees weigh: few of them count here.
    """
    rarity = _count_servers(subjects)
    later = [each for each in labeled if not each.is_first and not each.is_unrelated]
    empty = [each for each in later if not sum(each.labels)][::EMPTY_STEP]
    examples = [
        replace(
            each, sentence=each.sentence._replace(traits=each.sentence.traits | particularity(each.sentence, rarity))
        )
        for each in (*(each for each in later if sum(each.labels)), *empty, *written)
    ]
    names = _vocabulary(examples)
    tells = np.array([sum(each.labels) > 0 for each in examples])
    weights = np.array([1] * (len(examples) - len(written)) + [WRITTEN_WEIGHT] * len(written))
    column = _single(_matrix(examples, names), tells, names, weights)
    return {PARTICULAR: column, "rarity": rarity, "gate": GATE, "bound": BOUND}


def _count_servers(subjects: Iterable[tuple[str, Subject]]) -> dict[str, int]:
    """Tenths of the bits that a word tells by the servers whose definitions have it; rare words are left out."""
    stems: dict[str, set[str]] = defaultdict(set)
    for server, subject in subjects:
        stems[server].update(map(stem, subject.prose.words))
    counts = Counter(form for forms in stems.values() for form in forms if form.isalpha())
    frequent = sorted((form, count) for form, count in counts.items() if count >= FEWEST_OWNERS)
    bits = {form: round(10 * log2(len(stems) / count)) for form, count in frequent}
    return {"": max(bits.values()), **bits}


def written_examples(rows: Iterable[tuple[str, Subject, str, bool]]) -> list[Example]:
    """Sentences that were written for tools, each behind the description."""
    found = []
    for server, subject, text, is_empty in rows:
        description = f"{(subject.tool.description or '').rstrip()}\n\n{text}"
        first = len(subject.prose.sentences)
        labels = (int(not is_empty), *[0] * (len(Aspect) - 1))
        found += [
            Example(group=server, sentence=sentence, labels=labels)
            for sentence in read_text(with_description(subject, description)).sentences[first:]
        ]
    return found


def labeled_examples(labeled: Sequence[tuple[str, Subject, list[tuple[int, ...]]]]) -> list[Example]:
    """The sentences that readers have labeled."""
    return [
        Example(group=server, sentence=sentence, labels=labels, is_first=place == 0)
        for server, subject, rows in labeled
        for place, (sentence, labels) in enumerate(zip(read_text(subject).sentences, rows, strict=False))
    ]


def fit(chosen: Sequence[Example]) -> dict[str, Any]:
    """The table of a sentence model, by column; `read_model` makes it one."""
    names = _vocabulary(chosen)
    matrix = _matrix(chosen, names)
    labels = np.array([each.labels for each in chosen])
    table = {str(aspect): _ordinal(matrix, labels[:, place], names) for place, aspect in enumerate(Aspect)}
    later = np.array([not each.is_first for each in chosen])
    unrelated = np.array([each.is_unrelated for each in chosen])
    nothing = labels.sum(axis=1) == 0
    table[UNRELATED] = _single(matrix[later], unrelated[later], names)
    table[NOTHING] = _single(matrix, nothing, names)
    return table


def _single(
    matrix: csr_matrix, holds: NDArray[np.bool_], names: Sequence[str], weights: NDArray[np.int64] | None = None
) -> dict[str, Any]:
    if len(set(holds)) == 1:
        return {"base": -10 * UNIT, "weights": {}}
    model = _regression().fit(_plain(matrix), holds, sample_weight=weights)
    return {"base": _thousandths(model.intercept_[0]), "weights": _weights(model.coef_[0], names)}


def _ordinal(matrix: csr_matrix, labels: NDArray[np.int64], names: Sequence[str]) -> dict[str, Any]:
    """Weights that the labels 1 and 2 share, and what 2 takes more."""
    count = matrix.shape[0]
    both = vstack(
        [
            hstack([matrix, csr_matrix(np.zeros((count, 1)))]),
            hstack([matrix, csr_matrix(np.ones((count, 1)))]),
        ]
    ).tocsr()
    reached = np.r_[labels > 0, labels > 1]
    if len(set(reached)) == 1:
        return {"base": -10 * UNIT, "second": 0, "weights": {}}
    model = _regression().fit(_plain(both), reached)
    return {
        "base": _thousandths(model.intercept_[0]),
        "second": _thousandths(model.coef_[0][-1]),
        "weights": _weights(model.coef_[0][:-1], names),
    }


def _regression() -> LogisticRegression:
    warnings.filterwarnings("ignore", category=FutureWarning)
    return LogisticRegression(C=STRENGTH, l1_ratio=1, penalty="l1", solver="liblinear", max_iter=300, random_state=0)


def _plain(matrix: csr_matrix) -> csr_matrix:
    """With indices as liblinear takes them."""
    plain = csr_matrix(matrix)
    plain.indices, plain.indptr = plain.indices.astype("int32"), plain.indptr.astype("int32")
    return plain


def _vocabulary(chosen: Sequence[Example]) -> list[str]:
    seen = Counter(term for each in chosen for term in each.sentence.terms)
    traits = {f"*{trait}" for each in chosen for trait in each.sentence.traits}
    terms = [term for term, count in seen.items() if count >= (FEWEST_PAIRS if " " in term else FEWEST_WORDS)]
    return sorted([*terms, *traits])


def _matrix(chosen: Sequence[Example], names: Sequence[str]) -> csr_matrix:
    place = {name: position for position, name in enumerate(names)}
    rows, columns, values = [], [], []
    for row, each in enumerate(chosen):
        found: Mapping[str, float] = {
            **dict.fromkeys(each.sentence.terms, 1.0),
            **{f"*{trait}": value / FULL for trait, value in each.sentence.traits.items()},
        }
        for name, value in found.items():
            if name in place:
                rows.append(row)
                columns.append(place[name])
                values.append(value)
    return csr_matrix((values, (rows, columns)), shape=(len(chosen), len(names)))


def _weights(found: NDArray[np.float64], names: Sequence[str]) -> dict[str, int]:
    pairs = ((name, _thousandths(weight)) for name, weight in zip(names, found, strict=True))
    return {name: weight for name, weight in pairs if abs(weight) >= NEGLIGIBLE}


def _thousandths(value: float) -> int:
    return round(UNIT * float(value))
