"""Labels: what an item is called, and how sure the rater is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from similitude.display.words import counted
from similitude.feedback import label_edges
from similitude.feedback.answers import Answers
from similitude.feedback.cards import labels_card
from similitude.feedback.checks import check_share
from similitude.feedback.columns import Categories, Rowwise, frozen
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.items import Names, encode_items
from similitude.feedback.links import Links
from similitude.feedback.sheets import Sheets
from similitude.types import Array, Column, Floats, Ints, Seed

Kind = Literal["class", "ordinal", "numeric"]


@dataclass(frozen=True, eq=False, repr=False)
class Labels(Rowwise):
    """A class, a grade or a number for each item, from one or more raters.

    Build one with `of`, which checks what it is given. All labels of one rater are one answer.

    Attributes
    ----------
    item : (k,) item indices
    value : (k,) the label: the position in `classes`, or the number
    kind : "class", "ordinal" (an order of grades) or "numeric"
    classes : names of the classes; empty where labels are numbers
    confidence : (k,) how sure the rater is of the label given, 0 to 1, or None
    rater : who said it
    n_items, names : the items

    Examples
    --------
    >>> import similitude as sm
    >>> labels = sm.Labels.of(["cat", "lynx", "bus", "car"], ["animal", "animal", "thing", "thing"])
    >>> labels.to_comparisons(random_state=0).triplets.shape
    (8, 3)
    """

    item: Ints
    value: Floats
    kind: Kind
    classes: tuple[str, ...]
    confidence: Floats | None
    rater: Categories
    n_items: int
    names: Names | None
    _columns = ("item", "value", "confidence", "rater")

    @classmethod
    def of(
        cls,
        item: Column,
        value: Column,
        confidence: Column | None = None,
        *,
        kind: Kind = "class",
        rater: Any = None,
        names: Sequence[str] | None = None,
        n_items: int | None = None,
    ) -> Labels:
        """Make labels from columns.

        Parameters
        ----------
        item : (k,) the labelled items, by name or position
        value : (k,) their labels
        confidence : (k,) how sure the rater is that the label is right, 0 to 1
        kind : "class", "ordinal" (numbers or sortable grades) or "numeric"
        rater : who said it, one for all labels or one per label
        names, n_items : the items, as in `Comparisons`
        """
        codes, known, count = encode_items(item, names, n_items)
        if codes.ndim != 1:
            raise ValueError(f"item: expected one item per label, found shape {codes.shape}")
        values, classes = _values(value, kind, len(codes))
        who = Categories.of(rater, len(codes))
        _check_once(codes, who, known)
        return cls(codes, values, kind, classes, _confidence(confidence, len(codes)), who, count, known)

    def to_links(self, n_links: int | None = None, random_state: Seed = None) -> Links:
        """Return pairs of one class as similar and pairs of different classes as dissimilar, rater by rater.

        Parameters
        ----------
        n_links : number of pairs to draw for each rater; every pair when not given
        random_state : seed of that draw
        """
        self._need_classes("to_links")
        rng = np.random.default_rng(random_state)
        who = self.rater.values
        parts = [
            Links.from_labels(
                self.item[rows],
                self.value[rows],
                n_links=n_links,
                random_state=rng,
                rater=who[rows[0]],
                n_items=self.n_items,
            )
            for rows in self._sheets()
        ]
        return replace(Links.concatenate(parts), names=self.names)

    def to_comparisons(self, per_item: int = 20, random_state: Seed = None) -> Comparisons:
        """Compare items by their labels; all labels of one rater are one answer.

        Classes: an item is more like one of its class than like one of another. With confidence, also: of
        two items of a class, the surer one is nearer to a third of that class. Grades and numbers: an item
        is more like the one whose label is closer, |y_a - y_b| < |y_a - y_c|.

        Parameters
        ----------
        per_item : draw this many comparisons of each kind for each item; repeats among them are left out
        random_state : seed of the draw
        """
        if per_item < 1:
            raise ValueError(f"per_item: expected at least 1 comparison per item, found {per_item}")
        rng = np.random.default_rng(random_state)
        sheets = self._sheets()
        parts = [self._triplets(rows, per_item, rng) for rows in sheets]
        triplets = np.concatenate(parts) if parts else np.empty((0, 3), np.int64)
        if len(triplets) == 0:
            if self.kind == "class":
                self._need_classes("to_comparisons")
            raise ValueError(
                f"to_comparisons: the {len(self)} labels compare nothing; expected two classes, one of them "
                "with two items, or numbers that differ for three items"
            )
        owner = np.repeat(np.arange(len(parts)), [len(part) for part in parts]).astype(np.int32)
        head, near, far = self.item[triplets].T
        edges = (np.stack([head, near], 1), np.stack([head, far], 1), owner)
        answers = Answers.of(
            self._form(), sheets.rows(self.item[:, None]), sheets.rows(self._said()), rater=sheets.labels
        )
        return Comparisons.from_answers(answers, names=self.names, n_items=self.n_items, edges=edges)

    def _triplets(self, rows: Array, per_item: int, rng: np.random.Generator) -> Array:
        """Rows (head, near, far) of labels drawn from one rater's sheet."""
        value = self.value[rows]
        if self.kind != "class":
            return rows[label_edges.closer(value, per_item, rng)]
        drawn = label_edges.same_over_other(value, per_item, rng)
        if self.confidence is not None:
            drawn = np.concatenate([drawn, label_edges.surer(value, self.confidence[rows], per_item, rng)])
        return rows[drawn]

    def _form(self) -> str:
        if self.kind != "class":
            return "placement"
        return "grouping" if self.confidence is None else "labelling"

    def _said(self) -> Array:
        """The response of each label in the code of the form."""
        if self.kind == "class" and self.confidence is not None:
            return np.stack([self.value, self.confidence], axis=1)
        return self.value[:, None]

    def _sheets(self) -> Sheets:
        return Sheets(self.rater.values if self.rater.recorded else None, len(self))

    def _need_classes(self, method: str) -> None:
        if self.kind != "class":
            raise ValueError(f"{method}: expected classes, found {self.kind} labels; use to_comparisons")
        if len(np.unique(self.value)) < 2:
            found = self.classes[int(self.value[0])] if len(self) else "no label"
            raise ValueError(f"value: expected at least two classes, found only {found!r}; one class compares nothing")

    def __repr__(self) -> str:
        sure = "" if self.confidence is None else " with confidence"
        return f"<{counted(len(self), f'{self.kind} label')}{sure} for {counted(self.n_items, 'item')}>"

    def _repr_html_(self) -> str:
        return labels_card(self)


def _values(value: Any, kind: str, length: int) -> tuple[Floats, tuple[str, ...]]:
    if kind not in ("class", "ordinal", "numeric"):
        raise ValueError(f"kind: expected 'class', 'ordinal' or 'numeric', found {kind!r}")
    values = np.asarray(value)
    if values.shape != (length,):
        raise ValueError(f"value: expected one label per item ({length}), found shape {values.shape}")
    empty = np.array([label is None or label != label or label == "" for label in values.tolist()], bool)
    if empty.any():
        row = int(np.flatnonzero(empty)[0])
        raise ValueError(f"value: row {row} has no label (found {values[row]!r}); leave such rows out")
    if kind == "numeric" or (kind == "ordinal" and values.dtype.kind in "iuf"):
        if values.dtype.kind not in "iufb":
            raise TypeError(f"value: expected numbers, found {values[0]!r}")
        return frozen(values, float), ()
    labels, code = np.unique(values, return_inverse=True)
    return frozen(code, float), tuple(str(label) for label in labels)


def _confidence(confidence: npt.ArrayLike | None, length: int) -> Floats | None:
    if confidence is None:
        return None
    sure = frozen(np.asarray(confidence, float))
    if sure.shape != (length,):
        raise ValueError(f"confidence: expected one number per label ({length}), found shape {sure.shape}")
    check_share(sure, "confidence")
    return sure


def _check_once(codes: Ints, rater: Categories, names: Names | None) -> None:
    order = np.lexsort((codes, rater.codes))
    item, who = codes[order], rater.codes[order]
    twice = np.flatnonzero((item[1:] == item[:-1]) & (who[1:] == who[:-1]))
    if len(twice):
        found = int(item[twice[0]])
        called = found if names is None else names[found]
        raise ValueError(f"item: {called!r} is labelled twice by one rater; give rater= or keep one label of each")
