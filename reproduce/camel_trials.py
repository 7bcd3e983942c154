"""One trial of `camel`: a table, a draw; every method at its best setting, by number of labelled rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
from benchmarks import real_data
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Lasso
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

import similitude as sm
from reproduce.baselines import lmnn, mlkr, svm_combo

TABLES = ("breast cancer", "pima", "ecoli", "vowel", "planted")
SIZES = (10, 20, 40, 100)
VALIDATION, NOISE = 100, 0.1
WIDTHS, L1, RANKING, COST = (0.5, 1.0, 2.0), (0.01, 0.05, 0.2), (1.0, 5.0), (0.1, 1.0, 10.0)
Scores = Callable[[np.ndarray], np.ndarray]
Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
Fit = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[Scores, dict]]


@cache
def table(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, a class of 0 or 1 (rare in ecoli and vowel), and how sure the expert is of it, but for the noise."""
    if name == "planted":
        X = np.random.default_rng(90_010).normal(size=(700, 10))
        margin = X[:, 0] + 0.5 * X[:, 1]
        return X, (margin > 0).astype(int), 1 / (1 + np.exp(-2 * np.abs(margin)))
    X, y = public_table(name)
    forest = RandomForestClassifier(200, oob_score=True, min_samples_leaf=2, random_state=0).fit(X, y)
    return X, y, forest.oob_decision_function_[np.arange(len(y)), y]


def public_table(name: str) -> tuple[np.ndarray, np.ndarray]:
    folder = real_data.folder() / "uci_small"
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return X, 1 - y
    if name == "pima":
        frame = pd.read_csv(folder / "PimaIndiansDiabetes.csv")
        return frame.iloc[:, :-1].to_numpy(float), (frame.diabetes == "pos").to_numpy(int)
    if name == "ecoli":
        frame = pd.read_csv(folder / "ecoli.csv", header=None)
        return frame.iloc[:, :-1].to_numpy(float), (frame.iloc[:, -1] == "im").to_numpy(int)
    frame = pd.read_csv(folder / "Vowel.csv")
    return frame.iloc[:, 1:-1].to_numpy(float), (frame.Class == "hid").to_numpy(int)


def fit_original(width: float) -> Fit:
    return lambda X, y, _: (kernel_score(np.eye(X.shape[1]) / (width * np.sqrt(X.shape[1])), X, y), {})


def fit_lmnn(neighbours: int, width: float) -> Fit:
    return lambda X, y, _: (kernel_score(lmnn(X, y, neighbours, 30) / width, X, y), {})


def fit_mlkr(steps: int) -> Fit:
    def fit(X: np.ndarray, y: np.ndarray, c: np.ndarray) -> tuple[Scores, dict]:
        chance = np.where(y == 1, c, 1 - c)
        return kernel_score(mlkr(X, chance, steps), X, chance), {}

    return fit


def fit_svm(cost: float, ranking: float | None = None) -> Fit:
    def fit(X: np.ndarray, y: np.ndarray, c: np.ndarray) -> tuple[Scores, dict]:
        w, b = svm_combo(X, 2 * y - 1, None if ranking is None else c, cost, (ranking or 0.0) * cost)
        return lambda rows: rows @ w + b, {}

    return fit


def fit_lasso(price: float) -> Fit:
    return lambda X, y, c: (Lasso(price, max_iter=20_000).fit(X, np.where(y == 1, c, 1 - c)).predict, {})


def fit_camel(penalty: float, ranking: float | None = None) -> Fit:
    def fit(X: np.ndarray, y: np.ndarray, c: np.ndarray) -> tuple[Scores, dict]:
        model = sm.CAMEL(penalty=penalty, ranking=ranking or 0.0, max_iter=60, tol=1e-7, n_init=2, random_state=0)
        model.fit(X, y, None if ranking is None else c)
        return model.decision_function, {"sparsity": model.sparsity_, "rank": model.rank_, "features": X.shape[1]}

    return fit


METHODS: dict[str, list[Fit]] = {
    "Orig": [fit_original(width) for width in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)],
    "LMNN": [fit_lmnn(count, width) for count in (1, 3) for width in WIDTHS],
    "MLKR": [fit_mlkr(steps) for steps in (2, 5, 10, 20, 40, 80)],
    "SVM": [fit_svm(cost) for cost in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)],
    "SVM-Combo": [fit_svm(cost, ranking) for cost in COST for ranking in RANKING],
    "Lasso": [fit_lasso(price) for price in (0.001, 0.003, 0.01, 0.03, 0.1, 0.2)],
    "CAMEL": [fit_camel(penalty) for penalty in (0.003, 0.01, 0.03, 0.06, 0.1, 0.2)],
    "CAMEL-CL": [fit_camel(penalty, ranking) for penalty in L1 for ranking in RANKING],
}


def kernel_score(L: np.ndarray, X: np.ndarray, target: np.ndarray) -> Scores:
    """Return kernel regression of the target; for classes, S^1 / (S^0 + S^1) with means over the classes."""
    weight = np.where(target == 1, 1 / max((target == 1).sum(), 1), 1 / max((target != 1).sum(), 1))
    weight = weight if set(np.unique(target)) <= {0, 1} else np.ones(len(target))

    def score(rows: np.ndarray) -> np.ndarray:
        d2 = euclidean_distances(rows @ L.T, X @ L.T, squared=True)
        K = np.exp(-(d2 - d2.min(1, keepdims=True))) * weight
        return (K @ target) / K.sum(1)

    return score


def fitted(fit: Fit, X: np.ndarray, y: np.ndarray, c: np.ndarray) -> tuple[Scores, dict]:
    """Fit to standardised rows, and score rows as they are."""
    scale = StandardScaler().fit(X)
    score, figures = fit(scale.transform(X), y, c)
    return lambda rows: score(scale.transform(rows)), figures


def best_fit(settings: list[Fit], known: Rows, validation: Rows) -> tuple[Scores, dict]:
    """Return the fit with the best AUROC on the validation rows, which only choose."""
    fits = [fitted(fit, *known) for fit in settings]
    return max(fits, key=lambda fit: roc_auc_score(validation[1], fit[0](validation[0])))


def trial(which: int, draw: int) -> list[dict]:
    X, y, sureness = table(TABLES[which])
    rng = np.random.default_rng(draw)
    sure = np.clip(sureness + NOISE * rng.normal(size=len(y)), 0.0, 1.0)
    order = start_with_both(rng.permutation(len(X)), y)
    validation, test, rows = *np.split(order[max(SIZES) :], [VALIDATION]), []
    for size in SIZES:
        train = order[:size]
        known = X[train], y[train], sure[train]
        for method, settings in METHODS.items():
            score, figures = best_fit(settings, known, (X[validation], y[validation], sure[validation]))
            found = roc_auc_score(y[test], score(X[test]))
            row = {"table": TABLES[which], "draw": draw, "rows": size, "method": method, "auroc": found}
            rows.append(row | {name: float(value) for name, value in figures.items()})
    return rows


def start_with_both(order: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Put three rows of either class first, so that every fold of ten rows has both."""
    first = np.concatenate([order[y[order] == code][:3] for code in (0, 1)])
    return np.concatenate([first, order[~np.isin(order, first)]])
