"""Where a description says nothing: lead-ins before the verb, sentences said twice, copies of the schema."""

import re
from collections.abc import Iterator, Mapping, Sequence

from tdqs_mcp.facts.prose import MAX_TEXT
from tdqs_mcp.facts.subject import Subject
from tdqs_mcp.facts.words import LEMMAS

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
_ENTRY = re.compile(r"(?:[-*•][ \t]+)?[`*]*(\w+)[`*]*(?:[ \t]*\([^()]*\))?[ \t]*[:–-][ \t]+(\S.*)")  # noqa: RUF001
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
    """Sentences of running text that stand there already; list entries and code may well say the same again."""
    text = _text(subject)
    seen: set[str] = set()
    spans = []
    for start, sentence in _placed(text, subject.prose.sentences):
        if len(sentence.split()) < MIN_WORDS or "```" in text or not _PROSE.fullmatch(sentence):
            continue
        if sentence in seen:
            spans.append((start, start + len(sentence)))
        seen.add(sentence)
    return spans


def copied(subject: Subject) -> list[Span]:
    """Lists such as `path: The file to read` that say word for word what the schema says of those parameters.

    A list goes as a whole, with a heading such as "Args:"; half a list would tell that there is no more.
    """
    known = {each.name: _bare(each.description) for each in subject.signals.parameters if each.description}
    lines = list(_lines(_text(subject)))
    spans: list[Span] = []
    for block in _lists(lines) if known else ():
        if all(_is_copy(lines[place][1], known) and not _goes_on(lines, place) for place in block):
            head = block[0] - 1
            is_headed = head >= 0 and _HEADER.fullmatch(lines[head][1].strip()) is not None
            if is_headed or head < 0 or not lines[head][1].rstrip().endswith(":"):
                places = [head, *block] if is_headed else block
                spans += [(lines[place][0], lines[place][0] + len(lines[place][1])) for place in places]
    return spans


def _lists(lines: Sequence[tuple[int, str]]) -> Iterator[list[int]]:
    """The places of neighbouring lines that are entries, up to an empty line or a heading."""
    block: list[int] = []
    for place, (_, line) in enumerate(lines):
        if _ENTRY.fullmatch(line.strip()):
            block.append(place)
        elif block and (
            not line.strip() or _HEADER.fullmatch(line.strip()) or _indent(line) <= _indent(lines[block[-1]][1])
        ):
            yield block
            block = []
    if block:
        yield block


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
    return entry is not None and known.get(entry[1]) == _bare(entry[2])


def _goes_on(lines: Sequence[tuple[int, str]], place: int) -> bool:
    """The next line belongs to this one: it is indented deeper."""
    following = lines[place + 1][1] if place + 1 < len(lines) else ""
    return bool(following.strip()) and _indent(following) > _indent(lines[place][1])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _bare(text: str) -> str:
    return " ".join(text.split()).rstrip(".").lower()
