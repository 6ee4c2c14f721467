"""Finds parameters that a text mentions and the schema does not have."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from tdqs_mcp.facts.text.parameter_mentions import Entry, list_entries
from tdqs_mcp.facts.text.vocabulary import PatternTable, endings_from, words_from
from tdqs_mcp.facts.toolset.names import KnownNames, Mention, fold
from tdqs_mcp.facts.toolset.unknown_tools import Token, UnknownWord, around

_PATTERNS = PatternTable("references")
_words = partial(words_from, "references")
_endings = partial(endings_from, "references")


def unknown_parameters(
    strange: Sequence[UnknownWord], texts: Sequence[tuple[str, str]], own: frozenset[str], words: KnownNames
) -> list[Mention]:
    """Names that texts use as a parameter's and that no schema of the tool has; `own` are the names that it has."""
    found: dict[str, Mention] = {}
    folded = frozenset(map(fold, own))
    for path, text in texts:
        if path != "/description" and "param" not in text and "argument" not in text:
            continue
        for name, start, end in _plain_parameters(text, path, folded, words):
            found.setdefault(name, Mention(name=name, path=path, words=around(text, start, end)))
    for path, each in strange:
        if _is_asked_for(each, path, folded, words):
            found.setdefault(each.name, Mention(name=each.name, path=path, words=each.words))
    return list(found.values())


def _plain_parameters(text: str, path: str, own: AbstractSet[str], words: KnownNames) -> Iterator[tuple[str, int, int]]:
    if path == "/description":
        yield from _listed(text, own)
    for match in _PATTERNS.bare.finditer(text) if "param" in text or "argument" in text else ():
        other = _PATTERNS.of_tool.match(text, match.end())
        if (
            fold(match["name"]) not in own
            and match["name"] not in _words("kinds_of")
            and not (other and fold(other["tool"]) in words.tools)
        ):
            yield match["name"], match.start("name"), match.end("name")


def _is_asked_for(each: Token, path: str, own: AbstractSet[str], words: KnownNames) -> bool:
    folded = fold(each.name)
    if folded in own or folded in words.tools or each.name[:1].isupper():
        return False
    before, after = each.before, each.after
    if _is_parameter(each, words):
        return True
    is_ticked = path == "/description" and before.endswith("`") and after.startswith("`")
    if path == "/description" and _is_companion(each, own):
        return True
    is_renamed = is_ticked and folded not in words.words and _is_renamed(folded, own)
    return is_renamed and not _PATTERNS.negated.search(before) and not _PATTERNS.returned.search(before)


def _is_companion(token: Token, own: AbstractSet[str]) -> bool:
    """Named in one breath with a parameter, each in backticks or a compound: "`offset` and `limit`"."""
    near = _PATTERNS.joined_after.match(token.after)
    if near is None and token.lead.endswith((" and", " or")):
        near = _PATTERNS.joined_before.search(token.before)
    other = near["name"] if near else ""
    is_marked = token.before.endswith("`") or ("_" in token.name and "_" in other)
    is_named = bool(other) and is_marked and fold(other) in own
    return is_named and not _PATTERNS.returned.search(token.before) and not _PATTERNS.conditional.search(token.before)


def _is_renamed(folded: str, own: AbstractSet[str]) -> bool:
    """The beginning or the end of a parameter's name."""
    return len(folded) > 3 and any(
        len(each) > 3 and each != f"{folded}s" and (each.endswith(folded) or each.startswith(folded)) for each in own
    )


def _is_parameter(token: Token, words: KnownNames) -> bool:
    if not _is_named_parameter(token) or _PATTERNS.negated.search(token.before):
        return False
    other = _PATTERNS.of_tool.match(token.after)
    return other is None or fold(other["tool"]) not in words.tools


def _is_named_parameter(token: Token) -> bool:
    """The words around a name use it as a parameter's, unless they deny it or speak of another tool's."""
    name, before, after, lead, *_ = token
    is_ticked = before.endswith("`")
    if _PATTERNS.parameter_after.match(after) or (
        lead.endswith(_endings("parameter_ends")) and _PATTERNS.parameter_before.search(before)
    ):
        return "-" not in name or is_ticked
    if is_ticked and (
        _PATTERNS.parameters_after.match(after) or (lead.endswith("one of") and _PATTERNS.one_of.search(before))
    ):
        return True
    if "-" in name:
        return False
    is_set = is_ticked or after.startswith("=")
    is_asked = is_set and lead.endswith(_endings("set_ends")) and _PATTERNS.set_before.search(before) is not None
    if is_asked and (
        not is_ticked or _PATTERNS.set_after.match(after) or ("_" in name and _PATTERNS.stopped.match(after))
    ):
        return True
    return is_ticked and _PATTERNS.sure_after.match(after) is not None


def _listed(text: str, own: AbstractSet[str]) -> Iterator[tuple[str, int, int]]:
    """Entries below a heading such as "Args:" up to the next line that is none; their own sub-entries are values."""
    every = list_entries(text) if ":" in text or "(" in text else ()
    if all(fold(entry.name) in own for entry in every):
        return
    lines = text.split("\n")
    heads = {number for number, line in enumerate(lines) if _is_header(line)} if _is_headed(text) else set()
    heads |= {entry.start - 1 for entry in every} if any(fold(entry.name) in own for entry in every) else set()
    if not heads:
        return
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    reached = -1
    for head in sorted(heads):
        if head < reached:
            continue
        block = list(_block(lines, head, every))
        reached = block[-1].end if block else reached
        if not _is_header(lines[head]) and 2 * sum(fold(entry.name) in own for entry in block) < max(4, len(block)):
            continue
        for entry in block:
            if (
                fold(entry.name) not in own
                and entry.name.lower() not in _words("entry_labels")
                and not entry.name.istitle()
            ):
                yield entry.name, starts[entry.start], starts[entry.start] + len(lines[entry.start])


def _is_headed(text: str) -> bool:
    lowered = text.lower()
    return "arg" in lowered or "param" in lowered or "input" in lowered


def _is_header(line: str) -> bool:
    return _is_headed(line) and _PATTERNS.header.fullmatch(line.strip()) is not None


def _block(lines: Sequence[str], head: int, every: Sequence[Entry]) -> Iterator[Entry]:
    """The entries of one list: of the first one's depth, with nothing but empty lines between them."""
    following = [entry for entry in every if entry.start > head]
    number, depth = head + 1, None
    for entry in following:
        if any(line.strip() and (depth is None or _indent(line) <= depth) for line in lines[number : entry.start]):
            return
        if _is_heading(lines[entry.start]) or (depth is not None and entry.indent < depth):
            return
        depth = entry.indent if depth is None else depth
        if entry.indent == depth and not _PATTERNS.quoted_entry.match(lines[entry.start].strip()):
            yield entry
        number = entry.end


def _is_heading(line: str) -> bool:
    return _PATTERNS.heading.match(line.strip()) is not None and not line.strip().startswith("- ")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
