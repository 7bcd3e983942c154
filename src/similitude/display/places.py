"""Where items stand on a picture: the plane of a map, its scale, and ellipses of doubtful places."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from similitude.types import Floats

_MOST_REACH = 0.25  # of an ellipse, as a share of the map
_FEW = 64  # dimensions of which all directions are found as fast as two

Ellipse = tuple[float, float, float]
"""Half axes along and across, and the angle in degrees by which the first is turned (clockwise, as pictures count)."""

BAR = 7.0
"""Half the height of a bar on a screen, which stands for an ellipse that is a line: somewhat more than a point's."""
_LINE = 0.25  # half an axis, in units of a picture, below which an ellipse is not seen


def plane(positions: Floats) -> Floats:
    """(d, 2) the directions of a map's plane: the two of largest spread; two dimensions or one as they are."""
    X = np.asarray(positions, float)
    if X.shape[1] <= 2:
        return np.eye(X.shape[1], 2)
    axes = _widest(X - X.mean(0))
    axes *= np.where(axes[np.arange(2), np.abs(axes).argmax(1)] < 0, -1.0, 1.0)[:, None]
    return axes.T


def _widest(centred: Floats) -> Floats:
    """(2, d) the two directions of largest spread; by Lanczos where there are many, since two are wanted of them."""
    d = centred.shape[1]
    if d <= _FEW or not centred.any():
        return np.linalg.svd(centred, full_matrices=False)[2][:2] if min(centred.shape) > 1 else np.eye(2, d)
    from scipy.sparse.linalg import LinearOperator, eigsh  # not needed to load a model and use it

    spread = LinearOperator((d, d), matvec=lambda v: centred.T @ (centred @ v.ravel()), dtype=float)
    start = np.random.default_rng(0).standard_normal((d,))
    _, vectors = eigsh(spread, 2, v0=start, tol=1e-6)
    return np.asarray(vectors[:, ::-1].T, np.float64)


def placed(
    flat: Floats, width: float, margin: float, heights: tuple[float, float] = (0.5, 1.3), around: Floats | float = 0.0
) -> tuple[Floats, float, float]:
    """Return positions in units of the picture, how many of them a unit of the map is, and the picture's height.

    Parameters
    ----------
    flat : (n, 2) positions on the map
    width, margin : of the picture
    heights : the least height and the most, as shares of the width
    around : (n, 2) how much of the map around each position must be on the picture, too
    """
    low, high = (flat - around).min(0), (flat + around).max(0)
    unit = (width - 2 * margin) / max(high[0] - low[0], 1e-12)
    height = np.clip(unit * (high[1] - low[1]) + 2 * margin, heights[0] * width, heights[1] * width)
    unit = min(unit, (height - 2 * margin) / max(high[1] - low[1], 1e-12))
    middle = np.array([width / 2, height / 2])
    return middle + (flat - (low + high) / 2) * [unit, -unit], float(unit), float(height)


def room_for_ellipses(flat: Floats, covariance: Floats, reach: float) -> Floats:
    """(n, 2) how far ellipses reach around items; the largest may be cut, lest they press the map together.

    Parameters
    ----------
    flat : (n, 2) positions on the map
    covariance : (n, 2, 2) of each; NaN where nothing is known
    reach : in standard deviations
    """
    far = reach * np.sqrt(np.nan_to_num(np.maximum(np.einsum("ndd->nd", covariance), 0.0)))
    return np.minimum(far, _MOST_REACH * np.ptp(flat, axis=0).max())


def deviations(level: float, d: int) -> float:
    """Return how many standard deviations of a normal distribution, on a line or in the plane, hold so much of it."""
    return NormalDist().inv_cdf((1 + level) / 2) if d == 1 else float(np.sqrt(-2.0 * np.log1p(-level)))


def is_bar(one: Ellipse) -> bool:
    """Whether an ellipse is a line, as in a map of one dimension: browsers draw none of these."""
    return one[1] < _LINE


def ellipse(covariance: Floats, reach: float) -> Ellipse:
    """Return the ellipse of a (2, 2) covariance that reaches so many standard deviations."""
    values, vectors = np.linalg.eigh(covariance)
    half = reach * np.sqrt(np.maximum(values, 0.0))
    angle = -np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
    return float(half[1]), float(half[0]), float(angle)
