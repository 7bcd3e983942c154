"""A study server as a process of its own, and raters who answer it while it is killed again and again."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import itertools
import os
import random
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.study_measures import children
from similitude.study.client import Address, Client


def free_port() -> int:
    """A port that stays free while its server is down: the system hands out none below 32768 by itself."""
    while True:
        with socket.socket() as taken, contextlib.suppress(OSError):
            taken.bind(("127.0.0.1", random.SystemRandom().randrange(10240, 32768)))
            return taken.getsockname()[1]


class Server:
    """A server of ours as a process, with or without its model process; `code` is another checkout to run."""

    def __init__(
        self, root: Path, url: str, port: int | None = None, model: bool = False, code: Path | None = None
    ) -> None:
        self.port = port or free_port()
        command = [sys.executable, "-m", "similitude.cli", "study", "serve", str(root), "--database", url]
        command += ["--port", str(self.port), "--model" if model else "--no-model"]
        from_there = None if code is None else {**os.environ, "PYTHONPATH": str(code / "src")}
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=from_there)

    def wait(self) -> Server:
        """Wait until it replies: it listens before, while it still asks its database."""
        end = time.monotonic() + 150  # a busy machine takes its time
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(self.process.stderr.read().decode())
            if self._replies():
                return self
            time.sleep(0.05)
        raise RuntimeError("the server did not start")

    def _replies(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
            connection.request("GET", "/healthz")
            return connection.getresponse().status > 0
        return False

    @property
    def model_process(self) -> int | None:
        """Number of its model process; None while there is none."""
        return next(iter(children(self.process.pid)), None)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(30)
        self.process.stderr.close()


@dataclass
class Told:
    """What raters were told: `kept` holds (rater's code, number, uid) of every answer that was acknowledged."""

    kept: list[tuple[str, int, str]] = field(default_factory=list)
    kills: int = 0
    broken: int = 0


def answer_while_killed(root: Path, url: str, study: str, kills: int, raters: int, seconds: float) -> Told:
    """Let raters answer, kill the server every so many seconds, start it again; they send again what was not kept."""
    return asyncio.run(_answer_while_killed(root, url, study, kills, raters, seconds))


async def _answer_while_killed(root: Path, url: str, study: str, kills: int, raters: int, seconds: float) -> Told:
    told, port, stop = Told(), free_port(), asyncio.Event()
    server = await asyncio.to_thread(lambda: Server(root, url, port).wait())
    address = Address(f"http://127.0.0.1:{port}/{study}")
    jobs = [asyncio.create_task(answer_until(stop, address, number, told)) for number in range(raters)]
    try:
        for _ in range(kills):
            before = len(told.kept)
            await asyncio.sleep(seconds)
            while len(told.kept) < before + raters:  # a kill between answers would show nothing
                await asyncio.sleep(0.02)
            await asyncio.to_thread(server.kill)
            told.kills += 1
            server = await asyncio.to_thread(lambda: Server(root, url, port).wait())
        await asyncio.sleep(seconds)
        stop.set()
        await asyncio.gather(*jobs)
    finally:
        await asyncio.to_thread(server.kill)
    return told


async def answer_until(stop: asyncio.Event, address: Address, number: int, told: Told) -> None:
    """Join anew whenever a round is done, until it is time to stop; never stop with an answer in doubt."""
    client = Client(address)
    try:
        for turn in itertools.count():
            if stop.is_set():
                break
            await _answer_all(client, f"rater-{number:04d}-{turn}", told, stop)
    finally:
        client.close()


async def _answer_all(client: Client, identity: str, told: Told, stop: asyncio.Event) -> None:
    joined = await ask(client, told, "POST", "join", {"uid": identity})
    token, code = joined["token"], joined["rater"]
    await ask(client, told, "POST", "consent", None, token)
    state = await ask(client, told, "POST", "questions", None, token)
    while state["questions"] and not stop.is_set():
        at = state["questions"][0]["number"]
        uid = f"{code}-answer-{at}"
        said = {"number": at, "uid": uid, "response": [1.0], "milliseconds": 1}
        state = await ask(client, told, "POST", "answers", said, token)
        told.kept.append((code, at, uid))


class TurnedAway(RuntimeError):
    """The server understood and said no; `code` is the word for it."""

    def __init__(self, request: object, status: int, reply: dict) -> None:
        super().__init__(f"{request}: {status} {reply}")
        self.code = reply.get("code")


async def ask(client: Client, told: Told, *request: object) -> dict:
    while True:
        try:
            status, reply = await client.call(*request)
        except ConnectionError:
            told.broken += 1
            await asyncio.sleep(0.05)
            continue
        if status == 200:
            return reply
        if status != 503:
            raise TurnedAway(request, status, reply)
        await asyncio.sleep(0.05)
