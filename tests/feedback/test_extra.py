"""Other columns of answers: kept through reading, slicing, joining and writing; attributes of raters among them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from similitude import Comparisons, read_comparisons, write_comparisons


def _made():
    return Comparisons.from_odd_one_out(
        [("a", "b", "c"), ("a", "c", "b"), ("b", "c", "a")],
        rater=["ann", "ben", "ann"],
        extra={"Group": ["young", "old", "young"], "age": [20, 71, np.nan], "block": [1, 1, 2]},
    )


def test_columns_that_are_constant_within_raters_are_attributes():
    answers = _made().answers
    assert list(answers.raters.columns) == ["Group", "age"]
    assert answers.raters.loc["ann"].tolist() == ["young", 20.0]
    assert answers.raters.loc["ben"].tolist() == ["old", 71.0]
    assert answers.extra["block"].tolist() == [1, 1, 2]


def test_extra_columns_are_sliced_and_joined():
    c = _made()
    assert c.select([2]).answers.extra["Group"].tolist() == ["young"]
    plain = Comparisons.from_odd_one_out([("a", "b", "c")], rater="cy")
    joined = Comparisons.concatenate([c, plain]).answers
    assert joined.extra["Group"].tolist() == ["young", "old", "young", None]
    np.testing.assert_array_equal(joined.extra["age"], [20, 71, np.nan, np.nan])
    assert joined.raters.loc["cy", "Group"] is None


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_extra_columns_are_written_and_read(tmp_path, name):
    write_comparisons(_made(), tmp_path / name)
    extra = read_comparisons(tmp_path / name).answers.extra
    assert extra["Group"].tolist() == ["young", "old", "young"]
    np.testing.assert_array_equal(extra["age"], [20, 71, np.nan])
    write_comparisons(_made().rows([0, 1, 4]), tmp_path / name)  # as comparisons, since answers say more than these
    assert read_comparisons(tmp_path / name).answers.extra["block"].tolist() == [1, 1, 2]


def test_extra_columns_of_other_layouts():
    table = pd.DataFrame(
        {"a": ["x", "y"], "b": ["y", "z"], "odd": ["z", "x"], "subject": ["s1", "s2"], "Hand": ["l", "r"]}
    )
    assert read_comparisons(table).answers.raters["Hand"].tolist() == ["l", "r"]
    sheet = pd.DataFrame(
        {
            "i": [0, 0, 0],
            "j": [1, 2, 1],
            "rating": [1, 2, 3],
            "rater": ["s", "s", "t"],
            "Hand": list("llr"),
            "n": [1, 2, 3],
        }
    )
    extra = read_comparisons(sheet, larger="similar").answers.extra
    assert extra["Hand"].tolist() == ["l", "r"]
    np.testing.assert_array_equal(extra["n"], [np.nan, 3])  # differs within the sheet of s


def test_a_code_with_leading_zeros_stays_text():
    c = Comparisons.from_triplets([(0, 1, 2)] * 2, extra={"code": ["007", "12"], "n": ["7", "12.5"]})
    assert c.answers.extra["code"].tolist() == ["007", "12"]
    assert c.answers.extra["n"].tolist() == [7, 12.5]


def test_extra_needs_a_value_per_answer():
    with pytest.raises(ValueError, match=r"extra: expected one 'age' per answer \(2\), found shape \(3,\)"):
        Comparisons.from_triplets([(0, 1, 2)] * 2, extra={"age": [1, 2, 3]})
