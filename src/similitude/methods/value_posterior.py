"""How sure the values of dimensions are: Laplace's posterior of each, and which dimensions it says are there.

What answers tell about a value, all others held, is its Fisher information (`compiled_choices.value_information`); with
the ridge, that of a normal prior, it is the precision of the value. Covariances between values are left out, as in VICE
(Muttenthaler et al. 2022), whose variational posterior is a normal for each value: deviations are those of one value
where the others are known. VICE keeps a dimension where enough items (5) have a value above 0 by that posterior, its
p-values corrected for the number of items at a false discovery rate of 5 % (Benjamini & Hochberg 1995).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from similitude.feedback.forms.alternatives import Alternatives
from similitude.types import Floats, Ints

_RATE = 0.05


def deviations(choices: Sequence[Alternatives], X: Floats, precision: float) -> Floats:
    """(n, d) standard deviation of each value, given the precision of its prior."""
    from similitude.engine.compiled_choices import value_information

    told = np.zeros(X.shape)
    for one in choices:
        value_information(np.ascontiguousarray(X), one.pairs, one.picked, one.sign, one.weights, told)
    return 1.0 / np.sqrt(told + precision)


def surely_positive(X: Floats, deviation: Floats) -> Ints:
    """(d,) how many items have a value surely above 0 in each dimension."""
    p = stats.norm.sf(X / deviation)
    return (stats.false_discovery_control(p, axis=0) < _RATE).sum(axis=0) if p.size else np.zeros(X.shape[1], int)
