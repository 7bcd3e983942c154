"""Submissions of a recruiting service beside our raters: who can be paid without a doubt, what is done about whom."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from similitude.study.audit import note
from similitude.study.entrance import PILOT
from similitude.study.leaving import WHY
from similitude.study.people.listing import RaterProfile, read_raters
from similitude.study.people.standing import Acted, People
from similitude.study.recruiting import mturk, prolific
from similitude.study.recruiting.accounts import SERVICES, Accounts
from similitude.study.recruiting.calling import ServiceFault
from similitude.study.recruiting.mturk import MTurk
from similitude.study.recruiting.prolific import Prolific
from similitude.study.recruiting.submission import Submission
from similitude.study.refusal import Refused
from similitude.study.settings import Study
from similitude.study.store.database import Database

WHO = {"prolific": prolific.WHO, "mturk": mturk.WHO}  # the part of a link that says who it is
ACTIONS = {"approve": "approved", "reject": "rejected", "ask_back": "asked back", "screen_out": "screened out"}


@dataclass(frozen=True)
class Matched:
    """A submission, the rater whom it belongs to (None: nobody here), and what speaks against paying it."""

    submission: Submission
    rater: RaterProfile | None
    doubts: tuple[str, ...]

    @property
    def is_clear(self) -> bool:
        """Whether it waits for a decision, and nothing speaks against it."""
        return self.submission.waits and not self.doubts


@dataclass(frozen=True)
class Told:
    """What the service is to be told beside an action."""

    text: str = ""
    category: str = ""
    code: str = ""


class Reviewing:
    """The submissions of one study.

    Parameters
    ----------
    database, study, study_id : the study here
    """

    def __init__(self, database: Database, study: Study, study_id: int) -> None:
        self.database, self.study, self.study_id = database, study, study_id

    def look(self, service: str) -> list[Matched]:
        """What the service has, matched with our raters."""
        account, there = Accounts(self.database, self.study_id).opened(service)
        found, known = account.submissions(there), self._known(service)
        return [Matched(one, known.get(one.who), self._doubts(one, known.get(one.who))) for one in found]

    def act(self, service: str, action: str, ids: Sequence[str], by: str, told: Told) -> Acted:
        """Do something about submissions; what the service refuses is said of each, and the others are done."""
        if action not in ACTIONS or (service == "mturk" and action in ("ask_back", "screen_out")):
            raise Refused(422, "action", f"action: {SERVICES.get(service, 'this service')} cannot do that.")
        account, there = Accounts(self.database, self.study_id).opened(service)
        theirs = {one.id: one for one in account.submissions(there)}
        not_done = {one: why for one in ids if (why := _against(theirs.get(one), action)) is not None}
        wanted = [one for one in dict.fromkeys(ids) if one not in not_done]
        do, at_once = _doing(account, action, told)
        done, failed = _each(do, [wanted] if at_once and wanted else [[one] for one in wanted])
        if done:
            self._note(service, action, [theirs[one] for one in done], by, told)
        return Acted(tuple(done), not_done | failed)

    def payable(self, service: str) -> list[str]:
        """The people who have finished here without a doubt, as the service calls them: for its own bulk approval."""
        known = self._known(service)
        return [who for who, rater in known.items() if rater.state == "finished" and not self._about(rater)]

    def _known(self, service: str) -> dict[str, RaterProfile]:
        """Our raters by what the service calls them."""
        if service not in WHO:
            raise Refused(422, "service", f"service: expected one of {', '.join(WHO)}")
        with self.database.read() as connection:
            raters = read_raters(connection, self.study, self.study_id)
        found = {}
        for one in raters:
            if one.row["origin"] in ("joined", PILOT) and one.state != "erased":
                who = json.loads(one.row["parameters"]).get(WHO[service]) or one.row["identity"]
                if who:
                    found[who] = one
        return found

    def _doubts(self, one: Submission, rater: RaterProfile | None) -> tuple[str, ...]:
        if rater is None:
            return ("nobody came here with this id",)
        completion = self.study.completion
        if one.code and one.code == completion.screened_out_code:
            return (*self._about(rater), "the code of those who are screened out was entered")
        other = one.code and completion.code and one.code != completion.code
        return (*self._about(rater), *(["another completion code was entered"] if other else []))

    def _about(self, rater: RaterProfile) -> list[str]:
        """What speaks against a rater: not finished, left out, or worth a look."""
        doubts = [f"left out: {rater.reason}"] if rater.is_left_out else []
        if rater.state != "finished" and rater.row["withheld"] not in WHY:
            length = self.study.under(rater.row["condition"]).length
            doubts.append(f"not finished here: {rater.row['answered']} of {length} answers")
        return [*doubts, *rater.flags]

    def _note(self, service: str, action: str, some: Sequence[Submission], by: str, told: Told) -> None:
        """Keep with the raters, and in the log, what the service was told."""
        known, name = self._known(service), SERVICES[service]
        raters = [known[one.who].row["id"] for one in some if one.who in known]
        words = f"{ACTIONS[action]} on {name}"
        text = told.text or told.code
        with self.database.write() as connection:
            People(self.database, self.study_id).told(connection, raters, by, words, text)
            said = f"{len(some)} on {name}: {', '.join(one.id for one in some[:12])}{' ...' if len(some) > 12 else ''}"
            note(connection, self.database.clock.now(), by, f"{ACTIONS[action]} submissions of", self.study_id, said)


Do = Callable[[list[str]], None]


def _doing(account: Prolific | MTurk, action: str, told: Told) -> tuple[Do, bool]:
    """What is done about some submissions, and whether that is all at once; refused where something is missing."""
    if action == "approve":
        return (
            (account.approve, True)
            if isinstance(account, Prolific)
            else (lambda ids: account.approve_one(ids[0]), False)
        )
    if isinstance(account, MTurk):
        return lambda ids: account.reject(ids[0], told.text), False
    if action == "reject":
        prolific.check_rejection(told.text, told.category)
        return lambda ids: account.reject(ids[0], told.text, told.category), False
    if action == "ask_back":
        _need(told.text, "reason: say why, the person reads it")
        return lambda ids: account.ask_back(ids[0], told.text), False
    _need(told.code, "code: give the completion code that the study on Prolific has for those who are screened out")
    return lambda ids: account.screen_out(ids[0], told.code), False


def _need(text: str, sentence: str) -> None:
    if not text.strip():
        raise ServiceFault(f"{sentence}.", 422)


def _against(one: Submission | None, action: str) -> str | None:
    """Why a submission is left alone; None where nothing is against it."""
    if one is None:
        return "not among the submissions of this study"
    waits = one.waits or action not in ("approve", "reject")
    return None if waits else f"does not wait for a decision: {one.status.lower()}"


def _each(do: Do, groups: Sequence[list[str]]) -> tuple[list[str], dict[str, str]]:
    """Do it to each group; after a fault that the next would meet too (no reply, a wrong key) leave the rest."""
    done: list[str] = []
    failed: dict[str, str] = {}
    for place, group in enumerate(groups):
        try:
            do(group)
            done += group
        except ServiceFault as fault:
            failed |= dict.fromkeys(group, str(fault))
            if fault.status in (0, 401, 403, 429) or fault.status >= 500:
                failed |= {one: f"not tried any more: {fault}" for rest in groups[place + 1 :] for one in rest}
                break
    return done, failed
