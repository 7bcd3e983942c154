"""Opening the files of items before anybody is asked about them, and again whenever they change.

What a browser could not show is said at the start, and a file that is damaged later is shown to nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from PIL import Image, UnidentifiedImageError, features

from similitude.display.words import listed
from similitude.study.containers import KNOWN, fault_of_container
from similitude.study.items import Item
from similitude.study.settings import StudyError


class Opened:
    """Files that were opened, each once for as long as it stays the same."""

    def __init__(self) -> None:
        self._found: dict[Path, tuple[tuple[int, ...] | None, str | None]] = {}

    def fault_of(self, path: Path) -> str | None:
        """What is wrong with a file as it is now; None where nothing is."""
        stamp = _stamp(path)
        known = self._found.get(path)
        if known is None or known[0] != stamp:
            known = self._found[path] = stamp, fault_of(path)
        return known[1]


def _stamp(path: Path) -> tuple[int, ...] | None:
    """What changes when a file is written to or replaced; None for one that is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def check_opens(study: str, items: Iterable[Item], opened: Opened) -> None:
    """Refuse a study with files that cannot be shown; the message names them."""
    broken = [f"{item.path.name} ({why})" for item in items if item.path and (why := opened.fault_of(item.path))]
    if broken:
        raise StudyError(f"{study}: items: cannot be shown: {listed(broken, len(broken))}; replace them")


def fault_of(path: Path) -> str | None:
    """What is wrong with the file of a picture, a sound or a film; None where nothing is."""
    kind = path.suffix.lower()
    try:
        if path.stat().st_size == 0:
            return "the file is empty"
        if kind == ".svg":
            return _fault_of_drawing(path)
        if kind in KNOWN and not (kind == ".avif" and features.check("avif")):
            return fault_of_container(path)
        return _fault_of_picture(path)
    except OSError as error:
        return error.strerror or str(error)


def _fault_of_picture(path: Path) -> str | None:
    try:
        with Image.open(path) as picture:
            if picture.format == "PNG":
                picture.verify()  # the sum of every part, without the work of drawing it
            else:
                picture.draft("RGB", (64, 64))
                picture.load()
    except UnidentifiedImageError:
        return "no picture of a known kind"
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        return f"damaged: {error}"
    return None


def _fault_of_drawing(path: Path) -> str | None:
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        return f"damaged: {error}"
    return None if root.tag == "{http://www.w3.org/2000/svg}svg" else "no drawing: expected <svg> with its xmlns"
