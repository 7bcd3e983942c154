"""What people pass as `features=`: an array, a kernel, or a dict of these by modality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from similitude.engine.feature_checks import row_names
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
    features: Features, n_items: int | None = None, names: Sequence[str] | None = None
) -> dict[str, Kernel]:
    """{name: kernel} of `features=`, over the same items each.

    Parameters
    ----------
    features : a dict of kernels or arrays by name, or one kernel or array alone, which is then called "features"
    n_items : the number of items that each must have; by default that of the first
    names : the items' names: a table whose index holds them is put in their order, missing rows as NaN

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
    kernels = {str(name): _named(str(name), in_order(value, names)) for name, value in given.items()}
    first, kernel = next(iter(kernels.items()))
    expected, source = (kernel.n_items, f"as {first!r} has") if n_items is None else (n_items, "as were compared")
    for name, kernel in kernels.items():
        _check_order(name, kernel, names)
        if kernel.n_items != expected:
            raise ValueError(
                f"features: modality {name!r} holds {kernel.n_items} items, expected {expected}, {source}; give a row "
                "per item, NaN throughout where an item lacks this modality"
            )
    return kernels


def in_order(value: Any, names: Sequence[str] | None) -> Any:
    """Return a table whose index holds names in the order of the items; anything else as it is."""
    index = getattr(value, "index", None)
    if names is None or index is None or callable(index):
        return value
    labels = [str(label) for label in index]
    if not set(labels) & set(names):
        if not row_names(value):
            return value
        raise ValueError(
            f"features: no row of the table is named after an item: found {labels[0]!r}, expected names such as "
            f"{names[0]!r}; give it the items' names as its index, or as an array with its rows in the items' order"
        )
    if len(set(labels)) < len(labels):
        raise ValueError("features: found a name twice in the index, expected a row per item")
    return value.set_axis(labels, axis=0).reindex(list(names))


def _check_order(modality: str, kernel: Kernel, names: Sequence[str] | None) -> None:
    """Refuse a kernel of a table that names its rows otherwise than the items are: it is made, and has its order."""
    if names is None or kernel.rows is None or kernel.rows == tuple(names):
        return
    if set(kernel.rows) == set(names):
        found = "has the rows of its table in another order than the items"
    else:
        unknown = next((row for row in kernel.rows if row not in set(names)), None)
        lacking = next((name for name in names if name not in set(kernel.rows)), None)
        found = f"lacks a row for {lacking!r}" if unknown is None else f"has a row {unknown!r}, which is no item"
    raise ValueError(
        f"features: the kernel of modality {modality!r} {found}; make it of table.reindex(answers.names), where rows "
        "of NaN are items without features"
    )


def _named(name: str, value: Any) -> Kernel:
    """Return the kernel of a modality; what is wrong with it is said with its name."""
    try:
        return as_kernel(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"modality {name!r}: {error}") from error
