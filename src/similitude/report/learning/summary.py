"""Findings in a few sentences, as the report begins with, and as a notebook shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from similitude.display.cards import card, note, remarks, sentence
from similitude.display.maps import map_of
from similitude.display.words import counted
from similitude.evaluate.ceiling import CLEANED, above_ceiling
from similitude.evaluate.intervals import too_few

if TYPE_CHECKING:
    from similitude.report.learning.findings import Findings


def summary(found: Findings) -> str:
    """Return the findings in a few sentences, most important first."""
    c, ceiling = found.comparisons, found.consistency.ceiling
    said = [f"{counted(c.n_answers, 'answer')} about {counted(c.n_items, 'item')}."]
    accuracy = _accuracy(found)
    few = too_few(c.n_answers)
    if few:
        said.append(f"How well a model foretells new ones is {few}.")
    elif accuracy is not None and c.cleaned:
        said.append(f"A model of them orders {accuracy[0]:.1%} of what cleaning left rightly; {CLEANED}.")
    elif accuracy is not None:
        value, low, high, level = accuracy
        text = (
            f"A model of them foretells {value:.1%} of new comparisons ({level:.0%} interval {low:.1%} to {high:.1%})"
        )
        above = above_ceiling(value, ceiling)
        if ceiling.value is not None and not above:
            text += f"; questions asked twice say that no model can foretell more than {ceiling.value:.1%}"
        said.append(text + above + ".")
    if found.forecast is not None:
        later = found.forecast.table[found.forecast.table.more > 0].iloc[0]
        said.append(f"About {int(later.more):,} more answers would gain {100 * later.gain:.1f} points.")
    return " ".join(said)


def _accuracy(found: Findings) -> tuple[float, float, float, float] | None:
    """Accuracy on held-out answers, its interval, and the level of that; None where nothing could be held out."""
    sure = found.sureness.accuracy if found.sureness is not None else None
    if found.sureness is not None and sure is not None and sure.value is not None:
        assert sure.low is not None
        assert sure.high is not None
        return sure.value, sure.low, sure.high, found.sureness.level
    held = found.model.held_out_
    return (held["accuracy"], held["low"], held["high"], 0.95) if np.isfinite(held["accuracy"]) else None


def findings_card(found: Findings) -> str:
    """Show the summary, what is worth a look, and the map."""
    doubts = found.consistency.doubts()
    drawn = map_of(found.similarity.embedding, found.similarity.names)
    more = note("save(folder) writes the whole report, with its tables and figures.")
    heading = sentence("Worth a look:") if doubts else None
    return card("What people find similar", sentence(summary(found)), heading, remarks(doubts), *drawn, more)
