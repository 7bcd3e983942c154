"""What is to be made of a rater: three cases that are not to be confused.

*Answers at random*: agrees with the others hardly more than by chance, and not with themselves either, although raters
of so many answers usually do; or answers by the screen or in no time. *Sees things differently*: disagrees with the
others, but is predicted by their own other answers, so there is a mind behind them. *Cannot be told*: too few answers,
too few others, or answers that disagree and are too sparse to say whether they hang together; and everybody, where
raters typically agree with each other no more than chance.

Thresholds were set on simulated studies; `reproduce/rater_verdicts.py` measures what they miss on others and on people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from similitude.graph.repeats import wilson
from similitude.types import Bools, Floats

LIKE, RANDOM, DIFFERENT, UNTOLD = "like the others", "answers at random", "sees things differently", "cannot be told"

ENOUGH = 20  # independent statements below which nobody is judged
FEWEST = 3  # raters with that many statements, below which nobody can say who is the odd one
_CHANCE = 2.6  # standard deviations from one half within which agreement may be chance: all but 1 in 200 clickers
_NEAR = 0.4  # of the way from chance to typical: poor but honest raters lie beyond
_CONTRARY = 4.0  # standard deviations below one half that are no bad luck of a clicker
_OWN_MIND = 2.3  # standard deviations above one half that a clicker reaches once in a hundred times
_OWN_ENOUGH = 10  # coins that a rater's answers to each other are worth, below which they tell nothing
_OWN_LOST = 1.8  # standard deviations below what typical raters predict of themselves

NO_AGREEMENT = "raters agree with each other no more than chance"
MIND = "disagrees with the others, but their own answers hang together"
SEEMS = "disagrees with the others; their own answers seem to hang together, but not beyond doubt"
CONTRARY = "says the contrary of the others: was the question read the wrong way round?"
_NOTES = {
    "few": "too few questions that others answer or imply",
    "none": "no question that others answer or imply",
    "alone": "fewer than three raters to compare: nobody can say who is the odd one",
    "noise": NO_AGREEMENT,
    "sparse": "disagrees with the others; too few answers to say whether they hang together",
    "lost": "agrees with the others hardly more than by chance, and not with their own other answers either",
    "hasty": "agrees with the others hardly more than by chance, and answers much faster than they do",
    "screen": "answers by place on the screen or by a rhythm, not by what is shown",
    "mind": MIND,
    "contrary": CONTRARY,
}


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known about each rater, NaN where nothing.

    Attributes
    ----------
    agreement, statements : with the others, and the independent statements that it rests on
    own, own_statements : how often their own other answers predict an answer, and what that rests on
    hasty, patterned : whether they answer much faster than others, or by the screen
    """

    agreement: Floats
    statements: Floats
    own: Floats
    own_statements: Floats
    hasty: Bools
    patterned: Bools


def with_doubt(note: Sequence[str], clearly: Bools) -> tuple[str, ...]:
    """Return the notes, that answers hang together said with a doubt where it is not clear."""
    return tuple(
        SEEMS if text == MIND and not sure else text for text, sure in zip(note, clearly.tolist(), strict=True)
    )


def with_haste(verdict: Sequence[str], note: Sequence[str], hasty: Bools, seconds: Floats) -> tuple[str, ...]:
    """Return the notes with haste added where a rater is not like the others: it speaks for answers at random."""
    typical = float(np.nanmedian(seconds)) if hasty.any() else np.nan
    said = f"({{:.2g}} s against {typical:.2g} s), which speaks for answers at random"
    return tuple(
        f"{text}; answers much faster than the others {said.format(own)}"
        if fast and what != LIKE and text != _NOTES["hasty"]
        else text
        for what, text, fast, own in zip(verdict, note, hasty.tolist(), seconds.tolist(), strict=True)
    )


def judge(known: Evidence) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the verdict on each rater, and a note on who is not like the others."""
    enough = known.statements >= ENOUGH
    comparable = enough & (enough.sum() >= FEWEST)
    unlike, apart, noise = (np.zeros(len(enough), bool) for _ in range(3))
    if comparable.any():
        noise = comparable & _no_agreement(known.agreement[comparable], known.statements[comparable])
        unlike[comparable], apart[comparable] = _unlike_others(
            known.agreement[comparable], known.statements[comparable]
        )
    mind = wilson(known.own, known.own_statements, _OWN_MIND)[0] > 0.5
    apart = unlike | (apart & mind & _better_by_own(known))
    at_chance = ~(wilson(known.agreement, known.statements, _CHANCE)[0] > 0.5)
    screen = known.patterned & at_chance & ~mind & (known.own_statements >= ENOUGH)
    contrary = unlike & (wilson(known.agreement, known.statements, _CONTRARY)[1] < 0.5)
    cases = [  # the later, the stronger
        (np.ones(len(enough), bool), LIKE, ""),
        (~comparable, UNTOLD, "few"),
        (known.statements == 0, UNTOLD, "none"),
        (enough & ~comparable, UNTOLD, "alone"),
        (noise, UNTOLD, "noise"),
        (apart, UNTOLD, "sparse"),
        (unlike & ~mind & _own_lost(known), RANDOM, "lost"),
        (unlike & ~mind & known.hasty, RANDOM, "hasty"),
        (screen, RANDOM, "screen"),
        (apart & mind, DIFFERENT, "mind"),
        (contrary, DIFFERENT, "contrary"),
    ]
    chosen = [max(k for k, (applies, _, _) in enumerate(cases) if applies[row]) for row in range(len(enough))]
    return tuple(cases[k][1] for k in chosen), tuple(_NOTES.get(cases[k][2], "") for k in chosen)


def _no_agreement(agreement: Floats, statements: Floats) -> bool:
    """Whether the typical rater, the median, agrees with the others no more than chance allows."""
    error = np.sqrt(np.pi / 2 * 0.25 / np.median(statements) / len(statements))
    return bool(np.median(agreement) - 0.5 <= _CHANCE * error)


def _better_by_own(known: Evidence) -> Bools:
    """Return whom their own answers predict clearly better than those of the others do."""
    variance = _variance(known.own, known.own_statements) + _variance(known.agreement, known.statements)
    return known.own - known.agreement > _OWN_MIND * np.sqrt(variance)


def _variance(share: Floats, count: Floats) -> Floats:
    return share * (1 - share) / np.maximum(count, 1)


def _own_lost(known: Evidence) -> Bools:
    """Return whose own answers predict each other far less than is usual among these raters."""
    measured = known.own_statements >= _OWN_ENOUGH
    lost = np.zeros(len(measured), bool)
    if measured.sum() >= FEWEST:
        lost[measured] = _far_below(known.own[measured], known.own_statements[measured], _OWN_LOST)[0]
    return lost


def _unlike_others(agreement: Floats, statements: Floats) -> tuple[Bools, Bools]:
    """Who agrees with the others as little as chance does; and who clearly less than is typical.

    Both by `_far_below` at a level of .05 / raters, so that a study without clickers is unlikely to have anybody named.
    """
    return _far_below(agreement, statements, float(stats.norm.isf(0.05 / len(agreement))))


def _far_below(share: Floats, count: Floats, strict: float) -> tuple[Bools, Bools]:
    """Who is at chance where others are not; and who is below the typical rater by more than chance allows.

    At chance: not beyond it, and less than two fifths of the way from one half to typical. Below: the distance to
    typical exceeds what Wilson's interval, the spread of raters and the error of the median allow together, `strict`
    standard deviations of each. Typical is the median of the raters, the spread beyond sampling comes from the median
    absolute deviation; those at chance are left out of both, until nobody more is.
    """
    half = wilson(share, count, strict)[1] - share
    chance = wilson(share, count, _CHANCE)[0] <= 0.5
    lost, before, below = np.zeros(len(share), bool), -1, np.zeros(len(share), bool)
    while before < lost.sum() <= len(share) / 2:
        before = lost.sum()
        typical, variance = _typical(share[~lost], count[~lost])
        below = typical - share > np.sqrt(half**2 + strict**2 * variance)
        lost |= chance & below & (share - 0.5 < _NEAR * (typical - 0.5))
    return lost, below


def _typical(share: Floats, count: Floats) -> tuple[float, float]:
    """Return the median of the raters, and the variance about it of a rater known exactly."""
    middle = float(np.median(share))
    sampling = float(np.median(share * (1 - share) / count))
    total = (1.4826 * float(np.median(np.abs(share - middle)))) ** 2
    return middle, max(total - sampling, 0.0) + np.pi / 2 * max(total, sampling) / len(share)
