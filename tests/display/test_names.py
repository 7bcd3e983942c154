"""Where names find room on a map."""

import numpy as np
import pytest

from similitude.display.key import MOST_ENTRIES, label, marks_for
from similitude.display.names import NEAR_LINES, guessed_width, write_names
from similitude.display.room import MapRoom
from similitude.plot.sheet import text_widths


def test_names_on_the_map_cover_nothing_and_stay_inside():
    rng = np.random.default_rng(0)
    place = np.column_stack([rng.uniform(0, 720, 90), rng.uniform(0, 400, 90)])
    names = ["a rather long name that is cut" if k % 3 == 0 else f"item {k}" for k in range(90)]
    written = write_names(MapRoom(place, 4.5, 720.0, 400.0), names)
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
    names, more = [f"a longer name {k}" for k in range(14)], []
    for draw in range(12):
        place = np.array([360.0, 200.0]) + 16 * np.random.default_rng([1, draw]).normal(size=(14, 2))
        alone = write_names(MapRoom(place, 4.5, 720.0, 400.0), names)
        lined = write_names(MapRoom(place, 4.5, 720.0, 400.0), names, lines=NEAR_LINES)
        more.append(sum(one.shown for one in lined) - sum(one.shown for one in alone))
        boxes = np.array([_box(one) for one in lined if one.shown])
        left, top, right, bottom = boxes.T[:, :, None]
        x, y = place.T
        assert not ((left < x) & (x < right) & (top < y) & (y < bottom)).any()
        for one, point in zip(lined, place, strict=True):
            if one.shown and one.line is not None:
                assert np.hypot(*(point - one.line[:2])) < 5
                assert np.hypot(*(point - one.line[2:])) > 13
    assert np.mean(more) > 0.3  # 2.6 ± 0.55 of twelve


@pytest.mark.parametrize("draw", [0, 121])  # of the second the first items of one region find no room
def test_no_more_names_than_wanted_and_every_region_has_one(draw):
    rngs = [np.random.default_rng([k, draw]) for k in range(4)]
    place = np.concatenate([rng.normal(size=(30, 2)) * 20 + at for rng, at in zip(rngs, CORNERS, strict=True)])
    written = write_names(MapRoom(place, 4.5, 720.0, 400.0), [f"item {k}" for k in range(120)], most=8)
    shown = [k for k, one in enumerate(written) if one.shown]
    assert len(shown) == 8
    assert {k // 30 for k in shown} == {0, 1, 2, 3}


@pytest.mark.parametrize(("count", "spread"), [(40, 160.0), (70, 90.0), (200, 120.0)])
def test_no_label_can_be_taken_for_another_items(count, spread):
    place = np.array([360.0, 200.0]) + spread * np.random.default_rng(count).normal(size=(count, 2)) * [1.0, 0.5]
    place = np.clip(place, 6.0, [714.0, 394.0])
    labels = label(MapRoom(place, 4.5, 720.0, 400.0), [f"a thing {k}" for k in range(count)], 8.5)
    lines = [(k, one.line) for some in (labels.names, labels.marks) for k, one in enumerate(some) if _led(one)]
    assert lines or count != 70  # 13 ± 3 of seventy; of forty often none, of two hundred in one draw of sixty
    for k, line in lines:
        others = np.delete(place, k, axis=0)
        steps = np.linspace(line[:2], line[2:], 200)
        assert np.linalg.norm(steps[:, None] - others, axis=2).min() > 4.5
        assert np.hypot(*(np.array(line[2:]) - line[:2])) < 60
    for size, some in ((12.0, labels.names), (8.5, labels.marks)):
        for k, one in enumerate(some):
            if one.shown and one.text and one.line is None:
                nearest = place[np.argmin(_away(one, size, place))]
                assert np.hypot(*(nearest - place[k])) <= 0.25 * 4.5  # points so near are seen as one
    for k, (a, first) in enumerate(lines):
        assert not any(_cross(first, other) for b, other in lines[k + 1 :] if a != b)


def _led(one):
    return one.shown and one.text and one.line is not None


def _away(one, size, place):
    """How far points are from a name as it is written."""
    long = guessed_width(one.text, size)
    left = one.x - {"start": 0.0, "middle": long / 2, "end": long}[one.anchor]
    nearest = np.clip(place, [left, one.y - 0.8 * size], [left + long, one.y + 0.25 * size])
    return np.linalg.norm(place - nearest, axis=1)


def _cross(a, b):
    """Whether two lines cross, by solving for where."""
    a, b = np.array(a), np.array(b)
    steps = np.stack([a[2:] - a[:2], b[:2] - b[2:]], axis=1)
    if abs(np.linalg.det(steps)) < 1e-9:
        return False
    return bool(((along := np.linalg.solve(steps, b[:2] - a[:2])) > 0).all() and (along < 1).all())


@pytest.mark.parametrize(
    "names",
    [
        [str(k) for k in range(150)],
        [f"item {k}" for k in range(149)] + ["3.5"],
        [*map(str, range(120)), *"abcdefghijklmnopqrstuvwxyz"],
        [*map(str, range(120)), *"ABC", "(b)"],
    ],
)
def test_no_mark_of_a_key_is_a_name(names):
    place = np.random.default_rng(2).normal(size=(len(names), 2)) * 30 + [360.0, 200.0]
    labels = label(MapRoom(place, 4.5, 720.0, 400.0), names, 8.5)
    marks = [mark for _, mark in labels.key]
    assert labels.kind == "letters"
    assert 1 < len(marks) == len(set(marks)) <= MOST_ENTRIES  # 16 ± 2.8, of the last 11.6 ± 2.4
    assert not {name.casefold() for name in names} & set(marks)
    assert [mark for _, mark in labels.key] == [labels.marks[k].text for k, _ in labels.key]
    assert len(marks) + labels.bare + sum(one.shown for one in labels.names) == len(names)


def test_marks_are_numbers_where_no_name_is_one():
    assert marks_for(["car 1", "car 2"], 3) == ("numbers", ["1", "2", "3"])
    assert marks_for(["1", "1 x"], 28)[1][-3:] == ["z", "aa", "ab"]


CORNERS = ([100.0, 80.0], [620.0, 80.0], [100.0, 320.0], [620.0, 320.0])


def _box(one):
    """Left, top, right and bottom of a name as it is written."""
    long = guessed_width(one.text, 12.0)
    left = one.x - {"start": 0.0, "middle": long / 2, "end": long}[one.anchor]
    return left, one.y - 10.0, left + long, one.y + 3.0


@pytest.mark.parametrize(
    "text", ["#d1413c", "WWF", "illicit", "Raspberry Buttermilk Ca…", "naïve & co", "item 07", "Ω-shaped"]
)
def test_a_name_is_never_much_wider_than_it_was_taken_for(text):
    wide = float(text_widths([text], 12.0)[0])  # in DejaVu, a wide font
    assert wide <= 1.03 * guessed_width(text, 12.0)
    assert guessed_width(text, 12.0) <= 1.7 * wide
