"""Labellings: a class for each item, and how sure the rater is."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from similitude.feedback import label_edges
from similitude.feedback.columns import Rows
from similitude.feedback.forms.base import Edges, Form, Setup, finite
from similitude.feedback.forms.grouping import count_within_over_across, within_over_across
from similitude.feedback.forms.pieces import PER_PIECE, Piece
from similitude.feedback.forms.ratings import unequal
from similitude.types import Array

if TYPE_CHECKING:
    from similitude.feedback.simulation.mind import Mind, Said


class Labelling(Form):
    """A grouping by class; and of two in a class, the surer one is nearer to a third."""

    name = "labelling"
    words = "labels with a confidence"
    says = "the number of its class and the confidence, 0 to 1, of each item in turn"

    def comparisons(self, shown: Array, response: Array) -> Edges:
        """Items put into classes: a grouping, and of two in a class the surer one is nearer to a third."""
        self.check_size(2 * shown.shape[1] == response.shape[1], shown, response)
        said = response.reshape(len(shown), shown.shape[1], 2)
        label, sure = said[:, :, 0], said[:, :, 1]
        near, far, row = within_over_across(shown, label)
        same = (label[:, :, None] == label[:, None, :]) & ~np.eye(shown.shape[1], dtype=bool)
        surer = sure[:, :, None] > sure[:, None, :]
        line, head, a, b = np.nonzero(same[:, :, :, None] & same[:, :, None, :] & surer[:, None, :, :])
        heads = shown[line, head]
        owner = np.concatenate([row, line])
        order = np.argsort(owner, kind="stable")
        near = np.concatenate([near, np.stack([heads, shown[line, a]], 1)])
        far = np.concatenate([far, np.stack([heads, shown[line, b]], 1)])
        return near[order], far[order], owner[order]

    def count(self, shown: Rows, response: Rows) -> Array:
        """Those of the grouping, and each two of a class that differ in confidence with each third."""
        return np.array([_count(*response[row].reshape(-1, 2).T) for row in range(len(response))], np.int64)


def _count(label: Array, sure: Array) -> int:
    surer = sum(unequal(sure[label == k]) * (int((label == k).sum()) - 2) for k in np.unique(label))
    return count_within_over_across(label) + surer


class LabelledItem(Piece):
    """One item to label; a rater's are a labelling."""

    name = "labelled_item"
    page = "labelling"
    words = Labelling.words
    shows, says = "item", "the number of its class, and the confidence, 0 to 1"
    ask = "What is this?"
    n_shown = 1
    settings = ("classes",)
    sheet = Labelling()
    compares = "two classes used by one rater, one of them for two items"

    def check_setup(self, setup: Setup) -> None:
        """There must be classes to choose from."""
        if len(setup.classes) < 2 or len(set(setup.classes)) < len(setup.classes):
            raise ValueError(f"classes: a labelling needs at least 2 different classes, found {list(setup.classes)}")

    def check_response(self, response: Sequence[float], setup: Setup) -> list[float]:
        """A class by its number, and a confidence from 0 to 1."""
        said = finite(response)
        if len(said) != 2:
            raise ValueError(f"response: expected a class and a confidence, found {len(said)} numbers")
        label, confidence = said
        if label != int(label) or not 0 <= label < len(setup.classes):
            raise ValueError(f"response: expected a class from 0 to {len(setup.classes) - 1}, found {label:g}")
        if not 0 <= confidence <= 1:
            raise ValueError(f"response: expected a confidence from 0 to 1, found {confidence:g}")
        return said

    def same_response(self, one: Sequence[float], other: Sequence[float]) -> bool:
        """Whether the class is the same, whatever the confidence."""
        return one[0] == other[0]

    def thinned(self, shown: Array, response: Array, most: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """All comparisons or some; of sheets whose comparisons are too many to list, so many for each item."""
        if not self.is_long(shown, response):
            return super().thinned(shown, response, most, rng)
        label, sure = response.reshape(-1, 2).T
        kinds = (label_edges.same_over_other(label, PER_PIECE, rng), label_edges.surer(label, sure, PER_PIECE, rng))
        drawn = np.concatenate(kinds)
        drawn = shown[drawn[np.sort(rng.permutation(len(drawn))[:most])]]
        return drawn[:, :2], drawn[:, [0, 2]]

    def answer(self, mind: Mind, shown: Array) -> Said:
        """Say the class whose prototype (drawn by its name) is near, and the share of its odds."""
        place = mind.truth.layout() if mind.truth.positions is None else mind.truth.positions
        drawn = [Random(name) for name in mind.classes]
        prototypes = np.array([[rng.gauss(0, 1) for _ in place.T] for rng in drawn])
        value = -((place[shown[:, 0], None, :] - prototypes[None]) ** 2).sum(axis=2)
        chosen, _, clear = mind.pick(value)
        odds = np.exp(mind.sharpness[:, None] * (value - value.max(axis=1, keepdims=True)))
        sure = np.take_along_axis(odds / odds.sum(axis=1, keepdims=True), chosen, axis=1)
        return np.concatenate([chosen, sure], axis=1), np.full(len(shown), -1, np.int32), clear
