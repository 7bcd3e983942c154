"""Raters may be left out, taken back in and asked anew; remarks say who decided what, and why."""

import sqlalchemy as sa
from alembic import op

revision = "0008_people"
down_revision = "0007_states"


def upgrade() -> None:
    """Add two columns and a table; so far everybody counts, from the first question on."""
    op.add_column("rater", sa.Column("left_out", sa.Float()))
    op.add_column("rater", sa.Column("first", sa.Integer(), server_default="0", nullable=False))
    op.create_table(
        "remark",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("found", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_remark_study_id")),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"], name=op.f("fk_remark_rater_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_remark")),
    )
    op.create_index(op.f("ix_remark_rater_id"), "remark", ["rater_id"])
    op.create_index(op.f("ix_remark_study_id_id"), "remark", ["study_id", "id"])
