"""kill -9 under load: whatever was acknowledged is in the log, once."""

from __future__ import annotations

import json
from collections import Counter

import pytest
import sqlalchemy as sa
from benchmarks.study_server import Server, answer_while_killed

from similitude.demo import colour_positions
from similitude.study.asking import key_of
from similitude.study.maintenance.rebuild import rebuild
from similitude.study.settings import read_study
from similitude.study.simulate import Behaviour, simulate_study
from similitude.study.store import schema
from similitude.study.store.database import Database
from tests.study.servers import write_study
from tests.study.test_service import FORMS

pytestmark = pytest.mark.slow  # a process for each test


@pytest.mark.parametrize("url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.whole)], indirect=True)
def test_what_was_acknowledged_survives_kills(tmp_path, url):
    root = write_study(tmp_path / "words", "[question]\nnumber = 60")
    told = answer_while_killed(root, url, "words", kills=3, raters=20, seconds=0.3)
    assert told.kills == 3
    assert told.broken > 0
    assert len(told.kept) > 50
    database = Database(url)
    try:
        with database.read() as connection:
            answer, rater = schema.answer, schema.rater
            query = sa.select(rater.c.code, answer.c.number, answer.c.uid, answer.c.form, answer.c.shown).join(
                rater, rater.c.id == answer.c.rater_id
            )
            log = connection.execute(query).all()
            open_leases = connection.execute(
                sa.select(schema.lease.c.rater_id, sa.func.count()).where(schema.lease.c.open).group_by("rater_id")
            ).all()
        count = Counter((row.code, row.number, row.uid) for row in log)
        assert not [one for one in told.kept if count[one] != 1]
        assert max(count.values()) == 1
        assert len({(row.code, row.number) for row in log}) == len(log)
        keys = Counter((row.code, key_of(row.form, json.loads(row.shown))) for row in log)
        assert max(keys.values()) == 1
        assert all(held <= read_study(root).choose.ahead for _, held in open_leases)
        assert rebuild(database) == 0
    finally:
        database.close()


@pytest.mark.parametrize("form", FORMS)
def test_simulated_raters_answer_every_form(tmp_path, form, server_of_all_forms):
    url, database = server_of_all_forms
    name = form.replace("_", "-")
    done = simulate_study(f"{url}/{name}", 4, Behaviour(clickers=0.3, cant_tell=0.2), colours=colour_positions)
    assert (done.finished, done.failed, done.answers) == (4, 0, 20)
    assert "4 of 4 raters finished; 20 answers" in str(done)
    again = simulate_study(f"{url}/{name}", 4, Behaviour(), colours=colour_positions)
    assert (again.finished, again.answers) == (4, 0)
    assert "another --seed" in str(again)
    with database.read() as connection:
        answers = connection.execute(sa.select(schema.answer).where(schema.answer.c.form == form)).mappings().all()
    assert len(answers) == 20
    assert {row["outcome"] for row in answers} == {"answered", "cant_tell"}


@pytest.fixture(scope="module")
def server_of_all_forms(tmp_path_factory):
    root = tmp_path_factory.mktemp("studies")
    field = "[[survey.fields]]\nname = 'age'\nlabel = 'Age'\nkind = 'number'\nrequired = true"
    for form, (_, more, _) in FORMS.items():
        write_study(root / form.replace("_", "-"), f"[question]\nform = '{form}'\nnumber = 5\n{more}\n{field}")
    database_url = f"sqlite:///{root / 'answers.db'}"
    server = Server(root, database_url).wait()
    database = Database(database_url)
    yield f"http://127.0.0.1:{server.port}", database
    database.close()
    server.kill()


def test_simulated_raters_see_what_they_are_told_to_see(server_of_all_forms):
    """Sharp raters with a known truth agree with it; clickers do not."""
    url, database = server_of_all_forms
    truth = {f"w{k:02d}": (float(k), 0.0) for k in range(12)}
    share = {}
    for seed, behaviour in ((1, Behaviour(sharpness=50.0)), (2, Behaviour(clickers=1.0))):
        simulate_study(f"{url}/triplet", 12, behaviour, truth=truth, seed=seed)
        with database.read() as connection:
            query = (
                sa.select(schema.answer.c.shown, schema.answer.c.response)
                .join(schema.rater)
                .where(schema.rater.c.uid.like(f"rehearsal of:simulated-{seed}-%"))
            )
            answers = [(json.loads(shown), json.loads(said)) for shown, said in connection.execute(query)]
        right = [
            abs(truth[shown[0]][0] - truth[shown[int(said[0])]][0])
            <= abs(truth[shown[0]][0] - truth[shown[3 - int(said[0])]][0])
            for shown, said in answers
        ]
        share[seed] = sum(right) / len(right)
    assert share[1] == 1.0
    assert 0.3 < share[2] < 0.75


def test_a_link_that_cannot_be_is_refused():
    for url in ("faces", "ftp://x/y", "http://127.0.0.1:8000/", "http:///faces"):
        with pytest.raises(ValueError, match="expected a link such as"):
            simulate_study(url, 1)
