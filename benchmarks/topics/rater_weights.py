"""Raters who weigh the dimensions differently: what a sharpness, and weights, of each bring to held-out answers.

`ChoiceEmbedding` with all raters alike, with a sharpness of each, and with weights of dimensions beside it, from
the same answers. The gain is that of the log-loss of held-out answers, each as its rater sees it, with 95 % intervals
over answers.

- odd ones out of perceptual_kernels, 20 raters a palette, each of whom answered every triple once, and triplets of
  strangefruit30, 416 raters: three splits by answer, a fourth held out;
- THINGS, 264 raters (a fifth of the answers are nobody's): learned from the first 40,000, or from 214,000, held out are
  answers 214,000 to 233,999.

The run can be stopped and taken up again.
"""

from __future__ import annotations

import time
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
SPLITS, PROCESSES, VALIDATION = 3, 1, 214_000
RATERS = {"alike": False, "sharpness": True, "weights": "weights"}
THINGS = (40_000, VALIDATION)
COLUMNS = {
    "data": "", "answers": ",d", "raters": "d", "splits": "d", "log-loss, alike": ".4f", "sharpness": ".4f",
    "weights": ".4f", "gain of weights over sharpness": "", "accuracy, alike": ".4f", "sharpness (accuracy)": ".4f",
    "weights (accuracy)": ".4f", "spread": "", "s, alike": ".1f", "s, weights": ".1f",
}  # fmt: skip


def run(settings: Settings) -> Iterator[Table]:
    small = ("color",) if settings.quick else (*whole_answers.PALETTES, "strangefruit30")
    cases: list[Row] = [
        {"data": data, "answers": None, "seed": seed}
        for seed in range(1 if settings.quick else SPLITS)
        for data in small
    ]
    cases += [{"data": "things1854", "answers": size, "seed": 0} for size in ([3_000] if settings.quick else THINGS)]
    found = pd.DataFrame(run_cases("rater_weights", case, cases, PROCESSES))
    parts = found.groupby(["data", found.learned], sort=False)
    note = "products; means over splits; intervals over the answers of one; spread: of log weights, 0 is none"
    title = "Raters who weigh the dimensions differently: log-loss and accuracy of held-out answers"
    yield Table("rater_weights", title, COLUMNS, [row(data, part) for (data, _), part in parts], note)


def case(data: str, answers: int | None, seed: int) -> Row:
    """Fit all three to one split: sums over held-out answers."""
    train, test = split(data, answers, seed)
    found: Row = {"learned": train.n_answers, "raters": len(train.answers.rater.labels)}
    lost = {}
    for name, raters in RATERS.items():
        began = time.perf_counter()
        model = sm.ChoiceEmbedding(min(50, train.n_items), raters=raters, random_state=seed).fit(train)
        found |= {f"s, {name}": time.perf_counter() - began, f"accuracy, {name}": sm.answer_accuracy(model, test)}
        lost[name] = answer_losses(model, test)[0]
        found |= {f"log-loss, {name}": float(lost[name].mean()), "spread": model.spread_}
    gain = lost["sharpness"] - lost["weights"]
    return found | {"gain": float(gain.mean()), "error": float(gain.std() / np.sqrt(len(gain)))}


def split(data: str, answers: int | None, seed: int) -> tuple[sm.Comparisons, sm.Comparisons]:
    """Return answers to learn from, and others."""
    c = whole_answers.load(data)
    if answers is not None:
        return c[c.answer < answers], c[c.answer >= VALIDATION]
    return c.split(0.25, by="answer", random_state=seed)


def row(data: str, part: pd.DataFrame) -> Row:
    """Means over splits."""
    mean = part.mean(numeric_only=True)
    half = 1.96 * float(np.sqrt((part.error**2).mean()))  # splits overlap: as if there were one
    found: Row = {"data": data, "answers": int(mean.learned), "raters": int(mean.raters), "splits": len(part)}
    found |= {name: mean[name] for name in ("log-loss, alike", "accuracy, alike", "s, alike", "s, weights")}
    for name in ("sharpness", "weights"):
        found |= {name: mean[f"log-loss, {name}"], f"{name} (accuracy)": mean[f"accuracy, {name}"]}
    said = f"{mean.gain:+.4f} ({mean.gain - half:+.4f} to {mean.gain + half:+.4f})"
    return found | {"gain of weights over sharpness": said, "spread": ", ".join(f"{one:g}" for one in part.spread)}
