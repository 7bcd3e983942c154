"""The likelihood of whole answers: one pass over odd ones out by size, and a whole fit with features and a free rest.

Answers are drawn from a known truth over 1,854 items, the size of THINGS: vectors of 66 dimensions, a map of features
of 512 and 300 columns and a rest, softmax over three pairs of dot products. `choices_pass` is value and gradient on the
CPU; `choices_fit` whole fits of `ChoiceEmbedding(66)`, the first and again, on a GPU where torch can use one (five
million answers), else on the CPU (234,000). Log-loss is that of 20,000 further answers, beside the truth's own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

import similitude as sm
from benchmarks.report import Row, Table
from benchmarks.settings import Settings
from benchmarks.topics.gpu import has_gpu
from similitude.engine.choice_terms import Picked
from similitude.engine.models import DotProducts, Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.engine.terms import Formula, squared
from similitude.feedback.whole_answers import choices_of

LONG = True
ITEMS, DIMENSIONS, COLUMNS_OF_FEATURES, TESTED = 1854, 66, (512, 300), 20_000
PASSES, FIT_ON_GPU, FIT_ON_CPU = (234_000, 1_000_000), 5_000_000, 234_000
PASS = {"answers": ",d", "pairs": ",d", "milliseconds": ".0f", "CPU milliseconds": ".0f"}
FIT = {
    "device": "", "answers": ",d", "step": "", "seconds": ".1f",
    "iterations": "d", "log-loss": ".4f", "truth": ".4f",
}  # fmt: skip


def run(settings: Settings) -> Iterator[Table]:
    share = 100 if settings.quick else 1
    F, X = truth(settings.seed)
    if not has_gpu():
        title = f"One value and gradient of odd ones out: {ITEMS:,} items, {DIMENSIONS} dimensions"
        table = Table("choices_pass", title, PASS, note="best of 5")
        table.rows += [one_pass(draw(X, size // share, settings.seed)) for size in PASSES]
        yield table
    device, size = ("cuda", FIT_ON_GPU) if has_gpu() else ("cpu", FIT_ON_CPU)
    title = f"ChoiceEmbedding({DIMENSIONS}), features of 512 + 300 columns and a free rest, {ITEMS:,} items"
    table = Table(f"choices_fit_{device}", title, FIT, note="the first fit compiles what was not kept on disk")
    table.rows.extend(fits(F, X, size // share, device, settings.seed))
    yield table


def truth(seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Features by modality, and vectors that they explain in part."""
    rng = np.random.default_rng(seed)
    F = {f"{width} columns": rng.normal(size=(ITEMS, width)) for width in COLUMNS_OF_FEATURES}
    strength = np.geomspace(1.0, 0.1, DIMENSIONS)
    mapped = sum(f @ rng.normal(size=(f.shape[1], DIMENSIONS)) / np.sqrt(f.shape[1]) for f in F.values())
    return F, 0.4 * strength * (mapped + rng.normal(size=(ITEMS, DIMENSIONS)))


def draw(X: np.ndarray, count: int, seed: int) -> sm.Comparisons:
    """Odd ones out by softmax over the dot products of the pairs."""
    rng = np.random.default_rng([seed, count])
    steps = np.sort(rng.integers(0, ITEMS - 2, (count, 2)), axis=1) + np.array([1, 2])
    shown = (rng.integers(0, ITEMS, (count, 1)) + np.column_stack([np.zeros(count, int), steps])) % ITEMS
    products = X @ X.T
    value = np.stack([products[shown[:, i], shown[:, j]] for i, j in ((1, 2), (0, 2), (0, 1))], axis=1)
    return sm.Comparisons.from_odd_one_out(shown, (value + rng.gumbel(size=value.shape)).argmax(1), n_items=ITEMS)


def one_pass(c: sm.Comparisons) -> Row:
    term = Picked(Formula(squared), choices_of(c))
    problem = Problem(DotProducts(Positions(ITEMS, DIMENSIONS)), term, Ridge(0.1, ITEMS))
    at = 0.1 * np.random.default_rng(0).normal(size=ITEMS * DIMENSIONS)
    problem.value_and_gradient(at)
    times = []
    for _ in range(5):
        begin = time.perf_counter(), time.process_time()
        problem.value_and_gradient(at)
        times.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
    wall, cpu = np.min(times, axis=0)
    figures = {"milliseconds": 1e3 * wall, "CPU milliseconds": 1e3 * cpu}
    return {"answers": c.n_answers, "pairs": len(term.pairs)} | figures


def fits(F: dict[str, np.ndarray], X: np.ndarray, size: int, device: str, seed: int) -> Iterator[Row]:
    train, test = draw(X, size, seed), draw(X, TESTED, seed + 1)
    known = truths_loss(X, test)
    if device == "cuda":
        yield {"device": device, "step": "torch and its context", "seconds": begin_torch()}
    for step in ("first fit", "again"):
        begin = time.perf_counter()
        model = sm.ChoiceEmbedding(DIMENSIONS, device=device, random_state=seed).fit(train, features=F)
        seconds = time.perf_counter() - begin
        figures = {"seconds": seconds, "iterations": model.n_iter_, "log-loss": sm.answer_log_loss(model, test)}
        yield {"device": device, "answers": size, "step": step, "truth": known} | figures


def begin_torch() -> float:
    begin = time.perf_counter()
    import torch

    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def truths_loss(X: np.ndarray, c: sm.Comparisons) -> float:
    """Log-loss of the vectors that answers were drawn from."""
    shown, odd = c.answers.shown.matrix(), c.answers.response.matrix()[:, 0].astype(int)
    value = np.stack([(X[shown[:, i]] * X[shown[:, j]]).sum(1) for i, j in ((1, 2), (0, 2), (0, 1))], axis=1)
    return float(np.mean(np.log(np.exp(value).sum(1)) - value[np.arange(len(odd)), odd]))
