"""Questions with a known answer: their alternatives change places like all others, and the answer goes with them."""

import contextlib
import json
from random import Random

import pytest

from similitude.study.asking import form_of, shuffled
from similitude.study.service import Joining, Said
from similitude.study.settings import StudyError
from similitude.study.site import open_site
from tests.study.making import SHORT, write_study

PRACTICE = 'questions = [{shown = ["face00", "face01", "face06"], correct = [1]}]'
TOML = f"""
title = "T"
pages = {{consent = "", instructions = ""}}
question = {{number = 6}}
[practice]
{PRACTICE}
[catch]
every = 2
questions = [{{shown = ["face00", "face02", "face07"], correct = [2]}}]
"""

CASES = {
    "triplet": (("a", "b", "c"), (2,), lambda shown, said: shown[int(said[0])] == "c"),
    "odd_one_out": (("a", "b", "c"), (0,), lambda shown, said: shown[int(said[0])] == "a"),
    "choice": (("a", "b", "c", "d"), (1, 3), lambda shown, said: {shown[int(k)] for k in said} == {"b", "d"}),
    "quadruplet": (
        ("a", "b", "c", "d"), (1,), lambda shown, said: set(shown[2 * int(said[0]) :][:2]) == {"c", "d"}
    ),
    "similarity_rating": (("a", "b"), (6,), lambda _, said: list(said) == [6]),
    "same_different": (("a", "b"), (0,), lambda _, said: list(said) == [0]),
    "labelling": (("a",), (1, 0.5), lambda _, said: list(said) == [1, 0.5]),
}  # fmt: skip


@pytest.mark.parametrize("form", CASES)
def test_the_expected_answer_moves_with_its_items(form):
    given, correct, holds = CASES[form]
    rng = Random(0)
    orders = [shuffled(form, given, rng) for _ in range(40)]
    assert len({tuple(shown) for shown in orders}) > 1 or form == "labelling"
    for shown in orders:
        right = form_of(form).rearranged(correct, given, shown)
        assert holds(shown, right)
        assert form_of(form).same_response(right, right)


def answer_all(service, rater_id, reply):
    """Answer every question of a rater by `reply(question)`; returns the questions."""
    asked = []
    held = service.questions(rater_id).result()
    while held["questions"]:
        question = held["questions"][0]
        asked.append(question)
        said = Said(rater_id, question["number"], f"uid-{rater_id}-{question['number']}", "answered", reply(question))
        held = service.answer(said).result()
    return asked


def test_raters_who_look_pass_wherever_the_items_stand(tmp_path):
    write_study(tmp_path, "faces", TOML)
    site = open_site(tmp_path)
    service = site.studies["faces"]
    service.answering.rng.seed(0)

    def looks(question):
        return [float(question["shown"].index("face07")) if "face07" in question["shown"][1:] else 1.0]

    try:
        sides = set()
        for k in range(6):
            rater_id = service.rater_of(service.join(Joining(f"browser-{k:04d}")).result())
            asked = answer_all(service, rater_id, looks)
            assert asked[0]["shown"][int(asked[0]["correct"][0])] == "face01"
            sides.add(tuple(asked[0]["correct"]))
        with site.database.read() as connection:
            rows = connection.exec_driver_sql("SELECT catches, catches_passed FROM rater").all()
            shown = connection.exec_driver_sql("SELECT DISTINCT shown FROM answer WHERE kind = 'catch'").all()
        assert {tuple(row) for row in rows} == {(3, 3)}
        assert sides == {(1.0,), (2.0,)}
        assert len({tuple(json.loads(row[0])) for row in shown}) == 2
    finally:
        site.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        ('form = "triplet"', 'form = "odd_one_out"', "form"),
        ('form = "similarity_rating"', 'form = "similarity_rating"\nscale = 5', "scale"),
        ('form = "choice"\ngrid_size = 4', 'form = "choice"\ngrid_size = 5', "grid_size"),
        ('form = "labelling"\nclasses = ["x", "y"]', 'form = "labelling"\nclasses = ["y", "x"]', "classes"),
    ],
)
def test_what_answers_mean_stays_once_people_were_asked(tmp_path, before, after, key):
    def begin(question, ask):
        toml = f'title = "T"\n{SHORT}[question]\nnumber = 3\n{question}\n'
        write_study(tmp_path, "faces", toml)
        with contextlib.closing(open_site(tmp_path)) as site:
            service = site.studies["faces"]
            if ask:
                service.questions(service.rater_of(service.join(Joining("browser-0001")).result())).result()

    begin(after, ask=False)
    begin(before, ask=True)
    begin(before + '\ntext = "Other words"', ask=False)
    with pytest.raises(StudyError, match=rf"question\.{key} is .* people were asked with"):
        begin(after, ask=False)
