"""The paragraph for a paper: what was asked, how the model was chosen, settings and versions; and what to cite."""

from __future__ import annotations

import importlib.metadata
import platform

import numpy as np

import similitude
from similitude.analysis.choice import USUAL
from similitude.analysis.learn import Findings
from similitude.display.words import counted, written_p
from similitude.evaluate.ceiling import above_ceiling
from similitude.evaluate.group_difference import GroupDifference
from similitude.feedback.forms import FORMS
from similitude.graph.verdicts import DIFFERENT, RANDOM, UNTOLD

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
_STOCHASTIC = (
    "van der Maaten, L., & Weinberger, K. (2012). Stochastic triplet embedding. 2012 IEEE International Workshop on "
    "Machine Learning for Signal Processing, 1-6. https://doi.org/10.1109/MLSP.2012.6349720"
)
_CITATIONS = {
    "STE": _STOCHASTIC,
    "TSTE": _STOCHASTIC,
    "CKL": "Tamuz, O., Liu, C., Belongie, S., Shamir, O., & Kalai, A. T. (2011). Adaptively learning the crowd kernel. "
    "Proceedings of the 28th International Conference on Machine Learning, 673-680.",
    "SOE": "Terada, Y., & von Luxburg, U. (2014). Local ordinal embedding. Proceedings of the 31st International "
    "Conference on Machine Learning, PMLR 32(2), 847-855.",
    "GNMDS": "Agarwal, S., Wills, J., Cayton, L., Lanckriet, G., Kriegman, D., & Belongie, S. (2007). Generalized "
    "non-metric multidimensional scaling. Proceedings of the 11th International Conference on Artificial Intelligence "
    "and Statistics, PMLR 2, 11-18.",
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
    "NonNegativeEmbedding": "non-negative dimensions whose products give each answer its probability among all that "
    "could have been given (softmax choice)",
}
_CHOICES = (
    "Luce, R. D. (1959). Individual choice behavior: A theoretical analysis. Wiley.",
    "Hebart, M. N., Zheng, C. Y., Pereira, F., & Baker, C. I. (2020). Revealing the multidimensional mental "
    "representations of natural objects underlying human similarity judgements. Nature Human Behaviour, 4, 1173-1185.",
    "Muttenthaler, L., Zheng, C. Y., McClure, P., Vandermeulen, R. A., Hebart, M. N., & Pereira, F. (2022). VICE: "
    "Variational interpretable concept embeddings. NeurIPS.",
)
_PLACKETT_LUCE = "Plackett, R. L. (1975). The analysis of permutations. Applied Statistics, 24, 193-202."
_SETTINGS = ("method", "dimension", "penalty")
_YEAR = 2026
_ADDRESS = "https://github.com/similitude/similitude"
_DIMENSION = (
    "Künstle, D.-E., von Luxburg, U., & Wichmann, F. A. (2022). Estimating the perceived dimension of psychophysical "
    "stimuli using triplet accuracy and hypothesis testing. Journal of Vision, 22(13), 5. "
    "https://doi.org/10.1167/jov.22.13.5"
)


def paragraph(found: Findings) -> str:
    """Sentences to paste into the methods section."""
    c = found.comparisons
    asked = f"{counted(c.n_answers, 'answer')} about {counted(c.n_items, 'item')}"
    people = counted(len(c.answers.rater.labels), "rater")
    forms = [FORMS[name].words if name in FORMS else name for name in c.answers.form.labels]
    silent = c.n_answers - len(np.unique(c.answer))
    untold = f', of which {silent:,} compared nothing ("can\'t tell", or left blank)' if silent else ""
    gave = f"{people} gave {asked}" if c.answers.rater.recorded else f"{asked} were analysed"
    text = [f"In all, {gave} (task: {_listed(forms)}){untold}."]
    text.append(f"They give {len(c):,} comparisons of pairs of items.")
    text += [f"Left out: {step.why}." for step in c.removed if not step.cleans]
    if c.cleaned:
        steps = "; ".join(step.why for step in c.removed if step.cleans)
        text.append(f"The answers were cleaned before ({steps}), so no accuracy on held-out answers is reported.")
    text += _flagged(found)
    text += [
        described(found),
        *_accuracy(found),
        *_validation(found),
        *map(_group, found.groups),
        *map(str, found.parts),
    ]
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
    what = _listed(open_).capitalize()
    if len(tried) == 1:
        said += f"{what} {'is' if len(open_) == 1 else 'are'} that of the only setting that was tried."
    else:
        said += (
            f"{what} {'was' if len(open_) == 1 else 'were'} chosen among {len(tried):,} settings on held-out answers "
        )
        said += f"({counted(int(tried.folds.max()), 'fold')}; an answer is held out as a whole)."
    if found.chosen.ended != "finished":
        end = "This search was interrupted" if found.chosen.ended == "interrupted" else "A time limit ended this search"
        said += f" {end} {_reached(found)}."
    if found.dimensions is not None:
        among = _listed([str(d) for d in found.dimensions.table.dimensions])
        said += (
            " The number of dimensions is the smallest with which this method's held-out accuracy was within one "
            f"standard error of that of its best ({found.dimensions.best}), among {among}; a test of each step "
            f"(Künstle et al., 2022) found no significant gain beyond {found.dimensions.tested}."
        )
    return said


def _reached(found: Findings) -> str:
    """How far a search came that did not come to its end."""
    tried = list(dict.fromkeys(found.chosen.tried.candidate))
    if found.wanted.method is None and not set(USUAL) <= set(tried):
        return f"when it had come to {_listed(tried)} only"
    return "before every setting had been tried on every fold"


def _flagged(found: Findings) -> list[str]:
    """Which raters stood out; all that are in the answers were kept."""
    raters = found.consistency.raters
    if not raters.judged.any():
        return []
    kinds = {
        RANDOM: "as answering at random",
        DIFFERENT: "as seeing things differently",
        UNTOLD: "as unlike the others",
    }
    named = [f"{counted(len(who), 'rater')} {text}" for kind, text in kinds.items() if (who := raters.who(kind))]
    said = f"{_listed(named)}; their answers were kept" if named else "no rater"
    return [f"A check of the answers flagged {said}."]


def _validation(found: Findings) -> list[str]:
    """What the accuracy and its interval are over, and how far the choice of settings makes it look better."""
    if found.accuracy.value is None or found.comparisons.cleaned:
        return []
    said = "Its interval is over answers, which are held out as a whole; raters may differ by more."
    if len(found.wanted.fixed()) == len(_SETTINGS):
        return [said]
    if found.sureness is None:
        return [f"{said} The folds are those that the settings were chosen on, so it is a little too high."]
    again = "the model was fitted anew without each, with the settings chosen before on all answers"
    return [f"{said} Its folds were drawn after the choice; {again}, so it may be a little too high."]


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
    """How well the model predicts, beside chance and what the noise of the answers allows."""
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
            f"The model predicted {a.value:.1%} of held-out {_scored(found)} (95% interval {a.low:.1%} to {a.high:.1%}"
            f"; chance is {found.chance:.1%}){above_ceiling(a.value, ceiling)}."
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
    if any(name.startswith(("ChoiceEmbedding", "NonNegativeEmbedding")) for name in names):
        used += [*_CHOICES, *([_PLACKETT_LUCE] if "ranking" in found.comparisons.answers.form.labels else [])]
    own = f"The similitude developers ({_YEAR}). similitude: learn what people find similar (version {{}}) [software]."
    own += f" {_ADDRESS}"
    if any(name.startswith("FeatureEmbedding") for name in names):
        own += " (FeatureEmbedding is described in its documentation, under Methods.)"
    return list(dict.fromkeys([*used, *([_DIMENSION] if found.dimensions else []), own.format(similitude.__version__)]))
