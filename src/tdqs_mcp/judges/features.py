"""The offline judge's view of a subject: small integers by name, each with the words of the definition it rests on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.sentences import FUNCTION_STEMS, NEW_WORDS, Mark, Sentence, Text, generic_stems, read_text
from tdqs_mcp.facts.text.vocabulary import Cue, Effect, PatternTable, lazy_pattern
from tdqs_mcp.facts.toolset.relations import ToolSet

SHARE = "/"
"""Ends the name of what one passage gives of a feature."""

CONTEXT = "|"
"""Joins a feature and the feature that has to be there for it to count: `explained|is_covered`."""

WELL_COVERED = 80
"""Percent of described parameters above which the schema does the work (TDQS, Parameter Semantics)."""

BARELY_COVERED = 50
"""Percent below which the description has to make up for it (TDQS, Parameter Semantics)."""

_PATTERNS = PatternTable("wording")

TINY = 5
"""Words below which a text is hardly one."""

_NUMBER = lazy_pattern(r"\d+")
_NO_IDENTIFIERS = frozenset("the this each every optional required which input single".split())

_CONSTRAINTS = frozenset("format pattern minimum maximum minLength maxLength minItems default".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a description adds."""

    counts: Mapping[str, int]
    """Counts of distinct words, sentences, marks or top-level parameters, by the judge's name for each."""

    passages: Mapping[str, Sentence]
    """For counts that rest on one sentence more than on others: that sentence."""


def read_content(subject: Subject) -> Content:
    """What the text adds; linear in its length. What speaks for it is counted in the sentences that tell something."""
    text = read_text(subject)
    return Content(
        counts={
            **_gain(text),
            **_cues(text, subject.prose),
            **_details(text),
            **_style(text, subject),
            **_parameter_texts(text, subject),
        },
        passages=_passages(text),
    )


def _gain(text: Text) -> dict[str, int]:
    """What the sentences that tell something add, in words that name and title do not have."""
    telling, outside = text.telling, text.outside
    words = sum(len(each.words) for each in telling)
    return {
        "told": sum(len(each.fresh) for each in telling),
        # Outside parameter lists, and in no parameter's name or description.
        "beyond": sum(len(each.added) for each in outside),
        "lead": len(telling[0].fresh) if telling else 0,
        "later": sum(len(each.fresh) for each in telling[1:]),
        "statements": sum(len(each.added) >= NEW_WORDS for each in outside),
        # Of sentences that say when to use the tool, when not, what instead or what first.
        "usage": sum(len(each.fresh) for each in outside if each.is_usage),
        # Other sentences after the first that set a condition or a limit, or say what happens by itself.
        "behaviour": sum(each.is_behavior and bool(each.fresh) for each in outside),
        # Of the sentence that says most about what comes back.
        "returned": max((len(each.fresh) for each in telling if each.is_return), default=0),
        "tiny": int(words < TINY),
        "sentence_words": words // max(1, len(telling)),
        "restates": int(bool(text.told) and not text.told - FUNCTION_STEMS - text.own),
    }


def _cues(text: Text, prose: Prose) -> dict[str, int]:
    """Sentences that tell something and give the cue."""
    every = text.everything
    told = {cue: [every[place] for place in prose.cue_places.get(cue, ()) if every[place].tells] for cue in Cue}
    return {cue: len({each.text for each in found}) for cue, found in told.items() if cue is not Cue.FILLER}


def _details(text: Text) -> dict[str, int]:
    """What the description is precise about: different words of each mark, numbers, quotations, parentheses."""
    marks = {mark: len({word for each in text.outside for word in each.marks.get(mark, ())}) for mark in Mark}
    return {
        "conditions": marks[Mark.CONDITION],
        "limits": marks[Mark.LIMIT],
        "mechanics": marks[Mark.MECHANICS],
        "means": marks[Mark.MEANS],
        "inclusions": marks[Mark.INCLUSION],
        "units": marks[Mark.UNIT],
        "numbers": len({number for each in text.outside for number in _NUMBER.findall(each.text)}),
        "quotations": len({word for each in text.telling for word in _PATTERNS.quoted.findall(each.text)}),
        "asides": sum("(" in each.text for each in text.outside),
    }


def _style(text: Text, subject: Subject) -> dict[str, int]:
    """How it is put, in all sentences: generic, repeated, shouted, generated."""
    every = [word for each in text.everything for word in each.words]
    first = text.telling[0].text if text.telling else ""
    sentences = subject.prose.sentences
    identifiers = {word.lower() for each in sentences for words in _PATTERNS.identifier.findall(each) for word in words}
    return {
        "lines": (subject.tool.description or "").strip().count("\n"),
        # Percent of the name's words that stand in the text; where few do, it may be about something else.
        "name_told": 100 * len(text.own & text.told) // max(1, len(text.own)),
        "generic": len((text.said - FUNCTION_STEMS) & generic_stems()),
        "said_again": len(every) - len(set(every)),
        "addressed": sum(word in ("you", "your") for word in every),
        "shouted": len(_PATTERNS.shout.findall(" ".join(sentences))),
        # Identifiers that are neither a property nor a tool of the server.
        "unknown": len(identifiers - {""} - _NO_IDENTIFIERS - text.properties - subject.names),
        "generated": int(_PATTERNS.generated.search(first) is not None),
        "as_tool": int(_PATTERNS.as_tool.match(first) is not None),
    }


def _parameter_texts(text: Text, subject: Subject) -> dict[str, int]:
    """What text and schema say of the top-level parameters."""
    told, names, idle = text.told, text.names, generic_stems() | FUNCTION_STEMS | text.own
    listed = {each.entry for each in text.entries}
    properties = (subject.tool.input_schema or {}).get("properties")
    children = properties.values() if isinstance(properties, Mapping) else ()
    schemas = [child for child in children if isinstance(child, Mapping)]
    bare = [each.name for each in subject.signals.parameters if not each.description.strip()]
    schema_words = [len(text.described[name] - idle - words) for name, words in names.items()]
    return {
        # Content words of parameter lists in the text that the schema does not have.
        "explained": len(frozenset().union(*(each.added for each in text.entries))),
        "listed": sum(name.lower() in listed for name in names),
        "named": sum(name.lower() in told or (bool(words) and words <= told) for name, words in names.items()),
        "partly_named": sum(not words.isdisjoint(told) for words in names.values()),
        # Without a description and without a word of their name in the text.
        "untold": sum(names[name].isdisjoint(told) for name in bare),
        # Content words of a parameter's description that its name does not have, on average.
        "described_words": sum(schema_words) // max(1, len(schema_words)),
        "structures": sum(
            each.get("type") in ("object", "array") or "anyOf" in each or "$ref" in each for each in schemas
        ),
        "constrained": sum(not _CONSTRAINTS.isdisjoint(schema) for schema in schemas),
    }


def _passages(text: Text) -> dict[str, Sentence]:
    found = {
        "lead": text.telling[0] if text.telling else None,
        "later": _fullest(text.telling[1:]),
        "usage": _fullest(each for each in text.outside if each.is_usage),
        "behaviour": _fullest(each for each in text.outside if each.is_behavior),
        "returned": _fullest(each for each in text.telling if each.is_return),
        "explained": _fullest(text.entries),
    }
    return {key: each for key, each in found.items() if each is not None}


def _fullest(sentences: Iterable[Sentence]) -> Sentence | None:
    best = max(sentences, key=lambda each: len(each.fresh), default=None)
    return best if best and best.fresh else None


def of_tool(subject: Subject, content: Content) -> dict[str, int]:
    """Every feature of a tool that a scorecard may name."""
    passages, prose, signals = content.passages, subject.prose, subject.signals
    return {
        **content.counts,
        **{
            f"{name}{SHARE}": len(passages[_PASSAGES[name]].fresh) if _PASSAGES[name] in passages else 0
            for name in _SHARED
        },
        "opens_with_verb": int(prose.opens_with_verb),
        "vague_verb": int(prose.has_vague_verb),
        "only_name": int(prose.is_only_name),
        "copied": prose.copied_words,
        "repeated": prose.repeated_sentences,
        "words": prose.word_count,
        "sentences": len(prose.sentences),
        "filler": len(prose.cue_places.get(Cue.FILLER, ())),
        **_parameters(subject, content.counts),
        **_effects(subject),
        "title": int(signals.title_is_meaningful),
        "hints": int(signals.has_hints),
        "hint_count": signals.hint_count,
        "read_only": int(signals.read_only is True),
        "output_schema": int(signals.has_output_schema),
        "mentions": len(subject.mentions),
        "redirect": int(subject.redirect is not None),
        "siblings": subject.sibling_count,
    }


def _parameters(subject: Subject, counts: Mapping[str, int]) -> dict[str, int]:
    signals, count = subject.signals, subject.signals.param_count
    return {
        "listed": _tenths(counts["listed"], count, none=0),
        "partly_named": _tenths(counts["partly_named"], count, none=10),
        "named": _tenths(counts["named"], count, none=10),
        "explained_parameters": _tenths(subject.prose.explained_parameters, count, none=10),
        "no_parameters": int(count == 0),
        "parameters": count,
        "required": signals.required_param_count,
        "call_cost": signals.subtree.invocation_cost,
        "is_covered": int(signals.coverage > WELL_COVERED),
        "is_bare": int(signals.coverage < BARELY_COVERED),
        "undescribed": count - signals.params_with_descriptions,
        "enums": signals.params_with_enums,
    }


def _tenths(part: int, count: int, *, none: int) -> int:
    return 10 * part // count if count else none


def _effects(subject: Subject) -> dict[str, int]:
    prose, signals = subject.prose, subject.signals
    effect = prose.name_effect or prose.effect
    is_mutating = effect is not None and effect.is_mutating
    hints_change = signals.destructive is True or signals.read_only is False
    return {
        "contradiction": int(prose.contradiction is not None),
        "mutates": int(is_mutating),
        "unhinted_mutation": int(is_mutating and not signals.has_hints),
        "odd_hint": int(prose.name_effect is Effect.READ and hints_change),
        "deletes": int(effect is Effect.DELETE),
        "reads": int(effect is Effect.READ),
        "produces": int(effect is Effect.PRODUCE),
        "acts": int(effect is Effect.ACT),
    }


def of_set(tools: ToolSet) -> dict[str, int]:
    """Every coherence feature that the scorecards may name; shares are percent of the tools."""
    count = max(1, tools.tool_count)

    def share(names: tuple[str, ...]) -> int:
        return 100 * len(names) // count

    return {
        "tools": tools.tool_count,
        "off_style": share(tools.off_style),
        "off_pattern": share(tools.off_pattern),
        "one_word": share(tools.one_word),
        "uneven": tools.uneven,
        "synonyms": len(tools.synonyms),
        "alike": share(tools.alike),
        "overlapping": len(tools.overlapping),
        "same_kind": share(tools.same_kind),
        "vague": share(tools.vague),
        "gaps": len(tools.gaps),
        "lifecycles": len(tools.complete),
        "actions": tools.actions,
        "effects": tools.effects,
    }


def is_relevant(name: str, subject: Subject) -> bool:
    """Whether an absence is worth a word: a read-only tool destroys nothing, a lone tool has no sibling."""
    if name in ("destruction", "side effect"):
        return subject.signals.read_only is not True and subject.prose.effect is not Effect.READ
    return name not in ("mentions", "redirect", "alternative") or subject.sibling_count > 0


def quotes(name: str, subject: Subject, content: Content) -> tuple[str, ...]:
    """The words of the definition behind a tool feature; none where it is counted, not quoted."""
    found: str | None = None
    if name in _CUES:
        found = subject.prose.cues.get(_CUES[name])
    elif name in _PASSAGES:
        passage = content.passages.get(_PASSAGES[name])
        found = passage.text if passage else None
    elif name == "redirect":
        found = subject.redirect
    elif name == "mentions":
        found = next(iter(subject.mentions), None)
    return (found,) if found else ()


def names_behind(name: str, tools: ToolSet) -> tuple[str, ...]:
    """The tools or words behind a coherence feature."""
    names = {
        "off_style": tools.off_style,
        "off_pattern": tools.off_pattern,
        "synonyms": tools.synonyms,
        "one_word": tools.one_word,
        "alike": tools.alike,
        "overlapping": tools.overlapping,
        "same_kind": tools.same_kind,
        "vague": tools.vague,
        "gaps": tools.gaps,
        "lifecycles": tools.complete,
    }
    return names.get(name, ())


_CUES: Mapping[str, Cue] = {cue.value: cue for cue in Cue}
_SHARED = ("told", "later", "beyond", "usage", "returned", "explained")
"""Features of which one passage may give the most."""

_FEATURES_OF = {
    "lead": "lead opens_with_verb vague_verb restates only_name tiny generated as_tool",
    "later": "told later beyond statements",
    "usage": "usage",
    "behaviour": "behaviour",
    "returned": "returned",
    "explained": "explained listed",
}
_PASSAGES = {feature: passage for passage, features in _FEATURES_OF.items() for feature in features.split()}
