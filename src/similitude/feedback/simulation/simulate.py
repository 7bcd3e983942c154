"""Simulated raters: answers to questions about a known truth, with a noise model.

A rater values each possible answer by a squared distance of the truth, times sharpness, plus noise of
Gumbel's distribution, and gives the answer of the highest value. For two alternatives this is the logistic
model of the losses, `P(near) = 1 / (1 + exp(-sharpness · (d2_far - d2_near)))`; for several, the softmax.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from similitude.feedback.answers import Answers
from similitude.feedback.checks import check_share
from similitude.feedback.columns import Categories, Rows
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.forms import FORMS
from similitude.feedback.forms.base import Form
from similitude.feedback.items import encode_items
from similitude.feedback.questions import random_questions
from similitude.feedback.sheets import with_silence
from similitude.feedback.simulation.mind import Mind, Truth
from similitude.feedback.simulation.raters import Raters
from similitude.types import Array, ItemRows, Seed, Table


def simulate(
    truth: Table | Callable[[Array], Array],
    n_answers: int | None = None,
    form: str = "triplet",
    *,
    metric: Literal["euclidean", "dot", "precomputed"] = "euclidean",
    questions: ItemRows | None = None,
    sharpness: float | None = None,
    flip: float = 0.0,
    raters: Raters | int | None = None,
    spread: float = 0.0,
    lapse: float = 0.0,
    cant_tell: float = 0.0,
    grid_size: int | None = None,
    n_chosen: int | None = None,
    levels: int | None = None,
    record: bool = False,
    names: Sequence[str] | None = None,
    n_items: int | None = None,
    random_state: Seed = None,
) -> Comparisons:
    """Ask simulated raters random questions about items whose similarity is known.

    Parameters
    ----------
    truth : (n, d) positions, or vectors, of the items; or an (n, n) table of distances, with `metric="precomputed"`;
        or a function that gives the distance of each row of an array of pairs, with `n_items`
    n_answers : number of answers; for ratings, placements and groupings the number of sheets
    form : triplet, quadruplet, odd_one_out, most_central, choice, ranking, best_worst, similarity_rating,
        difference_rating, placement or grouping, or a form of your own that says how raters answer it
    metric : what an array as `truth` holds: "euclidean" positions; vectors whose "dot" products say how alike items
        are (a rater then goes by these as otherwise by minus the squared distances); or a "precomputed" table of
        distances
    questions : (answers, width) the items to show, instead of random questions
    sharpness : how strongly a difference of squared distances decides the answer; None is without noise
    flip : share of the answers that say the contrary of what was meant: the least in place of the most
    raters : a `Raters` table, or a number of raters who answer equally often; None records no rater
    spread : how much the sharpness of a number of raters differs (standard deviation of its logarithm)
    lapse : share of the answers of a number of raters, or of the one rater, that are given at random
    cant_tell : share of the answers that are "can't tell"
    grid_size : how much a question shows: items beside the head in a choice (12), a ranking or best and worst (4);
        pairs of a rating sheet (all); items of a placement or grouping (all)
    n_chosen : items picked in a choice (a third of the grid) or ranked in a ranking (all)
    levels : number of steps of the rating scale, 1 to `levels`; None gives ratings without steps
    record : whether to record the side of the answer on the screen and the time it took
    names, n_items : names of the items; number of items where `truth` is a function
    random_state : seed or generator; the same seed gives the same bits

    Returns
    -------
    Comparisons

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(1).standard_normal((30, 2))
    >>> sm.simulate(truth, 1000, sharpness=5, raters=10, random_state=0)
    <1,000 comparisons from 1,000 answers about 30 items by 10 raters>
    """
    asked = _form(form)
    check_share(flip, "flip")
    check_share(cant_tell, "cant_tell")
    rng = np.random.default_rng(random_state)
    known = Truth.of(truth, metric, n_items)
    shown = _questions(questions, n_answers, asked, known.n_items, grid_size, rng)
    table = _raters(raters, sharpness, spread, lapse, rng)
    who = rng.permutation(np.arange(len(shown)) % len(table))
    mind = Mind(known, table.sharpness[who], table.lapse[who], flip, n_chosen, levels, rng)
    response, first, margin = asked.answer(mind, shown)
    answers = Answers.of(
        form,
        Rows.uniform(shown),
        with_silence(response, rng.random(len(shown)) < cant_tell),
        rater=None if raters is None else Categories(who.astype(np.int32), table.names).take(np.arange(len(who))),
        time=_seconds(margin, rng) if record else None,
        side=first if record else None,
    )
    return Comparisons.from_answers(answers, names=names, n_items=known.n_items)


def _form(name: str) -> Form:
    simulated = {form.name: form for form in FORMS.values() if form.is_simulated}
    if name not in simulated:
        raise ValueError(f"form: expected one of {', '.join(sorted(simulated))}, found {name!r}")
    return simulated[name]


def _questions(
    questions: Any,
    n_answers: int | None,
    form: Form,
    n_items: int,
    grid_size: int | None,
    rng: np.random.Generator,
) -> Array:
    if questions is None:
        if n_answers is None:
            raise ValueError("n_answers: expected a number of answers, found None; or give questions")
        return random_questions(n_items, n_answers, form.name, rng, grid_size=grid_size)
    shown, _, _ = encode_items(questions, None, n_items)
    if shown.ndim != 2 or (n_answers is not None and n_answers != len(shown)):
        raise ValueError(f"questions: expected {n_answers or 'some'} rows of items, found shape {shown.shape}")
    if form.n_shown not in (None, shown.shape[1]):
        raise ValueError(f"questions: a {form.name} shows {form.n_shown} items, found {shown.shape[1]}")
    return shown


def _raters(
    raters: Raters | int | None,
    sharpness: float | None,
    spread: float,
    lapse: float,
    rng: np.random.Generator,
) -> Raters:
    if isinstance(raters, Raters):
        if sharpness is not None or spread or lapse:
            raise ValueError("raters: a table has its own sharpness and lapse; leave sharpness, spread and lapse out")
        return raters
    if spread and sharpness is None:
        raise ValueError("spread: without a sharpness there is no noise to differ; give sharpness")
    typical = np.inf if sharpness is None else sharpness
    return Raters.draw(1 if raters is None else raters, typical, spread, lapse, rng)


def _seconds(margin: Array, rng: np.random.Generator) -> Array:
    """Draw log-normal times: a median of 2 seconds for clear answers, up to twice that for hard ones."""
    return 2.0 * (1.0 + np.exp(-margin)) * np.exp(0.4 * rng.standard_normal(len(margin)))
