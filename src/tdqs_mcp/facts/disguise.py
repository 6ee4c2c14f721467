"""Text as it reads once its disguise is off: look-alike letters, unseen characters, codes and ciphers undone."""

import binascii
import html
import re
import unicodedata
from base64 import b32decode, b64decode
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple
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
_BRAILLE = dict(zip("⠀⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵", " abcdefghijklmnopqrstuvwxyz", strict=True))
_LOOKALIKES = str.maketrans({pair[0]: pair[1] for pair in _PAIRS} | _boxed() | _BRAILLE)
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
_MORSE = re.compile(r"(?:[.-]{1,4}[ ](?:[/|][ ])?){8,}[.-]{1,4}")
_MORSE_LETTERS = dict(
    zip(
        (
            ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
        ).split(),
        "abcdefghijklmnopqrstuvwxyz",
        strict=True,
    )
)
_ESCAPES = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_HEX_DIGITS = re.compile(r"\\x|0x|[^0-9a-fA-F]")
_WORD = re.compile(r"[^\W\d_]+")
_LEET_WORD = re.compile(r"(?<![\w@$!|])(?=[^\W\d]{0,20}[\d@$!|])[\w@$!|]{3,40}")


_STROKES = str.maketrans("\u0131\u0111\u0142\u00f8\u2044", "idlo/", "\u2019")


class Reading(NamedTuple):
    """What a string may say under a disguise."""

    disguise: str
    text: str
    is_deliberate: bool = False
    """Nobody writes so by accident, whatever it says."""

    is_data: bool = False
    """The claims of a JSON web token, which programs write and read."""


def plain(text: str) -> str:
    """Lower-case letters without accents, styles, widths, emphasis or unseen characters between them."""
    if text.isascii():
        text = text.lower()
    else:
        text = unicodedata.normalize("NFKD", UNSEEN.sub("", text))
        text = unicodedata.normalize("NFC", _MARKS.sub("", text)).casefold().translate(_STROKES)
    for sign in "'`*~":
        if sign in text:
            text = text.replace(sign, "")
    return text.replace("_", " ")


def latin(text: str) -> str:
    """Plain text with every letter of another script that looks Latin made Latin."""
    if text.isascii():
        return plain(text)
    return plain(unicodedata.normalize("NFKD", UNSEEN.sub("", text)).translate(_LOOKALIKES))


def disguises(text: str) -> Iterator[Reading]:
    """Every reading of a string that is not its plain one."""
    yield from _letters(text)
    yield from _smuggled(text)
    yield from _escaped(text)
    yield from _decoded(text)


def _letters(text: str) -> Iterator[Reading]:
    read = plain(text)
    if _RUN_TOGETHER.search(read):
        yield Reading("words run together", read)
    if (folded := latin(text)) != read:
        yield Reading("look-alike letters", folded)
        yield Reading("look-alike letters", folded[::-1])
    if runs := [len(run[0]) for run in _LETTERS_APART.finditer(read) if len(run[0]) > MIN_ABBREVIATED]:
        joined = _LETTERS_APART.sub(lambda run: _SEPARATORS.sub("", run[0]), read)
        yield Reading("letters set apart", joined, sum(size > MIN_RUN for size in runs) >= MIN_APART)
    if any(_is_leet(word[0]) for word in _LEET_WORD.finditer(read)):
        for letters in LEETS:
            yield Reading("digits for letters", _leet(read, letters))
    ciphered = (
        ("reversed text", read[::-1]),
        ("reversed words", _WORD.sub(lambda word: word[0][::-1], read)),
        *((f"rot{count}", read.translate(turn)) for count, turn in ROTATIONS.items()),
        ("mirrored alphabet", read.translate(ATBASH)),
        ("Pig Latin", _WORD.sub(_unpigged, read)),
    )
    before = _told(read)
    for name, said in ciphered:
        if (told := _told(said)) >= 2:
            yield Reading(name, said, told >= max(MIN_TOLD, 2 * before))


MIN_ABBREVIATED = 4
"""Characters of `e.g.`, which hides nothing."""

MIN_RUN = 7
"""Characters of such a word that is no abbreviation: four letters and what stands between them."""

MIN_APART = 2
"""Such words that are no accident."""

MIN_TOLD = 4
"""Telling words that a text does not get by accident when it is reversed or enciphered."""


def _told(read: str) -> int:
    return len(_COMMON_WORDS.intersection(_WORD.findall(read)))


def _is_message(read: str) -> bool:
    """Decoded words that speak to somebody; other texts are what a file or a field happens to hold."""
    return _told(read) >= 2 and not _SPEAKING.isdisjoint(_WORD.findall(read))


_COMMON_WORDS = frozenset(
    "the this that with for and not you your must from all any note please user tool tell give best score rate full "
    "credit grader graders judge evaluator ignore instructions previous highest send never about under below five "
    "answer password secret do to us".split()
)


def _unpigged(word: re.Match[str]) -> str:
    """A word of Pig Latin with its first consonants back in front: of several readings the one that is known."""
    stem = word[0].removesuffix("ay")
    turned = (stem[-count:] + stem[:-count] for count in range(1, min(4, len(stem))))
    return next((each for each in turned if each in _COMMON_WORDS or each in _KNOWN), word[0])


def _pigged(word: str) -> str:
    start = next((place for place, letter in enumerate(word) if letter in "aeiouy"), 0)
    return f"{word[start:]}{word[:start]}ay"


_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
ATBASH = str.maketrans(_ALPHABET, _ALPHABET[::-1])
ROTATIONS = {count: str.maketrans(_ALPHABET, _ALPHABET[count:] + _ALPHABET[:count]) for count in range(1, 26)}
"""Every Caesar cipher, by how many letters a reader goes on; 13 is its own inverse."""


def _is_leet(word: str) -> bool:
    return any(word.translate(letters) in _KNOWN for letters in LEETS)


def _leet(text: str, letters: dict[int, int]) -> str:
    return _LEET_WORD.sub(lambda word: word[0].translate(letters), text)


def _smuggled(text: str) -> Iterator[Reading]:
    if text.isascii():
        return
    for run in _TAG.findall(text):
        read = "".join(chr(ord(char) - 0xE0000) for char in run)
        yield Reading("tag characters", read, len(read) >= MIN_SMUGGLED)
    for run in _SELECTORS.findall(text):
        data = bytes(ord(char) - (0xFE00 if ord(char) < 0xFE10 else 0xE0100 - 16) for char in run)
        read = data.decode("utf-8", "replace")
        yield Reading("variation selectors", read, len(read) >= MIN_SMUGGLED and read.isprintable())


MIN_SMUGGLED = 8
"""Characters of a smuggled text; the flag of a region needs six tags."""


def _escaped(text: str) -> Iterator[Reading]:
    if "%" in text and (read := unquote(text)) != text:
        yield Reading("percent-encoding", read)
    if "&" in text and (read := html.unescape(text)) != text:
        yield Reading("HTML entities", read)
    if "\\" in text and (read := _ESCAPES.sub(lambda found: chr(int(found[1] or found[2], 16)), text)) != text:
        yield Reading("escapes", read)


def _decoded(text: str, *, levels: int = MAX_LEVELS) -> Iterator[Reading]:
    tries, reads = MAX_DECODED, []
    for name, pattern, decode in _CODES:
        for run in pattern.finditer(text):
            if tries == 0:
                return
            tries -= 1
            if read := _as_text(decode, run[0]):
                is_claims = run[0].startswith("eyJ") and text[run.start() - 1 : run.start()] == "."
                yield Reading(name, read, _is_message(plain(read)), is_claims)
                reads += [read] if not is_claims else []
                if levels > 1:
                    yield from _decoded(read, levels=levels - 1)
    if len(reads) > 1:
        yield Reading("pieces of an encoding", " ".join(reads))


def _as_text(decode: object, run: str) -> str:
    """What a run says when it is decoded; nothing when that is no text."""
    try:
        data = decode(run)  # type: ignore[operator]  # one of _CODES
        read: str = data.decode(_charset(data))
    except (ValueError, binascii.Error):
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


def _from_morse(run: str) -> bytes:
    return "".join(_MORSE_LETTERS.get(sign, "?" if sign.strip("/|") else " ") for sign in run.split()).encode()


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


def _from_octals(run: str) -> bytes:
    return bytes(int(number, 8) for number in re.findall(r"\d+", run))


def _from_decimals(run: str) -> bytes:
    return bytes(int(number) for number in re.findall(r"\d+", run))


_CODES = (
    ("base64", _BASE64, _from_base64),
    ("base32", _BASE32, _from_base32),
    ("hexadecimal", _HEX, _from_hex),
    ("binary", _BYTES, _from_bits),
    ("character codes", _DECIMALS, _from_decimals),
    ("character codes", _DECIMALS, _from_octals),
    ("Morse code", _MORSE, _from_morse),
)


# What betrays a disguise: the fast answer for most texts is no.

_TELLING = (
    "ignore previous instruction instructions highest maximum perfect rating evaluator grader graders evaluating "
    "evaluate definition assign dimension dimensions scores reviewer system secret conversation password mention "
    "disregard judge judges score award excellent prompt description credit marks please grading evaluation points "
    "dear assistant"
).split()


def _enciphered(word: str) -> Iterator[str]:
    for letters in (ATBASH, *ROTATIONS.values()):
        yield word.translate(letters)
    yield _pigged(word)


_KNOWN = frozenset({*_TELLING, *"top give rate tool best all this the user tell".split()})
_SPEAKING = frozenset(
    {*_TELLING, *"you your must never not do tell user give send rate tool top best full password answer".split()}
)
"""Words of which a hidden message that wants something has at least one."""

_CIPHERS = (
    frozenset(cipher for word in _TELLING for cipher in (word[::-1], *_enciphered(word)))
    | frozenset(
        cipher
        for word in "tool this user tell give best full never send five about from your must with".split()
        for cipher in _enciphered(word)
    )
    | frozenset("resu llet siht eht evig tseb lluf reven drowssap dnes tcuded".split())
)
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_CODES_OF_LETTERS = frozenset(f"{code:02x}" for code in range(32, 127)) | frozenset(
    f"{code:{base}}" for code in range(97, 123) for base in "do"
)
"""Printable ASCII as two hexadecimal digits, and small letters as decimal or octal numbers."""

_PERCENT = re.compile(r"%[0-9a-fA-F]{2}[^%\s]{0,20}%[0-9a-fA-F]{2}")
_ENTITY = re.compile(r"&#?\w{2,7};")
_ESCAPE = re.compile(r"\\[xu][0-9a-fA-F]{2}")
_EXOTIC = re.compile(
    "[\u00ad\u0250-\u02af\u034f-\u052f\u0531-\u0587\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1d00-\u1d7f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2460-\u24ff\u2800-\u28ff\u3164\ufe00-\ufe0e\ufeff\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uffa0"
    "\U0001d400-\U0001d7ff\U0001f130-\U0001f1ff\U000e0000-\U000e01ef]"
)
"""Letters that look like others, and characters that show nothing."""

_CIPHER, _LETTER, _CODE, _CODED = 1, 2, 4, 8


def odd_bits(word: str) -> int:
    """How a plain word may belong to a text in disguise: a set of bits below 256."""
    bits = _CIPHER if word in _CIPHERS else 0
    if len(word) <= 3:
        bits |= (_LETTER if word in _LETTERS else 0) | (_CODE if word in _CODES_OF_LETTERS else 0)
    return bits | (_CODED if _is_coded(word) else 0)


def is_disguised(text: str, words: AbstractSet[str], bits: int) -> bool:
    """Something may stand in a text in disguise, whose words have these odd bits."""
    return (
        bits & (_CIPHER | _CODED) > 0
        or (bits & _LETTER > 0 and len(_LETTERS & words) >= 6)
        or (bits & _CODE > 0 and len(_CODES_OF_LETTERS & words) >= 8)
        or (". -" in text and _MORSE.search(text) is not None)
        or ("%" in text and _PERCENT.search(text) is not None)
        or ("&" in text and _ENTITY.search(text) is not None)
        or ("\\" in text and _ESCAPE.search(text) is not None)
        or (not text.isascii() and _EXOTIC.search(text) is not None)
    )


def _is_coded(word: str) -> bool:
    """A word that may be base64, hexadecimal, bits, or letters with digits among them."""
    if word.isalpha():
        return len(word) >= MIN_RUN_TOGETHER and len(_VOCABULARY.findall(word)) >= MIN_KNOWN
    if word.isdigit():
        return len(word) == 8 and set(word) <= {"0", "1"}
    return (len(word) >= 16 and word.isascii()) or _is_leet(word)


MIN_RUN_TOGETHER = 16
"""Letters from which a word is taken for several that stand there without spaces."""

MIN_KNOWN = 3
"""Known words in such a run; an identifier seldom holds more than one."""

_RUN_TOGETHER = re.compile(rf"[a-z]{{{MIN_RUN_TOGETHER},}}")
_VOCABULARY = re.compile(
    "|".join(sorted({*_KNOWN, *"full rules not never every five out of".split()}, key=lambda word: (-len(word), word)))
)


def parted(read: str) -> str:
    """The text with the known words of a long run of letters set apart."""
    return _RUN_TOGETHER.sub(lambda run: " ".join(_VOCABULARY.findall(run[0])), read)
