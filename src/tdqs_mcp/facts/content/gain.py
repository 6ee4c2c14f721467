"""What the sentences of a description add to name and schema, and which of them add it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tdqs_mcp.facts.content.generic import FUNCTION_WORDS
from tdqs_mcp.facts.content.sentences import NEW_WORDS, Sentence, Text
from tdqs_mcp.facts.text.languages import Cue
from tdqs_mcp.facts.text.prose import Prose


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A sentence of the text."""

    text: str
    words: int
    """The new content words that it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """Counts of distinct words and of sentences."""

    told: int
    """Content words that neither the name nor the title has."""

    beyond: int
    """Those that stand outside parameter lists and that no parameter's name or description has."""

    lead: int
    """New content words of the first sentence."""

    later: int
    """New content words that the first sentence does not have."""

    statements: int
    """Sentences outside parameter lists that add at least NEW_WORDS of `beyond`."""

    usage: int
    """New content words of sentences that say when to use the tool, when not, what instead or what first."""

    behaviour: int
    """Other sentences after the first that set a condition or a limit, or say what happens by itself."""

    returned: int
    """New content words of the sentence that says most about what comes back."""

    cues: Mapping[Cue, int]
    """Sentences that tell something and give the cue."""

    words: int
    """Words of the sentences that tell something."""

    sentence_words: int
    """Words of such a sentence, on average."""

    restates: bool
    """Every word of these sentences is in the name or title, or a function word."""

    quotes: Mapping[str, Passage]
    """For counts that rest on one sentence more than on others: that sentence."""


def gain(text: Text, prose: Prose) -> Gain:
    """What the sentences that tell something add."""
    telling, outside = text.telling, text.outside
    words = sum(len(each.words) for each in telling)
    return Gain(
        told=sum(len(each.fresh) for each in telling),
        beyond=sum(len(each.added) for each in outside),
        lead=len(telling[0].fresh) if telling else 0,
        later=sum(len(each.fresh) for each in telling[1:]),
        statements=sum(len(each.added) >= NEW_WORDS for each in outside),
        usage=sum(len(each.fresh) for each in outside if each.is_usage),
        behaviour=sum(each.is_behaviour and bool(each.fresh) for each in outside),
        returned=max((len(each.fresh) for each in telling if each.is_return), default=0),
        cues={
            cue: len({text.everything[place].text for place in places if text.everything[place].tells})
            for cue, places in prose.cue_places.items()
        },
        words=words,
        sentence_words=words // max(1, len(telling)),
        restates=bool(text.told) and not text.told - FUNCTION_WORDS - text.own,
        quotes=_quotes(text),
    )


def _quotes(text: Text) -> dict[str, Passage]:
    found = {
        "lead": _passage(text.telling[0]) if text.telling else None,
        "later": _fullest(text.telling[1:]),
        "usage": _fullest(each for each in text.outside if each.is_usage),
        "behaviour": _fullest(each for each in text.outside if each.is_behaviour),
        "returned": _fullest(each for each in text.telling if each.is_return),
        "explained": _fullest(text.entries),
    }
    return {key: passage for key, passage in found.items() if passage is not None}


def _fullest(chosen: Iterable[Sentence]) -> Passage | None:
    best = max(chosen, key=lambda each: len(each.fresh), default=None)
    return _passage(best) if best and best.fresh else None


def _passage(sentence: Sentence) -> Passage:
    return Passage(text=sentence.text, words=len(sentence.fresh))
