"""A folder of files that come into place together: what is killed midway leaves what was there before."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_BEGUN = ".new-"
_GIVEN_UP = 3600.0  # seconds without a new file after which nobody writes any more: figures take a minute


@contextmanager
def all_at_once(folder: Path, page: str) -> Iterator[Path]:
    """Give a folder to write into; its files are moved at the end, and without a page of before beside newer files.

    What others began and were killed over is swept away.
    """
    _check(folder, page)
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    new = Path(tempfile.mkdtemp(prefix=_BEGUN, dir=folder))
    try:
        yield new
        (folder / page).unlink(missing_ok=True)
        files = sorted((file for file in new.rglob("*") if file.is_file()), key=lambda file: file.name == page)
        for file in files:
            target = folder / file.relative_to(new)
            target.parent.mkdir(exist_ok=True)
            file.replace(target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        if made:
            with suppress(OSError):  # files have come into it
                folder.rmdir()


def remove_earlier(folder: Path, files: Iterable[str]) -> None:
    """Remove tables and figures of before that are no more."""
    for file in files:
        if file.startswith(("tables/", "figures/")) and ".." not in file:
            (folder / file).unlink(missing_ok=True)


def _check(folder: Path, page: str) -> None:
    """Refuse a place where there can be no such folder, before anything is written."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder}: expected a folder, or a name that is free, found a file")
    if (folder / page).is_dir():
        raise IsADirectoryError(f"{folder / page}: expected a page, or a name that is free, found a folder; rename it")


def _sweep(folder: Path) -> None:
    """Remove what a process that was killed has left: it has written nothing for long."""
    for left in folder.glob(f"{_BEGUN}*"):
        newest = max((file.stat().st_mtime for file in (left, *left.rglob("*"))), default=0.0)
        if left.is_dir() and time.time() - newest > _GIVEN_UP:
            shutil.rmtree(left, ignore_errors=True)
