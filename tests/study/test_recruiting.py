"""Prolific and MTurk by services of this machine that speak as they do: matched, approved, rejected, sent back."""

import gzip
import io
import logging
import socket
from datetime import UTC, datetime

import numpy as np
import pytest
import sqlalchemy as sa

from similitude.study.audit import deeds
from similitude.study.maintenance.archive import back_up
from similitude.study.maintenance.raters_file import raters_table
from similitude.study.people.standing import People
from similitude.study.recruiting import mturk, prolific
from similitude.study.recruiting.accounts import Accounts
from similitude.study.recruiting.calling import Caller, ServiceFault
from similitude.study.recruiting.mturk import MTurk, sign, signing_key
from similitude.study.recruiting.prolific import Prolific
from similitude.study.recruiting.reviewing import Reviewing, Told
from similitude.study.refusal import Refused
from similitude.study.store import schema
from tests.shell import run
from tests.study.live import answer, join, open_study, write_study
from tests.study.recruiters import STUDY, TOKEN, FakeMTurk, FakeProlific, listening

CODE = '[completion]\ncode = "C1A2B3"\nseconds_per_question = 0\n'
LONG = "You answered most of the questions within a fraction of a second, and failed three of the four catch trials."


@pytest.fixture
def fake(monkeypatch):
    fake = FakeProlific()
    with listening(fake) as address:
        monkeypatch.setattr(prolific, "BASE", f"{address}/api/v1")
        yield fake


@pytest.fixture
def service(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours", catch=CODE, number=4))
    yield service
    site.close()


@pytest.fixture
def kept(service):
    Accounts(service.database, service.study_id).keep("prolific", {"token": TOKEN, "study": STUDY}, "ada")
    return service


def reviewing(service):
    return Reviewing(service.database, service.study, service.study_id)


def come(service, who, n=4, parameter="PROLIFIC_PID"):
    rater = join(service, **{parameter: who})
    answer(service, rater, n, np.random.default_rng(0))
    if n == 4:
        service.survey(rater, {}).result()
    return rater


def impatient(**options):
    waited = []
    return Caller("Prolific", sleep=waited.append, **options), waited


def test_submissions_are_matched_with_raters_and_doubts_are_said(kept, fake):
    for who, n in (("anna", 4), ("ben", 4), ("cora", 2), ("dora", 4)):
        come(kept, who, n)
        fake.add(who, code="WRONG" if who == "dora" else "C1A2B3")
    fake.add("nobody")
    fake.add("emil", status="ACTIVE", code=None)
    People(kept.database, kept.study_id).leave_out(["r0002"], "ada", "asleep")
    found = {one.submission.who: one for one in reviewing(kept).look("prolific")}
    assert {who: one.doubts for who, one in found.items()} == {
        "anna": (),
        "ben": ("left out: asleep",),
        "cora": ("not finished here: 2 of 4 answers",),
        "dora": ("another completion code was entered",),
        "nobody": ("nobody came here with this id",),
        "emil": ("nobody came here with this id",),
    }
    assert [who for who, one in found.items() if one.is_clear] == ["anna"]
    assert reviewing(kept).payable("prolific") == ["anna", "dora"]


def test_who_gets_no_code_is_shown_that_of_those_screened_out(tmp_path, fake):
    more = '[completion]\ncode = "C1A2B3"\nscreened_out_code = "S9"\nseconds_per_question = 3600\n'
    site, service = open_study(write_study(tmp_path / "slow", catch=more, number=4))
    rater = join(service, PROLIFIC_PID="anna")
    answer(service, rater, 4, np.random.default_rng(0))
    assert service.survey(rater, {}).result() == {"code": "S9", "redirect": None, "withheld": "time"}
    fake.add("anna", code="S9")
    Accounts(service.database, service.study_id).keep("prolific", {"token": TOKEN, "study": STUDY}, "ada")
    assert reviewing(service).look("prolific")[0].doubts == (
        "no code: took less time than asked for", "the code of those who are screened out was entered",
    )  # fmt: skip
    site.close()


def test_a_long_list_is_read_page_by_page_and_each_once(kept, fake):
    for number in range(230):
        fake.add(f"person{number}")
    assert len({one.submission.id for one in reviewing(kept).look("prolific")}) == 230
    assert [path for _, path, _ in fake.asked] == [
        f"/api/v1/submissions/?study={STUDY}&page={page}&page_size=100" for page in (1, 2, 3)
    ]


def test_approvals_go_together_and_are_kept_with_the_raters(kept, fake):
    come(kept, "anna")
    ids = [fake.add("anna"), fake.add("stranger"), fake.add("paid", status="APPROVED")]
    done = reviewing(kept).act("prolific", "approve", [*ids, "f" * 24], "ada", Told())
    assert done.done == (ids[0], ids[1])
    assert done.not_done == {
        ids[2]: "does not wait for a decision: approved", "f" * 24: "not among the submissions of this study",
    }  # fmt: skip
    assert fake.asked[-1] == ("POST", "/api/v1/submissions/bulk-approve/", {"submission_ids": ids[:2]})
    remarks = People(kept.database, kept.study_id).remarks("r0001")
    assert [(one.who, one.words) for one in remarks] == [("ada", "approved on Prolific")]
    deed = deeds(kept.database)[0]
    assert (deed.who, deed.what) == ("ada", "approved submissions of")
    assert deed.detail.startswith("2 on Prolific")
    assert "approved on Prolific" in raters_table(kept.database, "colours")["decisions"][0]


def test_rejections_returns_and_screen_outs_say_what_prolific_asks_for(kept, fake):
    one, two, three = (fake.add(who) for who in ("anna", "ben", "cora"))
    review, asked = reviewing(kept), len(fake.asked)
    for told, sentence in (
        (Told("too quick", "TOO_QUICKLY"), "at least 100 characters that tell the person why, found 9"),
        (Told(LONG, "RUDE"), "category: expected one of TOO_QUICKLY"),
    ):
        with pytest.raises(ServiceFault, match=sentence):
            review.act("prolific", "reject", [one], "ada", told)
    with pytest.raises(ServiceFault, match="reason: say why"):
        review.act("prolific", "ask_back", [two], "ada", Told())
    with pytest.raises(ServiceFault, match="code: give the completion code"):
        review.act("prolific", "screen_out", [three], "ada", Told())
    assert {method for method, _, _ in fake.asked[asked:]} == {"GET"}, "nothing was changed there"
    assert review.act("prolific", "reject", [one], "ada", Told(LONG, "FAILED_CHECK")).done == (one,)
    assert review.act("prolific", "ask_back", [two], "ada", Told("Didn't finish the study")).done == (two,)
    assert review.act("prolific", "screen_out", [three], "ada", Told(code="SCREEN1")).done == (three,)
    said = [(path, body) for method, path, body in fake.asked if method == "POST"]
    assert said == [
        (f"/api/v1/submissions/{one}/transition/",
         {"action": "REJECT", "message": LONG, "rejection_category": "FAILED_CHECK"}),
        (f"/api/v1/submissions/{two}/request-return/", {"request_return_reasons": ["Didn't finish the study"]}),
        (f"/api/v1/submissions/{three}/transition/", {"action": "COMPLETE", "completion_code": "SCREEN1"}),
    ]  # fmt: skip
    with pytest.raises(Refused, match="cannot do that"):
        review.act("prolific", "pay_twice", [one], "ada", Told())


def test_one_refusal_does_not_stop_the_others_a_wrong_key_does(kept, fake):
    ids = [fake.add(f"person{k}") for k in range(3)]
    everybody = 200, {}, {"results": list(fake.submissions.values())}
    unknown = 404, {}, {"error": {"title": "Not found", "detail": "No such submission."}}
    fake.faults = [everybody, (200, {}, {}), unknown, (200, {}, {})]
    done = reviewing(kept).act("prolific", "ask_back", ids, "ada", Told("please"))
    assert done.done == (ids[0], ids[2])
    assert "knows nothing of that id" in done.not_done[ids[1]]
    assert "No such submission" in done.not_done[ids[1]]
    fake.faults, asked = [everybody, (200, {}, {}), (403, {}, {"detail": "No."})], len(fake.asked)
    done = reviewing(kept).act("prolific", "ask_back", ids, "ada", Told("please"))
    wrong = "Prolific does not accept the key that is kept here (status 403): No."
    assert (done.done, done.not_done) == ((ids[0],), {ids[1]: wrong, ids[2]: f"not tried any more: {wrong}"})
    assert len(fake.asked) == asked + 3


@pytest.mark.parametrize(
    ("faults", "waits", "sentence"),
    [
        ([(429, {"Retry-After": "7"}, {})], [7.0], None),
        ([(500, {}, b"<html>oops"), (503, {}, {})], [1.0, 1.0], None),
        ([(429, {"Retry-After": "3600"}, {})], [], "asks to wait 3600 seconds"),
        ([(500, {}, {})] * 3, [1.0, 1.0], "has a fault of its own .status 500."),
        ([(200, {}, b"<html>maintenance</html>")], [], "is not JSON"),
        ([(200, {}, {"results": None})], [], "sent no list of submissions"),
        ([(200, {}, {"results": [{"status": "APPROVED"}]})], [], "a submission without an id"),
        (
            [(302, {"Location": "http://127.0.0.1:1/steal"}, {})],
            [],
            "leads elsewhere .status 302., which is not followed",
        ),
        ([(401, {}, {"error": {"detail": "Invalid token."}})], [], "does not accept the key .*: Invalid token"),
    ],
)
def test_faults_are_sentences_and_patience_has_an_end(fake, faults, waits, sentence):
    fake.add("anna")
    fake.faults = list(faults)
    caller, waited = impatient()
    if sentence is None:
        assert len(Prolific(TOKEN, caller).submissions(STUDY)) == 1
    else:
        with pytest.raises(ServiceFault, match=sentence) as caught:
            Prolific(TOKEN, caller).submissions(STUDY)
        assert TOKEN not in str(caught.value)
    assert waited == waits


def test_a_request_that_is_not_the_same_when_sent_twice_is_sent_once(fake):
    one = fake.add("anna")
    fake.faults = [(500, {}, {})]
    caller, waited = impatient()
    with pytest.raises(ServiceFault, match="fault of its own"):
        Prolific(TOKEN, caller).ask_back(one, "please")
    assert (len(fake.asked), waited) == (1, [])


def test_a_service_that_is_away_or_silent_is_said_to_be(monkeypatch):
    caller, waited = impatient(timeout=0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setattr(prolific, "BASE", f"http://127.0.0.1:{silent.getsockname()[1]}/api/v1")
        with pytest.raises(ServiceFault, match=r"did not answer within 0\.2 seconds"):
            Prolific(TOKEN, caller).submissions(STUDY)
    with pytest.raises(ServiceFault, match="cannot be reached from this server"):
        Prolific(TOKEN, caller).submissions(STUDY)
    assert waited == [1.0] * 4


def test_the_key_is_nowhere_but_in_the_database(kept, fake, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    come(kept, "anna")
    fake.add("anna")
    fake.faults = [(400, {}, {"error": {"detail": "bad request"}})]
    with pytest.raises(ServiceFault) as caught:
        reviewing(kept).look("prolific")
    account, _ = Accounts(kept.database, kept.study_id).opened("prolific")
    back_up(kept.database, tmp_path / "b.jsonl.gz")
    back_up(kept.database, tmp_path / "b.db")
    told = [str(caught.value), repr(account), caplog.text, str(deeds(kept.database))]
    told += [str(raters_table(kept.database, "colours")), str(Accounts(kept.database, kept.study_id).known())]
    told += [gzip.decompress((tmp_path / "b.jsonl.gz").read_bytes()).decode()]
    told += [(tmp_path / "b.db").read_bytes().decode("latin-1")]
    assert not any(TOKEN in text for text in told)
    assert fake.asked, "it was shown to the service alone"


def test_accounts_are_kept_changed_and_forgotten(service):
    accounts = Accounts(service.database, service.study_id)
    with pytest.raises(Refused, match="give the key of the account"):
        accounts.keep("prolific", {"study": STUDY}, "ada")
    with pytest.raises(Refused, match="No account with Prolific is kept"):
        accounts.opened("prolific")
    with pytest.raises(Refused, match="study: give the id"):
        accounts.keep("prolific", {"token": TOKEN}, "ada")
    with pytest.raises(Refused, match="token: expected at most 500"):
        accounts.keep("prolific", {"token": "two\nlines", "study": STUDY}, "ada")
    with pytest.raises(Refused, match="expected one of prolific, mturk"):
        accounts.keep("other", {}, "ada")
    accounts.keep("prolific", {"token": TOKEN, "study": STUDY}, "ada")
    accounts.keep("prolific", {"token": "", "study": "another"}, "bob")
    account, study = accounts.opened("prolific")
    assert (account._token, study) == (TOKEN, "another")
    known = accounts.known()["prolific"]
    assert (known.study, known.by) == ("another", "bob")
    accounts.forget("prolific", "bob")
    assert accounts.known() == {}
    with service.database.read() as connection:
        assert list(connection.scalars(sa.select(schema.secret.c.name))) == ["tokens"]


AWS = ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
AT = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)


@pytest.mark.parametrize(
    ("method", "headers", "body", "signature"),
    [  # the test suite that Amazon publishes for Signature Version 4
        ("GET", {}, b"", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", {}, b"", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        ("POST", {"Content-Type": "application/x-www-form-urlencoded"}, b"Param1=value1",
         "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
    ],
)  # fmt: skip
def test_signatures_are_those_that_amazon_publishes(method, headers, body, signature):
    given = {"Host": "example.amazonaws.com", **headers}
    signed = sign(AWS, ("us-east-1", "service"), method, given, body, AT)
    assert signed["Authorization"].endswith(f"Signature={signature}")
    key = signing_key(AWS[1], "20150830", "us-east-1", "iam")
    assert key.hex() == "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9"


def test_mturk_lists_approves_and_rejects(service, monkeypatch):
    fake = FakeMTurk()
    come(service, "W1", parameter="workerId")
    ids = [fake.add("W1"), fake.add("W2"), fake.add("W3", "Approved"), *(fake.add(f"X{k}") for k in range(120))]
    with listening(fake) as address:
        monkeypatch.setattr(mturk, "BASES", {False: "http://127.0.0.1:1", True: address})
        given = {"key": "AKIDEXAMPLE", "secret": "very-secret-key", "study": "HIT1"}
        Accounts(service.database, service.study_id).keep("mturk", given, "ada", sandbox=True)
        found = reviewing(service).look("mturk")
        assert [one.submission.id for one in found] == ids
        assert (found[0].rater.code, found[0].doubts) == ("r0001", ())
        assert found[0].submission.completed == "2026-11-18T11:16:40+00:00"
        done = reviewing(service).act("mturk", "approve", ids[:3], "ada", Told())
        assert (done.done, done.not_done) == ((ids[0], ids[1]), {ids[2]: "does not wait for a decision: approved"})
        assert reviewing(service).act("mturk", "reject", ids[3:4], "ada", Told("no data")).done == (ids[3],)
        empty = reviewing(service).act("mturk", "reject", ids[4:5], "ada", Told(" "))
        assert "asks for a reason" in empty.not_done[ids[4]]
        with pytest.raises(ServiceFault, match="is not in Submitted status"):
            MTurk("AKIDEXAMPLE", "very-secret-key", True).approve_one(ids[0])
        with pytest.raises(Refused, match="MTurk cannot do that"):
            reviewing(service).act("mturk", "screen_out", ids[4:5], "ada", Told(code="S"))
    assert all("very-secret-key" not in said and "Credential=AKIDEXAMPLE/" in said for said in fake.signed)
    assert ("RejectAssignment", {"AssignmentId": ids[3], "RequesterFeedback": "no data"}) in fake.asked
    assert fake.assignments[ids[0]]["AssignmentStatus"] == "Approved"


def test_the_same_by_command(tmp_path, fake, monkeypatch):
    folder = write_study(tmp_path / "colours", catch=CODE, number=4)
    site, service = open_study(folder)
    come(service, "anna")
    come(service, "ben", 2)
    site.close()
    anna, ben = fake.add("anna"), fake.add("ben")
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{TOKEN}\n"))
    said = run("study", "account", folder, STUDY, folder=tmp_path).stdout
    assert said == "Prolific: kept; it is shown nowhere\n"
    assert run("study", "submissions", folder, folder=tmp_path).stdout.splitlines() == [
        f"{anna}  anna  r0001  awaiting review",
        f"{ben}  ben  r0002  awaiting review  not finished here: 2 of 4 answers",
    ]
    assert run("study", "payable", folder, folder=tmp_path).stdout == "anna\n"
    run("study", "payable", folder, "--out", tmp_path / "ids.txt", folder=tmp_path)
    assert (tmp_path / "ids.txt").read_text(encoding="utf-8") == "anna\n"
    assert run("study", "approve", folder, "--clear", folder=tmp_path).stdout == "1 done\n"
    assert fake.submissions[anna]["status"] == "APPROVED"
    run("study", "ask-back", folder, ben, "--reason", "not finished", folder=tmp_path)
    assert fake.submissions[ben]["return_requested"]
    short = run("study", "reject", folder, ben, "--message", "no", folder=tmp_path, check=False)
    assert (short.returncode, "at least 100 characters" in short.stderr) == (1, True)
    run("study", "reject", folder, ben, "--message", LONG, "--category", "NO_DATA", folder=tmp_path)
    run("study", "screen-out", folder, ben, "--code", "S1", folder=tmp_path)
    neither = run("study", "approve", folder, folder=tmp_path, check=False)
    assert "give the ids of submissions, or --clear" in neither.stderr
    run("study", "account", folder, "--forget", folder=tmp_path)
    none = run("study", "submissions", folder, folder=tmp_path, check=False)
    assert "No account with Prolific is kept here" in none.stderr
