"""A question as a program of others gets it, and the times that its display must keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from similitude.study.fault import StudyError


@dataclass(frozen=True)
class AskedQuestion:
    """A question for one rater.

    Attributes
    ----------
    rater, number : whose, and which of the rater's questions
    items, shown : names in their order on the screen, and what is to be shown: `kind`, `content`, `address` of a file
    kind, correct : "question" or "practice"; the right response, in practice with feedback alone
    """

    rater: str
    number: int
    items: tuple[str, ...]
    shown: tuple[Mapping[str, Any], ...]
    kind: str = "question"
    correct: Sequence[float] | None = None


def next_question(rater: str, state: Mapping[str, Any]) -> AskedQuestion | None:
    """The first of the questions that a rater holds; None where there is none."""
    if not state["questions"]:
        return None
    one = state["questions"][0]
    shown = tuple(one["shown"])
    names = tuple(item["name"] for item in shown)
    return AskedQuestion(rater, one["number"], names, shown, one["kind"], one.get("correct"))


def refuse_times(timing: Mapping[str, Any], keeps_times: bool) -> None:
    """Refuse to ask a study with times that no display keeps; `timing` is as `about` has it."""
    asked = [f"{key} = {value}" for key, value in timing.items() if value and key != "record_device"]
    if asked and not keeps_times:
        raise StudyError(
            f"timing: this study asks for {', '.join(asked)}, which a display must keep; let yours do so, and say "
            "keeps_times=True"
        )
