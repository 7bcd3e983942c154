"""Heim (2015), 4.1.4: do given kernels help kernel learning, and does a free kernel beside them help in turn?

Claims: (a, Fig. 7) RCKL-AK's error is at most that of RCKL-MKL and of plain RCKL at every training size, and plain RCKL
is worse than all others; (b) RCKL-MKL stops improving early, at about 600 answers; (c, Fig. 7c) the three MKPOEs lie
close together, RCKL-AK's error is below theirs; (d, Fig. 8) noise kernels get very low weights, the others in the
order of the truth; (e, Fig. 9, there on music) on people's answers RCKL-AK is at most RCKL and RCKL-MKL, and both
MKPOEs of the figure (the full one took too long) lie close together and err more than RCKL-AK. That plain RCKL is the
worst and that RCKL-MKL stops early is claimed of the synthetic answers alone.

Synthetic: 100 items in seven spaces [0, 1]², truth K* = K_0/2 + K_1/4 + K_2/6 + K_3/12 (eq. 4.15). Answers come in
rounds, each item once as head; training grows from 2 to 20 rounds, 10 others choose the penalties, 70 test. Given are
linear kernels of the spaces 1 to 6 after Gaussian noise (the thesis does not say how much; here a standard deviation of
0.1). K_0 is known to nobody, spaces 4 to 6 do not matter. Food: the 73 dishes of food100 with tastes; one comparison of
each screen, a tenth of the training answers choose the penalties; kernels of tastes, ingredients and colours.

RCKL-AK's prices have one at which the kernels play no part (twice the penalty), so that it can fall back to RCKL; the
synthetic trials, where kernels help, were run before that was so. Food has seeds from 100 on, new with that grid.

Run: python -m reproduce.auxiliary_kernels [--page], --page to write the page from the trials that are stored
"""

from __future__ import annotations

import sys
from itertools import combinations, product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import similitude as sm
from reproduce.claims import Ledger, Verdict, above, alike, below, in_words, together
from reproduce.trials import RESULTS, data_folder, kept_trials, mean_and_error

N_TRIALS = {"synthetic": 10, "food": 5}
FIRST = {"synthetic": 0, "food": 100}  # seeds
SIZES = {"synthetic": [200, 600, 1200, 2000], "food": [200, 500, 1000, 2000]}
TRUTH = np.array([1 / 2, 1 / 4, 1 / 6, 1 / 12, 0, 0, 0])
NOISE = 0.1
CLOSE, LITTLE = 0.02, 0.05  # in errors; of all weights
TOLERANCE = 0.03  # of the objective: the proven gap at which a fit stops
FREE, GIVEN, MAPS = [3.0, 1.5, 0.8], [0.03, 0.3], [6.0, 3.0, 1.0]  # penalties, in units of the defaults' scale
METHODS = {
    "RCKL logistic": sm.RCKL(loss="logistic"),
    "RCKL hinge": sm.RCKL(loss="hinge"),
    "RCKL-MKL logistic": sm.RCKLMKL(loss="logistic"),
    "RCKL-MKL hinge": sm.RCKLMKL(loss="hinge"),
    "RCKL-AK logistic": sm.RCKLAK(loss="logistic"),
    "RCKL-AK hinge": sm.RCKLAK(loss="hinge"),
    "MKPOE full": sm.MKPOE(loss="hinge"),
    "MKPOE diagonal": sm.MKPOE(loss="hinge", diagonal=True),
    "MKPOE weighted": sm.MKPOE(loss="hinge", combination="weighted", random_state=0),
}


def rounds(D: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """Draw answers by the distances D: in each round every item is once the head, and compared with two others."""
    heads = np.tile(np.arange(len(D)), number)
    others = np.stack([rng.choice(len(D) - 1, 2, replace=False) for _ in heads])
    others += others >= heads[:, None]
    nearer = D[heads, others[:, 0]] < D[heads, others[:, 1]]
    return np.column_stack([heads, np.where(nearer[:, None], others, others[:, ::-1])])


def synthetic(trial: int) -> tuple[dict[str, Any], dict[int, np.ndarray], dict[int, np.ndarray], np.ndarray]:
    """Return kernels, training and validation answers by size, and test answers."""
    rng = np.random.default_rng(trial)
    X = rng.random((7, 100, 2))
    D = sum(weight * ((space[:, None] - space) ** 2).sum(2) for weight, space in zip(TRUTH, X, strict=True))
    train, chooses, test = (rounds(D, number, rng) for number in (20, 10, 70))
    seen = X + rng.normal(0.0, NOISE, X.shape)
    kernels = {f"K{a}": sm.kernels.Linear(seen[a]) for a in range(1, 7)}
    sizes = SIZES["synthetic"]
    return kernels, {m: train[:m] for m in sizes}, dict.fromkeys(sizes, chooses), test


def food(trial: int) -> tuple[dict[str, Any], dict[int, np.ndarray], dict[int, np.ndarray], np.ndarray]:
    """Return kernels, training and validation answers by size, and test answers."""
    folder, rng = data_folder() / "food100", np.random.default_rng(trial)
    dishes = pd.read_csv(folder / "objects.csv")
    kept = np.flatnonzero(dishes.salty.notna())
    c = sm.read_comparisons(folder / "screens.csv")
    inside = np.flatnonzero(np.isin(c.triplets, kept).all(1))
    shuffled = rng.permutation(inside)
    _, first = np.unique(c.answer[shuffled], return_index=True)
    answers = np.searchsorted(kept, c.triplets[rng.permutation(shuffled[first])])
    colours = pd.read_csv(folder / "features_colour.csv", index_col=0).iloc[kept]
    kernels = {
        "tastes": sm.kernels.RBF(dishes.loc[kept, "salty":"spicy"].to_numpy()),
        "ingredients": sm.kernels.Cosine(
            pd.read_csv(folder / "features_ingredients.csv", index_col=0).to_numpy()[kept]
        ),
        "colours by place": sm.kernels.RBF(colours.filter(like="lab_").to_numpy()),
        "colours in all": sm.kernels.ChiSquare(colours.loc[:, ~colours.columns.str.startswith("lab_")].to_numpy()),
    }
    parts = {m: np.split(answers[:m], [m - m // 10]) for m in SIZES["food"]}
    train, chooses = ({m: part[k] for m, part in parts.items()} for k in (0, 1))
    return kernels, train, chooses, answers[max(SIZES["food"]) :]


def settings(model: Any, n_items: int, size: int) -> list[dict[str, float]]:
    """Return the penalties to choose from."""
    scale, noise = n_items / size, {"logistic": 1.0, "hinge": 2.0}[model.loss]
    free = [factor * noise * scale**0.5 for factor in (MAPS if isinstance(model, sm.MKPOE) else FREE)]
    given = [factor * scale for factor in GIVEN]
    if isinstance(model, sm.RCKLMKL):
        return [{"penalty": price} for price in given]
    if isinstance(model, sm.RCKLAK):
        return [{"penalty": own, "auxiliary_penalty": price} for own in free for price in (2.0 * own, *given)]
    return [{"penalty": own} for own in free]


def chosen(model: Any, kernels: dict[str, Any], train: np.ndarray, chooses: np.ndarray) -> Any:
    """Fit at each setting, and return the fit that does best on the answers that choose."""
    n_items = next(iter(kernels.values())).n_items
    given = {} if isinstance(model, sm.RCKL) else {"features": kernels}
    fits = []  # ties go to the first, which has the strongest penalty
    for setting in settings(model, n_items, len(train)):
        fits.append(type(model)(**{**model.get_params(), **setting, "tol": TOLERANCE, "n_items": n_items}))
        fits[-1].fit(train, **given)
    return max(fits, key=lambda fit: fit.score(chooses))


def one_trial(kind: int, trial: int, step: int) -> list[dict]:
    """Score every method at one training size."""
    name = list(SIZES)[kind]
    kernels, train, chooses, test = (synthetic, food)[kind](trial)
    size, rows = SIZES[name][step], []
    for method, model in METHODS.items():
        fit = chosen(model, kernels, train[size], chooses[size])
        free = float(np.trace(fit.free_kernel_)) / len(fit.embedding_) if isinstance(fit, sm.RCKLAK) else None
        weights = getattr(fit, "weights_", None)
        rows.append(
            {
                "data": name,
                "trial": trial,
                "size": size,
                "method": method,
                "error": 1.0 - fit.score(test),
                "settings": {
                    key: fit.get_params()[key] for key in ("penalty", "auxiliary_penalty") if hasattr(fit, key)
                },
                "weights": weights,
                "free": free,
            }
        )
    return rows


def main(arguments: list[str]) -> None:
    jobs = [
        (kind, FIRST[name] + trial, step)
        for kind, name in enumerate(N_TRIALS)
        for trial, step in product(range(N_TRIALS[name]), range(len(SIZES[name])))
    ]
    table = kept_trials("auxiliary_kernels", one_trial, [] if "--page" in arguments else jobs)
    draw_errors(table)
    draw_weights(table)
    others = {"(e)": {"trials": N_TRIALS["food"], "fixed": True}}
    Ledger(N_TRIALS["synthetic"], "two standard errors over the trials", False, others=others).write(
        "auxiliary_kernels", page(table)
    )


def errors(table: pd.DataFrame, data: str) -> pd.DataFrame:
    """Return test errors: a row per training size and trial, a column per method."""
    return table[table.data == data].pivot(index=["size", "trial"], columns="method", values="error")


def error_table(table: pd.DataFrame, data: str) -> list[str]:
    groups = errors(table, data).groupby("size")
    lines = [
        "| method | " + " | ".join(f"{size:,}" for size in SIZES[data]) + " |",
        "|---" * (len(SIZES[data]) + 1) + "|",
    ]
    for method in METHODS:
        cells = [mean_and_error(own[method]) for _, own in groups]
        lines.append(f"| {method} | " + " | ".join(f"{mean:.3f} ± {error:.3f}" for mean, error in cells) + " |")
    return lines


def against(table: pd.DataFrame, data: str, mine: str, others: list[str]) -> tuple[Verdict, str]:
    """Say at which sizes the mean error of a method is above that of others; differences are paired over the trials.

    It does not hold where one is above by more than its interval, and cannot be told where one is above by less.
    """
    worse, said = [], []
    for size, own in errors(table, data).groupby("size"):
        for other in others:
            gap, error = mean_and_error(own[mine] - own[other])
            if gap > 0:
                worse.append(f"{gap:+.4f} ± {error:.4f} against {other} at {size:,}")
                said.append(False if above(gap, error) else None)
    return together(said), "; ".join(worse) or "below at every size"


def page(table: pd.DataFrame) -> str:
    lines = [
        "# Auxiliary kernels (Heim 2015, Fig. 7, 8, 9)",
        "",
        "`python -m reproduce.auxiliary_kernels`: share of test answers predicted wrongly, by number of training",
        "answers, mean ± 2 standard errors over the trials. Penalties chosen on answers kept apart, as in the thesis,",
        "which does not say how much noise the given kernels have (here 0.1), nor what a very low weight is.",
    ]
    for data, title in (("synthetic", "Synthetic (eq. 4.15)"), ("food", "(e) People's answers: 73 dishes of food100")):
        lines += ["", f"## {title}, {table[table.data == data].trial.nunique()} trials", ""]
        lines += [f"![errors](auxiliary_kernels_{data}.png)", "", *error_table(table, data), "", *claims(table, data)]
        if data == "synthetic":
            lines += ["", "![weights](auxiliary_kernels_weights.png)", "", *weight_claims(table)]
    return "\n".join([*lines, ""])


def claims(table: pd.DataFrame, data: str) -> list[str]:
    lines, synthetic = [], data == "synthetic"
    for loss in ("logistic", "hinge"):
        held, how = against(table, data, f"RCKL-AK {loss}", [f"RCKL-MKL {loss}", f"RCKL {loss}"])
        lines += [f"**(a) RCKL-AK at most RCKL-MKL and RCKL, {loss}: {in_words(held)}** ({how}).", ""]
    if synthetic:
        lines += synthetic_claims(errors(table, data))
    maps = [method for method in METHODS if method.startswith("MKPOE") and (synthetic or method != "MKPOE full")]
    for loss in ("logistic", "hinge"):
        held, how = against(table, data, f"RCKL-AK {loss}", maps)
        lines += [f"**(c) RCKL-AK {loss} below {', '.join(maps)}: {in_words(held)}** ({how}).", ""]
    held, how = close_together(errors(table, data)[maps])
    return [*lines, f"**(c) {', '.join(maps)} lie close together (within {CLOSE}): {in_words(held)}** ({how})."]


def synthetic_claims(found: pd.DataFrame) -> list[str]:
    """Plain RCKL is worse than the others; RCKL-MKL improves no more."""
    plain = ["RCKL logistic", "RCKL hinge"]
    rest = found.drop(columns=plain).max(axis=1)
    gaps = {size: mean_and_error(own) for size, own in (found[plain].min(axis=1) - rest).groupby("size")}
    still = found["RCKL-MKL logistic"].unstack("size")
    late = mean_and_error(still[still.columns[1]] - still[still.columns[-1]])
    return [
        f"**Plain RCKL is worse than all others: {in_words(together([above(*gap) for gap in gaps.values()]))}** (the "
        "better of its losses less the worst of the others: "
        f"{', '.join(f'{size:,} {mean:+.3f} ± {error:.3f}' for size, (mean, error) in gaps.items())}).",
        "",
        f"**(b) RCKL-MKL improves by less than 0.01 after {still.columns[1]:,} answers: "
        f"{in_words(below(*late, 0.01))}** ({late[0]:+.4f} ± {late[1]:.4f} to {still.columns[-1]:,}, logistic).",
        "",
    ]


def close_together(found: pd.DataFrame) -> tuple[Verdict, str]:
    """Whether every two methods differ by less than CLOSE at every size, paired over the trials."""
    gaps = {
        (size, one, other): mean_and_error(own[one] - own[other])
        for size, own in found.groupby("size")
        for one, other in combinations(found, 2)
    }
    size, one, other = max(gaps, key=lambda key: abs(gaps[key][0]))
    mean, error = gaps[size, one, other]
    said = together([alike(*gap, CLOSE) for gap in gaps.values()])
    return said, f"at most {mean:+.3f} ± {error:.3f}, {one} less {other} at {size:,}"


def mean_weights(table: pd.DataFrame, method: str) -> pd.DataFrame:
    own = table[(table.data == "synthetic") & (table.method == method)]
    return pd.DataFrame(list(own.weights), index=own["size"]).groupby(level=0).mean()


def noise_shares(table: pd.DataFrame, method: str) -> dict[int, tuple[float, float]]:
    """Mean over trials of the noise kernels' share of the weights, the three of them, with its error, by size."""
    own = table[(table.data == "synthetic") & (table.method == method)]
    weights = pd.DataFrame(list(own.weights), index=own["size"])
    shares = weights[["K4", "K5", "K6"]].sum(axis=1) / weights.sum(axis=1)
    return {size: mean_and_error(found) for size, found in shares.groupby(level=0)}


def weight_claims(table: pd.DataFrame) -> list[str]:
    lines = []
    for method in ("RCKL-AK logistic", "RCKL-AK hinge"):
        means, shares = mean_weights(table, method), noise_shares(table, method)
        noise = means[["K4", "K5", "K6"]].to_numpy()
        ordered = ((means.K1 > means.K2) & (means.K2 > means.K3) & (noise.max(1) < means.K3)).all()
        last = ", ".join(f"{name} {value:.3f}" for name, value in means.iloc[-1].items())
        little = together([below(*share, LITTLE) for share in shares.values()])
        lines += [
            f"**(d) {method}: mean weights of the true kernels in order at every size: {in_words(ordered)}** "
            f"(at {means.index[-1]:,} answers {last}).",
            "",
            f"**(d) {method}: noise kernels get very low weights ({LITTLE:.0%} of all, the three of them) at every "
            f"size: {in_words(little)}** ("
            + ", ".join(f"{mean:.1%} ± {error:.1%} at {size:,}" for size, (mean, error) in shares.items())
            + ").",
            "",
        ]
    return lines[:-1]


def draw_errors(table: pd.DataFrame) -> None:
    for data in SIZES:
        groups = errors(table, data).groupby("size")
        figure, panels = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
        shown = [[f"{name} {loss}" for name in ("RCKL", "RCKL-MKL", "RCKL-AK")] for loss in ("logistic", "hinge")]
        shown.append(
            [f"RCKL-AK {loss}" for loss in ("logistic", "hinge")] + [m for m in METHODS if m.startswith("MKPOE")]
        )
        for axes, methods in zip(panels, shown, strict=True):
            for method in methods:
                points = np.array([mean_and_error(own[method]) for _, own in groups])
                axes.errorbar(SIZES[data], points[:, 0], points[:, 1], label=method, capsize=2)
            axes.margins(y=0.15)
            axes.set_xlabel("training answers")
            axes.legend(frameon=False, fontsize=7)
        panels[0].set_ylabel("share predicted wrongly")
        figure.savefig(RESULTS / f"auxiliary_kernels_{data}.png", dpi=90)


def draw_weights(table: pd.DataFrame) -> None:
    figure, panels = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
    for axes, method in zip(panels, ("RCKL-AK logistic", "RCKL-AK hinge"), strict=True):
        means = mean_weights(table, method)
        for name in means:
            axes.plot(means.index, means[name], label=name, linestyle="-" if name <= "K3" else "--", marker=".")
        axes.set(title=method, xlabel="training answers")
    panels[0].set_ylabel("mean weight")
    panels[1].legend(frameon=False, ncols=2)
    figure.savefig(RESULTS / "auxiliary_kernels_weights.png", dpi=90)


if __name__ == "__main__":
    main(sys.argv[1:])
