"""Parameters that a text names and no schema has."""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from tdqs_mcp.facts.catalog.unknown_tools import Token, UnknownWord, around
from tdqs_mcp.facts.catalog.vocabulary import KnownNames, Mention, fold
from tdqs_mcp.facts.text.parameter_mentions import Entry, list_entries
from tdqs_mcp.facts.text.patterns import lazy_pattern

_PARAMETER_AFTER = lazy_pattern(
    r"[`'\"*]{0,3}[ \t]+(?:(?:input|query|body|path|optional|required|boolean|string)[ \t]+)?(?:parameter|param"
    r"|argument|arg)\b"
)
_PARAMETERS_AFTER = lazy_pattern(r"[`'\"*]{1,3}[ \t]+(?:(?:input|query)[ \t]+)?(?:parameters|params|arguments|args)\b")
_BARE = lazy_pattern(
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
_PARAMETER_BEFORE = lazy_pattern(
    r"\b(?:parameter|param|argument|arg)[ \t]+(?:(?:called|named|name[ \t]+is(?:[ \t]+exactly)?)[ \t]+)?[`'\"*]{0,3}$"
    r"|\b(?:params|parameters|args|arguments|inputs):\s+(?:`?\w+`?,\s+){0,4}`?$",
    re.IGNORECASE,
)
_SET_BEFORE = lazy_pattern(
    r"\b(?:set|pass|provide|specify|supply|setting|passing|providing|specifying|omit|leave|requires?|with|via|by"
    r"|using|use)"
    r"[ \t]+(?:the[ \t]+|a[ \t]+|an[ \t]+)?[`*]{0,3}$",
    re.IGNORECASE,
)
_SET_AFTER = lazy_pattern(
    r"[`*]{0,3}(?:[ \t]+(?:must|should|accepts|expects|takes|defaults|is[ \t]+(?:required|optional|set|omitted"
    r"|provided|given|specified|not|mandatory|"
    r"true|false|present|empty|an?)|as|to[ \t]+(?:an?|the|true|false|control|limit|filter|specify|get|set|narrow"
    r"|change|choose|select|enable|disable|include|"
    r"restrict|[`'\"\d]))\b|[ \t]*=|[ \t]+to[ \t]+[`'\"\d])",
    re.IGNORECASE,
)
_SURE_AFTER = lazy_pattern(
    r"[`*]{0,3}[ \t]+(?:must[ \t]+be|should[ \t]+be|defaults[ \t]+to|accepts|expects|is[ \t]+(?:required|optional"
    r"|omitted|provided|given|specified|mandatory)"
    r"|are[ \t]+(?:required|optional|omitted|provided|given|specified|mandatory))\b",
    re.IGNORECASE,
)
_NEGATED = lazy_pattern(
    r"\b(?:no|not|without|isn't|never|instead\s+of|rather\s+than|nor)\s+(?:an?\s+|the\s+|such\s+)?[`'\"*]{0,3}$",
    re.IGNORECASE,
)
_OF_TOOL = lazy_pattern(r"[`'\"*]{0,3}(?:\s+\w+)?\s+(?:of|in|on|to|from|for)\s+(?:the\s+)?[`'\"]?(?P<tool>[\w-]+)")
_HEADER = lazy_pattern(
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
    for match in _BARE.finditer(text) if "param" in text or "argument" in text else ():
        other = _OF_TOOL.match(text, match.end())
        if (
            fold(match["name"]) not in own
            and match["name"] not in _KINDS_OF
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


_CONDITIONAL = lazy_pattern(
    r"\b(?:when|if|where|unless)\s+(?:`?\w+`?\s+(?:and|or)\s+)?`?$|\b(?:to|is|are|as)\s+`?$", re.IGNORECASE
)
_JOINED_AFTER = lazy_pattern(r"`?\s+(?:and|or)\s+`?(?P<name>[A-Za-z]\w{2,60})`?(?![\w.(])")
_JOINED_BEFORE = lazy_pattern(r"(?<![\w.])`?(?P<name>[A-Za-z]\w{2,60})`?\s+(?:and|or)\s+`?$")
_RETURNED = lazy_pattern(
    r"\b(?:returns?|returned|response|output|result|contains|includes?|field|fields|reports?)\b[^.\n]{0,40}$",
    re.IGNORECASE,
)


def _is_renamed(folded: str, own: AbstractSet[str]) -> bool:
    """No name of this tool, but the beginning or the end of one."""
    return len(folded) > 3 and any(
        len(each) > 3 and each != f"{folded}s" and (each.endswith(folded) or each.startswith(folded)) for each in own
    )


def _is_parameter(token: Token, words: KnownNames) -> bool:
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


_STOPPED = lazy_pattern(r"`(?:[.,;)]|\s*$|\s+(?:when|if|instead)\b)")
_ONE_OF = lazy_pattern(
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
            if fold(entry.name) not in own and entry.name.lower() not in _LABELS and not entry.name.istitle():
                yield entry.name, starts[entry.start], starts[entry.start] + len(lines[entry.start])


def _is_headed(text: str) -> bool:
    lowered = text.lower()
    return "arg" in lowered or "param" in lowered or "input" in lowered


def _is_header(line: str) -> bool:
    return _is_headed(line) and _HEADER.fullmatch(line.strip()) is not None


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
        if entry.indent == depth and not _QUOTED_ENTRY.match(lines[entry.start].strip()):
            yield entry
        number = entry.end


_QUOTED_ENTRY = lazy_pattern(r"(?:[-*•]\s+)?['\"]")
_HEADING = lazy_pattern(
    r"(?:\*\*|__|#)[^*_`]{0,60}:?(?:\*\*|__)?:?\s|[A-Z][A-Za-z ]{0,40}:\s*$|(?:\*\*|#)[^`]{0,60}:(?:\*\*)?|[A-Z]{3,20}:"
)


def _is_heading(line: str) -> bool:
    return _HEADING.match(line.strip()) is not None and not line.strip().startswith("- ")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
