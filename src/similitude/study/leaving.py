"""The way out of a study: the completion code, what must be done for it, and why a rater gets none."""

from __future__ import annotations

import json
import math
from urllib.parse import quote

import sqlalchemy as sa

from similitude.study.entrance import REHEARSAL
from similitude.study.settings import Study
from similitude.study.store import schema
from similitude.study.store.rows import Row
from similitude.study.timing import TIMED_OUT

TIME, SKIPS, NOT_SHOWN = "time", "skips", "not_shown"
WITHDRAWN = "withdrawn"  # the invitation was taken back before the rater had finished
WHY = {
    TIME: "no code: took less time than asked for",
    SKIPS: "no code: passed over too many questions",
    NOT_SHOWN: "no code: too many items could not be shown, by the rater's word",
    WITHDRAWN: "invitation withdrawn",
}  # as researchers read it
_PASSED_OVER = ("skipped", "cant_tell", TIMED_OUT, NOT_SHOWN)


def terms(study: Study) -> Row:
    """What must be done for the code: seconds in all, and questions that are answered; None where nothing is asked."""
    completion = study.completion
    if completion.code is None and completion.redirect is None:
        return {TIME: None, SKIPS: None}
    seconds = math.ceil(study.length * completion.seconds_per_question)
    limited = study.timing.limit_seconds is not None
    can_pass_over = limited or any(part.question.skip or part.question.cant_tell for part in study.parts)
    return {TIME: seconds or None, SKIPS: _least_answered(study) or None if can_pass_over else None}


def _least_answered(study: Study) -> int:
    """How many questions must be answered; also where none can be skipped: a program may call any `not_shown`.

    Practice counts, but is never asked for: never more than there are questions without it, which raters see counted.
    """
    completion = study.completion
    if completion.code is None and completion.redirect is None:
        return 0
    return min(study.length - math.floor(study.length * completion.largest_skip_share), study.own_length)


def why_withheld(connection: sa.Connection, study: Study, rater: Row, served: float) -> str | None:
    """Why a rater who has just finished gets no code; None for who gets it. `served` is the time by `uptime`."""
    if rater["origin"] == REHEARSAL:
        return REHEARSAL
    wanted, answer = terms(study), schema.answer
    share = rater["answered"] / max(study.length, 1)  # less than 1 where the items give no more questions
    if wanted[TIME] and rater["began"] is not None and served - rater["began"] < share * wanted[TIME]:
        return TIME
    mine = answer.c.rater_id == rater["id"], answer.c.number >= rater["first"], answer.c.outcome.in_(_PASSED_OVER)
    counts = sa.select(answer.c.outcome, sa.func.count()).where(*mine).group_by(answer.c.outcome)
    passed_over = {row[0]: row[1] for row in connection.execute(counts)}
    lacking = math.floor(share * _least_answered(study)) - (rater["answered"] - sum(passed_over.values()))
    if lacking <= 0:
        return None
    return NOT_SHOWN if passed_over.get(NOT_SHOWN, 0) >= lacking else SKIPS


def way_out(study: Study, rater: Row) -> Row:
    """Where a rater goes who has finished: a code to copy, an address to go to; or why there is neither."""
    if rater["withheld"] is not None:
        code = study.completion.screened_out_code if rater["withheld"] in (TIME, SKIPS, NOT_SHOWN) else None
        return {"code": code, "redirect": None, "withheld": rater["withheld"]}
    address = study.completion.redirect
    if address is not None:
        for name, value in {**json.loads(rater["parameters"]), "rater": rater["code"]}.items():
            address = address.replace("{" + name + "}", quote(value, safe=""))
    return {"code": study.completion.code, "redirect": address, "withheld": None}
