"""AutoSimilarity: chooses the method for you, on held-out answers, within a time limit."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from similitude.auto.average import MeanMap, best_average, best_single
from similitude.auto.candidates import Line, lines, of_raters
from similitude.auto.held_out import HeldOut
from similitude.auto.levels import by_products, mean_form
from similitude.auto.race import Progress, Race, Trial
from similitude.auto.raters import answering_of, promising, with_sharpness, with_weights
from similitude.auto.reasons import reason, tried_table
from similitude.auto.walks import TimeLeft
from similitude.engine.jobs import over_jobs, workers
from similitude.engine.measures import SignedProduct
from similitude.engine.terms import ComparisonLoss, Formula, logistic, squared
from similitude.evaluate.draws import refit
from similitude.evaluate.validation import Estimators
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.folds import AnswerFold
from similitude.kernels.modalities import Features
from similitude.methods.answering import Sharpness, answerers
from similitude.methods.base import ComparisonEstimator, FeedbackWarning, refuse_empty
from similitude.methods.modalities import read_kernels
from similitude.methods.provenance import described_data
from similitude.methods.similarity import Similarity
from similitude.renaming import by_name
from similitude.settings import check_count, check_seconds, one_of
from similitude.types import Floats, Seed

_INTERRUPTED = "interrupted: the search has ended, and the best so far is used; Ctrl+C once more ends everything"


@by_name("time_limit")
class AutoSimilarity(ComparisonEstimator):
    """Learns a similarity with loss, penalty and dimension chosen on held-out answers.

    Settings race on folds that keep answers whole: all on the first fold, along paths of penalties with warm starts;
    what is hopeless (surely less accurate than the leader on the same answers) drops out, and fewer go on to each
    further fold. The best penalty of each candidate and dimension that is left is fitted to everything, and the fits
    are averaged unless that predicts held-out answers surely worse than the best alone: squared distances are the
    weighted mean of theirs, each in units of its own mean, which is again a kernel. Size and scale of the result are
    those that give held-out answers, each as a whole, the best log loss, so that it has probabilities whatever was
    chosen. Models of choices and of products of vectors are taken only where the accuracy of answers ties and their log
    loss falls by more than three standard errors. Products are no map: `similarity_.kind` is then "product", and
    `place` is not to be had.

    Where it is known who answered, raters may differ. How sharp each is, is told by what was foretold of their held-out
    answers. Models in which they weigh the dimensions differently (INDSCAL) race once the others are done, and take
    their place under the same condition: the accuracy of answers ties, and their log loss surely falls. Predictions are
    then those for the rater of each comparison; distances, neighbours and maps are everybody's, weights of 1.

    Parameters
    ----------
    time_limit : seconds after which no further setting is tried; time is kept for the final fits, and a first answer
        is there in any case. The same seed gives the same bits only where the limit does not end the search.
    candidates : estimators to choose from (a sequence, or a dict of names); by default CKL, TSTE, STE, SOE and
        GNMDS; where features are given also FeatureEmbedding with two losses and, of arrays, two maps; where answers
        chose from more than two (odd ones out, grids, most central ones), also ChoiceEmbedding by distances and by
        products. A candidate's penalty is varied where it is "auto".
    dimensions : numbers of dimensions to try for candidates that have them, and do not learn how many they need
    n_folds : number of folds
    raters : whether raters may differ; where not, predictions are the same for everybody
    average : whether several fits may be averaged; where not, the simplest is taken of those within one standard error
        of the best, a map before products of vectors
    n_items : number of items, where it is more than the comparisons show
    random_state : seed of the folds, and of candidates that have none
    n_jobs : processes, through joblib: lines of the search (a candidate in one dimension, all its penalties) at the
        same time, then the final fits. The result is the same with any number, where the time limit does not end the
        search. Each line is handed what is left of the time when it begins, and looks at it between fits.

    Attributes
    ----------
    similarity_ : the model in use
    embedding_ : (n, d) position of every item
    tried_ : a table with a row per setting: candidate, dimension, penalty (in the race), held-out
        accuracy with its standard error, log loss, folds run, seconds, whether it was chosen, and why it was dropped
    chosen_ : a table of the fits that make the model: candidate, dimension (as learned, where it is), penalty, share in
        the average
    reason_ : why, in plain sentences
    held_out_ : accuracy of the chosen on held-out comparisons with its 95% interval (`low`, `high`), and log loss; the
        same of answers as wholes (`answer_accuracy`, `answer_low`, `answer_high`, `answer_log_loss`)
    members_ : the fitted estimators
    ended_ : how the search ended: "finished", "time limit" or "interrupted"
    average_gain_ : what the average of several fits gains over the best alone in accuracy on held-out answers, with
        its 95% interval, whether or not it was taken; of fits that take all raters as alike

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth, 400, sharpness=2.0, random_state=1)
    >>> model = sm.AutoSimilarity(candidates=[sm.STE(), sm.CKL()], dimensions=(1, 2), random_state=0).fit(answers)
    >>> sorted({*model.tried_.candidate}), bool(model.tried_.chosen.any()), model.has_probability
    (['CKL', 'STE'], True, True)
    """

    needs_features = True

    time_limit: float = 60.0
    candidates: Estimators | None = None
    dimensions: Sequence[int] = (2, 3, 5, 10)
    n_folds: int = 4
    average: bool = True
    raters: bool = True
    n_items: int | None = None
    random_state: Seed = None
    n_jobs: int | None = None

    def fit(
        self,
        comparisons: ComparisonsLike,
        y: npt.ArrayLike | None = None,
        *,
        features: Features | None = None,
        callback: Progress | None = None,
    ) -> Self:
        """Choose and learn.

        An interrupt (Ctrl-C) ends the search, which a warning says at once, and the best so far is fitted.

        Parameters
        ----------
        comparisons : a `Comparisons`, or an array of rows `(i, j, k)` or `(i, j, k, l)`
        y : booleans or +1/-1 per comparison, False or -1 where it is the other way round
        features : of the items, where there are any: an array with a row per item, a kernel, or a dict of these by
            modality
        callback : called after each fit of the search with the number done and the most that there may be, where
            several run at once when its line is done; it may raise to stop without a result
        """
        clock = TimeLeft(self._checked(), workers(self.n_jobs))
        c = as_comparisons(comparisons, y, self.n_items)
        refuse_empty(c)
        self._learned_from = described_data(c)
        if features is not None:
            _, c = read_kernels(features, c)
        rng = np.random.default_rng(self.random_state)
        seed, fold_seed = (int(number) for number in rng.integers(2**31, size=2))
        track = lines(self.candidates, self.dimensions, c, features, seed)
        folds = self._folds(c, fold_seed)
        if not folds:
            return self._only(track[0], c, features)
        race = Race(track, c, folds, features, clock, callback, self.n_jobs)
        race.run()
        if not race.trials:
            raise KeyboardInterrupt
        if race.ended == "interrupted":
            warnings.warn(_INTERRUPTED, RuntimeWarning, stacklevel=2)
        single, together = best_single(race), best_average(race)
        self.average_gain_ = together.gain_over(single)
        # On the answers that made it the leader, the leader looks better than it is: an average may be a little behind.
        found = together if self.average and self.average_gain_[2] >= 0 else single
        if self.raters:
            lines_of_raters = of_raters(self.dimensions, c, features, seed) if self.candidates is None else []
            race, found = _with_raters(race, found, lines_of_raters, self.average)
        self.ended_ = race.ended
        self.reason_ = reason(race, found, HeldOut.of(race, single.trials), self.average)
        self.tried_ = tried_table(race, found.trials)
        self._refit(found, c, features)
        return self

    def place(self, comparisons: ComparisonsLike, *, n_init: int = 5, random_state: Seed = None) -> Similarity:
        """Return the similarity with new items in it, placed by comparisons with the items already there.

        See `Similarity.place`.
        """
        return self._fitted().place(comparisons, n_init=n_init, random_state=random_state)

    def refit_chosen(self, comparisons: ComparisonsLike, *, features: Features | None = None) -> AutoSimilarity:
        """Return a model with the settings that were chosen, fitted to other answers about the same items.

        Nothing is chosen anew: this is what `uncertainty` calls, and what a study does when some answers have come in.
        """
        check_is_fitted(self, "similarity_")
        c = self.similarity_.over_items(as_comparisons(comparisons)).with_items(n_items=self.similarity_.n_items)
        again: AutoSimilarity = clone(self)
        again._learned_from = described_data(c)
        again.members_ = [refit(member, c, features) for member in self.members_]
        again.chosen_, again.tried_, again.reason_ = self.chosen_, self.tried_, self.reason_
        again.held_out_, again.average_gain_, again.ended_ = self.held_out_, self.average_gain_, self.ended_
        again._put_together(c, self.similarity_.loss, self._size, self._sharpness)
        return again

    def transform(self, features: Any) -> Floats:
        """(m, d) positions of new items by their features alone, where the chosen candidates learn from features."""
        check_is_fitted(self, "similarity_")
        if not all(hasattr(member, "transform") for member in self.members_):
            named = ", ".join(dict.fromkeys(self.chosen_.candidate))
            raise ValueError(f"features: what predicted best ({named}) does not learn from features; see place")
        return self.similarity_.transform(features)

    def _checked(self) -> float:
        check_seconds("time_limit", self.time_limit)
        check_count("n_folds", self.n_folds, 2)
        one_of("raters", self.raters, (True, False))
        wanted = list(self.dimensions) if isinstance(self.dimensions, Iterable) else []
        if not wanted or not all(isinstance(d, (int, np.integer)) and d >= 1 for d in wanted):
            raise ValueError(f"dimensions: expected positive whole numbers such as (2, 3), found {self.dimensions!r}")
        return float(self.time_limit)

    def _folds(self, c: Comparisons, seed: int) -> list[Any]:
        """Return the folds, as many as there are answers for; none where there is only one answer."""
        used = np.flatnonzero(c.weight > 0)  # what counts for nothing is in no fold, and moves no other answer
        count = min(int(self.n_folds), len(np.unique(c.answer[used])))
        if count < 2:
            return []
        return [(used[train], used[test]) for train, test in AnswerFold(count, random_state=seed).split(c.rows(used))]

    def _only(self, line: Line, c: Comparisons, features: Any) -> Self:
        """Fit the first candidate where there is but one answer: nothing can be held out."""
        self.members_ = [line.fit(1.0, {}, None, c, features, quick=False)]
        self.reason_ = f"There is only one answer, so that nothing could be held out: {line}, the first candidate."
        self.tried_ = pd.DataFrame()
        self.chosen_ = _members([Trial(line, 1.0)], [1.0], self.members_)
        told = ("accuracy", "low", "high", "log_loss")
        self.held_out_ = dict.fromkeys((*told, *(f"answer_{name}" for name in told)), np.nan)
        self.average_gain_, self.ended_ = (0.0, 0.0, 0.0), "finished"
        self._put_together(c, ComparisonLoss(Formula(squared), Formula(logistic)), 1.0, None)
        return self

    def _refit(self, found: HeldOut, c: Comparisons, features: Any) -> None:
        """Fit the chosen to everything and put them together."""
        self.members_ = self._fitted_to_all(found.trials, c, features)
        self.chosen_ = _members(found.trials, found.shares, self.members_)
        accuracy, low, high = found.accuracy()
        self.held_out_ = {"accuracy": accuracy, "low": low, "high": high, "log_loss": found.log_loss()}
        whole = dict(zip(("answer_accuracy", "answer_low", "answer_high"), found.answer_accuracy(), strict=True))
        self.held_out_ |= whole | {"answer_log_loss": found.answer_log_loss()}
        names = answerers(c)[0]
        known = None if found.sharpness is None else Sharpness(names, found.sharpness, np.zeros(len(names) + 1))
        self._put_together(c, *found.calibration, known)

    def _fitted_to_all(self, trials: Sequence[Trial], c: Comparisons, features: Any) -> list[Any]:
        """Fit settings to everything; what a fit has to say about the feedback is said once, here."""
        work = [(copy.deepcopy(trial.line), trial.strength) for trial in trials]
        members: list[Any] = []
        said: dict[str, Warning] = {}
        for member, heard in over_jobs(_at_strength, work, self.n_jobs, shared=(c, features)):
            members.append(member)
            said |= {str(warning): warning for warning in heard}
        for warning in said.values():
            warnings.warn(warning, stacklevel=4)
        return members

    def _put_together(self, c: Comparisons, loss: ComparisonLoss, size: float, known: Sharpness | None) -> None:
        """Average the members, with a mean squared distance of `size`; `known` is how sharp raters are."""
        compared = np.zeros(c.n_items, bool)
        compared[c.items_compared] = True
        products = [by_products(member) for member in self.members_]
        shares = self.chosen_.share.tolist()
        self._size, self._sharpness = size, known
        self._map = MeanMap.of(self.members_, shares, compared, size, centred=not all(products))
        X = self._map([member.embedding_ for member in self.members_])
        maps = [member.similarity_.feature_map for member in self.members_]
        affine = all(one is not None and not one.non_negative for one in maps)
        together = self._map.of_maps(maps) if affine else None
        if together is None:
            X *= compared[:, None]
        form = None
        if all(products):
            form = SignedProduct(X, -np.ones(X.shape[1]))
        elif any(products):
            form = mean_form(self.members_, self._map.factors, compared)
        answering = answering_of(self.members_, self._map.turn, known)
        self.similarity_ = self._in_use(X, loss, c.names, feature_map=together, form=form, answering=answering)


def _with_raters(race: Race, found: HeldOut, weighed: Sequence[Line], average: bool) -> tuple[Race, HeldOut]:
    """What is found where raters may differ, and the race that found it."""
    alike = with_sharpness(found, len(race.names))
    if race.ended != "finished" or not weighed:
        return race, alike
    again = race.again(weighed, lambda run: promising(run, found))
    again.run()
    better = with_weights(again, found, average)
    again.trials += race.trials
    if better is None:
        again.folds = race.folds
    return again, better or alike


def _at_strength(c: Comparisons, features: Any, line: Line, strength: float) -> tuple[Any, list[Warning]]:
    """Fit a setting to everything, by way of the penalty "auto", which tells what its strength means here.

    Returns the fit and the warnings of the first of the two: those of a worker would be lost.
    """
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", FeedbackWarning)
        auto = line.fit(1.0, {}, None, c, features, quick=False)
    said = [one.message for one in heard if isinstance(one.message, Warning)]
    if strength == 1.0:
        return auto, said
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeedbackWarning)
        return line.fit(strength, line.usual_penalties(auto), auto, c, features, quick=False), said


def _members(trials: Sequence[Trial], shares: Sequence[float], members: Sequence[Any]) -> pd.DataFrame:
    rows = [
        {
            "candidate": trial.line.name,
            "dimension": trial.line.dimension or getattr(member, "n_dimensions_", None),
            "penalty": float(getattr(member, "penalty_", np.nan)),
            "share": share,
        }
        for trial, share, member in zip(trials, shares, members, strict=True)
    ]
    return pd.DataFrame(rows).astype({"dimension": "Int64"})
