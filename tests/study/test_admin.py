"""What admins see: figures, flags, the state of the model; events; pause; texts that are never HTML."""

import asyncio
import json

import numpy as np
import pytest
import sqlalchemy as sa

import similitude as sm
from similitude.study.election import PATIENCE
from similitude.study.people.flags import Judgements
from similitude.study.proxies import Outside
from similitude.study.states import MEANING
from similitude.study.store import schema
from similitude.study.web import admin
from similitude.study.web.admin_page import UNAVAILABLE
from similitude.study.web.watch import Watch
from tests.study.live import NAMES, UNLIKE_OTHERS, answer, fill, join, open_study, worker_of, write_study
from tests.study.test_login import PASSWORD, Browser, app_of

CATCH = """[catch]
every = 4
pass_share = 0.7
[[catch.questions]]
shown = ["c00", "c01", "c02"]
correct = [2]
"""


@pytest.fixture
def service(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours", catch=CATCH, title="Colours <b>"))
    service.site = site
    yield service
    site.close()


@pytest.fixture
def app(service):
    return app_of(service.site)


@pytest.fixture
def browser(app):
    browser = Browser(app)
    browser.log_in()
    return browser


def test_overview_and_page_escape_what_people_wrote(service, browser):
    fill(service, 2, 3)
    text = browser.get("/admin").text
    assert "Colours &lt;b&gt;" in text
    assert "Colours <b>" not in text
    assert "<b>6</b> answers" in text
    page = browser.get("/admin/colours").text
    assert "Colours &lt;b&gt;" in page
    assert "http://" not in page
    assert "https://" not in page


def test_links_for_others_begin_with_the_public_address_where_there_is_one(service):
    reached = Outside.of("https://study.example.org/lab/")
    assert (reached.origin, reached.root) == ("https://study.example.org", "/lab")
    app = app_of(service.site, origin=reached.origin)
    browser = Browser(app)
    browser.log_in()
    assert 'value="https://study.example.org/s/colours/"' in browser.get("/admin/colours").text
    made = browser.send("/admin/colours/share", "/admin/colours/share", name="us", days="3").text
    assert 'value="https://study.example.org/live/' in made


def test_nothing_comes_from_elsewhere(browser):
    for name in ("admin.css", "admin.js"):
        text = browser.get(f"/static/admin/{name}").text
        assert "http" not in text.replace("http-equiv", "")
    assert browser.get("/static/admin/../../login.py").status_code == 404
    assert browser.get("/static/admin/base.html").status_code == 404
    assert len(browser.get("/admin/-/plotly.js").content) > 1_000_000


def test_pictures_on_the_map_are_asked_for_under_the_path_of_a_proxy(tmp_path):
    folder = write_study(tmp_path / "colours")
    (folder / "study.toml").write_text('title = "Shapes"\n[question]\nnumber = 3\n', encoding="utf-8")
    (folder / "items").mkdir()
    for name in ("a b", "c", "d"):
        (folder / "items" / f"{name}.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
    site, _ = open_study(folder)
    app = app_of(site, "/lab")
    reply = Browser(app).get("/admin/colours", headers={"accept": "text/html"})
    assert (reply.status_code, reply.headers["location"]) == (303, "/lab/admin/-/login")
    token = app.state.door.log_in("ada", PASSWORD)
    reply = Browser(app).get("/admin/colours/items", headers={"cookie": f"similitude_admin={token}"})
    assert reply.json()["a b"]["address"] == "/lab/api/colours/items/a%20b"
    site.close()


def test_an_unknown_study_is_not_found(browser):
    assert browser.get("/admin/nothing").status_code == 404


def test_counts(service):
    watch = Watch(service)
    before = watch.look()["now"]
    assert before["totals"] == {
        "raters": 0, "finished": 0, "answers": 0, "busy": 0, "limit": None, "seats": 0, "left_out": 0, "own": 0,
        "length": 50, "per_minute": 0.0, "latest": None,
    }  # fmt: skip
    fill(service, 2, 10)
    answer(service, join(service), 2, np.random.default_rng(0), outcome="skipped")
    now = watch.look()["now"]
    assert (now["totals"]["answers"], now["totals"]["raters"], now["totals"]["busy"]) == (22, 3, 3)
    assert sum(now["strategies"].values()) == 22
    assert 4 <= now["strategies"]["catch"] <= 5
    assert now["totals"]["own"] == 22 - now["strategies"]["catch"]
    assert now["outcomes"] == {"answered": 20, "skipped": 2}
    assert len(now["minutes"]) == 60
    assert sum(count for _, count in now["minutes"]) == 22
    late = Watch(service).look()["now"]
    same = ("paused", "strategies", "outcomes", "raters")
    assert {name: late[name] for name in same} == {name: now[name] for name in same}, "who comes later sees the same"


def test_minutes_move_on(service):
    fill(service, 1, 5)
    watch = Watch(service)
    watch.look()
    now = service.database.clock.now()
    assert watch._tally.minutes(now + 30 * 60)[-1][1] == 0
    assert sum(count for _, count in watch._tally.minutes(now + 59 * 60)) == 5
    assert sum(count for _, count in watch._tally.minutes(now + 61 * 60)) == 0


@pytest.mark.slow
def test_raters_with_something_to_look_at_come_first(service):
    fill(service, 6, 50)
    fill(service, 1, 50, seed=9, contrary=True)
    fill(service, 1, 10, seed=3)
    worker_of(service).step()
    raters = Watch(service).look()["now"]["raters"]
    assert raters[0]["code"] == "r0007"
    caught, unlike = raters[0]["flags"]
    assert caught == f"fails catch trials: {raters[0]['catches_passed']} of 10 right"
    assert unlike in [f"{note} (of 40 answers)" for note in UNLIKE_OTHERS]
    assert raters[0]["judged"] == 40
    assert raters[1]["code"] == "r0008"
    assert raters[-1]["agreement"] > 0.5  # .76 of 50 answers; of three draws ± .06
    assert raters[0]["catches"] == 10
    assert all(rater["catches_passed"] == rater["catches"] and not rater["flags"] for rater in raters[1:])


def test_failed_catch_trials_are_flagged(service):
    rater = join(service)
    answer(service, rater, 50, np.random.default_rng(0))
    with service.database.write() as connection:
        connection.execute(sa.update(schema.rater).values(catches_passed=3))
    assert Watch(service).look()["now"]["raters"][0]["flags"] == ["fails catch trials: 3 of 10 right"]


ROW = {"catches": 0, "catches_passed": 0, "origin": "joined", "withheld": None}


def judged(name, seconds, answers=40, **more):
    return {"names": name, "seconds": seconds, "answers": answers, **more}


def test_haste_and_sides_are_flagged_with_how_many_answers_say_so(service):
    fast = judged("r0001", 0.3, side=0.95, side_p_value=0.2)
    judgements = Judgements(service.study, {"raters": [fast, judged("r0002", 1.5), judged("r0003", 1.7)]})
    said = "much faster than the others: 0.3 s an answer, they 1.5 s (of 40 answers)"
    assert judgements.flags(ROW, fast) == [said]
    sided = judged("r0002", 1.3, side=0.95, side_p_value=1e-5)
    assert judgements.flags(ROW, sided) == ["prefers one side of the screen: 95% there (of 40 answers)"]
    assert Judgements(service.study, None).flags(ROW, {}) == []


@pytest.mark.parametrize(
    ("own", "others"),
    [
        (40, [1]),  # one other, who has hardly begun
        (40, [40]),  # of two, who is the fast one and who the slow?
        (40, [40, 9]),
        (9, [40, 40, 40]),
    ],
)
def test_nobody_is_called_fast_by_few_answers(service, own, others):
    fast = judged("r0001", 0.3, own)
    slow = [judged(f"r{k:04d}", 1.5, answers) for k, answers in enumerate(others, 2)]
    assert Judgements(service.study, {"raters": [fast, *slow]}).flags(ROW, fast) == []


def test_figures_say_of_how_many_answers_and_when_they_are(service):
    watch = Watch(service)
    assert watch.look()["model"]["as_of"] is None
    fill(service, 3, 40)
    worker_of(service).step()
    fill(service, 1, 5, seed=4)
    found, now = watch.look(), service.database.clock.now()
    own = found["now"]["totals"]["own"] - 4  # of the last five, one is a catch trial
    assert found["model"]["as_of"]["answers"] == own
    assert found["shared"]["as_of"] == found["model"]["as_of"]
    point = found["model"]["curve"][-1]
    assert point["answers"] == own
    assert found["model"]["as_of"]["at"] <= found["now"]["totals"]["latest"] <= now
    assert abs(point["at"] - found["model"]["as_of"]["at"]) < PATIENCE


@pytest.mark.parametrize("state", ["draft", "pilot", "live", "paused", "closed"])
def test_the_page_says_what_its_state_means(service, state):
    phase = "live" if state == "paused" else state
    with service.database.write() as connection:
        connection.execute(sa.update(schema.study).values(phase=phase, paused=state == "paused"))
    assert Watch(service).look()["now"]["means"] == MEANING[state]


def test_the_state_of_the_model_and_what_it_means(service):
    hands = [0.0]
    watch = Watch(service, monotonic=lambda: hands[0])
    assert watch.look()["now"]["model"]["state"] == "starting"
    worker = worker_of(service)
    worker.step()
    waiting = watch.look()["now"]["model"]
    assert waiting["state"] == "waiting"
    assert "A first model needs 12 comparisons" in waiting["words"]
    fill(service, 2, 50)
    behind = watch.look()["now"]["model"]
    assert behind["behind"] == 100
    worker.step()
    state = watch.look()
    assert state["now"]["model"]["state"] == "learning"
    assert state["now"]["model"]["behind"] == 0
    assert state["model"]["map"]["names"] == NAMES
    assert state["model"]["advice"]["verdict"] == "early"
    fill(service, 2, 40, seed=2)
    assert watch.look()["now"]["model"]["state"] == "behind"
    hands[0] += 2 * PATIENCE
    dead = watch.look()["now"]["model"]
    assert dead["state"] == "dead"
    assert "Random questions go on" in dead["words"]
    worker.release()
    assert watch.look()["now"]["model"]["state"] == "starting"


def test_a_heartbeat_from_the_future_does_not_hide_a_death(service):
    worker_of(service).step()
    with service.database.write() as connection:
        connection.execute(sa.update(schema.model).values(heartbeat=service.database.clock.now() + 1e6))
    hands = [0.0]
    watch = Watch(service, monotonic=lambda: hands[0])
    assert watch.look()["now"]["model"]["state"] == "waiting"
    hands[0] += 2 * PATIENCE
    assert watch.look()["now"]["model"]["state"] == "dead"


def read(text):
    """Events by name, from one message of the stream."""
    found = {}
    for block in text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "event" in fields:
            found[fields["event"]] = json.loads(fields["data"])
    return found


def test_events_hold_the_state_and_are_sent_when_it_changes(service):
    async def follow():
        watch = Watch(service, interval=0.05)
        looks = 0
        look = watch.look

        def counted():
            nonlocal looks
            looks += 1
            return look()

        watch.look = counted
        streams = [watch.events() for _ in range(20)]
        starts = [await anext(stream) for stream in streams]
        firsts = [read(await anext(stream)) for stream in streams]
        at_first = looks
        await asyncio.to_thread(fill, service, 1, 3)
        later = {}
        while "now" not in later or later["now"]["totals"]["answers"] < 3:
            later = read(await anext(streams[0]))
        for stream in streams:
            await stream.aclose()
        await watch._task
        return starts, firsts, at_first, later

    starts, firsts, looks, later = asyncio.run(follow())
    assert starts == ["retry: 3000\n\n"] * 20
    assert all(set(first) == {"now", "model", "fault"} for first in firsts)
    assert looks <= 3, "computed once, however many look"
    assert "model" not in later, "only what changed"


def test_a_fault_of_the_database_is_told_to_who_watches_but_not_where_it_is(service, monkeypatch, caplog):
    async def follow():
        watch = Watch(service, interval=0.01)
        monkeypatch.setattr(watch, "look", lambda: 1 / 0)
        stream = watch.events()
        await anext(stream)
        found = read(await anext(stream))
        await stream.aclose()
        return found

    assert asyncio.run(follow()) == {"fault": {"detail": UNAVAILABLE}}
    assert "division by zero" in caplog.text


def test_events_end_with_the_session(service, app):
    async def follow():
        door = app.state.door
        token = door.log_in("ada", PASSWORD)
        stream = admin.while_logged_in(Watch(service, interval=0.01), door, token, every=0.0)
        await anext(stream)
        await anext(stream)
        door.log_out(token)
        return [event async for event in stream]

    assert len(asyncio.run(follow())) <= 2


def test_pause_and_resume(service, browser):
    browser.send("/admin/colours", "/admin/colours/pause")
    rater = join(service)
    assert service.questions(rater).result() | {"questions": []} == {
        "questions": [], "answered": 0, "length": 50, "done": False, "paused": True, "first": 0,
        "study_version": service.version, "condition": None,
    }  # fmt: skip
    assert browser.get("/admin/colours/state").json()["now"]["paused"]
    assert "paused" in browser.get("/admin").text
    browser.send("/admin/colours", "/admin/colours/resume")
    assert len(service.questions(rater).result()["questions"]) == service.study.choose.ahead


def test_items_as_they_are_drawn(browser):
    items = browser.get("/admin/colours/items").json()
    assert list(items) == NAMES
    assert items["c00"]["kind"] == "colour"


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_answers_are_downloaded_as_they_are_read(browser, service, tmp_path, form):
    assert f"export?format={form}" in browser.get("/admin/colours").text
    answer(service, join(service), 5, np.random.default_rng(0))  # one of them a catch trial
    sent = browser.get(f"/admin/colours/export?format={form}")
    assert f'filename="colours.{form}"' in sent.headers["content-disposition"]
    path = tmp_path / f"colours.{form}"
    path.write_bytes(sent.content)
    read = sm.read_comparisons(path)
    assert read.n_answers == 4
    assert list(read.names) == NAMES


def test_no_download_of_nothing_nor_of_another_kind(browser):
    refused = browser.get("/admin/colours/export")
    assert refused.status_code == 409
    assert "no answers to write yet" in refused.text
    assert browser.get("/admin/colours/export?format=exe").status_code == 422
