"""The operator's policy: what callers of our tools may have read, started or opened; refusals name the option."""

import ipaddress
import os
import re
import shlex
import socket
import stat
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tdqs_mcp.app.catalogs import has_code
from tdqs_mcp.errors import InputError
from tdqs_mcp.sources.locator import CODE_SUFFIXES, Config, File, InProcess, Locator, Stdio, Url, public, read_stdio

Resolve = Callable[[str, int], Awaitable[list[str]]]

RESOLVE_SECONDS = 10

MAX_NAMED = 10
"""Configured servers that a definition or a refusal names."""

MAX_FILE_BYTES = 64 * 2**20
"""As much as a live server may list."""

_PATTERN = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9a-f:.]+\]|(?:\*\.)?[a-z0-9._-]+|\*)(?::(?P<port>[0-9]{1,5}|\*))?(?P<path>/[^?#\s]*)?",
    re.IGNORECASE,
)
_URL = re.compile(
    r"https?://(?:[^\s/?#@\\]*@)?(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?(?:[/?#][!-~]*)?", re.IGNORECASE
)
"""What every URL reader reads alike: ASCII, no backslash, no white space."""

_PORTS = {"http": 80, "https": 443}
_NAT64 = bytes.fromhex("0064ff9b0000000000000000")
"""The prefix of an IPv4 address behind NAT64 (RFC 6052)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlPattern:
    """URLs that the operator allows: `https://example.org`, `https://*.example.org/mcp/*`, `http://127.0.0.1:*`."""

    scheme: str
    host: str
    """A name or address, `*.name` for every name below it, or `*` for every public host."""

    port: int | None
    """None is every port."""

    path: str
    """A glob of the path."""

    text: str = ""
    """As the operator has written it."""

    def fits(self, url: str) -> bool:
        """Return whether scheme, host, port and path all match."""
        parts = urlsplit(url)
        return (
            parts.scheme.lower() == self.scheme
            and self.port in (None, parts.port or _PORTS[self.scheme])
            and fnmatchcase((parts.hostname or "").lower().rstrip("."), self.host)
            and fnmatchcase(parts.path or "/", self.path)
        )


def read_pattern(text: str) -> UrlPattern:
    """The pattern of an `--allow-url`. Raises InputError."""
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise InputError(
            f"{text!r} is not a URL pattern; give SCHEME://HOST, as in https://example.org, https://*.example.org/mcp/*"
            " or http://127.0.0.1:*"
        )
    scheme, port = match["scheme"].lower(), match["port"]
    return UrlPattern(
        scheme=scheme,
        host=match["host"].strip("[]").lower().rstrip("."),
        port=None if port == "*" else int(port or _PORTS[scheme]),
        path=match["path"] or "*",
        text=text,
    )


def read_command(text: str) -> Stdio:
    """The command of an `--allow-command`, with or without `stdio:`. Raises InputError."""
    return read_stdio(text.removeprefix("stdio:"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """Definitions in the call itself are always allowed; everything here only when the operator says so."""

    roots: tuple[Path, ...] = ()
    configs: tuple[str, ...] = ()
    urls: tuple[UrlPattern, ...] = ()
    commands: tuple[Stdio, ...] = ()
    """Commands that may be started exactly so."""

    may_start: bool = False
    """`stdio:` runs any command that the caller gives."""

    may_import: bool = False
    """`py:` imports any module that the caller names."""

    def admit(self, locator: Locator) -> Locator:
        """The locator as it may be loaded: of a file, the real path. Raises InputError that names the option."""
        match locator:
            case File(path=path):
                return File(path=str(self._file(path)))
            case Config(is_project=True):
                raise InputError(
                    f"{public(locator)} is a server that a project's file names, which no caller can have started; "
                    "send the definitions themselves"
                )
            case Config(name=name) if name not in self.configs:
                same = [allowed for allowed in self.configs if allowed.partition("/")[2] == name]
                if len(same) != 1:
                    raise self._refusal(f"config:{name}", f"--allow-config {name}")
                return Config(name=same[0])
            case Stdio() if not self.may_start and locator not in self.commands:
                command = shlex.quote(public(locator).removeprefix("stdio:"))
                raise self._refusal(public(locator), f"--allow-command {command}")
            case InProcess() if not self.may_import:
                raise self._refusal(public(locator), "--allow-py")
            case Url(url=url):
                self.check_url(url)
        return locator

    def admit_folder(self, path: str) -> Path:
        """The real path of a folder at or below a root, symbolic links resolved. Raises InputError."""
        folder = self._file(path)
        if not folder.is_dir():
            raise InputError(f"{path[:80]!r} is not a folder below the allowed folders; check the path")
        return folder

    def check_url(self, url: str) -> bool:
        """Return whether the URL's host is allowed by its own name, so that it may be private. Raises InputError."""
        public_url = public(Url(url=url)) if _URL.fullmatch(url) else "the URL"
        parts = urlsplit(url)
        if not _URL.fullmatch(url) or not _is_plain(parts.path):
            raise InputError(f"{public_url} is not plain; give it in ASCII as https://host/path, without dot segments")
        fitting = [pattern for pattern in self.urls if pattern.fits(url)]
        if not fitting:
            raise self._refusal(public_url, f"--allow-url {parts.scheme}://{parts.netloc.rpartition('@')[2]}")
        return any("*" not in pattern.host for pattern in fitting)

    async def check_and_resolve(self, url: str, *, lookup: "Resolve | None" = None) -> list[str]:
        """The addresses that a URL may be connected to, resolved once and checked. Raises InputError."""
        may_be_private = self.check_url(url)
        parts = urlsplit(url)
        addresses = await (lookup or resolve)(parts.hostname or "", parts.port or _PORTS[parts.scheme])
        if not may_be_private and not all(map(is_public, addresses)):  # which address it is, a caller does not learn
            host = parts.netloc.rpartition("@")[2]
            raise InputError(
                f"{host} is not at a public address; the operator can allow it by name with "
                f"--allow-url {parts.scheme}://{host}"
            )
        return addresses

    @property
    def example(self) -> str | None:
        """A locator that a first call may name; None where every call has to bring the definitions."""
        roots = ("." for root in self.roots[:1] if has_code(root))  # "." is the first root
        configs = (f"config:{name}" for name in self.configs)
        return next(chain(roots, configs, map(public, self.commands)), None)

    def describe(self) -> str:
        """Return what callers may name, in one line."""
        return ", ".join(["definitions in the call", *self.places])

    @property
    def places(self) -> list[str]:
        """Return what callers may name beside definitions."""
        return [
            *(f"files and code below {str(root)!r}" for root in self.roots),
            *(f"config:{name}" for name in self.configs[:MAX_NAMED]),
            *([f"{len(self.configs) - MAX_NAMED} more config:NAME"] if len(self.configs) > MAX_NAMED else []),
            *(f"URLs like {pattern.text}" for pattern in self.urls),
            *(public(command) for command in self.commands),
            *(["any stdio: command"] if self.may_start else []),
            *(["any py: module"] if self.may_import else []),
        ]

    def _refusal(self, subject: str, option: str) -> InputError:
        return InputError(
            f"the operator of this server has not allowed {subject}, only {self.describe()}; send the definitions "
            f"themselves, or have the server started with {option}"
        )

    def holds_code(self, file: File) -> bool:
        """Return whether an admitted path is a folder or a file with code."""
        return Path(file.path).is_dir() or Path(file.path).suffix in CODE_SUFFIXES

    def read(self, file: File) -> bytes:
        """Return the bytes of an admitted file, checked as it was opened. Raises InputError."""
        real = Path(file.path)
        base = next(base for base in map(Path.resolve, self.roots) if real.is_relative_to(base))
        try:
            with os.fdopen(_open_below(base, real), "rb") as stream:
                _check_opened(os.fstat(stream.fileno()), file.path)
                return stream.read(MAX_FILE_BYTES)
        except OSError as error:
            raise InputError(f"{file.path!r} cannot be read: {error.strerror}; check the path") from error

    def _file(self, path: str) -> Path:
        """The real path of a regular file, or of a folder with code, below a root, symbolic links resolved."""
        if path == "-":
            raise InputError("standard input belongs to the protocol here; give the definitions themselves")
        try:
            below = [real for root in self.roots if (real := _below(root, path)) is not None]
            real_file = next((real for real in below if real.is_file()), None)
            folder = next((real for real in below if real_file is None and real.is_dir()), None)
            if folder is not None:
                return folder
            details = real_file.stat() if real_file is not None else None
        except (OSError, RuntimeError, ValueError) as error:  # a name too long, a loop of links, a null character
            raise InputError(f"{path[:80]!r} is not a path that can be followed; check it") from error
        if not below:
            raise self._refusal(repr(path[:80]), "--root FOLDER")
        if real_file is None or details is None:
            raise InputError(f"{path[:80]!r} is not a regular file below the allowed folders; check the path")
        _check_opened(details, path)
        return real_file


def _check_opened(details: os.stat_result, path: str) -> None:
    """Raises InputError for what is no file, not only here, or too large."""
    if not stat.S_ISREG(details.st_mode):
        raise InputError(f"{path!r} is not a regular file below the allowed folders; check the path")
    if details.st_nlink > 1:
        raise InputError(f"{path!r} is a hard link, whose file may lie elsewhere too; copy it, and name the copy")
    if details.st_size > MAX_FILE_BYTES:
        raise InputError(f"{path!r} is larger than {MAX_FILE_BYTES} bytes; give a smaller file")


def _is_plain(path: str) -> bool:
    """Return true for a path that every server reads alike, so that a pattern means what it says.

    Not `/mcp/..;/admin`, `/mcp/%2e%2e/admin`, `/mcp/..%5cadmin` and `/mcp/%252e%252e/admin`.
    """
    decoded = unquote(path)
    is_decoded_once = unquote(decoded) == decoded
    steps = {step.partition(";")[0] for step in decoded.split("/")}
    return is_decoded_once and not {".", ".."} & steps and "\\" not in decoded and decoded.count("/") == path.count("/")


def _open_below(base: Path, real: Path) -> int:
    """Return a descriptor of a file, opened step by step from its root without following links.

    The path was resolved before: a link in it now has been put there since. Raises OSError.
    """
    if os.open not in os.supports_dir_fd:  # Windows
        return os.open(real, os.O_RDONLY)
    *folders, name = real.relative_to(base).parts
    folder = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for step in folders:
            inner = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    finally:
        os.close(folder)


def _below(root: Path, path: str) -> Path | None:
    """Where the path really leads; None when that is not below the root."""
    base = root.resolve()
    real = (base / path).resolve()
    return real if real.is_relative_to(base) else None


def is_public(address: str) -> bool:
    """Return whether an address, and any IPv4 address inside it, is reachable for everybody and meant for one host."""
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        teredo = parsed.teredo
        nat64 = ipaddress.IPv4Address(parsed.packed[12:]) if parsed.packed.startswith(_NAT64) else None
        inner = [parsed.ipv4_mapped, parsed.sixtofour, *(teredo or ()), nat64]
        if any(address_part is not None and not is_public(str(address_part)) for address_part in inner):
            return False
        if parsed.is_site_local:
            return False
        if parsed.ipv4_mapped:
            return True
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as this machine resolves it. Raises InputError."""
    import anyio  # noqa: PLC0415  # only a server that opens URLs needs it

    try:
        with anyio.fail_after(RESOLVE_SECONDS):
            infos = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError) as error:
        raise InputError(f"the host {host!r} cannot be resolved; check the URL") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in infos))
