"""Quotas are met exactly while people leave and come back, and two servers and their database are killed."""

import contextlib

import pytest
from benchmarks.study_places import as_kept, design, fill_while_killed

from similitude.study.maintenance.rebuild import rebuild
from similitude.study.store.database import Database
from tests.study.servers import postgresql_or_skip, write_study

pytestmark = pytest.mark.slow  # three processes, each killed


def test_quotas_are_met_exactly_while_servers_and_database_are_killed(tmp_path):
    root = write_study(tmp_path / "words", design(people=20, number=3, minutes=0.02))
    postgresql = postgresql_or_skip()  # one of its own, since it is killed
    try:
        told, _ = fill_while_killed(root, postgresql, 20, at_once=12, kills=2, away=1.5)
        with contextlib.closing(Database(postgresql.url)) as database:
            finished, places, log = as_kept(database)
            assert rebuild(database) == 0
    finally:
        postgresql.stop()
    assert finished == places == {"plain": 8, "colour": 7, "few": 5}
    assert len(told.finished) == 20
    assert told.kills == 2
    assert told.broken > 0
    assert [one for one in told.kept if log[one] != 1] == []
    assert max(log.values()) == 1
