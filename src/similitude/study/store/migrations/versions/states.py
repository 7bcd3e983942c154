"""The phase of a study, and what every change of it was: who, when, which texts."""

import sqlalchemy as sa
from alembic import op

revision = "0007_states"
down_revision = "0006_deeds"


def upgrade() -> None:
    """Add a column and a table; a study that was served before is live."""
    op.add_column("study", sa.Column("phase", sa.Text(), nullable=False, server_default="live"))
    op.create_table(
        "revision",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("version", sa.Text(), nullable=True),
        sa.Column("files", sa.Text(), nullable=False),
        sa.Column("changes", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_revision_study_id")),
        sa.PrimaryKeyConstraint("study_id", "number", name=op.f("pk_revision")),
    )
