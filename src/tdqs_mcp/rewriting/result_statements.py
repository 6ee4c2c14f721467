"""Sentences about what comes back from a tool, as its code proves."""

from collections.abc import Iterator, Mapping, Sequence

from tdqs_mcp.facts.lexicon import PatternTable, lazy_pattern, words_from
from tdqs_mcp.facts.spelling import joined, name_parts, words_of
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.statements import is_negation
from tdqs_mcp.results.tool_code import CodeResult, ResultKind, ToolCode
from tdqs_mcp.rewriting.definition_parts import MAX_FIELDS, listed

MIN_KEYS = 2
"""Keys of a result that a sentence names; a single one tells little."""

MAX_QUOTED = 120
"""Characters of a text that a sentence repeats."""

MAX_FORMS = 2
"""Forms of a result that one sentence names."""

MAX_INNER = 6
"""Keys that a sentence names of the objects inside a result."""

MAX_RARE = 4
"""Keys that an object may have that a sentence names."""

_PATTERNS = PatternTable("rewriting")


def result_sentences(subject: Subject, code: ToolCode) -> Iterator[str]:
    """Yield what comes back, and what comes back where nothing is found, as far as no text and no schema says so."""
    quoted = {form: text for form in code.results if _tells_nothing_found(form) and (text := _quoted(form))}
    present = [form for form in code.results if form not in quoted]
    if code.is_result_whole and (sentence := _returned(present, subject, is_all=not quoted)):
        yield sentence
    if quoted and present:
        yield f"If nothing is found, the result is the text {next(iter(quoted.values()))}, not an error."


def _tells_nothing_found(form: CodeResult) -> bool:
    return not form.labels and _tells_absence(form) and _NOTHING.search(form.text) is not None


_NOTHING = lazy_pattern(r"(?i)\b(?:no|not)\b[^.:\n]*\b(?:found|match\w*|exists?|results)\b")
"""A text that says itself that nothing was found: "No berths found", "Berth {} not found"."""


def _returned(forms: list[CodeResult], subject: Subject, *, is_all: bool) -> str:
    """Return the sentence about the forms of a result, which are all but for texts that nothing was found."""
    texts = [subject.tool.description or "", *(text for _, text in subject.texts)]
    words = {word.lower() for text in texts for word in words_of(text)}
    if not subject.is_result_open and not _adds_fields(forms, words, subject):
        return ""
    parts = [_result_words(form) for form in forms if form.kind is not ResultKind.TEXT]
    plain = sorted((form for form in forms if form.kind is ResultKind.TEXT), key=_tells_absence)
    phrases_by_content: dict[object, str] = {}
    for form in sorted(plain, key=_is_long):
        phrases_by_content[form.labels or _quoted(form)] = _text_words(form)
    phrases = [*filter(None, phrases_by_content.values())]
    if not all(parts) or not (parts or phrases) or len(parts) > MAX_FORMS:
        return ""
    is_example = len(phrases) < len(phrases_by_content) or len(parts) + len(phrases) > MAX_FORMS
    if is_all and not is_example and not phrases and len(parts) == 1 and not subject.is_result_open:
        verb = "is" if forms[0].kind is ResultKind.OBJECTS else "has"
        return f"The result {verb} {parts[0]}."
    if is_example and parts:
        return f"Returns {joined([*parts, 'text'], 'or')}."
    labeled = [phrase for form in plain if form.labels and (phrase := _text_words(form))]
    if is_example:
        return f"Returns {labeled[0]}, among other texts." if labeled else ""
    return f"Returns {joined([*parts, *phrases], 'or')}."


def _adds_fields(forms: list[CodeResult], words: set[str], subject: Subject) -> bool:
    """Return whether most fields of a result that is spoken of are named nowhere."""
    keys = {key for form in forms for key in (*form.keys, *form.row)}
    named = {key for key in keys if key.lower() in words or " ".join(name_parts(key)).lower() in words}
    return not subject.has_telling_output and 2 * len(named) < len(keys)


def _tells_absence(form: CodeResult) -> bool:
    """Return whether a text says what there is not: "No data for {}.", "File not found: {}"."""
    first = next(iter(words_of(form.text)), "")
    sentence = form.text.strip().rstrip(".").replace(" '{}'", "").replace(' "{}"', "").partition(":")[0]
    return is_negation(first.lower()) or _PATTERNS.failure.fullmatch(sentence) is not None


def _result_words(form: CodeResult) -> str:
    """Return a form of a result in words; empty for what tells nothing."""
    match form.kind:
        case ResultKind.OBJECT | ResultKind.OBJECTS:
            return _object_words(form)
        case ResultKind.ANSWER if form.text and "graphql" not in form.text.lower():
            method, _, address = form.text.partition(" ")
            host, slash, path = address.replace("{}", "…").partition("/")
            place = f" at {host}" if host and "…" not in host else ""
            part = f"`{form.keys[0]}` of " if form.keys else ""
            return f"{part}the {'JSON ' if form.is_json else ''}answer of `{method} {slash}{path}`{place}"
        case ResultKind.IMAGE:
            return "an image"
        case _:
            return ""


def _object_words(form: CodeResult) -> str:
    """Return the keys of an object; nothing where all of them could be any result's: `success`, `message`."""
    keys = form.keys
    is_telling = any(key.lower() not in words_from("rewriting", "bare_keys") for key in keys)
    if len(keys) < MIN_KEYS or not is_telling:
        return ""
    parts = [_key_words(key, dict(form.lists)) for key in keys]
    first = parts[:MAX_FIELDS] if len(keys) > MAX_FIELDS + 1 else parts
    more = len(keys) - len(first)
    is_open = form.is_open or len(form.rare) > MAX_RARE
    rest = [f"{more} more fields"] if more else ["other fields"] if is_open else []
    listing = joined([*first, *rest], "and")
    rare = form.rare if not rest and len(form.rare) <= MAX_RARE else ()
    listing += f", at times also {listed(rare)}" if rare else ""
    return f"a list of objects with {listing}" if form.kind is ResultKind.OBJECTS else listing


def _key_words(key: str, lists: Mapping[str, Sequence[str]]) -> str:
    """Return a key, with the keys of the objects whose list it holds."""
    inner = lists.get(key, ())
    if not inner:
        return f"`{key}`"
    more = [f"{len(inner) - MAX_INNER} more"] if len(inner) > MAX_INNER + 1 else []
    first = [f"`{name}`" for name in (inner[:MAX_INNER] if more else inner)]
    return f"`{key}` (objects with {joined([*first, *more], 'and')})"


def _text_words(form: CodeResult) -> str:
    """Return the labels of a text, or its first line with `…` for what is computed."""
    quoted_labels = [[f'"{label}"' for label in names[:MAX_FIELDS]] for names in (form.keys, form.row)]
    labels, row = (joined(names, "and") if names else "" for names in quoted_labels)
    repetition = f"one {'line' if form.is_line else 'section'} per item ({row})" if row else ""
    if labels:
        return f"text with {labels}{f', and {repetition}' if repetition else ''}"
    if repetition:
        return f"text with {repetition}"
    quoted = _quoted(form)
    return (
        f"text that begins with {quoted}"
        if quoted and "\n" in form.text.strip()
        else f"the text {quoted}"
        if quoted
        else ""
    )


def _is_long(form: CodeResult) -> bool:
    return "\n" in form.text.strip()


def _quoted(form: CodeResult) -> str:
    """Return the first line of a text in quotation marks, with `…` for what is computed; empty if it tells little."""
    line = _SIGN.sub("", form.text.lstrip()).partition("\n")[0]
    opening = _END.sub("", _GAPS.sub("…", line.replace("{}", "…")).strip())
    is_plain = opening.replace("…", "").isascii() and '"' not in opening and not opening.startswith("…")
    return f'"{opening}"' if opening and is_plain and len(opening) <= MAX_QUOTED else ""


_GAPS = lazy_pattern(r"…(?:[ .]?…)+")
"""Computed parts that follow each other."""

_END = lazy_pattern(r"(?<=[.!?)])…$")
"""A computed part behind a whole sentence."""

_SIGN = lazy_pattern(r"^[^\x00-\x7f]+\s+")
"""A sign before a text's first word: "✅ Berth {} is booked"."""
