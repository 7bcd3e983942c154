"""The files of a study's items, as its revisions remember them: so that an earlier revision comes back with its files.

A revision holds the place, size and digest of every file. Nothing is copied for that: what is taken out or replaced on
the pages is moved to the folder `.removed`, where it is found again by its digest, whatever it is called there. A file
that was deleted or overwritten by hand is gone, and is named before anything is changed.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from similitude.display.words import counted, listed
from similitude.study.editing.gallery import REMOVED, Moves, name_in, put_away
from similitude.study.items import NO_ITEMS
from similitude.study.settings import Study

ItemFiles = Mapping[str, str]  # by place in the study's folder: size and digest


def files_of(study: Study, texts: Mapping[str, str]) -> dict[str, str]:
    """The files of a study's items; those outside its folder are nobody's to bring back."""
    folder = study.folder.resolve()
    if study.items.table:
        places = _named_in(texts.get(study.items.table, ""))
    else:
        within = Path(study.items.folder)
        found = _files_in(folder / within)
        places = [(within / path.name).as_posix() for path in found if not path.name.startswith(NO_ITEMS)]
    return _lying(folder, places)


def shown_by(study: Study, texts: Mapping[str, str], files: ItemFiles) -> dict[str, str]:
    """The size and digest of the file that each item shows, by the item's name; `files` are those of the same study."""
    if study.items.table:
        named = ((name_in(row), row["file"]) for row in _rows_with_files(texts.get(study.items.table, "")))
        return {name: files[place] for name, place in named if place in files}
    return {Path(place).stem: found for place, found in files.items()}


def _named_in(table: str) -> list[str]:
    """The files that a table names."""
    return [row["file"] for row in _rows_with_files(table)]


def _rows_with_files(table: str) -> list[dict[str, str]]:
    """The rows of a table that name a file; none where it cannot be read, as that of a draft."""
    try:
        return [row for row in csv.DictReader(io.StringIO(table, newline="")) if row.get("file")]
    except csv.Error:
        return []


def _lying(folder: Path, places: Iterable[str]) -> dict[str, str]:
    """What lies at some places of a folder: size and digest by place; a file that is named in two ways stands once."""
    found, seen = {}, set[Path]()
    for place in sorted(set(places)):
        with suppress(OSError, ValueError):  # names that no file can have, and what is taken away just now
            path = (folder / place).resolve()
            if path.is_file() and path.is_relative_to(folder) and path not in seen:
                seen.add(path)
                found[place] = fingerprint(folder / place)
    return found


def fingerprint(path: Path) -> str:
    """The size and digest of a file, which is read once for as long as it stays the same."""
    found = path.stat()
    return _fingerprint(path, found.st_ino, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=100_000)
def _fingerprint(path: Path, _: int, size: int, __: int) -> str:
    with path.open("rb") as file:
        return f"{size}:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def changes_of_files(before: ItemFiles | None, now: ItemFiles) -> list[str]:
    """In words which files hold something else than they did; what is new or gone is said by the items' names."""
    other = [] if before is None else [place for place in now if before.get(place, now[place]) != now[place]]
    what = counted(len(other), "file of an item holds", "files of items hold")
    return [f"{what} something else: {listed(other, len(other))}"] if other else []


@dataclass(frozen=True)
class WayBack:
    """What must happen to files so that an earlier revision has those of its items.

    Attributes
    ----------
    folder : of the study
    out : places whose files are put away, since the revision has none or another there
    back : places that get a file, with its size and digest
    gone : places whose file is nowhere any more
    """

    folder: Path
    out: tuple[str, ...]
    back: Mapping[str, str]
    gone: tuple[str, ...]

    @classmethod
    def to(cls, study: Study, then: ItemFiles, now: ItemFiles) -> WayBack:
        """The way from the files of now to those of then; `study` is as it was then.

        What lies at a place of then counts whether or not it is an item now: where a row was taken out of a table, or
        the table cannot be read, its file has stayed.
        """
        folder = study.folder.resolve()
        lying = _lying(folder, then)
        whole = not study.items.table  # then every file in the folder of items is one
        within = Path(study.items.folder)
        others = [place for place in now if place not in then and whole and Path(place).parent == within]
        out = [place for place in then if lying.get(place, then[place]) != then[place]]
        back = {place: print_ for place, print_ in then.items() if lying.get(place) != print_}
        there = {
            *now.values(),
            *lying.values(),
            *_put_away(folder, {print_.partition(":")[0] for print_ in back.values()}),
        }
        gone = [place for place, print_ in back.items() if print_ not in there]
        return cls(folder, (*others, *out), back, tuple(gone))

    @property
    def words(self) -> list[str]:
        """What happens to files, a sentence each; none where nothing does."""
        found = []
        for places, one, several in (
            ([place for place in self.back if place not in self.gone], "file comes back", "files come back"),
            ([place for place in self.out if place not in self.back], "file is put away", "files are put away"),
            (self.gone, "file is gone", "files are gone"),
        ):
            if places:
                found.append(f"{counted(len(places), one, several)}: {listed(places, len(places))}.")
        return found

    def go(self, moves: Moves) -> None:
        """Move the files; `moves` can take all of it back."""
        for place in self.out:
            put_away(self.folder, self.folder / place, moves)
        sources = _put_away(self.folder, {print_.partition(":")[0] for print_ in self.back.values()})
        for place, print_ in self.back.items():
            if print_ in sources:
                moves.move(sources.pop(print_), self.folder / place)
            else:  # another item shows the same
                same = next(other for other in files_below(self.folder) if fingerprint(other) == print_)
                moves.copy(same, self.folder / place)


def files_below(folder: Path) -> list[Path]:
    """All files of a study's folder that are not hidden."""
    return [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]


def _put_away(folder: Path, sizes: set[str]) -> dict[str, Path]:
    """Files that were put away and have one of some sizes, by size and digest."""
    found = _files_in(folder / REMOVED)
    return {fingerprint(path): path for path in found if str(path.stat().st_size) in sizes}


def _files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file()) if os.path.isdir(folder) else []
