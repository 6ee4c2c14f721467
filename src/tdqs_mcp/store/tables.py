"""The tables of the store, for SQLite and PostgreSQL: captures over time, definitions, verdicts, scores and runs."""

import json
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError
from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    event,
    literal_column,
)

from tdqs_mcp.canonical import replace_surrogates
from tdqs_mcp.errors import InputError
from tdqs_mcp.judges.judge import CacheKey
from tdqs_mcp.model import Catalog, read_prompts, read_resources, read_tool
from tdqs_mcp.results.scores import Flag
from tdqs_mcp.results.verdicts import Verdict
from tdqs_mcp.rubrics.rubric import load
from tdqs_mcp.sources.locator import File, parse_locator, public, read_stdio, secrets

Given = TypeVar("Given")
Result = TypeVar("Result")

LEVEL = 1
"""Level 6 takes a fifth longer for documents that are 4% smaller."""

_VALUES = (
    *("server", "version", "instructions", "protocol_version", "server_info", "capabilities", "caching"),
    *("problems", "incomplete"),
)
"""The fields of a catalog that are JSON values."""

_VERDICT = TypeAdapter(Verdict)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def pack(value: object) -> bytes:
    """A JSON value, compressed."""
    return zlib.compress(_with_room(_encode, value).encode("utf-8", "surrogatepass"), LEVEL)


def unpack(document: bytes) -> Any:  # noqa: ANN401  # the JSON value
    """The value that was packed."""
    return _with_room(json.loads, zlib.decompress(document).decode("utf-8", "surrogatepass"))


def pack_verdict(verdict: Verdict) -> bytes:
    """A verdict with all that its judge said."""
    try:
        return zlib.compress(_VERDICT.dump_json(verdict, exclude_defaults=True), LEVEL)
    except PydanticSerializationError:  # a lone surrogate
        return pack(_VERDICT.dump_python(verdict, exclude_defaults=True))


def unpack_verdict(document: bytes) -> Verdict:
    """The verdict that was packed."""
    try:
        return _VERDICT.validate_json(zlib.decompress(document))
    except ValidationError:
        return _VERDICT.validate_python(unpack(document))


def pack_catalog(catalog: Catalog) -> bytes:
    """A catalog without its tools, and its source without credentials."""
    listed = {"resources": catalog.resources, "prompts": catalog.prompts}
    foreign = [tool.index for tool in catalog.tools if not tool.is_mcp]
    document = {name: getattr(catalog, name) for name in _VALUES}
    document |= {name: entries and [entry.raw for entry in entries] for name, entries in listed.items()}
    document |= {"templates": sum(resource.is_template for resource in catalog.resources or ())}
    document |= {"source": public_source(catalog.source), "foreign_tools": foreign}
    return pack({name: value for name, value in document.items() if value is not None and value != []})


def unpack_catalog(document: bytes, raw_tools: Sequence[object]) -> Catalog:
    """The catalog that was packed, with its tools."""
    value = unpack(document)
    foreign, resources = value.get("foreign_tools", ()), value.get("resources")
    first = len(resources or ()) - value["templates"]
    return Catalog(
        tools=tuple(read_tool(raw, index, is_mcp=index not in foreign) for index, raw in enumerate(raw_tools)),
        resources=None if resources is None else read_resources(resources[:first], resources[first:]),
        prompts=read_prompts(value.get("prompts")),
        source=value.get("source"),
        **{name: value[name] for name in _VALUES if name in value and name != "problems"},
        problems=tuple(value.get("problems", ())),
    )


def unpack_points(points: str) -> dict[str, int]:
    """The scores of a tool by TDQS."""
    return dict(zip(DIMENSIONS, map(int, points), strict=True))


def clean_text(text: str) -> str:
    """A text that every database holds: without NUL and lone surrogates. The exact one is in the document."""
    return replace_surrogates(text.replace("\0", "\ufffd"))


def public_source(source: str | None) -> str | None:
    """Where a server was captured, without credentials; None where that cannot be told."""
    if source is None:
        return None
    try:
        locator = parse_locator(source.strip())
        command = read_stdio(source) if isinstance(locator, File) and " " in source else None
    except InputError:
        return None
    return public(command if command and secrets(command) else locator)


def _with_room(convert: Callable[[Given], Result], value: Given) -> Result:
    """Return what `convert` gives; for a value that nests too deep for the stack, on the stack of a new thread."""
    try:
        return convert(value)
    except RecursionError:
        with ThreadPoolExecutor(max_workers=1) as pool:
            return pool.submit(convert, value).result()


METADATA = MetaData()

DIMENSIONS, PARTS = load("tdqs").keys, load("coherence").keys
ROLLUP = ("mean_tdqs", "min_tdqs", "description_quality", "coherence", "overall")
FLAGS = {flag: 1 << place for place, flag in enumerate(Flag)}
"""The bits of a tool's flags."""

VERSIONS = Table(
    "tdqs_version",
    METADATA,
    Column("version_num", String(32), primary_key=True, comment="of these tables; Alembic can go on from here"),
)

SERVERS = Table(
    "servers",
    METADATA,
    Column("server", String, primary_key=True, comment="the record's id, else the server's name"),
    Column("capture", String(32), ForeignKey("captures.capture"), index=True, comment="the newest capture"),
    Column("is_official", Boolean, comment="as the registry says; null where it says nothing"),
    Column("source", String, comment="where it was captured, without credentials"),
    Column("listing", Text, comment="JSON: title, version and links as a registry has them"),
    Column("registry", String, comment="the input that listed it last"),
    Column("left_at", DateTime(timezone=True), comment="when that input was first read to its end without it"),
)

CAPTURES = Table(
    "captures",
    METADATA,
    Column("capture", String(32), primary_key=True, comment="digest of the server's key and its record's bytes"),
    Column("server", String, nullable=False, index=True),
    Column("captured_at", DateTime(timezone=True), nullable=False, comment="when a sweep first read it"),
    Column("tool_count", Integer, nullable=False, index=True),
    Column("document", LargeBinary, nullable=False, comment="zlib: the catalog's JSON without its tools"),
)

DEFINITIONS = Table(
    "definitions",
    METADATA,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, comment="for the index"),
    Column("input_hash", String(16), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("name_words", Text, nullable=False, comment="the search terms of the name"),
    Column("words", Text, nullable=False, comment="those of title and description"),
    Column("term_count", Integer, nullable=False, comment="of both"),
    Column("definition_bytes", Integer, nullable=False),
)
"""The full-text index of both follows insertions and deletions alone: definitions are never changed.

SQLite: the FTS5 table `definition_words`, with `number` as its rowid. PostgreSQL: the column `search`, a tsvector of
the configuration `simple`: the terms are stems already, so that both find the same.
"""

_SEARCH = {
    "postgresql": (
        """ALTER TABLE definitions ADD COLUMN search tsvector GENERATED ALWAYS AS
        (setweight(to_tsvector('simple', name_words), 'A') || to_tsvector('simple', words)) STORED""",
        "CREATE INDEX definitions_by_words ON definitions USING gin (search)",
    ),
    "sqlite": (
        """CREATE VIRTUAL TABLE definition_words
        USING fts5(name_words, words, content='definitions', content_rowid='number', tokenize='unicode61')""",
        """CREATE TRIGGER definition_inserted AFTER INSERT ON definitions
        BEGIN INSERT INTO definition_words(rowid, name_words, words)
        VALUES (new.number, new.name_words, new.words); END""",
        """CREATE TRIGGER definition_deleted AFTER DELETE ON definitions
        BEGIN INSERT INTO definition_words(definition_words, rowid, name_words, words)
        VALUES ('delete', old.number, old.name_words, old.words); END""",
    ),
}
for _dialect, _statements in _SEARCH.items():
    for _statement in _statements:
        _ddl = DDL(_statement)  # type: ignore[no-untyped-call]  # SQLAlchemy's own
        event.listen(DEFINITIONS, "after_create", _ddl.execute_if(dialect=_dialect))

CAPTURED_TOOLS = Table(
    "captured_tools",
    METADATA,
    Column("capture", String(32), ForeignKey("captures.capture"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("input_hash", String(16), index=True, comment="null where the tool cannot be measured"),
    Column("document", LargeBinary, nullable=False, comment="zlib: the tool's JSON"),
)

METHODS = Table(
    "methods",
    METADATA,
    Column("method", String(16), primary_key=True, comment="digest of the other columns; only its equals compare"),
    *(
        Column(name, String, nullable=False)
        for name in ("rubric", "spec", "judge", "version", "model", "calibration", "prompt", "parameters")
    ),
)

VERDICTS = Table(
    "verdicts",
    METADATA,
    Column("verdict", String(32), primary_key=True, comment="digest of the three columns that follow"),
    Column("method", String(16), ForeignKey("methods.method"), nullable=False),
    Column("input_hash", String(16), nullable=False, comment="empty for a tool set"),
    Column("sibling_digest", String(16), nullable=False, comment="what a verdict depends on besides"),
    Column("document", LargeBinary, nullable=False, comment="zlib: the verdict's JSON"),
)

TOOL_SCORES = Table(
    "tool_scores",
    METADATA,
    Column("capture", String(32), ForeignKey("captures.capture"), primary_key=True),
    Column("method", String(16), ForeignKey("methods.method"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("input_hash", String(16), nullable=False),
    Column("verdict", String(32), comment="null where the first hard gate decided"),
    Column("tdqs", SmallInteger, comment="tenths; null under another rubric"),
    Column("flags", SmallInteger, nullable=False, comment="bits, in the order of results.scores.Flag"),
    Column("points", String(16), nullable=False, comment="a digit for each of the rubric's dimensions, in their order"),
)

SERVER_SCORES = Table(
    "server_scores",
    METADATA,
    Column("capture", String(32), ForeignKey("captures.capture"), primary_key=True),
    Column("method", String(16), ForeignKey("methods.method"), primary_key=True),
    Column("scored_tool_count", Integer, nullable=False),
    *(Column(name, SmallInteger, comment="tenths; null where a part is missing") for name in ROLLUP),
    *(Column(key, SmallInteger) for key in PARTS),
    Column("verdict", String(32), comment="the verdict on the tool set, or on the skill"),
    Column("shadow_verdict", String(32), comment="the verdict on shadow candidates; null where nobody was asked"),
    Column("is_complete", Boolean, nullable=False, comment="nothing is left that the judge can be asked again about"),
    Column(
        "document", LargeBinary, nullable=False, comment="zlib: problems, shadow candidates, risks and label as JSON"
    ),
)

OVERALL_RANK = literal_column("coalesce(overall, -1)", Integer)
"""The overall score, so that a server without one comes last; without a parameter, by which no index would be found."""

Index("server_scores_by_overall", SERVER_SCORES.c.method, OVERALL_RANK)

UNGRADED = Table(
    "ungraded",
    METADATA,
    Column("capture", String(32), ForeignKey("captures.capture"), primary_key=True),
    Column("method", String(16), ForeignKey("methods.method"), primary_key=True),
    Column("position", Integer, primary_key=True, comment="-1 for the coherence of the tool set"),
    Column("name", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("held_score", SmallInteger, comment="tenths; null unless the guard holds the score"),
    Column("held_estimate", SmallInteger, comment="tenths: the offline judge's"),
)

RUNS = Table(
    "runs",
    METADATA,
    Column("run", Integer, primary_key=True),
    Column("method", String(16), ForeignKey("methods.method"), nullable=False),
    Column("started_at", DateTime(timezone=True), nullable=False),
    Column("finished_at", DateTime(timezone=True), comment="null while it runs, and for ever where it was killed"),
    Column("servers", Integer, comment="read; null until the end, as what follows"),
    Column("changed", Integer, comment="scored anew"),
    Column("tools", BigInteger, comment="asked about"),
    Column("requests", Integer, comment="sent to models"),
    Column("cost", BigInteger, comment="nanodollars; null too where a price is not known"),
    Column("problems", Text, comment="JSON: what could not be read, one sentence each"),
    Column("statistics", Text, comment="JSON: the store's statistics by the method, which a dashboard reads"),
)

ANSWERS = Table(
    "answers",
    METADATA,
    *(
        Column(key_field.name, Integer if key_field.type is int else String, primary_key=True)
        for key_field in fields(CacheKey)
    ),
    Column("answer", Text, nullable=False),
)
"""What models answered, so that nothing is paid for twice."""

RETRIES = Table(
    "retries",
    METADATA,
    Column("method", String(16), ForeignKey("methods.method"), primary_key=True),
    Column("question", String(32), primary_key=True, comment="inputHash; of a tool set rubric and context"),
    Column("attempts", Integer, nullable=False, comment="answers in a row that could not be used"),
    Column("ask_after", BigInteger, nullable=False, comment="seconds since 1970"),
    Column("reason", Text, nullable=False),
)
"""Questions whose answers are paid for and cannot be used: each is asked again after twice the time."""

BATCHES = Table(
    "batches",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("method", String(16), ForeignKey("methods.method"), nullable=False),
    Column("note", Text, nullable=False, comment="JSON: the vendor's id and what it takes to collect the answers"),
    Column("captures", Text, nullable=False, comment="JSON: the captures that wait for it"),
)
"""What a vendor has been asked and has not answered yet."""
