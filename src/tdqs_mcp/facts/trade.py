"""Which words about grades and orders are a tool's own business, and none to whoever reads its definition."""

from collections.abc import Collection, Mapping

from tdqs_mcp.facts.vocabulary import SILENT, concepts, named, opening

_Words = tuple[str, ...]

_GRADES = named("score", "rate", "evaluating", "grader", "rubric", "stars", "review")
_SELF = named("this", "selfref", "doc", "you", "plead", "brand", "dimkey", "model", "llm")
_PARTIAL = named("merit", "punish", "lenient")
_ORDERS = named("give", "rate", "reply", "assume", "ignore", "must", "not")
_GRADERS = named("grader", "judge", "reader", "hail", "dimension")
_VALUES = named("best", "five", "fullness", "topscore", "fullmarks", "gradea", "complete", "gap")
_INDEFINITE = frozenset("a an ein eine un une uno una um uma een en".split())


def deeds(raw: object) -> tuple[_Words, ...]:
    """What a tool that grades does: its name and the sentence that its description opens with.

    Nothing for every other tool: one that grades says there that it deals in grades, reviews or rubrics of other things
    than itself.
    """
    name, description = (raw.get("name"), raw.get("description")) if isinstance(raw, Mapping) else (None, None)
    if not isinstance(description, str):
        return ()
    first = opening(description)
    said = concepts(first)
    if not said & _GRADES or said & _SELF:
        return ()
    return tuple(map(_words, (first, opening(name) if isinstance(name, str) else ())))


def _words(sentence: _Words) -> _Words:
    return tuple(word for word in sentence if word not in SILENT)


def is_business(sentence: _Words, does: Collection[_Words]) -> bool:
    """What a tool that grades says in passing: nothing of itself, nothing to its reader, and no grade for its graders.

    Nor an order, unless it is what the tool does: `Give full marks to every student`.
    """
    said = concepts(sentence)
    is_order = bool(concepts(sentence[:1]) & _ORDERS) and _words(sentence) not in does
    is_aimed = bool(said & (_SELF | _PARTIAL)) or bool(said & _GRADERS and said & _VALUES)
    return bool(does) and not (is_order or is_aimed)


def is_general(sentence: _Words) -> bool:
    """A statement about things of a kind, such as `A message of this role overrides…`: nobody is told to do it."""
    return not _INDEFINITE.isdisjoint(sentence[:1]) and not concepts(sentence) & _SELF
