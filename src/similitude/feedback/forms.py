"""Forms of question: how each kind of answer becomes comparisons.

A form reads questions of one size as matrices, `shown` (questions × items shown) and `response`
(questions × numbers said), and returns comparisons: `near` and `far` pairs and the row that each came from.
A form is a function registered under its name; the reader of files, the simulated raters and the study all
find it in `FORMS`.

| form | shown | response |
|---|---|---|
| triplet | head, b, c (repeated) | 1: b is nearer, 2: c is nearer (one per triplet) |
| quadruplet | i, j, k, l (repeated) | 0: the first pair is more alike, 1: the second (one per quadruplet) |
| odd_one_out | a, b, c | position of the odd one |
| most_central | a, b, c | position of the central one |
| choice | head, then the grid | positions of the chosen |
| ranking | head, then the items | positions from nearest on; what is not ranked is farther |
| similarity_rating | i, j (repeated) | one number per pair, larger is more alike, NaN is no rating |
| difference_rating | i, j (repeated) | one number per pair, larger is more different, NaN is no rating |
| placement | items | x, y, ... of each item in turn |
| grouping | items | the number of each item's group |
| labelling | items | for each item in turn the number of its class and how sure the rater is, 0 to 1 |
| attribute | items | positions from the least to the most of the attribute |
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from similitude.feedback.answers import Answers
from similitude.feedback.columns import Array, Ints, is_constant
from similitude.feedback.items import as_integers

Edges = tuple[Array, Array, Array]
Form = Callable[[Array, Array], Edges]

FORMS: dict[str, Form] = {}


def register(form: Form) -> Form:
    """Make a form known under the name of its function."""
    FORMS[form.__name__] = form
    return form


def derive(answers: Answers) -> tuple[Ints, Ints, Ints]:
    """Return the comparisons of answers: near pairs, far pairs, the answer of each; in order of answers."""
    near, far, owner = [], [], []
    for name, rows in _groups(answers):
        if name not in FORMS:
            raise ValueError(f"form: {name!r} is unknown; the forms are {', '.join(sorted(FORMS))}")
        edges = FORMS[name](answers.shown.matrix(rows), answers.response.matrix(rows))
        near.append(edges[0])
        far.append(edges[1])
        owner.append(rows[edges[2]])
    if not near:
        empty = np.empty((0, 2), np.int32)
        return empty, empty, np.empty(0, np.int32)
    answer = np.concatenate(owner)
    order = slice(None) if len(near) == 1 else np.argsort(answer, kind="stable")
    return (
        np.concatenate(near).astype(np.int32)[order],
        np.concatenate(far).astype(np.int32)[order],
        answer.astype(np.int32)[order],
    )


def _groups(answers: Answers) -> list[tuple[str, Array]]:
    """Answers of one form and size together; "can't tell" is in no group."""
    columns = (answers.form.codes, answers.shown.lengths, answers.response.lengths)
    if all(is_constant(column) for column in columns):
        said = len(answers) > 0 and answers.response.width > 0
        return [(answers.form.labels[answers.form.codes[0]], np.arange(len(answers)))] if said else []
    kinds, group = np.unique(np.stack(columns), axis=1, return_inverse=True)
    return [(answers.form.labels[kind[0]], np.flatnonzero(group == k)) for k, kind in enumerate(kinds.T) if kind[2] > 0]


@register
def triplet(shown: Array, response: Array) -> Edges:
    """`head` is more like the one chosen than like the other."""
    _check_size(shown.shape[1] == 3 * response.shape[1], "triplet", shown, response)
    questions = shown.reshape(-1, 3)
    chosen = _positions(response.reshape(-1), 1, 2, "triplet")
    line = np.arange(len(questions))
    near = np.stack([questions[:, 0], questions[line, chosen]], axis=1)
    far = np.stack([questions[:, 0], questions[line, 3 - chosen]], axis=1)
    return near, far, _owner(response)


@register
def quadruplet(shown: Array, response: Array) -> Edges:
    """One pair is more alike than the other."""
    _check_size(shown.shape[1] == 4 * response.shape[1], "quadruplet", shown, response)
    questions = shown.reshape(-1, 2, 2)
    chosen = _positions(response.reshape(-1), 0, 1, "quadruplet")
    line = np.arange(len(questions))
    return questions[line, chosen], questions[line, 1 - chosen], _owner(response)


@register
def odd_one_out(shown: Array, response: Array) -> Edges:
    """The two others are more alike than either is with the odd one: d(b,c) < d(b,a) and d(c,b) < d(c,a)."""
    odd, b, c = _one_of_three(shown, response, "odd_one_out")
    near = np.stack([np.stack([b, c], 1), np.stack([c, b], 1)], 1)
    far = np.stack([np.stack([b, odd], 1), np.stack([c, odd], 1)], 1)
    return near.reshape(-1, 2), far.reshape(-1, 2), np.repeat(np.arange(len(shown)), 2)


@register
def most_central(shown: Array, response: Array) -> Edges:
    """Each other is more like the central one than like the third: d(b,a) < d(b,c) and d(c,a) < d(c,b)."""
    central, b, c = _one_of_three(shown, response, "most_central")
    near = np.stack([np.stack([b, central], 1), np.stack([c, central], 1)], 1)
    far = np.stack([np.stack([b, c], 1), np.stack([c, b], 1)], 1)
    return near.reshape(-1, 2), far.reshape(-1, 2), np.repeat(np.arange(len(shown)), 2)


@register
def choice(shown: Array, response: Array) -> Edges:
    """Every chosen item is nearer to the head than every item that was not chosen."""
    chosen = _positions(response, 1, shown.shape[1] - 1, "choice")
    picked = np.zeros(shown.shape, bool)
    np.put_along_axis(picked, chosen, True, axis=1)
    picked[:, 0] = False
    left = ~picked
    left[:, 0] = False
    row, near, far = np.nonzero(picked[:, :, None] & left[:, None, :])
    head = shown[row, 0]
    return np.stack([head, shown[row, near]], 1), np.stack([head, shown[row, far]], 1), row


@register
def ranking(shown: Array, response: Array) -> Edges:
    """Each ranked item is nearer to the head than all that follow it and all that were not ranked."""
    width = shown.shape[1]
    order = _positions(response, 1, width - 1, "ranking")
    rank = np.full(shown.shape, width)
    np.put_along_axis(rank, order, np.arange(order.shape[1])[None], axis=1)
    row, near, far = np.nonzero(rank[:, :, None] < rank[:, None, :])
    keep = (near > 0) & (far > 0)
    row, near, far = row[keep], near[keep], far[keep]
    head = shown[row, 0]
    return np.stack([head, shown[row, near]], 1), np.stack([head, shown[row, far]], 1), row


@register
def similarity_rating(shown: Array, response: Array) -> Edges:
    """A pair rated more alike than another; ties give nothing."""
    return difference_rating(shown, -response)


@register
def difference_rating(shown: Array, response: Array) -> Edges:
    """A pair rated less different than another; ties give nothing."""
    _check_size(shown.shape[1] == 2 * response.shape[1], "rating", shown, response)
    pairs = shown.reshape(len(shown), -1, 2)
    return _ordered_pairs(pairs, response)


@register
def placement(shown: Array, response: Array) -> Edges:
    """Items laid out on a table: a pair that lies closer is more alike."""
    count = shown.shape[1]
    _check_size(response.shape[1] % count == 0, "placement", shown, response)
    position = response.reshape(len(shown), count, -1).astype(float)
    first, second = np.triu_indices(count, 1)
    distance = np.sqrt(((position[:, first] - position[:, second]) ** 2).sum(-1))
    return _ordered_pairs(np.stack([shown[:, first], shown[:, second]], -1), distance)


@register
def grouping(shown: Array, response: Array) -> Edges:
    """Items sorted into groups: an item is more like its group's members than like the members of others."""
    _check_size(shown.shape[1] == response.shape[1], "grouping", shown, response)
    same = response[:, :, None] == response[:, None, :]
    near_by_head = same & ~np.eye(shown.shape[1], dtype=bool)
    row, head, near, far = np.nonzero(near_by_head[:, :, :, None] & ~same[:, :, None, :])
    heads = shown[row, head]
    return np.stack([heads, shown[row, near]], 1), np.stack([heads, shown[row, far]], 1), row


@register
def labelling(shown: Array, response: Array) -> Edges:
    """Items put into classes: a grouping, and of two in a class the surer one is nearer to a third."""
    _check_size(2 * shown.shape[1] == response.shape[1], "labelling", shown, response)
    said = response.reshape(len(shown), shown.shape[1], 2)
    label, sure = said[:, :, 0], said[:, :, 1]
    near, far, row = grouping(shown, label)
    same = (label[:, :, None] == label[:, None, :]) & ~np.eye(shown.shape[1], dtype=bool)
    surer = sure[:, :, None] > sure[:, None, :]
    line, head, a, b = np.nonzero(same[:, :, :, None] & same[:, :, None, :] & surer[:, None, :, :])
    heads = shown[line, head]
    owner = np.concatenate([row, line])
    order = np.argsort(owner, kind="stable")
    near = np.concatenate([near, np.stack([heads, shown[line, a]], 1)])
    far = np.concatenate([far, np.stack([heads, shown[line, b]], 1)])
    return near[order], far[order], owner[order]


@register
def attribute(shown: Array, response: Array) -> Edges:
    """Items ranked on a named attribute: of three, the middle one is nearer to each end than the ends are."""
    ordered = np.take_along_axis(shown, _positions(response, 0, shown.shape[1] - 1, "attribute"), axis=1)
    triples = np.array(list(combinations(range(response.shape[1]), 3)), np.intp).reshape(-1, 3)
    low, middle, high = (ordered[:, triples[:, k]] for k in range(3))
    near = np.stack([np.stack([low, middle], -1), np.stack([high, middle], -1)], 2)
    far = np.stack([np.stack([low, high], -1), np.stack([high, low], -1)], 2)
    return near.reshape(-1, 2), far.reshape(-1, 2), np.repeat(np.arange(len(shown)), 2 * len(triples))


def _owner(response: Array) -> Array:
    return np.repeat(np.arange(len(response)), response.shape[1])


def _one_of_three(shown: Array, response: Array, form: str) -> tuple[Array, Array, Array]:
    _check_size(shown.shape[1] == 3 and response.shape[1] == 1, form, shown, response)
    position = _positions(response[:, 0], 0, 2, form)
    others = np.array([[1, 2], [0, 2], [0, 1]])[position]
    line = np.arange(len(shown))
    return shown[line, position], shown[line, others[:, 0]], shown[line, others[:, 1]]


def _ordered_pairs(pairs: Array, difference: Array) -> Edges:
    """All comparisons among the pairs of each row whose differences are known and not equal."""
    row, near, far = np.nonzero(difference[:, :, None] < difference[:, None, :])  # NaN is never smaller
    return pairs[row, near], pairs[row, far], row


def _positions(response: Array, low: int, high: int, form: str) -> Array:
    """Return positions as integers, checked to be whole and in range."""
    position = as_integers(response, "response")
    if position.size and (position.min() < low or position.max() > high):
        wrong = position.min() if position.min() < low else position.max()
        raise ValueError(f"response: found {wrong}, but an answer of form {form} is {low} to {high}")
    position = position.astype(np.intp)
    if position.ndim == 2 and (np.diff(np.sort(position, axis=1), axis=1) == 0).any():
        raise ValueError(f"response: an answer of form {form} names a position twice; every item is picked once")
    return position


def _check_size(fits: bool, form: str, shown: Array, response: Array) -> None:
    if not fits:
        raise ValueError(
            f"response: {response.shape[1]} numbers do not answer {form} of {shown.shape[1]} items; "
            "the table in similitude.feedback.forms says what each form holds"
        )
