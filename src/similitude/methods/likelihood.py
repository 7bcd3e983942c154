"""What the embeddings that model who said what share: one of the methods with a probability, and who the raters are."""

from __future__ import annotations

from typing import Literal

import numpy as np

from similitude.engine.losses import as_loss
from similitude.engine.terms import ComparisonLoss
from similitude.feedback.comparisons import Comparisons
from similitude.methods.ordinal_base import OrdinalEmbedding
from similitude.types import Array

METHODS = {"STE": "ste", "TSTE": "tste", "CKL": "ckl", "probit": "probit"}
"""Losses with a probability, by what `method` calls them."""


class LikelihoodEmbedding(OrdinalEmbedding):
    """An ordinal embedding whose answers have a probability; `method` says which.

    Parameters
    ----------
    method : "STE", "TSTE", "CKL" or "probit" (normal noise), each with its default setting; it also sets the default
        penalty
    device : where the pooled fit runs, as of `STE`; what the raters add is fitted on the CPU
    """

    method: Literal["STE", "TSTE", "CKL", "probit"] = "STE"

    def comparison_loss(self) -> ComparisonLoss:
        """Return the loss of the method."""
        return as_loss(METHODS[self.method], self.n_components)

    def _check(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"method: expected one of {', '.join(METHODS)}, found {self.method!r}")
        super()._check()


def raters_of(comparisons: Comparisons) -> tuple[tuple[str, ...], Array]:
    """Return the raters in order of their names, and for each comparison the place of its rater, -1 where unknown."""
    labels = comparisons.answers.rater.labels
    order = sorted(range(len(labels)), key=lambda code: labels[code])
    place = np.full(len(labels) + 1, -1, np.int64)
    place[order] = np.arange(len(labels))
    return tuple(labels[code] for code in order), place[comparisons.answers.rater.codes][comparisons.answer]


def answer_counts(comparisons: Comparisons) -> Array:
    """Number of answers of each rater, "can't tell" included, raters in order of their names."""
    who = comparisons.answers.rater
    count = np.bincount(who.codes[who.codes >= 0], minlength=len(who.labels))
    return count[sorted(range(len(who.labels)), key=lambda code: who.labels[code])]


def places_among(names: tuple[str, ...], known: tuple[str, ...], code: Array) -> Array:
    """Turn codes into `names` into codes into `known`, -1 where a name is not known."""
    place = {name: k for k, name in enumerate(known)}
    return np.array([*(place.get(name, -1) for name in names), -1], np.int64)[code]
