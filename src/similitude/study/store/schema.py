"""The tables. Times are seconds since 1970; lists and settings are JSON text, readable by any tool."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)  # fmt: skip

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
_Id = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by itself in a column of plain integers only

study = Table(
    "study",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("paused", Boolean, nullable=False),
    Column("created", Float, nullable=False),
)

study_version = Table(
    "study_version",
    metadata,
    Column("study_id", ForeignKey("study.id"), nullable=False),
    Column("version", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("items", Text, nullable=False),
    Column("created", Float, nullable=False),
    PrimaryKeyConstraint("study_id", "version"),
)

rater = Table(
    "rater",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("study_id", ForeignKey("study.id"), nullable=False),
    Column("code", Text, nullable=False),  # the name in exports: says nothing about the person
    Column("origin", Text, nullable=False, server_default="joined"),  # joined, imported or rehearsal
    Column("uid", Text, nullable=False),  # made by the browser: joining twice is joining once
    Column("identity", Text),  # what the recruiting service calls the person
    Column("parameters", Text, nullable=False),  # of the link by which the rater came
    Column("joined", Float, nullable=False),
    Column("began", Float),  # when the rater joined, in seconds of `uptime`
    Column("consented", Float),
    Column("finished", Float),
    Column("withheld", Text),  # why there is no completion code: time, skips, not_shown, withdrawn or rehearsal
    Column("erased", Float),  # on request; what is left says nothing about the person
    Column("asked", Integer, nullable=False),  # questions handed out: the next one has this number
    Column("answered", Integer, nullable=False),
    Column("catches", Integer, nullable=False),
    Column("catches_passed", Integer, nullable=False),
    UniqueConstraint("study_id", "identity"),
    UniqueConstraint("study_id", "code"),
    UniqueConstraint("study_id", "uid"),
)

reply = Table(
    "reply",
    metadata,
    Column("rater_id", ForeignKey("rater.id"), nullable=False),
    Column("field", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("received", Float, nullable=False),
    PrimaryKeyConstraint("rater_id", "field"),
)

answer = Table(
    "answer",
    metadata,
    Column("id", _Id, primary_key=True, autoincrement=True),
    Column("study_id", ForeignKey("study.id"), nullable=False),
    Column("rater_id", ForeignKey("rater.id"), nullable=False),
    Column("number", Integer, nullable=False),  # which of the rater's questions
    Column("uid", Text),  # made by the browser: the same answer sent twice is one
    Column("kind", Text, nullable=False),  # question, catch or practice
    Column("form", Text, nullable=False),
    Column("shown", Text, nullable=False),  # names of items in their order on the screen
    Column("outcome", Text, nullable=False),  # answered, cant_tell, skipped, not_shown or redacted
    Column("response", Text),
    Column("side", Integer, nullable=False),
    Column("milliseconds", Integer),  # from the browser: from the question on the screen to the answer
    Column("direction", Text),  # of the page, from the browser: ltr or rtl
    Column("background", Text),  # behind the items, from the browser: red, green and blue from 0 to 255
    Column("strategy", Text, nullable=False),
    Column("score", Float),
    Column("model", Integer),  # version of the model that chose the question
    Column("version", Text, nullable=False),  # of study.toml
    Column("asked_at", Float, nullable=False),
    Column("received", Float, nullable=False),
    UniqueConstraint("rater_id", "number"),
    sqlite_autoincrement=True,  # a number is never given twice, whatever is erased
)
Index(None, answer.c.study_id, answer.c.id)

invitation = Table(
    "invitation",
    metadata,
    Column("study_id", ForeignKey("study.id"), nullable=False),
    Column("identity", Text, nullable=False),
    Column("invited", Float, nullable=False),
    PrimaryKeyConstraint("study_id", "identity"),
)

redaction = Table(
    "redaction",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("study_id", ForeignKey("study.id"), nullable=False),
    Column("code", Text, nullable=False),
    Column("answers", Integer, nullable=False),
    Column("backups", Text, nullable=False),  # those that still hold the rater's rows
    Column("at", Float, nullable=False),
)

tombstone = Table(
    "tombstone",
    metadata,
    Column("study_id", ForeignKey("study.id"), nullable=False),
    Column("digest", Text, nullable=False),  # keyed: knows who was erased when they come again, says it to nobody
    PrimaryKeyConstraint("study_id", "digest"),
)

backup = Table(
    "backup",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("file", Text, nullable=False),
    Column("last_answer", BigInteger, nullable=False),
    Column("at", Float, nullable=False),
)

lease = Table(
    "lease",
    metadata,
    Column("rater_id", ForeignKey("rater.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("study_id", ForeignKey("study.id"), nullable=False),
    Column("key", BigInteger, nullable=False),  # equal for equal questions: nobody is asked the same twice
    Column("kind", Text, nullable=False),
    Column("shown", Text, nullable=False),
    Column("strategy", Text, nullable=False),
    Column("score", Float),
    Column("model", Integer),
    Column("version", Text, nullable=False),
    Column("asked_at", Float, nullable=False),
    Column("expires", Float, nullable=False),  # in seconds of `uptime`
    Column("open", Boolean, nullable=False),
    PrimaryKeyConstraint("rater_id", "number"),
)
Index(None, lease.c.rater_id, lease.c.key)
Index(  # of those that are open alone: a rater who was asked ten thousand questions still holds a few
    "ix_lease_open", lease.c.study_id, lease.c.rater_id, lease.c.number,
    sqlite_where=text("open = 1"), postgresql_where=text("open"),  # as queries say it: SQLite compares the words
)  # fmt: skip

pool = Table(
    "pool",
    metadata,
    Column("id", _Id, primary_key=True),
    Column("study_id", ForeignKey("study.id"), nullable=False),
    Column("shown", Text, nullable=False),
    Column("strategy", Text, nullable=False),
    Column("score", Float),
    Column("model", Integer, nullable=False),
)
Index(None, pool.c.study_id, pool.c.id)

model = Table(
    "model",
    metadata,
    Column("study_id", ForeignKey("study.id"), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("worker", Text, nullable=False),  # which process holds the study
    Column("heartbeat", Float, nullable=False),
    Column("last_answer", BigInteger, nullable=False),
    Column("trouble", Text),  # why there is no model, in words
    Column("similarity", LargeBinary),  # as Similarity.save writes it
    Column("findings", Text),  # what the admin page shows of it: noise, raters, map, items
)

curve = Table(
    "curve",
    metadata,
    Column("study_id", ForeignKey("study.id"), nullable=False),
    Column("answers", Integer, nullable=False),
    Column("accuracy", Float, nullable=False),
    Column("low", Float, nullable=False),
    Column("high", Float, nullable=False),
    Column("tested", Integer, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("study_id", "answers"),
)

uptime = Table(  # one row
    "uptime",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("seconds", Float, nullable=False),  # for which the database has been served
)

secret = Table("secret", metadata, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))

admin = Table(
    "admin",
    metadata,
    Column("name", Text, primary_key=True),
    Column("password", Text, nullable=False),  # argon2
    Column("created", Float, nullable=False),
    Column("last_login", Float),
)

password_set = Table(  # every time that a one-time link set a password
    "password_set",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("replaced", Boolean, nullable=False),  # whether the name had another before
)

admin_session = Table(
    "admin_session",
    metadata,
    Column("token", Text, primary_key=True),  # a hash
    Column("name", Text, nullable=False),
    Column("csrf", Text, nullable=False),
    Column("expires", Float, nullable=False),
    Column("since", Float),  # when the same name logged in before
)

one_time_link = Table(
    "one_time_link",
    metadata,
    Column("token", Text, primary_key=True),  # a hash
    Column("expires", Float, nullable=False),
)
