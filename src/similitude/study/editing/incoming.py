"""Files on their way from a browser: they come in pieces, and lie beside the study until all of them were looked at.

A piece is smaller than the largest body that the server takes from anybody, so that no limit is raised for uploads. A
piece says where it belongs, and is taken only there: after a lost connection the browser asks how far it was.
"""

from __future__ import annotations

import re
import shutil
import stat
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from similitude.study.refusal import Refused
from similitude.study.web.limits import LIMITS, Limits

FOLDER = ".incoming"
_LEFT_BEHIND = 24 * 3600.0  # seconds after which what nobody finished is thrown away
_BLOCK = 1 << 20
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_MAC = "__MACOSX"


@dataclass(frozen=True)
class Came:
    """A file that came: what it is called, where it lies, or why it is not taken."""

    name: str
    path: Path | None = None
    why_not: str | None = None


class Incoming:
    """What comes for one study.

    Parameters
    ----------
    folder : of the study
    limits : sizes of files and archives
    """

    def __init__(self, folder: Path, limits: Limits = LIMITS) -> None:
        self.folder, self.limits = folder / FOLDER, limits

    def size(self, uid: str) -> int:
        """How much of a file is there."""
        path = self._place(uid)
        return path.stat().st_size if path.is_file() else 0

    def add(self, uid: str, at: int, data: bytes) -> int:
        """Add a piece that begins at `at`; returns how much is there then. Refused where it does not fit."""
        path = self._place(uid)
        there = self.size(uid)
        if at != there:
            raise Refused(409, "piece", f"at: expected {there}, found {at}")
        if there + len(data) > self.limits.upload_bytes:
            path.unlink(missing_ok=True)
            most = self.limits.upload_bytes / 2**20
            raise Refused(413, "too_large", f"A file has at most {most:,.4g} MB (the server's limit upload_bytes).")
        self.folder.mkdir(exist_ok=True)
        if not there:
            self._sweep()
        with path.open("ab") as file:
            file.write(data)
        return there + len(data)

    def came(self, files: list[tuple[str, str]]) -> list[Came]:
        """Files by id and name, archives unpacked; what cannot be taken says why."""
        found: list[Came] = []
        for uid, name in files:
            path = self._place(uid)
            if not path.is_file():
                found.append(Came(name, None, "it did not arrive; send it again"))
            elif name.lower().endswith(".zip"):
                found += self._unpacked(path, name)
            else:
                found.append(Came(_last(name), path))
        return found

    def clear(self, uids: list[str]) -> None:
        """Throw away what was looked at, and what was unpacked from it."""
        for uid in uids:
            path = self._place(uid)
            with suppress(OSError):
                path.unlink(missing_ok=True)
            shutil.rmtree(_unpacked_of(path), ignore_errors=True)
        with suppress(OSError):
            self.folder.rmdir()  # where nothing else is on its way

    def _place(self, uid: str) -> Path:
        if not _ID.fullmatch(uid):
            raise Refused(422, "upload", f"upload: expected 8 to 64 letters, digits, - and _, found {uid[:80]!r}")
        return self.folder / uid

    def _sweep(self) -> None:
        old = time.time() - _LEFT_BEHIND
        for path in self.folder.iterdir():
            with suppress(OSError):
                if path.stat().st_mtime < old:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _unpacked(self, path: Path, name: str) -> list[Came]:
        target = _unpacked_of(path)
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        try:
            with zipfile.ZipFile(path) as archive:
                return list(_entries(archive, target, name, self.limits))
        except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, OSError, EOFError, ValueError) as error:
            return [Came(name, None, f"no archive that can be read ({error})")]


def _unpacked_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.unpacked")


def _last(name: str) -> str:
    """A name without the folders before it, however they are written."""
    return PurePosixPath(name.replace("\\", "/")).name


def _entries(archive: zipfile.ZipFile, target: Path, name: str, limits: Limits) -> Iterator[Came]:
    """What an archive holds; sizes are counted while it is unpacked, since what it says of itself may be a lie."""
    left, number = limits.unpacked_bytes, 0
    for entry in archive.infolist():
        last = _last(entry.filename)
        if entry.is_dir() or entry.filename.startswith(_MAC) or not last or last.startswith("."):
            continue
        number += 1
        if number > limits.archive_files:
            yield Came(name, None, f"more than {limits.archive_files:,} files; what came after them was left out")
            return
        if why := _against(entry):
            yield Came(entry.filename, None, why)
            continue
        place = target / f"{number:06d}"
        size = _unpack(archive, entry, place, min(left, limits.upload_bytes))
        if size is None:
            place.unlink(missing_ok=True)
            yield Came(entry.filename, None, "too large once it is unpacked; what came after it was left out")
            return
        left -= size
        yield Came(last, place)


def _against(entry: zipfile.ZipInfo) -> str | None:
    """Why an entry of an archive is not unpacked."""
    parts = entry.filename.replace("\\", "/").split("/")
    if ".." in parts or entry.filename.startswith(("/", "\\")) or re.match(r"^[A-Za-z]:", entry.filename):
        return "its name leads out of the archive"
    if entry.flag_bits & 0x1:
        return "it is encrypted"
    mode = entry.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "it is a link, or no plain file"
    return None


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, place: Path, most: int) -> int | None:
    """Write one entry; its size, None where it is larger than there is room for."""
    size = 0
    with archive.open(entry) as source, place.open("wb") as out:
        while block := source.read(_BLOCK):
            size += len(block)
            if size > most:
                return None
            out.write(block)
    return size
