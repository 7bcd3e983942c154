"""The layouts of other tools."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from similitude import Comparisons, read_comparisons, understand, write_comparisons
from similitude.feedback.files.names import read_names
from similitude.feedback.forms import FORMS, picking_forms
from tests.feedback.strategies import assert_same


@pytest.fixture
def read(tmp_path):
    def reader(text, name="a.csv", **options):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return read_comparisons(path, **options)

    return reader


def test_salmon(read):
    c = read("head,winner,loser,puid,response_time,sampler\ncat,dog,bus,p1,1.5,random\nbus,car,cat,p2,,active\n")
    expected = Comparisons.from_triplets(
        [("cat", "dog", "bus"), ("bus", "car", "cat")],
        rater=["p1", "p2"],
        time=[1.5, np.nan],
        strategy=["random", "active"],
    )
    assert_same(c, expected)


def test_rows_of_one_screen_are_one_answer(read):
    c = read("Head, Winner ,loser,worker,screen\n0,1,2,w,s\n3,1,2,w,t\n0,1,3,w,s\n")
    assert (c.n_answers, len(c)) == (2, 3)
    assert c.triplets.tolist() == [[0, 1, 2], [0, 1, 3], [3, 1, 2]]


def test_three_of_a_row(read):
    odd = read("a,b,odd,subject\n0,1,2,s\n")
    assert_same(odd, Comparisons.from_odd_one_out([(0, 1, 2)], rater="s"))
    central = read("central,other1,other2,response_time_s\n0,1,2,3.5\n")
    assert_same(central, Comparisons.from_most_central([(0, 1, 2)], time=[3.5]))


def test_quadruplets_with_responses(read):
    c = read("i,j,k,l,response\n0,1,2,3,1\n0,1,2,3,-1\n0,1,2,3,False\n0,1,2,3,\n")
    assert c.quadruplets.tolist() == [[0, 1, 2, 3], [2, 3, 0, 1], [2, 3, 0, 1]]
    assert c.answers.cant_tell.tolist() == [False, False, False, True]
    assert read("i,j,k\n0,1,2\n").triplets.tolist() == [[0, 1, 2]]


def test_difference_scaling(read):
    """resp is 1 where the second pair differs more, so that the first is the more alike."""
    c = read("resp,S1,S2,S3,S4,Obs\n1,1,2,10,12,O1\n0,1,9,2,3,O2\n")
    assert c.names == ("1", "2", "3", "9", "10", "12")
    read_back = [[c.names[k] for k in row] for row in c.quadruplets.tolist()]
    assert read_back == [["1", "2", "10", "12"], ["2", "3", "1", "9"]]
    assert c.answers.rater.values.tolist() == ["O1", "O2"]
    triad = read("resp,S1,S2,S3\n1,8,7,2\n0,8,4,2\n")
    named = [[triad.names[k] for k in row] for row in triad.triplets.tolist()]
    assert named == [["7", "8", "2"], ["4", "2", "8"]]


def test_ratings(read):
    c = read("subject,i,j,rating\n1,0,1,9\n1,0,2,5\n1,1,2,0\n2,0,1,1\n2,0,2,2\n", larger="similar", missing=0)
    expected = Comparisons.from_ratings(
        [(0, 1), (0, 2), (1, 2), (0, 1), (0, 2)], [9, 5, 0, 1, 2], [1, 1, 1, 2, 2], larger="similar", missing=0
    )
    assert_same(c, expected)
    assert len(read("i,j,rating\n0,1,1\n0,2,2\n1,2,3\n", larger="different", max_per_rater=2, random_state=0)) == 2


def test_screens_with_lists(read):
    text = (
        "probe,chosen_near,not_chosen,worker,time_ms,is_catchtrial\n0,1 2,3 4,w,1500,0\n0,,1 2,w,900,0\n4,3,0,w,1,1\n"
    )
    c = read(text)
    assert {tuple(row) for row in c.triplets.tolist()} == {(0, 1, 3), (0, 1, 4), (0, 2, 3), (0, 2, 4)}
    assert c.answers.cant_tell.tolist() == [False, True]
    assert c.answers.time.tolist() == [1.5, 0.9]
    assert [(step.why, step.cleans) for step in c.removed] == [
        ("1 catch trial (marked in the column is_catchtrial)", False)
    ]
    assert "is_catchtrial" not in c.answers.extra  # what is left is none, which is no fact about a rater
    every = read(text, keep_catch=True)
    assert (len(every), every.removed) == (5, ())
    named = read("head,chosen,not_chosen\ncat,dog lynx,bus\n")
    assert named.names == ("bus", "cat", "dog", "lynx")
    listed = read_comparisons(pd.DataFrame({"head": ["a b"], "chosen": [["c d"]], "not_chosen": [["e", "f"]]}))
    assert listed.names == ("a b", "c d", "e", "f")


def test_names_by_what_the_file_calls_the_items(read, tmp_path):
    text = "head,winner,loser\n1,2,3\n2,3,1\n"  # item 4, the last of the table, is in no answer
    table = tmp_path / "names.csv"
    table.write_text("number,kind,name\n1,pet,cat\n2,pet,dog\n3,car,bus\n4,car,tram\n", encoding="utf-8")
    for names in (table, str(table), {1: "cat", 2: "dog", 3: "bus", 4: "tram"}):
        c = read(text, names=names)
        assert c.names == ("cat", "dog", "bus", "tram")
        assert [c.label(item) for item in c.triplets[0]] == ["cat", "dog", "bus"]
    with pytest.raises(ValueError, match="there is no name for item '3'"):
        read(text, names={1: "cat", 2: "dog"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name\ncat\n", "expected what the answers call an item in the first column"),
        ("no,name\n1,cat\n1,dog\n", "two rows are about item '1'"),
        ("no,name\n1,cat\n2,cat\n", "'cat' is the name of more than one item"),
    ],
)
def test_tables_of_names_that_cannot_be(tmp_path, text, message):
    table = tmp_path / "names.csv"
    table.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_names(table)


def test_placements_and_groupings(read):
    placed = read("object,x,y,subject\n0,0,0,s\n1,1,0,s\n2,5,0,s\n")
    assert_same(placed, Comparisons.from_placements([0, 1, 2], [[0, 0], [1, 0], [5, 0]], ["s"] * 3))
    grouped = read("item,group,rater\ncat,1,r\ndog,1,r\nbus,2,r\n")
    assert_same(grouped, Comparisons.from_groupings(["cat", "dog", "bus"], [1, 1, 2], ["r"] * 3))


def test_comparisons_without_answers(read):
    c = read("near_a,near_b,far_a,far_b,weight,answer,rater\na,b,c,d,1,x,r\na,b,a,c,2,x,\nb,c,a,d,3,y,\n")
    assert (c.n_answers, c.answer.tolist(), c.weight.tolist()) == (2, [0, 0, 1], [1, 2, 3])
    assert c.answers.rater.values.tolist() == ["r", None]
    assert len(read("near_a,near_b,far_a,far_b\n0,1,2,3\n0,1,2,3\n").answers) == 2


def test_things_text_files(read):
    c = read("5 1 2\n3 4 0\n", "a.txt")
    assert_same(c, Comparisons.from_odd_one_out([(5, 1, 2), (3, 4, 0)]))
    assert_same(read("0 1 2\n", "a.txt", form="triplet"), Comparisons.from_triplets([(0, 1, 2)]))
    with pytest.raises(ValueError, match="rows of 3 items are no quadruplet"):
        read("0 1 2\n", "a.txt", form="quadruplet")


def test_arrays_of_cblearn(tmp_path):
    rows, y = np.array([[0, 1, 2], [1, 2, 0]]), np.array([True, False])
    np.save(tmp_path / "a.npy", rows)
    np.savez(tmp_path / "a.npz", queries=rows, responses=y)
    np.savez(tmp_path / "q.npz", np.array([[0, 1, 2, 3]]), np.array([-1]))
    assert_same(read_comparisons(tmp_path / "a.npy"), Comparisons.from_triplets(rows))
    assert_same(read_comparisons(tmp_path / "a.npz"), Comparisons.from_triplets(rows, y))
    assert read_comparisons(tmp_path / "q.npz").quadruplets.tolist() == [[2, 3, 0, 1]]
    odd = read_comparisons(tmp_path / "a.npy", form="odd_one_out")
    assert_same(odd, Comparisons.from_odd_one_out(rows))
    np.savez(tmp_path / "a.npz", rows, y[:1])
    with pytest.raises(ValueError, match=r"one response per row \(2\), found 1"):
        read_comparisons(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", rows, rows)
    with pytest.raises(ValueError, match="expected one array"):
        read_comparisons(tmp_path / "a.npz")


def test_answers_of_one_form_written_by_hand(read):
    c = read('shown,response,rater\n"[""a"", ""b"", ""c""]",[1],r\n"[""b"", ""a"", ""c""]",,r\n', form="triplet")
    assert c.triplets.tolist() == [[0, 1, 2]]
    assert c.answers.cant_tell.tolist() == [False, True]


def test_whole_numbers_are_positions_or_names(read):
    text = "head,winner,loser\n2,10,7\n"
    assert read(text).n_items == 11
    assert read(text, n_items=20).n_items == 20
    labelled = read(text, labels=True)
    assert labelled.names == ("2", "7", "10")
    assert labelled.triplets.tolist() == [[0, 2, 1]]
    assert read("head,winner,loser\n2.0,1.0,0.0\n").triplets.tolist() == [[2, 1, 0]]
    assert read("head,winner,loser\n1,0,2\n", names=["x", "y", "z"]).names == ("x", "y", "z")
    assert read("head,winner,loser\n007,b,c\n").names == ("007", "b", "c")


def test_names_that_look_like_numbers_among_names(read):
    text = "head,winner,loser\n112,311,abba\n"
    assert read(text).names == ("112", "311", "abba")
    assert read(text, labels=True).names == ("112", "311", "abba")
    assert read(text, names=["abba", "112", "311"]).triplets.tolist() == [[1, 2, 0]]


def test_positions_that_look_like_ids_warn(read):
    with pytest.warns(UserWarning, match="go up to 50012, but there are only 3 different ones"):
        c = read("head,winner,loser\n50012,17,99\n")
    assert c.n_items == 50013
    assert read("head,winner,loser\n50012,17,99\n", labels=True).n_items == 3


def test_a_form_that_the_columns_do_not_hold_is_refused(read):
    with pytest.raises(ValueError, match="the columns a,b,odd hold odd_one_out, found form='triplet'"):
        read("a,b,odd\n0,1,2\n", form="triplet")


def test_items_of_the_caller_over_those_of_the_file(tmp_path):
    path = tmp_path / "a.csv"
    write_comparisons(Comparisons.from_triplets([(0, 1, 2)]), path)
    assert read_comparisons(path, n_items=7).n_items == 7
    assert read_comparisons(path, names=["x", "y", "z"]).names == ("x", "y", "z")
    write_comparisons(Comparisons.from_triplets([("x", "y", "z")]), path)
    moved = read_comparisons(path, names=["z", "y", "x", "w"])
    assert moved.triplets.tolist() == [[2, 1, 0]]
    with pytest.raises(ValueError, match="'z' is not among the 2 item names"):
        read_comparisons(path, names=["x", "y"])


def test_text_with_quotes_and_without_reads_the_same(read):
    plain = read("head,winner,loser,puid\na,b,c,\n\nb,c,a,p\n")
    assert_same(plain, read('head,winner,loser,puid\na,b,c,\n\nb,c,"a",p\n'))
    assert_same(plain, read("\ufeffhead\twinner\tloser\tpuid\r\na\tb\tc\t\r\nb\tc\ta\tp\r\n", "a.tsv"))


def test_a_table_in_memory():
    frame = pd.DataFrame({"head": [0, 1], "winner": [1, 2], "loser": [2, 0], "subject": [3.0, np.nan]})
    c = read_comparisons(frame)
    assert c.answers.rater.values.tolist() == ["3", None]
    assert c.triplets.tolist() == [[0, 1, 2], [1, 2, 0]]
    with pytest.raises(ValueError, match="a header and no rows"):
        read_comparisons(frame.iloc[:0])


def test_degenerate_rows_are_dropped_on_request(read):
    text = "i,j,k,l\n0,1,2,3\n0,0,1,2\n0,1,1,0\n0,1,0,2\n"
    with pytest.raises(ValueError, match=r"row 2 compares an item with itself \(0, 0, 1, 2\); 2 such in all"):
        read(text)
    assert len(read(text, drop_degenerate=True)) == 2


def test_what_nobody_said_is_left_out_of_a_studys_export(tmp_path):
    rows = ['form,rater,shown,response,outcome', 'triplet,a,"[""x"",""y"",""z""]",[1.0],answered',
            'triplet,a,"[""y"",""x"",""z""]",[],cant_tell', 'triplet,a,"[""z"",""x"",""y""]",[],skipped',
            'triplet,b,"[""z"",""x"",""y""]",[],not_shown']  # fmt: skip
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(rows), encoding="utf-8")
    c = read_comparisons(path)
    assert (c.n_answers, c.answers.cant_tell.sum()) == (2, 1)
    path.write_text("\n".join([rows[0], *rows[3:]]), encoding="utf-8")
    with pytest.raises(ValueError, match="every question was skipped or could not be shown"):
        read_comparisons(path)


@pytest.mark.parametrize("again", ["c", "Group"])
def test_a_table_with_two_columns_of_one_name_says_which(again):
    rows = [("cat", "dog", "bus", "bus", "x", "y"), ("cat", "car", "bus", "cat", "x", "z")]
    table = pd.DataFrame(rows, columns=["a", "b", "c", "odd", "Group", again])
    with pytest.raises(ValueError, match=f"2 columns called '{again}'"):
        read_comparisons(table)


FOUR = ["spaced é", "dog", "bus", "cow", "car"]


@pytest.mark.parametrize("form", sorted(picking_forms()))
def test_what_was_chosen_may_be_written_by_name(form):
    known = FORMS[form]
    shown = FOUR[: known.n_shown]
    for response in known.every_response(len(shown)).tolist():
        said = known.said(shown, response)
        table = pd.DataFrame({"form": form, "shown": [shown], "response": [said if len(said) > 1 else said[0].upper()]})
        assert read_comparisons(table).answers.response[0].tolist() == response


@pytest.mark.parametrize(
    ("form", "shown", "cell", "response"),
    [
        ("triplet", ["cat", "dog", "bus"], "2", 2),
        ("triplet", ["cat", "dog", "bus"], "1.0", 1),
        ("triplet", [5, 1, 4], "1", 1),  # both the item and its place
        ("choice", ["cat", "dog", "bus", "cow"], "3", 3),
        ("same_different", ["cat", "dog"], "0", 0),
        ("rated_pair", ["cat", "dog"], "3.5", 3.5),
    ],
)
def test_a_response_of_one_number_needs_no_brackets(read, form, shown, cell, response):
    text = json.dumps(shown).replace('"', '""')
    answers = read(
        f'form,shown,response,rater\n{form},"{text}",{cell},ann\n', n_items=None if "cat" in shown else 6
    ).answers
    assert answers.response[0].tolist() == [response]


@pytest.mark.parametrize(
    ("form", "shown", "cell", "expected"),
    [
        ("triplet", ["cat", "dog", "bus"], "cat", "the name of the one that is more like the first"),
        ("triplet", ["cat", "dog", "bus"], "0", "the name of the one that is more like the first"),
        ("triplet", ["3", "2", "1"], "1", r"in brackets where a number is a name, too: \[1\]"),
        ("triplet", ["cat", "dog", "bus", "cat", "dog", "cow"], "dog", "more like the first"),  # of two triplets
        (
            "odd_one_out",
            ["cat", "dog", "bus"],
            "1",
            r"in brackets: \[0\], \[1\] or \[2\]; found '1', shown were cat, dog",
        ),
        ("quadruplet", ["cat", "dog", "bus", "cow"], "cat", r"such as cat \+ dog"),
        ("same_different", ["cat", "dog"], "yes", "1: same, 0: different"),
    ],
)
def test_a_response_that_could_mean_two_things_is_refused(form, shown, cell, expected):
    table = pd.DataFrame({"form": form, "shown": [shown], "response": [cell], "rater": "ann"})
    with pytest.raises(ValueError, match=f"row 1 of 'response': expected .*{expected}"):
        read_comparisons(table)


def test_empty_responses_are_noted():
    table = pd.DataFrame({"form": "triplet", "shown": [["a", "b", "c"]] * 3, "response": ["b", None, None]})
    assert [note for note in understand(table).notes if "2 of 3 rows have an empty 'response'" in note]
    assert not understand(table[:1]).notes
    assert not understand(table.assign(outcome=["answered", "cant_tell", "cant_tell"])).notes
