"""Online embedding: positions that follow the answers as they come, in a few microseconds an answer."""

from __future__ import annotations

from dataclasses import field
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from similitude.engine.losses import as_loss
from similitude.engine.online import embedding_steps, keep_answers
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.methods.base import refuse_empty
from similitude.methods.embedding import Embedding
from similitude.methods.online.base import Layout, OnlineEstimator, shape_code
from similitude.methods.online.stream import KnownItems
from similitude.renaming import renamed
from similitude.settings import check_count, check_number, one_of
from similitude.types import Bools, Floats, Ints, Table

_NOISE = 0.1
_LOSSES = ("logistic", "hinge", "probit")
_LARGEST_RATE = 0.25  # beyond it a step throws an item past the one that it is drawn to


@renamed(prior="penalty")
class OnlineEmbedding(OnlineEstimator):
    """Positions learned answer by answer: the online method for live use.

    Each answer moves the three or four items that it names, at O(n_components) cost. With the margin
    m = d2_far - d2_near and its gradient g, the step is t · g, where

    - `loss="logistic"`: t = rate · P(wrong) at the margin after the step, m + t |g|² (an implicit step on STE's loss);
    - `loss="probit"`: the same for answers with normal noise, t = rate · phi/Phi at the margin after the step;
    - `loss="hinge"`: t = min(rate, max(0, 1 - m)/|g|²) (passive-aggressive, PA-I of Crammer et al. 2006).

    The items moved then shrink a little towards the centre, so that over all answers the sum of the losses stands
    against penalty · |X|², the penalty of the batch methods. After each answer `replay` others are drawn from those
    kept and learned again. What is read out is a running average of each item's positions in which step k of an item
    weighs about k^forget: the wandering of single steps averages out, the beginning is forgotten.

    Parameters
    ----------
    n_components : dimensions
    loss : "logistic", "hinge" or "probit" (normal noise); all have probabilities, by one slope fitted on margins
    replay : how many earlier answers are learned again after each new one; more is better and slower
    rate : largest step; "auto" is 0.25/sqrt(1 + replay), at most 0.2
    penalty : strength of the ridge on positions
    init : (n, n_components) positions to start from, those of a pilot study, say; near the centre when not given
    memory : most answers kept for `replay` and `refit`: all until there are more, then a random sample of them
    n_items : number of items; those of the first comparisons when not given
    grow : whether items that are not known yet are appended (else they are refused)
    random_state : seed or generator

    Attributes
    ----------
    embedding_ : (n, n_components) averaged positions, centred, in units in which margins give probabilities
    similarity_ : the model in use, read out when it is asked for
    slope_ : what margins are multiplied with to be log-odds (or standard deviations of the noise, for probit): fitted
        on the latest thousand margins, each taken before its answer was learned
    n_answers_, n_items_ : number of answers learned, of items known

    Examples
    --------
    >>> import similitude as sm
    >>> model = sm.OnlineEmbedding(1, grow=True, random_state=0)
    >>> for answer in [("ant", "bee", "cow"), ("cow", "dog", "ant"), ("bee", "ant", "dog")] * 40:
    ...     model = model.partial_fit([answer])
    >>> model.n_items_, model.neighbors("ant", 1)
    (4, ['bee'])
    """

    _arrays: ClassVar[Layout] = {
        **OnlineEstimator._arrays,
        "_seed": (np.uint64, (1,)),
        "_X": (np.float64, ("items", "components")),
        "_average": (np.float64, ("items", "components")),
        "_touched": (np.int64, ("items",)),
        "_answered": (np.float64, ("items",)),
    }

    n_components: int = field(default=2, kw_only=False)
    loss: Literal["logistic", "hinge", "probit"] = "logistic"
    replay: int = 50
    rate: float | Literal["auto"] = "auto"
    penalty: float = 0.5
    init: Table | None = None
    memory: int = 100_000

    def begin_with(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None, **settings: Any) -> Self:
        """Forget everything, keep these comparisons and fit them as a batch; what comes later is learned one by one.

        For a model that starts with many answers: a million are fitted in seconds, and learned one by one in a minute.

        Parameters
        ----------
        comparisons, y : as for `fit`
        **settings : as for `refit`
        """
        c = as_comparisons(comparisons, y, self.n_items)
        refuse_empty(c)
        self._begin(KnownItems(c.n_items, c.names))
        rows, weight, _ = self._items.read(c, None, grow=False)
        self._make_room(len(rows))
        self.n_answers_ = keep_answers(
            self._touched, self._answered, rows, weight, self._rows, self._weights, 0, self._random, 1 + self.replay
        )
        return self.refit(**settings)

    def refit(self, **settings: Any) -> Self:
        """Fit the answers kept as a batch, started from the positions learned, and go on from there.

        Parameters
        ----------
        **settings : of the batch method, `Embedding` with the same loss: `penalty`, `max_iter`, `tol`, ...; the
            penalty is that of the model · n / (total weight), as online, unless given
        """
        count = min(self.n_answers_, len(self._rows))
        if not count:
            raise ValueError("refit: there are no answers to fit yet")
        used, rows = np.unique(self._rows[:count], return_inverse=True)
        weight = self._weights[:count]
        kept = Comparisons.from_quadruplets(rows.reshape(-1, 4), weight=weight, names=self._labels(used))
        centre = self._average[self._touched > 0].mean(0)
        self._X -= centre
        self._average -= centre
        penalty = self.penalty * len(used) / float(weight.sum())
        defaults = {"penalty": penalty, "init": self._average[used], "n_init": 1}
        batch = Embedding(self.n_components, loss=as_loss(self.loss), **{**defaults, **settings}).fit(kept)
        self._X[used] = batch.embedding_
        self._average[used] = batch.embedding_
        self._recent[:] = 0.0  # margins of the old positions say nothing of the new ones
        self._similarity = None
        return self

    def _labels(self, used: Ints) -> list[str]:
        names = self._items.names
        return [str(k) if names is None else names[k] for k in used.tolist()]

    def _check(self) -> None:
        check_count("n_components", self.n_components)
        check_count("replay", self.replay, 0)
        check_count("memory", self.memory)
        one_of("loss", self.loss, _LOSSES)
        if self.rate != "auto" and not (isinstance(self.rate, Real) and 0 < self.rate <= _LARGEST_RATE):
            raise ValueError(f"rate: expected 'auto' or a number from 0 to {_LARGEST_RATE}, found {self.rate!r}")
        check_number("penalty", self.penalty)

    def _most_kept(self) -> int:
        return self.memory

    def _begin_model(self, n_items: int) -> None:
        self._seed = self._random.copy()
        self._X = self._noise(0, n_items) if self.init is None else self._given(n_items)
        self._average = self._X.copy()
        self._touched = np.full(n_items, int(self.init is not None))
        self._answered = np.zeros(n_items)

    def _add_items(self, count: int) -> None:
        noise = self._noise(len(self._X), count)
        self._X = np.concatenate([self._X, noise])
        self._average = np.concatenate([self._average, noise])
        self._touched = np.concatenate([self._touched, np.zeros(count, np.int64)])
        self._answered = np.concatenate([self._answered, np.zeros(count)])

    def _given(self, n_items: int) -> Floats:
        X = np.array(self.init, float)
        if X.shape != (n_items, self.n_components) or not np.isfinite(X).all():
            raise ValueError(
                f"init: expected finite positions of shape {(n_items, self.n_components)}, found shape {X.shape}"
            )
        return X

    def _noise(self, first: int, count: int) -> Floats:
        """Start positions, by seed and item alone: it does not matter when an item joins."""
        seed, items = int(self._seed[0]), range(first, first + count)
        rows = [np.random.default_rng([seed, item]).normal(size=self.n_components) for item in items]
        return _NOISE * np.array(rows).reshape(count, self.n_components)

    def _learn(self, rows: Ints, weight: Floats) -> None:
        rate = min(0.2, 0.25 / np.sqrt(1.0 + self.replay)) if self.rate == "auto" else float(self.rate)
        self.n_answers_ = embedding_steps(
            self._X, self._average, self._touched, self._answered, rows, weight, self._rows, self._weights,
            self.n_answers_, self._random, self._recent, rate, shape_code(self.loss), float(self.penalty),
            float(min(3 + self.replay, 10)), self.replay,
        )  # fmt: skip

    def _told_of(self) -> Bools:
        return self._touched > 0

    def _positions(self) -> Floats:
        met = self._told_of()
        return (self._average - self._average[met].mean(0)) * met[:, None] if met.any() else 0.0 * self._average
