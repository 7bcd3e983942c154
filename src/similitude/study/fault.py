"""What is said of a study that cannot be served or asked; apart, so that a client needs no packages of a server."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from similitude.study.patterns import WORDS

UNKNOWN = "unknown key; see the reference of study.toml for those there are"
_WITHIN = re.compile(r"([a-z_][a-z0-9_.]*): (.*)", re.DOTALL)
_IN_BLOCK = re.compile(r"^block\.[0-9]+\.(?=question\.)")
_LONGEST = 120  # characters of what was found


class StudyError(ValueError):
    """A study that cannot be served as it is written, or asked as one tries to; the message says what to change."""


class Fault(NamedTuple):
    """What is wrong with one key of `study.toml`: which, and a sentence."""

    key: str
    sentence: str

    @property
    def where(self) -> str:
        """The key as people read it, counted from 1: "block 2, question, number"."""
        first, *others = (str(int(part) + 1) if part.isdecimal() else part for part in self.key.split("."))
        return "".join([first, *(f" {part}" if part.isdecimal() else f", {part}" for part in others)])


class KeyFault(ValueError):
    """Raised by a check of several tables at once: the key that is wrong, with its place in lists, and a sentence."""

    def __init__(self, key: str, sentence: str) -> None:
        super().__init__(sentence)
        self.fault = Fault(key, sentence)


class WrongKeys(StudyError):
    """Settings that do not fit, one line per key; `faults` holds the same by key."""

    def __init__(self, path: Path, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(f"{path}: {fault.key}: {fault.sentence}" for fault in faults))

    @classmethod
    def of(cls, path: Path, found: Sequence[Any]) -> WrongKeys:
        """Make one of what pydantic found; what `[question]` says wrong is not said again of every block."""
        faults = [_fault(one) for one in found]
        above = {fault for fault in faults if fault.key.startswith("question.")}
        return cls(path, [one for one in faults if one._replace(key=_IN_BLOCK.sub("", one.key)) not in above - {one}])


def _fault(found: Any) -> Fault:
    """A key and what is wrong with it; what is said of a table as a whole begins with the key in it."""
    key = ".".join(str(part) for part in found["loc"])
    if found["type"] != "value_error":
        return Fault(key, _sentence(found))
    error, said = found["ctx"]["error"], found["msg"].removeprefix("Value error, ")
    if isinstance(error, KeyFault):
        return error.fault
    if within := _WITHIN.match(said):
        name = within[1]
        return Fault(name if not key or name.startswith(f"{key}.") else f"{key}.{name}", within[2])
    return Fault(key, said)


_EXPECTED = {  # by pydantic's words for a fault, ours for what should stand there
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a number that is not infinite",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
    "tuple_type": "a list",
    "dict_type": "a table of texts",
    "model_type": "a table of keys",
}


def _expected(kind: str, context: Mapping[str, Any]) -> str:
    if kind == "string_pattern_mismatch":
        return WORDS[context["pattern"]]
    return _EXPECTED.get(kind, "another value").format(**context)


def _sentence(found: Any) -> str:
    """What was expected, and what was found."""
    if found["type"] == "extra_forbidden":
        return UNKNOWN
    if found["type"] == "missing":
        return "expected a value, found none"
    given = repr(found["input"])
    shown = given if len(given) <= _LONGEST else f"{given[:_LONGEST]}..."
    return f"expected {_expected(found['type'], found.get('ctx', {}))}, found {shown}"
