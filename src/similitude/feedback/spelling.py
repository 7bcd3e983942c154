"""Names that differ by case, spaces or accents alone."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


def folded(name: str) -> str:
    """A name without what people vary by accident: case, spaces around and between, accents.

    >>> folded(" Blue  Square") == folded("blue square"), folded("Café") == folded("cafe")
    (True, True)
    """
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return " ".join(plain.casefold().split()) or name


def twins(names: Iterable[str]) -> list[list[str]]:
    """Groups of names that are one when folded, in the order in which they come.

    >>> twins(["Blue", "red", "blue "])
    [['Blue', 'blue ']]
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(folded(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]
