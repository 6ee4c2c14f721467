"""Records of a registry, one for each server (JSON Lines, Parquet, a folder), and the shards that have to be scored."""

import gzip
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from tdqs_mcp.errors import InputError
from tdqs_mcp.json_text import parse_json
from tdqs_mcp.judges.judge import Usage
from tdqs_mcp.results.statistics import ServerChange
from tdqs_mcp.sources.files import read_bytes, read_pages
from tdqs_mcp.store.captures import capture_digest

FORMATS = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".parquet")
"""The endings of files with many records; any other file is one capture."""

MAX_BYTES = 64 * 2**20
"""Bytes of one record, as of one live capture."""

PARQUET_ROWS = 64
"""Rows of Parquet that are in memory at once."""

LISTING = "registryListing"
"""The member of a record with what a registry says of the server."""

SHAPE = "give each record an `id`, `server` or `name`: text or a whole number"


@dataclass(frozen=True, kw_only=True)
class Record:
    """A server as it was read; its JSON is not parsed yet."""

    content: bytes = field(repr=False)
    origin: str
    """File and line, for messages."""

    name: str = ""
    """What names the server beside the content: the column `id`, or the stem of its file."""

    is_official: bool | None = None
    """As the column `official` says."""

    progress: float
    """The share of the input that has been read, 0-1."""

    registry: str = ""
    """The input with many records that lists it; empty for a server that was named itself."""

    place: tuple[str, int, int] | None = None
    """File, offset and length of the content, where another process can read it there."""

    @cached_property
    def digest(self) -> str:
        """32 hex digits over all that the registry says of the server."""
        beside = self.name if self.is_official is None else f"{self.name}\0{self.is_official}"
        return capture_digest(beside, self.content)

    @cached_property
    def document(self) -> object:
        """The content as JSON; a copy of the record, and one that travels, parses it anew. Raises InputError."""
        return parse_json(self.content, origin=self.origin)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "document"}

    def read_again(self, digest: str) -> "Record":
        """The record with the content that lies at its place. Raises InputError where it has another digest now."""
        if self.content or self.place is None:
            return self
        path, offset, length = self.place
        try:
            with Path(path).open("rb") as file:
                file.seek(offset)
                record = replace(self, content=file.read(length))
        except OSError as error:
            raise InputError(f"{self.origin} cannot be read: {error.strerror}") from error
        if record.digest != digest:
            raise InputError(f"{self.origin} has changed while it was swept: the next sweep reads it")
        return record


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A server to be scored."""

    record: Record
    capture: str
    """The record's digest."""

    server: str
    """The key under which the server is stored."""

    is_official: bool | None
    listing: Mapping[str, str] | None = None
    """Title, version and links as its registry has them."""

    tools: int
    """About how many tools it has."""


_LOCATED = frozenset({"packages", "remotes"})
"""Members of the official registry's server.json."""


def read_entry(record: Record) -> Entry:
    """The server of a record. Raises InputError for a record that is no JSON, or has no key or no definitions."""
    data = record.document
    members: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
    if "tools" not in members and not _LOCATED.isdisjoint(members):
        raise InputError(
            f"{record.origin} is a server.json, which says where a server is and not what its tools are: capture it "
            "with tdqs-mcp capture, and give that"
        )
    pages = read_pages(data, record.origin)
    own_id = None if "jsonrpc" in members else members.get("id")
    keys = (own_id, members.get("server"), members.get("serverName"), members.get("name"), record.name)
    server = next((text for text in map(_text, keys) if text), None)
    if server is None:
        raise InputError(f"{record.origin} does not say which server it is: {SHAPE}")
    official = members.get("official", record.is_official)
    return Entry(
        record=record,
        capture=record.digest,
        server=server,
        is_official=official if isinstance(official, bool) else None,
        listing=members[LISTING] if isinstance(members.get(LISTING), Mapping) else None,
        tools=sum(len(page.get("tools") or []) for page in pages),
    )


def _text(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() or None if isinstance(value, str) else None


def is_registry(path: Path) -> bool:
    """Return whether it is a folder or a file with many records."""
    return path.is_dir() or path.name.lower().endswith(FORMATS)


def read_records(path: Path) -> Iterator[Record | str]:
    """The records of a file or folder, in its order, or why one cannot be read.

    Raises InputError, also on the way, where the rest cannot be read or there is no record.
    """
    if path.is_dir():
        if files := sorted(path.glob("*.json")):
            return _captures(files)
        raise InputError(f"there is no JSON file in the folder {str(path)!r}")
    if path.name.lower().endswith(".parquet"):
        return _parquet(path)
    if is_registry(path):
        return _lines(path)
    record = Record(content=read_bytes(path), origin=repr(str(path)), name=path.stem, progress=1)
    read_entry(record)
    return iter([record])


def _captures(files: list[Path]) -> Iterator[Record | str]:
    for number, file in enumerate(files, start=1):
        try:
            content = read_bytes(file)
        except InputError as error:
            yield str(error)
        else:
            place = (str(file.absolute()), 0, len(content))
            progress = number / len(files)
            yield Record(content=content, origin=repr(str(file)), name=file.stem, progress=progress, place=place)


def _lines(path: Path) -> Iterator[Record | str]:
    try:
        raw = path.open("rb")
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}") from error
    return _numbered(raw, path)


def _numbered(raw: IO[bytes], path: Path) -> Iterator[Record | str]:
    size = max(1, os.fstat(raw.fileno()).st_size)
    with raw, gzip.GzipFile(fileobj=raw) if path.name.lower().endswith(".gz") else raw as stream:
        number, path_name = 0, str(path.absolute())
        try:
            for number, line in enumerate(_bounded(stream), start=1):  # the message below names the last
                origin = f"line {number} of {str(path)!r}"
                if line is None:
                    yield f"{origin} has more than {MAX_BYTES} bytes"
                elif content := line.strip():
                    start = raw.tell() - len(line) + line.index(content)
                    place = (path_name, start, len(content)) if stream is raw else None
                    yield Record(content=content, origin=origin, progress=min(1, raw.tell() / size), place=place)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{str(path)!r} cannot be read after line {number}: {error}") from error
    if not number:
        raise InputError(f"{str(path)!r} is empty")


def _bounded(stream: IO[bytes] | gzip.GzipFile) -> Iterable[bytes | None]:
    """The lines; None for one that is too long to be held."""
    while line := stream.readline(MAX_BYTES):
        is_long = len(line) == MAX_BYTES
        while line and not line.endswith(b"\n") and len(line) == MAX_BYTES:
            line = stream.readline(MAX_BYTES)
        yield None if is_long else line


NO_PARQUET = "Parquet needs pyarrow: pip install '.[sweep]' in a checkout of tdqs-mcp"


def _parquet(path: Path) -> Iterator[Record | str]:
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415  # an extra that most installations go without
    except ModuleNotFoundError as error:
        raise InputError(NO_PARQUET) from error
    try:
        file = parquet.ParquetFile(path)
    except (OSError, ArrowException) as error:
        raise InputError(f"{str(path)!r} cannot be read as Parquet: {error}") from error
    columns = [name for name in ("catalog", "id", "official") if name in file.schema_arrow.names]
    if "catalog" not in columns:
        raise InputError(f"{str(path)!r} has no column `catalog` with the JSON of each server's capture")
    return _rows(file, columns, path)


def _rows(file: Any, columns: list[str], path: Path) -> Iterator[Record | str]:  # noqa: ANN401  # pyarrow has no types
    number, count = 0, max(1, file.metadata.num_rows)
    try:
        for batch in file.iter_batches(batch_size=PARQUET_ROWS, columns=columns):
            for row in batch.to_pylist():
                number += 1
                catalog, official = row["catalog"], row.get("official")
                origin = f"row {number} of {str(path)!r}"
                if not isinstance(catalog, str | bytes) or not catalog:
                    yield f"{origin} has no JSON text in the column `catalog`"
                    continue
                yield Record(
                    content=catalog if isinstance(catalog, bytes) else catalog.encode("utf-8", "surrogatepass"),
                    origin=origin,
                    name=_text(row.get("id")) or "",
                    is_official=official if isinstance(official, bool) else None,
                    progress=number / count,
                )
    except (OSError, ValueError) as error:  # pyarrow's own errors are ValueErrors
        raise InputError(f"{str(path)!r} cannot be read after row {number}: {error}") from error
    if not number:
        raise InputError(f"{str(path)!r} is empty")


SHARD_TOOLS = 400
"""Tools of a shard: half a second of the offline judge, and what a killed worker does twice."""

KNOWN_TOOLS = 3
"""Tools of a server with scores that take the time of one that is new: most are not judged again."""

SHARD_BYTES = 2 * 2**20
"""Bytes of its records; a server that has more is a shard of its own."""

SHARD_RECORDS = 2_000
"""Records after which what was found unchanged is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Servers to be scored together, and what was found out about others on the way."""

    entries: tuple[Entry, ...] = ()
    unchanged: int = 0
    """Servers whose record the store has under this method, completely judged."""

    problems: tuple[str, ...] = ()
    """Records that cannot be scored, one sentence each."""

    progress: float = 0
    """The share of the input that has been read up to its end, 0-1."""

    def for_others(self, *, is_local: bool) -> "Shard":
        """The shard for other processes, unparsed; those of this machine read the contents where they lie."""

        def copy(record: Record) -> Record:
            return replace(record, content=b"") if is_local and record.place else replace(record)

        return replace(self, entries=tuple(replace(entry, record=copy(entry.record)) for entry in self.entries))


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepTally:
    """Progress in numbers; those of parts add up."""

    servers: int = 0
    tools: int = 0
    questions: int = 0
    """Tools that the judge has given a verdict on."""

    ungraded: int = 0
    """Tools, tool sets and questions about shadow candidates that are left for the next sweep."""

    withheld: int = 0
    """Of the ungraded, those whose score the guard holds as suspicious."""

    new: int = 0
    """Servers without scores by this method before."""

    changed: tuple[ServerChange, ...] = ()

    problems: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)

    def __add__(self, other: "SweepTally") -> "SweepTally":
        return SweepTally(
            **{
                tally_field.name: getattr(self, tally_field.name) + getattr(other, tally_field.name)
                for tally_field in fields(self)
            }
        )


def plan_shards(
    records: Iterable[Record | str],
    complete: Mapping[str, str],
    listed: dict[str, str] | None = None,
    *,
    most: int | None = None,
) -> Iterator[Shard]:
    """Shards with every server whose record is not among the complete captures, which are given with their servers.

    `listed` gets the registry of each server; `most` are a shard's tools, in place of SHARD_TOOLS. The last one may be
    empty. Nothing of an unchanged record is parsed.
    """
    entries: list[Entry] = []
    problems: list[str] = []
    unchanged = tools = size = 0
    progress, scored = 0.0, frozenset(complete.values())
    for record in _select(records, complete, {} if listed is None else listed):
        if isinstance(record, str):
            problems.append(record)
        elif isinstance(record, Entry):
            entries.append(record)
            tools += max(1, record.tools // KNOWN_TOOLS) if record.server in scored else record.tools
            size += len(record.record.content)
        else:
            unchanged, progress = unchanged + 1, record.progress
        if tools >= (most or SHARD_TOOLS) or size >= SHARD_BYTES or len(problems) + unchanged >= SHARD_RECORDS:
            progress = entries[-1].record.progress if entries else progress
            yield Shard(entries=tuple(entries), unchanged=unchanged, problems=tuple(problems), progress=progress)
            entries, problems, unchanged, tools, size = [], [], 0, 0, 0
    yield Shard(entries=tuple(entries), unchanged=unchanged, problems=tuple(problems), progress=1)


def _select(
    records: Iterable[Record | str], complete: Mapping[str, str], listed: dict[str, str]
) -> Iterator[Entry | Record | str]:
    """Yield what to score, unchanged records, and problems; the second record of a server is one."""
    for record in records:
        if isinstance(record, str):
            yield record
            continue
        try:
            entry = None if record.digest in complete else read_entry(record)
        except InputError as error:
            yield str(error)
            continue
        server = entry.server if entry else complete[record.digest]
        if server in listed:
            yield f"{record.origin} is left out: another record is about {server!r} too"
        else:
            listed[server] = record.registry
            yield entry or record
