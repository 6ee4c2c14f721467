"""JavaScript-compatible JSON bytes, UTF-16 lengths and integer rounding: what TDQS is defined on; what is visible."""

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from hashlib import sha256
from itertools import repeat
from json.encoder import encode_basestring  # the C quoting that json.dumps itself uses
from math import isfinite

from tdqs_mcp.errors import UnmeasurableError

MAX_NESTING = 100
"""Levels of arrays and objects; no real tool definition nests deeper, and it would exhaust the stack."""

MAX_SAFE_INTEGER = 2**53
"""Beyond it JavaScript has rounded an integer to a double before it can print it."""

JS_WHITESPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""Characters that String.prototype.trim removes (ECMA-262, WhiteSpace and LineTerminator); str.strip removes others."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ARRAY_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_ARRAY_INDEX_LIMIT = 2**32 - 1


def canonical_json(value: object) -> str:
    """The text that is hashed: no spaces, keys sorted by UTF-16 code unit (TDQS 1.2, canonical serialization).

    Raises UnmeasurableError beyond MAX_NESTING levels.
    """
    return escape_surrogates(_compact(value, 0))


def canonical_members(value: dict[str, object]) -> dict[str, str]:
    """The canonical text of an object in parts, `"key":value` by key: joined by commas in braces it is the whole text.

    Raises UnmeasurableError beyond MAX_NESTING levels.
    """
    return {
        key: escape_surrogates(f"{encode_basestring(key)}:{_compact(value[key], 1)}") for key in _sorted_keys(value)
    }


def pretty_json(value: object) -> str:
    """`JSON.stringify(value, null, 2)`: the author's key order, integer-like keys first, as the prompts show schemas.

    Raises UnmeasurableError beyond MAX_NESTING levels.
    """
    return escape_surrogates(_pretty(value, 0))


def short_hash(text: str) -> str:
    """The first 16 hex digits of the SHA-256 of the UTF-8 bytes."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def utf16_length(text: str) -> int:
    """`String.prototype.length`: a character beyond the Basic Multilingual Plane counts two."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_order(text: str) -> bytes:
    """A sort key that orders strings as JavaScript does, by UTF-16 code unit."""
    return text.encode("utf-16-be", "surrogatepass")


def is_well_formed(text: str) -> bool:
    """Return whether no half of a UTF-16 pair stands alone in it (`String.prototype.isWellFormed`)."""
    return text.isascii() or _LONE_SURROGATE.search(text) is None


def replace_surrogates(text: str) -> str:
    """The text with U+FFFD for every lone surrogate, fit for UTF-8 (`String.prototype.toWellFormed`)."""
    return text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)


def escape_surrogates(text: str) -> str:
    r"""The text with every lone surrogate as `\uXXXX`, fit for UTF-8, as `JSON.stringify` writes it."""
    return text if text.isascii() else _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def trim(text: str) -> str:
    """`String.prototype.trim`."""
    return text.strip(JS_WHITESPACE)


def round_half_up(numerator: int, denominator: int) -> int:
    """The exact non-negative rational in tenths, ties upward: 285/100 -> 29.

    Floats would put 612 of the 7,500 tied score vectors a tenth low and 134 of them a tier low (TDQS 1.2,
    "Computing the score"); integers cannot. Raises ValueError for a denominator below 1.
    """
    if denominator < 1:
        raise ValueError(f"denominator {denominator} is below 1")
    return (20 * numerator + denominator) // (2 * denominator)


def twice_median(scores: Sequence[int]) -> int:
    """Two times the median, which is always an integer."""
    ranked, half = sorted(scores), len(scores) // 2
    return ranked[half] + ranked[~half]


def _compact(value: object, level: int) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, dict):
        below = _below(level)
        members = [f"{encode_basestring(key)}:{_compact(value[key], below)}" for key in _sorted_keys(value)]
        return "{" + ",".join(members) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_compact, value, repeat(_below(level)))) + "]"
    return _scalar(value)


def _pretty(value: object, level: int) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, dict) and value:
        entries = [f"{encode_basestring(key)}: {_pretty(value[key], _below(level))}" for key in _javascript_keys(value)]
        return _indented("{", entries, "}", level)
    if isinstance(value, list | tuple) and value:
        return _indented("[", [_pretty(child, _below(level)) for child in value], "]", level)
    return _compact(value, level)


def _indented(opening: str, entries: list[str], closing: str, level: int) -> str:
    inner = ",\n".join(f"{'  ' * (level + 1)}{entry}" for entry in entries)
    return f"{opening}\n{inner}\n{'  ' * level}{closing}"


def _below(level: int) -> int:
    if level >= MAX_NESTING:
        raise UnmeasurableError(f"it nests deeper than {MAX_NESTING} levels")
    return level + 1


def _sorted_keys(mapping: dict[str, object]) -> list[str]:
    keys = list(mapping)
    return sorted(keys) if "".join(keys).isascii() else sorted(keys, key=utf16_order)


def _javascript_keys(mapping: dict[str, object]) -> list[str]:
    """A JavaScript object lists its array-index keys first, ascending, then the rest as inserted."""
    indices = {key for key in mapping if _ARRAY_INDEX.fullmatch(key) and int(key) < _ARRAY_INDEX_LIMIT}
    return sorted(indices, key=int) + [key for key in mapping if key not in indices]


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _number(value: float) -> str:
    """ECMA-262 Number::toString: the shortest digits that round-trip; anything but a finite double is null in JSON."""
    if isinstance(value, int) and abs(value) <= MAX_SAFE_INTEGER:
        return str(value)
    try:
        number = float(value)
    except OverflowError:
        return "null"
    if not isfinite(number):
        return "null"
    if number == 0:
        return "0"
    sign, digit_tuple, _ = Decimal(repr(number)).normalize().as_tuple()
    return ("-" if sign else "") + _lay_out("".join(map(str, digit_tuple)), Decimal(repr(number)).adjusted() + 1)


def _lay_out(digits: str, point: int) -> str:
    """Digits with the decimal point after `point` of them (negative: zeros before), as Number::toString steps 6-12."""
    if len(digits) <= point <= 21:
        return digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{point - 1:+d}"


_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co"})
"""Controls, formats, unassigned and private characters (Unicode, General_Category)."""

_IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Default_Ignorable_Code_Point (Unicode 15, DerivedCoreProperties.txt) of the other categories: fillers, selectors."""


def visible(text: str) -> str:
    """Return the text without what a reader cannot see and a model may obey.

    Decided by Unicode's properties. Joiners stay between letters of scripts that need them and between emoji, selectors
    behind signs that have an emoji, tabs and line feeds everywhere.
    """
    used = set(text) - {"\t", "\n"}
    unseen = {char for char in used if unicodedata.category(char) in _UNSEEN_CATEGORIES or _IGNORABLE.match(char)}
    if not unseen:
        return text
    characters: list[str] = []
    for place, character in enumerate(text):
        if character not in unseen or _is_needed(character, characters[-1:], text[place + 1 : place + 2]):
            characters.append(character)
    return "".join(characters)


def _is_needed(character: str, before: Sequence[str], after: str) -> bool:
    """Return true for a joiner or a selector without which the characters around it look different."""
    if not before or (not after and character in "\u200c\u200d"):
        return False
    if character == "\ufe0f":  # "\u2764\ufe0f": the red heart
        return unicodedata.category(before[0]) == "So" or before[0] in _EMOJI_BASES
    if character == "\u200d" and _is_emoji(before[0]) and _is_emoji(after):
        return True
    return character in "\u200c\u200d" and is_shaped(before[0]) and is_shaped(after)


_EMOJI_BASES = "0123456789#*\u203c\u2049\u2139\u24c2\u3030\u303d"
"""Signs of other categories that have an emoji (Unicode, emoji-variation-sequences.txt)."""


def _is_emoji(character: str) -> bool:
    """A sign, the skin of an emoji, or a selector behind one."""
    return unicodedata.category(character) in ("So", "Sk") or character in "\ufe0f\u2640\u2642"


def is_shaped(character: str) -> bool:
    """Return true for a letter or mark of Arabic or of a script of India or South-East Asia, which joiners shape."""
    return "\u0600" <= character <= "\u0eff" or "\u1000" <= character <= "\u109f" or "\u1780" <= character <= "\u17ff"
