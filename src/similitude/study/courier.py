"""Takes to webhooks what they are to be told: a thread of the server, in its own time, again and again where it fails.

A row is taken by moving the time when it is due, so that of several servers one sends it; one that dies meanwhile
leaves it due again. So an address may be told twice: `X-Similitude-Delivery` says whether it was.
"""

from __future__ import annotations

import logging
import threading
import urllib.error
import urllib.request
from typing import Any

import sqlalchemy as sa

import similitude
from similitude.study.store import schema
from similitude.study.store.database import Database, StoreError
from similitude.study.webhooks import signature

_log = logging.getLogger("similitude.study")
EVERY = 2.0  # seconds between two looks
_TIMEOUT, _TAKEN = 10.0, 60.0
_FIRST, _LONGEST, _TRIES = 15.0, 6 * 3600.0, 19  # seconds to the second try, and at most; in all some two days
_AT_ONCE = 10


def wait_after(tries: int) -> float | None:
    """Seconds to the next try after so many that failed; None is never."""
    return None if tries >= _TRIES else min(_FIRST * 2.0 ** (tries - 1), _LONGEST)


class Courier:
    """Delivers until it is stopped.

    Parameters
    ----------
    database : where it is written what is to be told
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="courier", daemon=True)
        self._opener = urllib.request.build_opener(_NoRedirects)

    def start(self) -> Courier:
        """Begin."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End; what is on its way is sent again by who comes next."""
        self._stop.set()
        self._thread.join(2 * _TIMEOUT)

    def _run(self) -> None:
        while not self._stop.wait(EVERY):
            try:
                self.deliver_due()
            except StoreError as fault:
                _log.warning("webhooks: %s", fault)
            except Exception:
                _log.exception("webhooks")

    def deliver_due(self) -> int:
        """Send what is due; how many were sent, whatever came of it."""
        taken = self._take()
        for row in taken:
            if self._stop.is_set():
                break
            self._write(row, *self._send(row))
        return len(taken)

    def _take(self) -> list[dict[str, Any]]:
        table, hook, now = schema.delivery, schema.webhook, self.database.clock.now()
        due = table.c.due.is_not(None), table.c.due <= now
        with self.database.read() as connection:  # looking takes no lock: most of the time nothing is due
            if connection.scalar(sa.select(table.c.id).where(*due).limit(1)) is None:
                return []
        query = sa.select(table, hook.c.url, hook.c.secret).join(hook, hook.c.id == table.c.webhook_id).where(*due)
        with self.database.write() as connection:
            rows = [dict(row) for row in connection.execute(query.order_by(table.c.due).limit(_AT_ONCE)).mappings()]
            ids = [row["id"] for row in rows]
            connection.execute(sa.update(table).where(table.c.id.in_(ids)).values(due=now + _TAKEN))
        return rows

    def _send(self, row: dict[str, Any]) -> tuple[int | None, str | None]:
        """The status of the reply, and what went wrong."""
        body, at = row["body"].encode(), int(self.database.clock.now())
        headers = {
            "Content-Type": "application/json", "User-Agent": f"similitude/{similitude.__version__}",
            "X-Similitude-Event": row["event"], "X-Similitude-Delivery": str(row["id"]),
            "X-Similitude-Signature": signature(row["secret"], at, body),
        }  # fmt: skip
        try:
            request = urllib.request.Request(row["url"], body, headers)
            with self._opener.open(request, timeout=_TIMEOUT) as reply:
                return reply.status, None
        except urllib.error.HTTPError as refusal:
            refusal.close()
            return refusal.code, f"status {refusal.code}"
        except (OSError, ValueError) as fault:  # nobody there, no such host, no such certificate, no HTTP
            return None, str(getattr(fault, "reason", None) or fault or type(fault).__name__)[:200]

    def _write(self, row: dict[str, Any], status: int | None, trouble: str | None) -> None:
        table, now, tries = schema.delivery, self.database.clock.now(), row["tries"] + 1
        values: dict[str, Any] = {"tries": tries, "status": status, "trouble": trouble, "due": None}
        if trouble is None:
            values["delivered"] = now
        elif (wait := wait_after(tries)) is not None:
            values["due"] = now + wait
        with self.database.write() as connection:
            here = table.c.id == row["id"], table.c.due.is_not(None)  # unless the webhook was ended meanwhile
            connection.execute(sa.update(table).where(*here).values(values))


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Whoever is to be told has the address that was given, and no other."""

    def redirect_request(self, *_: Any) -> None:
        return None
