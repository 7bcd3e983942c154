"""Files in other people's layouts, each read as a command reads it and asserted cell by cell.

The files are small and made up; where each layout was learned stands beside it. `read` is what every command calls.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import similitude as sm
from similitude.cli.reading import Reading

FIXTURES = Path(__file__).parent / "fixtures"

ODD, TRIPLET, DIFFERENT, SIMILAR = "odd_one_out", "triplet", "difference_rating", "similarity_rating"


def read(name: str, **options: object) -> sm.Comparisons:
    return Reading(**options).read(FIXTURES / name, say=False)[0]  # type: ignore[arg-type]


def rows(c: sm.Comparisons) -> list[tuple]:
    """Every answer: rater, form, items shown, what was said (None for "can't tell"), seconds."""
    answers = c.answers
    found = []
    for k in range(len(answers)):
        shown = " ".join(c.label(item) for item in answers.shown[k])
        said = answers.response[k].tolist()
        form = answers.form.values[k]
        told = None if not said else shown.split()[int(said[0])] if form in (ODD, TRIPLET) else said
        time = None if answers.time is None or np.isnan(answers.time[k]) else round(float(answers.time[k]), 6)
        found.append((answers.rater.values[k], form, shown, told, time))
    return found


CASES = {
    # a questionnaire as a spreadsheet program saves it in German: semicolons, Latin-1, decimal commas
    "lab_semicolons.csv": (
        {},
        [
            ("P01", ODD, "Käse Brot Auto", "Auto", 1.5),
            ("P01", ODD, "Bus Auto Käse", "Käse", 2.25),
            ("P02", ODD, "Brot Bus Käse", None, 0.75),
        ],
    ),
    # tabs in a .csv, in the UTF-16 of "Unicode text"
    "tabs_utf16.csv": (
        {},
        [("S1", ODD, "cat dog bus", "bus", None), ("S2", ODD, "car bus cat", "cat", None)],
    ),
    "questionnaire.xlsx": (
        {},
        [
            ("ann", ODD, "cat dog bus", "bus", 1.5),
            ("ann", ODD, "car bus cat", "cat", 0.9),
            ("ben", ODD, "cat car dog", None, 2.0),
        ],
    ),
    "questionnaire.ods": (
        {},
        [("ann", TRIPLET, "cat dog bus", "dog", None), ("ben", TRIPLET, "bus cat car", "car", None)],
    ),
    # SPSS: items are numbers with value labels
    "ratings.sav": ({}, [("s1", SIMILAR, "cat dog cat bus dog bus", [6.0, 2.0, 1.0], None)]),
    # R: saveRDS of a data frame
    "frame.rds": ({}, [("s1", DIFFERENT, "cat dog cat bus dog bus", [1.0, 6.0, 5.0], None)]),
    # jspsych.org, "Data storage" and "html-button-response"; choices by save_trial_parameters: {choices: true}
    "jspsych.json": (
        {},
        [
            ("x7", ODD, "cat dog bus", "bus", 1.83),
            ("x7", ODD, "car bus cat", None, None),
            ("x7", ODD, "bus dog cat", "bus", 0.94),
        ],
    ),
    # the same as jsPsych.data.get().csv(), of image-button-response: the stimulus is the head
    "jspsych.csv": (
        {},
        [("q1", TRIPLET, "cat bus dog", "dog", 1.45), ("q1", TRIPLET, "bus car cat", "car", 1.21)],
    ),
    # psychology.nottingham.ac.uk/staff/lpzjd/psgy1001, "PsychoPy output files"; psychopy.org, "Data outputs"
    "psychopy.csv": (
        {},
        [
            ("p07", ODD, "cat dog bus", "bus", 1.25),
            ("p07", ODD, "car bus cat", None, None),
            ("p07", ODD, "dog car cat", "car", 0.875),
        ],
    ),
    # the same of Pavlovia with a mouse that saves what was clicked
    "pavlovia.csv": (
        {},
        [("v1", TRIPLET, "cat dog bus", "dog", 1.5), ("v1", TRIPLET, "bus cat car", "car", 0.75)],
    ),
    # rsatoolbox/io/meadows.py, load_rdms_comps_json
    "Meadows_toys_v_v1_gentle-fox_tree.json": (
        {},
        [("gentle-fox", DIFFERENT, "cat dog cat bus dog bus", [0.1, 0.9, 0.8], None)],
    ),
    # rsatoolbox/io/meadows.py, load_rdms_comps_mat, several participants
    "Meadows_toys_v_v1_arrange_1D.mat": (
        {},
        [
            ("gentle-fox", DIFFERENT, "cat dog cat bus dog bus", [0.1, 0.9, 0.8], None),
            ("bold-owl", DIFFERENT, "cat dog cat bus dog bus", [0.3, 0.2, 0.7], None),
        ],
    ),
    # columns as public analyses of Meadows downloads use them: stim1_id, stim1_name, ..., label
    "Meadows_toys_v_v1_annotations.csv": (
        {},
        [
            ("gentle-fox", ODD, "cat dog bus", "bus", 1.5),
            ("gentle-fox", ODD, "car bus cat", "cat", 0.9),
            ("bold-owl", ODD, "dog car cat", "car", 0.8),
        ],
    ),
    # qualtrics.com, "Understanding Your Dataset": three header lines
    "qualtrics.csv": (
        {},
        [
            ("R_1", ODD, "cat dog bus", "bus", None),
            ("R_1", ODD, "car bus cat", "cat", None),
            ("R_2", ODD, "cat dog bus", "dog", None),
            ("R_2", ODD, "car bus cat", None, None),
        ],
    ),
    # the requester's page "Results" of Mechanical Turk; docs.aws.amazon.com, "Assignment"
    "Batch_123_batch_results.csv": (
        {},
        [("A1W", ODD, "cat dog bus", "bus", 12.0), ("A2W", ODD, "car bus cat", "cat", 7.0)],
    ),
    # labelstud.io, "Label Studio JSON format of annotated tasks" and the tag Pairwise
    "label_studio.json": (
        {},
        [
            ("ann@example.org", TRIPLET, "cat dog bus", "dog", 3.5),
            ("ben@example.org", TRIPLET, "bus cat car", "car", 2.25),
        ],
    ),
    # the package labcsv, DefaultHeaderName; the documentation of lab.js on its data
    "labjs.csv": (
        {},
        [("k9", ODD, "cat dog bus", "bus", 1.25), ("k9", ODD, "car bus cat", "cat", 0.8)],
    ),
    # the download "responses" of Salmon
    "salmon.csv": (
        {},
        [
            ("u1", TRIPLET, "cat.png dog.png bus.png", "dog.png", 1.5),
            ("u2", TRIPLET, "bus.png car.png cat.png", "car.png", 2.25),
        ],
    ),
    # THINGS, trainset.txt
    "things.txt": (
        {},
        [(None, ODD, "0 1 2", "2", None), (None, ODD, "3 2 0", "0", None), (None, ODD, "1 3 0", "0", None)],
    ),
    # THINGS, the table of trials: images by number from 1, the choice by position
    "things_behaviour.csv": (
        {},
        [("1", ODD, "1 2 3", "3", 1.5), ("2", ODD, "4 3 1", "1", 2.1)],
    ),
    # cblearn, check_query_response: rows (i, j, k) with booleans
    "cblearn.npz": (
        {},
        [(None, TRIPLET, "0 1 2", "1", None), (None, TRIPLET, "2 3 0", "0", None)],
    ),
    # written by rsatoolbox 0.3.2 itself: rdms.save(file, file_type="hdf5")
    "rsatoolbox.hdf5": (
        {},
        [
            ("p1", DIFFERENT, "cat dog cat bus dog bus", [1.0, 2.0, 3.0], None),
            ("p2", DIFFERENT, "cat dog cat bus dog bus", [2.0, 1.0, 3.0], None),
        ],
    ),
    "square.csv": (
        {},
        [(None, DIFFERENT, "cat dog cat bus cat car dog bus dog car bus car", [1.0, 6.0, 7.0, 5.0, 6.0, 2.0], None)],
    ),
    "long_pairs.csv": ({}, [("o1", DIFFERENT, "cat dog cat bus dog bus", [1.0, 6.0, 5.0], None)]),
    "row_per_item.csv": (
        {},
        [
            ("p1", ODD, "cat dog bus", "bus", None),
            ("p1", ODD, "car bus cat", "cat", None),
            ("p2", ODD, "cat dog bus", None, None),
        ],
    ),
    "no_header.csv": (
        {"columns": 'a="column 1",b="column 2",odd="column 3"'},
        [
            (None, ODD, "cat dog bus", "bus", None),
            (None, ODD, "car bus cat", "cat", None),
            (None, ODD, "bus car dog", "dog", None),
            (None, ODD, "dog cat car", "car", None),
        ],
    ),
    "ids_from_one.csv": (
        {},
        [("p1", TRIPLET, "1 2 3", "2", None), ("p1", TRIPLET, "3 4 1", "4", None)],
    ),
    # a folder with a file per participant
    "people": (
        {},
        [
            ("p01", ODD, "cat dog bus", "bus", None),
            ("p01", ODD, "car bus cat", "cat", None),
            ("p02", ODD, "cat dog bus", "dog", None),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_cell_by_cell(name):
    options, expected = CASES[name]
    assert rows(read(name, **options)) == expected


def test_every_file_is_asserted():
    assert {path.name for path in FIXTURES.iterdir()} == set(CASES)


def test_other_columns_are_kept():
    assert read("lab_semicolons.csv").answers.raters["Group"].tolist() == ["jung", "alt"]
    assert read("questionnaire.xlsx").answers.raters["age"].tolist() == [31, 62]
    assert read("jspsych.json").answers.extra["block"].tolist() == [1, 1, 2]
    assert read("qualtrics.csv").answers.raters["Q3"].tolist() == [24, 57]
    assert read("things_behaviour.csv").answers.raters["gender"].tolist() == ["female", "male"]


def test_several_files_are_read_together():
    both, _ = Reading().read(FIXTURES / "people" / "p01.csv", FIXTURES / "row_per_item.csv", say=False)
    assert both.answers.rater.values.tolist() == ["p01", "p01", "p1", "p1", "p2"]
    assert "columns differ: row_per_item.csv lacks" in str(
        sm.understand([FIXTURES / "people" / "p01.csv", FIXTURES / "row_per_item.csv"])
    )
