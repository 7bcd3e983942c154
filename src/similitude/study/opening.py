"""Opening the files of items before anybody is asked about them: what a browser could not show is said at the start."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from PIL import Image, UnidentifiedImageError, features

from similitude.study.items import Item
from similitude.study.settings import StudyError

_MOST_NAMED = 5
_SOUND_OF_MPEG = tuple(bytes((0xFF, second)) for second in range(0xE0, 0x100))
_BEGINS = {  # where in a file of this kind, and with which bytes
    ".mp3": (0, (b"ID3", *_SOUND_OF_MPEG)),
    ".ogg": (0, (b"OggS",)),
    ".wav": (0, (b"RIFF", b"RF64")),
    ".flac": (0, (b"fLaC", b"ID3")),
    ".m4a": (4, (b"ftyp",)),
    ".mp4": (4, (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide")),
    ".webm": (0, (b"\x1a\x45\xdf\xa3",)),
    ".avif": (4, (b"ftyp",)),
}


def check_opens(study: str, items: Iterable[Item]) -> None:
    """Refuse a study with files that cannot be shown; the message names them."""
    broken = [f"{item.path.name} ({why})" for item in items if item.path and (why := fault_of(item.path))]
    if broken:
        more = f" and {len(broken) - _MOST_NAMED} more" if len(broken) > _MOST_NAMED else ""
        raise StudyError(f"{study}: items: cannot be shown: {', '.join(broken[:_MOST_NAMED])}{more}; replace them")


def fault_of(path: Path) -> str | None:
    """What is wrong with the file of a picture, a sound or a film; None where nothing is."""
    kind = path.suffix.lower()
    try:
        if path.stat().st_size == 0:
            return "the file is empty"
        if kind == ".svg":
            return _fault_of_drawing(path)
        if kind in _BEGINS and not (kind == ".avif" and features.check("avif")):
            return _fault_of_beginning(path, *_BEGINS[kind])
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


def _fault_of_beginning(path: Path, offset: int, beginnings: tuple[bytes, ...]) -> str | None:
    """Sounds and films are told by their first bytes: to decode them takes programs that need not be here."""
    with path.open("rb") as file:
        start = file.read(offset + max(map(len, beginnings)))
    return None if start[offset:].startswith(beginnings) else f"not what its ending {path.suffix} says"
