"""What a text may try to do to whoever reads it."""

from enum import StrEnum


class Ploy(StrEnum):
    """What a text tries to do to the agent or the judge that reads it."""

    JUDGE = "addresses the judge"
    OVERRIDE = "overrides instructions"
    TURN = "forges a turn of the conversation"
    CONCEAL = "hides something from the user"
    LEAK = "asks for secrets or the conversation"
    REDIRECT = "changes what other tools do"
    SECRET = "carries a secret"  # noqa: S105  # a kind of finding
    UNSEEN = "holds characters that nobody sees"
    COMMENT = "hides an instruction in a comment"
    LOOKALIKE = "mixes scripts inside a word"
    TERMINAL = "controls the terminal"
    SUSPECT = "may speak to the judge"
    """Too weak for a finding, enough to look twice before a model reads it."""

    ENCODED = "hides instructions in an encoding"
