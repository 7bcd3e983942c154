"""Pictures of learning from links and labels: J of the spectral kernel, AUROC of CAMEL by number of labelled rows."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from PIL import Image

from similitude.plot.style import COLOURS, MARKERS

LINES = ("SVM", "SVM-Combo", "CAMEL", "CAMEL-CL")
FORMS = ("strength 1/4", "strength 1", "printed")


def draw_auroc(table: pd.DataFrame, path: Path) -> None:
    """AUROC against labelled rows, a panel per table; bars are 95 % of the mean over draws."""
    names = list(dict.fromkeys(table.table))
    figure, panels = plt.subplots(1, len(names), figsize=(2.9 * len(names), 3.1), layout="constrained", squeeze=False)
    for axes, name in zip(panels[0], names, strict=True):
        own = table[table.table == name]
        for k, method in enumerate(LINES):
            curve = own[own.method == method].pivot(index="draw", columns="rows", values="auroc")
            _with_bars(axes, curve.columns.to_numpy(float), curve, k, method, 1.0 + 0.04 * (k - 1.5))
        level = own[(own.method == "CAMEL") & (own.rows == own.rows.max())].auroc.mean()
        axes.axhline(level, color="0.6", linewidth=0.8, zorder=0)
        axes.set(title=name, xscale="log", xlabel="labelled rows")
        axes.set_xticks(sorted(own.rows.unique()), [str(size) for size in sorted(own.rows.unique())])
        axes.minorticks_off()
    panels[0, 0].set_ylabel("AUROC on other rows")
    panels[0, -1].legend(frameon=False, fontsize="small", loc="lower right")
    _save(figure, path)


def draw_separation(results: dict[str, pd.DataFrame], path: Path) -> None:
    """J by number of landmarks (XOR) and by number of links (MNIST); bars are one standard deviation over draws."""
    figure, (left, *right) = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    xor = results["xor"].rename(columns={"seed": "draw"})
    for k, form in enumerate(FORMS):
        curve = xor[xor.method == form].pivot(index="draw", columns="landmarks", values="J")
        _with_bars(left, curve.columns.to_numpy(float), curve, k, form, 1.0 + 0.03 * (k - 1.5), spread=True)
    for method, dash in (("RBF", "--"), ("RCA", ":")):
        left.axhline(xor[xor.method == method].J.mean(), color="0.4", linestyle=dash, linewidth=1, label=method)
    left.set(title="XOR, 50 links", xscale="log", xlabel="landmarks", ylabel="J")
    left.set_xticks(curve.columns, [f"{m:.0f}" for m in curve.columns])
    for axes, (digits, own) in zip(right, results["links"].groupby("digits"), strict=True):
        for k, method in enumerate((*FORMS, "RBF", "RCA")):
            curve = own[own.method == method].pivot(index="seed", columns="links", values="J")
            _with_bars(axes, curve.columns.to_numpy(float), curve, k, method, 1.0, spread=True)
        axes.set(title=str(digits), xscale="log", xlabel="similar links")
        axes.set_xticks(curve.columns, [f"{count:.0f}" for count in curve.columns])
    for axes in (left, right[0]):
        axes.legend(frameon=False, fontsize="small", ncols=2, loc="upper left")
    for axes in (left, *right):
        axes.minorticks_off()
        axes.set_ylim(0, 1.35 * axes.get_ylim()[1])  # room for the legend
    _save(figure, path)


def _with_bars(
    axes: Axes, at: np.ndarray, curve: pd.DataFrame, k: int, label: str, shift: float, spread: bool = False
) -> None:
    bars = curve.std(ddof=1) if spread else 1.96 * curve.std(ddof=1) / np.sqrt(len(curve))
    style = {"color": COLOURS[k], "marker": MARKERS[k], "markersize": 4, "linewidth": 1.3, "capsize": 2}
    axes.errorbar(shift * at, curve.mean(), yerr=bars, label=label, **style)


def _save(figure: plt.Figure, path: Path) -> None:
    """Write a small picture of few colours."""
    figure.set_dpi(100)
    figure.canvas.draw()
    pixels = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
    pixels.quantize(64).save(path, optimize=True)
    plt.close(figure)
