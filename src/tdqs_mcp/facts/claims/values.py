"""Claims about the values that are allowed, and about the default."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tdqs_mcp.facts.claims.claim import Claim, Clash, listing, spell
from tdqs_mcp.facts.sayings import Origin, Saying, words_in
from tdqs_mcp.facts.text.patterns import lazy_pattern

MAX_LISTED = 60
"""Values of one list that are compared."""


_ITEM = r"(?:`[^`\n]{1,60}`|\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|“[^”\n]{1,60}”|[\w$][\w.$+#\-]{0,60})"
_GLOSS = r"(?:\s?\([^()\n]{0,200}\)|\s?(?:=|:)\s?[^,;|\n`'\"]{1,80})?"
_SEPARATOR = (
    r"(?:\s{0,2}[,;、\uff0c]\s{0,2}(?:(?:or|and)\s)?|\s{0,2}\|{1,2}\s{0,2}|\s{0,2}/\s{0,2}|\s(?:or|and|vs\.?)\s)"
)
_LIST = rf"{_ITEM}{_GLOSS}(?:{_SEPARATOR}{_ITEM}{_GLOSS}){{1,60}}"
_TRIGGER = lazy_pattern(
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
_PARENTHESIS = lazy_pattern(
    rf"[(\[{{]\s*(?:(?:one of|either|options|values|enum)\s*:?\s*)?(?P<list>{_LIST})\s*[)\]}}]", re.IGNORECASE
)
_PIPES = lazy_pattern(rf"(?<![\w|])(?P<list>{_ITEM}(?:\s?\|\s?{_ITEM}){{1,60}})")
_GLOSSED = lazy_pattern(
    rf":\s+(?P<list>{_ITEM}\s?\([^()\n]{{1,200}}\)(?:{_SEPARATOR}{_ITEM}\s?\([^()\n]{{1,200}}\)){{1,60}})"
)
_ENUMERATED = lazy_pattern(
    r"(?<![\w.-])(?<!\bfor )\w[\w.-]{0,60}(?:,\s\w[\w.-]{0,60}){1,60},?\s(?:or|and)\s\w[\w.-]{0,60}"
)
_EXAMPLES = lazy_pattern(
    rf"\b(?:e\.g\.?,?|i\.e\.?,?|for\s+example,?|such\s+as|including|like)\s*:?\s+(?P<list>{_LIST})", re.IGNORECASE
)
_IN_CHINESE = lazy_pattern(
    r"(?:[如括是为:\uff1a(\uff08]|选值)\s?(?P<list>\w{1,20}(?:[、,\uff0c]\w{1,20}?){1,60})(?=等|$|\W)"
)
_OPENERS = lazy_pattern(
    r"(?:^|[.;:]\s+|\n\s*|,\s+(?:and|or)\s+)[`'\"]?(\w[\w-]{1,40})[`'\"]?\s+(?:returns?|creates?|produces?"
    r"|preserves?|gives?|means?|selects?|uses?|shows?|includes?|keeps?|sends?|runs?|sets?|is|are|will|mode|=)\b"
    r"|(?:^|\n)\s*[`'\"]?(\w[\w-]{1,40})[`'\"]?:\s"
)
_EITHER = lazy_pattern(
    r"(?:\b(?:to|only|either|be|all|return|returns|the|in|as|between|by)\s+|:\s+"
    r"|\()([a-z][\w-]{1,40})\s+or\s+(?:only\s+|the\s+)?([a-z][\w-]{1,40})\b"
)
MAX_SHORT = 160
"""Characters of a description that does little else than to list the values."""

_ITEMS = lazy_pattern(rf"(?:^|{_SEPARATOR})({_ITEM}){_GLOSS}")
QUOTED = lazy_pattern(r"`([^`\n]{1,60})`|(?<![\w])'([^'\n]{1,60})'(?!\w)|\"([^\"\n]{1,60})\"|“([^”\n]{1,60})”")
_BULLET = lazy_pattern(rf"^\s{{0,12}}[-*•]\s+({_ITEM})\s*(?::|=|-|–|—|\(|$)", re.MULTILINE)
_OPTION = lazy_pattern(
    r"\bthe\s+[`'\"]?(\w[\w-]{0,40}(?:\s\w[\w-]{0,40}){0,2}?)[`'\"]?\s+(?:option|value|mode|setting)\b", re.IGNORECASE
)
_ORDINALS = frozenset("first second third last default latter former other same following next".split())
_SET_TO = lazy_pattern(
    r"\bset(?:ting)?\s+(?:(?:this|it)\s+)?to\s+([`'\"]\w[\w.-]{0,60}[`'\"])(?!\s*[-:/])", re.IGNORECASE
)
_PAIRED = lazy_pattern(rf"(?<![\w=])({_ITEM})\s?=\s?(?=[\w`'\"])")
_HEADS = lazy_pattern(r"(?:^|,)\s*(?:(?:or|and)\s+)?(\w[\w-]{1,40})\s")
_VALUE = lazy_pattern(r"[\w$][\w.$+/\-]{0,60}")
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
    spelled = tuple(spell(value) for value in values)
    known = frozenset(spelled)
    strange = _strange(saying, known, claim.names)
    if not strange:
        return None
    return Clash(saying=saying, said=listing(strange), held=listing(list(dict.fromkeys(spelled))), is_plain=True)


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
    quoted = [(match[0][0], match[0][1:-1]) for match in QUOTED.finditer(text)]
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


_DEFAULT = lazy_pattern(
    r"\bdefault(?:s|ed|ing)?(?:\s+values?)?(?:\s+(?:to|is|are|of|was|being)(?:\s+set\s+to)?)?\s*(?:[:=]\s*"
    r"|\s)(?P<not>not\s)?"
    r"(?P<value>`[^`\n]{1,60}`|\"[^\"\n]{0,60}\"|'[^'\n]{0,60}'|-?\d[\d,_]*(?:\.\d+)?%?|\w[\w.+/\-]{0,60})"
    r"(?P<after>(?!\s*[\w'\"(])|(?=\s*\()|(?=\s+(?:if|when|and|unless|for|to|in|with|days|seconds|minutes|ms"
    r"|characters|results|items|max|\w))|)",
    re.IGNORECASE,
)
_BY_DEFAULT = lazy_pattern(
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
    values = frozenset(map(spell, claim.accepted.values or ()))
    literals = [each for match in said if (each := _literal(match, saying.text, held, values)) is not None]
    if not literals or any(_equal(literal, held) for literal in literals):
        return None
    return Clash(saying=saying, said=literals[0], held=spell(held), is_plain=True)


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


_ENDS = lazy_pattern(r"\s*(?:$|[.,;)\]\n])")


def _is_spelled_alike(word: str, held: str) -> bool:
    """`instance-dependent` and `API_KEY` are remarks beside `all` and `U0`."""
    is_constant = "_" in word and word.isupper()
    return not ("-" in word and "-" not in held) and not (is_constant and not held.isupper())


_NO_DEFAULTS = frozenset(
    "none null empty unset auto all any undefined now today current unlimited disabled enabled".split()
)


def _equal(said: str, held: object) -> bool:
    spelled = spell(held)
    if said.strip().lower() == spelled.lower():
        return True
    try:
        return float(said.replace(",", "").replace("_", "")) == float(spelled)
    except ValueError:
        return isinstance(held, bool) and said.lower() in _TRUTH[held]


_TRUTH = {True: ("yes", "on", "enabled", "1"), False: ("no", "off", "disabled", "0")}
