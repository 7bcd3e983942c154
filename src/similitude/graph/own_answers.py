"""Is a rater of one mind? Each answer is predicted from the same rater's other answers.

Someone who clicks at random cannot be predicted by anything, themselves included. Someone who sees things otherwise
than the others can: their other answers imply a map, be it nobody else's. No fit is needed, since signs are all that is
asked for: a question that the rater answered before is predicted by those answers, any other by two simple readings of
what is left of the rater's votes when the answer itself is held out. Where a rater has rows that stand in the file
twice, all answers to a question are held out together: copies predict each other, whoever clicked them.

*Pairs*: how often a pair was called more alike than what it was compared with, and, with a quarter of the weight, the
pairs that share an item with it. (For positions drawn from a normal distribution, squared distances of two pairs that
share an item have correlation 1/4, others none.)

*Places*: the two leading eigenvectors of the rater's normalised votes, as items' places on a map.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from similitude.graph.repeats import Indices, Voices
from similitude.graph.votes import Votes
from similitude.types import Array, Bools, Floats

MOST_RATERS = 200
"""Raters who are predicted at most, since each costs some milliseconds."""

_FOLDS, _REPEATS = 10, 2
_FEWEST = 20  # answers, below which parts of the pairs are held out, not answers (a sheet of ratings is one answer)
_HALVINGS = 4
_SAMPLED, _CHANCES = 5, 10  # raters whose answers are drawn by chance, and how often
_NEIGHBOURING = 0.25
_DIMENSIONS, _STEPS = 2, 6
_SCATTER = 2654435761  # Knuth's multiplier: scatters whole numbers evenly
_MOST_PLACED = 120  # items, above which the pairs alone predict


def predicted_by_own(voices: Voices, rater: Indices, votes: Votes, whom: Indices, copied: Bools) -> Floats:
    """For each voice of the raters `whom` 1 where the rater's other answers imply it, 0 the contrary, NaN nothing.

    Parameters
    ----------
    voices : what each answer says about each edge
    rater : for each voice whose it is
    votes : the edges
    whom : the raters to look at
    copied : for each rater whether they have rows that repeat another in every column
    """
    value = np.full(len(voices), np.nan)
    for who, rows in zip(whom, _rows_of(rater, whom), strict=True):
        sheet = _OwnSheet.of(voices, rows, votes, bool(copied[who]))
        value[rows] = sheet.predicted(sheet.says)
    return value


def chance_spread(voices: Voices, rater: Indices, votes: Votes, whom: Indices, copied: Bools) -> Floats:
    """Return, for some of the raters `whom`, the variance of the share predicted if they had answered by chance.

    Answers predict each other in turn, so that shares scatter more than coins. Measured on the rater's own questions
    with answers reversed at random (on a sheet, exchanged among its pairs). NaN for the raters not looked at.
    """
    spread = np.full(len(copied), np.nan)
    some = np.asarray(whom)[np.unique(np.linspace(0, len(whom) - 1, min(len(whom), _SAMPLED)).astype(np.int64))]
    for who, rows in zip(some, _rows_of(rater, some), strict=True):
        sheet = _OwnSheet.of(voices, rows, votes, bool(copied[who]))
        shares = [float(np.nanmean(sheet.predicted_by_chance(np.random.default_rng(k)))) for k in range(_CHANCES)]
        spread[who] = float(np.mean((np.array(shares) - 0.5) ** 2))
    return spread


def _rows_of(rater: Indices, whom: Indices) -> list[Array]:
    """Return the voices of each of some raters; those without any have none."""
    order = np.argsort(rater, kind="stable")
    start, end = np.searchsorted(rater[order], [whom, np.asarray(whom) + 1])
    return [order[first:last] for first, last in zip(start, end, strict=True)]


@dataclass(frozen=True, eq=False)
class _OwnSheet:
    """What one rater said: answers, edges and vertices numbered from 0, and which voices predict which.

    Attributes
    ----------
    answer, edge, says : (k,) of each voice; copies are one answer
    ends : (2, k) the vertices of each voice's edge
    pairs : (vertices, 2) the items of each vertex
    learned, tested : (folds, k) what each fold learns from, and is tested on
    by_answer : whether whole answers are held out; else vertices
    """

    answer: Array
    edge: Array
    says: Floats
    ends: Array
    pairs: Array
    learned: Array
    tested: Array
    by_answer: bool

    @classmethod
    def of(cls, voices: Voices, rows: Array, votes: Votes, copied: bool) -> _OwnSheet:
        answer, edge = (np.unique(code[rows], return_inverse=True)[1] for code in (voices.speaker, voices.edge))
        whole = voices.edge[rows]
        vertex, ends = np.unique(np.stack([votes.low[whole], votes.high[whole]]), return_inverse=True)
        ends = ends.reshape(2, -1)
        by_answer = int(answer.max(initial=-1)) + 1 >= _FEWEST
        question = _questions(answer, ends) if copied else by_content(answer, whole, voices.says[rows])
        answer = _contents(answer, whole, voices.says[rows]) if copied else question
        learned, tested = _by_question(question) if by_answer else _by_vertex(ends)
        pairs = _renumbered(votes.pairs[vertex])
        return cls(answer, edge, voices.says[rows], ends, pairs, learned, tested, by_answer)

    def predicted(self, says: Floats) -> Floats:
        """Return how well each voice is predicted by what is learned without it."""
        if not len(says):
            return says
        signed = says * self.learned
        before = _summed(self.edge, signed, int(self.edge.max()) + 1)[:, self.edge]
        gap = _by_pairs(self.pairs, self.ends, signed) + _by_places(self.pairs, self.ends, signed)
        predicted = np.where(np.abs(before) > 1e-9, np.sign(before), np.sign(np.round(gap, 9)))
        right = np.where(self.tested, 0.5 * (1.0 + predicted * says), 0.0).sum(0)
        count = self.tested.sum(0)
        return np.divide(right, count, out=np.full(len(says), np.nan), where=count > 0)

    def predicted_by_chance(self, rng: np.random.Generator) -> Floats:
        """Return the same for answers that say nothing."""
        if self.by_answer:
            return self.predicted(self.says * rng.choice([-1.0, 1.0], int(self.answer.max()) + 1)[self.answer])
        shuffled = rng.permutation(len(self.pairs))
        return replace(self, pairs=self.pairs[shuffled]).predicted(self.says)


def _renumbered(pairs: Array) -> Array:
    """Return pairs over items numbered from 0 without gaps."""
    return np.unique(pairs, return_inverse=True)[1].reshape(pairs.shape)


def by_content(answer: Array, edge: Array, says: Floats, rater: Array | None = None) -> Array:
    """Number answers by what they say, then by rater, so that the order in which they come changes nothing."""
    content = np.bincount(answer, says * _scattered(edge))
    order = np.lexsort([np.zeros(len(content)) if rater is None else rater, content])
    return np.argsort(order)[answer]


def _scattered(code: Array) -> Array:
    """Return large numbers for small ones, none of them 0, squared so that sums of different ones differ."""
    return np.asarray(((code.astype(np.int64) + 1) * _SCATTER % 2**31) ** 2 % (2**31 - 1))


def _numbered(content: Array) -> Array:
    """Return numbers from 0 on, the same for the same content, whatever order it comes in."""
    return np.unique(content, return_inverse=True)[1]


def _contents(answer: Array, edge: Array, says: Floats) -> Array:
    """Return for each voice its answer, those that say the same as one."""
    return _numbered(np.bincount(answer, says * _scattered(edge)))[answer]


def _questions(answer: Array, ends: Array) -> Array:
    """Return the question of each voice, by the pairs that its answer compares: the same whatever was said to it."""
    compared = np.unique(np.stack([np.tile(answer, 2), ends.ravel()]), axis=1)
    return _numbered(np.bincount(compared[0], _scattered(compared[1])))[answer]


def _by_question(question: Array) -> tuple[Array, Array]:
    """Return for each fold which voices are learned from and which are tested, both (folds, voices)."""
    rng, count = np.random.default_rng(0), int(question.max()) + 1
    folds = [(rng.permutation(count) % _FOLDS)[question] for _ in range(_REPEATS)]
    tested = np.concatenate([fold == np.arange(_FOLDS)[:, None] for fold in folds])
    return ~tested, tested


def _by_vertex(ends: Array) -> tuple[Array, Array]:
    """Return the same where there are few answers: halves of the pairs predict the other halves.

    Comparisons within one sheet hang together by the sheet's own scale, even where it was filled in at random.
    """
    rng = np.random.default_rng(0)
    halves = np.stack([rng.permutation(int(ends.max(initial=-1)) + 1) % 2 == 0 for _ in range(_HALVINGS)])
    halves = np.concatenate([halves, ~halves])
    first, second = halves[:, ends[0]], halves[:, ends[1]]
    return first & second, ~first & ~second


def _summed(code: Array, value: Floats, size: int) -> Floats:
    """Return the sums of `value` (folds, k) by code, (folds, size)."""
    folds = len(value)
    place = (np.arange(folds)[:, None] * size + code).ravel()
    total = np.bincount(place, value.ravel(), folds * size).astype(float)
    return total.reshape(folds, size)


def _net(ends: Array, signed: Floats, n_vertices: int) -> Floats:
    """Return how often each pair was called more alike, less how often less, (folds, pairs)."""
    return _summed(ends[0], signed, n_vertices) - _summed(ends[1], signed, n_vertices)


def _by_pairs(pairs: Array, ends: Array, signed: Floats) -> Floats:
    net = _net(ends, signed, len(pairs))
    of_item = _summed(pairs[:, 0], net, int(pairs.max()) + 1) + _summed(pairs[:, 1], net, int(pairs.max()) + 1)
    near_it = of_item[:, pairs[:, 0]] + of_item[:, pairs[:, 1]] - 2 * net
    score = net + _NEIGHBOURING * near_it
    return _in_units(score[:, ends[0]] - score[:, ends[1]])


def _by_places(pairs: Array, ends: Array, signed: Floats) -> Floats:
    n_items = int(pairs.max()) + 1
    if n_items > _MOST_PLACED:
        return np.zeros_like(signed)
    net = _net(ends, signed, len(pairs))
    votes = np.zeros((len(net), n_items, n_items))
    votes[:, pairs[:, 0], pairs[:, 1]] = votes[:, pairs[:, 1], pairs[:, 0]] = net
    scale = 1.0 / np.sqrt(np.abs(votes).sum(2) + 1.0)
    place = scale[:, :, None] * _leading(scale[:, :, None] * votes * scale[:, None, :])
    far = ((place[:, pairs[:, 0]] - place[:, pairs[:, 1]]) ** 2).sum(2)
    return _in_units(far[:, ends[1]] - far[:, ends[0]])


def _leading(matrices: Floats) -> Floats:
    """Return the leading eigenvectors of symmetric matrices of norm 1, each times the root of its eigenvalue.

    By a few steps of subspace iteration on M + I, whose leading vectors are those of M with the largest eigenvalues:
    all vectors of all folds take longer than everything else together.
    """
    n_items = matrices.shape[1]
    block = np.random.default_rng(0).standard_normal((len(matrices), n_items, min(2 * _DIMENSIONS, n_items)))
    for _ in range(_STEPS):
        block = np.linalg.qr(matrices @ (matrices @ block + block) + matrices @ block + block)[0]
    strength, turn = np.linalg.eigh(block.transpose(0, 2, 1) @ matrices @ block)
    root = np.sqrt(np.maximum(strength[:, None, -_DIMENSIONS:], 0.0))
    return np.asarray(block @ turn[:, :, -_DIMENSIONS:] * root)


def _in_units(gap: Floats) -> Floats:
    """Return gaps in units of their size in each fold, so that two readings count alike."""
    size = np.sqrt((gap**2).mean(1, keepdims=True))
    return np.divide(gap, size, out=np.zeros_like(gap), where=size > 0)
