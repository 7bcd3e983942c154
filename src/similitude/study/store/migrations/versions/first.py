"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "admin",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_admin")),
    )
    op.create_table(
        "admin_session",
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("csrf", sa.Text(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("token", name=op.f("pk_admin_session")),
    )
    op.create_table(
        "backup",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("last_answer", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_backup")),
    )
    op.create_table(
        "one_time_link",
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("token", name=op.f("pk_one_time_link")),
    )
    op.create_table(
        "secret",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_secret")),
    )
    op.create_table(
        "study",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study")),
        sa.UniqueConstraint("name", name=op.f("uq_study_name")),
    )
    op.create_table(
        "curve",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("accuracy", sa.Float(), nullable=False),
        sa.Column("low", sa.Float(), nullable=False),
        sa.Column("high", sa.Float(), nullable=False),
        sa.Column("tested", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_curve_study_id")),
        sa.PrimaryKeyConstraint("study_id", "answers", name=op.f("pk_curve")),
    )
    op.create_table(
        "model",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("heartbeat", sa.Float(), nullable=False),
        sa.Column("last_answer", sa.BigInteger(), nullable=False),
        sa.Column("trouble", sa.Text(), nullable=True),
        sa.Column("similarity", sa.LargeBinary(), nullable=True),
        sa.Column("findings", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_model_study_id")),
        sa.PrimaryKeyConstraint("study_id", name=op.f("pk_model")),
    )
    op.create_table(
        "pool",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("shown", sa.Text(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("model", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_pool_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pool")),
    )
    op.create_index(op.f("ix_pool_study_id_id"), "pool", ["study_id", "id"], unique=False)
    op.create_table(
        "rater",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("identity", sa.Text(), nullable=True),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("joined", sa.Float(), nullable=False),
        sa.Column("consented", sa.Float(), nullable=True),
        sa.Column("finished", sa.Float(), nullable=True),
        sa.Column("erased", sa.Float(), nullable=True),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("answered", sa.Integer(), nullable=False),
        sa.Column("catches", sa.Integer(), nullable=False),
        sa.Column("catches_passed", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_rater_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rater")),
        sa.UniqueConstraint("study_id", "code", name=op.f("uq_rater_study_id_code")),
        sa.UniqueConstraint("study_id", "identity", name=op.f("uq_rater_study_id_identity")),
        sa.UniqueConstraint("study_id", "uid", name=op.f("uq_rater_study_id_uid")),
    )
    op.create_table(
        "redaction",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("backups", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_redaction_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_redaction")),
    )
    op.create_table(
        "study_version",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("items", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_study_version_study_id")),
        sa.PrimaryKeyConstraint("study_id", "version", name=op.f("pk_study_version")),
    )
    op.create_table(
        "answer",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("uid", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("form", sa.Text(), nullable=False),
        sa.Column("shown", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("response", sa.Text(), nullable=True),
        sa.Column("side", sa.Integer(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=True),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("model", sa.Integer(), nullable=True),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.Float(), nullable=False),
        sa.Column("received", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"], name=op.f("fk_answer_rater_id")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_answer_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answer")),
        sa.UniqueConstraint("rater_id", "number", name=op.f("uq_answer_rater_id_number")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_answer_study_id_id"), "answer", ["study_id", "id"], unique=False)
    op.create_table(
        "lease",
        sa.Column("rater_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("shown", sa.Text(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("score", sa.Float(), nullable=True),
        sa.Column("model", sa.Integer(), nullable=True),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"], name=op.f("fk_lease_rater_id")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_lease_study_id")),
        sa.PrimaryKeyConstraint("rater_id", "number", name=op.f("pk_lease")),
    )
    op.create_index(op.f("ix_lease_rater_id_key"), "lease", ["rater_id", "key"], unique=False)
    op.create_index(op.f("ix_lease_study_id_open"), "lease", ["study_id", "open"], unique=False)
    op.create_table(
        "reply",
        sa.Column("rater_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("field", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("received", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["rater_id"], ["rater.id"], name=op.f("fk_reply_rater_id")),
        sa.PrimaryKeyConstraint("rater_id", "field", name=op.f("pk_reply")),
    )
