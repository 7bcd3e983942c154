"""Fields of the survey before the first question and after the last."""

import pytest

from similitude.study.refusal import Refused
from similitude.study.service import Said
from similitude.study.surveys import is_open
from similitude.study.web.rater import _where

FIELDS = """[question]
number = 2
[survey]
fields = [
  { name = "age", label = "Age", kind = "number", required = true, when = "before" },
  { name = "from", label = "From", when = "before" },
  { name = "notes", label = "Notes", kind = "long_text" },
]"""


@pytest.fixture
def service(serve):
    return serve(FIELDS)


def replies(service):
    with service.database.read() as connection:
        sql = "SELECT field, value FROM reply ORDER BY field"
        return {row.field: row.value for row in connection.exec_driver_sql(sql)}


def answer_all(service, rater):
    for number in range(2):
        service.questions(rater).result()
        service.answer(Said(rater, number, f"answer-{number:08d}", "answered", [1.0])).result()


def test_what_comes_before_is_asked_before_and_once(service, take_part):
    rater = take_part(service)
    assert _where(service, rater)["stage"] == "before"
    for wrong, said in (
        ({}, "must be filled in"),
        ({"age": "old"}, "expected a number"),
        ({"notes": "x"}, "no such field"),
    ):
        with pytest.raises(Refused, match=said):
            service.before(rater, wrong).result()
    service.before(rater, {"age": "33"}).result()
    assert _where(service, rater)["stage"] == "questions"
    service.before(rater, {"age": "44"}).result()
    assert replies(service) == {"age": "33", "from": ""}, "what was left empty is known to have been asked"
    answer_all(service, rater)
    assert _where(service, rater)["stage"] == "survey"
    service.survey(rater, {"notes": "fine"}).result()
    service.survey(rater, {"notes": "again"}).result()
    assert replies(service) == {"age": "33", "from": "", "notes": "fine"}


def test_a_program_that_asks_all_at_the_end_may_and_must(service, take_part):
    rater = take_part(service)
    answer_all(service, rater)
    with service.database.read() as connection:
        row = dict(connection.exec_driver_sql("SELECT * FROM rater").mappings().one())
        assert not is_open(connection, service.study, row), "who is in the midst of it is not sent back"
    with pytest.raises(Refused, match="Age: this field must be filled in"):
        service.survey(rater, {"notes": "fine"}).result()
    service.survey(rater, {"notes": "fine", "age": "33"}).result()
    assert replies(service) == {"age": "33", "notes": "fine"}
    assert _where(service, rater)["stage"] == "done"
