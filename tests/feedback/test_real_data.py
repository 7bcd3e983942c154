"""Real judgments, read through `read_comparisons`, with the counts that their sources state."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from similitude import read_comparisons
from tests.feedback.strategies import assert_same

pytestmark = pytest.mark.slow  # large files


@pytest.mark.parametrize(
    ("path", "options", "n_comparisons", "n_answers", "n_items", "n_raters"),
    [
        ("food100/screens.csv", {}, 250_320, 15_320, 100, 243),
        ("food100/triplets_all.csv.gz", {}, 250_320, 15_320, 100, 243),
        ("food100/triplets_unique.csv.gz", {}, 190_376, 190_376, 100, 0),
        ("zappos85/triplets.csv.gz", {}, 283_770, 283_770, 85, 0),
        ("music_aset400/triplets.csv", {"drop_degenerate": True}, 9_107 - 17, 9_107 - 17, 400, 0),
        ("car60/most_central.csv", {}, 14_194, 7_097, 60, 0),
        ("strangefruit30/triplets.csv.gz", {}, 20_086, 20_086, 30, 416),
        ("things1854/odd_one_out.csv.gz", {}, 2 * 127_026, 127_026, 1_854, 0),
        ("mlds_quadruples/AutumnLab.csv", {}, 210, 210, 10, 0),
        ("mlds_quadruples/kk1.csv", {}, 330, 330, 11, 0),
        ("mlds_quadruples/kk2.csv", {}, 330, 330, 11, 0),
        ("mlds_quadruples/kk3.csv", {}, 330, 330, 11, 0),
        ("mlds_quadruples/kktriad.csv", {}, 165, 165, 11, 0),
        ("mlds_quadruples/Transparency.csv", {}, 2_520, 2_520, 10, 6),
        ("rocks/rocks30_pair_ratings.csv.gz", {"larger": "similar", "max_per_rater": 100}, 8_200, 82, 30, 82),
        ("rocks/rocks360_pair_ratings.csv.gz", {"larger": "similar", "max_per_rater": 100}, 27_400, 274, 360, 274),
    ],
)
def test_counts(data, path, options, n_comparisons, n_answers, n_items, n_raters):
    c = read_comparisons(data / path, random_state=0, **options)
    assert (len(c), c.n_answers, c.n_items) == (n_comparisons, n_answers, n_items)
    assert len(c.answers.rater.labels) == n_raters


def test_screens_give_the_triplets_of_their_authors(data):
    screens = read_comparisons(data / "food100" / "screens.csv")
    unique = read_comparisons(data / "food100" / "triplets_unique.csv.gz")
    found = np.unique(screens.triplets, axis=0)
    np.testing.assert_array_equal(found, np.unique(unique.triplets, axis=0))
    every = read_comparisons(data / "food100" / "screens.csv", keep_catch=True)
    assert every.n_answers == 19_150


def test_central_items_give_the_triplets_of_their_authors(data):
    central = read_comparisons(data / "car60" / "most_central.csv")
    implied = read_comparisons(data / "car60" / "triplets_implied.csv")
    np.testing.assert_array_equal(np.unique(central.triplets, axis=0), np.unique(implied.triplets, axis=0))


def test_samplers_are_strategies(data):
    c = read_comparisons(data / "strangefruit30" / "triplets.csv.gz")
    count = pd.Series(c.answers.strategy.values).value_counts()
    assert count.to_dict() == {
        "RandomSampling": 4_092,
        "UncertaintySampling": 4_019,
        "STE": 3_982,
        "CrowdKernel": 3_979,
        "Test": 4_014,
    }
    assert c.answers.time is not None


def test_differences_agree_with_the_physical_scale(data):
    """Most answers of the scaling data say that the pair farther apart on the scale differs more."""
    for name in ("kk1", "kktriad"):
        c = read_comparisons(data / "mlds_quadruples" / f"{name}.csv")
        scale = np.array([int(label) for label in c.names])
        near, far = (np.abs(np.diff(scale[pairs], axis=1)).ravel() for pairs in (c.near, c.far))
        assert (near < far).sum() > 2 * (near > far).sum()


@pytest.mark.parametrize(("palette", "n_items"), [("color", 10), ("shapecolor", 16)])
def test_one_palette_in_four_forms(data, palette, n_items):
    folder = data / "perceptual_kernels"

    def table(name):
        frame = pd.read_csv(folder / f"{name}.csv.gz")
        return frame[frame.palette == palette]

    triples = n_items * (n_items - 1) * (n_items - 2) // 6
    matched, odd = read_comparisons(table("triplet_matching")), read_comparisons(table("odd_one_out"))
    assert matched.n_answers == odd.n_answers == 20 * triples
    ratings = table("pair_ratings")
    rated = read_comparisons(ratings[ratings.task == "l5"], larger="different", missing=0)
    placed = read_comparisons(table("spatial_arrangement"), max_per_rater=50, random_state=0)
    for c in (matched, odd, rated, placed):
        assert c.n_items == n_items
        assert len(c.answers.rater.labels) == 20
    assert rated.n_answers == placed.n_answers == 20
    assert len(placed) == 20 * 50


def test_real_answers_read_back_equal(data, tmp_path):
    from similitude import write_comparisons

    c = read_comparisons(data / "car60" / "most_central.csv")
    for suffix in ("csv.gz", "parquet", "jsonl"):
        write_comparisons(c, tmp_path / f"cars.{suffix}")
        assert_same(read_comparisons(tmp_path / f"cars.{suffix}"), c)
