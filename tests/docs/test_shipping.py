"""The table of what can be shipped says what the files hold."""

import pytest

from tests.contracts.registry import ESTIMATORS
from tests.contracts.test_saved import fitted
from tests.docs.pages import DOCS

ROWS = [
    [cell.strip().strip("`") for cell in line.strip("|\n").split("|")]
    for line in (DOCS / "how-to" / "ship.md")
    .read_text(encoding="utf-8")
    .partition("## Every estimator")[2]
    .splitlines()
    if line.startswith("| `")
]
# As large as they have members, kernels or dimensions, of which other data ask for other numbers.
DRAWN_SIZES = {"AutoSimilarity", "RCKLAK", "NonNegativeEmbedding"}


def test_every_estimator_is_in_the_table_without_a_gap():
    assert [row[0] for row in ROWS] == list(ESTIMATORS)
    assert {cell for row in ROWS for cell in row[1:4]} == {"yes"}


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_row_says_what_the_model_can_do(row):
    similarity = fitted(row[0])[0].similarity_
    assert (row[4] == "yes") == similarity.has_probability
    assert row[5].startswith("yes") == (similarity.feature_map is not None)
    if row[0] not in DRAWN_SIZES:  # versions differ in length; a dimension more or less is a third
        assert float(row[6]) == pytest.approx(len(similarity.to_bytes()) / 1000, abs=0.4)
