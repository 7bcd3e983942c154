"""Where names find room on a map."""

import numpy as np
import pytest

from similitude.display.names import guessed_width, write_names
from similitude.plot.sheet import text_widths


def test_names_on_the_map_cover_nothing_and_stay_inside():
    rng = np.random.default_rng(0)
    place = np.column_stack([rng.uniform(0, 720, 90), rng.uniform(0, 400, 90)])
    names = ["a rather long name that is cut" if k % 3 == 0 else f"item {k}" for k in range(90)]
    written = write_names(place, names, 720.0, 400.0)
    boxes = np.array([_box(one) for one in written if one.shown])
    assert 30 < len(boxes) < 90
    assert (boxes[:, :2] >= 0).all()
    assert (boxes[:, 2:] <= [720, 400]).all()
    left, top, right, bottom = boxes.T[:, :, None]
    over = (left < boxes[:, 2]) & (boxes[:, 0] < right) & (top < boxes[:, 3]) & (boxes[:, 1] < bottom)
    assert (over == np.eye(len(boxes), dtype=bool)).all()
    x, y = place.T
    assert not ((left < x) & (x < right) & (top < y) & (y < bottom)).any()
    assert written[0].text == "a rather long name that…"


def test_a_name_without_room_beside_its_point_stands_apart_with_a_line():
    rng = np.random.default_rng(1)
    place = np.array([360.0, 200.0]) + 16 * rng.normal(size=(14, 2))
    names = [f"a longer name {k}" for k in range(14)]
    alone = write_names(place, names, 720.0, 400.0)
    lined = write_names(place, names, 720.0, 400.0, lines=True)
    assert sum(one.shown for one in alone) + 3 <= sum(one.shown for one in lined)
    boxes = np.array([_box(one) for one in lined if one.shown])
    left, top, right, bottom = boxes.T[:, :, None]
    x, y = place.T
    assert not ((left < x) & (x < right) & (top < y) & (y < bottom)).any()
    for one, point in zip(lined, place, strict=True):
        if one.shown and one.line is not None:
            assert np.hypot(*(point - one.line[:2])) < 5
            assert np.hypot(*(point - one.line[2:])) > 13


def test_no_more_names_than_wanted_and_every_region_has_one():
    place = np.concatenate([np.random.default_rng(k).normal(size=(30, 2)) * 20 + at for k, at in enumerate(CORNERS)])
    written = write_names(place, [f"item {k}" for k in range(120)], 720.0, 400.0, most=8)
    shown = [k for k, one in enumerate(written) if one.shown]
    assert len(shown) == 8
    assert {k // 30 for k in shown} == {0, 1, 2, 3}


CORNERS = ([100.0, 80.0], [620.0, 80.0], [100.0, 320.0], [620.0, 320.0])


def _box(one):
    """Left, top, right and bottom of a name as it is written."""
    long = 6.8 * len(one.text)
    left = one.x - {"start": 0.0, "middle": long / 2, "end": long}[one.anchor]
    return left, one.y - 10.0, left + long, one.y + 3.0


@pytest.mark.parametrize(
    "text", ["#d1413c", "WWF", "illicit", "Raspberry Buttermilk Ca…", "naïve & co", "item 07", "Ω-shaped"]
)
def test_a_name_is_never_much_wider_than_it_was_taken_for(text):
    wide = float(text_widths([text], 12.0)[0])  # in DejaVu, a wide font
    assert wide <= 1.03 * guessed_width(text, 12.0)
    assert guessed_width(text, 12.0) <= 1.7 * wide
