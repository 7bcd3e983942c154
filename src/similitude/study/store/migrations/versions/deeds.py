"""Who did what."""

import sqlalchemy as sa
from alembic import op

revision = "0006_deeds"
down_revision = "0005_api_tokens"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "deed",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_deed_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deed")),
    )
