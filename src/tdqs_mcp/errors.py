"""Everything tdqs-mcp raises on purpose; each message tells the person who caused it what to change.

TdqsError
├── InputError              what was given cannot be read: a file, a locator, an option, an answers file
├── CaptureError            a live server did not list its definitions
├── EndpointError           an endpoint does not accept a batch, or does not return its answers
├── ContractError           an answer does not have the published output format
├── UnmeasurableError       one definition is too deep or too intricate to measure; the others still are
└── UnknownIdError          no rule, dimension, flag or tier has this id
"""

from collections.abc import Iterable
from typing import ClassVar


class TdqsError(Exception):
    """The root: a front end catches it, prints it and exits with 2."""


class InputError(TdqsError):
    """Input that cannot be read as a catalog, a locator or a set of answers."""


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


def nearest(word: str, vocabulary: Iterable[str]) -> str:
    """`; did you mean …?` with at most three known words, or nothing where none is near."""
    from difflib import get_close_matches  # noqa: PLC0415  # only a mistake costs its import

    spelled = {candidate.lower(): candidate for candidate in vocabulary}
    close = get_close_matches(word.lower(), spelled, n=3)
    return f"; did you mean {', '.join(spelled[candidate] for candidate in close)}?" if close else ""


def fault_message(message: str) -> str:
    """A message of pydantic without its prefix, and without the class of ours that a value could be an instance of."""
    return message.removeprefix("Value error, ").partition(" or instance of ")[0]
