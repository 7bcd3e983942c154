import io
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import similitude as sm
from similitude.engine.terms import ComparisonLoss, Formula, logarithm, logistic
from similitude.methods.answering import Weighed

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
    with pytest.raises(ValueError, match=r"1 to 2 neighbours, found 1\.5"):
        small.neighbors("ant", 1.5)
    for wrong in ([1.0, 2.0], [-1.0], [0.0], [np.nan]):
        with pytest.raises(ValueError, match="sample_weight: expected 1 finite numbers of 0 or more"):
            small.score([("ant", "bee", "cow")], sample_weight=wrong)
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


def repacked(similarity, header=None, compression=zipfile.ZIP_STORED, **arrays):
    """The bytes of a model with some entries of its header, or some arrays, replaced."""
    with np.load(io.BytesIO(similarity.to_bytes())) as stored:
        held = {**stored, **arrays}
    entries = {**json.loads(held["header"].tobytes()), **(header or {})}
    held["header"] = np.frombuffer(json.dumps(entries).encode(), np.uint8)
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", compression) as archive:
        for name, array in held.items():
            one = io.BytesIO()
            np.save(one, array)
            archive.writestr(f"{name}.npy", one.getvalue())
    return whole.getvalue()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"header": {"names": ["ant", "bee"]}}, "2 names for 3 items"),
        ({"header": {"names": "abc"}}, "a list is expected where there is 'abc'"),
        ({"header": {"names": ["ant", "ant", "bee"]}}, "'ant' is the name of more than one item"),
        ({"header": {"names": [1, 2, 3]}}, "names are not all text"),
        ({"header": {"format": "2"}}, "format '2'"),
        ({"header": {"format": 1e400}}, "format inf"),
        ({"header": {"format": True}}, "format True"),
        ({"header": {"kind": ["distance"]}}, "unhashable"),
        ({"header": {"kind": "signed distance"}}, "form/positions"),
        ({"header": {"scale": ["squared", float("nan")]}}, "parameter of 'squared' is not finite"),
        ({"header": {"map": 5}}, "not subscriptable"),
        ({"header": {"answering": {"kind": "sharpness", "names": []}}}, "damaged"),
        ({"header": {"about": None}}, "about holds no entries"),
        ({"header": {"attributes": {"price": [1]}}}, "'price' has 1 values for 3 items"),
        ({"embedding": np.array([[np.nan], [0.0], [1.0]])}, "embedding holds numbers that are not finite"),
        ({"embedding": np.zeros(3)}, r"positions have the shape \(3,\)"),
        ({"embedding": np.array([["a"], ["b"], ["c"]])}, "not numbers"),
        ({"compression": zipfile.ZIP_DEFLATED}, "compressed"),
        ({"compression": zipfile.ZIP_LZMA}, "compressed"),
    ],
)
def test_what_does_not_fit_is_told_when_a_file_is_read(small, changed, says):
    with pytest.raises(ValueError, match=says) as refused:
        sm.Similarity.from_bytes(repacked(small, **changed))
    assert "damaged" in str(refused.value)
    assert "take a backup" in str(refused.value)


def read_or_refused(data):
    """The positions that a file holds, or what it was refused as."""
    try:
        return sm.Similarity.from_bytes(data).embedding.tolist()
    except ValueError as error:
        return "damaged" if "damaged" in str(error) else str(error)


def test_a_file_with_any_bit_turned_is_refused_or_reads_as_it_was(small):
    data, rng = small.to_bytes(), np.random.default_rng(0)
    for place, bit in zip(rng.integers(len(data), size=300), rng.integers(8, size=300), strict=True):
        turned = bytearray(data)
        turned[place] ^= 1 << bit
        assert read_or_refused(bytes(turned)) in (small.embedding.tolist(), "damaged")


def test_a_deep_header_and_an_array_that_claims_too_much_are_refused(small):
    deep = np.frombuffer(b"[" * 100_000, np.uint8)
    claims = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (10**13, 2)}
    np.lib.format.write_array_header_1_0(claims, shape)
    data = small.to_bytes()
    held = {name: zipfile.ZipFile(io.BytesIO(data)).read(name) for name in ("header.npy", "embedding.npy")}
    one = io.BytesIO()
    np.save(one, deep)
    for part, says in (("header.npy", one), ("embedding.npy", claims)):
        whole = io.BytesIO()
        with zipfile.ZipFile(whole, "w") as archive:
            for name, content in {**held, part: says.getvalue()}.items():
                archive.writestr(name, content)
        with pytest.raises(ValueError, match="damaged"):
            sm.Similarity.from_bytes(whole.getvalue())


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


# Vectors and items


@pytest.fixture(scope="module")
def linear():
    """A model of three numbers each for twelve items with names, of which two dimensions matter."""
    features = np.random.default_rng(0).normal(size=(12, 3))
    answers = sm.simulate(features[:, :2], 600, names=list("abcdefghijkl"), random_state=0)
    return features, sm.LPOE(loss="logistic").fit(answers, features=features).similarity_


def test_items_stand_where_their_vectors_are_placed(linear):
    features, model = linear
    np.testing.assert_allclose(model.transform(features), model.embedding, atol=1e-9)
    np.testing.assert_allclose(model.distances(features, features), model.distances(), atol=1e-6)
    np.testing.assert_allclose(model.distances(["a", "c"], features[:4]), model.distances()[[0, 2], :4], atol=1e-6)
    np.testing.assert_allclose(model.distances([0, 2], [1]), model.distances()[[0, 2], 1:2], atol=1e-6)
    np.testing.assert_allclose(model.distances("a", features[1]), model.distances()[:1, 1:2], atol=1e-6)


def test_one_vector_gives_one_position_and_its_neighbours(linear):
    features, model = linear
    for one in (features[3], features[3].tolist()):
        assert model.transform(one).shape == model.embedding.shape[1:]
        assert model.neighbors(one, 3) == ["d", *model.neighbors("d", 2)]  # an item is not its own neighbour
    assert len(model.neighbors(features[:1], 12)) == 12
    with pytest.raises(ValueError, match="found 2 of them, expected one item or one vector"):
        model.neighbors(features[:2])


def test_round_numbers_in_a_table_are_vectors_and_along_one_axis_items(linear):
    _, model = linear
    table = [[1, 2, 0]]
    np.testing.assert_allclose(model.distances(table, table), [[0]], atol=1e-6)
    assert model.distances([1, 2, 0]).shape == (3, 3)
    assert model.distances([1.0, 2.0, 0.0]).shape == (1, 1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([[0.5, 1.0]], "neither items .* nor vectors of 3 numbers"),
        ([[1], [2]], "neither items .* nor vectors of 3 numbers"),
        (0.5, "expected items"),
        (np.zeros((2, 2, 3)), "expected items"),
        (["a", "z"], "'z' is not among the 12 item names"),
        ([3, 12], "found index 12"),
        ([None], "neither items"),
        ({"look": [[0.5, 1.0, 2.0]]}, "found look, expected a dict with some of features"),
    ],
)
def test_what_is_neither_items_nor_vectors_is_refused(linear, given, said):
    with pytest.raises((ValueError, TypeError), match=said):
        linear[1].distances(given)


def test_a_model_without_a_map_says_so(small):
    for ask in (small.transform, small.distances, small.neighbors):
        with pytest.raises(ValueError, match="CKL learned where its items stand from answers alone"):
            ask([[0.5, 1.0]])


# What a file holds


def test_what_cannot_be_saved_is_refused_and_nothing_is_written(small, linear, tmp_path):
    def fourth_root(t, _=0.0):
        return np.abs(t) ** 0.25, 0.0 * t, 0.0 * t

    own = replace(small, loss=ComparisonLoss(Formula(fourth_root), small.loss.shape))
    features = linear[0]
    by_function = sm.kernels.Precomputed(features @ features.T, lambda new: np.asarray(new) @ features.T)
    answers = sm.simulate(features, 300, random_state=0)
    mapped = sm.KPOE().fit(answers, features=by_function).similarity_
    odd = replace(small, about={"when": object()})
    for model, said in ((own, "'fourth_root' is a formula of your own"), (mapped, "which is code"), (odd, "`about`")):
        with pytest.raises(ValueError, match=said):
            model.save(tmp_path / "map.sim")
    assert list(tmp_path.iterdir()) == []
    replace(mapped, feature_map=None).save(tmp_path / "map.sim")
    assert np.array_equal(sm.Similarity.load(tmp_path / "map.sim").embedding, mapped.embedding)


def test_attributes_of_items_are_kept(small):
    model = small.with_attributes(price=[1.5, 2.0, None], picture=["a.png", "b.png", "ç.png"])
    loaded = sm.Similarity.from_bytes(model.to_bytes())
    assert loaded.attributes == {"price": (1.5, 2.0, None), "picture": ("a.png", "b.png", "ç.png")}
    assert small.attributes == {}
    with pytest.raises(ValueError, match="price: found 2 values, expected 3"):
        small.with_attributes(price=[1, 2])


def test_the_file_of_a_linear_map_does_not_grow_with_the_features_of_the_training_items(linear):
    _, model = linear
    header = 2_500  # names, settings, and what a zip keeps of each of five arrays
    assert len(model.to_bytes()) < 8 * (model.embedding.size + 3 * model.embedding.shape[1]) + header


def changed(model, **header):
    """The bytes of a model whose header says something else."""
    with np.load(io.BytesIO(model.to_bytes())) as stored:
        arrays = dict(stored)
    told = json.loads(arrays["header"].tobytes()) | header
    arrays["header"] = np.frombuffer(json.dumps(told).encode(), np.uint8)
    whole = io.BytesIO()
    np.savez(whole, **arrays)
    return whole.getvalue()


@pytest.mark.parametrize(
    "header",
    [
        {"kind": "choice"},
        {"answering": {"kind": "moods", "names": []}},
        {"map": {"pieces": [{"modality": "x", "unshared_at_centre": False, "parts": [{"kind": "deep", "route": []}]}]}},
        {"scale": ["fourth_root", 0.0]},
    ],
    ids=["kind", "answering", "map", "scale"],
)
def test_what_this_version_does_not_know_is_refused_by_name(small, header):
    with pytest.raises(ValueError, match=r"choice|moods|deep|fourth_root"):
        sm.Similarity.from_bytes(changed(small, **header))


def test_a_stored_file_of_format_2_still_loads_and_says_the_same():
    folder = STORED.parent
    model = sm.Similarity.load(folder / "format_2.sim")
    told = json.loads((folder / "format_2.json").read_text(encoding="utf-8"))
    answers = sm.Comparisons.from_triplets(told["triplets"], rater=told["raters"])
    np.testing.assert_allclose(model.predict_proba(answers), told["predict_proba"], rtol=1e-9)
    np.testing.assert_allclose(model.transform(told["vectors"]), told["transform"], rtol=1e-9)
    np.testing.assert_allclose(model.distances(told["vectors"]), told["distances"], rtol=1e-9, atol=1e-9)
    assert model.attributes == {"price": (1.0, None, 3.0)}


def test_raters_are_not_forgotten(tmp_path):
    truth = np.random.default_rng(0).normal(size=(12, 2))
    raters = sm.Raters.of([8.0, 8.0, 0.0], names=["ann", "ben", "clicker"])
    answers = sm.simulate(truth, 900, raters=raters, random_state=0)
    model = sm.RaterEmbedding(2, random_state=0).fit(answers)
    model.similarity_.save(tmp_path / "map.sim")
    again = sm.Similarity.load(tmp_path / "map.sim")
    assert sm.log_loss(again, answers) == pytest.approx(sm.log_loss(model, answers))
    assert sm.log_loss(again, answers) < sm.log_loss(replace(again, answering=None), answers)


def test_an_item_placed_later_is_in_the_map_of_every_group():
    rng = np.random.default_rng(0)
    maps = {who: rng.normal(size=(11, 2)) for who in ("ann", "ben")}

    def said(count):
        raters = {who: sm.Raters.of([9.0], names=[who]) for who in maps}
        parts = [sm.simulate(X[:count], 500, raters=raters[who], random_state=0) for who, X in maps.items()]
        return sm.Comparisons.concatenate(parts)

    known, later = said(10), said(11)
    new = later[(later.quadruplets == 10).any(1)]
    model = sm.GroupEmbedding(2, n_groups=2, random_state=0).fit(known)
    placed = model.similarity_.place(new, random_state=0)
    np.testing.assert_allclose(placed.predict_proba(known), model.predict_proba(known))
    assert placed.score(new) > 0.9  # .971 ± .014 over eight draws


def test_an_item_is_placed_by_the_weights_of_those_who_compared():
    weights, found = np.array([[1.9, 0.1], [0.1, 1.9], [1.0, 1.0]]), []
    people = Weighed(("ann", "ben"), np.ones(3), np.zeros(3), weights=weights)
    loss = sm.STE().comparison_loss()
    for draw in range(5):
        truth = np.random.default_rng([0, draw]).normal(size=(16, 2))
        known = sm.Similarity(3.0 * truth[:15], loss, answering=people)
        asked = [(15, *np.random.default_rng(k).permutation(15)[:2]) for k in range(120)]
        parts = [
            sm.simulate(truth * np.sqrt(own), questions=asked, raters=sm.Raters.of([9.0], names=[who]), random_state=0)
            for who, own in zip(people.names, weights, strict=False)
        ]
        said = sm.Comparisons.concatenate(parts)
        placed = [one.place(said, random_state=0) for one in (known, replace(known, answering=None))]
        errors = [np.linalg.norm(one.embedding[15] - 3.0 * truth[15]) for one in placed]
        found.append(errors[0] / errors[1])
    assert np.median(found) < 0.7  # .13 ± .10 of a draw, but of one far out .8


@pytest.mark.parametrize("features", [None, np.random.default_rng(0).random((12, 2))])
def test_a_model_without_dimensions_is_saved_and_loaded(features):
    c = sm.simulate(np.random.default_rng(1).random((12, 2)), 60, "odd_one_out", random_state=0)
    fitted = sm.NonNegativeEmbedding(2, n_init=1, scale=1.0, penalty=0.01, random_state=0).fit(c, features=features)
    none = fitted.with_dimensions([]).similarity_
    back = sm.Similarity.from_bytes(none.to_bytes())
    assert back.embedding.shape == (12, 0)
    assert (back.distances() == none.distances()).all()
