"""Items by name or by position: the one place where they are turned into indices and checked."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from similitude.types import Array, Ints

Names = tuple[str, ...]
_MOST_ITEMS = 2**31 - 1  # indices are 32 bits wide
_MANY = 100_000  # names for which pandas, three times as fast, is worth its import


def encode_items(
    values: Any, names: Sequence[str] | None = None, n_items: int | None = None
) -> tuple[Ints, Names | None, int]:
    """Turn items given by name or by position into indices.

    Integers are positions 0, 1, ...; strings are names, looked up in `names`, or numbered in sorted order.

    Returns
    -------
    codes, names, n_items : the indices in the shape of `values`; the names or None; the number of items
    """
    values = np.asarray(values)
    known = check_names(names)
    if values.dtype.kind in "OUST":
        return _encode_names(values, known, n_items)
    codes = as_integers(values, "items")
    refuse_too_large(codes)
    count = _item_count(codes, known, n_items)
    if codes.size and (codes.min() < 0 or codes.max() >= count):
        wrong = codes.min() if codes.min() < 0 else codes.max()
        raise ValueError(f"items: found index {wrong}, but there are {count} items (0 to {count - 1})")
    return codes.astype(np.int32), known, count


def refuse_too_large(positions: Array) -> None:
    """Refuse positions that an index cannot hold."""
    if positions.size and positions.max() >= _MOST_ITEMS:
        raise ValueError(
            f"items: found index {positions.max()}, more than {_MOST_ITEMS - 1:,}; number items from 0, or give their "
            "names"
        )


def check_names(names: Sequence[str] | None) -> Names | None:
    """Return item names as a tuple of distinct strings."""
    if names is None:
        return None
    result = tuple(str(name) for name in names)
    if "" in result:
        raise ValueError(f"names: item {result.index('')} has an empty name; every item needs a name of its own")
    broken = next((name for name in result if not _is_text(name)), None)
    if broken is not None:
        raise ValueError(f"names: {broken!r} holds half a character (a lone surrogate); read it with its true encoding")
    if cut := next((name for name in result if "\0" in name), None):
        raise ValueError(f"names: {cut!r} holds a NUL character, at which programs that read tables cut a cell off")
    if len(set(result)) < len(result):
        twice = next(name for name in result if result.count(name) > 1)
        raise ValueError(f"names: {twice!r} is the name of more than one item; every item needs a different name")
    return result


def _is_text(name: str) -> bool:
    """Whether a name can be written to a file: it holds whole characters."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_integers(values: Array, argument: str) -> Array:
    """Return whole numbers as integers; anything else is an error that names the argument."""
    if values.dtype.kind in "iu":
        return values
    if values.size == 0:
        return values.astype(np.int64)
    if values.dtype.kind == "f" and np.isfinite(values).all() and (values == np.floor(values)).all():
        return values.astype(np.int64)
    if values.dtype.kind == "f":
        wrong = values[~(np.isfinite(values) & (values == np.floor(values)))][0]
        raise ValueError(f"{argument}: expected whole numbers or names, found {wrong}")
    raise TypeError(f"{argument}: expected whole numbers or names, found values of type {values.dtype}")


def _encode_names(values: Array, known: Names | None, n_items: int | None) -> tuple[Ints, Names, int]:
    flat = values.ravel()
    code, given = _factorized(flat)
    distinct = sorted(given)
    names = known if known is not None else check_names(distinct) or ()
    position = {name: k for k, name in enumerate(names)}
    unknown = next((name for name in distinct if name not in position), None)
    if unknown is not None:
        raise ValueError(f"items: {unknown!r} is not among the {len(names)} item names{_suggestion(unknown, names)}")
    if n_items is not None and n_items != len(names):
        raise ValueError(f"n_items: {n_items} was given, but there are {len(names)} item names")
    codes = np.array([position[name] for name in given], np.int32)[code]
    return codes.reshape(values.shape), names, len(names)


def _factorized(names: Array) -> tuple[Array, list[str]]:
    """The number of each name among the distinct ones, and these."""
    code, distinct = (_by_pandas if len(names) > _MANY else _by_dict)(names.astype(object))
    odd = [value for value in distinct if not isinstance(value, str)]
    if odd:
        raise TypeError(
            f"items: names and other values are mixed (found {odd[0]!r} of type {type(odd[0]).__name__}); "
            "give every item as a name, or every item as a position"
        )
    return code, [str(name) for name in distinct]


def _by_dict(names: Array) -> tuple[Array, list[Any]]:
    """As pandas would do it, without its import: a model is loaded and asked with numpy alone."""
    place: dict[Any, int] = {}
    code = np.array([place.setdefault(name, len(place)) for name in names.tolist()], np.int64)
    return code, list(place)


def _by_pandas(names: Array) -> tuple[Array, list[Any]]:
    import pandas as pd

    code, distinct = pd.factorize(names, use_na_sentinel=False)
    return code, distinct.tolist()


def _suggestion(name: str, names: Names) -> str:
    close = difflib.get_close_matches(name, names, 1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _item_count(codes: Array, names: Names | None, n_items: int | None) -> int:
    if names is not None:
        if n_items is not None and n_items != len(names):
            raise ValueError(f"n_items: {n_items} was given, but there are {len(names)} item names")
        return len(names)
    if n_items is not None:
        if n_items < 1:
            raise ValueError(f"n_items: expected a positive number, found {n_items}")
        return int(n_items)
    return int(codes.max()) + 1 if codes.size else 0


def find_item(item: str | int, names: Names | None, n_items: int) -> int:
    """Return the index of one item given by name or position; a position may be text, as a shell has it."""
    if names is None and isinstance(item, str):
        if not item.strip().isdecimal():
            raise ValueError(f"items: they have no names here; expected a position from 0 on, found {item!r}")
        item = int(item)
    return int(find_items([item], names, n_items)[0])


def find_items(values: Any, names: Names | None, n_items: int) -> Ints:
    """Return the indices of known items given by name or by position, in the shape of `values`."""
    codes = encode_items(values, names, None if names else n_items)[0]
    if np.asarray(values).dtype.kind not in "OUST":
        refuse_doubtful(codes.ravel().tolist(), names)
    return codes


def refuse_doubtful(positions: Iterable[int], names: Names | None) -> None:
    """Refuse a number where the items' names are numbers: 5 may be the item called so, or that after five others."""
    if names is None:
        return
    for position in positions:
        if names[position].isdecimal() and names[position] != str(position):
            raise ValueError(
                f"items: {position} may be a name or the position of {names[position]!r}, since names are numbers "
                f"here; give names, as text: {names[position]!r}"
            )
