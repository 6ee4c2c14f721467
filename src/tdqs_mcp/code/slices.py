"""Slices of the code of tools for a model to read: handler and what it calls, line by line, without secrets."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from math import log2
from pathlib import Path

from tdqs_mcp.canonical import visible
from tdqs_mcp.facts.schema.signals import estimate_tokens
from tdqs_mcp.facts.threats import hide_secrets
from tdqs_mcp.results.tool_code import CodePlace, CodeReport, CodeSlice, CodeSpan, ToolCode

MAX_TOKENS = 5_980
"""Estimated tokens of the lines of a slice, which is at most 6,000 with the line that says how much is left out."""

MAX_LINE = 400
"""Characters of a line; longer ones are of bundles or data."""

AROUND = 3
"""Lines on either side of an effect or an error, where there is no room for its function."""

HEAD = 8
"""First lines of a function that has no room."""

ARM = 40
"""Lines from the beginning of a tool's branch, in a function that answers for several tools."""


def slice_code(report: CodeReport, names: Iterable[str]) -> dict[str, CodeSlice]:
    """Return the slices of these tools by name, without those whose handler was not found."""
    source = _Source(Path(report.folder))
    tools = (report.find(name) for name in names)
    return {tool.name: _slice(tool, source) for tool in tools if tool and tool.handler}


class _Source:
    """Lines of files, as far as they are read."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, list[str]] = {}

    def lines(self, file: str) -> list[str]:
        """Return a file's lines; none where it is gone."""
        if file not in self._files:
            try:
                text = (self._root / file).read_bytes().decode("utf-8-sig", errors="replace")
            except OSError:
                text = ""
            self._files[file] = hide_literals(hide_secrets(text.replace("\r\n", "\n"))).split("\n")
        return self._files[file]

    def line(self, file: str, number: int) -> str:
        """Return a line as it is shown: without what cannot be seen, cut where it is too long."""
        text = visible(self.lines(file)[number - 1]).rstrip()
        return text if len(text) <= MAX_LINE else f"{text[:MAX_LINE]}…"


def hide_literals(text: str) -> str:
    """Return code with `***` for texts that look random, and for those where a program shows who it is.

    That is in headers, cookies and `auth`, whatever their names are; keys of a map and templates stay.
    """
    parts, end = [], 0
    for match in _CREDENTIALS.finditer(text):
        stop = _closing(text, match.end())
        if match.end() > end:
            parts += [text[end : match.end()], _LITERAL.sub(_masked, text[match.end() : stop])]
            end = stop
    return _WORD.sub(_without_random, "".join([*parts, text[end:]]))


_CREDENTIALS = re.compile(
    r"\b\w*?(?:headers?|auth|authorization|basicauth|credentials?|cookies?)\b[\w.\[\]\"'-]*"
    r"(?::[ \w\[\],|.<>]+=|\s*[:=](?![=>])|(?:(?<=auth)|(?<=\.set)|(?<=\.update)|(?<=setheader))(?=\())"
    r"\s*(?=[({\[\"'])",
    re.IGNORECASE,
)
"""What comes before a value, or the arguments, by which a program shows who it is: `headers = {`, `auth=(`."""

_LITERAL = re.compile(r"""(["'])((?:\\.|(?!\1)[^\\\n])*)\1(?P<key>\s*:)?""")
_WORD = re.compile(r"""(?<![\w/+.-])(?:(?<=["'`])[\w+/=-]{20,}(?![\w/.(-])|[\w+/=-]{20,}(?=["'`]))""")
MAX_VALUE = 2_000
"""Characters of a map of headers."""


def _closing(text: str, start: int) -> int:
    """Return where the bracket or the quotation mark closes that opens at a character."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    if text[start] not in pairs:
        return text.find(text[start], start + 1) + 1 or len(text)
    depth = 0
    for position in range(start, min(len(text), start + MAX_VALUE)):
        depth += (text[position] in pairs) - (text[position] in pairs.values())
        if not depth:
            return position + 1
    return start + 1


def _masked(match: re.Match[str]) -> str:
    is_shown = match["key"] is not None or "{" in match[2] or not match[2]
    return match[0] if is_shown else f"{match[1]}***{match[1]}"


def _without_random(match: re.Match[str]) -> str:
    word = match[0].strip("=")
    is_mixed = any(letter.isdigit() for letter in word) and any(letter.isalpha() for letter in word)
    shares = [count / len(word) for count in Counter(word).values()]
    bits = -sum(share * log2(share) for share in shares)
    limit = HEX_BITS if re.fullmatch("[0-9a-fA-F]+", word) else WORD_BITS
    return "***" if is_mixed and bits >= limit else match[0]


HEX_BITS, WORD_BITS = 3.0, 4.0
"""Shannon entropy of a character from which a word looks random. detect-secrets has 3.0 for hexadecimal digits and 4.5
for base64, which no word of 20 letters reaches."""


class _Selection:
    """Lines that are shown, up to the budget."""

    def __init__(self, source: _Source) -> None:
        self._source = source
        self._left = MAX_TOKENS
        self.chosen: dict[str, dict[int, str]] = {}

    def take(self, file: str, first: int, last: int) -> bool:
        """Take the lines from `first` to `last`, if there is room for all of them."""
        present = self.chosen.get(file, {})
        numbers = range(max(1, first), min(last, len(self._source.lines(file))) + 1)
        lines = {number: self._source.line(file, number) for number in numbers if number not in present}
        cost = sum(_cost(f"{number:>5} | {line}\n") for number, line in lines.items())
        cost += estimate_tokens("...\n" if present else f"=== {file}\n...\n")
        if cost > self._left:
            return False
        if lines:
            self._left -= cost
            self.chosen[file] = present | lines
        return True


def _cost(text: str) -> int:
    """Return the tokens of a text, by the estimate or by four characters each, whichever are more."""
    return max(estimate_tokens(text), -(-len(text) // 4))


def _slice(tool: ToolCode, source: _Source) -> CodeSlice:
    """Return what there is room for: what the tool does first, then whole functions, the nearest first."""
    selection = _Selection(source)
    handler = tool.handler
    spans = sorted(tool.functions, key=lambda span: span.depth)
    proofs = [*tool.effects, *tool.errors, *tool.limits, *tool.unresolved]
    branches = [
        span for span in spans if handler and span.file == handler.file and span.line < handler.line <= span.end
    ]
    if handler:
        selection.take(handler.file, handler.line, min(handler.line + HEAD, max(handler.end, handler.line + 1)))
    for effect in tool.effects:
        selection.take(effect.file, effect.line - AROUND, effect.line + AROUND)
    for span in branches:  # `call_tool` with a branch for each tool: the others say nothing about this one
        _take_parts(selection, span, proofs)
    for span in branches[:1]:
        start = handler.line if handler else span.line
        selection.take(span.file, start, min(span.end, start + ARM))
    callees = [span for span in spans if span not in branches]
    too_long = [span for span in callees if not selection.take(span.file, span.line, span.end)]
    left_out = sum(not _take_parts(selection, span, proofs) for span in too_long)
    for span in too_long:  # what room is left goes to the nearest of them, from its beginning
        for line in range(span.line, span.end, HEAD):
            if not selection.take(span.file, line, min(span.end, line + HEAD - 1)):
                break
    return CodeSlice(lines=_sorted(selection.chosen), left_out=left_out)


def _take_parts(selection: _Selection, span: CodeSpan, proofs: Iterable[CodePlace]) -> bool:
    """Take a function's head and what is around its effects and errors; return whether there was room for its head."""
    has_head = selection.take(span.file, span.line, min(span.end, span.line + HEAD))
    for place in (proof for proof in proofs if proof.file == span.file and span.line <= proof.line <= span.end):
        selection.take(span.file, max(span.line, place.line - AROUND), min(span.end, place.line + AROUND))
    return has_head


def _sorted(chosen: Mapping[str, Mapping[int, str]]) -> dict[str, dict[int, str]]:
    return {file: dict(sorted(lines.items())) for file, lines in chosen.items()}
