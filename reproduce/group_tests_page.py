"""The results page of `reproduce.group_tests`: false alarms and power."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reproduce.trials import verdict


def page(table: pd.DataFrame) -> str:
    from reproduce.group_tests import DESIGNS, PERMUTATIONS

    parts = {name: part.dropna(axis=1, how="all") for name, part in table.groupby("part")}
    return "\n\n".join(
        [
            "# Do groups of raters differ?",
            f"`python -m reproduce.group_tests`. The claims are ours: `compare_groups` calls groups different at 5 % "
            f"in one of twenty studies where they are not, however raters differ among themselves. {PERMUTATIONS} "
            "permutations of raters. Raters see every item 0.3 standard deviations elsewhere, and their sharpness "
            "scatters by a factor of 1.6.",
            *alike(parts["alike"], DESIGNS),
            *differ(parts["differ"], DESIGNS),
            *kernels(parts["kernels"]),
            "Every draw is in `group_tests.json`.\n",
        ]
    )


def named(design: tuple) -> str:
    first, second, more, fewer, n_items, form, within = design
    if within:
        return f"{first} raters, {more} {form.replace('_', '-')} answers under either condition, {n_items} items"
    each = f"{more}" if more == fewer else f"{more} and {fewer}"
    return f"{first} and {second} raters, {each} {form.replace('_', '-')} answers each, {n_items} items"


def alike(table: pd.DataFrame, designs: tuple) -> list[str]:
    lines = ["| study | studies | called different at 5 % | at 1 % |", "|---|---|---|---|"]
    claims = []
    for design, part in table.groupby("design"):
        share = float((part.p <= 0.05).mean())
        lines.append(f"| {named(designs[int(design)])} | {len(part)} | {share:.1%} | {(part.p <= 0.01).mean():.1%} |")
        error = np.sqrt(0.05 * 0.95 / len(part))
        held = verdict(abs(share - 0.05) <= 2.6 * error)
        claim = f"{named(designs[int(design)])}, false alarms of 5 %"
        claims.append(f"- **{claim}: {held}** ({share:.1%} ± {2 * error:.1%})")
    return ["## Groups that do not differ: false alarms", "\n".join(lines), "\n".join(claims)]


def differ(table: pd.DataFrame, designs: tuple) -> list[str]:
    lines = ["| study | weights of the dimensions | answers that change | found at 5 % |", "|---|---|---|---|"]
    for (design, factor), part in table.groupby(["design", "factor"]):
        found = f"{(part.p <= 0.05).mean():.0%}"
        ratio = f"1 : {factor**4:.1f} between groups"
        lines.append(f"| {named(designs[int(design)])} | {ratio} | {part.changed.mean():.0%} | {found} |")
    largest = table[table.factor == table.factor.max()]
    power = float((largest.p <= 0.05).groupby(largest.design).mean().min())
    claim = (
        f"- **the largest difference is found in 90 % of the studies at least: {verdict(power >= 0.9)}** ({power:.0%})"
    )
    return ["## Groups that weigh two dimensions differently: power", "\n".join(lines), claim]


def kernels(table: pd.DataFrame) -> list[str]:
    called = int((table.p <= 0.05).sum())
    text = "- **shapecolor, odd-one-out, 20 people halved at random, called different no more often than by chance: "
    figures = f"({called} of {len(table)} halvings; 1 expected, up to 4 by chance)"
    return ["## People, halved at random", f"{text}{verdict(called <= 4)}** {figures}"]
