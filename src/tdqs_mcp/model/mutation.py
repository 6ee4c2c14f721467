"""The ways in which a selection test makes definitions worse; apart from its results, which few programs need."""

from enum import StrEnum


class Mutation(StrEnum):
    """How every definition of a catalog is made worse, to see what its words are worth."""

    TRUNCATE = "truncate"
    GENERIC = "generic"
    BLANK = "blank"
    DISTRACTORS = "distractors"
