"""The items of a study as files: what is there, what is renamed or taken out.

Items lie in a folder, one file each, or are rows of a table. Files are moved whole, and can be moved back; what a table
says then is given back as text, for whoever writes that.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from similitude.study.fault import StudyError
from similitude.study.items import NO_ITEMS, Item, fault_of_name, item_of_file, item_of_row
from similitude.study.journal import Journal, Move, take_back
from similitude.study.opening import Opened

COLUMNS = ("name", "file", "text", "colour")
REMOVED = ".removed"  # where files go that are taken out, so that nothing is lost
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in range(1, 10))}
_NOT_IN_FILES = set('<>:"/\\|?*') | {chr(k) for k in range(32)}
_LONGEST_FILE_NAME = 200  # bytes

Row = dict[str, str]
_OPENED = Opened()  # files that were looked at, each once for as long as it stays the same


class Moves:
    """Files that were moved, so that they can be moved back: by us, or by whoever finds the journal."""

    def __init__(self, journal: Journal | None = None) -> None:
        self._done: list[Move] = []
        self._journal = journal

    def move(self, path: Path, to: Path) -> None:
        """Move a file to a place where none is; StudyError where one is, since it would be lost."""
        if to.exists():
            raise StudyError(f"there is a file {to.name!r} already")
        self._begin(path, to)
        path.rename(to)

    def copy(self, path: Path, to: Path) -> None:
        """Copy a file to a place where none is."""
        self._begin(to, to)
        shutil.copy2(path, to)

    def take_back(self) -> None:
        """Put every file where it was; what was copied goes."""
        while self._done:
            take_back(*self._done.pop())
            if self._journal is not None:
                self._journal.drop()

    def _begin(self, path: Path, to: Path) -> None:
        """Note a move before it is made, and a copy before it is whole, which a full disk prevents."""
        to.parent.mkdir(parents=True, exist_ok=True)
        if self._journal is not None:
            self._journal.add(path, to)
        self._done.append((path, to))


def put_away(folder: Path, path: Path, moves: Moves) -> None:
    """Move a file of a study to those that were taken out."""
    target, number = folder / REMOVED / path.name, 1
    while target.exists():
        number += 1
        target = target.with_name(f"{path.stem}.{number}{path.suffix}")
    moves.move(path, target)


@dataclass(frozen=True)
class Listed:
    """An item as it is: what is shown of it, the size of its file, and what is wrong with it."""

    item: Item
    size: int = 0
    fault: str | None = None


class Gallery:
    """The items of one study.

    Parameters
    ----------
    folder : of the study
    settings : what its `study.toml` says, by key
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder.resolve()
        table, given = settings.get("items.table"), settings.get("items.folder", "items")
        self.table: str | None = table if isinstance(table, str) and table else None
        self.files = (self.folder / str(given)).resolve()
        for key, place in (("folder", self.files), ("table", (self.folder / (self.table or "")).resolve())):
            if not place.is_relative_to(self.folder):
                raise StudyError(f"items.{key}: lies outside the study's folder")

    def listed(self) -> list[Listed]:
        """Every item in the order of names; what cannot be shown says why."""
        found = (
            map(self._of_row, self.rows()) if self.table else (self._of_file(path.stem, path) for path in self.paths())
        )
        return sorted(found, key=lambda one: one.item.name)

    def path_of(self, name: str) -> Path | None:
        """The file of an item; None where it has none, or there is no such item."""
        if self.table is None:
            return next((path for path in self.paths() if path.stem == name), None)
        row = next((row for row in self.rows() if name_in(row) == name), {})
        return None if not row.get("file") else self._of_row(row).item.path

    def paths(self) -> list[Path]:
        """The files of the folder that are items."""
        if not os.path.isdir(self.files):
            return []
        return sorted(path for path in self.files.iterdir() if path.is_file() and not path.name.startswith(NO_ITEMS))

    def rows(self) -> list[Row]:
        """The rows of the table."""
        try:
            text = (self.folder / str(self.table)).read_bytes().decode("utf-8-sig")
            return list(csv.DictReader(io.StringIO(text, newline="")))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise StudyError(f"items.table: cannot read {self.table!r} ({error})") from None

    def as_rows(self) -> list[Row]:
        """The rows of the table; where there is none, those that it would have."""
        return self.rows() if self.table else [{"name": path.stem, "file": self.place(path)} for path in self.paths()]

    def place(self, path: Path) -> str:
        """A file as a row of a table names it."""
        return path.relative_to(self.folder).as_posix()

    def remove(self, name: str, moves: Moves) -> dict[str, str]:
        """Take an item out; its file is put away, not deleted. Texts that are to be written then."""
        self._known(name)
        if self.table:
            return {self.table: as_table([row for row in self.rows() if name_in(row) != name])}
        for path in self.paths():
            if path.stem == name:
                self.put_away(path, moves)
        return {}

    def rename(self, name: str, other: str, moves: Moves) -> dict[str, str]:
        """Call an item otherwise. Texts that are to be written then."""
        self._known(name)
        if why := fault_of_name(other) or (None if self.table else fault_of_file_name(other)):
            raise StudyError(why)
        if any(one.item.name == other for one in self.listed()):
            raise StudyError(f"there is an item {other!r} already; names are identities, so give each its own")
        if self.table:
            return {
                self.table: as_table([_renamed(row, other) if name_in(row) == name else row for row in self.rows()])
            }
        path = next(path for path in self.paths() if path.stem == name)
        moves.move(path, path.with_name(f"{other}{path.suffix}"))
        return {}

    def put_away(self, path: Path, moves: Moves) -> None:
        """Move a file to those that were taken out."""
        put_away(self.folder, path, moves)

    def _known(self, name: str) -> None:
        if not any(one.item.name == name for one in self.listed()):
            raise StudyError(f"there is no item {name!r}")

    def _of_file(self, name: str, path: Path, content: str = "") -> Listed:
        try:
            item = item_of_file(name, path, "items", content)
            return Listed(
                item, path.stat().st_size, fault_of_name(name) or (_OPENED.fault_of(path) if item.path else None)
            )
        except (StudyError, OSError) as error:
            return Listed(Item(name, "text", path.name), 0, str(error).removeprefix("items: "))

    def _of_row(self, row: Row) -> Listed:
        name = name_in(row)
        try:
            item = item_of_row(row, self.folder, "items")
        except StudyError as error:
            return Listed(Item(name, "text", name), 0, str(error).removeprefix("items: "))
        return (
            Listed(item, 0, fault_of_name(name)) if item.path is None else self._of_file(name, item.path, item.content)
        )


def name_in(row: Row) -> str:
    """The name of an item in a row."""
    return (row.get("name") or "").strip()


def _renamed(row: Row, other: str) -> Row:
    """A row under another name; a word that was its own text stays that text."""
    own_text = not (row.get("file") or row.get("colour") or row.get("text"))
    return {**row, "name": other, **({"text": name_in(row)} if own_text else {})}


def fault_of_file_name(name: str) -> str | None:
    """Why no file should be called so, on whichever system the study is kept."""
    if strange := sorted(set(name) & _NOT_IN_FILES):
        return f"the name has {strange[0]!r} in it, which no file can have on some systems"
    if name.lower() in _RESERVED or name != name.strip() or name.endswith("."):
        return f"no file can be called {name!r} on some systems"
    return "the name is too long for a file" if len(name.encode("utf-8", "replace")) > _LONGEST_FILE_NAME else None


def as_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV: our columns that are used, then those of the researcher, in the order in which they came."""
    said = ((key, value) for row in rows for key, value in row.items())
    used = dict.fromkeys(key for key, value in said if isinstance(key, str) and isinstance(value, str) and value)
    theirs = (key for key in used if key not in COLUMNS)
    columns = ["name", *(key for key in COLUMNS[1:] if key in used), *theirs]
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
