"""How raters answer, whatever they say: how fast, on which side of the screen, and with what rhythm."""

from __future__ import annotations

import numpy as np
from scipy import stats

from similitude.feedback.answers import Answers
from similitude.feedback.forms import FORMS
from similitude.feedback.forms.base import Form
from similitude.types import Array, Bools, Floats

_HASTY = 0.4  # of the typical time of an answer
_PATTERN = 1e-4  # probability of so uneven sides, or so regular a rhythm, that is no bad luck among many raters


def is_hasty(seconds: Floats) -> Bools:
    """Return who takes less than two fifths of the time of a typical rater."""
    known = seconds[np.isfinite(seconds)]
    return seconds < (_HASTY * float(np.median(known)) if len(known) else 0.0)


def is_patterned(side_p_value: Floats, rhythm_p_value: Floats) -> Bools:
    """Return who answers by the screen: nearly always on one side, or by a rhythm."""
    return (side_p_value < _PATTERN) | (rhythm_p_value < _PATTERN)


def median_time(answers: Answers, who: Array, n_raters: int) -> Floats:
    """Return each rater's median time of an answer, NaN where no time is known."""
    median = np.full(n_raters, np.nan)
    if answers.time is None:
        return median
    known = np.flatnonzero(np.isfinite(answers.time) & (who >= 0))
    time, code = answers.time[known], who[known]
    order = np.lexsort([time, code])
    time, size = time[order], np.bincount(code, minlength=n_raters)
    start = np.cumsum(size) - size
    has = np.flatnonzero(size)
    first, second = start[has] + (size[has] - 1) // 2, start[has] + size[has] // 2
    median[has] = (time[first] + time[second]) / 2
    return median


def sides(answers: Answers, who: Array, n_raters: int) -> tuple[Floats, Floats, Floats]:
    """Return the share of each rater's commonest position, Pearson's test against equal shares, and the test of runs.

    Of questions of two alternatives, or of three where there are none of two; elsewhere positions need not be equal.
    """
    nothing = np.full(n_raters, np.nan)
    known, position, bins = _positions(answers, who)
    if not len(known):
        return nothing, nothing, nothing
    code = who[known]
    table = np.bincount(code * bins + position, minlength=n_raters * bins).reshape(n_raters, bins)
    size = table.sum(1)
    has = size > 0
    expected = np.maximum(size, 1)[:, None] / bins
    share = np.where(has, table.max(1) / np.maximum(size, 1), np.nan)
    surprise = stats.chi2.sf(((table - expected) ** 2 / expected).sum(1), bins - 1)
    return share, np.where(has, surprise, np.nan), _rhythm(code, position, table.astype(float))


def _positions(answers: Answers, who: Array) -> tuple[Array, Array, int]:
    """Return the answers whose side can be judged, the side of each, and how many sides there are."""
    nothing = np.empty(0, np.int64)
    if answers.side is None:
        return nothing, nothing, 0
    forms = [FORMS.get(name, Form()) for name in answers.form.labels]  # one that is not known picks nothing
    width = np.array([form.n_alternatives or 0 for form in forms])[answers.form.codes]
    judged = (answers.side >= 0) & (who >= 0) & (width > 0) & ~answers.cant_tell
    if not judged.any():
        return nothing, nothing, 0
    least = int(width[judged].min())
    known = np.flatnonzero(judged & (width == least))
    position = np.unique(answers.side[known], return_inverse=True)[1]
    return known, position, max(least, int(position.max()) + 1)


def _rhythm(code: Array, position: Array, table: Floats) -> Floats:
    """Wald and Wolfowitz' test of runs: the probability of so many or so few changes of side, given how often each.

    With n_j answers on side j of n in all, and q = sum n_j^2, the number of runs has mean (n(n+1) - q)/n and variance
    (q(q + n(n+1)) - 2n sum n_j^3 - n^3) / (n^2 (n-1)). NaN where a rater has one side alone.
    """
    order = np.argsort(code, kind="stable")
    same = code[order][1:] == code[order][:-1]
    changed = same & (position[order][1:] != position[order][:-1])
    runs = 1.0 + np.bincount(code[order][1:], changed, len(table))
    n, q, cubes = table.sum(1), (table**2).sum(1), (table**3).sum(1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (n * (n + 1) - q) / n
        variance = (q * (q + n * (n + 1)) - 2 * n * cubes - n**3) / (n**2 * (n - 1))
        score = np.abs(runs - mean) / np.sqrt(variance)
    return np.where(variance > 1e-12, 2 * stats.norm.sf(score), np.nan)
