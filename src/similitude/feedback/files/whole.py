"""Files that are whole or not there at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def write_whole(path: Path, data: bytes | Iterable[bytes], private: bool = False) -> None:
    """Write a file, given as a whole or in pieces, whole or not at all: beside its place first, then moved there.

    A `private` one is for its owner alone, whatever the umask says. A pipe or a device is written into as it is.
    """
    pieces = [data] if isinstance(data, bytes) else data
    if _is_stream(path):
        with open(path, "wb") as stream:
            stream.writelines(pieces)
        return
    with placed_whole(path) as beside, open(beside, "xb", opener=_private if private else None) as stream:
        stream.writelines(pieces)
        stream.flush()
        os.fsync(stream.fileno())


@contextmanager
def placed_whole(path: Path) -> Iterator[Path]:
    """Give a path beside a file, for whatever writes to paths alone; what was written is moved into place at the end.

    What goes wrong is said of the file that was asked for, not of the one beside it.
    """
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
    if _is_stream(path):
        return
    target = path.resolve()
    folder = next(one for one in target.parents if one.exists() or not makes_folders)
    cannot = f"{argument}: cannot write into {path.parent if path.parent.name else target.parent}"
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
