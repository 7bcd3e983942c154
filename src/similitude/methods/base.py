"""The base of every comparison estimator: scikit-learn's manners over a fitted `Similarity`."""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from dataclasses import dataclass, field
from types import FunctionType
from typing import TYPE_CHECKING, Any, Self, dataclass_transform

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags, TransformerTags
from sklearn.utils.validation import check_is_fitted

from similitude.engine.terms import ComparisonLoss
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike
from similitude.feedback.items import Names
from similitude.feedback.shards import Shards
from similitude.graph.build import SimilarityGraph
from similitude.graph.counts import Counts
from similitude.methods.inherited_docs import complete_docstring
from similitude.methods.metric import ModelMetric, Of
from similitude.methods.provenance import provenance
from similitude.methods.similarity import Similarity
from similitude.types import Bools, Floats, ItemRows

if TYPE_CHECKING:

    class BaseEstimator:
        """scikit-learn's, which has no types: through it a constructor made of settings would take any argument."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the settings."""

        def set_params(self, **settings: Any) -> Self:
            """Change settings."""

        def __sklearn_tags__(self) -> Tags: ...
else:
    from sklearn.base import BaseEstimator

_MOST_NAMED = 5
_FUNCTION = re.compile(r"<function (?:[\w.<>]*\.)?(\w+|<lambda>) at 0x[0-9a-fA-F]+>")


class FeedbackWarning(UserWarning):
    """The feedback leaves something open: items never compared, or groups of items never compared with each other.

    Examples
    --------
    >>> import warnings, similitude as sm
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", sm.FeedbackWarning)
    ...     model = sm.STE(1, n_items=4, random_state=0).fit([(0, 1, 2), (1, 0, 2)])  # nothing was said about item 3
    >>> float(abs(model.embedding_[3, 0]))
    0.0
    """


def _called_by(cls: type, method: Any) -> Any:
    """Return an inherited method under the name of the class, which Python's own errors then give."""
    copied = FunctionType(method.__code__, method.__globals__, method.__name__, method.__defaults__, method.__closure__)
    copied.__dict__.update(method.__dict__)
    copied.__doc__, copied.__module__, copied.__annotations__ = (
        method.__doc__,
        method.__module__,
        method.__annotations__,
    )
    copied.__kwdefaults__ = method.__kwdefaults__
    copied.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
    return copied


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
class ComparisonEstimator(BaseEstimator):
    """Learns from comparisons; `fit` must set `similarity_`. What a similarity can do, the estimator can do.

    Settings are declared in the class, and the constructor is made of them and of those of the classes that it extends:
    so each stands in one place. A method with a constructor of its own keeps it.
    """

    similarity_: Similarity
    _learned_from: dict[str, Any]  # how much feedback there was, with a digest
    needs_features = False  # whether `fit` takes `features`
    features_optional = False  # whether it can do without them
    learns_penalty = False  # whether "auto" is chosen on held-out answers, so that nothing else need vary it
    learns_rank = False  # whether it learns how many dimensions are needed, `n_components` being the most
    takes_further = False  # whether `fit` takes further feedback: links, ratings, labels

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        declared = inspect.get_annotations(cls)
        if declared and "__init__" not in vars(cls):
            for name in declared.keys() - vars(cls).keys():  # without a value it is no setting, but what `fit` finds
                setattr(cls, name, field(init=False))
            dataclass(kw_only=True, eq=False, repr=False)(cls)
            cls.__init__.__signature__ = _own_first(cls)  # type: ignore[attr-defined]  # what `help` reads
        complete_docstring(cls)  # each explains every parameter, those of the classes that it extends included
        if "fit" not in vars(cls):
            cls.fit = _called_by(cls, cls.fit)  # type: ignore[method-assign]

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # rows are comparisons of items, not samples of features
        if hasattr(self, "transform"):
            tags.transformer_tags = TransformerTags()
        return tags

    def fit(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None) -> Self:
        """Learn from comparisons (and responses `y`, booleans or +1/-1, where arrays are given)."""
        raise NotImplementedError(f"{type(self).__name__} must define fit")

    @property
    def embedding_(self) -> Floats:
        """(n, d) position of every item."""
        check_is_fitted(self, "similarity_")
        return self.similarity_.embedding

    @property
    def has_probability(self) -> bool:
        """Whether `predict_proba` can be asked of the fitted model."""
        return self._fitted().has_probability

    def fit_transform(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None, **further: Any) -> Floats:
        """Fit, with what else `fit` takes (`features`, say), and return the position of every item."""
        return self.fit(comparisons, y, **further).embedding_

    def predict(self, comparisons: ComparisonsLike) -> Bools:
        """Whether the model calls the near pair of each comparison nearer."""
        return self._fitted().predict(comparisons)

    def predict_proba(self, comparisons: ComparisonsLike) -> Floats:
        """(m, 2) probability that a person disagrees, agrees with each comparison; where `has_probability`.

        Of a method that knows raters, or forms of question, it is that of the comparison's own.
        """
        return self._fitted().predict_proba(comparisons)

    def answer_margin(self, comparisons: ComparisonsLike) -> Floats:
        """What says by its sign which pair is nearer, to the rater of each comparison where raters differ in that."""
        return self._fitted().answer_margin(comparisons)

    def score(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None, sample_weight: Any = None) -> float:
        """Weighted share of comparisons that the model orders correctly; a tie counts half."""
        return self._fitted().score(comparisons, y, sample_weight)

    def distances(self, first: Any = None, second: Any = None) -> Floats:
        """(n, n) distance between every two items, or (a, b) between vectors or items: see `Similarity.distances`."""
        return self._fitted().distances(first, second)

    def pair_distance(self, pairs: ItemRows) -> Floats:
        """Distance of each pair, rows of two items by name or position."""
        return self._fitted().pair_distance(pairs)

    def neighbors(self, item: Any, k: int = 5) -> list[Any]:
        """The k items most like an item or a vector, nearest first: names, or positions where items have no names."""
        return self._fitted().neighbors(item, k)

    def get_metric(self, of: Of | None = None) -> ModelMetric:
        """Return the distance as a function of two items or two vectors, for `metric=` of scikit-learn's neighbours.

        With positions of items say `algorithm="brute"` there: trees take means of rows. A model whose `kind` is no
        distance has no metric, and is refused.

        Parameters
        ----------
        of : what a row of numbers is: "items", one position; "vectors", as `transform` takes them; None tells them
            apart by their length, and refuses what is neither
        """
        return self._fitted().get_metric(of)

    def get_mahalanobis_matrix(self) -> Floats:
        """(p, p) M of a linear map of vectors: the squared distance of x and y is (x - y)' M (x - y)."""
        return self._fitted().get_mahalanobis_matrix()

    def _check(self) -> None:
        """Refuse settings that cannot be."""

    def _in_use(self, X: Floats, loss: ComparisonLoss, names: Names | None, **further: Any) -> Similarity:
        """Return the fitted model in use, with how it was made; what else was learned of it is given by name."""
        X.flags.writeable = False
        return Similarity(X, loss, names, provenance(self, self.__dict__.get("_learned_from")), **further)

    def _fitted(self) -> Similarity:
        check_is_fitted(self, "similarity_")
        return self.similarity_


def _own_first(cls: type) -> inspect.Signature:
    """The signature of a constructor with the settings that a class declares itself before those that it extends."""
    declared = [name for base in cls.__mro__ for name in inspect.get_annotations(base)]
    signature = inspect.signature(cls.__init__)  # type: ignore[misc]
    place = {name: declared.index(name) for name in signature.parameters if name in declared}
    order = sorted(signature.parameters.values(), key=lambda one: (one.kind, place.get(one.name, -1)))
    return signature.replace(parameters=order)


Fitted = ComparisonEstimator | Similarity
"""A model that can be asked: either will do where nothing is fitted again."""


def similarity_of(model: Any, argument: str) -> Similarity:
    """Return the fitted model in use; where nothing is fitted, or no model is given, say so."""
    if isinstance(model, Similarity):
        return model
    if hasattr(model, "fit") and not isinstance(model, type):
        check_is_fitted(model, "similarity_")
        found: Similarity = model.similarity_
        return found
    raise TypeError(
        f"{argument}: expected a fitted model, found {'a class' if isinstance(model, type) else type(model).__name__}; "
        "learn one from comparisons first: similitude.STE(2).fit(comparisons)"
    )


def described(estimator: Any) -> str:
    """Return an estimator with its settings in one line; a function among them by its name."""
    return _FUNCTION.sub(r"\1", " ".join(repr(estimator).split()))


def refuse_empty(comparisons: Comparisons) -> None:
    """Refuse feedback from which nothing can be learned."""
    if not len(comparisons) or not comparisons.weight.any():
        why = " (all have weight 0)" if len(comparisons) else ""
        raise ValueError(f"comparisons: there are none to learn from{why}")


def warn_of_gaps(comparisons: Comparisons | Shards, graph: SimilarityGraph | Counts) -> None:
    """Say which items were never compared, and which groups of items were never compared with each other."""
    absent = np.flatnonzero(graph.occurrences == 0)
    if len(absent):
        warnings.warn(
            f"{len(absent)} of {graph.n_items} items were never compared and are at the centre: "
            f"{listing(comparisons, absent)}",
            FeedbackWarning,
            stacklevel=3,
        )
    count = int(graph.components.max()) + 1
    if count > 1:
        groups = [listing(comparisons, np.flatnonzero(graph.components == k)) for k in range(min(count, _MOST_NAMED))]
        warnings.warn(
            f"the items fall into {count} groups that no comparison links, so where the groups lie is arbitrary: "
            + "; ".join(f"({group})" for group in groups)
            + ("; ..." if count > _MOST_NAMED else ""),
            FeedbackWarning,
            stacklevel=3,
        )


def warn_at_caller(message: str) -> None:
    """Warn at the line that called the package: where input is read at different depths."""
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("similitude."):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, FeedbackWarning, stacklevel=depth)


def listing(comparisons: Comparisons | Shards, items: npt.NDArray[Any]) -> str:
    """Return the names of the first few items, and how many there are where that is not all."""
    named = ", ".join(comparisons.label(int(item)) for item in items[:_MOST_NAMED])
    return named + (f", ... ({len(items)})" if len(items) > _MOST_NAMED else "")
