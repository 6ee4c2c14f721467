"""Phrases that mark a detail: a condition, a limit, what happens by itself, how it is done, parts, units."""

from collections.abc import Mapping, Sequence
from enum import StrEnum


class Mark(StrEnum):
    """What a phrase tells."""

    CONDITION = "condition"
    LIMIT = "limit"
    MECHANICS = "mechanics"
    MEANS = "means"
    INCLUSION = "inclusion"
    UNIT = "unit"


_PHRASES: Mapping[Mark, Sequence[str]] = {
    Mark.CONDITION: (
        "if", "when", "unless", "otherwise", "after", "before", "until", "while", "once", "by default", "each", "every",
        "per", "already", "always",
    ),
    Mark.LIMIT: (
        "not", "cannot", "can't", "don't", "doesn't", "won't", "never", "only", "without", "except", "however",
        "instead", "rather", "unless", "limited", "at most", "up to", "exclude", "excludes", "excluded", "excluding",
        "omit", "omits", "omitted", "omitting", "ignore", "ignores", "ignored", "ignoring", "skip", "skips", "skipped",
        "skipping",
    ),
    Mark.MECHANICS: (
        "automatic", "automatically", "immediately", "by default", "in place", "permanent", "permanently", "recursive",
        "recursively", "atomic", "atomically", "in bulk", "real-time", "realtime", "cache", "cached", "paginate",
        "paginates", "paginated", "pagination", "async", "asynchronous", "asynchronously", "background", "locally",
        "persist", "persists", "persisted", "persistent", "temporary", "temporarily", "overwrite", "overwrites",
        "overwritten", "overwriting", "append", "appends", "appended", "merge", "merges", "merged", "already exist",
        "already exists", "does not exist", "will be", "will not", "will return", "will create", "will fail",
        *(
            f"{be} {done}"
            for be in ("is", "are")
            for done in (
                "returned", "created", "sent", "saved", "deleted", "removed", "used", "required", "ignored", "omitted",
                "included", "stored", "cached", "replaced", "kept", "skipped", "sorted", "limited", "truncated",
                "updated", "processed", "charged", "not",
            )
        ),
    ),
    Mark.MEANS: ("using", "via", "through", "based on", "powered by"),
    Mark.INCLUSION: (
        "include", "includes", "included", "including", "contain", "contains", "containing", "consisting of",
        "along with", "such as",
    ),
    Mark.UNIT: (
        "degrees", "radians", "second", "seconds", "millisecond", "milliseconds", "ms", "minute", "minutes", "hour",
        "hours", "day", "days", "bytes", "kb", "mb", "gb", "pixels", "px", "meters", "metres", "km", "kg", "celsius",
        "fahrenheit", "percent", "percentage", "utc", "iso", "json", "csv", "xml", "html", "markdown", "base64", "png",
        "svg", "pdf", "cents", "uuid", "url", "urls", "regex", "sql", "yaml",
    ),
}  # fmt: skip


def _by_first_word() -> dict[str, list[tuple[tuple[str, ...], Mark]]]:
    found: dict[str, list[tuple[tuple[str, ...], Mark]]] = {}
    for mark, phrases in _PHRASES.items():
        for phrase in phrases:
            words = tuple(phrase.split())
            found.setdefault(words[0], []).append((words, mark))
    return found


_STARTS = _by_first_word()


def marks_in(words: Sequence[str]) -> dict[Mark, list[str]]:
    """The first words of a sentence's phrases, by what they tell."""
    found: dict[Mark, list[str]] = {}
    for position, word in enumerate(words):
        for phrase, mark in _STARTS.get(word, ()):
            if len(phrase) == 1 or tuple(words[position : position + len(phrase)]) == phrase:
                found.setdefault(mark, []).append(word)
        if word == "by" and position + 1 < len(words) and words[position + 1].endswith("ing"):
            found.setdefault(Mark.MEANS, []).append(word)
    return found
