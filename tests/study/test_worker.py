"""The model process, round by round and as a process: it may die at any time, and the study goes on."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import sqlalchemy as sa

from similitude.methods.similarity import Similarity
from similitude.study import loop
from similitude.study.asking import key_of
from similitude.study.election import PATIENCE, Holding, Lost, Pulse
from similitude.study.learner import Learner
from similitude.study.log import comparisons_of, read_log
from similitude.study.loop import Pace
from similitude.study.service import Said
from similitude.study.site import open_site
from similitude.study.store import schema
from similitude.study.supervise import Supervisor
from similitude.study.web.watch import Watch
from similitude.study.worker import QUIET, StudyWorker
from tests.patience import until
from tests.study.live import NAMES, answer, fill, join, open_study, worker_of, write_study
from tests.systems import unix_only

pytestmark = pytest.mark.slow  # fits and processes


@pytest.fixture
def study(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours"))
    yield service
    site.close()


def all_of(service, table):
    with service.database.read() as connection:
        query = sa.select(table).where(table.c.study_id == service.study_id)
        return [dict(row) for row in connection.execute(query).mappings()]


def model(service):
    return all_of(service, schema.model)[0]


def keys(rows):
    return {key_of("triplet", json.loads(row["shown"])) for row in rows}


def test_too_few_answers_leave_the_pool_empty_and_say_so(study):
    worker = worker_of(study)
    assert worker.step()
    assert "a first model needs 12 comparisons" in model(study)["trouble"]
    fill(study, 1, 5)
    worker.step()
    assert "the 5 answers so far give 5" in model(study)["trouble"]
    assert all_of(study, schema.pool) == []
    assert {row["strategy"] for row in all_of(study, schema.answer)} <= {"random", "fallback"}


def test_a_model_fills_the_pool_and_its_questions_are_asked(study):
    worker = worker_of(study)
    fill(study, 2, 40)
    worker.step()
    found = model(study)
    assert found["trouble"] is None
    assert found["version"] == 1
    assert found["last_answer"] == max(row["id"] for row in all_of(study, schema.answer))
    assert len(all_of(study, schema.pool)) == 20
    assert Similarity.from_bytes(found["similarity"]).names == tuple(NAMES)
    rater = join(study)
    answer(study, rater, 10, np.random.default_rng(1))
    asked = [row for row in all_of(study, schema.answer) if row["rater_id"] == rater]
    assert {"information_gain"} <= {row["strategy"] for row in asked}
    assert {row["model"] for row in asked if row["strategy"] == "information_gain"} == {1}
    assert len(all_of(study, schema.pool)) < 20


def test_the_pool_holds_nothing_that_was_asked_or_is_held(study):
    worker = worker_of(study)
    fill(study, 3, 25)
    for _ in range(3):
        study.questions(join(study)).result()
    worker.step()
    held = [row for row in all_of(study, schema.lease) if row["open"]]
    chosen = [row for row in all_of(study, schema.pool) if row["strategy"] != "repeat"]
    assert len(held) == 6 * study.study.choose.ahead
    assert keys(chosen).isdisjoint(keys(all_of(study, schema.answer)))
    assert keys(all_of(study, schema.pool)).isdisjoint(keys(held))
    assert len(keys(chosen)) == len(chosen)


@pytest.mark.parametrize(
    ("form", "more", "shows", "picks"),
    [
        ("odd_one_out", "", 3, 1),
        ("choice", "grid_size = 4\npick = 2", 5, 2),
        ("quadruplet", "", 4, None),
        ("most_central", "", 3, 1),
        ("ranking", "grid_size = 4\npick = 2", 5, None),
        ("best_worst", "grid_size = 4", 5, None),
    ],
)
def test_every_form_that_can_be_chosen_is_by_what_its_answer_tells(tmp_path, form, more, shows, picks):
    site, service = open_study(write_study(tmp_path / "colours", form, more))
    fill(service, 2, 20)
    worker = worker_of(service)
    worker.step()
    chosen_by = worker.learner._chooser(service.study.parts[0], [], repeat=False)._strategies["information_gain"]
    assert (chosen_by.picks, chosen_by.whole is not None) == (picks, picks is not None)
    pool = all_of(service, schema.pool)
    assert len(pool) == 20
    assert {len(set(json.loads(row["shown"]))) for row in pool} == {shows}
    fill(service, 1, 8, seed=1)
    assert len(all_of(service, schema.pool)) < 20
    site.close()


def test_what_is_laid_out_next_is_what_least_is_known_of(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours", "placement", "grid_size = 4"))
    fill(service, 2, 10)
    worker = worker_of(service)
    worker.step()
    assert model(service)["similarity"] is not None
    pool = all_of(service, schema.pool)
    assert {row["strategy"] for row in pool} <= {"weakest_evidence", "repeat"}
    assert {len(set(json.loads(row["shown"]))) for row in pool} == {4}
    fill(service, 2, 8, seed=1)
    chosen = [row for row in all_of(service, schema.answer) if row["strategy"] == "weakest_evidence"]
    assert chosen
    before = worker.learner.fitted_at
    worker.step()
    assert worker.learner.fitted_at > before
    site.close()


def test_answers_are_learned_before_the_next_fit(study):
    worker = worker_of(study)
    fill(study, 2, 40)
    worker.step()
    before = worker.learner.similarity.embedding.copy()
    fill(study, 1, 8, seed=5)
    worker.step()
    assert model(study)["version"] == 1
    assert worker.learner.n_answers == 88
    assert np.abs(worker.learner.similarity.embedding - before).max() > 1e-4
    assert model(study)["last_answer"] == max(row["id"] for row in all_of(study, schema.answer))


def test_a_fit_replaces_the_pool(study):
    worker = worker_of(study)
    fill(study, 2, 40)
    worker.step()
    old = {row["id"]: row["model"] for row in all_of(study, schema.pool)}
    fill(study, 2, 30, seed=3)
    worker.step()
    new = all_of(study, schema.pool)
    assert model(study)["version"] == 2
    assert {row["model"] for row in new} == {2}
    assert set(old.values()) == {1}


def test_the_curve_grows_and_its_tests_are_evenly_drawn(study):
    worker = worker_of(study)
    for seed in range(4):
        fill(study, 2, 40, seed=seed)
        worker.step()
    curve = all_of(study, schema.curve)
    measured = [point["answers"] for point in curve if point["answers"] % 80 == 0]
    assert measured == [80, 160, 240, 320]
    assert curve[-1]["answers"] == 320
    even = sum(row["strategy"] in ("random", "fallback") for row in all_of(study, schema.answer))
    assert curve[-1]["tested"] == even
    assert all(point["low"] < point["accuracy"] < point["high"] for point in curve)
    assert curve[-1]["accuracy"] > 0.8


def test_findings_are_fit_for_json_and_flag_who_says_the_contrary(study):
    worker = worker_of(study)
    fill(study, 6, 40)
    fill(study, 1, 40, seed=9, contrary=True)
    worker.step()
    found = json.loads(model(study)["findings"])
    flagged = [rater["names"] for rater in found["raters"] if rater["odd"]]
    assert "r0007" in flagged
    assert len(flagged) <= 2  # in one of forty studies somebody else is taken for such a one, too
    assert sorted(found["map"]["names"]) == NAMES
    assert sorted(item["name"] for item in found["items"]) == NAMES
    unsure = [item["unsure"] for item in found["items"]]
    assert unsure == sorted(unsure, reverse=True)
    assert 0.5 <= found["ceiling"]["value"] <= 1


def test_the_map_does_not_turn_between_fits(study):
    worker = worker_of(study)
    fill(study, 4, 40)
    worker.step()
    first = np.array(json.loads(model(study)["findings"])["map"]["places"])
    fill(study, 4, 40, seed=2)
    worker.step()
    second = np.array(json.loads(model(study)["findings"])["map"]["places"])
    assert np.corrcoef(first.ravel(), second.ravel())[0, 1] > 0.8


def test_a_restart_goes_on_from_the_log(study):
    fill(study, 2, 40)
    worker_of(study, "one").step()
    again = worker_of(study, "one")
    assert again.step()
    assert model(study)["version"] == 2
    assert again.learner.n_answers == 80
    with study.database.read() as connection:
        answers, *_ = read_log(connection, study.study_id, study.names)
    straight = Learner(study.study, study.names)
    straight.learn(answers)
    straight.refit()
    c = comparisons_of(answers, study.names)
    assert again.learner.similarity.score(c) == pytest.approx(straight.similarity.score(c), abs=0.03)


def test_a_damaged_model_is_learned_anew(study):
    fill(study, 2, 40)
    worker_of(study).step()
    with study.database.write() as connection:
        connection.execute(sa.update(schema.model).values(similarity=b"no model"))
    worker_of(study).step()
    assert Similarity.from_bytes(model(study)["similarity"]).n_items == 12


def test_a_redaction_is_forgotten(study):
    worker = worker_of(study)
    raters = fill(study, 3, 30)
    worker.step()
    with study.database.write() as connection:
        gone = schema.answer.c.rater_id == raters[0]
        connection.execute(sa.update(schema.answer).where(gone).values(outcome="redacted", response=None))
        row = {"study_id": study.study_id, "code": "r0001", "answers": 30, "backups": "[]", "at": 0.0}
        connection.execute(sa.insert(schema.redaction), row)
    worker.step()
    assert worker.learner.n_answers == 60
    assert "r0001" not in model(study)["findings"]


def test_when_the_worker_is_gone_random_questions_go_on_and_say_so(study):
    fill(study, 2, 40)
    worker_of(study).step()
    fill(study, 4, 40, seed=1)  # nobody fills the pool any more
    late = all_of(study, schema.answer)[-40:]
    assert all_of(study, schema.pool) == []
    assert {row["strategy"] for row in late} == {"random", "fallback"}
    worker_of(study).step()
    assert len(all_of(study, schema.pool)) == 20


def test_two_questions_alike_are_repeats_of_evenly_drawn_ones(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours", choose="pool = 40\nrepeat_share = 0.5"))
    fill(service, 2, 40)
    worker_of(service).step()
    again = [row for row in all_of(service, schema.pool) if row["strategy"] == "repeat"]
    assert 8 <= len(again) <= 32
    assert keys(again) <= keys(all_of(service, schema.answer))
    site.close()


def test_all_questions_asked_are_asked_again(tmp_path):
    folder = write_study(tmp_path / "colours", "odd_one_out", choose="pool = 30", number=35)
    table = (folder / "colours.csv").read_text(encoding="utf-8").splitlines()[:8]
    (folder / "colours.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
    site, service = open_study(folder)  # 7 items: 35 questions
    fill(service, 2, 35)
    worker_of(service).step()
    assert len(all_of(service, schema.pool)) > 10
    site.close()


@pytest.mark.parametrize(
    ("form", "more"),
    [
        ("similarity_rating", ""),
        ("attribute", "grid_size = 4\nlow = 'dark'\nhigh = 'light'"),
        ("grouping", "grid_size = 6"),
    ],
)
def test_forms_that_are_not_chosen_still_have_a_model(tmp_path, form, more):
    site, service = open_study(write_study(tmp_path / "colours", form, more))
    fill(service, 6, 30)
    worker_of(service).step()
    assert model(service)["similarity"] is not None
    assert all_of(service, schema.pool) == []
    assert all_of(service, schema.curve)[-1]["answers"] == 180
    site.close()


def test_links_of_one_kind_are_trouble_in_words(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours", "same_different"))
    rater = join(service)
    service.questions(rater).result()
    service.answer(Said(rater, 0, "answer-of-one", "answered", [1])).result()
    worker_of(service).step()
    assert "similar and dissimilar" in model(service)["trouble"]
    site.close()


# --- one worker among several servers ---


class Hands:
    """A clock that is moved by hand."""

    def __init__(self):
        self.at = 0.0

    def __call__(self):
        return self.at


def test_a_second_worker_waits_and_takes_over_when_the_first_is_silent(study):
    hands = Hands()
    first, second = worker_of(study, "one"), worker_of(study, "two", monotonic=hands)
    assert first.step()
    assert not second.step()
    hands.at += PATIENCE / 2
    with first._holding.write():
        pass
    assert not second.step()
    hands.at += PATIENCE / 2
    assert not second.step(), "the first one moved in between"
    hands.at += PATIENCE
    assert second.step()
    assert model(study)["worker"] == "two"
    fill(study, 1, 5)
    assert not first.step(), "who lost the study sees it"
    with pytest.raises(Lost, match="no longer keeps"), first._holding.write():
        pass


def test_when_answers_cease_the_figures_are_of_all_of_them(study):
    hands = Hands()
    worker = worker_of(study, monotonic=hands)
    fill(study, 2, 40)
    worker.step()
    fill(study, 1, 5, seed=3)
    worker.step()
    hands.at += QUIET / 2
    fill(study, 1, 1, seed=4)
    worker.step()
    hands.at += QUIET / 2
    worker.step()
    assert json.loads(model(study)["findings"])["learned"] == 80, "it is not due, and somebody may still be at it"
    hands.at += QUIET
    worker.step()
    assert json.loads(model(study)["findings"])["learned"] == 86
    assert all_of(study, schema.curve)[-1]["answers"] == 86
    version = model(study)["version"]
    hands.at += 10 * QUIET
    worker.step()
    assert model(study)["version"] == version, "nothing came since"


def test_a_trickle_of_answers_costs_a_share_of_the_time(study, monkeypatch):
    hands = Hands()
    worker = worker_of(study, monotonic=hands)
    look = worker._look
    monkeypatch.setattr(worker, "_look", lambda *given: (look(*given), setattr(hands, "at", hands.at + 60)))
    fill(study, 2, 40)
    worker.step()
    fill(study, 1, 1, seed=4)
    worker.step()
    hands.at += 10 * 60
    worker.step()
    assert model(study)["version"] == 1
    hands.at += 10 * 60
    worker.step()
    assert model(study)["version"] == 2


def test_a_clock_that_goes_backwards_neither_stops_nor_steals(study, monkeypatch):
    hands = Hands()
    first, second = worker_of(study, "one"), worker_of(study, "two", monotonic=hands)
    first.step()
    monkeypatch.setattr(study.database.clock, "now", lambda: 1000.0)
    before = model(study)["heartbeat"]
    with first._holding.write():
        pass
    assert model(study)["heartbeat"] > before
    assert not second.step()
    hands.at += PATIENCE
    assert second.step(), "the first is silent by the second's own clock, whatever the time of day"


def test_who_leaves_in_peace_is_followed_at_once(study):
    first, second = worker_of(study, "one"), worker_of(study, "two")
    first.step()
    assert not second.step()
    first.release()
    assert second.step()


def test_rounds_are_a_sign_of_life_through_long_fits_and_rests_but_not_for_ever():
    hands = Hands()
    pace = Pace(hands)
    hands.at += 1800.0
    assert pace.is_kept, "a long fit"
    pace.move_on(rest=4000.0)
    hands.at += 4000.0
    assert pace.is_kept, "the rest after it"
    pace.move_on()
    hands.at += 3700.0
    assert not pace.is_kept, "a fit that never ends"


def test_all_studies_of_a_process_live_while_one_is_fitted(tmp_path, monkeypatch):
    """A fit of one study that does not end, and no other study is called dead meanwhile."""
    for name in ("first", "second"):
        write_study(tmp_path / name)
    with contextlib.closing(open_site(tmp_path)) as site:
        services = list(site.studies.values())
        began, go_on, stop = threading.Event(), threading.Event(), threading.Event()
        step = StudyWorker._round

        def slow(worker):
            step(worker)
            if worker.study.name == "second":
                began.set()
                go_on.wait(60)

        monkeypatch.setattr(StudyWorker, "_round", slow)
        beat = loop._beat
        monkeypatch.setattr(loop, "_beat", lambda *told: beat(*told, every=0.02))
        url = site.database.url.render_as_string(hide_password=False)
        process = threading.Thread(target=loop.tend, args=(tmp_path, url, "one", stop))
        process.start()
        assert began.wait(60)
        assert {Watch(service).look()["now"]["model"]["state"] for service in services} == {"waiting"}
        before = [beat_of(service) for service in services]
        end = time.monotonic() + 60
        while time.monotonic() < end and any(
            beat_of(service) == was for service, was in zip(services, before, strict=True)
        ):
            time.sleep(0.01)
        assert all(beat_of(service) > was for service, was in zip(services, before, strict=True))
        stop.set()
        go_on.set()
        process.join(60)
        assert not process.is_alive()


def beat_of(service):
    with service.database.read() as connection:
        here = schema.model.c.study_id == service.study_id
        return connection.scalar(sa.select(schema.model.c.heartbeat).where(here))


def test_nobody_takes_what_another_took_first(study):
    one, two = (Holding(study.database, study.study_id, name) for name in ("one", "two"))
    assert one.take()
    assert not two.take()
    assert one.take()


def test_pulse():
    hands = Hands()
    pulse = Pulse(hands)
    assert pulse.silent("a") == 0
    hands.at = 4.0
    assert pulse.silent("a") == 4
    assert pulse.silent("b") == 0
    assert pulse.beats == 1


def test_a_fault_is_told_and_the_study_rests(study):
    hands = Hands()
    worker = worker_of(study, monotonic=hands)
    worker.step()
    worker.fail(RuntimeError("no such thing"))
    assert "failed (RuntimeError)" in model(study)["trouble"]
    fill(study, 2, 20)
    worker.step()
    assert worker.learner.n_answers == 0
    hands.at += 60
    worker.step()
    assert worker.learner.n_answers == 40
    assert model(study)["trouble"] is None


# --- as a process ---


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@unix_only
def test_the_process_learns_is_started_again_and_ends_with_its_server(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours"))
    fill(service, 2, 30)
    supervisor = Supervisor(site, first_wait=0.1).start()
    try:
        until(lambda: all_of(service, schema.pool), "no pool of questions came")
        first = supervisor.pid
        os.kill(first, signal.SIGKILL)
        with service.database.write() as connection:
            connection.execute(sa.delete(schema.pool))
        fill(service, 1, 30, seed=2)
        until(lambda: all_of(service, schema.pool), "no pool of questions came")
        second = supervisor.pid
        assert second != first
    finally:
        supervisor.stop()
    assert not is_running(second)
    assert model(service)["worker"] == ""
    site.close()


SERVER = """
import sys, time
from pathlib import Path
from similitude.study.site import open_site
from similitude.study.supervise import Supervisor
from similitude.study.loop import Pace
from similitude.study.web.watch import Watch
supervisor = Supervisor(open_site(Path(sys.argv[1]))).start()
while supervisor.pid is None:
    time.sleep(0.05)
print(supervisor.pid, flush=True)
time.sleep(600)
"""


@unix_only
def test_the_process_ends_when_its_server_is_killed(tmp_path):
    folder = write_study(tmp_path / "colours")
    with subprocess.Popen([sys.executable, "-c", SERVER, folder], stdout=subprocess.PIPE, text=True) as server:
        worker = int(server.stdout.readline())
        assert is_running(worker)
        server.kill()
    until(lambda: not is_running(worker), "the process outlived its server")
