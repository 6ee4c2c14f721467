"""What a dashboard reads: the indexes of a leaderboard, and the statistics at the end of each run."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Makes them; in the leaderboard a server without an overall score comes last."""
    op.add_column("runs", sa.Column("statistics", sa.Text()))
    op.create_index("ix_captures_tool_count", "captures", ["tool_count"])
    op.create_index("server_scores_by_overall", "server_scores", ["method", sa.text("coalesce(overall, -1)")])
