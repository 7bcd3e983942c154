"""What happens to raters, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest
import sqlalchemy as sa

from similitude.study.answering import Said
from similitude.study.asking import key_of
from similitude.study.log import read_log
from similitude.study.maintenance.export import export_answers
from similitude.study.rounds import number_of_questions
from similitude.study.service import Joining, Refused
from similitude.study.store import schema
from similitude.study.store.rows import asked_before

SHORT = "[question]\nnumber = 5"
TWO_AHEAD = SHORT + "\n[choose]\nahead = 2"


def rows(service, table):
    with service.database.read() as connection:
        return [dict(row) for row in connection.execute(sa.select(table).order_by(*table.primary_key)).mappings()]


def say(service, rater_id, number, response=(1.0,), uid=None, outcome="answered", milliseconds=1200):
    said = Said(rater_id, number, uid or f"answer{rater_id}-{number}", outcome, response, milliseconds)
    return service.answer(said).result()


def finish(service, rater_id, response=(1.0,)):
    """Answer everything; returns the questions in order."""
    asked = []
    state = service.questions(rater_id).result()
    while state["questions"]:
        asked.append(state["questions"][0])
        state = say(service, rater_id, state["questions"][0]["number"], response)
    assert state["done"]
    return asked


def finish_all(service, take_part, n):
    """Several raters at once, whose answers are committed together."""
    with ThreadPoolExecutor(n) as threads:
        list(threads.map(lambda k: finish(service, take_part(service, f"browser{k}")), range(n)))


def test_a_rater_goes_from_the_door_to_the_end(serve, take_part):
    completion = "code = 'ABC'\nredirect = 'https://back.example/{PROLIFIC_PID}?c={rater}'\nseconds_per_question = 0"
    service = serve(f"{SHORT}\n[completion]\n{completion}")
    rater_id = take_part(service, PROLIFIC_PID="p/1")
    assert len(finish(service, rater_id)) == 5
    out = service.survey(rater_id, {}).result()
    assert out == {"code": "ABC", "redirect": "https://back.example/p%2F1?c=r0001", "withheld": None}
    log = rows(service, schema.answer)
    assert [row["number"] for row in log] == list(range(5))
    assert all(row["milliseconds"] == 1200 and row["side"] == 0 and row["version"] == service.version for row in log)
    assert all(len(json.loads(row["shown"])) == 3 for row in log)
    assert all(not row["open"] for row in rows(service, schema.lease))


def test_joining_twice_is_joining_once(serve):
    service = serve()
    first = service.join(Joining("browser0")).result()
    assert service.join(Joining("browser0")).result() == first
    assert service.join(Joining("browser1")).result() != first
    known = service.join(Joining("browser2", {"PROLIFIC_PID": "p1"})).result()
    assert service.join(Joining("browser3", {"PROLIFIC_PID": "p1"})).result() == known


def test_many_join_at_once(serve):
    service = serve()
    with ThreadPoolExecutor(20) as threads:
        tokens = list(threads.map(lambda k: service.join(Joining(f"browser{k % 30}")).result(), range(90)))
    assert len(set(tokens)) == 30
    assert sorted(row["code"] for row in rows(service, schema.rater)) == [f"r{k + 1:04d}" for k in range(30)]


def test_the_same_answer_twice_is_one(serve, take_part):
    service = serve(SHORT)
    rater_id = take_part(service)
    service.questions(rater_id).result()
    first = say(service, rater_id, 0, (1.0,), uid="same-one")
    again = say(service, rater_id, 0, (2.0,), uid="same-one")
    assert first == again
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: say(service, rater_id, 1, (2.0,), uid="same-two"), range(16)))
    assert [json.loads(row["response"]) for row in rows(service, schema.answer)] == [[1.0], [2.0]]
    assert rows(service, schema.rater)[0]["answered"] == 2


def test_a_second_vote_is_refused(serve, take_part):
    service = serve(SHORT)
    rater_id = take_part(service)
    service.questions(rater_id).result()
    with ThreadPoolExecutor(8) as threads:
        futures = [threads.submit(say, service, rater_id, 0, (1.0,), f"vote-of-{k}") for k in range(8)]
    refused = [future.exception() for future in futures if future.exception() is not None]
    assert len(refused) == 7
    assert {(error.status, error.code) for error in refused} == {(409, "answered_before")}
    assert len(rows(service, schema.answer)) == 1


def test_two_tabs_hold_the_same_questions(serve, take_part):
    service = serve(TWO_AHEAD)
    rater_id = take_part(service)
    assert service.questions(rater_id).result() == service.questions(rater_id).result()
    state = say(service, rater_id, 1)
    assert [question["number"] for question in state["questions"]] == [0, 2]
    with pytest.raises(Refused, match="another tab"):
        say(service, rater_id, 1, uid="second-tab")


def test_an_answer_to_what_was_not_asked_is_refused(serve, take_part):
    service = serve(TWO_AHEAD)
    rater_id = take_part(service)
    service.questions(rater_id).result()
    for number in (2, 5, 10**6):
        with pytest.raises(Refused, match="not asked of you") as refused:
            say(service, rater_id, number)
        assert refused.value.status == 404
    assert rows(service, schema.answer) == []


def test_nobody_speaks_for_another(serve, take_part):
    service = serve(SHORT)
    first, second = take_part(service), take_part(service, "browser1")
    token = service.keys.token(first)
    assert service.rater_of(token) == first
    forged = [None, "", "1", "1.", f"{second}.{token.split('.')[1]}", token + "0", token[:-1], "٣.a", "1.é", "9" * 40]
    for wrong in forged:
        with pytest.raises(Refused, match="does not know you"):
            service.rater_of(wrong)


def test_a_token_of_one_study_is_nothing_in_another(serve, take_part):
    one, other = serve(SHORT), serve(SHORT, name="others")
    rater_id = take_part(one)
    with pytest.raises(Refused):
        other.rater_of(one.keys.token(rater_id))
    for request in (other.questions(rater_id), other.survey(rater_id, {})):
        with pytest.raises(Refused, match="does not know you"):
            request.result()
    other.consent(rater_id).result()


WRONG = [(), (0.0,), (3.0,), (1.5,), (1.0, 2.0), (float("nan"),), (float("inf"),), (1e300,)]


def test_responses_out_of_range_are_refused(serve, take_part):
    service = serve(SHORT)
    rater_id = take_part(service)
    service.questions(rater_id).result()
    for response in WRONG:
        with pytest.raises(Refused, match="response: ") as refused:
            say(service, rater_id, 0, response)
        assert refused.value.status == 422
    assert rows(service, schema.answer) == []
    assert say(service, rater_id, 0)["answered"] == 1


def test_outcomes_that_the_study_does_not_take_are_refused(serve, take_part):
    service = serve("[question]\nnumber = 5\nskip = false")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    for outcome in ("skipped", "redacted", "nonsense"):
        with pytest.raises(Refused, match="outcome"):
            say(service, rater_id, 0, outcome=outcome)
    say(service, rater_id, 0, (1.0,), outcome="cant_tell")
    row = rows(service, schema.answer)[0]
    assert (row["outcome"], row["response"], row["side"]) == ("cant_tell", None, -1)


def test_no_question_without_consent(serve):
    service = serve(SHORT)
    rater_id = service.rater_of(service.join(Joining("browser0")).result())
    for request in (service.questions(rater_id), service.survey(rater_id, {})):
        with pytest.raises(Refused, match="agreed"):
            request.result()
    with pytest.raises(Refused, match="agreed"):
        say(service, rater_id, 0)
    assert rows(service, schema.lease) == []


def test_a_study_without_a_consent_page_asks_at_once(serve):
    service = serve(SHORT + "\n[pages]\nconsent = ''\ninstructions = ''")
    rater_id = service.rater_of(service.join(Joining("browser0")).result())
    assert len(service.questions(rater_id).result()["questions"]) == service.study.choose.ahead


FORMS = {
    "triplet": (5, "", (2.0,)),
    "odd_one_out": (5, "", (0.0,)),
    "quadruplet": (5, "", (1.0,)),
    "choice": (5, "grid_size = 3\npick = 2", (3.0, 1.0)),
    "most_central": (5, "", (2.0,)),
    "ranking": (5, "grid_size = 3\npick = 2", (3.0, 1.0)),
    "best_worst": (5, "grid_size = 3", (3.0, 1.0)),
    "attribute": (5, "grid_size = 3\nlow = 'small'\nhigh = 'large'", (2.0, 0.0, 1.0)),
    "grouping": (5, "grid_size = 3", (1.0, 0.0, 1.0)),
    "placement": (5, "grid_size = 3", (0.5, 0.5, -0.5, 0.25, 0.0, 1.0)),
    "similarity_rating": (5, "scale = 7", (7.0,)),
    "same_different": (5, "", (1.0,)),
    "labelling": (5, "classes = ['a', 'b']", (1.0, 0.5)),
}


@pytest.mark.parametrize("form", FORMS)
def test_everything_can_be_asked_and_nothing_twice(serve, take_part, form):
    """As many questions as there are: every rater gets each once, whatever the order on the screen."""
    n_items, more, response = FORMS[form]
    names = list("abcde")[:n_items]
    probe = serve(f"[question]\nform = '{form}'\nnumber = 1\n{more}", names, name="probe")
    number = number_of_questions(probe.study.question, n_items)
    service = serve(f"[question]\nform = '{form}'\nnumber = {number}\n{more}", names)
    asked = finish(service, take_part(service), response)
    keys = {key_of(form, question["shown"]) for question in asked}
    assert len(keys) == len(asked) == number
    assert service.survey(1, {}).result() is not None


def test_more_questions_than_there_are_is_refused(serve):
    with pytest.raises(ValueError, match="12 different questions"):
        serve("[question]\nnumber = 13", list("abcd"))


KNOWN = """
[question]
number = 12
[catch]
every = 4
[[catch.questions]]
shown = ['w00', 'w01', 'w02']
correct = [1]
[[catch.questions]]
shown = ['w03', 'w04', 'w05']
correct = [2]
[practice]
[[practice.questions]]
shown = ['w06', 'w07', 'w08']
correct = [1]
"""


def right(question, service):
    """The response of a rater who looks: catch trials and practice as they are meant, else the first."""
    wanted = {"w00": "w01", "w03": "w05", "w06": "w07"}
    shown = question["shown"]
    target = wanted.get(shown[0])
    known = {frozenset(("w00", "w01", "w02")), frozenset(("w03", "w04", "w05")), frozenset(("w06", "w07", "w08"))}
    return (float(shown.index(target)),) if target and frozenset(shown) in known else (1.0,)


def test_practice_comes_first_and_catch_trials_are_hidden_spread_and_scored(serve, take_part):
    service = serve(KNOWN)
    assert service.study.length == 1 + 12 + 3
    sides = Counter()
    for k in range(20):
        rater_id = take_part(service, f"browser{k}")
        state = service.questions(rater_id).result()
        kinds = []
        while state["questions"]:
            question = state["questions"][0]
            kinds.append(question["kind"])
            response = right(question, service)
            if question["kind"] == "practice":
                assert question["correct"] == list(response)
                sides[response] += 1
            state = say(service, rater_id, question["number"], response if k % 2 else (1.0,))
        assert kinds == ["practice"] + ["question"] * 15
    log = rows(service, schema.answer)
    for rater in rows(service, schema.rater):
        own = [row for row in log if row["rater_id"] == rater["id"]]
        numbers = [row["number"] - 1 for row in own if row["kind"] == "catch"]
        assert [number // 5 for number in numbers] == [0, 1, 2]
        assert rater["catches"] == 3
        if int(rater["uid"].removeprefix("browser")) % 2:
            assert rater["catches_passed"] == 3
    places = {(row["number"] - 1) % 5 for row in log if row["kind"] == "catch"}
    assert places == set(range(5))
    assert len(sides) == 2
    clickers = [rater["catches_passed"] for rater in rows(service, schema.rater)][::2]
    assert 0 < sum(clickers) < 3 * len(clickers)
    asked = [key_of("triplet", json.loads(row["shown"])) for row in log if row["kind"] == "question"]
    assert not {key_of("triplet", ["w00", "w01", "w02"]), key_of("triplet", ["w06", "w07", "w08"])} & set(asked)


def fill_pool(service, n, strategy="information_gain", shown=None):
    names = service.names
    questions = [shown or [names[k % 12], names[(k + 1 + k // 12) % 12], names[(k + 6) % 12]] for k in range(n)]
    with service.database.write() as connection:
        connection.execute(
            sa.insert(schema.pool),
            [
                {"study_id": service.study_id, "shown": json.dumps(one), "strategy": strategy, "score": 0.5, "model": 3}
                for one in questions
            ],
        )


def test_questions_come_from_the_pool_and_say_so(serve, take_part):
    service = serve("[question]\nnumber = 10\n[choose]\nrandom_share = 0.0")
    fill_pool(service, 4, shown=None)
    finish(service, take_part(service))
    log = rows(service, schema.answer)
    assert [row["strategy"] for row in log[:4]] == ["information_gain"] * 4
    assert {row["strategy"] for row in log[4:]} == {"fallback"}
    assert [(row["score"], row["model"]) for row in log[3:5]] == [(0.5, 3), (None, None)]
    assert rows(service, schema.pool) == []


def test_a_rehearsal_leaves_the_pool_alone(serve, take_part):
    service = serve("[question]\nnumber = 5\n[choose]\nrandom_share = 0.0")
    fill_pool(service, 4)
    finish(service, take_part(service, rehearsal="yes"))
    assert {row["strategy"] for row in rows(service, schema.answer)} == {"random"}
    assert len(rows(service, schema.pool)) == 4


def test_a_question_of_the_pool_is_asked_of_one_rater_and_its_sides_are_drawn(serve, take_part):
    service = serve("[question]\nnumber = 2\n[choose]\nrandom_share = 0.0")
    fill_pool(service, 40)
    meant = [json.loads(row["shown"]) for row in rows(service, schema.pool)]
    for k in range(20):
        finish(service, take_part(service, f"browser{k}"))
    asked = [json.loads(row["shown"]) for row in rows(service, schema.answer)]
    assert sorted(map(sorted, asked)) == sorted(map(sorted, meant))
    swapped = sum(one != other for one, other in zip(sorted(asked), sorted(meant), strict=True))
    assert 5 < sum(tuple(one) not in set(map(tuple, meant)) for one in asked) < 35, swapped


def test_the_pool_goes_on_for_a_rater_who_was_asked_its_first_question(serve, take_part):
    service = serve("[question]\nnumber = 6\n[choose]\nrandom_share = 0.0\nahead = 2")
    fill_pool(service, 1)
    rater_id = take_part(service)
    service.questions(rater_id).result()
    fill_pool(service, 4)
    finish(service, rater_id)
    assert [row["strategy"] for row in rows(service, schema.answer)].count("information_gain") == 4
    assert len(rows(service, schema.pool)) == 1


def test_what_cannot_be_asked_any_more_leaves_the_pool(serve, take_part):
    service = serve("[question]\nnumber = 6\n[choose]\nrandom_share = 0.0")
    fill_pool(service, 3, shown=["gone", "w01", "w02"])
    fill_pool(service, 1)
    finish(service, take_part(service))
    assert rows(service, schema.pool) == []
    assert "information_gain" in {row["strategy"] for row in rows(service, schema.answer)}


def test_the_random_share_is_what_was_asked_for(serve, take_part):
    service = serve("[question]\nnumber = 40\n[choose]\nrandom_share = 0.2")
    fill_pool(service, 600)
    finish_all(service, take_part, 10)
    count = Counter(row["strategy"] for row in rows(service, schema.answer))
    assert sum(count.values()) == 400
    assert abs(count["random"] - 80) < 4 * (400 * 0.2 * 0.8) ** 0.5
    assert count["fallback"] < 40


def test_random_questions_are_even_over_items_and_sides(serve, take_part):
    service = serve("[question]\nnumber = 50\n[choose]\nstrategy = 'random'")
    finish_all(service, take_part, 10)
    log = rows(service, schema.answer)
    assert {row["strategy"] for row in log} == {"random"}
    for position in range(3):
        count = Counter(json.loads(row["shown"])[position] for row in log)
        expected = 500 / 12
        assert sum((count[name] - expected) ** 2 / expected for name in service.names) < 31  # chi-square, 11, 0.999


def test_a_full_study_lets_nobody_in_but_those_who_are(serve, take_part):
    service = serve("[question]\nnumber = 2\n[raters]\nlimit = 2")
    first, second = take_part(service), take_part(service, "browser1")
    with pytest.raises(Refused, match="all the people it needs") as refused:
        service.join(Joining("browser2")).result()
    assert refused.value.status == 403
    assert service.rater_of(service.join(Joining("browser1")).result()) == second
    finish(service, first)


def test_a_seat_is_free_again_when_its_lease_runs_out(serve, take_part):
    service = serve("[question]\nnumber = 2\n[raters]\nlimit = 1\n[choose]\nlease_minutes = 1")
    hands = hands_of(service)
    service.questions(take_part(service)).result()
    hands[0] += 50
    service.questions(1).result()
    hands[0] += 50
    with pytest.raises(Refused, match="all the people"):
        service.join(Joining("browser1")).result()
    hands[0] += 100
    second = take_part(service, "browser1")
    finish(service, second)
    hands[0] += 2000
    with pytest.raises(Refused, match="all the people"):
        service.join(Joining("browser2")).result()
    assert service.is_shut()
    assert len(finish(service, 1)) == 2, "who has begun goes on, although the seat is somebody else's"
    with service.database.read() as connection:
        assert service.entrance.seats_taken(connection) == 2


def hands_of(service):
    """The clock that leases and seats run by, to be moved on by hand."""
    hands = [service.database.uptime.monotonic()]
    service.database.uptime.monotonic = lambda: hands[0]
    return hands


YEAR = 365 * 86_400


def test_a_clock_that_jumps_ahead_a_year_and_back_neither_closes_nor_opens_a_study(serve, take_part, monkeypatch):
    settings = "[question]\nnumber = 2\n[raters]\nlimit = 1\n[choose]\nlease_minutes = 1"
    service = serve(settings)
    hands, now = hands_of(service), time.time()
    service.questions(take_part(service)).result()
    monkeypatch.setattr(time, "time", lambda: now + YEAR)
    with pytest.raises(Refused, match="all the people"):
        service.join(Joining("browser1")).result()
    service.questions(1).result()
    hands[0] += 61
    service.questions(take_part(service, "browser1")).result()
    monkeypatch.setattr(time, "time", lambda: now + 100)
    hands[0] += 61
    service.questions(take_part(service, "browser2")).result()
    again = serve(settings)  # a server that starts when the clock is right again
    with pytest.raises(Refused, match="all the people"):
        again.join(Joining("browser3")).result()
    hands_of(again)[0] += 61
    again.questions(take_part(again, "browser3")).result()


def test_who_answers_keeps_the_questions_held_ahead_and_who_leaves_frees_them_all_at_once(serve, take_part):
    service = serve("[question]\nnumber = 9\n[choose]\nlease_minutes = 1\nahead = 6")
    hands = hands_of(service)
    rater_id, now = take_part(service), service.database.uptime.now()
    service.questions(rater_id).result()
    for number in range(3):
        hands[0] += 50 if number else 0
        say(service, rater_id, number)
    held = [row for row in rows(service, schema.lease) if row["open"]]
    assert len(held) == 6
    assert all(now + 130 <= row["expires"] <= now + 165 for row in held)


def test_what_could_not_be_shown_is_recorded_whatever_the_study_offers(serve, take_part):
    service = serve("[question]\nnumber = 2\nskip = false\ncant_tell = false")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    with pytest.raises(Refused, match="not among those"):
        say(service, rater_id, 0, None, outcome="skipped")
    assert say(service, rater_id, 0, None, outcome="not_shown")["answered"] == 1
    assert [(row["outcome"], row["response"], row["side"]) for row in rows(service, schema.answer)] == [
        ("not_shown", None, -1)
    ]
    with service.database.read() as connection:
        learned, _, seen = read_log(connection, service.study_id, service.names)
    assert (len(learned.form), seen) == (0, 1)


def test_answers_keep_how_they_were_shown(serve, take_part, tmp_path):
    service = serve(SHORT)
    rater_id = take_part(service)
    service.questions(rater_id).result()
    service.answer(Said(rater_id, 0, "answer-0", "answered", [1.0], 900, "rtl", "138 138 138")).result()
    row = rows(service, schema.answer)[0]
    assert (row["direction"], row["background"]) == ("rtl", "138 138 138")
    export_answers(service.database, "words", tmp_path / "answers.csv")
    table = pd.read_csv(tmp_path / "answers.csv", comment="#")
    assert table.loc[0, ["direction", "background"]].tolist() == ["rtl", "138 138 138"]


def test_invited_people_only(serve):
    service = serve("[raters]\nmust_be_named = true")
    with pytest.raises(Refused, match="invited people"):
        service.join(Joining("browser0")).result()
    service.join(Joining("browser0", {"rater": "<b>ann</b>"})).result()
    assert rows(service, schema.rater)[0]["identity"] == "<b>ann</b>"


def pause(service, paused):
    with service.database.write() as connection:
        connection.execute(sa.update(schema.study).values(paused=paused))


def test_a_paused_study_asks_nothing_new_and_keeps_what_comes(serve, take_part):
    service = serve(TWO_AHEAD)
    rater_id = take_part(service)
    service.questions(rater_id).result()
    pause(service, True)
    state = say(service, rater_id, 0)
    assert (len(state["questions"]), state["paused"], state["done"]) == (1, True, False)
    state = say(service, rater_id, 1)
    assert (state["questions"], state["done"]) == ([], False)
    with pytest.raises(Refused, match="still open"):
        service.survey(rater_id, {}).result()
    pause(service, False)
    assert len(finish(service, rater_id)) == 3


def test_the_survey_is_checked_and_kept_once(serve, take_part):
    fields = "\n".join(
        f"[[survey.fields]]\nname = '{name}'\nlabel = '{name}'\nkind = '{kind}'\n{more}"
        for name, kind, more in (
            ("age", "number", ""),
            ("eyes", "choice", "choices = ['good', 'bad']\nrequired = true"),
            ("said", "long_text", ""),
        )
    )
    service = serve("[question]\nnumber = 1\n" + fields)
    rater_id = take_part(service)
    with pytest.raises(Refused, match="1 of your questions"):
        service.survey(rater_id, {"eyes": "good"}).result()
    finish(service, rater_id)
    for replies, wrong in (
        ({}, "must be filled in"),
        ({"eyes": "green"}, "expected one of good, bad"),
        ({"eyes": "good", "age": "old"}, "expected a number"),
        ({"eyes": "good", "age": "nan"}, "expected a number"),
        ({"eyes": "good", "age": "inf"}, "expected a number"),
        ({"eyes": "good", "age": "-1e999"}, "expected a number"),
        ({"eyes": "good", "other": "1"}, "no such field"),
    ):
        with pytest.raises(Refused, match=wrong):
            service.survey(rater_id, replies).result()
    assert rows(service, schema.reply) == []
    service.survey(rater_id, {"eyes": "good", "said": "<script>=1+1"}).result()
    service.survey(rater_id, {"eyes": "bad"}).result()
    assert {row["field"]: row["value"] for row in rows(service, schema.reply)} == {
        "eyes": "good",
        "said": "<script>=1+1",
    }


def test_another_form_in_two_servers_at_once(serve, take_part):
    """A question in a browser is answered as it was asked; nobody else is shown it; the round goes on."""
    service = serve(TWO_AHEAD)
    changed = serve("[question]\nform = 'odd_one_out'\nnumber = 5\n[choose]\nahead = 2")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    state = say(changed, rater_id, 0, (2.0,), uid="late-one")
    assert [question["number"] for question in state["questions"]] == [2, 3]
    assert finish(changed, rater_id, (0.0,))
    log = rows(changed, schema.answer)
    assert [row["form"] for row in log] == ["triplet"] + ["odd_one_out"] * 4
    assert [row["version"] for row in log] == [service.version] + [changed.version] * 4
    assert len(rows(changed, schema.study_version)) == 2
    assert len(rows(changed, schema.study)) == 1


def test_another_title_between_two_runs_changes_no_question(serve, take_part):
    service = serve(SHORT)
    rater_id = take_part(service)
    before = service.questions(rater_id).result()
    changed = serve(SHORT + "\n[choose]\nrandom_share = 0.5")
    assert changed.questions(rater_id).result() == before | {"study_version": changed.version}
    assert changed.version != service.version


def test_items_taken_out_between_two_runs(serve, take_part):
    service = serve("[question]\nnumber = 8", list("abcd"))
    rater_id = take_part(service)
    for number in range(6):
        service.questions(rater_id).result()
        say(service, rater_id, number)
    changed = serve("[question]\nnumber = 3", list("abc"))
    state = changed.questions(rater_id).result()
    assert all(set(question["shown"]) <= set("abc") for question in state["questions"])
    assert changed.version != service.version
    assert state["done"] is True  # six answers are more than the study asks now


def test_a_rater_who_was_asked_everything_is_done(serve, take_part):
    service = serve("[question]\nnumber = 3", list("abc"))
    rater_id = take_part(service)
    finish(service, rater_id)
    longer = serve("[question]\nnumber = 9", list("abcd"))
    finish(longer, rater_id)
    again = serve("[question]\nnumber = 12", list("abcd"))
    assert len(finish(again, rater_id)) == 3
    fewer = serve("[question]\nform = 'triplet'\nnumber = 3", list("abc"))
    assert fewer.questions(rater_id).result()["done"] is True
    assert fewer.survey(rater_id, {}).result() is not None


def test_practice_that_was_taken_out_is_withdrawn(serve, take_part):
    service = serve(KNOWN)
    rater_id = take_part(service)
    service.questions(rater_id).result()
    changed = serve("[question]\nnumber = 4")
    state = changed.questions(rater_id).result()
    assert [question["kind"] for question in state["questions"]] == ["question"] * 4
    say(changed, rater_id, 0)
    assert rows(changed, schema.answer)[0]["kind"] == "practice"


def test_the_clock_may_go_backwards(serve, take_part, monkeypatch):
    service = serve(SHORT)
    rater_id = take_part(service)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 86_400)
    finish(service, rater_id)
    received = [row["received"] for row in rows(service, schema.answer)]
    assert received == sorted(received)
    assert received[0] >= rows(service, schema.rater)[0]["joined"]
    again = serve(SHORT)
    second = take_part(again, "browser1")
    assert len(finish(again, second)) == 5


def test_two_servers_share_a_database(serve, take_part):
    one, other = serve(SHORT), serve(SHORT)
    rater_id = take_part(one)
    assert other.rater_of(one.keys.token(rater_id)) == rater_id
    assert one.questions(rater_id).result() == other.questions(rater_id).result()
    with ThreadPoolExecutor(8) as threads:
        futures = [threads.submit(say, (one, other)[k % 2], rater_id, 0, (1.0,), f"vote-of-{k}") for k in range(8)]
    assert sum(future.exception() is None for future in futures) == 1
    with ThreadPoolExecutor(8) as threads:
        ids = list(threads.map(lambda k: take_part((one, other)[k % 2], f"browser{k}"), range(20, 40)))
        list(threads.map(lambda k: finish((one, other)[k % 2], ids[k]), range(20)))
    log = rows(one, schema.answer)
    assert len(log) == 101
    assert len({(row["rater_id"], row["number"]) for row in log}) == 101


def test_odd_names_and_parameters_are_kept_as_they_are(serve, take_part):
    names = ["a,b", 'say "hi"', "new\nline", "=1+1", "<b>bold</b>", "naïve 日本 🙂", "../../etc/passwd"]
    service = serve("[question]\nnumber = 20", names)
    rater_id = take_part(service, rater="o'Neil; DROP TABLE answer;--", note="=cmd()", other="日本 🙂")
    finish(service, rater_id)
    shown = {name for row in rows(service, schema.answer) for name in json.loads(row["shown"])}
    assert shown == set(names)
    kept = rows(service, schema.rater)[0]
    assert kept["identity"] == "o'Neil; DROP TABLE answer;--"
    assert json.loads(kept["parameters"])["other"] == "日本 🙂"


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_an_answer_reads_neither_a_whole_table_nor_all_that_its_rater_was_asked(serve, take_part):
    """What an answer costs does not grow with the answers before it: as SQLite plans each statement, it searches."""
    service = serve("[question]\nnumber = 20")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    plans = []

    def explain(connection, cursor, statement, parameters, context, executemany):
        if statement.startswith(("SELECT", "UPDATE", "DELETE", "WITH")):
            explained = connection.connection.driver_connection.execute(
                f"EXPLAIN QUERY PLAN {statement}", parameters[0] if executemany else parameters
            )
            plans.extend(row[3] for row in explained)

    sa.event.listen(service.database.engine, "before_cursor_execute", explain)
    say(service, rater_id, 0)
    say(service, rater_id, 0)  # sent again
    tables = ("lease", "answer", "rater", "pool")
    read = [plan for plan in plans if any(plan.split()[1] == table for table in tables)]
    assert not [plan for plan in read if plan.startswith("SCAN")]
    assert any("ix_lease_open (study_id=? AND rater_id=?)" in plan for plan in read)
    assert not [plan for plan in read if plan.startswith("SEARCH lease") and plan.endswith("(rater_id=?)")]


def test_questions_asked_before_are_found_by_rater_and_key(serve, take_part):
    service = serve("[question]\nnumber = 20")
    one, other = take_part(service, "browser1"), take_part(service, "browser2")
    finish(service, one)
    keys = [row["key"] for row in rows(service, schema.lease)]
    with service.database.read() as connection:
        found = asked_before(connection, [(of, key, 0) for of in (one, other) for key in [*keys, 1, 2]])
        since = asked_before(connection, [(one, key, 15) for key in keys])
    assert found == {(one, key) for key in keys}
    assert since == {(one, row["key"]) for row in rows(service, schema.lease) if row["number"] >= 15}
