"""How a model was made: what its file says of method, settings, versions and data."""

from __future__ import annotations

import hashlib
import platform
import sys
from typing import Any

import numpy as np

from similitude.display.words import counted
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.shards import Shards
from similitude.types import Bools


def provenance(estimator: Any, data: dict[str, Any] | None) -> dict[str, Any]:
    """Return what a model's `about` holds: method, plain settings, the penalty that was used, versions, data."""
    plain = (int, float, str)
    about: dict[str, Any] = {
        "method": type(estimator).__name__,
        "settings": {name: value for name, value in estimator.get_params().items() if isinstance(value, plain)},
        "versions": {"similitude": _version(), "numpy": np.__version__, "python": platform.python_version()},
    }
    penalty = estimator.__dict__.get("penalty_")
    if penalty is not None and np.isfinite(penalty):
        about["penalty"] = float(penalty)
    if "chosen_" in estimator.__dict__:  # what AutoSimilarity took, in words of its table
        about["chosen"] = [_chosen(row) for row in estimator.chosen_.to_dict("records")]
    if "ended_" in estimator.__dict__:
        about["search"] = estimator.ended_
    return about if data is None else about | {"data": data}


def _chosen(row: dict[str, Any]) -> str:
    """One of the fits that make a model: "SOE in 4 dimensions, penalty 0.271"."""
    known = isinstance(row["dimension"], (int, np.integer))
    where = f" in {counted(int(row['dimension']), 'dimension')}" if known else ""
    penalty = f", penalty {row['penalty']:.3g}" if np.isfinite(row["penalty"]) else ""
    return f"{row['candidate']}{where}{penalty}"


def described_data(comparisons: Comparisons) -> dict[str, Any]:
    """Return how much feedback there is, and a digest of it: the same answers about the same items give the same."""
    digest = hashlib.sha256()
    for column in (comparisons.near, comparisons.far, np.asarray(comparisons.weight, float)):
        digest.update(np.ascontiguousarray(column).data)
    digest.update("\n".join(comparisons.names or ()).encode())
    counting = comparisons.weight > 0
    compared = np.zeros(comparisons.n_items, bool)
    compared[comparisons.near[counting]] = compared[comparisons.far[counting]] = True
    return {
        "comparisons": len(comparisons),
        "answers": comparisons.n_answers,
        "raters": len(comparisons.answers.rater.labels),
        "digest": f"sha256:{digest.hexdigest()}",
        "never_compared": _positions(~compared),
    }


def described_shards(shards: Shards, compared: Bools) -> dict[str, Any]:
    """Return how much feedback there is that does not fit in memory; `compared` says of which items it tells."""
    return {"comparisons": len(shards), "never_compared": _positions(~compared)}


def _positions(which: Bools) -> list[int]:
    """Of items: those of which no answer tells lie where a fit leaves them, which says nothing."""
    found: list[int] = np.flatnonzero(which).tolist()
    return found


def _version() -> str:
    """Of similitude, from the package as it was imported: its stub names every module, and would close a circle."""
    return str(sys.modules["similitude"].__version__)
