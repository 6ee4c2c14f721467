"""Words that praise a tool and tell nothing of it, whoever says them."""

import re

_PRAISE = re.compile(
    r"\b(?:amazing(?:ly)?|awesome|beautiful(?:ly)?|best[- ]in[- ]class|blazing(?:ly)?|breakthrough|brilliant(?:ly)?|"
    r"cutting[- ]edge|delightful(?:ly)?|effortless(?:ly)?|elegant(?:ly)?|excellent(?:ly)?|exceptional(?:ly)?|"
    r"fantastic(?:ally)?|game[- ]chang(?:er|ing)|gorgeous|high[- ]quality|incredibl[ey]|industry[- ]leading|"
    r"intuitive(?:ly)?|lightning[- ]fast|magic(?:al(?:ly)?)?|marvel(?:l)?ous(?:ly)?|must[- ]have|next[- ]generation|"
    r"outstanding(?:ly)?|perfect(?:ly)?|phenomenal(?:ly)?|powerful(?:ly)?|premium[- ]quality|remarkabl[ey]|"
    r"revolutionary|robust(?:ly)?|rock[- ]solid|seamless(?:ly)?|state[- ]of[- ]the[- ]art|stunning(?:ly)?|"
    r"superb(?:ly)?|"
    r"superior|top[- ]notch|ultimate(?:ly)?|unbeatable|unmatched|unparalleled|unrivall?ed|versatile|wonderful(?:ly)?|"
    r"world[- ]class|trusted by|loved by|well[- ]documented|well[- ]designed)\b",
    re.IGNORECASE,
)
_VERY = r"(?:(?:very|really|so|highly|extremely|truly|super|quite|pretty|both|also|always|simply|just) )*"
_FINE = (
    r"(?:good|great|nice|fine|lovely|superb|awesome|excellent|perfect|wonderful|fantastic|brilliant|reliable|fast|quick|"
    r"rapid|speedy|efficient|easy|simple|smart|clever|solid|stable|sturdy|mature|proven|accurate|precise|convenient|"
    r"popular|beloved|trusted|trustworthy|dependable|invaluable|indispensable|impressive|ideal|recommended|better|best|"
    r"faster|fastest|quickest|easiest)"
)
_FINES = rf"{_VERY}{_FINE}(?:(?:,|,? and| yet| but) {_VERY}{_FINE})*"
_BEST = (
    r"(?:good|great|best|finest|greatest|ideal|perfect|recommended|preferred|favou?rite|(?:most )?popular|go-to|"
    r"leading|premier|number one|right|smartest|easiest|fastest|"
    r"most (?:reliable|trusted|efficient|powerful|accurate|complete))"
)
_IT = r"(?:it|this|that|(?:this|the) (?:tool|server|service|operation|api))"
_PEOPLE = r"(?:everybody|everyone|users?|people|customers?|clients?|developers?|teams?|agents?|we|they)"
_PRAISED = re.compile(
    rf"^{_FINES}(?=[.!]|$|(?<!best)(?<!ideal) for\b)"
    rf"|\b{_IT}(?: is|'s) (?:the )?{_FINES}(?=[.,;!]|$|(?<!best)(?<!ideal) for\b| in\b| to use\b)"
    rf"|\b{_BEST} (?:tool|choice|option|pick|solution)\b"
    r"|\b(?:the|a) (?:tool|one|way|choice) (?:to use|to go with|of choice)\b"
    r"|\b(?:use|choose|pick|call) (?:\w+ ){0,3}in (?:all|most|any|every) (?:cases?|situations?)\b"
    rf"|\b{_PEOPLE} (?:all |really )*(?:love|like|adore|prefer|enjoy|trust|favou?r|recommend)s? (?:using )?{_IT}\b"
    r"|\b(?:nothing|no (?:other|tool)|nobody|none) (?:\w+ )?"
    r"(?:beats?|matches|compares?|rivals?|comes close|(?:is|works|does) better)\b"
    r"|\b(?:hard|impossible) to beat\b|\bsecond to none\b|\bworks (?:great|perfectly|like a charm|very well)\b"
    r"|\b(?:better|faster|easier|more reliable) than (?:any|all|every|the) others?\b"
    r"|\bhighly (?:recommended|reliable|rated)\b",
    re.IGNORECASE,
)
"""Judgements of the tool itself; of what it handles ("the fastest route") such words tell something, and so does
"best for"."""

_ADDRESSED = re.compile(r"\b(?:you|your|yours|yourself|you're|you'll|dear)\b", re.IGNORECASE)


def praise(text: str) -> str | None:
    """The first words that praise."""
    found = _PRAISE.search(text) or _PRAISED.search(text.strip())
    return found[0] if found else None


def addressed(text: str) -> str | None:
    """The first word that speaks to the reader."""
    found = _ADDRESSED.search(text)
    return found[0] if found else None
