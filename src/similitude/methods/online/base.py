"""What online estimators share: a stream of answers, new items, answers kept, one slope, and a state that is saved."""

from __future__ import annotations

import io
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from scipy import optimize
from sklearn.utils.validation import check_is_fitted

from similitude.engine.online import RECENT
from similitude.engine.terms import SHAPES, ComparisonLoss, Formula, logistic, named, probit, squared
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.files.whole import write_whole
from similitude.methods.base import ComparisonEstimator, refuse_empty
from similitude.methods.model_checks import check_item_names, need, need_shape
from similitude.methods.model_file import check_format, opened, told_as_damage
from similitude.methods.online.stream import KnownItems
from similitude.methods.provenance import provenance
from similitude.methods.similarity import Similarity
from similitude.settings import as_path
from similitude.types import Array, Bools, Floats, Ints

Layout = dict[str, tuple[type, tuple[str | int, ...]]]  # what arrays hold, and their shape: numbers, or of what

_FORMAT = 1
_FIRST_ROOM = 1024


class OnlineEstimator(ComparisonEstimator, ABC):
    """Learns answer by answer: a stream taken at once, one by one, or with a save in between gives the same bits.

    A method gives `_begin_model`, `_add_items`, `_learn`, `_positions` and `_told_of`, names its arrays in `_arrays`
    and its counts in `_counts`, and keeps every bit of its state in them.
    """

    _items: KnownItems = field(init=False)
    loss: str = "logistic"
    n_items: int | None = None
    grow: bool = False
    random_state: int | np.random.Generator | None = None

    _arrays: ClassVar[Layout] = {
        "_rows": (np.int32, ("kept", 4)),
        "_weights": (np.float64, ("kept",)),
        "_random": (np.uint64, (1,)),
        "_recent": (np.float64, (RECENT,)),
    }
    _counts: ClassVar[tuple[str, ...]] = ("n_answers_",)
    _since: ClassVar[dict[str, Callable[[int], Array]]] = {}  # arrays that older files lack, and what stands for them

    def fit(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None) -> Self:
        """Forget everything, then learn the comparisons in their order."""
        c = as_comparisons(comparisons, y, self.n_items)
        refuse_empty(c)
        self._begin(KnownItems(c.n_items, c.names))
        return self.partial_fit(c)

    def partial_fit(self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None) -> Self:
        """Learn further comparisons, in their order.

        The first call says which items there are (`n_items`, or those of its comparisons). A later one may hold others
        only where `grow` is set; they are appended.

        Parameters
        ----------
        comparisons : a `Comparisons`, or an array of rows `(i, j, k)` or `(i, j, k, l)`; comparisons of weight 0 are
            passed over
        y : booleans or +1/-1 per comparison, False or -1 where it is the other way round
        """
        if not hasattr(self, "_items"):
            c = as_comparisons(comparisons, y, self.n_items)
            self._begin(KnownItems(c.n_items, c.names))
            comparisons, y = c, None
        rows, weight, items = self._items.read(comparisons, y, self.grow)
        self._check_rows(rows)
        if items.count > self.n_items_:
            self._add_items(items.count - self.n_items_)
            self._items = items
        self._make_room(len(rows))
        self._learn(rows, weight)
        self._similarity: Similarity | None = None
        return self

    @property
    def n_items_(self) -> int:
        """Number of items that the model knows."""
        return self._items.count

    @property
    def slope_(self) -> float:
        """What margins are multiplied with to give probabilities: fitted on the latest, before they were learned."""
        return fit_slope(self._recent, self._shape)

    @property
    def similarity_(self) -> Similarity:  # type: ignore[override]  # read out when it is asked for, not at every answer
        """The model in use, as it stands; its distances are in the units in which margins give probabilities."""
        if not hasattr(self, "_items"):
            raise AttributeError("similarity_: nothing was learned yet; call fit or partial_fit")
        if self._similarity is None:
            X = self._positions() * np.sqrt(self.slope_)
            X.flags.writeable = False
            loss = ComparisonLoss(Formula(squared), self._shape)
            never = np.flatnonzero(~self._told_of()).tolist()
            about = provenance(self, {"answers": int(self.n_answers_), "never_compared": never})
            self._similarity = Similarity(X, loss, self._items.names, about)
        return self._similarity

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file (arrays and JSON, never pickle); a model loaded from it goes on bit for bit."""
        check_is_fitted(self, "_items")
        header = {
            "format": _FORMAT,
            "method": type(self).__name__,
            "settings": self._settings(),
            "names": self._items.names,
            "n_items": self.n_items_,
            "counts": {name: getattr(self, name) for name in self._counts},
        }
        arrays: dict[str, Any] = {name: getattr(self, name) for name in self._arrays}
        given = self.get_params().keys() - self._settings().keys() - {"random_state"}  # a generator has done its work
        arrays |= {f"given_{name}": np.asarray(getattr(self, name), float) for name in given}
        text = np.frombuffer(json.dumps(header, ensure_ascii=False).encode(), np.uint8)
        whole = io.BytesIO()
        np.savez(whole, header=text, **arrays)
        write_whole(as_path(path, "save(path)"), whole.getvalue())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a state written by `save`; a damaged file is refused in one sentence."""
        called = Path(path).name
        with Path(path).open("rb") as file:
            arrays, header = opened(file, called, ("format", "method"), "the state of an online model", "`save` writes")
            if header["method"] != cls.__name__:
                raise ValueError(f"{called} holds the state of {header['method']}: use {header['method']}.load")
            check_format(header["format"], _FORMAT, called)
            with told_as_damage(called):
                model = cls(**header["settings"], **dict(arrays.under("given_")))  # type: ignore[arg-type]
                model._set_state(header, arrays)
        return model

    def _set_state(self, header: dict[str, Any], arrays: Mapping[str, Array]) -> None:
        """Take over what a file holds, where all of it fits."""
        self._check()
        names, n_items = header["names"], header["n_items"]
        need(type(n_items) is int and n_items > 0, f"there are {n_items!r} items")
        need(names is None or isinstance(names, list), "names are no list")
        names = None if names is None else tuple(names)
        check_item_names(names, n_items)
        for name in self._counts:
            count = header["counts"][name]
            need(type(count) is int and count >= 0, f"{name} is {count!r}")
            setattr(self, name, count)
        sizes = {"items": n_items, "components": getattr(self, "n_components", 0), "kept": len(arrays["_rows"])}
        for name, (kind, shape) in self._arrays.items():
            older = self._since[name](n_items) if name in self._since else None
            array = older if older is not None and name not in arrays else arrays[name]
            need(array.dtype.kind == np.dtype(kind).kind, f"{name} holds {array.dtype}")
            if older is None or array.shape != older.shape:
                need_shape(array, tuple(sizes[length] if isinstance(length, str) else length for length in shape), name)
            setattr(self, name, np.array(array, kind))  # those of a file cannot be written to
        need(bool(((self._rows >= 0) & (self._rows < n_items)).all()), "its answers are about items that it lacks")
        need(min(self.n_answers_, self._most_kept()) <= len(self._rows), "it lacks answers that it learned from")
        self._items, self._similarity = KnownItems(n_items, names), None

    @property
    def _shape(self) -> Formula:
        """What gives probabilities: probit if that is learned, else logistic, also for the hinge."""
        return Formula(probit if self.loss == "probit" else logistic)

    def _settings(self) -> dict[str, Any]:
        plain = (int, float, str, bool, type(None))
        return {name: value for name, value in self.get_params().items() if isinstance(value, plain)}

    def _begin(self, items: KnownItems) -> None:
        self._check()
        if hasattr(self, "_items"):
            del self._items  # a start that is refused below leaves a model that was not begun
        self._similarity = None
        self._rows, self._weights = np.empty((0, 4), np.int32), np.empty(0)
        self._random = np.random.default_rng(self.random_state).integers(0, 2**63, 1, np.uint64)
        self._recent = np.zeros(RECENT)
        self.n_answers_ = 0
        self._begin_model(items.count)
        self._items = items

    def _make_room(self, count: int) -> None:
        """Have room to keep further answers, up to the most that are kept; a sample of them stays one."""
        needed = min(self.n_answers_ + count, self._most_kept())
        if needed > len(self._rows) and self.n_answers_ <= len(self._rows):
            room = min(max(needed, 2 * len(self._rows), _FIRST_ROOM), self._most_kept())
            self._rows = _longer(self._rows, room)
            self._weights = _longer(self._weights, room)

    @abstractmethod
    def _most_kept(self) -> int:
        """Return how many answers are kept at most."""

    @abstractmethod
    def _check(self) -> None:
        """Refuse bad settings."""

    def _check_rows(self, rows: Ints) -> None:
        """Refuse rows that the method cannot learn from; any will do unless a method says otherwise."""

    @abstractmethod
    def _begin_model(self, n_items: int) -> None:
        """Set the state of a model that has learned nothing."""

    @abstractmethod
    def _add_items(self, count: int) -> None:
        """Append items."""

    @abstractmethod
    def _learn(self, rows: Ints, weight: Floats) -> None:
        """Learn answers, in their order."""

    @abstractmethod
    def _positions(self) -> Floats:
        """Return the positions to read out."""

    @abstractmethod
    def _told_of(self) -> Bools:
        """Return of which items answers tell, or the start that was given."""


def shape_code(loss: str) -> int:
    """Return the number by which a kernel knows the shape of a loss."""
    return SHAPES.index(named(SHAPES, loss))


def fit_slope(margins: Floats, shape: Formula) -> float:
    """Return the slope s > 0 that minimises  sum shape(s m) + (log s)²/2  over margins m of answers given.

    The second term is a weak prior around 1: it keeps the slope finite where all answers were foreseen, and positive
    where most were not. A margin of 0 says nothing.
    """

    def cost(log_slope: float) -> float:
        return float(shape(np.exp(log_slope) * margins)[0].sum() + 0.5 * log_slope**2)

    return float(np.exp(optimize.minimize_scalar(cost, bounds=(-10.0, 10.0), method="bounded").x))


def _longer(array: Array, length: int) -> Array:
    longer = np.zeros((length, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer
