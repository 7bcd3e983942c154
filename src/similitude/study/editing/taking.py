"""Taking files in as items: each is looked at by itself, and what is none, or is there already, is named with why.

A table that comes makes a study whose items are the rows of a table; files that come then are rows with a file.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from similitude.study.editing.document import changed
from similitude.study.editing.gallery import COLUMNS, Gallery, Moves, Row, as_table, fault_of_file_name, name_in
from similitude.study.editing.incoming import Came
from similitude.study.fault import StudyError
from similitude.study.items import KINDS, NO_ITEMS, fault_of_name, item_of_file, item_of_row
from similitude.study.opening import fault_of
from similitude.study.settings import FILE
from similitude.study.web.limits import LIMITS

TABLE = "items.csv"
LARGEST_TABLE = 64 * 2**20  # bytes
_ELSEWHERE = ("http://", "https://", "//", "ftp://")


@dataclass
class Taken:
    """What became of files that came: names of items, or why a file is none; and texts that are to be written."""

    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)


class Taking:
    """Takes files into a gallery.

    Parameters
    ----------
    gallery : the items that are there
    moves : what moves files into place
    replace : whether what comes takes the place of an item of the same name, unless that was asked about
    asked : how many answers are about an item
    most_rows : of a table
    """

    def __init__(
        self, gallery: Gallery, moves: Moves, replace: bool = False, asked: Callable[[str], int] = lambda _: 0,
        most_rows: int = LIMITS.table_rows,
    ) -> None:  # fmt: skip
        self.gallery, self.moves, self.replace, self.asked = gallery, moves, replace, asked
        self.most_rows = most_rows
        self.taken = Taken()
        there = gallery.listed()
        self._paths = {one.item.name: one.item.path for one in there}
        self._sizes: dict[int, list[str]] = {}
        for one in there:
            self._sizes.setdefault(one.size, []).append(one.item.name)
        self._rows: dict[str, Row] = {name_in(row): row for row in gallery.as_rows()}
        self._came: dict[str, Row] = {}

    def take(self, came: Sequence[Came], text: str) -> Taken:
        """Take in files; `text` is `study.toml`, which says where the items are."""
        tables = [one for one in came if one.path is not None and one.name.lower().endswith(".csv")]
        for one in came:
            if one not in tables:
                self._each(one.name, self._file, one)
        files = list(self._came)
        for one in tables:  # after the files, which their rows may name
            self._each(one.name, self._table, one)
        self._unname(files)
        if self._came and (tables or self.gallery.table):
            self.taken.texts[self.gallery.table or TABLE] = as_table(list({**self._rows, **self._came}.values()))
            if self.gallery.table is None:
                self.taken.texts[FILE] = changed(text, {"items.table": TABLE})
        return self.taken

    def _each(self, where: str, work: Callable[..., None], *given: Any) -> None:
        try:
            work(*given)
        except StudyError as error:
            self.taken.refused.append((where, str(error).removeprefix("items: ")))

    def _unname(self, files: Sequence[str]) -> None:
        """Forget the names that files came with, where rows of a table give them others."""
        named = {row.get("file"): name for name, row in self._came.items() if name not in files or "text" in row}
        for name in files:
            row = self._came[name]
            if named.get(row["file"], name) != name and name in self.taken.added:
                self.taken.added.remove(name)
                del self._came[name]

    def _file(self, came: Came) -> None:
        if came.path is None:
            raise StudyError(came.why_not or "it did not arrive")
        name, suffix = Path(came.name).stem, Path(came.name).suffix.lower()
        self._check_file(came, name, suffix)
        same = self._same_bytes(came.path)
        if same is not None and same != name:
            raise StudyError(f"it holds the same bytes as the item {same!r}")
        self._check_new(name, ", with the same bytes" if same == name else "")
        before, target = self._file_of(name), self.gallery.files / f"{name}{suffix}"
        if before is not None:
            self.gallery.put_away(before, self.moves)
        if target.exists():
            raise StudyError(f"there is a file {target.name!r} already, which another item shows")
        self.moves.move(came.path, target)
        self._note(name, {"name": name, "file": self.gallery.place(target)})
        self._paths[name] = target
        self._sizes.setdefault(target.stat().st_size, []).append(name)

    def _file_of(self, name: str) -> Path | None:
        """The file of an item that is there; a text has one, too, though no path is shown of it."""
        return self._paths.get(name) or (self.gallery.path_of(name) if name in self._paths else None)

    def _same_bytes(self, path: Path) -> str | None:
        """The item whose file holds the same; only those of the same size are read."""
        others = ((name, self._paths.get(name)) for name in self._sizes.get(path.stat().st_size, ()))
        return next((name for name, other in others if other is not None and _digest(other) == _digest(path)), None)

    def _check_new(self, name: str, more: str = "") -> None:
        if name not in self._paths:
            return
        if not self.replace:
            raise StudyError(f"there is an item {name!r} already{more}")
        if number := self.asked(name):
            raise StudyError(f"{number:,} answers are about {name!r} as it is; give the new one another name")

    def _note(self, name: str, row: Row) -> None:
        if name not in self._came:
            (self.taken.replaced if name in self._paths else self.taken.added).append(name)
        self._came[name] = row

    def _check_file(self, came: Came, name: str, suffix: str) -> None:
        """Refuse what is no item; it is looked at under the ending that it will have."""
        assert came.path is not None
        if suffix not in KINDS:
            raise StudyError(f"cannot be shown; expected {', '.join(sorted(KINDS))}, .zip or .csv")
        if came.name.startswith(NO_ITEMS):
            raise StudyError("a file whose name begins with a dot or README is no item")
        if why := fault_of_name(name) or fault_of_file_name(name):
            raise StudyError(why)
        beside = came.path.rename(came.path.with_name(f"{came.path.name}{suffix}"))
        try:
            item_of_file(name, beside, "items")
            if KINDS[suffix] != "text" and (why := fault_of(beside)):
                raise StudyError(why)
        except StudyError as error:
            raise StudyError(str(error).replace(beside.name, came.name)) from None
        finally:
            beside.rename(came.path)

    def _table(self, came: Came) -> None:
        assert came.path is not None
        if came.path.stat().st_size > LARGEST_TABLE:
            raise StudyError(f"a table has at most {LARGEST_TABLE // 2**20} MB")
        try:
            reader = csv.DictReader(io.StringIO(came.path.read_bytes().decode("utf-8-sig"), newline=""))
            rows = [row for row, _ in zip(reader, range(self.most_rows + 1), strict=False)]
        except (UnicodeDecodeError, csv.Error) as error:
            raise StudyError(f"no table in UTF-8 that can be read ({error})") from None
        if not rows or "name" not in (reader.fieldnames or ()):
            raise StudyError("a table has a column `name`, and one of `file`, `text`, `colour`")
        if len(rows) > self.most_rows:
            raise StudyError(f"more than {self.most_rows:,} rows")
        for k, row in enumerate(rows):
            self._each(f"{came.name}, row {k + 2}", self._row, row)

    def _row(self, found: dict[Any, Any]) -> None:
        row = {str(key): value for key, value in found.items() if key and isinstance(value, str) and value}
        name, file = name_in(row), row.get("file", "")
        if file.startswith(_ELSEWHERE):
            raise StudyError("addresses of other hosts are not asked; upload the files themselves")
        if why := fault_of_name(name):
            raise StudyError(why)
        beside = self.gallery.files / Path(file).name
        if file and not (self.gallery.folder / file).is_file() and beside.is_file():
            row["file"] = self.gallery.place(beside)
        is_its_file = name in self._came and self._came[name].get("file") == row.get("file")
        if not is_its_file:
            self._check_new(name)
        item = item_of_row({**dict.fromkeys(COLUMNS, ""), **row}, self.gallery.folder, "items")
        if item.path is not None and (why := fault_of(item.path)):
            raise StudyError(f"{item.path.name}: {why}")
        self._note(name, {**row, "name": name})
        self._paths[name] = item.path


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
