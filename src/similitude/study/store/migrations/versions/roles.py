"""Roles: who has a role in all studies, who in one; invitations to one. Whoever could log in before owns all."""

import sqlalchemy as sa
from alembic import op

revision = "0012_roles"
down_revision = "0011_sharing"


def upgrade() -> None:
    """Add them."""
    op.add_column("admin", sa.Column("everywhere", sa.Text(), nullable=True, server_default="owner"))
    op.create_table(
        "membership",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_membership_study_id")),
        sa.PrimaryKeyConstraint("name", "study_id", name=op.f("pk_membership")),
    )
    op.add_column("one_time_link", sa.Column("role", sa.Text(), nullable=True))
    op.add_column("one_time_link", sa.Column("study_id", sa.Integer(), nullable=True))
    op.add_column("one_time_link", sa.Column("by", sa.Text(), nullable=True))
