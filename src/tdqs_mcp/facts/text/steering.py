"""Texts that tell an agent to choose a tool instead of what it does, to ask for secrets, or not to call it at all."""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import NamedTuple

from tdqs_mcp.canonical import canonical_json, trim
from tdqs_mcp.facts.lexicon import PatternTable, endings_from, words_from
from tdqs_mcp.facts.schema.walk import Shape
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.text.parameter_texts import ParameterMention
from tdqs_mcp.facts.text.prose import Prose, sentences_of
from tdqs_mcp.facts.text.statements import is_negation
from tdqs_mcp.model import Tool

_PATTERNS = PatternTable("steering")
MAX_OPENING = 160
"""Characters of a description in which a withdrawal stands."""


class Steering(NamedTuple):
    """A sentence that tells the agent what to choose or to ask for, instead of what the tool does."""

    place: int
    """Its position."""

    kind: str
    quote: str

    @property
    def effect(self) -> str:
        """Effect on the agent."""
        return _EFFECTS[self.kind]

    @property
    def is_choice(self) -> bool:
        """It is about the choice of the tool; what asks for a secret is not."""
        return self.kind != "secret"


def find_steering(
    sentences: Sequence[str], spoken: Sequence[Sequence[str]], siblings: Sequence[str]
) -> Iterator[Steering]:
    """Yield the sentences with an order to choose the tool, praise, or a request for a secret.

    An order with a sibling in it is a sequence of calls ("You must call this before `get_order`"), and so is one with
    a quoted name. An order for an occasion, "when …", "before …", says for which requests the tool is.
    """
    for place, (sentence, words) in enumerate(zip(sentences, spoken, strict=True)):
        if _steering_words().isdisjoint(words):
            continue
        kinds = [kind for kind in _EFFECTS if not words_from("steering", kind).isdisjoint(words)]
        quote = " ".join(sentence.replace("*", "").split())
        matches = ((kind, getattr(_PATTERNS, kind).search(quote)) for kind in kinds)
        for kind, match in matches:
            is_scoped = (
                match
                and kind == "order"
                and (_PATTERNS.occasion.match(quote, match.end()) or _PATTERNS.condition.match(quote))
            )
            is_sequence = any(name in sentence for name in siblings) or _PATTERNS.sequence.search(quote)
            if match and not is_scoped and not (kind in _SEQUENTIAL and is_sequence):
                yield Steering(place, kind, _around(quote, match.start()))
                break


def find_steered_parameters(
    remarks: Iterable[ParameterMention], siblings: Sequence[str]
) -> Iterator[tuple[ParameterMention, Steering]]:
    """Yield the parameters' texts that steer; "always use this" of a value is no order to choose the tool."""
    for remark in remarks:
        if "tool" in remark.words or "ask" in remark.words:
            sentences = sentences_of(remark.text)
            steered = find_steering(sentences, list(map(words_of, sentences)), siblings)
            yield from ((remark, steering) for steering in steered)


@cache
def _steering_words() -> frozenset[str]:
    return frozenset().union(*(words_from("steering", kind) for kind in _EFFECTS))


_EFFECTS = {
    "order": "orders the agent to choose the tool",
    "rivalry": "turns the agent away from whatever else there is",
    "superlative": "praises the tool above all others",
    "secret": "makes the agent ask for a secret",
}
_SEQUENTIAL = ("order", "rivalry")


def _around(text: str, start: int) -> str:
    """About 20 characters before the place and 60 behind it, whole words."""
    first = text.rfind(" ", 0, max(0, start - 20)) + 1
    last = text.find(" ", start + 60)
    return text[first : last if last >= 0 else len(text)].strip()


def find_secret(prose: Prose, mentions: Iterable[ParameterMention], shape: Shape) -> tuple[str, str] | None:
    """Return the parameter for a secret that the description has in the environment, and the words that say so.

    No word about the parameter itself says which of the two counts.
    """
    secret_names = words_from("steering", "secret_names")
    secrets = [node.name for node in shape.tops if node.name and (name_parts(node.name) or ("",))[-1] in secret_names]
    match = _PATTERNS.variable.search(" ".join(prose.sentences)) if secrets else None
    if match is None:
        return None
    explained = {mention.node.name for mention in mentions if not {"env", "environment"}.isdisjoint(mention.words)}
    name = next((name for name in secrets if name not in explained), None)
    return None if name is None else (name, match[0])


def find_withdrawal(tool: Tool, siblings: Sequence[str]) -> tuple[str, str] | None:
    """Return where a definition says that nobody shall call the tool any more, or no agent, and the words.

    Whatever the language, a label and a sibling's name alone tell no more than that: "Veraltet: bitte get_note nutzen."
    """
    redirection = _PATTERNS.redirection.fullmatch(trim(tool.description or "")) if len(siblings) == 1 else None
    if redirection and redirection["name"] == siblings[0]:
        return "/description", redirection["label"]
    opening = " ".join((tool.description or "")[: 2 * MAX_OPENING].replace("*", "").split())[:MAX_OPENING]
    title = (tool.annotations or {}).get("title")
    texts = (("/description", opening), ("/title", tool.title), ("/annotations/title", title))
    for path, text in ((path, text) for path, text in texts if isinstance(text, str)):
        may_match = any(map(text.lower().__contains__, endings_from("steering", "withdrawing")))
        match = _PATTERNS.withdrawn.search(text) if may_match else None
        if match:
            return path, (match[1] or match[0]).strip(" :;,.-—–!()[]")  # noqa: RUF001
    raw = tool.raw if isinstance(tool.raw, dict) else {}
    for path, marks in (("", raw), ("/_meta", raw.get("_meta"))):
        for key, value in marks.items() if isinstance(marks, dict) else ():
            if value and isinstance(key, str) and key.rpartition("/")[2].lower() == "deprecated":
                return f"{path}/{key.replace('~', '~0').replace('/', '~1')}", f"{key}: {canonical_json(value)}"
    return None


def mentioned_when_retired(text: str, retired: AbstractSet[str]) -> Iterator[str]:
    """Yield the retired tools to which a text sends the agent; a sentence may say itself that one is retired."""
    for sentence in sentences_of(text) if retired else ():
        words = words_of(sentence)
        if not any(is_negation(word) or word.startswith(tuple(words_from("steering", "retiring"))) for word in words):
            yield from (name for name in words if name in retired)
