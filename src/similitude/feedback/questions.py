"""Which items to show: questions at random, by form; and a landmark design."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from similitude.feedback.forms import find
from similitude.feedback.items import Names, encode_items
from similitude.types import Array, Column, Floats, Ints, Seed, Sparse, Table


def random_questions(
    n_items: int,
    n_questions: int,
    form: str = "triplet",
    random_state: Seed = None,
    *,
    grid_size: int | None = None,
) -> Ints:
    """Draw questions at random; no item stands twice in a question.

    Parameters
    ----------
    n_items : number of items to draw from
    n_questions : number of questions
    form : the form of question, a name of `similitude.feedback.forms.FORMS`
    random_state : seed or generator
    grid_size : how much a question shows: items beside the head in a choice (12), a ranking or best and worst (4);
        items of a placement, a grouping or an attribute (all); pairs of a rating sheet (all)

    Returns
    -------
    shown : (n_questions, width) the items of each question, in the order that the form defines

    Examples
    --------
    >>> from similitude import random_questions
    >>> random_questions(10, 2, "choice", random_state=0, grid_size=5).shape
    (2, 6)
    """
    asked = find(form)
    if n_questions < 0:
        raise ValueError(f"n_questions: expected 0 or more, found {n_questions}")
    rng = np.random.default_rng(random_state)
    return asked.draw(n_items, n_questions, grid_size, rng)


def landmark_questions(
    n_items: int,
    landmarks: int | Column,
    kind: Literal["k1", "k2"] = "k1",
    n_questions: int | None = None,
    random_state: Seed = None,
) -> Ints:
    """Return the triplet questions of a landmark design, in random order, each asked once.

    Parameters
    ----------
    n_items : number of items
    landmarks : the landmarks by position (see `choose_landmarks`), or how many to draw at random
    kind : the kernel that the answers are for. "k1": (item; landmark, landmark), l(l-1)/2 questions about an item that
        is no landmark. "k2": (landmark; item, landmark), l(l-1) questions about such an item.
    n_questions : how many to draw at random without repeats; all when not given
    random_state : seed or generator

    Returns
    -------
    questions : (n_questions, 3) head and two items, in random order, for `simulate(..., questions=)` or people

    Examples
    --------
    >>> from similitude import landmark_questions
    >>> landmark_questions(10, [0, 3, 5], random_state=0).shape
    (24, 3)
    """
    rng = np.random.default_rng(random_state)
    if isinstance(landmarks, (int, np.integer)):
        landmarks = choose_landmarks(n_items, int(landmarks), random_state=rng)
    chosen = as_landmarks(landmarks, None, n_items)
    if kind not in ("k1", "k2"):
        raise ValueError(f"kind: expected 'k1' or 'k2', found {kind!r}")
    first, second, void = _grid(chosen, n_items, kind)
    total = len(first) * n_items - len(void)
    count = total if n_questions is None else n_questions
    if not 0 <= count <= total:
        raise ValueError(f"n_questions: expected 0 to {total}, all that the design has, found {count}")
    cell = rng.permutation(total) if count == total else rng.choice(total, count, replace=False)
    cell += np.searchsorted(void - np.arange(len(void)), cell, side="right")  # step over cells that are no question
    pair, item = np.divmod(cell, n_items)
    columns = (item, first[pair], second[pair]) if kind == "k1" else (first[pair], item, second[pair])
    questions = np.stack(columns, axis=1).astype(np.int32)
    turned = rng.random(count) < 0.5
    questions[turned, 1:] = questions[turned, :0:-1]
    return questions


def _grid(landmarks: Ints, n_items: int, kind: str) -> tuple[Ints, Ints, Array]:
    """Return the pairs of landmarks of a design, and which cells pair · n_items + item are no question of their own.

    Those are cells whose item is in the pair, and, for k2, the second of two cells that ask the same of two landmarks.
    """
    size = len(landmarks)
    one, two = np.triu_indices(size, 1) if kind == "k1" else np.nonzero(~np.eye(size, dtype=bool))
    third = np.arange(size)
    void = (third == one[:, None]) | (third == two[:, None])
    if kind == "k2":
        void |= third < two[:, None]
    pair, place = np.nonzero(void)
    return landmarks[one], landmarks[two], pair * n_items + landmarks[place].astype(np.int64)


def choose_landmarks(
    items: int | Table | Sparse,
    n_landmarks: int,
    *,
    metric: Literal["euclidean", "precomputed"] = "euclidean",
    random_state: Seed = None,
) -> Ints:
    """Choose landmarks: at random, or spread out.

    Spread out means farthest first: a random item, then each time the item farthest from those chosen.

    Parameters
    ----------
    items : the number of items, for landmarks at random; or what to spread them over: features (n, p), dense or sparse
        (after a pilot, `ComparisonKernel().fit(pilot).features_`), or distances with `metric="precomputed"`
    n_landmarks : how many, at least 2
    metric : what `items` holds: "euclidean" features, or a "precomputed" table of distances
    random_state : seed or generator

    Returns
    -------
    landmarks : ascending indices of items

    Examples
    --------
    >>> import similitude as sm
    >>> sm.choose_landmarks(100, 5, random_state=0).shape
    (5,)
    >>> 2 in sm.choose_landmarks([[0.0], [0.1], [9.0]], 2, random_state=0)  # spread out: the far one is in
    True
    """
    rng = np.random.default_rng(random_state)
    if metric not in ("euclidean", "precomputed"):
        raise ValueError(f"metric: expected 'euclidean' or 'precomputed', found {metric!r}")
    table: Any = items if hasattr(items, "shape") else np.asarray(items)
    n_items = table.shape[0] if table.shape else int(table)
    if not (isinstance(n_landmarks, (int, np.integer)) and 2 <= n_landmarks <= n_items):
        raise ValueError(f"n_landmarks: expected 2 to {n_items}, the number of items, found {n_landmarks!r}")
    if not table.shape:
        return np.sort(rng.permutation(n_items)[:n_landmarks]).astype(np.int32)
    if table.ndim != 2 or (metric == "precomputed" and table.shape[1] != n_items):
        expected = "features (n, p)" if metric == "euclidean" else "a square table of distances"
        raise ValueError(f"items: expected {expected}, found shape {table.shape}")
    return _farthest_first(table, n_landmarks, metric, rng)


def _farthest_first(table: Any, count: int, metric: str, rng: np.random.Generator) -> Ints:
    """Start at a random item; then each time take the item farthest from those chosen."""
    chosen = [int(rng.integers(table.shape[0]))]
    nearest = np.full(table.shape[0], np.inf)
    for _ in range(count - 1):
        nearest = np.minimum(nearest, _distances_to(table, chosen[-1], metric))
        nearest[chosen] = -1.0
        chosen.append(int(nearest.argmax()))
    return np.sort(chosen).astype(np.int32)


def _distances_to(table: Any, item: int, metric: str) -> Floats:
    """Return the distance (squared for features) of every item to one."""
    if metric == "precomputed":
        return np.asarray(table[:, item], float)
    if isinstance(table, np.ndarray):
        return ((table - table[item]) ** 2).sum(1)
    square = np.asarray(table.multiply(table).sum(1)).ravel()
    return square + square[item] - 2.0 * (table @ table[[item]].T).toarray().ravel()


def as_landmarks(landmarks: Any, names: Names | None, n_items: int) -> Ints:
    """Return landmarks as ascending indices: at least two different items among those there are."""
    try:
        codes = encode_items(np.atleast_1d(np.asarray(landmarks)), names, None if names else n_items)[0]
    except (ValueError, TypeError) as error:
        raise type(error)(f"landmarks: {error}") from None
    distinct = np.unique(codes)
    if codes.ndim != 1 or len(distinct) < 2 or len(distinct) < len(codes):
        raise ValueError(f"landmarks: expected at least 2 different items, found {np.asarray(landmarks).tolist()}")
    return distinct.astype(np.int32)
