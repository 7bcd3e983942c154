"""Blocks of a study, conditions of its raters, and the places that they have there."""

import sqlalchemy as sa
from alembic import op

revision = "0009_blocks"
down_revision = "0008_people"


def upgrade() -> None:
    """Add their columns; what was asked before belongs to no block, and nobody has a condition."""
    op.add_column("rater", sa.Column("condition", sa.Text(), nullable=True))
    op.add_column("rater", sa.Column("blocks", sa.Text(), nullable=True))
    op.add_column("rater", sa.Column("place_until", sa.Float(), nullable=True))
    for table in ("answer", "lease"):
        op.add_column(table, sa.Column("block", sa.Text(), nullable=False, server_default=""))
    op.add_column("pool", sa.Column("part", sa.Text(), nullable=False, server_default=""))
    op.drop_index(op.f("ix_pool_study_id_id"), table_name="pool")
    op.create_index(op.f("ix_pool_study_id_part_id"), "pool", ["study_id", "part", "id"])
