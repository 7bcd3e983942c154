"""What is said of a study that cannot be served or asked; apart, so that a client needs no packages of a server."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

UNKNOWN = "unknown key; see the reference of study.toml for those there are"
_WITHIN = re.compile(r"([a-z_][a-z0-9_.]*): (.*)", re.DOTALL)


class StudyError(ValueError):
    """A study that cannot be served as it is written, or asked as one tries to; the message says what to change."""


class Fault(NamedTuple):
    """What is wrong with one key of `study.toml`: which, and a sentence."""

    key: str
    sentence: str


class WrongKeys(StudyError):
    """Settings that do not fit, one line per key; `faults` holds the same by key."""

    def __init__(self, path: Path, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(f"{path}: {fault.key}: {fault.sentence}" for fault in faults))

    @classmethod
    def of(cls, path: Path, found: Sequence[Any]) -> WrongKeys:
        """Make one of what pydantic found."""
        return cls(path, [_fault(one) for one in found])


def _fault(found: Any) -> Fault:
    """A key and what is wrong with it; what is said of a table as a whole begins with the key in it."""
    key = ".".join(str(part) for part in found["loc"])
    said = found["msg"].removeprefix("Value error, ")
    if found["type"] == "extra_forbidden":
        return Fault(key, UNKNOWN)
    if found["type"] == "value_error" and (within := _WITHIN.match(said)):
        name = within[1]
        return Fault(name if name.startswith(f"{key}.") else f"{key}.{name}", within[2])
    told = found["type"] in ("missing", "value_error")
    return Fault(key, said if told else f"{said}, found {found['input']!r}")
