"""The eigenpair below 0 of a kernel after an online step, from an inverse that is kept up to date: O(n²) an answer.

A step takes K >= 0 to K' = K - gamma (x x' - y y'), which has at most one eigenvalue below 0, -s. Its eigenvector is
(K + s)^-1 (x - b y) for some b, where s is the one zero of the increasing function

    g(s) = 1 - gamma x' (K + gamma y y' + s)^-1 x;         none is below 0 where g(0) >= 0.

With P = (K + SHIFT)^-1 at hand, (K + s)^-1 is a function of P, so Lanczos on P from x and y gives g and the eigenvector
for every s at once. Eigenvalues of K near 0, where Lanczos on K itself crawls, are far apart in P: a dozen products do
what took a hundred and more. P follows K by a change of rank three.
"""

from __future__ import annotations

import numba
import numpy as np
from scipy import linalg

from similitude.engine.compiled import FLAGS
from similitude.engine.eigenpairs import TOL, least_eigenpair
from similitude.jit import kernel
from similitude.types import Floats, Ints

SHIFT = 0.005
"""What is added to the kernel before it is inverted: between the eigenvalues that steps of margin 1 bring below 0."""

WORTH_FROM = 120
"""Items from which on the inverse is worth its while: for fewer, LAPACK is as fast."""

RENEW = 400
"""After so many eigenpairs the inverse is computed anew, and rounding errors are gone; by then they are 1e-11 of it."""

_DEEPEST = 50  # blocks of two: a dozen are usual
_NONE = 1e-10  # what counts as 0: the residual allowed is larger

_kernel = kernel(**FLAGS)
_inlined = numba.njit(forceinline=True, **FLAGS)


def inverse_of(K: Floats) -> Floats:
    """(K + SHIFT)^-1 of a positive semidefinite kernel, symmetric to the last bit."""
    P = linalg.inv(K + SHIFT * np.eye(len(K)))
    return np.asarray(0.5 * (P + P.T))


def follow(P: Floats, row: Ints, off: float, gamma: float, value: float, vector: Floats) -> None:
    """Change the inverse of K + SHIFT, in place, into that of K - gamma (x x' - y y') - value · vector vector' + SHIFT.

    The change is a sum of outer products that are symmetric to the last bit: what is not symmetric in P would grow from
    step to step.
    """
    i, j, k, l = row.tolist()
    basis = np.zeros((3, len(P)))
    basis[0, [i, j]] += off, -1.0
    basis[1, [k, l]] += off, -1.0
    basis[2] = vector
    images = np.stack([off * P[i] - P[j], off * P[k] - P[l], P @ vector])
    sizes = np.diag([-gamma, gamma, -value])
    middle = np.linalg.solve(np.eye(3) + sizes @ (basis @ images.T), sizes)
    weights, turn = np.linalg.eigh(0.5 * (middle + middle.T))
    subtract_outers(P, weights, turn.T @ images)


def least_by_inverse(P: Floats, start: Floats) -> float:
    """The least eigenvalue of K by the largest of P."""
    return -1.0 / least_eigenpair(-P, start)[0] - SHIFT


@kernel()
def subtract_outers(P, weights, rows):  # type: ignore[no-untyped-def]
    """P - sum of weight · row row' over three rows, in place and exactly symmetric."""
    for i in range(len(P)):
        for j in range(len(P)):
            P[i, j] -= (
                weights[0] * (rows[0, i] * rows[0, j])
                + weights[1] * (rows[1, i] * rows[1, j])
                + weights[2] * (rows[2, i] * rows[2, j])
            )


@_inlined
def _times(P, first, second, images):  # type: ignore[no-untyped-def]
    """P times two vectors, in one pass over P."""
    for i in range(len(P)):
        a, b = 0.0, 0.0
        for j in range(len(P)):
            a += P[i, j] * first[j]
            b += P[i, j] * second[j]
        images[0, i] = a
        images[1, i] = b


@_kernel
def _append(basis, T, width, image, source):  # type: ignore[no-untyped-def]
    """Append what is new in the image of a basis vector; its parts go to a column of T. Returns the new width."""
    whole = np.sqrt(np.dot(image, image))
    for _ in range(2):
        for k in range(width):
            part = np.dot(basis[k], image)
            T[k, source] += part
            for t in range(len(image)):
                image[t] -= part * basis[k, t]
    left = np.sqrt(np.dot(image, image))
    if left <= 1e-12 * whole:
        return width
    T[width, source] = left
    for t in range(len(image)):
        basis[width, t] = image[t] / left
    return width + 1


@_inlined
def _inverted(p, s):  # type: ignore[no-untyped-def]
    """1/(mu + s) for an eigenvalue mu = 1/p - SHIFT of K; one below 0 is what earlier residuals left, and means 0."""
    return 1.0 / (max(0.0, 1.0 / p - SHIFT) + s)


@_kernel
def _zero(p, x, y, gamma, furthest):  # type: ignore[no-untyped-def]
    """Return s with g(s) = 0, or `_NONE` where there is none, b, and g(s); by bisection of log s.

    p are the eigenvalues of P on the basis, x and y the parts of x and y along its eigenvectors.
    """
    low, high, s, b, g = _NONE, furthest, _NONE, 0.0, 0.0
    for round_ in range(100):
        xx, xy, yy = 0.0, 0.0, 0.0
        for k in range(len(p)):
            inverse = _inverted(p[k], s)
            xx += inverse * x[k] * x[k]
            xy += inverse * x[k] * y[k]
            yy += inverse * y[k] * y[k]
        b = gamma * xy / (1.0 + gamma * yy)
        g = 1.0 - gamma * (xx - b * xy)
        if round_ == 0 and g >= 0.0:
            break
        if g < 0.0:
            low = s
        else:
            high = s
        if high - low <= 1e-13 * high:
            break
        s = np.sqrt(low * high)
    return s, b, g


@_kernel
def _solved(T, width, done, R, gamma, furthest):  # type: ignore[no-untyped-def]
    """Return s, g(s), (K + s)^-1 (x - b y) in coordinates of the basis, and the residual to be expected of it."""
    square = np.empty((done, done))
    for a in range(done):
        for b in range(done):
            square[a, b] = 0.5 * (T[a, b] + T[b, a])
    p, turn = np.linalg.eigh(square)
    x, y = np.zeros(done), np.zeros(done)
    for k in range(done):
        for a in range(min(done, 2)):
            x[k] += R[a, 0] * turn[a, k]
            y[k] += R[a, 1] * turn[a, k]
    s, b, g = _zero(p, x, y, gamma, furthest)
    found = np.zeros(done)
    for k in range(done):
        part = _inverted(p[k], s) * (x[k] - b * y[k])
        for a in range(done):
            found[a] += part * turn[a, k]
    beyond = 0.0
    for c in range(done, width):
        part = 0.0
        for a in range(max(0, done - 2), done):
            part += T[c, a] * found[a]
        beyond += part * part
    return s, g, found, abs(s - SHIFT) * np.sqrt(beyond) / p[0]  # 1/p[0]: the largest eigenvalue of K + SHIFT


@_kernel
def _eigenvalue(K, basis, found, size, vector, images):  # type: ignore[no-untyped-def]
    """Write out the vector that was found; returns its eigenvalue and residual by K itself."""
    for t in range(len(vector)):
        vector[t] = 0.0
    for a in range(len(found)):
        for t in range(len(vector)):
            vector[t] += found[a] / size * basis[a, t]
    _times(K, vector, vector, images)
    value, residual = np.dot(images[0], vector), 0.0
    for t in range(len(vector)):
        residual += (images[0, t] - value * vector[t]) ** 2
    return value, np.sqrt(residual)


@_kernel
def eigenpair_below(K, P, row, off, gamma, least, furthest):  # type: ignore[no-untyped-def]
    """Return the eigenpair below 0 of K, and whether it was found to a residual of `TOL`; value 0 where none is below.

    K is the kernel *after* the step, K' above, P the inverse before it; x = off · e_i - e_j and y = off · e_k - e_l for
    a row (i, j, k, l). No eigenvalue before the step was below `least`, and none is below -furthest after it.

    That none is below 0 is certain where g > 0 beyond its error. With a residual r of u = (K + s)^-1 (x - b y) that is
    at most gamma (|u| |r| + |r|² / (least + s)).
    """
    n = len(K)
    basis, T = np.empty((2 * _DEEPEST + 2, n)), np.zeros((2 * _DEEPEST + 2, 2 * _DEEPEST + 1))
    images, R, last = np.zeros((2, n)), np.zeros((2, 2)), 2 * _DEEPEST
    images[0, row[0]], images[0, row[1]] = off, -1.0
    images[1, row[2]], images[1, row[3]] = off, -1.0
    width = _append(basis, T, 0, images[0], last)
    width = _append(basis, T, width, images[1], last)
    for a in range(width):
        R[a, 0] = off * basis[a, row[0]] - basis[a, row[1]]
        R[a, 1] = off * basis[a, row[2]] - basis[a, row[3]]
    done, vector = 0, np.zeros(n)
    for depth in range(1, _DEEPEST):
        end = width
        _times(P, basis[done], basis[end - 1], images)
        for c in range(end - done):
            width = _append(basis, T, width, images[c], done + c)
        done = end
        if width > done and (depth < 3 or depth % 2 == 0):
            continue
        s, g, found, residual = _solved(T, width, done, R, gamma, furthest)
        size = np.sqrt(np.dot(found, found))
        if s <= _NONE and gamma * residual * (size + residual / (least + _NONE)) < 0.5 * g:
            return 0.0, vector, True
        if s > _NONE and residual <= TOL * size:
            value, found_residual = _eigenvalue(K, basis, found, size, vector, images)
            if found_residual <= TOL:
                return value, vector, True
        if width == done:
            break
    return 0.0, vector, False
