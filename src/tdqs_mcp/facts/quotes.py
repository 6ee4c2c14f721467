"""Quotations in somebody's reason, and where they stand in a definition."""

import re
from collections.abc import Sequence

from tdqs_mcp.facts.text.patterns import lazy_pattern

MAX_QUOTATION = 400
"""Characters of a quotation; what is longer is no quotation any more."""

_QUOTATION = lazy_pattern(
    rf"\"([^\"\n]{{2,{MAX_QUOTATION}}})\"|“([^“”\n]{{2,{MAX_QUOTATION}}})”|`([^`\n]{{2,{MAX_QUOTATION}}})`"
    rf"|(?<!\w)['\u2018]([^'\u2018\u2019\n]{{2,{MAX_QUOTATION}}})['\u2019](?!\w)"
)
_ELLIPSIS = lazy_pattern(r"…|\.{3}")
_EDGE = " \t\n.,;:!?"


def quotations(text: str) -> tuple[str, ...]:
    """What stands between quotation marks or backticks, in order, each once."""
    found = (next(group for group in match.groups() if group) for match in _QUOTATION.finditer(text))
    return tuple(dict.fromkeys(found))


def unquoted(text: str) -> str:
    """The text without what it quotes."""
    return _QUOTATION.sub(" ", text)


def find(quotation: str, texts: Sequence[str]) -> str | None:
    """The place that is quoted, in the text's own spelling; None where no text holds it.

    The very characters are looked for first; then white space, case and the punctuation around a quotation may differ,
    and an ellipsis may leave words out.
    """
    if any(quotation in text for text in texts):
        return quotation
    parts = [part.strip(_EDGE).split() for part in _ELLIPSIS.split(quotation)]
    patterns = [re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE) for words in parts if words]
    found = (_span(patterns, text) for text in texts) if patterns else iter(())
    return next((span for span in found if span is not None), None)


def is_claim(quotation: str) -> bool:
    """Whether it must be somebody's words: a single word between quotation marks may be a term of the speaker's own."""
    return len(quotation.split()) > 1


def _span(patterns: Sequence[re.Pattern[str]], text: str) -> str | None:
    """From the first pattern's match to the last one's, each behind the one before."""
    begin = end = None
    for pattern in patterns:
        match = pattern.search(text, end or 0)
        if match is None:
            return None
        begin, end = match.start() if begin is None else begin, match.end()
    return text[begin:end]
