"""People who come to a study with conditions and quotas, some of whom leave, while servers and database are killed."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa

from benchmarks.postgresql import PostgreSQL
from benchmarks.study_server import Server, Told, TurnedAway, ask
from similitude.study.client import Address, Client
from similitude.study.store import schema
from similitude.study.store.database import Database

COMPLETED = 200  # the quotas of the whole run together
_LEAVE = 0.2
_QUOTAS = {"plain": 0.4, "colour": 0.35, "few": 0.25}


def design(people: int, number: int, minutes: float) -> str:
    """The settings of a study of three conditions, two of them in two blocks of other forms."""
    quotas = {name: round(share * people) for name, share in _QUOTAS.items()}
    return f"""
block_order = "balanced"
[question]
number = {number}
[completion]
seconds_per_question = 0
[assignment]
minutes = {minutes}
[[block]]
name = "triplets"
[[block]]
name = "ratings"
question = {{form = "similarity_rating"}}
[[condition]]
name = "plain"
quota = {quotas["plain"]}
[[condition]]
name = "colour"
quota = {quotas["colour"]}
text = "Which is more like it in colour?"
[[condition]]
name = "few"
quota = {quotas["few"]}
blocks = ["ratings"]
"""


@dataclass
class Came(Told):
    """What people were told, beside their answers: who has finished, who found no place, who lost one, who left."""

    finished: set[str] = field(default_factory=set)
    full: int = 0
    displaced: int = 0
    came: int = 0
    left: int = 0
    back: int = 0


class Crowd:
    """People who come until so many have finished, a few at a time.

    Parameters
    ----------
    addresses : of the servers; everybody goes to one of them, and to another one after coming back
    wanted : how many are to finish
    leave : share of the people who leave in the middle; half of those come back later
    away : seconds for which they stay away
    """

    def __init__(self, addresses: list[Address], wanted: int, leave: float, away: float, seed: int = 0) -> None:
        self.addresses, self.wanted, self.leave, self.away = addresses, wanted, leave, away
        self.told, self.rng, self._names = Came(), random.Random(seed), itertools.count()

    async def come(self, at_once: int) -> None:
        """Come, `at_once` at a time; at the end a few more, for whom there is no place."""
        await asyncio.gather(*(self._one_after_another() for _ in range(at_once)))
        before = self.told.full
        await asyncio.gather(*(self._take_part() for _ in range(10)))
        if self.told.full - before != 10:
            raise RuntimeError("somebody came in after all places were taken")

    async def _one_after_another(self) -> None:
        while len(self.told.finished) < self.wanted:
            if await self._take_part() == "full":
                await asyncio.sleep(0.2)

    async def _take_part(self) -> str:
        name = f"person-{next(self._names):05d}"
        leaves = self.rng.random() < self.leave
        try:
            said = await self._visit(name, leaves)
            if said == "left" and self.rng.random() < 0.5:
                await asyncio.sleep(self.away * 2 * self.rng.random())
                self.told.back += 1
                said = await self._visit(name, False)
        except TurnedAway as refusal:
            if refusal.code not in ("full", "displaced"):
                raise
            said = refusal.code
            setattr(self.told, said, getattr(self.told, said) + 1)
        return said

    async def _visit(self, name: str, leaves: bool) -> str:
        """Join, or come back, and answer all; or leave in the middle."""
        client = Client(self.rng.choice(self.addresses))
        try:
            joined = await ask(client, self.told, "POST", "join", {"uid": name})
            self.told.came += joined["answered"] == 0
            token, code = joined["token"], joined["rater"]
            await ask(client, self.told, "POST", "consent", None, token)
            state = await ask(client, self.told, "POST", "questions", None, token)
            while state["questions"]:
                if leaves and state["answered"] >= state["length"] // 2:
                    self.told.left += 1
                    return "left"
                at = state["questions"][0]["number"]
                said = {"number": at, "uid": f"{code}-answer-{at}", "response": [1.0], "milliseconds": 1}
                state = await ask(client, self.told, "POST", "answers", said, token)
                self.told.kept.append((code, at, said["uid"]))
                await asyncio.sleep(0.02 * self.rng.random())
            await ask(client, self.told, "POST", "survey", {"replies": {}}, token)
            self.told.finished.add(name)
            return "finished"
        finally:
            client.close()


def fill_while_killed(
    root: Path, postgresql: PostgreSQL, people: int, at_once: int, kills: int, away: float, seed: int = 0
) -> tuple[Came, float]:
    """Let people fill the places of a study on two servers, which are killed in turn with the database between them.

    Returns what they were told, and how many seconds it took.
    """
    begin = time.monotonic()
    url = postgresql.fresh()
    with ExitStack() as stack:
        servers = [Server(root, url).wait() for _ in range(2)]
        stack.callback(lambda: [server.kill() for server in servers])
        addresses = [Address(f"http://127.0.0.1:{server.port}/{root.name}") for server in servers]
        crowd = Crowd(addresses, people, _LEAVE, away, seed)

        def kill_server(which: int) -> None:
            servers[which].kill()
            servers[which] = Server(root, url, servers[which].port).wait()

        def kill_database(_: int) -> None:
            postgresql.kill()
            postgresql.start()

        deeds = itertools.cycle([(kill_server, 0), (kill_database, 0), (kill_server, 1), (kill_database, 0)])
        asyncio.run(_between(crowd, at_once, list(itertools.islice(deeds, kills))))
    return crowd.told, time.monotonic() - begin


async def _between(crowd: Crowd, at_once: int, deeds: list[tuple[Callable[[int], None], int]]) -> None:
    """Kill at even distances on the way to the last who finishes."""
    coming = asyncio.create_task(crowd.come(at_once))
    for k, (deed, which) in enumerate(deeds):
        while len(crowd.told.finished) < crowd.wanted * (k + 0.5) / len(deeds) and not coming.done():
            await asyncio.sleep(0.01)
        if coming.done():
            break
        await asyncio.to_thread(deed, which)
        crowd.told.kills += 1
    await coming


def as_kept(database: Database) -> tuple[Counter, Counter, Counter]:
    """Who has finished, by condition; who has a place, by condition; and how often each answer is in the log."""
    rater, answer = schema.rater.c, schema.answer
    with database.read() as connection:
        people = connection.execute(sa.select(rater.condition, rater.finished, rater.place_until)).all()
        query = sa.select(rater.code, answer.c.number, answer.c.uid).join(answer, answer.c.rater_id == rater.id)
        log = Counter(tuple(row) for row in connection.execute(query))
    finished = Counter(one.condition for one in people if one.finished is not None)
    return finished, Counter(one.condition for one in people if one.place_until is not None), log
