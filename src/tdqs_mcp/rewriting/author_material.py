"""The author's material: the place of each entry, answers that are none, and the statements that it adds."""

import json
import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from typing import Any

from tdqs_mcp.errors import InputError
from tdqs_mcp.facts.lexicon import PatternTable, read_table, words_from
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.schema.arguments import is_plain_value, is_showable, redact
from tdqs_mcp.facts.schema.signals import HINTS
from tdqs_mcp.facts.spelling import name_parts, some_names, words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.parameter_texts import is_placeholder
from tdqs_mcp.facts.text.prose import cues_of, find_praise, lead_in_length, plain_text
from tdqs_mcp.facts.text.statements import is_negation, read_polarity, stated_hints
from tdqs_mcp.facts.text.words import LEMMAS, PREPOSITIONS, STOPWORDS, content_stems, stem
from tdqs_mcp.facts.threats import find_threats
from tdqs_mcp.facts.toolset.relations import mentioned_siblings
from tdqs_mcp.facts.toolset.unknown_names import UnknownWord, unknown_parameters, unknown_words
from tdqs_mcp.json_text import TextEdit
from tdqs_mcp.model import ANNOTATIONS, PARAMETERS, SHARED, CallOutcome, Fact, Material, Trace
from tdqs_mcp.results.improvements import QuestionTopic, Route
from tdqs_mcp.rewriting.definition_parts import can_continue_in_english
from tdqs_mcp.rewriting.draft_checks import WARNING_CUES
from tdqs_mcp.rewriting.proposals import CJK, Statement, add_sentence, set_value
from tdqs_mcp.rewriting.questions import find_groups, find_open_parameters, find_open_places

_TEXT_PLACES = frozenset(
    {QuestionTopic.PURPOSE, QuestionTopic.USAGE, QuestionTopic.BEHAVIOR, QuestionTopic.RETURNS, QuestionTopic.LIMIT}
)

_HINT = re.compile(rf"\W*({'|'.join(HINTS)})`?\s*(?:[:=]|is)\s*`?(true|false)\W*", re.IGNORECASE)
"""A hint with its value and nothing else."""

_PATTERNS = PatternTable("rewriting")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Catalog:
    """The names that material can refer to."""

    tools: Mapping[str, Subject]
    parameters: Collection[str]
    """The names of all parameters."""

    groups: Mapping[str, Collection[str]]
    """The tools that share a question, by its id."""

    open_places: Mapping[str, frozenset[str]]
    """The parameters and hints that each tool leaves open."""


def assign_places(material: Material, measured: Measured) -> Material:
    """The material with all that is said of one place of one tool among its facts.

    Raises InputError for an entry about a tool, a parameter or a question that is not there.
    """
    tools = {subject.tool.name: subject for subject in measured.subjects}
    parameters = dict.fromkeys(name for subject in tools.values() for name in _parameter_names(subject))
    open_places = {name: find_open_places(subject) for name, subject in tools.items()}
    catalog = _Catalog(tools=tools, parameters=parameters, groups=find_groups(measured), open_places=open_places)
    tool_names = {tool.name for tool in measured.catalog.tools}
    for trace in material.traces:
        _check_tool(trace.tool, tool_names, f"trace {trace.number}")
    for fact in material.facts:
        if fact.tool is not None:
            _check_tool(fact.tool, tool_names, fact.source)
    entries = list(_entries(material))
    stated = [_with_hint(fact) for fact in material.facts]
    placed = [fact for entry in entries for fact in _facts(*entry, catalog)]
    changing = {
        fact.tool for fact in (*placed, *stated) if fact.hint == QuestionTopic.READ_ONLY and fact.text == "false"
    }
    if changing:
        more = {name: find_open_places(tools[name], is_changing=True) for name in changing if name in tools}
        wider = {name: places | more.get(name, frozenset()) for name, places in open_places.items()}
        placed = [fact for entry in entries for fact in _facts(*entry, replace(catalog, open_places=wider))]
    own = {(fact.tool, fact.place) for fact in placed if not fact.is_shared}
    placed = [fact for fact in placed if not fact.is_shared or (fact.tool, fact.place) not in own]
    facts = check_answers((*placed, *stated), measured)
    return replace(material, facts=facts, answers={}, parameters={}, annotations={})


def _entries(material: Material) -> Iterator[tuple[str, str, str]]:
    """Yield what stands under other keys than the facts: its origin, its question's id, and its text."""
    yield from ((f"answer {key}", key, text) for key, text in material.answers.items())
    for tool, texts in material.parameters.items():
        yield from ((f"parameters {tool}.{name}", f"{tool}.{PARAMETERS}{name}", text) for name, text in texts.items())
    for tool, hints in material.annotations.items():
        for hint, value in hints.items():
            yield f"annotations {tool}.{hint}", f"{tool}.{ANNOTATIONS}{hint}", str(value).lower()


def _facts(origin: str, key: str, text: str, catalog: _Catalog) -> Iterator[Fact]:
    """An answer as facts about each tool that its question is about; of no tool where none leaves this open."""
    tool, place = _split(key, catalog, origin)
    # of several tools that share a question, those that leave its parameter or hint open
    group, open_places = catalog.groups.get(key, ()), catalog.open_places.items()
    tools: Sequence[str | None] = [name for name, places in open_places if name in group and place in places]
    for name in [tool] if tool in catalog.tools else tools or [None]:
        is_hint = place.startswith(ANNOTATIONS)
        fact = Fact(
            text=text.removeprefix(CONFIRMED).lstrip() if is_hint else text, tool=name, place=place, origin=origin
        )
        yield from _read_hint(fact) if fact.hint else [fact]


def _read_hint(fact: Fact) -> Iterator[Fact]:
    """The value of a hint, and what its author adds to it; an answer that gives no value stays as it is.

    What is said of several tools together is in no tool's description: "They only read" is no sentence there.
    """
    match = _PATTERNS.yes_no.match(fact.text)
    value = match[1].lower() in ("yes", "true") if match else dict(stated_hints(fact.text)).get(str(fact.hint))
    if value is None:
        yield fact
        return
    if match or fact.is_shared:
        yield replace(fact, text=str(value).lower())
    rest = fact.text[match.end() :] if match else fact.text
    if rest and not fact.is_shared:
        yield replace(fact, text=rest, place="")


def _split(key: str, catalog: _Catalog, origin: str) -> tuple[str, str]:
    """The tool and the place of a question's id. Raises InputError with the ids that are like it."""
    dots = [match.start() for match in re.finditer(r"\.", key)]
    ways = ((key[:dot], key[dot + 1 :]) for dot in reversed(dots))
    way = next(((tool, place) for tool, place in ways if tool in catalog.tools or tool.endswith(SHARED)), None)
    if way is None:
        tool = key[: dots[0]] if dots else key
        _check_tool(tool, catalog.tools, origin)
        raise InputError(f"{origin} of the material names a tool and nothing of it; give {tool}.purpose, for example")
    tool, place = way
    conflict = f"{QuestionTopic.CONFLICT}."
    if place.removeprefix(conflict) in HINTS:  # which value of a hint holds
        place = place.replace(conflict, ANNOTATIONS, 1)
    if place.startswith(conflict):
        raise InputError(f"{origin} of the material cannot choose a side: correct the entry or the definition instead")
    parameter = place.removeprefix(PARAMETERS)
    if place.startswith(PARAMETERS):
        subject = catalog.tools.get(tool)
        have = _parameter_names(subject) if subject else list(catalog.parameters)
        if parameter not in have:
            owner = f"{tool!r} lacks" if subject else "no tool has"
            near = _near(parameter, have)
            raise InputError(f"{origin} of the material is about a parameter that {owner}: {parameter!r}{near}")
    elif place not in _TEXT_PLACES and place.removeprefix(ANNOTATIONS) not in HINTS:
        places = [*sorted(map(str, _TEXT_PLACES)), "parameters.NAME", *(f"{ANNOTATIONS}{hint}" for hint in HINTS)]
        raise InputError(f"{origin} of the material answers no question: {place!r}{_near(place, places)}")
    return tool, place


def _check_tool(name: str, names: Collection[str], origin: str) -> None:
    """Raises InputError for an unknown tool, whose material would be dropped silently."""
    if name not in names:
        near = _near(name, list(names))
        raise InputError(f"{origin} of the material is about a tool {name!r} that is not there{near}")


def _near(name: str, names: Sequence[str]) -> str:
    """The names most like one that is not there; some of them where none is like it."""
    close = get_close_matches(name, names, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else f"; the catalog has {some_names(names)}"


def _parameter_names(subject: Subject) -> list[str]:
    return [parameter.name for parameter in subject.signals.parameters]


def _with_hint(fact: Fact) -> Fact:
    """A fact that is no more than a hint's value as that hint; any other as it is."""
    hint = _HINT.fullmatch(fact.text) if fact.tool is not None else None
    if hint is None:
        return fact
    name = next(name for name in HINTS if name.lower() == hint[1].lower())
    return replace(fact, place=f"{ANNOTATIONS}{name}", text=hint[2].lower())


CONFIRMED = "!"
"""Beginning of an answer that its author has confirmed."""

MAX_SAME_ANSWERS = 2
"""Questions about different things that the same words may answer; a parameter of the same name is one thing."""

MAX_COUNTED = 10
"""Words of an answer up to which their number tells something."""


def check_answers(facts: Sequence[Fact], measured: Measured) -> tuple[Fact, ...]:
    """Return the facts, each answer with the doubt for which it is asked again; one that is confirmed has none."""
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
    doubts = {}
    for place, fact in enumerate(entries):
        if _is_answer(fact) and (subject := subjects.get(fact.tool or "")):
            reasons = _doubts(fact, subject, measured, len(crowds[plain_text(fact.text)]))
            about = f"`{fact.parameter}` of `{fact.tool}`" if fact.parameter else f"`{fact.tool}`"
            doubt = next(reasons, None)
            if doubt is None and _is_empty(fact, subject):
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
    texts = [("/description", fact.text)]
    strange = unknown_words(texts, subject.part_names)
    absent = [mention.name for mention in unknown_parameters(strange, texts, subject.part_names, measured.vocabulary)]
    absent += [] if fact.place == QuestionTopic.RETURNS else _strange_names(strange, fact, measured)
    yield from (f"`{subject.tool.name}` has no parameter {name!r}" for name in absent)


def _strange_names(strange: Sequence[UnknownWord], fact: Fact, measured: Measured) -> Iterator[str]:
    """Yield names in backticks, spelled as parameters are, that no definition has: "Pass `message_ts`"."""
    texts = [text for subject in measured.subjects for _, text in subject.texts]
    parts = frozenset().union(*({subject.tool.name, *subject.part_names} for subject in measured.subjects))
    for token in (word.token for word in strange if f"`{word.token.name}`" in fact.text):
        is_compound = len(name_parts(token.name)) > 1 and words_of(token.name) == [token.name.lower()]
        if is_compound and token.name not in parts and not any(token.name in text for text in texts):
            yield token.name


def _is_empty(fact: Fact, subject: Subject) -> bool:
    """Return whether the words of an answer are those of people who do not answer.

    A logistic regression that calibration/answer_fit.py has fitted tells so, for English without a word of the
    definition; a false alarm costs the author one confirmation.
    """
    if is_placeholder(fact.text, fact.parameter or ""):
        return True
    table = read_table("answers")
    weights: Mapping[str, int] = table["weights"]
    spoken = (word for _, text in subject.texts for word in words_of(text))
    own = content_stems(part for word in (*subject.part_names, *spoken) for part in (word.lower(), *name_parts(word)))
    words = content_stems(part for word in words_of(fact.text) for part in (word.lower(), *name_parts(word)))
    is_own = any(weights.get(word, 0) <= 0 for word in words & own) or mentioned_siblings(
        subject.tool, words_of(fact.text), subject.siblings
    )
    reached = table["base"] + sum(weights.get(trait, 0) for trait in traits(fact.text))
    return fact.text.isascii() and not is_own and reached >= 0


def traits(text: str) -> frozenset[str]:
    """Return the stems of an answer, its first one apart, how many words it has, and signs of something particular."""
    words = words_of(text)
    stems = [stem(word.lower()) for word in words]
    signs = {
        f"*words {min(len(words), MAX_COUNTED)}": True,
        f"first {stems[0]}" if stems else "": bool(stems),
        "*number": any(char.isdigit() for char in text),
        "*code": "`" in text or "_" in text,
        "*acronym": any(len(word) > 1 and word.isupper() for word in text.split()),
    }
    return frozenset(stems).union(sign for sign, is_there in signs.items() if is_there)


WHOLE_SERVER = "it is true of the whole server: say it once, in its instructions"
"""Why an answer about all tools is in no tool's definition."""

TOLD = "the definition says it already"
"""Why a statement that an earlier run has added is not added again."""

MAX_CALL = 120
"""Characters of a call that a description carries as its example."""

MIN_QUOTED = 3
"""Words of an answer that stand in a description only because an earlier run has put them there."""

MAX_LIMITATIONS = 3
"""Sentences that recorded calls add to a description."""

_ORDER = (QuestionTopic.RETURNS, QuestionTopic.LIMIT, QuestionTopic.BEHAVIOR, "", QuestionTopic.USAGE)
"""Places in the order in which a description tells of them."""

_CLAUSES = frozenset({QuestionTopic.PURPOSE, QuestionTopic.USAGE, QuestionTopic.BEHAVIOR})
"""What no single word answers."""


def material_statements(
    subject: Subject, material: Material, *, disproven: Container[str] = ()
) -> tuple[Statement, ...]:
    """Return what the material says of a tool: the author's words, whatever a judge says, then what calls show.

    Words of a `disproven` source stand too, but set no hint.
    """
    facts = [fact for fact in material.facts if not find_objection(fact, subject)]
    purpose, example = _purpose(subject, facts), _example(subject, material)
    return (
        *([purpose] if purpose else []),
        *_sentences(subject, facts),
        *_parameters(subject, facts),
        *_hints(subject, [fact for fact in material.facts if fact.hint or fact.source not in disproven]),
        *_limitations(subject, material),
        *([example] if example else []),
    )


_GENERAL = {"": "a fact of every tool is said of none; it only supports other words", QuestionTopic.LIMIT: WHOLE_SERVER}
"""Why what is said of no tool in particular stands nowhere, by its place."""


def find_objection(fact: Fact, subject: Subject) -> str | None:  # noqa: PLR0911  # one line a reason
    """Why a fact is not said of a tool."""
    if fact.tool != subject.tool.name:
        return _GENERAL.get(fact.place, "no definition leaves this open")
    if threats := find_threats({"description": fact.text}):
        return f"its text {threats[0].kind}"
    if not fact.is_confirmed and (praised := find_praise(fact.text)):
        return f"{praised!r} praises and tells nothing"
    if fact.hint:
        return _hint_objection(fact, subject)
    if fact.parameter:
        if fact.doubt:
            return fact.doubt
        schema = arguments.properties(subject.tool).get(fact.parameter)
        description = schema.get("description") if isinstance(schema, Mapping) else None
        if not isinstance(schema, Mapping):
            return "the parameter's schema has no place for a description"
        forms = (plain_text(fact.text), plain_text(to_sentence(fact.text, subject)))
        return TOLD if isinstance(description, str) and any(form in plain_text(description) for form in forms) else None
    is_clause = fact.place in _CLAUSES or not any(map(str.isalpha, fact.text))
    is_short = is_clause and fact.text.isascii() and len(words_of(_form(fact, subject))) < 2
    is_empty = not fact.place and fact.text.isascii() and not content_stems(words_of(fact.text))
    if not fact.is_confirmed and (_PATTERNS.reply.fullmatch(fact.text) or is_short or is_empty):
        return "it tells nothing by itself; answer in a sentence"
    if fact.doubt:
        return fact.doubt
    description, bare = plain_text(" ".join(subject.prose.sentences)), plain_text(fact.text)
    is_quoted = bare in description and len(bare.split()) >= MIN_QUOTED
    is_said = (
        is_quoted or plain_text(_form(fact, subject)) in description or bare in map(plain_text, subject.prose.sentences)
    )
    return TOLD if is_said or (not fact.place and is_told(fact.text, subject)) else None


def _hint_objection(fact: Fact, subject: Subject) -> str | None:
    if not subject.tool.is_mcp:
        return "this format has no annotations"
    if fact.text not in ("true", "false"):
        return "answer with yes or no"
    is_set = (subject.tool.annotations or {}).get(fact.hint or "") is (fact.text == "true")
    return TOLD if is_set else None


def is_told(text: str, subject: Subject) -> bool:
    """A sentence of the description has all words of a text and denies the same."""
    words, denied = content_stems(words_of(text)), read_polarity(text).denied
    sentences = subject.prose.sentences
    polarities = ((content_stems(words_of(sentence)), read_polarity(sentence).denied) for sentence in sentences)
    return bool(words) and any(words <= stems and denied == turned for stems, turned in polarities)


def _route(fact: Fact) -> Route:
    return Route.ANSWER if fact.origin.startswith("answer ") else Route.FACT


def _purpose(subject: Subject, facts: Sequence[Fact]) -> Statement | None:
    """The author's first sentence, for one that only restates the name or has no verb that tells; else before it."""
    fact = next((fact for fact in facts if fact.place == QuestionTopic.PURPOSE), None)
    if fact is None:
        return None
    sentence, missing = (
        to_sentence(fact.text[lead_in_length(fact.text) :], subject),
        subject.signals.is_missing_description,
    )
    statement = add_sentence(sentence if missing else "", _route(fact), [fact.source])
    if missing:
        return statement
    first = subject.prose.sentences[0]
    start = (subject.tool.description or "").index(first)
    is_kept = not cues_of(words_of(first)).isdisjoint(WARNING_CUES) or bool(read_polarity(first).denied)
    end, text = (start, f"{sentence} ") if is_kept else (start + len(first), sentence)
    return replace(statement, splices=(TextEdit(start=start, end=end, text=text),))


def _sentences(subject: Subject, facts: Sequence[Fact]) -> Iterator[Statement]:
    """A sentence for each answer and fact about the tool, in the order in which a description tells of them."""
    for place in _ORDER:
        for fact in facts:
            if fact.place == place:
                yield add_sentence(_form(fact, subject), _route(fact), [fact.source])


def _form(fact: Fact, subject: Subject) -> str:
    """A fact or an answer about the whole tool as a sentence; a bare answer in English gets what its question says."""
    is_bare = fact.place in _FORMS and can_continue_in_english(subject) and fact.text.isascii()
    is_bare = is_bare and not (fact.is_shared and fact.place == QuestionTopic.USAGE)  # it speaks of several tools
    return to_sentence(_FORMS[QuestionTopic(fact.place)](fact.text) if is_bare else fact.text, subject)


def _say_return(text: str) -> str:
    """A thing is what a call returns; a whole sentence stays."""
    text = _PATTERNS.returns.sub("", text, count=1)
    words = words_of(_PATTERNS.end.split(text, 1)[0])
    end = next((place for place, word in enumerate(words) if word in words_from("rewriting", "relatives")), len(words))
    is_whole = not words or words[0] in PREPOSITIONS | words_from("rewriting", "pronouns") or _is_verb(words)
    if is_whole or not words_from("rewriting", "finite").isdisjoint(words[1:end]):
        return text
    return f"Returns {_continued(text)}"


def _is_verb(words: Sequence[str]) -> bool:
    """The first word is a verb in the third person: "prints the path", not "prints of a page"."""
    is_before_object = bool(words[1:]) and words[1] in words_from("hints", "determiners") | {"and"}
    return words[0].startswith("return") or (words[0] in LEMMAS and words[0].endswith("s") and is_before_object)


def _say_usage(text: str) -> str:
    """A condition is when to use the tool; a whole sentence stays."""
    is_condition = not words_from("rewriting", "conditions").isdisjoint(words_of(text)[:1])
    is_whole = _PATTERNS.choice.search(_PATTERNS.end.split(text, 1)[0])
    return f"Use it {_continued(text)}" if is_condition and not is_whole else text


def _say_behavior(text: str) -> str:
    """Without the yes or no that it begins with; nothing is what a call changes."""
    if text.lower().rstrip(".") == "nothing":
        return "It changes nothing"
    match = _PATTERNS.reply.match(text)
    return text[match.end() :] if match and match.end() < len(text) else text


_FORMS = {
    QuestionTopic.RETURNS: _say_return,
    QuestionTopic.USAGE: _say_usage,
    QuestionTopic.BEHAVIOR: _say_behavior,
}
"""How a bare answer becomes a sentence."""


def _continued(text: str) -> str:
    """The text behind other words: a common first word in small letters."""
    first = text.split(" ", 1)[0]
    is_common = first.lower() in STOPWORDS | words_from("rewriting", "conditions") or is_negation(first.lower())
    return f"{text[:1].lower()}{text[1:]}" if is_common else text


def to_sentence(text: str, subject: Subject) -> str:
    """The author's words as a sentence: a capital, a full stop, and names in their own case."""
    sentence = (text if "\n" in text.strip() else " ".join(text.split())).strip().removeprefix("- ").rstrip(" ,;:")
    first = sentence.split(" ", 1)[0].rstrip(",:.")
    names = {parameter.name for parameter in subject.signals.parameters} | set(subject.siblings.values())
    if first in names and not first.isalpha():
        sentence = f"`{first}`{sentence[len(first) :]}"
    elif first.isalpha() and first.islower():
        sentence = sentence[:1].upper() + sentence[1:]
    stop = "。" if sentence[-1:] >= CJK else "."
    return sentence if sentence.endswith((*".!?…。", '."', ".)")) else f"{sentence}{stop}"


def _parameters(subject: Subject, facts: Sequence[Fact]) -> Iterator[Statement]:
    """The descriptions of parameters: the author's words for one that says nothing, after one that says something."""
    properties = arguments.properties(subject.tool)
    for name in dict.fromkeys(fact.parameter for fact in facts if fact.parameter):
        own = [fact for fact in facts if fact.parameter == name]
        old = properties[name].get("description")
        rest = (
            [old.rstrip()] if isinstance(old, str) and old.strip() and name not in find_open_parameters(subject) else []
        )
        sentences = [to_sentence(fact.text, subject) for fact in own]
        rest = [to_sentence(text, subject) for text in rest if plain_text(text) not in plain_text(" ".join(sentences))]
        path = f"{arguments.property_pointer(name)}/description"
        value = " ".join(dict.fromkeys((*rest, *sentences)))
        yield set_value(path, value, _route(own[0]), [fact.source for fact in own])


def _hints(subject: Subject, facts: Sequence[Fact]) -> Iterator[Statement]:
    """The hints that the author states, of two values the first, all of them at once: each is a part of one object."""
    annotations = subject.tool.raw.get("annotations")
    present: Mapping[str, Any] = annotations if isinstance(annotations, Mapping) else {}
    own = [fact for fact in facts if fact.tool == subject.tool.name]
    stated = {hint: (value, fact.source) for fact in reversed(own) for hint, value in _stated(fact)}
    new = {name: stated[name][0] for name in HINTS if name in stated and name not in present}
    if new and subject.tool.is_mcp and (annotations is None or isinstance(annotations, Mapping)):
        hint_fact = next((fact for fact in own if fact.hint in new), None)
        route, sources = _route(hint_fact) if hint_fact else Route.FACT, [stated[name][1] for name in new]
        yield set_value("/annotations", {**present, **new}, route, sources)


def _stated(fact: Fact) -> Sequence[tuple[str, bool]]:
    """The hints that a fact states."""
    if fact.hint:
        return [(fact.hint, fact.text == "true")] if fact.text in ("true", "false") else []
    return () if fact.parameter else stated_hints(fact.text)


def trace_statement(trace: Trace) -> Statement | None:
    """Return what a recorded call shows: that a call can fail so, or give nothing; else None."""
    sentence = _failure(trace) if trace.outcome is CallOutcome.ERROR else None
    if trace.outcome is CallOutcome.EMPTY:
        sentence = f"May return an empty {'list' if trace.answer.strip() == '[]' else 'result'}."
    return add_sentence(sentence, Route.FAILURE, [f"trace {trace.number}"]) if sentence else None


def _limitations(subject: Subject, material: Material) -> tuple[Statement, ...]:
    """No more than a few, and each of them once."""
    if not can_continue_in_english(subject):
        return ()
    by_sentence = {
        statement.sentence: statement for trace in reversed(material.traces) if (statement := trace_statement(trace))
    }
    new = (statement for sentence, statement in reversed(by_sentence.items()) if not is_told(sentence, subject))
    return tuple(islice(new, MAX_LIMITATIONS))


def _failure(trace: Trace) -> str | None:
    """The error in its own words, where they are few, plain, and none of them is a value of this very call."""
    message = " ".join(trace.answer.split()).rstrip(".")
    words = set(words_of(message))
    is_private = any(words.intersection(words_of(str(value))) for value in trace.arguments.values())
    is_shown = is_plain_value(message) and redact(message) == message
    return f"Can fail with `{message}`." if message and is_shown and not is_private else None


def _example(subject: Subject, material: Material) -> Statement | None:
    """The shortest real call that succeeded, where the description has no example and the call may be shown."""
    if "example" in subject.prose.words or not can_continue_in_english(subject):
        return None
    calls = [trace for trace in material.traces if trace.outcome is CallOutcome.SUCCESS and trace.arguments]
    showable = [trace for trace in calls if is_showable(trace.arguments, subject.tool)]
    examples = [(json.dumps(trace.arguments, ensure_ascii=False), trace.number) for trace in showable]
    _, call, number = min(((len(call), call, number) for call, number in examples), default=(0, "", 0))
    if not 0 < len(call) <= MAX_CALL:
        return None
    return add_sentence(f"Example: `{call}`.", Route.EXAMPLE, [f"trace {number}"])
