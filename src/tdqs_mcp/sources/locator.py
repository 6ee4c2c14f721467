"""The grammar of "what to score": one word from a person, one typed locator; and the options of a live server."""

import re
import shlex
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit

from tdqs_mcp.errors import InputError

PROJECT = "project/"
"""How a locator begins, behind `config:`, that names a server of the folder's files instead of the user's."""

HIDDEN = "***"
"""Stands where a credential stood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A JSON file of definitions; the path "-" is standard input."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """A live server over streamable HTTP, or over SSE when that is all it has."""

    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stdio:
    """A live server that is started as a command and speaks over its pipes."""

    command: str
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A server in the user's configuration of an installed MCP client: NAME, or CLIENT/NAME."""

    name: str
    is_project: bool = False
    """It is in a file of this folder (`config:project/NAME`), whose author may be somebody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InProcess:
    """A server object, or a function that makes one, in an importable module."""

    module: str
    attribute: str


Locator = File | Url | Stdio | Config | InProcess


CODE_SUFFIXES = frozenset((".py", ".ts", ".js", ".mjs", ".cjs", ".mts", ".cts", ".tsx"))
"""Endings of files whose definitions are read from code."""


def refuse(_: str) -> bool:
    """Return no, whatever the question."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveOptions:
    """Values of headers and variables are credentials: they are not in the repr and are cut out of every message."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Sent with every HTTP request."""

    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Set for a server that is started, beside the few variables that MCP clients hand on (PATH, HOME, …)."""

    cwd: str | None = None
    """Where a command starts and a module is looked for; None is here."""

    consent: Callable[[str], bool] = field(default=refuse, repr=False)
    """Answers the question whether a server that a project's file names may be started or reached."""

    timeout: float = 60.0
    """Seconds for the whole capture, start-up included; ending the processes takes up to 5 s more."""

    max_pages: int = 200
    """Pages of one list."""

    max_tools: int = 10_000
    """Fifty times the largest catalog in use; what is beyond is left out, which becomes a problem of the catalog."""

    max_bytes: int = 64 * 2**20
    """Bytes of all listed definitions, of one line on stdio and of one HTTP answer."""

    admit: Callable[[str], Awaitable[list[str]]] | None = field(default=None, repr=False)
    """Asked with the URL of every HTTP request, redirects included: the addresses that may be connected to, or an
    InputError. None leaves that to name resolution; with it no proxy is used, which would resolve the name again."""


_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):(?P<rest>.*)", re.DOTALL)
"""At least two letters, so that the drive of a Windows path is not a scheme."""

_SHORT_SECRET, _LONG_SECRET = 6, 8
"""Characters from which a value is hidden in definitions: where its name speaks of a credential, and everywhere."""

_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_SECRET_NAME = re.compile(r"key|token|secret|passw|pwd|auth|credential|cookie|bearer", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z]+(?:[-_. ][A-Za-z]+)*(/[a-z.+-]+)?|\d+")
"""Words, a media type or a number, which a definition may hold by itself."""

_URL = re.compile(
    r"(?P<start>.*?://)((?P<userinfo>[^/?#]*)@)?(?P<host>[^/?#]*)(?P<path>[^?#]*)(?P<rest>[?#].*)?", re.DOTALL
)
_ASSIGNMENT = re.compile(r"(?P<start>[A-Za-z_][\w.-]*(?:=|:(?!//)\s?))(?P<value>.+)", re.DOTALL)

_STEP = re.compile(r"\.{1,2}|v?\d{1,4}|[A-Za-z]?[a-z]*(?:[A-Z][a-z]+)*(?:[-_.](?:[a-z]+|[A-Z]+|v?\d{1,4}))*|[A-Z]+")
"""A part of a URL's path that reads as words, such as `mcp`, `v1` and `my-server`; `hunter2` may be a token."""

_MAX_STEP = 32
"""Characters of it."""

_HARMLESS = re.compile(
    r"\.{1,2}|\d{1,5}|true|false|(?:\.{0,2}|~)[\\/]"
    r"|(?:[A-Za-z]:[\\/]|~|\.{0,2})?[\\/]?(?:[@\w.+-]+[\\/])+[@\w.+-]*"
)
"""An argument that is no credential: a number of a port's length, a flag, a path."""

_RANDOM = re.compile(r"(?=(?:[^/\\]*\d){3})(?=[^/\\]*[A-Za-z])[\w+=-]{16,}")
"""A long part of a path of letters and digits: a key, whatever stands around it."""

_TARGET = re.compile(r"@?(?P<name>[A-Za-z]+(?:[-_./]@?[A-Za-z\d]+)*)(?:(?:@|==)[\w.-]+)?")
_MAX_DIGITS = 2
"""Digits of what a program runs, such as `context7-mcp` and `server-s3`; more may be a token."""

_SWITCHES = frozenset("-y --yes -m -i --rm --from --isolated -q --quiet".split())
"""Options of npx, uvx, python and docker before what they run; what follows any other option is taken for its value."""


def parse_locator(text: str) -> Locator:
    """The locator that `text` spells; raises InputError saying what to change, without repeating credentials."""
    if not text.strip() or "\0" in text:
        raise InputError("the locator is empty; give a file, '-', a URL, stdio:…, config:NAME or py:MODULE:ATTRIBUTE")
    match = _SCHEME.fullmatch(text)
    if match is None:
        return File(path=text)
    scheme, rest = match["scheme"].lower(), match["rest"]
    if scheme in ("http", "https"):
        return read_url(text)
    if scheme == "stdio":
        return read_stdio(rest)
    if scheme == "config":
        return _config(rest)
    if scheme == "py":
        return _in_process(rest)
    if rest.startswith("//"):
        raise InputError(
            f"{scheme!r} URLs cannot be read; give an http or https URL, or download the file and give its path"
        )
    return File(path=text)


def public(locator: Locator) -> str:
    """Return the locator without credentials: fit for reports, messages and stores.

    Of a URL remain scheme, host, and what reads as words in its path; of a command the program, what it runs, the
    names of options, and values that cannot be credentials: paths, short numbers. What is doubtful is hidden.
    """
    match locator:
        case File(path=path):
            return path
        case Url(url=url):
            return _shown_url(url)
        case Config(name=name):
            return f"config:{PROJECT if locator.is_project else ''}{name}"
        case InProcess(module=module, attribute=attribute):
            return f"py:{module}:{attribute}"
        case Stdio(command=command, args=args):
            words = [word for word, _ in _masked((command, *args))]
            return "stdio:" + " ".join(word if HIDDEN in word else shlex.quote(word) for word in words)


def secrets(locator: Locator) -> tuple[str, ...]:
    """Return the parts that `public` hides, in every spelling, so that words of others can be cleaned of them."""
    match locator:
        case Stdio(command=command, args=args):
            parts = [part for _, hidden in _masked((command, *args)) for part in hidden]
        case Url(url=url):
            parts = list(_hidden_of_url(url))
        case _:
            parts = []
    return tuple(dict.fromkeys(spelling for part in parts for spelling in _spellings(part)))


def repeatable_secrets(locator: Locator, options: LiveOptions) -> list[str]:
    """Return what a definition is cleaned of, should the server repeat it there, the longest first.

    Not every value is a credential: `production`, `4096` and `application/json` are left. Longer values are hidden
    whatever their variable is called, shorter ones and plain words only where its name speaks of a credential.
    """
    settings = [*options.env.items(), *options.headers.items()]
    settings += [(name, part) for name, value in options.headers.items() for part in value.split()]
    parts = [(name, part) for name, value in settings for part in (value, *_mask_value(value)[1])]
    spellings = (spelling for name, part in parts if _is_secret(name, part) for spelling in _spellings(part))
    is_url = isinstance(locator, Url)
    arguments = (part for part in secrets(locator) if is_url or not _PLAIN.fullmatch(part))
    named = _named_values(locator)
    hidden = {*spellings, *(part for part in (*arguments, *named) if _is_secret("token", part))}
    return sorted(hidden, key=len, reverse=True)


def _named_values(locator: Locator) -> list[str]:
    """The values of a command's options and assignments whose name speaks of a credential."""
    words = (locator.command, *locator.args) if isinstance(locator, Stdio) else ()
    pairs = pairwise(words)
    behind = [word for option, word in pairs if option.startswith("-") and _SECRET_NAME.search(option)]
    assigned = [match for word in words if (match := _ASSIGNMENT.fullmatch(word.lstrip("-")))]
    return [*behind, *(match["value"] for match in assigned if _SECRET_NAME.search(match["start"]))]


def _spellings(part: str) -> list[str]:
    """The part as it stands, percent-decoded and percent-encoded."""
    return list(dict.fromkeys((part, unquote(part), unquote_plus(part), quote(part, safe=""), quote_plus(part))))


def _is_secret(name: str, value: str) -> bool:
    is_named, is_plain = bool(_SECRET_NAME.search(name)), bool(_PLAIN.fullmatch(value))
    if is_plain and not value.isdecimal():
        return is_named and len(value) >= _LONG_SECRET
    return len(value) >= (_SHORT_SECRET if is_named and not is_plain else _LONG_SECRET)


def read_url(text: str) -> Url:
    """The URL of a server. Raises InputError, without repeating it."""
    try:
        parts = urlsplit(text)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise InputError("the URL has no readable host or port; give it as https://host/path") from error
    if not usable:
        raise InputError("the URL has no host; give it as https://host/path")
    return Url(url=text)


def read_stdio(rest: str) -> Stdio:
    """The command of a server, as a shell would split it. Raises InputError."""
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise InputError(f"the command after stdio: has unbalanced quotes ({error}); close them") from error
    if not words or not words[0]:
        raise InputError("stdio: needs a command, as in 'stdio:npx -y @modelcontextprotocol/server-filesystem .'")
    return Stdio(command=words[0], args=tuple(words[1:]))


def _config(rest: str) -> Config:
    if not rest.strip().removeprefix(PROJECT):
        raise InputError("config: needs the name of a server, as in config:github or config:cursor/github")
    name = rest.strip()
    return Config(name=name.removeprefix(PROJECT), is_project=name.startswith(PROJECT))


def _in_process(rest: str) -> InProcess:
    module, _, attribute = rest.partition(":")
    if not attribute:
        raise InputError(f"py:{module} names no attribute; give the server object too, as in py:package.module:server")
    if not (_DOTTED.fullmatch(module) and _DOTTED.fullmatch(attribute)):
        raise InputError(f"{rest!r} is not a module and attribute; give dotted names, as in py:package.module:server")
    return InProcess(module=module, attribute=attribute)


def _shown_url(url: str) -> str:
    """A URL's scheme, host, and the words of its path."""
    parts = urlsplit(url)
    path = "/".join(step if _is_word(step) else HIDDEN for step in parts.path.split("/"))
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}"


def _hidden_of_url(url: str) -> Iterator[str]:
    """Yield what the shown form of a URL leaves out."""
    match = _URL.fullmatch(url)
    if match is None:
        return
    userinfo, rest = match["userinfo"] or "", match["rest"] or ""
    query, _, fragment = rest.removeprefix("?").partition("#")
    values = [pair.partition("=")[2] for pair in query.split("&")]
    steps = [step for step in match["path"].split("/") if not _is_word(step)]
    yield from filter(None, (userinfo, *userinfo.split(":", 1), *steps, query, fragment, *values))


def _is_word(step: str) -> bool:
    return len(step) <= _MAX_STEP and _STEP.fullmatch(step) is not None


def _masked(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every word as it may be shown, beside the parts of it that may not."""
    is_value, has_target = False, False
    yield _mask_path(words[0])
    for word in words[1:]:
        if word.startswith("-") and len(word) > 1:
            yield _mask_option(word)
            is_value = "=" not in word and word not in _SWITCHES
        elif not is_value and not has_target and _is_target(word):
            yield _mask_path(word)
            has_target = True
        else:
            yield _mask_value(word)
            has_target, is_value = has_target or (not is_value and not _ASSIGNMENT.fullmatch(word)), False


def _is_target(word: str) -> bool:
    """Return true for a package, a module or a file, such as `mcp-server-git==1.2`; `hunter2` may be a password."""
    match = _TARGET.fullmatch(word)
    return match is not None and sum(map(str.isdigit, match["name"])) <= _MAX_DIGITS


def _mask_option(word: str) -> tuple[str, tuple[str, ...]]:
    """`--token=X` and `-pX` without X."""
    name, sign, value = word.partition("=")
    if sign:
        masked, hidden = _mask_value(value)
        return f"{name}={masked}", hidden
    is_word = word[1:].islower() and len(word) <= len("-port")
    is_glued = not word.startswith("--") and len(word) > len("-p") and not is_word
    return (word[:2] + HIDDEN, (word[2:],)) if is_glued else (word, ())


def _mask_path(word: str) -> tuple[str, tuple[str, ...]]:
    """A path or a name without its random parts; `mcp-server-git==2026.10.19` has a version."""
    if _is_target(word):
        return word, ()
    return _RANDOM.sub(HIDDEN, word), tuple(match[0] for match in _RANDOM.finditer(word))


def _mask_value(word: str) -> tuple[str, tuple[str, ...]]:
    """An argument, or the value of an option, without what may be a credential."""
    if match := _ASSIGNMENT.fullmatch(word):
        masked, hidden = _mask_value(match["value"])
        return match["start"] + (HIDDEN if _SECRET_NAME.search(match["start"]) else masked), (match["value"], *hidden)
    if match := _URL.fullmatch(word):
        userinfo = f"{HIDDEN}@" if match["userinfo"] else ""
        path = "/".join(step if _is_word(step) else HIDDEN for step in match["path"].split("/"))
        rest = f"?{HIDDEN}" if match["rest"] else ""
        return match["start"] + userinfo + match["host"] + path + rest, tuple(_hidden_of_url(word))
    return _mask_path(word) if _HARMLESS.fullmatch(word) else (HIDDEN, (word,))
