"""Features and answers together on human answers: held-out accuracy beside methods without features.

Four tables, with means over splits:

- `features_margins`: zappos85 with AlexNet features, what features add: the best feature method beside the best
  feature-free one (both best in the mean over splits, picked with hindsight, and as validation alone would have picked
  them), and RCKLAK beside RCKL of the same loss, with the goals;
- `features_zappos85`: every method there;
- `features_others`: every method on food100 (ingredients, colour, tastes) and rocks (rated dimensions, colour);
- `features_new_items`: items without any answer, placed by `transform`, beside the plain distance of the features
  (three splits, without the hinge).

KPOE of several modalities is MKPOE. Methods that weigh kernels get a lone modality as many: all columns at once, and
each of the first five alone and summed with and taken from each other, which lets weights alone turn the axes.
Penalties are chosen on training answers alone, by `penalty_path`: a grid of multiples of each method's default, for
RCKLAK two-dimensional. Convex fits stop at a proven gap of 1 %, with the hinge 3 %.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

import similitude as sm
from benchmarks import feature_data
from benchmarks.report import Row, Table
from benchmarks.resume import run_cases
from benchmarks.settings import Settings

LONG = True
PROCESSES = 2
INNER_SPLITS = 3
SIZES = {"zappos85": (500, 1000, 2000), "food100": (2000,), "rocks": (2000,)}
SPLITS = {"zappos85": 5, "food100": 3, "rocks": 3}
GOALS = {500: (0.03, 0.03), 1000: (0.01, 0.005), 2000: (0.005, 0.0)}
NEW_SHARE, NEW_TESTS = 0.2, 20_000

WIDE, NARROW = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0), (0.5, 1.0, 2.0, 4.0)
TRACE = (0.5, 0.7, 1.0, 1.4, 2.0)  # of RCKL, whose kernel is zero at 4
BESIDE = (0.7, 1.0, 1.4)  # of RCKLAK, at each of its auxiliary penalties
GAPS = {"logistic": 0.01, "hinge": 0.03}  # at which convex fits stop; accuracies hardly change after that
LEADING = 5  # columns that are also given summed with and taken from each other
SETTINGS: dict[str, list[Row]] = {  # several: the choice is among them, too
    "CKL": [{"n_components": d} for d in (2, 5)],
    "STE": [{"n_components": d} for d in (2, 5)],
    "TSTE": [{"n_components": d} for d in (2, 5)],
    "RCKL logistic": [{}],
    "RCKL hinge": [{"loss": "hinge"}],
    "KPOE logistic": [{"loss": "logistic"}],
    "KPOE hinge": [{}],
    "RCKLMKL logistic": [{}],
    "RCKLAK logistic": [{"auxiliary_penalty": share} for share in (1.0, 3.0, 10.0)],
    "RCKLAK hinge": [{"loss": "hinge", "auxiliary_penalty": share} for share in (1.0, 3.0, 10.0)],
    "FeatureEmbedding, default": [{}],
    "FeatureEmbedding": [{"loss": loss} for loss in ("logistic", "ckl")],
}
FREE = ("CKL", "STE", "TSTE", "RCKL logistic", "RCKL hinge")
PLACING = [name for name in SETTINGS if name not in FREE and "hinge" not in name]
PLACING_SPLITS = 3
CONVEX, WEIGHING = ("RCKL", "KPOE"), ("RCKLMKL", "RCKLAK")
WITHOUT_CHOICE = "FeatureEmbedding, default"


def run(settings: Settings) -> Iterator[Table]:
    sizes = {"zappos85": (500,)} if settings.quick else SIZES
    methods = ("CKL", "FeatureEmbedding, default") if settings.quick else tuple(SETTINGS)
    cases = [
        {"data": data, "m": m, "seed": seed, "method": method}
        for data, several in sizes.items()
        for m in several
        for seed in range(1 if settings.quick else SPLITS[data])
        for method in methods
    ]
    found = pd.DataFrame(run_cases("features", fit_case, cases, PROCESSES))
    if not settings.quick:
        yield margins_table(found.query("data == 'zappos85'"))
    yield methods_table("features_zappos85", "zappos85 with AlexNet features", found.query("data == 'zappos85'"))
    if not settings.quick:
        title = "food100 and rocks with their features"
        yield methods_table("features_others", title, found.query("data != 'zappos85'"))
    placing = [case for case in cases if case["method"] in PLACING and case["seed"] < PLACING_SPLITS]
    yield new_items_table(pd.DataFrame(run_cases("new_items", place_case, placing, PROCESSES)))


def fit_case(data: str, m: int, seed: int, method: str) -> Row:
    """Choose the settings of a method on training answers, fit it to all of them and score it on the others."""
    train, test = feature_data.split(data, m, seed)
    tables = as_given(method, feature_data.features(data))
    validation, model = chosen(method, train, tables, seed)
    return {"validation": validation, "accuracy": fit(model, train, tables).score(test), "settings": said(model)}


def place_case(data: str, m: int, seed: int, method: str) -> Row:
    """Hold out a fifth of the items; fit to m comparisons of the others; place the new ones by their features."""
    rng = np.random.default_rng(3_000 + seed)
    c = feature_data.everything(data)
    new = rng.permutation(c.n_items)[: int(NEW_SHARE * c.n_items)]
    known = np.setdiff1d(np.arange(c.n_items), new)
    rows, tests = (rng.permutation(part) for part in c.hold_out_items(new))
    tables, place = as_given(method, feature_data.features(data)), np.empty(c.n_items, int)
    place[known] = np.arange(len(known))
    inside = {name: table[known] for name, table in tables.items()}
    about: Row = {"answer": c.answer[rows[:m]], "n_items": len(known)}
    train = sm.Comparisons.from_quadruplets(place[c.quadruplets[rows[:m]]], **about)
    _, model = chosen(method, train, inside, seed)
    fit(model, train, inside)
    positions = np.empty((c.n_items, model.embedding_.shape[1]))
    positions[known] = model.embedding_
    positions[new] = model.transform({name: table[new] for name, table in tables.items()})
    asked, plain = c.quadruplets[tests[:NEW_TESTS]], feature_data.plain_distances(feature_data.features(data))
    return {"accuracy": share_right(positions, asked), "plain": share_right(plain, asked), "settings": said(model)}


def as_given(method: str, tables: feature_data.Features) -> feature_data.Features:
    """Return the features as a method is given them: one that weighs kernels gets a lone modality as many."""
    if len(tables) > 1 or not method.startswith(WEIGHING):
        return tables
    (whole,) = tables.values()
    given = {"all": whole} | {f"column {k}": whole[:, [k]] for k in range(LEADING)}
    for i, j in combinations(range(LEADING), 2):
        given |= {f"{i} + {j}": whole[:, [i]] + whole[:, [j]], f"{i} - {j}": whole[:, [i]] - whole[:, [j]]}
    return given


def chosen(method: str, train: sm.Comparisons, tables: feature_data.Features, seed: int) -> tuple[float, Any]:
    """Return the best held-out accuracy inside the training answers, and the estimator that reached it."""
    best: tuple[float, Any] = (-1.0, None)
    for given in SETTINGS[method]:
        model = estimator(method, given, train, tables, seed)
        usual = usual_penalty(model, train, tables)
        grid = [multiple * usual for multiple in multiples(method)]
        asked: Row = {"features": tables, "n_folds": INNER_SPLITS, "random_state": 2_000 + seed}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = sm.penalty_path(model, train, grid, **asked)
        row = path[path.chosen].iloc[0]
        if row.accuracy > best[0]:
            best = (row.accuracy, model.set_params(penalty=row.penalty))
    return best


def multiples(method: str) -> tuple[float, ...]:
    """Return the multiples of its default penalty at which a method is tried."""
    if method == WITHOUT_CHOICE:
        return (1.0,)
    if method.startswith("RCKL "):
        return TRACE
    if method.startswith("RCKLAK"):
        return BESIDE
    return WIDE if method in ("CKL", "STE", "TSTE") else NARROW


def estimator(method: str, given: Row, train: sm.Comparisons, tables: feature_data.Features, seed: int) -> Any:
    """Return the estimator of one of a method's settings; shares of the auxiliary penalty are of its default."""
    name = method.split()[0].rstrip(",")
    kind = sm.MKPOE if name == "KPOE" and len(tables) > 1 else getattr(sm, name)
    known = kind().get_params()
    own = dict(given)
    if "random_state" in known:
        own["random_state"] = 1_000 + seed  # the split was drawn with `seed`
    if method.startswith(CONVEX):
        own |= {"tol": GAPS[method.split()[1]], "max_iter": 300}
    if "auxiliary_penalty" in own:
        own["auxiliary_penalty"] *= 0.3 * len(train.items_compared) / float(train.weight.sum())
    return kind(**own)


def usual_penalty(model: Any, train: sm.Comparisons, tables: feature_data.Features) -> float:
    """Return the penalty that an estimator takes by default: it says so after a fit, however short."""
    return float(fit(clone(model).set_params(max_iter=1, tol=0.9), train, tables).penalty_)


def fit(model: Any, train: sm.Comparisons, tables: feature_data.Features) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(train, features=tables) if hasattr(model, "transform") else model.fit(train)


def said(model: Any) -> str:
    """Return the settings that were chosen."""
    shown = ("n_components", "loss", "penalty", "auxiliary_penalty")
    own = {name: value for name, value in model.get_params().items() if name in shown}
    return " ".join(
        f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value}" for name, value in own.items()
    )


def share_right(positions: Any, quadruplets: Any) -> float:
    i, j, k, l = positions[quadruplets.T]
    gap = ((k - l) ** 2).sum(1) - ((i - j) ** 2).sum(1)
    return float((gap > 0).mean() + 0.5 * (gap == 0).mean())


def methods_table(name: str, title: str, found: pd.DataFrame) -> Table:
    """Show every method's accuracy by size, and the standard deviation over splits."""
    groups = found.groupby(["data", "m", "method"], sort=False)
    rows = groups.accuracy.agg(accuracy="mean", deviation="std").reset_index()
    rows["features"] = np.where(rows.method.isin(FREE), "", "yes")
    rows["validation"] = groups.validation.mean().to_numpy()
    rows["chosen"] = groups.settings.first().to_numpy()
    columns = {
        "data": "", "m": "d", "method": "", "features": "", "accuracy": ".4f", "deviation": ".4f", "validation": ".4f",
        "chosen": "",
    }  # fmt: skip
    note = f"mean and standard deviation over {found.seed.nunique()} splits; chosen: in the first of them"
    return Table(name, title, columns, rows.to_dict("records"), note)


def margins_table(found: pd.DataFrame) -> Table:
    """Show what features add, with the goals."""
    rows = [row for m, part in found.groupby("m") for row in margins(int(m), part)]
    met = sum(row["met"] == "yes" for row in rows if row["goal"] is not None)
    note = f"{met} of {sum(row['goal'] is not None for row in rows)} goals met"
    columns = {
        "m": "d", "with features": "", "accuracy": ".4f", "beside": "", "its accuracy": ".4f", "difference": "+.4f",
        "goal": "+.3f", "met": "",
    }  # fmt: skip
    return Table("features_margins", "What features add, zappos85 with AlexNet features", columns, rows, note)


def margins(m: int, part: pd.DataFrame) -> Iterator[Row]:
    means = part.groupby("method").accuracy.mean()
    free = part.method.isin(FREE)
    best, alone = means[~means.index.isin(FREE)].idxmax(), means[means.index.isin(FREE)].idxmax()
    goal, own_goal = GOALS[m]
    yield margin(m, best, means[best], alone, means[alone], goal)
    picked = [side.loc[side.groupby("seed").validation.idxmax()].accuracy.mean() for side in (part[~free], part[free])]
    yield margin(m, "picked by validation", picked[0], "picked by validation", picked[1], None)
    for loss in ("logistic", "hinge"):
        ours, plain = f"RCKLAK {loss}", f"RCKL {loss}"
        yield margin(m, ours, means[ours], plain, means[plain], own_goal)


def margin(m: int, name: str, accuracy: float, other: str, its: float, goal: float | None) -> Row:
    met = "" if goal is None else "yes" if accuracy - its >= goal else "NO"
    return {
        "m": m, "with features": name, "accuracy": accuracy, "beside": other, "its accuracy": its,
        "difference": accuracy - its, "goal": goal, "met": met,
    }  # fmt: skip


def new_items_table(found: pd.DataFrame) -> Table:
    """Show how well items without answers are placed."""
    rows = found.groupby(["data", "m", "method"], sort=False, as_index=False)[["accuracy", "plain"]].mean()
    rows["difference"] = rows.accuracy - rows.plain
    columns = {
        "data": "", "m": "d", "method": "", "accuracy": ".4f", "plain": ".4f", "difference": "+.4f",
    }  # fmt: skip
    note = f"a fifth of the items held out; plain: distance of the features; mean over {PLACING_SPLITS} splits"
    return Table("features_new_items", "Items without any answer", columns, rows.to_dict("records"), note)
