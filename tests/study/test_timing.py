"""Times of a question and what browsers tell of their device: asked for, checked, kept, exported, erased."""

import json

import pytest
import sqlalchemy as sa

import similitude as sm
from similitude.study.answering import Said
from similitude.study.log import read_log
from similitude.study.maintenance.bring_in import bring_in
from similitude.study.maintenance.erase import erase_rater
from similitude.study.maintenance.export import export_answers
from similitude.study.maintenance.raters_file import raters_table
from similitude.study.measured import TYPES, Circumstances
from similitude.study.refusal import Refused
from similitude.study.settings import StudyError, read_study
from similitude.study.simulate import Behaviour, simulate_study
from similitude.study.store import schema
from similitude.study.timing import timing_in_words
from similitude.study.web import pages  # an imported `setup` would be called by older versions of pytest
from tests.study.conftest import serving
from tests.study.making import SHORT, tones, write_study

PHONE = {
    "device": "phone", "input": "touch", "viewport": [390, 844], "pixel_ratio": 3.0, "refresh_rate": 59.9,
    "focus_lost": 2, "focus_lost_ms": 1500, "exposure_ms": 483, "showings": 1,
}  # fmt: skip


def say(service, rater_id, number, outcome="answered", milliseconds=1000, measured=None):
    response = [1] if outcome == "answered" else None
    told = None if measured is None else Circumstances(**measured)
    said = Said(rater_id, number, f"uid-{rater_id}-{number}", outcome, response, milliseconds, measured=told)
    return service.answer(said).result()


def stored(service):
    with service.database.read() as connection:
        rows = connection.execute(sa.select(schema.answer).order_by(schema.answer.c.id)).mappings()
        return [dict(row) for row in rows]


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("exposure_ms = 5", r"timing\.exposure_ms: .*found 5"),
        ("exposure_ms = 1.5", r"timing\.exposure_ms: expected a whole number, found 1\.5"),
        ("limit_seconds = 0", r"timing\.limit_seconds: .*found 0"),
        ("least_seconds = -1", r"timing\.least_seconds: .*found -1"),
        ('record_device = "no"', r"timing\.record_device: expected true or false, found 'no'"),
        ("limit_seconds = 2\nleast_seconds = 2", r"least_seconds: expected less than limit_seconds \(2\), found 2"),
    ],
)
def test_what_is_wrong_is_said_with_its_key(tmp_path, toml, message):
    with pytest.raises(StudyError, match=message):
        read_study(write_study(tmp_path, "faces", f'title = "T"\n{SHORT}[timing]\n{toml}\n'))


def test_times_that_mean_nothing_for_the_items_are_refused(serve, tmp_path):
    from similitude.study.site import open_site

    with pytest.raises(StudyError, match="exposure_ms: the items of a placement come one after the other"):
        serve("[question]\nform = 'placement'\nnumber = 2\n[timing]\nexposure_ms = 500")
    with pytest.raises(StudyError, match="play_to_the_end: there is no sound and no film"):
        serve("[timing]\nplay_to_the_end = true")
    sounds = f'title = "T"\n{SHORT}[question]\nnumber = 2\n[timing]\nexposure_ms = 500\n'
    with pytest.raises(StudyError, match="exposure_ms hides what is seen after a while, but 'tone0' is played"):
        open_site(write_study(tmp_path / "sounds", "tones", sounds, tones()))


def test_a_question_out_of_time_is_recorded_as_such_and_nothing_learns_from_it(serve, take_part, tmp_path):
    service = serve("[question]\nnumber = 4\n[timing]\nlimit_seconds = 5")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    say(service, rater_id, 0, "timed_out", 5004)
    say(service, rater_id, 1)
    first = stored(service)[0]
    assert (first["outcome"], first["response"], first["side"]) == ("timed_out", None, -1)
    with service.database.read() as connection:
        learned, _, seen = read_log(connection, service.study_id, service.names)
    assert (len(learned.form), seen) == (1, 2)
    export_answers(service.database, "words", tmp_path / "out.csv")
    assert sm.read_comparisons(tmp_path / "out.csv").n_answers == 1


def test_without_a_limit_nothing_is_out_of_time(serve, take_part):
    service = serve("[question]\nnumber = 2")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    with pytest.raises(Refused, match="'timed_out' is not among those"):
        say(service, rater_id, 0, "timed_out")


def test_who_lets_the_time_run_out_gets_no_code_and_was_told_so(serve, take_part):
    paid = "[completion]\ncode = 'C1'\nseconds_per_question = 0"
    service = serve(f"[question]\nnumber = 2\nskip = false\ncant_tell = false\n[timing]\nlimit_seconds = 5\n{paid}")
    said = pages.terms_in_words(service.study, "en")
    assert "You have 5 s for each question." in said[0]
    assert "answer at least 1 of the 2 questions" in said[1]
    rater_id = take_part(service)
    service.questions(rater_id).result()
    for number in range(2):
        say(service, rater_id, number, "timed_out")
    assert service.survey(rater_id, {}).result()["withheld"] == "skips"


@pytest.mark.parametrize("outcome", ["answered", "cant_tell", "skipped"])
def test_an_answer_before_its_time_is_not_taken(serve, take_part, outcome):
    service = serve("[question]\nnumber = 3\n[timing]\nleast_seconds = 2")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    with pytest.raises(Refused, match="expected at least 2000, as this study asks, found 900"):
        say(service, rater_id, 0, outcome, 900)
    assert say(service, rater_id, 0, outcome, 1990)["answered"] == 1  # a browser's timer may be a little ahead
    assert say(service, rater_id, 1, outcome, None)["answered"] == 2
    assert say(service, rater_id, 2, "not_shown", 10)["answered"] == 3


def test_all_times_are_told_before_the_first_question(tmp_path):
    toml = f'title = "T"\n{SHORT}[timing]\nexposure_ms = 250\nlimit_seconds = 8\nleast_seconds = 1.5\n'
    study = read_study(write_study(tmp_path, "faces", toml))
    texts = {name: f"{name} {{seconds}}" for name in ("timing_exposure", "timing_least", "timing_limit")}
    said = timing_in_words(study.timing, texts | {"timing_to_the_end": "whole"})
    assert said == ["timing_exposure 0.25", "timing_least 1.5", "timing_limit 8"]
    whole = study.timing.model_copy(update={"play_to_the_end": True})
    assert timing_in_words(whole, texts | {"timing_to_the_end": "whole"})[-1] == "whole"


def test_a_study_without_times_says_nothing_of_them(serve):
    service = serve("")
    assert pages.terms_in_words(service.study, "en") == []
    assert pages.setup(service, "en")["timing"] == {
        "exposure": None, "toTheEnd": False, "limit": None, "least": 0.0, "device": False
    }  # fmt: skip


def test_what_the_browser_tells_is_kept_exported_and_brought_back(serve, take_part, tmp_path):
    service = serve("[question]\nnumber = 3\n[timing]\nrecord_device = true")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    say(service, rater_id, 0, measured=PHONE)
    say(
        service,
        rater_id,
        1,
        measured={"device": "computer", "viewport": [1280, 800], "focus_lost": 1, "focus_lost_ms": 500},
    )
    say(service, rater_id, 2)
    assert json.loads(stored(service)[0]["measured"]) == PHONE
    code = raters_table(service.database, "words")["code"]
    for kind in ("csv", "jsonl", "parquet"):
        export_answers(service.database, "words", tmp_path / f"out.{kind}")
    told = {name: column.tolist() for name, column in sm.read_comparisons(tmp_path / "out.csv").answers.extra.items()}
    assert told["device"] == ["phone", "computer", None]
    assert told["viewport"] == ["390x844", "1280x800", None]
    assert told["focus_lost_time"][:2] == [1.5, 0.5]
    assert told["exposure_time"][0] == 0.483
    raters = raters_table(service.database, "words")
    assert {name: raters[name] for name in ("code", "device", "focus_lost", "focus_lost_time", "pixel_ratio")} == {
        "code": code, "device": ["computer"], "focus_lost": [3], "focus_lost_time": [2.0], "pixel_ratio": [3.0]
    }  # fmt: skip
    before = [row["measured"] for row in stored(service)]
    for kind in ("csv", "jsonl", "parquet"):
        from similitude.study.site import open_site

        (tmp_path / kind).mkdir()
        other = open_site(_words(tmp_path / kind / "words"), f"sqlite:///{tmp_path / kind / 'a.db'}")
        try:
            assert bring_in(other.studies["words"], tmp_path / f"out.{kind}") == 3
            back = [row["measured"] for row in stored(other.studies["words"])]
            assert [text and json.loads(text) for text in back] == [text and json.loads(text) for text in before]
        finally:
            other.close()


def _words(folder):
    from tests.study.servers import write_study as write_words

    return write_words(folder, "[question]\nnumber = 3")


def test_nothing_is_kept_where_the_study_does_not_record_it(serve, take_part):
    service = serve("[question]\nnumber = 2")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    say(service, rater_id, 0, measured=PHONE)
    assert stored(service)[0]["measured"] is None
    assert raters_table(service.database, "words")["device"] == [None]


def test_erasing_a_rater_erases_what_the_browser_told(serve, take_part):
    service = serve("[question]\nnumber = 2")
    rater_id = take_part(service)
    service.questions(rater_id).result()
    say(service, rater_id, 0, measured=PHONE)
    code = raters_table(service.database, "words")["code"][0]
    erase_rater(service.database, "words", code)
    assert [(row["outcome"], row["measured"]) for row in stored(service)] == [("redacted", None)]


@pytest.mark.parametrize(
    "strange",
    [{"device": "fridge"}, {"viewport": [390]}, {"viewport": [0, 5]}, {"focus_lost": -1}, {"agent": "Mozilla"},
     {"pixel_ratio": float("nan")}, {"focus_lost": True}, {"showings": 0}],
)  # fmt: skip
def test_what_cannot_be_measured_is_not_taken(strange):
    with pytest.raises(ValueError, match="validation error"):
        Circumstances(**strange)


def test_a_file_with_strange_measures_is_refused_whole(serve, tmp_path):
    service = serve("[question]\nnumber = 2")
    head = "form,rater,shown,response,device,focus_lost"
    rows = [head, 'triplet,a,"[""w00"",""w01"",""w02""]",[1],phone,-4']
    (tmp_path / "in.csv").write_text("\n".join(rows), encoding="utf-8")
    with pytest.raises(StudyError, match=r"in\.csv: row 1: focus_lost: .*greater than or equal to 0"):
        bring_in(service, tmp_path / "in.csv")
    assert stored(service) == []


def test_the_documentation_names_every_column():
    from pathlib import Path

    text = (Path(__file__).parents[2] / "docs" / "how-to" / "study-backup.md").read_text(encoding="utf-8")
    assert [name for name in TYPES if f"`{name}`" not in text] == []


@pytest.mark.slow
def test_simulated_raters_keep_the_times(tmp_path):
    times = "[timing]\nleast_seconds = 0.2\nlimit_seconds = 1\n"
    write_study(tmp_path, "hasty", f'title = "Faces"\n{SHORT}[question]\nnumber = 3\n{times}')
    with serving(tmp_path) as live:
        for seed, think, expected in ((1, 0.0, ("answered", 200)), (2, 600.0, ("timed_out", 1000))):
            done = simulate_study(live.link("hasty"), 1, Behaviour(think=think), seed=seed, rehearsal=False)
            assert (done.finished, done.answers, done.failed) == (1, 3, 0)
            assert {(row["outcome"], row["milliseconds"]) for row in live.answers("hasty")[-3:]} == {expected}
