"""The 1,854 objects of THINGS: how well 234,000 odd ones out foresee others, by what a model is made of.

- `things_validation`: models learned from answers 0 to 213,999, on answers 214,000 to 233,999, where everything is
  chosen: free vectors, or those of CLIP and word2vec with a free rest; with signs, or never negative; by
  products, or distances; at the default penalties and, where features are used, at a few strengths of them.
- `things_final`: the best of those without and with features, learned from all 234,000 answers, on what was kept aside:
  the last 20,314 answers, and the 2,000 triples that were asked often. Intervals are over answers, and over triples.
  People: how often an answer is the one that most people gave, which no model can pass.

On a GPU where there is one, where it takes a few minutes; it can be stopped and taken up again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

import similitude as sm
from benchmarks import whole_answers
from benchmarks.report import Row, Table
from benchmarks.resume import run_cases
from benchmarks.settings import Settings
from benchmarks.whole_answers import THINGS
from similitude.evaluate.answer_scores import answers_right
from similitude.evaluate.scores import correct

LONG = True
LEARNED, PROCESSES = 214_000, 1
STRENGTHS = [[1.0, 1.0], [1.2, 0.5]]  # of the default penalties; the second by a search over validation answers
MODELS: dict[str, Any] = {
    "distances": sm.ChoiceEmbedding(50, similarity="distance", random_state=0),
    "products": sm.ChoiceEmbedding(50, random_state=0),
    "never negative": sm.NonNegativeEmbedding(random_state=0),
}
SETTINGS = [(name, False, [1.0, 1.0]) for name in MODELS]
SETTINGS += [*(("products", True, strength) for strength in STRENGTHS), ("never negative", True, [1.0, 1.0])]
MADE_OF = {"model": "", "features": "", "penalty": ".2f", "map_penalty": ".2f"}
SCORES = {"log-loss": ".4f", "accuracy": ".4f"}
FITTED = {"dimensions": "d", "s": ".1f"}
ASIDE = {"±": ".4f", "repeated triples": ".4f", "± (triples)": ".4f"}


def run(settings: Settings) -> Iterator[Table]:
    learned = 3_000 if settings.quick else LEARNED
    cases = [{"model": m, "features": f, "strength": s, "learned": learned} for m, f, s in SETTINGS]
    found = pd.DataFrame(run_cases("things_validation", validated, cases, PROCESSES))
    note = "penalties in units of the default; seconds of one fit"
    title = "THINGS: 20,000 validation answers, 214,000 learned from"
    yield table("things_validation", title, MADE_OF | SCORES | FITTED, note, found)
    best = found.loc[found.groupby("features")["log-loss"].idxmin(), ["model", "features", "strength"]]
    cases = [case | {"learned": learned if settings.quick else THINGS} for case in best.to_dict("records")]
    final = pd.DataFrame(run_cases("things_final", reported, cases, PROCESSES))
    people = most_people(whole_answers.things_repeated())
    note = f"settings by validation; people: {people:.4f} of the repeated triples; intervals over answers, over triples"
    title = "THINGS: what was kept aside, 234,000 learned from"
    yield table("things_final", title, MADE_OF | SCORES | ASIDE | FITTED, note, final)


def validated(model: str, features: bool, strength: list[float], learned: int) -> Row:
    """One setting on the validation answers."""
    c = whole_answers.load("things1854")
    fitted, told = fit(model, features, strength, c[c.answer < learned])
    return told | scores(fitted, c[c.answer >= LEARNED])


def reported(model: str, features: bool, strength: list[float], learned: int) -> Row:
    """One setting on what was kept aside."""
    c, aside, repeated = whole_answers.load("things1854"), whole_answers.things_aside(), whole_answers.things_repeated()
    fitted, told = fit(model, features, strength, c[c.answer < learned])
    found = scores(fitted, aside)
    share, spread = over_triples(answers_right(correct(fitted, repeated), repeated), repeated)
    error = np.sqrt(found["accuracy"] * (1.0 - found["accuracy"]) / aside.n_answers)
    return told | found | {"±": 1.96 * error, "repeated triples": share, "± (triples)": 1.96 * spread}


def fit(name: str, features: bool, strength: list[float], train: sm.Comparisons) -> tuple[Any, Row]:
    """Fit a model at strengths of its default penalties, which a fit at the default tells."""
    given = whole_answers.things_features() if features else None
    model, began = clone(MODELS[name]), time.perf_counter()
    model.fit(train, features=given)
    if strength != [1.0, 1.0]:
        model.set_params(penalty=strength[0] * model.penalty_, map_penalty=strength[1] * model.map_penalty_)
        began = time.perf_counter()
        model.fit(train, features=given)
    return model, {"dimensions": model.n_dimensions_, "s": time.perf_counter() - began}


def scores(model: Any, test: sm.Comparisons) -> Row:
    """Log-loss and accuracy of whole answers."""
    return {"log-loss": sm.answer_log_loss(model, test), "accuracy": sm.answer_accuracy(model, test)}


def over_triples(right: np.ndarray, repeated: sm.Comparisons) -> tuple[float, float]:
    """Share of answers that are right, and its standard error by triples."""
    triple = pd.DataFrame(np.sort(repeated.answers.shown.matrix(), axis=1)).groupby([0, 1, 2]).ngroup()
    by_triple = pd.Series(right.astype(float)).groupby(triple).agg(["sum", "size"])
    share = float(right.mean())
    return share, float(np.sqrt(((by_triple["sum"] - share * by_triple["size"]) ** 2).sum()) / len(right))


def most_people(repeated: sm.Comparisons) -> float:
    """Share of answers that are the one which most people gave to their triple."""
    shown = repeated.answers.shown.matrix()
    table = pd.DataFrame(np.sort(shown, axis=1), columns=["i", "j", "k"]).assign(odd=shown[:, 2])
    counts = table.groupby(["i", "j", "k", "odd"]).size()
    return float(counts.groupby(level=[0, 1, 2]).max().sum() / len(table))


def table(name: str, title: str, columns: dict[str, str], note: str, found: pd.DataFrame) -> Table:
    """A row per setting."""
    made = Table(name, title, columns, note=note)
    for row in found.to_dict("records"):
        strength, used = row.pop("strength"), row.pop("features")
        free, mapped = strength if used else (strength[0], None)
        made.rows.append(
            row | {"features": "CLIP, word2vec" if used else "none", "penalty": free, "map_penalty": mapped}
        )
    return made
