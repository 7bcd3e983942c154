"""Open leases have an index of their own: what a rater holds is found however much the rater was asked before."""

import sqlalchemy as sa
from alembic import op

revision = "0004_open_leases"
down_revision = "0003_doors"


def upgrade() -> None:
    """Put it in the place of the index that held the closed leases, too."""
    op.drop_index(op.f("ix_lease_study_id_open"), table_name="lease")
    op.create_index(
        op.f("ix_lease_open"), "lease", ["study_id", "rater_id", "number"],
        sqlite_where=sa.text("open = 1"), postgresql_where=sa.text("open"),
    )  # fmt: skip
