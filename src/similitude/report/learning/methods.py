"""The paragraph for a paper: what was asked, how the model was chosen, settings and versions; and what to cite."""

from __future__ import annotations

import importlib.metadata
import platform

import similitude
from similitude.evaluate.ceiling import above_ceiling
from similitude.feedback.forms import FORMS
from similitude.report.learning.findings import Findings

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
_DIMENSION = (
    "Künstle, D.-E., von Luxburg, U., & Wichmann, F. A. (2022). Estimating the perceived dimension of psychophysical "
    "stimuli using triplet accuracy and hypothesis testing. Journal of Vision, 22(13)."
)


def paragraph(found: Findings) -> str:
    """Sentences to paste into the methods section."""
    c, model = found.comparisons, found.model
    who = f" by {len(c.answers.rater.labels):,} raters" if c.answers.rater.recorded else ""
    forms = [FORMS[name].words if name in FORMS else name for name in c.answers.form.labels]
    text = [f"{c.n_answers:,} answers{who} to {_listed(forms)} about {c.n_items:,} items were analysed."]
    text.append(f"They give {len(c):,} comparisons of pairs of items.")
    text += [f"Left out: {step.why}." for step in c.removed if not step.cleans]
    if c.cleaned:
        steps = "; ".join(step.why for step in c.removed if step.cleans)
        text.append(f"The answers were cleaned before ({steps}), so no accuracy on held-out answers is reported.")
    chosen = model.chosen_
    methods = _listed(list(dict.fromkeys(chosen.candidate)))
    if len(chosen) > 1:
        text.append(
            f"Similarity was modelled by the average of {len(chosen)} ordinal embeddings ({methods}) in "
            f"{chosen.dimension.min()} to {chosen.dimension.max()} dimensions;"
        )
    else:
        row = chosen.iloc[0]
        text.append(
            f"Similarity was modelled by {methods} in {row.dimension} dimensions with a penalty of {row.penalty:.3g};"
        )
    text.append(
        f"method, dimension and penalty were chosen among {len(model.tried_)} settings on held-out answers "
        f"({model.n_folds} folds that keep answers whole)."
    )
    text += _accuracy(found)
    if found.sureness is not None:
        text.append(f"Uncertainty is from {len(found.sureness.draws)} bootstrap samples of the answers.")
    return " ".join([*text, f"Analyses used similitude {similitude.__version__} ({versions()})."])


def _accuracy(found: Findings) -> list[str]:
    """How well the model predicts, beside what the noise of the answers allows."""
    ceiling = found.consistency.ceiling
    said = []
    if ceiling.value is not None:
        interval = "" if ceiling.low is None else f" (95% interval {ceiling.low:.1%} to {ceiling.high:.1%})"
        said.append(
            f"From questions that were answered more than once, the noise ceiling is {ceiling.value:.1%}{interval}."
        )
    a = found.sureness.accuracy if found.sureness is not None else None
    if found.sureness is not None and a is not None and a.value is not None and not found.comparisons.cleaned:
        said.append(
            f"The model ordered {a.value:.1%} of held-out comparisons as people did ({found.sureness.level:.0%} "
            f"interval {a.low:.1%} to {a.high:.1%}){above_ceiling(a.value, ceiling)}."
        )
    return said


def _listed(words: list[str]) -> str:
    """Words in a row: a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def versions() -> str:
    """Python and the packages that compute."""
    found = [f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES]
    return ", ".join([f"Python {platform.python_version()}", *found])


def citations(found: Findings) -> list[str]:
    """What to cite for the methods that were used."""
    used = [_CITATIONS[name] for name in dict.fromkeys(found.model.chosen_.candidate) if name in _CITATIONS]
    return list(dict.fromkeys([*used, *([_DIMENSION] if found.dimensions is not None else [])]))
