"""Hints: annotations that name or text contradict, that a reading tool leaves out, or that a directory asks for."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from tdqs_mcp.facts.lexicon import lazy_pattern, words_from
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text import statements
from tdqs_mcp.facts.text.prose import Prose
from tdqs_mcp.facts.text.words import LEMMAS, Effect
from tdqs_mcp.model import Tool
from tdqs_mcp.results.findings import Confidence, Persona, Severity
from tdqs_mcp.rules.rule import Hit, rule

_SOURCE = "MCP specification, ToolAnnotations"
_words = partial(words_from, "hints")

_MEANINGS = {
    "readOnlyHint": "true if the tool changes nothing, else false",
    "destructiveHint": "true if a call can delete, overwrite or send what cannot be taken back, else false",
    "idempotentHint": "true if the same call again changes nothing more, else false",
    "openWorldHint": "true if the tool reaches systems outside the server's own, else false",
}


@rule("TDQ227", severity=Severity.WARNING, dimension="behavioral_transparency", source=_SOURCE)
def contradictory_hints(subject: Subject) -> Iterator[Hit]:
    """Two hints cannot both be true: a tool that only reads destroys nothing."""
    if subject.signals.read_only and subject.signals.destructive:
        yield Hit(
            "/annotations/destructiveHint",
            "readOnlyHint and destructiveHint are both true",
            "set destructiveHint to false, or readOnlyHint if the tool writes",
        )


@rule("TDQ228", severity=Severity.WARNING, dimension="behavioral_transparency", source=_SOURCE)
def writing_read_only_tool(subject: Subject) -> Iterator[Hit]:
    """The name or a later sentence says that the tool writes, but the annotations say that it only reads."""
    if not subject.signals.read_only:
        return
    if claim := _writing_claim(subject.tool, subject.prose, subject.mentions):
        yield Hit("/annotations/readOnlyHint", f"readOnlyHint is true, but {claim}", "correct whichever is wrong")


def _writing_claim(tool: Tool, prose: Prose, siblings: Sequence[str]) -> str | None:
    """How the name, or a sentence after the first that names no sibling, says that the tool writes."""
    parts = name_parts(tool.name)
    if parts and parts[0] in _words("writing"):
        return f"the name says {parts[0]!r}"
    telling = [
        (sentence, words) for sentence, words in zip(prose.sentences, prose.spoken, strict=True) if _tells(words)
    ]
    own = [(sentence, words) for sentence, words in telling if not any(name in sentence for name in siblings)]
    for sentence, words in own:
        if not _words("final").isdisjoint(words):
            return f"a sentence says that its effect is final: {' '.join(sentence.split())[:MAX_QUOTE]!r}"
    for sentence, _ in own:
        clauses = () if sentence is prose.sentences[0] else _CLAUSE_END.split(sentence)
        if effect := next(filter(None, map(_said_change, clauses)), None):
            return f"a sentence says that {effect}: {' '.join(sentence.split())[:MAX_QUOTE]!r}"
    return None


MAX_QUOTE = 80
"""Characters of a sentence that a message quotes."""


_CLAUSE_END = lazy_pattern(r"[,;()\n\u2013\u2014]|\s-\s|\band\s(?=then\b)")


def _said_change(clause: str) -> str | None:
    """Return what a clause says of the call: "it deletes" (the …) or "something is purged" (old rows are …)."""
    words = words_of(clause)
    active, passive = _active_verb(words), _passive_verb(words)
    return f"it {active}" if active else f"something is {passive}" if passive else None


def _active_verb(words: Sequence[str]) -> str | None:
    """The finite verb of a clause about the tool, with a thing behind it; orders to the agent have none."""
    place, has_subject = 0, False
    while place < len(words) and words[place] in _words("openings"):
        has_subject = has_subject or words[place] in _words("subjects")
        place += 1
    if place + 1 >= len(words) or not _changes(words[place]) or words[place + 1] not in _words("determiners"):
        return None
    verb = words[place]
    is_finite = verb.endswith("s") or (has_subject and not verb.endswith(("ed", "ing")))
    return verb if is_finite else None


def _passive_verb(words: Sequence[str]) -> str | None:
    """The verb of a change to the subject of the main clause; not to the answer, nor by others or from time to time."""
    place = next((place for place, word in enumerate(words) if word in _words("passives")), 0)
    behind = words[place + 1 :]
    verb = next((word for word in behind if not word.endswith("ly") and word not in _words("openings")), "")
    is_main = 0 < place <= MAX_SUBJECT and _words("subordinators").isdisjoint(words[:place])
    is_told = words[place : place + 1] != ["be"] or words[place - 1] == "will"
    is_change = verb.endswith(("ed", "en", "sent")) and _changes(verb)
    return verb if is_main and is_told and is_change and _words("elsewhere").isdisjoint(behind) else None


MAX_SUBJECT = 8
"""Words before the verb of a passive clause."""


def _tells(words: Sequence[str]) -> bool:
    """A sentence has a word of a lasting change, or one that says that there is no way back."""
    return any(map(_changes, words)) or not _words("final").isdisjoint(words)


def _changes(word: str) -> bool:
    """A form of a verb that leaves a lasting change."""
    return (LEMMAS.get(word) or word.removesuffix("s")) in _words("lasting")


@rule(
    "TDQ240",
    severity=Severity.WARNING,
    dimension="behavioral_transparency",
    source=_SOURCE,
)
def harmless_deletion(subject: Subject) -> Iterator[Hit]:
    """The tool deletes, but destructiveHint says that it only adds."""
    is_denied = subject.signals.destructive is False and not subject.signals.read_only
    word = statements.said_deleting(subject.tool, subject.prose) if is_denied else None
    if word:
        yield Hit(
            "/annotations/destructiveHint",
            f"destructiveHint is false, but {subject.tool.name!r} says {word!r}",
            "set it to true, so that clients ask before the call",
        )


@rule(
    "TDQ241",
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    dimension="behavioral_transparency",
    source=_SOURCE,
)
def idempotent_addition(subject: Subject) -> Iterator[Hit]:
    """Each call adds or sends one more, but idempotentHint says that a second call changes nothing."""
    is_claimed = (subject.tool.annotations or {}).get("idempotentHint") is True and not subject.signals.read_only
    parts, prose = name_parts(subject.tool.name), subject.prose
    word = next((part for part in parts if part in _words("adding")), None) if is_claimed else None
    if word is None or (word not in (parts[0], parts[-1]) and prose.effect is not Effect.CREATE):
        return
    # `create_or_update_user`, or a text that says that a second call changes nothing
    if _words("either").isdisjoint(parts) and _words("repeatable").isdisjoint(prose.words):
        yield Hit(
            "/annotations/idempotentHint",
            f"idempotentHint is true, but {subject.tool.name!r} says {word!r}",
            "set it to false, or say in the description why a second call changes nothing",
        )


@rule(
    "TDQ242",
    severity=Severity.INFO,
    confidence=Confidence.MEDIUM,
    dimension="behavioral_transparency",
    source=_SOURCE,
)
def unhinted_reading(subject: Subject) -> Iterator[Hit]:
    """The tool only reads, but does not declare readOnlyHint, so clients treat it as one that writes."""
    prose = subject.prose
    is_reading = prose.effect is Effect.READ and prose.name_effect is Effect.READ and prose.opens_with_verb
    if is_reading and "readOnlyHint" not in (subject.tool.annotations or {}):
        yield Hit(
            "/annotations",
            "the tool only reads, but does not declare readOnlyHint, which defaults to false",
            "set readOnlyHint to true",
        )


@rule(
    "TDQ720",
    severity=Severity.INFO,
    persona=Persona.AUDITOR,
    dimension="behavioral_transparency",
    source="OpenAI, Apps SDK, app submission guidelines",
)
def undeclared_app_hint(subject: Subject) -> Iterator[Hit]:
    """A read-only, destructive or open-world hint is not declared; an error with `--profile openai-apps`."""
    signals = subject.signals
    hints = {
        "readOnlyHint": signals.read_only,
        "destructiveHint": signals.destructive,
        "openWorldHint": signals.open_world,
    }
    yield from _undeclared(hints)


@rule(
    "TDQ721",
    severity=Severity.INFO,
    persona=Persona.AUDITOR,
    dimension="behavioral_transparency",
    source="Anthropic, Connectors Directory: support article 12922490 and its submission checklist",
)
def undeclared_connector_annotation(subject: Subject) -> Iterator[Hit]:
    """A title or hint is not declared; an error with `--profile anthropic-directory`."""
    signals = subject.signals
    annotations = subject.tool.annotations
    title = subject.tool.title or (annotations.get("title") if isinstance(annotations, Mapping) else None)
    if not title:
        yield Hit("/annotations/title", "the tool has no title", "add a title in words for people")
    writes = {} if signals.read_only else {"destructiveHint": signals.destructive, "idempotentHint": signals.idempotent}
    yield from _undeclared({"readOnlyHint": signals.read_only, **writes, "openWorldHint": signals.open_world})


def _undeclared(hints: Mapping[str, bool | None]) -> Iterator[Hit]:
    for name, value in hints.items():
        if value is None:
            yield Hit(f"/annotations/{name}", f"{name} is not declared", f"declare {name}: {_MEANINGS[name]}")
