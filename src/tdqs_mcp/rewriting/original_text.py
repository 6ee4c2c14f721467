"""Reads the description that a rewrite starts from: its purpose, its language, and what it says twice."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from tdqs_mcp.facts.lexicon import MAX_TEXT, PatternTable, lazy_pattern, words_from
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.prose import cues_of, lead_in_length
from tdqs_mcp.facts.text.statements import stated_hints
from tdqs_mcp.facts.text.words import LEMMAS, Cue, add_article, content_stems, is_plural, plurals_in, stem
from tdqs_mcp.facts.toolset.names import NameWords
from tdqs_mcp.results.improvements import Route
from tdqs_mcp.rewriting.proposed_statements import Statement, add_sentence

_PATTERNS = PatternTable("wording")
_words = partial(words_from, "wording")

Span = tuple[int, int]
"""Start and end inside the description as it came."""

MAX_BORROWED = 12
"""Words of a first sentence that another description may carry; longer ones are no longer plain."""

MIN_WORDS = 5
"""Words from which a repeated sentence is a mistake; shorter lines may well recur."""


_PLAIN_WORD = lazy_pattern(r"[A-Za-z0-9'/&-]{1,40}")
_PROSE = lazy_pattern(r"[A-Z][^\n:|`]*[.!?]")
_WORD_OR_END = lazy_pattern(r"\w|$")


def purpose(subject: Subject, label: NameWords) -> str:
    """The first sentence's plain opening, in the imperative: "Lists open issues, newest first." -> list open issues.

    Empty unless it opens with the name's kind of verb, has the name's resource, tells no limit or extent and says
    nothing to an agent: another tool's text is hostile input, and nothing beyond its purpose may get into other
    descriptions. An enumeration is not cut in two.
    """
    first = " ".join(subject.prose.sentences[0].split()) if subject.prose.sentences else ""
    clause, *rest = _PATTERNS.purpose_end.split(first[lead_in_length(first) :], maxsplit=1)
    end = _PATTERNS.purpose_end.search(first, lead_in_length(first))
    words = clause.split()
    while any(rest) and words and words[-1].lower() in _words("joints"):
        words.pop()
    if len(words) > 1 and words[0].lower().endswith("ly") and words[1].lower() in LEMMAS:
        words = words[1:]
    spoken = [word.lower() for word in words]
    verb = LEMMAS.get(spoken[0]) if words else None
    is_cut = end is not None and end[0] in (",", "`", '"') and _LISTING.search(first[end.end() :]) is not None
    is_short = 1 < len(words) <= MAX_BORROWED and all(map(_PLAIN_WORD.fullmatch, words))
    is_scoped = Cue.LIMIT in cues_of(spoken) or ("all" in spoken and verb not in _words("listing_verbs"))
    is_harmless = is_short and not is_cut and not is_scoped and _words("orders").isdisjoint(spoken)
    is_plain = subject.prose.opens_with_verb and not is_in_other_language(subject)
    is_purpose = is_plain and subject.prose.verb == verb and subject.prose.effect == label.effect
    is_about = bool(label.resource) and label.resource[-1] in set(map(stem, spoken))
    if not (verb and is_harmless and is_purpose and is_about and spoken[0] in (verb, *_third_persons(verb))):
        return ""
    ordered = [
        LEMMAS[after]
        if before in ("and", "or") and spoken[0] != verb and after in _third_persons(LEMMAS.get(after, ""))
        else word
        for before, after, word in zip(spoken, spoken[1:], words[1:], strict=False)
    ]
    return " ".join((verb, *ordered))


def _third_persons(verb: str) -> tuple[str, ...]:
    """How "he" does it: lists, fetches, copies."""
    return (f"{verb}s", f"{verb}es", f"{verb[:-1]}ies")


_LISTING = lazy_pattern(r"\b(?:and|or)\b")


def says_read_only(subject: Subject) -> bool:
    """The description states in a sentence of its own that the whole tool is read-only; no verb contradicts it."""
    effects = (subject.prose.effect, subject.prose.name_effect)
    is_contradicted = any(effect is not None and effect.is_mutating for effect in effects)
    return not is_contradicted and any(
        ("readOnlyHint", True) in stated_hints(sentence) for sentence in subject.prose.sentences
    )


def is_in_other_language(subject: Subject) -> bool:
    """The description is known to be in another language than English."""
    return subject.prose.language not in ("en", None)


def can_continue_in_english(subject: Subject) -> bool:
    """Fit to be continued in English: known to be English, or a verb that we know, or no text at all.

    Hardly a letter of it is beyond ASCII.
    """
    text = subject.tool.description or ""
    foreign = 0 if text.isascii() else sum(char.isalpha() for char in text if not char.isascii())
    is_fit = subject.prose.verb is not None or subject.prose.language == "en" or subject.signals.is_missing_description
    return is_fit and not is_in_other_language(subject) and 20 * foreign <= len(text)


def repeated_spans(subject: Subject) -> list[Span]:
    """Running text that stands there once more right behind itself.

    What comes again anywhere else is said of another item, step or section, or of the sentence before it.
    """
    text = _text(subject)
    placed = list(_placed(text, subject.prose.sentences)) if "```" not in text else []
    sentences = [sentence for _, sentence in placed]
    latest: dict[str, int] = {}
    spans: list[Span] = []
    position = 0
    for place, (start, sentence) in enumerate(placed):
        first = latest.get(sentence, place)
        latest[sentence] = place
        block = sentences[place : 2 * place - first]
        is_long = len(" ".join(block).split()) >= MIN_WORDS
        if start >= position and block == sentences[first:place] and is_long and all(map(_PROSE.fullmatch, block)):
            last, words = placed[place + len(block) - 1]
            if text[placed[first][0] : start].split() == text[start : last + len(words)].split():
                position = last + len(words)
                spans.append((start, position))
    return spans


def copied_spans(subject: Subject) -> list[Span]:
    """Lists such as `path: The file to read` that say word for word what the schema says of those parameters.

    A list goes as a whole, with a heading such as "Args:"; half a list would tell that there is no more.
    """
    descriptions = {
        parameter.name: _bare(parameter.description)
        for parameter in subject.signals.parameters
        if parameter.description
    }
    lines = list(_lines(_text(subject)))
    spans: list[Span] = []
    for block in _lists(lines) if descriptions else ():
        head = _beside(lines, block[0], -1)
        above = lines[head][1].strip() if head is not None else "."
        is_headed = _PATTERNS.heading.fullmatch(above) is not None
        following = [lines[below][1] if (below := _beside(lines, place, 1)) is not None else "" for place in block]
        goes_on = any(_indent(below) > _indent(lines[place][1]) for place, below in zip(block, following, strict=True))
        is_copy = not goes_on and all(_is_copy(lines[place][1], descriptions) for place in block)
        if is_copy and (is_headed or above.endswith((".", "!", "?"))):
            start, last = lines[head if head is not None and is_headed else block[0]][0], lines[block[-1]]
            spans.append((start, last[0] + len(last[1])))
    return spans


def _lists(lines: Sequence[tuple[int, str]]) -> Iterator[list[int]]:
    """The places of neighboring lines that are entries, up to a heading or to an empty line before something else."""
    block: list[int] = []
    for place, (_, line) in enumerate(lines):
        if not line.strip():
            continue
        if block and _ends(lines, block[-1], place):
            yield block
            block = []
        if _PATTERNS.entry.fullmatch(line.strip()):
            block.append(place)
    if block:
        yield block


def _ends(lines: Sequence[tuple[int, str]], last: int, place: int) -> bool:
    """Return whether a list whose last entry is given does not go on at a later line that is not empty."""
    entry, line = lines[last][1], lines[place][1]
    if _PATTERNS.entry.fullmatch(line.strip()):
        return place - last > 1 and _mark(line) != _mark(entry)
    return _PATTERNS.heading.fullmatch(line.strip()) is not None or _indent(line) <= _indent(entry)


def _text(subject: Subject) -> str:
    """The description as it came; nothing of one that is longer than what is read of it."""
    text = subject.tool.description or ""
    return text if len(text) <= MAX_TEXT else ""


def _placed(text: str, sentences: Sequence[str]) -> Iterator[tuple[int, str]]:
    position = 0
    for sentence in sentences if text else ():
        position = text.index(sentence, position)
        yield position, sentence
        position += len(sentence)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    position = 0
    for line in text.split("\n"):
        yield position, line
        position += len(line) + 1


def _is_copy(line: str, descriptions: Mapping[str, str]) -> bool:
    entry = _PATTERNS.entry.fullmatch(line.strip())
    return (
        entry is not None
        and (entry[2] is None or _PATTERNS.types.fullmatch(entry[2].strip()) is not None)
        and descriptions.get(entry[1]) == _bare(entry[3])
    )


def _beside(lines: Sequence[tuple[int, str]], place: int, step: int) -> int | None:
    """The next line, or with -1 the one before, that is not empty."""
    while 0 <= (place := place + step) < len(lines):
        if lines[place][1].strip():
            return place
    return None


def _mark(line: str) -> str:
    """Return what stands before an entry's first word: its depth and its bullet."""
    return line[: _WORD_OR_END.search(line).start()]  # type: ignore[union-attr]  # every line has an end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _bare(text: str) -> str:
    return " ".join(text.split()).rstrip(".").lower()


MAX_RIVALS = 6
"""Siblings of similar names that are looked at."""

MAX_ALTERNATIVES = 2
"""Siblings that one description points to."""


def find_alternatives(
    subject: Subject,
    rivals: Sequence[Subject],
    labels: Mapping[str, NameWords],
    plurals: AbstractSet[str],
    passed_values: Mapping[str, str],
) -> Iterator[tuple[str, Statement]]:
    """Siblings whose own first sentence says what this tool is not for, each with a sentence, the nearest first.

    Not for a sibling that only has another verb, or whose text says no more than this one's. `passed_values` has, by
    sibling, the parameter whose values this tool returns.
    """
    own, clauses = labels[subject.tool.name], {}
    for rival in rivals:
        other = labels[rival.tool.name]
        clause = _clause(rival, other, plurals) if _is_alike(own, other) else ""
        clauses[rival.tool.name] = _contrast(clause, subject, own, other) if clause else ""
    for name, parts in clauses.items():
        if parts and Counter(clauses.values())[parts] == 1:
            sources = [f"tool {name}: its first sentence"]
            way = f"use `{name}` instead"
            if name in passed_values:
                sources.append(f"tool {name}: its parameter {passed_values[name]}")
                way = f"pass its `{passed_values[name]}` to `{name}`"
            yield name, add_sentence(f"To {parts}, {way}.", Route.ALTERNATIVE, sources)


def _is_alike(own: NameWords, other: NameWords) -> bool:
    """Return whether a request could mean both: like actions, to one thing or to a kind, part or view of it."""
    own_words, other_words = (tuple(map(stem, label.thing.lower().split())) for label in (own, other))
    if not own_words or not other_words or not _is_same_action(own, other):
        return False
    if set(own_words) == set(other_words):
        return True
    is_kind = own_words[-1] == other_words[-1] and (
        set(own_words) < set(other_words) or set(other_words) < set(own_words)
    )
    is_view = other_words[:-1] == own_words and other.thing.lower().split()[-1] in words_from("names", "views")
    return (is_kind or is_view) and _is_many(own) == _is_many(other)


def _is_same_action(own: NameWords, other: NameWords) -> bool:
    """Return whether both read, or both change; to make and to change is not one request."""
    verbs = {own.verb, other.verb}
    ways = (words_from("names", "listing_verbs"), words_from("names", "changing_verbs"))
    return None not in verbs and (len(verbs) == 1 or any(verbs <= way for way in ways))


def _clause(subject: Subject, label: NameWords, plurals: AbstractSet[str]) -> str:
    """Return what a tool does as an order, with the article that was left out; empty where that is not certain."""
    clause = purpose(subject, label)
    verb, _, rest = clause.partition(" ")
    noun_phrase = add_article(rest, plurals) if rest else ""
    return f"{verb} {noun_phrase}" if noun_phrase else ""


def _contrast(clause: str, subject: Subject, own: NameWords, other: NameWords) -> str:
    """The clause where it tells the two tools apart: by a word that this one has not, or by many things for one."""
    first = subject.prose.spoken[0] if subject.prose.spoken else ()
    stems = content_stems((*first, *name_parts(subject.tool.name))) | words_from("wording", "generic")
    _, *words = words_of(clause)
    extra = {word for word in content_stems(words) if word not in stems and word not in LEMMAS}
    is_for_many = not words_from("names", "quantities").isdisjoint(words)
    if extra or (is_for_many and words_from("names", "quantities").isdisjoint(first)):
        return clause
    own_thing, many = own.thing.lower(), other.thing.lower()
    is_same = own.verb == other.verb and is_plural(many) and own_thing in plurals_in([many]) and many != own_thing
    return f"{clause} rather than a single one" if is_same else ""


def _is_many(label: NameWords) -> bool:
    """It lists or searches, or its thing is a plural."""
    return label.verb in ("list", "search") or is_plural((label.thing.lower().split() or [""])[-1])
