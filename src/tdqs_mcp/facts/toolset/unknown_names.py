"""Finds tools and parameters that a text mentions and that do not exist."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache, partial
from typing import NamedTuple

from tdqs_mcp.facts.lexicon import PatternTable, endings_from, read_table, words_from
from tdqs_mcp.facts.spelling import name_parts, words_of
from tdqs_mcp.facts.text.parameter_texts import ParameterExplanation, list_entries
from tdqs_mcp.facts.text.words import LEMMAS, STOPWORDS
from tdqs_mcp.facts.toolset.names import KnownNames, Mention, fold, part_of_speech, style

_PATTERNS = PatternTable("references")
_words = partial(words_from, "references")
_endings = partial(endings_from, "references")
_GLUE = frozenset("_$@./:<{#&%\\-")
_WINDOW = 48
"""Characters before and after a name that are read to see how it is used."""


class Token(NamedTuple):
    """A word that looks like a name, with what stands around it."""

    name: str
    before: str
    """The characters before it."""

    after: str
    lead: str
    """Text before it, lower-case and without marks: how it ends tells which patterns can match there."""

    text: str
    start: int
    end: int

    @property
    def words(self) -> str:
        """The name with the words around it."""
        return around(self.text, self.start, self.end)


class UnknownWord(NamedTuple):
    """A word that looks like a name and is not a part of its tool."""

    path: str
    token: Token


def unknown_words(texts: Sequence[tuple[str, str]], own: frozenset[str]) -> tuple[UnknownWord, ...]:
    """Words of a definition that look like names of other things; `own` has the names and values of its schemas."""
    return tuple(
        UnknownWord(path, token)
        for path, text in texts
        if path == "/description" or _names_something(text)
        for token in _tokens(text, own)
    )


def _names_something(text: str) -> bool:
    """A parameter's description names another thing; quotes and hyphens there mark values."""
    is_naming = "_" in text or "`" in text or "tool" in text or "param" in text or "argument" in text
    # most texts have one capital, at their beginning
    return is_naming or (not text[1:].islower() and _PATTERNS.hump.search(text) is not None)


def _tokens(text: str, own: AbstractSet[str] = frozenset()) -> Iterator[Token]:
    """Yield the words that look like names of others; each begins what sticks together around a mark."""
    reached = 0
    for mark in _PATTERNS.marked.finditer(text):
        start = mark.start()
        if start < reached:
            continue
        if text[start] in "`'\"":
            start += 1
        else:
            while start > reached and (text[start - 1].isalnum() or text[start - 1] in _GLUE):
                start -= 1
        match = _PATTERNS.token.match(text, start)
        if match is not None and match[0] not in own:
            yield _token(text, start, match.end())
        run = _PATTERNS.run.match(text, start)
        reached = max(run.end() if run else start, start)


def _token(text: str, start: int, end: int) -> Token:
    before = text[max(0, start - _WINDOW) : start]
    lead = before.rstrip("`'\"*( \t\n").lower()
    return Token(text[start:end], before, text[end : end + _WINDOW], lead, text, start, end)


def unknown_tools(
    strange: Sequence[UnknownWord], texts: Sequence[tuple[str, str]], own: frozenset[str], words: KnownNames
) -> list[Mention]:
    """Names that texts use as a tool's and that no tool of the catalog has; `own` are names of the tool's own parts."""
    mentions: dict[str, Mention] = {}
    whole = "\n".join(text for _, text in texts)
    for path, token in strange:
        if (
            _is_unknown(token.name, own, words)
            and _is_tool(token, words, is_guide=path == "/instructions")
            and not _lacks_prefix(fold(token.name), words.tools)
        ):
            # `mode="get_all"` shows that get_all is a value
            values = (f"{joint}{mark}{token.name}{mark}" for joint in ("=", ": ", "(") for mark in "'\"")
            if not any(value in whole for value in values):
                mentions.setdefault(token.name, Mention(name=token.name, path=path, words=token.words))
    for path, text in texts if "mcp__" in whole or (":" in whole and _PATTERNS.joint.search(whole)) else ():
        for name, start, end in _prefixed(text, own, words) if ":" in text or "mcp__" in text else ():
            mentions.setdefault(name, Mention(name=name, path=path, words=around(text, start, end)))
    return list(mentions.values())


def _prefixed(text: str, own: frozenset[str], words: KnownNames) -> Iterator[tuple[str, int, int]]:
    """`mcp__server__tool` and `server:tool`, where the server is this one; others' tools cannot be judged."""
    is_joined = _PATTERNS.joint.search(text) is not None and words.server in fold(text)
    if not is_joined and "mcp__" not in text:
        return
    for match in _PATTERNS.prefixed.finditer(text):
        server, name = match["server"] or match["other"], match["name"] or match["tool"]
        # `mcp__acme__get_order` in the server acme-mcp
        is_ours = fold(server) == words.server or (match["server"] and fold(server) in words.server)
        if is_ours and _is_unknown(name, own, words):
            yield name, match.start(), match.end()


def _is_unknown(name: str, own: frozenset[str], words: KnownNames) -> bool:
    folded = fold(name)
    if folded in words.tools or name in own or folded in words.words:
        return False
    return words.prefix + folded not in words.tools and not (name.startswith("mcp__"))


@lru_cache(256)
def _lacks_prefix(ending: str, tools: frozenset[str]) -> bool:
    """A tool has the name behind a prefix of a part of the server: `get_pages` for `wiki_get_pages`."""
    prefixes = {tool.removesuffix(ending) for tool in tools if tool.endswith(ending)}
    return any(sum(tool.startswith(prefix) for tool in tools) >= MIN_PART for prefix in prefixes if prefix)


MIN_PART = 3
"""Tools with one prefix that are a part of the server."""


def _is_tool(token: Token, words: KnownNames, *, is_guide: bool) -> bool:
    """The text tells the agent to use the word, or calls it a tool; how a word is formed alone proves nothing.

    In backticks in the server's instructions, a word that is formed as its tools are stands for one.
    """
    name, before, after, lead, *_ = token
    is_joined, is_ticked = not name.isalnum() or not (name.islower() or name.istitle()), before.endswith("`")
    # "GitHub" or "read-only" in a server of snake_case names
    is_ordinary = (name[:1].isupper() or "-" in name) and style(name) not in words.styles
    # "resource usageThis tool": two words that lack a space
    is_glued = not STOPWORDS.isdisjoint(name_parts(name)[-1:])
    if name.isupper() or is_glued or not (is_ticked or (is_joined and not is_ordinary)):
        return False
    may_call = not _words("call_words").isdisjoint(lead.replace("(", " ").split())
    is_called = (may_call and _PATTERNS.called.search(before) is not None) or (is_guide and is_ticked)
    is_called = is_called or (is_guide and _is_beside_tool(token, words))
    if not (_is_called_tool(token, is_called=is_called, is_ticked=is_ticked) or _is_sought(token, words, is_called)):
        return False
    # "formerly called `get_user`": nobody is sent there
    is_former = lead.endswith(_endings("former_ends")) and _PATTERNS.former.search(before)
    is_elsewhere = _PATTERNS.elsewhere.search(token.text, token.start - len(before), token.end + 60)
    return not (is_former or _PATTERNS.other_kind.match(after) or is_elsewhere)


def _is_beside_tool(token: Token, words: KnownNames) -> bool:
    """The line names a tool as well, or begins with the word: "Tools: get_note, delete_note", "1. delete_note"."""
    start, end = token.text.rfind("\n", 0, token.start) + 1, token.text.find("\n", token.end)
    line = token.text[start : end if end >= 0 else None]
    if part_of_speech((name_parts(token.name) or ("",))[0]) != "verb":
        return False  # "- cost-category: …" may be a heading
    is_first = not any(map(str.isalpha, token.text[start : token.start]))
    return is_first or any(fold(name) in words.tools and not name.isalpha() for name in words_of(line))


def _is_sought(token: Token, words: KnownNames, is_called: bool) -> bool:  # noqa: FBT001
    """The word is formed as the server's tools are, and the text calls it, gets something from it or lets it act."""
    name, before, _, lead, *_ = token
    parts = name_parts(name)
    # `list_orders` begins with a verb in its base form, `listed_orders` does not
    is_verbal = len(parts) > 1 and LEMMAS.get(parts[0]) == parts[0]
    is_like, is_joined = style(name) in words.styles, not name.isalnum() or not (name.islower() or name.istitle())
    is_kin = is_like and (style(name), parts[0]) in words.shapes
    if not (is_joined and is_like and (is_kin or is_verbal) and parts[-1] not in _words("field_endings")):
        return False
    verb = next(iter(words_of(token.after)), "")
    is_acting = verb.endswith("s") and verb in LEMMAS and _PATTERNS.sentence_start.search(before) is not None
    is_source = lead.endswith(_endings("source_ends"))
    return (
        is_called
        or (is_source and (_PATTERNS.obtained.search(before) or _PATTERNS.beside.search(before)) is not None)
        or (is_kin and (is_acting or _PATTERNS.presence.search(before) is not None or _is_pointer(token, words)))
    )


def _is_pointer(token: Token, words: KnownNames) -> bool:
    """The line has a label and names alone, and the text has such a line with a tool: "Next steps: `get_order`"."""
    start, end = token.text.rfind("\n", 0, token.start) + 1, token.text.find("\n", token.end)
    line = token.text[start : end if end >= 0 else None]
    if _PATTERNS.pointers.fullmatch(line) is None:
        return False
    rows = filter(_PATTERNS.pointers.fullmatch, token.text.split("\n"))
    return any(fold(name) in words.tools for row in rows for name in _PATTERNS.pointer.findall(row))


def _is_called_tool(token: Token, *, is_called: bool, is_ticked: bool) -> bool:
    """The text says "tool" beside the name, or calls it first or instead."""
    name, before, after, lead, *_ = token
    if _PATTERNS.tool_after.match(after):
        return True
    if lead.endswith(_endings("tool_ends")) and _PATTERNS.tool_before.search(before) and ("-" not in name or is_ticked):
        return True
    return is_called and _PATTERNS.strong_after.match(after) is not None


def stated_tool_count(text: str) -> int | None:
    """Return how many tools instructions say that the server has: "provides 12 tools", "has four tools"."""
    match = _PATTERNS.tool_count.search(text)
    count = match["count"].lower() if match else ""
    numbers = read_table("references")["words"]["numbers"].split()
    return int(count) if count.isdigit() else numbers.index(count) + 1 if count else None


def around(text: str, start: int, end: int) -> str:
    """A stretch of a text with some of what stands around it."""
    return " ".join(text[max(0, start - 30) : end + 20].split())


def unknown_parameters(
    strange: Sequence[UnknownWord], texts: Sequence[tuple[str, str]], own: frozenset[str], words: KnownNames
) -> list[Mention]:
    """Names that texts use as a parameter's and that no schema of the tool has; `own` are the names that it has."""
    mentions: dict[str, Mention] = {}
    folded = frozenset(map(fold, own))
    for path, text in texts:
        listed = _listed(text, folded) if path == "/description" else ()
        # "1. search_orders(…) -> …" lists calls
        for name, start, end in (entry for entry in listed if fold(entry[0]) not in words.tools):
            mentions.setdefault(name, Mention(name=name, path=path, words=around(text, start, end)))
    for path, token in strange:
        if path == "/description" and _is_asked_for(token, folded, words):
            mentions.setdefault(token.name, Mention(name=token.name, path=path, words=token.words))
    foreign = frozenset().union(*(_foreign_names(text, folded) for _, text in texts)) if mentions else frozenset()
    return [mention for name, mention in mentions.items() if name not in foreign]


def _foreign_names(text: str, own: AbstractSet[str]) -> frozenset[str]:
    """Return the names in blocks of code, and in rows such as `container=1;points=0;`, of which none is a parameter's.

    The text is about another language then, which an argument holds: Mermaid, draw.io's styles.
    """
    names: set[str] = set()
    for match in _PATTERNS.snippet.finditer(text) if "`" in text else ():
        snippet = frozenset(_PATTERNS.snippet_name.findall(match[0]))
        if own.isdisjoint(map(fold, snippet)):
            names |= snippet
    return frozenset(names)


def _is_asked_for(token: Token, own: AbstractSet[str], words: KnownNames) -> bool:
    if token.name[:1].isupper():
        return False
    folded = fold(token.name)
    return not (folded in own or folded in words.tools) and _is_parameter(token, words)


def _is_parameter(token: Token, words: KnownNames) -> bool:
    """Named as a parameter, not denied, and in no breath with another tool, whose parameter it may be."""
    denied = (_PATTERNS.negated, _PATTERNS.returned)
    if not _is_named_parameter(token) or any(pattern.search(token.before) for pattern in denied):
        return False
    other_names = (
        neighbor.name for neighbor in _tokens(f"{token.before} {token.after}") if neighbor.name != token.name
    )
    return not any(fold(other) in words.tools or (name_parts(other) or ("",))[0] in LEMMAS for other in other_names)


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
    # as in "set `limit` to 5" and "pass limit=5"
    is_set = is_ticked or after.startswith("=")
    is_asked = is_set and lead.endswith(_endings("set_ends")) and _PATTERNS.set_before.search(before) is not None
    if is_asked and (
        not is_ticked or _PATTERNS.set_after.match(after) or ("_" in name and _PATTERNS.stopped.match(after))
    ):
        return True
    return is_ticked and _PATTERNS.sure_after.match(after) is not None


def _listed(text: str, own: AbstractSet[str]) -> Iterator[tuple[str, int, int]]:
    """Entries below a heading such as "Args:" up to the next line that is none; their own sub-entries are values."""
    entries = list_entries(text) if ":" in text or "(" in text else ()
    if all(fold(entry.name) in own for entry in entries):
        return
    lines = text.split("\n")
    heads = {number for number, line in enumerate(lines) if _is_header(line)} if _is_headed(text) else set()
    heads |= {entry.start - 1 for entry in entries} if any(fold(entry.name) in own for entry in entries) else set()
    if not heads:
        return
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    reached = -1
    for head in sorted(heads):
        if head < reached:
            continue
        block = list(_block(lines, head, entries))
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
    is_candidate = line.rstrip(" *_:.\t").lower().endswith(_endings("header_ends"))
    return is_candidate and _PATTERNS.header.fullmatch(line.strip()) is not None


def _block(lines: Sequence[str], head: int, entries: Sequence[ParameterExplanation]) -> Iterator[ParameterExplanation]:
    """The entries of one list: of the first one's depth, with nothing but empty lines between them."""
    following = [entry for entry in entries if entry.start > head]
    number, depth = head + 1, None
    for entry in following:
        between = [line for line in lines[number : entry.start] if line.strip()]
        if any(depth is None or len(line) - len(line.lstrip()) <= depth for line in between):
            return
        line = lines[entry.start].strip()
        is_heading = _PATTERNS.heading.match(line) is not None and not line.startswith("- ")
        if is_heading or (depth is not None and entry.indent < depth):
            return
        depth = entry.indent if depth is None else depth
        if entry.indent == depth and not _PATTERNS.quoted_entry.match(line):
            yield entry
        number = entry.end
