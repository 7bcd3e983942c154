"""The atlas of dimensions, from Python, from the command line, and in the report."""

import json
import os
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import PIL.Image
import pytest

import similitude as sm
from similitude.analysis.dimension_atlas import dimensions_page
from similitude.analysis.dimension_tiles import shown_dimensions
from similitude.analysis.folder import tables
from similitude.analysis.learn import _neighbours
from tests import seeds
from tests.patience import PATIENCE
from tests.shell import run
from tests.study.conftest import browser  # noqa: F401

HOSTILE = "<script>alert(1)</script>"
NAMES = [HOSTILE, "measuring_cup", "jug", "ball", "wheel", "coin"]
X = np.array([[2.0, 0.1], [1.5, 0.0], [1.0, 0.2], [0.0, 2.0], [0.1, 1.0], [0.0, 1.5]])


@pytest.fixture(scope="module")
def found():
    c = sm.simulate(X, 200, "odd_one_out", metric="dot", sharpness=1.0, names=NAMES, random_state=0)
    doubt = pd.DataFrame({"reproducible": [True, False], "seeds": [0.98, 0.21], "halves": [0.9, 0.1]})
    again = doubt.assign(**{f"{way}_{end}": 0.0 for way in ("seeds", "halves") for end in ("low", "high")})
    attributes = pd.DataFrame({"for drinking": [1.0, 0.9, 0.5, 0.1, 0.0, 0.2]}, index=NAMES)
    table = pd.DataFrame(X, index=NAMES)
    return sm.describe_dimensions(table, c, attributes=attributes, reproducibility=SimpleNamespace(table=again))


def test_a_page_loads_nothing_and_escapes_everything(found):
    page = dimensions_page(found)
    assert HOSTILE not in page
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert page.count('class="dimension') >= 2
    assert "Does not reproduce (correlation with other starts 0.21, halves of the answers 0.10)" in page
    assert "suggested by its first items" in page


def test_the_values_in_the_page_are_those_of_the_model(found):
    data = json.loads(re.search(r'id="data">(.*?)</script>', dimensions_page(found), re.DOTALL)[1])
    np.testing.assert_allclose(np.array(data["values"]) / data["unit"], X, atol=5e-4)
    assert data["items"][1:] == NAMES[1:]


def test_a_folder_has_all_of_it(found, tmp_path):
    picture = tmp_path / "jug.png"
    PIL.Image.new("RGB", (40, 30), "red").save(picture)
    page = sm.write_dimensions(found, tmp_path / "atlas", images={"jug": picture})
    assert page.read_text("utf-8").count("data:image/png") >= 1
    values = pd.read_csv(tmp_path / "atlas/tables/dimension_values.csv", index_col="item")
    np.testing.assert_allclose(values.to_numpy(), X)
    columns = pd.read_csv(tmp_path / "atlas/tables/columns.csv")
    for name in ("named_dimensions", "dimension_values", "dimension_attributes"):
        assert set(pd.read_csv(tmp_path / f"atlas/tables/{name}.csv").columns) - {"dimension 1", "dimension 2"} <= set(
            columns.column[columns.table == name]
        )
    assert sm.Similarity.load(tmp_path / "atlas/model.sim").names == tuple(NAMES)
    for link in re.findall(r'<li><a href="([^"]+)"', page.read_text("utf-8")):
        assert (tmp_path / "atlas" / link).stat().st_size > 0


def test_an_atlas_over_another_leaves_nothing_of_it(found, tmp_path):
    sm.write_dimensions(found, tmp_path)
    (tmp_path / "figures/mine.pdf").write_text("of somebody's own")
    left, alive = tmp_path / ".new-killed", tmp_path / ".new-alive"
    for begun in (left, alive):
        begun.mkdir()
        (begun / "model.sim").touch()
    for file in (left, left / "model.sim"):
        os.utime(file, (0, 0))
    smaller = sm.describe_dimensions(pd.DataFrame(X[:, :1], index=NAMES))
    sm.write_dimensions(smaller, tmp_path)
    assert sorted(file.name for file in (tmp_path / "figures").iterdir()) == [
        "dimensions_1_to_1.pdf", "dimensions_1_to_1.png", "mine.pdf",
    ]  # fmt: skip
    assert not (tmp_path / "tables/dimension_attributes.csv").exists()
    assert not left.exists()
    assert alive.exists()


def test_a_place_where_there_can_be_no_atlas_is_named(found, tmp_path):
    (tmp_path / "dimensions.html").mkdir()
    with pytest.raises(IsADirectoryError, match=r"dimensions.html is a folder; expected the name of a file"):
        sm.write_dimensions(found, tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="file is a file; expected a folder"):
        sm.write_dimensions(found, tmp_path / "file")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["dimensions.html", "file"]


def test_no_dimension_makes_a_page_that_says_so():
    page = dimensions_page(sm.describe_dimensions(pd.DataFrame(index=NAMES, columns=[], dtype=float)))
    assert "carry no dimension that can be told from chance" in page
    assert "here 120 for the first" in page
    assert "<script" not in page


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Answers of a study with two clear dimensions, and attributes of its items."""
    folder = tmp_path_factory.mktemp("study")
    truth = 2.0 * np.kron(np.eye(2), np.ones((5, 1)))
    names = [f"{kind} {k}" for kind in ("tool", "food") for k in range(5)]
    with seeds.as_seeded():  # a page is asked for words that these answers give it
        c = sm.simulate(truth, 500, "odd_one_out", metric="dot", sharpness=1.0, names=names, random_state=0)
    sm.write_comparisons(c, folder / "answers.csv")
    pd.DataFrame({"edible": truth[:, 1]}, index=names).to_csv(folder / "attributes.csv", index_label="item")
    return folder


@pytest.mark.slow
@pytest.mark.own_seed
def test_the_command(folder):
    (folder / "names.csv").write_text("item,name\ntool 3,made for hands\n", "utf-8")
    said = run(
        "dimensions",
        "answers.csv",
        "--attributes",
        "attributes.csv",
        "--most",
        "4",
        "--starts",
        "2",
        "--halves",
        "0",
        "--folds",
        "2",
        "--dimension-names",
        "names.csv",
        folder=folder,
    ).stdout
    assert "2 dimensions of 10 items." in said
    assert "All of them come again from other starts." in said
    assert "answers_dimensions/dimensions.html: the atlas" in said
    assert "Of 500 answers, each asked of a fit without it (2 folds)" in said
    assert "sm.describe_dimensions(model, c, attributes=attributes, reproducibility=again, held_out=held_out, " in said
    assert "names={'tool 3': 'made for hands'}" in said
    page = (folder / "answers_dimensions/dimensions.html").read_text("utf-8")
    assert "edible? <span" in page
    assert "made for hands</h3>" in page
    assert "Non-negative dimensions were fitted to 500 answers about 10 items" in page
    made = "--attributes attributes.csv --dimension-names names.csv --most 4 --starts 2 --halves 0 --folds 2 --seed 0"
    assert f"similitude dimensions answers.csv {made}" in page


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "attributes.csv: the file is empty; expected a table"),
        ("item,edible\ntool 0,1\ntool 1,1,2,3\n", "attributes.csv: row 2 has 4 cells, expected 2; correct that row"),
        ("item,edible\nno such item,1\n", "attributes.csv: no row is about an item of the model (tool 0, ...)"),
        ("item,edible\nfood 0,1\nfood 1,1\nfood 1,1\n", "attributes.csv: two rows are about 'food 1'"),
        ("item\nfood 0\n", "attributes.csv: expected the items' names in the first column"),
    ],
)
def test_attributes_are_judged_before_the_fits(folder, tmp_path, monkeypatch, text, message):
    monkeypatch.setattr(sm.NonNegativeEmbedding, "fit", None)  # nothing may be fitted
    (tmp_path / "attributes.csv").write_text(text, "utf-8")
    given = ("dimensions", str(folder / "answers.csv"), "--attributes", str(tmp_path / "attributes.csv"))
    said = run(*given, "--out", str(tmp_path / "out"), folder=tmp_path, check=False)
    assert said.returncode != 0
    assert message in " ".join(said.stderr.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.own_seed
def test_the_report_describes_dimensions_where_they_were_asked_for(folder):
    c = sm.read_comparisons(folder / "answers.csv")
    found = sm.learn(c, method="NonNegativeEmbedding", n_components=4, time_limit=1, random_state=0)
    assert len(found.described.table) == 2
    page = found.page()
    assert 'id="what-the-dimensions-are"' in page
    for shown in (page, found._repr_html_()):
        assert "items that point the same way are alike" in shown
        assert "the nearer" not in shown.lower()
    made = tables(found)
    assert [*made["positions"].columns][1] == "map axis 1"
    values = made["dimension_values"].drop(columns="item").to_numpy()
    assert (values >= 0).all()
    own, products = values @ values.T, -found.similarity.distances()  # the report's model has another scale
    np.testing.assert_allclose(own / own.max(), products / products.max(), atol=1e-9)
    first = found.neighbours.set_index("item").loc["tool 0"]
    assert all(name.startswith("tool") for name in first if name)  # not what is like it by nothing


def test_items_that_are_like_none_have_no_neighbours():
    similarity = sm.describe_dimensions(pd.DataFrame(np.eye(3)[[0, 0, 1]], index=["a", "b", "c"])).similarity
    made = _neighbours(similarity)
    assert made.to_numpy().tolist() == [["a", "b", ""], ["b", "a", ""], ["c", "(like none of the others)", ""]]


def test_in_a_browser_reasons_are_those_of_the_library(browser, found, tmp_path):  # noqa: F811
    page = sm.write_dimensions(found, tmp_path)
    wrong = []
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    context.set_default_timeout(PATIENCE * 1000)
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    context.on("request", lambda request: request.url.startswith(("file:", "data:")) or wrong.append(request.url))
    opened = context.new_page()
    opened.goto(page.as_uri())
    for place, name in (("first", "jug"), ("second", "measuring_cup"), ("odd", "wheel")):
        opened.fill(f"#{place}", name)
    why = found.why("jug", "measuring_cup", "wheel")
    said = opened.inner_text("#reasons")
    assert f"{why.confidence:.0%} of people would say so" in said
    assert f"{why.shares[0]:.0%}" in said
    opened.fill("#item", "ball")
    assert "2.00" in opened.inner_text("#bars")
    opened.fill("#item", "nothing")
    assert "Not an item of this model." in opened.inner_text("#bars")
    assert opened.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
    assert wrong == []


def test_what_halves_do_not_find_is_said_and_how_many_have_none_of_a_dimension():
    sparse = pd.DataFrame(np.kron(np.eye(2), np.ones((10, 1))), index=[f"i{k}" for k in range(20)])
    again = pd.DataFrame({"reproducible": [True, True], "seeds": [0.98, 0.95], "halves": [0.0, 0.9]})
    again = again.assign(**{f"{way}_{end}": 0.0 for way in ("seeds", "halves") for end in ("low", "high")})
    found = sm.describe_dimensions(sparse, reproducibility=SimpleNamespace(table=again))
    first, second = shown_dimensions(found)
    assert first.reproduces == "other starts 0.98, halves of the answers: not found"
    assert (first.weak, second.weak) == (True, False)
    assert first.least.startswith("None of it (0): 10 of 20 items, among them i10")
    assert "two halves of the answers do not agree on it" in dimensions_page(found)


def test_a_wide_picture_scrolls_from_the_side_of_its_names(found):
    assert '<div class="wide left">' in dimensions_page(found)


def test_a_model_without_a_dimension_can_be_read_again():
    nothing = sm.describe_dimensions(pd.DataFrame(index=NAMES, columns=[], dtype=float)).similarity
    assert sm.Similarity.from_bytes(nothing.to_bytes()).embedding.shape == (6, 0)
