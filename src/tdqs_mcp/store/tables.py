"""The tables of the store, for SQLite and PostgreSQL: captures over time, definitions, verdicts, scores and runs."""

from dataclasses import fields

from sqlalchemy import (
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
    literal_column,
)

from tdqs_mcp.judges.judge import CacheKey
from tdqs_mcp.results.scores import Flag
from tdqs_mcp.rubrics.rubric import load

METADATA = MetaData()

DIMENSIONS, PARTS = load("tdqs").keys, load("coherence").keys
ROLLUP = ("mean_tdqs", "min_tdqs", "description_quality", "coherence", "overall")
FLAGS = {flag: 1 << place for place, flag in enumerate(Flag)}
"""The bits of a tool's flags."""

SERVERS = Table(
    "servers",
    METADATA,
    Column("server", String, primary_key=True, comment="the record's id, else the server's name"),
    Column("capture", String(32), ForeignKey("captures.capture"), index=True, comment="the newest capture"),
    Column("is_official", Boolean, comment="as the registry says; null where it says nothing"),
    Column("source", String, comment="where it was captured, without credentials"),
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
    Column("words", Text, nullable=False, comment="the search terms of the name, title and description"),
    Column("definition_bytes", Integer, nullable=False),
    Column("document", LargeBinary, nullable=False, comment="zlib: the JSON of the six fields, in their order"),
)
"""The migration adds the full-text index of `words`.

SQLite: the FTS5 table `definition_words`, with `number` as its rowid. PostgreSQL: the column `search`, a tsvector of
the configuration `simple`: the terms are stems already, so that both find the same.
"""

CAPTURED_TOOLS = Table(
    "captured_tools",
    METADATA,
    Column("capture", String(32), ForeignKey("captures.capture"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("input_hash", String(16), index=True, comment="null where the tool cannot be measured"),
    Column("document", LargeBinary, comment="zlib: the tool's JSON where it is not its definition; see captures"),
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
    Column("verdict", String(32), primary_key=True, comment="digest of the four columns that follow"),
    Column("method", String(16), ForeignKey("methods.method"), nullable=False),
    Column("input_hash", String(16), nullable=False, comment="empty for a tool set"),
    Column("sibling_digest", String(16), nullable=False, comment="what a verdict depends on besides"),
    Column("prompt_hash", String(16), nullable=False, comment="empty for the offline judge, which has no prompt"),
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
    Column("tdqs", SmallInteger, nullable=False, comment="tenths"),
    Column("flags", SmallInteger, nullable=False, comment="bits, in the order of results.scores.Flag"),
    *(Column(key, SmallInteger, nullable=False) for key in DIMENSIONS),
)

SERVER_SCORES = Table(
    "server_scores",
    METADATA,
    Column("capture", String(32), ForeignKey("captures.capture"), primary_key=True),
    Column("method", String(16), ForeignKey("methods.method"), primary_key=True),
    Column("scored_tool_count", Integer, nullable=False),
    *(Column(name, SmallInteger, comment="tenths; null where a part is missing") for name in ROLLUP),
    *(Column(key, SmallInteger) for key in PARTS),
    Column("verdict", String(32), comment="the verdict on the tool set"),
    Column("shadow_verdict", String(32), comment="the verdict on shadow candidates; null where nobody was asked"),
    Column("is_complete", Boolean, nullable=False, comment="nothing is left that the judge can be asked again about"),
    Column("document", LargeBinary, nullable=False, comment="zlib: problems, shadow candidates and risks as JSON"),
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
    Column("problems", Text, comment="JSON: what could not be read, one sentence each"),
    Column("statistics", Text, comment="JSON: the store's statistics by the method, which a dashboard reads"),
)

ANSWERS = Table(
    "answers",
    METADATA,
    *(Column(each.name, Integer if each.type is int else String, primary_key=True) for each in fields(CacheKey)),
    Column("answer", Text, nullable=False),
)
"""What models answered, so that nothing is paid for twice."""

BATCHES = Table(
    "batches",
    METADATA,
    Column("number", Integer, primary_key=True),
    Column("method", String(16), ForeignKey("methods.method"), nullable=False),
    Column("note", Text, nullable=False, comment="JSON: the vendor's id and what it takes to collect the answers"),
    Column("captures", Text, nullable=False, comment="JSON: the captures that wait for it"),
)
"""What a vendor has been asked and has not answered yet."""
