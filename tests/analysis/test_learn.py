"""The report of answers: complete, self-contained, safe, and there for few answers too."""

import base64
import html
import io
import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import PIL.Image
import pytest
from typer.testing import CliRunner

import similitude as sm
from similitude.analysis import choice, columns, folder, learn, sentences
from similitude.analysis.choice import CUT, Wanted
from similitude.analysis.paper import paragraph
from similitude.analysis.phases import Phases
from similitude.cli import app
from similitude.cli.learn import _classes
from similitude.display.estimate import Estimate
from similitude.display.words import counted
from similitude.engine.jobs import workers
from similitude.feedback.files.features import read_features
from similitude.methods.tables_out import separated

pytestmark = pytest.mark.slow  # whole reports

SECTIONS = [
    "The map", "What predicts the answers", "Can the answers be trusted?", "More answers", "How sure, and where",
    "Most alike", "How many dimensions", "Probabilities", "Surprising answers", "Raters", "For the paper",
]  # fmt: skip
DOCS = Path(__file__).parents[2] / "docs"
LONG = 3600.0  # so that no machine is too slow for a part of the report
NAMES = ["<b>bold</b>", 'quo"te', "plain", "#ff0000", "naïve & co", r"$\frac{x$", *(f"item {k}" for k in range(6))]


def answers(m=400, names=NAMES):
    truth = np.random.default_rng(0).normal(size=(len(names), 2))
    return sm.simulate(truth, m, sharpness=3.0, raters=4, names=names, random_state=1)


@pytest.fixture(scope="module")
def found():
    return sm.learn(answers(), method="STE", time_limit=LONG, random_state=0)


@pytest.fixture(scope="module")
def saved(found, tmp_path_factory):
    """The page of a whole report, beside its files."""
    return found.save(tmp_path_factory.mktemp("report") / "out")


def test_all_sections_are_there_and_nothing_is_loaded(found):
    page = found.page("A <title>", command="similitude learn answers.csv")
    assert re.findall("<h2>(.*?)</h2>", page) == SECTIONS
    assert "A &lt;title&gt;" in page
    assert "<b>bold</b>" not in page
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    loaded = re.findall(r"""(?:src|href)=["']([^"']{0,40})""", page)
    assert loaded
    assert all(address.startswith(("data:", "#")) for address in loaded)
    assert "similitude learn answers.csv" in page
    assert "nan" not in re.sub("<[^>]*>", " ", page).lower().split()


def test_a_notebook_shows_the_summary_and_the_map(found):
    html = found._repr_html_()
    said = " ".join(ET.fromstring(html).itertext())
    assert repr(found) in said
    assert repr(found).startswith(
        f"400 answers about 12 items. A model in {counted(found.dimension, 'dimension')} predicts"
    )
    assert "more answers would gain" in repr(found)
    assert all(name in said for name in NAMES)
    assert html.count("<circle") == len(NAMES)
    assert all(doubt in said for doubt in found.consistency.doubts())


def test_every_item_is_on_the_map_with_its_neighbours(found):
    page = found.page(colours={"#ff0000": "#ff0000"})
    assert page.count('class="item"') == len(NAMES)
    assert "fill:#ff0000" in page
    assert page.count('class="sure"') == len(NAMES)
    nearest = found.neighbours.set_index("item").loc["plain"].tolist()
    assert nearest == found.similarity.neighbors("plain", 5)


def test_what_the_columns_of_sureness_mean_is_said(found):
    page = found.page()
    for column in found.sureness.needs_answers.columns[1:]:
        assert f"<dt>{column}</dt>" in page


def assert_every_column_is_explained(folder):
    """Every column of every table is in `columns.csv`, and the page of the documentation has the same."""
    said = pd.read_csv(folder / "tables" / "columns.csv").set_index("table")
    page = (DOCS / "how-to" / "report.md").read_text(encoding="utf-8")
    for path in folder.glob("tables/*.csv"):
        if path.stem in ("columns", "distances"):  # the one explains itself, the other's columns are the items
            continue
        known = said.loc[[path.stem]].set_index("column").meaning
        for column in pd.read_csv(path).columns:
            name = re.sub(" [0-9]+$", " 1, 2, ...", column)
            assert f"| {name} | {known[name]} |" in page, (path.stem, column)


def test_a_name_of_the_library_needs_no_guard_against_formulas(saved):
    rows = (saved.parent / "tables" / "check.csv").read_text(encoding="utf-8").splitlines()
    assert rows[2].startswith("can't tell,")


def test_every_column_of_every_table_is_explained(saved):
    assert_every_column_is_explained(saved.parent)
    with pytest.raises(KeyError):
        columns.explained({"positions": ["item", "unheard of"]})


def test_the_documentation_has_the_table_of_columns():
    page = (DOCS / "how-to" / "report.md").read_text(encoding="utf-8")
    rows = [f"| {name} | {means} |" for table in columns.MEANINGS.values() for name, means in table.items()]
    assert [row for row in rows if row not in page] == [], "make it anew: python docs/columns.py"


@pytest.mark.parametrize(("ceiling", "why"), [(0.6, "harder than the others"), (0.99, "")])
def test_an_accuracy_above_the_noise_ceiling_is_explained_wherever_it_stands(found, ceiling, why):

    figures = replace(found.consistency, ceiling=Estimate(ceiling, ceiling - 0.01, ceiling + 0.005))
    changed = replace(found, consistency=figures)
    lead = re.search('class="lead">(.*?)</p>', changed.page())[1]
    for text in (lead, paragraph(changed)):
        assert f"{ceiling:.1%}" in text
        assert ("above the noise ceiling" in text) == bool(why)
        assert why in text


def test_the_report_says_one_noise_ceiling():
    found = sm.learn(answers(400, NAMES[:7]), method="STE", time_limit=LONG, random_state=0)
    assert found.forecast.ceiling == found.consistency.ceiling


def test_what_more_answers_would_bring_is_said_by_the_rule_of_the_study_page(found, tmp_path):
    advice = found.forecast.advice
    page = html.unescape(found.page())
    assert repr(found).count(advice.short) == 1
    assert page.count(advice.short) == 2, "at the top, and in its section"
    kept = json.loads((found.save(tmp_path, time_limit=0).parent / "findings.json").read_text(encoding="utf-8"))
    assert kept["advice"] == asdict(advice)


@pytest.mark.parametrize(
    ("form", "options", "chance"),
    [
        ("triplet", {}, 1 / 2),
        ("quadruplet", {}, 1 / 2),
        ("odd_one_out", {}, 1 / 3),
        ("choice", {"grid_size": 5, "n_chosen": 1}, 1 / 5),
        ("ranking", {"grid_size": 4}, 1 / 24),
    ],
)
def test_chance_is_that_of_guessing_a_whole_answer(found, form, options, chance):
    truth = np.random.default_rng(0).normal(size=(8, 2))
    c = sm.simulate(truth, 30, form, random_state=0, **options)
    assert replace(found, comparisons=c, consistency=sm.check(c)).chance == pytest.approx(chance)


def test_items_whose_names_have_no_room_have_numbers_and_a_key():
    names = [f"a name of item {k:03d}" for k in range(150)]
    found = sm.learn(answers(900, names), method="STE", n_components=2, penalty=0.05, time_limit=0.001, random_state=0)
    page = found.page()
    on_map = set(re.findall(r'<text class="sign"[^>]*>([0-9]+)<', page))
    in_key = dict(re.findall(r"<b>([0-9]+)</b> (a name of item [0-9]+)<", page))
    silent = re.findall(r'class="quiet">(a name of item [0-9]+)<', page)
    assert len(silent) > 10
    assert on_map == set(in_key)
    assert len(re.findall("<span data-item", page)) == len(in_key) <= 40
    assert set(in_key.values()) <= set(silent)
    assert f"no room for a label of {len(silent) - len(in_key)} of 150 items" in page


def test_what_cannot_be_written_here_is_said(found, tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "missing", lambda extra: ["openpyxl"] if extra == "tables" else [])
    page = html.unescape(found.save(tmp_path, time_limit=0).read_text(encoding="utf-8"))
    said = 'tables/map.xlsx needs openpyxl: pip install "similitude[tables]"'
    assert folder.not_written(found) == [said]
    assert f"Not written: {said}." in page
    assert not (tmp_path / "tables" / "map.xlsx").exists()


def test_where_time_is_over_the_map_is_the_only_figure_for_print_and_that_is_said(found, tmp_path):
    said = []
    page = found.save(tmp_path, time_limit=0.0, tell=said.append).read_text(encoding="utf-8")
    assert {path.stem for path in (tmp_path / "figures").iterdir()} == {"map"}
    assert said[-1].startswith("no time for figures for print: learning_curve, calibration")
    assert f"Not written: {said[-1]}." in page
    assert page.count("<figure>") >= 4  # the page has them all the same


def test_surprises_are_the_least_likely_answers_once_each(found):
    chance = found.surprises.probability
    assert chance.is_monotonic_increasing
    assert chance.iloc[0] == pytest.approx(found.similarity.predict_proba(found.comparisons)[:, 1].min())


def test_the_folder(found, saved):
    report = saved
    assert report.name == "report.html"
    written = {path.relative_to(report.parent).as_posix() for path in report.parent.rglob("*") if path.is_file()}
    assert {
        "model.sim",
        "check.json",
        "methods.txt",
        "tables/positions.csv",
        "tables/distances.csv",
        "tables/map.xlsx",
        "figures/map.pdf",
        "figures/map.png",
    } <= written
    loaded = sm.Similarity.load(report.parent / "model.sim")
    np.testing.assert_allclose(loaded.embedding, found.similarity.embedding)
    taken = f"STE in {counted(found.dimension, 'dimension')}, penalty {found.model.chosen_.penalty.iloc[0]:.3g}"
    assert loaded.about["chosen"] == [taken]
    assert taken in CliRunner().invoke(app, ["info", str(report.parent / "model.sim")]).output
    positions = pd.read_csv(report.parent / "tables" / "positions.csv")
    assert positions.item.tolist() == list(found.similarity.names)


def test_what_ends_midway_leaves_the_earlier_report_as_it_was(found, tmp_path, monkeypatch):
    found.save(tmp_path, time_limit=0)
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}

    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(folder, "findings_page", killed)
    with pytest.raises(KeyboardInterrupt):
        found.save(tmp_path, time_limit=0)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before
    with pytest.raises(KeyboardInterrupt):
        found.save(tmp_path / "new", time_limit=0)
    assert not (tmp_path / "new").exists()


def test_time_without_end_leaves_no_part_out():
    parts = Phases(np.inf)
    assert parts.optional("a part that cannot be ended", lambda _: "done", whole=True) == "done"
    assert parts.left_out == []


def test_what_cannot_be_moved_into_place_leaves_the_earlier_report_as_it_was(found, tmp_path, monkeypatch):
    found.save(tmp_path, time_limit=0)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    replace = Path.replace

    def refused(one, target):
        if one.name == "positions.csv" and one.parent != tmp_path / "tables":
            raise PermissionError(13, "Permission denied", str(one), str(target))
        return replace(one, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", refused)
        with pytest.raises(PermissionError, match=r"Permission denied; what was there.*tables.positions.csv'$"):
            found.save(tmp_path, "another", time_limit=0)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("taken", ["figures", "tables", "figures/map.png", "model.sim"])
def test_a_place_that_is_taken_within_a_folder_is_named_before_the_work(taken, tmp_path, monkeypatch):
    monkeypatch.setattr(sm, "learn", lambda *_, **__: pytest.fail("the work began"))
    sm.write_comparisons(answers(60, ["a", "b", "c", "d", "e"]), tmp_path / "a.csv")
    place = tmp_path / "report" / taken
    place.parent.mkdir(parents=True)
    if place.suffix:
        place.mkdir()
    else:
        place.touch()
    done = CliRunner().invoke(app, ["learn", str(tmp_path / "a.csv"), "-o", str(tmp_path / "report")])
    assert re.search(
        rf"--out: .*{place.name} is a (file; expected a folder|folder; expected a file)", str(done.exception)
    )


def test_names_that_no_font_has_are_told_once_and_are_in_the_page(tmp_path):
    names = [chr(0x10FEF0 + k) for k in range(6)]  # for private use
    found = sm.learn(answers(60, names), method="STE", time_limit=0.001, random_state=0)
    with pytest.warns(UserWarning, match="no font of this machine has all letters of") as told:
        report = found.save(tmp_path, time_limit=0)
    assert [one.category for one in told] == [UserWarning]
    page = report.read_text(encoding="utf-8")
    (tree,) = re.findall(r'alt="Items in a tree[^"]*" src="data:image/svg\+xml;base64,([^"]*)"', page)
    drawn = base64.b64decode(tree).decode()
    assert all(f">{name}</text>" in text for name in names for text in (page, drawn))


def test_no_cell_of_a_table_is_a_formula():
    table = pd.DataFrame({"item": ["=cmd|' /C calc'!A0", "café"], "near": ["@SUM(A1)", "-1+2"], "value": [-1.5, 2.0]})
    again = pd.read_csv(io.StringIO(separated(table, index=False)))
    assert not [cell for cell in [*again["item"], *again["near"]] if cell[0] in "=+-@"]
    assert again["value"].tolist() == [-1.5, 2.0]


def test_the_paragraph_says_what_was_done(found):
    from similitude.analysis.paper import citations, paragraph

    text = paragraph(found)
    assert text.startswith("In all, 4 raters gave 400 answers about 12 items (task: triplet questions")
    assert f"similitude {sm.__version__}" in text
    assert "A check of the answers flagged no rater." in text
    assert "Its interval is over answers" in text
    assert "with the settings chosen before on all answers" in text
    assert "https://doi.org/10.1109/MLSP.2012.6349720" in citations(found)[0]  # STE
    assert len(citations(found)) == len(set(citations(found))) >= 1


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["STE"], "that of the only setting that was tried. A time limit ended this search when it had come to"),
        (["STE", "CKL"], "chosen among 2 settings on held-out answers (4 folds"),
        (["STE", "CKL"], "A time limit ended this search when it had come to STE and CKL only."),
        (
            ["CKL", "TSTE", "STE", "SOE", "GNMDS"],
            "A time limit ended this search before every setting had been tried on every fold.",
        ),
    ],
)
def test_the_paragraph_of_a_search_cut_short_says_how_far_it_came(found, names, said):
    tried = pd.concat([found.chosen.tried.head(1).assign(candidate=name, folds=4) for name in names])
    cut = replace(found, wanted=Wanted(), chosen=replace(found.chosen, tried=tried, ended="time limit"))
    assert said in paragraph(cut)
    by_hand = paragraph(replace(cut, chosen=replace(cut.chosen, ended="interrupted")))
    assert said.replace("A time limit ended this search", "This search was interrupted") in by_hand
    assert "time limit" not in by_hand


@pytest.mark.parametrize(("tested", "said"), [(2, "the same number"), (1, "1")])
def test_the_rule_that_chose_the_dimension_is_told_from_the_test(found, tested, said):
    choice = replace(found.dimensions, chosen=2, tested=tested)
    changed = replace(found, chosen=replace(found.chosen, dimensions=choice))
    assert f"That rule chose; a test of each step, beyond which no gain is significant, says {said}." in changed.page()
    assert f"no significant gain beyond {tested}." in paragraph(changed)


def test_a_map_of_more_than_two_dimensions_says_what_two_would_predict(found):
    table = pd.DataFrame({"dimensions": [1, 2, 4], "accuracy": [0.6, 0.7, 0.75]})
    choice = replace(found.dimensions, table=table)
    deep = SimpleNamespace(dimensions=choice, dimension=4, accuracy=Estimate(0.74))
    assert sentences._flat(deep) == "The same method in two dimensions alone predicts 69.0%, by 5.0 points less."
    deep.dimension = 2
    assert sentences._flat(deep) == ""


@pytest.mark.parametrize(
    ("observed", "method", "said"),
    [
        (0.7, "SOE", "on the whole it is too sure, by 10.0 points. They come from the distances on the map, by a curve "
         "that was fitted to held-out answers (SOE alone would give none)."),
        (0.9, "STE", "on the whole it is too careful, by 10.0 points"),
        (0.8, "STE", "neither too sure nor too careful"),
    ],
)  # fmt: skip
def test_probabilities_say_in_which_direction_they_are_off_and_where_they_come_from(observed, method, said):
    table = pd.DataFrame({"predicted": [0.8], "observed": [observed], "weight": [3.0]})
    model = SimpleNamespace(chosen_=pd.DataFrame({"candidate": [method]}))
    told = sentences._probabilities(SimpleNamespace(calibration=table, calibration_error=0.1, model=model))
    assert said in told
    assert ("alone would give none" in told) == (method == "SOE")


def test_the_paragraph_says_which_raters_stood_out(found):
    verdict = ("answers at random", "like the others", "sees things differently", "like the others")
    changed = replace(
        found, consistency=replace(found.consistency, raters=replace(found.consistency.raters, verdict=verdict))
    )
    said = "flagged 1 rater as answering at random and 1 rater as seeing things differently; their answers were kept."
    assert said in paragraph(changed)


def test_one_question_has_one_number_wherever_it_is_answered(found, saved):
    assert_one_number(found, saved)


@pytest.mark.parametrize(
    "settings", [{"method": "CKL", "n_components": 3}, {"average": True}, {"method": "SOE", "penalty": 0.1}]
)
def test_one_number_whatever_was_fixed(settings, tmp_path):
    few, time_limit = answers(90, NAMES[:7]), LONG if "method" in settings else 5
    found = sm.learn(few, time_limit=time_limit, random_state=0, **settings)
    assert_one_number(found, found.save(tmp_path, time_limit=0))


@pytest.fixture(scope="module")
def of_choices():
    truth = np.random.default_rng(0).normal(size=(8, 2))
    odd = sm.simulate(truth, 250, "odd_one_out", sharpness=3.0, raters=4, names=NAMES[:8], random_state=1)
    return sm.learn(odd, method="ChoiceEmbedding", time_limit=LONG, random_state=0)


def test_odd_ones_out_are_scored_as_answers_and_that_is_one_number_too(of_choices, tmp_path):
    found = of_choices
    assert found.of == "answers"
    assert found.ceiling == found.consistency.answer_ceiling == found.forecast.ceiling
    assert found.accuracy.value < found.comparison_accuracy.value
    assert "of answers that it has not seen" in repr(found)
    assert_one_number(found, found.save(tmp_path, time_limit=0))
    kept = json.loads((tmp_path / "findings.json").read_text(encoding="utf-8"))
    assert kept["chance"] == pytest.approx(1 / 3)
    assert kept["comparison_accuracy"]["value"] == found.comparison_accuracy.value
    assert kept["comparison_ceiling"]["value"] == found.consistency.ceiling.value


def test_a_model_of_choices_is_described_and_cited(of_choices):
    from similitude.analysis.paper import citations

    text = paragraph(of_choices)
    assert "among all that could have been given (softmax choice)" in text
    assert "a number that is learned with them" in text
    assert of_choices.dimensions is None
    assert of_choices.dimension == of_choices.model.members_[0].n_dimensions_
    assert [author for author in ("Luce", "Hebart", "Muttenthaler") if author in " ".join(citations(of_choices))] == [
        "Luce", "Hebart", "Muttenthaler",
    ]  # fmt: skip


def test_what_is_scored_has_changed_since_an_earlier_report(of_choices, tmp_path):
    from similitude.analysis.changes import changes, record

    of_choices.similarity.save(tmp_path / "model.sim")
    before = record(of_choices)
    del before["scored"]  # earlier versions knew comparisons alone
    (tmp_path / "findings.json").write_text(json.dumps(before), encoding="utf-8")
    found = changes(of_choices, tmp_path)
    assert "The accuracy is now that of answers." in found.said
    assert ("scored", "comparisons", "answers") in found.rows


@pytest.mark.whole
@pytest.mark.parametrize("name", ["food", "cars", "palette", "fruit", "glass"])
def test_one_number_on_human_answers(name, data, tmp_path):
    from tests.analysis.human_sets import load

    c, classes = load(name, data)
    found = sm.learn(c, time_limit=60, random_state=0)
    assert_one_number(found, found.save(tmp_path, classes=classes))


def assert_one_number(found, report):
    """Accuracy, ceiling and dimension: one value each on the page, in the paragraph, the notebook and the files."""
    assert_every_column_is_explained(report.parent)
    page = re.sub("<(script|style).*?</(script|style)>", " ", report.read_text(encoding="utf-8"), flags=re.DOTALL)
    read = html.unescape(re.sub("<[^>]*>", " ", page))
    kept = json.loads((report.parent / "findings.json").read_text(encoding="utf-8"))
    a, ceiling = found.accuracy, found.ceiling
    assert (kept["scored"], kept["chance"]) == (found.of, found.chance)
    for figure, stored in ((a, kept["accuracy"]), (ceiling, kept["ceiling"])):
        assert stored == {"value": figure.value, "low": figure.low, "high": figure.high}
    methods = (report.parent / "methods.txt").read_text(encoding="utf-8")
    lead = read[: read.index("Can the answers be trusted?", read.index("Similarity was modelled"))]
    for text in (lead, repr(found), methods):
        flat = re.findall(r"The same method in two dimensions alone predicts ([0-9.]+%)", text)
        assert set(re.findall(r"[0-9]+[.][0-9]%", text)) <= shares_of(a, ceiling) | {f"{found.chance:.1%}", *flat}
        assert f"; chance {found.chance:.1%})" in text.replace("chance is", "chance")
        assert f"{a.value:.1%}" in text
    if found.forecast is not None:
        now = pd.read_csv(report.parent / "tables" / "forecast.csv").iloc[0]
        for said in (now, kept["forecast"][0], found.forecast.expected(found.forecast.answers).iloc[0]):
            assert [said[part] for part in ("more", "gain")] == [0, 0]
            assert [said[part] for part in ("accuracy", "low", "high")] == pytest.approx([a.value, a.low, a.high])
    by_name = dict(re.findall(r"(noise ceiling|noise ceiling of answers|minority votes)\s+([0-9.]+)", read))
    if ceiling.value is not None:
        of_answers = " of answers" if found.of == "answers" else ""
        assert float(by_name[f"noise ceiling{of_answers}"]) == pytest.approx(ceiling.value, abs=0.006)
    said = set(re.findall(r"(?:in|has) ([0-9]+) dimensions?\b", read + methods + repr(found)))
    assert said == ({str(found.dimension)} if found.dimension else set())
    assert kept["dimension"] == found.dimension
    if found.dimensions is not None:
        assert found.dimension == found.dimensions.chosen == found.model.chosen_.dimension.item()


def shares_of(*figures):
    """The percentages that figures are written as."""
    return {f"{value:.1%}" for one in figures for value in (one.value, one.low, one.high) if value is not None}


def test_every_file_has_a_link_and_every_link_a_file(saved):
    written = {path.relative_to(saved.parent).as_posix() for path in saved.parent.rglob("*") if path.is_file()}
    links = set(re.findall('href="([^"#]+)"', saved.read_text(encoding="utf-8")))
    assert links == written - {"report.html"}
    assert {"tables/distances.csv", "tables/positions.csv", "figures/map.svg", "findings.json"} <= links


@pytest.mark.filterwarnings("ignore:.*never compared")  # twelve answers may leave out an item
def test_what_changed_since_an_earlier_report_of_the_same_file(found, tmp_path):
    fewer = sm.learn(answers(300), method="STE", n_components=2, penalty=0.05, time_limit=LONG, random_state=0)

    def written(findings, folder=tmp_path, source="a.csv", **options):
        return findings.save(folder, source=[source], **options).read_text(encoding="utf-8")

    assert "What changed" not in written(fewer, time_limit=0)
    assert "What changed" not in written(found, tmp_path / "other", time_limit=0)
    page = written(found)
    section = page[page.index("<h2>What changed</h2>") : page.index("<h2>What predicts the answers</h2>")]
    assert "There are 100 more answers." in section
    assert "<td>answers</td><td>300</td><td>400</td>" in section
    assert f"{fewer.accuracy.value:.1%}" in section
    assert f"{found.accuracy.value:.1%}" in section
    assert "rank correlation" in section
    few = sm.learn(answers(12), time_limit=1, random_state=0)
    written(few, time_limit=0)
    assert not (tmp_path / "figures" / "calibration.pdf").exists()  # nothing of the earlier report is left behind
    assert "What changed" not in written(found, source="b.csv", time_limit=0)


@pytest.mark.parametrize("broken", ["", "[]", '{"format": 1}', '{"format": 99, "source": []}'])
def test_a_file_that_is_no_earlier_report_is_none(found, tmp_path, broken):
    from similitude.analysis.changes import changes

    (tmp_path / "findings.json").write_text(broken, encoding="utf-8")
    assert changes(found, tmp_path) is None


def test_what_is_fixed_beforehand_is_fixed_and_said():

    fixed = sm.learn(answers(), method="CKL", n_components=3, penalty=0.05, time_limit=LONG, random_state=0)
    row = fixed.model.chosen_.iloc[0]
    assert (row.candidate, row.dimension, row.penalty) == ("CKL", 3, 0.05)
    assert fixed.dimensions is None
    assert "Method, dimension and penalty were fixed beforehand." in paragraph(fixed)


def test_an_average_where_it_is_asked_for():
    found = sm.learn(answers(60, NAMES[:6]), average=True, time_limit=5, random_state=0)
    assert found.dimensions is None
    assert len(found.model.chosen_) >= 1
    with pytest.raises(ValueError, match="average: an average takes several methods"):
        sm.learn(answers(), average=True, method="STE")


def test_what_there_is_no_time_for_is_left_out_and_said():
    found = sm.learn(answers(), method="STE", time_limit=0.001, random_state=0)
    assert "what more answers would bring" in found.left_out
    assert "There was no time for: " in repr(found)
    assert found.accuracy.value is not None


@pytest.mark.parametrize(
    ("settings", "said"), [(1, "left no time to compare settings: this is a first guess"), (3, "3 settings had been")]
)
def test_a_choice_that_the_time_limit_ended_says_so_at_the_top(found, settings, said):
    tried = found.chosen.tried.head(settings)
    cut = replace(found, left_out=(CUT,), chosen=replace(found.chosen, tried=tried, ended="time limit"))
    lead = re.search('class="lead">(.*?)</p>', cut.page())[1]
    assert said in lead
    assert "There was no time for" not in lead  # it is not said twice
    assert "time limit" not in repr(found)


@pytest.mark.parametrize(("settings", "said"), [(1, "before settings could be compared"), (3, "when 3 settings had")])
def test_a_choice_that_was_interrupted_says_so_and_not_that_time_was_over(found, settings, said):
    tried = found.chosen.tried.head(settings)
    page = replace(found, chosen=replace(found.chosen, tried=tried, ended="interrupted")).page(command="learn a.csv")
    lead = re.search('class="lead">(.*?)</p>', page)[1]
    assert "interrupted" in lead
    assert said in lead
    assert "To make this report again" not in page
    assert "time limit" not in lead


def test_the_terminal_says_that_the_choice_was_interrupted(found, tmp_path, monkeypatch):
    by_hand = replace(found, chosen=replace(found.chosen, ended="interrupted"))
    monkeypatch.setattr(sm, "learn", lambda *_, **__: by_hand)
    sm.write_comparisons(answers(60, NAMES[:6]), tmp_path / "a.csv")
    said = CliRunner().invoke(app, ["learn", str(tmp_path / "a.csv"), "--time-limit", "1"]).output
    assert "interrupted: the choice among settings, and the report says so" in said
    assert "no time for: comparing" not in said


def interrupting(*fits):
    """A step that interrupts each race in turn after so many fits."""
    waits = iter(fits)
    wait = next(waits)

    def step(what, done, of):
        nonlocal wait
        if what == "choosing a model" and done == wait:
            wait = next(waits, -1)
            raise KeyboardInterrupt

    return step


def test_an_interrupt_ends_the_choice_alone_and_another_one_all(monkeypatch):
    monkeypatch.setattr(choice, "_TRIED", (1, 2))  # the first two fits are in three dimensions, so that there is
    c = answers(60, NAMES[:6])  # a second race whatever was answered
    with pytest.warns(RuntimeWarning, match="interrupted: the search has ended"):
        found = sm.learn(c, method="STE", time_limit=LONG, step=interrupting(2))
    assert (found.chosen.ended, found.left_out) == ("interrupted", ())
    assert "The choice among settings was interrupted" in repr(found)
    with pytest.warns(RuntimeWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        sm.learn(c, method="STE", time_limit=LONG, step=interrupting(2, 3))


def test_progress_is_told_part_by_part(found):
    told = []
    sm.learn(answers(60, NAMES[:6]), method="STE", time_limit=LONG, step=lambda *step: told.append(step))
    parts = list(dict.fromkeys(what for what, _, _ in told))
    assert parts[:3] == ["checking the answers", "choosing a model", "how many dimensions"]
    assert all(done <= of or of == 0 for _, done, of in told)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "UMAP"}, "method: expected one of 'CKL'"),
        ({"n_components": 0}, "n_components: expected a whole number of at least 1"),
        ({"penalty": -1.0}, "penalty: expected a number of at least 0"),
        ({"n_components": 12}, "n_components: found 12, expected fewer than the 12 items compared"),
        ({"method": "FeatureEmbedding"}, "learns from features, and none were given"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(ValueError, match=message):
        sm.learn(answers(), **settings)


@pytest.mark.filterwarnings("ignore:.* items were never compared")  # twelve answers may leave one out
def test_few_answers_get_a_report_that_says_so():
    found = sm.learn(answers(12, NAMES[:6]), time_limit=1, random_state=0)
    page = replace(found, chosen=replace(found.chosen, average_gain=(0.0, -1.0, 1.0))).page()
    assert "There are too few answers" in page
    assert 'class="item"' in page
    assert "An average of several fits" not in page


def test_everything_that_is_fitted_often_gets_the_processes(monkeypatch):
    monkeypatch.setattr(learn, "_learned", lambda *_: workers())
    answers = np.array([(0, 1, 2)])
    assert (sm.learn(answers), sm.learn(answers, n_jobs=2)) == (1, 2)


def test_bad_folders_and_pictures_are_found_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(sm, "learn", lambda *_, **__: pytest.fail("the work began"))
    file, taken, pictures = tmp_path / "answers.csv", tmp_path / "taken", tmp_path / "pictures"
    sm.write_comparisons(answers(60, ["a", "b", "c", "d", "e"]), file)
    taken.write_text("a file", encoding="utf-8")
    pictures.mkdir()
    (pictures / "a.png").write_text("no picture", encoding="utf-8")
    cut, large = tmp_path / "cut", tmp_path / "large"
    for place in (cut, large):
        place.mkdir()
    whole = io.BytesIO()
    PIL.Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)).save(whole, "JPEG")
    (cut / "a.jpg").write_bytes(whole.getvalue()[:-800])
    PIL.Image.new("1", (30_000, 30_000)).save(large / "b.png")
    for options, message in (
        (["--out", taken], "--out: .*taken is a file; expected a folder"),
        (["--out", taken / "below"], "--out: cannot write into"),
        (["--images", tmp_path / "nowhere"], "--images: .*nowhere is not there; expected a folder"),
        (["--images", pictures], "--images: .*a.png is no picture"),
        (["--images", cut], "--images: .*a.jpg is no picture that can be read .*truncated"),
        (["--images", large], "--images: .*b.png has too many pixels; make it smaller"),
    ):
        done = CliRunner().invoke(app, ["learn", str(file), *map(str, options)])
        assert re.search(message, str(done.exception)), (options, done.exception)


@pytest.mark.filterwarnings("ignore:.* items were never compared")  # twelve answers may leave one out
def test_the_time_limit_is_for_reading_and_drawing_too(tmp_path, monkeypatch):
    given = {}
    few = sm.learn(answers(12, NAMES[:6]), time_limit=1, random_state=0)
    monkeypatch.setattr(sm, "learn", lambda *_, **settings: given.update(settings) or few)
    file = tmp_path / "answers.csv"
    sm.write_comparisons(answers(60, ["a", "b", "c", "d", "e"]), file)
    done = CliRunner().invoke(app, ["learn", str(file), "--time-limit", "100", "--out", str(tmp_path / "named")])
    assert done.exit_code == 0, done.output
    assert 0 < given["time_limit"] < 97
    assert (tmp_path / "named" / "report.html").is_file()


def test_the_command(tmp_path):
    file = tmp_path / "answers.csv"
    sm.write_comparisons(answers(60, ["a", "b", "c", "d", "e"]), file)
    features = tmp_path / "features.csv"
    pd.DataFrame({"name": list("abcde"), "x": range(5), "y": [0, 1, 0, 1, 0]}).to_csv(features, index=False)
    classes = tmp_path / "classes.csv"
    pd.DataFrame({"name": list("abcde"), "kind": ["tree", "tree", "bush", "bush", ""]}).to_csv(classes, index=False)
    told = ["--features", str(features), "--classes", str(classes), "--figure-width", "89", "--time-limit", "1"]
    done = CliRunner().invoke(app, ["learn", str(file), *told])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "answers_report" / "report.html").read_text(encoding="utf-8")
    assert f"--features {features} --classes {classes} --figure-width 89 --time-limit 1 --seed 0" in page
    assert '"labels": ["tree", "bush", "unknown"]' in page
    told = pd.read_csv(tmp_path / "answers_report" / "tables" / "features_without_learning.csv")
    assert sorted(told.measure) == ["Euclid", "cosine"]
    assert "without learning" in page
    assert all(f">{round(100 * share, 1):.3g}</td>" in page for share in (*told.accuracy, *told.low, *told.high))
    with PIL.Image.open(tmp_path / "answers_report" / "figures" / "map.png") as drawn:
        assert drawn.width == pytest.approx(89 / 25.4 * 300, abs=3)
    assert "sm.learn(c, features=features, time_limit=1.0, random_state=0)" in done.output
    assert "classes = pd.read_csv(" in done.output
    assert ", classes=classes, figure_width=89)" in done.output


@pytest.mark.parametrize(
    ("columns", "taken", "said"),
    [
        ({"image_no": ["7", "8", "9"], "class": ["x", "x", "y"]}, ["x", "x", "y"], ""),
        ({"image_no": ["7", "8", "9"], "shape": ["x", "x", "y"]}, ["x", "x", "y"], "column 'shape'"),
        ({"one": ["u", "u", "v"], "Kind": ["x", "x", "y"]}, ["x", "x", "y"], ""),
    ],
)
def test_classes_are_those_of_the_column_that_is_called_so(tmp_path, capsys, columns, taken, said):
    path = tmp_path / "classes.csv"
    pd.DataFrame({"index": ["a", "b", "c"], **columns}).to_csv(path, index=False)
    found, lines = _classes(path, ["a", "b", "c"])
    assert found == dict(zip("abc", taken, strict=True))
    assert said in capsys.readouterr().err
    namespace = {"pd": pd}
    exec(lines[0], namespace)
    assert namespace["classes"] == found


def test_a_column_of_which_every_value_is_different_is_no_class(tmp_path):
    path = tmp_path / "classes.csv"
    pd.DataFrame({"index": ["a", "b", "c"], "class": ["7", "8", "9"]}).to_csv(path, index=False)
    with pytest.raises(ValueError, match="every item has another value in column 'class', so it is no class"):
        _classes(path, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"name": ["a", "b"], "x": [1, 2]}, "no row for 'c'"),
        ({"name": ["a", "b", "b", "c"], "x": [1, 2, 3, 4]}, "two rows are about 'b'"),
        ({"name": ["a", "b", "c"], "x": ["one", "two", "three"]}, "found words in column 'x'"),
        ({"name": ["a", "b", "c"]}, "found no column beside the names"),
        ({"name": ["a", "b", "c"], "x": [1.0, None, 2.0]}, "'b' has no number in column 'x'"),
    ],
)
def test_features_that_do_not_fit_are_refused(tmp_path, table, message):
    path = tmp_path / "features.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    with pytest.raises(ValueError, match=message):
        read_features(path, ["a", "b", "c"], 3)


def test_features_come_in_the_order_of_the_items(tmp_path):
    path = tmp_path / "features.tsv"
    pd.DataFrame({"name": [2, 0, 1], "x": [20, 0, 10]}).to_csv(path, index=False, sep="\t")
    assert read_features(path, None, 3)[0].ravel().tolist() == [0, 10, 20]


def test_the_report_has_a_section_on_groups_where_there_are_some(tmp_path):
    truth = np.random.default_rng(0).normal(size=(7, 2))
    people = sm.Raters.of([3.0] * 8, names=[f"r{k}" for k in range(8)])
    c = sm.simulate(truth, 160, raters=people, random_state=1)
    few = sm.learn(c.select(np.arange(25)), time_limit=0.5, random_state=0)
    assert "<h2>Groups</h2>" not in few.page("Faces")
    side = {f"r{k}": ["<old>", "young"][k % 2] for k in range(8)}
    tested = replace(sm.compare_groups(c, side, n_permutations=19), by="Age & class")
    found = replace(few, groups=(tested,))
    page = found.page("Faces")
    assert "<h2>Groups</h2>" in page
    assert "Age &amp; class: &lt;old&gt;, young" in page
    assert "Raters grouped by Age & class" in paragraph(found)
    found.save(tmp_path, time_limit=0)
    assert len(pd.read_csv(tmp_path / "tables" / "groups_Age___class_items.csv")) == 7
    assert_every_column_is_explained(tmp_path)


def test_the_report_has_sections_on_conditions_and_on_the_session_where_there_are_some(tmp_path):
    rng = np.random.default_rng(0)
    rows = [rng.choice(6, 3, replace=False) for _ in range(240)]
    block = np.tile(np.repeat(["<one>", "two", "three"], 20), 4)
    extra = {"block": block, "trial_number": np.tile(np.arange(60), 4)}
    c = sm.Comparisons.from_triplets(rows, rater=np.repeat(["a", "b", "c", "d"], 60), n_items=6, extra=extra)
    found = sm.learn(c, method="STE", n_components=1, penalty=0.1, time_limit=LONG, random_state=0)
    assert [one.over_time for one in found.parts] == [False, True]
    page = found.save(tmp_path, time_limit=0).read_text(encoding="utf-8")
    assert {"<h2>Conditions</h2>", "<h2>Over the session</h2>"} <= set(re.findall("<h2>.*?</h2>", page))
    assert "&lt;one&gt;" in page
    assert len(pd.read_csv(tmp_path / "tables" / "by_block.csv")) == 3
    assert len(pd.read_csv(tmp_path / "tables" / "by_trial_number.csv")) == 4
    assert_every_column_is_explained(tmp_path)
    assert str(found.parts[1]) in paragraph(found)
