"""The list of servers of the official registry (its API v0), from an address or a saved file."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from tdqs_mcp.errors import InputError
from tdqs_mcp.http_client import make_client
from tdqs_mcp.json_text import parse_json
from tdqs_mcp.sources.files import read_bytes

PREFIX = "registry+"
PATH = "/v0/servers"
PAGE_SERVERS, MAX_PAGES, MAX_PAGE_BYTES, PAGE_SECONDS = 100, 5_000, 16 * 2**20, 60

_OFFICIAL = "io.modelcontextprotocol.registry/official"
_IDENTIFIER = re.compile(r"@?[A-Za-z0-9][\w.@/:+-]*", re.ASCII)
"""A package's name and version without anything that a shell or an option could mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedServer:
    """The newest version of a server, as its registry lists it."""

    name: str
    version: str
    links: Mapping[str, str]
    """`website` and `repository`, http and https alone."""

    title: str
    remotes: tuple[str, ...]
    """URLs without placeholders, streamable HTTP first."""

    packages: tuple[tuple[str, str, str], ...]
    """Type (npm, pypi, oci, …), identifier and version."""

    @property
    def listing(self) -> dict[str, str]:
        """Return what is shown beside the scores."""
        return {
            name: text for name, text in {"title": self.title, "version": self.version, **self.links}.items() if text
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """The servers of a registry."""

    servers: list[FeedServer]
    is_whole: bool
    """They are all that it lists: who is not among them has left it."""


async def read_feed(place: str) -> Feed:
    """The servers of a registry's address or of a saved feed, each in its newest version. Raises InputError.

    A file has one answer of the registry, several in a list, or one on each line. An address without a path gets the
    usual one; `?updated_since=…` and other parameters are sent along.
    """
    pages = [page async for page in _fetch(place)] if "://" in place else list(_saved(Path(place)))
    newest: dict[str, tuple[tuple[bool, str], Mapping[str, Any], str]] = {}
    for entry in (entry for page in pages for entry in page["servers"]):
        server, meta = (entry["server"], entry.get("_meta")) if isinstance(entry.get("server"), dict) else (entry, None)
        official = meta.get(_OFFICIAL) if isinstance(meta, dict) else None
        official = official if isinstance(official, dict) else {}
        rank = (official.get("isLatest") is True, _text(official, "updatedAt") or _text(official, "publishedAt"))
        name, status = _text(server, "name"), _text(official, "status") or _text(server, "status")
        if name and (name not in newest or rank >= newest[name][0]):
            newest[name] = (rank, server, status)
    servers = [_server(server) for _, server, status in newest.values() if status not in ("deleted", "deprecated")]
    is_whole = "updated_since=" not in place and bool(pages) and not _next_cursor(pages[-1])
    return Feed(servers=servers, is_whole=is_whole)


def _server(server: Mapping[str, Any]) -> FeedServer:
    remotes = sorted(_dicts(server, "remotes"), key=lambda remote: remote.get("type") == "sse")
    urls = [url for remote in remotes if (url := _link(remote, "url")) and "{" not in url]
    packages = [
        tuple(_text(package, key) for key in ("registryType", "identifier", "version"))
        for package in _dicts(server, "packages")
    ]
    repository = server.get("repository")
    links = {"website": _link(server, "websiteUrl")}
    links["repository"] = _link(repository, "url") if isinstance(repository, dict) else ""
    return FeedServer(
        name=_text(server, "name"),
        version=_text(server, "version"),
        title=_text(server, "title"),
        links={name: url for name, url in links.items() if url},
        remotes=tuple(urls),
        packages=tuple(
            (kind, identifier, version)
            for kind, identifier, version in packages
            if _IDENTIFIER.fullmatch(identifier) and (not version or _IDENTIFIER.fullmatch(version))
        ),
    )


async def _fetch(url: str) -> Any:  # noqa: ANN401  # an async generator of pages
    import httpx2  # noqa: PLC0415

    parts = urlsplit(url)
    base = parts._replace(path=parts.path.rstrip("/") or PATH, query="", fragment="").geturl()
    cursor, cursors = "", {""}
    async with make_client(max_bytes=MAX_PAGE_BYTES, timeout=PAGE_SECONDS) as client:
        for _ in range(MAX_PAGES):
            query = "&".join(filter(None, [parts.query, urlencode({"limit": PAGE_SERVERS})]))
            query += f"&{urlencode({'cursor': cursor})}" if cursor else ""
            try:
                response = await client.get(f"{base}?{query}")
                response.raise_for_status()
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                raise InputError(f"the registry {base} cannot be read: {error}") from error
            page = _page(parse_json(response.content, origin=base), base)
            yield page
            cursor = _next_cursor(page)
            if not cursor:
                return
            if cursor in cursors:
                raise InputError(f"the registry {base} gives the cursor {cursor[:80]!r} twice")
            cursors.add(cursor)
    raise InputError(f"the registry {base} has more than {MAX_PAGES} pages")


def _saved(path: Path) -> Iterator[Mapping[str, Any]]:
    content, origin = read_bytes(path), repr(str(path))
    try:
        parsed = json.loads(content)
    except ValueError:
        parsed = [parse_json(line, origin=origin) for line in content.splitlines() if line.strip()]
    for page in parsed if isinstance(parsed, list) else [parsed]:
        yield _page(page, origin)


def _page(page: object, origin: str) -> Mapping[str, Any]:
    if isinstance(page, dict) and isinstance(page.get("servers"), list):
        return {**page, "servers": [entry for entry in page["servers"] if isinstance(entry, dict)]}
    raise InputError(f"{origin} is no answer of a registry: it has no list of `servers`")


def _next_cursor(page: Mapping[str, Any]) -> str:
    """Return what names the page that follows; empty on the last one."""
    metadata = page.get("metadata")
    return _text(metadata, "nextCursor") if isinstance(metadata, dict) else ""


def _text(members: Mapping[str, Any], key: str) -> str:
    value = members.get(key)
    return value.strip() if isinstance(value, str) else ""


def _link(members: Mapping[str, Any], key: str) -> str:
    url = _text(members, key)
    return url if url.startswith(("https://", "http://")) else ""


def _dicts(members: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = members.get(key)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
