"""Statements that the code of a tool gives: effects, errors, limits, results, hints."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from tdqs_mcp.facts.lexicon import PatternTable, read_table, words_from
from tdqs_mcp.facts.schema import arguments, signals
from tdqs_mcp.facts.schema.walk import accepted_values, value_at
from tdqs_mcp.facts.spelling import joined, name_parts, words_of
from tdqs_mcp.facts.subject import Measured, Subject
from tdqs_mcp.facts.text.claims import find_limits
from tdqs_mcp.facts.text.parameter_texts import list_entries
from tdqs_mcp.facts.text.prose import plain_text
from tdqs_mcp.facts.text.statements import stated_hints
from tdqs_mcp.facts.text.words import (
    LEMMAS,
    PREPOSITIONS,
    Effect,
    content_stems,
    effect_of,
    is_plural,
    numbers_of,
    stem,
)
from tdqs_mcp.facts.threats import find_threats
from tdqs_mcp.model import Tool
from tdqs_mcp.results.improvements import Route
from tdqs_mcp.results.tool_code import (
    CodeEffect,
    CodeError,
    CodeLimit,
    CodePlace,
    EffectKind,
    ToolCode,
    names_host,
)
from tdqs_mcp.rewriting.definition_parts import can_continue_in_english, listed, within
from tdqs_mcp.rewriting.draft_checks import is_ruled_out
from tdqs_mcp.rewriting.proposals import Statement, add_sentence, set_value
from tdqs_mcp.rewriting.questions import READS, find_open_parameters, repeats
from tdqs_mcp.rewriting.result_statements import result_sentence
from tdqs_mcp.rules.code_rules import (
    BOUNDS,
    MAX_DEPTH,
    NETWORK,
    coded,
    definition_words,
    is_certain_change,
    is_named,
    is_named_only,
    is_wider,
    misstated_limits,
    own_limits,
    reaches_out,
    says_only_reading,
    takes_whole,
)

MAX_SENTENCES = 3
"""Sentences about the code in one description: what matters to an agent, not all that happens."""

CODE_SHARE = 2
"""Times the tokens to grow by that statements of the code may take: they are proven, and fields have long names."""

MAX_ERROR = 120
"""Characters of an error's text that a sentence repeats."""

MAX_PARAMETER_TEXT = 200
"""Characters of the code's documentation of a parameter."""

MIN_ROOT = 5
"""Letters of a word that another one is made of: `redact` of "redaction"."""

MIN_SHARED = 4
"""Tools that have an error before it may be one of the whole server, which tells of none of them."""

SHARE_TOLD = 60
"""Percent of a sentence's words that the definition has, for it to say the same in other words."""

_PATTERNS = PatternTable("rewriting")
_CERTAIN = frozenset({EffectKind.FILE_WRITE, EffectKind.FILE_DELETE, EffectKind.SQL_WRITE, EffectKind.HTTP_WRITE})


def code_statements(measured: Measured, *, growth: int) -> dict[int, tuple[Statement, ...]]:
    """Return what the code of each tool gives that its definition does not say, by the tool's index.

    Sentences and limits take at most twice `growth` tokens together; what the code's documentation says of a parameter
    is the author's and takes none. Hints are set where code and words agree.
    """
    if measured.code is None:
        return {}
    codes = [code for _, code in coded(measured)]
    common = _common([[error.text for error in code.errors] for code in codes])
    envelope = _common([{key for form in code.results for key in form.keys} for code in codes])
    statements: dict[int, tuple[Statement, ...]] = {}
    for subject, code in coded(measured):
        if subject.signals.is_missing_description:
            continue  # a definition that was read in part may have all of this already
        parts = [*_hints(subject, code)]
        if can_continue_in_english(subject):
            errors = _own_errors(subject, code, common)
            demands = _Demands(subject, errors, frozenset(measured.names) - {subject.tool.name})
            sentences = islice(_sentences(subject, code, demands, envelope, measured), MAX_SENTENCES)
            documented = {part.path: part for part in _documented(subject, code)}
            limits = [(part, False) for part in _limited(subject, code, demands) if part.path not in documented]
            weigh = partial(_new_tokens, tool=subject.tool)
            parts += [*documented.values(), *within([*limits, *sentences], growth=CODE_SHARE * growth, weigh=weigh)]
        statements[subject.tool.index] = tuple(part for part in parts if not find_threats({"text": _text(part)}))
    return {index: parts for index, parts in statements.items() if parts}


def _common(texts: Sequence[Iterable[str]]) -> frozenset[str]:
    """Return what half of the tools have, an error of the server or a key of its envelope: it tells of none."""
    counts = Counter(text for own in texts for text in own)
    most = max(MIN_SHARED, len([*filter(None, texts)]) // 2)
    return frozenset(text for text, count in counts.items() if count >= most)


def _new_tokens(statement: Statement, *, tool: Tool) -> int:
    """Return the tokens of a statement's own words, without those of the author before them."""
    old = "" if statement.sentence else str(value_at(tool.raw, statement.path) or "")
    return signals.estimate_tokens(_text(statement)) - signals.estimate_tokens(old)


def _text(statement: Statement) -> str:
    return statement.sentence or str(statement.value)


def _source(place: CodePlace) -> str:
    return f"code {place}"


# Hints


def _hints(subject: Subject, code: ToolCode) -> Iterator[Statement]:
    """Yield the hints that are not set, where the code proves them and the words do not deny them.

    A reading of code may miss a change, and a name may lie; both together are right. A hint that the author has set is
    changed only where both are against it, or where the code disproves it as surely as for an error of TDQ801.
    """
    annotations = subject.tool.raw.get("annotations")
    if not subject.tool.is_mcp or not (annotations is None or isinstance(annotations, Mapping)):
        return
    present: Mapping[str, Any] = annotations or {}
    new = [hint for hint in _proven(subject, code, present) if present.get(hint[0]) is not hint[1]]
    if any(_DEFAULTS[name] is not proof or name in present for name, proof, _ in new):
        value = {**present, **{name: proof for name, proof, _ in new}}
        sources = [_source(place) for *_, place in new]
        yield set_value("/annotations", value, Route.CODE, sources)


_DEFAULTS = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
"""What clients take for a hint that is not set (MCP specification, ToolAnnotations): alone it tells nothing."""


def _proven(subject: Subject, code: ToolCode, present: Mapping[str, Any]) -> Iterator[tuple[str, bool, CodePlace]]:
    """Yield hints with their values and the lines that prove them."""
    handler = code.handler or code.registration
    verbs = {subject.prose.effect, subject.prose.name_effect} - {None}
    is_changing = any(verb.is_mutating for verb in verbs if verb)
    changes = [effect for effect in code.own_effects if effect.kind not in READS and effect.is_given]
    certain = [effect for effect in changes if effect.kind in _CERTAIN and not effect.condition]
    is_denied = present.get("readOnlyHint") is True
    certain = [effect for effect in certain if not (is_denied and is_named_only(effect))]
    disproofs = [effect for effect in code.own_effects if is_denied and is_certain_change(effect)]
    taking = [effect for effect in certain if takes_whole(effect, code)]
    if code.read_only is True and Effect.READ in verbs and not changes and "readOnlyHint" not in present:
        if not is_changing and not is_ruled_out("readOnlyHint", subject, value=True):
            yield "readOnlyHint", True, handler
    elif code.read_only is False and (disproofs or (certain and (is_changing or Effect.READ not in verbs))):
        yield "readOnlyHint", False, (disproofs or certain)[0]
        may_set = present.get("destructiveHint") is not False or Effect.DELETE in verbs
        if code.destructive is True and taking and may_set:
            yield "destructiveHint", True, taking[0]
        elif code.destructive is False and not is_ruled_out("destructiveHint", subject, value=False):
            yield "destructiveHint", False, handler
        is_settled = all(takes_whole(effect, code) and repeats(effect) for effect in changes)
        if certain and is_settled and "idempotentHint" not in present:
            yield "idempotentHint", True, certain[0]
    requests = [effect for effect in code.own_effects if effect.kind in NETWORK]
    is_disproven = present.get("openWorldHint") is False and any(map(reaches_out, requests))
    if isinstance(code.open_world, bool) and ("openWorldHint" not in present or (code.open_world and is_disproven)):
        yield "openWorldHint", code.open_world, next(iter(requests), handler)


# Sentences


def _sentences(
    subject: Subject, code: ToolCode, demands: "_Demands", envelope: AbstractSet[str], measured: Measured
) -> Iterator[tuple[Statement, bool]]:
    """Yield sentences, each with whether the definition has it already, what cannot be undone first."""
    about = f"{measured.catalog.server} {measured.catalog.instructions or ''}"
    place = code.handler or code.registration
    sentences: list[tuple[CodePlace, str, int]] = []
    for effect in code.own_effects:
        if _is_denied(effect, subject):
            continue
        sentences.append((effect, _effect_sentence(effect, subject, code, about), 0))
        sentences.append((effect, _partial_sentence(effect, subject), 0))
    sentences += demands.sentences
    sentences.append((place, result_sentence(subject, code, envelope), 1))
    novelty = _Novelty(subject)
    for source, sentence, _ in sorted(sentences, key=lambda entry: entry[2]):
        if sentence and novelty.admits(sentence):
            yield add_sentence(sentence, Route.CODE, [_source(source)]), novelty.is_told(sentence)


def _is_denied(effect: CodeEffect, subject: Subject) -> bool:
    """Return whether a sentence of the description denies a change: what the code does would stand beside it."""
    sentences = subject.prose.sentences
    return (effect.is_change and any(map(says_only_reading, sentences))) or (
        effect.is_destroying and any(("destructiveHint", False) in stated_hints(sentence) for sentence in sentences)
    )


def _own_errors(subject: Subject, code: ToolCode, common: AbstractSet[str]) -> list[CodeError]:
    """Return the errors of the tool's own work, without those of the whole server."""
    names = {parameter.name for parameter in subject.signals.parameters}
    near = [error for error in code.errors if error.depth <= MAX_DEPTH]
    return [error for error in near if error.text not in common or _is_about_input(error, names)]


def _is_about_input(error: CodeError, names: AbstractSet[str]) -> bool:
    """Return whether an error is about a parameter of the tool itself, which it names or begins with."""
    return any(name in words_of(error.text) and not (name.isalpha() and name.islower()) for name in names) or (
        error.parameter in names and _PATTERNS.computed_name.match(error.text) is not None
    )


class _Novelty:
    """Knows what a definition says, and which sentences have been added."""

    def __init__(self, subject: Subject) -> None:
        texts = [subject.tool.description or "", *(parameter.description for parameter in subject.signals.parameters)]
        texts += [str(value) for node in subject.input_shape.nodes for value in node.schema.get("enum") or ()]
        self._text = plain_text(" ".join(texts))
        self._stems = content_stems(words_of(" ".join(texts)))
        self._sentences: list[frozenset[str]] = []

    def is_told(self, sentence: str) -> bool:
        """Return whether the definition has a sentence word for word, as after an earlier run."""
        return plain_text(sentence) in self._text

    def admits(self, sentence: str) -> bool:
        """Return whether a sentence is told already, or neither the definition nor an earlier one says most of it."""
        stems = content_stems(words_of(sentence)) - content_stems(["fails", "if", "returns", "error"])
        texts = (self._stems, *self._sentences)
        is_new = bool(stems) and all(100 * len(stems & words) < SHARE_TOLD * len(stems) for words in texts)
        is_admitted = is_new or self.is_told(sentence)
        self._sentences += [stems] if is_admitted else []
        return is_admitted


def _effect_sentence(effect: CodeEffect, subject: Subject, code: ToolCode, about: str) -> str:
    """Return what a line does as a sentence, where it is the tool's own work and no text names it."""
    condition = _condition(effect.condition, subject)
    is_own = effect.depth <= MAX_DEPTH and (effect.is_given or not effect.is_destroying)
    words = _effect_words(effect, subject, code, about) if is_own and condition is not None else None
    if not words:
        return ""
    return f"{condition}it {words}." if condition else f"{words[0].upper()}{words[1:]}."


def _partial_sentence(effect: CodeEffect, subject: Subject) -> str:
    """Return that an update keeps what is not given; empty where a parameter is always sent, or a text has it."""
    optional = {parameter.name for parameter in subject.signals.parameters if not parameter.is_required}
    is_partial = effect.text.startswith("PATCH") and len(effect.sparse) > 1 and optional <= {*effect.sparse}
    is_said = not words_from("rewriting", "partial").isdisjoint(definition_words(subject))
    return "Fields that are not given stay unchanged." if is_partial and not is_said else ""


def _effect_words(effect: CodeEffect, subject: Subject, code: ToolCode, about: str) -> str | None:
    """Return an effect as a verb with its object; None for what a text names, and for what matters to no agent."""
    if effect.is_destroying and not takes_whole(effect, code):
        return None
    match effect.kind:
        case EffectKind.FILE_DELETE | EffectKind.SQL_WRITE | EffectKind.HTTP_WRITE if effect.is_destroying:
            is_deletion = effect.kind is EffectKind.FILE_DELETE or effect.text.upper().startswith(_DELETING)
            return _deletion(effect, subject, code) if is_deletion and not is_named(effect, subject) else None
        case EffectKind.FILE_WRITE if (effect.is_destroying or effect.condition) and not is_named(effect, subject):
            return _OVERWRITES if effect.is_destroying else "writes files on the server's machine"
        case EffectKind.HTTP_WRITE | EffectKind.SENDS_DATA_OUT if effect.host and effect.is_given:
            texts = f"{about} {subject.tool.name} {subject.tool.description or ''}".lower()
            is_told = _PATTERNS.loopback.match(effect.host) or names_host(texts, effect.host)
            return None if is_told else f"sends its input to {effect.host}"
        case EffectKind.PROCESS if program := _program(effect.text):
            # of several, such as `grep` and `findstr`, the machine takes its own
            programs = {_program(other.text) for other in code.own_effects if other.kind is EffectKind.PROCESS}
            is_told = program.lower() in definition_words(subject)
            return None if is_told or len(programs) > 1 else f"runs `{program}` on the server's machine"
        case _:
            return None


_OVERWRITES = "overwrites an existing file at the given path"
_DELETING = ("DELETE", "TRUNCATE")


def _deletion(effect: CodeEffect, subject: Subject, code: ToolCode) -> str:
    """Return what the line says; empty for a DELETE request, of which only the service knows what it takes."""
    if effect.kind is EffectKind.HTTP_WRITE:
        return ""
    table = match[1] if (match := _PATTERNS.table.match(effect.text)) else None
    added = (_PATTERNS.table.match(other.text) for other in code.own_effects if other.kind is EffectKind.SQL_WRITE)
    if table and any(other and other[0].upper().startswith("INSERT") and other[1] == table for other in added):
        names = {parameter.name for parameter in subject.signals.parameters}
        key = match[1] if (match := _PATTERNS.key_column.search(effect.text)) and match[1] in names else ""
        return f"replaces an existing entry with the same `{key}`" if key else ""
    return "deletes files" if effect.kind is EffectKind.FILE_DELETE else "deletes data from a database"


def _program(command: str) -> str | None:
    """Return the program of a command: `git` of `git log {}`."""
    first, _, arguments = command.partition(" ")
    first = first.rpartition("/")[2]
    return first if arguments and _PATTERNS.program.fullmatch(first) else None  # `launch` alone is a library's function


def _condition(condition: str, subject: Subject) -> str | None:
    """Return when a line is reached, in words: `` With `operation` "remove", ``; None where that is not plain."""
    names = {parameter.name for parameter in subject.signals.parameters}
    phrases: list[str] = []
    for part in condition.split(" and ") if condition else ():
        several = [_PATTERNS.test.fullmatch(test) for test in re.split(r" or (?=\w+ == ')", part)]
        match, values = several[0], [f'"{test["value"]}"' for test in several if test and test["value"]]
        is_one = len({test and test["name"] for test in several}) == 1 and len(several) in (1, len(values))
        if match is None or match["name"] not in names or not is_one or len(values) > MAX_CASES:
            return None
        if values:
            phrases.append(f"with `{match['name']}` {joined(values, 'or')}")
        elif match["none"]:
            phrases.append(f"without `{match['name']}`")
        elif not match["other"]:  # `operation != 'add'` follows from `operation == 'remove'`
            phrases.append(f"{'without' if match['not'] else 'with'} `{match['name']}`")
    chosen = list(dict.fromkeys(phrases))
    if len(chosen) > MAX_CONDITIONS or (condition and not chosen):
        return None
    words = " and ".join(chosen)
    return f"{words[0].upper()}{words[1:]}, " if words else ""


MAX_CONDITIONS = 2
"""Conditions of one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Demand:
    """Parameters that a call needs, though the schema leaves them open."""

    parameters: tuple[str, ...]
    switch: tuple[str, str] | None
    """Parameter and value with which they are needed; None for every call."""


def _find_demand(error: CodeError, subject: Subject) -> _Demand | None:
    """Return the parameters of whose absence an error tells; None where condition and words do not agree.

    `action == 'add' and not text` and "text is required to add": both name what is missing.
    """
    parts = re.split(r" (and|or) ", error.condition)
    tests = [_PATTERNS.test.fullmatch(part) for part in parts[::2]]
    absent = [place for place, test in enumerate(tests) if test and (test["not"] or test["none"])]
    switches = {(test["name"], test["value"]) for test in tests if test and test["value"]}
    is_plain = all(test and (test["not"] or test["none"] or test["value"] or test["other"]) for test in tests)
    joints = [parts[2 * place - 1] for place in absent[1:]]  # "ref == None and x == None": one of both is enough
    if not absent or not is_plain or "and" in joints or len(switches) > 1 or not _PATTERNS.demanding.search(error.text):
        return None
    names = [test["name"] for place in absent if (test := tests[place])]
    switch = next(iter(switches), None)
    parameters = {parameter.name: parameter for parameter in subject.signals.parameters}
    is_excluded = any(test and test["other"] and (switch is None or test["name"] != switch[0]) for test in tests)
    if is_excluded or not {*names, *(switch or ())[:1]} <= parameters.keys():
        return None
    words = list(map(str.lower, words_of(error.text)))
    further = parameters.keys() - {*names, *(switch or ())[:1]}
    spoken = {name for name in names if name.lower() in words or " ".join(name_parts(name)).lower() in " ".join(words)}
    if spoken != {*names} or not {name.lower() for name in further}.isdisjoint(words):
        return None  # "Provide either by/value to locate a frame, or index"
    return _Demand(parameters=tuple(name for name in names if not parameters[name].is_required), switch=switch)


class _Demands:
    """Demands of the code's errors: texts of single parameters by name, and sentences about a call."""

    def __init__(self, subject: Subject, errors: Iterable[CodeError], siblings: AbstractSet[str]) -> None:
        self.texts: dict[str, list[tuple[str, CodePlace]]] = {}
        self.sentences: list[tuple[CodePlace, str, int]] = []
        """Place, sentence, and how little it tells: 0 for what the code demands, 2 for what may be missing."""
        names = {parameter.name for parameter in subject.signals.parameters}
        needed: dict[tuple[str, str], dict[str, CodeError]] = {}
        for error in errors:
            if demand := _find_demand(error, subject):
                switch, value = demand.switch or ("", "")
                for name in demand.parameters:
                    if not _is_said_needed(name, demand.switch, subject):
                        needed.setdefault((name, switch), {}).setdefault(value, error)
                continue
            sentence, rank = _error_sentence(error, subject, siblings)
            name = _only_parameter(error, sentence, names) if sentence and rank == 0 else ""
            if name:
                self.texts.setdefault(name, []).append((sentence, error))
            else:
                self.sentences.append((error, sentence, rank))
        for (name, switch), errors_by_value in needed.items():
            values = joined([f'"{value}"' for value in errors_by_value], "or")
            text = f"Required with `{switch}` {values}." if switch else "Required."
            if len(errors_by_value) <= MAX_CASES:
                self.texts.setdefault(name, []).insert(0, (text, next(iter(errors_by_value.values()))))


MAX_CASES = 6
"""Values of a parameter with which another one is needed, for a text to name them."""


def _only_parameter(error: CodeError, sentence: str, names: AbstractSet[str]) -> str:
    """Return the parameter that a demand is about: the only one that the code tests, or the one it begins with."""
    tests = [test for test in re.split(r" (?:and|or) ", error.condition) if "= '" not in test]
    tested = {test.removeprefix("not ").partition(" ")[0] for test in tests} & names
    first = re.split(r"[^\w]", sentence.lstrip("`"), maxsplit=1)[0]
    begun = next((name for name in names if name.lower() == first.lower()), "")
    name = next(iter(tested)) if len(tested) == 1 else begun
    return "" if any(f"`{other}`" in sentence for other in names - {name}) else name


def _is_said_needed(name: str, switch: tuple[str, str] | None, subject: Subject) -> bool:
    """Return whether the parameter's own text names the value with which it is needed, or its need."""
    texts = [parameter.description for parameter in subject.signals.parameters if parameter.name == name]
    texts += [text for text in subject.prose.sentences if name in words_of(text)]
    word = switch[1] if switch else "required"
    return any(word.lower() in map(str.lower, words_of(text)) for text in texts)


def _error_sentence(error: CodeError, subject: Subject, siblings: AbstractSet[str]) -> tuple[str, int]:
    """Return an error as a sentence, and how little it tells: 0 for what the code demands, 2 for what may be missing.

    Only what is about the tool's own input; empty for the others.
    """
    names = {node.name for node in subject.input_shape.nodes if node.name}
    text = re.sub(rf" (?:in|by|with|for) the {re.escape(subject.tool.name)} tool\b", "", error.text)
    if error.parameter in names and text.count("{}") == 1:
        text = _PATTERNS.computed_name.sub(error.parameter, text)  # "'{}' not found in Networks."
    text = _plain_error(text)
    is_general = subject.tool.name in text or _PATTERNS.general_demand.search(text)
    if not text or is_general or _leaks(text, names):
        return "", 0
    parts = {stem(part.lower()) for name in names for part in name_parts(name)} - {stem("id")}
    spoken = {stem(part.lower()) for word in words_of(text) for part in (word, *name_parts(word))}
    if parts.isdisjoint(spoken):
        return "", 0
    is_demand = _PATTERNS.demand.fullmatch(text) is not None
    if is_demand and (_is_in_schema(text, parts, subject) or _PATTERNS.of_one_value.search(error.text) or "{" in text):
        return "", 0  # 'Swipe direction "{}" is not supported': true of a value, not of all
    is_doubled = text.lower().startswith("no ")  # "No hash provided and agent is not registered"
    match = _PATTERNS.absence.fullmatch(text) or (None if is_doubled else _PATTERNS.failure.fullmatch(text))
    if not is_demand and match is None:
        return "", 0
    switches = {
        f'with `{test["name"]}` "{test["value"]}", '
        for test in _PATTERNS.test.finditer(error.condition)
        if test["value"]
    }
    advice = _find_advice(error.text, names | siblings)
    is_obvious = match is not None and not match["rest"] and not advice and _PATTERNS.obvious.search(match["what"])
    if len(switches) > 1 or is_obvious:
        return "", 0
    start = next(iter(switches), "")
    demand = f"{text[0].lower()}{text[1:]}" if start and text[1:2].islower() else text
    failure = "it returns an error if" if error.is_result else "fails if"
    tested = {name for name in names if re.search(rf"\b{re.escape(name)}\b", error.condition)}
    whole = f"{start}{demand if is_demand or match is None else f'{failure} {_failing(match)}'}."
    marked = _marked(whole, names, tested if len(tested) > 1 else frozenset())
    sentence = f"{marked[0].upper()}{marked[1:]}".replace("It returns", "Returns")
    return f"{sentence} {advice}".strip(), 0 if is_demand else 2


def _is_in_schema(text: str, parts: AbstractSet[str], subject: Subject) -> bool:
    """Return whether a demand says no more than a schema can: "Board ID cannot be empty", but not "Either a or b"."""
    match = _PATTERNS.must.search(text)
    predicate = text[match.start() :] if match else text  # "Application name must be a string"
    stems = {stem(part.lower()) for word in words_of(predicate) for part in name_parts(word)}
    words = {word.lower() for word in words_of(text[: match.start()] if match else text)}
    named = [parameter for parameter in subject.signals.parameters if parameter.name.lower() in words]
    is_choice = len(named) > 1 and not all(parameter.is_required for parameter in named)
    is_required = bool(named) and "required" in predicate and all(parameter.is_required for parameter in named)
    quoted = {*re.findall(r"'([^']+)'", text)}
    if quoted and any(quoted <= {*map(str, node.schema.get("enum") or ())} for node in subject.input_shape.nodes):
        return True  # "Operation must be 'create' or 'update'."
    empty = {stem(word) for word in words_from("rewriting", "empty_demands")}
    return is_required or (parts | empty >= stems and not is_choice)


def _find_advice(error: str, names: AbstractSet[str]) -> str:
    """Return the sentence behind an error's first that says what to do with another tool, a parameter or a variable.

    "No recording found for device {}. Start one first with start_recording."
    """
    for sentence in re.split(r"(?<=[.!])\s+", error)[1:]:
        words = sentence.rstrip(".! ").split()
        is_order = bool(words) and LEMMAS.get(words[0].lower()) == words[0].lower()
        allowed = {*names, *_PATTERNS.variable.findall(sentence)}
        certain = {name for name in allowed if not (name.isalpha() and name.islower())}  # `search` is a plain word
        is_named = any(word.strip("`'\",()").partition("=")[0] in certain for word in words)
        is_named |= any(f"the {name} {kind}" in sentence for name in names for kind in ("tool", "option", "parameter"))
        leaks = _leaks(sentence.replace("=", " "), allowed)
        if is_order and is_named and not leaks and sentence.isascii() and len(sentence) <= MAX_ERROR:
            return _marked(f"{' '.join(words)}.", frozenset(names))
    return ""


def _plain_error(text: str) -> str:
    """Return the first sentence of an error without what is computed; empty where it says nothing then."""
    text = _PATTERNS.invalid_value.sub(
        r"\1 must be", text.strip()
    )  # "Invalid resourceId: {}. Must be a positive integer."
    first = re.split(r"(?<=[\w}'\"`)])[.!;](?=\s|$)|\n", text, maxsplit=1)[0]
    first = re.sub(r"^(?:error|validation error)\s*[:\-]\s*", "", first, flags=re.IGNORECASE)
    first = re.sub(r"\s*\([^()]*\{\}[^()]*\)", "", first)
    first = re.sub(r"\s*[:,=-]\s*[\"'`]?\{\}[\"'`]?$", "", first)
    first = re.sub(r"\bwith (?:the )?(\w+) [\"'`]?\{\}[\"'`]?", r"of that \1", first)
    first = re.sub(r"\b(in|on|of|for|from|to|at|within) ([a-z]+) [\"'`]?\{\}[\"'`]?", r"\1 the \2", first)
    first = _PATTERNS.thing_and_name.sub(_without_name, first)
    is_plain = "{}" not in first and first.isascii() and len(first) <= MAX_ERROR and len(first.split()) > 2
    first = re.sub(r"[,(]? ?(?:e\.g|i\.e)\.?$", "", first)
    first = re.sub(r"(?<=\w{3}): .*", "", first) if _PATTERNS.demand.fullmatch(first.split(": ")[0]) else first
    is_half = "{}" in text and _PATTERNS.half_said.search(first)
    return first.rstrip(" .:") if is_plain and not is_half else ""


def _without_name(match: re.Match[str]) -> str:
    """Return a thing without its name: `Paper` of "Paper {}"; all of "Calls on {}", which says nothing without."""
    return match[0] if match[1].split()[-1].lower() in PREPOSITIONS else match[1]


def _leaks(text: str, names: AbstractSet[str]) -> bool:
    """Return whether a text has a name of the code that the agent does not know: `pool_mgr`, `getClient()`, `a=b`."""
    return any(word.strip("`'\".,:;()") not in names for word in text.split() if _PATTERNS.internal_name.search(word))


def _failing(match: re.Match[str]) -> str:
    """Return the condition of a failure: `the paper is not found on arXiv`."""
    thing, rest = match["thing"], match["rest"] or ""
    predicate = re.sub(r"^(was|were)\b", lambda verb: {"was": "is"}.get(verb[0], "are"), match["what"])
    is_many = is_plural(thing.split()[-1].lower())
    if not re.match(r"(?:is|are|does|do|has|have|exceeds?|already exists?)\b", predicate):
        predicate = f"{'are' if is_many else 'is'} {predicate}"
    if match.re is _PATTERNS.absence:
        return f"no {thing} {predicate}{rest}"
    first, _, rest_of_thing = thing.partition(" ")
    own = first if not first.isalpha() or first.isupper() or not first.istitle() else first.lower()
    determiner = "" if first.lower() in _DETERMINERS else "the "
    return f"{determiner}{own}{' ' if rest_of_thing else ''}{rest_of_thing} {predicate}{rest}"


_DETERMINERS = frozenset("no any all each every this that these both either neither you it they".split())


def _marked(sentence: str, names: AbstractSet[str], certain: AbstractSet[str] = frozenset()) -> str:
    """Return a sentence in backticks for the parameters that are `certain`, or that no plain word is like."""
    for name in sorted(names, key=len, reverse=True):
        sentence = re.sub(rf"(?<![\w`'\".])({re.escape(name)}(?:\.\w+)+)(?![\w`'\"])", r"`\1`", sentence)
        if name in certain or not (name.isalpha() and name.islower()):
            sentence = re.sub(rf"(?<![\w`'\"]){re.escape(name)}(?![\w`'\"])", f"`{name}`", sentence)
    return sentence


# Parameters


def _documented(subject: Subject, code: ToolCode) -> Iterator[Statement]:
    """Yield what the code's own documentation says of parameters that nothing explains."""
    words = definition_words(subject)
    for name in find_open_parameters(subject):
        schema = arguments.properties(subject.tool).get(name)
        entry = _entry(name, words, code) if name not in code.unused_parameters else None
        if entry and isinstance(schema, Mapping):
            text, place = entry
            text = _PATTERNS.default_at_end.sub("", text) if "default" in schema else text
            limits = list(_limits(name, {**schema, "description": text}, subject, code))
            yield _parameter(name, [(text, place), *limits])


def _bounded(text: str) -> str:
    """Return a demand as a range: `From 1 to 100.` for "Limit parameter must be between 1-100."; else as it is."""
    limits = find_limits(re.sub(r"(between \d+)-(?=\d)", r"\1 and ", text))
    ends = {limit.is_upper: f"{limit.value:g}" for limit in limits}
    if not limits or any(limit.unit for limit in limits):
        return text
    if len(ends) > 1:
        return f"From {ends[False]} to {ends[True]}."
    return f"At most {ends[True]}." if True in ends else "" if ends[False] in ("0", "1") else f"At least {ends[False]}."


def _is_told(sentence: str, present: str) -> bool:
    """Return whether a text has a sentence, or all the numbers (but where a range begins) or quoted values in it."""
    values = (numbers_of(sentence) - {"0", "1"}) | {value.lower() for value in re.findall(r"'(\w+)'", sentence)}
    contents = numbers_of(present) | {word.lower() for word in words_of(present)}
    return plain_text(sentence) in present or (bool(values) and values <= contents)


def _limited(subject: Subject, code: ToolCode, demands: _Demands) -> Iterator[Statement]:
    """Yield descriptions of parameters with what the code demands of them, and with its limits for them."""
    for name, schema in arguments.properties(subject.tool).items():
        old = schema.get("description") if isinstance(schema, Mapping) else 0
        if not isinstance(old, str | None):
            continue
        present = f"{plain_text(old or '')} {plain_text(subject.tool.description or '')}"
        text, corrections = _corrected(old or "", name, schema, code)
        stated = [(_bounded(text), place) for text, place in demands.texts.get(name, ())]
        texts = [part for part in stated if part[0] and not _is_told(part[0], present)]
        whole = " ".join([text, *(text for text, _ in texts)])
        texts += _limits(name, {**schema, "description": whole}, subject, code)
        if texts or corrections:
            yield _parameter(name, texts, text, corrections)


def _corrected(text: str, name: str, schema: Mapping[str, Any], code: ToolCode) -> tuple[str, list[CodePlace]]:
    """Return a parameter's text with the code's bounds in place of wider ones, and the lines that prove them."""
    places: list[CodePlace] = []
    for limit, _ in misstated_limits(name, schema, text, code):
        head, _, number = limit.text.removesuffix(".0").rpartition(" ")
        stated = [bound for bound in find_limits(text) if bound.is_upper is (head == "at most")]
        if head not in BOUNDS or len(stated) != 1 or text.count(stated[0].text) != 1:
            continue
        phrase, value = stated[0].text, stated[0].value
        figures = [match for match in _PATTERNS.figure.finditer(phrase) if float(match[0].replace(",", "")) == value]
        if len(figures) == 1 and value != float(number):
            corrected = f"{phrase[: figures[0].start()]}{number}{phrase[figures[0].end() :]}"
            text = text.replace(phrase, corrected)
            places.append(limit)
    return text, places


def _parameter(
    name: str, texts: Sequence[tuple[str, CodePlace]], old: str = "", corrections: Sequence[CodePlace] = ()
) -> Statement:
    """Return a parameter's description: the texts behind what it says already, which lines may have corrected."""
    path = f"{arguments.property_pointer(name)}/description"
    value = " ".join([*([_ended(old)] if old else []), *(text for text, _ in texts)]) if texts else old
    places = (*corrections, *(place for _, place in texts))
    return set_value(path, value, Route.CODE, [_source(place) for place in places])


def _ended(text: str) -> str:
    text = text.rstrip()
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."


def _entry(name: str, words: AbstractSet[str], code: ToolCode) -> tuple[str, CodePlace] | None:
    """Return what the nearest function that gets a parameter says of it, in more than the definition's words."""
    present = content_stems([*words, *(["identifier"] if "id" in words else [])])
    roots = tuple(root for root in present if len(root) >= MIN_ROOT)
    for text in code.texts:
        for entry in list_entries(text.text) if text.parameter == name else ():
            line = " ".join(entry.text.split()).replace("if None", "if omitted").replace("``", "`")
            if entry.name == name and _tells(line, name, words):
                forms = content_stems(words_of(line))
                is_told = all(form in present or form.startswith(roots) for form in forms)  # a farther one knows less
                return None if is_told else (_ended(f"{line[0].upper()}{line[1:]}"), text)
    return None


def _tells(text: str, name: str, words: AbstractSet[str]) -> bool:
    """Return whether a parameter's documentation says more than its name, and speaks of what the tool does.

    "The query to validate" speaks of a helper: the tool does not validate.
    """
    own = content_stems(words_of(text)) - content_stems(part.lower() for part in name_parts(name))
    verbs = [verb for verb in re.findall(r"\bto ([a-z]+)", text) if effect_of(verb) in _LOOKING and verb not in words]
    is_plain = text.isascii() and len(text) <= MAX_PARAMETER_TEXT and not verbs
    return bool(own) and is_plain


_LOOKING = (Effect.READ, Effect.PRODUCE)


def _limits(name: str, schema: Mapping[str, Any], subject: Subject, code: ToolCode) -> Iterator[tuple[str, CodePlace]]:
    """Yield the bounds, the default and the closed values in the code that neither schema nor text has."""
    texts = f"{subject.tool.description or ''} {schema.get('description') or ''}"
    limits = [limit for limit in own_limits(name, code) if not _is_broken(limit, schema.get("default"))]
    bounds = {limit.text.rpartition(" ")[0]: limit for limit in limits if not limit.condition}
    lower, upper = bounds.get("at least"), bounds.get("at most")
    is_open = not _is_bounded("at least", texts)
    if (
        lower
        and upper
        and is_open
        and _limit_words(upper, name, schema, texts, subject)
        and not {*BOUNDS.values()} & schema.keys()
    ):
        ends = [limit.text.rpartition(" ")[2].removesuffix(".0") for limit in (lower, upper)]
        yield f"From {ends[0]} to {ends[1]}.", upper
        limits = [limit for limit in limits if limit not in (lower, upper)]
    for limit in limits:
        words = _limit_words(limit, name, schema, texts, subject)
        if words and not limit.condition:
            yield f"{words[0].upper()}{words[1:]}.".replace("The default is", "Default:"), limit
        elif words and (condition := _condition(limit.condition, subject)):
            yield f"{condition}{words}.", limit
    limited = [limit for limit in own_limits(name, code) if limit.text.startswith("one of ")]
    closed = [(limit.text.removeprefix("one of ").split(", "), limit) for limit in limited]
    values, place = next(iter([*closed, *_refused_values(name, code)]), ((), None))
    is_said = accepted_values(schema, schema).values is not None
    if place and not is_said and not {value.lower() for value in values} <= {word.lower() for word in words_of(texts)}:
        yield f"One of {listed(values, 'or')}.", place


def _is_broken(limit: CodeLimit, default: object) -> bool:
    """Return whether the default is beyond a bound: `max(padding, 20)` with a default of 10 bounds no argument."""
    head, _, value = limit.text.rpartition(" ")
    return head in BOUNDS and type(default) in (int, float) and is_wider(float(str(default)), value, head)


def _limit_words(limit: CodeLimit, name: str, schema: Mapping[str, Any], texts: str, subject: Subject) -> str:
    """Return a bound or a default in words; empty where schema or text has it, or it says nothing."""
    head, _, value = limit.text.removesuffix(".0").rpartition(" ")
    if limit.is_form:
        return limit.text if _is_form_open(limit.text, name, schema, texts) else ""
    if value in numbers_of(texts) or value.strip("'").lower() in map(str.lower, words_of(texts)):
        return ""
    kind = str(schema.get("type"))
    if head == "default":
        is_required = any(parameter.name == name and parameter.is_required for parameter in subject.signals.parameters)
        is_open = not (is_required or "default" in schema or "default" in texts.lower())
        is_telling = value not in ("0", "False") and _PATTERNS.default_value.fullmatch(value) is not None
        spelled = "true" if value == "True" else value.replace("'", "`")
        return f"the default is {spelled}" if is_open and is_telling else ""
    bound = head.removeprefix("length ")
    if _is_bounded(bound, texts):
        return ""
    unit, *keywords = _SIZES.get((kind, bound != head), ("",))
    is_new = bound in BOUNDS and bool(keywords) and schema.keys().isdisjoint(keywords)
    return f"{bound} {value}{unit}" if is_new and "." not in value and value not in ("0", "1") else ""


def _is_bounded(bound: str, texts: str) -> bool:
    """Return whether a text gives another bound on this side, which must not stand beside the code's."""
    return bound in BOUNDS and any(limit.is_upper is (bound == "at most") for limit in find_limits(texts))


_SIZES = {
    ("integer", False): ("", "maximum", "minimum"),
    ("number", False): ("", "maximum", "minimum"),
    ("string", True): (" characters", "maxLength", "minLength"),
    ("array", True): (" items", "maxItems", "minItems"),
}
"""Unit and keywords of a bound, by a parameter's type and by whether the bound is one of its length."""


def _is_form_open(form: str, name: str, schema: Mapping[str, Any], texts: str) -> bool:
    """Return whether neither the schema nor a text nor the parameter's name says what the code takes it for."""
    words = {word.lower() for word in (*words_of(texts), *name_parts(name))} | ({"*"} if "*" in texts else set())
    kinds = ("number", "integer") if form.startswith("in ") else ("string",)
    types = accepted_values(schema, schema).types - {"null"}
    return (
        bool(types)
        and types <= {*kinds}
        and words.isdisjoint(read_table("rewriting")["forms"][form].split())
        and _FORM_KEYWORDS.isdisjoint(schema)
    )


_FORM_KEYWORDS = frozenset({"format", "pattern", "enum", "contentEncoding", "contentMediaType"})


def _refused_values(name: str, code: ToolCode) -> Iterator[tuple[Sequence[str], CodePlace]]:
    """Yield the values without which an error says that the parameter is wrong: `mode not in 'a', 'b'`."""
    spoken = r"[\s_]".join(map(re.escape, name_parts(name)))
    refusal = re.compile(rf"\b(?:invalid|unknown|unsupported) {spoken}\b|\b{spoken} must be\b", re.IGNORECASE)
    test = re.compile(rf"{re.escape(name)} (?:not in|!=) (.+)")
    for error in code.errors:
        lists = [match[1] for part in error.condition.split(" and ") if (match := test.fullmatch(part))]
        values = [value.strip("'") for listed in lists for value in listed.split(", ") if value != "None"]
        is_plain = all(re.fullmatch(r"[\w./:+-]+", value) for value in values) and len(values) > 1
        if is_plain and error.depth <= MAX_DEPTH and " or " not in error.condition and refusal.search(error.text):
            yield values, error
