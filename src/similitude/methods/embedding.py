"""Embedding: the recipe of ordinal embedding open to a loss, a penalty and a model of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from similitude.engine.losses import LossLike, as_loss
from similitude.engine.models import Model
from similitude.engine.penalties import Penalty
from similitude.engine.terms import ComparisonLoss
from similitude.methods.ordinal_base import OrdinalEmbedding

ModelLike = Literal["positions"] | Model | Callable[[int, int], Model]


class Embedding(OrdinalEmbedding):
    """Ordinal embedding with a loss of your choice: positions such that the pairs judged more alike lie closer.

    Minimises the mean over comparisons of shape(scale(d2_far) - scale(d2_near)) plus penalty · |X|²/n. `STE`, `TSTE`,
    `CKL`, `SOE` and `GNMDS` are this with their losses.

    Parameters
    ----------
    n_components : dimensions of the embedding
    loss : "ste" (or "logistic"), "tste", "ckl", "soe", "gnmds" (or "hinge"), "probit" (answers with normal noise:
        Thurstone's case V), a shape of your own, or a pair `(scale, shape)`: each a name, a function
        `(array, parameter) -> value, slope, curvature`, or one of these with the number for its parameter. Scales are
        "squared", "student", "logarithm" and "distance", shapes "logistic", "probit", "hinge" and "squared_hinge". A
        `ComparisonLoss` will do, too. Where e^-shape(m) + e^-shape(-m) = 1 the model gives probabilities.
    model : "positions", or a model of `similitude.engine.models` for the items at hand, or a function
        `(n_items, n_components) -> model`
    penalty : "auto" or the strength of the ridge on positions, as of `STE`; or a penalty on the model's parameters, of
        `similitude.engine.penalties`: where that is not smooth, solver="auto" takes proximal steps

    Attributes
    ----------
    embedding_ : (n, d) positions, centred; with "positions" an item never compared stands at the centre, with another
        model where that puts it
    penalty_ : the strength that was used; NaN where a penalty of the engine was given

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 600, random_state=0)
    >>> model = sm.Embedding(2, loss="probit", random_state=0).fit(answers)
    >>> model.embedding_.shape, model.score(answers) > 0.9, model.predict_proba(answers).shape
    ((12, 2), True, (600, 2))
    """

    loss: LossLike = "ste"
    model: ModelLike = "positions"
    penalty: float | Literal["auto"] | Penalty = "auto"  # type: ignore[assignment]  # wider than a ridge's strength

    def comparison_loss(self) -> ComparisonLoss:
        """Return the loss with its parameters."""
        return as_loss(self.loss, self.n_components)

    def items_model(self, n_items: int) -> Model:
        """Return the model of so many items."""
        if isinstance(self.model, str):
            return super().items_model(n_items)
        model = self.model(n_items, self.n_components) if callable(self.model) else self.model
        if not isinstance(model, Model):
            raise ValueError(f"model: expected 'positions' or a model of similitude.engine.models, found {model!r}")
        if model.n_items != n_items:
            raise ValueError(f"model: it is of {model.n_items} items, but the comparisons are about {n_items}")
        return model

    def priced(self, count: int, weight: float) -> Penalty:
        """Return the penalty for so many items compared and comparisons of this total weight; keep its strength."""
        if not isinstance(self.penalty, Penalty):
            return super().priced(count, weight)
        self.penalty_ = float("nan")
        return self.penalty

    def _where(self, n_comparisons: int) -> str:
        if isinstance(self.model, str) and not isinstance(self.penalty, Penalty):
            return super()._where(n_comparisons)
        if self.device not in ("auto", "cpu"):
            raise ValueError(f"device: {self.device!r} is for free positions with a ridge; use device='cpu' here")
        return "cpu"

    def _check(self) -> None:
        super()._check()
        if isinstance(self.model, str) and self.model != "positions":
            raise ValueError(
                f"model: expected 'positions' or a model of similitude.engine.models, found {self.model!r}"
            )
        self.comparison_loss()

    def _check_penalty(self) -> None:
        if not isinstance(self.penalty, Penalty):
            super()._check_penalty()
