"""Feedback of several forms about the same items, and the terms of a joint problem that it becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from similitude.engine.backend import CPU, Backend
from similitude.engine.comparison_terms import Compared
from similitude.engine.devices import on_device
from similitude.engine.joint_terms import Judged, Linked
from similitude.engine.problem import Term
from similitude.engine.rating_terms import Graded, Measured, Rated
from similitude.engine.terms import ComparisonLoss, Formula, distance
from similitude.feedback.columns import Categories
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.items import Names, encode_items
from similitude.feedback.labels import Labels
from similitude.feedback.links import Links
from similitude.feedback.ratings import Ratings
from similitude.methods.answering import forms_of, places_among
from similitude.types import Array, Bools, Floats

FORMS = ("links", "ratings", "labels")
_SCALE = Formula(distance, 1e-3)
_MOST_STEPS = 12
_SPREAD = 0.5  # of the logarithm of the sharpness of forms of comparison
_PER_PAIR = 5  # comparisons for each rating or link that lead to the start


@dataclass(frozen=True)
class MixedFeedback:
    """Feedback over one numbering of the items.

    Attributes
    ----------
    comparisons : comparisons, or None
    implied : the comparisons that labels imply, or None
    links, ratings : pairs with what was said of them
    as_comparisons : everything as comparisons, for the start
    steps : whether each set of ratings is read in steps
    """

    comparisons: Comparisons | None
    implied: Comparisons | None
    links: Links | None
    ratings: tuple[Ratings, ...]
    as_comparisons: Comparisons
    steps: tuple[bool, ...]

    @classmethod
    def of(
        cls,
        comparisons: Comparisons | None,
        links: Links | None,
        ratings: Ratings | Sequence[Ratings] | None,
        labels: Labels | None,
        steps: bool | str,
        rng: np.random.Generator,
    ) -> MixedFeedback:
        """Bring all feedback to the same items, known by the same names."""
        _check_kinds(links, ratings, labels)
        sets = () if ratings is None else (ratings,) if isinstance(ratings, Ratings) else tuple(ratings)
        implied = None if labels is None else labels.to_comparisons(random_state=rng)
        derived = [_links_compared(links, rng), *(_ratings_compared(one, rng) for one in sets)]
        parts = [part for part in (comparisons, implied, *derived) if part is not None]
        if not parts:
            raise ValueError("comparisons: there are none, and no links of both kinds, ratings or labels to learn from")
        whole = Comparisons.concatenate([*parts, *_only_named(links, sets, parts[0])])
        names, count = whole.names, whole.n_items
        return cls(
            None if comparisons is None else _over(comparisons, names, count),
            None if implied is None else _over(implied, names, count),
            None if links is None else _renumbered(links, names, count),
            tuple(_renumbered(one, names, count) for one in sets),
            whole,
            tuple(one.steps()[1] <= _MOST_STEPS if steps == "auto" else bool(steps) for one in sets),
        )

    @property
    def names(self) -> Names | None:
        """Names of the items."""
        return self.as_comparisons.names

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.as_comparisons.n_items

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms of comparison, the commonest first, and "labels" where there are labels."""
        if self.comparisons is None:
            return ("labels",) if self.implied is not None else ()
        form = self.comparisons.answers.form
        count = np.bincount(form.codes[self.comparisons.answer], minlength=len(form.labels))
        order = [form.labels[code] for code in np.argsort(-count, kind="stable") if count[code]]
        return (*order, *(("labels",) if self.implied is not None else ()))

    @property
    def kinds(self) -> tuple[str, ...]:
        """Everything that has a weight: forms of comparison, labels, ratings, links."""
        return tuple(dict.fromkeys([*self.forms, *self.further]))

    def of_form(self, form: str | None) -> Bools:
        """Which answers of the comparisons are of a form; all of them when it is None."""
        assert self.comparisons is not None
        return np.array([form in (None, one) for one in self.comparisons.answers.form.values], bool)

    @property
    def further(self) -> tuple[str, ...]:
        """Which feedback there is beside comparisons."""
        present = (self.links is not None, bool(self.ratings), self.implied is not None)
        return tuple(form for form, there in zip(FORMS, present, strict=True) if there)

    @property
    def plain(self) -> bool:
        """Whether there is nothing but comparisons of one form."""
        return not self.further and len(self.forms) < 2

    @property
    def present(self) -> Bools:
        """Which items something was said of."""
        every = [self.as_comparisons.near, self.as_comparisons.far, *(one.pairs for one in self.ratings)]
        every += [] if self.links is None else [self.links.pairs]
        return np.isin(np.arange(self.n_items), np.concatenate(every))

    @property
    def n_present(self) -> int:
        """How many items something was said of."""
        return int(self.present.sum())

    @property
    def counts(self) -> dict[str, int]:
        """How much there is of each."""
        size = {"comparisons": self.comparisons, "links": self.links, "labels": self.implied}
        found = {name: len(one) for name, one in size.items() if one is not None}
        return found | ({"ratings": sum(map(len, self.ratings))} if self.ratings else {})

    def with_comparisons(self, comparisons: Comparisons) -> MixedFeedback:
        """Return the same feedback with other comparisons (a fold of them, say)."""
        return replace(self, comparisons=comparisons)

    def terms(
        self, loss: ComparisonLoss, weights: Mapping[str, float], device: str
    ) -> tuple[list[Term], list[float], Backend]:
        """Return the terms, their weights and where they are evaluated: comparisons are the first, if there are any.

        Those of one form have no sharpness of their own, and go to the device.
        """
        terms: list[Term] = []
        shares: list[float] = []
        backend: Backend = CPU()
        if self.comparisons is not None and len(self.forms) == 1:
            graph, backend = on_device(self.comparisons, device)
            terms.append(Compared(graph, loss))
            shares.append(weights.get(self.forms[0], 1.0))
        elif self.forms:
            terms.append(self._judged(loss, weights))
            shares.append(1.0)
        for one, steps in zip(self.ratings, self.steps, strict=True):
            terms.append(_rated(one, steps))
            shares.append(weights.get("ratings", 1.0))
        if self.links is not None:
            links = self.links
            terms.append(Linked(_SCALE, links.pairs, links.similar, np.array(links.weight)))
            shares.append(weights.get("links", 1.0))
        return terms, shares, backend

    def _judged(self, loss: ComparisonLoss, weights: Mapping[str, float]) -> Judged:
        """All comparisons as one term, their weight multiplied by that of their form."""
        factor = np.array([weights.get(form, 1.0) for form in self.forms])
        parts = [(part, self._sources(part)) for part in (self.comparisons,) if part is not None]
        if self.implied is not None:
            parts.append((self.implied, np.full(len(self.implied), len(self.forms) - 1)))
        near, far = (np.concatenate([getattr(part, side) for part, _ in parts]) for side in ("near", "far"))
        weight = np.concatenate([part.weight * factor[source] for part, source in parts])
        kept = np.flatnonzero(weight > 0)
        source = np.concatenate([source for _, source in parts])[kept]
        return Judged(loss, near[kept], far[kept], weight[kept], source, len(self.forms), spread=_SPREAD)

    def _sources(self, part: Comparisons) -> Array:
        forms, form = forms_of(part)
        return places_among(forms, self.forms, form)

    def sharpness_of(self, comparisons: Comparisons, term: Term, own: Floats) -> Floats:
        """Sharpness of the form of each comparison."""
        if not isinstance(term, Judged):
            return np.ones(len(comparisons))
        return term.sources.sharpness(own)[self._sources(comparisons)]

    def sharpness(self, terms: Sequence[Term], own: Sequence[Floats]) -> dict[str, float]:
        """Sharpness of each form of comparison, the commonest first."""
        if not isinstance(terms[0], Judged):
            return dict.fromkeys(self.forms, 1.0)
        return dict(zip(self.forms, terms[0].sources.sharpness(own[0])[:-1].tolist(), strict=True))

    def scales(self, terms: Sequence[Term], own: Sequence[Floats]) -> tuple[Any, list[dict[str, Any]]]:
        """Return what was found of the links, and of each set of ratings."""
        links: dict[str, float] | None = None
        sets: list[dict[str, Any]] = []
        for term, mine in zip(terms, own, strict=True):
            if isinstance(term, Linked):
                links = {"threshold": float(mine[0]), "slope": float(np.exp(mine[1]))}
            elif isinstance(term, Rated):
                sets.append(_scale_of(term, mine, self.ratings[len(sets)]))
        return links, sets


def _check_kinds(links: Any, ratings: Any, labels: Any) -> None:
    several = ratings if isinstance(ratings, (list, tuple)) else [ratings]
    for name, kind, given in (("links", Links, [links]), ("ratings", Ratings, several), ("labels", Labels, [labels])):
        for one in given:
            if one is not None and not isinstance(one, kind):
                raise TypeError(
                    f"{name}: expected {kind.__name__}, found {type(one).__name__}; make one with sm.{kind.__name__}.of"
                )


def _rated(ratings: Ratings, steps: bool) -> Term:
    who, n_raters = ratings.rater.codes, len(ratings.rater.labels)
    weight = np.array(ratings.weight)
    if steps:
        step, count = ratings.steps()
        return Graded(_SCALE, ratings.pairs, step, max(count, 2), weight, who, n_raters)
    centre, spread = _unit(ratings)
    return Measured(_SCALE, ratings.pairs, (ratings.difference - centre) / spread, weight, who, n_raters)


def _unit(ratings: Ratings) -> tuple[float, float]:
    """Mean and spread of ratings as numbers, larger being more different: they are learned in these units."""
    return float(ratings.difference.mean()), float(ratings.difference.std()) or 1.0


def _scale_of(term: Rated, own: Floats, ratings: Ratings) -> dict[str, Any]:
    """Return what was found of a set of ratings: all that is needed to say what a distance would be rated."""
    shifts = own[len(own) - term.n_raters :].tolist()
    found: dict[str, Any] = {"shifts": dict(zip(ratings.rater.labels, shifts, strict=True)), "larger": ratings.larger}
    if isinstance(term, Graded):
        sign = 1.0 if ratings.larger == "different" else -1.0
        steps = (sign * np.unique(ratings.difference)).tolist()  # the most alike first, as thresholds are
        return found | {"slope": term.slope(own), "thresholds": term.thresholds(own), "steps": steps}
    centre, spread = _unit(ratings)
    numbers = {"slope": float(np.exp(own[1])), "offset": float(own[0]), "width": float(np.exp(own[2]))}
    return found | numbers | {"centre": centre, "spread": spread}


def _links_compared(links: Links | None, rng: np.random.Generator) -> Comparisons | None:
    if links is None or not 0 < links.similar.sum() < len(links):
        return None
    pooled = replace(links, rater=Categories.of(None, len(links)))
    return pooled.to_comparisons(_PER_PAIR * len(links), rng)


def _ratings_compared(ratings: Ratings, rng: np.random.Generator) -> Comparisons | None:
    if len(np.unique(ratings.value)) < 2:
        return None
    sheets = max(len(ratings.rater.labels), 1)
    found = ratings.to_comparisons(max(1, _PER_PAIR * len(ratings) // sheets), rng)
    return found if len(found) else None


def _only_named(links: Links | None, ratings: Sequence[Ratings], like: Comparisons) -> list[Comparisons]:
    """Return empty feedback about the items of links and ratings, so that none is left out of the numbering."""
    given: list[Any] = [*([] if links is None else [links]), *ratings]
    nothing = like.select(np.zeros(like.n_answers, bool))
    empty = [replace(nothing, names=one.names, n_items=one.n_items) for one in given]
    return [replace(one, answers=nothing.answers) for one in empty]


def _over(c: Comparisons, names: Names | None, n_items: int) -> Comparisons:
    return c.with_items(names) if names is not None and c.names != names else c.with_items(n_items=n_items)


def _renumbered(said: Any, names: Names | None, n_items: int) -> Any:
    if names is None or said.names == names:
        return replace(said, n_items=n_items)
    table = encode_items(said.names, names)[0]
    return replace(said, pairs=table[said.pairs], names=names, n_items=n_items)
