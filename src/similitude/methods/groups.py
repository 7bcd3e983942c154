"""Groups of raters who see the items differently: a mixture of maps, and who belongs to which.

Each rater belongs to one of G groups, unknown to which, and answers by the map of that group:

    P(all answers of r) = sum_g share_g · product over the answers of r of P_g(answer)

The maps of the groups share what they can: either a common map with shifts of each item (`differ="maps"`), or a common
map whose dimensions each group weighs in its own way (`differ="weights"`, as in individual-differences scaling). Raters
are first parted by how they pull at the pooled map; after one M step of EM comes L-BFGS on the likelihood itself, whose
gradient is EM's. The best of several starts is kept. The number of groups is chosen on held-out answers.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar
from scipy.special import logit
from sklearn.base import clone
from sklearn.cluster import KMeans

from similitude.engine.backend import CPU
from similitude.engine.comparison_terms import Compared
from similitude.engine.group_models import GroupShifts, GroupWeights
from similitude.engine.joint_terms import Mixed
from similitude.engine.penalties import Blocks, Penalty, Ridge
from similitude.engine.problem import Problem
from similitude.engine.solvers.lbfgs import lbfgs
from similitude.engine.solvers.result import Callback, Result
from similitude.engine.sources import normal_prior
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.folds import Fold, folds_of, held_out
from similitude.methods.answering import Groups
from similitude.methods.base import FeedbackWarning
from similitude.methods.likelihood import LikelihoodEmbedding, RatedAnswers
from similitude.methods.similarity import Similarity
from similitude.renaming import renamed
from similitude.settings import check_count, one_of
from similitude.types import Floats

if TYPE_CHECKING:
    import pandas as pd

_PARTINGS = 4  # of the raters to start from
_SUREST = 30.0  # log-odds beyond which nothing is told apart
_SURE = 0.9  # membership of the group that a start puts a rater into
_STRETCH_SPREAD = 0.7  # of the logarithm of a group's stretch of a dimension
_FOLDS = 4
_NO_DIFFERENCE = 0.01  # of the log-loss: what is closer to the best counts as the best


@renamed(n_starts="n_init")
class GroupEmbedding(LikelihoodEmbedding):
    """Maps for groups of raters who see the items differently, with the membership of each rater.

    Where no rater is recorded there is one group, and the fit is that of the method itself.

    Parameters
    ----------
    n_components : dimensions of each map
    n_groups : number of groups; "auto" takes the fewest of 1 to `max_groups` whose log-loss on held-out answers is
        within a standard error, or a hundredth, of the best
    method : "STE", "TSTE", "CKL" or "probit": how a rater answers
    differ : "maps", a common map with shifts of each item for each group, or "weights", a common map whose dimensions
        each group weighs
    max_groups : the most groups that "auto" tries
    n_init : number of ways to part the raters to start from (and of starts of their common map), the best is kept;
        "auto" is four (and the map's own number)

    Attributes
    ----------
    groups_ : table with a row per rater: `rater`, `answers`, `group` (the likeliest, 1 is the largest) and the
        probability of each, `p1`, `p2`, ...
    shares_ : the share of each group
    similarities_ : the map of each group in use, a `Similarity` each
    similarity_ : all groups together: squared distances are the mean over groups by share
    weights_ : (groups, d) weight of each dimension of the common map, with `differ="weights"`
    n_groups_ : number of groups
    selection_ : table of the numbers of groups tried: `groups`, `log_loss`, how far `behind` the best and the standard
        `error` of that, `chosen`; None where the number was given

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> rng = np.random.default_rng(0)
    >>> maps = {"ann": rng.normal(size=(10, 2)), "ben": rng.normal(size=(10, 2))}
    >>> said = [sm.simulate(X, 300, raters=sm.Raters.of([9.0], names=[who]), random_state=0) for who, X in maps.items()]
    >>> model = sm.GroupEmbedding(n_components=2, n_groups=2, random_state=0).fit(sm.Comparisons.concatenate(said))
    >>> len(model.similarities_), sorted(model.groups_.group)
    (2, [1, 2])
    """

    n_groups: int | Literal["auto"] = "auto"
    differ: Literal["maps", "weights"] = "maps"
    max_groups: int = 4

    def fit(
        self, comparisons: ComparisonsLike, y: npt.ArrayLike | None = None, *, callback: Callback | None = None
    ) -> Self:
        """Find the maps of the groups and who belongs to which: first pooled, then parted.

        The parameters are those of `STE.fit`; who answered stands in the comparisons.
        """
        c = as_comparisons(comparisons, y, self.n_items)
        super().fit(c, callback=callback)
        said = RatedAnswers.of(c)
        self.selection_: pd.DataFrame | None = None
        if said.raters and self.n_groups == "auto":
            self.selection_ = self._compare_numbers(c)
            self.n_groups_ = int(self.selection_.groups[self.selection_.chosen].iloc[0])
        else:
            self.n_groups_ = int(self.n_groups) if said.raters else 1
        self._keep_one(said) if self.n_groups_ == 1 else self._part(said, callback)
        return self

    def _check(self) -> None:
        super()._check()
        one_of("differ", self.differ, ("maps", "weights"))
        check_count("max_groups", self.max_groups)
        check_count("n_groups", self.n_groups, also="auto")

    def _compare_numbers(self, c: Comparisons) -> pd.DataFrame:
        """Held-out log-loss of each number of groups, up to the first that is clearly worse than fewer.

        Every rater is in training with other answers. `behind` is the mean over answers of the loss beyond the best.
        """
        import pandas as pd

        folds = folds_of((np.random.default_rng(0).permutation(c.n_answers) % _FOLDS)[c.answer])
        losses: list[Floats] = []
        for number in range(1, self.max_groups + 1):
            losses.append(self._held_out_loss(c, number, folds))
            behind, error = _behind(losses)
            if behind[-1] > error[-1]:
                break
        scale = c.n_answers / float(c.weight.sum())
        log_loss = np.mean(losses, axis=1) * scale
        chosen = np.flatnonzero(behind * scale <= np.maximum(error * scale, _NO_DIFFERENCE * log_loss.min()))[0]
        tried = 1 + np.arange(len(losses))
        table = {"groups": tried, "log_loss": log_loss, "behind": behind * scale, "error": error * scale}
        return pd.DataFrame(table | {"chosen": tried == 1 + chosen})

    def _held_out_loss(self, c: Comparisons, number: int, folds: list[Fold]) -> Floats:
        """Minus the log of the probability of each answer, learned from the other folds.

        Log-odds are stretched by the one factor that suits them best: several maps are penalised less than one, and
        would win by sharper probabilities alone where raters see the same but answer surely.
        """
        model = clone(self).set_params(n_groups=number, n_items=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FeedbackWarning)  # a fold may leave an item out
            odds = held_out(c, folds, lambda train, test: logit(clone(model).fit(train).predict_proba(test)[:, 1]))
        odds = np.clip(odds, -_SUREST, _SUREST)
        loss = np.logaddexp(0.0, -_stretch(odds, c.weight) * odds) * c.weight
        return np.bincount(c.answer, loss, c.n_answers).astype(float)

    def _keep_one(self, said: RatedAnswers) -> None:
        self.shares_ = np.ones(1)
        self.similarities_: tuple[Similarity, ...] = (self.similarity_,)
        if self.differ == "weights":
            self.weights_ = np.ones((1, self.n_components))
        self._keep_members(said, np.ones((1, said.n_raters)), np.eye(self.n_components)[None])

    def _part(self, said: RatedAnswers, callback: Callback | None) -> None:
        """Fit the mixture from several partings of the raters, and keep the best."""
        rng = np.random.default_rng(self.random_state)
        term = said.term(self.comparison_loss(), self.n_groups_)
        found, model = [], self._model(said)
        for number in range(_PARTINGS if self.n_init == "auto" else int(self.n_init)):
            member = self._parting(said, rng, number)
            problem = Problem(model, term, self._penalty(model, said))
            start = np.append(self._m_step(model, said, member, rng, number), np.log(member.mean(1)))
            found.append(lbfgs(problem, start, max_iter=self.max_iter, tol=self.tol, callback=callback))
        self._keep_groups(min(found, key=lambda result: result.value), model, term, said)

    def _model(self, said: RatedAnswers) -> GroupShifts | GroupWeights:
        kind = GroupShifts if self.differ == "maps" else GroupWeights
        return kind(said.n_items, self.n_components, self.n_groups_)

    def _penalty(self, model: GroupShifts | GroupWeights, said: RatedAnswers) -> Penalty:
        common = said.n_items * self.n_components
        ridge = Ridge(self.penalty_, said.n_compared)
        own = ridge if self.differ == "maps" else normal_prior(_STRETCH_SPREAD, float(said.weight.sum()))
        return Blocks([(ridge, common), (own, model.size - common)])

    def _parting(self, said: RatedAnswers, rng: np.random.Generator, number: int) -> Floats:
        """(groups, raters) memberships to start from: raters who pull alike together; every second one at random."""
        group = rng.integers(0, self.n_groups_, said.n_raters)
        if number % 2 == 0 and said.n_raters > self.n_groups_:
            pulls = said.pulls(self.embedding_, self.comparison_loss())
            seed = int(rng.integers(2**31))
            group = KMeans(self.n_groups_, n_init=3, random_state=seed).fit_predict(pulls)
        rest = (1.0 - _SURE) / (self.n_groups_ - 1)
        return np.where(np.arange(self.n_groups_)[:, None] == group, _SURE, rest)

    def _m_step(
        self,
        model: GroupShifts | GroupWeights,
        said: RatedAnswers,
        member: Floats,
        rng: np.random.Generator,
        number: int,
    ) -> Floats:
        """Parameters of the model when memberships are given: comparisons weighted by them, from the pooled map."""
        X = self.embedding_
        if self.differ == "weights" and number:  # weights of dimensions fix the axes: try others
            X = X @ np.linalg.qr(rng.normal(size=(self.n_components, self.n_components)))[0]
        start = np.concatenate([X.ravel(), 0.01 * rng.normal(size=model.size - X.size)])
        problem = Problem(model, Compared(said.graph(member), self.comparison_loss()), self._penalty(model, said))
        return lbfgs(problem, start, max_iter=50, tol=self.tol).params

    def _keep_groups(self, best: Result, model: Any, term: Mixed, said: RatedAnswers) -> None:
        params, own = best.params[: model.size], best.params[model.size :]
        maps = model.positions(params).reshape(self.n_groups_, said.n_items, -1)
        member = term.memberships(CPU().sqdist(maps.reshape(-1, self.n_components), term.pairs), own)
        share = np.exp(own - own.max()) / np.exp(own - own.max()).sum()
        order = np.argsort(-share, kind="stable")
        compared = said.compared[:, None]
        maps = np.stack([(X - X[said.compared].mean(0)) * compared for X in maps[order]])
        self.shares_ = share[order]
        together = np.hstack([np.sqrt(size) * X for size, X in zip(self.shares_, maps, strict=True)])
        views = np.stack(np.hsplit(np.eye(together.shape[1]), self.n_groups_))
        views /= np.sqrt(self.shares_)[:, None, None]
        if self.differ == "weights":
            self.weights_ = model.parts(params)[1][order] ** 2
            mean = np.sqrt(self.shares_ @ self.weights_)
            together = maps[0] / np.sqrt(self.weights_[0]) * mean
            views = np.stack([np.diag(own / mean) for own in np.sqrt(self.weights_)])
        self._keep_positions(best, together, said.names)
        self.similarities_ = tuple(self._in_use(X, self.comparison_loss(), said.names) for X in maps)
        self._keep_members(said, member[order], views)

    def _keep_members(self, said: RatedAnswers, member: Floats, views: Floats) -> None:
        """Keep who belongs to which group, and the map of each as a view of the map of all."""
        import pandas as pd

        known = member[:, : len(said.raters)].T
        table = {"rater": said.raters, "answers": said.answers, "group": 1 + known.argmax(1)}
        self.groups_ = pd.DataFrame(table | {f"p{k + 1}": known[:, k] for k in range(len(member))})
        self.similarity_ = replace(self.similarity_, answering=Groups(said.raters, known, self.shares_, views))


def _stretch(odds: Floats, weight: Floats) -> float:
    """Return the factor of log-odds at which the answers, all true, are likeliest."""

    def loss(log: float) -> float:
        return float(weight @ np.logaddexp(0.0, -np.exp(log) * odds))

    return float(np.exp(minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x))


def _behind(losses: list[Floats]) -> tuple[Floats, Floats]:
    """Mean loss of each beyond that of the best, and the standard error of that difference."""
    table = np.array(losses)
    gap = table - table[table.sum(1).argmin()]
    return gap.mean(1), gap.std(1) / np.sqrt(table.shape[1])
