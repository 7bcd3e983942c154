"""Requests to a recruiting service: JSON both ways, on the standard library; every fault is a sentence.

Nothing of what is sent is ever part of a sentence or of a log: it holds the key of an account. Redirects are not
followed, since they would carry that key to wherever they lead. What a service says is shortened before it is shown.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from similitude.study.fault import StudyError

TIMEOUT = 20.0  # seconds that one request may take
PATIENCE = 30.0  # seconds that are waited in all where a service asks for patience
_LARGEST = 20_000_000  # bytes of a reply
_LONGEST = 300  # characters of what a service says
_TRIES = 3


class ServiceFault(StudyError):
    """Why a recruiting service did not do what was asked, in a sentence.

    Attributes
    ----------
    status : of HTTP; 0 where there was no reply
    """

    def __init__(self, sentence: str, status: int = 0) -> None:
        super().__init__(sentence)
        self.status = status


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        return None


@dataclass
class Caller:
    """Sends requests to one service.

    Parameters
    ----------
    service : its name, as sentences call it
    timeout, patience : seconds that one request may take, and that are waited in all
    sleep : waits for so many seconds
    """

    service: str
    timeout: float = TIMEOUT
    patience: float = PATIENCE
    sleep: Callable[[float], None] = time.sleep

    def call(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, again: bool = True) -> Any:
        """What the service says; sent again where it is busy or away, unless it is not `again` the same to do so."""
        request = Request(url, body, {**headers, "User-Agent": "similitude"}, method=method)
        for attempt in range(_TRIES):
            try:
                return self._once(request)
            except _Busy as busy:
                left = attempt < _TRIES - 1 and busy.wait <= self.patience
                if not (left and (again or busy.fault.status == 429)):
                    raise busy.fault from None
                self.patience -= busy.wait
                self.sleep(busy.wait)
        raise AssertionError("the last attempt returns or raises")

    def _once(self, request: Request) -> Any:
        try:
            with build_opener(_NoRedirect).open(request, timeout=self.timeout) as reply:
                return _decoded(reply.read(_LARGEST + 1), self.service)
        except HTTPError as error:
            with error:
                raise self._refused(error.code, error.headers, error.read(_LARGEST)) from None
        except (URLError, HTTPException, OSError) as error:
            why = error.reason if isinstance(error, URLError) else error
            slow = isinstance(why, TimeoutError) or "timed out" in str(why)
            said = f"did not answer within {self.timeout:g} seconds" if slow else "cannot be reached from this server"
            raise _Busy(
                ServiceFault(f"{self.service} {said}. Nothing is known to have been changed there."), 1.0
            ) from None

    def _refused(self, status: int, headers: Any, data: bytes) -> Exception:
        """What a status means; a `_Busy` where waiting may help."""
        said = _said(data)
        if status == 429 or (status == 400 and b"ThrottlingException" in data):
            wait = _seconds(headers.get("Retry-After"))
            return _Busy(ServiceFault(f"{self.service} asks to wait {wait:.0f} seconds between requests.", 429), wait)
        if status >= 500:
            return _Busy(
                ServiceFault(f"{self.service} has a fault of its own (status {status}); try again later.", status), 1.0
            )
        if status in (401, 403):
            return ServiceFault(
                f"{self.service} does not accept the key that is kept here (status {status}){said}.", status
            )
        if status == 404:
            return ServiceFault(f"{self.service} knows nothing of that id, or this account may not see it{said}.", 404)
        if 300 <= status < 400:
            return ServiceFault(f"{self.service} leads elsewhere (status {status}), which is not followed.", status)
        return ServiceFault(f"{self.service} refused it (status {status}){said}.", status)


class _Busy(Exception):
    """A fault that may be gone after a wait."""

    def __init__(self, fault: ServiceFault, wait: float) -> None:
        super().__init__(str(fault))
        self.fault, self.wait = fault, wait


def _decoded(data: bytes, service: str) -> Any:
    if len(data) > _LARGEST:
        raise ServiceFault(f"{service} sent more than {_LARGEST // 1_000_000} MB, which is not read.")
    try:
        return json.loads(data) if data.strip() else {}
    except ValueError:
        raise ServiceFault(f"{service} sent something that is not JSON; its interface may have changed.") from None


def _said(data: bytes) -> str:
    """The words of a refusal, whatever shape they have."""
    try:
        found: Any = json.loads(data)
    except ValueError:
        return ""
    while isinstance(found, dict | list) and found:
        if isinstance(found, list):
            found = found[0]
        else:
            known = next((name for name in ("error", "detail", "title", "message", "Message") if found.get(name)), None)
            found = found[known] if known else next(iter(found.values()))
    words = " ".join(str(found).split())[:_LONGEST] if found else ""
    return f": {words.rstrip('.')}" if words else ""


def _seconds(text: str | None) -> float:
    try:
        return min(max(float(text or ""), 1.0), 3600.0)
    except ValueError:
        return 5.0
