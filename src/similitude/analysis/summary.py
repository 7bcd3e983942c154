"""Findings in a few sentences, as the report begins with, and as a notebook shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from similitude.analysis.choice import CUT
from similitude.display.cards import card, note, remarks, sentence
from similitude.display.maps import map_of
from similitude.display.words import counted
from similitude.evaluate.ceiling import CLEANED, above_ceiling
from similitude.evaluate.intervals import too_few

if TYPE_CHECKING:
    from similitude.analysis.learn import Findings


def summary(found: Findings) -> str:
    """Return the findings in a few sentences, most important first."""
    c = found.comparisons
    said = [f"{counted(c.n_answers, 'answer')} about {counted(c.n_items, 'item')}."]
    said += [f"Left out: {step.why}." for step in c.removed if not step.cleans]
    if few := too_few(c.n_answers):
        said.append(f"How well a model predicts new ones is {few}.")
    elif found.accuracy.value is not None:
        said.append(_accuracy(found))
    said += filter(None, [cut_short(found)])
    if found.forecast is not None:
        said.append(found.forecast.advice.short)
    if differing := [one.by for one in found.groups if one.differ]:
        said.append(f"Answers differ by {' and by '.join(differing)}, so one map for all of them hides something.")
    said += [str(one) for one in found.parts if one.over_time and one.differ]
    if others := [part for part in found.left_out if part != CUT]:
        said.append(f"There was no time for: {', '.join(others)}.")
    return " ".join(said)


def cut_short(found: Findings) -> str:
    """How far the choice among settings came where it did not come to its end, and what ended it."""
    ended, tried = found.chosen.ended, found.chosen.tried
    if ended == "finished":
        return ""
    by_hand = ended == "interrupted"
    if len(tried) < 2:
        if by_hand:
            return "The choice was interrupted before settings could be compared: this is a first guess."
        return "The time limit left no time to compare settings: this is a first guess; give a longer --time-limit."
    compared = f"{len(tried):,} settings had been compared, on {counted(int(tried.folds.max()), 'part')} of the answers"
    if by_hand:
        return f"The choice among settings was interrupted when {compared}: a whole one may find a better model."
    return f"The time limit ended the choice among settings when {compared}: a longer one may find a better model."


def _accuracy(found: Findings) -> str:
    """How well the model predicts, beside chance and what the noise of the answers allows."""
    a, ceiling = found.accuracy, found.ceiling
    assert a.value is not None
    if found.comparisons.cleaned:
        return f"A model of them predicts {a.value:.1%} of what cleaning left; {CLEANED}."
    model = "A model" if found.dimension is None else f"A model in {counted(found.dimension, 'dimension')}"
    text = f"{model} predicts {a.value:.1%} of {found.of} that it has not seen"
    text += f" (95% interval {a.low:.1%} to {a.high:.1%}; chance {found.chance:.1%})"
    above = above_ceiling(a.value, ceiling)
    if ceiling.value is not None and not above:
        text += "; questions asked twice say that no model that does not know who answers "
        text += f"can predict more than {ceiling.value:.1%}"
    return f"{text}{above}."


def findings_card(found: Findings) -> str:
    """Show the summary, what is worth a look, and the map."""
    doubts = found.consistency.doubts()
    similarity = found.similarity
    drawn = map_of(similarity.embedding, similarity.names, products=similarity.shows_vectors)
    more = note("save(folder) writes the whole report, with its tables and figures.")
    heading = sentence("Worth a look:") if doubts else None
    return card("What people find similar", sentence(summary(found)), heading, remarks(doubts), *drawn, more)
