"""Comparisons in a folder: what is written reads back, in any shards; bad folders are refused with a reason."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import similitude as sm
from similitude.feedback.files.dataset import read_ahead
from similitude.feedback.shards import FAN, drawn_from, fold, folded_groups

pytest.importorskip("pyarrow", reason="folders of comparisons need pyarrow")


@pytest.fixture
def comparisons():
    return sm.simulate(np.random.default_rng(0).normal(size=(20, 2)), 1000, sharpness=2.0, random_state=1)


def write_all(folder, *chunks):
    with sm.ComparisonWriter(folder) as writer:
        for chunk in chunks:
            writer.write(chunk)


def whole(dataset):
    blocks = list(dataset.blocks())
    return [np.concatenate([getattr(block, name) for block in blocks]) for name in ("near", "far", "weight")]


@pytest.mark.parametrize("group_rows", [1, 37, 5000])
def test_what_is_written_reads_back_in_order(tmp_path, comparisons, group_rows):
    chunks = np.array_split(comparisons.triplets, 7)
    with sm.ComparisonWriter(tmp_path / "a", n_items=25, group_rows=group_rows) as writer:
        for chunk in chunks:
            writer.write(chunk)
    dataset = sm.ComparisonDataset(tmp_path / "a", shard_rows=100)
    near, far, weight = whole(dataset)
    assert np.array_equal(near, comparisons.near)
    assert np.array_equal(far, comparisons.far)
    assert (weight == 1).all()
    assert (len(dataset), dataset.n_items, dataset.names) == (1000, 25, None)
    assert near.dtype == np.int32


@pytest.mark.parametrize("ahead", [1, 3, 20])
def test_reading_ahead_keeps_the_order_and_no_more_than_was_asked(ahead):
    begun = []
    results = read_ahead(lambda k: (begun.append(k), k * k)[1], range(9), ahead)
    assert begun == []
    assert next(results) == 0
    assert len(begun) <= ahead + 1
    assert list(results) == [k * k for k in range(1, 9)]


def test_weights_heads_and_none_in_one_folder(tmp_path):
    with sm.ComparisonWriter(tmp_path / "a", group_rows=2) as writer:
        writer.write([(0, 1, 2), (2, 1, 0), (1, 0, 3)])
        writer.write([(0, 1, 2, 3)])
        writer.write([(0, 1, 2, 3), (4, 1, 0, 1)], weight=[0.5, 2.0])
        writer.write(np.empty((0, 3), int))
    near, far, weight = whole(sm.ComparisonDataset(tmp_path / "a"))
    assert near.tolist() == [[0, 1], [2, 1], [1, 0], [0, 1], [0, 1], [1, 4]]
    assert far.tolist() == [[0, 2], [2, 0], [1, 3], [2, 3], [2, 3], [1, 0]]
    assert weight.tolist() == [1, 1, 1, 1, 0.5, 2]


def test_names_keep_their_order_and_grow(tmp_path):
    first = sm.Comparisons.from_triplets([("z", "a", "m")], names=["z", "a", "m", "unused"])
    with sm.ComparisonWriter(tmp_path / "a") as writer:
        writer.write(first)
        writer.write([("b", "a", "z")])
    dataset = sm.ComparisonDataset(tmp_path / "a")
    assert dataset.names == ("z", "a", "m", "unused", "b")
    assert whole(dataset)[0].tolist() == [[0, 1], [4, 1]]
    assert dataset.label(3) == "unused"


def test_a_folder_is_written_by_its_name(tmp_path, comparisons):
    sm.write_comparisons(comparisons, tmp_path / "folder")
    assert len(sm.ComparisonDataset(tmp_path / "folder")) == len(comparisons)
    with pytest.raises(ValueError, match=r"is a folder; open it with ComparisonDataset"):
        sm.read_comparisons(tmp_path / "folder")
    with pytest.raises(FileExistsError, match="is there already"):
        sm.write_comparisons(comparisons, tmp_path / "folder")


def test_a_failure_leaves_nothing_behind(tmp_path):
    with pytest.raises(ValueError, match="compares an item with itself"):
        write_all(tmp_path / "a", [(0, 1, 2)], [(0, 0, 2)])
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="expected at least one to write"):
        write_all(tmp_path / "b")
    assert list(tmp_path.iterdir()) == []


def test_names_and_positions_are_not_mixed(tmp_path):
    with pytest.raises(ValueError, match="some by position"):
        write_all(tmp_path / "a", [("a", "b", "c")], [(0, 1, 2)])


def test_folders_of_others(tmp_path):
    table = pd.DataFrame({"i": [0, 3], "j": [1, 1], "k": [2, 0], "weight": [1.0, 3.0]})
    (tmp_path / "a").mkdir()
    table.to_parquet(tmp_path / "a" / "one.parquet")
    dataset = sm.ComparisonDataset(tmp_path / "a")
    assert dataset.n_items == 4
    assert whole(dataset)[2].tolist() == [1, 3]
    assert sm.ComparisonDataset(tmp_path / "a", n_items=9).n_items == 9
    near = whole(sm.ComparisonDataset(tmp_path / "a"))[0]
    assert near.tolist() == [[0, 1], [3, 1]]
    with pytest.raises(ValueError, match="n_items: 3 was given, but the folder is about 4 items"):
        sm.ComparisonDataset(tmp_path / "a", n_items=3)
    with pytest.raises(ValueError, match="numbered in 32 bits"):
        sm.ComparisonDataset(tmp_path / "a", n_items=2**31)
    with pytest.raises(ValueError, match="shard_rows: expected a positive number"):
        sm.ComparisonDataset(tmp_path / "a", shard_rows=0)


def test_a_relative_path_is_found_from_elsewhere(tmp_path, monkeypatch, comparisons):
    monkeypatch.chdir(tmp_path)
    sm.write_comparisons(comparisons, "a")
    dataset = sm.ComparisonDataset("a")
    (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path / "b")
    assert len(whole(dataset)[0]) == len(comparisons)


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({"x": [1]}, ValueError, "expected columns near_a, near_b"),
        ({"i": ["cat"], "j": ["dog"], "k": ["car"]}, TypeError, "write items by name with ComparisonWriter"),
    ],
)
def test_folders_that_cannot_be_read(tmp_path, columns, error, message):
    pd.DataFrame(columns).to_parquet(tmp_path / "one.parquet")
    with pytest.raises(error, match=message):
        sm.ComparisonDataset(tmp_path)


def test_damage_is_told(tmp_path, comparisons):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        sm.ComparisonDataset(tmp_path / "none")
    with pytest.raises(ValueError, match="holds no comparisons"):
        sm.ComparisonDataset(tmp_path)
    sm.write_comparisons(comparisons, tmp_path / "a")
    about = tmp_path / "a" / "about.json"
    text = about.read_text(encoding="utf-8")
    about.write_text(json.dumps(json.loads(text) | {"format": 99}), encoding="utf-8")
    with pytest.raises(ValueError, match="has format 99"):
        sm.ComparisonDataset(tmp_path / "a")
    about.write_text(json.dumps(json.loads(text) | {"comparisons": 5}), encoding="utf-8")
    with pytest.raises(ValueError, match="files are missing"):
        sm.ComparisonDataset(tmp_path / "a")
    about.write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match="cut off"):
        sm.ComparisonDataset(tmp_path / "a")
    about.write_text(text, encoding="utf-8")
    (tmp_path / "a" / "part-00000.parquet").write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(ValueError, match="cut off or damaged"):
        sm.ComparisonDataset(tmp_path / "a")


def test_a_sample_is_drawn_without_replacement(tmp_path):
    rows = np.stack([np.arange(300), np.arange(300) + 300, np.arange(300) + 600], 1)
    with sm.ComparisonWriter(tmp_path / "a", group_rows=7) as writer:
        writer.write(rows)
    dataset = sm.ComparisonDataset(tmp_path / "a", shard_rows=20)
    assert sorted(dataset.sample(1000).near[:, 0].tolist()) == list(range(300))
    drawn = np.concatenate([dataset.sample(30, seed).near[:, 0] for seed in range(40)])
    assert all(len(set(part.tolist())) == 30 for part in np.split(drawn, 40))
    early = (drawn < 150).mean()
    assert abs(early - 0.5) < 4 * 0.5 / np.sqrt(len(drawn))
    assert np.array_equal(dataset.sample(30, 1).near, dataset.sample(30, 1).near)


def test_a_sample_of_billions_takes_from_every_shard_its_share():
    sizes = [9 * 10**8, 10**8, 10**9]
    drawn = drawn_from(sizes, 20_000, np.random.default_rng(0))
    assert drawn.sum() == 20_000
    share = np.array(sizes) / sum(sizes)
    assert (np.abs(drawn - 20_000 * share) < 4 * np.sqrt(20_000 * share * (1 - share))).all()


def test_every_mixed_pass_gives_every_row_once_in_another_order(tmp_path, comparisons):
    with sm.ComparisonWriter(tmp_path / "a", group_rows=30) as writer:
        writer.write(comparisons)
    dataset = pickle.loads(pickle.dumps(sm.ComparisonDataset(tmp_path / "a", shard_rows=100)))
    rng = np.random.default_rng(0)
    one, two = (np.concatenate([block.far for block in dataset.mixed(rng)]) for _ in range(2))
    assert not np.array_equal(one, two)
    assert np.array_equal(np.sort(one, 0), np.sort(comparisons.far, 0))
    assert np.array_equal(np.sort(two, 0), np.sort(comparisons.far, 0))


@given(st.integers(1, 3 * FAN**2))
def test_a_fold_has_the_shape_that_its_groups_say(count):
    def nested(level):
        while len(level) > 1:
            level = [_chain(group) for group in folded_groups(level)]
        return level[0]

    def _chain(group):
        total = group[0]
        for result in group[1:]:
            total = (total, result)
        return total

    assert fold(iter(range(count)), lambda a, b: (a, b)) == nested(list(range(count)))


def test_methods_that_need_everything_in_memory_say_so(tmp_path, comparisons):
    sm.write_comparisons(comparisons, tmp_path / "a")
    dataset = sm.ComparisonDataset(tmp_path / "a")
    with pytest.raises(TypeError, match=r"found ComparisonDataset; .*sample\("):
        sm.RCKL().fit(dataset)
    with pytest.raises(TypeError, match="expected what fits in memory"):
        sm.write_comparisons(dataset, tmp_path / "b.csv")


@pytest.mark.slow
def test_what_was_cleaned_says_so_in_a_folder(tmp_path):
    c = sm.Comparisons.from_triplets([(0, 1, 2), (0, 1, 2), (0, 2, 1), (1, 0, 2)])
    sm.write_comparisons(sm.clean(c), tmp_path / "cleaned")
    sm.write_comparisons(c, tmp_path / "given")
    dataset = sm.ComparisonDataset(tmp_path / "cleaned")
    assert dataset.cleaned
    assert dataset.sample(10).cleaned
    assert not sm.ComparisonDataset(tmp_path / "given").cleaned
    assert sm.check(dataset).ceiling.value is None
    model = sm.STE(1, random_state=0).fit(c).similarity_
    with pytest.warns(sm.CleanedWarning):
        model.score(dataset)
