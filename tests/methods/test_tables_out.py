"""A model as tables for other programs."""

from __future__ import annotations

import io

import h5py
import numpy as np
import openpyxl
import pandas as pd
import pytest

import similitude as sm
from tests.export.models import product
from tests.shell import run

NAMES = ["=SUM(A1)", "café", "dog, small"]


@pytest.fixture
def similarity():
    return sm.STE(1).fit(sm.Comparisons.from_triplets([(0, 1, 2), (1, 0, 2)], names=NAMES)).similarity_


def test_distances_and_coordinates_as_text(similarity, tmp_path):
    similarity.write_table(tmp_path / "distances.csv")
    similarity.write_table(tmp_path / "map.tsv", "coordinates")
    table = pd.read_csv(tmp_path / "distances.csv", index_col=0)
    np.testing.assert_allclose(table.to_numpy(), similarity.distances())
    assert list(table.columns) == list(table.index) == ['"=SUM(A1)"', *NAMES[1:]]  # no cell is a formula
    places = pd.read_csv(tmp_path / "map.tsv", sep="\t", index_col=0)
    np.testing.assert_allclose(places.to_numpy(), similarity.embedding)


def test_a_workbook_has_both_and_no_formula(similarity, tmp_path):
    similarity.write_table(tmp_path / "map.xlsx")
    book = openpyxl.load_workbook(tmp_path / "map.xlsx")
    assert book.sheetnames == ["coordinates", "distances"]
    cells = [cell for row in book["distances"].iter_rows() for cell in row]
    assert {cell.data_type for cell in cells} == {"s", "n"}
    assert [cell.value for cell in book["distances"][1]] == ["item", *NAMES]
    assert book["distances"]["C2"].value == pytest.approx(similarity.distances()[0, 1])


def test_rdms_as_rsatoolbox_saves_them(similarity, tmp_path):
    """The layout that rsatoolbox 0.3.2 writes and loads; it wrote tests/feedback/files/fixtures/rsatoolbox.hdf5."""
    similarity.write_table(tmp_path / "rdms.hdf5")
    with h5py.File(tmp_path / "rdms.hdf5") as file:
        assert file["dissimilarities"].shape == (1, 3)
        assert [name.decode() for name in file["pattern_descriptors/item"]] == NAMES
        assert file.attrs["dissimilarity_measure"] == "euclidean"
    again = sm.read_comparisons(tmp_path / "rdms.hdf5")
    assert set(again.names) == set(NAMES)
    first, second = np.triu_indices(3, 1)
    np.testing.assert_allclose(again.answers.response[0], similarity.distances()[first, second])


def test_distances_read_back(similarity, tmp_path):
    similarity.write_table(tmp_path / "distances.csv")
    c = sm.read_comparisons(tmp_path / "distances.csv")
    assert c.n_items == 3
    assert c.answers.form.labels == ("difference_rating",)


def test_what_cannot_be_written_is_refused(similarity, tmp_path):
    with pytest.raises(ValueError, match=r"expected a file name that ends in .csv, .tsv, .xlsx, .hdf5, found 'a.docx'"):
        similarity.write_table(tmp_path / "a.docx")
    with pytest.raises(ValueError, match="what: expected 'distances' or 'coordinates', found 'foo'"):
        similarity.write_table(tmp_path / "a.csv", "foo")


def test_dissimilarities_that_are_no_distances_are_called_so(tmp_path):
    similarity, called = product()[0], "dissimilarities (product)"
    for name in ("a.csv", "a.xlsx", "a.hdf5"):
        similarity.write_table(tmp_path / name)
    assert (tmp_path / "a.csv").read_text("utf-8").startswith(f"{called},")
    assert openpyxl.load_workbook(tmp_path / "a.xlsx").sheetnames == ["coordinates", called]
    with h5py.File(tmp_path / "a.hdf5") as file:
        assert file.attrs["dissimilarity_measure"] == "product"
    similarity.save(tmp_path / "model.sim")
    assert f"b.csv: {called} of" in run("export", "model.sim", "b.csv", folder=tmp_path).stdout


def test_the_command(similarity, tmp_path):
    similarity.save(tmp_path / "model.sim")
    said = run("export", "model.sim", "places.csv", "--what", "coordinates", folder=tmp_path).stdout
    assert "places.csv: coordinates of 3 items" in said
    frame = pd.read_csv(io.BytesIO((tmp_path / "places.csv").read_bytes()), index_col=0)
    assert list(frame.columns) == ["dimension 1"]
