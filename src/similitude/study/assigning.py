"""Into which condition a rater comes, in which order the blocks, and the places that conditions with a quota have.

A rater has a place or has none: that is written in the row of the rater, in the one transaction at a time that may
write, so that no two servers ever give the same place, and a kill at any moment leaves either all of it or nothing. A
place waits `assignment.minutes` for who has it. When that time is over it is taken away only where somebody else needs
it; who comes back gets a place again if one is free, and is told so kindly if none is. Nobody finishes without a place,
so that never more than the quota do.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random, SystemRandom

import sqlalchemy as sa

from similitude.study.counting import rater_counts
from similitude.study.designs import BEFORE_CONDITIONS, Condition, orders, shuffled_blocks
from similitude.study.refusal import Refused, study_is_full
from similitude.study.settings import Study
from similitude.study.store import schema
from similitude.study.store.database import Database
from similitude.study.store.rows import Row, counts_by

_RATER = schema.rater.c


@dataclass(frozen=True)
class ConditionFigures:
    """How far a condition is.

    Attributes
    ----------
    name, quota : the condition; None is no quota
    raters, finished : whose answers count, and who of them has finished
    places : how many are taken, as the quota counts them; None where nobody is assigned to it any more
    """

    name: str
    quota: int | None
    raters: int
    finished: int
    places: int | None


class Assigning:
    """Assigns the raters of one study.

    Parameters
    ----------
    study, study_id : as written in `study.toml`, and its number
    database : where its raters are
    rng : decides between equals
    """

    def __init__(self, study: Study, study_id: int, database: Database, rng: Random | None = None) -> None:
        self.study, self.study_id, self.database = study, study_id, database
        self.rng = rng or SystemRandom()
        self._conditions = {one.name: one for one in study.condition}

    def assign(self, connection: sa.Connection, parameters: Mapping[str, str], counts: bool) -> Row:
        """The condition, the order of blocks and the place of a new rater; refused where there is no place.

        `counts` is false of rehearsals, which take no place and find none taken.
        """
        condition = self._condition(connection, parameters, counts)
        name = None if condition is None else condition.name
        blocks = self._blocks(connection, name)
        until = None
        if condition is not None and counts:
            self._sweep(connection, condition)
            until = self._until(connection)
        return {"condition": name, "blocks": None if blocks is None else json.dumps(blocks), "place_until": until}

    def is_full(self, connection: sa.Connection, parameters: Mapping[str, str]) -> bool:
        """Whether there is no place in any condition, or none in the one that a link names."""
        named = self._conditions.get(parameters.get(self.study.assignment.parameter or "", ""))
        return bool(self._conditions) and not self._open(self._taken(connection), *([named] if named else []))

    def take_again(self, connection: sa.Connection, raters: Iterable[Row]) -> None:
        """Give places to raters who have lost theirs, where some are free; others are marked `displaced`."""
        for rater in raters:
            condition = self._conditions.get(rater["condition"] or "")
            if condition is None or not self._needs_place(rater, condition):
                continue
            if self._open(self._taken(connection), condition):
                self._sweep(connection, condition)
                rater["place_until"] = self._until(connection)
                mine = sa.update(schema.rater).where(_RATER.id == rater["id"])
                connection.execute(mine.values(place_until=rater["place_until"]))
            else:
                rater["displaced"] = True

    def figures(self, connection: sa.Connection) -> list[ConditionFigures]:
        """How far each condition is; then those that raters are in who came when there were others, or none."""
        taken, count, done = self._taken(connection), sa.func.count(), sa.func.count(_RATER.finished)
        here = _RATER.study_id == self.study_id, rater_counts()
        query = sa.select(_RATER.condition, count, done).where(*here).group_by(_RATER.condition)
        found = {name or BEFORE_CONDITIONS: (raters, finished) for name, raters, finished in connection.execute(query)}
        now = [
            ConditionFigures(one.name, one.quota, *found.pop(one.name, (0, 0)), taken[one.name])
            for one in self.study.condition
        ]
        before = [ConditionFigures(name, None, *found[name], None) for name in sorted(found)]
        return now + (before if now else [])

    @property
    def _joined(self) -> list[sa.ColumnElement[bool]]:
        here = [_RATER.study_id == self.study_id, _RATER.origin == "joined"]
        return [*here, _RATER.erased.is_(None), _RATER.left_out.is_(None)]

    def _taken(self, connection: sa.Connection) -> Counter[str]:
        """Places that are taken, by condition; those whose time is over are free."""
        query = sa.select(_RATER.condition, sa.func.count()).where(*self._joined, _RATER.condition.is_not(None))
        if self.study.assignment.counts == "completed":
            waits = sa.or_(_RATER.finished.is_not(None), _RATER.place_until > self.database.uptime.now())
            query = query.where(_RATER.place_until.is_not(None), _RATER.withheld.is_(None), waits)
        return Counter(counts_by(connection, query.group_by(_RATER.condition)))

    def _open(self, taken: Counter[str], *among: Condition) -> list[Condition]:
        """The conditions that have a place."""
        some = among or self.study.condition
        return [one for one in some if one.quota is None or taken[one.name] < one.quota]

    def _condition(self, connection: sa.Connection, parameters: Mapping[str, str], counts: bool) -> Condition | None:
        """Of the link, where it says one; else the one that lacks most people, chance deciding between equals."""
        if not self._conditions:
            return None
        named = parameters.get(self.study.assignment.parameter or "")
        if named is not None and named not in self._conditions:
            raise Refused(403, "not_named", "This link is not one of those that were sent out for this study.")
        taken = self._taken(connection)
        among = (self._conditions[named],) if named is not None else self.study.condition
        free = self._open(taken, *among) if counts else list(among)
        if not free:
            raise study_is_full()
        filled = {one.name: taken[one.name] / self._weight(one) for one in free}
        least = min(filled.values())
        return self.rng.choice([one for one in free if filled[one.name] == least])

    def _weight(self, condition: Condition) -> float:
        """As written; else the quotas, where all have one, so that all are full at the same time."""
        if condition.weight is not None:
            return condition.weight
        if all(one.quota is not None and one.weight is None for one in self.study.condition):
            return float(condition.quota or 1)
        return 1.0

    def _blocks(self, connection: sa.Connection, condition: str | None) -> tuple[str, ...] | None:
        """The order of a new rater's blocks; None where it is the one that is written."""
        seen = self.study.under(condition)
        names = [block.name for block in seen.block]
        if seen.block_order == "random" and len(names) > 1:
            return shuffled_blocks(names, self.rng)
        offered = orders(names, seen.block_order)
        if not offered:
            return None
        same = _RATER.condition.is_(None) if condition is None else _RATER.condition == condition
        query = sa.select(_RATER.blocks, sa.func.count()).where(*self._joined, self._stays, same)
        had = counts_by(connection, query.group_by(_RATER.blocks))
        times = {one: had.get(json.dumps(one), 0) for one in offered}
        return self.rng.choice([one for one in offered if times[one] == min(times.values())])

    @property
    def _stays(self) -> sa.ColumnElement[bool]:
        """Of raters who have finished, or may still do so in time."""
        since = self.database.uptime.now() - 60 * self.study.assignment.minutes
        return sa.and_(_RATER.withheld.is_(None), sa.or_(_RATER.finished.is_not(None), _RATER.began > since))

    def _needs_place(self, rater: Row, condition: Condition) -> bool:
        given = rater["place_until"] is not None or rater["finished"] is not None or rater["withheld"] is not None
        counted = self.study.assignment.counts == "completed" and condition.quota is not None
        return counted and not given and rater["origin"] == "joined" and rater["erased"] is None

    def _sweep(self, connection: sa.Connection, condition: Condition) -> None:
        """Take places away whose time is over: another server may go by a clock that is a little behind."""
        late = _RATER.finished.is_(None), _RATER.place_until <= self.database.uptime.now()
        mine = _RATER.study_id == self.study_id, _RATER.condition == condition.name
        if condition.quota is not None:
            connection.execute(sa.update(schema.rater).where(*mine, *late).values(place_until=None))

    def _until(self, connection: sa.Connection) -> float:
        return self.database.uptime.advance(connection) + 60 * self.study.assignment.minutes
