"""Jobs give their results in order, and share the cores among them."""

import joblib
import pytest

from similitude.engine.jobs import over_jobs
from similitude.engine.threads import limit_threads, thread_count


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
