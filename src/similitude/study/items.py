"""The items of a study: pictures, sounds, films, texts and colours, each known by a name that never changes."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from similitude.study.files import Files
from similitude.study.settings import Study, StudyError

Kind = Literal["image", "audio", "video", "text", "colour"]

KINDS: dict[str, Kind] = {
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg"), "image"),
    **dict.fromkeys((".mp3", ".ogg", ".wav", ".m4a", ".flac"), "audio"),
    **dict.fromkeys((".mp4", ".webm"), "video"),
    ".txt": "text",
}
NO_ITEMS = (".", "README")  # how the names of files begin that are no items
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_LONGEST_NAME, _LONGEST_TEXT = 200, 10_000
_BEHIND_COLOURS, _BEHIND_OTHERS = "#8a8a8a", "#f0f0f0"  # without a hue; behind colours neither bright nor dark


@dataclass(frozen=True)
class Item:
    """One item: what it is called, what it is, and where it comes from.

    Attributes
    ----------
    name : its identity, in answers and in models
    kind : how it is shown
    content : the text, the colour as #rrggbb, or a description for those who do not see or hear it
    path : the file of a picture, sound or film
    """

    name: str
    kind: Kind
    content: str
    path: Path | None = None


def on_screen(item: Item, study: str) -> dict[str, str | None]:
    """An item as a browser needs it: what it is, and the address of its file where it has one."""
    address = None if item.path is None else f"/api/{study}/items/{quote(item.name, safe='')}"
    return {"name": item.name, "kind": item.kind, "content": item.content, "address": address}


def background_of(study: Study, items: Iterable[Item]) -> str:
    """The colour behind the items as #rrggbb, one for the whole study, whatever the device of a rater prefers."""
    usual = _BEHIND_COLOURS if any(item.kind == "colour" for item in items) else _BEHIND_OTHERS
    return (study.items.background or usual).lower()


def read_items(study: Study, files: Files | None = None) -> dict[str, Item]:
    """The items of a study by name, in order of their names; `files` are its texts where they do not lie there."""
    where, files = f"{study.folder.name}: items", files or Files(study.folder)
    table, folder = study.items.table, study.folder / study.items.folder
    found = _from_table(study, files, where) if table else _from_folder(folder, where)
    items = {}
    for item in sorted(found, key=lambda item: item.name):
        if item.name in items:
            raise StudyError(f"{where}: two items are called {item.name!r}; names are identities, so give each its own")
        if why := fault_of_name(item.name):
            raise StudyError(f"{where}: {why}")
        items[item.name] = item
    return items


def fault_of_name(name: str) -> str | None:
    """Why an item cannot be called so; None where nothing is against it."""
    if not name.strip(" .") or len(name) > _LONGEST_NAME:
        return f"a name has 1 to {_LONGEST_NAME} characters, not dots alone, found {name!r}"
    if not is_storable(name):
        return f"the name {name!r} has a byte that is no text (or NUL); rename it"
    return None


def is_storable(text: str) -> bool:
    """Whether every database takes a text: no NUL, and nothing that is not Unicode (half a surrogate pair)."""
    return "\0" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)


def _from_folder(folder: Path, where: str) -> list[Item]:
    if not os.path.isdir(folder):
        raise StudyError(f"{where}: no folder {folder.name!r}; put one file per item there, or name a table")
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith(NO_ITEMS))
    unknown = [path.name for path in files if path.suffix.lower() not in KINDS]
    if unknown:
        raise StudyError(f"{where}: cannot show {', '.join(unknown[:3])}; expected {', '.join(sorted(KINDS))}")
    if not files:
        raise StudyError(f"{where}: the folder {folder.name!r} is empty; put one file per item there")
    return [item_of_file(path.stem, path, where) for path in files]


def item_of_file(name: str, path: Path, where: str, content: str = "") -> Item:
    """The item that a file is; StudyError where it can be none."""
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise StudyError(f"{where}: cannot show {path.name}; expected {', '.join(sorted(KINDS))}")
    if kind == "text":
        try:
            text = path.read_text(encoding="utf-8-sig").strip()
        except UnicodeDecodeError as error:
            raise StudyError(f"{where}: {path.name} is not text in UTF-8 ({error.reason})") from None
        except OSError as error:
            raise StudyError(f"{where}: cannot read the text {path.name!r} ({error})") from None
        return Item(name, kind, _short(text, name, where))
    return Item(name, kind, content or name, path)


def _from_table(study: Study, files: Files, where: str) -> list[Item]:
    """Rows `name` with one of `file`, `text`, `colour`; a table of colours or words may have the name alone."""
    try:
        rows = list(csv.DictReader(io.StringIO(files.exact(str(study.items.table)), newline="")))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise StudyError(f"{where}: cannot read the table {study.items.table!r} ({error})") from None
    if not rows or "name" not in rows[0]:
        raise StudyError(f"{where}: {study.items.table} has no rows with a column `name`")
    return [item_of_row(row, study.folder, where) for row in rows]


def item_of_row(row: dict[str, str], folder: Path, where: str) -> Item:
    """The item that a row of a table is; StudyError where it can be none."""
    name = (row.get("name") or "").strip()
    if file := row.get("file"):
        try:
            path = (folder / file).resolve()
            is_there = path.is_file()
        except (OSError, ValueError):  # NUL, or longer than a name can be
            raise StudyError(f"{where}: {name!r} has the file {file[:80]!r}, which no file can be called") from None
        if not path.is_relative_to(folder):
            raise StudyError(f"{where}: {name!r} has the file {file!r}, which lies outside the study's folder")
        if not is_there:
            raise StudyError(f"{where}: {name!r} has the file {file!r}, which is not there")
        return item_of_file(name, path, where, row.get("text") or "")
    if colour := row.get("colour"):
        if not _COLOUR.fullmatch(colour):
            raise StudyError(f"{where}: {name!r} has the colour {colour!r}; expected #rrggbb")
        return Item(name, "colour", colour)
    return Item(name, "text", _short(row.get("text") or name, name, where))


def _short(text: str, name: str, where: str) -> str:
    if not 1 <= len(text) <= _LONGEST_TEXT:
        raise StudyError(f"{where}: the text of {name!r} has {len(text)} characters; expected 1 to {_LONGEST_TEXT}")
    return text
