import os

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.text import Text

import similitude as sm
from similitude.methods.scaling import project


@pytest.fixture(scope="module")
def model():
    truth = np.random.default_rng(0).normal(size=(12, 2))
    names = [f"thing number {k}" for k in range(12)]
    return sm.STE(2, random_state=0).fit(sm.simulate(truth, 800, names=names, random_state=1))


def points(axes):
    return np.concatenate([np.asarray(part.get_offsets()) for part in axes.collections])


def test_items_stand_where_the_model_puts_them(model):
    axes = sm.plot.embedding(model, labels=False)
    shown = points(axes)
    drawn = np.linalg.norm(shown[:, None] - shown, axis=-1)
    np.testing.assert_allclose(drawn, model.distances(), atol=1e-6)
    assert axes.get_aspect() == 1.0


def test_draws_in_given_axes_and_takes_similarities_and_arrays(model):
    given = plt.subplots()[1]
    assert sm.plot.embedding(model.similarity_, ax=given) is given
    assert len(points(sm.plot.embedding(np.random.default_rng(0).normal(size=(5, 3))))) == 5


def test_labels_do_not_overlap(model):
    crowded = sm.Similarity(0.2 * model.embedding_ + [0, 0], model.comparison_loss(), model.similarity_.names)
    axes = sm.plot.embedding(crowded)
    axes.figure.canvas.draw()
    boxes = [Text.get_window_extent(text) for text in axes.texts if text.get_text()]
    assert len(boxes) >= 11
    overlaps = [(a, b) for k, a in enumerate(boxes) for b in boxes[k + 1 :] if a.overlaps(b)]
    assert not overlaps


def test_many_items_are_not_labelled_unless_asked(model):
    names = tuple(f"n{k}" for k in range(100))
    many = sm.Similarity(np.random.default_rng(0).normal(size=(100, 2)), model.comparison_loss(), names)
    assert not sm.plot.embedding(many).texts
    own = sm.plot.embedding(model, labels=[f"own {k}" for k in range(12)])
    assert {text.get_text() for text in own.texts} >= {"own 0", "own 11"}


def test_classes_come_by_their_number_as_on_the_page_of_a_report(model):
    axes = sm.plot.embedding(model, classes=["few", *["many"] * 8, *["some"] * 3], labels=False)
    assert axes.get_legend_handles_labels()[1] == ["many", "some", "few"]


def test_classes_have_a_legend_and_safe_colours(model):
    classes = ["cat", "dog", "bird"] * 4
    axes = sm.plot.embedding(model, classes=classes, labels=False)
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["cat", "dog", "bird"]
    colours = {tuple(part.get_facecolor()[0]) for part in axes.collections}
    assert len(colours) == 3
    assert len({part.get_paths()[0].to_polygons()[0].tobytes() for part in axes.collections}) == 3  # markers, too


def test_new_items_are_hollow(model):
    axes = sm.plot.embedding(model, new=["thing number 3", "thing number 5"], labels=False)
    hollow = [part for part in axes.collections if not len(part.get_facecolor())]
    assert len(hollow) == 1
    assert len(hollow[0].get_offsets()) == 2
    assert axes.get_legend().get_texts()[0].get_text() == "not compared"


def test_pictures_by_name_path_and_array(model, tmp_path):
    pixels = np.random.default_rng(0).random((20, 30, 3))
    plt.imsave(tmp_path / "a.png", pixels)
    images = {"thing number 0": tmp_path / "a.png", "thing number 1": pixels}
    axes = sm.plot.embedding(model, images=images, labels=False)
    boxes = [child for child in axes.get_children() if type(child).__name__ == "AnnotationBbox"]
    assert len(boxes) == 2
    assert len(axes.collections[-1].get_offsets()) == 10


def test_numbers_give_a_colour_scale(model):
    axes = sm.plot.embedding(model, colors=np.arange(12.0), labels=False)
    assert len({tuple(colour) for colour in axes.collections[0].to_rgba(np.arange(12.0))}) == 12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classes": ["a"]}, "classes: expected one class per item"),
        ({"colors": ["red"]}, "colors: expected one colour per item"),
        ({"labels": ["a"]}, "labels: expected one per item"),
        ({"images": [None]}, "images: expected one per item"),
        ({"projection": "magic"}, "projection: expected"),
        ({"new": ["nothing"]}, "'nothing' is not among"),
    ],
)
def test_bad_options_are_named(model, options, message):
    with pytest.raises(ValueError, match=message):
        sm.plot.embedding(model, **options)


def test_an_unfitted_or_broken_model_is_refused():
    with pytest.raises(ValueError, match="finite positions"):
        sm.plot.embedding(np.array([[np.nan, 1.0], [0.0, 1.0]]))


def test_save_for_print(model, tmp_path):
    axes = sm.plot.embedding(model, labels=False)
    sm.plot.save(axes, tmp_path / "new" / "map.png")
    pixels = plt.imread(tmp_path / "new" / "map.png")
    assert pixels.shape[1] > 1200
    sm.plot.save(axes, tmp_path / "map.pdf")
    assert (tmp_path / "map.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(ValueError, match=r"cannot be saved as \.xyz"):
        sm.plot.save(axes, tmp_path / "map.xyz")


def test_projection_keeps_what_it_should():
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(20, 2))
    turned = flat @ np.linalg.qr(rng.normal(size=(5, 5)))[0][:2]
    shown = project(turned)
    distance = np.linalg.norm(flat[:, None] - flat, axis=-1)
    np.testing.assert_allclose(np.linalg.norm(shown[:, None] - shown, axis=-1), distance, atol=1e-9)
    assert project(rng.normal(size=(6, 1))).shape == (6, 2)
    clusters = np.repeat(np.eye(5) * 10, 10, axis=0) + 0.1 * rng.normal(size=(50, 5))
    apart = project(clusters, "tsne")
    nearest = np.argsort(np.linalg.norm(apart[:, None] - apart, axis=-1), axis=1)[:, 1:6]
    assert (nearest // 10 == np.arange(50)[:, None] // 10).mean() > 0.95


def boxes_of(axes):
    """Where names stand, in dots of the figure, without the lines to them."""
    axes.figure.canvas.draw()
    return {text.get_text(): Text.get_window_extent(text) for text in axes.texts if text.get_text()}


@pytest.mark.parametrize("width", [89.0, 183.0])
def test_a_map_for_a_journal_has_its_width_and_no_name_on_a_dot(model, tmp_path, width):
    axes = sm.plot.embedding(model, width=width)
    boxes = boxes_of(axes)
    dots = axes.transData.transform(points(axes))
    assert not any(box.contains(*dot) for box in boxes.values() for dot in dots)
    sm.plot.save(axes, tmp_path / "map.png", dpi=254, width=width)
    assert plt.imread(tmp_path / "map.png").shape[1] == pytest.approx(10 * width, abs=2)


def test_text_in_vectors_is_text(model, tmp_path):
    axes = sm.plot.embedding(model)
    sm.plot.save(axes, tmp_path / "map.svg")
    assert ">thing number 3</text>" in (tmp_path / "map.svg").read_text(encoding="utf-8")
    sm.plot.save(axes, tmp_path / "map.pdf")
    assert b"/FontFile2" in (tmp_path / "map.pdf").read_bytes()  # TrueType, not outlines (Type 3)


def test_names_without_room_have_numbers_and_a_key_that_can_be_read(model):
    names = tuple(f"thing number {k}" for k in range(200))
    many = sm.Similarity(np.random.default_rng(0).normal(size=(200, 2)), model.comparison_loss(), names)
    written = [text.get_text() for text in sm.plot.embedding(many, labels=True).texts]
    on_map = {text for text in written if text in names}
    key = dict(reversed(text.split("  ")) for text in written if "  " in text)
    assert set(key) <= set(names) - on_map
    assert 20 <= len(key) <= 40
    assert set(key.values()) <= set(written)
    assert f"{200 - len(on_map) - len(key)} of 200 items without a label" in written


def test_a_dollar_in_a_name_is_a_dollar(tmp_path):
    positions = np.random.default_rng(0).normal(size=(3, 2))
    sm.plot.save(sm.plot.embedding(positions, labels=["$5", "$a_$", "x"]), tmp_path / "map.svg")
    assert ">$a_$</text>" in (tmp_path / "map.svg").read_text(encoding="utf-8")


def test_a_figure_is_whole_or_as_it_was(tmp_path, monkeypatch):
    def disk_full(descriptor):
        raise OSError(28, "No space left on device")

    axes = sm.plot.weights({"colour": 0.7, "size": 0.2})
    (tmp_path / "weights.svg").write_text("old", encoding="utf-8")
    monkeypatch.setattr(os, "fsync", disk_full)
    with pytest.raises(OSError, match="No space left"):
        sm.plot.save(axes, tmp_path / "weights.svg")
    assert {file.name: file.read_text("utf-8") for file in tmp_path.iterdir()} == {"weights.svg": "old"}


def test_title_legend_and_key_are_inside_the_figure():
    X = np.random.default_rng(0).normal(size=(60, 2))
    axes = sm.plot.embedding(X, labels=[f"a long name {k}" for k in range(60)], classes=np.arange(60) % 4)
    axes.set_title("A title")
    figure = axes.get_figure()
    figure.draw_without_rendering()
    seen, (_, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert seen.y0 >= -0.02
    assert seen.y1 <= height + 0.02
