"""Answers that are none: they say nothing of the thing asked, serve for several tools, or name strange parameters."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache

from tdqs_mcp.facts.lexicon import words_from
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.subject import Measured, Subject, measure
from tdqs_mcp.facts.text.parameter_texts import is_placeholder
from tdqs_mcp.facts.text.prose import cues_of, plain_text
from tdqs_mcp.facts.text.words import LEMMAS, Cue, content_stems
from tdqs_mcp.facts.toolset.unknown_names import unknown_parameters, unknown_words
from tdqs_mcp.judges.offline import Offline, calibration
from tdqs_mcp.judges.sentence_model import Aspect, SentenceModel, generic_stems, read_text
from tdqs_mcp.model import Catalog, Fact, read_tool
from tdqs_mcp.results.improvements import QuestionTopic

CONFIRMED = "!"
"""Beginning of an answer that its author has confirmed."""

MAX_SAME_ANSWERS = 2
"""Questions about different things that the same words may answer; a parameter of the same name is one thing."""

MAX_WORDS = 3
"""Telling words of an answer that can be empty; with more, it is about something."""

MAX_TOLD = 20
"""Hundredths that the sentence model finds at most of the thing asked in an answer that tells nothing of it."""

MAX_OPENING = 100
"""The same of a purpose, which is read as the first sentence: its place alone tells some of it."""

MIN_NOTHING = 60
"""Cases of a hundred in which an answer with a word of another tool tells nothing."""

_ASPECTS: dict[str, Aspect] = {
    QuestionTopic.PURPOSE: Aspect.PURPOSE,
    QuestionTopic.USAGE: Aspect.USAGE,
    QuestionTopic.BEHAVIOR: Aspect.BEHAVIOR,
    QuestionTopic.LIMIT: Aspect.BEHAVIOR,
    QuestionTopic.RETURNS: Aspect.RESULT,
}


def check_answers(
    facts: Sequence[Fact], measured: Measured, wording: Callable[[Fact, Subject], str]
) -> tuple[Fact, ...]:
    """Return the facts, each answer with the doubt for which it is asked again; one that is confirmed has none.

    `wording` gives the sentence that an answer would be in a definition.
    """
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
    spoken = (word for subject in measured.subjects for _, text in subject.texts for word in words_of(text))
    vocabulary = content_stems((*spoken, *(part for subject in measured.subjects for part in _named(subject))))
    doubts = {}
    for place, fact in enumerate(entries):
        if _is_answer(fact) and (subject := subjects.get(fact.tool or "")):
            reasons = _doubts(fact, subject, measured, len(crowds[plain_text(fact.text)]))
            about = f"`{fact.parameter}` of `{fact.tool}`" if fact.parameter else f"`{fact.tool}`"
            doubt = next(reasons, None)
            if doubt is None and _is_empty(fact, subject, wording, vocabulary):
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
    strange = unknown_words([("/description", fact.text)], subject.part_names)
    texts = [("/description", fact.text)]
    for mention in unknown_parameters(strange, texts, subject.part_names, measured.vocabulary):
        yield f"`{subject.tool.name}` has no parameter {mention.name!r}"


def _is_empty(
    fact: Fact, subject: Subject, wording: Callable[[Fact, Subject], str], vocabulary: AbstractSet[str]
) -> bool:
    """Return whether an answer has hardly a word of this catalog and tells nothing of what was asked.

    The author's own words are read: our "Returns" before them would tell of a result whatever follows.
    """
    if is_placeholder(fact.text, fact.parameter or ""):
        return True
    aspect = Aspect.ARGUMENTS if fact.parameter else _ASPECTS.get(fact.place)
    spoken = words_of(fact.text)
    # "up to 50 rows", "as CSV", "JSON": a number or a format is something, "TBD" alone is none
    is_format = any(len(word) > 1 and word.isupper() for word in fact.text.split())
    is_format &= len(spoken) > 1 or Cue.FORMAT in cues_of(spoken)
    if aspect is None or is_format or any(char.isdigit() for char in fact.text) or not fact.text.isascii():
        return False
    if fact.parameter and not _is_clause(fact.text):
        return False  # "the checkout" may be all that there is to say
    is_thing = aspect in (Aspect.RESULT, Aspect.ARGUMENTS)
    sentence = fact.text if is_thing else wording(fact, subject)
    words = content_stems(part for word in words_of(sentence) for part in (word, *name_parts(word))) - generic_stems()
    own = content_stems((*_named(subject), *(word for _, text in subject.texts for word in words_of(text))))
    if words & own or len(words) > MAX_WORDS + is_thing or len(words & vocabulary) > 1:
        return False
    first = subject.prose.sentences[0] if subject.prose.sentences else f"Use `{subject.tool.name}`"
    before = "" if aspect is Aspect.PURPOSE else f"{first.rstrip('.')}. "
    tool = read_tool({**subject.tool.raw, "description": f"{before}{sentence}"}, 0)
    [measured_tool] = measure(Catalog(server="", tools=(tool,))).subjects
    *_, reading = _sentence_model().read(read_text(measured_tool))
    is_strange = words.isdisjoint(vocabulary) and not is_thing  # "plain text" is one
    is_silent = reading.wording[aspect] < (MAX_OPENING if aspect is Aspect.PURPOSE else MAX_TOLD)
    return is_silent and (reading.nothing >= MIN_NOTHING or is_strange or not words)


def _is_clause(text: str) -> bool:
    """Return whether a part of a text is an order or speaks of "it": "No idea, ask Tom", "It depends"."""
    openings = {words[0].lower() for part in text.split(",") if (words := words_of(part))}
    return not openings.isdisjoint(LEMMAS) or not openings.isdisjoint(words_from("rewriting", "pronouns"))


def _named(subject: Subject) -> Iterator[str]:
    """The words of the names of a tool and of its parameters."""
    for name in (subject.tool.name, *(parameter.name for parameter in subject.signals.parameters)):
        yield from name_parts(name)


@cache
def _sentence_model() -> SentenceModel:
    """The offline judge's own."""
    return calibration(Offline().stamp.calibration or "").sentences
