"""Names to try for dimensions: an attribute that surely goes with one, else its first items; and names of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from similitude.feedback.items import find_item
from similitude.methods.similarity import Similarity

_ALPHA = 0.05
_CLEAR = 0.3  # of many items any correlation is beyond chance; a name needs more
_YES = ("yes", "y", "true", "1")
_NO = ("no", "n", "false", "0", "none")  # what an item is not describes no dimension


def by_attribute(attributes: pd.DataFrame | None) -> dict[int, str]:
    """The attribute that goes with a dimension most, clearly, and with no other dimension more, by its number."""
    if attributes is None:
        return {}
    said = attributes[[_word(name).lower() not in _NO for name in attributes.attribute]]
    best = said.drop_duplicates("dimension").sort_values("correlation", ascending=False, kind="stable")
    clear = best[(best.p_value <= _ALPHA) & (best.correlation >= _CLEAR) & (best.low > 0)].drop_duplicates("attribute")
    words = pd.Series(attributes.attribute.unique()).map(_word).value_counts()
    return {
        number: name if words[_word(name)] > 1 or _word(name).lower() in _YES else _word(name)
        for number, name in zip(clear.dimension, clear.attribute, strict=True)
    }


def _word(attribute: str) -> str:
    """The word of "column: word", else the name of the column."""
    return attribute.split(": ", 1)[-1]


def numbered(names: Mapping[Any, str], similarity: Similarity, numbers: list[int]) -> dict[int, str]:
    """Return names by number; one that is given by an item is that of the dimension of which the item has most."""
    _check(names)
    found: dict[int, str] = {}
    for key, name in names.items():
        number = int(key) if _is_number(key, numbers, similarity) else _most_of(key, similarity)
        if number in found:
            raise ValueError(f"names: dimension {number} is called {found[number]!r} and {name!r}, expected one name")
        found[number] = name
    return found


def _check(names: Mapping[Any, str]) -> None:
    """Refuse what is no name, and names without what they are names of."""
    if not isinstance(names, Mapping):
        found = type(names).__name__
        raise TypeError(f"names: expected names by the number of a dimension, as {{1: 'metallic'}}, found {found}")
    wrong = next((key for key, name in names.items() if not isinstance(name, str) or not name.strip()), None)
    if wrong is not None:
        raise ValueError(f"names: expected words for dimension {wrong}, found {names[wrong]!r}")


def _is_number(key: Any, numbers: list[int], similarity: Similarity) -> bool:
    """Whether the number of a dimension is meant; a text of digits is one unless an item is called so."""
    if isinstance(key, (int, np.integer)):
        return True
    return str(key).isdigit() and int(key) in numbers and str(key) not in (similarity.names or ())


def _most_of(item: Any, similarity: Similarity) -> int:
    row = similarity.embedding[find_item(item, similarity.names, similarity.n_items)]
    if not row.any():
        raise ValueError(
            f"names: {item} has nothing of any dimension, expected a number, or an item that has most of it"
        )
    return int(row.argmax()) + 1
