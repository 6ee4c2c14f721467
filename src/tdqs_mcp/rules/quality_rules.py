"""Lane 1, what the definition says: the hard gates of TDQS and the items of its checklist."""

from collections.abc import Iterator
from functools import partial

from tdqs_mcp.facts.lexicon import words_from
from tdqs_mcp.facts.spelling import first_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text import parameter_texts
from tdqs_mcp.facts.text.effects import (
    clearing_gap,
    loses_data,
    runs_anything,
    several_at_once,
    silent_lists,
    silent_target,
)
from tdqs_mcp.facts.text.foreign_prose import LANGUAGE_NAMES
from tdqs_mcp.facts.text.open_values import cut_results, vague_result
from tdqs_mcp.facts.text.parameter_texts import (
    evident_names,
    type_beside_null,
)
from tdqs_mcp.facts.text.prose import find_parameters, is_latin, lead_in_length
from tdqs_mcp.facts.text.words import Cue, Effect
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.linter_rules import (
    absent_annotations,
    absent_output_schema,
    restated_label,
    spelled_name,
    unstated_usage,
    verbatim_name,
)
from tdqs_mcp.rules.rule import MAX_NAMED, Hit, Rule, rule

_words = partial(words_from, "hints")
COPIED_WORDS = 12
"""Repeated words from which cutting them is worth a finding: about one sentence."""


@rule(
    "TDQ101",
    severity=Severity.ERROR,
    dimension="purpose_clarity",
    source="TDQS, hard gates",
    entails=("TDQ113", "TDQ141"),
    variants=(verbatim_name, spelled_name, restated_label),
)
def restated_name(subject: Subject) -> Iterator[Hit]:
    """The description only restates the tool's name."""
    if subject.prose.is_only_name:
        yield Hit(
            "/description",
            f"the description only restates the name {subject.tool.name!r}",
            "say verb, resource and scope in one sentence, and how the tool differs from its siblings",
        )


@rule(
    "TDQ102",
    aliases=("no-description", "tool-no-description"),
    severity=Severity.ERROR,
    dimension="purpose_clarity",
    source="TDQS, hard gates",
    entails=("TDQ113", "TDQ120"),
)
def missing_description(subject: Subject) -> Iterator[Hit]:
    """The tool has no description: every dimension scores 1."""
    if subject.signals.is_missing_description:
        yield Hit(
            "/description",
            "the tool has no description, so every dimension scores 1",
            "write one sentence with verb, resource and scope",
        )


@rule(
    "TDQ103",
    aliases=("smell:unclear-purpose",),
    severity=Severity.INFO,
    persona=Persona.AUDITOR,
    confidence=Confidence.MEDIUM,
    dimension="purpose_clarity",
    source="TDQS, checklist 1",
    needs_language=True,
)
def vague_purpose(subject: Subject) -> Iterator[Hit]:
    """The description has no word beyond those of the name, so it tells an agent nothing more than the name does."""
    prose = subject.prose
    if subject.signals.is_missing_description or subject.signals.restates_name or prose.is_only_name:
        return
    if prose.restates_loosely:
        yield Hit(
            "/description",
            f"the description says nothing beyond the name {subject.tool.name!r}",
            "name the verb, the resource and the scope: which things, from where, under which condition",
            shared="have a description that says nothing beyond the name",
        )


@rule(
    "TDQ104",
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    dimension="usage_guidelines",
    source="TDQS, checklist 2",
    needs_language=True,
    entails=("TDQ105",),
    variants=(unstated_usage,),
)
def missing_usage(measured: Measured) -> Iterator[Hit]:
    """Another tool does the same to the same kind of thing, and the description does not say when to use which."""
    for subject in measured.subjects if measured.rivals else ():
        rivals = measured.rivals.get(subject.tool.name)
        if rivals and subject.prose.is_readable and not subject.tells_usage(rivals):
            yield Hit(
                "/description",
                f"the description does not say when to use the tool and when {first_of(list(map(repr, rivals)), 2)}",
                "say for which requests each of them is right",
                part=subject.tool,
            )


@rule(
    "TDQ105",
    severity=Severity.INFO,
    persona=Persona.AUDITOR,
    confidence=Confidence.MEDIUM,
    dimension="usage_guidelines",
    source="TDQS, checklist 1",
)
def unnamed_alternative(subject: Subject) -> Iterator[Hit]:
    """The tool has siblings, and its description names none of them."""
    if not subject.signals.is_missing_description and subject.sibling_count and not subject.mentions:
        several = f"the description names none of the tool's {subject.sibling_count} siblings"
        yield Hit(
            "/description",
            several if subject.sibling_count > 1 else "the description does not name the tool's only sibling",
            "name the nearest sibling and say which of the two fits when",
        )


@rule(
    "TDQ106",
    aliases=("missing-annotations",),
    severity=Severity.INFO,
    dimension="behavioral_transparency",
    source="TDQS, checklist 3",
    entails=("TDQ242",),
    variants=(absent_annotations,),
)
def missing_annotations(subject: Subject) -> Iterator[Hit]:
    """The tool declares none of the four hints."""
    if not subject.signals.has_hints:
        effect = subject.prose.effect or subject.prose.name_effect
        is_change = effect is not None and effect.is_mutating
        fix = "declare readOnlyHint: true for those that only read; clients may ask before each call without it"
        yield Hit(
            "/annotations",
            "none of the four hints is declared",
            "declare destructiveHint; clients take true without it" if is_change else fix,
            shared="change something and declare no hint" if is_change else "declare no hint",
        )


@rule(
    "TDQ107",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    dimension="behavioral_transparency",
    source="TDQS, checklist 3",
    needs_language=True,
    entails=("TDQ106",),
    weighs=("/annotations",),
)
def undisclosed_effect(subject: Subject) -> Iterator[Hit]:
    """A tool deletes or changes data, alone or in bulk, and neither a text nor a hint says what is lost or fails."""
    prose = subject.prose
    is_hinted = "destructiveHint" in (subject.tool.annotations or {})
    # "Find `order_id` with `list_orders`." tells nothing of an effect
    own = [prose.spoken[place] for place in subject.own_places]
    is_bare = len(own) == 1 and len(own[0]) <= MAX_BARE_WORDS
    is_silent = prose.effect is prose.name_effect and not is_hinted and is_bare and subject.is_effect_open
    is_partial = prose.verb in _words("editing") and any(
        not node.is_required or node.schema.get("type") not in WHOLE_TYPES for node in subject.input_shape.tops
    )
    remarks = (remark for remark in subject.remarks if remark.node.is_top)
    is_unkept = is_partial and all(_words("keeping").isdisjoint(remark.words) for remark in remarks)
    if is_silent and (is_unkept or loses_data(prose, subject.input_shape)):
        lost = "what happens to values that are left out" if is_partial else "whether it can be undone"
        yield Hit(
            "/description",
            f"{prose.verb!r} changes existing data, and neither the description nor destructiveHint says what is lost",
            f"say {lost}, and declare destructiveHint",
            None if is_partial else Severity.INFO,
        )
    elif prose.effect and (things := several_at_once(subject.tool, prose, subject.input_shape, subject.remarks)):
        problem = (
            f"{prose.verb!r} takes several {things} at once, and nothing says what a call does if one of them fails"
        )
        yield Hit("/description", problem, OUTCOMES[prose.effect], Severity.INFO)
    if lists := list(silent_lists(prose, subject.input_shape, subject.remarks)):
        problem = f"nothing says whether the new {first_of(list(map(repr, lists)), MAX_NAMED)} replace what is there"
        yield Hit("/inputSchema/properties", problem, "say whether a list replaces the old one or is added to it")
    if part := clearing_gap(prose, subject.input_shape, subject.remarks):
        problem = f"nothing says how to clear a value such as {part!r}; null may as well leave it as it is"
        yield Hit("/description", problem, "say what null does, and what clears a value", Severity.INFO)
    if subject.signals.read_only or is_hinted:
        return
    if program := runs_anything(prose, subject.input_shape):
        problem = f"it runs any {program!r}, and neither a text nor a hint says what that may change"
        yield Hit("/description", problem, "say what it may reach, and declare destructiveHint")
    if target := silent_target(prose, subject.input_shape, subject.remarks):
        problem = f"{target!r} is a place to write to, and nothing says what happens to a file that is there"
        yield Hit("/description", problem, "say whether it is overwritten or the call fails", Severity.INFO)


OUTCOMES = {
    Effect.CREATE: "say what happens to one that already exists, and whether the others are still made",
    Effect.UPDATE: "say what happens to one that does not exist, and whether the others are still changed",
    Effect.DELETE: "say what happens to one that does not exist, and whether the others are still deleted",
}


WHOLE_TYPES = ("string", "integer", "number", "boolean")
"""Types of which nothing can be left out; where each parameter is required, an update leaves nothing out."""

MAX_BARE_WORDS = 15
"""Words of a sentence that has room for the verb and its object, and for nothing else."""


@rule(
    "TDQ108",
    aliases=("undocumented-parameters", "smell:opaque-parameters"),
    severity=Severity.WARNING,
    dimension="parameter_semantics",
    source="TDQS, checklist 4",
    entails=("TDQ130",),
    weighs=("/description",),
)
def undocumented_parameters(subject: Subject) -> Iterator[Hit]:
    """Parameters are described neither in the schema nor in the description."""
    parameters = subject.signals.parameters
    text = subject.tool.description or ""
    bare = [parameter for parameter in parameters if not parameter.description.strip()]
    explained = (
        {*find_parameters(text, subject.prose.words, bare), *parameter_texts.explained_names(subject.input_shape, text)}
        if bare
        else set()
    )
    silent = [parameter for parameter in bare if parameter.name not in explained]
    if silent:
        evident = evident_names(subject.tool, subject.prose.words, subject.sibling_words)
        puzzling = [parameter for parameter in silent if parameter.name not in evident]
        is_mild = 2 * len(puzzling) < len(parameters) and not any(parameter.is_required for parameter in puzzling)
        ordered = [*puzzling, *(parameter for parameter in silent if parameter.name in evident)]
        names = first_of([parameter.name for parameter in ordered], MAX_NAMED)
        are = "is" if len(silent) == 1 else "are"
        noun = "parameter" if len(parameters) == 1 else "parameters"
        yield Hit(
            "/inputSchema/properties",
            f"{len(silent)} of {len(parameters)} {noun} {are} undocumented: {names}",
            "describe each in the schema: meaning, format, default, and effect on other parameters",
            Severity.INFO if is_mild else None,
            shared="leave parameters undocumented that name or schema nearly explains" if is_mild else None,
        )
    documented = {parameter.name for parameter in parameters}.difference(parameter.name for parameter in silent)
    for node in parameter_texts.unknown_members(subject.input_shape, subject.remarks, text):
        is_list = "items" in type_beside_null(node.schema)[1]
        thing, its = ("a list of objects", "one") if is_list else ("an object", "it")
        problem = f"{node.name!r} is {thing}, and neither the schema nor the text names a property of {its}"
        if node.name in documented:
            severity = None if node.is_required else Severity.INFO
            yield Hit(node.path, problem, "declare its properties, or show one object in the text", severity)
    for origin in subject.open_origins if subject.prose.language in ("en", None) else ():
        problem = "it comes from, and no other tool is about such a thing"
        if origin.lister:
            problem = f"it comes from, although {origin.lister!r} may tell"
        problem = "whether it is a name or an id" if origin.may_be_id else f"where {problem}"
        yield Hit(
            origin.path,
            f"{origin.name!r}: nothing says {problem}",
            "name the tool that returns it, or say that the user gives it",
            Severity.INFO,
            shared="do not say where a name comes from" if origin.lister and not origin.may_be_id else None,
        )


@rule(
    "TDQ109",
    aliases=("no-output-schema",),
    severity=Severity.INFO,
    dimension="contextual_completeness",
    source="TDQS, checklist 5",
    entails=("TDQ122",),
    weighs=("/description",),
    variants=(absent_output_schema,),
)
def missing_output_schema(subject: Subject) -> Iterator[Hit]:
    """There is no output schema, or one that names nothing, and the description does not say what comes back.

    What a reading tool reads comes back: "List the labels of a repository" says that.
    """
    prose = subject.prose
    if subject.signals.has_output_schema and parameter_texts.is_any_object(subject.output_shape):
        shared = "have an output schema that takes any object, so that no field of the result is named"
        problem = "the output schema takes any object"
        yield Hit("/outputSchema", problem, "declare the fields of the result", shared=shared)
        return
    says_what_it_reads = prose.effect is Effect.READ and bool(prose.words) and not prose.is_only_name
    if Cue.RETURN in prose.cues or says_what_it_reads:
        return
    shared = "have no output schema, or one that names nothing, and no word about what comes back"
    yield from (hit._replace(shared=shared) for hit in absent_output_schema.check(subject))
    if subject.signals.has_output_schema and subject.prose.is_readable and not subject.has_telling_output:
        problem = "the output schema names nothing, and no word says what comes back"
        yield Hit("/outputSchema", problem, "declare the shape of the result", shared=shared)


@rule(
    "TDQ110",
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    dimension="contextual_completeness",
    source="TDQS, checklist 5",
    needs_language=True,
    entails=("TDQ109", "TDQ122"),
    weighs=("/annotations", "/outputSchema"),
)
def unstated_result(subject: Subject) -> Iterator[Hit]:
    """Nothing says what a creating tool returns, or what a reading one does beside "details"; or a result is cut."""
    prose = subject.prose
    is_creating = prose.name_effect is prose.effect is Effect.CREATE and not subject.signals.read_only
    is_empty = subject.signals.has_output_schema and subject.is_result_open  # without a schema TDQ109 reports it
    if not subject.signals.is_missing_description and is_creating and is_empty:
        problem = "neither the description nor the output schema says what the tool returns"
        yield Hit("/description", problem, "add one sentence that starts with Returns, or an output schema")
    if thing := vague_result(prose, subject.own_places, subject.output_shape):
        problem = f"neither the description nor an output schema says what comes back beyond {thing!r}"
        shared = "say nothing of what comes back but a word such as data"
        yield Hit("/description", problem, "name the fields that the next call or the answer needs", shared=shared)
    for parameter, amount in cut_results(prose, subject.input_shape):
        problem = f"the description says 'all', and a call returns {amount} at most unless {parameter!r} asks for more"
        shared = "promise all of a list and return a part of it"
        yield Hit("/description", problem, "say that it returns a page, and how to get the rest", shared=shared)


@rule("TDQ111", severity=Severity.INFO, dimension="conciseness_structure", source="TDQS, checklist 6")
def repeated_schema(subject: Subject) -> Iterator[Hit]:
    """The description repeats what the schema already says, or repeats itself."""
    prose = subject.prose
    if subject.copied_words >= COPIED_WORDS:
        problem = f"{subject.copied_words} words repeat parameter descriptions of the schema"
        shared = "repeat parameter descriptions of the schema in the text"
        yield Hit("/description", problem, "cut them; the agent also reads the schema", shared=shared)
    if prose.repeated_sentences:
        yield Hit("/description", "a sentence appears twice", "keep one of them")


@rule("TDQ150", severity=Severity.INFO, source="tdqs-mcp, languages")
def unread_language(subject: Subject) -> Iterator[Hit]:
    """The description is in a language that the rules do not know, so some of them were not applied."""
    prose = subject.prose
    if not prose.is_readable:
        silent = ", ".join(
            candidate.id for candidate in globals().values() if isinstance(candidate, Rule) and candidate.needs_language
        )
        name = LANGUAGE_NAMES.get(prose.language or "")
        problem = f"the description is in {name}" if name else "the language of the description is not recognized"
        shared = f"have a description that the rules cannot read; not applied: {silent}"
        yield Hit("/description", f"{problem}; not applied: {silent}", "score it with a model (--judge)", shared=shared)


@rule(
    "TDQ160",
    severity=Severity.INFO,
    dimension="conciseness_structure",
    source="TDQS, checklist 6",
)
def empty_opening(subject: Subject) -> Iterator[Hit]:
    """The description opens with words that only say that it is a tool."""
    first = next(iter(subject.prose.sentences), "")
    length = lead_in_length(first)
    if length:
        opening = first[:length].strip()
        problem = f"the description opens with {opening!r}"
        shared = "open with words that only say that it is a tool"
        yield Hit("/description", problem, "begin with the verb (--fix does that)", shared=shared)


MIN_SENTENCES = 3
""""At least three to four sentences" (Hasan et al., arXiv 2602.14878, section 4.1.3, Length and Completeness)."""

_LIMITATIONS = (Cue.LIMIT, Cue.ERROR, Cue.WHEN_NOT, Cue.PREREQUISITE, Cue.PERMISSION, Cue.TIMING, Cue.DESTRUCTION)


@rule(
    "TDQ140",
    aliases=("smell:unstated-limitation",),
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    persona=Persona.AUDITOR,
    dimension="behavioral_transparency",
    source="Hasan et al., arXiv 2602.14878, Limitations",
)
def unstated_limitation(subject: Subject) -> Iterator[Hit]:
    """The description names no limit, failure, prerequisite or caveat."""
    if _is_read(subject) and not any(cue in subject.prose.cues for cue in _LIMITATIONS):
        yield Hit(
            "/description",
            "the description names no limitation",
            "say what the tool leaves out, how much it returns at most, and when it fails",
        )


@rule(
    "TDQ141",
    aliases=("smell:underspecified-or-incomplete",),
    severity=Severity.INFO,
    persona=Persona.AUDITOR,
    dimension="contextual_completeness",
    source="Hasan et al., arXiv 2602.14878, Length and Completeness",
    entails=("TDQ120", "TDQ140", "TDQ142"),
)
def underspecified_description(subject: Subject, *, limit: int = MIN_SENTENCES) -> Iterator[Hit]:
    """The description has fewer than three sentences."""
    count = len(subject.prose.sentences)
    if 0 < count < limit:
        yield Hit(
            "/description",
            f"the description has {count} sentence{'s' * (count > 1)}, fewer than {limit}",
            "add when to use the tool, its limits, and what comes back",
        )


@rule(
    "TDQ142",
    aliases=("smell:exemplar-issues",),
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    persona=Persona.AUDITOR,
    dimension="parameter_semantics",
    source="Hasan et al., arXiv 2602.14878, Examples",
)
def absent_example(subject: Subject) -> Iterator[Hit]:
    """The description shows no example."""
    if _is_read(subject) and Cue.EXAMPLE not in subject.prose.cues:
        yield Hit(
            "/description", "the description gives no example", "show one call, or a value for the hardest parameter"
        )


def _is_read(subject: Subject) -> bool:
    """There is a description in Latin letters, in which English cues can be found."""
    return not subject.signals.is_missing_description and is_latin(subject.tool)
