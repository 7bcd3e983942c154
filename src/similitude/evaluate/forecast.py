"""How many more answers? A learning curve carried on beyond the answers at hand, against the noise ceiling."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import stats

from similitude.display.estimate import Estimate
from similitude.evaluate.advice import Advice, CurvePoint, doubt, weighed
from similitude.evaluate.cards import forecast_card
from similitude.evaluate.ceiling import sentence_above
from similitude.evaluate.saturation import fit_curves
from similitude.evaluate.validation import Estimator, Of, Progress, learning_curve
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.drawn import evenly_drawn
from similitude.graph.consistency import ceiling_of
from similitude.kernels.modalities import Features
from similitude.methods.base import FeedbackWarning
from similitude.settings import check_estimator
from similitude.types import Floats

_TEST_SIZE = 0.2


@dataclass(frozen=True, eq=False, repr=False)
class Forecast:
    """What `more_answers` finds. Prints as a few sentences.

    Attributes
    ----------
    curve : the learning curve that was measured: `answers`, `accuracy`, `low`, `high`
    table : what is expected: `answers` in all, `more` than there are, `accuracy`, `low`, `high`, `gain` over now with
        its own interval (`gain_low`, `gain_high`)
    limit : the accuracy that the curve goes towards, with its interval
    ceiling : the noise ceiling of the answers, see `check`
    answers : how many there are
    curves : (n, 3) a, b, c of a - b · answers^-c: first the fit, then those of resampled curves
    level : of the intervals
    note : why an accuracy can be above the ceiling, where one is
    of : what accuracies are the share of, "comparisons" or "answers"
    tested : answers to questions that were drawn evenly
    doubt : how far the gain of endlessly many answers may be off, by these alone; that of fewer in proportion
    now : the accuracy that the answers at hand give, where it was measured otherwise and the curve begins there (see
        `beginning_at`)

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, sharpness=2.0, random_state=0)
    >>> found = sm.more_answers(sm.STE(2, random_state=0), answers, n_repeats=2, n_curves=20, random_state=0)
    >>> found.answers, found.expected(1200).accuracy.item() > 0.5
    (600, True)
    """

    curve: pd.DataFrame
    table: pd.DataFrame
    limit: Estimate
    ceiling: Estimate
    answers: int
    curves: Floats
    level: float
    note: str
    of: Of = "comparisons"
    tested: int = 0
    doubt: float = 0.0
    now: Estimate | None = None

    def expected(self, answers: Any) -> pd.DataFrame:
        """Return the accuracy expected of so many answers in all, with its interval."""
        wanted = np.atleast_1d(np.asarray(answers, float))
        table = _expected(self.curves, wanted, self.answers, self.doubt, self.level)
        return table if self.now is None else _from_now(table, self.now)

    @property
    def advice(self) -> Advice:
        """What to make of it, by the rule that the page of a study goes by, too (`similitude.evaluate.advice`)."""
        now, later = self.table.iloc[0], self.table[self.table.more > 0].iloc[0]
        gain = float(later.gain), float(later.gain_low), float(later.gain_high)
        point = CurvePoint(self.answers, float(now.accuracy), float(now.low), float(now.high), self.tested)
        return weighed(point, int(later.more), gain, self.ceiling, self.level)

    def beginning_at(self, now: Estimate) -> Forecast:
        """Return the forecast moved as a whole, so that the answers at hand give an accuracy known otherwise.

        The gains stay as they are. A learning curve holds out other answers than a validation of the model does, so the
        two differ by a little for the same number of answers, and one question would have two figures.
        """
        if now.value is None:
            return self
        shift = now.value - float(self.table.accuracy[self.table.more == 0].iloc[0])
        moved = replace(
            self,
            curve=self.curve.assign(**{name: self.curve[name] + shift for name in ("accuracy", "low", "high")}),
            curves=self.curves + np.array([shift, 0.0, 0.0]),
            limit=_moved(self.limit, shift),
            now=now,
        )
        table = moved.expected(self.table.answers)
        return replace(moved, table=table, note=sentence_above(float(table.accuracy.max()), self.ceiling))

    def answers_for(self, accuracy: float) -> Estimate:
        """Return how many answers in all an accuracy takes, with an interval; None where the curve does not get there.

        The interval's upper end is None where the lower curves do not get there.
        """
        a, b, c = self.curves.T
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = np.where(a > accuracy, (np.maximum(b, 1e-300) / (a - accuracy)) ** (1.0 / c), np.inf)
        if not np.isfinite(needed[0]):
            return Estimate(None, note=f"the curve goes towards {a[0]:.3f} and does not get to {accuracy:.3f}")
        low, high = np.quantile(needed[1:], [0.5 - self.level / 2, 0.5 + self.level / 2], method="nearest")
        return Estimate(float(needed[0]), float(low), float(high) if np.isfinite(high) else None, "answers in all")

    def __repr__(self) -> str:
        text = f"{self.answers:,} answers give an accuracy of {self.table.accuracy.iloc[0]:.1%} on new ones. "
        text += f"{self.advice.short} The curve goes towards {self.limit.value:.1%}."
        if self.ceiling.value is None:
            return text + f" The noise ceiling is unknown: {self.ceiling.note}."
        return text + f" The noise ceiling is {self.ceiling.value:.1%}. {self.note}".rstrip()

    def _repr_html_(self) -> str:
        return forecast_card(self)


def more_answers(
    estimator: Estimator,
    comparisons: ComparisonsLike,
    *,
    multiples: Sequence[float] = (1.0, 1.5, 2.0, 4.0, 8.0),
    by: Literal["answer", "rater"] = "answer",
    of: Of = "comparisons",
    n_repeats: int = 10,
    n_curves: int = 200,
    level: float = 0.95,
    features: Features | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    callback: Progress | None = None,
) -> Forecast:
    """Say what accuracy more answers would bring, by carrying on the learning curve.

    Accuracy a - b · answers^-c, with 0.5 <= a <= 1 (of whole answers 0 <= a), b >= 0 and 0.9 <= c <= 1.5, is fitted to
    `learning_curve` by least squares, points weighted by the precision over repeats. The limit a is kept below the
    upper end of the noise ceiling's interval at this level, unless the curve already measured lies above it. Intervals
    come from curves resampled by repeat, each shifted by what all repeats share, since they are drawn from the same
    answers: with s the standard error of one repeat, a normal number of variance test/train · s² (Nadeau & Bengio
    2003). Those of gains are never narrower than the answers at hand can tell (`similitude.evaluate.advice.doubt`).
    They know nothing of raters or questions that differ from those so far.

    Parameters
    ----------
    estimator : what learns
    comparisons : the answers so far
    multiples : of their number, to forecast for
    by : what is held out together: "answer" or "rater"
    of : what the accuracy is the share of: "comparisons", or "answers" with every comparison right
    n_repeats : of the learning curve
    n_curves : resampled curves
    level : of the intervals
    features : given to the estimator, where it learns from features
    random_state : seed
    n_jobs : processes, through joblib
    callback : called after each fit with the number done and the number of all

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, sharpness=2.0, random_state=0)
    >>> found = sm.more_answers(sm.STE(2, random_state=0), answers, n_repeats=2, n_curves=20, random_state=0)
    >>> found.table.more.tolist()[:3], bool(found.limit.value >= found.table.accuracy[0])
    ([0, 300, 600], True)
    """
    check_estimator("estimator", estimator)
    if not all(multiple >= 1 for multiple in multiples) or max(multiples, default=1.0) <= 1:
        raise ValueError(f"multiples: expected numbers of at least 1, one of them more, found {list(multiples)}")
    c = as_comparisons(comparisons)
    count = len(np.unique(c.answer))
    ceiling = ceiling_of(c, of=of)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeedbackWarning)  # a part of the answers may leave items out
        curve = learning_curve(
            {"": estimator}, c, sizes=_sizes(count), by=by, of=of, test_size=_TEST_SIZE, n_repeats=n_repeats,
            features=features, random_state=random_state, level=level, n_jobs=n_jobs, per_repeat=True,
            callback=callback,
        )  # fmt: skip
    repeats = curve.pivot(index="repeat", columns="answers", values="accuracy")
    half = float((curve.high - curve.low).mean() / 2)
    bound = ceiling_of(c, level, of).high
    most = bound if bound is not None and repeats.iloc[:, -1].mean() < bound else 1.0
    shared = half / stats.norm.ppf(0.5 + level / 2) * np.sqrt(_TEST_SIZE / (1.0 - _TEST_SIZE))
    between = (0.5 if of == "comparisons" else 0.0, most)
    curves = _curves(repeats, shared, between, n_curves, np.random.default_rng(random_state))
    tested = len(np.intersect1d(c.answer, np.flatnonzero(evenly_drawn(c))))
    at_hand = float(curves[0] @ [1.0, -(float(count) ** -curves[0, 2]), 0.0])
    off = doubt(at_hand, tested, 1.0, level)
    table = _expected(curves, count * np.sort(np.unique([1.0, *multiples])), count, off, level)
    low, high = np.clip(np.quantile(curves[1:, 0], [0.5 - level / 2, 0.5 + level / 2]), 0.0, 1.0)
    limit = Estimate(float(curves[0, 0]), float(low), float(high), "the accuracy that the curve goes towards")
    above = sentence_above(float(table.accuracy.max()), ceiling)
    return Forecast(_measured(curve), table, limit, ceiling, count, curves, level, above, of, tested, off)


def _sizes(answers: int) -> list[int]:
    """Training sizes from an eighth of what is not held out to all of it: fewer answers tell another story."""
    most = answers - max(1, round(_TEST_SIZE * answers))
    return sorted({max(1, round(most * 2.0 ** (-0.5 * k))) for k in range(7)})


def _measured(curve: pd.DataFrame) -> pd.DataFrame:
    means = curve.groupby("answers", as_index=False)[["accuracy", "low", "high"]].mean()
    return means.assign(estimator="measured")


def _curves(
    repeats: pd.DataFrame, shared: float, between: tuple[float, float], count: int, rng: np.random.Generator
) -> Floats:
    """Fit a, b, c to the mean curve, and to curves of repeats drawn with replacement and shifted together."""
    size, values = repeats.columns.to_numpy(float), repeats.to_numpy()
    error = np.maximum(values.std(0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0 * size, 1e-3)
    mean, few = values.mean(0), np.sqrt(len(values) / max(len(values) - 1, 1))  # few repeats scatter too little
    drawn = mean + few * (values[rng.integers(0, len(values), (count, len(values)))].mean(1) - mean)
    drawn += shared * rng.standard_normal((count, 1))
    return fit_curves(size, np.vstack([mean, drawn]), 1.0 / error**2, between)


def _moved(limit: Estimate, by: float) -> Estimate:
    value, low, high = (None if end is None else min(end + by, 1.0) for end in (limit.value, limit.low, limit.high))
    return Estimate(value, low, high, limit.note)


def _from_now(table: pd.DataFrame, now: Estimate) -> pd.DataFrame:
    """Put the intervals of the gains on top of that of the accuracy now, where it has one."""
    if now.low is None or now.high is None:
        return table
    low, high = np.clip(now.low + table.gain_low, 0.0, 1.0), np.clip(now.high + table.gain_high, 0.0, 1.0)
    return table.assign(accuracy=np.minimum(table.accuracy, 1.0), low=low, high=high)


def _expected(curves: Floats, answers: Floats, now: int, doubt: float, level: float) -> pd.DataFrame:
    a, b, c = curves.T[:, :, None]
    values, at_hand = a - b * answers**-c, a - b * float(now) ** -c
    gains, ends = values - at_hand, [0.5 - level / 2, 0.5 + level / 2]
    low, high = np.clip(np.quantile(values[1:], ends, axis=0), 0.0, 1.0)
    least, most = np.quantile(gains[1:], ends, axis=0)
    off = doubt * np.maximum(1.0 - now / answers, 0.0)
    least = np.minimum(least, np.where(answers > now, np.maximum(gains[0] - off, 0.0), least))
    most = np.maximum(most, gains[0] + off)
    counts = np.round(answers).astype(int)
    columns = {"answers": counts, "more": counts - now, "accuracy": values[0], "low": low, "high": high}
    return pd.DataFrame({**columns, "gain": gains[0], "gain_low": least, "gain_high": most})
