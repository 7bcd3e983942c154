"""Several servers on one PostgreSQL: raters go to any of them, and one model process among all learns."""

from __future__ import annotations

import contextlib
import signal
import time

import sqlalchemy as sa
from benchmarks.study_server import Server

from similitude.study.simulate import Behaviour, simulate_study
from similitude.study.store import schema
from similitude.study.store.database import Database
from tests.study.servers import write_study

TRUTH = {f"w{k:02d}": (float(k % 4), float(k // 4)) for k in range(12)}
SETTINGS = "[question]\nnumber = 20\n[choose]\npool = 20\nrefit_every = 50\nrandom_share = 0.2"


def ask(server, raters, seed):
    """Simulated raters answer all their questions at one server."""
    link = f"http://127.0.0.1:{server.port}/s/words/"
    return simulate_study(link, raters, Behaviour(sharpness=5.0), truth=TRUTH, seed=seed)


def wait_for(database, holds):
    """The row of the model once it is as it should be."""
    for _ in range(600):
        with database.read() as connection:
            row = connection.execute(sa.select(schema.model)).mappings().one_or_none()
            newest = connection.scalar(sa.select(sa.func.max(schema.answer.c.id)))
        if row is not None and holds(row, newest):
            return row
        time.sleep(0.2)
    raise AssertionError(f"the model's row stayed {row and dict(row) | {'similarity': '', 'findings': ''}}")


def keeper(row):
    """The process whose model process has the study."""
    return int(row["worker"].split()[1])


def test_one_model_process_is_elected_and_another_takes_over(tmp_path, postgresql):
    url = postgresql.fresh()
    root = write_study(tmp_path / "words", SETTINGS)
    with contextlib.ExitStack() as stack:
        servers = {}
        for _ in range(2):
            server = Server(root, url, model=True).wait()
            stack.callback(server.kill)
            servers[server.process.pid] = server
        database = stack.enter_context(contextlib.closing(Database(url)))
        for seed, server in enumerate(servers.values()):
            assert ask(server, 4, seed).answers == 80
        row = wait_for(database, lambda row, newest: row["version"] > 0 and row["last_answer"] == newest)
        first = servers.pop(keeper(row))
        first.process.send_signal(signal.SIGTERM)
        assert first.process.wait(30) == 0
        ((pid, second),) = servers.items()
        row = wait_for(database, lambda row, _: row["worker"] and keeper(row) == pid)
        assert ask(second, 4, seed=2).answers == 80
        after = wait_for(database, lambda row, newest: row["last_answer"] == newest)
        assert keeper(after) == pid
        assert after["version"] >= row["version"]
        with database.read() as connection:
            strategies = set(connection.scalars(sa.select(schema.answer.c.strategy)))
            codes = connection.execute(sa.select(schema.rater.c.code)).scalars().all()
            answers = connection.scalar(sa.select(sa.func.count()).select_from(schema.answer))
    assert "information_gain" in strategies
    assert len(set(codes)) == len(codes) == 12
    assert answers == 240
