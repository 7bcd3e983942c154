"""Simulated answers of which the truth is known.

The seed of the data is none that estimators are given: one that draws its start from the same stream as the
truth would be handed the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit

DATA_SEED = 90_001


@dataclass(frozen=True)
class Problem:
    """m noisy triplets about n items with normal positions in d dimensions, and as noisy ones held out.

    Whether an answer is right is drawn from a logistic model of the difference of squared distances, whose
    scale is set so that a share `wrong` of all answers is wrong: close calls go wrong most.
    """

    n: int
    m: int
    d: int
    wrong: float = 0.1
    m_test: int = 100_000

    def __str__(self) -> str:
        return f"n={self.n:,} m={self.m:,} d={self.d}"

    def triplets(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return answers for training and for testing: rows (head, near, far)."""
        rng = np.random.default_rng(DATA_SEED)
        positions = rng.normal(size=(self.n, self.d))
        rows = _distinct(rng, self.n, self.m + self.m_test)
        gap = _gaps(positions, rows)
        right = rng.random(len(rows)) < expit(gap / _scale(np.abs(gap[:20_000]), self.wrong))
        rows = np.where(right[:, None], rows, rows[:, [0, 2, 1]])
        return rows[: self.m], rows[self.m :]

    def save(self, folder: str | Path) -> str:
        """Write the problem to a file for the workers and return its path."""
        train, test = self.triplets()
        path = Path(folder) / f"n{self.n}_m{self.m}_d{self.d}.npz"
        np.savez(path, train=train, test=test, n=self.n, d=self.d)
        return str(path)


def _distinct(rng: np.random.Generator, n: int, count: int) -> npt.NDArray[np.int64]:
    """Draw rows of three different items."""
    one, two, three = rng.integers(0, [[n], [n - 1], [n - 2]], size=(3, count))
    two += two >= one
    low, high = np.minimum(one, two), np.maximum(one, two)
    three += three >= low
    three += three >= high
    return np.stack([one, two, three], axis=1)


def _scale(gap: npt.NDArray[np.float64], wrong: float) -> float:
    """Return the scale at which a logistic model gets a share `wrong` of the gaps wrong."""
    return float(brentq(lambda scale: expit(-gap / scale).mean() - wrong, 1e-6, 1e6))


@dataclass(frozen=True)
class DiskProblem:
    """`Problem` of any size: its answers are drawn and written chunk by chunk, and need not fit in memory."""

    n: int
    m: int
    d: int
    wrong: float = 0.1
    m_test: int = 100_000
    chunk: int = 1 << 20

    def __str__(self) -> str:
        return f"n={self.n:,} m={self.m:,} d={self.d}"

    def write(self, folder: str | Path) -> npt.NDArray[np.int64]:
        """Write the answers to a folder for `ComparisonDataset`, and return those to test with."""
        import similitude as sm

        rng = np.random.default_rng(DATA_SEED)
        positions = rng.normal(size=(self.n, self.d))
        gap = _gaps(positions, _distinct(rng, self.n, 20_000))
        scale = _scale(np.abs(gap), self.wrong)
        test = self._answers(rng, positions, scale, self.m_test)
        with sm.ComparisonWriter(folder, n_items=self.n) as writer:
            for start in range(0, self.m, self.chunk):
                writer.write(self._answers(rng, positions, scale, min(self.chunk, self.m - start)))
        return test

    def _answers(
        self, rng: np.random.Generator, positions: npt.NDArray[np.float64], scale: float, count: int
    ) -> npt.NDArray[np.int64]:
        rows = _distinct(rng, self.n, count)
        right = rng.random(count) < expit(_gaps(positions, rows) / scale)
        return np.where(right[:, None], rows, rows[:, [0, 2, 1]])


def _gaps(positions: npt.NDArray[np.float64], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """By how much the third item is farther from the first than the second is, in squared distance."""
    head, one, two = positions[rows.T]
    return ((head - two) ** 2).sum(1) - ((head - one) ** 2).sum(1)
