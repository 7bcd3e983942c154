"""Pictures of items in a folder: files named as the items, with or without suffix."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def pictures_in(folder: str | os.PathLike[str], names: Sequence[str]) -> dict[str, Path]:
    """Return the file of each item that has one, by the item's name; a folder without any is refused."""
    place = Path(folder)
    if not place.is_dir():
        raise ValueError(f"images: {place} is {'a file' if place.exists() else 'not there'}; expected a folder")
    files = {path.name: path for path in sorted(place.iterdir()) if path.is_file()}
    files = {path.stem: path for path in files.values()} | files
    found = {name: files[name] for name in names if name in files}
    if not found:
        raise ValueError(f"images: no file in {place} is named as an item ({', '.join(names[:2])}, ...)")
    return found
