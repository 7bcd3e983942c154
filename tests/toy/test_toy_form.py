"""A form that another package brings goes the whole way: file, simulation, next questions, page, export, fit.

It is one Python file (`most_typical.py`), one script (`most_typical.js`) and one line, its entry point.
"""

import contextlib
import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import similitude as sm
from similitude.cli import app
from similitude.feedback import forms
from similitude.feedback.forms import FORMS, PAGES, register, unregister
from similitude.feedback.forms.picking import Picking
from similitude.feedback.simulation.mind import Mind, Truth
from similitude.study.maintenance.export import export_answers
from similitude.study.service import Said
from similitude.study.simulate import Where
from similitude.study.site import open_site
from tests.feedback.strategies import assert_same
from tests.study.conftest import arrived, browser, context, on_question, serving, shot
from tests.study.live import NAMES, TRUTH, join, open_study, worker_of, write_study
from tests.study.making import faces
from tests.study.making import write_study as write_faces
from tests.toy.most_typical import MostTypical

__all__ = ["browser", "context", "shot"]
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def toy():
    form = register(MostTypical())
    yield form
    unregister(form)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The form as an installed package brings it, for processes of their own: its metadata names the entry point."""
    about = tmp_path / "site" / "toy_form-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-form\nVersion: 1.0\n", encoding="utf-8")
    point = "[similitude.forms]\nmost_typical = tests.toy.most_typical:MostTypical\n"
    (about / "entry_points.txt").write_text(point, encoding="utf-8")
    paths = [str(about.parent), str(ROOT), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in paths if path))


def typical(truth, four):
    """The definition, by a loop: which of four has the least squared distances to the others."""
    return min(range(4), key=lambda k: sum(((truth[four[k]] - truth[other]) ** 2).sum() for other in four))


def test_simulated_raters_answer_it_by_its_definition():
    truth = np.random.default_rng(0).normal(size=(15, 2))
    c = sm.simulate(truth, 50, "most_typical", random_state=1)
    for row, four in enumerate(c.answers.shown.matrix().tolist()):
        said = int(c.answers.response[row][0])
        assert said == typical(truth, four)
        others = [item for item in four if item != four[said]]
        found = {tuple(line) for line in c.triplets[c.answer == row].tolist()}
        assert found == {(x, four[said], y) for x in others for y in others if x != y}


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_files_give_it_back(tmp_path, suffix):
    truth = np.random.default_rng(0).normal(size=(9, 2))
    c = sm.simulate(truth, 20, "most_typical", raters=2, cant_tell=0.2, names=list("abcdefghi"), random_state=0)
    sm.write_comparisons(c, tmp_path / f"answers{suffix}")
    assert_same(sm.read_comparisons(tmp_path / f"answers{suffix}"), c)


def test_the_columns_of_another_tool_are_read(tmp_path):
    (tmp_path / "theirs.csv").write_text("b,c,d,typical,rater\nx,y,z,w,ann\n", encoding="utf-8")
    c = sm.read_comparisons(tmp_path / "theirs.csv")
    assert (len(c), list(c.answers.form.values), c.names[c.answers.shown[0][3]]) == (6, ["most_typical"], "w")


def test_its_next_questions_are_chosen():
    truth = np.random.default_rng(0).normal(size=(12, 2))
    c = sm.simulate(truth, 40, "most_typical", sharpness=2.0, random_state=0)
    model = sm.STE(2, random_state=0).fit(c)
    for strategy in ("information_gain", "ackl", "random"):
        table = sm.next_questions(model, 12, asked=c, form="most_typical", strategy=strategy, random_state=0)
        questions = [frozenset(row) for row in table.shown]
        assert {len(four) for four in questions} == {4}
        assert len(set(questions)) == 12
        assert not set(questions) & {frozenset(row) for row in c.answers.shown.matrix().tolist()}


def test_the_command_line_knows_it(tmp_path):
    def run(*arguments):
        found = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert found.exit_code == 0, found.output
        return found.output

    answers, model = tmp_path / "answers.csv", tmp_path / "map.sim"
    run("simulate", answers, "--form", "most_typical", "--items", 10, "--answers", 60)
    run("fit", answers, "--out", model)
    assert "most_typical" in run("next", model, "--asks", "most_typical", "--asked", answers, "--number", 3)


def test_a_study_learns_it_and_chooses_its_questions(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours", "most_typical"))
    form, rng = PAGES["most_typical"], np.random.default_rng(0)
    assert isinstance(form, Picking)
    rater, worker = join(service), worker_of(service)
    for k in range(30):
        question = service.questions(rater).result()["questions"][0]
        places = np.array([[NAMES.index(name) for name in question["shown"]]])
        mind = Mind(Truth(len(TRUTH), positions=TRUTH), np.full(1, 5.0), np.zeros(1), 0.0, None, None, rng)
        said = [float(value) for value in form.answer(mind, places)[0][0]]
        service.answer(Said(rater, question["number"], f"toy-{k:04d}", "answered", said, 900)).result()
        if k == 19:
            worker.step()
    with site.database.read() as connection:
        log = connection.exec_driver_sql("SELECT form, strategy, side, response FROM answer ORDER BY id").all()
        pool = connection.exec_driver_sql("SELECT shown FROM pool").all()
    assert {row[0] for row in log} == {"most_typical"}
    assert all(row[2] == json.loads(row[3])[0] for row in log)
    assert "information_gain" in {row[1] for row in log}
    assert {len(json.loads(row[0])) for row in pool} == {4}
    site.close()


def test_from_the_page_to_a_fit(tmp_path, installed, context, shot):
    root = tmp_path / "studies"
    settings = 'title = "Faces"\npages = {consent = "", instructions = ""}\n'
    question = '[question]\nform = "most_typical"\nnumber = 12\n'
    known = '[practice]\nquestions = [{shown = ["face00", "face01", "face02", "face07"], correct = [1]}]\n'
    write_faces(root, "typical", settings + question + known, faces())
    with serving(root) as live:
        page = context.new_page()
        page.goto(live.link("typical"))
        on_question(page, 0)
        page.get_by_role("heading", name="Which of the four is most typical").wait_for()
        page.locator(".choose[aria-label$=face01]").click()
        page.get_by_text("that is the answer we had in mind").wait_for()
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("button", name="Start").click()
        on_question(page, 1)
        shot(page, "form-most-typical")
        page.keyboard.press("3")
        on_question(page, 2)
        page.locator(".choose").nth(1).click()
        found = arrived(live, "typical", 3)
        assert [row["response"] for row in found[1:]] == [[2], [1]]
        assert [row["side"] for row in found[1:]] == [2, 1]
        page.close()
        raters = ("simulate", live.link("typical"), "--raters", "12", "--sharpness", "20", "--as-people")
        done = subprocess.check_output([sys.executable, "-m", "similitude.cli", "study", *raters], text=True)
        assert "12 of 12 raters finished" in done
    with contextlib.closing(open_site(root)) as site:
        export_answers(site.database, "typical", tmp_path / "answers.csv")
    c = sm.read_comparisons(tmp_path / "answers.csv")
    assert (c.n_answers, len(c), set(c.answers.form.labels)) == (12 * 12 + 2, 6 * (12 * 12 + 2), {"most_typical"})
    model = sm.STE(2, random_state=0).fit(c)
    seen = Where(None, None, seed=0)  # what simulated raters see of pictures
    places = np.array([seen.of({"name": name, "kind": "image"}) for name in c.names])
    fresh = sm.simulate(places, 2000, names=c.names, random_state=0)
    assert model.score(fresh) > 0.68  # so many answers give 0.8, standard deviation 0.026; chance is 0.5


def test_what_a_missing_form_said_is_kept_as_comparisons(tmp_path, toy):
    truth = np.random.default_rng(0).normal(size=(9, 2))
    c = sm.simulate(truth, 20, "most_typical", random_state=0).reweight(2.0)[:6]
    sm.write_comparisons(c.reweight(np.arange(6) + 1.0), tmp_path / "before.csv")  # a row per comparison
    unregister(toy)
    kept = sm.read_comparisons(tmp_path / "before.csv")
    sm.write_comparisons(kept, tmp_path / "after.csv")
    assert_same(sm.read_comparisons(tmp_path / "after.csv"), kept)
    assert sm.check(kept) is not None


def test_a_form_that_says_too_little_or_takes_a_name_is_refused():
    class Nameless(Picking):
        name, words = "nameless", "questions"

    class Triplet2(MostTypical):
        name = page = "triplet"

    with pytest.raises(ValueError, match="Nameless does not say its 'says'"):
        register(Nameless())
    with pytest.raises(ValueError, match="the name 'triplet' is that of Triplet; take another"):
        register(Triplet2())
    with pytest.raises(TypeError, match=r"found <class .*register MostTypical\(\)"):
        register(MostTypical)
    for wrong in ({"name": None}, {"name": "a b"}, {"name": "odd", "page": "../../x"}):
        with pytest.raises(ValueError, match="of letters, digits and _, found"):
            register(type("Odd", (MostTypical,), wrong)())
    with pytest.raises(ValueError, match="the page 'triplet' is that of Triplet"):
        register(type("Odd", (MostTypical,), {"name": "odd", "page": "triplet"})())


def test_a_package_whose_form_is_broken_is_left_out(monkeypatch):
    broken = EntryPoint("broken", "tests.toy.nowhere:Form", "similitude.forms")
    monkeypatch.setattr(forms, "entry_points", lambda **_: [broken])
    with pytest.warns(UserWarning, match="the form 'broken' of a package could not be loaded: No module named"):
        forms.load_entry_points()


def test_it_is_forgotten_again(toy):
    unregister(toy)
    assert "most_typical" not in FORMS
    assert "most_typical" not in PAGES
