"""States of online models that are damaged, foreign or made up: refused in one sentence, or read as they were."""

import io
import json
import zipfile

import numpy as np
import pytest

import similitude as sm

ANSWERS = [("ant", "bee", "cow"), ("cow", "dog", "ant"), ("bee", "ant", "dog")] * 10
MODELS = [sm.OnlineEmbedding(2, random_state=0, memory=20), sm.ERKLE(random_state=0)]


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: type(model).__name__)
def state(request, tmp_path_factory):
    """A method, and the bytes of a state."""
    path = tmp_path_factory.mktemp("state") / "whole"
    request.param.fit(ANSWERS).save(path)
    return type(request.param), path.read_bytes()


def read(method, data, path):
    path.write_bytes(data)
    return method.load(path)


def repacked(data, compression=zipfile.ZIP_STORED, header=None, **arrays):
    """A state with other entries and arrays; an array that is None is left out."""
    with np.load(io.BytesIO(data)) as stored:
        held = dict(stored)
    found = json.loads(held["header"].tobytes().decode())
    held |= {"header": np.frombuffer(json.dumps({**found, **(header or {})}).encode(), np.uint8), **arrays}
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", compression) as archive:
        for name, array in held.items():
            if array is not None:
                part = io.BytesIO()
                np.save(part, array)
                archive.writestr(f"{name}.npy", part.getvalue())
    return whole.getvalue()


def test_a_state_reads_as_it_was(state, tmp_path):
    method, data = state
    read(method, repacked(data), tmp_path / "a").partial_fit(ANSWERS).save(tmp_path / "b")
    read(method, data, tmp_path / "a").partial_fit(ANSWERS).save(tmp_path / "c")
    assert (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


@pytest.mark.parametrize("seed", range(3))
def test_a_state_with_bytes_changed_is_refused_or_reads_as_it_was(state, seed, tmp_path):
    (method, data), rng = state, np.random.default_rng(seed)
    expected = read(method, data, tmp_path / "state").embedding_.tolist()
    for _ in range(100):
        changed = bytearray(data[: rng.integers(len(data))] if rng.random() < 0.1 else data)
        for place in rng.integers(max(len(changed), 1), size=rng.integers(1, 4)) if changed else ():
            changed[place] = rng.integers(256)
        try:
            found = read(method, bytes(changed), tmp_path / "state").embedding_.tolist()
        except ValueError as error:
            found = "damaged" if "damaged" in str(error) and "\n" not in str(error) else str(error)
        assert found in (expected, "damaged")


ROWS, ONES = np.zeros((20, 4), np.int32), np.ones(20)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"compression": zipfile.ZIP_DEFLATED}, "compressed"),
        ({"_rows": None}, "lacks or does not know '_rows'"),
        ({"_rows": ROWS + 4, "_weights": ONES}, "about items that it lacks"),
        ({"_rows": ROWS - 1, "_weights": ONES}, "about items that it lacks"),
        ({"_rows": ROWS[:5], "_weights": np.ones(5)}, "lacks answers that it learned from"),
        ({"_weights": np.ones(3)}, r"_weights has the shape \(3,\)"),
        ({"_weights": np.full(1024, np.nan)}, "not finite"),
        ({"_random": np.zeros(1)}, "_random holds float64"),
        ({"_recent": np.zeros(0)}, r"_recent has the shape \(0,\), not \(1000,\)"),
        ({"header": {"n_items": 5}}, "there are 4 names for 5 items"),
        ({"header": {"n_items": 10**12, "names": None}}, "damaged"),
        ({"header": {"n_items": "4"}}, "there are '4' items"),
        ({"header": {"names": "abcd"}}, "names are no list"),
        ({"header": {"names": ["a", "a", "b", "c"]}}, "'a' is the name of more than one item"),
        ({"header": {"counts": {}}}, "'n_answers_'"),
        ({"header": {"counts": {"n_answers_": -1}}}, "n_answers_ is -1"),
        ({"header": {"settings": {"loss": "none"}}}, "loss: expected one of"),
        ({"header": {"settings": {"colour": 1}}}, "unexpected keyword argument 'colour'"),
        ({"header": {"settings": None}}, "damaged"),
        ({"header": {"format": "1"}}, "format '1'"),
        ({"header": {"format": 99}}, "upgrade similitude"),
    ],
)
def test_what_does_not_fit_is_told_when_a_state_is_read(state, changed, says, tmp_path):
    method, data = state
    with pytest.raises(ValueError, match=says) as refused:
        read(method, repacked(data, **changed), tmp_path / "state")
    assert "state" in str(refused.value)
    assert "damaged" in str(refused.value) or "upgrade" in says


def test_positions_of_other_items_are_refused(state, tmp_path):
    method, data = state
    arrays = {"_X": np.zeros((3, 2)), "_compared": np.zeros(0, bool)}
    with pytest.raises(ValueError, match=r"damaged \((_X|_compared) has the shape"):
        read(method, repacked(data, **arrays), tmp_path / "state")


def test_what_is_no_state_is_said(state, tmp_path):
    method, data = state
    path = tmp_path / "a.npy"
    np.save(path, np.eye(3))
    with pytest.raises(ValueError, match=r"a.npy is not the state of an online model, or it is damaged"):
        method.load(path)
    sm.STE(2, random_state=0).fit(ANSWERS).similarity_.save(path)
    with pytest.raises(ValueError, match=r"a.npy is not the state of an online model, or .* no method"):
        method.load(path)
    other = next(type(model) for model in MODELS if type(model) is not method)
    with pytest.raises(ValueError, match=f"holds the state of {method.__name__}: use {method.__name__}.load"):
        read(other, data, path)
    encrypted = bytearray(repacked(data))
    for signature, flag in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        encrypted[encrypted.find(signature) + flag] |= 1
    with pytest.raises(ValueError, match="damaged"):
        read(method, bytes(encrypted), path)
