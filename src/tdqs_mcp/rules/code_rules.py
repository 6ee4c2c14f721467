"""Lane 8: a definition held against the code of its tool; each message quotes both, with file and line."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tdqs_mcp.facts.lexicon import words_from
from tdqs_mcp.facts.schema import arguments
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.claims import find_limits, stated_default
from tdqs_mcp.facts.text.effects import deleting_verbs
from tdqs_mcp.facts.text.statements import (
    read_polarity,
    stated_hints,
    stated_keys,
    states_image,
    states_mere_reading,
    states_saving,
)
from tdqs_mcp.facts.text.words import EFFECTS, LEMMAS, Effect, stem
from tdqs_mcp.results.findings import Confidence, Severity
from tdqs_mcp.results.tool_code import (
    CodeEffect,
    CodeLimit,
    CodePlace,
    EffectKind,
    ResultKind,
    ToolCode,
    is_local,
    names_host,
)
from tdqs_mcp.rules.rule import Hit, rule

MAX_SHOWN = 2
"""Lines of code in a message."""

HINTS_SOURCE = "MCP specification, ToolAnnotations"
CODE_SOURCE = "the tool's code"

_CERTAIN = frozenset({EffectKind.FILE_WRITE, EffectKind.FILE_DELETE, EffectKind.SQL_WRITE})
"""Changes that are no reads under any reading."""

_CHANGING_METHODS = frozenset({"PUT", "PATCH", "DELETE"})
"""Methods of requests that change something; a POST may be a search, and `update()` only a client's name for one."""

_NEAR_READS = frozenset({EffectKind.LOCAL_READ, EffectKind.DB_READ})
"""Effects that leave no doubt that nothing is written elsewhere."""

NETWORK = frozenset({EffectKind.HTTP_READ, EffectKind.HTTP_WRITE, EffectKind.SENDS_DATA_OUT, EffectKind.HTTP_UNKNOWN})
_SENDING = frozenset({EffectKind.HTTP_WRITE, EffectKind.SENDS_DATA_OUT})


class CodedTool(NamedTuple):
    """A tool whose handler was found, with its code."""

    subject: Subject
    code: ToolCode


@rule("TDQ801", severity=Severity.ERROR, source=HINTS_SOURCE)
def read_only_changes(tool: CodedTool) -> Iterator[Hit]:
    """The definition says that the tool only reads, and its code changes something; a warning where that is less sure.

    Sure are a file or a database that the agent's own words go into, and a request by PUT, PATCH or DELETE with them,
    always or where a parameter says so.
    """
    subject, code = tool
    if _hint(subject, "readOnlyHint") is True and code.read_only is False:
        effects = [effect for effect in code.own_effects if effect.is_change]
        is_certain = any(map(is_certain_change, effects))
        is_inside = all(effect.kind is EffectKind.STATE_IN_MEMORY or is_named_only(effect) for effect in effects)
        yield Hit(
            "/annotations/readOnlyHint",
            f"readOnlyHint is true, but the code changes something: {_lines(effects)}",
            "set readOnlyHint to false",
            None if is_certain else Severity.INFO if is_inside else Severity.WARNING,
            code=_ordered(effects)[0],
        )


def is_certain_change(effect: CodeEffect) -> bool:
    """Return whether a line surely changes something with the agent's own words: a file, a database, a resource."""
    is_request = effect.kind is EffectKind.HTTP_WRITE and effect.text in _CHANGING_METHODS
    return effect.is_given and (is_request or effect.kind in _CERTAIN)


def is_named_only(effect: CodeEffect) -> bool:
    """Return whether a request is known by its client's name alone, which says that something is added: `create()`.

    What is created may be the answer itself, such as a plan.
    """
    return effect.kind is EffectKind.HTTP_WRITE and effect.text.endswith("()") and not effect.is_destroying


@rule("TDQ802", severity=Severity.WARNING, source=HINTS_SOURCE)
def destroying_harmless_tool(tool: CodedTool) -> Iterator[Hit]:
    """The definition says that the tool destroys nothing, and its code deletes or overwrites something."""
    subject, code = tool
    if _hint(subject, "destructiveHint") is False and code.destructive is True:
        effects = [effect for effect in code.own_effects if effect.is_destroying]
        yield Hit(
            "/annotations/destructiveHint",
            f"destructiveHint is false, but the code deletes, overwrites or runs code: {_lines(effects)}",
            "set destructiveHint to true",
            code=next(iter(_ordered(effects)), None),
        )


@rule("TDQ803", severity=Severity.WARNING, source=HINTS_SOURCE)
def networked_closed_tool(tool: CodedTool) -> Iterator[Hit]:
    """The definition says that the tool's world is closed, and its code sends requests to a named other machine.

    A host that a setting gives may be this machine: nothing proves that the world is open.
    """
    subject, code = tool
    effects = [effect for effect in code.own_effects if reaches_out(effect)]
    if effects and _hint(subject, "openWorldHint") is False:
        yield Hit(
            "/annotations/openWorldHint",
            f"openWorldHint is false, but the code reaches the network: {_lines(effects)}",
            "set openWorldHint to true, unless the host is part of the server",
            code=_ordered(effects)[0],
        )


def reaches_out(effect: CodeEffect) -> bool:
    """Return whether a line sends a request to a named other machine."""
    return effect.kind in NETWORK and bool(effect.host) and not is_local(effect.host)


@rule("TDQ804", severity=Severity.INFO, source=HINTS_SOURCE)
def destructive_reader(tool: CodedTool) -> Iterator[Hit]:
    """The definition says that the tool may destroy something, and all of its code only reads."""
    subject, code = tool
    if _hint(subject, "destructiveHint") is True and code.read_only is True:
        yield Hit(
            "/annotations/destructiveHint",
            f"destructiveHint is true, but nothing that {code.handler} calls changes anything",
            "set readOnlyHint to true and leave destructiveHint out",
            code=code.handler,
        )


@rule("TDQ805", severity=Severity.WARNING, source=CODE_SOURCE)
def ignored_parameter(tool: CodedTool) -> Iterator[Hit]:
    """The tool has a parameter on which nothing in its code depends."""
    subject, code = tool
    declared = {parameter.name for parameter in subject.signals.parameters}
    for name in (name for name in code.unused_parameters if name in declared):
        yield Hit(
            f"/inputSchema/properties/{name}",
            f"{name} changes nothing: the code that starts at {code.handler} never uses it",
            "use it, or take it out of the schema",
            code=code.handler,
        )


@rule("TDQ806", severity=Severity.WARNING, source=CODE_SOURCE)
def refused_value(tool: CodedTool) -> Iterator[Hit]:
    """The schema allows a value for which the code has no branch, or none but an error."""
    for dead in tool.code.dead_enum_values:
        place = f"the code that starts at {tool.code.handler}"
        outcome = f"which {place} refuses" if dead.is_refused else f"for which {place} does nothing"
        yield Hit(
            f"/inputSchema/properties/{dead.parameter}",
            f"the schema allows {dead.value!r}, {outcome}",
            "add the branch, or take the value out of the schema",
            code=tool.code.handler,
        )


@rule("TDQ807", severity=Severity.INFO, confidence=Confidence.MEDIUM, source=CODE_SOURCE)
def unnamed_host(measured: Measured) -> Iterator[Hit]:
    """The code sends what it is given to a host that neither the definition nor the server's instructions name."""
    about = f"{measured.catalog.server} {measured.catalog.instructions or ''}".lower()
    for subject, code in coded(measured):
        text = f"{about} {subject.tool.name} {subject.tool.description or ''}".lower()
        for effect in code.own_effects:
            if effect.kind in _SENDING and effect.host and effect.is_given and not names_host(text, effect.host):
                yield Hit(
                    "/description",
                    f"the code sends data to {effect.host}, which no text names: {effect.file}:{effect.line}",
                    f"say that it sends the data to {effect.host}",
                    part=subject.tool,
                    code=effect,
                )
                break


@rule("TDQ808", severity=Severity.WARNING, source=CODE_SOURCE)
def misstated_limit(tool: CodedTool) -> Iterator[Hit]:
    """A text or the schema gives a parameter a wider bound than the code, or another default."""
    subject, code = tool
    texts = {mention.node.path: mention.text for mention in subject.explanations}
    for name, schema in arguments.properties(subject.tool).items():
        text = texts.get(arguments.property_pointer(name), "")
        for limit, claim in misstated_limits(name, schema, text, code) if isinstance(schema, dict) else ():
            yield Hit(
                f"/inputSchema/properties/{name}",
                f"the definition gives {name} {claim}, the code {limit.text}: {limit.file}:{limit.line}",
                "say what the code does, or change it",
                code=limit,
            )


@rule("TDQ809", severity=Severity.WARNING, confidence=Confidence.MEDIUM, source=CODE_SOURCE)
def disproved_statement(tool: CodedTool) -> Iterator[Hit]:
    """A sentence says that the tool only reads, saves a file, or returns an image or keys; its code does otherwise."""
    subject, code = tool
    is_hinted = _hint(subject, "readOnlyHint") is True  # TDQ801 says it
    texts = (text for text in subject.prose.sentences if not (is_hinted and says_only_reading(text)))
    for text in texts:
        if proof := find_disproof(text, subject, code):
            claim, place, suggestion = proof
            yield Hit("/description", f"{text!r}, but {claim}", suggestion, code=place)
            return


def find_disproof(sentence: str, subject: Subject, code: ToolCode) -> tuple[str, CodePlace | None, str] | None:
    """Return what disproves a sentence, its line and the advice; None where nothing does.

    That a file is not written, and a key not returned, is proven only where the code was followed to its end, the file
    also only where it asks neither another machine nor a program. "Returns `id` and `name`" may speak of what is inside
    the result, unless most of these are its keys.
    """
    is_about_part = states_mere_reading(sentence) and _tells_other_change(sentence, subject)
    if says_only_reading(sentence) and not is_about_part:
        if code.read_only is not False:
            return None
        effects = [effect for effect in code.own_effects if effect.is_change]
        return f"the code changes something: {_lines(effects)}", _ordered(effects)[0], "say what it changes"
    is_near = all(effect.kind in _NEAR_READS for effect in code.own_effects)
    if is_near and not code.unresolved and code.read_only is True and states_saving(sentence):
        return f"nothing that {code.handler} calls writes a file", code.handler, "say what it does with the data"
    if {form.kind for form in code.results} == {ResultKind.TEXT} and states_image(sentence):
        return f"the code that starts at {code.handler} returns text", code.handler, "say what the text is"
    is_whole = len(code.results) == 1 and not code.results[0].is_open and code.results[0].kind in _WITH_KEYS
    keys = (*code.results[0].keys, *code.results[0].rare) if is_whole else ()
    stated, is_object = stated_keys(sentence)
    missing = [key for key in stated if key not in keys]
    if keys and missing and not code.unresolved and (is_object or 2 * len(missing) < len(stated)):
        claim = f"the code that starts at {code.handler} returns {', '.join(keys)} and never {', '.join(missing)}"
        return claim, code.handler, "name the keys that it returns"
    return None


def says_only_reading(sentence: str) -> bool:
    """Return whether a sentence says that calls change nothing, or that they only read a thing."""
    return ("readOnlyHint", True) in stated_hints(sentence) or states_mere_reading(sentence)


def _tells_other_change(sentence: str, subject: Subject) -> bool:
    """Return whether the definition tells of a change that the sentence does not deny: the sentence is about a part."""
    denied = read_polarity(sentence).denied
    words = {word for word in definition_words(subject) - {"file", "files", "disk"} if stem(word) not in denied}
    verbs = {EFFECTS[LEMMAS[word]] for word in words if word in LEMMAS}
    is_kept = not words_from("rewriting", "keeping").isdisjoint(words)
    return is_kept or any(verb.is_mutating for verb in verbs)


_WITH_KEYS = (ResultKind.OBJECT, ResultKind.OBJECTS)


@rule("TDQ810", severity=Severity.INFO, confidence=Confidence.MEDIUM, source=CODE_SOURCE)
def unnamed_destruction(tool: CodedTool) -> Iterator[Hit]:
    """The code deletes or overwrites what the agent names, and neither a text nor a hint says so."""
    subject, code = tool
    effects = [
        effect
        for effect in code.own_effects
        if effect.is_given and takes_whole(effect, code) and not is_named(effect, subject)
    ]
    if effects and _hint(subject, "destructiveHint") is not True:
        yield Hit(
            "/description",
            f"the code deletes or overwrites, which no text says: {_lines(effects)}",
            "say what is deleted or overwritten, and when",
            code=_ordered(effects)[0],
        )


MAX_DEPTH = 2
"""Calls between the handler and a line that is the tool's own work; deeper ones are a library's."""


def takes_whole(effect: CodeEffect, code: ToolCode) -> bool:
    """Return whether a line deletes or overwrites what the agent names, and is the tool's own work.

    A tool that reads a file that the agent names, and then writes, edits it: that is its purpose, not a loss. What is
    moved is not lost either.
    """
    is_edit = effect.kind is not EffectKind.HTTP_WRITE and any(
        other.kind is EffectKind.LOCAL_READ and other.is_given and other.text not in words_from("rewriting", "probing")
        for other in code.own_effects
    )
    is_move = effect.kind is EffectKind.FILE_DELETE and any(
        other.kind is EffectKind.FILE_WRITE and (other.file, other.line) == (effect.file, effect.line)
        for other in code.own_effects
    )
    return effect.is_destroying and effect.depth <= MAX_DEPTH and not is_edit and not is_move


def is_named(effect: CodeEffect, subject: Subject) -> bool:
    """Return whether the name or a text of the tool has a word for a change that its code makes."""
    words = definition_words(subject)
    verbs = {EFFECTS[LEMMAS[word]] for word in words if word in LEMMAS}
    if effect.kind is EffectKind.FILE_WRITE and effect.is_destroying:
        return any(word.startswith(("overwrit", "replac", "exist")) for word in words)
    if effect.kind is EffectKind.FILE_WRITE:
        is_changing = any(verb.is_mutating or verb is Effect.PRODUCE for verb in verbs)
        return is_changing or not words_from("rewriting", "keeping").isdisjoint(words)
    is_worded = effect.kind is not EffectKind.RUNS_CODE and effect.text.upper().startswith(_DELETING)
    is_told = Effect.DELETE in verbs or not deleting_verbs().isdisjoint(words)
    return is_told or not (is_worded or effect.kind is EffectKind.FILE_DELETE)


_DELETING = ("DELETE", "DROP", "TRUNCATE")


def definition_words(subject: Subject) -> frozenset[str]:
    """Return the words of name, description and parameters, in small letters."""
    texts = [subject.tool.description or "", *(parameter.description for parameter in subject.signals.parameters)]
    names = [subject.tool.name, *(parameter.name for parameter in subject.signals.parameters)]
    spoken = [word.lower() for text in texts for word in words_of(text)]
    return frozenset((*spoken, *(part.lower() for name in names for part in name_parts(name))))


def misstated_limits(
    name: str, schema: Mapping[str, Any], text: str, code: ToolCode
) -> Iterator[tuple[CodeLimit, str]]:
    """Yield limits of the code with what schema or text say instead: "a maximum of 100", "the default 10"."""
    for limit in own_limits(name, code):
        if limit.condition:
            continue
        head, _, number = limit.text.rpartition(" ")
        if head == "default" and schema.get("default") is None:  # `limit=None` in Python is no default of its own
            default = stated_default(text)
            if default is not None and not _is_equal(default, number.strip("'")):
                yield limit, f"the default {default}"
        elif (keyword := BOUNDS.get(head)) and schema.get("type") in ("integer", "number"):
            bounds = [limit.value for limit in find_limits(text) if limit.is_upper is (keyword == "maximum")]
            claims = [schema.get(keyword), *(bounds if len(bounds) == 1 else ())]
            wider = [claim for claim in map(_number, claims) if claim is not None and is_wider(claim, number, head)]
            if wider:
                yield limit, f"a {keyword} of {wider[0]:g}"


BOUNDS = {"at most": "maximum", "at least": "minimum"}
"""Keywords of a schema by the words for a limit of the code."""


def own_limits(name: str, code: ToolCode) -> list[CodeLimit]:
    """Return the limits of a parameter that the tool's own code has, without those of which there are several."""
    limits = [limit for limit in code.limits if limit.parameter == name and limit.depth <= MAX_DEPTH]
    heads = Counter(limit.text.rpartition(" ")[0] for limit in limits)
    return [limit for limit in limits if heads[limit.text.rpartition(" ")[0]] == 1]


def _number(value: object) -> float | None:
    try:
        return float(str(value).replace(",", ""))
    except ValueError:
        return None


def _is_equal(first: str, second: str) -> bool:
    number = _number(first)
    return first.lower() == second.lower() or (number is not None and number == _number(second))


def is_wider(claim: float, number: str, head: str) -> bool:
    """Return whether a claim allows more than a bound of the code: `at most` or `at least` and its number."""
    limit = _number(number)
    return limit is not None and (claim > limit if head == "at most" else claim < limit)


def coded(measured: Measured) -> Iterator[CodedTool]:
    """Yield the tools whose handler was found, each with its code."""
    for subject in measured.subjects:
        code = measured.code.find(subject.tool.name) if measured.code else None
        if code is not None and code.handler is not None and not subject.is_duplicate:
            yield CodedTool(subject, code)


def _hint(subject: Subject, name: str) -> object:
    annotations = subject.tool.raw.get("annotations")
    return annotations.get(name) if isinstance(annotations, dict) else None


def _ordered(effects: list[CodeEffect]) -> list[CodeEffect]:
    """Return effects with the agent's own words before the others, then certain ones, then near ones."""
    return sorted(effects, key=lambda effect: (not effect.is_given, bool(effect.condition), effect.depth))


def _lines(effects: list[CodeEffect]) -> str:
    """Return the first effects with their places."""
    ordered = _ordered(effects)
    return "; ".join(
        f"{effect.kind}{f' ({effect.text})' if effect.text else ''} at {effect.file}:{effect.line}"
        f"{f' if {effect.condition}' if effect.condition else ''}"
        for effect in ordered[:MAX_SHOWN]
    )
