"""Whatever asks a fitted model refuses, by name, what is none."""

import pytest
from sklearn.exceptions import NotFittedError

import similitude as sm

ANSWERS = sm.Comparisons.from_triplets([(0, 1, 2), (1, 2, 0)])
USES = {
    "uncertainty": lambda model: sm.uncertainty(model, ANSWERS),
    "next_questions": lambda model: sm.next_questions(model, 2),
    "refit": lambda model: sm.refit(model, ANSWERS),
    "compare": lambda model: sm.compare(model, model),
    "plot": sm.plot.embedding,
}


@pytest.mark.parametrize("use", USES)
def test_a_model_that_has_learned_nothing_is_refused_by_its_name(use):
    with pytest.raises(NotFittedError, match="STE instance is not fitted yet"):
        USES[use](sm.STE(2))


@pytest.mark.parametrize("use", ["uncertainty", "next_questions", "refit"])
def test_comparisons_where_a_model_is_expected_are_refused(use):
    with pytest.raises(TypeError, match="expected a fitted model, found Comparisons; learn one"):
        USES[use](ANSWERS)
