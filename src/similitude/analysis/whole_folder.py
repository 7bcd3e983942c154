"""A folder of files that come into place together: what is killed midway leaves what was there before."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from similitude.feedback.files.whole import check_place

BESIDE = ("model.sim", "check.json", "methods.txt", "findings.json")
"""What may be written beside the page, and the folders in which the rest is."""
PARTS = ("figures", "tables")
_IN_PARTS = (".csv", ".xlsx", ".pdf", ".svg", ".png")
_BEGUN, _BEFORE = ".new-", ".before-"
_GIVEN_UP = 3600.0  # seconds without a new file after which nobody writes any more: figures take a minute


@contextmanager
def all_at_once(folder: Path, page: str) -> Iterator[Path]:
    """Give a folder to write into; its files are moved at the end, and without a page of before beside newer files.

    What others began and were killed over is swept away.
    """
    check_folder(folder, page)
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    new = Path(tempfile.mkdtemp(prefix=_BEGUN, dir=folder))
    try:
        yield new
        _move(new, folder, page)
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


def check_folder(folder: Path, page: str, argument: str = "folder") -> None:
    """Refuse a place where there can be no such folder, before the work that would fill it; nothing is touched.

    Parameters
    ----------
    folder : of the report
    page : the name of its page
    argument : what the caller calls the folder
    """
    check_place(folder / page, argument, makes_folders=True)
    for part in PARTS:
        if os.path.lexists(folder / part):
            check_place(folder / part / page, argument)
    places = [*(folder / name for name in BESIDE), *(one for part in PARTS for one in (folder / part).glob("*.*"))]
    for place in places:
        if place.is_dir() and place.suffix in (*_IN_PARTS, *(Path(name).suffix for name in BESIDE)):
            raise IsADirectoryError(
                f"{argument}: {place} is a folder; expected a file, or a name that is free; rename it"
            )


def _move(new: Path, folder: Path, page: str) -> None:
    """Move files into place, the page last; what they replace lies aside until all are there, and else comes back."""
    files = sorted(
        (file.relative_to(new) for file in new.rglob("*") if file.is_file()), key=lambda one: one.name == page
    )
    aside = Path(tempfile.mkdtemp(prefix=_BEFORE, dir=folder))
    earlier, placed = dict[Path, Path](), list[Path]()
    try:
        for target in (folder / one for one in [Path(page), *files]):
            if target.exists():
                _rename(target, aside / str(len(earlier)), target)
                earlier[target] = aside / str(len(earlier))
        for one in files:
            (folder / one).parent.mkdir(exist_ok=True)
            _rename(new / one, folder / one, folder / one)
            placed.append(folder / one)
    except BaseException:
        for target in placed:
            target.unlink(missing_ok=True)
        with suppress(OSError):  # what cannot come back is kept aside
            for target, kept in earlier.items():
                kept.replace(target)
            aside.rmdir()
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _rename(one: Path, to: Path, target: Path) -> None:
    """Move a file; what goes wrong is said of the one that was to be written."""
    try:
        one.replace(to)
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}; what was there before stays", str(target)) from None


def _sweep(folder: Path) -> None:
    """Remove what a process that was killed has left: it has written nothing for long."""
    for left in folder.glob(f"{_BEGUN}*"):
        newest = max((file.stat().st_mtime for file in (left, *left.rglob("*"))), default=0.0)
        if left.is_dir() and time.time() - newest > _GIVEN_UP:
            shutil.rmtree(left, ignore_errors=True)
