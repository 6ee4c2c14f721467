"""What name and sentences say of a tool's effect that its hints contradict."""

from collections.abc import Sequence
from functools import partial

from tdqs_mcp.facts.lexicon import lazy_pattern, words_from
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.vocabulary import LEMMAS, Effect
from tdqs_mcp.model import Tool

_words = partial(words_from, "hints")


def said_writing(tool: Tool, prose: Prose, siblings: Sequence[str]) -> str | None:
    """How the name, or a sentence after the first that names no sibling, says that the tool writes."""
    parts = name_parts(tool.name)
    if parts and parts[0] in _words("writing"):
        return f"the name says {parts[0]!r}"
    said = [(sentence, words) for sentence, words in zip(prose.sentences, prose.spoken, strict=True) if _tells(words)]
    own = [(sentence, words) for sentence, words in said if not any(name in sentence for name in siblings)]
    for sentence, words in own:
        if not _words("final").isdisjoint(words):
            return f"a sentence says that its effect is final: {' '.join(sentence.split())[:MAX_QUOTE]!r}"
    for sentence, _ in own:
        clauses = () if sentence is prose.sentences[0] else _CLAUSE_END.split(sentence)
        if effect := next(filter(None, map(_said_change, clauses)), None):
            return f"a sentence says that {effect}: {' '.join(sentence.split())[:MAX_QUOTE]!r}"
    return None


MAX_QUOTE = 80
"""Characters of a sentence that a message quotes."""


_CLAUSE_END = lazy_pattern(r"[,;()\n\u2013\u2014]|\s-\s|\band\s(?=then\b)")


def _said_change(clause: str) -> str | None:
    """What a clause says of the call: "it deletes" (the …) or "something is purged" (old rows are …)."""
    words = words_of(clause)
    active, passive = _active_verb(words), _passive_verb(words)
    return f"it {active}" if active else f"something is {passive}" if passive else None


def _active_verb(words: Sequence[str]) -> str | None:
    """The finite verb of a clause about the tool, with a thing behind it; orders to the agent have none."""
    place, has_subject = 0, False
    while place < len(words) and words[place] in _words("openings"):
        has_subject = has_subject or words[place] in _words("subjects")
        place += 1
    if place + 1 >= len(words) or not _changes(words[place]) or words[place + 1] not in _words("determiners"):
        return None
    verb = words[place]
    is_finite = verb.endswith("s") or (has_subject and not verb.endswith(("ed", "ing")))
    return verb if is_finite else None


def _passive_verb(words: Sequence[str]) -> str | None:
    """What the main clause says is done to its subject; not to the answer, and not by others or from time to time."""
    place = next((place for place, word in enumerate(words) if word in _words("passives")), 0)
    behind = words[place + 1 :]
    verb = next((word for word in behind if not word.endswith("ly") and word not in _words("openings")), "")
    is_main = 0 < place <= MAX_SUBJECT and _words("subordinators").isdisjoint(words[:place])
    is_told = words[place : place + 1] != ["be"] or words[place - 1] == "will"
    is_change = verb.endswith(("ed", "en", "sent")) and _changes(verb)
    return verb if is_main and is_told and is_change and _words("elsewhere").isdisjoint(behind) else None


MAX_SUBJECT = 8
"""Words before the verb of a passive clause."""


def _tells(words: Sequence[str]) -> bool:
    """A sentence has a word of a lasting change, or one that says that there is no way back."""
    return any(map(_changes, words)) or not _words("final").isdisjoint(words)


def _changes(word: str) -> bool:
    """A form of a verb that leaves a lasting change."""
    return (LEMMAS.get(word) or word.removesuffix("s")) in _words("lasting")


def said_deleting(tool: Tool, prose: Prose) -> str | None:
    """The word by which the name or the opening of the description says that the tool deletes."""
    parts = name_parts(tool.name)
    named = next((part for part in parts if part in _words("deleting")), None)
    if named and Effect.DELETE in (prose.effect, prose.name_effect):
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
