"""Whether the parts of a model that was read fit each other: a damaged file is told when it is read, not in use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from similitude.engine.feature_maps import FeatureMap
from similitude.engine.measures import Signed
from similitude.engine.terms import Formula
from similitude.feedback.items import check_names
from similitude.methods.answering import AnswerModel, Groups, Sharpness, Weighed
from similitude.types import Array


def check_fields(fields: Mapping[str, Any]) -> None:
    """Refuse the fields of a `Similarity` that do not fit each other, saying which."""
    positions, form = fields["embedding"], fields["form"]
    need(positions.ndim == 2 and len(positions) > 0, f"positions have the shape {positions.shape}")
    need(positions.dtype.kind in "iuf", f"positions are {positions.dtype}")
    n_items, dimensions = positions.shape
    check_item_names(fields["names"], n_items)
    _check_plain(fields, n_items)
    for formula in (fields["loss"].scale, fields["loss"].shape):
        _check_formula(formula)
    if form is not None:
        _check_form(form, n_items)
    if fields["feature_map"] is not None:
        _check_map(fields["feature_map"], dimensions if form is None else len(form.signs))
    if fields["answering"] is not None:
        _check_answering(fields["answering"], dimensions)


def need(holds: bool, otherwise: str) -> None:
    """Refuse what does not hold, with the sentence that says so."""
    if not holds:
        raise ValueError(otherwise)


def need_shape(array: Array, shape: tuple[int, ...], called: str) -> None:
    """Refuse an array of another shape."""
    need(array.shape == shape, f"{called} has the shape {array.shape}, not {shape}")


def check_item_names(names: tuple[Any, ...] | None, n_items: int) -> None:
    """Refuse names that are not those of as many items, each once."""
    if names is None:
        return
    need(all(isinstance(name, str) for name in names), "names are not all text")
    check_names(names)
    need(len(names) == n_items, f"there are {len(names)} names for {n_items} items")


def _check_plain(fields: Mapping[str, Any], n_items: int) -> None:
    for field in ("about", "thresholds", "attributes"):
        need(isinstance(fields[field], dict), f"{field} holds no entries")
    for name, values in fields["attributes"].items():
        need(len(values) == n_items, f"attribute {name!r} has {len(values)} values for {n_items} items")


def _check_formula(formula: Formula) -> None:
    need(math.isfinite(formula.parameter), f"the parameter of {formula.name!r} is not finite")


def _check_form(form: Signed, n_items: int) -> None:
    need(form.signs.ndim == 1 and bool(np.isin(form.signs, (-1, 1)).all()), "signs are not 1 or -1")
    need_shape(form.positions, (n_items, len(form.signs)), "form/positions")


def _check_map(known: FeatureMap, dimensions: int) -> None:
    """The map gives positions of as many dimensions; it is tried out on a vector, where it takes such."""
    need_shape(known.origin, (dimensions,), "map/origin")
    need(len(known.pieces) > 0, "the map has no pieces")
    for piece in known.pieces:
        need(isinstance(piece.modality, str) and len(piece.parts) > 0, "a modality has no name or no parts")
        need_shape(piece.offset, (dimensions,), "an offset of the map")
        for part in piece.parts:
            need(part.weights.ndim == 2, f"weights of the map have the shape {part.weights.shape}")
            need_shape(part.weights, (len(part.weights), dimensions), "a part of the map")
    if known.width is not None:
        known(np.ones((1, known.width)))


def _check_answering(answering: AnswerModel, dimensions: int) -> None:
    count = len(answering.names)
    need(all(isinstance(name, str) for name in answering.names), "names of raters or forms are not all text")
    if isinstance(answering, Sharpness):
        for name, values in (("sharpness", answering.sharpness), ("lapse", answering.lapse)):
            need_shape(values, (count + 1,), f"answering/{name}")
            need(bool((values >= 0).all()), f"answering/{name} is not 0 or more throughout")
        need(bool((answering.lapse <= 1).all()), "a lapse is more than 1")
        need(0.0 <= answering.cant_tell < 1.0, f"a share of 'can't tell' is {answering.cant_tell}")
    if isinstance(answering, Weighed):
        need_shape(answering.weights, (count + 1, dimensions), "answering/weights")
        need(bool((answering.weights >= 0).all()), "weights of raters are not all 0 or more")
    if isinstance(answering, Groups):
        groups = len(answering.shares)
        need_shape(answering.shares, (groups,), "answering/shares")
        need_shape(answering.member, (count, groups), "answering/member")
        need_shape(answering.views, (groups, dimensions, *answering.views.shape[2:3]), "answering/views")
