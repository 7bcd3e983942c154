"""Everything that was learned is in the file: answers before and after are the same, where there is numpy alone."""

import json
import subprocess
import sys

import numpy as np
import pytest

import similitude as sm
from tests.contracts.registry import ESTIMATORS
from tests.contracts.saved_models import MODELS
from tests.seeds import cached

HEAVY = ("scipy", "sklearn", "numba", "pandas", "joblib", "threadpoolctl", "matplotlib", "PIL", "typer", "rich")

# What a process asks that has numpy alone. It gets answers as plain columns, so that nothing is drawn twice.
ASKED = """
import json, pathlib, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HEAVY:
            raise ModuleNotFoundError(f"{name} is not there", name=name)

HEAVY = set(sys.argv[2].split(","))
sys.meta_path.insert(0, Blocked())
import numpy as np
import similitude as sm

folder, found = pathlib.Path(sys.argv[1]), {}
for question in sorted(folder.glob("*.json")):
    asked = json.loads(question.read_text(encoding="utf-8"))
    model = sm.Similarity.load(question.with_suffix(".sim"))
    answers = sm.Comparisons.from_triplets(asked["triplets"], rater=asked["rater"])
    vectors = asked["vectors"]
    key = question.stem
    found[f"{key} score"] = model.score(answers)
    found[f"{key} predict"] = model.predict(answers)
    found[f"{key} distances"] = model.distances()
    if model.has_probability:
        found[f"{key} predict_proba"] = model.predict_proba(answers)
    if vectors is not None:
        found[f"{key} transform"] = model.transform(vectors)
        found[f"{key} vector distances"] = model.distances(vectors, vectors)
np.savez(folder / "found.npz", **found)
"""


@cached
def fitted(name):
    return MODELS[name]()


def as_plain(vectors):
    """Vectors as JSON has them."""
    if isinstance(vectors, dict):
        return {key: as_plain(value) for key, value in vectors.items()}
    return [as_plain(one) for one in vectors] if isinstance(vectors, (list, tuple)) else np.asarray(vectors).tolist()


def question(name):
    _, c, vectors = fitted(name)
    few = c[:: len(c) // 100]
    label = few.names.__getitem__ if few.names else int
    rater = [str(who) for who in few.answers.rater.values[few.answer]] if few.answers.rater.labels else None
    triplets = [[label(i) for i in row] for row in few.triplets.tolist()]
    return {"triplets": triplets, "rater": rater, "vectors": None if vectors is None else as_plain(vectors)}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What a process with numpy alone says of all models, each loaded from its file."""
    folder = tmp_path_factory.mktemp("saved")
    for k, name in enumerate(MODELS):
        fitted(name)[0].similarity_.save(folder / f"{k}.sim")
        (folder / f"{k}.json").write_text(json.dumps(question(name)), encoding="utf-8")
    command = [sys.executable, "-c", ASKED, str(folder), ",".join(HEAVY)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with np.load(folder / "found.npz") as said:
        return dict(said)


@pytest.mark.parametrize("name", MODELS)
def test_saved_loaded_with_numpy_alone_and_asked_again(name, found):
    model, _, vectors = fitted(name)
    asked, key = question(name), list(MODELS).index(name)
    answers = sm.Comparisons.from_triplets(asked["triplets"], rater=asked["rater"])
    said = {what.partition(" ")[2]: value for what, value in found.items() if what.startswith(f"{key} ")}
    expected = {"score": model.score(answers), "predict": model.predict(answers), "distances": model.distances()}
    if model.has_probability:
        expected["predict_proba"] = model.predict_proba(answers)
    if vectors is not None:
        expected["transform"] = model.similarity_.transform(vectors)
        expected["vector distances"] = model.distances(vectors, vectors)
    assert said.keys() == expected.keys()
    for what, value in expected.items():
        np.testing.assert_allclose(said[what], value, rtol=1e-9, atol=1e-9, err_msg=what)


@pytest.mark.parametrize("name", MODELS)
def test_the_estimator_and_its_similarity_say_the_same(name):
    model, c, vectors = fitted(name)
    assert model.score(c) == model.similarity_.score(c)
    assert np.array_equal(model.predict(c), model.similarity_.predict(c))
    if model.has_probability:
        assert np.array_equal(model.predict_proba(c), model.similarity_.predict_proba(c))
    if vectors is not None and hasattr(model, "transform"):
        assert np.array_equal(model.transform(vectors), model.similarity_.transform(vectors))


@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith("AutoSimilarity")])
def test_what_a_file_says_of_how_it_was_made(name):
    about = sm.Similarity.from_bytes(fitted(name)[0].similarity_.to_bytes()).about
    assert about["method"] in ESTIMATORS
    assert set(about["versions"]) == {"similitude", "numpy", "python"}
    if about["method"] not in ("ERKLE", "OnlineEmbedding"):  # streams, which keep no answers to take a digest of
        assert about["data"]["digest"].startswith("sha256:")
