"""Docstrings in full at run time: what a class does not explain itself, it takes from the classes that it extends.

So `help(STE)` and `?` name every parameter and attribute, and each is explained in one place of the source.
"""

from __future__ import annotations

import inspect
import re

_SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(\w+(?:, \w+)*) : ", re.MULTILINE)

Entries = dict[tuple[str, ...], str]
"""What is said about one or several names at once, by these names."""


def complete_docstring(cls: type) -> None:
    """Write out the parameters of a class (in the order of its signature) and its attributes (its own first)."""
    if not cls.__doc__:  # python -OO
        return
    text, sections = _parts(cls.__doc__)
    taken = {name: place for place, name in enumerate(inspect.signature(cls).parameters)}
    parameters, attributes = _entries(sections.pop("Parameters", "")), _entries(sections.pop("Attributes", ""))
    for base in cls.__mro__[1:]:
        given = _parts(base.__doc__ or "")[1]
        shared = _entries(given.get("Parameters", ""))
        _add(parameters, {names: said for names, said in shared.items() if names[0] in taken})
        _add(attributes, _entries(given.get("Attributes", "")))
    in_order = sorted(parameters.items(), key=lambda entry: taken.get(entry[0][0], -1))
    whole = {"Parameters": dict(in_order), "Attributes": attributes}
    cls.__doc__ = _joined(text, {title: _written(entries) for title, entries in whole.items() if entries} | sections)


def _parts(docstring: str) -> tuple[str, dict[str, str]]:
    """Return what stands before the sections, and the sections by title."""
    text, *rest = _SECTION.split(inspect.cleandoc(docstring))
    return text.rstrip(), {title: body.rstrip() for title, body in zip(rest[::2], rest[1::2], strict=True)}


def _entries(section: str) -> Entries:
    rest = _ENTRY.split(section)[1:]
    return {tuple(names.split(", ")): said.rstrip() for names, said in zip(rest[::2], rest[1::2], strict=True)}


def _add(known: Entries, further: Entries) -> None:
    """Add what is said about names of which nothing was said so far."""
    said = {name for names in known for name in names}
    for names, text in further.items():
        new = tuple(name for name in names if name not in said)
        if new:
            known[new] = text


def _joined(text: str, sections: dict[str, str]) -> str:
    return "\n\n".join([text, *(f"{title}\n{'-' * len(title)}\n{body}" for title, body in sections.items())]) + "\n"


def _written(entries: Entries) -> str:
    return "\n".join(f"{', '.join(names)} : {text}" for names, text in entries.items())
