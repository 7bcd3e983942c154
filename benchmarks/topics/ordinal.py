"""Time to reach the accuracy of cblearn, on simulated answers.

cblearn is fitted with its defaults (its SOE makes 10 starts; "SOE, 1 start" is the same with n_init=1). It has
no penalty, so to solve the same problem we are fitted with next to none (1e-5) and max_iter = 5, 10, 20, 30, ...,
1,000: our time to reach its accuracy is that of the shortest of these fits, from the start, whose held-out accuracy
is no more than 0.0005 below cblearn's final one: half a standard error of the 100,000 held-out answers, within which
two solutions of one problem differ. "default" is our fit with default parameters, its penalty included.

Each repeat has another seed, and both sides take turns within it. Accuracies are means over the repeats,
times are the best of them; compiling is not in them (see the topic `cold` for that).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

from benchmarks.peers import Worker
from benchmarks.problems import Problem
from benchmarks.report import Row, Table
from benchmarks.settings import Settings

LONG = False
PROBLEMS = (Problem(100, 10_000, 2), Problem(1_000, 200_000, 10))
QUICK = (Problem(30, 1_000, 2),)
DEFAULT = 0
STEPS = (5, 10, 20, 30, 40, 80, 160, 320, 1000, DEFAULT)
NEXT_TO_NONE = 1e-5
SAME = 0.0005
COLUMNS = {
    "problem": "",
    "method": "",
    "cblearn s": ".3f",
    "accuracy": ".4f",
    "reached s": ".3f",
    "reached accuracy": ".4f",
    "max_iter": "",
    "default s": ".3f",
    "default accuracy": ".4f",
    "speedup": ".1f",
    "goal": "d",
}


def goal(problem: Problem, label: str) -> int | None:
    """How many times faster than cblearn's defaults we mean to be."""
    large = {"SOE": 20, "CKL": 20, "SOE, 1 start": None}.get(label, 5)
    return 3 if problem.n < 1_000 and large else large


def run(settings: Settings) -> Iterator[Table]:
    note = f"{settings.threads} thread(s); '-': not reached"
    table = Table("ordinal", "Time to reach cblearn's held-out accuracy", COLUMNS, note=note)
    for problem in QUICK if settings.quick else PROBLEMS:
        with (
            tempfile.TemporaryDirectory() as folder,
            Worker("cblearn", settings.threads) as theirs,
            Worker("similitude", settings.threads) as ours,
        ):
            path = problem.save(folder)
            for worker in (theirs, ours):
                worker("load", path=path)
            for label, method, options in variants(settings):
                for worker in (theirs, ours):
                    worker("warm_up", method=method)
                about = {"problem": str(problem), "method": label, "goal": goal(problem, label)}
                table.rows.append(about | measure(theirs, ours, method, options, settings))
    yield table


def variants(settings: Settings) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Label, method, options of cblearn."""
    for method in settings.methods:
        yield method, method, {}
        if method == "SOE":
            yield "SOE, 1 start", method, {"n_init": 1}


def measure(theirs: Worker, ours: Worker, method: str, options: dict[str, Any], settings: Settings) -> Row:
    """Fit both sides in turn, then look for our shortest fit that is as accurate as theirs."""
    peer: list[Row] = []
    mine: dict[int, list[Row]] = {steps: [] for steps in STEPS}
    for seed in range(settings.seed, settings.seed + settings.repeats):
        peer.append(theirs("fit", method=method, seed=seed, **options))
        for steps, fits in mine.items():
            limit = {} if steps == DEFAULT else {"max_iter": steps, "penalty": NEXT_TO_NONE}
            fits.append(ours("fit", method=method, seed=seed, **limit))
    target, default = summary(peer), summary(mine[DEFAULT])
    fitted = ({"max_iter": steps} | summary(fits) for steps, fits in mine.items() if steps != DEFAULT)
    reached = next((fits for fits in fitted if fits["accuracy"] >= target["accuracy"] - SAME), {})
    return {
        "cblearn s": target["seconds"],
        "accuracy": target["accuracy"],
        "reached s": reached.get("seconds"),
        "reached accuracy": reached.get("accuracy"),
        "max_iter": reached.get("max_iter"),
        "default s": default["seconds"],
        "default accuracy": default["accuracy"],
        "speedup": target["seconds"] / reached["seconds"] if reached else None,
        "cblearn fits": peer,
        "default fits": mine[DEFAULT],
    }


def summary(fits: list[Row]) -> Row:
    """Best time and mean accuracy."""
    return {
        "seconds": min(fit["seconds"] for fit in fits),
        "accuracy": sum(fit["accuracy"] for fit in fits) / len(fits),
    }
