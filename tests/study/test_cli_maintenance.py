"""The commands of `similitude study` that work on what is kept, and simulated raters from the command line."""

from __future__ import annotations

import contextlib

import pytest
from benchmarks.study_server import Server
from typer.testing import CliRunner

import similitude as sm
from similitude.cli import app
from similitude.study.service import Joining, Said
from similitude.study.settings import StudyError
from similitude.study.site import open_site
from tests.study.servers import write_study

pytestmark = pytest.mark.slow  # a process for each test


def run(*arguments):
    done = CliRunner().invoke(app, ["study", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = write_study(tmp_path / "words", "[question]\nnumber = 4")
    server = Server(folder, f"sqlite:///{folder / 'answers.db'}").wait()
    try:
        link = f"http://127.0.0.1:{server.port}/words"
        output = run("simulate", link, "--raters", 3, "--clickers", 0.5, "--as-people")
        run("simulate", link, "--raters", 2, "--seed", 1)
    finally:
        server.kill()
    assert "3 of 3 raters finished; 12 answers" in output
    return folder


def test_from_answers_to_files_and_back(folder, tmp_path):
    assert "answers.csv: 12 answers by 3 raters (8 of" in run("export", folder, "answers.csv")
    assert "more.csv: 20 answers by 5 raters" in run("export", folder, "more.csv", "--rehearsal")
    assert "2 raters of rehearsals and 8 answers of theirs deleted" in run("forget-rehearsal", folder)
    assert "0 raters of rehearsals" in run("forget-rehearsal", folder)
    assert "answers.csv: 12 answers by 3 raters\n" in run("export", folder, "answers.csv", "--rehearsal")
    assert len(sm.read_comparisons("answers.csv")) == 12
    assert "3 raters" in run("export", folder, "raters.csv", "--raters")
    assert "12 answers" in run("backup", folder, "copy.jsonl.gz")
    assert "12 answers" in run("backup", folder, "copy.db")
    assert "0 raters had other counts" in run("rebuild", folder)
    new = write_study(tmp_path / "elsewhere" / "words", "[question]\nnumber = 4")
    assert "12 answers added" in run("import", new, "copy.db")
    assert "0 answers added" in run("import", new, "copy.jsonl.gz")
    assert "0 answers added" in run("import", new, "answers.csv")
    erased = run("erase", folder, "simulated-0-1")
    assert "4 answers erased" in erased
    assert "copy.jsonl.gz" in erased
    assert "copy.db" in erased
    kinds = "practice or catch trials or rehearsals or the pilot or erased raters"
    left_out = f"8 answers by 2 raters (4 of {kinds} left out)"
    assert left_out in run("export", folder, "answers.csv")
    assert "(4 of erased raters left out)" in run("export", folder, "answers.csv", "--known", "--rehearsal", "--pilot")
    solo = '{"form": "triplet", "rater": "solo", "shown": ["w00", "w01", "w02"], "response": [1]}\n'
    (tmp_path / "solo.jsonl").write_text(solo, encoding="utf-8")
    assert "1 answer added" in run("import", new, "solo.jsonl")
    assert "solo: 1 answer erased" in run("erase", new, "solo")


def test_a_study_that_is_served_from_the_folder_above_is_found_there(tmp_path):
    inner = write_study(tmp_path / "several" / "words")
    write_study(tmp_path / "several" / "others")
    open_site(tmp_path / "several").close()
    with pytest.raises(StudyError, match=r"the folder above holds one: give \S+several --study words"):
        run("export", inner, "a.csv")


def test_one_is_written_as_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lone = write_study(tmp_path / "lone", "[question]\nnumber = 1")
    with contextlib.closing(open_site(lone)) as site:
        service = site.studies["lone"]
        rater_id = service.rater_of(service.join(Joining("browser0")).result())
        service.consent(rater_id).result()
        service.questions(rater_id).result()
        service.answer(Said(rater_id, 0, "answer00", "answered", (1.0,))).result()
    assert "1 answer by 1 rater" in run("export", lone, "answers.csv")
    assert "1 rater;" in run("export", lone, "raters.csv", "--raters")


def test_what_cannot_be_done_is_said(folder, tmp_path):
    renamed = write_study(tmp_path / "other", "[question]\nnumber = 4")
    run("backup", folder, "copy.jsonl.gz")
    for arguments, message in (
        (("export", renamed, "a.csv"), "no answers.db in it; serve the study first"),
        (("export", folder, "a.csv", "--study", "nothing"), "no such study"),
        (("import", renamed, "copy.jsonl.gz"), "a study is called like its folder"),
        (("import", folder, "nowhere.jsonl.gz"), "no such file"),
        (("erase", folder, "nobody"), "no rater with the code"),
        (("export", tmp_path, "a.csv"), "several studies .other, words.; give --study"),
    ):
        with pytest.raises((ValueError, OSError), match=message):
            run(*arguments)
