"""The items of `taxonomy`: objects of COIL-20, their kernels, and comparisons that follow a taxonomy of the objects."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

import similitude as sm
from reproduce.trials import data_folder

N_EXAMPLES, N_ITEMS = 20, 200
# by what they show: toys (three cars; duck, cat, pig) and household things (two cups; two boxes of pills)
TAXONOMY = [[[2, 5, 18], [0, 3, 12]], [[11, 17], [4, 8]]]
USEFUL = ["pixels", "rows", "columns", "quadrants", "intensities"]
NOISE = [f"noise {k}" for k in range(1, 6)]


def examples() -> tuple[np.ndarray, np.ndarray]:
    """Return 20 views of each of ten objects, drawn from 72, and which objects they are."""
    file, rng = np.load(data_folder() / "image_sets" / "coil20.npz"), np.random.default_rng(0)
    chosen = [rng.permutation(np.flatnonzero(file["y"] == k))[:N_EXAMPLES] for k in sorted(branches())]
    items = np.concatenate(chosen)
    return file["X"][items].reshape(-1, 32, 32) / 255.0, file["y"][items].astype(int)


def features() -> dict[str, np.ndarray]:
    images, _ = examples()
    quadrants = [images[:, r : r + 16, c : c + 16].reshape(len(images), -1) for r in (0, 16) for c in (0, 16)]
    tables = {
        "pixels": images.reshape(len(images), -1),
        "rows": images.sum(2),
        "columns": images.sum(1),
        "quadrants": np.hstack([intensities(own, 4) for own in quadrants]),
        "intensities": intensities(images.reshape(len(images), -1), 16),
    }
    rng = np.random.default_rng(1)
    for k in range(5):
        points = rng.normal(size=(len(images), 3))
        tables[f"noise {k + 1}"] = points / np.linalg.norm(points, axis=1, keepdims=True)
    return tables


def intensities(pixels: np.ndarray, bins: int) -> np.ndarray:
    """Return the histogram of each row's values."""
    return np.stack([np.histogram(row, bins, (0.0, 1.0))[0] / len(row) for row in pixels])


def kernel(name: str, table: np.ndarray) -> Any:
    plain = name == "pixels" or name.startswith("noise")
    return sm.kernels.UnitTrace(sm.kernels.Centred((sm.kernels.Linear if plain else sm.kernels.RBF)(table)))


def branches() -> dict[int, list[frozenset[int]]]:
    """For each object, the branches it is on, from itself to the root, as sets of objects."""

    def below(node: Any) -> list[int]:
        return [node] if isinstance(node, int) else [object_ for child in node for object_ in below(child)]

    def walk(node: Any, above: list[frozenset[int]]) -> Iterator[tuple[int, list[frozenset[int]]]]:
        here = [frozenset(below(node)), *above]
        if isinstance(node, int):
            yield node, here
        else:
            for child in node:
                yield from walk(child, here)

    return dict(walk(TAXONOMY, []))


def comparisons(per_step: int) -> sm.Comparisons:
    """Draw comparisons whose near pair meets one step lower in the taxonomy than the far one.

    Only consecutive steps are compared: no comparison follows from others.
    """
    _, labels = examples()
    rng, paths, rows = np.random.default_rng(2), branches(), []
    for head, label in enumerate(labels):
        path = paths[label]
        rings = [np.isin(labels, list(outer - inner)) for inner, outer in pairwise([frozenset(), *path])]
        rings[0][head] = False
        for near, far in pairwise(rings):
            j, k = (rng.choice(np.flatnonzero(ring), per_step) for ring in (near, far))
            rows.append(np.column_stack([np.full(per_step, head), j, k]))
    return sm.Comparisons.from_triplets(np.unique(np.concatenate(rows), axis=0))
