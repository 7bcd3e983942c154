"""Choosing questions: time to score candidates beside salmon, all pairs of a head, a whole round, one question.

`questions_scores`: 10,000 random candidates after ten answers per item, the same for both sides and the same model (a
t-STE of one degree of freedom, two dimensions). salmon's scorer is A-CKL, so ours stands beside it, and our default.
`questions_rounds`: STE in five dimensions; "all scored" computes the gain of every pair, "best" is the exact search
that passes over most pairs, "auto" the default number of candidates. `questions_single`: one question at a time.
`questions_answers`: questions whose answer is one choice, scored by what the whole answer tells.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import similitude as sm
from benchmarks.peers import Worker
from benchmarks.report import Row, Table
from benchmarks.settings import Settings
from similitude.active.posterior import Posterior
from similitude.active.scores import InformationGain
from similitude.active.select import Chooser
from similitude.feedback.forms import picking_forms
from similitude.feedback.forms.alternatives import Alternatives

LONG = False
SCORES = {
    "n": "d",
    "salmon ms": ".1f",
    "ackl ms": ".2f",
    "information_gain ms": ".2f",
    "speedup": ".0f",
    "goal ms": "d",
}
ROUNDS = {
    "n": "d",
    "posterior ms": ".1f",
    "all pairs of a head ms": ".2f",
    "round, all scored s": ".2f",
    "round, best s": ".2f",
    "round, auto s": ".2f",
}
SINGLE = {"n": "d", "answers": ",d", "call": "", "p50 ms": ".2f", "p99 ms": ".2f"}


ANSWERS = {"n": "d", "form": "", "picked": "d", "of": "d", "10,000 scored ms": ".1f", "one question ms": ".1f"}


def run(settings: Settings) -> Iterator[Table]:
    yield answers(settings)
    yield scores(settings)
    yield rounds(settings)
    yield single(settings)


def answers(settings: Settings) -> Table:
    """Time of processor to score whole answers, and to choose one question with the default number of candidates."""
    note = "time of one processor, best of the repeats; a Chooser is kept"
    table = Table("questions_answers", "Questions by what the whole answer tells", ANSWERS, note=note)
    for n in (30,) if settings.quick else (85, 1_000):
        similarity, said = fitted(n, 3)
        scorer = InformationGain(Posterior.of(similarity, said))
        for form, picked, size in (("odd_one_out", 1, 3), ("choice", 1, 4), ("choice", 2, 8), ("choice", 4, 12)):
            headed = form == "choice"
            shown = sm.random_questions(n, 10_000, form, grid_size=size if headed else None, random_state=1)
            one = picking_forms()[form]
            choices = Alternatives(one.alternatives(shown), picked, np.arange(len(shown)), one.prefers)
            more = {"grid_size": size, "n_chosen": picked} if headed else {}
            chooser = Chooser(similarity, form=form, asked=said, random_share=0.0, random_state=0, **more)
            table.rows.append(
                {"n": n, "form": form, "picked": picked, "of": size}
                | {
                    column: 1e3 * best_of_processor(call, settings)
                    for column, call in (
                        ("10,000 scored ms", lambda scorer=scorer, choices=choices: scorer.of_choices(choices)),
                        ("one question ms", lambda chooser=chooser: chooser.choose(1)),
                    )
                }
            )
    return table


def best_of_processor(function: Callable[[], Any], settings: Settings) -> float:
    """Seconds of the processor: what stands beside other work is not counted."""
    found = []
    for _ in range(1 + settings.repeats):
        start = time.process_time()
        function()
        found.append(time.process_time() - start)
    return min(found[1:])


def scores(settings: Settings) -> Table:
    note = "10,000 candidates, best of the repeats; speedup: salmon's time to that of our default"
    table = Table("questions_scores", "Scoring candidate questions", SCORES, note=note)
    repeats = max(5, settings.repeats)
    with (
        tempfile.TemporaryDirectory() as folder,
        Worker("salmon", settings.threads) as theirs,
        Worker("similitude", settings.threads) as ours,
    ):
        for n, goal in ((20, 3),) if settings.quick else ((85, 3), (500, 15)):
            path = str(Path(folder) / f"n{n}.npz")
            save(path, n)
            peer = theirs("score_questions", path=path, strategy="ackl", repeats=repeats)["seconds"]
            mine = {
                strategy: ours("score_questions", path=path, strategy=strategy, repeats=repeats)["seconds"]
                for strategy in ("ackl", "information_gain")
            }
            times = {"salmon ms": peer} | {f"{strategy} ms": seconds for strategy, seconds in mine.items()}
            table.rows.append(
                {"n": n, "goal ms": goal, "speedup": peer / mine["information_gain"]}
                | {name: 1e3 * seconds for name, seconds in times.items()}
            )
    return table


def save(path: str, n: int) -> None:
    truth = np.random.default_rng(90_020).normal(size=(n, 2))
    answers = sm.simulate(truth, 10 * n, sharpness=2.0, random_state=90_021)
    questions = sm.random_questions(n, 10_000, random_state=90_022)
    np.savez(path, embedding=truth, history=answers.triplets, questions=questions)


def fitted(n: int, d: int) -> tuple[sm.Similarity, sm.Comparisons]:
    truth = np.random.default_rng(90_023).normal(size=(n, d))
    answers = sm.simulate(truth, 20 * n, sharpness=2.0, random_state=90_024)
    return sm.STE(d, max_iter=50, tol=1e-4, random_state=0).fit(answers).similarity_, answers


def rounds(settings: Settings) -> Table:
    table = Table("questions_rounds", "A round of questions, one per item", ROUNDS, note="1 thread")
    table.rows += [one_size(n, settings) for n in ((30,) if settings.quick else (100, 1_000))]
    return table


def one_size(n: int, settings: Settings) -> Row:
    similarity, answers = fitted(n, 5)
    scorer = InformationGain(Posterior.of(similarity, answers))
    scorer.table(0)
    a_round(similarity, answers, "all", 2)
    heads = range(min(n, 50))
    whole = best(lambda: [scorer.table(head).argmax() for head in heads], settings) * n / len(heads)
    return {
        "n": n,
        "posterior ms": 1e3 * best(lambda: Posterior.of(similarity, answers), settings),
        "all pairs of a head ms": 1e3 * best(lambda: scorer.table(0), settings),
        "round, all scored s": whole,
        "round, best s": best(lambda: a_round(similarity, answers, "all", n), settings),
        "round, auto s": best(lambda: a_round(similarity, answers, "auto", n), settings),
    }


def a_round(similarity: sm.Similarity, answers: sm.Comparisons, candidates: str, n: int) -> None:
    Chooser(similarity, asked=answers, candidates=candidates, random_share=0.0, random_state=0).choose(n)


def single(settings: Settings) -> Table:
    note = "a Chooser is kept between fits, as a server does; next_questions makes one for each call"
    table = Table("questions_single", "One question at a time", SINGLE, note=note)
    for n in (30,) if settings.quick else (85, 1_000):
        similarity, answers = fitted(n, 5)
        chooser = Chooser(similarity, asked=answers, random_state=0)
        calls: dict[str, Callable[[], Any]] = {
            "Chooser.choose(1)": lambda chooser=chooser: chooser.choose(1),
            "next_questions(n=1)": lambda s=similarity, a=answers: sm.next_questions(s, 1, asked=a, random_state=0),
        }
        for name, call in calls.items():
            call()
            seconds = [timed(call) for _ in range(20 if settings.quick else 200)]
            p50, p99 = np.percentile(seconds, [50, 99])
            table.rows.append({"n": n, "answers": len(answers), "call": name, "p50 ms": 1e3 * p50, "p99 ms": 1e3 * p99})
    return table


def best(function: Callable[[], Any], settings: Settings) -> float:
    return min(timed(function) for _ in range(settings.repeats))


def timed(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start
