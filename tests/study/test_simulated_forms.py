"""Simulated raters answer every form through the server, and the export gives back what they said."""

import contextlib

import pytest

import similitude as sm
from similitude.feedback.forms import PAGES, PIECES
from similitude.study.maintenance.export import export_answers
from similitude.study.simulate import simulate_study
from similitude.study.site import open_site
from tests.study.conftest import serving
from tests.study.making import one_of_each_form

RATERS, NUMBER = 2, 3


@pytest.mark.slow
def test_simulated_raters_answer_every_form_and_the_export_is_read(tmp_path):
    one_of_each_form(tmp_path, NUMBER)
    names = {page: page.replace("_", "-") for page in PAGES}
    with serving(tmp_path) as live:
        for study in names.values():
            done = simulate_study(live.link(study), RATERS, rehearsal=False)
            assert (done.finished, done.answers, done.failed) == (RATERS, RATERS * NUMBER, 0), study
    with contextlib.closing(open_site(tmp_path)) as site:
        for page, study in names.items():
            export_answers(site.database, study, tmp_path / f"{study}.csv")
            found = sm.read_comparisons(tmp_path / f"{study}.csv")
            is_piece = PAGES[page].name in PIECES
            assert found.n_answers == (RATERS if is_piece else RATERS * NUMBER), page
            assert len(found) > 0 or is_piece, page


@pytest.mark.slow
def test_simulated_raters_say_where_they_cannot_see_what_is_alike(tmp_path):
    one_of_each_form(tmp_path, NUMBER)
    with serving(tmp_path) as live, contextlib.closing(open_site(tmp_path)) as site:
        names = site.studies["triplet"].names
        blind = simulate_study(live.link("triplet"), RATERS)
        seeing = simulate_study(live.link("triplet"), RATERS, truth=dict.fromkeys(names, (0.0,)), seed=1)
    assert "fail catch trials as well" in str(blind)
    assert "catch trials" not in str(seeing)


@pytest.mark.slow
def test_simulated_raters_reply_to_a_survey_before_the_first_question(tmp_path):
    one_of_each_form(tmp_path, NUMBER)
    field = '{ name = "%s", label = "?", kind = "number", required = true, when = "%s" }'
    survey = ", ".join(field % said for said in (("age", "before"), ("years", "after")))
    with (tmp_path / "triplet" / "study.toml").open("a", encoding="utf-8") as file:
        file.write(f"\n[survey]\nfields = [{survey}]\n")
    with serving(tmp_path) as live:
        done = simulate_study(live.link("triplet"), RATERS, rehearsal=False)
    assert (done.finished, done.answers, done.failed) == (RATERS, RATERS * NUMBER, 0)
