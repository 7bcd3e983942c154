"""Are intervals honest? Simulated raters with a known truth: how often 90% intervals hold it.

Per scenario and seed: items at normal positions, answers by the model of STE, a fit, and

- `uncertainty` by bootstrap and by Laplace: the share of true distances inside their intervals, and of true places
  inside their ellipses (the truth laid over the map, as the draws are); for the bootstrap without inflation, too;
- the interval of the accuracy against the accuracy on 20,000 new answers;
- `more_answers`: the interval at twice the answers against the mean accuracy of fits to that many other answers.

Run: python -m reproduce.uncertainty; results are kept as they come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

import similitude as sm
from reproduce.trials import RESULTS, kept_trials, verdict
from similitude.evaluate.draws import onto
from similitude.evaluate.uncertainty import Uncertainty
from similitude.graph.repeats import Estimate

# items, dimensions, answers, sharpness, estimator; the answers follow the model of STE, so that CKL is a wrong one
SCENARIOS = (
    (12, 2, 300, 1.0, "STE"),
    (15, 2, 600, 1.0, "STE"),
    (15, 2, 600, 1.0, "CKL"),
    (20, 3, 2000, 0.7, "STE"),
    (20, 2, 3000, 1.0, "STE"),
)
DRAWS = {"bootstrap": 60, "laplace": 300}
WRONG = 2
HONEST = (0.85, 0.95)
PLACES, FORECAST = 0, 1
SEEDS = {PLACES: 20, FORECAST: 50}  # a study has hundreds of distances, but one forecast


def trial(part: int, scenario: int, seed: int) -> list[dict]:
    n, d, m, sharpness, method = SCENARIOS[scenario]
    truth = np.random.default_rng([90_311, scenario, seed]).normal(size=(n, d))
    data_seed = 10_000 * (scenario + 1) + 10 * seed
    c = sm.simulate(truth, m, sharpness=sharpness, random_state=data_seed)
    new = sm.simulate(truth, 20_000, sharpness=sharpness, random_state=data_seed + 1)
    fresh = getattr(sm, method)(d, random_state=seed)
    if part == PLACES:
        return [{"scenario": scenario} | row for row in places_and_accuracy(fresh.fit(c), c, truth, new, seed)]
    forecast = sm.more_answers(fresh, c, n_repeats=6, random_state=seed)
    later = forecast.table[forecast.table.answers == 2 * m].iloc[0]
    reached = []
    for k in range(4):
        longer = sm.simulate(truth, 2 * m, sharpness=sharpness, random_state=data_seed + 2 + k)
        reached.append(fresh.fit(longer).score(new))
    inside = float(later.low <= np.mean(reached) <= later.high)
    return [{"scenario": scenario, "what": "forecast", "inside": inside, "bias": later.accuracy - np.mean(reached)}]


def places_and_accuracy(
    model: sm.STE, c: sm.Comparisons, truth: np.ndarray, new: sm.Comparisons, seed: int
) -> Iterator[dict]:
    for how, count in DRAWS.items():
        found = sm.uncertainty(model, c, method=how, n=count, random_state=seed)
        yield {"what": how} | covered(found, truth)
        if how == "bootstrap":
            yield {"what": "bootstrap, plain"} | covered(plain(found), truth)
            yield {"what": "accuracy", "inside": holds(found.accuracy, model.score(new))}


def plain(found: Uncertainty) -> Uncertainty:
    """Take the bootstrap's inflation back."""
    X = found.similarity.embedding
    return replace(found, draws=X + (found.draws - X) / found.inflation)


def covered(found: Uncertainty, truth: np.ndarray) -> dict:
    X = found.similarity.embedding
    placed = onto(truth, X, np.ones(len(X), bool))
    table, upper = found.distances(), np.triu_indices(len(X), 1)
    true = np.sqrt(((placed[:, None] - placed[None]) ** 2).sum(-1))[upper]
    step = placed - X
    far = np.einsum("nd,nde,ne->n", step, np.linalg.inv(found.covariance), step)
    return {
        "inside": float(((table.low <= true) & (true <= table.high)).mean()),
        "ellipses": float((far <= found.reach**2).mean()),
        "inflation": found.inflation,
    }


def holds(estimate: Estimate, value: float) -> float:
    return float(estimate.low <= value <= estimate.high)


def page(table: pd.DataFrame) -> str:
    named = {
        k: f"{n} items, {d} dimensions, {m:,} answers, {method}" for k, (n, d, m, _, method) in enumerate(SCENARIOS)
    }
    named[WRONG] += " (a wrong model)"
    studies = table.groupby(["what", "scenario"]).size().groupby("what").min()
    lines = [
        "# Are intervals honest?",
        f"`python -m reproduce.uncertainty`. {studies['bootstrap']} simulated studies per scenario for distances and "
        f"places, {studies['forecast']} for forecasts; 90% intervals; the truth is known. "
        f"An interval counts as honest where it holds the truth in {HONEST[0]:.0%} to {HONEST[1]:.0%} of the cases.",
        *places(table, named),
        *accuracies(table),
    ]
    return "\n\n".join(lines) + "\n"


def places(table: pd.DataFrame, named: dict[int, str]) -> list[str]:
    lines = ["## Distances and places"]
    rows = table[table.what.isin([*DRAWS, "bootstrap, plain"])]
    for column, what in (("inside", "distances inside their intervals"), ("ellipses", "places inside their ellipses")):
        means = rows.pivot_table(index="scenario", columns="what", values=column)
        for how in means:
            right = means[how].drop(WRONG)
            honest = ((right >= HONEST[0]) & (right <= HONEST[1])).sum()
            held = verdict(HONEST[0] <= right.mean() <= HONEST[1])
            lines.append(
                f"- **{how}, {what}: {held}.** {right.mean():.1%} where the model is right, and honest in {honest} of "
                f"{len(right)} scenarios; {means[how][WRONG]:.1%} where it is a wrong one."
            )
        lines.append(markdown(means.rename(index=named), what))
    factor = rows[rows.what == "bootstrap"].groupby("scenario").inflation.mean()
    lines.append(f"The bootstrap's deviations were multiplied by {factor.min():.2f} to {factor.max():.2f}.")
    return lines


def markdown(means: pd.DataFrame, title: str) -> str:
    lines = [f"| {title} | " + " | ".join(means) + " |", "|---" * (1 + means.shape[1]) + "|"]
    lines += [f"| {name} | " + " | ".join(f"{value:.1%}" for value in row) + " |" for name, row in means.iterrows()]
    return "\n".join(lines)


def accuracies(table: pd.DataFrame) -> list[str]:
    lines = ["## Accuracy, and what more answers would bring"]
    for what, said in (("accuracy", "the accuracy on new answers"), ("forecast", "the accuracy at twice the answers")):
        inside = table[table.what == what].inside
        error = np.sqrt(inside.mean() * (1 - inside.mean()) / len(inside))
        held = verdict(HONEST[0] <= inside.mean() <= HONEST[1])
        lines.append(
            f"- **{said} inside its interval: {held}.** {inside.mean():.1%} of {len(inside)} studies "
            f"(standard error {error:.1%})."
        )
    bias = table[table.what == "forecast"].bias
    lines.append(f"The forecast is {bias.mean():+.3f} from the accuracy reached, on average.")
    return lines


def main() -> None:
    scenarios = range(len(SCENARIOS))
    jobs = [(part, scenario, seed) for part, seeds in SEEDS.items() for seed in range(seeds) for scenario in scenarios]
    table = kept_trials("uncertainty", trial, jobs)
    (RESULTS / "uncertainty.md").write_text(page(table))


if __name__ == "__main__":
    main()
