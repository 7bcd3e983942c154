"""Limits of a server: from `server.toml` beside the studies, the environment, and the command line, the last first.

`[limits]` in the file, `SIMILITUDE_LIMIT_BODY_BYTES=131072` in the environment, `--limit body_bytes=131072` on the
command line: the same names everywhere, those of `Limits`.
"""

from __future__ import annotations

import difflib
import math
import os
import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from similitude.study.fault import StudyError
from similitude.study.web.limits import LIMITS, Limits

FILE, PREFIX = "server.toml", "SIMILITUDE_LIMIT_"
_LEAST = {"header_bytes": 1024, "body_bytes": 4096, "session_hours": 0.1, "link_hours": 0.1}  # 1 of all others
_MOST = {
    "session_hours": 24 * 365, "link_hours": 24 * 30, "upload_bytes": 10**12, "unpacked_bytes": 10**12,
}  # fmt: skip
_MOST_OTHERWISE = 10**9
_KINDS = {field.name: int if isinstance(field.default, int) else float for field in fields(Limits)}


def read_limits(
    root: Path, given: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None
) -> Limits:
    """The limits of the server of a folder; StudyError where a name or a value is none.

    Parameters
    ----------
    root : the folder of the studies, in which `server.toml` may lie
    given : what the command line says, by name
    environment : variables; those of the process unless given
    """
    variables = os.environ if environment is None else environment
    found = _of_file(root / FILE)
    for name, value in sorted(variables.items()):
        if name.startswith(PREFIX):
            found |= _one(name.removeprefix(PREFIX).lower(), value, name)
    for name, value in (given or {}).items():
        found |= _one(name, value, f"--limit {name}")
    return replace(LIMITS, **found)


def limits_given(lines: list[str]) -> dict[str, str]:
    """What `--limit NAME=VALUE` says, by name."""
    found = {}
    for line in lines:
        name, sign, value = line.partition("=")
        if not sign:
            raise StudyError(f"--limit {line}: expected NAME=VALUE, such as body_bytes=131072")
        found[name.strip()] = value.strip()
    return found


def _of_file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path}: not valid TOML ({error})") from None
    if unknown := sorted(set(written) - {"limits"}):
        raise StudyError(f"{path}: {unknown[0]}: unknown key; expected [limits]")
    limits = written.get("limits", {})
    if not isinstance(limits, dict):
        raise StudyError(f"{path}: limits: expected a table, found {limits!r}")
    return {
        key: value for name, own in limits.items() for key, value in _one(name, own, f"{path}: limits.{name}").items()
    }


def _one(name: str, value: Any, where: str) -> dict[str, Any]:
    """A limit by its name, checked."""
    if name not in _KINDS:
        near = difflib.get_close_matches(name, _KINDS, 1)
        raise StudyError(f"{where}: there is no limit of this name{f'; did you mean {near[0]}?' if near else ''}")
    kind, least, most = _KINDS[name], _LEAST.get(name, 1), _MOST.get(name, _MOST_OTHERWISE)
    words = "a whole number" if kind is int else "a number"
    try:
        number = value if not isinstance(value, str) else kind(value)
        if isinstance(number, bool) or not isinstance(number, (int, float)) or (kind is int and number != int(number)):
            raise ValueError
        if not (math.isfinite(number) and least <= number <= most):
            raise ValueError
    except (ValueError, OverflowError):
        raise StudyError(f"{where}: expected {words} from {least:g} to {most:g}, found {value!r}") from None
    return {name: kind(number)}
