"""From the log to comparisons: each form as the library itself reads it, and nothing that is not to be learned."""

import json

import numpy as np
import pytest

import similitude as sm
from similitude.study.log import LEARNED, as_answers, comparisons_of, read_log
from tests.study.live import NAMES, answer, fill, join, open_study, write_study


def row(form, shown, response, code="r1", **more):
    given = {
        "form": form, "shown": json.dumps(shown), "code": code, "kind": "question", "strategy": "random",
        "response": None if response is None else json.dumps(response), "side": -1, "milliseconds": 1500,
        "outcome": "answered" if response is not None else "cant_tell",
    }  # fmt: skip
    given |= {"id": 1, "block": "", **more}
    return tuple(given[name] for name in LEARNED)


def compared(rows, names=NAMES):
    c = comparisons_of(as_answers(rows, names), names)
    return {tuple(c.names[item] for item in line) for line in c.quadruplets.tolist()}


def test_triplet():
    assert compared([row("triplet", ["c00", "c01", "c02"], [2])]) == {("c00", "c02", "c00", "c01")}


def test_odd_one_out():
    found = compared([row("odd_one_out", ["c00", "c01", "c02"], [0])])
    assert found == {("c01", "c02", "c01", "c00"), ("c02", "c01", "c02", "c00")}


def test_choice():
    found = compared([row("choice", ["c00", "c01", "c02", "c03"], [1, 3])])
    assert found == {("c00", "c01", "c00", "c02"), ("c00", "c03", "c00", "c02")}


def test_quadruplet():
    assert compared([row("quadruplet", ["c00", "c01", "c02", "c03"], [1])]) == {("c02", "c03", "c00", "c01")}


def test_ratings_of_a_rater_are_one_sheet():
    rows = [
        row("similarity_rating", ["c00", "c01"], [7]),
        row("similarity_rating", ["c00", "c02"], [2]),
        row("similarity_rating", ["c03", "c04"], [7], code="r2"),
    ]
    assert compared(rows) == {("c00", "c01", "c00", "c02")}
    c = comparisons_of(as_answers(rows, NAMES), NAMES)
    assert c.n_answers == 2
    assert sorted(c.answers.rater.labels) == ["r1", "r2"]


def test_links_and_labels_are_those_of_the_library():
    pairs, same = [["c00", "c01"], ["c02", "c03"], ["c00", "c04"]], [1, 1, 0]
    rows = [row("same_different", pair, [value]) for pair, value in zip(pairs, same, strict=True)]
    links = sm.Links.of(pairs, np.array(same, bool), rater="r1", names=NAMES).to_comparisons(random_state=0)
    assert compared(rows) == {tuple(NAMES[k] for k in line) for line in links.quadruplets.tolist()}
    items, classes, sure = NAMES[:4], [0, 0, 1, 1], [0.9, 0.5, 0.8, 0.2]
    rows = [row("labelling", [item], said) for item, *said in zip(items, classes, sure, strict=True)]
    labels = sm.Labels.of(items, classes, sure, rater="r1", names=NAMES).to_comparisons(random_state=0)
    assert compared(rows) == {tuple(NAMES[k] for k in line) for line in labels.quadruplets.tolist()}


def test_what_is_not_an_answer_to_a_question_is_left_out():
    rows = [
        row("triplet", ["c00", "c01", "c02"], [2], kind="practice"),
        row("triplet", ["c00", "c01", "c02"], [2], kind="catch"),
        row("triplet", ["c00", "c01", "c02"], None, outcome="skipped"),
        row("triplet", ["c00", "c01", "c02"], None, outcome="redacted"),
        row("triplet", ["c00", "c01", "taken out"], [1]),
    ]
    assert len(as_answers(rows, NAMES)) == 0


def test_names_are_read_whatever_is_in_them():
    names = ['a", "b', "back\\slash", "日本 🙂", "c]", "[d", ""]
    answers = as_answers([row("choice", names, [2, 4]), row("choice", names[::-1], None)], names)
    assert answers.shown.values.tolist() == [0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0]
    assert [answers.response[k].tolist() for k in range(2)] == [[2, 4], []]


def test_cant_tell_compares_nothing_but_was_asked():
    answers = as_answers([row("triplet", ["c00", "c01", "c02"], None)], NAMES)
    c = comparisons_of(answers, NAMES)
    assert (c.n_answers, len(c), c.answers.cant_tell.tolist()) == (1, 0, [True])


def test_a_form_that_was_changed_midway():
    rows = [
        row("triplet", ["c00", "c01", "c02"], [1]),
        row("similarity_rating", ["c00", "c01"], [7]),
        row("similarity_rating", ["c00", "c02"], [2]),
    ]
    assert len(compared(rows)) == 1
    assert comparisons_of(as_answers(rows, NAMES), NAMES).n_answers == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "more"),
    [("triplet", ""), ("odd_one_out", ""), ("choice", "grid_size = 4\npick = 2"), ("quadruplet", ""),
     ("similarity_rating", ""), ("same_different", ""), ("labelling", 'classes = ["warm", "cold"]')],
)  # fmt: skip
def test_the_log_of_a_study_of_each_form_can_be_learned(tmp_path, form, more):
    folder = write_study(tmp_path / "colours", form, more, number=12)
    site, service = open_study(folder)
    fill(service, 3, 12)
    with site.database.read() as connection:
        answers, last, seen = read_log(connection, service.study_id, service.names)
        nothing = read_log(connection, service.study_id, service.names, after=last)
    assert (len(answers), seen) == (36, 36)
    assert nothing[1:] == (last, 0)
    c = comparisons_of(answers, service.names)
    assert len(c) > 12
    assert sm.STE(2, random_state=0).fit(c).score(c) > 0.6
    site.close()


def test_skips_stay_in_the_log_and_out_of_the_model(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours"))
    rater, rng = join(service), np.random.default_rng(0)
    answer(service, rater, 3, rng)
    answer(service, rater, 2, rng, outcome="skipped")
    answer(service, rater, 1, rng, outcome="cant_tell")
    with site.database.read() as connection:
        answers, _, seen = read_log(connection, service.study_id, service.names, most=4)
        assert (len(answers), seen) == (3, 4)
        answers, _, seen = read_log(connection, service.study_id, service.names)
    assert (len(answers), seen) == (4, 6)
    site.close()
