"""What a definition leaves open and only its author can answer, as questions in the definition's own words."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from tdqs_mcp.facts.catalog.names import Label
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.language_detection import LANGUAGE_NAMES
from tdqs_mcp.facts.text.languages import Effect

MAX_NAMED = 5
"""Parameters that one question names; the rest are counted."""


def ask(
    subject: Subject,
    *,
    label: Label,
    near: Sequence[str],
    rules: AbstractSet[str],
    unsaid: Sequence[str] = (),
    settled: AbstractSet[str] = frozenset(),
) -> tuple[str, ...]:
    """At most six questions, one for each thing that is missing, in the order of the dimensions' weights.

    `rules` are the ids of the findings about the tool; `near` its nearest siblings; `unsaid` sentences in English that
    only the author can say in the description's own language, one more question each; `settled` the hints that need no
    answer any more.
    """
    language = LANGUAGE_NAMES.get(subject.prose.language or "", "the description's language")
    translations = (f"How does `{subject.tool.name}` say in {language}: {sentence}" for sentence in unsaid)
    return (*_questions(subject, label, near, rules, settled), *translations)


def _questions(
    subject: Subject, label: Label, near: Sequence[str], rules: AbstractSet[str], settled: AbstractSet[str]
) -> Iterator[str]:
    name = f"`{subject.tool.name}`"
    is_silent = subject.signals.is_missing_description
    if is_silent or rules & {"TDQ101", "TDQ103"}:
        yield _about_purpose(name, label)
    if "TDQ107" in rules or (is_silent and subject.prose.effect and subject.prose.effect.is_mutating):
        yield _about_effect(name, label, subject.prose.effect)
    if is_silent or rules & {"TDQ104", "TDQ105"}:
        yield _about_usage(name, near)
    if "TDQ108" in rules:
        yield _about_parameters(name, subject)
    if "TDQ106" in rules:
        yield from _about_hints(name, subject.prose.effect, settled)
    if "TDQ110" in rules or (is_silent and not subject.signals.has_output_schema):
        yield f"What does {name} return, and what when there is nothing to return?"


def _about_purpose(name: str, label: Label) -> str:
    nouns = " ".join(label.nouns)
    if label.verb and nouns:
        return f"What does {name} do beyond its name: which {nouns}, from where, under which condition?"
    return f"What does {name} do: which verb, to which resource, within which scope?"


def _about_effect(name: str, label: Label, effect: Effect | None) -> str:
    thing = label.thing if label.verb else ""
    if effect is Effect.DELETE:
        besides = f" besides the {thing}" if thing else ""
        return f"What does {name} destroy{besides}, can it be undone, and which permission does it need?"
    if effect is Effect.UPDATE:
        return f"What becomes of values that {name} is not given, who sees it, and which permission does it need?"
    if thing:
        return f"What does {name} do if the {thing} is there already, who sees it, and which permission does it need?"
    return f"Can what {name} does be taken back, who sees it, and which permission does it need?"


def _about_usage(name: str, near: Sequence[str]) -> str:
    if near:
        others = " or ".join(f"`{each}`" for each in near)
        return f"When should an agent choose {name} rather than {others}, and when not?"
    return f"When should an agent use {name}, and when not?"


def _about_parameters(name: str, subject: Subject) -> str:
    named = set(subject.prose.mentioned_parameters)
    silent = [
        each.name for each in subject.signals.parameters if not each.description.strip() and each.name not in named
    ]
    if len(silent) == 1:
        return f"What does `{silent[0]}` of {name} mean: which format, which default?"
    more = len(silent) - MAX_NAMED
    shown = [f"`{each}`" for each in silent[:MAX_NAMED]] + ([f"{more} more"] if more > 0 else [])
    return f"What do {', '.join(shown[:-1])} and {shown[-1]} of {name} mean: which formats, which defaults?"


def _about_hints(name: str, effect: Effect | None, settled: AbstractSet[str]) -> Iterator[str]:
    """The hints that matter for the effect and that nobody has settled; what only reads has no others."""
    if "readOnlyHint" in settled:
        return
    if effect is Effect.READ:
        yield f"Does {name} change anything at all, or may it declare readOnlyHint: true?"
        return
    is_known = effect is not None and effect.is_mutating
    passed = {"readOnlyHint"} if is_known or "destructiveHint" in settled else set()
    passed |= {"destructiveHint"} if effect is Effect.DELETE else set()
    hints = [hint for hint in _HINTS if hint not in settled | passed]
    if hints:
        first, *others = (_HINTS[hint] for hint in hints)
        yield f"{', '.join((first[0].format(name), *(other for _, other in others)))} ({', '.join(hints)})?"


_HINTS = {
    "readOnlyHint": ("Does {} only read", "does it only read"),
    "destructiveHint": ("Can {} destroy anything", "can it destroy anything"),
    "idempotentHint": ("Does a second call of {} change more", "does a second call change more"),
    "openWorldHint": ("Does {} reach outside", "does it reach outside"),
}
"""What each hint asks, of a tool by its name and then of the same one."""
