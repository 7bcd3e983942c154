"""Do groups differ? How often `compare_groups` says so where they do not, and where they do.

The claims are ours. Part `alike`: raters who differ among themselves (each sees the items a little elsewhere, and
answers more or less sharply), in groups that do not differ: false alarms at 5 %. Part `differ`: one group weighs the
two dimensions otherwise than the other; `changed` says how many answers change. Part `kernels`: the people of
perceptual_kernels (shapecolor, odd-one-out), halved at random.

Run: python -m reproduce.group_tests
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd

import similitude as sm
from reproduce.claims import Ledger
from reproduce.group_tests_page import page
from reproduce.trials import data_folder, kept_trials
from similitude.evaluate.group_shuffles import p_value, spread_of
from similitude.evaluate.groups import scores_of
from similitude.evaluate.rater_groups import grouped

ALIKE, DIFFER, KERNELS = range(3)
SEEDS, POWER_SEEDS, HALVES = 400, 60, 20
DESIGNS = (  # raters in either group, answers of a rater in either, items, form, within raters
    (10, 10, 60, 60, 15, "triplet", False),
    (5, 15, 60, 60, 15, "triplet", False),
    (10, 10, 30, 120, 15, "triplet", False),
    (10, 10, 40, 40, 20, "odd_one_out", False),
    (12, 12, 40, 40, 15, "triplet", True),
)
FACTORS = (1.05, 1.1, 1.2, 1.4)
PERMUTATIONS = 199


def answers(places: np.ndarray, names: list[str], each: int, form: str, rng: np.random.Generator, habit: float) -> list:
    """Answers of raters who each see the items a little elsewhere, and more or less sharply."""
    parts = []
    for name in names:
        own = places + habit * rng.standard_normal(places.shape)
        people = sm.Raters.of([2.5 * np.exp(0.5 * rng.standard_normal())], names=[name])
        parts.append(sm.simulate(own, each, form, raters=people, random_state=rng))
    return parts


def study(design: int, factor: float, rng: np.random.Generator) -> tuple[sm.Comparisons, np.ndarray]:
    """Answers, and the group of each."""
    first, second, more, fewer, n_items, form, within = DESIGNS[design]
    truth = rng.standard_normal((n_items, 2))
    seen = truth * [factor, 1 / factor], truth * [1 / factor, factor]
    if within:
        names = [f"r{k}" for k in range(first)]
        habit = [0.3 * rng.standard_normal(truth.shape) for _ in names]
        parts, group = [], []
        for k, name in enumerate(names):
            for side, each in enumerate((more, fewer)):
                parts += answers(seen[side] + habit[k], [name], each, form, rng, 0.0)
                group += [side] * each
        return sm.Comparisons.concatenate(parts), np.array(group)
    one = answers(seen[0], [f"a{k}" for k in range(first)], more, form, rng, 0.3)
    two = answers(seen[1], [f"b{k}" for k in range(second)], fewer, form, rng, 0.3)
    return sm.Comparisons.concatenate([*one, *two]), np.repeat([0, 1], [first * more, second * fewer])


def tested(c: sm.Comparisons, group: np.ndarray, seed: int) -> float:
    """The p-value of `compare_groups`, without all else that it tells."""
    frame = c.answers.to_frame(c.names).assign(side=[f"g{k}" for k in group])
    people = grouped(sm.read_comparisons(frame.rename(columns={"side": "kind"}), n_items=c.n_items), "kind")
    scores = scores_of(people, 3, seed)
    contrasts = people.shuffles.contrasts(scores.weight, PERMUTATIONS, np.random.default_rng(seed))
    return p_value(spread_of(contrasts, scores.alike(scores.scores)))


def alike(design: int, seed: int) -> list[dict]:
    c, group = study(design, 1.0, np.random.default_rng([31, design, seed]))
    return [{"part": "alike", "design": design, "seed": seed, "p": tested(c, group, seed)}]


def differ(design: int, factor: int, seed: int) -> list[dict]:
    rng = np.random.default_rng([32, design, factor, seed])
    c, group = study(design, FACTORS[factor], rng)
    truth = rng.standard_normal((200, 2))
    f = FACTORS[factor]
    one, two = (sm.simulate(truth * scale, 2000, random_state=seed) for scale in ([f, 1 / f], [1 / f, f]))
    changed = float(np.mean(one.near[:, 1] != two.near[:, 1]))
    row = {"part": "differ", "design": design, "factor": f, "seed": seed, "p": tested(c, group, seed)}
    return [row | {"changed": changed}]


def kernels(half: int) -> list[dict]:
    """People halved at random: no difference."""
    table = pd.read_csv(data_folder() / "perceptual_kernels" / "odd_one_out.csv.gz")
    c = sm.read_comparisons(table[table.palette == "shapecolor"])
    rng = np.random.default_rng([33, half])
    c = c.select(np.sort(rng.permutation(c.n_answers)[:3000]))
    side = dict(zip(c.answers.rater.labels, rng.permutation(len(c.answers.rater.labels)) % 2, strict=True))
    group = np.array([side[who] for who in c.answers.rater.values])
    return [{"part": "kernels", "half": half, "p": tested(c, group, half)}]


def run(part: int, *job: int) -> list[dict]:
    return (alike, differ, kernels)[part](*job)


def jobs() -> list[tuple[int, ...]]:
    return [
        *((ALIKE, *job) for job in itertools.product(range(len(DESIGNS)), range(SEEDS))),
        *((DIFFER, *job) for job in itertools.product(range(len(DESIGNS)), range(len(FACTORS)), range(POWER_SEEDS))),
        *((KERNELS, half) for half in range(HALVES)),
    ]


if __name__ == "__main__":
    others: dict[str, dict[str, Any]] = {
        "Groups that weigh": {"trials": POWER_SEEDS},
        "People, halved": {"trials": HALVES},
    }
    ledger = Ledger(SEEDS, "95% of a rate of 5 % by chance", False, whose="ours", others=others)
    ledger.write("group_tests", page(kept_trials("group_tests", run, jobs())))
