"""Tables about items beside answers: names stay text, any kind of file is read, and errors name their own file."""

from __future__ import annotations

import contextlib
import gzip
from functools import partial

import numpy as np
import pandas as pd
import pytest

import similitude as sm
from similitude.cli.commands import _named_anew
from similitude.cli.comparing import _table
from similitude.cli.dimensions import _attributes, _names
from similitude.cli.learn import _classes
from similitude.feedback.files import item_tables
from similitude.feedback.files.features import read_features
from similitude.feedback.files.item_tables import read_item_table
from similitude.feedback.files.names import read_names

NAMES = ["007", "NA", "nan", "None", "1e3", "x"]
NUMBERS = np.arange(12.0).reshape(6, 2) / 8
WRITERS = {
    "t.csv": lambda table, path: table.to_csv(path),
    "semicolons.csv": lambda table, path: table.to_csv(path, sep=";", decimal=","),
    "t.txt": lambda table, path: table.to_csv(path, sep="\t"),
    "t.TSV": lambda table, path: table.to_csv(path, sep="\t"),
    "wide.csv": lambda table, path: table.to_csv(path, encoding="utf-16"),
    "t.csv.gz": lambda table, path: table.to_csv(path),
    "t.xlsx": lambda table, path: table.to_excel(path),
    "t.parquet": lambda table, path: table.to_parquet(path),
}


def model(names=None, n_items=4):
    truth = np.random.default_rng(0).normal(size=(n_items, 2))
    return sm.STE(2, penalty=0.1, random_state=0).fit(sm.simulate(truth, 60, names=names, random_state=1)).similarity_


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet"])
def test_many_vectors_are_read_without_looking_at_every_cell(tmp_path, name, monkeypatch):
    path, frame = tmp_path / name, pd.DataFrame(NUMBERS, pd.Index(NAMES, name="item"), ["x", "NaN"])
    {".csv": frame.to_csv, ".tsv": partial(frame.to_csv, sep="\t"), ".parquet": frame.to_parquet}[path.suffix](path)
    careful = read_item_table(path).by_item()
    monkeypatch.setattr(item_tables, "read_item_table", None)
    table, python = item_tables.read_numbers(path)
    pd.testing.assert_frame_equal(table, careful, check_names=False, check_index_type=False, check_column_type=False)
    assert eval(python, {"pd": pd}).equals(table)


@pytest.mark.parametrize("text", [",x\na,1\n", "item,x\na,1\nb,\n", "item,x\na,1,2\n", "item,x\n,1\n", "1,2\n3,4\n"])
def test_what_is_not_plainly_numbers_is_read_with_care(tmp_path, text, monkeypatch):
    (tmp_path / "t.csv").write_text(text, "utf-8")
    read = []
    monkeypatch.setattr(item_tables, "read_item_table", lambda path: read.append(path) or read_item_table(path))
    with contextlib.suppress(ValueError):
        item_tables.read_numbers(tmp_path / "t.csv")
    assert read


@pytest.mark.parametrize("name", WRITERS)
def test_names_stay_text_in_every_kind_of_file(tmp_path, name):
    path = tmp_path / name
    frame = pd.DataFrame(NUMBERS, pd.Index(NAMES), ["x", "NaN"])
    WRITERS[name](frame, path)
    np.testing.assert_array_equal(read_features(path, NAMES[::-1], 6)[0], NUMBERS[::-1])
    table, python = _table(path)
    assert (table.index.tolist(), table.columns.tolist()) == (NAMES, ["x", "NaN"])
    assert eval(python, {"pd": pd}).rename(columns=str).equals(table)


def test_classes_and_attributes_know_items_by_such_names(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame({"item": NAMES, "class": [*"aabb", "", "NA"], "x": range(6)}).to_csv(path, index=False, sep=";")
    found, lines = _classes(path, NAMES)
    assert found == {"007": "a", "NA": "a", "nan": "b", "None": "b", "x": "NA"}
    known = {"pd": pd}
    exec(lines[0], known)
    assert {name: known["classes"][name] for name in found} == found
    c = sm.simulate(np.random.default_rng(0).normal(size=(6, 2)), 60, names=NAMES, random_state=1)
    table, lines = _attributes(path, c)
    assert table.index.tolist() == NAMES
    assert table["x"].tolist() == [*range(6)]
    exec(lines[0], known)
    assert known["attributes"].index.tolist() == NAMES


def test_names_of_dimensions_are_read_with_a_header_and_without(tmp_path):
    for text in ("1;made\nNA;grown\n", "dimension,name\n1,made\nNA,grown\n", "item\tname\n1\tmade\nNA\tgrown\n"):
        (tmp_path / "t.txt").write_text(text, "utf-8")
        assert _names(tmp_path / "t.txt") == {"1": "made", "NA": "grown"}
    (tmp_path / "t.csv").write_text("tool,made\n2,grown\n", "utf-8")
    assert _names(tmp_path / "t.csv") == {"tool": "made", "2": "grown"}


def test_a_table_without_a_header_goes_by_position(tmp_path):
    one = model([str(k + 5) for k in range(6)], 6)
    for name, separator in (("d.csv", ","), ("d.txt", " "), ("d.tsv", "\t")):
        np.savetxt(tmp_path / name, one.distances(), delimiter=separator)
        table, python = _table(tmp_path / name)
        assert sm.compare(one, table, random_state=0).correlation == pytest.approx(1)
        assert eval(python, {"pd": pd}).equals(table)


def test_names_that_are_one_off_are_refused(tmp_path):
    path = tmp_path / "names.csv"
    pd.DataFrame({"no": range(1, 4), "name": [f"thing {k}" for k in range(1, 4)]}).to_csv(path, index=False)
    for names in (None, ["0", "1", "2", "3"]):
        with pytest.raises(ValueError, match=r"^names\.csv: there is no name for item '0'; .* each from 0 to 3$"):
            _named_anew(model(names), path)
    assert _named_anew(model(["1", "2", "3", "x"]), path) == ["thing 1", "thing 2", "thing 3", "x"]
    pd.DataFrame([[k, f"thing {k}"] for k in range(4)]).to_csv(path, index=False, header=False)
    assert _named_anew(model(), path) == [f"thing {k}" for k in range(4)]


def test_an_item_without_a_name_is_said_with_the_table_that_lacks_it(tmp_path):
    (tmp_path / "answers.csv").write_text("a,b,c,odd\n0,1,2,1\n", "utf-8")
    (tmp_path / "names.csv").write_text("no,name\n1,cat\n2,dog\n", "utf-8")
    with pytest.raises(ValueError, match=r"there is no name for item '0' in names\.csv"):
        sm.read_comparisons(tmp_path / "answers.csv", names=tmp_path / "names.csv")


@pytest.mark.parametrize("read", [read_names, _table, lambda path: read_features(path, ["a"], 1)])
@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("t.csv", b"", "the file is empty"),
        ("t.csv", b"a,b\n1,2,3\n", "row 1 has 3 cells, expected 2; correct that row"),
        ("t.csv", b"<html><table>", "a web page"),
        ("t.csv", b"version https://git-lfs.github.com/spec/v1\noid 1\n", "git lfs pull"),
        ("t.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), r"an Excel file that is old \(\.xls\)"),
        ("t.npy", b"\x93NUMPY", "the file holds no table"),
    ],
)
def test_what_is_no_table_is_said_of_that_file(tmp_path, read, name, data, said):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=rf"^{name}: .*{said}"):
        read(tmp_path / name)


def test_packed_files_are_known_by_their_bytes(tmp_path):
    text = b"a,b,c,odd\n0,1,2,1\n"
    (tmp_path / "packed.csv").write_bytes(gzip.compress(text))
    (tmp_path / "plain.csv.gz").write_bytes(text)
    for name in ("packed.csv", "plain.csv.gz"):
        assert sm.read_comparisons(tmp_path / name).n_answers == 1


@pytest.mark.parametrize(
    "begins", [b'<?xml version="1.0"?>\n', b"<!-- saved from url=(1)x -->\n<!-- > -->", b"\xef\xbb\xbf"]
)
def test_a_web_page_is_told_whatever_stands_before_it(tmp_path, begins):
    (tmp_path / "a.csv").write_bytes(begins + b"<!DOCTYPE html>\n<p>a,b</p>")
    with pytest.raises(ValueError, match="a web page"):
        sm.read_comparisons(tmp_path / "a.csv")
