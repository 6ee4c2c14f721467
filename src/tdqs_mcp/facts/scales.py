"""Phrases that only sound like a ploy: a scale's two ends, thanks, and a caution against orders that data may hold."""

import re

from tdqs_mcp.facts.text.patterns import lazy_pattern

_UNIT = r"(?:\s?(?:stars?|points?|点|점|分|星))?(?:\s?\([^()]{1,30}\))?"
_UP_TO = r"\s?(?:-|\u2013|\u2014|~|\?|\.\.|to|through|up to|bis|a|al|ad|do|tot|till|til|до|から|到|至|에서)\s?"
_NUMBERS = lazy_pattern(rf"(\d{{1,3}})(?:\.0)?{_UNIT}{_UP_TO}(\d{{1,3}})(?:\.0)?(?![\da-z/])")
"""Begins with the characters that it needs, so that everything else is skipped quickly."""

_WORDS = lazy_pattern(
    rf"\b(?:one|zero|ein[se]?|un[eoa]?|uma?|een|jeden|bir|один|одного|一){_UNIT}{_UP_TO}"
    r"(?:five|ten|funf|cinq(?:ue)?|cinco|vijf|fem|piec|bes|пяти?|五|十)(?!\w)"
)
_OUT_OF = lazy_pattern(r"(?<!\d\s)(?<!five\s)(?<!four\s)(?<!ten\s)\bout of (?:5|10|100|five|ten)\b")
_FULL = lazy_pattern(r"满分\s?(?:为|是)?\s?(?:\d{1,3}|五|十|一?百)\s?分")
_ENDS = lazy_pattern(
    r"\b(?:highest|best|top|maximum)\b(?:\s\w+)?(?:\s?\(\d{1,3}\))?\s(?:and|or|to)\s(?:the\s)?(?:lowest|worst|bottom|minimum)\b"
)
_MEASURED = lazy_pattern(
    r"\b(?:highest|best|top)\s(?:trust|relevance|similarity|confidence|match(?:ing)?|popularity|credit|risk)\s(?:scores?|ratings?)\b"
)
_ROLE = lazy_pattern(r"\b(?:needs?|requires?)\sthe\s(?:role|permission|scope)\s\"?\w+")
_THINGS = lazy_pattern(r"\b(?:five|5)[- ]stars?\s(?:reviews|hotels?|restaurants?)\b")
_CAUTIONS = lazy_pattern(
    r"\b(?:(?:not|never|dont|without)\s(?:follow|obey|execut|trust|act(?:ing)? on|comply(?:ing)? with)\w*"
    r"|ignor\w+|disregard\w*)\s(?:(?:any|all|the)\s)?(?:instructions?|commands?|directives?|orders|prompts?)\s"
    r"(?:(?:that|which)\s)?(?:(?:are|is|may be|appear|you (?:may )?find)\s)?"
    r"(?:(?:found|contained|embedded|included|hidden|placed|written)\s)?(?:in|inside|within)\s"
    r"(?:it|them|(?:the |a )?(?:untrusted |returned |fetched )?"
    r"(?:pages?|content|documents?|e-?mails?|files?|web ?pages?|websites?|data))\b(?! (?:above|before))"
)
_SUCH = lazy_pattern(
    r"(\b(?:in|inside|within|from)\s(?:the|an?|each)\s(?:page|content|document|e-?mail|file|web ?page|website|message)"
    r"\b[^\n]{0,120})"
    r"\b(?:ignore|disregard)\s(?:any|all)\ssuch\s(?:instructions?|commands?|directives?|orders|prompts?)\b"
)
_PHRASES = (
    (_WORDS, ("five", " ten", "funf", "cinq", "cinco", "vijf", "fem", "piec", " bes", "пят", "五", "十")),
    (_OUT_OF, ("out of",)),
    (_FULL, ("满分",)),
    (_ENDS, ("lowest", "worst", "bottom", "minimum")),
    (_MEASURED, ("trust", "relevance", "similarity", "confidence", "match", "popularity", "credit", "risk")),
    (_ROLE, ("the role", "the permission", "the scope")),
    (_THINGS, ("star reviews", "stars reviews", "star hotel", "stars hotel", "star restaurant", "stars restaurant")),
    (_CAUTIONS, ("instruction", "command", "directive", "orders", "prompt")),
)
"""With strings, one of which stands in every such phrase: the fast answer is no."""


def unsaid(read: str) -> str:
    """A plain text without what its scales, thanks and cautions would seem to say.

    A scale gives nothing its upper end (`from 1 to 5`, `50-100`, `out of five`, `the highest and the lowest`); whoever
    says thank you speaks of no reader's deed; instructions found in a page are not those that an agent has. A score
    of trust, a five-star hotel and the name of a role are things of their own.
    """
    read = _NUMBERS.sub(_scaled, read.replace("thank you", "thanks"))
    for pattern, clues in _PHRASES:
        if any(map(read.__contains__, clues)):
            read = pattern.sub(" ", read)
    return _SUCH.sub(r"\1", read) if " such " in read else read


def _scaled(found: re.Match[str]) -> str:
    """Two numbers without what they would give; too close to each other for a scale, they stay: `4-5` is an order."""
    is_part = _PART.match(found.string, max(0, found.start() - 1), found.start()) is not None
    return found[0] if is_part or 2 * int(found[1]) > int(found[2]) else " "


_PART = lazy_pattern(r"[\w.]")
