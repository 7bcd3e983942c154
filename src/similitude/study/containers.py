"""Sounds and films as their containers tell: what a file is, and whether all of it is there.

To decode them takes programs that need not be here. But most containers say how long they are, so that a file whose end
was lost is known without. MP3 and FLAC do not; of these the beginning alone is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

CUT = "damaged: its end is missing"
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
KNOWN = frozenset(_BEGINS)
_NOT_TOLD = 0x7FFF0000  # from here on a length was written by a program that could not go back to the beginning


def fault_of_container(path: Path) -> str | None:
    """What is wrong with a sound, a film or an AVIF picture by its container; None where nothing is."""
    kind = path.suffix.lower()
    offset, beginnings = _BEGINS[kind]
    with path.open("rb") as file:
        if not file.read(offset + max(map(len, beginnings)))[offset:].startswith(beginnings):
            return f"not what its ending {path.suffix} says"
        file.seek(0)
        return _WHOLE[kind](file, path.stat().st_size) if kind in _WHOLE else None


def _fault_of_wave(file: BinaryIO, size: int) -> str | None:
    """RIFF: the length of all that follows stands behind the first four bytes, and then what it is."""
    head = file.read(12)
    if head[8:] != b"WAVE":
        return "damaged: no sound in it"
    length = int.from_bytes(head[4:8], "little")
    return CUT if length < _NOT_TOLD and length + 8 > size + 1 else None  # a last byte to make it even may lack


def _fault_of_ogg(file: BinaryIO, size: int) -> str | None:
    """Ogg: pages, each with a table of the lengths of its parts."""
    start = 0
    while start < size:
        file.seek(start)
        head = file.read(27)
        if head[:4] != b"OggS"[: len(head)]:
            return "damaged: no page where one should begin"
        lengths = file.read(head[26]) if len(head) == 27 else b""
        if len(head) < 27 or len(lengths) < head[26]:
            return CUT
        start += 27 + len(lengths) + sum(lengths)
    return CUT if start > size else None


def _fault_of_boxes(file: BinaryIO, size: int) -> str | None:
    """MP4: boxes, each with its length and name; without `moov` nobody knows what is in the others."""
    start, names = 0, set()
    while start < size:
        file.seek(start)
        head = file.read(16)
        length = int.from_bytes(head[:4], "big")
        length = int.from_bytes(head[8:], "big") if length == 1 else length or size - start
        if length < 8:  # no box: something that was put behind the last
            break
        names.add(head[4:8])
        start += length
    if start > size:
        return CUT
    return None if b"moov" in names else "damaged: it does not say what is in it (no moov)"


def _fault_of_webm(file: BinaryIO, size: int) -> str | None:
    """WebM: a header, then one segment that holds everything, each with its length; all ones is a length not told."""
    for _ in ("header", "segment"):
        if len(file.read(4)) < 4:
            return CUT
        first = file.read(1)
        width = 9 - first[0].bit_length() if first and first[0] else 0
        rest = file.read(max(width - 1, 0))
        if not width or len(rest) < width - 1:
            return CUT
        most = (1 << 7 * width) - 1
        length = int.from_bytes(first + rest, "big") & most
        end = file.tell() + (0 if length == most else length)
        if end > size:
            return CUT
        file.seek(end)
    return None


_WHOLE: dict[str, Callable[[BinaryIO, int], str | None]] = {
    ".wav": _fault_of_wave,
    ".ogg": _fault_of_ogg,
    ".m4a": _fault_of_boxes,
    ".mp4": _fault_of_boxes,
    ".webm": _fault_of_webm,
}
