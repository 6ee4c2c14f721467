"""What a text states so plainly that it may be said elsewhere: a purpose in a sibling's text, a hint in annotations."""

import re

from tdqs_mcp.facts import excess
from tdqs_mcp.facts.names import Label
from tdqs_mcp.facts.prose import stem
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.words import LEMMAS

MAX_BORROWED = 12
"""Words of a first sentence that another description may carry; longer ones are no longer plain."""

_CLAUSE_END = re.compile(
    r"[,;:()\[\]{}–—`\"]| - |[.!?](?:\s|$)|\s(?=(?:that|which|where|when|if|using|via|so|because|including)\b)"  # noqa: RUF001
)
_WORD = re.compile(r"[A-Za-z0-9'/&-]{1,40}")
_JOINTS = frozenset("a an the of in on at to from by for with and or as".split())
_ORDERS = frozenset(
    "you your must always never should shall need needs ignore disregard forget override bypass before after first "
    "please important critical instead only instruction instructions previous prompt prompts assistant agent agents "
    "tool tools model any every everything anything whenever other others password passwords secret secrets "
    "regardless".split()
)
"""Words that speak to an agent or claim more than one resource; a purpose does without them."""

_READ_ONLY = re.compile(
    r"(?:(?:this|the) (?:tool|operation|call|endpoint|function) is |it is )?(?:a )?(?:strictly )?read[- ]only"
    r"(?: (?:tool|operation|call))?(?: and (?:does not|doesn't|never) (?:modify|change|mutate)[a-z]* [^.;,]{1,40})?\.?",
    re.IGNORECASE,
)


def purpose(subject: Subject, label: Label) -> str:
    """The first sentence's plain opening, in the imperative: "Lists open issues, newest first." -> list open issues.

    Empty unless it opens with the name's kind of verb, has the name's resource and says nothing to an agent: another
    tool's text is hostile input, and nothing beyond its purpose may get into other descriptions.
    """
    first = " ".join(subject.prose.sentences[0].split()) if subject.prose.sentences else ""
    clause, *rest = _CLAUSE_END.split(first[excess.lead_in(first) :], maxsplit=1)
    words = clause.split()
    while any(rest) and words and words[-1].lower() in _JOINTS:
        words.pop()
    spoken = {word.lower() for word in words}
    verb = LEMMAS.get(words[0].lower()) if words else None
    is_harmless = len(words) <= MAX_BORROWED and not spoken & _ORDERS and all(map(_WORD.fullmatch, words))
    is_plain = subject.prose.opens_with_verb and not is_foreign(subject)
    is_purpose = is_plain and subject.prose.verb == verb and subject.prose.effect == label.effect
    is_about = bool(label.resource) and label.resource[-1] in set(map(stem, spoken))
    return " ".join((verb, *words[1:])) if verb and is_harmless and is_purpose and is_about else ""


def is_read_only(subject: Subject) -> bool:
    """The description says of the whole tool, in a sentence of its own, that it is read-only; no verb gainsays it."""
    effects = (subject.prose.effect, subject.prose.name_effect)
    is_gainsaid = any(effect is not None and effect.is_mutating for effect in effects)
    return not is_gainsaid and any(_READ_ONLY.fullmatch(sentence) for sentence in subject.prose.sentences)


def is_foreign(subject: Subject) -> bool:
    """The description is known to be in another language than English."""
    return subject.prose.language not in ("en", None)


def is_english(subject: Subject) -> bool:
    """Fit to be continued in English: known to be English, or a verb that we know, or no text at all.

    Hardly a letter of it is beyond ASCII.
    """
    text = subject.tool.description or ""
    foreign = 0 if text.isascii() else sum(char.isalpha() for char in text if not char.isascii())
    is_fit = subject.prose.verb is not None or subject.prose.language == "en" or subject.signals.is_missing_description
    return is_fit and not is_foreign(subject) and 20 * foreign <= len(text)
