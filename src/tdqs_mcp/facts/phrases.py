"""Words of messages."""

from collections.abc import Sequence


def first_of(items: Sequence[str], most: int, *, separator: str = ", ") -> str:
    """The first of some items, and how many more there are."""
    shown = separator.join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
