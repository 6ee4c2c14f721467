"""Text as it reads once its disguise is off: look-alike letters, unseen characters, codes and ciphers undone."""
# ruff: noqa: RUF001  # look-alike letters are what this module is about

import binascii
import codecs
import html
import re
import unicodedata
from base64 import b32decode, b64decode
from collections.abc import Iterator
from urllib.parse import unquote

MAX_DECODED = 40
"""Runs of one string that are tried as an encoding; an instruction needs one, a screenful of hashes has hundreds."""

MAX_LEVELS = 2
"""Encodings inside each other that are undone."""

UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef\U0001d173-\U0001d17a]"
)
"""Characters that show nothing: zero-width, bidirectional controls, fillers, tags and variation selectors."""


def _boxed() -> dict[str, str]:
    """Letters in boxes, circles and flags, which Unicode does not fold."""
    starts = (0x1F130, 0x1F150, 0x1F170, 0x1F1E6)
    return {chr(start + place): chr(ord("a") + place) for start in starts for place in range(26)}


_MARKS = re.compile(
    "[\u0300-\u036f\u0483-\u0487\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f]"
)
_PAIRS = (
    "аa АA бb ВB вb гr ЕE еe ԁd һh іi ІI јj ЈJ "
    "кk КK ӏl ӀI мm МM нh НH оo ОO ԛq рp РP ѕs ЅS тt ТT уy УY ѵv ԝw хx ХX зe ьb ѡw пn иu "
    "αa ΑA βb ΒB γy εe ΕE ηn ΗH ιi ΙI κk ΚK λl μu ΜM νv ΝN οo ΟO ρp ΡP τt ΤT υu ΥY ωw χx ΧX ϲc ϳj ΖZ сc СC "
    "օo սu ոn հh ցg զq քp յj աw ѐe ɑa ɡg ıi ɩi ʋu ʏy ȷj łl øo đd ħh ŧt ƨs ꜱs "
    "ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ǫq ʀr ᴛt ᴜu ᴠv ᴡw ᴢz "
    "ɐa ɔc ǝe ɟf ƃg ɥh ɓg ɾj ʞk ɯm ɹr ʇt ʌv ʍw ʎy"
).split()
_LOOKALIKES = str.maketrans({pair[0]: pair[1] for pair in _PAIRS} | _boxed())
LEETS = tuple(str.maketrans("0134567@$!|89", f"o{one}eas6tasiibg") for one in "il")
"""Letters of digits and signs; 1 stands for i or for l."""
_LETTERS_APART = re.compile(
    r"(?<![^\W_])[^\W\d_](?:([.\-*|·•/\\,+])[^\W\d_](?![^\W_]))(?:\1[^\W\d_](?![^\W_]))*"
    r"|(?<![^\W_])[^\W\d_](?:[ \u00a0][^\W\d_](?![^\W_])){3,}"
)
_SEPARATORS = re.compile(r"[\W_]+")
_TAG = re.compile("[\U000e0020-\U000e007e]+")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_BASE32 = re.compile(r"[A-Z2-7]{24,}={0,6}")
_HEX = re.compile(r"(?:(?:\\x|0x|%)?[0-9a-fA-F]{2}[\s:,]?){10,}")
_BYTES = re.compile(r"(?:[01]{8}\s?){8,}")
_DECIMALS = re.compile(r"(?:\d{2,3}[\s,]\s?){10,}\d{2,3}")
_ESCAPES = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_HEX_DIGITS = re.compile(r"\\x|0x|[^0-9a-fA-F]")
_WORD = re.compile(r"[^\W\d_]+")
_LEET_WORD = re.compile(r"(?<![\w@$!|])(?=[^\W\d]{0,20}[\d@$!|])[\w@$!|]{3,40}")


def plain(text: str) -> str:
    """Lower-case letters without accents, styles, widths, emphasis or unseen characters between them."""
    if text.isascii():
        text = text.lower()
    else:
        text = unicodedata.normalize("NFKD", UNSEEN.sub("", text))
        text = (
            unicodedata.normalize("NFC", _MARKS.sub("", text)).casefold().replace("\u0131", "i").replace("\u2019", "")
        )
    for sign in "'`*~":
        if sign in text:
            text = text.replace(sign, "")
    return text.replace("_", " ")


def latin(text: str) -> str:
    """Plain text with every letter of another script that looks Latin made Latin."""
    if text.isascii():
        return plain(text)
    return plain(unicodedata.normalize("NFKD", UNSEEN.sub("", text)).translate(_LOOKALIKES))


def disguises(text: str) -> Iterator[tuple[str, str]]:
    """Every reading of a string that is not its plain one: how it is disguised, and what it says."""
    yield from _letters(text)
    yield from _smuggled(text)
    yield from _escaped(text)
    yield from _decoded(text)


def _letters(text: str) -> Iterator[tuple[str, str]]:
    read = plain(text)
    yield "words run together", read
    if (folded := latin(text)) != read:
        yield "look-alike letters", folded
        yield "look-alike letters", folded[::-1]
    if _LETTERS_APART.search(read):
        yield "letters set apart", _LETTERS_APART.sub(lambda run: _SEPARATORS.sub("", run[0]), read)
    if _LEET_WORD.search(read):
        for letters in LEETS:
            yield "digits for letters", _leet(read, letters)
    yield "reversed text", read[::-1]
    yield "reversed words", _WORD.sub(lambda word: word[0][::-1], read)
    yield "rot13", codecs.encode(read, "rot13")
    yield "mirrored alphabet", read.translate(ATBASH)


ATBASH = str.maketrans("abcdefghijklmnopqrstuvwxyz", "zyxwvutsrqponmlkjihgfedcba")


def _leet(text: str, letters: dict[int, int]) -> str:
    return _LEET_WORD.sub(lambda word: word[0].translate(letters), text)


def _smuggled(text: str) -> Iterator[tuple[str, str]]:
    if text.isascii():
        return
    for run in _TAG.findall(text):
        yield "tag characters", "".join(chr(ord(char) - 0xE0000) for char in run)
    for run in _SELECTORS.findall(text):
        data = bytes(ord(char) - (0xFE00 if ord(char) < 0xFE10 else 0xE0100 - 16) for char in run)
        yield "variation selectors", data.decode("utf-8", "replace")


def _escaped(text: str) -> Iterator[tuple[str, str]]:
    if "%" in text and (read := unquote(text)) != text:
        yield "percent-encoding", read
    if "&" in text and (read := html.unescape(text)) != text:
        yield "HTML entities", read
    if "\\" in text and (read := _ESCAPES.sub(lambda found: chr(int(found[1] or found[2], 16)), text)) != text:
        yield "escapes", read


def _decoded(text: str, *, levels: int = MAX_LEVELS) -> Iterator[tuple[str, str]]:
    tries, reads = MAX_DECODED, []
    for name, pattern, decode in _CODES:
        for run in pattern.finditer(text):
            if tries == 0:
                return
            tries -= 1
            if read := _as_text(decode, run[0]):
                yield name, read
                reads.append(read)
                if levels > 1:
                    yield from _decoded(read, levels=levels - 1)
    if len(reads) > 1:
        yield "pieces of an encoding", " ".join(reads)


def _as_text(decode: object, run: str) -> str:
    """What a run says when it is decoded; nothing when that is no text."""
    try:
        data = decode(run)  # type: ignore[operator]  # one of _CODES
        read: str = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8")
    except (ValueError, binascii.Error):
        return ""
    return read if read.replace("\n", " ").isprintable() else ""


def _from_base64(run: str) -> bytes:
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    return b64decode(body[: len(body) - (len(body) % 4 == 1)] + "=" * (-len(body) % 4))


def _from_base32(run: str) -> bytes:
    body = run.rstrip("=")
    return b32decode(body + "=" * (-len(body) % 8))


def _from_hex(run: str) -> bytes:
    return bytes.fromhex(_HEX_DIGITS.sub("", run))


def _from_bits(run: str) -> bytes:
    return bytes(int(bits, 2) for bits in re.findall("[01]{8}", run))


def _from_decimals(run: str) -> bytes:
    return bytes(int(number) for number in re.findall(r"\d+", run))


_CODES = (
    ("base64", _BASE64, _from_base64),
    ("base32", _BASE32, _from_base32),
    ("hexadecimal", _HEX, _from_hex),
    ("binary", _BYTES, _from_bits),
    ("character codes", _DECIMALS, _from_decimals),
)
