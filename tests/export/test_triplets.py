"""Triplets for sentence-transformers: every comparison, as texts, in the columns that it expects."""

import csv
import json

import numpy as np
import pytest

import similitude as sm

NAMES = ["a cat", 'a "dog", big', "=1+1", "größer\nzwei", "e"]


@pytest.fixture
def answers():
    truth = np.random.default_rng(0).normal(size=(5, 2))
    return sm.simulate(truth, 60, names=NAMES, random_state=1)


def read(file):
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream)) if file.suffix == ".csv" else [json.loads(line) for line in stream]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_every_comparison_is_a_row_of_texts(answers, tmp_path, suffix):
    file = tmp_path / f"said{suffix}"
    sm.export.write_triplets(answers, file)
    wanted = [dict(zip(("anchor", "positive", "negative"), row, strict=True)) for row in texts(answers)]
    assert read(file) == wanted


def texts(answers):
    return [[answers.names[k] for k in row] for row in answers.triplets]


def test_texts_are_given_by_name_or_in_order(answers, tmp_path):
    by_name = {name: f"about {name}" for name in NAMES}
    sm.export.write_triplets(answers, tmp_path / "one.jsonl", by_name)
    sm.export.write_triplets(answers, tmp_path / "other.jsonl", [by_name[name] for name in answers.names])
    assert read(tmp_path / "one.jsonl") == read(tmp_path / "other.jsonl")
    assert read(tmp_path / "one.jsonl")[0]["anchor"].startswith("about ")


def test_comparisons_without_weight_are_left_out(answers, tmp_path):
    weight = np.arange(len(answers)) % 2
    sm.export.write_triplets(answers.reweight(weight.astype(float)), tmp_path / "said.jsonl")
    assert [list(row.values()) for row in read(tmp_path / "said.jsonl")] == texts(answers)[1::2]


def test_what_cannot_be_written_is_refused(answers, tmp_path):
    with pytest.raises(ValueError, match=r"ends in \.jsonl or \.csv, found 'said.txt'"):
        sm.export.write_triplets(answers, tmp_path / "said.txt")
    with pytest.raises(ValueError, match="found none for"):
        sm.export.write_triplets(answers, tmp_path / "said.csv", {"e": "only one"})
    with pytest.raises(ValueError, match="each of 5 items, found 1"):
        sm.export.write_triplets(answers, tmp_path / "said.csv", ["only one"])
    with pytest.raises(ValueError, match="the items have no names"):
        sm.export.write_triplets([[0, 1, 2]], tmp_path / "said.csv")
    with pytest.raises(ValueError, match="has no head"):
        sm.export.write_triplets([[0, 1, 2, 3]], tmp_path / "said.csv", list("abcd"))
    assert list(tmp_path.iterdir()) == []
