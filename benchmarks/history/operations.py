"""The operations whose cost is followed, each beside a naive one for the same task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import similitude as sm
from benchmarks.history import naive
from benchmarks.problems import Problem
from benchmarks.settings import METHODS
from similitude.engine.backend import CPU
from similitude.graph.build import build_graph

LARGE, SMALL = Problem(1_000, 50_000, 5, m_test=0), Problem(60, 5_000, 2, m_test=0)


@dataclass(frozen=True)
class Operation:
    """A task that ours and a naive version do, ready to be called."""

    name: str
    ours: Callable[[], Any]
    naive: Callable[[], Any]


def operations(folder: Path) -> Iterator[Operation]:
    """Give all of them, with their data; files go to a folder."""
    yield from gradients(LARGE)
    rows, _ = SMALL.triplets()
    c = sm.Comparisons.from_triplets(rows, n_items=SMALL.n)
    model = sm.STE(SMALL.d, random_state=0).fit(c)
    yield Operation(
        "fit STE",
        lambda: sm.STE(SMALL.d, random_state=0).fit(c),
        lambda: naive.fit(rows, SMALL.n, SMALL.d),
    )
    yield Operation("check", lambda: sm.check(c), lambda: naive.contradictions(rows))
    file = folder / "answers.csv"
    _write(file, rows)
    yield Operation("read CSV", lambda: sm.read_comparisons(file), lambda: naive.read(file))
    yield Operation(
        "next questions",
        lambda: sm.next_questions(model, 50, asked=c, random_state=0),
        lambda: naive.questions(model.embedding_, 50),
    )


def gradients(problem: Problem) -> Iterator[Operation]:
    """The objective and gradient of each loss at random positions."""
    rows, _ = problem.triplets()
    graph = build_graph(sm.Comparisons.from_triplets(rows, n_items=problem.n))
    X = np.random.default_rng(0).normal(size=(problem.n, problem.d))
    for method in METHODS:
        loss = getattr(sm, method)(problem.d).comparison_loss()
        ours = partial(CPU().embedding, loss, X, graph)
        yield Operation(f"gradient {method}", ours, partial(naive.gradient, method, X, rows))


def _write(path: Path, rows: Any) -> None:
    lines = ["head,winner,loser", *(f"item{i},item{j},item{k}" for i, j, k in rows.tolist())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
