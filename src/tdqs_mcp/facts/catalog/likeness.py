"""Which sibling an agent is most likely to take for a tool, by the words that both say of themselves."""

from collections.abc import Iterable, Mapping, Sequence

from tdqs_mcp.facts.catalog.names import MAX_CROWD
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.words import empty_stems, name_parts, stem
from tdqs_mcp.results.rewrites import Likeness

MAX_RIVALS = 24
"""Siblings that are compared word by word; they are those that share the most telling words."""


def nearest_siblings(subjects: Sequence[Subject]) -> dict[int, Likeness]:
    """Every tool's nearest sibling by its index; linear, as only words that few tools have make two tools rivals.

    A sentence that names a sibling is left out: it tells the two apart, whatever words it takes from the other.
    """
    words = {subject.tool.index: _own_words(subject) for subject in subjects}
    names = {subject.tool.index: subject.tool.name for subject in subjects}
    crowds: dict[str, list[int]] = {}
    for index, own in words.items():
        for word in own:
            crowds.setdefault(word, []).append(index)
    return {index: _nearest(index, words, names, crowds) for index in words}


def _nearest(
    index: int, words: Mapping[int, frozenset[str]], names: Mapping[int, str], crowds: Mapping[str, Sequence[int]]
) -> Likeness:
    shared: dict[int, int] = {}
    for word in words[index]:
        for rival in crowds[word] if len(crowds[word]) <= MAX_CROWD else ():
            if rival != index:
                shared[rival] = shared.get(rival, 0) + 1
    rivals = sorted(shared, key=lambda rival: (-shared[rival], rival))[:MAX_RIVALS]
    measured = [(_percent(words[index], words[rival]), -rival) for rival in rivals]
    percent, place = max(measured, default=(0, 0))
    return Likeness(sibling=names[-place] if measured else None, percent=percent)


def _percent(one: frozenset[str], other: frozenset[str]) -> int:
    return 100 * len(one & other) // max(1, len(one | other))


def _own_words(subject: Subject) -> frozenset[str]:
    """The telling stems of the name and of all sentences that name no sibling."""
    siblings = set(map(str.lower, subject.mentions))
    spoken = [words for words in subject.prose.spoken if siblings.isdisjoint(words)]
    return _telling([*name_parts(subject.tool.name), *(word for words in spoken for word in words)])


def _telling(words: Iterable[str]) -> frozenset[str]:
    return frozenset(each for word in words if (each := stem(word)) not in empty_stems() and len(each) > 1)
