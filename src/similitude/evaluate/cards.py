"""Results of evaluation as a notebook shows them: what they say, and the figures behind it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from similitude.display.cards import card, figures, grid, note, sentence
from similitude.display.maps import map_of
from similitude.display.words import LONGEST, counted, listed, shortened, written_p

if TYPE_CHECKING:
    from similitude.evaluate.comparing import Agreement, AnswerAgreement
    from similitude.evaluate.described_dimensions import DescribedDimensions
    from similitude.evaluate.dimension import DimensionChoice
    from similitude.evaluate.forecast import Forecast
    from similitude.evaluate.reproducibility import DimensionReproducibility
    from similitude.evaluate.uncertainty import Uncertainty

_FIRST = 5
_DIMENSIONS = 20


def uncertainty_card(found: Uncertainty) -> str:
    """Show the map with its doubt, and the items whose place is least sure."""
    compared = found.comparisons > 0
    draws = np.where(compared[:, None], found.draws, np.nan)
    table = grid(
        ("least sure", "comparisons", "stands within"),
        [
            (shortened(found.similarity.label(item)), f"{found.comparisons[item]:,}", _or_unknown(found.within[item]))
            for item in found.least_sure(_FIRST)
        ],
    )
    similarity = found.similarity
    drawn = map_of(similarity.embedding, similarity.names, draws, found.level, similarity.shows_vectors)
    return card("How sure is the map?", sentence(repr(found)), *drawn, table)


def forecast_card(found: Forecast) -> str:
    """Show what so many answers would bring."""
    rows = [
        (
            f"{row['answers']:,}",
            "now" if row["more"] == 0 else f"{row['more']:,}",
            f"{row['accuracy']:.1%}",
            f"{row['low']:.1%} to {row['high']:.1%}",
            "" if row["more"] == 0 else f"{100 * row['gain']:+.1f} points",
        )
        for row in found.table.to_dict("records")
    ]
    header = ("answers in all", "more", "accuracy", f"{found.level:.0%} interval", "gain")
    return card("How many more answers?", sentence(repr(found)), grid(header, rows, words=()))


def dimension_card(found: DimensionChoice) -> str:
    """Show accuracy by the number of dimensions."""
    rows = [
        (
            f"{row['dimensions']}",
            f"{row['accuracy']:.1%}",
            f"{row['low']:.1%} to {row['high']:.1%}",
            "" if pd.isna(row["gain"]) else f"{100 * row['gain']:+.1f} points",
            "" if pd.isna(row["p_value"]) else written_p(row["p_value"]).lstrip("= "),
            "chosen" if row["dimensions"] == found.chosen else "",
        )
        for row in found.table.to_dict("records")
    ]
    header = ("dimensions", "accuracy", f"{found.level:.0%} interval", "gain", "p", "")
    gain = note("Gain: over the number of dimensions before it.")
    return card("How many dimensions?", sentence(repr(found)), grid(header, rows, words=()), gain)


def reproducibility_card(found: DimensionReproducibility) -> str:
    """Show how far each dimension comes again."""
    rows = [
        (
            f"{row['dimension']}",
            f"{row['weight']:.3f}",
            _correlation(row, "seeds"),
            _correlation(row, "halves"),
            "" if row["reproducible"] else "does not come again",
        )
        for row in found.table.to_dict("records")
    ]
    header = ("dimension", "weight", "r from other starts", "r between halves", "")
    below = note(f"Mean correlations of matched dimensions, with {found.level:.0%} intervals.")
    return card("Which dimensions come again?", sentence(repr(found)), grid(header, rows, words=()), below)


def _correlation(row: Mapping[Hashable, Any], name: str) -> str:
    if pd.isna(row[name]):
        return ""
    known = not pd.isna(row[f"{name}_low"])
    return f"{row[name]:.2f}" + (f" ({row[f'{name}_low']:.2f} to {row[f'{name}_high']:.2f})" if known else "")


def agreement_card(found: Agreement) -> str:
    """Show how far two similarities agree."""
    title, *rows = found.lines()
    left = listed(map(shortened, found.left_out), len(found.left_out))
    return card(" ".join(title), figures(rows), note(f"Only one of the two knows {left}." if left else ""))


def answers_agreement_card(found: AnswerAgreement) -> str:
    """Show two similarities on the same answers."""
    return card("The same answers by both", figures(found.lines()))


def _or_unknown(value: float) -> str:
    return f"{value:.2g}" if np.isfinite(value) else "unknown"


def dimensions_card(found: DescribedDimensions) -> str:
    """Show what each dimension is about."""
    share, tested = "share" in found.table, found.tested
    header = ["", "dimension", *["decides"] * share, *["other starts"] * tested, "items that have most of it"]
    rows = []
    for name, row in zip(found.names, found.table.head(_DIMENSIONS).to_dict("records"), strict=False):
        first = ", ".join(map(shortened, found.top(row["dimension"], _FIRST).item))
        figure = [f"{row['share']:.0%}" if np.isfinite(row["share"]) else "unknown"] if share else []
        again = [f"{row['seeds']:.2f}{'' if row['reproducible'] else ', not found again'}"] if tested else []
        rows.append((f"{row['dimension']}", shortened(name, 2 * LONGEST), *figure, *again, first))
    more = len(found.table) - len(rows)
    rest = note(f"and {counted(more, 'more dimension')}" if more > 0 else "")
    title, *said = found.sentences()
    return card(title, *map(sentence, said), grid(header, rows, words=(1, len(header) - 1)), rest)
