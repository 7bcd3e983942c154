"""State and history for admins, programs and the command line; the model process follows, too."""

import json
import re

import numpy as np
import pytest

from similitude.study import revisions
from similitude.study.editing.gallery import Moves, put_away
from similitude.study.following import look
from similitude.study.loop import Workers
from similitude.study.site import open_site
from similitude.study.tokens import ApiTokens
from tests.shell import run
from tests.study.live import NAMES, answer, fill, join, open_study, write_study
from tests.study.test_api import Lab
from tests.study.test_login import Browser, admin_of, app_of

PAGE = "/admin/colours/versions"


@pytest.fixture
def site(tmp_path):
    site, _ = open_study(write_study(tmp_path / "studies" / "colours", number=8, title="Colours <b>").parent)
    yield site
    site.close()


@pytest.fixture
def app(site):
    return app_of(site)


@pytest.fixture
def browser(app):
    browser = Browser(app)
    browser.log_in()
    return browser


def otherwise(site, before, after):
    text = (site.kept["colours"].folder / "study.toml").read_text(encoding="utf-8")
    assert before in text
    return {"study.toml": text.replace(before, after)}


def test_the_page_shows_state_and_history_and_takes_both_back(site, browser):
    revisions.revise(site, "colours", otherwise(site, "number = 8", "number = 9\ntext = '<i>Which?</i>'"), "ada")
    page = browser.get(PAGE).text
    assert "Colours &lt;b&gt;" in page
    assert "question.text: nothing becomes “&lt;i&gt;Which?&lt;/i&gt;”" in page
    assert 'name="number" value="1"' in page
    link = re.search(r'href="(/s/colours/\?rehearsal=[0-9a-f]+)"', page)[1]
    assert browser.get(link).status_code == 200
    assert browser.send(PAGE, "/admin/colours/restore", number="1", base="2").status_code == 303
    assert site.studies["colours"].study.question.number == 8
    assert browser.send(PAGE, "/admin/colours/state", state="closed").status_code == 303
    told = browser.get(f"{PAGE}.json").json()
    assert (told["state"], told["problem"], told["may_become"]["live"]) == ("closed", None, None)
    assert "nothing to pause" in told["may_become"]["paused"]
    assert [one["number"] for one in told["history"]] == [3, 2, 1]
    assert browser.get("/admin/colours/state").json()["now"]["state"] == "closed"
    assert "closed" in browser.get("/admin").text


def test_the_page_of_a_revision_asks_who_would_show_other_files_of_items_with_answers(site, browser):
    folder = site.kept["colours"].folder
    text = (folder / "study.toml").read_text(encoding="utf-8")
    names = [f"item{k}" for k in range(6)]
    (folder / "items").mkdir(exist_ok=True)
    for name in names:
        (folder / "items" / f"{name}.txt").write_text(name, encoding="utf-8")
    (folder / "study.toml").write_text(text.replace('table = "colours.csv"', ""), encoding="utf-8")
    look(site), look(site)
    for name in names:
        put_away(folder, folder / "items" / f"{name}.txt", Moves())
        (folder / "items" / f"{name}.txt").write_text(f"another {name}", encoding="utf-8")
    look(site), look(site)
    assert 'name="sure"' not in browser.get(f"{PAGE}/2").text
    service = site.studies["colours"]
    answer(service, join(service), 1, np.random.default_rng(0), outcome="skipped")
    back = browser.send(PAGE, "/admin/colours/restore", number="2", base="3")
    assert back.headers["location"].endswith(f"{PAGE}/2"), "the page that asks"
    page = browser.get(f"{PAGE}/2").text
    assert "items that people were asked about would show other files" in page
    assert 'name="sure"' in page
    assert (folder / "items" / "item0.txt").read_text(encoding="utf-8") == "another item0"
    assert browser.send(PAGE, "/admin/colours/restore", number="2", base="3", sure="yes").status_code == 303
    assert (folder / "items" / "item0.txt").read_text(encoding="utf-8") == "item0"


def test_a_revision_is_shown_with_its_texts(site, browser):
    revisions.revise(site, "colours", {"consent.md": "<script>1</script>"}, "ada")
    text = browser.get(f"{PAGE}/2").text
    assert "&lt;script&gt;1&lt;/script&gt;" in text
    assert "name,colour" in text
    assert browser.get(f"{PAGE}/7").status_code == 404


def test_what_is_refused_is_said_on_the_page(site, browser):
    service = site.studies["colours"]
    service.questions(join(service)).result()
    refused = browser.send(PAGE, "/admin/colours/state", state="draft")
    assert refused.status_code == 409
    assert "1 person was asked already" in refused.text
    revisions.revise(site, "colours", otherwise(site, "number = 8", "number = 9"), "bob")
    late = browser.send(PAGE, "/admin/colours/restore", number="1", base="1")
    assert late.status_code == 409
    assert "revision 2, bob: question.number: 8 becomes 9" in late.text


def test_nobody_else_sees_or_changes_anything(site, app, browser):
    stranger = Browser(app)
    for path in (PAGE, f"{PAGE}.json", f"{PAGE}/1"):
        assert stranger.get(path).status_code == 303
    assert stranger.post("/admin/colours/state", {"state": "closed"}).headers["location"] == "/admin/-/login"
    assert browser.post("/admin/colours/state", {"state": "closed", "csrf": "invented"}).status_code == 403
    assert site.studies["colours"].standing().state == "live"


def test_what_the_hand_got_wrong_is_on_the_page(site, browser):
    (site.kept["colours"].folder / "study.toml").write_text("title = ", encoding="utf-8")
    look(site), look(site)
    for path in ("/admin/colours", PAGE):
        assert "What was edited in the folder is not served" in browser.get(path).text
    assert "something is not served" in browser.get("/admin").text


def test_a_site_without_studies_has_its_admin_pages(tmp_path):
    (tmp_path / "empty").mkdir()
    empty = open_site(tmp_path / "empty")
    try:
        browser = admin_of(empty)
        assert "no study here yet" in browser.get("/admin").text
        revisions.add_study(empty, "faces", "Faces", "ada")
        assert "the folder &#39;items&#39; is empty" in browser.get("/admin").text
        assert "The draft cannot be served yet" in browser.get("/admin/faces/versions").text
        assert "Faces" in browser.get("/admin").text
        assert browser.get("/s/faces/").status_code == 404
        refused = browser.send("/admin/faces/versions", "/admin/faces/state", state="live")
        assert "cannot be served yet" in refused.text
    finally:
        empty.close()


# --- programs ---


@pytest.mark.slow
def test_programs_see_and_set_the_state_and_are_asked_by_it(site, app):
    service = site.studies["colours"]
    token = ApiTokens(site.database).make(service.study_id, "lab", ["ask", "read", "admin"], "ada")
    lab = Lab(app, token)
    assert lab.get("/state").json()["state"] == "live"
    assert lab.post("/state", state="draft").json() == {"state": "draft"}
    refused = lab.post("/ask", rater="P01", consent=True)
    assert (refused.status_code, refused.json()["code"]) == (403, "not_open")
    assert lab.post("/ask", rater="P01", consent=True, rehearsal=True).status_code == 200
    lab.post("/state", state="pilot")
    assert lab.post("/ask", rater="P01", consent=True).json()["study_version"] == service.version
    answer(service, 2, 3, np.random.default_rng(0))
    assert lab.get("/export").status_code == 409, "there are none that count"
    assert lab.get("/export?pilot=true").text.count("pilot0001") == 3
    assert lab.post("/state", state="closed").status_code == 200
    assert lab.post("/ask", rater="P02", consent=True).json()["code"] == "full"
    assert lab.post("/ask", rater="P01").status_code == 200
    lab.post("/state", state="live"), lab.post("/pause")
    assert lab.post("/ask", rater="P03", consent=True).json()["paused"]
    lab.post("/state", state="closed")
    assert lab.post("/ask", rater="P03").json()["code"] == "full", "who met a paused study has not begun"
    assert lab.post("/state", state="open").status_code == 422
    refused = lab.post("/pause")
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        "The study is closed, so there is nothing to pause.",
    )
    reader = Lab(app, ApiTokens(site.database).make(service.study_id, "reader", ["read"], "ada"))
    assert reader.post("/state", state="live").status_code == 403


# --- the command line ---


def test_the_command_line_says_and_sets_the_state_and_goes_back(site, tmp_path):
    folder = site.root
    assert run("study", "state", folder, folder=tmp_path).stdout.splitlines()[0] == "colours: live"
    assert run("study", "state", folder, "pilot", folder=tmp_path).stdout == "colours: pilot\n"
    answer(site.studies["colours"], join(site.studies["colours"]), 3, np.random.default_rng(0))
    refused = run("study", "state", folder, "pilot", folder=tmp_path, check=False)
    assert refused.returncode == 1
    assert "a pilot already" in refused.stderr
    none = run("study", "export", folder, "live.csv", folder=tmp_path, check=False)
    assert "no answers to write yet" in none.stderr
    assert "3 answers by 1 rater" in run("study", "export", folder, "all.csv", "--pilot", folder=tmp_path).stdout
    revisions.revise(site, "colours", otherwise(site, "number = 8", "number = 9"), "ada")
    listed = run("study", "history", folder, folder=tmp_path).stdout.splitlines()
    assert listed[1].startswith("2  ")
    assert listed[1].endswith("ada: question.number: 8 becomes 9")
    said = run("study", "restore", folder, "1", folder=tmp_path).stdout
    assert said == "colours: revision 3 says what revision 1 said: question.number: 9 becomes 8\n"
    look(site)
    assert site.studies["colours"].study.question.number == 8


# --- the model process ---


def test_the_model_process_follows_changes_and_takes_up_new_studies(site):
    service = site.studies["colours"]
    fill(service, 4, 8)
    workers = Workers(site.root, site.database, "one")
    workers.follow()
    (worker,) = workers.all
    worker.step()
    learner = worker.learner
    assert (learner.n_answers, worker.names) == (32, NAMES)
    revisions.revise(site, "colours", {"consent.md": "Otherwise."}, "ada")
    workers.follow()
    worker.step()
    assert worker.learner is learner, "words teach nothing new"
    rows = (site.kept["colours"].folder / "colours.csv").read_text(encoding="utf-8").splitlines()
    revisions.revise(site, "colours", {"colours.csv": "\n".join([*rows[:-1], "new,#102030"]) + "\n"}, "ada")
    workers.follow()
    worker.step()
    assert worker.names == sorted([*NAMES[:-1], "new"])
    about_gone = sum(NAMES[-1] in json.loads(row) for row in _shown(site))
    assert worker.learner.n_answers == 32 - about_gone
    assert set(worker.learner.similarity.names) == set(worker.names)
    write_study(site.root / "more", number=5)
    look(site), look(site)
    workers.follow()
    assert sorted(one.study.name for one in workers.all) == ["colours", "more"]
    for one in workers.all:
        one.release()


def _shown(site):
    with site.database.read() as connection:
        return [row[0] for row in connection.exec_driver_sql("SELECT shown FROM answer")]
