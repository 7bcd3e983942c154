"""Amazon Mechanical Turk through its API: the assignments of a HIT, approved and rejected.

Requests are signed by Signature Version 4 with what the standard library has; boto3, which does the same, brings a
hundred megabytes of services that nobody here asks.

    signature = HMAC(HMAC(HMAC(HMAC(HMAC("AWS4" + secret, day), region), service), "aws4_request"), text to sign)
    text to sign = "AWS4-HMAC-SHA256", moment, scope and the SHA-256 of the canonical request, a line each

(https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html; tested against the vectors published there.)
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from similitude.study.recruiting.calling import Caller, ServiceFault
from similitude.study.recruiting.submission import Submission

NAME, WHO = "MTurk", "workerId"
BASES = {
    False: "https://mturk-requester.us-east-1.amazonaws.com",
    True: "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
}
_REGION, _SERVICE, _TARGET = "us-east-1", "mturk-requester", "MTurkRequesterServiceV20170117"
_PER_PAGE, _MOST_PAGES = 100, 500


class MTurk:
    """A requester's account.

    Parameters
    ----------
    key, secret : of the account's access key
    sandbox : whether to ask the sandbox, where nobody is paid
    caller : sends the requests
    """

    def __init__(self, key: str, secret: str, sandbox: bool = False, caller: Caller | None = None) -> None:
        self._key, self._secret, self._base = key, secret, BASES[sandbox]
        self._caller = caller or Caller(NAME)

    def __repr__(self) -> str:
        return "MTurk(key=..., secret=...)"

    def submissions(self, hit: str) -> list[Submission]:
        """All assignments of a HIT that were submitted, whatever became of them."""
        found: list[Submission] = []
        asked: dict[str, Any] = {"HITId": hit, "MaxResults": _PER_PAGE}
        for _ in range(_MOST_PAGES):
            reply = self._ask("ListAssignmentsForHIT", asked)
            rows = reply.get("Assignments") if isinstance(reply, dict) else None
            if not isinstance(rows, list):
                raise ServiceFault(f"{NAME} sent no list of assignments; its interface may have changed.")
            found += [_assignment(row) for row in rows]
            if not rows or not reply.get("NextToken"):
                break
            asked = {**asked, "NextToken": reply["NextToken"]}
        return found

    def approve_one(self, one: str) -> None:
        """Approve an assignment, which pays the person."""
        self._ask("ApproveAssignment", {"AssignmentId": one}, again=False)

    def reject(self, one: str, message: str) -> None:
        """Reject an assignment, with the message that the person reads."""
        if not message.strip():
            raise ServiceFault(f"message: {NAME} asks for a reason that the person reads, found none.", 422)
        self._ask("RejectAssignment", {"AssignmentId": one, "RequesterFeedback": message}, again=False)

    def _ask(self, operation: str, body: Mapping[str, Any], again: bool = True) -> Any:
        data = json.dumps(body).encode()
        headers = {
            "Host": urlsplit(self._base).netloc, "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": f"{_TARGET}.{operation}",
        }  # fmt: skip
        signed = sign((self._key, self._secret), (_REGION, _SERVICE), "POST", headers, data, datetime.now(UTC))
        return self._caller.call("POST", f"{self._base}/", signed, data, again)


def sign(
    account: tuple[str, str], scope: tuple[str, str], method: str, headers: Mapping[str, str], body: bytes, at: datetime
) -> dict[str, str]:
    """The headers of a request to the path `/`, with the moment and the signature among them."""
    moment, day = f"{at:%Y%m%dT%H%M%SZ}", f"{at:%Y%m%d}"
    all_of_them = {**headers, "X-Amz-Date": moment}
    lower = {
        name.lower(): " ".join(value.split())
        for name, value in sorted(all_of_them.items(), key=lambda one: one[0].lower())
    }
    names = ";".join(lower)
    lines = "".join(f"{name}:{value}\n" for name, value in lower.items())
    canonical = f"{method}\n/\n\n{lines}\n{names}\n{hashlib.sha256(body).hexdigest()}"
    where = f"{day}/{scope[0]}/{scope[1]}/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{moment}\n{where}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = signing_key(account[1], day, *scope)
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    said = f"AWS4-HMAC-SHA256 Credential={account[0]}/{where}, SignedHeaders={names}, Signature={signature}"
    return {**all_of_them, "Authorization": said}


def signing_key(secret: str, day: str, region: str, service: str) -> bytes:
    """The key for one day, region and service."""
    key = f"AWS4{secret}".encode()
    for part in (day, region, service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def _assignment(row: Any) -> Submission:
    if not isinstance(row, dict) or not isinstance(row.get("AssignmentId"), str):
        raise ServiceFault(f"{NAME} sent an assignment without an id; its interface may have changed.")
    return Submission(
        row["AssignmentId"], str(row.get("WorkerId", "")), str(row.get("AssignmentStatus", "")),
        _moment(row.get("AcceptTime")), _moment(row.get("SubmitTime")),
    )  # fmt: skip


def _moment(value: Any) -> str | None:
    """A moment in ISO 8601; MTurk writes seconds since 1970."""
    if isinstance(value, int | float) and abs(value) < 1e11:
        return datetime.fromtimestamp(value, UTC).isoformat(timespec="seconds")
    return value[:40] if isinstance(value, str) else None
