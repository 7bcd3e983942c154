"""Recruiting services as they are documented, on a port of this machine: what is said to them is kept, nobody is paid.

Shapes are those of https://docs.prolific.com/api-reference (submissions: list, transition, request-return,
bulk-approve) and of the MTurk API reference (ListAssignmentsForHIT, ApproveAssignment, RejectAssignment).
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TOKEN = "prolific-token-that-nobody-may-see"
STUDY = "60aca280709ee40ec37d4885"


class FakeProlific:
    """The part of Prolific's API that is used here."""

    def __init__(self) -> None:
        self.submissions: dict[str, dict] = {}
        self.asked: list[tuple[str, str, dict | None]] = []
        self.faults: list[tuple[int, dict, dict]] = []  # status, headers and body of the next replies
        self.redirect: str | None = None

    def add(self, who: str, status="AWAITING REVIEW", code="C1A2B3", **more) -> str:
        number = f"{len(self.submissions):024x}"
        self.submissions[number] = {
            "id": number, "participant_id": who, "status": status, "started_at": "2026-11-17T09:00:00Z",
            "completed_at": "2026-11-17T09:20:00Z", "has_siblings": False, "study_code": code,
            "return_requested": None, "study_id": STUDY, **more,
        }  # fmt: skip
        return number

    def reply(self, method: str, path: str, headers, body: bytes):
        given = json.loads(body) if body else None
        parts = urlsplit(path)
        self.asked.append((method, path, given))
        if self.faults:
            return self.faults.pop(0)
        if headers.get("Authorization") != f"Token {TOKEN}":
            return 401, {}, {"error": {"status": 401, "title": "Unauthorized", "detail": "Invalid token."}}
        if parts.path == "/api/v1/submissions/" and method == "GET":
            return self._listed({name: values[-1] for name, values in parse_qs(parts.query).items()})
        if parts.path == "/api/v1/submissions/bulk-approve/":
            for one in given["submission_ids"]:
                self.submissions[one]["status"] = "APPROVED"
            return 200, {}, "The request to bulk approve has been made successfully."
        number, action = parts.path.removeprefix("/api/v1/submissions/").strip("/").split("/")
        if number not in self.submissions:
            return 404, {}, {"error": {"status": 404, "title": "Not found", "detail": "No such submission."}}
        return self._changed(self.submissions[number], action, given)

    def _listed(self, query):
        if query["study"] != STUDY:
            return 404, {}, {"error": {"status": 404, "title": "Not found", "detail": "Not found."}}
        page, size = int(query["page"]), int(query["page_size"])
        rows = list(self.submissions.values())
        meta = {"count": len(rows)}
        return 200, {}, {"results": rows[(page - 1) * size : page * size], "_links": {}, "meta": meta}

    def _changed(self, row, action, given):
        if action == "request-return":
            row["return_requested"] = "2026-11-17T10:00:00Z"
            return 200, {}, {"id": row["id"], "status": row["status"], "participant": row["participant_id"]}
        if given["action"] == "REJECT" and len(given.get("message", "")) < 100:
            return 400, {}, {"error": {"detail": {"message": ["Ensure this field has at least 100 characters."]}}}
        row["status"] = {"APPROVE": "APPROVED", "REJECT": "REJECTED", "COMPLETE": "SCREENED OUT"}[given["action"]]
        return 200, {}, {"id": row["id"], "status": row["status"]}


class FakeMTurk:
    """The part of MTurk's API that is used here; signatures are looked at, not checked."""

    def __init__(self) -> None:
        self.assignments: dict[str, dict] = {}
        self.asked: list[tuple[str, dict]] = []
        self.signed: list[str] = []

    def add(self, who: str, status="Submitted") -> str:
        number = f"A{len(self.assignments):029d}"
        self.assignments[number] = {
            "AssignmentId": number, "WorkerId": who, "HITId": "HIT1", "AssignmentStatus": status,
            "AcceptTime": 1795000000.0, "SubmitTime": 1795000600.5, "Answer": "<xml/>",
        }  # fmt: skip
        return number

    def reply(self, method: str, path: str, headers, body: bytes):
        given = json.loads(body)
        operation = headers["X-Amz-Target"].removeprefix("MTurkRequesterServiceV20170117.")
        self.asked.append((operation, given))
        self.signed.append(headers["Authorization"])
        if operation == "ListAssignmentsForHIT":
            rows, start = list(self.assignments.values()), int(given.get("NextToken", "0"))
            end = start + given["MaxResults"]
            more = {"NextToken": str(end)} if end < len(rows) else {}
            return 200, {}, {"NumResults": len(rows[start:end]), "Assignments": rows[start:end], **more}
        one = self.assignments[given["AssignmentId"]]
        if one["AssignmentStatus"] != "Submitted":
            said = f"Assignment {one['AssignmentId']} is not in Submitted status."
            return 400, {}, {"__type": "RequestError", "Message": said}
        one["AssignmentStatus"] = "Approved" if operation == "ApproveAssignment" else "Rejected"
        return 200, {}, {}


@contextmanager
def listening(fake):
    """Serve a fake at a free port; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        def _any(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, headers, said = fake.reply(self.command, self.path, self.headers, body)
            data = said if isinstance(said, bytes) else json.dumps(said).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = _any

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
