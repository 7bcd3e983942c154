"""The admin in a real browser: the one-time link, the login, a study that is watched while people answer, pausing."""

import json
import os
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
import uvicorn
from playwright.sync_api import expect

import similitude as sm
from similitude.study.states import set_state
from similitude.study.store import schema
from similitude.study.web.app import create_app
from similitude.study.web.auth import Door
from similitude.study.web.login import first_link
from tests.patience import PATIENCE, until, until_it_fits
from tests.study.live import UNLIKE_OTHERS, answer, fill, join, open_study, worker_of, write_study

expect.set_options(timeout=PATIENCE * 1000)
PICTURES = os.environ.get("SIMILITUDE_PICTURES")  # a folder for screenshots, to be looked at


class Proxy:
    """Puts an application under a path, as nginx does by `location /lab/faces/ { proxy_pass http://.../; }`."""

    def __init__(self, app, root):
        self.app, self.root = app, root

    async def __call__(self, scope, receive, send):
        path = scope.get("path", "")
        if scope["type"] != "http" or not path.startswith(self.root):
            raise RuntimeError(f"{path} is asked of the proxy, expected a path under {self.root}")
        await self.app({**scope, "path": path.removeprefix(self.root)}, receive, send)


@pytest.fixture
def serving_site():
    """Serves a site on a port of its own, at its root or under a path, until the test is over; returns its address."""
    running = []

    def serve(site, root=""):
        app = Proxy(create_app(site, root), root)
        server = uvicorn.Server(
            uvicorn.Config(app, port=0, log_level="error", ws="none", lifespan="off", timeout_graceful_shutdown=1)
        )
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread, site))
        while not server.started:
            time.sleep(0.02)
        return f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}{root}"

    yield serve
    for server, thread, site in running:
        server.should_exit = True
        thread.join()
        site.close()


@pytest.fixture(params=[pytest.param("", marks=pytest.mark.whole), "/lab/faces"])
def address(tmp_path, request, serving_site):
    """A study of swatches under way, served at its root or under a path."""
    site, service = open_study(write_study(tmp_path / "colours"))
    return serving_site(site, request.param), site, service


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    page.asked, page.faults = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("console", lambda message: message.type == "error" and page.faults.append(message.text))
    yield page
    context.close()


def picture(page, name):
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)


def learn(service, rounds):
    worker = worker_of(service)
    fill(service, 1, 40, seed=77, contrary=True)
    for seed in range(rounds):
        fill(service, 2, 40, seed=seed)
        worker.step()
    return worker


def shows_state(page, worker, state):
    """Wait for a state of the model; on a busy machine a worker that takes no step meanwhile would count as dead."""

    def shown():
        worker.beat()
        return page.locator("#model-state").inner_text()

    until(lambda: shown() == state, lambda: f"the model is {shown()}, not {state}", every=0.5)


def drawn_in(page):
    """The colour of a chart's words, when it is that of the page's."""
    inks = """() => [document.querySelector("#curve .xtitle"), document.body].map((one) => getComputedStyle(one))
        .map((style, k) => (k ? style.color : style.fill))"""
    until(lambda: len(set(page.evaluate(inks))) == 1, lambda: f"chart and page differ: {page.evaluate(inks)}")
    return page.evaluate(inks)[0]


def test_an_admin_sets_a_password_watches_exports_pauses_and_leaves(address, page, tmp_path):
    url, site, service = address
    worker = learn(service, 6)
    page.goto(url + first_link(site))
    picture(page, "admin-first")
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password, at least").fill("a long password")
    page.get_by_label("The same password again").fill("a long password")
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/-/login")
    picture(page, "admin-login")
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("a long password")
    page.keyboard.press("Enter")
    page.wait_for_url(url + "/admin")
    picture(page, "admin-overview")
    page.get_by_role("link", name="Colours").click()

    expect(page.locator("#answers")).to_have_text("520")
    page.wait_for_selector("#map .scatterlayer .point")
    assert page.locator("#map .scatterlayer .trace:last-child .point").count() == 12
    assert "noise ceiling" in page.locator("#advice").inner_text()
    flagged = page.locator("#raters tr.flagged").first.inner_text()
    assert any(note in flagged for note in UNLIKE_OTHERS)
    shows_state(page, worker, "learning")
    picture(page, "admin-study")

    light, dark = ((page.emulate_media(color_scheme=scheme), drawn_in(page))[1] for scheme in ("light", "dark"))
    assert light != dark, "the charts are drawn anew in the colours of the page"
    picture(page, "admin-study-dark")
    page.emulate_media(color_scheme="light")

    answer(service, join(service), 40, np.random.default_rng(5))
    worker.step()
    expect(page.locator("#answers")).to_have_text("560")

    with page.expect_download() as sent:
        page.get_by_role("link", name="CSV").click()
    assert sent.value.suggested_filename == "colours.csv"
    sent.value.save_as(tmp_path / "answers.csv")
    assert sm.read_comparisons(tmp_path / "answers.csv").n_answers == 560

    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#running")).to_have_text("paused")
    assert service.questions(join(service)).result()["questions"] == []
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("#running")).to_have_text("live")

    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_selector("#map .scatterlayer .point")
    until_it_fits(page)
    picture(page, "admin-study-phone")

    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/admin/-/login")
    page.goto(url + "/admin/colours")
    assert page.url.endswith("/admin/-/login")
    assert [asked for asked in page.asked if not asked.startswith((url, "data:", "blob:"))] == []
    assert page.faults == []


def log_in(page, url, site):
    Door(site.database).use_link(first_link(site).rsplit("/", 1)[1], "ada", "a long password")
    page.goto(url + "/admin")
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("a long password")
    page.keyboard.press("Enter")
    page.wait_for_url(url + "/admin")


def test_the_link_for_raters_is_copied_by_keyboard_and_says_what_the_state_means(address, page):
    url, site, service = address
    set_state(site.database, service.study_id, "draft", "ada")
    log_in(page, url, site)
    page.goto(url + "/admin/colours")
    field, button = page.get_by_label("Link to copy"), page.get_by_role("button", name="Copy")
    expect(field).to_have_value(f"{url}/s/colours/")
    expect(page.locator("#state-means")).to_contain_text("Draft: Nobody is let in.")
    field.focus()
    page.keyboard.press("Tab")
    expect(button).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Copied.")).to_be_visible()
    expect(button).to_be_focused()
    page.evaluate("document.querySelector('main').appendChild(document.createElement('textarea')).focus()")
    page.keyboard.press("Control+V")
    expect(page.locator("main > textarea")).to_have_value(f"{url}/s/colours/")
    set_state(site.database, service.study_id, "live", "ada")
    expect(page.locator("#state-means")).to_contain_text("Live: People are let in")
    assert page.faults == []


def test_the_chart_holds_points_far_below_chance_and_says_of_which_answers_they_are(address, page):
    url, site, service = address
    worker = learn(service, 2)
    with site.database.write() as connection:
        connection.execute(sa.update(schema.curve).values(accuracy=0.35, low=0.2, high=0.5))
    log_in(page, url, site)
    page.goto(url + "/admin/colours")
    page.wait_for_selector("#curve .scatterlayer .point")
    axis = "() => document.getElementById('curve').layout.yaxis.range"
    low, high = page.evaluate(axis)
    assert low < 0.2
    assert high > 1
    answers = worker.learner.n_answers
    for place in ("#accuracy-more", "#map-note", "#advice", "#items", "#raters-as-of"):
        assert re.search(f"as of {answers} answers, \\d", page.locator(place).inner_text(), re.IGNORECASE), place
    assert "chance is 50.0%" in page.locator("#accuracy-more").inner_text()
    assert page.faults == []


@pytest.fixture
def pictured(tmp_path, serving_site):
    """A study of sixty pictures, whose map has a clump."""
    folder, names = tmp_path / "things", [f"thing{k:02d}" for k in range(60)]
    (folder / "items").mkdir(parents=True)
    (folder / "study.toml").write_text('title = "Things"\n[question]\nnumber = 5\n', encoding="utf-8")
    for page in ("consent.md", "instructions.md"):
        (folder / page).write_text("Look.", encoding="utf-8")
    square = (
        "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><path d='M0 0h9v9H0z' fill='#0a{:02d}99'/></svg>"
    )
    for k, name in enumerate(names):
        (folder / "items" / f"{name}.svg").write_text(square.format(k), encoding="utf-8")
    site, service = open_study(folder)
    places = np.random.default_rng(0).normal(size=(60, 2))
    places[:20] = 0.2 * places[:20] + 1
    worker_of(service).step()
    found = {
        "learned": 300,
        "at": 0.0,
        "raters": [],
        "ceiling": None,
        "ceiling_known": False,
        "advice": None,
        "items": [],
    }
    found["map"] = {"names": service.names, "places": places.tolist()}
    with site.database.write() as connection:
        connection.execute(sa.update(schema.model).values(findings=json.dumps(found)))
    return serving_site(site), site


@pytest.mark.parametrize("width", [1280, 390])
def test_no_picture_hides_another_on_the_map(pictured, page, width):
    url, site = pictured
    page.set_viewport_size({"width": 1280, "height": 900})
    log_in(page, url, site)
    page.goto(url + "/admin/things")
    page.wait_for_selector("#map image")
    page.set_viewport_size({"width": width, "height": 900})
    boxes = """() => [...document.querySelectorAll("#map image")].map((one) => one.getBoundingClientRect())
        .map((box) => [box.x, box.y, box.width])"""

    def closest():
        found = np.array(page.evaluate(boxes))
        apart = np.abs(found[:, None, :2] - found[:, :2]).max(2) + 1e9 * np.eye(len(found))
        return float((apart - found[0, 2]).min()), len(found)

    until(lambda: closest()[0] > -0.01, lambda: f"a picture hides another: {closest()}")
    assert closest()[1] >= 40
    picture(page, f"admin-pictures-{width}")
    assert page.faults == []


def test_a_study_without_answers_says_what_it_waits_for(address, page):
    url, site, service = address
    worker = worker_of(service)
    worker.step()
    log_in(page, url, site)
    page.goto(url + "/admin/colours")
    shows_state(page, worker, "waiting")
    assert "A first model needs 12 comparisons" in page.locator("#model-words").inner_text()
    assert "Nobody has come yet." in page.locator("#raters").inner_text()
    assert page.locator("#accuracy-more").inner_text() == "needs a model"
    picture(page, "admin-empty")
    with site.database.read() as connection:
        assert connection.execute(schema.pool.select()).all() == []
    fill(service, 1, 14)
    worker_of(service).step()
    page.wait_for_selector("#map .scatterlayer .point")
    assert page.locator("#accuracy-more").inner_text() == "needs more answers to evenly drawn questions"
    assert page.faults == []


def test_a_rater_takes_part_wherever_the_server_stands(address, page):
    url, _, service = address
    page.goto(url + "/s/colours/")
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Start").click()
    expect(page.locator("#place")).to_have_text("Question 1 of 40")
    page.wait_for_selector(".others .other:enabled")
    with page.expect_response("**/answers"):
        page.keyboard.press("1")
    expect(page.locator("#place")).to_have_text("Question 2 of 40")
    with service.database.read() as connection:
        assert len(connection.execute(schema.answer.select()).all()) == 1
    assert [asked for asked in page.asked if not asked.startswith((url, "data:"))] == []
    assert page.faults == []
