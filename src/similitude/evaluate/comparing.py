"""How far two representations of items agree: models, dissimilarities (RDMs), vectors of a network, attributes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from similitude.display.estimate import Estimate
from similitude.display.words import counted, listed, written_p
from similitude.evaluate.cards import agreement_card, answers_agreement_card
from similitude.evaluate.intervals import clustered_mean
from similitude.evaluate.people import PeopleAgreement, with_people
from similitude.evaluate.rank_agreement import ALL_ITEMS, PairSample, mantel
from similitude.evaluate.scores import align, procrustes_distance
from similitude.evaluate.validation import Progress
from similitude.evaluate.views import Metric, View, share_items
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.items import Names
from similitude.feedback.splitting import among
from similitude.methods.base import FeedbackWarning, Fitted
from similitude.methods.known_items import called_alike
from similitude.methods.provenance import described_data
from similitude.settings import check_share, generator
from similitude.types import Array, Bools, Floats, Seed, Table

_FEWEST = 4
_ALPHA = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class AnswerAgreement:
    """Two similarities on the same answers.

    Attributes
    ----------
    comparisons : how many were scored
    first, second : accuracy of each, ties half
    difference, low, high : second minus first, with an interval paired by answer
    same : share of the comparisons that both order the same way
    learned : which of them learned from just these answers, in words: its accuracy is too good; empty where neither
        did. One that learned from these and others, or from some of these, is not known
    """

    comparisons: int
    first: float
    second: float
    difference: float
    low: float
    high: float
    same: float
    learned: str = ""

    def lines(self) -> list[tuple[str, str]]:
        """Return each figure with its name, as they are printed."""
        difference = f"{self.difference:+.3f} ({self.low:+.3f} to {self.high:+.3f})"
        return [
            (f"accuracy on {counted(self.comparisons, 'comparison')}", f"{self.first:.3f} and {self.second:.3f}"),
            *(
                [("learned from just these answers", f"the {self.learned}: figures on them are too good")]
                if self.learned
                else []
            ),
            ("second less first", difference),
            ("ordered the same way", f"{self.same:.3f}"),
        ]

    def __repr__(self) -> str:
        return "<" + "; ".join(f"{name} {value}" for name, value in self.lines()) + ">"

    def _repr_html_(self) -> str:
        return answers_agreement_card(self)


@dataclass(frozen=True, eq=False, repr=False)
class Agreement:
    """What `compare` found.

    Attributes
    ----------
    items : names (or positions) of the items that both know
    left_out : names of the items that only one of them knows, or that a model never compared: they stand at its centre
    procrustes : share of the variance that is left after one map is moved, turned, mirrored and scaled onto the other:
        0 is the same map, 1 none in common; NaN where a table has gaps
    correlation, low, high : Spearman's rank correlation of the distances, with an interval by bootstrap over items
    p_value : share of random matchings of the items whose correlation is as high (Mantel's test)
    answers : agreement on answers, where there were any
    distances : (2, pairs) distances of every two items, of 500,000 pairs drawn where there are more than 1,000 items,
        by the first and by the second
    error : standard error of the correlation by having drawn pairs; 0 where every two items were looked at
    maps : (2, n, d) both maps, the second laid onto the first; None where a table has gaps
    mapped : names (or positions) of the items on the maps: all, or 1,000 drawn where a table has more
    people : agreement of both with people, with intervals over raters and the noise ceiling, where there were answers
        or tables of several raters
    read : how each was read, in words: a model by its distances, attributes in units of their deviations, ...
    kinds : what a number between two items is called: "distance", "minus product" of a model of dot products, ...
    level : of the interval
    """

    items: Names
    left_out: Names
    procrustes: float
    correlation: float
    low: float
    high: float
    p_value: float
    answers: AnswerAgreement | None
    distances: Floats
    error: float
    maps: Floats | None
    mapped: Names
    people: PeopleAgreement | None = None
    read: tuple[str, str] = ("", "")
    kinds: tuple[str, str] = ("distance", "distance")
    level: float = 0.95

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, fit for JSON."""
        plain = {name: getattr(self, name) for name in ("procrustes", "correlation", "low", "high", "p_value", "error")}
        said = None if self.answers is None else vars(self.answers)
        people = None if self.people is None else {name: _plain(one) for name, one in vars(self.people).items()}
        return {"items": len(self.items), "left_out": list(self.left_out), **plain, "answers": said, "people": people}

    def lines(self) -> list[tuple[str, str]]:
        """Return each figure with its name, as they are printed."""
        common = "items in common" + (f", {len(self.left_out):,} left out" if self.left_out else "")
        correlation = f"{self.correlation:.3f} ({self.low:.3f} to {self.high:.3f}, {self.level:.0%} over other items)"
        left = "unknown: a table has gaps" if np.isnan(self.procrustes) else f"{self.procrustes:.3f}"
        found = [
            (f"{len(self.items):,}", common),
            *((which, said) for which, said in zip(("first", "second"), self.read, strict=True) if said),
            (f"rank correlation of {self._between()}", correlation),
            ("these items, shuffled", self._verdict()),
            *([("of pairs drawn", self._drawn())] if len(self.items) > ALL_ITEMS else []),
            ("variance left after Procrustes", left),
        ]
        return [*found, *(line for one in (self.answers, self.people) if one is not None for line in one.lines())]

    def _drawn(self) -> str:
        """How many pairs were looked at, and what looking at all would change."""
        every = len(self.items) * (len(self.items) - 1) // 2
        return f"{self.distances.shape[1]:,} of {every:,}: the correlation is exact to ± {2 * self.error:.1g}"

    def _between(self) -> str:
        return "distances" if set(self.kinds) == {"distance"} else "dissimilarities"

    def _verdict(self) -> str:
        """What Mantel's test says: a small p speaks for agreement, not for a difference."""
        agree = "they agree" if self.p_value <= _ALPHA else "no agreement is shown"
        return f"{agree} (Mantel's test, p {written_p(self.p_value)})"

    def __str__(self) -> str:
        first, *others = self.lines()
        wide = max(len(name) for name, _ in others)
        return "\n".join([" ".join(first), *(f"{name:<{wide}}  {value}" for name, value in others)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return agreement_card(self)


def _plain(one: int | Estimate) -> Any:
    return vars(one) if isinstance(one, Estimate) else one


def compare(
    first: Fitted | Table,
    second: Fitted | Table,
    comparisons: ComparisonsLike | None = None,
    *,
    metric: Metric | None = None,
    n_resamples: int = 500,
    level: float = 0.95,
    random_state: Seed = None,
    callback: Progress | None = None,
) -> Agreement:
    """Say how far two representations of items agree: models, dissimilarities (RDMs), vectors of a network, attributes.

    Items are matched by name where both have names, by position where they have as many items: rows without names are
    taken in the order of the other's items, which a `FeedbackWarning` says where it is that of the alphabet.

    Up to 1,000 items every pair is looked at; of more, 500,000 pairs are drawn (`Agreement.error` says what that
    costs), and Mantel's test takes 1,000 items drawn: the time grows with the items, not with their square.

    Parameters
    ----------
    first, second : a fitted estimator or a `Similarity`; dissimilarities: an (n, n) array or n (n - 1) / 2 numbers in a
        row, or a pandas table whose index names the items, NaN where a pair is unknown; those of several raters, an
        array (raters, n, n), or `RDMs` of rsatoolbox; vectors, an (n, p) array or table, as of a network; or
        attributes, a pandas table with a row per item, words allowed, each in units of its deviation. A table's items
        are named by its index, else by its first column of words that all differ
    comparisons : answers on which both are scored, those about items that both know. Where raters are known, both are
        also compared with each rater's own answers, and with the noise ceiling of that (`Agreement.people`). A model
        that knows how raters differ is taken by the map that is everybody's; `score` and `cross_validate` ask it who
        answered
    metric : of vectors: "euclidean", which is that of an array where none is asked for, "cosine", "correlation", as is
        usual in representational similarity analysis, or "dot", minus the dot product; a table with a metric holds
        vectors, one without attributes
    n_resamples : number of draws of the bootstrap over items, and of random matchings
    level : of the intervals
    random_state : seed or generator of those draws
    callback : called with the number of draws done and of all, for a progress bar

    Returns
    -------
    Agreement

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 800, random_state=1)
    >>> first, second = (method(2, random_state=0).fit(answers) for method in (sm.STE, sm.SOE))
    >>> found = sm.compare(first, second, random_state=0)
    >>> found.correlation > 0.9, found.procrustes < 0.1
    (True, True)
    """
    if n_resamples < 1:
        raise ValueError(f"n_resamples: expected at least 1, found {n_resamples}")
    check_share("level", level)
    views = View.of(first, "first", metric), View.of(second, "second", metric)
    if metric is not None and not any(view.vectors for view in views):
        raise ValueError(
            f"metric: {metric!r} is a way to compare vectors, expected some, found models or dissimilarities"
        )
    one, two, common, left_out = share_items(*views)
    placed = _placed(one, two, common)
    one, two = one.take(np.flatnonzero(placed)), two.take(np.flatnonzero(placed))
    items = tuple(name for name, there in zip(common, placed, strict=True) if there)
    left_out += tuple(name for name, there in zip(common, placed, strict=True) if not there)
    if len(items) < _FEWEST:
        raise ValueError(
            f"expected at least {_FEWEST} items in common, found {len(items)}: {', '.join(items) or 'none'}"
        )
    rng = generator(random_state)
    tell = callback or (lambda _done, _of: None)
    sample = PairSample.of(one, two, rng)
    _refuse_constant(sample.distances)
    low, high = sample.interval(n_resamples, level, rng, lambda done, of: tell(done, 2 * of))
    p_value = mantel(one, two, n_resamples, rng, lambda done, of: tell(of + done, 2 * of))
    mapped = _mapped(one, two, rng)
    maps = _maps(one.take(mapped), two.take(mapped))
    given = None if comparisons is None else as_comparisons(comparisons)
    said = None if given is None else _about(given, common, views, placed)
    learned = _learned(views, given)
    return Agreement(
        items,
        left_out,
        np.nan if maps is None else procrustes_distance(maps[1], maps[0]),
        sample.correlation(),
        low,
        high,
        p_value,
        None if said is None else _on_answers(one, two, said, level, learned),
        sample.distances,
        sample.error(),
        maps,
        tuple(items[k] for k in mapped),
        with_people(one, two, said, level),
        (one.read, two.read),
        (one.kind, two.kind),
        level,
    )


def _placed(one: View, two: View, items: Names) -> Bools:
    """(n,) of which items both say something: an item without answers stands somewhere, and that says nothing."""
    for argument, view in (("first", one), ("second", two)):
        absent = [name for name, there in zip(items, view.placed, strict=True) if not there]
        if absent:
            warnings.warn(
                f"{argument}: left out, since nothing is known of them: {listed(absent, len(absent))}",
                FeedbackWarning,
                stacklevel=3,
            )
    return one.placed & two.placed


def _refuse_constant(distances: Floats) -> None:
    """Refuse distances that are all equal: they order no pair before another, so that nothing can agree with them."""
    for argument, own in zip(("first", "second"), distances, strict=True):
        known = own[np.isfinite(own)]
        if len(known) > 0 and known.min() == known.max():
            raise ValueError(f"{argument}: all distances are {known[0]:g}, expected some that differ, to be compared")


def _mapped(one: View, two: View, rng: np.random.Generator) -> Array:
    """The items on the maps: all, but of a large table, whose scaling takes the cube of its items, some drawn."""
    large = one.n_items > ALL_ITEMS and (one.positions is None or two.positions is None)
    return np.sort(rng.choice(one.n_items, ALL_ITEMS, replace=False)) if large else np.arange(one.n_items)


def _maps(one: View, two: View) -> Floats | None:
    """Both maps with as many dimensions as the wider model has, the second laid onto the first."""
    width = max((view.positions.shape[1] for view in (one, two) if view.positions is not None), default=None)
    X, Y = one.scaled(width), two.scaled(width)
    if X is None or Y is None or not (np.ptp(X) > 0 and np.ptp(Y) > 0):
        return None
    wide = max(X.shape[1], Y.shape[1])
    X = np.pad(X - X.mean(0), ((0, 0), (0, wide - X.shape[1])))
    return np.stack([X, align(Y, X)])


def _on_answers(one: View, two: View, c: Comparisons, level: float, learned: str) -> AnswerAgreement:
    right = [0.5 * (1.0 + np.sign(view.gap(c.near, c.far))) for view in (one, two)]
    weight = np.asarray(c.weight)
    known = np.isfinite(right[0]) & np.isfinite(right[1])
    weight, answer = weight[known], c.answer[known]
    first, second = right[0][known], right[1][known]
    mean, low, high = clustered_mean(second - first, weight, answer, level)
    low, high = float(np.clip(low, -1.0, 1.0)), float(np.clip(high, -1.0, 1.0))
    same = float(np.average(first == second, weights=weight))
    return AnswerAgreement(
        len(answer), float(np.average(first, weights=weight)), float(np.average(second, weights=weight)), mean, low,
        high, same, learned,
    )  # fmt: skip


def _learned(views: tuple[View, View], c: Comparisons | None) -> str:
    """Which of the two learned from these answers, as far as a model knows."""
    digest = None if c is None else described_data(c)["digest"]
    found = [which for which, view in zip(("first", "second"), views, strict=True) if view.learned == digest]
    return " and the ".join(found)


def _about(c: Comparisons, items: Names, views: tuple[View, View], placed: Bools) -> Comparisons:
    """Return the comparisons about those of the items in common that have a place, numbered as those are."""
    c = _by_name(c, items, views)
    place = {name: k for k, name in enumerate(np.array(items, object)[placed])}
    part = among(c, np.array([place.get(name, -1) for name in c.names or ()]), len(place))
    if not len(part):
        raise ValueError("comparisons: expected some about the items in common, found none")
    return part


def _by_name(c: Comparisons, items: Names, views: tuple[View, View]) -> Comparisons:
    """Return comparisons by the names that the items in common have; positions are those of whoever has no names."""
    rows = next((view.n_items for view in views if not view.named), None)
    if rows is None:
        return called_alike(c, items, len(items))
    numbers = tuple(str(k) for k in range(rows))
    if c.names is None:
        if c.n_items > rows:
            raise ValueError(f"comparisons: there are {c.n_items} items, but {rows} in what is compared")
        return c.with_items(n_items=rows).with_items(numbers if set(items) <= set(numbers) else items)
    if not any(view.named for view in views) and not set(c.names) <= set(numbers):
        raise ValueError(
            f"comparisons: they know their items by name ({c.names[0]!r}, ...), and what is compared knows its own by "
            "position; give models learned from answers with names, or tables whose index holds the names"
        )
    return c
