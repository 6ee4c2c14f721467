"""The sentence about what comes back from a tool, as its code proves."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from tdqs_mcp.facts.lexicon import PatternTable, words_from
from tdqs_mcp.facts.spelling import joined, name_parts, words_of
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.statements import is_negation, listed_fields
from tdqs_mcp.facts.text.words import PREPOSITIONS, Cue
from tdqs_mcp.results.tool_code import CodeResult, ResultKind, ToolCode
from tdqs_mcp.rewriting.definition_parts import MAX_FIELDS, listed

MIN_KEYS = 2
"""Keys of a result that a sentence names; a single one tells little."""

MAX_RARE = 2
"""Keys that an object may have that a sentence names; where there are more, what comes back depends on something."""

_PATTERNS = PatternTable("rewriting")


def result_sentence(subject: Subject, code: ToolCode, envelope: AbstractSet[str]) -> str:
    """Return what comes back, as far as no text and no schema says so; empty where that is not known.

    Nothing of a tool with a closed parameter that each call gives: what comes back depends on it. Nothing beside a text
    that lists what comes back: it would stand there twice. Keys of an `envelope` tell nothing.
    """
    required = (node for node in subject.input_shape.nodes if node.is_top and node.is_required)
    is_chosen = any(len(node.schema.get("enum") or ()) > 1 for node in required)
    forms = [form for form in code.results if not _tells_nothing_found(form)]
    if not code.is_result_whole or is_chosen or _is_result_told(subject, forms) or find_other_fields(subject, code):
        return ""
    texts = [form for form in forms if form.kind is ResultKind.TEXT]
    labeled = [form.text for form in texts if form.labels]
    # "Boats of {}:" is what another text is without any item
    beginnings = {
        form for form in texts if not form.labels and any(text.startswith(form.text.rstrip()) for text in labeled)
    }
    names = (*envelope, *(parameter.name for parameter in subject.signals.parameters))
    bare = words_from("rewriting", "bare_keys") | {name.lower().replace("_", "") for name in names}
    parts = list(dict.fromkeys(_result_words(form, bare) for form in forms if form not in beginnings))
    if len(parts) != 1 or not parts[0]:
        return ""
    if parts[0].startswith(_INCLUDES):
        return f"The result {parts[0]}."
    if len(forms) == len(code.results) and forms[0].kind is not ResultKind.TEXT and not subject.is_result_open:
        verb = "is" if forms[0].kind is ResultKind.OBJECTS else "has"
        return f"The result {verb} {parts[0]}."
    return f"Returns {parts[0]}."


def find_other_fields(subject: Subject, code: ToolCode) -> str:
    """Return what the text says of fields, and which others the code returns; empty where it returns one of them."""
    form = code.results[0] if code.is_result_whole and len(code.results) == 1 else None
    if form is None or form.is_open or form.kind not in (ResultKind.OBJECT, ResultKind.OBJECTS) or not form.keys:
        return ""
    returned = {*form.keys, *form.rare, *subject.part_names}.union(*(keys for _, keys in form.lists))
    listings = ((sentence, listed_fields(sentence)) for sentence in subject.prose.sentences)
    other = next((sentence for sentence, fields in listings if fields and fields.isdisjoint(returned)), "")
    return other and f"{other!r}, but the code that starts at {code.handler} returns {', '.join(form.keys)}"


def _is_result_told(subject: Subject, forms: Sequence[CodeResult]) -> bool:
    """Return whether a sentence about the result lists what is in it, or the texts name half of its fields."""
    keys = {key for form in forms for key in (*form.keys, *form.row)}
    results = keys - words_from("rewriting", "bare_keys") - {parameter.name for parameter in subject.signals.parameters}
    sentences = [subject.prose.sentences[place] for place in subject.prose.cue_places.get(Cue.RETURN, ())]
    is_listed = any(
        len(_PATTERNS.separator.findall(sentence)) > 1
        or _PATTERNS.returned_list.fullmatch(sentence)
        or not results.isdisjoint(words_of(sentence))
        for sentence in sentences
    )
    texts = [subject.tool.description or "", *(text for _, text in subject.texts)]
    words = {word.lower() for text in texts for word in words_of(text)}
    named = {key for key in keys if key.lower() in words or " ".join(name_parts(key)).lower() in words}
    return is_listed or (not subject.is_result_open and (subject.has_telling_output or 2 * len(named) >= len(keys)))


def _tells_nothing_found(form: CodeResult) -> bool:
    """Return whether a text says what there is not: "No data for {}.", "File not found: {}"."""
    first = next(iter(words_of(form.text)), "")
    sentence = form.text.strip().rstrip(".").replace(" '{}'", "").replace(' "{}"', "").partition(":")[0]
    is_absence = is_negation(first.lower()) or _PATTERNS.failure.fullmatch(sentence)
    return bool(not form.labels and is_absence and _PATTERNS.nothing_found.search(form.text))


def _result_words(form: CodeResult, bare: AbstractSet[str]) -> str:
    """Return a form of a result in words; empty for what tells an agent nothing.

    That is a message that something was done, what the call was given, and the address that the server asks.
    """
    match form.kind:
        case ResultKind.OBJECT | ResultKind.OBJECTS:
            return _object_words(form, bare)
        case ResultKind.TEXT:
            return _text_words(form)
        case ResultKind.IMAGE:
            return "an image"
        case _:
            return ""


def _object_words(form: CodeResult, bare: AbstractSet[str]) -> str:
    """Return the keys of an object if all are known, without those that tell nothing: `success`, `message`."""
    telling = [key for key in form.keys if key.lower().replace("_", "") not in bare]
    is_envelope = not words_from("rewriting", "envelope_keys").isdisjoint((*form.keys, *form.rare))
    least = MIN_KEYS if len(telling) == len(form.keys) else MIN_LABELS
    is_whole = len(telling) <= MAX_FIELDS and len(form.rare) <= min(MAX_RARE, len(form.keys) - 1) and not form.is_open
    if len(telling) < least or not is_whole or is_envelope:
        return ""
    is_list = form.kind is ResultKind.OBJECTS
    words = [_key_words(key, dict(form.lists)) for key in (form.keys if is_list else telling)]
    listing = joined([*words, f"optionally {listed(form.rare)}"] if form.rare else words, "and")
    if is_list:
        return f"a list of objects with {listing}"
    return listing if len(telling) == len(form.keys) else f"{_INCLUDES} {listing}"


_INCLUDES = "includes"
"""Beginning of the words for some of an object's keys."""


def _key_words(key: str, lists: Mapping[str, Sequence[str]]) -> str:
    """Return a key, with the keys of the objects whose list it holds."""
    inner = lists.get(key, ())
    return f"`{key}` (objects with {listed(inner)})" if inner and len(inner) <= MAX_FIELDS else f"`{key}`"


def _text_words(form: CodeResult) -> str:
    """Return the labels of a text as plain words; empty where it has none."""
    # "Boats of" is a heading
    labels = [_label_words(label) for label in form.keys if label.rsplit(maxsplit=1)[-1].lower() not in PREPOSITIONS]
    if (not labels and not form.row) or len(labels) + len(form.row) > 2 * MAX_FIELDS:
        return ""
    if form.row:
        row = joined([_label_words(label) for label in form.row], "and")
        return joined([*labels, f"one {'line' if form.is_line else 'section'} per item with {row}"], "and")
    return f"text with {joined(labels, 'and')}" if len(labels) >= MIN_LABELS else ""


def _label_words(label: str) -> str:
    """Return a label as words inside a sentence: `page count` of "Page count"; "ID" stays."""
    return " ".join(word.lower() if word.istitle() else word for word in label.split())


MIN_LABELS = 3
"""Labels of a text, or keys among others, that a sentence names; of fewer, the name of the tool tells as much."""
