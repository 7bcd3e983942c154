"""Answers as wholes: what each part of a model of choices brings, and what AutoSimilarity makes of it.

Odd ones out (six palettes of perceptual_kernels), most central ones (car60) and picks from grids (food100), five splits
by answer; accuracy and log-loss are those of held-out answers, each as a whole.

- `answers_parts`: ChoiceEmbedding with each part on and off: the likelihood of the answer, or of its comparisons one by
  one; products, distances or log(1 + squared distance); as many dimensions as it finds needed (of 50 at most), or 5.
  A cell is the mean over splits of log-loss / accuracy. Penalties as they default.
- `answers_validated`: the same with learned dimensions, the penalty chosen on a fifth of the training answers by the
  log-loss of answers, among four strengths of the default; three splits.
- `answers_auto`: AutoSimilarity as it is beside that of an earlier version (`--before FOLDER`), on the same splits,
  with 95% intervals of the paired differences (t over splits), which share models of choices have in what it chose, and
  whether its raters differ, where it is known who answered (palettes and THINGS).

The run can be stopped and taken up again, first splits of all sets first. Of the 1,854 things only AutoSimilarity
learns here, without features; `wide` and `things` have more of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

import similitude as sm
from benchmarks import auto_answers, whole_answers
from benchmarks.report import Row, Table
from benchmarks.resume import run_cases
from benchmarks.settings import Settings
from benchmarks.topics.auto import paired

LONG = True
SPLITS, VALIDATED_SPLITS, PROCESSES, NARROW, WIDE = 5, 3, 1, 5, 50
STRENGTHS = (1.0, 0.3, 0.1, 0.03)  # of the default penalty
SIZES = {
    "color": (300, 480), "shape": (300, 480), "size": (300, 480), "shapecolor": (500, 2000), "shapesize": (500, 2000),
    "sizecolor": (500, 2000), "car60": (1000, 1400), "food100": (300, 1000),
}  # fmt: skip
THINGS, THINGS_HELD_OUT = (5000, 20_000), 10_000
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
    "weights": "d", "sharpness": "d", "s before": ".1f", "s": ".1f",
}  # fmt: skip


def run(settings: Settings) -> Iterator[Table]:
    sizes = {"color": (200, 300)} if settings.quick else SIZES
    cases: list[Row] = [
        {"data": data, "answers": answers, "held_out": held_out, "seed": seed}
        for seed in range(1 if settings.quick else SPLITS)
        for data, (answers, held_out) in sizes.items()
    ]
    if settings.before is not None:
        yield auto_table(*both_versions(cases + ([] if settings.quick else things_cases()), settings.before))
    found = pd.DataFrame(run_cases("answers_parts", parts_case, cases, PROCESSES))
    yield parts_table("answers_parts", found, "defaults")
    few = [case for case in cases if case["seed"] < VALIDATED_SPLITS]
    found = pd.DataFrame(run_cases("answers_validated", validated_case, few, PROCESSES))
    yield parts_table("answers_validated", found, "the penalty by validation")


def things_cases() -> list[Row]:
    """Splits of the 1,854 things, for AutoSimilarity alone."""
    about = {"data": "things1854", "held_out": THINGS_HELD_OUT}
    return [about | {"answers": answers, "seed": seed} for answers in THINGS for seed in range(SPLITS)]


def both_versions(cases: list[Row], folder: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What AutoSimilarity makes of cases: that of an earlier version, and as it is."""
    in_folder = [case | {"folder": folder} for case in cases]
    before = run_cases("answers_before", auto_answers.scores_before, in_folder, PROCESSES, ours=False)
    return pd.DataFrame(before), pd.DataFrame(run_cases("answers_auto", auto_answers.scores, cases, PROCESSES))


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


def auto_table(before: pd.DataFrame, now: pd.DataFrame) -> Table:
    """A row per set: both versions, and the paired differences."""
    both = now.merge(before, on=["data", "answers", "held_out", "seed"], suffixes=("", " before"))
    rows = [_auto_row(data, int(m), part) for (data, m), part in both.groupby(["data", "answers"], sort=False)]
    rows.append(_auto_row("mean over sets", None, both.groupby("seed").mean(numeric_only=True)))
    note = "1 thread, seconds of processor time; choices: share of models of choices in the average; products: splits "
    note += "whose result compares by products; weights, sharpness: splits in which raters differ in these"
    return Table("answers_auto", "AutoSimilarity on whole answers, before and now", AUTO, rows, note)


def _auto_row(data: str, answers: int | None, part: pd.DataFrame) -> Row:
    """Means over splits, and the paired differences of both versions."""
    means = {name: part[name].mean() for name in ("log-loss", "log-loss before", "accuracy", "accuracy before")}
    gaps = {what: part[what] - part[f"{what} before"] for what in ("log-loss", "accuracy")}
    return {
        "data": data, "answers": answers, "splits": len(part), **means,
        "difference": _written(gaps["log-loss"]), "difference (accuracy)": _written(gaps["accuracy"]),
        "choices": part.choices.mean(), "products": None if answers is None else int((part.kind == "product").sum()),
        "weights": None if answers is None else int((part.raters == "weights").sum()),
        "sharpness": None if answers is None else int((part.raters == "sharpness").sum()),
        "s": part.seconds.mean(), "s before": part["seconds before"].mean(),
    }  # fmt: skip


def _written(gap: pd.Series[float]) -> str:
    found = paired(gap.to_numpy())
    return f"{found['difference']:+.4f} ({found['low']:+.4f} to {found['high']:+.4f})"
