"""The small map of a notebook: every item on it, names where there is room, sensible at any size."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

import similitude as sm
from similitude.display.cards import card, written
from similitude.display.maps import map_of
from similitude.display.places import ellipse, placed, plane

NAMES = list("abcdefghijkl")
SVG = "{http://www.w3.org/2000/svg}"


def drawn(positions, names=None, **options):
    """The map as read back from its text, and what is said below it."""
    picture, said = map_of(np.asarray(positions, float), names, **options)
    return ET.fromstring(written(picture)), said.text or ""


def points(picture):
    return np.array([[float(point.get("cx")), float(point.get("cy"))] for point in picture.iter(f"{SVG}circle")])


@pytest.mark.parametrize("n", [1, 2, 5, 60, 1000])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_every_item_is_on_the_picture_with_its_whole_name(n, d):
    names = [f"item <{k}> with a rather long name" for k in range(n)]
    picture, _ = drawn(np.random.default_rng(0).normal(size=(n, d)), names)
    _, _, width, height = map(float, picture.get("viewBox").split())
    assert (points(picture) >= 0).all()
    assert (points(picture) <= [width, height]).all()
    assert [title.text for title in picture.iter(f"{SVG}title")] == names
    assert all(len(text.text) <= 24 for text in picture.iter(f"{SVG}text"))


def test_a_map_is_drawn_to_scale_and_upright():
    positions = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    place = points(drawn(positions)[0])
    right, up = place[1] - place[0], place[2] - place[0]
    np.testing.assert_allclose(right, [-2 * up[1], 0], atol=0.3)
    assert up[1] < 0


def test_few_short_names_are_all_written_and_nothing_more_is_said():
    picture, said = drawn(np.eye(3)[:, :2], ["ant", "bee", "cow"])
    assert {text.text for text in picture.iter(f"{SVG}text")} == {"ant", "bee", "cow"}
    assert said == "The nearer, the more alike."


def test_names_are_drawn_in_the_colour_of_the_page():
    picture, _ = drawn(np.eye(3)[:, :2])
    assert {text.get("fill") for text in picture.iter(f"{SVG}text")} == {"currentColor"}
    assert "background:transparent" in picture.get("style")


def test_of_many_dimensions_the_widest_two_are_shown():
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(300, 100)) * np.r_[[9.0, 6.0], np.full(98, 0.1)]
    turned = wide @ np.linalg.qr(rng.normal(size=(100, 100)))[0]
    _, said = drawn(turned)
    assert "Of 100 dimensions" in said
    share = (wide[:, :2] - wide[:, :2].mean(0)).var() / (wide - wide.mean(0)).var() * 2 / 100
    assert f"with {share:.0%}" in said


@pytest.mark.parametrize("d", [3, 64, 65, 200])
def test_the_plane_is_that_of_the_singular_vectors(d):
    X = np.random.default_rng(d).normal(size=(80, d)) / np.arange(1, d + 1)
    _, _, axes = np.linalg.svd(X - X.mean(0), full_matrices=False)
    found = plane(X)
    np.testing.assert_allclose(np.abs(np.sum(found.T * axes[:2], axis=1)), 1.0, atol=1e-5)
    np.testing.assert_allclose(found.T @ found, np.eye(2), atol=1e-8)


@pytest.mark.parametrize("d", [1, 2, 3, 100])
def test_items_in_one_point_say_so(d):
    picture, said = drawn(np.zeros((6, d)))
    assert len(points(picture)) == 6
    assert "All items are at one point" in said


def test_a_large_map_shows_some_of_its_items():
    picture, said = drawn(np.random.default_rng(0).normal(size=(30_000, 2)))
    assert len(points(picture)) == 2000
    assert "2,000 of 30,000 items are drawn" in said
    assert len(written(picture)) < 250_000


def test_items_without_a_place_are_left_out():
    assert map_of(np.empty((0, 2)), None) == []
    assert "svg" not in card("nothing", *map_of(np.full((3, 2), np.nan), None))
    picture, _ = drawn([[0, 0], [np.nan, 1], [1, 1]], ["a", "b", "c"])
    assert [title.text for title in picture.iter(f"{SVG}title")] == ["a", "c"]


def test_ellipses_follow_the_draws_and_stay_on_the_picture():
    rng = np.random.default_rng(0)
    positions = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    steps = 0.1 * (rng.normal(size=(4000, 3, 1)) * np.array([1.0, 1.0]) + 0.1 * rng.normal(size=(4000, 3, 2)))
    draws = positions + steps
    draws[:, 2] = np.nan
    picture, said = drawn(positions, level=0.9, draws=draws)
    found = list(picture.iter(f"{SVG}ellipse"))
    assert len(found) == 2
    assert "Ellipses hold 90%" in said
    for one in found:
        long, across = float(one.get("rx")), float(one.get("ry"))
        assert long > 5 * across
        assert float(one.get("transform").split("rotate(")[1].rstrip(")")) % 180 == pytest.approx(135, abs=3)
    _, _, width, height = map(float, picture.get("viewBox").split())
    reach = max(float(one.get("rx")) for one in found) / np.sqrt(2)
    assert (points(picture)[:2] - reach >= 0).all()
    assert (points(picture)[:2] + reach <= [width, height]).all()


def test_in_one_dimension_bars_hold_where_else_items_may_stand():
    positions = np.array([[0.0], [1.0], [3.0]])
    draws = positions + 0.1 * np.random.default_rng(0).normal(size=(4000, 3, 1))
    picture, said = drawn(positions, level=0.9, draws=draws)
    assert "Bars hold 90%" in said
    assert not list(picture.iter(f"{SVG}ellipse"))
    unit = (points(picture)[2] - points(picture)[0])[0] / 3
    for one in picture.iter(f"{SVG}rect"):
        assert float(one.get("width")) == pytest.approx(2 * 1.645 * 0.1 * unit, rel=0.07)  # a tenth: ± 1.1 %, six times
        assert float(one.get("height")) > 8
    assert len(list(picture.iter(f"{SVG}rect"))) == 3


def test_half_axes_are_standard_deviations():
    assert ellipse(np.diag([4.0, 1.0]), 3.0)[:2] == pytest.approx((6.0, 3.0))


def test_what_is_around_positions_is_on_the_picture():
    place, unit, height = placed(np.array([[0.0, 0.0], [1.0, 1.0]]), 100.0, 10.0, around=np.array([[1, 0], [0, 0]]))
    assert place[0, 0] - unit == pytest.approx(10.0)
    assert height == pytest.approx(60.0)


@pytest.fixture(scope="module")
def products():
    """Non-negative vectors, whose products compare items; and a picture of products of features."""
    features = np.random.default_rng(0).normal(size=(12, 3))
    answers = sm.simulate(features, 400, names=NAMES, sharpness=3.0, random_state=1)
    vectors = sm.NonNegativeEmbedding(3, random_state=0).fit(answers)
    ranked = sm.DRankingVM(pair_kernel="product").fit(answers, features=features)
    return vectors.similarity_, ranked.similarity_


def test_a_map_of_vectors_says_that_their_products_compare_items(products):
    similarity, ranked = products
    card = similarity._repr_html_()
    assert "items that point the same way are alike" in card
    assert "the nearer" not in card.lower()
    assert "Map of 12 items: those that point the same way are alike" in card
    assert ranked.kind == similarity.kind == "product"
    assert "The nearer, the more alike." in ranked._repr_html_()  # its picture is a map, whose distances stand for d
