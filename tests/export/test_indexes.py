"""Indexes of other libraries: they find the neighbours that the model has."""

import numpy as np
import pytest

import similitude as sm
from similitude.extras import EXTRAS
from tests.export.models import mapped, placed
from tests.shell import run

LIBRARIES = {"faiss": ".faiss", "hnswlib": ".hnsw", "annoy": ".ann"}


@pytest.fixture(params=LIBRARIES)
def library(request):
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    return request.param


def found(library, index, positions, k):
    """The nearest k of each position, as each library is asked."""
    positions = np.asarray(positions, np.float32)
    if library == "faiss":
        return index.search(positions, k)[1]
    if library == "hnswlib":
        return index.knn_query(positions, k)[0]
    return np.array([index.get_nns_by_vector(position, k) for position in positions])


def share_of_neighbours(library, index, similarity, k=6):
    """Of the nearest of each item, how many the index finds; the item itself is the first."""
    nearest = np.argsort(similarity.distances(), axis=1, kind="stable")[:, :k]
    rows = found(library, index, similarity.embedding, k)
    return np.mean([len(set(row) & set(wanted)) / k for row, wanted in zip(rows, nearest, strict=True)])


def test_items_have_the_neighbours_of_the_model(library):
    similarity = placed()
    share = share_of_neighbours(library, sm.export.build_index(similarity, library), similarity)
    assert share == 1.0 if library == "faiss" else share > 0.95  # the others are approximate by design


def test_a_new_vector_is_found_through_the_map(library):
    similarity, vectors = mapped()
    index = sm.export.build_index(similarity, library)
    nearest = found(library, index, similarity.transform(vectors[7:8] + 1e-6), 1)
    assert similarity.names[int(nearest[0][0])] == similarity.neighbors(vectors[7] + 1e-6, 1)[0]


def read(library, path, width):
    if library == "faiss":
        return __import__("faiss").read_index(str(path))
    if library == "hnswlib":
        index = __import__("hnswlib").Index(space="l2", dim=width)
        index.load_index(str(path))
        index.set_ef(100)
        return index
    index = __import__("annoy").AnnoyIndex(width, "euclidean")
    index.load(str(path))
    return index


def test_the_command_writes_a_file_that_the_library_reads(library, tmp_path):
    placed().save(tmp_path / "model.sim")
    file = f"items{LIBRARIES[library]}"
    said = run("export", "model.sim", file, folder=tmp_path).stdout
    assert f"an index of 30 items for {library}" in said
    index = read(library, tmp_path / file, 3)
    assert share_of_neighbours(library, index, placed()) > 0.95


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_that_is_missing_is_named(library, monkeypatch):
    monkeypatch.setitem(EXTRAS, library, (f"no_{library}",))
    with pytest.raises(ModuleNotFoundError, match=rf'an index of {library} needs .* "similitude\[{library}\]"'):
        sm.export.build_index(placed(), library)


def test_what_is_no_distance_has_no_index():
    vectors = np.random.default_rng(0).normal(size=(12, 3))
    model = sm.DRankingVM()
    model.fit(sm.simulate(vectors, 200, random_state=0), features=vectors)
    with pytest.raises(ValueError, match="expected a model of distances"):
        sm.export.build_index(model.similarity_)
