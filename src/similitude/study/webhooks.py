"""Webhooks: addresses that are told when something happens in a study.

What happened is written in the transaction that does it, one row for each address that wants to know, so that nothing
is told that did not happen and nothing is forgotten; a thread of the server (`courier.py`) sends it later, so that no
answer waits for anybody's server. Raters are named by their codes.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa

from similitude.study.assigning import Assigning
from similitude.study.audit import note
from similitude.study.entrance import APART
from similitude.study.items import is_storable
from similitude.study.refusal import Refused
from similitude.study.settings import Study
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.store.rows import Row

RATER_FINISHED, STUDY_COMPLETE = "rater_finished", "study_complete"
QUOTA_FILLED, MODEL_TROUBLE, TEST = "quota_filled", "model_trouble", "test"
EVENTS = {
    RATER_FINISHED: "a rater has answered everything",
    QUOTA_FILLED: "all seats are taken: nobody new is let in for now",
    STUDY_COMPLETE: "as many have finished as the study asks for",
    MODEL_TROUBLE: "the model process failed; told once an hour at most",
}
_LONGEST, _LISTED = 500, 20


@dataclass(frozen=True)
class Webhook:
    """An address that is told; its secret is shown once, when it is made."""

    id: str
    url: str
    events: tuple[str, ...]
    by: str
    created: float
    ended: float | None


class Webhooks:
    """The webhooks of the studies of one database.

    Parameters
    ----------
    database : where they are kept
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    def make(self, study_id: int, url: str, events: Iterable[str], by: str) -> str:
        """A new one; its secret, with which what is sent to it is signed."""
        given = set(events)
        if not given or given - set(EVENTS):
            raise Refused(422, "events", f"events: expected some of {', '.join(EVENTS)}, found {sorted(given)}")
        _check(url)
        number, secret, now = secrets.token_hex(6), secrets.token_urlsafe(32), self.database.clock.now()
        row = {
            "id": number, "study_id": study_id, "url": url, "secret": secret, "by": by, "created": now,
            "events": " ".join(event for event in EVENTS if event in given),
        }  # fmt: skip
        with self.database.write() as connection:
            connection.execute(sa.insert(schema.webhook), row)
            note(connection, now, by, "made a webhook of", study_id, f"{url}: {row['events']}, id {number}")
        return secret

    def of_study(self, study_id: int) -> list[Webhook]:
        """The webhooks of a study, the latest first."""
        table = schema.webhook
        query = sa.select(table).where(table.c.study_id == study_id).order_by(table.c.created.desc(), table.c.id)
        with self.database.read() as connection:
            rows = connection.execute(query).mappings().all()
        kept = ("id", "url", "by", "created", "ended")
        return [Webhook(**{name: row[name] for name in kept}, events=tuple(row["events"].split())) for row in rows]

    def deliveries(self, study_id: int) -> list[dict[str, Any]]:
        """What was told last, or is still to be."""
        table, hook = schema.delivery, schema.webhook
        columns = [column for column in table.c if column.name != "body"]
        query = sa.select(*columns, hook.c.url).join(hook, hook.c.id == table.c.webhook_id)
        query = query.where(hook.c.study_id == study_id).order_by(table.c.id.desc()).limit(_LISTED)
        with self.database.read() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def end(self, study_id: int, number: str, by: str) -> None:
        """Tell an address nothing more, not even what waits."""
        table, delivery, now = schema.webhook, schema.delivery, self.database.clock.now()
        here = table.c.study_id == study_id, table.c.id == number
        with self.database.write() as connection:
            if not connection.execute(
                sa.update(table).where(*here, table.c.ended.is_(None)).values(ended=now)
            ).rowcount:
                raise Refused(404, "no_webhook", f"There is no webhook {number} of this study any more.")
            waiting = delivery.c.webhook_id == number, delivery.c.due.is_not(None)
            connection.execute(sa.update(delivery).where(*waiting).values(due=None, trouble="the webhook was ended"))
            note(connection, now, by, "ended a webhook of", study_id, f"id {number}")

    def test(self, study_id: int, number: str, by: str) -> None:
        """Send a trial."""
        hook, now = schema.webhook, self.database.clock.now()
        here = hook.c.study_id == study_id, hook.c.id == number, hook.c.ended.is_(None)
        with self.database.write() as connection:
            found = connection.execute(sa.select(hook.c.id, hook.c.events).where(*here)).one_or_none()
            if found is None:
                raise Refused(404, "no_webhook", f"There is no webhook {number} of this study any more.")
            _enqueue(connection, study_id, [found.id], TEST, secrets.token_hex(6), now, {"by": by})


def happened(connection: sa.Connection, study_id: int, event: str, key: str, at: float, **about: Any) -> None:
    """Write down that something happened, in the transaction that does it; once for each `key`."""
    hook = schema.webhook
    query = sa.select(hook.c.id, hook.c.events).where(hook.c.study_id == study_id, hook.c.ended.is_(None))
    wanted = [row.id for row in connection.execute(query) if event in row.events.split()]
    if wanted:
        _enqueue(connection, study_id, wanted, event, key, at, about)


def tell_finished(connection: sa.Connection, study: Study, study_id: int, rater: Row, at: float) -> None:
    """A rater has finished, and perhaps the study with it; rehearsals and pilots are nobody's concern."""
    if rater["origin"] in APART:
        return
    about = {"rater": rater["code"], "answered": rater["answered"], "withheld": rater["withheld"]}
    happened(connection, study_id, RATER_FINISHED, rater["code"], at, **about)
    if study.raters.limit is not None:
        table = schema.rater
        here = table.c.study_id == study_id, table.c.origin.not_in(APART), table.c.finished.is_not(None)
        finished = connection.scalar(sa.select(sa.func.count()).where(*here)) or 0
        if finished >= study.raters.limit:
            happened(connection, study_id, STUDY_COMPLETE, str(study.raters.limit), at, finished=finished)


def trouble_of_model(connection: sa.Connection, study_id: int, at: float, trouble: str) -> None:
    """The model process failed; told once an hour."""
    happened(connection, study_id, MODEL_TROUBLE, f"{at // 3600:.0f}", at, trouble=trouble)


def tell_conditions(connection: sa.Connection, study_id: int, assigning: Assigning, at: float) -> None:
    """Conditions of which all places are taken."""
    for one in assigning.figures(connection):
        if one.quota is not None and one.places is not None and one.places >= one.quota:
            about = {"condition": one.name, "limit": one.quota}
            happened(connection, study_id, QUOTA_FILLED, json.dumps(about), at, **about)


def tell_full(connection: sa.Connection, study: Study, study_id: int, at: float) -> None:
    """No seat is left."""
    quota = {"limit": study.raters.limit, "joins_in_all": study.raters.joins_in_all}
    happened(connection, study_id, QUOTA_FILLED, json.dumps(quota), at, **quota)


def _enqueue(
    connection: sa.Connection, study_id: int, hooks: list[str], event: str, key: str, at: float, about: dict[str, Any]
) -> None:
    table = schema.delivery
    told = sa.select(table.c.webhook_id).where(
        table.c.event == event, table.c.key == key, table.c.webhook_id.in_(hooks)
    )
    before = set(connection.scalars(told))
    study = connection.scalar(sa.select(schema.study.c.name).where(schema.study.c.id == study_id))
    when = datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    body = json.dumps({"event": event, "study": study, "at": when, **about}, ensure_ascii=False)
    rows = [
        {"webhook_id": hook, "event": event, "key": key, "body": body, "created": at, "due": at, "tries": 0}
        for hook in hooks
        if hook not in before
    ]
    if rows:
        connection.execute(sa.insert(table), rows)


def signature(secret: str, at: int, body: bytes) -> str:
    """What stands in the header `X-Similitude-Signature`: the time, and HMAC-SHA256 of `TIME.BODY` by the secret."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def _check(url: str) -> None:
    parts = urlsplit(url if is_storable(url) and url.isprintable() else "")
    if len(url) > _LONGEST or parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise Refused(422, "url", f"url: expected https://..., at most {_LONGEST} characters, without a password")
