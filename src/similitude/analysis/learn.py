"""Everything that a report of answers says, computed once: `sm.learn`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

import joblib
import numpy as np
import pandas as pd

from similitude.analysis import people
from similitude.analysis.choice import FEWEST_ANSWERS, Chosen, MethodName, Wanted, choose, from_scratch
from similitude.analysis.phases import Phases, Step
from similitude.analysis.summary import findings_card, summary
from similitude.auto.similarity import AutoSimilarity
from similitude.display.estimate import Estimate
from similitude.engine.measures import SignedProduct
from similitude.evaluate.answer_scores import answer_calibration
from similitude.evaluate.baselines import baselines
from similitude.evaluate.described_dimensions import DescribedDimensions, describe_dimensions
from similitude.evaluate.dimension import DimensionChoice
from similitude.evaluate.forecast import Forecast, more_answers
from similitude.evaluate.group_difference import GroupDifference
from similitude.evaluate.held_out_answers import by_chance
from similitude.evaluate.intervals import too_few
from similitude.evaluate.parts import Parts
from similitude.evaluate.reproducibility import dimension_reproducibility
from similitude.evaluate.scores import calibration, likelihoods, off_by
from similitude.evaluate.uncertainty import Uncertainty, uncertainty
from similitude.evaluate.validation import Of
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.graph.consistency import ConsistencyReport, check
from similitude.kernels.modalities import Features
from similitude.methods.base import FeedbackWarning
from similitude.methods.non_negative_embedding import NonNegativeEmbedding
from similitude.methods.similarity import Similarity
from similitude.settings import check_seconds

_ALIKE = 0.05  # a product that raises the odds of a pair by a twentieth
_NONE = "(like none of the others)"
_NEIGHBOURS, _SURPRISES = 5, 20


class PageOptions(TypedDict, total=False):
    """What may be said about a report beside its title; `page.findings_page` explains it."""

    images: Mapping[str, Path] | None
    colours: Mapping[str, str] | None
    classes: Mapping[str, str] | None
    command: str | None


class FolderOptions(PageOptions, total=False):
    """What may be said about a folder, too; `folder.write_folder` explains it."""

    source: Sequence[str]
    figure_width: float | None
    time_limit: float | None
    tell: Callable[[str], None] | None


_BOOTSTRAPS, _REPEATS, _STARTS = 30, 5, 5
_MOST_RATERS = 500


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """What `learn` finds.

    Attributes
    ----------
    comparisons : the feedback
    consistency : how far it can be trusted, as of `check`
    chosen : the model, and what spoke for it
    wanted : what of the choice was fixed beforehand
    accuracy : share of held-out answers that the model predicts, each as a whole, with its 95% interval; of plain
        comparisons (triplets) the share of these; unknown where there are too few answers
    comparison_accuracy : share of held-out comparisons that the model predicts, of which an answer may give several
    sureness : other maps that the answers allow, as of `uncertainty`; None where there are too few answers
    forecast : what more answers would bring, as of `more_answers`, beginning at `accuracy`; None where there are too
        few
    calibration : on answers held out, as of `calibration`, of whole answers `answer_calibration`; None where there are
        too few
    calibration_error : of these
    neighbours : a row per item with the items most like it
    surprises : the answers that the model finds least likely
    raters : how sharply each rater answers, as of `RaterEmbedding`; None where raters were not recorded
    raters_gain : accuracy on held-out answers of a model that knows them less that of one that does not, with interval
    groups : whether groups of raters, or conditions within them, differ, for each column by which they can be compared,
        as of `compare_groups`
    parts : how well answers are predicted under each condition and over the session, for each column that varies within
        raters and the one that tells when answers were given, as of `similitude.evaluate.parts`
    left_out : what there was no time for
    baselines : what the features predict without learning, as of `baselines`; None where there are none, or too few
        answers
    described : what the dimensions are about, as of `describe_dimensions`, where `NonNegativeEmbedding` was asked for

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth[:6], 25, sharpness=2.0, random_state=1)
    >>> found = sm.learn(answers, time_limit=1, random_state=0)
    >>> found.consistency.answers, found.model.has_probability, found.page("Faces").startswith("<!doctype html>")
    (25, True, True)
    """

    comparisons: Comparisons
    consistency: ConsistencyReport
    chosen: Chosen
    wanted: Wanted
    accuracy: Estimate
    comparison_accuracy: Estimate
    sureness: Uncertainty | None
    forecast: Forecast | None
    calibration: pd.DataFrame | None
    calibration_error: float
    neighbours: pd.DataFrame
    surprises: pd.DataFrame
    raters: pd.DataFrame | None
    raters_gain: tuple[float, float, float] | None
    groups: tuple[GroupDifference, ...] = ()
    parts: tuple[Parts, ...] = ()
    left_out: tuple[str, ...] = ()
    baselines: pd.DataFrame | None = None
    described: DescribedDimensions | None = None

    @property
    def of(self) -> Of:
        """What the accuracy is the share of: "answers", or "comparisons" where answers are nothing more."""
        return "comparisons" if self.consistency.answer_repeats is None else "answers"

    @property
    def chance(self) -> float:
        """What somebody who guesses gets right of that: half of comparisons, of answers as their forms let one guess.

        One half of triplets, a third of odd ones out, 1 / number of possible answers of any other form.
        """
        return 0.5 if self.of == "comparisons" else by_chance(self.comparisons)[1]

    @property
    def ceiling(self) -> Estimate:
        """The noise ceiling of that."""
        return self.consistency.answer_ceiling or self.consistency.ceiling

    @property
    def similarity(self) -> Similarity:
        """The model in use."""
        return self.model.similarity_

    @property
    def model(self) -> AutoSimilarity:
        """The estimator that was chosen and fitted."""
        return self.chosen.model

    @property
    def dimensions(self) -> DimensionChoice | None:
        """Accuracy by the number of dimensions, from which that was chosen; None where it was not."""
        return self.chosen.dimensions

    @property
    def dimension(self) -> int | None:
        """How many dimensions the model has; None where it is an average, or has none to choose."""
        found = self.model.chosen_.dimension
        return int(found.iloc[0]) if len(found) == 1 and found.notna().all() else None

    def page(self, title: str = "What people find similar", **options: Unpack[PageOptions]) -> str:
        """Return the report as one self-contained HTML page; see `similitude.analysis.page.findings_page`."""
        from similitude.analysis.page import findings_page

        return findings_page(self, title, **options)

    def save(
        self, folder: str | os.PathLike[str], title: str = "What people find similar", **options: Unpack[FolderOptions]
    ) -> Path:
        """Write the model, the tables, the figures and the report into a folder; return the report's path.

        What an earlier report in the folder said differently is told; see `similitude.analysis.folder.write_folder`.
        """
        from similitude.analysis.folder import write_folder

        return write_folder(self, Path(folder), title, **options)

    def __repr__(self) -> str:
        return summary(self)

    def _repr_html_(self) -> str:
        return findings_card(self)


def learn(
    comparisons: ComparisonsLike,
    *,
    features: Features | None = None,
    method: MethodName | None = None,
    n_components: int | None = None,
    penalty: float | None = None,
    average: bool = False,
    time_limit: float = 60.0,
    random_state: int = 0,
    n_jobs: int | None = None,
    step: Step | None = None,
) -> Findings:
    """Check answers, choose and fit a model, and find out all that a report says.

    The model is one that a methods section can describe: the method and the penalty that predict held-out answers best,
    in the fewest dimensions whose accuracy is within one standard error of the best number of them. Answers that chose
    from more than two (odd ones out, grids) are scored as wholes, and may be modelled as choices (`ChoiceEmbedding`),
    with as many dimensions as that finds needed, where simpler models are more than one standard error behind.

    Parameters
    ----------
    comparisons : the answers: `Comparisons`, or an array of rows `(i, j, k)`, "i is more like j than like k"
    features : of the items, where there are any (see `AutoSimilarity`)
    method : "CKL", "TSTE", "STE", "SOE", "GNMDS", "ChoiceEmbedding", "FeatureEmbedding" with features, or
        "NonNegativeEmbedding", whose dimensions the report then describes; None chooses among the others
    n_components : number of dimensions; None chooses
    penalty : of the method; None chooses
    average : take an average of several fits instead, which often predicts a little better
    time_limit : seconds for everything; what there was no time for is left out and named in `left_out`. The same seed
        gives the same findings only where the limit ends nothing
    random_state : seed
    n_jobs : processes, through joblib, for everything that is fitted many times
    step : called with what is being done, how many parts of it are done, and of how many, for a progress bar

    Returns
    -------
    Findings
        `found.similarity` is the model, `found.save(folder)` writes the report with its tables and figures.

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> answers = sm.simulate(truth[:6], 25, sharpness=2.0, random_state=1)
    >>> found = sm.learn(answers, time_limit=1, random_state=0)
    >>> found.similarity.n_items, found.neighbours.shape[0]
    (6, 6)
    """
    check_seconds("time_limit", time_limit)
    wanted = Wanted.checked(method, n_components, penalty, average, features is not None)
    c, phases = as_comparisons(comparisons), Phases(time_limit, step)
    n_compared = len(c.items_compared)
    if n_components is not None and n_components >= n_compared:
        raise ValueError(f"n_components: found {n_components}, expected fewer than the {n_compared} items compared")
    with joblib.parallel_config(**({} if n_jobs is None else {"n_jobs": n_jobs})):
        return _learned(c, features, wanted, random_state, phases)


def _learned(c: Comparisons, features: Any, wanted: Wanted, seed: int, phases: Phases) -> Findings:
    consistency = phases.needed("checking the answers", lambda _: check(c))
    assert isinstance(consistency, ConsistencyReport)
    chosen = choose(c, features, wanted, seed, phases)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeedbackWarning)  # parts of the answers leave gaps; of the whole it was said
        return _examined(c, consistency, chosen, features, wanted, seed, phases)


def _examined(
    c: Comparisons,
    consistency: ConsistencyReport,
    chosen: Chosen,
    features: Any,
    wanted: Wanted,
    seed: int,
    phases: Phases,
) -> Findings:
    """What parts of the answers tell about the model; little where there are few."""
    model = chosen.model
    sureness, forecast, table, error, raters, gain = None, None, None, np.nan, None, None
    of: Of = "comparisons" if consistency.answer_repeats is None else "answers"
    groups: tuple[GroupDifference, ...] = ()
    parts: tuple[Parts, ...] = ()
    described = _described(c, model, features, seed, phases)
    if c.n_answers >= FEWEST_ANSWERS:
        single = from_scratch(model.members_[0])
        more = {"features": features} if single.needs_features else {}
        sureness = phases.optional(
            "how sure the map is",
            lambda tell: uncertainty(model, c, n=_BOOTSTRAPS, features=features, random_state=seed, callback=tell),
        )
        forecast = phases.optional(
            "what more answers would bring",
            lambda tell: more_answers(single, c, of=of, n_repeats=_REPEATS, random_state=seed, callback=tell, **more),
        )
        believed = phases.optional(
            "how far probabilities can be believed", lambda _: _calibration(model, c, features, seed, of), whole=True
        )
        table, error = believed or (None, np.nan)
        if 3 <= len(c.answers.rater.labels) <= _MOST_RATERS:
            d = model.chosen_.dimension.iloc[0]
            differ = phases.optional(
                "how raters differ", lambda _: people.sharpness(c, 2 if pd.isna(d) else int(d), seed), whole=True
            )
            raters, gain = differ or (None, None)
        groups, parts = people.groups(c, seed, phases), people.parts(c, model, features, seed, phases)
    accuracy, by_comparison = _accuracy(c, model, sureness, of), _accuracy(c, model, sureness, "comparisons")
    forecast = None if forecast is None else forecast.beginning_at(accuracy)  # one accuracy of the answers at hand
    return Findings(
        c, consistency, chosen, wanted, accuracy, by_comparison, sureness, forecast, table, error,
        _neighbours(model.similarity_), _surprises(model.similarity_, c), raters, gain, groups, parts,
        tuple(phases.left_out), _baselines(c, features, phases, of), described,
    )  # fmt: skip


def _described(c: Comparisons, model: AutoSimilarity, features: Any, seed: int, phases: Phases) -> Any:
    """What non-negative dimensions are about, and which come again while there is time; None of any other model."""
    one = model.members_[0]
    if len(model.members_) > 1 or not isinstance(one, NonNegativeEmbedding):
        return None
    again = None
    if one.n_dimensions_ and c.n_answers >= FEWEST_ANSWERS:
        again = phases.optional(
            "which dimensions come again",
            lambda _: dimension_reproducibility(
                one, c, features=features, n_seeds=_STARTS, n_halves=2, random_state=seed
            ),
            whole=True,
        )
    return phases.needed(
        "what the dimensions are about",
        lambda _: describe_dimensions(one, c, reproducibility=again, random_state=seed),
    )


def _baselines(c: Comparisons, features: Any, phases: Phases, of: Of) -> pd.DataFrame | None:
    """What the features predict without learning, on all answers: each is new to what learns from none."""
    if features is None or too_few(c.n_answers):
        return None
    return phases.needed("what features predict without learning", lambda _: baselines(c, features, of=of))


def _accuracy(c: Comparisons, model: AutoSimilarity, sureness: Uncertainty | None, of: Of) -> Estimate:
    """The one figure of how well the model predicts: on answers that neither fit nor choice of penalty has seen."""
    whole = of == "answers"
    if few := too_few(c.n_answers):
        return Estimate(None, note=few)
    if sureness is not None and sureness.accuracy.value is not None:
        return sureness.answer_accuracy if whole else sureness.accuracy
    value, low, high = (model.held_out_[f"answer_{name}" if whole else name] for name in ("accuracy", "low", "high"))
    if not np.isfinite(value):
        return Estimate(None, note="there are too few answers to hold some out")
    return Estimate(value, low, high, "on held-out answers")


def _calibration(model: AutoSimilarity, c: Comparisons, features: Any, seed: int, of: Of) -> tuple[pd.DataFrame, float]:
    """Probabilities of a fifth of the answers by a model of the others, with the settings that were chosen."""
    train, test = c.split(0.2, by="answer", random_state=seed)
    fitted = model.refit_chosen(train, features=features)
    table = answer_calibration(fitted, test) if of == "answers" else calibration(fitted, test, n_bins=5)
    return table, off_by(table)


def _neighbours(similarity: Similarity) -> pd.DataFrame:
    """A row per item: the item, then those most like it, nearest first."""
    count = min(_NEIGHBOURS, similarity.n_items - 1)
    names = range(similarity.n_items) if similarity.names is None else similarity.names
    rows = [[name, *_most_like(similarity, k, count)] for k, name in enumerate(names)]
    return pd.DataFrame(rows, columns=["item", *(f"nearest {k + 1}" for k in range(count))])


def _most_like(similarity: Similarity, item: int, count: int) -> list[Any]:
    """The items most like one; by products of non-negative dimensions those alone that have something in common."""
    label = similarity.label(item) if similarity.names is not None else item
    nearest = similarity.neighbors(label, count)
    if not isinstance(similarity.form, SignedProduct):
        return nearest
    product = -similarity.distances([label], nearest)[0]
    alike = [name for name, value in zip(nearest, product, strict=True) if value >= _ALIKE]
    found = alike or [_NONE]
    return [*found, *[""] * (count - len(found))]


def _surprises(similarity: Similarity, c: Comparisons) -> pd.DataFrame:
    """The comparisons that the model finds least likely, one of each answer, least likely first."""
    chance = likelihoods(similarity, c)
    order = np.argsort(chance, kind="stable")
    _, first = np.unique(c.answer[order], return_index=True)
    rows = order[np.sort(first)][:_SURPRISES]
    label = np.array(range(c.n_items) if c.names is None else c.names, object)
    raters = c.answers.rater.values[c.answer[rows]]
    table = {
        "near": [f"{label[i]} and {label[j]}" for i, j in c.near[rows].tolist()],
        "far": [f"{label[i]} and {label[j]}" for i, j in c.far[rows].tolist()],
        "probability": chance[rows],
    }
    return pd.DataFrame({**table, "rater": raters} if c.answers.rater.recorded else table)
