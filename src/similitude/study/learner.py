"""The live model of one study: it learns answers as they come, is fitted anew now and then, and chooses questions.

Forms whose answers compare by themselves are learned one by one (`OnlineEmbedding`) between the fits; sheets of
ratings, links and labels, which change as a whole with every line, wait for the next fit. A fit takes the best of a
warm, a spectral and a random start, since questions chosen by a fit that is stuck keep asking about its artefacts.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np

from similitude.active.arrangements import WEAKEST, evidence, on_table, weakest_subsets
from similitude.active.select import Chooser
from similitude.feedback.answers import Answers
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.drawn import REPEAT, evenly_drawn
from similitude.feedback.forms import PAGES, PIECES
from similitude.feedback.forms.picking import Picking
from similitude.feedback.forms.pieces import SHEET, Piece
from similitude.feedback.forms.placement import Placement
from similitude.methods.online.embedding import OnlineEmbedding
from similitude.methods.ordinal import STE
from similitude.methods.refit import best_fit, through_sample
from similitude.methods.similarity import Similarity
from similitude.study.asking import form_of, is_chosen, random_question, width
from similitude.study.designs import StudyPart
from similitude.study.log import as_answers, comparisons_of
from similitude.study.rounds import number_of_questions
from similitude.study.settings import Study
from similitude.types import Bools, Floats, Ints

_PER_ITEM = 1  # comparisons per item below which a model would only invent
_SOONEST = 10  # answers between two fits at the least
_GROWTH, _DRIFT = 0.25, 0.05  # a fit is due after a quarter more answers, or every `refit_every`, or 1 in 20

_LISTED = 20_000  # questions about some of the items that are looked through for the best ones
_MEMORY = 1_000_000  # answers that are learned again and again between fits: all of them


class NoModelYet(ValueError):
    """Why there is no model, in words for the person who watches the study."""


class Learner:
    """What is known of a study's items.

    Parameters
    ----------
    study : as written in `study.toml`
    names : its items
    start : a similarity learned before, to start from
    seed : of all chance
    """

    def __init__(self, study: Study, names: Sequence[str], start: Similarity | None = None, seed: int = 0) -> None:
        self.study, self.names = study, tuple(names)
        self.pools = pools_of(study)
        self._forms = [form_of(part.question.form) for seen in study.seen for part in seen.parts]
        self.similarity: Similarity | None = None
        self.fitted_at = 0
        self._parts: list[Answers] = []
        self._compared: Comparisons | None = None
        self._n_answers = 0
        self._online: OnlineEmbedding | None = None
        self._rng = np.random.default_rng(seed)
        self._start: Floats | None = start.embedding if start is not None and self._fits(start) else None

    @property
    def adaptive(self) -> bool:
        """Whether it chooses any questions."""
        return bool(self.pools)

    @property
    def n_answers(self) -> int:
        """Number of answers learned, "can't tell" included."""
        return self._n_answers

    @property
    def comparisons(self) -> Comparisons:
        """What all answers compare."""
        if self._compared is None:
            self._parts = [Answers.join(self._parts)] if self._parts else []
            self._compared = comparisons_of(self._parts[0], self.names) if self._parts else _nothing(self.names)
        return self._compared

    def learn(self, answers: Answers) -> None:
        """Take in further answers, in the order in which they were given."""
        if not len(answers):
            return
        self._parts.append(answers)
        self._compared = None
        self._n_answers += len(answers)
        if self._online is not None:
            alone = np.flatnonzero(~np.isin(answers.form.values, list(PIECES)))
            new = Comparisons.from_answers(answers.take(alone), names=self.names)
            if len(new):
                self.similarity = self._online.partial_fit(new).similarity_

    @property
    def is_due(self) -> bool:
        """Whether enough has come since the last fit: a quarter more at first, `refit_every` then, 1 in 20 at last.

        Without a model, whether anything has.
        """
        if self.similarity is None:
            return self._n_answers > self.fitted_at
        soon = min(self.study.choose.refit_every, max(_SOONEST, int(_GROWTH * self.fitted_at)))
        return self._n_answers - self.fitted_at >= max(soon, int(_DRIFT * self.fitted_at))

    def refit(self) -> Comparisons:
        """Fit all answers anew, and return what they compare; NoModelYet where they do not suffice."""
        self.fitted_at = self._n_answers
        found = self._enough()
        last = self._last()
        fitted = through_sample(self.estimator(), found, lambda one, part: best_fit(one, part, last))
        self.similarity = fitted.similarity_
        if any(isinstance(form, Picking) for form in self._forms):
            start = fitted.embedding_[found.items_compared]
            if self._online is None:
                self._online = OnlineEmbedding(self.study.choose.dimensions, memory=_MEMORY, random_state=0)
                self._online.begin_with(found, init=start)
            else:
                self._online.refit(init=start)
        return found

    def estimator(self) -> STE:
        """What is fitted: also to part of the answers, where its predictions are tested on the others."""
        return STE(self.study.choose.dimensions, n_items=len(self.names), random_state=0)

    def questions(
        self, part: StudyPart, n: int, pending: Sequence[Sequence[str]]
    ) -> list[tuple[list[str], str, float | None]]:
        """Choose n questions of a part: items shown, strategy, score. Those that wait for an answer are not among them.

        `repeat_share` of them were answered before, by other raters: two answers to one question tell how much noise
        there is, and so what any model can reach. They are drawn from the evenly drawn ones.
        """
        again = self._again(part, int(self._rng.binomial(n, self.study.choose.repeat_share)))
        chosen = self._chosen(part, n - len(again), pending) if n > len(again) else []
        mixed = [*again, *chosen]
        return [mixed[k] for k in self._rng.permutation(len(mixed))]

    def _chosen(
        self, part: StudyPart, n: int, pending: Sequence[Sequence[str]]
    ) -> list[tuple[list[str], str, float | None]]:
        if isinstance(form_of(part.question.form), Placement):
            return self._subsets(part, n, pending)
        try:
            shown, strategy, score = self._chooser(part, pending, repeat=False).choose(n)
        except ValueError:  # nearly all questions were asked: from here on, what teaches most is asked again
            shown, strategy, score = self._chooser(part, pending, repeat=True).choose(n)
        return [
            ([self.names[item] for item in row], name, value)
            for row, name, value in zip(shown.tolist(), strategy, score.tolist(), strict=True)
        ]

    def _subsets(
        self, part: StudyPart, n: int, pending: Sequence[Sequence[str]]
    ) -> list[tuple[list[str], str, float | None]]:
        """Items to lay out, about whose pairs least is known; what is being laid out counts as if it were."""
        assert self.similarity is not None
        number, answers = {name: k for k, name in enumerate(self.names)}, self.comparisons.answers
        answers = answers.take(np.flatnonzero(answers.form.values == PAGES[part.question.form].name))
        distance = self.similarity.distances()
        known = evidence(len(self.names), answers.shown, answers.response)
        for subset in pending:
            at = np.ix_(*2 * [[number[name] for name in subset]])
            known[at] += on_table(distance[at])
        about = np.array([number[name] for name in part.items(self.names)])
        here = np.ix_(about, about)
        found = weakest_subsets(distance[here], known[here], part.question.grid_size, n, self._rng)
        return [([self.names[about[k]] for k in subset], WEAKEST, gain) for subset, gain in found]

    def _chooser(self, part: StudyPart, pending: Sequence[Sequence[str]], repeat: bool) -> Chooser:
        question = part.question
        return Chooser(
            self.similarity, strategy=part.strategy, form=question.form, grid_size=question.grid_size,
            n_chosen=question.pick, asked=self.comparisons, pending=list(pending), repeat=repeat, random_share=0.0,
            pool=self._allowed(part), random_state=self._rng,
        )  # fmt: skip

    def _allowed(self, part: StudyPart) -> list[list[str]] | None:
        """The questions among which those of a part are chosen that asks about some of the items; None is all."""
        names = part.items(self.names)
        if len(names) == len(self.names):
            return None
        question, rng = part.question, Random(int(self._rng.integers(2**32)))
        if number_of_questions(question, len(names)) <= _LISTED:
            return list(form_of(question.form).arrangement.every(names, width(question)))
        return [random_question(question, names, rng) for _ in range(_LISTED)]

    def _again(self, part: StudyPart, n: int) -> list[tuple[list[str], str, float | None]]:
        if not n:
            return []
        c = self.comparisons
        even = np.flatnonzero(evenly_drawn(c) & ~c.answers.cant_tell & self._are_of(part, c.answers))
        drawn: Ints = self._rng.permutation(even)[:n]
        return [([self.names[item] for item in c.answers.shown[row]], REPEAT, None) for row in drawn.tolist()]

    def _are_of(self, part: StudyPart, answers: Answers) -> Bools:
        """Which answers are to questions that the part could ask."""
        if not self.study.block and not self.study.condition:
            return np.ones(len(answers), bool)
        allowed = np.isin(self.names, part.items(self.names))
        apart = answers.shown.owner[~allowed[answers.shown.values]]
        found: Bools = answers.form.values == PAGES[part.question.form].name
        if SHEET in answers.extra:
            found = found & (answers.extra[SHEET] == part.block)
        found[apart] = False
        return found

    def _enough(self) -> Comparisons:
        try:
            found = self.comparisons
        except ValueError as error:  # an import brought a response that its form does not know, say
            raise NoModelYet(str(error)) from None
        needed = _PER_ITEM * len(self.names)
        if len(found) < needed:
            first = self._forms[0]
            takes = f": a comparison takes {first.compares}" if isinstance(first, Piece) else ""
            raise NoModelYet(
                f"a first model needs {needed} comparisons, {_PER_ITEM} per item; the {self._n_answers} answers so far "
                f"give {len(found)}{takes}"
            )
        return found

    def _last(self) -> Floats | None:
        return self._start if self.similarity is None else self.similarity.embedding

    def _fits(self, similarity: Similarity) -> bool:
        return similarity.names == self.names and similarity.embedding.shape[1] == self.study.choose.dimensions


def pools_of(study: Study) -> dict[str, StudyPart]:
    """The parts whose questions a model chooses, one for each pool."""
    return {part.pool: part for seen in study.seen for part in seen.parts if is_chosen(part)}


def _nothing(names: Sequence[str]) -> Comparisons:
    return comparisons_of(as_answers([], names), names)
