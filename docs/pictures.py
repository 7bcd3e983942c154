"""Pictures of the method pages: the same answers for every method, so that the pages can be compared."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import similitude as sm
from similitude.active.curve import summarised
from similitude.plot.style import COLOURS


@cache
def answers() -> tuple[Any, Any]:
    """Twenty-four items on a ring in two halves, and 1,500 noisy answers about them."""
    turn = np.concatenate([np.linspace(0.2, 2.9, 12), np.linspace(3.4, 6.0, 12)])
    truth = 1.3 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return truth, sm.simulate(truth, 1500, sharpness=2.0, raters=10, random_state=7)


def method(name: str) -> None:
    """Draw the loss of one comparison, and the map learned from the noisy answers over the true one."""
    truth, c = answers()
    estimator = getattr(sm, name)(2, random_state=0).fit(c)
    _, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.8), layout="constrained")
    loss = estimator.comparison_loss()
    near = np.linspace(0.0, 3.0, 200)
    for colour, far in zip(COLOURS, (0.5, 1.0, 2.0), strict=False):
        value = loss.shape(loss.margin(near**2, np.full_like(near, far**2)))[0]
        left.plot(near, value, color=colour, label=f"far pair at {far:g}")
        left.axvline(far, color=colour, linestyle=":", linewidth=0.8)
    left.set(xlabel="distance of the near pair", ylabel="loss of the comparison", title=f"What {name} charges")
    left.legend(frameon=False)
    learned = sm.align(estimator.embedding_, truth)
    right.plot(*np.stack([learned, truth], 1).transpose(2, 1, 0), color="0.75", linewidth=1, zorder=0)
    right.scatter(*truth.T, s=60, facecolors="none", edgecolors="0.4", label="true")
    right.scatter(*learned.T, s=30, c=np.arange(len(truth)), cmap="viridis", label="learned")
    right.set_aspect("equal")
    right.set_axis_off()
    right.legend(frameon=False, loc="center")
    right.set_title(f"1,500 noisy answers about 24 items: {sm.procrustes_distance(learned, truth):.1%} missed")


def losses() -> None:
    """Draw the losses of the five methods side by side, as a function of the near pair's distance."""
    _, axes = plt.subplots(1, 5, figsize=(11.0, 2.6), layout="constrained", sharex=True)
    near = np.linspace(0.0, 3.0, 200)
    for ax, name in zip(axes, ("STE", "TSTE", "CKL", "SOE", "GNMDS"), strict=True):
        loss = getattr(sm, name)(2).comparison_loss()
        for colour, far in zip(COLOURS, (0.5, 1.0, 2.0), strict=False):
            ax.plot(near, loss.shape(loss.margin(near**2, np.full_like(near, far**2)))[0], color=colour)
        ax.set(title=name, xlabel="near pair", ylim=(0, 6))
    axes[0].set_ylabel("loss")


def comparison_kernel() -> None:
    """Draw items in three groups, their k1 from a landmark design, and kernel PCA of it."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1, 2], 30)
    truth = rng.normal(size=(90, 2)) + np.array([[0, 0], [5, 0], [0, 5]])[group]
    landmarks = sm.choose_landmarks(truth, 10, random_state=1)
    questions = sm.landmark_questions(90, landmarks, n_questions=2000, random_state=2)
    model = sm.ComparisonKernel("k1", landmarks=landmarks).fit(
        sm.simulate(truth, questions=questions, flip=0.1, random_state=3)
    )
    _, axes = plt.subplots(1, 3, figsize=(11.0, 3.6), layout="constrained")
    colours = np.array(COLOURS)[group]
    axes[0].scatter(*truth.T, c=colours, s=25)
    axes[0].scatter(*truth[landmarks].T, s=90, facecolors="none", edgecolors="black", label="landmarks")
    axes[0].legend(frameon=False)
    axes[0].set(title="90 items in three groups", aspect="equal", xticks=[], yticks=[])
    sm.plot.kernel_matrix(model.kernel_, ax=axes[1])
    axes[1].set_title("k1 from 2,000 answers, 10 % wrong")
    axes[2].scatter(*sm.kernel_map(model.features_, kernel="linear").T, c=colours, s=25)
    axes[2].set(title="kernel PCA", aspect="equal", xticks=[], yticks=[])


def active() -> None:
    """Draw error against answers for low and human-like noise, from the stored results of reproduce/active.py."""
    stored = json.loads(
        (Path(__file__).parents[1] / "reproduce" / "results" / "active.json").read_text(encoding="utf-8")
    )
    _, axes = plt.subplots(1, 2, figsize=(10.0, 4.0), layout="constrained", sharey=True)
    for ax, part, target in zip(axes, ("low", "human"), (0.04, 0.08), strict=True):
        rows = [
            {"strategy": strategy.removesuffix(", all pairs"), "repeat": repeat, "answers": answers, "error": error}
            for strategy, curve in stored[part].items()
            if strategy in ("random", "information gain", "uncertainty, all pairs", "A-CKL, all pairs")
            for repeat, errors in enumerate(curve["error"])
            for answers, error in zip(curve["answers"], errors, strict=True)
        ]
        sm.plot.active_curve(summarised(pd.DataFrame(rows).assign(likelihood=np.nan)), target=target, ax=ax)
    axes[0].set_title("few wrong answers, two dimensions")
    axes[1].set_title("many wrong answers, three dimensions")
    axes[1].set_ylabel("")


def agreement() -> None:
    """Draw two models' distances against each other, and their maps over each other."""
    names = ["ant", "bee", "cow", "dog", "eel", "fox", "gnu", "hen", "ibex", "jay", "kiwi", "lynx"]
    truth = np.random.default_rng(0).normal(size=(12, 2))
    models = [
        sm.STE(2, random_state=0).fit(sm.simulate(seen, 600, sharpness=2.0, names=names, random_state=seed))
        for seed, seen in ((1, truth), (2, truth * [1.5, 0.5]))
    ]
    found = sm.compare(*models, random_state=0)
    _, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.4), layout="constrained")
    sm.plot.agreement(found, labels=("lay", "expert"), ax=left)
    sm.plot.agreement(found, kind="maps", labels=("lay", "expert"), ax=right)
