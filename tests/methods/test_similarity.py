import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import similitude as sm
from similitude.engine.terms import ComparisonLoss, Formula, logarithm, logistic

STORED = Path(__file__).parent / "stored" / "format_1.sim"


@pytest.fixture
def small():
    loss = ComparisonLoss(Formula(logarithm, 0.05), Formula(logistic))
    embedding = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    return sm.Similarity(embedding, loss, ("ant", "bee", "cow"), {"method": "CKL"})


def test_items_by_name_and_by_position(small):
    assert small.neighbors("ant", 2) == ["bee", "cow"]
    assert small.neighbors(0, 1) == ["bee"]
    np.testing.assert_allclose(small.pair_distance([("ant", "bee"), ("ant", "cow")]), [1, 3])
    np.testing.assert_allclose(small.pair_distance([(0, 1)]), [1])
    assert small.predict(sm.Comparisons.from_triplets([("ant", "bee", "cow"), ("cow", "bee", "ant")])).tolist() == [
        True,
        False,
    ]


def test_names_are_matched_whatever_their_order(small):
    c = sm.Comparisons.from_triplets([("ant", "bee", "cow")], names=["cow", "bee", "ant"])
    assert small.predict(c).tolist() == [True]


def test_unknown_items_are_named(small):
    with pytest.raises(ValueError, match=r"'be' is not among the 3 item names; did you mean 'bee'"):
        small.neighbors("be")
    with pytest.raises(ValueError, match="'dog' is not among"):
        small.predict(sm.Comparisons.from_triplets([("ant", "bee", "dog")]))
    with pytest.raises(ValueError, match="1 to 2 neighbours"):
        small.neighbors("ant", 3)
    with pytest.raises(ValueError, match="rows of two items"):
        small.pair_distance([(0, 1, 2)])


def test_a_stored_old_file_still_loads(small):
    loaded = sm.Similarity.load(STORED)
    assert np.array_equal(loaded.embedding, small.embedding)
    assert loaded.names == small.names
    assert loaded.loss == small.loss


def test_damaged_foreign_and_newer_files_are_refused(small, tmp_path):
    whole = tmp_path / "whole.sim"
    small.save(whole)
    for name, content in {"empty": b"", "text": b"hello", "cut": whole.read_bytes()[:-40]}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=f"{name} is not a similarity file"):
            sm.Similarity.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        sm.Similarity.load(tmp_path / "absent.sim")
    header = np.frombuffer(json.dumps({"format": 99}).encode(), np.uint8)
    np.savez(tmp_path / "new.npz", header=header, embedding=small.embedding)
    with pytest.raises(ValueError, match="upgrade"):
        sm.Similarity.load(tmp_path / "new.npz")


def test_bytes_are_what_a_file_holds(small, tmp_path):
    small.save(tmp_path / "small.sim")
    (tmp_path / "bytes.sim").write_bytes(small.to_bytes())
    for found in (sm.Similarity.load(tmp_path / "bytes.sim"), sm.Similarity.from_bytes(small.to_bytes())):
        np.testing.assert_array_equal(found.embedding, small.embedding)
        assert (found.names, found.about) == (small.names, small.about)
    with pytest.raises(ValueError, match="data is not a similarity file"):
        sm.Similarity.from_bytes(b"something else")


def test_a_failed_save_leaves_the_old_file(small, tmp_path, monkeypatch):
    path = tmp_path / "map.sim"
    small.save(path)
    before = path.read_bytes()

    def disk_full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(OSError, match="No space left"):
        small.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["map.sim"]


def test_loading_needs_numpy_alone(tmp_path):
    code = (
        "import sys, similitude as sm; s = sm.Similarity.load(sys.argv[1]); s.neighbors('ant', 2); s.distances();"
        "heavy = {'scipy', 'sklearn', 'numba', 'pandas', 'joblib'} & set(sys.modules);"
        "sys.exit(repr(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(STORED)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
