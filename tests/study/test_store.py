"""The database: migrations, what is refused, what happens when it cannot be written to."""

from __future__ import annotations

import sqlite3
import threading
import time
import traceback
from concurrent.futures import CancelledError

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from similitude.study.answering import Said
from similitude.study.service import Joining
from similitude.study.site import open_site
from similitude.study.store import database as databases
from similitude.study.store import schema
from similitude.study.store.database import Clock, Database, StoreError
from similitude.study.store.uptime import Uptime
from similitude.study.store.writer import Writer
from tests.patience import PATIENCE
from tests.study.servers import write_study
from tests.study.test_service import YEAR, finish, rows, say


@pytest.fixture
def database(url):
    opened = Database(url)
    yield opened
    opened.close()


def test_the_steps_lead_to_what_a_new_database_is_made_as(url):
    assert ScriptDirectory.from_config(databases.migrations()).get_current_head() == schema.REVISION
    made = described(url)
    engine = sa.create_engine(databases._with_driver(url), poolclass=sa.NullPool)
    settings = databases.migrations()
    with engine.begin() as connection:
        emptied(connection)
        settings.attributes["connection"] = connection
        command.upgrade(settings, "head")
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
    assert described(url) == made


def emptied(connection):
    for table in [*reversed(schema.metadata.sorted_tables), schema.version]:
        table.drop(connection)


def described(url):
    """Every column, key, index and row of every table, whatever the order in which they came."""
    opened, found = Database(url), {}
    with opened.read() as connection:
        seen = sa.inspect(connection)
        for table in seen.get_table_names():
            indexes = [
                {**index, "dialect_options": {name: str(value) for name, value in index["dialect_options"].items()}}
                for index in seen.get_indexes(table)
            ]
            keys = [seen.get_pk_constraint(table), *seen.get_foreign_keys(table), *seen.get_unique_constraints(table)]
            rows = connection.execute(sa.text(f"SELECT * FROM {table}")).mappings()
            parts = (seen.get_columns(table), keys, indexes, map(dict, rows))
            found[table] = [sorted(map(repr, part)) for part in parts]
    opened.close()
    return found


def test_opening_twice_changes_nothing(database, url):
    again = Database(url)
    again.close()
    with database.read() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM alembic_version")) == 1


def test_an_older_database_is_brought_up_to_date_and_keeps_its_rows(url):
    first = sa.create_engine(databases._with_driver(url), poolclass=sa.NullPool)
    settings = databases.migrations()
    with first.begin() as connection:
        settings.attributes["connection"] = connection
        command.upgrade(settings, "0001")
        if first.dialect.name == "sqlite":
            connection.exec_driver_sql(f"PRAGMA application_id = {databases.APPLICATION}")
        connection.execute(sa.text("INSERT INTO study VALUES (1, 'old', false, 1.0)"))
        rater = "1, 1, 'r0001', 'browser0', NULL, '{}', 1.0, 1.0, NULL, NULL, 1, 1, 0, 0"
        connection.execute(sa.text(f"INSERT INTO rater VALUES ({rater})"))
        answer = "1, 1, 1, 0, 'u', 'question', 'triplet', '[]', 'answered', '[1]', 0, 5, 'even', NULL, NULL, 'v', 1, 2"
        connection.execute(sa.text(f"INSERT INTO answer VALUES ({answer})"))
    opened = Database(url)
    with opened.read() as connection:
        row = connection.execute(sa.select(schema.answer)).mappings().one()
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
    opened.close()
    assert (row["response"], row["received"], row["direction"], row["background"]) == ("[1]", 2.0, None, None)


def test_a_newer_database_is_refused(database, url):
    with database.write() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="newer similitude"):
        Database(url)


def test_a_foreign_postgresql_database_is_refused(postgresql):
    url = postgresql.fresh(1)
    engine = sa.create_engine(url.replace("postgresql", "postgresql+psycopg"), poolclass=sa.NullPool)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE answer (x int)"))
    with pytest.raises(StoreError, match="tables with our names"):
        Database(url)


def test_a_foreign_file_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE answer (x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="not one of similitude"):
        Database(f"sqlite:///{path}")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.db"]


@pytest.mark.parametrize("content", [b"hello, this is no database", b"\0" * 9000, b"SQLite format 3\0" + b"x" * 9000])
def test_what_is_no_database_is_refused_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "text.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="not a database, or damaged"):
        Database(f"sqlite:///{path}")
    assert path.read_bytes() == content


def test_a_half_written_file_is_refused(tmp_path):
    path = tmp_path / "answers.db"
    Database(f"sqlite:///{path}").close()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(StoreError, match=r"damaged|malformed"):
        Database(f"sqlite:///{path}")
    assert path.read_bytes() == whole[: len(whole) // 2]


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://x/y", "sqlite:////no/such/folder/a.db"])
def test_addresses_that_cannot_be_are_refused(url):
    with pytest.raises(StoreError, match=r"expected|cannot be opened"):
        Database(url)


def test_a_password_is_never_said():
    with pytest.raises(StoreError) as error:
        Database("postgresql://study:hunter2@127.0.0.1:1/nowhere")
    assert "hunter2" not in str(error.value)


def test_the_clock_neither_goes_back_nor_stands_still(monkeypatch):
    times, passed = iter([10.0, 12.0, 3.0, 4.0, 15.0]), iter([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0])
    monkeypatch.setattr(time, "time", lambda: next(times))
    clock = Clock(lambda: next(passed))
    assert [clock.now() for _ in range(5)] == [10.0, 12.0, 12.0, 13.0, 15.0]


@pytest.mark.parametrize(
    ("jumps", "given"),
    [
        ((0, YEAR, 0, 0, 0), (0, YEAR, YEAR, 0, 0)),  # ahead for a moment: right again within two looks
        ((0, -YEAR, 0, 0), (0, 0, 0, 0)),  # back for a moment: never followed
        ((0, -YEAR, -YEAR, -YEAR), (0, 0, -YEAR, -YEAR)),
        ((0, -30, -30, -30), (0, 0, 0, 0)),
    ],
)
def test_a_clock_that_jumps_far_is_believed_after_a_minute(monkeypatch, jumps, given):
    day, hands = [0.0], [0.0]
    monkeypatch.setattr(time, "time", lambda: 10.0 * YEAR + day[0] + hands[0])
    clock = Clock(lambda: hands[0])
    seen = []
    for jump in jumps:
        day[0] = jump
        hands[0] += 40.0
        seen.append(clock.now() - hands[0] - 10.0 * YEAR)
    assert seen == list(given)


def test_the_time_served_goes_on_from_what_is_written_and_nobody_stays_behind(database, url):
    hands = [100.0]
    first = Uptime(lambda: hands[0])
    hands[0] += 60
    with database.write() as connection:
        assert first.advance(connection) == 60
    late = Uptime(lambda: hands[0])
    with database.read() as connection:
        assert late.follow(connection) == 60, "a process that starts later goes on there"
    hands[0] += 30
    with database.write() as connection:
        assert (late.advance(connection), first.advance(connection)) == (90, 90)
    again = Database(url)
    assert again.uptime.now() >= 90
    again.close()


def test_a_database_of_the_first_schema_opens_with_all_that_it_held(url):
    at_first(url)
    database = Database(url)
    try:
        with database.read() as connection:
            assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
            raters = {row["code"]: row for row in connection.execute(sa.select(schema.rater)).mappings()}
            assert [raters[code]["origin"] for code in ("r0001", "r0002")] == ["joined", "imported"]
            assert raters["r0002"]["uid"] == "imported:r0002", "which no browser can say"
            assert connection.scalar(sa.select(schema.lease.c.expires)) == 0
            assert connection.scalar(sa.select(schema.admin.c.password)) == "hash"
    finally:
        database.close()


def at_first(url):
    """A database as the first version left it: a rater who joined and holds a question, one who was imported."""
    engine = Database(url).engine
    settings = databases.migrations()
    with engine.begin() as connection:
        emptied(connection)
        settings.attributes["connection"] = connection
        command.upgrade(settings, "0001")
        rater = "study_id, code, uid, parameters, joined, consented, finished, asked, answered, catches, catches_passed"
        lease = "rater_id, number, study_id, key, kind, shown, strategy, version, asked_at, expires, open"
        for statement in (
            "INSERT INTO study (id, name, paused, created) VALUES (1, 'words', false, 1.7e9)",
            f"INSERT INTO rater ({rater}) VALUES (1, 'r0001', 'imported-me', '{{}}', 1.7e9, 2e9, NULL, 1, 0, 0, 0)",
            f"INSERT INTO rater ({rater}) VALUES (1, 'r0002', 'imported-r0002', '{{}}', 1.7e9, 2e9, 2e9, 0, 0, 0, 0)",
            f"INSERT INTO lease ({lease}) VALUES (1, 0, 1, 7, 'question', '[]', 'random', 'v', 1.7e9, 1.8e9, true)",
            "INSERT INTO admin (name, password, created) VALUES ('ada', 'hash', 1.7e9)",
        ):
            connection.execute(sa.text(statement))
    engine.dispose()


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_locked_file_loses_nothing_and_recovers(tmp_path, monkeypatch, serve, url, take_part):
    monkeypatch.setattr(databases, "_BUSY_SECONDS", 0.2)
    service = serve("[question]\nnumber = 5")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    holder = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="keeps the database locked"):
        say(service, rater_id, 0)
    holder.execute("ROLLBACK")
    holder.close()
    assert say(service, rater_id, 0)["answered"] == 1
    assert len(rows(service, schema.answer)) == 1


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_server_that_was_idle_leaves_its_time_to_the_next(tmp_path, url):
    site, hands = open_site(write_study(tmp_path / "words"), url), [0.0]
    site.database.uptime = Uptime(lambda: hands[0])
    hands[0] += 500
    site.close()
    again = open_site(tmp_path / "words", url)
    assert again.database.uptime.now() >= 500
    again.close()


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_lock_that_is_held_loses_nothing_and_hangs_nobody(monkeypatch, serve, url, take_part):
    """Somebody else holds the lock of writers in PostgreSQL, and does not let go."""
    service = serve("[question]\nnumber = 5")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    monkeypatch.setattr(databases, "_BUSY_SECONDS", 0.2)
    with service.database.engine.connect() as holder:
        holder.execute(sa.text(f"SELECT pg_advisory_xact_lock({databases._LOCK})"))
        with pytest.raises(StoreError, match="keeps the database locked"):
            service.answer(Said(rater_id, 0, "answer1-0", "answered", (1.0,), 1200)).result(PATIENCE)
        holder.rollback()
    assert say(service, rater_id, 0)["answered"] == 1
    assert len(rows(service, schema.answer)) == 1


def test_a_fault_does_not_tell_who_a_rater_is(database):
    """Neither in its own words nor in those of the database, which are all in a log."""
    with pytest.raises(sa.exc.IntegrityError) as fault, database.write() as connection:
        connection.execute(sa.insert(schema.rater), {"study_id": None, "identity": "SECRETPERSON"})
    told = "".join(traceback.format_exception(fault.value))
    assert "IntegrityError" in told
    assert "SECRETPERSON" not in told.replace('"identity": "SECRETPERSON"', "")  # the line of this test


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_full_disk_loses_nothing_and_recovers(serve, url, take_part):
    service = serve("[question]\nnumber = 100")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    limit = "PRAGMA max_page_count = {}"

    def set_limit(pages):
        sa.event.listen(service.database.engine, "begin", lambda c: c.exec_driver_sql(limit.format(pages)))

    with service.database.read() as connection:
        full = connection.exec_driver_sql("PRAGMA page_count").scalar()
    set_limit(full)
    kept = answer_until_refused(service, rater_id)
    assert len(rows(service, schema.answer)) == kept
    with pytest.raises(StoreError, match="the disk is full; make room"):
        say(service, rater_id, kept)
    set_limit(10**6)
    assert len(finish(service, rater_id)) == 100 - kept
    assert [row["number"] for row in rows(service, schema.answer)] == list(range(100))


def answer_until_refused(service, rater_id):
    for number in range(100):
        try:
            say(service, rater_id, number)
        except StoreError:
            return number
    return 100


def test_one_bad_request_does_not_fail_its_neighbours(database):
    writer = Writer(database)
    gate, inside = threading.Event(), threading.Event()

    def wait(connection, requests):
        inside.set()
        gate.wait(PATIENCE)
        return requests

    def batch(connection, requests):
        if "bad" in requests:
            raise RuntimeError("a fault in the code")
        now = database.clock.now()
        connection.execute(sa.insert(schema.study), [{"name": n, "paused": False, "created": now} for n in requests])
        return requests

    first = writer.submit(wait, 0)
    inside.wait(PATIENCE)
    futures = [writer.submit(batch, name) for name in ("a", "bad", "b")]
    cancelled = writer.submit(batch, "never")
    assert cancelled.cancel()
    gate.set()
    assert first.result() == 0
    assert [futures[k].result() for k in (0, 2)] == ["a", "b"]
    with pytest.raises(RuntimeError, match="a fault in the code"):
        futures[1].result()
    with pytest.raises(CancelledError):
        cancelled.result()
    writer.close()
    with pytest.raises(StoreError, match="stopping"):
        writer.submit(batch, "late").result()
    writer.close()
    with database.read() as connection:
        assert set(connection.scalars(sa.select(schema.study.c.name))) == {"a", "b"}


def test_nobody_is_told_before_the_commit(serve, take_part, monkeypatch):
    """A commit that fails takes the whole batch with it, and everybody hears of it."""
    service = serve("[question]\nnumber = 5")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    whole = sa.engine.default.DefaultDialect.do_commit

    def fails(dialect, connection):
        raise sa.exc.OperationalError("COMMIT", {}, Exception("database or disk is full"))

    monkeypatch.setattr(type(service.database.engine.dialect), "do_commit", fails)
    with pytest.raises(StoreError, match="disk is full"):
        say(service, rater_id, 0)
    monkeypatch.setattr(type(service.database.engine.dialect), "do_commit", whole)
    assert rows(service, schema.answer) == []
    assert say(service, rater_id, 0)["answered"] == 1


def test_postgresql_that_goes_away_comes_back(postgresql, tmp_path, take_part):
    from similitude.study.site import open_site
    from tests.study.servers import write_study

    site = open_site(write_study(tmp_path / "words", "[question]\nnumber = 5"), postgresql.fresh(1))
    service = site.studies["words"]
    try:
        rater_id = take_part(service)
        service.questions(rater_id).result()
        with service.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(
                sa.text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
        assert say(service, rater_id, 0)["answered"] == 1
        assert service.answer(Said(rater_id, 1, "answer-1", "answered", [1.0])).result()["answered"] == 2
        assert service.join(Joining("browser7")).result()
    finally:
        site.close()
