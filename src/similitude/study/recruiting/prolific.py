"""Prolific through its API (https://docs.prolific.com/api-reference): submissions, approved, rejected, asked back.

An account's token is sent as `Authorization: Token ...`. A submission's id is the SESSION_ID of the link, its
participant the PROLIFIC_PID. Who is screened out is completed with a code that the study on Prolific has for that, set
up with the researcher as its actor: Prolific then does what the code says (a fixed payment, a place that is free
again).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from similitude.study.recruiting.calling import Caller, ServiceFault
from similitude.study.recruiting.submission import Submission

NAME, WHO = "Prolific", "PROLIFIC_PID"
BASE = "https://api.prolific.com/api/v1"
SHORTEST_MESSAGE = 100  # characters of the message to who is rejected, as Prolific asks
CATEGORIES = {
    "TOO_QUICKLY": "too quick", "TOO_SLOWLY": "too slow", "FAILED_INSTRUCTIONS": "did not follow instructions",
    "INCOMP_LONGITUDINAL": "did not complete all parts", "FAILED_CHECK": "failed attention checks",
    "LOW_EFFORT": "low effort", "MALINGERING": "untruthful", "NO_CODE": "no completion code",
    "BAD_CODE": "wrong completion code", "NO_DATA": "no data", "UNSUPP_DEVICE": "unsupported device", "OTHER": "other",
}  # fmt: skip
_PER_PAGE = 100
_MOST_PAGES = 500
_AT_ONCE = 1000  # submissions of one bulk approval, as Prolific recommends


class Prolific:
    """An account on Prolific.

    Parameters
    ----------
    token : of its API
    caller : sends the requests
    """

    def __init__(self, token: str, caller: Caller | None = None) -> None:
        self._token, self._caller = token, caller or Caller(NAME)

    def __repr__(self) -> str:
        return "Prolific(token=...)"

    def submissions(self, study: str) -> list[Submission]:
        """All submissions of a study, in Prolific's order."""
        found: dict[str, Submission] = {}
        for page in range(1, _MOST_PAGES + 1):
            query = urlencode({"study": study, "page": page, "page_size": _PER_PAGE})
            reply = self._ask("GET", f"/submissions/?{query}")
            rows = reply.get("results") if isinstance(reply, dict) else None
            if not isinstance(rows, list):
                raise ServiceFault(f"{NAME} sent no list of submissions; its interface may have changed.")
            new = {one.id: one for one in map(_submission, rows) if one.id not in found}
            found |= new
            if not new or len(rows) < _PER_PAGE:
                break
        return list(found.values())

    def approve(self, ids: Sequence[str]) -> None:
        """Approve submissions, which pays people; Prolific does it in the minutes after."""
        for start in range(0, len(ids), _AT_ONCE):
            self._ask("POST", "/submissions/bulk-approve/", {"submission_ids": list(ids[start : start + _AT_ONCE])})

    def reject(self, one: str, message: str, category: str) -> None:
        """Reject a submission, with the message that the person reads."""
        check_rejection(message, category)
        self._transition(one, {"action": "REJECT", "message": message, "rejection_category": category})

    def ask_back(self, one: str, reason: str) -> None:
        """Ask a person to return a submission: nobody is paid, and nobody's record suffers."""
        self._ask(
            "POST", f"/submissions/{quote(one, safe='')}/request-return/", {"request_return_reasons": [reason]}, False
        )

    def screen_out(self, one: str, code: str) -> None:
        """Complete a submission with a code that the study has for those who are screened out."""
        self._transition(one, {"action": "COMPLETE", "completion_code": code})

    def _transition(self, one: str, body: dict[str, str]) -> None:
        self._ask("POST", f"/submissions/{quote(one, safe='')}/transition/", body)

    def _ask(self, method: str, path: str, body: Any = None, again: bool = True) -> Any:
        headers = {"Authorization": f"Token {self._token}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        data = None if body is None else json.dumps(body).encode()
        return self._caller.call(method, f"{BASE}{path}", headers, data, again)


def check_rejection(message: str, category: str) -> None:
    """Refuse what Prolific would: a message that is too short, a category that there is not."""
    if category not in CATEGORIES:
        raise ServiceFault(f"category: expected one of {', '.join(CATEGORIES)}, found {category[:50]!r}.", 422)
    if len(message.strip()) < SHORTEST_MESSAGE:
        raise ServiceFault(
            f"message: {NAME} asks for at least {SHORTEST_MESSAGE} characters that tell the person why, found "
            f"{len(message.strip())}.", 422,
        )  # fmt: skip


def _submission(row: Any) -> Submission:
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        raise ServiceFault(f"{NAME} sent a submission without an id; its interface may have changed.")
    text = {name: _text(row.get(name)) for name in ("started_at", "completed_at", "study_code", "return_requested")}
    who = _text(row.get("participant_id")) or _text(row.get("participant")) or ""
    code = text["study_code"] or _text(row.get("entered_code"))
    status = (_text(row.get("status")) or "").replace("_", " ")
    return Submission(row["id"], who, status, text["started_at"], text["completed_at"], code, text["return_requested"])


def _text(value: Any) -> str | None:
    return value[:200] if isinstance(value, str) and value else None
