"""The words of a text and the English verbs among them."""

import re
from collections.abc import Iterable

from tdqs_mcp.facts.lexicon import VERBS, Effect

_WORD = re.compile(r"\w+(?:['’.\-/]\w+)*")


def words_of(text: str) -> list[str]:
    """The lower-case words of a text; `read-only`, `don't`, `e.g` and `list_files` are one word each."""
    return _WORD.findall(text.lower())


def _inflections(lemma: str) -> Iterable[str]:
    base = lemma.removesuffix("e")
    doubled = lemma + lemma[-1]
    yield from (lemma, f"{lemma}s", f"{lemma}es", f"{base}ing", f"{base}ed", f"{doubled}ing", f"{doubled}ed")
    if lemma.endswith("y"):
        yield from (f"{lemma[:-1]}ies", f"{lemma[:-1]}ied")


EFFECTS: dict[str, Effect] = {lemma: effect for effect, verbs in reversed(VERBS.items()) for lemma in verbs.split()}
"""What each known verb does, by its lemma."""

LEMMAS = {form: lemma for lemma in EFFECTS for form in _inflections(lemma)} | {lemma: lemma for lemma in EFFECTS}
"""Every inflected form of a known verb, to its lemma."""
