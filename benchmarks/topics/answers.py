"""Answers as wholes: what each part of a model of choices brings, and what AutoSimilarity makes of it.

Odd ones out (six palettes of perceptual_kernels), most central ones (car60) and picks from grids (food100), five splits
by answer; accuracy and log-loss are those of held-out answers, each as a whole.

- `answers_parts`: ChoiceEmbedding with each part on and off: the likelihood of the answer, or of its comparisons one by
  one; products, distances or log(1 + squared distance); as many dimensions as it finds needed (of 50 at most), or 5.
  A cell is the mean over splits of log-loss / accuracy. Penalties as they default.
- `answers_validated`: the same with learned dimensions, the penalty chosen on a fifth of the training answers by the
  log-loss of answers, among four strengths of the default; three splits.
- `answers_auto`: AutoSimilarity as it is beside that of an earlier version (`--before FOLDER`), on the same splits,
  with 95% intervals of the paired differences (t over splits), and which share models of choices have in what it chose.

The run can be stopped and taken up again, first splits of all sets first. The 1,854 things are left to `wide`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import similitude as sm
from benchmarks import auto_answers, whole_answers
from benchmarks.report import Row, Table
from benchmarks.resume import run_cases
from benchmarks.settings import HERE, Settings
from benchmarks.topics.auto import paired

LONG = True
SPLITS, VALIDATED_SPLITS, PROCESSES, NARROW, WIDE = 5, 3, 1, 5, 50
STRENGTHS = (1.0, 0.3, 0.1, 0.03)  # of the default penalty
SIZES = {
    "color": (300, 480), "shape": (300, 480), "size": (300, 480), "shapecolor": (500, 2000), "shapesize": (500, 2000),
    "sizecolor": (500, 2000), "car60": (1000, 1400), "food100": (300, 1000),
}  # fmt: skip
PARTS = {
    f"{term}, {similarity}, {'learned' if d == WIDE else d}": (term, similarity, d)
    for similarity in ("distance", "student", "dot")
    for d in (NARROW, WIDE)
    for term in ("comparisons", "choice")
}
VALIDATED = {name: setting for name, setting in PARTS.items() if setting[2] == WIDE}
AUTO = {
    "data": "", "answers": ",d", "splits": "d", "log-loss before": ".4f", "log-loss": ".4f", "difference": "",
    "accuracy before": ".4f", "accuracy": ".4f", "difference (accuracy)": "", "choices": ".2f", "products": "d",
    "s before": ".1f", "s": ".1f",
}  # fmt: skip


def run(settings: Settings) -> Iterator[Table]:
    sizes = {"color": (200, 300)} if settings.quick else SIZES
    cases: list[Row] = [
        {"data": data, "answers": answers, "held_out": held_out, "seed": seed}
        for seed in range(1 if settings.quick else SPLITS)
        for data, (answers, held_out) in sizes.items()
    ]
    found = pd.DataFrame(run_cases("answers_parts", parts_case, cases, PROCESSES))
    yield parts_table("answers_parts", found, "defaults")
    few = [case for case in cases if case["seed"] < VALIDATED_SPLITS]
    found = pd.DataFrame(run_cases("answers_validated", validated_case, few, PROCESSES))
    yield parts_table("answers_validated", found, "the penalty by validation")
    now = pd.DataFrame(run_cases("answers_auto", auto_answers.scores, cases, PROCESSES))
    if settings.before is not None:
        earlier = [case | {"folder": settings.before} for case in cases]
        before = pd.DataFrame(run_cases("answers_before", before_case, earlier, PROCESSES, ours=False))
        yield auto_table(before, now)


def parts_case(data: str, answers: int, held_out: int, seed: int) -> Row:
    """Fit every setting to one split: log-loss and accuracy of held-out answers."""
    train, test = whole_answers.split(data, answers, held_out, seed)
    fits = {name: fitted(setting, train, seed) for name, setting in PARTS.items()}
    return {name: (sm.answer_log_loss(model, test), sm.answer_accuracy(model, test)) for name, model in fits.items()}


def validated_case(data: str, answers: int, held_out: int, seed: int) -> Row:
    """The same at the penalty that is best on a fifth of the training answers."""
    train, test = whole_answers.split(data, answers, held_out, seed)
    most, inner = train.split(0.2, by="answer", random_state=seed)
    found = {}
    for name, setting in VALIDATED.items():
        usual = fitted(setting, most, seed)
        tried = {1.0: usual} | {s: fitted(setting, most, seed, s * usual.penalty_) for s in STRENGTHS[1:]}
        best = min(STRENGTHS, key=lambda strength: sm.answer_log_loss(tried[strength], inner))
        model = fitted(setting, train, seed)
        model = model if best == 1.0 else fitted(setting, train, seed, best * model.penalty_)
        found[name] = (sm.answer_log_loss(model, test), sm.answer_accuracy(model, test))
    return found


def fitted(
    setting: tuple[str, str, int], train: sm.Comparisons, seed: int, penalty: float | str = "auto"
) -> sm.ChoiceEmbedding:
    """Fit a setting to answers, or to their comparisons as if each were an answer of its own."""
    term, similarity, d = setting
    if term == "comparisons":
        train = sm.Comparisons.from_quadruplets(train.quadruplets, n_items=train.n_items)
    width = min(d, train.n_items)
    return sm.ChoiceEmbedding(width, similarity=similarity, penalty=penalty, random_state=seed).fit(train)


def parts_table(table: str, found: pd.DataFrame, penalty: str) -> Table:
    """A row per setting, a column per set."""
    names = list(dict.fromkeys(found["data"]))
    rows: list[Row] = []
    for name in [name for name in PARTS if name in found]:
        row: Row = {"term, similarity, dimensions": name}
        for data, part in found.groupby("data", sort=False):
            lost, right = np.mean(part[name].tolist(), axis=0)
            row[f"{data} {part.answers.iloc[0]}"] = f"{lost:.3f} / {right:.3f}"
        every = np.array([np.mean(found[found["data"] == data][name].tolist(), axis=0) for data in names])
        rows.append(row | {"mean": "{:.3f} / {:.3f}".format(*every.mean(axis=0))})
    title = "What each part of a model of choices brings: log-loss / accuracy of held-out answers"
    columns = dict.fromkeys(rows[0], "")
    return Table(table, title, columns, rows, f"means over {found.seed.nunique()} splits by answer; {penalty}")


def before_case(folder: str, **case: Any) -> Row:
    """The same with the similitude of another checkout."""
    worker = _worker(folder)
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps(case) + "\n")
    worker.stdin.flush()
    found: Row = json.loads(worker.stdout.readline())
    return found


@cache
def _worker(folder: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(Path(folder, "src").resolve()), str(HERE.parent)])
    command = [sys.executable, "-m", "benchmarks.auto_answers"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(command, text=True, env={**os.environ, "PYTHONPATH": path}, **pipes)


def auto_table(before: pd.DataFrame, now: pd.DataFrame) -> Table:
    """A row per set: both versions, and the paired differences."""
    rows: list[Row] = []
    both = now.merge(before, on=["data", "answers", "held_out", "seed"], suffixes=("", " before"))
    for (data, answers), part in both.groupby(["data", "answers"], sort=False):
        means = {name: part[name].mean() for name in ("log-loss", "log-loss before", "accuracy", "accuracy before")}
        gaps = {what: part[what] - part[f"{what} before"] for what in ("log-loss", "accuracy")}
        rows.append(
            {"data": data, "answers": answers, "splits": len(part), **means,
             "difference": _written(gaps["log-loss"]), "difference (accuracy)": _written(gaps["accuracy"]),
             "choices": part.choices.mean(), "products": int((part.kind == "product").sum()),
             "s": part.seconds.mean(), "s before": part["seconds before"].mean()}
        )  # fmt: skip
    note = "1 thread, seconds of processor time; choices: share of models of choices in the average; products: splits "
    note += "whose result compares by products"
    return Table("answers_auto", "AutoSimilarity on whole answers, before and now", AUTO, rows, note)


def _written(gap: pd.Series[float]) -> str:
    found = paired(gap.to_numpy())
    return f"{found['difference']:+.4f} ({found['low']:+.4f} to {found['high']:+.4f})"
