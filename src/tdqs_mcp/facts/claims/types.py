"""Claims about the type, outright or by what the words amount to."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from tdqs_mcp.facts.claims.claim import NEGATIONS, Claim, Clash, demands
from tdqs_mcp.facts.claims.values import QUOTED
from tdqs_mcp.facts.patterns import late
from tdqs_mcp.facts.sayings import DIGITS, Origin, Saying, words_in
from tdqs_mcp.facts.shape import Accepted
from tdqs_mcp.facts.words import LEMMAS

TYPE_WORDS: dict[str, frozenset[str]] = {
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
_TYPE = r"(?:whole\s+|floating[- ]point\s+)?(" + "|".join(sorted(TYPE_WORDS, key=len, reverse=True)) + r")"
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
        if kinds & widened(accepted.types) or (accepted.types == {"string"} and _is_encoded(saying.text, word)):
            return None
        return _type_clash(saying, word, accepted, is_plain=True)
    if saying.origin is Origin.SENTENCE:
        return None
    return _soft(saying, accepted)


@lru_cache(maxsize=4096)
def _stated(text: str, origin: Origin) -> Mapping[str, frozenset[str]]:
    """Types that a text gives outright, by the word it uses; alternatives count together."""
    if words_in(text).isdisjoint(TYPE_WORDS) or not demands(text, origin):
        return {}
    lowered = text.lower()
    return _stated_types(lowered, origin) if _TYPED.search(lowered) else {}


def _stated_types(text: str, origin: Origin) -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for match in _NORMATIVE.finditer(text):
        if (
            text[max(0, match.start() - 6) : match.start()].endswith(NEGATIONS)
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
        found[word] = TYPE_WORDS[word]
        if not CODED.isdisjoint(match["adjective"].replace("-", " ").split()):
            found[word] = frozenset({"string"})
        other = _OR_TYPE.match(text, match.end())
        while other is not None:
            found[other[1]] = TYPE_WORDS[other[1]]
            other = _OR_TYPE.match(text, other.end())
    return found


CODED = frozenset("separated delimited stringified serialized encoded".split())
"""Adjectives of a list or object that is passed as text."""


def _is_encoded(text: str, word: str) -> bool:
    """An array or object that is passed as text."""
    return word in _COMPOUND and _STRINGY.search(text) is not None


_COMPOUND = frozenset("array arrays list lists object objects dict dictionary map mapping".split())


def widened(kinds: frozenset[str]) -> frozenset[str]:
    """The types that a parameter of some types also takes: a number is whole or not."""
    return kinds | {"integer", "number"} if kinds & {"integer", "number"} else kinds


def _soft(saying: Saying, accepted: Accepted) -> Clash | None:
    """What the words amount to: every sign in the text points away from what the schema accepts."""
    text, kinds_held = saying.text, accepted.types
    pointing = _pointing(text, kinds_held)
    if not pointing or _is_granted(text, widened(kinds_held), is_led=pointing[0][0] in _LEADS):
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
        for place, search, kinds, name, cues in signs_against(held)
        if not words.isdisjoint(cues) and search(lowered)
    )


_MAY_NUMBER = late(r"default|[(]\s*-?\d|between|from|[01]-(?:based|indexed)")
"""Without one of these a digit is no sign of a number: begins with letters, to be quickly seen as well."""


@lru_cache(maxsize=256)
def signs_against(
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
    if any(TYPE_WORDS[word.lower()] & held for word in _GRANTS.findall(_OF_OBJECTS.sub("", text))):
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
    return not is_led and QUOTED.search(saying.text) is not None


def _are_spelled(accepted: Accepted, words: Sequence[str]) -> bool:
    return accepted.values is not None and {str(value).lower() for value in accepted.values} >= set(words)


def _type_clash(saying: Saying, word: str, accepted: Accepted, *, is_plain: bool) -> Clash:
    return Clash(saying=saying, said=word, held=" or ".join(sorted(accepted.types)), is_plain=is_plain)
