"""What betrays itself by its characters alone: secrets, unseen and mixed letters, terminal controls, forged turns."""
# a pattern cut in the middle is harder to read

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from tdqs_mcp.facts.disguise import UNSEEN
from tdqs_mcp.facts.ploys import Ploy
from tdqs_mcp.facts.text.patterns import lazy_pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One such place in a string."""

    ploy: Ploy
    quote: str
    is_mild: bool = False
    """It may be an accident of copying."""


def is_marked(text: str, *, has_word: bool) -> bool:
    """Some mark may stand in a text, of which a word may be part of one; the fast answer for most is no."""
    return (
        (not text.isprintable() and any(map(text.__contains__, _CONTROLS)))
        or (has_word and (any(map(text.__contains__, _SIGNS)) or _may_be_turn(text)))
        or ("<" in text and _BRACKETED.search(text) is not None)
        or (any(map(text.__contains__, _SHOUTED)) and any(pattern.search(text) for pattern in _TURNS))
        or (("[//]:" in text or "[comment]:" in text) and _COMMENT_START.search(text) is not None)
        or ("http" in text and any(map(text.__contains__, _HOLES)) and _LEAKING_LINK.search(text) is not None)
        or (not text.isascii() and (_STRANGE.search(text) or _UNREAD.search(text)) is not None)
    )


def may_be_mark(word: str) -> bool:
    """A plain word that may be part of a key or of a forged turn."""
    return (len(word) >= MIN_KEY and not word.isalpha()) or word in _KEY_WORDS or word in _TURN_WORDS


MIN_KEY = 14
"""Letters and digits without a break that a key has at least; shorter breaks stand in Slack's only."""

_KEY_WORDS = frozenset("private xoxa xoxb xoxe xoxo xoxp xoxr xoxs".split())


def marks(text: str) -> Iterator[Mark]:
    """The marks of one string."""
    yield from _secrets(text)
    yield from _controls(text)
    yield from _turns(text)
    yield from _comments(text)
    if "http" in text and (link := _LEAKING_LINK.search(text)):
        yield Mark(ploy=Ploy.LEAK, quote=link[0])
    if not text.isascii():
        yield from _unseen(text)
        yield from _mixed(text)
        if unread := _UNREAD.search(text):
            yield Mark(ploy=Ploy.SUSPECT, quote=unread[0])


# Secrets, by the formats that their issuers publish.

_SECRETS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (sign, issuer, lazy_pattern(pattern))
    for sign, issuer, pattern in (
        ("AKIA", "AWS access key", r"(?<![A-Z0-9])AKIA[A-Z0-9]{16}(?![A-Z0-9])"),
        ("ASIA", "AWS access key", r"(?<![A-Z0-9])ASIA[A-Z0-9]{16}(?![A-Z0-9])"),
        ("gh", "GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{36}"),
        ("github_pat_", "GitHub token", r"\bgithub_pat_[A-Za-z0-9_]{40}"),
        ("glpat-", "GitLab token", r"\bglpat-[A-Za-z0-9_-]{20}"),
        ("xox", "Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{20}"),
        ("hooks.slack.com/services/T", "Slack webhook", r"hooks\.slack\.com/services/T\w{6,12}/B\w{6,12}/\w{20}"),
        ("sk-", "model provider's key", r"(?<![\w-])sk-(?:[a-z]{2,9}[0-9]{0,2}-){0,3}[A-Za-z0-9_-]{20}"),
        ("_live_", "Stripe key", r"\b[rs]k_live_[A-Za-z0-9]{16}"),
        ("AIza", "Google API key", r"\bAIza[A-Za-z0-9_-]{35}"),
        ("npm_", "npm token", r"\bnpm_[A-Za-z0-9]{36}"),
        ("hf_", "Hugging Face token", r"\bhf_[A-Za-z0-9]{34}"),
        ("SG.", "SendGrid key", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
        ("pypi-", "PyPI token", r"\bpypi-AgE[A-Za-z0-9_-]{40}"),
        ("eyJ", "JSON web token", r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{20}"),
        (
            "PRIVATE KEY-----",
            "private key",
            r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[\s\\nr]{1,8}[A-Za-z0-9+/=\s\\]{40}",
        ),
    )
)
_SIGNS = (
    "_live_", "github_pat_", "glpat-", "hooks.slack.com/services/T", "PRIVATE KEY-----", "pypi-", "AKIA", "ASIA", "ghp_",
    "gho_", "ghu_", "ghs_", "ghr_", "xox", "sk-", "AIza", "npm_", "hf_", "SG.", "eyJ",
)  # fmt: skip
_PLACEHOLDER = lazy_pattern(
    r"example|placeholder|your|xxx|\.\.\.|\*\*\*|0123456|1234567|abcdef|000000|secret|token|redacted|dummy|fake|sample"
    r"|eyJzdWIiOiIxMjM0NTY3ODkw",
    re.IGNORECASE,
)
MIN_DISTINCT = 9
"""Different characters of a random key of 20; fewer stand in strings such as `sk-aaaaaaaaaaaaaaaaaaaa`."""


def _secrets(text: str) -> Iterator[Mark]:
    for sign, issuer, pattern in _SECRETS:
        if sign not in text:
            continue
        for found in pattern.finditer(text):
            body = found[0].partition("KEY-----")[2] or found[0][len(sign) :]
            if len(set(body)) >= MIN_DISTINCT and not _PLACEHOLDER.search(body):
                yield Mark(ploy=Ploy.SECRET, quote=f"{issuer} {found[0][: len(sign)]}…")
                break


# What a terminal obeys.

_CONTROL = lazy_pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_CONTROLS = tuple(chr(code) for code in (*range(9), 11, 12, *range(14, 32), 127))
_OBEYED = lazy_pattern("\x1b.?|[\x08\x7f\x90\x9b\x9d-\x9f]", re.DOTALL)


def _controls(text: str) -> Iterator[Mark]:
    if obeyed := _OBEYED.search(text):
        yield Mark(ploy=Ploy.TERMINAL, quote=text[obeyed.start() : obeyed.start() + 12])
    elif control := _CONTROL.search(text):
        yield Mark(ploy=Ploy.TERMINAL, quote=text[control.start() : control.start() + 12], is_mild=True)


# Turns of a conversation that never took place, and ends of the definition that are none.

_SPEAKER = r"(?:system|assistant|developer)"
_PARTS = r"(?:judge|grader|evaluator|rubric|scoring|grading)"
_LEAD = r"(?:^|[\n.>\]\"'`}])\s{0,8}(?:[#*\[(<=-]{1,4}\s{0,8}){0,3}"
_TURNS = tuple(
    lazy_pattern(pattern)
    for pattern in (
        r"(?i:<\|[a-z_]{2,24}\|>|<</?sys>>|<(?:start|end)_of_turn>)|\[/?INST\]",
        (
            rf"(?i:</?(?:{_SPEAKER}|system[-_ ](?:prompt|message|reminder|override)|important|critical|override|admin|sys|thinking|scratchpad|verdict"
            rf"|jailbreak|hidden[-_ ]?\w{{0,12}}|secret[-_ ]instructions?|{_PARTS}[-_ ]?\w{{0,14}})\s{{0,8}}>)"
        ),
        (
            rf"(?i:{_LEAD}{_SPEAKER}[ _-](?:message|prompt|override|note|notice|update|instruction|directive|alert|command)s?\b"
            r"[\])*#= -]{0,4}[:\n])"
        ),
        (
            rf"(?i:\[{_SPEAKER}\]|(?:^|\s)#{{1,4}}\s{{0,8}}{_SPEAKER}\s{{0,8}}(?::|\n|$)"
            r"|(?:^|\n)\s{0,8}#{1,4}\s{0,8}(?:instruction|response):"
            r"|(?:^|\s)#{1,4}\s{0,8}(?:new|updated|hidden|secret|real)\s(?:system\s)?instructions?\b)"
        ),
        rf"{_LEAD}(?:SYSTEM|ASSISTANT|DEVELOPER)\b[\])*#= -]{{0,4}}:",
        r"(?:^|\n)\s{0,8}(?:Assistant|Human|System|Judge|Grader|Evaluator)\s{0,8}[:\uff1a]\s{0,8}\S",
        (
            r"\b(?:END|BEGIN|START|CLOSE)(?:\s{1,4}OF)?"
            r"(?:\s{1,4}(?:THE|THIS|NEW|REAL|UNTRUSTED|USER|TOOL|MCP|SYSTEM|JUDGE|EVALUATION|SCORING|GRADING)){0,3}"
            r"\s{1,4}(?:DEFINITIONS?|DESCRIPTION|INPUT|DATA|PROMPT|CONTEXT|TOOL|DOCUMENT|INSTRUCTIONS?|MESSAGE|RUBRIC|EVALUATION"
            r"|SUBMISSION|OUTPUT|VERDICT)\b"
        ),
        r"(?i:(?:^|\s)(?:assistant|ai)\s{0,8}:\s{0,8}(?:sure|ok|yes|i\s|\{))",
        r"(?i:(?:^|\n)\s{0,8}final\s(?:answer|verdict|score|grade)\s{0,8}[:=])",
        r"(?i:\"role\"\s{0,8}:\s{0,8}\"(?:system|developer)\")",
        # What a harness writes around a call or a case, and nobody else.
        r"(?i:[\[<]/?(?:tool|function)[_ -](?:results?|responses?|outputs?|call[_ -]output)\b[^\]>\n]{0,80}[\]>])",
        r"(?i:(?:^|\s)[-=#*~_]{3,}\s{0,4}(?:end|begin|start)\s(?:of\s)?(?:the\s)?(?:case|item|entry|example|sample|task|turn)\b)",
        # Members of the answers that rubrics ask for: nobody but a judge has a use for them.
        r"\"(?:annotation_contradiction|improvement_needed|justification)\"\s{0,8}:",
    )
)
_TURN_WORDS = frozenset(
    "system assistant developer human judge grader evaluator final inst instruction instructions response contradiction "
    "improvement justification result results output outputs response responses begin end start".split()
)
_TURN_HINTS = (
    "system message", "system prompt", "system override", "system note", "system update", "system instr", "system direct",
    "system alert", "system command", "system-", "system_", "system]", "system:", "system ]", "# system", "assistant:",
    "assistant :", "assistant note", "assistant mess", "assistant inst", "assistant upd", "assistant prompt", "assistant\n",
    "assistant_", "assistant]", "assistant*", "developer m", "developer]", "developer:", "human:", "judge:", "judge :", "grader:",
    "grader :", "evaluator:", "evaluator :", "[judge", "[grader", "# instruction", "# response", "# new ", "# updated ", "# hidden ", "# secret ", "# real ", "# assistant", "final answer", "final verdict", "final score", "final grade", '"role"', "ai:", "inst]",
    "tool_", "tool-", "function_", "function-", "tool result", "tool resp", "tool out", "function result", "function resp", "--- ", "=== ", "*** ", "### ",
    '_contradiction"', 'improvement_needed"', 'justification"',
)  # fmt: skip
_SHOUTED = ("END ", "BEGIN ", "START ", "CLOSE ")
_BRACKETED = lazy_pattern(
    r"<(?:[|</]|!--|(?i:start_of|end_of|system|assistant|developer|important|critical|override|admin|jailbreak|hidden|secret"
    r"|judge|grader|evaluator|rubric|scoring|grading|tool|function|sys>|thinking|scratchpad|verdict))"
)


def _may_be_turn(text: str) -> bool:
    return any(map(text.lower().__contains__, _TURN_HINTS)) and any(pattern.search(text) for pattern in _TURNS)


_CLOSING = lazy_pattern(
    r"</((?:\w{0,20}_)?(?:tools?|functions?|definitions?|descriptions?|schemas?|parameters?|instructions?|prompts?|data|documents?|input"
    r"|context|results?|text|entry|rubric)|tool_?\w{1,20}|name|untrusted\w{0,12}|candidate|submission|user|mcp\w{0,12})\s*>",
    re.IGNORECASE,
)


def _turns(text: str) -> Iterator[Mark]:
    used = _MENTIONED.sub("", text)
    for pattern in _TURNS:
        if found := pattern.search(text):
            yield Mark(ploy=Ploy.TURN if pattern.search(used) else Ploy.SUSPECT, quote=found[0].strip())
            return
    if "</" not in text:
        return
    opened: dict[str, int] = {}
    for opening in _OPENING.finditer(text):
        opened.setdefault(opening[1].lower(), opening.start())
    for closing in _CLOSING.finditer(text):
        if closing.start() < opened.get(closing[1].lower(), len(text)):
            yield Mark(ploy=Ploy.TURN, quote=closing[0])
            return


_MENTIONED = lazy_pattern(
    r"(?i:\b(?:such as|like|e\.g\.|formats?|templates?|markers?|delimiters?)\b)(?:[^.\n<\[(`\"']{0,40}"
    r"[(`\"'](?:<\|[a-z_]{2,24}\|>|\[/?INST\]|<</?SYS>>|</?s>|<(?:start|end)_of_turn>|user|assistant|system|\.{3}|\u2026|[\s,])"
    r"{1,20}[)`\"']){1,5}"
)
"""The markers of a chat template in the documentation of one: named, in parentheses or quotation marks, saying nothing."""


_OPENING = lazy_pattern(r"<(\w{1,24})")
_COMMENT_START = lazy_pattern(r"<!--|\[//\]:|\[comment\]:")
_ORDERING = lazy_pattern(
    r"\b(?:you|must|always|never|ignore\s\w+|instructions?|users?|secret\w*|assistants?|agents?|models?|llms?|ai|system|score|rate|rating"
    r"|judge|grader|evaluat\w+|send|read|before|do not|don't|highest)\b",
    re.IGNORECASE,
)
MAX_COMMENT = 2_000
"""Characters of a comment that are read."""


def _comments(text: str) -> Iterator[Mark]:
    begin = 0
    while start := _COMMENT_START.search(text, begin):
        end = text.find("-->" if start[0] == "<!--" else "\n", start.end(), start.end() + MAX_COMMENT)
        begin = end if end >= 0 else start.end() + MAX_COMMENT
        if _ORDERING.search(text, start.end(), begin):
            yield Mark(ploy=Ploy.COMMENT, quote=text[start.start() : begin])
            return


# Scripts that no lexicon here has, so that nobody knows what they say: of India beside Devanagari and Bengali, of South-East
# Asia beside Thai, Georgian, Armenian, Ethiopic and historic ones.

_UNREAD = lazy_pattern(
    "(?:[\u0531-\u058f\u0700-\u08ff\u0a00-\u0dff\u0e80-\u10ff\u1200-\u1cff\u2c00-\u2c5f\u2d00-\u2ddf"
    "\ua000-\ua95f\ua980-\uabff\U00010000-\U0001cfff][ ,]?){12}"
)
"""Twelve letters: more than most names."""

# Links that carry what they are given away to.

_HOLES = ("![", *(f"{before}{hole}" for before in "?=/&#" for hole in "{<["))
_LEAKING_LINK = lazy_pattern(
    r"!\[[^\]\n]{0,80}\]\(\s*https?://[^\s)]{3,200}[?=/&#][^\s)]{0,80}[{<\[$]"
    r"|https?://[^\s\"'<>{}]{3,200}[?=/&#][{<\[$]{1,2}[^\s}>\]]{0,30}"
    r"(?:conversation|history|prompt|secret|passw|credential|context|contents?\b|chat|transcript|cookie|env\b|exfil|private)",
    re.IGNORECASE,
)

# Characters that nobody sees, and letters of two scripts in a word.

_BORDER = lazy_pattern("[a-zA-Z][\u0370-\u052f\u0531-\u0587]|[\u0370-\u052f\u0531-\u0587][a-zA-Z]")
_STRANGE = lazy_pattern(
    "[\x80-\x9f\u00ad\u034f\u0370-\u052f\u0531-\u0587\u061c\u115f"
    "\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\ue000-\uf8ff\U000e0000-\U000e01ef\U0001d173-\U0001d17a\U000f0000-\U0010fffd]"
)
_PRIVATE = lazy_pattern("[\ue000-\uf8ff\U000f0000-\U0010fffd]")
_WORD = lazy_pattern(r"[^\W\d_]{3,60}")
_LATIN = lazy_pattern("[a-zA-Z]")
_OTHER = lazy_pattern("[\u0400-\u052f\u0531-\u0587οορντικαΑΒΕΖΗΙΚΜΝΟΡΤΥΧ]")  # the look-alikes themselves
_STRAY = frozenset("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\ufe0e\ufe0f")
MAX_STRAY = 3
"""Stray zero-width or private characters of one string that may be an accident; a hidden message needs more."""


def _unseen(text: str) -> Iterator[Mark]:
    found = [match.start() for match in UNSEEN.finditer(text) if not _has_purpose(text, match.start())]
    found += [match.start() for match in _PRIVATE.finditer(text)]
    if found:
        is_mild = len(found) <= MAX_STRAY and all(
            text[place] in _STRAY or _PRIVATE.match(text[place]) for place in found
        )
        begin = max(0, found[0] - 10)
        yield Mark(ploy=Ploy.UNSEEN, quote=text[begin : found[0] + 10], is_mild=is_mild)


def _has_purpose(text: str, place: int) -> bool:
    """It joins an emoji, shapes a letter of a script that needs it, or begins the text as a byte order mark."""
    char = text[place]
    before = text[place - 1] if place else ""
    if char in "\ufe0e\ufe0f":
        return bool(before) and not before.isalpha() and before not in " \n" and not UNSEEN.match(before)
    if char in "\u200c\u200d":
        return bool(before) and (unicodedata.category(before)[0] == "S" or before == "\ufe0f" or _is_shaped(before))
    if char in "\u200e\u200f\u061c":
        nearby = text[max(0, place - 20) : place + 20]
        return any(unicodedata.bidirectional(each) in ("R", "AL") for each in nearby if not UNSEEN.match(each))
    if "\U000e0020" <= char <= "\U000e007f":
        return "\U0001f3f4" in text[max(0, place - 7) : place]
    return char == "\ufeff" and place == 0


def _is_shaped(char: str) -> bool:
    """A letter or mark of Arabic or of a script of India or South-East Asia, or the skin of an emoji."""
    return "\u0600" <= char <= "\u0eff" or "\u1000" <= char <= "\u109f" or "\u1780" <= char <= "\u17ff"


def _mixed(text: str) -> Iterator[Mark]:
    if not _BORDER.search(text):
        return
    for word in _WORD.finditer(text):
        latin = len(_LATIN.findall(word[0]))
        if latin >= 2 and _OTHER.search(word[0]) and _BORDER.search(word[0]):
            yield Mark(ploy=Ploy.LOOKALIKE, quote=word[0])
            return
