"""A name's words as people write them in a sentence: acronyms in capitals, and the articles that names leave out."""

import re
from collections.abc import Sequence

from tdqs_mcp.facts.catalog.names import PREPOSITIONS


def spelled(phrase: str) -> str:
    """A name's words with the acronyms in capitals."""
    return " ".join(_ACRONYMS.get(word, word) for word in phrase.split())


def clause(phrase: str) -> str:
    """A name's words, the verb first, as an order: add tag to task -> add a tag to a task."""
    verb, *words = spelled(phrase).split()
    said, thing, is_open = [verb], list[str](), verb not in _OF_MANY
    for word in words:
        if word in PREPOSITIONS:
            said += [*(_determined(thing, verb) if is_open else thing), word]
            thing, is_open = [], word in _OF_THINGS
        else:
            thing.append(word)
    return " ".join((*said, *(_determined(thing, verb) if is_open else thing)))


def is_natural(phrase: str) -> bool:
    """Not so where an adjective stands behind its noun, as in `add footnote robust`, or where a noun is a bare verb."""
    last = phrase.split()[-1:]
    return _POSTPOSED.isdisjoint(last) and "do" not in phrase.split()


def _is_counted(noun: str) -> bool:
    """One of several, such as a task; not tasks, metadata or padding."""
    is_many = noun.endswith("s") and not noun.endswith(("ss", "us", "is"))
    return not is_many and not noun.endswith("ing") and noun.lower() not in _UNCOUNTED | _POSTPOSED


def _determined(thing: Sequence[str], verb: str) -> Sequence[str]:
    """With its article; none before many things, before what is not counted and behind another determiner."""
    if not thing or thing[0] in _DETERMINERS or not _is_counted(thing[-1]):
        return thing
    if verb == "set" or thing[0] in _ONLY or thing[-1] in _ONLY:
        return ("the", *thing)
    return ("an" if _VOWEL.match(thing[0]) else "a", *thing)


_ACRONYMS = {word.lower(): word for word in "ID IDs URL URI API SQL PDF CSV JSON HTML XML HTTP IP DNS UUID AI".split()}

_OF_MANY = frozenset("list search count query".split())
"""Verbs of many things, or of nouns that are easily taken for verbs."""

_OF_THINGS = frozenset("to for from into of in after before".split())
_DETERMINERS = frozenset("my all any each every both multiple many several some bulk one two or and".split())
_ONLY = frozenset("active current latest last next previous count status state total default".split())
"""First or last words of a thing of which there is one at a time."""

_UNCOUNTED = frozenset(
    "access activity advice audio code content data delta feedback health help history html info information json "
    "latex markdown media metadata music news output progress research schema security software storage support sync "
    "text traffic usage video weather xml".split()
)
"""Nouns of which there is not one."""

_POSTPOSED = frozenset("advanced bulk detailed enhanced fast full horizontal raw robust safe simple vertical".split())
"""Adjectives that names put last."""

_VOWEL = re.compile(r"[AEFHILMNORSX](?![a-z])|[AEI][a-z]|[fhlmnrsx][^aeiouy]*$|hour|(?!one|uni|us|ur|util|eu)[aeiou]")
"""How a word begins that is spoken with a vowel: `item`, and `SQL` and `r2` by their letters."""
