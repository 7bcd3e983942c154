"""Files of others: fetched once from where they were published, checked by their SHA-256, and kept on the disk."""

from __future__ import annotations

import hashlib
import os
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from similitude.feedback.files.whole import write_whole

FOLDER = "SIMILITUDE_CACHE"  # the environment variable
_PATIENCE = 60.0  # seconds without a byte


@dataclass(frozen=True)
class RemoteFile:
    """A file that somebody published.

    Attributes
    ----------
    name : what it is called in the cache
    address : where it is
    sha256 : the digest of its bytes
    """

    name: str
    address: str
    sha256: str


def cache_folder() -> Path:
    """Where fetched files are kept: where `SIMILITUDE_CACHE` points, else where the system keeps such files."""
    if chosen := os.environ.get(FOLDER):
        return Path(chosen)
    usual = {
        "win32": os.environ.get("LOCALAPPDATA") or "~/AppData/Local",
        "darwin": "~/Library/Caches",
    }
    place = usual.get(sys.platform) or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(place).expanduser() / "similitude"


def fetched(file: RemoteFile) -> Path:
    """Return where a file is on the disk; it is fetched where it is not there yet, or was changed since."""
    target = cache_folder() / file.name
    if target.is_file() and _digest(target.read_bytes()) == file.sha256:
        return target
    data = _download(file, target)
    if _digest(data) != file.sha256:
        raise ValueError(
            f"{file.name}: what lies at {file.address} is not the file that is known (its SHA-256 is {_digest(data)}, "
            f"expected {file.sha256}); nothing was kept"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, data)
    return target


def _download(file: RemoteFile, target: Path) -> bytes:
    try:
        with urllib.request.urlopen(file.address, timeout=_PATIENCE) as answer:
            return bytes(answer.read())
    except OSError as error:  # no network, no such host, no such file
        reason = getattr(error, "reason", None) or error
        raise ConnectionError(
            f"{file.name} could not be fetched from {file.address} ({reason}). Go online and try again, or put the "
            f"file at {target} yourself"
        ) from None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
