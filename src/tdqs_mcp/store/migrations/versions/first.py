"""The tables as `store.tables` declares them, and the full-text index of definitions.

No store of a release exists yet, so this revision follows the declarations. The first change after a release writes the
tables of the release out here, and is the second revision.
"""

from alembic import op

from tdqs_mcp.store.tables import METADATA

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make every table. Without `checkfirst`, a table of another program is an error."""
    METADATA.create_all(op.get_bind(), checkfirst=False)
    _create_search()


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
