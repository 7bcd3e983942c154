"""The map as ONNX: another runtime computes what `transform` does."""

import numpy as np
import pytest

import similitude as sm
from tests.export.models import mapped, placed, product
from tests.shell import run


@pytest.fixture
def onnx():
    return pytest.importorskip("onnx", reason="onnx is not installed: pip install 'similitude[onnx]'")


@pytest.fixture
def session_of(onnx):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    return lambda path: runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def test_another_runtime_gives_the_same_positions(session_of, tmp_path):
    similarity, vectors = mapped()
    sm.export.write_onnx(similarity, tmp_path / "map.onnx")
    new = np.random.default_rng(4).normal(size=(200, vectors.shape[1]))
    (found,) = session_of(tmp_path / "map.onnx").run(None, {"vectors": new.astype(np.float32)})
    wanted = similarity.transform(new)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("rows", [1, 3])
def test_any_number_of_rows_is_taken(session_of, tmp_path, rows):
    similarity, vectors = mapped()
    sm.export.write_onnx(similarity, tmp_path / "map.onnx")
    (found,) = session_of(tmp_path / "map.onnx").run(None, {"vectors": vectors[:rows].astype(np.float32)})
    assert found.shape == (rows, similarity.embedding.shape[1])


def test_the_command_writes_it_and_the_file_says_what_made_it(onnx, tmp_path):
    mapped()[0].save(tmp_path / "model.sim")
    assert "the map from vectors" in run("export", "model.sim", "map.onnx", folder=tmp_path).stdout
    model = onnx.load(str(tmp_path / "map.onnx"))
    onnx.checker.check_model(model, full_check=True)
    assert (model.producer_name, model.producer_version) == ("similitude", sm.__version__)
    assert "FeatureEmbedding" in {prop.key: prop.value for prop in model.metadata_props}["about"]


def test_a_model_without_a_linear_map_is_refused_with_the_reason(tmp_path):
    with pytest.raises(ValueError, match="found STE, which learned from answers alone"):
        sm.export.write_onnx(placed(), tmp_path / "map.onnx")
    vectors = np.random.default_rng(0).normal(size=(20, 3))
    answers = sm.simulate(vectors, 300, random_state=1)
    for given, how in ((sm.kernels.RBF(vectors), "linear"), (vectors, "fourier")):
        bent = sm.FeatureEmbedding(2, map=how, random_state=0).fit(answers, features=given)
        with pytest.raises(ValueError, match="FeatureEmbedding with a kernel, with waves"):
            sm.export.write_onnx(bent.similarity_, tmp_path / "map.onnx")
    with pytest.raises(ValueError, match="expected a model of distances, found ChoiceEmbedding of kind 'product'"):
        sm.export.write_onnx(product()[0], tmp_path / "map.onnx")
    assert list(tmp_path.iterdir()) == []
