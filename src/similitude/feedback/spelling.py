"""Names that differ by case, spaces, accents or .0 alone."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

_WHOLE = re.compile(r"^([+-]?[0-9]+)\.0+$")
_ZEROS = re.compile(r"^([+-]?)0+(?=[0-9]+(?:\.[0-9]+)?$)")


def folded(name: str) -> str:
    """A name without what people vary by accident: case, spaces around and between, accents; programs, the .0 of 7.0.

    >>> folded(" Blue  Square") == folded("blue square"), folded("Café") == folded("cafe")
    (True, True)
    >>> folded("7.0"), folded("7.5"), folded("v7.0")
    ('7', '7.5', 'v7.0')
    """
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    plain = " ".join(plain.casefold().split())
    return _WHOLE.sub(r"\1", plain) or name


def nearly(name: str) -> str:
    """A folded name without leading zeros, which programs that read tables drop: 007 and 7 may be one, or may be two.

    >>> nearly("007"), nearly("000"), nearly("07.5"), nearly("v07")
    ('7', '0', '7.5', 'v07')
    """
    return _ZEROS.sub(r"\1", folded(name))


def twins(names: Iterable[str], key: Callable[[str], str] = folded) -> list[list[str]]:
    """Groups of names that are one when folded, or by another key, in the order in which they come.

    >>> twins(["Blue", "red", "blue "])
    [['Blue', 'blue ']]
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(key(name), []).append(name)
    return [group for group in groups.values() if len(group) > 1]
