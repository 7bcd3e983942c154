"""What a command writes, looked at before any work: that nothing which is read, or written beside it, is lost by it.

And that a file is called by what it holds: other programs go by the ending, and so do people.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

MODELS, TABLES = (".sim",), (".csv", ".txt")
_PACKED = (".gz", ".bz2", ".xz", ".zip")
Target = tuple[str, Path | None]
"""An option, or `path` of an argument, and what it says to write; None where it says nothing."""


def beside(read: Path, ending: str) -> Path:
    """Where a result goes that no option names: beside the file or folder that is read, under its name.

    >>> beside(Path("answers.v1.csv.gz"), "_report").name
    'answers.v1_report'
    """
    named = read if read.name.strip(".") else read.resolve()  # `.` has no name
    bare = named.with_suffix("") if named.suffix.lower() in _PACKED else named
    return named.with_name((named.name if named.is_dir() else bare.stem) + ending)


def check_apart(targets: Iterable[Target], *inputs: Path | None) -> None:
    """Refuse results that would be written over what is read, or over each other.

    Parameters
    ----------
    targets : files to write, or folders whose files may all be written anew
    inputs : files that are read, and folders of which every file is read as answers; None is nothing
    """
    wanted = [(option, path) for option, path in targets if path is not None]
    for option, target in wanted:
        for source in inputs:
            if source is not None:
                _check_one(option, target, source)
    for (one, target), (other, again) in combinations(wanted, 2):
        if _same(target, again):
            raise ValueError(f"{other}: {again} is what {one} writes, too; expected another name")


def check_file(path: Path, option: str, *endings: str) -> None:
    """Refuse a file that could not be written, or whose ending says that it holds something else; none says nothing.

    Parameters
    ----------
    path : the file
    option : that names it
    endings : those of what is written
    """
    from similitude.feedback.files.whole import check_place

    check_place(path, option)
    if path.suffix and path.suffix.lower() not in endings:
        raise ValueError(f"{option}: expected a file name that ends in {' or '.join(endings)}, found {path.name!r}")


def _check_one(option: str, target: Path, source: Path) -> None:
    if _same(target, source):
        called = f"{target} is" if target == source else f"{target} is the same as {source}, which is"
        raise ValueError(f"{option}: {called} read, and would be lost; expected another name")
    if target.is_dir() and target.resolve() in source.resolve().parents:
        raise ValueError(f"{option}: {source} is read, and lies in {target}, which is written; expected another folder")
    if source.is_dir() and _same(target.resolve().parent, source) and _is_read_in_a_folder(target):
        raise ValueError(
            f"{option}: {target} lies in {source}, of which every file is read as answers; expected another folder"
        )


def _same(one: Path, other: Path) -> bool:
    """Whether two paths are one file or folder, by links too; a pipe or a device takes what it is given."""
    if one.exists() and other.exists():
        return (one.is_file() or one.is_dir()) and os.path.samefile(one, other)
    return os.path.normcase(one.resolve()) == os.path.normcase(other.resolve())


def _is_read_in_a_folder(path: Path) -> bool:
    from similitude.feedback.files.tables import SUFFIXES, suffix_of

    return suffix_of(path)[0] in SUFFIXES
