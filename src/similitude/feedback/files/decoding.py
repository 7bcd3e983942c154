"""Bytes as text: UTF-8 with and without a mark, UTF-16 and UTF-32, the code page that Windows uses in the West."""

from __future__ import annotations

import codecs

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8 with a mark"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),  # it begins with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)


def decoded(data: bytes) -> tuple[str, str]:
    """Return the text of a file, and what it is written in; marks of files that were joined to it are taken out."""
    text, name = _decoded(data)
    return text.replace("\n\ufeff", "\n"), name


def _decoded(data: bytes) -> tuple[str, str]:
    for mark, codec, name in _MARKS:
        if data.startswith(mark):
            return _strictly(data, codec, name), name
    if unmarked := _wide(data):
        name = unmarked[:6].upper()
        return _strictly(data, unmarked, name), name
    try:
        return data.decode("utf-8"), "UTF-8"
    except UnicodeDecodeError as error:
        if _is_mostly_utf8(data):
            raise _damaged(data, error.start, "UTF-8") from None
        if _has_utf8(data):
            return "\n".join(map(_line, data.split(b"\n"))), "UTF-8 in some lines, Latin-1 in others"
        return _strictly(data, "cp1252", "Latin-1"), "Latin-1"


def _wide(data: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: every other byte of Western text is 0, or three of four are."""
    head = data[:2000]
    if len(head) < 4 or head.count(0) < len(head) // 4:
        return None
    if head.count(0) > 0.6 * len(head):
        return "utf-32-le" if head[:1] != b"\0" else "utf-32-be"
    return "utf-16-le" if head[1::2].count(0) >= head[::2].count(0) else "utf-16-be"


def _is_mostly_utf8(data: bytes) -> bool:
    """Whether the bytes beyond ASCII are letters of UTF-8 but for a few: then it is damaged, not in another code."""
    kept = data.decode("utf-8", "ignore")
    right = len(kept.encode()) - sum(sign.isascii() for sign in kept)
    return right > 3 * (len(data) - len(kept.encode()))


def _has_utf8(data: bytes) -> bool:
    """Whether letters of UTF-8 stand among others, as where files in two codes were joined."""
    return not data.decode("utf-8", "ignore").isascii()


def _line(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _strictly(data, "cp1252", "Latin-1")


def _strictly(data: bytes, codec: str, name: str) -> str:
    try:
        return data.decode(codec)
    except UnicodeDecodeError as error:
        raise _damaged(data, error.start, name) from None


def _damaged(data: bytes, place: int, name: str) -> ValueError:
    line = data.count(b"\n", 0, place) + 1
    around = data[max(place - 12, 0) : place + 12].decode("ascii", "replace").replace("\n", " ").replace("\r", "")
    return ValueError(
        f"line {line}: byte 0x{data[place]:02x} (near {around!r}) is no {name}; open the file where it was made and "
        "save it as UTF-8"
    )
