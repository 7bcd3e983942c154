"""Draft, pilot, live, paused, closed: what each means to people, to the model and to exports, and what may follow."""

import json

import pytest
import sqlalchemy as sa

from similitude.study.entrance import REHEARSAL
from similitude.study.log import read_log
from similitude.study.maintenance.archive import back_up, bring_back
from similitude.study.maintenance.export import export_answers
from similitude.study.refusal import Refused
from similitude.study.service import Joining, Said
from similitude.study.site import open_site
from similitude.study.states import CLOSED, DRAFT, LIVE, PAUSED, PILOT, STATES, StudyState
from similitude.study.store import schema
from similitude.study.web.watch import Watch
from tests.study.live import worker_of

SHORT = "[question]\nnumber = 4\n"


def answer_all(service, rater_id):
    """Answer whatever is asked; how many answers that were."""
    given = 0
    while questions := service.questions(rater_id).result()["questions"]:
        said = Said(rater_id, questions[0]["number"], f"answer-{rater_id}-{questions[0]['number']}", "answered", [1])
        service.answer(said).result()
        given += 1
    return given


def codes(service):
    with service.database.read() as connection:
        return connection.scalars(sa.select(schema.rater.c.code).order_by(schema.rater.c.id)).all()


def why_join(service, uid, **parameters):
    """The word with which somebody is refused; None for who comes in."""
    try:
        service.join(Joining(uid, parameters)).result()
    except Refused as refusal:
        return refusal.code
    return None


def test_a_folder_without_a_recorded_state_is_live(serve, take_part):
    service = serve(SHORT)
    assert service.standing() == StudyState(LIVE, paused=False, asked=0)
    assert answer_all(service, take_part(service)) == 4


def test_nobody_is_let_into_a_draft_but_by_the_signed_link(serve, take_part):
    service = serve(SHORT)
    service.set_state(DRAFT, "ada")
    assert [why_join(service, "browser0"), why_join(service, "browser1", rehearsal="yes")] == ["not_open", "not_open"]
    assert why_join(service, "browser2", rater="P01") == "not_open"
    assert service.is_shut()
    signed = service.keys.rehearsal()
    assert not service.is_shut({"rehearsal": signed})
    tried = take_part(service, "browser3", **{REHEARSAL: signed})
    assert answer_all(service, tried) == 4
    with pytest.raises(Refused, match="not open yet"):
        service.known_as("P01", rehearsal=False).result()
    assert service.rater_of(service.known_as("P02", rehearsal=True).result())
    assert codes(service) == ["rehearsal0001", "rehearsal0002"]


def test_who_holds_questions_of_a_pilot_loses_no_answer_when_it_is_a_draft_again(serve, take_part):
    service = serve(SHORT)
    service.set_state(DRAFT, "ada")
    service.set_state(PILOT, "ada")
    rater = take_part(service)
    held = service.questions(rater).result()["questions"]
    service.set_state(DRAFT, "ada")
    told = service.answer(Said(rater, held[0]["number"], "answer-00", "answered", [2])).result()
    assert (told["answered"], told["paused"], len(told["questions"])) == (1, True, len(held) - 1)
    service.set_state(LIVE, "ada")
    assert answer_all(service, rater) == 3


@pytest.fixture
def piloted(serve, take_part):
    """A study that two people answered in its pilot, and one since it is live."""
    service = serve(f"{SHORT}[raters]\nlimit = 2\n[choose]\npool = 20")
    service.set_state(DRAFT, "ada")
    service.set_state(PILOT, "ada")
    for name in ("P01", "P02"):
        assert answer_all(service, take_part(service, f"browser-{name}", rater=name)) == 4
    assert why_join(service, "browser3") == "full", "the limit holds for the pilot by itself"
    service.set_state(LIVE, "ada")
    assert answer_all(service, take_part(service, "browser4", rater="P04")) == 4
    return service


def test_what_is_said_in_a_pilot_is_kept_apart(piloted, tmp_path):
    assert codes(piloted) == ["pilot0001", "pilot0002", "r0001"]
    with piloted.database.read() as connection:
        learned, last, seen = read_log(connection, piloted.study_id, piloted.names)
        assert (len(learned), seen) == (4, 12)
        assert set(learned.rater.labels) == {"r0001"}
        assert piloted.entrance.seats_taken(connection) == 1
    worker = worker_of(piloted)
    worker.step()
    assert (worker.learner.n_answers, worker._last_answer) == (4, last)
    now = Watch(piloted).look()["now"]
    assert (now["totals"]["answers"], now["totals"]["raters"], now["pilot"]) == (4, 1, {"raters": 2, "answers": 8})
    assert [rater["flags"] for rater in now["raters"]][1:] == [["pilot: kept apart"]] * 2
    assert sum(now["strategies"].values()) == 4
    done = export_answers(piloted.database, "words", tmp_path / "live.jsonl")
    assert (done.answers, done.raters, done.left_out) == (4, 1, 8)


def test_an_export_gives_the_pilot_where_it_is_asked_for(piloted, tmp_path):
    done = export_answers(piloted.database, "words", tmp_path / "all.jsonl", pilot=True)
    assert (done.answers, done.raters, done.left_out) == (12, 3, 0)
    rows = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["rater"] for row in rows if "rater" in row} == {"pilot0001", "pilot0002", "r0001"}
    plain = export_answers(piloted.database, "words", tmp_path / "all.csv", plain=True, pilot=True)
    assert plain.answers == 12


def test_who_came_in_the_pilot_stays_of_the_pilot(piloted, take_part):
    with piloted.database.read() as connection:
        first = connection.scalar(sa.select(schema.rater.c.id).where(schema.rater.c.identity == "P01"))
    assert take_part(piloted, "another-browser", rater="P01") == first
    assert why_join(piloted, "browser5") is None, "the pilot takes no seat of the live study"
    assert why_join(piloted, "browser6") == "full"


def test_rehearsals_and_pilots_are_asked_at_random_alone(piloted):
    with piloted.database.read() as connection:
        strategies = connection.scalars(
            sa.select(schema.answer.c.strategy).join(schema.rater).where(schema.rater.c.origin == PILOT)
        ).all()
    assert set(strategies) == {"random"}


def test_who_has_begun_may_finish_a_closed_study_and_nobody_new_comes(serve, take_part):
    service = serve(SHORT)
    rater = take_part(service, "browser0", rater="P01")
    service.questions(rater).result()
    service.set_state(CLOSED, "ada")
    assert why_join(service, "browser1") == "full"
    assert service.is_shut()
    assert take_part(service, "browser2", rater="P01") == rater
    assert answer_all(service, rater) == 4
    assert service.survey(rater, {}).result()["withheld"] is None
    service.set_state(LIVE, "ada")
    assert why_join(service, "browser1") is None


def test_what_is_paused_goes_on_as_what_it_was(serve, take_part):
    service = serve(SHORT)
    for phase in (PILOT, LIVE):
        if phase != service.standing().phase:
            service.set_state(phase, "ada")
        service.set_paused(True, "ada")
        service.set_paused(True, "ada")
        assert service.standing().state == PAUSED
        assert service.questions(take_part(service, f"{phase}-browser")).result()["paused"]
        service.set_paused(False, "ada")
        assert service.standing().state == phase
    assert codes(service) == ["pilot0001", "r0001"]


@pytest.mark.parametrize(
    ("now", "to", "said"),
    [
        (StudyState(LIVE, paused=False, asked=3), DRAFT, "3 people were asked already"),
        (StudyState(LIVE, paused=False, asked=1), PILOT, "1 person was asked already"),
        (StudyState(CLOSED, paused=False, asked=1), DRAFT, "pause or close"),
        (StudyState(LIVE, paused=True, asked=1), PILOT, "pause or close"),
        (StudyState(DRAFT, paused=False), PAUSED, "nothing to pause"),
        (StudyState(DRAFT, paused=False), CLOSED, "nothing to close"),
        (StudyState(CLOSED, paused=False), PAUSED, "nothing to pause"),
        (StudyState(LIVE, paused=False), LIVE, "live already"),
        (StudyState(PILOT, paused=False), PILOT, "a pilot already"),
        (StudyState(LIVE, paused=False), "open", "expected one of draft, pilot, live, paused, closed"),
    ],
)
def test_what_cannot_follow_says_why(now, to, said):
    assert said in now.why_not(to)


def test_all_else_may_follow():
    unasked = [StudyState(phase, paused=False) for phase in (DRAFT, PILOT, LIVE, CLOSED)]
    free = {(now.state, to) for now in unasked for to in STATES if now.why_not(to) is None}
    assert free == {
        (DRAFT, PILOT), (DRAFT, LIVE), (PILOT, DRAFT), (PILOT, LIVE), (PILOT, PAUSED), (PILOT, CLOSED), (LIVE, DRAFT),
        (LIVE, PILOT), (LIVE, PAUSED), (LIVE, CLOSED), (CLOSED, DRAFT), (CLOSED, PILOT), (CLOSED, LIVE),
    }  # fmt: skip
    assert StudyState(PILOT, paused=True, asked=0).why_not(PILOT) is None


def test_live_cannot_go_back_once_people_were_asked_whatever_the_pilot_was(piloted):
    with pytest.raises(Refused, match="1 person was asked already whose answers count"):
        piloted.set_state(DRAFT, "ada")
    assert piloted.standing().state == LIVE


def test_who_changed_the_state_and_when_is_noted(serve):
    service = serve(SHORT)
    for to in (PILOT, PAUSED, PILOT, LIVE):
        service.set_state(to, "ada")
    deed = schema.deed
    with service.database.read() as connection:
        found = connection.execute(sa.select(deed.c.who, deed.c.what, deed.c.detail).order_by(deed.c.id)).all()
    assert [tuple(row) for row in found] == [
        ("ada", "set the state of", "live to pilot"), ("ada", "paused", ""), ("ada", "resumed", ""),
        ("ada", "set the state of", "pilot to live"),
    ]  # fmt: skip


def test_states_and_revisions_are_in_backups(piloted, tmp_path):
    piloted.set_state(CLOSED, "ada")
    back_up(piloted.database, tmp_path / "all.jsonl.gz")
    site = open_site(piloted.study.folder, f"sqlite:///{tmp_path / 'other.db'}")
    try:
        bring_back(site.database, tmp_path / "all.jsonl.gz")
        assert site.studies["words"].standing().state == CLOSED
    finally:
        site.close()


def test_who_met_a_paused_study_does_not_begin_once_it_is_closed(serve, take_part):
    service = serve(SHORT)
    begun = take_part(service)
    assert service.questions(begun).result()["questions"]
    service.set_state(PAUSED, "ada")
    waits = service.keys.rater_of(service.join(Joining("the-browser-that-waits")).result())
    rehearses = take_part(service, rehearsal=service.keys.rehearsal())
    service.consent(waits).result()
    assert service.questions(waits).result()["paused"]
    service.set_state(CLOSED, "ada")
    for work in (service.questions, lambda of: service.before(of, {}), lambda of: service.survey(of, {})):
        with pytest.raises(Refused, match="all the people it needs"):
            work(waits).result()
    assert why_join(service, "the-browser-that-waits") == "full", "nor by the link"
    assert answer_all(service, begun) == 4
    assert answer_all(service, rehearses) == 4
    service.set_state(LIVE, "ada")
    assert answer_all(service, waits) == 4, "what is opened again is open"


def test_who_had_not_agreed_before_a_study_was_closed_is_not_written_down_as_agreeing(serve):
    service = serve(SHORT)
    late = service.keys.rater_of(service.join(Joining("the-browser-that-waits")).result())
    service.set_state(CLOSED, "ada")
    service.consent(late).result()
    with service.database.read() as connection:
        assert connection.scalar(sa.select(schema.rater.c.consented).where(schema.rater.c.id == late)) is None
