"""What is written reads back equal; what is damaged is refused with a sentence."""

from __future__ import annotations

import csv
import gzip
import json
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from similitude import Comparisons, Labels, read_comparisons, simulate, write_comparisons
from similitude.feedback.forms import FORMS
from tests.feedback.strategies import STRANGE_NAMES, assert_same, feedback, seeds
from tests.feedback.test_comparisons import partial_allowed
from tests.systems import unix_only

SUFFIXES = ["csv", "tsv.gz", "jsonl", "ndjson.gz", "parquet"]


def round_trip(c, suffix):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"answers.{suffix}"
        write_comparisons(c, path)
        assert os.listdir(folder) == [path.name]
        return read_comparisons(path)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
@given(c=feedback())
def test_what_is_written_reads_back_equal(suffix, c):
    again = round_trip(c, suffix)
    assert_same(again, c)
    assert again.to_frame().equals(c.to_frame())


@pytest.mark.slow
@pytest.mark.parametrize("form", sorted(FORMS))
@settings(max_examples=8)
@given(data=st.data())
def test_every_form_reads_back_equal(form, data):
    c = data.draw(feedback(form))
    for suffix in ("csv", "jsonl", "parquet"):
        assert_same(round_trip(c, suffix), c)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=20)
@given(c=feedback(), rng=seeds())
def test_a_cleaned_or_weighted_part_reads_back_equal(suffix, c, rng):
    with partial_allowed():
        part = c[rng.permutation(len(c))[: 1 + len(c) // 2]]
    weighted = c.reweight(rng.random(len(c))).flip(rng.random(len(c)) < 0.3)
    for feedback_ in (part, weighted):
        if feedback_.n_answers:
            assert_same(round_trip(feedback_, suffix), feedback_)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_names_with_commas_quotes_and_line_breaks(suffix):
    c = Comparisons.from_triplets([(0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 0, 1)], names=STRANGE_NAMES)
    assert_same(round_trip(c, suffix), c)
    turned = c.flip([True, False, False, True])
    assert_same(round_trip(turned, suffix), turned)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_a_spreadsheet_would_run_is_written_otherwise_and_read_back(tmp_path, suffix):
    odd = ["=1+1", "-2", "+x", "@a", '"quoted"', "a"]
    c = Comparisons.from_triplets([(0, 1, 2), (3, 4, 5)], names=odd, rater=odd[:2])
    for one in (c, c.flip([True, False])):
        assert_same(round_trip(one, suffix), one)
    write_comparisons(c.flip([True, False]), tmp_path / "a.csv")
    rows = csv.reader((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines())
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "-", "+", "@"))]


def test_a_large_sampled_sheet_is_not_expanded():
    table = np.abs(np.subtract.outer(np.arange(300.0), np.arange(300.0)))
    c = Comparisons.from_distances(table, "sample", 500, random_state=0)
    assert_same(round_trip(c, "csv"), c)


def test_labels_with_confidence_read_back_equal(rng):
    c = Labels.of(np.arange(30), rng.integers(0, 3, 30), rng.random(30)).to_comparisons(random_state=0)
    assert_same(round_trip(c, "parquet"), c)


def test_a_plain_file_has_one_row_per_answer(tmp_path):
    c = simulate(np.arange(9.0), 5, "choice", raters=2, random_state=0)
    write_comparisons(c, tmp_path / "a.csv")
    assert len((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()) == 6
    write_comparisons(c.flip(np.arange(len(c)) == 0), tmp_path / "a.csv")
    assert len((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()) == 1 + len(c)


@pytest.mark.parametrize("failing", ["write", "replace"])
def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch, failing):
    path = tmp_path / "a.csv"
    write_comparisons(Comparisons.from_triplets([(0, 1, 2)]), path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync" if failing == "write" else "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_comparisons(Comparisons.from_triplets([(2, 1, 0)]), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.csv"]


@unix_only
def test_writing_through_a_link_keeps_the_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "real" / "a.csv")
    write_comparisons(Comparisons.from_triplets([(0, 1, 2)]), tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert len(read_comparisons(tmp_path / "real" / "a.csv")) == 1


def test_what_cannot_be_written_is_refused(tmp_path):
    c = Comparisons.from_triplets([(0, 1, 2)])
    with pytest.raises(ValueError, match=r"path: .npy is read, but not written"):
        write_comparisons(c, tmp_path / "a.npy")
    with pytest.raises(ValueError, match=r"ends in .csv, .tsv, .jsonl, .ndjson, .parquet \(or .gz\), found 'a.docx'"):
        write_comparisons(c, tmp_path / "a.docx")
    with pytest.raises(ValueError, match="at least one answer to write, found none"):
        write_comparisons(c.select([]), tmp_path / "a.csv")
    with pytest.raises(FileNotFoundError):
        write_comparisons(c, tmp_path / "nowhere" / "a.csv")


def newer(path, suffix):
    c = Comparisons.from_triplets([(0, 1, 2)], names=["a", "b", "c"])
    write_comparisons(c, path)
    if suffix == "parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        about = json.loads(table.schema.metadata[b"similitude"]) | {"format": 2}
        pq.write_table(table.replace_schema_metadata({b"similitude": json.dumps(about)}), path)
    elif suffix == "jsonl":
        path.write_text(path.read_text(encoding="utf-8").replace('"format": 1', '"format": 2'), encoding="utf-8")
    else:
        path.write_text(path.read_text(encoding="utf-8").replace(',1,"[""a""', ',2,"[""a""'), encoding="utf-8")


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_newer_format_is_refused(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    newer(path, suffix)
    with pytest.raises(ValueError, match="the file has format 2, this similitude reads up to 1; update it"):
        read_comparisons(path)


HEAD = "head,winner,loser\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "a.csv: the file is empty"),
        ("a.csv", b" \n\n", "a.csv: the file is empty"),
        ("a.csv.gz", gzip.compress(b"", mtime=0), "the file is empty"),
        ("a.csv", HEAD, "a.csv: the file has a header and no rows"),
        ("a.jsonl", '{"format": 1, "items": 3}\n', "a header and no rows"),
        ("a.csv", "head,head,loser\n0,1,2\n", "two columns have the same name"),
        ("a.csv", "head,Head,loser\n0,1,2\n", "two columns have the same name"),
        ("a.csv", HEAD + "0,1,2\n0,1,2,3\n", "a.csv: row 2 has 4 cells, expected 3; correct that row"),
        ("a.csv", HEAD + "0,1,2,3\n0,1,2,3\n", "row 1 has 4 cells, expected 3"),
        ("a.csv", HEAD + "0,1,2\n0,1\n", "row 2 has 2 cells, expected 3"),
        ("a.csv", HEAD + '0,1,"2\n', "cut off or has a stray quote"),
        ("a.csv", HEAD.encode() + b"a\x81,b,c\n", "line 2: byte 0x81 .* is no Latin-1"),
        ("a.csv", "left,right\n1,2\n", "columns left, right fit no layout; say which is which"),
        ("a.csv", HEAD + "0,1,2\n0,,2\n", r"row 2 has no 'winner' \(1 such rows\)"),
        ("a.csv", HEAD + "a,b,a\n", "row 1 compares an item with itself"),
        ("a.csv", HEAD[:-1] + ",screen,worker\n0,1,2,s,ann\n0,2,1,s,bob\n", "rater: answer 's' has two values"),
        ("a.csv", HEAD[:-1] + ",time\n0,1,2,soon\n", "row 1 of 'time': expected a number, found 'soon'"),
        ("a.csv", "near_a,near_b,far_a,far_b,answer,rater\n0,1,2,3,x,a\n0,1,2,4,x,b\n", "rater: answer 'x' has two"),
        ("a.csv", "near_a,near_b,far_a,far_b\n0,1,2,\n", "row 1 has no 'far_b'"),
        ("a.csv", "i,j,rating\n0,1,2\n", "larger: does a larger rating mean 'similar' or 'different'"),
        ("a.csv", "i,j,k,response\n0,1,2,0.7\n", "row 1 of 'response': expected True/False, 1/0 or 1/-1, found"),
        ("a.csv", 'shown,response\n"[0,1,2]",[1]\n', "form: the file has no column 'form'; give form="),
        ("a.csv", "form,shown,response\ntriplet,0 1 2,[1]\n", "row 1 of 'shown': expected a list such as"),
        ("a.csv", "form,shown,response\ntriplet,['a' 'b' 'c'],[1]\n", "row 1 of 'shown': expected a list such as"),
        ("a.csv", 'form,shown,response\ntriplet,"[0,1,2]","[""x""]"\n', "row 1 of 'response': expected the name"),
        ("a.csv", 'form,shown,response\ntriplet,"[0,1,2]",[true]\n', "response: expected lists of numbers"),
        ("a.csv", 'form,shown,response\ntriplet,"[0,1,2]",[1.5]\n', "whole numbers"),
        ("a.jsonl", '{"head": 0, "winner": 1, "loser": 2}\n{"head": 0, "win', "line 2 is cut off or is not JSON"),
        ("a.jsonl", "[1, 2]\n", "line 1 is not a JSON object"),
        ("a.jsonl", '{"head": 0.5, "winner": 1, "loser": 2}\n', "expected names or positions, found 0.5"),
        ("a.txt", "0 1 2\n0 1\n", "row 2 has 2 cells, expected 3"),
        ("a.txt", "0 1 2 3 4\n", "rows of 5 items are no quadruplet"),
        ("a.npy", b"not an array", "the file holds no plain arrays"),
    ],
)
def test_damaged_files_are_refused(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises((ValueError, TypeError), match=message):
        read_comparisons(path)


@pytest.mark.parametrize(
    ("said", "near"),
    [
        ('["cat","dog"]', (0, 1)),
        ('["car","bus"]', (2, 3)),
        ('["Dog ","cat"]', (0, 1)),
        ("car + bus", (2, 3)),
        ("[1]", (2, 3)),
    ],
)
def test_a_pair_is_picked_by_the_names_of_its_items_in_any_order(tmp_path, said, near):
    path = tmp_path / "a.jsonl"
    answer = {"form": "quadruplet", "shown": ["cat", "dog", "bus", "car"]}
    response = json.loads(said) if said.startswith("[") else said
    path.write_text(json.dumps(answer | {"response": response}) + "\n")
    assert tuple(read_comparisons(path, names=answer["shown"]).near[0].tolist()) == near
    path.write_text(json.dumps(answer | {"response": ["cat", "bus"]}) + "\n")
    with pytest.raises(
        ValueError, match=r"row 1 of 'response': expected the pair .* cat \+ dog, .*; found 'cat \+ bus'"
    ):
        read_comparisons(path)


def test_an_empty_path_is_not_the_folder_that_one_is_in():
    with pytest.raises(ValueError, match=r"^path: found an empty text"):
        read_comparisons("")


@pytest.mark.parametrize("name", ["nowhere.csv", "nowhere", "nowhere/"])
def test_what_is_not_there_is_named(tmp_path, name):
    with pytest.raises(FileNotFoundError, match=r"there is no file or folder '.*nowhere"):
        read_comparisons(tmp_path / name)


@pytest.mark.parametrize("suffix", ["csv.gz", "parquet", "jsonl.gz"])
def test_truncated_files_are_refused(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    write_comparisons(simulate(np.arange(9.0), 200, raters=3, random_state=0), path)
    whole = path.read_bytes()
    for cut in (len(whole) // 2, len(whole) - 4):
        path.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match="cut off or damaged"):
            read_comparisons(path)


def test_names_that_are_not_known_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(HEAD + "cat,dgo,bus\n", encoding="utf-8")
    with pytest.raises(ValueError, match="'dgo' is not among the 3 item names; did you mean 'dog'"):
        read_comparisons(path, names=["cat", "dog", "bus"])


def test_pickles_are_never_opened(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.array([[object()] * 3]), allow_pickle=True)
    with pytest.raises(ValueError, match="holds no plain arrays"):
        read_comparisons(path)


def test_what_a_larger_rating_means_is_said_once(tmp_path):
    (tmp_path / "table.csv").write_text("i,j,rating\na,b,1\na,c,2\nb,c,3\n", encoding="utf-8")
    rated = read_comparisons(tmp_path / "table.csv", larger="similar")
    write_comparisons(rated, tmp_path / "rated.csv")
    assert_same(read_comparisons(tmp_path / "rated.csv", larger="similar"), rated)  # as the file says itself
    with pytest.raises(ValueError, match=r"larger: expected ratings whose meaning is not known, found answers to"):
        read_comparisons(tmp_path / "rated.csv", larger="different")
