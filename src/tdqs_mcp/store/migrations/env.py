"""Runs the migrations in the transaction of the connection that opens the store."""

from alembic import context

from tdqs_mcp.store.database import VERSION_TABLE
from tdqs_mcp.store.tables import METADATA

context.configure(
    connection=context.config.attributes["connection"], target_metadata=METADATA, version_table=VERSION_TABLE
)
with context.begin_transaction():
    context.run_migrations()
