"""Fuzzing that keeps what reaches new code: fuzz_coverage.py TARGET[,TARGET...] [OPTION OF LIBFUZZER...]; needs atheris.

A target is a name in `fuzzing.LINES`; each is fuzzed in a process of its own, one after the other. The inputs are mutated as there, and byte by byte as well.
"""

import os
import random
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["tdqs_mcp"]):
    import fuzzing

    names, *options = sys.argv[1:]
    mutator = fuzzing.Mutator(fuzzing.examples() + fuzzing.captured())
    for name in names.split(","):
        process = os.fork()
        if not process:
            break
        if os.waitpid(process, 0)[1]:
            sys.exit(f"the target {name!r} failed")
    else:
        sys.exit()
    target = fuzzing.Commands(fuzzing.LINES[name], Path(tempfile.mkdtemp()), mutator)
    for line in target.lines:  # what a command imports is imported when it runs
        target.run(target.mutant(random.Random(line)), line)


def mutate(data, size, seed):
    """Another catalog, something else in this one, or other bytes."""
    chance = random.Random(seed)
    if chance.random() < 0.2:
        return target.mutant(chance)[:size]
    try:
        value = target.mutator.changed(fuzzing.json.loads(data), chance)
    except ValueError:
        return target.mutant(chance)[:size]
    return value[:size] if chance.random() < 0.8 else atheris.Mutate(data, size)


def check(data):
    """The line depends on the bytes alone, so that a broken input breaks again."""
    fuzzing.attempt(target, data, random.Random(len(data)).choice(target.lines))


atheris.Setup([sys.argv[0], *options, f"-max_len={fuzzing.MAX_BYTES}"], check, custom_mutator=mutate)
atheris.Fuzz()
