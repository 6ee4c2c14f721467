"""The letter that a score in tenths ends in, and where each letter begins."""

from enum import StrEnum


class Tier(StrEnum):
    """The letter of a score: A from 3.5, B from 3.0 (passing), C from 2.0, D from 1.0 (TDQS, "Tiers")."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    F = "F"

    @property
    def floor(self) -> int:
        """The lowest score of the tier, in tenths."""
        return _FLOORS[self]


_FLOORS = {Tier.A: 35, Tier.B: 30, Tier.C: 20, Tier.D: 10, Tier.F: 0}


def tier_of(tenths: int) -> Tier:
    """The tier of a score in tenths."""
    return next(tier for tier in Tier if tenths >= tier.floor)
