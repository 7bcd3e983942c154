"""Reports and dimensions on request: one at a time, by a process of its own, with progress, faults said, kept."""

import io
import json
import os
import signal
import zipfile

import pytest
import sqlalchemy as sa

from similitude.study.maintenance import maker
from similitude.study.refusal import Refused
from similitude.study.store import schema
from similitude.study.web import making
from similitude.study.works import DIMENSIONS, REPORT, SILENT, Works
from tests.patience import until
from tests.study.live import fill, open_study, write_study
from tests.study.test_login import admin_of

PAGE = "/admin/colours/report"


@pytest.fixture
def service(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours", "odd_one_out"))
    service.site = site
    yield service
    site.close()


@pytest.fixture
def browser(service):
    return admin_of(service.site)


def settings(service, kind, **more):
    return {"kind": kind, "study": "colours", "title": service.study.title, "images": {}, "colours": {}, **more}


def test_a_second_press_while_one_is_made_is_told_so(service, browser, monkeypatch):
    works = Works(service.database)
    works.ask(service.study_id, REPORT, "ada")
    for kind in (REPORT, DIMENSIONS):
        answer = browser.send(PAGE, PAGE, kind=kind, minutes="2")
        assert answer.status_code == 409
        assert "The report is being made already, as ada asked." in answer.text
    with service.database.read() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(schema.work)) == 1


def test_one_whose_process_is_silent_is_called_stopped_and_blocks_nobody(service, browser):
    works = Works(service.database)
    number = works.ask(service.study_id, REPORT, "ada")
    works.tell(number, phase="choosing", done=3, total=12)
    state = browser.get(f"{PAGE}/state").json()
    assert state["under_way"]
    assert (state["kinds"]["report"]["words"], state["kinds"]["report"]["share"]) == ("choosing: 3 of 12", 0.25)
    with service.database.write() as connection:
        connection.execute(sa.update(schema.work).values(beat=schema.work.c.beat - SILENT - 1))
    assert works.latest(service.study_id, REPORT).state == "stopped"
    assert "perhaps with the server. Start it again." in browser.get(PAGE).text
    works.ask(service.study_id, REPORT, "eve")


@pytest.mark.slow
def test_the_dimensions_are_made_seen_downloaded_and_replaced(service, browser):
    fill(service, 3, 30)
    works = Works(service.database)
    number = works.ask(service.study_id, DIMENSIONS, "ada")
    phases = []
    tell = works.tell
    works.tell = lambda number, **values: (phases.append(values.get("phase")), tell(number, **values))
    maker.run(works, number, settings(service, DIMENSIONS, starts=0))
    made = works.made(service.study_id, DIMENSIONS)
    assert (made.state, made.trouble, made.answers) == ("done", None, 90)
    assert phases[:2] == ["reading the answers", "fitting the dimensions"]
    assert phases[-1] == "packing"
    assert all(one["items"] for one in made.summary["dimensions"])
    page = browser.get(f"{PAGE}/dimensions/")
    assert "Why things are alike: Colours" in page.text
    assert page.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in page.headers["content-security-policy"]
    packed = zipfile.ZipFile(io.BytesIO(browser.get(f"{PAGE}/dimensions.zip").content))
    names = {name.removeprefix("colours_dimensions/") for name in packed.namelist()}
    assert names >= {"dimensions.html", "answers.csv", "model.sim", "tables/named_dimensions.csv"}
    assert browser.get(f"{PAGE}/dimensions/tables/named_dimensions.csv").text.startswith("dimension,")
    for path in ("../answers.db", "none.html", "%2e%2e/answers.csv"):
        assert browser.get(f"{PAGE}/dimensions/{path}").status_code == 404
    again = works.ask(service.study_id, DIMENSIONS, "ada")
    assert works.made(service.study_id, DIMENSIONS) == made  # what was made stays until the next is ready
    works.finish(again, b"new", 241, {"dimensions": []})
    assert works.result(works.made(service.study_id, DIMENSIONS)) == b"new"
    with pytest.raises(Refused, match="made anew meanwhile"):
        works.result(made)


@pytest.mark.slow
def test_the_report_is_that_of_the_command(service):
    fill(service, 4, 20)
    data, answers, summary = maker.make(
        service.database, lambda *_: None, **settings(service, REPORT, time_limit=1.0, colours={"c00": "#102030"})
    )
    packed = zipfile.ZipFile(io.BytesIO(data))
    assert (answers, summary) == (80, None)
    assert {"colours_report/report.html", "colours_report/answers.csv"} <= set(packed.namelist())
    assert b"Colours" in packed.read("colours_report/report.html")


@pytest.mark.parametrize(
    ("kind", "said"), [(REPORT, "Colours: no answers to write yet."), (DIMENSIONS, "Colours: no answers to write yet.")]
)
def test_what_cannot_be_made_says_why(service, browser, kind, said):
    works = Works(service.database)
    maker.run(works, works.ask(service.study_id, kind, "ada"), settings(service, kind))
    found = works.latest(service.study_id, kind)
    assert (found.state, found.trouble) == ("failed", said)
    assert said in browser.get(PAGE).text
    assert browser.get(f"{PAGE}/{kind}.zip").status_code == 404


def test_a_fault_is_said_without_what_is_inside(service, monkeypatch, caplog):
    works = Works(service.database)
    number = works.ask(service.study_id, REPORT, "ada")
    monkeypatch.setattr(maker, "make", lambda *_, **__: 1 / 0)
    maker.run(works, number, settings(service, REPORT))
    assert works.latest(service.study_id, REPORT).trouble == "It failed (ZeroDivisionError); the server's log says how."
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("form", [{"kind": "report", "minutes": "7"}, {"kind": "report"}, {"kind": "files"}])
def test_strange_forms_start_nothing(service, browser, form):
    assert browser.send(PAGE, PAGE, **form).status_code in (404, 422)
    with service.database.read() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(schema.work)) == 0


@pytest.mark.slow
def test_a_process_that_is_killed_is_told_of_and_one_ends_with_the_server(service, monkeypatch):
    """Killed it left nothing; and where the server goes, its input closes, and it says so."""
    started, popen, works = [], making.subprocess.Popen, Works(service.database)
    monkeypatch.setattr(making.subprocess, "Popen", lambda *a, **k: (started.append(popen(*a, **k)), started[-1])[1])
    fill(service, 2, 20)
    making.begin(service, REPORT, "ada", 600.0)
    os.kill(started[0].pid, signal.SIGKILL)
    until(lambda: works.latest(service.study_id, REPORT).state == "failed", "nobody noticed")
    assert works.latest(service.study_id, REPORT).trouble == making._BROKE_OFF
    making.begin(service, REPORT, "ada", 600.0)
    until(lambda: works.latest(service.study_id, REPORT).phase != "starting", "it did not begin")
    started[1].stdin.close()
    until(lambda: works.latest(service.study_id, REPORT).state == "failed", "it went on without its server")
    assert works.latest(service.study_id, REPORT).trouble == maker._STOPPED


def test_no_page_of_a_report_is_left_in_other_backups(service, tmp_path):
    from similitude.study.maintenance.archive import back_up

    works = Works(service.database)
    works.finish(works.ask(service.study_id, REPORT, "ada"), b"\x00zip", 1)
    back_up(service.database, tmp_path / "b.jsonl.gz")
    import gzip

    with gzip.open(tmp_path / "b.jsonl.gz", "rt") as lines:
        tables = {json.loads(line)[0] for line in list(lines)[1:]}
    assert "work" not in tables
