"""Dimensions that are never negative: what they predict, which come again, and what is planted found.

On THINGS (1,854 objects, odd ones out). Everything was chosen on `dimensions_validation`: the first 214,000 answers to
learn from, the next 20,000 to score on. `--final` fits the first 234,000 and opens what was kept closed: the 20,314
answers after them, SPoSE-66 and the similarity of 48 objects that people gave.

- `dimensions_validation`, `dimensions_held_out`: accuracy and log-loss of whole answers, beside ChoiceEmbedding(50);
- `dimensions_again`: how many dimensions come again (r > .8, matched) from ten seeds and over halves of the answers;
- `dimensions_simulated`: planted non-negative dimensions at 20 answers per item and dimension, and none planted;
- `dimensions_spose`: the best match of each SPoSE-66 dimension (those took 4.1 million answers to learn);
- `dimensions_48`: the chance that two of 48 objects are kept together, beside how often people did, triples of those
  48 left out of the fit.

`--device cuda` fits on a GPU.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache

import numpy as np
import pandas as pd

import similitude as sm
from benchmarks.real_data import folder
from benchmarks.report import Row, Table
from benchmarks.settings import Settings
from similitude.methods.dimension_columns import correlations, matches

LONG = True
ITEMS, LEARNED, VALIDATED, SHOWN = 1854, 214_000, 234_000, 254_314
SEEDS, HALVES, COME_AGAIN, PER_ITEM_AND_DIMENSION, DRAWS = 10, 3, 0.8, 20, 5
PLANTED = ((50, 4), (100, 8), (200, 10))  # items, dimensions
SCORES = {"model": "", "dimensions": "d", "zeros": ".2f", "accuracy": ".4f", "log-loss": ".4f", "seconds": ".1f"}
AGAIN = {"fits": "", "dimensions": "d", "r > .8": ".2f", "median r": ".2f", "least r": ".2f", "seconds a fit": ".1f"}
SIMULATED = {
    "items": "d", "planted": "d", "answers": ",d", "found": "", "least matched r": ".3f", "median matched r": ".3f",
    "log-loss": ".4f", "ChoiceEmbedding": ".4f",
}  # fmt: skip


def run(settings: Settings) -> Iterator[Table]:
    yield simulated(settings)
    if not settings.quick:
        yield scores(settings, "dimensions_validation", answers(0, LEARNED), answers(LEARNED, VALIDATED))
    shown = answers(0, 6_000 if settings.quick else VALIDATED)
    yield again(settings, shown)
    if settings.final:
        yield scores(settings, "dimensions_held_out", shown, answers(VALIDATED, SHOWN))
        yield spose(settings, shown)
        yield rdm48(settings)


@cache
def _rows() -> np.ndarray:
    return pd.read_csv(folder() / "things1854" / "answers_training.csv.gz")[["a", "b", "odd"]].to_numpy()


def answers(first: int, end: int) -> sm.Comparisons:
    return sm.Comparisons.from_odd_one_out(_rows()[first:end], n_items=ITEMS)


def fitted(settings: Settings, c: sm.Comparisons, seed: int = 0) -> tuple[sm.NonNegativeEmbedding, float]:
    begin = time.perf_counter()
    with sm.limit_threads(settings.threads):
        model = sm.NonNegativeEmbedding(device=settings.device, random_state=seed).fit(c)
    return model, time.perf_counter() - begin


def scores(settings: Settings, name: str, train: sm.Comparisons, test: sm.Comparisons) -> Table:
    fitted(settings, answers(0, 2_000))  # compiled before the clock runs
    rows: list[Row] = []
    for what in ("NonNegativeEmbedding", "ChoiceEmbedding(50)"):
        begin = time.perf_counter()
        if what == "NonNegativeEmbedding":
            model = fitted(settings, train)[0]
        else:
            with sm.limit_threads(settings.threads):
                model = sm.ChoiceEmbedding(50, device=settings.device, random_state=0).fit(train)
        figures = {"accuracy": sm.answer_accuracy(model, test), "log-loss": sm.answer_log_loss(model, test)}
        X, seconds = model.embedding_, time.perf_counter() - begin
        rows.append({"model": what, "dimensions": model.n_dimensions_, "zeros": (X == 0).mean(), "seconds": seconds})
        rows[-1] |= figures
    title = f"THINGS: {train.n_answers:,} answers to learn from, {test.n_answers:,} others to score on"
    return Table(name, title, SCORES, rows, f"{settings.device}, {settings.threads} threads")


def again(settings: Settings, c: sm.Comparisons) -> Table:
    seeds = 3 if settings.quick else SEEDS
    fits = [fitted(settings, c, seed) for seed in range(seeds)]
    vectors = [model.embedding_ for model, _ in fits]
    rows: list[Row] = []
    for seed, X in enumerate(vectors):
        r = np.mean([matches(X, other)[1] for k, other in enumerate(vectors) if k != seed], axis=0)
        rows.append({"fits": f"seed {seed} with {seeds - 1} others"} | _summary(r) | {"seconds a fit": fits[seed][1]})
    rng = np.random.default_rng(settings.seed)
    for split in range(1 if settings.quick else HALVES):
        first = rng.random(c.n_answers) < 0.5
        halves = [fitted(settings, c.select(half)) for half in (first, ~first)]
        r = matches(*(model.embedding_ for model, _ in halves))[1]
        took = np.mean([seconds for _, seconds in halves])
        rows.append({"fits": f"halves, split {split}"} | _summary(r) | {"seconds a fit": took})
    title = f"THINGS: which dimensions come again, {c.n_answers:,} answers"
    return Table("dimensions_again", title, AGAIN, rows, f"{settings.device}, {settings.threads} threads")


def _summary(r: np.ndarray) -> Row:
    found = {"r > .8": (r > COME_AGAIN).mean(), "median r": np.median(r), "least r": r.min()} if len(r) else {}
    return {"dimensions": len(r)} | found


def simulated(settings: Settings) -> Table:
    rows: list[Row] = []
    for n_items, planted in PLANTED[:1] if settings.quick else PLANTED:
        n_answers = PER_ITEM_AND_DIMENSION * n_items * planted
        for none in (False, True):
            drawn = [
                _drawn(settings, n_items, planted, n_answers, none, k) for k in range(1 if settings.quick else DRAWS)
            ]
            found = ", ".join(str(one["found"]) for one in drawn)
            row: Row = {"items": n_items, "planted": 0 if none else planted, "answers": n_answers, "found": found}
            if not none:
                r = np.concatenate([one["r"] for one in drawn])
                row |= {"least matched r": r.min(), "median matched r": np.median(r)}
                row |= {what: np.mean([one[what] for one in drawn]) for what in ("log-loss", "ChoiceEmbedding")}
            rows.append(row)
    title = f"Planted dimensions found, {PER_ITEM_AND_DIMENSION} answers per item and dimension"
    note = "values gamma-distributed (mean 2), three in ten above 0; log-loss on 4,000 further answers"
    return Table("dimensions_simulated", title, SIMULATED, rows, note)


def _drawn(settings: Settings, n_items: int, planted: int, n_answers: int, none: bool, draw: int) -> Row:
    rng = np.random.default_rng([settings.seed, n_items, draw])
    truth = rng.gamma(2.0, 1.0, (n_items, planted)) * (rng.random((n_items, planted)) < 0.3)
    how = {"form": "odd_one_out", "metric": "dot", "sharpness": 1e-9 if none else 1.0}
    train, test = (sm.simulate(truth, size, random_state=rng, **how) for size in (n_answers, 4_000))
    model = fitted(settings, train, draw)[0]
    found: Row = {"found": model.n_dimensions_}
    if not none:
        other = sm.ChoiceEmbedding(50, random_state=draw).fit(train)
        found |= {"r": matches(truth, model.embedding_)[1], "log-loss": sm.answer_log_loss(model, test)}
        found["ChoiceEmbedding"] = sm.answer_log_loss(other, test)
    return found


def spose(settings: Settings, c: sm.Comparisons) -> Table:
    known = pd.read_csv(folder() / "things1854" / "spose66.csv.gz").to_numpy(float)
    X = fitted(settings, c)[0].embedding_
    r = correlations(known, X)
    own = matches(X, known)
    rows: list[Row] = [
        {"SPoSE dimension": k, "best match": int(r[k].argmax()), "r": r[k].max()} for k in np.argsort(-r.max(1))
    ]
    note = f"median r over all 66 {np.median(r.max(1)):.2f}; each of our {X.shape[1]} with one of theirs (assignment): "
    note += f"median r {np.median(own[1]):.2f}, least {own[1].min():.2f}"
    return Table("dimensions_spose", "Each SPoSE-66 dimension with its best match",
                 {"SPoSE dimension": "d", "best match": "d", "r": ".2f"}, rows, note)  # fmt: skip


def rdm48(settings: Settings) -> Table:
    people = pd.read_csv(folder() / "things1854" / "rdm48_human.csv", index_col=0)
    objects = pd.read_csv(folder() / "things1854" / "objects.csv")
    place = dict(zip(objects.uniqueID, objects["index"], strict=True))
    items = np.array([place[name] for name in people.index])
    rows = _rows()[:VALIDATED]
    others = rows[~np.isin(rows, items).all(axis=1)]
    X = fitted(settings, sm.Comparisons.from_odd_one_out(others, n_items=ITEMS))[0].embedding_[items]
    predicted = 1.0 - kept_together(X @ X.T)
    np.fill_diagonal(predicted, 0.0)
    found = sm.compare(predicted, people.to_numpy(float), random_state=settings.seed)
    upper = np.triu_indices(len(items), 1)
    pearson = np.corrcoef(predicted[upper], people.to_numpy(float)[upper])[0, 1]
    row = {"objects": len(items), "Spearman": found.correlation, "low": found.low, "high": found.high}
    note = f"{len(rows) - len(others)} triples of these objects left out of the fit; interval: bootstrap over objects"
    columns = {"objects": "d", "Spearman": ".3f", "low": ".3f", "high": ".3f", "Pearson": ".3f"}
    return Table("dimensions_48", "Dissimilarities of 48 objects", columns, [row | {"Pearson": pearson}], note)


def kept_together(K: np.ndarray) -> np.ndarray:
    """(n, n) the chance that two are kept together, over all third ones."""
    e, n = np.exp(K - K.max()), len(K)
    total = e[:, :, None] + e[:, None, :] + e[None, :, :]
    share = e[:, :, None] / total
    i = np.arange(n)
    share[i, :, i] = share[:, i, i] = 0.0
    return share.sum(axis=2) / (n - 2)
