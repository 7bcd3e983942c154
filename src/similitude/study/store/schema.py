"""The tables. Times are seconds since 1970; lists and settings are JSON text, readable by any tool."""

from __future__ import annotations

from typing import Any

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


def _table(name: str, *parts: Column[Any] | PrimaryKeyConstraint | UniqueConstraint, **options: Any) -> Table:
    return Table(name, metadata, *parts, **options)


def _needed(name: str, kind: Any, **options: Any) -> Column[Any]:
    """A column that every row has."""
    return Column(name, kind, nullable=False, **options)


study = _table(
    "study",
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    _needed("paused", Boolean),
    _needed("created", Float),
)

study_version = _table(
    "study_version",
    _needed("study_id", ForeignKey("study.id")),
    _needed("version", Text),
    _needed("settings", Text),
    _needed("items", Text),
    _needed("created", Float),
    PrimaryKeyConstraint("study_id", "version"),
)

rater = _table(
    "rater",
    Column("id", _Id, primary_key=True),
    _needed("study_id", ForeignKey("study.id")),
    _needed("code", Text),  # the name in exports: says nothing about the person
    _needed("origin", Text, server_default="joined"),  # joined, imported or rehearsal
    _needed("uid", Text),  # made by the browser: joining twice is joining once
    Column("identity", Text),  # what the recruiting service calls the person
    _needed("parameters", Text),  # of the link by which the rater came
    _needed("joined", Float),
    Column("began", Float),  # when the rater joined, in seconds of `uptime`
    Column("consented", Float),
    Column("finished", Float),
    Column("withheld", Text),  # why there is no completion code: time, skips, not_shown, withdrawn or rehearsal
    Column("erased", Float),  # on request; what is left says nothing about the person
    _needed("asked", Integer),  # questions handed out: the next one has this number
    _needed("answered", Integer),
    _needed("catches", Integer),
    _needed("catches_passed", Integer),
    UniqueConstraint("study_id", "identity"),
    UniqueConstraint("study_id", "code"),
    UniqueConstraint("study_id", "uid"),
)

reply = _table(
    "reply",
    _needed("rater_id", ForeignKey("rater.id")),
    _needed("field", Text),
    _needed("value", Text),
    _needed("received", Float),
    PrimaryKeyConstraint("rater_id", "field"),
)

answer = _table(
    "answer",
    Column("id", _Id, primary_key=True, autoincrement=True),
    _needed("study_id", ForeignKey("study.id")),
    _needed("rater_id", ForeignKey("rater.id")),
    _needed("number", Integer),  # which of the rater's questions
    Column("uid", Text),  # made by the browser: the same answer sent twice is one
    _needed("kind", Text),  # question, catch or practice
    _needed("form", Text),
    _needed("shown", Text),  # names of items in their order on the screen
    _needed("outcome", Text),  # answered, cant_tell, skipped, not_shown or redacted
    Column("response", Text),
    _needed("side", Integer),
    Column("milliseconds", Integer),  # from the browser: from the question on the screen to the answer
    Column("direction", Text),  # of the page, from the browser: ltr or rtl
    Column("background", Text),  # behind the items, from the browser: red, green and blue from 0 to 255
    _needed("strategy", Text),
    Column("score", Float),
    Column("model", Integer),  # version of the model that chose the question
    _needed("version", Text),  # of study.toml
    _needed("asked_at", Float),
    _needed("received", Float),
    UniqueConstraint("rater_id", "number"),
    sqlite_autoincrement=True,  # a number is never given twice, whatever is erased
)
Index(None, answer.c.study_id, answer.c.id)

invitation = _table(
    "invitation",
    _needed("study_id", ForeignKey("study.id")),
    _needed("identity", Text),
    _needed("invited", Float),
    PrimaryKeyConstraint("study_id", "identity"),
)

redaction = _table(
    "redaction",
    Column("id", Integer, primary_key=True),
    _needed("study_id", ForeignKey("study.id")),
    _needed("code", Text),
    _needed("answers", Integer),
    _needed("backups", Text),  # those that still hold the rater's rows
    _needed("at", Float),
)

tombstone = _table(
    "tombstone",
    _needed("study_id", ForeignKey("study.id")),
    _needed("digest", Text),  # keyed: knows who was erased when they come again, says it to nobody
    PrimaryKeyConstraint("study_id", "digest"),
)

backup = _table(
    "backup",
    Column("id", Integer, primary_key=True),
    _needed("file", Text),
    _needed("last_answer", BigInteger),
    _needed("at", Float),
)

lease = _table(
    "lease",
    _needed("rater_id", ForeignKey("rater.id")),
    _needed("number", Integer),
    _needed("study_id", ForeignKey("study.id")),
    _needed("key", BigInteger),  # equal for equal questions: nobody is asked the same twice
    _needed("kind", Text),
    _needed("shown", Text),
    _needed("strategy", Text),
    Column("score", Float),
    Column("model", Integer),
    _needed("version", Text),
    _needed("asked_at", Float),
    _needed("expires", Float),  # in seconds of `uptime`
    _needed("open", Boolean),
    PrimaryKeyConstraint("rater_id", "number"),
)
Index(None, lease.c.rater_id, lease.c.key)
Index(  # of those that are open alone: a rater who was asked ten thousand questions still holds a few
    "ix_lease_open", lease.c.study_id, lease.c.rater_id, lease.c.number,
    sqlite_where=text("open = 1"), postgresql_where=text("open"),  # as queries say it: SQLite compares the words
)  # fmt: skip

pool = _table(
    "pool",
    Column("id", _Id, primary_key=True),
    _needed("study_id", ForeignKey("study.id")),
    _needed("shown", Text),
    _needed("strategy", Text),
    Column("score", Float),
    _needed("model", Integer),
)
Index(None, pool.c.study_id, pool.c.id)

model = _table(
    "model",
    Column("study_id", ForeignKey("study.id"), primary_key=True),
    _needed("version", Integer),
    _needed("worker", Text),  # which process holds the study
    _needed("heartbeat", Float),
    _needed("last_answer", BigInteger),
    Column("trouble", Text),  # why there is no model, in words
    Column("similarity", LargeBinary),  # as Similarity.save writes it
    Column("findings", Text),  # what the admin page shows of it: noise, raters, map, items
)

curve = _table(
    "curve",
    _needed("study_id", ForeignKey("study.id")),
    _needed("answers", Integer),
    _needed("accuracy", Float),
    _needed("low", Float),
    _needed("high", Float),
    _needed("tested", Integer),
    _needed("at", Float),
    PrimaryKeyConstraint("study_id", "answers"),
)

uptime = _table(  # one row
    "uptime",
    Column("id", Integer, primary_key=True),
    _needed("seconds", Float),  # for which the database has been served
)

secret = _table("secret", Column("name", Text, primary_key=True), _needed("value", Text))

admin = _table(
    "admin",
    Column("name", Text, primary_key=True),
    _needed("password", Text),  # argon2
    _needed("created", Float),
    Column("last_login", Float),
)

password_set = _table(  # every time that a one-time link set a password
    "password_set",
    Column("id", Integer, primary_key=True),
    _needed("name", Text),
    _needed("at", Float),
    _needed("replaced", Boolean),  # whether the name had another before
)

admin_session = _table(
    "admin_session",
    Column("token", Text, primary_key=True),  # a hash
    _needed("name", Text),
    _needed("csrf", Text),
    _needed("expires", Float),
    Column("since", Float),  # when the same name logged in before
)

one_time_link = _table(
    "one_time_link",
    Column("token", Text, primary_key=True),  # a hash
    _needed("expires", Float),
)
