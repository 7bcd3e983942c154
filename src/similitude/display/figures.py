"""Figures of a report: printed as a table, given as a table or as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from similitude.display.cards import card, figures, remarks
from similitude.display.estimate import Estimate
from similitude.display.words import listed

if TYPE_CHECKING:
    import pandas as pd


class FigureTable:
    """What has figures by name: prints as a table."""

    def figures(self) -> Iterator[tuple[str, Estimate]]:
        """Yield each figure with its name, in the order of the table."""
        raise NotImplementedError(f"{type(self).__name__} must define figures")

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row per figure: name, value, low, high, note."""
        import pandas as pd

        rows = [(name, e.value, e.low, e.high, e.note) for name, e in self.figures()]
        return pd.DataFrame(rows, columns=["name", "value", "low", "high", "note"]).astype(
            {"value": float, "low": float, "high": float}
        )

    def __str__(self) -> str:
        rows = [(name, str(e), e.note) for name, e in self.figures()]
        wide, broad = (max(len(row[k]) for row in rows) for k in range(2))
        lines = [f"{name:<{wide}}  {text:<{broad}}  {note}".rstrip() for name, text, note in rows]
        return "\n".join(lines)

    __repr__ = __str__

    def doubts(self) -> list[str]:
        """Return what is worth a look, a sentence each; none where nothing stands out."""
        raise NotImplementedError(f"{type(self).__name__} must define doubts")

    def _repr_html_(self) -> str:
        doubts = self.doubts()
        rows = [(name, str(e), e.note) for name, e in self.figures()]
        title = "Can these answers be trusted? " + ("Worth a look:" if doubts else "Nothing stands out.")
        return card(title, remarks(doubts), figures(rows))


def named(what: str, names: Sequence[str], most: int = 5) -> str:
    """A remark on some names, the first few of them listed."""
    return f"{what}: {listed(names, len(names), most)}" if names else what
