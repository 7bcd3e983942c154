"""Where names find room on a map."""

import numpy as np

from similitude.display.names import write_names


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


def _box(one):
    """Left, top, right and bottom of a name as it is written."""
    long = 6.8 * len(one.text)
    left = one.x - {"start": 0.0, "middle": long / 2, "end": long}[one.anchor]
    return left, one.y - 10.0, left + long, one.y + 3.0
