"""Acting on people: left out, taken back in, asked anew, noted about; the model, the figures and the exports follow."""

import json
import threading

import numpy as np
import pytest
import sqlalchemy as sa

import similitude as sm
from similitude.methods.similarity import Similarity
from similitude.study.audit import deeds
from similitude.study.entrance import Joining
from similitude.study.maintenance.archive import back_up, bring_back
from similitude.study.maintenance.erase import erase_rater
from similitude.study.maintenance.export import export_answers
from similitude.study.maintenance.raters_file import export_raters, raters_table, read_raters
from similitude.study.maintenance.rebuild import rebuild
from similitude.study.people.listing import FILTERS, SORTS, Sifting
from similitude.study.people.listing import read_raters as listed
from similitude.study.people.standing import People
from similitude.study.refusal import Refused
from similitude.study.service import Said
from similitude.study.site import open_site
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.web.watch import Watch
from tests.shell import run
from tests.study.live import NAMES, answer, fill, join, open_study, respond, worker_of, write_study

CATCH = '[catch]\nevery = 4\n[[catch.questions]]\nshown = ["c00", "c01", "c02"]\ncorrect = [2]\n'
SURVEY = (
    '[survey]\nfields = [{name = "age", label = "Age", kind = "number"}]\n'
    '[completion]\ncode = "C1"\nseconds_per_question = 0\n'
)


@pytest.fixture
def study(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours"))
    yield service
    site.close()


def standing(service):
    return People(service.database, service.study_id)


def raters(service):
    with service.database.read() as connection:
        return {one.row["id"]: one for one in listed(connection, service.study, service.study_id)}


def code(service, rater_id):
    return raters(service)[rater_id].code


def model(service):
    table = schema.model
    with service.database.read() as connection:
        data = connection.scalar(sa.select(table.c.similarity).where(table.c.study_id == service.study_id))
    return None if data is None else Similarity.from_bytes(data)


def exported(service, folder, name="answers.jsonl"):
    export_answers(service.database, "colours", folder / name)
    lines = (folder / name).read_text(encoding="utf-8").splitlines()[1:]
    return [json.loads(line) for line in lines]


def copy_log(service, other, people):
    """Give another study the raters and answers of some people, in their order."""
    with service.database.read() as source, other.database.write() as target:
        for table, whose in ((schema.rater, schema.rater.c.id), (schema.answer, schema.answer.c.rater_id)):
            rows = source.execute(sa.select(table).where(whose.in_(people)).order_by(table.c.id)).mappings().all()
            target.execute(sa.insert(table), [{**row, "study_id": other.study_id} for row in rows])


@pytest.mark.slow
@pytest.mark.parametrize("form", ["triplet", "similarity_rating"])
def test_who_is_left_out_is_to_the_model_as_if_never_asked_and_who_is_taken_back_as_before(tmp_path, form):
    """The same bits: the log without somebody's answers is fitted as a log that never had them."""
    site, service = open_study(write_study(tmp_path / "one" / "colours", form))
    other_site, other = open_study(write_study(tmp_path / "two" / "colours", form))
    people = fill(service, 3, 40)
    contrary = fill(service, 1, 40, seed=5, contrary=form == "triplet")[0]
    copy_log(service, other, people)
    worker = worker_of(service)
    worker.step()
    before, gone = model(service), code(service, contrary)
    standing(service).leave_out([gone], "ada", "a mind of its own")
    worker.step()
    worker_of(other).step()
    without = model(service)
    assert np.array_equal(without.embedding, model(other).embedding)
    assert not np.array_equal(without.embedding, before.embedding)
    standing(service).take_back([gone], "ada")
    worker.step()
    assert np.array_equal(model(service).embedding, before.embedding)
    site.close()
    other_site.close()


@pytest.mark.slow
def test_the_model_goes_where_too_few_are_left_and_the_curve_forgets_what_lies_ahead(study):
    people = fill(study, 3, 40)
    worker = worker_of(study)
    worker.step()
    assert model(study) is not None
    everybody = [code(study, one) for one in people]
    standing(study).leave_out(everybody[:1], "ada", "a trial")
    worker.step()
    with study.database.read() as connection:
        assert max(connection.scalars(sa.select(schema.curve.c.answers))) == 80
    standing(study).leave_out(everybody, "ada", "a trial")
    worker.step()
    assert model(study) is None
    standing(study).take_back(everybody, "ada")
    worker.step()
    assert model(study) is not None


def test_figures_and_seats_are_those_of_who_counts(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours", more="[raters]\nlimit = 3", number=4))
    people = fill(service, 3, 4)
    watch = Watch(service)
    assert watch.look()["now"]["totals"]["answers"] == 12
    with pytest.raises(Refused, match="all the people it needs"):
        join(service)
    standing(service).leave_out([code(service, people[0])], "ada", "asleep")
    now = watch.look()["now"]
    assert [now["totals"][name] for name in ("raters", "left_out", "answers", "own")] == [2, 1, 8, 8]
    assert sum(now["outcomes"].values()) == 8
    assert sum(count for _, count in now["minutes"]) == 8
    assert [one["left_out"] is not None for one in now["raters"]] == [False, False, True]
    join(service)  # the seat is free
    standing(service).take_back([code(service, people[0])], "ada")
    assert watch.look()["now"]["totals"]["answers"] == 12
    site.close()


def test_exports_hold_everybody_and_say_who_counts_and_a_report_counts_those(study, tmp_path):
    people = fill(study, 3, 20)
    gone = code(study, people[1])
    standing(study).leave_out([gone], "ada", "asleep")
    rows = exported(study, tmp_path)
    assert len(rows) == 60
    assert {row["rater"] for row in rows if row["standing"] == "left_out"} == {gone}
    for name in ("answers.csv", "answers.parquet", "answers.jsonl", "plain.csv"):
        export_answers(study.database, "colours", tmp_path / name, plain=name.startswith("plain"))
        found = sm.read_comparisons(tmp_path / name)
        assert found.n_answers == 40, name
        assert gone not in found.answers.rater.labels, name
        assert "20 answers of raters whom the study's researchers left out" in found.removed[-1].why
    said = run("check", tmp_path / "answers.csv", folder=tmp_path).stdout
    assert "20 answers of raters whom the study's researchers left out" in " ".join(said.split())


def test_who_does_not_count_does_not_count_where_the_file_is_brought(study, tmp_path):
    people = fill(study, 3, 6)
    standing(study).redo([code(study, people[0])], "ada")
    answer(study, people[0], 2, np.random.default_rng(3))
    standing(study).leave_out([code(study, people[1])], "ada", "asleep")
    rows = exported(study, tmp_path)
    run("study", "import", write_study(tmp_path / "other" / "colours"), tmp_path / "answers.jsonl", folder=tmp_path)
    site, other = open_study(tmp_path / "other" / "colours")
    assert [(row["rater"], row["number"], row["standing"]) for row in exported(other, tmp_path, "again.jsonl")] == [
        (row["rater"], row["number"], row["standing"]) for row in rows
    ]
    site.close()


def test_a_file_in_which_nobody_counts_is_refused(study, tmp_path):
    people = fill(study, 2, 5)
    standing(study).leave_out([code(study, one) for one in people], "ada", "a trial")
    export_answers(study.database, "colours", tmp_path / "answers.csv")
    with pytest.raises(ValueError, match="no answer counts: the column standing says"):
        sm.read_comparisons(tmp_path / "answers.csv")


def test_every_decision_has_who_when_and_why_and_deciding_it_twice_is_deciding_it_once(study):
    one = code(study, fill(study, 1, 3)[0])
    people = standing(study)
    assert people.leave_out([one], "ada", " clicks at random ").done == (one,)
    again = people.leave_out([one, "r9999"], "bob", "the same")
    assert again.done == ()
    assert again.not_done == {one: "left out before", "r9999": "no such rater"}
    assert str(again) == f"0 done; 1 not: left out before ({one}); 1 not: no such rater (r9999)"
    people.note(one, "bob", "wrote that the page froze")
    assert people.take_back([one], "bob", "a fault of ours").done == (one,)
    assert people.take_back([one], "bob").not_done == {one: "not left out"}
    assert [(it.who, it.words, it.text) for it in people.remarks(one)] == [
        ("bob", "taken back in", "a fault of ours"),
        ("bob", "note", "wrote that the page froze"),
        ("ada", "left out", "clicks at random"),
    ]
    logged = [(it.who, it.what, it.detail) for it in deeds(study.database) if "rater" in it.what]
    assert logged == [
        ("bob", "took raters back into", f"{one}: a fault of ours"),
        ("bob", "noted about a rater of", one),
        ("ada", "left raters out of", f"{one}: clicks at random"),
    ]
    with pytest.raises(Refused, match="Say why"):
        people.leave_out([one], "ada", "  ")
    with pytest.raises(Refused, match="at most 2000 characters, found 2001"):
        people.leave_out([one], "ada", "x" * 2001)
    with pytest.raises(Refused, match="no rater 'nobody'"):
        people.note("nobody", "ada", "hello")


def test_two_admins_at_once_decide_it_once(study):
    codes = [code(study, one) for one in fill(study, 6, 1)]
    found, barrier = [], threading.Barrier(4)

    def decide(name):
        barrier.wait()
        found.append(standing(study).leave_out(codes, name, "both thought so"))

    threads = [threading.Thread(target=decide, args=(f"admin{k}",)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one for acted in found for one in acted.done) == sorted(codes)
    with study.database.read() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(schema.remark)) == 6


def finish(service, rater_id, n, rng):
    answer(service, rater_id, n, rng)
    return service.survey(rater_id, {"age": "40"}).result()


def test_who_is_asked_anew_begins_again_and_what_was_said_before_is_kept_and_superseded(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours", catch=CATCH + SURVEY, number=8))
    rng = np.random.default_rng(0)
    rater_id = join(service, rater="Ann")
    assert finish(service, rater_id, 10, rng)["code"] == "C1"
    one = code(service, rater_id)
    assert standing(service).redo([one], "ada", "the page froze").done == (one,)
    asked = service.questions(rater_id).result()
    assert (asked["answered"], asked["first"], asked["done"]) == (0, 10, False)
    assert [question["number"] for question in asked["questions"]] == [10, 11, 12, 13, 14]
    again = service.join(Joining("another browser", {"rater": "Ann"})).result()
    assert service.rater_of(again) == rater_id
    answer(service, rater_id, 3, rng)
    rows = exported(service, tmp_path)
    superseded = [row["number"] for row in rows if row["standing"] == "superseded"]
    assert len(superseded) == 8, "the catch trials of both rounds are not in it"
    assert max(superseded) < 10
    assert sm.read_comparisons(tmp_path / "answers.jsonl").n_answers == sum(row["standing"] == "counts" for row in rows)
    assert rebuild(service.database) == 0, "counts are those of the round that counts"
    assert finish(service, rater_id, 7, rng)["code"] == "C1"
    row = raters(service)[rater_id].row
    assert (row["answered"], row["catches"], row["asked"], row["first"]) == (10, 2, 20, 10)
    table = raters_table(service.database, "colours")
    assert (table["redone"], table["survey_age"], table["survey_age (round 1)"]) == ([1], ["40"], ["40"])
    assert standing(service).redo([one], "ada").done == (one,)
    assert standing(service).redo([one], "ada").not_done == {one: "has answered nothing yet"}
    site.close()


def test_an_answer_on_its_way_while_its_rater_is_asked_anew_is_kept_and_does_not_count(study):
    rng = np.random.default_rng(0)
    rater_id = join(study)
    answer(study, rater_id, 2, rng)
    held = study.questions(rater_id).result()["questions"][0]
    standing(study).redo([code(study, rater_id)], "ada")
    said = Said(rater_id, held["number"], "late-answer", "answered", respond("triplet", held["shown"], rng))
    found = study.answer(said).result()
    assert found["answered"] == 0
    with study.database.read() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(schema.answer)) == 3


def test_who_has_seen_every_question_can_be_asked_all_of_them_anew(tmp_path):
    """Nobody is asked the same twice, but in a round that counts no more."""
    names = NAMES[:3]
    folder = write_study(tmp_path / "colours", number=3)
    rows = (folder / "colours.csv").read_text(encoding="utf-8").splitlines()[:4]
    (folder / "colours.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    site, service = open_study(folder)
    rater_id = join(service)
    for _ in range(2):
        shown = []
        while held := service.questions(rater_id).result()["questions"]:
            shown.append(held[0]["shown"])
            said = [1]
            service.answer(Said(rater_id, held[0]["number"], f"uid-{held[0]['number']:08d}", "answered", said)).result()
        assert sorted(one[0] for one in shown) == names
        standing(service).redo([code(service, rater_id)], "ada")
    site.close()


def test_what_cannot_be_decided_is_said(study):
    study.join(Joining("rehearsing0", {"rehearsal": "yes"})).result()
    rehearsal = next(one.code for one in raters(study).values())
    fresh = code(study, join(study))
    erased = code(study, fill(study, 1, 2)[0])
    erase_rater(study.database, "colours", erased)
    people = standing(study)
    assert people.leave_out([rehearsal], "ada", "why").not_done == {rehearsal: "of the rehearsal, which never counts"}
    assert people.redo([fresh, erased], "ada").not_done == {fresh: "has answered nothing yet", erased: "erased"}
    with pytest.raises(Refused, match="was erased"):
        people.note(erased, "ada", "hello")
    with pytest.raises(Refused, match="expected one of leave_out, take_back, redo"):
        people.act("erase", [fresh], "ada", "why")


def test_notes_and_reasons_go_when_a_rater_is_erased(study, tmp_path):
    one = code(study, fill(study, 1, 2)[0])
    standing(study).note(one, "ada", "Ann from Room-7731")
    erase_rater(study.database, "colours", one)
    assert [(it.words, it.text) for it in standing(study).remarks(one)] == [("note", "")]
    assert not any(b"Room-7731" in path.read_bytes() for path in (tmp_path / "colours").glob("answers.db*"))


def test_backups_bring_back_what_was_decided(study, tmp_path):
    one = code(study, fill(study, 1, 2)[0])
    standing(study).leave_out([one], "ada", "asleep")
    for name in ("backup.jsonl.gz", "backup.db"):
        back_up(study.database, tmp_path / name)
        other = Database(f"sqlite:///{tmp_path / name.replace('.', '-')}.db")
        bring_back(other, tmp_path / name)
        remarks = People(other, study.study_id).remarks(one)
        assert [(it.who, it.words, it.text) for it in remarks] == [("ada", "left out", "asleep")]
        with other.read() as connection:
            assert connection.scalar(sa.select(schema.rater.c.left_out)) is not None
        other.close()


def test_the_table_of_raters_keeps_decisions_that_were_taken_back(study):
    one, other = (code(study, of) for of in fill(study, 2, 4))
    people, clock = standing(study), study.database.clock
    moments = iter(range(100, 200))
    clock.now = lambda: float(next(moments))
    people.leave_out([one], "ada", "asleep")
    people.take_back([one], "bob", "was awake")
    people.leave_out([one], "cleo", "asleep after all")
    people.note(one, "ada", "a note is no decision")
    people.redo([other], "ada", "the page froze")
    table = raters_table(study.database, "colours")
    first, again = (json.loads(table["decisions"][table["code"].index(of)]) for of in (one, other))
    assert [(it["what"], it["who"], it["reason"]) for it in first] == [
        ("left_out", "ada", "asleep"), ("taken_back", "bob", "was awake"), ("left_out", "cleo", "asleep after all"),
    ]  # fmt: skip
    assert first[0]["at"] < first[0]["taken_back"] == first[1]["at"] < first[2]["at"]
    assert (first[0]["taken_back_by"], first[2]["taken_back"], first[2]["taken_back_by"]) == ("bob", None, None)
    assert table["left_out_by"][table["code"].index(one)] == "cleo"
    assert [(it["what"], it["reason"]) for it in again] == [("redo", "the page froze")]


@pytest.mark.slow
def test_the_table_of_raters_says_all_of_it_and_reads_back(study, tmp_path):
    fill(study, 4, 40)
    gone = code(study, fill(study, 1, 40, seed=3, contrary=True)[0])
    worker = worker_of(study)
    worker.step()
    flags = next(one for one in raters(study).values() if one.code == gone).flags
    assert flags
    standing(study).leave_out([gone], "ada", '=HYPERLINK("http://evil")')
    standing(study).note(gone, "bob", "two\nlines, and a comma")
    worker.step()
    assert export_raters(study.database, "colours", tmp_path / "raters.csv") == 5
    rows = {row["code"]: row for row in read_raters(tmp_path / "raters.csv")}
    assert rows[gone]["left_out_reason"] == '=HYPERLINK("http://evil")'
    assert rows[gone]["left_out_by"] == "ada"
    assert json.loads(rows[gone]["notes"])[0]["text"] == "two\nlines, and a comma"
    assert rows[gone]["flags"] == "; ".join(flags), "as judged when left out"
    assert 0.5 < float(rows["r0001"]["judged_by_model"]) <= 1
    assert rows["r0001"]["left_out_reason"] is None
    assert not any(cell.startswith("=") for cell in (tmp_path / "raters.csv").read_text(encoding="utf-8").split(","))


def test_lists_are_filtered_searched_and_sorted(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours", catch=CATCH))
    rng = np.random.default_rng(0)
    for number, name in ((3, "Zoë"), (9, "ann"), (0, "Bob")):
        answer(service, join(service, rater=name), number, rng)
    everybody = list(raters(service).values())
    assert [one.row["identity"] for one in Sifting(sort="answered").of(everybody)] == ["Bob", "Zoë", "ann"]
    assert [one.row["identity"] for one in Sifting(sort="-answered").of(everybody)] == ["ann", "Zoë", "Bob"]
    assert [one.code for one in Sifting(search="ZO").of(everybody)] == [everybody[0].code]
    assert [one.row["identity"] for one in Sifting("unfinished", sort="code").of(everybody)] == ["Zoë", "ann", "Bob"]
    known = [one.row["catches"] > 0 for one in Sifting(sort="catches").of(everybody)]
    assert known == sorted(known, reverse=True), "what is not known stands last"
    for only in FILTERS:
        for sort in SORTS:
            upwards, down = (Sifting(only, sort=sign + sort).of(everybody) for sign in ("", "-"))
            assert {one.code for one in upwards} == {one.code for one in down}
    with pytest.raises(ValueError, match="only: expected one of all, flagged"):
        Sifting("<script>")
    with pytest.raises(ValueError, match="sort: expected one of joined, code"):
        Sifting(sort="--code")
    site.close()


def test_the_same_by_command(tmp_path):
    folder = write_study(tmp_path / "colours")
    site, service = open_study(folder)
    one, two = (code(service, rater) for rater in fill(service, 2, 3))
    site.close()
    assert run("study", "leave-out", folder, one, "--reason", "asleep", folder=tmp_path).stdout == "1 done\n"
    again = run("study", "leave-out", folder, one, "--reason", "asleep", folder=tmp_path, check=False)
    assert (again.returncode, again.stdout) == (1, f"0 done; 1 not: left out before ({one})\n")
    assert run("study", "raters", folder, "--only", "left_out", folder=tmp_path).stdout == (
        f"{one}  answering, 3 answers  left out: asleep\n"
    )
    run("study", "note", folder, one, "called us", folder=tmp_path)
    run("study", "take-back", folder, one, folder=tmp_path)
    run("study", "redo", folder, two, "--reason", "froze", folder=tmp_path)
    said = run("study", "rater", folder, one, folder=tmp_path).stdout
    assert "note: called us" in said
    assert "left out: asleep" in said
    listed_now = run("study", "raters", folder, folder=tmp_path).stdout.splitlines()
    assert listed_now == [f"{one}  answering, 3 answers", f"{two}  new, 0 answers"]
    wrong = run("study", "rater", folder, "nobody", folder=tmp_path, check=False)
    assert (wrong.returncode, "There is no rater 'nobody'" in wrong.stderr) == (1, True)
    log = run("study", "log", folder, folder=tmp_path).stdout
    assert "asked raters anew in colours" in log


def test_postgresql_decides_the_same(postgresql, tmp_path):
    folder = write_study(tmp_path / "colours", number=6)
    site = open_site(folder, postgresql.fresh())
    service = site.studies["colours"]
    rng, rater_id = np.random.default_rng(0), join(service)
    answer(service, rater_id, 6, rng)
    one = code(service, rater_id)
    standing(service).leave_out([one], "ada", "asleep")
    assert Watch(service).look()["now"]["totals"]["answers"] == 0
    standing(service).take_back([one], "ada")
    standing(service).redo([one], "ada")
    answer(service, rater_id, 2, rng)
    assert {row["standing"] for row in exported(service, tmp_path)} == {"counts", "superseded"}
    assert raters(service)[rater_id].row["answered"] == 2
    site.close()
