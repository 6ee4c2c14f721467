"""Words that put a tool before others, and siblings that are pointed to from one side only."""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from tdqs_mcp.facts.text.patterns import lazy_pattern

_ORDERS = lazy_pattern(
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
_RANKING = lazy_pattern(
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


def one_sided(
    own: str, mentions: Sequence[str], redirect: str | None, named: Mapping[str, AbstractSet[str]]
) -> list[str]:
    """Siblings that a tool sends the agent to and that never name it in return; `named` are the mentions by tool."""
    if redirect is None:
        return []
    return [other for other in mentions if other in redirect and own not in named.get(other, {own})]
