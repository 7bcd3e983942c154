"""New items that may be known ones, spelled otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from similitude.display.words import listed
from similitude.feedback.spelling import nearly
from similitude.methods.base import warn_at_caller


def warn_of_spellings(known: Mapping[str, str], new: Iterable[str]) -> None:
    """Say which new items may be known ones, whose names are given by what is `nearly` theirs."""
    alike = [f"{name!r} and {known[nearly(name)]!r}" for name in new if nearly(name) in known]
    if alike:
        warn_at_caller(
            "comparisons: new items are called as known ones but for case, spaces, accents, .0 or leading zeros: "
            f"{listed(alike, len(alike))}; where they are one, call them alike"
        )
