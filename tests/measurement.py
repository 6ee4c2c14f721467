"""How much work something is, in processor time, which does not see what else the machine does."""

import os
from time import process_time
from timeit import repeat


def least_work(work, rounds=3):
    """The least of some rounds, in seconds of this process, without the garbage collector."""
    return min(repeat(work, number=1, repeat=rounds, timer=process_time))


def least_child_work(work, rounds=3):
    """The least of some rounds of work that is done in other processes, in seconds of theirs."""
    return min(
        repeat(work, number=1, repeat=rounds, timer=lambda: os.times().children_user + os.times().children_system)
    )
