"""The paragraph for a paper: what was asked, how the model was chosen, settings and versions; and what to cite."""

from __future__ import annotations

import importlib.metadata
import platform

import numpy as np

import similitude
from similitude.analysis.choice import CUT
from similitude.analysis.learn import Findings
from similitude.display.words import counted, written_p
from similitude.evaluate.ceiling import above_ceiling
from similitude.evaluate.group_difference import GroupDifference
from similitude.feedback.forms import FORMS

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
_CITATIONS = {
    "STE": "van der Maaten, L., & Weinberger, K. (2012). Stochastic triplet embedding. IEEE MLSP.",
    "TSTE": "van der Maaten, L., & Weinberger, K. (2012). Stochastic triplet embedding. IEEE MLSP.",
    "CKL": "Tamuz, O., Liu, C., Belongie, S., Shamir, O., & Kalai, A. T. (2011). Adaptively learning the crowd kernel. "
    "ICML.",
    "SOE": "Terada, Y., & von Luxburg, U. (2014). Local ordinal embedding. ICML.",
    "GNMDS": "Agarwal, S., Wills, J., Cayton, L., Lanckriet, G., Kriegman, D., & Belongie, S. (2007). Generalized "
    "non-metric multidimensional scaling. AISTATS.",
}
_SPELT = {
    "STE": "stochastic triplet embedding (STE)",
    "TSTE": "stochastic triplet embedding with heavy tails (t-STE)",
    "CKL": "the crowd kernel (CKL)",
    "SOE": "soft ordinal embedding (SOE)",
    "GNMDS": "generalized non-metric multidimensional scaling (GNMDS)",
    "FeatureEmbedding": "an embedding predicted from features",
    "ChoiceEmbedding distance": "a map whose squared distances give each answer its probability among all that could "
    "have been given (softmax choice)",
    "ChoiceEmbedding dot": "vectors whose products give each answer its probability among all that could have been "
    "given (softmax choice)",
}
_CHOICES = (
    "Luce, R. D. (1959). Individual choice behavior: A theoretical analysis. Wiley.",
    "Hebart, M. N., Zheng, C. Y., Pereira, F., & Baker, C. I. (2020). Revealing the multidimensional mental "
    "representations of natural objects underlying human similarity judgements. Nature Human Behaviour, 4, 1173-1185.",
    "Muttenthaler, L., Zheng, C. Y., McClure, P., Vandermeulen, R. A., Hebart, M. N., & Pereira, F. (2022). VICE: "
    "Variational interpretable concept embeddings. NeurIPS.",
)
_PLACKETT_LUCE = "Plackett, R. L. (1975). The analysis of permutations. Applied Statistics, 24, 193-202."
_YEAR = 2026
_DIMENSION = (
    "Künstle, D.-E., von Luxburg, U., & Wichmann, F. A. (2022). Estimating the perceived dimension of psychophysical "
    "stimuli using triplet accuracy and hypothesis testing. Journal of Vision, 22(13)."
)


def paragraph(found: Findings) -> str:
    """Sentences to paste into the methods section."""
    c = found.comparisons
    who = f" by {len(c.answers.rater.labels):,} raters" if c.answers.rater.recorded else ""
    forms = [FORMS[name].words if name in FORMS else name for name in c.answers.form.labels]
    silent = c.n_answers - len(np.unique(c.answer))
    untold = f', of which {silent:,} compared nothing ("can\'t tell", or left blank)' if silent else ""
    text = [f"{c.n_answers:,} answers{who} to {_listed(forms)} about {c.n_items:,} items were analysed{untold}."]
    text.append(f"They give {len(c):,} comparisons of pairs of items.")
    text += [f"Left out: {step.why}." for step in c.removed if not step.cleans]
    if c.cleaned:
        steps = "; ".join(step.why for step in c.removed if step.cleans)
        text.append(f"The answers were cleaned before ({steps}), so no accuracy on held-out answers is reported.")
    text += [described(found), *_accuracy(found), *map(_group, found.groups), *map(str, found.parts)]
    if found.sureness is not None:
        text.append(f"Uncertainty is from {len(found.sureness.draws)} bootstrap samples of the answers.")
    return " ".join([*text, f"Analyses used similitude {similitude.__version__} ({versions()})."])


def described(found: Findings) -> str:
    """What was fitted, and how it was chosen."""
    return f"{_model(found)} {_choice(found)}".strip()


def _model(found: Findings) -> str:
    """What was fitted."""
    chosen = found.model.chosen_
    methods = _listed([_SPELT.get(name, name) for name in dict.fromkeys(chosen.candidate)])
    if len(chosen) > 1:
        return (
            f"Similarity was modelled by the average of {len(chosen)} ordinal embeddings ({methods}) in "
            f"{chosen.dimension.min()} to {chosen.dimension.max()} dimensions."
        )
    where = "" if found.dimension is None else f" in {counted(found.dimension, 'dimension')}"
    where += ", a number that is learned with them," if found.model.members_[0].learns_rank else ""
    penalty = chosen.penalty.iloc[0]
    return f"Similarity was modelled by {methods}{where}" + (
        "." if np.isnan(penalty) else f" with a penalty of {penalty:.3g}."
    )


def _choice(found: Findings) -> str:
    """How it was chosen: what was open, among how many settings, and on which folds; and what was fixed."""
    fixed, tried = found.wanted.fixed(), found.chosen.tried
    said = f"{_listed(fixed).capitalize()} {'was' if len(fixed) == 1 else 'were'} fixed beforehand. " if fixed else ""
    open_ = [word for word in ("method", "penalty") if word not in fixed]
    if found.dimensions is None and "dimension" not in fixed:
        open_.insert(1, "dimension")
    if not open_ or not len(tried):
        return said.strip()
    folds = int(tried.folds.max())
    said += (
        f"{_listed(open_).capitalize()} {'was' if len(open_) == 1 else 'were'} chosen among {len(tried)} settings on "
    )
    said += f"held-out answers ({counted(folds, 'fold')}; an answer is held out as a whole)."
    if CUT in found.left_out:
        methods = _listed(list(dict.fromkeys(tried.candidate)))
        said += f" A time limit ended this search; by then it had compared only {methods}."
    if found.dimensions is not None:
        among = _listed([str(d) for d in found.dimensions.table.dimensions])
        said += (
            " The number of dimensions is the smallest whose held-out accuracy was within one standard error of that "
            f"of the best ({found.dimensions.best}), among {among}."
        )
    return said


def _group(one: GroupDifference) -> str:
    """The test of one column, as a paper says it."""
    verdict = "differed" if one.differ else "did not differ detectably"
    who = "The same raters under" if one.within else "Raters grouped by"
    return (
        f"{who} {one.by} ({', '.join(one.groups)}) {verdict} (p {written_p(one.p_value)}, "
        f"{one.against}); a map of the own group predicted {100 * abs(one.effect):.1f} points "
        f"{'more' if one.effect >= 0 else 'fewer'} of the answers than one of others ({one.level:.0%} interval "
        f"{100 * one.low:+.1f} to {100 * one.high:+.1f})."
    )


def _accuracy(found: Findings) -> list[str]:
    """How well the model predicts, beside what the noise of the answers allows."""
    ceiling, a = found.ceiling, found.accuracy
    said = []
    if ceiling.value is not None:
        interval = "" if ceiling.low is None else f" (95% interval {ceiling.low:.1%} to {ceiling.high:.1%})"
        said.append(
            f"From questions that were answered more than once, the noise ceiling of {found.of} is {ceiling.value:.1%}"
            f"{interval}."
        )
    if a.value is not None and not found.comparisons.cleaned:
        said.append(
            f"The model predicted {a.value:.1%} of held-out {_scored(found)} (95% interval {a.low:.1%} to {a.high:.1%})"
            f"{above_ceiling(a.value, ceiling)}."
        )
    return said


def _scored(found: Findings) -> str:
    """What is predicted, or not: with how it is counted, where an answer is more than a comparison."""
    return found.of if found.of == "comparisons" else "answers, each as a whole"


def _listed(words: list[str]) -> str:
    """Words in a row: a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def versions() -> str:
    """Python and the packages that compute."""
    found = [f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES]
    return ", ".join([f"Python {platform.python_version()}", *found])


def citations(found: Findings) -> list[str]:
    """What to cite for the methods that were used."""
    names = list(dict.fromkeys(found.model.chosen_.candidate))
    used = [_CITATIONS[name] for name in names if name in _CITATIONS]
    if any(name.startswith("ChoiceEmbedding") for name in names):
        used += [*_CHOICES, *([_PLACKETT_LUCE] if "ranking" in found.comparisons.answers.form.labels else [])]
    own = f"The similitude developers ({_YEAR}). similitude: learn what people find similar (version {{}}) [software]."
    return list(dict.fromkeys([*used, *([_DIMENSION] if found.dimensions else []), own.format(similitude.__version__)]))
