"""Checks on comparisons, their weights and their items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from similitude.feedback.columns import constant
from similitude.feedback.items import Names
from similitude.types import Array, Floats, Ints

if TYPE_CHECKING:
    from similitude.feedback.comparisons import Comparisons


def head_first(near: Array, far: Array) -> tuple[Ints, Ints]:
    """Put the shared item of two pairs first in both."""
    if len(near) == 0 or (near[:, 0] == far[:, 0]).all():
        return np.ascontiguousarray(near, np.int32), np.ascontiguousarray(far, np.int32)
    near, far = np.array(near, np.int32), np.array(far, np.int32)
    swap_near = (near[:, 1] == far[:, 0]) | ((near[:, 1] == far[:, 1]) & (near[:, 0] != far[:, 0]))
    swap_far = (near[:, 0] == far[:, 1]) | ((near[:, 1] == far[:, 1]) & (near[:, 0] != far[:, 0]))
    near[swap_near] = near[swap_near][:, ::-1]
    far[swap_far] = far[swap_far][:, ::-1]
    return near, far


def check_pairs(near: Ints, far: Ints) -> None:
    """Refuse a comparison of an item with itself, or of a pair with itself."""
    alone = (near[:, 0] == near[:, 1]) | (far[:, 0] == far[:, 1])
    if alone.any():
        row = int(np.flatnonzero(alone)[0])
        raise ValueError(
            f"comparison {row} compares an item with itself (near {tuple(near[row].tolist())}, "
            f"far {tuple(far[row].tolist())}); {int(alone.sum())} such in all: drop them"
        )
    same = (near == far).all(1) | (near == far[:, ::-1]).all(1)
    if same.any():
        row = int(np.flatnonzero(same)[0])
        raise ValueError(
            f"comparison {row} has the same pair {tuple(near[row].tolist())} as near and as far; "
            f"{int(same.sum())} such in all: drop them"
        )


def check_two_items(pairs: Ints, names: Names | None, what: str) -> None:
    """Refuse pairs of an item with itself; `what` is what stands in a row."""
    alone = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(alone):
        item = int(pairs[alone[0], 0]) if names is None else names[pairs[alone[0], 0]]
        raise ValueError(f"pairs: {what} {alone[0]} is of item {item!r} with itself; drop such {what}s")


def check_weight(weight: npt.ArrayLike | None, length: int) -> Floats:
    """Return weights as a column: one number for all, or one each; finite and not negative."""
    if weight is None or np.ndim(weight) == 0:
        value = 1.0 if weight is None else float(np.asarray(weight))
        column = constant(value, length, np.float64)
    else:
        column = np.array(weight, np.float64)
    if column.shape != (length,):
        raise ValueError(f"weight: expected one number or {length}, found shape {column.shape}")
    bad = ~(np.isfinite(column) & (column >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(f"weight: expected finite numbers of at least 0, found {column[row]} in row {row}")
    return column


def check_shown(shown: Array, n_items: int) -> None:
    """Refuse indices of items that do not exist."""
    if shown.size and (shown.min() < 0 or shown.max() >= n_items):
        wrong = shown.min() if shown.min() < 0 else shown.max()
        raise ValueError(f"items: found index {wrong}, but there are {n_items} items (0 to {n_items - 1})")


def same_items(parts: list[Comparisons]) -> list[Comparisons]:
    """Return feedback over one set of items: names united, or as many positions as the most."""
    if not parts:
        raise ValueError("concatenate: expected at least one Comparisons, found none")
    named = [part.names is not None for part in parts]
    if all(named):
        if all(part.names == parts[0].names for part in parts):
            return parts
        names = list(dict.fromkeys(name for part in parts for name in part.names or ()))
        return [part.with_items(names) for part in parts]
    if any(named):
        raise ValueError("concatenate: some feedback knows its items by name and some by position; give names to all")
    count = max(part.n_items for part in parts)
    return [part.with_items(n_items=count) for part in parts]


def check_share(value: float | Array, argument: str) -> None:
    """Check a share: a number from 0 to 1."""
    wrong = np.atleast_1d(~((np.asarray(value) >= 0) & (np.asarray(value) <= 1)))
    if wrong.any():
        found = np.atleast_1d(value)[wrong][0]
        raise ValueError(f"{argument}: expected a share from 0 to 1, found {found}")
