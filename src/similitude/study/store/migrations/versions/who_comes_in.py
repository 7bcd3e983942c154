"""Seats by time served, where raters come from, invitations, who was erased, and when passwords were set."""

import sqlalchemy as sa
from alembic import op

revision = "0003_doors"
down_revision = "0002_as_shown"


def upgrade() -> None:
    """Add the tables and columns; what was leased by the time of day is free, and gets a new lease when asked for."""
    op.create_table(
        "uptime",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_uptime")),
    )
    op.execute("INSERT INTO uptime (id, seconds) VALUES (1, 0)")
    op.execute("UPDATE lease SET expires = 0")
    _raters()
    _admins()


def _raters() -> None:
    op.add_column("rater", sa.Column("origin", sa.Text(), nullable=False, server_default="joined"))
    op.add_column("rater", sa.Column("began", sa.Float(), nullable=True))
    op.add_column("rater", sa.Column("withheld", sa.Text(), nullable=True))
    imported = "uid LIKE 'imported-%' AND identity IS NULL AND consented = finished"
    op.execute(f"UPDATE rater SET origin = 'imported', uid = 'imported:' || code WHERE {imported}")
    op.create_table(
        "invitation",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("invited", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_invitation_study_id")),
        sa.PrimaryKeyConstraint("study_id", "identity", name=op.f("pk_invitation")),
    )
    op.create_table(
        "tombstone",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_tombstone_study_id")),
        sa.PrimaryKeyConstraint("study_id", "digest", name=op.f("pk_tombstone")),
    )


def _admins() -> None:
    op.add_column("admin", sa.Column("last_login", sa.Float(), nullable=True))
    op.add_column("admin_session", sa.Column("since", sa.Float(), nullable=True))
    op.create_table(
        "password_set",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("replaced", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_password_set")),
    )
