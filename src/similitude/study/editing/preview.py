"""The rater's page of a study as it is being written: what its scripts are told, so that nothing is kept of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from similitude.study.asking import random_question, width
from similitude.study.designs import StudyPart
from similitude.study.items import Item
from similitude.study.sections import Known
from similitude.study.settings import Study
from similitude.study.surveys import BEFORE, fields_at

STAGES = {
    "question": "A question",
    "consent": "Consent",
    "before": "Survey before",
    "instructions": "Instructions",
    "part": "Before a block",
    "practice": "Practice",
    "survey": "Survey after",
    "done": "The last page",
}
_OF_BLOCKS = ("question", "part", "practice")  # stages that are looked at block by block; the others come once
_QUESTIONS = 5
_SEED = 7  # the same questions whenever a preview is drawn anew, so that only what was changed looks different

Drawn = Callable[[Item], Mapping[str, Any]]


def stages_of(study: Study) -> dict[str, str]:
    """What there is to look at, by name."""
    there = {
        "consent": study.pages.consent is not None, "before": bool(fields_at(study, BEFORE)),
        "part": bool(study.block), "practice": any(part.practice for part in study.parts),
        "survey": len(fields_at(study, BEFORE)) < len(study.survey.fields),
    }  # fmt: skip
    return {stage: words for stage, words in STAGES.items() if there.get(stage, True)}


def previewed(
    study: Study, items: Mapping[str, Item], stage: str, drawn: Drawn, chosen: Sequence[str] | None = None,
    block: str = "",
) -> dict[str, Any]:  # fmt: skip
    """What the page is told beside the setup of the study, for somebody who is at this stage.

    Parameters
    ----------
    study : as it would be
    items : its items by name
    stage : one of `STAGES`
    drawn : gives an item as the page shows it
    chosen : the items of the one question that is asked; None draws some
    block : the block that is looked at; the first where there is none of this name
    """
    part = (study.part(block) if stage in _OF_BLOCKS else None) or study.parts[0]
    before = sum(one.length for one in study.parts[: study.parts.index(part)])
    practice = before + len(part.practice)
    asked = stage in (*_OF_BLOCKS, "consent", "before", "instructions")
    questions = _questions(study, part, before, items, stage != "question", drawn) if asked else []
    if chosen is not None:
        questions = [_asked(part, practice, "question", chosen, items, drawn)]
    ended = study.length if stage == "survey" else before
    remembers = {} if stage == "consent" else {"token": "preview"}
    if stage in (*_OF_BLOCKS, "survey"):
        remembers["instructed"] = "yes"
    return {
        "stage": {"before": "before", "done": "done"}.get(stage, "questions"),
        "questions": questions,
        "answered": practice if stage == "question" else ended,
        "length": study.length,
        "announces": stage not in ("question", "practice"),
        "wayOut": _way_out(study),
        "remembers": remembers,
    }


def _way_out(study: Study) -> dict[str, Any]:
    """How the last page ends; the address is none, so that the frame stays where it is."""
    redirect = None if study.completion.redirect is None else "#"
    return {"code": study.completion.code, "redirect": redirect, "withheld": None}


def _questions(
    study: Study, part: StudyPart, before: int, items: Mapping[str, Item], practice: bool, drawn: Drawn
) -> list[dict[str, Any]]:
    """Practice, where it is looked at, then questions drawn at random; none where the items are too few.

    `before` is the number of questions in the blocks ahead of this one.
    """
    rng, names, start = Random(_SEED), part.items(list(items)), before + len(part.practice)
    known = part.practice if practice else ()
    first = [
        _known(study, part, before + k, one, items, drawn)
        for k, one in enumerate(known)
        if items.keys() >= {*one.shown}
    ]
    if len(names) < width(part.question):
        return first
    number = min(_QUESTIONS, part.question.number)
    others = (random_question(part.question, names, rng) for _ in range(number))
    return first + [_asked(part, start + k, "question", shown, items, drawn) for k, shown in enumerate(others)]


def _known(
    study: Study, part: StudyPart, number: int, one: Known, items: Mapping[str, Item], drawn: Drawn
) -> dict[str, Any]:
    asked = _asked(part, number, "practice", one.shown, items, drawn)
    return {**asked, "correct": list(one.correct)} if study.practice.feedback else asked


def _asked(
    part: StudyPart, number: int, kind: str, shown: Sequence[str], items: Mapping[str, Item], drawn: Drawn
) -> dict[str, Any]:
    """A question of a part, as the server gives it."""
    asked = {"number": number, "kind": kind, "block": part.block, "form": part.question.form}
    return {**asked, "shown": [drawn(items[name]) for name in shown]}
