"""The results page of `reproduce.rater_verdicts`: how often raters are named rightly."""

from __future__ import annotations

import pandas as pd

from reproduce.trials import verdict

RANDOM, DIFFERENT, UNTOLD, LIKE = "answers at random", "sees things differently", "cannot be told", "like the others"
VERDICTS = (RANDOM, DIFFERENT, UNTOLD, LIKE)
WRITTEN = {UNTOLD: "untold"}  # a rater's, lest it look like a verdict on a claim
WANTED = {"clickers": RANDOM, "other map": DIFFERENT, "other weights": DIFFERENT}
WRONG = {"clickers": DIFFERENT, "other map": RANDOM, "other weights": RANDOM}


def page(table: pd.DataFrame) -> str:
    from reproduce.rater_verdicts import COLOUR_MINDED, DESIGNS

    parts = {name: part.dropna(axis=1, how="all") for name, part in table.groupby("part")}
    return "\n\n".join(
        [
            "# A different mind is not a random one",
            "`python -m reproduce.rater_verdicts`. The claims are ours. `check` gives each rater one of four verdicts, "
            "by agreement with the others and by how well their own other answers predict an answer. Thresholds were "
            "set on simulations with other seeds, and not on people.",
            *planted(parts["planted"], DESIGNS),
            *people(parts["people"], COLOUR_MINDED),
            *fruit(parts["fruit"]),
            "Every draw is in `rater_verdicts.json`.\n",
        ]
    )


def shares(counts: pd.Series) -> dict[str, float]:
    """The share of each verdict."""
    total = pd.DataFrame([dict(one) for one in counts]).reindex(columns=VERDICTS).fillna(0).sum()
    return (total / total.sum()).to_dict()


def planted(table: pd.DataFrame, designs: tuple) -> list[str]:
    lines = [
        "## Planted: 20 raters of unequal sharpness, two of them odd",
        "Each row: two odd raters and 18 honest ones in every study. *Honest named* is the share of the honest raters "
        "who are said to answer at random or to see things differently.",
        f"| odd raters | questions | answers each | {' | '.join(WRITTEN.get(kind, kind) for kind in VERDICTS)} | "
        "honest named |",
        "|---" * 8 + "|",
    ]
    rates = {}
    for (kind, design), part in table.groupby(["kind", "design"], sort=False):
        form, n_items, each, sharpness = designs[int(design)]
        odd, rest = shares(part.odd), shares(part.rest)
        rates[kind, int(design)] = odd, rest
        cells = " | ".join("" if kind == "nobody" else f"{odd[name]:.0%}" for name in VERDICTS)
        honest = rest[RANDOM] + rest[DIFFERENT]
        asked = f"{form}, {n_items} items, sharpness {sharpness:g}".replace("_", "-")
        lines.append(f"| {kind} | {asked} | {each} | {cells} | {honest:.2%} |")
    claims = []
    for kind, wrong in WRONG.items():
        worst = max(odd[wrong] for (name, _), (odd, _) in rates.items() if name == kind)
        claims.append(
            f"- **{kind}, called the contrary ({wrong}) in 10 % at most: {verdict(worst <= 0.1)}** ({worst:.0%})"
        )
    rich = [k for k, (_, _, each, sharpness) in enumerate(designs) if sharpness >= 2 and (each >= 100)]
    for kind, wanted in WANTED.items():
        least = min(rates[kind, k][0][wanted] for k in rich if designs[k][1] <= 30)
        claims.append(f"- **{kind}, 100 answers each or more, up to 30 items, named so in 80 % at least: "
                      f"{verdict(least >= 0.8)}** ({least:.0%})")  # fmt: skip
    most = max(rest[RANDOM] + rest[DIFFERENT] for _, rest in rates.values())
    claims.append(f"- **honest raters named, 1 % at most: {verdict(most <= 0.01)}** ({most:.2%})")
    return [lines[0], lines[1], "\n".join(lines[2:]), "\n".join(claims)]


def people(table: pd.DataFrame, colour_minded: str) -> list[str]:
    lines = [
        "| form | palette | answers each | clickers at random | see differently | untold | own predicted | "
        "people at random, per draw | people who see differently, per draw |",
        "|---" * 9 + "|",
    ]
    for (form, palette, answers), part in table.groupby(["form", "palette", "answers"], sort=False):
        found = shares(part.clickers)
        honest = [sum(len(one.get(kind, [])) for one in part.honest) / len(part) for kind in (RANDOM, DIFFERENT)]
        lines.append(
            f"| {form.replace('_', ' ')} | {palette} | {int(answers)} | {found[RANDOM]:.0%} | {found[DIFFERENT]:.0%} | "
            f"{found[UNTOLD]:.0%} | {part.clickers_own.mean():.2f} | {honest[0]:.1f} | {honest[1]:.1f} |"
        )
    claims = [_colour(part, colour_minded) for _, part in table.dropna(subset="colour").groupby("answers")]
    everyone = shares(table.clickers)
    claims.append(
        f"- **planted clickers are named so in 80 % at least, and called of one mind in 3 % at most: "
        f"{verdict(everyone[RANDOM] >= 0.8 and everyone[DIFFERENT] <= 0.03)}** ({everyone[RANDOM]:.0%}, "
        f"{everyone[DIFFERENT]:.0%})"
    )
    return ["## People: perceptual_kernels, 20 people, and two clickers planted", "\n".join(lines), "\n".join(claims)]


def _colour(part: pd.DataFrame, name: str) -> str:
    said = part.colour.value_counts()
    held = verdict(said.get(RANDOM, 0) == 0 and said.get(DIFFERENT, 0) >= 0.9 * len(part))
    return (
        f"- **subject {name} of shapecolor, who goes by colour, {int(part.answers.iloc[0])} answers each, sees things "
        f"differently: {held}** ("
        f"{', '.join(f'{WRITTEN.get(kind, kind)} {count} of {len(part)}' for kind, count in said.items())}; agreement "
        f"{part.agreement.mean():.2f}, own answers predicted {part.own.mean():.2f})"
    )


def fruit(table: pd.DataFrame) -> list[str]:
    lines = ["| verdict | raters | median seconds of an answer |", "|---|---|---|"]
    said = [WRITTEN.get(kind, kind) for kind in table.verdict]
    lines += [f"| {kind} | {int(n)} | {s:.2f} |" for kind, n, s in zip(said, table.raters, table.seconds, strict=True)]
    seconds = table.set_index("verdict").seconds
    held = RANDOM in seconds and seconds[RANDOM] < 0.6 * table.typical.iloc[0]
    claim = f"- **who answers at random answers fast, although nobody's time decides alone: {verdict(held)}**"
    return ["## People: strangefruit30, where time was recorded", "\n".join(lines), claim]
