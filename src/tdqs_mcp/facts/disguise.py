"""Text as it reads once its disguise is off: look-alike letters, unseen characters, codes and ciphers undone."""

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple
from urllib.parse import unquote

from tdqs_mcp.facts.codes import decoded, may_be_coded, may_hold_points, may_hold_signs
from tdqs_mcp.facts.text.patterns import lazy_pattern

MAX_LEVELS = 2
"""Encodings inside each other that are undone."""

UNSEEN = lazy_pattern(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef\U0001d173-\U0001d17a]"
)
"""Characters that show nothing: zero-width, bidirectional controls, fillers, tags and variation selectors."""


def _boxed() -> dict[str, str]:
    """Letters in boxes, circles and flags, which Unicode does not fold."""
    starts = (0x1F130, 0x1F150, 0x1F170, 0x1F1E6)
    return {chr(start + place): chr(ord("a") + place) for start in starts for place in range(26)}


_MARKS = lazy_pattern(
    "[\u0300-\u036f\u0483-\u0487\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f]"
)
_PAIRS = (
    "аa АA бb ВB вb гr ЕE еe ԁd һh іi ІI јj ЈJ "
    "кk КK ӏl ӀI мm МM нh НH оo ОO ԛq рp РP ѕs ЅS тt ТT уy УY ѵv ԝw хx ХX зe ьb ѡw пn иu "
    "αa ΑA βb ΒB γy εe ΕE ηn ΗH ιi ΙI κk ΚK λl μu ΜM νv ΝN οo ΟO ρp ΡP τt ΤT υu ΥY ωw χx ΧX ϲc ϳj ΖZ сc СC "
    "օo սu ոn հh ցg զq քp յj աw ѐe ɑa ɡg ıi ɩi ʋu ʏy ȷj łl øo đd ħh ŧt ƨs ꜱs "
    "ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ǫq ʀr ᴛt ᴜu ᴠv ᴡw ᴢz "
    "ᴉi ƖI ןl ꞁl ϛ5 ɐa ɔc ǝe ɟf ƃg ɥh ɓg ɾj ʞk ɯm ɹr ʇt ʌv ʍw ʎy"
).split()
_BRAILLE = dict(zip("⠀⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵", " abcdefghijklmnopqrstuvwxyz", strict=True))
_LOOKALIKES = str.maketrans({pair[0]: pair[1] for pair in _PAIRS} | _boxed() | _BRAILLE)
_TURNED = str.maketrans("nubdpq69˙", "unqpdb96.")
"""Letters that are others when they stand on their heads."""

LEETS = tuple(str.maketrans("0134567@$!|89", f"o{one}eas6tasiibg") for one in "il")
"""Letters of digits and signs; 1 stands for i or for l."""
_LETTERS_APART = lazy_pattern(
    r"(?<![^\W_])[^\W\d_](?:([.\-*|·•/\\,+])[^\W\d_](?![^\W_]))(?:\1[^\W\d_](?![^\W_]))*"
    r"|(?<![^\W_])[^\W\d_](?:[ \u00a0][^\W\d_](?![^\W_])){3,}"
)
_SEPARATORS = lazy_pattern(r"[\W_]+")
_TAG = lazy_pattern("[\U000e0020-\U000e007e]+")
_SELECTORS = lazy_pattern("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_ESCAPES = lazy_pattern(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_QUOTED = lazy_pattern(r"(?:=(?:[0-9A-F]{2}|\r?\n))+")
_SOFT_BREAK = lazy_pattern(r"=\r?\n")
_WORD = lazy_pattern(r"[^\W\d_]+")
_LEET_WORD = lazy_pattern(r"(?<![\w@$!|])(?=[^\W\d]{0,20}[\d@$!|])[\w@$!|]{3,40}")


_SIMPLIFIED = (
    "評评 審审 閱阅 標标 準准 則则 細细 規规 範范 項项 維维 質质 點点 級级 優优 滿满 給给 與与 應应 請请 務务 須须 無无 視视 記记 寫写 減减 錯错 誤误 懲惩 罰罚 處处 關关 閉闭 寬宽 貴贵 諒谅 "
    "這这 該该 個个 條条 說说 説说 檔档 義义 術术 語语 動动 轉转 發发 傳传 複复 製制 貼贴 讀读 開开 獲获 鑰钥 憑凭 據据 認认 證证 碼码 號号 對对 話话 錄录 歷历 隱隐 瞞瞒 覺觉 現现 戶户 顧顾 "
    "類类 測测 試试 驗验 報报 總总 結结 員员 專专 業业 機机 聲声 稱称 來来 從从 後后 時时 際际 當当 為为 爲为 極极 頂顶 較较 邊边 過过 還还 運运 選选 擇择 題题 離离 儘尽 盡尽 麼么 們们 讓让 "
    "設设 計计 訊讯 詢询 議议 讚赞 贊赞 獎奖 賞赏 願愿 懇恳 簡简 節节 約约 絕绝 續续 繼继 經经 確确 實实 換换 銷销 廢废 棄弃 賦赋 價价 価价 鑑鉴 別别 網网 遺遗 騙骗 飾饰 圓圆 課课 訓训 練练 強强 "
    "調调 嚴严 厲厉 紅红 筆笔 慮虑 憐怜 憫悯 饒饶 託托 裝装 數数 責责 違违 執执 導导 擬拟 構构 "
).split()
_STROKES = str.maketrans("\u0131\u0111\u0142\u00f8\u2044", "idlo/", "\u2019") | {
    ord(pair[0]): pair[1] for pair in _SIMPLIFIED
}
"""Letters without their strokes, and traditional characters as simplified ones, so that one entry of a lexicon has both."""


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


def disguises(text: str, *, levels: int = MAX_LEVELS) -> Iterator[Reading]:
    """Every reading of a string that is not its plain one; what is decoded may be in disguise itself."""
    yield from _letters(text)
    yield from _smuggled(text)
    undone = [Reading(name, read) for name, read in _escaped(text)]
    undone += [Reading(code, read, _is_message(plain(read)), is_data) for code, read, is_data in decoded(text)]
    for reading in undone:
        yield reading
        if levels > 1 and not reading.is_data:
            yield from disguises(reading.text, levels=levels - 1)


def _letters(text: str) -> Iterator[Reading]:
    read = plain(text)
    if _RUN_TOGETHER.search(read):
        yield Reading("words run together", read)
    if (folded := latin(text)) != read:
        yield Reading("look-alike letters", folded)
        yield Reading("look-alike letters", folded[::-1])
        yield Reading("turned letters", latin(text.translate(_TURNED))[::-1])
    if runs := [len(run[0]) for run in _LETTERS_APART.finditer(read) if len(run[0]) > MIN_ABBREVIATED]:
        joined = _LETTERS_APART.sub(lambda run: _SEPARATORS.sub("", run[0]), read)
        yield Reading("letters set apart", joined, sum(size > MIN_RUN for size in runs) >= MIN_APART)
    if any(_is_leet(word[0]) for word in _LEET_WORD.finditer(read)):
        for letters in LEETS:
            yield Reading("digits for letters", _leet(read, letters))
    words = dict.fromkeys(_WORD.findall(read))
    before = _common(words)
    for name, turned, whole in _TURNS:
        if (told := _common(map(turned, words))) >= 2:
            yield Reading(name, whole(read), told >= max(MIN_TOLD, 2 * before))
    if (told := _told(shifted := plain(text.translate(ROT47)))) >= 2:
        yield Reading("rot47", shifted, told >= max(MIN_TOLD, 2 * before))


MIN_ABBREVIATED = 4
"""Characters of `e.g.`, which hides nothing."""

MIN_RUN = 7
"""Characters of such a word that is no abbreviation: four letters and what stands between them."""

MIN_APART = 2
"""Such words that are no accident."""

MIN_TOLD = 4
"""Telling words that a text does not get by accident when it is reversed or enciphered."""


def _told(read: str) -> int:
    return _common(_WORD.findall(read))


def _common(words: Iterable[str]) -> int:
    return len(_COMMON_WORDS.intersection(words))


def _is_message(read: str) -> bool:
    """Decoded words that speak to somebody; other texts are what a file or a field happens to hold."""
    return _told(read) >= 2 and not _SPEAKING.isdisjoint(_WORD.findall(read))


_COMMON_WORDS = frozenset(
    "the this that with for and not you your must from all any note please user tool tell give best score rate full "
    "credit grader graders judge evaluator ignore instructions previous highest send never about under below five "
    "answer password secret do to us".split()
)


def _unpigged(word: str) -> str:
    """A word of Pig Latin with its first consonants back in front: of several readings the one that is known."""
    stem = word.removesuffix("ay")
    turned = (stem[-count:] + stem[:-count] for count in range(1, min(4, len(stem))))
    return next((each for each in turned if each in _COMMON_WORDS or each in _KNOWN), word)


def _reversed(read: str) -> str:
    return read[::-1]


def _each_word(turned: Callable[[str], str]) -> Callable[[str], str]:
    return lambda read: _WORD.sub(lambda word: turned(word[0]), read)


def _pigged(word: str) -> str:
    start = next((place for place, letter in enumerate(word) if letter in "aeiouy"), 0)
    return f"{word[start:]}{word[:start]}ay"


_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
ATBASH = str.maketrans(_ALPHABET, _ALPHABET[::-1])
ROTATIONS = {count: str.maketrans(_ALPHABET, _ALPHABET[count:] + _ALPHABET[:count]) for count in range(1, 26)}
"""Every Caesar cipher, by how many letters a reader goes on; 13 is its own inverse."""

ROT47 = {code: (code - 33 + 47) % 94 + 33 for code in range(33, 127)}
"""Its kin over all printable ASCII."""


def _translated(table: Mapping[int, int]) -> Callable[[str], str]:
    return lambda read: read.translate(table)


_TURNS: tuple[tuple[str, Callable[[str], str], Callable[[str], str]], ...] = (
    ("reversed text", _reversed, _reversed),
    ("reversed words", _reversed, _each_word(_reversed)),
    *((f"rot{count}", _translated(turn), _translated(turn)) for count, turn in ROTATIONS.items()),
    ("mirrored alphabet", _translated(ATBASH), _translated(ATBASH)),
    ("Pig Latin", _unpigged, _each_word(_unpigged)),
)
"""What is read as a cipher of words, with what it does to one of them and to a text: each word is tried once."""


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


def _escaped(text: str) -> Iterator[tuple[str, str]]:
    if "%" in text and (read := unquote(text)) != text:
        yield "percent-encoding", read
    if "&" in text and (read := html.unescape(text)) != text:
        yield "HTML entities", read
    if "\\" in text and (read := _ESCAPES.sub(lambda found: chr(int(found[1] or found[2], 16)), text)) != text:
        yield "escapes", read
    if "=" in text and (read := _QUOTED.sub(_unquoted, text)) != text:
        yield "quoted-printable", read


def _unquoted(run: re.Match[str]) -> str:
    return bytes.fromhex(_SOFT_BREAK.sub("", run[0]).replace("=", "")).decode("utf-8", "replace")


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
_ROT47_WORDS = ("E96", "E9:D", "E@@=", "D4@C")
"""The, this, tool, score."""
_CODES_OF_LETTERS = frozenset(f"{code:02x}" for code in range(32, 127)) | frozenset(
    f"{code:{base}}" for code in range(97, 123) for base in "do"
)
"""Printable ASCII as two hexadecimal digits, and small letters as decimal or octal numbers."""

_QUOTED_BYTES = lazy_pattern(r"=[0-9A-F]{2}=")
_PERCENT = lazy_pattern(r"%[0-9a-fA-F]{2}[^%\s]{0,20}%[0-9a-fA-F]{2}")
_ENTITY = lazy_pattern(r"&#?\w{2,7};")
_ESCAPE = lazy_pattern(r"\\[xu][0-9a-fA-F]{2}")
_EXOTIC = lazy_pattern(
    "[\u00ad\u0250-\u02af\u034f-\u052f\u0531-\u0587\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u1d00-\u1d7f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2460-\u24ff\u2800-\u28ff\u3164\ufe00-\ufe0e\ufeff\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uffa0"
    "\U0001d400-\U0001d7ff\U0001f130-\U0001f1ff\U000e0000-\U000e01ef]"
)
"""Letters that look like others, and characters that show nothing."""

_CIPHER, _LETTER, _CODE, _CODED, _PAIRED, _POINT = 1, 2, 4, 8, 16, 32


def odd_bits(word: str) -> int:
    """How a plain word may belong to a text in disguise: a set of bits below 256."""
    bits = _CIPHER if word in _CIPHERS else 0
    if len(word) <= 3:
        bits |= (_LETTER if word in _LETTERS else 0) | (_CODE if word in _CODES_OF_LETTERS else 0)
    elif len(word) <= MAX_POINT and not word.isalpha() and _NUMBER.fullmatch(word):
        bits |= _POINT
    if (len(word) >= MIN_PAIRED and len(set(word)) <= 2) or word in _SIGN_WORDS:  # a pair
        bits |= _PAIRED
    return bits | (_CODED if _is_coded(word) else 0)


MAX_POINT = 8
"""Digits of a character's number, with its prefix."""

_NUMBER = lazy_pattern("0x[0-9a-f]{2,6}|u?[0-9a-f]{3,6}")
_SIGN_WORDS = frozenset("dot dash dit dah dih zero short".split())
MIN_PAIRED = 4
"""Letters of which some word of two signs has as many, and a word of a language hardly ever."""


def is_disguised(text: str, words: AbstractSet[str], bits: int) -> bool:
    """Something may stand in a text in disguise, whose words have these odd bits."""
    return (
        bits & (_CIPHER | _CODED) > 0
        or (bits & _LETTER > 0 and len(_LETTERS & words) >= 6)
        or (bits & _CODE > 0 and len(_CODES_OF_LETTERS & words) >= 8)
        or (bits & _PAIRED > 0 and may_hold_signs(text))
        or (bits & _POINT > 0 and may_hold_points(text))
        or may_be_coded(text)
        or any(map(text.__contains__, _ROT47_WORDS))
        or ("=" in text and _QUOTED_BYTES.search(text) is not None)
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

_RUN_TOGETHER = lazy_pattern(rf"[a-z]{{{MIN_RUN_TOGETHER},}}")
_VOCABULARY = lazy_pattern(
    "|".join(sorted({*_KNOWN, *"full rules not never every five out of".split()}, key=lambda word: (-len(word), word)))
)


def parted(read: str) -> str:
    """The text with the known words of a long run of letters set apart."""
    return _RUN_TOGETHER.sub(lambda run: " ".join(_VOCABULARY.findall(run[0])), read)
