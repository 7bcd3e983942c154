"""Questions at random: which items to show, by form."""

from __future__ import annotations

import numpy as np

from similitude.feedback.forms import find
from similitude.types import Ints, Seed


def random_questions(
    n_items: int,
    n_questions: int,
    form: str = "triplet",
    random_state: Seed = None,
    *,
    grid_size: int | None = None,
) -> Ints:
    """Draw questions at random; no item stands twice in a question.

    Parameters
    ----------
    n_items : number of items to draw from
    n_questions : number of questions
    form : the form of question, a name of `similitude.feedback.forms.FORMS`
    random_state : seed or generator
    grid_size : how much a question shows: items beside the head in a choice (12) or a ranking (4); items of a
        placement, a grouping or an attribute (all); pairs of a rating sheet (all)

    Returns
    -------
    shown : (n_questions, width) the items of each question, in the order that the form defines

    Examples
    --------
    >>> from similitude import random_questions
    >>> random_questions(10, 2, "choice", random_state=0, grid_size=5).shape
    (2, 6)
    """
    asked = find(form)
    if n_questions < 0:
        raise ValueError(f"n_questions: expected 0 or more, found {n_questions}")
    rng = np.random.default_rng(random_state)
    return asked.draw(n_items, n_questions, grid_size, rng)
