"""Tools that a text names and the catalog does not have."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tdqs_mcp.facts.catalog.names import PLAIN_VERBS
from tdqs_mcp.facts.catalog.vocabulary import KnownNames, Mention, fold, style
from tdqs_mcp.facts.text.languages import LEMMAS
from tdqs_mcp.facts.text.patterns import lazy_pattern
from tdqs_mcp.facts.text.words import name_parts

_TOKEN = lazy_pattern(
    r"(?<![\w$@./:<{#&%\\-])(?P<name>[A-Za-z][A-Za-z0-9]*(?:(?:_|__)[A-Za-z0-9]+)+|[a-z][a-z0-9]*(?:[A-Z][A-Za-z0-9]*)+"
    r"|[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+"
    r"|(?<=[`'\"])[A-Za-z]\w{1,60}(?=[`'\"]))(?![\w]|\.\w|-\w|/\w)"
)
"""A word that looks like a name: joined of several, or alone in backticks."""

_MARKED = lazy_pattern(
    r"[_\-`'\"A-Z](?:(?<=[A-Za-z0-9][_\-])(?=_?[A-Za-z0-9])|(?<=[`'\"])(?=[A-Za-z]\w{1,60}[`'\"])|(?<=[a-z0-9][A-Z]))"
)
"""The joint or the quote that every such word has; looked for by itself, because most characters are neither."""

_GLUE = frozenset("_$@./:<{#&%\\-")
_RUN = lazy_pattern(r"[\w$@./:<{#&%\\-]*")
"""What such a word begins: all that sticks together."""

_HUMP = lazy_pattern(r"[A-Z](?<=[a-z][A-Z])")

_CALLS = (
    r"use|uses|using|call|calls|calling|run|running|invoke|invoking|invokes|prefer|try|see|see\s+also|via|unlike"
    r"|execute|"
    r"pairs?\s+with|proceed\s+(?:to|with)|switch\s+to|fall\s+back\s+(?:to|on)|refer\s+to|consider|chain(?:ed)?\s+with|replaced\s+by"
)
_SOURCES = r"from|by|through|than|with|after|before|then|either"
_CALL_WORDS = frozenset(
    "use uses using call calls calling run running invoke invoking invokes prefer try see also: via unlike execute "
    "proceed switch fall refer "
    "consider chain chained replaced pair pairs".split()
)
_CALLED = lazy_pattern(
    rf"\b(?:{_CALLS})(?:\s+(?:the|this\s+with|either|also|first|instead|and|or|[`'\"]?\w+(?:[_-]\w+)+[`'\"]?\s*(?:,|\+|and"
    rf"|or|/)))*\s*:?\s+[`'\"*(]{{0,3}}$",
    re.IGNORECASE,
)
_SOURCED = lazy_pattern(rf"\b(?:{_SOURCES})\s+(?:the\s+)?[`'\"*(]{{0,3}}$", re.IGNORECASE)
_OBTAINED = lazy_pattern(
    r"\b(?:returned|obtained|provided|given|fetched|listed|retrieved|created|generated|produced|found|discovered"
    r"|initialized|ids?|uids?|uuids?|keys?|"
    r"results?|refs?|names?|handles?|follow\s+up|together|combined?|first|available|search|get|it"
    r"|them)\s+(?:\w+\s+)?(?:from|by|via|with|through|using)\s+(?:the\s+|a\s+)?[`'\"*(]{0,3}$",
    re.IGNORECASE,
)
_BESIDE = lazy_pattern(
    r"\b(?:before|after|than|unlike|instead\s+of|rather\s+than)\s+(?:calling\s+|using\s+"
    r"|running\s+)?(?:the\s+)?[`'\"*(]{0,3}$|(?:->|→)\s*`?$"
    r"|\b(?:pass|feed|hand|give|send|supply)\s+(?:\w+\s+){1,3}to\s+(?:the\s+)?[`'\"*(]{0,3}$"
    r"|\b(?:parameters?|arguments?)\s+(?:(?:to|for)\s+\w+\s+)?(?:of|in|for)\s+(?:the\s+)?[`'\"*(]{0,3}$",
    re.IGNORECASE,
)
_TOOL_BEFORE = lazy_pattern(
    r"\btools?\s+(?:called\s+|named\s+|is\s+|are\s+|like\s+|such\s+as\s+)?[`'\"*(]{0,3}$", re.IGNORECASE
)
_TOOL_AFTER = lazy_pattern(
    r"[`'\"*)(]{0,4}\s+(?:mcp\s+)?tools?\b(?!\s*(?:calls?|use|result|response|name|list|set|definitions?|annotations?|"
    r"schemas?|servers?|arguments?|parameters?|outputs?|inputs?|choice)\b)",
    re.IGNORECASE,
)
_STRONG_AFTER = lazy_pattern(r"[`'\"*)(]{0,4}\s*,?\s*(?:instead|first|beforehand|rather|prior)\b", re.IGNORECASE)
_PAREN_AFTER = lazy_pattern(r"`?\(")
_OTHER_KIND = lazy_pattern(
    r"[`'\"*)]{0,3}\s*(?:=|:\s*[\[{\"']|\.\w|(?:(?:api|sdk)\s+)?(?:operations?|endpoints?|apis?|actions?|methods?"
    r"|scopes?|permissions?|"
    r"webhooks?|events?|fields?|propert(?:y|ies)|columns?|keys?|values?|parameters?|params?|arguments?|args?"
    r"|options?|flags?|types?|status|"
    r"modes?|variables?|attributes?|metrics?|syntax|format|templates?|files?|tables?|headers?|classes|class"
    r"|objects?|commands?)\b)",
    re.IGNORECASE,
)
_FORMER = lazy_pattern(
    r"\b(?:replaces|formerly|deprecated|renamed\s+from|previously|operation|action|operations|actions|categor(?:y"
    r"|ies)|toolsets?|event|events|"
    r"field|fields|enum|value|values|metric|key|column|columns|keys)\b(?:\s*(?:=|:|is|are|of))?\s*[`'\"*(]{0,3}$"
    r"|[=\[]\s*[`'\"]{0,2}$",
    re.IGNORECASE,
)
_PREFIXED = lazy_pattern(
    r"\bmcp__(?P<server>[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*?)__(?P<name>\w+)"
    r"|(?<![\w/:.\-])(?P<other>[A-Za-z][\w-]{1,40}):(?P<tool>[A-Za-z][a-z0-9]*(?:[_-][a-z0-9]+)+)\b(?![:/])",
)
_JOINT = lazy_pattern(r":(?<=\w:)[A-Za-z]")
_WINDOW = 48
"""Characters before and after a name that tell what it is used as."""


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
    """A word that looks like a name and names no part of its tool."""

    path: str
    token: Token


def unknown_words(texts: Sequence[tuple[str, str]], own: frozenset[str]) -> tuple[UnknownWord, ...]:
    """The strange names of a definition, in order; `own` are the names and values of its schemas."""
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
    return _tokens(text) if is_naming or _HUMP.search(text) else ()


@lru_cache(maxsize=4096)
def _tokens(text: str) -> tuple[Token, ...]:
    """The words that look like names; each begins what sticks together around a mark."""
    found = []
    reached = 0
    for mark in _MARKED.finditer(text):
        start = mark.start()
        if start < reached:
            continue
        if text[start] in "`'\"":
            start += 1
        else:
            while start > reached and (text[start - 1].isalnum() or text[start - 1] in _GLUE):
                start -= 1
        match = _TOKEN.match(text, start)
        if match is not None:
            found.append(_token(text, start, match.end()))
        run = _RUN.match(text, start)
        reached = max(run.end() if run else start, start)
    return tuple(found)


def _token(text: str, start: int, end: int) -> Token:
    before = text[max(0, start - _WINDOW) : start]
    return Token(
        text[start:end],
        before,
        text[end : end + _WINDOW],
        before.rstrip("`'\"*( \t\n").lower(),
        text,
        start,
        end,
    )


def unknown_tools(
    strange: Sequence[UnknownWord], texts: Sequence[tuple[str, str]], own: frozenset[str], words: KnownNames
) -> list[Mention]:
    """Names that texts use as a tool's and that no tool of the catalog has; `own` are names of the tool's own parts."""
    found: dict[str, Mention] = {}
    for path, each in strange:
        if _is_unknown(each.name, own, words) and _is_tool(each, words) and not _is_value(each.name, texts):
            found.setdefault(each.name, Mention(name=each.name, path=path, words=each.words))
    whole = "\n".join(text for _, text in texts)
    for path, text in texts if "mcp__" in whole or (":" in whole and _JOINT.search(whole)) else ():
        for name, start, end in _prefixed(text, own, words) if ":" in text or "mcp__" in text else ():
            found.setdefault(name, Mention(name=name, path=path, words=around(text, start, end)))
    return list(found.values())


def _is_value(name: str, texts: Sequence[tuple[str, str]]) -> bool:
    """Elsewhere in the texts the same word is somebody's value."""
    return any(
        f"{joint}{mark}{name}{mark}" in text for _, text in texts for joint in ("=", ": ", "(") for mark in "'\""
    )


def _prefixed(text: str, own: frozenset[str], words: KnownNames) -> Iterator[tuple[str, int, int]]:
    """`mcp__server__tool` and `server:tool`, where the server is this one; others' tools cannot be judged."""
    is_joined = _JOINT.search(text) is not None and words.server in fold(text)
    if not is_joined and "mcp__" not in text:
        return
    for match in _PREFIXED.finditer(text):
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
    """The words around a name use it as a tool's, or it is made as this catalog makes its names."""
    name, before, after, lead, *_ = token
    is_joined, is_ticked = not name.isalnum() or not (name.islower() or name.istitle()), before.endswith("`")
    is_like = _is_spelled_like(name, words)
    is_ordinary = (name[:1].isupper() or "-" in name) and not is_like
    is_no_name = (is_ordinary and not is_ticked) or name.isupper() or not (is_joined or is_ticked)
    if is_no_name or _OTHER_KIND.match(after) or (lead.endswith(_FORMER_ENDS) and _FORMER.search(before)):
        return False
    is_called = not _CALL_WORDS.isdisjoint(lead.split()) and _CALLED.search(before) is not None
    if _is_called_tool(token, is_called=is_called, is_ticked=is_ticked):
        return True
    if not is_joined or (before.endswith(("'", '"')) and not is_called):
        return False
    is_verbal = _starts_with_verb(name)
    is_quoted = is_ticked or (is_called and before.endswith(("'", '"')))
    is_kin = is_like and _is_kin(name, words, is_ticked=is_quoted)
    if is_called:
        return is_kin or (is_verbal and (is_like or is_ticked or "_" in name))
    if lead.endswith(_SOURCE_ENDS) and (_OBTAINED.search(before) or _BESIDE.search(before)):
        return is_kin or (is_verbal and (is_like or is_ticked))
    is_function = _PAREN_AFTER.match(after) and is_verbal and before[-2:] != "{ "
    return is_like and bool(is_function or _is_made_alike(name, before, words, is_ticked=is_ticked))


_FORMER_ENDS = tuple("is are of = : [".split()) + tuple(
    "replaces formerly deprecated renamed previously operation action operations actions category categories toolset "
    "toolsets event events field fields enum value values metric key column columns keys from".split()
)
_SOURCE_ENDS = tuple(
    "from by via with through using the a before after than unlike of in for to calling running -> →".split()
)
_TOOL_ENDS = tuple("tool tools called named is are like as".split())
"""How a text ends where these patterns can match."""


def _is_called_tool(token: Token, *, is_called: bool, is_ticked: bool) -> bool:
    """The text says "tool" beside the name, or calls it first or instead."""
    name, before, after, lead, *_ = token
    if _TOOL_AFTER.match(after):
        return True
    if lead.endswith(_TOOL_ENDS) and _TOOL_BEFORE.search(before) and ("-" not in name or is_ticked):
        return True
    return is_called and _STRONG_AFTER.match(after) is not None


def _is_made_alike(name: str, before: str, words: KnownNames, *, is_ticked: bool) -> bool:
    """No word around it calls it, but it is made as the catalog's names are; hyphens join ordinary words as well."""
    if "-" in name and not is_ticked and not _SOURCED.search(before):
        return False
    return _resembles(name, words) or (_is_imperative(name) and not _EXAMPLE.search(before))


_EXAMPLE = lazy_pattern(r"\b(?:e\.g\.?|such\s+as|example|like|i\.e\.?)[,:]?\s*[`'\"(]{0,2}$", re.IGNORECASE)


def _is_kin(name: str, words: KnownNames, *, is_ticked: bool) -> bool:
    """It begins as some tool does, or shares a noun with one, and is no field such as `file_token`."""
    parts = name_parts(name)
    is_field = parts[-1] in _LABELLED or ("-" in name and not is_ticked)
    return not is_field and (_shares_first(name, words) or not words.nouns.isdisjoint(parts) or is_ticked)


_LABELLED = frozenset(
    "id ids date time at by count type name on in for from to only all key url path token number requests request "
    "type query side based separated name mode status".split()
)
"""Last words of a field's name."""


def _is_imperative(name: str) -> bool:
    """A verb that names no thing, then a thing: `fetch_orders`, and no field such as `update_time`."""
    parts = name_parts(name)
    return len(parts) > 1 and parts[0] in PLAIN_VERBS and parts[-1] not in _LABELLED


def _starts_with_verb(name: str) -> bool:
    parts = name_parts(name)
    return len(parts) > 1 and LEMMAS.get(parts[0]) == parts[0]


def _is_spelled_like(name: str, words: KnownNames) -> bool:
    return style(name) in words.styles


def _shares_first(name: str, words: KnownNames) -> bool:
    return (style(name), name_parts(name)[0]) in words.shapes


def _resembles(name: str, words: KnownNames) -> bool:
    """Spelled as the catalog's names are, with a first word that its tools begin with and a noun that they have."""
    parts = name_parts(name)
    return (
        len(parts) > 1
        and (style(name), parts[0]) in words.shapes
        and not words.nouns.isdisjoint(parts[1:])
        and (parts[0] in LEMMAS or any(part in LEMMAS for part in parts[1:]))
        and not (parts[0] in _NOUN_VERBS and len(parts) == 2)
    )


_NOUN_VERBS = frozenset(
    "merge post order report process file log search query filter page comment label tag record result".split()
)
"""Verbs that begin a compound noun as well: `merge_requests`, `search_results`."""


def around(text: str, start: int, end: int) -> str:
    """A stretch of a text with some of what stands around it."""
    return " ".join(text[max(0, start - 30) : end + 20].split())
