"""THINGS: triplets of image numbers in text files, the odd one last; or the table with image1, image2, image3, choice.

The text files (`trainset.txt`) hold three numbers from 0 a line. The table of the behavioural release has a line per
trial with the numbers of three images and `choice`, 1 to 3, the odd one (Hebart et al. 2023, eLife 12:e82580).
"""

from __future__ import annotations

from similitude.feedback.files.sources import FileSource
from similitude.feedback.files.tools.base import Export, Tool, renamed

_IMAGES = ("image1", "image2", "image3")


def _recognises(source: FileSource) -> bool:
    return _is_bare(source) or source.has(*_IMAGES, "choice")


def _is_bare(source: FileSource) -> bool:
    """A text file of words between spaces, without a header."""
    written = source.written
    return source.kind == ".txt" and written is not None and written.separator is None and not written.header


def _read(source: FileSource) -> Export:
    assert source.table is not None
    if _is_bare(source):
        return Export(source.table, "odd_one_out" if len(source.table.columns) == 3 else "quadruplet", from_zero=True)
    roles = dict(zip((*_IMAGES, "choice"), ("a", "b", "c", "odd"), strict=True))
    return Export(renamed(source.table, roles), "odd_one_out")


THINGS = Tool("THINGS", _recognises, _read)
