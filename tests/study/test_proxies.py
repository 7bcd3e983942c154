"""Behind a proxy: nginx with TLS as the documentation says it, and one that comes from another address."""

from __future__ import annotations

import re
from contextlib import closing, contextmanager
from urllib.parse import urljoin

import httpx
import pytest

from similitude.study.site import open_site
from similitude.study.web.auth import Door
from tests.study.making import SHORT, words, write_study
from tests.study.proxies import DOCS, certificate, free_port, nginx, nginx_or_skip, proxy_from, serving_behind, visitor
from tests.systems import linux_only

pytestmark = [linux_only, pytest.mark.slow]  # where all of 127.0.0.0/8 is this machine
PASSWORD = "a long password"
EVIL = "evil.example"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A study with an admin."""
    root = tmp_path_factory.mktemp("studies")
    toml = f'title = "Words"\n{SHORT}[question]\nnumber = 3\n[raters]\njoins_per_address = 2\n'
    write_study(root, "pathy", toml, words())
    with closing(open_site(root)) as site:
        door = Door(site.database)
        door.use_link(door.make_link().rsplit("/", 1)[1], "ada", PASSWORD)
    return root


def log_in(client, base="", password=PASSWORD, headers=None):
    """Log in through the form, as a browser does."""
    page = client.get(f"{base}/admin/-/login", headers=headers)
    form = {"csrf": re.search(r'name="csrf" value="([^"]+)"', page.text)[1], "name": "ada", "password": password}
    sent = {**(headers or {}), "cookie": cookies_of(page)}
    return client.post(f"{base}/admin/-/login", data=form, headers=sent)


def cookies_of(reply):
    return "; ".join(cookie.split(";")[0] for cookie in reply.headers.get_list("set-cookie"))


def whole(folder, port):
    """The documentation's nginx.conf, with ports and certificate of this test; its port, its text, the certificate."""
    trust, key = certificate(folder, "study.example.org")
    https, plain = free_port(), free_port()
    text = (DOCS / "nginx.conf").read_text(encoding="utf-8")
    for documented, here in (
        ("listen 443 ", f"listen 127.0.0.1:{https} "), ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("http://127.0.0.1:8000", f"http://127.0.0.1:{port}"),
        ("/etc/letsencrypt/live/study.example.org/fullchain.pem", str(trust)),
        ("/etc/letsencrypt/live/study.example.org/privkey.pem", str(key)),
    ):  # fmt: skip
        assert documented in text, f"the documentation's configuration has no {documented!r}"
        text = text.replace(documented, here)
    return https, text, trust


def under_a_path(folder, port):
    """The documentation's nginx-path.conf, inside a server of its own."""
    trust, key = certificate(folder, "example.org")
    https = free_port()
    inside = (DOCS / "nginx-path.conf").read_text(encoding="utf-8")
    assert "http://127.0.0.1:8000/" in inside
    text = f"server {{\nlisten 127.0.0.1:{https} ssl;\nserver_name example.org;\nssl_certificate {trust};\n"
    text += f"ssl_certificate_key {key};\n{inside.replace('127.0.0.1:8000', f'127.0.0.1:{port}')}\n}}\n"
    return https, text, trust


@pytest.fixture(scope="module", params=["", "/lab/faces"])
def behind(request, root, tmp_path_factory):
    """A server behind nginx, at the root of a host or under a path: its port, host, path and certificate."""
    nginx_or_skip()
    host = "example.org" if request.param else "study.example.org"
    folder = tmp_path_factory.mktemp("nginx")
    with serving_behind(root, "--public-url", f"https://{host}{request.param}") as port:
        https, text, trust = (under_a_path if request.param else whole)(folder, port)
        with nginx(folder, text, https):
            yield https, host, request.param, trust


def test_links_lead_to_pages_with_and_without_the_last_slash(behind):
    https, host, base, trust = behind
    with visitor(https, host, trust) as client:
        assert client.get(f"{base}/s/pathy/").status_code == 200
        lost = client.get(f"{base}/s/pathy?rater=ann&x=1")
        assert lost.status_code == 307
        assert urljoin(f"https://{host}{base}/s/pathy", lost.headers["location"]) == (
            f"https://{host}{base}/s/pathy/?rater=ann&x=1"
        )
        front = client.get(f"{base}/")
        assert urljoin(f"https://{host}{base}/", front.headers["location"]) == f"https://{host}{base}/s/pathy/"
        for path in (f"{base}/admin", f"{base}/admin/"):
            assert client.get(path, headers={"accept": "text/html"}).headers["location"].startswith(f"{base}/admin")
        script = re.search(r'src="([^"]+rater\.js)"', client.get(f"{base}/s/pathy/").text)[1]
        assert client.get(urljoin(f"{base}/s/pathy/", script)).status_code == 200


def test_no_reply_names_the_host_that_a_request_named(behind):
    https, host, base, trust = behind
    with visitor(https, host, trust) as client:
        for path in ("/s/pathy", "/s/pathy/", "/", "/admin", "/admin/", "/admin/-/login", "/nothing", "/static"):
            headers = {"host": EVIL, "x-forwarded-host": EVIL, "forwarded": f"host={EVIL}", "accept": "text/html"}
            reply = client.get(f"{base}{path}", headers=headers)
            assert EVIL not in reply.text + str(reply.headers), path


def test_cookies_are_for_tls_and_for_the_path_alone(behind):
    https, host, base, trust = behind
    with visitor(https, host, trust, "127.0.0.8") as client:
        reply = log_in(client, base)
        assert (reply.status_code, reply.headers["location"]) == (303, f"{base}/admin")
        for cookie in reply.headers.get_list("set-cookie"):
            assert "Secure" in cookie
            assert "HttpOnly" in cookie
            assert f"Path={base}/admin;" in cookie
        known = {"cookie": cookies_of(reply), "accept": "text/html"}
        page = client.get(f"{base}/admin", headers=known)
        assert page.status_code == 200
        assert f'href="{base}/admin/pathy"' in page.text
        with client.stream("GET", f"{base}/admin/pathy/events", headers=known) as events:
            assert next(events.iter_lines()) == "retry: 3000", "not held back by the proxy"


def test_people_are_told_apart_behind_the_proxy_and_cannot_pretend(behind):
    https, host, base, trust = behind
    with visitor(https, host, trust, "127.0.0.3") as one, visitor(https, host, trust, "127.0.0.4") as other:
        pretends = [{"x-forwarded-for": f"192.0.2.{k}"} for k in range(6)]
        said = [log_in(one, base, "wrong", headers).status_code for headers in pretends]
        assert said == [401] * 5 + [429]
        assert log_in(other, base).status_code == 303


@contextmanager
def from_elsewhere(root, *options):
    """A browser before a proxy that connects to the server from 127.0.0.2."""
    with (
        serving_behind(root, *options) as port,
        proxy_from("127.0.0.2", port) as through,
        httpx.Client(base_url=f"http://127.0.0.1:{through}", timeout=30) as client,
    ):
        yield client


def join(client, uid, headers):
    return client.post("/api/pathy/join", json={"uid": uid}, headers=headers)


def test_a_proxy_on_another_address_is_believed_where_it_is_named(root):
    with from_elsewhere(root, "--trusted-proxy", "127.0.0.2") as client:
        one, other = {"x-test-client": "192.0.2.1"}, {"x-test-client": "192.0.2.2"}
        assert [log_in(client, "", "wrong", one).status_code for _ in range(6)] == [401] * 5 + [429]
        reply = log_in(client, "", PASSWORD, other)
        assert reply.status_code == 303, "five wrong passwords of one lock nobody else out"
        assert all("Secure" in cookie for cookie in reply.headers.get_list("set-cookie"))
        assert [join(client, f"browser-{k}", one).status_code for k in range(3)] == [200, 200, 403]
        assert join(client, "browser-9", other).status_code == 200


def test_a_proxy_that_is_not_named_is_not_believed(root):
    with from_elsewhere(root) as client:
        reply = log_in(client, "", PASSWORD, {"x-test-client": "192.0.2.1"})
        assert reply.status_code == 303
        assert not any("Secure" in cookie for cookie in reply.headers.get_list("set-cookie"))
        pretends = [{"x-test-client": f"192.0.2.{k}"} for k in range(6)]
        assert [log_in(client, "", "wrong", headers).status_code for headers in pretends] == [401] * 5 + [429]
