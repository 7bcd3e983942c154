"""What the experiments share: trials whose rows are kept as they come, tables and figures for the results pages."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

RESULTS = Path(__file__).parent / "results"


def data_folder() -> Path:
    return Path(os.environ.get("SIMILITUDE_DATA", Path(__file__).parents[2] / "shared" / "data"))


def kept_trials(name: str, run: Callable[..., list[dict]], jobs: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    """Return the rows of `run(*job)` for each job; those already in results/NAME.json are not run again.

    Delete the file to start afresh. REPRODUCE_JOBS says how many run at once (two).
    """
    path = RESULTS / f"{name}.json"
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    done = {tuple(row["job"]) for row in rows}
    waiting = [job for job in jobs if tuple(job) not in done]
    found = joblib.Parallel(n_jobs=int(os.environ.get("REPRODUCE_JOBS", "2")), return_as="generator_unordered")(
        joblib.delayed(_run)(run, job) for job in waiting
    )
    for new in found:
        rows = sorted([*rows, *_rounded(new)], key=lambda row: row["job"])
        path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")
    return pd.DataFrame(rows).drop(columns="job")


def _run(run: Callable[..., list[dict]], job: tuple[Any, ...]) -> list[dict]:
    warnings.simplefilter("ignore")
    return [{"job": list(job), **row} for row in run(*job)]


def _rounded(value: Any) -> Any:
    """Return JSON with its numbers to six digits."""
    if isinstance(value, dict):
        return {key: _rounded(own) for key, own in value.items()}
    if isinstance(value, list):
        return [_rounded(own) for own in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def accuracy(D: np.ndarray, test: np.ndarray) -> float:
    """Return how many of the comparisons (i, j, k) have D[i, j] < D[i, k], ties counted half."""
    return float((1.0 + np.sign(D[test[:, 0], test[:, 2]] - D[test[:, 0], test[:, 1]])).mean() / 2.0)


def kernel_distances(K: np.ndarray) -> np.ndarray:
    """Return squared distances in a kernel's own space."""
    return np.diagonal(K)[:, None] + np.diagonal(K) - 2.0 * K


def verdict(held: Any) -> str:
    return "held" if held else "did not hold"


def mean_and_error(values: Any) -> tuple[float, float]:
    """Return the mean and twice its standard error."""
    values = np.asarray(values, dtype=float)
    return float(values.mean()), float(2 * values.std(ddof=1) / np.sqrt(len(values)))
