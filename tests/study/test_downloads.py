"""Exports that a process of its own makes: the same bytes, no half file taken for a whole one, nothing left behind."""

import asyncio
import io
import subprocess
import sys

import numpy as np
import pytest

from similitude.study.maintenance.export import AnswersFile
from similitude.study.maintenance.exporter import send
from similitude.study.refusal import Refused
from similitude.study.store.database import StoreError
from similitude.study.web import downloads

from .live import answer, join, open_study, write_study


@pytest.fixture
def service(tmp_path):
    site, service = open_study(write_study(tmp_path / "colours"))
    yield service
    site.close()


def url_of(service):
    return service.database.url.render_as_string(hide_password=False)


async def everything(service, kind):
    return b"".join([piece async for piece in await downloads.answers_file(service.database, "colours", kind)])


def started(monkeypatch, command=None):
    """Note the processes that are started; with a command, start that instead."""
    processes, start = [], downloads._start

    def noted(*given):
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE) if command else start(*given))
        return processes[-1]

    monkeypatch.setattr(downloads, "_start", noted)
    return processes


@pytest.mark.slow
@pytest.mark.parametrize("kind", [".csv", ".jsonl"])
def test_a_download_is_the_file_that_is_written_here(service, kind):
    answer(service, join(service), 5, np.random.default_rng(0))
    here = b"".join(AnswersFile(service.database, "colours", kind).pieces())
    assert asyncio.run(everything(service, kind)) == here
    out = io.BytesIO()
    send(out, url_of(service), "colours", kind)
    assert out.getvalue() == b"{}\n" + here


@pytest.mark.slow
def test_what_is_wrong_is_said_before_the_file_begins(service, monkeypatch):
    processes = started(monkeypatch)
    with pytest.raises(Refused, match="no answers to write yet"):
        asyncio.run(everything(service, ".csv"))
    assert processes[0].poll() is not None


@pytest.mark.slow
def test_the_address_of_the_database_is_in_no_list_of_processes(service, monkeypatch):
    answer(service, join(service), 1, np.random.default_rng(0))
    processes = started(monkeypatch)
    asyncio.run(everything(service, ".csv"))
    assert not any(url_of(service) in argument for argument in processes[0].args)


def test_an_export_that_breaks_off_is_no_file(service, monkeypatch):
    half = "import sys; print('{}'); print('form,rater'); sys.exit(3)"
    started(monkeypatch, [sys.executable, "-c", half])
    with pytest.raises(StoreError, match="ended before its file did"):
        asyncio.run(everything(service, ".csv"))


def test_an_export_that_cannot_begin_is_a_fault_of_the_store(service, monkeypatch):
    started(monkeypatch, [sys.executable, "-c", ""])
    with pytest.raises(StoreError, match="ended before its file did"):
        asyncio.run(everything(service, ".csv"))


def test_who_goes_away_ends_the_process(service, monkeypatch):
    endless = "print('{}')\nwhile True: print('row ' * 1000)"
    processes = started(monkeypatch, [sys.executable, "-c", endless])

    async def a_piece():
        pieces = await downloads.answers_file(service.database, "colours", ".csv")
        await anext(pieces)
        await pieces.aclose()

    asyncio.run(a_piece())
    assert processes[0].poll() is not None
