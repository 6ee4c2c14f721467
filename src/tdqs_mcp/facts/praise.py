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
_ADDRESSED = re.compile(r"\b(?:you|your|yours|yourself|you're|you'll|dear)\b", re.IGNORECASE)


def praise(text: str) -> str | None:
    """The first word that praises."""
    found = _PRAISE.search(text)
    return found[0] if found else None


def addressed(text: str) -> str | None:
    """The first word that speaks to the reader."""
    found = _ADDRESSED.search(text)
    return found[0] if found else None
