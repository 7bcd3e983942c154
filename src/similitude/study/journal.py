"""What is being moved in a study's folder, written down before every move: so that nothing stays half moved.

The files of items are moved before the revision that has them is recorded. Whoever is killed in between leaves the
journal; the next to look keeps the moves where a revision was recorded with them, and takes them back where none was.
It is locked while somebody moves, and the lock goes with the process, however that ends. An empty one says nothing.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from similitude.study.refusal import Refused

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NAME = ".moves.jsonl"
PATIENCE = 10.0  # seconds to wait for somebody else who moves files
_PAUSE = 0.05
_LOCKED_BYTE = 2**40  # where no line stands: systems that lock bytes let nobody read them

Move = tuple[Path, Path]  # from where to where; a copy is noted by its place alone, twice


class Journal:
    """The journal of one who moves files; nothing is written before the first move.

    Parameters
    ----------
    folder : of the study
    base : the latest revision before the moves
    """

    def __init__(self, folder: Path, base: int) -> None:
        self.folder, self.base = folder.resolve(), base
        self._stream: BinaryIO | None = None
        self._ends: list[int] = []

    def add(self, path: Path, to: Path) -> None:
        """Note a move that comes next."""
        if self._stream is None:
            self._stream = self._begun()
        self._ends.append(self._stream.tell())
        _append(self._stream, [place_of(self.folder, path), place_of(self.folder, to)])

    def drop(self) -> None:
        """Forget the last move, which was taken back."""
        if self._stream is not None:
            _cut(self._stream, self._ends.pop())

    def end(self) -> None:
        """Take the journal away: the moves that stand in it are part of a revision, or there are none left."""
        if self._stream is not None:
            _take_away(self.folder, self._stream)
        self._stream = None

    def leave(self) -> None:
        """Let go of the journal as it is, for whoever looks next."""
        if self._stream is not None:
            self._stream.close()
        self._stream = None

    def _begun(self) -> BinaryIO:
        stream = _held(self.folder, PATIENCE, make=True)
        if stream is None or stream.seek(0, os.SEEK_END):
            if stream is not None:
                stream.close()
            raise being_moved()
        _append(stream, {"base": self.base})
        return stream


def being_moved() -> Refused:
    """What is said to who would change a study while somebody else moves its files."""
    return Refused(409, "moving", "Files of this study are being moved just now; try again in a moment.")


def mend(folder: Path, was_recorded: Callable[[int, Iterable[Path]], bool], patience: float = 0.0) -> bool:
    """Take back the moves that somebody began and no revision has; False where somebody is moving files now.

    Parameters
    ----------
    folder : of the study
    was_recorded : whether a revision after one has files as they lie at some places now
    patience : seconds to wait for somebody who moves
    """
    folder = folder.resolve()
    if not (folder / NAME).exists():
        return True
    stream = _held(folder, patience)
    if stream is None:
        return not (folder / NAME).exists()
    try:
        base, noted = _noted(folder, stream)
        places = {place for _, move in noted for place in move if not _is_hidden(folder, place)}
        if not was_recorded(base, places):
            for start, (path, to) in reversed(noted):
                take_back(path, to)
                _cut(stream, start)
        _take_away(folder, stream)
    finally:
        stream.close()
    return True


def take_back(path: Path, to: Path) -> None:
    """Undo a move, or a copy, that was noted; one that was not made, or is undone already, is left alone."""
    if path == to:
        to.unlink(missing_ok=True)
    elif to.exists() and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        to.rename(path)


def place_of(folder: Path, path: Path) -> str:
    """A file's place in a folder, the same however it is named; links that are files stay what they are."""
    return Path(os.path.relpath(path.parent.resolve() / path.name, folder.resolve())).as_posix()


def has(folder: Path, recorded: Mapping[str, str], places: Iterable[Path], fingerprint: Callable[[Path], str]) -> bool:
    """Whether the files of a revision lie as they were recorded, as far as some places go."""
    known = {place_of(folder, folder / place): found for place, found in recorded.items()}
    lying = {place_of(folder, path): fingerprint(path) if path.is_file() else None for path in places}
    return all(known.get(place) == found for place, found in lying.items())


def _is_hidden(folder: Path, path: Path) -> bool:
    return any(part.startswith(".") for part in Path(place_of(folder, path)).parts)


def _noted(folder: Path, stream: BinaryIO) -> tuple[int, list[tuple[int, Move]]]:
    """The revision before the moves, and each move with where its line begins; a line that was cut off says nothing."""
    base, found, at = 0, list[tuple[int, Move]](), 0
    stream.seek(0)
    for line in stream.readlines():
        with suppress(ValueError):
            said = json.loads(line)
            if isinstance(said, dict):
                base = int(said["base"])
            else:
                found.append((at, (folder / said[0], folder / said[1])))
        at += len(line)
    return base, found


def _append(stream: BinaryIO, said: object) -> None:
    stream.write(json.dumps(said).encode() + b"\n")
    stream.flush()
    os.fsync(stream.fileno())


def _cut(stream: BinaryIO, end: int) -> None:
    stream.seek(end)
    stream.truncate()
    stream.flush()


def _take_away(folder: Path, stream: BinaryIO) -> None:
    _cut(stream, 0)
    with suppress(PermissionError):  # where files that are open cannot be deleted; an empty one says nothing
        (folder / NAME).unlink(missing_ok=True)
    stream.close()


def _held(folder: Path, patience: float, make: bool = False) -> BinaryIO | None:
    """The journal of a folder, locked; None where there is none, or somebody else has it for longer than we wait."""
    until = time.monotonic() + patience
    while True:
        try:
            stream = open(folder / NAME, "r+b")  # noqa: SIM115 - held for as long as files are moved
        except FileNotFoundError:
            if not make:
                return None
            (folder / NAME).touch()
            continue
        if _lock(stream) and _is_there(folder, stream):
            return stream
        stream.close()
        if time.monotonic() >= until:
            return None
        time.sleep(_PAUSE)


def _is_there(folder: Path, stream: BinaryIO) -> bool:
    """Whether a file that was opened still lies in the folder: who had it before may have taken it away."""
    try:
        return os.path.samestat(os.fstat(stream.fileno()), (folder / NAME).stat())
    except FileNotFoundError:
        return False


def _lock(stream: BinaryIO) -> bool:
    try:
        if sys.platform == "win32":
            stream.seek(_LOCKED_BYTE)
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
            stream.seek(0)
        else:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
