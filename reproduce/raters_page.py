"""The results page of `reproduce.raters`: claim by claim, what held."""

from __future__ import annotations

import pandas as pd
from scipy import stats

from reproduce.claims import in_words

BETTER, NOT_WORSE = "better", "not worse"


def page(table: pd.DataFrame) -> str:
    parts = {name: part.dropna(axis=1, how="all") for name, part in table.groupby("part")}
    return "\n\n".join(
        [
            "# Telling raters apart, against pooling",
            "`python -m reproduce.raters`. The claim is ours: a model of raters beats pooling where raters differ and "
            "does not lose where they do not. *Pooled* is STE or CKL in two dimensions with its default penalty, *by "
            "rater* `RaterEmbedding`, *by group* `GroupEmbedding` (number of groups chosen on training answers). All "
            "are tested on held-out answers of the same raters. Differences are paired by seed, with 95 % intervals; "
            "*better*: the interval lies beyond 0; *not worse*: it does not lie wholly on the wrong side, or "
            "lies within 0.002 of 0.",
            *sharpness(parts["sharpness"]),
            *groups(parts["groups"]),
            *fruit(parts["fruit"]),
            *kernels(parts["kernels"]),
            "Every draw is in `raters.json`.\n",
        ]
    )


def gap(table: pd.DataFrame, model: str, score: str, against: str = "pooled") -> tuple[float, float]:
    """Mean difference to another model, paired by seed (and whatever else), and half its 95 % interval."""
    keys = [name for name in ("seed", "palette") if name in table]
    wide = table.pivot(index=keys, columns="model", values=score)
    own = (wide[model] - wide[against]).dropna()
    return float(own.mean()), float(stats.t.ppf(0.975, len(own) - 1) * own.std() / len(own) ** 0.5)


def judged(table: pd.DataFrame, model: str, score: str, kind: str, setting: str) -> str:
    mean, half = gap(table, model, score)
    gain = -mean if score == "log_loss" else mean
    held = gain > half if kind == BETTER else gain > -max(half, 0.002)
    if kind == BETTER and not held and gain > -half:
        held = None
    words = {"log_loss": "log-loss", "truth": "accuracy on the truth"}.get(score, score)
    return f"**{setting}, {words} {kind}: {in_words(held)}** ({mean:+.4f} ± {half:.4f})"


def means(table: pd.DataFrame, index: list[str], columns: list[str]) -> str:
    """A markdown table of means."""
    mean = table.groupby(index, sort=False)[columns].mean()
    lines = [f"| {' | '.join([*index, *columns])} |", "|---" * (len(index) + len(columns)) + "|"]
    for key, row in mean.iterrows():
        label = key if isinstance(key, tuple) else (key,)
        cells = ["" if value != value else f"{value:.4f}" for value in row]
        lines.append(f"| {' | '.join([*map(str, label), *cells])} |")
    return "\n".join(lines).replace("_", " ")


def sharpness(table: pd.DataFrame) -> list[str]:
    lines = []
    for kind, part in table.groupby("kind", sort=False):
        want = NOT_WORSE if kind == "alike" else BETTER
        own = part[part.model == "by rater"]
        line = (
            f"- {judged(part, 'by rater', 'log_loss', want, f'Raters {kind}')}; "
            f"{judged(part, 'by rater', 'truth', want, f'Raters {kind}')}. Spread "
            f"found {own.spread.mean():.2f}, flagged "
            f"{own.flagged.mean():.1f} of 20"
        )
        if own.covered.notna().all():
            line += f"; intervals of 95 % held the planted sharpness {own.covered.mean():.0%} of the time"
        lines.append(line + ".")
    return [
        "## Planted sharpness: 20 raters, 75 answers each, 20 items",
        "\n".join(lines),
        means(table, ["kind", "model"], ["accuracy", "log_loss", "truth"]),
        "`truth` is the accuracy on answers without noise. Planted sharpness is compared up to the scale of all "
        "raters, which the map has; the intervals take the map as known.",
    ]


def groups(table: pd.DataFrame) -> list[str]:
    lines = []
    for kind, part in table.groupby("kind", sort=False):
        want = NOT_WORSE if kind == "alike" else BETTER
        for model in ("maps", "weights"):
            own = part[part.model == model]
            lines.append(
                f"- {judged(part, model, 'accuracy', want, f'Groups {kind}, differ={model!r}')}; "
                f"{judged(part, model, 'log_loss', want, f'Groups {kind}, differ={model!r}')}. "
                f"Groups found {own['groups'].mean():.1f}"
                + ("." if kind == "alike" else f", purity {own.purity.mean():.2f}.")
            )
    return [
        "## Planted groups: 12 raters of one view, 8 of another, 60 answers each, 20 items",
        "\n".join(lines),
        means(table, ["kind", "model"], ["accuracy", "log_loss"]),
    ]


def fruit(table: pd.DataFrame) -> list[str]:
    table = table.astype({"size": int})
    lines = []
    for (method, size), part in table.groupby(["method", "size"], sort=False):
        own = part[part.model == "by rater"]
        lines.append(
            f"- {judged(part, 'by rater', 'log_loss', BETTER, f'{method}, {size:,} answers')}; "
            f"{judged(part, 'by rater', 'accuracy', BETTER, f'{method}, {size:,} answers')}; "
            f"{judged(part, 'by rater', 'accuracy', NOT_WORSE, f'{method}, {size:,} answers')}. Spread "
            f"{own.spread.mean():.2f}, flagged "
            f"{own.flagged.mean():.0f} of 416 raters."
        )
    by_group = table[table.model == "by group"]
    found = ", ".join(f"{row.method} {row.groups:.0f}" for row in by_group.itertuples())
    return [
        "## strangefruit30: 416 raters, a fifth of 20,086 answers held out, five splits",
        "\n".join(lines),
        means(table, ["method", "size", "model"], ["accuracy", "log_loss"]),
        f"Groups found, of 1 or 2, at the largest size, two splits: {found}.",
    ]


def kernels(table: pd.DataFrame) -> list[str]:
    lines = [
        f"- {judged(table, model, 'log_loss', BETTER, f'{model} over all palettes')}; "
        f"{judged(table, model, 'accuracy', NOT_WORSE, f'{model} over all palettes')}."
        for model in ("by rater", "by group")
    ]
    found = table[table.model == "by group"].groupby("palette", sort=False)["groups"].mean()
    return [
        "## perceptual_kernels, triplets: 20 raters for each of six palettes, a fifth held out, three splits",
        "\n".join(lines),
        means(table, ["palette", "model"], ["accuracy", "log_loss"]),
        "Groups found: " + ", ".join(f"{palette} {count:.1f}" for palette, count in found.items()) + ".",
    ]
