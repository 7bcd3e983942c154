"""Pictures on a map: none hides another, most stand at their places, and a page finds the same room as a report."""

import json

import numpy as np
import pytest

from similitude.display.thumbnails import MOST, SCRIPT, lay_out
from tests.study.conftest import browser  # noqa: F401

SIZES = {"page": (560.0, 560.0), "phone": (330.0, 360.0)}


def places(n, width, height, seed=0):
    """Items of which a third lie in a clump."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    X[: n // 3] = 0.25 * X[: n // 3] + 1
    low, high = X.min(0), X.max(0)
    return 30 + (X - low) / np.maximum(high - low, 1e-9) * [width - 60, height - 60]


@pytest.mark.parametrize("screen", SIZES)
@pytest.mark.parametrize("n", [1, 20, 60, 200, 600])
def test_no_picture_hides_another_and_each_is_near_its_place(n, screen):
    place = places(n, *SIZES[screen])
    found = lay_out(place, np.ones(n, bool), *SIZES[screen], 64.0, 16.0)
    assert 16.0 <= found.size <= 64.0
    spots = found.spots[found.shown]
    apart = np.abs(spots[:, None] - spots).max(2) + np.eye(len(spots)) * 1e9
    assert (apart >= found.size).all()
    away = np.linalg.norm(found.spots - place, axis=1)
    assert (away[found.shown & ~found.aside] == 0).all()
    assert (away[found.aside] <= 2.5 * found.size + 1e-9).all()
    assert found.shown.sum() <= MOST
    aside = found.spots[found.aside]
    assert ((aside >= found.size / 2) & (aside <= np.array(SIZES[screen]) - found.size / 2)).all()


def test_the_size_follows_the_number_and_the_nearest_distances():
    few, many = (lay_out(places(n, 560, 560), np.ones(n, bool), 560, 560, 64, 16).size for n in (8, 100))
    assert few > many
    grid = np.stack(np.meshgrid(np.arange(5), np.arange(5)), 2).reshape(-1, 2) * 100.0 + 50
    wide = lay_out(grid, np.ones(25, bool), 500, 500, 64, 16)
    near = lay_out(grid * 0.3 + 150, np.ones(25, bool), 500, 500, 64, 16)
    assert wide.size == 64
    assert not wide.aside.any()
    assert near.size < 64


def test_items_at_one_place_stand_around_it_and_what_has_no_room_is_a_dot():
    place = np.full((9, 2), 100.0)
    found = lay_out(place, np.ones(9, bool), 200, 200, 20, 20)
    assert found.shown.all()
    assert found.aside.sum() == 8
    full = lay_out(np.full((60, 2), 20.0), np.ones(60, bool), 40, 40, 20, 20)
    assert 1 <= full.shown.sum() < 9


def test_items_without_a_picture_take_no_room():
    place = np.full((3, 2), 50.0)
    found = lay_out(place, np.array([False, True, False]), 100, 100, 30, 10)
    assert found.shown.tolist() == [False, True, False]
    assert not found.aside.any()


def test_a_line_ends_at_the_edge_of_its_picture():
    found = lay_out(np.full((2, 2), 100.0), np.ones(2, bool), 200, 200, 20, 20)
    item = int(found.aside.argmax())
    end = found.edge(item, np.array([100.0, 100.0]))
    assert np.abs(found.spots[item] - end).max() == pytest.approx(10.0)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 60, 200])
def test_a_page_finds_the_same_room(browser, n):  # noqa: F811
    width, height = SIZES["page"]
    place, has_picture = places(n, width, height), np.arange(n) % 7 > 0
    found = lay_out(place, has_picture, width, height, 64.0, 16.0)
    page = browser.new_page()
    page.add_script_tag(content=SCRIPT.read_text(encoding="utf-8"))
    given = json.dumps([place.tolist(), has_picture.tolist(), width, height, 64, 16])
    there = page.evaluate(f"layOut(...{given})")
    page.close()
    assert there["size"] == pytest.approx(found.size)
    assert [spot is not None for spot in there["spots"]] == found.shown.tolist()
    spots = np.array([[spot["x"], spot["y"]] for spot in there["spots"] if spot])
    np.testing.assert_allclose(spots, found.spots[found.shown], atol=1e-6)
    assert [bool(spot and spot["aside"]) for spot in there["spots"]] == found.aside.tolist()
