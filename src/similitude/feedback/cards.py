"""Feedback as a notebook shows it: how much there is, about what and by whom, and its first rows.

Nothing here costs more than a pass over a column, so that ten million comparisons are shown at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from similitude.display.cards import card, figures, grid, note, title_of
from similitude.display.words import counted, listed, shortened
from similitude.feedback.columns import Categories, is_constant
from similitude.types import Array

if TYPE_CHECKING:
    from similitude.feedback.answers import Answers
    from similitude.feedback.comparisons import Comparisons
    from similitude.feedback.labels import Labels
    from similitude.feedback.links import Links
    from similitude.feedback.ratings import Ratings
    from similitude.feedback.shards import Shards
    from similitude.feedback.simulation.raters import Raters

_FIRST = 3
_CLASSES = 8

Row = tuple[str, ...]
_UNKNOWN: Row = ("raters", "unknown", "who answered was not recorded")


def comparisons_card(c: Comparisons) -> str:
    """Show comparisons."""
    rows = [
        _items(c.names, c.n_items),
        *_questions(c.answers),
        *_raters(c.answers.rater, (_UNKNOWN,)),
        *_weights(c.weight),
        *(("cleaned" if step.cleans else "left out", step.step.replace("_", " "), step.why) for step in c.removed),
    ]
    pair = _pairs(c.names)
    first = [(pair(c.near[k]), pair(c.far[k]), *_who(c.answers.rater, c.answer[k])) for k in range(min(_FIRST, len(c)))]
    header = ("more alike", "than", *_rater_header(c.answers.rater))
    more = _beyond(len(c), "comparison", "; to_frame() gives all as a table")
    return card(title_of(repr(c)), figures(rows), grid(header, first, range(len(header))), more)


def answers_card(answers: Answers) -> str:
    """Show answers."""
    rows = [*_questions(answers), *_raters(answers.rater, (_UNKNOWN,))]
    if answers.time is not None and np.isfinite(answers.time).any():
        rows.append(("time", f"{np.nanmedian(answers.time):.3g} s", "median of an answer"))
    if answers.strategy.recorded:
        ways = answers.strategy.labels
        rows.append(("chosen by", counted(len(ways), "strategy", "strategies"), _some(ways)))
    return card(title_of(repr(answers)), figures(rows), note("to_frame() gives them as a table."))


def links_card(links: Links) -> str:
    """Show links."""
    rows = [_items(links.names, links.n_items), *_raters(links.rater), *_weights(links.weight)]
    pair = _pairs(links.names)
    first = [
        (pair(links.pairs[k]), "similar" if links.similar[k] else "dissimilar", *_who(links.rater, k))
        for k in range(min(_FIRST, len(links)))
    ]
    header = ("pair", "said to be", *_rater_header(links.rater))
    table = grid(header, first, range(len(header)))
    return card(title_of(repr(links)), figures(rows), table, _beyond(len(links), "link"))


def ratings_card(ratings: Ratings) -> str:
    """Show ratings."""
    rows = [_items(ratings.names, ratings.n_items), *_raters(ratings.rater), *_weights(ratings.weight)]
    pair = _pairs(ratings.names)
    first = [
        (pair(ratings.pairs[k]), *_who(ratings.rater, k), f"{ratings.value[k]:g}")
        for k in range(min(_FIRST, len(ratings)))
    ]
    header = ("pair", *_rater_header(ratings.rater), f"how {ratings.larger}")
    table = grid(header, first, range(len(header) - 1))
    return card(title_of(repr(ratings)), figures(rows), table, _beyond(len(ratings), "rating"))


def labels_card(labels: Labels) -> str:
    """Show labels: how many items are called what."""
    rows = [_items(labels.names, labels.n_items), *_raters(labels.rater)]
    if labels.confidence is not None and len(labels):
        low, high = labels.confidence.min(), labels.confidence.max()
        rows.append(("confidence", f"{labels.confidence.mean():.0%}", f"on average, {low:.0%} to {high:.0%}"))
    if not labels.classes:
        span = f"{labels.value.min():g} to {labels.value.max():g}" if len(labels) else "none"
        return card(title_of(repr(labels)), figures([*rows, ("values", span, "")]))
    counts = np.bincount(labels.value.astype(np.intp), minlength=len(labels.classes))
    common = np.argsort(-counts, kind="stable")[:_CLASSES]
    table = grid(("class", "labels"), [(shortened(labels.classes[k]), f"{counts[k]:,}") for k in common])
    rest = len(labels.classes) - len(common)
    return card(title_of(repr(labels)), figures(rows), table, note(f"and {rest:,} more" if rest else ""))


def raters_card(raters: Raters) -> str:
    """Show simulated raters."""
    rows = [
        (shortened(name), f"{sharpness:.3g}", f"{lapse:.0%}")
        for name, sharpness, lapse in zip(
            raters.names[:_CLASSES], raters.sharpness.tolist(), raters.lapse.tolist(), strict=False
        )
    ]
    rest = len(raters) - len(rows)
    table = grid(("rater", "sharpness", "answers at random"), rows)
    return card(title_of(repr(raters)), table, note(f"and {rest:,} more" if rest else ""))


def shards_card(shards: Shards) -> str:
    """Show comparisons in shards, of which none is read."""
    rows = [_items(shards.names, shards.n_items)]
    rows.append(("shards", f"{shards.n_shards:,}", f"the largest of {counted(max(shards.sizes), 'comparison')}"))
    if hasattr(shards, "path"):
        rows.append(("folder", shards.path.name, str(shards.path)))
    return card(title_of(repr(shards)), figures(rows), note("sample(n) reads some of them into memory."))


def _items(names: Sequence[str] | None, count: int) -> Row:
    known = f"by position, 0 to {count - 1:,}" if names is None and count else _some(names or ())
    return "items", f"{count:,}", known


def _some(names: Sequence[str]) -> str:
    """The first few of some names, the long ones cut."""
    return listed(map(shortened, names), len(names))


def _questions(answers: Answers) -> Iterator[Row]:
    """A row per form of question: how many answers, and how many of them are "can't tell"."""
    forms, unsure = answers.form, answers.cant_tell
    for code, form in enumerate(forms.labels):
        own = slice(None) if len(forms.labels) == 1 and is_constant(forms.codes) else forms.codes == code
        some = int(unsure[own].sum())
        text = counted(len(unsure[own]), "answer")
        yield form.replace("_", " "), text, f'{some:,} of them "can\'t tell"' if some else ""


def _raters(rater: Categories, unknown: tuple[Row, ...] = ()) -> tuple[Row, ...]:
    known = ("raters", f"{len(rater.labels):,}", _some(rater.labels))
    return (known,) if rater.recorded else unknown


def _weights(weight: Array) -> Iterator[Row]:
    """The weights, where they are not all 1."""
    if not len(weight) or (is_constant(weight) and weight[0] == 1):
        return
    low, high = float(weight.min()), float(weight.max())
    if (low, high) != (1.0, 1.0):
        yield "weights", f"{low:g} to {high:g}", f"{float(weight.sum()):,.6g} in all"


def _pairs(names: Sequence[str] | None) -> Callable[[Any], str]:
    """Return how to call a pair of items."""
    return lambda pair: " and ".join(str(item) if names is None else shortened(names[item]) for item in pair.tolist())


def _rater_header(rater: Categories) -> Row:
    return ("rater",) if rater.recorded else ()


def _who(rater: Categories, row: int) -> Row:
    if not rater.recorded:
        return ()
    code = rater.codes[row]
    return (shortened(rater.labels[code]) if code >= 0 else "–",)


def _beyond(count: int, what: str, hint: str = "") -> Any:
    return note(f"and {counted(count - _FIRST, f'more {what}')}{hint}" if count > _FIRST else "")
