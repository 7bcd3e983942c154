"""Files that are whole or not there at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_whole(path: Path, data: bytes, private: bool = False) -> None:
    """Write a file whole or not at all: beside its place first, then moved there; `private` for its owner alone."""
    target = path.resolve()
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(beside, "xb", opener=_private if private else None) as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def create_private(path: Path) -> None:
    """Make an empty file that its owner alone may read and write, whatever the umask says."""
    with open(path, "xb", opener=_private):
        pass


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
