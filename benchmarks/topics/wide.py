"""More dimensions than are needed: ChoiceEmbedding with 20 and 40 of them beside the best of 2, 5 and 10.

Answers as they were given (car60 most central, food100 picks from grids, things1854 odd ones out), three splits by
answer, nothing tuned. `20 - best` and `40 - best` are differences in the log-loss of held-out answers, paired by
answer over all splits, with 95 % intervals; `best` is the narrow one that is best in the mean over splits on those very
answers, picked with hindsight, which flatters it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

import similitude as sm
from benchmarks import whole_answers
from benchmarks.report import Row, Table
from benchmarks.resume import run_cases
from benchmarks.settings import Settings
from similitude.evaluate.answer_scores import answer_losses

LONG = True
NARROW, WIDE, SPLITS, PROCESSES = (2, 5, 10), (20, 40), 3, 2
SIZES = {"car60": (5000, 1400), "food100": (2000, 3000), "things1854": (50_000, 20_000)}
DIMENSIONS = (*NARROW, *WIDE)
COLUMNS = {"data": "", "answers": ",d", "similarity": "", **{str(d): ".3f" for d in DIMENSIONS}}
COLUMNS |= {f"{d} - best": "" for d in WIDE} | {
    "accuracy, best": ".3f",
    "accuracy, 40": ".3f",
    "dimensions of 40": ".0f",
}


def run(settings: Settings) -> Iterator[Table]:
    sizes = {"car60": (500, 500)} if settings.quick else SIZES
    cases = [
        {"data": data, "answers": size[0], "held_out": size[1], "similarity": similarity, "d": d, "seed": seed}
        for data, size in sizes.items()
        for similarity in ("dot", "distance")
        for d in DIMENSIONS
        for seed in range(1 if settings.quick else SPLITS)
    ]
    found = pd.DataFrame(run_cases("wide", fit_case, cases, PROCESSES))
    title = "Log-loss of held-out answers by the number of dimensions (ChoiceEmbedding, defaults)"
    note = f"{SPLITS} splits by answer; differences paired by answer, with 95 % intervals"
    table = Table("wide", title, COLUMNS, note=note)
    for _, group in found.groupby(["data", "similarity"], sort=False):
        table.rows.append(summary(group))
    yield table


def fit_case(data: str, answers: int, held_out: int, similarity: str, d: int, seed: int) -> Row:
    """One fit; the loss of every held-out answer is kept, for differences."""
    train, test = whole_answers.split(data, answers, held_out, seed)
    model = sm.ChoiceEmbedding(d, similarity=similarity, random_state=seed).fit(train)
    lost, weight = answer_losses(model, test)
    return {
        "lost": [round(float(one), 4) for one in lost[weight > 0]], "accuracy": sm.answer_accuracy(model, test),
        "dimensions": model.n_dimensions_, "iterations": model.n_iter_,
    }  # fmt: skip


def summary(group: pd.DataFrame) -> Row:
    """One row of the table."""
    lost = {d: np.concatenate(list(rows.sort_values("seed").lost)) for d, rows in group.groupby("d")}
    accuracy, dimensions = group.groupby("d").accuracy.mean(), group.groupby("d").dimensions.mean()
    best = min(NARROW, key=lambda d: lost[d].mean())
    first = group.iloc[0]
    row: Row = {"data": first["data"], "answers": int(first.answers), "similarity": first.similarity}
    row |= {str(d): float(lost[d].mean()) for d in DIMENSIONS}
    row |= {f"{d} - best": with_interval(lost[d] - lost[best]) for d in WIDE}
    row |= {"accuracy, best": accuracy[best], "accuracy, 40": accuracy[40], "dimensions of 40": dimensions[40]}
    return row


def with_interval(difference: np.ndarray) -> str:
    return f"{difference.mean():+.4f} ± {1.96 * difference.std() / np.sqrt(len(difference)):.4f}"
