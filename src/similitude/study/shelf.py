"""The folder of a study as the place where its revisions lie.

The database says what is served; the files in the folder are written after it, and a mark beside them says which
revision they are. Whatever is killed in between, the next to look finds the mark behind, or says that it was being
written, and writes the rest. A file that differs although the mark is right was edited by hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from similitude.feedback.files.whole import write_whole
from similitude.study.contents import Contents
from similitude.study.files import Files, Texts

MARK = ".revision.json"
Stamp = tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True)
class HeldRevision:
    """The revision that a folder holds; `whole` unless it is being written."""

    number: int
    whole: bool = True


def mark_of(folder: Path) -> HeldRevision | None:
    """Which revision a folder holds; None where nobody has said so."""
    try:
        found = json.loads((folder / MARK).read_text(encoding="utf-8"))
        return HeldRevision(int(found["number"]), bool(found["whole"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def set_mark(folder: Path, mark: HeldRevision) -> None:
    """Say which revision a folder holds; a folder that cannot be written to holds what it holds."""
    if mark_of(folder) != mark:
        with suppress(OSError):
            write_whole(folder / MARK, json.dumps(asdict(mark)).encode())


def put(folder: Path, number: int, files: Texts) -> None:
    """Write the texts of a revision into its folder, one by one, each whole; those that are the same are left alone."""
    there = Files(folder)
    others = {name: text for name, text in files.items() if is_inside(folder, name) and text != on_disk(there, name)}
    if others:
        set_mark(folder, HeldRevision(number, whole=False))
        for name, text in others.items():
            if text is None:
                (folder / name).unlink(missing_ok=True)
            else:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                write_whole(folder / name, text.encode())
    set_mark(folder, HeldRevision(number))


def holds(folder: Path, files: Mapping[str, str]) -> bool:
    """Whether the texts in a folder are these."""
    there = Files(folder)
    return all(on_disk(there, name) == text for name, text in files.items())


def on_disk(files: Files, name: str) -> str | None:
    """The text of a file; None where there is none that can be read."""
    try:
        return files.exact(name)
    except (OSError, UnicodeDecodeError):
        return None


def is_inside(folder: Path, name: str) -> bool:
    """Whether a name leads to a place in the folder."""
    return (folder / name).resolve().is_relative_to(folder.resolve())


def stamp_of(folder: Path, contents: Contents | None, names: Iterable[str]) -> Stamp:
    """What changes when anything that a study is read from does: its texts, and which files there are."""
    items = [folder / ("items" if contents is None else contents.study.items.folder)]
    places = [folder, folder / "pages", *items, *(folder / name for name in sorted(names))]
    return tuple(_stamp(place) for place in places)


def _stamp(place: Path) -> tuple[int, ...] | None:
    try:
        found = place.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
