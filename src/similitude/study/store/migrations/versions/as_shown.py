"""Answers keep how they were shown: the direction of the page, and the colour behind the items."""

import sqlalchemy as sa
from alembic import op

revision = "0002_as_shown"
down_revision = "0001"


def upgrade() -> None:
    """Add two columns; nobody knows them of earlier answers."""
    op.add_column("answer", sa.Column("direction", sa.Text()))
    op.add_column("answer", sa.Column("background", sa.Text()))
