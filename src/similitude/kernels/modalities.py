"""What people pass as `features=`: an array, a kernel, or a dict of these by modality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from similitude.engine.feature_checks import as_texts, index_knows, is_default, is_table
from similitude.kernels.base import Kernel
from similitude.kernels.vectors import Linear
from similitude.types import Sparse, Table

FeatureTable = Table | Sparse
Features = Kernel | FeatureTable | Mapping[str, Any]  # Any: a dict of kernels and arrays is inferred as one of objects


def as_kernel(value: Kernel | FeatureTable) -> Kernel:
    """k(x, y) = x'y for plain features; a kernel stays as it is.

    Parameters
    ----------
    value : a kernel, or an array (n × d) with a row per item

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.as_kernel([[1.0], [2.0]])
    Linear(2 items)
    """
    if isinstance(value, type) and issubclass(value, Kernel):
        name = value.__name__
        raise TypeError(f"features: found the class {name}, expected a kernel with its features; write {name}(X)")
    if value is None or isinstance(value, (str, Mapping)):
        raise TypeError(f"features: found a {type(value).__name__}, expected an array with a row per item, or a kernel")
    return value if isinstance(value, Kernel) else Linear(value)


def as_modalities(
    features: Features, n_items: int | None = None, names: Sequence[str] | None = None, *, more: bool = False
) -> dict[str, Kernel]:
    """{name: kernel} of `features=`, over the same items each.

    Parameters
    ----------
    features : a dict of kernels or arrays by name, or one kernel or array alone, which is then called "features"
    n_items : the number of items that each must have; by default that of the first
    names : the items' names: a table whose index holds them is put in their order, missing rows as NaN. Of items
        without names, whose number is given, an index holds the numbers
    more : whether features may be of further items, too

    Returns
    -------
    kernels : dict by name, in the order given

    Examples
    --------
    >>> import similitude as sm
    >>> sm.kernels.as_modalities({"size": [[1.0], [2.0]], "tags": sm.kernels.Cosine([[1, 0], [1, 1]])})
    {'size': Linear(2 items), 'tags': Cosine(2 items)}
    """
    given = features if isinstance(features, Mapping) else {"features": features}
    if not given:
        raise ValueError("features: found an empty dict, expected one modality at least")
    kernels = {str(name): _named(str(name), in_order(value, names, n_items)) for name, value in given.items()}
    first, kernel = next(iter(kernels.items()))
    alike = n_items is None or more
    expected, source = (kernel.n_items, f"as {first!r} has") if alike else (n_items, "as were compared")
    for name, kernel in kernels.items():
        if names is not None or n_items is not None:
            _check_order(name, kernel, names)
        if kernel.n_items != expected:
            raise ValueError(
                f"features: modality {name!r} holds {kernel.n_items} items, expected {expected}, {source}; give a row "
                "per item, NaN throughout where an item lacks this modality"
            )
    return kernels


def in_order(features: Any, names: Sequence[str] | None, n_items: int | None, known: int = 0) -> Any:
    """Return features with the rows of every table that says which items they are about in the order of the items.

    An index that only counts the rows says it where the names are all of its numbers; else rows are in order.

    Parameters
    ----------
    features : a table, features of parts that may be tables, or anything else, which is returned as it is
    names : of the items; None where they are numbers from 0
    n_items : number of items at least; None where nothing is known of them
    known : how many of the first items a model knows already, so that the rows are about those after them
    """
    if isinstance(features, Mapping):
        return {name: in_order(part, names, n_items, known) for name, part in features.items()}
    if isinstance(features, list | tuple) and any(map(is_table, features)):
        return [in_order(part, names, n_items, known) for part in features]
    if not is_table(features) or (names is None and n_items is None):
        return features
    labels = as_texts(features.index)
    if names is None:
        wanted = [str(known + k) for k in range(max((n_items or 0) - known, len(labels)))]
    else:
        wanted = list(names[known:])
    if not (labels and wanted):
        return features
    if not index_knows(features.index, {*wanted}, names is not None):
        if is_default(features.index):
            return features
        raise _stranger(labels, wanted, names is not None)
    if len(set(labels)) < len(labels):
        raise ValueError("features: found a name twice in the index, expected a row per item")
    return features.set_axis(labels, axis=0).reindex(wanted)


def _stranger(labels: Sequence[str], wanted: Sequence[str], named: bool) -> ValueError:
    """What to say of a table whose rows are named, but not after the items."""
    found = next(label for label in labels if label not in {*wanted})
    said = (
        f"the rows of the table are not named after the items: found {found!r}, expected names such as {wanted[0]!r}"
        if named
        else f"a row of the table is named {found!r}, but items are known by position, {wanted[0]} to {wanted[-1]}"
    )
    return ValueError(
        f"features: {said}; give it the items' {'names' if named else 'positions'} as its index, or as an array with "
        "its rows in the items' order"
    )


def _check_order(modality: str, kernel: Kernel, names: Sequence[str] | None) -> None:
    """Refuse a kernel of a table that names its rows otherwise than the items are: it is made, and has its order."""
    own = tuple(map(str, range(kernel.n_items)) if names is None else names)
    if kernel.rows is None or kernel.rows == own:
        return
    if set(kernel.rows) == set(own):
        found = "has the rows of its table in another order than the items"
    else:
        unknown = next((row for row in kernel.rows if row not in set(own)), None)
        lacking = next((name for name in own if name not in set(kernel.rows)), None)
        found = f"lacks a row for {lacking!r}" if unknown is None else f"has a row {unknown!r}, which is no item"
    remedy = (
        "table.reindex(answers.names), where rows of NaN are items without features"
        if names is not None
        else "an array, or a table whose index holds their positions, with its rows in the items' order"
    )
    raise ValueError(f"features: the kernel of modality {modality!r} {found}; make it of {remedy}")


def _named(name: str, value: Any) -> Kernel:
    """Return the kernel of a modality; what is wrong with it is said with its name."""
    try:
        return as_kernel(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"modality {name!r}: {error}") from error
