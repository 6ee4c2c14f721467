"""Which features each dimension may rest on, and which way: the rubric's monotonicity, as data."""

from trees import Plan

from tdqs_mcp.judges.sentence_model import Aspect


def _told(*aspects: str, forms: str = "most next sum") -> dict[str, int]:
    return {f"{aspect}_{form}": 1 for aspect in aspects for form in forms.split()}


def _plan(text: str) -> dict[str, int]:
    """Directions written as `+more -less =either`."""
    return {word[1:]: {"+": 1, "-": -1, "=": 0}[word[0]] for word in text.split()}


_SCHEMA = _plan(
    "+is_covered -is_bare -undescribed +described_words +constrained =no_parameters =parameters =required =call_cost "
    "=enums =structures"
)
_KIND = _plan("=mutates =deletes =reads =produces =acts")

_THIN = _plan("-restates -only_name -tiny")
"""Hardly a description: no dimension can gain by it."""

_NOTHING = _THIN | _plan("-nothing_most -nothing_sum -nothing_words -nothing_share -empty_share -most_unrelated")

TOOL = {
    "purpose_clarity": Plan(
        directions=_told("purpose")
        | _NOTHING
        | _plan(
            "+opens_with_verb -vague_verb +purpose_first +title =lone +usage_most +usage_by_reference "
            "-unrelated +new_first +first_words"
        )
    ),
    "usage_guidelines": Plan(
        directions=_THIN
        | _plan(
            "+usage_alone +usage_alone_sum +usage_by_reference +purpose_first =lone =no_parameters =reads =mutates "
            "-nothing_most -nothing_sum -nothing_words -most_unrelated"
        )
    ),
    "behavioral_transparency": Plan(
        directions=_told("behavior", forms="most next sum count")
        | _told("result")
        | _KIND
        | _THIN
        | _plan(
            "+behavior_or_result +behavior_hints +hints +hint_count =read_only -unhinted_mutation -odd_hint "
            "-contradiction +purpose_most +first_words -nothing_most -nothing_sum -nothing_words -most_unrelated"
        )
    ),
    "parameter_semantics": Plan(
        directions=_SCHEMA
        | _told("arguments", forms="most next sum count")
        | _NOTHING
        | _plan("+result_sum +purpose_sum +listed +named -untold +arguments_each")
    ),
    "conciseness_structure": Plan(
        directions=_NOTHING
        | _plan(
            "-empty_words -empty -empty_prose -empty_prose_words -wasted +last +least -unrelated -empty_references "
            "+density -words +purpose_first +purpose_most +behavior_most +usage_most -said_again "
            "-repeated -copied -shouted +opens_with_verb -is_bare -undescribed =sentence_words =information "
            "+arguments_each =first_words"
        ),
        on_changes=1.0,
    ),
    "contextual_completeness": Plan(
        directions=_SCHEMA
        | _KIND
        | _NOTHING
        | _told(*Aspect, forms="most sum")
        | _plan(
            "+behavior_or_result +output_schema +listed -untold +information -unrelated +explained_share "
            "+arguments_each +first_words"
        )
    ),
}

_SMALL = {"rounds": 60, "depth": 1, "fewest": 5, "fewest_servers": 5, "columns": 0.7}
"""136 servers are labeled, and 140 sets of tools; each is a case."""

COHERENCE = {
    "disambiguation": Plan(directions=_plan("-tools -variants -vague -alike"), **_SMALL),
    "naming_consistency": Plan(
        directions=_plan("-off_pattern -off_style -vague +with_verb -one_word -uneven"), **_SMALL
    ),
    "tool_count_appropriateness": Plan(directions={"tools": 0}, **_SMALL | {"depth": 2}),
    "completeness": Plan(directions=_plan("+actions +lifecycles -gaps"), **_SMALL),
}

_READ = Plan(
    directions=_told(*Aspect, forms="most sum count")
    | _plan("+information +words +lines +sentence_words +first_words -restates -only_name -vague_verb +listed +named"),
    rounds=150,
    fewest=8,
    fewest_servers=10,
)
"""The paper's judges saw name, server and description only, and reward length."""

SMELLS = dict.fromkeys(("purpose", "guidelines", "limitations", "parameters", "examples", "length"), _READ)
