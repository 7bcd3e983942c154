"""Who answers how: what a fitted model knows of raters and of forms of question beside its map, with numpy alone.

| how | probability that an answer of margin m agrees |
|---|---|
| none | P(m): everybody alike |
| `Sharpness` | l/2 + (1 - l) P(s m), with the sharpness s and the lapse l of its rater, or of its form of question |
| `Weighed` | the same, m being the margin where its rater's weights multiply the dimensions |
| `Groups` | the mean over groups, by the membership of its rater, of P(margin in the group's own map) |

Somebody unknown is typical: the last entry of a `Sharpness`, the shares of `Groups`. Of weights nobody is typical: the
probabilities are then the mean of those of all who are known. Where "can't tell" is an answer,
these are probabilities given that somebody could; `Sharpness.unsure` is that of not being able to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import comb, log
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from similitude.engine.distances import pair_sqdist
from similitude.engine.map_parts import Stored
from similitude.engine.measures import Measure
from similitude.engine.terms import ComparisonLoss, Formula
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.whole_answers import choices_of
from similitude.types import Array, Floats

if TYPE_CHECKING:
    from similitude.engine.sources import Sources  # needs more than numpy


@dataclass(frozen=True, eq=False)
class AnswerModel(ABC):
    """How answers depend on who gave them, or on how they were asked for.

    Attributes
    ----------
    names : of the raters, or of the forms of question
    """

    names: tuple[str, ...]

    kind: ClassVar[str]
    own_order: ClassVar[bool] = False  # whether raters may order the same pairs differently

    @abstractmethod
    def agree(self, comparisons: Comparisons, measure: Measure, loss: ComparisonLoss) -> Floats:
        """(m,) probability that each answer agrees with its comparison, by how unlike items are in the map of all."""

    def views_of(self, comparisons: Comparisons) -> tuple[Floats, Floats] | None:
        """(g, D, d) views of the map, (m, g) the chance that each comparison was made in each; None without views."""
        return None

    @abstractmethod
    def stored(self) -> Stored:
        """Return what a file holds of it, beside the names."""

    @classmethod
    @abstractmethod
    def read(cls, names: tuple[str, ...], plain: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Read what `stored` returned."""


@dataclass(frozen=True, eq=False)
class Sharpness(AnswerModel):
    """Sharpness and lapse of each rater, or of each form of question, and last of somebody unknown.

    Attributes
    ----------
    sharpness, lapse : (k + 1,) each
    by : "rater" or "form"
    cant_tell : share of "can't tell" where nothing speaks for any alternative, the most that it can be; 0 where it was
        no answer
    """

    sharpness: Floats
    lapse: Floats
    by: str = "rater"
    cant_tell: float = 0.0

    kind = "sharpness"

    @classmethod
    def of(cls, names: tuple[str, ...], sources: Sources, own: Floats) -> Sharpness:
        """Return what was learned of raters by these names; somebody unknown is typical of them."""
        sharp, lapse = sources.sharpness(own), sources.lapses(own)
        sharp[-1], lapse[-1] = np.exp(np.log(sharp[:-1]).mean()), lapse[:-1].mean()
        unsure = float(1.0 / (1.0 + np.exp(-sources.unsure_logits(own)[-1])))
        return cls(names, sharp[-len(names) - 1 :], lapse[-len(names) - 1 :], cant_tell=unsure)

    def agree(self, comparisons: Comparisons, measure: Measure, loss: ComparisonLoss) -> Floats:
        """l/2 + (1 - l) P(s m)."""
        said = forms_of(comparisons) if self.by == "form" else raters_of(comparisons)
        place = places_among(said[0], self.names, said[1])
        return self.agree_as(place, comparisons.near, comparisons.far, measure, loss)

    def agree_as(self, who: Array, near: Array, far: Array, measure: Measure, loss: ComparisonLoss) -> Floats:
        """(m,) the same to somebody each, by place."""
        lapse, margin = self.lapse[who], loss.margin(self.seen(measure, near, who), self.seen(measure, far, who))
        return 0.5 * lapse + (1.0 - lapse) * loss.shape.probability(self.sharpness[who] * margin)

    def seen(self, measure: Measure, pairs: Array, who: Array) -> Floats:
        """(p,) how unlike the items of each pair are to somebody each."""
        return measure.of_pairs(pairs)

    def unsure(self, comparisons: Comparisons, measure: Measure, scale: Formula) -> Floats:
        """(a,) probability that each answer is "can't tell", given the scale of levels; NaN where it is no answer.

        By the formula of `engine.choice_terms`. One that asks several questions is "can't tell" to all of them.
        """
        names, rater = answerers(comparisons)
        return self.unsure_as(places_among(names, self.names, rater), comparisons, measure, scale)

    def unsure_as(self, place: Array, comparisons: Comparisons, measure: Measure, scale: Formula) -> Floats:
        """(a,) the same to somebody each, by place."""
        log_chance = np.full(comparisons.n_answers, np.nan)
        for one in choices_of(comparisons, cant_tell=True):
            if one.can_tie:
                who = place[one.row]
                every = np.repeat(who, one.n_pairs)
                unlike = self.seen(measure, one.pairs.reshape(-1, 2), every)
                levels = scale(unlike)[0].reshape(one.pairs.shape[:3]).sum(2)
                value = one.sign * self.sharpness[who, None] * levels
                chance = (1.0 - self.lapse[who]) * tie_chances(value, one.picked, self.cant_tell)
                whole = np.bincount(one.row, np.log(np.maximum(chance, 1e-300)), len(log_chance))
                log_chance[one.row] = whole[one.row]
        return np.exp(log_chance)

    def stored(self) -> Stored:
        """Return what a file holds of it, beside the names."""
        known = {"cant_tell": self.cant_tell} if self.cant_tell else {}
        return {"by": self.by, **known}, {"sharpness": self.sharpness, "lapse": self.lapse}

    @classmethod
    def read(cls, names: tuple[str, ...], plain: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Read what `stored` returned."""
        return cls(names, arrays["sharpness"], arrays["lapse"], plain["by"], float(plain.get("cant_tell", 0.0)))


@dataclass(frozen=True, eq=False)
class Weighed(Sharpness):
    """Raters with weights of the dimensions, beside sharpness and lapse.

    Somebody unknown is one of those who are known, each as likely: with weights of 1 for all, the last entry, answers
    of new people would be foretold too surely where people differ. New items are placed by that entry where nobody is
    known.

    Attributes
    ----------
    weights : (k + 1, d)
    """

    weights: Floats = field(kw_only=True)

    kind = "weights"
    own_order = True

    def agree_as(self, who: Array, near: Array, far: Array, measure: Measure, loss: ComparisonLoss) -> Floats:
        """(m,) the same to somebody each; somebody unknown is one of those who are known, each as likely."""
        agrees, unknown = super().agree_as(who, near, far, measure, loss), np.flatnonzero(who < 0)
        if len(unknown):
            asked, everybody = (near[unknown], far[unknown], measure, loss), range(len(self.names))
            by_rater = (super(Weighed, self).agree_as(np.full(len(unknown), rater), *asked) for rater in everybody)
            agrees[unknown] = sum(by_rater) / len(self.names)
        return agrees

    def unsure_as(self, place: Array, comparisons: Comparisons, measure: Measure, scale: Formula) -> Floats:
        """(a,) the same to somebody each; somebody unknown is one of those who are known, each as likely."""
        asked = (comparisons, measure, scale)
        if (place >= 0).all():
            return super().unsure_as(place, *asked)
        everybody = range(len(self.names))
        by_rater = (super(Weighed, self).unsure_as(np.where(place < 0, rater, place), *asked) for rater in everybody)
        return np.asarray(sum(by_rater) / len(self.names))

    def seen(self, measure: Measure, pairs: Array, who: Array) -> Floats:
        """(p,) how unlike the items of each pair are to somebody each: what each dimension adds, times its weight."""
        return np.einsum("pk,pk->p", measure.by_dimension(pairs), self.weights[who])

    def views_of(self, comparisons: Comparisons) -> tuple[Floats, Floats]:
        """The map with the weights of whoever compared."""
        names, rater = raters_of(comparisons)
        who, place = np.unique(places_among(names, self.names, rater), return_inverse=True)
        return np.sqrt(self.weights[who])[:, None, :] * np.eye(self.weights.shape[1]), np.eye(len(who))[place]

    def stored(self) -> Stored:
        """Return what a file holds of it, beside the names."""
        plain, arrays = super().stored()
        return plain, {**arrays, "weights": self.weights}

    @classmethod
    def read(cls, names: tuple[str, ...], plain: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Read what `stored` returned."""
        share = float(plain.get("cant_tell", 0.0))
        return cls(names, arrays["sharpness"], arrays["lapse"], plain["by"], share, weights=arrays["weights"])


@dataclass(frozen=True, eq=False)
class Groups(AnswerModel):
    """Groups of raters with maps of their own, views of the map of all: an item placed there later is in each.

    Attributes
    ----------
    member : (k, g) probability that each rater belongs to each group
    shares : (g,) share of each group
    views : (g, D, d) the map of each group is X views[g]
    """

    member: Floats
    shares: Floats
    views: Floats

    kind = "groups"
    own_order = True

    def agree(self, comparisons: Comparisons, measure: Measure, loss: ComparisonLoss) -> Floats:
        """The mean over groups by membership."""
        agrees = np.zeros(len(comparisons))
        for view, chance in zip(self.views, self._members(comparisons).T, strict=True):
            own = measure.positions @ view
            agrees += chance * loss.probability(pair_sqdist(own, comparisons.near), pair_sqdist(own, comparisons.far))
        return agrees

    def views_of(self, comparisons: Comparisons) -> tuple[Floats, Floats]:
        """The map of each group, by the membership of whoever compared."""
        return self.views, self._members(comparisons)

    def _members(self, comparisons: Comparisons) -> Floats:
        names, rater = raters_of(comparisons)
        return np.vstack([self.member, self.shares])[places_among(names, self.names, rater)]

    def stored(self) -> Stored:
        """Return what a file holds of it, beside the names."""
        return {}, {"member": self.member, "shares": self.shares, "views": self.views}

    @classmethod
    def read(cls, names: tuple[str, ...], _: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Read what `stored` returned."""
        return cls(names, arrays["member"], arrays["shares"], arrays["views"])


ANSWERING: dict[str, type[AnswerModel]] = {one.kind: one for one in (Sharpness, Weighed, Groups)}
"""What a file can hold, by the word that it has for it."""


def tie_chances(value: Floats, picked: int, share: float) -> Floats:
    """(q,) probability of "can't tell" where so many of alternatives of such values (q, m) are to be picked."""
    m, sums = value.shape[1], np.full((len(value), picked + 1), -np.inf)
    sums[:, 0] = 0.0
    for column in value.T:
        sums[:, 1:] = np.logaddexp(sums[:, 1:], sums[:, :-1] + column[:, None])
    odds = np.log(share / (1.0 - share)) + log(comb(m, picked)) + picked / m * value.sum(1)
    return np.asarray(1.0 / (1.0 + np.exp(np.minimum(sums[:, picked] - odds, 700.0))))


def raters_of(comparisons: Comparisons) -> tuple[tuple[str, ...], Array]:
    """Return the raters in order of their names, and for each comparison the place of its rater, -1 where unknown."""
    names, place = answerers(comparisons)
    return names, place[comparisons.answer]


def answerers(comparisons: Comparisons) -> tuple[tuple[str, ...], Array]:
    """Return the raters in order of their names, and for each answer the place of its rater, -1 where unknown."""
    labels = comparisons.answers.rater.labels
    order = sorted(range(len(labels)), key=lambda code: labels[code])
    place = np.full(len(labels) + 1, -1, np.int64)
    place[order] = np.arange(len(labels))
    return tuple(labels[code] for code in order), place[comparisons.answers.rater.codes]


def forms_of(comparisons: Comparisons) -> tuple[tuple[str, ...], Array]:
    """Return the forms of question, and for each comparison the place of its form."""
    form = comparisons.answers.form
    return form.labels, form.codes[comparisons.answer]


def places_among(names: tuple[str, ...], known: tuple[str, ...], code: Array) -> Array:
    """Turn codes into `names` into codes into `known`, -1 where a name is not known."""
    place = {name: k for k, name in enumerate(known)}
    return np.array([*(place.get(name, -1) for name in names), -1], np.int64)[code]
