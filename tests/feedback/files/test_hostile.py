"""Damaged and misleading files get a sentence that names the file, and the row and column where there is one."""

from __future__ import annotations

import json
import random
import re
import zipfile

import numpy as np
import pandas as pd
import pytest
from openpyxl import Workbook
from openpyxl.chart import BarChart

import similitude as sm
from similitude.cli import comparing
from similitude.cli.reading import in_words_of_the_shell
from similitude.methods.tables_out import separated
from tests.feedback.files.test_fixtures import CASES, FIXTURES

FILES = sorted(name for name in CASES if (FIXTURES / name).is_file())
ODD = "participant,a,b,c,odd\n"


def refusal(path, **options) -> str:
    """What is said of a file that cannot be read."""
    with pytest.raises((ValueError, TypeError)) as refused:
        sm.read_comparisons(path, **options)
    return str(refused.value)


def written(tmp_path, content, name="a.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_off_never_reads_as_if_it_were_whole(tmp_path, name):
    """Cut in the middle: a sentence that names the file, or (where whole rows are left) fewer answers."""
    whole = (FIXTURES / name).read_bytes()
    path = written(tmp_path, whole[: len(whole) // 2], name)
    answers, said = 0, f"{name}: "
    try:
        answers = sm.read_comparisons(path).n_answers
    except (ValueError, TypeError) as error:
        said = str(error)
    assert said.startswith(f"{name}: ")
    assert answers < len(CASES[name][1])


def mangled(whole: bytes, rng: random.Random) -> bytes:
    """A file with some of its bytes cut out, changed or doubled, or with its lines in another order."""
    data, place = bytearray(whole), rng.randrange(len(whole))
    ways = (
        lambda: data[:place],
        lambda: data[:place] + data[place + rng.randrange(40) :],
        lambda: data[:place] + bytes(rng.choice(b',;\t"\n{}[]=\xff0a:') for _ in range(6)) + data[place:],
        lambda: b"\n".join(rng.sample(lines := whole.split(b"\n"), len(lines))),
    )
    return bytes(rng.choice(ways)())


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith((".sav", ".rds", ".mat", ".hdf5"))])
def test_whatever_happened_to_a_file_is_read_or_refused_by_name(tmp_path, name):
    """Those of SPSS, R, Matlab and HDF5 are read by C libraries, which a byte in the wrong place may end."""
    rng = random.Random(name)
    for _ in range(6):
        path = written(tmp_path, mangled((FIXTURES / name).read_bytes(), rng), name)
        said = f"{name}: "
        try:
            said = str(sm.understand(path))
        except (ValueError, TypeError) as error:
            said = str(error)
        assert said.startswith(f"{name}: ")


def test_an_export_that_lacks_what_it_should_have(tmp_path):
    path = written(tmp_path, "sender,sender_type,ended_on,a\nx,y,response,b\n")
    assert "a.csv: it looks like an export of lab.js, but is damaged or of another kind" in refusal(path)


def test_cut_off_in_a_row(tmp_path):
    path = written(tmp_path, ODD + "p,cat,dog,bus,bus\np,cat,do")
    assert "a.csv: row 2 has 3 cells, expected 5; correct that row (it is the last: is the file cut off?)" in refusal(
        path
    )


def test_cut_off_in_quotes(tmp_path):
    path = written(tmp_path, ODD + 'p,"cat",dog,bus,bus\np,"ca')
    assert re.match(r"a\.csv: after row 1 the text is cut off or has a stray quote", refusal(path))


def test_a_broken_letter_names_the_line(tmp_path):
    text = (ODD + "p,Käse,Brot,Öl,Öl\n" * 20).encode()
    assert "a.csv: line 22: byte 0xff" in refusal(written(tmp_path, text + b"p,K\xffse,Brot,Bus,Bus\n"))


def test_two_columns_of_one_name(tmp_path):
    path = written(tmp_path, "a,b,B ,odd\ncat,dog,bus,bus\n")
    assert "a.csv: two columns have the same name: columns 2 and 3 are both called 'B '" in refusal(path)


def test_a_formula_in_text_names_row_and_column(tmp_path):
    path = written(tmp_path, ODD + "p,cat,dog,bus,bus\np,=B2,dog,bus,dog\n")
    assert "a.csv: row 2 of 'a' is a formula (=B2)" in refusal(path)


@pytest.mark.parametrize(
    ("cell", "said"), [("=B2", "is a formula without a value (=B2)"), ("#N/A", "is the error #N/A")]
)
def test_a_formula_or_an_error_in_a_workbook_names_row_and_column(tmp_path, cell, said):
    book = Workbook()
    for row in (
        ["participant", "a", "b", "c", "odd"],
        ["p", "cat", "dog", "bus", "bus"],
        ["p", "cat", "dog", "bus", cell],
    ):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert f"a.xlsx: row 3 of 'odd' (sheet 'Sheet') {said}" in refusal(tmp_path / "a.xlsx")


def test_what_was_not_shown_names_row_and_column(tmp_path):
    path = written(tmp_path, ODD + "p,cat,dog,bus,bus\np,cat,dog,bus,horse\n")
    assert "a.csv: column 'odd': row 2: expected one of the items shown (cat, dog, bus), found 'horse'" in refusal(path)


def test_a_number_that_is_none_names_row_and_column(tmp_path):
    path = written(tmp_path, "Item 1,Item 2,Similarity\ncat,dog,5\ncat,bus,many\n")
    assert "a.csv: row 2 of 'Similarity': expected a number, found 'many'" in refusal(path)


def test_an_archive_that_calls_itself_text(tmp_path):
    whole = (FIXTURES / "questionnaire.xlsx").read_bytes()
    assert sm.read_comparisons(written(tmp_path, whole)).n_answers == 3  # a workbook under the wrong name is one
    assert "no text but a cut off spreadsheet" in refusal(written(tmp_path, whole[:900]))


def test_a_table_that_is_not_symmetric_names_the_cells(tmp_path):
    path = written(tmp_path, ",cat,dog,bus\ncat,0,1,6\ndog,2,0,5\nbus,6,5,0\n")
    assert "row 1 of 'dog' is 1, and row 2 of 'cat' is 2" in refusal(path)


def test_arrays_of_the_wrong_size(tmp_path):
    np.savez(tmp_path / "a.npz", np.zeros((3, 5), int))
    assert refusal(tmp_path / "a.npz").startswith("a.npz: expected one array (m, 3) or (m, 4)")


REFUSED = {
    "larger": "i,j,rating\n0,1,2\n0,2,1\n",
    "form": "Pic 1,Pic 2,Pic 3,choice\ncat,dog,bus,bus\nbus,dog,cat,cat\n",
    "columns": "u,v,w\n1,2,3\n",
    "drop-degenerate": "head,winner,loser\n0,0,1\n",
}


@pytest.mark.parametrize("option", REFUSED)
def test_no_message_of_a_command_names_a_python_argument(tmp_path, option):
    said = in_words_of_the_shell(refusal(written(tmp_path, REFUSED[option])))
    assert f"--{option}" in said
    assert not re.search(r"\b\w+=(True|'|\{|\s|$)", said), said


def test_nor_does_what_was_understood(tmp_path):
    path = written(tmp_path, ODD + "p,cat,dog,bus,bus\np,Cat,dog,bus,dog\np,Cat,dog,bus,dog\n")
    said = in_words_of_the_shell(str(sm.understand(path)))
    assert "give --fold-names to join them" in said
    assert "fold_names" not in said


@pytest.mark.parametrize(("long", "short"), [(1, 4), (2, 3)])
def test_a_row_that_is_too_long_is_not_made_up_for_by_one_that_is_too_short(tmp_path, long, short):
    rows = ["ann,cat,dog,bus,bus"] * 5
    rows[long - 1], rows[short - 1] = "ann,cat,dog,bus,bus,more", "ann,cat,dog,bus"
    assert f"a.csv: row {long} has 6 cells, expected 5" in refusal(written(tmp_path, ODD + "\n".join(rows)))


def test_lines_may_end_in_any_way_and_be_blank(tmp_path):
    for end in ("\n", "\r\n", "\r"):
        lines = ["head,near,far", 'cat,"dog, the",bus', "", "  ", "dog,cat,bus", ""]
        assert sm.read_comparisons(written(tmp_path, end.join(lines))).n_answers == 2


def test_what_is_not_a_number_is_no_item(tmp_path):
    text = '[{"head": 0, "near": 1, "far": 2}, {"head": NaN, "near": 0, "far": 1}]'
    assert "a.json: row 2 has no 'head'" in refusal(written(tmp_path, text, "a.json"))
    np.save(tmp_path / "a.npy", np.array([[0, 1, 2], [0, 1, np.nan]]))
    assert "a.npy: row 2 has no 'column 3'" in refusal(tmp_path / "a.npy")
    text = '{"form": "triplet", "shown": [0, 1, null], "response": [0]}\n'
    assert "a.jsonl: items: an empty value" in refusal(written(tmp_path, text, "a.jsonl"))


TWO_TASKS = "P1,P2,P3,strange,head,chosen\nx,y,z,x,w,y\ny,x,z,y,w,z\n"


def test_columns_that_are_given_hold_whatever_else_the_file_has(tmp_path):
    path = written(tmp_path, TWO_TASKS)
    understood = sm.understand(path, columns={"a": "P1", "b": "P2", "c": "P3", "odd": "strange"})
    assert understood.used == {"a": "P1", "b": "P2", "c": "P3", "odd": "strange"}
    assert understood.comparisons.answers.form.labels == ("odd_one_out",)
    said = refusal(path, columns={"b": "P2", "c": "P3", "odd": "strange"})
    assert "a.csv: columns: no layout has b, c, odd together with columns that the file has" in said


def test_a_column_has_one_role(tmp_path):
    said = refusal(written(tmp_path, TWO_TASKS), columns={"a": "P1", "b": "P2", "c": "P3", "odd": "p3"})
    assert "a.csv: columns: 'P3' is given as c and as odd" in said


def test_a_column_may_be_given_by_any_name_of_its_role(tmp_path):
    path = written(tmp_path, "winner,u,v,w\nq,cat,dog,bus\nq,bus,car,dog\n")
    understood = sm.understand(path, columns={"head": "u", "near": "v", "far": "w"})
    assert understood.used == {"head": "u", "near": "v", "far": "w"}


@pytest.mark.parametrize("header", [ODD, "head,near,far,time\n", "Subject,Pic 1,Pic 2,Pic 3,Odd one\n"])
@pytest.mark.parametrize("before", [2, 60])
def test_a_header_in_the_middle_is_left_out_and_said(tmp_path, header, before):
    row = "ann,cat,dog,bus,bus\n" if header.count(",") == 4 else "cat,dog,bus,1.5\n"
    path = written(tmp_path, header + row * before + "\ufeff" + header + row * 3)
    understood = sm.understand(path)
    assert understood.comparisons.names == ("bus", "cat", "dog")
    assert understood.comparisons.n_answers == before + 3
    assert f"row {before + 1} is the header again and is left out" in understood.notes


@pytest.mark.parametrize(
    ("names", "raters"),
    [
        (("2024.05.01_P1.csv", "2024.05.01_P2.csv"), ("2024.05.01_P1", "2024.05.01_P2")),
        (("a/answers.csv", "b/answers.csv"), ("a/answers", "b/answers")),
        (("a/p1.csv", "a/p1.txt"), ("p1.csv", "p1.txt")),
    ],
)
def test_files_are_raters_of_their_own(tmp_path, names, raters):
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        written(tmp_path, "head,near,far\ncat,dog,bus\n", name)
    assert sm.read_comparisons([tmp_path / name for name in names]).answers.rater.labels == raters


def book(path, **sheets):
    """Write a workbook of sheets, each a list of rows."""
    made = Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


TRIPLETS = [["head", "near", "far"], ["cat", "dog", "bus"], ["dog", "cat", "bus"]]


def test_the_sheet_with_answers_is_read_and_named(tmp_path):
    path = book(tmp_path / "a.xlsx", Readme=[["This is", "our study"], ["of", "=1+1"]], Data=TRIPLETS, Empty=[])
    understood = sm.understand(path)
    assert understood.comparisons.n_answers == 2
    assert "the sheet 'Data' is read; 'Readme' left out" in understood.notes


def test_the_sheet_is_read_that_has_the_columns_which_are_given(tmp_path):
    path = book(tmp_path / "a.xlsx", Key=[["item", "group"], ["cat", "animal"]], Data=[["u", "v", "w"], *TRIPLETS[1:]])
    assert sm.read_comparisons(path, columns={"head": "u", "near": "V", "far": "w"}).n_answers == 2


def test_sheets_alike_are_read_together_and_others_asked_about(tmp_path):
    understood = sm.understand(book(tmp_path / "a.xlsx", P1=TRIPLETS, P2=TRIPLETS))
    assert understood.comparisons.n_answers == 4
    assert "the sheets 'P1', 'P2' are read together" in understood.notes
    path = book(tmp_path / "b.xlsx", P1=TRIPLETS, P2=[["a", "b", "odd"], ["cat", "dog", "bus"]])
    assert "b.xlsx: the sheets 'P1', 'P2' hold answers in different columns" in refusal(path)


def test_charts_and_stray_cells_of_a_workbook_do_no_harm(tmp_path):
    made = Workbook()
    made.create_chartsheet("Chart", 0).add_chart(BarChart())
    for row in TRIPLETS:
        made["Sheet"].append(row)
    made["Sheet"]["XFD90000"] = "stray"
    made.save(tmp_path / "a.xlsx")
    assert sm.read_comparisons(tmp_path / "a.xlsx").n_answers == 2


def test_a_sheet_that_is_cut_off_in_a_workbook_that_is_whole(tmp_path):
    whole = zipfile.ZipFile(book(tmp_path / "a.xlsx", Data=TRIPLETS))
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as cut:
        for name in whole.namelist():
            data = whole.read(name)
            cut.writestr(name, data[: len(data) // 2] if "sheet1" in name else data)
    assert "b.xlsx: the Excel file is cut off or damaged" in refusal(tmp_path / "b.xlsx")


@pytest.mark.parametrize("text", ["\ufeff", ",,,,", '"', "\ufeff \n \n", "sep=;\n"])
def test_a_file_of_nothing(tmp_path, text):
    assert "a.csv: the file holds no cell with anything in it" in refusal(written(tmp_path, text))
    assert refusal(written(tmp_path, text, "a.txt")).startswith("a.txt: ")


@pytest.mark.parametrize("header", ["head,near,far", f"head,near,far,{'long' * 60_000}"])
@pytest.mark.parametrize("end", ["\n", "\r"])
def test_lines_are_as_long_as_they_are(tmp_path, header, end):
    row = "cat,dog,bus" + "," * (header.count(",") - 2)
    text = end.join([header, *[row] * 20_000])
    assert sm.read_comparisons(written(tmp_path, text)).n_answers == 20_000


def test_numbers_that_are_too_large_for_positions(tmp_path):
    path = written(tmp_path, f"head,near,far\n{10**20},{10**20 + 1},{10**20 + 2}\n")
    assert f"a.csv: items: {10**20 + 2} is too large for a position; if the numbers are names" in refusal(path)
    assert sm.read_comparisons(path, labels=True).n_items == 3


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", "{}"),
        ("a.jsonl", '{{"head": {}}}'),
        ("a.csv", 'form,shown,response\ntriplet,"{}",[0]'),
        ("a.csv", 'format,items,shown,response\n1,"{}",3,[0]'),
    ],
)
def test_lists_without_end(tmp_path, name, text):
    assert refusal(written(tmp_path, text.format("[" * 50_000 + "]" * 50_000), name)).startswith(f"{name}: ")


def test_a_file_of_ours_that_pandas_wrote_again(tmp_path):
    c = sm.Comparisons.from_triplets([("cat", "dog", "car"), ("bus", "car", "dog")])
    sm.write_comparisons(c, tmp_path / "a.csv")
    pd.read_csv(tmp_path / "a.csv").to_csv(tmp_path / "b.csv", index=False)
    again = sm.read_comparisons(tmp_path / "b.csv")
    assert again.names == c.names
    assert again.quadruplets.tolist() == c.quadruplets.tolist()


@pytest.mark.parametrize(("first", "names"), [("1,2,3", ("1", "2", "3", "4")), ("0,2,3", None)])
def test_what_numbers_are_is_decided_over_all_files(tmp_path, first, names):
    written(tmp_path, f"head,near,far\n{first}\n", "p1.csv")
    written(tmp_path, f"head,near,far\n{'2' if names else '1'},3,4\n", "p2.csv")
    assert sm.read_comparisons(tmp_path).names == names


def test_names_that_no_spreadsheet_may_run_are_read_as_they_were(tmp_path):
    path = written(tmp_path, 'head,near,far\n"""-5 to""","=""a",cat\n"""=1""","""cat""",bus\n')
    assert set(sm.read_comparisons(path).names) == {"-5 to", '="a', "cat", "=1", '"cat"', "bus"}


def test_items_that_are_one_when_folded_are_compared_with_themselves(tmp_path):
    path = written(tmp_path, "head,near,far\ncat,dog,bus\ncat,Cat,bus\n")
    assert "row 2 compares an item with itself (cat, Cat, bus)" in refusal(path, fold_names=True)
    assert sm.read_comparisons(path, fold_names=True, drop_degenerate=True).n_answers == 1


def test_files_in_two_codes_that_were_joined_have_one_item_of_a_name(tmp_path):
    rows = "Käse,Brot,Öl\n"
    path = written(tmp_path, b"head,near,far\n" + rows.encode() + rows.encode("cp1252") * 3)
    assert sm.read_comparisons(path).names == ("Brot", "Käse", "Öl")
    assert "UTF-8 in some lines, Latin-1 in others" in str(sm.understand(path))


def test_1_and_1_0_are_one_item(tmp_path):
    path = written(tmp_path, "head,near,far\n1,2,3\n1.0,3.0,2\n")
    assert sm.read_comparisons(path).names == ("1", "2", "3")


@pytest.mark.parametrize(("word", "labels"), [("cat", False), ("8", True)])
def test_names_7_and_7_0_are_said_to_differ_by_that_alone(tmp_path, word, labels):
    path = written(tmp_path, f"head,near,far\n7,{word},9\n7.0,{word},9\n7,9,{word}\n9,7,7.5\n")
    understood = sm.understand(path, labels=labels)
    assert "1 group of names differs by case, spaces, accents or .0 alone: '7' = '7.0'" in str(understood)
    assert set(sm.read_comparisons(path, labels=labels, fold_names=True).names) == {"7", "7.5", "9", word}


def test_of_a_pair_that_was_rated_again_the_mean_counts(tmp_path):
    rows = "cat,dog,5,ann\ncat,bus,2,ann\ndog,bus,1,ann\ndog,cat,4,ann\ncat,dog,1,ben\ncat,bus,2,ben\n"
    understood = sm.understand(written(tmp_path, "i,j,rating,rater\n" + rows), larger="similar")
    assert understood.comparisons.answers.response[0].tolist() == [4.5, 2.0, 1.0]
    assert "1 of 6 ratings are of a pair that was rated before: the mean counts" in understood.notes


def test_names_of_a_table_of_ours_are_compared_as_they_were(tmp_path):
    names = ["-5 to", "=1", "cat"]
    distances = pd.DataFrame(np.zeros((3, 3)), names, names)
    table, _ = comparing._table(written(tmp_path, separated(distances)))
    assert table.index.tolist() == table.columns.tolist() == names


@pytest.mark.parametrize(
    "cells",
    [
        ('["a","b","c"], ["d"', '"e","f"]'),
        ('["a","b","c"]', '["a","b"', '"c"], ["a","b","c"]'),
        ('["a","b","x]', '[y"]', '["a","b","c"], ["a","b","c"]'),
        ('["a",["b"]', '["c"]]', '["a","b","c"],["a","b","c"]'),
    ],
)
def test_a_list_that_is_cut_over_rows_is_not_put_together(tmp_path, cells):
    pd.DataFrame({"form": "triplet", "shown": cells, "response": "[1]"}).to_csv(tmp_path / "a.csv", index=False)
    assert re.search(r"row \d of 'shown': expected a list such as", refusal(tmp_path / "a.csv"))


@pytest.mark.parametrize("between", ["  ", "#x\n", " # x\n # y\n", "\\\n"])
def test_words_side_by_side_are_not_joined_whatever_stands_between_them(tmp_path, between):
    shown = [f"['cat' {between} 'dog', 'bus', 'car']"]
    pd.DataFrame({"form": "triplet", "shown": shown, "response": "[1]"}).to_csv(tmp_path / "a.csv", index=False)
    assert "row 1 of 'shown': expected a list such as" in refusal(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "cell",
    ["[" * 1_000_000, "word " * 100_000, "1" * 5000, f"[{'1' * 5000},2,3]", "=SUM(A1" + "1" * 5000 + ")"],
    ids=["brackets", "words", "digits", "list", "formula"],
)
@pytest.mark.parametrize("header", ["form,shown,response", "head,winner,loser", "i,j,rating", "a,b,odd"])
def test_no_more_of_a_cell_is_shown_than_can_be_looked_at(tmp_path, header, cell):
    columns = header.split(",")
    for column in columns:
        rows = {"form": "triplet", "shown": '["a","b","c"]', "response": "[1]"} | dict.fromkeys(columns[-1:], "7")
        table = pd.DataFrame({name: [rows.get(name, name)] for name in columns} | {column: [cell]})
        table.to_csv(tmp_path / "a.csv", index=False)
        said = []
        try:
            sm.read_comparisons(tmp_path / "a.csv")
        except (ValueError, TypeError) as error:  # some are read: a name may have any length
            said.append(str(error))
        assert all(len(text) <= 1300 and "set_int_max_str_digits" not in text for text in said)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"shown": [["a"], ["b"], ["c"]]}, r"row 1 of 'shown': expected a list of single values, found \['a'\] in it"),
        (
            {"shown": ["a", {"b": 1}, "c"]},
            r"row 1 of 'shown': expected a list of single values, found \{'b': 1\} in it",
        ),
        ({"response": [[1]]}, r"row 1 of 'response': expected a list of single values, found \[1\] in it"),
        ({"rater": ["ann"]}, r"row 1 of 'rater': expected a single value, found \['ann'\]"),
        ({"form": {"is": "triplet"}}, r"row 1 of 'form': expected a single value, found \{'is': 'triplet'\}"),
    ],
)
def test_lists_in_place_of_values_name_row_and_column(tmp_path, row, message):
    text = json.dumps({"form": "triplet", "shown": ["a", "b", "c"], "response": [1]} | row)
    assert re.search(rf"^a.jsonl: {message}$", refusal(written(tmp_path, text, "a.jsonl")))


def test_lists_in_place_of_items_name_row_and_column(tmp_path):
    table = pd.DataFrame({"head": ["a", ["b"]], "winner": ["b", "c"], "loser": ["c", "a"]})
    assert refusal(table) == "row 2 of 'head': expected a single value, found ['b']"
    text = '{"head": ' + "1" * 5000 + ', "winner": 2, "loser": 3}'
    assert "a.json: the JSON holds a number of more digits" in refusal(written(tmp_path, f"[{text}]", "a.json"))
    assert "a.jsonl: line 1 holds a number of more digits" in refusal(written(tmp_path, text, "a.jsonl"))


@pytest.mark.parametrize("code", ["utf-32", "utf-32-le", "utf-32-be", "utf-16", "utf-16-le", "utf-16-be"])
def test_wide_codes_are_read_with_and_without_a_mark(tmp_path, code):
    understood = sm.understand(written(tmp_path, (ODD + "ann,Café,犬,bus,bus\nben,cat,dog,犬,cat\n").encode(code)))
    assert understood.comparisons.names == ("Café", "bus", "cat", "dog", "犬")
    assert f"read as: {code[:6].upper()}" in str(understood)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "<!DOCTYPE html>\n<html><body>Please log in</body></html>",
            "a web page (HTML), no table; open it in a browser",
        ),
        ("\ufeff\n<table><tr><td>head</td></tr></table>", "a web page (HTML), no table; open it in a browser"),
        (
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
            "a pointer to data that was not fetched; fetch it by",
        ),
        ("/annex/objects/MD5E-s3--0.csv\n", "a pointer to data that was not fetched; fetch it by git-annex or DataLad"),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.xlsx", "a.json", "a.txt"])
def test_what_is_no_table_is_told_by_what_it_is(tmp_path, name, text, said):
    assert refusal(written(tmp_path, text, name)).startswith(f"{name}: this is {said}")


@pytest.mark.parametrize("error", ["#N/A", "#DIV/0!"])
def test_an_error_of_a_spreadsheet_is_no_item_of_a_text_file(tmp_path, error):
    rows = f"head,near,far\nb,a,c\na,{error},c\n"
    assert f"row 2 of 'near' is the error {error}; correct that cell" in refusal(written(tmp_path, rows))
