"""Checks one sentence of a draft against its sources: names, numbers, values, defaults, units, hints, permissions."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, cached_property

from tdqs_mcp.facts.schema.walk import split_pointer
from tdqs_mcp.facts.text.claims import find_clashes
from tdqs_mcp.facts.text.parameter_mentions import MentionKind, ParameterMention, read_mentions
from tdqs_mcp.facts.text.parameter_texts import known_units
from tdqs_mcp.facts.text.prose import cues_of
from tdqs_mcp.facts.text.statements import Polarity, find_bounds, is_negation, read_polarity, stated_hints
from tdqs_mcp.facts.text.vocabulary import (
    EFFECTS,
    LEMMAS,
    VAGUE_VERBS,
    Cue,
    Effect,
    PatternTable,
    read_table,
    words_from,
)
from tdqs_mcp.facts.text.wording import find_praise
from tdqs_mcp.facts.text.words import content_stems, has_word, name_parts, stem, words_of
from tdqs_mcp.rewriting.draft_sources import Source, ToolSources, names_in, plain_numbers, word_forms
from tdqs_mcp.rewriting.pointer_checks import Sibling, Siblings, check_pointers

_PATTERNS = PatternTable("drafts")

MAX_NAMED = 3
"""Names and numbers that one reason lists."""

MAX_SOURCES = 4
"""Sources that one claim names."""

ALIKE = 60
"""Percent of the words of the shorter sentence that two sentences about the same thing share."""


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """One new sentence of a draft, with what it can rest on."""

    text: str
    path: str
    """JSON pointer of the text that it stands in."""

    sources: ToolSources
    siblings: Siblings

    @cached_property
    def statements(self) -> list[str]:
        """Its parts, each of which says one thing."""
        return [part for part in _PATTERNS.segment.split(self.text) if part and part.strip()]

    @cached_property
    def names(self) -> frozenset[str]:
        """What it writes as a name; a tool's name needs no marks where it is no plain word."""
        tools = (word for word in words_of(self.text) if word in self.siblings and not word.isalpha())
        return names_in(self.text).union(tools)

    @cached_property
    def others(self) -> list[Sibling]:
        """The other tools that it names."""
        own = self.sources.subject.tool.name.lower()
        return [self.siblings[name] for name in sorted(self.names) if name in self.siblings and name != own]

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words that claim something."""
        return content_stems(words_of(self.text))

    @cached_property
    def is_elsewhere(self) -> bool:
        """It only says what another tool is for."""
        return bool(self.others) and _PATTERNS.purpose.match(self.text) is not None

    @cached_property
    def explained(self) -> list[str]:
        """The parameter whose description it belongs to."""
        return [split_pointer(self.path)[-2].lower()] if self.path.startswith("/inputSchema/") else []

    @cached_property
    def parameters(self) -> list[str]:
        """The parameters that it is about."""
        return self.explained or self.sources.spoken_of(self.text)

    @cached_property
    def near(self) -> list[Source]:
        """What is said of the parameters that it names, and of the tool as a whole; everything, if it names none."""
        named = [name for name in self.sources.parameters if name in self.names] or self.explained
        return [each for each in self.sources.own if not named or not each.parameter or each.parameter in named]


def check_sentence(sentence: Sentence) -> tuple[str | None, tuple[str, ...]]:
    """The first reason to refuse it, or what it rests on: nothing, if nothing in it could be checked."""
    reason = next((reason for check in _CHECKS for reason in check(sentence)), None)
    return reason, () if reason else tuple(_support(sentence))[:MAX_SOURCES]


def _support(sentence: Sentence) -> dict[str, None]:
    """The tools that it names, and the sources of its names, its numbers or most of its words."""
    numbers, stems = plain_numbers(sentence.text), sentence.stems
    found = dict.fromkeys(f"tool {each.name}" for each in sentence.others)
    for each in sentence.near:
        is_named = not each.is_schema and not sentence.names.isdisjoint(each.tokens)
        if numbers & each.numbers or is_named or _is_alike(stems, each.stems):
            found[each.name] = None
    hints = sentence.sources.subject.tool.annotations or {}
    said = {"readOnlyHint": _PATTERNS.reads_only, "idempotentHint": _PATTERNS.harmless}
    return found | {
        f"/annotations/{hint}": None
        for hint, form in said.items()
        if hints.get(hint) is True and form.search(sentence.text)
    }


def _is_alike(one: AbstractSet[str], two: frozenset[str]) -> bool:
    """At least half of the words of the shorter one."""
    shared = sum(has_word(two, word) for word in one)
    return shared > 1 and 2 * shared >= min(len(one), len(two))


def _check_style(sentence: Sentence) -> Iterator[str]:
    found = find_praise(sentence.text)
    if found and found.lower() not in (sentence.sources.subject.tool.description or "").lower():
        yield f"{found!r} praises and tells nothing"


def _check_names(sentence: Sentence) -> Iterator[str]:
    """Names that neither the definition nor the material has, nor a tool that the sentence names."""
    known = sentence.sources.tokens.union(sentence.siblings, *(each.tokens for each in sentence.others))
    quoted = {word for text in _PATTERNS.literal.findall(sentence.text) if " " in text for word in words_of(text)}
    strange = sorted(sentence.names.union(quoted) - known)
    if strange:
        yield f"there is no {', '.join(map(repr, strange[:MAX_NAMED]))}"


def _check_numbers(sentence: Sentence) -> Iterator[str]:
    """Numbers that no source about the same thing gives, and numbers that are another bound there."""
    told = [*(each.numbers for each in sentence.near), *(each.numbers for each in sentence.others)]
    strange = sorted(plain_numbers(sentence.text).difference(*told))
    if strange:
        yield f"no source gives the number {', '.join(strange[:MAX_NAMED])}"
    about = set(sentence.parameters)
    near = [each for each in sentence.near if not about or not each.parameter or each.parameter in about]
    typed = {(bound, value) for each in near for bound, value in each.bounds}
    free = frozenset[str]().union(*(each.numbers - {value for _, value in each.bounds} for each in near))
    words = words_of(sentence.text)
    may_exceed = "too" in words or any(map(is_negation, words))  # "more than 10 is too long"
    for said in find_bounds(sentence.text) if not sentence.is_elsewhere else ():
        value = said.value.replace(",", "")
        held = sorted(number for bound, number in typed if bound is said.bound and _is_number(number))
        is_turned = may_exceed and any(value == number for _, number in typed)
        is_given = (said.bound, value) in typed or value in free or is_turned
        if _is_number(value) and not is_given and (typed or about):
            yield f"no source gives {said.value} as the {said.bound}" + (f": it is {held[0]}" if held else "")


def _is_number(value: str) -> bool:
    return value[-1:].isdecimal()


def _check_schema(sentence: Sentence) -> Iterator[str]:
    """Types, choices, defaults, ranges and requirements that the schema contradicts."""
    shape = sentence.sources.subject.input_shape
    if sentence.explained:
        own = (node for node in shape.nodes if f"{node.path}/description" == sentence.path)
        mentions = [ParameterMention(node, sentence.text, MentionKind.OWN) for node in own]
    else:
        mentions = [each for each in read_mentions(sentence.text, shape) if each.kind is not MentionKind.OWN]
    names = shape.names | {sentence.sources.subject.tool.name}
    for clashes in find_clashes(mentions, names, shape.root).values():
        for clash in clashes:
            yield f"the schema says {clash.held!r} of `{clash.mention.node.name}`, not {clash.said!r}"


def _check_requirements(sentence: Sentence) -> Iterator[str]:
    """A requirement that the schema denies, or that another parameter's value is tied to."""
    sources = sentence.sources
    for statement in sentence.statements:
        named = [name for name in names_in(statement) if name in sources.parameters]
        is_plain = not _PATTERNS.conditional.search(statement)
        if is_plain and _PATTERNS.required.search(statement):
            free = (name for name in named if not _is_required(name, sources))
            yield from (f"the schema does not require `{name}`" for name in free)
        elif is_plain and _PATTERNS.optional.search(statement):
            needed = (name for name in named if sources.parameters[name].is_required)
            yield from (f"the schema requires `{name}`" for name in needed)
        yield from _check_conditions(statement, named, sources)


def _is_required(name: str, sources: ToolSources) -> bool:
    """The schema requires it, or a text says under which condition."""
    if sources.parameters[name].is_required:
        return True
    texts = (each.text.lower() for each in sources.about(name) if not each.is_schema)
    return any("requir" in text or "must" in text for text in texts)


def _check_conditions(statement: str, named: Sequence[str], sources: ToolSources) -> Iterator[str]:
    """A parameter beside another value than the one that its own text ties it to."""
    said = set(words_of(statement))
    for name in named:
        own = {word for each in sources.about(name) if each.parameter == name for word in words_of(each.text)}
        for other, values in sources.choices.items():
            tied = own & set(values)
            if other != name and tied and said & set(values) and not tied & said:
                yield f"its text ties `{name}` to {', '.join(sorted(tied))}"


def _check_values(sentence: Sentence) -> Iterator[str]:
    """Values that a closed list does not have: in a row with some that it has, or given to its parameter."""
    choices = sentence.sources.choices
    for found in _PATTERNS.row.finditer(sentence.text):
        items = [item.strip("` ").lower() for item in _PATTERNS.joint.split(found[0])]
        for name, values in choices.items():
            strange = [item for item in items if item not in values]
            if strange and len(items) - len(strange) >= max(2, len(strange)) and choices.keys().isdisjoint(strange):
                yield f"`{name}` takes no {', '.join(map(repr, strange))}"
    for name, value in _PATTERNS.given.findall(sentence.text):
        values, said = choices.get(name.lower(), ()), value.lower()
        if values and said not in values and said not in words_from("drafts", "no_values") | choices.keys():
            yield f"`{name}` takes no {value!r}"


def _check_order(sentence: Sentence) -> Iterator[str]:
    """A bracketed row whose members a source has in another order."""
    rows = [found.replace(" ", "") for each in sentence.sources.texts for found in _PATTERNS.bracket.findall(each.text)]
    for row in (found.replace(" ", "") for found in _PATTERNS.bracket.findall(sentence.text)):
        other = next((each for each in rows if each != row and sorted(each.split(",")) == sorted(row.split(","))), None)
        if other and row not in rows:
            yield f"the order is [{other}], not [{row}]"


def _check_defaults(sentence: Sentence) -> Iterator[str]:
    """A default that neither the schema nor a text gives."""
    sources = sentence.sources
    for statement in sentence.statements:
        if not _PATTERNS.default.search(statement):
            continue
        values = _given_values(_PATTERNS.condition.sub(" ", statement), sources)
        for name in _defaulted(statement, values, sentence) if values else ():
            held = sources.defaults(name)
            is_told = any(value in values for each in sources.own if not each.parameter for _, value in each.bounds)
            if not held & values and (held or not is_told):
                known = f": it is {min(held)}" if held else ""
                yield f"no source gives {', '.join(sorted(values))} as the default of `{name}`{known}"


def _given_values(text: str, sources: ToolSources) -> set[str]:
    """The values that a statement gives: names, numbers, truth values, allowed values, proper names.

    A plain word is an allowed value only where something is it: "is late", "in meters".
    """
    listed = {value for values in sources.choices.values() for value in values}
    found = {name for name in names_in(text) if name not in sources.parameters}
    found |= {word.lower() for word in _PATTERNS.is_value.findall(text) if word.lower() in listed}
    found |= {value.lower() for name, value in _PATTERNS.given.findall(text) if name.lower() in sources.parameters}
    found |= {match[1].lower() for name in sources.parameters if (match := _is_plainly(name, text, sources))}
    found |= {truth for truth, form in _truths().items() if form.search(text)}
    return found | plain_numbers(text) | {word.lower() for word in _PATTERNS.proper.findall(text)}


def _is_plainly(name: str, text: str, sources: ToolSources) -> re.Match[str] | None:
    """What a parameter whose name is a plain word is said to be, if it has a default."""
    found = re.search(rf"(?i)\b{re.escape(name)} is (?:the )?`?([\w.-]*\w)", text) if name.isalpha() else None
    return found if found and sources.defaults(name) else None


@cache
def _truths() -> Mapping[str, re.Pattern[str]]:
    return {"true": _PATTERNS.is_on, "false": _PATTERNS.is_off, "all": _PATTERNS.is_all}


def _defaulted(statement: str, values: AbstractSet[str], sentence: Sentence) -> list[str]:
    """The parameter whose default a statement gives: named, with such a value, or the only one it can speak of."""
    sources = sentence.sources
    named = [name for name in names_in(statement) if name in sources.parameters and name not in values]
    if named or sentence.explained:
        return named or sentence.explained
    found = [name for name, known in sources.choices.items() if values & set(known)]
    if not found:
        said = word_forms(statement)
        spelled = {name: set(map(stem, name_parts(node.name or ""))) for name, node in sources.parameters.items()}
        found = [
            name
            for name, parts in spelled.items()
            if parts & said - words_from("drafts", "switches") and sources.defaults(name)
        ]
        switches = [name for name in found if sources.parameters[name].schema.get("type") == "boolean"]
        found = [name for name in found if (name in switches) == (not values - set(_truths()) - {"all"})] or found
    return found if len(found) == 1 else []


def _check_units(sentence: Sentence) -> Iterator[str]:
    """A unit where the sources about the same parameter give only others of its kind."""
    about = set(sentence.parameters)
    sources = [each for each in sentence.near if not about or each.parameter in about]
    words = (part for each in sources for word in each.text.split() for part in name_parts(word) if len(part) > 1)
    held = {known_units()[word] for word in words if word in known_units()}
    for word in words_of(sentence.text) if not sentence.others else ():
        unit = known_units().get(word) if len(word) > 2 else None
        others = {each for each in held if unit and each[0] == unit[0]}
        if others and unit not in others:
            yield f"the sources speak of {min(others)[1]}, not of {word}"


def _check_opposites(sentence: Sentence) -> Iterator[str]:
    """A term where the sources about the same thing have only one that excludes it."""
    said = set(words_of(sentence.text))
    for sides in _opposites():
        used = [side & said for side in sides if side & said]
        for name, text in _same_thing(sentence) if len(used) == 1 else ():
            held = [side & set(words_of(text)) for side in sides if side & set(words_of(text))]
            if len(held) == 1 and not any(held[0] <= side and used[0] <= side for side in sides):
                yield f"{name} says {min(held[0])!r}, not {min(used[0])!r}"


@cache
def _opposites() -> list[list[frozenset[str]]]:
    lines = read_table("drafts")["opposites"].strip().splitlines()
    return [[frozenset(side.split()) for side in line.split("/")] for line in lines]


def _same_thing(sentence: Sentence) -> Iterator[tuple[str, str]]:
    """What is said of the same parameters, else in some of the same words, and by the tools that the sentence names."""
    told = [each for name in sentence.parameters for each in sentence.sources.about(name)]
    for each in told or sentence.sources.texts:
        if told or not sentence.stems.isdisjoint(each.stems):
            yield each.name, each.text
    for other in sentence.others:
        yield from ((f"tool {other.name}", text) for text in other.subject.prose.sentences)


def _check_shares(sentence: Sentence) -> Iterator[str]:
    """What a source says of one value, said of another."""
    for each in sentence.sources.texts:
        listed = set(sentence.sources.choices.get(each.parameter, ()))
        values = listed | {value.lower() for value in _PATTERNS.quoted.findall(each.text)}
        known = _shares(each.text, values) if len(values) > 1 else {}
        for value, stems in _shares(sentence.text, values).items() if known else ():
            own = known.get(value, frozenset())
            others = (other for other, words in known.items() if other != value and stems & own < stems & words - own)
            yield from (f"{each.name} says this of {other!r}, not of {value!r}" for other in others)


def _shares(text: str, values: AbstractSet[str]) -> dict[str, frozenset[str]]:
    """What stands behind each value, up to the next one."""
    known = {
        match[0].lower(): match for match in reversed([*re.finditer(r"[\w-]+", text)]) if match[0].lower() in values
    }
    found = sorted(known.values(), key=lambda match: match.start())
    ends = [*(match.start() for match in found), len(text)][1:]
    return {
        match[0].lower(): content_stems(words_of(text[match.end() : end]))
        for match, end in zip(found, ends, strict=bool(found))
    }


def _check_effects(sentence: Sentence) -> Iterator[str]:
    """Effects that the hints, the verb or the text rule out."""
    if sentence.explained or sentence.is_elsewhere:
        return
    text, hints, is_reading, is_writing = _own_text(sentence), *_known_effects(sentence)
    destroys, repeats = hints.get("destructiveHint"), hints.get("idempotentHint", True if is_reading else None)
    verb = _change(text)
    if is_reading and verb and not _does(verb, hints.get("readOnlyHint") is True, sentence):
        yield f"it only reads, and no source says that it does {verb!r}"
    effect = sentence.sources.subject.prose.effect
    is_open = is_reading or effect in (None, Effect.READ, Effect.PRODUCE)
    if is_reading and _PATTERNS.only_adds.search(text):
        yield "it only reads"
    if _PATTERNS.reads_only.search(text) and (is_writing or not is_open):
        yield "it does not only read"
    is_untouched = _PATTERNS.untouched.search(text) is not None
    is_said = any(_PATTERNS.untouched.search(each.text) for each in sentence.sources.texts)
    is_lost = destroys is True or (effect is Effect.DELETE and _is_about_all(sentence))
    if is_untouched and is_lost and not is_reading and not is_said:
        yield "`destructiveHint` is true" if destroys else "it deletes"
    is_harmed = not is_untouched and (_PATTERNS.touched.search(text) or Cue.DESTRUCTION in cues_of(words_of(text)))
    is_rewriting = not is_reading and sentence.sources.subject.prose.effect in (Effect.UPDATE, Effect.DELETE)
    may_harm = destroys is True or (destroys is None and is_rewriting)
    if is_harmed and not may_harm and not _is_told(Cue.DESTRUCTION, sentence):
        yield "`destructiveHint` is false" if destroys is False else "no source tells of a loss"
    is_harmless = _PATTERNS.harmless.search(text) is not None
    if repeats is True and _PATTERNS.again.search(text) and not is_harmless:
        yield "`idempotentHint` is true" if "idempotentHint" in hints else "it only reads"
    if repeats is False and not is_reading and is_harmless and "not" not in words_of(text):
        yield "`idempotentHint` is false"


def _does(verb: str, is_declared: bool, sentence: Sentence) -> bool:  # noqa: FBT001  # the hint
    """A source says that the tool does it; where a hint denies that it does anything, in so many words."""
    texts = sentence.sources.texts
    return any(_change(each.text) == verb if is_declared else has_word(each.stems, verb) for each in texts)


def _is_about_all(sentence: Sentence) -> bool:
    """It denies any loss, or speaks of nothing but what the first sentence says to be lost."""
    first = content_stems(word for words in sentence.sources.subject.prose.spoken[:1] for word in words)
    rest = sentence.stems - words_from("drafts", "kept")
    return _PATTERNS.no_loss.search(sentence.text) is not None or (bool(rest) and rest <= first)


def _known_effects(sentence: Sentence) -> tuple[dict[str, bool], bool, bool]:
    """The hints, stated or declared; whether the tool surely only reads; whether it surely changes something."""
    subject = sentence.sources.subject
    declared = {hint: value for hint, value in (subject.tool.annotations or {}).items() if isinstance(value, bool)}
    stated = {hint: value for each in subject.prose.sentences for hint, value in stated_hints(each)}
    hints, effect = declared | stated, subject.prose.effect
    reads, is_mutating = hints.get("readOnlyHint"), effect is not None and effect.is_mutating
    is_reader = effect is Effect.READ and subject.prose.name_effect in (None, Effect.READ)
    is_writing = reads is False or (reads is None and (is_mutating or hints.get("destructiveHint") is True))
    return hints, is_reader if reads is None else reads, is_writing


def _own_text(sentence: Sentence) -> str:
    """The statements that name no other tool."""
    names = [other.name for other in sentence.others]
    return "; ".join(each for each in sentence.statements if not any(name in each for name in names))


def _change(text: str) -> str | None:
    """The verb of what the tool is said to do to the world."""
    affirmed = read_polarity(text).affirmed
    for found in _PATTERNS.act.finditer(text):
        word = next(group for group in found.groups() if group).lower()
        verb = LEMMAS.get(word)
        if verb is None or verb not in affirmed or word.endswith(("ed", "ing")):
            continue
        is_act = EFFECTS[verb] is Effect.ACT and verb not in VAGUE_VERBS | words_from("drafts", "vague_acts")
        if EFFECTS[verb].is_mutating or is_act:
            return verb
    return None


def _check_permissions(sentence: Sentence) -> Iterator[str]:
    """A permission that no source speaks of, or one that is denied and that a source asks for."""
    sources = sentence.sources
    secrets = words_from("support", "private") & sources.tokens & read_polarity(sentence.text).denied
    if secrets and not any(secrets & read_polarity(each.text).denied for each in sources.own):
        yield f"the sources speak of a {min(secrets)}"
    is_known = sentence.others or _is_told(Cue.PERMISSION, sentence) or not sentence.names.isdisjoint(sources.tokens)
    if Cue.PERMISSION in cues_of(words_of(sentence.text)) and not is_known:
        yield "no source speaks of this permission"
    if _PATTERNS.restricted.search(sentence.text) and not _support(sentence):
        yield "no source gives this restriction"


def _is_told(cue: Cue, sentence: Sentence) -> bool:
    """A text of the definition, in whatever language, or of the material tells it."""
    return cue in sentence.sources.subject.prose.cues or any(cue in each.cues for each in sentence.sources.texts)


def _check_negations(sentence: Sentence) -> Iterator[str]:
    """What a source affirms and the sentence denies without a condition, what it denies, or both with other words."""
    said = _polarity(sentence.text)
    words = said.affirmed | said.denied
    texts = sentence.sources.texts if not sentence.is_elsewhere else []
    clauses = ((each.name, _polarity(part)) for each in texts for part in _clauses(each.text))
    for name, held in clauses:
        known = held.affirmed | held.denied
        affirmed = (said.affirmed - said.denied) & (held.denied - held.affirmed)
        denied = (said.denied - said.affirmed) & (held.affirmed - held.denied)
        is_alike = 100 * len(words & known) >= ALIKE * min(len(words), len(known))
        is_turned = is_alike and ((affirmed and denied) or (denied and words <= known) or (affirmed and known <= words))
        is_denied = len(held.denied) > 1 and held.denied <= said.affirmed - said.denied
        if len(words & known) > 1 and (is_turned or is_denied):
            yield f"{name} says the opposite of {min(affirmed | denied or held.denied)!r}"


def _clauses(text: str) -> list[str]:
    """The text and, where there are several, the statements in it."""
    parts = [part for part in _PATTERNS.segment.split(text) if part and part.strip()]
    return [text, *parts] if len(parts) > 1 else [text]


def _polarity(text: str) -> Polarity:
    """What is affirmed and denied, leaving aside what something happens without."""
    return read_polarity(_PATTERNS.without.sub(" ", text))


def _check_pointers(sentence: Sentence) -> Iterator[str]:
    yield from check_pointers(sentence.text, sentence.sources, sentence.siblings)


_CHECKS: tuple[Callable[[Sentence], Iterator[str]], ...] = (
    _check_style,
    _check_names,
    _check_numbers,
    _check_schema,
    _check_requirements,
    _check_values,
    _check_order,
    _check_defaults,
    _check_units,
    _check_opposites,
    _check_shares,
    _check_effects,
    _check_permissions,
    _check_negations,
    _check_pointers,
)
