"""When to stop: what more answers would gain, how sure that is, and what to make of it.

One rule, for the page of a study that runs and for the report of its answers: whatever measured the gain, the same
figures lead to the same words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from similitude.display.estimate import Estimate
from similitude.display.words import counted
from similitude.evaluate.ceiling import sentence_above
from similitude.evaluate.saturation import fit_curves

FEWEST_POINTS = 4
"""Accuracies after different numbers of answers that a curve takes."""

HORIZON = 4.0
"""Points from before a quarter of the answers say little about how it goes on."""

LEVEL = 0.95
"""Of intervals of gains."""

_MORE = 0.5  # the step that is looked ahead: half as many answers again
_LITTLE, _MUCH = 0.005, 0.015
_WIDEST = 0.2  # an interval of the ceiling that is wider says nothing
# Half of the interval of a measured gain of half as many answers again, as a share of half of that of the accuracy. In
# simulated studies (12 and 30 items, 120 to 1,000 answers) it was .22 to .26 once the map had its shape, .34 and .48
# before.
_DOUBT = 0.25


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
    sentence : for the person who reads it
    short : the same without the noise ceiling
    verdict : "early", "go_on", "slow" or "stop"
    more : number of further answers that is looked ahead
    gain, gain_low, gain_high : accuracy that they would add, with its interval
    """

    sentence: str
    short: str
    verdict: str
    more: int | None = None
    gain: float | None = None
    gain_low: float | None = None
    gain_high: float | None = None


def doubt(accuracy: float, tested: int, share: float = 1.0 / 3, level: float = LEVEL) -> float:
    """Return how far a measured gain may be off by the answers that happened to be tested: half of its interval.

    Accuracies of few answers are uncertain, and so are differences between them, however smooth their curve looks: all
    its points are of the same answers.

    Parameters
    ----------
    accuracy, tested : of the answers at hand, and on how many of them
    share : 1 - n/m of a step from n to m answers, by which the gain grows; that of half as many again by default
    level : of the interval
    """
    half = float(stats.norm.ppf(0.5 + level / 2)) * np.sqrt(max(accuracy * (1 - accuracy), 0.0) / max(tested, 1))
    return float(_DOUBT * 3 * share * half)


def advise(points: Sequence[CurvePoint], ceiling: Estimate) -> Advice:
    """Say what further answers would gain, by accuracies that were measured as the answers came.

    The curve is taken to be  accuracy(n) = a - b · n^-c  as `more_answers` does, with b >= 0 and a no more than the
    noise ceiling allows. It is fitted to the points since a quarter of the answers, weighted by their intervals. The
    interval of the gain is the fit's own scatter, but never less than `doubt`.
    """
    if not points:
        said = "Too early to tell: no accuracy on held-out answers yet."
        return Advice(said, said, "early")
    last = points[-1]
    recent = [point for point in points if point.answers * HORIZON >= last.answers]
    if len(recent) < FEWEST_POINTS:
        said = "Too early to tell how much more answers would gain."
        return Advice(f"{said} {_ceiling(ceiling, last.accuracy)}", said, "early")
    more = _round(_MORE * last.answers)
    gain, low, high = _gain(recent, last.answers, more, ceiling)
    off = doubt(last.accuracy, last.tested)
    low, high = max(min(low, gain - off), 0.0), max(high, gain + off)
    return weighed(last, more, (gain, low, high), ceiling)


def weighed(
    now: CurvePoint, more: int, gain: tuple[float, float, float], ceiling: Estimate, level: float = LEVEL
) -> Advice:
    """Return what to make of a gain that was measured: the one rule.

    It is too early where the gain may be hardly anything (half a point) as well as much (one and a half); else much
    says go on, and hardly anything that is surely less than a point says stop.

    Parameters
    ----------
    now : the accuracy of the answers at hand; tested are those to questions drawn evenly
    more : further answers
    gain : what these would add, with the ends of its interval, `doubt` in it
    ceiling : the noise ceiling
    level : of the interval
    """
    verdict = _verdict(*gain)
    said = _said(now, more, gain, verdict, level)
    return Advice(f"{said} {_ceiling(ceiling, now.accuracy)}", said, verdict, more, *gain)


def _verdict(gain: float, low: float, high: float) -> str:
    if low < _LITTLE and high >= _MUCH:
        return "early"
    if gain >= _MUCH:
        return "go_on"
    return "stop" if gain < _LITTLE and high < 2 * _LITTLE else "slow"


def _gain(points: Sequence[CurvePoint], now: int, more: int, ceiling: Estimate) -> tuple[float, float, float]:
    """Gain of further answers with its interval."""
    size = np.array([point.answers for point in points], float)
    y = np.array([point.accuracy for point in points])
    width = np.array([max(point.high - point.low, 1e-3) for point in points])
    most = 1.0 if ceiling.high is None else max(ceiling.high, float(y[-1]))
    a, slope, c = fit_curves(size, y[None], 1.0 / width**2, (0.0, most))[0].tolist()
    x = size**-c
    design = np.column_stack([np.ones_like(x), -x]) / width[:, None]
    free = max(len(points) - 2, 1)
    scatter = float((((y - a + slope * x) / width) ** 2).sum()) / free
    spread = float(np.sqrt(scatter * np.linalg.pinv(design.T @ design)[1, 1]))
    step, off = now**-c - (now + more) ** -c, float(stats.t.ppf(0.5 + LEVEL / 2, free)) * spread
    return slope * step, max(slope - off, 0.0) * step, (slope + off) * step


def _said(now: CurvePoint, more: int, gain: tuple[float, float, float], verdict: str, level: float) -> str:
    value, low, high = (f"{100 * share:.1f}" for share in gain)
    between = f"{low} to {high}"
    if verdict == "early":
        tested = counted(now.tested, "answer") + (" to evenly drawn questions" if now.tested < now.answers else "")
        return (
            f"Too early to tell what more answers would gain: about {more:,} more might bring {between} points of "
            f"accuracy, which {tested} cannot tell apart."
        )
    ahead = f"About {more:,} more answers would gain {value} points of accuracy ({level:.0%} interval {between})"
    if verdict == "stop":
        return f"{ahead}: little is left to learn, you may stop."
    return f"{ahead}: {'it still improves, slowly' if verdict == 'slow' else 'it pays to go on'}."


def _ceiling(ceiling: Estimate, accuracy: float) -> str:
    if ceiling.value is None:
        why = ceiling.note.partition(": ")[0]  # what follows says once more that it cannot be told
        return f"The noise ceiling cannot be told: {why}."
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
