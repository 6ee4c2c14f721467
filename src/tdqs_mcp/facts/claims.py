"""What a text claims of a parameter, against what the schema accepts: type, choices, default, range, requirement."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from tdqs_mcp.facts.patterns import late
from tdqs_mcp.facts.prose import MAX_TEXT, name_parts
from tdqs_mcp.facts.sayings import DIGITS, Origin, Saying, words_in
from tdqs_mcp.facts.shape import ANYTHING, SIMPLE, Accepted, accepted, is_simple
from tdqs_mcp.facts.words import LEMMAS
from tdqs_mcp.model.catalog import Tool

MAX_LISTED = 60
"""Values of one list that are compared."""


class Claim(NamedTuple):
    """What a text says of a parameter, beside what the schema accepts."""

    saying: Saying
    accepted: Accepted
    names: frozenset[str]
    """Words that are names of other things: parameters, the tool itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clash:
    """A statement that the schema contradicts."""

    saying: Saying
    said: str
    """What the text says, in few words."""

    held: str
    """What the schema says."""

    is_plain: bool
    """The text states it outright; else it is only what its words amount to."""


# Types

_TYPE_WORDS: dict[str, frozenset[str]] = {
    word: frozenset(kinds.split())
    for words, kinds in (
        ("string strings str", "string"),
        ("integer integers int ints", "integer"),
        ("number numbers float floats numeric decimal double", "number integer"),
        ("boolean booleans bool bools", "boolean"),
        ("array arrays list lists", "array"),
        ("object objects dict dictionary map mapping", "object"),
    )
    for word in words.split()
}
_TYPE = r"(?:whole\s+|floating[- ]point\s+)?(" + "|".join(sorted(_TYPE_WORDS, key=len, reverse=True)) + r")"
_AFTER_TYPE = (
    r"(?=\s*(?:$|[.,;:)|(\n/\]]|-\s|–|—)"
    r"|\s+(?:of|containing|with|that|which|who|in|for|to|from|representing|values?|like|such|and|or|not|only|between|"
    r"greater|less|where|when|if|by|is|as|e\.g|per|at|must|should)\b)"
)
_ADJECTIVE = (
    r"(?:(?:valid|single|positive|negative|non-negative|nonnegative|non-empty|plain|simple|json|utf-8|unique|optional|"
    r"required|numeric|text|literal|real|comma-separated|comma-delimited|space-separated|flat|nested|short|"
    r"one-dimensional|two-dimensional|2d|iso|formatted|encoded|base64|stringified|serialized|native|date|datetime|"
    r"unsigned|signed|64-bit|32-bit|proper|actual)\s+){0,3}"
)
_NORMATIVE = late(
    r"(?:\b(?:must|should|shall|has\s+to|needs\s+to|have\s+to)\s+(?P<not2>not\s+)?(?:always\s+)?be\s+"
    r"(?:(?:provided|given|passed|specified|supplied|sent|formatted|encoded|set|entered|written)\s+)?(?:as\s+|to\s+"
    r"|in\s+)?"
    r"|\b(?:accepts?|expects?|takes|requires)\s+(?:only\s+)?"
    r"|\b(?:pass(?:ed)?|provided?|given?|specif(?:y|ied)|suppl(?:y|ied)|sent|send|enter(?:ed)?|encoded|formatted)\s+"
    r"(?:(?:it|this|them|these|in|the\s+values?|values?|[`'\"]?[\w.$-]{1,60}[`'\"]?)\s+)?(?:as\s+)?(?=an?\s)"
    r"|\b(?:set|setting)\s+(?:the\s+)?[`'\"]?[\w.$-]{1,60}[`'\"]?\s+to\s+(?=an?\s)"
    r"|\b(?:data\s*)?type\s*(?::|=|is|of)\s*"
    r"|\bis\s+(?=an?\s)(?P<is>)"
    r"|(?:^|(?<=[\w`'\"*])\s)\((?P<paren>)|^(?P<lead>)(?!list\b)(?=\w+(?:\s+values?|\s*[,.;:]|\s*$|\s+\()))"
    r"(?:an?\s+|the\s+)?(?P<adjective>" + _ADJECTIVE + r")" + _TYPE + _AFTER_TYPE
)
"""For lower-case text: to ignore case takes twice as long."""

_TYPED = late(_TYPE.partition(")?")[2] + _AFTER_TYPE)
"""A type and what may follow it: begins with its letters, so that it is quickly seen that there is none."""

_OR_TYPE = late(r"\s*(?:\||/|,?\s*or)\s*(?:an?\s+|the\s+)?" + _ADJECTIVE + _TYPE + r"\b", re.IGNORECASE)
_ELSE = late(
    r"[^.;\n]{0,40}?(?:,\s*|\bor\s+)(?:(?:the\s+)?(?:literal|string|special)\s+\w*\s*)?[`'\"]|\s+\w+\s+or\s",
    re.IGNORECASE,
)
"""What follows a type where something else will do as well: a quoted word, another noun."""

_GRANTS = late(
    r"\b(strings?|integers?|int|floats?|numeric|boolean|bool|arrays?|objects?|dict|dictionary|map(?=\s+of\b))\b",
    re.IGNORECASE,
)
_OF_OBJECTS = late(r"\b(?:list|array)s?\s+of\s+(?:[\w-]+\s+){0,3}(?:objects|strings|integers)\b", re.IGNORECASE)
_STRINGY = late(
    r"\bjson\b|\bcomma|\bseparated\b|\bdelimited\b|\bstringified\b|\bserialized\b|\bencoded\b|\bstrings?\b"
    r"|\bexpression\b"
    r"|\bnewline|\bsyntax\b|\bcsv\b",
    re.IGNORECASE,
)

_LEAD = (
    r"^\W{0,3}(?:\((?:optional|required)[^)]{0,20}\)\W{0,3})?(?:optional|required)?[:,.]?\s*(?:an?\s+|the\s+"
    r"|your\s+)?(?:optional\s+)?"
)


_Search = Callable[[str], re.Match[str] | None]


def _searching(pattern: str) -> _Search:
    """Finds the pattern in lower-case text, since to ignore case takes twice as long.

    What opens with _LEAD does so in each alternative, so that it need not be looked for everywhere.
    """
    compiled = late(pattern, re.DOTALL)
    is_opening = pattern.startswith(_LEAD)

    def search(text: str) -> re.Match[str] | None:
        return compiled.match(text) if is_opening else compiled.search(text)

    return search


_FEW = r"(?:(?!(?:new|of|for|to|in|if|whether|only|also|per)\b)[\w-]+\s+){0,2}?"
_SOFT: tuple[tuple[_Search, frozenset[str], frozenset[str], str, frozenset[str]], ...] = tuple(
    (
        _searching(pattern),
        frozenset(kinds.split()),
        frozenset(against.split()),
        words,
        frozenset(cues.split()),
    )
    for pattern, kinds, against, words, cues in (
        (
            _LEAD + r"(?:(?:boolean|bool)\b|whether\b|if\s+(?:set\s+to\s+)?[`'\"]?true\b|"
            r"true\s+(?:if|to|when|for|means)\b|when\s+(?:set\s+to\s+)?[`'\"]?true\b|"
            r"set\s+(?:this\s+|it\s+)?(?:to\s+)?[`'\"]?true\b|flag\s+(?:to|indicating|for)\b)",
            "boolean",
            "string integer number array object",
            "a boolean",
            "boolean bool whether true flag",
        ),
        (
            _LEAD + r"(?:(?:indicates|specifies|determines|controls)\s+(?:whether|if)\b)",
            "boolean",
            "integer number array object",
            "a boolean",
            "whether if",
        ),
        (
            (
                r"\btrue\s*(?:/|or|\|)\s*false\b|\bdefaults?(?:\s+(?:is|to|value|value\s+is))?\s*[:=]?\s*[`'\"]?(?:true"
                r"|false)\b"
                r"|\bset\s+to\s+[`'\"\u2018\u201c]?(?:true|false)\b|\b(?:if|when|for)\s+[`'\"\u2018\u201c]?"
                r"(?:true|false)\b"
                r"|\((?:true|false)\)"
                r"|\b(?:true|false)\s+for\b"
            ),
            "boolean",
            "string integer number array object",
            "a boolean",
            "true false",
        ),
        (
            _LEAD + r"(?:limit\s+(?:on|for)\s+the\s+)?"
            r"(?:(?:maximum|max\.?|minimum|min\.?|total|approximate|desired|exact)\s+){0,3}"
            r"(?:number|count|amount|quantity)\s+of\b"
            r"|" + _LEAD + r"(?:integer|int|numeric|float|number)\s+(?:value|between|from|of|in|representing|that|\()"
            r"|" + _LEAD + r"(?:maximum|max\.?|minimum|min\.?)\s+(?:\w+\s+){0,2}"
            r"(?:results?|items?|entries|records|rows|documents|files|pages|messages|events|words|lines|characters"
            r"|tokens|"
            r"depth|width|height|size|price|count|limit|retries|attempts|seconds|milliseconds|minutes|score)\b",
            "integer number",
            "string boolean array object",
            "a number",
            "number count amount quantity integer int numeric float maximum max minimum min",
        ),
        (
            (
                r"\bdefaults?(?:\s+(?:is|to|value\s+is|value))?\s*[:=]?\s*-?\d+(?:\.\d+)?(?![\w:/.\-][\w])"
                r"(?!\s*(?:days?|hours?|d|h|m|months?|weeks?|years?)\b)"
                r"|\(\s*-?\d+(?:\.\d+)?\s*(?:-|–|to|\.\.+)\s*-?\d+(?:\.\d+)?\s*[,;)]"
                r"|\b(?:between|from)\s+-?\d+(?:\.\d+)?\s+(?:and|to)\s+-?\d+(?:\.\d+)?\b(?!\s*(?:char|letter|word"
                r"|symbol|digit))"
                r"|\b(?:0|1|zero|one)-(?:based|indexed)\b|\b(?:page|line|row|column)\s+number\b|\b(?:integer|float)\b"
            ),
            "integer number",
            "string boolean array object",
            "a number",
            "based indexed number integer float 0 1 2 3 4 5 6 7 8 9",
        ),
        (
            (
                r"\b(?:in|of)\s+(?:seconds|milliseconds|ms|minutes|pixels|bytes|meters|metres|kilometers|points"
                r"|inches)\b(?!\s*\()"
                r"|\b(?:percentage|latitude|longitude)\b"
            ),
            "integer number",
            "boolean array object",
            "a number",
            (
                "seconds milliseconds ms minutes pixels bytes meters metres kilometers points inches percentage "
                "latitude longitude"
            ),
        ),
        (
            _LEAD + r"(?:json\s+|[a-z-]+\s+)?"
            r"(?:(?:array|list|collection)s?\s+(?:of|containing|with)\b|one\s+or\s+more\b|array\b)",
            "array",
            "string integer number boolean object",
            "an array",
            "array arrays list lists collection one",
        ),
        (
            _LEAD + r"(?:json\s+)?(?:object|dictionary|dict|map|mapping|hash)\s+"
            r"(?:of|containing|with|that|mapping|specifying|describing|for|to|from)\b"
            r"|^.*?\bkey[-/ ]value\s+pairs\b",
            "object",
            "string integer number boolean array",
            "an object",
            "object dictionary dict map mapping hash key",
        ),
        (
            (
                r"(?<![a-z])(?:iso[- ]?8601|rfc[- ]?3339|yyyy-mm(?:-dd)?|uuid|guid|e-?mail\s+address"
                r"|comma[- ]separated|"
                r"comma[- ]delimited|hex(?:adecimal)?\s+colou?r|regular\s+expression|regex|iana|base64|markdown|slug"
                r"|url-encoded|"
                r"(?:file|folder|directory)\s+path|path\s+to|json\s+string|(?:query|search)\s+string"
                r"|as\s+an?\s+(?:\w+\s+)?string|"
                r"(?:absolute|relative)\s+(?:\w+\s+){0,2}path|string)\b"
            ),
            "string",
            "integer number boolean object",
            "text",
            (
                "iso rfc uuid guid email mail comma hex hexadecimal regular regex iana base markdown slug url file "
                "yyyy folder directory path json string strings"
            ),
        ),
        (
            _LEAD + _FEW + r"(?:url|uri|path|file\s*name|filename|name|title|description|query|string|text|"
            r"prompt|message|content|body|token|slug|email|keyword|e-?mail|language|timezone|time\s+zone|address|arn|"
            r"expression|pattern|comment|summary|username|password|key)"
            r"(?=\s+(?:of|to|for|in|string|from|where|that|on|with|or|used|pattern|which)\b|\s*$|\s*[.,;:(])",
            "string",
            "integer number boolean array object",
            "text",
            (
                "url uri path file filename name title description query string text prompt message content body token "
                "slug email "
                "keyword mail language timezone zone address arn expression pattern comment summary username password "
                "key"
            ),
        ),
        (
            _LEAD + _FEW + r"(?:id|identifier|guid|uuid)"
            r"(?=\s+(?:of|to|for|in|from|where|that|on)\b|\s*$|\s*[.,;:(])",
            "string integer number",
            "boolean array object",
            "one id",
            "id identifier guid uuid",
        ),
    )
)
"""Phrases: the types that they fit, the types that they speak against, and how to say it."""

_STRUCTURED = frozenset(
    "object objects dict dictionary map mapping structure configuration config settings options properties "
    "fields keys each items data "
    "details information metadata body payload".split()
)
_LISTED = _STRUCTURED | frozenset(
    "array arrays list lists multiple several more collection set ids names values filters or one".split()
)
"""Words of a text that may mean more than one thing, or one of several parts."""


def types(claim: Claim) -> Clash | None:
    """A type that the text gives the parameter and the schema does not accept."""
    saying, accepted = claim.saying, claim.accepted
    if not accepted.types:
        return None
    plain = _stated(saying.text, saying.origin)
    if plain:
        kinds = frozenset().union(*plain.values())
        word = next(iter(plain))
        if kinds & _widened(accepted.types) or (accepted.types == {"string"} and _is_encoded(saying.text, word)):
            return None
        return _type_clash(saying, word, accepted, is_plain=True)
    if saying.origin is Origin.SENTENCE:
        return None
    return _soft(saying, accepted)


def _demands(text: str, origin: Origin) -> bool:
    """A word or a parenthesis without which no type is stated outright."""
    if origin is Origin.OWN:
        return not words_in(text).isdisjoint(_DEMANDS)
    return origin is Origin.ENTRY or "(" in text or not words_in(text).isdisjoint(_SPOKEN_DEMANDS)


_DEMANDS = frozenset(
    "must should shall has have needs accepts accept expects expect takes requires require pass passed provide "
    "provided give given specify "
    "specified supply supplied sent send enter entered encoded formatted type".split()
)
_SPOKEN_DEMANDS = _DEMANDS | {"is", "set", "setting"}


_NEGATIONS = ("not ", "n't ", "never ")


@lru_cache(maxsize=4096)
def _stated(text: str, origin: Origin) -> Mapping[str, frozenset[str]]:
    """Types that a text gives outright, by the word it uses; alternatives count together."""
    if words_in(text).isdisjoint(_TYPE_WORDS) or not _demands(text, origin):
        return {}
    lowered = text.lower()
    return _stated_types(lowered, origin) if _TYPED.search(lowered) else {}


def _stated_types(text: str, origin: Origin) -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for match in _NORMATIVE.finditer(text):
        if (
            text[max(0, match.start() - 6) : match.start()].endswith(_NEGATIONS)
            or match["not2"]
            or (origin is Origin.OWN and match["paren"] is not None)
        ):
            continue
        if match["is"] is not None and origin is not Origin.SENTENCE:
            continue
        if match["lead"] is not None and origin is not Origin.ENTRY:
            continue
        word = match[match.lastindex or 0]
        if match["paren"] is not None and text.startswith(" values", match.end()):
            continue
        if _ELSE.match(text, match.end()):
            continue
        found[word] = _TYPE_WORDS[word]
        if not _CODED.isdisjoint(match["adjective"].replace("-", " ").split()):
            found[word] = frozenset({"string"})
        other = _OR_TYPE.match(text, match.end())
        while other is not None:
            found[other[1]] = _TYPE_WORDS[other[1]]
            other = _OR_TYPE.match(text, other.end())
    return found


_CODED = frozenset("separated delimited stringified serialized encoded".split())
"""Adjectives of a list or object that is passed as text."""


def _is_encoded(text: str, word: str) -> bool:
    """An array or object that is passed as text."""
    return word in _COMPOUND and _STRINGY.search(text) is not None


_COMPOUND = frozenset("array arrays list lists object objects dict dictionary map mapping".split())


def _widened(kinds: frozenset[str]) -> frozenset[str]:
    return kinds | {"integer", "number"} if kinds & {"integer", "number"} else kinds


def _soft(saying: Saying, accepted: Accepted) -> Clash | None:
    """What the words amount to: every sign in the text points away from what the schema accepts."""
    text, kinds_held = saying.text, accepted.types
    pointing = _pointing(text, kinds_held)
    if not pointing or _is_granted(text, _widened(kinds_held), is_led=pointing[0][0] in _LEADS):
        return None
    place, kinds, words = pointing[0]
    if "string" in kinds and place >= _LOOSE and _opens_with_verb(text):
        return None
    is_compound = not kinds_held.isdisjoint({"array", "object"})
    if is_compound and place not in _LEADS and not _is_single(place, text) and _is_plural(saying, accepted):
        return None
    if is_compound and place >= _LOOSE and _NAMELY.search(text[:60]) is None:
        return None
    if kinds_held == {"string"} and _is_excused(saying, accepted, kinds, is_led=place in _LEADS):
        return None
    return _type_clash(saying, words, accepted, is_plain=False)


@lru_cache(maxsize=4096)
def _pointing(text: str, held: frozenset[str]) -> tuple[tuple[int, frozenset[str], str], ...]:
    """The signs of a text that point away from all of some types; generated tools repeat the same texts."""
    words, lowered = words_in(text), text.lower()
    if not DIGITS.isdisjoint(words) and not _MAY_NUMBER.search(lowered):
        words -= DIGITS
    return tuple(
        (place, kinds, name)
        for place, search, kinds, name, cues in _signs_against(held)
        if not words.isdisjoint(cues) and search(lowered)
    )


_MAY_NUMBER = late(r"default|[(]\s*-?\d|between|from|[01]-(?:based|indexed)")
"""Without one of these a digit is no sign of a number: begins with letters, to be quickly seen as well."""


@lru_cache(maxsize=256)
def _signs_against(
    held: frozenset[str],
) -> tuple[tuple[int, _Search, frozenset[str], str, frozenset[str]], ...]:
    """The signs that speak against all of some types, with their places."""
    return tuple(
        (place, search, kinds, words, cues)
        for place, (search, kinds, against, words, cues) in enumerate(_SOFT)
        if held <= against
    )


def _is_granted(text: str, held: frozenset[str], *, is_led: bool) -> bool:
    """Something in the text fits what the schema accepts."""
    if any(_TYPE_WORDS[word.lower()] & held for word in _GRANTS.findall(_OF_OBJECTS.sub("", text))):
        return True
    lowered = text.lower()
    return not is_led and any(kinds & held and search(lowered) is not None for search, kinds, *_ in _GRANTING)


_LEADS = frozenset({0, 1, 3, 6, 7})
"""Places of the signs that open a text with its type; the rest of it cannot mean another."""

_FORMAT = 8
"""The place of the sign that names a format of text."""

_SCALARS = frozenset({2, 4})
"""Places of the signs that give the value itself: true or false, a number."""

_LOOSE = len(_SOFT) - 2
"""From here on a noun is the sign, and a verb before it may have other reasons."""

_GRANTING = _SOFT[:5] + _SOFT[6:-1]
"""Signs strong enough to excuse another: an id or a unit may stand in any text."""


_NAMELY = late(
    r"\b(?:url|uri|name|title|email|slug|language|timezone|password|username|id|path (?:to|of))\b", re.IGNORECASE
)
"""Nouns that are text; a query, a property or a content may well be an object."""


def _is_single(place: int, text: str) -> bool:
    """The sign is one of a single value, and not of a part that a long text or a name in it speaks of."""
    return place == _FORMAT or (place in _SCALARS and len(text) <= MAX_PLAIN and "`" not in text)


MAX_PLAIN = 240
"""Characters of a description that speaks of its own parameter throughout."""


def _opens_with_verb(text: str) -> bool:
    word = _FIRST_WORD.search(text)
    first = word[0].lower() if word else ""
    return first in _VERBS or (first in LEMMAS and first not in _NOUNS)


_FIRST_WORD = late(r"[A-Za-z]+")
_VERBS = frozenset("include includes specifies specify indicates define defines determines only also filter".split())
_NOUNS = frozenset("query search name title label comment file process log record report message text set".split())


def _is_plural(saying: Saying, accepted: Accepted) -> bool:
    """Several things may be meant: the text or the parameter's name speaks of more than one."""
    words = _LISTED if "array" in accepted.types else _STRUCTURED
    return (saying.node.name or "").endswith(("s", "list", "data")) or not saying.words.isdisjoint(words)


def _is_excused(saying: Saying, accepted: Accepted, kinds: frozenset[str], *, is_led: bool) -> bool:
    """Text that may well carry a number, a truth value or a list: quoted, encoded, or one of known strings."""
    if kinds & {"array", "object"}:
        return _STRINGY.search(saying.text) is not None
    if accepted.values is not None:
        is_truth = "boolean" in kinds and re.search(r"\btrue\b", saying.text, re.IGNORECASE) is not None
        return not is_truth or _are_spelled(accepted, ("true", "false"))
    return not is_led and _QUOTED.search(saying.text) is not None


def _are_spelled(accepted: Accepted, words: Sequence[str]) -> bool:
    return accepted.values is not None and {str(value).lower() for value in accepted.values} >= set(words)


def _type_clash(saying: Saying, word: str, accepted: Accepted, *, is_plain: bool) -> Clash:
    return Clash(saying=saying, said=word, held=" or ".join(sorted(accepted.types)), is_plain=is_plain)


# Choices

_ITEM = r"(?:`[^`\n]{1,60}`|\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|“[^”\n]{1,60}”|[\w$][\w.$+#\-]{0,60})"
_GLOSS = r"(?:\s?\([^()\n]{0,200}\)|\s?(?:=|:)\s?[^,;|\n`'\"]{1,80})?"
_SEPARATOR = (
    r"(?:\s{0,2}[,;、\uff0c]\s{0,2}(?:(?:or|and)\s)?|\s{0,2}\|{1,2}\s{0,2}|\s{0,2}/\s{0,2}|\s(?:or|and|vs\.?)\s)"
)
_LIST = rf"{_ITEM}{_GLOSS}(?:{_SEPARATOR}{_ITEM}{_GLOSS}){{1,60}}"
_TRIGGER = late(
    r"\b(?:(?:must|should|can|may|could|has to|needs to|will)\s+be\s+(?:set\s+to\s+)?(?:(?:any|one)\s+of"
    r"|either)?(?:\s+the\s+following)?(?:\s+values)?"
    r"|(?:any|one)\s+of(?:\s+the(?:se|\s+following)?(?:\s+\w+)?)?|either|choose\s+(?:from|between|one\s+of)"
    r"|select\s+from|pick\s+from"
    r"|(?:accepts|takes|supports|allows|expects)(?:\s+(?:only|either|one\s+of))?(?:\s+(?:the"
    r"|these))?(?:\s+following)?(?:\s+(?:values?|options|enumerations?|types?|formats?|strings?|modes?))?(?:\s+of)?"
    r"|\bto\s+(?:either\s+)?(?=[`'\"])"
    r"|(?:valid|allowed|possible|accepted|acceptable|supported|available|permitted|legal|known|optional|enum)\s+"
    r"(?:\w+\s+)?(?:values?|options?|choices?|types?|modes?|formats?|states?|status(?:es)?|levels?|names?|strings?"
    r"|inputs?)"
    r"(?:\s+(?:for|of)\s+[`'\"]?[\w.$-]{1,60}[`'\"]?)?(?:\s+(?:are|is|include|includes))?(?:\s+one\s+of)?"
    r"|(?:values?|options|choices|enum|allowed|valid|accepted|supported|accepts|supports)(?:\s+(?:are|is"
    r"|include))?(?=\s*[:=]))"
    r"\s*[:=]?\s*[(\[{]?\s*(?<!\w)(?P<list>" + _LIST + r")",
    re.IGNORECASE,
)
_TRIGGERS = frozenset(
    "must should can may could has needs will one any either choose select valid allowed possible accepted "
    "acceptable supported available "
    "permitted legal known optional enum values value options choices pick accepts takes supports allows expects "
    "to".split()
)
_PARENTHESIS = late(
    rf"[(\[{{]\s*(?:(?:one of|either|options|values|enum)\s*:?\s*)?(?P<list>{_LIST})\s*[)\]}}]", re.IGNORECASE
)
_PIPES = late(rf"(?<![\w|])(?P<list>{_ITEM}(?:\s?\|\s?{_ITEM}){{1,60}})")
_GLOSSED = late(rf":\s+(?P<list>{_ITEM}\s?\([^()\n]{{1,200}}\)(?:{_SEPARATOR}{_ITEM}\s?\([^()\n]{{1,200}}\)){{1,60}})")
_ENUMERATED = late(r"(?<![\w.-])(?<!\bfor )\w[\w.-]{0,60}(?:,\s\w[\w.-]{0,60}){1,60},?\s(?:or|and)\s\w[\w.-]{0,60}")
_EXAMPLES = late(
    rf"\b(?:e\.g\.?,?|i\.e\.?,?|for\s+example,?|such\s+as|including|like)\s*:?\s+(?P<list>{_LIST})", re.IGNORECASE
)
_IN_CHINESE = late(r"(?:[如括是为:\uff1a(\uff08]|选值)\s?(?P<list>\w{1,20}(?:[、,\uff0c]\w{1,20}?){1,60})(?=等|$|\W)")
_OPENERS = late(
    r"(?:^|[.;:]\s+|\n\s*|,\s+(?:and|or)\s+)[`'\"]?(\w[\w-]{1,40})[`'\"]?\s+(?:returns?|creates?|produces?"
    r"|preserves?|gives?|means?|selects?|uses?|shows?|includes?|keeps?|sends?|runs?|sets?|is|are|will|mode|=)\b"
    r"|(?:^|\n)\s*[`'\"]?(\w[\w-]{1,40})[`'\"]?:\s"
)
_EITHER = late(
    r"(?:\b(?:to|only|either|be|all|return|returns|the|in|as|between|by)\s+|:\s+"
    r"|\()([a-z][\w-]{1,40})\s+or\s+(?:only\s+|the\s+)?([a-z][\w-]{1,40})\b"
)
MAX_SHORT = 160
"""Characters of a description that does little else than to list the values."""

_ITEMS = late(rf"(?:^|{_SEPARATOR})({_ITEM}){_GLOSS}")
_QUOTED = late(r"`([^`\n]{1,60})`|(?<![\w])'([^'\n]{1,60})'(?!\w)|\"([^\"\n]{1,60})\"|“([^”\n]{1,60})”")
_BULLET = late(rf"^\s{{0,12}}[-*•]\s+({_ITEM})\s*(?::|=|-|–|—|\(|$)", re.MULTILINE)
_OPTION = late(
    r"\bthe\s+[`'\"]?(\w[\w-]{0,40}(?:\s\w[\w-]{0,40}){0,2}?)[`'\"]?\s+(?:option|value|mode|setting)\b", re.IGNORECASE
)
_ORDINALS = frozenset("first second third last default latter former other same following next".split())
_SET_TO = late(r"\bset(?:ting)?\s+(?:(?:this|it)\s+)?to\s+([`'\"]\w[\w.-]{0,60}[`'\"])(?!\s*[-:/])", re.IGNORECASE)
_PAIRED = late(rf"(?<![\w=])({_ITEM})\s?=\s?(?=[\w`'\"])")
_HEADS = late(r"(?:^|,)\s*(?:(?:or|and)\s+)?(\w[\w-]{1,40})\s")
_VALUE = late(r"[\w$][\w.$+/\-]{0,60}")
_NO_VALUES = frozenset(
    "optional required default defaults e.g i.e eg ie etc the a an or and null none empty deprecated true false "
    "string integer number boolean array object if when not inclusive exclusive case-insensitive case-sensitive "
    "omit leave skip provided other others more seconds minutes characters max min maximum minimum only "
    "comma-separated iso".split()
)
_SAME = {"ascending": "asc", "descending": "desc"}


def choices(claim: Claim) -> Clash | None:
    """Values that the text lists and the schema does not allow."""
    saying, accepted = claim.saying, claim.accepted
    values = accepted.values if accepted.values is not None else accepted.item_values
    if not values or accepted.types == {"boolean"}:
        return None
    spelled = tuple(_spell(value) for value in values)
    known = frozenset(spelled)
    strange = _strange(saying, known, claim.names)
    if not strange:
        return None
    return Clash(saying=saying, said=_listing(strange), held=_listing(list(dict.fromkeys(spelled))), is_plain=True)


def _strange(saying: Saying, known: frozenset[str], names: frozenset[str]) -> list[str]:
    found: dict[str, None] = {}
    folded = {value.lower() for value in known}
    for listed, is_stated in _lists(saying.text, saying.origin, known):
        is_recased = not any(item in known for item, _ in listed) and all(
            item.lower() in folded and not item.istitle() for item, _ in listed
        )
        strange = [item for item, is_quoted in listed if not _is_member(item, known, is_quoted=is_quoted or is_recased)]
        is_overlapping = len(strange) < len(listed) or (is_recased and len(listed) > 1)
        if is_stated or is_overlapping or _is_bare_list(strange):
            found |= dict.fromkeys(item for item in strange if item not in names)
    if saying.origin is not Origin.SENTENCE:
        found |= dict.fromkeys(item for item in _quoted(saying.text, known) if item not in names)
    held = [value for value in known if value in saying.text]
    return [
        item for item in found if not any(item in value for value in held) or _stands_apart(item, held, saying.text)
    ]


def _stands_apart(item: str, held: Sequence[str], text: str) -> bool:
    """It is part of a member, and stands there without it as well."""
    rest = text
    for value in sorted(held, key=len, reverse=True):
        rest = rest.replace(value, "\n")
    return _stands_in(item, rest)


def _is_bare_list(items: Sequence[str]) -> bool:
    """Words in one spelling in a row mean values, even where no member is among them."""
    are_plain = len(items) > 2 and all(item.islower() or item.isdigit() for item in items)
    return are_plain or (len(items) > 1 and all(item.isupper() for item in items))


def _quoted(text: str, known: frozenset[str]) -> list[str]:
    """Quoted words that look like values: in the quotes that members stand in, or in any where no member is named."""
    quoted = [(match[0][0], match[0][1:-1]) for match in _QUOTED.finditer(text)]
    marks = {mark for mark, item in quoted if item in known}
    if not quoted or (not marks and any(_stands_in(value, text) for value in known if value)):
        return []
    return [
        item
        for mark, item in quoted
        if (mark in marks or not marks) and _VALUE.fullmatch(item) and not _is_member(item, known, is_quoted=True)
    ]


def _stands_in(value: str, text: str) -> bool:
    """As a word of its own."""
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        if not (_is_wordy(text[max(0, start - 1) : start]) or _is_wordy(text[end : end + 1])):
            return True
        start = text.find(value, end)
    return False


def _is_wordy(char: str) -> bool:
    return char.isalnum() or char == "_"


@lru_cache(maxsize=4096)
def _lists(text: str, origin: Origin, known: frozenset[str]) -> Sequence[tuple[list[tuple[str, bool]], bool]]:
    """The lists of a text, each item with whether it is quoted; and whether the text calls it a list of values."""
    stated = () if words_in(text).isdisjoint(_TRIGGERS) else _TRIGGER.finditer(text)
    found = [(_items(match["list"]), True) for match in stated]
    if origin is not Origin.SENTENCE:
        found += [([_unquoted(item)], True) for item in (_SET_TO.findall(text) if " to " in text else ())]
        found += [(items, False) for items in _marked_lists(text)]
        found += [(items, False) for items in _loose_lists(text, known)]
    return found


def _marked_lists(text: str) -> Iterator[list[tuple[str, bool]]]:
    """Lists that their signs mark: parentheses, pipes, "e.g.", a gloss behind each item."""
    for sign, pattern in (("([{", _PARENTHESIS), ("|", _PIPES), ("", _EXAMPLES), (":", _GLOSSED), ("、", _IN_CHINESE)):
        if not sign or any(each in text for each in sign):
            for match in pattern.finditer(text):
                yield _items(match["list"])


def _loose_lists(text: str, known: frozenset[str]) -> Iterator[list[tuple[str, bool]]]:
    """Lists that only their members show: a word at the start of sentences, a row of words, bullets."""
    openers = [(one or other, False) for one, other in _OPENERS.findall(text)]
    if any(word in known for word, _ in openers):
        yield [each for each in openers if each[0].islower() is _is_lower(known)]
    for match in _ENUMERATED.finditer(text) if "," in text else ():
        items = _items(match[0])
        if 2 * sum(item in known for item, _ in items) >= max(4, len(items)):
            yield items
    for match in _EITHER.finditer(text) if len(text) < MAX_SHORT else ():
        if (match[1] in known) is not (match[2] in known):
            yield _items(f"{match[1]}, {match[2]}")
    named = _OPTION.findall(text) if "the" in text.lower() else ()
    options = [(" ".join(item.split()), False) for item in named if item.lower() not in _ORDINALS]
    if len(options) > 1 and any(item in known for item, _ in options):
        yield options
    pairs = [_unquoted(item) for item in _PAIRED.findall(text)] if "=" in text else []
    if len(pairs) > 1 and any(item in known for item, _ in pairs):
        yield pairs
    heads = [(head, False) for head in _HEADS.findall(text.partition(":")[2].partition(".")[0])] if ":" in text else []
    if 2 * sum(item in known for item, _ in heads) >= max(4, len(heads)):
        yield heads
    bullets = [_unquoted(item) for item in _BULLET.findall(text)]
    if len(bullets) > 1:
        yield bullets


def _is_lower(known: frozenset[str]) -> bool:
    return all(value == value.lower() for value in known)


def _items(text: str) -> list[tuple[str, bool]]:
    items = [_unquoted(item) for item in _ITEMS.findall(text)[:MAX_LISTED]]
    if any(is_quoted for _, is_quoted in items):
        return [(item, is_quoted) for item, is_quoted in items if is_quoted]
    return [(item, is_quoted) for item, is_quoted in items if item.lower().rstrip(".") not in _NO_VALUES]


def _unquoted(item: str) -> tuple[str, bool]:
    is_quoted = item[0] in "`'\"“"
    return (item[1:-1] if is_quoted else item.rstrip(".")), is_quoted


def _is_member(item: str, known: frozenset[str], *, is_quoted: bool) -> bool:
    if item in known:
        return True
    if is_quoted:
        return item in ("null", "")
    if item.lower() in ("null", "none", "undefined"):
        return True
    lowered = item.lower()
    return _SAME.get(lowered, lowered) in {value.lower() for value in known}


def _spell(value: Any) -> str:  # noqa: ANN401  # any JSON value
    return str(value).lower() if isinstance(value, bool) else str(value)


def _listing(values: Sequence[str]) -> str:
    shown = ", ".join(value if len(value) <= 40 else f"{value[:39]}…" for value in values[:6])
    return shown if len(values) <= 6 else f"{shown} and {len(values) - 6} more"


# Defaults

_DEFAULT = late(
    r"\bdefault(?:s|ed|ing)?(?:\s+values?)?(?:\s+(?:to|is|are|of|was|being)(?:\s+set\s+to)?)?\s*(?:[:=]\s*"
    r"|\s)(?P<not>not\s)?"
    r"(?P<value>`[^`\n]{1,60}`|\"[^\"\n]{0,60}\"|'[^'\n]{0,60}'|-?\d[\d,_]*(?:\.\d+)?%?|\w[\w.+/\-]{0,60})"
    r"(?P<after>(?!\s*[\w'\"(])|(?=\s*\()|(?=\s+(?:if|when|and|unless|for|to|in|with|days|seconds|minutes|ms"
    r"|characters|results|items|max|\w))|)",
    re.IGNORECASE,
)
_BY_DEFAULT = late(
    r"(?P<value>`[^`\n]{1,60}`|\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|(?<![\w.-])-?\d[\d,]*(?:\.\d+)?|\b(?:true"
    r"|false))\s*(?:\(default\b|by\s+default\b|\[default\])",
    re.IGNORECASE,
)


def defaults(claim: Claim) -> Clash | None:
    """A default that the text names and the schema's own `default` contradicts; null and "" say that none is set."""
    saying = claim.saying
    if "default" not in saying.node.schema:
        return None
    held = saying.node.schema["default"]
    if held is None or held in ("", [], {}) or isinstance(held, list | dict):
        return None
    said = [match for pattern in (_DEFAULT, _BY_DEFAULT) for match in pattern.finditer(saying.text)]
    values = frozenset(map(_spell, claim.accepted.values or ()))
    literals = [each for match in said if (each := _literal(match, saying.text, held, values)) is not None]
    if not literals or any(_equal(literal, held) for literal in literals):
        return None
    return Clash(saying=saying, said=literals[0], held=_spell(held), is_plain=True)


def _literal(match: re.Match[str], text: str, held: object, values: frozenset[str]) -> str | None:
    """The value, where it is one: quoted, a number, a truth value, or a word that ends its clause."""
    value = match["value"]
    if value[0] in "`'\"":
        return value[1:-1]
    bare = value.rstrip(".,")
    rest = text[match.start("value") + len(bare) :]
    if re.fullmatch(r"-?\d[\d,_]*(?:\.\d+)?", bare):
        return None if rest[:1].isalpha() or rest[:1] in ("/", ":", "-") else bare
    if bare.lower() in ("true", "false"):
        return bare
    is_word = isinstance(held, str) and bare.lower() not in _NO_DEFAULTS and _ENDS.match(rest) is not None
    return bare if is_word and (bare in values or _is_spelled_alike(bare, str(held))) else None


_ENDS = late(r"\s*(?:$|[.,;)\]\n])")


def _is_spelled_alike(word: str, held: str) -> bool:
    """`instance-dependent` and `API_KEY` are remarks beside `all` and `U0`."""
    is_constant = "_" in word and word.isupper()
    return not ("-" in word and "-" not in held) and not (is_constant and not held.isupper())


_NO_DEFAULTS = frozenset(
    "none null empty unset auto all any undefined now today current unlimited disabled enabled".split()
)


def _equal(said: str, held: object) -> bool:
    spelled = _spell(held)
    if said.strip().lower() == spelled.lower():
        return True
    try:
        return float(said.replace(",", "").replace("_", "")) == float(spelled)
    except ValueError:
        return isinstance(held, bool) and said.lower() in _TRUTH[held]


_TRUTH = {True: ("yes", "on", "enabled", "1"), False: ("no", "off", "disabled", "0")}


# Ranges

_NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
_BETWEEN = late(
    rf"(?:\bbetween\s+(?P<a>{_NUMBER})\s+and\s+(?P<b>{_NUMBER})|\bfrom\s+(?P<c>{_NUMBER})\s+to\s+(?P<d>{_NUMBER})"
    rf"|\b(?:range|valid|allowed|values?|must be|limit|default|ranges?)\s*(?:is|of|from"
    rf"|:)?\s*[\[(]?\s*(?P<e>{_NUMBER})\s*(?:-|–|to|,|\.\.+)\s*(?P<f>{_NUMBER})\s*[\])]?"
    rf"|[(\[]\s*(?P<g>{_NUMBER})\s*(?:-|–|to|\.\.+)\s*(?P<h>{_NUMBER})\s*[,;)\]])"
    rf"(?P<unit>\s*[A-Za-z%]+)?",
    re.IGNORECASE,
)
_UPPER = late(
    rf"(?:\b(?:max(?:imum)?(?:\s+(?:is|of|value|allowed|allowed\s+value|limit|length|value\s+is"
    rf"|allowed\s+value\s+is|length\s+is))?|at\s+most|up\s+to|no\s+more\s+than|"
    rf"not\s+(?:exceed|more\s+than)|cannot\s+exceed|must\s+not\s+exceed|less\s+than\s+or\s+equal\s+to|limited\s+to"
    rf"|upper\s+limit\s+(?:is|of))\s*[:=]?\s*|<=\s*|≤\s*)(?P<value>{_NUMBER})(?P<unit>\s*[A-Za-z%]+)?",
    re.IGNORECASE,
)
_LOWER = late(
    rf"(?:\b(?:min(?:imum)?(?:\s+(?:is|of|value|allowed|length|value\s+is|length\s+is))?|at\s+least|no\s+(?:less"
    rf"|fewer)\s+than|greater\s+than\s+or\s+equal\s+to|not\s+less\s+than|"
    rf"lower\s+limit\s+(?:is|of))\s*[:=]?\s*|>=\s*|≥\s*)(?P<value>{_NUMBER})(?P<unit>\s*[A-Za-z%]+)?",
    re.IGNORECASE,
)
_LENGTH_UNITS = frozenset("character characters char chars letter letters symbols".split())
_ITEM_UNITS = frozenset("item items element elements entries entry values ids urls tags".split())


_SENTENCES = late(r"(?<=[.!?])\s+|\n")
_IF = late(r"\s*(?:if|when)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limit:
    is_upper: bool
    value: float
    unit: str
    text: str


def ranges(claim: Claim) -> Clash | None:
    """A limit that the text names and the schema's own limit of the same kind contradicts."""
    saying, accepted = claim.saying, claim.accepted
    if not accepted.bounds or saying.words.isdisjoint(DIGITS):
        return None
    limits = _all_limits(saying.text)
    for is_upper in (False, True):
        said = [limit for limit in limits if limit.is_upper is is_upper]
        bound = _bound(accepted, is_upper=is_upper, units={limit.unit for limit in said})
        if bound is None or not said or any(limit.value == each for limit in said for each in bound):
            continue
        return Clash(
            saying=saying,
            said=said[0].text,
            held=f"{'maximum' if is_upper else 'minimum'} {bound[0]:g}",
            is_plain=True,
        )
    return None


@lru_cache(maxsize=4096)
def _all_limits(text: str) -> Sequence[_Limit]:
    """The limits that a text names without a condition."""
    return [limit for sentence in _SENTENCES.split(text) for limit in _limits(sentence) if not _IF.match(sentence)]


def _limits(text: str) -> Iterator[_Limit]:
    for match in _BETWEEN.finditer(text):
        low, high = [value for key in "abcdefgh" if (value := match[key])]
        unit = (match["unit"] or "").strip().lower()
        if _float(low) < _float(high):
            yield _Limit(is_upper=False, value=_float(low), unit=unit, text=match[0].strip(" ([)],;"))
            yield _Limit(is_upper=True, value=_float(high), unit=unit, text=match[0].strip(" ([)],;"))
    for pattern, is_upper in ((_UPPER, True), (_LOWER, False)):
        for match in pattern.finditer(text):
            unit = (match["unit"] or "").strip().lower()
            yield _Limit(is_upper=is_upper, value=_float(match["value"]), unit=unit, text=match[0].strip())


def _float(text: str) -> float:
    return float(text.replace(",", "") or 0)


def _bound(accepted: Accepted, *, is_upper: bool, units: set[str]) -> tuple[float, ...] | None:
    """The schema's limit as the texts may put it: an exclusive limit is also the next whole number."""
    bounds, side = accepted.bounds, "max" if is_upper else "min"
    if accepted.types <= {"integer", "number"}:
        exclusive = bounds.get(f"exclusive{side.title()}imum")
        if exclusive is not None:
            return (exclusive, exclusive - 1 if is_upper else exclusive + 1)
        limit = None if units & _LENGTH_UNITS else bounds.get(f"{side}imum")
    elif accepted.types == {"string"}:
        limit = bounds.get(f"{side}Length") if units <= _LENGTH_UNITS | {""} else None
    elif accepted.types == {"array"}:
        limit = None if units & _LENGTH_UNITS else bounds.get(f"{side}Items")
    else:
        return None
    return None if limit is None or abs(limit) >= 2**31 - 1 else (limit,)


# Requirement

_OPTIONAL = late(
    r"^\W{0,3}optional\b(?!\s+(?:if|when|for|unless|chain))|\(\s*(?:[\w\s\[\]"
    r"|]{1,40},\s*)?optional\s*(?:,[^)]{0,80})?\)|\[optional\]|\bthis\s+(?:parameter|field"
    r"|argument)\s+is\s+optional\b(?!\s+(?:if|when|for|unless))",
    re.IGNORECASE,
)
_REQUIRED = late(
    r"^\W{0,3}required\s*(?:[.:,)\]]|$|-\s|–|—)"
    r"|\(\s*(?:[\w\s\[\]|]{1,40},\s*)?required\s*\)|\[required\]"
    r"|"
    r"\bthis\s+(?:parameter|field|argument)\s+is\s+(?:required|mandatory)\s*(?:[.;,)]|$)",
    re.IGNORECASE,
)


def requirement(claim: Claim) -> Clash | None:
    """The text calls the parameter optional and the schema requires it, or the reverse."""
    saying = claim.saying
    node = saying.node
    if not node.is_top:
        return None
    optional, required = (
        (_OPTIONAL, _REQUIRED) if saying.origin is not Origin.SENTENCE else (_IS_OPTIONAL, _IS_REQUIRED)
    )
    is_optional = optional.search(saying.text) is not None
    if node.is_required and "default" not in node.schema and is_optional:
        return Clash(saying=saying, said="optional", held="required", is_plain=True)
    if not node.is_required and not is_optional and required.search(saying.text):
        return Clash(saying=saying, said="required", held="optional", is_plain=True)
    return None


_IS_OPTIONAL = late(
    r"^\W{0,3}(?:the\s+)?[`'\"]?[\w-]+[`'\"]?(?:\s+(?:parameter|argument|field))?\s+is\s+optional\s*(?:[.;,]|$|and\b)",
    re.IGNORECASE,
)
_IS_REQUIRED = late(
    r"^\W{0,3}(?:the\s+)?[`'\"]?[\w-]+[`'\"]?(?:\s+(?:parameter|argument|field))?\s+is\s+(?:required"
    r"|mandatory)\s*(?:[.;]|$)",
    re.IGNORECASE,
)


# Mutations under readOnlyHint

_PROVEN_MUTATIONS = frozenset(
    "create delete update write upload destroy drop purge erase rename move publish install uninstall".split()
)
_WRITES_LATER = late(
    r"\b(?:permanently|irreversibly)\s+(?:deletes?|removes?|erases?|destroys?|drops?|overwrites?)\b"
    r"|\bthis\s+(?:tool|action|operation|call)?\s*(?:will\s+)?(?:also\s+)?(?:deletes?|overwrites?|modif(?:y|ies)"
    r"|removes?|updates?|creates?|writes?)\s+(?:the|any|all|existing|a|an|your)\b"
    r"|\b(?:this\s+(?:action|operation)\s+)?(?:cannot|can't|can\s+not)\s+be\s+(?:undone|reversed)\b|\b(?:is"
    r"|are)\s+irreversible\b",
    re.IGNORECASE,
)


def mutation(tool: Tool, words: Collection[str]) -> str | None:
    """How the name or a sentence says outright that the tool writes; `words` are those of its description."""
    parts = name_parts(tool.name)
    verb = next((LEMMAS[part] for part in parts[:2] if part in LEMMAS), None)
    if verb in _PROVEN_MUTATIONS and LEMMAS.get(parts[0]) == verb:
        return f"the name says {verb!r}"
    found = None if _WRITERS.isdisjoint(words) else _WRITES_LATER.search((tool.description or "")[:MAX_TEXT])
    return f"the description says {' '.join(found[0].split())!r}" if found else None


_WRITERS = frozenset("permanently irreversibly this undone reversed irreversible".split())


class Topic(StrEnum):
    """What a text and a schema may contradict each other about."""

    TYPE = "type"
    CHOICES = "choices"
    DEFAULT = "default"
    RANGE = "range"
    REQUIREMENT = "requirement"


def clashes(said: Sequence[Saying], names: frozenset[str], root: Mapping[str, Any]) -> Mapping[Topic, Sequence[Clash]]:
    """The clashes in everything that the texts of a tool say of its parameters; `names` are no values."""
    found: dict[Topic, dict[tuple[str, str, str], Clash]] = {}
    for saying in said:
        schema = saying.node.schema
        takes = SIMPLE.get(schema["type"], ANYTHING) if is_simple(schema) else accepted(schema, root)
        for topic in _possible(saying, takes):
            clash = _FINDERS[topic](Claim(saying, takes, names))
            if clash is not None:
                found.setdefault(topic, {}).setdefault((saying.node.path, saying.path, clash.said), clash)
    return {topic: tuple(each.values()) for topic, each in found.items()}


def _possible(saying: Saying, takes: Accepted) -> list[Topic]:
    """What a text may claim of a parameter, by its words alone: for most there is nothing."""
    node, words = saying.node, words_in(saying.text)
    found = [Topic.TYPE] if takes.types and _may_speak_against(takes.types, words, saying) else []
    if takes.values is not None or takes.item_values is not None:
        found.append(Topic.CHOICES)
    if "default" in node.schema and not words.isdisjoint(_DEFAULTING):
        found.append(Topic.DEFAULT)
    if takes.bounds and not words.isdisjoint(DIGITS):
        found.append(Topic.RANGE)
    if node.is_top and not words.isdisjoint(_IN_OPTIONAL if node.is_required else _IN_REQUIRED):
        found.append(Topic.REQUIREMENT)
    return found


_DEFAULTING = frozenset({"default", "defaults", "defaulted", "defaulting"})
_IN_OPTIONAL = frozenset({"optional"})
_IN_REQUIRED = frozenset({"required", "mandatory"})


def _may_speak_against(held: frozenset[str], words: frozenset[str], saying: Saying) -> bool:
    signs, others = _words_against(held)
    is_pointing = saying.origin is not Origin.SENTENCE and not words.isdisjoint(signs)
    return is_pointing or (not words.isdisjoint(others) and _demands(saying.text, saying.origin))


@lru_cache(maxsize=256)
def _words_against(held: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Words of the signs that speak against all of some types, and words for other types."""
    signs = frozenset().union(*(cues for *_, cues in _signs_against(held)))
    others = frozenset(word for word, kinds in _TYPE_WORDS.items() if not kinds & _widened(held))
    return signs, others | (_CODED if "string" not in held else frozenset())


_FINDERS: dict[Topic, Callable[[Claim], Clash | None]] = {
    Topic.TYPE: types,
    Topic.CHOICES: choices,
    Topic.DEFAULT: defaults,
    Topic.RANGE: ranges,
    Topic.REQUIREMENT: requirement,
}
