"""The keys of accounts with recruiting services, one of each service for a study.

They lie in the database beside its other secrets: no page shows them, no log, export or backup holds them. Who may read
the database file has them, as its owner alone does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from similitude.study.audit import note
from similitude.study.items import is_storable
from similitude.study.recruiting.mturk import MTurk
from similitude.study.recruiting.prolific import Prolific
from similitude.study.refusal import Refused
from similitude.study.store import schema
from similitude.study.store.database import Database

PREFIX = "recruiting:"  # of the names of these secrets
SERVICES = {"prolific": "Prolific", "mturk": "MTurk"}
_NEEDED = {"prolific": ("token", "study"), "mturk": ("key", "secret", "study")}
_LONGEST = 500


@dataclass(frozen=True)
class Account:
    """What may be said about an account.

    Attributes
    ----------
    service : prolific or mturk
    study : the id of the study (or HIT) there
    sandbox : whether it is MTurk's sandbox
    by, since : who gave the key, and when
    """

    service: str
    study: str
    sandbox: bool
    by: str
    since: float


class Accounts:
    """The accounts of one study.

    Parameters
    ----------
    database, study_id : where they are kept
    """

    def __init__(self, database: Database, study_id: int) -> None:
        self.database, self.study_id = database, study_id

    def keep(self, service: str, given: Mapping[str, str], by: str, sandbox: bool = False) -> None:
        """Keep the key of an account in the place of an earlier one; an empty key leaves that as it is."""
        values = self._checked(service, given)
        now, table = self.database.clock.now(), schema.secret
        with self.database.write() as connection:
            before = self._stored(connection, service)
            if any(not values[name] for name in values if name != "study"):
                if before is None:
                    raise Refused(422, "key", f"{SERVICES[service]}: give the key of the account.")
                values = {**before, "study": values["study"]}
            row = {**values, "sandbox": sandbox, "by": by, "since": now}
            connection.execute(sa.delete(table).where(table.c.name == self._name(service)))
            connection.execute(sa.insert(table), {"name": self._name(service), "value": json.dumps(row)})
            note(connection, now, by, "kept an account for", self.study_id, SERVICES[service])

    def forget(self, service: str, by: str) -> None:
        """Forget an account."""
        table = schema.secret
        with self.database.write() as connection:
            gone = connection.execute(sa.delete(table).where(table.c.name == self._name(service))).rowcount
            if gone:
                note(connection, self.database.clock.now(), by, "forgot an account of", self.study_id, service)

    def known(self) -> dict[str, Account]:
        """The accounts that are kept, without their keys."""
        with self.database.read() as connection:
            found = {service: self._stored(connection, service) for service in SERVICES}
        return {
            service: Account(service, row["study"], row["sandbox"], row["by"], row["since"])
            for service, row in found.items() if row is not None
        }  # fmt: skip

    def opened(self, service: str) -> tuple[Prolific | MTurk, str]:
        """The account, ready to be asked, and the id of the study there; refused where none is kept."""
        with self.database.read() as connection:
            row = self._stored(connection, service) if service in SERVICES else None
        if row is None:
            raise Refused(409, "no_account", f"No account with {SERVICES.get(service, 'that service')} is kept here.")
        if service == "prolific":
            return Prolific(row["token"]), row["study"]
        return MTurk(row["key"], row["secret"], row["sandbox"]), row["study"]

    def _checked(self, service: str, given: Mapping[str, str]) -> dict[str, str]:
        if service not in SERVICES:
            raise Refused(422, "service", f"service: expected one of {', '.join(SERVICES)}")
        values = {name: given.get(name, "").strip() for name in _NEEDED[service]}
        for name, value in values.items():
            if len(value) > _LONGEST or not value.isprintable() or not is_storable(value) or not value.isascii():
                raise Refused(422, name, f"{name}: expected at most {_LONGEST} characters as the service shows them.")
        if not values["study"]:
            raise Refused(422, "study", f"study: give the id of the study on {SERVICES[service]}.")
        return values

    def _stored(self, connection: sa.Connection, service: str) -> dict[str, Any] | None:
        table = schema.secret
        text = connection.scalar(sa.select(table.c.value).where(table.c.name == self._name(service)))
        return None if text is None else json.loads(text)

    def _name(self, service: str) -> str:
        return f"{PREFIX}{self.study_id}:{service}"
