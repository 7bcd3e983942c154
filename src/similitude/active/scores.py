"""What the answer to a question is worth: the closed-form information gain, and the plain uncertainty.

A scorer values comparisons (`of`), and all pairs of a head at once (`table`); the forms of question are built on these
two in `active.proposals`. One that knows what a whole answer is worth says so by `of_choices`. Scores are in bits.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from similitude.active.answer_gain import AnswerGain
from similitude.active.asked import Asked
from similitude.active.posterior import Posterior
from similitude.feedback.forms.alternatives import Alternatives
from similitude.types import Array, Floats

_KAPPA, _C2 = np.pi / 8.0, np.pi * np.log(2.0) / 2.0


def entropy(probability: Floats) -> Floats:
    """h(p) = -p log2 p - (1 - p) log2(1 - p), 0 at both ends."""
    p = np.clip(probability, 1e-300, 1.0)
    q = np.clip(1.0 - probability, 1e-300, 1.0)
    return -p * np.log2(p) - (1.0 - p) * np.log2(q)


def information_gain(mean: Floats, variance: Floats) -> Floats:
    """Bits that the answer tells about the positions, when the logit is normal (BALD; Houlsby et al. 2011).

    h(E p) - E h(p) with p = 1/(1 + e^-z), z ~ N(m, v): the logistic function as a normal one of variance 1/k, k = pi/8,
    and h(Phi(x)) as exp(-x²/(2 C²)), C² = pi ln 2 / 2, give

    exp(-k m² / (2 C² (1 + k v))) - sqrt(C²/(k v + C²)) · exp(-k m² / (2 (k v + C²)))
    """
    m2, v = _KAPPA * mean**2, _KAPPA * variance
    return np.exp(-m2 / (2.0 * _C2 * (1.0 + v))) - np.sqrt(_C2 / (v + _C2)) * np.exp(-m2 / (2.0 * (v + _C2)))


class InformationGain:
    """Expected bits about the positions of all items in the question, under the Laplace posterior.

    `best_pair` is exact: pairs are passed over only where a bound shows that they cannot be the best
    (`compiled.best_pair`).
    """

    name = "information_gain"

    def __init__(self, posterior: Posterior) -> None:
        self.posterior = posterior

    def of(self, near: Array, far: Array) -> Floats:
        """Score of each comparison."""
        return information_gain(*self.posterior.logits(near, far))

    def table(self, head: int) -> Floats:
        """(n, n) symmetric scores of the pairs of a head."""
        from similitude.active.compiled import head_gains

        level, F, q = self.posterior.of_head(head)
        out = np.empty((len(level), len(level)))
        head_gains(level, F, q, out)
        return out

    def best_pair(self, head: int, asked: Asked) -> tuple[int, int, float] | None:
        """The best pair of a head that was not asked, and its score; None where all were."""
        from similitude.active.compiled import best_pair

        level, F, q = self.posterior.of_head(head)
        reach = 2.0 * ((F - F.mean(0)) ** 2).sum(1) + q
        items = np.argsort(-reach, kind="stable")
        items = items[items != head]
        banned = np.append(asked.pairs_of_head(head), len(level))
        first, second, score = best_pair(items, level[items], F[items], q[items], reach[items], banned)
        return None if first < 0 else (first, second, score)

    def learn(self, near: Array, far: Array) -> None:
        """Count comparisons as answered."""
        self.posterior.learn(near, far)

    @cached_property
    def _answers(self) -> AnswerGain:
        return AnswerGain(self.posterior)

    def of_choices(self, choices: Alternatives) -> Floats:
        """Score of each choice among alternatives, taken as one answer."""
        return self._answers.of(choices.pairs, choices.sign, choices.picked)

    def learn_choices(self, choices: Alternatives) -> None:
        """Count choices as made."""
        self.posterior.learn_choices(choices)


class AnswerEntropy:
    """Entropy of the answer at the fitted positions: asks what the model calls a coin toss, noise or ignorance."""

    name = "uncertainty"

    def __init__(self, posterior: Posterior) -> None:
        self.posterior, self.loss = posterior, posterior.loss

    def of(self, near: Array, far: Array) -> Floats:
        """Score of each comparison."""
        return entropy(self.loss.probability(*(self.posterior.values(pairs) for pairs in (near, far))))

    def table(self, head: int) -> Floats:
        """(n, n) symmetric scores of the pairs of a head."""
        others = np.arange(len(self.posterior.positions))
        level = self.loss.scale(self.posterior.values(np.column_stack([np.full(len(others), head), others])))[0]
        return entropy(self.loss.shape.probability(level - level[:, None]))

    def learn(self, near: Array, far: Array) -> None:
        """Nothing: the fitted positions stay where they are until the next fit."""
