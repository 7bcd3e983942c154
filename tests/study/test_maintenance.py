"""Export, backup, bringing back, erasing, counting anew; on both databases."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa

import similitude as sm
from similitude.feedback.files import writing
from similitude.study.maintenance import export
from similitude.study.maintenance.archive import back_up, bring_back
from similitude.study.maintenance.bring_in import bring_in
from similitude.study.maintenance.erase import erase_rater
from similitude.study.maintenance.export import export_answers
from similitude.study.maintenance.raters_file import export_raters, read_raters
from similitude.study.maintenance.rebuild import rebuild
from similitude.study.settings import StudyError
from similitude.study.site import open_site
from similitude.study.store import schema
from similitude.study.store.database import Database, StoreError
from similitude.study.store.rows import secret_of_tokens
from tests.study.test_service import FORMS, KNOWN, finish, rows, say

ODD = ["a,b", 'say "hi"', "new\nline", "=1+1", "+1", "-1", "@x", "\tTab", "naïve 日本 🙂", "7"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_an_export_reads_back_with_all_that_is_known(serve, take_part, tmp_path, suffix):
    service = serve("[question]\nnumber = 8", ODD)
    for k in range(2):
        rater_id = take_part(service, f"browser{k}", rater=f"=person{k}")
        service.questions(rater_id).result()
        say(service, rater_id, 0, None, outcome="cant_tell")
        say(service, rater_id, 1, None, outcome="skipped", milliseconds=None)
        finish(service, rater_id, (2.0,))
    path = tmp_path / f"answers{suffix}"
    written = export_answers(service.database, "words", path)
    assert (written.answers, written.raters, written.left_out) == (16, 2, 0)
    c = sm.read_comparisons(path)
    assert set(c.names) == {name.strip() for name in ODD}
    log = [row for row in rows(service, schema.answer) if row["outcome"] != "skipped"]  # which says nothing
    assert [[c.names[code] for code in c.answers.shown[k]] for k in range(14)] == [
        json.loads(row["shown"]) for row in log
    ]
    assert c.answers.cant_tell.sum() == 2
    assert list(c.answers.rater.values) == ["r0001"] * 7 + ["r0002"] * 7
    assert c.answers.time[0] == 1.2
    assert set(c.answers.strategy.values) == {"random", "fallback"}
    assert (c.answers.side == [row["side"] for row in log]).all()
    assert b"person" not in path.read_bytes()


@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".parquet"])
def test_an_export_is_read_as_it_is_written_and_of_one_moment(serve, take_part, tmp_path, monkeypatch, kind):
    """However many answers there are, one block of them is held; what comes meanwhile is for the next export."""
    monkeypatch.setattr(export, "BLOCK", 4)
    monkeypatch.setattr(writing, "_ROW_GROUP", 4)
    service = serve("[question]\nnumber = 10")
    for k in range(2):
        finish(service, take_part(service, f"browser{k}"))
    asked = []
    sa.event.listen(service.database.engine, "before_cursor_execute", lambda *what: asked.append(what[2]))
    file = export.AnswersFile(service.database, "words", kind)
    pieces = file.pieces()
    del asked[:]
    taken = [next(pieces), next(pieces)]
    reads = [statement for statement in asked if "FROM answer" in statement]
    assert 0 < len(reads) <= 2  # a block for each piece at most
    assert all("LIMIT" in statement for statement in reads)
    finish(service, take_part(service, "browser2"))
    taken += pieces
    assert len(taken) > 4
    path = tmp_path / f"answers{kind}"
    path.write_bytes(b"".join(taken))
    c = sm.read_comparisons(path)
    assert c.n_answers == 20
    assert [[c.names[code] for code in c.answers.shown[k]] for k in range(20)] == [
        json.loads(row["shown"]) for row in rows(service, schema.answer)[:20]
    ]
    assert (file.written.answers, file.written.raters) == (20, 2)


def test_no_cell_of_an_export_is_a_formula(serve, take_part, tmp_path):
    service = serve("[question]\nnumber = 8\n[[survey.fields]]\nname = 'said'\nlabel = 'Said'", ODD)
    for k, name in enumerate(["=cmd()", "+1", "-2", "@a", "\tx", "\rx", '"quoted"', "plain, with comma", "'", "日本"]):
        rater_id = take_part(service, f"browser{k}", rater=name)
        finish(service, rater_id)
        service.survey(rater_id, {"said": name}).result()
    export_answers(service.database, "words", tmp_path / "answers.csv")
    assert export_raters(service.database, "words", tmp_path / "raters.csv") == 10
    for file in ("answers.csv", "raters.csv"):
        frame = pd.read_csv(tmp_path / file, dtype=str, keep_default_na=False)
        cells = [cell for column in frame for cell in frame[column]]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r")) and cell != "-1"]
    back = read_raters(tmp_path / "raters.csv")
    assert [row["identity"] for row in back] == [row["identity"] for row in rows(service, schema.rater)]
    assert [row["survey_said"] for row in back] == [row["identity"] for row in back]
    assert back[0]["code"] == "r0001"


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_every_form_is_read_as_comparisons(serve, take_part, tmp_path, form):
    _, more, response = FORMS[form]
    service = serve(f"[question]\nform = '{form}'\nnumber = 5\n{more}", list("abcde"))
    rater_id = take_part(service)
    state = service.questions(rater_id).result()
    for k in range(5):
        said = {"similarity_rating": (float(k + 1),), "same_different": (float(k % 2),)}.get(form, response)
        said = (float(k % 2), k / 10) if form == "labelling" else said
        state = say(service, rater_id, state["questions"][0]["number"], said)
    export_answers(service.database, "words", tmp_path / "answers.csv")
    c = sm.read_comparisons(tmp_path / "answers.csv")
    assert c.n_items == 5
    assert len(c) > 0
    assert set(c.answers.rater.values) == {"r0001"}
    pieces = {"similarity_rating": 10, "same_different": 6}
    if form in pieces:
        assert (c.n_answers, len(c)) == (1, pieces[form])
    sm.write_comparisons(c, tmp_path / "again.csv")
    assert (sm.read_comparisons(tmp_path / "again.csv").quadruplets == c.quadruplets).all()
    if form == "labelling":
        labels = pd.read_csv(tmp_path / "answers.csv").label.map(json.loads).str[0]
        assert list(labels) == ["a", "b", "a", "b", "a"]


def test_practice_and_catch_trials_are_left_out_unless_asked_for(serve, take_part, tmp_path):
    service = serve(KNOWN)
    finish(service, take_part(service))
    assert export_answers(service.database, "words", tmp_path / "a.csv").left_out == 4
    export_answers(service.database, "words", tmp_path / "b.csv", known=True)
    assert sorted(set(pd.read_csv(tmp_path / "b.csv").kind)) == ["catch", "practice", "question"]


def test_what_cannot_be_exported_is_said(serve, tmp_path):
    service = serve()
    for study, file, message in (
        ("words", "a.csv", "no answers"),
        ("other", "a.csv", "no such study; it has words"),
        ("words", "a.txt", "expected a file that ends in"),
    ):
        with pytest.raises(StudyError, match=message):
            export_answers(service.database, study, tmp_path / file)
    assert not (tmp_path / "a.csv").exists()


def everything(database):
    """All rows that a backup keeps, but for the list of backups."""
    with database.read() as connection:
        return {
            table.name: sorted(map(repr, connection.execute(sa.select(table)).all()))
            for table in schema.metadata.sorted_tables
            if table.name not in ("backup", "pool", "model", "curve", "admin_session", "one_time_link")
        }


@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
def test_a_backup_is_brought_back_into_either_database(serve, take_part, tmp_path, postgresql, target):
    service = serve(KNOWN + "\n[[survey.fields]]\nname = 'said'\nlabel = 'Said'")
    finish(service, take_part(service, rater="ann"))
    service.survey(1, {"said": "=1\n日本"}).result()
    service.questions(take_part(service, "browser1")).result()
    assert back_up(service.database, tmp_path / "copy.jsonl.gz") == 16
    with pytest.raises(StudyError, match="there is a file already"):
        back_up(service.database, tmp_path / "copy.jsonl.gz")
    url = f"sqlite:///{tmp_path / 'other.db'}" if target == "sqlite" else postgresql.fresh(1)
    other = Database(url)
    try:
        assert bring_back(other, tmp_path / "copy.jsonl.gz") == 16
        assert everything(other) == everything(service.database)
        assert bring_back(other, tmp_path / "copy.jsonl.gz") == 0
        assert everything(other) == everything(service.database)
    finally:
        other.close()
    assert [Path(row["file"]).name for row in rows(service, schema.backup)] == ["copy.jsonl.gz"]


def test_a_study_goes_on_from_a_backup(serve, take_part, tmp_path, url):
    service = serve("[question]\nnumber = 6")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    state = say(service, rater_id, 0)
    token = service.keys.token(rater_id)
    file = tmp_path / ("copy.db" if url.startswith("sqlite") else "copy.jsonl.gz")
    back_up(service.database, file)
    say(service, rater_id, 1)
    new = Database(f"sqlite:///{tmp_path / 'new.db'}")
    new.close()
    site = open_site(service.study.folder, f"sqlite:///{tmp_path / 'new.db'}")
    try:
        assert bring_back(site.database, file) == 1
    finally:
        site.close()
    site = open_site(service.study.folder, f"sqlite:///{tmp_path / 'new.db'}")
    try:
        again = site.studies["words"]
        assert again.rater_of(token) == rater_id
        assert again.questions(rater_id).result() == state
        assert len(finish(again, rater_id)) == 5
        take_part(again, "browser1")
    finally:
        site.close()


def test_backups_of_another_database_and_damaged_ones_are_refused(serve, take_part, tmp_path):
    service = serve("[question]\nnumber = 2")
    finish(service, take_part(service))
    other = Database(f"sqlite:///{tmp_path / 'other.db'}")
    try:
        with other.write() as connection:
            secret_of_tokens(connection)
        back_up(other, tmp_path / "other.jsonl.gz")
    finally:
        other.close()
    before = everything(service.database)
    back_up(service.database, tmp_path / "good.jsonl.gz")
    (tmp_path / "cut.jsonl.gz").write_bytes((tmp_path / "good.jsonl.gz").read_bytes()[:-40])
    (tmp_path / "text.jsonl.gz").write_text("hello", encoding="utf-8")
    newer = [json.dumps({"similitude": "study archive", "format": 1, "schema": "9999"})]
    (tmp_path / "newer.jsonl.gz").write_bytes(gzip.compress("\n".join(newer).encode()))
    (tmp_path / "no.jsonl.gz").write_bytes(gzip.compress(b"{}\n"))
    for file, message in (
        ("other", "another database"), ("cut", "cut off"), ("text", "no archive"), ("newer", "newer"),
        ("no", "no archive"),
    ):  # fmt: skip
        with pytest.raises(StudyError, match=message):
            bring_back(service.database, tmp_path / f"{file}.jsonl.gz")
    assert everything(service.database) == before


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_exported_answers_come_into_a_new_study(serve, take_part, tmp_path, suffix, url):
    service = serve(KNOWN)
    for k in range(2):
        rater_id = take_part(service, f"browser{k}", rater=f"person{k}")
        service.questions(rater_id).result()
        say(service, rater_id, 0, None, outcome="skipped")
        finish(service, rater_id)
    path = tmp_path / f"answers{suffix}"
    export_answers(service.database, "words", path, known=True)
    assert bring_in(service, path) == 0
    site = open_site(service.study.folder, f"sqlite:///{tmp_path / 'new.db'}")
    try:
        new = site.studies["words"]
        assert bring_in(new, path) == 32
        assert bring_in(new, path) == 0
        assert rebuild(new.database) == 0
        same = ("number", "kind", "form", "shown", "outcome", "response", "side", "milliseconds", "strategy")
        log = [{name: row[name] for name in same} for row in rows(new, schema.answer)]
        assert log == [{name: row[name] for name in same} for row in rows(service, schema.answer)]
        assert [row["catches_passed"] for row in rows(new, schema.rater)] == [
            row["catches_passed"] for row in rows(service, schema.rater)
        ]
        assert {row["identity"] for row in rows(new, schema.rater)} == {None}
        finish(new, take_part(new, "another"))
        assert len({row["code"] for row in rows(new, schema.rater)}) == len(rows(new, schema.rater)) == 3
    finally:
        site.close()


def test_answers_that_contradict_the_log_are_refused(serve, take_part, tmp_path):
    service = serve("[question]\nnumber = 3")
    finish(service, take_part(service))
    export_answers(service.database, "words", tmp_path / "answers.csv")
    text = (tmp_path / "answers.csv").read_text(encoding="utf-8")
    (tmp_path / "other.csv").write_text(text.replace("[1.0]", "[2.0]", 1), encoding="utf-8")
    (tmp_path / "form.csv").write_text(text.replace("triplet", "tryplet"), encoding="utf-8")
    (tmp_path / "list.csv").write_text(text.replace("[1.0]", "{}", 1), encoding="utf-8")
    (tmp_path / "columns.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (tmp_path / "more.csv").write_text(text.replace(",2,", ",7,"), encoding="utf-8")
    before = everything(service.database)
    for file, message in (
        ("more", "r0001 is another rater here"), ("other", "row 1 differs"), ("form", "tryplet"),
        ("list", "expected a list"), ("columns", "no column 'form'"),
    ):  # fmt: skip
        with pytest.raises(StudyError, match=message):
            bring_in(service, tmp_path / f"{file}.csv")
    assert everything(service.database) == before


def test_an_archive_of_the_first_schema_is_brought_back_as_it_would_be_now(serve, take_part, tmp_path):
    service = serve("[question]\nnumber = 6")
    service.questions(take_part(service)).result()
    back_up(service.database, tmp_path / "now.jsonl.gz")
    since = {"origin", "began", "withheld", "direction", "background", "last_login"}
    newer = {"uptime", "invitation", "tombstone", "password_set"}
    imported = {"id": 2, "code": "r0002", "uid": "imported-r0002", "consented": 2e9, "finished": 2e9}
    with (
        gzip.open(tmp_path / "now.jsonl.gz", "rt") as lines,
        gzip.open(tmp_path / "old.jsonl.gz", "wt") as old,
    ):
        old.write(json.dumps({**json.loads(next(lines)), "schema": "0001"}) + "\n")
        for line in lines:
            name, row = json.loads(line)
            row = {key: value for key, value in row.items() if key not in since}
            if name == "lease":
                row["expires"] = 1.8e9  # by the time of day
            if name not in newer:
                old.write(json.dumps([name, row]) + "\n")
            if name == "rater":
                old.write(json.dumps([name, {**row, **imported}]) + "\n")
    with closing(open_site(service.study.folder, f"sqlite:///{tmp_path / 'new.db'}")) as site:
        bring_back(site.database, tmp_path / "old.jsonl.gz")
        again = site.studies["words"]
        assert {row["expires"] for row in rows(again, schema.lease)} == {0.0}
        raters = [(row["origin"], row["uid"]) for row in rows(again, schema.rater)]
        assert raters == [("joined", "browser0"), ("imported", "imported:r0002")]


def test_an_erased_rater_is_gone(serve, take_part, tmp_path, url):
    fields = "[[survey.fields]]\nname = 'said'\nlabel = 'Said'"
    service = serve(f"[question]\nnumber = 4\n{fields}")
    finish(service, take_part(service, "browser0", rater="SECRETPERSON", other="SECRETPARAMETER"))
    service.survey(1, {"said": "SECRETREPLY" * 300}).result()
    other = take_part(service, "browser1", rater="bob")
    service.questions(other).result()
    say(service, other, 0, uid="answer-of-bob")
    back_up(service.database, tmp_path / "before.jsonl.gz")
    with service.database.write() as connection:  # the clock was put back a year before the backup
        connection.execute(sa.update(schema.backup).values(at=schema.backup.c.at - 365 * 86_400))
    erased = erase_rater(service.database, "words", "SECRETPERSON")
    assert (erased.code, erased.answers) == ("r0001", 4)
    assert [Path(file).name for file in erased.backups] == ["before.jsonl.gz"]
    mine = [row for row in rows(service, schema.answer) if row["rater_id"] == 1]
    assert {row["outcome"] for row in mine} == {"redacted"}
    assert {(row["response"], row["uid"], row["milliseconds"], row["side"]) for row in mine} == {(None, None, None, -1)}
    assert rows(service, schema.reply) == []
    record = rows(service, schema.redaction)[0]
    assert (record["code"], record["answers"], len(json.loads(record["backups"]))) == ("r0001", 4, 1)
    for request in (service.questions(1), service.survey(1, {})):
        with pytest.raises(ValueError, match="erased, as you asked"):
            request.result()
    export_answers(service.database, "words", tmp_path / "answers.csv")
    assert set(sm.read_comparisons(tmp_path / "answers.csv").answers.rater.values) == {"r0002"}
    assert rebuild(service.database) == 0
    if url.startswith("sqlite"):
        for file in tmp_path.glob("answers.db*"):
            data = file.read_bytes()
            assert b"SECRET" not in data
            assert b"answer1-" not in data
        assert b"answer-of-bob" in (tmp_path / "answers.db").read_bytes()
    again = erase_rater(service.database, "words", "r0001")
    assert again.answers == 4
    with pytest.raises(StudyError, match="no rater with the code or identity 'nobody'"):
        erase_rater(service.database, "words", "nobody")


@pytest.mark.parametrize("kind", [".csv", ".tsv", ".jsonl"])
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_a_code_that_was_brought_in_is_no_formula_and_comes_back_as_it_was(serve, tmp_path, kind):
    codes = ["=cmd|' /C calc'!A0", "+1", "@x", "＝1", '"quoted"', "plain"]
    answers = [{"form": "triplet", "rater": code, "shown": ["w00", "w01", "w02"], "response": [1]} for code in codes]
    (tmp_path / "given.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers))
    service, path = serve(), tmp_path / f"answers{kind}"
    assert bring_in(service, tmp_path / "given.jsonl") == 6
    export_answers(service.database, "words", path)
    if kind != ".jsonl":
        frame = pd.read_csv(path, sep="\t" if kind == ".tsv" else ",", dtype=str, keep_default_na=False)
        assert not [code for code in frame["rater"] if code.startswith(("=", "+", "@", "＝"))]
    assert sm.read_comparisons(path).answers.rater.values.tolist() == codes
    assert bring_in(service, path) == 0, "they are known by their codes"
    assert [row["code"] for row in rows(service, schema.rater)] == codes


@pytest.mark.parametrize("name", ["kind", "direction", "background", "strategy", "study_version"])
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_what_no_server_writes_is_not_brought_in(serve, tmp_path, name):
    answer = {"form": "triplet", "rater": "r0001", "shown": ["w00", "w01", "w02"], "response": [1], name: "=1+1"}
    (tmp_path / "given.jsonl").write_text(json.dumps(answer) + "\n")
    service = serve()
    with pytest.raises(StudyError, match=f"row 1: {name}: expected"):
        bring_in(service, tmp_path / "given.jsonl")
    assert rows(service, schema.rater) == []


def test_nobody_is_kept_from_being_erased_by_anothers_name(serve, take_part):
    """Two raters who call themselves by each other's code: both can be erased, by code and by identity."""
    service = serve("[question]\nnumber = 2")
    for k, name in enumerate(("r0002", "r0001", "r0004", "r0003")):
        take_part(service, f"browser{k}", rater=name)
    assert erase_rater(service.database, "words", "r0002").code == "r0002"
    assert erase_rater(service.database, "words", "r0002", by_identity=True).code == "r0001"
    assert erase_rater(service.database, "words", "r0003", by_identity=True).code == "r0004"
    assert erase_rater(service.database, "words", "r0003").code == "r0003"
    assert [row["identity"] for row in rows(service, schema.rater)] == [None] * 4
    with pytest.raises(StudyError, match="no rater with the identity 'r0001'"):
        erase_rater(service.database, "words", "r0001", by_identity=True)


def test_counts_are_made_anew_from_the_log(serve, take_part):
    service = serve(KNOWN)
    for k in range(3):
        finish(service, take_part(service, f"browser{k}"))
    late = take_part(service, "browser9")
    service.questions(late).result()
    say(service, late, 0)
    assert rebuild(service.database) == 0
    before = everything(service.database)
    with service.database.write() as connection:
        connection.execute(sa.update(schema.rater).values(answered=0, catches=9, catches_passed=7, asked=1))
        connection.execute(sa.update(schema.lease).where(schema.lease.c.rater_id < late).values(open=True))
    assert rebuild(service.database) == 4
    assert everything(service.database) == before


def test_a_copy_of_the_file_is_whole(serve, take_part, tmp_path, url):
    if not url.startswith("sqlite"):
        with pytest.raises(StudyError, match="pg_dump"):
            back_up(serve().database, tmp_path / "copy.db")
        return
    service = serve("[question]\nnumber = 3")
    finish(service, take_part(service))
    back_up(service.database, tmp_path / "copy.db")
    with sqlite3.connect(tmp_path / "copy.db") as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert copy.execute("SELECT count(*) FROM answer").fetchone() == (3,)
    copy.close()
    (tmp_path / "bad.db").write_bytes(b"x" * 5000)
    with pytest.raises(StoreError, match="not a database"):
        bring_back(service.database, tmp_path / "bad.db")
