"""Whether answers are predicted as well in every part of a study: early and late, under each condition.

Where a model chose some of the questions, parts are compared by the evenly drawn ones alone: it chooses what it cannot
predict, and more of that the longer a session goes on, so that chosen ones would make everybody look tired.

>>> import numpy as np, similitude as sm
>>> from similitude.evaluate.parts import compare_parts
>>> c = sm.simulate(np.random.default_rng(0).normal(size=(8, 2)), 400, raters=10, random_state=1)
>>> right = np.ones(len(c))
>>> found = compare_parts(c, right, "block", np.arange(400) % 2, ("one", "two"))
>>> found.table.part.tolist(), found.p_value
(['one', 'two'], 1.0)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from similitude.display.words import written_p
from similitude.evaluate.intervals import clustered_mean
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.drawn import describes_choice, evenly_drawn
from similitude.feedback.extra import as_cells, is_empty
from similitude.feedback.files.column_map import plain
from similitude.feedback.forms.pieces import SHEET
from similitude.types import Array, Floats

_ALPHA = 0.05
_FEWEST = 20  # answers of a part
_MOST_PARTS = 10
_QUARTERS = ("first quarter", "second quarter", "third quarter", "last quarter")
_FEWEST_IN_SESSION = 8  # answers of a rater, two for each quarter
_MOMENTS = frozenset(
    ("received", "timestamp", "time_stamp", "answered_at", "created_at", "submitted_at", "datetime", "date_time",
     "time_elapsed", "trial", "trial_number", "trial_index", "trial_nr", "trialn", "order", "question_number")
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Parts:
    """How well held-out answers are predicted, part by part.

    Attributes
    ----------
    by : the column that tells the parts
    over_time : whether the parts follow each other in every rater's session
    table : a row per part: `part`, `answers`, `points` by which the share that is predicted lies above the mean of all
        parts, with its 95% interval over raters (`low`, `high`), and the median `seconds` of an answer
    p_value : share of random exchanges of the parts within raters after which parts differ as much
    change, low, high : of the last part over the first, in points, within raters, with its 95% interval
    raters : how many of them answered in more than one part
    evenly_drawn : whether other answers were left aside, since their questions were chosen by a model
    """

    by: str
    over_time: bool
    table: pd.DataFrame
    p_value: float
    change: float
    low: float
    high: float
    raters: int
    evenly_drawn: bool = False

    @property
    def differ(self) -> bool:
        """Whether the parts differ, at 5 %."""
        return self.p_value <= _ALPHA

    def __str__(self) -> str:
        """Return what was found in a sentence."""
        where = "over the session" if self.over_time else f"with {self.by}"
        verdict = "changes" if self.differ else "does not change detectably"
        which = " to evenly drawn questions" if self.evenly_drawn else ""
        said = f"The share of answers{which} that the model predicts {verdict} {where}"
        test = f"(p {written_p(self.p_value)}, {self.raters} raters)"
        if not np.isfinite(self.change) or not (self.over_time or len(self.table) == 2):
            return f"{said} {test}."
        names = self.table.part.tolist()
        between = "the first to the last quarter" if self.over_time else f"{names[0]} to {names[-1]}"
        interval = f"95% interval {self.low:+.1f} to {self.high:+.1f}"
        return f"{said} {test}: by {self.change:+.1f} points from {between} ({interval})."

    __repr__ = __str__


def sessions(c: Comparisons) -> tuple[str, Array] | None:
    """Return the column that says when each answer was given, and the quarter of its rater's session, -1 where unknown.

    It is -1 as well where the question was chosen. None where there is no such column (the order of a file need not be
    that of the answers), or where hardly any questions but chosen ones were asked in some quarter.
    """
    names = [name for name in c.answers.extra if plain(name) in _MOMENTS]
    if not names or not c.answers.rater.recorded:
        return None
    moment, rater = _moments(c.answers.extra[names[0]]), c.answers.rater.codes
    quarter = np.full(c.n_answers, -1)
    for code in range(len(c.answers.rater.labels)):
        own = np.flatnonzero((rater == code) & np.isfinite(moment))
        if len(own) >= _FEWEST_IN_SESSION and 2 * len(np.unique(moment[own])) > len(own):  # ties stay as they are
            quarter[own[np.argsort(moment[own], kind="stable")]] = np.arange(len(own)) * len(_QUARTERS) // len(own)
    even = evenly_drawn(c)
    if (quarter[~even] >= 0).any():
        quarter[~even] = -1
        if np.bincount(quarter[quarter >= 0], minlength=len(_QUARTERS)).min() < _FEWEST:
            return None
    return (names[0], quarter) if (quarter >= 0).any() else None


def _moments(column: Array) -> Floats:
    """A column of numbers or dates as numbers that grow with time, NaN where it holds neither."""
    if column.dtype.kind == "f":
        return column
    dates = pd.to_datetime(pd.Series(as_cells(column)), errors="coerce", utc=True, format="mixed")
    return np.where(dates.isna(), np.nan, dates.astype("int64").to_numpy(float))


def conditions(c: Comparisons) -> dict[str, tuple[Array, tuple[str, ...]]]:
    """Return the columns that vary within most raters: the condition of each answer, -1 where unknown, and their names.

    A column of a few values, each with enough answers to evenly drawn questions; one that tells the time is none
    (`sessions`), nor one that tells how questions were chosen.
    """
    found = {}
    rater = c.answers.rater.codes
    compares = (np.bincount(c.answer, minlength=c.n_answers) > 0) & evenly_drawn(c)
    for name, column in c.answers.extra.items():
        if plain(name) in (*_MOMENTS, SHEET) or describes_choice(c, name) or not c.answers.rater.recorded:
            continue
        known = ~is_empty(column) & (rater >= 0) & compares
        cells = as_cells(column)
        cells[~known] = None
        code, values = pd.factorize(cells)
        counts = np.bincount(code[known], minlength=len(values))
        if 2 <= len(values) <= _MOST_PARTS and counts.min() >= _FEWEST and _within_most(code, rater):
            order = sorted(range(len(values)), key=lambda k: _sortable(values[k]))
            place = np.empty(len(values) + 1, int)
            place[[*order, -1]] = [*range(len(values)), -1]
            found[name] = (place[code], tuple(_word(values[k]) for k in order))
    return found


def _sortable(value: object) -> tuple[int, float, str]:
    return (0, value, "") if isinstance(value, float) else (1, 0.0, str(value))


def _word(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _within_most(part: Array, rater: Array) -> bool:
    """Whether more than half of the raters answered in several parts."""
    known = (part >= 0) & (rater >= 0)
    distinct = np.unique(np.stack([rater[known], part[known]]), axis=1)[0]
    times = np.bincount(distinct)
    return bool((times > 1).sum() > (times == 1).sum())


def compare_parts(
    c: Comparisons,
    right: Floats,
    by: str,
    part: Array,
    names: tuple[str, ...] = _QUARTERS,
    *,
    over_time: bool = False,
    n_permutations: int = 999,
    random_state: int = 0,
) -> Parts:
    """Compare how well the answers of each part are predicted.

    Parameters
    ----------
    c : the answers, with raters
    right : for each comparison 1 where a model that has not seen its answer predicts it, else 0
    by : the column that tells the parts
    part : the part of each answer, -1 where it has none
    names : of the parts
    over_time : whether they follow each other
    n_permutations : random exchanges of parts within raters
    random_state : seed
    """
    weight = np.asarray(c.weight)
    size = np.bincount(c.answer, weight, c.n_answers)
    score = np.bincount(c.answer, weight * right, c.n_answers) / np.maximum(size, 1e-300)
    kept = (size > 0) & (part >= 0) & (c.answers.rater.codes >= 0)
    score, where, rater = score[kept], part[kept], c.answers.rater.codes[kept]
    seconds = None if c.answers.time is None else c.answers.time[kept]
    change, low, high, raters = _last_over_first(score, where, rater, len(names))
    rng = np.random.default_rng(random_state)
    return Parts(
        by, over_time, _table(score, where, rater, seconds, names), _p_value(score, where, rater, n_permutations, rng),
        change, low, high, raters, not evenly_drawn(c).all(),
    )  # fmt: skip


def _table(score: Floats, part: Array, rater: Array, seconds: Floats | None, names: tuple[str, ...]) -> pd.DataFrame:
    rows, mean = [], float(np.mean([score[part == k].mean() for k in np.unique(part)]))
    for k in np.unique(part).tolist():
        own = part == k
        value, low, high = clustered_mean(score[own] - mean, np.ones(int(own.sum())), rater[own])
        row = {"part": names[k], "answers": int(own.sum()), "points": value, "low": low, "high": high}
        if seconds is not None and np.isfinite(seconds[own]).any():
            row["seconds"] = float(np.nanmedian(seconds[own]))
        rows.append(row)
    table = pd.DataFrame(rows)
    return table.assign(**{name: (100 * table[name]).round(1) for name in ("points", "low", "high")})


def _last_over_first(score: Floats, part: Array, rater: Array, n_parts: int) -> tuple[float, float, float, int]:
    """Return by how many points each rater's last part is predicted better than the first, and how many have both."""
    answers = pd.DataFrame({"rater": rater, "part": part, "score": score})
    by_rater, number = (answers.pivot_table("score", "rater", "part", aggfunc=kind) for kind in ("mean", "count"))
    several = int((by_rater.notna().sum(axis=1) > 1).sum())
    if not {0, n_parts - 1} <= set(by_rater.columns):
        return np.nan, np.nan, np.nan, several
    gain = 100 * (by_rater[n_parts - 1] - by_rater[0])
    sureness = 1 / (1 / number[n_parts - 1] + 1 / number[0])  # so that a rater of one late answer counts for little
    both = gain.notna().to_numpy()
    if both.sum() < 2:
        return np.nan, np.nan, np.nan, several
    given = gain.to_numpy()[both], sureness.to_numpy(float)[both], np.arange(int(both.sum()))
    return *clustered_mean(*given), several


def _p_value(score: Floats, part: Array, rater: Array, n_permutations: int, rng: np.random.Generator) -> float:
    """Share of exchanges of the parts among each rater's answers after which parts differ as much."""
    codes = np.unique(rater, return_inverse=True)[1]
    centred = score - (np.bincount(codes, score) / np.bincount(codes))[codes]
    order = np.argsort(codes, kind="stable")
    centred, part, codes = centred[order], part[order], codes[order]
    count = np.bincount(part)

    def apart(values: Floats) -> float:
        return float((np.bincount(part, values) ** 2 / np.maximum(count, 1)).sum())

    here = apart(centred) - 1e-12
    shuffled = (centred[np.lexsort([rng.random(len(codes)), codes])] for _ in range(n_permutations))
    return float((1 + sum(apart(values) >= here for values in shuffled)) / (1 + n_permutations))
