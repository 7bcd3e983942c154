"""How often people cannot tell where nothing speaks for any alternative, freed of the press of the penalty.

A ridge presses vectors together, so that alternatives look more alike than they are: a smaller share of people who
cannot tell then explains as many such answers. The fit takes that share, since predictions go by the pressed vectors,
too; but as an estimate it is too small (.36 on average where .40 is true, with 6,000 answers about 15 items; .32 with
1,500). With squared distances, or products, multiplied by the one factor at which the answers are likeliest, the share
that suits them best is right: .40 in both.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from similitude.engine.choice_terms import Picked
from similitude.types import Floats

_SPREAD = 1.0  # of the logarithm of the factor, so that it stays finite where few answers say what it is


def unpressed_share(term: Picked, d2: Floats, own: Floats) -> float:
    """Return the share of "can't tell", the last of a term's own parameters, where squared distances may be stretched.

    All other parameters stay: the shape of the map, who is how sharp and lapses how often.
    """
    prior = term.prior(term.total)

    def lost(point: Floats) -> tuple[float, Floats]:
        stretch, now = np.exp(point[0]), np.append(own[:-1], point[1])
        value, slope, by_own = term.evaluate(stretch * d2, now)
        rate = _SPREAD**-2 / term.total
        by_point = np.array([stretch * (slope @ d2), by_own[-1]]) / term.total
        by_point += np.array([rate * point[0], prior.gradient(now)[-1]])
        return value / term.total + prior.value(now) + 0.5 * rate * point[0] ** 2, by_point

    return float(expit(minimize(lost, np.array([0.0, own[-1]]), jac=True).x[1]))
