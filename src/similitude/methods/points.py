"""Items or vectors: the one place where what was given is told apart, and what is neither is refused.

| given | meant |
|---|---|
| text, or texts | items by name |
| a whole number, or whole numbers along one axis | items by position |
| numbers along two axes, a row each | vectors: the features of somebody new |
| numbers with a fraction along one axis | one vector |
| a dict by modality | vectors of several modalities |

So a row of a table of vectors is never taken for the position of an item, however round its numbers are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from similitude.feedback.items import find_items
from similitude.types import Array, Floats

if TYPE_CHECKING:
    from similitude.methods.similarity import Similarity


def positions_of(model: Similarity, given: Any, argument: str) -> Floats:
    """(m, d) positions of items, or of new vectors, in the model's own space."""
    codes = item_codes(model, given, argument)
    return np.atleast_2d(model.transform(given)) if codes is None else model.measure.positions[np.atleast_1d(codes)]


def item_codes(model: Similarity, given: Any, argument: str) -> Array | None:
    """Return the items that are meant, by position (a single one without an axis); None where vectors are meant."""
    if isinstance(given, Mapping) or _in_parts(model, given):
        return None
    values = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
    if values.dtype.kind in "OUST" and _texts(values):
        return find_items(values, model.names, model.n_items) if model.names else _unnamed(model, argument, values)
    if values.dtype.kind in "iu" and values.ndim <= 1:
        return find_items(values, model.names, model.n_items)
    if values.dtype.kind in "biufO" and values.ndim in (1, 2):
        _need_vectors(model, argument, values)
        return None
    raise TypeError(
        f"{argument}: found {_described(values)}, expected items (names, or whole numbers along one axis) or vectors "
        "(a table with a row each)"
    )


def refuse_without_map(model: Similarity, argument: str) -> NoReturn:
    """Say of a model that learned no map that it cannot place vectors."""
    method = model.about.get("method", "this model")
    raise ValueError(
        f"{argument}: {method} learned where its items stand from answers alone, and has no map from vectors; fit "
        "with features, `fit(answers, features=...)`, as NonNegativeEmbedding, ChoiceEmbedding, FeatureEmbedding, LPOE "
        "and others can, or place new items by answers (`place`)"
    )


def _need_vectors(model: Similarity, argument: str, values: Array) -> None:
    width = (model.feature_map or refuse_without_map(model, argument)).width
    if width is not None and values.shape[-1] != width:
        raise ValueError(
            f"{argument}: found {_described(values)}, which are neither items (names, or whole numbers along one axis) "
            f"nor vectors of {width} numbers, as the model learned from"
        )


def _in_parts(model: Similarity, given: Any) -> bool:
    """Whether features are given part by part, to a map that takes them so."""
    takes = model.feature_map is not None and model.feature_map.width is None
    return takes and isinstance(given, (list, tuple)) and len(given) > 0 and not np.isscalar(given[0])


def _texts(values: Array) -> bool:
    return values.dtype.kind in "UST" or (values.size > 0 and isinstance(values.flat[0], str))


def _unnamed(model: Similarity, argument: str, values: Array) -> Array:
    raise ValueError(
        f"{argument}: found {str(values.flat[0])!r}, but the items of this model have no names; give positions from 0 "
        f"to {model.n_items - 1}"
    )


def _described(values: Array) -> str:
    return f"{values.dtype} of shape {values.shape}"
