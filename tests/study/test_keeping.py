"""Files of items come back with the revision that had them: taken out, swapped, renamed, there twice; or are named."""

import contextlib
import errno

import numpy as np
import pytest
import sqlalchemy as sa

from similitude.study.editing.gallery import REMOVED, Moves, put_away
from similitude.study.following import look
from similitude.study.keeping import WayBack, files_of
from similitude.study.refusal import Refused
from similitude.study.revisions import answered_otherwise, history, restore, revise, way_back
from similitude.study.settings import StudyError, read_study
from similitude.study.site import open_site
from similitude.study.states import DRAFT
from similitude.study.store import schema
from tests.study.live import answer, join
from tests.study.making import SHORT, write_study

TOML = f'title = "T"\n{SHORT}[question]\nnumber = 1\n'
WORDS = {f"items/{name}.txt": name for name in ("a", "b", "c", "d")} | {"items/twin.txt": "a"}


@pytest.fixture
def folder(tmp_path):
    return write_study(tmp_path, "words", TOML, WORDS)


def there(folder):
    return {path.name: path.read_text(encoding="utf-8") for path in (folder / "items").iterdir()}


def brought_back(folder, change):
    """Change files, and go back; what there is in the end, and the way."""
    study = read_study(folder)
    then, moves = files_of(study, {}), Moves()
    change(folder / "items", moves)
    way = WayBack.to(study, then, files_of(study, {}))
    if not way.gone:
        way.go(Moves())
    return there(folder), way


def swap(items, moves):
    moves.move(items / "a.txt", items / "between.txt")
    moves.move(items / "b.txt", items / "a.txt")
    moves.move(items / "between.txt", items / "b.txt")


def replace(items, moves):
    put_away(items.parent, items / "c.txt", moves)
    (items / "c.txt").write_text("another", encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        swap,
        replace,
        lambda items, moves: put_away(items.parent, items / "d.txt", moves),
        lambda items, moves: moves.move(items / "d.txt", items / "called otherwise.txt"),
        lambda items, _: (items / "new.txt").write_text("new", encoding="utf-8"),
        lambda items, _: (items / "twin.txt").unlink(),
        lambda *_: None,
    ],
    ids=["swapped", "replaced", "removed", "renamed", "added", "twin", "unchanged"],
)
def test_whatever_was_done_is_undone(folder, change):
    before = there(folder)
    after, way = brought_back(folder, change)
    assert after == before
    assert way.gone == ()


def test_what_is_gone_is_named_and_all_moves_can_be_taken_back(folder):
    study = read_study(folder)
    then = files_of(study, {})
    put_away(folder, folder / "items" / "b.txt", Moves())
    (folder / "items" / "c.txt").unlink()
    way = WayBack.to(study, then, files_of(study, {}))
    assert way.words == ["1 file comes back: items/b.txt.", "1 file is gone: items/c.txt."]
    (folder / REMOVED / "under another name").write_text("c", encoding="utf-8")
    (folder / "items" / "twin.txt").unlink()
    before, moves = there(folder), Moves()
    way = WayBack.to(study, then, files_of(study, {}))
    way.go(moves)
    assert there(folder) == {path.rpartition("/")[2]: text for path, text in WORDS.items()}
    moves.take_back()
    assert there(folder) == before


def test_a_table_names_its_files_and_others_are_left_alone(tmp_path):
    table = 'name,file\none,items/a.txt\ntwo,items/b.txt\nthree,""\n'
    toml = TOML + '[items]\ntable = "items.csv"\n'
    folder = write_study(tmp_path, "words", toml, {**WORDS, "items.csv": table})
    study = read_study(folder)
    then = files_of(study, {"items.csv": table})
    assert list(then) == ["items/a.txt", "items/b.txt"]
    assert WayBack.to(study, then, {**then, "items/c.txt": "1:x"}).words == []


ROWS = "name,file\n{}".format("".join(f"{name},items/{name}.txt\n" for name in "abcd"))
OF_TABLE = TOML + '[items]\ntable = "items.csv"\n'


def test_a_row_that_was_taken_out_comes_back_with_its_file_which_never_left(tmp_path):
    folder = write_study(tmp_path, "words", OF_TABLE, {**WORDS, "items.csv": ROWS})
    with contextlib.closing(open_site(tmp_path)) as site:
        revise(site, "words", {"items.csv": ROWS.replace("d,items/d.txt\n", "")}, "ada")
        assert restore(site, "words", 1, "ada").changes == ("1 item is new: d",)
    assert there(folder)["d.txt"] == "d"


def test_what_lies_at_the_place_of_a_file_that_comes_back_is_put_away_though_it_is_no_item(tmp_path):
    folder = write_study(tmp_path, "words", OF_TABLE, {**WORDS, "items.csv": ROWS})
    with contextlib.closing(open_site(tmp_path)) as site:
        revise(site, "words", {"items.csv": ROWS.replace("d,items/d.txt\n", "")}, "ada")
        put_away(folder, folder / "items" / "d.txt", Moves())
        (folder / "items" / "d.txt").write_text("precious", encoding="utf-8")
        restore(site, "words", 1, "ada")
    assert there(folder)["d.txt"] == "d"
    assert "precious" in [path.read_text(encoding="utf-8") for path in (folder / REMOVED).iterdir()]


def test_nothing_is_moved_over_another_file(folder):
    with pytest.raises(StudyError, match=r"there is a file 'b\.txt' already"):
        Moves().move(folder / "items" / "a.txt", folder / "items" / "b.txt")
    assert there(folder)["b.txt"] == "b"


def test_a_file_that_could_not_be_copied_whole_does_not_stay(folder, monkeypatch):
    """A disk that is full in the middle of it."""

    def half(_, to):
        to.write_text("ha", encoding="utf-8")
        raise OSError(errno.ENOSPC, "No space left on device")

    with contextlib.closing(open_site(folder.parent)) as site:
        (folder / "items" / "twin.txt").unlink()
        look(site), look(site)
        monkeypatch.setattr("similitude.study.editing.gallery.shutil.copy2", half)
        with pytest.raises(OSError, match="No space left"):
            restore(site, "words", 1, "ada")
        assert sorted(there(folder)) == ["a.txt", "b.txt", "c.txt", "d.txt"]
        assert len(history(site, "words")) == 2


@pytest.mark.parametrize(
    "row", ["e,{}.txt\n".format("x" * 300), "e,{}\n".format("x" * 200_000), "e,a\0b.txt\n"], ids=["long", "huge", "nul"]
)
def test_a_table_that_names_what_no_file_can_be_called_is_told_so(tmp_path, row):
    folder = write_study(tmp_path, "words", OF_TABLE, {**WORDS, "items.csv": ROWS})
    with contextlib.closing(open_site(tmp_path)) as site:
        with site.database.write() as connection:
            connection.execute(sa.update(schema.study).values(phase=DRAFT))
        (folder / "items.csv").write_text(f"name,file\n{row}", encoding="utf-8")
        look(site), look(site)
    with contextlib.closing(open_site(tmp_path)) as site:
        assert "no file can be called" in site.kept["words"].problem or "cannot read" in site.kept["words"].problem
        assert way_back(site, "words", 1).words == []  # all of its files lie where they lay
        restore(site, "words", 1, "ada")
        assert site.kept["words"].problem is None


def test_revisions_from_before_files_were_kept_are_restored_by_the_names_of_their_items(folder):
    with contextlib.closing(open_site(folder.parent)) as site:
        revise(site, "words", {"study.toml": TOML.replace('"T"', '"Other"')}, "ada")
        with site.database.write() as connection:
            connection.execute(sa.update(schema.revision).values({"items": None}))
        restore(site, "words", 1, "ada")
        (folder / "items" / "d.txt").unlink()
        look(site), look(site)
        with pytest.raises(Refused, match=r"nothing was changed: 1 item is gone \(d\)"):
            restore(site, "words", 1, "ada")
        assert restore(site, "words", 2, "ada", texts_alone=True).changes[0] == "title: “T” becomes “Other”"


def test_a_start_remembers_the_files_of_the_revision_that_lies_there(folder):
    with contextlib.closing(open_site(folder.parent)) as site, site.database.write() as connection:
        connection.execute(sa.update(schema.revision).values({"items": None}))
    with contextlib.closing(open_site(folder.parent)) as site:
        assert list(history(site, "words")[0].items) == sorted(WORDS)
        assert len(history(site, "words")) == 1
    (folder / "items" / "c.txt").write_text("another", encoding="utf-8")
    with contextlib.closing(open_site(folder.parent)) as site:
        assert history(site, "words")[0].changes == ("1 file of an item holds something else: items/c.txt",)


@pytest.mark.parametrize("table", [False, True], ids=["folder", "table"])
def test_items_with_answers_get_other_files_only_where_one_is_sure(tmp_path, table):
    toml, more = (OF_TABLE, {"items.csv": ROWS}) if table else (TOML, {})
    folder = write_study(tmp_path, "words", toml, {**WORDS, **more})
    with contextlib.closing(open_site(tmp_path)) as site:
        for name in "abcd":
            put_away(folder, folder / "items" / f"{name}.txt", Moves())
            (folder / "items" / f"{name}.txt").write_text(f"another {name}", encoding="utf-8")
        look(site), look(site)
        assert answered_otherwise(site, "words", 1) == {}
        service, before = site.studies["words"], there(folder)
        rater = join(service)
        asked = {*service.questions(rater).result()["questions"][0]["shown"]} - {"twin"}
        answer(service, rater, 1, np.random.default_rng(0), outcome="skipped")
        assert answered_otherwise(site, "words", 1) == dict.fromkeys(asked, 1)
        with pytest.raises(Refused, match=rf"people were asked about would show .*: {min(asked)} \(1 answer\)"):
            restore(site, "words", 1, "ada")
        assert there(folder) == before
        assert len(history(site, "words")) == 2
        restore(site, "words", 1, "ada", sure=True)
        assert {name: there(folder)[f"{name}.txt"] for name in asked} == {name: name for name in asked}
