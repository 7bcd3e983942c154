"""A study that changes while it is served: what is proposed, made, refused, remembered, taken back; by hand, too."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import sqlalchemy as sa

from similitude.study import following, revisions, shelf
from similitude.study.following import BY_HAND, follow, look, settle
from similitude.study.maintenance.rebuild import rebuild
from similitude.study.refusal import Refused
from similitude.study.revisions import add_study, history, propose, restore, revise
from similitude.study.service import Said
from similitude.study.settings import StudyError
from similitude.study.site import open_site
from similitude.study.states import CLOSED, DRAFT, LIVE, PILOT
from similitude.study.store import schema
from tests.patience import until
from tests.study.conftest import serving
from tests.study.servers import write_study

SHORT = "[question]\nnumber = 4\n"


@pytest.fixture
def url(request, tmp_path):
    """A file of SQLite; for what is marked so also a database of PostgreSQL."""
    if getattr(request, "param", "") == "postgresql":
        return request.getfixturevalue("postgresql").fresh()
    return f"sqlite:///{tmp_path / 'answers.db'}"


both = pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def open_folder(url):
    """Open sites on one database; all are closed at the end."""
    with contextlib.ExitStack() as stack:
        yield lambda folder: stack.enter_context(contextlib.closing(open_site(folder, url)))


@pytest.fixture
def site(tmp_path, open_folder):
    """A site with one study of words, and room for others."""
    write_study(tmp_path / "site" / "words", SHORT)
    return open_folder(tmp_path / "site")


def text_of(site, name="words", file="study.toml"):
    return (site.kept[name].folder / file).read_text(encoding="utf-8")


def other(site, before, after, name="words"):
    """The text of study.toml with a part of it written otherwise."""
    assert before in text_of(site, name)
    return {"study.toml": text_of(site, name).replace(before, after)}


def answered(service, rater_id, question, response=1):
    uid = f"answer-{rater_id}-{question['number']}"
    return service.answer(Said(rater_id, question["number"], uid, "answered", [response])).result()


def log(site):
    with site.database.read() as connection:
        return connection.execute(sa.select(schema.answer).order_by(schema.answer.c.id)).mappings().all()


# --- what is proposed ---


def test_what_would_change_is_said_key_by_key_and_nothing_is_done(site):
    more = '"w12"\n"w13"\n'
    given = other(site, "number = 4", 'number = 5\ntext = "Which?"')
    given |= {"consent.md": "Do you really agree?", "items.csv": text_of(site, file="items.csv") + more}
    found = propose(site, "words", given)
    assert found.words == [
        "question.text: nothing becomes “Which?”", "question.number: 4 becomes 5", "the page consent has another text",
        "the page instructions has another text", "2 items are new: w12, w13",
    ]  # fmt: skip
    assert (found.problems, found.forbidden, found.warnings) == ((), [], [])
    assert site.studies["words"].study.question.number == 4
    assert "number = 4" in text_of(site)
    assert propose(site, "words", {}).changes == ()


def test_what_is_wrong_is_said_with_the_key(site):
    (problem,) = propose(site, "words", other(site, "number = 4", "number = -4")).problems
    assert "question.number" in problem
    assert "expected" in propose(site, "words", other(site, "number = 4", "form = 'duel'")).problems[0]
    assert "not valid TOML" in propose(site, "words", {"study.toml": "title = "}).problems[0]
    assert "items.csv" in propose(site, "words", {"items.csv": "no such column\n1\n"}).problems[0]
    (strange,) = propose(site, "words", {"notes.md": "x"}).problems
    assert strange == "notes.md: study.toml names no such page or table"


@pytest.mark.parametrize("place", ["../secret.md", "/etc/hostname"])
def test_no_page_of_ours_reads_outside_the_folder_but_a_hand_may(site, place, tmp_path):
    (tmp_path / "site" / "secret.md").write_text("secret", encoding="utf-8")
    given = other(site, "consent = 'consent.md'", f"consent = '{place}'")
    assert propose(site, "words", given).problems == (f"pages.consent: {place!r} lies outside the study's folder",)
    with pytest.raises(Refused, match="outside"):
        revise(site, "words", given, "ada")
    (site.kept["words"].folder / "study.toml").write_text(given["study.toml"], encoding="utf-8")
    follow(site, site.kept["words"], settled=True)
    assert site.studies["words"].study.pages.consent == place


def test_no_page_of_ours_writes_over_anything_but_texts(tmp_path, open_folder):
    site = open_folder(write_study(tmp_path / "words", SHORT))
    for name in ("answers.db", ".revision.json", "items/a.png"):
        given = other(site, "consent = 'consent.md'", f"consent = '{name}'")
        with pytest.raises(Refused, match=f"{name}: expected a file in the study's folder that ends in .toml"):
            revise(site, "words", {**given, name: "nothing"}, "ada")
    assert len(history(site, "words")) == 1


@both
def test_what_answers_mean_cannot_change_once_people_were_asked(site, take_part):
    given = other(site, "number = 4", 'number = 4\nform = "odd_one_out"')
    service = site.studies["words"]
    service.set_state(DRAFT, "ada")
    tried = take_part(service, "browser0", rehearsal=service.keys.rehearsal())
    service.questions(tried).result()
    service.set_state(PILOT, "ada")
    service.questions(take_part(service, "browser1")).result()
    assert propose(site, "words", given).forbidden == [], "what a pilot teaches may change everything"
    service.set_state(LIVE, "ada")
    service.questions(take_part(service, "browser2")).result()
    (forbidden,) = propose(site, "words", given).forbidden
    assert forbidden.startswith("question.form: people were asked with 'triplet' already")
    with pytest.raises(Refused, match=r"question\.form"):
        revise(site, "words", given, "ada")
    assert "odd_one_out" not in text_of(site)
    assert len(history(site, "words")) == 1


@both
def test_items_that_were_asked_about_are_taken_out_with_a_warning(site, take_part):
    service = site.studies["words"]
    rater = take_part(service)
    question = service.questions(rater).result()["questions"][0]
    answered(service, rater, question)
    gone = question["shown"][0]
    given = {"items.csv": text_of(site, file="items.csv").replace(f'"{gone}"\n', "")}
    (change,) = propose(site, "words", given).changes
    assert (change.key, change.after) == ("items.removed", [gone])
    assert change.warning.startswith("1 answer is about what is taken out")
    revise(site, "words", given, "ada")
    held = site.studies["words"].questions(rater).result()["questions"]
    assert len(held) == 3
    assert all(gone not in one["shown"] for one in held)


# --- what is done ---


def test_a_change_is_served_at_once_and_written_to_the_folder(site):
    done = revise(site, "words", other(site, "number = 4", "number = 6"), "ada")
    assert (done.number, done.who, done.changes) == (2, "ada", ("question.number: 4 becomes 6",))
    assert site.studies["words"].study.question.number == 6
    assert "number = 6" in text_of(site)
    assert shelf.mark_of(site.kept["words"].folder) == shelf.HeldRevision(2)
    first, second = history(site, "words")[::-1]
    assert (first.changes, first.who, second.version) == (("begun",), BY_HAND, site.studies["words"].version)
    assert revise(site, "words", {}, "ada").number == 2, "nothing changes, so nothing is done"


@both
def test_who_holds_questions_loses_nothing_when_the_study_changes(site, take_part):
    service = site.studies["words"]
    raters = [take_part(service, f"browser{k}") for k in range(3)]
    held = {rater: service.questions(rater).result()["questions"] for rater in raters}
    before = service.version
    revise(site, "words", {**other(site, "number = 4", "number = 6"), "consent.md": "Otherwise."}, "ada")
    now = site.studies["words"]
    assert now.version != before
    for rater, questions in held.items():
        told = [answered(one, rater, question) for one, question in zip((service, now), questions, strict=False)]
        assert [one["answered"] for one in told] == [1, 2], "by the old one, whose request was under way, and the new"
        assert told[1]["study_version"] == now.version
        assert told[1]["length"] == 6
    rows = log(site)
    assert len(rows) == 6
    assert {row["version"] for row in rows} == {before}
    while questions := now.questions(raters[0]).result()["questions"]:
        answered(now, raters[0], questions[0])
    assert {row["version"] for row in log(site)[6:]} == {before, now.version}
    assert len(log(site)) == 10


def test_changes_one_after_the_other_lose_no_answer_of_many(site, take_part):
    """Six people answer all the while: what was acknowledged is in the log, once, under a version that was served."""
    raters = [take_part(site.studies["words"], f"browser{k}") for k in range(6)]

    def answer_all(rater_id):
        acknowledged = []
        while True:
            service = site.studies["words"]
            held = service.questions(rater_id).result()["questions"]
            if not held:
                return acknowledged
            answered(service, rater_id, held[0])
            acknowledged.append((rater_id, held[0]["number"]))

    with ThreadPoolExecutor(6) as pool:
        under_way = [pool.submit(answer_all, rater) for rater in raters]
        for k in range(5):
            names = "".join(f"w{item:02d}\n" for item in range(k, 12 + k))
            revise(site, "words", {"consent.md": f"The {k}th text.", "items.csv": f"name\n{names}"}, "ada")
        acknowledged = [one for done in under_way for one in done.result()]
    rows = log(site)
    assert sorted((row["rater_id"], row["number"]) for row in rows) == sorted(acknowledged)
    assert len(set(acknowledged)) == len(rows) == 6 * 4
    assert {row["version"] for row in rows} <= {one.version for one in history(site, "words")}


@both
def test_an_earlier_revision_becomes_the_latest_again_with_all_its_texts(site):
    folder = site.kept["words"].folder
    first = site.studies["words"].version
    new = {**other(site, "title = 'Words'", "title = 'Wörter'\nlanguage = ['en', 'de']"), "consent.de.md": "Gut?"}
    revise(site, "words", {**new, "consent.md": "Well?", "items.csv": "name\na\nb\nc\nd\n"}, "ada")
    assert (folder / "consent.de.md").is_file()
    assert site.studies["words"].names == ["a", "b", "c", "d"]
    back = restore(site, "words", 1, "bob")
    assert (back.number, back.who, back.version) == (3, "bob", first)
    assert "the page consent in de is gone" in back.changes
    assert text_of(site, file="consent.md") == "Do you agree?"
    assert not (folder / "consent.de.md").exists()
    assert len(site.studies["words"].names) == 12
    restore(site, "words", 2, "bob")
    assert text_of(site, file="consent.de.md") == "Gut?"
    assert [one.number for one in history(site, "words")] == [4, 3, 2, 1]
    with pytest.raises(Refused, match="no revision 9"):
        restore(site, "words", 9, "bob")


def test_of_two_admins_who_change_at_once_the_second_is_told(site):
    base = site.kept["words"].number
    revise(site, "words", other(site, "number = 4", "number = 6"), "ada", base)
    mine = {"study.toml": text_of(site).replace("number = 6", "number = 9")}
    with pytest.raises(Refused, match=r"changed since .*revision 2, ada: question\.number: 4 becomes 6") as told:
        revise(site, "words", mine, "bob", base)
    assert (told.value.status, told.value.code) == (409, "changed")
    assert site.studies["words"].study.question.number == 6


@both
def test_at_two_servers_the_second_is_told_too(site, open_folder):
    beside = open_folder(site.root)
    revise(site, "words", other(site, "number = 4", "number = 6"), "ada", 1)
    with pytest.raises(Refused, match="revision 2, ada"):
        revise(beside, "words", other(beside, "number = 6", "number = 9"), "bob", 1)
    assert beside.studies["words"].study.question.number == 6, "it follows before it looks"


# --- others follow ---


@both
def test_other_servers_follow_in_the_same_folder_and_in_a_copy_of_it(site, open_folder, tmp_path):
    shutil.copytree(site.root, tmp_path / "copy")
    beside, elsewhere = open_folder(site.root), open_folder(tmp_path / "copy")
    revise(site, "words", {**other(site, "number = 4", "number = 6"), "consent.md": "Otherwise."}, "ada")
    for one in (beside, elsewhere):
        look(one)
        assert one.studies["words"].study.question.number == 6
        assert one.studies["words"].study.page("consent") == "Otherwise."
        assert text_of(one, file="consent.md") == "Otherwise."
        assert one.studies["words"].version == site.studies["words"].version
    assert len(history(site, "words")) == 2


def test_a_copy_that_was_not_served_meanwhile_is_brought_up_to_date(site, open_folder, tmp_path):
    shutil.copytree(site.root, tmp_path / "copy")
    revise(site, "words", other(site, "number = 4", "number = 6"), "ada")
    late = open_folder(tmp_path / "copy")
    assert late.studies["words"].study.question.number == 6
    assert "number = 6" in text_of(late)
    assert len(history(site, "words")) == 2


def test_a_folder_that_cannot_be_written_to_is_served_as_the_database_says(site, open_folder, tmp_path, monkeypatch):
    shutil.copytree(site.root, tmp_path / "copy")
    elsewhere = open_folder(tmp_path / "copy")
    revise(site, "words", other(site, "number = 4", "number = 6"), "ada")
    monkeypatch.setattr(shelf, "write_whole", lambda *_: (_ for _ in ()).throw(PermissionError("read-only")))
    look(elsewhere)
    assert elsewhere.studies["words"].study.question.number == 6
    monkeypatch.setattr(revisions.os, "access", lambda *_: False)
    with pytest.raises(Refused, match="may not write"):
        revise(elsewhere, "words", other(elsewhere, "number = 4", "number = 9"), "bob")


# --- by hand ---


def edit(site, before, after, file="study.toml"):
    path = site.kept["words"].folder / file
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def test_an_edit_by_hand_is_noticed_once_it_has_settled(site):
    edit(site, "number = 4", "number = 6")
    look(site)
    assert site.studies["words"].study.question.number == 4, "somebody may still be writing"
    look(site)
    assert site.studies["words"].study.question.number == 6
    last = history(site, "words")[0]
    assert (last.number, last.who, last.changes) == (2, BY_HAND, ("question.number: 4 becomes 6",))
    edit(site, "Do you agree?", "Do you?", "consent.md")
    look(site), look(site)
    assert site.studies["words"].study.page("consent") == "Do you?"
    look(site), look(site)
    assert len(history(site, "words")) == 3


def test_a_slip_in_an_edit_by_hand_is_said_and_the_study_goes_on(site, take_part):
    edit(site, "number = 4", "number = four")
    look(site), look(site)
    assert "not valid TOML" in site.kept["words"].problem
    assert len(site.studies["words"].questions(take_part(site.studies["words"])).result()["questions"]) == 4
    edit(site, "number = four", 'number = 4\nform = "odd_one_out"')
    look(site), look(site)
    assert "people were asked with 'triplet' already" in site.kept["words"].problem
    edit(site, 'number = 4\nform = "odd_one_out"', "number = 4")
    look(site), look(site)
    assert site.kept["words"].problem is None
    assert len(history(site, "words")) == 1


def test_an_edit_by_hand_comes_before_a_change_that_was_made_without_it(site):
    mine = other(site, "number = 4", "number = 6")
    edit(site, "title = 'Words'", "title = 'Other words'")
    with pytest.raises(Refused, match="revision 2, by hand, in the folder"):
        revise(site, "words", mine, "ada", 1)
    assert site.studies["words"].study.title == "Other words"


def test_what_was_edited_while_nobody_served_counts_at_the_start(site, open_folder):
    revise(site, "words", other(site, "number = 4", "number = 6"), "ada")
    edit(site, "number = 6", "number = 7")
    again = open_folder(site.root)
    assert again.studies["words"].study.question.number == 7
    assert history(again, "words")[0].changes == ("question.number: 6 becomes 7",)


def test_a_picture_that_is_added_by_hand_is_an_item_more(tmp_path, open_folder):
    folder = write_study(tmp_path / "site" / "words", SHORT)
    (folder / "items").mkdir()
    for k in range(5):
        (folder / "items" / f"t{k}.txt").write_text(f"text {k}", encoding="utf-8")
    (folder / "study.toml").write_text(f'title = "T"\n{SHORT}[pages]\ninstructions = ""\n', encoding="utf-8")
    site = open_folder(tmp_path / "site")
    (folder / "items" / "t5.txt").write_text("text 5", encoding="utf-8")
    look(site), look(site)
    assert site.studies["words"].names == [f"t{k}" for k in range(6)]
    assert history(site, "words")[0].changes == ("1 item is new: t5",)


# --- whatever is killed in between ---


class Killed(BaseException):
    """What ends a process at once."""


@pytest.mark.parametrize("after", range(4))
def test_kill_9_between_the_row_and_the_files_leaves_one_whole_version(site, open_folder, monkeypatch, after):
    """Killed before the mark, after it, after the first of two files, after both: the next start finishes the work."""
    written, write = [], shelf.write_whole

    def killed(path, data):
        if len(written) == after:
            raise Killed
        written.append(path.name)
        write(path, data)

    given = {**other(site, "number = 4", "number = 6"), "consent.md": "Otherwise."}
    monkeypatch.setattr(shelf, "write_whole", killed)
    with pytest.raises(Killed):
        revise(site, "words", given, "ada")
    monkeypatch.setattr(shelf, "write_whole", write)
    assert len(written) == after
    again = open_folder(site.root)
    assert "number = 6" in text_of(again)
    assert text_of(again, file="consent.md") == "Otherwise."
    assert again.studies["words"].study.question.number == 6
    assert [one.number for one in history(again, "words")] == [2, 1]
    assert shelf.mark_of(again.kept["words"].folder) == shelf.HeldRevision(2)


def test_kill_9_before_a_file_is_taken_away_leaves_none_of_it(site, open_folder, monkeypatch):
    new = {**other(site, "title = 'Words'", "title = 'W'\nlanguage = ['en', 'de']"), "consent.de.md": "Gut?"}
    revise(site, "words", new, "ada")
    write = shelf.write_whole

    def killed(path, data):
        if path.name == "study.toml":
            raise Killed
        write(path, data)

    monkeypatch.setattr(shelf, "write_whole", killed)
    with pytest.raises(Killed):
        restore(site, "words", 1, "ada")
    monkeypatch.setattr(shelf, "write_whole", write)
    assert text_of(site, file="consent.de.md") == "Gut?"
    again = open_folder(site.root)
    assert not (again.kept["words"].folder / "consent.de.md").exists()
    first, _, last = history(again, "words")[::-1]
    assert again.studies["words"].version == first.version == last.version
    assert dict(first.files) == dict(last.files) == again.kept["words"].files


def test_kill_9_before_the_row_changes_nothing(site, open_folder, monkeypatch):
    def killed(*_, **__):
        raise Killed

    monkeypatch.setattr(following.rows, "record", killed)
    with pytest.raises(Killed):
        revise(site, "words", other(site, "number = 4", "number = 6"), "ada")
    monkeypatch.undo()
    again = open_folder(site.root)
    assert again.studies["words"].study.question.number == 4
    assert "number = 4" in text_of(again)
    assert len(history(again, "words")) == 1


# --- new studies ---


@both
def test_a_server_on_an_empty_folder_gets_its_first_study_while_it_runs(tmp_path, open_folder):
    (tmp_path / "empty").mkdir()
    site = open_folder(tmp_path / "empty")
    assert site.kept == {}
    kept = add_study(site, "faces-2", 'The "best" faces', "ada")
    assert (kept.number, list(site.studies)) == (1, [])
    assert "the folder 'items' is empty" in kept.problem
    with pytest.raises(Refused, match="cannot be served yet"):
        revisions.set_state(site, "faces-2", LIVE, "ada")
    again = open_folder(site.root)
    assert "empty" in again.kept["faces-2"].problem, "a draft that is not fit stops no start"
    assert rebuild(site.database) == 0
    text = text_of(site, "faces-2").replace("# break_every = 0", "break_every = 5")
    saved = revise(site, "faces-2", {"study.toml": text}, "ada", 1)
    assert (saved.number, saved.version, saved.changes) == (2, None, ("break_every: 0 becomes 5",))
    with pytest.raises(Refused, match="break_every"):
        revise(site, "faces-2", {"study.toml": text.replace("break_every = 5", "break_every = -5")}, "ada", 2)
    with site.lock:
        for k in range(9):
            (kept.folder / "items" / f"t{k}.txt").write_text(f"text {k}", encoding="utf-8")
        settle(site, kept)
        done = revise(site, "faces-2", {}, "ada", 2)
    assert (done.number, done.who, done.changes[0][:16]) == (3, "ada", "9 items are new:")
    assert done.version == site.studies["faces-2"].version
    assert (kept.problem, site.studies["faces-2"].standing().state) == (None, DRAFT)
    assert site.studies["faces-2"].study.title == 'The "best" faces'
    revisions.set_state(site, "faces-2", LIVE, "ada")
    look(again)
    assert again.studies["faces-2"].names == site.studies["faces-2"].names


@pytest.mark.parametrize("name", ["Faces", "my faces", "-", "", "../faces", "f" * 70])
def test_a_new_study_needs_a_name_that_can_be_an_address(site, name):
    with pytest.raises(Refused):
        add_study(site, name, "T", "ada")
    assert sorted(path.name for path in site.root.iterdir() if path.is_dir()) == ["words"]


def test_a_new_study_takes_nobodys_place(site, tmp_path, open_folder, take_part):
    with pytest.raises(Refused, match="called words already"):
        add_study(site, "words", "T", "ada")
    take_part(site.studies["words"])
    shutil.move(site.root / "words", tmp_path / "words")
    (tmp_path / "other").mkdir()
    with pytest.raises(Refused, match="holds answers of a study called words"):
        add_study(open_folder(tmp_path / "other"), "words", "T", "ada")
    with pytest.raises(Refused, match="folder of one study"):
        add_study(open_folder(tmp_path / "words"), "more", "T", "ada")


def test_a_folder_that_is_put_beside_the_others_is_served_once_it_has_settled(site):
    write_study(site.root / "more", SHORT)
    look(site)
    assert "more" not in site.studies
    look(site)
    assert site.studies["more"].standing().state == LIVE
    write_study(site.root / "broken", "[question]\nnumber = 4000\n")
    look(site), look(site), look(site)
    assert "question.number is 4000" in site.arriving["broken"][1]
    write_study(site.root / "broken", SHORT)
    look(site), look(site)
    assert (site.studies["broken"].names, site.arriving) == (site.studies["words"].names, {})


def test_an_empty_folder_is_no_other_folder(tmp_path):
    (tmp_path / "notes.txt").write_text("hello", encoding="utf-8")
    with pytest.raises(StudyError, match=r"no study\.toml in it"):
        open_site(tmp_path)
    with pytest.raises(StudyError, match=r"no study\.toml in it"):
        open_site(tmp_path / "nowhere")
    assert os.listdir(tmp_path) == ["notes.txt"]


def test_a_closed_study_may_still_be_corrected(site):
    revisions.set_state(site, "words", CLOSED, "ada")
    revise(site, "words", {"consent.md": "Thank you."}, "ada")
    assert site.studies["words"].standing().state == CLOSED
    assert json.loads(site.studies["words"].study.as_json())["words"]["consent"] == "Thank you."


# --- real processes ---

KILLS_ITSELF = """
import os, signal, sys
from pathlib import Path
from similitude.study import revisions, shelf
from similitude.study.site import open_site

site, write = open_site(Path(sys.argv[1])), shelf.write_whole

def write_one(path, data):
    write(path, data)
    if path.name == "study.toml":
        os.kill(os.getpid(), signal.SIGKILL)

shelf.write_whole = write_one
text = (Path(sys.argv[1]) / "words" / "study.toml").read_text().replace("number = 4", "number = 6")
revisions.revise(site, "words", {"study.toml": text, "consent.md": "Otherwise."}, "ada")
"""


@pytest.mark.slow
def test_kill_9_of_a_process_that_writes_the_files(tmp_path):
    write_study(tmp_path / "words", SHORT)
    ended = subprocess.run([sys.executable, "-c", KILLS_ITSELF, str(tmp_path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    found = [(tmp_path / "words" / name).read_text(encoding="utf-8") for name in ("study.toml", "consent.md")]
    assert ("number = 6" in found[0], found[1]) == (True, "Do you agree?"), "it was killed between two files"
    assert not shelf.mark_of(tmp_path / "words").whole
    with contextlib.closing(open_site(tmp_path)) as site:
        assert (text_of(site, file="consent.md"), "number = 6" in text_of(site)) == ("Otherwise.", True)
        assert site.studies["words"].study.question.number == 6
        assert [one.number for one in history(site, "words")] == [2, 1]


@pytest.mark.slow
def test_a_server_follows_what_another_process_and_a_hand_do(tmp_path):
    write_study(tmp_path / "words", SHORT)
    with serving(tmp_path) as server, contextlib.closing(open_site(tmp_path)) as site:

        def says(number):
            about = f"{server.address}/api/words/v1/about"
            until(lambda: httpx.get(about).json()["length"] == number, f"{about} does not say {number}", every=0.1)

        says(4)
        revise(site, "words", other(site, "number = 4", "number = 6"), "ada")
        says(6)
        edit(site, "number = 6", "number = 7")
        says(7)
        look(site)
        assert site.studies["words"].study.question.number == 7
        assert [one.who for one in history(site, "words")] == [BY_HAND, "ada", BY_HAND]
