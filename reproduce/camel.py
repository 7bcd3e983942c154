"""Heim (2015), chapter 6: do confidences save labels, and is the map sparse and of low rank?

Claims: (a, Fig. 21) with confidences, the AUROC of 100 labelled rows without them is reached with far fewer; (b) CAMEL
does as well as a linear SVM or better, CAMEL-CL as SVM-Combo; (c, Table 3) most entries of L are exactly 0, its rank is
low, and with confidences both more so.

The clinical data is private. Public tables, two of them with a rare class, and a simulated expert: the class is the
true one, the confidence is the share of the votes of a random forest's trees that did not see the row (out of bag) for
that class, plus normal noise of 0.1. In a fifth, planted table the class is the sign of x_1 + x_2 / 2 of ten features,
and the confidence grows with its size, with the same noise.

Every method has six settings, fixed beforehand, and the one taken is the best on 100 validation rows, as in the thesis
(which are labels too, and only choose). Prices of CAMEL reach from .003 to .2, so that the best is seldom at an end.
Draws 200 to 204 served nothing before: five, where the thesis has ten.
SVM-Combo, MLKR and LMNN are those of `baselines`.

Run: python -m reproduce.camel [--quick | --page]; trials already in results/camel.json are not run again, and --page
writes the page and its picture from those there are
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pandas as pd

from reproduce.camel_page import page
from reproduce.camel_trials import TABLES, trial
from reproduce.claims import Ledger
from reproduce.label_pictures import draw_auroc
from reproduce.trials import RESULTS, kept_trials

FIRST_DRAW, DRAWS = 200, 5


def main(quick: bool, only_page: bool) -> None:
    if quick:
        print(page(pd.DataFrame(trial(2, 0) + trial(2, 1))))
        return
    jobs = [(which, FIRST_DRAW + draw) for draw in range(DRAWS) for which in range(len(TABLES))]
    results = kept_trials("camel", trial, [] if only_page else jobs)
    draw_auroc(results, RESULTS / "camel.png")
    Ledger(DRAWS, "two standard errors over draws", True).write("camel", page(results))


if __name__ == "__main__":
    main("--quick" in sys.argv, "--page" in sys.argv)
