"""The items of a model and of comparisons by one kind of call: both by name, or both by position."""

from __future__ import annotations

from dataclasses import replace

from similitude.feedback.comparisons import Comparisons
from similitude.feedback.items import Names


def called_alike(c: Comparisons, names: Names | None, n_items: int) -> Comparisons:
    """Return comparisons that know their items as a model does, by name or by position; a mix is refused.

    Matched by rank, answers would be scored about other items than they were given to. Names that are the positions of
    a model without names, 0 to n - 1, are these: a file of numbers of which none is 0 is read as one of names.
    """
    if (c.names is None) == (names is None):
        return c
    own = [str(item) for item in range(n_items)]
    if c.names is not None and set(c.names) <= set(own):
        return replace(c.with_items(own), names=None)
    raise mixture(names, c.names, n_items)


def mixture(names: Names | None, given: Names | None, n_items: int) -> ValueError:
    """What to say where a model knows its items by name and comparisons theirs by position, or the other way round."""
    known, others = ("position", "name") if names is None else ("name", "position")
    if names is not None and any(name.isdecimal() for name in names):
        remedy = "where the numbers in a file are names, read it with labels=True"
    elif names is not None:
        remedy = f"give names, such as {names[0]!r}"
    else:
        positions = {str(item) for item in range(n_items)}
        strangers = [name for name in given or () if name not in positions]
        beyond = f"{strangers[0]!r} is none of its positions, 0 to {n_items - 1}; " if strangers else ""
        remedy = f"{beyond}learn it from answers with names"
    found = f"comparisons: the model knows its items by {known}, the comparisons theirs by {others}"
    return ValueError(f"{found}; {remedy}")
