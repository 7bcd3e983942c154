"""Databases of both kinds, and a study on each."""

from __future__ import annotations

import pytest

from similitude.study.service import Joining
from similitude.study.site import open_site
from tests.study.servers import postgresql_or_skip, write_study


@pytest.fixture(scope="session")
def postgresql():
    server = postgresql_or_skip()
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """The address of an empty database, of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'answers.db'}"
    return request.getfixturevalue("postgresql").fresh()


@pytest.fixture
def serve(tmp_path, url):
    """Open a study written as settings say; everything is closed at the end."""
    opened = []

    def serve_study(settings="", names=None, name="words", seed=0):
        site = open_site(write_study(tmp_path / name, settings, names), url)
        opened.append(site)
        service = site.studies[name]
        service.answering.rng.seed(seed)
        return service

    yield serve_study
    for site in opened:
        site.close()


@pytest.fixture
def take_part():
    """Join and agree; returns the rater's number."""

    def join(service, uid="browser0", **parameters):
        token = service.join(Joining(uid, parameters)).result()
        rater_id = service.rater_of(token)
        service.consent(rater_id).result()
        return rater_id

    return join
