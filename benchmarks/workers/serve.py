"""The measuring half of a worker, the same for every library; needs the standard library and numpy only.

A worker reads one JSON request a line from its input and answers each with one JSON line. A library takes
part with some of three functions:

fit(method, triplets, n, d, seed, **parameters) -> (embedding, iterations)
objective(method, triplets, n, d) -> a function of an (n, d) array that gives (loss, gradient)
scorer(embedding, history, strategy) -> a function of rows (head, b, c) that gives their scores
"""

from __future__ import annotations

import contextlib
import json
import resource
import sys
import time
import traceback
import warnings

import numpy as np


def accuracy(embedding, triplets):
    """Share of the triplets that an embedding gets right, ties half."""
    head, near, far = (embedding[triplets[:, k]] for k in range(3))
    gap = ((head - far) ** 2).sum(1) - ((head - near) ** 2).sum(1)
    return float((gap > 0).mean() + 0.5 * (gap == 0).mean())


class Bench:
    """The operations that can be asked for."""

    def __init__(self, library):
        self.library = library

    def load(self, path):
        """Load a problem."""
        with np.load(path) as data:
            self.train, self.test = data["train"], data["test"]
            self.n, self.d = int(data["n"]), int(data["d"])

    def warm_up(self, method):
        """Compile what a library compiles, fill its caches: a fit and a gradient of nothing much."""
        rng = np.random.default_rng(0)
        triplets = np.array([rng.permutation(10)[:3] for _ in range(200)])
        self.library.fit(method, triplets, 10, self.d, 0)
        self.library.objective(method, triplets, 10, self.d)(rng.normal(size=(10, self.d)))

    def fit(self, method, seed, save=None, **parameters):
        """Time a fit and score it on the triplets held out; the positions are written to `save` where it is given."""
        before = reset_peak()
        start, worked = time.perf_counter(), time.process_time()
        embedding, iterations = self.library.fit(method, self.train, self.n, self.d, seed, **parameters)
        seconds, worked = time.perf_counter() - start, time.process_time() - worked
        if save is not None:
            np.save(save, embedding)
        return {
            "seconds": seconds,
            "processor_seconds": worked,
            "accuracy": accuracy(embedding, self.test),
            "iterations": int(iterations),
            "megabytes": peak() - before,
            "peak_megabytes": peak(),
        }

    def gradient(self, method, repeats, save=None):
        """Time an objective and its gradient; preparing it does not count as time, but as memory."""
        before = reset_peak()
        objective = self.library.objective(method, self.train, self.n, self.d)
        position = np.random.default_rng(5).normal(size=(self.n, self.d))
        seconds = []
        for _ in range(repeats):
            start = time.perf_counter()
            _, gradient = objective(position)
            seconds.append(time.perf_counter() - start)
        megabytes = peak() - before
        if save is not None:
            np.save(save, np.reshape(gradient, (self.n, self.d)))
        return {"seconds": min(seconds), "megabytes": megabytes}

    def score_questions(self, path, strategy, repeats):
        """Time the scores of candidate questions; what is prepared once per fit is timed by itself."""
        with np.load(path) as data:
            embedding, history, questions = data["embedding"], data["history"], data["questions"]
        start = time.perf_counter()
        score = self.library.scorer(embedding, history, strategy)
        prepared = time.perf_counter() - start
        score(questions)
        seconds = []
        for _ in range(repeats):
            start = time.perf_counter()
            score(questions)
            seconds.append(time.perf_counter() - start)
        return {"seconds": min(seconds), "prepared": prepared}


def peak():
    """Peak resident memory in MB, since `reset_peak` where the system can tell (Linux), else of all time."""
    if (value := _status("VmHWM")) is not None:
        return value
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def reset_peak():
    """Forget the peak so far and return the memory now: the baseline."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w", encoding="utf-8") as file:
        file.write("5")
    return _status("VmRSS") or peak()


def _status(field):
    try:
        with open("/proc/self/status", encoding="utf-8") as lines:
            return next(float(line.split()[1]) * 1.024e-3 for line in lines if line.startswith(field + ":"))
    except (OSError, StopIteration):
        return None


def serve(library):
    """Answer requests until the input ends; whatever a library prints goes to the error output."""
    warnings.simplefilter("ignore")  # fits are cut short on purpose
    answers, sys.stdout = sys.stdout, sys.stderr
    bench = Bench(library)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = {"result": getattr(bench, request["operation"])(**request["arguments"])}
        except Exception:
            reply = {"error": traceback.format_exc()}
        print(json.dumps(reply), file=answers, flush=True)
