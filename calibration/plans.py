"""Which facts each dimension may rest on, and which way: the rubric's monotonicity, as data."""

from scorecards import Plan

TOLD = [
    *(
        "told beyond lead later statements usage behaviour returned explained listed partly_named named conditions "
        "limits mechanics means inclusions numbers units quotations asides name_told mentions redirect "
        "opens_with_verb title explained_parameters"
    ).split(),
    *("when", "when not", "alternative", "prerequisite", "destruction", "side effect", "safety", "permission", "limit"),
    *("error", "timing", "return", "format", "example"),
]
"""What an agent gains by: more of it never lowers a score, conciseness apart."""

DEFECTS = (
    "generic unknown addressed shouted generated as_tool said_again vague_verb restates only_name tiny copied repeated "
    "odd_hint contradiction untold filler"
).split()
"""What misleads or informs nobody: more of it never raises a score."""

STRENGTHS = "hints hint_count output_schema is_covered described_words constrained".split()
"""What the structured fields say already; a true one never lowers a score, conciseness apart."""

WEAKNESSES = "is_bare undescribed unhinted_mutation".split()

CIRCUMSTANCES = (
    "read_only mutates deletes reads produces acts no_parameters parameters required call_cost enums structures "
    "siblings"
).split()
"""What the text has to live up to: either way."""

FORM = ["words", "lines", "sentences", "sentence_words", "parameter list"]
"""Length and layout, which conciseness alone is about."""

CONTEXTS = (
    "is_covered",
    "hints",
    "no_parameters",
    "unhinted_mutation",
    "reads",
    "produces",
    "output_schema",
    "is_bare",
)

DEPENDENT = (
    "told usage behaviour beyond lead later statements returned explained listed partly_named named "
    "explained_parameters "
    "conditions limits mechanics return when format example untold described_words mentions redirect parameters "
    "required structures opens_with_verb numbers quotations units asides"
).split()

_CONTENT = Plan(
    directions={
        **dict.fromkeys([*TOLD, *STRENGTHS], 1),
        **dict.fromkeys([*DEFECTS, *WEAKNESSES], -1),
        **dict.fromkeys(CIRCUMSTANCES, 0),
    },
    contexts=CONTEXTS,
    dependent=DEPENDENT,
)
_CONCISENESS = Plan(
    directions={
        **dict.fromkeys([*TOLD, *STRENGTHS, *WEAKNESSES, *CIRCUMSTANCES, "sentence_words", "parameter list"], 0),
        **dict.fromkeys([*DEFECTS, "words"], -1),
    },
    contexts=CONTEXTS,
    dependent=DEPENDENT,
)

TOOL = {
    "purpose_clarity": _CONTENT,
    "usage_guidelines": _CONTENT,
    "behavioral_transparency": _CONTENT,
    "parameter_semantics": _CONTENT,
    "conciseness_structure": _CONCISENESS,
    "contextual_completeness": _CONTENT,
}

_SET_DEFECTS = "off_style has_off_style off_pattern has_off_pattern synonyms alike has_alike vague gaps".split()
_SET_OTHER = "tools effects lifecycles".split()
_SET = {**dict.fromkeys(_SET_DEFECTS, -1), **dict.fromkeys(_SET_OTHER, 0)}
_FINE = tuple(share / 100 for share in range(6, 98, 7))

COHERENCE = {
    "disambiguation": Plan(directions=_SET, penalty=0.03, quantiles=_FINE),
    "naming_consistency": Plan(directions=_SET, penalty=0.03, quantiles=_FINE),
    "tool_count_appropriateness": Plan(directions={"tools": 0}, penalty=0.002, quantiles=_FINE),
    "completeness": Plan(directions=_SET, penalty=0.01, quantiles=_FINE),
}

_READ = Plan(
    directions={
        **dict.fromkeys(TOLD, 1),
        **dict.fromkeys(["words", "lines", "sentences", "sentence_words", "parameter list"], 1),
        **dict.fromkeys(DEFECTS, -1),
    },
    penalty=0.03,
    quantiles=(0.1, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98),
)
"""The paper's judges saw name, server and description only, and reward length."""

SMELLS = dict.fromkeys(("purpose", "guidelines", "limitations", "parameters", "examples", "length"), _READ)
