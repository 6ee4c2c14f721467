"""Texts that tell an agent to choose a tool instead of what it does, to ask for secrets, or not to call it at all."""

from collections.abc import Iterator, Sequence

from tdqs_mcp.facts.lexicon import PatternTable, words_from
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.model import Tool

_PATTERNS = PatternTable("steering")
MAX_OPENING = 160
"""Characters of a description in which a withdrawal stands."""


def find_steering(prose: Prose, siblings: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what a sentence does to the choice, with its words: an order to choose the tool, praise, a secret.

    An order with a sibling in it is a sequence of calls ("You must call this before `get_order`"), and so is one with
    a quoted name.
    """
    for sentence, words in zip(prose.sentences, prose.spoken, strict=True):
        if words_from("steering", "signs").isdisjoint(words):
            continue
        quote = " ".join(sentence.replace("*", "").split())
        is_sequence = any(name in sentence for name in siblings) or _PATTERNS.sequence.search(quote)
        if not is_sequence and (match := _PATTERNS.order.search(quote)):
            yield "orders the agent to choose the tool", _around(quote, match.start())
        elif not is_sequence and (match := _PATTERNS.rivalry.search(quote)):
            yield "turns the agent away from whatever else there is", _around(quote, match.start())
        elif match := _PATTERNS.superlative.search(quote):
            yield "praises the tool above all others", _around(quote, match.start())
        elif match := _PATTERNS.secret.search(quote):
            yield "makes the agent ask for a secret", _around(quote, match.start())


def _around(text: str, start: int) -> str:
    return text[max(0, start - 20) : start + 60].strip()


def find_withdrawal(tool: Tool) -> str | None:
    """Return the words by which a definition says that nobody shall call the tool any more, or no agent."""
    opening = " ".join((tool.description or "")[: 2 * MAX_OPENING].replace("*", "").split())[:MAX_OPENING]
    label = tool.title if isinstance(tool.title, str) else ""
    for text in (opening, label):
        match = _PATTERNS.withdrawn.search(text)
        if match:
            return match[0].strip(" :.-—–!()[]")  # noqa: RUF001
    return None
