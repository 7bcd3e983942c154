"""Revisions remember the files of items, by size and digest."""

import sqlalchemy as sa
from alembic import op

revision = "0014_files_of_items"
down_revision = "0013_webhooks"


def upgrade() -> None:
    """Add a column; nobody knows it of earlier revisions."""
    op.add_column("revision", sa.Column("items", sa.Text()))
