"""Algorithm 2 of Heim (2015), after Jamieson & Nowak (2011): ask only what the answers so far leave open.

Claims: (a, section 3.4.1) most questions need not be asked, the more so the more items; what is inferred is right; (b,
Theorem 2) no fewer than the order of d n log n can do; ours: d n log2 n are enough here.

Settings, fixed beforehand: items of a normal distribution in one and two dimensions, answers without noise, 5 draws of
5, 7 and 10 items, seeds 400 to 404. The thesis describes the method and has no experiment of its own with it.

Run: python -m reproduce.sequential [--page]
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

import similitude as sm
from reproduce.claims import Ledger, below
from reproduce.trials import kept_trials, mean_and_error
from similitude.active.asked import Asked
from similitude.active.sequential import SequentialQuestions

SIZES, DIMENSIONS, DRAWS, FIRST = (5, 7, 10), (1, 2), 5, 400


def run(n: int, d: int, seed: int) -> list[dict]:
    """Ask until nothing is open; count what was asked and what was inferred, rightly or not."""
    truth = np.random.default_rng([seed, n, d]).normal(size=(n, d))
    D = ((truth[:, None] - truth) ** 2).sum(2)
    rows, positions = np.empty((0, 3), np.int32), np.random.default_rng(seed).normal(size=(n, d))
    while True:
        answers = sm.Comparisons.from_triplets(rows, n_items=n) if len(rows) else None
        asked = Asked("triplet", 3, n, answers)
        chooser = SequentialQuestions(positions, answers, asked, np.random.default_rng(seed))
        found = chooser.question(0)
        if found is None:
            break
        positions = chooser.positions
        a, b, c = found[0]
        rows = np.concatenate([rows, [[a, b, c] if D[a, b] < D[a, c] else [a, c, b]]]).astype(np.int32)
    inferred = chooser.inferred()
    right = D[inferred[:, 0], inferred[:, 1]] < D[inferred[:, 0], inferred[:, 2]]
    return [
        {"items": n, "d": d, "seed": seed, "asked": len(rows), "inferred": len(inferred), "right": int(right.sum())}
    ]


def page(table: pd.DataFrame, ledger: Ledger) -> str:
    table = table.assign(all=table.asked + table.inferred, share=table.asked / (table.asked + table.inferred))
    lines = [
        "| dimensions | items | questions | asked | share asked | inferred rightly | asked / (d n log2 n) |",
        "|---" * 7 + "|",
    ]
    for (d, n), own in table.groupby(["d", "items"]):
        share, error = mean_and_error(own.share)
        bound = d * n * np.log2(n)
        lines.append(
            f"| {d} | {n} | {own['all'].mean():.0f} | {own.asked.mean():.1f} | {share:.2f} ± {error:.2f} | "
            f"{own.right.sum() / own.inferred.sum():.1%} | {own.asked.mean() / bound:.2f} |"
        )
    said = []
    for d in DIMENSIONS:
        wide = table[table.d == d].pivot(index="seed", columns="items", values="share")
        gap = mean_and_error(wide[max(SIZES)] - wide[min(SIZES)])
        said.append(
            ledger.say(
                "Algorithm 2",
                f"(a) The share of questions that must be asked falls with the items, {d} dimension{'s' * (d > 1)}",
                below(*gap),
                f"{gap[0]:+.2f} ± {gap[1]:.2f} from {min(SIZES)} to {max(SIZES)} items",
            )
        )
    right = table.right.sum() / table.inferred.sum()
    most = (table.asked / (table.d * table["items"] * np.log2(table["items"]))).max()
    said += [
        ledger.say(
            "Algorithm 2",
            "(a) What is inferred is right",
            bool(right == 1.0),
            f"{right:.2%}; a question is taken for settled where a search finds no positions for its other answer, so "
            "one may be missed",
            interval="none: a share of all inferred answers",
        ),
        ledger.say(
            "Theorem 2",
            "(b) d n log2(n) questions are enough",
            bool(most <= 1.0),
            f"at most {most:.2f} of it in any draw",
            interval="none: the largest of all draws",
            whose="ours",
        ),
    ]
    return "\n\n".join(
        [
            "# Asking only what is open (Heim 2015, Algorithm 2 and Theorem 2)",
            f"`python -m reproduce.sequential`; settings stand at the head of that file. {table.seed.nunique()} of "
            f"{DRAWS} draws, ± two standard errors.",
            "\n".join(lines),
            *said,
            "For a user, Theorem 2 is the rule of thumb that d · log2(n) answers an item are the least that can tell a "
            "map (`docs/how-to/past-one-machine.md`); it has no constant, so it gives no stopping rule: "
            "`sm.more_answers` forecasts from the answers themselves.",
        ]
    )


def main(arguments: list[str]) -> None:
    jobs = [(n, d, FIRST + k) for k in range(DRAWS) for d in DIMENSIONS for n in SIZES]
    table = kept_trials("sequential", run, [] if "--page" in arguments else jobs)
    table = table[table.groupby("seed")["items"].transform("size") == len(SIZES) * len(DIMENSIONS)]
    ledger = Ledger(int(table.seed.nunique()), "two standard errors over draws", True)
    ledger.write("sequential", page(table, ledger))


if __name__ == "__main__":
    main(sys.argv[1:])
