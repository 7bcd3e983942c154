"""`[timing]`: how long items are to be seen, when an answer is taken, and what a browser tells of its device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, model_validator

from similitude.feedback.forms import PAGES
from similitude.feedback.forms.placement import Placement
from similitude.study.fault import StudyError
from similitude.study.refusal import Refused
from similitude.study.sections import Number, Section, Switch, Whole

if TYPE_CHECKING:
    from similitude.study.items import Item
    from similitude.study.settings import Study

TIMED_OUT = "timed_out"  # the outcome of a question whose time was over
_EARLY = 50  # milliseconds by which a browser's timer may be ahead
_WAITS = ("answered", "cant_tell", "skipped")  # outcomes that the least time is asked of


class Timing(Section):
    """Times of one question; None and 0 are no such limit."""

    exposure_ms: Annotated[Whole, Field(ge=10, le=600_000)] | None = None
    play_to_the_end: Switch = False
    limit_seconds: Annotated[Number, Field(ge=1, le=3600)] | None = None
    least_seconds: Annotated[Number, Field(ge=0, le=600)] = 0.0
    record_device: Switch = True

    @model_validator(mode="after")
    def _leave_time_to_answer(self) -> Self:
        limit, least = self.limit_seconds, self.least_seconds
        if limit is not None and least >= limit:
            raise ValueError(f"least_seconds: expected less than limit_seconds ({limit:g}), found {least:g}")
        return self


def check_timing(study: Study, items: Iterable[Item]) -> None:
    """Refuse times that have no meaning for the items of a study."""
    plays = next((item for item in items if item.kind in ("audio", "video")), None)
    if study.timing.exposure_ms is not None and plays is not None:
        raise StudyError(
            f"{study.name}: timing.exposure_ms hides what is seen after a while, but {plays.name!r} is played; "
            "play_to_the_end is what such items have"
        )
    moved = next((part.question.form for part in study.parts if isinstance(PAGES[part.question.form], Placement)), None)
    if study.timing.exposure_ms is not None and moved is not None:
        raise StudyError(
            f"{study.name}: timing.exposure_ms: the items of a {moved} come one after the other, so that they would be "
            "hidden before they are seen"
        )
    if study.timing.play_to_the_end and plays is None:
        raise StudyError(f"{study.name}: timing.play_to_the_end: there is no sound and no film among the items")


def check_time(timing: Timing, outcome: str, milliseconds: int | None) -> None:
    """Refuse an answer that was given too soon, by its own word; who tells no time is believed."""
    least = 1000 * timing.least_seconds
    if outcome in _WAITS and milliseconds is not None and milliseconds + _EARLY < least:
        raise Refused(
            422, "too_soon", f"milliseconds: expected at least {least:g}, as this study asks, found {milliseconds}"
        )


def timing_in_words(timing: Timing, texts: Mapping[str, str]) -> list[str]:
    """What raters are told of all this before the first question."""
    given = [
        (texts["timing_exposure"], None if timing.exposure_ms is None else timing.exposure_ms / 1000),
        (texts["timing_least"], timing.least_seconds or None),
        (texts["timing_limit"], timing.limit_seconds),
    ]
    said = [text.replace("{seconds}", f"{seconds:g}") for text, seconds in given if seconds is not None]
    return [*said, *([texts["timing_to_the_end"]] if timing.play_to_the_end else [])]


def on_page(timing: Timing) -> dict[str, Any]:
    """What the scripts of the page go by."""
    return {
        "exposure": timing.exposure_ms,
        "toTheEnd": timing.play_to_the_end,
        "limit": timing.limit_seconds,
        "least": timing.least_seconds,
        "device": timing.record_device,
    }
