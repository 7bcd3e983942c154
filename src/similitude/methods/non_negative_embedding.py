"""Dimensions with a meaning of their own: vectors that are never negative, from answers as they were given.

    min over X >= 0 of   mean of -log P(answer) + penalty · ((1 - l1_ratio) · |X|² + l1_ratio · sum X) / n

P is the softmax over what could have been picked, by the dot products of vectors (`engine.choice_terms`): two items are
alike by what both have. Products do not change when vectors are turned, but turned vectors are negative somewhere, so
that the bound gives the dimensions themselves a meaning, and makes half of the values 0.

SPoSE (Zheng, Pereira, Baker & Hebart 2019; Hebart et al. 2020) has the price of the sum alone, at one strength for all
sizes of data; VICE (Muttenthaler et al. 2022) a prior of two normals for each value, and a variational posterior. Here
nine tenths of the price are a ridge, and its strength is half of that at which answers by chance teach vectors without
a bound nothing (`engine.noise`). Both were chosen on validation answers of THINGS (log-loss, accuracy, and how many
dimensions come again): the price of the sum alone either leaves nothing or learns noise, and the ridge alone leaves
dimensions by the dozen, of which a half does not come again. Of several starts those dimensions are kept that come
from each (`methods.non_negative_fits`); how many help, whether they are fitted again at a lower price, and what
products are multiplied by, is asked of held-out answers (`methods.held_out_dimensions`).

With features Φ the ridge is on what these do not say, penalty · |X - Φ N|²/n + map_penalty · |N|²/n at the best map N
(`engine.penalties.BesideFeatures`), and a new item's values are those of max(0, Φ N): DimPred's use.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from similitude.engine.choice_terms import Picked
from similitude.engine.devices import backend_on, choose_device
from similitude.engine.feature_checks import row_names
from similitude.engine.measures import SignedProduct
from similitude.engine.noise import noise_level
from similitude.engine.penalties import BesideFeatures, NonNegative
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.terms import ComparisonLoss, Formula, logistic
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike
from similitude.feedback.forms.alternatives import Alternatives
from similitude.feedback.whole_answers import choices_of
from similitude.kernels.base import Kernel
from similitude.kernels.modalities import Features
from similitude.methods.dimension_columns import dimension_names
from similitude.methods.feature_base import FeatureEstimator, Feedback
from similitude.methods.feature_warnings import warn_of_order_and_units
from similitude.methods.held_out_dimensions import MANY, asked_for
from similitude.methods.modalities import Modality, per_modality, side_by_side, whitened
from similitude.methods.non_negative_fits import LEVEL, Fits
from similitude.methods.placement import features_by_name
from similitude.methods.similarity import Similarity
from similitude.methods.value_placement import place_values
from similitude.methods.value_posterior import deviations, surely_positive
from similitude.settings import check_count, check_number
from similitude.types import Array, Floats, Seed

if TYPE_CHECKING:
    import pandas as pd

_PRICE = 0.5  # of the noise level of vectors without a bound: where dimensions are found
_LEVELS = (1.0, 0.7, 0.5, 0.35, 0.25, 0.12, 0.06, 0.03)  # of that: where they may be fitted again
_START = 0.4  # the largest value at the start
_WIDER, _WIDE = 4, 40  # fits begin with more dimensions than are kept: as many as there are would each end elsewhere


class NonNegativeEmbedding(FeatureEstimator):
    """Dimensions that are never negative, mostly 0, and by which people seem to go: "metallic", "food", "animal".

    Parameters
    ----------
    n_components : most dimensions; those that the answers do not ask for are left out
    penalty : price of the values; "auto" is by the strength at which answers by chance would teach nothing
    l1_ratio : which share of the price is on the sum of the values (in SPoSE all of it); the rest is on their squares
    scale : what products are multiplied by at the end, since the price presses them together: a number, or "auto", by
        answers that are held out, which also say how many dimensions help
    n_init : starts; of several, dimensions are kept that come from each of them
    min_items : a dimension is kept where at least so many items have a value surely above 0, by its deviation at a
        false discovery rate of 5 % (VICE's rule, with 5); 0 keeps all
    map_penalty : price of the map, with features; "auto" is as for `penalty`
    n_items : number of items, where it is more than the comparisons show
    device : "cpu", "cuda" (a GPU, through torch, in 32-bit numbers), or "auto": a GPU where there is one and there are
        comparisons enough to pay for the way there
    random_state : seed or generator, of the noise level and the start
    max_iter : most iterations
    tol : stop when an iteration gains less than this share of the objective

    Attributes
    ----------
    embedding_ : (n, d) the values, never negative, dimensions from the heaviest to the lightest
    deviation_ : (n, d) standard deviation of each value, all others held (Laplace's posterior, its diagonal alone)
    n_dimensions_ : how many dimensions there are, d; 0 where the answers teach nothing
    penalty_, map_penalty_, scale_ : the penalties and the scale that were used
    similarity_ : the fitted model in use
    reproducibility_ : the table of `dimension_reproducibility`, where dimensions that do not come again were left out
        by its `keep`; else None
    objective_ : value of the objective
    n_iter_, status_ : iterations, and how the solver ended ("converged", "max_iter", "stalled")

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.kron(np.eye(3), np.ones((6, 1))) * 2
    >>> rng = np.random.default_rng(0)
    >>> shown = np.array([rng.choice(18, 3, replace=False) for _ in range(1500)])
    >>> value = (truth @ truth.T)[shown[:, [1, 0, 0]], shown[:, [2, 2, 1]]] + rng.gumbel(size=shown.shape)
    >>> answers = sm.Comparisons.from_odd_one_out(shown, value.argmax(1))
    >>> model = sm.NonNegativeEmbedding(10, random_state=0).fit(answers)
    >>> model.n_dimensions_, bool((model.embedding_ >= 0).all())
    (3, True)
    """

    features_optional = learns_rank = learns_penalty = True

    reproducibility_: pd.DataFrame | None = field(init=False)
    _per_item: NonNegative = field(init=False)  # price of the values against the sum of the losses

    n_components: int = field(default=60, kw_only=False)
    penalty: float | Literal["auto"] = "auto"
    l1_ratio: float = 0.1
    scale: float | Literal["auto"] = "auto"
    n_init: int = 3
    min_items: int = 0
    map_penalty: float | Literal["auto"] = "auto"
    n_items: int | None = None
    device: str = "auto"
    random_state: Seed = None
    max_iter: int = 1000
    tol: float = 1e-8

    def _check(self) -> None:
        check_count("n_components", self.n_components)
        check_count("n_init", self.n_init)
        check_count("min_items", self.min_items, least=0)
        check_count("max_iter", self.max_iter)
        check_number("tol", self.tol)
        check_number("penalty", self.penalty, positive=True, also="auto")
        check_number("map_penalty", self.map_penalty, positive=True, also="auto")
        check_number("scale", self.scale, positive=True, also="auto")
        check_number("l1_ratio", self.l1_ratio)
        if not 0.0 <= self.l1_ratio <= 1.0:
            raise ValueError(f"l1_ratio: expected a share from 0 to 1, found {self.l1_ratio}")

    def _modality(self) -> Callable[[Kernel], Modality]:
        return whitened

    def _read_features(self, features: Any, c: Comparisons) -> tuple[dict[str, Modality], Comparisons]:
        found, c = super()._read_features(features, c)
        if found:
            warn_of_order_and_units(features, {name: one.kernel for name, one in found.items()}, c)
        return found, c

    def _fit(self, feedback: Feedback, callback: Callback | None) -> None:
        rng, n, c = np.random.default_rng(self.random_state), feedback.graph.n_items, feedback.comparisons
        choices = choices_of(c)
        columns = np.hstack([side_by_side(self.modalities_), np.ones((n, 1))]) if self.modalities_ else None
        self.penalty_, self.map_penalty_ = self._strengths(Picked(LEVEL, choices), columns, n, rng)
        backend = backend_on(choose_device(self.device, len(c)))
        levels = _LEVELS if self.penalty == "auto" and self.scale == "auto" else (1.0,)
        prices = [self._price(columns, level, feedback.n_compared) for level in levels]
        settings = {"max_iter": self.max_iter, "tol": self.tol, "callback": callback}
        wide = max(self.n_components, min(_WIDER * self.n_components, _WIDE))
        shape, there = (n, wide), feedback.compared[:, None]
        starts = [rng.uniform(0.0, _START, shape) * there for _ in range(self.n_init)]
        asked = asked_for(
            choices,
            lambda some: Fits.on(backend, some, prices, **settings).rough,
            starts[0],
            len(prices),
            rng,
            None if self.scale == "auto" else float(self.scale),
        )
        starts[0] = asked.found if c.n_answers > MANY else starts[0]
        most = self.n_components if asked.count is None else min(asked.count, self.n_components)
        X, best = Fits.on(backend, choices, prices, **settings).whole(starts, asked.price, most)
        level = levels[asked.price]
        self.scale_, self.penalty_, self.map_penalty_ = asked.scale, level * self.penalty_, level * self.map_penalty_
        self._keep(X, best, prices[asked.price], feedback, choices)

    def _strengths(self, term: Picked, columns: Floats | None, n: int, rng: np.random.Generator) -> tuple[float, float]:
        """Prices of the values and of the map: those given, else by the noise level; without a map it has none."""
        free = _PRICE * noise_level(term, n, True, rng=rng) if self.penalty == "auto" else float(self.penalty)
        if columns is None:
            return free, float("nan")
        if self.map_penalty != "auto":
            return free, float(self.map_penalty)
        return free, _PRICE * noise_level(term, n, True, columns[:, :-1], rng=rng)

    def _price(self, columns: Floats | None, level: float, count: int) -> NonNegative:
        rate = level * self.penalty_ / count
        ridge, strength = (1.0 - self.l1_ratio) * rate, self.l1_ratio * rate
        if columns is None:
            return NonNegative(strength, ridge)
        return BesideFeatures(columns, ridge, level * self.map_penalty_ / count, strength)

    def _keep(
        self, X: Floats, best: Result, price: NonNegative, feedback: Feedback, choices: Sequence[Alternatives]
    ) -> None:
        X, total = self.scale_**0.5 * X, sum(float(one.weights.sum()) for one in choices)
        self._per_item = NonNegative(total * price.rate / self.scale_**0.5, total * price.ridge / self.scale_)
        deviation = deviations(choices, X, 2.0 * self._per_item.ridge)
        if self.min_items:
            kept = surely_positive(X, deviation) >= self.min_items
            X, deviation = np.ascontiguousarray(X[:, kept]), deviation[:, kept]
        self.deviation_, self.n_dimensions_, self.reproducibility_ = deviation, X.shape[1], None
        N = price.map_of(X) if isinstance(price, BesideFeatures) else None
        self.maps_ = {} if N is None else per_modality(self.modalities_, N[:-1])
        self.origin_ = np.zeros(X.shape[1]) if N is None else -N[-1]
        loss, form = ComparisonLoss(LEVEL, Formula(logistic)), SignedProduct(X, -np.ones(X.shape[1]))
        self.similarity_ = self._in_use(X, loss, feedback.comparisons.names, form=form)
        self.objective_, self.n_iter_, self.status_ = best.value, best.n_iter, best.status
        if not best.ok:
            warnings.warn(
                f"NonNegativeEmbedding did not converge ({best.status} after {best.n_iter} iterations): "
                "raise max_iter, or tol",
                ConvergenceWarning,
                stacklevel=4,
            )

    def dimension_values(self, features: Features | None = None) -> pd.DataFrame:
        """Return values as a table, a row per item by name and a column per dimension.

        Parameters
        ----------
        features : of new items, as `transform` takes them; a table's index names them. None is about the items that
            the model was fitted to
        """
        import pandas as pd

        similarity = self._fitted()
        table = next(iter(features.values())) if isinstance(features, Mapping) else features
        index = [similarity.label(k) for k in range(similarity.n_items)] if table is None else row_names(table)
        values = similarity.embedding if features is None else self.transform(features)
        found = pd.DataFrame(values, index, dimension_names(values.shape[1]))
        return found.rename_axis(index="item")

    def with_dimensions(self, dimensions: Sequence[int] | Array) -> Self:
        """Return the same model with some of its dimensions alone, in the order given; it is not fitted again.

        Parameters
        ----------
        dimensions : which, by their places in `embedding_`
        """
        kept, similarity = np.asarray(dimensions, int), self._fitted()
        X = np.ascontiguousarray(similarity.embedding[:, kept])
        other = copy(self)
        known = similarity.feature_map
        other.similarity_ = replace(
            similarity,
            embedding=X,
            form=SignedProduct(X, -np.ones(len(kept))),
            feature_map=None if known is None else known.then(np.eye(self.n_dimensions_)[:, kept]),
        )
        other.n_dimensions_, other.origin_ = len(kept), self.origin_[kept]
        other.deviation_ = self.deviation_[:, kept]
        other.maps_ = {name: N[:, kept] for name, N in self.maps_.items()}
        return other

    def place(self, comparisons: ComparisonsLike, *, features: Features | None = None) -> Similarity:
        """Return the similarity with new items in it, from answers that name them; the values of others stay.

        Parameters
        ----------
        comparisons : answers about new items among those already there
        features : of the new items, a table whose index names them, or rows in the order in which the comparisons
            number or name them: their values are then expected where `transform` has them, and moved by the answers as
            far as these ask; None expects 0
        """
        known = self._fitted()
        expected = None if features is None else self.transform(features_by_name(features, comparisons, known))
        return place_values(known, comparisons, self._per_item, expected)

    def _in_use(self, X: Floats, loss: ComparisonLoss, names: Any, **further: Any) -> Similarity:
        found = super()._in_use(X, loss, names, **further)
        known = found.feature_map
        return found if known is None else replace(found, feature_map=replace(known, non_negative=True))
