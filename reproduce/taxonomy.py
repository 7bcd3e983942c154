"""McFee & Lanckriet (2011), section 5.1: kernels of use and kernels of noise, and a taxonomy to be found.

Claims: (a, Fig. 5) learning improves on each kernel's native distances; (b) the unweighted sum of kernels is worse than
the best single one, in native distances and after learning; (c) MKPOE is better than the best single kernel; (d) it
gives the noise kernels negligible weight; (e, Fig. 7, there on music) groups of kernels: MKPOE improves on their sum.

The paper used ALOI photographs and learned diagonal maps. Here: ten objects of COIL-20, 20 views of each, a taxonomy by
what they are (toys and household things), diagonal maps and full ones. Kernels: linear on pixels, Gaussian on the sums
of rows and of columns, on histograms of each quadrant's intensities and of the whole picture's, and five of noise, all
centred and scaled to unit trace. Five splits of the *items*, 80/20: training on comparisons among training items,
testing on comparisons of a new head with two training items; the penalty chosen by three folds over the training items.

Run: python -m reproduce.taxonomy [--page]
"""

from __future__ import annotations

import sys
from itertools import product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

import similitude as sm
from reproduce.claims import Ledger, Verdict, above, in_words, together
from reproduce.taxonomy_items import N_ITEMS, NOISE, USEFUL, comparisons, features, kernel
from reproduce.trials import RESULTS, accuracy, kept_trials, kernel_distances, mean_and_error

N_SPLITS, TESTS_PER_STEP = 5, 20
PER_STEP = {True: 20, False: 6}  # comparisons drawn per item and step, for diagonal and for full maps
TOLERANCE = 0.03  # of the objective: the proven gap at which a fit stops
LOSS = {True: "hinge", False: "logistic"}
PENALTIES = {True: [0.3, 1.0, 3.0], False: [0.03, 0.1, 0.3, 1.0]}
MODELS = [*USEFUL, *NOISE, "sum", "MKPOE"]
GROUPS = {
    "profiles": ["rows", "columns"],
    "histograms": ["quadrants", "intensities"],
    "pixels and profiles": ["pixels", "rows", "columns"],
    "pixels and histograms": ["pixels", "quadrants", "intensities"],
    "all but noise": USEFUL,
}


def kernels(method: type, tables: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return kernels as the method takes them: MKPOE all of them, KPOE their sum."""
    parts = {name: kernel(name, table) for name, table in tables.items()}
    return parts if method is sm.MKPOE else {"sum": sm.kernels.Sum(parts)}


def native(tables: dict[str, np.ndarray], test: np.ndarray) -> float:
    """Return the accuracy of the distances of the kernels' sum as it is."""
    K = sm.kernels.Sum([kernel(name, table) for name, table in tables.items()]).matrix()
    return accuracy(kernel_distances(K), test)


class Split:
    """One split of the items, and maps of one kind, diagonal or full."""

    def __init__(self, split: int, diagonal: bool) -> None:
        self.split, self.diagonal, self.features = split, diagonal, features()
        folds = KFold(N_SPLITS, shuffle=True, random_state=0).split(range(N_ITEMS))
        self.items, self.new = list(folds)[split]
        c, tests = comparisons(PER_STEP[diagonal]), comparisons(TESTS_PER_STEP)
        train, test = c.hold_out_items(self.new)[0], tests.hold_out_items(self.new)[1]
        code = np.zeros(N_ITEMS, dtype=int)
        code[self.items] = np.arange(len(self.items))
        self.train = sm.Comparisons.from_triplets(code[c.triplets[train]], n_items=len(self.items))
        self.test = tests.triplets[test]

    def tables(self, names: list[str], items: np.ndarray) -> dict[str, np.ndarray]:
        return {name: self.features[name][items] for name in names}

    def penalty(self, method: type, names: list[str]) -> float:
        """Choose a penalty by new items among the training items."""
        path = sm.penalty_path(
            method(loss=LOSS[self.diagonal], diagonal=self.diagonal, tol=TOLERANCE),
            self.train,
            PENALTIES[self.diagonal],
            features=kernels(method, self.tables(names, self.items)),
            by="item",
            n_folds=3,
            random_state=self.split,
        )
        return path.penalty[path.chosen].item()

    def row(self, name: str, method: type, names: list[str], penalty: float) -> dict[str, Any]:
        """Fit on the training items, place the new ones by their features, and score."""
        model = method(loss=LOSS[self.diagonal], diagonal=self.diagonal, penalty=penalty, tol=TOLERANCE)
        model.fit(self.train, features=kernels(method, self.tables(names, self.items)))
        new = self.tables(names, self.new)
        Z = np.empty((N_ITEMS, model.embedding_.shape[1]))
        Z[self.items], Z[self.new] = model.embedding_, model.transform(new if method is sm.MKPOE else {"sum": new})
        return {
            "split": self.split,
            "diagonal": self.diagonal,
            "model": name,
            "native": native(self.tables(names, np.arange(N_ITEMS)), self.test),
            "learned": accuracy(kernel_distances(Z @ Z.T), self.test),
            "penalty": penalty,
            "train": len(self.train),
            "test": len(self.test),
            "weights": model.weights_,
        }


def one_model(split: int, diagonal: int, model: int) -> list[dict]:
    """Score one model of a split, and what it makes of groups of kernels at the same penalty."""
    here, name = Split(split, bool(diagonal)), MODELS[model]
    together = name in ("sum", "MKPOE")
    method, names = sm.MKPOE if name == "MKPOE" else sm.KPOE, [*USEFUL, *NOISE] if together else [name]
    first = here.row(name, method, names, here.penalty(method, names))
    groups = GROUPS if together else {}
    return [first, *(here.row(f"{name}: {g}", method, own, first["penalty"]) for g, own in groups.items())]


def main(arguments: list[str]) -> None:
    jobs = product(range(N_SPLITS), (1, 0), reversed(range(len(MODELS))))
    table = complete(kept_trials("taxonomy", one_model, [] if "--page" in arguments else jobs))
    draw(table)
    ledger = Ledger(int(table.split.nunique()), "two standard errors over splits", False)
    ledger.others["(d)"] = {"interval": "none: a mean share"}
    ledger.write("taxonomy", page(table))


def complete(table: pd.DataFrame) -> pd.DataFrame:
    """The splits for which every model was run: a run may have been stopped."""
    return table[table.groupby("split").model.transform("size") == 2 * (len(MODELS) + 2 * len(GROUPS))]


def noise_shares(table: pd.DataFrame, diagonal: bool) -> list[float]:
    """Return the noise kernels' share of MKPOE's weights in each split."""
    own = table[(table.model == "MKPOE") & (table.diagonal == diagonal)]
    return [sum(weights[name] for name in NOISE) / sum(weights.values()) for weights in own.weights]


def page(table: pd.DataFrame) -> str:
    lines = [
        "# Taxonomy with noise kernels (McFee & Lanckriet 2011, section 5.1) on COIL-20",
        "",
        "`python -m reproduce.taxonomy`: splits of 200 pictures of ten objects, 80/20; accuracy on",
        f"comparisons of a new item with two training items ({table.test.mean():,.0f} per split), penalty chosen by",
        "new items among the training items. Diagonal maps with the hinge, as in the paper, learned from",
        f"{trained_on(table, True)} comparisons; full ones with the logistic loss, from {trained_on(table, False)}.",
        f"Means over {table.split.nunique()} of {N_SPLITS} splits (standard deviation).",
        "",
        "![accuracy by kernel](taxonomy.png)",
        "",
        "| kernel | native | learned, diagonal map | learned, full map |",
        "|---|---|---|---|",
    ]
    for name in MODELS:
        own = table[table.model == name]
        native = "" if name == "MKPOE" else f"{own.native.mean():.3f}"
        learned = (own[own.diagonal == kind].learned for kind in (True, False))
        lines.append(f"| {name} | {native} | " + " | ".join(f"{x.mean():.3f} ({x.std():.3f})" for x in learned) + " |")
    for diagonal, title in ((True, "Diagonal maps, as in the paper"), (False, "Full maps")):
        count = table[table.diagonal == diagonal].split.nunique()
        lines += ["", f"## {title} (splits: {count})", "", *claims(table, diagonal)]
    lines += [
        "",
        "For full maps the sum's class contains every map of MKPOE: the sum kernel's features are those of all kernels "
        "one beside the other, and a full W over them may have blocks between kernels, which MKPOE leaves out. There, "
        "MKPOE can be better only by learning less.",
    ]
    return "\n".join([*lines, "", *groups(table), ""])


def trained_on(table: pd.DataFrame, diagonal: bool) -> str:
    return f"{table[table.diagonal == diagonal].train.mean():,.0f}"


def claims(table: pd.DataFrame, diagonal: bool) -> list[str]:
    wide = table[table.diagonal == diagonal].pivot(index="split", columns="model", values="learned")
    native = table[table.diagonal == diagonal].pivot(index="split", columns="model", values="native").mean()
    learned, shares = wide.mean(), noise_shares(table, diagonal)
    best, kernel_best = learned[USEFUL].idxmax(), native[USEFUL].idxmax()
    up, over = mean_and_error(wide["MKPOE"] - wide[best]), mean_and_error(wide[best] - wide["sum"])
    kind = "diagonal maps" if diagonal else "full maps"
    before = table[table.diagonal == diagonal].pivot(index="split", columns="model", values="native")
    gains = {name: mean_and_error(wide[name] - before[name]) for name in USEFUL}
    return [
        f"**(a) Learning improves on native distances, {kind}: {in_words(all_above(gains))}** ({listed(gains)}; noise "
        f"kernels stay at {learned[NOISE].mean():.3f}).",
        "",
        f"**(b) The sum is worse than the best single kernel, native, {kind}: "
        f"{in_words(native['sum'] < native[kernel_best])}** "
        f"({native['sum']:.3f}, {kernel_best} {native[kernel_best]:.3f}; the paper: .718, .862).",
        "",
        f"**(b) The sum is worse than the best single kernel, learned, {kind}: "
        f"{in_words(above(*over))}** ({learned['sum']:.3f}, {best} {learned[best]:.3f}; "
        f"best - sum {over[0]:+.3f} ± {over[1]:.3f}; the paper: .861, .951).",
        "",
        f"**(c) MKPOE is better than the best single kernel, {kind}: {in_words(above(*up))}** ({learned['MKPOE']:.3f}; "
        f"difference {up[0]:+.3f} ± {up[1]:.3f}, paired over splits, 2 standard errors; the paper: .984 and .951).",
        "",
        f"**(d) Noise kernels get under 2% of the weight, {kind}: {in_words(np.mean(shares) < 0.02)}** "
        f"(mean {np.mean(shares):.2%}, largest {max(shares):.2%} of sum tr(W_p K_p), for five of the ten kernels).",
    ]


def groups(table: pd.DataFrame) -> list[str]:
    means = table.groupby(["diagonal", "model"]).learned.mean()
    lines = [
        "## Groups of kernels",
        "",
        "At the penalties chosen for all kernels.",
        "",
        "| group | native sum | sum, diagonal | MKPOE, diagonal | sum, full | MKPOE, full |",
        "|---|---|---|---|---|---|",
    ]
    for group in GROUPS:
        native = table[table.model == f"sum: {group}"].native.mean()
        cells = [means[kind, f"{model}: {group}"] for kind in (True, False) for model in ("sum", "MKPOE")]
        lines.append(f"| {group} | {native:.3f} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")
    for diagonal, kind in ((True, "diagonal"), (False, "full")):
        wide = table[table.diagonal == diagonal].pivot(index="split", columns="model", values="learned")
        gains = {group: mean_and_error(wide[f"MKPOE: {group}"] - wide[f"sum: {group}"]) for group in GROUPS}
        lines += [
            "",
            f"**(e) MKPOE improves on the learned sum of every group, {kind} maps: {in_words(all_above(gains))}** "
            f"({listed(gains)}).",
        ]
    return lines


def all_above(gains: dict[str, tuple[float, float]]) -> Verdict:
    return together([above(*gain) for gain in gains.values()])


def listed(gains: dict[str, tuple[float, float]]) -> str:
    return "; ".join(f"{name} {mean:+.3f} ± {error:.3f}" for name, (mean, error) in gains.items())


def draw(table: pd.DataFrame) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", width_ratios=[2, 1])
    own, places = table.set_index("model"), np.arange(len(MODELS))
    bars = {"native": own[own.diagonal].native, "diagonal map": own[own.diagonal].learned}
    bars["full map"] = own[~own.diagonal].learned
    for k, (name, values) in enumerate(bars.items()):
        by_model = values.groupby(level=0)
        left.bar(places + 0.27 * (k - 1), by_model.mean()[MODELS], 0.25, yerr=by_model.std()[MODELS], label=name)
    left.axhline(0.5, color="0.4", linewidth=0.8, linestyle=":")
    left.set_xticks(places, MODELS, rotation=40, ha="right")
    left.set(ylabel="accuracy with new items", ylim=(0.4, 1.1))
    left.legend(frameon=False, ncols=3, loc="upper left")
    for k, diagonal in enumerate((True, False)):
        weights = own[own.diagonal == diagonal].loc[["MKPOE"]].weights
        shares = pd.DataFrame([pd.Series(row) / sum(row.values()) for row in weights]).mean()[MODELS[:-2]]
        right.barh(np.arange(len(shares)) + 0.4 * k - 0.2, shares, 0.38, color=f"C{k + 1}")
    right.set_yticks(np.arange(len(shares)), shares.index)
    right.invert_yaxis()
    right.set_xlabel("share of MKPOE's weight")
    figure.savefig(RESULTS / "taxonomy.png", dpi=90)


if __name__ == "__main__":
    main(sys.argv[1:])
