"""Texts that a program has encoded (Base64, hexadecimal, escapes), decoded where they are readable prose."""

import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from urllib.parse import unquote_to_bytes

from tdqs_mcp.facts.text.vocabulary import lazy_pattern

MIN_RUN = 24
"""Characters of an encoded run that can hold a sentence."""

MAX_RUNS = 40
"""Runs of one text that are decoded: an instruction needs one, a screenful of hashes has hundreds."""

MAX_RUN = 20_000
"""Characters of a run that are decoded."""

MIN_WORDS = 3
"""Words of a decoded text that make it prose and no value."""

MIN_LETTERS = 80
"""Percent of letters and spaces in prose; JSON, addresses and identifiers have fewer."""


def may_be_encoded(text: str) -> bool:
    """Some run of a text may be encoded; the fast answer for most is no."""
    return (
        ("\\x" in text and _ESCAPES.search(text) is not None)
        or ("&#" in text and _REFERENCES.search(text) is not None)
        or ("%" in text and (_PERCENT.search(text) or _PERCENT_WORDS.search(text)) is not None)
        or (len(text) >= MIN_RUN and any(len(word) >= MIN_RUN and _RUN.search(word) for word in text.split()))
    )


def decode_prose(text: str) -> Iterator[tuple[str, str]]:
    """The encoding and the text of every run that decodes to readable prose."""
    left = MAX_RUNS
    for encoding, pattern, decode in _ENCODINGS:
        for run in pattern.finditer(text):
            left -= 1
            if left < 0:
                return
            read = _as_text(decode, run[0][:MAX_RUN])
            if _is_prose(read):
                yield encoding, read


def _as_text(decode: Callable[[str], bytes], run: str) -> str:
    try:
        return decode(run).decode()
    except (ValueError, OverflowError):
        return ""


def _is_prose(text: str) -> bool:
    """Words between spaces, nearly all of it letters; of a script without spaces, letters alone."""
    letters = sum(char.isalpha() or char.isspace() for char in text)
    is_spaced = len(text.split()) >= MIN_WORDS or (not text.isascii() and len(text) >= 2 * MIN_WORDS)
    return is_spaced and 100 * letters >= MIN_LETTERS * len(text) and text.replace("\n", " ").isprintable()


def _from_base64(run: str) -> bytes:
    if run.islower() or run.isupper():
        return b""  # an identifier
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    return b64decode(body[: len(body) - (len(body) % 4 == 1)] + "=" * (-len(body) % 4))


def _from_hex(run: str) -> bytes:
    return binascii.unhexlify(run.replace("\\x", ""))


def _from_references(run: str) -> bytes:
    numbers = re.findall(r"&#(x?)([0-9a-fA-F]+);", run)
    return "".join(chr(int(digits, 16 if is_hex else 10)) for is_hex, digits in numbers).encode()


_RUN = lazy_pattern(r"[A-Za-z0-9+/]{24}")
"""Part of a long run in Base64, also in its form for URLs, where a sign breaks one of 32 letters."""

_ESCAPES = lazy_pattern(r"(?:\\x[0-9a-fA-F]{2}){8,}")
_REFERENCES = lazy_pattern(r"(?:&#(?:[0-9]{1,7}|x[0-9a-fA-F]{1,6});){8,}")
_PERCENT = lazy_pattern(r"(?:%[0-9a-fA-F]{2}){8,}")
_PERCENT_WORDS = lazy_pattern(r"(?:[A-Za-z]{1,20}%20){3,}[A-Za-z]{1,20}")
_ENCODINGS: tuple[tuple[str, re.Pattern[str], Callable[[str], bytes]], ...] = (
    ("hexadecimal", lazy_pattern(r"(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}){12,}(?![0-9a-fA-F])"), _from_hex),
    ("hexadecimal", _ESCAPES, _from_hex),
    ("base64", lazy_pattern(r"[A-Za-z0-9+/_-]{24,}={0,2}"), _from_base64),
    ("percent-encoding", _PERCENT_WORDS, unquote_to_bytes),
    ("percent-encoding", _PERCENT, unquote_to_bytes),
    ("character references", _REFERENCES, _from_references),
)
