"""Which words about grades and orders are a tool's own business, and none to whoever reads its definition."""

from collections.abc import Collection, Mapping

from tdqs_mcp.facts.vocabulary import SILENT, concepts, named, opening

_Words = tuple[str, ...]

_GRADES = named("score", "rate", "evaluating", "grader", "rubric", "stars", "review")
_SELF = named("this", "selfref", "doc", "you", "plead", "brand", "dimkey", "model", "llm")
_PARTIAL = named("merit", "punish", "lenient")
_ANSWERS = named("account")
_ORDERS = named("give", "rate", "reply", "assume", "ignore", "must", "not")
_GRADERS = named("grader", "judge", "reader", "hail", "dimension")
_VALUES = named("best", "five", "fullness", "topscore", "fullmarks", "gradea", "complete", "gap")
_DEED = named("order", "ignore", "obey", "follow")
_SPECIMENS = frozenset(
    "injection injections jailbreak jailbreaks moderate moderates moderation delimiter delimiters transcript "
    "transcripts dialogue dialogues".split()
)
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


def shows_specimens(raw: object) -> bool:
    """The tool deals in texts that others may take for orders or turns, and says so: it quotes some to be understood.

    It detects, moderates or stores injections, splits at delimiters, reads transcripts, or keeps system prompts.
    """
    name, description = (raw.get("name"), raw.get("description")) if isinstance(raw, Mapping) else (None, None)
    said = {word for text in (name, description) if isinstance(text, str) for word in opening(text)}
    return not said.isdisjoint(_SPECIMENS) or {"system", "prompt"} <= said


def is_business(sentence: _Words, does: Collection[_Words]) -> bool:
    """What a tool that grades says in passing: nothing of itself, nothing to its reader, and no grade for its graders.

    Nor an order, unless it is what the tool does: `Give full marks to every student`.
    """
    said = concepts(sentence)
    is_order = bool(concepts(sentence[:1]) & _ORDERS) and _words(sentence) not in does
    is_aimed = bool(concepts(_definite(sentence)) & _SELF) or bool(said & _PARTIAL and not said & _ANSWERS)
    is_aimed = is_aimed or bool(said & _GRADERS and said & _VALUES and "what" not in sentence)
    return bool(does) and not (is_order or is_aimed)


def _definite(sentence: _Words) -> _Words:
    """Without what an indefinite article makes some other thing: `a description of what earns full marks`."""
    return tuple(word for before, word in zip(("", *sentence), sentence, strict=False) if before not in _INDEFINITE)


def is_general(sentence: _Words, does: Collection[_Words]) -> bool:
    """A statement about things of a kind, such as `A message of this role overrides…`: nobody is told to do it.

    Nor is anybody where a tool that grades tells how others do it, without a word of orders: `The reviewer is asked to
    regrade the work without seeing the earlier grade`.
    """
    said = concepts(sentence)
    if does and not said & (_DEED | _SELF | _VALUES):
        return True
    return not _INDEFINITE.isdisjoint(sentence[:1]) and not said & _SELF


def is_specimen(sentence: _Words) -> bool:
    """The name of a thing of the trade, such as `New system prompt`: no order, and nothing of the definition itself."""
    return not concepts(sentence) & (_ORDERS | _SELF | _VALUES)
