"""Who comes in, who does not, and who gets the completion code: invitations, limits, rehearsals, erased people."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

import similitude as sm
from similitude import cli
from similitude.study.arrivals import Arrivals
from similitude.study.invite import invite, invited_people, read_people, rehearsal_link, withdraw
from similitude.study.log import read_log
from similitude.study.maintenance.bring_in import bring_in
from similitude.study.maintenance.erase import erase_rater, forget_rehearsal
from similitude.study.maintenance.export import export_answers
from similitude.study.service import Joining, Refused
from similitude.study.settings import StudyError
from similitude.study.site import open_site
from similitude.study.store import schema
from similitude.study.web.app import create_app
from similitude.study.web.pages import terms_in_words
from similitude.study.web.watch import Watch
from tests.shell import run
from tests.study.servers import write_study
from tests.study.test_service import finish, hands_of, rows, say

INVITED = "[raters]\ninvited = true\nlimit = 5\n[question]\nnumber = 3"
PAID = "[question]\nnumber = 10\n[completion]\ncode = 'C1'\nredirect = 'https://back.example/?cc=C1'\n"
sqlite = pytest.mark.parametrize("url", ["sqlite"], indirect=True)


def parts(link):
    return dict(parse_qsl(urlsplit(link).query))


def refused(service, joining):
    with pytest.raises(Refused) as refusal:
        service.join(joining).result()
    return refusal.value.code


# --- invitations ---


def test_only_signed_links_of_the_list_let_people_in(serve):
    service = serve(INVITED)
    links = [parts(link) for link in invite(service, ["ann", "bob & co", "cy"]).values()]
    for k in range(5):
        assert refused(service, Joining(f"browser{k}", {"rater": f"invented{k}"})) == "not_named"
    assert refused(service, Joining("browser0")) == "not_named"
    assert refused(service, Joining("browser0", {"rater": "ann"})) == "not_named"
    assert refused(service, Joining("browser0", {"rater": "bob & co", "key": links[0]["key"]})) == "not_named"
    assert refused(service, Joining("browser0", {"rater": "dee", "key": service.keys.token(1)})) == "not_named"
    assert refused(service, Joining("browser0", {"PROLIFIC_PID": "ann", "key": links[0]["key"]})) == "not_named"
    tokens = [service.join(Joining(f"browser{k}", link)).result() for k, link in enumerate(links)]
    assert len(set(tokens)) == 3
    assert service.join(Joining("elsewhere", links[1])).result() == tokens[1], "on another device the same person"
    assert refused(service, Joining("browser9", {"rater": "ann", "key": "0" * 32})) == "not_named", "known, not signed"
    assert [row["identity"] for row in rows(service, schema.rater)] == ["ann", "bob & co", "cy"]


@sqlite
def test_who_is_taken_off_the_list_is_not_let_in(serve, take_part):
    service = serve(INVITED)
    ann, bob = (parts(link) for link in invite(service, ["ann", "bob"]).values())
    finish(service, take_part(service, "browser0", **ann))
    withdraw(service, "bob")
    assert refused(service, Joining("browser1", bob)) == "not_named"
    assert invite(service, ["ann"]) == invite(service, ["ann"]), "twice is the same as once"
    with pytest.raises(StudyError, match="'bob' is not among the invited"):
        withdraw(service, "bob")
    assert [(one.identity, one.answered) for one in invited_people(service)] == [("ann", 3)]


@sqlite
def test_who_is_withdrawn_inside_is_asked_no_more_until_invited_again(serve, take_part):
    service = serve(INVITED + "\n[completion]\ncode = 'C1'\nseconds_per_question = 0")
    links = enumerate(invite(service, ["ann", "bob"]).values())
    ann, bob = (take_part(service, f"browser{k}", **parts(link)) for k, link in links)
    finish(service, ann)
    service.survey(ann, {}).result()
    service.questions(bob).result()
    say(service, bob, 0)
    assert "had begun: what was said so far (1 answer) stays" in withdraw(service, "bob")
    assert "had finished" in withdraw(service, "ann")
    for ask in (lambda: service.questions(bob), lambda: say(service, bob, 1), lambda: service.survey(bob, {})):
        with pytest.raises(Refused) as refusal:
            ask().result()
        assert (refusal.value.status, refusal.value.code) == (410, "withdrawn")
    assert service.survey(ann, {}).result()["code"] == "C1"
    assert [row["open"] for row in rows(service, schema.lease) if row["rater_id"] == bob and row["open"]] == []
    flags = {rater["code"]: rater["flags"] for rater in Watch(service).look()["now"]["raters"]}
    assert flags == {"r0001": [], "r0002": ["invitation withdrawn"]}
    invite(service, ["bob"])
    finish(service, bob)
    assert service.survey(bob, {}).result()["code"] == "C1"
    assert len([row for row in rows(service, schema.answer) if row["rater_id"] == bob]) == 3


@sqlite
def test_who_gets_no_code_is_worth_a_look(serve, take_part, url, tmp_path):
    service = serve(PAID + "seconds_per_question = 0\n[raters]\ninvited = true\n")
    rater_id = take_part(service, **parts(invite(service, ["ann"])["ann"]))
    answer_all(service, rater_id, ["skipped"] * 10)
    [rater] = Watch(service).look()["now"]["raters"]
    assert rater["flags"] == ["no code: passed over too many questions"]
    said = CliRunner().invoke(cli.app, ["study", "invited", str(tmp_path / "words"), "--database", url]).output
    assert said == "ann: finished, 10 of 10 answers (no code: passed over too many questions)\n"


@sqlite
def test_an_erased_person_is_not_invited_again(serve, take_part, url, tmp_path):
    service = serve(INVITED)
    take_part(service, **parts(invite(service, ["ann"])["ann"]))
    erase_rater(service.database, "words", "ann")
    (tmp_path / "people.txt").write_text("ann\nbob\n")
    done = run("study", "invite", "words", "people.txt", "--database", url, folder=tmp_path)
    assert "ann: was erased" in done.stderr
    assert [line.split(",")[0] for line in done.stdout.splitlines()] == ["name", "bob"]
    assert [one.identity for one in invited_people(service)] == ["bob"]


@sqlite
def test_a_signature_is_of_one_study_alone(serve):
    one, other = serve(INVITED), serve(INVITED, name="others")
    link = parts(invite(one, ["ann"])["ann"])
    invite(other, ["ann"])
    assert refused(other, Joining("browser0", link)) == "not_named"


@pytest.mark.parametrize(
    ("text", "people"),
    [("ann\nbob\n\n cy \n", ["ann", "bob", "cy"]), ("mail,name\na@x,ann\nb@x,bob\n", ["ann", "bob"]),
     ("\ufeffName\nann\n", ["ann"]), ('"a, b"\n', ["a, b"])],
)  # fmt: skip
def test_a_list_of_people_is_read(tmp_path, text, people):
    (tmp_path / "people.csv").write_text(text, encoding="utf-8")
    assert read_people(tmp_path / "people.csv") == people


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "nobody in it"), ("ann\nann\n", "'ann' is in it twice"), ("a,b\n", "none is called `name`"),
     ("x" * 501, "1 to 500 characters")],
)  # fmt: skip
def test_a_list_that_cannot_be_is_refused(tmp_path, text, message):
    (tmp_path / "people.csv").write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match=message):
        read_people(tmp_path / "people.csv")


def test_people_are_invited_from_the_command_line(tmp_path):
    folder = write_study(tmp_path / "words", INVITED)
    (tmp_path / "people.txt").write_text("ann\nbob\n", encoding="utf-8")

    def run(*arguments):
        done = CliRunner().invoke(cli.app, ["study", *map(str, arguments)])
        if isinstance(done.exception, StudyError):
            raise done.exception
        return done.output

    links = run("invite", folder, tmp_path / "people.txt", "--public-url", "https://x.org/lab/").splitlines()
    assert links[0] == "name,link"
    assert links[1].startswith("ann,https://x.org/lab/s/words/?rater=ann&key=")
    assert "bob: has not come yet, 0 of 3 answers" in run("invited", folder)
    assert "bob: the link lets nobody in" in run("invite", folder, "--withdraw", "bob")
    assert "bob" not in run("invited", folder)
    assert "/s/words/?rehearsal=" in run("invite", folder, "--rehearsal")
    with pytest.raises(StudyError, match="give a list of PEOPLE, or --withdraw NAME, or --rehearsal"):
        run("invite", folder)
    open_to_all = write_study(tmp_path / "open")
    done = CliRunner().invoke(cli.app, ["study", "invite", str(open_to_all), str(tmp_path / "people.txt")])
    assert "set invited = true" in done.output


# --- limits ---


def test_as_many_begin_as_ever_may_and_no_more(serve, take_part):
    service = serve("[question]\nnumber = 2\n[raters]\njoins_in_all = 2\n[choose]\nlease_minutes = 1")
    hands = hands_of(service)
    for k in range(2):
        take_part(service, f"browser{k}")
    hands[0] += 10_000
    assert refused(service, Joining("browser2")) == "full"
    assert service.join(Joining("browser1")).result(), "who came before comes back"


@sqlite
def test_one_network_sends_so_many_within_an_hour(serve):
    service = serve("[raters]\njoins_per_address = 3")
    hands = [0.0]
    service.entrance.arrivals.monotonic = lambda: hands[0]
    for k in range(3):
        service.join(Joining(f"browser{k}", address="10.0.0.1")).result()
    assert refused(service, Joining("browser3", address="10.0.0.1")) == "crowded"
    service.join(Joining("browser1", address="10.0.0.1")).result()
    service.join(Joining("browser4", address="10.0.0.2")).result()
    for k in range(10):
        service.join(Joining(f"here-{k:04d}")).result()
    hands[0] += 3601
    service.join(Joining("browser3", address="10.0.0.1")).result()


def test_networks_are_forgotten_and_nothing_may_be_any_number():
    arrivals = Arrivals(1, lambda: 0.0)
    assert all(arrivals.let_in(str(k)) for k in range(10_050))
    assert len(arrivals._came) == 10_000
    free = Arrivals(0)
    assert all(free.let_in("a") for _ in range(500))


@sqlite
def test_the_network_is_told_by_the_connection_and_is_written_nowhere(tmp_path, url):
    site = open_site(write_study(tmp_path / "words", "[raters]\njoins_per_address = 2"), url)
    app = create_app(site)

    def join(k, address):
        async def ask():
            transport = httpx.ASGITransport(app, client=(address, 1000))
            async with httpx.AsyncClient(transport=transport, base_url="http://study") as client:
                return await client.post("/api/words/join", json={"uid": f"browser-{k}"})

        return asyncio.run(ask())

    try:
        said = [join(k, f"2001:db8::{k + 1}").status_code for k in range(3)]
        assert said == [200, 200, 403], "one network of IPv6 is one"
        assert [join(10 + k, "127.0.0.1").status_code for k in range(4)] == [200] * 4
        kept = str(rows(site.studies["words"], schema.rater))
        assert "2001:db8" not in kept
        assert "127.0.0.1" not in kept
    finally:
        site.close()


# --- the completion code ---


def answer_all(service, rater_id, outcomes):
    service.questions(rater_id).result()
    for number, outcome in enumerate(outcomes):
        say(service, rater_id, number, (1.0,) if outcome == "answered" else None, outcome=outcome)
    return service.survey(rater_id, {}).result()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seconds", "outcomes", "withheld"),
    [
        (5.0, ["answered"] * 10, None),
        (4.9, ["answered"] * 10, "time"),
        (0.5, ["skipped"] * 10, "time"),
        (60.0, ["skipped"] * 10, "skips"),
        (60.0, ["cant_tell"] * 6 + ["answered"] * 4, "skips"),
        (60.0, ["not_shown"] * 6 + ["answered"] * 4, "not_shown"),
        (60.0, ["not_shown"] + ["skipped"] * 5 + ["answered"] * 4, "not_shown"),
        (60.0, ["not_shown"] + ["skipped"] * 6 + ["answered"] * 3, "skips"),
        (60.0, ["not_shown"] * 5 + ["answered"] * 5, None),
        (60.0, ["skipped", "cant_tell"] * 2 + ["skipped"] + ["answered"] * 5, None),
    ],
)
@sqlite
def test_the_code_is_for_those_who_take_their_time_and_answer(serve, take_part, seconds, outcomes, withheld):
    service = serve(PAID)
    hands = hands_of(service)
    rater_id = take_part(service)
    hands[0] += seconds
    out = answer_all(service, rater_id, outcomes)
    expected = {"code": "C1", "redirect": "https://back.example/?cc=C1", "withheld": None}
    assert out == (expected if withheld is None else {"code": None, "redirect": None, "withheld": withheld})
    hands[0] += 1000
    assert service.survey(rater_id, {}).result() == out, "waiting does not help"


@sqlite
def test_what_could_not_be_shown_earns_no_code_where_nothing_can_be_skipped(serve, take_part):
    paid = "[question]\nnumber = 10\nskip = false\ncant_tell = false\n[completion]\ncode = 'C1'\n"
    service = serve(paid + "seconds_per_question = 0")
    assert answer_all(service, take_part(service), ["not_shown"] * 10)["withheld"] == "not_shown"


PRACTICE = "[practice]\nquestions = [{shown = ['w00', 'w01', 'w02'], correct = [1]}]\n"


@pytest.mark.parametrize(("share", "told"), [(0.5, "at least 6 of the 10 questions"), (0.0, "at least 10 of the 10")])
@sqlite
def test_raters_are_told_of_the_questions_that_they_see_counted_and_that_is_enough(serve, take_part, share, told):
    service = serve(f"{PAID}seconds_per_question = 0\nlargest_skip_share = {share}\n{PRACTICE}")
    assert any(told in sentence for sentence in terms_in_words(service.study, "en"))
    enough = 10 if share == 0 else 6
    outcomes = ["skipped"] * (11 - enough) + ["answered"] * enough  # the first is practice
    assert answer_all(service, take_part(service), outcomes)["code"] == "C1"


@sqlite
def test_a_study_may_ask_for_nothing(serve, take_part):
    service = serve(PAID + "seconds_per_question = 0\nlargest_skip_share = 1")
    assert answer_all(service, take_part(service), ["skipped"] * 10)["code"] == "C1"


# --- imported raters ---


def test_imported_raters_cannot_be_joined(serve, take_part, tmp_path):
    service = serve(PAID)
    finish(service, take_part(service))
    export_answers(service.database, "words", tmp_path / "answers.csv")
    with service.database.write() as connection:
        for table in (schema.answer, schema.lease, schema.rater):
            connection.execute(sa.delete(table))
    assert bring_in(service, tmp_path / "answers.csv") == 10
    imported = rows(service, schema.rater)[0]
    assert imported["origin"] == "imported"
    for uid in ("imported-r0001", "imported_r0001", imported["uid"].replace(":", "-")):
        rater_id = service.rater_of(service.join(Joining(uid)).result())
        assert rater_id != imported["id"], uid
    assert bring_in(service, tmp_path / "answers.csv") == 0


# --- rehearsals ---


def test_rehearsals_are_marked_and_left_out_and_go_by_one_command(serve, take_part, tmp_path):
    service = serve(PAID + "[raters]\nlimit = 1")
    trial = take_part(service, "browser0", rehearsal="yes", rater="ann")
    hands_of(service)[0] += 100
    assert answer_all(service, trial, ["answered"] * 10) == {"code": None, "redirect": None, "withheld": "rehearsal"}
    person = take_part(service, "browser0", rater="ann")
    assert person != trial, "the same person for real is somebody else, and a rehearsal takes no seat"
    finish(service, person)
    assert [row["code"] for row in rows(service, schema.rater)] == ["rehearsal0001", "r0001"]
    with service.database.read() as connection:
        learned, last, seen = read_log(connection, service.study_id, service.names)
    assert (len(learned), last, seen) == (10, 20, 20)
    now = Watch(service).look()["now"]
    assert (now["totals"]["raters"], now["totals"]["answers"], sum(now["outcomes"].values())) == (1, 10, 10)
    assert [rater["flags"] for rater in now["raters"]] == [[], ["rehearsal: left out"]]
    assert export_answers(service.database, "words", tmp_path / "a.csv").left_out == 10
    assert set(sm.read_comparisons(tmp_path / "a.csv").answers.rater.values) == {"r0001"}
    assert export_answers(service.database, "words", tmp_path / "b.csv", rehearsal=True).answers == 20
    assert forget_rehearsal(service.database, "words") == (1, 10)
    assert [row["code"] for row in rows(service, schema.rater)] == ["r0001"]
    assert {row["rater_id"] for row in rows(service, schema.lease)} == {person}
    with pytest.raises(Refused, match="does not know you"):
        service.questions(trial).result()


@sqlite
def test_a_person_may_be_called_like_a_rehearsal(serve, take_part):
    service = serve("[question]\nnumber = 2")
    trial = take_part(service, "browser0", rehearsal="yes", rater="bob")
    called = ("rehearsal bob", "rehearsal of:bob", "rehearsal:browser0", "bob")
    people = [take_part(service, f"browser{k}", rater=name) for k, name in enumerate(called, 1)]
    nameless = take_part(service, "browser0", rehearsal="yes")
    assert len({trial, *people, nameless}) == 6
    assert take_part(service, "elsewhere", rehearsal="yes", rater="bob") == trial
    assert [row["identity"] for row in rows(service, schema.rater)] == [None, *called, None]


def test_a_study_by_invitation_is_rehearsed_by_a_link_of_its_own(serve):
    service = serve(INVITED)
    invite(service, ["ann"])
    assert refused(service, Joining("browser0", {"rehearsal": "yes", "rater": "ann"})) == "not_named"
    service.join(Joining("browser0", {**parts(rehearsal_link(service)), "rater": "ann"})).result()
    assert rows(service, schema.rater)[0]["origin"] == "rehearsal"


# --- erased people ---


def test_who_was_erased_cannot_come_anew(serve, take_part, url, tmp_path):
    service = serve("[question]\nnumber = 3")
    token = service.join(Joining("browser0", {"PROLIFIC_PID": "SECRETPERSON"})).result()
    nameless = take_part(service, "SECRETBROWSER")
    for who in ("SECRETPERSON", f"r{nameless:04d}"):
        erase_rater(service.database, "words", who)
    assert refused(service, Joining("elsewhere", {"PROLIFIC_PID": "SECRETPERSON"})) == "erased"
    assert refused(service, Joining("SECRETBROWSER")) == "erased"
    with pytest.raises(Refused, match="erased, as you asked"):
        service.questions(service.rater_of(token)).result()
    assert "SECRET" not in str([rows(service, table) for table in schema.metadata.sorted_tables])
    service.join(Joining("browser1", {"PROLIFIC_PID": "another"})).result()
    assert len(rows(service, schema.rater)) == 3


@sqlite
def test_an_erased_invitation_is_gone_with_its_name(serve, take_part):
    service = serve(INVITED)
    link = parts(invite(service, ["SECRETPERSON"])["SECRETPERSON"])
    finish(service, take_part(service, **link))
    erase_rater(service.database, "words", "SECRETPERSON")
    assert rows(service, schema.invitation) == []
    assert list(invite(service, ["SECRETPERSON", "ann"])) == ["ann"], "who was erased is not invited again"
    assert [row["identity"] for row in rows(service, schema.invitation)] == ["ann"]
    assert refused(service, Joining("browser1", link)) == "erased"
    assert refused(service, Joining("browser1", {**link, "key": "guessed"})) == "not_named"


@sqlite
def test_who_finished_and_was_erased_is_told_so(tmp_path, url):
    site = open_site(write_study(tmp_path / "words", "[question]\nnumber = 2"), url)
    service = site.studies["words"]
    try:
        token = service.join(Joining("browser0")).result()
        service.consent(1).result()
        finish(service, 1)
        service.survey(1, {}).result()
        erase_rater(service.database, "words", "r0001")

        async def ask():
            transport = httpx.ASGITransport(create_app(site))
            async with httpx.AsyncClient(transport=transport, base_url="http://study") as client:
                return await client.get("/api/words/me", headers={"Authorization": f"Bearer {token}"})

        reply = asyncio.run(ask())
        assert (reply.status_code, reply.json()["code"]) == (410, "erased")
    finally:
        site.close()
