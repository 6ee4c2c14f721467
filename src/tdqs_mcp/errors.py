"""Everything tdqs-mcp raises on purpose; each message tells the person who caused it what to change.

TdqsError
├── InputError              what was given cannot be read: a file, a locator, an option, an answers file
│   └── UnansweredError     an experiment cannot go on before an agent elsewhere has answered
├── CaptureError            a live server did not list its definitions
├── EndpointError           an endpoint does not accept a batch, or does not return its answers
├── ContractError           an answer does not have the published output format
├── UnmeasurableError       one definition is too deep or too intricate to measure; the others still are
└── UnknownIdError          no rule, dimension, flag or tier has this id
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar


class TdqsError(Exception):
    """The root: a front end catches it, prints it and exits with 2."""


class InputError(TdqsError):
    """Input that cannot be read as a catalog, a locator or a set of answers."""


class UnansweredError(InputError):
    """An experiment needs more answers of an agent elsewhere."""

    def __init__(self, batches: Sequence[Any]) -> None:
        """`batches` are the prompts that are not answered yet."""
        count = sum(len(batch.queries) for batch in batches)
        super().__init__(
            f"{count} requests have no answer yet: write them with --prompts and add the plans to --answers"
        )
        self.batches = batches


class CaptureError(TdqsError):
    """A live server could not be started, reached or listed within the limits."""

    def __init__(self, message: str, *, lacks_credential: bool = False) -> None:
        """`lacks_credential` says that the server asks for a credential that it did not get."""
        super().__init__(message)
        self.lacks_credential = lacks_credential


class EndpointError(TdqsError):
    """An endpoint could not be used for a whole batch; single answers fail as Ungraded."""


class ContractError(TdqsError):
    """An answer breaks the output contract of its rubric; the message is fit to be sent back to the judge."""

    fault: ClassVar = "broke the output format"
    """What such an answer did."""


class UnmeasurableError(TdqsError):
    """A definition exceeds a measuring limit; it becomes a finding and an Ungraded, never a number."""


class UnknownIdError(TdqsError):
    """There is nothing to explain under the given id."""


NEAR = 0.6
"""Likeness of a word to a known one, 0 to 1, from which on it may be a misspelling (difflib's own)."""


def nearest(word: str, vocabulary: Iterable[str]) -> str:
    """`; did you mean …?` with at most three known words, or nothing where none is near."""
    from difflib import SequenceMatcher  # noqa: PLC0415  # only a mistake costs its import

    lowered, spelled = word.lower(), {candidate.lower(): candidate for candidate in vocabulary}
    ratios = {candidate: SequenceMatcher(None, candidate, lowered).ratio() for candidate in spelled}
    # "TDQ1O4" is as near to TDQ214 as to TDQ104, of which more letters stand where they are
    ranked = sorted(spelled, key=lambda name: (-ratios[name], -sum(map(str.__eq__, name, lowered))))
    close = [name for name in ranked if ratios[name] >= NEAR][:3]
    close = close or [name for name in ranked if len(lowered) > 2 and lowered in name][:3]  # "usage" for missing-usage
    return f"; did you mean {', '.join(spelled[candidate] for candidate in close)}?" if close else ""


_FAULTS = {
    "missing": "is missing: add it",
    "extra_forbidden": "is no key that is read here: remove it, or correct its spelling",
    **dict.fromkeys(("dict_type", "model_type"), "must be an object (keys with values)"),
    **dict.fromkeys(("list_type", "tuple_type"), "must be a list"),
    "string_type": "must be text",
    "bool_type": "must be true or false",
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be a whole number"),
    "finite_number": "must be a finite number",
    **dict.fromkeys(("enum", "literal_error"), "must be one of {expected}"),
    "too_short": "must have {min_length} or more entries",
    "greater_than": "must be greater than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
}
"""The demand that a value misses, by pydantic's type of the error."""


def fault_message(fault: Mapping[str, Any]) -> str:
    """Return an error of pydantic as what to change, in words that name no type of Python."""
    if template := _FAULTS.get(fault["type"]):
        return template.format(**fault.get("ctx", {}))
    return str(fault["msg"]).removeprefix("Value error, ")
