"""An accuracy above the noise ceiling is never reported without saying why it can be."""

from __future__ import annotations

from similitude.display.estimate import Estimate


def above_ceiling(accuracy: float, ceiling: Estimate, knows_raters: bool = False) -> str:
    """Return what to add to the report of an accuracy: nothing, or why it can be above the noise ceiling.

    `knows_raters` says that the accuracy is that of a model whose predictions depend on who answers.
    """
    if ceiling.value is None or accuracy <= ceiling.value:
        return ""
    text = f"; above the noise ceiling of {ceiling.value:.1%}, which can be: "
    if knows_raters:
        return text + "the ceiling is that of models that do not know who answers, and this one does"
    if ceiling.high is not None and accuracy <= ceiling.high:
        return text + f"the ceiling itself is known only to lie below {ceiling.high:.1%}"
    return text + (
        "the ceiling is that of models that do not know who answers, on the questions asked again; this model knows "
        "its raters, or those questions are harder than the others"
    )


CLEANED = (
    "the answers were cleaned, which takes away the hard ones, so that this is no accuracy on held-out answers: score "
    "the answers as they were given"
)


def sentence_above(accuracy: float, ceiling: Estimate) -> str:
    """Return the same as a sentence of its own; empty where the accuracy is not above the ceiling."""
    said = above_ceiling(accuracy, ceiling)
    return f"An accuracy of {accuracy:.1%} is{said.removeprefix(';')}." if said else ""
