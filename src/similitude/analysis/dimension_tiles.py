"""What a page shows of each dimension: the items that have most of it, those that have least, attributes, figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from similitude.analysis.atlas import thumbnail
from similitude.display.words import written_p
from similitude.evaluate.described_dimensions import WEAK, DescribedDimensions

_TILES, _LEAST, _ATTRIBUTES = 12, 6, 4
_SHOWN = 0.1  # of the most: an item with less is not what a dimension is about


@dataclass(frozen=True)
class Tile:
    """An item of a dimension: its name, its picture where there is one, and its value as a share of the largest."""

    name: str
    picture: str | None
    share: float


@dataclass(frozen=True)
class Shown:
    """A dimension as a page shows it."""

    number: int
    name: str
    suggested: str
    share: str
    reproduces: str
    doubtful: bool
    tiles: list[Tile]
    least: str
    weak: bool
    attributes: list[tuple[str, str, str]]


def shown_dimensions(found: DescribedDimensions, images: Mapping[str, Path] | None = None) -> list[Shown]:
    """What a page shows of each dimension."""
    return list(_shown(found, images or {}))


def _shown(found: DescribedDimensions, images: Mapping[str, Path]) -> Iterator[Shown]:
    for row in found.table.to_dict("records"):
        number, top = row["dimension"], found.top(row["dimension"], _TILES)
        most = float(top.value.max()) if len(top) else 1.0
        yield Shown(
            number,
            row["name"],
            {"attribute": "an attribute", "items": "its first items"}.get(row["named_from"], ""),
            _share(row),
            _again(row) if found.tested else "",
            found.tested and not row["reproducible"],
            [
                Tile(name, thumbnail(images.get(name)), value / most)
                for name, value in zip(top.item, top.value, strict=True)
                if value >= _SHOWN * most
            ],
            _least(found, number),
            found.tested and bool(row["reproducible"]) and row.get("halves", 1.0) < WEAK,
            _attributes(found.attributes, number),
        )


def _least(found: DescribedDimensions, number: int) -> str:
    """Who has least of a dimension; of the many that have none of it, how many there are."""
    bottom = found.bottom(number, len(found.items))
    first = ", ".join(bottom.item[:_LEAST])
    none = int((bottom.value == 0).sum())
    if none <= _LEAST:
        return f"Least of it: {first}."
    return f"None of it (0): {none:,} of {len(bottom):,} items, among them {first}."


def _figure(row: Mapping[Any, Any]) -> str:
    return f"{row['correlation']:.2f} ({row['low']:.2f} to {row['high']:.2f})"


def _again(row: Mapping[Any, Any]) -> str:
    """How far other fits find a dimension again."""
    ways = {"seeds": "other starts", "halves": "halves of the answers"}
    known = {way: row[way] for way in ways if np.isfinite(row.get(way, np.nan))}
    return ", ".join(f"{ways[way]} {value:.2f}" if value else f"{ways[way]}: not found" for way, value in known.items())


def _share(row: Mapping[Any, Any]) -> str:
    if not np.isfinite(row.get("share", np.nan)):
        return ""
    return f"{row['share']:.1%} ({row['share_low']:.1%} to {row['share_high']:.1%})"


def _attributes(attributes: pd.DataFrame | None, number: int) -> list[tuple[str, str, str]]:
    if attributes is None:
        return []
    own = attributes[(attributes.dimension == number) & attributes.correlation.notna()].head(_ATTRIBUTES)
    return [(row["attribute"], _figure(row), written_p(row["p_value"]).lstrip("= ")) for row in own.to_dict("records")]
