"""Which siblings can be taken for a tool, and what for, in their own words."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from tdqs_mcp.facts.lexicon import words_from
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.vocabulary import LEMMAS
from tdqs_mcp.facts.text.words import add_article, content_stems, is_plural, plurals_in, stem
from tdqs_mcp.facts.toolset.names import Label
from tdqs_mcp.results.improvements import Route
from tdqs_mcp.rewriting.original_text import purpose
from tdqs_mcp.rewriting.proposed_statements import Statement, add_sentence

MAX_RIVALS = 6
"""Siblings of similar names that are looked at."""

MAX_ALTERNATIVES = 2
"""Siblings that one description points to."""


def find_alternatives(
    subject: Subject,
    rivals: Sequence[Subject],
    labels: Mapping[str, Label],
    plurals: AbstractSet[str],
    given: Mapping[str, str],
) -> Iterator[tuple[str, Statement]]:
    """Siblings whose own first sentence says what this tool is not for, each with a sentence, the nearest first.

    Not for a sibling that only has another verb, or whose text says no more than this one's. `given` has, by sibling,
    the parameter whose values this tool returns.
    """
    own, clauses = labels[subject.tool.name], {}
    for rival in rivals:
        other = labels[rival.tool.name]
        clause = _clause(rival, other, plurals) if _is_alike(own, other) else ""
        clauses[rival.tool.name] = _contrast(clause, subject, own, other) if clause else ""
    for name, told in clauses.items():
        if told and Counter(clauses.values())[told] == 1:
            sources = [f"tool {name}: its first sentence"]
            way = f"use `{name}` instead"
            if name in given:
                sources.append(f"tool {name}: its parameter {given[name]}")
                way = f"pass its `{given[name]}` to `{name}`"
            yield name, add_sentence(f"To {told}, {way}.", Route.ALTERNATIVE, sources)


def _is_alike(own: Label, other: Label) -> bool:
    """One request could mean both: the same kind of action, to the same thing or to a kind, a part or a view of it."""
    mine, theirs = (tuple(map(stem, label.thing.lower().split())) for label in (own, other))
    if not mine or not theirs or not _is_same_action(own, other):
        return False
    if set(mine) == set(theirs):
        return True
    is_kind = mine[-1] == theirs[-1] and (set(mine) < set(theirs) or set(theirs) < set(mine))
    is_view = theirs[:-1] == mine and other.thing.lower().split()[-1] in words_from("names", "views")
    return (is_kind or is_view) and _is_many(own) == _is_many(other)


def _is_same_action(own: Label, other: Label) -> bool:
    """The same verb, two ways to read, or two ways to change; to make and to change is not one request."""
    verbs = {own.verb, other.verb}
    ways = (words_from("names", "listing_verbs"), words_from("names", "changing_verbs"))
    return None not in verbs and (len(verbs) == 1 or any(verbs <= way for way in ways))


def _clause(subject: Subject, label: Label, plurals: AbstractSet[str]) -> str:
    """What a tool does as an order, with the article that its author left out; empty where that is not certain."""
    said = purpose(subject, label)
    verb, _, rest = said.partition(" ")
    told = add_article(rest, plurals) if rest else ""
    return f"{verb} {told}" if told else ""


def _contrast(clause: str, subject: Subject, own: Label, other: Label) -> str:
    """The clause where it tells the two tools apart: by a word that this one has not, or by many things for one."""
    first = subject.prose.spoken[0] if subject.prose.spoken else ()
    known = content_stems((*first, *name_parts(subject.tool.name))) | words_from("wording", "generic")
    _, *words = words_of(clause)
    extra = {word for word in content_stems(words) if word not in known and word not in LEMMAS}
    is_for_many = not words_from("names", "quantities").isdisjoint(words)
    if extra or (is_for_many and words_from("names", "quantities").isdisjoint(first)):
        return clause
    one, many = own.thing.lower(), other.thing.lower()
    is_same = own.verb == other.verb and is_plural(many) and one in plurals_in([many]) and many != one
    return f"{clause} rather than a single one" if is_same else ""


def _is_many(label: Label) -> bool:
    """It lists or searches, or its thing is a plural."""
    return label.verb in ("list", "search") or is_plural((label.thing.lower().split() or [""])[-1])
