"""When to stop: what more answers would gain, from the accuracy so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

from similitude.display.estimate import Estimate
from similitude.evaluate.ceiling import sentence_above

_FEWEST_POINTS = 4
_MORE = 0.5  # the step that is looked ahead: half as many answers again
_LITTLE, _MUCH = 0.005, 0.015
_WIDEST = 0.2  # an interval of the ceiling that is wider says nothing
_HORIZON = 4.0  # points from before a quarter of the answers say little about how it goes on


@dataclass(frozen=True)
class CurvePoint:
    """Held-out accuracy after a number of answers, with its interval."""

    answers: int
    accuracy: float
    low: float
    high: float
    tested: int


@dataclass(frozen=True)
class Advice:
    """What to do, in a sentence, and the figures behind it; None where they cannot be told yet.

    Attributes
    ----------
    sentence : for the person who watches
    verdict : "early", "go_on", "slow" or "stop"
    more : number of further answers that is looked ahead
    gain, gain_high : accuracy that they would add, and the most that is likely
    """

    sentence: str
    verdict: str
    more: int | None = None
    gain: float | None = None
    gain_high: float | None = None


def advise(points: Sequence[CurvePoint], ceiling: Estimate) -> Advice:
    """Say what further answers would gain.

    The curve is taken to be  accuracy(n) = a - b / sqrt(n)  with b >= 0, and a no more than the noise ceiling allows:
    the error of an estimate from n answers falls like 1/sqrt(n), and what it costs in accuracy falls no slower. It is
    fitted to the points since a quarter of the answers, weighted by their intervals. The points share their test
    answers, so that the interval of the gain is the fit's own scatter, not a proof.
    """
    if not points:
        return Advice("Too early to tell: no accuracy on held-out answers yet.", "early")
    last = points[-1]
    recent = [point for point in points if point.answers * _HORIZON >= last.answers]
    if len(recent) < _FEWEST_POINTS:
        said = f"Too early to tell how much more answers would gain. {_ceiling(ceiling, last.accuracy)}"
        return Advice(said, "early")
    more = _round(_MORE * last.answers)
    gain, high = _gain(recent, last.answers, more, ceiling)
    verdict = "go_on" if gain >= _MUCH else "stop" if max(gain, high / 2) < _LITTLE else "slow"
    said = f"{_said(more, gain, high, verdict)} {_ceiling(ceiling, last.accuracy)}"
    return Advice(said, verdict, more, gain, high)


def _gain(points: Sequence[CurvePoint], now: int, more: int, ceiling: Estimate) -> tuple[float, float]:
    """Gain of further answers, and its upper bound (one-sided, 95 %)."""
    x = np.array([point.answers for point in points], float) ** -0.5
    y = np.array([point.accuracy for point in points])
    width = np.array([max(point.high - point.low, 1e-3) for point in points])
    most = 1.0 if ceiling.high is None else max(ceiling.high, float(y[-1]))
    design = np.column_stack([np.ones_like(x), -x]) / width[:, None]
    fit = optimize.lsq_linear(design, y / width, bounds=([0.0, 0.0], [most + 1e-9, np.inf]))
    step = now**-0.5 - (now + more) ** -0.5
    free = max(len(points) - 2, 1)
    scatter = 2 * float(fit.cost) / free
    spread = float(np.sqrt(scatter * np.linalg.pinv(design.T @ design)[1, 1]))
    slope = float(fit.x[1])
    return slope * step, (slope + float(stats.t.ppf(0.95, free)) * spread) * step


def _said(more: int, gain: float, high: float, verdict: str) -> str:
    points = f"{100 * gain:.1f}"
    ahead = f"About {more:,} more answers would gain {points} points of accuracy"
    if verdict == "stop":
        return f"{ahead}: little is left to learn, you may stop."
    if verdict == "slow":
        return f"{ahead} (at most {100 * high:.1f}): it still improves, slowly."
    return f"{ahead}: it pays to go on."


def _ceiling(ceiling: Estimate, accuracy: float) -> str:
    if ceiling.value is None:
        return f"The noise ceiling cannot be told: {ceiling.note}."
    low, high = (f"{100 * bound:.0f}" for bound in (ceiling.low or 0.5, ceiling.high or 1.0))
    if not is_known(ceiling):
        return f"The noise ceiling is not known well yet: {low} to {high}%."
    said = f"The noise ceiling is {100 * ceiling.value:.0f}% ({low} to {high}%)."
    return f"{said} {sentence_above(accuracy, ceiling)}".rstrip()


def is_known(ceiling: Estimate) -> bool:
    """Whether enough was answered twice to say something about the ceiling."""
    return ceiling.low is not None and ceiling.high is not None and ceiling.high - ceiling.low <= _WIDEST


def _round(number: float) -> int:
    """To two digits, and never 0."""
    size = 10 ** max(int(np.floor(np.log10(max(number, 1)))) - 1, 0)
    return max(int(round(number / size) * size), 1)
