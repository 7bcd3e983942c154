"""Tokens by which programs ask."""

import sqlalchemy as sa
from alembic import op

revision = "0005_api_tokens"
down_revision = "0004_open_leases"


def upgrade() -> None:
    """Add their table."""
    op.create_table(
        "api_token",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=True),
        sa.Column("revoked", sa.Float(), nullable=True),
        sa.Column("last_used", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_api_token_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_token")),
    )
