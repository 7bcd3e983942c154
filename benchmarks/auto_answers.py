"""Fits AutoSimilarity to splits of people's answers, with whichever similitude is on the path (see `earlier`)."""

from __future__ import annotations

import time
import warnings
from typing import Any

from threadpoolctl import threadpool_limits

import similitude as sm
from benchmarks import earlier, whole_answers
from benchmarks.report import Row


def scores(data: str, answers: int, held_out: int, seed: int) -> Row:
    """Return how well the chosen predicts held-out answers, what it is, and seconds of processor time."""
    train, test = whole_answers.split(data, answers, held_out, seed)
    with warnings.catch_warnings(), sm.limit_threads(1), threadpool_limits(1):
        warnings.simplefilter("ignore")  # few answers leave items never compared
        start = time.process_time()
        model = sm.AutoSimilarity(time_limit=1800, random_state=seed).fit(train)
        seconds = time.process_time() - start
    of_choices = model.chosen_.candidate.str.startswith("ChoiceEmbedding")
    return {
        "accuracy": sm.answer_accuracy(model, test), "log-loss": sm.answer_log_loss(model, test), "seconds": seconds,
        "kind": model.similarity_.kind, "raters": getattr(model.similarity_.answering, "kind", "alike"),
        "choices": float(model.chosen_.share[of_choices].sum()),
    }  # fmt: skip


def scores_before(folder: str, **case: Any) -> Row:
    """The same with the similitude of another checkout."""
    return earlier.measure(folder, scores, case)
