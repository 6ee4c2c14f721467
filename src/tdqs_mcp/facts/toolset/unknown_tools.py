"""Finds tools that a text mentions and the catalog does not have."""

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from tdqs_mcp.facts.text.vocabulary import LEMMAS, PatternTable, endings_from, words_from
from tdqs_mcp.facts.text.words import name_parts
from tdqs_mcp.facts.toolset.names import KnownNames, Mention, fold, style

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
    """What precedes it, lower-case and without marks: how it ends tells which patterns can match there."""

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
        for token in (_tokens(text) if path == "/description" else _explained_tokens(text))
        if token.name not in own
    )


@lru_cache(maxsize=4096)
def _explained_tokens(text: str) -> tuple[Token, ...]:
    """Those of a parameter's description, if it names another thing; quotes and hyphens there mark values."""
    is_naming = "_" in text or "`" in text or "tool" in text or "param" in text or "argument" in text
    return _tokens(text) if is_naming or _PATTERNS.hump.search(text) else ()


@lru_cache(maxsize=4096)
def _tokens(text: str) -> tuple[Token, ...]:
    """The words that look like names; each begins what sticks together around a mark."""
    found = []
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
        if match is not None:
            found.append(_token(text, start, match.end()))
        run = _PATTERNS.run.match(text, start)
        reached = max(run.end() if run else start, start)
    return tuple(found)


def _token(text: str, start: int, end: int) -> Token:
    before = text[max(0, start - _WINDOW) : start]
    lead = before.rstrip("`'\"*( \t\n").lower()
    return Token(text[start:end], before, text[end : end + _WINDOW], lead, text, start, end)


def unknown_tools(
    strange: Sequence[UnknownWord], texts: Sequence[tuple[str, str]], own: frozenset[str], words: KnownNames
) -> list[Mention]:
    """Names that texts use as a tool's and that no tool of the catalog has; `own` are names of the tool's own parts."""
    found: dict[str, Mention] = {}
    for path, each in strange:
        if _is_unknown(each.name, own, words) and _is_tool(each, words) and not _is_value(each.name, texts):
            found.setdefault(each.name, Mention(name=each.name, path=path, words=each.words))
    whole = "\n".join(text for _, text in texts)
    for path, text in texts if "mcp__" in whole or (":" in whole and _PATTERNS.joint.search(whole)) else ():
        for name, start, end in _prefixed(text, own, words) if ":" in text or "mcp__" in text else ():
            found.setdefault(name, Mention(name=name, path=path, words=around(text, start, end)))
    return list(found.values())


def _is_value(name: str, texts: Sequence[tuple[str, str]]) -> bool:
    """Elsewhere in the texts the same word is a value."""
    return any(
        f"{joint}{mark}{name}{mark}" in text for _, text in texts for joint in ("=", ": ", "(") for mark in "'\""
    )


def _prefixed(text: str, own: frozenset[str], words: KnownNames) -> Iterator[tuple[str, int, int]]:
    """`mcp__server__tool` and `server:tool`, where the server is this one; others' tools cannot be judged."""
    is_joined = _PATTERNS.joint.search(text) is not None and words.server in fold(text)
    if not is_joined and "mcp__" not in text:
        return
    for match in _PATTERNS.prefixed.finditer(text):
        server, name = match["server"] or match["other"], match["name"] or match["tool"]
        is_ours = fold(server) == words.server or (match["server"] and fold(server) in words.server)
        if is_ours and _is_unknown(name, own, words):
            yield name, match.start(), match.end()


def _is_unknown(name: str, own: frozenset[str], words: KnownNames) -> bool:
    folded = fold(name)
    if folded in words.tools or name in own or folded in words.words:
        return False
    return words.prefix + folded not in words.tools and not (name.startswith("mcp__"))


def _is_tool(token: Token, words: KnownNames) -> bool:
    """The context uses the word as a tool's name, or it is formed as this catalog's names are."""
    name, before, after, lead, *_ = token
    is_joined, is_ticked = not name.isalnum() or not (name.islower() or name.istitle()), before.endswith("`")
    is_like = style(name) in words.styles
    is_ordinary = (name[:1].isupper() or "-" in name) and not is_like
    is_no_name = (is_ordinary and not is_ticked) or name.isupper() or not (is_joined or is_ticked)
    is_former = lead.endswith(_endings("former_ends")) and _PATTERNS.former.search(before)
    if is_no_name or is_former or _PATTERNS.other_kind.match(after):
        return False
    is_called = not _words("call_words").isdisjoint(lead.split()) and _PATTERNS.called.search(before) is not None
    if _is_called_tool(token, is_called=is_called, is_ticked=is_ticked):
        return True
    if not is_joined or (before.endswith(("'", '"')) and not is_called):
        return False
    is_verbal = _starts_with_verb(name)
    is_quoted = is_ticked or (is_called and before.endswith(("'", '"')))
    is_kin = is_like and _is_kin(name, words, is_ticked=is_quoted)
    if is_called:
        return is_kin or (is_verbal and (is_like or is_ticked or "_" in name))
    is_source = lead.endswith(_endings("source_ends"))
    if is_source and (_PATTERNS.obtained.search(before) or _PATTERNS.beside.search(before)):
        return is_kin or (is_verbal and (is_like or is_ticked))
    is_function = _PATTERNS.paren_after.match(after) and is_verbal and before[-2:] != "{ "
    return is_like and bool(is_function or _is_made_alike(name, before, words, is_ticked=is_ticked))


def _is_called_tool(token: Token, *, is_called: bool, is_ticked: bool) -> bool:
    """The text says "tool" beside the name, or calls it first or instead."""
    name, before, after, lead, *_ = token
    if _PATTERNS.tool_after.match(after):
        return True
    if lead.endswith(_endings("tool_ends")) and _PATTERNS.tool_before.search(before) and ("-" not in name or is_ticked):
        return True
    return is_called and _PATTERNS.strong_after.match(after) is not None


def _is_made_alike(name: str, before: str, words: KnownNames, *, is_ticked: bool) -> bool:
    """It is formed as the catalog's names are. Hyphens also join ordinary words, so they need a cue before them."""
    if "-" in name and not is_ticked and not _PATTERNS.sourced.search(before):
        return False
    return _resembles(name, words) or (_is_imperative(name) and not _PATTERNS.example.search(before))


def _is_kin(name: str, words: KnownNames, *, is_ticked: bool) -> bool:
    """It shares a first word or a noun with a tool, and is not a field such as `file_token`."""
    parts = name_parts(name)
    is_field = parts[-1] in _words("field_endings") or ("-" in name and not is_ticked)
    return not is_field and ((style(name), parts[0]) in words.shapes or not words.nouns.isdisjoint(parts) or is_ticked)


def _is_imperative(name: str) -> bool:
    """A verb and a thing, as in `fetch_orders`; not a field such as `update_time`."""
    first, *rest = name_parts(name)
    return bool(rest) and first in words_from("names", "plain_verbs") and rest[-1] not in _words("field_endings")


def _starts_with_verb(name: str) -> bool:
    parts = name_parts(name)
    return len(parts) > 1 and LEMMAS.get(parts[0]) == parts[0]


def _resembles(name: str, words: KnownNames) -> bool:
    """Spelled as the catalog's names are, with a first word that its tools begin with and a noun that they have."""
    parts = name_parts(name)
    return (
        len(parts) > 1
        and (style(name), parts[0]) in words.shapes
        and not words.nouns.isdisjoint(parts[1:])
        and (parts[0] in LEMMAS or any(part in LEMMAS for part in parts[1:]))
        and not (parts[0] in _words("noun_verbs") and len(parts) == 2)
    )


def around(text: str, start: int, end: int) -> str:
    """A stretch of a text with some of what stands around it."""
    return " ".join(text[max(0, start - 30) : end + 20].split())
