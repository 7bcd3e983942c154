"""Several servers on one PostgreSQL: raters go to any of them, and one model process among all learns."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections import Counter

import pytest
import sqlalchemy as sa
from benchmarks.study_server import Server, Told, answer_until

from similitude.study.client import Address
from similitude.study.simulate import Behaviour, simulate_study
from similitude.study.store import schema
from similitude.study.store.database import Database
from tests.patience import PATIENCE, until
from tests.study.servers import write_study

pytestmark = pytest.mark.slow  # a process for each test

TRUTH = {f"w{k:02d}": (float(k % 4), float(k // 4)) for k in range(12)}
SETTINGS = "[question]\nnumber = 20\n[choose]\npool = 20\nrefit_every = 50\nrandom_share = 0.2"


@pytest.fixture
def address(postgresql):
    """Of the database that all servers share."""
    return postgresql.fresh()


@pytest.fixture
def start(tmp_path, address):
    """Start another server of the study, with a model process; killed at the end."""
    root = write_study(tmp_path / "words", SETTINGS)
    with contextlib.ExitStack() as stack:

        def start_server(port=None):
            server = Server(root, address, port, model=True)
            stack.callback(server.kill)
            return server.wait()

        yield start_server


@pytest.fixture
def servers(start):
    """Two servers, by their process."""
    return {server.process.pid: server for server in (start(), start())}


@pytest.fixture
def database(address, servers):
    """The database, once the servers have made its tables."""
    with contextlib.closing(Database(address)) as database:
        yield database


def ask(server, raters, seed):
    """Simulated raters answer all their questions at one server."""
    link = f"http://127.0.0.1:{server.port}/s/words/"
    return simulate_study(link, raters, Behaviour(sharpness=5.0), truth=TRUTH, seed=seed, rehearsal=False)


def model_row(database, holds=lambda _row, _newest: True):
    """The row of the model, where it is as it should be beside the number of the newest answer."""
    with database.read() as connection:
        row = connection.execute(sa.select(schema.model)).mappings().one_or_none()
        newest = connection.scalar(sa.select(sa.func.max(schema.answer.c.id)))
    return row if row is not None and holds(row, newest) else None


def wait_for(database, holds):
    """The row of the model once it is as it should be."""

    def stayed():
        row = model_row(database)
        return f"the model's row stayed {row and dict(row) | {'similarity': '', 'findings': ''}}"

    return until(lambda: model_row(database, holds), stayed, every=0.2)


def keeper(row):
    """The process whose model process has the study."""
    return int(row["worker"].split()[1])


@pytest.mark.whole  # the next kills the one that was elected
def test_one_model_process_is_elected_and_another_takes_over(servers, database):
    for seed, server in enumerate(servers.values()):
        assert ask(server, 4, seed).answers == 80
    row = wait_for(database, lambda row, newest: row["version"] > 0 and row["last_answer"] == newest)
    first = servers.pop(keeper(row))
    first.process.send_signal(signal.SIGTERM)
    assert first.process.wait(PATIENCE) == 0
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


@contextlib.contextmanager
def raters_who_go_on(servers, raters):
    """Raters at each server who answer all the while, and send again what was not acknowledged."""
    told, loop, stop = Told(), asyncio.new_event_loop(), asyncio.Event()
    places = [Address(f"http://127.0.0.1:{server.port}/words") for server in servers for _ in range(raters)]
    jobs = [loop.create_task(answer_until(stop, place, number, told)) for number, place in enumerate(places)]
    thread = threading.Thread(target=loop.run_until_complete, args=(asyncio.wait(jobs),))
    thread.start()
    try:
        yield told
        loop.call_soon_threadsafe(stop.set)  # they end when what they sent last was acknowledged
        thread.join(PATIENCE)
        assert all(job.done() and job.exception() is None for job in jobs)
    finally:
        for job in jobs:
            loop.call_soon_threadsafe(job.cancel)
        thread.join()
        loop.run_until_complete(asyncio.sleep(0))  # connections that were let go are closed
        loop.close()


def wait_for_answers(told, more):
    """Until so many more answers were acknowledged."""
    enough = len(told.kept) + more
    until(lambda: len(told.kept) >= enough, lambda: f"{len(told.kept)} answers acknowledged, expected {enough}")


@pytest.mark.parametrize("dies", [pytest.param("server", marks=pytest.mark.whole), "server and model process"])
def test_kill_9_of_the_server_that_has_the_model(start, servers, database, dies):
    ask(next(iter(servers.values())), 4, seed=0)
    row = wait_for(database, lambda row, newest: row["version"] > 0 and row["last_answer"] == newest)
    first = servers[keeper(row)]
    (second,) = (pid for pid in servers if pid != keeper(row))
    with raters_who_go_on(servers.values(), raters=2) as told:
        wait_for_answers(told, 20)
        if dies == "server and model process":  # it cannot let go: only the heartbeat tells
            os.kill(first.model_process, signal.SIGKILL)
        first.kill()
        broken = told.broken
        wait_for(database, lambda row, _: row["worker"] and keeper(row) == second)
        start(first.port)
        wait_for_answers(told, 40)
    assert told.broken > broken
    after = wait_for(database, lambda row, newest: row["last_answer"] == newest)
    assert keeper(after) == second
    assert after["version"] >= row["version"]
    assert_all_kept_once(database, told)


@pytest.mark.whole
def test_kill_9_of_the_model_process_alone(servers, database):
    for seed, server in enumerate(servers.values()):
        ask(server, 2, seed)
    row = wait_for(database, lambda row, newest: row["version"] > 0 and row["last_answer"] == newest)
    first = servers[keeper(row)]
    killed = first.model_process
    with raters_who_go_on(servers.values(), raters=2) as told:
        os.kill(killed, signal.SIGKILL)
        wait_for(database, lambda now, _: now["last_answer"] > row["last_answer"])
        wait_for_answers(told, 40)
    assert told.broken == 0
    after = wait_for(database, lambda row, newest: row["last_answer"] == newest)
    assert keeper(after) in servers
    assert after["version"] >= row["version"]
    assert first.model_process not in (None, killed)
    assert_all_kept_once(database, told)


def assert_all_kept_once(database, told):
    """Every answer that was acknowledged is in the log, once."""
    answer, rater = schema.answer, schema.rater
    query = sa.select(rater.c.code, answer.c.number, answer.c.uid).join(rater, rater.c.id == answer.c.rater_id)
    with database.read() as connection:
        log = Counter(tuple(row) for row in connection.execute(query))
    assert [kept for kept in told.kept if log[kept] != 1] == []
    assert len(told.kept) == len(set(told.kept))
    assert max(log.values()) == 1
