"""Statements of a text: what it affirms and denies, effects, hints, closed lists of values."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from tdqs_mcp.canonical import trim
from tdqs_mcp.facts.lexicon import MAX_EXPLANATION, MAX_TEXT, PatternTable, expand, lazy_pattern, read_table, words_from
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.text.effects import deleting_verbs
from tdqs_mcp.facts.text.examples import closed_list
from tdqs_mcp.facts.text.parameter_texts import list_entries
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.words import EFFECTS, LEMMAS, Effect, content_stems, stem
from tdqs_mcp.model import Tool


def said_deleting(tool: Tool, prose: Prose) -> str | None:
    """The word by which the name or the opening of the description says that the tool deletes for certain."""
    certain = deleting_verbs() - words_from("hints", "ending")
    named = next((part for part in name_parts(tool.name) if part in certain), None)
    if named and Effect.DELETE in (prose.effect, prose.name_effect):
        return named
    return prose.verb if prose.opens_with_verb and prose.verb in certain else None


_PATTERNS = PatternTable("statements")
_words = partial(words_from, "statements")

NO_FACTS: Mapping[str, str] = {}

_WITHOUT_VALUES = frozenset(("type", "title", "description", "default"))
"""All that a schema may have that says nothing of its values beside their type."""

_CLAIM_PATTERNS = PatternTable("claims")
_JOINT = lazy_pattern(r"(?=,\s)|(?<=\s)(?=and\s)")


class Polarity(NamedTuple):
    """The stems of the words that a text affirms and that it denies; it may do both with one of them."""

    affirmed: frozenset[str]
    denied: frozenset[str]


def is_negation(word: str) -> bool:
    """A lower-case word that turns what follows it."""
    return word in _words("negations") or word.endswith("n't")


def read_polarity(text: str) -> Polarity:
    """Return the affirmed and the denied stems: a negation reaches to the end of its clause; linear in the text."""
    affirmed: set[str] = set()
    denied: set[str] = set()
    for clause in _clauses(text.lower().replace("’", "'").replace(" or not ", " ")):
        words = words_of(clause)
        first = next((place for place, word in enumerate(words) if is_negation(word)), len(words))
        is_noun = words[first : first + 1] and words[first] in _words("of_nouns")
        ends = (place for place in range(first + 1, len(words)) if words[place] in _words("results"))
        last = next(ends, len(words)) if is_noun else len(words)
        before, under, after = map(content_stems, (words[:first], words[first:last], words[last:]))
        if first < len(words) and _is_passive(words, first, under):
            under |= content_stems(words[first - 1 : first]) if is_noun else before
        denied |= under
        affirmed |= (before - under) | after
    return Polarity(frozenset(affirmed), frozenset(denied - _words("negations")))


def _is_passive(words: Sequence[str], first: int, under: frozenset[str]) -> bool:
    """A negation at this place denies what stands before it: its verb says nothing without, or stands there itself.

    Of "returns closed ones, never others" it denies nothing that is named.
    """
    if under or words[first] in _words("of_nouns"):
        return under <= _words("passive")
    is_last = first == len(words) - 1
    stands_before = is_last and (
        words[first].endswith("n't") or (first > 0 and words[first - 1] in _words("auxiliaries"))
    )
    return stands_before or not _words("empty_verbs").isdisjoint(words[first + 1 :])


def _clauses(text: str) -> list[str]:
    """The clauses, a condition apart from what it is the condition of."""
    clauses: list[str] = []
    for clause in _PATTERNS.negation_end.split(text):
        clauses += clause.split(",", 1) if _PATTERNS.condition.match(clause) else _parted(clause)
    return clauses


def _parted(clause: str) -> Iterator[str]:
    """A clause, parted where a comma or "and" begins another: with a negation, or with a verb on both sides."""
    text, has_verb = "", False
    for part in _JOINT.split(clause):
        words = words_of(part.removeprefix("and "))
        is_new = bool(words) and (is_negation(words[0]) or (has_verb and _closes(words)))
        if text and is_new:
            yield text
            text, has_verb = "", False
        text += part
        has_verb = has_verb or _words("opening_verbs").issuperset(words[:1]) or _closes(words)
    yield text


def _closes(words: Sequence[str]) -> bool:
    """A verb stands there that belongs to no alternative and to no relative clause."""
    end = next((place for place, word in enumerate(words) if word in _words("open_ended")), len(words))
    return any(word in _words("auxiliaries") or word == "cannot" or word.endswith("n't") for word in words[:end])


def stated_hints(sentence: str) -> tuple[tuple[str, bool], ...]:
    """The hints that a sentence states of the whole tool, without reservation and in a form that leaves no doubt.

    "It is read-only." states one; "nothing is read-only here", "it no longer deletes anything" and "read-only unless
    `force` is set" state none.
    """
    opened = ((hint, pattern.match(sentence)) for hint, pattern in _hint_patterns().items())
    stated = (hint for hint, match in opened if match and not _PATTERNS.reserved.search(sentence, match.end()))
    reading = (("readOnlyHint", True),) if any(_denials(sentence)) else ()
    return tuple(dict.fromkeys((*stated, *reading)))


def states_mere_reading(sentence: str) -> bool:
    """Return whether a sentence says that a call leaves a thing as it is: "Only reads the file."."""
    return False in _denials(sentence)


def _denials(sentence: str) -> Iterator[bool]:
    """Yield for each clause that denies a change whether it denies any change, or that of a thing that it names.

    Such a clause has a negation and a verb of change, or "only" and a verb of reading, and words for all there is:
    "never writes", "without changing anything", "it only reads from the disk". A condition in the sentence takes it
    back, and for "only" another change does.
    """
    clauses = [words_of(clause) for clause in _PATTERNS.denial_end.split(sentence.lower())]
    may_stand = _words("denying") | _words("negations") | _words("merely")
    for place, words in enumerate(clauses):
        verb_place = next((number for number, word in enumerate(words) if word not in may_stand), len(words))
        before, behind = words[:verb_place], words[verb_place + 1 :]
        verb = next((LEMMAS.get(word, word) for word in words[verb_place : verb_place + 1]), "")
        is_denied = sum(map(is_negation, words)) == 1 and verb in _words("altering")
        is_read = not _words("merely").isdisjoint(before) and EFFECTS.get(verb) is Effect.READ
        if not is_denied and not is_read:
            continue
        remainder = " ".join(word for other, spoken in enumerate(clauses) if other != place for word in spoken)
        is_conditional = place > 0 and _PATTERNS.conditional.match(sentence) is not None
        if is_conditional or _PATTERNS.excepted.search(remainder) or (is_read and _tells_change(remainder)):
            continue
        is_plain = all(word in may_stand or is_negation(word) or _is_change(LEMMAS.get(word, "")) for word in behind)
        is_all = is_read or not (_words("everything") | _words("of_nouns") - {"without"}).isdisjoint(words)
        is_own = verb not in _words("intransitive") and (not place or next(iter(clauses[0]), "") in LEMMAS)
        if (is_plain and (is_all or (is_own and not behind))) or (is_read and behind[0] in _words("sources")):
            yield True
        elif behind and (is_read or (behind[0] in _words("determiners") and len(behind) <= MAX_NAMED)):
            yield False


MAX_NAMED = 4
"""Words of a thing that stays as it is."""


def _tells_change(text: str) -> bool:
    """Return whether a text has a verb of change that it does not deny."""
    denied = read_polarity(text).denied
    return any(_is_change(LEMMAS.get(word, "")) and stem(word) not in denied for word in words_of(text))


def _is_change(verb: str) -> bool:
    return verb in EFFECTS and EFFECTS[verb].is_mutating


def states_saving(sentence: str) -> bool:
    """Return whether a sentence says of the whole tool, without a condition, that it writes a file."""
    return bool(_PATTERNS.saving.match(sentence[:MAX_TEXT])) and not _PATTERNS.reserved.search(sentence)


def states_image(sentence: str) -> bool:
    """Return whether a sentence says no more than that an image comes back: a path, an address or base64 is text."""
    return _PATTERNS.image.search(sentence) is not None


def stated_keys(sentence: str) -> tuple[tuple[str, ...], bool]:
    """Return the keys of the result, where the sentence does nothing but name them; and whether it names an object."""
    match = _PATTERNS.returned_keys.match(sentence[:MAX_TEXT])
    listed = (match[1] or match[2]) if match else ""
    words = re.findall(r"`(\w+)`", listed) or re.findall(r"\w+", listed)
    return tuple(word for word in words if word != "and"), bool(match and (match[1] or " with " in listed))


def listed_fields(sentence: str) -> frozenset[str]:
    """Return the names in backticks that a sentence lists as fields of something."""
    matches = _PATTERNS.listed_fields.finditer(sentence[:MAX_TEXT])
    return frozenset(name for match in matches for name in re.findall(r"\w+", match[1]) if f"`{name}`" in match[1])


def stated_fates(sentence: str) -> Iterator[tuple[str, bool]]:
    """Yield the stems of things of which a sentence says without a condition that they are kept, or lost."""
    if not _PATTERNS.excepted.search(sentence):
        yield from ((stem(match[1].lower()), bool(match[2])) for match in _PATTERNS.fate.finditer(sentence[:MAX_TEXT]))


@cache
def _hint_patterns() -> Mapping[tuple[str, bool], re.Pattern[str]]:
    entries = read_table("statements")["hints"]
    return {(hint, value): re.compile(expand("statements", form), re.IGNORECASE) for hint, value, form in entries}


def closed_value_lists(tool: Tool, facts: Mapping[str, str] = NO_FACTS) -> Iterator[tuple[str, tuple[str, ...], str]]:
    """The parameters of type string whose own text lists their values beyond doubt, the values, and where it stands.

    That text is the parameter's description, its entry in the tool's, or a fact, given by its source, that names the
    parameter. An open list, an example, a value that the list lacks, or a schema that says anything of its values
    itself leaves the parameter alone.
    """
    for name, schema in arguments.properties(tool).items():
        if isinstance(schema, dict) and schema.get("type") == "string" and schema.keys() <= _WITHOUT_VALUES:
            for source, text in _texts_about(tool, name, schema, facts):
                if values := _closed_values(" ".join(text[:MAX_EXPLANATION].split()), name, schema):
                    yield name, values, source


def _texts_about(
    tool: Tool, name: str, schema: Mapping[str, Any], facts: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    text = schema.get("description")
    if isinstance(text, str) and trim(text):
        yield f"{arguments.property_pointer(name)}/description", text
    else:
        entries = {entry.name: entry.text for entry in list_entries((tool.description or "")[:MAX_TEXT])}
        yield f"description: its entry {name}", entries.get(name, "")
    for source, fact in facts.items():
        if f"`{name}`" in fact or (not name.isalpha() and name.lower() in words_of(fact)):
            yield source, fact.replace(f"`{name}`", name)


def _closed_values(text: str, name: str, schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The values of the one list that a text closes beyond doubt, with the schema's default among them."""
    stated = list(_CLAIM_PATTERNS.stated_list.finditer(text))
    values = closed_list(text, name) if len(stated) == 1 and not _CLAIM_PATTERNS.open_list.search(text) else ()
    # unquoted, "one of: asc, desc, none" is a list, but "one of: asc or desc" may be prose;
    # "one of `asc`, `desc`; `none` is ignored" names a value beside the list
    quoted = set(_CLAIM_PATTERNS.quoted_word.findall(text))
    is_plain = quoted == {*values} or (not quoted and (stated[0]["values"] is not None or len(values) > 2))
    return values if values and is_plain and schema.get("default", values[0]) in (None, *values) else ()
