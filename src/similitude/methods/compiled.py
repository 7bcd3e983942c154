"""Sparse votes, compiled by numba: entries sorted into rows, merged, and multiplied without a transposed copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from similitude.jit import kernel

_kernel = kernel()

# Columns are indexed by unsigned numbers, which need no check for a place counted from the end.
_NONE, _ONE, _SIX, _LOW, _TOP = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63), np.uint64(58)
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)  # all six-bit windows of it differ: 2^k times it tells k by its top bits
_PLACE = np.argsort([(0x03F79D71B4CB0A89 << k & 2**64 - 1) >> 58 for k in range(64)])


@_kernel
def cast_votes(near: Any, far: Any, weight: Any, both: bool, row: Any, first: Any, second: Any, vote: Any) -> int:
    """Write the votes of triplets, one of weight 0 casts none, and return how many there are.

    With `both` (k2) a triplet votes in the rows of near and of far, else on the pair {near, far} in the head's row.
    """
    count = 0
    for t in range(len(weight)):
        if weight[t] == 0.0:
            continue
        head, closer, other = near[t, 0], near[t, 1], far[t, 1]
        if both:
            row[count], first[count], second[count], vote[count] = closer, head, other, weight[t]
            count += 1
            row[count], first[count], second[count], vote[count] = other, head, closer, -weight[t]
        else:
            row[count], first[count], second[count] = head, min(closer, other), max(closer, other)
            vote[count] = weight[t] * (
                2.0 * (closer < other) - 1.0
            )  # no branch: it would be guessed wrong half the time
        count += 1
    return count


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
    tally = np.zeros((n_columns, 2))  # sum(vote) and sum(|vote|)
    marks = np.zeros((n_columns + 63) // 64, np.uint64)  # a bit per column: has it votes in this row?
    touched = np.empty(n_columns, indices.dtype)
    end = np.zeros_like(start)
    for row in range(len(start) - 1):
        here, there = start[row], start[row + 1]
        for at in range(here, there):
            column = np.uint64(indices[at])
            tally[column, 0] += data[at]
            tally[column, 1] += abs(data[at])
            marks[column >> _SIX] |= _ONE << (column & _LOW)
        if there - here > len(marks):
            count = _read_marks(marks, touched)
        else:  # reading all marks would take longer than sorting what was touched
            count = _sort_touched(indices[here:there], marks, touched)
        end[row + 1] = _write_row(touched[:count], tally, indices, data, end[row])
    return end


@_kernel
def _read_marks(marks: Any, touched: Any) -> int:
    """List the marked columns in order, and take the marks away."""
    count = 0
    for word in range(len(marks)):
        bits, marks[word] = marks[word], _NONE
        while bits:
            rest = bits & (bits - _ONE)
            touched[count] = 64 * word + _PLACE[((bits ^ rest) * _DE_BRUIJN) >> _TOP]
            bits = rest
            count += 1
    return count


@_kernel
def _sort_touched(columns: Any, marks: Any, touched: Any) -> int:
    """List the columns of votes in order, each once, and take the marks away."""
    count = 0
    for entry in columns:
        column = np.uint64(entry)
        bit = _ONE << (column & _LOW)
        if marks[column >> _SIX] & bit:
            marks[column >> _SIX] ^= bit
            touched[count] = entry
            count += 1
    touched[:count].sort()
    return count


@_kernel
def _write_row(touched: Any, tally: Any, indices: Any, data: Any, begin: int) -> int:
    """Write a row as a unit vector, clear its tally, and return where it ends."""
    written, square = begin, 0.0
    for entry in touched:
        column = np.uint64(entry)
        share = tally[column, 0] / tally[column, 1]
        tally[column, 0] = tally[column, 1] = 0.0
        if share != 0.0:
            indices[written] = entry
            data[written] = share
            square += share * share
            written += 1
    length = np.sqrt(square)
    for at in range(begin, written):
        data[at] /= length
    return written


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
def add_products(
    start: Any, indices: Any, data: Any, column_start: Any, most: int, K: Any, first_row: int, last_row: int
) -> None:
    """Add the lower triangle of F F' to rows `first_row` to `last_row` of K, for sparse F with ascending columns.

    Columns are taken in blocks of about `most` entries, gathered from the rows into columns; each column adds the
    products of its entries. No transposed copy of F is made.
    """
    n_columns = len(column_start) - 1
    cursor = start[:last_row].copy()
    first = 0
    while first < n_columns:
        last = first + 1
        while last < n_columns and column_start[last + 1] - column_start[first] <= most:
            last += 1
        begin = column_start[first:last] - column_start[first]
        rows = np.empty(column_start[last] - column_start[first], np.uint32)
        values = np.empty(len(rows), data.dtype)
        inside = begin.copy()  # where the entries of rows from first_row on begin
        end = begin.copy()
        for row in range(last_row):
            if row == first_row:
                inside[:] = end
            at = cursor[row]
            while at < start[row + 1] and indices[at] < last:
                place = end[indices[at] - first]
                rows[place] = row
                values[place] = data[at]
                end[indices[at] - first] = place + 1
                at += 1
            cursor[row] = at
        for column in range(last - first):
            here, there = np.uint64(begin[column]), np.uint64(end[column])
            for p in range(np.uint64(inside[column]), there):
                own, target = values[p], K[rows[p]]
                for q in range(here, p + _ONE):
                    target[rows[q]] += own * values[q]
        first = last
