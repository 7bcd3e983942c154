"""Laying items on a table beside answering triplets, by the minutes of a rater's time; and in the real page.

`arrangements`: maps of thirty items learned from simulated people of one kind (`benchmarks/arranging.py`: what they
see, and how long each answer takes), who answer triplets or lay out items, at random or chosen as a study chooses them:
triplets by information gain, and items of whose pairs least is known. Means over true maps drawn anew.
`arrangements_page`: the same people before the rater's page in Chromium: they read which items there are, drag each
with the mouse to where they mean it and confirm, or click on one of two; the map is learned from the server's export.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np

import similitude as sm
from benchmarks.arranging import asked, fit, mean_and_error, recovery, seconds
from benchmarks.arranging_page import answered_on_page
from benchmarks.report import Row, Table
from benchmarks.settings import Settings

LONG = True
ITEMS = 30
KINDS = {
    "triplets": ("triplet", 3, False),
    "triplets, chosen": ("triplet", 3, True),
    "8 items": ("placement", 8, False),
    "8 items, chosen": ("placement", 8, True),
}
COLUMNS = {
    "dimensions": "d", "asked": "", "minutes": "d", "answers": ",d", "new triplets right": ".3f", "± se": ".3f",
    "correlation": ".3f", "± se ": ".3f",
}  # fmt: skip
ON_PAGE = {
    "dimensions": "d", "asked": "", "minutes": "d", "answers": ",d", "new triplets right": ".3f", "correlation": ".3f",
    "largest miss": ".3f",
}  # fmt: skip


def run(settings: Settings) -> Iterator[Table]:
    warnings.simplefilter("ignore", sm.FeedbackWarning)  # few answers leave items out
    yield by_minutes(settings)
    yield on_page(settings)


def by_minutes(settings: Settings) -> Table:
    """Recovery by the minutes of a rater's time."""
    truths, spans = (2, (10,)) if settings.quick else (6, (10, 30, 90))
    rows = []
    for dimensions in (2, 5):
        for minutes in spans:
            for name, (form, size, lift) in KINDS.items():
                number = int(60 * minutes / seconds(form, size))
                found = [_once(dimensions, form, size, number, lift, settings.seed + k) for k in range(truths)]
                right, correlation = zip(*found, strict=True)
                rows.append(_row(dimensions, name, minutes, number) | _means(right, correlation))
    note = f"{ITEMS} items; {truths} true maps; a triplet 3 s, an arrangement of 8 items 34 s"
    return Table("arrangements", "Arrangements and triplets, by minutes of a rater's time", COLUMNS, rows, note)


def _once(dimensions: int, form: str, size: int, number: int, lift: bool, seed: int) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((ITEMS, dimensions))
    answers = asked(form, truth, size, number, lift, rng)
    return recovery(fit(form, answers, ITEMS, dimensions), truth)


def _row(dimensions: int, name: str, minutes: int, number: int) -> Row:
    return {"dimensions": dimensions, "asked": name, "minutes": minutes, "answers": number}


def _means(right: Sequence[float], correlation: Sequence[float]) -> Row:
    (first, error), (second, other) = mean_and_error(right), mean_and_error(correlation)
    return {"new triplets right": first, "± se": error, "correlation": second, "± se ": other}


def on_page(settings: Settings) -> Table:
    """Raters who drag and click in the page of a served study."""
    raters, minutes = (1, 1) if settings.quick else (4, 20)
    truth = np.random.default_rng(settings.seed).standard_normal((ITEMS, 2))
    rows = []
    for name, (form, size, lift) in KINDS.items():
        if lift:
            continue  # the model process would choose, at its own pace
        each = int(60 * minutes / seconds(form, size)) // raters
        found, miss = answered_on_page(form, truth, size, raters, each, settings.seed)
        right, correlation = recovery(sm.STE(2, random_state=0).fit(found), truth)
        measured = {"new triplets right": right, "correlation": correlation, "largest miss": miss}
        rows.append(_row(2, name, minutes, found.n_answers) | measured)
    note = f"{raters} raters; largest miss: how far from where it was meant an item was kept, in radii of the table"
    return Table("arrangements_page", "The same in the rater's page, dragged and clicked", ON_PAGE, rows, note)
