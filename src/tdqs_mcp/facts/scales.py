"""Phrases that only sound like a ploy: a scale's two ends, thanks, and a caution against orders that data may hold."""

import re

_ONE = r"0|1|one|zero|ein[se]?|un[eoa]?|uma?|een|jeden|bir|один|одного|一"
_TOP = r"5|10|100|five|ten|funf|cinq(?:ue)?|cinco|vijf|fem|piec|bes|пяти?|五|十"
_UNIT = r"(?:\s?(?:stars?|points?|点|점|分|星))?"
_NOTE = r"(?:\s?\([^()]{1,30}\))?"
_UP_TO = r"\s?(?:-|\u2013|\u2014|~|\?|\.\.|to|through|up to|bis|a|al|ad|do|tot|till|til|до|から|到|至|에서)\s?"
_SCALES = re.compile(
    rf"(?<![\w.])(?:{_ONE}){_UNIT}{_NOTE}{_UP_TO}(?:{_TOP})(?![\d/])"
    r"|(?<![\w.])(?P<low>\d{1,3})(?:\.0)?\s?[-\u2013?]\s?(?P<high>\d{1,3})(?:\.0)?(?![\w/])"
    r"|(?<![\d]\s)(?<!five\s)(?<!four\s)(?<!ten\s)(?<![\d])\bout of (?:5|10|100|five|ten)\b"
    r"|满分(?:为|是)(?:\d{1,3}|五|十|一?百)分?"
)
_THANKS = re.compile(r"\bthank you\b")
_CAUTIONS = re.compile(
    r"\b(?:(?:not|never|dont|without)\s(?:follow|obey|execut|trust|act(?:ing)? on|comply(?:ing)? with)\w*"
    r"|ignor\w+|disregard\w*)\s(?:(?:any|all|the)\s)?(?:instructions?|commands?|directives?|orders|prompts?)\s"
    r"(?:(?:that|which)\s)?(?:(?:are|is|may be|appear|you (?:may )?find)\s)?"
    r"(?:(?:found|contained|embedded|included|hidden|placed|written)\s)?(?:in|inside|within)\s"
    r"(?:it|them|(?:the |a )?(?:untrusted |returned |fetched )?"
    r"(?:pages?|content|documents?|e-?mails?|files?|web ?pages?|websites?|data))\b(?! (?:above|before))"
)


def unsaid(read: str) -> str:
    """A plain text without what its scales, thanks and cautions would seem to say.

    A scale gives nothing its upper end (`from 1 to 5`, `50-100`, `out of five`); whoever says thank you speaks of no
    reader's deed; instructions found in a page are not those that an agent has.
    """
    read = _CAUTIONS.sub(" ", _THANKS.sub("thanks", read))
    return _SCALES.sub(lambda found: found[0] if _is_short(found) else " ", read)


def _is_short(found: re.Match[str]) -> bool:
    """Two numbers too close to each other to be the ends of a scale: `4-5` says what to give."""
    return found["low"] is not None and 2 * int(found["low"]) > int(found["high"])
