"""Files that are whole or not there at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

_DESCRIPTOR = re.compile(r"/(?:dev|proc/(?:self|thread-self))/fd/(\d+)")
_LINKS = 40  # as many as systems follow
_NO_ROOM = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))  # Windows knows no quota


def write_whole(path: Path, data: bytes | Iterable[bytes], private: bool = False) -> None:
    """Write a file, given as a whole or in pieces, whole or not at all: beside its place first, then moved there.

    A `private` one is for its owner alone, whatever the umask says. A pipe or a device is written into as it is, and
    so is what is open already: `/dev/stdout` may be a file to which a shell appends.
    """
    pieces = [data] if isinstance(data, bytes) else data
    number = descriptor_of(path)
    if number is not None or _is_stream(path):
        with _no_room_in(path), open(path if number is None else _again(number), "wb") as stream:
            stream.writelines(pieces)
        return
    with (
        _no_room_in(path),
        placed_whole(path) as beside,
        open(beside, "xb", opener=_private if private else None) as file,
    ):
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _no_room_in(path: Path) -> Iterator[None]:
    """Say of a disk that is full which file was to go there."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in _NO_ROOM:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


@contextmanager
def placed_whole(path: Path) -> Iterator[Path]:
    """Give a path beside a file, for whatever writes to paths alone; what was written is moved into place at the end.

    What goes wrong is said of the file that was asked for, not of the one beside it.
    """
    if descriptor_of(path) is not None:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder) / path.name
            write_whole(path, (Path(folder) / path.name).read_bytes())
        return
    if _is_stream(path):
        yield path
        return
    target = path.resolve()
    beside = _beside(target)
    try:
        yield beside
        _put_in_place(beside, target)
    except OSError as error:
        if error.filename != str(beside):
            raise
        lacking = not target.parent.is_dir()
        why = f"there is no folder {str(target.parent)!r}; make it first" if lacking else error.strerror
        raise OSError(error.errno, why, str(path)) from None
    finally:
        beside.unlink(missing_ok=True)


def check_place(path: Path, argument: str = "path", makes_folders: bool = False) -> None:
    """Refuse a file that could not be written, before the work whose result should go there; it is not touched.

    Parameters
    ----------
    path : the file
    argument : what the caller calls it
    makes_folders : whether whatever writes the file makes the folders that are missing
    """
    if path.is_dir():
        raise IsADirectoryError(f"{argument}: {path} is a folder; expected the name of a file to write")
    if _is_stream(path) or descriptor_of(path) is not None:
        return
    target = path.resolve()
    folder = next(one for one in target.parents if one.exists() or not makes_folders)
    plain = path.parent.name and not path.is_symlink() and not path.parent.is_symlink()
    cannot = f"{argument}: cannot write into {path.parent if plain else target.parent}"
    if not folder.exists():
        raise FileNotFoundError(f"{cannot}: there is no such folder; make it, or give another place")
    if not folder.is_dir():
        raise NotADirectoryError(f"{cannot}: {folder} is a file; expected a folder")
    try:
        probe = _beside(folder / target.name)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise type(error)(f"{cannot}: {error.strerror}; give another place") from None


def create_private(path: Path) -> None:
    """Make an empty file that its owner alone may read and write, whatever the umask says."""
    with open(path, "xb", opener=_private):
        pass


def descriptor_of(path: Path) -> int | None:
    """The number of an open file by which a path calls it (`/dev/stdout`, `/dev/fd/1`, a link to one); else None."""
    called = os.path.abspath(path)
    for _ in range(_LINKS):
        if found := _DESCRIPTOR.fullmatch(called):
            return int(found[1])
        if not os.path.islink(called):
            return None
        called = os.path.abspath(os.path.join(os.path.dirname(called), os.readlink(called)))
    return None


def _again(number: int) -> int:
    """Another number for an open file, after what was printed into it so far."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    return os.dup(number)


def _is_stream(path: Path) -> bool:
    """Whether a path is a pipe or a device, in whose place no file must be moved."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _beside(target: Path) -> Path:
    """A path in the folder of a file that nobody else has."""
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _put_in_place(beside: Path, target: Path) -> None:
    try:
        os.replace(beside, target)
    except PermissionError:  # on Windows a file that a spreadsheet shows cannot be replaced
        raise PermissionError(
            f"{target}: cannot be replaced; close the program that has it open, or give another name"
        ) from None
