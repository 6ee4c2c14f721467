"""What a definition costs in a model's context: an estimate that needs no vocabulary, so that every machine agrees."""

import re
from typing import Any

from tdqs_mcp.canonical import canonical_json

SENT_FIELDS = ("name", "description", "inputSchema")
"""What the tool formats of Anthropic and OpenAI carry; title, annotations and output schema stay with the client."""

LETTERS = 10
"""ASCII letters in one token: with SIGNS the best whole numbers for 1,649 real definitions against o200k_base."""

FOREIGN_LETTERS = 3
"""Letters in one token where a word has letters beyond ASCII."""

DIGITS = 3
"""Digits in one token (o200k_base splits numbers into threes)."""

SIGNS = 4
"""Punctuation characters in one token; JSON's `":{"` is one."""

_RUN = re.compile(r"[^\W\d_]+|\d+|[^\w\s]+|_+|\n+")
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")


def estimate(text: str) -> int:
    """About how many tokens a text is: runs of letters, digits, signs and line breaks, the space before them free.

    An estimate because the vocabularies of most models are not published and none is shipped here. Measured on 1,649
    real tools against o200k_base: a definition is 3% off on average (9 in 10 within 7%), a description 5% (12%);
    against cl100k_base 5% each.
    """
    return sum(_run(run) for run in _RUN.findall(text))


def of_definition(raw: Any) -> int:  # noqa: ANN401  # foreign JSON, any shape
    """The estimate for what a client sends a model of one definition, as canonical JSON.

    Raises UnmeasurableError for JSON that is nested too deeply.
    """
    return estimate(canonical_json({key: raw[key] for key in SENT_FIELDS if key in raw}))


def _run(run: str) -> int:
    if run[0] in "_\n":
        return 1
    if run[0].isdigit():
        return _ceil(len(run), DIGITS)
    if not run[0].isalpha():
        return _ceil(len(run), SIGNS)
    if run.isascii():
        return _ceil(len(run), LETTERS)
    ideographs = len(_CJK.findall(run))
    return _ceil(2 * ideographs, 3) + _ceil(len(run) - ideographs, FOREIGN_LETTERS)


def _ceil(amount: int, unit: int) -> int:
    return -(-amount // unit)
