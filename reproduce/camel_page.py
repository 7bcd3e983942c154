"""The page of results of CAMEL: claim by claim, what held."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduce.claims import Verdict, above, below, in_words, together
from reproduce.spectral_page import markdown
from reproduce.trials import mean_and_error

SAME = 0.01
_RESAMPLES = 2000


def page(table: pd.DataFrame) -> str:
    return "\n\n".join(
        [
            "# Labels with confidence (Heim 2015, chapter 6)",
            "`python -m reproduce.camel`. The clinical data is private: four public tables (ecoli and vowel with a "
            "rare class: 23 % and 9 %) and a simulated expert, whose confidence is the out-of-bag vote of a random "
            "forest for the row's own class plus normal noise of 0.1; and a planted table, two of ten features, where "
            "confidence grows with the margin, with the same noise. "
            f"{how_many(table)} draws of each table (the thesis: ten), used for nothing before; AUROC is on rows that "
            "neither train nor choose.",
            "Every method has six settings, fixed beforehand, and takes the best on 100 validation rows, as the thesis "
            "does, which are labels that the sizes do not count.",
            "![AUROC by labelled rows; bars are 95 % of the mean over draws; the line is CAMEL with 100](camel.png)",
            *saved(table),
            *rivals(table),
            *sparse(table),
            "Every draw is in `camel.json`.\n",
        ]
    )


def how_many(table: pd.DataFrame) -> str:
    """Say how many draws each table has: a run that was cut short has more of some."""
    counts = table.groupby("table").draw.nunique()
    return str(counts.min()) if counts.min() == counts.max() else f"{counts.min()} to {counts.max()}"


def saved(table: pd.DataFrame) -> list[str]:
    lines = ["| table | AUROC of CAMEL, 100 rows | CAMEL-CL: rows | SVM-Combo: rows |", "|---|---|---|---|"]
    most = table.rows.max()
    fewer = []
    for name, part in table.groupby("table", sort=False):
        curves = {m: own.pivot(index="draw", columns="rows", values="auroc") for m, own in part.groupby("method")}
        cells = [needed(curves["CAMEL"], curves[method], most) for method in ("CAMEL-CL", "SVM-Combo")]
        low, _, high = cells[0]
        fewer.append(True if high < most else False if low > most else None)
        written = (f"{_rows(middle, most)} ({_rows(low, most)} to {_rows(high, most)})" for low, middle, high in cells)
        lines.append(f"| {name} | {curves['CAMEL'][most].mean():.3f} | {' | '.join(written)} |")
    return [
        "## (a) Rows needed with confidences for what 100 rows reach without",
        f"**With confidences fewer than 100 rows on every table: {in_words(together(fewer))}** "
        f"(the whole interval on {fewer.count(True)} of {len(fewer)} tables; it holds 100 on {fewer.count(None)}). By "
        "the mean curve, "
        "straight between the sizes measured, where it first gets there; 95 % intervals over "
        "resampled draws, which are too narrow where draws are few.",
        "\n".join(lines),
    ]


def _rows(value: float, most: int) -> str:
    return f"over {most}" if not np.isfinite(value) else f"{value:.0f}"


def needed(without: pd.DataFrame, using: pd.DataFrame, most: int) -> tuple[float, float, float]:
    """Return the rows at which the mean of `using` reaches the mean of `without` at most, with an interval."""
    rng = np.random.default_rng(0)
    draws = [rng.integers(0, len(without), len(without)) for _ in range(_RESAMPLES)]
    values = [_crossing(using.iloc[rows].mean(), without[most].iloc[rows].mean()) for rows in draws]
    low, high = np.quantile(values, [0.025, 0.975], method="nearest")
    return float(low), _crossing(using.mean(), without[most].mean()), float(high)


def _crossing(curve: pd.Series, goal: float) -> float:
    sizes, values = curve.index.to_numpy(float), curve.to_numpy()
    reached = np.flatnonzero(values >= goal)
    if not len(reached):
        return np.inf
    k = int(reached[0])
    if k == 0:
        return float(sizes[0])
    return float(np.interp(goal, values[k - 1 : k + 1], sizes[k - 1 : k + 1]))


def rivals(table: pd.DataFrame) -> list[str]:
    mean = table.pivot_table(index=["table", "rows"], columns="method", values="auroc", sort=False)
    return [
        "## (b) AUROC beside the others",
        f"- {judged(table, f'CAMEL as good as SVM or better (within {SAME})', 'CAMEL', 'SVM')}",
        f"- {judged(table, f'CAMEL-CL as good as SVM-Combo (within {SAME})', 'CAMEL-CL', 'SVM-Combo')}",
        f"- {judged(table, f'Confidences do not hinder CAMEL (within {SAME})', 'CAMEL-CL', 'CAMEL')}",
        f"Confidences add {gain(table, 'SVM', 'SVM-Combo')[0]} to SVM.",
        markdown(mean, ".3f"),
    ]


def gain(table: pd.DataFrame, without: str, using: str) -> tuple[str, float, float]:
    """Say what one method adds to another's AUROC; only draws of which every table is there count."""
    both = table.pivot(index=["draw", "table", "rows"], columns="method", values="auroc")
    by_draw = (both[using] - both[without]).unstack(["table", "rows"]).dropna().mean(axis=1)
    mean, error = mean_and_error(by_draw)
    return f"{mean:+.3f} ± {error:.3f}", mean, error


def judged(table: pd.DataFrame, text: str, method: str, rival: str) -> str:
    """The claim that a method is as good as another on average, and in how many settings its mean is."""
    said, mean, error = gain(table, rival, method)
    by_setting = table.pivot_table(index=["table", "rows"], columns="method", values="auroc")
    fine = by_setting[method] - by_setting[rival] >= -SAME
    return f"**{text}: {in_words(above(mean, error, -SAME))}** ({said}; in {fine.sum()} of {len(fine)} settings)."


def sparse(table: pd.DataFrame) -> list[str]:
    part = table.dropna(subset="rank").assign(rank_share=lambda rows: rows["rank"] / rows.features)
    mean = part.groupby(["table", "method"], sort=False)[["sparsity", "rank", "features"]].mean()
    zeros, ranks = (by_table(part, score) for score in ("sparsity", "rank"))
    return [
        "## (c) Zeros and rank of L (all sizes)",
        f"**Mostly zeros on every table: {in_words((mean.sparsity > 0.5).all())}** (the thesis: 0.79 and 0.75 without, "
        "0.90 and 0.88 with confidences). "
        + told("Sparser with confidences on every table", [above(*gap) for gap in zeros.values()], zeros)
        + " "
        + told("Of lower rank with confidences on every table", [below(*gap) for gap in ranks.values()], ranks)
        + " Without confidences the rank is 1 already, or nearly.",
        markdown(mean, ".2f"),
    ]


def by_table(table: pd.DataFrame, score: str) -> dict[str, tuple[float, float]]:
    """What confidences add to a score, by table: means over sizes, paired by draw."""
    wide = table.pivot_table(index=["table", "draw"], columns="method", values=score, sort=False)
    gap = wide["CAMEL-CL"] - wide["CAMEL"]
    return {name: mean_and_error(own) for name, own in gap.groupby(level=0, sort=False)}


def told(text: str, verdicts: list[Verdict], gaps: dict[str, tuple[float, float]]) -> str:
    figures = "; ".join(f"{name} {mean:+.3f} ± {error:.3f}" for name, (mean, error) in gaps.items())
    return f"**{text}: {in_words(together(verdicts))}** ({figures})."
