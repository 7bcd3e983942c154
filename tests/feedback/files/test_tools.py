"""What else the exports of other tools may hold, beside the files in `fixtures`."""

from __future__ import annotations

import json

import pytest

import similitude as sm
from similitude.feedback.files import tools
from similitude.feedback.files.tools import Export, Tool, register
from similitude.feedback.files.tools.base import renamed
from similitude.feedback.files.tools.trials import item
from tests.feedback.files.test_fixtures import DIFFERENT, ODD, SIMILAR, TRIPLET, rows


@pytest.fixture
def read(tmp_path):
    def reader(content, name="a.csv", **options):
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return rows(sm.read_comparisons(tmp_path / name, **options))

    return reader


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("img/cat.png", "cat"),
        ("https://example.org/a/cat.jpg", "cat"),
        ('<img class="big" src="img/cat.png" width=10>', "cat"),
        ("<p>a <b>small</b> cat</p>", "a small cat"),
        ("cat", "cat"),
        ("Dr. Who", "Dr. Who"),
    ],
)
def test_what_an_item_is_called(cell, name):
    assert item(cell) == name


def test_jspsych_with_columns_of_its_own(read):
    trial = {"trial_type": "survey", "trial_index": 1, "rt": 800, "a": "x/cat.png", "b": "dog", "c": "bus"}
    assert read([trial | {"odd": "bus", "subject": "s"}], "a.json") == [("s", ODD, "cat dog bus", "bus", 0.8)]


def test_jspsych_that_does_not_say_what_was_asked(read):
    trial = {"trial_type": "html-button-response", "trial_index": 0, "rt": 1, "response": 1, "choices": ["a", "b", "c"]}
    with pytest.raises(ValueError, match=r"a.json: column 'response' says which of three items was picked, but not as"):
        read([trial, trial | {"choices": ["b", "c", "a"]}], "a.json")
    found = read([trial, trial | {"choices": ["b", "c", "a"]}], "a.json", form="odd_one_out")
    assert [row[2:4] for row in found] == [("a b c", "b"), ("b c a", "c")]


def test_jspsych_without_items(read):
    with pytest.raises(ValueError, match=r"a.json: no trial holds the items that were shown: save them"):
        read([{"trial_type": "html-button-response", "trial_index": 0, "rt": 1, "response": 1}], "a.json")


def test_mturk_answers_as_json(read):
    head = "HITId,WorkerId,Input.head,Input.option_a,Input.option_b,Answer.taskAnswers\n"
    said = json.dumps([{"choice": {"option_a": False, "option_b": True}}]).replace('"', '""')
    assert read(f'{head}h,w,cat,bus,dog,"{said}"\n') == [("w", TRIPLET, "cat bus dog", "dog", None)]


def test_mturk_answers_as_ticked_boxes(read):
    head = "HITId,WorkerId,Input.item1,Input.item2,Input.item3,Answer.odd.item1,Answer.odd.item2,Answer.odd.item3\n"
    assert read(head + "h,w,cat,bus,dog,false,true,false\n") == [("w", ODD, "cat bus dog", "bus", None)]


def test_qualtrics_asks_triplets(read):
    ids = '"{""ImportId"":""_recordId""}","{""ImportId"":""QID1""}"'
    text = f"ResponseId,Q1\nResponse ID,Which is more like the cat: dog or bus?\n{ids}\nR1,dog\nR2,\n"
    assert read(text) == [("R1", TRIPLET, "cat dog bus", "dog", None), ("R2", TRIPLET, "cat dog bus", None, None)]


def test_qualtrics_asks_for_ratings(read):
    ids = ",".join(f'"{{""ImportId"":""QID{k}""}}"' for k in range(4))
    asked = (
        "Response ID,How similar are these? cat / dog,How similar are these? cat / bus,How similar are these? dog / bus"
    )
    assert read(f"ResponseId,Q1,Q2,Q3\n{asked}\n{ids}\nR1,7,2,3\n") == [
        ("R1", SIMILAR, "cat dog cat bus dog bus", [7.0, 2.0, 3.0], None)
    ]


def test_qualtrics_that_names_no_items(read):
    ids = '"{""ImportId"":""_recordId""}","{""ImportId"":""QID1""}"'
    with pytest.raises(ValueError, match=r"a.csv: no question names its items"):
        read(f"ResponseId,Q1\nResponse ID,How are you?\n{ids}\nR1,well\n")


IDS = '"{""ImportId"":""_recordId""}","{""ImportId"":""QID1""}"'


@pytest.mark.parametrize(
    "asked",
    [
        "Welches ist anders: cat, dog, bus?", "Welches ist anders? cat; dog; bus", "cat - dog - bus", "cat / dog / bus",
        "Was ist anders - cat – dog – bus", "Quel est l'autre : cat, dog ou bus ?",
    ],
)  # fmt: skip
def test_qualtrics_in_other_words_takes_a_form(read, asked):
    text = f'ResponseId,Q1\nResponse ID,"{asked}"\n{IDS}\nR1,dog\nR2,\n'
    assert read(text, form="odd_one_out") == [
        ("R1", ODD, "cat dog bus", "dog", None),
        ("R2", ODD, "cat dog bus", None, None),
    ]
    with pytest.raises(ValueError, match="which of three items was picked, but not as what; give form="):
        read(text)


def test_qualtrics_in_german(read):
    text = f"ResponseId,Q1\nResponse ID,Welches passt nicht dazu: cat; dog; bus?\n{IDS}\nR1,dog\n"
    assert read(text) == [("R1", ODD, "cat dog bus", "dog", None)]


@pytest.mark.parametrize("first", ["ResponseId", "Person"])
def test_three_header_lines_over_a_row_per_answer(read, first):
    ids = ",".join(f'"{{""ImportId"":""QID{k}""}}"' for k in range(5))
    text = f"{first},x,y,z,w\nWer,Eins,Zwei,Drei,Was?\n{ids}\nR1,cat,dog,bus,dog\nR1,cat,car,bus,bus\n"
    columns = {"rater": first, "a": "x", "b": "y", "c": "z", "odd": "w"}
    assert read(text, columns=columns) == [
        ("R1", ODD, "cat dog bus", "dog", None),
        ("R1", ODD, "cat car bus", "bus", None),
    ]


def test_label_studio_choices(read):
    task = {
        "data": {"image1": "/data/cat.png", "image2": "/data/dog.png", "image3": "/data/bus.png"},
        "annotations": [{"completed_by": 3, "lead_time": 2.0, "result": [
            {"from_name": "odd", "to_name": "image1", "type": "choices", "value": {"choices": ["image3"]}},
        ]}],
    }  # fmt: skip
    assert read([task], "a.json") == [("3", ODD, "cat dog bus", "bus", 2.0)]


def test_meadows_triplets_and_an_unknown_task(read):
    head = "stim1_id,stim1_name,stim2_id,stim2_name,stim3_id,stim3_name,label,participation,task\n"
    assert read(head + "1,cat,2,dog,3,bus,2,p,triplets\n") == [("p", TRIPLET, "cat dog bus", "dog", None)]
    with pytest.raises(ValueError, match="'label' says which of three items was picked, but not as what"):
        read(head + "1,cat,2,dog,3,bus,2,p,main\n")


def test_meadows_of_several_participants(read):
    tree = {"tasks": [{"task": {"name": "m", "task_type": "multiarrange"}, "rdm": [1, 2, 3],
                       "stimuli": [{"name": "cat.png"}, {"name": "dog.png"}, {"name": "bus.png"}]}]}  # fmt: skip
    found = read({"bold-owl": tree, "shy-fox": tree}, "a.json")
    assert [(who, form) for who, form, *_ in found] == [("bold-owl", DIFFERENT), ("shy-fox", DIFFERENT)]


def test_a_square_table_by_its_diagonal(read):
    table = ",cat,dog,bus\ncat,{d},8,1\ndog,8,{d},2\nbus,1,2,{d}\n"
    assert read(table.format(d=9))[0][1:4] == (SIMILAR, "cat dog cat bus dog bus", [8.0, 1.0, 2.0])
    assert read(table.format(d=0))[0][1] == DIFFERENT
    assert read(table.format(d=0), larger="similar")[0][1] == SIMILAR
    with pytest.raises(ValueError, match="does a larger rating mean 'similar' or 'different'"):
        read(table.format(d=""))
    half = ",cat,dog,bus\ncat,0,,\ndog,8,0,\nbus,1,2,0\n"
    assert read(half)[0][3] == [8.0, 1.0, 2.0]


def test_json_rows_and_json_columns(read):
    row = {"head": "cat", "winner": "dog", "loser": "bus"}
    assert read([row], "a.json") == read({"head": ["cat"], "winner": ["dog"], "loser": ["bus"]}, "b.json")
    assert read({"answers": [row], "version": 3}, "c.json") == read([row], "a.json")
    with pytest.raises(ValueError, match=r"d.json: the JSON is no list of rows"):
        read({"version": 3}, "d.json")


def test_a_tool_of_ones_own(read):
    known = dict(tools.TOOLS)
    roles = {"one": "a", "two": "b", "three": "c", "stranger": "odd"}
    try:
        register(Tool("mine", lambda source: source.has("mine"), lambda source: Export(renamed(source.table, roles))))
        assert read("mine,one,two,three,stranger\n1,cat,dog,bus,bus\n") == [(None, ODD, "cat dog bus", "bus", None)]
        with pytest.raises(TypeError, match="tool: expected a Tool"):
            register("mine")
    finally:
        tools.TOOLS.clear()
        tools.TOOLS.update(known)


def test_two_files_of_a_folder_that_lack_a_reader(tmp_path):
    (tmp_path / "notes.docx").write_bytes(b"x")
    (tmp_path / "p1.csv").write_text("a,b,c,odd\ncat,dog,bus,bus\n")
    assert sm.read_comparisons(tmp_path).answers.rater.labels == ("p1",)
