"""Jobs give their results in order, and share the cores among them."""

import sys
import threading

import joblib
import numpy as np
import pytest

from similitude.engine.jobs import _Shared, over_jobs, workers
from similitude.engine.threads import limit_threads, thread_count
from tests.patience import PATIENCE


def threads_and(number):
    return number, thread_count()


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_one_job_at_a_time_keeps_the_threads_of_its_caller(n_jobs):
    with limit_threads(3):
        assert list(over_jobs(threads_and, [(k,) for k in range(4)], n_jobs)) == [(k, 3) for k in range(4)]


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_jobs_at_once_share_the_threads(backend):
    for threads, each in ((1, 1), (2, 1), (6, 3)):
        with limit_threads(threads), joblib.parallel_config(backend=backend):
            found = list(over_jobs(threads_and, [(k,) for k in range(4)], 2))
        assert found == [(k, each) for k in range(4)]


def scaled(column, factor, number):
    return factor * number + float(column[number])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_all_calls_share_comes_before_their_own_arguments(n_jobs):
    column = np.arange(5.0)
    found = list(over_jobs(scaled, [(k,) for k in range(5)], n_jobs, shared=(column, 10.0)))
    assert found == [11.0 * k for k in range(5)]


def test_what_is_shared_tells_its_size_so_that_a_cluster_gets_it_once():
    assert sys.getsizeof(_Shared((None,))) > 1000
    assert sys.getsizeof(_Shared((np.zeros(10**6), None))) > 8 * 10**6


def when_open(gate, number):
    gate.wait(PATIENCE)
    return number


def test_work_taken_as_needed_is_taken_when_somebody_is_free():
    taken, gate = [], threading.Event()
    work = ((taken.append(k) or k,) for k in range(7))
    with joblib.parallel_config(backend="threading"):
        results = over_jobs(when_open, work, 2, shared=(gate,), as_needed=True)
        assert taken == [0, 1]
        gate.set()
        assert list(results) == taken == list(range(7))


# joblib's own thread may stumble over a task that it was told to drop; what is asked is that we may go
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_who_has_enough_may_stop(n_jobs):
    results = over_jobs(threads_and, [(k,) for k in range(20)], n_jobs)
    assert next(results)[0] == 0
    results.close()


def test_how_many_run_at_once():
    assert (workers(), workers(1), workers(2)) == (1, 1, 2)
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert workers() == 3
