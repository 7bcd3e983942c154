"""The results page of `reproduce.mixed_feedback`: claim by claim, what held."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from reproduce.claims import above, in_words


def page(table: pd.DataFrame) -> str:
    parts = {name: part.dropna(axis=1, how="all") for name, part in table.groupby("part")}
    return "\n\n".join(
        [
            "# Several forms of feedback in one fit, against one form alone",
            "`python -m reproduce.mixed_feedback`. The claim is ours: other forms about the same items help to "
            "predict answers of one form, at least where those are few, and do no harm where they are many. *Alone* "
            "is STE on the answers of that form; *as comparisons* STE on everything, ratings turned into comparisons; "
            "*mixed* `MixedEmbedding`, each form with its own likelihood, weights chosen on held-out training answers "
            "of the form (given 40 or more; else 1), or all 1. Differences are paired, with 95 % intervals: *better* "
            "is true if the interval lies beyond 0, *no harm* if it does not lie wholly on the wrong side.",
            *kernels(parts["kernels"]),
            *rocks(parts["rocks"]),
            "Every draw is in `mixed_feedback.json`.\n",
        ]
    )


def gap(table: pd.DataFrame, model: str, against: str, score: str) -> tuple[float, float]:
    """Mean gain over another model (for a loss, what is saved), paired, and half its 95 % interval."""
    keys = [name for name in ("palette", "seed") if name in table]
    wide = table.pivot(index=keys, columns="model", values=score)
    own = wide[model] - wide[against]
    if "palette" in keys:  # splits of one palette are alike: palettes are the draws
        own = own.groupby("palette").mean()
    own = -own if score == "log_loss" else own
    return float(own.mean()), float(stats.t.ppf(0.975, len(own) - 1) * own.std() / len(own) ** 0.5)


def compared(table: pd.DataFrame, model: str, against: str, setting: str) -> str:
    """Whether a model is better than another, and where that does not hold or cannot be told, whether it does harm."""
    out = []
    for score, words in (("accuracy", "accuracy"), ("log_loss", "log-loss")):
        mean, half = gap(table, model, against, score)
        better = above(mean, half)
        out.append(f"**{setting}, {words} better: {in_words(better)}** ({mean:+.3f} ± {half:.3f})")
        if not better:
            out.append(f"**{setting}, no harm to {words}: {in_words(mean > -half)}**")
    return "; ".join(out)


def means(table: pd.DataFrame, index: list[str], score: str) -> str:
    """A markdown table of means, a column per model."""
    wide = table.groupby([*index, "model"], sort=False)[score].mean().unstack("model")[list(dict.fromkeys(table.model))]
    lines = [f"| {' | '.join([*index, *wide])} |", "|---" * (len(index) + wide.shape[1]) + "|"]
    for key, row in wide.iterrows():
        label = key if isinstance(key, tuple) else (key,)
        lines.append(f"| {' | '.join([*map(str, label), *(f'{value:.3f}' for value in row)])} |")
    return "\n".join(lines)


def kernels(table: pd.DataFrame) -> list[str]:
    parts = ["## perceptual_kernels: five forms, six palettes, a fifth of the target form held out, two splits"]
    for target, of_form in table.groupby("target", sort=False):
        name = target.replace("_", "-")
        lines = [
            f"- {compared(some, 'mixed', 'alone', f'{name}, {size} answers, mixed against alone')}."
            for size, some in of_form.groupby("size")
        ]
        lines += [
            f"- {compared(some, 'mixed', 'as comparisons', f'{name}, {size} answers, mixed against comparisons')}."
            for size, some in of_form.groupby("size")
        ]
        parts += [
            f"### Held-out {name} answers",
            "\n".join(lines),
            "Mean accuracy:",
            means(of_form, ["size"], "accuracy"),
        ]
        parts += ["Mean log-loss:", means(of_form, ["size"], "log_loss"), chosen(of_form)]
        parts += ["By palette, accuracy:", means(of_form, ["palette", "size"], "accuracy")]
    return parts


def chosen(table: pd.DataFrame) -> str:
    """A sentence with the weights that were chosen, by number of answers."""
    rows = []
    for size, part in table[table.model == "mixed"].groupby("size"):
        weights = pd.DataFrame(list(part.weights)).drop(columns=part.target.iloc[0])
        middle = np.exp(np.log(weights).mean())
        rows.append(
            f"at {size} " + ", ".join(f"{form.replace('_', '-')} {value:.2f}" for form, value in middle.items())
        )
    return "Weights chosen (geometric means): " + "; ".join(rows) + "."


def rocks(table: pd.DataFrame) -> list[str]:
    lines = [
        f"- {compared(some, model, 'alone', f'{size} answers, {model} against alone')}."
        for size, some in table.groupby("size")
        for model in ("with ratings", "with classes", "with both")
    ]
    return [
        "## rocks: triplets of 30 raters, beside five others' ratings and three classes; tested on 30 more raters",
        "The triplets are drawn from ratings, two ratings of one rater that share a rock each: the data has no others. "
        "Four dimensions, five draws of raters.",
        "\n".join(lines),
        "Mean accuracy:",
        means(table, ["size"], "accuracy"),
        "Mean log-loss:",
        means(table, ["size"], "log_loss"),
    ]
