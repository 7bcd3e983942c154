"""Ordinal embedding: positions for items such that the pairs judged more alike lie closer.

All five minimise  mean over comparisons of shape(scale(d2_far) - scale(d2_near)) + penalty · |X|²/n  over positions
X (n × d); they differ in the scale and the shape (`engine.terms`):

| method | scale(t) | shape(m) | when |
|---|---|---|---|
| `STE` | t | log(1 + e^-m) | many answers; a probability for each |
| `TSTE` | (alpha+1)/2 · log(1 + t/alpha) | log(1 + e^-m) | few answers, clusters |
| `CKL` | log(mu + t) | log(1 + e^-m) | few answers, a good default for people's answers |
| `SOE` | sqrt(t) | max(0, delta - m)² | clean or mildly noisy answers, fast |
| `GNMDS` | t | max(0, 1 - m) | noisy answers |

Examples
--------
>>> import similitude as sm
>>> c = sm.simulate([[0.0], [1.0], [3.0], [7.0]], 200, random_state=0)
>>> sm.STE(n_components=1, random_state=0).fit(c).score(c) > 0.9
True
"""

from __future__ import annotations

import numpy as np

from similitude.engine.losses import as_loss
from similitude.engine.terms import ComparisonLoss, Formula, distance, logarithm, logistic, squared_hinge, student
from similitude.methods.ordinal_base import OrdinalEmbedding


class STE(OrdinalEmbedding):
    """Stochastic triplet embedding (van der Maaten & Weinberger 2012): P(answer) = 1/(1 + exp(d2_near - d2_far)).

    The loss is -log P, scale(t) = t. For many answers; it gives a probability for each.

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, names=list("abcdefghijkl"), random_state=0)
    >>> train, test = answers.split(0.2, random_state=0)
    >>> model = sm.STE(n_components=2, random_state=0).fit(train)
    >>> model.embedding_.shape, model.score(test) > 0.8
    ((12, 2), True)
    >>> len(model.neighbors("a", k=3)), model.predict_proba(test).shape
    (3, (120, 2))
    """

    def comparison_loss(self) -> ComparisonLoss:
        """-log P of the answer."""
        return as_loss("ste")


class TSTE(OrdinalEmbedding):
    """t-distributed STE (van der Maaten & Weinberger 2012): similarity is (1 + d2/alpha)^(-(alpha+1)/2).

    P(answer) = its share for the near pair, so scale(t) = (alpha+1)/2 · log(1 + t/alpha). For few
    answers, and items in clusters.

    Parameters
    ----------
    alpha : degrees of freedom of the Student kernel: the smaller, the heavier its tails; max(n_components - 1, 1) when
        not given

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> model = sm.TSTE(n_components=2, alpha=1.0, random_state=0).fit(answers)
    >>> model.embedding_.shape, model.score(answers) > 0.8
    ((12, 2), True)
    """

    alpha: float | None = None

    def comparison_loss(self) -> ComparisonLoss:
        """-log P of the answer."""
        alpha = max(self.n_components - 1, 1) if self.alpha is None else self.alpha
        return ComparisonLoss(Formula(student, positive(alpha, "alpha")), Formula(logistic))


class CKL(OrdinalEmbedding):
    """Crowd kernel learning (Tamuz et al. 2011): P(answer) = (mu + d2_far)/(2 mu + d2_near + d2_far).

    That is a logistic loss with scale(t) = log(mu + t). The paper's constraint diag K = 1 is replaced by the ridge.
    For few answers, and a good default for people's answers.

    Parameters
    ----------
    mu : keeps the ratio of squared distances finite: below it, all distances count as equally small

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> model = sm.CKL(n_components=2, mu=0.1, random_state=0).fit(answers)
    >>> model.embedding_.shape, model.score(answers) > 0.8
    ((12, 2), True)
    """

    mu: float = 0.05

    def comparison_loss(self) -> ComparisonLoss:
        """-log P of the answer."""
        return ComparisonLoss(Formula(logarithm, positive(self.mu, "mu")), Formula(logistic))


class SOE(OrdinalEmbedding):
    """Soft ordinal embedding (Terada & von Luxburg 2014): max(0, delta + d_near - d_far)² on distances.

    scale(t) = sqrt(t + 1e-6) - sqrt(1e-6). For clean or mildly noisy answers; fast.

    Parameters
    ----------
    delta : the margin by which the far pair should be farther; it sets the size of the map

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> model = sm.SOE(n_components=2, delta=0.5, random_state=0).fit(answers)
    >>> model.embedding_.shape, model.score(answers) > 0.9
    ((12, 2), True)
    """

    delta: float = 1.0

    def comparison_loss(self) -> ComparisonLoss:
        """Squared shortfall of the margin delta."""
        return ComparisonLoss(Formula(distance, 1e-6), Formula(squared_hinge, positive(self.delta, "delta")))


class GNMDS(OrdinalEmbedding):
    """Generalised non-metric multidimensional scaling (Agarwal et al. 2007), in its embedding form.

    The loss is max(0, 1 + d2_near - d2_far), rounded over a width of 0.3 for the smooth solvers. For noisy
    answers.

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> model = sm.GNMDS(n_components=2, random_state=0).fit(answers)
    >>> model.embedding_.shape, model.score(answers) > 0.9
    ((12, 2), True)
    """

    def comparison_loss(self) -> ComparisonLoss:
        """Shortfall of the unit margin."""
        return as_loss("gnmds")


def positive(value: float, argument: str) -> float:
    """Return a parameter that must be a positive number."""
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{argument}: expected a positive number, found {value!r}")
    return float(value)
