"""A Python that sees part of what is installed: the rest looks as if it had never been there."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Iterable
from pathlib import Path

from packaging.requirements import Requirement

_FINDER = """
import sys
from importlib.machinery import PathFinder

class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name in HIDDEN else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding
"""


def environment(folder: Path, hidden: Iterable[str], *paths: Path) -> dict[str, str]:
    """Environment variables of a Python, and of those that it starts, to which modules look as if not installed.

    Parameters
    ----------
    folder : where the file that hides them is written
    hidden : names of modules
    paths : folders in which modules are looked for first
    """
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(f"HIDDEN = {sorted(hidden)!r}\n{_FINDER}", encoding="utf-8")
    first = os.pathsep.join(map(str, (folder, *paths)))
    return os.environ | {"PYTHONPATH": first, "NO_COLOR": "1", "COLUMNS": "160"}


def beyond(requirements: Iterable[str]) -> set[str]:
    """Modules that are installed here, and would not be where these requirements alone were installed."""
    wanted = _closure(requirements)
    owners = importlib.metadata.packages_distributions()
    kept = {"similitude", "pip", "setuptools", "_distutils_hack"}
    return {
        module
        for module, names in owners.items()
        if module not in kept and not wanted & {_plain(name) for name in names}
    }


def _closure(requirements: Iterable[str]) -> set[str]:
    """The distributions that requirements bring with them, extras left aside unless asked for."""
    found: set[str] = set()
    waiting = [Requirement(one) for one in requirements]
    while waiting:
        one = waiting.pop()
        if _plain(one.name) in found:
            continue
        found.add(_plain(one.name))
        needed = (Requirement(line) for line in importlib.metadata.requires(one.name) or [])
        waiting += [inner for inner in needed if _applies(inner, one.extras)]
    return found


def _applies(requirement: Requirement, extras: set[str]) -> bool:
    """Whether a requirement holds here, for what was asked for with these extras."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras or {""})


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")
