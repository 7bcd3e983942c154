"""Simulated raters who answer a study through its public interface: for rehearsing it, and for tests.

They know where the items lie (a saved model, colours in CIELAB, or positions drawn by name) and answer as those of
`similitude.simulate` do, by the same forms: the alternative of highest `-sharpness · d² + Gumbel` is chosen.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import numpy.typing as npt

from similitude.feedback.simulation.mind import Mind, Truth
from similitude.study.asking import form_of
from similitude.study.client import Address, Client
from similitude.study.entrance import REHEARSAL
from similitude.study.fault import StudyError
from similitude.study.timing import TIMED_OUT

Position = tuple[float, ...]
ColourPositions = Callable[[list[str]], npt.NDArray[np.float64]]


@dataclass(frozen=True)
class Behaviour:
    """How raters behave.

    Attributes
    ----------
    sharpness : how strongly a difference of squared distances decides an answer
    clickers : share of the raters who click at random
    think : mean seconds of thought per question; drawn from a log-normal
    cant_tell : share of the answers that are "can't tell", where the study takes that
    """

    sharpness: float = 2.0
    clickers: float = 0.0
    think: float = 0.0
    cant_tell: float = 0.0


@dataclass
class Summary:
    """What became of the raters."""

    raters: int = 0
    finished: int = 0
    failed: int = 0
    answers: int = 0
    seconds: float = 0.0
    waits: list[float] = field(default_factory=list)
    refusals: Counter[str] = field(default_factory=Counter)
    blind: bool = False  # whether where the items lie was drawn by chance

    def __str__(self) -> str:
        rate = self.answers / max(self.seconds, 1e-9)
        lines = [
            f"{self.finished} of {self.raters} raters finished; {self.answers} answers in {self.seconds:.1f} s "
            f"({rate:.0f} a second)"
        ]
        if self.waits:
            p50, p99 = np.percentile(1000 * np.array(self.waits), [50, 99])
            lines.append(f"an answer was kept after {p50:.0f} ms (half of them), {p99:.0f} ms (99%)")
        elif self.finished:
            lines.append("they had finished before: another --seed makes other raters")
        if self.blind:
            lines.append(
                "they cannot see these items: which are alike was drawn by chance, so they fail catch trials as well; "
                "a model of these items lets them see (--truth)"
            )
        lines += [f"{count} times: {why}" for why, count in self.refusals.most_common()]
        return "\n".join(lines)


def simulate_study(
    url: str,
    raters: int = 50,
    behaviour: Behaviour | None = None,
    *,
    truth: Mapping[str, Position] | None = None,
    colours: ColourPositions | None = None,
    seed: int = 0,
    rehearsal: bool = True,
) -> Summary:
    """Let raters answer a study, all at once.

    Parameters
    ----------
    url : the link that raters get
    raters : how many; the same seed sends the same raters again, who go on where they were
    behaviour : how they behave
    truth : where the items lie, by name; else colours by `colours`, other items by chance
    colours : positions of colours written #rrggbb
    seed : of everything that is drawn
    rehearsal : whether the server is told that it is only a trial, and leaves them out of model and exports
    """
    address = Address(url)
    where = Where(truth, colours, seed)
    given = dict(parse_qsl(urlsplit(url).query))
    link = {**given, REHEARSAL: given.get(REHEARSAL, "yes")} if rehearsal else given
    return asyncio.run(_all(address, raters, behaviour or Behaviour(), where, seed, link))


def truth_of_file(path: Path) -> dict[str, Position]:
    """Where a saved model puts its items."""
    from similitude.methods.similarity import Similarity

    found = Similarity.load(path)
    if found.names is None:
        raise StudyError(f"{path}: its items have no names; learn it from answers with names")
    return {name: tuple(row) for name, row in zip(found.names, found.embedding.tolist(), strict=True)}


async def _all(
    address: Address, raters: int, behaviour: Behaviour, where: Where, seed: int, link: Mapping[str, str]
) -> Summary:
    summary = Summary(raters)
    begin = time.perf_counter()
    people = [_Rater(address, f"simulated-{seed}-{number}", behaviour, where, summary) for number in range(raters)]
    jobs = [rater.take_part(link) for rater in people]
    for outcome in await asyncio.gather(*jobs, return_exceptions=True):
        if isinstance(outcome, (StudyError, ConnectionError)):
            summary.failed += 1
            summary.refusals[str(outcome)] += 1
        elif isinstance(outcome, BaseException):
            raise outcome
    summary.seconds = time.perf_counter() - begin
    summary.blind = where.drawn
    return summary


class Where:
    """Where items lie: known, seen as a colour, or drawn by name."""

    def __init__(self, truth: Mapping[str, Position] | None, colours: ColourPositions | None, seed: int) -> None:
        self.truth, self.colours, self.seed = truth, colours, seed
        self.drawn = False  # whether any of them was
        self._found: dict[str, Position] = {}

    def of(self, item: Mapping[str, Any]) -> Position:
        """The position of an item as it came from the server."""
        name = str(item["name"])
        if name not in self._found:
            self._found[name] = self._place(name, item)
        return self._found[name]

    def _place(self, name: str, item: Mapping[str, Any]) -> Position:
        if self.truth is not None:
            if name not in self.truth:
                raise StudyError(f"truth: the model does not know the item {name!r}; give one of this study's items")
            return self.truth[name]
        if item["kind"] == "colour" and self.colours is not None:
            return tuple(self.colours([str(item["content"])])[0].tolist())
        self.drawn = True
        rng = Random(f"{self.seed} {name}")
        return rng.gauss(0, 1), rng.gauss(0, 1)


class _Rater:
    """One rater, from the door to the end."""

    def __init__(self, address: Address, name: str, behaviour: Behaviour, where: Where, summary: Summary) -> None:
        self.client, self.behaviour, self.summary = Client(address), behaviour, summary
        self.name, self.rng, self.where = name, Random(name), where
        clicks = self.rng.random() < behaviour.clickers
        self.sharpness = 0.0 if clicks else behaviour.sharpness
        self.chance = np.random.default_rng(self.rng.getrandbits(64))

    async def take_part(self, link: Mapping[str, str]) -> None:
        """Join by a link, whose parts are given, and answer everything."""
        try:
            about = await self.client.ask("GET", "about")
            joined = await self.client.ask(
                "POST", "join", {"uid": self.name, "parameters": {"rater": self.name, **link}}
            )
            token = joined["token"]
            if joined["stage"] == "consent":
                joined = await self.client.ask("POST", "consent", token=token)
            if joined["stage"] in ("before", "questions"):  # replies of both surveys go with the last request
                await self._answer_all(about, token)
            if joined["stage"] != "done":
                await self.client.ask("POST", "finish", {"replies": self._replies(about["survey"])}, token)
            self.summary.finished += 1
        finally:
            self.client.close()

    async def _answer_all(self, about: Mapping[str, Any], token: str) -> None:
        state = await self.client.ask("POST", "ask", {}, token)
        while state["questions"]:
            question = state["questions"][0]
            limit, least = about["timing"]["limit_seconds"] or math.inf, about["timing"]["least_seconds"]
            thought = min(max(self._thought(), least), limit)
            await asyncio.sleep(thought)
            said = self._said(about, question) if thought < limit else self._about(question) | {"outcome": TIMED_OUT}
            said["milliseconds"] = round(1000 * thought)
            begin = time.perf_counter()
            state = await self.client.ask("POST", "tell", said, token)
            self.summary.waits.append(time.perf_counter() - begin)
            self.summary.answers += 1
        if state["paused"]:
            raise StudyError("the study is paused")

    def _thought(self) -> float:
        spread = 0.5
        return self.behaviour.think * math.exp(self.rng.gauss(-(spread**2) / 2, spread))

    def _said(self, about: Mapping[str, Any], question: Mapping[str, Any]) -> dict[str, Any]:
        said = self._about(question)
        about = about["blocks"].get(question["block"], about)
        if about["cant_tell"] and self.rng.random() < self.behaviour.cant_tell:
            return said | {"outcome": "cant_tell"}
        at = [self.where.of(item) for item in question["shown"]]
        return said | {"outcome": "answered", "response": _said(about, at, self.sharpness, self.chance)}

    def _about(self, question: Mapping[str, Any]) -> dict[str, Any]:
        return {"number": question["number"], "uid": f"{self.name}-{question['number']}"}

    def _replies(self, fields: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        said = {"number": "30", "text": "simulated", "long_text": "simulated"}
        return {one["name"]: said.get(one["kind"]) or self.rng.choice(one["choices"]) for one in fields}


def _said(about: Mapping[str, Any], at: Sequence[Position], sharpness: float, rng: np.random.Generator) -> list[float]:
    """What a rater says who sees items at these places; a sharpness of 0 is clicking at random."""
    mind = Mind(
        Truth(len(at), positions=np.array(at)), np.array([sharpness]), np.zeros(1), 0.0, about["pick"], about["scale"],
        rng, about["classes"],
    )  # fmt: skip
    response, _, _ = form_of(about["form"]).answer(mind, np.arange(len(at))[None])
    return [float(value) for value in response[0]]
