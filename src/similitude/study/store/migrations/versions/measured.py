"""Answers keep what the browser tells of its device, and whether the page was left meanwhile."""

import sqlalchemy as sa
from alembic import op

revision = "0010_measured"
down_revision = "0009_blocks"


def upgrade() -> None:
    """Add a column; nobody knows it of earlier answers."""
    op.add_column("answer", sa.Column("measured", sa.Text()))
