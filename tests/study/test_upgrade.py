"""A study goes on after an upgrade from the first release: stored files of both databases, opened by today's code."""

import gzip
import json
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from alembic.script import ScriptDirectory

from similitude.study.maintenance.export import export_answers
from similitude.study.service import Said
from similitude.study.store import schema
from similitude.study.store.database import Database, migrations
from similitude.study.tokens import ApiTokens
from similitude.study.web.auth import Door
from tests.study.live import NAMES, open_study, worker_of, write_study
from tests.study.old.make import PASSWORD

OLD = Path(__file__).parent / "old"


@pytest.fixture
def old(url, tmp_path):
    """A database as the first release left it."""
    if url.startswith("sqlite"):
        (tmp_path / "answers.db").write_bytes(gzip.decompress((OLD / "0.1.0.db.gz").read_bytes()))
    else:
        dump = gzip.decompress((OLD / "0.1.0.sql.gz").read_bytes()).decode()
        script = "\n".join(line for line in dump.splitlines() if not line.startswith("\\"))  # words for psql
        with psycopg.connect(url.replace("postgresql+psycopg", "postgresql"), autocommit=True) as connection:
            connection.execute(script.encode())
    return url


def test_the_stored_files_are_of_the_first_release(old):
    engine = sa.create_engine(old.replace("postgresql:", "postgresql+psycopg:"), poolclass=sa.NullPool)
    with engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT version_num FROM alembic_version")) == "0004_open_leases"
        assert connection.scalar(sa.text("SELECT count(*) FROM answer")) == 43


def test_a_study_goes_on_after_the_upgrade(old, tmp_path):
    site, service = open_study(write_study(tmp_path / "colours"), old)
    try:
        with site.database.read() as connection:
            heads = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
            rows = connection.execute(sa.select(schema.rater).order_by(schema.rater.c.id)).mappings().all()
        assert heads == ScriptDirectory.from_config(migrations()).get_current_head()
        assert [(row["identity"], row["answered"]) for row in rows[:4]] == [(f"person{k}", 10) for k in range(4)]
        held = service.questions(rows[0]["id"]).result()
        assert held["answered"] == 10
        said = Said(rows[0]["id"], held["questions"][0]["number"], "after-the-upgrade", "answered", [1], 900)
        assert service.answer(said).result()["answered"] == 11
        assert export_answers(site.database, "colours", tmp_path / "answers.jsonl").answers == 41
        worker_of(service).step()
        with site.database.read() as connection:
            learned = connection.execute(sa.select(schema.model.c.similarity, schema.model.c.findings)).one()
        assert learned.similarity is not None
        assert json.loads(learned.findings)["map"]
    finally:
        site.close()


def test_people_passwords_and_what_was_erased_are_as_they_were(old):
    database = Database(old)
    try:
        door = Door(database)
        assert door.log_in("ada", PASSWORD) is not None
        with database.read() as connection:
            assert connection.scalar(sa.select(sa.func.count()).select_from(schema.tombstone)) >= 1
            assert connection.scalars(sa.select(schema.invitation.c.identity)).all() == ["later"]
            number = connection.scalar(sa.select(schema.study.c.id))
            items = json.loads(connection.scalar(sa.select(schema.study_version.c["items"])))
        assert items == NAMES
        token = ApiTokens(database).make(number, "a lab", ["ask"], "ada")
        assert ApiTokens(database).find(number, token) is not None
    finally:
        database.close()
