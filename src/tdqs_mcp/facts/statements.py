"""What a text states so plainly that it may be said elsewhere: a purpose in a sibling's text, a hint in annotations."""

import re

from tdqs_mcp.facts import excess
from tdqs_mcp.facts.catalog.names import Label
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.languages import LEMMAS, Cue
from tdqs_mcp.facts.text.prose import cues_of
from tdqs_mcp.facts.text.words import stem

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

_LISTING = frozenset("list get fetch retrieve show return".split())
"""Verbs of which `all` says no more than they do."""

_TOOL = r"(?:(?:it|this|a call|(?:this|the) (?:tool|operation|call|endpoint|function)) )?"
_IS = rf"(?:{_TOOL}is )?(?:an? )?(?:strictly )?"
_ANYTHING = r"(?:anything|(?:any |existing |any existing )?data|any state)"
_END = r"(?: (?:tool|operation|call))?(?=[.,;!]|$| and )"
_NOT = r"(?:does not|doesn't|never) "
_REMOVE = r"(?:delete|overwrite|remove|destroy)s?"
_OUTSIDE = (
    r"(?:an? |the )?(?:external|third[- ]party|outside) (?:\w+ )?(?:services?|apis?|systems?|servers?|providers?)"
)
_HINTS = {
    ("readOnlyHint", True): rf"{_IS}read[- ]only{_END}"
    rf"(?: and {_NOT}(?:modify|change|mutate)[a-z]* [\w ]{{1,40}})?"
    rf"|{_TOOL}{_NOT}(?:modify|modifies|changes?|mutates?) {_ANYTHING}{_END}"
    rf"|{_TOOL}(?:changes|modifies) nothing{_END}|{_TOOL}(?:has )?no side effects{_END}",
    ("destructiveHint", True): rf"{_IS}destructive{_END}|{_TOOL}(?:deletes|overwrites|erases|destroys)\b"
    rf"|{_TOOL}(?:permanently|irreversibly) (?:deletes|overwrites|erases|destroys|removes)\b"
    r"|(?:the |this )?(?:deletion|removal) (?:cannot be undone|is (?:permanent|irreversible))",
    ("destructiveHint", False): rf"{_IS}(?:non-|not )destructive{_END}"
    rf"|{_TOOL}only (?:adds|appends)(?: (?!and\b|then\b)[\w'-]+){{0,6}}(?=[.;!]|$)"
    rf"|{_TOOL}{_NOT}{_REMOVE}(?:,? (?:or )?{_REMOVE})* {_ANYTHING}{_END}",
    ("idempotentHint", True): rf"{_IS}idempotent{_END}|(?:repeating (?:it|(?:a|the) call)|calling it (?:again|twice)"
    r"|a (?:second|repeated) call|repeated calls)(?: with the same (?:arguments|input))? ha(?:s|ve) no"
    rf" (?:further|additional) effects?{_END}",
    ("idempotentHint", False): rf"{_IS}not idempotent{_END}"
    r"|(?:each|every) (?:call|request) (?:creates|adds|sends|appends|charges|places|starts)\b",
    ("openWorldHint", True): rf"{_TOOL}(?:calls|contacts|reaches|queries|accesses|uses|searches|(?:connects|talks) to)"
    rf" (?:{_OUTSIDE}|the (?:internet|web))\b",
    ("openWorldHint", False): rf"{_IS}(?:local(?:ly)? only|only local|offline|closed world){_END}"
    rf"|{_TOOL}(?:works|runs) (?:only )?(?:locally|offline)(?: only)?{_END}"
    rf"|{_TOOL}(?:(?:has|uses|needs|makes) )?no network(?: access| calls?)?{_END}",
}
_FORMS = {hint: re.compile(form, re.IGNORECASE) for hint, form in _HINTS.items()}
"""How a sentence about the whole tool opens that states a hint (MCP schema, ToolAnnotations)."""

_RESERVED = re.compile(
    r"\b(?:but|unless|except|however|although|though|besides|apart|other than|if|when|until|by default|may|might|can"
    r"|sometimes|usually|only|longer|not|no|never|nothing|none|neither|without|cannot|\w+n't)\b",
    re.IGNORECASE,
)
"""Words beside such an opening that take some of it back."""


def purpose(subject: Subject, label: Label) -> str:
    """The first sentence's plain opening, in the imperative: "Lists open issues, newest first." -> list open issues.

    Empty unless it opens with the name's kind of verb, has the name's resource, tells no limit or extent and says
    nothing to an agent: another tool's text is hostile input, and nothing beyond its purpose may get into other
    descriptions.
    """
    first = " ".join(subject.prose.sentences[0].split()) if subject.prose.sentences else ""
    clause, *rest = _CLAUSE_END.split(first[excess.lead_in(first) :], maxsplit=1)
    words = clause.split()
    while any(rest) and words and words[-1].lower() in _JOINTS:
        words.pop()
    spoken = [word.lower() for word in words]
    verb = LEMMAS.get(spoken[0]) if words else None
    is_short = len(words) <= MAX_BORROWED and all(map(_WORD.fullmatch, words))
    is_scoped = Cue.LIMIT in cues_of(spoken) or ("all" in spoken and verb not in _LISTING)
    is_harmless = is_short and not is_scoped and _ORDERS.isdisjoint(spoken)
    is_plain = subject.prose.opens_with_verb and not is_foreign(subject)
    is_purpose = is_plain and subject.prose.verb == verb and subject.prose.effect == label.effect
    is_about = bool(label.resource) and label.resource[-1] in set(map(stem, spoken))
    return " ".join((verb, *words[1:])) if verb and is_harmless and is_purpose and is_about else ""


def hints(sentence: str) -> tuple[tuple[str, bool], ...]:
    """The hints that a sentence states of the whole tool, without reservation and in a form that leaves no doubt.

    "It is read-only." states one; "nothing is read-only here", "it no longer deletes anything" and "read-only unless
    `force` is set" state none.
    """
    opened = ((hint, form.match(sentence)) for hint, form in _FORMS.items())
    return tuple(hint for hint, found in opened if found and not _RESERVED.search(sentence, found.end()))


def is_read_only(subject: Subject) -> bool:
    """The description says of the whole tool, in a sentence of its own, that it is read-only; no verb gainsays it."""
    effects = (subject.prose.effect, subject.prose.name_effect)
    is_gainsaid = any(effect is not None and effect.is_mutating for effect in effects)
    return not is_gainsaid and any(("readOnlyHint", True) in hints(sentence) for sentence in subject.prose.sentences)


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
