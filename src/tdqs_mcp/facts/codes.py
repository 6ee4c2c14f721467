"""Texts that a program has encoded, decoded: Base64 and its kin, numbers of characters, two signs for letters."""

import binascii
import re
from base64 import a85decode, b32decode, b64decode, b85decode
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from tdqs_mcp.facts.text.patterns import lazy_pattern

MAX_DECODED = 40
"""Runs of one string that are tried as an encoding; an instruction needs one, a screenful of hashes has hundreds."""


class Decoded(NamedTuple):
    """What a run of a text says when it is decoded."""

    code: str
    text: str
    is_data: bool = False
    """The claims of a JSON web token, which programs write and read."""


def decoded(text: str) -> Iterator[Decoded]:
    """Every run of a text that can be decoded to something printable, and the pieces of one code together."""
    tries, reads = MAX_DECODED, []
    for pattern, codes in _CODES:
        for run in pattern.finditer(text):
            if run[0].count(run[0][0]) == len(run[0]):
                continue  # one sign again and again says nothing in any code
            for code, decode in codes:
                if tries == 0:
                    return
                tries -= 1
                if read := _as_text(decode, run[0]):
                    is_data = run[0].startswith("eyJ") and text[run.start() - 1 : run.start()] == "."
                    yield Decoded(code, read, is_data)
                    reads += [read] if not is_data else []
    if len(reads) > 1:
        yield Decoded("pieces of an encoding", " ".join(reads))


def may_be_coded(text: str) -> bool:
    """Some code that no word betrays may stand in a text; the fast answer for most is no."""
    return len(text) >= MIN_CODED and (
        ("begin " in text and _UUENCODED.search(text) is not None)
        or _NO_WORDS.search(text) is not None
        or any(len(_DENSE_SIGNS.intersection(run)) >= MIN_DENSE for run in _DENSE.findall(text))
    )


def may_hold_signs(text: str) -> bool:
    """Two letters, digits or words may stand for all others in a text that has such words."""
    return _PAIR.search(text) is not None or _WORD_PAIR.search(text) is not None


def may_hold_points(text: str) -> bool:
    """Numbers of characters beyond ASCII may stand in a text that has numbers of their size."""
    return _POINTS.search(text) is not None


MIN_CODED = 25
"""Characters of a text in such a code that says something."""

_DENSE_SIGNS = frozenset("!#$%&*+;<=>?@^{|}~")
MIN_DENSE = 5
"""Different signs of a text in base 85: twenty of its digits are signs."""


def _as_text(decode: Callable[[str], bytes], run: str) -> str:
    """What a run says when it is decoded; nothing when that is no text."""
    try:
        data = decode(run)
        read = data.decode(_charset(data))
    except (ValueError, LookupError, OverflowError):
        return ""
    return read if read.replace("\n", " ").isprintable() else ""


def _charset(data: bytes) -> str:
    """UTF-16 by its mark, or because every other byte is 0, which no text of one byte a letter has."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    if len(data) >= 2 and len(data) % 2 == 0:
        for charset, place in (("utf-16-be", 0), ("utf-16-le", 1)):
            if not any(data[place::2]):
                return charset
    return "utf-8"


def _from_base64(run: str) -> bytes:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    return b64decode(body[: len(body) - (len(body) % 4 == 1)] + "=" * (-len(body) % 4))


def _from_base32(run: str) -> bytes:
    body = run.rstrip("=")
    return b32decode(body + "=" * (-len(body) % 8))


def _from_ascii85(run: str) -> bytes:
    return a85decode(run.removeprefix("<~").partition("~>")[0])


_Z85 = str.maketrans(
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#",
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~",
)


def _from_z85(run: str) -> bytes:
    return b85decode(run.translate(_Z85))


def _from_uuencode(run: str) -> bytes:
    lines = run.split("\n")[1:]
    return b"".join(binascii.a2b_uu(line) for line in lines if line.strip())


def _from_hex(run: str) -> bytes:
    return bytes.fromhex(_HEX_DIGITS.sub("", run))


def _from_numbers(run: str, *, base: int) -> bytes:
    return bytes(int(number, base) for number in re.findall(r"\d+", run))


def _from_points(run: str, *, base: int) -> bytes:
    return "".join(
        chr(int(number, base)) for number in re.findall(r"(?<![^\W_])[0-9a-fA-F]+", _POINT.sub(" ", run))
    ).encode()


def _from_signs(run: str, *, is_turned: bool) -> bytes:
    """Morse code, Bacon's cipher or bits of two signs, whichever they are."""
    groups = _groups(run.replace("\ufe0f", ""))
    both = _two_signs(groups)
    signs = ["".join(".-"[(sign == both[1]) ^ is_turned] for sign in group if sign in both) for group in groups]
    sizes = {len(group) for group in signs if group}
    if len(sizes) == 1 and (size := sizes.pop()) >= MIN_BITS:
        return _from_bits("".join(signs), size)
    return "".join(_MORSE[group] if group else " " for group in signs).encode()


def _groups(run: str) -> list[str]:
    """The letters of a run: between spaces, or between the sign that never stands where a letter is too long."""
    if _WORD_PAIR.fullmatch(run):
        first, *others = dict.fromkeys(re.findall(r"\w+", run))
        run = re.sub(r"\w+", lambda word: ".-"[word[0] != first], run) if len(others) == 1 else run
        return [group.strip() for group in re.split(r"[/|,;]|\s{2,}", re.sub(r"(?<=[.-]) (?=[.-])", "", run))]
    if len(groups := run.split()) > 1:
        return groups
    gaps = sorted(set(run), key=lambda sign: max(map(len, run.split(sign))))
    return (
        run.split(gaps[0]) if len(gaps) == len("./-") else [run[start : start + 8] for start in range(0, len(run), 8)]
    )


def _two_signs(groups: list[str]) -> str:
    """The signs of which most letters are made, in the order in which they first stand; ValueError if they are not two."""
    letters = [group for group in groups if len(group) > 1]
    signs = "".join(dict.fromkeys("".join(letters)))
    if len(signs) != len(".-"):
        raise ValueError(signs)
    return signs


def _from_bits(bits: str, size: int) -> bytes:
    """Letters by their number in the alphabet where five bits make one, characters otherwise."""
    digits = bits.replace(".", "0").replace("-", "1")
    numbers = [int(digits[start : start + size], 2) for start in range(0, len(digits), size)]
    return bytes(number + (ord("a") if size == MIN_BITS else 0) for number in numbers)


MIN_BITS = 5
"""Signs of a letter in Bacon's cipher; letters of Morse code differ in length."""

_MORSE = dict(
    zip(
        (
            ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "
            "----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. .-.-.- --..-- ..--.. ---... -.-.-- .----. -..-. -....-"
        ).split(),
        "abcdefghijklmnopqrstuvwxyz0123456789.,?:!'/-",
        strict=True,
    )
)
_BASE64 = lazy_pattern(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_BASE32 = lazy_pattern(r"[A-Z2-7]{24,}={0,6}")
_HEX = lazy_pattern(r"(?:(?:\\x|0x|%)?[0-9a-fA-F]{2}[\s:,]?){10,}")
_HEX_DIGITS = lazy_pattern(r"\\x|0x|[^0-9a-fA-F]")
_BYTES = lazy_pattern(r"(?:[01]{8}\s?){8,}")
_DECIMALS = lazy_pattern(r"(?:\d{2,3}[\s,]\s?){10,}\d{2,3}")
_POINT = lazy_pattern(r"0x|[Uu]\+|\\u|&#x?|;")
_POINTS = lazy_pattern(r"(?:(?:0x|[Uu]\+|\\u|&#x?)?[0-9a-fA-F]{2,6}(?:[\s,;]{1,3}|$)){8,}")
_UUENCODED = lazy_pattern(r"begin [0-7]{3} [^\n]{1,80}\n(?:[ -`]{1,62}\r?\n){1,200}")
_ADOBE = lazy_pattern(r"<~[!-uz\s]{20,20000}~>")
_DENSE = lazy_pattern(r"(?<!\S)[!-~]{25,}")
_NO_WORDS = lazy_pattern(r"[\W_]{24}")
_SIGNS_APART = lazy_pattern(r"(?<![^\w\s])(?<!_)(?:(?:[^\w\s]|_){1,8}\s{1,3}){7,}(?:[^\w\s]|_){1,8}")
_SIGNS = lazy_pattern(r"(?:[^\w\s]|_){24,}")
_PAIR = lazy_pattern(r"(?<![^\W_])([^\W_])(?:\1|[\s/|]){0,7}(?!\1)([^\W_])(?:\1|\2|[\s/|,]){28,}(?![^\W_])")
_WORD_PAIR = lazy_pattern(
    r"\b(\w{2,8})(?:[ -]\1){0,4}[\s/|,;-]{1,9}(?!\1\b)(\w{2,8})(?:[\s/|,;-]{1,9}(?:\1|\2)\b){20,}"
)

_CODES: tuple[tuple[re.Pattern[str], tuple[tuple[str, Callable[[str], bytes]], ...]], ...] = (
    (_BASE64, (("base64", _from_base64),)),
    (_BASE32, (("base32", _from_base32),)),
    (_HEX, (("hexadecimal", _from_hex),)),
    (_BYTES, (("binary", lambda run: _from_bits("".join(run.split()), 8)),)),
    (_DECIMALS, tuple(("character codes", partial(_from_numbers, base=base)) for base in (10, 8))),
    (_POINTS, tuple(("character codes", partial(_from_points, base=base)) for base in (10, 16))),
    (_UUENCODED, (("uuencode", _from_uuencode),)),
    (_ADOBE, (("Ascii85", _from_ascii85),)),
    (_DENSE, (("Ascii85", _from_ascii85), ("base85", b85decode), ("Z85", _from_z85))),
    *(
        (pattern, tuple(("two signs for letters", partial(_from_signs, is_turned=turned)) for turned in (False, True)))
        for pattern in (_SIGNS_APART, _SIGNS, _PAIR, _WORD_PAIR)
    ),
)
"""Each code with what a run of it may be."""
