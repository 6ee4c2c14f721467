"""What name and sentences say of a tool's effect that its hints contradict."""

from collections.abc import Sequence
from functools import partial

from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.vocabulary import LEMMAS, Effect, words_from
from tdqs_mcp.facts.text.words import name_parts
from tdqs_mcp.model import Tool

_words = partial(words_from, "hints")


def said_writing(tool: Tool, prose: Prose, siblings: Sequence[str]) -> str | None:
    """How the name, or a sentence after the first that names no sibling, says that the tool writes."""
    parts = name_parts(tool.name)
    if parts and parts[0] in _words("writing"):
        return f"the name says {parts[0]!r}"
    said = zip(prose.sentences, prose.spoken, strict=True)
    own = [(sentence, words) for sentence, words in said if not any(name in sentence for name in siblings)]
    for sentence, words in own:
        if not _words("final").isdisjoint(words):
            return f"a sentence says that its effect is final: {' '.join(sentence.split())[:MAX_QUOTE]!r}"
    for sentence, words in own:
        if sentence is not prose.sentences[0] and (verb := _writing_verb(words)):
            return f"a sentence says that it {verb}: {' '.join(sentence.split())[:MAX_QUOTE]!r}"
    return None


MAX_QUOTE = 80
"""Characters of a sentence that a message quotes."""


def _writing_verb(words: Sequence[str]) -> str | None:
    """The verb of a sentence about the tool: "Deletes the …", "It also writes …"; orders to the agent have none."""
    place, has_subject = 0, False
    while place < len(words) and words[place] in _words("openings"):
        has_subject = has_subject or words[place] in _words("subjects")
        place += 1
    verb = words[place] if place < len(words) else ""
    following = words[place + 1] if place + 1 < len(words) else ""
    lemma = LEMMAS.get(verb, verb.removesuffix("s"))
    is_writing = lemma in _words("writing") | _words("deleting") and not verb.endswith(("ed", "ing"))
    is_finite = verb != lemma or has_subject
    return verb if is_writing and is_finite and following in _words("determiners") else None


def said_deleting(tool: Tool, prose: Prose) -> str | None:
    """The word by which the name or the opening of the description says that the tool deletes."""
    parts = name_parts(tool.name)
    named = next((part for part in parts if part in _words("deleting")), None)
    if named and (prose.effect is Effect.DELETE or named == parts[0]):
        return named
    return prose.verb if prose.opens_with_verb and prose.verb in _words("deleting") else None


def said_adding(tool: Tool, prose: Prose) -> str | None:
    """The word by which the name says that each call adds one more; None where the text says that a second does not."""
    parts = name_parts(tool.name)
    verb = next((part for part in parts if part in _words("adding")), None)
    is_verb = verb is not None and (verb in (parts[0], parts[-1]) or prose.effect is Effect.CREATE)
    is_excused = not (_words("either").isdisjoint(parts) and _words("repeatable").isdisjoint(prose.words))
    return verb if is_verb and not is_excused else None


def is_reading(prose: Prose) -> bool:
    """Name and description agree that the tool reads."""
    return prose.effect is Effect.READ and prose.name_effect is Effect.READ and prose.opens_with_verb
