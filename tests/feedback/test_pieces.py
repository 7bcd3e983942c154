"""Sheets in pieces: pairs and items that were asked one by one are read as the sheets that they make up."""

import json

import numpy as np
import pandas as pd
import pytest

import similitude as sm


def frame(form, rows, **columns):
    shown, response, rater = zip(*rows, strict=True)
    made = {"form": form, "rater": rater, "shown": list(map(list, shown)), "response": list(map(list, response))}
    return pd.DataFrame({**made, **columns})


def pairs_of(c):
    return sorted((*sorted(near), *sorted(far)) for near, far in zip(c.near.tolist(), c.far.tolist(), strict=True))


RATED = [
    (("a", "b"), (5,), "ann"), (("c", "d"), (7,), "bob"), (("a", "c"), (2,), "ann"), (("a", "d"), (), "ann"),
    (("b", "c"), (1,), "bob"), (("b", "d"), (4,), "ann"),
]  # fmt: skip


def test_rated_pairs_are_ratings():
    c = sm.read_comparisons(frame("rated_pair", RATED), names=list("abcd"))
    said = [(pair, rating[0], who) for pair, rating, who in RATED if rating]
    pairs, rating, who = zip(*said, strict=True)
    expected = sm.Comparisons.from_ratings(pairs, rating, who, larger="similar", names=list("abcd"))
    assert pairs_of(c) == pairs_of(expected)
    assert set(c.answers.form.values) == {"similarity_rating"}
    assert c.n_answers == 2


def test_a_column_tells_the_sheets_of_a_rater_apart():
    """Ratings of 1 to 5 and of 1 to 9, say: each is compared with those of its own sheet alone."""
    rows = [(("a", "b"), (5,), "ann"), (("a", "c"), (1,), "ann"), (("b", "c"), (9,), "ann"), (("b", "d"), (2,), "ann")]
    together = sm.read_comparisons(frame("rated_pair", rows))
    apart = sm.read_comparisons(frame("rated_pair", rows, sheet=["few", "few", "many", "many"]))
    assert (together.n_answers, len(together)) == (1, 6)
    assert (apart.n_answers, len(apart)) == (2, 2)
    assert apart.answers.extra["sheet"].tolist() == ["few", "many"]


def test_same_and_different_are_links():
    rows = [(pair, (float(rating[0] > 3),) if rating else (), who) for pair, rating, who in RATED]
    c = sm.read_comparisons(frame("same_different", rows), names=list("abcd"))
    pairs, same, who = zip(*[(pair, bool(said[0]), who) for pair, said, who in rows if said], strict=True)
    expected = sm.Links.of(pairs, same, rater=who, names=list("abcd")).to_comparisons()
    assert pairs_of(c) == pairs_of(expected)


def test_labelled_items_are_a_labelling():
    rows = [(("a",), (0, 0.9), "ann"), (("b",), (0, 0.2), "ann"), (("c",), (1, 0.5), "ann"), (("d",), (), "ann")]
    c = sm.read_comparisons(frame("labelled_item", rows))
    whole = frame("labelling", [(("a", "b", "c"), (0, 0.9, 0, 0.2, 1, 0.5), "ann")])
    assert pairs_of(c) == pairs_of(sm.read_comparisons(whole))
    assert len(c) > 0


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_pieces_stand_beside_other_answers_in_any_file(tmp_path, suffix):
    rows = [(("a", "b", "c"), (1,), "ann"), (("a", "b"), (3,), "ann"), (("a", "c"), (5,), "ann")]
    table = frame(["triplet", "rated_pair", "rated_pair"], rows, time=[1.0, 2.0, 3.0], strategy=["x", "y", "y"])
    path = tmp_path / f"answers{suffix}"
    if suffix == ".csv":
        table.assign(shown=table.shown.map(json.dumps), response=table.response.map(json.dumps)).to_csv(
            path, index=False
        )
    elif suffix == ".jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_parquet(path)
    c = sm.read_comparisons(path)
    assert list(c.answers.form.values) == ["triplet", "similarity_rating"]
    assert list(c.answers.strategy.values) == ["x", "y"]
    assert c.answers.time[0] == 1.0
    assert np.isnan(c.answers.time[1])


def test_a_sheet_of_nothing_is_cant_tell():
    rows = [(("a", "b"), (), "ann"), (("a", "c"), (), "ann"), (("a", "b", "c"), (1,), "ann")]
    c = sm.read_comparisons(frame(["rated_pair", "rated_pair", "triplet"], rows))
    assert c.answers.cant_tell.tolist() == [True, False]
