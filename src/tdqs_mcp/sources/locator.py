"""The grammar of "what to score": one word from a person, one typed locator; and the options of a live server."""

import re
import shlex
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

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
_RANDOM = re.compile(r"(?=(.*\d){3})(?=.*[A-Za-z])[\w+=-]{20,}")
"""A long word without a path, of letters and digits: a key, whatever stands before it."""

_PLAIN = re.compile(r"[A-Za-z]+(/[a-z.+-]+)?|\d+")
"""A word, a media type or a number, which a definition may hold by itself."""

_URL = re.compile(r"(?P<start>.*?://)((?P<userinfo>[^/?#]*)@)?(?P<path>[^?#]*)(?P<query>[?#].*)?", re.DOTALL)
_ASSIGNMENT = re.compile(r"(?P<name>-{0,2}[A-Za-z_][\w.-]*)(?P<sign>=|:(?!//)\s?)(?P<value>.+)", re.DOTALL)


def parse_locator(text: str) -> Locator:
    """The locator that `text` spells; raises InputError saying what to change, without repeating credentials."""
    if not text.strip() or "\0" in text:
        raise InputError("the locator is empty; give a file, '-', a URL, stdio:…, config:NAME or py:MODULE:ATTRIBUTE")
    found = _SCHEME.fullmatch(text)
    if found is None:
        return File(path=text)
    scheme, rest = found["scheme"].lower(), found["rest"]
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
    """The locator without credentials: fit for reports, messages and stores.

    A URL loses userinfo, query and fragment; a command keeps its words, but not the values of options and assignments
    whose name speaks of a key, token, secret, password or authorization, nor long words of letters and digits.
    """
    match locator:
        case File(path=path):
            return path
        case Url(url=url):
            return _bare(url)
        case Config(name=name):
            return f"config:{PROJECT if locator.is_project else ''}{name}"
        case InProcess(module=module, attribute=attribute):
            return f"py:{module}:{attribute}"
        case Stdio(command=command, args=args):
            shown = [word for word, _ in _masked((command, *args))]
            return "stdio:" + " ".join(word if HIDDEN in word else shlex.quote(word) for word in shown)


def secrets(locator: Locator) -> tuple[str, ...]:
    """The parts that `public` hides, so that a server's own words can be cleaned of them."""
    match locator:
        case Stdio(command=command, args=args):
            return tuple(part for _, hidden in _masked((command, *args)) for part in hidden)
        case Url(url=url):
            parts = urlsplit(url)
            values = [pair.partition("=")[2] for pair in parts.query.split("&")]
            return tuple(part for part in (parts.password, parts.query, parts.fragment, *values) if part)
        case _:
            return ()


def repeatable_secrets(locator: Locator, options: LiveOptions) -> list[str]:
    """What a definition is cleaned of, should the server repeat it there, the longest first.

    Not every value is a credential: `production`, `4096` and `application/json` are left. Longer values are hidden
    whatever their variable is called, shorter ones and plain words only where its name speaks of a credential.
    """
    given = [*options.env.items(), *options.headers.items()]
    given += [(name, part) for name, value in options.headers.items() for part in value.split()]
    parts = [(name, part) for name, value in given for part in (value, *_mask(value)[1])]
    found = (part for name, part in parts if _is_secret(name, part))
    hidden = {*found, *(part for part in secrets(locator) if _is_secret("token", part))}
    return sorted(hidden, key=len, reverse=True)


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


def _bare(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _masked(words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every word as it may be shown, beside the parts of it that may not."""
    is_value = False
    for word in words:
        if is_value and not word.startswith("--"):
            yield HIDDEN, (word,)
            is_value = False
        else:
            yield _mask(word)
            is_value = word.startswith("-") and "=" not in word and bool(_SECRET_NAME.search(word))


def _mask(word: str) -> tuple[str, tuple[str, ...]]:
    assignment = _ASSIGNMENT.fullmatch(word)
    if assignment and "://" not in assignment["name"]:
        start, value = word[: assignment.start("value")], assignment["value"]
        if _SECRET_NAME.search(assignment["name"]):
            return start + HIDDEN, (value,)
        shown, hidden = _mask(value)
        return start + shown, hidden
    url = _URL.fullmatch(word)
    if url is None:
        return (HIDDEN, (word,)) if _RANDOM.fullmatch(word) else (word, ())
    userinfo, query = url["userinfo"], url["query"]
    shown = url["start"] + (f"{HIDDEN}@" if userinfo else "") + url["path"] + (f"?{HIDDEN}" if query else "")
    return shown, tuple(part for part in (userinfo, query) if part)
