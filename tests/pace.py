"""How much work something is: processor time, which does not see what else the machine does, without the collector."""

from time import process_time
from timeit import repeat


def least(work, rounds=5):
    """The least of some rounds, in seconds of this process."""
    return min(repeat(work, number=1, repeat=rounds, timer=process_time))
