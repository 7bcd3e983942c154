"""Sparse votes, compiled by numba: entries sorted into rows, merged, and multiplied without a transposed copy."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

_kernel = numba.njit(cache=True, nogil=True)


@_kernel
def place_votes(row: Any, column: Any, vote: Any, cursor: Any, indices: Any, data: Any) -> None:
    """Write each vote at the next free place of its row; `cursor` holds those places and moves on."""
    for t in range(len(row)):
        at = cursor[row[t]]
        indices[at] = column[t]
        data[at] = vote[t]
        cursor[row[t]] = at + 1


@_kernel
def merge_votes(start: Any, indices: Any, data: Any, n_columns: int) -> Any:
    """Merge the votes of each cell to sum(vote)/sum(|vote|), make rows unit vectors, and close the gaps, in place.

    Returns the new row starts; columns ascend within a row, cells whose votes cancel are gone.
    """
    n_rows = len(start) - 1
    net, total = np.zeros(n_columns), np.zeros(n_columns)
    touched = np.empty(n_columns, indices.dtype)
    end = np.zeros(n_rows + 1, start.dtype)
    for row in range(n_rows):
        count = 0
        for at in range(start[row], start[row + 1]):
            column = indices[at]
            if total[column] == 0.0:
                touched[count] = column
                count += 1
            net[column] += data[at]
            total[column] += abs(data[at])
        if 16 * count > n_columns:  # reading the whole row in order is cheaper than sorting what was touched
            count = 0
            for column in range(n_columns):
                if total[column] > 0.0:
                    touched[count] = column
                    count += 1
        else:
            touched[:count].sort()
        written, square = end[row], 0.0
        for k in range(count):
            column = touched[k]
            share = net[column] / total[column]
            net[column] = total[column] = 0.0
            if share != 0.0:
                indices[written] = column
                data[written] = share
                square += share * share
                written += 1
        for at in range(end[row], written):
            data[at] /= np.sqrt(square)
        end[row + 1] = written
    return end


@_kernel
def scatter_votes(row: Any, column: Any, vote: Any, net: Any, total: Any) -> None:
    """Add votes to a dense table; column -1 is none."""
    for t in range(len(row)):
        if column[t] >= 0:
            net[row[t], column[t]] += vote[t]
            total[row[t], column[t]] += abs(vote[t])


@_kernel
def share_votes(net: Any, total: Any) -> None:
    """Turn sums of votes into sum(vote)/sum(|vote|), 0 where there are none, and rows into unit vectors, in place."""
    for row in range(len(net)):
        square = 0.0
        for column in range(net.shape[1]):
            if total[row, column] > 0.0:
                net[row, column] /= total[row, column]
                square += net[row, column] ** 2
        if square > 0.0:
            net[row] /= np.sqrt(square)


@_kernel
def count_columns(indices: Any, n_columns: int) -> Any:
    """Return the number of entries of each column; numpy's count would first copy the indices at twice the width."""
    count = np.zeros(n_columns, np.int64)
    for column in indices:
        count[column] += 1
    return count


@_kernel
def add_products(start: Any, indices: Any, data: Any, column_start: Any, most: int, K: Any) -> None:
    """Add the lower triangle of F F' to K, for sparse rows F with ascending columns.

    Columns are taken in blocks of about `most` entries, gathered from the rows into columns; each column adds the
    products of its entries. No transposed copy of F is made.
    """
    n_rows, n_columns = len(start) - 1, len(column_start) - 1
    cursor = start[:-1].copy()
    first = 0
    while first < n_columns:
        last = first + 1
        while last < n_columns and column_start[last + 1] - column_start[first] <= most:
            last += 1
        base = column_start[first]
        free = column_start[first:last] - base
        rows = np.empty(column_start[last] - base, np.int32)
        values = np.empty(column_start[last] - base, data.dtype)
        for row in range(n_rows):
            at = cursor[row]
            while at < start[row + 1] and indices[at] < last:
                place = free[indices[at] - first]
                rows[place] = row
                values[place] = data[at]
                free[indices[at] - first] = place + 1
                at += 1
            cursor[row] = at
        for column in range(first, last):
            here, there = column_start[column] - base, column_start[column + 1] - base
            for p in range(here, there):
                for q in range(here, p + 1):
                    K[rows[p], rows[q]] += values[p] * values[q]
        first = last
