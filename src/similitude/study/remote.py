"""A study on a server, asked by a program of one's own: questions and model are the server's, the display is yours."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode

from similitude.study.asked import AskedQuestion as AskedQuestion
from similitude.study.asked import next_question, refuse_times
from similitude.study.client import VERSION, Address, Client

if TYPE_CHECKING:
    from similitude.methods.similarity import Similarity

Result = TypeVar("Result")


class RemoteStudy:
    """A study, asked through its interface; works in scripts and in notebooks, from one thread at a time.

    Parameters
    ----------
    url : the link that raters get, `https://host/s/STUDY/`
    token : what `similitude study token` printed; with the scope `ask` for questions, `read` for the model
    rehearsal : whether answers are only a trial, and left out of the model and of exports
    keeps_times : whether your display keeps the times of `about["timing"]`; else a study that has some is not asked

    Examples
    --------
    >>> study = RemoteStudy("https://study.example/s/faces/", token="sim_...")  # doctest: +SKIP
    >>> question = study.ask("P07", consent=True)  # doctest: +SKIP
    >>> while question is not None:  # doctest: +SKIP
    ...     question = study.tell(question, [1], milliseconds=900)
    """

    def __init__(self, url: str, token: str, rehearsal: bool = False, keeps_times: bool = False) -> None:
        self._client, self._token, self.rehearsal, self.keeps_times = (
            Client(Address(url)),
            token,
            rehearsal,
            keeps_times,
        )
        self._loop = asyncio.new_event_loop()  # of a thread of its own: a notebook's is at work already
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.about: dict[str, Any] = self._asked("GET", "about")

    def ask(self, rater: str, consent: bool = False, **parameters: str) -> AskedQuestion | None:
        """The next question for a rater, who may be new; None where all are answered, or the study is paused.

        Parameters
        ----------
        rater : any name that stays the same
        consent : whether the person has agreed to take part, which a study with a page of consent wants to know once
        """
        refuse_times(self.about.get("timing", {}), self.keeps_times)
        body = {"rater": rater, "consent": consent, "rehearsal": self.rehearsal, "parameters": parameters}
        return next_question(rater, self._asked("POST", "ask", body))

    def tell(
        self, question: AskedQuestion, response: Sequence[float] | None = None, *, outcome: str = "answered",
        milliseconds: float | None = None,
    ) -> AskedQuestion | None:  # fmt: skip
        """Say what was answered, kept durably when this returns; gives the rater's next question, or None at the end.

        Parameters
        ----------
        question : the one that was shown
        response : as the form of the study codes it (`docs/reference/study.md`)
        outcome : or why there is none: "cant_tell", "skipped", "timed_out", "not_shown"
        milliseconds : from the question on the screen to the answer
        """
        time = None if milliseconds is None else round(milliseconds)
        body = {
            "rater": question.rater, "number": question.number, "uid": secrets.token_hex(12), "outcome": outcome,
            "response": response and [float(value) for value in response], "milliseconds": time,
            "rehearsal": self.rehearsal,
        }  # fmt: skip
        return next_question(question.rater, self._asked("POST", "tell", body))

    def finish(self, rater: str, **replies: str) -> dict[str, Any]:
        """Keep the survey and let the rater go: the completion code, or why there is none."""
        return self._asked("POST", "finish", {"rater": rater, "replies": replies, "rehearsal": self.rehearsal})

    def items(self) -> list[dict[str, Any]]:
        """All items with what is to be shown."""
        found: list[dict[str, Any]] = self._asked("GET", "items")["items"]
        return found

    def file(self, item: str) -> bytes:
        """The picture, sound or film of an item."""
        return self._run(self._client.fetch(f"items/{quote(item, safe='')}"))

    def similarity(self) -> Similarity:
        """The model as it is now."""
        from similitude.methods.similarity import Similarity

        return Similarity.from_bytes(self._run(self._client.fetch(f"{VERSION}/model.sim", self._token)))

    def neighbors(self, item: str, k: int = 5) -> list[tuple[str, float]]:
        """The items most like one, with their distances."""
        found = self._asked("GET", f"neighbors?{urlencode({'item': item, 'k': k})}")
        return [(one["item"], one["distance"]) for one in found["neighbors"]]

    def state(self) -> dict[str, Any]:
        """How far the study is, and how good its model."""
        return self._asked("GET", "state")

    def export(self, path: Path | str) -> None:
        """Write all answers to a file: .csv, .parquet or .jsonl."""
        kind = Path(path).suffix.removeprefix(".")
        Path(path).write_bytes(self._run(self._client.fetch(f"{VERSION}/export?format={quote(kind)}", self._token)))

    def close(self) -> None:
        """Let go of the connection."""
        self._run(self._client.end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _asked(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        return self._run(self._client.ask(method, path, body, self._token))

    def _run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
