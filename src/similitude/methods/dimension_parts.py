"""A model of non-negative dimensions, whose products of vectors are sums over them: why an answer was given.

The odds of an answer are those of a softmax over the dot products of pairs, and a dot product is a sum over dimensions;
so is whatever is linear in it. Turned axes would divide it otherwise: only dimensions that cannot be turned, because no
value is below 0, can be said to be the reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from similitude.engine.measures import SignedProduct
from similitude.engine.terms import ComparisonLoss, Formula, logistic, squared
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike
from similitude.feedback.forms import FORMS
from similitude.feedback.forms.alternatives import Alternatives
from similitude.feedback.items import check_names, find_item
from similitude.feedback.whole_answers import choices_of
from similitude.methods.base import Fitted, similarity_of
from similitude.methods.dimension_columns import dimension_names
from similitude.methods.explanation import Explanation, pulls
from similitude.methods.similarity import Similarity
from similitude.types import Floats, Table

_ROUNDED = 0.001  # of the largest value: published tables hold zeros that were rounded to a little less
_MOST_SETS = 20_000  # ways to pick k of a grid


def with_dimensions(model: Fitted | Table, argument: str = "model") -> Similarity:
    """Return the similarity of a model whose dimensions are non-negative, or of a table of them; refuse any other."""
    if not isinstance(model, Similarity) and not hasattr(model, "fit"):
        return _from_table(model, argument)
    similarity = similarity_of(model, argument) if hasattr(model, "fit") else model
    form = similarity.form
    if not isinstance(form, SignedProduct) or (form.signs > 0).any() or (form.positions < 0).any():
        found = similarity.about.get("method", "a model without them")
        raise ValueError(
            f"{argument}: expected products of non-negative dimensions, as of NonNegativeEmbedding, found {found}: "
            "dimensions that can be turned are no reasons"
        )
    return similarity


def _from_table(table: Table, argument: str) -> Similarity:
    """A table of items and non-negative dimensions, whose odds are the products as they are."""
    X = np.array(table, float)
    if X.ndim != 2 or not np.isfinite(X).all() or X.min(initial=0.0) < -_ROUNDED * X.max(initial=0.0):
        raise ValueError(
            f"{argument}: expected a model, or a table with a row per item of numbers of at least 0, found "
            + (f"an array of shape {X.shape}" if X.ndim != 2 else "some below 0, or missing")
        )
    X = np.maximum(X, 0.0)
    index = getattr(table, "index", None)
    named = index is not None and all(isinstance(name, str) for name in index)
    loss = ComparisonLoss(Formula(squared), Formula(logistic))
    names = check_names(index) if named else None
    return Similarity(X, loss, names, {"method": "a table of dimensions"}, form=SignedProduct(X, -np.ones(X.shape[1])))


def values_of(similarity: Similarity, one: Alternatives) -> Floats:
    """(q, m, d) what each dimension adds to the value of each alternative: the products of its pairs, added up."""
    X = similarity.embedding
    pairs: Floats = (X[one.pairs[..., 0]] * X[one.pairs[..., 1]]).sum(axis=2)
    return -one.sign * pairs


def explain_answer(
    model: Fitted | Table, answer: ComparisonsLike | Sequence[Any], *, dimensions: Sequence[str] | None = None
) -> Explanation:
    """Say why an answer was given: what each dimension adds to its log odds against the other alternatives.

    With the value v_a of alternative a (the dot product of its pair) and the answer c, the log odds beyond chance are
    v_c - log(mean of exp(v_a) over the others). They are divided as the v are, along the path t v from t = 0 to 1
    (`methods.explanation.pulls`): between two alternatives dimension k adds v_ck - v_ak, no more; among more, the
    others count by how likely they are.

    Parameters
    ----------
    model : a fitted `NonNegativeEmbedding`, its `Similarity`, or a table of items and non-negative dimensions
    answer : one answer that picks (a ranking is several choices): `answers.select([0])`, or one made for the purpose,
        `sm.Comparisons.from_odd_one_out([("cup", "glass", "ball")])`; it need not be what people would say. Three items
        alone are an odd one out, the last one being odd
    dimensions : names of the dimensions; "dimension 1" and so on where not given

    Returns
    -------
    Explanation
        `shares` says how much each dimension is of all that speaks for the answer, `confidence` how likely it is.

    Examples
    --------
    >>> import pandas as pd, similitude as sm
    >>> items = {"cup": [1.5, 0.1], "glass": [1.4, 0.3], "ball": [0.0, 1.0]}
    >>> table = pd.DataFrame.from_dict(items, orient="index")
    >>> why = sm.explain_answer(table, ("cup", "glass", "ball"), dimensions=("for drinking", "round"))
    >>> why
    <cup and glass: confidence 77% (33% by chance), log odds +1.93 beyond chance>
    >>> why.shares.round(2).tolist()
    [1.0, -0.08]
    """
    similarity = with_dimensions(model)
    c = similarity.over_items(_as_answer(similarity, answer))
    one = _only_choice(c)
    value = values_of(similarity, one)[0]
    value = _as_sets(value, one.picked)
    if isinstance(dimensions, str):
        raise TypeError(f"dimensions: expected a list of {value.shape[1]} names, found the text {dimensions!r}")
    names = dimension_names(value.shape[1]) if dimensions is None else tuple(map(str, dimensions))
    if len(names) != value.shape[1]:
        raise ValueError(f"dimensions: expected {value.shape[1]} names, found {len(names)}")
    own = np.arange(len(value)) == 0
    level = -value
    parts = pulls(level.sum(1), own) @ level
    return Explanation(_answer_in_words(similarity, c, one), parts[None], names, 1.0 / len(value))


def _as_answer(similarity: Similarity, answer: Any) -> Any:
    """Three items along one axis as an odd one out, the last being odd; anything else as it is."""
    if isinstance(answer, Comparisons) or np.ndim(answer) != 1:
        return answer
    return odd_one_out(similarity, tuple(answer))


def odd_one_out(similarity: Similarity, items: tuple[Any, ...]) -> Comparisons:
    """Three items as an answer, the last one being odd."""
    if len(items) != 3:
        raise ValueError(f"answer: expected one answer, or three items with the odd one last, found {len(items)}")
    rows = [[find_item(item, similarity.names, similarity.n_items) for item in items]]
    return Comparisons.from_odd_one_out(rows, names=similarity.names, n_items=similarity.n_items)


def _only_choice(c: Comparisons) -> Alternatives:
    choices = choices_of(c)
    count = sum(map(len, choices))
    if count != 1:
        said = "a ranking, or several answers" if count else "none that says anything"
        raise ValueError(f"answer: expected one answer that is one choice, found {count} choices ({said})")
    return next(one for one in choices if len(one))


def _as_sets(value: Floats, picked: int) -> Floats:
    """Alternatives as they are, or all sets of so many of them, the one that was picked first."""
    if picked == 1:
        return value
    if comb(len(value), picked) > _MOST_SETS:
        raise ValueError(
            f"answer: {picked} of {len(value)} can be picked in more than {_MOST_SETS:,} ways, expected fewer"
        )
    return np.array([value[list(some)].sum(0) for some in combinations(range(len(value)), picked)])


def _answer_in_words(similarity: Similarity, c: Comparisons, one: Alternatives) -> str:
    """The pair that was called alike, where it is one; else what the form of question says in words."""
    pairs: Any = one.pairs[0, : one.picked].reshape(-1, 2).tolist()
    if len(pairs) == 1:
        return " and ".join(similarity.label(item) for item in pairs[0])
    row, answers = int(one.row[0]), c.answers
    shown = [similarity.label(int(item)) for item in answers.shown[row]]
    return FORMS[str(answers.form.values[row])].in_words(shown, answers.response[row].tolist())
