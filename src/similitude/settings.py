"""Settings of estimators and other arguments, checked: each refusal names what was expected and what was found."""

from __future__ import annotations

import os
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np


def one_of(argument: str, found: Any, expected: tuple[str | bool, ...]) -> None:
    """Refuse a setting that is none of the expected."""
    if found not in expected:
        raise ValueError(f"{argument}: expected one of {', '.join(map(repr, expected))}, found {found!r}")


def check_count(argument: str, found: Any, least: int = 1, also: str | None = None) -> None:
    """Refuse what is no whole number of at least so many; `also` ("auto", say) may stand in its place."""
    whole = isinstance(found, int | np.integer) and not isinstance(found, bool) and found >= least
    if not whole and not _is_word(found, also):
        raise ValueError(f"{argument}: expected {_or(also)}a whole number of at least {least}, found {found!r}")


def check_number(argument: str, found: Any, *, positive: bool = False, also: str | None = None) -> None:
    """Refuse what is no finite number of at least 0, or above 0 where it must be positive."""
    value = float(found) if isinstance(found, Real) else np.nan
    fits = 0 < value < np.inf if positive else 0 <= value < np.inf
    if not fits and not _is_word(found, also):
        expected = "a positive number" if positive else "a number of at least 0"
        raise ValueError(f"{argument}: expected {_or(also)}{expected}, found {found!r}")


def check_share(argument: str, found: Any) -> None:
    """Refuse what does not lie between 0 and 1: a level of confidence, a share."""
    if not isinstance(found, Real) or not 0 < float(found) < 1:
        raise ValueError(f"{argument}: expected a share between 0 and 1, found {found!r}")


def check_seconds(argument: str, found: Any) -> None:
    """Refuse what is no positive number of seconds; without end is one."""
    if not isinstance(found, Real) or not float(found) > 0:
        raise ValueError(f"{argument}: expected a positive number of seconds, found {found!r}")


def check_estimator(argument: str, found: Any) -> None:
    """Refuse what cannot be fitted anew: a class in place of one of its instances, the name of a method."""
    if isinstance(found, type):
        name = found.__name__
        raise ValueError(f"{argument}: expected an estimator such as STE(), found the class {name}; write {name}()")
    if not (hasattr(found, "fit") and hasattr(found, "get_params")):
        raise ValueError(f"{argument}: expected an estimator such as STE(), found {found!r}")


def as_path(found: Any, call: str) -> Path:
    """Return where to write; what is no path is refused with how the function is called, for arguments are swapped."""
    if not isinstance(found, (str, os.PathLike)):
        raise TypeError(f"path: expected the name of a file, found {type(found).__name__}; call {call}")
    if not os.fspath(found):
        raise ValueError("path: found an empty text (is a variable not set?); expected the name of a file")
    return Path(found)


def generator(seed: Any, argument: str = "random_state") -> np.random.Generator:
    """Return a generator of random numbers: of a seed, the one that was given, or, for None, a fresh one."""
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ValueError(
            f"{argument}: expected a whole number of at least 0, a generator of numpy, or None, found {seed!r}"
        ) from None


def _is_word(found: Any, word: str | None) -> bool:
    return word is not None and isinstance(found, str) and found == word


def _or(word: str | None) -> str:
    return "" if word is None else f"{word!r} or "
