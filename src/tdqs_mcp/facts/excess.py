"""Where a description says nothing: lead-ins before the verb, sentences said twice, copies of the schema."""

import re
from collections.abc import Iterator, Mapping, Sequence

from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.text.languages import LEMMAS
from tdqs_mcp.facts.text.prose import MAX_TEXT

Span = tuple[int, int]
"""Start and end inside the description as it came."""

MIN_WORDS = 5
"""Words of a sentence that nobody says twice on purpose; shorter lines may well recur."""

_NOUN = r"(?:mcp\s+)?(?:tool|function|method|endpoint|operation)"
_LEAD_IN = re.compile(
    rf"(?:(?:this|the|an?)\s+{_NOUN}|tool)\s+(?:that|which)\s+"
    rf"|(?:(?:this|the|an?)\s+{_NOUN}|tool)\s+(?:to|can(?:\s+be\s+used\s+to)?|will|(?:is|can\s+be)\s+used\s+to)\s+"
    rf"|(?:(?:this|the)\s+{_NOUN}\s+)?(?:allows|enables)\s+(?:you|users|the\s+user|agents)\s+to\s+"
    rf"|(?:this|the)\s+{_NOUN}\s+lets\s+(?:you|users|the\s+user|agents)\s+"
    rf"|(?:this|the)\s+{_NOUN}\s+",
    re.IGNORECASE,
)
_FIRST_WORD = re.compile(r"[A-Za-z]+")
_TYPE = r"(?:str(?:ing)?|int(?:eger)?|number|float|bool(?:ean)?|list|array|object|dict|optional|required)"
_ENTRY = re.compile(
    r"(?:[-*•][ \t]+)?[`*]*(\w+)[`*]*(?:[ \t]*\(([^()]*)\))?[ \t]*[:–-][ \t]+(\S.*)"  # noqa: RUF001
)
_TYPES = re.compile(rf"{_TYPE}(?:[\s,|]+{_TYPE})*", re.IGNORECASE)
_HEADER = re.compile(
    r"[#* ]{0,5}(?:it takes (?:\w{1,12} )?)?(?:args?|arguments?|parameters|params|inputs?):?[* ]{0,3}:?", re.IGNORECASE
)
_PROSE = re.compile(r"[A-Z][^\n:|`]*[.!?]")


def lead_in(text: str) -> int:
    """Characters of a sentence before its verb that only say that it is a tool: "This tool allows you to "."""
    found = _LEAD_IN.match(text)
    word = found and _FIRST_WORD.match(text, found.end())
    return found.end() if found and word and word[0].lower() in LEMMAS else 0


def repeated(subject: Subject) -> list[Span]:
    """Running text that stands there once more right behind itself.

    What comes again anywhere else is said of another item, step or section, or of the sentence before it.
    """
    text = _text(subject)
    placed = list(_placed(text, subject.prose.sentences)) if "```" not in text else []
    said = [sentence for _, sentence in placed]
    latest: dict[str, int] = {}
    spans: list[Span] = []
    position = 0
    for place, (start, sentence) in enumerate(placed):
        first = latest.get(sentence, place)
        latest[sentence] = place
        block = said[place : 2 * place - first]
        if start >= position and block == said[first:place] and _is_running(block):
            last, words = placed[place + len(block) - 1]
            if text[placed[first][0] : start].split() == text[start : last + len(words)].split():
                position = last + len(words)
                spans.append((start, position))
    return spans


def copied(subject: Subject) -> list[Span]:
    """Lists such as `path: The file to read` that say word for word what the schema says of those parameters.

    A list goes as a whole, with a heading such as "Args:"; half a list would tell that there is no more.
    """
    known = {each.name: _bare(each.description) for each in subject.signals.parameters if each.description}
    lines = list(_lines(_text(subject)))
    spans: list[Span] = []
    for block in _lists(lines) if known else ():
        head = _beside(lines, block[0], -1)
        above = lines[head][1].strip() if head is not None else "."
        is_headed = _HEADER.fullmatch(above) is not None
        is_copy = all(_is_copy(lines[place][1], known) and not _goes_on(lines, place) for place in block)
        if is_copy and (is_headed or above.endswith((".", "!", "?"))):
            start, last = lines[head if head is not None and is_headed else block[0]][0], lines[block[-1]]
            spans.append((start, last[0] + len(last[1])))
    return spans


def _is_running(sentences: Sequence[str]) -> bool:
    """Sentences without structure, and more of them than anybody says twice on purpose."""
    return all(map(_PROSE.fullmatch, sentences)) and len(" ".join(sentences).split()) >= MIN_WORDS


def _lists(lines: Sequence[tuple[int, str]]) -> Iterator[list[int]]:
    """The places of neighbouring lines that are entries, up to a heading or to an empty line before something else."""
    block: list[int] = []
    for place, (_, line) in enumerate(lines):
        if not line.strip():
            continue
        if block and _ends(lines, block[-1], place):
            yield block
            block = []
        if _ENTRY.fullmatch(line.strip()):
            block.append(place)
    if block:
        yield block


def _ends(lines: Sequence[tuple[int, str]], last: int, place: int) -> bool:
    """Whether a list whose last entry is given does not go on at a later line that is not empty."""
    entry, line = lines[last][1], lines[place][1]
    if _ENTRY.fullmatch(line.strip()):
        return place - last > 1 and _mark(line) != _mark(entry)
    return _HEADER.fullmatch(line.strip()) is not None or _indent(line) <= _indent(entry)


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


def _is_copy(line: str, known: Mapping[str, str]) -> bool:
    entry = _ENTRY.fullmatch(line.strip())
    return (
        entry is not None
        and (entry[2] is None or _TYPES.fullmatch(entry[2].strip()) is not None)
        and known.get(entry[1]) == _bare(entry[3])
    )


def _goes_on(lines: Sequence[tuple[int, str]], place: int) -> bool:
    """What follows belongs to this line: it is indented deeper."""
    following = _beside(lines, place, 1)
    return following is not None and _indent(lines[following][1]) > _indent(lines[place][1])


def _beside(lines: Sequence[tuple[int, str]], place: int, step: int) -> int | None:
    """The next line, or with -1 the one before, that is not empty."""
    while 0 <= (place := place + step) < len(lines):
        if lines[place][1].strip():
            return place
    return None


def _mark(line: str) -> str:
    """What stands before an entry's first word: its depth and its bullet."""
    return line[: re.search(r"\w|$", line).start()]  # type: ignore[union-attr]  # every line has an end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _bare(text: str) -> str:
    return " ".join(text.split()).rstrip(".").lower()
