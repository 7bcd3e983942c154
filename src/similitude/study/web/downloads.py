"""Files that a process of its own makes while they are sent: the server passes on what it reads from it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import IO

from fastapi.responses import StreamingResponse

from similitude.study.refusal import Refused
from similitude.study.service import StudyService
from similitude.study.store.database import Database, StoreError
from similitude.study.supervise import apart

FILES = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet", "jsonl": "application/jsonl"}
_PIECE = 1 << 16
_BROKE_OFF = "the process that makes an export ended before its file did"


async def sent_answers(service: StudyService, kind: str, to: str, pilot: bool = False) -> StreamingResponse:
    """The answers as a file of a kind of `FILES`, made while it is sent, as fast as it is taken; noted who takes it."""
    name = service.study.name
    pieces = await answers_file(service.database, name, f".{kind}", pilot)
    await asyncio.to_thread(service.taken, to, f"{kind}, with the pilot" if pilot else kind)
    headers = {"Cache-Control": "no-store", "Content-Disposition": f'attachment; filename="{name}.{kind}"'}
    return StreamingResponse(pieces, media_type=FILES[kind], headers=headers)


async def answers_file(database: Database, study: str, kind: str, pilot: bool = False) -> AsyncIterator[bytes]:
    """The answers of a study as the bytes of a file, as fast as they are taken; refused where there are none."""
    process = await asyncio.to_thread(_start, database, study, kind, pilot)
    line = await asyncio.to_thread(_output(process).readline)
    refusal = json.loads(line) if line else {"code": "store", "detail": _BROKE_OFF}
    if not refusal:
        return _sent(process)
    await asyncio.to_thread(_end, process)
    if refusal["code"] == "store":
        raise StoreError(refusal["detail"])
    raise Refused(409, refusal["code"], refusal["detail"])


def _start(database: Database, study: str, kind: str, pilot: bool) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "similitude.study.maintenance.exporter"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **apart())
    assert process.stdin is not None
    # by its input, not its arguments: the address of the database may hold a password
    url = database.url.render_as_string(hide_password=False)
    settings = {"url": url, "study": study, "kind": kind, "pilot": pilot}
    with process.stdin as told:
        told.write(json.dumps(settings).encode() + b"\n")
    return process


def _output(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None
    return process.stdout


async def _sent(process: subprocess.Popen[bytes]) -> AsyncIterator[bytes]:
    """What a process writes; ends it where nobody takes that any more."""
    try:
        while piece := await asyncio.to_thread(_output(process).read, _PIECE):
            yield piece
        if await asyncio.to_thread(process.wait):  # then the response breaks off, too, and is no file to anybody
            raise StoreError(_BROKE_OFF)
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    _output(process).close()
