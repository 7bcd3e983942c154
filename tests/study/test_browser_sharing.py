"""Pages of the admins and of those with a link, in a real browser: shared, embedded, reported on, invited to."""

import contextlib
import http.server
import threading

import numpy as np
import pytest
import uvicorn

from similitude.study.web import live, making
from similitude.study.works import DIMENSIONS, Works
from tests.patience import PATIENCE, until, until_it_fits
from tests.study.axe import violations
from tests.study.conftest import watch
from tests.study.live import answer, fill, join, open_study, worker_of, write_study
from tests.study.test_login import PASSWORD, app_of

pytestmark = pytest.mark.slow
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True, "is_mobile": True}
DIMENSION = {
    "number": 1, "name": "c01, c07", "suggested": True, "share": "61%", "doubtful": False,
    "items": [{"name": "c01", "share": 1.0}, {"name": "c07", "share": 0.6}],
}  # fmt: skip


class Embedding(http.server.BaseHTTPRequestHandler):
    """A page of a lab's own, with another's within."""

    source = ""

    def do_GET(self):
        text = (
            f'<!doctype html><title>Lab</title><iframe src="{self.source}" width="900" height="700"></iframe>'.encode()
        )
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def lab():
    """A site of a lab that embeds a page, and one that was not named."""
    servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Embedding) for _ in range(2)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield [f"http://localhost:{server.server_port}" for server in servers]
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture(scope="module")
def served(tmp_path_factory, lab):
    """A study with answers and a model; the addresses, the study, and who opens doors."""
    share = f'[share]\nframe_ancestors = ["{lab[0]}"]'
    site, service = open_study(write_study(tmp_path_factory.mktemp("shared") / "colours", catch=share))
    fill(service, 4, 30)
    worker_of(service).step()
    app = app_of(site)
    config = uvicorn.Config(app, port=0, log_level="error", ws="none", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started, "the server did not start")
    yield f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}", service
    server.should_exit = True
    thread.join()
    site.close()


@contextlib.contextmanager
def opened(browser, **options):
    context = browser.new_context(**options)
    wrong = []
    watch(context, wrong)
    yield context.new_page()
    context.close()
    assert wrong == []


def log_in(page, address, name="ada"):
    page.goto(f"{address}/admin/-/login")
    page.locator("[name=name]").fill(name)  # keys that come before the page has its focus would be lost
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Studies").wait_for()


def link_made(page, address):
    page.goto(f"{address}/admin/colours/share")
    page.get_by_label("Whom it is for").fill("our group")
    page.get_by_label("Days for which").press("Enter")
    found = page.get_by_label("Link to copy")
    found.wait_for()
    until(lambda: found.input_value().startswith("http"), "the address has no host")
    return found.input_value()


def test_a_study_is_shared_watched_embedded_and_ended(served, lab, browser, shot, monkeypatch):
    monkeypatch.setattr(live, "_CHECK", 0.5)
    address, service = served
    works = Works(service.database)
    with opened(browser) as page, opened(browser, **PHONE, color_scheme="dark") as guest:
        log_in(page, address)
        link = link_made(page, address)
        assert link.startswith(f"{address}/live/")
        assert page.locator("code.token").inner_text().startswith(f'<iframe src="{link}"')
        page.get_by_role("button", name="Copy").press("Enter")
        page.get_by_text("Copied.").wait_for()
        shot(page, "share")
        assert violations(page) == []
        guest.goto(link)
        guest.locator("#map .scatterlayer").wait_for(state="attached")
        assert guest.locator("#answers").inner_text().startswith("120 answers so far, the last at ")
        assert "as of 120 answers, " in guest.locator("#map-note").inner_text()
        assert guest.locator("#dimensions").is_hidden()
        works.finish(works.ask(service.study_id, DIMENSIONS, "ada"), b"", 120, {"dimensions": [DIMENSION]})
        answer(service, join(service), 3, np.random.default_rng(5))
        guest.get_by_text("123 answers so far").wait_for()  # by itself
        guest.get_by_role("heading", name="1 c01, c07?").wait_for()
        until_it_fits(guest)
        assert violations(guest) == []
        shot(guest, "live-phone")
        Embedding.source = link
        page.goto(f"{lab[0]}/")
        page.frame_locator("iframe").locator("#map .scatterlayer").wait_for(state="attached")
        shot(page, "live-embedded")
        page.goto(f"{address}/admin/colours/share")
        page.get_by_role("button", name="End the link for our group").first.press("Enter")
        page.get_by_role("cell", name="revoked").wait_for()
        guest.get_by_text("This link was ended.").wait_for()
        guest.reload()
        guest.get_by_role("heading", name="This link does not work").wait_for()


def test_a_site_that_was_not_named_embeds_nothing(served, lab, browser):
    address, _ = served
    context = browser.new_context()
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    log_in(page, address)
    Embedding.source = link_made(page, address)
    for source, outer in ((Embedding.source, lab[1]), (f"{address}/admin/-/login", lab[0])):
        Embedding.source = source
        with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
            page.goto(f"{outer}/")
    context.close()


@pytest.mark.whole  # `test_browser_design` presses the button, too
def test_the_report_is_made_by_a_button_and_seen(served, browser, shot, monkeypatch):
    monkeypatch.setattr(making, "_MINUTES", (0.02, 2))
    address, _ = served
    with opened(browser, **PHONE) as page:
        log_in(page, address)
        page.goto(f"{address}/admin/colours")
        page.get_by_role("link", name="Report").click()
        assert violations(page) == []
        until_it_fits(page)
        page.get_by_label("Time it may take").select_option("0.02")
        page.locator("#work-report button").press("Enter")
        page.locator("#work-report progress:not([hidden])").wait_for()
        shot(page, "report-under-way")
        again = page.locator("#work-dimensions button")
        again.click()
        page.get_by_role("alert").get_by_text("is being made already, as ada asked").wait_for()
        page.goto(f"{address}/admin/colours/report")
        page.locator("#work-report").get_by_role("link", name="View").wait_for()
        shot(page, "report-made")
        assert violations(page) == []
        page.locator("#work-report").get_by_role("link", name="View").click()
        page.get_by_role("heading", name="Colours").first.wait_for()
        assert page.evaluate("self.origin") == "null"  # in a box of its own, away from the session
        shot(page, "report-seen")


def test_somebody_is_invited_and_sees_what_a_viewer_sees(served, browser, shot):
    address, _ = served
    with opened(browser) as page, opened(browser, **PHONE, color_scheme="dark") as guest:
        log_in(page, address)
        page.goto(f"{address}/admin/colours/members")
        page.get_by_role("radio", name="viewer").focus()
        page.keyboard.press("Enter")
        found = page.locator("code.token").filter(has_text="http")
        found.wait_for()
        shot(page, "members")
        assert violations(page) == []
        guest.goto(found.inner_text())
        guest.get_by_text("as viewer").wait_for()
        assert violations(guest) == []
        shot(guest, "invited")
        guest.get_by_label("Name", exact=True).fill("grace")
        guest.get_by_label("Password, at least").fill(PASSWORD)
        guest.get_by_label("The same password again").fill(PASSWORD)
        guest.keyboard.press("Enter")
        guest.wait_for_url("**/login")
        log_in(guest, address, "grace")
        guest.get_by_role("link", name="Colours").click()
        guest.locator("#map .scatterlayer").wait_for(state="attached")
        assert guest.get_by_role("link", name="Members").count() == 0
        assert guest.locator("#pause").is_hidden()
        until_it_fits(guest)
        assert violations(guest) == []
        shot(guest, "viewer")


def test_webhooks_by_keyboard_on_a_phone(served, browser, shot):
    address, _ = served
    with opened(browser, **PHONE) as page:
        log_in(page, address)
        page.goto(f"{address}/admin/colours/webhooks")
        page.get_by_label("Address").fill("http://127.0.0.1:9/told")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="The secret of the new webhook").wait_for()
        page.get_by_role("button", name="Try the webhook").press("Enter")
        page.get_by_role("cell", name="waits").wait_for()
        until_it_fits(page)
        assert violations(page) == []
        shot(page, "webhooks")
        page.get_by_role("button", name="End the webhook").press("Enter")
        page.get_by_role("cell", name="ended", exact=True).wait_for()
