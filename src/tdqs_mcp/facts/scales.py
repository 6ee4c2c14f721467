"""Phrases that only sound like a ploy: a scale's two ends, thanks, and a caution against orders that data may hold."""

import re

_UNIT = r"(?:\s?(?:stars?|points?|点|점|分|星))?(?:\s?\([^()]{1,30}\))?"
_UP_TO = r"\s?(?:-|\u2013|\u2014|~|\?|\.\.|to|through|up to|bis|a|al|ad|do|tot|till|til|до|から|到|至|에서)\s?"
_NUMBERS = re.compile(rf"(\d{{1,3}})(?:\.0)?{_UNIT}{_UP_TO}(\d{{1,3}})(?:\.0)?(?![\da-z/])")
"""Begins with the characters that it needs, so that everything else is skipped quickly."""

_WORDS = re.compile(
    rf"\b(?:one|zero|ein[se]?|un[eoa]?|uma?|een|jeden|bir|один|одного|一){_UNIT}{_UP_TO}"
    r"(?:five|ten|funf|cinq(?:ue)?|cinco|vijf|fem|piec|bes|пяти?|五|十)(?!\w)"
)
_OUT_OF = re.compile(r"(?<!\d\s)(?<!five\s)(?<!four\s)(?<!ten\s)\bout of (?:5|10|100|five|ten)\b")
_FULL = re.compile(r"满分(?:为|是)(?:\d{1,3}|五|十|一?百)分?")
_CAUTIONS = re.compile(
    r"\b(?:(?:not|never|dont|without)\s(?:follow|obey|execut|trust|act(?:ing)? on|comply(?:ing)? with)\w*"
    r"|ignor\w+|disregard\w*)\s(?:(?:any|all|the)\s)?(?:instructions?|commands?|directives?|orders|prompts?)\s"
    r"(?:(?:that|which)\s)?(?:(?:are|is|may be|appear|you (?:may )?find)\s)?"
    r"(?:(?:found|contained|embedded|included|hidden|placed|written)\s)?(?:in|inside|within)\s"
    r"(?:it|them|(?:the |a )?(?:untrusted |returned |fetched )?"
    r"(?:pages?|content|documents?|e-?mails?|files?|web ?pages?|websites?|data))\b(?! (?:above|before))"
)
_PHRASES = (
    (_WORDS, ("five", " ten", "funf", "cinq", "cinco", "vijf", "fem", "piec", " bes", "пят", "五", "十")),
    (_OUT_OF, ("out of",)),
    (_FULL, ("满分",)),
    (_CAUTIONS, ("instruction", "command", "directive", "orders", "prompt")),
)
"""With strings, one of which stands in every such phrase: the fast answer is no."""


def unsaid(read: str) -> str:
    """A plain text without what its scales, thanks and cautions would seem to say.

    A scale gives nothing its upper end (`from 1 to 5`, `50-100`, `out of five`); whoever says thank you speaks of no
    reader's deed; instructions found in a page are not those that an agent has.
    """
    read = _NUMBERS.sub(_scaled, read.replace("thank you", "thanks"))
    for pattern, clues in _PHRASES:
        if any(map(read.__contains__, clues)):
            read = pattern.sub(" ", read)
    return read


def _scaled(found: re.Match[str]) -> str:
    """Two numbers without what they would give; too close to each other for a scale, they stay: `4-5` is an order."""
    is_part = _PART.match(found.string, max(0, found.start() - 1), found.start()) is not None
    return found[0] if is_part or 2 * int(found[1]) > int(found[2]) else " "


_PART = re.compile(r"[\w.]")
