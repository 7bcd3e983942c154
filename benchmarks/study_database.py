"""A study's database as it is after many answers: `python -m benchmarks.study_database FOLDER ADDRESS ANSWERS`.

It is written at once, not answered one by one, by the similitude that is imported: an earlier one cannot open the
database of a later one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import sqlalchemy as sa

from similitude.study.asking import form_of
from similitude.study.site import open_site
from similitude.study.store import schema

PER_RATER = 200
_AT_ONCE = 20_000
_START = 1.7e9


def fill_study(root: Path, url: str, n: int, seed: int = 0) -> None:
    """Add n answers to triplets by simulated raters, 200 each, who see two dimensions with noise."""
    site = open_site(root, url)
    service = next(iter(site.studies.values()))
    rng = np.random.default_rng(seed)
    truth, names = rng.normal(size=(len(service.names), 2)), np.array(service.names)
    here = {"study_id": service.study_id, "version": service.version, "form": "triplet", "kind": "question"}
    try:
        with site.database.write() as connection:
            connection.execute(sa.insert(schema.rater), [_rater(k, here) for k in range(-(-n // PER_RATER))])
        for first in range(0, n, _AT_ONCE):
            rows = _answers(first, min(_AT_ONCE, n - first), truth, names, rng)
            with site.database.write() as connection:
                connection.execute(sa.insert(schema.answer), [{**here, **row} for row in rows])
    finally:
        site.close()


def _rater(k: int, here: dict) -> dict:
    counts = {"asked": PER_RATER, "answered": PER_RATER, "catches": 0, "catches_passed": 0}
    who = {"id": k + 1, "code": f"r{k + 1:06d}", "uid": f"filled-{k:08d}", "parameters": "{}"}
    return {**who, "study_id": here["study_id"], "joined": _START, "consented": _START, "finished": _START, **counts}


def _answers(first: int, n: int, truth: np.ndarray, names: np.ndarray, rng: np.random.Generator) -> list[dict]:
    shown = rng.random((n, len(names))).argsort(1)[:, :3]
    far = ((truth[shown[:, 1:]] - truth[shown[:, :1]]) ** 2).sum(2)
    said = 1 + (far[:, 0] + rng.logistic(size=n) > far[:, 1])
    chance, time = rng.random(n), rng.integers(500, 5000, n)
    return [
        {
            "rater_id": k // PER_RATER + 1, "number": k % PER_RATER, "uid": f"filled-{k}", "outcome": "answered",
            "shown": json.dumps(names[items].tolist()), "response": json.dumps([float(response)]),
            "side": form_of("triplet").side_of([response]), "milliseconds": int(ms), "score": float(share),
            "strategy": "random" if share < 0.2 else "information_gain", "model": 1,
            "asked_at": _START + k, "received": _START + k,
        }
        for k, (items, response, share, ms) in enumerate(zip(shown, said.tolist(), chance, time, strict=True), first)
    ]  # fmt: skip


if __name__ == "__main__":
    fill_study(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
