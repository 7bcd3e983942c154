"""The items of a study as files: what is there, what comes in, what is renamed or taken out.

Items lie in a folder, one file each, or are rows of a table. A table that is uploaded makes a study of the second kind;
files that come then are rows with a file. Files are moved into place whole; what a table or `study.toml` says then is
given back as texts, for whoever writes those.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from similitude.study.editing.document import changed
from similitude.study.editing.incoming import Came, is_no_item
from similitude.study.fault import StudyError
from similitude.study.items import KINDS, Item, fault_of_name, item_of_file, item_of_row
from similitude.study.opening import fault_of
from similitude.study.settings import FILE

TABLE = "items.csv"
MOST_ROWS = 100_000
REMOVED = ".removed"  # where files go that are taken out, so that nothing is lost
_COLUMNS = ("name", "file", "text", "colour")
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{k}" for port in ("com", "lpt") for k in range(1, 10))}
_NOT_IN_FILES = set('<>:"/\\|?*') | {chr(k) for k in range(32)}


@dataclass
class Taken:
    """What became of files that came: names of items, or why a file is none; and texts that are to be written."""

    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Listed:
    """An item as it is: what is shown of it, and what is wrong with it."""

    item: Item
    size: int = 0
    fault: str | None = None


class Gallery:
    """The items of one study.

    Parameters
    ----------
    folder : of the study
    text : of its `study.toml`
    settings : what that says, by key
    """

    def __init__(self, folder: Path, text: str, settings: Mapping[str, Any]) -> None:
        self.folder, self.text = folder.resolve(), text
        table = settings.get("items.table")
        self.table: str | None = table if isinstance(table, str) and table else None
        given = settings.get("items.folder", "items")
        inside = (self.folder / str(given)).resolve()
        if not inside.is_relative_to(self.folder):
            raise StudyError(f"items.folder: {given!r} lies outside the study's folder")
        self.files = inside

    # --- what is there ---

    def listed(self) -> list[Listed]:
        """Every item in the order of names; what cannot be shown says why."""
        found = self._rows_listed() if self.table else [self._listed(path.stem, path) for path in self._paths()]
        return sorted(found, key=lambda one: one.item.name)

    def _paths(self) -> list[Path]:
        if not self.files.is_dir():
            return []
        return sorted(path for path in self.files.iterdir() if path.is_file() and not is_no_item(path.name))

    def _listed(self, name: str, path: Path, content: str = "") -> Listed:
        try:
            item = item_of_file(name, path, "items", content)
            why = fault_of_name(name) or (fault_of(path) if item.path else None)
            return Listed(item, path.stat().st_size, why)
        except (StudyError, OSError) as error:
            return Listed(Item(name, "text", path.name), 0, str(error).removeprefix("items: "))

    def _rows_listed(self) -> list[Listed]:
        found = []
        for row in self._rows():
            name = (row.get("name") or "").strip()
            try:
                item = item_of_row(row, self.folder, "items")
            except StudyError as error:
                found.append(Listed(Item(name, "text", name), 0, str(error).removeprefix("items: ")))
                continue
            if item.path is None:
                found.append(Listed(item, 0, fault_of_name(name)))
            else:
                found.append(self._listed(name, item.path, item.content))
        return found

    def _rows(self) -> list[dict[str, str]]:
        try:
            text = (self.folder / str(self.table)).read_bytes().decode("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise StudyError(f"items.table: cannot read {self.table!r} ({error})") from None
        return list(csv.DictReader(io.StringIO(text, newline="")))

    # --- what comes in ---

    def take_in(self, came: Sequence[Came], replace: bool = False) -> Taken:
        """Take in files; those that are no items, or are there already, are named with the reason."""
        taken, there = Taken(), self.listed()
        digests = {_digest(one.item.path): one.item.name for one in there if one.item.path is not None}
        names = {one.item.name: one for one in there}
        rows: dict[str, dict[str, str]] = {}
        tables = [one for one in came if one.path is not None and one.name.lower().endswith(".csv")]
        for one in came:
            if one.path is None:
                taken.refused.append((one.name, one.why_not or ""))
            elif one not in tables:
                self._take_file(one, names, digests, rows, replace, taken)
        files = dict(rows)
        for one in tables:  # after the files, which their rows may name
            self._take_table(one, names, rows, replace, taken)
        for name in [name for name, row in files.items() if rows[name] is row and _is_named(row, rows)]:
            taken.added.remove(name)  # a file that a row has given another name
            del rows[name]
        if tables and not self.table:
            rows = {**self._as_rows(there), **rows}
        if rows and (self.table or tables):
            self._write_rows(rows, taken)
        return taken

    def _take_file(
        self, came: Came, names: dict[str, Listed], digests: dict[str, str], rows: dict[str, dict[str, str]],
        replace: bool, taken: Taken,
    ) -> None:  # fmt: skip
        assert came.path is not None
        name, suffix = Path(came.name).stem, Path(came.name).suffix.lower()
        if why := self._against(came, name, suffix):
            taken.refused.append((came.name, why))
            return
        digest = _digest(came.path)
        if digests.get(digest, name) != name:
            taken.refused.append((came.name, f"it holds the same bytes as the item {digests[digest]!r}"))
            return
        if name in names and not replace:
            same = ", with the same bytes" if digests.get(digest) == name else ""
            taken.refused.append((came.name, f"there is an item {name!r} already{same}"))
            return
        target = self._target(name, suffix)
        before = names[name].item.path if name in names else None
        self.files.mkdir(exist_ok=True)
        came.path.replace(target)
        if before is not None and before != target:
            self._put_away(before)
        (taken.replaced if name in names else taken.added).append(name)
        digests[digest] = name
        item = item_of_file(name, target, "items")
        names[name] = Listed(item, target.stat().st_size)
        rows[name] = {"name": name, "file": target.relative_to(self.folder).as_posix()}

    def _target(self, name: str, suffix: str) -> Path:
        return self.files / f"{name}{suffix}"

    def _against(self, came: Came, name: str, suffix: str) -> str | None:
        """Why a file is no item; it is looked at under the ending that it will have."""
        assert came.path is not None
        if suffix not in KINDS:
            return f"cannot be shown: expected {', '.join(sorted(KINDS))}, .zip or .csv"
        if is_no_item(came.name):
            return "a file whose name begins with a dot or README is no item"
        if why := fault_of_name(name) or fault_of_file_name(name):
            return why
        beside = came.path.with_name(f"{came.path.name}{suffix}")
        came.path.replace(beside)
        try:
            item_of_file(name, beside, "items")
            return fault_of(beside) if KINDS[suffix] != "text" else None
        except StudyError as error:
            return str(error).removeprefix("items: ").replace(beside.name, came.name)
        finally:
            beside.replace(came.path)

    def _take_table(
        self, came: Came, names: dict[str, Listed], rows: dict[str, dict[str, str]], replace: bool, taken: Taken
    ) -> None:
        """Take in the rows of a table, each checked by itself."""
        assert came.path is not None
        try:
            reader = csv.DictReader(io.StringIO(came.path.read_bytes().decode("utf-8-sig"), newline=""))
            found = [row for row, _ in zip(reader, range(MOST_ROWS + 1), strict=False)]
        except (UnicodeDecodeError, csv.Error) as error:
            taken.refused.append((came.name, f"no table in UTF-8 that can be read ({error})"))
            return
        if not found or "name" not in (reader.fieldnames or ()):
            taken.refused.append((came.name, "a table has a column `name`, and one of `file`, `text`, `colour`"))
            return
        if len(found) > MOST_ROWS:
            taken.refused.append((came.name, f"more than {MOST_ROWS:,} rows"))
            return
        for k, row in enumerate(found):
            self._take_row(f"{came.name}, row {k + 2}", row, names, rows, replace, taken)

    def _take_row(
        self, where: str, row: dict[Any, Any], names: dict[str, Listed], rows: dict[str, dict[str, str]],
        replace: bool, taken: Taken,
    ) -> None:  # fmt: skip
        kept = {str(key): str(value) for key, value in row.items() if key and value and isinstance(value, str)}
        name = kept.get("name", "").strip()
        address = kept.get("file", "")
        if address.startswith(("http://", "https://", "//")):
            taken.refused.append((where, "addresses of other hosts are not asked; upload the files themselves"))
            return
        if why := fault_of_name(name):
            taken.refused.append((where, why))
            return
        own = name in rows and "file" in rows[name] and rows[name]["file"].endswith(f"/{Path(address).name}")
        if name in names and not replace and not own:
            taken.refused.append((where, f"there is an item {name!r} already"))
            return
        beside = self.files / Path(address).name
        if address and not (self.folder / address).is_file() and beside.is_file():
            kept["file"] = beside.relative_to(self.folder).as_posix()
        try:
            item = item_of_row({**dict.fromkeys(_COLUMNS, ""), **kept}, self.folder, "items")
            if item.path is not None and (why := fault_of(item.path)):
                raise StudyError(f"{item.path.name}: {why}")
        except StudyError as error:
            taken.refused.append((where, str(error).removeprefix("items: ")))
            return
        if not own:
            (taken.replaced if name in names else taken.added).append(name)
        names[name] = Listed(item)
        rows[name] = {**kept, "name": name}

    # --- what goes, and what is called otherwise ---

    def remove(self, name: str) -> dict[str, str]:
        """Take an item out; its file is put away, not deleted. Texts that are to be written then."""
        self._known(name)
        if self.table:
            return {self.table: _as_table([row for row in self._rows() if (row.get("name") or "").strip() != name])}
        for path in self._paths():
            if path.stem == name:
                self._put_away(path)
        return {}

    def rename(self, name: str, other: str) -> dict[str, str]:
        """Call an item otherwise. Texts that are to be written then."""
        there = {one.item.name for one in self.listed()}
        self._known(name)
        if why := fault_of_name(other) or (None if self.table else fault_of_file_name(other)):
            raise StudyError(why)
        if other in there:
            raise StudyError(f"there is an item {other!r} already; names are identities, so give each its own")
        if self.table:
            rows = [
                {**row, "name": other, "text": row.get("text") or ("" if row.get("file") or row.get("colour") else name)}
                if (row.get("name") or "").strip() == name else row
                for row in self._rows()
            ]  # fmt: skip
            return {self.table: _as_table(rows)}
        path = next(path for path in self._paths() if path.stem == name)
        path.rename(path.with_name(f"{other}{path.suffix}"))
        return {}

    def _known(self, name: str) -> None:
        if not any(one.item.name == name for one in self.listed()):
            raise StudyError(f"there is no item {name!r}")

    def _put_away(self, path: Path) -> None:
        away = self.folder / REMOVED
        away.mkdir(exist_ok=True)
        target = away / path.name
        number = 1
        while target.exists():
            number += 1
            target = away / f"{path.stem}.{number}{path.suffix}"
        path.rename(target)

    # --- the table ---

    def _as_rows(self, there: Sequence[Listed]) -> dict[str, dict[str, str]]:
        """Items of a folder as the rows of a table."""
        found = {}
        for path in self._paths():
            found[path.stem] = {"name": path.stem, "file": path.relative_to(self.folder).as_posix()}
        return {one.item.name: found[one.item.name] for one in there if one.item.name in found}

    def _write_rows(self, rows: Mapping[str, dict[str, str]], taken: Taken) -> None:
        before = self._rows() if self.table else []
        kept = [row for row in before if (row.get("name") or "").strip() not in rows]
        name = self.table or TABLE
        taken.texts[name] = _as_table([*kept, *rows.values()])
        if not self.table:
            taken.texts[FILE] = changed(self.text, {"items.table": name})


def _is_named(row: Mapping[str, str], rows: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether another row has the same file."""
    return sum(one.get("file") == row["file"] for one in rows.values()) > 1


def fault_of_file_name(name: str) -> str | None:
    """Why no file should be called so, on whichever system the study is kept."""
    if strange := sorted(set(name) & _NOT_IN_FILES):
        return f"the name has {strange[0]!r} in it, which no file can have on some systems"
    if name.lower() in _RESERVED or name != name.strip() or name.endswith("."):
        return f"no file can be called {name!r} on some systems"
    if len(name.encode()) > 200:
        return "the name is too long for a file"
    return None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _as_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV: our columns that are used, then those of the researcher, in the order in which they came."""
    used = {key: None for row in rows for key, value in row.items() if isinstance(key, str) and isinstance(value, str) and value}
    columns = ["name", *(key for key in _COLUMNS[1:] if key in used), *(key for key in used if key not in _COLUMNS)]
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
