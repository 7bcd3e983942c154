"""Dataset: answers with the items they are about, and what to know before using them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from similitude.display.cards import card, figures, sentence, title_of
from similitude.feedback.comparisons import Comparisons

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Answers with the items they are about, and what to know before using them.

    Attributes
    ----------
    name : what the set is called
    answers : what people (or simulated ones) said, as `Comparisons`
    items : a row per item, by name: features, classes, or no column at all
    description : who was asked what about which items
    licence : what may be done with it
    citation : what to cite when you publish with it

    Examples
    --------
    >>> import similitude as sm
    >>> data = sm.datasets.load_products()
    >>> data.items.shape
    (60, 9)
    >>> print(data.citation)
    Simulated for similitude; cite similitude.
    """

    name: str
    answers: Comparisons
    items: pd.DataFrame
    description: str
    licence: str
    citation: str

    def __repr__(self) -> str:
        answers = self.answers
        raters = f" by {len(answers.answers.rater.labels)} raters" if answers.answers.rater.recorded else ""
        return f"<{self.name}: {answers.n_answers:,} answers about {answers.n_items:,} items{raters}>"

    def _repr_html_(self) -> str:
        rows = [("licence", self.licence), ("cite", self.citation)]
        return card(title_of(repr(self)), sentence(self.description), figures(rows))
