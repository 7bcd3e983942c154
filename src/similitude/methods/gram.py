"""F F' of many rows: blocks of dense features, products of columns of sparse ones; exactly symmetric."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from similitude.engine.threads import one_blas_thread, over_chunks
from similitude.methods.compiled import add_products, count_columns
from similitude.types import Array

BLOCK = 2048
_SIMD = 16  # multiply-adds of a dense product in the time of one at a scattered place
_SMALL = 10**9  # multiply-adds below which one thread is the fastest
_GATHERED = 1 << 16  # entries of a block of sparse columns
_CHUNKS = 4  # of rows, each of which gathers the columns anew
_WORTH_CHUNKS = 10**7  # multiply-adds from which that is worth it
_DENSE_CELLS = 1 << 22  # cells of a block of columns made dense


def gram(features: Any, dtype: npt.DTypeLike = np.float64, block: int = BLOCK) -> Array:
    """Return F F' (n × n) of dense or sparse features (n × p).

    Parameters
    ----------
    features : array or CSR matrix with ascending columns
    dtype : float32 halves the memory of the result
    block : rows of a block; beside the result, memory is needed for one block
    """
    small = features.shape[0] ** 2 * features.shape[1] < _SMALL
    with one_blas_thread() if small else nullcontext():
        return _gram(features, dtype, block)


def _gram(features: Any, dtype: npt.DTypeLike, block: int) -> Array:
    n = features.shape[0]
    K = np.zeros((n, n), dtype)
    if isinstance(features, np.ndarray):
        _add_blocks(K, np.asarray(features, dtype), block)
        return K
    size = count_columns(features.indices, features.shape[1])
    if (size.astype(float) ** 2).sum() * _SIMD > float(n) ** 2 * features.shape[1]:
        for part in _dense_parts(features, dtype):
            _add_blocks(K, part, block)
        return K
    starts = np.concatenate([[0], np.cumsum(size)])
    data = np.asarray(features.data, dtype)
    begin = features.indptr.astype(np.int64)
    bounds = _row_bounds(n, 0.5 * float((size.astype(float) ** 2).sum()))

    def add(chunk: int) -> None:
        add_products(begin, features.indices, data, starts, _GATHERED, K, bounds[chunk], bounds[chunk + 1])

    over_chunks(add, len(bounds) - 1)
    for rows, below in _blocks(n, block):
        K[rows, below] = K[below, rows].T
        lower = np.tril(K[rows, rows], -1)
        K[rows, rows] = lower + lower.T + np.diag(np.diagonal(K[rows, rows]))
    return K


def _row_bounds(n: int, products: float) -> list[int]:
    """Cut the rows of a lower triangle where its chunks are alike in size; one chunk where there is little to do."""
    count = _CHUNKS if products > _WORTH_CHUNKS else 1
    return [round(n * (chunk / count) ** 0.5) for chunk in range(count + 1)]


def _blocks(n: int, block: int) -> Iterator[tuple[slice, slice]]:
    """Give each block of rows, and all rows below it."""
    for start in range(0, n, block):
        stop = min(start + block, n)
        yield slice(start, stop), slice(stop, n)


def _add_blocks(K: Array, F: Array, block: int) -> None:
    """Add F F' to K block by block; each block off the diagonal is computed once and mirrored."""
    for rows, below in _blocks(len(K), block):
        K[rows, rows] += F[rows] @ F[rows].T  # one array twice: BLAS computes a triangle, and it is symmetric
        for columns, _ in _blocks(below.stop - below.start, block):
            other = slice(below.start + columns.start, below.start + columns.stop)
            K[rows, other] += F[rows] @ F[other].T
            K[other, rows] = K[rows, other].T


def _dense_parts(features: Any, dtype: npt.DTypeLike) -> Iterator[Array]:
    """Give the features as dense blocks of columns."""
    by_column = features.astype(dtype).tocsc()
    width = max(1, _DENSE_CELLS // features.shape[0])
    for start in range(0, features.shape[1], width):
        yield np.ascontiguousarray(by_column[:, start : start + width].toarray())
