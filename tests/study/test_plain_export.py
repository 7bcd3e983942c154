"""A study's answers as a plain table: no JSON in any cell, times in ISO 8601, and it reads back."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import similitude as sm
from similitude.study.maintenance.export import export_answers
from similitude.study.settings import StudyError
from tests.study.test_service import say


@pytest.fixture
def asked(serve, take_part):
    def ask(form, *said, more=""):
        service = serve(f"[question]\nform = '{form}'\nnumber = 5\n{more}")
        rater_id = take_part(service)
        questions = []
        state = service.questions(rater_id).result()
        for response in said:
            question = state["questions"][0]
            questions.append(question)
            outcome = "answered" if response else "cant_tell"
            state = say(service, rater_id, question["number"], response, outcome=outcome)
        return service, questions

    return ask


def exported(service, path, **options):
    export_answers(service.database, "words", path, plain=True, **options)
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    assert not table.map(lambda cell: cell.startswith(("[", "{"))).any(axis=None)
    return table


def test_odd_one_out_reads_as_what_it_says(asked, tmp_path):
    service, _ = asked("odd_one_out", (2.0,), (), (0.0,))
    table = exported(service, tmp_path / "plain.csv")
    assert list(table.columns[:6]) == ["rater", "form", "a", "b", "c", "odd"]
    assert table.odd.tolist() == [table.c[0], "", table.a[2]]
    assert table.seconds.tolist() == ["1.2"] * 3
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", moment) for moment in table.received)
    export_answers(service.database, "words", tmp_path / "whole.csv")
    plain, whole = (sm.read_comparisons(tmp_path / name) for name in ("plain.csv", "whole.csv"))
    assert plain.answers.response.values.tolist() == whole.answers.response.values.tolist()
    shown = [[c.label(item) for item in c.answers.shown.values] for c in (plain, whole)]
    assert shown[0] == shown[1]
    assert plain.answers.time.tolist() == whole.answers.time.tolist()


def test_triplets_name_what_was_chosen(asked, tmp_path):
    service, _ = asked("triplet", (1.0,), (2.0,))
    table = exported(service, tmp_path / "plain.csv")
    assert list(table.columns[2:6]) == ["head", "b", "c", "chosen"]
    assert table.chosen.tolist() == [table.b[0], table.c[1]]


def test_several_picks_have_a_cell_each(asked, tmp_path):
    service, _ = asked("choice", (1.0, 3.0), more="grid_size = 4\npick = 2")
    table = exported(service, tmp_path / "plain.csv")
    assert table.loc[0, ["said 1", "said 2"]].tolist() == table.loc[0, ["item 2", "item 4"]].tolist()


def test_only_text_is_plain(asked, tmp_path):
    service, _ = asked("triplet", (1.0,))
    with pytest.raises(StudyError, match=r"a plain table is written as \.csv or \.tsv"):
        export_answers(service.database, "words", tmp_path / "plain.parquet", plain=True)
