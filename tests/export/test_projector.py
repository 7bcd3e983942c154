"""A folder for TensorBoard's projector: as its reader splits it, it holds the model."""

import re

import numpy as np
import pytest

import similitude as sm
from similitude.engine.losses import as_loss
from tests.shell import run

NAMES = ("a cat", "two\tdogs\nor so", "größer", '"quoted"')


@pytest.fixture
def similarity():
    return sm.Similarity(np.random.default_rng(0).normal(size=(4, 3)), as_loss("ste"), NAMES)


def cells(file):
    """Rows as the projector reads them: lines, then tabs; it knows no quotes."""
    return [line.split("\t") for line in file.read_text(encoding="utf-8").rstrip("\n").split("\n")]


def test_positions_come_back_to_the_last_bit(similarity, tmp_path):
    sm.export.write_projector(similarity, tmp_path / "new" / "folder")
    rows = cells(tmp_path / "new" / "folder" / "vectors.tsv")
    assert np.array_equal(np.array(rows, float), similarity.embedding)


def test_names_alone_have_no_title_and_stay_one_line_each(similarity, tmp_path):
    sm.export.write_projector(similarity, tmp_path)
    assert cells(tmp_path / "metadata.tsv") == [["a cat"], ["two dogs or so"], ["größer"], ['"quoted"']]


def test_attributes_stand_beside_the_names_under_a_title(similarity, tmp_path):
    priced = similarity.with_attributes(price=[1.5, 2, 3, 4])
    sm.export.write_projector(priced, tmp_path, {"kind": list("abab")})
    rows = cells(tmp_path / "metadata.tsv")
    assert rows[:2] == [["item", "price", "kind"], ["a cat", "1.5", "a"]]
    assert {len(row) for row in rows} == {3}
    assert len(rows) == 5


def test_the_setup_names_the_files_and_the_shape(similarity, tmp_path):
    sm.export.write_projector(similarity, tmp_path)
    setup = (tmp_path / "projector_config.pbtxt").read_text(encoding="utf-8")
    for file in re.findall(r'_path: "(.+)"', setup):
        assert (tmp_path / file).is_file()
    assert re.findall(r"tensor_shape: (\d+)", setup) == ["4", "3"]


def test_a_column_of_another_length_is_refused_before_anything_is_written(similarity, tmp_path):
    with pytest.raises(ValueError, match="expected a value of 'price' for each of 4 items, found 2"):
        sm.export.write_projector(similarity, tmp_path / "new", {"price": [1, 2]})
    assert not (tmp_path / "new").exists()


def test_the_command_writes_the_folder(similarity, tmp_path):
    similarity.save(tmp_path / "model.sim")
    said = run("export", "model.sim", "projector", "--what", "projector", folder=tmp_path).stdout
    assert "tensorboard --logdir projector" in said
    assert len(cells(tmp_path / "projector" / "vectors.tsv")) == 4
