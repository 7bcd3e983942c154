"""Pictures for `comparison_kernels`: kernel matrices of generated sets, the tree of food100, the map of car60."""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from PIL import Image
from scipy.cluster.hierarchy import fcluster
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

import similitude as sm
from similitude.plot.style import COLOURS

HERE = Path(__file__).parent
N, SHARE = 400, 0.1


def data_folder() -> Path:
    return Path(os.environ.get("SIMILITUDE_DATA", HERE.parents[1] / "shared" / "data"))


def save(figure: plt.Figure, name: str) -> str:
    """Write a small picture (few colours) beside the results and return the line of Markdown that shows it."""
    figure.canvas.draw()
    pixels = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
    pixels.quantize(64).save(HERE / "results" / f"comparison_kernels_{name}.png", optimize=True)
    plt.close(figure)
    return f"![{name}](comparison_kernels_{name}.png)"


def generated_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Five sets of 400 items: positions to draw, and distances; ordered so that neighbours in the list are alike."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(4), N // 4)
    turn = np.sort(rng.uniform(0, 2 * np.pi, N))
    half = np.linspace(0, np.pi, N // 2)
    moons = np.concatenate([np.c_[np.cos(half), np.sin(half)], np.c_[1 - np.cos(half), 0.5 - np.sin(half)]])
    square = rng.uniform(size=(N, 2))
    planar = {
        "four Gaussians": rng.normal(size=(N, 2)) + 7 * np.array([[0, 0], [1, 0], [0, 1], [2.2, 2.2]])[group],
        "uniform square": square[np.argsort(square[:, 0])],
        "two moons": moons + 0.05 * rng.normal(size=(N, 2)),
        "ring": np.c_[np.cos(turn), np.sin(turn)] * rng.normal(1.0, 0.05, (N, 1)),
    }
    sets = {name: (X, cdist(X, X)) for name, X in planar.items()}
    sets["block-model graph"] = block_model(group, rng)
    return sets


def block_model(group: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A stochastic block model with shortest paths; ties, of which there are many, are broken at random."""
    chance = np.where(group[:, None] == group, 0.12, 0.004)
    edges = np.triu(rng.random((N, N)) < chance, 1)
    steps = shortest_path(edges | edges.T, unweighted=True)
    steps[np.isinf(steps)] = steps[np.isfinite(steps)].max() + 1
    tie = np.triu(rng.uniform(0, 0.5, (N, N)), 1)
    around = 2 * np.pi * group / 4 + rng.normal(0, 0.25, N)
    return np.c_[np.cos(around), np.sin(around)] * rng.normal(1, 0.12, (N, 1)), steps + tie + tie.T * (steps > 0)


def kernel_matrices() -> tuple[list[dict], str]:
    """Draw data, distances, k1, k2 and the scores of one item for the five sets; correlate kernel and distance."""
    rows, sets = [], generated_sets()
    figure, axes = plt.subplots(len(sets), 5, figsize=(13, 11.5), dpi=60, layout="constrained")
    for (name, (X, D)), line in zip(sets.items(), axes, strict=True):
        D = (D + D.T) / 2
        c = sm.simulate(D, int(SHARE * N * (N - 1) * (N - 2) / 2), metric="precomputed", random_state=1)
        K = {kind: sm.ComparisonKernel(kind).fit(c).kernel_ for kind in ("k1", "k2")}
        line[0].scatter(*X.T, s=6, color=COLOURS[0])
        line[0].set(title=name, xticks=[], yticks=[], aspect="equal")
        line[1].imshow(D, cmap="viridis_r")
        line[1].set(title="distances", xticks=[], yticks=[])
        for kind, ax in zip(K, line[2:4], strict=True):
            sm.plot.kernel_matrix(K[kind], ax=ax)
            ax.set_title(kind)
        fixed, others = N // 8, np.delete(np.arange(N), N // 8)
        line[4].scatter(*X[others].T, s=8, c=K["k1"][fixed, others], cmap="viridis")
        line[4].scatter(*X[fixed], marker="x", s=90, color="black")
        line[4].set(title="k1 to the cross", xticks=[], yticks=[], aspect="equal")
        rows.append({"set": name} | {kind: agreement(K[kind], D) for kind in K})
    return rows, save(figure, "matrices")


def agreement(K: np.ndarray, D: np.ndarray) -> float:
    """Mean over items of the rank correlation between kernel value and nearness."""
    others = ~np.eye(len(D), dtype=bool)
    return float(np.mean([spearmanr(K[a, others[a]], -D[a, others[a]]).statistic for a in range(len(D))]))


def food_tree() -> tuple[dict, str]:
    """Draw the tree of the dishes by k1; say how far ten clusters explain which contain sugar, beside chance."""
    table = pd.read_csv(data_folder() / "food100" / "objects.csv")
    c = sm.read_comparisons(data_folder() / "food100" / "triplets_unique.csv.gz")
    model = sm.ComparisonKernel("k1", reduce_diagonal=True).fit(c)
    tree = sm.kernel_linkage(model.kernel_, "complete")
    clusters = fcluster(tree, 10, "maxclust")
    figure, ax = plt.subplots(figsize=(10, 14), dpi=65, layout="constrained")
    names = table.name.str.strip().fillna("(no name)").str.slice(0, 44)
    sm.plot.dendrogram(tree, labels=names.tolist(), n_clusters=10, ax=ax)
    known = table.ingredients.notna().to_numpy()
    sweet = table.ingredients[known].str.contains("sugar|chocolate|honey|syrup").to_numpy(float)
    rng = np.random.default_rng(0)
    chance = [explained(sweet, rng.permutation(clusters[known])) for _ in range(1000)]
    return {
        "shift": model.shift_,
        "sizes": np.bincount(clusters)[1:].tolist(),
        "known": int(known.sum()),
        "sugar explained": explained(sweet, clusters[known]),
        "by chance": float(np.quantile(chance, 0.95)),
    }, save(figure, "food100")


def explained(values: np.ndarray, clusters: np.ndarray) -> float:
    """Share of the variance of values that lies between clusters."""
    means = pd.Series(values).groupby(clusters).transform("mean").to_numpy()
    return float(1 - ((values - means) ** 2).sum() / ((values - values.mean()) ** 2).sum())


def car_map() -> tuple[dict, str]:
    """Draw kernel PCA of the cars by k2; say how well their classes, which it did not know, lie apart."""
    c = sm.read_comparisons(data_folder() / "car60" / "most_central.csv")
    classes = pd.read_csv(data_folder() / "car60" / "objects.csv")["class"].str.replace("_", " ").to_numpy()
    model = sm.ComparisonKernel("k2", reduce_diagonal=True).fit(c)
    positions = sm.kernel_map(model.kernel_)
    figure, ax = plt.subplots(figsize=(9, 6.5), dpi=65, layout="constrained")
    sm.plot.embedding(positions, classes=classes, labels=[str(k + 1) for k in range(len(classes))], ax=ax)
    few = sm.KernelKMeans(4, n_init=20, random_state=0).fit(model.kernel_)
    D = cdist(positions, positions)
    chance = [sm.separation(D, np.random.default_rng(k).permutation(classes)) for k in range(200)]
    embedding = sm.CKL(2, random_state=0).fit(c)
    return {
        "shift": model.shift_,
        "classes": pd.Series(classes).value_counts().to_dict(),
        "J": sm.separation(D, classes),
        "J by chance": float(np.quantile(chance, 0.95)),
        "J of CKL": sm.separation(embedding.distances(), classes),
        "purity": sm.purity(classes, few.labels_),
    }, save(figure, "car60")
