"""From vectors to positions, with numpy alone: what a fitted model needs of its features to place new items.

A position is a sum over modalities, less an origin. What a modality adds is

    sum_j k(y, x_j) c_j - offset          over training items x_j with coefficients c_j (d each)

and for the kernels that are linear in y (a linear one, a cosine, kernel values that were given) the sum over training
items is taken once, when the map is made: y'A, one matrix product, without the training items. Other kernels keep the
items that have coefficients, and no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from similitude.engine.feature_checks import by_column, check_same_rows, rows_of_tables
from similitude.engine.map_parts import NEW, LinearPart, MapPart
from similitude.types import Floats


@dataclass(frozen=True, eq=False)
class ModalityMap:
    """What one modality adds to the position of a new item.

    Attributes
    ----------
    modality : its name
    parts : the kernels whose sum it is
    offset : (d,) what is taken from it
    unshared_at_centre : whether an item that shares nothing with the training items (all sums are 0) adds nothing; one
        without features never adds anything
    columns : names of the columns, where it was learned from a table: a table is then read by name
    """

    modality: str
    parts: tuple[MapPart, ...]
    offset: Floats
    unshared_at_centre: bool = False
    columns: tuple[str, ...] | None = None

    def __call__(self, features: Any) -> Floats:
        """(m, d) what it adds."""
        features = by_column(features, self.columns, NEW)
        out, present = self.parts[0].values(features)
        for part in self.parts[1:]:
            more, here = part.values(features)
            if len(more) != len(out):
                raise ValueError(
                    f"{NEW}: found parts of {len(out)} and {len(more)} items, expected the same new items in each"
                )
            out, present = out + more, None if present is None or here is None else present | here
        lacking = ~out.any(1) if self.unshared_at_centre else None if present is None else ~present
        out -= self.offset
        if lacking is not None and lacking.any():
            out[lacking] = 0.0
        return out

    def then(self, turn: Floats) -> ModalityMap:
        """Return the same with its outputs multiplied by a matrix."""
        return replace(self, parts=tuple(part.then(turn) for part in self.parts), offset=self.offset @ turn)

    @property
    def linear(self) -> bool:
        """Whether it is one matrix product."""
        return len(self.parts) == 1 and isinstance(self.parts[0], LinearPart) and not self.parts[0].route


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """Positions of new items by their features alone.

    Attributes
    ----------
    pieces : what the modalities add
    origin : (d,) what is taken from their sum
    non_negative : whether what is below 0 then becomes 0
    """

    pieces: tuple[ModalityMap, ...]
    origin: Floats
    non_negative: bool = False

    @classmethod
    def joined(cls, maps: Sequence[FeatureMap]) -> FeatureMap:
        """Return the sum of maps; what is linear in the same vectors becomes one matrix."""
        together: list[ModalityMap] = []
        for piece in (piece for one in maps for piece in one.pieces):
            like = next((k for k, other in enumerate(together) if _addable(piece, other)), None)
            if like is None:
                together.append(piece)
            else:
                together[like] = _added(together[like], piece)
        return cls(tuple(together), np.sum([one.origin for one in maps], axis=0))

    def then(self, turn: Floats) -> FeatureMap:
        """Return the map with positions multiplied by a matrix; of what is never negative it may choose dimensions."""
        return replace(self, pieces=tuple(piece.then(turn) for piece in self.pieces), origin=self.origin @ turn)

    @cached_property
    def modalities(self) -> tuple[str, ...]:
        """Names of the modalities."""
        return tuple(dict.fromkeys(piece.modality for piece in self.pieces))

    @property
    def n_components(self) -> int:
        """Dimensions of the positions."""
        return len(self.origin)

    @property
    def width(self) -> int | None:
        """The length of a vector, where features are vectors of one modality."""
        routed = any(part.route for piece in self.pieces for part in piece.parts)
        return None if len(self.modalities) > 1 or routed else self.pieces[0].parts[0].width

    @cached_property
    def affine(self) -> tuple[Floats, Floats] | None:
        """(p, d) matrix A and (d,) offset b of positions y'A - b, where the map is linear; None where it is not.

        Rows without features are at the centre instead, and with `unshared_at_centre` rows of zeros, too.
        """
        if self.non_negative or len(self.pieces) != 1 or not self.pieces[0].linear:
            return None
        return self.pieces[0].parts[0].weights, self.pieces[0].offset + self.origin

    def __call__(self, features: Any) -> Floats:
        """(m, d) positions of new items, given as in `fit`: an array, or a dict with some of the modalities."""
        check_same_rows(rows_of_tables(features), "features")
        given = self._by_modality(features)
        used = [piece for piece in self.pieces if piece.modality in given]
        added = [piece(given[piece.modality]) for piece in used]
        if len({len(one) for one in added}) > 1:
            counts = ", ".join(f"{piece.modality}: {len(one)}" for piece, one in zip(used, added, strict=True))
            raise ValueError(f"features: found different numbers of new items ({counts}), expected the same in each")
        total = added[0]
        for one in added[1:]:
            total = total + one
        total -= self.origin
        return np.maximum(total, 0.0) if self.non_negative else total

    def _by_modality(self, features: Any) -> Mapping[str, Any]:
        known = self.modalities
        given = features if isinstance(features, Mapping) else {known[0]: features}
        unknown = [str(name) for name in given if name not in known]
        if unknown or not given or (len(known) > 1 and not isinstance(features, Mapping)):
            found = ", ".join(unknown) or f"a {type(features).__name__}"
            raise ValueError(f"features: found {found}, expected a dict with some of {', '.join(known)}")
        return given


def _addable(one: ModalityMap, other: ModalityMap) -> bool:
    same = (one.modality, one.columns) == (
        other.modality,
        other.columns,
    ) and one.unshared_at_centre == other.unshared_at_centre
    return same and one.linear and other.linear


def _added(one: ModalityMap, other: ModalityMap) -> ModalityMap:
    part = replace(one.parts[0], weights=one.parts[0].weights + other.parts[0].weights)
    return replace(one, parts=(part,), offset=one.offset + other.offset)
