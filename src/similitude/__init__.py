"""similitude: learn what people find similar.

Answers become `Comparisons`, a method such as `STE` or `AutoSimilarity` learns from them, and `learn` does everything
at once; `help(sm.STE)` explains a name, with an example.

Each name is imported when it is first used, so that `import similitude` costs nothing. The one list of them, for type
checkers, editors and this module, is `__init__.pyi`.

Examples
--------
>>> import similitude as sm
>>> said = [("cat", "dog", "bus"), ("dog", "cat", "car"), ("bus", "car", "cat"), ("car", "bus", "dog")]
>>> answers = sm.Comparisons.from_triplets(said)  # a cat is more like a dog than like a bus, ...
>>> model = sm.STE(n_components=2, random_state=0).fit(answers)
>>> model.neighbors("cat", k=1)
['dog']
"""

from __future__ import annotations

import importlib
import os
from typing import Any

__version__ = "0.1.0"


def _homes() -> dict[str, str]:
    """The module of each public name, as the stub imports it: `from HOME import NAME as NAME`."""
    stub = __spec__.loader.get_data(os.path.join(__path__[0], "__init__.pyi")).decode()
    words = (line.split() for line in stub.splitlines() if line.startswith("from similitude"))
    return {name: home for _, home, _, name, *_ in words}


_HOME = _homes()

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        import difflib

        near = difflib.get_close_matches(name, __all__, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"module 'similitude' has no attribute {name!r}{hint}")
    if _HOME[name] == "similitude":  # a room
        return importlib.import_module(f"similitude.{name}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
