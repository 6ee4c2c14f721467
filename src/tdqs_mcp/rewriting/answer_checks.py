"""Answers that are none: they say nothing of the thing asked, serve for several tools, or name strange parameters."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tdqs_mcp.facts.lexicon import read_table
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.parameter_texts import is_placeholder
from tdqs_mcp.facts.text.prose import plain_text
from tdqs_mcp.facts.text.words import content_stems, stem
from tdqs_mcp.facts.toolset.relations import mentioned_siblings
from tdqs_mcp.facts.toolset.unknown_names import UnknownWord, unknown_parameters, unknown_words
from tdqs_mcp.model import Fact
from tdqs_mcp.results.improvements import QuestionTopic

CONFIRMED = "!"
"""Beginning of an answer that its author has confirmed."""

MAX_SAME_ANSWERS = 2
"""Questions about different things that the same words may answer; a parameter of the same name is one thing."""

MAX_COUNTED = 10
"""Words of an answer up to which their number tells something."""


def check_answers(facts: Sequence[Fact], measured: Measured) -> tuple[Fact, ...]:
    """Return the facts, each answer with the doubt for which it is asked again; one that is confirmed has none."""
    entries = [
        replace(fact, text=fact.text.removeprefix(CONFIRMED).lstrip(), is_confirmed=fact.text.startswith(CONFIRMED))
        for fact in facts
    ]
    subjects = {subject.tool.name: subject for subject in measured.subjects}
    crowds: dict[str, set[str]] = {}
    for fact in entries:
        if _is_answer(fact):
            crowds.setdefault(plain_text(fact.text), set()).add(fact.parameter or fact.origin)
    if not crowds:
        return tuple(entries)
    doubts = {}
    for place, fact in enumerate(entries):
        if _is_answer(fact) and (subject := subjects.get(fact.tool or "")):
            reasons = _doubts(fact, subject, measured, len(crowds[plain_text(fact.text)]))
            about = f"`{fact.parameter}` of `{fact.tool}`" if fact.parameter else f"`{fact.tool}`"
            doubt = next(reasons, None)
            if doubt is None and _is_empty(fact, subject):
                doubt = f"it says nothing about {about}"
            doubts[place] = doubt
    return tuple(
        replace(fact, doubt=f"{doubts[place]}; confirm it with a leading `!` if it is meant so")
        if doubts.get(place)
        else fact
        for place, fact in enumerate(entries)
    )


def _is_answer(fact: Fact) -> bool:
    """An answer in words; a hint is yes or no."""
    return not fact.is_confirmed and not fact.hint and fact.origin.startswith(("answer ", "parameters "))


def _doubts(fact: Fact, subject: Subject, measured: Measured, crowd: int) -> Iterator[str]:
    """Yield what speaks against an answer whatever it says: too many tools have it, or a parameter is not there."""
    if crowd > MAX_SAME_ANSWERS:
        yield f"the same words answer {crowd} questions: say what is true of all once, in the server's instructions"
    names = {subject.tool.name, *subject.siblings.values()}
    if fact.is_shared and fact.place == QuestionTopic.USAGE and not any(name in fact.text for name in names):
        yield "it names none of the tools: say which is for what"
    texts = [("/description", fact.text)]
    strange = unknown_words(texts, subject.part_names)
    absent = [mention.name for mention in unknown_parameters(strange, texts, subject.part_names, measured.vocabulary)]
    absent += [] if fact.place == QuestionTopic.RETURNS else _strange_names(strange, fact, measured)
    yield from (f"`{subject.tool.name}` has no parameter {name!r}" for name in absent)


def _strange_names(strange: Sequence[UnknownWord], fact: Fact, measured: Measured) -> Iterator[str]:
    """Yield names in backticks, spelled as parameters are, that no definition has: "Pass `message_ts`"."""
    texts = [text for subject in measured.subjects for _, text in subject.texts]
    parts = frozenset().union(*({subject.tool.name, *subject.part_names} for subject in measured.subjects))
    for token in (word.token for word in strange if f"`{word.token.name}`" in fact.text):
        is_compound = len(name_parts(token.name)) > 1 and words_of(token.name) == [token.name.lower()]
        if is_compound and token.name not in parts and not any(token.name in text for text in texts):
            yield token.name


def _is_empty(fact: Fact, subject: Subject) -> bool:
    """Return whether the words of an answer are those of people who do not answer.

    A logistic regression that calibration/answer_fit.py has fitted tells so, for English without a word of the
    definition; a false alarm costs the author one confirmation.
    """
    if is_placeholder(fact.text, fact.parameter or ""):
        return True
    table = read_table("answers")
    weights: Mapping[str, int] = table["weights"]
    spoken = (word for _, text in subject.texts for word in words_of(text))
    own = content_stems(part for word in (*subject.part_names, *spoken) for part in (word.lower(), *name_parts(word)))
    words = content_stems(part for word in words_of(fact.text) for part in (word.lower(), *name_parts(word)))
    is_own = any(weights.get(word, 0) <= 0 for word in words & own) or mentioned_siblings(
        subject.tool, words_of(fact.text), subject.siblings
    )
    reached = table["base"] + sum(weights.get(trait, 0) for trait in traits(fact.text))
    return fact.text.isascii() and not is_own and reached >= 0


def traits(text: str) -> frozenset[str]:
    """Return the stems of an answer, its first one apart, how many words it has, and signs of something particular."""
    words = words_of(text)
    stems = [stem(word.lower()) for word in words]
    signs = {
        f"*words {min(len(words), MAX_COUNTED)}": True,
        f"first {stems[0]}" if stems else "": bool(stems),
        "*number": any(char.isdigit() for char in text),
        "*code": "`" in text or "_" in text,
        "*acronym": any(len(word) > 1 and word.isupper() for word in text.split()),
    }
    return frozenset(stems).union(sign for sign, is_there in signs.items() if is_there)
