"""A served model says what the model says, describes itself, refuses what it must, and tells how long it took."""

import json

import numpy as np
import pytest

import similitude as sm
from tests.export.models import mapped, placed, product

PATHS = ("/transform", "/neighbors", "/predict")


@pytest.fixture
def client(client_of):
    return client_of(mapped()[0])


def test_positions_are_those_of_transform(client):
    similarity, vectors = mapped()
    said = client.post("/transform", json={"vectors": vectors[:7].tolist()}).json()
    np.testing.assert_allclose(said["positions"], similarity.transform(vectors[:7]), rtol=1e-12)


def test_neighbours_of_items_are_those_of_the_model_with_their_distances(client):
    similarity, _ = mapped()
    said = client.post("/neighbors", json={"items": ["item 3", "item 9"], "k": 4}).json()["neighbors"]
    for item, row in zip(("item 3", "item 9"), said, strict=True):
        assert [one["item"] for one in row] == similarity.neighbors(item, 4)
        wanted = similarity.pair_distance([(item, one["item"]) for one in row])
        np.testing.assert_allclose([one["distance"] for one in row], wanted, rtol=1e-6)


def test_neighbours_of_vectors_are_those_of_the_model(client):
    similarity, vectors = mapped()
    new = vectors[:3] + 0.1
    said = client.post("/neighbors", json={"vectors": new.tolist(), "k": 3}).json()["neighbors"]
    assert [[one["item"] for one in row] for row in said] == [similarity.neighbors(vector, 3) for vector in new]


def test_dissimilarities_that_are_no_distances_are_called_so(client_of):
    similarity, _ = product()
    client = client_of(similarity)
    (row,) = client.post("/neighbors", json={"items": [0], "k": 2}).json()["neighbors"]
    assert [one.keys() for one in row] == [{"item", "dissimilarity"}] * 2
    assert [one["item"] for one in row] == similarity.neighbors(0, 2)
    assert client.get("/").json()["kind"] == "product"


def test_neighbours_in_several_parts_are_those_in_one(client, monkeypatch):
    asked = {"items": [f"item {k}" for k in range(12)], "k": 3}
    whole = client.post("/neighbors", json=asked).json()
    monkeypatch.setattr("similitude.serving.served_model._AT_ONCE", 100)  # two items of forty at a time
    parts = client.post("/neighbors", json=asked).json()
    assert [[one["item"] for one in row] for row in parts["neighbors"]] == [
        [one["item"] for one in row] for row in whole["neighbors"]
    ]


def test_predictions_are_those_of_the_model(client):
    similarity, _ = mapped()
    rows = [["item 1", "item 2", "item 3"], ["item 4", "item 5", "item 6"]]
    said = client.post("/predict", json={"comparisons": rows}).json()
    c = sm.Comparisons.from_triplets(rows)
    assert said["nearer"] == similarity.predict(c).tolist()
    np.testing.assert_allclose(said["probability"], similarity.predict_proba(c)[:, 1], rtol=1e-12)


def test_pairs_without_a_head_and_items_by_position_are_taken(client):
    similarity, _ = mapped()
    place = {name: k for k, name in enumerate(similarity.names)}
    by_name = client.post("/predict", json={"comparisons": [["item 1", "item 2", "item 3", "item 4"]]}).json()
    row = [place[name] for name in ("item 1", "item 2", "item 3", "item 4")]
    assert client.post("/predict", json={"comparisons": [row]}).json() == by_name
    assert client.post("/predict", json={"comparisons": [["item 1", *row[1:]]]}).json() == by_name


def test_a_number_is_no_item_where_names_are_numbers(client_of):
    model = sm.STE(1, random_state=0).fit(sm.simulate(np.arange(5.0)[:, None], 90, names=list("12345"), random_state=0))
    client = client_of(model.similarity_)
    said = client.post("/neighbors", json={"items": [2], "k": 1})
    assert (said.status_code, said.json()["detail"][:49]) == (422, "items: 2 may be a name or the position of '3', si")
    assert client.post("/neighbors", json={"items": ["2"], "k": 1}).status_code == 200


def test_a_model_of_answers_alone_says_that_it_takes_no_vectors(client_of):
    client = client_of(placed())
    assert client.get("/").json()["vectors"] is None
    said = client.post("/transform", json={"vectors": [[1.0, 2.0]]})
    assert said.status_code == 422
    assert "has no map from vectors" in said.json()["detail"]
    assert (
        client.post("/neighbors", json={"items": [4], "k": 2}).json()["neighbors"][0][0]["item"]
        == (placed().neighbors(4, 2)[0])
    )


def test_a_loss_without_a_probability_tells_none(client_of):
    vectors = np.random.default_rng(0).normal(size=(10, 2))
    similarity = sm.SOE(2, random_state=0).fit(sm.simulate(vectors, 200, random_state=0)).similarity_
    said = client_of(similarity).post("/predict", json={"comparisons": [[0, 1, 2]]}).json()
    assert said["probability"] is None
    assert said["nearer"] == similarity.predict([[0, 1, 2]]).tolist()


@pytest.mark.parametrize(
    ("path", "body", "says"),
    [
        ("/transform", {"vectors": [[1.0, 2.0]]}, "expected rows of 12 numbers, found 2"),
        ("/transform", {"vectors": []}, "vectors"),
        ("/transform", {"vectors": [["one"] * 12]}, "vectors.0.0"),
        ("/transform", {"rows": [[1.0]]}, "vectors"),
        ("/neighbors", {"items": ["nobody"]}, "'nobody' is not among the items"),
        ("/neighbors", {"items": [True]}, "items.0"),
        ("/neighbors", {"vectors": [[0.0] * 12, [1e200] * 12]}, "row 1 holds a number beyond 1e+100"),
        ("/transform", {"vectors": [[1e308] * 12]}, "row 0 holds a number beyond 1e+100"),
        ("/neighbors", {"items": [40]}, "expected a position from 0 to 39, found 40"),
        ("/neighbors", {"items": ["item 1"], "vectors": [[0.0] * 12]}, "either items or vectors"),
        ("/neighbors", {}, "either items or vectors"),
        ("/neighbors", {"items": ["item 1"], "k": 40}, "expected 1 to 39 neighbours, found 40"),
        ("/predict", {"comparisons": [["item 1", "item 2"]]}, "comparisons.0"),
        ("/predict", {"comparisons": [["item 1", "item 1", "item 2"]]}, "compares an item with itself"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(client, path, body, says):
    said = client.post(path, json=body)
    assert said.status_code == 422
    assert says in said.json()["detail"]


def test_a_request_in_another_way_has_a_code_like_every_fault(client):
    asked = client.get("/neighbors")
    assert (asked.status_code, asked.json()["code"]) == (405, "method_not_allowed")
    assert "use POST" in asked.json()["detail"]
    assert client.get("/nowhere").json()["code"] == "not_found"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b'{"vectors": [[NaN]]}', b"[1, 2]", b"[" * 5000])
@pytest.mark.parametrize("path", PATHS)
def test_what_is_no_request_is_refused_and_nothing_breaks(client, path, body):
    assert client.post(path, content=body).status_code == 422


async def in_pieces():
    """A body that does not say how long it is."""
    for _ in range(6):
        yield b" " * 4000


def test_large_requests_are_refused_by_rows_and_by_bytes(client_of):
    client = client_of(mapped()[0], most_rows=5, body_bytes=20_000)
    said = client.post("/neighbors", json={"items": ["item 1"] * 6, "k": 1})
    assert said.status_code == 422
    assert "items: expected at most 5 rows, found 6; send them in parts" in said.json()["detail"]
    assert client.post("/transform", content=b" " * 20_001).status_code == 413
    assert client.post("/transform", content=in_pieces()).status_code == 413


def test_a_reply_has_a_largest_size_too(client, monkeypatch):
    monkeypatch.setattr("similitude.serving.served_model._MOST_NEIGHBORS", 20)
    assert client.post("/neighbors", json={"items": [0, 1], "k": 10}).status_code == 200
    said = client.post("/neighbors", json={"items": [0, 1, 2], "k": 10})
    assert "at most 20 neighbours of all rows together" in said.json()["detail"]


def test_a_batch_in_a_thread_is_answered_like_a_small_one(client):
    similarity, vectors = mapped()
    many = np.tile(vectors, (20, 1))
    body = json.dumps({"vectors": many.tolist()})
    assert len(body) > 65_536
    said = client.post("/transform", content=body).json()
    np.testing.assert_allclose(said["positions"], similarity.transform(many), rtol=1e-9)


def packed(client, body):
    return client.post("/transform", content=body, headers={"content-type": "application/octet-stream"})


def test_packed_vectors_give_packed_positions(client):
    similarity, vectors = mapped()
    said = packed(client, vectors[:9].astype("<f4").tobytes())
    assert said.headers["content-type"] == "application/octet-stream"
    positions = np.frombuffer(said.content, "<f4").reshape(9, -1)
    wanted = similarity.transform(vectors[:9])
    np.testing.assert_allclose(positions, wanted, rtol=0, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("size", [0, 4, 12 * 4 + 1, 12 * 4 * 6])
def test_packed_vectors_of_another_size_are_refused(client_of, size):
    said = packed(client_of(mapped()[0], most_rows=5), bytes(size))
    assert said.status_code == 422
    assert "body: expected" in said.json()["detail"]


def test_packed_vectors_are_refused_where_there_is_no_map_or_a_number_is_none(client_of, client):
    assert "takes no tables of vectors" in packed(client_of(placed()), bytes(48)).json()["detail"]
    half = np.ones((1, 12), "<f4")
    half[0, 3] = np.nan
    assert packed(client, half.tobytes()).status_code == 422


def test_it_describes_itself(client):
    described = client.get("/openapi.json").json()
    assert {"/", "/health", "/stats", *PATHS} == set(described["paths"])
    for path in PATHS:
        post = described["paths"][path]["post"]
        schema = post["requestBody"]["content"]["application/json"]["schema"]
        assert schema["properties"]
        assert post["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].startswith("#/components/")
    assert client.get("/health").json() == {"status": "ok"}
    _, vectors = mapped()
    about = client.get("/").json()
    assert (about["method"], about["items"], about["vectors"]) == ("FeatureEmbedding", 40, vectors.shape[1])


def test_waits_and_refusals_are_counted(client):
    for _ in range(4):
        client.post("/neighbors", json={"items": ["item 1"], "k": 1})
    client.post("/neighbors", json={})
    client.post("/made-up", json={})
    figures = client.get("/stats").json()
    assert set(figures) == {"/neighbors"}
    assert (figures["/neighbors"]["requests"], figures["/neighbors"]["refused"]) == (5, 1)
    assert 0 < figures["/neighbors"]["p50_ms"] <= figures["/neighbors"]["p99_ms"]


def test_percentiles_are_those_of_the_last_waits():
    from similitude.serving.waits import Waits

    waits = Waits()
    for wait in [*[9.0] * 10_000, *np.arange(10_000) / 1e6]:
        waits.add("/predict", wait, 200)
    figures = waits.figures()["/predict"]
    assert figures["requests"] == 20_000
    assert figures["p50_ms"] == pytest.approx(5.0, abs=0.01)
    assert figures["p99_ms"] == pytest.approx(9.9, abs=0.01)
