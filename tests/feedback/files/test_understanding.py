"""What is said of a file before anything is learned, and how columns get their roles."""

from __future__ import annotations

import os
import re

import pandas as pd
import pytest

import similitude as sm
from similitude.cli.reading import column_map
from similitude.feedback.files.column_map import plain
from similitude.feedback.picks import positions
from similitude.feedback.spelling import twins
from tests.shell import run

TEXT = "Person,First,Second,Third,Stranger\np1,cat,dog,bus,bus\np1,cat,dog,car,car\np2,Cat,dog,bus,\n"
MAP = {"rater": "Person", "a": "First", "b": "Second", "c": "Third", "odd": "Stranger"}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(TEXT)
    return path


def test_the_first_answers_are_said_in_words(file):
    said = str(sm.understand(file, columns=MAP)).splitlines()
    assert said[0].startswith("answers.csv: 3 answers (1 can't tell) to odd-one-out questions")
    assert said[0].endswith("about 5 items by 2 raters")
    assert "  p1: of cat, dog, bus, bus does not belong" in said
    assert "  p2: of Cat, dog, bus, cannot tell" in said


def test_a_column_map_in_python_and_in_the_shell(file):
    c = sm.read_comparisons(file, columns=MAP)
    assert c.answers.rater.values.tolist() == ["p1", "p1", "p2"]
    done = run(
        "info", file.name, "--columns", 'rater=Person,a=First,b="Second",c=Third,odd=Stranger', folder=file.parent
    )
    assert "odd = 'Stranger'" in done.stdout
    assert column_map("odd='Odd, one',a=Pic 1") == {"odd": "Odd, one", "a": "Pic 1"}
    with pytest.raises(ValueError, match="no column 'Stanger'; did you mean 'Stranger'"):
        sm.read_comparisons(file, columns=MAP | {"odd": "Stanger"})
    with pytest.raises(ValueError, match="'strange' is no part of an answer"):
        sm.read_comparisons(file, columns={"strange": "Stranger"})


def test_names_that_differ_by_spelling_alone_are_said_and_joined_on_request(file):
    assert "1 group of names differs by case, spaces, accents or .0 alone: 'Cat' = 'cat'" in str(
        sm.understand(file, columns=MAP)
    )
    folded = sm.read_comparisons(file, columns=MAP, fold_names=True)
    assert folded.names == ("bus", "car", "cat", "dog")
    assert twins(["Blue square", "blue  square ", "Café", "cafe", "red"]) == [
        ["Blue square", "blue  square "],
        ["Café", "cafe"],
    ]


def test_names_that_may_have_lost_their_leading_zeros_are_said(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,c,odd\n007,x,y,x\n7,7.0,x,x\n07,y,x,y\n", "utf-8")
    told = str(sm.understand(tmp_path / "a.csv"))
    assert "1 group of names differs by case, spaces, accents or .0 alone: '7' = '7.0'; give fold_names=True" in told
    assert "1 group of names differs by leading zeros alone: '7' = '007' = '07'; call those alike that are one" in told


def test_joined_names_stay_joined_when_written(file, tmp_path):
    c = sm.read_comparisons(file, columns=MAP)
    sm.write_comparisons(c, tmp_path / "again.csv")
    assert sm.read_comparisons(tmp_path / "again.csv").n_items == 5
    assert sm.read_comparisons(tmp_path / "again.csv", fold_names=True).n_items == 4


def test_names_are_joined_over_the_files_of_a_folder(tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    (folder / "ann.csv").write_text("a,b,c,odd\ncat,dog,bus,bus\ncat,dog,car,car\n")
    (folder / "ben.csv").write_text("a,b,c,odd\nCat,DOG,bus,bus\n")
    assert sm.read_comparisons(folder).n_items == 6
    assert "2 of 2 files do not say who answered" in str(sm.understand(folder))
    for where in (folder, sorted(folder.iterdir())):
        assert sm.read_comparisons(where, fold_names=True).names == ("bus", "car", "cat", "dog")
    done = run("info", "people", "--fold-names", folder=tmp_path)
    assert "about 4 items" in done.stdout
    assert "differ by case" not in done.stdout


def test_repeated_rows_are_said():
    table = pd.DataFrame({"head": list("abab"), "winner": list("bcbc"), "loser": list("cacd"), "rater": list("xyxy")})
    assert "1 answer repeats an earlier one in every column" in str(sm.understand(table))
    assert "earlier one" not in str(sm.understand(table.assign(time=range(4))))


def test_a_rater_who_is_a_missing_value_is_doubted():
    table = pd.DataFrame({"a": list("xyz"), "b": list("yzx"), "c": list("zxy"), "odd": list("zxy")})
    said = str(sm.understand(table.assign(subject=["1", "NA", "NA"])))
    assert "a rater is called 'NA' (2 answers): where nobody knows who answered, leave the cell empty" in said
    assert "is called" not in str(sm.understand(table.assign(subject=["1", "", ""])))


def test_a_column_that_is_no_rater_is_doubted():
    table = pd.DataFrame(
        {"a": list("xyz"), "b": list("yzx"), "c": list("zxy"), "odd": list("zxy"), "subject": list("112")}
    )
    assert "1 rater gave a single answer" in str(sm.understand(table))
    table = pd.concat([table] * 3).assign(subject=[1, 1, 2, 3, 4, 5, 6, 7, 8], time=range(9))
    assert "7 of 8 raters gave a single answer: is that column who answered?" in str(sm.understand(table))


def test_what_was_picked_is_told_by_name_place_or_position():
    shown = pd.DataFrame([["cat", "dog", "bus"], ["car", "bus", "cat"]]).to_numpy(object)

    def told(*picked, called=()):
        found, how = positions(shown, pd.Series(picked, dtype=object).to_numpy(), called=called)
        return found.tolist(), how

    assert told("bus", "car") == ([2.0, 0.0], "by name")
    assert told("Bus ", "car") == told("Bus ", "CAR") == ([2.0, 0.0], "by name")
    assert told("middle", "left") == ([1.0, 0.0], "by place")
    assert told("Pic 2", "Pic 3", called=[["Pic 1", "Pic 2", "Pic 3"]]) == ([1.0, 2.0], "by place")
    assert told("1", 3) == ([0.0, 2.0], "by position")
    assert told(0, 2) == ([0.0, 2.0], "by position")
    with pytest.raises(ValueError, match=r"row 2: expected one of the items shown \(car, bus, cat\), found 'horse'"):
        told("bus", "horse")


def test_the_odd_one_by_name_in_python():
    by_name = sm.Comparisons.from_odd_one_out([("a", "b", "c"), ("c", "a", "b")], odd=["c", None])
    assert by_name.answers.response[0].tolist() == [2]
    assert by_name.answers.cant_tell.tolist() == [False, True]
    with pytest.raises(ValueError, match=r"odd_one_out: row 1: expected one of the items shown \(a, b, c\), found 'd'"):
        sm.Comparisons.from_odd_one_out([("a", "b", "c")], odd=["d"])


@pytest.mark.parametrize(
    ("header", "unit", "seconds"),
    [("RT (s)", "1.5", 1.5), ("rt_ms", "1500", 1.5), ("Reaction time", "1500", 1.5), ("rt", "1.5", 1.5)],
)
def test_times_in_seconds_and_milliseconds(tmp_path, header, unit, seconds):
    (tmp_path / "a.csv").write_text(f"a,b,c,odd,{header}\ncat,dog,bus,bus,{unit}\n")
    assert sm.read_comparisons(tmp_path / "a.csv").answers.time.tolist() == [seconds]


@pytest.mark.parametrize(
    ("role", "header", "seconds"),
    [
        ("time", "RT (ms)", 1.5),
        ("time", "Latency in milliseconds", 1.5),
        ("time_ms", "how long", 1.5),
        ("time", "how long", 1500),
    ],
)
def test_a_column_that_is_given_as_the_time_has_the_unit_of_its_name(tmp_path, role, header, seconds):
    (tmp_path / "a.csv").write_text(f"a,b,c,odd,{header}\ncat,dog,bus,bus,1500\n")
    assert sm.read_comparisons(tmp_path / "a.csv", columns={role: header}).answers.time.tolist() == [seconds]


def test_ids_that_begin_at_one_have_no_item_zero(tmp_path):
    (tmp_path / "a.csv").write_text("head,winner,loser\n1,2,3\n3,1,2\n")
    assert sm.read_comparisons(tmp_path / "a.csv").names == ("1", "2", "3")
    named = sm.read_comparisons(tmp_path / "a.csv", names=["cat", "dog", "bus"])
    assert named.triplets.tolist() == [[0, 1, 2], [2, 0, 1]]


@pytest.mark.parametrize("name", ["RT (s)", " rt ", "RT [s]"])
def test_plain_names(name):
    assert plain(name) == "rt"


@pytest.mark.slow
def test_a_command_says_what_it_understood_before_it_learns(file):
    text = TEXT + "".join(f"p{k},cat,dog,bus,bus\np{k},cat,car,bus,bus\n" for k in range(3, 9))
    (file.parent / "odd.csv").write_text(text.replace("Cat", "cat"))
    columns = "rater=Person,a=First,b=Second,c=Third,odd=Stranger"
    done = run("fit", "odd.csv", "--columns", columns, "-d", 1, folder=file.parent)
    assert done.stdout.index("does not belong") < done.stdout.index("odd.sim:")
    assert "columns={'rater': 'Person'" in done.stdout


HEADINGS = {
    "German": "Versuchsperson,Bild 1,Bild 2,Bild 3,Auswahl (passt nicht)",
    "French": "Sujet,Image 1,Image 2,Image 3,Intrus",
    "Spanish": "ID sujeto,Imagen 1,Imagen 2,Imagen 3,Intruso",
    "Dutch": "Proefpersoon,Plaatje 1,Plaatje 2,Plaatje 3,Hoort niet",
    "Italian": "Codice soggetto,Sinistra,Centro,Destra,Estraneo",
    "numbered": "Teilnehmer-Nr.,Links,Mitte,Rechts,Passt nicht dazu",
}


@pytest.mark.parametrize("language", HEADINGS)
def test_headings_of_other_languages_are_known(tmp_path, language):
    (tmp_path / "a.csv").write_text(f"{HEADINGS[language]}\np1,cat,dog,bus,bus\np2,bus,dog,cat,bus\n")
    c = sm.read_comparisons(tmp_path / "a.csv")
    assert c.answers.rater.labels == ("p1", "p2")
    assert set(c.answers.form.labels) == {"odd_one_out"}


def test_a_column_that_is_said_to_be_the_odd_one_needs_no_form(tmp_path):
    (tmp_path / "a.csv").write_text("Bild 1,Bild 2,Bild 3,Auswahl\ncat,dog,bus,bus\nbus,dog,cat,bus\n")
    with pytest.raises(ValueError, match="not as what"):
        sm.read_comparisons(tmp_path / "a.csv")
    for role, form in (("odd", "odd_one_out"), ("central", "most_central")):
        c = sm.read_comparisons(tmp_path / "a.csv", columns={role: "Auswahl"})
        assert set(c.answers.form.labels) == {form}


def test_every_file_of_a_folder_is_read_or_said_not_to_be(tmp_path):
    folder = tmp_path / "people"
    folder.mkdir()
    with pytest.raises(ValueError, match=r"people' is a folder; expected a file of answers .*, found no file$"):
        sm.understand(folder)
    assert "found no file" in run("info", "people", folder=tmp_path, check=False).stderr
    (folder / "map.png").write_bytes(b"\x89PNG")
    with pytest.raises(ValueError, match=r"found map.png$"):
        sm.understand(folder)
    for name in ("ann.csv", "ben.csv"):
        (folder / name).write_text("a,b,c,odd\ncat,dog,bus,bus\ncat,dog,car,car\n")
    assert "not read, since no answers are in files of such names: map.png" in str(sm.understand(folder))
    (folder / "notes.txt").write_text("some notes\n")
    with pytest.raises(ValueError, match=r"^notes.txt: .*; every file of the folder '.*people' is read: take out one"):
        sm.understand(folder)


def test_what_is_no_file_in_a_folder_is_said(tmp_path):
    folder = tmp_path / "people"
    (folder / "sub").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"found sub/$"):
        sm.understand(folder)
    for name in ("ann.csv", "sub/ben.csv"):
        (folder / name).write_text("a,b,c,odd\ncat,dog,bus,bus\n")
    (folder / "cat.csv").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe.csv")
    found = sm.understand(folder)
    there = "cat.csv/, pipe.csv, sub/" if hasattr(os, "mkfifo") else "cat.csv/, sub/"
    assert f"not read, since only files in the folder itself are: {there}" in str(found)
    assert found.comparisons.n_answers == 1


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere.csv", r"ben.csv' is a link to 'nowhere.csv', where nothing is; put that there or take the link out$"),
        (
            "../.git/annex/objects/x1/2z/MD5E-s35--a.csv",
            r"ben.csv' is a link to data that was not fetched; .*datalad get",
        ),
    ],
    ids=["nowhere", "git-annex"],
)
def test_a_link_without_its_file_is_refused_by_name(tmp_path, target, message):
    (tmp_path / "ann.csv").write_text("a,b,c,odd\ncat,dog,bus,bus\n")
    (tmp_path / "ben.csv").symlink_to(target)
    (tmp_path / "map.png").symlink_to("nowhere.png")
    for path in (tmp_path, tmp_path / "ben.csv"):
        with pytest.raises(FileNotFoundError, match=message):
            sm.understand(path)
    assert re.search(message, run("info", ".", folder=tmp_path, check=False).stderr.strip())


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("rater,head,winner", r"nearest is the layout head,winner,loser, where 'loser' is missing$"),
        ("Worker,Head,Winner,rt", r"nearest is the layout head,winner,loser, where 'loser' is missing$"),
        (
            "a,b,c,Frage",
            r"nearest are the layouts a,b,c,central, where 'central' is missing; a,b,c,odd, where 'odd' is missing; if "
            r"another column has it, say which, such as columns=\{'central': 'Frage'\}$",
        ),
        ("worker,u,v", r"say which is which, such as columns=\{'odd': 'v', ...\}; the layouts are"),
    ],
)
def test_a_column_that_is_missing_is_named(header, message):
    columns = header.split(",")
    table = pd.DataFrame([[f"{name}{k % 3}" for name in columns] for k in range(15)], columns=columns)
    with pytest.raises(ValueError, match=message):
        sm.understand(table)


def test_a_column_that_looks_like_the_participant_is_said_so_and_not_suggested_as_an_answer(tmp_path):
    rows = [f"k{k % 3},cat,dog,bus,bus" for k in range(15)]
    (tmp_path / "a.csv").write_text("\n".join(["Kürzel,a,b,c,odd", *rows]))
    hint = "column 'Kürzel' looks like the participant: give "
    assert f"{hint}columns={{'rater': 'Kürzel'}}" in str(sm.understand(tmp_path / "a.csv"))
    assert f'{hint}--columns rater="Kürzel"' in run("info", "a.csv", folder=tmp_path).stdout
    (tmp_path / "b.csv").write_text("\n".join(["Kürzel,u,v,w,z", *rows]))
    with pytest.raises(ValueError, match=r"columns=\{'odd': 'z', ...\}; column 'Kürzel' looks like the participant"):
        sm.read_comparisons(tmp_path / "b.csv")
