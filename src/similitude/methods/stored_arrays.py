"""The arrays of a model's file, each read when it is asked for; a file that claims more than it holds is refused.

A file may come from anywhere, so that nothing in it is believed: parts are never compressed (a megabyte could unpack to
a gigabyte), all together are no larger than the file, and an array is as long as its shape says.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, Self

import numpy as np

from similitude.types import Array

_SUFFIX = ".npy"


class StoredArrays(Mapping[str, Array]):
    """Arrays by name, of an open file.

    Parameters
    ----------
    archive : the file
    prefix : how the names begin that are looked up
    """

    def __init__(self, archive: zipfile.ZipFile, prefix: str = "") -> None:
        self._archive, self._prefix, self._held = archive, prefix, frozenset(archive.namelist())

    @classmethod
    def of(cls, file: IO[bytes]) -> Self:
        """Open a file; what `save` cannot have written is refused."""
        archive = zipfile.ZipFile(file)
        if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
            raise ValueError("its parts are compressed, which those of a model never are")
        if sum(part.file_size for part in archive.infolist()) > file.seek(0, io.SEEK_END):
            raise ValueError("it declares more than it holds")
        return cls(archive)

    def under(self, prefix: str) -> StoredArrays:
        """Return the arrays whose names begin so, by what follows."""
        return StoredArrays(self._archive, self._prefix + prefix)

    def __getitem__(self, name: str) -> Array:
        part = f"{self._prefix}{name}{_SUFFIX}"
        if part not in self._held:
            raise KeyError(self._prefix + name)
        return _array(self._archive.read(part), self._prefix + name)

    def __iter__(self) -> Iterator[str]:
        ours = (name.removesuffix(_SUFFIX) for name in self._held)
        return (name.removeprefix(self._prefix) for name in ours if name.startswith(self._prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _array(data: bytes, name: str) -> Array:
    """Return finite numbers in numpy's format, which cannot be written to."""
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_column, kind = read(stream)
    if kind.kind not in "biuf":
        raise ValueError(f"{name} holds {kind}, not numbers")
    body = memoryview(data)[stream.tell() :]
    if any(length < 0 for length in shape) or len(body) != math.prod(shape) * kind.itemsize:
        raise ValueError(f"{name} is not as long as its shape {shape}")
    found = np.ndarray(shape, kind, buffer=body, order="F" if by_column else "C")
    if kind.kind == "f" and not np.isfinite(found).all():
        raise ValueError(f"{name} holds numbers that are not finite")
    return found
