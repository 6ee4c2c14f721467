"""Signs in the characters of a text: unseen and mixed letters, secrets, forged turns, links, encoded prose."""

import binascii
import re
import unicodedata
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from tdqs_mcp.canonical import is_shaped
from tdqs_mcp.facts.lexicon import lazy_pattern, read_table

MAX_STRAY = 3
"""Stray zero-width or private characters of one string that may be an accident; a hidden message needs more."""

MIN_DISTINCT = 9
"""Different characters of a random key of 20; fewer stand in strings such as `sk-aaaaaaaaaaaaaaaaaaaa`."""


class Pattern(NamedTuple):
    """A pattern with groups of texts; one of each group stands in whatever it matches."""

    clues: tuple[tuple[str, ...], ...]
    match: re.Pattern[str]

    def may_match(self, lowered: str) -> bool:
        """It may match a text, given in lower case; the fast answer for most is no."""
        for group in self.clues:
            for clue in group:
                if clue in lowered:
                    break
            else:
                return False
        return True


@cache
def load_patterns(table: str) -> Mapping[str, tuple[Pattern, ...]]:
    """The patterns of `phrases` or `structure` in the data file, by kind."""
    data = read_table("threats")
    return {
        kind: tuple(
            Pattern(clues=tuple(map(tuple, entry["clues"])), match=_compile_later(entry["match"], data["words"]))
            for entry in entries
        )
        for kind, entries in data[table].items()
    }


def find_patterns(table: str, texts: Sequence[str], together: str) -> dict[str, tuple[Pattern, ...]]:
    """The patterns of a table that match one of some texts, by kind; `together` holds all texts in lower case."""
    matching: dict[str, list[Pattern]] = {}
    for clues, kind, pattern in _by_clues(table):
        for clue in clues:
            if clue in together:
                break
        else:
            continue
        if pattern.may_match(together) and any(
            pattern.may_match(text.lower()) and pattern.match.search(text) for text in texts
        ):
            matching.setdefault(kind, []).append(pattern)
    return {kind: tuple(patterns) for kind, patterns in matching.items()}


@cache
def _by_clues(table: str) -> tuple[tuple[tuple[str, ...], str, Pattern], ...]:
    """The patterns of a table, each with the first of its groups of clues and its kind."""
    return tuple(
        (pattern.clues[0], kind, pattern) for kind, patterns in load_patterns(table).items() for pattern in patterns
    )


def _compile_later(pattern: str, words: Mapping[str, str]) -> re.Pattern[str]:
    """The pattern with the words in place of their names."""
    return lazy_pattern(re.sub(r"\{([a-z_]+)\}", lambda name: words[name[1]], pattern), re.IGNORECASE)


# Secrets


@cache
def _secret_formats() -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    formats = read_table("threats")["secrets"]["formats"]
    return tuple((sign, issuer, lazy_pattern(pattern)) for sign, issuer, pattern in formats)


@cache
def _placeholder() -> re.Pattern[str]:
    return re.compile(read_table("threats")["secrets"]["placeholder"], re.IGNORECASE)


def may_hold_secret(text: str) -> bool:
    """Something in the format of a key stands in a text, be it a placeholder."""
    return any(sign in text and pattern.search(text) for sign, _, pattern in _secret_formats())


def find_secrets(text: str) -> Iterator[str]:
    """Issuer and first letters of everything in the format of a key that is not a placeholder."""
    for sign, issuer, pattern in _secret_formats():
        if sign not in text:
            continue
        for match in pattern.finditer(text):
            secret = match.groupdict().get("secret")
            body = secret or match[0].partition("KEY-----")[2] or match[0][len(sign) :]
            if len(set(body)) >= MIN_DISTINCT and not _placeholder().search(body):
                yield f"{issuer} {match[0][: len(sign)]}…"
                break


# Forged turns


def find_turn(text: str, marks: Mapping[str, Sequence[Pattern]]) -> str | None:
    """The first mark that separates the parts of a prompt, or that ends a part which the text has not begun."""
    used = _MENTIONED.sub("", text)
    for mark in marks.get("turn", ()):
        if match := mark.match.search(used):
            return match[0].strip()
    opened: dict[str, int] = {}
    for opening in _OPENING.finditer(text) if "closing" in marks else ():
        opened.setdefault(opening[1].lower(), opening.start())
    for closing in (end for mark in marks.get("closing", ()) for end in mark.match.finditer(text)):
        if closing.start() < opened.get(closing[1].lower(), len(text)):
            return str(closing[0])
    return None


_OPENING = lazy_pattern(r"<(\w{1,24})")
_MENTIONED = lazy_pattern(
    r"(?i:\b(?:such as|like|e\.g\.|formats?|templates?|markers?|delimiters?)\b)(?:[^.\n<\[(`\"']{0,40}"
    r"[(`\"'](?:<\|[a-z_]{2,24}\|>|\[/?INST\]|<</?SYS>>|</?s>|</?\w{1,24}>|user|assistant|system|\.{3}|…|[\s,])"
    r"{1,20}[)`\"']){1,5}"
)
"""Markers in the documentation of a chat template: named, in parentheses or quotation marks, saying nothing."""


# Characters


def may_hold_odd_characters(text: str) -> bool:
    """Control, unseen or mixed letters may stand in a text; printable ASCII has none."""
    if text.isascii():
        return not text.replace("\n", "").replace("\t", "").replace("\r", "").isprintable()
    return _CONTROL.search(text) is not None or _STRANGE.search(text) is not None


def find_control(text: str) -> tuple[str, bool] | None:
    """The first characters that a terminal obeys, and False; else of another control character, and True."""
    for pattern, is_mild in ((_OBEYED, False), (_CONTROL, True)):
        if match := pattern.search(text):
            return text[match.start() : match.start() + 12], is_mild
    return None


def find_unseen(text: str) -> tuple[str, bool] | None:
    """The first unseen character with what stands around it, and whether all of them may be an accident."""
    if text.isascii():
        return None
    places = [match.start() for match in _UNSEEN.finditer(text) if not _has_purpose(text, match.start())]
    places += [match.start() for match in _PRIVATE.finditer(text)]
    if not places:
        return None
    is_mild = len(places) <= MAX_STRAY and all(text[place] in _STRAY or _PRIVATE.match(text[place]) for place in places)
    return text[max(0, places[0] - 10) : places[0] + 10], is_mild


def find_mixed(text: str) -> str | None:
    """The first word of Latin letters and such of another script that look like them."""
    if text.isascii() or not _BORDER.search(text):
        return None
    for word in _WORD.finditer(text):
        if len(_LATIN.findall(word[0])) > 1 and _OTHER.search(word[0]) and _BORDER.search(word[0]):
            return str(word[0])
    return None


def _has_purpose(text: str, place: int) -> bool:
    """It joins an emoji, shapes a letter of a script that needs it, or begins the text as a byte order mark."""
    char = text[place]
    before = text[place - 1] if place else ""
    if char in "\ufe0e\ufe0f":
        is_letter = before.isalpha() and before not in _SIGNS
        return bool(before) and not is_letter and before not in " \n" and not _UNSEEN.match(before)
    if char in "\u200c\u200d":
        return bool(before) and (unicodedata.category(before)[0] == "S" or before == "\ufe0f" or is_shaped(before))
    if char in "\u200e\u200f\u061c":
        nearby = text[max(0, place - 20) : place + 20]
        return any(
            unicodedata.bidirectional(neighbor) in ("R", "AL") for neighbor in nearby if not _UNSEEN.match(neighbor)
        )
    if "\U000e0020" <= char <= "\U000e007f":
        return "\U0001f3f4" in text[max(0, place - 7) : place]
    return char == "\ufeff" and place == 0


_SIGNS = frozenset("\u2139\u24c2\u3030\u303d")
"""Letters by their category that are shown as emoji."""


_UNSEEN = lazy_pattern(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef\U0001d173-\U0001d17a]"
)
"""Characters that show nothing: zero-width, bidirectional controls, fillers, tags and variation selectors."""

_STRAY = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0e\ufe0f")
_PRIVATE = lazy_pattern("[\ue000-\uf8ff\U000f0000-\U0010fffd]")
_CONTROL = lazy_pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_OBEYED = lazy_pattern("\x1b.?|[\x08\x7f\x90\x9b\x9d-\x9f]", re.DOTALL)
_STRANGE = lazy_pattern(
    "[\x80-\x9f\u00ad\u034f\u0370-\u052f\u0531-\u0587\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\ue000-\uf8ff\U000e0000-\U000e01ef"
    "\U0001d173-\U0001d17a\U000f0000-\U0010fffd]"
)
_BORDER = lazy_pattern("[a-zA-Z][\u0370-\u052f\u0531-\u0587]|[\u0370-\u052f\u0531-\u0587][a-zA-Z]")
_WORD = lazy_pattern(r"[^\W\d_]{3,60}")
_LATIN = lazy_pattern("[a-zA-Z]")
_OTHER = lazy_pattern(
    "[\u0400-\u052f\u0531-\u0587\u03bf\u03bf\u03c1\u03bd\u03c4\u03b9\u03ba\u03b1\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7]"
)
"""Cyrillic and Armenian letters, and the Greek ones that look like Latin ones."""


MIN_RUN = 24
"""Characters of an encoded run that can hold a sentence."""

MIN_ENCODED = 13
"""Characters of the shortest encoded run, `a%20b%20c%20d`; no run holds white space."""

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
    words = [word for word in text.split() if len(word) >= MIN_ENCODED]
    for encoding, pattern, decode in _ENCODINGS:
        for run in (run for word in words for run in pattern.finditer(word)):
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
