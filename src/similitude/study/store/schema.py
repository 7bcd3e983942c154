"""The tables. Times are seconds since 1970; lists and settings are JSON text, readable by any tool."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
# The newest step in migrations/, which older databases are led to; a new one is made as the tables below say.
REVISION = "0014_files_of_items"
version = sa.Table(  # Alembic's own
    "alembic_version",
    sa.MetaData(),
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
# SQLite numbers rows by itself in a column of plain integers only
_Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _table(name: str, *parts: sa.Column[Any] | sa.Constraint, **options: Any) -> sa.Table:
    return sa.Table(name, metadata, *parts, **options)


def _needed(name: str, kind: Any, **options: Any) -> sa.Column[Any]:
    """A column that every row has."""
    return sa.Column(name, kind, nullable=False, **options)


study = _table(
    "study",
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    _needed("paused", sa.Boolean),
    _needed("phase", sa.Text, server_default="live"),  # draft, pilot, live or closed; what is paused goes on as it was
    _needed("created", sa.Float),
)

study_version = _table(
    "study_version",
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("version", sa.Text),
    _needed("settings", sa.Text),
    _needed("items", sa.Text),
    _needed("created", sa.Float),
    sa.PrimaryKeyConstraint("study_id", "version"),
)

revision = _table(  # what was decided, change by change; the last is what is served
    "revision",
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("number", sa.Integer),
    sa.Column("version", sa.Text),  # None of a draft that cannot be served yet
    _needed("files", sa.Text),  # study.toml, pages, words, the table of items: texts by name
    _needed("changes", sa.Text),  # in words
    _needed("who", sa.Text),
    _needed("at", sa.Float),
    sa.Column("items", sa.Text),  # the files of items: size and digest by place; None of before these were kept
    sa.PrimaryKeyConstraint("study_id", "number"),
)

rater = _table(
    "rater",
    sa.Column("id", _Id, primary_key=True),
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("code", sa.Text),  # the name in exports: says nothing about the person
    _needed("origin", sa.Text, server_default="joined"),  # joined, imported, pilot or rehearsal
    _needed("uid", sa.Text),  # made by the browser: joining twice is joining once
    sa.Column("identity", sa.Text),  # what the recruiting service calls the person
    _needed("parameters", sa.Text),  # of the link by which the rater came
    _needed("joined", sa.Float),
    sa.Column("began", sa.Float),  # when the rater joined, in seconds of `uptime`
    sa.Column("consented", sa.Float),
    sa.Column("finished", sa.Float),
    sa.Column("withheld", sa.Text),  # why there is no completion code: time, skips, not_shown, withdrawn or rehearsal
    sa.Column("erased", sa.Float),  # on request; what is left says nothing about the person
    sa.Column("condition", sa.Text),  # to which the rater was assigned
    sa.Column("blocks", sa.Text),  # in the rater's order, where it was drawn
    sa.Column("place_until", sa.Float),  # `uptime` until which a place in the condition waits; none: has no place
    sa.Column("left_out", sa.Float),  # since when the rater's answers do not count
    _needed("first", sa.Integer, server_default="0"),  # number of the first question that counts: later after a redo
    _needed("asked", sa.Integer),  # questions handed out: the next one has this number
    _needed("answered", sa.Integer),
    _needed("catches", sa.Integer),
    _needed("catches_passed", sa.Integer),
    sa.UniqueConstraint("study_id", "identity"),
    sa.UniqueConstraint("study_id", "code"),
    sa.UniqueConstraint("study_id", "uid"),
)

reply = _table(
    "reply",
    _needed("rater_id", sa.ForeignKey("rater.id")),
    _needed("field", sa.Text),
    _needed("value", sa.Text),
    _needed("received", sa.Float),
    sa.PrimaryKeyConstraint("rater_id", "field"),
)

answer = _table(
    "answer",
    sa.Column("id", _Id, primary_key=True, autoincrement=True),
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("rater_id", sa.ForeignKey("rater.id")),
    _needed("number", sa.Integer),  # which of the rater's questions
    sa.Column("uid", sa.Text),  # made by the browser: the same answer sent twice is one
    _needed("kind", sa.Text),  # question, catch or practice
    _needed("block", sa.Text, server_default=""),  # "" where the study has none
    _needed("form", sa.Text),
    _needed("shown", sa.Text),  # names of items in their order on the screen
    _needed("outcome", sa.Text),  # answered, cant_tell, skipped, timed_out, not_shown or redacted
    sa.Column("response", sa.Text),
    _needed("side", sa.Integer),
    sa.Column("milliseconds", sa.Integer),  # from the browser: from the question on the screen to the answer
    sa.Column("direction", sa.Text),  # of the page, from the browser: ltr or rtl
    sa.Column("background", sa.Text),  # behind the items, from the browser: red, green and blue from 0 to 255
    sa.Column("measured", sa.Text),  # of the device, from the browser (`measured.py`)
    _needed("strategy", sa.Text),
    sa.Column("score", sa.Float),
    sa.Column("model", sa.Integer),  # version of the model that chose the question
    _needed("version", sa.Text),  # of study.toml
    _needed("asked_at", sa.Float),
    _needed("received", sa.Float),
    sa.UniqueConstraint("rater_id", "number"),
    sqlite_autoincrement=True,  # a number is never given twice, whatever is erased
)
sa.Index(None, answer.c.study_id, answer.c.id)

remark = _table(  # what researchers decided about a rater, and their notes; rows are added
    "remark",
    sa.Column("id", _Id, primary_key=True),
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("rater_id", sa.ForeignKey("rater.id")),
    _needed("at", sa.Float),
    _needed("who", sa.Text),
    _needed("what", sa.Text),  # left_out, taken_back, redo, note or what was told to a recruiting service
    _needed("text", sa.Text),  # the reason, or the note
    sa.Column("found", sa.Text),  # how the rater was judged when left out
)
sa.Index(None, remark.c.rater_id)
sa.Index(None, remark.c.study_id, remark.c.id)

invitation = _table(
    "invitation",
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("identity", sa.Text),
    _needed("invited", sa.Float),
    sa.PrimaryKeyConstraint("study_id", "identity"),
)

redaction = _table(
    "redaction",
    sa.Column("id", sa.Integer, primary_key=True),
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("code", sa.Text),
    _needed("answers", sa.Integer),
    _needed("backups", sa.Text),  # those that still hold the rater's rows
    _needed("at", sa.Float),
)

tombstone = _table(
    "tombstone",
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("digest", sa.Text),  # keyed: knows who was erased when they come again, says it to nobody
    sa.PrimaryKeyConstraint("study_id", "digest"),
)

backup = _table(
    "backup",
    sa.Column("id", sa.Integer, primary_key=True),
    _needed("file", sa.Text),
    _needed("last_answer", sa.BigInteger),
    _needed("at", sa.Float),
)

lease = _table(
    "lease",
    _needed("rater_id", sa.ForeignKey("rater.id")),
    _needed("number", sa.Integer),
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("key", sa.BigInteger),  # equal for equal questions: nobody is asked the same twice
    _needed("kind", sa.Text),
    _needed("block", sa.Text, server_default=""),
    _needed("shown", sa.Text),
    _needed("strategy", sa.Text),
    sa.Column("score", sa.Float),
    sa.Column("model", sa.Integer),
    _needed("version", sa.Text),
    _needed("asked_at", sa.Float),
    _needed("expires", sa.Float),  # in seconds of `uptime`
    _needed("open", sa.Boolean),
    sa.PrimaryKeyConstraint("rater_id", "number"),
)
sa.Index(None, lease.c.rater_id, lease.c.key)
sa.Index(  # of those that are open alone: a rater who was asked ten thousand questions still holds a few
    "ix_lease_open", lease.c.study_id, lease.c.rater_id, lease.c.number,
    sqlite_where=sa.text("open = 1"), postgresql_where=sa.text("open"),  # as queries say it: SQLite compares the words
)  # fmt: skip

pool = _table(
    "pool",
    sa.Column("id", _Id, primary_key=True),
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("shown", sa.Text),
    _needed("strategy", sa.Text),
    sa.Column("score", sa.Float),
    _needed("model", sa.Integer),
    _needed("part", sa.Text, server_default=""),  # of the study, for which it was chosen
)
sa.Index(None, pool.c.study_id, pool.c.part, pool.c.id)

model = _table(
    "model",
    sa.Column("study_id", sa.ForeignKey("study.id"), primary_key=True),
    _needed("version", sa.Integer),
    _needed("worker", sa.Text),  # which process holds the study
    _needed("heartbeat", sa.Float),
    _needed("last_answer", sa.BigInteger),
    sa.Column("trouble", sa.Text),  # why there is no model, in words
    sa.Column("similarity", sa.LargeBinary),  # as Similarity.save writes it
    sa.Column("findings", sa.Text),  # what the admin page shows of it: noise, raters, map, items
)

curve = _table(
    "curve",
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("answers", sa.Integer),
    _needed("accuracy", sa.Float),
    _needed("low", sa.Float),
    _needed("high", sa.Float),
    _needed("tested", sa.Integer),
    _needed("at", sa.Float),
    sa.PrimaryKeyConstraint("study_id", "answers"),
)

uptime = _table(  # one row
    "uptime",
    sa.Column("id", sa.Integer, primary_key=True),
    _needed("seconds", sa.Float),  # for which the database has been served
)

secret = _table("secret", sa.Column("name", sa.Text, primary_key=True), _needed("value", sa.Text))

admin = _table(
    "admin",
    sa.Column("name", sa.Text, primary_key=True),
    _needed("password", sa.Text),  # argon2
    _needed("created", sa.Float),
    sa.Column("last_login", sa.Float),
    sa.Column("everywhere", sa.Text, server_default="owner"),  # the role in all studies; None where there is none
)

membership = _table(
    "membership",
    _needed("name", sa.Text),  # of an admin
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("role", sa.Text),
    sa.PrimaryKeyConstraint("name", "study_id"),
)

password_set = _table(  # every time that a one-time link set a password
    "password_set",
    sa.Column("id", sa.Integer, primary_key=True),
    _needed("name", sa.Text),
    _needed("at", sa.Float),
    _needed("replaced", sa.Boolean),  # whether the name had another before
)

admin_session = _table(
    "admin_session",
    sa.Column("token", sa.Text, primary_key=True),  # a hash
    _needed("name", sa.Text),
    _needed("csrf", sa.Text),
    _needed("expires", sa.Float),
    sa.Column("since", sa.Float),  # when the same name logged in before
)

one_time_link = _table(
    "one_time_link",
    sa.Column("token", sa.Text, primary_key=True),  # a hash
    _needed("expires", sa.Float),
    sa.Column("role", sa.Text),  # that it gives in a study; None makes an owner of all
    sa.Column("study_id", sa.Integer),
    sa.Column("by", sa.Text),  # who made it; None is the command line
)

api_token = _table(
    "api_token",
    sa.Column("id", sa.Text, primary_key=True),  # the part of the token that says which it is
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("name", sa.Text),  # what it is for, in the researcher's words
    _needed("scopes", sa.Text),  # of ask, read and admin, with spaces between
    _needed("digest", sa.Text),  # of the token; the token itself is shown once and kept nowhere
    _needed("by", sa.Text),  # who made it
    _needed("created", sa.Float),
    sa.Column("expires", sa.Float),
    sa.Column("revoked", sa.Float),
    sa.Column("last_used", sa.Float),  # to the minute
)

deed = _table(  # what admins and tokens did; nothing is ever taken off
    "deed",
    sa.Column("id", sa.Integer, primary_key=True),
    _needed("at", sa.Float),
    _needed("who", sa.Text),
    _needed("what", sa.Text),
    sa.Column("study_id", sa.ForeignKey("study.id")),
    _needed("detail", sa.Text),
)

work = _table(  # what is made of the answers on request (`works.py`)
    "work",
    sa.Column("id", sa.Integer, primary_key=True),
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("kind", sa.Text),
    _needed("state", sa.Text),
    _needed("by", sa.Text),
    _needed("asked", sa.Float),
    _needed("beat", sa.Float),  # when its process showed itself last
    sa.Column("ended", sa.Float),
    _needed("phase", sa.Text),
    _needed("done", sa.Integer),
    _needed("total", sa.Integer),
    sa.Column("trouble", sa.Text),
    sa.Column("answers", sa.Integer),
    sa.Column("summary", sa.Text),  # what other pages show of it
    sa.Column("result", sa.LargeBinary),  # a zip file; of each kind the latest alone
)

share_link = _table(
    "share_link",
    sa.Column("id", sa.Text, primary_key=True),  # the part of the link that says which it is
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("name", sa.Text),  # whom it is for
    _needed("digest", sa.Text),
    _needed("by", sa.Text),
    _needed("created", sa.Float),
    _needed("expires", sa.Float),
    sa.Column("revoked", sa.Float),
)

webhook = _table(
    "webhook",
    sa.Column("id", sa.Text, primary_key=True),
    _needed("study_id", sa.ForeignKey("study.id")),
    _needed("url", sa.Text),
    _needed("secret", sa.Text),  # by which what is sent is signed
    _needed("events", sa.Text),  # with spaces between
    _needed("by", sa.Text),
    _needed("created", sa.Float),
    sa.Column("ended", sa.Float),
)

delivery = _table(  # what webhooks are to be told, and were
    "delivery",
    sa.Column("id", _Id, primary_key=True),
    _needed("webhook_id", sa.ForeignKey("webhook.id")),
    _needed("event", sa.Text),
    _needed("key", sa.Text),  # the same event is told once
    _needed("body", sa.Text),
    _needed("created", sa.Float),
    sa.Column("due", sa.Float),  # when it is to be tried; None once it was told, or given up
    _needed("tries", sa.Integer),
    sa.Column("status", sa.Integer),  # of the last reply
    sa.Column("trouble", sa.Text),
    sa.Column("delivered", sa.Float),
    sa.UniqueConstraint("webhook_id", "event", "key"),
)
sa.Index(None, delivery.c.due)


def make(connection: sa.Connection) -> None:
    """Make an empty database what the steps of `migrations/` lead older ones to."""
    for tables in (metadata, version.metadata):
        tables.create_all(connection)
    connection.execute(version.insert().values(version_num=REVISION))
    connection.execute(uptime.insert().values(id=1, seconds=0.0))
