"""The first version of the tables, and the full-text index of definitions."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

DIMENSIONS = (
    "purpose_clarity",
    "usage_guidelines",
    "behavioral_transparency",
    "parameter_semantics",
    "conciseness_structure",
    "contextual_completeness",
)
PARTS = (
    *("mean_tdqs", "min_tdqs", "description_quality", "coherence", "overall"),
    *("disambiguation", "naming_consistency", "tool_count_appropriateness", "completeness"),
)


def upgrade() -> None:
    """Makes every table."""
    _create_captures()
    _create_scores()
    op.create_table(
        "runs",
        sa.Column("run", sa.Integer(), primary_key=True),
        _method(),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.Column("servers", sa.Integer()),
        sa.Column("changed", sa.Integer()),
        sa.Column("tools", sa.BigInteger()),
        sa.Column("problems", sa.Text()),
    )
    op.create_table(
        "answers",
        *(sa.Column(name, sa.String(), primary_key=True) for name in ("input_hash", "sibling_digest", "prompt_hash")),
        *(sa.Column(name, sa.String(), primary_key=True) for name in ("rubric", "judge", "model", "parameters")),
        sa.Column("sample", sa.Integer(), primary_key=True),
        sa.Column("answer", sa.Text(), nullable=False),
    )
    op.create_table(
        "batches",
        sa.Column("number", sa.Integer(), primary_key=True),
        _method(),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("captures", sa.Text(), nullable=False),
    )
    _create_search()


def _create_captures() -> None:
    op.create_table(
        "captures",
        sa.Column("capture", sa.String(32), primary_key=True),
        sa.Column("server", sa.String(), nullable=False),
        sa.Column("captured_at", sa.DateTime(timezone=True), nullable=False),
        _number("tool_count"),
        _document(),
    )
    op.create_index("ix_captures_server", "captures", ["server"])
    op.create_table(
        "servers",
        sa.Column("server", sa.String(), primary_key=True),
        sa.Column("capture", sa.String(32), sa.ForeignKey("captures.capture")),
        sa.Column("is_official", sa.Boolean()),
        sa.Column("source", sa.String()),
    )
    op.create_index("ix_servers_capture", "servers", ["capture"])
    op.create_table(
        "definitions",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        sa.Column("input_hash", sa.String(16), nullable=False, unique=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("words", sa.Text(), nullable=False),
        _number("definition_bytes"),
        _document(),
    )
    op.create_table(
        "captured_tools",
        _capture(),
        _position(),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("input_hash", sa.String(16)),
        sa.Column("document", sa.LargeBinary()),
    )
    op.create_index("ix_captured_tools_input_hash", "captured_tools", ["input_hash"])


def _create_scores() -> None:
    op.create_table(
        "methods",
        sa.Column("method", sa.String(16), primary_key=True),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("rubric", "spec", "judge", "version", "model")),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("calibration", "prompt", "parameters")),
    )
    op.create_table(
        "verdicts",
        sa.Column("verdict", sa.String(32), primary_key=True),
        _method(),
        *(sa.Column(name, sa.String(16), nullable=False) for name in ("input_hash", "sibling_digest", "prompt_hash")),
        _document(),
    )
    op.create_table(
        "tool_scores",
        _capture(),
        _method(primary_key=True),
        _position(),
        sa.Column("input_hash", sa.String(16), nullable=False),
        sa.Column("verdict", sa.String(32)),
        *(sa.Column(name, sa.SmallInteger(), nullable=False) for name in ("tdqs", "flags", *DIMENSIONS)),
    )
    op.create_table(
        "server_scores",
        _capture(),
        _method(primary_key=True),
        _number("scored_tool_count"),
        *(sa.Column(name, sa.SmallInteger()) for name in PARTS),
        sa.Column("verdict", sa.String(32)),
        sa.Column("shadow_verdict", sa.String(32)),
        sa.Column("is_complete", sa.Boolean(), nullable=False),
        _document(),
    )
    op.create_table(
        "ungraded",
        _capture(),
        _method(primary_key=True),
        _position(),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("held_score", sa.SmallInteger()),
        sa.Column("held_estimate", sa.SmallInteger()),
    )


def _create_search() -> None:
    """Definitions are never changed, so the index follows insertions and deletions alone."""
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "ALTER TABLE definitions ADD COLUMN search tsvector "
            "GENERATED ALWAYS AS (to_tsvector('simple', words)) STORED"
        )
        op.execute("CREATE INDEX definitions_by_words ON definitions USING gin (search)")
        return
    op.execute(
        "CREATE VIRTUAL TABLE definition_words USING fts5(words, content='definitions', content_rowid='number', "
        "tokenize='unicode61')"
    )
    op.execute(
        "CREATE TRIGGER definition_inserted AFTER INSERT ON definitions BEGIN "
        "INSERT INTO definition_words(rowid, words) VALUES (new.number, new.words); END"
    )
    op.execute(
        "CREATE TRIGGER definition_deleted AFTER DELETE ON definitions BEGIN "
        "INSERT INTO definition_words(definition_words, rowid, words) VALUES ('delete', old.number, old.words); END"
    )


def _capture() -> sa.Column[str]:
    return sa.Column("capture", sa.String(32), sa.ForeignKey("captures.capture"), primary_key=True)


def _method(*, primary_key: bool = False) -> sa.Column[str]:
    return sa.Column("method", sa.String(16), sa.ForeignKey("methods.method"), primary_key=primary_key, nullable=False)


def _position() -> sa.Column[int]:
    return sa.Column("position", sa.Integer(), primary_key=True)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False)


def _document() -> sa.Column[bytes]:
    return sa.Column("document", sa.LargeBinary(), nullable=False)
