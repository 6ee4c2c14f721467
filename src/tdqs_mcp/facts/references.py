"""What the texts of a catalog refer to: tools and parameters by name, boundaries to siblings, ranks."""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tdqs_mcp.facts import sayings
from tdqs_mcp.facts.names import PLAIN_VERBS
from tdqs_mcp.facts.patterns import late
from tdqs_mcp.facts.prose import MAX_EXPLANATION, MAX_TEXT, name_parts
from tdqs_mcp.facts.relations import shared_prefix
from tdqs_mcp.facts.shape import Shape
from tdqs_mcp.facts.words import LEMMAS


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A name in a text that stands for nothing in the catalog."""

    name: str
    path: str
    """JSON pointer of the text inside the definition."""

    words: str
    """The name with the words around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """All names of a catalog: what a word in a text may stand for."""

    tools: frozenset[str]
    """Names of tools, folded."""

    words: frozenset[str]
    """Names of parameters and results, members of enumerations, the server's own names; folded."""

    shapes: frozenset[tuple[str, str]]
    """How the tools' names are spelled and how they begin."""

    nouns: frozenset[str]
    """Words of the tools' names that are no verbs."""

    styles: frozenset[str]
    server: str
    """The server's name, folded."""

    prefix: str
    """The word that most names begin with, folded: texts often leave it out."""


@lru_cache(maxsize=20_000)
def fold(name: str) -> str:
    """A name without case and joints, so that spelling alone never makes two of it."""
    return name.lower().replace("_", "").replace("-", "")


_TOKEN = late(
    r"(?<![\w$@./:<{#&%\\-])(?P<name>[A-Za-z][A-Za-z0-9]*(?:(?:_|__)[A-Za-z0-9]+)+|[a-z][a-z0-9]*(?:[A-Z][A-Za-z0-9]*)+"
    r"|[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+"
    r"|(?<=[`'\"])[A-Za-z]\w{1,60}(?=[`'\"]))(?![\w]|\.\w|-\w|/\w)"
)
"""A word that looks like a name: joined of several, or alone in backticks."""

_MARKED = late(
    r"[_\-`'\"A-Z](?:(?<=[A-Za-z0-9][_\-])(?=_?[A-Za-z0-9])|(?<=[`'\"])(?=[A-Za-z]\w{1,60}[`'\"])|(?<=[a-z0-9][A-Z]))"
)
"""The joint or the quote that every such word has; looked for by itself, because most characters are neither."""

_GLUE = frozenset("_$@./:<{#&%\\-")
_RUN = late(r"[\w$@./:<{#&%\\-]*")
"""What such a word begins: all that sticks together."""

_HUMP = late(r"[A-Z](?<=[a-z][A-Z])")

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
_CALLED = late(
    rf"\b(?:{_CALLS})(?:\s+(?:the|this\s+with|either|also|first|instead|and|or|[`'\"]?\w+(?:[_-]\w+)+[`'\"]?\s*(?:,|\+|and"
    rf"|or|/)))*\s*:?\s+[`'\"*(]{{0,3}}$",
    re.IGNORECASE,
)
_SOURCED = late(rf"\b(?:{_SOURCES})\s+(?:the\s+)?[`'\"*(]{{0,3}}$", re.IGNORECASE)
_OBTAINED = late(
    r"\b(?:returned|obtained|provided|given|fetched|listed|retrieved|created|generated|produced|found|discovered"
    r"|initialized|ids?|uids?|uuids?|keys?|"
    r"results?|refs?|names?|handles?|follow\s+up|together|combined?|first|available|search|get|it"
    r"|them)\s+(?:\w+\s+)?(?:from|by|via|with|through|using)\s+(?:the\s+|a\s+)?[`'\"*(]{0,3}$",
    re.IGNORECASE,
)
_BESIDE = late(
    r"\b(?:before|after|than|unlike|instead\s+of|rather\s+than)\s+(?:calling\s+|using\s+"
    r"|running\s+)?(?:the\s+)?[`'\"*(]{0,3}$|(?:->|→)\s*`?$"
    r"|\b(?:pass|feed|hand|give|send|supply)\s+(?:\w+\s+){1,3}to\s+(?:the\s+)?[`'\"*(]{0,3}$"
    r"|\b(?:parameters?|arguments?)\s+(?:(?:to|for)\s+\w+\s+)?(?:of|in|for)\s+(?:the\s+)?[`'\"*(]{0,3}$",
    re.IGNORECASE,
)
_TOOL_BEFORE = late(
    r"\btools?\s+(?:called\s+|named\s+|is\s+|are\s+|like\s+|such\s+as\s+)?[`'\"*(]{0,3}$", re.IGNORECASE
)
_TOOL_AFTER = late(
    r"[`'\"*)(]{0,4}\s+(?:mcp\s+)?tools?\b(?!\s*(?:calls?|use|result|response|name|list|set|definitions?|annotations?|"
    r"schemas?|servers?|arguments?|parameters?|outputs?|inputs?|choice)\b)",
    re.IGNORECASE,
)
_STRONG_AFTER = late(r"[`'\"*)(]{0,4}\s*,?\s*(?:instead|first|beforehand|rather|prior)\b", re.IGNORECASE)
_PAREN_AFTER = late(r"`?\(")
_OTHER_KIND = late(
    r"[`'\"*)]{0,3}\s*(?:=|:\s*[\[{\"']|\.\w|(?:(?:api|sdk)\s+)?(?:operations?|endpoints?|apis?|actions?|methods?"
    r"|scopes?|permissions?|"
    r"webhooks?|events?|fields?|propert(?:y|ies)|columns?|keys?|values?|parameters?|params?|arguments?|args?"
    r"|options?|flags?|types?|status|"
    r"modes?|variables?|attributes?|metrics?|syntax|format|templates?|files?|tables?|headers?|classes|class"
    r"|objects?|commands?)\b)",
    re.IGNORECASE,
)
_FORMER = late(
    r"\b(?:replaces|formerly|deprecated|renamed\s+from|previously|operation|action|operations|actions|categor(?:y"
    r"|ies)|toolsets?|event|events|"
    r"field|fields|enum|value|values|metric|key|column|columns|keys)\b(?:\s*(?:=|:|is|are|of))?\s*[`'\"*(]{0,3}$"
    r"|[=\[]\s*[`'\"]{0,2}$",
    re.IGNORECASE,
)
_PREFIXED = late(
    r"\bmcp__(?P<server>[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*?)__(?P<name>\w+)"
    r"|(?<![\w/:.\-])(?P<other>[A-Za-z][\w-]{1,40}):(?P<tool>[A-Za-z][a-z0-9]*(?:[_-][a-z0-9]+)+)\b(?![:/])",
)
_JOINT = late(r":(?<=\w:)[A-Za-z]")
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
        return _around(self.text, self.start, self.end)


class Stranger(NamedTuple):
    """A word that looks like a name and names no part of its tool."""

    path: str
    token: Token


def strangers(texts: Sequence[tuple[str, str]], own: frozenset[str]) -> tuple[Stranger, ...]:
    """The strange names of a definition, in order; `own` are the names and values of its schemas."""
    return tuple(
        Stranger(path, token)
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
    strange: Sequence[Stranger], texts: Sequence[tuple[str, str]], own: frozenset[str], words: Vocabulary
) -> list[Mention]:
    """Names that texts use as a tool's and that no tool of the catalog has; `own` are names of the tool's own parts."""
    found: dict[str, Mention] = {}
    for path, each in strange:
        if _is_unknown(each.name, own, words) and _is_tool(each, words) and not _is_value(each.name, texts):
            found.setdefault(each.name, Mention(name=each.name, path=path, words=each.words))
    whole = "\n".join(text for _, text in texts)
    for path, text in texts if "mcp__" in whole or (":" in whole and _JOINT.search(whole)) else ():
        for name, start, end in _prefixed(text, own, words) if ":" in text or "mcp__" in text else ():
            found.setdefault(name, Mention(name=name, path=path, words=_around(text, start, end)))
    return list(found.values())


def _is_value(name: str, texts: Sequence[tuple[str, str]]) -> bool:
    """Elsewhere in the texts the same word is somebody's value."""
    return any(
        f"{joint}{mark}{name}{mark}" in text for _, text in texts for joint in ("=", ": ", "(") for mark in "'\""
    )


def _prefixed(text: str, own: frozenset[str], words: Vocabulary) -> Iterator[tuple[str, int, int]]:
    """`mcp__server__tool` and `server:tool`, where the server is this one; others' tools cannot be judged."""
    is_joined = _JOINT.search(text) is not None and words.server in fold(text)
    if not is_joined and "mcp__" not in text:
        return
    for match in _PREFIXED.finditer(text):
        server, name = match["server"] or match["other"], match["name"] or match["tool"]
        is_ours = fold(server) == words.server or (match["server"] and fold(server) in words.server)
        if is_ours and _is_unknown(name, own, words):
            yield name, match.start(), match.end()


def _is_unknown(name: str, own: frozenset[str], words: Vocabulary) -> bool:
    folded = fold(name)
    if folded in words.tools or name in own or folded in words.words:
        return False
    return words.prefix + folded not in words.tools and not (name.startswith("mcp__"))


def _is_tool(token: Token, words: Vocabulary) -> bool:
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


def _is_made_alike(name: str, before: str, words: Vocabulary, *, is_ticked: bool) -> bool:
    """No word around it calls it, but it is made as the catalog's names are; hyphens join ordinary words as well."""
    if "-" in name and not is_ticked and not _SOURCED.search(before):
        return False
    return _resembles(name, words) or (_is_imperative(name) and not _EXAMPLE.search(before))


_EXAMPLE = late(r"\b(?:e\.g\.?|such\s+as|example|like|i\.e\.?)[,:]?\s*[`'\"(]{0,2}$", re.IGNORECASE)


def _is_kin(name: str, words: Vocabulary, *, is_ticked: bool) -> bool:
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


def _is_spelled_like(name: str, words: Vocabulary) -> bool:
    return _style(name) in words.styles


def _shares_first(name: str, words: Vocabulary) -> bool:
    return (_style(name), name_parts(name)[0]) in words.shapes


def _resembles(name: str, words: Vocabulary) -> bool:
    """Spelled as the catalog's names are, with a first word that its tools begin with and a noun that they have."""
    parts = name_parts(name)
    return (
        len(parts) > 1
        and (_style(name), parts[0]) in words.shapes
        and not words.nouns.isdisjoint(parts[1:])
        and (parts[0] in LEMMAS or any(part in LEMMAS for part in parts[1:]))
        and not (parts[0] in _NOUN_VERBS and len(parts) == 2)
    )


_NOUN_VERBS = frozenset(
    "merge post order report process file log search query filter page comment label tag record result".split()
)
"""Verbs that begin a compound noun as well: `merge_requests`, `search_results`."""


def _style(name: str) -> str:
    if "_" in name:
        return "_"
    return "-" if "-" in name else "Aa" if name[:1].isupper() else "a"


def _around(text: str, start: int, end: int) -> str:
    return " ".join(text[max(0, start - 30) : end + 20].split())


def vocabulary(names: Sequence[str], shapes: Sequence[Shape], server: str) -> Vocabulary:
    """The names of a catalog, collected once."""
    words: set[str] = set()
    for shape in shapes:
        words |= shape.names
        for node in shape.having.get("enum", ()):
            values = node.schema["enum"]
            words.update(value for value in values if isinstance(value, str)) if isinstance(values, list) else None
        for node in shape.having.get("const", ()):
            const = node.schema["const"]
            words.update([const]) if isinstance(const, str) else None
    parts = [name_parts(name) for name in names]
    shapes_ = frozenset((_style(name), part[0]) for name, part in zip(names, parts, strict=True) if len(part) > 1)
    return Vocabulary(
        tools=frozenset(map(fold, names)),
        words=frozenset(map(fold, words)) | {fold(server)},
        shapes=shapes_,
        styles=frozenset(style for style, _ in shapes_),
        nouns=frozenset(word for part in parts for word in part[1:]),
        server=fold(server),
        prefix=shared_prefix(parts),
    )


# Parameters

_PARAMETER_AFTER = late(
    r"[`'\"*]{0,3}[ \t]+(?:(?:input|query|body|path|optional|required|boolean|string)[ \t]+)?(?:parameter|param"
    r"|argument|arg)\b"
)
_PARAMETERS_AFTER = late(r"[`'\"*]{1,3}[ \t]+(?:(?:input|query)[ \t]+)?(?:parameters|params|arguments|args)\b")
_BARE = late(
    r"\b(?:the|use|set|pass|via|with|The|Use|Set|Pass|Via|With)[ \t]+\$?(?P<name>[a-z]{3,40})[ \t]+"
    r"(?:parameter|param|argument)\b(?!s"
    r"|[ \t]+(?:of|name|value|list|type|desc))"
)
_KINDS_OF = frozenset(
    "query input request path same following optional required first second third last new this search output body "
    "url function type other "
    "single each tool api method string boolean filter command line additional corresponding above below next named "
    "given specific "
    "relevant appropriate main key value json only either both default extra".split()
)
_PARAMETER_BEFORE = late(
    r"\b(?:parameter|param|argument|arg)[ \t]+(?:(?:called|named|name[ \t]+is(?:[ \t]+exactly)?)[ \t]+)?[`'\"*]{0,3}$"
    r"|\b(?:params|parameters|args|arguments|inputs):\s+(?:`?\w+`?,\s+){0,4}`?$",
    re.IGNORECASE,
)
_SET_BEFORE = late(
    r"\b(?:set|pass|provide|specify|supply|setting|passing|providing|specifying|omit|leave|requires?|with|via|by"
    r"|using|use)"
    r"[ \t]+(?:the[ \t]+|a[ \t]+|an[ \t]+)?[`*]{0,3}$",
    re.IGNORECASE,
)
_SET_AFTER = late(
    r"[`*]{0,3}(?:[ \t]+(?:must|should|accepts|expects|takes|defaults|is[ \t]+(?:required|optional|set|omitted"
    r"|provided|given|specified|not|mandatory|"
    r"true|false|present|empty|an?)|as|to[ \t]+(?:an?|the|true|false|control|limit|filter|specify|get|set|narrow"
    r"|change|choose|select|enable|disable|include|"
    r"restrict|[`'\"\d]))\b|[ \t]*=|[ \t]+to[ \t]+[`'\"\d])",
    re.IGNORECASE,
)
_SURE_AFTER = late(
    r"[`*]{0,3}[ \t]+(?:must[ \t]+be|should[ \t]+be|defaults[ \t]+to|accepts|expects|is[ \t]+(?:required|optional"
    r"|omitted|provided|given|specified|mandatory)"
    r"|are[ \t]+(?:required|optional|omitted|provided|given|specified|mandatory))\b",
    re.IGNORECASE,
)
_NEGATED = late(
    r"\b(?:no|not|without|isn't|never|instead\s+of|rather\s+than|nor)\s+(?:an?\s+|the\s+|such\s+)?[`'\"*]{0,3}$",
    re.IGNORECASE,
)
_OF_TOOL = late(r"[`'\"*]{0,3}(?:\s+\w+)?\s+(?:of|in|on|to|from|for)\s+(?:the\s+)?[`'\"]?(?P<tool>[\w-]+)")
_HEADER = late(
    r"[#*_ ]{0,6}(?:(?:input|tool)\s+)?(?:args|arguments|parameters|params|inputs?)[*_ ]{0,3}:?[*_ ]{0,3}:?"
    r"|.{0,300}\b(?:args|arguments?|parameters?|params|inputs)\s*:"
    r"|.{0,300}\btakes\s+(?:\w+\s+){1,2}(?:arguments?|parameters?)\.?",
    re.IGNORECASE,
)
_LABELS = frozenset(
    "required optional note notes example examples returns return raises important warning tip hint default usage "
    "see output "
    "outputs response errors error self none".split()
)


def unknown_parameters(
    strange: Sequence[Stranger], texts: Sequence[tuple[str, str]], own: frozenset[str], words: Vocabulary
) -> list[Mention]:
    """Names that texts use as a parameter's and that no schema of the tool has; `own` are the names that it has."""
    found: dict[str, Mention] = {}
    folded = frozenset(map(fold, own))
    for path, text in texts:
        if path != "/description" and "param" not in text and "argument" not in text:
            continue
        for name, start, end in _plain_parameters(text, path, folded, words):
            found.setdefault(name, Mention(name=name, path=path, words=_around(text, start, end)))
    for path, each in strange:
        if _is_asked_for(each, path, folded, words):
            found.setdefault(each.name, Mention(name=each.name, path=path, words=each.words))
    return list(found.values())


def _plain_parameters(text: str, path: str, own: AbstractSet[str], words: Vocabulary) -> Iterator[tuple[str, int, int]]:
    if path == "/description":
        yield from _listed(text, own)
    for match in _BARE.finditer(text) if "param" in text or "argument" in text else ():
        other = _OF_TOOL.match(text, match.end())
        if (
            fold(match["name"]) not in own
            and match["name"] not in _KINDS_OF
            and not (other and fold(other["tool"]) in words.tools)
        ):
            yield match["name"], match.start("name"), match.end("name")


def _is_asked_for(each: Token, path: str, own: AbstractSet[str], words: Vocabulary) -> bool:
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
    return is_renamed and not _NEGATED.search(before) and not _RETURNED.search(before)


def _is_companion(token: Token, own: AbstractSet[str]) -> bool:
    """Named in one breath with a parameter, each in backticks or a compound: "`offset` and `limit`"."""
    near = _JOINED_AFTER.match(token.after)
    if near is None and token.lead.endswith((" and", " or")):
        near = _JOINED_BEFORE.search(token.before)
    other = near["name"] if near else ""
    is_marked = token.before.endswith("`") or ("_" in token.name and "_" in other)
    is_named = bool(other) and is_marked and fold(other) in own
    return is_named and not _RETURNED.search(token.before) and not _CONDITIONAL.search(token.before)


_CONDITIONAL = late(
    r"\b(?:when|if|where|unless)\s+(?:`?\w+`?\s+(?:and|or)\s+)?`?$|\b(?:to|is|are|as)\s+`?$", re.IGNORECASE
)
_JOINED_AFTER = late(r"`?\s+(?:and|or)\s+`?(?P<name>[A-Za-z]\w{2,60})`?(?![\w.(])")
_JOINED_BEFORE = late(r"(?<![\w.])`?(?P<name>[A-Za-z]\w{2,60})`?\s+(?:and|or)\s+`?$")
_RETURNED = late(
    r"\b(?:returns?|returned|response|output|result|contains|includes?|field|fields|reports?)\b[^.\n]{0,40}$",
    re.IGNORECASE,
)


def _is_renamed(folded: str, own: AbstractSet[str]) -> bool:
    """No name of this tool, but the beginning or the end of one."""
    return len(folded) > 3 and any(
        len(each) > 3 and each != f"{folded}s" and (each.endswith(folded) or each.startswith(folded)) for each in own
    )


def _is_parameter(token: Token, words: Vocabulary) -> bool:
    if not _is_named_parameter(token) or _NEGATED.search(token.before):
        return False
    other = _OF_TOOL.match(token.after)
    return other is None or fold(other["tool"]) not in words.tools


def _is_named_parameter(token: Token) -> bool:
    """The words around a name use it as a parameter's, unless they deny it or speak of another tool's."""
    name, before, after, lead, *_ = token
    is_ticked = before.endswith("`")
    if _PARAMETER_AFTER.match(after) or (lead.endswith(_PARAMETER_ENDS) and _PARAMETER_BEFORE.search(before)):
        return "-" not in name or is_ticked
    if is_ticked and (_PARAMETERS_AFTER.match(after) or (lead.endswith("one of") and _ONE_OF.search(before))):
        return True
    if "-" in name:
        return False
    is_set = is_ticked or after.startswith("=")
    is_asked = is_set and lead.endswith(_SET_ENDS) and _SET_BEFORE.search(before) is not None
    if is_asked and (not is_ticked or _SET_AFTER.match(after) or ("_" in name and _STOPPED.match(after))):
        return True
    return is_ticked and _SURE_AFTER.match(after) is not None


_STOPPED = late(r"`(?:[.,;)]|\s*$|\s+(?:when|if|instead)\b)")
_ONE_OF = late(
    r"\b(?:pass|provide|specify|supply|give|set)\s+(?:exactly|only|at\s+least|at\s+most)\s+one\s+of\s+(?:the\s+)?`$",
    re.IGNORECASE,
)
_PARAMETER_ENDS = tuple("parameter param argument arg called named is exactly : ,".split())
_SET_ENDS = tuple(
    "set pass provide specify supply setting passing providing specifying omit leave require requires with via by "
    "using use the a an".split()
)


def _listed(text: str, own: AbstractSet[str]) -> Iterator[tuple[str, int, int]]:
    """Entries below a heading such as "Args:" up to the next line that is none; their own sub-entries are values."""
    every = sayings.entries(text) if ":" in text or "(" in text else ()
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
            if fold(entry.name) not in own and entry.name.lower() not in _LABELS and not entry.name.istitle():
                yield entry.name, starts[entry.start], starts[entry.start] + len(lines[entry.start])


def _is_headed(text: str) -> bool:
    lowered = text.lower()
    return "arg" in lowered or "param" in lowered or "input" in lowered


def _is_header(line: str) -> bool:
    return _is_headed(line) and _HEADER.fullmatch(line.strip()) is not None


def _block(lines: Sequence[str], head: int, every: Sequence[sayings.Entry]) -> Iterator[sayings.Entry]:
    """The entries of one list: of the first one's depth, with nothing but empty lines between them."""
    following = [entry for entry in every if entry.start > head]
    number, depth = head + 1, None
    for entry in following:
        if any(line.strip() and (depth is None or _indent(line) <= depth) for line in lines[number : entry.start]):
            return
        if _is_heading(lines[entry.start]) or (depth is not None and entry.indent < depth):
            return
        depth = entry.indent if depth is None else depth
        if entry.indent == depth and not _QUOTED_ENTRY.match(lines[entry.start].strip()):
            yield entry
        number = entry.end


_QUOTED_ENTRY = late(r"(?:[-*•]\s+)?['\"]")
_HEADING = late(
    r"(?:\*\*|__|#)[^*_`]{0,60}:?(?:\*\*|__)?:?\s|[A-Z][A-Za-z ]{0,40}:\s*$|(?:\*\*|#)[^`]{0,60}:(?:\*\*)?|[A-Z]{3,20}:"
)


def _is_heading(line: str) -> bool:
    return _HEADING.match(line.strip()) is not None and not line.strip().startswith("- ")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


# Orders

_ORDERS = late(
    r"\b(?:always|must(?:\s+always)?|should\s+always)\s+(?:be\s+)?(?:use|call|run|invoke|try|prefer|used|called|run"
    r"|invoked|tried|preferred)\s+"
    r"(?:(?:this(?:\s+(?:tool|function|one))?|it)\s+)?(?:first|before\s+(?:(?:calling|using|running"
    r"|invoking)\s+)?(?:any|all|every|the)\s+other)\b"
    r"|\b(?:use|call|run|invoke|try)\s+(?:this(?:\s+(?:tool|function|one))?"
    r"|it)\s+(?:first\s*,?\s+)?before\s+(?:(?:calling|using|running|invoking|trying)\s+)?(?:any|all"
    r"|every)\b(?:\s+of)?(?:\s+the)?\s+other"
    r"|\b(?:use|call|run|invoke|try)\s+this(?:\s+(?:tool|function|one))?\s+first\b(?!:|\s+(?:to|when|if)\b)"
    r"|\bthis(?:\s+(?:tool|function))?\s+(?:must|should|has\s+to|needs\s+to)\s+(?:always\s+)?be\s+(?:called|used"
    r"|run|invoked)\s+(?:first\b(?!\s+(?:to|when|if)\b)|before\s+(?:(?:calling|using|running)\s+)?(?:any|all|every)\b)"
    r"|\b(?:prefer|use|choose|favou?r)\s+(?:this(?:\s+(?:tool|function|one))?|it)\s+(?:over|instead\s+of"
    r"|rather\s+than|in\s+preference\s+to)\s+(?:(?:any|all|every)(?:\s+(?:of\s+the|the))?\s+(?:others?|tools?)"
    r"|(?:the\s+)?other\s+tools|everything\s+else|anything\s+else|others\b)"
    r"|\b(?:do\s+not|don't|never|avoid)\s+(?:use|using|call|calling)\s+(?:any\s+)?other\s+tools?\b"
    r"|\b(?:takes?|has|have)\s+(?:priority|precedence)\s+over\s+(?:(?:any|all|every)\b|(?:the\s+)?other\s+tools)"
    r"|\b(?:the\s+)?(?:best|preferred|primary|default|only|number\s+one)\s+(?:tool|choice)\s+(?:for|among"
    r"|over)\s+(?:all|any|every)\s+(?:tools|requests?|tasks?|quer(?:y|ies)|purposes?|others?)\b"
    r"|\balways\s+(?:use|call|prefer|choose|pick)\s+this\s+(?:tool|function|one)\b(?!\s+(?:to|for|when|if|with"
    r"|after|before\s+(?!any|all|every))\b)"
    r"|(?:始终|总是|一律|务必|必须)(?:优先|首先|先)?(?:使用|调用)(?:此|本|该|这个)?工具|优先于(?:其他|所有)(?:所有)?工具|(?:在|于)(?:使用|调用)?(?:任何|所有"
    r"|其他)(?:其他)?工具之前"
    r"|(?:必ず|常に)(?:最初に|先に)?(?:この|本)?ツールを(?:最初に|先に|優先)|他の(?:すべての)?ツールより(?:も)?優先"
    r"|\b(?:immer|stets)\s+(?:zuerst\s+)?dieses\s+(?:tool|werkzeug)\b|\bvor\s+(?:allen"
    r"|jedem)\s+anderen?\s+(?:tools?|werkzeug(?:en)?)\b"
    r"|\b(?:toujours|utilisez\s+toujours)\s+(?:utiliser\s+|appeler\s+)?cet\s+outil\b|\bavant\s+tou(?:t"
    r"|s)\s+(?:les\s+)?autres?\s+outils?\b"
    r"|\b(?:siempre|usar?\s+siempre)\s+(?:use\s+|utilice\s+|llame\s+a\s+)?esta\s+herramienta\b"
    r"|\bantes\s+de\s+(?:cualquier|todas\s+las)\s+otras?\s+herramientas?\b",
    re.IGNORECASE,
)


def orders(sentences: Sequence[str], words: Sequence[str]) -> list[str]:
    """Words by which a text ranks its tool above all others, or asks to be called before anything else."""
    if _RANKERS.isdisjoint(words) and all(map(str.isascii, sentences)):
        return []
    found = [match[0] for sentence in sentences if _may_rank(sentence) for match in _ORDERS.finditer(sentence)]
    return list(dict.fromkeys(" ".join(words.split()) for words in found))


_RANKERS = frozenset(
    "first other others always else priority precedence dieses cet esta autre autres otra otras".split()
)
_RANKING = late(
    r"\b(?:first|(?:any|all|every|the|over|instead of) others?|other tools?|always|else|priority|precedence|dieses"
    r"|allen|jedem|cet|autres?|esta|otras?)\b"
    r"|工具|ツール|\bchoice for\b|\btool for (?:all|any|every)\b|\bbefore (?:any|all|every)\b",
    re.IGNORECASE,
)
"""What every order has one of; cheaper than the orders themselves."""


def _may_rank(sentence: str) -> bool:
    is_likely = not sentence.isascii() or any(map(sentence.lower().__contains__, _RANKS))
    return is_likely and _RANKING.search(sentence) is not None


_RANKS = (
    *("first", "other", "always", "else", "priority", "precedence", "choice for", "tool for", "before a"),
    *("before every", "dieses", "allen", "jedem", "cet", "autre", "esta", "otra"),
)
"""Some of what every order has; cheaper still."""


def texts_of(description: str | None, shape: Shape) -> tuple[tuple[str, str], ...]:
    """The texts of a definition, each with its JSON pointer."""
    found = [("/description", description[:MAX_TEXT])] if description else []
    for node in shape.having.get("description", ()):
        text = node.schema["description"]
        if isinstance(text, str) and text:
            found.append((f"{node.path}/description", text[:MAX_EXPLANATION]))
    return tuple(found)


def one_sided(
    own: str, mentions: Sequence[str], redirect: str | None, named: Mapping[str, AbstractSet[str]]
) -> list[str]:
    """Siblings that a tool sends the agent to and that never name it in return; `named` are the mentions by tool."""
    if redirect is None:
        return []
    return [other for other in mentions if other in redirect and own not in named.get(other, {own})]
